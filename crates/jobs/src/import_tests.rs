//! Logs of other tools as sweeps.

use std::fs;
use std::path::PathBuf;

use dialects::sqlio::{Access, Buffering, Figure, FileSize, Load, Order, Printout, VERSION};
use history::{Filter, Order as ListOrder, Page};
use results::{Source, Sweep};

use super::*;

/// Reads and writes, random and sequential, 2 to 64 threads at 1 to 128 outstanding: 192 runs of a
/// minute, which saturate at 32 outstanding of any number of threads.
fn log_of_192() -> String {
    let mut text = String::new();
    for writes in [false, true] {
        for order in [Order::Random, Order::Sequential] {
            for threads in [2, 4, 8, 16, 32, 64] {
                for outstanding in [1, 2, 4, 8, 16, 32, 64, 128] {
                    let most = if writes { 350_000 } else { 290_000 };
                    let iops = (most * outstanding.min(32) / 32).max(1);
                    let in_flight = threads * outstanding;
                    let mean = f64::from(in_flight) / (f64::from(iops) / 100.0) * 1e3;
                    let printed = Printout {
                        version: VERSION.to_owned(),
                        load: Some(Load {
                            threads,
                            writes,
                            seconds: 60,
                            files: vec!["H:\\test.dat".to_owned()],
                        }),
                        access: Some(Access { block_kib: 64, order }),
                        outstanding: Some(outstanding),
                        buffering: Buffering::Hardware,
                        sizes: vec![FileSize {
                            file: "H:\\test.dat".to_owned(),
                            mib: 20_480,
                            specified: true,
                        }],
                        iops: Some(Figure::hundredths(u64::from(iops))),
                        mib_per_s: Some(Figure::hundredths(u64::from(iops) * 64 / 1024)),
                        latency_ms: [Some(0.0), Some(mean.floor()), Some(900.0)],
                        ..Printout::default()
                    };
                    text += &printed.to_text();
                }
            }
        }
    }
    text
}

/// The runs of a log, each with its first line.
fn runs(log: &str) -> Vec<String> {
    let begin = "sqlio v1.5.SG\n";
    log.split(begin).skip(1).map(|rest| format!("{begin}{rest}")).collect()
}

struct Around {
    _dir: tempfile::TempDir,
    file: PathBuf,
    place: Place,
}

fn around(text: &str) -> Around {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log.txt");
    fs::write(&file, text).unwrap();
    let place = Place::File(dir.path().join("history.db"));
    Around { file, place, _dir: dir }
}

fn sweep_of(around: &Around) -> results::Experiment<Sweep> {
    let history = History::open_existing(&around.place).unwrap();
    let page = Page { offset: 0, limit: 10 };
    let listing = history.list(&Filter::default(), ListOrder::NEWEST, page).unwrap();
    let [entry] = listing.entries.as_slice() else { panic!("{}", listing.total) };
    match history.document(&entry.id).unwrap().unwrap() {
        Document::Sweep(sweep) => *sweep,
        other => panic!("{}", other.kind()),
    }
}

/// All 192 runs of a log had the date of its file, and were 192 results in any order.
#[test]
fn a_log_of_192_runs_is_one_sweep_in_its_order() {
    let around = around(&log_of_192());
    let mut importer = Importer::new(around.place.clone()).as_sweep(true);
    let kept = importer.import(&around.file).unwrap();
    assert_eq!((kept.counts.new, kept.notes), (1, Vec::new()));
    let sweep = sweep_of(&around);
    let found = &sweep.conclusion;
    assert_eq!((sweep.measurements.len(), found.cells.len(), found.curves.len()), (192, 192, 4));
    assert!(found.cells.iter().all(|c| c.source == Source::Measured && c.iops.is_some()));
    // The cells are in the order of the file, and the lists of the plan give just these.
    let loads: Vec<(u8, u32, u32)> =
        found.cells.iter().map(|c| (c.cell.write_percent, c.cell.threads, c.cell.depth)).collect();
    assert_eq!(loads[..3], [(0, 2, 1), (0, 2, 2), (0, 2, 4)]);
    assert_eq!(loads[191], (100, 64, 128));
    assert_eq!((found.plan.matrix.len(), found.plan.cells().len()), (1, 192));
    assert!(sweep.measurements.is_sorted_by(|a, b| a.started < b.started), "in their order");
    // It can be read again, and is the same.
    let again = importer.import(&around.file).unwrap().counts;
    assert_eq!((again.new, again.already_there), (0, 1));
}

