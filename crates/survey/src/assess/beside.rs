//! Loads next to each other, because a database does several things at once: commits during a
//! checkpoint, users during a backup, reads next to writes.

use analysis::verdict::{Level, Limits, capacities};
use results::verdict::{Database, Role};
use results::{BesideLoad, Latency, Measurement, MixedLoads, Pace, Statistics};
use workload::{Arrival, Pattern, Rate, RateLimit, Stream, show_ns, show_number};

use super::databases;
use super::offer::{self, DEPTH};
use super::plan::{self, Areas, Load, Timing};
use super::session::Session;
use crate::matrix::{Grid, MATRIX_LEVELS};
use crate::{Publish, lab};

/// Pages that a checkpoint has in flight, where it does not write one after the other.
const CHECKPOINT_DEPTH: u32 = 64;
/// I/Os in flight that find the highest rates of a grid, as `iosonde matrix` has them.
const GRID_DEPTH: u32 = 32;
/// Users next to a backup: this share of the load that fits without it.
const USERS: f64 = 0.5;

/// How long loads are measured next to each other; `None` of it at the shorter paces.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct SideTiming {
    /// Timing of commits during a checkpoint.
    pub(super) log: Option<lab::Timing>,
    /// Users during a backup, and the same without it.
    pub(super) backup: Option<lab::Timing>,
    /// The highest rate of reads and of writes, and each combination of both.
    pub(super) grid: Option<(lab::Timing, lab::Timing)>,
}

impl SideTiming {
    /// So many seconds of commits during a checkpoint; with `all` the rest as well.
    pub(super) fn of(log_seconds: f64, all: bool) -> Self {
        let timing = |seconds, warmup_seconds, settle_seconds| lab::Timing {
            seconds,
            warmup_seconds,
            precision: None,
            settle_seconds,
        };
        Self {
            log: Some(timing(log_seconds, 2.0, 5.0)),
            backup: all.then(|| timing(60.0, 5.0, 10.0)),
            grid: all.then(|| (timing(30.0, 5.0, 5.0), timing(20.0, 2.0, 5.0))),
        }
    }
}

/// The load that runs alongside another.
struct Companion {
    /// As it is in a sentence.
    word: &'static str,
    stream: Stream,
}

impl Companion {
    fn title(&self) -> String {
        let stream = &self.stream;
        let order = if stream.pattern == Pattern::Random { "random" } else { "sequential" };
        let verb = if stream.write_percent == 0 { "read" } else { "write" };
        let (block, depth) = (workload::Bytes(stream.largest_block()), stream.depth);
        format!("{} ({block} {order} {verb}, {depth} in flight)", self.word)
    }

    /// Pages of the data files, written while the log is: a database without them writes whole
    /// files.
    fn of_log(database: Database, areas: &Areas) -> Option<Self> {
        let profile = databases::profile(database);
        let (word, stream) = if let Some(shape) = profile.page_write {
            let depth = if shape.depth > 1 { CHECKPOINT_DEPTH } else { 1 };
            ("a checkpoint", areas.data(shape.block, Pattern::Random, 100, depth))
        } else {
            let shape = profile.bulk_writes.last()?;
            ("a compaction", areas.data(shape.block, Pattern::Sequential, 100, shape.depth))
        };
        Some(Self { word, stream: Stream { name: "beside".to_owned(), ..stream } })
    }

    /// The largest reads in order; `None` if the database has none.
    fn of_users(database: Database, areas: &Areas) -> Option<Self> {
        let shape = databases::profile(database).scans.last()?;
        let stream = areas.data(shape.block, Pattern::Sequential, 0, shape.depth);
        Some(Self { word: "a backup", stream: Stream { name: "beside".to_owned(), ..stream } })
    }
}

/// Single pages that are read next to those that are written in place, or whole files where none
/// are.
fn grid(
    database: Database,
    areas: &Areas,
    (alone, cell): (lab::Timing, lab::Timing),
) -> Option<Grid> {
    let profile = databases::profile(database);
    let page = profile.page_reads.first()?;
    let reads = areas.data(page.block, Pattern::Random, 0, GRID_DEPTH);
    let writes = match (profile.page_write, profile.bulk_writes.last()) {
        (Some(shape), _) => areas.data(shape.block, Pattern::Random, 100, GRID_DEPTH),
        (None, Some(shape)) => areas.data(shape.block, Pattern::Sequential, 100, GRID_DEPTH),
        (None, None) => return None,
    };
    Some(Grid {
        reads: Stream { name: "reads".to_owned(), ..reads },
        writes: Stream { name: "writes".to_owned(), ..writes },
        levels: MATRIX_LEVELS.to_vec(),
        alone,
        cell,
        tool_ceiling_iops: None,
    })
}

