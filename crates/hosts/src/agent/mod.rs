//! The agent: carries out what a coordinator sends, as far as its host allows it.

mod allowed;
mod audit;
mod job;
mod keepsake;
mod outbox;
mod questions;
mod turn;

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use engine::Clock;
use fleet::{Action, Agent, PROTOCOL, ToAgent, ToCoordinator, parse, read_line};
use history::{HistoryError, Place, check_tag};
use jobs::{Event, JobError, Plan, Recording};
use nats::Joined;
use serde_json::Value;
use workload::Nanoseconds;

pub use allowed::Allowed;
use audit::Audit;
use job::{Held, Load, Task};
use keepsake::Keepsake;
pub(crate) use keepsake::KeptResult;
use outbox::Outbox;
use questions::answer;
pub(crate) use questions::{Answer, Question, since_1970_ns};
use turn::Turn;

use crate::reach::of_nats;

/// The agent looks at its clock this often.
const TICK: Duration = Duration::from_millis(100);

/// The clock is looked at after so many inputs, however many there are.
const AT_ONCE: usize = 1024;

/// What the user of a host says when the agent is started.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Which paths plans may name, and what they may do there.
    pub allowed: Allowed,
    /// The file that each command is noted in; `None` stands for `agent.log` in the user's data
    /// directory.
    pub audit: Option<PathBuf>,
    /// The sender of commands, for the log of commands; `None` takes the one that sshd names.
    pub from: Option<String>,
    /// The history of this host, which keeps results whatever becomes of the coordinator; `None`
    /// keeps no history.
    pub recording: Option<Recording>,
}

/// What the main thread waits for.
enum Input {
    /// A message, and when it came.
    Message(u64, ToAgent),
    /// The coordinator's end of the pipe is closed, or what comes from it is not a message.
    Closed(String),
    /// The targets are ready; the value describes them and the host.
    Prepared(Box<Value>),
    /// An event of the running load, for the coordinator.
    Event(Box<Event>),
    /// The result, before it is kept.
    Measured(Box<Value>),
    /// The load has ended; why there is no result, or why it is not kept.
    Ended(Result<(), String>),
}

/// Serves a coordinator on these pipes until it leaves. `stop` ends it early.
///
/// # Errors
/// The file of commands cannot be written.
pub fn serve(
    options: AgentOptions,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stop: &AtomicBool,
) -> Result<(), JobError> {
    let path = options.audit.clone().map_or_else(usual_audit, Ok)?;
    let audit = Audit::open(&path, options.from.clone());
    let audit = audit.map_err(|error| JobError::CannotRun(error.to_string()))?;
    let (sender, inputs) = channel();
    let read = sender.clone();
    // It may wait for its input for ever, so nobody waits for it.
    thread::spawn(move || listen(input, &read));
    let server = Server {
        agent: Agent::new(Clock::get().now()),
        outbox: Outbox::new(output),
        options,
        audit,
        sender,
        held: Held::default(),
        turn: Turn::beside(&path),
        keepsake: Keepsake::beside(&path),
        run: String::new(),
        load: None,
        events: 0,
        warmup_ns: 0,
        measured: false,
        leaving: false,
    };
    server.serve(&inputs, stop);
    Ok(())
}

/// Connects to the server of a fleet with these credentials, and serves each coordinator that
/// calls, one at a time, until `stop`. `say` gets sentences about the connection.
///
/// # Errors
/// The credentials cannot be used, the server refuses them, or the file of commands cannot be
/// written.
pub fn join(
    options: &AgentOptions,
    credentials: &Path,
    stop: &AtomicBool,
    say: &mut dyn FnMut(String),
) -> Result<(), JobError> {
    let mut joined = Joined::start(credentials).map_err(of_nats)?;
    while let Some(session) = joined.next(stop, say).map_err(of_nats)? {
        let options = AgentOptions { from: Some("nats".to_owned()), ..options.clone() };
        serve(options, session.input, session.output, stop)?;
    }
    Ok(())
}

/// Passes on what comes from the coordinator.
fn listen(input: impl Read, sender: &Sender<Input>) {
    let mut input = BufReader::new(input);
    let why = loop {
        let line = match read_line(&mut input) {
            Ok(Some(line)) => line,
            Ok(None) => break "the connection ended".to_owned(),
            Err(error) => break error.to_string(),
        };
        match parse(&line) {
            Ok(message) => {
                if sender.send(Input::Message(Clock::get().now(), message)).is_err() {
                    return;
                }
            }
            Err(error) => break error.to_string(),
        }
    };
    let _ = sender.send(Input::Closed(why));
}

struct Server {
    agent: Agent,
    outbox: Outbox,
    options: AgentOptions,
    audit: Audit,
    sender: Sender<Input>,
    /// Targets that stay ready for the next run.
    held: Held,
    /// Once a run has taken it, no other coordinator may use this host.
    turn: Turn,
    /// Keeps results on disk for a coordinator that went away.
    keepsake: Keepsake,
    /// Identifier of the run that the load belongs to.
    run: String,
    load: Option<Load>,
    /// Events of the run so far.
    events: u64,
    /// How long the load runs before its window begins.
    warmup_ns: u64,
    measured: bool,
    leaving: bool,
}

