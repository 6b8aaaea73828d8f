//! Trends of the results that a history holds.

use results::{Figure, Trend};

use super::{Dated, trend};
use crate::{Filter, History, HistoryError, Order, Page};

/// Measurements that are read at a time …
const PAGE: u64 = 5_000;
/// … and in all, the newest.
const MOST: u64 = 100_000;

/// Which measurements are meant; nothing set means all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrendQuery<'a> {
    /// Only results on this target, if named.
    pub target: Option<&'a str>,
    /// Only results of this machine, if named.
    pub host: Option<&'a str>,
    /// Of this load: words of it in their order, or the id of its conditions.
    pub load: Option<&'a str>,
}

/// One figure of what a history holds, over many dates.
pub fn kept_trend(
    history: &History,
    wanted: TrendQuery<'_>,
    figure: Figure,
    tool_version: &str,
) -> Result<Trend, HistoryError> {
    let is_id = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let id = wanted.load.filter(|load| is_id(load)).map(str::to_ascii_lowercase);
    let words = wanted.load.filter(|_| id.is_none()).map(words_of).unwrap_or_default();
    let filter = Filter {
        target: wanted.target.map(str::to_owned),
        host: wanted.host.map(str::to_owned),
        conditions_id: id,
        ..Filter::default()
    };
    let (mut dated, mut offset, mut all) = (Vec::new(), 0, false);
    while !all && offset < MOST {
        let loads = history.loads(&filter, Order::NEWEST, Page { offset, limit: PAGE })?;
        all = (loads.len() as u64) < PAGE;
        let figures = loads.into_iter().filter_map(|load| Dated::of(load, figure));
        dated.extend(figures.filter(|dated| has(&dated.title, &words)));
        offset += PAGE;
    }
    let mut trend = trend(dated, figure, tool_version);
    if !all {
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
