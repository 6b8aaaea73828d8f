//! `iosonde agent` and `iosonde fleet`: one load on many hosts.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};
use engine::Permissions;
use hosts::agent::{AgentOptions, Allowed, serve};
use hosts::{FleetRequest, LossPolicy, Ssh};
use jobs::Session;
use screen::Display;
use workload::{Bytes, Nanoseconds};

use crate::args::StreamArgs;
use crate::commands::run::apply_stream;
use crate::conducting::{Console, ended};
use crate::exit::{Failure, Outcome};
use crate::language::LanguageArgs;
use crate::recording::RecordingArgs;
use crate::targets::{EngineArg, ProgressForm};

/// `iosonde agent`
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Serve the coordinator at the other end of stdin and stdout
    #[arg(long, required = true)]
    pub stdio: bool,

    /// Let plans use this directory, file or device, by its whole path; may be given several times
    #[arg(long, value_name = "PATH")]
    pub allow: Vec<PathBuf>,

    /// Let plans overwrite this file or device; may be given several times
    #[arg(long, value_name = "PATH")]
    pub allow_destroy: Vec<PathBuf>,

    /// Note each command in this file [default: agent.log in the user's data directory]
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// `iosonde fleet`
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Run one workload on every host, started at the same moment
    Run(Box<FleetRunArgs>),
}

/// `iosonde fleet run`
#[derive(Debug, Args)]
pub(crate) struct FleetRunArgs {
    /// A plan that `iosonde run --print-plan` printed; other flags override it
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    /// Hosts, as ssh knows them, separated by commas
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', required = true)]
    pub ssh: Vec<String>,

    /// Reach hosts with this program and its options; it takes a host and a command as ssh does
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub ssh_command: String,

    /// Start iosonde on a host with this command
    #[arg(long, value_name = "COMMAND", default_value = "iosonde")]
    pub agent: String,

    /// Directory, file or device on every host, by its whole path; `{host}` stands for the name of
    /// the host. May be given several times
    #[arg(long, value_name = "PATH")]
    pub target: Vec<PathBuf>,

    /// When a host is lost: `abort` stops the others, `continue` lets them run to the end
    #[arg(long, value_name = "POLICY", default_value = "abort")]
    pub on_loss: LossPolicy,

    /// Size of the test file, or used part of a file or device, for example 4G
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,

    /// I/O engine [default: auto]
    #[arg(long, value_enum)]
    pub engine: Option<EngineArg>,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Length of the measured window [default: 30]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Warm-up before the window, which does not count [default: 3]
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Time between points of the series, 10ms to 1h [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Nanoseconds>,

    /// Keep the test files on the hosts for the next run
    #[arg(long)]
    pub keep: bool,

    /// Print no progress and no messages except errors
    #[arg(long, short)]
    pub quiet: bool,

    /// Form of the progress on stderr: `line`, or `json` for one JSON object per event
    /// (docs/live.md)
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ProgressForm::Line,
        conflicts_with = "quiet")]
    pub progress: ProgressForm,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub language: LanguageArgs,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// Runs `iosonde agent`.
pub(crate) fn agent(args: &AgentArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let allowed = Allowed { paths: args.allow.clone(), destroy: args.allow_destroy.clone() };
    let (audit, recording) = (args.audit.clone(), args.recording.recording()?);
    let options = AgentOptions { allowed, audit, recording };
    serve(options, std::io::stdin(), std::io::stdout(), stop)?;
    Ok(Outcome::Done)
}

/// Runs `iosonde fleet`.
pub(crate) fn fleet(command: &FleetCommand, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let FleetCommand::Run(args) = command;
    let mut workload = hosts::planned(args.plan.as_deref(), &args.target, args.size)?;
    for stream in &mut workload.streams {
        apply_stream(stream, &args.stream)?;
    }
    workload.engine = args.engine.map_or(workload.engine, Into::into);
    workload.seconds = args.seconds.unwrap_or(workload.seconds);
    workload.warmup_seconds = args.warmup.unwrap_or(workload.warmup_seconds);
    workload.interval_ns = args.interval.unwrap_or(workload.interval_ns);
    let ssh = Ssh { command: args.ssh_command.clone(), agent: args.agent.clone() };
    let (hosts, on_loss) = (args.ssh.clone(), args.on_loss);
    let request = FleetRequest { workload, hosts, ssh, on_loss };
    let mut console = Console::new(Display::new(args.quiet), args.json);
    let (recording, sink) = (args.recording.recording()?, &mut console);
    let permissions = Permissions { keep: args.keep, ..Permissions::default() };
    let mut session = Session { permissions, recording: recording.as_ref(), sink, stop };
    ended(hosts::run(&request, &mut session)?, stop).map(|(_, outcome)| outcome)
}
