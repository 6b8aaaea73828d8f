//! `iosonde history trend`: one figure over many dates.

use clap::{Args, ValueEnum};
use history::History;
use history::trend::{TrendQuery, kept_trend};
use results::Figure;

use super::list::target_name;
use crate::commands::run::json;
use crate::exit::{Failure, Outcome, print};
use crate::language::LanguageArgs;
use crate::recording::failure;

/// `iosonde history trend`
#[derive(Debug, Args)]
pub(crate) struct TrendArgs {
    /// Only measurements of this target: a path, or a name as the list shows it
    #[arg(value_name = "TARGET", value_parser = target_name)]
    pub target: Option<String>,

    /// Only measurements of this host
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,

    /// Only this load: words of it in order, such as `8 KiB read depth 8`, or the id of its
    /// conditions
    #[arg(long, value_name = "WORDS")]
    pub load: Option<String>,

    /// Which figure
    #[arg(long, value_name = "FIGURE", default_value = "iops")]
    pub figure: FigureArg,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// The figures of a measurement.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FigureArg {
    /// I/Os a second
    Iops,
    /// MiB a second
    Mib,
    /// Mean latency
    Mean,
    /// Median of the latency
    P50,
    /// 95th percentile of the latency
    P95,
    /// 99th percentile of the latency
    P99,
    /// 99.9th percentile of the latency
    #[value(name = "p99.9")]
    P999,
    /// CPU time per I/O
    Cpu,
}

impl FigureArg {
    fn figure(self) -> Figure {
        match self {
            Self::Iops => Figure::Iops,
            Self::Mib => Figure::MibPerS,
            Self::Mean => Figure::MeanNs,
            Self::P50 => Figure::P50Ns,
            Self::P95 => Figure::P95Ns,
            Self::P99 => Figure::P99Ns,
            Self::P999 => Figure::P999Ns,
            Self::Cpu => Figure::CpuUsPerIo,
        }
    }
}

pub(crate) fn trend(args: &TrendArgs, history: &History) -> Result<Outcome, Failure> {
    let wanted = TrendQuery {
        target: args.target.as_deref(),
        host: args.host.as_deref(),
        load: args.load.as_deref(),
    };
    let figure = args.figure.figure();
    let trend = kept_trend(history, wanted, figure, env!("CARGO_PKG_VERSION")).map_err(failure)?;
    print(&if args.json { json(&trend)? } else { report::text::trend(&trend) })?;
    Ok(Outcome::Done)
}
