//! `iosonde agent` and `iosonde fleet`: one experiment on many hosts.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::{Args, Subcommand};
use dialects::drives::ManagerHost;
use engine::Permissions;
use hosts::agent::{AgentOptions, Allowed, join, serve};
use hosts::{LookRequest, LossPolicy, ResumeRequest, SiteRequest};
use jobs::{FleetReach, MonitorPlan, Plan, Session};
use monitor::Alert;
use screen::Display;
use workload::{Bytes, Nanoseconds};

use crate::args::{AssessLoad, StreamArgs};
use crate::commands::assess;
use crate::commands::knee::{self, KneeArgs};
use crate::commands::run::{apply_stream, json};
use crate::commands::scale::{self, ScaleArgs};
use crate::commands::sweep::{self, SweepArgs};
use crate::commands::validate::{self, ValidateArgs};
use crate::conducting::{Console, Manners, Rehearsal, ended, search};
use crate::exit::{Failure, Outcome, print};
use crate::recording::RecordingArgs;
use crate::targets::{ConductArgs, EngineArg};

/// `iosonde agent`
#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Serve the coordinator at the other end of stdin and stdout
    #[arg(long, required_unless_present = "join", conflicts_with = "join")]
    pub stdio: bool,

    /// Connect to the server of a fleet with this file, which `iosonde fleet init` made, and serve
    /// its coordinators until a signal comes
    #[arg(long, value_name = "FILE")]
    pub join: Option<PathBuf>,

    /// Let plans use this directory, file or device, by its whole path; may be given several times
    #[arg(long, value_name = "PATH")]
    pub allow: Vec<PathBuf>,

    /// Let plans overwrite this file or device, with what it holds: `/dev/sdb=ext4`; may be given
    /// several times
    #[arg(long, value_name = "PATH")]
    pub allow_destroy: Vec<engine::Destroy>,

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
    /// Find the saturation point with the load spread over all hosts
    Knee(Box<FleetKneeArgs>),
    /// Load each host alone, then 1, 2, 4 … of them together, to see how they scale
    Scale(Box<FleetScaleArgs>),
    /// Run a matrix of workloads on all hosts together
    Sweep(Box<FleetSweepArgs>),
    /// Assess the storage of every host at the same time, with verdicts per host and over all
    Assess(Box<FleetAssessArgs>),
    /// Run a simulated database on every host at the same time and verify every page it reads
    Validate(Box<FleetValidateArgs>),
    /// Record what the operating system of every host counts
    Monitor(Box<FleetMonitorArgs>),
    /// Show who is there, how well clocks are known, and which targets are the same storage
    Hosts(FleetHostsArgs),
    /// Fetch the results of a run whose coordinator went away, or finish a search
    Resume(FleetResumeArgs),
    /// Make keys, certificates and the configuration of a NATS server for a fleet, or add hosts
    Init(FleetInitArgs),
    /// Start the NATS server of a fleet and keep it in the foreground
    Up {
        /// The directory that `iosonde fleet init` made
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Remove a host from a fleet: its certificate is worth nothing from then on
    Revoke {
        /// The directory that `iosonde fleet init` made
        #[arg(value_name = "DIR")]
        directory: PathBuf,

        /// The host
        #[arg(value_name = "HOST")]
        host: String,
    },
}

/// `iosonde fleet init`
#[derive(Debug, Args)]
pub(crate) struct FleetInitArgs {
    /// Directory for the keys, which is made. One that this command made gets more hosts
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Make a file of credentials for this host; may be given several times
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,

    /// Name or address by which hosts reach the server, with a port if it is not 4222; may be given
    /// several times [default: the name of this host]
    #[arg(long, value_name = "NAME[:PORT]")]
    pub server: Vec<String>,

    /// Make new certificates for the hosts of --host, or for those whose certificate ends within 30
    /// days. Names and the authority stay
    #[arg(long, conflicts_with = "server")]
    pub renew: bool,

    /// How many days the certificates of the hosts last
    #[arg(long, value_name = "N", default_value_t = 365,
        value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub days: u32,
}

