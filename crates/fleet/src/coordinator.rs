//! The barrier, and what follows: votes, clocks, one moment to start, and results.
//!
//! Nobody starts unless everybody is armed, and a host that is lost is noticed by its silence.

use serde_json::Value;

use crate::clock::{ClockEstimate, PINGS, Ping};
use crate::message::{PROTOCOL, ToAgent, ToCoordinator};
use crate::order::{FleetError, FleetRun, HostRun, LossPolicy, Order, Watch};
use crate::transport::{Arrival, Transport};

const SECOND_NS: u64 = 1_000_000_000;

/// How long agents have to appear.
const GREETING_NS: u64 = 30 * SECOND_NS;

/// How long pings may take altogether.
const CLOCKS_NS: u64 = 20 * SECOND_NS;

/// An agent that was silent for this long is lost. It sends a heartbeat every second.
const LOST_NS: u64 = 5 * SECOND_NS / 2;

/// How often it is looked for hosts that are silent.
const LOOK_NS: u64 = SECOND_NS / 20;

/// A coordinator that did not look for so long was not at work itself: what hosts said meanwhile
/// may not have arrived, and nobody counts as silent for it.
const STALLED_NS: u64 = SECOND_NS;

/// Answers to ARM must be here this long before the start.
/// The confirmation has to arrive in that time.
const MARGIN_NS: u64 = 100_000_000;

/// The start is at least this far ahead when it is named.
const START_NS: u64 = SECOND_NS;

/// How long hosts have to send what they measured after ABORT.
const ENDING_NS: u64 = 60 * SECOND_NS;

/// How long an answer to a question may take.
const ANSWER_NS: u64 = 30 * SECOND_NS;

/// How long a host may take to end the run before.
const BUSY_NS: u64 = 60 * SECOND_NS;

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
    /// Why its agent counts as gone; `None` until it does.
    gone: Option<String>,
    takes_part: bool,
    /// Whether its agent may still be busy with the run before.
    busy: bool,
    /// Whether the user was told that its agent waits for another coordinator.
    waits: bool,
    phase: Phase,
    pings: Vec<Ping>,
    ping_sent_ns: u64,
    heard_ns: u64,
    events: u64,
    refused: Option<String>,
    /// The number of a question, and the answer to it.
    answer: Option<(u32, Box<Value>)>,
}

impl Host {
    /// Prepares for a new run: its report keeps the name, and what the agent said in its greeting.
    fn begin(&mut self, takes_part: bool) {
        let HostRun { name, hostname, version, allowed, .. } = std::mem::take(&mut self.report);
        self.report = HostRun { name, hostname, version, allowed, ..HostRun::default() };
        self.takes_part = takes_part;
        self.phase = if takes_part { Phase::Here } else { Phase::Done };
        self.pings.clear();
        (self.events, self.refused) = (0, None);
    }
}

/// Decides when to look for hosts that are silent.
#[derive(Debug, Default)]
struct Look {
    /// When the hosts were last looked at.
    last_ns: u64,
    /// Since when hosts are looked at without a break.
    since_ns: u64,
}

impl Look {
    /// Whether it is time for a look. One that comes late begins anew.
    fn is_due(&mut self, now_ns: u64) -> bool {
        let ago_ns = now_ns.saturating_sub(self.last_ns);
        // A look at all of them for each message would be the most that a thousand hosts cost.
        if ago_ns < LOOK_NS {
            return false;
        }
        if ago_ns > STALLED_NS {
            self.since_ns = now_ns;
        }
        self.last_ns = now_ns;
        true
    }
}

/// Hosts whose agents are there, for one run after another.
pub struct Coordinator<'t> {
    transport: &'t mut dyn Transport,
    hosts: Vec<Host>,
    heartbeat_ns: u64,
    look: Look,
    /// How often hosts were asked. Questions that are asked together have one number.
    asked: u32,
}

