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

/// The rows of the second hour were left out, and the first one after it was an hour long.
#[test]
fn an_hour_back_is_no_gap() {
    let row = |(time, reads): (&str, u32)| format!("\"10/25/2026 {time}.000\",\"{reads}.0\"\n");
    let times = [("02:59:50", 1), ("02:59:55", 100), ("02:00:00", 200), ("02:00:05", 300)];
    for zone in [" (W. Europe Standard Time)(-120)", ""] {
        let heading =
            format!("\"(PDH-CSV 4.0){zone}\",\"\\\\N1\\PhysicalDisk(1 D:)\\Disk Reads/sec\"\n");
        let document = one(&(heading + &times.map(row).concat()));
        assert_eq!(document.conclusion.seconds, 15.0);
        near(figure(&document, "1 D:", "reads_per_s"), 200.0);
    }
}

/// A disk without a figure, and a warning with a number of counters. In Portuguese, the disk has
/// the name that it has in Spanish.
#[test]
fn unknown_counters_are_named_or_refused() {
    let heading = |counters: &[&str]| {
        let name = |counter: &&str| format!(",\"\\\\N1\\Disco físico(1 D:)\\{counter}\"");
        format!("\"(PDH-CSV 4.0)\"{}", counters.iter().map(name).collect::<String>())
    };
    let portuguese = heading(&["Leituras de disco/s", "Gravações no disco/s"]);
    let error = recognise(&perfmon(&portuguese, "1.6\",\"2.6"), &reading()).unwrap_err();
    assert!(
        error.to_string().contains(r"`\\N1\Disco físico(1 D:)\Leituras de disco/s`"),
        "{error}"
    );
    let spanish = heading(&["Lecturas de disco/s", "Gravações no disco/s"]);
    let document = one(&perfmon(&spanish, "1.6\",\"2.6"));
    near(figure(&document, "1 D:", "reads_per_s"), 1.6);
    assert!(document.warnings[0].contains("`Gravações no disco/s`"), "{:?}", document.warnings);
}
