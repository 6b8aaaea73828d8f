//! What a device does wrong, and what iosonde and fio find of it: the same faults, in the same scenarios.
//!
//! The device is a file system that knows which bytes it stored or handed out wrongly, and which of them a reader was given. That is what
//! a checker is held against: what nobody read, nobody can find.

mod fio;
mod ours;

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::Path;

use ::integrity::Damage;
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
    /// Writes hit what was just written, again and again.
    Overlap,
}

impl Scenario {
    const ALL: [Self; 3] = [Self::Fresh, Self::Same, Self::Overlap];

    fn words(self) -> &'static str {
        match self {
            Self::Fresh => "written once",
            Self::Same => "written again, same seed",
            Self::Overlap => "overlapping writes",
        }
    }
}

/// What a checker was given and what it said, in blocks of its own.
#[derive(Debug, Default)]
struct Score {
    /// Blocks of which it was handed wrong bytes.
    visible: BTreeSet<u64>,
    /// Blocks that it called wrong.
    found: BTreeSet<u64>,
    /// What it called them.
    names: HashMap<Damage, u64>,
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

/// Does everything and writes the page; gives whether iosonde found and named everything.
pub(super) fn run(output: Option<&Path>) -> Result<bool, Error> {
    let version = tools::version(OsStr::new("fio"));
    let fio = version.ok_or("fio is not installed; on Debian and Ubuntu: apt-get install fio")?;
    let (mut beside, mut confusions, mut holds) = (Vec::new(), Vec::new(), true);
    for (words, fault) in FAULTS {
        eprintln!("{words}");
        let mut cells = vec![words.to_owned()];
        for scenario in Scenario::ALL {
            let score = ours::score(fault, scenario)?;
            holds &= score.is_perfect();
            cells.push(score.cell());
            cells.push(fio::score(fault, scenario)?.cell());
            if scenario == Scenario::Overlap {
                confusions.push(confusion(words, &score));
            }
        }
        beside.push(cells);
    }
    let mut alarms = 0;
    for scenario in [Scenario::Fresh, Scenario::Overlap] {
        alarms += ours::score(Fault::DuplicatedWrite, scenario)?.found.len();
    }
    holds &= alarms == 0;
    let mut head = vec!["fault".to_owned()];
    for scenario in Scenario::ALL {
        head.extend(["iosonde", "fio"].map(|who| format!("{who}, {}", scenario.words())));
    }
    let mut names = vec!["fault".to_owned()];
    names.extend(Damage::ALL.map(|damage| damage.words().to_owned()));
    names.push("misnamed".to_owned());
    let page = machine::here(PAGE)
        .replace("{VERSION}", env!("CARGO_PKG_VERSION"))
        .replace("{FIO}", &fio)
        .replace("{ALARMS}", &alarms.to_string())
        .replace("{BESIDE}", table(&head, &beside).trim_end())
        .replace("{NAMES}", table(&names, &confusions).trim_end());
    machine::write(&page, output.unwrap_or(Path::new("docs/integrity.md")))?;
    Ok(holds)
}

fn confusion(words: &str, score: &Score) -> Vec<String> {
    let mut cells = vec![words.to_owned()];
    let count = |damage| score.names.get(&damage).map_or(String::new(), u64::to_string);
    cells.extend(Damage::ALL.map(count));
    cells.push(score.misnamed.to_string());
    cells
}

/// A table in Markdown.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
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
