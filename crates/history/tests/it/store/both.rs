//! What a history does, on a file and on a server.

use std::path::PathBuf;

use history::{
    Added, By, Entry, Filter, History, HistoryError, LiveRun, Order, Page, Place, State,
};
use results::{Document, Measurement, Status};

use crate::store::made::{environment, full, measurement, new, runs};
use crate::store::server::server;

/// Does the same on both.
fn on_both(test: impl Fn(&Place)) {
    let directory = tempfile::tempdir().unwrap();
    test(&Place::File(directory.path().join("history.db")));
    test(&server().place().0);
}

fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

fn three() -> Vec<Measurement> {
    (0..3).map(|n| full(&format!("m{n}"), 1000.0 + f64::from(n) / 3.0)).collect()
}

#[test]
fn a_result_is_given_back_as_it_was() {
    on_both(|place| {
        let history = History::open(place).unwrap();
        let document = runs("01-a", "2026-11-21T12:00:00Z", three());
        assert_eq!(history.add(&document).unwrap(), Added::New);
        assert_eq!(history.add(&document).unwrap(), Added::AlreadyThere);
        drop(history);
        let history = History::open_existing(place).unwrap();
        assert_eq!(history.document("01-a").unwrap().unwrap(), document);
        assert_eq!(history.documents("01-a").unwrap(), [document]);
        assert_eq!(history.check().unwrap(), [""; 0]);
        let single = Document::Measurement(Box::new(full("01-b", 5.0)));
        history.add(&single).unwrap();
        assert_eq!(history.document("01-b").unwrap().unwrap(), single);
        let entry = history.find("01-b").unwrap();
        assert_eq!(entry.finished.as_deref(), Some("2026-11-21T12:00:01Z"));
        assert_eq!(history.document("none").unwrap(), None);
    });
}

#[test]
fn what_was_kept_on_the_way_is_not_kept_twice_and_gives_the_same_result() {
    on_both(|place| {
        let history = History::open(place).unwrap();
        let all = three();
        let document = runs("e", "2026-11-21T12:00:00Z", all.clone());
        history.begin(&new("e", "p", "2026-11-21T12:00:00Z")).unwrap();
        history.keep("e", 7, &all[1]).unwrap();
        // The result says something else of the first one in the end.
        history.keep("e", 0, &full("m0", 1.0)).unwrap();
        assert_eq!(history.document("e").unwrap(), None);
        assert_eq!(history.documents("e").unwrap().len(), 2);
        history.finish(&document).unwrap();
        assert_eq!(history.document("e").unwrap().unwrap(), document);
        let cells: Vec<u32> = history.measurements("e").unwrap().iter().map(|k| k.cell).collect();
        assert_eq!(cells, [0, 2, 7]);
        assert_eq!(history.find("e").unwrap().measurements, 3);
        assert_eq!(history.check().unwrap(), [""; 0]);
    });
}

#[test]
fn the_same_id_with_other_content_is_refused_and_changes_nothing() {
    on_both(|place| {
        let history = History::open(place).unwrap();
        let document = runs("e", "2026-11-21T12:00:00Z", three());
        history.add(&document).unwrap();
        let other = runs("e", "2026-11-21T12:00:01Z", three());
        let error = history.add(&other).unwrap_err();
        assert!(matches!(error, HistoryError::Differs { .. }), "{error}");
        // Several at once are all there or none.
        let both = history.all_or_nothing(|| {
            history.add(&runs("f", "2026-11-21T12:00:00Z", three()))?;
            history.add(&other)
        });
        assert!(both.is_err());
        assert_eq!(history.document("f").unwrap(), None);
        assert_eq!(history.document("e").unwrap().unwrap(), document);
        // What is unfinished there becomes whole by a result that has it all.
        history.begin(&new("g", "p", "2026-11-21T12:00:00Z")).unwrap();
        history.keep("g", 0, &three()[0]).unwrap();
        let whole = runs("g", "2026-11-21T12:00:00Z", three());
        assert_eq!(history.add(&whole).unwrap(), Added::New);
        assert_eq!(history.document("g").unwrap().unwrap(), whole);
    });
}

