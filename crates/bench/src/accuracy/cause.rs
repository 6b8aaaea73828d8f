//! Which limit `iosonde knee` names on devices whose limit is known.

use analysis::cause::Link;
use results::cause::Cause;
use survey::{KneeOptions, Publish, Timing};
use workload::{
    Bytes, EngineChoice, Nanoseconds, SimAssignment, SimBucket, SimDevice, SimNoise, SimService,
};

use super::knee::{Chance, conduct, options, whole};
use super::table;
use crate::linux::Error;

const SEEDS: u64 = 50;
/// Runs of the engine `null`, which take real time.
const NULL_RUNS: u64 = 5;
/// Noise from run to run, in percent.
const NOISE_PERCENT: f64 = 3.0;

/// The causes that are columns of the table.
const CAUSES: [Cause; 7] = [
    Cause::Device,
    Cause::Link,
    Cause::Queue,
    Cause::Throttle,
    Cause::Tool,
    Cause::NotReached,
    Cause::Unknown,
];

/// A kind of device and the cause that is right.
struct Kind {
    name: &'static str,
    right: Cause,
    make: fn(&mut Chance, u64) -> KneeOptions,
    seeds: u64,
}

const fn kind(name: &'static str, right: Cause, make: fn(&mut Chance, u64) -> KneeOptions) -> Kind {
    Kind { name, right, make, seeds: SEEDS }
}

const KINDS: [Kind; 11] = [
    kind("4 to 64 servers", Cause::Device, servers),
    kind("8 to 32 random channels, exponential", Cause::Device, channels),
    kind("8 to 64 servers, a queue of 128 that is known", Cause::Device, wide_queue),
    kind("link of 2GFC, named", Cause::Link, named_link),
    kind("link of 100 to 800 MB/s, not named", Cause::Link, unnamed_link),
    kind("a known queue of 8 to 64", Cause::Queue, queue),
    kind("bucket of 500 to 8 000 IOPS, no burst", Cause::Throttle, bucket),
    kind("bucket of 500 to 8 000 IOPS, burst of 2 s", Cause::Throttle, burst),
    kind("bucket of 50 to 400 MB/s, burst of 2 s", Cause::Throttle, bytes_bucket),
    kind("1 000 servers", Cause::NotReached, endless),
    Kind { name: "no device (engine `null`)", right: Cause::Tool, make: null, seeds: NULL_RUNS },
];

fn device(servers: f64) -> SimDevice {
    let ns = Nanoseconds(2_000_000);
    let noise = Some(SimNoise { run_percent: NOISE_PERCENT, io_percent: 10.0, drift: None });
    SimDevice { servers: whole(servers), read_ns: ns, write_ns: ns, noise, ..SimDevice::default() }
}

fn on(sim: SimDevice, block: u64, seed: u64) -> KneeOptions {
    options(EngineChoice::Sim, Some(sim), block, seed)
}

fn servers(chance: &mut Chance, seed: u64) -> KneeOptions {
    on(device(chance.size(4.0, 64.0)), 8192, seed)
}

fn channels(chance: &mut Chance, seed: u64) -> KneeOptions {
    let (assignment, service) = (SimAssignment::Random, SimService::Exponential);
    let sim = SimDevice { assignment, service, ..device(chance.size(8.0, 32.0)) };
    KneeOptions { in_flight: (1, 1024), ..on(sim, 8192, seed) }
}

fn wide_queue(chance: &mut Chance, seed: u64) -> KneeOptions {
    on(SimDevice { queue_limit: Some(128), ..device(chance.size(8.0, 64.0)) }, 8192, seed)
}

fn linked(bytes_per_s: f64, seed: u64) -> KneeOptions {
    let link_bytes_per_s = Some(Bytes(u64::from(whole(bytes_per_s))));
    on(SimDevice { link_bytes_per_s, ..device(512.0) }, 65_536, seed)
}

fn named_link(chance: &mut Chance, seed: u64) -> KneeOptions {
    let link = "2GFC".parse::<Link>().ok().publish();
    KneeOptions { link, ..linked(chance.size(180e6, 200e6), seed) }
}

