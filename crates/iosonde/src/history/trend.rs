//! `iosonde history trend`: one figure over many dates.

use clap::{Args, ValueEnum};
use history::trend::{Dated, trend as draw};
use history::{Filter, History, Order, Page};
use results::{Figure, Trend};

use super::list::target_name;
use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;
use crate::run::json;

/// Measurements that are read at a time …
const PAGE: u64 = 5_000;
/// … and in all, the newest.
const MOST: u64 = 100_000;

/// `iosonde history trend`
#[derive(Debug, Args)]
pub(crate) struct TrendArgs {
    /// Only what was measured on this target: a path, or a name as the list shows it
    #[arg(value_name = "TARGET", value_parser = target_name)]
    pub target: Option<String>,

    /// Only what this machine measured
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,

    /// Only this load: words of it in their order such as `8 KiB read depth 8`, or the id of its
    /// conditions
    #[arg(long, value_name = "WORDS")]
    pub load: Option<String>,

    /// Which figure
    #[arg(long, value_name = "FIGURE", default_value = "iops")]
    pub figure: FigureArg,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
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
    /// CPU time for each I/O
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

/// Runs the command.
pub(crate) fn trend(args: &TrendArgs, history: &History) -> Result<Outcome, Failure> {
    let trend = drawn(args, history)?;
    print(&if args.json { json(&trend)? } else { report::text::trend(&trend) })?;
    Ok(Outcome::Done)
}

fn drawn(args: &TrendArgs, history: &History) -> Result<Trend, Failure> {
    let is_id = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let id = args.load.as_deref().filter(|load| is_id(load)).map(str::to_ascii_lowercase);
    let words: Vec<String> = match (&args.load, &id) {
        (Some(load), None) => words_of(load),
        _ => Vec::new(),
    };
    let filter = Filter {
        target: args.target.clone(),
        host: args.host.clone(),
        conditions_id: id,
        ..Filter::default()
    };
    let figure = args.figure.figure();
    let (mut dated, mut offset) = (Vec::new(), 0);
    let mut cut = false;
    loop {
        let page = Page { offset, limit: PAGE };
        let loads = history.loads(&filter, Order::NEWEST, page).map_err(failure)?;
        let last = (loads.len() as u64) < PAGE;
        dated.extend(
            loads
                .into_iter()
                .filter_map(|load| Dated::of(load, figure))
                .filter(|d| has(&d.title, &words)),
        );
        offset += PAGE;
        if last {
            break;
        }
        if offset >= MOST {
            cut = true;
            break;
        }
    }
    let mut trend = draw(dated, figure, env!("CARGO_PKG_VERSION"));
    if cut {
        trend.warnings.push(format!(
            "Only the newest {MOST} measurements were looked at; name a target, a host or the id \
             of conditions"
        ));
    }
    Ok(trend)
}

/// The words of a load in small letters, without commas.
fn words_of(load: &str) -> Vec<String> {
    let words = load.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether these words come in this order in the title of a load, others between them or not.
fn has(title: &str, words: &[String]) -> bool {
    let mut rest = words_of(title).into_iter();
    words.iter().all(|word| rest.any(|other| other == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_found_by_words_in_their_order() {
        let title = "8 KiB random read, 1 thread × depth 16";
        for found in ["", "8 kib", "random READ", "8 KiB read depth 16", title] {
            assert!(has(title, &words_of(found)), "{found}");
        }
        for other in ["16 KiB", "read random", "depth 1", "rand", "8 KiB depth 8"] {
            assert!(!has(title, &words_of(other)), "{other}");
        }
    }
}
