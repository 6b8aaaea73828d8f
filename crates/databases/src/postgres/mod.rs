//! PostgreSQL: its statistics views, read as JSON so that any version's columns will do.

mod question;
mod rows;

use std::time::Duration;

use ::postgres::{Client, SimpleQueryMessage};
use servers::ServerUrl;

use crate::error::DatabaseError;
use crate::record::{self, Record};
use crate::sample::{Kind, ServerFacts};
use crate::watched::{Answer, Failure, Source};

use self::question::Views;

/// What holds for the session: it changes nothing, and waits neither for locks nor for long.
const SESSION: &str = "SET default_transaction_read_only = on; SET statement_timeout = '10s'; SET \
                       lock_timeout = '2s'";

/// A network that no longer answers is given up after this.
const SILENCE: Duration = Duration::from_secs(15);

const REMEDY: &str = "the user needs SELECT on the statistics views, which the role pg_monitor has";

pub(crate) struct PostgreSql {
    url: ServerUrl,
    client: Client,
    facts: ServerFacts,
    question: String,
    /// What can never be had from this server by this user.
    notes: Vec<String>,
}

impl PostgreSql {
    /// Connects and looks which views there are.
    pub(crate) fn connect(url: &ServerUrl) -> Result<Self, DatabaseError> {
        let bad = |what: String| unreachable(url, what);
        let mut config = url.config().map_err(|error| bad(error.0))?;
        config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        let mut client = servers::connect(url, config).map_err(|error| bad(error.to_string()))?;
        client.batch_execute(SESSION).map_err(|error| bad(servers::whole(&error)))?;
        let found = ask(&mut client, question::CATALOGUE);
        let found = found.map_err(|error| refused(url, error.into_text()))?;
        let views = Views::of(&found);
        let facts = ServerFacts {
            kind: Kind::PostgreSql,
            version: record::text(&found, "version").unwrap_or("of unknown version").to_owned(),
            data_directory: record::text(&found, "data_directory").map(str::to_owned),
        };
        let notes = views.notes(&facts);
        Ok(Self { url: url.clone(), client, facts, question: question::counters(&views), notes })
    }
}

impl Source for PostgreSql {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn ask(&mut self) -> Result<Answer, Failure> {
        let answer = ask(&mut self.client, &self.question).map_err(|error| {
            let lost = matches!(&error, Unanswered::Database(error) if servers::is_lost(error));
            let what = error.into_text();
            if lost {
                Failure::Lost(unreachable(&self.url, what))
            } else {
                Failure::Other(refused(&self.url, what))
            }
        })?;
        let mut answer = rows::interpret(&answer);
        answer.notes.extend(self.notes.iter().cloned());
        Ok(answer)
    }
}

enum Unanswered {
    Database(::postgres::Error),
    NoJson(String),
}

impl Unanswered {
    fn into_text(self) -> String {
        match self {
            Self::Database(error) => servers::whole(&error),
            Self::NoJson(what) => what,
        }
    }
}

/// The one object that a statement answers. Not prepared, so that it passes every pooler.
fn ask(client: &mut Client, sql: &str) -> Result<Record, Unanswered> {
    let messages = client.simple_query(sql).map_err(Unanswered::Database)?;
    let text = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    let text = text.ok_or_else(|| Unanswered::NoJson("it has answered no row".to_owned()))?;
    serde_json::from_str(text)
        .map_err(|error| Unanswered::NoJson(format!("its answer is not understood: {error}")))
}

fn unreachable(url: &ServerUrl, what: String) -> DatabaseError {
    DatabaseError::NoConnection { kind: Kind::PostgreSql, place: url.to_string(), what }
}

fn refused(url: &ServerUrl, what: String) -> DatabaseError {
    DatabaseError::Refused { kind: Kind::PostgreSql, place: url.to_string(), what, remedy: REMEDY }
}
