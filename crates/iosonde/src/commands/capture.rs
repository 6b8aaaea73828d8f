//! `iosonde capture`: what a live system asks of its storage.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};
use engine::Permissions;
use jobs::{
    CaptureMethod, ImportRequest, ModelRequest, PartPlan, RecordRequest, Session, TraceFormat,
    TraceMoment,
};
use screen::Display;

use crate::args::OverwriteArgs;
use crate::conducting::{Console, ended};
use crate::exit::{Failure, Outcome, print};
use crate::language::LanguageArgs;
use crate::recording::RecordingArgs;

/// `iosonde capture`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct CaptureArgs {
    #[command(subcommand)]
    pub command: Option<CaptureCommand>,

    /// What to record: a file, a directory, a device or its name (vda). All I/O of the disks under
    /// it is recorded
    #[arg(required_unless_present_any = ["device", "pid", "cgroup"], value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// Record this device, by its name in /dev; may be repeated
    #[arg(long, value_name = "NAME", value_parser = jobs::device_path)]
    pub device: Vec<PathBuf>,

    /// Record only the I/O that this process asks for, on all disks without a TARGET; may be
    /// repeated. Needs eBPF
    #[arg(long, value_name = "N")]
    pub pid: Vec<u32>,

    /// Record only the I/O of this cgroup and those in it, on all disks without a TARGET. Needs
    /// eBPF
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<PathBuf>,

    /// How to see I/Os: `ebpf` (a program in the kernel, the cheapest), `tracefs` (events of its
    /// tracing), or `auto` (tracefs if the kernel refuses eBPF)
    #[arg(long, value_name = "METHOD", default_value = "auto", hide_short_help = true)]
    pub method: CaptureMethod,

    /// End after this time [default: until Ctrl-C]
    #[arg(long, visible_alias = "for", value_name = "N")]
    pub seconds: Option<f64>,

    /// Keep the names of the files under TARGET in the trace
    ///
    /// Without it, the trace has their numbers and what they are for: log, data, other.
    #[arg(long)]
    pub names: bool,

    /// Keep what this database counts meanwhile in the trace, as `iosonde monitor --database` does;
    /// may be repeated
    #[arg(long, value_name = "URL")]
    pub database: Vec<String>,

    /// Trace to write; an earlier trace there is replaced
    #[arg(long, short, required = true, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Allow the trace to be on a disk that is recorded; its own writes are recorded, too
    #[arg(long, hide_short_help = true)]
    pub onto_recorded: bool,
}

/// What to do with traces.
#[derive(Debug, Subcommand)]
pub(crate) enum CaptureCommand {
    /// Copy a trace with other offsets and no date, to give it away
    Anonymise(AnonymiseArgs),
    /// Convert a trace of blktrace, fio, Windows (xperf) or a public collection into .iotrace
    Import(ImportArgs),
    /// Make a workload that behaves like a trace, and measure how well it does
    Model(ModelArgs),
    /// Show what a trace is like: mix, rates, latency, hot set, cache, bursts
    Show(ShowArgs),
}

/// `iosonde capture anonymise`
#[derive(Debug, Args)]
pub(crate) struct AnonymiseArgs {
    /// Trace, as `iosonde capture` writes it
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// Trace to write; an earlier trace there is replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,
}

/// `iosonde capture import`
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files of one trace; several only of blktrace, which writes one per CPU
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Trace to write; an earlier trace there is replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Format of the files: `blktrace` (binary, version 7), `fio` (I/O log), `msr`, `alibaba`,
    /// `systor` or `spc` (CSV), `etw` (text of `xperf -a dumper`) [default: found by their first
    /// bytes]
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<TraceFormat>,
}

/// `iosonde capture show`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Trace, as `iosonde capture` writes it
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// `iosonde capture model`
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(flatten)]
    pub show: ShowArgs,

    /// Workload file to write, for `iosonde run --workload`; an earlier model there is replaced
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Begin at this time of day (14:00), or so long after the beginning of the trace (90s)
    /// [default: the busiest hour]
    #[arg(long, value_name = "MOMENT")]
    pub from: Option<TraceMoment>,

    /// End before this moment of the trace
    #[arg(long, value_name = "MOMENT")]
    pub to: Option<TraceMoment>,
}

pub(crate) fn capture(args: &CaptureArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    match &args.command {
        None => record(args, stop),
        Some(CaptureCommand::Anonymise(AnonymiseArgs { trace, output, overwrite })) => {
            let lines = jobs::anonymise_trace(trace, output, overwrite.overwrite)?;
            print(&(lines.join("\n") + "\n")).map(|()| Outcome::Done)
        }
        Some(CaptureCommand::Import(ImportArgs { files, output, overwrite, from })) => {
            let (overwrite, format) = (overwrite.overwrite, *from);
            let lines = jobs::import_trace(&ImportRequest { files, output, overwrite, format })?;
            print(&(lines.join("\n") + "\n")).map(|()| Outcome::Done)
        }
        Some(CaptureCommand::Model(ModelArgs { show: args, output, overwrite, from, to })) => {
            let part = PartPlan::new(&args.trace, from.as_ref(), to.as_ref());
            let overwrite = overwrite.overwrite;
            show(args, Some(ModelRequest { part: &part, output, overwrite }), stop)
        }
        Some(CaptureCommand::Show(args)) => show(args, None, stop),
    }
}

fn record(args: &CaptureArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let CaptureArgs { pid: pids, method, seconds, onto_recorded, .. } = args;
    let (method, seconds, onto_recorded, names) = (*method, *seconds, *onto_recorded, args.names);
    let (cgroup, output) = (args.cgroup.as_deref(), args.output.as_deref().unwrap_or("".as_ref()));
    let targets = &[&args.targets[..], &args.device].concat();
    let (databases, overwrite) = (&args.database, args.overwrite.overwrite);
    #[rustfmt::skip]
    let request = RecordRequest {
        targets, method, pids, cgroup, seconds, output, overwrite, onto_recorded, names, databases,
    };
    let done = jobs::record_trace(&request, &mut Console::new(Display::new(false), false), stop)?;
    let outcome = if done.is_cut_short { Outcome::Interrupted } else { Outcome::Done };
    print(&done.text).map(|()| outcome)
}

fn show(
    args: &ShowArgs,
    model: Option<ModelRequest<'_>>,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut console = Console::new(Display::new(false), args.json);
    let (permissions, recording) = (Permissions::default(), args.recording.recording()?);
    let recording = recording.as_ref();
    let mut session = Session { permissions, recording, sink: &mut console, stop, resumed: None };
    ended(jobs::show_trace(&args.trace, model, &mut session)?, stop).map(|(_, outcome)| outcome)
}
