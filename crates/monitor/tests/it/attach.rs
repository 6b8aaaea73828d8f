//! Figures from elsewhere on the time axis of a recording.

use monitor::attach::{AttachError, Attached};
use proptest::prelude::*;

/// 2026-11-21T12:00:00Z.
const NOON: f64 = 1_795_262_400.0;

#[test]
fn times_of_every_form_are_laid_on_the_axis() {
    for (form, first) in [
        ("RFC 3339", "2026-11-21T12:00:02Z"),
        ("with an offset", "2026-11-21T14:00:02+02:00"),
        ("seconds", "1795262402"),
        ("milliseconds", "1795262402000"),
    ] {
        let text = format!("FC port,time,pending\n55.5,{first},12 %\n");
        let attached = Attached::parse(&text).unwrap();
        let (series, outside) = attached.on_axis("array.csv", NOON, 10.0);
        let found: Vec<_> = series.iter().map(|s| (s.name.as_str(), s.points.as_slice())).collect();
        assert_eq!(found, [("FC port", &[(2.0, 55.5)][..]), ("pending", &[(2.0, 12.0)])], "{form}");
        assert_eq!(outside, 0);
    }
}

#[test]
fn quotes_semicolons_empty_cells_and_rows_outside() {
    let text = "\u{feff}\"time\";\"cache; \"\"dirty\"\"\"\r\n2026-11-21T12:00:01Z;1.5\r\n2026-11-21T12:00:02Z;\r\n\r\n\
                2026-11-21T13:00:00Z;9\r\n";
    let (series, outside) = Attached::parse(text).unwrap().on_axis("a", NOON, 5.0);
    assert_eq!((series[0].name.as_str(), outside), ("cache; \"dirty\"", 1));
    assert_eq!(series[0].points, [(1.0, 1.5)]);
}

/// A German spreadsheet: "no column holds times", and with another date "no column holds numbers".
#[test]
fn dates_and_fractions_of_a_country_are_read() {
    let began = Attached::parse("t,x\n2026-11-27 19:18:15,1\n").unwrap();
    let first = began.on_axis("a", 0.0, 1e12).0[0].points[0].0;
    for time in ["27.11.2026 19:18:16", "11/27/2026 7:18:16 PM", "2026/11/27 19:18:16"] {
        let text = format!("Zeit;IOPS;Latenz (ms)\n{time};1.234,5;0,8\n");
        let (series, _) = Attached::parse(&text).unwrap().on_axis("a", first, 5.0);
        let found: Vec<_> = series.iter().map(|s| (s.name.as_str(), s.points[0])).collect();
        assert_eq!(found, [("IOPS", (1.0, 1234.5)), ("Latenz (ms)", (1.0, 0.8))], "{time}");
    }
    // Of date and time in two columns, a date alone was midnight, or no time.
    for time in ["27.11.2026;19:18:16", "2026-11-27;19:18:16", "11/27/2026;7:18:16 PM"] {
        let text = format!("Datum;Zeit;x\n{time};0,8\n");
        let (series, _) = Attached::parse(&text).unwrap().on_axis("a", first, 5.0);
        assert_eq!((series.len(), series[0].points[0]), (1, (1.0, 0.8)), "{time}");
    }
    // An address in another column said that points separate thousands, and the figures were lost.
    let text = "time,node,x\n2026-11-27 19:18:15,10.20.30.40,55.5\n";
    let (series, _) = Attached::parse(text).unwrap().on_axis("a", first, 5.0);
    assert_eq!(series.last().map(|s| (s.name.as_str(), s.points[0])), Some(("x", (0.0, 55.5))));
    let unclear = Attached::parse("time;x\n2026-11-27 19:18:15;1,200\n").unwrap_err();
    assert!(unclear.to_string().contains("may be 1.200 or 1200"), "{unclear}");
}

#[test]
fn what_cannot_be_attached_says_why() {
    assert_eq!(Attached::parse(""), Err(AttachError::Empty));
    assert_eq!(Attached::parse("time,x\n"), Err(AttachError::Empty));
    assert_eq!(Attached::parse("a,b\n1,2\n"), Err(AttachError::NoTime));
    assert_eq!(Attached::parse("time,x\n1795262402,many\n"), Err(AttachError::NoFigures));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[\\PC\n\"]{0,120}") {
        let _ = Attached::parse(&text);
        let _ = Attached::parse(&format!("time,x\n1795262402,{text}\n"));
    }

    #[test]
    fn figures_come_back(figures in prop::collection::vec(-1e6..1e6_f64, 1..40)) {
        let rows: Vec<String> = (0..).zip(&figures)
            .map(|(n, f)| format!("{},{f}\n", 1_795_262_400 + n)).collect();
        let rows = rows.concat();
        let (series, outside) = Attached::parse(&format!("t,x\n\
            {rows}")).unwrap().on_axis("a", NOON, 100.0);
        let back: Vec<f64> = series[0].points.iter().map(|(_, figure)| *figure).collect();
        prop_assert_eq!((back, outside), (figures, 0));
    }
}
