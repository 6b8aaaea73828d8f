//! SQLIOSim's log, or what it prints at the end, as a recording.
//!
//! The summary of each file has counts over the whole run. Which pages were read and found right it
//! does not say, so this is not a validation: errors are named, and nothing is judged.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use results::{
    Conclusion as _, Environment, Experiment, RecordedPoint, RecordedRow, Recording, Status,
};
use workload::plural;

use super::log::BEGIN;
use crate::foreign::fnv_1a;

/// The name of such files in a phrase.
pub const LOG_ABOUT: &str = "SQLIOSim's log (sqliosim.log.xml)";
/// What the summary of a file begins with.
const SUMMARY: &str = "Final Summary for file ";
/// What an entry of the log has around its text.
const DESCRIPTION: &str = "<EXTENDED_DESCRIPTION>";
/// The remark on a log that somebody cut down to its errors, or whose run did not end.
const NO_SUMMARY: &str = "the log has no final summary, so it counts no I/O: only its errors and \
                          warnings are known";
/// Errors that are named one by one.
const ERRORS_MAX: usize = 20;

/// A text, split into messages, with its errors, its warnings and its times.
#[derive(Default)]
struct Said {
    lines: Vec<String>,
    errors: Vec<String>,
    warnings: Vec<String>,
    first: Option<Moment>,
    last: Option<Moment>,
}

/// When something was said. The day may be one of two.
#[derive(Clone, Copy)]
struct Moment {
    date: Option<Date>,
    time: Time,
}

/// The recording of a text, and notes on reading it; `None` if it is not SQLIOSim's. `file` is the
/// name of the file, `read` the moment (UTC, RFC 3339) to use if the start is not known.
#[must_use]
pub fn recording(
    text: &str,
    file: &str,
    read: &str,
) -> Option<(Experiment<Recording>, Vec<String>)> {
    let has_summary = text.contains(SUMMARY);
    let has_entries = text.contains(BEGIN) && text.contains(DESCRIPTION);
    if !has_summary && !has_entries {
        return None;
    }
    let said = said(text);
    let mut warnings = Vec::new();
    let seconds = said.first.zip(said.last).and_then(|(first, last)| seconds(first, last));
    let started = said.first.and_then(|first| {
        let at = DateTime::from_parts(first.date?, first.time);
        Some(TimeZone::UTC.to_timestamp(at).ok()?.to_string())
    });
    warnings.push(
        match &started {
            Some(_) => "SQLIOSim's log names no time zone: the start is shown as if it were UTC",
            None => "SQLIOSim's log does not say when it ran: the date is that of the file",
        }
        .to_owned(),
    );
    for (kind, all) in [("error", &said.errors), ("warning", &said.warnings)] {
        if !all.is_empty() {
            let kinds = plural(all.len() as u64, kind, &format!("{kind}s"));
            warnings.push(format!("SQLIOSim logged {kinds}"));
        }
        warnings.extend(all.iter().take(ERRORS_MAX).map(|text| format!("SQLIOSim: {text}")));
    }
    let rows = rows(&said.lines, seconds.unwrap_or(0.0));
    let mut notes = Vec::new();
    if !has_summary {
        notes.push(NO_SUMMARY.to_owned());
        warnings.push(NO_SUMMARY.to_owned());
    } else if rows.is_empty() {
        notes.push("the final summaries have no counts of reads and writes".to_owned());
    }
    let mut document = document(rows, seconds, (file, started.as_deref().unwrap_or(read)), text);
    if !has_summary {
        document.status = Status::Interrupted;
        document.method.clear();
    }
    Some((Experiment { warnings, ..document }, notes))
}

fn document(
    rows: Vec<RecordedRow>,
    seconds: Option<f64>,
    (file, started): (&str, &str),
    text: &str,
) -> Experiment<Recording> {
    let mut method = vec![
        "SQLIOSim counted this. Its final summary counts the I/Os of each file over the whole run. \
        The length of the log is taken as that of the run; it includes the making of the files and \
        the last check."
            .to_owned(),
        "SQLIOSim reports one total time for reads and writes together, and no latency of either."
            .to_owned(),
    ];
    method.extend(rows.iter().filter_map(mean_time));
    let targets = rows.iter().map(|row| row.object.clone().into()).collect();
    let length = seconds.unwrap_or(0.0);
    let point =
        RecordedPoint { t: length, seconds: length, windows: 1, rows, ..RecordedPoint::default() };
    let mut recording = Recording {
        name: format!("SQLIOSim of {file}"),
        points: vec![point],
        ..Recording::default()
    };
    recording.sum_up();
    let finished = started.parse::<jiff::Timestamp>().ok().and_then(|at| {
        let span = jiff::SignedDuration::try_from_secs_f64(length).ok()?;
        Some(at.checked_add(span).ok()?.to_string())
    });
    Experiment {
        schema: Recording::SCHEMA.to_owned(),
        id: format!("sqliosim-{:016x}", fnv_1a(text)),
        tool_version: "SQLIOSim".to_owned(),
        finished: finished.unwrap_or_else(|| started.to_owned()),
        started: started.to_owned(),
        status: Status::Complete,
        plan: None,
        targets,
        file_bytes: 0,
        environment: Environment { host: None, storage: Vec::new() },
        conclusion: recording,
        measurements: Vec::new(),
        method,
        warnings: Vec::new(),
    }
}

