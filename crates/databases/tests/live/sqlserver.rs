//! A server that speaks as SQL Server does ([MS-TDS]): greetings in the clear, the TLS handshake in
//! packets, a login, and answers of one row. What it hears outside TLS is kept.
//!
//! Once, the client library encrypted with a second cryptographic library, which cost a minute of
//! every full build. Encryption is ours now, and this is what holds it: a password is never heard.

use std::fs::{self, File};
use std::io::{BufReader, Error, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use databases::{DatabaseUrl, Kind, Watched};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use testing::certificate;

const PASSWORD: &str = "Zq9xK";
const OFF: u8 = 0;
const ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;

/// The connection, with what came in the clear kept.
struct Wire {
    tcp: TcpStream,
    heard: Arc<Mutex<Vec<u8>>>,
    /// TLS is in packets
    wrapped: bool,
    left: usize,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut room = buffer.len();
        if self.wrapped || self.left > 0 {
            if self.left == 0 {
                let mut header = [0; 8];
                self.tcp.read_exact(&mut header)?;
                assert_eq!(header[0], 0x12, "TLS is in packets until the handshake is over");
                self.left = usize::from(u16::from_be_bytes([header[2], header[3]])) - 8;
            }
            room = room.min(self.left);
        }
        let read = self.tcp.read(&mut buffer[..room])?;
        self.left = self.left.saturating_sub(read);
        self.heard.lock().unwrap().extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.wrapped {
            self.tcp.write_all(&packet(0x12, bytes))?;
        } else {
            self.tcp.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.tcp.flush()
    }
}

fn packet(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len() + 8).unwrap().to_be_bytes();
    [&[kind, 1, length[0], length[1], 0, 0, 1, 0], bytes].concat()
}

/// A whole message: its kind, and what is in its packets.
fn message(from: &mut impl Read) -> Result<(u8, Vec<u8>)> {
    let mut whole = Vec::new();
    loop {
        let mut header = [0; 8];
        from.read_exact(&mut header)?;
        let mut bytes = vec![0; usize::from(u16::from_be_bytes([header[2], header[3]])) - 8];
        from.read_exact(&mut bytes)?;
        whole.extend(bytes);
        if header[1] & 1 == 1 {
            return Ok((header[0], whole));
        }
    }
}

/// What a server says to a greeting.
fn greeting(encryption: u8) -> Vec<u8> {
    let list = [0, 0, 16, 0, 6, 1, 0, 22, 0, 1, 2, 0, 23, 0, 1, 0xff];
    packet(4, &[&list[..], &[16, 0, 0, 0, 0, 0], &[encryption], &[0]].concat())
}

fn done() -> [u8; 13] {
    let mut token = [0; 13];
    token[0] = 0xfd;
    token
}

fn logged_in() -> Vec<u8> {
    let name: Vec<u8> = "SQL".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let body = [&[1, 0x74, 0, 0, 4, 3][..], &name, &[16, 0, 0, 0]].concat();
    let length = u16::try_from(body.len()).unwrap().to_le_bytes();
    packet(4, &[&[0xad, length[0], length[1]][..], &body, &done()].concat())
}

/// One row of one column, `nvarchar(max)`.
fn row(text: &str) -> Vec<u8> {
    let text: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let column = [0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xe7, 0xff, 0xff, 9, 4, 0xd0, 0, 0x34, 0];
    let (total, part) = (text.len() as u64, u32::try_from(text.len()).unwrap());
    let value =
        [&total.to_le_bytes()[..], &part.to_le_bytes(), &text, &0_u32.to_le_bytes()].concat();
    packet(4, &[&column[..], &[0xd1], &value, &done()].concat())
}

const FACTS: &str = r#"{"version":"16.0.1000.6","edition":3,"data_directory":"/data/"}"#;

