//! A few seconds of the section, as a test.

use std::fmt::Display;

use truth::{Truth, Unavailable};

use super::closed::Servers;
use super::run::{self, Load, SIZE};
use super::{off_percent, open};
use crate::linux::Error;

/// The measurement, or a note that the device is not available.
fn measured<T>(name: &str, outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(outcome) => Some(outcome),
        Err(error) if error.is::<Unavailable>() => {
            skip(name, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn skip(name: &str, reason: impl Display) {
    testing::skip(&format!("iosonde-bench::truth::{name}"), reason);
}

#[test]
fn iosonde_reports_what_the_device_delivered() {
    let name = "iosonde_reports_what_the_device_delivered";
    let servers = Servers { count: 8, service_ns: 20_000_000 };
    let mut busy = 0;
    for (depth, write_percent) in [(1, 0), (8, 50), (64, 0)] {
        let load =
            Load { depth, write_percent, warmup_seconds: 0.5, seconds: 3.0, ..Load::default() };
        let outcome = Truth::mount(servers.model(), &[SIZE])
            .map_err(Error::from)
            .and_then(|truth| run::run(&truth, &load.on(&truth.path(0)), servers.quiet()));
        let Some(outcome) = measured(name, outcome) else { return };
        // Completions of all servers at once may be on either side of each end of the window.
        let ends = 2.0 * f64::from(depth.min(servers.count)) / load.seconds;
        let (tool, device) = outcome.iops();
        assert!(
            (tool - device).abs() <= 0.005 * device + ends,
            "depth {depth}: {tool} of {device}"
        );
        if !outcome.quiet {
            busy += 1;
            continue;
        }
        // An I/O passes through several threads, each of which may wake late.
        let most_percent = 2.5 + 10.0 * 100.0 * outcome.host_ns / servers.service_ns as f64;
        let model = servers.iops(depth);
        assert!(
            (tool - model).abs() <= most_percent / 100.0 * model + ends,
            "depth {depth}: {tool}, model {model}"
        );
        let (tool, device) = outcome.latency_ns();
        let path = off_percent(tool, device);
        assert!(
            (0.0..most_percent).contains(&path),
            "depth {depth}: {tool} ns, the device says {device}"
        );
    }
    if busy > 0 {
        skip(name, format!("latency at {busy} of 3 depths: the host was too busy, three times"));
    }
}

#[test]
fn an_open_loop_sees_the_whole_stall() {
    let name = "an_open_loop_sees_the_whole_stall";
    let Some(compared) = measured(name, open::compare(64, 1)) else { return };
    if !compared.outcome.quiet {
        return skip(name, "the host was too busy, three times");
    }
    let deviations: Vec<f64> = compared.off_percent().collect();
    let [_, p95, p99] = deviations.as_slice() else { panic!("three percentiles") };
    assert!(p95.abs() < 10.0 && p99.abs() < 10.0, "p95 {p95:+.1} %, p99 {p99:+.1} %");
    let waited_ns = compared.outcome.measurement.total.delay_ns.and_then(|delay| delay.max);
    assert!(waited_ns > Some(500_000_000), "most of the stall is waited for without a slot");
}
