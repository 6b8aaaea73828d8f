//! Traces of other tools are brought in and shown; what is refused leaves things as they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use history::{History, Place};
use jobs::{
    Event, ImportRequest, JobError, Recording, Session, Sink, TraceFormat, import_trace, show_trace,
};
use results::{Capture, CaptureEnding, CapturedOp, Document, Experiment};

/// Takes the document and the event that it is kept.
#[derive(Default)]
struct Reader {
    document: Option<Document>,
    kept: usize,
}

impl Sink for Reader {
    fn hear(&mut self, event: &Event) {
        self.kept += usize::from(matches!(event, Event::Kept { .. }));
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.document = Some(document.clone());
        Ok(())
    }
}

fn import(
    files: &[PathBuf],
    output: &Path,
    format: Option<TraceFormat>,
) -> Result<String, JobError> {
    import_trace(&ImportRequest { files, output, format }).map(|lines| lines.join("\n"))
}

fn show(
    trace: &Path,
    recording: Option<&Recording>,
) -> Result<(Box<Experiment<Capture>>, usize), JobError> {
    let (mut sink, stop) = (Reader::default(), AtomicBool::new(false));
    let permissions = Permissions::default();
    let mut session = Session { permissions, recording, sink: &mut sink, stop: &stop };
    show_trace(trace, None, &mut session)?;
    let Some(Document::Capture(document)) = sink.document else { panic!("a capture") };
    Ok((document, sink.kept))
}

/// 30 s of MSR's lines: each 10 ms a read of 8 KiB and a write of a log.
fn msr() -> String {
    let line = |i: u64| {
        let (time, read) = (128_166_372_000_000_000 + i * 100_000, i * 7919 % 1000 * 8192);
        let log = 1 << 40 | (i * 4096);
        format!("{time},db,0,Read,{read},8192,5000\n{time},db,0,Write,{log},4096,20000\n")
    };
    (0..3000).map(line).collect()
}

#[test]
fn a_trace_is_imported_shown_and_kept_once() {
    let place = tempfile::tempdir().unwrap();
    let (csv, trace) = (place.path().join("m.csv"), place.path().join("m.iotrace"));
    fs::write(&csv, msr()).unwrap();
    let said = import(&[csv], &trace, None).unwrap();
    assert!(said.contains("I/Os on 1 device in 30 s"), "{said}");
    let history = Place::File(place.path().join("h.db"));
    let recording =
        Recording { place: history.clone(), tags: vec!["shop".to_owned()], named: None };
    let (document, kept) = show(&trace, Some(&recording)).unwrap();
    let c = &document.conclusion;
    assert_eq!((c.source.as_str(), c.ending, c.ios, kept), ("msr", CaptureEnding::Whole, 6000, 1));
    let [reads, writes] = &c.kinds[..] else { panic!("{:?}", c.kinds) };
    assert_eq!((reads.kind, reads.ios, reads.sizes[0].bytes), (CapturedOp::Read, 3000, 8192));
    assert_eq!(writes.latency_ns.unwrap().max, 2_000_000);
    assert!(c.write_sequence.unwrap().sequential_percent > 99.0);
    assert!(c.read_sequence.unwrap().sequential_percent < 1.0);
    // The hot set is what was read, and what was read fits 8 MiB.
    let locality = c.locality.as_ref().unwrap();
    assert!((locality.touched_bytes - f64::from(1000 * 8192 + 3000 * 4096)).abs() < 1.0);
    // The same trace again is the same result.
    let (again, _) = show(&trace, Some(&recording)).unwrap();
    assert_eq!(again, document);
    let history = History::open(&history).unwrap();
    assert_eq!(history.select("@shop").unwrap()[0].id, document.id);
    assert_eq!(history.document(&document.id).unwrap(), Some(Document::Capture(document)));
}

#[test]
fn a_cut_trace_is_shown_up_to_the_cut() {
    let place = tempfile::tempdir().unwrap();
    let (csv, trace) = (place.path().join("m.csv"), place.path().join("m.iotrace"));
    fs::write(&csv, msr()).unwrap();
    import(&[csv], &trace, Some(TraceFormat::Msr)).unwrap();
    let bytes = fs::read(&trace).unwrap();
    fs::write(&trace, &bytes[..bytes.len() / 2]).unwrap();
    let (document, _) = show(&trace, None).unwrap();
    let c = &document.conclusion;
    assert!(c.ending == CaptureEnding::Cut && c.ios > 1000 && c.ios < 6000, "{}", c.ios);
    assert!(document.warnings[0].contains("stops before its end"), "{:?}", document.warnings);
}

#[test]
fn what_is_refused_leaves_things_as_they_were() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = place.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let output = file("theirs.csv", "somebody else's");
    let log = file("log", "fio version 3 iolog\n1 f read 0 4096\n");
    let refused = import(std::slice::from_ref(&log), &output, None).unwrap_err().to_string();
    assert!(refused.contains("is there and no trace of iosonde"), "{refused}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "somebody else's");
    let cases = [
        ("what,is,this\n", "its format is not known"),
        ("IOTRACE\u{1}", "a trace of iosonde already"),
        ("fio version 3 iolog\n1 f read 0 4096\n2 f leap\n", "line 3"),
        ("fio version 3 iolog\n1 f add\n", "it has no I/O"),
    ];
    let output = place.path().join("new.iotrace");
    for (content, why) in cases {
        let refused = import(&[file("x", content)], &output, None).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
        assert!(!output.exists(), "{why}");
    }
    let two = [log.clone(), log];
    assert!(matches!(import(&two, &output, None), Err(JobError::Usage(_))));
    assert!(show(&two[0], None).unwrap_err().to_string().contains("not an .iotrace file"));
}
