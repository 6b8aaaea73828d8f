//! The coordinator's way to the agents of a site.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Client;
use engine::Clock;
use fleet::{Arrival, MESSAGE_BYTES, ToAgent, ToCoordinator, Transport, parse};
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::NatsError;
use crate::bundle::Bundle;
use crate::connection::{Input, PING, connect};
use crate::link::{Frame, Kind, Link};
use crate::pulse::{PULSE, Pulse};
use crate::site::{DISCONNECTED, Site, from, to};

/// What is on its way is looked at this often.
const TICK: Duration = Duration::from_millis(50);

/// Why hosts are lost without a server.
const GONE: &str = "the server did not answer for 30 s";

/// How long the last messages may take.
const ENDING_NS: u64 = 2_000_000_000;

type Arrived = (usize, u64, Arrival);

enum Command {
    Send(usize, Vec<u8>),
    Cut(usize),
    Finish,
}

/// The agents of a site, reached through its server.
pub struct SiteTransport {
    inputs: UnboundedSender<Input<Command>>,
    arrivals: Receiver<Arrived>,
    pulse: Arc<Pulse>,
    /// When a frame of each agent last came.
    heard: Arc<[AtomicU64]>,
    thread: Option<JoinHandle<()>>,
}

impl SiteTransport {
    /// Connects to the server of a site and calls these hosts.
    ///
    /// # Errors
    /// The site has no such host, or its server cannot be reached or refuses.
    pub fn open(directory: &Path, hosts: &[String]) -> Result<Self, NatsError> {
        let site = Site::open(directory)?;
        hosts.iter().try_for_each(|host| site.find(host))?;
        let bundles = (site.coordinator()?, site.observer()?);
        let (inputs, waiting) = unbounded_channel();
        let (sender, arrivals) = channel();
        let (opened, is_open) = channel();
        let pulse = Arc::new(Pulse::default());
        let heard: Arc<[AtomicU64]> = hosts.iter().map(|_| AtomicU64::default()).collect();
        let shared = (Arc::clone(&pulse), Arc::clone(&heard));
        let desk = Desk::new(&site, hosts, sender, shared)?;
        let to_itself = inputs.clone();
        let thread = thread::spawn(move || work(desk, &bundles, &to_itself, waiting, &opened));
        is_open.recv().unwrap_or(Err(NatsError::Ended))?;
        Ok(Self { inputs, arrivals, pulse, heard, thread: Some(thread) })
    }

    fn command(&self, command: Command) {
        let _ = self.inputs.send(Input::Command(command));
    }
}

impl Transport for SiteTransport {
    fn now_ns(&self) -> u64 {
        Clock::get().now()
    }

    fn send(&mut self, agent: usize, message: &ToAgent) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        self.command(Command::Send(agent, line));
    }

    fn receive(&mut self, until_ns: u64) -> Option<Arrived> {
        let left = until_ns.saturating_sub(Clock::get().now());
        self.arrivals.recv_timeout(Duration::from_nanos(left)).ok()
    }

    fn cut(&mut self, agent: usize) {
        self.command(Command::Cut(agent));
    }

    fn reachable_since_ns(&self) -> u64 {
        self.pulse.since_ns(Clock::get().now())
    }

    fn unreachable(&self) -> Option<String> {
        self.pulse.is_gone(Clock::get().now()).then(|| GONE.to_owned())
    }

    fn heard_ns(&self, agent: usize) -> u64 {
        self.heard.get(agent).map_or(0, |heard| heard.load(Ordering::Relaxed))
    }
}

