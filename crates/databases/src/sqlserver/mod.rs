//! SQL Server: what `sys.dm_io_virtual_file_stats` counts for each file of each database.

mod channel;
mod greeting;
mod rows;

use std::time::Duration;

use tiberius::{AuthMethod, Client, Config, EncryptionLevel, SqlBrowser};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use channel::Channel;

use crate::address::Address;
use crate::error::DatabaseError;
use crate::record::{self, Record};
use crate::sample::{Kind, ServerFacts};
use crate::url::SqlServerUrl;
use crate::watched::{Answer, Failure, Source};

const PORT: u16 = 1433;

/// How long a connection, and an answer, are waited for.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(15);

/// A server of Azure sends to another one; that one does not.
const HOPS: usize = 2;

const REMEDY: &str = "the login needs VIEW SERVER STATE (from 2022 on VIEW SERVER PERFORMANCE \
                      STATE, in Azure SQL Database VIEW DATABASE STATE)";

pub(crate) struct SqlServer {
    url: SqlServerUrl,
    runtime: Runtime,
    client: Client<Compat<Channel>>,
    facts: ServerFacts,
    question: String,
}

impl SqlServer {
    /// Connects and looks what edition it is.
    pub(crate) fn connect(url: &SqlServerUrl) -> Result<Self, DatabaseError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| unreachable(url, error.to_string()))?;
        let client = runtime.block_on(async {
            tokio::time::timeout(CONNECT, Box::pin(dial(url)))
                .await
                .map_err(|_| "it does not answer".to_owned())?
        });
        let mut client = client.map_err(|what| unreachable(url, what))?;
        let found = runtime.block_on(ask(&mut client, rows::FACTS));
        let found = found.map_err(|error| refused(url, error.into_text()))?;
        let facts = ServerFacts {
            kind: Kind::SqlServer,
            version: record::text(&found, "version").unwrap_or("of unknown version").to_owned(),
            // Its files are where they are, each in a separate directory.
            data_directory: record::text(&found, "data_directory").map(str::to_owned),
        };
        let question = rows::counters(record::count(&found, "edition"));
        Ok(Self { url: url.clone(), runtime, client, facts, question })
    }
}

impl Source for SqlServer {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn ask(&mut self) -> Result<Answer, Failure> {
        let answer = self.runtime.block_on(ask(&mut self.client, &self.question));
        let answer = answer.map_err(|error| match error {
            Unanswered::Lost(what) => Failure::Lost(unreachable(&self.url, what)),
            Unanswered::Refused(what) => Failure::Other(refused(&self.url, what)),
        })?;
        Ok(rows::interpret(&answer))
    }
}

enum Unanswered {
    Lost(String),
    Refused(String),
}

impl Unanswered {
    fn into_text(self) -> String {
        match self {
            Self::Lost(what) | Self::Refused(what) => what,
        }
    }
}

/// The one JSON object that a statement answers.
async fn ask(client: &mut Client<Compat<Channel>>, sql: &str) -> Result<Record, Unanswered> {
    let asked = async {
        let row = client.simple_query(sql).await?.into_row().await?;
        let text = row.map(|row| row.try_get::<&str, _>(0).map(|text| text.map(str::to_owned)));
        Ok::<_, tiberius::error::Error>(text.transpose()?.flatten())
    };
    let text = match tokio::time::timeout(ANSWER, asked).await {
        Err(_) => return Err(Unanswered::Lost("it does not answer".to_owned())),
        Ok(Err(tiberius::error::Error::Server(said))) => {
            return Err(Unanswered::Refused(said.message().to_owned()));
        }
        Ok(Err(error)) => return Err(Unanswered::Lost(error.to_string())),
        Ok(Ok(text)) => text,
    };
    let text = text.ok_or_else(|| Unanswered::Refused("it has answered no row".to_owned()))?;
    serde_json::from_str(&text)
        .map_err(|error| Unanswered::Refused(format!("its answer is not understood: {error}")))
}

