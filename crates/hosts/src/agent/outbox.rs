//! What waits to be sent. Neither the load nor the dead-man switch ever waits for the network.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fleet::ToCoordinator;

/// Messages that may wait before events are dropped. The coordinator sees the gap in their numbers.
const WAITING_MAX: usize = 1024;

/// How long the end of the program waits for a slow network.
const FLUSH: Duration = Duration::from_secs(10);

/// Sends messages in a separate thread, in their order.
pub(crate) struct Outbox {
    sender: Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Outbox {
    /// Writes to this, one line per message.
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        let (sender, lines) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&waiting);
        let thread = thread::spawn(move || write(output, &lines, &left));
        Self { sender, waiting, thread }
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

fn write(mut output: impl Write, lines: &Receiver<Vec<u8>>, left: &AtomicUsize) {
    let mut broken = false;
    for line in lines {
        // That the coordinator is gone is heard on the other pipe.
        broken = broken || output.write_all(&line).and_then(|()| output.flush()).is_err();
        left.fetch_sub(1, Ordering::Relaxed);
    }
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
