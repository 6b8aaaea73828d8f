//! How soon losses are seen and hosts stop, on real processes; and what an agent costs its host.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::Error;
use super::places::{Place, Running, quantile, signal, wait};
use super::rules;

/// How often each promise is measured.
const TURNS: usize = 5;
/// The longest that any step may take.
const MOST: Duration = Duration::from_secs(60);
const NULL: [&str; 10] = [
    "--engine",
    "null",
    "--target",
    "/x",
    "--rate",
    "2000",
    "--interval",
    "100ms",
    "--warmup",
    "0",
];

/// Measures one promise with this program, in seconds.
type Measure = fn(&Path) -> Result<f64, Error>;

/// The tables, and whether everything is within what is promised.
pub(super) fn run(iosonde: &Path) -> Result<(String, bool), Error> {
    let mut text = format!(
        "Losses on real processes, {TURNS} turns each\n\n\
         | what | promise | median | worst |\n|---|--:|--:|--:|\n"
    );
    let mut holds = true;
    let all: [(&str, f64, Measure); 4] = [
        ("an agent is killed: seen after", 0.1, killed),
        ("a host is frozen: seen after", 3.0, frozen),
        ("the coordinator is killed: last agent stopped after", 5.0, |p| left_alone(p, "-KILL")),
        ("the coordinator is frozen: last agent stopped after", 5.0, |p| left_alone(p, "-STOP")),
    ];
    for (what, promise_s, measure) in all {
        let mut times = Vec::new();
        for _ in 0..TURNS {
            times.push(measure(iosonde)?);
        }
        times.sort_by(f64::total_cmp);
        let (median, worst) = (quantile(&times, 0.5), quantile(&times, 1.0));
        let (median, worst) = (median.unwrap_or(0.0), worst.unwrap_or(0.0));
        holds &= worst <= promise_s;
        let _ = writeln!(text, "| {what} | {promise_s} s | {median:.3} s | {worst:.3} s |");
    }
    let percent = own_cost(iosonde)?;
    holds &= percent <= 1.0;
    let _ = writeln!(
        text,
        "\nAn agent's own cost while it measures (1 s intervals, median of {TURNS} turns): \
         {percent:.2} % of a core, promised 1 %\n"
    );
    let (rules, hold) = rules::run(iosonde)?;
    Ok((text + &rules, holds && hold))
}

fn started(place: &Place) -> Result<Running, Error> {
    let mut command = place.fleet(&["run"], "a,b");
    command.args(NULL).args(["--seconds", "120", "--json"]);
    Running::start(command)
}

fn seen(iosonde: &Path, name: &str) -> Result<f64, Error> {
    let place = Place::new(iosonde)?;
    let mut running = started(&place)?;
    let pid = place.pid("b")?;
    signal(&pid, name)?;
    let seen = running.until("lost the host `b`")?;
    running.end()?;
    Ok(seen.as_secs_f64())
}

fn killed(iosonde: &Path) -> Result<f64, Error> {
    seen(iosonde, "-KILL")
}

fn frozen(iosonde: &Path) -> Result<f64, Error> {
    seen(iosonde, "-STOP")
}

/// From the end of the coordinator to that of the last load.
fn left_alone(iosonde: &Path, name: &str) -> Result<f64, Error> {
    let place = Place::new(iosonde)?;
    let mut running = started(&place)?;
    let (pid, gone) = (running.child.id().to_string(), SystemTime::now());
    signal(&pid, name)?;
    wait("the agents stop", MOST, || place.ends().len() == 2)?;
    if name == "-STOP" {
        signal(&pid, "-KILL")?;
    }
    running.child.wait()?;
    let last = place.ends().into_iter().max().ok_or("no end was noted")?;
    // They keep their results and leave before their directory goes.
    wait("the agents leave", MOST, || {
        ["a", "b"]
            .iter()
            .all(|host| place.pid(host).is_ok_and(|pid| !Path::new("/proc").join(pid).exists()))
    })?;
    Ok(last.duration_since(gone).unwrap_or_default().as_secs_f64())
}

/// CPU of the same load under an agent and without one, in percent of a core.
fn own_cost(iosonde: &Path) -> Result<f64, Error> {
    let load = ["--engine", "null", "--rate", "1000", "--seconds", "10", "--warmup", "0", "--json"];
    let cpu_s = |measurement: &Value| -> Option<f64> {
        let cpu = &measurement["cpu"];
        Some(cpu["user_s"].as_f64()? + cpu["system_s"].as_f64()?)
    };
    let mut differences = Vec::new();
    for _ in 0..TURNS {
        let place = Place::new(iosonde)?;
        let alone = place.command().arg("run").args(load).arg("--quiet").output()?;
        let mut command = place.fleet(&["run"], "a");
        let fleet = command.args(["--target", "/x", "--quiet"]).args(load).output()?;
        let alone: Value = serde_json::from_slice(&alone.stdout)?;
        let fleet: Value = serde_json::from_slice(&fleet.stdout)?;
        let both = cpu_s(&fleet["measurements"][0]).zip(cpu_s(&alone));
        let (fleet_s, alone_s) = both.ok_or("a run has no CPU time")?;
        differences.push(100.0 * (fleet_s - alone_s) / 10.0);
    }
    differences.sort_by(f64::total_cmp);
    quantile(&differences, 0.5).ok_or_else(|| "nothing was measured".into())
}
