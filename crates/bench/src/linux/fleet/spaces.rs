//! Random faults on eight hosts in network namespaces that share one file system on a loop device,
//! over a NATS server; and a ledger: every result is there once, and nobody works later than 5 s
//! after its coordinator is gone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;
use testing::network::{HOSTS, Network};

use super::commands::{Fleet, list};
use super::places::{Place, Running, signal, wait};
use super::{Error, FleetArgs};
use crate::linux::clean::Mounted;

/// A host that is gone is seen within this time, and has stopped within that.
const SEEN_S: f64 = 3.0;
const ALONE_S: f64 = 5.0;
/// The longest time in which something has to end, whatever happens to it.
const MOST: Duration = Duration::from_secs(120);
/// A fault comes within this time of the first interval.
const WITHIN_MS: u64 = 1_500;
/// How often it is looked whether a history has a result already.
const KEEPING: u32 = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    AgentKilled,
    AgentFrozen,
    HostUnplugged,
    CoordinatorKilled,
    CoordinatorFrozen,
    CoordinatorUnplugged,
    ServerRestarted,
}

const FAULTS: [Fault; 7] = [
    Fault::AgentKilled,
    Fault::AgentFrozen,
    Fault::HostUnplugged,
    Fault::CoordinatorKilled,
    Fault::CoordinatorFrozen,
    Fault::CoordinatorUnplugged,
    Fault::ServerRestarted,
];

#[derive(Debug, Default)]
struct Ledger {
    faults: BTreeMap<Fault, u32>,
    /// Measurements that hosts contributed.
    results: usize,
    /// Documents of coordinators that were checked.
    documents: usize,
    seen_s: f64,
    alone_s: f64,
    wrong: Vec<String>,
}

/// The table, and whether the ledger is right. Without namespaces or loop devices, why not.
pub(super) fn run(iosonde: &Path, args: &FleetArgs) -> Result<(String, bool), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let seed = args.seed.unwrap_or(now);
    let place = Place::new(iosonde)?;
    // Before the namespaces, which take over what is mounted.
    let mounted = match Mounted::new(place.path(), &["mkfs.ext4", "-q"]) {
        Ok(mounted) => mounted,
        Err(why) => return Ok((format!("spaces: skipped, because {why}\n"), true)),
    };
    let network = match Network::open(place.path(), None) {
        Ok(network) => network,
        Err(why) => return Ok((format!("spaces: skipped, because {why}\n"), true)),
    };
    let shared = mounted.path.display().to_string();
    let mut fleet = Fleet { iosonde, place: &place, network: &network, shared, site: None };
    fleet.site = Some(fleet.open_site()?);
    let mut ledger = Ledger::default();
    for number in 0..args.faults {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number.into()));
        let kind = usize::try_from(random.next_u64() % FAULTS.len() as u64)?;
        let fault = FAULTS[kind];
        let (begun, before) = (Instant::now(), ledger.wrong.len());
        let mut trial =
            Trial { fleet: &mut fleet, ledger: &mut ledger, fault, host: 1, on_loss: "" };
        trial
            .run(&mut random)
            .map_err(|error| format!("fault {number} of seed {seed} ({fault:?}): {error}"))?;
        let wrong = ledger.wrong.get(before..).unwrap_or_default().join("; ");
        eprintln!("{number}: {fault:?}, {:.1} s {wrong}", begun.elapsed().as_secs_f64());
    }
    Ok(told(&ledger, seed, args.slack))
}

fn told(ledger: &Ledger, seed: u64, slack: f64) -> (String, bool) {
    let all: u32 = ledger.faults.values().sum();
    let mut text = format!(
        "{all} random faults on {HOSTS} hosts in namespaces over NATS, which share one ext4 on a \
         loop device, seed {seed}\n\n| fault | times |\n|---|--:|\n"
    );
    for (fault, times) in &ledger.faults {
        let words = match fault {
            Fault::AgentKilled => "an agent is killed",
            Fault::AgentFrozen => "a host is frozen",
            Fault::HostUnplugged => "the link of a host goes down",
            Fault::CoordinatorKilled => "the coordinator is killed",
            Fault::CoordinatorFrozen => "the coordinator is frozen",
            Fault::CoordinatorUnplugged => "the coordinator loses its network",
            Fault::ServerRestarted => "the server is restarted",
        };
        let _ = writeln!(text, "| {words} | {times} |");
    }
    let _ = writeln!(
        text,
        "\n| results | missing, twice or other | longest until seen | longest alone |\n\
         |--:|--:|--:|--:|\n| {} | {} | {:.2} s | {:.2} s |\n{}",
        ledger.results,
        ledger.wrong.len(),
        ledger.seen_s,
        ledger.alone_s,
        ledger.wrong.join("\n")
    );
    let in_time = ledger.seen_s <= SEEN_S * slack && ledger.alone_s <= ALONE_S * slack;
    (text, ledger.wrong.is_empty() && in_time)
}

/// One run to which one fault is done.
struct Trial<'t, 'f> {
    fleet: &'t mut Fleet<'f>,
    ledger: &'t mut Ledger,
    fault: Fault,
    /// The host to which it is done, where it is done to one.
    host: usize,
    /// What happens to the other hosts then.
    on_loss: &'static str,
}

