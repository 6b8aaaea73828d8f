//! One point of a search: what all of its hosts measured, as one measurement.

use std::collections::BTreeMap;

use fleet::{FleetRun, HostRun};
use results::{
    Checks, Cpu, Environment, FleetWindow, HostMeasurement, MEASUREMENT_SCHEMA, Measurement, Point,
    Stalls, Statistics, StreamResult, TargetResult,
};
use workload::{Target, Workload};

use crate::document::worst;
use crate::together::{self, Span};
use crate::watching;

/// A host and what it measured.
struct Part {
    name: String,
    late_ns: Option<u64>,
    from_s: f64,
    measurement: Measurement,
}

/// Puts together what the hosts of one point measured; `hosts` has that of each target. Why that
/// cannot be done is a sentence.
pub(crate) fn combined(
    workload: &Workload,
    hosts: &[&str],
    run: FleetRun,
    environment: &Environment,
) -> Result<Measurement, String> {
    let parts: Vec<Part> = run.hosts.into_iter().map(part).collect::<Result<_, _>>()?;
    let spans = parts.iter().map(|part| Span {
        from_s: part.from_s,
        to_s: part.from_s + part.measurement.seconds,
        series: &part.measurement.series,
    });
    let window = together::window(&spans.collect::<Vec<_>>())
        .ok_or("there was no time in which every host ran")?;
    let Some(first) = parts.first().map(|part| &part.measurement) else {
        return Err("no host took part".to_owned());
    };
    let all = || parts.iter().map(|part| &part.measurement);
    let add = |of: fn(&Measurement) -> u64| all().map(of).sum::<u64>();
    let mut whole = Measurement {
        schema: MEASUREMENT_SCHEMA.to_owned(),
        id: engine::new_id(jiff::Timestamp::now()),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: first.started.clone(),
        origin: None,
        status: worst(&all().cloned().collect::<Vec<_>>()),
        workload: workload.clone(),
        environment: environment.clone(),
        engine: first.engine.clone(),
        seconds: window.seconds,
        threads: add(|m| m.threads),
        depth: first.depth.filter(|depth| all().all(|m| m.depth == Some(*depth))),
        in_flight: add(|m| m.in_flight),
        achieved_in_flight: all().map(|m| m.achieved_in_flight).sum(),
        file_bytes: add(|m| m.file_bytes),
        total: merged(&parts, |m| &m.total),
        read: merged(&parts, |m| &m.read),
        write: merged(&parts, |m| &m.write),
        sync: merged(&parts, |m| &m.sync),
        streams: streams(&parts),
        targets: targets(workload, hosts, &parts),
        // Each host has those of its own threads.
        threads_detail: Vec::new(),
        series: series(&parts),
        warmup_series: Vec::new(),
        warmed: None,
        steady: None,
        phases: None,
        rounds: None,
        cpu: cpu(&parts),
        kernel: None,
        errors: all().flat_map(|m| m.errors.iter().cloned()).collect(),
        stalls: stalls(&parts),
        checks: Checks { warnings: warnings(&parts), ..Checks::default() },
        hosts: Vec::new(),
    };
    whole.checks.rate_reached_percent =
        all().filter_map(|m| m.checks.rate_reached_percent).reduce(f64::min);
    only_together(&mut whole, &window);
    survey::add_steadiness(&mut whole);
    whole.hosts = parts.into_iter().map(own).collect();
    Ok(whole)
}

fn part(host: HostRun) -> Result<Part, String> {
    let HostRun { name, late_ns, window_ns, measurement, lost, .. } = host;
    if let Some(reason) = lost {
        return Err(format!("lost the host `{name}`: {reason}"));
    }
    let measurement = measurement.ok_or_else(|| format!("the host `{name}` has no result"))?;
    let measurement = serde_json::from_str(&measurement)
        .map_err(|error| format!("the result of the host `{name}` cannot be read: {error}"))?;
    Ok(Part { name, late_ns, from_s: window_ns.unwrap_or(0) as f64 / 1e9, measurement })
}

/// What a host measured, as it says.
fn own(part: Part) -> HostMeasurement {
    let Part { name, late_ns, from_s, measurement } = part;
    HostMeasurement { name, late_ns, from_s, measurement }
}

/// Rates are of the time in which every host ran.
fn only_together(whole: &mut Measurement, window: &FleetWindow) {
    whole.total.iops = window.read_iops + window.write_iops;
    whole.total.mib_per_s = window.read_mib_per_s + window.write_mib_per_s;
    (whole.read.iops, whole.read.mib_per_s) = (window.read_iops, window.read_mib_per_s);
    (whole.write.iops, whole.write.mib_per_s) = (window.write_iops, window.write_mib_per_s);
}

fn merged(parts: &[Part], of: fn(&Measurement) -> &Statistics) -> Statistics {
    together::sum(&parts.iter().map(|part| of(&part.measurement)).collect::<Vec<_>>())
}

