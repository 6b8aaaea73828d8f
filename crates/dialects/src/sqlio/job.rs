//! A call of SQLIO as a workload, and the result as SQLIO prints it.

use std::path::{Path, PathBuf};

use results::{Histogram, Measurement, Statistics};
use workload::{
    Block, Buffers, Bytes, Mode, Pattern, Pool, PoolShare, Stream, Target, Workload, show_duration,
};

use super::command::{Affinity, Command, Complaints, Walk};
use super::parameters::{Parameters, place};
use super::printout::{
    Access, BufferKind, Buffering, CpuBlock, Expansion, Figure, FileSize, HISTOGRAM_MS, Load,
    Order, PoolLine, Printout, Timer, VERSION,
};
use crate::drives::Drives;

/// Rows and columns of the pattern from which a missing file of no stated size has its size.
const DEFAULT_BLOCKS: u64 = 64 * 64;
/// The smallest file, in bytes.
const FILE_BYTES_MIN: u64 = 4096;
/// The clock of printed latencies: nanoseconds.
pub(super) const COUNTS_PER_SECOND: u64 = 1_000_000_000;

/// What a call does not say.
pub struct Surroundings<'a> {
    /// The directory or device for each drive.
    pub drives: &'a Drives,
    /// Usable bytes of a file or device as it is now; `None` if it does not exist.
    pub current: &'a dyn Fn(&Path) -> Option<u64>,
    /// Size of files that nothing else says a size of.
    pub size_bytes: Option<Bytes>,
    /// Length of the run instead of that of the call.
    pub seconds: Option<f64>,
}

/// A call of SQLIO as a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The call as a workload of iosonde.
    pub workload: Workload,
    /// As SQLIO says it, without figures.
    pub head: Printout,
    /// What people must know about it.
    pub notes: Vec<String>,
}

/// A file, and the threads that work on it.
struct Piece {
    written: String,
    path: PathBuf,
    /// Threads of its own; `None` if all threads go round all files.
    threads: Option<u32>,
    mask: u64,
    size_mib: Option<u64>,
}

/// What a call does. `parameters` are the name of its parameter file and the lines of it.
pub fn job(
    command: &Command,
    parameters: Option<(&str, &[Parameters])>,
    around: &Surroundings<'_>,
) -> Result<Job, Complaints> {
    let mut wrong = Vec::new();
    let pieces = pieces(command, parameters, around.drives, &mut wrong);
    if let Some((name, lines)) = parameters {
        check(command, name, lines, &mut wrong);
    }
    if !wrong.is_empty() {
        return Err(Complaints(wrong));
    }
    let mut notes = Vec::new();
    let mut head = head(command, parameters, &pieces, around.seconds);
    let mut targets: Vec<Target> = Vec::new();
    let mut of_pieces = Vec::new();
    for piece in &pieces {
        let size_bytes = sized(command, piece, around, &mut head, &mut notes).map(Bytes);
        let known = targets.iter().position(|t| t.path == piece.path);
        let index = known.unwrap_or_else(|| {
            targets.push(Target { path: piece.path.clone(), size_bytes });
            targets.len() - 1
        });
        if let Some(target) = targets.get_mut(index) {
            target.size_bytes = target.size_bytes.max(size_bytes);
        }
        of_pieces.push(index);
    }
    let streams = streams(command, &pieces, &of_pieces, &mut notes);
    let mode = match command.buffering {
        Buffering::None | Buffering::Hardware => Mode::Direct,
        Buffering::All | Buffering::Software => Mode::Buffered,
    };
    let workload = Workload {
        targets,
        streams,
        seconds: around.seconds.unwrap_or_else(|| f64::from(command.seconds)),
        // What SQLIO prints includes the beginning.
        warmup_seconds: 0.0,
        mode,
        ..Workload::default()
    };
    if workload.seconds < 60.0 && command.writes && around.seconds.is_none() {
        notes.push(format!(
            "writes for {} are mostly those to caches; the minutes after them are what the \
             storage can keep up",
            show_duration(workload.seconds)
        ));
    }
    if let Some((BufferKind::Copied, pieces)) = command.buffers {
        notes.push(format!(
            "-mC{pieces}: nothing is copied to or from {pieces} buffers, so the latency is that of \
             the I/O alone"
        ));
    }
    Ok(Job { workload, head, notes })
}

