//! The words of a load are the same in every output that has them.

use std::fs;

use testing::Place;

use crate::cli::program::place;

/// Columns that the history's CSV and the report's CSV share.
const SHARED: [&str; 2] = ["pattern", "durable"];

/// What a CSV of one measurement says in these columns.
fn said(csv: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let (head, row) = (lines.next().unwrap(), lines.next().unwrap());
    // Titles in quotes hold commas.
    let row: Vec<String> = row
        .split('"')
        .enumerate()
        .map(|(n, part)| if n % 2 == 1 { part.replace(',', ";") } else { part.to_owned() })
        .collect::<String>()
        .split(',')
        .map(str::to_owned)
        .collect();
    let at = |name: &str| row[head.split(',').position(|h| h == name).unwrap()].clone();
    SHARED.map(at).to_vec()
}

/// The columns of the latest result, in the history's CSV and in the report's.
fn columns(place: &Place) -> (Vec<String>, Vec<String>) {
    let history = said(&place.says(&["history", "export", "latest", "--format", "csv"]));
    let report = said(&String::from_utf8(place.report("latest", "report.csv")).unwrap());
    fs::remove_file(place.path("report.csv")).unwrap();
    (history, report)
}

const SIM: [&str; 4] = ["--engine", "sim", "--sim", "servers = 1, read_ns = \"1ms\""];

/// `iosonde diskspd` read one block after the other; the report's CSV said `random`, the history's
/// `sequential`.
#[test]
fn the_order_of_a_diskspd_run_is_the_same_in_both_csv_files() {
    for (line, pattern) in [
        ("-b8K -d1 -W0 -c1G x.dat", "sequential"),
        ("-b8K -d1 -W0 -r -c1G x.dat", "random"),
        ("-b8K -d1 -W0 -rs30 -c1G x.dat", "mixed"),
        ("-b8K -d1 -W0 -si -t2 -c1G x.dat", "sequential-shared"),
        ("-b8K -d1 -W0 -s64K -c1G x.dat", "stride"),
    ] {
        let place = place();
        let words: Vec<&str> = line.split_whitespace().collect();
        place.says(&[&["diskspd"], words.as_slice(), &SIM[..]].concat());
        let (history, report) = columns(&place);
        assert_eq!((history[0].as_str(), report[0].as_str()), (pattern, pattern), "{line}");
    }
}

const LOG_BESIDE_DATA: &str = "
seconds = 1
engine = \"sim\"
[[targets]]
path = \"sim\"
[[streams]]
name = \"log\"
write_percent = 100
durable = true
pattern = \"sequential\"
[[streams]]
name = \"data\"
write_percent = 30
";

/// Of a durable log beside data files that are not, the history's CSV said durable and the report's
/// not. The documentation says that every write is.
#[test]
fn a_load_is_durable_in_both_csv_files_where_every_writing_stream_is() {
    let data_that_reads = LOG_BESIDE_DATA.replace("write_percent = 30", "write_percent = 0");
    for (workload, history_says, report_says) in
        [(LOG_BESIDE_DATA, "false", "no"), (&data_that_reads, "true", "yes")]
    {
        let place = place();
        let file = place.directory().join("w.toml");
        fs::write(&file, workload).unwrap();
        place.says(&["run", "--workload", file.to_str().unwrap(), "--quiet"]);
        let (history, report) = columns(&place);
        assert_eq!(history, ["mixed", history_says], "{workload}");
        assert_eq!(report, ["mixed", report_says], "{workload}");
    }
}

/// `history list --kind validate` and `--kind monitor` were refused as wrong usage, though results
/// of both are kept.
#[test]
fn every_kind_of_result_and_every_pattern_can_be_selected() {
    let place = place();
    let data = place.directory().join("data");
    fs::create_dir(&data).unwrap();
    let small = ["--size", "8M", "--log-size", "8M", "--seconds", "1"];
    place.says(&[&["validate", data.to_str().unwrap()][..], &small].concat());
    let listed = |flag: &str, word: &str| {
        let found = place.json(&["history", "list", flag, word]);
        found["results"].as_array().unwrap().len()
    };
    for kind in results::kind_words() {
        assert_eq!(listed("--kind", kind), usize::from(kind == "validate"), "{kind}");
        place.says(&["history", "export", "--kind", kind]);
    }
    for pattern in ["random", "sequential", "sequential-shared", "stride", "matrix", "mixed"] {
        assert_eq!(listed("--pattern", pattern), 0, "{pattern}");
    }
}
