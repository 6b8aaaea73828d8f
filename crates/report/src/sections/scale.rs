//! The same load on each target alone, then on several together.

use results::scaling::{Scaling, Step};
use results::{Document, Experiment, Measurement, Scale, ScaleUnit, TargetsTogether};
use workload::show_number;

use super::caption;
use super::make::{
    Drawn, Named, beside, chart, cleaned, column, full, full_section, linear, names, number, point,
    points, section, series, table, text, throughput, whole,
};
use super::{agreement, latency, loads, tested, time};
use crate::language::{count, say};
use crate::model::{Block, Card, Cell, Chart, Judgement, Point, Section, Shape, Side, Table, Unit};
use crate::words;

/// Answer, charts and tables of targets alone and together.
pub(super) fn sections(e: &Experiment<Scale>) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> = e.measurements.iter().map(|m| (name(m), m)).collect();
    let document = Document::Scale(Box::new(e.clone()));
    let mut tables: Vec<Block> =
        [together(e), alone(e)].into_iter().flatten().map(Block::Table).collect();
    tables.extend(loads::shown(&document).map(|table| full([Block::Table(table)])));
    let drawn: Vec<Block> = beside(charts(e)).into_iter().collect();
    let sections = [
        section("verdict", say!("heading-do-the-targets-add-up"), answer(e)),
        tested::of_experiment(e, Vec::new()),
        section("scaling", say!("heading-scaling"), drawn),
        full_section(latency::of(&named, false)),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        section("loads", say!("heading-alone-and-together"), tables),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

/// The target of a measurement, or how many there were.
fn name(m: &Measurement) -> String {
    match m.workload.targets.as_slice() {
        [one] => words::path(&one.path),
        many => say!("tested-targets", targets = count(many.len())),
    }
}

fn unit(scale: &Scale) -> &'static str {
    match scale.unit {
        ScaleUnit::Iops => "IOPS",
        ScaleUnit::MibPerS => "MiB/s",
    }
}

pub(super) fn is_mib(scale: &Scale) -> bool {
    scale.unit == ScaleUnit::MibPerS
}

fn answer(e: &Experiment<Scale>) -> Vec<Block> {
    let Some(scaling) = &e.conclusion.scaling else {
        return vec![Block::Paragraph(say!("scale-nothing"))];
    };
    let evidence = cleaned(&scaling.findings);
    let (judgement, answer) = judged(scaling);
    let card = Card {
        heading: say!("label-scaling"),
        judgement,
        answer,
        evidence,
        original: Vec::new(),
        bullet: None,
    };
    vec![Block::Cards(vec![card])]
}

fn judged(scaling: &Scaling) -> (Judgement, String) {
    let last = scaling.steps.last();
    let efficiency = last.map(|s| words::percent(Some(s.efficiency_percent))).unwrap_or_default();
    let of = last.map_or(0, |s| s.targets.len());
    let answer = say!("scale-answer", targets = count(of), share = efficiency);
    let judgement = match (scaling.first_non_linear, last) {
        (_, None) => Judgement::Unknown,
        (None, _) => Judgement::Good,
        (Some(_), Some(step)) if step.like_one => Judgement::Bad,
        (Some(_), Some(_)) => Judgement::Doubtful,
    };
    (judgement, answer)
}

/// The throughput of the first target alone, then of more together.
pub(super) fn together_points(scale: &Scale) -> Vec<Point> {
    let steps: &[Step] = scale.scaling.as_ref().map_or(&[], |s| &s.steps);
    let one = scale.alone.first().map(|t| if is_mib(scale) { t.mib_per_s } else { t.iops });
    let measured = steps.iter().map(|s| point(s.targets.len() as f64, s.measured_per_s, None));
    one.map(|y| point(1.0, y, None)).into_iter().chain(measured).collect()
}

