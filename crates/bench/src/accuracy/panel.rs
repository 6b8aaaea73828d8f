//! What `iosonde assess` says of devices on which an expert knows the answer.
//!
//! The expectations were written down before the devices were assessed. How much fits within 20 ms
//! comes from a queue simulated apart from this program: arrivals by chance, service as the device
//! has it, first come first served, the 99th percentile of reads.

use std::ops::RangeInclusive;
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::cause::{Cause, Certainty};
use results::verdict::{Class, Database, Level, Role, Sureness, Verdict};
use results::{Assessment, Pace};
use survey::{AssessOptions, LabContext, assess, limits_of};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, SimAssignment, SimBucket, SimCache, SimCacheKind,
    SimDevice, SimDrift, SimMisaligned, SimNoise, SimService, SimStall, SimWriteCache,
};

use super::table;
use crate::linux::Error;

/// What an expert would answer about one device.
struct Expected {
    /// IOPS of 8 KiB, 70/30, with the 99th percentile of reads within 20 ms; 0 where no load has
    /// it, or `None` if it cannot be judged.
    iops: Option<f64>,
    /// How sure the verdict on them may be.
    sureness: RangeInclusive<Sureness>,
    /// The bottleneck of 8 KiB random reads: any of these may be named first.
    causes: &'static [Cause],
    /// What else the report must say.
    says: &'static [&'static str],
}

/// A device, and the truth about it.
struct Known {
    name: &'static str,
    class: Option<Class>,
    sim: SimDevice,
    expected: Expected,
}

/// The report's answer on a device, and whether it is right.
struct Said {
    name: &'static str,
    expected: String,
    found: String,
    sureness: String,
    cause: String,
    wrong: Vec<&'static str>,
    confidently_wrong: bool,
}

fn us(us: u64) -> Nanoseconds {
    Nanoseconds(us * 1000)
}

fn device(servers: u32, read_us: u64, write_us: u64) -> SimDevice {
    SimDevice {
        servers,
        read_ns: us(read_us),
        write_ns: us(write_us),
        sync_ns: us(write_us),
        durable_ns: Some(us(10)),
        ..SimDevice::default()
    }
}

/// A disk whose seeks differ from one another.
fn disk(servers: u32, service_us: u64) -> SimDevice {
    let noise = Some(SimNoise { io_percent: 25.0, ..SimNoise::default() });
    SimDevice { noise, ..device(servers, service_us, service_us) }
}

fn exponential(servers: u32, service_us: u64, assignment: SimAssignment) -> SimDevice {
    let service = SimService::Exponential;
    SimDevice { service, assignment, ..device(servers, service_us, service_us) }
}

fn bucket(iops: u64, burst_ios: u64) -> SimDevice {
    let bucket = Some(SimBucket { iops: Some(iops), burst_ios, ..SimBucket::default() });
    SimDevice { bucket, ..device(64, 800, 800) }
}

fn stalls(period_ms: u64, length_ms: u64) -> SimDevice {
    let stall = SimStall { period_ns: us(period_ms * 1000), length_ns: us(length_ms * 1000) };
    SimDevice { stall: Some(stall), ..device(8, 1000, 1000) }
}

const SURE: RangeInclusive<Sureness> = Sureness::High..=Sureness::High;
const FAIR: RangeInclusive<Sureness> = Sureness::Medium..=Sureness::Medium;
const NOT_LOW: RangeInclusive<Sureness> = Sureness::High..=Sureness::Medium;
const NOT_HIGH: RangeInclusive<Sureness> = Sureness::Medium..=Sureness::Low;
/// As many servers of even service and a limiter look alike.
const STORAGE: &[Cause] = &[Cause::Device];
const EVEN: &[Cause] = &[Cause::Device, Cause::Throttle];
const ANY: &[Cause] = &[];

fn known(
    name: &'static str,
    class: Option<Class>,
    sim: SimDevice,
    (iops, sureness): (Option<f64>, RangeInclusive<Sureness>),
    causes: &'static [Cause],
    says: &'static [&'static str],
) -> Known {
    Known { name, class, sim, expected: Expected { iops, sureness, causes, says } }
}

