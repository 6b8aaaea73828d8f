//! From one history into another.

use super::{export, sample};
use crate::exchange::jsonl::{About, Cell, Line};
use crate::{Chosen, Exported, Filter, Format, History, Imported, Load, Place, Rows};

struct Store {
    history: History,
    _directory: tempfile::TempDir,
}

fn empty() -> Store {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::File(directory.path().join("h.db"));
    Store { history: History::open(&place).unwrap(), _directory: directory }
}

fn imported(new: u64, completed: u64, already_there: u64) -> Imported {
    Imported { new, completed, already_there }
}

impl Store {
    fn take(&self, lines: &[Line]) -> Result<Imported, String> {
        self.history.import(export(lines).as_slice()).map_err(|e| e.to_string())
    }

    fn text(&self, chosen: &Chosen, format: Format) -> (Vec<u8>, Exported) {
        let mut out = Vec::new();
        let exported = self.history.export(chosen, format, &mut out).unwrap();
        (out, exported)
    }

    fn all(&self) -> String {
        let (out, _) = self.text(&Chosen::Fitting(Box::default()), Format::JsonLines);
        String::from_utf8(out).unwrap()
    }
}

#[test]
fn an_export_of_an_import_has_the_same_bytes() {
    let mut twice_noted = sample::line("b");
    twice_noted.about.notes.extend(sample::line("b").about.notes);
    twice_noted.about.started = "2026-11-20T00:00:00Z".to_owned();
    if let Some(results::Document::Runs(runs)) = &mut twice_noted.document {
        runs.started.clone_from(&twice_noted.about.started);
    }
    let lines = [twice_noted, sample::line("a"), sample::unfinished("c")];
    let first = empty();
    assert_eq!(first.take(&lines), Ok(imported(3, 0, 0)));
    let text = first.all();
    assert_eq!(text, String::from_utf8(export(&lines)).unwrap(), "nothing is lost or changed");
    let second = empty();
    second.history.import(text.as_bytes()).unwrap();
    assert_eq!(second.all(), text);
    assert_eq!(second.history.document("a").unwrap(), sample::line("a").document);
    assert_eq!(second.history.import(text.as_bytes()).unwrap(), imported(0, 0, 3));
    assert_eq!(second.all(), text, "a second time changes nothing");
}

#[test]
fn a_result_that_a_command_printed_is_taken_once() {
    let store = empty();
    let text = serde_json::to_string_pretty(&sample::runs("a")).unwrap();
    assert_eq!(store.history.import(text.as_bytes()).unwrap(), imported(1, 0, 0));
    assert_eq!(store.history.import(text.as_bytes()).unwrap(), imported(0, 0, 1));
    assert_eq!(store.history.document("a").unwrap(), Some(sample::runs("a")));
    let other = text.replace("\"asked\": 2", "\"asked\": 3");
    let error = store.history.import(other.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("document 1: ") && error.contains("`a`"), "{error}");
}

#[test]
fn another_result_of_the_same_name_is_named_and_nothing_is_imported() {
    let store = empty();
    store.take(&[sample::line("a")]).unwrap();
    let before = store.all();
    let mut other = sample::line("a");
    if let Some(results::Document::Runs(runs)) = &mut other.document {
        runs.measurements[1].total.ios += 1;
    }
    let error = store.take(&[sample::line("new"), other]).unwrap_err();
    assert!(error.starts_with("line 3: ") && error.contains("`a`"), "{error}");
    assert!(error.contains("the measurement of cell 1"), "{error}");
    let mut other = sample::line("a");
    if let Some(results::Document::Runs(runs)) = &mut other.document {
        runs.conclusion.asked = 9;
    }
    let error = store.take(&[sample::line("new"), other]).unwrap_err();
    assert!(error.contains("the document"), "{error}");
    assert_eq!(store.all(), before, "the line before it is not there either");
}

#[test]
fn what_is_not_whole_leaves_nothing() {
    let store = empty();
    let text = export(&[sample::line("a"), sample::line("b")]);
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let cut = lines[..3].concat();
    let error = store.history.import(cut.as_slice()).unwrap_err().to_string();
    assert!(error.starts_with("line 3: ") && error.contains("not whole"), "{error}");
    assert_eq!(store.all(), String::from_utf8(export(&[])).unwrap());
}

/// The line of an experiment of two runs that was stopped after the first.
fn begun() -> Line {
    let mut line = sample::line("a");
    line.document = None;
    (line.about.status, line.about.finished) = (None, None);
    let measurement = Some(Box::new(sample::measurement("a-m0")));
    line.about.cells = vec![Cell { number: 0, id: "a-m0".to_owned(), measurement }];
    line
}