fn filled(place: &Place) -> History {
    let history = History::open(place).unwrap();
    let dates = ["2026-11-21T12:00:00Z", "2026-11-22T12:00:00Z", "2026-11-23T12:00:00Z"];
    for (n, started) in dates.into_iter().enumerate() {
        history.add(&runs(&format!("ab{n}"), started, three())).unwrap();
    }
    history.begin(&new("b", "p", "2026-11-20T12:00:00Z")).unwrap();
    history.keep("b", 0, &measurement("m")).unwrap();
    history
}

#[test]
fn a_list_is_filtered_sorted_and_paged() {
    on_both(|place| {
        let history = filled(place);
        let list = |filter: &Filter| history.list(filter, Order::NEWEST, Page::ALL).unwrap();
        let found = |filter: Filter| {
            let listing = list(&filter);
            assert_eq!(listing.total, listing.entries.len() as u64, "{filter:?}");
            listing.entries.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>().join(" ")
        };
        let some = |text: &str| Some(text.to_owned());
        let all = Filter::default();
        assert_eq!(found(all.clone()), "ab2 ab1 ab0 b");
        assert_eq!(found(Filter { kind: some("run"), ..all.clone() }), "ab2 ab1 ab0");
        assert_eq!(found(Filter { host: some("db1"), ..all.clone() }), "ab2 ab1 ab0");
        assert_eq!(found(Filter { target: some("/data"), ..all.clone() }), "ab2 ab1 ab0");
        assert_eq!(found(Filter { target: some("/dat"), ..all.clone() }), "");
        assert_eq!(found(Filter { since: some("2026-11-22"), ..all.clone() }), "ab2 ab1");
        assert_eq!(found(Filter { until: some("2026-11-22"), ..all.clone() }), "ab0 b");
        assert_eq!(found(Filter { text: some("FAST random"), ..all.clone() }), "ab2 ab1 ab0");
        assert_eq!(found(Filter { text: some("fast%"), ..all.clone() }), "");
        assert_eq!(found(Filter { status: Some(State::Unfinished), ..all.clone() }), "b");
        let complete = Some(State::Ended(Status::Complete));
        assert_eq!(found(Filter { status: complete, ..all.clone() }), "ab2 ab1 ab0");
        assert_eq!(found(Filter { pattern: some("random"), ..all.clone() }), "ab2 ab1 ab0 b");
        assert_eq!(found(Filter { block_bytes: Some(4096), ..all.clone() }), "");
        let load = Filter { block_bytes: Some(8192), write_percent: Some(0), ..all.clone() };
        assert_eq!(found(load), "ab2 ab1 ab0 b");
        let conditions = results::Conditions::of(&measurement("m")).id();
        assert_eq!(
            found(Filter { conditions_id: Some(conditions), ..all.clone() }),
            "ab2 ab1 ab0 b"
        );
        history.tag("ab1", "base.line-1").unwrap();
        assert_eq!(found(Filter { tag: some("base.line-1"), ..all.clone() }), "ab1");
        let page = history.list(&all, Order::OLDEST, Page { offset: 1, limit: 2 }).unwrap();
        assert_eq!((ids(&page.entries), page.total, page.more), (vec!["ab0", "ab1"], 4, false));
        for by in [
            By::Started,
            By::Kind,
            By::Host,
            By::Target,
            By::Title,
            By::Status,
            By::FileBytes,
            By::Iops,
            By::MibPerS,
        ] {
            for rising in [false, true] {
                let order = Order { by, rising };
                assert_eq!(history.list(&all, order, Page::ALL).unwrap().entries.len(), 4);
                assert_eq!(history.loads(&all, order, Page::ALL).unwrap().len(), 10);
            }
        }
        let by_host = history.list(&all, Order { by: By::Host, rising: true }, Page::ALL).unwrap();
        assert_eq!(
            ids(&by_host.entries),
            ["ab2", "ab1", "ab0", "b"],
            "what has no host comes last"
        );
        let entry = &by_host.entries[0];
        assert_eq!(entry.best_iops, Some(1000.0 + 2.0 / 3.0));
        assert_eq!((entry.device.as_deref(), entry.targets.as_str()), (Some("Fast 9000"), "/data"));
    });
}

