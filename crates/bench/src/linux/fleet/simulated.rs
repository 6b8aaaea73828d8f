//! A coordinator of simulated agents, in virtual time: the same messages, the same lines of JSON,
//! and no network. What the simulation itself costs is left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use fleet::{
    Action, Agent, Arrival, LossPolicy, Order, PROTOCOL, ToAgent, ToCoordinator, Transport,
    conduct, parse,
};
use hosts::Watching;
use jobs::Event;
use results::Point;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use workload::{Stream, Target, Workload};

use super::Error;

const SECOND_NS: u64 = 1_000_000_000;
/// How long the simulated load lasts, in seconds.
const LOAD_S: u64 = 60;
/// The delay of the network, one way, in nanoseconds.
const DELAY_NS: u64 = 500_000;
const AGENTS: [usize; 4] = [1, 10, 100, 1_000];
/// What 1,000 agents may cost: percent of a core, and MiB.
const PERCENT_MAX: f64 = 10.0;
const MIB_MAX: f64 = 256.0;

enum Item {
    ToAgent(usize, Box<ToAgent>),
    Line(usize, Vec<u8>),
    Beat(usize),
    Interval(usize, u64),
}

struct World {
    now_ns: u64,
    serial: u64,
    queue: BTreeMap<(u64, u64), Item>,
    agents: Vec<Agent>,
    run: String,
    point: Point,
    measurement: Value,
    /// CPU time of the simulation, seconds.
    simulation_s: f64,
    /// CPU time of the coordinator when the first agent began, and when the first ended.
    window_s: (Option<f64>, Option<f64>),
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

impl World {
    fn new(agents: usize) -> Result<Self, Error> {
        let target = Target { path: "/data".into(), size_bytes: None };
        let mut measured = testing::measurement("m", Workload::single(target, Stream::default()));
        let point = Point {
            seconds: 1.0,
            read_iops: 12_345.6,
            read_mib_per_s: 96.45,
            read_mean_ns: Some(81_234.5),
            read_p99_ns: Some(212_345),
            max_ns: Some(912_345),
            ..Point::default()
        };
        measured.series = (1..=LOAD_S).map(|t| Point { t: t as f64, ..point }).collect();
        let mut world = Self {
            now_ns: 0,
            serial: 0,
            queue: BTreeMap::new(),
            agents: (0..agents).map(|_| Agent::new(0)).collect(),
            run: String::new(),
            point,
            measurement: serde_json::to_value(&measured)?,
            simulation_s: 0.0,
            window_s: (None, None),
        };
        for at in 0..agents {
            let hello = ToCoordinator::Hello {
                protocol: PROTOCOL.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                hostname: format!("host{at}"),
                allowed: vec!["/data".to_owned()],
            };
            world.answer(at, &hello);
            // Heartbeats do not come all at once.
            world.later(SECOND_NS * at as u64 / agents as u64, Item::Beat(at));
        }
        Ok(world)
    }

    fn later(&mut self, after_ns: u64, item: Item) {
        self.serial += 1;
        self.queue.insert((self.now_ns + after_ns, self.serial), item);
    }

    fn answer(&mut self, at: usize, message: &ToCoordinator) {
        let line = serde_json::to_vec(message).unwrap_or_default();
        self.later(DELAY_NS, Item::Line(at, line));
    }

    fn coordinator_s(&self) -> f64 {
        cpu_s() - self.simulation_s
    }

