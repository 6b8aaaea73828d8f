//! A workload that behaves like a trace, and how well it does: `capture model`.

mod quality;
mod spread;
mod streams;
mod writes;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use inspect::files::{Output, Seal};
use jiff::Timestamp;
use replay::Contents;
use results::{
    Conclusion as _, Document, Environment, Experiment, ModelledArrivals, Status, TraceModel,
};
use workload::{Bytes, Target, Workload, show_number};

pub(crate) use streams::Groups;
pub(crate) use writes::writes;

use crate::capture::{conclude, keep_shown};
use crate::conduct::{Conducted, JobError, Session};
use crate::event::Event;
use crate::replay::{Part, PartPlan};

/// The longest part that a workload is made of, and the most I/Os of it.
const LONGEST_NS: u64 = 3600 * 1_000_000_000;
const IOS_MAX: u64 = 2_000_000;
/// The first words of a file that this makes.
const HEAD: &str = "# A model of a trace, made by `iosonde capture model`.\n";
/// Where the load goes until somebody says where.
const PLACE: &str = "test";

/// Of which trace a workload is to be made.
#[derive(Debug, Clone, Copy)]
pub struct ModelRequest<'a> {
    /// The part of the trace; without a moment, its busiest hour.
    pub part: &'a PartPlan,
    /// The workload file to write. It replaces one that nobody changed.
    pub output: &'a Path,
    /// Whether it may replace any other file.
    pub overwrite: bool,
}

/// Makes the workload, measures how well it stands for the trace, and writes it. Delivers the
/// document, and keeps it where there is a history.
///
/// # Errors
/// The trace cannot be read, or the file not written.
pub(crate) fn model_trace(
    request: &ModelRequest<'_>,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let refused = |error: &dyn std::fmt::Display| {
        JobError::CannotRun(format!("cannot write `{}`: {error}", request.output.display()))
    };
    let output = Output::claim(request.output, Seal::Hash, request.overwrite);
    let output = output.map_err(|error| refused(&error))?;
    let (part, model) = modelled(request.part, session.stop, &mut |text| {
        session.sink.hear(&Event::Notice { text });
    })?;
    let text = file(&model).map_err(|error| refused(&error))?;
    output.write(text).map_err(|error| refused(&error))?;
    let started = part.header.began_unix_ms.and_then(|ms| i64::try_from(ms).ok());
    let started = started.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let started = started.unwrap_or(Timestamp::UNIX_EPOCH);
    Ok(keep_shown(document(&part, started, model)?, session))
}

/// The part of a trace that stands for it: what was named, or the busiest hour, or less of it
/// where that has very many I/Os.
pub(crate) fn busy_part(plan: &PartPlan) -> Result<Part, JobError> {
    if plan.from.is_some() || plan.to.is_some() {
        return plan.read_at_most(u64::MAX);
    }
    let part = plan.read_busiest(LONGEST_NS)?;
    if part.contents.ios <= IOS_MAX {
        return Ok(part);
    }
    let share = IOS_MAX as f64 / part.contents.ios as f64;
    let length_s = part.contents.span_ns as f64 / 1e9 * share;
    plan.read_busiest(workload::Nanoseconds::from_seconds(length_s).0.max(1))
}

/// The workload of a part: the one whose arrivals suit best on a device that the quality is not
/// measured on.
fn modelled(
    plan: &PartPlan,
    stop: &AtomicBool,
    hear: &mut dyn FnMut(String),
) -> Result<(Part, TraceModel), JobError> {
    let part = busy_part(plan)?;
    let groups = Groups::read(&part)?;
    let bench = quality::Bench::new(&part, stop)?;
    hear("choosing how the I/Os are spaced in time".to_owned());
    let mut best: Option<(f64, ModelledArrivals, Workload)> = None;
    for arrivals in streams::ARRIVALS {
        let workload = workload(&groups, &part.contents, arrivals);
        let (distance, is_close) = bench.distance(&workload)?;
        if best.as_ref().is_none_or(|(least, ..)| distance < *least) {
            best = Some((distance, arrivals, workload));
        }
        // A file without windows is short, and easy to change.
        if arrivals == ModelledArrivals::Poisson && is_close {
            break;
        }
    }
    let Some((_, arrivals, workload)) = best else {
        return Err(JobError::CannotRun("the trace has no reads and no writes".to_owned()));
    };
    hear("comparing the trace and the model on three devices".to_owned());
    let devices = bench.devices(&workload)?;
    let all = || devices.iter().flat_map(|device| &device.classes);
    let stands = all().next().is_some() && all().all(|class| class.is_close);
    let model = TraceModel {
        part: part.published(),
        streams: groups.published(&workload, part.contents.span_ns),
        sentence: sentence(stands, &devices),
        workload,
        arrivals,
        devices,
        stands,
    };
    Ok((part, model))
}

