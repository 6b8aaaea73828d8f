//! What one page, or one record of the log, holds after a crash, and whether that breaks a promise.

use crate::{PageFormat, PageId, SECTOR_BYTES};
use results::Loss;

/// What one sector holds, compared with the promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectorFound {
    /// What the same sector has in this version of its page.
    Version(u32),
    /// What belongs into another page, or into another place of this one.
    Elsewhere(PageId),
    /// Zeros only, as where nothing was written.
    Zero,
    /// Bytes that are not recognised as written by this run.
    Foreign,
}

/// What became of something that was written and not promised. Nothing of this is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It is as it was promised before.
    Old,
    /// All of it is on the storage.
    New,
    /// Parts of it are there, or it was spoiled in the middle of its writing.
    Torn,
}

/// What to say about a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Nothing was ever written to it.
    Unused,
    /// It is as it was promised.
    Right,
    /// Something else was being written to it.
    InDoubt(Doubt),
    /// A promise is broken. Has the version that was found, if that is a single older one.
    Lost(Loss, Option<u32>),
}

/// How one page or record was judged, and what the judgement is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) judgement: Judgement,
    /// Sectors that are as promised or newer, of all.
    pub(crate) right_sectors: usize,
    /// Sectors that are neither as promised nor newer are foreign: content from before the run
    /// looks like that.
    pub(crate) foreign_only: bool,
    /// Versions after the promised one that the page has sectors of.
    pub(crate) newer: Vec<u32>,
}

/// What a page should hold: the promised version, 0 if none, and the versions that may have been
/// written after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) promised: u32,
    pub(crate) window: &'a [u32],
}

impl Judged {
    fn plain(judgement: Judgement) -> Self {
        Self { judgement, right_sectors: 0, foreign_only: false, newer: Vec::new() }
    }
}

/// What every sector of a page holds.
pub(crate) fn sectors(format: &PageFormat, id: PageId, bytes: &[u8]) -> Vec<SectorFound> {
    let mut known: Option<(PageId, u32, Vec<u8>)> = None;
    let mut state = |(index, found): (usize, &[u8])| {
        if found.iter().all(|byte| *byte == 0) {
            return SectorFound::Zero;
        }
        let Some(stamp) = format.read_stamp(found) else { return SectorFound::Foreign };
        if known
            .as_ref()
            .is_none_or(|(id, version, _)| (*id, *version) != (stamp.id, stamp.version))
        {
            known = Some((stamp.id, stamp.version, format.page(stamp.id, stamp.version)));
        }
        let at = usize::from(stamp.sector) * SECTOR_BYTES;
        let page = known.as_ref().map_or(&[][..], |(.., page)| page);
        if page.get(at..at + SECTOR_BYTES) != Some(found) {
            return SectorFound::Foreign;
        }
        if stamp.id == id && usize::from(stamp.sector) == index {
            SectorFound::Version(stamp.version)
        } else {
            SectorFound::Elsewhere(stamp.id)
        }
    };
    bytes.chunks(SECTOR_BYTES).enumerate().map(&mut state).collect()
}

