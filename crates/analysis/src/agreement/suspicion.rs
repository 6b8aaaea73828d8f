//! What a difference between the tool and the kernel looks like.

use serde::{Deserialize, Serialize};

use super::{AgreementRow, Figure, Flow, NOTHING, Observed, Window, is_within, known};
use crate::words::number;

/// Ten times as much is so many percent more.
const TEN_TIMES_PERCENT: f64 = 900.0;

/// The likely cause of a difference, from its direction in I/Os and in bytes. A likelihood, not a
/// proof: the counters of a device do not say who used it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Suspicion {
    /// The kernel counted more I/Os and more bytes: another program uses the device, or the file
    /// system adds I/O (journal, metadata, copy-on-write). The counters cannot distinguish these.
    OtherLoad,
    /// More I/Os, the same bytes: each I/O is cut in pieces on its way.
    Splitting,
    /// Fewer I/Os, the same bytes: neighbouring I/Os are joined on their way.
    Merging,
    /// Fewer bytes: a cache above the device answered, or the counters are those of another device.
    Caching,
    /// More bytes than the additional I/Os could carry, so another load does not explain it. Each
    /// I/O moves more than was asked for (read-ahead, or whole blocks or records for a part of
    /// one).
    Amplification,
    /// None of these: I/Os and bytes contradict each other, so one of the two instruments is wrong.
    Disagreement,
}

impl Suspicion {
    /// Whether it casts doubt on the figures. The others have a known way to come about, and cost
    /// no more than a sentence.
    #[must_use]
    pub fn is_doubt(self) -> bool {
        matches!(self, Self::Amplification | Self::Disagreement)
    }
}

/// Names and rows of one direction.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub(super) figures: [Figure; 4],
    noun: &'static str,
}

pub(super) const READ: Side = Side {
    figures: [
        Figure::ReadIops,
        Figure::ReadBytesPerS,
        Figure::ReadBytesPerIo,
        Figure::ReadLatencyNs,
    ],
    noun: "reads",
};

pub(super) const WRITE: Side = Side {
    figures: [
        Figure::WriteIops,
        Figure::WriteBytesPerS,
        Figure::WriteBytesPerIo,
        Figure::WriteLatencyNs,
    ],
    noun: "writes",
};

impl Side {
    pub(super) fn of(self, observed: &Observed) -> &Flow {
        match self.figures[0] {
            Figure::ReadIops => &observed.read,
            _ => &observed.write,
        }
    }
}

/// Less, the same or more than the row is allowed to differ.
#[derive(Clone, Copy, PartialEq)]
enum Leaning {
    Fewer,
    Same,
    More,
}

fn leaning(row: &AgreementRow) -> Leaning {
    if is_within(row) {
        Leaning::Same
    } else if row.difference_percent > 0.0 {
        Leaning::More
    } else {
        Leaning::Fewer
    }
}

/// The suspicion on the direction that differs most, and a sentence that holds in any case.
pub(super) fn explain(
    window: &Window,
    rows: &[AgreementRow],
    worst_percent: f64,
) -> (Option<Suspicion>, String) {
    if rows.iter().all(|row| row.allowed_percent.is_none()) {
        return (None, "There was no I/O to compare.".to_owned());
    }
    let size = |row: &AgreementRow| row.difference_percent.abs();
    let outside = rows.iter().filter(|row| !is_within(row));
    let Some(worst) = outside.max_by(|left, right| size(left).total_cmp(&size(right))) else {
        let worst = number(worst_percent);
        return (
            None,
            format!("The kernel counted the same I/O as this test, to within {worst} %."),
        );
    };
    let worst_side = if READ.figures.contains(&worst.figure) { READ } else { WRITE };
    let other_side = if READ.figures.contains(&worst.figure) { WRITE } else { READ };
    // A doubt in one direction is not hidden by a larger difference that has an explanation.
    let found = [worst_side, other_side].map(|side| of_side(side, rows));
    let found = found.iter().flatten();
    match found.clone().find(|f| f.suspicion.is_doubt()).or_else(|| found.clone().next()) {
        Some(found) => (Some(found.suspicion), found.sentence(window)),
        None => (Some(Suspicion::Disagreement), unexplained(worst_side, worst)),
    }
}

/// What a direction looks like whose figures differ.
struct Found<'a> {
    suspicion: Suspicion,
    side: Side,
    ios: &'a AgreementRow,
    bytes: &'a AgreementRow,
}

