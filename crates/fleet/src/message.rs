//! What a coordinator and its agents say to each other: one line of JSON for each message.

use std::io::{self, BufRead, Read as _};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// The version of these messages. An agent that speaks another refuses in PREPARE.
pub const PROTOCOL: &str = "iosonde.fleet-protocol/2";

/// The longest message that is read, in bytes. A result with its histograms and a day of series is
/// far below it.
pub const MESSAGE_BYTES: u64 = 64 << 20;

/// From the coordinator to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToAgent {
    /// Make the targets ready, then answer with READY, or with REFUSE or FAILED.
    Prepare {
        /// [`PROTOCOL`] of the coordinator. The agent refuses any other than its own.
        protocol: String,
        /// Identifier of the run, the same on every host.
        run: String,
        /// What the coordinator calls the host.
        #[serde(default)]
        host: String,
        /// Test files stay after the run.
        keep: bool,
        /// Targets stay ready for the next run, until the coordinator leaves.
        #[serde(default)]
        hold: bool,
        /// What this host measures: a plan as JSON.
        plan: Box<Value>,
    },
    /// Answer a question outside of any run.
    Ask {
        /// Chosen by the coordinator; the answer repeats it.
        number: u32,
        /// The question, as JSON.
        question: Box<Value>,
    },
    /// Answer at once with the time, so that the coordinator can compare clocks.
    Ping {
        /// Chosen by the coordinator; the answer repeats it.
        number: u32,
    },
    /// Prepare to start at this moment, and wait for CONFIRM.
    Arm {
        /// The run that will start.
        run: String,
        /// The moment of the start, by the agent's clock.
        start_ns: u64,
    },
    /// Every agent is armed: start when the moment comes. An agent that does not hear this in time
    /// does not start, so that a host that is cut off never works alone.
    Confirm {
        /// The run that may start.
        run: String,
    },
    /// Do not start: a host is not ready, the user stops, or nothing was to be started.
    Cancel {
        /// The run that will not start.
        run: String,
    },
    /// Stop, and send what was measured.
    Abort {
        /// The run that ends early.
        run: String,
    },
    /// The coordinator still works. Agents stop if they hear nothing for some seconds.
    Heartbeat,
    /// The result has arrived, or nothing more is wanted.
    Bye,
}

/// From an agent to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToCoordinator {
    /// The greeting of an agent, its first message.
    Hello {
        /// [`PROTOCOL`] of the agent. An agent of another version refuses in PREPARE.
        protocol: String,
        /// The version of iosonde that runs as agent.
        version: String,
        /// The host's own name for itself, which may differ from what the coordinator calls it.
        hostname: String,
        /// The directories and devices that a plan may name.
        allowed: Vec<String>,
    },
    /// The targets are ready, and the agent takes part.
    Ready {
        /// The run that the agent takes part in.
        run: String,
        /// The targets and the host, as they are.
        #[serde(default)]
        site: Box<Value>,
    },
    /// The agent does not take part.
    Refuse {
        /// The run that the agent refuses; empty if it serves another coordinator.
        run: String,
        /// Why the agent refuses, in a sentence.
        reason: String,
    },
    /// The answer to ASK.
    Answer {
        /// The number of the question that this answers.
        number: u32,
        /// The answer, as JSON.
        answer: Box<Value>,
    },
    /// The answer to PING.
    Pong {
        /// The number of the ping that this answers.
        number: u32,
        /// When the ping arrived, by the agent's clock.
        received_ns: u64,
        /// When this was sent, by the agent's clock.
        sent_ns: u64,
    },
    /// The agent has the moment of the start, which is still ahead.
    Armed {
        /// The run that the agent is armed for.
        run: String,
    },
    /// The job of the agent has started.
    Started {
        /// The run that has started.
        run: String,
        /// How long after the moment that ARM named.
        late_ns: u64,
    },
    /// An event of the job, such as a point of its series.
    Happened {
        /// The run that the event belongs to.
        run: String,
        /// Counts from 0 without a gap: a missing number is a message that was dropped.
        number: u64,
        /// The event, as JSON.
        event: Box<Value>,
    },
    /// When the measured window begins; this is sent together with STARTED.
    Window {
        /// The run that the window belongs to.
        run: String,
        /// How long after the moment that ARM named.
        after_ns: u64,
    },
    /// The result of this host, also that of a run that ended early.
    Result {
        /// The run that was measured.
        run: String,
        /// How many events the agent numbered, so that the coordinator can count those it missed.
        events: u64,
        /// The measurement, as JSON.
        measurement: Box<Value>,
    },
    /// The run ended without a result.
    Failed {
        /// The run that failed.
        run: String,
        /// Why it failed, in a sentence.
        reason: String,
    },
    /// The run has ended and is kept on the host: the agent takes the next.
    Idle {
        /// The run that has ended.
        run: String,
    },
    /// The agent does not answer yet, because it waits for a coordinator that is silent.
    Waits {
        /// Why the agent waits, and for how long at most, in sentences.
        reason: String,
    },
    /// The agent still works. It sends this if it has sent nothing for a second.
    Heartbeat,
}

/// Why a line is not a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("this is not a message of {PROTOCOL}: {0}")]
pub struct NotAMessage(pub String);

/// Reads one message.
///
/// # Errors
/// The line is not one.
pub fn parse<M: DeserializeOwned>(line: &[u8]) -> Result<M, NotAMessage> {
    let text = std::str::from_utf8(line).map_err(|e| NotAMessage(e.to_string()))?;
    serde_json::from_str(text).map_err(|e| NotAMessage(e.to_string()))
}

/// Reads a line of at most [`MESSAGE_BYTES`]; none at the end.
///
/// # Errors
/// The line is longer, or reading failed.
pub fn read_line(from: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = from.take(MESSAGE_BYTES).read_until(b'\n', &mut line)?;
    match (read, line.last()) {
        (0, _) => Ok(None),
        (_, Some(b'\n')) => Ok(Some(line)),
        // The end came within a line: whatever was meant is not known.
        (read, _) if (read as u64) < MESSAGE_BYTES => Ok(None),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a message is longer than 64 MiB")),
    }
}
