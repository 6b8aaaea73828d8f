//! What was kept of a measurement stays, whatever becomes of the result that it belongs to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use history::{Added, Chosen, Format, History, LiveRun, NewExperiment, Place};
use results::{Document, Measurement, ThreadPoint, ThreadResult};

use crate::store::made::{full, new, runs};
use crate::store::server::server;

const STARTED: &str = "2026-11-21T12:00:00Z";

fn on_both(test: impl Fn(&Place)) {
    let directory = tempfile::tempdir().unwrap();
    test(&Place::File(directory.path().join("history.db")));
    test(&server().place().0);
}

fn export(history: &History) -> Vec<u8> {
    let mut out = Vec::new();
    history.export(&Chosen::Fitting(Box::default()), Format::JsonLines, &mut out).unwrap();
    out
}

/// Measurements with all that was found, and a result that shows less of them, as a sweep does.
fn more_and_less() -> (Vec<Measurement>, Document) {
    let with_threads = |n: u32| {
        let mut m = full(&format!("m{n}"), 1000.0 + f64::from(n));
        let total = m.total.clone();
        m.threads_detail = vec![ThreadResult {
            stream: "main".to_owned(),
            target: 0,
            thread: n,
            achieved_depth: 1.0,
            cpu_percent: None,
            read: total.clone(),
            write: total.clone(),
            sync: total.clone(),
            total,
            series: vec![ThreadPoint { t: 1.0, seconds: 1.0, ..ThreadPoint::default() }],
        }];
        m
    };
    let all: Vec<Measurement> = (0..3).map(with_threads).collect();
    let slim = |m: &Measurement| {
        let mut m = m.clone();
        m.threads_detail.clear();
        m.streams[0].total.histogram = None;
        m.streams[0].read.histogram = None;
        m
    };
    let document = runs("e", STARTED, all.iter().map(slim).collect());
    (all, document)
}

fn kept(history: &History) -> Vec<Measurement> {
    history.measurements("e").unwrap().into_iter().map(|k| k.measurement).collect()
}

/// A finished sweep had lost the figures of its threads, and the histograms of its streams and
/// targets: its result shows its cells without them, and what it showed took the place of what was
/// kept.
#[test]
fn a_result_that_shows_less_takes_nothing_away() {
    on_both(|place| {
        let (all, document) = more_and_less();
        let history = History::open(place).unwrap();
        let (schema, kind) = (document.schema(), document.kind());
        history.begin(&NewExperiment { schema, kind, ..new("e", "p", STARTED) }).unwrap();
        for (cell, measurement) in (0..).zip(&all).take(2) {
            history.keep("e", cell, measurement).unwrap();
        }
        // The result as it was printed, into a history that was killed before the end: the last
        // cell is not there.
        let whole = |history: &History| {
            assert_eq!(kept(history)[..2], all[..2]);
            assert_eq!(history.document("e").unwrap().unwrap(), document);
            assert_eq!(history.check().unwrap(), [""; 0]);
        };
        assert_eq!(history.add(&document).unwrap(), Added::New);
        whole(&history);
        history.finish(&document).unwrap();
        whole(&history);
        assert_eq!(history.add(&document).unwrap(), Added::AlreadyThere);
        let text = export(&history);
        let directory = tempfile::tempdir().unwrap();
        let copy = History::open(&Place::File(directory.path().join("copy.db"))).unwrap();
        copy.import(text.as_slice()).unwrap();
        whole(&copy);
        assert_eq!(copy.measurements("e").unwrap(), history.measurements("e").unwrap());
        assert_eq!(export(&copy), text);
    });
}

/// A sweep that was interrupted, continued and was then killed gave only what it had before it
/// continued.
#[test]
fn what_goes_on_gives_all_that_is_kept_of_it() {
    on_both(|place| {
        let (all, _) = more_and_less();
        let history = History::open(place).unwrap();
        history.add(&runs("e", STARTED, all[..1].to_vec())).unwrap();
        history.go_on("e").unwrap();
        history.keep("e", 1, &all[1]).unwrap();
        assert_eq!(history.documents("e").unwrap().len(), 2);
        history.finish(&runs("e", STARTED, all[..2].to_vec())).unwrap();
        assert_eq!(history.documents("e").unwrap(), [runs("e", STARTED, all[..2].to_vec())]);
        assert_eq!(kept(&history), all[..2]);
    });
}

/// A measurement without its document was passed over, where the experiment had no result that
/// names it.
#[test]
fn a_measurement_that_lost_its_document_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let history = History::open(&Place::File(path.clone())).unwrap();
    history.begin(&new("e", "p", STARTED)).unwrap();
    history.keep("e", 0, &full("m0", 1.0)).unwrap();
    let damage = rusqlite::Connection::open(path).unwrap();
    damage.execute("DELETE FROM measurement_documents", []).unwrap();
    let wrong = history.check().unwrap();
    assert!(wrong.iter().any(|line| line.contains("`e`") && line.contains("1 ")), "{wrong:?}");
}

/// A copy of a large history never came to its end while something ran: whatever another process
/// wrote began it anew.
#[test]
fn a_copy_comes_to_its_end_while_others_write() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::File(directory.path().join("history.db"));
    let history = History::open(&place).unwrap();
    history.add(&Document::Measurement(Box::new(full("e", 1.0)))).unwrap();
    // Several times what is copied between two breaths.
    history.note("e", &"x".repeat(24 << 20)).unwrap();
    let (begun, copied) = (AtomicBool::new(false), AtomicBool::new(false));
    let whole = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let other = History::open(&place).unwrap();
            let since = Instant::now();
            while !copied.load(Ordering::SeqCst) && since.elapsed() < Duration::from_secs(60) {
                other.live_beat("nobody").unwrap();
                other.tag("e", "a").unwrap();
                other.untag("e", "a").unwrap();
                begun.store(true, Ordering::SeqCst);
            }
            copied.load(Ordering::SeqCst)
        });
        while !begun.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        history.backup(&directory.path().join("copy.db")).unwrap();
        copied.store(true, Ordering::SeqCst);
        writer.join().unwrap()
    });
    assert!(whole, "others wrote to the end, and the copy did not wait for theirs");
}

/// The log of a run of a day grew to a gigabyte: nobody moved it into the file before the end.
#[test]
fn the_log_does_not_grow_with_what_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let history = History::open(&Place::File(path.clone())).unwrap();
    history
        .live_begin(&LiveRun {
            id: "r".to_owned(),
            kind: "run".to_owned(),
            title: "t".to_owned(),
            host: None,
            targets: "/data".to_owned(),
            started: STARTED.to_owned(),
            updated: String::new(),
            silent_seconds: 0.0,
            ended: false,
        })
        .unwrap();
    let log = || std::fs::metadata(directory.path().join("history.db-wal")).unwrap().len();
    let show = |count: u32| (0..count).for_each(|_| history.live_event("r", "{}").unwrap());
    show(2000);
    let first = log();
    show(6000);
    assert!(log() < 2 * first, "{first} bytes grew to {}", log());
}
