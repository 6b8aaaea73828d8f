//! Every kind of damage is made, and recognised.

use proptest::prelude::*;

use super::*;

const PAGE: usize = 8192;
const ID: PageId = PageId { file: 3, page: 4711 };

fn format() -> PageFormat {
    PageFormat::new(PAGE, 42).unwrap()
}

fn claim(version: u32, unsure: bool) -> Claim {
    Claim { page: ID.page, version, unsure, bad: false, zero: false, written_after: None }
}

/// What `bytes` are called where version 9 should be.
fn named(bytes: impl AsRef<[u8]>, kept: Persistence) -> Option<Fault> {
    let examined = examine(&format(), ID.file, &claim(9, false), bytes.as_ref())?;
    Some(classify(ID.file, &claim(9, false), examined, kept))
}

fn damage(bytes: impl AsRef<[u8]>, kept: Persistence) -> PageDamage {
    named(bytes, kept).unwrap().damage
}

#[test]
fn a_page_that_is_right_has_no_fault() {
    assert_eq!(named(format().page(ID, 9), Persistence::Persistent), None);
}

#[test]
fn a_whole_older_page_is_a_lost_write_or_a_stale_read() {
    let fault = named(format().page(ID, 8), Persistence::Persistent).unwrap();
    assert_eq!((fault.damage, fault.found_version), (PageDamage::LostWrite, Some(8)));
    assert_eq!(damage(format().page(ID, 3), Persistence::Transient), PageDamage::StaleRead);
}

/// A version that nobody here has written yet was called a lost write: the ledger was older than
/// the data, or another program wrote.
#[test]
fn a_whole_newer_page_is_newer_than_known() {
    let format = format();
    let named = |found: u32, expected: Claim| {
        let examined = examine(&format, ID.file, &expected, &format.page(ID, found)).unwrap();
        let fault = classify(ID.file, &expected, examined, Persistence::Persistent);
        assert_eq!(fault.found_version, Some(found));
        fault.damage
    };
    for (found, expected, damage) in [
        (10, 9, PageDamage::NewerThanKnown),
        (4000, 9, PageDamage::NewerThanKnown),
        (8, 9, PageDamage::LostWrite),
        // After the last version comes the first.
        (1, u32::MAX, PageDamage::NewerThanKnown),
        (u32::MAX, 1, PageDamage::LostWrite),
        (u32::MAX - 5, 7, PageDamage::LostWrite),
    ] {
        assert_eq!(named(found, claim(expected, false)), damage, "{found} for {expected}");
    }
    // Of a write that failed, the version after it is newer than both that may be there.
    assert_eq!(named(11, claim(9, true)), PageDamage::NewerThanKnown);
    // A cut write leaves the earlier content, or something unknown.
    let cut = |version| Claim { zero: true, ..claim(version, false) };
    assert_eq!(named(9, cut(9)), PageDamage::LostWrite);
    assert_eq!(
        (named(10, cut(9)), named(1, cut(0))),
        (PageDamage::NewerThanKnown, PageDamage::NewerThanKnown)
    );
}

#[test]
fn what_belongs_elsewhere_says_where() {
    let other = PageId { file: 1, page: 5 };
    let fault = named(format().page(other, 2), Persistence::Persistent).unwrap();
    assert_eq!(fault.damage, PageDamage::MisdirectedWrite);
    assert_eq!((fault.belongs_to, fault.found_version), (Some(other), Some(2)));
    assert_eq!(
        damage(format().page(other, 2), Persistence::Transient),
        PageDamage::MisdirectedRead
    );
    // Half a page too far: its own sectors, in the wrong place.
    let mut shifted = format().page(ID, 9);
    shifted.rotate_left(PAGE / 2);
    assert_eq!(damage(shifted, Persistence::Persistent), PageDamage::MisdirectedWrite);
}