fn answer(statement: &[u8]) -> Vec<u8> {
    let needle: Vec<u8> = "EngineEdition".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let facts = statement.windows(needle.len()).any(|bytes| bytes == needle);
    row(if facts { FACTS } else { r#"{"server":"shop","started":"2026-01-01","files":[]}"# })
}

/// Serves a client until it leaves.
fn serve(wire: &mut Wire, encryption: u8, config: Arc<ServerConfig>) -> Result<()> {
    let (kind, _) = message(wire)?;
    assert_eq!(kind, 0x12);
    wire.tcp.write_all(&greeting(encryption))?;
    let mut tls = ServerConnection::new(config).map_err(Error::other)?;
    wire.wrapped = true;
    while tls.is_handshaking() {
        tls.complete_io(wire)?;
    }
    wire.wrapped = false;
    let mut stream = Stream::new(&mut tls, wire);
    let (kind, login) = message(&mut stream)?;
    assert_eq!(kind, 0x10);
    assert!(login.windows(8).any(|bytes| bytes == b"s\0a\0l\0e\0"), "the database of the URL");
    if encryption == OFF {
        wire.tcp.write_all(&logged_in())?;
        loop {
            let (_, statement) = message(wire)?;
            wire.tcp.write_all(&answer(&statement))?;
        }
    }
    stream.write_all(&logged_in())?;
    loop {
        let (_, statement) = message(&mut stream)?;
        stream.write_all(&answer(&statement))?;
    }
}

struct Server {
    port: u16,
    heard: Receiver<Vec<u8>>,
}

/// Starts a server for one client.
fn server(directory: &Path, encryption: u8) -> Server {
    certificate(directory);
    let chain = CertificateDer::pem_file_iter(directory.join("server.crt")).unwrap();
    let chain = chain.map(|certificate| certificate.unwrap()).collect();
    let key = File::open(directory.join("server.key")).unwrap();
    let key = PrivateKeyDer::from_pem_reader(BufReader::new(key)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, heard) = channel();
    thread::spawn(move || {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let tcp = listener.accept().unwrap().0;
        let mut wire = Wire { tcp, heard: Arc::clone(&kept), wrapped: false, left: 0 };
        // It ends when the client leaves.
        let _ = serve(&mut wire, encryption, Arc::new(config));
        sender.send(kept.lock().unwrap().clone())
    });
    Server { port, heard }
}

fn connect(port: u16, parameters: &str) -> std::result::Result<Watched, String> {
    let url = format!("mssql://anna:{PASSWORD}@localhost:{port}/sale?{parameters}");
    Watched::connect(&DatabaseUrl::parse(&url).unwrap()).map_err(|error| error.to_string())
}

/// The login as SQL Server's protocol hides it: each byte with its halves exchanged, and turned
/// over.
fn hidden() -> Vec<u8> {
    let bytes = PASSWORD.encode_utf16().flat_map(u16::to_le_bytes);
    bytes.map(|byte| byte.rotate_left(4) ^ 0xa5).collect()
}

fn holds(heard: &[u8], what: &[u8]) -> bool {
    heard.windows(what.len()).any(|bytes| bytes == what)
}

#[test]
fn everything_is_encrypted_and_the_certificate_checked() {
    let directory = tempfile::tempdir().unwrap();
    let ca = format!("ca={}", directory.path().join("server.crt").display());
    for parameters in [&ca, "trust-server-certificate=yes"] {
        let server = server(directory.path(), ON);
        let mut watched = connect(server.port, parameters).unwrap();
        assert_eq!(watched.facts().kind, Kind::SqlServer);
        assert_eq!(watched.facts().version, "16.0.1000.6");
        assert!(watched.sample().unwrap().objects.is_empty());
        drop(watched);
        let heard = server.heard.recv().unwrap();
        assert!(!holds(&heard, &hidden()) && !holds(&heard, b"S\0E\0L\0E\0C\0T\0"));
    }
}

#[test]
fn an_unknown_certificate_is_refused_with_the_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    certificate(other.path());
    let ca = format!("ca={}", other.path().join("server.crt").display());
    let server = server(directory.path(), ON);
    let error = connect(server.port, &ca).unwrap_err();
    assert!(error.contains("`ca=FILE`") && error.contains("trust-server-certificate"), "{error}");
    assert!(!holds(&server.heard.recv().unwrap(), &hidden()));

    let empty = other.path().join("none.pem");
    fs::write(&empty, "").unwrap();
    let server = self::server(directory.path(), ON);
    let error = connect(server.port, &format!("ca={}", empty.display())).unwrap_err();
    assert!(error.contains("none.pem"), "{error}");
}

#[test]
fn only_the_login_is_encrypted_where_that_was_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let parameters = "trust-server-certificate=yes&encrypt=no";
    let server = server(directory.path(), OFF);
    let mut watched = connect(server.port, parameters).unwrap();
    watched.sample().unwrap();
    drop(watched);
    let heard = server.heard.recv().unwrap();
    assert!(!holds(&heard, &hidden()) && holds(&heard, b"S\0E\0L\0E\0C\0T\0"));

    let server = self::server(directory.path(), OFF);
    let error = connect(server.port, "trust-server-certificate=yes").unwrap_err();
    assert!(error.contains("encrypt=no"), "{error}");
}

#[test]
fn no_password_goes_to_a_server_that_does_not_encrypt() {
    let directory = tempfile::tempdir().unwrap();
    for parameters in ["encrypt=no", "encrypt=yes"] {
        let server = server(directory.path(), NOT_SUPPORTED);
        let error = connect(server.port, parameters).unwrap_err();
        assert!(error.contains("does not encrypt"), "{error}");
        assert!(!holds(&server.heard.recv().unwrap(), &hidden()));
    }
}
