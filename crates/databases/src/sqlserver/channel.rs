//! An encrypted connection to SQL Server, as a stream for its client library.
//!
//! SQL Server encrypts in the middle of a conversation: greetings go in the clear, the TLS
//! handshake goes within packets of its own protocol, and everything after it is in TLS alone
//! ([MS-TDS] 3.2.5.3). The client library can do that with aws-lc only. So the greeting and the
//! handshake are done here, with ring and the trust that all connections have; then the library's
//! own greeting is answered with what the server said.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::pki_types::ServerName;
use servers::Trust;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::greeting::{
    ANSWER, HEADER_BYTES, LOGIN, LONGEST_ANSWER, PRE_LOGIN, Packets, agreed, greeting, header,
};
use crate::url::{Encrypt, SqlServerUrl};

/// The stream that the client library reads and writes.
#[derive(Debug)]
pub(crate) struct Channel {
    way: Way,
    /// The server's answer to our greeting; the library's own greeting receives it.
    answer: Vec<u8>,
    /// Bytes of the answer that the library has read.
    told: usize,
    /// Whether the library has sent its greeting, which is not passed on.
    greeted: bool,
    sent: Packets,
    /// Whether everything is encrypted, or the login only.
    encrypt: Encrypt,
    /// Whether the library has sent the login.
    logged_in: bool,
}

#[derive(Debug)]
enum Way {
    Encrypted(Box<TlsStream<Handshake>>),
    Plain(Box<Handshake>),
    /// Only while one of the others becomes the other.
    Neither,
}

/// Greets the server, and agrees on the encryption. `host` is the name that its certificate has to
/// have.
pub(super) async fn open(
    mut tcp: TcpStream,
    url: &SqlServerUrl,
    host: &str,
) -> std::result::Result<Channel, String> {
    let text = |error: Error| error.to_string();
    let instance = url.address.parameter("instance");
    tcp.write_all(&greeting(url.encrypt, instance)).await.map_err(text)?;
    let answer = answer(&mut tcp).await?;
    let encrypt = agreed(url.encrypt, &answer[HEADER_BYTES..])?;
    let trust = match url.address.parameter("ca") {
        _ if url.any_certificate => Trust::Anyone,
        Some(file) => Trust::File(file.as_ref()),
        None => Trust::System,
    };
    // This protocol ends where a TLS 1.2 handshake ends; 1.3 sends tickets after it, in packets or
    // not.
    let config = servers::client_config(trust, &[&rustls::version::TLS12])?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| format!("`{host}` cannot be the name in a certificate"))?;
    let connector = TlsConnector::from(Arc::new(config));
    let mut tls =
        connector.connect(name, Handshake::new(tcp)).await.map_err(|error| refused(&error))?;
    tls.get_mut().0.over = true;
    Ok(Channel {
        way: Way::Encrypted(Box::new(tls)),
        answer,
        told: 0,
        greeted: false,
        sent: Packets::default(),
        encrypt,
        logged_in: false,
    })
}

/// The whole message that answers a greeting.
async fn answer(tcp: &mut TcpStream) -> std::result::Result<Vec<u8>, String> {
    let mut whole = Vec::new();
    let mut packets = Packets::default();
    loop {
        let mut byte = [0; 1];
        let read = tcp.read_exact(&mut byte).await;
        read.map_err(|_| "it ends the connection instead of answering".to_owned())?;
        whole.push(byte[0]);
        if whole[0] != ANSWER || whole.len() > LONGEST_ANSWER {
            return Err("what answers there is no SQL Server".to_owned());
        }
        if packets.take(&byte).1.is_some() {
            return Ok(whole);
        }
    }
}

/// Why the handshake failed, with the remedy for a certificate.
fn refused(error: &Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(_)) => format!(
            "{error}; name the certificate of who signed it with `ca=FILE`, or take any with \
             `trust-server-certificate=yes`"
        ),
        _ => error.to_string(),
    }
}

impl Channel {
    /// Notes what the library has sent.
    fn note(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (taken, ended) = self.sent.take(bytes);
            bytes = &bytes[taken..];
            self.logged_in |= ended == Some(LOGIN);
        }
    }

    /// Continues without encryption after the login, if only the login is encrypted.
    fn change(&mut self) {
        if self.encrypt == Encrypt::Everything || !self.logged_in {
            return;
        }
        self.way = match std::mem::replace(&mut self.way, Way::Neither) {
            Way::Encrypted(tls) => Way::Plain(Box::new(tls.into_inner().0)),
            other => other,
        };
    }
}

