//! Runs of a result file as measurements, with what IOMeter's figures can and cannot mean.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::SignedDuration;
use results::{
    Measurement, Origin, Point, Statistics, Status, StreamResult, TargetResult, ThreadResult,
};
use workload::{Pool, PoolShare, Stream, Target, Workload};

use super::super::config::AccessSpec;
use super::super::read::Version;
use super::figures::{
    Kind, READ, TOTAL, WRITE, add, bins, count, moment, printed, statistics, together,
};
use super::measured::TICKS_PER_S;
use super::read::read;
use super::{Column, End, Number, ResultRow, ResultRun, RowKind, Session};
use crate::foreign::{ForeignRuns, OWN, Run};
use crate::identities::{Printed, PrintedRun};

/// Before this version, `MBps` was the only unit.
const TWO_UNITS: Version = Version(1, 1, 0);
/// Workers begin and end within this part of the window.
const SAME_LENGTH: f64 = 1000.0;

/// Whether a text is a result file.
#[must_use]
pub fn is_result(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['\u{feff}', ' ', '\t']).to_ascii_lowercase();
        let plain = line.replace('\'', "");
        line.contains('\'')
            && (plain.starts_with("target type,target name,")
                || plain.starts_with("timestamp,target type,"))
    })
}

/// All runs of a text as measurements. `file` is the name of the file, `read_at` the moment (UTC,
/// RFC 3339) to use as the start of runs whose start is not known.
#[must_use]
pub fn import(text: &str, file: &str, read_at: &str) -> ForeignRuns {
    let (found, notes) = read(text);
    let mut notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let mut measurements: Vec<Measurement> = Vec::new();
    let mut names: HashMap<String, u32> = HashMap::new();
    for (number, session) in found.sessions.iter().enumerate() {
        let mut specs: Vec<AccessSpec> = Vec::new();
        for (index, run) in session.runs.iter().enumerate() {
            if let Some(here) = &run.specs {
                specs.clone_from(here);
            }
            let is_last = index + 1 == session.runs.len();
            match (Imported { session, run, specs: &specs, is_last, file }).measurement(read_at) {
                Ok(mut measurement) => {
                    let seen = names.entry(measurement.id.clone()).or_default();
                    *seen += 1;
                    if *seen > 1 {
                        measurement.id = format!("{}-{seen}", measurement.id);
                    }
                    measurements.push(measurement);
                }
                Err(why) => notes.push(format!(
                    "session {}, run {}: {why}; left out",
                    number + 1,
                    index + 1
                )),
            }
        }
    }
    ForeignRuns { measurements, notes }
}

/// A run, with its session and its specifications.
struct Imported<'a> {
    session: &'a Session,
    run: &'a ResultRun,
    specs: &'a [AccessSpec],
    is_last: bool,
    file: &'a str,
}

/// A disk worker with its disks.
struct Worker<'a> {
    /// With its manager, where there are several.
    name: String,
    row: &'a ResultRow,
    /// Each with its index among the targets.
    disks: Vec<(usize, &'a ResultRow)>,
}

