//! Random faults on real processes, and a ledger: every result is there once, and nobody works
//! later than 5 s after the coordinator is gone.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

use super::places::{Place, Running, signal, wait};
use super::{Error, FleetArgs, Way};

/// How many fleets run at the same time.
const LANES: usize = 3;
const HOSTS: [&str; 3] = ["a", "b", "c"];
/// The longest time in which a run has to end, whatever happens to it.
const MOST: Duration = Duration::from_secs(120);
/// How long an agent may work without its coordinator, in seconds.
const ALONE_S: f64 = 5.0;
/// How often it is looked whether a history has a result already.
const KEEPING: u32 = 20;
/// A fault comes within this time of the first interval.
const WITHIN_MS: u64 = 1_500;

#[derive(Debug, Clone, Copy)]
enum Fault {
    AgentKilled,
    AgentFrozen,
    CoordinatorKilled,
    CoordinatorFrozen,
}

#[derive(Debug, Default)]
struct Ledger {
    faults: [u32; 4],
    results: u32,
    missing: Vec<String>,
    doubled: Vec<String>,
    late: Vec<String>,
    /// From the end of a coordinator to that of the last load.
    latest_s: f64,
}

/// The table, and whether the ledger is right.
pub(super) fn run(iosonde: &Path, args: &FleetArgs) -> Result<(String, bool), Error> {
    let (faults, bound_s) = (args.faults, ALONE_S * args.slack);
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let seed = args.seed.unwrap_or(now);
    let (next, ledger, failed) =
        (AtomicU32::new(0), Mutex::new(Ledger::default()), Mutex::new(None));
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= faults {
                        return;
                    }
                    let mut random =
                        Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number.into()));
                    let over = args.over;
                    if let Err(error) = one((iosonde, over), &mut random, bound_s, &ledger) {
                        let text = format!("fault {number} of seed {seed}: {error}");
                        failed.lock().map(|mut failed| failed.get_or_insert(text).len()).ok();
                        return;
                    }
                }
            });
        }
    });
    if let Some(text) = failed.into_inner()? {
        return Err(text.into());
    }
    let ledger = ledger.into_inner()?;
    let is_right = ledger.missing.is_empty() && ledger.doubled.is_empty() && ledger.late.is_empty();
    let over = if args.over == Way::Nats { "NATS" } else { "a script as ssh" };
    let all = [&ledger.missing[..], &ledger.doubled, &ledger.late].concat();
    let text = format!(
        "Random faults over {over}, seed {seed}\n\n\
         | agents killed | agents frozen | coordinators killed | coordinators frozen | results | \
         missing | twice | I/O after 5 s alone | longest alone |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|\n\
         | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} s |\n{}\n",
        ledger.faults[0],
        ledger.faults[1],
        ledger.faults[2],
        ledger.faults[3],
        ledger.results,
        ledger.missing.len(),
        ledger.doubled.len(),
        ledger.late.len(),
        ledger.latest_s,
        all.join("\n")
    );
    Ok((text, is_right))
}

/// Runs one fleet, and does one fault to it.
fn one(
    (iosonde, over): (&Path, Way),
    random: &mut Xoshiro256PlusPlus,
    bound_s: f64,
    ledger: &Mutex<Ledger>,
) -> Result<(), Error> {
    let place = match over {
        Way::Nats => Place::on_site(iosonde, &HOSTS)?,
        _ => Place::new(iosonde)?,
    };
    let kinds = [
        Fault::AgentKilled,
        Fault::AgentFrozen,
        Fault::CoordinatorKilled,
        Fault::CoordinatorFrozen,
    ];
    let (kind, host) = ((random.next_u64() % 4) as usize, (random.next_u64() % 3) as usize);
    let (fault, victim) = (kinds[kind], HOSTS[host]);
    let policy = if random.next_u64().is_multiple_of(2) { "abort" } else { "continue" };
    let mut command = place.fleet(&["run"], "a,b,c");
    command.args(["--engine", "null", "--target", "/x", "--rate", "1000", "--warmup", "0"]);
    command.args(["--interval", "100ms", "--seconds", "4", "--json", "--on-loss", policy]);
    let running = Running::start(command)?;
    thread::sleep(Duration::from_millis(random.next_u64() % WITHIN_MS));
    let about = format!("{fault:?} of {victim}, {policy}, in {}", place.path().display());
    let mut lock = ledger.lock().map_err(|e| e.to_string())?;
    lock.faults[kind] += 1;
    drop(lock);
    let found = match fault {
        Fault::AgentKilled => agent_lost(&place, running, victim, "-KILL")?,
        Fault::AgentFrozen => agent_lost(&place, running, victim, "-STOP")?,
        Fault::CoordinatorKilled => coordinator_lost(&place, running, "-KILL")?,
        Fault::CoordinatorFrozen => coordinator_lost(&place, running, "-STOP")?,
    };
    let mut ledger = ledger.lock().map_err(|e| e.to_string())?;
    ledger.results += found.results;
    ledger.missing.extend(found.missing.map(|what| format!("missing: {what}: {about}")));
    ledger.doubled.extend(found.doubled.map(|what| format!("twice: {what}: {about}")));
    if let Some(alone_s) = found.alone_s {
        ledger.latest_s = ledger.latest_s.max(alone_s);
        if alone_s > bound_s {
            ledger.late.push(format!("alone for {alone_s:.2} s: {about}"));
        }
    }
    Ok(())
}

