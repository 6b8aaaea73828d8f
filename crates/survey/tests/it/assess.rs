//! Assessments of devices whose truth is known, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use results::knee::Reached;
use results::verdict::{Class, Database, Grade, Role, Sureness, Verdict};
use results::{Assessment, Measurement, Pace, Status};
use survey::{AssessOptions, Here, LabContext, Progress, assess, assess_on, limits_of, roles_of};
use workload::{Bytes, EngineChoice, Mode, Nanoseconds, SimBucket, SimDevice, SimStall, Target};

fn options(sim: SimDevice) -> AssessOptions {
    AssessOptions {
        target: "sim".into(),
        size: Some(Bytes(1 << 30)),
        pace: Pace::Quick,
        database: Database::Generic,
        limits: limits_of(Database::Generic),
        needs: Vec::new(),
        captured: None,
        class: None,
        claims: Vec::new(),
        specs: Vec::new(),
        own_specs: Vec::new(),
        link: None,
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed: 1,
    }
}

fn of(sim: SimDevice) -> Assessment {
    assess(&options(sim), LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

fn device(servers: u32, service_ms: u64) -> SimDevice {
    let ns = Nanoseconds(service_ms * 1_000_000);
    SimDevice { servers, read_ns: ns, write_ns: ns, sync_ns: ns, ..SimDevice::default() }
}

#[test]
fn the_knee_is_the_number_of_servers() {
    for servers in [2, 8, 32] {
        let assessment = of(device(servers, 1));
        let ramp = assessment.ramps.iter().find(|r| r.name == "random_read_8k").unwrap();
        let knee = ramp.knee.as_ref().unwrap();
        assert_eq!(knee.reached, Reached::Saturated, "{servers} servers: {}", knee.explanation);
        assert!((knee.operating_point.in_flight - f64::from(servers)).abs() < 1e-9);
        let truth = f64::from(servers) * 1000.0;
        assert!((knee.operating_point.throughput / truth - 1.0).abs() < 0.001);
        let little = knee.little_knee.unwrap();
        assert!((little / f64::from(servers) - 1.0).abs() < 0.05, "N* {little} of {servers}");
        assert!(ramp.points.len() <= 9, "the ramp ends when nothing more is to be learnt");
    }
}

#[test]
fn a_path_limit_shows_at_the_first_depths() {
    let link = Some(Bytes(200 << 20));
    let sim = SimDevice { link_bytes_per_s: link, ..device(64, 1) };
    let assessment = of(sim);
    let backup = assessment.patterns.iter().find(|p| p.name == "sequential_read_1m").unwrap();
    let mib_per_s = backup.measurement.total.mib_per_s;
    assert!((mib_per_s / 200.0 - 1.0).abs() < 0.01, "{mib_per_s} MiB/s over a link of 200");
}

#[test]
fn verdicts_follow_the_limits_and_the_need() {
    let judged = |sim, need| {
        let needs = survey::parse_needs(need, Database::Generic).unwrap();
        let options = AssessOptions { needs, ..options(sim) };
        assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap().verdicts
    };
    let grade = |verdicts: &[Verdict], role| {
        let verdict = verdicts.iter().find(|v| v.role == role).unwrap();
        (verdict.grade, verdict.headline.clone())
    };
    let fast = judged(device(8, 1), "oltp=2000iops,log=500/s");
    assert_eq!(grade(&fast, Role::Log).0, Grade::Good, "1 ms is just ideal for a log");
    assert_eq!(grade(&fast, Role::OltpData).0, Grade::Excellent);
    assert_eq!(grade(&fast, Role::DssData).0, Grade::NotJudged, "nothing was needed of it");
    let slow = judged(device(8, 40), "oltp=100iops,log=20/s,scan=1MiBps");
    for role in roles_of(Database::Generic).iter().copied() {
        let (grade, headline) = grade(&slow, role);
        assert_eq!(grade, Grade::Unfit, "{role:?} at 40 ms: {headline}");
    }
}

/// One server of 2 ms was "excellent" and 24 of 8 ms, with six times its capacity, only "good".
#[test]
fn what_carries_more_is_not_the_worse() {
    let fits = |sim| {
        let verdicts = of(sim).verdicts;
        verdicts.iter().find(|v| v.role == Role::OltpData).unwrap().capacities[2].clone()
    };
    let (one, many) = (fits(device(1, 2)), fits(device(24, 8)));
    // M/D/1 at a rate of 500 keeps 99 % of its waits within 18 ms up to some 380; the waits of
    // M/D/24 at 3 000 are within 12 ms up to some 2 700.
    assert!(one.low <= 380.0 && one.high.unwrap() >= 380.0, "{one:?}");
    assert!(many.low <= 2700.0 && many.high.unwrap() >= 2700.0, "{many:?}");
}

/// RocksDB reads 16 KiB, too, and the probe with four times its 4 KiB had the same name.
#[test]
fn no_two_loads_have_one_name() {
    for database in Database::ALL {
        let options =
            AssessOptions { database, limits: limits_of(database), ..options(device(4, 1)) };
        let found =
            assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
        let mut names: Vec<&str> = found.patterns.iter().map(|p| p.name.as_str()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{database:?}: {names:?}");
    }
}

/// A stall of 1 s in 7 s was excellent: a closed loop makes one I/O of it, and a mean none.
#[test]
fn what_freezes_does_not_fit() {
    let stall =
        SimStall { period_ns: Nanoseconds(7_000_000_000), length_ns: Nanoseconds(1_000_000_000) };
    let found = of(SimDevice { stall: Some(stall), ..device(8, 1) });
    let oltp = found.verdicts.iter().find(|v| v.role == Role::OltpData).unwrap();
    assert!(oltp.headline.contains("no load that was tried"), "{}", oltp.headline);
}

#[test]
fn every_pattern_of_the_documents_is_measured() {
    let assessment = of(device(4, 1));
    let names: Vec<&str> = assessment.patterns.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        names,
        [
            // Reports show the first random read: the 32 KiB of the probe once stood for it.
            "random_read_8k",
            "random_read_8k_larger",
            "sequential_read_64k",
            "sequential_read_256k",
            "sequential_read_1m",
            "rollback_read_8k",
            "log_write_512b",
            "log_write_4k",
            "log_write_60k",
            "plain_write_4k",
            "sequential_write_64k",
            "random_write_8k",
            "random_write_8k_shifted",
            "random_mixed_8k"
        ]
    );
    assert_eq!((assessment.status, assessment.ramps.len()), (Status::Complete, 3));
    let log = &assessment.patterns[7].measurement;
    assert!(log.workload.streams[0].durable && log.in_flight == 1);
    let begin = log.workload.streams[0].offset_bytes.0;
    assert_eq!(begin, (1 << 30) / 8 * 7, "the log lies behind the data");
}

#[test]
fn an_interrupted_assessment_keeps_what_was_measured() {
    let stop = AtomicBool::new(false);
    let mut kept = 0;
    let assessment = assess(
        &options(device(8, 1)),
        LabContext::new(&stop, &mut |progress| {
            if let Progress::Measured(_) = progress {
                kept += 1;
                stop.store(kept == 9, Ordering::Relaxed);
            }
        }),
    )
    .unwrap();
    assert_eq!(assessment.status, Status::Interrupted);
    let points: usize = assessment.ramps.iter().map(|r| r.points.len()).sum();
    assert_eq!(points + assessment.patterns.len(), kept, "every finished measurement is there");
    let judged = |role| assessment.verdicts.iter().find(|v| v.role == role).unwrap().grade;
    assert_eq!(judged(Role::Log), Grade::NotJudged, "no log write was measured");
}

/// Storage whose writes failed was excellent in every role: the log was judged by the pattern that
/// died, and OLTP by its reads alone.
#[test]
fn what_failed_or_is_missing_is_not_judged() {
    let sim = SimDevice {
        read_ns: Nanoseconds(1_000_000),
        write_ns: Nanoseconds(10_000),
        fail_every: Some(100_000),
        ..SimDevice::default()
    };
    let assessment = of(sim);
    assert_eq!(assessment.status, Status::Failed);
    let verdict = |role| assessment.verdicts.iter().find(|v| v.role == role).unwrap();
    for role in [Role::Log, Role::OltpData] {
        assert_eq!(verdict(role).grade, Grade::NotJudged, "{}", verdict(role).headline);
    }
    assert!(verdict(Role::Log).headline.contains("failed with I/O errors"));
    assert!(verdict(Role::OltpData).headline.contains("8 KiB random write was not measured"));
}

/// Every measurement read what the one before had just read, so that any cache below had it.
#[test]
fn every_measurement_has_offsets_of_its_own() {
    let assessment = of(device(8, 1));
    let of_ramps = assessment.ramps.iter().flat_map(|r| &r.points);
    let measurements = of_ramps.chain(assessment.patterns.iter().map(|p| &p.measurement));
    let mut seeds: Vec<u64> = measurements.map(|m| m.workload.seed).collect();
    let count = seeds.len();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), count);
    let again = of(device(8, 1));
    assert_eq!(again.ramps[0].points[0].workload.seed, assessment.ramps[0].points[0].workload.seed);
}

