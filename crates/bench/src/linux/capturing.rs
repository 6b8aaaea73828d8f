//! What recording costs: random reads of 4 KiB from a loop device in memory, with and without a
//! recording, in turns, by each method.
//!
//! A loop device takes every I/O through the kernel's block layer and none to a disk, so that the
//! load is limited by the processors, and what recording takes from them shows.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use capture::{Method, Recorder, RecorderOptions};
use jobs::{Event, RecordRequest, Sink};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use truth::LoopDevice;

use super::peers::median;
use super::{Error, PeersArgs};

/// Pages of 4 KiB of the device.
const PAGES: u64 = 65_536;
const PAGE: usize = 4096;
/// What the program in the kernel may take, by the kernel's own count.
const PROGRAM_NS_MAX: f64 = 150.0;
/// Polls in a window of the kernel's count.
const POLLS: u32 = 5;
/// Switches the kernel's count on.
const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

/// What a load came to.
#[derive(Debug, Clone, Copy)]
struct Segment {
    iops: f64,
    /// Time of all processors per I/O, without that of the reader.
    ns: f64,
}

/// A load without a recording and the same with one.
#[derive(Debug, Clone, Copy)]
struct Pair {
    off: Segment,
    on: Segment,
    /// CPU time of the thread that reads and writes the trace, per I/O.
    reader_ns: f64,
    trace_bytes: f64,
    lost: u64,
}

/// Measures, and gives the figures as a table, and whether what must hold does.
pub(super) fn run(args: &PeersArgs) -> Result<(String, bool), Error> {
    let directory = tempfile::Builder::new().prefix("iosonde-bench-").tempdir_in("/dev/shm")?;
    let file = directory.path().join("disk");
    // It holds data: a hole would be read without a page.
    fs::write(&file, vec![7; usize::try_from(PAGES)? * PAGE])?;
    let device = LoopDevice::attach(&file)?;
    let trace = directory.path().join("bench.iotrace");
    let optimised = if cfg!(debug_assertions) { " (not optimised)" } else { "" };
    let mut table = format!(
        "| method | pairs | IOPS without | throughput lost (quartiles) | ns an I/O added \
         (quartiles) | reader{optimised}, ns an I/O | of a core at 100,000 IOPS | bytes an I/O | \
         events lost |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    for (name, method) in [("eBPF", Method::Ebpf), ("tracefs", Method::Tracefs)] {
        let pairs = (0..args.rounds * 2)
            .map(|round| pair(device.path(), (method, round % 2 == 0), &trace, args.seconds))
            .collect::<Result<Vec<_>, Error>>()?;
        row(&mut table, name, &pairs)?;
    }
    let [calm, middle, _] = program(device.path(), 2.0 * args.seconds)?;
    let holds = middle <= PROGRAM_NS_MAX;
    let verdict = if holds { "holds" } else { "BROKEN" };
    writeln!(
        table,
        "\nThe program in the kernel takes {middle:.0} ns an I/O (median of windows of 0.1 s; at \
         most {calm:.0} ns in the calmest quarter of them), by the kernel's own count, whose cost \
         is in the figures. At most {PROGRAM_NS_MAX} ns in the median: {verdict}."
    )?;
    Ok((table, holds))
}

/// The quartiles of figures.
fn quartiles(figures: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut all: Vec<f64> = figures.collect();
    all.sort_by(f64::total_cmp);
    let at = |quarter: usize| all.get((all.len().saturating_sub(1)) * quarter / 4).copied();
    [at(1).unwrap_or(f64::NAN), median(all.clone()), at(3).unwrap_or(f64::NAN)]
}

fn row(table: &mut String, name: &str, pairs: &[Pair]) -> Result<(), Error> {
    let middle = |figure: fn(&Pair) -> f64| median(pairs.iter().map(figure).collect());
    let [lost1, lost2, lost3] =
        quartiles(pairs.iter().map(|pair| 100.0 * (1.0 - pair.on.iops / pair.off.iops)));
    let [ns1, ns2, ns3] = quartiles(pairs.iter().map(|pair| pair.on.ns - pair.off.ns));
    let reader_ns = middle(|pair| pair.reader_ns);
    writeln!(
        table,
        "| {name} | {} | {:.0} | {lost2:.1} % ({lost1:.1} to {lost3:.1}) | {ns2:.0} ({ns1:.0} to \
         {ns3:.0}) | {reader_ns:.0} | {:.1} % | {:.2} | {} |",
        pairs.len(),
        middle(|pair| pair.off.iops),
        reader_ns * 100_000.0 / 1e9 * 100.0,
        middle(|pair| pair.trace_bytes),
        pairs.iter().map(|pair| pair.lost).sum::<u64>()
    )?;
    Ok(())
}

/// The load twice, with the recording in one of them.
fn pair(
    device: &Path,
    (method, is_on_first): (Method, bool),
    trace: &Path,
    seconds: f64,
) -> Result<Pair, Error> {
    let mut off = None;
    if !is_on_first {
        off = Some(segment(device, seconds, 0.0)?);
    }
    let (on, reader_ns, trace_bytes, lost) = recorded(device, method, trace, seconds)?;
    let off = off.map_or_else(|| segment(device, seconds, 0.0), Ok)?;
    Ok(Pair { off, on, reader_ns, trace_bytes, lost })
}