fn gone<T>() -> Poll<Result<T>> {
    Poll::Ready(Err(ErrorKind::NotConnected.into()))
}

impl AsyncRead for Channel {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        let left = &this.answer[this.told..];
        if !left.is_empty() {
            let bytes = left.len().min(buffer.remaining());
            buffer.put_slice(&left[..bytes]);
            this.told += bytes;
            return Poll::Ready(Ok(()));
        }
        match &mut this.way {
            Way::Encrypted(tls) => Pin::new(tls).poll_read(context, buffer),
            Way::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Way::Neither => gone(),
        }
    }
}

impl AsyncWrite for Channel {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let this = self.get_mut();
        if !this.greeted {
            let (taken, ended) = this.sent.take(bytes);
            this.greeted = ended.is_some();
            return Poll::Ready(Ok(taken));
        }
        let written = match &mut this.way {
            Way::Encrypted(tls) => ready!(Pin::new(tls).poll_write(context, bytes))?,
            Way::Plain(tcp) => ready!(Pin::new(tcp).poll_write(context, bytes))?,
            Way::Neither => return gone(),
        };
        this.note(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        match &mut this.way {
            Way::Encrypted(tls) => ready!(Pin::new(tls).poll_flush(context))?,
            Way::Plain(tcp) => ready!(Pin::new(tcp).poll_flush(context))?,
            Way::Neither => return gone(),
        }
        this.change();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.get_mut().way {
            Way::Encrypted(tls) => Pin::new(tls).poll_shutdown(context),
            Way::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Way::Neither => Poll::Ready(Ok(())),
        }
    }
}

/// The connection below TLS: during the handshake, what TLS sends is put into packets, and what
/// arrives is taken out of them.
#[derive(Debug)]
struct Handshake {
    tcp: TcpStream,
    /// The handshake is over, and bytes pass as they are
    over: bool,
    header: [u8; HEADER_BYTES],
    have: usize,
    left: usize,
    /// What waits for the end of a packet
    out: Vec<u8>,
    /// How much of a packet was sent
    sent: usize,
}

impl Handshake {
    fn new(tcp: TcpStream) -> Self {
        let (header, out) = ([0; HEADER_BYTES], Vec::new());
        Self { tcp, over: false, header, have: 0, left: 0, out, sent: 0 }
    }

    /// Reads the header of the next packet.
    fn poll_header(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while self.left == 0 {
            let mut buffer = ReadBuf::new(&mut self.header[self.have..]);
            ready!(Pin::new(&mut self.tcp).poll_read(context, &mut buffer))?;
            let read = buffer.filled().len();
            if read == 0 {
                return Poll::Ready(Err(ErrorKind::UnexpectedEof.into()));
            }
            self.have += read;
            if self.have < HEADER_BYTES {
                continue;
            }
            self.have = 0;
            let length = u16::from_be_bytes([self.header[2], self.header[3]]);
            let bytes = usize::from(length).checked_sub(HEADER_BYTES);
            let Some(bytes) = bytes.filter(|_| self.header[0] == PRE_LOGIN) else {
                let what = "it does not agree on encryption";
                return Poll::Ready(Err(Error::new(ErrorKind::InvalidData, what)));
            };
            self.left = bytes;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Handshake {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.over && this.left == 0 {
            return Pin::new(&mut this.tcp).poll_read(context, buffer);
        }
        ready!(this.poll_header(context))?;
        let room = this.left.min(buffer.remaining());
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        ready!(Pin::new(&mut this.tcp).poll_read(context, &mut part))?;
        let read = part.filled().len();
        buffer.advance(read);
        this.left -= read;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Handshake {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let this = self.get_mut();
        if this.over {
            return Pin::new(&mut this.tcp).poll_write(context, bytes);
        }
        // A packet that is being sent goes out before the next one is begun.
        if this.sent > 0 {
            ready!(Pin::new(&mut *this).poll_flush(context))?;
        }
        if this.out.is_empty() {
            this.out.resize(HEADER_BYTES, 0);
        }
        this.out.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        if !this.out.is_empty() && this.sent == 0 {
            let head = header(PRE_LOGIN, this.out.len() - HEADER_BYTES);
            this.out[..HEADER_BYTES].copy_from_slice(&head);
        }
        while this.sent < this.out.len() {
            let rest = &this.out[this.sent..];
            let sent = ready!(Pin::new(&mut this.tcp).poll_write(context, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            this.sent += sent;
        }
        this.out.clear();
        this.sent = 0;
        Pin::new(&mut this.tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}
