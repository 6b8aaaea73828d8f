//! The URL of a PostgreSQL database.

use std::fmt;
#[cfg(feature = "client")]
use std::str::FromStr;
use std::sync::Arc;

/// How a URL of a database begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Why a URL cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(pub String);

/// The URL of a PostgreSQL database, as libpq takes it. It shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerUrl(Arc<Parts>);

#[derive(PartialEq, Eq)]
struct Parts {
    #[cfg(feature = "client")]
    whole: String,
    shown: String,
    tls: Tls,
}

/// What `sslmode` in the URL asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// `disable`: the connection is never encrypted.
    Never,
    /// Encryption if the server has it: `prefer`, also without `sslmode`. The server's certificate
    /// is not checked, because an attacker in between could have refused the encryption as well.
    WherePossible,
    /// `require`, `verify-ca`, `verify-full`: always, with a certificate that this system trusts
    /// and that is the host's.
    Verified,
}

impl ServerUrl {
    /// Whether a text is meant as one.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Reads a URL. Without a client, none is accepted.
    #[cfg(not(feature = "client"))]
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        check_login(text)?;
        take_ssl_mode(text).map_err(UrlError)?;
        Err(UrlError("this build of iosonde has no client for PostgreSQL".to_owned()))
    }

    /// Reads the URL of a server.
    #[cfg(feature = "client")]
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if !Self::is_one(text) {
            return Err(UrlError("it does not begin with `postgres://`".to_owned()));
        }
        check_login(text)?;
        let (whole, tls) = take_ssl_mode(text).map_err(UrlError)?;
        let url = Self(Arc::new(Parts { shown: self::shown(text), whole, tls }));
        url.config()?;
        Ok(url)
    }

    /// The settings of the PostgreSQL client for this URL.
    #[cfg(feature = "client")]
    pub fn config(&self) -> Result<postgres::Config, UrlError> {
        let config = postgres::Config::from_str(&self.0.whole);
        let mut config = config.map_err(|error| {
            // The cause may repeat the name of an option, but no value.
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let names = ["invalid value for option", "unknown option"];
            let known = cause.filter(|cause| names.iter().any(|name| cause.starts_with(name)));
            let general = "it has not the form of libpq's connection URIs";
            UrlError(known.unwrap_or_else(|| general.to_owned()))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(UrlError("it names no host".to_owned()));
        }
        config.ssl_mode(match self.0.tls {
            Tls::Never => postgres::config::SslMode::Disable,
            Tls::WherePossible => postgres::config::SslMode::Prefer,
            Tls::Verified => postgres::config::SslMode::Require,
        });
        if config.get_application_name().is_none() {
            config.application_name("iosonde");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(std::time::Duration::from_secs(10));
        }
        Ok(config)
    }

    /// Whether every host that it names is this one: the loopback, or a socket.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.config().is_ok_and(|config| {
            config.get_hosts().iter().all(|host| match host {
                postgres::config::Host::Tcp(name) => is_loopback(name),
                #[cfg(unix)]
                postgres::config::Host::Unix(_) => true,
            })
        })
    }

    /// Never asked: without a client, no URL is accepted.
    #[cfg(not(feature = "client"))]
    #[must_use]
    pub fn is_local(&self) -> bool {
        false
    }

    /// How the connection is to be encrypted.
    #[must_use]
    pub fn tls(&self) -> Tls {
        self.0.tls
    }
}

/// Whether a host's name or number is one of the loopback.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let number = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || number.is_ok_and(|number| number.is_loopback())
}

/// Refuses what a password that was not escaped makes of a URL. Nothing of it is repeated.
fn check_login(text: &str) -> Result<(), UrlError> {
    let refused = |what: &str| Err(UrlError(what.to_owned()));
    if text.split_once('?').is_some_and(|(_, query)| query.contains('@')) {
        return refused(
            "there is an `@` after a `?`: in a password write %3F for `?`, elsewhere %40 for `@`",
        );
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let login = rest.rsplit_once('@').map_or("", |(login, _)| login);
    if login.to_ascii_lowercase().split(':').next().is_some_and(|user| user.contains("%3a")) {
        return refused("the `:` between user and password must not be written as %3A");
    }
    Ok(())
}

/// Takes `sslmode` out of a URL: the client library does not know all of its values.
fn take_ssl_mode(text: &str) -> Result<(String, Tls), String> {
    let Some((address, query)) = text.split_once('?') else {
        return Ok((text.to_owned(), Tls::WherePossible));
    };
    let mut tls = Tls::WherePossible;
    let mut rest = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.strip_prefix("sslmode=") {
            None => rest.push(part),
            Some("disable") => tls = Tls::Never,
            Some("allow" | "prefer") => tls = Tls::WherePossible,
            Some("require" | "verify-ca" | "verify-full") => tls = Tls::Verified,
            Some(other) => {
                return Err(format!(
                    "`sslmode={other}`: it can be disable, prefer, require or verify-full"
                ));
            }
        }
    }
    let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
    Ok((format!("{address}{query}"), tls))
}

/// Parameters after `?` that tell how a server is reached, and never a password. All others are
/// left out where a URL is shown.
const SHOWN: &[&str] = &[
    "application_name",
    "ca",
    "connect_timeout",
    "encrypt",
    "host",
    "hostaddr",
    "instance",
    "keepalives",
    "keepalives_idle",
    "load_balance_hosts",
    "port",
    "socket",
    "ssl-ca",
    "ssl-mode",
    "sslmode",
    "target_session_attrs",
    "tcp_user_timeout",
    "trust-server-certificate",
    "user",
];

/// A URL for eyes: passwords are left out, wherever they are.
#[must_use]
pub fn shown(text: &str) -> String {
    let (scheme, rest) = text.split_once("://").unwrap_or(("postgres", text));
    // A password may hold unescaped @, / and ?; the host follows the last @.
    let (login, rest) = match rest.rsplit_once('@') {
        Some((login, rest)) => (Some(login), rest),
        None => (None, rest),
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let login = login.map(|login| format!("{}@", user_of(login))).unwrap_or_default();
    let is_shown = |part: &&str| {
        let name = part.split_once('=').map_or("", |(name, _)| name);
        SHOWN.contains(&name.to_ascii_lowercase().as_str())
            || SHOWN.contains(&name.to_ascii_lowercase().replace('_', "-").as_str())
    };
    let query: Vec<&str> = query.split('&').filter(is_shown).collect();
    let shown = format!("{scheme}://{login}{place}");
    if query.is_empty() { shown } else { format!("{shown}?{}", query.join("&")) }
}

/// The user of a login: what is before the first `:`, written as it is or as `%3A`.
fn user_of(login: &str) -> &str {
    let encoded = login.to_ascii_lowercase().find("%3a");
    let end = [login.find(':'), encoded].into_iter().flatten().min().unwrap_or(login.len());
    login.get(..end).unwrap_or_default()
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.shown)
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerUrl({}, {:?})", self.0.shown, self.0.tls)
    }
}