/// Judges the content of a page.
pub(crate) fn judge(
    format: &PageFormat,
    id: PageId,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Judged {
    let Expected { promised, window } = expected;
    if promised > 0 && format.is(id, promised, bytes) {
        return Judged::plain(if window.is_empty() {
            Judgement::Right
        } else {
            Judgement::InDoubt(Doubt::Old)
        });
    }
    let found = sectors(format, id, bytes);
    let may_be = |version: u32| (promised > 0 && version == promised) || window.contains(&version);
    let right = |sector: &SectorFound| matches!(sector, SectorFound::Version(v) if may_be(*v));
    let mut newer: Vec<u32> = found
        .iter()
        .filter_map(|s| match s {
            SectorFound::Version(v) if *v > promised && may_be(*v) => Some(*v),
            _ => None,
        })
        .collect();
    newer.dedup();
    let whole = newer.len() == 1 && found.iter().all(|s| *s == SectorFound::Version(newer[0]));
    let wrong: Vec<SectorFound> = found.iter().filter(|s| !right(s)).copied().collect();
    let judgement = if wrong.is_empty() {
        Judgement::InDoubt(if whole { Doubt::New } else { Doubt::Torn })
    } else {
        judge_wrong(&wrong, found.len(), expected, !newer.is_empty())
    };
    Judged {
        judgement,
        right_sectors: found.len() - wrong.len(),
        foreign_only: wrong.iter().all(|s| *s == SectorFound::Foreign),
        newer,
    }
}

/// Judges a page some sectors of which are neither as promised nor of a version that was being
/// written.
fn judge_wrong(
    wrong: &[SectorFound],
    sectors: usize,
    expected: Expected<'_>,
    begun: bool,
) -> Judgement {
    let Expected { promised, window } = expected;
    let version = |s: &SectorFound| match s {
        SectorFound::Version(v) => Some(*v),
        _ => None,
    };
    let has = |what: fn(&SectorFound) -> bool| wrong.iter().any(what);
    if wrong.iter().filter_map(version).any(|v| v > promised) {
        return Judgement::Lost(Loss::Unknown, None);
    }
    match (promised, window) {
        (0, []) => return Judgement::Unused,
        (0, _) => return Judgement::InDoubt(if begun { Doubt::Torn } else { Doubt::Old }),
        _ => {}
    }
    if let Some(older) = wrong.iter().filter_map(version).max() {
        let all = wrong.len() == sectors && wrong.iter().all(|s| version(s).is_some());
        let one = all && wrong.iter().all(|s| version(s) == Some(older));
        let loss = if all { Loss::Older } else { Loss::Torn };
        return Judgement::Lost(loss, one.then_some(older));
    }
    if !window.is_empty() {
        // A write that is cut off in the middle may leave anything, and nobody promised otherwise.
        return Judgement::InDoubt(Doubt::Torn);
    }
    let loss = if has(|s| matches!(s, SectorFound::Elsewhere(_))) {
        Loss::Misplaced
    } else if has(|s| *s == SectorFound::Foreign) {
        Loss::Foreign
    } else {
        Loss::Zeroed
    };
    Judgement::Lost(loss, None)
}

/// Judges a page of which nothing could be read.
pub(crate) fn judge_unread(loss: Loss, expected: Expected<'_>) -> Judged {
    Judged::plain(match (expected.promised, expected.window) {
        (0, []) => Judgement::Unused,
        (0, _) => Judgement::InDoubt(Doubt::Old),
        // A file that became shorter did not become so by a write that was cut off.
        (_, window) if window.is_empty() || loss == Loss::Missing => Judgement::Lost(loss, None),
        _ => Judgement::InDoubt(Doubt::Torn),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: PageId = PageId { file: 0, page: 9 };

    fn format() -> PageFormat {
        PageFormat::new(4096, 7).unwrap()
    }

    /// A page whose sectors are of these versions: 0 is zeros, and 999 nothing known.
    fn page(versions: [u32; 8]) -> Vec<u8> {
        let sector = |(index, version): (usize, u32)| match version {
            0 => vec![0; 512],
            999 => vec![0xA5; 512],
            version => format().page(ID, version)[index * 512..(index + 1) * 512].to_vec(),
        };
        versions.into_iter().enumerate().flat_map(sector).collect()
    }

    fn said(versions: [u32; 8], promised: u32, window: &[u32]) -> Judgement {
        judge(&format(), ID, &page(versions), Expected { promised, window }).judgement
    }

    #[test]
    fn each_outcome_has_its_name() {
        use Judgement::{InDoubt, Lost, Right, Unused};
        assert_eq!(said([5; 8], 5, &[]), Right);
        assert_eq!(said([5; 8], 5, &[8]), InDoubt(Doubt::Old));
        assert_eq!(said([8; 8], 5, &[8]), InDoubt(Doubt::New));
        assert_eq!(said([8, 5, 5, 5, 5, 5, 5, 8], 5, &[8]), InDoubt(Doubt::Torn));
        assert_eq!(said([8, 9, 5, 5, 5, 5, 5, 8], 5, &[8, 9]), InDoubt(Doubt::Torn));
        assert_eq!(said([999; 8], 5, &[8]), InDoubt(Doubt::Torn));
        assert_eq!(said([999; 8], 0, &[8]), InDoubt(Doubt::Old));
        assert_eq!(said([8, 8, 8, 8, 999, 999, 999, 999], 0, &[8]), InDoubt(Doubt::Torn));
        assert_eq!(said([999; 8], 0, &[]), Unused);
        assert_eq!(said([3; 8], 5, &[]), Lost(Loss::Older, Some(3)));
        assert_eq!(said([3; 8], 5, &[8]), Lost(Loss::Older, Some(3)));
        assert_eq!(said([3, 3, 3, 3, 3, 3, 3, 2], 5, &[8]), Lost(Loss::Older, None));
        assert_eq!(said([5, 5, 5, 5, 5, 5, 5, 3], 5, &[]), Lost(Loss::Torn, None));
        assert_eq!(said([8, 8, 8, 8, 8, 8, 8, 3], 5, &[8]), Lost(Loss::Torn, None));
        assert_eq!(said([0; 8], 5, &[]), Lost(Loss::Zeroed, None));
        assert_eq!(said([5, 5, 5, 5, 5, 5, 5, 0], 5, &[]), Lost(Loss::Zeroed, None));
        assert_eq!(said([999; 8], 5, &[]), Lost(Loss::Foreign, None));
        assert_eq!(said([6; 8], 5, &[]), Lost(Loss::Unknown, None));
        assert_eq!(said([6; 8], 0, &[]), Lost(Loss::Unknown, None));
        let other = format().page(PageId { file: 0, page: 8 }, 5);
        let judged = judge(&format(), ID, &other, Expected { promised: 5, window: &[] });
        assert_eq!(judged.judgement, Lost(Loss::Misplaced, None));
        let unread = |loss, promised, window: &[u32]| {
            judge_unread(loss, Expected { promised, window }).judgement
        };
        assert_eq!(unread(Loss::Unreadable, 5, &[]), Lost(Loss::Unreadable, None));
        assert_eq!(unread(Loss::Unreadable, 5, &[8]), InDoubt(Doubt::Torn));
        assert_eq!(unread(Loss::Missing, 5, &[8]), Lost(Loss::Missing, None));
        assert_eq!(unread(Loss::Missing, 0, &[]), Unused);
    }

    proptest! {
        /// Whatever of the writes in flight has arrived, sector by sector: no alarm. One sector of
        /// an older version: always one.
        #[test]
        fn only_older_sectors_are_an_alarm(
            choice in prop::array::uniform8(0usize..4),
                window in prop::collection::vec(11u32..20, 0..3),
                older in prop::option::of((0usize..8, 1u32..10))
        ) {
            let promised = 10;
            let mut versions = choice.map(|c| window.get(c).copied().unwrap_or(promised));
            let fine = said(versions, promised, &window);
            prop_assert!(!matches!(fine, Judgement::Lost(..) | Judgement::Unused), "{:?}", fine);
            if let Some((at, version)) = older {
                versions[at] = version;
                let alarm = said(versions, promised, &window);
                prop_assert!(matches!(alarm, Judgement::Lost(Loss::Older | Loss::Torn, _)), "{:?}",
                    alarm);
            }
        }
    }
}
