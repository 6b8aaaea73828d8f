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
#[command(after_help = "Exit codes: 0 done; 1 could not watch; 2 wrong usage; 4 a condition of \
                        --alert came true; 130 interrupted before the end that --seconds or \
                        --count asked for; with a COMMAND, its own exit code where that is not 0.")]
pub(crate) struct MonitorArgs {
    /// What is watched, with every layer under it: a file, a directory, a device or its name (vda)
    /// [default: all real devices]
    #[arg(value_name = "TARGET", conflicts_with = "all")]
    pub targets: Vec<PathBuf>,

    /// Watch every block device, partitions too
    #[arg(long)]
    pub all: bool,

    /// Distance of two samples, 100ms to 60s [default: 1s; with a COMMAND 100ms, so that the edges
    /// of its run are found]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Nanoseconds>,

    /// End after this time
    #[arg(long, value_name = "N", conflicts_with = "command")]
    pub seconds: Option<f64>,

    /// End after so many samples
    #[arg(long, value_name = "N", conflicts_with = "command")]
    pub count: Option<u64>,

    /// Lay a CSV on the same time axis: a column of times (RFC 3339, or seconds or milliseconds
    /// since 1970), any others with numbers, such as figures of an array. It is read when the
    /// recording ends. May be given several times
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,

    /// Answer http://ADDRESS:PORT/metrics in the format of OpenMetrics, as Prometheus asks for it;
    /// what other computers can reach needs a token, which is made and printed
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<std::net::SocketAddr>,

    /// Say when FIGURE > LIMIT holds for a TIME, such as 'write_latency > 20ms for 60s' or
    /// 'vda.average_queue > 2', and exit with 4 then; ready: log, oltp-data, dss-data, queue,
    /// io-pressure. May be given several times
    #[arg(long, value_name = "CONDITION")]
    pub alert: Vec<Alert>,

    /// Watch what this database counts about its I/O, too: postgres://user@host/database,
    /// mysql://user@host, sqlserver://user@host. May be given several times. Without a TARGET, the
    /// devices are those of its data where that is on this host. Passwords are better in
    /// PGPASSWORD, ~/.pgpass, MYSQL_PWD or SQLCMDPASSWORD than here
    #[arg(long, value_name = "URL")]
    pub database: Vec<String>,

    /// Print rows of CSV on stdout, one for each device and sample
    #[arg(long, conflicts_with_all = ["json", "json_lines"])]
    pub csv: bool,

    /// Print the whole recording as JSON on stdout when it ends
    #[arg(long, conflicts_with = "json_lines")]
    pub json: bool,

    /// Print what happens as JSON lines on stdout, as it happens
    #[arg(long)]
    pub json_lines: bool,

    /// Show the figures on a screen of their own, with sparklines, which `q` leaves; tables where
    /// the terminal cannot
    #[arg(long, conflicts_with_all = ["quiet", "command"])]
    pub live: bool,

    /// No tables and no messages but errors and alerts
    #[arg(long, short)]
    pub quiet: bool,

    /// How progress is shown on stderr: `line`, or `json` for the events of docs/live.md as lines
    /// of JSON
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ProgressForm::Line,
        conflicts_with_all = ["live", "quiet", "command"])]
    pub progress: ProgressForm,

    /// Print the plan as TOML on stdout and do nothing else; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    /// The name of the recording, by which it is also found as @NAME
    #[arg(long, value_name = "NAME", value_parser = crate::recording::tag, conflicts_with =
        "no_history")]
    pub name: Option<String>,

    #[command(flatten)]
    pub recording: RecordingArgs,

    /// Watch exactly while this runs: another benchmark, or a real job. What it prints passes
    /// through, and goes to stderr where stdout is for --csv, --json or --json-lines. Results of
    /// SQLIO, DiskSpd, fio and iosonde in it are set beside the counters
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,

    #[command(flatten)]
    pub language: LanguageArgs,
}

impl MonitorArgs {
    /// What is watched, and for how long.
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
