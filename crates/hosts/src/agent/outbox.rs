//! What waits to be sent. Neither the load nor the dead-man switch ever waits for the network.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::Clock;
use fleet::ToCoordinator;

/// Messages that may wait before events are dropped. The coordinator sees the gap in their numbers.
const WAITING_MAX: usize = 1024;

/// How long the end of the program waits for a slow network.
const FLUSH: Duration = Duration::from_secs(10);

/// A heartbeat follows if nothing was sent for so many nanoseconds.
const HEARTBEAT_NS: u64 = 1_000_000_000;

/// An agent that keeps a result waits for its disk, which other programs may use for seconds. One
/// that waits for longer than this counts as lost.
const STUCK_NS: u64 = 30_000_000_000;

/// Sends messages in a separate thread, in their order, and signs of life between them.
pub(crate) struct Outbox {
    sender: Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    /// When the agent was last seen at work.
    at_work_ns: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Outbox {
    /// Writes to this, one line per message.
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        let (sender, lines) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let at_work_ns = Arc::new(AtomicU64::new(Clock::get().now()));
        let (left, seen_ns) = (Arc::clone(&waiting), Arc::clone(&at_work_ns));
        let thread = thread::spawn(move || write(output, &lines, &left, &seen_ns));
        Self { sender, waiting, at_work_ns, thread }
    }

    /// The agent is at work at this moment.
    pub(crate) fn at_work(&self, now_ns: u64) {
        self.at_work_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Sends what must not be lost.
    pub(crate) fn send(&self, message: &ToCoordinator) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _ = self.sender.send(line);
    }

    /// Sends what may be missing where the network is too slow for it.
    pub(crate) fn offer(&self, message: &ToCoordinator) {
        if self.waiting.load(Ordering::Relaxed) < WAITING_MAX {
            self.send(message);
        }
    }

    /// Waits until all is sent, or for some seconds.
    pub(crate) fn close(self) {
        drop(self.sender);
        let until = Instant::now() + FLUSH;
        while !self.thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn write(
    mut output: impl Write,
    lines: &Receiver<Vec<u8>>,
    left: &AtomicUsize,
    at_work_ns: &AtomicU64,
) {
    let clock = Clock::get();
    let mut heartbeat = serde_json::to_vec(&ToCoordinator::Heartbeat).unwrap_or_default();
    heartbeat.push(b'\n');
    let (mut broken, mut wrote_ns) = (false, clock.now());
    // That the coordinator is gone is heard on the other pipe.
    let mut put = |line: &[u8]| {
        broken = broken || output.write_all(line).and_then(|()| output.flush()).is_err();
    };
    loop {
        let due_ns = wrote_ns.saturating_add(HEARTBEAT_NS);
        let wait = Duration::from_nanos(due_ns.saturating_sub(clock.now()));
        match lines.recv_timeout(wait) {
            Ok(line) => {
                put(&line);
                left.fetch_sub(1, Ordering::Relaxed);
            }
            Err(RecvTimeoutError::Timeout) => {
                if is_alive(clock.now(), at_work_ns.load(Ordering::Relaxed)) {
                    put(&heartbeat);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
        wrote_ns = clock.now();
    }
}

/// Whether an agent that was last seen at work then is alive.
fn is_alive(now_ns: u64, at_work_ns: u64) -> bool {
    now_ns.saturating_sub(at_work_ns) < STUCK_NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::mpsc::sync_channel;

    /// A network that takes nothing until it is let go.
    struct Stuck(Receiver<()>, Sender<Vec<u8>>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            let _ = self.1.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Every line goes to a channel.
    struct Lines(Sender<Vec<u8>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A host whose disk is busy for seconds is not lost; one whose disk never answers is.
    #[test]
    fn an_agent_that_waits_for_its_disk_is_alive() {
        let (written, lines) = channel();
        // Nobody says anything, as while a result is kept.
        let outbox = Outbox::new(Lines(written));
        let line = lines.recv().unwrap();
        assert_eq!(fleet::parse::<ToCoordinator>(&line).unwrap(), ToCoordinator::Heartbeat);
        outbox.close();
        assert!(is_alive(9_000_000_000, 1_000_000_000));
        assert!(!is_alive(40_000_000_000, 1_000_000_000));
    }

    #[test]
    fn a_slow_network_costs_events_and_never_a_result() {
        let (go, stuck) = sync_channel(0);
        let (written, lines) = channel();
        let outbox = Outbox::new(Stuck(stuck, written));
        let event =
            |number| ToCoordinator::Happened { run: "r".to_owned(), number, event: Box::default() };
        for number in 0..5000 {
            outbox.offer(&event(number));
        }
        let result = ToCoordinator::Failed { run: "r".to_owned(), reason: String::new() };
        outbox.send(&result);
        drop(go);
        outbox.close();
        let lines: Vec<Vec<u8>> = lines.iter().collect();
        assert!((WAITING_MAX..WAITING_MAX + 2).contains(&(lines.len() - 1)), "{}", lines.len());
        let last: ToCoordinator = fleet::parse(lines.last().unwrap()).unwrap();
        assert_eq!(last, result);
    }
}
