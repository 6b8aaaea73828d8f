//! MySQL and MariaDB: the file I/O of the performance schema, and InnoDB's status.

mod rows;

use std::time::Duration;

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, OptsBuilder, Row, SslOpts, Value};

use crate::error::DatabaseError;
use crate::record::{self, Record};
use crate::sample::{Kind, ServerFacts};
use crate::tls;
use crate::url::{MySqlUrl, SslMode};
use crate::watched::{Answer, Failure, Source};

use self::rows::FileDetail;

const PORT: u16 = 3306;

/// How long a connection, and an answer, are waited for.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(15);

/// Above this many files, rows are per kind of file: every second, the server would have to write
/// thousands of rows.
const FILES_MAX: u64 = 2000;

const REMEDY: &str = "the user needs: GRANT SELECT ON performance_schema.* TO the user";

const FACTS: &str = "SELECT VERSION() AS `version`, @@datadir AS `data_directory`, @@hostname AS \
                     `host`, @@port AS `port`, @@performance_schema AS `performance_schema`";

/// Statements of which one or the other is understood: MySQL's and MariaDB's.
const SESSION: [&str; 4] = [
    "SET SESSION TRANSACTION READ ONLY",
    "SET SESSION lock_wait_timeout = 2",
    "SET SESSION max_execution_time = 10000",
    "SET SESSION max_statement_time = 10",
];

const INSTRUMENTS: &str = "SELECT NAME AS `name`, ENABLED AS `enabled`, TIMED AS `timed` FROM \
                           performance_schema.setup_instruments WHERE NAME LIKE 'wait/io/file/%' \
                           AND (ENABLED = 'NO' OR TIMED = 'NO')";

const CONSUMERS: &str = "SELECT NAME AS `name` FROM performance_schema.setup_consumers WHERE NAME \
                         = 'global_instrumentation' AND ENABLED = 'NO'";

const FILES: &str = "SELECT COUNT(*) AS `files` FROM performance_schema.file_summary_by_instance";

const CLOCK: &str = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS UNSIGNED) AS `at_us`";

pub(crate) struct MySql {
    url: MySqlUrl,
    connection: Conn,
    facts: ServerFacts,
    /// The server's own identity, by which a restart or another server is noticed.
    instance: String,
    given: FileDetail,
    notes: Vec<String>,
}

impl MySql {
    /// Connects, and looks what the performance schema gives.
    pub(crate) fn connect(url: &MySqlUrl) -> Result<Self, DatabaseError> {
        let mut connection = open(url)?;
        for statement in SESSION {
            // Each is known to some versions only.
            let _ = connection.query_drop(statement);
        }
        let facts = rows_of(&mut connection, FACTS).map_err(|error| refused(url, &error))?;
        let facts = facts.into_iter().next().unwrap_or_default();
        let text = |name| record::text(&facts, name).unwrap_or_default();
        let version = text("version").to_owned();
        let (given, notes) = look(&mut connection, record::is_on(&facts, "performance_schema"));
        Ok(Self {
            url: url.clone(),
            connection,
            instance: format!("{}:{}", text("host"), text("port")),
            facts: ServerFacts {
                kind: Kind::MySql,
                version,
                data_directory: Some(text("data_directory").to_owned()).filter(|d| !d.is_empty()),
            },
            given,
            notes,
        })
    }

    fn answer(&mut self) -> Result<Record, ::mysql::Error> {
        let mut answer = Record::new();
        let clock = rows_of(&mut self.connection, CLOCK)?;
        answer.extend(clock.into_iter().flatten());
        let status = rows_of(&mut self.connection, &rows::status_question())?;
        answer.insert("status".to_owned(), status.into());
        if let Some(question) = rows::files_question(self.given) {
            let files = rows_of(&mut self.connection, &question)?;
            answer.insert("files".to_owned(), files.into());
        }
        Ok(answer)
    }
}

impl Source for MySql {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn ask(&mut self) -> Result<Answer, Failure> {
        let answer = self.answer().map_err(|error| {
            if is_lost(&error) {
                Failure::Lost(unreachable(&self.url, error.to_string()))
            } else {
                Failure::Other(refused(&self.url, &error))
            }
        })?;
        let mut sample = rows::interpret(&answer, &self.facts);
        sample.instance.clone_from(&self.instance);
        sample.notes.extend(self.notes.iter().cloned());
        Ok(sample)
    }
}

