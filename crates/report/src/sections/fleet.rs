//! One load on many hosts.

use results::{Document, Experiment, Fleet, FleetHost, FleetMerged, Measurement};
use workload::{show_ns, show_number};

use super::caption;
use super::make::{
    Drawn, Named, beside, chart, column, fact, full, full_section, names, number, points, section,
    series, table, text, throughput, whole,
};
use super::{agreement, latency, loads, tested, time};
use crate::language::{count, say};
use crate::model::{Block, Card, Cell, Fact, Judgement, Section, Shape, Side, Table, Unit};
use crate::words;

/// Answer, the hosts, what they did together, charts and tables.
pub(super) fn sections(e: &Experiment<Fleet>) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> = measured(e).collect();
    let document = Document::Fleet(Box::new(e.clone()));
    let together = [together(e), hosts(e)].into_iter().flatten().map(Block::Table);
    let every = loads::shown(&document).map(|table| full([Block::Table(table)]));
    let sections = [
        section("verdict", say!("heading-result"), answer(e)),
        tested::of_experiment(e, start(&e.conclusion)),
        section("hosts", say!("fleet-heading-hosts"), together.chain(drawn(e)).collect()),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        full_section(latency::of(&named, false)),
        section("loads", say!("heading-figures"), every.into_iter().collect()),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

/// Each measurement with the name of its host.
fn measured(e: &Experiment<Fleet>) -> impl Iterator<Item = (String, &Measurement)> {
    let of = |host: &FleetHost| {
        let place = usize::try_from(host.measurement?).ok()?;
        e.measurements.get(place)
    };
    e.conclusion.hosts.iter().filter_map(move |host| Some((words::clean(&host.name), of(host)?)))
}

fn answer(e: &Experiment<Fleet>) -> Vec<Block> {
    let fleet = &e.conclusion;
    let lost: Vec<&FleetHost> = fleet.hosts.iter().filter(|host| host.lost.is_some()).collect();
    let hosts = count(fleet.hosts.len());
    let answer = match &fleet.window {
        None => say!("fleet-no-window"),
        Some(window) => say!(
            "fleet-answer",
            hosts = hosts,
            iops = show_number(window.read_iops + window.write_iops),
            mib = show_number(window.read_mib_per_s + window.write_mib_per_s),
            seconds = show_number(window.seconds)
        ),
    };
    let judgement = match (&fleet.window, lost.len()) {
        (None, _) => Judgement::Unknown,
        (Some(_), 0) => Judgement::Good,
        (Some(_), _) => Judgement::Bad,
    };
    let reason = |host: &&FleetHost| {
        let reason = words::clean(host.lost.as_deref().unwrap_or_default());
        say!("fleet-lost", host = words::clean(&host.name), reason = reason)
    };
    let card = Card {
        heading: say!("fleet-heading-together"),
        judgement,
        answer,
        evidence: lost.iter().map(reason).collect(),
        original: Vec::new(),
        bullet: None,
    };
    vec![Block::Cards(vec![card])]
}

/// How close together the hosts started.
fn start(fleet: &Fleet) -> Vec<Fact> {
    let skew = fleet.start_skew_ns.map(|ns| fact(say!("fleet-start-skew"), show_ns(ns as f64)));
    let clocks = fleet.clock_bound_ns.map(|ns| fact(say!("fleet-clocks"), show_ns(ns as f64)));
    let transport = fact(say!("fleet-transport"), words::clean(&fleet.transport));
    [Some(transport), skew, clocks].into_iter().flatten().collect()
}

/// A table with the figures of every host.
fn hosts(e: &Experiment<Fleet>) -> Option<Table> {
    let columns = vec![
        column("host", say!("label-host"), Unit::Text),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("late_ns", say!("fleet-late"), Unit::Nanoseconds),
        column("from_s", say!("fleet-from"), Unit::Seconds),
        column("to_s", say!("fleet-to"), Unit::Seconds),
        column("clock_bound_ns", say!("fleet-clock"), Unit::Nanoseconds).full(),
        column("hostname", say!("fleet-hostname"), Unit::Text).full(),
        column("version", say!("label-version"), Unit::Text).full(),
        column("missing_events", say!("fleet-missing"), Unit::Count).full(),
        column("lost", say!("fleet-why-lost"), Unit::Text),
    ];
    let row = |host: &FleetHost| {
        let place = host.measurement.and_then(|place| usize::try_from(place).ok());
        let latency = place.and_then(|p| e.measurements.get(p)?.total.latency_ns);
        vec![
            text(&host.name),
            number(host.iops),
            number(host.mib_per_s),
            number(latency.map(|l| l.mean)),
            whole(latency.and_then(|l| l.p99)),
            whole(host.late_ns),
            number(host.from_s),
            number(host.to_s),
            whole(host.clock_bound_ns),
            text(&host.hostname),
            text(&host.version),
            whole(Some(host.missing_events).filter(|missing| *missing > 0)),
            text(host.lost.as_deref().unwrap_or_default()),
        ]
    };
    let rows: Vec<Vec<Cell>> = e.conclusion.hosts.iter().map(row).collect();
    table("hosts", say!("fleet-heading-each"), &caption::of(&e.measurements), columns, rows)
}

/// Latencies over all hosts, of the merged histograms.
fn together(e: &Experiment<Fleet>) -> Option<Table> {
    let merged = e.conclusion.merged.as_ref()?;
    let FleetMerged { hosts: _, total, read, write, sync } = merged;
    let columns = vec![
        column("kind", say!("fleet-kind"), Unit::Text),
        column("ios", "I/Os", Unit::Count),
        column("errors", say!("fleet-failed"), Unit::Count),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p50_ns", "p50", Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_p99_9_ns", "p99.9", Unit::Nanoseconds),
        column("latency_max_ns", say!("fleet-longest"), Unit::Nanoseconds),
    ];
    let kinds = [("total", total), ("read", read), ("write", write), ("sync", sync)];
    let done = kinds.into_iter().filter(|(_, s)| s.ios > 0 || s.errors > 0);
    let rows = done.map(|(kind, s)| {
        vec![
            text(kind),
            whole(s.ios),
            whole(Some(s.errors).filter(|errors| *errors > 0)),
            number(s.latency_ns.map(|l| l.mean)),
            whole(s.latency_ns.and_then(|l| l.p50)),
            whole(s.latency_ns.and_then(|l| l.p99)),
            whole(s.latency_ns.and_then(|l| l.p99_9)),
            whole(s.latency_ns.and_then(|l| l.max)),
        ]
    });
    let title = say!("fleet-heading-merged");
    table("merged", title, &caption::of(&e.measurements), columns, rows.collect())
}

/// A chart with the share of each host.
fn drawn(e: &Experiment<Fleet>) -> Option<Block> {
    let hosts = &e.conclusion.hosts;
    let labels = hosts.iter().map(|host| words::clean(&host.name)).collect();
    let shares = points(hosts.iter().enumerate().map(|(i, host)| (i as f64, host.iops)));
    let (title, caption) = (say!("fleet-chart"), caption::of(&e.measurements));
    let named = Named { key: "each-host", title: &title, caption: &caption };
    let drawn = Drawn {
        x: names(say!("label-host"), labels),
        left: throughput(false),
        right: None,
        series: vec![series("IOPS", Shape::Columns, Side::Left, shares)],
        marks: Vec::new(),
    };
    beside(chart(&named, drawn).into_iter().collect())
}
