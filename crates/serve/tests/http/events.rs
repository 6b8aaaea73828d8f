//! The stream of a run that is under way: from the beginning, from where a connection broke, by
//! several, to its end.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use history::{History, LiveRun, Place};

use crate::served::{Served, run};

const RUN: &str = "live-1";

fn live(served: &Served) -> History {
    History::open(&Place::File(served.history.clone())).unwrap()
}

fn with_run() -> (Served, History) {
    let served = Served::with(None, |history| {
        history.add(&run("vol7", 8192)).unwrap();
    });
    let history = live(&served);
    history.live_begin(&live_run(RUN)).unwrap();
    (served, history)
}

fn live_run(id: &str) -> LiveRun {
    LiveRun {
        id: id.to_owned(),
        kind: "run".to_owned(),
        title: "8 KiB random read".to_owned(),
        host: None,
        targets: "vol7".to_owned(),
        started: "2026-11-21T12:00:00Z".to_owned(),
        updated: String::new(),
        silent_seconds: 0.0,
        ended: false,
    }
}

/// Lines of a stream, as they come.
struct Events(BufReader<TcpStream>);

impl Events {
    fn of(served: &Served, after: Option<u64>) -> Self {
        Self::to(served, RUN, after)
    }

    fn to(served: &Served, id: &str, after: Option<u64>) -> Self {
        let mut stream = served.connect();
        let last = after.map(|n| format!("Last-Event-ID: {n}\r\n")).unwrap_or_default();
        let host = served.address;
        write!(stream, "GET /live/{id}/events HTTP/1.1\r\nHost: {host}\r\n{last}\r\n").unwrap();
        let mut events = Self(BufReader::new(stream));
        assert!(events.line().contains(" 200 "));
        let mut kind = String::new();
        loop {
            let line = events.line();
            if line.to_lowercase().starts_with("content-type:") {
                kind.clone_from(&line);
            }
            if line.is_empty() {
                break;
            }
        }
        assert!(kind.contains("text/event-stream"), "{kind}");
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next line that begins so, without the beginning; none at the end of the stream.
    fn next(&mut self, start: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(rest) = line.trim_end().strip_prefix(start) {
                return Some(rest.trim().to_owned());
            }
        }
    }
}

#[test]
fn events_come_as_they_happen_to_everyone_and_then_the_end() {
    let (served, history) = with_run();
    served.get("/").is(200, &format!("/live/{RUN}"));
    served.get(&format!("/live/{RUN}")).is(200, "8 KiB random read");
    history.live_event(RUN, "{\"event\":\"warming_up\",\"seconds\":3}").unwrap();
    let mut viewers = [Events::of(&served, None), Events::of(&served, None)];
    for viewer in &mut viewers {
        assert_eq!(viewer.next("id:").as_deref(), Some("1"));
        assert_eq!(viewer.next("data:").unwrap(), "{\"event\":\"warming_up\",\"seconds\":3}");
    }
    history.live_event(RUN, "{\"event\":\"window_ended\"}").unwrap();
    for viewer in &mut viewers {
        assert_eq!(viewer.next("id:").as_deref(), Some("2"));
    }
    history.live_event(RUN, "{\"event\":\"measured\"}").unwrap();
    history.live_end(RUN).unwrap();
    for viewer in &mut viewers {
        assert_eq!(viewer.next("event:").as_deref(), Some("over"));
        assert!(viewer.next("data:").unwrap().contains("nothing was measured"));
        assert_eq!(viewer.next("data:"), None, "the stream ends");
    }
}

#[test]
fn a_run_that_died_is_said_to_be_lost() {
    let (served, history) = with_run();
    let mut viewer = Events::of(&served, None);
    history.live_event(RUN, "{\"event\":\"x\"}").unwrap();
    assert_eq!(viewer.next("id:").as_deref(), Some("1"));
    let other = rusqlite::Connection::open(&served.history).unwrap();
    other.execute("UPDATE live_runs SET updated_ms = updated_ms - 20000", []).unwrap();
    assert_eq!(viewer.next("event:").as_deref(), Some("over"));
    assert!(viewer.next("data:").unwrap().contains("Lost"));
}

/// Seen as "Over; nothing was measured" of a run whose result was written a moment after it had
/// said that it ended.
#[test]
fn a_result_that_comes_a_moment_after_the_end_is_waited_for() {
    let (served, history) = with_run();
    let document = run("vol8", 8192);
    history.live_begin(&live_run(document.id())).unwrap();
    history.live_end(document.id()).unwrap();
    served.get(&format!("/live/{}", document.id())).is(200, "Under way");
    let mut viewer = Events::to(&served, document.id(), None);
    std::thread::sleep(std::time::Duration::from_millis(200));
    history.add(&document).unwrap();
    assert_eq!(viewer.next("event:").as_deref(), Some("over"));
    assert!(viewer.next("data:").unwrap().contains(&format!("/result/{}", document.id())));
}

#[test]
fn a_connection_that_broke_goes_on_where_it_was() {
    let (served, history) = with_run();
    for n in 1..=5 {
        history.live_event(RUN, &format!("{{\"event\":\"x\",\"n\":{n}}}")).unwrap();
    }
    let mut viewer = Events::of(&served, Some(3));
    assert_eq!(viewer.next("id:").as_deref(), Some("4"));
    assert_eq!(viewer.next("id:").as_deref(), Some("5"));
    for odd in ["x", "-1", "99999999999999999999999", ""] {
        let answer = served.ask(
            "HEAD",
            &format!("/live/{RUN}/events"),
            &format!("Last-Event-ID: {odd}\r\n"),
        );
        assert_eq!(answer.status, 200, "{odd}");
    }
}

#[test]
fn what_is_not_under_way_leads_to_its_result_or_nowhere() {
    let (served, history) = with_run();
    served.get("/live/nothing").is(404, "in progress");
    served.get("/live/nothing/events").is(404, "in progress");
    let document = run("vol8", 8192);
    history.add(&document).unwrap();
    let answer = served.get(&format!("/live/{}", document.id()));
    assert_eq!(answer.header("location"), Some(format!("/result/{}", document.id()).as_str()));
}

#[test]
fn viewers_are_limited_and_leave_room_when_they_go() {
    let (served, history) = with_run();
    history.live_event(RUN, "{\"event\":\"x\"}").unwrap();
    let mut viewers: Vec<_> = (0..32).map(|_| Events::of(&served, None)).collect();
    let refused = served.get(&format!("/live/{RUN}/events"));
    refused.is(503, "live views");
    assert!(refused.header("retry-after").is_some());
    served.get("/").is(200, "vol7");
    viewers.clear();
    // What has gone is noticed when the next event or heartbeat is sent.
    for n in 0.. {
        history.live_event(RUN, "{\"event\":\"x\"}").unwrap();
        if served.ask("HEAD", &format!("/live/{RUN}/events"), "").status == 200 {
            break;
        }
        assert!(n < 600, "the seats are never free again");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn the_server_ends_though_viewers_stay() {
    let (served, _history) = with_run();
    let mut viewer = Events::of(&served, None);
    served.end().unwrap();
    assert_eq!(viewer.next("data:"), None);
}
