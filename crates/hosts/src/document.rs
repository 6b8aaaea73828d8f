//! The one document of all hosts.

use std::collections::HashSet;
use std::path::PathBuf;

use fleet::{FleetRun, HostRun, LossPolicy};
use jiff::Timestamp;
use results::{
    Conclusion, Environment, Experiment, Fleet, FleetHost, Measurement, OnLoss, Point, Status,
};
use workload::{Workload, show_ns};

use crate::together::{self, Span};

/// Clocks that are known worse than this make the skew doubtful.
const BOUND_NS: u64 = 10_000_000;

/// What the document says about the run besides what [`FleetRun`] has.
pub(crate) struct About<'a> {
    pub id: &'a str,
    pub started: Timestamp,
    pub transport: &'a str,
    /// What the hosts were to do, before names of hosts were put into it.
    pub workload: &'a Workload,
    /// The intervals that arrived, of each host.
    pub series: Vec<Vec<Point>>,
    /// The plan that `iosonde again` repeats, as JSON.
    pub plan: Option<serde_json::Value>,
}

/// Puts together what the hosts did.
pub(crate) fn document(run: FleetRun, about: About<'_>) -> Experiment<Fleet> {
    let (mut measurements, mut hosts, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let interrupted = run.interrupted;
    for (host, series) in run.hosts.into_iter().zip(about.series) {
        let (host, measurement) = described(host, series, measurements.len());
        warnings.extend(doubts(&host, measurement.as_ref()));
        hosts.push(host);
        measurements.extend(measurement);
    }
    make_unique(&mut measurements);
    let status = match (interrupted, hosts.iter().any(|host| host.lost.is_some())) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Failed,
        (false, false) => worst(&measurements),
    };
    let (window, skew) = (place(&mut hosts, &measurements), skew(&hosts));
    let clock_bound_ns = hosts.iter().filter_map(|host| host.clock_bound_ns).max();
    if let Some(bound) = clock_bound_ns.filter(|bound| *bound > BOUND_NS) {
        warnings.push(format!(
            "The clocks of the hosts are known only to {}, so the hosts may have started further \
             apart than the skew says.",
            show_ns(bound as f64)
        ));
    }
    if window.is_none() {
        warnings.push("There was no time in which every host ran: nothing is added up.".to_owned());
    }
    Experiment {
        schema: Fleet::SCHEMA.to_owned(),
        id: about.id.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: about.started.to_string(),
        finished: Timestamp::now().to_string(),
        status,
        plan: about.plan,
        targets: targets(about.workload, &measurements),
        file_bytes: measurements.iter().map(|m| m.file_bytes).sum(),
        // Each measurement has that of its host.
        environment: Environment { host: None, storage: Vec::new() },
        conclusion: Fleet {
            transport: about.transport.to_owned(),
            on_loss: match run.on_loss {
                LossPolicy::Abort => OnLoss::Abort,
                LossPolicy::Continue => OnLoss::Continue,
            },
            start_skew_ns: skew,
            clock_bound_ns,
            window,
            merged: together::merged(&measurements),
            hosts,
        },
        measurements,
        method: method(),
        warnings,
    }
}

/// How the hosts ended, where none was lost.
pub(crate) fn worst(measurements: &[Measurement]) -> Status {
    let is = |status| measurements.iter().any(|m| m.status == status);
    match (is(Status::Failed), is(Status::Interrupted)) {
        (true, _) => Status::Failed,
        (false, true) => Status::Interrupted,
        (false, false) => Status::Complete,
    }
}

/// A host as the document has it, and its measurement. One that cannot be read is lost.
fn described(host: HostRun, series: Vec<Point>, place: usize) -> (FleetHost, Option<Measurement>) {
    let read = host.measurement.map(|value| serde_json::from_str::<Measurement>(&value));
    let (measurement, unread) = match read.transpose() {
        Ok(measurement) => (measurement, None),
        Err(error) => (None, Some(format!("its result cannot be read: {error}"))),
    };
    let from_s = host.window_ns.map(|ns| ns as f64 / 1e9);
    let arrived_s = series.last().map(|point| point.t);
    let seconds = measurement.as_ref().map(|m| m.seconds).or(arrived_s);
    let described = FleetHost {
        name: host.name,
        hostname: host.hostname,
        version: host.version,
        measurement: measurement.as_ref().map(|_| place as u64),
        clock_bound_ns: host.clock.map(|clock| clock.bound_ns),
        late_ns: host.late_ns,
        from_s,
        to_s: from_s.zip(seconds).map(|(from, seconds)| from + seconds),
        iops: None,
        mib_per_s: None,
        lost: host.lost.or(unread),
        missing_events: host.missing_events,
        series: if measurement.is_some() { Vec::new() } else { series },
    };
    (described, measurement)
}

