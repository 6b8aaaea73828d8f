//! Reads and writes at offered rates, in every combination: what do writes cost readers?
//!
//! Two closed-loop measurements find the highest read rate and the highest write rate. The grid
//! offers shares of both in an open loop, as independent users do, so a slow storage does not
//! reduce the load that shows that it is slow.

mod conclude;

use engine::PrepareError;
use results::{
    CellOutcome, Experiment, MatrixCell, Measurement, ReadWriteMatrix, Status, StreamResult,
};
use serde::{Deserialize, Serialize};
use workload::{Arrival, Rate, RateLimit, Stream, Violation};

use crate::lab::{Lab, LabContext, Setup, Timing};

/// The default shares of the highest rates, in percent.
pub const MATRIX_LEVELS: [u8; 5] = [0, 20, 40, 60, 80];

/// A stream that completes less than this share of its rate was not kept up with, in percent.
const REACHED_PERCENT: f64 = 95.0;
/// Arrivals are random, so that few of them may miss the rate by more: so many standard deviations.
const DEVIATIONS: f64 = 3.0;

/// What to measure, and at which rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixOptions {
    /// Targets, engine, mode and timing of the experiment.
    pub setup: Setup,
    /// The load; its reads and its writes become two streams.
    pub stream: Stream,
    /// Shares of the highest rates, in percent; 0 is always among them.
    pub levels: Vec<u8>,
    /// How long each combination is measured.
    pub cell_seconds: f64,
}

impl MatrixOptions {
    /// The combinations of read and write percent in the order in which they are measured: less
    /// load first.
    #[must_use]
    pub fn cells(&self) -> Vec<(u8, u8)> {
        cells_of(&self.levels)
    }

    /// The reads, in a closed loop.
    #[must_use]
    pub fn reading(&self) -> Stream {
        // Durability and flushes are properties of writes.
        let (durable, sync) = (false, None);
        Stream { name: "reads".to_owned(), write_percent: 0, durable, sync, ..self.stream.clone() }
    }

    /// The writes, in a closed loop.
    #[must_use]
    pub fn writing(&self) -> Stream {
        Stream { name: "writes".to_owned(), write_percent: 100, ..self.stream.clone() }
    }

    fn grid(&self) -> Grid {
        let timing = self.setup.timing;
        Grid {
            reads: self.reading(),
            writes: self.writing(),
            levels: self.levels.clone(),
            alone: timing,
            cell: Timing { seconds: self.cell_seconds, precision: None, ..timing },
            tool_ceiling_iops: None,
        }
    }
}

fn cells_of(levels: &[u8]) -> Vec<(u8, u8)> {
    let mut levels = levels.to_vec();
    levels.push(0);
    levels.sort_unstable();
    levels.dedup();
    let pairs = levels.iter().flat_map(|r| levels.iter().map(move |w| (*r, *w)));
    let mut cells: Vec<(u8, u8)> = pairs.filter(|(r, w)| (*r, *w) != (0, 0)).collect();
    cells.sort_by_key(|(r, w)| u16::from(*r) + u16::from(*w));
    cells
}

/// The rules that flags alone cannot keep.
///
/// # Errors
/// The levels or the length of a cell are out of range.
pub fn check_levels(options: &MatrixOptions) -> Result<(), PrepareError> {
    let mut violations = Vec::new();
    let mut refuse = |field: &str, value: String, rule: &str| {
        let (field, rule) = (field.to_owned(), rule.to_owned());
        violations.push(Violation { field, value, rule });
    };
    if let Some(level) = options.levels.iter().find(|level| **level > 100) {
        refuse("levels", level.to_string(), "a level is 0 to 100 percent of the highest rate");
    }
    if options.levels.iter().all(|level| *level == 0) {
        refuse("levels", "0".to_owned(), "name at least one level above 0");
    }
    if !(options.cell_seconds > 0.0 && options.cell_seconds <= 86_400.0) {
        let value = options.cell_seconds.to_string();
        refuse("cell_seconds", value, "a cell takes more than 0 and at most 86400 seconds");
    }
    if violations.is_empty() { Ok(()) } else { Err(PrepareError::Invalid(violations)) }
}

