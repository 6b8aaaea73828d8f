//! The URL of a database that is to be watched.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use servers::ServerUrl;

use crate::address::Address;
use crate::error::DatabaseError;
use crate::sample::Kind;

const LIKE_POSTGRES: &str = "postgres://user@host:5432/database?sslmode=require";
const LIKE_MYSQL: &str = "mysql://user@host:3306?ssl-mode=required";
const LIKE_SQL_SERVER: &str = "sqlserver://user@host:1433?trust-server-certificate=yes";

/// Parameters that a URL of MySQL may also have after `?`.
const MYSQL: &[&str] = &["socket", "ssl-ca", "ssl-mode"];

/// Parameters that a URL of SQL Server may have after `?`.
const SQL_SERVER: &[&str] = &["ca", "encrypt", "instance", "trust-server-certificate"];

/// The place of a database, and the user to log in as. It shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Of);

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Of {
    PostgreSql(ServerUrl),
    MySql(MySqlUrl),
    SqlServer(SqlServerUrl),
}

/// How a connection to MySQL is encrypted; the words are those of its own clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SslMode {
    /// No encryption: `disabled`.
    Disabled,
    /// `preferred`, which is also without `ssl-mode`: where the server has it; the certificate is
    /// not looked at.
    Preferred,
    /// `required`, `verify-ca`, `verify-identity`: always, with a certificate that is trusted and
    /// is the host's.
    Verified,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MySqlUrl {
    pub(crate) address: Address,
    pub(crate) ssl: SslMode,
}

/// How a connection to SQL Server is encrypted; the words are those of its own clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encrypt {
    /// `yes`, which is also without `encrypt`: everything.
    Everything,
    /// `no`: the login only, where the server can.
    Login,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SqlServerUrl {
    pub(crate) address: Address,
    pub(crate) encrypt: Encrypt,
    /// The certificate is not looked at.
    pub(crate) any_certificate: bool,
}

impl DatabaseUrl {
    /// Whether a text begins as one.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        kind_of(text).is_some()
    }

    /// Reads `postgres://…`, `mysql://…` or `mariadb://…`, `sqlserver://…` or `mssql://…`.
    pub fn parse(text: &str) -> Result<Self, DatabaseError> {
        let kind = kind_of(text).ok_or(DatabaseError::UnknownScheme)?;
        if cfg!(not(feature = "clients")) {
            return Err(DatabaseError::NoClients);
        }
        let like = match kind {
            Kind::PostgreSql => LIKE_POSTGRES,
            Kind::MySql => LIKE_MYSQL,
            Kind::SqlServer => LIKE_SQL_SERVER,
        };
        parse(kind, text).map(Self).map_err(|what| DatabaseError::BadUrl { what, like })
    }

    /// What kind of database it leads to.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.0 {
            Of::PostgreSql(_) => Kind::PostgreSql,
            Of::MySql(_) => Kind::MySql,
            Of::SqlServer(_) => Kind::SqlServer,
        }
    }

    /// Whether the server is meant to be on this host: its name is one of the loopback, or a
    /// socket.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match &self.0 {
            Of::PostgreSql(url) => url.is_local(),
            Of::MySql(MySqlUrl { address, .. }) | Of::SqlServer(SqlServerUrl { address, .. }) => {
                address.parameter("socket").is_some() || servers::is_loopback(&address.host)
            }
        }
    }

    pub(crate) fn of(&self) -> &Of {
        &self.0
    }
}

fn kind_of(text: &str) -> Option<Kind> {
    match text.split_once("://")?.0 {
        "postgres" | "postgresql" => Some(Kind::PostgreSql),
        "mysql" | "mariadb" => Some(Kind::MySql),
        "sqlserver" | "mssql" => Some(Kind::SqlServer),
        _ => None,
    }
}

fn parse(kind: Kind, text: &str) -> Result<Of, String> {
    if text.split_once('?').is_some_and(|(_, query)| query.contains('@')) {
        return Err("there is an `@` after a `?`: in a password write %3F for `?`, elsewhere %40 \
                    for `@`"
            .to_owned());
    }
    match kind {
        Kind::PostgreSql => {
            let url = ServerUrl::parse(text).map_err(|error| error.0)?;
            Ok(Of::PostgreSql(url))
        }
        Kind::MySql => {
            let address = Address::parse(text, MYSQL)?;
            let ssl = ssl_mode(address.parameter("ssl-mode"))?;
            Ok(Of::MySql(MySqlUrl { address, ssl }))
        }
        Kind::SqlServer => {
            let address = Address::parse(text, SQL_SERVER)?;
            let encrypt = match truth(address.parameter("encrypt"), "encrypt")? {
                Some(false) => Encrypt::Login,
                _ => Encrypt::Everything,
            };
            let name = "trust-server-certificate";
            let any_certificate = truth(address.parameter(name), name)?.unwrap_or(false);
            Ok(Of::SqlServer(SqlServerUrl { address, encrypt, any_certificate }))
        }
    }
}

fn ssl_mode(value: Option<&str>) -> Result<SslMode, String> {
    let value = value.map(|value| value.to_ascii_lowercase().replace('_', "-"));
    match value.as_deref() {
        None | Some("preferred") => Ok(SslMode::Preferred),
        Some("disabled") => Ok(SslMode::Disabled),
        Some("required" | "verify-ca" | "verify-identity") => Ok(SslMode::Verified),
        Some(_) => {
            Err("`ssl-mode` can be disabled, preferred, required or verify-identity".to_owned())
        }
    }
}