fn pieces(
    command: &Command,
    parameters: Option<(&str, &[Parameters])>,
    drives: &Drives,
    wrong: &mut Vec<String>,
) -> Vec<Piece> {
    let piece = |file: &str, threads, mask, size_mib, place: &str| {
        let path = drives.path(file).map_err(|e| format!("{place}{e}"));
        path.map(|path| Piece { written: file.to_owned(), path, threads, mask, size_mib })
    };
    let found: Vec<Result<Piece, String>> = match parameters {
        Some((name, lines)) => lines
            .iter()
            .map(|l| {
                let place = place(name, l.line, l.columns[0]);
                let file = on_drive(command.drive, &l.file);
                piece(&file, Some(l.threads), l.mask, l.size_mib, &place)
            })
            .collect(),
        None => command
            .files
            .iter()
            .map(|file| piece(file, None, command.affinity.mask, None, ""))
            .collect(),
    };
    found.into_iter().filter_map(|piece| piece.map_err(|e| wrong.push(e)).ok()).collect()
}

/// A file of a parameter file, on the drive of `-d` where it names none.
fn on_drive(drive: Option<char>, file: &str) -> String {
    let names_one = file.get(1..2) == Some(":") || file.starts_with("\\\\");
    match drive.filter(|_| !names_one) {
        Some(drive) => format!("{drive}:{file}"),
        None => file.to_owned(),
    }
}

/// What a parameter file must keep with these options.
fn check(command: &Command, name: &str, lines: &[Parameters], wrong: &mut Vec<String>) {
    let Walk::Columns(columns) = command.order else { return };
    for Parameters { line, columns: places, threads, size_mib, .. } in lines {
        let [_, at_threads, _, at_size] = *places;
        if columns < *threads {
            wrong.push(format!(
                "{}{threads} threads need `-f{threads}` or more, so that each has a column of \
                 blocks; it is {columns}",
                place(name, *line, at_threads)
            ));
        }
        if size_mib.is_some() {
            wrong.push(format!(
                "{}a size goes with `-frandom` and `-fsequential` only; with `-f{columns}` it \
                 follows from `-f`, `-i` and `-b`",
                place(name, *line, at_size)
            ));
        }
    }
}