/// Every reason to doubt a host's figures, with its name.
fn doubts(host: &FleetHost, measurement: Option<&Measurement>) -> Vec<String> {
    let own = measurement.into_iter().flat_map(|m| &m.checks.warnings);
    let mut doubts: Vec<String> = own.map(|text| format!("{}: {text}", host.name)).collect();
    if let Some(reason) = &host.lost {
        doubts.push(format!("{}: this host was lost: {reason}.", host.name));
    }
    if host.missing_events > 0 {
        doubts.push(format!(
            "{}: {} events did not arrive, so what was shown while it ran has gaps.",
            host.name, host.missing_events
        ));
    }
    doubts
}

/// Programs on two hosts may have given the same name at the same moment.
fn make_unique(measurements: &mut [Measurement]) {
    let mut seen = HashSet::new();
    for (number, measurement) in measurements.iter_mut().enumerate() {
        if !seen.insert(measurement.id.clone()) {
            measurement.id = format!("{}-{number}", measurement.id);
        }
    }
}

/// The time in which every host ran; each host is told its part of it.
fn place(hosts: &mut [FleetHost], measurements: &[Measurement]) -> Option<results::FleetWindow> {
    // The hosts are changed below, so their intervals are copied.
    let span = |host: &FleetHost| {
        let (from_s, to_s) = host.from_s.zip(host.to_s)?;
        let place = host.measurement.and_then(|place| usize::try_from(place).ok());
        let measured = place.and_then(|place| measurements.get(place));
        let series = measured.map_or(&host.series, |m| &m.series).clone();
        Some((from_s, to_s, series))
    };
    let ran: Vec<(f64, f64, Vec<Point>)> = hosts.iter().map(span).collect::<Option<_>>()?;
    let spans = ran.iter().map(|(from_s, to_s, series)| {
        let (from_s, to_s) = (*from_s, *to_s);
        Span { from_s, to_s, series }
    });
    let spans: Vec<Span<'_>> = spans.collect();
    let window = together::window(&spans)?;
    for (host, span) in hosts.iter_mut().zip(&spans) {
        let rates = span.rates(window.from_s, window.from_s + window.seconds);
        host.iops = Some(rates.read_iops + rates.write_iops);
        host.mib_per_s = Some(rates.read_mib_per_s + rates.write_mib_per_s);
    }
    Some(window)
}

/// Between the first start and the last.
fn skew(hosts: &[FleetHost]) -> Option<u64> {
    let late: Vec<u64> = hosts.iter().filter_map(|host| host.late_ns).collect();
    let (first, last) = (late.iter().min()?, late.iter().max()?);
    (late.len() > 1).then(|| last - first)
}

/// What received the I/O, each once; as it was asked for where nothing was measured.
fn targets(workload: &Workload, measurements: &[Measurement]) -> Vec<PathBuf> {
    let mut targets: Vec<PathBuf> = Vec::new();
    for target in measurements.iter().flat_map(|m| &m.workload.targets) {
        if !targets.contains(&target.path) {
            targets.push(target.path.clone());
        }
    }
    if targets.is_empty() {
        targets.extend(workload.targets.iter().map(|target| target.path.clone()));
    }
    targets
}

