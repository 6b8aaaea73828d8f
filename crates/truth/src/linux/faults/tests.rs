//! The account of wrong sectors, compared with a plain copy of everything.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use device::Op;
use proptest::prelude::*;
use workload::Nanoseconds;

use super::*;

const SIZE: usize = 64 << 10;
const FILE: u64 = 7;

/// A file with faults, and what it should hold.
struct Both {
    faults: Faults,
    content: File,
    right: Vec<u8>,
    /// Sectors of which a reader was handed wrong bytes.
    seen: BTreeSet<usize>,
}

impl Both {
    fn new(plans: Vec<FaultPlan>) -> Self {
        let content = tempfile::tempfile().unwrap();
        let right: Vec<u8> = (0..SIZE).map(|i| u8::try_from(i % 251).unwrap()).collect();
        content.write_all_at(&right, 0).unwrap();
        let faults = Faults::default();
        faults.inject(plans);
        Self { faults, content, right, seen: BTreeSet::new() }
    }

    fn draw(&self, op: Op, offset: usize, bytes: usize) -> Option<DrawnFault> {
        let (offset, bytes) = (offset as u64, bytes as u64);
        let name = OsStr::new("file");
        self.faults
            .draw(&PendingIo { name, content: &self.content, op, offset, bytes, durable: false }, 5)
    }

    fn place(&self, offset: usize) -> Place<'_> {
        Place { content: &self.content, file: FILE, offset: offset as u64, at_ns: 9 }
    }

    fn write(&mut self, offset: usize, data: &[u8]) -> usize {
        let drawn = self.draw(Op::Write, offset, data.len());
        if drawn.as_ref().is_some_and(|d| d.errno().is_some()) {
            return 0;
        }
        let moved = self.faults.write(self.place(offset), data, drawn).unwrap();
        self.right[offset..offset + moved].copy_from_slice(&data[..moved]);
        moved
    }

    fn read(&mut self, offset: usize, bytes: usize) -> Vec<u8> {
        let drawn = self.draw(Op::Read, offset, bytes);
        if drawn.as_ref().is_some_and(|d| d.errno().is_some()) {
            return Vec::new();
        }
        let mut out = vec![0; bytes];
        let moved = self.faults.read(self.place(offset), &mut out, drawn).unwrap();
        out.truncate(moved);
        let wrong = out.iter().zip(&self.right[offset..]).enumerate().filter(|(_, (a, b))| a != b);
        self.seen.extend(wrong.map(|(index, _)| (offset + index) / 512));
        out
    }

    fn stored(&self) -> Vec<u8> {
        let mut stored = vec![0; SIZE];
        self.content.read_exact_at(&mut stored, 0).unwrap();
        stored
    }
}

fn sectors(spans: &[Span]) -> Vec<usize> {
    let of = |s: &Span| s.offset / SECTOR_BYTES..(s.offset + s.bytes).div_ceil(SECTOR_BYTES);
    spans.iter().flat_map(of).map(|sector| usize::try_from(sector).unwrap()).collect()
}

fn any_fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::BitFlipRead),
        Just(Fault::BitFlipWrite),
        Just(Fault::LostWrite),
        (1u64..17).prop_map(|n| Fault::TornWrite(Torn::Prefix(n))),
        (1u64..17).prop_map(|n| Fault::TornWrite(Torn::Suffix(n))),
        Just(Fault::TornWrite(Torn::Random)),
        Just(Fault::MisdirectedWrite),
        Just(Fault::MisdirectedRead),
        Just(Fault::StaleRead),
        Just(Fault::ZeroRead),
        Just(Fault::ZeroWrite),
        Just(Fault::ShortRead),
        Just(Fault::ShortWrite),
        Just(Fault::ReadError(5)),
        Just(Fault::WriteError(28)),
        Just(Fault::DuplicatedWrite),
        Just(Fault::Stall(Nanoseconds(1))),
    ]
}