/// `iosonde fleet hosts`
#[derive(Debug, Args)]
pub(crate) struct FleetHostsArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    /// Directories, files or devices on every host. A small file is made in directories for a
    /// moment, to see whether the other hosts find it
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// `iosonde fleet resume`
#[derive(Debug, Args)]
pub(crate) struct FleetResumeArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    /// The run, by its id [default: the newest that waits on the hosts]. With the id of a search of
    /// the history, the points that it lacks are measured
    #[arg(value_name = "RUN")]
    pub run: Option<String>,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// The hosts, and the way to them.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// Hosts, as ssh knows them, separated by commas
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', required_unless_present = "site")]
    pub ssh: Vec<String>,

    /// Reach hosts through the server of the fleet in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["ssh", "ssh_command", "agent"])]
    pub site: Option<PathBuf>,

    /// Hosts of that fleet, separated by commas [default: all]
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', requires = "site")]
    pub hosts: Vec<String>,

    /// Reach hosts with this program and its options; it takes a host and a command as ssh does
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub ssh_command: String,

    /// Start iosonde on a host with this command
    #[arg(long, value_name = "COMMAND", default_value = "iosonde")]
    pub agent: String,
}

/// The hosts of IOMeter's managers, and the way to them.
#[derive(Debug, Args)]
pub(crate) struct ManagerArgs {
    /// Let the agent on HOST do the work of this manager, and that of the others on their hosts;
    /// may be given several times
    #[arg(long, value_name = "NAME=HOST")]
    pub manager: Vec<ManagerHost>,

    /// Reach the hosts of --manager through the server of the fleet in this directory
    #[arg(long, value_name = "DIR", requires = "manager",
        conflicts_with_all = ["ssh_command", "agent"])]
    pub site: Option<PathBuf>,

    /// Reach the hosts of --manager with this program and its options; it takes a host and a
    /// command as ssh does [default: ssh]
    #[arg(long, value_name = "COMMAND", requires = "manager")]
    pub ssh_command: Option<String>,

    /// Start iosonde on a host of --manager with this command [default: iosonde]
    #[arg(long, value_name = "COMMAND", requires = "manager")]
    pub agent: Option<String>,
}

/// `iosonde fleet knee`. Targets are on every host; `{host}` in a path is the name of the host.
#[derive(Debug, Args)]
pub(crate) struct FleetKneeArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    #[command(flatten)]
    pub knee: KneeArgs,
}

/// `iosonde fleet scale`. Targets are on every host; `{host}` in a path is the name of the host.
#[derive(Debug, Args)]
pub(crate) struct FleetScaleArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    #[command(flatten)]
    pub scale: ScaleArgs,
}

/// `iosonde fleet sweep`. Targets are on every host; `{host}` in a path is the name of the host.
#[derive(Debug, Args)]
pub(crate) struct FleetSweepArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    #[command(flatten)]
    pub sweep: SweepArgs,
}

/// What becomes of a result.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// `iosonde fleet assess`. The target is on every host; `{host}` in its path is the name of the
/// host.
#[derive(Debug, Args)]
pub(crate) struct FleetAssessArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    /// When a host is lost: `abort` stops the others, `continue` lets them run to the end
    #[arg(long, value_name = "POLICY", default_value = "abort")]
    pub on_loss: LossPolicy,

    /// Put each load on all hosts at once and judge what they get together, as one storage system;
    /// needs --size, which is that of each host's file
    #[arg(long)]
    pub together: bool,

    #[command(flatten)]
    pub load: AssessLoad,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// `iosonde fleet validate`. Targets are directories on every host; `{host}` in a path is the name
/// of the host.
#[derive(Debug, Args)]
pub(crate) struct FleetValidateArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    /// When a host is lost: `abort` stops the others, `continue` lets them run to the end
    #[arg(long, value_name = "POLICY", default_value = "abort")]
    pub on_loss: LossPolicy,

    #[command(flatten)]
    pub validate: ValidateArgs,
}

/// `iosonde fleet monitor`
#[derive(Debug, Args)]
pub(crate) struct FleetMonitorArgs {
    #[command(flatten)]
    pub reach: ReachArgs,

    /// When a host is lost: `abort` stops the others, `continue` lets them watch to the end
    #[arg(long, value_name = "POLICY", default_value = "continue")]
    pub on_loss: LossPolicy,

    /// What to watch on every host, with every layer under it: a file, a directory or a device, by
    /// its whole path [default: all real devices]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,

    /// Time between samples, 100ms to 60s
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub interval: Nanoseconds,

    /// End after this time [default: at Ctrl-C]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// End after this many samples
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,