impl<'t> Coordinator<'t> {
    /// Waits until the agent of every host is there.
    ///
    /// # Errors
    /// One did not appear.
    pub fn connect(
        transport: &'t mut dyn Transport,
        names: &[String],
        watch: &mut dyn Watch,
    ) -> Result<Self, FleetError> {
        let now = transport.now_ns();
        let host = |name: &String| Host {
            report: HostRun { name: name.clone(), ..HostRun::default() },
            gone: None,
            takes_part: true,
            busy: false,
            waits: false,
            phase: Phase::Absent,
            pings: Vec::new(),
            ping_sent_ns: 0,
            heard_ns: now,
            events: 0,
            refused: None,
            answer: None,
        };
        let hosts = names.iter().map(host).collect();
        let look = Look { last_ns: now, since_ns: now };
        let mut coordinator = Self { transport, hosts, heartbeat_ns: now, look, asked: 0 };
        let greeted = coordinator.conductor("", watch).greet();
        if let Err(error) = greeted {
            coordinator.leave();
            return Err(error);
        }
        Ok(coordinator)
    }

    fn conductor<'a>(&'a mut self, run: &'a str, watch: &'a mut dyn Watch) -> Conductor<'a> {
        let Self { transport, hosts, heartbeat_ns, look, .. } = self;
        Conductor { transport: &mut **transport, watch, run, hosts, heartbeat_ns, look }
    }

    /// Compares the clocks of all hosts; no run is needed for it.
    ///
    /// # Errors
    /// A host did not answer.
    pub fn compare_clocks(&mut self, watch: &mut dyn Watch) -> Result<Vec<HostRun>, FleetError> {
        self.hosts.iter_mut().for_each(|host| host.begin(true));
        self.conductor("", watch).clocks()?;
        Ok(self.reports())
    }

    /// Asks each host a question; those without one are not asked.
    ///
    /// # Errors
    /// A host did not answer.
    pub fn ask(
        &mut self,
        questions: &[Option<Value>],
        watch: &mut dyn Watch,
    ) -> Result<Vec<Option<Value>>, FleetError> {
        self.asked = self.asked.wrapping_add(1);
        let number = self.asked;
        let all = questions.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        for (host, question) in self.hosts.iter_mut().zip(all) {
            host.begin(question.is_some());
            host.answer = None;
        }
        for (at, question) in questions.iter().enumerate() {
            let Some(question) = question else { continue };
            let question = Box::new(question.clone());
            self.transport.send(at, &ToAgent::Ask { number, question });
        }
        let until = self.transport.now_ns().saturating_add(ANSWER_NS);
        let answered = |host: &Host| host.answer.as_ref().is_some_and(|(n, _)| *n == number);
        self.conductor("", watch).all(answered, until, "answering a question")?;
        let answer = |host: &mut Host| host.answer.take().map(|(_, answer)| *answer);
        Ok(self.hosts.iter_mut().map(answer).collect())
    }

    /// Makes the plans ready on their hosts and starts nothing. With [`Order::hold`], what is ready
    /// waits for a run.
    ///
    /// # Errors
    /// A host refused or was lost.
    pub fn prepare(
        &mut self,
        order: Order<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Vec<HostRun>, FleetError> {
        let mut conductor = self.conductor(order.run, watch);
        let ready = conductor.prepare(order);
        conductor.send_all(&ToAgent::Cancel { run: order.run.to_owned() });
        ready.map(|()| self.reports())
    }

    /// Carries out plans, started at one moment.
    ///
    /// # Errors
    /// Nothing was started, and why. After the start, what was lost is in the result.
    pub fn run(&mut self, order: Order<'_>, watch: &mut dyn Watch) -> Result<FleetRun, FleetError> {
        let mut conductor = self.conductor(order.run, watch);
        if let Err(error) = conductor.begin(order) {
            conductor.send_all(&ToAgent::Cancel { run: order.run.to_owned() });
            return Err(error);
        }
        let interrupted = conductor.collect(order.on_loss);
        Ok(FleetRun { hosts: self.reports(), on_loss: order.on_loss, interrupted })
    }

    /// Says to all agents that nothing more is wanted.
    pub fn leave(&mut self) {
        struct Nobody;
        impl Watch for Nobody {
            fn hear(&mut self, _: usize, _: &Value) {}
            fn notice(&mut self, _: String) {}
            fn is_stopped(&self) -> bool {
                false
            }
        }
        self.conductor("", &mut Nobody).send_all(&ToAgent::Bye);
    }

    fn reports(&self) -> Vec<HostRun> {
        self.hosts.iter().filter(|host| host.takes_part).map(|host| host.report.clone()).collect()
    }
}

