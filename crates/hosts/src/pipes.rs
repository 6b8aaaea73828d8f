//! Agents at the other end of pipes: each is a process, its messages are lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::Clock;
use fleet::{Arrival, ToAgent, Transport, parse, read_line};

/// How long processes have to end by themselves.
const ENDING: Duration = Duration::from_secs(5);

/// Lines of stderr that are kept to explain why an agent is gone.
const LINES: usize = 4;

type Arrived = (usize, u64, Arrival);

/// Runs one process per agent, and talks to it through stdin and stdout.
pub(crate) struct Pipes {
    agents: Vec<Option<Connection>>,
    arrivals: Receiver<Arrived>,
    heard: Vec<Arc<Heard>>,
}

/// When something of an agent last came.
#[derive(Debug, Default)]
struct Heard(AtomicU64);

impl Heard {
    /// Stands for the present, as long as a message is being parsed.
    const BUSY: u64 = u64::MAX;

    fn note(&self, at_ns: u64) {
        self.0.store(at_ns, Ordering::Relaxed);
    }
}

/// Notes that bytes come: a long result arrives as one line, and takes its time on a slow network.
struct Noted<R> {
    inner: R,
    heard: Arc<Heard>,
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(into)?;
        self.heard.note(Clock::get().now());
        Ok(read)
    }
}

struct Connection {
    child: Child,
    lines: Option<Sender<Vec<u8>>>,
}

impl Pipes {
    /// Starts the processes. One that cannot be started is reported as gone.
    pub(crate) fn open(commands: impl IntoIterator<Item = Command>) -> Self {
        let (sender, arrivals) = channel();
        let mut heard = Vec::new();
        let open = |(at, mut command): (usize, Command)| {
            let notes = Arc::<Heard>::default();
            heard.push(Arc::clone(&notes));
            Connection::open(at, &mut command, &sender, notes)
                .map_err(|error| {
                    let program = command.get_program().to_string_lossy().into_owned();
                    let why = format!("cannot start `{program}`: {error}");
                    let _ = sender.send((at, Clock::get().now(), Arrival::Gone(why)));
                })
                .ok()
        };
        let agents = commands.into_iter().enumerate().map(open).collect();
        Self { agents, arrivals, heard }
    }
}

impl Connection {
    fn open(
        at: usize,
        command: &mut Command,
        arrivals: &Sender<Arrived>,
        heard: Arc<Heard>,
    ) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (lines, waiting) = channel();
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write(stdin, &waiting));
        }
        let said = child.stderr.take().map(|stderr| thread::spawn(move || last_lines(stderr)));
        if let Some(stdout) = child.stdout.take() {
            let arrivals = arrivals.clone();
            thread::spawn(move || listen(at, Noted { inner: stdout, heard }, said, &arrivals));
        }
        Ok(Self { child, lines: Some(lines) })
    }
}