/// The mean time of all I/Os of a file, in a sentence.
fn mean_time(row: &RecordedRow) -> Option<String> {
    let total_ms = row.counters.get("io_time_ms")?;
    let ios = row.reads?.saturating_add(row.writes?);
    (ios > 0).then(|| {
        let mean = workload::show_ns(total_ms * 1e6 / ios as f64);
        format!("An I/O on {} took {mean} in the mean, reads and writes together.", row.object)
    })
}

/// The messages of a text: the descriptions of entries, otherwise its lines.
fn said(text: &str) -> Said {
    let mut said = Said::default();
    if !text.contains(BEGIN) {
        said.lines = text.lines().map(str::to_owned).collect();
        return said;
    }
    for entry in text.split(BEGIN).skip(1) {
        let Some((head, body)) = entry.split_once('>') else { continue };
        let attribute = |name: &str| {
            let from = head.find(&format!("{name}='"))? + name.len() + 2;
            head.get(from..)?.split('\'').next()
        };
        let description = body
            .split_once(DESCRIPTION)
            .and_then(|(_, rest)| rest.split_once("</EXTENDED_DESCRIPTION>"))
            .map_or("", |(description, _)| description);
        let description = unescaped(description.trim());
        if let Some(moment) = moment(attribute("DATE"), attribute("TIME")) {
            said.first.get_or_insert(moment);
            said.last = Some(moment);
        }
        let kind = attribute("TYPE").unwrap_or_default();
        if kind.starts_with("ERR") {
            said.errors.push(description.clone());
        } else if kind.starts_with("WARN") {
            said.warnings.push(description.clone());
        }
        said.lines.extend(description.lines().map(str::to_owned));
    }
    said
}

fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn moment(date: Option<&str>, time: Option<&str>) -> Option<Moment> {
    let mut clock = time?.split(':').map(|part| part.trim().parse::<i8>());
    let mut next = || clock.next()?.ok();
    let time = Time::new(next()?, next()?, next()?, 0).ok()?;
    Some(Moment { date: date.and_then(day), time })
}