#[test]
fn an_experiment_that_went_on_elsewhere_is_completed() {
    let store = empty();
    store.take(&[begun()]).unwrap();
    store.history.tag("a", "mine").unwrap();
    assert_eq!(store.take(&[sample::line("a")]), Ok(imported(0, 1, 0)));
    let tags = vec!["before".to_owned(), "mine".to_owned()];
    let about = About { tags, ..sample::line("a").about };
    let expected = Line { about, document: sample::line("a").document };
    assert_eq!(store.all(), String::from_utf8(export(&[expected])).unwrap());
    assert_eq!(store.take(&[begun()]), Ok(imported(0, 0, 1)), "what is further stays");
    let mut elsewhere = begun();
    let other = Some(Box::new(sample::measurement("x")));
    elsewhere.about.cells = vec![Cell { number: 7, id: "x".to_owned(), measurement: other }];
    let error = store.take(&[elsewhere]).unwrap_err();
    assert!(error.contains("each has measurements that the other has not"), "{error}");
}

#[test]
fn tables_have_a_row_for_each_measurement_and_point() {
    let store = empty();
    store.take(&[sample::line("a"), sample::unfinished("b")]).unwrap();
    let rows = |chosen: &Chosen, rows| {
        let (text, exported) = store.text(chosen, Format::Csv(rows));
        let text = String::from_utf8(text).unwrap();
        let lines = text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(exported.rows, Some(lines.len() as u64));
        lines
    };
    let all = Chosen::Fitting(Box::default());
    let loads = rows(&all, Rows::Measurements);
    assert_eq!(loads.len(), 4);
    assert!(loads[3].starts_with("b-m5,b,run,5,2026-11-21T12:00:00.123456Z,complete,0.1.0,"));
    let sqlio = "R,1,1,\"/data/ü, \
                 \"\"x\"\"\",random,1,8,0.30000000000000004,0,0.000001,0.0000003333333333333333,\
                 4503599627.370495";
    assert_eq!(rows(&Chosen::These(vec!["b".to_owned()]), Rows::Sqlio), [sqlio, sqlio]);
    let series = rows(&all, Rows::Series);
    assert_eq!(series.len(), 4);
    assert!(series[0].starts_with("a-m0,a,0,window,1,1,1000000"), "{}", series[0]);
    let none = Filter { block_bytes: Some(4096), ..Filter::default() };
    assert!(rows(&Chosen::Fitting(Box::new(none)), Rows::Measurements).is_empty());
}

#[test]
fn no_column_of_a_measurement_is_forgotten() {
    let load = Load::of(&sample::measurement("m"), "e", "run", 0);
    let shown = format!("{load:#?}");
    let fields = shown.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
    let mut fields: Vec<&str> =
        fields.map(|(name, _)| name).filter(|name| !name.starts_with(' ')).collect();
    let (text, _) = empty().text(&Chosen::These(Vec::new()), Format::Csv(Rows::Measurements));
    let head = String::from_utf8(text).unwrap();
    let mut columns: Vec<&str> = head.trim_end().split(',').collect();
    fields.sort_unstable();
    columns.sort_unstable();
    assert_eq!(columns, fields);
}

#[test]
fn a_format_knows_its_own_files() {
    let store = empty();
    store.take(&[sample::line("a")]).unwrap();
    let tables = [Rows::Measurements, Rows::Sqlio, Rows::Series];
    let formats: Vec<Format> = std::iter::once(Format::JsonLines)
        .chain(tables.map(Format::Csv))
        .chain(tables.map(Format::Parquet).into_iter().filter(|_| cfg!(feature = "parquet")))
        .collect();
    let directory = tempfile::tempdir().unwrap();
    for written in &formats {
        let path = directory.path().join("t");
        let (bytes, _) = store.text(&Chosen::Fitting(Box::default()), *written);
        std::fs::write(&path, bytes).unwrap();
        for asked in &formats {
            let is_one = asked.is_one(std::fs::File::open(&path).unwrap()).unwrap();
            assert_eq!(is_one, asked == written, "{written:?} as {asked:?}");
        }
    }
}

/// Every row of a table, in words.
fn rows(store: &Store, table: &str) -> Vec<String> {
    let connection = store.history.connection.as_sqlite().unwrap();
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let width = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        (0..width).map(|n| row.get_ref(n).map(|v| format!("{v:?}"))).collect::<Result<Vec<_>, _>>()
    };
    let rows = statement.query_map([], row).unwrap();
    rows.map(|row| row.unwrap().join(" | ")).collect()
}

