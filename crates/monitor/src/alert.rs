//! Alerts, limits on figures: `write_latency > 20ms for 60s`, `vda.average_queue > 2`, `cpu > 90%`.
//!
//! A condition without a device is watched on each device by itself. It begins once it held for as
//! long as it asks for; windows that have no figure, as an idle device has no latency, neither
//! count for it nor against it, and reset it when they last longer than the time it asks for.

use std::collections::BTreeMap;
use std::str::FromStr;

use counters::{
    DISK_FIELDS, DiskTally, Field, SYSTEM_FIELDS, Span, SystemTally, Unit, disk_field, system_field,
};
use results::{AlertTime, RecordedAlert, show_figure};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use workload::{Bytes, Nanoseconds};

use crate::watch::Observation;

/// A limit. In a plan it is its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Alert {
    text: String,
    device: Option<String>,
    figure: Figure,
    above: bool,
    or_equal: bool,
    limit: f64,
    for_s: f64,
}

#[derive(Debug, Clone, Copy)]
enum Figure {
    Disk(&'static Field<DiskTally>),
    System(&'static Field<SystemTally>),
}

/// Limits by name, with where they come from.
pub const READY: [(&str, &str, &str); 5] = [
    (
        "log",
        "write_latency > 5ms for 60s",
        "transaction logs: 1 to 5 ms (SQL Server: predeployment I/O best practices)",
    ),
    (
        "oltp-data",
        "transfer_latency > 20ms for 60s",
        "data files of OLTP: 4 to 20 ms (SQL Server: predeployment I/O best practices)",
    ),
    (
        "dss-data",
        "transfer_latency > 30ms for 60s",
        "data files of a warehouse: up to 30 ms (SQL Server: predeployment I/O best practices)",
    ),
    ("queue", "average_queue > 2 for 60s", "the old rule of 2 I/Os in the queue of each spindle"),
    ("io-pressure", "io_full > 10% for 60s", "every program that had work waited for I/O"),
];

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AlertError {
    /// The text does not have the form of a condition.
    #[error(
        "`{text}` is not a condition: write FIGURE > LIMIT, with a device and a time if you like, \
         as in `vda.write_latency > 20ms for 60s`, or one of: {ready}",
        ready = names(READY.iter().map(|ready| ready.0))
    )]
    Form {
        /// The condition as it was typed.
        text: String,
    },
    /// The condition names a figure that does not exist.
    #[error("there is no figure `{name}`; there are: {known}", known = known())]
    Figure {
        /// The name that is not a figure.
        name: String,
    },
    /// The limit cannot be read as a value of the figure.
    #[error("`{text}` is not a limit of `{figure}`: write {example}")]
    Limit {
        /// The limit as it was written.
        text: String,
        /// The figure that it is for.
        figure: &'static str,
        /// An example of a limit for it.
        example: &'static str,
    },
    /// The time after `for` is not a time of up to a day.
    #[error("`for {text}`: write a time of up to a day, such as 60s or 5min")]
    For {
        /// The time as it was written.
        text: String,
    },
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn known() -> String {
    let disk = DISK_FIELDS.iter().map(Field::bare_name);
    names(disk.chain(SYSTEM_FIELDS.iter().map(Field::bare_name)))
}

const DAY_S: f64 = 86_400.0;

impl FromStr for Alert {
    type Err = AlertError;

