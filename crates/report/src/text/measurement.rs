//! What `iosonde run` says at its end, in the order in which people of the field read a result.

use results::{Checks, Latency, Measurement, Statistics, Status};
use workload::{Nanoseconds, show_number};

use super::kernel;
use super::layout::{Table, WIDTH, shorten_path, wrap};
use crate::words;

/// The result of one measurement for a terminal.
#[must_use]
pub fn measurement(m: &Measurement) -> String {
    let mut out = head(m);
    out.push_str(&throughput(m));
    out.push_str(&steadiness(m));
    out.push_str(&latency(m));
    out.push_str(&streams(m));
    out.push_str(&targets(m));
    out.push('\n');
    if words::is_shape(m) {
        out.push_str(&wrap("Shape       ", words::SHAPE, WIDTH));
    }
    if let Some(cost) = words::cost(m) {
        out.push_str(&wrap("CPU         ", &cost, WIDTH));
    }
    // Another tool asked no kernel, and does not tell its longest gap.
    let own = m.origin.is_none();
    if own {
        out.push_str(&kernel::section(m));
    }
    out.push_str(&checks(m));
    out.push_str(&errors(m));
    if own {
        out.push_str(&stalls(m));
    }
    out.push_str(&warnings(&m.checks));
    out
}

/// What was run, where and how; the file size is in the first line.
fn head(m: &Measurement) -> String {
    let names: Vec<String> = m.targets.iter().map(|t| words::path(&t.path)).collect();
    let bytes = words::file_size(m);
    let file = match names.as_slice() {
        [] => format!("no target, file size {bytes}"),
        [one] => format!("{one}, file size {bytes}"),
        many => format!("{} targets, file size {bytes} in all", many.len()),
    };
    let mut out = format!("{file}\n");
    let mut line = |label: &str, text: &str| {
        out.push_str(&wrap(&format!("  {label:<10} "), text, WIDTH));
    };
    line("load", &m.workload.title());
    line("in flight", &words::in_flight(m));
    line("mode", &words::mode(&m.workload));
    match &m.origin {
        Some(origin) => line("tool", &words::origin(origin)),
        None => line("engine", &words::engine(m)),
    }
    line("measured", &measured(m));
    match m.status {
        Status::Complete => {}
        Status::Interrupted => {
            line("STATUS", "INTERRUPTED: the figures are of the part that was measured.");
        }
        Status::Failed => {
            line("STATUS", "FAILED on an I/O error: the figures are of the part before it.");
        }
    }
    out
}

fn measured(m: &Measurement) -> String {
    let mut text = words::seconds(m.seconds);
    if m.status != Status::Complete {
        text.push_str(&format!(" of {}", words::seconds(m.workload.seconds)));
    }
    format!("{text} {}", words::when(m))
}

/// The kinds of I/O that took place, with their names.
fn kinds(m: &Measurement) -> Vec<(&'static str, &Statistics)> {
    let all = [("total", &m.total), ("read", &m.read), ("write", &m.write), ("sync", &m.sync)];
    let happened = |s: &Statistics| s.ios > 0 || s.errors > 0;
    // The total says nothing new where only one direction ran.
    let mixed = happened(&m.read) && happened(&m.write);
    all.into_iter()
        .filter(|(name, s)| (*name == "total" && mixed) || (*name != "total" && happened(s)))
        .collect()
}

fn throughput(m: &Measurement) -> String {
    let kinds = kinds(m);
    if kinds.is_empty() {
        return "\nThroughput\n  Not one I/O completed in the measured window.\n".to_owned();
    }
    let mut table = Table::new(1, &["", "I/Os", "IOPS", "MiB/s", "errors"]);
    for (name, s) in kinds {
        let moved = if name == "sync" { words::NONE.to_owned() } else { show_number(s.mib_per_s) };
        table.row(vec![
            name.to_owned(),
            words::count(s.ios),
            show_number(s.iops),
            moved,
            words::count(s.errors),
        ]);
    }
    format!("\nThroughput\n{}", table.show())
}

