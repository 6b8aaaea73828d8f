//! What an agent decides: messages and time in, actions out. It makes no I/O and has no clock.

use serde_json::Value;

use crate::message::{PROTOCOL, ToAgent, ToCoordinator};

/// An agent stops when it has heard nothing from the coordinator for this long. The promise is 5 s;
/// the rest is for noticing, which took 0.6 s on two cores with a load average of 10.
pub const SILENCE_NS: u64 = 4_000_000_000;

/// A coordinator that has said nothing for this long does not return: another may have the host.
/// Longer than any phase of a coordinator, and than it takes a NATS server to come back.
pub const FORSAKEN_NS: u64 = 120_000_000_000;

/// What the program around the agent has to do now.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Send this message to the coordinator.
    Send(Box<ToCoordinator>),
    /// Make the targets of a plan ready.
    Prepare {
        /// Identifier of the run, the same on every host.
        run: String,
        /// What the coordinator calls this host.
        host: String,
        /// Test files stay after the run.
        keep: bool,
        /// Targets stay ready for the next run.
        hold: bool,
        /// What this host measures: a plan as JSON.
        plan: Box<Value>,
    },
    /// Answer a question that belongs to no run.
    Answer {
        /// The number of the question, which the answer repeats.
        number: u32,
        /// The question, as JSON. The agent does not look into it.
        question: Box<Value>,
    },
    /// Begin I/O at this moment of the agent's clock.
    Start(u64),
    /// Make no I/O, and give up what was made ready.
    CallOff,
    /// Issue no more I/O, and keep what was measured.
    Stop,
    /// The coordinator needs nothing more. The connection can be closed.
    Leave,
    /// The coordinator is gone for good. What it did not get is kept.
    Forsake,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Idle,
    Preparing(String),
    Ready(String),
    /// Knows the moment, and not whether all others do.
    Armed(String, u64),
    /// The job has the moment of the start, or already runs.
    Confirmed(String),
    /// The job was told to end and has not ended yet.
    Ending,
}

/// The state of one agent: where its run is, and when it last heard the coordinator.
#[derive(Debug)]
pub struct Agent {
    state: State,
    heard_ns: u64,
}

impl Agent {
    /// An agent that has just begun to listen.
    #[must_use]
    pub fn new(now_ns: u64) -> Self {
        Self { state: State::Idle, heard_ns: now_ns }
    }

    fn run(&self) -> Option<&str> {
        match &self.state {
            State::Preparing(run)
            | State::Ready(run)
            | State::Armed(run, _)
            | State::Confirmed(run) => Some(run),
            State::Idle | State::Ending => None,
        }
    }

    /// Takes a message from the coordinator that arrived at `now_ns`.
    pub fn hear(&mut self, now_ns: u64, message: ToAgent) -> Vec<Action> {
        self.heard_ns = self.heard_ns.max(now_ns);
        let send = |message| vec![Action::Send(Box::new(message))];
        match message {
            ToAgent::Prepare { protocol, run, host, keep, hold, plan } => {
                self.prepare(&protocol, Action::Prepare { run, host, keep, hold, plan })
            }
            ToAgent::Ask { number, question } => vec![Action::Answer { number, question }],
            ToAgent::Ping { number } => {
                send(ToCoordinator::Pong { number, received_ns: now_ns, sent_ns: now_ns })
            }
            ToAgent::Arm { run, start_ns } if self.state == State::Ready(run.clone()) => {
                // Too late is not armed: the coordinator misses the answer and cancels for all.
                if start_ns <= now_ns {
                    return Vec::new();
                }
                self.state = State::Armed(run.clone(), start_ns);
                send(ToCoordinator::Armed { run })
            }
            ToAgent::Confirm { run } => match &self.state {
                State::Armed(ours, start_ns) if *ours == run && now_ns < *start_ns => {
                    let start_ns = *start_ns;
                    self.state = State::Confirmed(run);
                    vec![Action::Start(start_ns)]
                }
                _ => Vec::new(),
            },
            ToAgent::Cancel { run } if self.run() == Some(&run) => self.end(Action::CallOff),
            ToAgent::Abort { run } if self.run() == Some(&run) => self.end(Action::Stop),
            ToAgent::Bye => vec![Action::Leave],
            ToAgent::Arm { .. }
            | ToAgent::Cancel { .. }
            | ToAgent::Abort { .. }
            | ToAgent::Heartbeat => Vec::new(),
        }
    }

    fn prepare(&mut self, protocol: &str, action: Action) -> Vec<Action> {
        let Action::Prepare { run, .. } = &action else { return Vec::new() };
        let refuse = |reason| {
            let run = run.clone();
            vec![Action::Send(Box::new(ToCoordinator::Refuse { run, reason }))]
        };
        if protocol != PROTOCOL {
            return refuse(format!(
                "the coordinator speaks `{protocol}` and this agent `{PROTOCOL}`. Install the same \
                 version of iosonde on both"
            ));
        }
        if self.state != State::Idle {
            return refuse("this agent already has a run. Wait until that has ended".to_owned());
        }
        self.state = State::Preparing(run.clone());
        vec![action]
    }

    fn end(&mut self, with: Action) -> Vec<Action> {
        self.state = State::Ending;
        vec![with]
    }

    /// Notes that the targets are ready; `site` describes them and the host.
    pub fn ready(&mut self, site: Box<Value>) -> Vec<Action> {
        let State::Preparing(run) = &self.state else { return Vec::new() };
        let run = run.clone();
        self.state = State::Ready(run.clone());
        vec![Action::Send(Box::new(ToCoordinator::Ready { run, site }))]
    }

    /// Notes that the job has ended. The next run can begin.
    pub fn ended(&mut self) {
        self.state = State::Idle;
    }

    /// Time passes: the dead-man switch, a start that nobody confirmed, and a coordinator that
    /// vanished. A connection that is cut says nothing: without this, `ssh` keeps the host busy for
    /// hours.
    pub fn tick(&mut self, now_ns: u64) -> Vec<Action> {
        if matches!(self.state, State::Armed(_, start_ns) if now_ns >= start_ns) {
            return self.end(Action::CallOff);
        }
        match now_ns.saturating_sub(self.heard_ns) {
            FORSAKEN_NS.. if self.state == State::Idle => vec![Action::Forsake],
            SILENCE_NS.. => self.gone(),
            _ => Vec::new(),
        }
    }

    /// Notes that the coordinator can no longer be reached: the run, if any, ends.
    pub fn gone(&mut self) -> Vec<Action> {
        match self.state {
            State::Preparing(_) | State::Ready(_) | State::Armed(..) => self.end(Action::CallOff),
            State::Confirmed(_) => self.end(Action::Stop),
            State::Idle | State::Ending => Vec::new(),
        }
    }
}
