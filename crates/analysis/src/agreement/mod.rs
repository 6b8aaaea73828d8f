//! Did the operating system see the same I/O as the tool? Two instruments on one window.
//!
//! A measurement is believed when the disk counters of the kernel, taken over exactly the measured
//! window, show the same number of I/Os, the same bytes and the same I/O size. Where they differ,
//! the direction of the difference in I/Os and in bytes tells the cause ([`Suspicion`]). Latency is
//! shown next to them and decides nothing: the kernel counts it in whole milliseconds and from a
//! later start, below the submission path.

mod suspicion;

use serde::{Deserialize, Serialize};

pub use suspicion::Suspicion;

use crate::numbers;

/// Less than this a second is nothing at all.
const NOTHING: f64 = 1e-9;
/// A figure larger than this cannot be a measurement.
const PLAUSIBLE: f64 = 1e18;

/// What one observer saw in one direction. Leave a figure that is not known at `NaN` (or latency at
/// `None`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Flow {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency in nanoseconds.
    pub latency_ns: Option<f64>,
    /// I/Os a second that were joined to another before they reached the device; counted by the
    /// kernel only.
    pub merges_per_s: f64,
}

/// Both directions as one observer saw them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observed {
    /// Rate and latency of the reads.
    pub read: Flow,
    /// Rate and latency of the writes.
    pub write: Flow,
}

/// Two observations of the same window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// What the tool measured at its own interface.
    pub tool: Observed,
    /// What the kernel counted at the device.
    pub kernel: Observed,
    /// I/Os in flight (N). So many may be counted by one observer inside the window and by the
    /// other outside.
    pub in_flight: f64,
    /// Length of the window in seconds (T).
    pub seconds: f64,
    /// Difference up to which the two agree; [`DEFAULT_TOLERANCE_PERCENT`] where in doubt.
    pub tolerance_percent: f64,
}

/// The difference that two observers of one window may have beyond the I/Os cut by its edges.
pub const DEFAULT_TOLERANCE_PERCENT: f64 = 2.0;

/// A line of the agreement table. The operating systems' own names for it are in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Reads a second (Disk Reads/sec, r/s).
    ReadIops,
    /// Bytes read a second (Disk Read Bytes/sec, rkB/s).
    ReadBytesPerS,
    /// Mean size of a read (Avg. Disk Bytes/Read, rareq-sz).
    ReadBytesPerIo,
    /// Mean latency of a read (Avg. Disk sec/Read, r_await).
    ReadLatencyNs,
    /// Writes a second (Disk Writes/sec, w/s).
    WriteIops,
    /// Bytes written a second (Disk Write Bytes/sec, wkB/s).
    WriteBytesPerS,
    /// Mean size of a write (Avg. Disk Bytes/Write, wareq-sz).
    WriteBytesPerIo,
    /// Mean latency of a write (Avg. Disk sec/Write, w_await).
    WriteLatencyNs,
}

/// One figure as both observers saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgreementRow {
    /// The figure that both observers have.
    pub figure: Figure,
    /// What the tool measured, in the unit of the figure.
    pub tool: f64,
    /// What the kernel counted, in the unit of the figure.
    pub kernel: f64,
    /// Kernel less tool, in percent of the tool's figure. For a direction in which the tool did
    /// nothing, in percent of what it did in both; 100 if it did nothing at all.
    pub difference_percent: f64,
    /// The difference up to which this row agrees: the tolerance and the I/Os that the edges of the
    /// window may cut, N/(X T). Absent if the row is only shown: latency, and the I/O size, which
    /// follows from the others.
    pub allowed_percent: Option<f64>,
}

/// The two observers side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// One row per figure that both observers have, of every direction in which there was I/O.
    pub rows: Vec<AgreementRow>,
    /// The largest difference, either way, among the rows that are judged; 0 if there are none.
    pub worst_percent: f64,
    /// The tolerance asked for, before the allowance for the edges of the window.
    pub tolerance_percent: f64,
    /// Whether there are rows to judge and each is within what it is allowed.
    pub within_tolerance: bool,
    /// What the difference looks like, if there is one.
    pub suspicion: Option<Suspicion>,
    /// Whether they agree, in a sentence.
    pub explanation: String,
}

