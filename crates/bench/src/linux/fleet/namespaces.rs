//! Eight hosts on one machine: a network namespace each, with a clock of its own, reached through
//! an sshd of its own. One has a slow network.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use testing::network::{APART_S, HOSTS, Network};

use super::Error;
use super::places::{Place, Running, quantile, wait};

/// What the last host's network takes one way.
const DELAY: Duration = Duration::from_millis(15);
/// The largest 99th percentile of the start skew, in milliseconds.
const SKEW_MS: f64 = 10.0;
/// How often each cable is pulled: that of a host, and that of the coordinator.
const CABLES: usize = 3;
const CABLE_S: f64 = 3.0;
const ALONE_S: f64 = 5.0;
/// The longest time in which a host has to end, whatever happens to it.
const MOST: Duration = Duration::from_secs(60);

/// The table, and whether the skew is as promised. Without namespaces, why not.
pub(super) fn run(iosonde: &Path, starts: u32) -> Result<(String, bool), Error> {
    let place = Place::new(iosonde)?;
    let proxy = format!("{} fleet --delay", std::env::current_exe()?.display());
    let network = match Network::open(place.path(), Some(&proxy)) {
        Ok(network) => network,
        Err(why) => return Ok((format!("namespaces: skipped, because {why}\n"), true)),
    };
    let (mut skews_ms, mut bounds_ms) = (Vec::new(), Vec::new());
    for _ in 0..starts {
        let mut command = fleet(&network, &place, iosonde);
        command.args(["--seconds", "0.5", "--json", "--quiet"]);
        let output = command.output()?;
        let document: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let ms = |figure: &str| document["conclusion"][figure].as_f64().map(|ns| ns / 1e6);
        skews_ms.extend(ms("start_skew_ns"));
        bounds_ms.extend(ms("clock_bound_ns"));
    }
    // First, since a host whose cable was pulled ends by itself some time later.
    let mut alone = Vec::new();
    for _ in 0..CABLES {
        alone.push(pull_own(&network, &place, iosonde)?);
    }
    let mut cables = Vec::new();
    for _ in 0..CABLES {
        cables.push(pull(&network, &place, iosonde)?);
    }
    for times in [&mut skews_ms, &mut bounds_ms, &mut cables, &mut alone] {
        times.sort_by(f64::total_cmp);
    }
    let of = |all: &[f64], share| quantile(all, share).unwrap_or(f64::INFINITY);
    let mut text = format!(
        "{HOSTS} hosts in namespaces, clocks {APART_S} s apart from one to the next, the last \
         host delayed by {} ms each way, over sshd; {starts} starts\n\n\
         | what | promise | p50 | p99 | worst |\n|---|--:|--:|--:|--:|\n",
        DELAY.as_millis()
    );
    let rows = [("start skew", Some(SKEW_MS), &skews_ms), ("clocks known to", None, &bounds_ms)];
    for (what, promise, all) in rows {
        let promise = promise.map_or_else(String::new, |ms| format!("{ms} ms"));
        let (p50, p99, worst) = (of(all, 0.5), of(all, 0.99), of(all, 1.0));
        let _ =
            writeln!(text, "| {what} | {promise} | {p50:.2} ms | {p99:.2} ms | {worst:.2} ms |");
    }
    let losses = [
        ("a link goes down: seen after", CABLE_S, &cables),
        ("the coordinator loses its network: last host stopped after", ALONE_S, &alone),
    ];
    let mut holds = of(&skews_ms, 0.99) <= SKEW_MS;
    for (what, promise_s, all) in losses {
        let (p50, worst) = (of(all, 0.5), of(all, 1.0));
        holds &= worst <= promise_s;
        let _ = writeln!(text, "| {what} | {promise_s} s | {p50:.2} s | | {worst:.2} s |");
    }
    Ok((text, holds))
}

fn fleet(network: &Network, place: &Place, iosonde: &Path) -> Command {
    let mut command = self::command((network, place, iosonde), &["run"], &network.hosts());
    command.args(["--engine", "null", "--target", "/x", "--rate", "200", "--warmup", "0"]);
    command
}

/// A command of `iosonde fleet` for these hosts of the network.
pub(super) fn command(
    (network, place, iosonde): (&Network, &Place, &Path),
    words: &[&str],
    hosts: &str,
) -> Command {
    let home = place.path().display();
    let agent =
        format!("env HOME={home} XDG_DATA_HOME={home}/data IOSONDE_CONFIG= {}", iosonde.display());
    let mut command = place.command();
    command.arg("fleet").args(words).args(["--ssh", hosts, "--agent", &agent]);
    command.args(["--ssh-command", &network.ssh()]);
    command
}

/// Pulls the cable of a host while it runs; how long until that is seen, in seconds.
fn pull(network: &Network, place: &Place, iosonde: &Path) -> Result<f64, Error> {
    let mut command = fleet(network, place, iosonde);
    command.args(["--interval", "100ms", "--seconds", "60", "--json"]);
    let mut running = Running::start(command)?;
    let begun = Instant::now();
    network.cable(3, false)?;
    running.until("lost the host `h3`")?;
    let seen_s = begun.elapsed().as_secs_f64();
    running.end()?;
    network.cable(3, true)?;
    Ok(seen_s)
}

/// Takes the network from the coordinator while all hosts run; how long the last of them went on,
/// in seconds. Every host keeps its result and is asked for it later.
fn pull_own(network: &Network, place: &Place, iosonde: &Path) -> Result<f64, Error> {
    let before = place.ends().len();
    let mut command = fleet(network, place, iosonde);
    command.args(["--interval", "100ms", "--seconds", "60", "--json"]);
    let running = Running::start(command)?;
    network.own_cable(false)?;
    let gone = SystemTime::now();
    wait("every host stops", MOST, || place.ends().len() == before + HOSTS)?;
    let last = place.ends().into_iter().max().ok_or("nobody ended")?;
    running.end()?;
    network.own_cable(true)?;
    let mut left = HOSTS;
    // A session ends once its sshd has noticed, too.
    let begun = Instant::now();
    while left > 0 && begun.elapsed() < MOST {
        let hosts = network.hosts();
        let output =
            self::command((network, place, iosonde), &["resume"], &hosts).arg("--json").output()?;
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        left = left.saturating_sub(document["measurements"].as_array().map_or(0, Vec::len));
        thread::sleep(Duration::from_millis(500));
    }
    if left > 0 {
        return Err(format!("{left} of {HOSTS} hosts did not give what they had measured").into());
    }
    Ok(last.duration_since(gone).unwrap_or_default().as_secs_f64())
}

/// Is a slow network: stdin goes to this address and what comes back to stdout, each late.
pub(super) fn delay(address: &str) -> Result<(), Error> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let there = stream.try_clone()?;
    thread::spawn(move || {
        let _ = late(io::stdin(), there);
        // What waits for an end gets one.
        std::process::exit(0);
    });
    Ok(late(stream, io::stdout())?)
}

fn late(mut from: impl Read, mut to: impl Write + Send + 'static) -> io::Result<()> {
    let (sender, pieces) = channel::<(Instant, Vec<u8>)>();
    let writer = thread::spawn(move || {
        for (when, piece) in pieces {
            thread::sleep(when.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    });
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else { break };
        if sender.send((Instant::now() + DELAY, piece.to_vec())).is_err() {
            break;
        }
    }
    drop(sender);
    let _ = writer.join();
    Ok(())
}