    fn from_str(text: &str) -> Result<Self, AlertError> {
        let text = text.trim();
        for (name, condition, _) in READY {
            let whole = format!("{name}: {condition}");
            if text == name || text == whole {
                return Ok(Self { text: whole, ..condition.parse()? });
            }
        }
        let form = || AlertError::Form { text: text.to_owned() };
        let at = text.find(['>', '<']).ok_or_else(form)?;
        let (left, right) = text.split_at(at);
        let above = right.starts_with('>');
        let right = right.get(1..).unwrap_or_default();
        let (or_equal, right) = match right.strip_prefix('=') {
            Some(rest) => (true, rest),
            None => (false, right),
        };
        let (limit, time) = match right.split_once(" for ") {
            Some((limit, time)) => (limit.trim(), Some(time.trim())),
            None => (right.trim(), None),
        };
        let (device, figure) = figure(left.trim(), text)?;
        let for_s = match time {
            None => 0.0,
            Some(time) => {
                let wrong = || AlertError::For { text: time.to_owned() };
                let ns: Nanoseconds = time.parse().map_err(|_| wrong())?;
                Some(ns.0 as f64 / 1e9).filter(|s| *s <= DAY_S).ok_or_else(wrong)?
            }
        };
        let limit = limit_of(limit, figure)?;
        Ok(Self { text: text.to_owned(), device, figure, above, or_equal, limit, for_s })
    }
}

/// The figure, and the device in front of it. Performance Monitor's names have dots in them, too.
fn figure(name: &str, text: &str) -> Result<(Option<String>, Figure), AlertError> {
    if name.is_empty() {
        return Err(AlertError::Form { text: text.to_owned() });
    }
    let disk = |name: &str| disk_field(name).map(Figure::Disk);
    if let Some(figure) = disk(name).or_else(|| system_field(name).map(Figure::System)) {
        return Ok((None, figure));
    }
    let split = name.match_indices('.').find_map(|(at, _)| {
        let (device, rest) = (name.get(..at)?, name.get(at + 1..)?);
        (!device.is_empty()).then_some(())?;
        Some((Some(device.to_owned()), disk(rest.trim())?))
    });
    split.ok_or_else(|| AlertError::Figure { name: name.to_owned() })
}

fn limit_of(text: &str, figure: Figure) -> Result<f64, AlertError> {
    let (unit, name) = figure.unit_and_name();
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let (limit, example) = match unit {
        Unit::Nanoseconds => (text.parse::<Nanoseconds>().ok().map(|ns| ns.0 as f64), "20ms"),
        Unit::Bytes => (text.parse::<Bytes>().ok().map(|bytes| bytes.0 as f64), "64K"),
        Unit::BytesPerSecond => {
            let bytes = text.trim_end_matches("/s").parse::<Bytes>();
            (bytes.ok().map(|bytes| bytes.0 as f64), "100M/s")
        }
        Unit::Percent => (number(text.trim_end_matches('%')), "90%"),
        Unit::PerSecond => (number(text.trim_end_matches("/s")), "1000"),
        Unit::Number => (number(text), "2"),
    };
    // Sooner or later, a time without a unit is a mistake.
    let has_unit = unit != Unit::Nanoseconds || text.ends_with(|c: char| !c.is_ascii_digit());
    limit
        .filter(|limit| limit.is_finite() && *limit >= 0.0 && has_unit)
        .ok_or_else(|| AlertError::Limit { text: text.to_owned(), figure: name, example })
}

impl Figure {
    fn unit_and_name(self) -> (Unit, &'static str) {
        match self {
            Self::Disk(field) => (field.unit, field.name),
            Self::System(field) => (field.unit, field.name),
        }
    }
}

/// The text says all of it.
impl PartialEq for Alert {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl TryFrom<String> for Alert {
    type Error = AlertError;

    fn try_from(text: String) -> Result<Self, AlertError> {
        text.parse()
    }
}

impl From<Alert> for String {
    fn from(alert: Alert) -> Self {
        alert.text
    }
}

impl Alert {
    /// The condition as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The device that it is limited to.
    #[must_use]
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// A figure of its kind in words.
    #[must_use]
    pub fn show(&self, figure: f64) -> String {
        show_figure(self.figure.unit_and_name().0, figure)
    }

    fn holds(&self, figure: f64) -> bool {
        let beyond = if self.above { figure > self.limit } else { figure < self.limit };
        #[expect(clippy::float_cmp, reason = "a limit that is met exactly")]
        let met = self.or_equal && figure == self.limit;
        beyond || met
    }
}

/// A condition turned true or false.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) alert: &'a Alert,
    pub(crate) time: &'a AlertTime,
    pub(crate) begins: bool,
    /// The figure of the window in which it turned.
    pub(crate) now: f64,
    pub(crate) t: f64,
}

/// How a condition is on one device, or on the host.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    /// For how long it held, of the time that had figures.
    held_s: f64,
    from_s: f64,
    silent_s: f64,
    worst: f64,
    /// Its place among the times that it was true.
    time: Option<usize>,
}

