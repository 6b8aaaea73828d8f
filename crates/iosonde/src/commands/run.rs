//! `iosonde run`: one workload from flags or a file.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{FirstWorkload, Plan};
use results::Document;
use workload::{
    Arrival, Completion, EngineChoice, Mode, Nanoseconds, OnError, Pattern, Precision, Rate,
    RateLimit, Stream, SyncCall, SyncPolicy, Target, Think, ThinkFrom, Workload,
};

use crate::args::{ArrivalArg, OnErrorArg, PatternArg, RunArgs, StreamArgs, SyncArg, WaitArg};
use crate::commands::loads;
use crate::commands::repeat;
use crate::conducting::{Manners, Rehearsal, conduct, rehearse};
use crate::exit::{Failure, Outcome, print};
use crate::targets::TargetArgs;
use screen::Display;

pub(crate) fn run(args: &RunArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (workload, names_files) = workload_of(args)?;
    if args.print_workload {
        let text = workload.to_toml().map_err(|e| Failure::CannotRun(e.to_string()))?;
        print(&text)?;
        return Ok(Outcome::Done);
    }
    let permissions = Permissions { any_name: names_files, ..args.target.permissions() };
    let repeat = args.repeat.count()?;
    let sides = repeat::sides(&args.repeat, &workload)?;
    let plan = match repeat {
        Some(repeat) => Plan::Runs(repeat::plan(&args.repeat, sides, repeat)),
        None => Plan::Run(Box::new(workload)),
    };
    let dry_run = args.target.conduct.dry_run;
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run };
    args.recording.check()?;
    if let Some(outcome) = rehearse(&plan, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    let manner = args.target.manner();
    let mut recording = args.recording.recording()?;
    if let Some(recording) = &mut recording {
        recording.tags.extend(args.repeat.baseline.clone());
    }
    conduct(&plan, &Manners { manner, json: args.json, recording, permissions }, stop)
}

/// A document as JSON text.
pub(crate) fn json<T: serde::Serialize>(document: &T) -> Result<String, Failure> {
    lines(results::to_indented_json(document))
}

/// A result as JSON text.
pub(crate) fn document_json(document: &Document) -> Result<String, Failure> {
    lines(document.to_indented_json())
}

fn lines(text: serde_json::Result<String>) -> Result<String, Failure> {
    text.map(|t| t + "\n").map_err(|e| Failure::CannotRun(e.to_string()))
}

/// One stream per access specification; without any, the default stream.
fn streams_of(names: &[String]) -> Result<Vec<Stream>, Failure> {
    let streams = loads::streams(names)?;
    if streams.is_empty() {
        return Ok(vec![Stream::default()]);
    }
    let count = |name: &str| streams.iter().filter(|s| s.name == name).count();
    let stream = |(number, stream): (usize, &Stream)| {
        // The same specification twice is two streams, each with its own name.
        let name = if count(&stream.name) > 1 {
            format!("{} {}", stream.name, number + 1)
        } else {
            stream.name.clone()
        };
        Stream { name, ..stream.clone() }
    };
    Ok(streams.iter().enumerate().map(stream).collect())
}

/// The workload, and whether its targets are files whatever their names.
fn workload_of(args: &RunArgs) -> Result<(Workload, bool), Failure> {
    let mut names_files = false;
    let mut workload = match &args.workload {
        Some(path) => {
            let FirstWorkload { workload, lost, names_files: of_file } =
                jobs::first_workload(path)?;
            names_files = of_file && args.target.targets.is_empty();
            let mut display = Display::new(args.target.conduct.quiet);
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
        // The judgement of steadiness needs many short intervals.
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
    Ok((workload, names_files))
}

/// Sets what the flags say about targets and engine.
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
        workload.sim = Some(jobs::simulated_device(sim)?);
    }
    workload.seed = args.seed.unwrap_or(workload.seed);
    let targets: Vec<&Path> = workload.targets.iter().map(|t| t.path.as_path()).collect();
    Ok(jobs::check_destroy(&targets, &args.conduct.destroy)?)
}

/// Sets what the flags say about a stream.
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