/// Streams of one name on all hosts.
fn streams(parts: &[Part]) -> Vec<StreamResult> {
    let mut names: Vec<&str> = Vec::new();
    let all = || parts.iter().flat_map(|part| &part.measurement.streams);
    for stream in all() {
        if !names.contains(&stream.name.as_str()) {
            names.push(&stream.name);
        }
    }
    let one = |name: &str| {
        let same: Vec<&StreamResult> = all().filter(|stream| stream.name == name).collect();
        let of = |of: fn(&StreamResult) -> &Statistics| {
            together::sum(&same.iter().map(|stream| of(stream)).collect::<Vec<_>>())
        };
        StreamResult {
            name: name.to_owned(),
            threads: same.iter().map(|stream| stream.threads).sum(),
            depth: same.first().map_or(0, |stream| stream.depth),
            rate_reached_percent: same
                .iter()
                .filter_map(|stream| stream.rate_reached_percent)
                .reduce(f64::min),
            total: of(|stream| &stream.total),
            read: of(|stream| &stream.read),
            write: of(|stream| &stream.write),
            sync: of(|stream| &stream.sync),
        }
    };
    names.into_iter().map(one).collect()
}

/// All targets of the search in their order, each with its host in `hosts`. Those of hosts that
/// took no part did nothing.
fn targets(workload: &Workload, hosts: &[&str], parts: &[Part]) -> Vec<TargetResult> {
    let mut measured: BTreeMap<String, std::slice::Iter<'_, TargetResult>> =
        parts.iter().map(|part| (part.name.clone(), part.measurement.targets.iter())).collect();
    let mut result = |target: &Target, host: &str| {
        let found = measured.get_mut(host).and_then(Iterator::next);
        let path = target.path.clone();
        let nothing = || TargetResult {
            path: path.clone(),
            file_bytes: 0,
            content: String::new(),
            total: Statistics::default(),
            read: Statistics::default(),
            write: Statistics::default(),
            sync: Statistics::default(),
        };
        found.map_or_else(nothing, |found| TargetResult { path: path.clone(), ..found.clone() })
    };
    let both = workload.targets.iter().zip(hosts);
    both.map(|(target, host)| result(target, host)).collect()
}

/// The intervals that all hosts have, added up.
fn series(parts: &[Part]) -> Vec<Point> {
    let all = || parts.iter().map(|part| &part.measurement.series);
    let length = all().map(Vec::len).min().unwrap_or(0);
    let at = |at: usize| watching::sum(&all().filter_map(|s| s.get(at)).collect::<Vec<_>>());
    (0..length).filter_map(at).collect()
}

/// Seconds of all hosts; of percentages, the highest of a host.
fn cpu(parts: &[Part]) -> Cpu {
    let all = || parts.iter().map(|part| &part.measurement.cpu);
    let sum = |of: fn(&Cpu) -> Option<f64>| all().map(of).sum::<Option<f64>>();
    let (user_s, system_s) = (sum(|c| c.user_s), sum(|c| c.system_s));
    let ios: u64 = parts.iter().map(|part| part.measurement.total.ios).sum();
    let per_io = |seconds: f64| (ios > 0).then(|| seconds * 1e6 / ios as f64);
    let most = |of: fn(&Cpu) -> Option<f64>| all().filter_map(of).reduce(f64::max);
    Cpu {
        user_s,
        system_s,
        user_us_per_io: user_s.and_then(per_io),
        total_us_per_io: user_s.zip(system_s).and_then(|(user, system)| per_io(user + system)),
        busiest_thread_percent: most(|c| c.busiest_thread_percent),
        busiest_core_percent: most(|c| c.busiest_core_percent),
        host_percent: most(|c| c.host_percent),
    }
}

fn stalls(parts: &[Part]) -> Stalls {
    let all = || parts.iter().map(|part| part.measurement.stalls);
    Stalls {
        longest_gap_ns: all().map(|s| s.longest_gap_ns).max().unwrap_or(0),
        over_15_s: all().map(|s| s.over_15_s).sum(),
        unfinished: all().map(|s| s.unfinished).sum(),
        oldest_unfinished_ns: all().map(|s| s.oldest_unfinished_ns).max().unwrap_or(0),
        slowest_second_iops: None,
    }
}

/// Every reason to doubt figures of hosts, once, with the names of those that have it.
fn warnings(parts: &[Part]) -> Vec<String> {
    let mut hosts: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in parts {
        for warning in &part.measurement.checks.warnings {
            match hosts.iter_mut().find(|(known, _)| known == warning) {
                Some((_, names)) => names.push(&part.name),
                None => hosts.push((warning, vec![&part.name])),
            }
        }
    }
    let said = |(warning, names): (&str, Vec<&str>)| {
        let all = names.len() == parts.len() && parts.len() > 1;
        if all { warning.to_owned() } else { format!("{}: {warning}", names.join(", ")) }
    };
    hosts.into_iter().map(said).collect()
}
