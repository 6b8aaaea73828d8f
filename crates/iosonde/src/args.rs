//! What can be typed. The text of every flag is its documentation.

use std::path::PathBuf;

use analysis::cause::Link;
use clap::{Args, ValueEnum};
use results::verdict::{Class, Database};
use workload::{
    Block, Bytes, Distribution, Nanoseconds, ParseError, parse_blocks, parse_cpus,
    parse_distribution,
};

use crate::commands::repeat::RepeatArgs;
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;

/// What may become of a file that a command writes. Every command that writes one has it.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OverwriteArgs {
    /// Replace an output file that exists already
    #[arg(long)]
    pub overwrite: bool,
}

/// `iosonde assess`
#[derive(Debug, Args)]
pub(crate) struct AssessArgs {
    #[command(flatten)]
    pub load: AssessLoad,

    /// Replay the load of this trace on the target, too, and judge the roles at that load: the
    /// busiest part, of 3 minutes at the normal pace. Exit with code 4 if the limits do not hold
    #[arg(long, value_name = "TRACE")]
    pub from: Option<PathBuf>,

    /// Where the report goes; by default iosonde-DATE.html in the current directory
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Print the whole result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    /// Print the plan as TOML on stdout and do nothing else; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// The load of an assessment, and what it is judged by.
#[derive(Debug, Args)]
pub(crate) struct AssessLoad {
    #[command(flatten)]
    pub target: TargetArgs,

    /// How long to measure: glance (30 s), quick (2 min), normal (15 min) or long (2 h)
    #[arg(long, value_enum, default_value_t = PaceArg::Normal)]
    pub pace: PaceArg,

    /// The database that will use the storage: it decides the loads, the roles and their limits
    #[arg(long = "for", value_name = "DATABASE", value_enum, default_value_t =
        DatabaseArg::Generic)]
    pub database: DatabaseArg,

    /// Also measure this access specification, such as "Web Server", or one of an .icf file
    /// (`FILE.icf:NAME`); `iosonde specs` lists them. May be given several times
    #[arg(long, value_name = "NAME")]
    pub spec: Vec<String>,

    /// What the storage should do: a TOML file (see METHODS.md), or a cloud volume by name, such as
    /// aws:gp3,iops=6000,mbps=250, azure:P30 or gcp:pd-ssd,size=500G. Exit with code 4 if it does
    /// less
    #[arg(long, value_name = "FILE|VOLUME")]
    pub expect: Option<String>,

    /// A TOML file with your own volumes, in the form of those that iosonde knows; see METHODS.md
    #[arg(long, value_name = "FILE", requires = "expect")]
    pub volumes: Option<PathBuf>,

    /// What the database needs: small, medium or large, or amounts such as
    /// oltp=5000iops,log=2000/s,scan=800MiBps. Exit with code 4 if the storage cannot carry that.
    /// Without this flag, the report says how much load fits and gives no grade
    #[arg(long, value_name = "NEED")]
    pub need: Option<String>,

    /// The class of the storage, if it does not report one itself; the report compares the figures
    /// with what is usual for the class
    #[arg(long, value_name = "CLASS", value_enum)]
    pub class: Option<ClassArg>,

    /// Limits of the roles, a TOML file; see METHODS.md
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,

    /// The link to the storage: 8GFC, 10GbE, SATA3, PCIe3x4, USB3, …, or MiB per second; it may be
    /// the bottleneck
    #[arg(long, value_name = "LINK")]
    pub link: Option<Link>,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,
}

/// Pace by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaceArg {
    /// About 30 seconds: a first impression, without verdicts
    Glance,
    /// About 4 minutes: an indication
    Quick,
    /// About 20 minutes
    Normal,
    /// About 2 hours: a baseline, including reads alongside writes
    Long,
}

/// Class of storage by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassArg {
    /// Rotating disk
    Hdd,
    /// Flash on SATA or SAS
    Sata,
    /// Flash on NVMe
    Nvme,
    /// Flash on a storage network
    Array,
    /// Volume of a cloud provider
    Cloud,
}