impl Trial<'_, '_> {
    fn run(&mut self, random: &mut Xoshiro256PlusPlus) -> Result<(), Error> {
        self.host = 1 + usize::try_from(random.next_u64() % HOSTS as u64)?;
        self.on_loss = if random.next_u64().is_multiple_of(2) { "abort" } else { "continue" };
        *self.ledger.faults.entry(self.fault).or_default() += 1;
        let target = self.fleet.own_file();
        let mut command = self.fleet.command(&["run"]);
        command.args(["--target", &target, "--size", "4M", "--keep", "--rate", "200"]);
        command.args(["--warmup", "0", "--interval", "100ms", "--seconds", "4", "--json"]);
        command.args(["--on-loss", self.on_loss]);
        let before = self.fleet.place.ends().len();
        let running = Running::start(command)?;
        thread::sleep(Duration::from_millis(random.next_u64() % WITHIN_MS));
        match self.fault {
            Fault::AgentKilled => self.agent_killed(running),
            Fault::AgentFrozen | Fault::HostUnplugged => self.host_gone(running),
            Fault::CoordinatorKilled | Fault::CoordinatorFrozen => {
                self.coordinator_gone(running, before)
            }
            Fault::CoordinatorUnplugged => self.unplugged(running, before),
            Fault::ServerRestarted => self.server_restarted(running),
        }
    }

    fn name(&self) -> String {
        format!("h{}", self.host)
    }

    fn wrong(&mut self, what: &str) {
        let about = format!("{:?} of {}, {}: {what}", self.fault, self.name(), self.on_loss);
        self.ledger.wrong.push(about);
    }

    /// The host is lost within 3 s.
    fn seen(&mut self, running: &mut Running) -> Result<(), Error> {
        let took = running.until(&format!("lost the host `{}`", self.name()))?;
        self.ledger.seen_s = self.ledger.seen_s.max(took.as_secs_f64());
        Ok(())
    }

    /// The last load of all hosts, or of one of these, ended so long after the fault.
    fn alone(&mut self, gone: SystemTime, pid: &str, ends: usize) -> Result<(), Error> {
        let place = self.fleet.place;
        wait("every host stops", MOST, || place.ends_of(pid).len() >= ends)?;
        let last = place.ends_of(pid).into_iter().max().ok_or("nobody ended")?;
        let alone_s = last.duration_since(gone).unwrap_or_default().as_secs_f64();
        self.ledger.alone_s = self.ledger.alone_s.max(alone_s);
        Ok(())
    }

    fn agent_killed(&mut self, mut running: Running) -> Result<(), Error> {
        let host = self.host;
        let site = self.fleet.site.as_mut().ok_or("there is no server")?;
        let agent = site.agents.get_mut(host - 1).ok_or("no such agent")?;
        signal(&agent.id().to_string(), "-KILL")?;
        agent.wait()?;
        self.seen(&mut running)?;
        self.others(running)?;
        let anew = self.fleet.agent(host)?;
        if let Some(site) = &mut self.fleet.site {
            site.agents[host - 1] = anew;
        }
        self.fleet.wait_for(host)
    }

    /// A host that cannot be heard for some seconds: the others have their results, and its own is
    /// fetched when it is back.
    fn host_gone(&mut self, mut running: Running) -> Result<(), Error> {
        let host = self.host;
        let agent = self.fleet.site.as_ref().and_then(|site| site.agents.get(host - 1));
        let agent = agent.ok_or("no such agent")?.id().to_string();
        let (place, is_frozen) = (self.fleet.place, self.fault == Fault::AgentFrozen);
        let (ends, gone) = (place.ends_of(&agent).len() + 1, SystemTime::now());
        if is_frozen {
            signal(&agent, "-STOP")?;
        } else {
            self.fleet.network.cable(host, false)?;
        }
        self.seen(&mut running)?;
        let others = self.others(running);
        if is_frozen {
            signal(&agent, "-CONT")?;
            wait("the host stops", MOST, || place.ends_of(&agent).len() >= ends)?;
        } else {
            self.alone(gone, &agent, ends)?;
            self.fleet.network.cable(host, true)?;
        }
        others?;
        self.fetch(&[self.name()])
    }

    /// Those that were there have a whole result each.
    fn others(&mut self, running: Running) -> Result<(), Error> {
        let (document, said) = running.end_saying()?;
        let document = document.ok_or_else(|| format!("no result was printed: {said}"))?;
        let hosts = list(&document, "/conclusion/hosts");
        let name = self.name();
        for host in hosts {
            let whole = host["measurement"].is_u64();
            let is_victim = host["name"] == name.as_str();
            if whole == is_victim {
                self.wrong(&format!("{}: {} ({said})", host["name"], host["lost"]));
            }
        }
        self.check(&document)
    }

