//! The kernel's description of its types, read right, and never with a panic; and the records that
//! its program writes.

use capture::{Btf, BtfError, Flags, Records, Tally};
use proptest::collection::vec;
use proptest::prelude::*;
use trace::{Io, Kind};

/// A description of types that is being written.
#[derive(Default)]
struct Description {
    types: Vec<u8>,
    names: Vec<u8>,
}

impl Description {
    fn name(&mut self, text: &str) -> u32 {
        if self.names.is_empty() {
            self.names.push(0);
        }
        if text.is_empty() {
            return 0;
        }
        let at = u32::try_from(self.names.len()).unwrap();
        self.names.extend(text.bytes().chain([0]));
        at
    }

    fn add(&mut self, name: &str, (kind, count): (u32, usize), value: u32, rest: &[u32]) {
        let count = u32::try_from(count).unwrap();
        let words = [self.name(name), kind << 24 | count, value];
        let words = words.into_iter().chain(rest.iter().copied());
        self.types.extend(words.flat_map(u32::to_ne_bytes));
    }

    /// A structure with fields of a type at offsets in bits.
    fn structure(&mut self, name: &str, fields: &[(&str, u32, u32)]) {
        let words: Vec<u32> =
            fields.iter().flat_map(|(n, kind, bits)| [self.name(n), *kind, *bits]).collect();
        self.add(name, (4, fields.len()), 64, &words);
    }

    fn bytes(&self) -> Vec<u8> {
        let (types, names) = (u32::try_from(self.types.len()).unwrap(), self.names.len());
        let words = [24, 0, types, types, u32::try_from(names).unwrap()];
        let mut bytes = 0xeb9f_u16.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        bytes.extend(words.into_iter().flat_map(u32::to_ne_bytes));
        [bytes, self.types.clone(), self.names.clone()].concat()
    }
}

fn described() -> Vec<u8> {
    let mut all = Description::default();
    all.add("int", (1, 0), 4, &[32]); // 1
    all.add("", (2, 0), 3, &[]); // 2: *request
    all.structure("request", &[("q", 1, 0), ("", 4, 64), ("part", 1, 256)]); // 3
    all.structure("", &[("first", 1, 0), ("second", 1, 32)]); // 4
    let values = ["REQ_OP_READ", "REQ_OP_DISCARD"].map(|name| all.name(name));
    all.add("req_op", (6, 2), 4, &[values[0], 0, values[1], 3]); // 5
    all.add("", (13, 3), 0, &[0, 0, 0, 1, 0, 2]); // 6: (void, int, *request)
    all.add("", (2, 0), 6, &[]); // 7
    all.add("btf_trace_done", (8, 0), 7, &[]); // 8
    all.structure("itself", &[("", 9, 0), ("", 9, 8)]); // 9
    all.bytes()
}

#[test]
fn fields_values_and_arguments_are_found() {
    let bytes = described();
    let btf = Btf::parse(&bytes).unwrap();
    assert_eq!(btf.offset("request", "q"), Ok(0));
    assert_eq!(btf.offset("request", "second"), Ok(12), "a structure without a name is opened");
    assert_eq!(btf.offset("request", "part"), Ok(32));
    assert_eq!(btf.value("REQ_OP_DISCARD"), Ok(3));
    assert_eq!(btf.typedef("btf_trace_done"), Ok(8));
    assert_eq!(btf.argument("btf_trace_done", "request"), Ok(1));
    let lacks = |name: &str| BtfError::Lacks(name.to_owned());
    assert_eq!(btf.offset("request", "third"), Err(lacks("request.third")));
    assert_eq!(btf.offset("itself", "third"), Err(lacks("itself.third")));
    assert_eq!(btf.argument("btf_trace_done", "bio"), Err(lacks("btf_trace_done(bio)")));
    assert_eq!(btf.value("NONE"), Err(lacks("NONE")));
    assert_eq!(Btf::parse(&[]).unwrap_err(), BtfError::NotBtf);
    assert_eq!(Btf::parse(&bytes[..60]).unwrap_err(), BtfError::Damaged);
}