/// The most measurements that it takes.
pub(super) fn steps(database: Database, loads: &[Load], timing: &Timing) -> usize {
    let sides = &timing.sides;
    // Any size has the same loads.
    let areas = Areas::of(plan::ANY_SIZE);
    let logs = loads.iter().filter(|l| is_log(l)).count();
    let offered = loads.iter().filter(|l| l.offered).count();
    let log = sides.log.and(Companion::of_log(database, &areas)).map_or(0, |_| logs);
    let backup = sides.backup.and(Companion::of_users(database, &areas)).map_or(0, |_| 2 * offered);
    let grid = sides.grid.and_then(|timing| grid(database, &areas, timing));
    log + backup + grid.map_or(0, |grid| grid.steps())
}

/// How it was measured, sentence by sentence.
pub(super) fn method(database: Database, timing: &Timing) -> Vec<String> {
    let areas = Areas::of(plan::ANY_SIZE);
    let mut sentences = Vec::new();
    if let Some((timing, companion)) = timing.sides.log.zip(Companion::of_log(database, &areas)) {
        sentences.push(format!(
            "Each log write was then measured for {} s alongside {}, and is judged by that.",
            timing.seconds,
            companion.title()
        ));
    }
    if let Some((timing, backup)) = timing.sides.backup.zip(Companion::of_users(database, &areas)) {
        sentences.push(format!(
            "Half of the OLTP load that fits was offered for {} s, and again alongside {}.",
            timing.seconds,
            backup.title()
        ));
    }
    let grid = timing.sides.grid.and_then(|timing| grid(database, &areas, timing));
    sentences.extend(grid.into_iter().flat_map(|grid| {
        let (reads, writes) = (grid.reads.title(), grid.writes.title());
        let each = format!("Each of the two was measured for {} s.", grid.alone.seconds);
        let mut all = vec![format!("Reads alongside writes: {reads}, and {writes}.")];
        all.extend(grid.method(&each));
        all
    }));
    sentences
}

/// The pairs that are measured at this pace, in sentences; empty if there are none.
#[must_use]
pub fn assess_sides(database: Database, pace: Pace) -> Vec<String> {
    let (sides, areas) = (Timing::of(pace).sides, Areas::of(plan::ANY_SIZE));
    let log = sides.log.zip(Companion::of_log(database, &areas));
    let backup = sides.backup.zip(Companion::of_users(database, &areas));
    let log = log.map(|(_, companion)| {
        format!(
            "also writes the log alongside \
        {}",
            companion.title()
        )
    });
    let backup = backup.map(|(_, backup)| format!("also offers OLTP alongside {}", backup.title()));
    let grid = sides.grid.and_then(|timing| grid(database, &areas, timing)).map(|grid| {
        format!(
            "offers {} combinations of read and write rates for {} s each",
            grid.cells(),
            grid.cell.seconds
        )
    });
    [log, backup, grid].into_iter().flatten().collect()
}

fn is_log(load: &Load) -> bool {
    load.role == Some(Role::Log)
}

impl Session<'_, '_> {
    /// Everything that is measured next to something else.
    pub(super) fn sides(&mut self, loads: &[Load]) {
        let areas = Areas::of(super::conclude::smallest(&self.lab.facts()).size_bytes);
        let database = self.options.database;
        let sides = self.timing.sides;
        if let Some((timing, companion)) = sides.log.zip(Companion::of_log(database, &areas)) {
            for load in loads.iter().filter(|load| is_log(load)) {
                self.commits(load, &companion, timing);
            }
        }
        if let Some((timing, backup)) = sides.backup.zip(Companion::of_users(database, &areas)) {
            for load in loads.iter().filter(|load| load.offered) {
                self.users(load, &backup, timing);
            }
        }
        if let Some(grid) = sides.grid.and_then(|timing| grid(database, &areas, timing)) {
            self.grid(&Grid { tool_ceiling_iops: self.found.tool_ceiling_iops, ..grid });
        }
    }

    /// A write of the log while the data files are written.
    fn commits(&mut self, load: &Load, companion: &Companion, timing: lab::Timing) {
        let title = format!("{}, alongside {}", load.title, companion.word);
        let streams = vec![load.stream.clone(), companion.stream.clone()];
        let Some(measurement) = self.measure_beside(&title, streams, timing) else { return };
        let pattern = self.found.patterns.iter().find(|p| p.name == load.name);
        let alone = pattern.map(|p| said(&p.measurement.total));
        let beside = companion.title();
        let sentence = format!(
            "{}: alone {}; alongside {beside} {}.",
            load.title,
            alone.unwrap_or_else(|| "not known".to_owned()),
            measurement.streams.first().map_or("not known".to_owned(), |s| said(&s.total))
        );
        let (name, title) = (load.name.clone(), load.title.clone());
        let found = BesideLoad { name, title, beside, sentence, alone: None, measurement };
        self.found.beside.push(found);
    }