fn method() -> Vec<String> {
    [
        "Every host made its targets ready and voted before any of them began.",
        "The clocks were compared by 16 pings per host, with four time stamps each. The fastest \
         one counts; it is wrong by at most half of its round trip.",
        "All hosts began at one named moment, without a further message.",
        "Totals are of the time in which every host ran. An interval that is partly in it counts \
         in proportion.",
        "Latencies of all hosts are those of merged histograms; no percentile is an average.",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::ClockEstimate;
    use workload::{Stream, Target};

    fn workload() -> Workload {
        Workload::single(Target { path: "/data".into(), size_bytes: None }, Stream::default())
    }

    fn point(t: f64) -> Point {
        let mut value = serde_json::json!({ "t": t, "seconds": 1.0, "errors": 0 });
        for rate in ["read_iops", "write_iops", "read_mib_per_s", "write_mib_per_s"] {
            value[rate] = serde_json::json!(10.0);
        }
        serde_json::from_value(value).unwrap()
    }

    fn host(name: &str, seconds: Option<f64>) -> HostRun {
        let measured = seconds.map(|seconds| {
            let mut measurement = testing::measurement("same", workload());
            measurement.seconds = seconds;
            measurement.series = (1..=4).map(|t| point(f64::from(t))).collect();
            serde_json::to_string(&measurement).unwrap().into()
        });
        HostRun {
            name: name.to_owned(),
            clock: Some(ClockEstimate { ahead_ns: 0, bound_ns: 50_000 }),
            late_ns: Some(100),
            window_ns: Some(1_000_000_000),
            lost: measured.is_none().then(|| "killed".to_owned()),
            measurement: measured,
            ..HostRun::default()
        }
    }

    fn made(hosts: Vec<HostRun>, series: Vec<Vec<Point>>) -> Experiment<Fleet> {
        let run = FleetRun { hosts, on_loss: LossPolicy::Continue, interrupted: false };
        let workload = workload();
        let about = About {
            id: "f",
            started: Timestamp::UNIX_EPOCH,
            transport: "ssh",
            workload: &workload,
            series,
            plan: None,
        };
        document(run, about)
    }

    #[test]
    fn hosts_are_added_up_and_keep_their_measurements() {
        let mut late = host("b", Some(4.0));
        late.late_ns = Some(2_100);
        let e = made(vec![host("a", Some(4.0)), late], vec![Vec::new(), Vec::new()]);
        assert_eq!((e.status, e.measurements.len()), (Status::Complete, 2));
        assert_ne!(e.measurements[0].id, e.measurements[1].id, "both were called `same`");
        let fleet = &e.conclusion;
        assert_eq!((fleet.start_skew_ns, fleet.clock_bound_ns), (Some(2_000), Some(50_000)));
        let window = fleet.window.unwrap();
        assert_eq!((window.from_s, window.seconds, window.read_iops), (1.0, 4.0, 20.0));
        assert_eq!(fleet.hosts[1].iops, Some(20.0));
        assert_eq!((e.file_bytes, e.targets.len()), (2 << 30, 1));
    }

    /// Of a host that was lost, what arrived is kept, and totals end where it did.
    #[test]
    fn what_a_lost_host_did_is_kept() {
        let arrived = vec![point(1.0), point(2.0)];
        let e = made(vec![host("a", Some(4.0)), host("b", None)], vec![Vec::new(), arrived]);
        assert_eq!((e.status, e.measurements.len()), (Status::Failed, 1));
        let fleet = &e.conclusion;
        assert_eq!(fleet.window.unwrap().seconds, 2.0);
        assert_eq!(fleet.hosts[1].series.len(), 2);
        assert_eq!(fleet.hosts[1].measurement, None);
        assert!(e.warnings.iter().any(|w| w.starts_with("b: ") && w.contains("killed")));
        // One that was lost before its first interval leaves nothing that could be added up.
        let e = made(vec![host("a", Some(4.0)), host("b", None)], vec![Vec::new(), Vec::new()]);
        assert_eq!(e.conclusion.window, None);
        assert_eq!(e.conclusion.hosts[0].iops, None);
        assert!(e.warnings.iter().any(|w| w.contains("nothing is added up")));
    }

    #[test]
    fn a_result_that_cannot_be_read_is_a_lost_host() {
        let mut odd = host("b", None);
        odd.lost = None;
        odd.measurement = Some("{ \"schema\": \"x\" }".into());
        let e = made(vec![host("a", Some(4.0)), odd], vec![Vec::new(), Vec::new()]);
        assert!(e.conclusion.hosts[1].lost.as_ref().unwrap().contains("cannot be read"));
        assert_eq!(e.status, Status::Failed);
    }
}
