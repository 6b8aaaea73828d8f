//! `iosonde run`: one workload from flags or a file.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Permissions, TargetPlan};
use jiff::Timestamp;
use results::{Document, MEASUREMENT_SCHEMA, Measurement, Status};
use survey::{Progress, Site};
use workload::specs::Spec;
use workload::{
    Arrival, Bytes, Completion, EngineChoice, Mode, Nanoseconds, OnError, Pattern, Precision, Rate,
    RateLimit, SimDevice, Stream, SyncCall, SyncPolicy, Target, Think, ThinkFrom, Workload,
};

use crate::args::{ArrivalArg, OnErrorArg, PatternArg, RunArgs, StreamArgs, SyncArg, WaitArg};
use crate::display::{Display, Manner};
use crate::exit::{Failure, Outcome, print};
use crate::loads;
use crate::recording::{Recorder, RecordingArgs, Subject};
use crate::repeat;
use crate::targets::TargetArgs;

/// Runs the command.
pub(crate) fn run(args: &RunArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let workload = workload_of(args)?;
    if args.print_workload {
        let text = workload.to_toml().map_err(|e| Failure::CannotRun(e.to_string()))?;
        print(&text)?;
        return Ok(Outcome::Done);
    }
    let permissions = args.target.permissions();
    let repeat = args.repeat.count()?;
    let sides = repeat::sides(&args.repeat, &workload)?;
    if args.target.dry_run {
        return dry_run(&sides, repeat, &permissions);
    }
    match repeat {
        Some(repeat) => repeat::run(args, sides, repeat, permissions, stop),
        None => once(args, &workload, &permissions, stop),
    }
}

/// What would be done.
fn dry_run(
    sides: &[Workload],
    repeat: Option<u32>,
    permissions: &Permissions,
) -> Result<Outcome, Failure> {
    let mut text = String::new();
    for workload in sides {
        let mut permissions = permissions.clone();
        permissions.destroy.retain(|path| workload.targets.iter().any(|t| t.path == *path));
        text += &describe(&engine::plan(workload, &permissions)?);
    }
    let Some(workload) = sides.first() else { return Ok(Outcome::Done) };
    let (threads, in_flight) = (workload.threads(), workload.in_flight());
    let (warmup, seconds) = (workload.warmup_seconds, workload.seconds);
    let plural = if threads == 1 { "" } else { "s" };
    let most = if workload.precision.is_some() { "at most " } else { "" };
    let after = match workload.cooldown_seconds {
        0.0 => String::new(),
        cooldown => format!(", {cooldown} s of I/O after that"),
    };
    let times = match (repeat, sides.len()) {
        (None, _) => String::new(),
        (Some(count), 1) => format!(", {count} times"),
        (Some(count), _) => format!(", {count} times on each target in turn"),
    };
    print(&format!(
        "{text}{threads} thread{plural}, {in_flight} in flight\n{warmup} s of warm-up, {most}{seconds} s measured{after}{times}\n"
    ))?;
    Ok(Outcome::Done)
}

/// One run, a measurement of its own.
fn once(
    args: &RunArgs,
    workload: &Workload,
    permissions: &Permissions,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let (recording, manner) = (&args.recording, args.target.manner());
    let asked = One { workload, permissions, recording, manner, hear: &|_, _| () };
    one(&asked, stop, &mut |measurement| {
        let text =
            if args.json { json(measurement)? } else { report::text::measurement(measurement) };
        print(&text)
    })
}

/// What one measurement needs.
pub(crate) struct One<'a> {
    pub workload: &'a Workload,
    pub permissions: &'a Permissions,
    pub recording: &'a RecordingArgs,
    pub manner: Manner,
    /// Told what happens meanwhile.
    pub hear: &'a dyn Fn(&engine::Event, &mut Display),
}

/// Makes one measurement, shows it and records it.
pub(crate) fn one(
    asked: &One<'_>,
    stop: &AtomicBool,
    show: &mut dyn FnMut(&Measurement) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    one_when(asked, stop, &mut |_| (), show)
}

/// The same; `ready` is called once everything is made, and may take its time before the I/O begins.
pub(crate) fn one_when(
    asked: &One<'_>,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&mut Display),
    show: &mut dyn FnMut(&Measurement) -> Result<(), Failure>,
) -> Result<Outcome, Failure> {
    let One { workload, permissions, recording, manner, hear } = *asked;
    let on = (workload.targets.as_slice(), workload.engine);
    let subject = Subject::new("run", MEASUREMENT_SCHEMA, workload.title(), on, workload)?;
    let mut recorder = Recorder::open(recording, subject)?;
    let mut display = Display::of(manner, recorder.subject());
    let now = Timestamp::now();
    let id = engine::new_id(now);
    recorder.hear(&Progress::Began { id: &id, started: &now.to_string() }, &mut display);
    let observe = |event: &engine::Event, display: &mut Display| {
        recorder.tell(&Progress::Engine(event));
        hear(event, display);
        display.show(event);
    };
    let prepared =
        engine::prepare(workload, permissions, stop, &mut |event| observe(event, &mut display))?;
    ready(&mut display);
    let site = Site::of(workload);
    let mut measurement = survey::measure(workload, &prepared, &site, stop, &mut |event| {
        observe(event, &mut display);
    })?;
    display.finish();
    // Those who watched it find it under the name they know.
    measurement.id = id;
    // Before the test file is removed: storage that hangs shall not keep the result.
    show(&measurement)?;
    let outcome = outcome(&measurement, stop);
    recorder.finish(&Document::Measurement(Box::new(measurement)))?;
    recorder.say(manner.quiet);
    drop(prepared);
    Ok(outcome)
}

