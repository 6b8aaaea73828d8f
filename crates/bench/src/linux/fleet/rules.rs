//! Promises that hold or do not, on real processes: what is refused, and what a bad network costs.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::Error;
use super::places::{Place, Running};

const NULL: [&str; 9] =
    ["--engine", "null", "--target", "/x", "--rate", "1000", "--interval", "100ms", "--json"];

/// What was found, and whether that is what is promised.
type Check = fn(&Path) -> Result<(String, bool), Error>;

/// The table, and whether all of it holds.
pub(super) fn run(iosonde: &Path) -> Result<(String, bool), Error> {
    let mut text = "| what | promise | found |\n|---|---|---|\n".to_owned();
    let mut holds = true;
    let all: [(&str, &str, Check); 4] = [
        ("another coordinator wants a host that is in use", "that host refuses", second),
        ("a host has another version", "it refuses before anything is touched", version),
        ("the network is slow", "no interval is missing", slow),
        ("the server is restarted", "no interval is missing", restarted),
    ];
    for (what, promise, check) in all {
        let (found, held) = check(iosonde)?;
        holds &= held;
        let _ = writeln!(text, "| {what} | {promise} | {found} |");
    }
    Ok((text, holds))
}

fn second(iosonde: &Path) -> Result<(String, bool), Error> {
    let place = Place::new(iosonde)?;
    let mut first = place.fleet(&["run"], "a");
    let first = Running::start({
        first.args(NULL).args(["--seconds", "4", "--warmup", "0"]);
        first
    })?;
    let mut command = place.fleet(&["run"], "b");
    let second = command.args(NULL).args(["--seconds", "1", "--quiet"]).output()?;
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    let undisturbed = first.end()?.is_some_and(|document| document["status"] == "complete");
    let refused = !second.status.success() && said.contains("another coordinator");
    Ok(if refused && undisturbed {
        ("refused; the first run was complete".to_owned(), true)
    } else {
        (format!("`{}`; the first run was complete: {undisturbed}", said.trim()), false)
    })
}

fn version(iosonde: &Path) -> Result<(String, bool), Error> {
    let place = Place::new(iosonde)?;
    let mut agent = place.command();
    agent.args(["agent", "--stdio", "--allow"]).arg(place.path());
    let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = agent.stdin.take().ok_or("no stdin")?;
    let (protocol, plan) = ("iosonde.fleet-protocol/0", serde_json::json!({ "job": "run" }));
    let message = serde_json::json!({
        "message": "prepare", "run": "r", "keep": false, "protocol": protocol, "plan": plan
    });
    writeln!(input, "{message}")?;
    drop(input);
    let said = String::from_utf8(agent.wait_with_output()?.stdout)?;
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let kinds: Vec<String> =
        messages.filter_map(|message| Some(message["message"].as_str()?.to_owned())).collect();
    let is = |kind: &str| kinds.iter().any(|known| known == kind);
    let held = is("refuse") && !is("ready");
    Ok((if held { "refused".to_owned() } else { kinds.join(", ") }, held))
}

/// Every line of a host takes its time.
fn slow(iosonde: &Path) -> Result<(String, bool), Error> {
    let place = Place::new(iosonde)?;
    place.slow_down("b", Duration::from_millis(50))?;
    let mut command = place.fleet(&["run"], "a,b");
    let output = command.args(NULL).args(["--seconds", "4", "--quiet"]).output()?;
    let document: Value = serde_json::from_slice(&output.stdout)?;
    Ok(missing(&document))
}

fn restarted(iosonde: &Path) -> Result<(String, bool), Error> {
    let mut place = Place::on_site(iosonde, &["a", "b"])?;
    let mut command = place.fleet(&["run"], "a,b");
    command.args(NULL).args(["--seconds", "6", "--warmup", "0"]);
    let running = Running::start(command)?;
    place.stop_server()?;
    thread::sleep(Duration::from_millis(500));
    place.start_server()?;
    let document = running.end()?.ok_or("the coordinator printed no result")?;
    Ok(missing(&document))
}

/// Intervals that did not arrive of a run that came to its end.
fn missing(document: &Value) -> (String, bool) {
    let hosts = document["conclusion"]["hosts"].as_array().cloned().unwrap_or_default();
    let of = |host: &Value| host["missing_events"].as_u64().unwrap_or(u64::MAX);
    let missing = hosts.iter().map(of).fold(0, u64::saturating_add);
    let status = document["status"].as_str().unwrap_or("unknown");
    let held = missing == 0 && !hosts.is_empty() && status == "complete";
    (format!("{missing} missing of {} hosts, {status}", hosts.len()), held)
}
