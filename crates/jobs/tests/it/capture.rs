//! Traces of other tools are brought in and shown; what is refused leaves things as they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use history::{History, Place};
use jobs::{
    Event, ImportRequest, JobError, Recording, Session, Sink, TraceFormat, anonymise_trace,
    import_trace, show_trace,
};
use results::{
    Capture, CaptureEnding, CapturedClass, CapturedFiles, CapturedOp, CapturedPattern,
    CapturedPurpose, CapturedSpan, Document, Experiment,
};
use trace::{
    DatabaseUse, DeviceFacts, FileClass, FileExtent, Header, Io, Kind, Moment, TraceError,
    TracedFile, Writer,
};

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
    import_trace(&ImportRequest { files, output, overwrite: false, format })
        .map(|lines| lines.join("\n"))
}

fn show(
    trace: &Path,
    recording: Option<&Recording>,
) -> Result<(Box<Experiment<Capture>>, usize), JobError> {
    let (mut sink, stop) = (Reader::default(), AtomicBool::new(false));
    let permissions = Permissions::default();
    let mut session =
        Session { permissions, recording, sink: &mut sink, stop: &stop, resumed: None };
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

/// Two reads within 2 ms of ten seconds that were recorded, on a disk of 1 TiB.
fn recorded(path: &Path, until_ns: Option<u64>) -> Result<(), TraceError> {
    let device = DeviceFacts { size_bytes: Some(1 << 40), write_back: Some(true) };
    let header = Header {
        source: "ebpf".to_owned(),
        devices: vec![device],
        began_unix_ms: Some(1_795_262_400_123),
        recorded_from_ns: Some(0),
    };
    let mut writer = Writer::new(fs::File::create(path)?, &header)?;
    for i in 0..2 {
        let (issued_ns, latency_ns) = (5_000_000_000 + i * 1_000_000, Some(1_000_000));
        let (offset_bytes, length_bytes) = ((1 << 39) + i * 8192, 8192);
        let (device, stream, kind) = (0, 0, Kind::Read);
        let io = Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind };
        writer.write(io)?;
    }
    writer.lost(3)?;
    match until_ns {
        Some(ns) => {
            writer.recorded_until(ns);
            writer.finish().map(drop)
        }
        None => writer.flush(),
    }
}

#[test]
fn the_length_of_a_recording_is_shown_as_far_as_it_is_known() {
    let place = tempfile::tempdir().unwrap();
    let trace = place.path().join("t.iotrace");
    for (until_ns, span, seconds) in [
        (Some(10_000_000_000), CapturedSpan::Recorded, 10.0),
        (None, CapturedSpan::BeginToLast, 5.002),
    ] {
        recorded(&trace, until_ns).unwrap();
        let (document, _) = show(&trace, None).unwrap();
        let c = &document.conclusion;
        assert_eq!((c.span, c.seconds, c.ios), (span, seconds, 2));
    }
}