/// A cloud volume with burst credits: 32 000 IOPS for a moment, then 500.
fn with_credits(burst_ios: u64) -> SimDevice {
    let ns = Nanoseconds(250_000);
    let bucket = SimBucket { iops: Some(500), burst_ios, ..SimBucket::default() };
    SimDevice { read_ns: ns, write_ns: ns, bucket: Some(bucket), ..SimDevice::default() }
}

/// Credits that outlast every measurement of a quick assessment: it was excellent in every role,
/// with no word about what 2 s cannot show.
#[test]
fn an_assessment_says_what_its_time_cannot_show() {
    let assessment = of(with_credits(200_000));
    let unseen = assessment.unseen.as_deref().unwrap();
    assert!(unseen.starts_with("Measured for 2.3 to 4 s per load: burst credits"), "{unseen}");
    assert!(unseen.contains("a write cache larger than "), "{unseen}");
    assert!(unseen.contains("`--pace long` or `iosonde run --seconds 600`"), "{unseen}");
    assert_eq!(assessment.warnings.last().map(String::as_str), Some(unseen));
    for verdict in &assessment.verdicts {
        let said = verdict.caveats.iter().any(|caveat| caveat.starts_with("Measured for "));
        assert!(said, "{:?}", verdict.caveats);
    }
    // A data warehouse reads: nothing was written that could fill a cache.
    let scans = assessment.verdicts.iter().find(|v| v.role == Role::DssData).unwrap();
    assert!(!scans.caveats[0].contains("write cache"), "{:?}", scans.caveats);
}

