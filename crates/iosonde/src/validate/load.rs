//! Who works on the pages: a database's users, or nothing but verified reads and writes.

use clap::Args;
use integrity::{PageOrder, PageUsers, Plan, RandomUsers, ScanUsers};
use workload::Bytes;

use super::ValidateArgs;
use crate::exit::Failure;

/// What is done to the pages.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// What is done to the pages: what a database does, or nothing but reads and writes that are checked and keep every queue full,
    /// anywhere (random) or in a row (sequential), without a log
    #[arg(long, value_enum, default_value = "database")]
    pub workload: WorkArg,

    /// With `--workload random` or `sequential`: share of the I/Os that write, in percent [default: 50]
    #[arg(long, value_name = "PERCENT")]
    pub write: Option<f64>,

    /// With `--workload random` or `sequential`: size of an I/O, whole pages [default: one page]
    #[arg(long, value_name = "SIZE")]
    pub block: Option<Bytes>,
}

/// What is done to the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WorkArg {
    /// Users read, change, log and scan
    Database,
    /// Reads and writes anywhere
    Random,
    /// Reads and writes in a row
    Sequential,
}

impl LoadArgs {
    /// Whether there is a log.
    pub(super) fn has_log(&self) -> bool {
        self.workload == WorkArg::Database
    }
}

/// The plan with the users that the arguments ask for.
pub(super) fn with_users(args: &ValidateArgs, plan: Plan) -> Result<Plan, Failure> {
    let load = &args.load;
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
    let none = |scan: ScanUsers| ScanUsers { users: 0, ..scan };
    Ok(Plan {
        random: RandomUsers { users: 0, ..plan.random },
        audit: none(plan.audit),
        read_ahead: none(plan.read_ahead),
        bulk: none(plan.bulk),
        pages: PageUsers {
            users: plan.threads.saturating_mul(plan.depth),
            write_percent: load.write.unwrap_or(50.0),
            pages: (pages, pages),
            order,
        },
        ..plan
    })
}

/// Who works, in words.
pub(super) fn words(plan: &Plan) -> String {
    let PageUsers { users, write_percent, pages, order } = plan.pages;
    if users == 0 {
        return "the users work".to_owned();
    }
    let place = match order {
        PageOrder::Random => "anywhere",
        PageOrder::Sequential => "in a row",
    };
    let block = Bytes(u64::from(plan.page_bytes) * u64::from(pages.1));
    format!("{users} I/Os of {block} at a time {place}, {write_percent} % of them writes,")
}

/// Refuses flags that mean nothing for what is done.
fn refuse(work: &str, flags: &[(&str, bool)]) -> Result<(), Failure> {
    let given: Vec<&str> =
        flags.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    if given.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{} mean nothing for {work}; leave them out, or choose another `--workload`",
        given.join(", ")
    );
    Err(Failure::WrongUsage(text))
}