/// The kernel that runs this test, if it describes its types.
#[cfg(target_os = "linux")]
#[test]
fn the_types_of_this_kernel_are_read() {
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
        return testing::skip("capture::types::this_kernel", "it does not describe its types");
    };
    let btf = Btf::parse(&bytes).unwrap();
    let flags = Flags::find(&btf).unwrap();
    assert_eq!((flags.write, flags.flush, flags.discard), (1, 2, 3));
    assert_eq!(btf.argument("btf_trace_block_rq_complete", "request"), Ok(0));
    assert!(btf.offset("request", "start_time_ns").unwrap() > 0);
}

fn read_all(bytes: &[u8]) {
    let Ok(btf) = Btf::parse(bytes) else { return };
    for name in ["request", "itself", ""] {
        let _ = (btf.offset(name, "second"), btf.argument("btf_trace_done", name));
    }
    let _ = (btf.value("REQ_OP_DISCARD"), Flags::find(&btf));
}

const FLAGS: Flags = Flags {
    write: 1,
    flush: 2,
    discard: 3,
    secure_erase: 5,
    write_zeroes: 9,
    durable: 1 << 17,
    flush_sequence: Some(2),
};

/// A record as the program writes it.
fn record(times: (u64, u64), sector: u64, words: [u32; 4]) -> Vec<u8> {
    let longs = [times.0, times.1, sector];
    let words = words.into_iter().flat_map(u32::to_ne_bytes);
    longs.into_iter().flat_map(u64::to_ne_bytes).chain(words).collect()
}

#[test]
fn records_become_ios() {
    let mut records = Records::new(FLAGS, 1000);
    let io = |issued_ns, latency_ns, offset_bytes, length_bytes, kind| Io {
        issued_ns,
        latency_ns,
        device: 4,
        stream: 0,
        offset_bytes,
        length_bytes,
        kind,
    };
    let late = (1500, 1700);
    let cases = [
        (record(late, 8, [0, 4096, 4, 0]), Some(io(500, Some(200), 4096, 4096, Kind::Read))),
        (record(late, 8, [1, 512, 4, 0]), Some(io(500, Some(200), 4096, 512, Kind::Write))),
        (
            record(late, 8, [1 << 17 | 1, 512, 4, 2]),
            Some(io(500, Some(200), 4096, 512, Kind::DurableWrite)),
        ),
        (record(late, u64::MAX, [2, 0, 4, 2]), Some(io(500, Some(200), 0, 0, Kind::Flush))),
        (record(late, 0, [1, 0, 4, 0]), Some(io(500, Some(200), 0, 0, Kind::Flush))),
        (record(late, 1, [3, 512, 4, 0]), Some(io(500, Some(200), 512, 512, Kind::Discard))),
        // A command of another kind; a read that carries nothing; one from before; one cut off.
        (record(late, 1, [34, 512, 4, 0]), None),
        (record(late, 1, [0, 0, 4, 0]), None),
        (record((900, 1700), 1, [0, 4096, 4, 0]), None),
        (record(late, 1, [0, 4096, 4, 0])[..39].to_vec(), None),
        // One whose arrival is not known.
        (record((0, 1700), 1, [0, 512, 4, 0]), Some(io(700, None, 512, 512, Kind::Read))),
    ];
    for (bytes, known) in cases {
        assert_eq!(records.io(&bytes), known, "{bytes:?}");
    }
    assert_eq!(records.early(), Tally { reads: 1, read_bytes: 4096, ..Tally::default() });
    assert_eq!((records.twice(), records.waits(), records.undated()), (Some(1), 1, 1));
}

proptest! {
    #[test]
    fn any_types_are_read_or_refused(bytes in vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
        let mut bytes = bytes;
        if bytes.len() > 24 {
            bytes[..24].copy_from_slice(&described()[..24]);
            read_all(&bytes);
        }
    }

    #[test]
    fn damaged_types_are_read_or_refused(
        changes in vec((any::<usize>(), any::<u8>()), 1..8),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = described();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        read_all(&bytes);
        read_all(&bytes[..length.index(bytes.len())]);
    }

    #[test]
    fn any_record_is_read(bytes in vec(any::<u8>(), 0..60), begin in any::<u64>()) {
        let mut records = Records::new(FLAGS, begin);
        let io = records.io(&bytes);
        prop_assert!(bytes.len() >= 40 || io.is_none());
    }
}
