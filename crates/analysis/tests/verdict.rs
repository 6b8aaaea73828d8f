//! Verdicts on published measurements and at the limits.

use analysis::verdict::{Evidence, Grade, Limits, Role, Statistic, Verdict, judge};

fn evidence(label: &str, mean_ms: f64, p99_ms: f64) -> Evidence {
    Evidence {
        label: label.to_owned(),
        mean_ns: mean_ms * 1e6,
        p99_ns: Some(p99_ms * 1e6),
        iops: 1000.0,
        mib_per_s: 7.8125,
        in_flight: 8.0,
        file_bytes: 4 << 30,
        seconds: 600.0,
        written_bytes: 0,
        level_changes: Vec::new(),
    }
}

fn grade(role: Role, mean_ms: f64) -> Grade {
    judge(&Limits::of(role), &[evidence("random 8K reads", mean_ms, mean_ms)]).grade
}

#[test]
fn the_published_limits() {
    assert_eq!(grade(Role::Log, 0.1), Grade::Excellent);
    assert_eq!(grade(Role::Log, 1.0), Grade::Good);
    assert_eq!(grade(Role::Log, 5.0), Grade::Acceptable);
    assert_eq!(grade(Role::Log, 5.01), Grade::Unfit);
    assert_eq!(grade(Role::OltpData, 4.0), Grade::Excellent);
    assert_eq!(grade(Role::OltpData, 10.0), Grade::Good);
    assert_eq!(grade(Role::OltpData, 20.0), Grade::Acceptable);
    assert_eq!(grade(Role::OltpData, 29.0), Grade::Unfit);
    assert_eq!(grade(Role::DssData, 29.0), Grade::Acceptable);
    assert_eq!(grade(Role::DssData, 31.0), Grade::Unfit);
}

#[test]
fn every_role_has_ordered_limits() {
    for role in Role::ALL {
        let limits = Limits::of(role);
        assert!(limits.are_ordered() && limits.role == role && limits.statistic == Statistic::Mean);
    }
}

#[test]
fn a_terrible_disk_is_unfit_for_any_database() {
    // Erkec 2020: 303.09 IOPS, 316.204 ms, 2.37 MB/s, 96 in flight, 5 GiB, 180 s.
    let measured = Evidence {
        label: "random 8K, 75 % writes".to_owned(),
        mean_ns: 316.204e6,
        p99_ns: None,
        iops: 303.09,
        mib_per_s: 2.37,
        in_flight: 96.0,
        file_bytes: 5 << 30,
        seconds: 180.0,
        written_bytes: 0,
        level_changes: Vec::new(),
    };
    for role in Role::ALL {
        let verdict = judge(&Limits::of(role), std::slice::from_ref(&measured));
        assert_eq!(verdict.grade, Grade::Unfit);
        assert!(
            verdict.headline.contains("was 316 ms at 96 in flight on 5 GiB"),
            "{}",
            verdict.headline
        );
        let said = "Measured for 180 s per load: burst credits that last longer or later garbage \
                    collection";
        assert!(verdict.caveats[0].starts_with(said), "{}", verdict.caveats[0]);
    }
}

#[test]
fn the_worst_measurement_decides() {
    let verdict = judge(
        &Limits::of(Role::OltpData),
        &[evidence("random 8K reads", 2.0, 3.0), evidence("random 8K writes", 12.0, 20.0)],
    );
    assert_eq!(verdict.grade, Grade::Acceptable);
    assert_eq!(
        verdict.headline,
        "OLTP data files: acceptable. The mean latency of random 8K writes was 12 ms at 8 in \
         flight on 4 GiB; ideal is up to 10 ms, acceptable up to 20 ms."
    );
    assert_eq!(
        verdict.evidence[0],
        "random 8K reads on 4 GiB: 1000 IOPS, 7.81 MiB/s at 8 in flight; mean latency 2 ms, 99th \
         percentile 3 ms: excellent."
    );
    assert_eq!(verdict.caveats.len(), 1, "{:?}", verdict.caveats);
    assert!(verdict.caveats[0].starts_with("Measured for 600 s per load: "));
    assert!(verdict.caveats[0].ends_with("use `iosonde run --seconds 3600`."));
}

/// A run of 4 s and a run of ten minutes had the same caveat or none, and no figure of what was
/// written.
#[test]
fn a_verdict_says_what_its_time_and_its_writes_cannot_show() {
    let short = Evidence { seconds: 2.0, ..evidence("reads", 1.0, 2.0) };
    let long = Evidence { seconds: 4.0, written_bytes: 3 << 29, ..evidence("writes", 1.0, 2.0) };
    let verdict = judge(&Limits::of(Role::OltpData), &[short, long]);
    assert_eq!(
        verdict.caveats,
        ["Measured for 2 to 4 s per load: burst credits that last longer, a write cache larger \
          than 1.5 GiB or later garbage collection would not show. To see the sustained level, \
          use `--pace long` or `iosonde run --seconds 600`."]
    );
}