impl Server {
    fn serve(mut self, inputs: &Receiver<Input>, stop: &AtomicBool) {
        self.hello();
        while !self.leaving || self.load.is_some() {
            self.turn_over(inputs, TICK, &|| Clock::get().now());
            if stop.load(Ordering::Relaxed) && !self.leaving {
                self.leave("a signal");
            }
        }
        self.outbox.close();
    }

    /// Takes everything that waits, and looks at the clock then: where the disk held this thread up
    /// for seconds, what the coordinator said meanwhile is here.
    fn turn_over(&mut self, inputs: &Receiver<Input>, wait: Duration, clock: &dyn Fn() -> u64) {
        let mut next = inputs.recv_timeout(wait).ok();
        for _ in 0..AT_ONCE {
            let Some(input) = next else { break };
            let actions = self.take(input);
            self.act(actions);
            next = inputs.try_recv().ok();
        }
        let now = clock();
        let actions = self.agent.tick(now);
        self.act(actions);
        self.outbox.at_work(now);
    }

    fn hello(&self) {
        self.outbox.send(&ToCoordinator::Hello {
            protocol: PROTOCOL.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hostname: inspect::Inspector::new().host().hostname,
            allowed: self.options.allowed.names(),
        });
    }

    fn take(&mut self, input: Input) -> Vec<Action> {
        match input {
            Input::Message(came_ns, message) => self.agent.hear(came_ns, message),
            Input::Closed(why) => {
                self.leave(&why);
                Vec::new()
            }
            Input::Prepared(site) => self.agent.ready(site),
            Input::Event(event) => {
                self.happened(&event);
                Vec::new()
            }
            Input::Measured(measurement) => {
                self.measured = true;
                // The load has ended. Keeping its result may take a busy disk some time.
                self.audit.note(&self.run, "end", "");
                if let Err(text) = self.keepsake.keep(&measurement) {
                    self.audit.note(&self.run, "not-kept", &text);
                }
                let (run, events) = (self.run.clone(), self.events);
                self.outbox.send(&ToCoordinator::Result { run, events, measurement });
                Vec::new()
            }
            Input::Ended(ended) => {
                self.ended(ended);
                Vec::new()
            }
        }
    }

    fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send(message) => self.answer(&message),
                Action::Prepare { run, host, keep, hold, plan } => {
                    // What the point before measured has arrived.
                    self.keepsake.forget();
                    self.keepsake.name(&run, &host);
                    self.prepare(run, (keep, hold), *plan);
                }
                Action::Answer { number, question } => {
                    self.audit.note("", "question", &question.to_string());
                    let answer = answer(*question, &self.options.allowed, &self.keepsake);
                    let answer = Box::new(answer);
                    self.outbox.send(&ToCoordinator::Answer { number, answer });
                }
                Action::Start(at_ns) => {
                    self.load.iter().for_each(|load| load.start(at_ns));
                    self.audit.note(&self.run, "start", "");
                }
                Action::CallOff => self.stop("cancel"),
                Action::Stop => self.stop("stop"),
                Action::Forsake if self.leaving => {}
                Action::Forsake => self.leave("the coordinator is silent"),
                Action::Leave => {
                    // It does not leave before it has every result.
                    self.keepsake.forget();
                    self.leave("the coordinator left");
                }
            }
        }
    }

    fn answer(&mut self, message: &ToCoordinator) {
        if let ToCoordinator::Refuse { run, reason } = message {
            self.audit.note(run, "refuse", reason);
        }
        self.outbox.send(message);
    }

    fn prepare(&mut self, run: String, (keep, hold): (bool, bool), plan: Value) {
        let checked = self.options.allowed.check(plan, keep);
        // All runs of one coordinator have one name before the point.
        let session = run.split('.').next().unwrap_or_default().to_owned();
        match self.turn.take(&session).and(checked) {
            Err(reason) => {
                self.agent.ended();
                self.answer(&ToCoordinator::Refuse { run, reason });
            }
            Ok((plan, permissions)) => {
                self.audit.note(&run, "prepare", &about(&plan));
                self.warmup_ns = match &plan {
                    Plan::Run(load) => Nanoseconds::from_seconds(load.warmup_seconds).0,
                    _ => 0,
                };
                (self.run, self.events, self.measured) = (run, 0, false);
                let mut recording = self.options.recording.clone();
                let tag = format!("fleet-{session}");
                if let Some(recording) = recording.as_mut().filter(|_| check_tag(&tag).is_ok()) {
                    recording.tags.push(tag);
                }
                let targets = Held::clone(&self.held);
                let task = Task { plan, permissions, recording, targets, stay: hold };
                self.load = Some(Load::prepare(task, self.sender.clone()));
            }
        }
    }

    /// The load first: the disk of the audit may be the one that is slow.
    fn stop(&mut self, command: &str) {
        self.load.iter().for_each(Load::stop);
        self.audit.note(&self.run, command, "");
    }

    /// Serves nobody any more once the load has ended.
    fn leave(&mut self, why: &str) {
        self.leaving = true;
        self.load.iter().for_each(Load::stop);
        self.audit.note(&self.run, "leave", why);
    }

    fn happened(&mut self, event: &Event) {
        use engine::Event as Engine;
        match event {
            // A document that nobody waits for, and figures for a screen of this host.
            Event::Began { .. } | Event::Engine(Engine::Workers { .. }) => return,
            Event::Engine(Engine::ThreadsStarted { after_ns, late_ns }) => {
                let (after_ns, late_ns) = (after_ns.saturating_add(self.warmup_ns), *late_ns);
                self.keepsake.started = Some((late_ns, after_ns));
                self.outbox.send(&ToCoordinator::Started { run: self.run.clone(), late_ns });
                self.outbox.send(&ToCoordinator::Window { run: self.run.clone(), after_ns });
                return;
            }
            _ => {}
        }
        let Ok(event) = serde_json::to_value(event) else { return };
        let (number, event) = (self.events, Box::new(event));
        self.events += 1;
        self.outbox.offer(&ToCoordinator::Happened { run: self.run.clone(), number, event });
    }

    fn ended(&mut self, ended: Result<(), String>) {
        self.load = None;
        self.agent.ended();
        match &ended {
            Err(reason) if self.measured => self.audit.note(&self.run, "not-kept", reason),
            Err(reason) => self.audit.note(&self.run, "end", reason),
            Ok(()) if self.measured => {}
            Ok(()) => self.audit.note(&self.run, "end", ""),
        }
        match ended {
            Err(reason) if !self.measured => {
                self.outbox.send(&ToCoordinator::Failed { run: self.run.clone(), reason });
            }
            // The coordinator has the result. That this host could not keep it, too, is a notice.
            Err(text) => {
                let event = serde_json::to_value(Event::Error { text }).unwrap_or_default();
                let (run, number) = (self.run.clone(), self.events);
                let event = Box::new(event);
                self.outbox.offer(&ToCoordinator::Happened { run, number, event });
            }
            Ok(()) => {}
        }
        self.outbox.send(&ToCoordinator::Idle { run: self.run.clone() });
    }
}