#[test]
fn runs_of_the_same_test_are_rounds_and_other_orders_keep_theirs() {
    let runs = runs(&log_of_192());
    let text: String = [9, 3, 9, 4].map(|run: usize| runs[run].as_str()).concat();
    let around = around(&text);
    Importer::new(around.place.clone()).as_sweep(true).import(&around.file).unwrap();
    let found = sweep_of(&around).conclusion;
    let depths: Vec<(u32, u32, usize)> =
        found.cells.iter().map(|c| (c.cell.threads, c.cell.depth, c.measurements.len())).collect();
    assert_eq!(depths, [(4, 2, 2), (2, 8, 1), (2, 16, 1)]);
    assert_eq!(found.plan.matrix.len(), 3);
    let numbers: Vec<u32> = found.cells.iter().map(|c| c.cell.number).collect();
    assert_eq!(numbers, [0, 1, 2]);
}

#[test]
fn what_is_no_sweep_is_refused_in_one_sentence() {
    let first = runs(&log_of_192()).remove(0);
    for (text, why) in [
        (first.clone(), "at least two runs"),
        (format!("{first}IOs/sec: 5.00\nMBs/sec: 0.31\n"), "run 2 (`unknown load`) cannot be part"),
    ] {
        let around = around(&text);
        let mut importer = Importer::new(around.place.clone()).as_sweep(true);
        let error = importer.import(&around.file).unwrap_err().of("log.txt");
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        assert!(History::open_existing(&around.place).is_err(), "nothing was made");
    }
}

/// A file that was recognised and gave nothing ended with 0 and without a word.
#[test]
fn a_file_without_a_result_says_so() {
    let around = around("sqlio v1.5.SG\n2 threads reading for 5 secs from file x.dat\n");
    let error = Importer::new(around.place.clone()).import(&around.file).unwrap_err();
    let text = error.of("log.txt");
    assert!(text.contains("no result that can be kept: line 1: the run has no figures"), "{text}");
}

/// A binary log that is a script for a shell, which gets what `relog` gets.
#[cfg(unix)]
fn converted(script: &str) -> (Around, Result<ImportedFile, ImportError>) {
    let mut around = around("");
    let log = around.file.with_file_name("disks.BLG");
    fs::write(&log, script).unwrap();
    around.file = log;
    let limit = std::time::Duration::from_secs(60);
    let relog = Some(SystemTool::new("/bin/sh".into(), limit));
    let imported = Importer { relog, ..Importer::new(around.place.clone()) }.import(&around.file);
    (around, imported)
}

#[test]
#[cfg(unix)]
fn a_binary_log_is_read_as_what_relog_makes_of_it() {
    // The log is `$0` there.
    let script = r#"[ "$1 $2 $3 $5" = "-f CSV -o -y" ] || exit 9
cat >"$4" <<'CSV'
"(PDH-CSV 4.0) (UTC)(0)","\\DB1\PhysicalDisk(0 C:)\Disk Reads/sec"
"11/26/2026 03:00:00.000"," "
"11/26/2026 03:00:01.000","200"
"11/26/2026 03:00:02.000","400"
CSV
"#;
    let (around, imported) = converted(script);
    let imported = imported.unwrap();
    assert_eq!((imported.counts.new, imported.notes), (1, Vec::new()));
    let history = History::open_existing(&around.place).unwrap();
    let page = Page { offset: 0, limit: 10 };
    let listing = history.list(&Filter::default(), ListOrder::NEWEST, page).unwrap();
    assert_eq!(listing.total, 1);
    assert!(listing.entries[0].started.starts_with("2026-11-26T03:00:0"), "{listing:?}");
}

#[test]
#[cfg(unix)]
fn what_relog_refuses_names_the_way_by_hand() {
    let (around, imported) = converted("echo 'Error: the log is damaged'; exit 1");
    let error = imported.unwrap_err().of("disks.BLG");
    assert!(error.contains("the log is damaged"), "{error}");
    assert!(error.contains("relog disks.BLG -f CSV -o disks.BLG.csv"), "{error}");
    let Place::File(history) = &around.place else { panic!() };
    assert!(!history.exists(), "a file that is refused makes no history");
    let (_, imported) = converted("exit 0");
    let error = imported.unwrap_err().of("disks.BLG");
    assert!(error.contains("relog failed: its table: "), "relog wrote nothing: {error}");
}

/// Wine has no `relog`, either.
#[test]
fn without_relog_an_error_says_how_to_convert() {
    let around = around("");
    let log = around.file.with_file_name("disks.blg");
    let mut importer = Importer { relog: None, ..Importer::new(around.place) };
    assert!(matches!(importer.import(&log), Err(ImportError::Read(_))), "it is not there");
    fs::write(&log, [0; 64]).unwrap();
    let error = importer.import(&log).unwrap_err().of("disks.blg");
    assert!(error.contains("relog disks.blg -f CSV -o disks.blg.csv"), "{error}");
}