/// What is left of one fleet.
#[derive(Default)]
struct Found {
    results: u32,
    missing: Option<String>,
    doubled: Option<String>,
    alone_s: Option<f64>,
}

fn agent_lost(place: &Place, running: Running, victim: &str, name: &str) -> Result<Found, Error> {
    let pid = place.pid(victim)?;
    // It may have ended by itself.
    let _ = signal(&pid, name);
    let (document, said) = running.end_saying()?;
    let document = document.ok_or("the coordinator printed no result")?;
    if name == "-STOP" {
        let _ = signal(&pid, "-KILL");
    }
    gone(place)?;
    let mut found = Found::default();
    let hosts = document["conclusion"]["hosts"].as_array().ok_or("no hosts")?;
    for host in hosts {
        let whole = host["measurement"].is_u64();
        let is_victim = host["name"] == victim;
        // Of the host that was lost, what had arrived is kept.
        let kept = host["series"].as_array().is_some_and(|series| !series.is_empty());
        if !(whole || is_victim && kept) {
            found.missing = Some(format!("{} has nothing: {}", host["name"], host["lost"]));
        }
    }
    check(place, &document, &mut found)?;
    // Why it is not as it should be is in what the coordinator said.
    for wrong in [&mut found.missing, &mut found.doubled].into_iter().flatten() {
        let _ = write!(wrong, " ({said})");
    }
    Ok(found)
}

fn coordinator_lost(place: &Place, running: Running, name: &str) -> Result<Found, Error> {
    let (pid, when) = (running.child.id().to_string(), SystemTime::now());
    signal(&pid, name)?;
    wait("the agents stop", MOST, || place.ends().len() == HOSTS.len())?;
    let last = place.ends().into_iter().max().ok_or("nobody ended")?;
    if name == "-STOP" {
        signal(&pid, "-KILL")?;
    }
    let printed = running.end()?;
    gone(place)?;
    let fetch = || -> Result<Output, Error> {
        Ok(place.fleet(&["resume"], "a,b,c").arg("--json").output()?)
    };
    let fetched = fetch()?;
    let mut found = Found {
        alone_s: Some(last.duration_since(when).unwrap_or_default().as_secs_f64()),
        ..Found::default()
    };
    // Where all was over before the fault came, its own result is the one.
    let Some(document) = serde_json::from_slice::<Value>(&fetched.stdout).ok().or(printed) else {
        found.missing = Some(String::from_utf8_lossy(&fetched.stderr).into_owned());
        return Ok(found);
    };
    if document["measurements"].as_array().is_none_or(|all| all.len() != HOSTS.len()) {
        found.missing = Some("a host had kept nothing".to_owned());
    }
    check(place, &document, &mut found)?;
    if fetch()?.status.code() != Some(2) {
        found.doubled = Some("it was fetched a second time".to_owned());
    }
    Ok(found)
}

/// Waits until the agents of all hosts have ended, unless they stay connected to a server.
fn gone(place: &Place) -> Result<(), Error> {
    if place.agents_stay() {
        return Ok(());
    }
    let is_gone =
        |host: &&str| place.pid(host).is_ok_and(|pid| !Path::new("/proc").join(pid).exists());
    wait("the agents leave", MOST, || HOSTS.iter().all(&is_gone))?;
    Ok(())
}

/// What is in the result is what each host has in its own history, to the I/O.
fn check(place: &Place, document: &Value, found: &mut Found) -> Result<(), Error> {
    let measurements = document["measurements"].as_array().ok_or("no measurements")?;
    let ios = |measurement: &Value| measurement["total"]["ios"].as_u64().unwrap_or(0);
    let sum: u64 = measurements.iter().map(ios).sum();
    if document["conclusion"]["merged"]["total"]["ios"].as_u64().unwrap_or(0) != sum {
        found.doubled = Some("the total is not the sum".to_owned());
    }
    let list = |kind: &str, host: Option<&str>| -> Result<Vec<Value>, Error> {
        let mut command = place.command();
        if let Some(host) = host {
            command.env("IOSONDE_HISTORY", place.history_of(host));
        }
        let output = command.args(["history", "list", "--json", "--kind", kind]).output()?;
        let list: Value = serde_json::from_slice(&output.stdout)?;
        Ok(list["results"].as_array().cloned().unwrap_or_default())
    };
    let all_runs = || -> Result<Vec<Value>, Error> {
        let mut runs = Vec::new();
        for host in HOSTS {
            // One that was killed before its first result has none.
            if place.history_of(host).exists() {
                runs.extend(list("run", Some(host))?);
            }
        }
        Ok(runs)
    };
    let times = |measurement: &Value, runs: &[Value]| {
        runs.iter().filter(|run| run["id"] == measurement["id"]).count()
    };
    let mut runs = all_runs()?;
    // An agent that stays puts a result into its history after it has sent it.
    for _ in 0..KEEPING {
        if !place.agents_stay() || measurements.iter().all(|m| times(m, &runs) == 1) {
            break;
        }
        thread::sleep(Duration::from_millis(500));
        runs = all_runs()?;
    }
    for measurement in measurements {
        found.results += 1;
        let same = times(measurement, &runs);
        if same != 1 {
            found.missing = Some(format!("{same} of {} in its history", measurement["id"]));
        }
    }
    let fleets = list("fleet", None)?.len();
    if fleets != 1 {
        found.doubled = Some(format!("{fleets} results of one run"));
    }
    Ok(())
}
