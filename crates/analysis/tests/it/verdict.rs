//! Verdicts: how much load fits within the limits, how sure that is, and what it is worth.

use analysis::verdict::{
    Basis, Capacity, Class, Confidence, Doubt, Extent, Fit, Grade, HeldBy, Level, Limits,
    LoadSearch, NAMED_NEEDS, Need, Role, Statistic, Sureness, Trial, Verdict, capacities, judge,
};

const MS: f64 = 1e6;

/// What a device of one queue does with Poisson arrivals and exponential service (M/M/1), measured
/// for so long: its latency is exponential with the mean 1/(rate - offered).
fn queue(rate: f64, offered: f64, seconds: f64) -> Trial {
    let limits = Limits::of(Role::OltpData);
    let done = offered.min(rate);
    let mean_ns = if offered < rate { 1e9 / (rate - offered) } else { 1e9 * seconds };
    let ios = done * seconds * 0.7;
    let beyond = |ns: f64| whole(ios * (-ns / mean_ns).exp());
    Trial {
        label: "8 KiB random read and write, 70/30".to_owned(),
        offered: Some(offered),
        per_second: done,
        mean_ns,
        p99_ns: Some(mean_ns * 100.0_f64.ln()),
        p99_9_ns: Some(mean_ns * 1000.0_f64.ln()),
        ios: whole(ios),
        beyond: Level::ALL.map(|level| beyond(limits.at(level) as f64)),
        far_beyond: beyond(limits.acceptable_ns as f64 * 4.0),
        half_width_percent: None,
        seconds,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

fn searched(rate: f64, first: f64) -> Vec<Trial> {
    let search = LoadSearch { first, close: 1.1, at_most: 30 };
    let mut trials = Vec::new();
    while let Some(offered) = search.next(&Limits::of(Role::OltpData), &trials) {
        trials.push(queue(rate, offered, (1300.0 / offered).clamp(10.0, 300.0)));
    }
    trials
}

fn verdict(rate: f64, need: Option<f64>, doubts: Vec<Doubt>) -> Verdict {
    let need = need.map(|per_second| Need { role: Role::OltpData, per_second });
    let basis = Basis { trials: searched(rate, 0.9 * rate), doubts, ..Basis::default() };
    judge(&Limits::of(Role::OltpData), need, basis)
}

fn at(found: &[Capacity], level: Level) -> &Capacity {
    found.iter().find(|capacity| capacity.level == level).unwrap()
}

/// The 99th percentile is ln(100) times the mean, so that a limit L is kept up to
/// rate - ln(100)/L.
#[test]
fn the_search_finds_the_load_that_fits_within_each_limit() {
    for rate in [400.0, 3000.0, 50_000.0] {
        for first in [0.05 * rate, 0.9 * rate, 5.0 * rate] {
            let found = capacities(&Limits::of(Role::OltpData), &searched(rate, first), 0.0);
            for (level, limit_s) in [(Level::Ideal, 0.01), (Level::Acceptable, 0.02)] {
                let truth: f64 = rate - 100.0_f64.ln() / limit_s;
                let capacity = at(&found, level);
                if truth <= 0.0 {
                    assert_eq!(capacity.per_second, 0.0, "{capacity:?}");
                    continue;
                }
                let within = capacity.low <= truth && capacity.high.is_some_and(|h| truth <= h);
                assert!(within, "{rate} from {first}: {truth} in {capacity:?}");
                assert!((capacity.per_second / truth - 1.0).abs() < 0.15, "{truth}: {capacity:?}");
            }
        }
    }
}

/// The verdict was given on latency alone, at a depth that shrinks with the device: a device with a
/// sixth of the capacity had the better grade.
#[test]
fn more_capacity_is_never_the_worse_verdict() {
    let mut before = Grade::Unfit;
    for rate in [50.0, 300.0, 700.0, 1200.0, 2000.0, 5000.0, 40_000.0] {
        let found = verdict(rate, Some(500.0), Vec::new());
        // What is too close to call is neither better nor worse.
        if found.grade != Grade::NotJudged {
            assert!(found.grade <= before, "{rate}: {}", found.headline);
            before = found.grade;
        }
    }
    assert_eq!(before, Grade::Excellent);
}

#[test]
fn without_a_need_there_is_no_adjective() {
    let found = verdict(3000.0, None, Vec::new());
    assert_eq!(found.grade, Grade::NotJudged);
    let parts = [
        "OLTP data files: up to ",
        " IOPS (",
        ") of 8 KiB random read and write, 70/30 keep the 99th percentile within ",
    ];
    assert!(parts.iter().all(|part| found.headline.contains(part)), "{}", found.headline);
    for word in ["excellent", "good", "acceptable", "unfit"] {
        assert!(!found.headline.contains(word), "{}", found.headline);
    }
}

#[test]
fn a_grade_says_what_it_is_for() {
    let found = verdict(3000.0, None, Vec::new()).capacities;
    let (ideal, widest) = (at(&found, Level::Ideal), at(&found, Level::Acceptable));
    let excellent = at(&found, Level::Excellent).low;
    let above = widest.high.unwrap();
    for (need, grade) in [
        (excellent, Grade::Excellent),
        (f64::midpoint(excellent, ideal.low), Grade::Good),
        (f64::midpoint(ideal.low, widest.low), Grade::Acceptable),
        (above * 1.01, Grade::Unfit),
    ] {
        let judged = verdict(3000.0, Some(need), Vec::new());
        assert_eq!(judged.grade, grade, "{need}: {}", judged.headline);
        let carries =
            if grade == Grade::Unfit { "it does not carry the" } else { "it carries the" };
        let head = format!("OLTP data files: {}: {carries} ", grade.word());
        assert!(judged.headline.starts_with(&head), "{}", judged.headline);
    }
    let close = verdict(3000.0, Some(f64::midpoint(widest.low, above)), Vec::new());
    assert_eq!(close.grade, Grade::NotJudged);
    assert!(close.headline.contains("within what is not known"), "{}", close.headline);
}

/// Figures with 15 warnings were EXCELLENT.
#[test]
fn at_low_confidence_nothing_is_better_than_acceptable() {
    let grave = || vec![Doubt::grave("the test file may fit a cache")];
    for (need, grade) in
        [(200.0, Grade::Indication), (2000.0, Grade::Indication), (9000.0, Grade::Unfit)]
    {
        let found = verdict(3000.0, Some(need), grave());
        assert_eq!(found.grade, grade, "{}", found.headline);
        let confidence = found.confidence.unwrap();
        assert_eq!(confidence.sureness, Sureness::Low);
        assert_eq!(confidence.reasons[0], "the test file may fit a cache");
    }
}

#[test]
fn the_gravest_doubt_decides_and_stands_first() {
    assert_eq!(Confidence::of(Vec::new()).sureness, Sureness::High);
    let both = vec![Doubt::slight("short"), Doubt::grave("a cache"), Doubt::slight("short")];
    let found = Confidence::of(both);
    assert_eq!(
        (found.sureness, found.reasons),
        (Sureness::Low, vec!["a cache".to_owned(), "short".to_owned()])
    );
}

#[test]
fn what_is_known_to_half_only_is_an_indication() {
    let limits = Limits::of(Role::OltpData);
    let trials = vec![queue(3000.0, 300.0, 30.0), queue(3000.0, 2990.0, 30.0)];
    let basis = || Basis { trials: trials.clone(), ..Basis::default() };
    let confidence = judge(&limits, None, basis()).confidence.unwrap();
    assert_eq!(confidence.sureness, Sureness::Low);
    assert_eq!(confidence.reasons, ["the IOPS are known to ±448 % only"]);
    // A need that is far below is met for sure.
    let need = Some(Need { role: Role::OltpData, per_second: 100.0 });
    let found = judge(&limits, need, basis());
    assert_eq!(found.confidence.unwrap().sureness, Sureness::High);
    assert_eq!(found.grade, Grade::Excellent);
}

#[test]
fn a_load_that_is_not_carried_does_not_fit_and_bounds_what_does() {
    let limits = Limits::of(Role::OltpData);
    let fast = |offered: f64, per_second: f64| Trial {
        per_second,
        offered: Some(offered),
        mean_ns: 0.1 * MS,
        beyond: [0; 3],
        far_beyond: 0,
        ..queue(1e6, 10_000.0, 30.0)
    };
    let (held, late) = (fast(475.0, 474.0), fast(16_000.0, 490.0));
    assert!(held.is_carried() && !late.is_carried());
    assert_eq!(late.fits(&limits, Level::Acceptable), Fit::No);
    let found = capacities(&limits, &[held, late], 0.0);
    let widest = at(&found, Level::Acceptable);
    assert_eq!((widest.per_second, widest.held_by), (475.0, HeldBy::Throughput));
    assert!(widest.high.unwrap() < 510.0, "{widest:?}");
}

#[test]
fn the_log_is_judged_by_what_commits_wait_for() {
    let limits = Limits::of(Role::Log);
    let write = |mean_ms: f64, slow: u64| Trial {
        label: "4 KiB sequential write, durable".to_owned(),
        offered: None,
        per_second: 1000.0 / mean_ms,
        mean_ns: mean_ms * MS,
        p99_ns: None,
        p99_9_ns: None,
        ios: 10_000,
        beyond: [slow, slow, if mean_ms > 5.0 { 10_000 } else { slow }],
        far_beyond: 0,
        half_width_percent: Some(2.0),
        seconds: 30.0,
    };
    let found = |trial| {
        let need = Some(Need { role: Role::Log, per_second: 100.0 });
        judge(&limits, need, Basis { trials: vec![trial], ..Basis::default() })
    };
    assert_eq!(found(write(0.2, 10)).grade, Grade::Excellent);
    // One commit in fifty waits longer than 5 ms, which the mean does not show.
    assert_eq!(found(write(0.2, 200)).grade, Grade::Unfit);
    let slow = found(write(8.0, 10_000));
    assert_eq!(slow.grade, Grade::Unfit);
    assert!(slow.headline.contains("No load that was tried"), "{}", slow.headline);
}

#[test]
fn what_cannot_be_judged_says_so() {
    let limits = Limits::of(Role::Log);
    let nothing = judge(&limits, None, Basis::default());
    assert_eq!((nothing.grade, nothing.confidence), (Grade::NotJudged, None));
    assert_eq!(nothing.headline, "Transaction log: not judged. Nothing suitable was measured.");
    let missing = vec!["4 KiB write was not measured".to_owned()];
    let trials = vec![queue(3000.0, 300.0, 30.0)];
    let part = judge(&limits, None, Basis { missing, trials, ..Basis::default() });
    assert_eq!(part.headline, "Transaction log: not judged. 4 KiB write was not measured.");
    let upside_down = Limits { ideal_ns: 0, ..limits };
    let found = judge(&upside_down, None, Basis::default());
    assert!(found.headline.contains("limits must"), "{}", found.headline);
}

#[test]
fn every_role_has_ordered_limits_and_every_named_need_rises() {
    for role in Role::ALL {
        assert!(Limits::of(role).are_ordered());
        let needs: Vec<f64> = NAMED_NEEDS.iter().map(|need| need.of(role).per_second).collect();
        assert!(needs.is_sorted() && needs[0] > 0.0, "{role:?}: {needs:?}");
    }
}

#[test]
fn by_the_mean_more_fits_and_that_is_said() {
    let found = verdict(3000.0, None, Vec::new());
    assert!(found.evidence[0].contains("By the mean alone"), "{}", found.evidence[0]);
    let limits = Limits { statistic: Statistic::Mean, ..Limits::of(Role::OltpData) };
    let basis = Basis { trials: searched(3000.0, 2000.0), ..Basis::default() };
    let found = judge(&limits, None, basis);
    assert!(found.headline.contains(" keep the mean within "), "{}", found.headline);
    assert!(!found.evidence[0].contains("By the mean alone"), "{}", found.evidence[0]);
}

/// A run of 4 s and a run of ten minutes had the same caveat or none, and no figure of what was
/// written.
#[test]
fn a_verdict_says_what_its_time_and_its_writes_cannot_show() {
    let windows = [(2.0, 0), (4.0, 3 << 29)];
    assert_eq!(
        Extent::of_windows(windows.into_iter()).unwrap().unseen(),
        "Measured for 2 to 4 s per load: burst credits that last longer, a write cache larger \
         than 1.5 GiB or later garbage collection would not show. To see the sustained level, use \
         `--pace long` or `iosonde run --seconds 600`."
    );
}

#[test]
fn a_class_says_what_is_usual() {
    let slow = Class::Nvme.compare(5.2 * MS).unwrap();
    assert!(slow.starts_with("Slow for an NVMe SSD: a single random read takes 5.2 ms"), "{slow}");
    assert!(Class::Hdd.compare(8.0 * MS).unwrap().starts_with("As fast as a hard disk"));
    assert_eq!(Class::Cloud.compare(0.0), None);
}

/// 77 commits of 260 ms next to a checkpoint were "within what is not known" of a limit of 5 ms.
#[test]
fn where_all_of_a_few_are_late_it_does_not_take_a_hundred() {
    let limits = Limits::of(Role::Log);
    let trial = |ios: u64, late: u64| Trial {
        label: "4 KiB".to_owned(),
        offered: None,
        per_second: 3.85,
        mean_ns: 260.0 * MS,
        p99_ns: None,
        p99_9_ns: None,
        ios,
        beyond: [late; 3],
        far_beyond: late,
        half_width_percent: None,
        seconds: 20.0,
    };
    assert_eq!(trial(77, 77).fits(&limits, Level::Acceptable), Fit::No);
    assert_eq!(trial(77, 0).fits(&limits, Level::Acceptable), Fit::NotKnown);
    assert_eq!(trial(77, 1).fits(&limits, Level::Acceptable), Fit::NotKnown);
    assert_eq!(trial(5, 5).fits(&limits, Level::Acceptable), Fit::NotKnown);
    let need = Need { role: Role::Log, per_second: 1000.0 };
    let basis = Basis { trials: vec![trial(77, 77)], ..Basis::default() };
    assert_eq!(judge(&limits, Some(need), basis).grade, Grade::Unfit);
}
