//! Turns a run that iosonde measured into IOMeter's rows.
//!
//! The figures of a row are those of the thing it is named after, also for a disk, whereas IOMeter
//! repeats those of its worker. Every I/O of the window is in a latency bin, also those of 10 s and
//! more. What is not measured is 0, as in IOMeter if its system does not report it: connections,
//! interrupts, packets.

use results::{Histogram, Measurement, Statistics, ThreadResult};
use workload::Stream;

use super::super::config::{AccessSpec, Config, Record, Worker};
use super::super::workload::{StepWorker, StepWorkload};
use super::{Column, Number, ResultRow, ResultRun, RowKind};

/// Raw times are in ticks, of which a second has this many: nanoseconds.
pub(super) const TICKS_PER_S: i128 = 1_000_000_000;
/// Where each latency bin but the last ends, in nanoseconds.
const BIN_ENDS_NS: [u64; 20] = [
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    15_000_000,
    20_000_000,
    30_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    4_700_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// What a processor, or all together, did in the window, in percent of its time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuShares {
    /// Share of the time that was not idle, in percent.
    pub busy: f64,
    /// Share of the time in programs.
    pub user: f64,
    /// Share of the time in the kernel.
    pub privileged: f64,
    /// In soft interrupts, which Windows calls deferred procedure calls.
    pub deferred: f64,
    /// Share of the time in interrupts.
    pub interrupt: f64,
}

/// The processors of this host in the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostCpu {
    /// The shares of all CPUs together.
    pub all: CpuShares,
    /// The shares of each CPU, with its number.
    pub each: Vec<(u32, CpuShares)>,
}

/// A run that iosonde measured, for a result file of IOMeter.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// The configuration: managers, workers, targets and access specifications.
    pub config: &'a Config,
    /// Place of its access specifications in the workers' lists, from 0.
    pub place: usize,
    /// The workload that was run, and which stream belongs to which worker.
    pub run: &'a StepWorkload,
    /// What iosonde measured in the run.
    pub measurement: &'a Measurement,
    /// What the processors did during the run.
    /// None where the workers were on other hosts.
    pub cpu: Option<&'a HostCpu>,
    /// Its end, local time, as IOMeter writes it.
    pub ended: &'a str,
    /// Whether to write the access specifications before it, as IOMeter does when they change.
    pub with_specs: bool,
}

