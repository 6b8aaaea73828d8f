//! A connection to a database that is asked again and again.

use std::time::Instant;

use crate::error::DatabaseError;
use crate::sample::{DatabaseSample, NamedCounter, ObjectCounters, ServerFacts};
use crate::url::DatabaseUrl;

/// What one question came to, before it is known when it was asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) database_at_ns: Option<u64>,
    pub(crate) instance: String,
    pub(crate) uptime_s: Option<u64>,
    pub(crate) objects: Vec<ObjectCounters>,
    pub(crate) counters: Vec<NamedCounter>,
    pub(crate) notes: Vec<String>,
}

/// A connection to one kind of database.
pub(crate) trait Source: Send {
    /// What is known about the server since the connection was made.
    fn facts(&self) -> &ServerFacts;

    /// Reads all counters of the database.
    fn ask(&mut self) -> Result<Answer, Failure>;
}

#[cfg(not(feature = "clients"))]
fn connect(_: &DatabaseUrl) -> Result<Box<dyn Source>, DatabaseError> {
    Err(DatabaseError::NoClients)
}

#[cfg(feature = "clients")]
fn connect(url: &DatabaseUrl) -> Result<Box<dyn Source>, DatabaseError> {
    use crate::mysql::MySql;
    use crate::postgres::PostgreSql;
    use crate::sqlserver::SqlServer;
    use crate::url::Of;

    Ok(match url.of() {
        Of::PostgreSql(server) => Box::new(PostgreSql::connect(server)?),
        Of::MySql(server) => Box::new(MySql::connect(server)?),
        Of::SqlServer(server) => Box::new(SqlServer::connect(server)?),
    })
}

/// Why a question has no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection is lost, so it is made anew.
    Lost(DatabaseError),
    /// Any other error, such as a missing privilege.
    Other(DatabaseError),
}

impl Failure {
    fn into_error(self) -> DatabaseError {
        match self {
            Self::Lost(error) | Self::Other(error) => error,
        }
    }
}

/// A database that is sampled again and again.
pub struct Watched {
    url: DatabaseUrl,
    begun: Instant,
    reconnections: u32,
    /// None after the connection was lost and could not be made again.
    database: Option<Box<dyn Source>>,
    facts: ServerFacts,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watched({}, {:?})", self.url, self.facts)
    }
}

impl Watched {
    /// Connects. This waits for the server, ten seconds at most.
    pub fn connect(url: &DatabaseUrl) -> Result<Self, DatabaseError> {
        let database = connect(url)?;
        let facts = database.facts().clone();
        Ok(Self {
            url: url.clone(),
            begun: Instant::now(),
            reconnections: 0,
            database: Some(database),
            facts,
        })
    }

    /// The URL, which shows no password.
    #[must_use]
    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// The facts about the server that answered last.
    #[must_use]
    pub fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    /// Reads all counters. A connection that is lost is made anew, once; after an error the next
    /// call tries again.
    pub fn sample(&mut self) -> Result<DatabaseSample, DatabaseError> {
        let asked = Instant::now();
        match self.ask() {
            Ok(answer) => Ok(self.dated(answer, asked)),
            Err(Failure::Other(error)) => {
                // What there is may have changed: it is looked at again with the next connection.
                self.database = None;
                Err(error)
            }
            Err(Failure::Lost(_)) => {
                self.database = None;
                let asked = Instant::now();
                let answer = self.ask().map_err(Failure::into_error)?;
                Ok(self.dated(answer, asked))
            }
        }
    }

    fn ask(&mut self) -> Result<Answer, Failure> {
        if self.database.is_none() {
            let database = connect(&self.url).map_err(Failure::Other)?;
            self.facts = database.facts().clone();
            self.reconnections = self.reconnections.saturating_add(1);
            self.database = Some(database);
        }
        match &mut self.database {
            Some(database) => database.ask(),
            None => Ok(Answer::default()),
        }
    }

    /// The counters were read between question and answer; nobody knows better than in the middle.
    fn dated(&self, answer: Answer, asked: Instant) -> DatabaseSample {
        let at = asked.duration_since(self.begun) + asked.elapsed() / 2;
        DatabaseSample {
            at_ns: u64::try_from(at.as_nanos()).unwrap_or(u64::MAX),
            database_at_ns: answer.database_at_ns,
            instance: answer.instance,
            uptime_s: answer.uptime_s,
            reconnections: self.reconnections,
            objects: answer.objects,
            counters: answer.counters,
            notes: answer.notes,
        }
    }
}