/// `03/28/08`, `28.03.2008`. Of two numbers that may both be months, nobody knows which is.
fn day(text: &str) -> Option<Date> {
    let numbers: Vec<i16> =
        text.split(['/', '.', '-']).map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
    let &[a, b, c] = numbers.as_slice() else { return None };
    let full = |year: i16| if (0..100).contains(&year) { 2000 + year } else { year };
    let (year, month, day) = match (a, b) {
        (1000.., _) => (a, b, c),
        (1..=12, 13..) => (full(c), a, b),
        (13.., 1..=12) => (full(c), b, a),
        (same, other) if same == other => (full(c), a, b),
        _ => return None,
    };
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// From one moment to the other; over midnight where the days are not known.
fn seconds(first: Moment, last: Moment) -> Option<f64> {
    let days = first.date.zip(last.date).map(|(a, b)| (b - a).get_days());
    let of_day = |time: Time| {
        f64::from(time.hour()) * 3600.0 + f64::from(time.minute()) * 60.0 + f64::from(time.second())
    };
    let apart = of_day(last.time) - of_day(first.time);
    let apart = match days {
        Some(days) => apart + f64::from(days) * 86_400.0,
        None if apart < 0.0 => apart + 86_400.0,
        None => apart,
    };
    (apart > 0.0).then_some(apart)
}

/// Makes one row of each summary of a file.
fn rows(lines: &[String], seconds: f64) -> Vec<RecordedRow> {
    let mut rows: Vec<RecordedRow> = Vec::new();
    let mut file: Option<String> = None;
    let mut counters = BTreeMap::new();
    for line in lines {
        if let Some((_, rest)) = line.split_once(SUMMARY) {
            file = Some(rest.trim_end_matches(['*', ' ', '\r']).trim().to_owned());
            counters.clear();
            continue;
        }
        if line.trim_start().starts_with("Target IO Duration") {
            let throttled = count(line, "Number of times IO throttled");
            counters.extend(throttled.map(|n| ("throttled".to_owned(), n as f64)));
        }
        let Some(object) = file.as_ref().filter(|_| line.trim_start().starts_with("Reads = "))
        else {
            continue;
        };
        let sum =
            |one: &str, other: &str| Some(count(line, one)?.saturating_add(count(line, other)?));
        for (name, key) in [
            ("Scatter Reads", "scatter_reads"),
            ("Gather Writes", "gather_writes"),
            ("Total IO Time (ms)", "io_time_ms"),
        ] {
            counters.extend(count(line, name).map(|n| (key.to_owned(), n as f64)));
        }
        rows.push(RecordedRow {
            source: "SQLIOSim".to_owned(),
            object: object.clone(),
            seconds,
            reads: sum("Reads", "Scatter Reads"),
            writes: sum("Writes", "Gather Writes"),
            counters: std::mem::take(&mut counters),
            ..RecordedRow::default()
        });
        file = None;
    }
    rows
}

/// The number after a name in `Reads = 1, Scatter Reads = 2`.
fn count(line: &str, name: &str) -> Option<u64> {
    line.split(',').find_map(|part| {
        let (key, value) = part.split_once('=')?;
        (key.trim() == name).then(|| value.trim().parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// In the form that SQLIOSim writes.
    const LOG: &str = include_str!("../../tests/it/sqliosim/log.xml");
    const READ: &str = "2026-11-27T00:00:00Z";

    #[test]
    fn a_log_is_a_recording_without_a_judgement() {
        let (document, notes) = recording(LOG, "sqliosim.log.xml", READ).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(document.started, "2008-03-28T23:59:30Z");
        assert_eq!(document.finished, "2008-03-29T00:04:30Z");
        let r = &document.conclusion;
        assert_eq!((r.seconds, r.points.len()), (300.0, 1));
        let [row] = r.totals.rows.as_slice() else { panic!("{r:?}") };
        assert_eq!(
            (row.object.as_str(), row.reads, row.writes),
            (r"F:\sqliosim.mdx", Some(1000), Some(1000))
        );
        assert_eq!((row.read_latency_ns(), row.read_bytes), (None, None), "nobody tells them");
        assert_eq!(row.counters["io_time_ms"], 4000.0);
        assert_eq!(row.counters["throttled"], 9006.0);
        assert!(
            document.method.iter().any(|m| m.contains("took 2 ms in the mean")),
            "{document:?}"
        );
        assert!(document.warnings.contains(&"SQLIOSim logged 1 error".to_owned()));
        assert!(document.warnings.iter().any(|w| w.contains("Page: 87366")));
        let json = serde_json::to_string(&document).unwrap();
        assert!(results::Document::parse(&json).is_ok());
    }

    #[test]
    fn what_the_console_printed_is_read_too() {
        let text: Vec<&str> = LOG.lines().skip_while(|l| !l.contains("Final Summary")).collect();
        let text = text.join("\n").replace("<EXTENDED_DESCRIPTION>", "");
        let (document, _) = recording(&text, "x", READ).unwrap();
        assert_eq!(document.started, READ);
        assert!(document.warnings[0].contains("the date is that of the file"));
        // A rate needs a length.
        assert_eq!(document.conclusion.totals.rows[0].figures()[0].1, None);
        assert_eq!(document.conclusion.totals.rows[0].reads, Some(1000));
    }

    /// People keep the errors of a log; without its summary it was of no known format.
    #[test]
    fn errors_without_a_summary_are_a_recording_that_did_not_end() {
        let error = &LOG[LOG.find("<ENTRY TYPE='ERROR'").unwrap()..];
        let error = &error[..error.find("</ENTRY>").unwrap()];
        let (document, notes) = recording(error, "x", READ).unwrap();
        assert_eq!((document.status, notes.len()), (Status::Interrupted, 1));
        assert!(document.conclusion.totals.rows.is_empty() && document.method.is_empty());
        assert!(document.warnings.iter().any(|w| w.contains("Page: 87366")), "{document:?}");
        let json = serde_json::to_string(&document).unwrap();
        assert!(results::Document::parse(&json).is_ok());
    }

    #[test]
    fn other_texts_are_left_alone() {
        assert_eq!(recording("<ENTRY TYPE='INFO'>", "x", READ), None);
        assert_eq!(recording("", "x", READ), None);
    }

    proptest! {
        #[test]
        fn no_damage_panics(at in 0_usize..LOG.len(), length in 0_usize..60,
            with in "[0-9a-zA-Z:/. ,=()<>'\n-]{0,20}") {
            let mut text: Vec<char> = LOG.chars().collect();
            let end = (at + length).min(text.len());
            let at = at.min(end);
            text.splice(at..end, with.chars());
            let text: String = text.into_iter().collect();
            if let Some((document, _)) = recording(&text, "x", READ) {
                let json = serde_json::to_string(&document).unwrap();
                prop_assert!(results::Document::parse(&json).is_ok());
            }
        }
    }
}
