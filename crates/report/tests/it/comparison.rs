//! Comparisons and trends as people see them: the verdict first, nothing too wide, nothing from a
//! document untamed.

use analysis::change_points::change_points;
use analysis::comparison::{Direction, compare};
use history::published;
use report::model::{Block, Cell, Detail, Judgement};
use results::change::Change;
use results::{
    COMPARISON_SCHEMA, ComparedFigure, ComparedLoad, Comparison, DRIFT_SCHEMA, Difference, Drift,
    DriftLoad, Figure, Side, SideDifference, SideResult, TREND_SCHEMA, Trend, TrendLoad,
    TrendPoint,
};

const EVIL: &str = "/data\u{1b}[31m\nnew line\u{202E}";

fn side(name: &str) -> Side {
    let result = |n: usize| SideResult {
        id: format!("id-{n}"),
        kind: "run".to_owned(),
        title: "8 KiB random read".to_owned(),
        started: format!("2026-11-{:02}T00:00:00Z", n + 1),
    };
    Side {
        name: name.to_owned(),
        results: (0..9).map(result).collect(),
        hosts: vec!["db1".to_owned()],
        targets: vec![EVIL.to_owned()],
        devices: vec!["a device with a very long name ".repeat(9)],
    }
}

fn figure(figure: Figure, a: &[f64], b: &[f64], judged: bool) -> Option<ComparedFigure> {
    let compared = compare(a, b, Direction::Higher, 5.0, None).map(published::compared)?;
    let (a, b) = (compared.a, compared.b);
    let tail_ios = figure.quantile().map(|_| 42);
    let decides = figure == Figure::Iops;
    Some(ComparedFigure { figure, decides, a, b, tail_ios, compared: judged.then_some(compared) })
}

fn comparison(judged: bool) -> Comparison {
    let (a, b) =
        ([50_000.0, 50_500.0, 49_500.0, 50_100.0], [40_000.0, 40_300.0, 39_900.0, 40_100.0]);
    let difference = |name: &str| Difference {
        name: name.to_owned(),
        a: "256 MiB".to_owned(),
        b: format!("128 GiB {EVIL}"),
    };
    let figures = Figure::ALL.iter().filter_map(|f| figure(*f, &a, &b, judged));
    let unlike = if judged { Vec::new() } else { vec![difference("file size")] };
    Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        tool_version: "0.1.0".to_owned(),
        a: side("@baseline"),
        b: side("latest"),
        differences: vec![SideDifference { difference: difference("kernel"), unlike: false }],
        band_percent: 5.0,
        anyway: false,
        loads: vec![ComparedLoad {
            title: "8 KiB random read, 4 threads × depth 8".to_owned(),
            caption: "file 1 GiB, direct".to_owned(),
            conditions_id: None,
            unlike,
            runs_a: vec!["m".to_owned(); 4],
            runs_b: vec!["m".to_owned(); 4],
            figures: figures.collect(),
        }],
        only_a: vec!["64 KiB sequential write".to_owned(); 9],
        only_b: Vec::new(),
        verdict: if judged { Change::Worse } else { Change::CannotTell },
        withheld: !judged,
        explanation: "worse: IOPS: worse".to_owned(),
        findings: vec!["IOPS: worse".to_owned()],
        method: vec!["One run is one observation. ".repeat(9)],
        warnings: vec!["The first side is old. ".repeat(9)],
    }
}

fn trend() -> Trend {
    let values = [100.0, 101.0, 99.0, 100.0, 80.0, 81.0, 79.0, 80.0];
    let point = |(n, value): (usize, &f64)| TrendPoint {
        id: format!("id-{n}"),
        started: format!("2026-{:02}-01T00:00:00Z", n + 1),
        value: *value,
        runs: 3,
        tool_version: "0.1.0".to_owned(),
        device: Some(EVIL.to_owned()),
    };
    Trend {
        schema: TREND_SCHEMA.to_owned(),
        tool_version: "0.1.0".to_owned(),
        figure: Figure::P99Ns,
        loads: vec![TrendLoad {
            title: "8 KiB random read, 1 thread × depth 1".to_owned(),
            conditions_id: "0".repeat(16),
            host: Some("db1".to_owned()),
            target: EVIL.to_owned(),
            file_bytes: 1 << 30,
            points: values.iter().enumerate().map(point).collect(),
            changes: change_points(&values)
                .unwrap_or_default()
                .into_iter()
                .map(published::change_point)
                .collect(),
            explanation: "8 results; from 2026-05-01 on less".to_owned(),
        }],
        method: Vec::new(),
        warnings: vec!["careful".to_owned()],
    }
}

fn tame(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
        assert!(!line.chars().any(|c| c.is_control() || c == '\u{202E}'), "{line:?}");
    }
}

#[test]
fn the_verdict_comes_first_and_everything_fits() {
    let text = report::text::comparison(&comparison(true));
    tame(&text);
    assert!(text.starts_with("Verdict: worse: IOPS: worse\n\n  WORSE  B against A\n"), "{text}");
    let row = text.lines().find(|l| l.trim_start().starts_with("IOPS  ")).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    let start = ["IOPS", "50", "024", "0.82", "%", "4", "40", "075", "0.43", "%", "4", "-20", "%"];
    assert!(words.starts_with(&start), "{row}");
    assert!(row.trim_end().ends_with("worse"), "{row}");
    assert!(text.contains("~p99.9 (42 I/Os)"), "few I/Os are said to be few");
    assert!(text.contains("@baseline (9 results)"), "{text}");
    assert!(text.contains("The first 6 of each side.") && !text.contains("id-6"), "{text}");
}