impl Measured<'_> {
    /// The part of a result file about this run: the rows that the file asks for.
    #[must_use]
    pub fn result(&self) -> ResultRun {
        let record = self.config.setup.as_ref().map_or(Record::All, |s| s.record);
        let mut rows = vec![self.total_row()];
        for manager in 0..self.config.managers.len() {
            let disks = self.disks(|w| w.manager == manager);
            if disks.is_empty() || matches!(record, Record::NoManagers | Record::None) {
                continue;
            }
            self.manager_rows(manager, &disks, record, &mut rows);
        }
        ResultRun {
            specs: self.with_specs.then(|| self.specs()),
            is_instantaneous: false,
            rows,
            ended: self.ended.to_owned(),
        }
    }

    fn total_row(&self) -> ResultRow {
        let disks = self.disks(|_| true);
        let mut all = ResultRow::new(RowKind::All, "All", common_spec(&disks));
        let mut managers: Vec<usize> = disks.iter().map(|d| d.of.manager).collect();
        managers.dedup();
        all.whole(Column::Managers, managers.len());
        all.whole(Column::Workers, workers(&disks));
        all.whole(Column::Disks, disks.len());
        self.put(&mut all, &disks);
        all.cells.retain(|column, _| !RAW.contains(column) && *column != Column::TicksPerS);
        self.put_host(&mut all);
        all
    }

    fn manager_rows(
        &self,
        manager: usize,
        disks: &[Disk<'_>],
        record: Record,
        rows: &mut Vec<ResultRow>,
    ) {
        let Some(named) = self.config.managers.get(manager) else { return };
        let mut row = ResultRow::new(RowKind::Manager, &named.name, common_spec(disks));
        row.whole(Column::Workers, workers(disks));
        row.whole(Column::Disks, disks.len());
        self.put(&mut row, disks);
        self.put_host(&mut row);
        rows.push(row);
        for (number, shares) in self.cpu.iter().flat_map(|cpu| &cpu.each) {
            let mut row = ResultRow::new(RowKind::Processor, &format!("CPU {number}"), "");
            put_cpu(&mut row, *shares);
            row.cells.insert(Column::TicksPerS, Number::Whole(TICKS_PER_S));
            row.cells.insert(Column::InterruptsPerS, Number::Figure(0.0));
            rows.push(row);
        }
        if record == Record::NoWorkers {
            return;
        }
        let mut rest = disks;
        while let Some(first) = rest.first() {
            let own = rest.iter().take_while(|d| d.of.worker == first.of.worker).count();
            let (own, others) = rest.split_at(own);
            let mut row = ResultRow::new(RowKind::Worker, &first.worker.name, &first.of.spec);
            row.whole(Column::Disks, own.len());
            self.put(&mut row, own);
            rows.push(row);
            if record == Record::All {
                rows.extend(own.iter().map(|disk| {
                    let mut row = ResultRow::new(RowKind::Disk, disk.name, "");
                    self.put(&mut row, std::slice::from_ref(disk));
                    row
                }));
            }
            rest = others;
        }
    }

    /// The disks of the workers of which this is true, worker by worker.
    fn disks(&self, keep: impl Fn(&StepWorker) -> bool) -> Vec<Disk<'_>> {
        let mut disks = Vec::new();
        let workers = self.run.workers.iter().zip(&self.run.workload.streams);
        for (of, stream) in workers.filter(|(of, _)| keep(of)) {
            let manager = self.config.managers.get(of.manager);
            let Some(worker) = manager.and_then(|m| m.workers.get(of.worker)) else { continue };
            for (target, name) in stream.targets.iter().zip(&of.disks) {
                let threads = &self.measurement.threads_detail;
                let is_it = |t: &&ThreadResult| t.target == *target && t.stream == stream.name;
                let thread = threads.iter().find(is_it);
                disks.push(Disk { of, worker, stream, name, thread });
            }
        }
        disks
    }

    /// The access specifications of the run, each once. Those of all workers that this run is a
    /// part of the cycle of, also of those that join later: they are written once.
    fn specs(&self) -> Vec<AccessSpec> {
        let mut specs: Vec<AccessSpec> = Vec::new();
        let mut add = |spec: &AccessSpec| {
            if !specs.iter().any(|s| s.name.eq_ignore_ascii_case(&spec.name)) {
                specs.push(spec.clone());
            }
        };
        for worker in self.config.managers.iter().flat_map(|m| &m.workers) {
            if let Some(Some(spec)) = self.config.runs_of(worker).get(self.place) {
                add(spec);
            }
        }
        specs
    }

    fn put(&self, row: &mut ResultRow, disks: &[Disk<'_>]) {
        let mut sum = Sum::default();
        let alone = (self.measurement.threads_detail.len() == 1).then_some(&self.measurement.total);
        for disk in disks {
            sum.add(disk, alone);
        }
        sum.put(row, self.measurement.seconds);
        let first = disks.first();
        let same = |of: fn(&Disk<'_>) -> u64| {
            let value = first.map(of);
            value.filter(|_| disks.iter().all(|d| Some(of(d)) == value))
        };
        // IOMeter's -1, which is this where the number has no sign.
        let sectors = |value: Option<u64>| Number::Whole(i128::from(value.unwrap_or(u64::MAX)));
        row.cells.insert(Column::StartSector, sectors(same(|d| d.worker.start_sector)));
        row.cells.insert(Column::MaximumSectors, sectors(same(|d| d.worker.maximum_sectors)));
        let depth = same(|d| d.stream.depth.into()).map_or(-1, i128::from);
        row.cells.insert(Column::Outstanding, Number::Whole(depth));
    }

    /// I/Os for each percent of the processors.
    /// What the processors did. Nothing is put down of other hosts.
    fn put_host(&self, row: &mut ResultRow) {
        let Some(shares) = self.cpu.map(|cpu| cpu.all) else { return };
        put_cpu(row, shares);
        let busy = shares.busy;
        let effect = row.figure(Column::Iops).filter(|_| busy > 0.0).map_or(0.0, |i| i / busy);
        row.cells.insert(Column::CpuEffectiveness, Number::Figure(effect));
        for column in [
            Column::InterruptsPerS,
            Column::PacketsPerS,
            Column::PacketErrors,
            Column::SegmentsRetransmittedPerS,
        ] {
            row.cells.insert(column, Number::Figure(0.0));
        }
    }
}

