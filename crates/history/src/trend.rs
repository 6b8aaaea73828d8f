//! One figure over many dates: the same load on the same target, and when its level changed.

mod kept;

use std::collections::BTreeMap;

use analysis::change_points::{FEWEST, change_points};
use results::change::ChangePoint;
use results::{
    Conditions, Document, Figure, FigureUnit, Status, TREND_SCHEMA, Trend, TrendLoad, TrendPoint,
};
use workload::{show_ns, show_number};

use crate::Load;
use crate::compare::figures::of_measurement;
use crate::compare::loads::{is_whole, title, with_depth};
use crate::published;

pub use kept::{TrendQuery, kept_trend};

/// A figure of one measurement with its date, and what must be the same for it to be in one series
/// with another.
#[derive(Debug, Clone, PartialEq)]
pub struct Dated {
    /// Unique name of the result it is in.
    pub id: String,
    /// When that began, UTC, RFC 3339.
    pub started: String,
    /// Id of the conditions, the same for every measurement of the series.
    pub conditions_id: String,
    /// The load in words, with threads and depth.
    pub title: String,
    /// The machine; absent for a simulated device.
    pub host: Option<String>,
    /// The file or device that received the I/O.
    pub target: String,
    /// Bytes of the target that I/O could use.
    pub file_bytes: u64,
    /// The value of the figure that the trend follows.
    pub value: f64,
    /// Version of the program that measured.
    pub tool_version: String,
    /// The device's model, if it is known.
    pub device: Option<String>,
}

impl Dated {
    /// The figure of a measurement as a list has it; `None` if it did not run to its end, or does
    /// not have the figure.
    #[must_use]
    pub fn of(load: Load, figure: Figure) -> Option<Self> {
        let value = figure.field()?.column.and_then(|column| column(&load).number());
        if load.status != Status::Complete || load.ios.unwrap_or(0) == 0 {
            return None;
        }
        Some(Self {
            title: with_depth(&load.load, load.threads, load.depth, load.in_flight),
            id: load.experiment_id,
            started: load.started,
            conditions_id: load.conditions_id,
            host: load.host,
            target: load.target,
            file_bytes: load.file_bytes.unwrap_or(0),
            value: value?,
            tool_version: load.tool_version,
            device: load.device,
        })
    }
}

/// The figure of every whole measurement of these results.
#[must_use]
pub fn dated(documents: &[Document], figure: Figure) -> Vec<Dated> {
    let of = |document: &Document| -> Vec<Dated> {
        let environment = document.environment();
        let device = environment.device();
        let whole = document.measurements().into_iter().filter(|m| is_whole(m));
        whole
            .filter_map(|m| {
                let targets = m.workload.targets.iter().map(|t| t.path.display().to_string());
                Some(Dated {
                    id: document.id().to_owned(),
                    started: document.started().to_owned(),
                    conditions_id: Conditions::of(m).id(),
                    title: title(m),
                    host: environment.hostname(),
                    target: targets.collect::<Vec<_>>().join(", "),
                    file_bytes: m.file_bytes,
                    value: of_measurement(figure, m)?,
                    tool_version: m.tool_version.clone(),
                    device: device.clone(),
                })
            })
            .collect()
    };
    documents.iter().flat_map(of).collect()
}

/// Puts figures in series, one value per result, and finds where their level changed.
///
/// The series of most dates comes first. Figures that are not above 0 and finite are left out.
#[must_use]
pub fn trend(dated: Vec<Dated>, figure: Figure, tool_version: &str) -> Trend {
    let mut series: BTreeMap<(String, Option<String>, String), Vec<Dated>> = BTreeMap::new();
    for one in dated.into_iter().filter(|d| d.value.is_finite() && d.value > 0.0) {
        let key = (one.conditions_id.clone(), one.host.clone(), one.target.clone());
        series.entry(key).or_default().push(one);
    }
    let mut loads: Vec<TrendLoad> =
        series.into_values().filter_map(|values| load(values, figure)).collect();
    loads.sort_by(|x, y| y.points.len().cmp(&x.points.len()).then_with(|| x.title.cmp(&y.title)));
    tell_apart(&mut loads);
    Trend {
        schema: TREND_SCHEMA.to_owned(),
        tool_version: tool_version.to_owned(),
        figure,
        warnings: versions(&loads).into_iter().collect(),
        loads,
        method: vec![
            "A series holds one load on one target of one host, with one value per result: \
             the geometric mean of its runs."
                .to_owned(),
            format!(
                "Changes of level are found by e-divisive means with a t-test in series of \
                 {FEWEST} results or more. A level has at least three, and a change at least 1 %."
            ),
        ],
    }
}