#[test]
fn an_anonymous_copy_keeps_what_matters() {
    let place = tempfile::tempdir().unwrap();
    let (trace, copy) = (place.path().join("t.iotrace"), place.path().join("c.iotrace"));
    recorded(&trace, Some(10_000_000_000)).unwrap();
    let said = anonymise_trace(&trace, &copy, false).unwrap().join("\n");
    assert!(said.contains("2 I/Os, in 1 group of regions of 1 MiB"), "{said}");
    let (before, after) = (show(&trace, None).unwrap().0, show(&copy, None).unwrap().0);
    assert_ne!(before.started, after.started, "the date is in the copy");
    let (before, after) = (before.conclusion, after.conclusion);
    // Only the part that is used is left of the disk.
    assert_eq!((after.devices[0].size_bytes, after.devices[0].end_bytes), (Some(1 << 20), 16_384));
    assert_eq!(after, Capture { devices: after.devices.clone(), ..before });
    assert_eq!(after.lost_ios, 3);
    // One that is cut off stays so, and what is not a trace is refused.
    recorded(&trace, None).unwrap();
    assert!(
        anonymise_trace(&trace, &copy, false).unwrap().join("\n").contains("stops before its end")
    );
    assert_eq!(show(&copy, None).unwrap().0.conclusion.ending, CaptureEnding::Cut);
    fs::write(&trace, "something else").unwrap();
    let refused = anonymise_trace(&trace, &copy, false).unwrap_err().to_string();
    assert!(refused.contains("not an .iotrace file"), "{refused}");
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
    assert!(refused.contains("theirs-2.csv"), "{refused}");
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

/// Formats are known by their beginning, with a heading or without.
#[test]
fn the_formats_of_public_traces_are_recognised() {
    let place = tempfile::tempdir().unwrap();
    let etw = "BeginHeader\n DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, \
               ByteOffset, IOSize, ElapsedTime, DiskNum\nEndHeader\nDiskRead, 100, a (1), 2, 0x3, \
               0x1000, 0x200, 40, 0\nDiskRead, 10, a (1), 2, 0x3, 0x1000, 0x200, 40, 0\n";
    let systor = "1456095145.1,0.0008,R,0,4096,512\n1456095145.2,,,0,4096,512\n";
    let heading = format!("Timestamp,Response,IOType,LUN,Offset,Size\n{systor}");
    for (text, source, note) in [
        (etw, "etw", "1 I/O left out: each began before the trace"),
        (systor, "systor", "1 I/O left out: each had no answer"),
        (heading.as_str(), "systor", "1 I/O left out: each had no answer"),
        ("0,8,512,r,0.55,x,y\n", "spc", ""),
    ] {
        let (file, trace) = (place.path().join("t.txt"), place.path().join("t.iotrace"));
        fs::write(&file, text).unwrap();
        let said = import(&[file], &trace, None).unwrap();
        assert!(said.contains("1 I/O on 1 device") && said.contains(note), "{said}");
        let c = show(&trace, None).unwrap().0.conclusion;
        assert_eq!((c.source.as_str(), c.kinds[0].kind), (source, CapturedOp::Read));
        assert_eq!((c.kinds[0].bytes, c.devices[0].end_bytes), (512, 4608), "{source}");
    }
    // Times of whole seconds, as Tencent has them.
    let file = place.path().join("tencent");
    fs::write(&file, "1538323200,12910952,128,0,1063\n").unwrap();
    assert!(import(&[file], &place.path().join("x"), None).is_err());
}

/// A log file of 8 MiB, data of 8 MiB after it, and the journal of the file system beyond both. The
/// log is written in pieces that share no flush, so that only its file gives it away.
fn with_files(path: &Path) -> Result<(), TraceError> {
    const MIB: u64 = 1 << 20;
    let header = Header { source: "ebpf".to_owned(), ..Header::default() };
    let mut writer = Writer::with_annexes(fs::File::create(path)?, &header)?;
    let named = |class, name: &str| TracedFile { class, name: Some(name.to_owned()) };
    let extent = |file, at: u64| FileExtent {
        device: 0,
        file,
        offset_bytes: at * MIB,
        length_bytes: 8 * MIB,
    };
    let (log, data) = (named(FileClass::Log, "/db/pg_wal/1"), named(FileClass::Data, "/db/t.ibd"));
    writer.files(&[log, data])?;
    writer.extents(Moment::Start, &[extent(0, 8)])?;
    for i in 0..400 {
        let (issued_ns, latency_ns) = (i * 1_000_000, Some(100_000));
        let io = Io {
            issued_ns,
            latency_ns,
            device: 0,
            stream: 0,
            offset_bytes: 16 * MIB + i * 7919 % 1000 * 8192,
            length_bytes: 8192,
            kind: if i % 2 == 0 { Kind::Write } else { Kind::Read },
        };
        writer.write(io)?;
        writer.write(Io { offset_bytes: 8 * MIB + i * 16384, kind: Kind::Write, ..io })?;
        let journal = Io { offset_bytes: 64 * MIB + i * 8192, kind: Kind::DurableWrite, ..io };
        writer.write(journal)?;
    }
    let counters = [("transactions_committed".to_owned(), 400)].into_iter().collect();
    let (product, reads) = (Some("PostgreSQL 15.3".to_owned()), Some(7));
    let counted = DatabaseUse { product, seconds: 0.5, reads, counters, ..DatabaseUse::default() };
    writer.database(&counted)?;
    writer.extents(Moment::End, &[extent(0, 8), extent(1, 16)])?;
    writer.finish().map(drop)
}

fn check_files(files: &CapturedFiles) {
    let classes: Vec<_> =
        files.classes.iter().map(|c| (c.class, c.files, c.reads, c.writes)).collect();
    let expected = [
        (CapturedClass::Log, Some(1), 0, 400),
        (CapturedClass::Data, Some(1), 200, 200),
        (CapturedClass::Outside, None, 0, 400),
    ];
    assert_eq!(classes, expected);
    assert_eq!(files.classes[1].read_latency_ns.map(|latency| latency.max), Some(100_000));
    let busiest: Vec<_> = files.files.iter().map(|f| (f.number, f.reads, f.write_bytes)).collect();
    assert_eq!(busiest, [(0, 0, 400 * 8192), (1, 200, 200 * 8192)]);
    let expected = CapturedPattern { both: 0, file_only: 400, pattern_only: 400 };
    assert_eq!(files.pattern, Some(expected));
}

#[test]
fn files_and_a_database_are_shown_and_an_anonymous_copy_has_no_names() {
    let place = tempfile::tempdir().unwrap();
    let (trace, copy) = (place.path().join("t.iotrace"), place.path().join("c.iotrace"));
    with_files(&trace).unwrap();
    let c = show(&trace, None).unwrap().0.conclusion;
    let files = c.files.as_ref().unwrap();
    check_files(files);
    assert_eq!(files.files[0].name.as_deref(), Some("/db/pg_wal/1"));
    let log = &c.writes[0];
    assert_eq!((log.purpose, log.kinds[0].ios), (CapturedPurpose::Log, 400), "by its file");
    let [database] = &c.databases[..] else { panic!("{:?}", c.databases) };
    assert_eq!((database.reads, database.counters["transactions_committed"]), (Some(7), 400));
    assert_eq!(database.product.as_deref(), Some("PostgreSQL 15.3"));
    anonymise_trace(&trace, &copy, false).unwrap();
    let anonymous = show(&copy, None).unwrap().0.conclusion;
    let files = anonymous.files.as_ref().unwrap();
    check_files(files);
    assert!(files.files.iter().all(|file| file.name.is_none()), "{files:?}");
    assert_eq!((anonymous.databases[0].reads, &anonymous.databases[0].product), (Some(7), &None));
}
