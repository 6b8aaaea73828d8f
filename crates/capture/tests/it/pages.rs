//! Pages as the kernel writes them become events and I/Os; no bytes make the reader panic.

use capture::{EventFormat, Events, FormatError, page_events};
use proptest::collection::vec;
use proptest::prelude::*;
use trace::{Io, Kind};

const ISSUE: &str = "name: block_rq_issue
ID: 1183
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:dev_t dev;	offset:8;	size:4;	signed:0;
	field:sector_t sector;	offset:16;	size:8;	signed:0;
	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;
	field:unsigned int bytes;	offset:28;	size:4;	signed:0;
	field:char rwbs[10];	offset:34;	size:10;	signed:0;
";

const DEVICE: u32 = (254 << 20) | 16;

fn formats() -> (EventFormat, EventFormat) {
    let complete = ISSUE.replace("ID: 1183", "ID: 1182");
    (EventFormat::parse(ISSUE).unwrap(), EventFormat::parse(&complete).unwrap())
}

/// The data of an event.
fn data(id: u16, (device, sector, sectors): (u32, u64, u32), flags: &str) -> Vec<u8> {
    let mut data = vec![0; 44];
    data[..2].copy_from_slice(&id.to_ne_bytes());
    data[8..12].copy_from_slice(&device.to_ne_bytes());
    data[16..24].copy_from_slice(&sector.to_ne_bytes());
    data[24..28].copy_from_slice(&sectors.to_ne_bytes());
    data[34..34 + flags.len()].copy_from_slice(flags.as_bytes());
    data
}

/// A page that begins at this time; each event has the time since the one before.
#[cfg(target_endian = "little")]
fn page(begin_ns: u64, events: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (delta, data) in events {
        body.extend((u32::try_from(data.len() / 4).unwrap() | (delta << 5)).to_ne_bytes());
        body.extend(data);
    }
    let head = [begin_ns.to_ne_bytes(), (body.len() as u64 | 1 << 31).to_ne_bytes()];
    [head.concat(), body, vec![0xff; 32]].concat()
}

#[test]
fn a_format_lacks_what_it_lacks() {
    let lacks = |field: &str| EventFormat::parse(&ISSUE.replace(field, "other"));
    assert_eq!(lacks("nr_sector"), Err(FormatError::NoField("nr_sector")));
    assert_eq!(lacks("rwbs"), Err(FormatError::NoField("rwbs")));
    assert_eq!(lacks("ID: 1183"), Err(FormatError::NoId));
}

/// The completion is read from another CPU, before the issue; the flush has no sector when it ends.
#[cfg(target_endian = "little")]
#[test]
fn events_of_two_cpus_become_ios() {
    let mut events = Events::new(formats(), vec![1, u64::from(DEVICE)], 1000);
    let vda = |sector, sectors| (DEVICE, sector, sectors);
    events.add_page(&page(
        5000,
        &[
            (0, data(1182, vda(8, 16), "R")),
            (10, data(1182, vda(u64::MAX, 0), "FF")),
            (10, data(1182, vda(0, 0), "WS")),
            (10, data(1182, (7, 0, 8), "R")),
        ],
    ));
    events.add_page(&page(
        2000,
        &[
            (0, data(1183, vda(8, 16), "R")),
            (500, data(1183, vda(0, 0), "FF")),
            (500, data(1183, vda(32, 8), "WFS")),
            (1, data(9, vda(1, 1), "R")),
        ],
    ));
    let mut ios = Vec::new();
    events.finished(5000, &mut ios);
    assert!(ios.is_empty(), "a buffer may still hold what came before 5000");
    events.finished(6000, &mut ios);
    events.finish(&mut ios);
    let io = |issued_ns, latency_ns, offset_bytes, length_bytes, kind| Io {
        issued_ns,
        latency_ns,
        device: 1,
        stream: 0,
        offset_bytes,
        length_bytes,
        kind,
    };
    let known = [
        io(1000, Some(3000), 4096, 8192, Kind::Read),
        io(1500, Some(2510), 0, 0, Kind::Flush),
        io(2000, None, 16384, 4096, Kind::DurableWrite),
    ];
    assert_eq!(ios, known);
}

#[cfg(target_endian = "little")]
#[test]
fn times_are_extended_and_padding_is_skipped() {
    let word = |kind: u32, delta: u32| (kind | (delta << 5)).to_ne_bytes();
    let body = [
        &word(30, 5)[..],
        &2_u32.to_ne_bytes(),
        // Padding that was an event: eight bytes after its head.
        &word(29, 1),
        &8_u32.to_ne_bytes(),
        &[1; 4],
        // Data longer than the head can say.
        &word(0, 3),
        &10_u32.to_ne_bytes(),
        b"sixsix\0\0",
        &word(1, 1),
        b"four",
        &word(29, 0),
        &word(1, 1),
        b"none",
    ]
    .concat();
    let head = [100_u64.to_ne_bytes(), (body.len() as u64).to_ne_bytes()].concat();
    let whole = [head, body].concat();
    let seen: Vec<_> = page_events(&whole).map(|event| (event.time_ns, event.data)).collect();
    let time = 100 + (2 << 27) + 5 + 1 + 3;
    assert_eq!(seen, [(time, &b"sixsix"[..]), (time + 1, b"four")]);
}

proptest! {
    #[test]
    fn any_page_is_read(bytes in vec(any::<u8>(), 0..300), length in any::<u32>()) {
        let mut page = bytes;
        if page.len() >= 16 {
            page[8..16].copy_from_slice(&u64::from(length).to_ne_bytes());
        }
        prop_assert!(page_events(&page).count() <= page.len());
        let mut events = Events::new(formats(), vec![0], 0);
        events.add_page(&page);
        events.finish(&mut Vec::new());
    }

    #[test]
    fn any_format_is_read_or_refused(
        fields in vec(("[a-z_]{0,5} (dev|sector|rwbs\\[|nr_sector)?", "[0-9]{0,20}", 0..99), 0..6),
        id in "(ID:)?[0-9]{0,6}",
    ) {
        let field = |(name, offset, size)| format!("field:{name};offset:{offset};size:{size};\n");
        let lines: String = fields.into_iter().map(field).collect();
        let read = EventFormat::parse(&format!("{id}\n{lines}"));
        prop_assert!(read.is_ok() || !read.unwrap_err().to_string().is_empty());
    }
}