fn head(
    command: &Command,
    parameters: Option<(&str, &[Parameters])>,
    pieces: &[Piece],
    seconds: Option<f64>,
) -> Printout {
    let own = pieces.iter().filter_map(|p| p.threads).fold(0, u32::saturating_add);
    let threads = if parameters.is_some() { own } else { command.threads.unwrap_or(1) };
    let mut first = 0u32;
    let pools = pieces.iter().filter_map(|p| {
        let pool = PoolLine { file: p.written.clone(), threads: p.threads?, first, mask: p.mask };
        first = first.saturating_add(pool.threads);
        Some(pool)
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let seconds = seconds.map_or(u64::from(command.seconds), |s| s.ceil() as u64);
    let order = match command.order {
        Walk::Random => Order::Random,
        Walk::Sequential => Order::Sequential,
        Walk::Columns(columns) => Order::Striped {
            stripe_kib: u64::from(columns) * u64::from(command.block_kib),
            run_ios: command.run_ios,
        },
    };
    let files = pieces.iter().map(|p| p.written.clone()).collect();
    Printout {
        version: VERSION.to_owned(),
        timer: command.latency.map(|_| Timer { processor: false, per_second: COUNTS_PER_SECOND }),
        parameter_file: parameters.map(|(name, _)| name.to_owned()),
        pools: pools.collect(),
        load: Some(Load { threads, writes: command.writes, seconds, files }),
        access: Some(Access { block_kib: command.block_kib, order }),
        outstanding: (command.outstanding > 0).then_some(command.outstanding),
        buffers: command.buffers,
        buffering: command.buffering,
        ..Printout::default()
    }
}

/// The size a file is to have, or `None` if it stays as it is; and the lines about it.
fn sized(
    command: &Command,
    piece: &Piece,
    around: &Surroundings<'_>,
    head: &mut Printout,
    notes: &mut Vec<String>,
) -> Option<u64> {
    let current = (around.current)(&piece.path);
    let block = u64::from(command.block_kib) << 10;
    let file = piece.written.clone();
    let needed = match (command.order, piece.size_mib, around.size_bytes) {
        (Walk::Columns(columns), _, _) => {
            let blocks = u64::from(columns) * u64::from(command.run_ios);
            Some(command.base_blocks.saturating_add(blocks).saturating_mul(block))
        }
        (_, Some(mib), _) => Some(mib << 20),
        (_, None, Some(Bytes(bytes))) => Some(bytes),
        (_, None, None) => None,
    };
    let needed = needed.or_else(|| {
        let bytes = DEFAULT_BLOCKS * block;
        let made = current.unwrap_or(0) == 0;
        made.then(|| {
            notes.push(format!(
                "`{file}` does not exist, and nothing says how large it is to be: it gets {}, \
                 which caches hold; `--size` or a parameter file say another size",
                Bytes(bytes)
            ));
            bytes
        })
    });
    let needed = needed.map(|bytes| bytes.max(FILE_BYTES_MIN));
    let current = current.unwrap_or(0);
    let grown =
        |bytes: u64| head.expansions.iter().any(|e| e.file == file && e.needed_bytes >= bytes);
    if let Some(needed_bytes) = needed.filter(|needed| *needed > current && !grown(*needed)) {
        head.expansions.push(Expansion {
            file: file.clone(),
            needed_bytes,
            current_bytes: current,
        });
    }
    if !matches!(command.order, Walk::Columns(_)) {
        let (mib, specified) = (
            needed.unwrap_or(current) >> 20,
            piece.size_mib.is_some() || around.size_bytes.is_some(),
        );
        head.sizes.push(FileSize { file, mib, specified });
    }
    match command.order {
        // The pattern keeps to its part of a larger file.
        Walk::Columns(_) => needed.filter(|needed| *needed > current),
        Walk::Random | Walk::Sequential => needed,
    }
}

fn streams(
    command: &Command,
    pieces: &[Piece],
    of_pieces: &[usize],
    notes: &mut Vec<String>,
) -> Vec<Stream> {
    let stream = stream(command);
    let own = pieces.iter().filter_map(|p| p.threads).count();
    if own == 0 {
        let several = of_pieces.iter().max().is_some_and(|last| *last > 0);
        let share = if command.outstanding > 0 { PoolShare::Each } else { PoolShare::InTurn };
        let cpus = cpus(command.affinity, notes);
        let threads = command.threads.unwrap_or(1);
        return vec![Stream { threads, cpus, pool: several.then_some(Pool { share }), ..stream }];
    }
    let several = own > 1;
    let pool = |(number, piece): (usize, &Piece)| Stream {
        name: if several { format!("file {}", number + 1) } else { stream.name.clone() },
        targets: if several {
            of_pieces.get(number).copied().into_iter().collect()
        } else {
            Vec::new()
        },
        threads: piece.threads.unwrap_or(1),
        cpus: cpus(Affinity { mask: piece.mask, ..Affinity::default() }, notes),
        ..stream.clone()
    };
    pieces.iter().enumerate().map(pool).collect()
}

/// The stream that every thread works through.
fn stream(command: &Command) -> Stream {
    let block = u64::from(command.block_kib) << 10;
    let pattern = match command.order {
        Walk::Random => Pattern::Random,
        Walk::Sequential => Pattern::SequentialShared,
        Walk::Columns(columns) => {
            Pattern::Matrix { columns, rows: command.run_ios, same_column: command.same_column }
        }
    };
    let through = matches!(command.buffering, Buffering::None | Buffering::Software);
    Stream {
        depth: command.outstanding.max(1),
        blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
        pattern,
        write_percent: if command.writes { 100 } else { 0 },
        durable: command.writes && through,
        offset_bytes: Bytes(command.base_blocks.saturating_mul(block)),
        buffers: match command.buffers {
            Some((BufferKind::Scattered, pieces)) => Buffers::Scattered { pieces },
            None | Some((BufferKind::Copied, _)) => Buffers::Single,
        },
        ..Stream::default()
    }
}

/// The CPUs that a mask selects.
fn cpus(affinity: Affinity, notes: &mut Vec<String>) -> Vec<u32> {
    if affinity.ideal {
        return Vec::new();
    }
    let mask = affinity.mask;
    if mask.count_ones() > 1 && !affinity.in_turn {
        notes.push(format!(
            "mask {mask:#x}: each thread is bound to one of its CPUs, in turn, and not free to \
             change between them"
        ));
    }
    (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect()
}

impl Job {
    /// What SQLIO would print of the measurement. The fractions that it cuts off are cut off here,
    /// too.
    #[must_use]
    pub fn printout(&self, command: &Command, measurement: &Measurement) -> Printout {
        let total = &measurement.total;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let hundredths = (total.iops * 100.0).round() as u64;
        let timed = command.latency.is_some();
        Printout {
            iops: Some(Figure::hundredths(hundredths)),
            mib_per_s: Some(Figure::hundredths(mib_hundredths(hundredths, command.block_kib))),
            cpu: command.cpu.and_then(|_| cpu_block(measurement)),
            latency_ms: if timed { latency_ms(total) } else { [None; 3] },
            histogram: timed.then(|| histogram(total)),
            ..self.head.clone()
        }
    }
}

/// MBs/sec follows from the printed IOs/sec, so that a check of one against the other finds them
/// equal.
fn mib_hundredths(iops_hundredths: u64, block_kib: u32) -> u64 {
    let mib = u128::from(iops_hundredths) * u128::from(block_kib) / 1024;
    u64::try_from(mib).unwrap_or(u64::MAX)
}

fn latency_ms(total: &Statistics) -> [Option<f64>; 3] {
    let found = total
        .latency_ns
        .map(|l| [l.min.map(|ns| ns as f64), Some(l.mean), l.max.map(|ns| ns as f64)]);
    // Of a run in which nothing came back, SQLIO prints zeros.
    found.map_or([Some(0.0); 3], |ns| ns.map(|ns| Some((ns? / 1e6).floor())))
}

/// I/Os of each millisecond; the last is that of all longer ones.
#[must_use]
pub fn ios_by_ms(total: &Statistics) -> [u64; HISTOGRAM_MS] {
    let found = total.histogram.as_deref().and_then(|text| Histogram::decode(text).ok());
    let mut counts = [0u64; HISTOGRAM_MS];
    // A bucket across the beginning of a millisecond counts where its middle is, but never where no
    // I/O was.
    let known =
        total.latency_ns.and_then(|l| l.min.zip(l.max)).filter(|(least, most)| least <= most);
    let known = known.unwrap_or((0, u64::MAX));
    for (ns, count) in found.iter().flat_map(Histogram::buckets) {
        let ns = ns.clamp(known.0, known.1);
        let ms = usize::try_from(ns / 1_000_000).unwrap_or(usize::MAX);
        counts[ms.min(HISTOGRAM_MS - 1)] += count;
    }
    counts
}

/// Percent of the I/Os in each millisecond, rounded each by itself.
fn histogram(total: &Statistics) -> [u8; HISTOGRAM_MS] {
    let counts = ios_by_ms(total);
    let all = counts.iter().sum::<u64>().max(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    counts.map(|count| (100.0 * count as f64 / all).round() as u8)
}

/// What this system reports about its CPUs; empty if it reports nothing.
fn cpu_block(measurement: &Measurement) -> Option<CpuBlock> {
    let cpus = measurement.environment.host.as_ref().map(|h| h.cpus).filter(|n| *n > 0)?;
    let of_all = |seconds: f64| 100.0 * seconds / (measurement.seconds * f64::from(cpus)).max(1e-9);
    let row = |name: &str, percent: f64| (name.to_owned(), vec![percent]);
    let cpu = &measurement.cpu;
    let rows = [
        ("PrivilegedTime(%)", cpu.system_s.map(of_all)),
        ("ProcessorTime(%)", cpu.host_percent),
        ("UserTime(%)", cpu.user_s.map(of_all)),
    ];
    let rows = rows.into_iter().filter_map(|(name, percent)| Some(row(name, percent?))).collect();
    Some(CpuBlock { columns: vec!["ALL".to_owned()], rows })
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
