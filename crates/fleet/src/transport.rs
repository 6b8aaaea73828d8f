//! The way between a coordinator and its agents.

use crate::message::{ToAgent, ToCoordinator};

/// What the coordinator receives from one agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// A message of the agent.
    Message(Box<ToCoordinator>),
    /// The agent is gone, and why, in a phrase.
    Gone(String),
}

/// Carries messages to agents and back. Agents are numbered from 0.
pub trait Transport {
    /// The present moment, in nanoseconds by the coordinator's clock.
    fn now_ns(&self) -> u64;

    /// Since when agents can be heard at all. A server in between that is restarted makes all of
    /// them silent; that silence is not theirs.
    fn reachable_since_ns(&self) -> u64 {
        0
    }

    /// Why no agent can be heard, where that has lasted too long; a sentence without its stop.
    fn unreachable(&self) -> Option<String> {
        None
    }

    /// When anything of this agent last came, also a part of a message, or one that is not received
    /// yet.
    fn heard_ns(&self, agent: usize) -> u64 {
        let _ = agent;
        0
    }

    /// Sends to one agent. One that is gone is reported by [`Transport::receive`].
    fn send(&mut self, agent: usize, message: &ToAgent);

    /// The next arrival and its time of arrival, or `None` if nothing arrives by `until_ns`.
    fn receive(&mut self, until_ns: u64) -> Option<(usize, u64, Arrival)>;

    /// Ends the connection to an agent that does not answer.
    fn cut(&mut self, agent: usize);
}
