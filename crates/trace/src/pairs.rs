//! Issues and completions of I/Os that are seen apart become I/Os with latencies.

use std::collections::BTreeMap;

use crate::io::{Io, Kind};

/// The most I/Os that wait for their completion; no device has so many in flight.
const PENDING_MAX: usize = 65536;

/// I/Os that wait for their completion.
#[derive(Debug, Default)]
pub struct Pairs {
    pending: BTreeMap<Key, Pending>,
    /// Keys of what waits, by time: the oldest is given up first.
    oldest: BTreeMap<(u64, u64), Key>,
    number: u64,
    unmatched: u64,
}

/// By what a completion finds its I/O: device, kind, offset. Flushes have no offset.
type Key = (u32, Kind, u64);

#[derive(Debug, Clone, Copy)]
struct Pending {
    io: Io,
    number: u64,
}

fn key(device: u32, kind: Kind, offset_bytes: u64) -> Key {
    (device, kind, if kind == Kind::Flush { 0 } else { offset_bytes })
}

impl Pairs {
    /// An I/O begins. Gives the oldest one, without a latency, where too many wait. One that begins
    /// again before it ended was queued again: it counts once.
    pub fn issue(&mut self, io: Io) -> Option<Io> {
        let key = key(io.device, io.kind, io.offset_bytes);
        let io = Io { offset_bytes: key.2, ..io };
        self.number += 1;
        let number = self.number;
        if let Some(before) = self.pending.insert(key, Pending { io, number }) {
            self.oldest.remove(&(before.io.issued_ns, before.number));
        }
        self.oldest.insert((io.issued_ns, number), key);
        if self.pending.len() > PENDING_MAX { self.give_up_oldest() } else { None }
    }

    /// Takes the end of an I/O; returns it as a whole if it still waits for its end.
    pub fn complete(
        &mut self,
        device: u32,
        kind: Kind,
        offset_bytes: u64,
        time_ns: u64,
    ) -> Option<Io> {
        let Some(Pending { io, number }) = self.pending.remove(&key(device, kind, offset_bytes))
        else {
            self.unmatched += 1;
            return None;
        };
        self.oldest.remove(&(io.issued_ns, number));
        Some(Io { latency_ns: Some(time_ns.saturating_sub(io.issued_ns)), ..io })
    }

    /// Completions whose begin was not seen.
    #[must_use]
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// The oldest I/O that waits for its completion, without a latency.
    pub fn give_up_oldest(&mut self) -> Option<Io> {
        let (_, key) = self.oldest.pop_first()?;
        self.pending.remove(&key).map(|pending| pending.io)
    }
}
