//! How punctual a replay is: a trace of 50,000 reads per second, made again by iosonde and by fio
//! (`read_iolog`), on a file of this host.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

use super::{Error, PeersArgs, tools};

/// Reads per second of the trace.
const IOPS: u64 = 50_000;
/// Pages of 4 KiB that it reads.
const PAGES: u64 = 65_536;
/// The latest that 99 % of the I/Os may be issued.
const LAG_P99_MAX_US: f64 = 100.0;

/// Replays, and gives the figures as a table, and whether the limit holds.
pub(super) fn run(iosonde: &Path, args: &PeersArgs) -> Result<(String, bool), Error> {
    let place = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let directory = tempfile::Builder::new().prefix("iosonde-bench-").tempdir_in(place)?;
    let directory = directory.path();
    let (csv, log, data) =
        (directory.join("trace.csv"), directory.join("trace.log"), directory.join("fio.data"));
    write_traces(args.seconds, (&csv, &log), &data)?;
    let trace = directory.join("bench.iotrace").display().to_string();
    let import = ["capture", "import", "-o", &trace, &csv.display().to_string()];
    tools::timed(iosonde.as_os_str(), &import.map(str::to_owned))?;
    let mut table =
        "| replay of 50,000 reads per second | time taken, times the trace's | late p50 \
                     | late p99 | late max | CPU |  |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    let mut best = f64::MAX;
    for _ in 0..args.rounds {
        let here = directory.display().to_string();
        let flags = ["replay", &trace, &here, "--json", "--quiet", "--no-history"];
        let flags = flags.map(str::to_owned);
        let (output, user_s, system_s) = tools::timed(iosonde.as_os_str(), &flags)?;
        let result: Value = serde_json::from_slice(&output.stdout)?;
        let figure = |name: &str| {
            let pointer = format!("/conclusion/results/0/{name}");
            result.pointer(&pointer).and_then(Value::as_f64).unwrap_or(f64::NAN)
        };
        let [p50, p99, max] = ["p50", "p99", "max"].map(|q| figure(&format!("lag_ns/{q}")) / 1e3);
        let holds = if p99 <= LAG_P99_MAX_US { "holds" } else { "late" };
        let (ratio, cpu) = (figure("elapsed_ratio"), user_s + system_s);
        writeln!(
            table,
            "| iosonde | {ratio:.3} | {p50:.0} µs | {p99:.0} µs | {max:.0} µs | {cpu:.1} s \
             | {holds} |"
        )?;
        best = best.min(p99);
    }
    if tools::version("fio".as_ref()).is_some() {
        for engine in ["io_uring", "libaio"] {
            let flags = format!(
                "--name=replay --read_iolog={} --direct=1 --iodepth=256 --output-format=json \
                 --ioengine={engine}",
                log.display()
            );
            let flags: Vec<String> = flags.split(' ').map(str::to_owned).collect();
            let begun = Instant::now();
            let (_, user_s, system_s) = tools::timed("fio".as_ref(), &flags)?;
            let (ratio, cpu) = (begun.elapsed().as_secs_f64() / args.seconds, user_s + system_s);
            writeln!(table, "| fio, {engine} | {ratio:.3} | – | – | – | {cpu:.1} s |  |")?;
        }
    }
    // The host may be late; that iosonde is never punctual would be its fault.
    Ok((table, best <= LAG_P99_MAX_US))
}

/// The same reads as lines of MSR Cambridge and as a log of fio (version 2), at whole microseconds.
fn write_traces(seconds: f64, (csv, log): (&Path, &Path), data: &Path) -> Result<(), Error> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(28);
    let file = data.display();
    let (mut lines, mut commands) =
        (String::new(), format!("fio version 2 iolog\n{file} add\n{file} open\n"));
    let (mut now_us, mut waited_us) = (0u64, 0);
    while now_us as f64 / 1e6 < seconds {
        // Any gap from none to twice the mean.
        now_us += random.next_u64() % (2 * 1_000_000 / IOPS + 1);
        let offset = random.next_u64() % PAGES * 4096;
        writeln!(lines, "{},bench,0,Read,{offset},4096,1000", 1 << 56 | (now_us * 10))?;
        writeln!(commands, "{file} wait {}\n{file} read {offset} 4096", now_us - waited_us)?;
        waited_us = now_us;
    }
    writeln!(commands, "{file} close")?;
    fs::write(csv, lines)?;
    fs::write(log, commands)?;
    // It holds data, so that reads reach the device.
    let block: Vec<u8> = (0..1 << 20).map(|_| random.next_u64().to_le_bytes()[0]).collect();
    fs::write(data, block.repeat(usize::try_from((PAGES * 4096) >> 20)?))?;
    Ok(())
}
