//! Records what other tools measured: thousands of measurements at once, in one transaction.

use results::{Document, Environment, Load, Measurement};

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::parts::{self, Parts};
use crate::record::{self, end_of, unreadable, words};
use crate::value::values;
use crate::{environment, skeleton};

/// Takes measurements within a single transaction.
pub(crate) struct Taker<'a> {
    connection: &'a Connection,
    /// That of the measurement before, and its number: those of a log have the same.
    environment: Option<(Environment, i64)>,
}

impl<'a> Taker<'a> {
    /// A taker that has taken nothing.
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, environment: None }
    }

    /// Keeps a measurement as a whole result, as [`record::add`] does, with a sixth of the
    /// statements. False where there is a result of its name.
    pub(crate) fn take(&mut self, measurement: Measurement) -> Result<bool, HistoryError> {
        let connection = self.connection;
        let document = Document::Measurement(Box::new(measurement));
        let taken = self.begin(&document)?;
        let (Some((number, row)), Document::Measurement(mut measurement)) = (taken, document)
        else {
            return Ok(false);
        };
        let failed = |e: serde_json::Error| unreadable(connection, &row.measurement_id, &e);
        if parts::is_plain(&measurement) {
            let (set_up, free_memory) = parts::take_set_up(&mut measurement);
            let environment = self.number_of(set_up)?;
            let parts = Parts::of_plain(&measurement, free_memory).map_err(failed)?;
            record::put(connection, (number, environment), &row, &parts)?;
        } else {
            let parts = parts::take_apart(&measurement).map_err(failed)?;
            let environment =
                environment::number_of(connection, &measurement.environment, &parts.environment)?;
            record::put(connection, (number, environment), &row, &parts)?;
        }
        Ok(true)
    }

    /// Makes the row of the result, with its document; `None` if its name is taken.
    fn begin(&self, document: &Document) -> Result<Option<(i64, Load)>, HistoryError> {
        let Document::Measurement(measurement) = document else { return Ok(None) };
        let (id, kind, title) = (document.id(), document.kind(), document.title());
        let row = Load::of(measurement, id, kind, 0);
        let device = measurement.environment.device();
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        let words = words(&[id, kind, &title, &text(&row.host), &row.target, &text(&device)]);
        let sql = "INSERT INTO experiments (id, schema, kind, title, started, finished, status, \
                   plan_id, targets, measurements, best_iops, best_mib_per_s, tool_version, host, \
                   device, engine, file_bytes, words) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, \
                   $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT (id) DO NOTHING";
        let values = values![
            id,
            document.schema(),
            kind,
            title,
            document.started(),
            end_of(document),
            document.status().word(),
            "",
            &row.target,
            1_u32,
            row.iops,
            row.mib_per_s,
            &row.tool_version,
            row.host.as_ref(),
            device,
            &row.engine,
            row.file_bytes,
            words
        ];
        let Some(number) = self.connection.insert_numbered(sql, values)? else {
            return Ok(None);
        };
        let sql = "INSERT INTO documents (experiment, plan, document) VALUES ($1, $2, $3)";
        let reference = skeleton::reference(id).to_string();
        self.connection.execute(sql, values![number, "null", reference])?;
        Ok(Some((number, row)))
    }

    /// The number of the row of a set-up without storage.
    fn number_of(&mut self, set_up: Environment) -> Result<i64, HistoryError> {
        if let Some((_, number)) = self.environment.as_ref().filter(|(e, _)| *e == set_up) {
            return Ok(*number);
        }
        let document = parts::set_up_document(&set_up);
        let document = document.map_err(|e| unreadable(self.connection, "an environment", &e))?;
        let number = environment::number_of(self.connection, &set_up, &document)?;
        self.environment = Some((set_up, number));
        Ok(number)
    }
}
