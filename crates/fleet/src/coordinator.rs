//! The barrier, and what follows: votes, clocks, one moment to start, and results.
//!
//! Nobody starts unless everybody is armed, and a host that is lost is noticed by its silence.

use std::str::FromStr;

use serde_json::Value;
use thiserror::Error;

use crate::clock::{ClockEstimate, PINGS, Ping};
use crate::message::{PROTOCOL, ToAgent, ToCoordinator};
use crate::transport::{Arrival, Transport};

const SECOND_NS: u64 = 1_000_000_000;

/// How long agents have to appear.
const GREETING_NS: u64 = 30 * SECOND_NS;

/// How long pings may take altogether.
const CLOCKS_NS: u64 = 20 * SECOND_NS;

/// An agent that was silent for this long is lost. It sends a heartbeat every second.
const LOST_NS: u64 = 5 * SECOND_NS / 2;

/// Answers to ARM must be here this long before the start.
/// The confirmation has to arrive in that time.
const MARGIN_NS: u64 = 100_000_000;

/// The start is at least this far ahead when it is named.
const START_NS: u64 = SECOND_NS;

/// How long hosts have to send what they measured after ABORT.
const ENDING_NS: u64 = 60 * SECOND_NS;

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// The plan of each host, in the order of `hosts`.
    pub plans: &'a [Value],
    /// Test files stay on the hosts.
    pub keep: bool,
    /// The name of the run.
    pub run: &'a str,
    /// What the hosts are called.
    pub hosts: &'a [String],
    /// What happens when one is lost.
    pub on_loss: LossPolicy,
}

/// What happens when a host is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LossPolicy {
    /// The others stop.
    #[default]
    Abort,
    /// The others continue.
    Continue,
}

/// A word that is not a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("write `abort` or `continue`")]
pub struct NotAPolicy;

impl FromStr for LossPolicy {
    type Err = NotAPolicy;

    fn from_str(word: &str) -> Result<Self, NotAPolicy> {
        match word {
            "abort" => Ok(Self::Abort),
            "continue" => Ok(Self::Continue),
            _ => Err(NotAPolicy),
        }
    }
}

/// Hears what happens on the hosts, and says when to stop.
pub trait Watch {
    /// Something happened on this host.
    fn hear(&mut self, host: usize, event: &Value);

    /// A sentence for the user.
    fn notice(&mut self, text: String);

    /// Whether to stop early.
    fn is_stopped(&self) -> bool;
}

/// What one host did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostRun {
    /// The name by which it was called.
    pub name: String,
    /// What it calls itself.
    pub hostname: String,
    /// Version of its agent.
    pub version: String,
    /// What its agent allows.
    pub allowed: Vec<String>,
    /// How far its clock is ahead.
    pub clock: Option<ClockEstimate>,
    /// How long after the named moment it started.
    pub late_ns: Option<u64>,
    /// How long after that moment its measured window began.
    pub window_ns: Option<u64>,
    /// What it measured.
    pub measurement: Option<Box<Value>>,
    /// Why it has no measurement.
    pub lost: Option<String>,
    /// Events that did not arrive.
    pub missing_events: u64,
}

/// What all hosts did.
#[derive(Debug, Clone, PartialEq)]
pub struct FleetRun {
    /// Each host.
    pub hosts: Vec<HostRun>,
    /// What was to happen when one is lost.
    pub on_loss: LossPolicy,
    /// Whether the user ended it.
    pub interrupted: bool,
}

/// Why nothing was measured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FleetError {
    /// A host did not appear or went away.
    #[error("lost the host `{0}`: {1}. Nothing was started on any host")]
    Lost(String, String),
    /// A host refused.
    #[error("the host `{0}` refused: {1}. Nothing was started on any host")]
    Refused(String, String),
    /// A host did not answer in time.
    #[error("the host `{0}` did not answer in time ({1}). Nothing was started on any host")]
    Late(String, &'static str),
    /// The user ended it before it began.
    #[error("interrupted before the start")]
    Interrupted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Absent,
    Here,
    Ready,
    Armed,
    Done,
    Gone,
}