/// Disks, flash and arrays that do what they promise.
fn honest() -> Vec<Known> {
    let (hdd, array) = (Some(Class::Hdd), Some(Class::Array));
    let cached = SimWriteCache {
        size_bytes: Bytes(64 << 30),
        drain_bytes_per_s: Bytes(400 << 20),
        hit_ns: us(300),
    };
    let array_with_cache = SimDevice { write_cache: Some(cached), ..device(32, 4000, 4000) };
    vec![
        known("disk, 7 200 turns", hdd, disk(1, 10_000), (Some(5.7), NOT_LOW), ANY, &[]),
        known("disk, 15 000 turns", hdd, disk(1, 5500), (Some(67.4), NOT_LOW), ANY, &[]),
        known("RAID 10 of 8 disks", hdd, disk(8, 9000), (Some(699.0), NOT_LOW), STORAGE, &[]),
        known(
            "24 disks, each with its own queue",
            hdd,
            SimDevice { assignment: SimAssignment::Random, ..device(24, 8000, 8000) },
            (Some(640.0), NOT_LOW),
            &[Cause::Device, Cause::NotReached],
            &[],
        ),
        known("24 disks, one queue", hdd, device(24, 8000, 8000), (Some(2867.0), SURE), EVEN, &[]),
        known(
            "SATA SSD",
            Some(Class::SataSsd),
            device(8, 150, 60),
            (Some(65_000.0), SURE),
            EVEN,
            &["As fast as a SATA or SAS SSD"],
        ),
        known(
            "NVMe SSD",
            Some(Class::Nvme),
            device(8, 90, 25),
            (Some(113_400.0), SURE),
            EVEN,
            &["As fast as an NVMe SSD"],
        ),
        known(
            "slow NVMe SSD",
            Some(Class::Nvme),
            device(8, 5200, 5200),
            (Some(1418.0), SURE),
            EVEN,
            &["Slow for an NVMe SSD"],
        ),
        known("array with a write cache", array, array_with_cache, (None, NOT_LOW), ANY, &[]),
        known("16 servers of 5 ms", array, device(16, 5000, 5000), (Some(3092.0), FAIR), EVEN, &[]),
        known(
            "exponential service",
            array,
            exponential(16, 2000, SimAssignment::Free),
            (Some(7660.0), FAIR),
            STORAGE,
            &[],
        ),
        known(
            "exponential, each with its own queue",
            array,
            exponential(16, 5000, SimAssignment::Random),
            (Some(0.0), NOT_LOW),
            &[Cause::Device, Cause::NotReached],
            &["no load that was tried", "By the mean alone"],
        ),
    ]
}

/// Volumes with limits, and storage that is not what it seems.
fn awkward() -> Vec<Known> {
    let cloud = Some(Class::Cloud);
    let liar = SimDevice { write_ns: us(20), durable_ns: None, ..disk(1, 8000) };
    let tier =
        SimCache { kind: SimCacheKind::Region, size_bytes: Bytes(400 << 20), hit_ns: us(100) };
    vec![
        known(
            "cloud volume of 3 000 IOPS",
            cloud,
            bucket(3000, 1),
            (Some(2910.0), NOT_LOW),
            &[Cause::Throttle, Cause::Device],
            &[],
        ),
        known(
            "cloud volume of 500 IOPS with credits for 15 000",
            cloud,
            bucket(500, 15_000),
            (Some(500.0), FAIR),
            ANY,
            &["did not last"],
        ),
        known(
            "cloud volume with credits for hours",
            cloud,
            bucket(300, 500_000_000),
            (None, NOT_HIGH),
            ANY,
            &["burst credits that last longer"],
        ),
        known(
            "disk that lies about durability",
            None,
            liar,
            (None, NOT_HIGH),
            ANY,
            &["Not believed", "`iosonde validate --durability`"],
        ),
        known(
            "two tiers",
            None,
            SimDevice { cache: Some(tier), ..device(8, 6000, 6000) },
            (Some(1283.0), NOT_HIGH),
            ANY,
            &[],
        ),
    ]
}