/// What a plan is about, for the line of its command.
fn about(plan: &Plan) -> String {
    plan.job().subject().map_or_else(
        |error| error.to_string(),
        |subject| format!("{}: {} on {}", plan.kind(), subject.title, subject.targets),
    )
}

/// Where commands are noted unless the user names a file. The directory is made.
fn usual_audit() -> Result<PathBuf, HistoryError> {
    Ok(match history::place(None)? {
        Place::File(path) => path.with_file_name("agent.log"),
        Place::Postgres(_) => PathBuf::from("agent.log"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// An agent whose load runs, and which heard its coordinator long ago.
    fn held_up(audit: &Path) -> Server {
        let (sender, _) = channel();
        let mut agent = Agent::new(0);
        let (protocol, run) = (PROTOCOL.to_owned(), "r".to_owned());
        let (host, plan) = ("a".to_owned(), Box::default());
        let (keep, hold) = (false, false);
        agent.hear(0, ToAgent::Prepare { protocol, run: run.clone(), host, keep, hold, plan });
        agent.ready(Box::default());
        agent.hear(0, ToAgent::Arm { run: run.clone(), start_ns: 1 });
        let confirmed = agent.hear(0, ToAgent::Confirm { run: run.clone() });
        assert_eq!(confirmed, [Action::Start(1)]);
        Server {
            agent,
            outbox: Outbox::new(std::io::sink()),
            options: AgentOptions {
                allowed: Allowed::default(),
                audit: None,
                from: None,
                recording: None,
            },
            audit: Audit::open(audit, None).unwrap(),
            sender,
            held: Held::default(),
            turn: Turn::beside(audit),
            keepsake: Keepsake::beside(audit),
            run,
            load: None,
            events: 0,
            warmup_ns: 0,
            measured: false,
            leaving: false,
        }
    }

    /// A busy disk held the agent up while it noted a command. It then took one event, looked at
    /// the clock, and stopped its load, though the coordinator's signs of life were next.
    #[test]
    fn what_came_while_the_disk_was_busy_is_heard_before_silence_is_judged() {
        let place = tempfile::tempdir().unwrap();
        let audit = place.path().join("agent.log");
        let stops = || fs::read_to_string(&audit).unwrap().contains("command=stop");
        let (waiting, inputs) = channel();
        let mut server = held_up(&audit);
        let event = || Input::Event(Box::new(Event::Notice { text: "busy".to_owned() }));
        waiting.send(event()).unwrap();
        waiting.send(Input::Message(9_000_000_000, ToAgent::Heartbeat)).unwrap();
        server.turn_over(&inputs, Duration::ZERO, &|| 10_000_000_000);
        assert!(!stops());
        // Without a sign of life, it stops.
        let mut server = held_up(&audit);
        waiting.send(event()).unwrap();
        server.turn_over(&inputs, Duration::ZERO, &|| 10_000_000_000);
        assert!(stops());
    }
}