#[test]
fn loads_are_the_columns_of_the_measurements() {
    on_both(|place| {
        let history = filled(place);
        let filter = Filter { experiment_id: Some("ab0".to_owned()), ..Filter::default() };
        let loads = history.loads(&filter, Order::OLDEST, Page::ALL).unwrap();
        let expected: Vec<_> = three()
            .iter()
            .zip(0..)
            .map(|(m, cell)| history::Load::of(m, "ab0", "run", cell))
            .collect();
        assert_eq!(loads, expected);
        assert_eq!(loads[0].latency_mean_ns, Some(1e6 / 7.0));
        assert_eq!(loads[0].load, "8 KiB random read");
    });
}

#[test]
fn a_result_is_found_by_what_is_clear() {
    on_both(|place| {
        let history = filled(place);
        assert_eq!(history.find("latest").unwrap().id, "ab2");
        assert_eq!(history.find("b").unwrap().id, "b");
        assert_eq!(history.find("ab1").unwrap().id, "ab1");
        match history.find("a").unwrap_err() {
            HistoryError::Ambiguous { candidates, .. } => {
                assert_eq!(candidates, ["ab2", "ab1", "ab0"]);
            }
            other => panic!("{other}"),
        }
        for absent in ["", "c", "%", "AB1", "@none"] {
            let error = history.select(absent).unwrap_err();
            assert!(matches!(error, HistoryError::NotFound { .. }), "{error}");
        }
        history.tag("ab2", "t").unwrap();
        history.tag("ab0", "t").unwrap();
        assert_eq!(ids(&history.select("@t").unwrap()), ["ab0", "ab2"]);
        assert_eq!(ids(&history.select("ab1").unwrap()), ["ab1"]);
    });
}

#[test]
fn marks_are_made_and_go_with_their_result() {
    on_both(|place| {
        let history = filled(place);
        assert!(history.tag("ab0", "one").unwrap());
        assert!(!history.tag("ab0", "one").unwrap(), "it has it already");
        history.tag("ab0", "änderung_2.0").unwrap();
        for bad in ["", "a b", "a,b", "@a", "a\n", &"x".repeat(65)] {
            let error = history.tag("ab0", bad).unwrap_err();
            assert!(matches!(error, HistoryError::BadTag { .. }), "{error}");
        }
        history.note("ab0", "after the new firmware;\nsee ticket 7 'quoted'").unwrap();
        history.note("ab0", "second").unwrap();
        let notes = history.notes("ab0").unwrap();
        assert_eq!(notes[0].text, "after the new firmware;\nsee ticket 7 'quoted'");
        assert_eq!(notes[1].text, "second");
        let entry = history.find("ab0").unwrap();
        assert_eq!((entry.tags.len(), entry.notes), (2, 2));
        assert_eq!(
            history.tags().unwrap(),
            [("one".to_owned(), 1), ("änderung_2.0".to_owned(), 1)]
        );
        assert!(history.untag("ab0", "one").unwrap());
        assert!(!history.untag("ab0", "one").unwrap());
        assert_eq!(history.delete("ab0").unwrap().measurements, 3);
        assert!(matches!(history.notes("ab0").unwrap_err(), HistoryError::NotFound { .. }));
        assert!(matches!(history.delete("ab0").unwrap_err(), HistoryError::NotFound { .. }));
        assert_eq!(history.tags().unwrap(), []);
        assert_eq!(history.list(&Filter::default(), Order::NEWEST, Page::ALL).unwrap().total, 3);
        assert_eq!(history.check().unwrap(), [""; 0]);
    });
}

