//! How far two clocks are apart, from pings with four time stamps.

/// How many pings each agent answers before a start.
pub const PINGS: u32 = 16;

/// The four time stamps of one ping and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ping {
    /// When the ping was sent, by the coordinator's clock.
    pub sent_ns: u64,
    /// When the ping arrived, by the agent's clock.
    pub received_ns: u64,
    /// When the answer was sent, by the agent's clock.
    pub answered_ns: u64,
    /// When the answer arrived, by the coordinator's clock.
    pub back_ns: u64,
}

/// How far the agent's clock is ahead of the coordinator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockEstimate {
    /// The agent's clock minus the coordinator's; negative if the agent's shows less.
    pub ahead_ns: i128,
    /// The estimate is wrong by at most this much: half of the round trip of the fastest ping.
    pub bound_ns: u64,
}

impl ClockEstimate {
    /// The estimate of the fastest ping; none without a ping whose stamps are in order.
    #[must_use]
    pub fn of(pings: &[Ping]) -> Option<Self> {
        let estimate = |ping: &Ping| {
            let whole = ping.back_ns.checked_sub(ping.sent_ns)?;
            let inside = ping.answered_ns.checked_sub(ping.received_ns)?;
            let trip = whole.checked_sub(inside)?;
            let agent = i128::from(ping.received_ns) + i128::from(ping.answered_ns);
            let here = i128::from(ping.sent_ns) + i128::from(ping.back_ns);
            Some(Self { ahead_ns: (agent - here).div_euclid(2), bound_ns: trip.div_ceil(2) })
        };
        pings.iter().filter_map(estimate).min_by_key(|e| e.bound_ns)
    }

    /// Converts a moment of the coordinator to the agent's clock; `None` if it is out of range
    /// there.
    #[must_use]
    pub fn to_agent(self, here_ns: u64) -> Option<u64> {
        u64::try_from(i128::from(here_ns) + self.ahead_ns).ok()
    }
}
