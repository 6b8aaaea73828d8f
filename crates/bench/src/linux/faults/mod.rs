//! What a device does wrong, and what iosonde and fio find of it: the same faults, in the same
//! scenarios.
//!
//! The device is a file system that knows which bytes it stored or handed out wrongly, and which of
//! them a reader was given. That is what a checker is held against: what nobody read, nobody can
//! find.

mod fio;
mod ours;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::Path;

use ::integrity::PageDamage;
use truth::{Fault, Injected, Torn};
use workload::{Nanoseconds, SimDevice};

use super::{Error, machine, tools};

const PAGE: &str = include_str!("integrity.md");

/// What goes wrong, and its words.
const FAULTS: [(&str, Fault); 11] = [
    ("bit flipped in a read", Fault::BitFlipRead),
    ("bit flipped in a write", Fault::BitFlipWrite),
    ("lost write", Fault::LostWrite),
    ("torn write, first sector stored", Fault::TornWrite(Torn::Prefix(1))),
    ("torn write, last sector stored", Fault::TornWrite(Torn::Suffix(1))),
    ("torn write, random sectors stored", Fault::TornWrite(Torn::Random)),
    ("misdirected write", Fault::MisdirectedWrite),
    ("misdirected read", Fault::MisdirectedRead),
    ("stale read", Fault::StaleRead),
    ("zeroed read", Fault::ZeroRead),
    ("zeroed write", Fault::ZeroWrite),
];

/// What had happened before a fault, and what happens after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scenario {
    /// Everything is written once, and read.
    Fresh,
    /// Everything was written before; then the same is done again with the same seed.
    Same,
    /// Everything was written before with another seed.
    Seed,
    /// Writes hit the latest blocks, again and again.
    Overlap,
    /// Everything is written once, and read by another process later.
    Later,
}

impl Scenario {
    const ALL: [Self; 5] = [Self::Fresh, Self::Same, Self::Seed, Self::Overlap, Self::Later];

    fn words(self) -> &'static str {
        match self {
            Self::Fresh => "written once",
            Self::Same => "again, same seed",
            Self::Seed => "again, other seed",
            Self::Overlap => "overlapping",
            Self::Later => "verified later",
        }
    }
}

/// What a checker was given and what it said, in blocks of its own.
#[derive(Debug, Default)]
struct Score {
    /// Blocks of which it was handed wrong bytes.
    visible: BTreeSet<u64>,
    /// Blocks that the tool called wrong.
    found: BTreeSet<u64>,
    /// How often each damage was named.
    names: HashMap<PageDamage, u64>,
    /// Names that do not fit the fault.
    misnamed: u64,
}

impl Score {
    fn new(injected: &[Injected], block_bytes: u64) -> Self {
        let spans = injected.iter().flat_map(|i| &i.visible);
        let blocks =
            |s: &truth::Span| s.offset / block_bytes..(s.offset + s.bytes).div_ceil(block_bytes);
        Self { visible: spans.flat_map(blocks).collect(), ..Self::default() }
    }

    fn detected(&self) -> usize {
        self.visible.intersection(&self.found).count()
    }

    fn alarms(&self) -> usize {
        self.found.difference(&self.visible).count()
    }

    fn is_perfect(&self) -> bool {
        self.visible == self.found && self.misnamed == 0
    }

    /// Found of visible, and false alarms.
    fn cell(&self) -> String {
        let alarms = match self.alarms() {
            0 => String::new(),
            alarms => format!(" (+{alarms})"),
        };
        let missed = self.detected() < self.visible.len();
        let emphasis = if missed { "**" } else { "" };
        format!("{emphasis}{}/{}{emphasis}{alarms}", self.detected(), self.visible.len())
    }
}

/// A device that is as fast as the way to it.
fn model() -> SimDevice {
    let time = Nanoseconds(1000);
    SimDevice { servers: 64, read_ns: time, write_ns: time, ..SimDevice::default() }
}

/// Faults that are reported or harmless, by their names.
const TOLD: [(&str, Fault); 7] = [
    ("read fails (EIO)", Fault::ReadError(5)),
    ("write fails (EIO)", Fault::WriteError(5)),
    ("no space (ENOSPC)", Fault::WriteError(28)),
    ("short read", Fault::ShortRead),
    ("short write", Fault::ShortWrite),
    ("write made twice", Fault::DuplicatedWrite),
    ("stall of 20 s", Fault::Stall(Nanoseconds(20_000_000_000))),
];
/// Edges between the sectors of an 8 KiB page.
const EDGES: u64 = 15;