fn any_when() -> impl Strategy<Value = When> {
    prop_oneof![
        (0.0..1.0f64).prop_map(When::Probability),
        (1u64..6).prop_map(When::Every),
        (1u64..30).prop_map(When::Nth),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Requests begin and end anywhere, also within sectors.
    #[test]
    fn what_is_wrong_and_who_saw_it_is_known_exactly(
        faults in prop::collection::vec((any_fault(), any_when(), any::<u64>()), 1..4),
        requests in prop::collection::vec((any::<bool>(), 0..SIZE, 1usize..20_000, any::<bool>(),
            any::<u8>()), 1..60)
    ) {
        let plan = |(fault, when, seed)| FaultPlan::new(fault, when).with_seed(seed);
        let mut both = Both::new(faults.into_iter().map(plan).collect());
        for (writes, at, bytes, whole, fill) in requests {
            let unit = if whole { 512 } else { 1 };
            let offset = at / unit * unit;
            let bytes = bytes.next_multiple_of(unit).min(SIZE - offset);
            if writes {
                let data: Vec<u8> = (0..bytes)
                    .map(|i| fill.wrapping_add(u8::try_from(i / 700).unwrap())).collect();
                both.write(offset, &data);
            } else {
                both.read(offset, bytes);
            }
        }
        let injected = both.faults.injected();
        let visible: BTreeSet<usize> = injected.iter().flat_map(|i| sectors(&i.visible)).collect();
        prop_assert_eq!(&visible, &both.seen);
        let stored = both.stored();
        prop_assert_eq!(both.content.metadata().unwrap().len(), SIZE as u64);
        let wrong: BTreeSet<usize> =
            (0..SIZE / 512).filter(|s| stored[s * 512..][..512] != both.right[s * 512..][..512])
                .collect();
        let changed: BTreeSet<usize> = injected.iter().flat_map(|i| sectors(&i.changed)).collect();
        let healed: BTreeSet<usize> = injected.iter().flat_map(|i| sectors(&i.healed)).collect();
        prop_assert!(wrong.is_subset(&changed) && visible.is_subset(&changed)
            && healed.is_subset(&changed));
        // Writing everything again heals what nobody has seen, and then everything is right.
        both.faults.inject(Vec::new());
        let all = vec![0x55; SIZE];
        both.write(0, &all);
        prop_assert_eq!(both.stored(), all);
        for one in both.faults.injected() {
            let become_of: BTreeSet<usize> = sectors(&one.visible).into_iter()
                .chain(sectors(&one.healed)).collect();
            prop_assert_eq!(become_of, sectors(&one.changed).into_iter().collect::<BTreeSet<_>>());
        }
        let mut log = Vec::new();
        both.faults.write_log(&mut log).unwrap();
        for line in String::from_utf8(log).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            prop_assert!(line["event"].is_string() && line["number"].is_u64(), "{line}");
        }
    }
}

/// What a file of zeros holds, by sector, after its sectors 4 to 7 were written.
fn after(fault: Fault) -> (String, Vec<Injected>) {
    let mut both = Both::new(Vec::new());
    both.write(0, &vec![0; SIZE]);
    both.write(4 * 512, &[b'a'; 4 * 512]);
    let plan = FaultPlan::new(fault, When::Nth(1)).in_range(0..12 * 512);
    both.faults.inject(vec![plan]);
    both.write(4 * 512, &[b'b'; 4 * 512]);
    let show = |sector: &[u8]| match sector[0] {
        b'a' | b'b' if sector.iter().all(|b| *b == sector[0]) => char::from(sector[0]),
        0 => '.',
        _ => '?',
    };
    (both.stored().chunks(512).take(14).map(show).collect(), both.faults.injected())
}

#[test]
fn each_fault_of_a_write_does_what_it_is_called() {
    for (fault, holds) in [
        (Fault::LostWrite, "....aaaa......"),
        (Fault::TornWrite(Torn::Prefix(1)), "....baaa......"),
        (Fault::TornWrite(Torn::Prefix(3)), "....bbba......"),
        (Fault::TornWrite(Torn::Suffix(1)), "....aaab......"),
        (Fault::TornWrite(Torn::Prefix(4)), "....bbbb......"),
        (Fault::ZeroWrite, ".............."),
        (Fault::DuplicatedWrite, "....bbbb......"),
        (Fault::WriteError(5), "....aaaa......"),
    ] {
        let (is, injected) = after(fault);
        assert_eq!(is, holds, "{fault:?}");
        let happens = fault != Fault::TornWrite(Torn::Prefix(4));
        assert_eq!(injected.len(), usize::from(happens), "{fault:?}: {injected:?}");
    }
    let (is, injected) = after(Fault::MisdirectedWrite);
    assert!(["bbbbaaaa......", "....aaaabbbb.."].contains(&is.as_str()), "{is}");
    assert_eq!(injected[0].changed.iter().map(|s| s.bytes).sum::<u64>(), 8 * 512);
    let (is, _) = after(Fault::TornWrite(Torn::Random));
    assert!(is.contains('a') && is.contains('b'), "{is}");
    let (is, injected) = after(Fault::BitFlipWrite);
    assert_eq!((is.matches('b').count(), is.matches('?').count()), (3, 1), "{is}");
    let bit = injected[0].bit.unwrap();
    assert!((4 * 512 * 8..8 * 512 * 8).contains(&bit));
    let (is, injected) = after(Fault::ShortWrite);
    assert!(is.starts_with("....b") && is.contains('a') && injected[0].changed.is_empty(), "{is}");
}

