//! Tables of every type of column.

use std::fs::File;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field as Read;
use results::{FIGURES, FigureKind, FigureType};

use crate::exchange::columns::{Column, kind_of};
use crate::exchange::{csv, parquet as table};

struct Row {
    count: u64,
    small: Option<u32>,
    rate: f64,
    direct: bool,
    name: Option<String>,
    started: String,
}

/// Columns by the names of the row's own fields; `name(moment)` for a text that is a moment.
macro_rules! columns {
    ($row:ty; $($name:ident $(($moment:ident))?),+ $(,)?) => {
        &[$(Column::<$row> {
            name: stringify!($name),
            kind: columns!(@kind $row, $name $(, $moment)?),
            of: |row| FigureType::value(&row.$name),
        }),+]
    };
    (@kind $row:ty, $name:ident) => {
        kind_of::<$row, _>(|row| &row.$name)
    };
    (@kind $row:ty, $name:ident, moment) => { FigureKind::Moment };
}

const COLUMNS: &[Column<Row>] = columns!(Row; count, small, rate, direct, name, started(moment));

fn rows() -> Vec<Row> {
    let moment = "1970-01-01T00:00:01.5Z".to_owned();
    let text = Some("=1, \"two\"\nü".to_owned());
    vec![
        Row {
            count: 1 << 60,
            small: Some(7),
            rate: 0.1,
            direct: true,
            name: text,
            started: moment,
        },
        Row {
            count: u64::MAX,
            small: None,
            rate: f64::NAN,
            direct: false,
            name: None,
            started: "no moment".to_owned(),
        },
    ]
}

#[test]
fn csv_has_a_head_and_quotes_what_must_be_quoted() {
    let mut out = Vec::new();
    csv::write(&mut out, COLUMNS, &rows()).unwrap();
    assert_eq!(csv::head(COLUMNS), "count,small,rate,direct,name,started");
    let text = String::from_utf8(out).unwrap();
    let first = "1152921504606846976,7,0.1,true,\"'=1, \"\"two\"\"\nü\",1970-01-01T00:00:01.5Z\n";
    assert_eq!(text, format!("{first}18446744073709551615,,,false,,no moment\n"));
}

#[test]
fn parquet_holds_the_values_with_their_types_and_says_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.parquet");
    let mut file = File::create(&path).unwrap();
    let mut out = table::Table::begin(&mut file, "tests", COLUMNS).unwrap();
    out.write(&rows()).unwrap();
    out.write(&rows()).unwrap();
    out.finish().unwrap();
    drop(file);
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!((reader.num_row_groups(), reader.metadata().file_metadata().num_rows()), (2, 4));
    let read: Vec<Vec<Read>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
        .collect();
    let text = "=1, \"two\"\nü".to_owned();
    let first = [
        Read::Long(1 << 60),
        Read::Long(7),
        Read::Double(0.1),
        Read::Bool(true),
        Read::Str(text),
        Read::TimestampMicros(1_500_000),
    ];
    assert_eq!(read[2], first);
    let null = || Read::Null;
    assert_eq!(read[3], [null(), null(), null(), Read::Bool(false), null(), null()]);
    let holds = |name| table::holds(File::open(&path).unwrap(), name);
    assert!(holds("tests") && !holds("others"));
    std::fs::write(&path, b"PAR1 and no more").unwrap();
    assert!(!holds("tests"), "a foreign file is told from ours");
}

#[test]
fn every_column_is_documented_as_the_list_of_figures_has_it() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exchange.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n### Measurements\n").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    let documented: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let kept = FIGURES.iter().filter(|figure| figure.column.is_some());
    let listed = kept.map(|f| format!("| `{}` | {} | {} |", f.key, f.kind.word(), f.meaning));
    assert_eq!(documented, listed.collect::<Vec<_>>(), "the table in docs/exchange.md is stale");
}