#[test]
fn of_many_loads_only_what_decides_is_shown() {
    let mut many = comparison(true);
    many.loads = vec![many.loads[0].clone(); 9];
    many.loads.push(comparison(false).loads[0].clone());
    let text = report::text::comparison(&many);
    tame(&text);
    let rows = |verdict: &str| text.lines().filter(|line| line.ends_with(verdict)).count();
    assert_eq!((rows("%  worse"), rows("  withheld")), (9, 1), "{text}");
    assert!(!text.contains("mean latency"), "{text}");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("file size 256 MiB 128 GiB"), "{text}");
}

#[test]
fn of_many_loads_one_says_why_it_cannot_be_told() {
    let mut many = comparison(true);
    let single = figure(Figure::Iops, &[50_000.0], &[25_000.0], true).unwrap();
    many.loads[0].figures = vec![single];
    many.loads = vec![many.loads[0].clone(); 9];
    let text = report::text::comparison(&many);
    tame(&text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    assert_eq!(text.matches("there is one run on each side").count(), 1, "{text}");
    assert!(text.contains("depth 8: IOPS: cannot tell: -50 %"), "{text}");
    assert!(text.contains("(--repeat 5)"), "{text}");
}

#[test]
fn without_a_verdict_both_values_stand_under_what_differs() {
    let text = report::text::comparison(&comparison(false));
    tame(&text);
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("file size 256 MiB 128 GiB"), "{text}");
    assert!(text.contains("withholds the"), "{text}");
    assert!(text.contains("50 024") && !text.contains(" Change"), "{text}");
}

#[test]
fn a_trend_and_a_drift_fit_the_terminal() {
    let text = report::text::trend(&trend());
    tame(&text);
    let changed: Vec<&str> = text.lines().filter(|l| l.contains("-20 %")).collect();
    assert_eq!(changed.len(), 1);
    assert!(changed[0].contains("2026-05-01") && text.contains("████▇"), "{text}");
    let load = DriftLoad {
        name: "reads".to_owned(),
        figure: Figure::Iops,
        now: 5.0,
        capacity: None,
        used_percent: None,
        latency_now_ns: None,
    };
    let drift = Drift {
        schema: DRIFT_SCHEMA.to_owned(),
        tool_version: "0.1.0".to_owned(),
        host: EVIL.to_owned(),
        target: EVIL.to_owned(),
        device: "sda".to_owned(),
        seconds: 10.0,
        loads: vec![load],
        average_queue: 0.1,
        utilisation_percent: 3.0,
        findings: vec!["idle".to_owned()],
        warnings: vec!["old".to_owned()],
    };
    tame(&report::text::drift(&drift));
}

#[test]
fn blocks_hold_the_verdict_the_charts_and_every_figure() {
    let blocks = report::comparison_blocks(&comparison(true), Detail::Full);
    let Some(Block::Cards(cards)) = blocks.first() else { panic!("no verdict: {blocks:?}") };
    assert_eq!((cards[0].judgement, cards[0].answer.as_str()), (Judgement::Bad, "worse"));
    let charts: Vec<_> = blocks
        .iter()
        .filter_map(|b| if let Block::Charts(c) = b { Some(c) } else { None })
        .flatten()
        .collect();
    assert_eq!(charts.len(), 5);
    assert!(charts.iter().all(|c| c.series.len() == 2 && c.caption.contains("1 GiB")));
    let tables: Vec<_> = blocks
        .iter()
        .filter_map(|b| if let Block::Table(t) = b { Some(t) } else { None })
        .collect();
    assert_eq!(tables.iter().map(|t| t.key.as_str()).collect::<Vec<_>>(), ["setup", "figures"]);
    assert_eq!(tables[1].rows.len(), Figure::ALL.len());
    assert!(tables.iter().all(|t| t.rows.iter().all(|r| r.len() == t.columns.len())));
    let texts = tables.iter().flat_map(|t| t.rows.iter().flatten());
    assert!(texts.into_iter().all(|c| !matches!(c, Cell::Text(t) if t.contains('\u{1b}'))));
    let withheld = report::comparison_blocks(&comparison(false), Detail::Full);
    let Some(Block::Cards(cards)) = withheld.first() else { panic!("no verdict: {withheld:?}") };
    assert_eq!((cards[0].judgement, cards[0].answer.as_str()), (Judgement::Unknown, "withheld"));
}

#[test]
fn a_trend_is_drawn_with_its_changes() {
    let blocks = report::trend_blocks(&trend(), Detail::Full);
    let charts: Vec<_> = blocks
        .iter()
        .filter_map(|b| if let Block::Chart(c) = b { Some(c) } else { None })
        .collect();
    assert_eq!(charts.len(), 1);
    assert_eq!(charts[0].series[0].points.len(), 8);
    assert_eq!(charts[0].marks.len(), 1);
    assert_eq!(charts[0].marks[0].label, "-20 %");
    assert_eq!(charts[0].marks[0].x.to_bits(), charts[0].series[0].points[4].x.to_bits());
}
