//! A history with results of virtual time, served on a separate port, and a client that sends what
//! no browser would.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::Permissions;
use history::{History, Place};
use results::{Document, Measurement};
use serve::{Listener, ServeError, Server, Token};
use survey::{KneeOptions, Lab, LabContext, Setup, Timing};
use tempfile::TempDir;
use workload::{Block, Bytes, EngineChoice, Mode, Nanoseconds, SimDevice, Stream, Target};

/// An answer that has not come by then never comes.
const HANGS: Duration = Duration::from_secs(60);

pub(crate) const TOKEN: &str = "a-token-of-22-letters!";

/// A server that ends when this is dropped.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) history: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
    _directory: TempDir,
}

impl Served {
    /// One that serves what `fill` puts into a new history.
    pub(crate) fn with(token: Option<&str>, fill: impl FnOnce(&History)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let place = Place::File(path.clone());
        fill(&History::open(&place).unwrap());
        let token = token.map(|text| Token::parse(text).unwrap());
        let listener = Listener::bind(Some("127.0.0.1:0".parse().unwrap()), token).unwrap();
        let address = listener.address();
        let server = Server::open(listener, &place, report::Language::English).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&flag));
        Self { address, history: path, stop, thread: Some(thread), _directory: directory }
    }

    /// One with three results: two runs and a saturation point.
    pub(crate) fn sample() -> Self {
        Self::with(None, |history| {
            for document in [run("vol7", 8192), run("vol8", 65_536), saturation()] {
                history.add(&document).unwrap();
            }
        })
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream
    }

    /// Sends these bytes and reads all that comes back until the server closes.
    pub(crate) fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may have refused before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::of(&answer)
    }

    /// A request with further headers, each with its line end.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &str) -> Answer {
        let host = if headers.contains("Host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        let request =
            format!("{method} {target} HTTP/1.1\r\n{host}Connection: close\r\n{headers}\r\n");
        self.send(request.as_bytes())
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, "")
    }

    /// Ends it and gives what it came to.
    pub(crate) fn end(mut self) -> Result<(), ServeError> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Self { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    #[track_caller]
    pub(crate) fn is(&self, status: u16, words: &str) {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{}\n{text:.2000}", self.head);
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
}

fn setup(host_target: &str) -> Setup {
    let ns = Nanoseconds(1_000_000);
    let timing = Timing { seconds: 3.0, warmup_seconds: 0.0, precision: None, settle_seconds: 0.0 };
    Setup {
        targets: vec![Target { path: host_target.into(), size_bytes: Some(Bytes(1 << 30)) }],
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(SimDevice { servers: 4, read_ns: ns, write_ns: ns, ..SimDevice::default() }),
        mode: Mode::Direct,
        seed: 1,
        timing,
    }
}

fn stream(block: u64) -> Stream {
    Stream { blocks: vec![Block { bytes: Bytes(block), weight: 1 }], ..Stream::default() }
}

/// A run on a target of this name.
pub(crate) fn measurement(target: &str, block: u64) -> Measurement {
    let (stop, mut quiet) = (AtomicBool::new(false), |_: survey::Progress<'_>| ());
    let mut lab =
        Lab::open(setup(target), &stream(block), LabContext::new(&stop, &mut quiet)).unwrap();
    lab.measure(vec![stream(block)]).unwrap()
}

pub(crate) fn run(target: &str, block: u64) -> Document {
    Document::Measurement(Box::new(measurement(target, block)))
}

pub(crate) fn saturation() -> Document {
    let options = KneeOptions {
        setup: setup("vol9"),
        stream: stream(8192),
        in_flight: (1, 32),
        link: None,
        latency_target: None,
    };
    Document::Knee(Box::new(
        survey::knee(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap(),
    ))
}