#[test]
fn each_fault_of_a_read_does_what_it_is_called() {
    let read = |fault| {
        let mut both = Both::new(Vec::new());
        both.write(4096, &[b'a'; 4096]);
        both.faults.inject(vec![FaultPlan::new(fault, When::Nth(1))]);
        both.write(4096, &[b'b'; 4096]);
        let given = both.read(4096, 4096);
        assert_eq!(both.read(4096, 4096), [b'b'; 4096], "{fault:?} is right the second time");
        (given, both.faults.injected().remove(0))
    };
    let whole = [Span { offset: 4096, bytes: 4096 }];
    assert_eq!(read(Fault::StaleRead).0, [b'a'; 4096]);
    assert_eq!(read(Fault::ZeroRead).0, [0; 4096]);
    assert_eq!(read(Fault::ZeroRead).1.visible, whole);
    let (given, injected) = read(Fault::MisdirectedRead);
    assert!(!given.contains(&b'a') || injected.elsewhere != Some(4096));
    assert!(injected.elsewhere.is_some_and(|at| at != 4096 && at % 4096 == 0), "{injected:?}");
    let (given, injected) = read(Fault::BitFlipRead);
    assert_eq!(given.iter().map(|b| (b ^ b'b').count_ones()).sum::<u32>(), 1);
    assert_eq!(injected.changed[0].bytes, 512);
    let (given, injected) = read(Fault::ShortRead);
    assert!(given.len() < 4096 && given.len() % 512 == 0 && !given.is_empty());
    assert!(injected.changed.is_empty());
}

#[test]
fn faults_keep_to_their_file_their_range_and_their_turn() {
    let numbers = |plan: FaultPlan| {
        let mut both = Both::new(vec![plan]);
        for request in 0..12 {
            both.write(request * 4096, &[1; 4096]);
        }
        both.faults.injected().iter().map(|i| i.offset / 4096).collect::<Vec<_>>()
    };
    let lost = |when| FaultPlan::new(Fault::LostWrite, when);
    assert_eq!(numbers(lost(When::Every(5))), [4, 9]);
    assert_eq!(numbers(lost(When::Nth(3))), [2]);
    assert_eq!(numbers(lost(When::Every(1)).in_range(8192..5 * 4096 + 1)), [2, 3, 4]);
    assert_eq!(numbers(lost(When::Every(1)).in_file("other")), [0; 0]);
    assert_eq!(numbers(lost(When::Every(6)).in_file("file")), [5, 11]);
    assert_eq!(numbers(lost(When::Probability(0.0))), [0; 0]);
    assert_eq!(numbers(lost(When::Probability(1.0))).len(), 12);
    assert_eq!(numbers(lost(When::Every(3)).at_most(2)), [2, 5]);
    let some = lost(When::Probability(0.5));
    assert_eq!(numbers(some.clone()), numbers(some.clone()), "the same seed, the same faults");
    assert_ne!(numbers(some.clone()), numbers(some.with_seed(1)));
    assert_eq!(numbers(lost(When::Every(0))), [0; 0]);
}

#[test]
fn a_file_that_is_cut_has_nothing_wrong_behind_its_end() {
    let mut both = Both::new(vec![FaultPlan::new(Fault::LostWrite, When::Every(1))]);
    both.write(0, &vec![1; SIZE]);
    both.content.set_len(4100).unwrap();
    both.faults.cut(FILE, 4100);
    both.content.set_len(SIZE as u64).unwrap();
    both.right[4100..].fill(0);
    both.faults.inject(Vec::new());
    both.write(4104, &[2; 8]);
    both.read(0, SIZE);
    assert_eq!(both.seen.last(), Some(&8));
    assert_eq!(both.faults.injected()[0].visible, [Span { offset: 0, bytes: 4096 + 512 }]);
}