/// Credits that run out within a pattern: its ramp reached 32 000 IOPS, the pattern itself 500 at
/// the same depth, and nothing was said.
#[test]
fn a_level_that_fell_is_what_is_judged_and_a_warning() {
    let mut options = options(with_credits(75_000));
    let text = "[[claim]]\nload = \"random_read_8k\"\nexpect = \"iops >= 20000\"\n";
    options.claims = survey::parse_claims(text, Database::Generic).unwrap();
    let found = assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    let change = found.level_changes.iter().find(|c| c.load == "8 KiB random read").unwrap();
    assert!((change.before_iops / 32_000.0 - 1.0).abs() < 0.01, "{change:?}");
    assert!((change.last_iops / 500.0 - 1.0).abs() < 0.01, "{change:?}");
    let said = "8 KiB random read at 8 in flight had two levels: 32 000 IOPS, and later 500 IOPS.";
    assert!(found.warnings[0].starts_with(said), "{:?}", found.warnings);
    let within = found.warnings.iter().any(|w| w.contains("sustained: 500 IOPS"));
    assert!(within, "the level that changed within a measurement: {:?}", found.warnings);
    let verdict = found.verdicts.iter().find(|v| v.role == Role::OltpData).unwrap();
    let fits = verdict.capacities.last().unwrap();
    assert!((fits.per_second / 485.0 - 1.0).abs() < 0.03, "500 IOPS are left: {fits:?}");
    assert!(fits.high.unwrap() < 550.0, "{fits:?}");
    assert!(verdict.caveats.iter().any(|c| c.starts_with(said)), "{:?}", verdict.caveats);
    let offered = &found.offered[0];
    assert!(offered.burst_iops.unwrap() > 5000.0 && offered.held_seconds.is_some());
    // The log was as fast as the burst, and was not held for as long.
    let log = found.verdicts.iter().find(|v| v.role == Role::Log).unwrap();
    assert_eq!(log.confidence.as_ref().unwrap().sureness, Sureness::Low, "{}", log.headline);
    let claim = &found.claims[0];
    assert_eq!(claim.outcome, results::claims::Outcome::NotMet, "{}", claim.sentence);
}