struct Host {
    report: HostRun,
    phase: Phase,
    pings: Vec<Ping>,
    ping_sent_ns: u64,
    heard_ns: u64,
    events: u64,
    refused: Option<String>,
}

struct Conductor<'a> {
    transport: &'a mut dyn Transport,
    watch: &'a mut dyn Watch,
    run: &'a str,
    hosts: Vec<Host>,
    heartbeat_ns: u64,
}

/// Carries out a plan on every host.
///
/// # Errors
/// Nothing was started, and why. After the start, what was lost is in the result.
pub fn conduct(
    transport: &mut dyn Transport,
    order: Order<'_>,
    watch: &mut dyn Watch,
) -> Result<FleetRun, FleetError> {
    let mut conductor = Conductor::new(transport, watch, order.run, order.hosts);
    let begun = conductor.begin(order.plans, order.keep);
    if let Err(error) = begun {
        conductor.send_all(&ToAgent::Cancel { run: order.run.to_owned() });
        conductor.send_all(&ToAgent::Bye);
        return Err(error);
    }
    let interrupted = conductor.collect(order.on_loss);
    conductor.send_all(&ToAgent::Bye);
    Ok(FleetRun { hosts: conductor.reports(), on_loss: order.on_loss, interrupted })
}

impl<'a> Conductor<'a> {
    fn new(
        transport: &'a mut dyn Transport,
        watch: &'a mut dyn Watch,
        run: &'a str,
        names: &[String],
    ) -> Self {
        let now = transport.now_ns();
        let host = |name: &String| Host {
            report: HostRun { name: name.clone(), ..HostRun::default() },
            phase: Phase::Absent,
            pings: Vec::new(),
            ping_sent_ns: 0,
            heard_ns: now,
            events: 0,
            refused: None,
        };
        let hosts = names.iter().map(host).collect();
        Self { transport, watch, run, hosts, heartbeat_ns: now }
    }

    fn reports(self) -> Vec<HostRun> {
        self.hosts.into_iter().map(|host| host.report).collect()
    }

    fn begin(&mut self, plans: &[Value], keep: bool) -> Result<(), FleetError> {
        self.greet()?;
        for (at, plan) in plans.iter().enumerate() {
            let (protocol, run) = (PROTOCOL.to_owned(), self.run.to_owned());
            let plan = Box::new(plan.clone());
            self.transport.send(at, &ToAgent::Prepare { protocol, run, keep, plan });
        }
        // Large files take long to write; silence is what ends this.
        self.all_reach(Phase::Ready, u64::MAX, "making the targets ready")?;
        self.clocks()?;
        self.arm()
    }

    fn greet(&mut self) -> Result<(), FleetError> {
        let until = self.transport.now_ns().saturating_add(GREETING_NS);
        self.all_reach(Phase::Here, until, "starting the agent")
    }

    fn clocks(&mut self) -> Result<(), FleetError> {
        let until = self.transport.now_ns().saturating_add(CLOCKS_NS);
        for at in 0..self.hosts.len() {
            self.ping(at);
        }
        let measured = |host: &Host| host.pings.len() >= PINGS as usize;
        self.all(measured, until, "comparing clocks")?;
        for host in &mut self.hosts {
            host.report.clock = ClockEstimate::of(&host.pings);
            if host.report.clock.is_none() {
                return Err(FleetError::Late(host.report.name.clone(), "comparing clocks"));
            }
        }
        Ok(())
    }

    fn ping(&mut self, at: usize) {
        let now = self.transport.now_ns();
        let Some(host) = self.hosts.get_mut(at) else { return };
        host.ping_sent_ns = now;
        let number = u32::try_from(host.pings.len()).unwrap_or(u32::MAX);
        self.transport.send(at, &ToAgent::Ping { number });
    }

