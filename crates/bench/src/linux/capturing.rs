//! What recording costs: random reads of 4 KiB from a loop device in memory, 32 in flight, with and
//! without a recording, in turns, by each method.
//!
//! A loop device takes every I/O through the kernel's block layer and none to a disk, so that the
//! load is limited by the processors, and what recording takes from them shows.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{scope, sleep};
use std::time::Duration;

use capture::{Method, Recorder, RecorderOptions};
use jobs::{Event, RecordRequest, Sink};
use truth::LoopDevice;

use super::peers::median;
use super::{Error, PeersArgs, tools};

/// The size of the device that is read, in bytes.
const BYTES: usize = 256 << 20;
const DEPTH: u32 = 32;
/// What the program in the kernel may take, by the kernel's own count.
const PROGRAM_NS_MAX: f64 = 150.0;
/// Polls in a window of the kernel's count.
const POLLS: u32 = 5;
/// Switches on the kernel's count of a program's runs and time.
const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

/// The program that reads, and the device that it reads.
#[derive(Debug, Clone, Copy)]
struct Load<'a> {
    iosonde: &'a Path,
    device: &'a Path,
}

/// What one run of the load reached, and what it cost.
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
pub(super) fn run(iosonde: &Path, args: &PeersArgs) -> Result<(String, bool), Error> {
    let directory = tempfile::Builder::new().prefix("iosonde-bench-").tempdir_in("/dev/shm")?;
    let file = directory.path().join("disk");
    // It holds data: a hole would be read without a page.
    fs::write(&file, vec![7; BYTES])?;
    let device = LoopDevice::attach(&file)?;
    let load = Load { iosonde, device: device.path() };
    let trace = directory.path().join("bench.iotrace");
    let optimised = if cfg!(debug_assertions) { " (not optimised)" } else { "" };
    let mut table = format!(
        "| method | pairs | IOPS without | throughput lost (quartiles) | ns an I/O added \
         (quartiles) | reader{optimised}, ns an I/O | of a core at 100,000 IOPS | bytes an I/O | \
         events lost |\n|---|---|---|---|---|---|---|---|---|\n"
    );
    for (name, method) in [("eBPF", Method::Ebpf), ("tracefs", Method::Tracefs)] {
        let pairs = (0..args.rounds * 2)
            .map(|round| pair(load, (method, round % 2 == 0), &trace, args.seconds))
            .collect::<Result<Vec<_>, Error>>()?;
        row(&mut table, name, &pairs)?;
    }
    let [calm, middle, _] = program(load, 2.0 * args.seconds)?;
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

/// The lower quartile, the median and the upper quartile.
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
    reads: Load<'_>,
    (method, is_on_first): (Method, bool),
    trace: &Path,
    seconds: f64,
) -> Result<Pair, Error> {
    let mut off = None;
    if !is_on_first {
        off = Some(load(reads, seconds)?);
    }
    let (on, reader_ns, trace_bytes, lost) = recorded(reads, method, trace, seconds)?;
    let off = off.map_or_else(|| load(reads, seconds), Ok)?;
    let off = of(off, seconds, 0.0);
    Ok(Pair { off, on, reader_ns, trace_bytes, lost })
}

/// What a load came to, while a reader used this much of the processors.
fn of(run: tools::Run, seconds: f64, reader_s: f64) -> Segment {
    let left_s = processors() as f64 * seconds - reader_s;
    Segment { iops: run.iops, ns: left_s / run.ios * 1e9 }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Reads the device at random for so many seconds.
fn load(load: Load<'_>, seconds: f64) -> Result<tools::Run, Error> {
    tools::iosonde(load.iosonde, &tools::iosonde_arguments(load.device, "auto", DEPTH, seconds))
}

/// Sends a message when recording has begun.
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
    reads: Load<'_>,
    method: Method,
    trace: &Path,
    seconds: f64,
) -> Result<(Segment, f64, f64, u64), Error> {
    let targets = [reads.device.to_owned()];
    let (stop, (begun, first)) = (AtomicBool::new(false), channel());
    let request = RecordRequest {
        targets: &targets,
        method,
        pids: &[],
        cgroup: None,
        seconds: None,
        output: trace,
        overwrite: false,
        onto_recorded: false,
        names: false,
        databases: &[],
    };
    let (run, cpu_s) = scope(|scope| -> Result<(tools::Run, f64), Error> {
        let thread = scope.spawn(|| {
            let before = cpu_s();
            let recorded = jobs::record_trace(&request, &mut Begun(begun), &stop);
            recorded.map(|_| cpu_s() - before).map_err(|error| error.to_string())
        });
        // Without a message, the thread ended with an error, which is told below.
        let has_begun = first.recv().is_ok();
        let run = if has_begun { load(reads, seconds) } else { Ok(tools::Run::default()) };
        stop.store(true, Ordering::Relaxed);
        let cpu_s = thread.join().map_err(|_| "the thread that records has died")??;
        Ok((run?, cpu_s))
    })?;
    let mut reader = trace::Reader::new(BufReader::new(File::open(trace)?))?;
    let kept = reader.by_ref().map_while(Result::ok).count() as f64;
    let bytes = fs::metadata(trace)?.len() as f64;
    let on = of(run, seconds, cpu_s);
    Ok((on, cpu_s / kept * 1e9, bytes / kept, reader.lost()))
}

/// CPU time of this thread in seconds.
fn cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Time of the program in the kernel per I/O, by the kernel's statistics: quartiles of windows.
fn program(reads: Load<'_>, seconds: f64) -> Result<[f64; 3], Error> {
    let name = reads.device.file_name().and_then(|name| name.to_str()).unwrap_or_default();
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
        let done = load(reads, seconds);
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