#[test]
fn a_steady_device_has_no_change_of_level() {
    let assessment = of(device(8, 1));
    assert_eq!(assessment.level_changes, []);
    assert_eq!(assessment.warnings.len(), 1, "{:?}", assessment.warnings);
}

#[test]
fn a_size_that_a_load_does_not_fit_in_is_refused_before_anything_is_done() {
    let options = AssessOptions { size: Some(Bytes(1 << 20)), ..options(device(8, 1)) };
    let mut events = 0;
    let refused = assess(
        &options,
        LabContext::new(&AtomicBool::new(false), &mut |p| {
            events += usize::from(matches!(p, Progress::Measured(_)));
        }),
    );
    assert!(refused.unwrap_err().to_string().contains("at least 64 MiB"));
    assert_eq!(events, 0);
}

#[test]
fn a_failing_device_ends_the_assessment_with_what_there_is() {
    let assessment = of(SimDevice { fail_every: Some(10_000), ..device(8, 1) });
    assert_eq!(assessment.status, Status::Failed);
    let last = assessment.ramps.last().and_then(|r| r.points.last()).unwrap();
    assert!(!last.errors.is_empty());
}

#[test]
fn a_glance_has_the_six_loads_and_judges_nothing() {
    let options = AssessOptions { pace: Pace::Glance, ..options(device(8, 1)) };
    let seen = assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    let names: Vec<&str> = seen.patterns.iter().map(|p| p.name.as_str()).collect();
    let six = [
        "random_read_8k",
        "sequential_read_64k",
        "log_write_4k",
        "sequential_write_64k",
        "random_write_8k",
        "random_mixed_8k",
    ];
    assert_eq!(names, six);
    assert!(seen.ramps.is_empty() && seen.offered.is_empty() && seen.repeats.is_none());
    assert!(seen.verdicts.is_empty(), "three seconds are not enough for a verdict");
    assert_eq!(seen.patterns[0].measurement.in_flight, 32);
    assert!((seen.patterns[0].measurement.total.iops / 8000.0 - 1.0).abs() < 0.01);
    assert!(seen.method.iter().any(|s| s.contains("measured once")), "{:?}", seen.method);
    assert!(!seen.method.iter().any(|s| s.contains("open loop")), "none was offered");
    let short: f64 = seen.patterns.iter().map(|p| p.measurement.seconds).sum();
    assert!(short <= 18.0, "six windows of at most 3 s, not {short}");
}

#[test]
fn a_need_or_limits_at_a_glance_are_refused_and_not_ignored() {
    let needs = survey::parse_needs("oltp=2000iops", Database::Generic).unwrap();
    let needed = AssessOptions { pace: Pace::Glance, needs, ..options(device(8, 1)) };
    let limits = limits_of(Database::RocksDb);
    let limited = AssessOptions { pace: Pace::Glance, limits, ..options(device(8, 1)) };
    for (options, named) in [(needed, "`need`"), (limited, "`limits`")] {
        let refused =
            assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap_err();
        assert!(refused.to_string().contains(named), "{refused}");
    }
}

