//! A workload is made of a trace, and its quality is measured: a load that a workload can express
//! is matched, and one that it cannot is refused in words.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{Event, JobError, ModelRequest, PartPlan, Session, Sink, show_trace};
use results::{CapturedOp, Document, TraceModel};
use trace::{Header, Io, Kind, Writer};
use workload::{Distribution, Pattern, Workload};

#[derive(Default)]
struct Reader(Option<Document>);

impl Sink for Reader {
    fn hear(&mut self, _: &Event) {}

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.0 = Some(document.clone());
        Ok(())
    }
}

/// A generator of which the same seed gives the same again (splitmix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Of independent arrivals with this mean distance.
    fn gap(&mut self, mean_ns: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        -(1.0 - unit).ln() * mean_ns
    }
}

fn io(issued_ns: f64, kind: Kind, offset_bytes: u64, length_bytes: u64) -> Io {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "30 s")]
    let issued_ns = issued_ns as u64;
    let latency_ns = Some(100_000);
    Io { issued_ns, latency_ns, device: 0, stream: 0, offset_bytes, length_bytes, kind }
}

/// 30 s: 500 reads per second, of which four fifths go to a fifth of 16 MiB, and 100 durable
/// appends per second to a log. In a freeze of 2 s nothing is issued, and then all.
fn trace(directory: &Path, freezes: bool) -> PathBuf {
    let mut random = Random(28);
    let mut ios = Vec::new();
    let mut at = 0.0;
    while at < 30e9 {
        at += random.gap(2e6);
        let pages = if random.bits() % 5 < 4 { 2048 / 5 } else { 2048 };
        ios.push(io(at, Kind::Read, random.bits() % pages * 8192, 8192));
    }
    let (mut at, mut log) = (0.0, 1 << 40);
    while at < 30e9 {
        at += random.gap(1e7);
        ios.push(io(at, Kind::DurableWrite, log, 4096));
        log += 4096;
    }
    if freezes {
        let period = 10_000_000_000;
        let late = |io: &Io| period - io.issued_ns % period;
        for io in ios.iter_mut().filter(|io| late(io) <= 2_000_000_000) {
            io.issued_ns += late(io);
        }
    }
    ios.sort_by_key(|io| io.issued_ns);
    let path = directory.join("t.iotrace");
    let mut writer = Writer::new(File::create(&path).unwrap(), &Header::default()).unwrap();
    for io in ios {
        writer.write(io).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn model(trace: &Path, output: &Path) -> Result<TraceModel, JobError> {
    let (mut sink, stop) = (Reader::default(), AtomicBool::new(false));
    let permissions = Permissions::default();
    let mut session = Session { permissions, recording: None, sink: &mut sink, stop: &stop };
    let part = PartPlan::new(trace, None, None);
    show_trace(trace, Some(ModelRequest { part: &part, output }), &mut session)?;
    let Some(Document::Model(document)) = sink.0 else { panic!("a model") };
    assert_eq!(document.warnings.is_empty(), document.conclusion.stands, "{:?}", document.warnings);
    Ok(document.conclusion)
}

#[test]
fn a_load_of_independent_users_is_matched_and_the_file_is_that_workload() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("t.toml");
    let found = model(&trace(directory.path(), false), &output).unwrap();
    let file: Workload = fs::read_to_string(&output).unwrap().parse().unwrap();
    assert_eq!(file, found.workload);
    assert_eq!(file.violations(), []);
    let [reads, log] = file.streams.as_slice() else { panic!("{:?}", file.streams) };
    assert_eq!((reads.write_percent, reads.pattern), (0, Pattern::Random));
    let Distribution::Hot { span_percent, .. } = reads.distribution else { panic!("{reads:?}") };
    assert!((15.0..30.0).contains(&span_percent), "{span_percent}");
    assert_eq!((log.pattern, log.durable, log.sync), (Pattern::Sequential, true, None));
    assert_eq!(found.devices.len(), 3);
    let kinds: Vec<CapturedOp> = found.devices[0].classes.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [CapturedOp::Read, CapturedOp::DurableWrite, CapturedOp::LogWrite]);
    assert!(found.stands, "{} {:?}", found.sentence, found.devices);
    assert!(found.sentence.starts_with("The model stands for the trace."), "{}", found.sentence);
}

#[test]
fn what_a_workload_cannot_express_is_said_and_other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (trace, output) = (trace(directory.path(), true), directory.path().join("t.toml"));
    let found = model(&trace, &output).unwrap();
    assert!(!found.stands);
    assert!(found.sentence.contains("replay the trace instead"), "{}", found.sentence);
    model(&trace, &output).unwrap();
    fs::write(&output, "seconds = 3\n").unwrap();
    let refused = model(&trace, &output).unwrap_err().to_string();
    assert!(refused.contains("t.toml"), "{refused}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "seconds = 3\n");
}
