//! What many hosts cost their coordinator, and whether the promises of docs/fleet.md hold on real
//! processes.

mod commands;
mod links;
mod namespaces;
mod places;
mod promises;
mod rules;
mod simulated;
mod soak;
mod spaces;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Error;

/// Flags of `fleet`.
#[derive(Debug, Args)]
pub(super) struct FleetArgs {
    /// Parts; all but `commands` and `soak` where none is named
    #[arg(value_name = "PART", value_enum)]
    parts: Vec<Part>,

    /// Faults of `soak`
    #[arg(long, value_name = "N", default_value_t = 200)]
    faults: u32,

    /// The way to the hosts of `soak`; `commands` takes only this way if it is `nats`
    #[arg(long, value_name = "WAY", value_enum, default_value = "script")]
    over: Way,

    /// How many times the promised 5 s may pass in `soak`, on a machine that does other work, too
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    slack: f64,

    /// Starts of `namespaces`
    #[arg(long, value_name = "N", default_value_t = 30)]
    starts: u32,

    /// Where the random choices start [default: the time of day]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// What this program does when it simulates so many agents
    #[arg(long, value_name = "N", hide = true)]
    agents: Option<usize>,

    /// What this program does when it is a slow network
    #[arg(long, value_name = "ADDRESS", hide = true)]
    delay: Option<String>,
}

/// The way to hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    /// A script, as ssh
    Script,
    /// A NATS server
    Nats,
    /// Interfaces of network namespaces, which go down and up, over sshd
    Links,
    /// Eight network namespaces that share a file system, over a NATS server
    Spaces,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// CPU and memory of a coordinator of 1, 10, 100 and 1,000 simulated agents
    Simulated,
    /// How soon losses are seen, and what an agent costs its host
    Promises,
    /// Start skew of eight hosts in network namespaces, over sshd
    Namespaces,
    /// Every command on eight hosts in namespaces that share one file system on a loop device,
    /// over sshd and over a NATS server
    Commands,
    /// Random faults, and whether every result is there once
    Soak,
}

/// Runs the parts; their tables, and whether all limits hold.
pub(super) fn run(
    args: &FleetArgs,
    iosonde: &dyn Fn() -> Result<PathBuf, Error>,
) -> Result<(String, bool), Error> {
    if let Some(agents) = args.agents {
        return Ok((simulated::row(agents)?, true));
    }
    if let Some(address) = &args.delay {
        namespaces::delay(address)?;
        return Ok((String::new(), true));
    }
    let usual = [Part::Simulated, Part::Promises, Part::Namespaces];
    let parts = if args.parts.is_empty() { &usual[..] } else { &args.parts };
    let (mut text, mut holds) = (String::new(), true);
    for part in parts {
        let (table, held) = match part {
            Part::Simulated => simulated::run()?,
            Part::Promises => promises::run(&iosonde()?)?,
            Part::Namespaces => namespaces::run(&iosonde()?, args.starts)?,
            Part::Commands => commands::run(&iosonde()?, args.over)?,
            Part::Soak if args.over == Way::Links => links::run(&iosonde()?, args)?,
            Part::Soak if args.over == Way::Spaces => spaces::run(&iosonde()?, args)?,
            Part::Soak => soak::run(&iosonde()?, args)?,
        };
        let _ = writeln!(text, "{table}");
        holds &= held;
    }
    Ok((text, holds))
}