#[test]
fn a_measurement_of_another_tool_is_kept_as_any_other() {
    let (one_by_one, at_once) = (empty(), empty());
    let measurements: Vec<_> = ["a", "b"].map(sample::measurement).into();
    for measurement in &measurements {
        let document = results::Document::Measurement(Box::new(measurement.clone()));
        one_by_one.history.add(&document).unwrap();
    }
    let first = at_once.history.import_foreign(measurements.clone()).unwrap();
    assert_eq!(first, imported(2, 0, 0));
    for table in [
        "experiments",
        "documents",
        "measurements",
        "measurement_documents",
        "series",
        "histograms",
    ] {
        assert_eq!(rows(&at_once, table), rows(&one_by_one, table), "{table}");
    }
    assert_eq!(at_once.all(), one_by_one.all());
    // An existing result stays, whatever an import brings under its name.
    let mut again = measurements;
    again[0].seconds = 2.0;
    assert_eq!(at_once.history.import_foreign(again).unwrap(), imported(0, 0, 2));
    assert_eq!(at_once.all(), one_by_one.all());
}

/// One without series, histograms and storage is kept in another way, and comes back the same.
#[test]
fn a_plain_measurement_of_another_tool_comes_back_as_it_was() {
    let plain = |id: &str, host: &str, memory: u64| {
        let mut m = sample::measurement(id);
        (m.series, m.warmup_series, m.threads_detail) = (Vec::new(), Vec::new(), Vec::new());
        m.environment.storage = Vec::new();
        m.environment.host = Some(sample::host(host, memory));
        let all = [&mut m.total, &mut m.read, &mut m.write, &mut m.sync].into_iter();
        let streams = m.streams.iter_mut().map(|s| [&mut s.total, &mut s.read, &mut s.write]);
        let targets = m.targets.iter_mut().map(|t| [&mut t.total, &mut t.read, &mut t.write]);
        for statistics in all.chain(streams.flatten()).chain(targets.flatten()) {
            statistics.histogram = None;
        }
        m
    };
    let mut nowhere = plain("d", "a", 3);
    nowhere.environment.host = None;
    let all = vec![plain("a", "a", 3), plain("b", "b", 3), plain("c", "a", 5), nowhere];
    assert!(all.iter().all(crate::parts::is_plain));
    let (one_by_one, at_once) = (empty(), empty());
    assert_eq!(at_once.history.import_foreign(all.clone()).unwrap(), imported(4, 0, 0));
    for m in &all {
        let document = results::Document::Measurement(Box::new(m.clone()));
        one_by_one.history.add(&document).unwrap();
        assert_eq!(at_once.history.document(&m.id).unwrap(), Some(document));
    }
    assert_eq!(at_once.all(), one_by_one.all());
    assert_eq!(rows(&at_once, "experiments"), rows(&one_by_one, "experiments"));
    // `a` and `c` differ in nothing but the free memory, of which the same set-up had more in the
    // third than in the first.
    assert_eq!(rows(&at_once, "environments").len(), 3);
    assert_eq!(rows(&at_once, "environments"), rows(&one_by_one, "environments"));
    for (number, free) in [7, 9].into_iter().enumerate() {
        let later = plain(&format!("later {number}"), "a", free);
        let text = format!("again \"environment\":{}", r#"{"host":null,"storage":[]}"#);
        let later = results::Measurement { tool_version: text, ..later };
        let import = at_once.history.import_foreign([later.clone()]).unwrap();
        assert_eq!(import, imported(1, 0, 0));
        let document = results::Document::Measurement(Box::new(later.clone()));
        assert_eq!(at_once.history.document(&later.id).unwrap(), Some(document));
    }
    assert_eq!(rows(&at_once, "environments").len(), 3, "imports of one set-up share its row");
}

/// What an import may use of memory, the history does not keep from then on.
#[test]
fn the_cache_is_as_large_after_an_import_as_before() {
    let store = empty();
    let cache = || {
        let connection = store.history.connection.as_sqlite().unwrap();
        connection.query_row("PRAGMA cache_size", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let before = cache();
    let during = std::iter::from_fn(|| {
        assert!(cache() < before, "KiB are negative: there is more room");
        None
    });
    assert_eq!(store.history.import_foreign(during).unwrap(), imported(0, 0, 0));
    assert_eq!(cache(), before);
}
