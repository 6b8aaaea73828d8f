//! Files and databases in a trace: what is written is read back, and no damage is believed.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use trace::{
    Annexes, DatabaseUse, Ending, FileClass, FileExtent, FileMap, Header, Io, Kind, Moment,
    NAME_MAX, Reader, Regions, TraceError, TracedFile, Writer,
};

fn io(issued_ns: u64, offset_bytes: u64) -> Io {
    let (latency_ns, device, stream, length_bytes) = (Some(1000), 0, 0, 4096);
    Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind: Kind::Write }
}

/// A trace as a recording writes it: files at the start, I/Os, new files and the end's extents.
fn written(annexes: &Annexes, later: usize, ios: &[Io]) -> Vec<u8> {
    let mut writer = Writer::with_annexes(Vec::new(), &Header::default()).unwrap();
    let FileMap { files, at_start, at_end } = &annexes.files;
    let (before, after) = files.split_at(files.len() - later.min(files.len()));
    writer.files(before).unwrap();
    writer.extents(Moment::Start, at_start).unwrap();
    for io in ios {
        writer.write(*io).unwrap();
    }
    for counted in &annexes.databases {
        writer.database(counted).unwrap();
    }
    writer.files(after).unwrap();
    writer.extents(Moment::End, at_end).unwrap();
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> (Vec<Io>, Annexes, Ending) {
    let mut reader = Reader::new(bytes).unwrap();
    let ios = reader.by_ref().map(Result::unwrap).collect();
    (ios, reader.annexes().clone(), reader.ending().unwrap())
}

fn any_extent() -> impl Strategy<Value = FileExtent> {
    (any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>()).prop_map(
        |(device, file, offset_bytes, length_bytes)| FileExtent {
            device,
            file,
            offset_bytes,
            length_bytes,
        },
    )
}

fn any_annexes() -> impl Strategy<Value = Annexes> {
    let name = option::of(".{0,30}");
    let file = (0..3_usize, name)
        .prop_map(|(class, name)| TracedFile { class: FileClass::ALL[class], name });
    let counters = prop::collection::btree_map("[a-z_]{1,12}", any::<u64>(), 0..4);
    let database = (option::of(any::<u64>()), counters).prop_map(|(reads, counters)| DatabaseUse {
        seconds: 2.5,
        reads,
        counters,
        ..DatabaseUse::default()
    });
    (vec(file, 0..20), vec(any_extent(), 0..40), vec(any_extent(), 0..40), vec(database, 0..3))
        .prop_map(|(files, at_start, at_end, databases)| Annexes {
            files: FileMap { files, at_start, at_end },
            databases,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(annexes in any_annexes(), later in 0..5_usize, n in 0..50_u64) {
        let ios: Vec<Io> = (0..n).map(|i| io(i * 1000, i * 4096)).collect();
        let bytes = written(&annexes, later, &ios);
        prop_assert_eq!(Annexes::read(&bytes[..]).unwrap(), annexes.clone());
        prop_assert_eq!(read(&bytes), (ios, annexes, Ending::Whole));
    }

    /// After a kill, what was found at the start is there, if the file got so far.
    #[test]
    fn a_cut_trace_has_what_comes_before(
        annexes in any_annexes(), cut in any::<prop::sample::Index>(),
    ) {
        let ios = [io(0, 0), io(1000, 4096)];
        let bytes = written(&annexes, 0, &ios);
        let cut = cut.index(bytes.len());
        if let Ok(mut reader) = Reader::new(&bytes[..cut]) {
            let found: Vec<Io> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(reader.ending(), Some(Ending::Cut));
            prop_assert!(ios.starts_with(&found));
            let known = &reader.annexes().files;
            prop_assert!(found.is_empty() || known.at_start == annexes.files.at_start);
            prop_assert_eq!(&Annexes::read(&bytes[..cut]).unwrap(), reader.annexes());
        }
    }

    #[test]
    fn a_changed_byte_is_noticed(
        annexes in any_annexes(), at in any::<prop::sample::Index>(), change in 1_u8..,
    ) {
        let mut bytes = written(&annexes, 1, &[io(0, 0)]);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        if let Ok(mut reader) = Reader::new(&bytes[..]) {
            prop_assert!(reader.by_ref().all(|io| io.is_ok()));
            // A changed version is the only byte without a checksum.
            prop_assert!(reader.ending() != Some(Ending::Whole) || at == 7);
            prop_assert!(Annexes::read(&bytes[..]).is_ok());
        }
    }

    /// Wherever an I/O goes in an anonymous copy, its file goes, too.
    #[test]
    fn files_move_with_their_ios(
        pages in vec(0..40_000_u64, 1..100), pieces in vec((0..40_000_u64, 1..2_000_u64), 1..20),
        secret in any::<u64>(),
    ) {
        let ios: Vec<Io> = pages.iter().map(|page| io(0, page * 4096)).collect();
        let mut regions = Regions::default();
        for io in &ios {
            regions.add(io);
        }
        let permutation = regions.permuted(|_, region| (region ^ secret).wrapping_mul(0x9e37_79b9));
        for (file, (page, length)) in (0..).zip(&pieces) {
            let (offset_bytes, length_bytes) = (page * 4096, length * 4096);
            let extent = FileExtent { device: 0, file, offset_bytes, length_bytes };
            let moved = permutation.extents(&extent);
            prop_assert!(moved.iter().map(|e| e.length_bytes).sum::<u64>() <= length_bytes);
            for io in &ios {
                let new = permutation.io(io).unwrap();
                let is_in = |e: &FileExtent, io: &Io| {
                    (e.offset_bytes..e.offset_bytes + e.length_bytes).contains(&io.offset_bytes)
                };
                prop_assert_eq!(moved.iter().any(|e| is_in(e, &new)), is_in(&extent, io));
            }
        }
    }
}

/// A reader of version 1 says that the trace is too new, and is not mistaken about it; a trace
/// without files stays of version 1.
#[test]
fn only_a_trace_with_annexes_has_version_2() {
    let plain = Writer::new(Vec::new(), &Header::default()).unwrap().finish().unwrap();
    let second = written(&Annexes::default(), 0, &[]);
    assert_eq!((plain[7], second[7]), (1, 2));
    let file = TracedFile { class: FileClass::Log, name: None };
    let mut writer = Writer::new(Vec::new(), &Header::default()).unwrap();
    assert!(matches!(writer.files(&[file]), Err(TraceError::AnnexTooLarge)));
    let annexes = Annexes {
        files: FileMap {
            files: vec![TracedFile { class: FileClass::Log, name: None }],
            ..FileMap::default()
        },
        databases: Vec::new(),
    };
    let mut as_if_old = written(&annexes, 0, &[io(0, 0)]);
    as_if_old[7] = 1;
    assert_eq!(read(&as_if_old), (Vec::new(), Annexes::default(), Ending::Damaged));
}

#[test]
fn many_files_and_long_names_take_several_blocks() {
    let long = |n: usize| "\u{1}".repeat(n);
    let name = |i: usize| if i == 7 { long(NAME_MAX + 1) } else { long(NAME_MAX - i % 50) };
    let file = |i| TracedFile { class: FileClass::Data, name: Some(name(i)) };
    let files: Vec<TracedFile> = (0..200).map(file).collect();
    let at_end = (0..10_000_u32).map(|i| FileExtent {
        device: 0,
        file: i % 200,
        offset_bytes: u64::from(i) << 20,
        length_bytes: 4096,
    });
    let files = FileMap { files, at_start: Vec::new(), at_end: at_end.collect() };
    let annexes = Annexes { files, databases: Vec::new() };
    let (_, found, ending) = read(&written(&annexes, 3, &[]));
    assert_eq!((ending, found.files.files.len()), (Ending::Whole, 200));
    assert_eq!(found.files.files[7].name, None, "it is too long");
    assert_eq!(found.files.files[8..], annexes.files.files[8..]);
    assert_eq!(found.files.at_end, annexes.files.at_end);
}
