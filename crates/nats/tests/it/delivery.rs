//! Messages between a coordinator and agents over a real nats-server, also one that is killed.

use std::io::{BufReader, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fleet::{Arrival, ToAgent, ToCoordinator, Transport as _, parse, read_line};
use nats::{Joined, Session, SiteTransport};
use serde_json::json;

use crate::common::{Fleet, LONG, is_possible, wait};

/// How many messages pass each way.
const PINGS: u32 = 2000;

/// An agent that does this with each session.
struct Agent {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Agent {
    fn start(file: PathBuf, serve: impl Fn(Session) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut joined = Joined::start(&file).unwrap();
            while let Some(session) = joined.next(&stopped, &mut |_| {}).unwrap() {
                serve(session);
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().unwrap().join();
        assert!(thread::panicking() || ended.is_ok());
    }
}

fn line(message: &impl serde::Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap();
    line.push(b'\n');
    line
}

/// Answers each ping with a pong, and an event besides, until the coordinator leaves.
fn answer(mut session: Session) {
    let mut input = BufReader::new(session.input);
    while let Ok(Some(said)) = read_line(&mut input) {
        match parse::<ToAgent>(&said).unwrap() {
            ToAgent::Ping { number } => {
                let event = Box::new(json!("x".repeat(number as usize % 7 * 500)));
                let happened =
                    ToCoordinator::Happened { run: "r".into(), number: number.into(), event };
                let pong = ToCoordinator::Pong { number, received_ns: 0, sent_ns: 0 };
                session.output.write_all(&line(&happened)).unwrap();
                session.output.write_all(&line(&pong)).unwrap();
            }
            ToAgent::Bye => return,
            _ => {}
        }
    }
}

/// The next arrival that is not a sign of life.
#[track_caller]
fn next(transport: &mut SiteTransport) -> (usize, Arrival) {
    let began = Instant::now();
    loop {
        let until = transport.now_ns() + 100_000_000;
        if let Some((at, _, arrival)) = transport.receive(until) {
            let alive = |m: &ToCoordinator| *m == ToCoordinator::Heartbeat;
            if !matches!(&arrival, Arrival::Message(message) if alive(message)) {
                return (at, arrival);
            }
        }
        assert!(began.elapsed() < 2 * LONG, "nothing arrives");
    }
}

/// A server that is killed five times while messages pass: each arrives once and in order.
#[test]
fn a_server_that_is_killed_costs_no_message() {
    if !is_possible("a_server_that_is_killed_costs_no_message") {
        return;
    }
    let mut fleet = Fleet::new(&["a", "b"]);
    let _agents = ["a", "b"].map(|name| Agent::start(fleet.file(&format!("{name}.creds")), answer));
    let names = ["a".to_owned(), "b".to_owned()];
    let mut transport = SiteTransport::open(&fleet.path(), &names).unwrap();
    let (mut sent, mut events, mut pongs) = (0, [0; 2], [0; 2]);
    while pongs != [PINGS; 2] {
        // A few are always on their way when the server goes.
        while sent < PINGS && sent < pongs[0].min(pongs[1]) + 20 {
            (0..2).for_each(|at| transport.send(at, &ToAgent::Ping { number: sent }));
            sent += 1;
            if sent % 350 == 0 {
                fleet.kill();
                fleet.start();
            }
        }
        let (at, arrival) = next(&mut transport);
        let Arrival::Message(message) = arrival else { panic!("{at}: {arrival:?}") };
        match *message {
            ToCoordinator::Happened { number, .. } => {
                assert_eq!(number, u64::from(events[at]), "lost, or double");
                events[at] += 1;
            }
            ToCoordinator::Pong { number, .. } => {
                assert_eq!(number, pongs[at], "lost, or double");
                pongs[at] += 1;
                assert_eq!(pongs[at], events[at]);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(transport.reachable_since_ns() > 0);
    (0..2).for_each(|at| transport.send(at, &ToAgent::Bye));
}

/// Silence that is the server's does not count against a host, for as long as it may return.
#[test]
fn without_a_server_nobody_is_silent() {
    if !is_possible("without_a_server_nobody_is_silent") {
        return;
    }
    let mut fleet = Fleet::new(&["a"]);
    let transport = SiteTransport::open(&fleet.path(), &["a".to_owned()]).unwrap();
    let is_there = || {
        let now = transport.now_ns();
        thread::sleep(Duration::from_millis(1));
        transport.reachable_since_ns() <= now
    };
    assert!(is_there());
    fleet.kill();
    wait("the loss is noticed", || !is_there());
    fleet.start();
    wait("the return is noticed", is_there);
}

#[test]
fn a_second_coordinator_is_refused_until_the_first_has_left() {
    if !is_possible("a_second_coordinator_is_refused_until_the_first_has_left") {
        return;
    }
    let fleet = Fleet::new(&["a"]);
    let _agent = Agent::start(fleet.file("a.creds"), answer);
    let names = ["a".to_owned()];
    let open = || SiteTransport::open(&fleet.path(), &names).unwrap();
    let pings = |transport: &mut SiteTransport| {
        transport.send(0, &ToAgent::Ping { number: 0 });
        let happened = |m: &ToCoordinator| matches!(m, ToCoordinator::Happened { .. });
        matches!(next(transport), (0, Arrival::Message(m)) if happened(&m))
    };
    let mut first = open();
    assert!(pings(&mut first));
    let mut second = open();
    // The second waits as long as the first may be gone, and is refused once that is heard again.
    loop {
        match next(&mut second) {
            (0, Arrival::Message(message)) => match *message {
                ToCoordinator::Waits { reason } => {
                    assert!(reason.contains("is free in"), "{reason}");
                    first.send(0, &ToAgent::Heartbeat);
                }
                ToCoordinator::Refuse { run, reason } => {
                    assert!(run.is_empty() && reason.contains("another coordinator"), "{reason}");
                    break;
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
    drop(second);
    first.send(0, &ToAgent::Bye);
    drop(first);
    // One that has left makes room at once.
    assert!(pings(&mut open()));
}

/// The file of one host on two of them: neither is believed.
#[test]
fn two_agents_with_one_name_are_named() {
    if !is_possible("two_agents_with_one_name_are_named") {
        return;
    }
    let fleet = Fleet::new(&["a"]);
    let _agents = [0, 1].map(|_| Agent::start(fleet.file("a.creds"), answer));
    // Both have to be connected.
    thread::sleep(Duration::from_secs(1));
    let mut transport = SiteTransport::open(&fleet.path(), &["a".to_owned()]).unwrap();
    let gone = loop {
        transport.send(0, &ToAgent::Ping { number: 0 });
        if let (0, Arrival::Gone(why)) = next(&mut transport) {
            break why;
        }
    };
    assert!(gone.contains("two agents"), "{gone}");
}

/// Larger than what a server takes in one message, and than what is on its way at once.
#[test]
fn a_long_message_arrives_whole() {
    if !is_possible("a_long_message_arrives_whole") {
        return;
    }
    let fleet = Fleet::new(&["a"]);
    let text = "0123456789".repeat(900_000);
    let said = text.clone();
    let _agent = Agent::start(fleet.file("a.creds"), move |mut session| {
        let measurement = Box::new(json!(said));
        let result = ToCoordinator::Result { run: "r".into(), events: 0, measurement };
        session.output.write_all(&line(&result)).unwrap();
        answer(session);
    });
    let mut transport = SiteTransport::open(&fleet.path(), &["a".to_owned()]).unwrap();
    let (_, Arrival::Message(message)) = next(&mut transport) else { panic!() };
    let ToCoordinator::Result { measurement, .. } = *message else { panic!() };
    assert!(*measurement == json!(text), "it was changed on its way");
    transport.send(0, &ToAgent::Bye);
}

#[test]
fn a_host_or_a_server_that_is_not_there_is_named() {
    if !is_possible("a_host_or_a_server_that_is_not_there_is_named") {
        return;
    }
    let mut fleet = Fleet::new(&["a"]);
    let open = |fleet: &Fleet, name: &str| {
        SiteTransport::open(&fleet.path(), &[name.to_owned()]).err().unwrap().to_string()
    };
    let unknown = open(&fleet, "b");
    assert!(unknown.contains("it has a. Add it: iosonde fleet init"), "{unknown}");
    fleet.kill();
    let absent = open(&fleet, "a");
    assert!(absent.contains("cannot reach the server at 127.0.0.1"), "{absent}");
}

/// While a server did not get to work for 2.6 s, no host was heard, and a fleet lost all of its
/// hosts at once. Their silence is not theirs until the server answers.
#[test]
#[cfg(target_os = "linux")]
fn hosts_are_not_silent_while_the_server_is_frozen() {
    if !is_possible("hosts_are_not_silent_while_the_server_is_frozen") {
        return;
    }
    let fleet = Fleet::new(&["a"]);
    let _agent = Agent::start(fleet.file("a.creds"), answer);
    let mut transport = SiteTransport::open(&fleet.path(), &["a".to_owned()]).unwrap();
    let pong = |transport: &mut SiteTransport, number| {
        transport.send(0, &ToAgent::Ping { number });
        loop {
            match next(transport).1 {
                Arrival::Message(message) => {
                    if matches!(*message, ToCoordinator::Pong { .. }) {
                        return;
                    }
                }
                Arrival::Gone(why) => panic!("{why}"),
            }
        }
    };
    pong(&mut transport, 0);
    let (before, began) = (transport.now_ns(), Instant::now());
    fleet.signal("-STOP");
    wait("the server is missed", || transport.reachable_since_ns() > before);
    fleet.signal("-CONT");
    let frozen = began.elapsed();
    // As long as it does not answer, this is always now.
    wait("the server answers", || {
        let since = transport.reachable_since_ns();
        thread::sleep(Duration::from_millis(60));
        transport.reachable_since_ns() == since
    });
    // An agent that waited for longer has connected again, which a coordinator takes for its end.
    if frozen < Duration::from_secs(3) {
        pong(&mut transport, 1);
    }
}