/// The streams of a part on one target that is large enough for them.
pub(crate) fn workload(groups: &Groups, contents: &Contents, how: ModelledArrivals) -> Workload {
    let (streams, size_bytes) = groups.streams(contents.span_ns, how);
    let target = Target { path: PLACE.into(), size_bytes: Some(Bytes(size_bytes)) };
    let seconds = (contents.span_ns as f64 / 1e9).max(1.0);
    let warmup_seconds = 0.0;
    Workload { targets: vec![target], streams, seconds, warmup_seconds, ..Workload::default() }
}

/// Whether it stands for the trace, in words.
fn sentence(stands: bool, devices: &[results::ModelledDevice]) -> String {
    let worst = devices.iter().flat_map(|d| d.classes.iter().map(move |c| (d, c)));
    let worst = worst.filter(|(_, class)| class.is_close == stands).max_by(|(_, a), (_, b)| {
        let of = |class: &results::ModelledClass| class.demerit.unwrap_or(f64::MAX);
        of(a).total_cmp(&of(b))
    });
    let Some((device, class)) = worst else {
        return "The trace has too few I/Os to compare the model with.".to_owned();
    };
    let name = &device.name;
    let kind = crate::replay::plural_of(class.kind);
    let Some(demerit) = class.demerit else {
        return format!("The model does not stand for the trace: it has no {kind}.");
    };
    let (demerit, most) = (show_number(demerit), show_number(class.at_most));
    if stands {
        return format!(
            "The model stands for the trace. The largest distance is {demerit} of {most} allowed, \
             for {kind} on the {name}."
        );
    }
    let tails = class.model_ns.map_or(f64::NAN, |model| model.p99 as f64);
    let times = show_number(tails / class.trace_ns.p99.max(1) as f64);
    format!(
        "The model does not stand for the trace, so replay the trace instead. For {kind} on the \
         {name}, the distance is {demerit} of {most} allowed, and the p99 is {times} times that of \
         the trace."
    )
}

/// The text of the workload file.
fn file(model: &TraceModel) -> Result<String, String> {
    let mut text = HEAD.to_owned();
    for line in [model.part.title(), model.sentence.clone()] {
        // A comment ends at the end of its line.
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "# Name the storage: iosonde run DIRECTORY --workload FILE");
    text.push_str(&model.workload.to_toml().map_err(|error| error.to_string())?);
    Ok(text)
}

fn document(part: &Part, started: Timestamp, model: TraceModel) -> Result<Document, JobError> {
    let trace: PathBuf = model.part.trace.clone();
    let mut warnings = part.warnings();
    if !model.stands {
        warnings.push(model.sentence.clone());
    }
    let left_out: u64 = model.streams.iter().map(|stream| stream.other_sizes).sum();
    if left_out > 0 {
        let ios = workload::plural(left_out, "I/O has a size", "I/Os have sizes");
        warnings.push(format!("{ios} that the model leaves out: it has the eight most frequent."));
    }
    let document = Experiment {
        schema: TraceModel::SCHEMA.to_owned(),
        id: String::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.to_string(),
        finished: started.to_string(),
        status: Status::Complete,
        plan: None,
        targets: vec![trace],
        file_bytes: part.contents.touched_bytes(),
        environment: Environment { host: None, storage: Vec::new() },
        measurements: Vec::new(),
        method: method(&model),
        warnings,
        conclusion: model,
    };
    conclude(document, started, |e| Document::Model(Box::new(e)))
}

/// The method of the document: how the workload was made, sentence by sentence.
fn method(model: &TraceModel) -> Vec<String> {
    let arrivals = match model.arrivals {
        ModelledArrivals::Poisson => {
            "I/Os are spaced as those of independent users (Poisson).".to_owned()
        }
        ModelledArrivals::Windows { window_ns, evenly } => format!(
            "There are as many I/Os in each {} as in the trace, {}. Of a long part, busy and quiet \
             stretches are represented by some of them.",
            workload::show_ns(window_ns as f64),
            if evenly { "evenly spaced" } else { "at random moments" }
        ),
    };
    vec![
        "Streams are reads, writes of data and of the log, each with and without a flush, and \
         durable writes. Sizes are the eight most frequent; the hot part receives 80 % of the I/Os."
            .to_owned(),
        arrivals,
        "Of several spacings, that with the least distance on a fourth device was taken, or \
         independent users where these are close enough there."
            .to_owned(),
        "A distance is allowed up to 0.15, or 1.5 times that of two replays of the trace if that \
         is more. The 99th percentile may differ by 25 %."
            .to_owned(),
    ]
}