impl Imported<'_> {
    fn measurement(&self, read_at: &str) -> Result<Measurement, String> {
        let is_all = |row: &&ResultRow| row.kind == RowKind::All;
        let all = self.run.rows.iter().rfind(is_all).ok_or("there is no row `ALL`")?;
        let networks = self.run.rows.iter().filter(|r| r.kind == RowKind::Network).count();
        let (workers, targets) = self.workers();
        if networks > 0 && workers.is_empty() {
            return Err("it measured a network, not storage".to_owned());
        }
        let mut warnings = self.doubts(all, &workers);
        if networks > 0 {
            warnings
                .push("the figures of the whole run have those of network workers, too".to_owned());
        }
        let seconds = self.seconds(all);
        let workload = self.workload(all, &workers, targets, seconds, &mut warnings);
        let is_aborted = self.is_last && self.session.end == End::Aborted;
        let run = Run {
            origin: Origin {
                tool: "IOMeter".to_owned(),
                tool_version: if self.is_own() {
                    Some(OWN.to_owned())
                } else {
                    self.session.version.map(|v| v.to_string())
                },
                file: Some(self.file.to_owned()),
                ..Origin::default()
            },
            started: self.started(seconds, &mut warnings),
            status: if is_aborted { Status::Interrupted } else { Status::Complete },
            target_bytes: vec![0; workload.targets.len()],
            workload,
            host: self.host(),
            seconds,
            total: statistics(all, &TOTAL),
            read: statistics(all, &READ),
            write: statistics(all, &WRITE),
            printed: self.printed(all, networks == 0),
            warnings,
        };
        let text = self.session.head() + &self.run.to_csv();
        let mut measurement = run.measurement(&text, read_at);
        if measurement.workload.is_unknown() {
            measurement.threads = if workers.is_empty() {
                all.count(Column::Workers).unwrap_or(0)
            } else {
                workers.len() as u64
            };
        }
        measurement.cpu.host_percent = all.figure(Column::CpuPercent);
        if !workers.is_empty() {
            measurement.streams = workers.iter().map(stream_result).collect();
            measurement.threads_detail = workers.iter().flat_map(thread_results).collect();
            measurement.targets = target_results(&measurement.workload, &workers);
        }
        measurement.series = self.series();
        Ok(measurement)
    }

    /// The rates of the whole run, of a file whose rows are of storage alone. Each worker has a
    /// length of its own; instantaneous results have six digits, however large they are.
    fn printed(&self, all: &ResultRow, is_storage: bool) -> PrintedRun {
        if !is_storage || self.run.is_instantaneous {
            return PrintedRun::default();
        }
        let workers = self.run.rows.iter().filter(|row| row.kind == RowKind::Worker);
        let lengths = workers.filter_map(|row| {
            let (ticks, speed) = (row.figure(Column::RawRun)?, row.figure(Column::TicksPerS)?);
            (ticks > 0.0 && speed > 0.0).then(|| ticks / speed)
        });
        let (least, most) = lengths.fold((f64::INFINITY, 0.0f64), |(l, m), s| (l.min(s), m.max(s)));
        let seconds =
            (most > 0.0).then(|| Printed::within(most, (most - least) + most / SAME_LENGTH));
        let (total, read) = (printed(all, &TOTAL), printed(all, &READ));
        PrintedRun { seconds, threads: None, total, read, write: printed(all, &WRITE) }
    }

    /// The disk workers, and the names of their disks. Rows of a file of instantaneous results come
    /// again and again.
    fn workers(&self) -> (Vec<Worker<'_>>, Vec<String>) {
        let managers = self.run.rows.iter().filter(|r| r.kind == RowKind::Manager).count();
        let mut manager = "";
        let (mut workers, mut targets): (Vec<Worker<'_>>, Vec<String>) = (Vec::new(), Vec::new());
        if self.run.is_instantaneous {
            return (workers, targets);
        }
        let full = |manager: &str, name: &str| {
            if managers > 1 { format!("{manager}: {name}") } else { name.to_owned() }
        };
        for row in &self.run.rows {
            match row.kind {
                RowKind::Manager => manager = row.name.as_str(),
                RowKind::Worker => {
                    workers.push(Worker { name: full(manager, &row.name), row, disks: Vec::new() });
                }
                RowKind::Network => drop(workers.pop_if(|w| w.disks.is_empty())),
                RowKind::Disk => {
                    let Some(worker) = workers.last_mut() else { continue };
                    let name = full(manager, &row.name);
                    let known = targets.iter().position(|t| *t == name);
                    let index = known.unwrap_or(targets.len());
                    if known.is_none() {
                        targets.push(name);
                    }
                    worker.disks.push((index, row));
                }
                RowKind::All | RowKind::Processor => {}
            }
        }
        (workers, targets)
    }

    /// Whether there are fewer rows of workers or disks than other rows count.
    fn lacks_rows(&self, all: &ResultRow, workers: &[Worker<'_>]) -> bool {
        let counts_more = |row: &ResultRow, column, rows: usize| {
            row.count(column).is_some_and(|count| count > rows as u64)
        };
        let is_storage = self.run.rows.iter().all(|row| row.kind != RowKind::Network);
        let has_disks = workers.iter().any(|worker| !worker.disks.is_empty());
        let lacks_disks = |w: &Worker<'_>| counts_more(w.row, Column::Disks, w.disks.len());
        is_storage
            && !workers.is_empty()
            && (counts_more(all, Column::Workers, workers.len())
                || has_disks && workers.iter().any(lacks_disks))
    }

    /// Whether iosonde wrote the file: IOMeter's clock does not count nanoseconds.
    fn is_own(&self) -> bool {
        let ticks = |row: &ResultRow| row.cells.get(&Column::TicksPerS).copied();
        self.run.rows.iter().any(|row| ticks(row) == Some(Number::Whole(TICKS_PER_S)))
    }

    fn host(&self) -> Option<String> {
        let mut managers = self.run.rows.iter().filter(|r| r.kind == RowKind::Manager);
        let first = managers.next()?;
        managers.next().is_none().then(|| first.name.clone()).filter(|name| !name.is_empty())
    }

    /// Counts and rates are of the same window.
    fn seconds(&self, all: &ResultRow) -> f64 {
        let rate = all.figure(Column::Iops).filter(|iops| *iops > 0.0);
        let ios = count(all, Column::Reads).saturating_add(count(all, Column::Writes));
        if let Some(iops) = rate.filter(|_| ios > 0) {
            return ios as f64 / iops;
        }
        let window = moment(&self.session.started).zip(moment(&self.run.ended));
        let window = window.filter(|_| self.session.runs.len() == 1);
        window.map_or(0.0, |(start, end)| end.duration_since(start).as_secs_f64().max(0.0))
    }

    /// The end less the window; the start of the session where nobody knows the end of its first
    /// run.
    fn started(&self, seconds: f64, warnings: &mut Vec<String>) -> String {
        let window = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
        let is_first = self.session.runs.first().is_some_and(|r| std::ptr::eq(r, self.run));
        let by_end = moment(&self.run.ended).and_then(|end| end.checked_sub(window).ok());
        let start = by_end.or_else(|| moment(&self.session.started).filter(|_| is_first));
        let Some(start) = start else { return String::new() };
        warnings.push(
            "IOMeter's times are by the clock of its machine, whose time zone it does not tell; \
             they are taken as UTC"
                .to_owned(),
        );
        format!("{}Z", start.strftime("%Y-%m-%dT%H:%M:%S"))
    }

    fn spec(&self, row: &ResultRow, all: &ResultRow) -> Option<&AccessSpec> {
        let name = if row.spec.is_empty() { &all.spec } else { &row.spec };
        let by_name = self.specs.iter().find(|s| s.name.eq_ignore_ascii_case(name));
        // An edited file may hold what IOMeter never wrote.
        by_name.filter(|s| s.rows.iter().map(|row| u32::from(row.percent)).sum::<u32>() == 100)
    }

    fn workload(
        &self,
        all: &ResultRow,
        workers: &[Worker<'_>],
        targets: Vec<String>,
        seconds: f64,
        warnings: &mut Vec<String>,
    ) -> Workload {
        let stream =
            |row: &ResultRow| self.spec(row, all).map_or_else(Stream::default, AccessSpec::stream);
        let known = |row: &ResultRow| depth(row).or_else(|| depth(all)).unwrap_or(1);
        let streams: Vec<Stream> = if workers.is_empty() {
            // A worker on one target counts as one thread here, so that the I/Os in flight are
            // right.
            let threads = all.count(Column::Disks).or_else(|| all.count(Column::Workers));
            let threads = threads.and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1);
            vec![Stream {
                name: "all workers".to_owned(),
                threads,
                depth: known(all),
                ..stream(all)
            }]
        } else {
            let one = |worker: &Worker<'_>| Stream {
                name: worker.name.clone(),
                targets: worker.disks.iter().map(|(index, _)| *index).collect(),
                depth: known(worker.row),
                pool: Some(Pool { share: PoolShare::Each }),
                ..stream(worker.row)
            };
            workers.iter().map(one).collect()
        };
        let rows = workers.iter().map(|w| w.row);
        let mut told = rows.chain(workers.is_empty().then_some(all));
        let streams = if self.lacks_rows(all, workers) {
            warnings.push(
                "rows of workers or disks are missing, as in a file that was cut: the load of all \
                 figures is not known, and they are compared with nothing"
                    .to_owned(),
            );
            Vec::new()
        } else if told.all(|row| self.spec(row, all).is_some()) {
            streams
        } else {
            warnings.push(
                "the file does not tell what the workers did: nobody knows which load these \
                 figures are of, and they are compared with nothing"
                    .to_owned(),
            );
            Vec::new()
        };
        let target = |path: String| Target { path: PathBuf::from(path), size_bytes: None };
        let mut targets: Vec<Target> = targets.into_iter().map(target).collect();
        if targets.is_empty() {
            targets.push(target("unknown".to_owned()));
        }
        Workload { targets, streams, seconds, warmup_seconds: 0.0, ..Workload::default() }
    }

    /// Every reason to doubt a figure.
    fn doubts(&self, all: &ResultRow, workers: &[Worker<'_>]) -> Vec<String> {
        let mut doubts = vec![
            "IOMeter leaves out the I/Os that are in flight when the window ends, however long \
             they take"
                .to_owned(),
            "IOMeter reports no shortest latency and no percentiles".to_owned(),
        ];
        if !self.session.description.is_empty() {
            doubts.push(format!("it was called `{}`", self.session.description));
        }
        if self.session.version.is_some_and(|v| v.order() < TWO_UNITS.order()) {
            doubts.push("what this version calls MBps are MiB per second".to_owned());
        }
        doubts.extend(bins(all));
        if workers.iter().any(|w| w.disks.len() > 1) {
            doubts.push(
                "IOMeter repeats the raw times of a worker for every one of its disks; they are \
                 not used"
                    .to_owned(),
            );
        }
        if workers.is_empty() && !self.run.is_instantaneous {
            doubts.push("the file has no rows of workers: the target is not known".to_owned());
        }
        if self.run.is_instantaneous {
            doubts.push(
                "these are the instantaneous results, which IOMeter writes next to the others"
                    .to_owned(),
            );
        }
        let (start, sectors) = (all.count(Column::StartSector), all.count(Column::MaximumSectors));
        if let Some((start, sectors)) = start.zip(sectors) {
            let used = if sectors == 0 { "all".to_owned() } else { format!("{sectors} sectors") };
            doubts.push(format!("the targets were used from sector {start} on, {used} of each"));
        }
        doubts
    }

    /// What the workers did in each interval, of a file that says so.
    fn series(&self) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        let (mut first, mut last) = (None, None);
        let rows =
            self.run.rows.iter().filter(|r| self.run.is_instantaneous && r.kind == RowKind::Worker);
        for row in rows {
            let Some(at) = row.stamp.as_deref().and_then(moment) else { continue };
            let start = *first.get_or_insert(at);
            let same = last == Some(at);
            last = Some(at);
            if !same {
                let t = at.duration_since(start).as_secs_f64();
                let seconds = points.last().map_or(0.0, |p| t - p.t);
                points.push(Point { t, seconds, ..Point::default() });
            }
            if let Some(point) = points.last_mut() {
                add(point, row);
            }
        }
        points.retain(|p| p.seconds >= 0.0 && p.t >= 0.0);
        // The file does not hold the length of the first interval; it equals that of the second.
        let length = points.get(1).map_or(0.0, |p| p.seconds);
        if let Some(point) = points.first_mut() {
            point.seconds = length;
        }
        for point in &mut points {
            point.t += length;
        }
        points
    }
}

