//! Tables of every type of column.

use results::{FIGURES, FigureKind, FigureType};

use crate::exchange::columns::{Column, kind_of};
use crate::exchange::csv;

pub(super) struct Row {
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

pub(super) const COLUMNS: &[Column<Row>] =
    columns!(Row; count, small, rate, direct, name, started(moment));

pub(super) fn rows() -> Vec<Row> {
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
