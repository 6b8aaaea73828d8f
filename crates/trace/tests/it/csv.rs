//! Lines with the traits of public traces become I/Os; no line makes the reader panic.

use std::fmt::Write;

use proptest::prelude::*;
use trace::{CsvReader, ImportError, Io, Kind, Layout};

const LAYOUTS: [Layout; 4] = [Layout::MsrCambridge, Layout::Alibaba, Layout::Systor, Layout::Spc];

fn read(text: &str, layout: Layout) -> Vec<Io> {
    CsvReader::new(text.as_bytes(), layout).map(Result::unwrap).collect()
}

#[test]
fn msr_cambridge_has_hosts_disks_and_latencies() {
    let text = "128166372003061629,web,0,Read,7014609920,24576,41286\r\n\
                128166372003061729,web,1,Write,512,4096,10\r\n\
                128166372003061650,web,0,Write,0,512,1\r\n";
    let ios = read(text, Layout::MsrCambridge);
    let first = Io {
        issued_ns: 0,
        latency_ns: Some(4_128_600),
        device: 0,
        stream: 0,
        offset_bytes: 7_014_609_920,
        length_bytes: 24576,
        kind: Kind::Read,
    };
    assert_eq!(ios[0], first);
    let rest: Vec<_> = ios[1..].iter().map(|io| (io.issued_ns, io.device, io.kind)).collect();
    assert_eq!(rest, [(10_000, 1, Kind::Write), (2_100, 0, Kind::Write)], "time may run back");
}

#[test]
fn alibaba_has_no_latencies() {
    let text = "device_id,opcode,offset,length,timestamp\n\n9,R,4096,8192,1577808000000046\n\
                7,W,0,4096,1577808000000050";
    let ios = read(text, Layout::Alibaba);
    let seen: Vec<_> = ios.iter().map(|io| (io.issued_ns, io.device, io.latency_ns)).collect();
    assert_eq!(seen, [(0, 0, None), (4_000, 1, None)]);
}

#[test]
fn systor_has_seconds_and_lines_without_an_answer() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
                1456095145.133080000,,,0,4096,4096\n\
                1456095146.233076000,1.5,W,4,0,512\n";
    let mut reader = CsvReader::new(text.as_bytes(), Layout::Systor);
    let ios: Vec<Io> = reader.by_ref().map(Result::unwrap).collect();
    let first = Io {
        issued_ns: 0,
        latency_ns: Some(806_000),
        device: 0,
        stream: 0,
        offset_bytes: 899_056_122_368,
        length_bytes: 131_072,
        kind: Kind::Read,
    };
    assert_eq!((ios[0], reader.left_out(), reader.devices()), (first, 1, 2));
    let second = (ios[1].issued_ns, ios[1].latency_ns, ios[1].device, ios[1].kind);
    assert_eq!(second, (1_100_000_000, Some(1_500_000_000), 1, Kind::Write));
}

#[test]
fn spc_has_blocks_and_columns_of_any_meaning() {
    let text = "0,20941264,8192,W,0.551706,Alpha/NT\n1, 3436288, 15872, r, 1.250720,0x12,5.9,t\n";
    let ios = read(text, Layout::Spc);
    let seen: Vec<_> = ios.iter().map(|io| (io.issued_ns, io.device, io.kind)).collect();
    assert_eq!(seen, [(0, 0, Kind::Write), (699_014_000, 1, Kind::Read)]);
    let places: Vec<_> = ios.iter().map(|io| (io.offset_bytes, io.length_bytes)).collect();
    assert_eq!(places, [(20_941_264 * 512, 8192), (3_436_288 * 512, 15_872)]);
    assert!(ios.iter().all(|io| io.latency_ns.is_none()));
}

#[test]
fn no_number_is_too_large_or_too_strange() {
    let max = u64::MAX;
    for (text, layout) in [
        (format!("0,{max},1,R,1.0\n"), Layout::Spc),
        ("0,1,1,R,1.0x\n".to_owned(), Layout::Spc),
        ("0,1,1,R,-1.0\n".to_owned(), Layout::Spc),
        (format!("1.0,{max}.9,R,0,0,1\n"), Layout::Systor),
        (format!("1.0,0.1,R,0,{max}0,1\n"), Layout::Systor),
        ("2.0,0.1,R,0,0,1\n1.9,0.1,R,0,0,1\n".to_owned(), Layout::Systor),
        (format!("{max},h,0,Read,0,0,{max}\n"), Layout::MsrCambridge),
    ] {
        let last = CsvReader::new(text.as_bytes(), layout).last();
        assert!(matches!(last, Some(Err(ImportError::Line { .. }))), "{text}");
    }
}

#[test]
fn a_wrong_line_is_named_and_ends_the_trace() {
    let cases = [
        "1,R,0,4096,5\n1,R,0,4096,4\n1,R,0,4096,6\n",
        "1,R,0,4096,5\n1,T,0,4096,6\n",
        "1,R,0,4096,5\n1,R,18446744073709551616,4096,6\n",
        "1,R,0,4096,5\n1,R,0\n",
    ];
    let long = format!("1,R,0,4096,5\n{}\n", "1".repeat(5000));
    for text in cases.into_iter().chain([long.as_str()]) {
        let mut reader = CsvReader::new(text.as_bytes(), Layout::Alibaba);
        assert!(reader.next().unwrap().is_ok());
        assert!(matches!(reader.next(), Some(Err(ImportError::Line { line: 2, .. }))), "{text}");
        assert!(reader.next().is_none());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in "([0-9RWa-z.,\n]{0,60}|.{0,20}){0,4}", layout in 0..4_usize,
    ) {
        let layout = LAYOUTS[layout];
        let lines = text.lines().count();
        prop_assert!(CsvReader::new(text.as_bytes(), layout).count() <= lines + 1);
    }

    /// Lines with the right number of columns, of which each may be anything.
    #[test]
    fn any_columns_are_read_or_refused(
        columns in prop::collection::vec("([0-9]{1,25}|[0-9]{0,20}\\.[0-9]{0,20}|[RWrw]|)", 4..9),
        layout in 0..4_usize,
    ) {
        let text = format!("{}\n", columns.join(","));
        for io in CsvReader::new(text.as_bytes(), LAYOUTS[layout]).flatten() {
            prop_assert_eq!(io.issued_ns, 0);
        }
    }

    #[test]
    fn what_is_printed_is_read(ios in prop::collection::vec(
        (0..1_u64 << 50, any::<u64>(), any::<u64>(), any::<bool>()), 1..30,
    )) {
        let mut text = String::from("3,R,0,0,0\n");
        for (time, offset, length, write) in &ios {
            let kind = if *write { "W" } else { "R" };
            writeln!(text, "3,{kind},{offset},{length},{time}").unwrap();
        }
        let found = read(&text, Layout::Alibaba);
        let columns = |io: &Io| {
            let write = io.kind == Kind::Write;
            (io.issued_ns / 1000, io.offset_bytes, io.length_bytes, write)
        };
        let found: Vec<_> = found[1..].iter().map(columns).collect();
        prop_assert_eq!(found, ios);
    }
}
