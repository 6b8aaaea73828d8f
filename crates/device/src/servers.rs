//! Servers: which one takes an I/O, and when it is free again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use workload::SimAssignment;

/// Places of which the next I/O gets the one that is free first.
#[derive(Debug, Clone)]
pub(crate) struct Pool(BinaryHeap<Reverse<u64>>);

impl Pool {
    /// Free places, as many as given.
    pub(crate) fn new(places: u32) -> Self {
        Self((0..places.max(1)).map(|_| Reverse(0)).collect())
    }

    /// When the first place is free.
    pub(crate) fn free_at(&self) -> u64 {
        self.0.peek().map_or(0, |Reverse(at)| *at)
    }

    /// Takes the place that is free first.
    pub(crate) fn occupy(&mut self, until: u64) {
        if let Some(mut first) = self.0.peek_mut() {
            *first = Reverse(until);
        }
    }
}

/// The servers of a device, with their queues.
#[derive(Debug, Clone)]
pub(crate) enum Servers {
    /// The first that is free takes the I/O.
    Free(Pool),
    /// Servers of which each has its own queue.
    Random {
        /// When each server will have done its queue.
        free_at: Vec<u64>,
        /// The one that takes the next I/O.
        next: usize,
    },
}

impl Servers {
    /// Free servers, as many as given.
    pub(crate) fn new(servers: u32, assignment: SimAssignment) -> Self {
        match assignment {
            SimAssignment::Free => Self::Free(Pool::new(servers)),
            SimAssignment::Random => {
                Self::Random { free_at: vec![0; servers.max(1) as usize], next: 0 }
            }
        }
    }

    /// Chooses the server of the next I/O; gives the moment at which it is free.
    pub(crate) fn choose(&mut self, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Free(pool) => pool.free_at(),
            Self::Random { free_at, next } => {
                // Lemire's multiplication; the bias is below 2^-44 for the most servers there can
                // be.
                let place = (u128::from(random.next_u64()) * free_at.len() as u128) >> 64;
                *next = usize::try_from(place).unwrap_or(0);
                free_at[*next]
            }
        }
    }

    /// Gives the I/O to the server that was chosen.
    pub(crate) fn occupy(&mut self, until: u64) {
        match self {
            Self::Free(pool) => pool.occupy(until),
            Self::Random { free_at, next } => free_at[*next] = until,
        }
    }
}