/// `None` if the direction agrees, and where a figure is not known.
fn of_side(side: Side, rows: &[AgreementRow]) -> Option<Found<'_>> {
    let find = |figure: Figure| rows.iter().find(|row| row.figure == figure);
    let (ios, bytes) = (find(side.figures[0])?, find(side.figures[1])?);
    let suspicion = match (leaning(ios), leaning(bytes)) {
        (Leaning::Same, Leaning::Same) => return None,
        (Leaning::More, Leaning::More) => Suspicion::OtherLoad,
        (Leaning::More, Leaning::Same) if have_bytes_of_their_own(ios, bytes) => {
            Suspicion::OtherLoad
        }
        (Leaning::More, Leaning::Same) => Suspicion::Splitting,
        (Leaning::Fewer, Leaning::Same) => Suspicion::Merging,
        (Leaning::Fewer, Leaning::Fewer) => Suspicion::Caching,
        (Leaning::Same, Leaning::Fewer) if ios.difference_percent < 0.0 => Suspicion::Caching,
        (Leaning::Same | Leaning::More, Leaning::Fewer) => Suspicion::Disagreement,
        (_, Leaning::More) if few_large_ones_would_do(ios, bytes) => Suspicion::OtherLoad,
        (_, Leaning::More) => Suspicion::Amplification,
    };
    Some(Found { suspicion, side, ios, bytes })
}

/// Whether few additional I/Os are next to those of the test, not pieces of them: pieces bring no
/// bytes, while a sector or more for each of a few small ones is lost in the tolerance of large
/// I/O.
fn have_bytes_of_their_own(ios: &AgreementRow, bytes: &AgreementRow) -> bool {
    const FEW_PERCENT: f64 = 10.0;
    const SECTOR_BYTES: f64 = 512.0;
    let additional = ios.kernel - ios.tool;
    ios.difference_percent < FEW_PERCENT && bytes.kernel - bytes.tool >= additional * SECTOR_BYTES
}

/// Whether the additional bytes fit in the few additional I/Os, at sizes that a kernel sends:
/// write-back of another program is a handful of large requests next to thousands of small ones.
fn few_large_ones_would_do(ios: &AgreementRow, bytes: &AgreementRow) -> bool {
    const LARGEST_REQUEST_BYTES: f64 = 2_097_152.0;
    bytes.kernel - bytes.tool <= (ios.kernel - ios.tool) * LARGEST_REQUEST_BYTES
}

fn unexplained(side: Side, worst: &AgreementRow) -> String {
    let difference = more(worst.difference_percent, side.noun);
    format!("The kernel counted {difference}, and its other figures are not known.")
}

/// How much more or less, in words; beyond ten times as much the figure has no more meaning.
fn more(percent: f64, what: &str) -> String {
    if percent > TEN_TIMES_PERCENT {
        return format!("more than 10 times the {what}");
    }
    let word = if percent < 0.0 { "fewer" } else { "more" };
    format!("{} % {word} {what}", number(percent.abs()))
}

impl Found<'_> {
    fn sentence(&self, window: &Window) -> String {
        let Self { suspicion, side, ios, bytes } = *self;
        let noun = side.noun;
        let (ios_apart, bytes_apart) =
            (more(ios.difference_percent, noun), more(bytes.difference_percent, "bytes"));
        match suspicion {
            Suspicion::OtherLoad if ios.tool <= NOTHING => format!(
                "The kernel counted {} {noun} a second though this test does none: other programs \
                 use the device, or the file system itself adds {noun}.",
                number(ios.kernel)
            ),
            Suspicion::OtherLoad => format!(
                "The kernel counted {ios_apart} and {bytes_apart}: other programs use the device, \
                 or the file system itself adds {noun} (journal, copy-on-write)."
            ),
            Suspicion::Splitting => format!(
                "The kernel counted {ios_apart} for the same bytes: they are cut in smaller pieces \
                 before they reach the device (largest request size, stripes, alignment)."
            ),
            Suspicion::Merging => merging(side, ios, &ios_apart, window),
            Suspicion::Caching => format!(
                "The kernel counted {bytes_apart} than this test moved by {noun}: a cache above \
                 the device answered the rest, or these are the counters of another device."
            ),
            Suspicion::Amplification => format!(
                "The kernel counted {bytes_apart} but no more {noun}: each moves more than was \
                 asked for (read-ahead, or whole blocks or records instead of parts)."
            ),
            Suspicion::Disagreement => format!(
                "The kernel counted {ios_apart} but {bytes_apart} than this test: no merging, \
                 splitting, cache or other program explains that, so do not trust these figures."
            ),
        }
    }
}

/// The kernel's merge counter either accounts for the missing I/Os or says that they were joined
/// above it.
fn merging(side: Side, ios: &AgreementRow, ios_apart: &str, window: &Window) -> String {
    let merges = known(side.of(&window.kernel).merges_per_s);
    let place = if merges >= (ios.tool - ios.kernel) / 2.0 {
        format!("its queue joined {} a second with their neighbours", number(merges))
    } else {
        "its queue counted too few merges to explain it, so a layer above joined them (file \
         system, page cache, volume manager)"
            .to_owned()
    };
    format!("The kernel counted {ios_apart} for the same bytes: {place}.")
}
