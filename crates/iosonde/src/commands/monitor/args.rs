//! What can be typed after `iosonde monitor`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use databases::DatabaseUrl;
use jobs::MonitorPlan;
use monitor::Alert;
use screen::Stdout;
use workload::Nanoseconds;

use crate::exit::Failure;
use crate::language::LanguageArgs;
use crate::recording::RecordingArgs;
use crate::targets::ProgressForm;

/// `iosonde monitor`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
#[command(
    after_help = "Exit codes:\n  0 done\n  1 could not watch\n  2 wrong usage\n  4 a condition of \
                        --alert came true\n  130 interrupted before the end that --seconds or \
                        --count asked for\n\nWith a COMMAND that fails, its own exit code."
)]
pub(crate) struct MonitorArgs {
    /// What to watch, with every layer under it: a file, a directory, a device or its name (vda)
    /// [default: all real devices]
    #[arg(value_name = "TARGET", conflicts_with = "all")]
    pub targets: Vec<PathBuf>,

    /// Watch every block device, partitions too
    #[arg(long)]
    pub all: bool,

    /// Time between samples, 100ms to 60s [default: 1s; with a COMMAND 100ms, to find the edges of
    /// its run]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Nanoseconds>,

    /// End after this time
    #[arg(long, value_name = "N", conflicts_with = "command")]
    pub seconds: Option<f64>,

    /// End after this many samples
    #[arg(long, value_name = "N", conflicts_with = "command")]
    pub count: Option<u64>,

    /// Add a CSV file on the same time axis, such as figures of an array: one column of times (RFC
    /// 3339, or seconds or milliseconds since 1970), the others numbers. iosonde reads it when the
    /// recording ends. May be given several times
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,

    /// Serve http://ADDRESS:PORT/metrics in OpenMetrics format, for Prometheus. An address that
    /// other computers can reach needs a token, which iosonde makes and prints unless a file has
    /// one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<std::net::SocketAddr>,

    /// A file with the token that a program must send to read the metrics, at least 16 characters
    #[arg(long, value_name = "FILE", requires = "metrics")]
    pub token_file: Option<PathBuf>,

    /// Report when FIGURE > LIMIT holds for a TIME, and then exit with code 4: 'write_latency >
    /// 20ms for 60s' or 'vda.average_queue > 2'. Ready-made conditions: log, oltp-data, dss-data,
    /// queue, io-pressure. May be given several times
    #[arg(long, value_name = "CONDITION")]
    pub alert: Vec<Alert>,

    /// Also watch what this database counts about its I/O: postgres://user@host/database,
    /// mysql://user@host, sqlserver://user@host. May be given several times. Without a TARGET,
    /// iosonde watches the devices of its data if they are on this host. Put passwords into
    /// PGPASSWORD, ~/.pgpass, MYSQL_PWD or SQLCMDPASSWORD rather than here
    #[arg(long, value_name = "URL")]
    pub database: Vec<String>,

    /// Print rows of CSV on stdout, one per device and sample
    #[arg(long, conflicts_with_all = ["json", "json_lines"])]
    pub csv: bool,

    /// Print the complete recording as JSON on stdout when it ends
    #[arg(long, conflicts_with = "json_lines")]
    pub json: bool,

    /// Print events as JSON lines on stdout, as they happen
    #[arg(long)]
    pub json_lines: bool,

    /// Show a full-screen live view with sparklines; press q to return. A terminal that cannot show
    /// it gets tables
    #[arg(long, conflicts_with_all = ["quiet", "command"])]
    pub live: bool,

    /// Print no tables and no messages except errors and alerts
    #[arg(long, short)]
    pub quiet: bool,

    /// Form of the progress on stderr: `line`, or `json` for one JSON object per event
    /// (docs/live.md)
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ProgressForm::Line,
        conflicts_with_all = ["live", "quiet", "command"])]
    pub progress: ProgressForm,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    /// Name the recording, so that @NAME finds it
    #[arg(long, value_name = "NAME", value_parser = crate::recording::tag, conflicts_with =
        "no_history")]
    pub name: Option<String>,

    #[command(flatten)]
    pub recording: RecordingArgs,

    /// Watch while this command runs: another benchmark, or a real job. Its output passes through,
    /// to stderr if stdout is for --csv, --json or --json-lines. iosonde compares results of SQLIO,
    /// DiskSpd, fio and iosonde in it with the counters
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub language: LanguageArgs,
}

impl MonitorArgs {
    /// The plan: what to watch, and for how long.
    pub(super) fn plan(&self) -> Result<MonitorPlan, Failure> {
        let interval = match self.interval {
            Some(interval) => Duration::from_nanos(interval.0),
            None if self.command.is_empty() => Duration::from_secs(1),
            None => Duration::from_millis(100),
        };
        let databases: Result<_, _> = self.database.iter().map(|u| DatabaseUrl::parse(u)).collect();
        Ok(MonitorPlan {
            targets: self.targets.clone(),
            all: self.all,
            interval_seconds: interval.as_secs_f64(),
            seconds: self.seconds,
            count: self.count,
            name: self.name.clone(),
            alerts: self.alert.clone(),
            databases: databases.map_err(|error| Failure::WrongUsage(error.to_string()))?,
            attach: self.attach.clone(),
            command: self.command.iter().map(PathBuf::from).collect(),
        })
    }

    /// What stdout is for.
    pub(super) fn stdout(&self) -> Stdout {
        match (self.csv, self.json_lines, self.json) {
            (true, ..) => Stdout::Csv,
            (_, true, _) => Stdout::JsonLines,
            (.., true) => Stdout::Json,
            _ => Stdout::Text,
        }
    }
}
