//! Forms of Performance Monitor's CSV: numbers of other countries, cells of words, dates in two
//! columns.

use monitor::foreign::recognise;

use crate::foreign::{figure, near, one, reading};

/// Three rows of a disk with 1,200.4 reads a second, in a file of these columns.
fn perfmon(heading: &str, reads: &str) -> String {
    let row = |second: &str| format!("\"11/25/2026{second}\",\"{reads}\"\n");
    format!("{heading}\n{}{}{}", row(" 14:00:00.000"), row(" 14:00:05.000"), row(" 14:00:10.000"))
}

/// The commas of a spreadsheet made cells that were no numbers, so there was no device, and "no
/// reason to doubt a figure".
#[test]
fn separators_of_thousands_are_read_or_refused() {
    let heading =
        r#""(PDH-CSV 4.0) (GMT Standard Time)(0)","\\N1\PhysicalDisk(1 D:)\Disk Reads/sec""#;
    for cell in ["1200.400000000", "1,200.4", "1.200,4", "1200,4", "1\u{a0}200,4"] {
        near(figure(&one(&perfmon(heading, cell)), "1 D:", "reads_per_s"), 1200.4);
    }
    let refused =
        |cell: &str| recognise(&perfmon(heading, cell), &reading()).unwrap_err().to_string();
    assert!(refused("1,200").contains("`1,200` may be 1.200 or 1200"), "{}", refused("1,200"));
}

/// An address in a column of the network refused the file. In a column of a disk, such a cell is
/// unknown, and its column is named.
#[test]
fn a_cell_without_a_number_is_unknown() {
    let heading = concat!(
        r#""(PDH-CSV 4.0) (GMT Standard Time)(0)","\\N1\PhysicalDisk(1 D:)\Disk Reads/sec","#,
        r#""\\N1\Network(1)\Peer""#
    );
    for text in ["10.1.2.3", "11/25/2026", "1,200", "1.2.3-beta", "SQL01", "12x"] {
        let document = one(&perfmon(heading, &format!("1200.4\",\"{text}")));
        near(figure(&document, "1 D:", "reads_per_s"), 1200.4);
        assert_eq!(document.warnings, Vec::<String>::new(), "{text}");
        if text == "1,200" {
            continue;
        }
        let mut used = perfmon(heading, "1200.4\",\"7");
        let last = used.rfind("1200.4").unwrap();
        used.replace_range(last..last + 6, text);
        let document = one(&used);
        near(figure(&document, "1 D:", "reads_per_s"), 1200.4);
        let warning = format!(
            r"`PhysicalDisk(1 D:)\Disk Reads/sec`: 1 cell without a number, first `{text}`"
        );
        assert!(
            document.warnings.iter().any(|w| w.starts_with(&warning)),
            "{:?}",
            document.warnings
        );
    }
}

/// None of the known formats, it was said.
#[test]
fn date_and_time_may_have_a_column_each() {
    let heading = concat!(
        r#""Date \\SQL01 (PDH-CSV 4.0) (SE Asia Standard Time)(-420)","Time","#,
        r#""\PhysicalDisk(1 D:)\Disk Reads/sec""#
    );
    let document = one(&perfmon(heading, "1200.4").replace("2026 ", "2026\",\""));
    near(figure(&document, "1 D:", "reads_per_s"), 1200.4);
    assert_eq!(document.environment.host.as_ref().unwrap().hostname, "SQL01");
    assert_eq!(document.started, "2026-11-25T07:00:00Z");
}