/// The log was tested on an idle device: 8 x 2 ms took 2.3 ms alone, and 16.3 ms while 64 pages of
/// a checkpoint were in flight.
#[test]
fn the_log_is_judged_beside_a_checkpoint() {
    let options = AssessOptions { pace: Pace::Normal, ..options(device(8, 2)) };
    let found = assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    let beside = found.beside.iter().find(|b| b.name == "log_write_4k").unwrap();
    let (log, pages) = (&beside.measurement.streams[0], &beside.measurement.streams[1]);
    assert_eq!(beside.beside, "a checkpoint (8 KiB random write, 64 in flight)");
    assert_eq!((log.depth, pages.depth), (1, 64));
    let alone = found.patterns.iter().find(|p| p.name == "log_write_4k").unwrap();
    let p99 = |s: &results::Statistics| s.latency_ns.unwrap().p99.unwrap() as f64 / 1e6;
    // 65 writes on 8 servers of 2 ms wait for 8 rounds; alone, there is one.
    assert!(p99(&alone.measurement.total) < 2.1, "{beside:#?}");
    assert!((16.0..18.5).contains(&p99(&log.total)), "{}", beside.sentence);
    let verdict = found.verdicts.iter().find(|v| v.role == Role::Log).unwrap();
    let both = "Single commits alone: 500/s, p99 2 ms; alongside a checkpoint: 6";
    assert!(verdict.headline.contains(both), "{}", verdict.headline);
    assert!(verdict.headline.contains("no load that was tried"), "16 ms are more than 5");
    let quick = of(device(8, 2));
    let verdict = quick.verdicts.iter().find(|v| v.role == Role::Log).unwrap();
    assert!(quick.beside.is_empty() && verdict.capacities[2].per_second > 499.0);
    let alone = verdict.caveats.iter().any(|c| c.contains("The log was written alone"));
    assert!(alone, "{:?}", verdict.caveats);
}

#[test]
fn a_baseline_has_reads_beside_writes_and_users_beside_a_backup() {
    for database in Database::ALL {
        let limits = limits_of(database);
        let options = AssessOptions { pace: Pace::Long, database, limits, ..options(device(2, 8)) };
        let mut last = (0, 0);
        let mut steps = |progress: Progress<'_>| {
            if let Progress::Step { number, of, .. } = progress {
                last = (number, of);
            }
        };
        let found = assess(&options, LabContext::new(&AtomicBool::new(false), &mut steps)).unwrap();
        assert_eq!(last.0, last.1, "{database:?}: as many steps as were announced");
        let mixed = found.mixed.as_ref().unwrap();
        assert_eq!(mixed.matrix.cells.len(), 24);
        let rates = (mixed.matrix.highest_read_iops, mixed.matrix.highest_write_iops);
        assert!(rates.0.is_some_and(|iops| (iops / 250.0 - 1.0).abs() < 0.01), "{rates:?}");
        assert_eq!(mixed.matrix.interference, results::Interference::Strong, "{database:?}");
        // Reads and writes share two servers: what both have of their highest rates adds up.
        for cell in mixed.matrix.cells.iter().filter(|c| c.read_percent + c.write_percent > 100) {
            assert_ne!(cell.outcome, results::CellOutcome::Reached, "{cell:?}");
        }
        let measured = |cell: &&results::MatrixCell| cell.outcome != results::CellOutcome::Skipped;
        assert_eq!(
            mixed.measurements.len(),
            2 + mixed.matrix.cells.iter().filter(measured).count()
        );
        let backup = found.beside.iter().find(|b| b.alone.is_some());
        assert_eq!(backup.is_some(), database != Database::Sqlite, "it has no scans");
        let Some(backup) = backup else { continue };
        assert!(backup.beside.starts_with("a backup ("), "{}", backup.beside);
        let verdict = found.verdicts.iter().find(|v| v.role == Role::OltpData).unwrap();
        assert!(verdict.evidence.contains(&backup.sentence), "{:?}", verdict.evidence);
        assert!(backup.measurement.streams[1].total.ios > 0);
    }
}

