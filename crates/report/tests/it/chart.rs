//! Charts of the model are well-formed SVG with round axes, whatever the figures.

use crate::models::{axis, chart, line, points};
use proptest::prelude::*;
use report::chart::svg;
use report::model::{Chart, Mark, Point, PointLabel, Scale, Series, Shape, Side, Unit};
use roxmltree::Document;

use crate::models;

fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    texts.filter_map(|n| n.text()).map(str::to_owned).collect()
}

fn has(svg: &str, wanted: &str) {
    let texts = texts(svg);
    assert!(texts.iter().any(|t| t == wanted), "`{wanted}` is not in {texts:?}");
}

/// It was cut with a bar at its end, as if it ended there.
#[test]
fn an_interval_that_leaves_the_chart_ends_in_an_arrow() {
    let mut chart = chart();
    chart.series[0].points[0].interval = Some((0.0, chart.series[0].points[0].y));
    let arrows = |chart: &Chart| svg(chart).matches("l4 -7").count();
    assert_eq!(arrows(&chart), 0);
    chart.series[0].points[0].interval = Some((0.0, 1e12));
    assert_eq!(arrows(&chart), 1);
}

#[test]
fn points_say_their_depth_and_the_knee_has_a_ring() {
    let mut points = points(&[(1e5, 1e3), (1e5, 8e3), (1e5, 4e4), (4e5, 8e4)]);
    for (point, in_flight) in points.iter_mut().zip([1, 7, 33, 77]) {
        point.label = Some(PointLabel { in_flight, is_knee: in_flight == 33 });
    }
    let mut chart = chart();
    (chart.series, chart.right) = (vec![line("read", Shape::Line, Side::Left, points)], None);
    chart.x = axis("Mean latency", Unit::Nanoseconds, Scale::Log10);
    let svg = svg(&chart);
    for depth in ["1", "7", "33", "77"] {
        has(&svg, depth);
    }
    assert_eq!(svg.matches("<circle class=\"knee\"").count(), 1);
    assert!(svg.contains("with 33 in flight"), "it is read out too");
    assert!(texts(&svg).join(" ").contains("a ring marks the operating point"));
}

#[test]
fn a_file_has_title_caption_legend_and_axes() {
    let svg = svg(&chart());
    for wanted in [
        "8 KiB random read",
        "I/Os in flight (log scale)",
        "Mean latency, µs",
        "IOPS (left)",
        "100K",
        "32",
        "operating point: 8 in flight",
    ] {
        has(&svg, wanted);
    }
    let document = Document::parse(&svg).unwrap();
    let label = document.root_element().attribute("aria-label").unwrap();
    assert!(label.contains("IOPS: 10 000 IOPS at 1, 20 000 IOPS at 2"), "{label}");
    assert!(label.contains("Mark at 8: operating point"), "{label}");
    assert_eq!(document.root_element().attribute("role"), Some("img"));
}

#[test]
fn axes_carry_the_unit_that_fits_their_figures() {
    let drawn = |unit: Unit, most: f64, scale: Scale| {
        let mut chart = chart();
        chart.right = None;
        chart.left = axis("Figure", unit, scale);
        chart.series =
            vec![line("a", Shape::Line, Side::Left, points(&[(1.0, most / 100.0), (2.0, most)]))];
        svg(&chart)
    };
    has(&drawn(Unit::Nanoseconds, 4e5, Scale::Linear), "Figure, µs");
    has(&drawn(Unit::Nanoseconds, 4e7, Scale::Linear), "40");
    has(&drawn(Unit::Nanoseconds, 4e9, Scale::Linear), "Figure, s");
    has(&drawn(Unit::Bytes, 64.0 * 1_073_741_824.0, Scale::Linear), "Figure, GiB");
    has(&drawn(Unit::Nanoseconds, 1e7, Scale::Log10), "100 µs");
    has(&drawn(Unit::Bytes, 1_073_741_824.0, Scale::Log2), "64 MiB");
    has(&drawn(Unit::Iops, 2e6, Scale::Linear), "2000K");
    has(&drawn(Unit::Percent, 100.0, Scale::Linear), "Figure, %");
}

#[test]
fn moments_stand_under_the_axis_as_dates() {
    let mut chart = chart();
    chart.x = axis("Date", Unit::Moment, Scale::Linear);
    let day = 86_400.0;
    let start = 1_763_683_200.0;
    let of = |days: f64| {
        let measured: Vec<(f64, f64)> =
            (0..10).map(|i| (start + days * day * f64::from(i) / 9.0, 1.0)).collect();
        vec![line("IOPS", Shape::Line, Side::Left, points(&measured))]
    };
    (chart.series, chart.marks) = (of(12.0), Vec::new());
    has(&svg(&chart), "2025-11-24");
    has(&svg(&chart), "Date, UTC");
    chart.series = of(300.0);
    has(&svg(&chart), "2026-01");
    chart.series = of(4000.0);
    has(&svg(&chart), "2030");
    chart.series = of(0.3);
    has(&svg(&chart), "02:00");
}

#[test]
fn labels_of_marks_do_not_lie_over_each_other() {
    let mut chart = chart();
    chart.marks = [7.0, 8.0, 8.5, 31.0]
        .map(|x| Mark { x, label: format!("a label that is rather long, at {x}") })
        .to_vec();
    let svg = svg(&chart);
    let document = Document::parse(&svg).unwrap();
    let mut heights: Vec<&str> = document
        .descendants()
        .filter(|n| n.text().is_some_and(|t| t.starts_with("a label")) && n.has_tag_name("text"))
        .filter_map(|n| n.attribute("y"))
        .collect();
    assert_eq!(heights.len(), 4);
    heights.dedup();
    assert!(heights.len() >= 3, "each on a row of its own: {heights:?}");
}

