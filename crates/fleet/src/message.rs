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
    /// Make this ready, and vote.
    Prepare {
        /// [`PROTOCOL`] of the coordinator.
        protocol: String,
        /// The name of the run.
        run: String,
        /// What the coordinator calls the host.
        #[serde(default)]
        host: String,
        /// Test files stay after the run.
        keep: bool,
        /// Targets stay ready for the next run, until the coordinator leaves.
        #[serde(default)]
        hold: bool,
        /// What is to be done.
        plan: Box<Value>,
    },
    /// Answer a question outside of any run.
    Ask {
        /// Its number.
        number: u32,
        /// What is asked.
        question: Box<Value>,
    },
    /// Tell the time.
    Ping {
        /// Its number.
        number: u32,
    },
    /// Start at this moment.
    Arm {
        /// The run.
        run: String,
        /// When, by the agent's clock.
        start_ns: u64,
    },
    /// Every agent is armed: start when the moment comes. An agent that does not hear this in time
    /// does not start, so that a host that is cut off never works alone.
    Confirm {
        /// The run.
        run: String,
    },
    /// Do not start.
    Cancel {
        /// The run.
        run: String,
    },
    /// Stop, and send what was measured.
    Abort {
        /// The run.
        run: String,
    },
    /// The coordinator is there.
    Heartbeat,
    /// The result has arrived, or nothing more is wanted.
    Bye,
}

/// From an agent to the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum ToCoordinator {
    /// The agent is there.
    Hello {
        /// [`PROTOCOL`] of the agent.
        protocol: String,
        /// Version of the program.
        version: String,
        /// What the host calls itself.
        hostname: String,
        /// The directories and devices that a plan may name.
        allowed: Vec<String>,
    },
    /// All is ready.
    Ready {
        /// The run.
        run: String,
        /// The targets and the host, as they are.
        #[serde(default)]
        site: Box<Value>,
    },
    /// The agent does not take part.
    Refuse {
        /// The run.
        run: String,
        /// Why, in a sentence.
        reason: String,
    },
    /// The answer to a question.
    Answer {
        /// The number of the question.
        number: u32,
        /// What is answered.
        answer: Box<Value>,
    },
    /// The time.
    Pong {
        /// The number of the ping.
        number: u32,
        /// When the ping arrived, by the agent's clock.
        received_ns: u64,
        /// When this was sent, by the agent's clock.
        sent_ns: u64,
    },
    /// The agent will start.
    Armed {
        /// The run.
        run: String,
    },
    /// The agent has started.
    Started {
        /// The run.
        run: String,
        /// How long after the moment that was named.
        late_ns: u64,
    },
    /// Something happened.
    Happened {
        /// The run.
        run: String,
        /// Counts from 0 without a gap: a missing number is a message that was dropped.
        number: u64,
        /// What.
        event: Box<Value>,
    },
    /// When the measured window begins.
    Window {
        /// The run.
        run: String,
        /// How long after the moment that was named.
        after_ns: u64,
    },
    /// The result.
    Result {
        /// The run.
        run: String,
        /// How many events there were.
        events: u64,
        /// What was measured.
        measurement: Box<Value>,
    },
    /// Nothing was measured.
    Failed {
        /// The run.
        run: String,
        /// Why, in a sentence.
        reason: String,
    },
    /// The run has ended and is kept on the host: the agent takes the next.
    Idle {
        /// The run.
        run: String,
    },
    /// The agent does not answer yet, because it waits for a coordinator that is silent.
    Waits {
        /// For how long, in a sentence.
        reason: String,
    },
    /// The agent is there.
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