async fn dial(url: &SqlServerUrl) -> Result<Client<Compat<Channel>>, String> {
    let mut config = config(url)?;
    let mut host = url.address.host.clone();
    for _ in 0..HOPS {
        let connected = match url.address.parameter("instance") {
            Some(_) => TcpStream::connect_named(&config).await.map_err(|error| error.to_string()),
            None => TcpStream::connect(config.get_addr()).await.map_err(|error| error.to_string()),
        };
        let stream = connected?;
        // A question is small, and its answer is waited for.
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let channel = channel::open(stream, url, &host).await?;
        match Box::pin(Client::connect(config.clone(), channel.compat_write())).await {
            Err(tiberius::error::Error::Routing { host: next, port }) => {
                config.host(&next);
                config.port(port);
                host = next;
            }
            connected => return connected.map_err(|error| error.to_string()),
        }
    }
    Err("it sends from one server to the next".to_owned())
}

fn config(url: &SqlServerUrl) -> Result<Config, String> {
    let address = &url.address;
    let mut config = Config::new();
    config.host(&address.host);
    match address.parameter("instance") {
        // The port of an instance is asked from the server's browser service, which has this one.
        Some(instance) => {
            config.instance_name(instance);
            config.port(address.port.unwrap_or(1434));
        }
        None => {
            config.port(address.port.unwrap_or(PORT));
        }
    }
    if !address.database.is_empty() {
        config.database(&address.database);
    }
    config.authentication(login(address)?);
    // The channel encrypts, and tells the library nothing of it.
    config.encryption(EncryptionLevel::NotSupported);
    config.application_name("iosonde");
    Ok(config)
}

/// How to log in: as the user that the URL names, or else as the account that runs this program.
fn login(address: &Address) -> Result<AuthMethod, String> {
    if address.user.is_empty() {
        return account();
    }
    let password = address.password.clone().or_else(|| std::env::var("SQLCMDPASSWORD").ok());
    Ok(AuthMethod::sql_server(&address.user, password.unwrap_or_default()))
}

#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "other systems cannot")]
fn account() -> Result<AuthMethod, String> {
    Ok(AuthMethod::Integrated)
}

#[cfg(not(windows))]
fn account() -> Result<AuthMethod, String> {
    Err("the URL names no user, and only on Windows iosonde logs in as the account that runs it; \
         write sqlserver://user@host"
        .to_owned())
}

fn unreachable(url: &SqlServerUrl, what: String) -> DatabaseError {
    DatabaseError::NoConnection { kind: Kind::SqlServer, place: url.address.shown.clone(), what }
}

fn refused(url: &SqlServerUrl, what: String) -> DatabaseError {
    DatabaseError::Refused {
        kind: Kind::SqlServer,
        place: url.address.shown.clone(),
        what,
        remedy: REMEDY,
    }
}

#[cfg(test)]
mod tests {
    use crate::url::{DatabaseUrl, Of};

    use super::*;

    fn login_of(url: &str) -> Result<AuthMethod, String> {
        let url = DatabaseUrl::parse(url).unwrap();
        let Of::SqlServer(url) = url.of() else { panic!() };
        login(&url.address)
    }

    #[test]
    fn a_user_logs_in_with_a_password() {
        for url in ["sqlserver://anna:secret@db", "mssql://anna@db?encrypt=no"] {
            assert!(matches!(login_of(url), Ok(AuthMethod::SqlServer(_))), "{url}");
        }
    }

    /// The account's tokens come from Windows, so that other systems have none.
    #[test]
    fn a_url_without_a_user_is_the_account() {
        for url in ["sqlserver://db", "sqlserver://db:1433/shop?instance=x", "mssql://@db"] {
            #[cfg(windows)]
            assert!(matches!(login_of(url), Ok(AuthMethod::Integrated)), "{url}");
            #[cfg(not(windows))]
            {
                let error = login_of(url).unwrap_err();
                assert!(error.contains("names no user"), "{url}: {error}");
            }
        }
    }
}