fn charts(e: &Experiment<Scale>) -> Vec<Chart> {
    let scale = &e.conclusion;
    let caption = caption::of(&e.measurements);
    let steps: &[Step] = scale.scaling.as_ref().map_or(&[], |s| &s.steps);
    let one = scale.alone.iter().map(|t| if is_mib(scale) { t.mib_per_s } else { t.iops });
    let first = one.clone().next().map(|y| point(1.0, y, None));
    let ideal = steps.iter().map(|s| point(s.targets.len() as f64, s.expected_per_s, None));
    let title = say!("scale-chart");
    let named = Named { key: "scaling", title: &title, caption: &caption };
    let scaling = chart(
        &named,
        Drawn {
            x: linear(say!("label-targets"), Unit::Count),
            left: throughput(is_mib(scale)),
            right: None,
            series: vec![
                series(say!("scale-together"), Shape::Line, Side::Left, together_points(scale)),
                series(
                    say!("scale-sum"),
                    Shape::Dashed,
                    Side::Left,
                    first.into_iter().chain(ideal).collect(),
                ),
            ],
            marks: Vec::new(),
        },
    );
    let labels = scale.alone.iter().map(|t| words::path(&t.target)).collect();
    let all = scale.together.iter().max_by_key(|t| t.targets.len());
    let kept = all.into_iter().flat_map(|t| t.targets.iter().zip(&t.each));
    let kept = kept.map(|(target, y)| (*target as f64, Some(*y)));
    let columns = one
        .enumerate()
        .map(|(i, y)| point(i as f64, y, scale.alone.get(i).and_then(|t| t.half_width_percent)));
    let title = say!("scale-chart-of-each");
    let named = Named { key: "alone-and-together", title: &title, caption: &caption };
    let each = chart(
        &named,
        Drawn {
            x: names(say!("label-target"), labels),
            left: throughput(is_mib(scale)),
            right: None,
            series: vec![
                series(say!("scale-alone"), Shape::Columns, Side::Left, columns.collect()),
                series(say!("scale-together"), Shape::Columns, Side::Left, points(kept)),
            ],
            marks: Vec::new(),
        },
    );
    [scaling, each].into_iter().flatten().collect()
}

fn alone(e: &Experiment<Scale>) -> Option<Table> {
    let columns = vec![
        column("number", say!("label-no"), Unit::Count),
        column("target", say!("label-target"), Unit::Text),
        column("file_bytes", say!("label-file-size"), Unit::Bytes),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("half_width_percent", "±", Unit::Percent),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
    ];
    let rows = e.conclusion.alone.iter().enumerate().map(|(i, t)| {
        vec![
            whole(i as u64 + 1),
            text(words::path(&t.target)),
            whole(t.file_bytes),
            number(t.iops),
            number(t.mib_per_s),
            number(t.half_width_percent),
            number(t.mean_latency_ns),
        ]
    });
    table(
        "alone",
        say!("heading-each-target-alone"),
        &caption::of(&e.measurements),
        columns,
        rows.collect(),
    )
}

fn together(e: &Experiment<Scale>) -> Option<Table> {
    let scale = &e.conclusion;
    let per_s = if is_mib(scale) { Unit::MibPerS } else { Unit::Iops };
    let sum = if is_mib(scale) { "expected_mib_per_s" } else { "expected_iops" };
    let columns = vec![
        column("targets", say!("label-targets"), Unit::Text),
        column("count", say!("label-how-many"), Unit::Count).full(),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("half_width_percent", "±", Unit::Percent),
        column(sum, say!("scale-sum-in", unit = unit(scale)), per_s),
        column("efficiency_percent", say!("label-efficiency"), Unit::Percent),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("kept", say!("label-kept-by-each-percent"), Unit::Text),
    ];
    let rows = scale.together.iter().map(|set| row(scale, set)).collect();
    table(
        "together",
        say!("heading-several-targets-together"),
        &caption::of(&e.measurements),
        columns,
        rows,
    )
}

fn row(scale: &Scale, set: &TargetsTogether) -> Vec<Cell> {
    let steps = scale.scaling.iter().flat_map(|s| &s.steps);
    let step: Option<&Step> = steps.into_iter().find(|s| s.targets == set.targets);
    let kept = step.map(|s| {
        let each = s.kept_percent.iter().map(|k| show_number(k.round()));
        each.collect::<Vec<_>>().join(" ")
    });
    let names: Vec<String> = set.targets.iter().map(|t| t.saturating_add(1).to_string()).collect();
    vec![
        text(names.join(" ")),
        whole(set.targets.len() as u64),
        number(set.iops),
        number(set.mib_per_s),
        number(set.half_width_percent),
        number(step.map(|s| s.expected_per_s)),
        number(step.map(|s| s.efficiency_percent)),
        number(set.mean_latency_ns),
        text(kept.as_deref().unwrap_or_default()),
    ]
}