/// What the performance schema gives to this user, and what it does not.
fn look(connection: &mut Conn, is_on: bool) -> (FileDetail, Vec<String>) {
    if !is_on {
        let note = "performance_schema is off, so neither files nor times are counted: start the \
                    server with performance_schema=ON";
        return (FileDetail::StatusOnly, vec![note.to_owned()]);
    }
    let files = match rows_of(connection, FILES) {
        Ok(rows) => rows.first().and_then(|row| record::count(row, "files")).unwrap_or(0),
        Err(error) => {
            return (
                FileDetail::StatusOnly,
                vec![format!("files are not reported ({error}): {REMEDY}")],
            );
        }
    };
    let mut notes = Vec::new();
    let given = if files > FILES_MAX { FileDetail::KindsOfFiles } else { FileDetail::Files };
    if given == FileDetail::KindsOfFiles {
        notes.push(format!(
            "{files} files are open, so rows are for kinds of files; up to {FILES_MAX} would have \
             a row each"
        ));
    }
    match rows_of(connection, CONSUMERS) {
        Ok(rows) if !rows.is_empty() => notes.push(
            "nothing is counted: UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' \
             WHERE NAME = 'global_instrumentation'"
                .to_owned(),
        ),
        _ => {}
    }
    if let Ok(instruments) = rows_of(connection, INSTRUMENTS) {
        notes.extend(rows::instrument_notes(&instruments));
    }
    (given, notes)
}

fn open(url: &MySqlUrl) -> Result<Conn, DatabaseError> {
    tls::choose_provider();
    let encrypted = match url.ssl {
        SslMode::Disabled => {
            return dial(url, None).map_err(|error| unreachable(url, error.to_string()));
        }
        SslMode::Preferred => SslOpts::default().with_danger_accept_invalid_certs(true),
        SslMode::Verified => SslOpts::default().with_root_cert_path(trusted(url)),
    };
    match dial(url, Some(encrypted)) {
        Err(::mysql::Error::DriverError(::mysql::DriverError::TlsNotSupported))
            if url.ssl == SslMode::Preferred =>
        {
            dial(url, None)
        }
        connected => connected,
    }
    .map_err(|error| unreachable(url, error.to_string()))
}

/// The file of certificates to trust in addition to those of the client.
fn trusted(url: &MySqlUrl) -> Option<std::path::PathBuf> {
    let named = url.address.parameter("ssl-ca").map(Into::into);
    named.or_else(|| std::env::var_os("SSL_CERT_FILE").map(Into::into))
}

fn dial(url: &MySqlUrl, ssl: Option<SslOpts>) -> Result<Conn, ::mysql::Error> {
    let address = &url.address;
    let password = address.password.clone().or_else(|| std::env::var("MYSQL_PWD").ok());
    let user = Some(address.user.clone()).filter(|user| !user.is_empty());
    let socket = address.parameter("socket").map(str::to_owned);
    let options = OptsBuilder::new()
        .ip_or_hostname(Some(address.host.clone()))
        .tcp_port(address.port.unwrap_or(PORT))
        .user(user)
        .pass(password)
        .db_name(Some(address.database.clone()).filter(|database| !database.is_empty()))
        // Only where it is asked for: the client would go from the network to a socket by itself.
        .prefer_socket(false)
        .ssl_opts(ssl.filter(|_| socket.is_none()))
        .socket(socket)
        .tcp_connect_timeout(Some(CONNECT))
        .read_timeout(Some(ANSWER))
        .write_timeout(Some(ANSWER))
        .connect_attrs(Some([("program_name", "iosonde")].into()));
    Conn::new(options)
}

/// All rows of an answer; NULL is null, everything else text.
fn rows_of(connection: &mut Conn, sql: &str) -> Result<Vec<Record>, ::mysql::Error> {
    Ok(connection.query::<Row, _>(sql)?.iter().map(record_of).collect())
}

fn record_of(row: &Row) -> Record {
    let columns = row.columns_ref().iter().enumerate();
    columns
        .map(|(index, column)| {
            let value = match row.as_ref(index) {
                None | Some(Value::NULL) => serde_json::Value::Null,
                Some(Value::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned().into(),
                Some(Value::Int(number)) => (*number).into(),
                Some(Value::UInt(number)) => (*number).into(),
                Some(Value::Double(number)) => (*number).into(),
                Some(other) => other.as_sql(true).into(),
            };
            (column.name_str().into_owned(), value)
        })
        .collect()
}

/// Whether the connection is of no more use.
fn is_lost(error: &::mysql::Error) -> bool {
    match error {
        ::mysql::Error::IoError(_) | ::mysql::Error::CodecError(_) => true,
        // 1053: the server shuts down; 1927, 3032, 4031: the connection was ended.
        ::mysql::Error::MySqlError(error) => [1053, 1927, 3032, 4031].contains(&error.code),
        _ => false,
    }
}

fn unreachable(url: &MySqlUrl, what: String) -> DatabaseError {
    DatabaseError::NoConnection { kind: Kind::MySql, place: url.address.shown.clone(), what }
}

fn refused(url: &MySqlUrl, error: &::mysql::Error) -> DatabaseError {
    DatabaseError::Refused {
        kind: Kind::MySql,
        place: url.address.shown.clone(),
        what: error.to_string(),
        remedy: REMEDY,
    }
}