#[test]
fn one_process_at_a_time_holds_an_experiment() {
    on_both(|place| {
        let (here, there) = (History::open(place).unwrap(), History::open(place).unwrap());
        let hold = here.hold("e/../x").unwrap();
        let error = there.hold("e/../x").unwrap_err();
        assert!(matches!(error, HistoryError::Held { .. }), "{error}");
        let another = there.hold("f").unwrap();
        drop(hold);
        drop(there.hold("e/../x").unwrap());
        drop(another);
        if let Place::File(path) = place {
            let names: Vec<PathBuf> = std::fs::read_dir(path.parent().unwrap())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.to_str().unwrap().contains("held"))
                .collect();
            assert!(names.is_empty(), "{names:?} are left behind");
        }
    });
}

fn live(id: &str) -> LiveRun {
    LiveRun {
        id: id.to_owned(),
        kind: "run".to_owned(),
        title: "8 KiB random read".to_owned(),
        host: None,
        targets: "sim".to_owned(),
        started: "2026-11-21T12:00:00Z".to_owned(),
        updated: String::new(),
        silent_seconds: 0.0,
        ended: false,
    }
}

#[test]
fn a_run_is_seen_while_it_runs() {
    on_both(|place| {
        let (runs, watches) = (History::open(place).unwrap(), History::open(place).unwrap());
        runs.live_begin(&live("r")).unwrap();
        runs.live_event("r", "{\"n\":1}").unwrap();
        runs.live_event("r", "{\"n\":2}").unwrap();
        runs.live_beat("r").unwrap();
        let seen = watches.live_runs().unwrap();
        assert_eq!((seen.len(), seen[0].id.as_str(), seen[0].ended), (1, "r", false));
        assert!(seen[0].silent_seconds < 15.0 && !seen[0].lost());
        assert!(seen[0].updated.starts_with("20"), "{}", seen[0].updated);
        let events = watches.live_events("r", 0).unwrap();
        assert_eq!(events.iter().map(|e| e.number).collect::<Vec<_>>(), [1, 2]);
        let events = watches.live_events("r", 1).unwrap();
        assert_eq!(events[0].event, "{\"n\":2}");
        runs.live_end("r").unwrap();
        assert_eq!(watches.live_runs().unwrap(), []);
        assert!(watches.live_run("r").unwrap().unwrap().ended, "who watched it learns that");
        runs.live_begin(&live("r")).unwrap();
        assert_eq!(watches.live_events("r", 0).unwrap(), [], "a run of the same name begins anew");
    });
}

#[test]
fn a_copy_has_everything() {
    on_both(|place| {
        let history = filled(place);
        history.tag("ab1", "t").unwrap();
        history.note("ab1", "n").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("copy.db");
        history.backup(&path).unwrap();
        let copy = History::open_existing(&Place::File(path.clone())).unwrap();
        assert_eq!(copy.document("ab1").unwrap(), history.document("ab1").unwrap());
        assert_eq!(copy.find("ab1").unwrap(), history.find("ab1").unwrap());
        assert_eq!(copy.notes("ab1").unwrap(), history.notes("ab1").unwrap());
        assert_eq!(copy.measurements("b").unwrap(), history.measurements("b").unwrap());
        assert_eq!(copy.check().unwrap(), [""; 0]);
        let error = history.backup(&path).unwrap_err();
        assert!(matches!(error, HistoryError::Exists { .. }), "{error}");
    });
}

