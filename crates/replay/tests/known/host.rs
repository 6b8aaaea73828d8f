//! The host that replays, or the storage: which of them gave out. In virtual time, a host spends so
//! long on each I/O that it issues.

use std::io;
use std::sync::Arc;

use engine::{Finished, Queue, Request};
use replay::{Attempt, Bracket, Contents, Edge, Failing, Limit, Mode, Selection, bracket};
use trace::{Io, Kind};
use workload::{Nanoseconds, SimDevice};

use crate::{queue, replayed_on, source};

/// A queue of a host that needs time for each I/O.
struct SlowHost {
    inner: Box<dyn Queue>,
    each_ns: u64,
    /// Found while it worked, and not yet looked at.
    found: Vec<Finished>,
}

impl SlowHost {
    fn works(&mut self, ns: u64) -> io::Result<()> {
        let until = self.now() + ns;
        while self.now() < until {
            self.inner.wait(until)?;
            self.inner.reap(&mut self.found);
        }
        Ok(())
    }
}

impl Queue for SlowHost {
    fn now(&self) -> u64 {
        self.inner.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        for request in requests {
            self.inner.issue(std::slice::from_ref(request))?;
            self.works(self.each_ns)?;
        }
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        if self.found.is_empty() { self.inner.wait(until_ns) } else { Ok(()) }
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        finished.append(&mut self.found);
        self.inner.reap(finished);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.inner.write_buffer(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.inner.read_buffer(slot)
    }
}

/// 5,000 reads per second for 2 s: one after the other, with 100 us of think time.
fn load() -> Arc<Vec<Io>> {
    let io = |number: u64| Io {
        issued_ns: number * 200_000,
        latency_ns: Some(100_000),
        device: 0,
        stream: 0,
        offset_bytes: (number * 7919 % 1000) * 8192,
        length_bytes: 8192,
        kind: Kind::Read,
    };
    Arc::new((0..10_000).map(io).collect())
}

/// A host that needs so long per I/O, and a device of so many servers of 100 us.
fn fitted(each_ns: u64, servers: u32) -> Bracket {
    let ios = load();
    let contents = Contents::read(&source(&ios), &Selection::default()).unwrap();
    let limit = Limit { class: 0, quantile: 0.99, at_most_ns: 2_000_000 };
    let model = SimDevice { servers, read_ns: Nanoseconds(100_000), ..SimDevice::default() };
    let replay = |users: f64, mode: Mode| -> Result<Attempt, ()> {
        let selection = Selection { users, ..Selection::default() };
        let slow = |size| -> Box<dyn Queue> {
            Box::new(SlowHost { inner: queue(&model, size, 1), each_ns, found: Vec::new() })
        };
        let figures = replayed_on(&ios, &selection, mode, slow);
        Ok(Attempt::judge(users, mode, &figures, (&[limit], &contents)))
    };
    bracket(true, replay).unwrap()
}

/// 5,000 I/Os per second, and a host that can issue 20,000. The storage would carry sixteen times
/// as many.
#[test]
fn a_host_that_gives_out_first_is_no_bound_of_the_storage() {
    let found = fitted(50_000, 8);
    let Edge::At(lower) = found.lower else { panic!("{found:?}") };
    assert!((3.0..=4.1).contains(&lower), "{found:?}");
    assert!(matches!(found.upper, Edge::Above(users) if users >= lower), "{found:?}");
    assert_eq!(found.failing, Some(Failing::Host), "{found:?}");
}

/// The same host, where the load is too much for it from the beginning.
#[test]
fn a_host_that_cannot_replay_once_the_load_says_nothing_against_the_storage() {
    let found = fitted(250_000, 8);
    let Edge::At(lower) = found.lower else { panic!("{found:?}") };
    assert!((0.6..0.9).contains(&lower), "{found:?}");
    assert!(matches!(found.upper, Edge::Above(_)), "{found:?}");
    assert_eq!(found.failing, Some(Failing::Host), "{found:?}");
}

/// One server of 100 us carries 10,000 I/Os per second, twice the load: that is the storage, with a
/// host that could issue 200,000 as well as with one that could only issue 30,000.
#[test]
fn a_slow_device_is_not_the_fault_of_the_host() {
    for each_ns in [0, 5_000, 33_000] {
        let found = fitted(each_ns, 1);
        let (Edge::At(lower), Edge::At(upper)) = (found.lower, found.upper) else {
            panic!("{each_ns}: {found:?}")
        };
        assert!(lower <= 2.02 && lower > 1.6, "{each_ns}: {found:?}");
        assert!(upper > 1.95 && upper < 3.0, "{each_ns}: {found:?}");
        assert!(found.failing.is_some_and(|f| f != Failing::Host), "{each_ns}: {found:?}");
    }
}

/// A host without idle processors had each step twice, also on the way down from a load that it
/// had failed at twice. What another program does for a moment is still tried again, and no longer
/// named as what gave out.
#[test]
fn a_host_that_gave_out_twice_is_not_asked_twice_again() {
    let found = |gives_out: &dyn Fn(f64, usize) -> bool| {
        let mut count = 0;
        let replay = |users, mode| -> Result<Attempt, io::Error> {
            count += 1;
            let failing = gives_out(users, count).then_some(Failing::Host);
            let held = if failing.is_some() { 0 } else { 3 };
            Ok(Attempt { users, mode, held, failing, working: 0.1, idle: Some(0.0) })
        };
        bracket(false, replay).unwrap()
    };
    let always = found(&|users, _| users > 0.3);
    let times = |found: &Bracket, users: f64| {
        found.attempts.iter().filter(|attempt| attempt.users.total_cmp(&users).is_eq()).count()
    };
    assert_eq!([1.0, 0.5, 0.25].map(|users| times(&always, users)), [2, 1, 1], "{always:?}");
    assert_eq!(always.failing, Some(Failing::Host));
    let moments = found(&|_, count| count == 1 || count == 4);
    assert_eq!([1.0, 2.0, 4.0].map(|users| times(&moments, users)), [2, 1, 2], "{moments:?}");
    assert!(matches!(moments.lower, Edge::Above(_)), "{moments:?}");
    assert_eq!(moments.failing, None, "it held when it was tried again: {moments:?}");
}

/// "Between 0.1 and 0.2 times the load; this host gives out before the storage" contradicts itself:
/// the upper edge is where the storage gave out.
#[test]
fn a_host_that_gives_out_within_the_bracket_is_not_what_ends_it() {
    let replay = |users: f64, mode| {
        let (held, failing) = match (mode, users) {
            (Mode::AsTimed, ..=1.0) | (Mode::Dependent, ..=0.5) => (3, None),
            (Mode::Dependent, ..=0.9) => (0, Some(Failing::Host)),
            (_, _) => (0, Some(Failing::Throughput)),
        };
        Ok::<_, ()>(Attempt { users, mode, held, failing, working: 0.1, idle: Some(0.95) })
    };
    let found = bracket(true, replay).unwrap();
    assert!(matches!(found.upper, Edge::At(_)), "{found:?}");
    assert!(found.attempts.iter().any(|attempt| attempt.failing == Some(Failing::Host)));
    assert_eq!(found.failing, Some(Failing::Throughput), "{found:?}");
}
