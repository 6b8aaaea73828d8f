//! A page in doubt, on storage that loses nothing and on storage that does.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::classify::{examine, whole_version};
use crate::page::{PageFormat, PageId, SECTOR_BYTES};

const SECTORS: usize = 4;
const WRITTEN: Duration = Duration::from_millis(1600);
const ID: PageId = PageId { file: 0, page: 0 };

/// An I/O on a page, and which sectors of it arrive.
#[derive(Debug, Clone, Copy)]
enum Step {
    Write,
    Fail([bool; SECTORS]),
    Kill([bool; SECTORS]),
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    let arrived =
        prop_oneof![Just([false; SECTORS]), Just([true; SECTORS]), any::<[bool; SECTORS]>()];
    prop_oneof![
        Just(Step::Write),
        arrived.clone().prop_map(Step::Fail),
        arrived.prop_map(Step::Kill),
        Just(Step::Read),
        Just(Step::Read),
    ]
}

/// One page: what the ledger knows, and the version of each of its sectors.
struct Page {
    format: PageFormat,
    file: DataFile,
    stored: [u32; SECTORS],
}

impl Page {
    /// A page that was written once.
    fn new(settles: bool, version: u32) -> Self {
        let bytes = SECTORS * SECTOR_BYTES;
        let ledger = Ledger::new(1).unwrap();
        let (path, shape) = (PathBuf::new(), Shape::default());
        let mut file = DataFile::new(0, path, bytes as u64, ledger, shape, false);
        file.settles = settles;
        let claim = file.claim(0).unwrap();
        file.ledger.written(&claim, version, WRITTEN);
        let format = PageFormat::new(bytes, 7).unwrap();
        Self { format, file, stored: [version; SECTORS] }
    }

    fn bytes(&self, versions: [u32; SECTORS]) -> Vec<u8> {
        let sector = |(index, version): (usize, u32)| {
            self.format.page(ID, version)[index * SECTOR_BYTES..][..SECTOR_BYTES].to_vec()
        };
        versions.into_iter().enumerate().flat_map(sector).collect()
    }

    /// Whether a read of the page is called wrong.
    fn is_wrong(&self, versions: [u32; SECTORS]) -> bool {
        let claim = self.file.claim(0).unwrap();
        let bytes = self.bytes(versions);
        let whole = whole_version(&self.format, 0, &claim, &bytes, &[]);
        let wrong = examine(&self.format, 0, &claim, &bytes).is_some();
        assert!(whole.is_none() || !wrong, "both say the same");
        match whole {
            Some(version) => _ = self.file.read(&claim, version),
            None => self.file.ledger.release(&claim),
        }
        wrong
    }

    fn arrive(&mut self, version: u32, arrived: [bool; SECTORS]) {
        for (sector, arrived) in self.stored.iter_mut().zip(arrived) {
            *sector = if arrived { version } else { *sector };
        }
    }

    fn make(&mut self, step: Step) {
        if matches!(step, Step::Read) {
            assert!(!self.is_wrong(self.stored), "{:?}", self.stored);
            return;
        }
        let claim = self.file.claim(0).unwrap();
        let version = claim.next_version();
        self.file.ledger.writing(&claim);
        match step {
            Step::Fail(arrived) => {
                self.arrive(version, arrived);
                self.file.ledger.failed(&claim);
            }
            Step::Kill(arrived) => {
                self.arrive(version, arrived);
                self.file.ledger.recover();
            }
            _ => {
                self.arrive(version, [true; SECTORS]);
                self.file.ledger.written(&claim, version, Duration::from_secs(2));
            }
        }
    }
}

proptest! {
    /// A page whose write had failed, or was in flight at a kill, could hold either version until
    /// it was written again, however often one of them was read. So the other version, and a write
    /// that was lost after the read, counted as right.
    #[test]
    fn what_was_read_of_a_page_in_doubt_must_stay(
        steps in prop::collection::vec(step(), 1..60),
            first in prop_oneof![Just(1u32), Just(u32::MAX - 3), 1u32..]
    ) {
        let mut page = Page::new(true, first);
        for step in steps {
            page.make(step);
            let [version, rest @ ..] = page.stored;
            let is_whole = rest.iter().all(|other| *other == version);
            if !(matches!(step, Step::Read) && is_whole) {
                continue;
            }
            let before = version.wrapping_sub(1);
            for other in [before, version.wrapping_add(1).max(1)] {
                prop_assert!(other == 0 || page.is_wrong([other; SECTORS]), "{} after \
                    {}", other, version);
                let mut torn = [version; SECTORS];
                torn[1] = other;
                prop_assert!(other == 0 || page.is_wrong(torn), "{} in {}", other, version);
            }
        }
    }

    /// What the cache of the operating system shows of a page whose write has failed is not what
    /// the media hold, so either may come.
    #[test]
    fn through_a_cache_a_page_in_doubt_stays_in_doubt(steps in prop::collection::vec(step(), 0..20),
        arrived: [bool; SECTORS]) {
        let mut page = Page::new(false, 9);
        for step in steps {
            page.make(step);
        }
        let old = page.file.ledger.claim(0).unwrap();
        page.file.ledger.release(&old);
        page.make(Step::Fail(arrived));
        let new = old.next_version();
        for seen in [new, old.version, new] {
            prop_assert!(!page.is_wrong([seen; SECTORS]));
        }
    }
}

#[test]
fn a_page_that_was_settled_keeps_its_time_and_loses_its_zeros_with_a_new_version() {
    let page = Page::new(true, 7);
    let claim = page.file.claim(0).unwrap();
    page.file.ledger.failed(&claim);
    assert!(!page.is_wrong([8; SECTORS]));
    let claim = page.file.claim(0).unwrap();
    assert_eq!((claim.version, claim.unsure, claim.written_after), (8, false, Some(WRITTEN)));
    for (version, zero) in [(8, true), (9, false)] {
        page.file.ledger.cut(0);
        let claim = page.file.claim(0).unwrap();
        page.file.ledger.failed(&claim);
        let claim = page.file.claim(0).unwrap();
        assert!(page.file.read(&claim, version), "it was in doubt");
        let claim = page.file.claim(0).unwrap();
        assert_eq!((claim.version, claim.unsure, claim.zero), (version, false, zero));
    }
}
