//! What is written is read back, and no damage makes the reader panic or invent an I/O.

use proptest::collection::vec;
use proptest::prelude::*;
use trace::{DeviceFacts, Ending, Header, Io, Kind, Reader, TraceError, Writer};

fn header() -> Header {
    let device = DeviceFacts { size_bytes: Some(1 << 40), write_back: None };
    let (source, began_unix_ms) = ("test".to_owned(), Some(1_795_262_400_123));
    Header { source, devices: vec![device], began_unix_ms, recorded_from_ns: Some(500) }
}

fn written(ios: &[Io]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for io in ios {
        writer.write(*io).unwrap();
    }
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> (Vec<Io>, Ending) {
    let mut reader = Reader::new(bytes).unwrap();
    let ios = reader.by_ref().map(Result::unwrap).collect();
    (ios, reader.ending().unwrap())
}

/// Where the blocks of a trace begin, and its end.
fn blocks(bytes: &[u8]) -> Vec<usize> {
    let mut starts = vec![8];
    while *starts.last().unwrap() < bytes.len() {
        let start = *starts.last().unwrap();
        let packed = u32::from_le_bytes(bytes[start + 5..start + 9].try_into().unwrap());
        starts.push(start + 41 + packed as usize);
    }
    starts
}

fn any_io() -> impl Strategy<Value = Io> {
    let numbers = (any::<u64>(), any::<Option<u64>>(), any::<u32>(), any::<u32>());
    (numbers, any::<u64>(), any::<u64>(), 0..5_usize, any::<bool>()).prop_map(
        |((issued_ns, latency_ns, device, stream), offset, length, kind, whole)| {
            let mask = if whole { !511 } else { !0 };
            let (offset_bytes, length_bytes) = (offset & mask, length & mask);
            let kind = Kind::ALL[kind];
            Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Offsets up to 2^64 and times that run back are kept as they are.
    #[test]
    fn what_is_written_is_read_back(ios in vec(any_io(), 0..200)) {
        let expected: Vec<Io> = ios.iter().map(|io| io.in_ticks()).collect();
        prop_assert_eq!(read(&written(&ios)), (expected, Ending::Whole));
    }

    /// A killed capture: all whole blocks are read, and the trace says that it is cut.
    #[test]
    fn a_cut_trace_is_read_up_to_its_last_whole_block(
        ios in vec(any_io(), 1..50), cut in any::<prop::sample::Index>(),
    ) {
        let whole = written(&ios);
        let starts = blocks(&whole);
        let at = starts[1] + cut.index(whole.len() - starts[1]);
        let (found, ending) = read(&whole[..at]);
        prop_assert_eq!(ending, Ending::Cut);
        let before = starts.iter().filter(|start| **start <= at).count();
        let (expected, _) = read(&whole[..starts[before - 1]]);
        prop_assert_eq!(&found, &expected);
        prop_assert!(ios.iter().map(|io| io.in_ticks()).collect::<Vec<_>>().starts_with(&found));
    }

    /// One changed byte never becomes an I/O that was not written.
    #[test]
    fn a_changed_byte_is_noticed(
        ios in vec(any_io(), 1..50), at in any::<prop::sample::Index>(), change in 1_u8..,
    ) {
        let mut bytes = written(&ios);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        if let Ok(mut reader) = Reader::new(&bytes[..]) {
            let found: Vec<Io> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_ne!(reader.ending().unwrap(), Ending::Whole);
            let expected: Vec<Io> = ios.iter().map(|io| io.in_ticks()).collect();
            prop_assert!(expected.starts_with(&found));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in vec(any::<u8>(), 0..500), begun in any::<bool>()) {
        let empty = written(&[]);
        let mut all = empty[..if begun { blocks(&empty)[1] } else { 0 }].to_vec();
        all.extend(bytes);
        if let Ok(reader) = Reader::new(&all[..]) {
            prop_assert_eq!(reader.count(), 0);
        }
    }
}

fn at(issued_ns: u64, offset_bytes: u64) -> Io {
    let latency_ns = Some(80_000);
    let (device, stream, kind, length_bytes) = (0, 0, Kind::Read, 4096);
    Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind }
}

#[test]
fn blocks_in_another_order_are_damage() {
    let ios = [at(0, 0), at(2_000_000_000, 4096), at(4_000_000_000, 8192)];
    let whole = written(&ios);
    let starts = blocks(&whole);
    assert_eq!(starts.len(), 6, "header, three blocks of records, the end");
    let swapped = [
        &whole[..starts[1]],
        &whole[starts[2]..starts[3]],
        &whole[starts[1]..starts[2]],
        &whole[starts[3]..],
    ]
    .concat();
    assert_eq!(read(&swapped), (vec![], Ending::Damaged));
}

#[test]
fn lost_events_add_up() {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    writer.write(at(0, 0)).unwrap();
    writer.lost(7).unwrap();
    writer.write(at(100, 4096)).unwrap();
    writer.lost(5).unwrap();
    let bytes = writer.finish().unwrap();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    assert_eq!(reader.header(), &header());
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!((reader.lost(), reader.ending()), (12, Some(Ending::Whole)));
}

/// The end of the recording is at the end of the file: a trace that was cut off does not have it.
#[test]
fn the_time_that_was_recorded_is_kept() {
    for until in [None, Some(0), Some(7_000_000_000), Some(u64::MAX)] {
        let mut writer = Writer::new(Vec::new(), &header()).unwrap();
        writer.write(at(1000, 0)).unwrap();
        if let Some(ns) = until {
            writer.recorded_until(ns);
        }
        let bytes = writer.finish().unwrap();
        let mut reader = Reader::new(&bytes[..]).unwrap();
        assert_eq!(reader.by_ref().count(), 1);
        assert_eq!((reader.recorded_until_ns(), reader.ending()), (until, Some(Ending::Whole)));
        assert_eq!(reader.header().recorded_from_ns, Some(500));
        let mut cut = Reader::new(&bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(cut.by_ref().count(), 1);
        assert_eq!((cut.recorded_until_ns(), cut.ending()), (None, Some(Ending::Cut)));
    }
}

#[test]
fn other_files_and_later_versions_are_refused() {
    assert!(matches!(Reader::new(&b"PK\x03\x04 something"[..]), Err(TraceError::NotATrace)));
    let mut later = written(&[]);
    later[7] = 3;
    assert!(matches!(Reader::new(&later[..]), Err(TraceError::Version(3))));
}

/// A log of 8 KiB writes between random 8 KiB reads of 16 GiB, 10,000 a second, with random gaps
/// and latencies: at most 6 bytes per I/O.
#[test]
fn an_io_takes_at_most_six_bytes() {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let (mut now, mut log) = (0, 1 << 40);
    let mut ios = Vec::new();
    for _ in 0..40_000 {
        now += draw(200_000);
        let mut io = at(now, draw(1 << 21) * 8192);
        io.length_bytes = 8192;
        io.latency_ns = Some(50_000 + draw(100_000));
        if draw(3) == 0 {
            io = Io { kind: Kind::DurableWrite, stream: 1, offset_bytes: log, ..io };
            log += 8192;
        }
        ios.push(io);
    }
    let bytes = written(&ios);
    assert_eq!(read(&bytes).0.len(), ios.len());
    assert!(bytes.len() <= 6 * ios.len(), "{} bytes for {} I/Os", bytes.len(), ios.len());
}
