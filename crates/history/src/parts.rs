//! Splits a measurement into what the tables hold, and puts it together again without loss.
//!
//! Series, histograms and the environment have separate tables; the rest stays JSON. The part of an
//! environment that changes from minute to minute (free memory, free space, and findings about
//! them) stays with the measurement, so that the same set-up is the same row.

use results::{Environment, Measurement, Point, Statistics};
use serde::ser::Error as _;
use serde_json::{Error, Map, Value, json};

/// A measurement in the parts that separate tables hold.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    /// The rest of its document, as JSON.
    pub(crate) rest: String,
    /// The set-up it was made on.
    pub(crate) environment: Value,
    /// Histograms, with their places in the document as JSON pointers.
    pub(crate) histograms: Vec<(String, String)>,
    /// The points of the measured window.
    pub(crate) window: &'a [Point],
    /// The points of the warm-up, before the window.
    pub(crate) warmup: &'a [Point],
}

/// Splits a measurement into the parts that separate tables hold.
pub(crate) fn take_apart(measurement: &Measurement) -> serde_json::Result<Parts<'_>> {
    let mut rest = serde_json::to_value(measurement)?;
    let mut environment = rest.get_mut("environment").map(Value::take).unwrap_or_default();
    let changing = take_changing(&mut environment);
    let mut window = measurement.series.as_slice();
    let mut warmup = measurement.warmup_series.as_slice();
    if let Some(object) = rest.as_object_mut() {
        object.insert("environment".to_owned(), changing);
        for (name, points) in [("series", &mut window), ("warmup_series", &mut warmup)] {
            if points.iter().all(fits) {
                object.remove(name);
            } else {
                *points = &[];
            }
        }
    }
    let mut histograms = Vec::new();
    take_histograms(&mut rest, &mut String::new(), &mut histograms);
    Ok(Parts { rest: rest.to_string(), environment, histograms, window, warmup })
}

/// Whether a measurement has nothing to take out but its environment, and that no storage: as most
/// of other tools.
pub(crate) fn is_plain(m: &Measurement) -> bool {
    let plain = |s: [&Statistics; 4]| s.iter().all(|s| s.histogram.is_none());
    m.series.is_empty()
        && m.warmup_series.is_empty()
        && m.environment.storage.is_empty()
        && m.threads_detail.is_empty()
        && m.hosts.is_empty()
        && m.streams.iter().all(|s| plain([&s.total, &s.read, &s.write, &s.sync]))
        && m.targets.iter().all(|t| plain([&t.total, &t.read, &t.write, &t.sync]))
        && plain([&m.total, &m.read, &m.write, &m.sync])
}

/// Takes the set-up out of a plain measurement, and what changes from minute to minute out of the
/// set-up: the free memory, where there is a host.
pub(crate) fn take_set_up(measurement: &mut Measurement) -> (Environment, Option<u64>) {
    let nowhere = Environment { host: None, storage: Vec::new() };
    let mut set_up = std::mem::replace(&mut measurement.environment, nowhere);
    let free = set_up.host.as_mut().map(|host| std::mem::take(&mut host.memory_available_bytes));
    (set_up, free)
}

/// What the row of a set-up holds of it.
pub(crate) fn set_up_document(set_up: &Environment) -> serde_json::Result<Value> {
    let mut document = serde_json::to_value(set_up)?;
    take_changing(&mut document);
    Ok(document)
}

impl Parts<'_> {
    /// Those of a plain measurement whose set-up was taken: all of it is the rest, with the free
    /// memory of then. A third of the time of [`take_apart`].
    pub(crate) fn of_plain(
        measurement: &Measurement,
        free_memory: Option<u64>,
    ) -> serde_json::Result<Self> {
        let mut rest = serde_json::to_string(measurement)?;
        if let Some(bytes) = free_memory {
            // No text in the document can be the same: its quotes are escaped.
            let empty =
                format!("\"environment\":{}", serde_json::to_string(&measurement.environment)?);
            let at = rest.find(&empty).ok_or_else(|| Error::custom("it has no environment"))?;
            let changing = json!({ "host": { "memory_available_bytes": bytes }, "storage": [] });
            rest.replace_range(at..at + empty.len(), &format!("\"environment\":{changing}"));
        }
        let environment = Value::Null;
        Ok(Self { rest, environment, histograms: Vec::new(), window: &[], warmup: &[] })
    }
}

