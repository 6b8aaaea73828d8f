//! The parts of a URL of MySQL or SQL Server.

use std::fmt;

use percent_encoding::percent_decode_str;

/// What a URL says. It shows no password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The URL without its password, for messages.
    pub(crate) shown: String,
    /// The user to log in; empty if the URL names none.
    pub(crate) user: String,
    /// The password to log in with; absent if none is known.
    pub(crate) password: Option<String>,
    /// A name or a number, IPv6 without brackets.
    pub(crate) host: String,
    /// Absent if the usual one is meant.
    pub(crate) port: Option<u16>,
    /// The database to begin with; empty where none is named.
    pub(crate) database: String,
    /// What follows `?`: names in lower case with `-` for `_`, and values.
    parameters: Vec<(String, String)>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

impl Address {
    /// Takes a URL apart. Errors quote nothing of it, since a password that was not escaped may be
    /// anywhere.
    pub(crate) fn parse(text: &str, known: &[&str]) -> Result<Self, String> {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        // A password may hold unescaped @ and /; the host follows the last @.
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (Some(login), rest),
            None => (None, rest),
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, database) = place.split_once('/').unwrap_or((place, ""));
        let (host, port) = host_and_port(host)?;
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or((login, "")))
        {
            Some((user, password)) => (decoded(user)?, decoded(password)?),
            None => (String::new(), String::new()),
        };
        Ok(Self {
            shown: servers::shown(text),
            user,
            password: Some(password).filter(|password| !password.is_empty()),
            host,
            port,
            database: decoded(database)?,
            parameters: parameters(query, known)?,
        })
    }

    /// The value of a parameter after `?`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

fn host_and_port(text: &str) -> Result<(String, Option<u16>), String> {
    let (host, port) = match text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => None,
        Some(port) => match port.parse() {
            Ok(0) | Err(_) => return Err("the port is not a number from 1 to 65535".to_owned()),
            Ok(port) => Some(port),
        },
    };
    let host = decoded(host)?;
    if host.is_empty() {
        return Err("it names no host".to_owned());
    }
    Ok((host, port))
}

fn parameters(query: &str, known: &[&str]) -> Result<Vec<(String, String)>, String> {
    let read = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.to_ascii_lowercase().replace('_', "-");
        if known.contains(&name.as_str()) {
            Ok((name, decoded(value)?))
        } else {
            Err(format!("after `?` there can be: {}", known.join(", ")))
        }
    };
    query.split('&').filter(|part| !part.is_empty()).map(read).collect()
}

fn decoded(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| "a %XX in it is not valid UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["ssl-mode"];

    #[test]
    fn every_part_is_found() {
        let text = "mysql://anna:p%40ss:w/d@[::1]:3307/shop%20a?SSL_MODE=required";
        let address = Address::parse(text, KNOWN).unwrap();
        assert_eq!(address.user, "anna");
        assert_eq!(address.password.as_deref(), Some("p@ss:w/d"));
        assert_eq!((address.host.as_str(), address.port), ("::1", Some(3307)));
        assert_eq!(address.database, "shop a");
        assert_eq!(address.parameter("ssl-mode"), Some("required"));
        assert_eq!(
            format!("{address:?}"),
            "Address(mysql://anna@[::1]:3307/shop%20a?SSL_MODE=required)"
        );
    }

    #[test]
    fn a_host_alone_is_enough() {
        let address = Address::parse("mysql://db", KNOWN).unwrap();
        assert_eq!((address.host.as_str(), address.port, address.password), ("db", None, None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, part) in [
            ("mysql://", "no host"),
            ("mysql://db:0", "65535"),
            ("mysql://db:99999", "65535"),
            ("mysql://db?colour=red", "ssl-mode"),
            ("mysql://%ff@db", "UTF-8"),
        ] {
            let error = Address::parse(text, KNOWN).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
