//! A workload is made of a trace, and its quality is measured: a load that a workload can express
//! is matched, and one that it cannot is refused in words.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{Event, JobError, ModelRequest, PartPlan, Session, Sink, show_trace};
use results::{CapturedOp, Document, ModelledArrivals, ModelledClass, TraceModel};
use trace::{Header, Io, Kind, Writer};
use workload::{Distribution, Pattern, RateLimit, Workload};

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
/// appends per second to a log.
fn independent() -> Vec<Io> {
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
    ios
}

/// A database for so many seconds. It reads, most in the first three of every ten seconds. It
/// appends to its log in groups, by durable writes or with a flush after four of five. Every 5 s it
/// writes 200 pages within half a second.
fn database(seconds: f64, flushes: bool) -> Vec<Io> {
    let mut random = Random(7);
    let mut ios = Vec::new();
    let mut at = 0.0;
    while at < seconds * 1e9 {
        let busy = at % 10e9 < 3e9;
        at += random.gap(if busy { 4e6 } else { 8e6 });
        ios.push(io(at, Kind::Read, random.bits() % 4096 * 8192, 8192));
    }
    let (mut at, mut log) = (0.0, 1u64 << 40);
    while at < seconds * 1e9 {
        let busy = at % 10e9 < 3e9;
        at += random.gap(if busy { 12e6 } else { 15e6 });
        for number in 0..=random.bits() % 4 {
            let moment = at + number as f64 * 200_000.0;
            let kind = if flushes { Kind::Write } else { Kind::DurableWrite };
            ios.push(io(moment, kind, log, 8192));
            log += 8192;
            if flushes && random.bits() % 5 < 4 {
                ios.push(io(moment + 100_000.0, Kind::Flush, 0, 0));
            }
        }
    }
    let mut checkpoint = 2e9;
    while checkpoint + 1e9 < seconds * 1e9 {
        for _ in 0..200 {
            let moment = checkpoint + (random.bits() % 500_000_000) as f64;
            ios.push(io(moment, Kind::Write, (4096 + random.bits() % 4096) * 8192, 8192));
        }
        checkpoint += 5e9;
    }
    ios
}

fn trace(directory: &Path, mut ios: Vec<Io>) -> PathBuf {
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
    let mut session =
        Session { permissions, recording: None, sink: &mut sink, stop: &stop, resumed: None };
    let part = PartPlan::new(trace, None, None);
    show_trace(trace, Some(ModelRequest { part: &part, output, overwrite: false }), &mut session)?;
    let Some(Document::Model(document)) = sink.0 else { panic!("a model") };
    assert_eq!(document.warnings.is_empty(), document.conclusion.stands, "{:?}", document.warnings);
    Ok(document.conclusion)
}

#[test]
fn a_load_of_independent_users_is_matched_and_the_file_is_that_workload() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("t.toml");
    let found = model(&trace(directory.path(), independent()), &output).unwrap();
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

/// Counts in windows carry what a mean rate does not have: peaks that last seconds, checkpoints and
/// groups of commits. A part of 200 s has more windows than a file, and some stand for others.
#[test]
fn a_load_with_peaks_is_matched_by_its_counts_in_windows() {
    for seconds in [40.0, 200.0] {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("t.toml");
        let found = model(&trace(directory.path(), database(seconds, false)), &output).unwrap();
        // The slowest hundredth of 1,600 writes is 16 of them, so chance decides about the p99.
        let allowed =
            |class: &ModelledClass| class.demerit.is_some_and(|demerit| demerit <= class.at_most);
        for device in &found.devices[..2] {
            assert!(device.classes.iter().all(allowed), "{device:?}");
        }
        // On the disk, whose service times are exponential, it decides about a few checkpoints.
        let near = |class: &ModelledClass| class.demerit.is_some_and(|demerit| demerit < 0.8);
        assert!(found.devices[2].classes.iter().all(near), "{:?}", found.devices[2]);
        let windows = matches!(found.arrivals, ModelledArrivals::Windows { .. });
        assert!(windows, "{:?}", found.arrivals);
        let text = fs::read_to_string(&output).unwrap();
        assert!(text.len() < 600_000, "{}", text.len());
        let file: Workload = text.parse().unwrap();
        assert_eq!((&file, file.violations()), (&found.workload, Vec::new()));
        for (stream, stands_for) in file.streams.iter().zip(&found.streams) {
            let profile = stream.rate_profile.as_ref().unwrap();
            let length_s = profile.whole().0 as f64 * profile.window_ns.seconds();
            assert!((length_s - seconds).abs() < 2.0, "{length_s}");
            let RateLimit::Iops(iops) = stream.rate.unwrap().limit else { panic!("{stream:?}") };
            assert!((iops * file.seconds / stands_for.ios as f64 - 1.0).abs() < 0.01);
        }
    }
}

/// A stream flushes after each of its writes, and there are as many of these as the trace has
/// flushes.
#[test]
fn as_many_writes_are_flushed_as_the_trace_has_flushes() {
    let directory = tempfile::tempdir().unwrap();
    let ios = database(40.0, true);
    let of = |kind| ios.iter().filter(|io| io.kind == kind).count() as u64;
    let (writes, flushes) = (of(Kind::Write), of(Kind::Flush));
    let output = directory.path().join("t.toml");
    let found = model(&trace(directory.path(), ios), &output).unwrap();
    let streams: Vec<_> = found.streams.iter().map(|s| (s.name.as_str(), s.flushes)).collect();
    let expected = [("reads", 0), ("data writes", 0), ("log, flushed", flushes), ("log", 0)];
    assert_eq!(streams, expected);
    assert_eq!(found.streams[1..].iter().map(|s| s.ios).sum::<u64>(), writes);
    for stream in &found.workload.streams {
        assert_eq!(
            stream.sync.map(|sync| sync.every_writes),
            stream.name.contains("flushed").then_some(1)
        );
    }
}

/// 64 reads at the same moment, every 10 ms.
#[test]
fn what_a_workload_cannot_express_is_said_and_other_files_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let batch =
        |number: u64| io((number / 64) as f64 * 1e7, Kind::Read, number * 7919 % 2048 * 8192, 8192);
    let trace = trace(directory.path(), (0..64 * 1000).map(batch).collect());
    let output = directory.path().join("t.toml");
    let found = model(&trace, &output).unwrap();
    assert!(!found.stands, "{:?}", found.devices);
    assert!(found.sentence.contains("replay the trace instead"), "{}", found.sentence);
    model(&trace, &output).unwrap();
    fs::write(&output, "seconds = 3\n").unwrap();
    let refused = model(&trace, &output).unwrap_err().to_string();
    assert!(refused.contains("t.toml"), "{refused}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "seconds = 3\n");
}
