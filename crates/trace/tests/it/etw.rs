//! What `xperf -a dumper` prints becomes I/Os; no text makes the reader panic. The lines have the
//! columns of that tool, and were made for this test.

use proptest::prelude::*;
use trace::{EtwReader, ImportError, Io, Kind};

const HEADER: &str = "BeginHeader\n\
    P-Start,  TimeStamp,     Process Name ( PID),  ParentPID\n\
    DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   \
    ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,  \
    FileObject, FileName\n\
    DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   \
    ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,  \
    FileObject, FileName\n\
    DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,  IrpPtr\n\
    DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   \
    ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri\n\
    EndHeader\n";

const LINES: &str = "OS Version: 10.0.19041, Trace Start: 132000000000000000\n\
    P-Start,  5,  sqlservr.exe (3984),  4\n\
    DiskRead,   8612,  sqlservr.exe (3984),  11844,   1, 0xffffe288b23f1b20, 0x018f0b8000, \
    0x00001000,  283,  0, 0x060043,  283,  3, Original, 0xffffe288272d0d20, \"E:\\a, b.mdf\"\n\
    DiskReadInit,  9000,  sqlservr.exe (3984),  11844,   1, 0xffffe288b23f1b20\n\
    DiskWrite,  9000,  sqlservr.exe (3984),  11844,   0, 0xffffe288b23f1b20, 0x0000000000, \
    0x00000200,  9001,  1, 0x060043,  12,  3, Original, 0xffffe288272d0d20, \"F:\\x.ldf\"\n\
    DiskWrite,  9100,  sqlservr.exe (3984),  11844,   0, 0xffffe288b23f1b20, 0x0000000400, \
    0x00000200,  100,  1, 0x060043,  12,  3, Original, 0xffffe288272d0d20, \"F:\\x.ldf\"\n\
    DiskFlush,  9300,  sqlservr.exe (3984),  11844,   0, 0xffffe288b23f1b20,  200,  1, \
    0x000002,  200,  3\n";

fn read(text: &[u8]) -> Vec<Io> {
    EtwReader::new(text).map(Result::unwrap).collect()
}

#[test]
fn reads_writes_and_flushes_begin_before_they_are_noted() {
    let text = format!("{HEADER}{LINES}");
    let mut reader = EtwReader::new(text.as_bytes());
    let ios: Vec<Io> = reader.by_ref().map(Result::unwrap).collect();
    let io = |issued_ns, latency_ns, device, kind, (offset_bytes, length_bytes)| {
        let latency_ns = Some(latency_ns);
        Io { issued_ns, latency_ns, device, stream: 0, offset_bytes, length_bytes, kind }
    };
    let expected = [
        io(8_329_000, 283_000, 0, Kind::Read, (0x1_8f0b_8000, 4096)),
        io(9_000_000, 100_000, 1, Kind::Write, (1024, 512)),
        io(9_100_000, 200_000, 1, Kind::Flush, (0, 0)),
    ];
    assert_eq!(ios, expected);
    assert_eq!((reader.early(), reader.devices()), (1, 2), "one began before the trace");
}

/// Older dumps, such as those of Microsoft's TPC-E in the repository of SNIA, have no column CPU.
#[test]
fn columns_are_found_by_their_names() {
    let without = |text: &str| text.replace(" CPU, ", " ").replace("11844,   1,", "11844,");
    let first = LINES.lines().nth(2).unwrap_or_default();
    let old = format!("{}{}\n", without(HEADER), without(first));
    let new = format!("{HEADER}{first}\n");
    assert_eq!(read(old.as_bytes()), read(new.as_bytes()));
}

#[test]
fn lines_of_other_events_may_be_long_or_not_text() {
    let long = format!("Image, {}\n", "x".repeat(10_000));
    let mut text = [HEADER.as_bytes(), long.as_bytes(), b"FileName, 1, \xff\xfe\n"].concat();
    text.extend(LINES.bytes());
    assert_eq!(read(&text), read(format!("{HEADER}{LINES}").as_bytes()));
}

#[test]
fn what_cannot_be_is_refused_with_its_line() {
    let line = |text: &str| format!("{HEADER}{text}\n");
    let no_header = LINES.to_owned();
    let cut = line("DiskRead,   8612,  a (1),  2,   1, 0xff, 0x01");
    let large =
        line("DiskRead, 9, a (1), 2, 1, 0x1, 0x10000000000000000, 0x1, 1, 0, 0, 1, 3, O, 0");
    let late = line(&format!("DiskFlush, {}, a (1), 2, 1, 0x1, 1, 0, 0, 1, 3", u64::MAX));
    let unnamed = "BeginHeader\nDiskRead, TimeStamp, IOSize\nEndHeader\n".to_owned();
    for text in [no_header, cut, large, late, unnamed] {
        let mut reader = EtwReader::new(text.as_bytes());
        assert!(matches!(reader.next(), Some(Err(ImportError::Line { .. }))), "{text}");
        assert!(reader.next().is_none());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in "((Disk(Read|Write|Flush)|BeginHeader|EndHeader)?[0-9a-fx, \n]{0,80}){0,6}",
    ) {
        let all = format!("{HEADER}{text}");
        let lines = all.lines().count();
        prop_assert!(EtwReader::new(all.as_bytes()).count() <= lines + 1);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let all = [HEADER.as_bytes(), &bytes[..]].concat();
        prop_assert!(EtwReader::new(&all[..]).count() < all.len());
    }

    /// Lines may be in any order, and be cut.
    #[test]
    fn lines_in_any_order_are_read_or_refused(
        order in prop::collection::vec(0..8_usize, 0..20), cut in 0..2000_usize,
    ) {
        let lines: Vec<&str> = LINES.lines().collect();
        let picked = order.iter().filter_map(|at| lines.get(*at));
        let body: String = picked.flat_map(|line| [line, "\n"]).collect();
        let cut = cut.min(body.len());
        let text = format!("{HEADER}{}", &body[..cut]);
        prop_assert!(EtwReader::new(text.as_bytes()).count() <= order.len() + 1);
    }
}