impl Drop for SiteTransport {
    fn drop(&mut self) {
        self.command(Command::Finish);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs on the thread of the connection until the desk has finished.
fn work(
    mut desk: Desk,
    bundles: &(Bundle, Bundle),
    inputs: &UnboundedSender<Input<Command>>,
    waiting: UnboundedReceiver<Input<Command>>,
    opened: &Sender<Result<(), NatsError>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = opened.send(Err(NatsError::NoThread(error.to_string())));
            return;
        }
    };
    runtime.block_on(async {
        // Its connection is its own: what happens to it says nothing about the other.
        let (events, mut ends) = unbounded_channel();
        let both = async {
            let observer = connect(&bundles.1, DISCONNECTED.to_owned(), PULSE, &events).await?;
            Ok((observer, connect(&bundles.0, from(">"), PING, inputs).await?))
        };
        match both.await {
            Ok((observer, client)) => {
                let inputs = inputs.clone();
                tokio::spawn(async move {
                    while let Some(event) = ends.recv().await {
                        if let Input::Frame(..) = event {
                            let _ = inputs.send(event);
                        }
                    }
                });
                desk.pulse.connected(Clock::get().now(), true);
                let _ = opened.send(Ok(()));
                desk.serve((&client, &observer), waiting).await;
                let _ = tokio::time::timeout(TICK * 20, client.flush()).await;
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        }
    });
}

/// An agent, as the coordinator sees it.
struct Peer {
    /// The server's name for its certificate; absent if the fleet does not list the host.
    user: Option<String>,
    subject: String,
    link: Link,
    /// The number that the agent's process drew; another one means that two agents use the same
    /// credentials.
    sender: Option<u64>,
    /// The beginning of a message whose end has not arrived yet.
    line: Vec<u8>,
    is_gone: bool,
    /// Whether its agent must still learn that the coordinator no longer listens.
    ends: bool,
}

impl Peer {
    fn end(&mut self) {
        (self.is_gone, self.ends) = (true, true);
    }
}

struct Desk {
    peers: Vec<Peer>,
    by_subject: HashMap<String, usize>,
    arrivals: Sender<Arrived>,
    pulse: Arc<Pulse>,
    heard: Arc<[AtomicU64]>,
    /// When the last messages have to be sent.
    finish_ns: Option<u64>,
}

impl Desk {
    fn new(
        site: &Site,
        hosts: &[String],
        arrivals: Sender<Arrived>,
        (pulse, heard): (Arc<Pulse>, Arc<[AtomicU64]>),
    ) -> Result<Self, NatsError> {
        let random = || getrandom::u64().map_err(|e| NatsError::Certificates(e.to_string()));
        let (sender, session) = (random()?, random()?);
        let peer = |host: &String| {
            let mut link = Link::new(sender, session);
            link.push(&[]);
            Peer {
                user: site.user_of(host),
                subject: to(host),
                link,
                sender: None,
                line: Vec::new(),
                is_gone: false,
                ends: false,
            }
        };
        let by_subject = hosts.iter().enumerate().map(|(at, host)| (from(host), at)).collect();
        let peers = hosts.iter().map(peer).collect();
        Ok(Self { peers, by_subject, arrivals, pulse, heard, finish_ns: None })
    }

    async fn serve(
        &mut self,
        (client, observer): (&Client, &Client),
        mut inputs: UnboundedReceiver<Input<Command>>,
    ) {
        let bytes = [client, observer].map(Client::statistics);
        while !self.is_finished() {
            let came = bytes.iter().map(|bytes| bytes.in_bytes.load(Ordering::Relaxed)).sum();
            self.pulse.look(Clock::get().now(), came);
            if let Ok(Some(input)) = tokio::time::timeout(TICK, inputs.recv()).await {
                self.take(input);
            }
            while let Ok(input) = inputs.try_recv() {
                self.take(input);
            }
            // What is sent without a connection waits in the client, and is sent twice.
            if self.pulse.is_connected() {
                self.send(client).await;
            }
        }
        self.peers.iter_mut().filter(|peer| peer.link.is_answered()).for_each(Peer::end);
        self.send(client).await;
    }

    fn is_finished(&self) -> bool {
        let done = |peer: &Peer| peer.is_gone || !peer.link.is_answered() || peer.link.is_done();
        let late = |at_ns| Clock::get().now() >= at_ns;
        self.finish_ns.is_some_and(|at_ns| late(at_ns) || self.peers.iter().all(done))
    }

    async fn send(&mut self, client: &Client) {
        let now = Clock::get().now();
        for peer in &mut self.peers {
            let frames = if std::mem::take(&mut peer.ends) {
                vec![peer.link.frame(Kind::End, Vec::new())]
            } else if peer.is_gone {
                Vec::new()
            } else {
                peer.link.frames(now)
            };
            for frame in frames {
                let _ = client.publish(peer.subject.clone(), frame.encode().into()).await;
            }
        }
    }