fn depth(row: &ResultRow) -> Option<u32> {
    row.count(Column::Outstanding).and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0)
}

fn stream_result(worker: &Worker<'_>) -> StreamResult {
    StreamResult {
        name: worker.name.clone(),
        threads: 1,
        // 0 is what the file does not tell.
        depth: depth(worker.row).unwrap_or(0),
        rate_reached_percent: None,
        total: statistics(worker.row, &TOTAL),
        read: statistics(worker.row, &READ),
        write: statistics(worker.row, &WRITE),
        sync: Statistics::default(),
    }
}

/// A worker on each of its disks.
fn thread_results(worker: &Worker<'_>) -> Vec<ThreadResult> {
    let one = |(target, row): &(usize, &ResultRow)| {
        let total = statistics(row, &TOTAL);
        ThreadResult {
            stream: worker.name.clone(),
            target: *target,
            thread: 0,
            achieved_depth: total.latency_ns.map_or(0.0, |l| total.iops * l.mean / 1e9),
            cpu_percent: None,
            total,
            read: statistics(row, &READ),
            write: statistics(row, &WRITE),
            sync: Statistics::default(),
            series: Vec::new(),
        }
    };
    worker.disks.iter().map(one).collect()
}

fn target_results(workload: &Workload, workers: &[Worker<'_>]) -> Vec<TargetResult> {
    let one = |(index, target): (usize, &Target)| {
        let rows: Vec<&ResultRow> = workers
            .iter()
            .flat_map(|w| &w.disks)
            .filter(|(i, _)| *i == index)
            .map(|(_, row)| *row)
            .collect();
        let of = |kind: &Kind| {
            together(&rows.iter().map(|row| statistics(row, kind)).collect::<Vec<_>>())
        };
        TargetResult {
            path: target.path.clone(),
            file_bytes: 0,
            content: "unknown".to_owned(),
            total: of(&TOTAL),
            read: of(&READ),
            write: of(&WRITE),
            sync: Statistics::default(),
        }
    };
    workload.targets.iter().enumerate().map(one).collect()
}
