//! Links that go down and come back: the coordinator goes on without the host, the host stops by
//! itself, and what it measured waits there until it is fetched.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use testing::network::Network;

use super::places::{Place, Running, wait};
use super::{Error, FleetArgs, namespaces};

/// A host that is cut off is seen within this time, and has stopped within that.
const SEEN_S: f64 = 3.0;
const ALONE_S: f64 = 5.0;
/// The longest time in which a host has to end, whatever happens to it.
const MOST: Duration = Duration::from_secs(120);
/// A fault comes within this time of the first interval.
const WITHIN_MS: u64 = 1_500;

#[derive(Default)]
struct Ledger {
    seen_s: f64,
    alone_s: f64,
    results: usize,
    wrong: Vec<String>,
}

/// The table, and whether the ledger is right. Without namespaces, why not.
pub(super) fn run(iosonde: &Path, args: &FleetArgs) -> Result<(String, bool), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let seed = args.seed.unwrap_or(now);
    let mut ledger = Ledger::default();
    for number in 0..args.faults {
        let place = Place::new(iosonde)?;
        let network = match Network::open(place.path(), None) {
            Ok(network) => network,
            Err(why) => return Ok((format!("links: skipped, because {why}\n"), true)),
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number.into()));
        one((iosonde, &place, &network), &mut random, &mut ledger)
            .map_err(|error| format!("link {number} of seed {seed}: {error}"))?;
    }
    let (seen_s, alone_s) = (SEEN_S * args.slack, ALONE_S * args.slack);
    let holds = ledger.wrong.is_empty() && ledger.seen_s <= seen_s && ledger.alone_s <= alone_s;
    let text = format!(
        "{} links down and up again, over sshd in namespaces, seed {seed}\n\n\
         | longest until it was seen | longest alone | results | missing or twice |\n\
         |--:|--:|--:|--:|\n| {:.2} s | {:.2} s | {} | {} |\n{}\n",
        args.faults,
        ledger.seen_s,
        ledger.alone_s,
        ledger.results,
        ledger.wrong.len(),
        ledger.wrong.join("\n")
    );
    Ok((text, holds))
}

fn one(
    (iosonde, place, network): (&Path, &Place, &Network),
    random: &mut Xoshiro256PlusPlus,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let host = 1 + (random.next_u64() % 3) as usize;
    let name = format!("h{host}");
    let policy = if random.next_u64().is_multiple_of(2) { "abort" } else { "continue" };
    let command = |words: &[&str], hosts: &str| {
        let mut command = namespaces::command((network, place, iosonde), words, hosts);
        command.arg("--json");
        command
    };
    let mut run = command(&["run"], "h1,h2,h3");
    run.args(["--engine", "null", "--target", "/x", "--rate", "1000", "--warmup", "0"]);
    run.args(["--interval", "100ms", "--seconds", "8", "--on-loss", policy]);
    let mut running = Running::start(run)?;
    thread::sleep(Duration::from_millis(random.next_u64() % WITHIN_MS));
    network.cable(host, false)?;
    let (down, begun) = (SystemTime::now(), Instant::now());
    running.until(&format!("lost the host `{name}`"))?;
    ledger.seen_s = ledger.seen_s.max(begun.elapsed().as_secs_f64());
    let document = running.end()?.ok_or("the coordinator printed no result")?;
    wait("every host stops", MOST, || place.ends().len() == 3)?;
    if policy == "abort" {
        let last = place.ends().into_iter().max().ok_or("nobody ended")?;
        ledger.alone_s = ledger.alone_s.max(last.duration_since(down)?.as_secs_f64());
    }
    network.cable(host, true)?;
    let whole = document["measurements"].as_array().map_or(0, Vec::len);
    if whole != 2 {
        ledger.wrong.push(format!("{whole} results of two hosts that were there ({policy})"));
    }
    // The session of the host ends once its sshd has noticed, too.
    let mut fetched = command(&["resume"], &name).output()?;
    for _ in 0..20 {
        if !fetched.stdout.is_empty() {
            break;
        }
        thread::sleep(Duration::from_secs(1));
        fetched = command(&["resume"], &name).output()?;
    }
    let own: Value = serde_json::from_slice(&fetched.stdout)
        .map_err(|_| String::from_utf8_lossy(&fetched.stderr).into_owned())?;
    let own = own["measurements"].as_array().map_or(0, Vec::len);
    if own != 1 {
        ledger.wrong.push(format!("{own} results of {name}, which was cut off ({policy})"));
    }
    ledger.results += whole + own;
    if command(&["resume"], &name).output()?.status.code() != Some(2) {
        ledger.wrong.push(format!("the result of {name} was fetched a second time"));
    }
    Ok(())
}