#[test]
fn zeros_and_foreign_data_are_told_apart() {
    assert_eq!(damage(vec![0; PAGE], Persistence::Persistent), PageDamage::Zeroed);
    let mut half = format().page(ID, 9);
    half[4096..].fill(0);
    assert_eq!(damage(half, Persistence::Transient), PageDamage::Zeroed);
    let others = PageFormat::new(PAGE, 43).unwrap().page(ID, 9);
    assert_eq!(damage(others, Persistence::Persistent), PageDamage::ForeignData);
    assert_eq!(
        damage(b"PostgreSQL".repeat(PAGE).split_at(PAGE).0, Persistence::Persistent),
        PageDamage::ForeignData
    );
    // Shorter than a page: nothing was there.
    assert_eq!(
        damage(&format().page(ID, 9)[..4096], Persistence::Persistent),
        PageDamage::ForeignData
    );
}

#[test]
fn a_wrong_checksum_alone_is_told_apart() {
    let mut bytes = format().page(ID, 9);
    bytes[20] ^= 0xFF;
    let fault = named(bytes, Persistence::Persistent).unwrap();
    assert_eq!((fault.damage, fault.examined.first_byte), (PageDamage::ChecksumOnly, 20));
}

/// A write that the system has failed may have changed all of the page, none, or some of its
/// sectors; nothing else.
#[test]
fn after_a_failed_write_either_version_is_right() {
    let format = format();
    let (old, new) = (format.page(ID, 9), format.page(ID, 10));
    let mut torn = new.clone();
    torn[1024..].copy_from_slice(&old[1024..]);
    for bytes in [old.clone(), new, torn.clone()] {
        assert_eq!(examine(&format, ID.file, &claim(9, true), &bytes), None);
    }
    let older = format.page(ID, 8);
    torn[2048..2560].copy_from_slice(&older[2048..2560]);
    let found = examine(&format, ID.file, &claim(9, true), &torn).unwrap();
    let wrong = found.sectors.iter().filter(|s| **s != SectorState::Right);
    assert_eq!(wrong.copied().collect::<Vec<_>>(), [SectorState::Version(8)]);
    let found = examine(&format, ID.file, &claim(9, false), &old);
    assert_eq!(found, None);
}

proptest! {
    #[test]
    fn flipped_bits_are_bit_errors(flips in prop::collection::hash_set((32usize..PAGE, 0u8..8),
        1..10)) {
        let mut bytes = format().page(ID, 9);
        for (byte, bit) in &flips {
            bytes[*byte] ^= 1 << bit;
        }
        let fault = named(bytes, Persistence::Persistent).unwrap();
        prop_assert_eq!(fault.damage, PageDamage::BitError);
        let bits: u32 = fault.examined.sectors.iter().map(|s| match s {
            SectorState::Damaged { bits } => *bits,
            _ => 0,
        }).sum();
        prop_assert_eq!(bits as usize, flips.len());
        prop_assert_eq!(fault.examined.first_byte, flips.iter().map(|(byte, _)| *byte).min()
            .unwrap());
    }

    #[test]
    fn sectors_of_two_versions_are_a_torn_page(new in prop::collection::vec(any::<bool>(),
        PAGE / 512), before in 1u32..9) {
        prop_assume!(new.iter().any(|n| *n) && !new.iter().all(|n| *n));
        let (old, mut bytes) = (format().page(ID, before), format().page(ID, 9));
        for (sector, new) in new.iter().enumerate() {
            if !new {
                let part = sector * 512..(sector + 1) * 512;
                bytes[part.clone()].copy_from_slice(&old[part]);
            }
        }
        let fault = named(bytes, Persistence::Persistent).unwrap();
        prop_assert_eq!(fault.damage, PageDamage::TornPage);
        let states = new.iter()
            .map(|n| if *n { SectorState::Right } else { SectorState::Version(before) });
        prop_assert_eq!(fault.examined.sectors, states.collect::<Vec<_>>());
    }

    #[test]
    fn hostile_pages_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2 * PAGE),
        unsure: bool) {
        let _ = examine(&format(), ID.file, &claim(9, unsure), &bytes);
    }
}