impl From<ClassArg> for Class {
    fn from(class: ClassArg) -> Self {
        match class {
            ClassArg::Hdd => Self::Hdd,
            ClassArg::Sata => Self::SataSsd,
            ClassArg::Nvme => Self::Nvme,
            ClassArg::Array => Self::Array,
            ClassArg::Cloud => Self::Cloud,
        }
    }
}

/// Database by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatabaseArg {
    /// Any database
    Generic,
    /// Microsoft SQL Server
    Sqlserver,
    /// PostgreSQL
    Postgres,
    /// MySQL or MariaDB with InnoDB
    Mysql,
    /// Oracle Database
    Oracle,
    /// SQLite
    Sqlite,
    /// RocksDB and other log-structured merge trees
    Rocksdb,
}

impl From<DatabaseArg> for Database {
    fn from(database: DatabaseArg) -> Self {
        match database {
            DatabaseArg::Generic => Self::Generic,
            DatabaseArg::Sqlserver => Self::SqlServer,
            DatabaseArg::Postgres => Self::Postgres,
            DatabaseArg::Mysql => Self::MySql,
            DatabaseArg::Oracle => Self::Oracle,
            DatabaseArg::Sqlite => Self::Sqlite,
            DatabaseArg::Rocksdb => Self::RocksDb,
        }
    }
}

/// `iosonde run`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    /// Read the workload from a TOML file, an .icf file, a DiskSpd profile or a fio job file; other
    /// flags override it
    #[arg(long, value_name = "FILE")]
    pub workload: Option<PathBuf>,

    /// Run this access specification, such as "File Server"; `iosonde specs` lists them. Several
    /// run at the same time; other flags override them
    #[arg(long, value_name = "NAME", conflicts_with = "workload")]
    pub spec: Vec<String>,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Length of the measured window [default: 30]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// End the window when the 95 % confidence interval of the mean is within this many percent;
    /// `--seconds` is then the limit
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<f64>,

    /// With `--precision`, the shortest time of the window
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0, requires = "precision")]
    pub at_least: f64,

    /// Warm-up before the window, which does not count [default: 3]
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Time between points of the series, 10ms to 1h [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Nanoseconds>,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,

    /// Map the targets into memory: I/O is then a copy, through the operating system's cache
    #[arg(long, conflicts_with = "buffered")]
    pub mapped: bool,

    /// What to do after a failed I/O [default: stop]
    #[arg(long, value_enum)]
    pub on_error: Option<OnErrorArg>,

    /// How threads wait for their I/Os [default: block]
    #[arg(long, value_enum)]
    pub wait: Option<WaitArg>,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    /// Print the workload as TOML on stdout and stop
    #[arg(long)]
    pub print_workload: bool,

    #[command(flatten)]
    pub repeat: RepeatArgs,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// Flags that describe a stream.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Block size, or several with weights: 8K or 8K:70,64K:30 [default: 8K]
    #[arg(long, value_name = "SIZE", value_parser = blocks)]
    pub block: Option<Blocks>,

    /// Where the next I/O goes [default: random]
    #[arg(long, value_enum)]
    pub pattern: Option<PatternArg>,

    /// Distance from the start of one I/O to the next, for `--pattern stride`
    #[arg(long, value_name = "SIZE")]
    pub stride: Option<Bytes>,

    /// Share of I/Os that jump to a random place in a sequential order, in percent [default: 0]
    #[arg(long, value_name = "PERCENT")]
    pub random: Option<u8>,

    /// Distribution of random offsets: uniform, zipf:0.99 or hot:20/80 [default: uniform]
    #[arg(long, value_parser = parse_distribution)]
    pub distribution: Option<Distribution>,

    /// Random offsets are multiples of this [default: the block size]
    #[arg(long, value_name = "SIZE")]
    pub align: Option<Bytes>,

    /// Share of I/Os that write, in percent [default: 0]
    #[arg(long, value_name = "PERCENT")]
    pub write: Option<u8>,

    /// Threads per target [default: 1]
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,

    /// Queue depth: outstanding I/Os per thread [default: 1]
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,

    /// Make every write reach stable storage before it completes (write-through)
    #[arg(long)]
    pub durable: bool,

    /// Flush after every N writes of a thread
    #[arg(long, value_name = "N")]
    pub sync_every: Option<u32>,

    /// System call that flushes [default: fdatasync]
    #[arg(long, value_enum, requires = "sync_every")]
    pub sync_call: Option<SyncArg>,

    /// Issue this many I/Os per second, whether or not the storage keeps up (open loop)
    #[arg(long, value_name = "IOPS", conflicts_with = "rate_mib")]
    pub rate: Option<f64>,

    /// Issue this many MiB per second, whether or not the storage keeps up (open loop)
    #[arg(long, value_name = "MIB")]
    pub rate_mib: Option<f64>,

    /// Spacing of the I/Os of an open loop [default: even]
    #[arg(long, value_enum)]
    pub arrival: Option<ArrivalArg>,

    /// Pause of a thread after each burst, for example 5ms
    #[arg(long, value_name = "TIME")]
    pub think: Option<Nanoseconds>,

    /// I/Os in a burst [default: 1]
    #[arg(long, value_name = "N", requires = "think")]
    pub burst: Option<u32>,

    /// Start of the used part of each target [default: 0]
    #[arg(long, value_name = "SIZE")]
    pub offset: Option<Bytes>,

    /// Length of the used part of each target [default: to its end]
    #[arg(long, value_name = "SIZE")]
    pub span: Option<Bytes>,

    /// Data to write: random, zero, or percent compressible such as 50 [default: random]
    #[arg(long, value_name = "CONTENT", value_parser = content)]
    pub content: Option<workload::Content>,

    /// CPUs for the threads, in turn: 0,2-5
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<Cpus>,

    /// I/O priority: idle, best-effort:0-7 or realtime:0-7
    #[arg(long, value_name = "CLASS", value_parser = priority)]
    pub priority: Option<workload::Priority>,
}