    fn act(&mut self, at: usize, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send(message) => self.answer(at, &message),
                Action::Prepare { run, .. } => {
                    self.run = run;
                    let ready = self.agents[at].ready(Box::default());
                    self.act(at, ready);
                }
                Action::Start(start_ns) => {
                    let until = start_ns.saturating_sub(self.now_ns);
                    self.later(until + SECOND_NS, Item::Interval(at, 1));
                }
                _ => {}
            }
        }
    }

    fn interval(&mut self, at: usize, number: u64, begun_s: f64) {
        let run = self.run.clone();
        if number == 1 && self.window_s.0.is_none() {
            self.window_s.0 = Some(begun_s - self.simulation_s);
        }
        let point = Point { t: number as f64, ..self.point };
        let left = (LOAD_S - number) as f64;
        let event = Event::Engine(engine::Event::Interval { point, seconds_left: left });
        let event = Box::new(serde_json::to_value(event).unwrap_or_default());
        self.answer(at, &ToCoordinator::Happened { run: run.clone(), number: number - 1, event });
        if number < LOAD_S {
            self.later(SECOND_NS, Item::Interval(at, number + 1));
            return;
        }
        if self.window_s.1.is_none() {
            self.window_s.1 = Some(begun_s - self.simulation_s);
        }
        self.agents[at].ended();
        let measurement = Box::new(self.measurement.clone());
        let result = ToCoordinator::Result { run: run.clone(), events: LOAD_S, measurement };
        self.answer(at, &result);
        self.answer(at, &ToCoordinator::Idle { run });
    }

    /// The next line, and what the simulation did before it.
    fn next(&mut self, until_ns: u64) -> Option<(usize, Vec<u8>)> {
        let begun_s = cpu_s();
        let mut found = None;
        while let Some(entry) = self.queue.first_entry() {
            if entry.key().0 > until_ns {
                break;
            }
            let ((when, _), item) = entry.remove_entry();
            self.now_ns = self.now_ns.max(when);
            match item {
                Item::Line(at, line) => {
                    found = Some((at, line));
                    break;
                }
                Item::ToAgent(at, message) => {
                    let now = self.now_ns;
                    let actions = self.agents[at].hear(now, *message);
                    self.act(at, actions);
                }
                Item::Beat(at) => {
                    self.answer(at, &ToCoordinator::Heartbeat);
                    self.later(SECOND_NS, Item::Beat(at));
                }
                Item::Interval(at, number) => self.interval(at, number, begun_s),
            }
        }
        if found.is_none() {
            self.now_ns = self.now_ns.max(until_ns);
        }
        self.simulation_s += cpu_s() - begun_s;
        found
    }
}

impl Transport for World {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn send(&mut self, agent: usize, message: &ToAgent) {
        // Lines are made by the coordinator.
        let _ = serde_json::to_vec(message);
        let begun_s = cpu_s();
        self.later(DELAY_NS, Item::ToAgent(agent, Box::new(message.clone())));
        self.simulation_s += cpu_s() - begun_s;
    }

    fn receive(&mut self, until_ns: u64) -> Option<(usize, u64, Arrival)> {
        let (at, line) = self.next(until_ns)?;
        let message = parse(&line).ok()?;
        Some((at, self.now_ns, Arrival::Message(Box::new(message))))
    }

    fn cut(&mut self, _: usize) {}
}

/// One row of the table, in a process that does nothing else.
pub(super) fn row(agents: usize) -> Result<String, Error> {
    let mut world = World::new(agents)?;
    let names: Vec<String> = (0..agents).map(|at| format!("host{at}")).collect();
    let plans = vec![Some(json!({ "job": "run" })); agents];
    let on_loss = LossPolicy::Abort;
    let order = Order { plans: &plans, keep: false, hold: false, run: "bench", on_loss };
    let (mut shown, stop) = (0_u64, AtomicBool::new(false));
    let mut pass = |_: &Event| shown += 1;
    let mut watching = Watching::new(&names, &mut pass, &stop);
    let done = conduct(&mut world, &names, order, &mut watching)?;
    if done.hosts.iter().any(|host| host.measurement.is_none()) || shown < LOAD_S {
        return Err("a simulated host has no result".into());
    }
    let (Some(from_s), Some(to_s)) = world.window_s else { return Err("nothing ran".into()) };
    let percent = 100.0 * (to_s - from_s) / (LOAD_S - 1) as f64;
    let all_s = world.coordinator_s();
    let mib = super::places::peak_mib()?;
    Ok(format!("{agents} {percent} {all_s} {mib}"))
}

/// The table, and whether 1,000 agents cost no more than they may.
pub(super) fn run() -> Result<(String, bool), Error> {
    let mut text = format!(
        "Coordinator of simulated agents, {LOAD_S} s at intervals of 1 s, virtual time\n\n\
         | agents | while they run, % of a core | in all, CPU s | peak memory, MiB |\n\
         |--:|--:|--:|--:|\n"
    );
    let mut holds = true;
    for agents in AGENTS {
        let mut command = Command::new(std::env::current_exe()?);
        let output = command.args(["fleet", "--agents", &agents.to_string()]).output()?;
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        let figures: Vec<f64> =
            line.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
        let [_, percent, all_s, mib] = figures[..] else {
            return Err(super::super::tools::complaint(&output).into());
        };
        holds &= percent <= PERCENT_MAX && mib <= MIB_MAX;
        let _ = writeln!(text, "| {agents} | {percent:.3} | {all_s:.3} | {mib:.0} |");
    }
    Ok((text, holds))
}