    fn take(&mut self, input: Input<Command>) {
        let now = Clock::get().now();
        match input {
            Input::Frame(subject, bytes) if subject == DISCONNECTED => {
                let user = ended(&bytes);
                let is_it = |peer: &Peer| user.is_some() && peer.user == user;
                if let Some(at) = self.peers.iter().position(is_it) {
                    self.lose(at, now, "its agent ended");
                }
            }
            Input::Frame(subject, bytes) => {
                if let (Some(frame), Some(at)) =
                    (Frame::decode(&bytes), self.by_subject.get(&subject))
                {
                    let at = *at;
                    self.hear(at, now, frame);
                }
            }
            Input::Connected(is_there) => {
                // The first connection is reported, too, some time after it was made.
                if self.pulse.is_connected() == is_there {
                    return;
                }
                self.pulse.connected(now, is_there);
                if is_there {
                    self.peers.iter_mut().for_each(|peer| peer.link.reconnected());
                }
            }
            Input::Refused => {
                for at in 0..self.peers.len() {
                    self.lose(at, now, "the server no longer lets the coordinator in");
                }
            }
            Input::Command(Command::Send(at, bytes)) => {
                if let Some(peer) = self.peers.get_mut(at) {
                    peer.link.push(&bytes);
                }
            }
            Input::Command(Command::Cut(at)) => {
                self.peers.get_mut(at).into_iter().for_each(Peer::end);
            }
            Input::Command(Command::Finish) => {
                self.finish_ns = Some(now.saturating_add(ENDING_NS));
            }
        }
    }

    fn hear(&mut self, at: usize, now: u64, frame: Frame) {
        let Some(peer) = self.peers.get_mut(at) else { return };
        if frame.session != peer.link.session() || peer.is_gone {
            return;
        }
        if let (Kind::Data(_), Some(heard)) = (frame.kind, self.heard.get(at)) {
            heard.store(now, Ordering::Relaxed);
        }
        match frame.kind {
            Kind::Busy => {
                let reason = String::from_utf8_lossy(&frame.body).into_owned();
                let refusal = ToCoordinator::Refuse { run: String::new(), reason };
                self.arrived(at, now, Arrival::Message(Box::new(refusal)));
            }
            Kind::Waits => {
                let reason = String::from_utf8_lossy(&frame.body).into_owned();
                let waits = ToCoordinator::Waits { reason };
                self.arrived(at, now, Arrival::Message(Box::new(waits)));
            }
            Kind::Unknown => self.lose(at, now, "its agent was started anew"),
            Kind::End => {}
            Kind::Data(_) | Kind::Ack => {
                if *peer.sender.get_or_insert(frame.sender) != frame.sender {
                    let why = "two agents use the credentials of this host. Give each host its \
                               own file";
                    return self.lose(at, now, why);
                }
                if let Some(bytes) = peer.link.take(now, frame) {
                    peer.line.extend_from_slice(&bytes);
                    self.messages(at, now);
                }
            }
        }
    }

    /// Passes on the messages that are whole.
    fn messages(&mut self, at: usize, now: u64) {
        let Some(peer) = self.peers.get_mut(at) else { return };
        let mut arrivals = Vec::new();
        let mut begin = 0;
        for line in peer.line.split_inclusive(|byte| *byte == b'\n') {
            if line.last() != Some(&b'\n') {
                break;
            }
            begin += line.len();
            arrivals.push(parse(line).map_err(|error| error.to_string()));
        }
        peer.line.drain(..begin);
        if peer.line.len() as u64 > MESSAGE_BYTES {
            arrivals.push(Err("a message is longer than 64 MiB".to_owned()));
        }
        for arrival in arrivals {
            match arrival {
                Ok(message) => self.arrived(at, now, Arrival::Message(Box::new(message))),
                Err(why) => return self.lose(at, now, &why),
            }
        }
    }

    fn lose(&mut self, at: usize, now: u64, why: &str) {
        if let Some(peer) = self.peers.get_mut(at).filter(|peer| !peer.is_gone) {
            peer.end();
            self.arrived(at, now, Arrival::Gone(why.to_owned()));
        }
    }

    fn arrived(&self, at: usize, now: u64, arrival: Arrival) {
        let _ = self.arrivals.send((at, now, arrival));
    }
}

/// Who closed its connection, as the server reports it. What the server ended itself is none: the
/// agent connects again.
fn ended(event: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(event).ok()?;
    let by_client = ["Client Closed", "Read Error"].contains(&event["reason"].as_str()?);
    by_client.then(|| event["client"]["user"].as_str().map(str::to_owned)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_clients_that_closed_their_connection_have_ended() {
        let event = |reason: &str| {
            format!(r#"{{"client":{{"user":"CN=db1,OU=7","name":"db2"}},"reason":"{reason}"}}"#)
        };
        let user = |reason: &str| ended(event(reason).as_bytes());
        assert_eq!(user("Client Closed").as_deref(), Some("CN=db1,OU=7"));
        assert_eq!(user("Read Error").as_deref(), Some("CN=db1,OU=7"));
        assert_eq!(user("Server Shutdown"), None);
        assert_eq!(user("Stale Connection"), None);
    }

    proptest! {
        #[test]
        fn any_event_is_read_or_not(event in "\\PC{0,60}") {
            prop_assert_eq!(ended(event.as_bytes()), None);
        }
    }
}