/// The document of a measurement, from its parts.
pub(crate) fn put_together(
    mut rest: Value,
    environment: Value,
    histograms: Vec<(String, String)>,
    window: Vec<Value>,
    warmup: Vec<Value>,
) -> Value {
    for (place, text) in histograms {
        if let Some(hole) = rest.pointer_mut(&place) {
            *hole = Value::String(text);
        }
    }
    if let Some(object) = rest.as_object_mut() {
        let changing = object.remove("environment").unwrap_or_default();
        object.insert("environment".to_owned(), merged(environment, changing));
        for (name, points) in [("series", window), ("warmup_series", warmup)] {
            object.entry(name).or_insert(Value::Array(points));
        }
    }
    rest
}

/// Whether the columns of the table hold a point exactly. They have no negative zero and no numbers
/// beyond 2^63; points with such stay in the document.
fn fits(point: &Point) -> bool {
    let numbers = [
        Some(point.t),
        Some(point.seconds),
        Some(point.read_iops),
        Some(point.write_iops),
        Some(point.read_mib_per_s),
        Some(point.write_mib_per_s),
        point.read_mean_ns,
        point.write_mean_ns,
    ];
    let counts = [point.read_p99_ns, point.write_p99_ns, point.max_ns, Some(point.errors)];
    numbers.iter().flatten().all(|n| n.is_finite() && !(*n == 0.0 && n.is_sign_negative()))
        && counts.iter().flatten().all(|n| i64::try_from(*n).is_ok())
}

/// Takes out every histogram, leaving nothing in its place.
fn take_histograms(value: &mut Value, place: &mut String, found: &mut Vec<(String, String)>) {
    let length = place.len();
    let mut go_on = |name: &str, child: &mut Value| {
        place.push('/');
        place.push_str(name);
        if name == "histogram" && child.is_string() {
            if let Value::String(text) = child.take() {
                found.push((place.clone(), text));
            }
        } else {
            take_histograms(child, place, found);
        }
        place.truncate(length);
    };
    match value {
        Value::Object(object) => {
            for (name, child) in object.iter_mut().filter(|(_, child)| may_hold(child)) {
                go_on(&escaped(name), child);
            }
        }
        Value::Array(array) => {
            for (n, child) in array.iter_mut().enumerate().filter(|(_, child)| may_hold(child)) {
                go_on(&n.to_string(), child);
            }
        }
        _ => {}
    }
}

/// Whether a value is a histogram, or has parts that may be.
fn may_hold(value: &Value) -> bool {
    value.is_object() || value.is_array() || value.is_string()
}

/// A name in a JSON pointer (RFC 6901).
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Takes out of an environment what changes from minute to minute.
fn take_changing(environment: &mut Value) -> Value {
    let mut changing = Map::new();
    if let Some(host) = environment.get_mut("host").and_then(Value::as_object_mut) {
        let taken = take_names(host, &["memory_available_bytes"]);
        changing.insert("host".to_owned(), taken.into());
    }
    if let Some(storage) = environment.get_mut("storage").and_then(Value::as_array_mut) {
        let each = storage.iter_mut().map(|storage| {
            let Some(storage) = storage.as_object_mut() else { return Value::Null };
            let mut taken = take_names(storage, &["findings"]);
            if let Some(system) = storage.get_mut("file_system").and_then(Value::as_object_mut) {
                let system = take_names(
                    system,
                    &["available_bytes", "used_percent", "reserved_bytes", "errors"],
                );
                taken.insert("file_system".to_owned(), system.into());
            }
            taken.into()
        });
        let each: Vec<Value> = each.collect();
        changing.insert("storage".to_owned(), each.into());
    }
    changing.into()
}

fn take_names(from: &mut Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    names.iter().filter_map(|name| from.remove_entry(*name)).collect()
}

/// One value over another: what both have is merged where it has parts, and replaced where it has
/// none.
fn merged(below: Value, above: Value) -> Value {
    match (below, above) {
        (Value::Object(mut below), Value::Object(above)) => {
            for (name, value) in above {
                let was = below.remove(&name).unwrap_or_default();
                below.insert(name, merged(was, value));
            }
            Value::Object(below)
        }
        (Value::Array(below), Value::Array(above)) if below.len() == above.len() => {
            below.into_iter().zip(above).map(|(below, above)| merged(below, above)).collect()
        }
        (below, Value::Null) => below,
        (_, above) => above,
    }
}