#[test]
fn every_class_has_its_sentence() {
    for (class, read_us, words) in [
        (Class::Hdd, 10_000, "As fast as a hard disk should be: a single random read takes 10 ms"),
        (
            Class::SataSsd,
            1000,
            "Slow for a SATA or SAS SSD: a single random read takes 1 ms, 5 times",
        ),
        (Class::Nvme, 100, "As fast as an NVMe SSD should be"),
        (Class::Array, 4000, "Slow for an all-flash array"),
        (Class::Cloud, 1000, "As fast as a cloud volume should be"),
    ] {
        let read_ns = Nanoseconds(read_us * 1000);
        let sim = SimDevice { servers: 1, read_ns, write_ns: read_ns, ..SimDevice::default() };
        let options = AssessOptions { class: Some(class), ..options(sim) };
        let found =
            assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
        let oltp = found.verdicts.iter().find(|v| v.role == Role::OltpData).unwrap();
        let sentence = oltp.class.as_deref().unwrap();
        assert!(sentence.starts_with(words), "{class:?}: {sentence}");
    }
    let unknown = of(device(1, 1));
    assert!(unknown.verdicts.iter().all(|v| v.class.is_none()), "nobody knows what `sim` is");
}

/// A stall of 1 s in 7 s was invisible to one writer: of 10 000 I/Os it made three late.
#[test]
fn freezes_count_for_the_log_and_for_scans() {
    let stall = |length_ms: u64| SimStall {
        period_ns: Nanoseconds(7_000_000_000),
        length_ns: Nanoseconds(length_ms * 1_000_000),
    };
    let judged = |length_ms| {
        let sim = SimDevice { stall: Some(stall(length_ms)), ..device(8, 1) };
        let options = AssessOptions { pace: Pace::Normal, ..options(sim) };
        assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap().verdicts
    };
    for verdict in judged(1000).into_iter().filter(|v| v.role != Role::OltpData) {
        let words = format!("{}: The storage froze for 1", verdict.role.title());
        assert!(verdict.headline.starts_with(&words), "{}", verdict.headline);
        assert!(verdict.headline.contains("up to 1 s at once. No load"), "{}", verdict.headline);
        assert!(
            verdict.capacities.iter().all(|c| c.per_second == 0.0),
            "{:#?}",
            verdict.capacities
        );
    }
    // 20 ms in 7 s are 0.3 % of the time, and less than ten times what a log may take.
    for verdict in judged(20).into_iter().filter(|v| v.role == Role::DssData) {
        assert!(!verdict.headline.contains("froze"), "{}", verdict.headline);
        assert!(verdict.capacities[2].per_second > 0.0);
    }
}

/// The terminal said 16 000 IOPS and "No warnings" of a volume that sustains 500.
#[test]
fn what_did_not_last_is_a_warning() {
    let warning = |found: &Assessment| {
        let words = "8 KiB random read and write, 70/30: ";
        found.warnings.iter().find(|w| w.starts_with(words) && w.contains("did not last")).cloned()
    };
    let bucket = SimBucket { iops: Some(500), burst_ios: 75_000, ..SimBucket::default() };
    let ns = Nanoseconds(500_000);
    let sim = SimDevice { read_ns: ns, write_ns: ns, bucket: Some(bucket), ..device(8, 1) };
    let found = of(sim);
    let said = warning(&found).unwrap();
    assert!(said.contains("the storage did 4") || said.contains("the storage did 5"), "{said}");
    assert_eq!(warning(&of(device(8, 1))), None);
}

