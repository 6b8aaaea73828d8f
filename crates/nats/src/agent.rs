//! The agent's way to its coordinators: it connects to the server, and serves one of them at a
//! time.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Client;
use engine::Clock;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::NatsError;
use crate::bundle::Bundle;
use crate::connection::{Input, PING, connect};
use crate::files;
use crate::link::{Frame, Kind, Link};
use crate::site::{from, to};

/// What is on its way is looked at this often.
const TICK: Duration = Duration::from_millis(50);

/// Between two attempts to connect for the first time.
const AGAIN: Duration = Duration::from_secs(1);

/// A coordinator that was silent for so long makes room for another. Its load ended before.
const TAKEOVER_NS: u64 = 10_000_000_000;

/// A coordinator that was silent for so long is not expected back.
const ABSENT_NS: u64 = 60_000_000_000;

/// How long the last messages of a session may take, and how long their coordinator may be silent.
const ENDING_NS: u64 = 10_000_000_000;
const SILENCE_NS: u64 = 2_000_000_000;

/// What may wait for the network, in bytes, before the writer waits, too.
const WAITING_MAX: usize = 8 << 20;

enum Command {
    Send(u64, Vec<u8>),
    /// Nobody works for this session any more.
    Done(u64),
    Finish,
}

/// What the thread of the connection reports.
enum Happening {
    Session(Session),
    Connected(bool),
    /// The first connection does not come about yet, and why.
    Waiting(String),
    Failed(NatsError),
}

/// The connection to one coordinator, as two pipes.
pub struct Session {
    number: u64,
    /// Ends when the coordinator is gone.
    pub input: SessionInput,
    /// Fails when the session has ended.
    pub output: SessionOutput,
}

/// The bytes that a coordinator sends, to be read like a pipe.
pub struct SessionInput {
    bodies: Receiver<Vec<u8>>,
    body: Vec<u8>,
    at: usize,
}

/// Takes bytes for a coordinator, like a pipe.
pub struct SessionOutput {
    session: u64,
    inputs: UnboundedSender<Input<Command>>,
    flow: Arc<Flow>,
}

#[derive(Default)]
struct Flow {
    waiting: AtomicUsize,
    ended: AtomicBool,
}

impl Read for SessionInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.body.len() {
            let Ok(body) = self.bodies.recv() else { return Ok(0) };
            (self.body, self.at) = (body, 0);
        }
        let rest = self.body.get(self.at..).unwrap_or_default();
        let length = rest.len().min(into.len());
        let (Some(rest), Some(into)) = (rest.get(..length), into.get_mut(..length)) else {
            return Ok(0);
        };
        into.copy_from_slice(rest);
        self.at += length;
        Ok(length)
    }
}