/// Sends lines in their order. A host that takes nothing holds up nobody else.
fn write(mut stdin: impl Write, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn listen(
    at: usize,
    stdout: Noted<impl Read>,
    said: Option<JoinHandle<String>>,
    arrivals: &Sender<Arrived>,
) {
    let heard = Arc::clone(&stdout.heard);
    let mut stdout = BufReader::new(stdout);
    let why = loop {
        match read_line(&mut stdout) {
            Ok(Some(line)) => {
                heard.note(Heard::BUSY);
                let message = parse(&line);
                let now = Clock::get().now();
                heard.note(now);
                let arrival = match message {
                    Ok(message) => Arrival::Message(Box::new(message)),
                    Err(error) => break error.to_string(),
                };
                if arrivals.send((at, now, arrival)).is_err() {
                    return;
                }
            }
            Ok(None) => break "the connection ended".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    let _ = arrivals.send((at, Clock::get().now(), Arrival::Gone(explained(why, said))));
}

/// What the process said last, where it says so at once: a connection may outlive its stdout.
fn explained(why: String, said: Option<JoinHandle<String>>) -> String {
    let Some(said) = said else { return why };
    let until = Instant::now() + Duration::from_millis(50);
    while !said.is_finished() && Instant::now() < until {
        thread::sleep(Duration::from_millis(1));
    }
    if !said.is_finished() {
        return why;
    }
    match said.join() {
        Ok(text) if !text.is_empty() => format!("{why}: {text}"),
        _ => why,
    }
}

fn last_lines(stderr: impl Read) -> String {
    let mut last: Vec<String> = Vec::new();
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    // A line of an endless text is read in pieces.
    while stderr.by_ref().take(4096).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        if !text.is_empty() {
            last.push(text);
        }
        if last.len() > LINES {
            last.remove(0);
        }
    }
    last.join(" ")
}

impl Transport for Pipes {
    fn now_ns(&self) -> u64 {
        Clock::get().now()
    }

    fn send(&mut self, agent: usize, message: &ToAgent) {
        let Some(Some(connection)) = self.agents.get(agent) else { return };
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        if let Some(lines) = &connection.lines {
            let _ = lines.send(line);
        }
    }

    fn receive(&mut self, until_ns: u64) -> Option<Arrived> {
        let left = until_ns.saturating_sub(Clock::get().now());
        self.arrivals.recv_timeout(Duration::from_nanos(left)).ok()
    }

    fn heard_ns(&self, agent: usize) -> u64 {
        self.heard.get(agent).map_or(0, |heard| heard.0.load(Ordering::Relaxed))
    }

    fn cut(&mut self, agent: usize) {
        if let Some(connection) = self.agents.get_mut(agent).and_then(Option::as_mut) {
            let _ = connection.child.kill();
        }
    }
}

/// Agents end when their pipe does; what does not end is ended.
impl Drop for Pipes {
    fn drop(&mut self) {
        let mut all: Vec<&mut Connection> = self.agents.iter_mut().flatten().collect();
        for connection in &mut all {
            connection.lines = None;
        }
        let until = Instant::now() + ENDING;
        for connection in all {
            loop {
                match connection.child.try_wait() {
                    Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(5)),
                    Ok(None) => {
                        let _ = connection.child.kill();
                        let _ = connection.child.wait();
                        break;
                    }
                    _ => break,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::ToCoordinator;

    /// A network that brings a byte of a long line and then waits.
    struct Slow(std::sync::mpsc::Receiver<u8>);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let (Ok(byte), Some(first)) = (self.0.recv(), into.first_mut()) else { return Ok(0) };
            *first = byte;
            Ok(1)
        }
    }

    /// A result is one line. On a slow network it takes longer than a host may be silent, and a
    /// host counted as lost while its result arrived.
    #[test]
    fn a_part_of_a_line_is_a_sign_of_life() {
        let (bytes, slow) = channel();
        let (arrivals, arrived) = channel();
        let heard = Arc::<Heard>::default();
        let notes = Arc::clone(&heard);
        let reading = thread::spawn(move || {
            listen(0, Noted { inner: Slow(slow), heard: notes }, None, &arrivals);
        });
        let mut line = serde_json::to_vec(&ToCoordinator::Heartbeat).unwrap();
        line.push(b'\n');
        let mut before = 0;
        for byte in &line[..5] {
            bytes.send(*byte).unwrap();
            while heard.0.load(Ordering::Relaxed) == before {
                thread::yield_now();
            }
            before = heard.0.load(Ordering::Relaxed);
        }
        assert!(arrived.try_recv().is_err(), "the line is not whole");
        line[5..].iter().for_each(|byte| bytes.send(*byte).unwrap());
        let (_, came_ns, arrival) = arrived.recv().unwrap();
        assert_eq!(arrival, Arrival::Message(Box::new(ToCoordinator::Heartbeat)));
        assert!(came_ns >= before);
        drop(bytes);
        reading.join().unwrap();
    }
}