#[test]
fn a_set_up_is_one_row_however_its_memory_and_space_change() {
    on_both(|place| {
        let history = History::open(place).unwrap();
        let mut later = full("m1", 2.0);
        later.environment.host.as_mut().unwrap().memory_available_bytes += 4096;
        let system = later.environment.storage[0].file_system.as_mut().unwrap();
        (system.available_bytes, system.used_percent) = (7, 99.9);
        later.environment.storage[0].findings.clear();
        let mut other = full("m2", 3.0);
        other.environment.storage[0].devices[0].firmware = Some("F8".to_owned());
        let document = runs("e", "2026-11-21T12:00:00Z", vec![full("m0", 1.0), later, other]);
        history.add(&document).unwrap();
        assert_eq!(history.document("e").unwrap().unwrap(), document);
        let Place::File(path) = place else { return };
        let sqlite = rusqlite::Connection::open(path).unwrap();
        let count = |table: &str| -> u32 {
            let sql = format!("SELECT count(*) FROM {table}");
            sqlite.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((count("environments"), count("environment_storage")), (2, 2));
        assert_eq!(environment().storage.len(), 1);
        history.delete("e").unwrap();
        assert_eq!((count("environments"), count("environment_storage")), (0, 0));
    });
}

/// As a DBA asks, through the programs of the databases.
#[test]
fn the_classic_columns_are_the_same_on_both() {
    const PARSE: &str = "SELECT Kind, Threads, Seconds, Drive, Stripe, Outstanding, Size, IOs, \
                         MBs, Latency_min, Latency_avg, Latency_max FROM sqlio_parse WHERE IOs = \
                         640";
    const PASS: &str = "SELECT ServerName, DriveQty, DriveRPM, DriveRaidLevel, TestDate, \
                        SANmodel, SANfirmware, PartitionOffset, Filesystem, FSClusterSizeBytes, \
                        SQLIO_Version, Threads, ReadOrWrite, DurationSeconds, SectorSizeKB, \
                        IOpattern, IOsOutstanding, Buffering, FileSizeMB, IOs_Sec, MBs_Sec, \
                        LatencyMS_Min, LatencyMS_Max FROM sqlio_testpass WHERE IOs_Sec = 640";
    let document = Document::Measurement(Box::new(full("m", 640.0)));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    History::open(&Place::File(path.clone())).unwrap().add(&document).unwrap();
    let sqlite = rusqlite::Connection::open(path).unwrap();
    let (place, database) = server().place();
    History::open(&place).unwrap().add(&document).unwrap();
    for sql in [PARSE, PASS] {
        let row = sqlite.query_row(sql, [], |row| {
            let columns = row.as_ref().column_count();
            let text = |column| -> rusqlite::Result<String> {
                Ok(match row.get::<_, rusqlite::types::Value>(column)? {
                    rusqlite::types::Value::Null => String::new(),
                    rusqlite::types::Value::Integer(number) => number.to_string(),
                    rusqlite::types::Value::Real(number) => number.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Blob(_) => "a blob".to_owned(),
                })
            };
            (0..columns).map(text).collect::<rusqlite::Result<Vec<_>>>()
        });
        let row = row.unwrap().join("|");
        let answer = server().psql(&database, &format!("SET search_path = iosonde; {sql}"));
        assert_eq!(row, answer);
        if sql == PARSE {
            assert_eq!(row, "R|1|1|sim|random|1|8|640|5|0.09|0.14285714285714288|2");
        }
    }
    // Mixed loads have the names that the CSV of a sweep has for them.
    let mut mixed = full("n", 641.0);
    mixed.workload.streams[0].write_percent = 30;
    let mixed = Document::Measurement(Box::new(mixed));
    History::open(&place).unwrap().add(&mixed).unwrap();
    History::open(&Place::File(directory.path().join("history.db"))).unwrap().add(&mixed).unwrap();
    let sql = "SELECT Kind FROM sqlio_parse WHERE IOs = 641";
    assert_eq!(sqlite.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap(), "W30");
    let answer = server().psql(&database, &format!("SET search_path = iosonde; {sql}"));
    assert_eq!(answer, "W30");
}
