//! The JSON of `iostat -o JSON`: the figures of the text under nearly the same names.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Report, Session, found_in, time_line};
use crate::foreign::{CUT, ForeignError, ForeignRecordings, Reading, sysstat_json};

pub(in crate::foreign) fn is_in(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && text.contains("\"sysstat\"")
        && text.contains("\"disk_device\"")
}

pub(in crate::foreign) fn read(
    text: &str,
    reading: &Reading<'_>,
) -> Result<ForeignRecordings, ForeignError> {
    let (documents, is_cut) = sysstat_json(text)?;
    let hosts = documents.iter().filter_map(|value| value["sysstat"]["hosts"].as_array()).flatten();
    let month_first = text.contains(" AM\"") || text.contains(" PM\"");
    let sessions = hosts.map(|host| {
        let cpus = host["number-of-cpus"].as_u64().and_then(|cpus| u32::try_from(cpus).ok());
        let mut session = Session {
            lines: text.lines().collect(),
            host: host["nodename"].as_str().map(str::to_owned),
            cpus,
            ..Session::default()
        };
        for report in host["statistics"].as_array().into_iter().flatten() {
            session.json(report, month_first, reading);
        }
        session
    });
    let mut sessions: Vec<Session<'_>> = sessions.collect();
    if let Some(last) = sessions.last_mut().filter(|_| is_cut) {
        last.warnings.push(CUT.to_owned());
    }
    found_in(sessions, reading)
}

impl Session<'_> {
    fn json(&mut self, value: &Value, month_first: bool, reading: &Reading<'_>) {
        let mut report = Report::default();
        if let Some(time) = value["timestamp"].as_str() {
            let words: Vec<&str> = time.split_whitespace().collect();
            if let Some((at, is_dated)) = time_line(&words, month_first, reading) {
                report.at = Some(at);
                self.undated |= !is_dated;
                self.local |= words.len() > 1;
            }
        }
        report.cpu = value["avg-cpu"].as_object().map(figures).unwrap_or_default();
        for disk in value["disk"].as_array().into_iter().flatten().filter_map(Value::as_object) {
            if let Some(name) = disk.get("disk_device").and_then(Value::as_str) {
                report.device(name).extend(figures(disk));
            }
        }
        self.reports.push(report);
    }
}

/// The numbers of an object by the names of the text's columns, of which shares have a `%`.
fn figures(object: &Map<String, Value>) -> HashMap<String, f64> {
    let shares = ["user", "nice", "system", "iowait", "steal", "idle", "util"];
    let figure = |(name, value): (&String, &Value)| {
        let sign = if shares.contains(&&**name) { "%" } else { "" };
        Some((format!("{sign}{name}"), value.as_f64()?))
    };
    object.iter().filter_map(figure).collect()
}