impl Write for SessionOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while self.flow.waiting.load(Ordering::Relaxed) > WAITING_MAX {
            if self.flow.ended.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.flow.waiting.fetch_add(bytes.len(), Ordering::Relaxed);
        let command = Command::Send(self.session, bytes.to_vec());
        match self.inputs.send(Input::Command(command)) {
            Ok(()) if !self.flow.ended.load(Ordering::Relaxed) => Ok(bytes.len()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An agent that belongs to a fleet.
pub struct Joined {
    name: String,
    servers: String,
    inputs: UnboundedSender<Input<Command>>,
    happenings: Receiver<Happening>,
    thread: Option<JoinHandle<()>>,
    session: Option<u64>,
}

impl Joined {
    /// Begins to connect with the credentials of a file.
    ///
    /// # Errors
    /// The file cannot be read, is something else, or other users may read it.
    pub fn start(credentials: &Path) -> Result<Self, NatsError> {
        files::check_private(credentials)?;
        let bundle = Bundle::read(credentials)?;
        let (name, servers) = (bundle.name.clone(), bundle.servers.join(", "));
        let (inputs, waiting) = unbounded_channel();
        let (sender, happenings) = channel();
        let random = getrandom::u64().map_err(|e| NatsError::Certificates(e.to_string()))?;
        let desk = Desk {
            sender: random,
            subject: from(&bundle.name),
            servers: servers.clone(),
            inputs: inputs.clone(),
            happenings: sender,
            serving: None,
            answers: Vec::new(),
            callers: Vec::new(),
            last: None,
            is_there: true,
            finishes: false,
        };
        let thread = thread::spawn(move || work(desk, &bundle, waiting));
        Ok(Self { name, servers, inputs, happenings, thread: Some(thread), session: None })
    }

    /// Waits for a coordinator; none once `stop` is set. `say` gets sentences about the connection.
    ///
    /// # Errors
    /// The server refuses this host.
    pub fn next(
        &mut self,
        stop: &AtomicBool,
        say: &mut dyn FnMut(String),
    ) -> Result<Option<Session>, NatsError> {
        if let Some(session) = self.session.take() {
            let _ = self.inputs.send(Input::Command(Command::Done(session)));
        }
        while !stop.load(Ordering::Relaxed) {
            match self.happenings.recv_timeout(TICK * 2) {
                Ok(Happening::Session(session)) => {
                    self.session = Some(session.number);
                    return Ok(Some(session));
                }
                Ok(Happening::Connected(true)) => {
                    say(format!("connected to {} as `{}`", self.servers, self.name));
                }
                Ok(Happening::Connected(false)) => {
                    say(format!("lost the connection to {}; trying again", self.servers));
                }
                Ok(Happening::Waiting(why)) => say(format!("{why}; trying again")),
                Ok(Happening::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(NatsError::Ended),
            }
        }
        Ok(None)
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.inputs.send(Input::Command(Command::Finish));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs on the thread of the connection until the desk has finished.
fn work(mut desk: Desk, bundle: &Bundle, waiting: UnboundedReceiver<Input<Command>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(desk.work(bundle, waiting)),
        Err(error) => desk.tell(Happening::Failed(NatsError::NoThread(error.to_string()))),
    }
}

/// The session with the coordinator that the agent serves now.
struct Serving {
    link: Link,
    coordinator: u64,
    bodies: Option<Sender<Vec<u8>>>,
    flow: Arc<Flow>,
    heard_ns: u64,
    /// Whether the coordinator no longer listens in this session.
    has_left: bool,
    /// When the last messages have to be sent.
    end_ns: Option<u64>,
}

struct Desk {
    sender: u64,
    subject: String,
    servers: String,
    inputs: UnboundedSender<Input<Command>>,
    happenings: Sender<Happening>,
    serving: Option<Serving>,
    /// Frames to send that do not belong to the session that is served.
    answers: Vec<Frame>,
    /// Sessions that call while another is served, and since when.
    callers: Vec<(u64, u64)>,
    /// The session before, and what of it has arrived: its coordinator may not yet know.
    last: Option<Link>,
    is_there: bool,
    finishes: bool,
}

impl Desk {
    fn tell(&self, happening: Happening) {
        let _ = self.happenings.send(happening);
    }

    async fn work(&mut self, bundle: &Bundle, mut waiting: UnboundedReceiver<Input<Command>>) {
        let Some(client) = self.connected(bundle, &mut waiting).await else { return };
        self.tell(Happening::Connected(true));
        while !self.finishes || self.serving.is_some() {
            if let Ok(Some(input)) = tokio::time::timeout(TICK, waiting.recv()).await {
                self.take(input);
            }
            while let Ok(input) = waiting.try_recv() {
                self.take(input);
            }
            self.pass(Clock::get().now());
            if self.is_there {
                self.send(&client).await;
            }
        }
        let _ = tokio::time::timeout(TICK * 20, client.flush()).await;
    }

    /// Connects, however long that takes; nothing when it is not to be or not wanted any more.
    async fn connected(
        &mut self,
        bundle: &Bundle,
        waiting: &mut UnboundedReceiver<Input<Command>>,
    ) -> Option<Client> {
        let mut said = String::new();
        loop {
            match connect(bundle, to(&bundle.name), PING, &self.inputs).await {
                Ok(client) => return Some(client),
                Err(error @ NatsError::NoConnection { .. }) => {
                    let text = error.to_string();
                    if text != said {
                        said.clone_from(&text);
                        self.tell(Happening::Waiting(text));
                    }
                }
                Err(error) => {
                    self.tell(Happening::Failed(error));
                    return None;
                }
            }
            tokio::time::sleep(AGAIN).await;
            while let Ok(input) = waiting.try_recv() {
                if matches!(input, Input::Command(Command::Finish)) {
                    return None;
                }
            }
        }
    }

    async fn send(&mut self, client: &Client) {
        let mut frames = std::mem::take(&mut self.answers);
        if let Some(serving) = &mut self.serving {
            frames.extend(serving.link.frames(Clock::get().now()));
        }
        for frame in frames {
            let _ = client.publish(self.subject.clone(), frame.encode().into()).await;
        }
    }

    fn take(&mut self, input: Input<Command>) {
        let now = Clock::get().now();
        match input {
            Input::Frame(_, bytes) => {
                if let Some(frame) = Frame::decode(&bytes) {
                    self.hear(now, frame);
                }
            }
            Input::Connected(is_there) => {
                if is_there != self.is_there {
                    self.tell(Happening::Connected(is_there));
                }
                self.is_there = is_there;
                if let Some(serving) = self.serving.as_mut().filter(|_| is_there) {
                    serving.link.reconnected();
                }
            }
            Input::Refused => {
                self.tell(Happening::Failed(NatsError::Revoked(self.servers.clone())));
                // Its load ends as after any other loss.
                self.serving.iter_mut().for_each(|serving| serving.bodies = None);
            }
            Input::Command(Command::Send(session, bytes)) => {
                if let Some(serving) = self.of(session) {
                    serving.link.push(&bytes);
                }
            }
            Input::Command(Command::Done(session)) => {
                if let Some(serving) = self.of(session) {
                    serving.end_ns = Some(now.saturating_add(ENDING_NS));
                }
            }
            Input::Command(Command::Finish) => {
                self.finishes = true;
                if let Some(serving) = &mut self.serving {
                    let end_ns = now.saturating_add(ENDING_NS / 5);
                    serving.end_ns = Some(serving.end_ns.map_or(end_ns, |at| at.min(end_ns)));
                }
            }
        }
    }

    fn of(&mut self, session: u64) -> Option<&mut Serving> {
        self.serving.as_mut().filter(|serving| serving.link.session() == session)
    }

    fn hear(&mut self, now: u64, frame: Frame) {
        if let Some(serving) = self.of(frame.session) {
            serving.heard_ns = now;
            if frame.kind == Kind::End {
                (serving.bodies, serving.has_left) = (None, true);
                return;
            }
            let before = serving.link.waiting_bytes();
            let body = serving.link.take(now, frame);
            let sent = before.saturating_sub(serving.link.waiting_bytes());
            serving.flow.waiting.fetch_sub(sent, Ordering::Relaxed);
            if let (Some(body), Some(bodies)) = (body, &serving.bodies) {
                let _ = bodies.send(body);
            }
            return;
        }
        if let Some(last) = self.last.as_mut().filter(|last| last.session() == frame.session) {
            last.take(now, frame);
            self.answers.extend(last.frames(now));
            return;
        }
        match frame.kind {
            Kind::Data(0) => self.called(now, frame),
            Kind::Data(_) => {
                let link = Link::new(self.sender, frame.session);
                self.answers.push(link.frame(Kind::Unknown, Vec::new()));
            }
            Kind::Ack | Kind::Busy | Kind::Waits | Kind::Unknown | Kind::End => {}
        }
    }

    /// Takes the first frame of a session: begins it, or answers that another is served.
    fn called(&mut self, now: u64, frame: Frame) {
        let mut link = Link::new(self.sender, frame.session);
        if let Some(serving) = &mut self.serving {
            // It is answered once the one before has ended.
            if now.saturating_sub(serving.heard_ns) > TAKEOVER_NS || serving.end_ns.is_some() {
                serving.bodies = None;
                return;
            }
            let known = self.callers.iter().find(|(session, _)| *session == frame.session);
            let since_ns = known.map_or(now, |(_, since_ns)| *since_ns);
            if known.is_none() {
                self.callers.push((frame.session, now));
            }
            // One that is alive is heard again within a second; one that is gone makes room.
            let (kind, text) = if serving.heard_ns > since_ns {
                let coordinator = serving.coordinator;
                let text = "it already works for another coordinator";
                let remedy = "Wait until that run has ended";
                (Kind::Busy, format!("{text} ({coordinator:016x}). {remedy}"))
            } else {
                let left_ns = TAKEOVER_NS.saturating_sub(now.saturating_sub(serving.heard_ns));
                let seconds = left_ns.div_ceil(1_000_000_000);
                let text = "its agent had another coordinator. If that is gone, the agent is free";
                (Kind::Waits, format!("{text} in {seconds} s"))
            };
            self.answers.push(link.frame(kind, text.into_bytes()));
            return;
        }
        self.callers.clear();
        if self.finishes {
            return;
        }
        let (bodies, body) = channel();
        let flow = Arc::new(Flow::default());
        let (number, coordinator) = (frame.session, frame.sender);
        let input = SessionInput { bodies: body, body: Vec::new(), at: 0 };
        let inputs = self.inputs.clone();
        let output = SessionOutput { session: number, inputs, flow: Arc::clone(&flow) };
        link.take(now, frame);
        self.serving = Some(Serving {
            link,
            coordinator,
            bodies: Some(bodies),
            flow,
            heard_ns: now,
            has_left: false,
            end_ns: None,
        });
        self.tell(Happening::Session(Session { number, input, output }));
    }

    /// Time passes: a coordinator that is not heard any more, and a session that ends.
    fn pass(&mut self, now: u64) {
        let Some(serving) = &mut self.serving else { return };
        if now.saturating_sub(serving.heard_ns) > ABSENT_NS {
            serving.bodies = None;
        }
        let is_silent = self.is_there && now.saturating_sub(serving.heard_ns) > SILENCE_NS;
        let has_left = serving.has_left || is_silent;
        let ends = |at_ns: u64| serving.link.is_done() || has_left || now >= at_ns;
        if serving.end_ns.is_some_and(ends) {
            self.last = self.serving.take().map(|serving| {
                serving.flow.ended.store(true, Ordering::Relaxed);
                serving.link
            });
        }
    }
}
