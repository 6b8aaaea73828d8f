//! The saturation point of one load.

use results::steady::is_unsure;
use results::{CurveLoad, Document, Experiment, Measurement, Purpose, Saturation, WithinLatency};
use workload::show_number;

use super::caption::Caption;
use super::make::{
    column, fact, first_large, full, full_section, number, section, table, text, whole,
};
use super::saturation::{self, Curve, Load};
use super::{agreement, latency, loads, point, setup, tested, time};
use crate::language::say;
use crate::model::{Block, Card, Cell, Chart, Judgement, Section, Table, Unit};
use crate::words;

const MIB: f64 = 1_048_576.0;

/// Answer, charts and tables of the search for a saturation point.
pub(super) fn sections(e: &Experiment<Saturation>) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> = marked(e);
    let document = Document::Knee(Box::new(e.clone()));
    let mut tables: Vec<Block> = curve(e).map(Block::Table).into_iter().collect();
    tables.extend(loads::shown(&document).map(|table| full([Block::Table(table)])));
    let drawn = first_large(charts(e));
    let sections = [
        section("verdict", say!("heading-saturation-point"), answer(e)),
        tested::of_experiment(e, vec![fact(say!("label-load"), words::clean(&e.conclusion.title))]),
        section("saturation", say!("heading-saturation"), drawn),
        full_section(latency::of(&named, named.len() == 1)),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        section("shares", say!("knee-shares"), shares(e).into_iter().map(Block::Table).collect()),
        section("loads", say!("heading-every-load"), tables),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

/// What each target has of the operating point, where there are several: the hosts of a fleet, or
/// several volumes.
fn shares(e: &Experiment<Saturation>) -> Option<Table> {
    let knee = e.conclusion.knee.as_ref()?;
    let load = e.conclusion.curve.get(knee.operating_point.index)?;
    let m = e.measurements.get(load.measurement).filter(|m| m.targets.len() > 1)?;
    let all: f64 = m.targets.iter().map(|target| target.total.iops).sum();
    let columns = vec![
        column("target", say!("label-target"), Unit::Text),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("share_percent", say!("knee-share"), Unit::Percent),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
    ];
    let row = |target: &results::TargetResult| {
        let (total, latency) = (&target.total, target.total.latency_ns);
        vec![
            text(words::clean(&target.path.display().to_string())),
            number(Some(total.iops)),
            number(Some(total.mib_per_s)),
            number((all > 0.0).then(|| 100.0 * total.iops / all)),
            number(latency.map(|l| l.mean)),
            whole(latency.and_then(|l| l.p99)),
        ]
    };
    let rows = m.targets.iter().map(row).collect();
    table("shares", say!("knee-shares"), "", columns, rows)
}

/// The measurements of the shallowest load, the operating point and the peak: where distributions
/// are worth showing.
fn marked(e: &Experiment<Saturation>) -> Vec<(String, &Measurement)> {
    let curve = &e.conclusion.curve;
    let mut places: Vec<(String, usize)> = vec![(say!("knee-shallowest"), 0)];
    if let Some(knee) = &e.conclusion.knee {
        places.push((say!("chart-operating-point"), knee.operating_point.index));
        places.push((say!("chart-peak"), knee.peak.index));
    }
    places.push((say!("knee-deepest"), curve.len().saturating_sub(1)));
    let mut seen = Vec::new();
    let mut named = Vec::new();
    for (name, place) in places {
        let Some(load) = curve.get(place).filter(|_| !seen.contains(&place)) else { continue };
        seen.push(place);
        if let Some(m) = e.measurements.get(load.measurement) {
            let in_flight = words::count(m.in_flight);
            named.push((say!("chart-at", name = name, in_flight = in_flight), m));
        }
    }
    named
}

fn answer(e: &Experiment<Saturation>) -> Vec<Block> {
    let c = &e.conclusion;
    let mut cards = Vec::new();
    match &c.knee {
        None => {
            return vec![Block::Paragraph(say!("knee-none"))];
        }
        Some(knee) => {
            let at = knee.operating_point;
            let half = c.curve.get(at.index).and_then(|load| load.half_width_percent);
            let known = c.knee.as_ref().filter(|_| !is_unsure(half));
            cards.push(Card {
                heading: say!("label-operating-point"),
                judgement: point::judgement(known),
                answer: say!(
                    "knee-answer",
                    in_flight = show_number(at.in_flight),
                    iops = show_number(at.throughput),
                    latency = workload::show_ns(at.latency_ns)
                ),
                evidence: vec![words::clean(&knee.explanation)],
                original: Vec::new(),
                bullet: None,
            });
        }
    }
    cards.extend(c.latency_target.as_ref().map(within));
    let mut blocks = vec![Block::Cards(cards)];
    blocks.extend(c.knee.as_ref().map(|knee| Block::Facts(point::facts(knee, "IOPS", 1.0))));
    let causes = point::reasons(&c.causes);
    if let Some(knee) = c.knee.as_ref().filter(|_| !causes.is_empty()) {
        blocks.push(Block::Paragraph(point::reasons_heading(knee).clone()));
        blocks.push(Block::List(causes));
    }
    if let Some(knee) = &c.knee {
        blocks.extend(setup::of_knee(&e.environment, knee.operating_point.in_flight));
    }
    if let Some(split) = &c.split {
        blocks.push(Block::Paragraph(words::clean(&split.explanation)));
    }
    blocks
}

fn within(within: &WithinLatency) -> Card {
    let judgement = match (within.met, within.expected_iops, within.measurement) {
        (Some(true), ..) | (None, None, Some(_)) => Judgement::Good,
        (Some(false), ..) | (None, None, None) => Judgement::Bad,
        (None, Some(_), _) => Judgement::Unknown,
    };
    let answer = within
        .iops
        .map_or_else(|| say!("knee-nothing-within"), |iops| format!("{} IOPS", show_number(iops)));
    Card {
        heading: say!("knee-within", limit = words::clean(&within.target)),
        judgement,
        answer,
        evidence: vec![words::clean(&within.explanation)],
        original: Vec::new(),
        bullet: None,
    }
}

fn load(load: &CurveLoad) -> Load {
    Load {
        threads: load.threads,
        depth: Some(load.depth),
        in_flight: load.in_flight,
        achieved: Some(load.achieved_in_flight),
        iops: load.iops,
        mib_per_s: load.mib_per_s,
        half_width_percent: load.half_width_percent,
        mean_ns: load.mean_ns,
        p99_ns: load.p99_ns.map(|p| p as f64),
        device: load.device_in_flight,
    }
}

fn charts(e: &Experiment<Saturation>) -> Vec<Chart> {
    let c = &e.conclusion;
    let title = words::clean(&c.title);
    let of = |loads: &[&CurveLoad]| {
        loads.iter().fold(Caption::default(), |caption, l| {
            match e.measurements.get(l.measurement) {
                Some(m) => caption.measurement(m),
                None => caption.load(e.file_bytes, &c.title, l.threads, Some(l.depth), l.in_flight),
            }
        })
    };
    let on_curve: Vec<&CurveLoad> = c.curve.iter().collect();
    let caption = of(&on_curve).text();
    let marks = saturation::marks(c.knee.as_ref());
    let curve = |bandwidth: bool, ceiling| Curve {
        title: &title,
        caption: &caption,
        loads: c.curve.iter().map(load).collect(),
        bandwidth,
        marks: marks.clone(),
        ceiling,
    };
    let link = c.link.as_ref().map(|l| {
        let mib = l.bytes_per_s / MIB;
        (format!("{}, {} MiB/s", words::clean(&l.name), show_number(mib)), mib)
    });
    let large = e.measurements.first().is_some_and(words::is_bandwidth);
    let iops = curve(false, None);
    let mut charts = saturation::against_latency(std::slice::from_ref(&iops), &caption);
    charts.extend(iops.whole("saturation"));
    if link.is_some() || large {
        charts.extend(curve(true, link).whole("bandwidth"));
    }
    charts.extend(iops.queue());
    // Other splits over threads, if they were measured, show whether they are on the curve.
    let same: Vec<&CurveLoad> =
        c.curve.iter().chain(c.controls.iter().filter(|l| l.purpose == Purpose::Split)).collect();
    let caption = of(&same).text();
    let split = Curve {
        caption: &caption,
        loads: same.iter().map(|l| load(l)).collect(),
        ..curve(false, None)
    };
    charts.extend(split.of_total());
    charts.extend(split.of_threads());
    charts
}

/// The search in short, with what each load was for.
fn curve(e: &Experiment<Saturation>) -> Option<Table> {
    let c = &e.conclusion;
    let columns = vec![
        column("purpose", say!("label-for"), Unit::Text),
        column("threads", say!("label-threads"), Unit::Count),
        column("depth", say!("label-depth"), Unit::Count),
        column("in_flight", say!("label-in-flight"), Unit::Count),
        column("achieved_in_flight", say!("label-achieved"), Unit::Number),
        column("device_in_flight", say!("label-at-the-device"), Unit::Number).full(),
        column("block_bytes", say!("label-block"), Unit::Bytes).full(),
        column("iops", "IOPS", Unit::Iops),
        column("half_width_percent", "±", Unit::Percent),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("littles_law_percent", say!("label-off-little-s-law"), Unit::Percent),
    ];
    let all = c.curve.iter().enumerate().map(|(i, l)| (Some(i), l));
    let all = all.chain(c.controls.iter().map(|l| (None, l)));
    let rows = all.map(|(place, l)| row(&purpose(c, place, l), l)).collect();
    let caption = c.curve.iter().fold(Caption::default(), |caption, l| {
        caption.load(e.file_bytes, &c.title, l.threads, Some(l.depth), l.in_flight)
    });
    table(
        "curve",
        say!("heading-the-search-for-the-saturation-point"),
        &caption.text(),
        columns,
        rows,
    )
}

fn row(purpose: &str, l: &CurveLoad) -> Vec<Cell> {
    vec![
        text(purpose),
        whole(l.threads),
        whole(u64::from(l.depth)),
        whole(l.in_flight),
        number(l.achieved_in_flight),
        number(l.device_in_flight),
        number(l.block_bytes),
        number(l.iops),
        number(l.half_width_percent),
        number(l.mib_per_s),
        number(l.mean_ns),
        whole(l.p99_ns),
        // Far below what matters, the sign is that of a rounding.
        number(l.littles_law_percent.map(|p| if p.abs() < 0.005 { 0.0 } else { p })),
    ]
}

fn purpose(c: &Saturation, place: Option<usize>, load: &CurveLoad) -> String {
    match load.purpose {
        Purpose::Split => say!("knee-for-split"),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        Purpose::LargerBlock => {
            say!("knee-for-blocks", size = words::size(load.block_bytes as u64))
        }
        Purpose::LatencyTarget => say!("knee-for-target"),
        Purpose::Curve => match &c.knee {
            Some(knee) if place == Some(knee.operating_point.index) => {
                say!("chart-operating-point")
            }
            Some(knee) if place == Some(knee.peak.index) => say!("chart-peak"),
            _ => say!("knee-for-curve"),
        },
    }
}