/// Compares what the tool did with what the kernel counted over the same window.
#[must_use]
pub fn compare(window: &Window) -> Agreement {
    let tolerance_percent = if (0.0..=PLAUSIBLE).contains(&window.tolerance_percent) {
        window.tolerance_percent
    } else {
        DEFAULT_TOLERANCE_PERCENT
    };
    let total = Flow {
        iops: known(window.tool.read.iops) + known(window.tool.write.iops),
        bytes_per_s: known(window.tool.read.bytes_per_s) + known(window.tool.write.bytes_per_s),
        ..Flow::default()
    };
    let mut rows = Vec::new();
    for side in [suspicion::READ, suspicion::WRITE] {
        let (tool, kernel) = (side.of(&window.tool), side.of(&window.kernel));
        let allowed = tolerance_percent + edge_percent(window, tool.iops, total.iops);
        rows.extend(side_rows(side.figures, tool, kernel, &total, allowed));
    }
    let judged = |row: &&AgreementRow| row.allowed_percent.is_some();
    let worst_percent =
        rows.iter().filter(judged).map(|row| row.difference_percent.abs()).fold(0.0, f64::max);
    let within_tolerance = rows.iter().any(|row| judged(&row)) && rows.iter().all(is_within);
    let (suspicion, explanation) = suspicion::explain(window, &rows, worst_percent);
    Agreement { rows, worst_percent, tolerance_percent, within_tolerance, suspicion, explanation }
}

/// A figure, or nothing where it is unknown.
fn known(value: f64) -> f64 {
    if is_figure(value) { value } else { 0.0 }
}

fn is_figure(value: f64) -> bool {
    (0.0..=PLAUSIBLE).contains(&value)
}

fn is_within(row: &AgreementRow) -> bool {
    row.allowed_percent.is_none_or(|allowed| row.difference_percent.abs() <= allowed)
}

/// Share of a direction's I/Os that the edges of the window may cut, at most all of them.
fn edge_percent(window: &Window, iops: f64, total_iops: f64) -> f64 {
    let iops = if known(iops) > NOTHING { iops } else { total_iops };
    let percent = 100.0 * window.in_flight / (iops * window.seconds);
    if percent.is_finite() { percent.clamp(0.0, 100.0) } else { 0.0 }
}

fn side_rows(
    figures: [Figure; 4],
    tool: &Flow,
    kernel: &Flow,
    total: &Flow,
    allowed: f64,
) -> Vec<AgreementRow> {
    let idle = [tool.iops, tool.bytes_per_s, kernel.iops, kernel.bytes_per_s];
    if idle.iter().all(|value| known(*value) <= NOTHING) {
        return Vec::new();
    }
    let latency = |flow: &Flow| flow.latency_ns.unwrap_or(f64::NAN);
    [
        row(figures[0], tool.iops, kernel.iops, total.iops, Some(allowed)),
        row(figures[1], tool.bytes_per_s, kernel.bytes_per_s, total.bytes_per_s, Some(allowed)),
        row(figures[2], bytes_per_io(tool), bytes_per_io(kernel), 0.0, None),
        row(figures[3], latency(tool), latency(kernel), 0.0, None),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn bytes_per_io(flow: &Flow) -> f64 {
    if known(flow.iops) > NOTHING { flow.bytes_per_s / flow.iops } else { f64::NAN }
}

fn row(
    figure: Figure,
    tool: f64,
    kernel: f64,
    total: f64,
    allowed_percent: Option<f64>,
) -> Option<AgreementRow> {
    if !is_figure(tool) || !is_figure(kernel) {
        return None;
    }
    let reference = if tool > NOTHING { tool } else { total };
    let difference_percent = if reference > NOTHING {
        numbers::percent_difference(reference + (kernel - tool), reference)?
    } else if kernel > NOTHING {
        100.0
    } else {
        0.0
    };
    Some(AgreementRow { figure, tool, kernel, difference_percent, allowed_percent })
}
