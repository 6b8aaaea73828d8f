//! The address to listen on, and when it needs a token.
//!
//! An address of this computer alone needs no token. Any other needs one, because everyone who can
//! reach it could otherwise read the history.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use crate::{ServeError, Token};

/// The port if the user names none.
pub const PORT: u16 = 7468;
/// How many ports from [`PORT`] on are tried if the user names none.
const PORTS: u16 = 20;

/// Who asks, and by which flag the user named the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Browsers ask for the history.
    History,
    /// Programs such as Prometheus ask for figures. They keep no cookies.
    Metrics,
}

impl Purpose {
    /// The flag that takes an address.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::History => "--listen",
            Self::Metrics => "--metrics",
        }
    }
}

/// A socket that accepts connections, and the rule for using it.
#[derive(Debug)]
pub struct Listener {
    pub(crate) socket: TcpListener,
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<Token>,
    made_token: bool,
    pub(crate) purpose: Purpose,
}

impl Listener {
    /// Listens on an address; without one, on the first free port of this computer's own from
    /// [`PORT`] on.
    ///
    /// With a token, requests without it are refused. An address that others can reach gets a new
    /// token when none is given.
    pub fn bind(address: Option<SocketAddr>, token: Option<Token>) -> Result<Self, ServeError> {
        let socket = match address {
            Some(address) => listen(address, Purpose::History)?,
            None => first_free()?,
        };
        Self::new(socket, token, Purpose::History)
    }

    /// Listens on an address for programs that ask for figures, under the same rules.
    pub fn for_metrics(address: SocketAddr, token: Option<Token>) -> Result<Self, ServeError> {
        Self::new(listen(address, Purpose::Metrics)?, token, Purpose::Metrics)
    }

    fn new(
        socket: TcpListener,
        token: Option<Token>,
        purpose: Purpose,
    ) -> Result<Self, ServeError> {
        let address = socket.local_addr().map_err(ServeError::Start)?;
        let made_token = token.is_none() && !address.ip().is_loopback();
        let token = if made_token { Some(Token::random()?) } else { token };
        Ok(Self { socket, address, token, made_token, purpose })
    }

    /// Whether only this computer can reach it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// The address with the port that was found.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser, or for a program that asks for figures. It includes a token that
    /// was made here, because nobody else knows it, but not a token that the user gave. `host`
    /// replaces the address if the server listens on every address of this computer.
    #[must_use]
    pub fn url(&self, host: &str) -> String {
        let port = self.address.port();
        let base = if self.address.ip().is_unspecified() {
            format!("http://{host}:{port}/")
        } else {
            format!("http://{}/", self.address)
        };
        let base = match self.purpose {
            Purpose::History => base,
            Purpose::Metrics => base + "metrics",
        };
        match &self.token {
            Some(token) if self.made_token => format!("{base}?token={}", token.reveal()),
            _ => base,
        }
    }
}

fn listen(address: SocketAddr, purpose: Purpose) -> Result<TcpListener, ServeError> {
    let listen = || {
        let socket = TcpListener::bind(address)?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let flag = purpose.flag();
    listen().map_err(|source| ServeError::Listen { address, source, flag })
}

fn first_free() -> Result<TcpListener, ServeError> {
    let on =
        |port| listen(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port), Purpose::History);
    let mut outcome = on(PORT);
    for port in PORT + 1..PORT + PORTS {
        if outcome.is_ok() {
            break;
        }
        outcome = on(port).or(outcome);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(address: &str, token: Option<&str>) -> Listener {
        let token = token.map(|text| Token::parse(text).unwrap());
        Listener::bind(Some(address.parse().unwrap()), token).unwrap()
    }

    #[test]
    fn what_others_can_reach_always_has_a_token() {
        let open = on("0.0.0.0:0", None);
        let token = open.token.as_ref().unwrap();
        assert!(!open.is_local());
        let port = open.address.port();
        assert_eq!(open.url("db7"), format!("http://db7:{port}/?token={}", token.reveal()));
        assert!(on("127.0.0.1:0", None).token.is_none());
    }

    #[test]
    fn a_token_that_was_given_is_not_printed() {
        let given = on("0.0.0.0:0", Some("0123456789abcdef"));
        assert!(!given.url("db7").contains("0123456789abcdef"));
        let local = on("127.0.0.1:0", Some("0123456789abcdef"));
        assert!(local.token.is_some(), "also at home, where it is asked for");
    }

    #[test]
    fn a_port_that_is_taken_is_an_error_when_named_and_passed_over_when_not() {
        let taken = on("127.0.0.1:0", None);
        let again = Listener::bind(Some(taken.address), None).unwrap_err().to_string();
        assert!(
            again.contains(&taken.address.to_string()) && again.contains("--listen"),
            "{again}"
        );
        // There is no --listen where figures are asked for.
        let again = Listener::for_metrics(taken.address, None).unwrap_err().to_string();
        assert!(again.ends_with("`--metrics ADDRESS:PORT`"), "{again}");
        let first = Listener::bind(None, None).unwrap();
        let second = Listener::bind(None, None).unwrap();
        assert_ne!(first.address.port(), second.address.port());
    }
}