/// Does everything and writes the page; gives whether iosonde found and named everything. What else
/// is on the page stays.
pub(super) fn run(output: Option<&Path>) -> Result<bool, Error> {
    let fio = tools::version(OsStr::new("fio"));
    let (mut beside, mut confusions, mut holds) = (Vec::new(), Vec::new(), true);
    for (words, fault) in FAULTS {
        let mut cells = vec![words.to_owned()];
        for scenario in Scenario::ALL {
            eprintln!("{words}, {}", scenario.words());
            let score = ours::score(fault, scenario)?;
            holds &= score.is_perfect();
            cells.push(score.cell());
            cells.push(match &fio {
                Some(_) => fio::score(fault, scenario)?.cell(),
                None => "not installed".to_owned(),
            });
            if scenario == Scenario::Overlap {
                confusions.push(confusion(words, &score));
            }
        }
        beside.push(cells);
    }
    let (torn, all_torn) = torn_edges(fio.is_some())?;
    let (told, all_told) = told()?;
    let mut head = vec!["fault".to_owned()];
    for scenario in Scenario::ALL {
        head.extend(["iosonde", "fio"].map(|who| format!("{who}, {}", scenario.words())));
    }
    let mut names = vec!["fault".to_owned()];
    names.extend(PageDamage::ALL.map(|damage| damage.words().to_owned()));
    names.push("misnamed".to_owned());
    let page = machine::here(PAGE)
        .replace("{VERSION}", env!("CARGO_PKG_VERSION"))
        .replace("{FIO}", fio.as_deref().unwrap_or("fio is not installed"))
        .replace("{TORN}", torn.trim_end())
        .replace("{TOLD}", told.trim_end())
        .replace("{BESIDE}", table(&head, &beside).trim_end())
        .replace("{NAMES}", table(&names, &confusions).trim_end());
    let output = output.unwrap_or(Path::new("docs/integrity.md"));
    machine::write(&with_the_rest(&page, output), output)?;
    Ok(holds && all_torn && all_told)
}

/// What other parts have written to the page.
fn with_the_rest(page: &str, output: &Path) -> String {
    let before = std::fs::read_to_string(output).unwrap_or_default();
    let mut page = page.to_owned();
    for heading in [super::clean::HEADING, super::checking::HEADING] {
        let part = |page: &str| {
            let from = page.find(&format!("\n{heading}\n"))?;
            let length = page[from + 1..].find("\n## ").map_or(page.len() - from, |at| at + 1);
            Some(from..from + length)
        };
        if let (Some(old), Some(new)) = (part(&before), part(&page)) {
            page.replace_range(new, before[old].trim_end_matches('\n'));
            page.push('\n');
        }
    }
    page.trim_end().to_owned() + "\n"
}

/// Writes that are torn after each sector of a page.
fn torn_edges(with_fio: bool) -> Result<(String, bool), Error> {
    let (mut rows, mut holds) = (Vec::new(), true);
    for sectors in 1..=EDGES {
        eprintln!("torn behind {sectors} sectors");
        let score = ours::score_torn(sectors)?;
        holds &= score.is_perfect();
        let count = |damage| score.names.get(&damage).copied().unwrap_or(0);
        let others = score.names.values().sum::<u64>() - count(PageDamage::TornPage);
        let fio =
            if with_fio { fio::score_torn(sectors)?.cell() } else { "not installed".to_owned() };
        rows.push(vec![
            sectors.to_string(),
            score.cell(),
            count(PageDamage::TornPage).to_string(),
            others.to_string(),
            fio,
        ]);
    }
    let head = ["sectors stored", "iosonde", "called torn", "called else", "fio, same seed, 8 KiB"];
    Ok((table(&head.map(str::to_owned), &rows), holds))
}

/// Faults that do not cause wrong data.
fn told() -> Result<(String, bool), Error> {
    let (mut rows, mut holds) = (Vec::new(), true);
    for (words, fault) in TOLD {
        eprintln!("{words}");
        let (injected, failed, alarms) = ours::told(fault)?;
        holds &= injected > 0 && alarms == 0;
        let cells =
            [words.to_owned(), injected.to_string(), failed.to_string(), alarms.to_string()];
        rows.push(cells.to_vec());
    }
    let head = ["what happened", "times", "I/Os counted as failed", "called wrong data"];
    Ok((table(&head.map(str::to_owned), &rows), holds))
}

fn confusion(words: &str, score: &Score) -> Vec<String> {
    let mut cells = vec![words.to_owned()];
    let count = |damage| score.names.get(&damage).map_or(String::new(), u64::to_string);
    cells.extend(PageDamage::ALL.map(count));
    cells.push(score.misnamed.to_string());
    cells
}

pub(super) fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let lines = rows.iter().map(|cells| format!("| {} |\n", cells.join(" | ")));
    format!("| {} |\n{rule}{}", head.join(" | "), lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_and_what_is_a_false_alarm_is_told() {
        let score = |visible: &[u64], found: &[u64]| Score {
            visible: visible.iter().copied().collect(),
            found: found.iter().copied().collect(),
            ..Score::default()
        };
        assert_eq!(score(&[1, 2], &[1, 2]).cell(), "2/2");
        assert!(score(&[1, 2], &[1, 2]).is_perfect() && !score(&[], &[1]).is_perfect());
        assert_eq!(score(&[1, 2], &[2, 3, 4]).cell(), "**1/2** (+2)");
        let misnamed = Score { misnamed: 1, ..Score::default() };
        assert!(!misnamed.is_perfect());
    }
}
