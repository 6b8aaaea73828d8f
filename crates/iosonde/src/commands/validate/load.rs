//! What works on the pages: a database's users, or only verified reads and writes.

use std::time::Duration;

use clap::Args;
use integrity::{Imitated, PageOrder, PageUsers, Plan, Resizing};
use workload::Bytes;

use super::ValidateArgs;
use crate::exit::Failure;

/// What to do with the pages.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// What to do with the pages: work like a database, or only read and write with every queue
    /// full and without a log. Every read is checked
    #[arg(long, value_enum, default_value = "database")]
    pub workload: WorkArg,

    /// With `--workload random` or `sequential`: share of the I/Os that write, in percent [default:
    /// 50]
    #[arg(long, value_name = "PERCENT")]
    pub write: Option<f64>,

    /// With `--workload random` or `sequential`: size of an I/O, in whole pages [default: one page]
    #[arg(long, value_name = "SIZE")]
    pub block: Option<Bytes>,

    /// Imitate this engine's pages, users, log, flushes and cache; other flags override it
    /// [default: sqlserver]
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    pub imitated: Option<ImitatedArg>,

    /// Bypass the operating system's cache, even if the imitated engine does not
    #[arg(long, conflicts_with = "buffered")]
    pub direct: bool,

    /// Start with files that are holes instead of written data; what nobody has written yet must
    /// read as zeros
    #[arg(long)]
    pub sparse: bool,

    /// Shrink and grow the data files while users work, with pauses of this length on average; the
    /// files begin at half of their size
    #[arg(long, value_name = "SECONDS")]
    pub resize: Option<f64>,

    /// With `--resize`: write zeros over the part that comes back at the end of a file
    #[arg(long, requires = "resize")]
    pub stamp: bool,
}

/// What works on the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WorkArg {
    /// Users read, change, log and scan
    Database,
    /// Reads and writes at random places
    Random,
    /// Reads and writes in a row
    Sequential,
}

/// An engine whose I/O is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ImitatedArg {
    /// SQL Server: 8 KiB pages, direct, a log with write-through
    Sqlserver,
    /// PostgreSQL: buffered, 8 KiB pages, page images in the log, a flush per commit and after each
    /// checkpoint
    Postgres,
    /// MySQL (InnoDB): 16 KiB pages that are written twice, a log in blocks of 512 bytes, flushes
    Mysql,
    /// SQLite with a write-ahead log: buffered, 4 KiB pages, one writer, pages in the log
    Sqlite,
    /// RocksDB: buffered, tables that are written whole and merged, a log that no commit flushes
    Rocksdb,
}

impl From<ImitatedArg> for Imitated {
    fn from(engine: ImitatedArg) -> Self {
        match engine {
            ImitatedArg::Sqlserver => Self::Sqlserver,
            ImitatedArg::Postgres => Self::Postgres,
            ImitatedArg::Mysql => Self::Mysql,
            ImitatedArg::Sqlite => Self::Sqlite,
            ImitatedArg::Rocksdb => Self::Rocksdb,
        }
    }
}

impl LoadArgs {
    /// Whether I/O goes through the operating system's cache.
    pub(super) fn is_buffered(&self, asked: bool) -> bool {
        asked
            || !self.direct
                && self.imitated.is_some_and(|engine| Imitated::from(engine).is_buffered())
    }

    /// What makes files shorter and longer, if the arguments ask for it.
    fn resizing(&self, usual: Option<Resizing>) -> Result<Option<Resizing>, Failure> {
        let Some(seconds) = self.resize else { return Ok(usual) };
        if !(0.01..=86_400.0).contains(&seconds) {
            let text = format!("--resize is {seconds}: it must be 0.01 s to a day");
            return Err(Failure::WrongUsage(text));
        }
        let (pause_min, pause_max) =
            (Duration::from_secs_f64(seconds / 2.0), Duration::from_secs_f64(seconds * 1.5));
        Ok(Some(Resizing { pause_min, pause_max, stamp: self.stamp, ..Resizing::default() }))
    }

    /// Whether the database has a log.
    pub(super) fn has_log(&self) -> bool {
        self.workload == WorkArg::Database
    }
}

/// The plan with the users that the arguments ask for.
pub(super) fn with_users(args: &ValidateArgs, plan: &Plan) -> Result<Plan, Failure> {
    let load = &args.load;
    let plan = Plan { resizing: load.resizing(plan.resizing)?, ..*plan };
    let order = match load.workload {
        WorkArg::Database => {
            refuse(
                "`--workload database`",
                &[("--write", load.write.is_some()), ("--block", load.block.is_some())],
            )?;
            return Ok(plan);
        }
        WorkArg::Random => PageOrder::Random,
        WorkArg::Sequential => PageOrder::Sequential,
    };
    let database = [
        ("--users", args.users.is_some()),
        ("--update", args.update.is_some()),
        ("--log", args.log.is_some()),
        ("--log-size", args.log_size.is_some()),
    ];
    refuse("reads and writes without a database", &database)?;
    let block = load.block.map_or(u64::from(plan.page_bytes), |block| block.0);
    let page_bytes = u64::from(plan.page_bytes.max(1));
    if !block.is_multiple_of(page_bytes) {
        let text =
            format!("--block is {}: it must be whole pages of {}", Bytes(block), Bytes(page_bytes));
        return Err(Failure::WrongUsage(text));
    }
    let pages = u32::try_from(block / page_bytes).unwrap_or(u32::MAX);
    Ok(plan.only_pages(PageUsers {
        users: plan.threads.saturating_mul(plan.depth),
        write_percent: load.write.unwrap_or(50.0),
        pages: (pages, pages),
        order,
    }))
}

/// Refuses flags that have no meaning for this work.
fn refuse(work: &str, flags: &[(&str, bool)]) -> Result<(), Failure> {
    let given: Vec<&str> =
        flags.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    if given.is_empty() {
        return Ok(());
    }
    let (means, it) = if given.len() == 1 { ("means", "it") } else { ("mean", "them") };
    let text = format!(
        "{} {means} nothing for {work}; leave {it} out, or choose another `--workload`",
        given.join(", ")
    );
    Err(Failure::WrongUsage(text))
}