/// How well the mean is known. What is not settled stands among the warnings, where it was asked
/// for.
fn steadiness(m: &Measurement) -> String {
    let mut out = String::new();
    let known = m.steady.as_ref().filter(|s| s.settled || m.workload.precision.is_none());
    if let Some((steady, width)) = known.and_then(|s| Some((s, s.half_width_percent?))) {
        let (mean, width) = (show_number(steady.mean), show_number(width));
        let over = words::seconds(steady.seconds);
        out.push_str(&format!(
            "  mean {mean} IOPS ± {width} % (95 % interval of the mean over {over})\n"
        ));
    }
    if let Some(phases) = &m.phases {
        for (name, plateau) in [("first", &phases.cached), ("then", &phases.sustained)] {
            let (from, mean) = (words::seconds(plateau.from_s), show_number(plateau.mean));
            let seconds = words::seconds(plateau.seconds);
            out.push_str(&format!("  {name:<5} {mean} IOPS for {seconds}, from {from} on\n"));
        }
    }
    if let Some(rounds) = &m.rounds {
        let (range, slope) = (rounds.range_percent, rounds.slope_percent);
        let steady = if rounds.settled { "steady" } else { "not steady" };
        out.push_str(&format!(
            "  five rounds: range {range:.0} %, slope {slope:.0} % of the mean: {steady} (SNIA: \
             20 %, 10 %)\n"
        ));
    }
    out
}

/// The distributions of one kind of I/O: latency, and in an open loop its two parts.
fn distributions(name: &str, s: &Statistics) -> Vec<(String, Latency)> {
    let open = s.service_ns.is_some() || s.delay_ns.is_some();
    let parts = [
        (name.to_owned(), s.latency_ns),
        (format!("{name} service"), s.service_ns),
        (format!("{name} delay"), s.delay_ns),
    ];
    let wanted = parts.into_iter().filter(|_| name != "total" || !open);
    wanted.filter_map(|(name, latency)| Some((name, latency?))).collect()
}

fn latency(m: &Measurement) -> String {
    let all: Vec<(String, Latency)> =
        kinds(m).into_iter().flat_map(|(name, s)| distributions(name, s)).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut headings = vec![""];
    headings.extend(all.iter().map(|(name, _)| name.as_str()));
    let mut table = Table::new(1, &headings);
    let mut row = |name: &str, of: &dyn Fn(&Latency) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(all.iter().map(|(_, l)| of(l)));
        table.row(cells);
    };
    row("min", &|l| words::time_of_tool(m, l.min));
    row("mean", &|l| words::mean_of_tool(m, l.mean));
    for (i, (name, _)) in Latency::default().percentiles().iter().enumerate() {
        row(name, &|l| words::time(l.percentiles()[i].1));
    }
    row("max", &|l| words::time_of_tool(m, l.max));
    let absent = all.iter().any(|(_, l)| l.percentiles().iter().any(|(_, v)| v.is_none()));
    let mut out = format!("\nLatency\n{}", table.show());
    let known = |l: &Latency| l.percentiles().iter().any(|(_, v)| v.is_some());
    match &m.origin {
        Some(origin) if absent => {
            let few = if all.iter().any(|(_, l)| known(l)) {
                ", or fewer than ten I/Os lie above"
            } else {
                ""
            };
            out.push_str(&format!("  – : {} does not tell{few}.\n", words::clean(&origin.tool)));
        }
        None if absent => out.push_str("  – : fewer than ten I/Os lie above this percentile.\n"),
        _ => {}
    }
    let percents = m.origin.as_ref().and_then(|o| o.histogram_percent.as_ref());
    out + &percents.map_or_else(String::new, |percents| milliseconds(percents))
}

/// The share of I/Os in each millisecond, of which the last stands for all above.
fn milliseconds(percents: &[u8]) -> String {
    let (mut ms, mut share) = ("  ms  ".to_owned(), "  %   ".to_owned());
    for (number, percent) in percents.iter().enumerate() {
        ms.push_str(&format!("{number:>3}"));
        share.push_str(&format!("{percent:>3}"));
    }
    format!("{ms}+\n{share}\n")
}

fn figures(s: &Statistics) -> Vec<String> {
    vec![
        show_number(s.iops),
        show_number(s.mib_per_s),
        words::mean_time(words::mean_of(s)),
        words::time(s.latency_ns.and_then(|l| l.p99)),
        words::time(s.latency_ns.map(|l| l.max)),
        words::count(s.errors),
    ]
}