    fn arm(&mut self) -> Result<(), FleetError> {
        let clocks: Vec<ClockEstimate> =
            self.hosts.iter().filter_map(|host| host.report.clock).collect();
        let slowest = clocks.iter().map(|clock| clock.bound_ns).max().unwrap_or(0);
        let wait = slowest.saturating_mul(20).max(START_NS);
        let start = self.transport.now_ns().saturating_add(wait);
        for (at, clock) in clocks.into_iter().enumerate() {
            let Some(start_ns) = clock.to_agent(start) else {
                return Err(FleetError::Late(self.name(at), "naming the start"));
            };
            self.transport.send(at, &ToAgent::Arm { run: self.run.to_owned(), start_ns });
        }
        let margin = MARGIN_NS.max(slowest.saturating_mul(4));
        self.all_reach(Phase::Armed, start.saturating_sub(margin), "arming")?;
        self.send_all(&ToAgent::Confirm { run: self.run.to_owned() });
        Ok(())
    }

    /// Waits for what every host measured; whether the user ended it.
    fn collect(&mut self, on_loss: LossPolicy) -> bool {
        let (mut interrupted, mut deadline) = (false, u64::MAX);
        loop {
            let stopped = self.watch.is_stopped();
            let lost = self.hosts.iter().any(|host| host.report.lost.is_some());
            let aborts = stopped || lost && on_loss == LossPolicy::Abort;
            if aborts && deadline == u64::MAX {
                interrupted = stopped;
                deadline = self.transport.now_ns().saturating_add(ENDING_NS);
                self.send_all(&ToAgent::Abort { run: self.run.to_owned() });
            }
            if self.hosts.iter().all(|host| host.phase >= Phase::Done) {
                return interrupted;
            }
            if self.transport.now_ns() >= deadline {
                let busy = self.hosts.iter().map(|host| host.phase < Phase::Done);
                for (at, _) in busy.collect::<Vec<_>>().into_iter().enumerate().filter(|b| b.1) {
                    self.transport.cut(at);
                    self.lose(at, "it did not stop in time");
                }
            }
            self.step(deadline);
        }
    }

    fn all_reach(
        &mut self,
        phase: Phase,
        until_ns: u64,
        what: &'static str,
    ) -> Result<(), FleetError> {
        self.all(|host| host.phase >= phase, until_ns, what)
    }

    /// Waits until this is so of every host, before the start.
    fn all(
        &mut self,
        is_so: impl Fn(&Host) -> bool,
        until_ns: u64,
        what: &'static str,
    ) -> Result<(), FleetError> {
        loop {
            for host in &self.hosts {
                let name = || host.report.name.clone();
                if let Some(reason) = &host.refused {
                    return Err(FleetError::Refused(name(), reason.clone()));
                }
                if let Some(reason) = &host.report.lost {
                    return Err(FleetError::Lost(name(), reason.clone()));
                }
            }
            if self.watch.is_stopped() {
                return Err(FleetError::Interrupted);
            }
            let Some(missing) = self.hosts.iter().find(|host| !is_so(host)) else { return Ok(()) };
            if self.transport.now_ns() >= until_ns {
                return Err(FleetError::Late(missing.report.name.clone(), what));
            }
            self.step(until_ns);
        }
    }

    /// Takes one arrival, or lets time pass; sends heartbeats and notices silence meanwhile.
    fn step(&mut self, until_ns: u64) {
        let now = self.transport.now_ns();
        if now >= self.heartbeat_ns {
            self.heartbeat_ns = now.saturating_add(SECOND_NS);
            self.send_all(&ToAgent::Heartbeat);
        }
        // Often enough to see that the user wants to stop.
        let soon = self.heartbeat_ns.min(until_ns).min(now.saturating_add(SECOND_NS / 10));
        let mut next = self.transport.receive(soon);
        let now = self.transport.now_ns();
        // All that has arrived is heard before anybody counts as silent.
        while let Some((at, came_ns, arrival)) = next {
            match arrival {
                Arrival::Message(message) => self.hear(at, came_ns, *message),
                Arrival::Gone(why) => self.lose(at, &why),
            }
            next = self.transport.receive(now);
        }
        for at in 0..self.hosts.len() {
            let silent = self.hosts.get(at).is_some_and(|host| {
                let here = host.phase > Phase::Absent && host.phase < Phase::Done;
                here && now.saturating_sub(host.heard_ns) > LOST_NS
            });
            if silent {
                self.transport.cut(at);
                self.lose(at, "it was silent for more than 2.5 s");
            }
        }
    }

