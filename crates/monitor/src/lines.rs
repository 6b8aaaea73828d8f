//! JSON lines: one object per event. The caller flushes them. docs/monitor.md describes them.

use counters::{DISK_FIELDS, DiskTally, Field, SYSTEM_FIELDS, Span};
use results::RecordedRow;
use serde_json::{Map, Value, json};

use crate::watch::{AlertEvent, Event, Observation, WatchStart};

/// The line of an event, without its end.
#[must_use]
pub fn line(event: &Event) -> String {
    value(event).to_string()
}

fn value(event: &Event) -> Value {
    match event {
        Event::Began(WatchStart { unix, interval, devices, chains: _ }) => json!({
            "event": "began",
            "at": moment(*unix),
            "interval_ns": u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            "devices": devices,
        }),
        Event::Window(observation) => window(observation),
        Event::Alert(AlertEvent { condition, device, begins, figure, from_s, t }) => json!({
            "event": if *begins { "alert_began" } else { "alert_ended" },
            "t": t,
            "condition": condition,
            "device": device,
            "figure": figure,
            "from_s": from_s,
        }),
        Event::Notice { text } => json!({ "event": "notice", "text": text }),
    }
}

/// A time of the day, RFC 3339, UTC, in milliseconds.
#[must_use]
pub fn moment(unix: std::time::Duration) -> String {
    let ms = i64::try_from(unix.as_millis()).unwrap_or(i64::MAX);
    let moment = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    format!("{moment:.3}")
}

/// Figures by name; null where there is nothing to say.
#[must_use]
pub fn figures<T>(fields: &[Field<T>], amounts: &T, span: Span) -> Map<String, Value> {
    let figure = |field: &Field<T>| (field.name.to_owned(), json!(field.of(amounts, span)));
    fields.iter().map(figure).collect()
}

fn window(o: &Observation) -> Value {
    let span = Span { seconds: o.window.seconds, readings: 1 };
    let disk = |(name, tally): &(String, DiskTally)| {
        (name.clone(), Value::Object(figures(&DISK_FIELDS, tally, span)))
    };
    let core = |core: &counters::CoreTally| {
        let share = |ticks: Option<u64>| core.cpu.percent(ticks?);
        json!({
            "core": core.core,
            "busy_percent": share(Some(core.cpu.busy_ticks)),
            "iowait_percent": share(core.cpu.iowait_ticks),
            "steal_percent": share(core.cpu.steal_ticks),
        })
    };
    let mut line = json!({
        "event": "window",
        "at": moment(o.unix),
        "t": o.t,
        "seconds": o.window.seconds,
        "devices": o.window.disks.iter().map(disk).collect::<Map<_, _>>(),
        "missing": o.window.missing,
        "system": figures(&SYSTEM_FIELDS, &o.window.system, span),
        "cores": o.window.cores.iter().map(core).collect::<Vec<_>>(),
    });
    if !o.rows.is_empty() {
        line["rows"] = o.rows.iter().map(row).collect();
    }
    line
}

fn row(row: &RecordedRow) -> Value {
    let mut line = json!({ "source": row.source, "object": row.object, "seconds": row.seconds });
    for (name, figure) in row.figures() {
        line[name] = json!(figure);
    }
    line["counters"] = json!(row.counters);
    line
}
