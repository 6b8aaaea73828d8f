//! Traces of fio and blktrace become I/Os; no bytes make a reader panic.

use proptest::collection::vec;
use proptest::prelude::*;
use trace::{BLKTRACE_MAGICS, BlktraceReader, FioReader, ImportError, Io, Kind, Ordered};

fn fio(text: &str) -> Result<Vec<Io>, ImportError> {
    FioReader::new(text.as_bytes()).collect()
}

#[test]
fn a_log_of_fio_3_has_times() {
    let text = "fio version 3 iolog\n22 /data/f add\n162 /data/f open\n\
                168 /data/f read 61440 4096\n306349 /data/g write 491520 8192\n\
                306349 /data/f datasync 7 9\n9 /data/f close\n";
    let ios = fio(text).unwrap();
    let seen: Vec<_> =
        ios.iter().map(|io| (io.issued_ns, io.device, io.kind, io.offset_bytes)).collect();
    let expected = [
        (168_000, 0, Kind::Read, 61440),
        (306_349_000, 1, Kind::Write, 491_520),
        (306_349_000, 0, Kind::Flush, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(ios[1].length_bytes, 8192);
}

#[test]
fn the_time_of_fio_2_advances_at_its_waits() {
    let text = "fio version 2 iolog\nf add\nf read 0 4096\nf wait 100 0\nf trim 4096 512\n\
                f wait 50 0\nf write 0 1\n";
    let seen: Vec<_> = fio(text).unwrap().iter().map(|io| (io.issued_ns, io.kind)).collect();
    assert_eq!(seen, [(0, Kind::Read), (100_000, Kind::Discard), (150_000, Kind::Write)]);
}

#[test]
fn a_wrong_line_of_fio_is_named() {
    for (text, at) in [
        ("fio version 4 iolog\n", 1),
        ("", 0),
        ("fio version 3 iolog\n1 f read 0\n", 2),
        ("fio version 3 iolog\n1 f read 0 18446744073709551616\n", 2),
        ("fio version 3 iolog\n18446744073709551615 f read 0 1\n", 2),
        ("fio version 3 iolog\n1 f leap 0 1\n", 2),
    ] {
        match fio(text) {
            Err(ImportError::Line { line, .. }) => assert_eq!(line, at, "{text}"),
            ios => assert!(at == 0 && ios.unwrap().is_empty(), "{text}"),
        }
    }
}

const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const FUA: u32 = 1 << 31;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

/// A record of blktrace: magic, sequence, time, sector, bytes, action, pid, device, CPU, error and
/// the length of what follows.
fn record(big: bool, time: u64, (sector, bytes): (u64, u32), action: u32, more: u16) -> Vec<u8> {
    let four = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let eight = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let two = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut all = BLKTRACE_MAGICS[usize::from(big)].to_vec();
    all.extend(four(1));
    all.extend(eight(time));
    all.extend(eight(sector));
    for value in [bytes, action, 4711, 0x0080_0010, 3] {
        all.extend(four(value));
    }
    all.extend(two(0));
    all.extend(two(more));
    all.resize(all.len() + usize::from(more), 0xee);
    all
}

fn read(files: &[Vec<u8>]) -> (Vec<Io>, u64, bool) {
    let files = files.iter().map(|bytes| &bytes[..]).collect();
    let mut reader = BlktraceReader::new(files).unwrap();
    let ios = reader.by_ref().map(Result::unwrap).collect();
    (ios, reader.unmatched(), reader.is_cut())
}

/// Issue and completion may be seen by different CPUs, so in different files.
#[test]
fn issues_meet_their_completions_in_either_byte_order() {
    for big in [false, true] {
        let first = [
            record(big, 1_000, (8, 4096), READ | ISSUE | 1 << 8, 16),
            record(big, 1_500, (8, 4096), READ | 1, 0),
            record(big, 9_000, (u64::MAX, 0), FLUSH | WRITE | COMPLETE, 0),
        ];
        let second = [
            record(big, 2_000, (0, 0), FLUSH | WRITE | ISSUE, 0),
            record(big, 2_500, (16, 512), WRITE | FUA | ISSUE, 0),
            record(big, 3_000, (8, 4096), READ | COMPLETE, 0),
            record(big, 4_000, (24, 512), WRITE | COMPLETE, 0),
        ];
        let (ios, unmatched, is_cut) = read(&[first.concat(), second.concat()]);
        let seen: Vec<_> = ios
            .iter()
            .map(|io| (io.kind, io.issued_ns, io.latency_ns, io.offset_bytes, io.length_bytes))
            .collect();
        let expected = [
            (Kind::Read, 0, Some(2_000), 4096, 4096),
            (Kind::Flush, 1_000, Some(7_000), 0, 0),
            (Kind::DurableWrite, 1_500, None, 8192, 512),
        ];
        assert_eq!(seen, expected);
        assert_eq!((unmatched, is_cut), (1, false));
    }
}

#[test]
fn a_cut_trace_is_read_up_to_the_cut_and_a_damaged_one_is_refused() {
    let whole = [
        record(false, 0, (8, 4096), READ | ISSUE, 0),
        record(false, 5, (8, 4096), READ | COMPLETE, 20),
    ]
    .concat();
    for cut in 49..whole.len() {
        let (ios, _, is_cut) = read(&[whole[..cut].to_vec()]);
        assert_eq!((ios.len(), is_cut), (1, true), "{cut}");
        assert_eq!(ios[0].latency_ns, None);
    }
    let mut damaged = whole;
    damaged[48] ^= 1;
    let mut reader = BlktraceReader::new(vec![&damaged[..]]).unwrap();
    assert!(matches!(reader.next(), Some(Err(ImportError::Record { record: 2, .. }))));
    assert!(reader.next().is_none());
}

#[test]
fn completions_are_put_into_the_order_of_issue() {
    let io = |issued_ns| Io {
        issued_ns,
        latency_ns: None,
        device: 0,
        stream: 0,
        offset_bytes: 0,
        length_bytes: 1,
        kind: Kind::Read,
    };
    let given = [5, 3, 9, 3, 0].map(|t| Ok::<_, ()>(io(t))).into_iter().chain([Err(())]);
    let mut ordered = Ordered::new(given);
    let times: Vec<u64> = ordered.by_ref().map_while(Result::ok).map(|io| io.issued_ns).collect();
    assert_eq!(times, [0, 3, 3, 5, 9]);
}

proptest! {
    #[test]
    fn any_log_of_fio_is_read_or_refused(
        version in 1..5,
        lines in vec(
            "([0-9a-z ]{0,30}|[0-9]{1,21} f (read|write|sync|wait) [0-9]{1,21} [0-9]{1,6})",
            0..8,
        ),
    ) {
        let text = format!("fio version {version} iolog\n{}\n", lines.join("\n"));
        if let Ok(ios) = fio(&text) {
            prop_assert!(ios.len() <= lines.len());
        }
    }

    /// Any times, sectors and lengths, in any order, cut anywhere.
    #[test]
    fn any_trace_of_blktrace_is_read_or_refused(
        events in vec((any::<u64>(), 0_u64..3, any::<u32>(), 0_u32..64, 7_u32..9), 0..20),
        wild in any::<u64>(), cut in 0_usize..100, noise in vec(any::<u8>(), 0..60),
    ) {
        let mut bytes: Vec<u8> = events
            .iter()
            .flat_map(|(time, sector, length, flags, what)| {
                let sector = if *sector == 2 { wild } else { *sector };
                record(false, *time, (sector, *length), (flags << 16) | what, 3)
            })
            .collect();
        bytes.truncate(bytes.len().saturating_sub(cut));
        bytes.extend(noise);
        let issues = events.len();
        if let Ok(reader) = BlktraceReader::new(vec![&bytes[..], &bytes[..]]) {
            prop_assert!(reader.count() <= 2 * issues + 2);
        }
    }
}
