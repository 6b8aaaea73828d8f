//! Names of hosts and addresses of servers, as they are typed.

use std::net::IpAddr;

use crate::NatsError;

/// The name of the coordinator as a client of the server.
pub(crate) const COORDINATOR: &str = "coordinator";

/// The client that listens to the server's messages about disconnected clients.
pub(crate) const OBSERVER: &str = "observer";

/// The port if the user names none.
const PORT: u16 = 4222;

/// The longest name that a certificate takes.
const NAME_MAX: usize = 64;

/// Checks a name: it becomes part of a subject, of a certificate and of a file's name.
pub(crate) fn check(name: &str) -> Result<(), NatsError> {
    let may = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let parts_are_whole = name.split('.').all(|part| !part.is_empty());
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && parts_are_whole && name.chars().all(may) && name.len() <= NAME_MAX {
        if [COORDINATOR, OBSERVER, "server", "ca"].contains(&name) {
            return Err(NatsError::Usage(format!(
                "`{name}` is what the fleet itself uses. Name the host otherwise"
            )));
        }
        return Ok(());
    }
    Err(NatsError::Usage(format!(
        "`{name}` cannot be the name of a host. Use letters, digits, `-`, `_` and single dots, at \
         most {NAME_MAX} of them"
    )))
}

/// The network address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// A name or an address, without brackets.
    pub host: String,
    /// The TCP port; 4222 if none was written.
    pub port: u16,
}

impl Address {
    /// Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`.
    pub(crate) fn parse(text: &str) -> Result<Self, NatsError> {
        let wrong = || {
            NatsError::Usage(format!(
                "`{text}` is not the address of a server. Write NAME, NAME:PORT or [ADDRESS]:PORT"
            ))
        };
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or_else(wrong)?;
                if !host.contains(':') || !(rest.is_empty() || rest.starts_with(':')) {
                    return Err(wrong());
                }
                (host, rest.strip_prefix(':'))
            }
            None if text.parse::<IpAddr>().is_ok() => (text, None),
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Ok(PORT), str::parse).map_err(|_| wrong())?;
        let may = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = !host.is_empty() && host.chars().all(may);
        if port == 0 || !(is_name || host.parse::<IpAddr>().is_ok()) {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port })
    }

    /// The host and the port as a URL has them: IPv6 addresses are in brackets.
    pub(crate) fn text(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// The URL for the NATS client, always with TLS.
    pub(crate) fn url(&self) -> String {
        format!("tls://{}", self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_would_be_patterns_or_paths_are_refused() {
        for good in ["db1", "DB-1.example.com", "a_b", "7"] {
            assert!(check(good).is_ok(), "{good}");
        }
        let long = "a".repeat(65);
        for bad in [
            "",
            ".",
            "*",
            ">",
            "a.>",
            "a..b",
            ".a",
            "a.",
            "../a",
            "a/b",
            "a b",
            "a,b",
            "-a",
            "ä",
            "coordinator",
            "server",
            "ca",
            "a\n",
            "a\"",
            &long,
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, shown) in [
            ("ctl", "ctl:4222"),
            ("ctl.example.com:5000", "ctl.example.com:5000"),
            ("10.0.0.1", "10.0.0.1:4222"),
            ("::1", "[::1]:4222"),
            ("[fd00::1]:4333", "[fd00::1]:4333"),
        ] {
            assert_eq!(Address::parse(text).unwrap().text(), shown);
        }
        for bad in
            ["", ":1", "a:0", "a:b", "a:99999", "a b", "[::1", "tls://a", "a/b", "[x]:1", "[::1]x"]
        {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_as_the_same(text in "\\PC{0,20}") {
            let _ = check(&text);
            if let Ok(address) = Address::parse(&text) {
                prop_assert_eq!(Address::parse(&address.text()).unwrap(), address);
            }
        }
    }
}