fn unnamed_link(chance: &mut Chance, seed: u64) -> KneeOptions {
    linked(chance.size(100e6, 800e6), seed)
}

fn queue(chance: &mut Chance, seed: u64) -> KneeOptions {
    let queue_limit = Some(whole(chance.size(8.0, 64.0)));
    on(SimDevice { queue_limit, ..device(512.0) }, 8192, seed)
}

fn bucket(chance: &mut Chance, seed: u64) -> KneeOptions {
    let iops = Some(u64::from(whole(chance.size(500.0, 8000.0))));
    let bucket = Some(SimBucket { iops, burst_ios: 1, ..SimBucket::default() });
    on(SimDevice { bucket, ..device(512.0) }, 8192, seed)
}

fn burst(chance: &mut Chance, seed: u64) -> KneeOptions {
    let iops = u64::from(whole(chance.size(500.0, 8000.0)));
    let bucket = SimBucket { iops: Some(iops), burst_ios: 2 * iops, ..SimBucket::default() };
    long(on(SimDevice { bucket: Some(bucket), ..device(512.0) }, 8192, seed))
}

fn bytes_bucket(chance: &mut Chance, seed: u64) -> KneeOptions {
    let rate = u64::from(whole(chance.size(50e6, 400e6)));
    let (bytes_per_s, burst_bytes) = (Some(Bytes(rate)), Bytes(2 * rate));
    let bucket = Some(SimBucket { bytes_per_s, burst_bytes, ..SimBucket::default() });
    long(on(SimDevice { bucket, ..device(512.0) }, 65_536, seed))
}

/// As long as `iosonde knee` measures: a burst is to be over long before the end.
fn long(options: KneeOptions) -> KneeOptions {
    let setup = options.setup;
    KneeOptions { setup: survey::Setup { timing: Timing::default(), ..setup }, ..options }
}

fn endless(_: &mut Chance, seed: u64) -> KneeOptions {
    on(device(1000.0), 8192, seed)
}

fn null(_: &mut Chance, seed: u64) -> KneeOptions {
    let options = options(EngineChoice::Null, None, 8192, seed);
    let timing =
        Timing { seconds: 0.2, warmup_seconds: 0.05, precision: None, settle_seconds: 0.0 };
    KneeOptions { setup: survey::Setup { timing, ..options.setup }, ..options }
}

/// The cause that is named first, of each seed.
fn named(kind: &Kind, seeds: u64) -> Result<Vec<Cause>, Error> {
    let named = |seed| {
        let options = (kind.make)(&mut Chance::new(seed), seed);
        let found = conduct(&options)?.conclusion;
        Ok(found.causes.first().map_or(Cause::Unknown, |likely| likely.cause))
    };
    (1..=seeds).map(named).collect()
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let mut rows = Vec::new();
    for kind in &KINDS {
        let named = named(kind, kind.seeds)?;
        let count = |cause: &Cause| {
            let count = named.iter().filter(|named| *named == cause).count();
            match count {
                0 => String::new(),
                count if *cause == kind.right => format!("**{count}**"),
                count => count.to_string(),
            }
        };
        let mut row = vec![kind.name.to_owned()];
        row.extend(CAUSES.iter().map(count));
        rows.push(row);
    }
    let mut heads = vec!["bottleneck"];
    heads.extend(CAUSES.iter().map(|cause| cause.title()));
    Ok(format!(
        "Each row has a true bottleneck, and counts the causes that `iosonde knee` named first; \
         the right cause is in bold. There are {SEEDS} simulated devices of each kind ({NULL_RUNS} \
         runs without a device). Their service times of 2 ms vary by {NOISE_PERCENT} % from one \
         measurement to the next. The table leaves out what a simulated device cannot show: CPU, \
         kernel queues, two paths. No load can tell a link from a bucket of bytes whose burst is \
         over before the window begins.\n\n{}",
        table(&heads, &rows)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_right_on_each_kind_of_device() {
        for kind in KINDS.iter().filter(|kind| kind.right != Cause::Tool) {
            let named = named(kind, 5).unwrap();
            let right = named.iter().filter(|named| **named == kind.right).count();
            assert!(right >= 4, "{}: {named:?}", kind.name);
        }
    }
}