/// How a measurement ends a command.
fn outcome(measurement: &Measurement, stop: &AtomicBool) -> Outcome {
    match measurement.status {
        Status::Interrupted => Outcome::Interrupted,
        // The signal came after the window, while I/Os were still waited for.
        Status::Complete if stop.load(Ordering::Relaxed) => Outcome::Interrupted,
        Status::Failed => Outcome::IoFailed,
        Status::Complete if !measurement.errors.is_empty() => Outcome::IoFailed,
        Status::Complete => Outcome::Done,
    }
}

/// A document as JSON text.
pub(crate) fn json<T: serde::Serialize>(document: &T) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(document);
    text.map(|t| t + "\n").map_err(|e| Failure::CannotRun(e.to_string()))
}

/// What would be done to the targets, for `--dry-run`.
pub(crate) fn describe(plans: &[TargetPlan]) -> String {
    let line = |plan: &TargetPlan| {
        let (path, size) = (plan.path.display(), Bytes(plan.size_bytes));
        format!("{path} ({size}): {}\n", plan.describe())
    };
    let text: String = plans.iter().map(line).collect();
    let written: u64 = plans.iter().filter(|p| p.action.fills()).map(|p| p.size_bytes).sum();
    text + &format!("written before the run: {}\n", Bytes(written))
}

/// A stream for each access specification; without any, the usual one.
fn streams_of(names: &[String]) -> Result<Vec<Stream>, Failure> {
    let specs = loads::known(names)?;
    if specs.is_empty() {
        return Ok(vec![Stream::default()]);
    }
    let count = |spec: &Spec| specs.iter().filter(|s| **s == spec).count();
    let stream = |(number, spec): (usize, &&'static Spec)| {
        let stream = spec.stream();
        // The same one twice is two streams, which have names of their own.
        let name = if count(spec) > 1 {
            format!("{} {}", stream.name, number + 1)
        } else {
            stream.name.clone()
        };
        Stream { name, ..stream }
    };
    Ok(specs.iter().enumerate().map(stream).collect())
}

fn workload_of(args: &RunArgs) -> Result<Workload, Failure> {
    let mut workload = match &args.workload {
        Some(path) => {
            let (workload, lost) = loads::first_workload(path)?;
            let mut display = Display::new(args.target.quiet);
            for what in &lost {
                display.message(&format!("not done: {what}"));
            }
            workload
        }
        None => Workload { streams: streams_of(&args.spec)?, ..Workload::default() },
    };
    apply_targets(&mut workload, &args.target)?;
    for stream in &mut workload.streams {
        apply_stream(stream, &args.stream)?;
    }
    workload.seconds = args.seconds.unwrap_or(workload.seconds);
    workload.warmup_seconds = args.warmup.unwrap_or(workload.warmup_seconds);
    if let Some(percent) = args.precision {
        // Steadiness is judged by many short intervals.
        let at_least_seconds = args.at_least.min(workload.seconds);
        workload.precision = Some(Precision { percent, at_least_seconds, ..Precision::default() });
        workload.interval_ns = Nanoseconds(250_000_000);
    }
    workload.interval_ns = args.interval.unwrap_or(workload.interval_ns);
    if args.buffered {
        workload.mode = Mode::Buffered;
    }
    if args.mapped {
        workload.mode = Mode::Mapped;
    }
    match args.on_error {
        Some(OnErrorArg::Stop) => workload.on_error = OnError::Stop,
        Some(OnErrorArg::Continue) => workload.on_error = OnError::Continue,
        None => {}
    }
    match args.wait {
        Some(WaitArg::Block) => workload.completion = Completion::Block,
        Some(WaitArg::Spin) => workload.completion = Completion::Spin,
        None => {}
    }
    Ok(workload)
}