struct Conductor<'a> {
    transport: &'a mut dyn Transport,
    watch: &'a mut dyn Watch,
    run: &'a str,
    hosts: &'a mut Vec<Host>,
    heartbeat_ns: &'a mut u64,
    look: &'a mut Look,
}

/// Carries out one plan on every host, from their appearance to their leave.
///
/// # Errors
/// Nothing was started, and why. After the start, what was lost is in the result.
pub fn conduct(
    transport: &mut dyn Transport,
    hosts: &[String],
    order: Order<'_>,
    watch: &mut dyn Watch,
) -> Result<FleetRun, FleetError> {
    let mut coordinator = Coordinator::connect(transport, hosts, watch)?;
    let run = coordinator.run(order, watch);
    coordinator.leave();
    run
}

impl Conductor<'_> {
    fn begin(&mut self, order: Order<'_>) -> Result<(), FleetError> {
        self.prepare(order)?;
        self.clocks()?;
        self.arm()
    }

    fn prepare(&mut self, order: Order<'_>) -> Result<(), FleetError> {
        let plans = order.plans.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        for (host, plan) in self.hosts.iter_mut().zip(plans) {
            host.begin(plan.is_some());
        }
        let until = self.transport.now_ns().saturating_add(BUSY_NS);
        self.all(|host| !host.busy, until, "ending the run before")?;
        for (at, plan) in order.plans.iter().enumerate() {
            let (Some(plan), Some(host)) = (plan, self.hosts.get_mut(at)) else { continue };
            host.busy = true;
            let (protocol, run) = (PROTOCOL.to_owned(), order.run.to_owned());
            let (keep, hold, plan) = (order.keep, order.hold, Box::new(plan.clone()));
            let host = host.report.name.clone();
            let prepare = ToAgent::Prepare { protocol, run, host, keep, hold, plan };
            self.transport.send(at, &prepare);
        }
        // Large files take long to write; silence is what ends this.
        self.all_reach(Phase::Ready, u64::MAX, "making the targets ready")
    }

    fn greet(&mut self) -> Result<(), FleetError> {
        let until = self.transport.now_ns().saturating_add(GREETING_NS);
        self.all_reach(Phase::Here, until, "starting the agent")
    }

    fn clocks(&mut self) -> Result<(), FleetError> {
        let until = self.transport.now_ns().saturating_add(CLOCKS_NS);
        for at in 0..self.hosts.len() {
            if self.hosts.get(at).is_some_and(|host| host.takes_part) {
                self.ping(at);
            }
        }
        let measured = |host: &Host| host.pings.len() >= PINGS as usize;
        self.all(measured, until, "comparing clocks")?;
        for host in self.hosts.iter_mut().filter(|host| host.takes_part) {
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
        let clocks = self.hosts.iter().enumerate();
        let clocks: Vec<(usize, ClockEstimate)> =
            clocks.filter_map(|(at, host)| Some((at, host.report.clock?))).collect();
        let slowest = clocks.iter().map(|(_, clock)| clock.bound_ns).max().unwrap_or(0);
        let wait = slowest.saturating_mul(20).max(START_NS);
        let start = self.transport.now_ns().saturating_add(wait);
        for (at, clock) in clocks {
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

    /// Waits until a condition holds for every host that takes part, before the start.
    fn all(
        &mut self,
        is_so: impl Fn(&Host) -> bool,
        until_ns: u64,
        what: &'static str,
    ) -> Result<(), FleetError> {
        loop {
            for host in self.hosts.iter().filter(|host| host.takes_part) {
                let name = || host.report.name.clone();
                if let Some(reason) = &host.refused {
                    return Err(FleetError::Refused(name(), reason.clone()));
                }
                if let Some(reason) = host.report.lost.as_ref().or(host.gone.as_ref()) {
                    return Err(FleetError::Lost(name(), reason.clone()));
                }
            }
            if self.watch.is_stopped() {
                return Err(FleetError::Interrupted);
            }
            let Some(missing) = self.hosts.iter().find(|host| host.takes_part && !is_so(host))
            else {
                return Ok(());
            };
            if self.transport.now_ns() >= until_ns {
                return Err(FleetError::Late(missing.report.name.clone(), what));
            }
            self.step(until_ns);
        }
    }

    /// Takes what has arrived, or lets time pass; sends heartbeats and notices silence meanwhile.
    fn step(&mut self, until_ns: u64) {
        self.beat();
        let now = self.transport.now_ns();
        // Often enough to see that the user wants to stop.
        let soon = (*self.heartbeat_ns).min(until_ns).min(now.saturating_add(SECOND_NS / 10));
        let mut next = self.transport.receive(soon);
        let now = self.transport.now_ns();
        // All that has arrived is heard before anybody counts as silent.
        while let Some((at, came_ns, arrival)) = next {
            match arrival {
                Arrival::Message(message) => self.hear(at, came_ns, *message),
                Arrival::Gone(why) => self.lose(at, &why),
            }
            // Much may have arrived, and hosts stop that hear nothing.
            self.beat();
            next = self.transport.receive(now);
        }
        if self.look.is_due(now) {
            self.notice_silence(now);
        }
    }

    fn beat(&mut self) {
        let now = self.transport.now_ns();
        if now >= *self.heartbeat_ns {
            *self.heartbeat_ns = now.saturating_add(SECOND_NS);
            self.send_all(&ToAgent::Heartbeat);
        }
    }

    fn notice_silence(&mut self, now: u64) {
        let since_ns = self.look.since_ns.max(self.transport.reachable_since_ns());
        for at in 0..self.hosts.len() {
            let silent = self.hosts.get(at).is_some_and(|host| {
                let here = host.phase > Phase::Absent && host.gone.is_none();
                let heard_ns = host.heard_ns.max(self.transport.heard_ns(at)).max(since_ns);
                here && now.saturating_sub(heard_ns) > LOST_NS
            });
            if silent {
                let why = self.transport.unreachable();
                let why = why.unwrap_or_else(|| "it was silent for more than 2.5 s".to_owned());
                self.transport.cut(at);
                self.lose(at, &why);
            }
        }
    }

    fn hear(&mut self, at: usize, came_ns: u64, message: ToCoordinator) {
        let run = self.run;
        let ours = |named: &str| named == run;
        let Some(host) = self.hosts.get_mut(at).filter(|h| h.gone.is_none()) else { return };
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
            ToCoordinator::Ready { run, site } if ours(&run) && host.phase == Phase::Here => {
                host.phase = Phase::Ready;
                host.report.site = Some(site);
            }
            ToCoordinator::Waits { reason } if !host.waits => {
                host.waits = true;
                let text = format!("{}: {reason}", host.report.name);
                self.watch.notice(text);
            }
            ToCoordinator::Answer { number, answer } => host.answer = Some((number, answer)),
            ToCoordinator::Idle { .. } => host.busy = false,
            ToCoordinator::Refuse { run, reason } if ours(&run) || run.is_empty() => {
                host.busy = false;
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
                self.begun();
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
                    host.report.measurement = Some(measurement.to_string().into());
                }
            }
            ToCoordinator::Failed { run, reason } if ours(&run) => self.failed(at, reason),
            _ => {}
        }
    }

    /// Says how far apart all have begun, once the last has.
    fn begun(&mut self) {
        let all = || self.hosts.iter().filter(|host| host.takes_part);
        let late = || all().filter_map(|host| host.report.late_ns);
        if let (true, Some(first), Some(last)) =
            (late().count() == all().count(), late().min(), late().max())
        {
            self.watch.begun(last - first);
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
        let Some(host) = self.hosts.get_mut(at).filter(|h| h.gone.is_none()) else { return };
        host.gone = Some(why.to_owned());
        if host.phase < Phase::Done {
            host.phase = Phase::Gone;
            host.report.lost = Some(why.to_owned());
            let text = format!("lost the host `{}`: {why}", host.report.name);
            self.watch.notice(text);
        }
    }

    fn send_all(&mut self, message: &ToAgent) {
        for (at, host) in self.hosts.iter().enumerate() {
            if host.gone.is_none() {
                self.transport.send(at, message);
            }
        }
    }

    fn name(&self, at: usize) -> String {
        self.hosts.get(at).map(|host| host.report.name.clone()).unwrap_or_default()
    }
}