    /// Half of the users that the storage carries, without a backup and with one.
    fn users(&mut self, load: &Load, backup: &Companion, timing: lab::Timing) {
        let Some(iops) = self.fitting(load).map(|iops| USERS * iops) else {
            self.lab.expect_fewer(2);
            return;
        };
        let rate = Rate { limit: RateLimit::Iops(iops), arrival: Arrival::Poisson };
        let users = Stream { depth: DEPTH, rate: Some(rate), ..load.stream.clone() };
        let title = format!("{}, {} IOPS offered", load.title, show_number(iops));
        let Some(alone) = self.measure_beside(&title, vec![users.clone()], timing) else { return };
        let streams = vec![users, backup.stream.clone()];
        let title = format!("{title}, alongside {}", backup.word);
        let Some(measurement) = self.measure_beside(&title, streams, timing) else { return };
        let beside = backup.title();
        let sentence = cost_of_backup(load, (iops, &beside), &alone, &measurement);
        let (name, title) = (load.name.clone(), load.title.clone());
        let found = BesideLoad { name, title, beside, sentence, alone: Some(alone), measurement };
        self.found.beside.push(found);
    }

    /// How much of a load fits within the widest limit of its role; `None` if nothing does.
    fn fitting(&self, load: &Load) -> Option<f64> {
        let limits = self.options.limits.iter().find(|limits| Some(limits.role) == load.role)?;
        let limits = Limits::from_published(limits.clone());
        let offered = self.found.offered.iter().find(|o| o.name == load.name)?;
        let points = offer::lasting(offered);
        let trials: Vec<_> = points.map(|m| offer::trial(&load.title, m, &limits)).collect();
        let found = capacities(&limits, &trials, 0.0);
        let widest = found.iter().find(|c| c.level == Level::Acceptable)?;
        (widest.per_second > 0.0).then_some(widest.per_second)
    }

    fn grid(&mut self, grid: &Grid) {
        if self.lab.is_over() {
            return;
        }
        let title = format!("{} with {}", plain_title(&grid.reads), plain_title(&grid.writes));
        let (matrix, measurements) = grid.measure(self.lab);
        if !measurements.is_empty() {
            self.found.mixed = Some(MixedLoads { title, matrix, measurements });
        }
    }

    fn measure_beside(
        &mut self,
        title: &str,
        streams: Vec<Stream>,
        timing: lab::Timing,
    ) -> Option<Measurement> {
        if self.lab.is_over() {
            return None;
        }
        self.lab.begin(title);
        self.measure_all_of(streams, timing)
    }
}

fn plain_title(stream: &Stream) -> String {
    let order = if stream.pattern == Pattern::Random { "random" } else { "sequential" };
    let verb = if stream.write_percent == 0 { "read" } else { "write" };
    format!("{} {order} {verb}", workload::Bytes(stream.largest_block()))
}

fn p99(statistics: &Statistics) -> Option<u64> {
    statistics.latency_ns.and_then(|latency| latency.p99)
}

/// How many each second, and their 99th percentile, or of few their mean.
fn said(statistics: &Statistics) -> String {
    let per_second = show_number(statistics.iops);
    match statistics.latency_ns {
        Some(Latency { p99: Some(ns), .. }) => {
            format!("{per_second} a second, 99th percentile {}", show_ns(ns as f64))
        }
        Some(latency) => format!("{per_second} a second, mean {}", show_ns(latency.mean)),
        None => format!("{per_second} a second"),
    }
}

fn cost_of_backup(
    load: &Load,
    (iops, beside): (f64, &str),
    alone: &Measurement,
    both: &Measurement,
) -> String {
    let shown = |ns: Option<u64>| ns.map_or("not known".to_owned(), |ns| show_ns(ns as f64));
    let users = both.streams.first();
    let reached = users.and_then(|s| s.rate_reached_percent).unwrap_or(0.0);
    let with = shown(users.and_then(|s| p99(&s.read).or_else(|| p99(&s.total))));
    let without = shown(p99(&alone.read).or_else(|| p99(&alone.total)));
    let backup = both.streams.get(1).map_or(0.0, |s| s.total.mib_per_s);
    let users = format!("{} IOPS of {}", show_number(iops), load.title);
    if reached < REACHED_PERCENT {
        return format!(
            "Alongside {beside}, the storage does only {} % of {users}, which is half of what fits \
             without it; the backup reads {} MiB/s.",
            show_number(reached),
            show_number(backup)
        );
    }
    format!(
        "Alongside {beside}, the 99th percentile of reads at {users} goes from {without} to \
         {with}; the backup reads {} MiB/s.",
        show_number(backup)
    )
}

/// Less of an offered rate was not kept up with.
const REACHED_PERCENT: f64 = 95.0;