/// Flash that stalls or is held back, and a device that others use.
fn held_back() -> Vec<Known> {
    let nvme = Some(Class::Nvme);
    let link = Some(Bytes(200 << 20));
    let misaligned = SimMisaligned { align_bytes: Bytes(4096), factor: 4.0 };
    let drift = SimDrift { percent: 30.0, correlation: 0.5, period_ns: us(2_000_000) };
    let neighbour = SimNoise { drift: Some(drift), ..SimNoise::default() };
    vec![
        known(
            "freezes for 1 s in 7 s",
            nvme,
            stalls(7000, 1000),
            (Some(0.0), NOT_LOW),
            ANY,
            &["no load that was tried"],
        ),
        known(
            "freezes for 50 ms in 2 s",
            nvme,
            stalls(2000, 50),
            (Some(0.0), NOT_LOW),
            ANY,
            &["no load that was tried"],
        ),
        known("freezes for 5 ms in 1 s", nvme, stalls(1000, 5), (Some(7745.0), SURE), ANY, &[]),
        known(
            "link of 200 MiB/s",
            nvme,
            SimDevice { link_bytes_per_s: link, ..device(64, 1000, 1000) },
            (Some(25_583.0), SURE),
            &[Cause::Link, Cause::Throttle],
            &[],
        ),
        known(
            "a queue of 8 before 64 servers",
            nvme,
            SimDevice { queue_limit: Some(8), ..device(64, 2000, 2000) },
            (Some(3900.0), SURE),
            &[Cause::Queue, Cause::Device, Cause::Throttle],
            &[],
        ),
        known(
            "misaligned I/O costs four times",
            nvme,
            SimDevice { misaligned: Some(misaligned), ..device(8, 1000, 1000) },
            (Some(7933.0), SURE),
            EVEN,
            &["shifted by 512 bytes, gives"],
        ),
        known(
            "noisy neighbour",
            None,
            SimDevice { noise: Some(neighbour), ..device(16, 2000, 2000) },
            (None, NOT_HIGH),
            ANY,
            &[],
        ),
    ]
}

fn devices() -> Vec<Known> {
    honest().into_iter().chain(awkward()).chain(held_back()).collect()
}

/// The device with noise of so many percent from run to run.
fn noisy(known: Known, run_percent: f64) -> Known {
    let noise = SimNoise { run_percent, ..known.sim.noise.unwrap_or_default() };
    Known { sim: SimDevice { noise: Some(noise), ..known.sim }, ..known }
}

fn assessed(known: &Known, seed: u64) -> Result<Assessment, Error> {
    let options = AssessOptions {
        target: "sim".into(),
        size: Some(Bytes(4 << 30)),
        pace: Pace::Normal,
        database: Database::Generic,
        limits: limits_of(Database::Generic),
        needs: Vec::new(),
        captured: None,
        class: known.class,
        claims: Vec::new(),
        specs: Vec::new(),
        own_specs: Vec::new(),
        link: None,
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(known.sim.clone()),
        mode: Mode::Direct,
        seed,
    };
    Ok(assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ()))?)
}

/// How far a capacity may be from the truth, next to its interval.
const NEAR: f64 = 0.15;

fn judge(known: &Known, found: &Assessment) -> Option<Said> {
    let expected = &known.expected;
    let oltp = found.verdicts.iter().find(|v| v.role == Role::OltpData)?;
    let sureness = oltp.confidence.as_ref().map(|c| c.sureness);
    let mut wrong = Vec::new();
    let holds = expected.iops.is_none_or(|truth| holds(oltp, truth));
    if !holds {
        wrong.push("capacity");
    }
    if !sureness.is_some_and(|s| expected.sureness.contains(&s)) {
        wrong.push("confidence");
    }
    let likely = found.ramps.first().and_then(|ramp| ramp.causes.first());
    let right_cause = expected.causes.is_empty()
        || likely.is_some_and(|likely| expected.causes.contains(&likely.cause));
    if !right_cause {
        wrong.push("cause");
    }
    let text = report::text::document(&results::Document::Assessment(Box::new(found.clone())));
    let all = found
        .verdicts
        .iter()
        .flat_map(|v| v.caveats.iter().chain(&v.evidence).chain([&v.headline]).chain(&v.class));
    let mut all: Vec<&str> = all.map(String::as_str).collect();
    all.extend(found.alignment.iter().map(|alignment| alignment.statement.as_str()));
    let holds_part = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
    let says =
        |part: &&&str| all.iter().any(|text| holds_part(text, part)) || holds_part(&text, part);
    if expected.says.iter().filter(|part| says(part)).count() < expected.says.len() {
        wrong.push("words");
    }
    let certain = likely.is_some_and(|likely| likely.certainty == Certainty::Certain);
    let widest = oltp.capacities.iter().find(|c| c.level == Level::Acceptable);
    Some(Said {
        name: known.name,
        expected: expected.iops.map_or_else(|| "–".to_owned(), workload::show_number),
        found: widest.map_or_else(
            || "–".to_owned(),
            |c| {
                let high = c.high.map_or_else(|| "?".to_owned(), workload::show_number);
                let (much, low) =
                    (workload::show_number(c.per_second), workload::show_number(c.low));
                format!("{much} ({low} to {high})")
            },
        ),
        sureness: sureness.map_or("–", Sureness::word).to_owned(),
        cause: likely.map_or_else(|| "–".to_owned(), |l| l.cause.word().to_owned()),
        confidently_wrong: (!holds && sureness == Some(Sureness::High))
            || (!right_cause && certain),
        wrong,
    })
}

