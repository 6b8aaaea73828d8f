//! A workload that was made of a trace, and how well it stands for it.

use results::{
    Experiment, ModelledArrivals, ModelledClass, ModelledDevice, ModelledStream, TraceModel,
};
use workload::show_ns;

use super::capture::word;
use super::make::{column, fact, number, section, table, text, whole};
use super::replay::part;
use crate::language::say;
use crate::model::{Block, Cell, Section, Table, Unit};
use crate::words;

/// All sections of a report on a model.
pub(super) fn sections(e: &Experiment<TraceModel>) -> Vec<Section> {
    let c = &e.conclusion;
    let mut facts = part(&c.part);
    let arrivals = match c.arrivals {
        ModelledArrivals::Poisson => say!("model-poisson"),
        ModelledArrivals::Windows { window_ns, evenly } => {
            let time = show_ns(window_ns as f64);
            if evenly {
                say!("model-windows-even", time = time)
            } else {
                say!("model-windows-random", time = time)
            }
        }
    };
    facts.push(fact(say!("label-arrivals"), arrivals));
    let load = [Block::Facts(facts)].into_iter().chain(streams(c).map(Block::Table));
    let sections = [
        section(
            "model",
            say!("heading-model-distances"),
            distances(c).map(Block::Table).into_iter().collect(),
        ),
        section("load", say!("heading-model-streams"), load.collect()),
    ];
    sections.into_iter().flatten().collect()
}

fn streams(c: &TraceModel) -> Option<Table> {
    let columns = vec![
        column("stream", say!("label-stream"), Unit::Text),
        column("title", say!("label-load"), Unit::Text),
        column("ios", say!("label-i-os"), Unit::Count),
        column("iops", "IOPS", Unit::Iops),
        column("flushes", say!("capture-flushes"), Unit::Count),
        column("dispersion", say!("label-dispersion-10-ms"), Unit::Number),
    ];
    let row = |stream: &ModelledStream| -> Vec<Cell> {
        vec![
            text(words::clean(&stream.name)),
            text(words::clean(&stream.title)),
            whole(stream.ios),
            number(stream.iops),
            whole(stream.flushes),
            number(stream.dispersion),
        ]
    };
    table(
        "streams",
        say!("heading-model-streams"),
        "",
        columns,
        c.streams.iter().map(row).collect(),
    )
}

fn distances(c: &TraceModel) -> Option<Table> {
    let columns = vec![
        column("device", say!("label-device"), Unit::Text),
        column("used_percent", say!("label-used-share"), Unit::Percent),
        column("kind", say!("label-kind"), Unit::Text),
        column("trace_p50_ns", say!("label-trace-p50"), Unit::Nanoseconds).full(),
        column("model_p50_ns", say!("label-model-p50"), Unit::Nanoseconds).full(),
        column("trace_p99_ns", say!("label-trace-p99"), Unit::Nanoseconds),
        column("model_p99_ns", say!("label-model-p99"), Unit::Nanoseconds),
        column("demerit", say!("label-demerit"), Unit::Number),
        column("floor", say!("label-demerit-again"), Unit::Number).full(),
        column("at_most", say!("label-at-most"), Unit::Number),
        column("is_close", say!("label-close"), Unit::Text),
    ];
    let row = |device: &ModelledDevice, class: &ModelledClass| -> Vec<Cell> {
        vec![
            text(words::clean(&device.name)),
            number(device.used_percent),
            text(word(class.kind)),
            whole(class.trace_ns.p50),
            whole(class.model_ns.map(|l| l.p50)),
            whole(class.trace_ns.p99),
            whole(class.model_ns.map(|l| l.p99)),
            number(class.demerit),
            number(class.floor),
            number(class.at_most),
            text(if class.is_close { say!("model-close") } else { say!("model-not-close") }),
        ]
    };
    let rows = c.devices.iter().flat_map(|d| d.classes.iter().map(move |class| (d, class)));
    let rows = rows.map(|(device, class)| row(device, class)).collect();
    table("distances", say!("heading-model-distances"), &say!("model-demerit"), columns, rows)
}