    fn hear(&mut self, at: usize, came_ns: u64, message: ToCoordinator) {
        let run = self.run;
        let ours = |named: &str| named == run;
        let Some(host) = self.hosts.get_mut(at).filter(|h| h.phase != Phase::Gone) else { return };
        host.heard_ns = host.heard_ns.max(came_ns);
        match message {
            ToCoordinator::Hello { version, hostname, allowed, .. } => {
                if host.phase == Phase::Absent {
                    host.phase = Phase::Here;
                    let report = &mut host.report;
                    (report.version, report.hostname, report.allowed) =
                        (version, hostname, allowed);
                }
            }
            ToCoordinator::Ready { run } if ours(&run) && host.phase == Phase::Here => {
                host.phase = Phase::Ready;
            }
            ToCoordinator::Refuse { run, reason } if ours(&run) || run.is_empty() => {
                if host.phase < Phase::Armed {
                    host.refused = Some(reason);
                }
            }
            ToCoordinator::Pong { number, received_ns, sent_ns } => {
                if number as usize == host.pings.len() && number < PINGS {
                    let (sent_ns, answered_ns) = (host.ping_sent_ns, sent_ns);
                    let ping = Ping { sent_ns, received_ns, answered_ns, back_ns: came_ns };
                    host.pings.push(ping);
                    if host.pings.len() < PINGS as usize {
                        self.ping(at);
                    }
                }
            }
            ToCoordinator::Armed { run } if ours(&run) && host.phase == Phase::Ready => {
                host.phase = Phase::Armed;
            }
            ToCoordinator::Started { run, late_ns } if ours(&run) => {
                host.report.late_ns = Some(late_ns);
            }
            ToCoordinator::Window { run, after_ns } if ours(&run) => {
                host.report.window_ns = Some(after_ns);
            }
            ToCoordinator::Happened { run, number, event } if ours(&run) => {
                self.happened(at, number, &event);
            }
            ToCoordinator::Result { run, events, measurement } if ours(&run) => {
                if host.phase == Phase::Armed {
                    host.phase = Phase::Done;
                    host.report.missing_events = events.saturating_sub(host.events);
                    host.report.measurement = Some(measurement);
                }
            }
            ToCoordinator::Failed { run, reason } if ours(&run) => self.failed(at, reason),
            _ => {}
        }
    }

    /// An event arrived. One that was seen is not counted again.
    fn happened(&mut self, at: usize, number: u64, event: &Value) {
        let Some(host) = self.hosts.get_mut(at) else { return };
        if number < host.report.missing_events.saturating_add(host.events) {
            return;
        }
        host.report.missing_events = number.saturating_sub(host.events);
        host.events = host.events.saturating_add(1);
        self.watch.hear(at, event);
    }

    fn failed(&mut self, at: usize, reason: String) {
        let Some(host) = self.hosts.get_mut(at) else { return };
        if host.phase < Phase::Armed {
            host.refused = Some(reason);
        } else if host.phase == Phase::Armed {
            host.phase = Phase::Done;
            host.report.lost = Some(reason);
        }
    }

    fn lose(&mut self, at: usize, why: &str) {
        let Some(host) = self.hosts.get_mut(at).filter(|h| h.phase < Phase::Done) else { return };
        host.phase = Phase::Gone;
        host.report.lost = Some(why.to_owned());
        let text = format!("lost the host `{}`: {why}", host.report.name);
        self.watch.notice(text);
    }

    fn send_all(&mut self, message: &ToAgent) {
        for (at, host) in self.hosts.iter().enumerate() {
            if host.phase != Phase::Gone {
                self.transport.send(at, message);
            }
        }
    }

    fn name(&self, at: usize) -> String {
        self.hosts.get(at).map(|host| host.report.name.clone()).unwrap_or_default()
    }
}