#[test]
fn levels_that_changed_are_caveats_before_what_was_not_seen() {
    let changes = vec!["two levels".to_owned()];
    let fell = Evidence { level_changes: changes, ..evidence("reads", 1.0, 2.0) };
    let verdict = judge(&Limits::of(Role::OltpData), &[fell]);
    assert_eq!(verdict.caveats[0], "two levels");
}

#[test]
fn what_is_not_believed_is_acceptable_at_best_and_says_why_first() {
    let limits = Limits::of(Role::Log);
    let fast = judge(&limits, &[evidence("w", 0.02, 0.03)]);
    assert_eq!(fast.grade, Grade::Excellent);
    let capped = fast.at_best(Grade::Acceptable, "Not believed: too fast.");
    assert_eq!(capped.grade, Grade::Acceptable);
    assert_eq!(capped.caveats[0], "Not believed: too fast.");
    let head = "Transaction log: acceptable. Not believed: too fast. If the figures are true, it \
                is excellent. The mean latency of w";
    assert!(capped.headline.starts_with(head), "{}", capped.headline);
    let slow = judge(&limits, &[evidence("w", 9.0, 10.0)]);
    let capped = slow.at_best(Grade::Acceptable, "Not believed: too fast.");
    assert_eq!(capped.grade, Grade::Unfit);
    let head = "Transaction log: unfit. Not believed: too fast. The mean latency";
    assert!(capped.headline.starts_with(head), "{}", capped.headline);
    let none = judge(&limits, &[]).at_best(Grade::Acceptable, "Not believed: too fast.");
    assert_eq!(none.grade, Grade::NotJudged);
    assert_eq!(none.headline, "Transaction log: not judged. Nothing suitable was measured.");
}

#[test]
fn a_long_tail_costs_one_grade() {
    let limits = Limits::of(Role::Log);
    let verdict = judge(&limits, &[evidence("sequential 60K writes", 0.8, 20.5)]);
    assert_eq!(verdict.grade, Grade::Acceptable);
    assert!(verdict.headline.contains("one I/O in a hundred took 20.5 ms"), "{}", verdict.headline);
    assert_eq!(judge(&limits, &[evidence("w", 0.8, 20.0)]).grade, Grade::Good);
    assert_eq!(judge(&limits, &[evidence("w", 3.0, 21.0)]).grade, Grade::Unfit);
}

#[test]
fn a_percentile_of_few_ios_costs_nothing_and_is_not_stated() {
    let few = Evidence { seconds: 0.9, ..evidence("w", 0.8, 100.0) };
    let verdict = judge(&Limits::of(Role::Log), &[few]);
    assert_eq!(verdict.grade, Grade::Good);
    assert!(!verdict.evidence[0].contains("percentile"));
    assert_eq!(verdict.caveats.len(), 2);
}

#[test]
fn what_cannot_be_judged_says_so() {
    let limits = Limits::of(Role::Log);
    assert_eq!(judge(&limits, &[]).grade, Grade::NotJudged);
    let verdict = judge(&limits, &[evidence("w", f64::NAN, 1.0), evidence("w", 0.8, 1.0)]);
    assert_eq!(verdict.grade, Grade::Good);
    assert!(verdict.caveats[0].starts_with("1 of 2 measurements"));
    let upside_down = Limits { ideal_ns: 0, ..limits };
    let verdict = judge(&upside_down, &[evidence("w", 0.8, 1.0)]);
    assert_eq!(verdict.grade, Grade::NotJudged);
    assert!(verdict.headline.contains("limits must"));
}

#[test]
fn the_percentile_can_be_judged_instead() {
    let limits = Limits { statistic: Statistic::P99, ..Limits::of(Role::OltpData) };
    let verdict = judge(&limits, &[evidence("random 8K reads", 2.0, 15.0)]);
    assert_eq!(verdict.grade, Grade::Acceptable);
    assert!(verdict.headline.contains("99th percentile of latency of random 8K reads was 15 ms"));
}

#[test]
fn survives_json() {
    let verdict = judge(&Limits::of(Role::DssData), &[evidence("sequential 512K reads", 8.0, 9.0)]);
    let text = serde_json::to_string(&verdict).unwrap();
    assert!(text.contains("\"role\":\"dss_data\"") && text.contains("\"grade\":\"good\""));
    assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
}
