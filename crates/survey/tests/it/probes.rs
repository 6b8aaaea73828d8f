//! What an assessment sees next to its roles: log flushes that cost nothing, misalignment, claims,
//! and what each database asks. On simulated devices whose truth is known.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::claims::Outcome;
use results::honesty::Sign;
use results::verdict::{Database, Role, Sureness};
use results::{Assessment, Pace, Status};
use survey::{AssessOptions, LabContext, assess, limits_of, parse_claims, roles_of};
use workload::{Bytes, EngineChoice, Mode, Nanoseconds, SimDevice, SimMisaligned};

fn options(database: Database, sim: SimDevice) -> AssessOptions {
    AssessOptions {
        target: "sim".into(),
        size: Some(Bytes(1 << 30)),
        database,
        pace: Pace::Quick,
        limits: limits_of(database),
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

fn of(options: &AssessOptions) -> Assessment {
    assess(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

fn device() -> SimDevice {
    let ns = Nanoseconds(2_000_000);
    SimDevice { servers: 8, read_ns: ns, write_ns: ns, ..SimDevice::default() }
}

#[test]
fn every_role_of_every_database_is_judged() {
    for database in Database::ALL {
        let assessment = of(&options(database, device()));
        assert_eq!(assessment.database, database);
        let roles: Vec<_> = assessment.verdicts.iter().map(|v| v.role).collect();
        assert_eq!(roles, roles_of(database));
        for verdict in &assessment.verdicts {
            let widest = verdict.capacities.last().unwrap();
            assert!(widest.per_second > 0.0, "{}", verdict.headline);
            assert!(verdict.confidence.is_some(), "{}", verdict.headline);
        }
        assert!(assessment.method.iter().any(|s| s.contains(database.title())));
        assert!(assessment.alignment.is_some(), "{}", database.title());
        assert!(assessment.honesty.is_some(), "{}", database.title());
    }
}

#[test]
fn durability_that_is_paid_for_is_plausible_and_one_that_is_not_is_not_called_safe() {
    let honest = SimDevice { durable_ns: Some(Nanoseconds(6_000_000)), ..device() };
    let found = of(&options(Database::Generic, honest)).honesty.unwrap();
    assert_eq!(found.sign, Sign::Plausible, "{}", found.statement);
    assert!(found.statement.contains("4 times the 2 ms of a plain one"), "{}", found.statement);
    // Nothing is known of a simulated medium, so that nothing can be said against it.
    let lying = of(&options(Database::Generic, device())).honesty.unwrap();
    assert_eq!(lying.sign, Sign::Unknown, "{}", lying.statement);
}

/// A device that answers durable writes from a cache that loses them: the log was "excellent", with
/// no warning.
#[test]
fn a_log_on_a_device_that_lies_is_not_believed() {
    let ns = |us: u64| Nanoseconds(us * 1000);
    let disk = |write, durable: Option<u64>| SimDevice {
        servers: 1,
        read_ns: ns(8000),
        write_ns: ns(write),
        durable_ns: durable.map(ns),
        ..SimDevice::default()
    };
    for (liar, why) in [
        (disk(20, None), "less than 0.05 ms"),
        (disk(5, Some(15)), "less than 0.05 ms"),
        (disk(100, None), "Durability costs nothing"),
    ] {
        let found = of(&options(Database::Generic, liar));
        let honesty = found.honesty.unwrap();
        assert_eq!(honesty.sign, Sign::NotBelieved, "{}", honesty.statement);
        assert!(honesty.rule.contains("then an indication only"), "{}", honesty.rule);
        let log = &found.verdicts[0];
        let sureness = log.confidence.as_ref().unwrap().sureness;
        assert_eq!((log.role, sureness), (Role::Log, Sureness::Low), "{}", log.headline);
        assert!(log.headline.starts_with("Transaction log: Not believed: "), "{}", log.headline);
        for said in [&log.headline, &log.caveats[0], &found.warnings[0]] {
            assert!(said.contains(why), "{said}");
            assert!(said.contains("a random read 8 ms"), "{said}");
            assert!(said.contains("`iosonde validate --durability`"), "{said}");
        }
        let data = &found.verdicts[1];
        assert!(!data.headline.contains("believed"), "only the log: {}", data.headline);
    }
    for honest in [disk(300, None), disk(100, Some(8000)), disk(8000, None)] {
        let found = of(&options(Database::Generic, honest));
        assert!(!found.warnings.iter().any(|w| w.contains("believed")), "{:?}", found.warnings);
    }
    let flash = SimDevice { read_ns: ns(80), write_ns: ns(20), ..SimDevice::default() };
    let found = of(&options(Database::Generic, flash));
    let log = &found.verdicts[0];
    assert_eq!(log.confidence.as_ref().unwrap().sureness, Sureness::Medium, "{}", log.headline);
}

#[test]
fn misalignment_that_costs_is_seen_and_one_that_does_not_is_not() {
    let misaligned = Some(SimMisaligned { align_bytes: Bytes(4096), factor: 2.0 });
    let sim = SimDevice { misaligned, ..device() };
    let found = of(&options(Database::Postgres, sim)).alignment.unwrap();
    assert!(found.matters, "{}", found.statement);
    assert!((found.kept_percent - 50.0).abs() < 2.0, "{}", found.statement);
    assert_eq!(found.shift_bytes, 512);
    let found = of(&options(Database::Postgres, device())).alignment.unwrap();
    assert!(!found.matters && (found.kept_percent - 100.0).abs() < 1.0, "{}", found.statement);
}

/// Eight servers of 2 ms give 4 000 IOPS, whatever the vendor says.
#[test]
fn claims_are_held_against_every_setting_and_measured_at_the_depths_they_name() {
    let mut options = options(Database::Generic, device());
    let text = r#"
        [[claim]]
        name = "vendor"
        load = "random_read_8k"
        expect = "iops >= 8000"

        [[claim]]
        load = "random_read_8k"
        expect = ["iops >= 3900", "latency_mean <= 2.1ms"]

        [[claim]]
        load = "random_read_8k"
        in_flight = 24
        expect = "latency_mean <= 5ms"

        [[claim]]
        load = "log_write_4k"
        in_flight = 1
        expect = "latency_p99 <= 2.1ms"
    "#;
    options.claims = parse_claims(text, Database::Generic).unwrap();
    let assessment = of(&options);
    let outcomes: Vec<Outcome> = assessment.claims.iter().map(|c| c.outcome).collect();
    assert_eq!(outcomes, [Outcome::NotMet, Outcome::Met, Outcome::NotMet, Outcome::Met]);
    let vendor = &assessment.claims[0];
    let ramp = assessment.ramps.iter().find(|r| r.name == "random_read_8k").unwrap();
    assert_eq!(vendor.settings, ramp.points.len() + 2, "the ramp, its pattern, and 24 in flight");
    let begin = format!("vendor: claimed 8 000 IOPS, best of {} settings 4 0", vendor.settings);
    assert!(vendor.sentence.starts_with(&begin), "{}", vendor.sentence);
    assert!(vendor.sentence.contains("(50 %)"), "{}", vendor.sentence);
    let at = &assessment.claims[2];
    assert!(at.sentence.contains("the only setting 6 ms (120 %)"), "{}", at.sentence);
    assert!(assessment.patterns.iter().any(|p| p.name == "random_read_8k_at_24"));
}

/// A claim at more in flight than any thread may have ended the assessment as failed, before its
/// repetitions.
#[test]
fn a_claim_that_nobody_can_measure_is_not_measured_and_ends_nothing() {
    let text =
        "[[claim]]\nload = \"random_read_8k\"\nin_flight = 100000\nexpect = \"iops >= 8000\"\n";
    let claims = parse_claims(text, Database::Generic).unwrap();
    let found = of(&AssessOptions { claims, ..options(Database::Generic, device()) });
    assert_eq!(found.status, Status::Complete, "{:?}", found.warnings);
    assert_eq!(found.claims[0].outcome, Outcome::NotMeasured);
    assert!(found.repeats.is_some());
}