fn truth(value: Option<&str>, name: &str) -> Result<Option<bool>, String> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        None => Ok(None),
        Some("yes" | "true" | "1" | "mandatory") => Ok(Some(true)),
        Some("no" | "false" | "0" | "optional") => Ok(Some(false)),
        Some(_) => Err(format!("`{name}` can be yes or no")),
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Of::PostgreSql(url) => url.fmt(f),
            Of::MySql(url) => f.write_str(&url.address.shown),
            Of::SqlServer(url) => f.write_str(&url.address.shown),
        }
    }
}

/// The written form contains no password.
impl Serialize for DatabaseUrl {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

/// The form that is read must not contain one either: people share these files.
impl<'de> Deserialize<'de> for DatabaseUrl {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let url = Self::parse(&text).map_err(D::Error::custom)?;
        if url.to_string() == text {
            return Ok(url);
        }
        Err(D::Error::custom(format!(
            "the URL of a database in a file must not hold a password: write `{url}`, and set \
             PGPASSWORD, MYSQL_PWD or SQLCMDPASSWORD, or use ~/.pgpass"
        )))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_scheme_says_what_it_is() {
        for (text, kind) in [
            ("postgres://db/x", Kind::PostgreSql),
            ("postgresql://db", Kind::PostgreSql),
            ("mysql://db", Kind::MySql),
            ("mariadb://db", Kind::MySql),
            ("sqlserver://db", Kind::SqlServer),
            ("mssql://db", Kind::SqlServer),
        ] {
            assert_eq!(DatabaseUrl::parse(text).unwrap().kind(), kind, "{text}");
        }
        for text in ["", "oracle://db", "db:5432", "postgres:/db"] {
            assert!(!DatabaseUrl::is_one(text));
            let error = DatabaseUrl::parse(text).unwrap_err();
            assert!(matches!(error, DatabaseError::UnknownScheme), "{text}: {error}");
        }
    }

    #[test]
    fn what_the_parameters_mean() {
        let of = |text: &str| DatabaseUrl::parse(text).unwrap().0;
        let Of::MySql(url) = of("mysql://db?ssl-mode=VERIFY_CA") else { panic!() };
        assert_eq!(url.ssl, SslMode::Verified);
        let Of::SqlServer(url) = of("mssql://db") else { panic!() };
        assert_eq!((url.encrypt, url.any_certificate), (Encrypt::Everything, false));
        let Of::SqlServer(url) = of("mssql://db?encrypt=no&trust_server_certificate=true") else {
            panic!()
        };
        assert_eq!((url.encrypt, url.any_certificate), (Encrypt::Login, true));
        for text in ["mysql://db?ssl-mode=maybe", "mssql://db?encrypt=perhaps"] {
            assert!(DatabaseUrl::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_loopback_and_sockets_are_here() {
        for (text, here) in [
            ("postgres://localhost/x", true),
            ("postgres://127.0.0.1:5433", true),
            ("postgres://%2Frun%2Fpostgresql/x", true),
            ("postgres://db.example,localhost/x", false),
            ("mysql://[::1]:3306", true),
            ("mysql://db?socket=/run/mysqld/mysqld.sock", true),
            ("mssql://192.0.2.7", false),
        ] {
            assert_eq!(DatabaseUrl::parse(text).unwrap().is_local(), here, "{text}");
        }
    }

    /// What a password could be, with a mark in it that is nowhere else.
    fn password() -> impl Strategy<Value = String> {
        ("[ -~]{0,8}", "[ -~]{0,8}").prop_map(|(a, b)| format!("{a}Zq9xK{b}"))
    }

    proptest! {
        /// A password is never shown: neither escaped nor as it is, neither by a URL nor by an
        /// error.
        #[test]
        fn no_password_is_shown(
            scheme in "(postgres|mysql|mariadb|sqlserver|mssql)",
            password in password(),
            tail in "(|/shop|:99999|:x|/shop\\?a=b|\\?sslmode=maybe)",
            escaped in any::<bool>(),
        ) {
            let written = if escaped {
                utf8_percent_encode(&password, NON_ALPHANUMERIC).to_string()
            } else {
                password.clone()
            };
            let text = format!("{scheme}://anna:{written}@db.example{tail}");
            let shown = match DatabaseUrl::parse(&text) {
                Ok(url) => format!("{url} {url:?} {}", serde_json::to_string(&url).unwrap()),
                Err(error) => format!("{error} {error:?}"),
            };
            prop_assert!(!shown.contains("Zq9xK"), "{}", shown);
            let read = serde_json::from_value::<DatabaseUrl>(text.into());
            let refused = read.expect_err("a file that holds a password is refused").to_string();
            prop_assert!(!refused.contains("Zq9xK"), "{}", refused);
        }

        /// A password that is escaped arrives.
        #[test]
        fn an_escaped_password_arrives(password in ".{1,16}") {
            let written = utf8_percent_encode(&password, NON_ALPHANUMERIC);
            let url = DatabaseUrl::parse(&format!("mysql://anna:{written}@db:3307/x")).unwrap();
            let Of::MySql(url) = url.0 else { panic!() };
            prop_assert_eq!(url.address.password.as_deref(), Some(password.as_str()));
            prop_assert_eq!(url.address.port, Some(3307));
        }

        /// Any text is a URL or an error.
        #[test]
        fn nothing_panics(text in ".{0,60}", scheme in "(postgres|mysql|mssql)") {
            let _ = DatabaseUrl::parse(&text);
            let _ = DatabaseUrl::parse(&format!("{scheme}://{text}"));
        }
    }
}