/// What the flags say of targets and of the engine.
pub(crate) fn apply_targets(workload: &mut Workload, args: &TargetArgs) -> Result<(), Failure> {
    if !args.targets.is_empty() {
        let target =
            |path: &std::path::PathBuf| Target { path: path.clone(), size_bytes: args.size };
        workload.targets = args.targets.iter().map(target).collect();
    } else if args.size.is_some() {
        workload.targets.iter_mut().for_each(|t| t.size_bytes = args.size);
    }
    workload.engine = args.engine.map_or(workload.engine, EngineChoice::from);
    if workload.targets.is_empty() && workload.engine.is_artificial() {
        workload.targets = vec![Target { path: "sim".into(), size_bytes: args.size }];
    }
    if let Some(sim) = &args.sim {
        workload.sim = Some(simulated_device(sim)?);
    }
    workload.seed = args.seed.unwrap_or(workload.seed);
    check_destroy(workload, &args.destroy)
}

/// What may be overwritten must be a target.
pub(crate) fn check_destroy(
    workload: &Workload,
    all: &[std::path::PathBuf],
) -> Result<(), Failure> {
    for destroy in all {
        if !workload.targets.iter().any(|t| &t.path == destroy) {
            let text = format!(
                "--destroy {} names no target: it must repeat one exactly",
                destroy.display()
            );
            return Err(Failure::WrongUsage(text));
        }
    }
    Ok(())
}

/// A simulated device in a table of its own, as a workload file has it.
#[derive(serde::Deserialize)]
struct Wrapped {
    sim: SimDevice,
}

pub(crate) fn simulated_device(text: &str) -> Result<SimDevice, Failure> {
    let text = if text.contains('=') {
        // A table on one line has commas where a file has line ends.
        format!("sim = {{ {text} }}")
    } else {
        let read = fs::read_to_string(text);
        let wrong = |e| Failure::WrongUsage(format!("--sim `{text}`: {e}"));
        format!("[sim]\n{}", read.map_err(wrong)?)
    };
    let wrapped: Result<Wrapped, _> = toml::from_str(&text);
    wrapped.map(|w| w.sim).map_err(|e| Failure::WrongUsage(format!("--sim: {e}")))
}

/// What the flags say of a stream.
pub(crate) fn apply_stream(stream: &mut Stream, args: &StreamArgs) -> Result<(), Failure> {
    if let Some(blocks) = &args.block {
        stream.blocks.clone_from(&blocks.0);
    }
    stream.threads = args.threads.unwrap_or(stream.threads);
    stream.depth = args.depth.unwrap_or(stream.depth);
    stream.write_percent = args.write.unwrap_or(stream.write_percent);
    stream.random_percent = args.random.unwrap_or(stream.random_percent);
    stream.distribution = args.distribution.unwrap_or(stream.distribution);
    stream.align_bytes = args.align.or(stream.align_bytes);
    stream.offset_bytes = args.offset.unwrap_or(stream.offset_bytes);
    stream.span_bytes = args.span.or(stream.span_bytes);
    stream.content = args.content.unwrap_or(stream.content);
    stream.priority = args.priority.or(stream.priority);
    stream.durable |= args.durable;
    if let Some(cpus) = &args.cpus {
        stream.cpus.clone_from(&cpus.0);
    }
    apply_pattern(stream, args)?;
    if let Some(every_writes) = args.sync_every {
        let call = match args.sync_call {
            Some(SyncArg::Fsync) => SyncCall::Fsync,
            Some(SyncArg::Fdatasync) | None => SyncCall::Fdatasync,
        };
        stream.sync = Some(SyncPolicy { every_writes, call });
    }
    if let Some(pause_ns) = args.think {
        stream.think = Some(Think {
            pause_ns,
            burst_ios: args.burst.unwrap_or(1),
            from: ThinkFrom::Completion,
        });
    }
    apply_rate(stream, args)
}

fn apply_pattern(stream: &mut Stream, args: &StreamArgs) -> Result<(), Failure> {
    match (args.pattern, args.stride) {
        (None, None) => {}
        (Some(PatternArg::Random), None) => stream.pattern = Pattern::Random,
        (Some(PatternArg::Sequential), None) => stream.pattern = Pattern::Sequential,
        (Some(PatternArg::SequentialShared), None) => stream.pattern = Pattern::SequentialShared,
        (Some(PatternArg::Stride), Some(stride_bytes)) => {
            stream.pattern = Pattern::Stride { stride_bytes };
        }
        _ => {
            let text = "`--pattern stride` and `--stride SIZE` belong together";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
    }
    Ok(())
}

fn apply_rate(stream: &mut Stream, args: &StreamArgs) -> Result<(), Failure> {
    let limit = args.rate.map(RateLimit::Iops).or(args.rate_mib.map(RateLimit::MibPerS));
    if let Some(limit) = limit {
        stream.rate = Some(Rate { limit, arrival: Arrival::Even });
    }
    match (args.arrival, &mut stream.rate) {
        (None, _) => {}
        (Some(ArrivalArg::Even), Some(rate)) => rate.arrival = Arrival::Even,
        (Some(ArrivalArg::Poisson), Some(rate)) => rate.arrival = Arrival::Poisson,
        (Some(_), None) => {
            let text = "`--arrival` needs `--rate` or `--rate-mib`";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
    }
    Ok(())
}