/// A list of CPUs as one value of a flag.
#[derive(Debug, Clone)]
pub(crate) struct Cpus(pub Vec<u32>);

/// A list of block sizes as one value of a flag.
#[derive(Debug, Clone)]
pub(crate) struct Blocks(pub Vec<Block>);

fn blocks(text: &str) -> Result<Blocks, ParseError> {
    parse_blocks(text).map(Blocks)
}

fn cpus(text: &str) -> Result<Cpus, ParseError> {
    parse_cpus(text).map(Cpus)
}

fn content(text: &str) -> Result<workload::Content, String> {
    match text {
        "random" => Ok(workload::Content::Random),
        "zero" => Ok(workload::Content::Zero),
        "repeating" => Ok(workload::Content::Repeating),
        "fixed" => Ok(workload::Content::Fixed),
        percent => percent
            .trim_end_matches('%')
            .parse()
            .map(|percent| workload::Content::Compressible { percent })
            .map_err(|_| {
                "write `random`, `zero`, `repeating`, `fixed` or a percentage such as `50`"
                    .to_owned()
            }),
    }
}

fn priority(text: &str) -> Result<workload::Priority, String> {
    let (class, level) = text.split_once(':').unwrap_or((text, "4"));
    let level = level.parse();
    match (class, level) {
        ("idle", _) => Ok(workload::Priority::Idle),
        ("best-effort", Ok(level)) => Ok(workload::Priority::BestEffort { level }),
        ("realtime", Ok(level)) => Ok(workload::Priority::Realtime { level }),
        _ => Err("write `idle`, `best-effort:4` or `realtime:4`; levels go from 0 (first) to 7"
            .to_owned()),
    }
}

/// Patterns by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternArg {
    /// Anywhere
    Random,
    /// One after the other, each thread from its own position
    Sequential,
    /// One after the other, all threads sharing one position
    SequentialShared,
    /// In steps of `--stride`
    Stride,
}

/// What a failed I/O does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnErrorArg {
    /// End the run and show what was measured
    Stop,
    /// Count it and continue
    Continue,
}

/// How threads wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WaitArg {
    /// Sleep until an I/O completes
    Block,
    /// Never sleep: needs a core per thread
    Spin,
}

/// System call that flushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncArg {
    /// Data and all metadata
    Fsync,
    /// Data and what is needed to read it
    Fdatasync,
}

/// How an open loop spaces its I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalArg {
    /// At equal intervals
    Even,
    /// At random intervals, like independent users
    Poisson,
}