/// On a bench, as over several hosts, windows have one length, and the verdicts are those of the
/// same storage.
#[test]
fn what_is_elsewhere_is_judged_by_the_same_limits() {
    let needs = survey::parse_needs("oltp=2000iops,log=500/s", Database::Generic).unwrap();
    let options = AssessOptions { needs, ..options(device(8, 1)) };
    let (stop, target) = (AtomicBool::new(false), "sim".into());
    let here = assess(&options, LabContext::new(&stop, &mut |_| ())).unwrap();
    let targets = vec![Target { path: target, size_bytes: options.size }];
    let on = |options: &AssessOptions, targets| {
        assess_on(&mut Here, targets, options, LabContext::new(&stop, &mut |_| ()))
    };
    let there = on(&options, targets.clone()).unwrap();
    for (one, other) in here.verdicts.iter().zip(&there.verdicts) {
        assert_eq!((one.role, one.grade), (other.role, other.grade), "{}", other.headline);
    }
    let seconds: Vec<f64> = there.ramps[0].points.iter().map(|m| m.seconds).collect();
    assert!(seconds.iter().all(|s| (s - seconds[0]).abs() < 1e-9), "{seconds:?}");
    let unsized_options = AssessOptions { size: None, ..options };
    let refused = on(&unsized_options, targets).unwrap_err().to_string();
    assert!(refused.contains("several hosts together"), "{refused}");
}

/// Over two targets, a depth is that of each, and twice as much is in flight. The search for the
/// saturation point took the total for the depth, and asked for depth 1 without end.
#[test]
fn a_ramp_over_several_targets_ends_at_their_sum() {
    let options = options(device(8, 1));
    let target = |path: &str| Target { path: path.into(), size_bytes: options.size };
    let targets = vec![target("sim"), target("sim2")];
    let stop = AtomicBool::new(false);
    // A search without an end fails here instead of never.
    let mut steps = 0;
    let mut observe = |progress: Progress<'_>| {
        steps += usize::from(matches!(progress, Progress::Step { .. }));
        stop.store(steps > 100, Ordering::Relaxed);
    };
    let found =
        assess_on(&mut Here, targets, &options, LabContext::new(&stop, &mut observe)).unwrap();
    assert_eq!(found.status, Status::Complete, "{:?}", found.warnings);
    for ramp in &found.ramps {
        let depths: Vec<u32> = ramp.points.iter().filter_map(|m| m.depth).collect();
        assert!(depths.is_sorted_by(|a, b| a < b), "{}: {depths:?}", ramp.title);
        let is_of_both = |m: &Measurement| m.in_flight == 2 * u64::from(m.depth.unwrap());
        assert!(ramp.points.iter().all(is_of_both), "{}: {depths:?}", ramp.title);
    }
    let knee = found.ramps[0].knee.as_ref().unwrap();
    assert!((knee.operating_point.in_flight - 8.0).abs() < 1e-9, "{}", knee.explanation);
    let of = |name: &str| found.patterns.iter().find(|p| p.name == name).unwrap();
    assert_eq!(of("random_read_8k").measurement.depth, Some(4));
    // Larger blocks have twice in flight what saturates.
    assert_eq!(of("random_read_8k_larger").measurement.in_flight, 16);
    assert!(found.verdicts.iter().all(|v| v.capacities.iter().any(|c| c.per_second > 0.0)));
}

/// PostgreSQL writes no page of 4 KiB to its log, and its 64 KiB once stood for a single commit.
#[test]
fn a_single_commit_is_the_smallest_write_of_the_log() {
    let database = Database::Postgres;
    let options = AssessOptions { database, limits: limits_of(database), ..options(device(8, 1)) };
    let found = assess(&options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap();
    let log = found.verdicts.iter().find(|v| v.role == Role::Log).unwrap();
    let words = "One after the other, alone (8 KiB sequential write, durable)";
    assert!(log.evidence.iter().any(|e| e.starts_with(words)), "{:#?}", log.evidence);
}