/// Whether the interval holds the truth, or the figure is near it.
fn holds(verdict: &Verdict, truth: f64) -> bool {
    let Some(found) = verdict.capacities.iter().find(|c| c.level == Level::Acceptable) else {
        return false;
    };
    let inside = found.low <= truth && found.high.is_none_or(|high| truth <= high);
    inside || (found.per_second - truth).abs() <= NEAR * truth
}

/// Every device, with so much noise from run to run.
fn said(run_percent: f64) -> Result<Vec<Said>, Error> {
    let mut all = Vec::new();
    for (number, known) in devices().into_iter().enumerate() {
        let known = noisy(known, run_percent);
        let found = assessed(&known, number as u64 + 1)?;
        all.extend(judge(&known, &found));
    }
    Ok(all)
}

fn rows(all: &[Said]) -> String {
    let row = |said: &Said| {
        let outcome = match (said.wrong.is_empty(), said.confidently_wrong) {
            (true, _) => "right".to_owned(),
            (false, true) => format!("wrong for sure: {}", said.wrong.join(", ")),
            (false, false) => format!("not: {}", said.wrong.join(", ")),
        };
        vec![
            said.name.to_owned(),
            said.expected.clone(),
            said.found.clone(),
            said.sureness.clone(),
            said.cause.clone(),
            outcome,
        ]
    };
    let head = ["device", "fits, IOPS", "found", "confidence", "limit", "right?"];
    table(&head, &all.iter().map(row).collect::<Vec<_>>())
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let (quiet, noisy) = (said(0.0)?, said(NOISE_PERCENT)?);
    let right = |all: &[Said]| all.iter().filter(|s| s.wrong.is_empty()).count();
    let sure = |all: &[Said]| all.iter().filter(|s| s.confidently_wrong).count();
    Ok(format!(
        "`iosonde assess` judged {count} simulated devices at the pace `normal`. *Fits* is how \
         many 8 KiB I/Os per second, 70/30, the device serves with the 99th percentile of its \
         reads within 20 ms. It comes from a queue simulation that is not part of iosonde; a dash \
         means that it cannot be known. *Found* is the verdict on OLTP data and its interval. \
         *Limit* is the likeliest bottleneck of 8 KiB random reads. A verdict is right if all four \
         of these hold. Its interval contains the truth, or the figure is within 15 % of it. Its \
         confidence is one that an expert would have. Its limit is a right one. It says what it \
         must: for the disk that lies, that it is not believed. A verdict is wrong for sure if \
         capacity is wrong at high confidence, or if it calls a wrong limit certain.\n\n### \
         Quiet\n\n{} of {count} right, {} wrong for sure.\n\n{}\n\n### With noise of \
         {NOISE_PERCENT} % from run to run\n\nThe expected verdict is that of the quiet device. So \
         low confidence, which such noise deserves, does not count as right here. What matters is \
         that nothing is wrong for sure. {} of {count} right, {} wrong for sure.\n\n{}",
        right(&quiet),
        sure(&quiet),
        rows(&quiet),
        right(&noisy),
        sure(&noisy),
        rows(&noisy),
        count = quiet.len(),
    ))
}

/// Noise of the second round, in percent.
const NOISE_PERCENT: f64 = 20.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_24_known_devices_23_are_judged_right_and_none_confidently_wrong() {
        let all = said(0.0).unwrap();
        let right = all.iter().filter(|said| said.wrong.is_empty()).count();
        assert!(all.len() == 24 && right >= 23, "{}", rows(&all));
        assert!(all.iter().all(|said| !said.confidently_wrong), "{}", rows(&all));
    }

    #[test]
    fn with_noise_none_is_confidently_wrong() {
        let all = said(NOISE_PERCENT).unwrap();
        assert!(all.iter().all(|said| !said.confidently_wrong), "{}", rows(&all));
    }
}