/// Measures the highest rates and every combination of their shares.
pub fn matrix(
    options: &MatrixOptions,
    context: LabContext<'_>,
) -> Result<Experiment<ReadWriteMatrix>, PrepareError> {
    check_levels(options)?;
    let mut lab = Lab::open(options.setup.clone(), &options.writing(), context)?;
    lab.stay_in_place();
    let grid = options.grid();
    lab.expect_steps(grid.steps());
    let (conclusion, measurements) = grid.measure(&mut lab);
    let method = grid.method(&options.setup.timing_sentence());
    Ok(lab.document(conclusion, measurements, method))
}

/// Reads and writes to offer next to each other, at shares of what each reaches alone.
pub(crate) struct Grid {
    /// The reads, in a closed loop.
    pub(crate) reads: Stream,
    /// The writes, in a closed loop.
    pub(crate) writes: Stream,
    /// Shares of the highest rates, in percent; 0 is always among them.
    pub(crate) levels: Vec<u8>,
    /// How long each is measured alone.
    pub(crate) alone: Timing,
    /// How long each combination is measured.
    pub(crate) cell: Timing,
    /// What iosonde reaches on this host without any I/O, if that is known.
    pub(crate) tool_ceiling_iops: Option<f64>,
}

impl Grid {
    /// Combinations of a read rate and a write rate.
    pub(crate) fn cells(&self) -> usize {
        cells_of(&self.levels).len()
    }

    /// The most measurements that it takes.
    pub(crate) fn steps(&self) -> usize {
        self.cells() + 2
    }

    /// Measures the rates, and draws the conclusion from everything that was measured.
    pub(crate) fn measure(&self, lab: &mut Lab<'_>) -> (ReadWriteMatrix, Vec<Measurement>) {
        let mut found = Vec::new();
        let read = self.highest(lab, "the highest read rate", &self.reads, &mut found);
        let write = self.highest(lab, "the highest write rate", &self.writes, &mut found);
        let mut cells = Vec::new();
        if let (Some(read), Some(write)) = (read, write) {
            for pair in cells_of(&self.levels) {
                let offered = Offered::of(pair, (read, write));
                if exceeds_a_missed_cell(pair, &cells) {
                    lab.expect_fewer(1);
                    cells.push(offered.skipped());
                    continue;
                }
                let Some(cell) = self.cell(lab, offered, &mut found) else { break };
                cells.push(cell);
            }
        }
        cells.sort_by_key(|cell| (cell.read_percent, cell.write_percent));
        (conclude::conclude(read, write, cells), found)
    }

    /// The highest rate of a stream alone, in a closed loop. Where throughput fell and stayed low,
    /// it is the level after the fall. `None` if it is not known.
    fn highest(
        &self,
        lab: &mut Lab<'_>,
        title: &str,
        stream: &Stream,
        found: &mut Vec<Measurement>,
    ) -> Option<f64> {
        let measurement = self.one(lab, title, vec![stream.clone()], self.alone)?;
        let complete = measurement.status == Status::Complete;
        let sustained = measurement.phases.as_ref().map(|phases| phases.sustained.mean);
        let iops = sustained.unwrap_or(measurement.total.iops);
        found.push(measurement);
        (complete && iops > 0.0).then_some(iops)
    }

    /// One cell; `None` if the experiment is over before it was measured whole.
    fn cell(
        &self,
        lab: &mut Lab<'_>,
        offered: Offered,
        found: &mut Vec<Measurement>,
    ) -> Option<MatrixCell> {
        let (read, write) = offered.percent;
        let title = format!("{read} % of the reads, {write} % of the writes");
        let measurement = self.one(lab, &title, offered.streams(self), self.cell)?;
        let cell = (measurement.status == Status::Complete).then(|| cell_of(&measurement, offered));
        found.push(measurement);
        cell
    }

    fn one(
        &self,
        lab: &mut Lab<'_>,
        title: &str,
        streams: Vec<Stream>,
        timing: Timing,
    ) -> Option<Measurement> {
        if lab.is_over() {
            return None;
        }
        lab.begin(title);
        let mut measurement = lab.measure_for(streams, timing)?;
        if self.tool_ceiling_iops.is_some() {
            measurement.checks.tool_ceiling_iops = self.tool_ceiling_iops;
        }
        lab.keep(&measurement);
        Some(measurement)
    }