/// A limit and what became of it.
#[derive(Debug)]
pub(crate) struct Watcher {
    alert: Alert,
    standing: BTreeMap<Option<String>, Standing>,
    times: Vec<AlertTime>,
}

/// Times that are stored per condition; a limit in the middle of usual values is passed all the
/// time.
const TIMES_MAX: usize = 10_000;

impl Watcher {
    pub(crate) fn new(alert: Alert) -> Self {
        Self { alert, standing: BTreeMap::new(), times: Vec::new() }
    }

    pub(crate) fn recorded(&self) -> RecordedAlert {
        RecordedAlert { condition: self.alert.text.clone(), times: self.times.clone() }
    }

    /// Takes a window, and reports conditions that changed.
    pub(crate) fn hear(&mut self, observed: &Observation, turn: &mut dyn FnMut(Turn<'_>)) {
        let window = &observed.window;
        let span = Span { seconds: window.seconds, readings: 1 };
        match self.alert.figure {
            Figure::System(field) => {
                let figure = field.of(&window.system, span);
                self.step(None, figure, (observed.t, span.seconds), turn);
            }
            Figure::Disk(field) => {
                for (name, tally) in &window.disks {
                    if self.alert.device.as_ref().is_none_or(|device| device == name) {
                        let figure = field.of(tally, span);
                        self.step(Some(name), figure, (observed.t, span.seconds), turn);
                    }
                }
                for name in &window.missing {
                    self.over(Some(name), observed.t - span.seconds, turn);
                }
            }
        }
    }

    fn step(
        &mut self,
        device: Option<&String>,
        figure: Option<f64>,
        (t, seconds): (f64, f64),
        turn: &mut dyn FnMut(Turn<'_>),
    ) {
        let alert = &self.alert;
        let standing = self.standing.entry(device.cloned()).or_default();
        match figure {
            Some(figure) if alert.holds(figure) => {
                if standing.held_s <= 0.0 {
                    *standing =
                        Standing { from_s: t - seconds, worst: figure, ..Standing::default() };
                }
                standing.held_s += seconds;
                standing.silent_s = 0.0;
                let worse =
                    if alert.above { figure > standing.worst } else { figure < standing.worst };
                if worse {
                    standing.worst = figure;
                }
                if let Some(time) = standing.time.and_then(|time| self.times.get_mut(time)) {
                    time.worst = standing.worst;
                } else if standing.held_s >= alert.for_s - 1e-9 && self.times.len() < TIMES_MAX {
                    standing.time = Some(self.times.len());
                    let Standing { from_s, worst, .. } = *standing;
                    self.times.push(AlertTime {
                        device: device.cloned(),
                        from_s,
                        to_s: None,
                        worst,
                    });
                    if let Some(time) = self.times.last() {
                        turn(Turn { alert, time, begins: true, now: figure, t });
                    }
                }
            }
            Some(_) => self.over(device, t - seconds, turn),
            None => {
                standing.silent_s += seconds;
                if standing.held_s > 0.0 && standing.silent_s > alert.for_s {
                    let end_s = t - standing.silent_s;
                    self.over(device, end_s, turn);
                }
            }
        }
    }

    /// The condition does not hold since this time.
    fn over(&mut self, device: Option<&String>, t: f64, turn: &mut dyn FnMut(Turn<'_>)) {
        let Some(standing) = self.standing.get_mut(&device.cloned()) else { return };
        let ended = std::mem::take(standing);
        let Some(time) = ended.time.and_then(|time| self.times.get_mut(time)) else { return };
        time.to_s = Some(t);
        turn(Turn { alert: &self.alert, time, begins: false, now: ended.worst, t });
    }

    /// Watching ends; what holds now held to the end.
    pub(crate) fn end(&mut self, t: f64, turn: &mut dyn FnMut(Turn<'_>)) {
        for standing in self.standing.values_mut() {
            let ended = std::mem::take(standing);
            if let Some(time) = ended.time.and_then(|time| self.times.get(time)) {
                turn(Turn { alert: &self.alert, time, begins: false, now: ended.worst, t });
            }
        }
    }
}