    fn coordinator_gone(&mut self, running: Running, before: usize) -> Result<(), Error> {
        let (pid, gone) = (running.child.id().to_string(), SystemTime::now());
        let is_killed = self.fault == Fault::CoordinatorKilled;
        signal(&pid, if is_killed { "-KILL" } else { "-STOP" })?;
        self.alone(gone, "", before + HOSTS)?;
        if !is_killed {
            signal(&pid, "-KILL")?;
        }
        if let Some(document) = running.end()? {
            // All was over before the fault came.
            return self.check(&document);
        }
        self.fetch(&all())
    }

    /// Every host is lost to the coordinator, and stops by itself.
    fn unplugged(&mut self, running: Running, before: usize) -> Result<(), Error> {
        let gone = SystemTime::now();
        self.fleet.network.own_cable(false)?;
        let alone = self.alone(gone, "", before + HOSTS);
        self.fleet.network.own_cable(true)?;
        alone?;
        let (document, _) = running.end_saying()?;
        let document = document.ok_or("no result was printed")?;
        let fetched = list(&document, "/measurements").len();
        self.check(&document)?;
        // Hosts whose result came through before the fault have forgotten it.
        let names = list(&document, "/conclusion/hosts").iter();
        let lost = names.filter(|host| !host["measurement"].is_u64());
        let lost: Vec<String> =
            lost.filter_map(|host| Some(host["name"].as_str()?.to_owned())).collect();
        if fetched + lost.len() != HOSTS {
            self.wrong(&format!("{fetched} results, {} hosts lost", lost.len()));
        }
        if lost.is_empty() { Ok(()) } else { self.fetch(&lost) }
    }

    fn server_restarted(&mut self, running: Running) -> Result<(), Error> {
        self.fleet.restart_server()?;
        let (document, said) = running.end_saying()?;
        let document = document.ok_or_else(|| format!("no result was printed: {said}"))?;
        let whole = list(&document, "/measurements").len();
        let missing = |host: &Value| host["missing_events"].as_u64().unwrap_or(0);
        let missing: u64 = list(&document, "/conclusion/hosts").iter().map(missing).sum();
        if (whole, missing) != (HOSTS, 0) {
            self.wrong(&format!("{whole} results, {missing} intervals missing ({said})"));
        }
        self.check(&document)
    }

    /// What these hosts kept is fetched, and once.
    fn fetch(&mut self, hosts: &[String]) -> Result<(), Error> {
        let named = hosts.join(",");
        let words = ["resume", "--hosts", &named];
        let (begun, mut fetched) = (Instant::now(), 0);
        // A host is free once it has missed its coordinator.
        while fetched < hosts.len() && begun.elapsed() < MOST {
            let Ok(document) = self.fleet.document(&words, &[]) else {
                thread::sleep(Duration::from_millis(300));
                continue;
            };
            fetched += list(&document, "/measurements").len();
            self.check(&document)?;
        }
        if fetched != hosts.len() {
            self.wrong(&format!("{fetched} of {} results could be fetched", hosts.len()));
        }
        if self.fleet.document(&words, &[]).is_ok() {
            self.wrong("a result was fetched a second time");
        }
        Ok(())
    }

    /// The document is in the coordinator's history once, and each measurement once in that of its
    /// host.
    fn check(&mut self, document: &Value) -> Result<(), Error> {
        let measurements = list(document, "/measurements");
        let ios = |measurement: &Value| measurement["total"]["ios"].as_u64().unwrap_or(0);
        let sum: u64 = measurements.iter().map(ios).sum();
        if document["conclusion"]["merged"]["total"]["ios"].as_u64().unwrap_or(0) != sum {
            self.wrong("the total is not the sum");
        }
        for host in list(document, "/conclusion/hosts") {
            let (Some(at), Some(name)) = (host["measurement"].as_u64(), host["name"].as_str())
            else {
                continue;
            };
            let Some(own) = measurements.get(usize::try_from(at)?) else { continue };
            self.ledger.results += 1;
            // An agent puts a result into its history after it has sent it.
            let mut times = self.times(Some(name), "run", &own["id"])?;
            for _ in 0..KEEPING {
                if times == 1 {
                    break;
                }
                thread::sleep(Duration::from_millis(250));
                times = self.times(Some(name), "run", &own["id"])?;
            }
            if times != 1 {
                self.wrong(&format!("{times} of {} in the history of {name}", own["id"]));
            }
        }
        let kept = self.times(None, "fleet", &document["id"])?;
        if kept != usize::from(!measurements.is_empty()) {
            self.wrong(&format!("{kept} of {} in the history", document["id"]));
        }
        self.ledger.documents += 1;
        Ok(())
    }

    /// How often a history has this result.
    fn times(&self, host: Option<&str>, kind: &str, id: &Value) -> Result<usize, Error> {
        let mut command = self.fleet.place.command();
        if let Some(host) = host {
            command.env("IOSONDE_HISTORY", self.fleet.place.history_of(host));
        }
        let output = command.args(["history", "list", "--json", "--kind", kind]).output()?;
        let found: Value = serde_json::from_slice(&output.stdout)?;
        Ok(list(&found, "/results").iter().filter(|result| result["id"] == *id).count())
    }
}

fn all() -> Vec<String> {
    (1..=HOSTS).map(|host| format!("h{host}")).collect()
}