    /// Report when FIGURE > LIMIT holds for a TIME on a host, and then exit with code 4; may be
    /// given several times
    #[arg(long, value_name = "CONDITION")]
    pub alert: Vec<Alert>,

    #[command(flatten)]
    pub conduct: ConductArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// `iosonde fleet run`
#[derive(Debug, Args)]
pub(crate) struct FleetRunArgs {
    /// A plan that `iosonde run --print-plan` printed; other flags override it
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,

    #[command(flatten)]
    pub reach: ReachArgs,

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

    #[command(flatten)]
    pub conduct: ConductArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

impl ReachArgs {
    fn over(
        &self,
        plan: Plan,
        on_loss: LossPolicy,
        window_s: Option<f64>,
    ) -> Result<Plan, Failure> {
        let (hosts, reach) = self.hosts()?;
        Ok(hosts::over(hosts, reach, on_loss, plan, window_s))
    }

    /// The hosts, and the way to them.
    fn hosts(&self) -> Result<(Vec<String>, FleetReach), Failure> {
        let Some(directory) = self.site.clone() else {
            let (command, agent) = (self.ssh_command.clone(), self.agent.clone());
            return Ok((self.ssh.clone(), FleetReach::Ssh { command, agent }));
        };
        let hosts = match self.hosts.as_slice() {
            [] => hosts::of_site(&directory)?,
            named => named.to_vec(),
        };
        Ok((hosts, FleetReach::Site { directory }))
    }
}

impl ManagerArgs {
    /// The plan on these hosts; as it is without any.
    pub(crate) fn over(&self, plan: Plan) -> Plan {
        let word = |word: &Option<String>, usual: &str| word.as_deref().unwrap_or(usual).to_owned();
        let reach = match self.site.clone() {
            Some(directory) => FleetReach::Site { directory },
            None => FleetReach::Ssh {
                command: word(&self.ssh_command, "ssh"),
                agent: word(&self.agent, "iosonde"),
            },
        };
        hosts::with_managers(&self.manager, reach, plan)
    }
}

impl FleetCommand {
    /// What is shown meanwhile.
    pub(crate) fn conduct(&self) -> Option<&ConductArgs> {
        Some(match self {
            Self::Run(args) => &args.conduct,
            Self::Knee(args) => &args.knee.target.conduct,
            Self::Scale(args) => &args.scale.target.conduct,
            Self::Sweep(args) => &args.sweep.target.conduct,
            Self::Assess(args) => &args.load.target.conduct,
            Self::Validate(args) => &args.validate.target.conduct,
            Self::Monitor(args) => &args.conduct,
            _ => return None,
        })
    }
}

/// Runs `iosonde agent`.
pub(crate) fn agent(args: &AgentArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let allowed = Allowed { paths: args.allow.clone(), destroy: args.allow_destroy.clone() };
    let (audit, recording) = (args.audit.clone(), args.recording.recording()?);
    let options = AgentOptions { allowed, audit, from: None, recording };
    match &args.join {
        Some(credentials) => join(&options, credentials, stop, &mut |text| eprintln!("{text}"))?,
        None => serve(options, std::io::stdin(), std::io::stdout(), stop)?,
    }
    Ok(Outcome::Done)
}

/// Runs `iosonde fleet`.
pub(crate) fn fleet(command: &FleetCommand, stop: &AtomicBool) -> Result<Outcome, Failure> {
    match command {
        FleetCommand::Run(args) => run(args, stop),
        FleetCommand::Knee(args) => {
            let FleetKneeArgs { reach, knee } = args.as_ref();
            let window_s = Some(knee.experiment.window_s());
            let plan = reach.over(knee::plan(knee)?, LossPolicy::Abort, window_s)?;
            knee.experiment.conduct(&plan, &knee.target, stop)
        }
        FleetCommand::Scale(args) => {
            let FleetScaleArgs { reach, scale } = args.as_ref();
            let window_s = Some(scale.experiment.window_s());
            let plan = reach.over(scale::plan(scale)?, LossPolicy::Abort, window_s)?;
            scale.experiment.conduct(&plan, &scale.target, stop)
        }
        FleetCommand::Sweep(args) => {
            let FleetSweepArgs { reach, sweep } = args.as_ref();
            let plan = reach.over(sweep::plan_for_fleet(sweep)?, LossPolicy::Abort, None)?;
            let rehearsal =
                Rehearsal { print_plan: sweep.print_plan, dry_run: sweep.target.conduct.dry_run };
            search(&plan, &sweep::manners(sweep)?, rehearsal, stop)
        }
        FleetCommand::Assess(args) => {
            let FleetAssessArgs { reach, on_loss, together, load, output } = args.as_ref();
            let plan = reach.over(assess::plan(load)?, *on_loss, None)?;
            let plan = if *together { hosts::as_one(plan) } else { plan };
            conduct(&plan, &load.target.conduct, output, stop)
        }
        FleetCommand::Validate(args) => validate_each(args, stop),
        FleetCommand::Monitor(args) => monitor_each(args, stop),
        FleetCommand::Hosts(args) => {
            let (hosts, reach) = args.reach.hosts()?;
            let request = LookRequest { hosts, reach, targets: args.targets.clone() };
            let mut display = Display::new(false);
            let found = hosts::look(&request, stop, &mut |event| display.hear(event))?;
            print(&if args.json { json(&found)? } else { found.text() })?;
            Ok(Outcome::Done)
        }
        FleetCommand::Resume(args) => {
            let (hosts, reach) = args.reach.hosts()?;
            let request = ResumeRequest { hosts, reach, run: args.run.clone() };
            let (recording, permissions) = (args.recording.recording()?, Permissions::default());
            let sink = &mut Console::new(Display::new(false), args.json);
            let mut session =
                Session { permissions, recording: recording.as_ref(), sink, stop, resumed: None };
            ended(hosts::resume(&request, &mut session)?, stop).map(|(_, outcome)| outcome)
        }
        FleetCommand::Init(args) => {
            let FleetInitArgs { directory, host, server, renew, days } = args;
            let (directory, hosts, servers) = (directory.clone(), host.clone(), server.clone());
            let request = SiteRequest { directory, hosts, servers, days: *days };
            print(&if *renew { hosts::renew(&request)? } else { hosts::init(request)? })?;
            Ok(Outcome::Done)
        }
        FleetCommand::Up { directory } => {
            hosts::up(directory, stop, &mut |text| eprintln!("{text}"))?;
            Ok(Outcome::Done)
        }
        FleetCommand::Revoke { directory, host } => {
            print(&hosts::revoke(directory, host)?)?;
            Ok(Outcome::Done)
        }
    }
}

fn run(args: &FleetRunArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let mut workload = hosts::planned(args.plan.as_deref(), &args.target, args.size)?;
    for stream in &mut workload.streams {
        apply_stream(stream, &args.stream)?;
    }
    workload.engine = args.engine.map_or(workload.engine, Into::into);
    workload.seconds = args.seconds.unwrap_or(workload.seconds);
    workload.warmup_seconds = args.warmup.unwrap_or(workload.warmup_seconds);
    workload.interval_ns = args.interval.unwrap_or(workload.interval_ns);
    let plan = args.reach.over(Plan::Run(Box::new(workload)), args.on_loss, None)?;
    conduct(&plan, &args.conduct, &args.output, stop)
}

fn validate_each(args: &FleetValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let of = &args.validate;
    let plan = args.reach.over(validate::plan_elsewhere(of)?, args.on_loss, None)?;
    let rehearsal = Rehearsal { print_plan: of.print_plan, dry_run: of.target.conduct.dry_run };
    let manners = Manners::of(&of.target, of.json, of.recording.recording()?);
    search(&plan, &manners, rehearsal, stop)
}

fn monitor_each(args: &FleetMonitorArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = Plan::Monitor(Box::new(MonitorPlan {
        targets: args.targets.clone(),
        interval_seconds: args.interval.0 as f64 / 1e9,
        seconds: args.seconds,
        count: args.count,
        alerts: args.alert.clone(),
        ..MonitorPlan::default()
    }));
    let plan = args.reach.over(plan, args.on_loss, None)?;
    conduct(&plan, &args.conduct, &args.output, stop)
}

fn conduct(
    plan: &Plan,
    conduct: &ConductArgs,
    output: &OutputArgs,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let recording = output.recording.recording()?;
    let (manner, permissions) = (conduct.manner(), conduct.permissions());
    let manners = Manners { manner, json: output.json, recording, permissions };
    let rehearsal = Rehearsal { print_plan: output.print_plan, dry_run: conduct.dry_run };
    search(plan, &manners, rehearsal, stop)
}