fn streams(m: &Measurement) -> String {
    if m.streams.len() < 2 {
        return String::new();
    }
    let headings = ["stream", "threads × depth", "IOPS", "MiB/s", "mean", "p99", "max", "errors"];
    let mut table = Table::new(1, &headings);
    for s in &m.streams {
        let mut row = vec![
            words::clean(&s.name),
            format!("{} × {}", words::count(s.threads), words::count(s.depth.into())),
        ];
        row.extend(figures(&s.total));
        table.row(row);
    }
    let mut out = format!("\nStreams\n{}", table.show());
    for stream in &m.workload.streams {
        let first = format!("  {}: ", words::clean(&stream.name));
        out.push_str(&wrap(&first, &stream.title(), WIDTH));
    }
    out
}

fn targets(m: &Measurement) -> String {
    if m.targets.len() < 2 {
        return String::new();
    }
    let headings = ["target", "file size", "IOPS", "MiB/s", "mean", "p99", "max", "errors"];
    let mut table = Table::new(1, &headings);
    for t in &m.targets {
        let mut row = vec![shorten_path(&words::path(&t.path), 32), words::size(t.file_bytes)];
        row.extend(figures(&t.total));
        table.row(row);
    }
    format!("\nTargets\n{}", table.show())
}

fn checks(m: &Measurement) -> String {
    let asked = m.in_flight as f64;
    let known = words::achieved(m);
    let mut text = format!("{} asked", words::count(m.in_flight));
    if let Some(achieved) = known {
        text.push_str(&format!(", {} achieved on average", show_number(achieved)));
    }
    if known.is_some() && asked > 0.0 && m.achieved_in_flight.is_finite() {
        let share = 100.0 * m.achieved_in_flight / asked;
        text.push_str(&format!(" ({})", words::percent(Some(share))));
    }
    if let Some(deviation) = m.checks.littles_law_percent {
        let off = words::percent(Some(deviation));
        text.push_str(&format!("; {off} off IOPS × service time (Little's law)"));
    }
    let mut out = wrap("In flight   ", &text, WIDTH);
    if let Some(reached) = m.checks.rate_reached_percent {
        let text = format!("{} of what was offered was reached", words::percent(Some(reached)));
        out.push_str(&wrap("Rate        ", &text, WIDTH));
    }
    if let Some(ceiling) = m.checks.tool_ceiling_iops {
        let used = words::percent(Some(100.0 * m.total.iops / ceiling));
        let text = format!(
            "{} IOPS without any I/O on this host; {used} of it used",
            show_number(ceiling)
        );
        out.push_str(&wrap("Tool limit  ", &text, WIDTH));
    }
    out
}

fn errors(m: &Measurement) -> String {
    if m.errors.is_empty() {
        return String::new();
    }
    let mut out = "\nErrors\n".to_owned();
    for e in &m.errors {
        let text = format!(
            "{} {} failed on {}, the first at offset {}: {}",
            words::count(e.count),
            words::clean(&e.operation),
            words::path(&e.path),
            words::count(e.first_offset_bytes),
            words::clean(&e.message)
        );
        out.push_str(&wrap("  - ", &text, WIDTH));
    }
    out
}

fn stalls(m: &Measurement) -> String {
    let stalls = &m.stalls;
    let mut text = format!(
        "longest time without a completion on one thread {}",
        Nanoseconds(stalls.longest_gap_ns)
    );
    if stalls.over_15_s > 0 {
        let many = words::plural(stalls.over_15_s, "I/O", "I/Os");
        text.push_str(&format!("; {many} took 15 s or more"));
    }
    if stalls.unfinished > 0 {
        let oldest = Nanoseconds(stalls.oldest_unfinished_ns);
        let many = words::plural(stalls.unfinished, "I/O", "I/Os");
        text.push_str(&format!("; {many} NEVER RETURNED, the oldest after {oldest}"));
    }
    wrap("Stalls      ", &text, WIDTH)
}

fn warnings(checks: &Checks) -> String {
    if checks.warnings.is_empty() {
        return String::new();
    }
    let mut out = "\nWarnings\n".to_owned();
    for warning in &checks.warnings {
        out.push_str(&wrap("  ! ", &words::clean(warning), WIDTH));
    }
    out
}
