//! The client: connects to the server of a URL.

use std::path::PathBuf;

use postgres::{Client, Config, NoTls};

use crate::passwords::{self, Found};
use crate::{ServerUrl, Tls, tls};

/// Why the client could not connect.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The server, or the way to it.
    #[error("{}", whole(.0))]
    Postgres(#[from] postgres::Error),
    /// The same, where the password file is not used because others may read it.
    #[error(
        "{}; `{}` is not read for a password because others can read it: chmod 600 {}",
        whole(error),
        file.display(),
        inspect::shell_word(file)
    )]
    OpenFile {
        /// The password file.
        file: PathBuf,
        /// Why the connection was refused.
        error: postgres::Error,
    },
    /// The certificates of this system, or the way TLS is set up.
    #[error("no encrypted connection can be made: {0}")]
    Tls(String),
}

/// Connects as a URL says. `config` is [`ServerUrl::config`] with what else is wanted.
///
/// Without a password in the URL, the one of `PGPASSWORD` or of the password file is taken, as
/// libpq does it.
pub fn connect(url: &ServerUrl, mut config: Config) -> Result<Client, ConnectError> {
    let mut open = None;
    if config.get_password().is_none() {
        match passwords::find(&config) {
            Found::Password(password) => {
                config.password(password);
            }
            Found::Open(file) => open = Some(file),
            Found::Nothing => {}
        }
    }
    let client = if url.tls() == Tls::Never {
        config.connect(NoTls)
    } else {
        config.connect(tls::connector(url.tls() == Tls::Verified).map_err(ConnectError::Tls)?)
    };
    client.map_err(|error| match open {
        // A server that cannot be reached asks for no password.
        Some(file) if whole(&error).contains("password") => ConnectError::OpenFile { file, error },
        _ => ConnectError::Postgres(error),
    })
}

/// An error of PostgreSQL in full: it names only its kind itself; the reason is in what caused it.
#[must_use]
pub fn whole(error: &postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let detail = said.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail}", said.message());
    }
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// Whether an error means that the connection to the server is lost.
#[must_use]
pub fn is_lost(error: &postgres::Error) -> bool {
    // 57P01 to 57P03: the server shuts down, or an administrator ended the session.
    error.is_closed() || error.code().is_some_and(|state| state.code().starts_with("57P"))
}
