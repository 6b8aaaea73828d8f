//! PostgreSQL through the common interface.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;

use postgres::Client;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use servers::ServerUrl;

use super::Use;
use crate::error::HistoryError;
use crate::place::Place;
use crate::value::Value;

/// The schema of the database that holds our tables.
pub(crate) const SCHEMA: &str = "iosonde";

/// A connection to a PostgreSQL server.
pub(crate) struct Postgres {
    url: ServerUrl,
    used: Use,
    client: RefCell<Client>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Postgres({}, {:?})", self.url, self.used)
    }
}

/// As the type that the statement has at this place.
impl ToSql for Value {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            #[expect(clippy::cast_precision_loss, reason = "as SQLite does it")]
            Self::Integer(number) if *of == Type::FLOAT8 => (*number as f64).to_sql(of, out),
            Self::Integer(number) if *of == Type::INT4 => i32::try_from(*number)?.to_sql(of, out),
            Self::Integer(number) => number.to_sql(of, out),
            Self::Real(number) => number.to_sql(of, out),
            Self::Text(text) => text.to_sql(of, out),
        }
    }

    fn accepts(of: &Type) -> bool {
        [Type::INT8, Type::INT4, Type::FLOAT8, Type::TEXT, Type::VARCHAR].contains(of)
    }

    to_sql_checked!();
}

impl Postgres {
    /// Connects, and prepares the session for its use.
    pub(crate) fn open(url: &ServerUrl, used: Use) -> Result<Self, HistoryError> {
        let client = RefCell::new(connect(url, used)?);
        Ok(Self { url: url.clone(), used, client })
    }

    /// Connects once more, after the server was gone.
    pub(crate) fn connect_again(&self) -> Result<(), HistoryError> {
        let client = connect(&self.url, self.used)?;
        self.client.replace(client);
        Ok(())
    }

    /// Does a statement; how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, postgres::Error> {
        self.client.borrow_mut().execute(sql, &parameters(values))
    }

    /// Runs several statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), postgres::Error> {
        self.client.borrow_mut().batch_execute(sql)
    }

    /// Runs a query and returns every row.
    pub(crate) fn query(
        &self,
        sql: &str,
        values: &[Value],
    ) -> Result<Vec<Vec<Value>>, postgres::Error> {
        let rows = self.client.borrow_mut().query(sql, &parameters(values))?;
        let row = |row: &postgres::Row| (0..row.len()).map(|column| value(row, column)).collect();
        rows.iter().map(row).collect()
    }
}

fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

fn value(row: &postgres::Row, column: usize) -> Result<Value, postgres::Error> {
    let of = row.columns().get(column).map_or(&Type::TEXT, postgres::Column::type_);
    Ok(match *of {
        Type::BOOL => row.try_get::<_, Option<bool>>(column)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(column)?.map(i64::from).into(),
        Type::INT8 => row.try_get::<_, Option<i64>>(column)?.into(),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(column)?.into(),
        _ => row.try_get::<_, Option<String>>(column)?.into(),
    })
}

/// Connects as the URL says, and to our tables.
fn connect(url: &ServerUrl, used: Use) -> Result<Client, HistoryError> {
    let place = || Place::Postgres(url.clone());
    let mut config = url.config()?;
    let options = config.get_options().unwrap_or_default().to_owned();
    // Live events wait for no disk; a statement that waits for other sessions is given up in the
    // end.
    let (commit, wait) = if used == Use::Live { ("off", "1s") } else { ("on", "30s") };
    config.options(&format!(
        "{options} -c search_path={SCHEMA} -c synchronous_commit={commit} -c lock_timeout={wait} \
         -c client_min_messages=warning"
    ));
    servers::connect(url, config)
        .map_err(|source| HistoryError::NoConnection { place: place(), source: source.into() })
}