/// Columns that are not in `ALL`.
const RAW: [Column; 9] = [
    Column::RawRead,
    Column::RawWrite,
    Column::RawTransaction,
    Column::RawConnection,
    Column::RawReadMax,
    Column::RawWriteMax,
    Column::RawTransactionMax,
    Column::RawConnectionMax,
    Column::RawRun,
];

/// A worker on one of its targets.
struct Disk<'a> {
    of: &'a StepWorker,
    worker: &'a Worker,
    stream: &'a Stream,
    name: &'a str,
    thread: Option<&'a ThreadResult>,
}

/// The access specification of all of them; nothing where they differ.
fn common_spec<'a>(disks: &[Disk<'a>]) -> &'a str {
    let first = disks.first().map_or("", |d| d.of.spec.as_str());
    if disks.iter().all(|d| d.of.spec == first) { first } else { "" }
}

fn workers(disks: &[Disk<'_>]) -> usize {
    let mut workers: Vec<(usize, usize)> =
        disks.iter().map(|d| (d.of.manager, d.of.worker)).collect();
    workers.dedup();
    workers.len()
}

fn put_cpu(row: &mut ResultRow, shares: CpuShares) {
    for (column, percent) in [
        (Column::CpuPercent, shares.busy),
        (Column::UserPercent, shares.user),
        (Column::PrivilegedPercent, shares.privileged),
        (Column::DpcPercent, shares.deferred),
        (Column::InterruptPercent, shares.interrupt),
    ] {
        row.cells.insert(column, Number::Figure(percent));
    }
}

impl ResultRow {
    fn whole(&mut self, column: Column, count: usize) {
        self.cells.insert(column, Number::Whole(i128::try_from(count).unwrap_or(i128::MAX)));
    }
}

/// One direction of several workers on targets.
#[derive(Debug, Clone, Copy, Default)]
struct DirectionSum {
    ios: u64,
    bytes: u64,
    errors: u64,
    sum_ns: f64,
    max_ns: u64,
}

impl DirectionSum {
    fn add(&mut self, statistics: &Statistics) {
        self.ios += statistics.ios;
        self.bytes += statistics.bytes;
        self.errors += statistics.errors;
        if let Some(latency) = statistics.latency_ns {
            self.sum_ns += latency.mean * statistics.ios as f64;
            self.max_ns = self.max_ns.max(latency.max.unwrap_or(0));
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            ios: self.ios + other.ios,
            bytes: self.bytes + other.bytes,
            errors: self.errors + other.errors,
            sum_ns: self.sum_ns + other.sum_ns,
            max_ns: self.max_ns.max(other.max_ns),
        }
    }
}

/// Everything of several workers on targets.
#[derive(Debug, Clone, Default)]
struct Sum {
    read: DirectionSum,
    write: DirectionSum,
    transactions: f64,
    bins: [u64; 21],
}

impl Sum {
    /// `alone` has the histogram of a thread that has none itself.
    fn add(&mut self, disk: &Disk<'_>, alone: Option<&Statistics>) {
        let Some(thread) = disk.thread else { return };
        self.read.add(&thread.read);
        self.write.add(&thread.write);
        self.transactions += thread.total.ios as f64 * requests_of_an_io(disk.stream);
        let text = thread.total.histogram.as_ref();
        let text = text.or_else(|| alone.and_then(|all| all.histogram.as_ref()));
        let Some(histogram) = text.and_then(|text| Histogram::decode(text).ok()) else { return };
        for (value_ns, count) in histogram.buckets() {
            let bin = BIN_ENDS_NS.partition_point(|end| *end <= value_ns);
            if let Some(bin) = self.bins.get_mut(bin) {
                *bin += count;
            }
        }
    }

    /// The longest transaction; where a request has a reply, no less than it: the two longest I/Os
    /// need not belong together.
    fn transaction_max_ns(&self) -> u64 {
        let both = self.read.and(self.write);
        if self.transactions < both.ios as f64 {
            self.read.max_ns.saturating_add(self.write.max_ns)
        } else {
            both.max_ns
        }
    }

    fn put(&self, row: &mut ResultRow, seconds: f64) {
        let both = self.read.and(self.write);
        let per_s = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
        let ms = |sum_ns: f64, count: f64| if count > 0.0 { sum_ns / count / 1e6 } else { 0.0 };
        let mut figure = |column, value: f64| row.cells.insert(column, Number::Figure(value));
        for (way, [iops, mib, mb, mean, max]) in [
            (both, COLUMNS_OF_BOTH),
            (self.read, COLUMNS_OF_READS),
            (self.write, COLUMNS_OF_WRITES),
        ] {
            figure(iops, per_s(way.ios as f64));
            figure(mib, per_s(way.bytes as f64 / 1_048_576.0));
            figure(mb, per_s(way.bytes as f64 / 1e6));
            figure(mean, ms(way.sum_ns, way.ios as f64));
            figure(max, way.max_ns as f64 / 1e6);
        }
        figure(Column::TransactionsPerS, per_s(self.transactions));
        figure(Column::TransactionMeanMs, ms(both.sum_ns, self.transactions));
        figure(Column::TransactionMaxMs, self.transaction_max_ns() as f64 / 1e6);
        for column in [Column::ConnectionsPerS, Column::ConnectionMeanMs, Column::ConnectionMaxMs] {
            figure(column, 0.0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "far below the limits of 128 bits")]
        let ticks = |ns: f64| ns.round() as i128;
        let wholes = [
            (Column::Errors, both.errors.into()),
            (Column::ReadErrors, self.read.errors.into()),
            (Column::WriteErrors, self.write.errors.into()),
            (Column::BytesRead, self.read.bytes.into()),
            (Column::BytesWritten, self.write.bytes.into()),
            (Column::Reads, self.read.ios.into()),
            (Column::Writes, self.write.ios.into()),
            (Column::Connections, 0),
            (Column::TransactionsPerConnection, -1),
            (Column::RawRead, ticks(self.read.sum_ns)),
            (Column::RawWrite, ticks(self.write.sum_ns)),
            (Column::RawTransaction, ticks(both.sum_ns)),
            (Column::RawConnection, 0),
            (Column::RawReadMax, self.read.max_ns.into()),
            (Column::RawWriteMax, self.write.max_ns.into()),
            (Column::RawTransactionMax, self.transaction_max_ns().into()),
            (Column::RawConnectionMax, 0),
            (Column::RawRun, ticks(seconds * 1e9)),
            (Column::TicksPerS, TICKS_PER_S),
        ];
        let bins = Column::BINS.into_iter().zip(self.bins.map(i128::from));
        for (column, number) in wholes.into_iter().chain(bins) {
            row.cells.insert(column, Number::Whole(number));
        }
    }
}

const COLUMNS_OF_BOTH: [Column; 5] =
    [Column::Iops, Column::MibPerS, Column::MbPerS, Column::MeanMs, Column::MaxMs];
const COLUMNS_OF_READS: [Column; 5] = [
    Column::ReadIops,
    Column::ReadMibPerS,
    Column::ReadMbPerS,
    Column::ReadMeanMs,
    Column::ReadMaxMs,
];
const COLUMNS_OF_WRITES: [Column; 5] = [
    Column::WriteIops,
    Column::WriteMibPerS,
    Column::WriteMbPerS,
    Column::WriteMeanMs,
    Column::WriteMaxMs,
];

/// How many of the I/Os are requests and not replies, by the shares of the mix.
fn requests_of_an_io(stream: &Stream) -> f64 {
    let (mut requests, mut ios) = (0u64, 0u64);
    for part in stream.mix.iter().flat_map(|m| &m.parts) {
        let weight = u64::from(part.percent) * u64::from(part.burst_ios);
        requests += weight;
        ios += weight * if part.reply_bytes.0 > 0 { 2 } else { 1 };
    }
    if ios == 0 { 1.0 } else { requests as f64 / ios as f64 }
}