/// Random reads from all processors, and what they came to.
fn segment(device: &Path, seconds: f64, reader_s: f64) -> Result<Segment, Error> {
    let ios = load(device, seconds)? as f64;
    Ok(of(ios, seconds, reader_s))
}

fn of(ios: f64, seconds: f64, reader_s: f64) -> Segment {
    Segment { iops: ios / seconds, ns: (processors() as f64 * seconds - reader_s) / ios * 1e9 }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Reads from all processors for this time; how often.
fn load(device: &Path, seconds: f64) -> Result<u64, Error> {
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(seconds);
    let reader = |seed: usize| -> std::io::Result<u64> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(device)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed as u64);
        let mut room = vec![0; 2 * PAGE];
        let skip = room.as_ptr().align_offset(PAGE);
        let page = room.get_mut(skip..skip + PAGE).unwrap_or_default();
        let mut ios = 0;
        while Instant::now() < end {
            file.read_exact_at(page, random.next_u64() % PAGES * PAGE as u64)?;
            ios += 1;
        }
        Ok(ios)
    };
    scope(|scope| {
        let threads: Vec<_> =
            (0..processors()).map(|seed| scope.spawn(move || reader(seed))).collect();
        let counts = threads.into_iter().map(|thread| match thread.join() {
            Ok(count) => count.map_err(Error::from),
            Err(_) => Err("a thread that reads has died".into()),
        });
        counts.sum()
    })
}

/// Says when recording has begun.
struct Begun(Sender<()>);

impl Sink for Begun {
    fn hear(&mut self, event: &Event) {
        if matches!(event, Event::Notice { .. }) {
            // Nobody listens any more after the first.
            let _ = self.0.send(());
        }
    }
}

/// The load with a recording: the load, CPU time of the reader and bytes per I/O, events lost.
fn recorded(
    device: &Path,
    method: Method,
    trace: &Path,
    seconds: f64,
) -> Result<(Segment, f64, f64, u64), Error> {
    let targets = [PathBuf::from(device)];
    let (stop, (begun, first)) = (AtomicBool::new(false), channel());
    let request = RecordRequest {
        targets: &targets,
        method,
        pids: &[],
        cgroup: None,
        seconds: None,
        output: trace,
        onto_recorded: false,
    };
    let (ios, cpu_s) = scope(|scope| -> Result<(u64, f64), Error> {
        let thread = scope.spawn(|| {
            let before = cpu_s();
            let recorded = jobs::record_trace(&request, &mut Begun(begun), &stop);
            recorded.map(|_| cpu_s() - before).map_err(|error| error.to_string())
        });
        // Without a message, the thread ended with an error, which is told below.
        let has_begun = first.recv().is_ok();
        let ios = if has_begun { load(device, seconds) } else { Ok(0) };
        stop.store(true, Ordering::Relaxed);
        let cpu_s = thread.join().map_err(|_| "the thread that records has died")??;
        Ok((ios?, cpu_s))
    })?;
    let mut reader = trace::Reader::new(BufReader::new(File::open(trace)?))?;
    let kept = reader.by_ref().map_while(Result::ok).count() as f64;
    let bytes = fs::metadata(trace)?.len() as f64;
    let on = of(ios as f64, seconds, cpu_s);
    Ok((on, cpu_s / kept * 1e9, bytes / kept, reader.lost()))
}

/// CPU time of this thread in seconds.
fn cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Time of the program in the kernel per I/O, by the kernel's statistics: quartiles of windows.
fn program(device: &Path, seconds: f64) -> Result<[f64; 3], Error> {
    let name = device.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let devices = [name.to_owned()];
    let method = Method::Ebpf;
    let options = RecorderOptions { devices: &devices, method, processes: &[], cgroup: None };
    let mut recorder = Recorder::start(&options, &mut || {})?;
    let before = fs::read_to_string(STATISTICS)?;
    fs::write(STATISTICS, "1")?;
    let stop = AtomicBool::new(false);
    let (done, costs) = scope(|scope| {
        let thread = scope.spawn(|| {
            let mut costs = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                for _ in 0..POLLS {
                    recorder.poll()?;
                    sleep(Duration::from_millis(20));
                }
                costs.extend(recorder.program_cost()?);
            }
            Ok::<_, capture::CaptureError>(costs)
        });
        let done = load(device, seconds);
        stop.store(true, Ordering::Relaxed);
        (done, thread.join())
    });
    fs::write(STATISTICS, before.trim())?;
    done?;
    let costs = costs.map_err(|_| "the thread that records has died")??;
    let windows = costs.windows(2).filter_map(|pair| {
        let [before, after] = pair else { return None };
        let (runs, time_ns) = (after.runs - before.runs, after.time_ns - before.time_ns);
        (runs > 0).then(|| time_ns as f64 / runs as f64)
    });
    Ok(quartiles(windows))
}