    /// How it was measured, sentence by sentence; `alone` says it of the highest rates.
    pub(crate) fn method(&self, alone: &str) -> Vec<String> {
        vec![
            "The highest read rate and the highest write rate were measured alone, in a closed \
             loop with as many I/Os in flight as the load names. Where the rate fell and stayed \
             low during that, the level after the fall counts."
                .to_owned(),
            alone.to_owned(),
            format!(
                "Then each combination of shares of both was offered for {} s in an open loop. \
                I/Os were due at random moments (Poisson), whether or not the storage kept up, and \
                latency counts from when each was due.",
                self.cell.seconds
            ),
            format!(
                "A rate counts as not reached if less than {REACHED_PERCENT} % of it completed \
                 (less for few I/Os, whose number varies by chance). The same holds if half of the \
                 I/Os waited longer to be issued than the storage then took. Such a cell has no \
                 latency, because its latency depends on how long it is measured."
            ),
            "Cells were measured by rising load. A cell that offers at least as many reads and at \
             least as many writes as one that was not reached was skipped."
                .to_owned(),
        ]
    }
}

/// The rates that a cell offers.
#[derive(Debug, Clone, Copy)]
struct Offered {
    percent: (u8, u8),
    read_iops: f64,
    write_iops: f64,
}

impl Offered {
    fn of(percent: (u8, u8), highest: (f64, f64)) -> Self {
        let share = |percent: u8, highest: f64| f64::from(percent) / 100.0 * highest;
        let (read_iops, write_iops) = (share(percent.0, highest.0), share(percent.1, highest.1));
        Self { percent, read_iops, write_iops }
    }

    /// The streams that offer these rates.
    fn streams(self, grid: &Grid) -> Vec<Stream> {
        let at = |iops: f64, stream: Stream| {
            let rate = Rate { limit: RateLimit::Iops(iops), arrival: Arrival::Poisson };
            (iops > 0.0).then_some(Stream { rate: Some(rate), ..stream })
        };
        let streams =
            [at(self.read_iops, grid.reads.clone()), at(self.write_iops, grid.writes.clone())];
        streams.into_iter().flatten().collect()
    }

    /// The cell before it is measured.
    fn skipped(self) -> MatrixCell {
        MatrixCell {
            read_percent: self.percent.0,
            write_percent: self.percent.1,
            offered_read_iops: self.read_iops,
            offered_write_iops: self.write_iops,
            outcome: CellOutcome::Skipped,
            read_iops: None,
            write_iops: None,
            read_p50_ns: None,
            read_p99_ns: None,
            write_p50_ns: None,
            write_p99_ns: None,
        }
    }
}

/// Whether the storage did not keep up with a cell that offered no more reads and no more writes.
fn exceeds_a_missed_cell((read, write): (u8, u8), cells: &[MatrixCell]) -> bool {
    cells.iter().any(|cell| {
        cell.outcome == CellOutcome::NotReached
            && cell.read_percent <= read
            && cell.write_percent <= write
    })
}

fn cell_of(measurement: &Measurement, offered: Offered) -> MatrixCell {
    let reached = measurement.streams.iter().all(|s| is_reached(s, measurement.seconds));
    let outcome = if reached { CellOutcome::Reached } else { CellOutcome::NotReached };
    let (read, write) = (measurement.read.latency_ns, measurement.write.latency_ns);
    let (read, write) = (read.filter(|_| reached), write.filter(|_| reached));
    MatrixCell {
        outcome,
        read_iops: Some(measurement.read.iops),
        write_iops: Some(measurement.write.iops),
        read_p50_ns: read.and_then(|l| l.p50),
        read_p99_ns: read.and_then(|l| l.p99),
        write_p50_ns: write.and_then(|l| l.p50),
        write_p99_ns: write.and_then(|l| l.p99),
        ..offered.skipped()
    }
}

/// Whether the storage kept up with a stream: nearly all of its rate completed, and most I/Os did
/// not wait to be issued for longer than the storage took. The second tells a backlog that grows
/// from one that does not, however short the cell.
fn is_reached(stream: &StreamResult, seconds: f64) -> bool {
    let Some(reached_percent) = stream.rate_reached_percent.filter(|r| *r > 0.0) else {
        return false;
    };
    let asked_ios = stream.total.iops * seconds / (reached_percent / 100.0);
    let least = REACHED_PERCENT.min(100.0 - 100.0 * DEVIATIONS / asked_ios.max(1.0).sqrt());
    let median = |latency: Option<results::Latency>| latency.and_then(|l| l.p50);
    let backlog = match (median(stream.total.delay_ns), median(stream.total.service_ns)) {
        (Some(delay), Some(service)) => delay > service,
        _ => false,
    };
    reached_percent >= least && !backlog
}
