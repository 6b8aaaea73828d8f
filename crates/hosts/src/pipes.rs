//! Agents at the other end of pipes: each is a process, its messages are lines.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
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

/// One process per agent.
pub(crate) struct Pipes {
    agents: Vec<Option<Connection>>,
    arrivals: Receiver<Arrived>,
}

struct Connection {
    child: Child,
    lines: Option<Sender<Vec<u8>>>,
}

impl Pipes {
    /// Starts the processes. One that cannot be started is reported as gone.
    pub(crate) fn open(commands: impl IntoIterator<Item = Command>) -> Self {
        let (sender, arrivals) = channel();
        let open = |(at, mut command): (usize, Command)| {
            Connection::open(at, &mut command, &sender)
                .map_err(|error| {
                    let program = command.get_program().to_string_lossy().into_owned();
                    let why = format!("cannot start `{program}`: {error}");
                    let _ = sender.send((at, Clock::get().now(), Arrival::Gone(why)));
                })
                .ok()
        };
        let agents = commands.into_iter().enumerate().map(open).collect();
        Self { agents, arrivals }
    }
}

impl Connection {
    fn open(at: usize, command: &mut Command, arrivals: &Sender<Arrived>) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (lines, waiting) = channel();
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write(stdin, &waiting));
        }
        let said = child.stderr.take().map(|stderr| thread::spawn(move || last_lines(stderr)));
        if let Some(stdout) = child.stdout.take() {
            let arrivals = arrivals.clone();
            thread::spawn(move || listen(at, stdout, said, &arrivals));
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
    stdout: impl Read,
    said: Option<JoinHandle<String>>,
    arrivals: &Sender<Arrived>,
) {
    let mut stdout = BufReader::new(stdout);
    let why = loop {
        match read_line(&mut stdout) {
            Ok(Some(line)) => match parse(&line) {
                Ok(message) => {
                    let arrival = Arrival::Message(Box::new(message));
                    if arrivals.send((at, Clock::get().now(), arrival)).is_err() {
                        return;
                    }
                }
                Err(error) => break error.to_string(),
            },
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