#[test]
fn what_has_no_place_is_a_gap_and_never_a_panic() {
    for value in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        0.0,
        1e300,
        1e-300,
        f64::MAX,
        f64::MIN_POSITIVE,
    ] {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10, Scale::Names(vec![])] {
            let mut chart = chart();
            (chart.x.scale, chart.left.scale) = (scale.clone(), scale);
            chart.marks.push(Mark { x: value, label: "mark".to_owned() });
            for s in &mut chart.series {
                s.points.push(Point {
                    x: value,
                    y: value,
                    interval: Some((value, -value)),
                    label: None,
                });
                s.points.push(Point { x: 3.0, y: value, interval: None, label: None });
            }
            well_formed(&svg(&chart));
        }
    }
}

fn well_formed(svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
    for node in document.descendants() {
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on") && name != "style" && name != "href", "{name}");
            if matches!(name, "d" | "x" | "y" | "transform" | "viewBox" | "width" | "height") {
                assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
                assert!(value.len() < 400_000);
            }
        }
    }
}

#[test]
fn thousands_of_points_stay_a_small_picture() {
    let mut chart = chart();
    chart.x = axis("Time", Unit::Seconds, Scale::Linear);
    let many: Vec<(f64, f64)> =
        (0..50_000).map(|i| (f64::from(i), f64::from(i * 7919 % 1000))).collect();
    chart.series = vec![line("IOPS", Shape::Line, Side::Left, points(&many))];
    let svg = svg(&chart);
    well_formed(&svg);
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
}

#[test]
fn series_differ_without_colour() {
    let mut chart = chart();
    chart.right = None;
    chart.series = (0..24)
        .map(|i| line(&format!("s{i}"), Shape::Line, Side::Left, points(&[(1.0, 1.0), (2.0, 2.0)])))
        .collect();
    let svg = svg(&chart);
    let document = Document::parse(&svg).unwrap();
    let mut shapes: Vec<String> = document
        .descendants()
        .filter(|n| n.attribute("class").is_some_and(|c| c.starts_with("series")))
        .map(|group| {
            let of = |name: &str| {
                group.children().filter_map(|n| n.attribute(name)).collect::<Vec<_>>().join("|")
            };
            // What follows the first place in the path of the signs, and the dashes of the line.
            let sign = group.last_element_child().and_then(|n| n.attribute("d")).unwrap();
            let sign =
                sign.split(|c: char| c.is_ascii_lowercase()).nth(1).unwrap_or_default().to_owned()
                    + &sign.chars().filter(char::is_ascii_alphabetic).collect::<String>();
            sign + &of("stroke-dasharray") + &of("fill")
        })
        .collect();
    assert_eq!(shapes.len(), 24);
    shapes.sort();
    shapes.dedup();
    assert_eq!(shapes.len(), 24);
}

proptest! {
    #[test]
    fn any_chart_is_well_formed(chart in models::any_chart()) {
        well_formed(&svg(&chart));
    }

    /// The labels of an even axis are equally far apart, hold the largest figure, and say so in few
    /// letters.
    #[test]
    fn even_axes_are_round(most in prop_oneof![1e-6..1.0, 1.0..1e6, 1e6..1e15_f64]) {
        let mut chart = chart();
        (chart.right, chart.marks) = (None, Vec::new());
        chart.left = axis("Figure", Unit::Number, Scale::Linear);
        chart.x = axis("x", Unit::Text,
            Scale::Names(vec!["first".to_owned(), "second".to_owned()]));
        chart.series = vec![line("a", Shape::Columns, Side::Left,
            points(&[(0.0, most / 3.0), (1.0, most)]))];
        let svg = svg(&chart);
        let labels: Vec<String> = texts(&svg).into_iter()
            .filter(|t| t.starts_with(|c: char| c.is_ascii_digit()) && !t.contains(' ') ).collect();
        let value = |t: &String| {
            let plain = t.replace('\u{202F}', "");
            let digits = plain.trim_end_matches(['K', 'M', 'G', 'T']);
            let factor = match plain.chars()
                .last() { Some('K') => 1e3, Some('M') => 1e6, Some('G') => 1e9, Some('T') => 1e12,
                _ => 1.0 };
            digits.parse::<f64>().unwrap() * factor
        };
        // The caption and the title hold no text that begins so.
        let values: Vec<f64> = labels.iter().filter(|t| *t != "8").map(value).collect();
        prop_assert!((5..=7).contains(&values.len()), "{labels:?}");
        let step = values[1] - values[0];
        for pair in values.windows(2) {
            prop_assert!((pair[1] - pair[0] - step).abs() < step * 1e-6, "{labels:?}");
        }
        prop_assert!(values.iter().copied().fold(0.0, f64::max) >= most * 0.999_999, "{labels:?} \
            for {most}");
        prop_assert!(values.iter().copied().fold(0.0, f64::max) <= most * 1.8, "{labels:?} for \
            {most}");
        prop_assert!(labels.iter().all(|l| l.chars().count() <= 9), "{labels:?}");
    }
}

/// Writes charts where a person can look at them.
#[test]
fn the_charts_can_be_looked_at() {
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("charts");
    std::fs::create_dir_all(&directory).unwrap();
    let all: Vec<Chart> = models::gallery();
    for (i, chart) in all.iter().enumerate() {
        std::fs::write(directory.join(format!("{i:02}-{}.svg", chart.key)), svg(chart)).unwrap();
    }
    let kinds =
        |shape| all.iter().flat_map(|c| &c.series).filter(|s: &&Series| s.shape == shape).count();
    assert!(
        [Shape::Line, Shape::Dashed, Shape::Columns, Shape::Dots].into_iter().all(|s| kinds(s) > 0)
    );
}
