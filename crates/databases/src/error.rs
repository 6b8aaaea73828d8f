//! Why a database cannot be watched.

use crate::sample::Kind;

/// Why a database cannot be watched: what is wrong, where, and what to do about it. It shows no
/// password.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The URL is of no database that we know.
    #[error(
        "the URL of the database is not understood: it has to begin with postgres://, mysql://, \
         mariadb://, sqlserver:// or mssql://"
    )]
    UnknownScheme,
    /// This program was built without the feature `clients`.
    #[error(
        "this build of iosonde cannot connect to databases. Use a package, or the program that \
         `./x build` makes"
    )]
    NoClients,
    /// The URL says something that is not understood.
    #[error("the URL of the database is not understood ({what}); it should be like `{like}`")]
    BadUrl {
        /// What is wrong with the URL.
        what: String,
        /// An example of a correct URL.
        like: &'static str,
    },
    /// The server cannot be reached, or does not let us in.
    #[error(
        "cannot reach the {kind} at `{place}`: {what}; see to the server, the URL and the password"
    )]
    NoConnection {
        /// The kind of database that was expected.
        kind: Kind,
        /// The URL, without its password.
        place: String,
        /// The error of the client or server.
        what: String,
    },
    /// The server does not tell us what it counts.
    #[error("the {kind} at `{place}` does not tell its counters: {what}; {remedy}")]
    Refused {
        /// The kind of database: PostgreSQL, MySQL or SQL Server.
        kind: Kind,
        /// The URL, without its password.
        place: String,
        /// The error of the client or server.
        what: String,
        /// What gives the right to it.
        remedy: &'static str,
    },
}

impl DatabaseError {
    /// Whether the server may answer again later, so that it is worth to ask once more.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::NoConnection { .. } | Self::Refused { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behind a database named `postgres`, the reason was taken for a password: `postgres:***`.
    #[test]
    fn the_reason_is_shown_whatever_the_database_is_called() {
        let error = DatabaseError::NoConnection {
            kind: Kind::PostgreSql,
            place: "postgres://anna@localhost:5432/postgres".to_owned(),
            what: "password missing".to_owned(),
        };
        let text = error.to_string();
        assert_eq!(workload::secrets::concealed(&text), text);
    }
}