/// Series with the same title differ in something that titles leave out. The name of their
/// conditions distinguishes them, and `--load` takes it.
fn tell_apart(loads: &mut [TrendLoad]) {
    let words = |l: &TrendLoad| (l.title.clone(), l.host.clone(), l.target.clone(), l.file_bytes);
    let mut seen = BTreeMap::new();
    for load in loads.iter() {
        *seen.entry(words(load)).or_insert(0) += 1;
    }
    for load in loads.iter_mut().filter(|load| seen.get(&words(load)) > Some(&1)) {
        load.title = format!("{} (conditions {})", load.title, load.conditions_id);
    }
}

/// One series; `None` without a value.
fn load(values: Vec<Dated>, figure: Figure) -> Option<TrendLoad> {
    let first = values.first()?.clone();
    let mut points = points(values);
    points.sort_by(|x, y| x.started.cmp(&y.started).then_with(|| x.id.cmp(&y.id)));
    let numbers: Vec<f64> = points.iter().map(|p| p.value).collect();
    let changes = change_points(&numbers).unwrap_or_default();
    let changes: Vec<ChangePoint> = changes.into_iter().map(published::change_point).collect();
    let explanation = explain(&points, &changes, figure);
    Some(TrendLoad {
        title: first.title,
        conditions_id: first.conditions_id,
        host: first.host,
        target: first.target,
        file_bytes: first.file_bytes,
        points,
        changes,
        explanation,
    })
}

/// One point per result, from its runs.
fn points(values: Vec<Dated>) -> Vec<TrendPoint> {
    let mut results: BTreeMap<String, (f64, TrendPoint)> = BTreeMap::new();
    for one in values {
        let (sum, point) = results.entry(one.id.clone()).or_insert_with(|| {
            let point = TrendPoint {
                id: one.id,
                started: one.started,
                value: 0.0,
                runs: 0,
                tool_version: one.tool_version,
                device: one.device,
            };
            (0.0, point)
        });
        *sum += one.value.ln();
        point.runs += 1;
    }
    let point = |(sum, point): (f64, TrendPoint)| TrendPoint {
        value: (sum / point.runs.max(1) as f64).exp(),
        ..point
    };
    results.into_values().map(point).collect()
}

fn explain(points: &[TrendPoint], changes: &[ChangePoint], figure: Figure) -> String {
    let count = points.len();
    let results = if count == 1 { "1 result".to_owned() } else { format!("{count} results") };
    if count < FEWEST {
        return format!("{results}; changes of level are looked for in {FEWEST} or more");
    }
    if changes.is_empty() {
        return format!("{results}, one level");
    }
    let parts: Vec<String> = changes
        .iter()
        .filter_map(|change| {
            let at = points.get(change.index)?;
            let before = points.get(change.index.checked_sub(1)?)?;
            let mut words = format!(
                "from {} on {} instead of {} ({}{} %)",
                date(&at.started),
                show(change.after, figure),
                show(change.before, figure),
                if change.change_percent > 0.0 { "+" } else { "" },
                show_number(change.change_percent)
            );
            if at.tool_version != before.tool_version {
                words.push_str(", ");
                words.push_str(&measured_by(&at.tool_version));
            }
            if at.device != before.device {
                words.push_str(", on another device");
            }
            Some(words)
        })
        .collect();
    format!("{results}; {}", parts.join("; "))
}

/// The version of iosonde, or the other tool that a result was imported from, which has its name in
/// front.
fn measured_by(tool_version: &str) -> String {
    let iosonde = tool_version.starts_with(|c: char| c.is_ascii_digit());
    format!("with {}{tool_version}", if iosonde { "iosonde " } else { "" })
}

/// The value of a figure, with its unit.
pub(crate) fn show(value: f64, figure: Figure) -> String {
    match figure.unit() {
        FigureUnit::Iops => format!("{} IOPS", show_number(value)),
        FigureUnit::MibPerS => format!("{} MiB/s", show_number(value)),
        FigureUnit::Nanoseconds => show_ns(value),
        FigureUnit::Microseconds => format!("{} µs", show_number(value)),
    }
}

/// The date in an RFC 3339 moment: the part before the `T`.
pub(crate) fn date(moment: &str) -> &str {
    moment.split('T').next().unwrap_or(moment)
}

fn versions(loads: &[TrendLoad]) -> Option<String> {
    let mixed = loads.iter().any(|load| {
        load.points.windows(2).any(|pair| pair[0].tool_version != pair[1].tool_version)
    });
    mixed.then(|| {
        "Series hold results of several versions of a tool; a change at a new version may be one \
         of the tool"
            .to_owned()
    })
}
