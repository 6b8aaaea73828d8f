//! The text reports: the lines people look for, and no panic whatever the figures are.

use proptest::prelude::*;
use report::text;
use results::contradiction::{
    Contradiction, Identity, PrintedFigure, PrintedQuantity, PrintedSide,
};
use results::verdict::{Database, Need, Role};
use results::{
    Assessment, Document, ErrorKind, ErrorRecord, Latency, Measurement, Pace, Statistics, Status,
};
use workload::{Arrival, Bytes, Pool, PoolShare, Rate, RateLimit};

use crate::sample;

fn of(m: &Measurement) -> String {
    text::document(&Document::Measurement(Box::new(m.clone())))
}

fn assessed(a: &Assessment) -> String {
    text::document(&Document::Assessment(Box::new(a.clone())))
}

fn width(text: &str) -> usize {
    text.lines().map(|l| l.chars().count()).max().unwrap_or(0)
}

#[test]
fn a_measurement_reads_in_the_order_of_the_field() {
    let text = of(&sample::mixed());
    let first = text.lines().next().unwrap();
    let load = "8 KiB random 70 % read / 30 % write, durable";
    assert_eq!(first, format!("{load} on /data/pg/iosonde.test, file size 100 GiB"));
    let order = [
        "\nResult\n  61 000 IOPS, 477 MiB/s at a mean latency of 2.04 ms (p99 5.41 ms)",
        "Throughput",
        "total  1 829 996  61 000    477  2.04 ms       0",
        "Load                 8 KiB random 70 % read / 30 % write, durable",
        "In flight            4 threads × depth 32 = 128",
        "Cache                direct (no OS cache), writes durable",
        "Engine               uring (io_uring works here",
        "Measured             30 s after 3 s of warm-up, from 2026-11-20 10:12:13 UTC, seed 42",
        "Latency",
        "p99.9",
        "Max",
        "reads/s",
        "In flight  128 asked, 128 achieved on average (99.8 %)",
        "CPU        3.2 µs per I/O",
        "Stalls",
        "Kernel     nvme0n1",
    ];
    let mut rest = text.as_str();
    for part in order {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("`{part}` is missing or too early in\n{text}"));
        rest = &rest[at..];
    }
    assert!(width(&text) <= 100, "{text}");
}

/// A contradiction is a fact of the document; its words are those of the report.
#[test]
fn figures_that_contradict_each_other_are_a_doubt() {
    let figure = |quantity, side, value| PrintedFigure { quantity, side, value };
    let mut m = sample::mixed();
    let iops = figure(PrintedQuantity::Iops, PrintedSide::Read, 99_000.0);
    let count = figure(PrintedQuantity::Ios, PrintedSide::Read, 1_048_576.0);
    let seconds = figure(PrintedQuantity::Seconds, PrintedSide::Total, 10.0);
    m.checks.contradictions = vec![Contradiction {
        suspects: vec![iops],
        identity: Identity::Product,
        others: vec![iops, seconds],
        printed: count,
        follows: 990_000.5,
        tolerance: 10.0,
    }];
    let text = of(&m).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "read IOPS (99 000) contradicts the other figures: read IOPS x seconds gives \
                990000.50 read I/Os, not 1 048 576";
    assert!(text.contains(&format!("! {said}")), "{text}");
    m.checks.contradictions[0].suspects = vec![iops, seconds];
    let text = of(&m).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "one of read IOPS (99 000) and seconds (10) contradicts the others";
    assert!(text.contains(said), "{text}");
}

/// Of another tool nothing is said that it did not tell.
#[test]
fn an_imported_result_says_whose_it_is_and_how_far_its_mean_is_known() {
    let mut m = sample::mixed();
    let latency =
        Latency { min: Some(0), mean: 29e6, max: Some(532_000_000), ..Latency::default() };
    for s in [&mut m.total, &mut m.read, &mut m.write] {
        s.latency_ns = Some(latency);
    }
    m.cpu = results::Cpu::default();
    let mut percents = vec![4; 25];
    percents[0] = 100;
    m.origin = Some(results::Origin {
        tool: "SQLIO".to_owned(),
        tool_version: Some("v1.5.SG".to_owned()),
        file: Some("result.txt".to_owned()),
        latency_mean_short_by_ns: Some(1_500_000),
        histogram_percent: Some(percents),
        ..results::Origin::default()
    });
    let text = of(&m);
    for words in [
        "Measured by    SQLIO v1.5.SG, not iosonde",
        "Imported from  result.txt",
        "29 ms to 30.5 ms",
        "SQLIO does not report",
        "  ms    0  1  2  3",
        " 23 24+\n    %   100  4  4",
    ] {
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    for words in ["seed", "CPU  ", "clock", "fewer than ten", "Stalls", "Kernel"] {
        assert!(!text.contains(words), "`{words}` is in {text}");
    }
}

/// The product of threads and depth is not what is in flight where each target has the depth.
#[test]
fn a_pool_says_that_each_target_has_the_depth() {
    let mut m = sample::mixed();
    m.in_flight = 256;
    for stream in &mut m.workload.streams {
        stream.pool = Some(Pool { share: PoolShare::Each });
    }
    let text = of(&m);
    assert!(
        text.contains("In flight            4 threads × depth 32 on each target = 256"),
        "{text}"
    );
}

#[test]
fn what_went_wrong_is_said() {
    let mut m = sample::mixed();
    m.status = Status::Interrupted;
    m.seconds = 12.0;
    m.errors.push(ErrorRecord {
        kind: ErrorKind::Io,
        operation: "read".to_owned(),
        path: "/data/pg/iosonde.test".into(),
        count: 3,
        first_offset_bytes: 81_920,
        message: "Input/output error (os error 5)".to_owned(),
    });
    m.stalls.over_15_s = 1;
    m.stalls.unfinished = 2;
    m.checks.warnings.push("The device was shared: \u{1b}[31mred".to_owned());
    let text = of(&m);
    assert!(text.contains("\n  NOT COMPLETE: Interrupted before its end."));
    assert!(text.contains("12 s of 30 s"));
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        one_line.contains("3 read /data/pg/iosonde.test 80 KiB Input/output error (os error 5)"),
        "{text}"
    );
    assert!(one_line.contains("1 I/O took 15 s or more; 2 I/Os never returned"), "{text}");
    assert!(text.contains("Warnings\n  ! The device was shared: \u{FFFD}[31mred\n"), "{text}");
}

#[test]
fn an_open_loop_shows_service_and_delay() {
    let mut m = sample::mixed();
    m.workload.streams[0].rate =
        Some(Rate { limit: RateLimit::Iops(5000.0), arrival: Arrival::Even });
    m.read.service_ns = m.read.latency_ns;
    m.read.delay_ns = Some(Latency::default());
    m.checks.rate_reached_percent = Some(99.7);
    let text = of(&m);
    assert!(text.contains("5 000 IOPS offered evenly"));
    assert!(text.contains("read service  read delay"), "{text}");
    assert!(text.contains("Rate       99.7 % of what was offered was reached"));
    assert!(width(&text) <= 100, "{text}");
}

#[test]
fn streams_and_targets_have_tables_of_their_own() {
    let mut m = sample::mixed();
    assert!(!of(&m).contains("Streams"));
    let mut second = m.workload.streams[0].clone();
    second.name = "log".to_owned();
    m.workload.streams.push(second);
    let mut result = m.streams[0].clone();
    result.name = "log".to_owned();
    m.streams.push(result);
    let mut target = m.targets[0].clone();
    target.path = "/a/very/long/path/to/the/second/file/of/the/test.dat".into();
    target.file_bytes = 1 << 30;
    m.targets.push(target);
    let text = of(&m);
    assert!(text.lines().next().unwrap().ends_with(", file size 100 GiB"), "{text}");
    assert!(text.contains("Streams\n") && text.contains("\n  log "));
    assert!(text.contains("Targets\n") && text.contains("1 GiB"));
    assert!(width(&text) <= 100, "{text}");
}

#[test]
fn an_assessment_fits_one_screen() {
    let text = assessed(&sample::assessment());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= 40 && width(&text) <= 80, "{} lines\n{text}", lines.len());
    assert_eq!(lines[0], "/data/pg, file size 100 GiB");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "SAMSUNG MZQL23T8HCLS-00A07 (nvme0n1, 3.49 TiB)",
        " ! 2 findings on the set-up, first: The scheduler mq-deadline is in use on",
        " 9 544 commits/s Transaction log, confidence medium. Up to 9 544 commits/s (",
        " MiB/s Data warehouse (DSS) data files, confidence high. Up to ",
        "At a glance",
        "! 1 warning: 512 KiB sequential read: throughput varied",
    ] {
        assert!(joined.contains(part), "`{part}` is missing in\n{text}");
    }
}

/// The lines of the section that an assessment begins with.
fn glance(a: &Assessment) -> Vec<String> {
    let text = assessed(a);
    let lines = text.lines().skip_while(|line| *line != "At a glance").skip(1);
    let glance: Vec<String> =
        lines.take_while(|line| *line != "Verdicts").map(str::to_owned).collect();
    assert!(!glance.is_empty(), "{text}");
    glance
}

fn row(lines: &[String], name: &str) -> String {
    let found = lines.iter().find(|line| line.trim_start().starts_with(name));
    found.unwrap_or_else(|| panic!("no row {name} in {lines:#?}")).clone()
}

#[test]
fn an_assessment_begins_with_what_a_manager_reads() {
    let mut a = sample::assessment();
    a.ramps[0].causes = vec![results::cause::Likely {
        cause: results::cause::Cause::Throttle,
        certainty: results::cause::Certainty::Likely,
        sentence: String::new(),
        evidence: Vec::new(),
        against: Vec::new(),
    }];
    let lines = glance(&a);
    let names = ["Random read", "Random write", "Sequential read", "Log write", "Mixed 70/30"];
    for name in names {
        assert!(row(&lines, name).chars().count() <= 80, "{lines:#?}");
    }
    assert!(row(&lines, "Random read").contains("91 888"), "{lines:#?}");
    assert!(row(&lines, "Block sizes").contains(": 8 KiB, 8 KiB, 64 KiB"), "{lines:#?}");
    row(&lines, "Bottleneck of random reads: a set rate (throttle), likely.");
    row(&lines, "Next: ");
}

/// Says how well the first random read is known.
fn known_to(a: &mut Assessment, percent: f64) {
    let read = a.patterns.iter_mut().filter(|p| p.name == "random_read_8k");
    let steady = results::steady::Steady {
        mean: 91_888.0,
        half_width_percent: Some(percent),
        settled: true,
        cut_s: 0.0,
        drift_percent: 0.0,
        seconds: 30.0,
        precision_percent: 1.0,
        explanation: String::new(),
    };
    read.for_each(|p| p.measurement.steady = Some(steady.clone()));
}

/// An interval of ±643 % stood next to a figure that looked like a fact.
#[test]
fn what_cannot_be_known_is_marked() {
    let mut a = sample::assessment();
    known_to(&mut a, 50.0);
    assert!(row(&glance(&a), "Random read").contains("91 888"));
    for (percent, shown) in [(51.0, "51"), (643.0, "643"), (57_765.0, "> 900")] {
        known_to(&mut a, percent);
        let lines = glance(&a);
        let line = row(&lines, "Random read");
        assert_eq!(line.matches('?').count(), 5, "{line}");
        assert!(line.ends_with(shown) && line.contains("91 888? "), "{line}");
        assert!(line.chars().count() <= 80, "{line}");
        row(&lines, "A figure with ? may be more than 50 % off");
    }
}

#[test]
fn what_was_not_measured_says_so() {
    let mut a = sample::assessment();
    a.patterns.retain(|p| !p.name.starts_with("log_write") && !p.name.contains("70_30"));
    let lines = glance(&a);
    assert!(row(&lines, "Not measured: ").contains("log write"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("Mixed")), "this document has none");
    // Rows are found by what their stream does, not by name.
    for p in &mut a.patterns {
        p.name = "load".to_owned();
    }
    assert!(row(&glance(&a), "Random read").contains("91 888"));
    a.patterns.clear();
    assert!(!assessed(&a).contains("At a glance"));
}

#[test]
fn the_next_step_follows_from_what_was_found() {
    let next = |a: &Assessment| {
        let all = glance(a).join(" ");
        let words: Vec<&str> = all.split_whitespace().collect();
        words.join(" ").split("Next: ").nth(1).unwrap().to_owned()
    };
    let mut a = sample::assessment();
    if let Some(host) = &mut a.environment.host {
        host.memory_bytes = 1 << 30;
    }
    assert!(next(&a).contains(&format!("iosonde history tag {} baseline", a.id)));
    a.pace = Pace::Quick;
    assert!(next(&a).contains("iosonde assess --pace normal /data/pg"));
    let mut judged = a.clone();
    judged.database = Database::Postgres;
    judged.verdicts[0].need = Some(Need { role: Role::Log, per_second: 2000.0 });
    judged.verdicts[1].need = Some(Need { role: Role::OltpData, per_second: 500.5 });
    let flags = "--pace normal --for postgres --need log=2000/s,oltp=500.5iops";
    assert!(next(&judged).contains(&format!("iosonde assess {flags} /data/pg")));
    a.environment.host.as_mut().unwrap().memory_bytes = a.file_bytes;
    assert!(next(&a).contains("iosonde assess --size 200G /data/pg"), "{}", next(&a));
    let liar = sample::assessment_in_doubt();
    assert!(next(&liar).contains("iosonde validate --durability --witness HOST /data/pg"));
    a.target = "/data/my disk".into();
    assert!(next(&a).contains("'/data/my disk'"));
    a.status = Status::Interrupted;
    assert!(next(&a).contains("run it to its end"));
}

#[test]
fn what_was_expected_and_what_is_doubtful_stand_under_the_verdicts() {
    let text = assessed(&sample::assessment_with_findings());
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "NOT MET Expectation of the vendor. the vendor: claimed 200 000 IOPS, the",
        " - A durable log write took 0.02 ms",
        " - 8 KiB random write, shifted by 512 bytes, gives 51 ± 5 %",
    ] {
        assert!(joined.contains(part), "`{part}` is missing in\n{text}");
    }
    let plain = assessed(&sample::assessment());
    assert!(!plain.contains("  - "), "nothing where nothing was found");
}

/// What lay in the HTML report only, or nowhere: the terminal said "No warnings" of a device that
/// lies.
#[test]
fn doubts_and_what_was_not_seen_are_on_the_screen() {
    let text = assessed(&sample::assessment_in_doubt());
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "INDICATION ONLY Transaction log, confidence low. Not believed: a durable write",
        " ! Measured for 30 s per load: burst credits that last longer, a write cache",
        "! 3 warnings, the first: Not believed: a durable write took 0.02 ms, a plain",
    ] {
        assert!(joined.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(width(&text) <= 80, "{text}");
    // Said under the verdicts, it is not said again as the only warning.
    let mut quiet = sample::assessment();
    quiet.warnings = quiet.unseen.iter().cloned().collect();
    quiet.environment.storage.clear();
    let text = assessed(&quiet);
    assert_eq!(text.matches("Measured for").count(), 1, "{text}");
    assert!(!text.contains("warning"), "{text}");
}

/// The screen judged a device whose I/O nobody counted, and did not say that other I/O would not
/// show.
#[test]
fn a_device_that_is_not_counted_is_on_the_screen() {
    let mut a = sample::assessment_with_findings();
    let finding = &mut a.environment.storage[0].findings[0];
    finding.code = "accounting-off".to_owned();
    finding.message =
        "The kernel does not count the I/O of sdb: accounting is switched off.".to_owned();
    let joined = assessed(&a).split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "! The kernel does not count the I/O of sdb: accounting is switched off, so I/O by \
                other processes would not show.";
    assert!(joined.contains(told), "{joined}");
}

/// A document of the version before had none of these fields.
#[test]
fn an_older_assessment_is_still_read() {
    let mut older = serde_json::to_value(sample::assessment_in_doubt()).unwrap();
    let fields = older.as_object_mut().unwrap();
    assert!(fields.remove("unseen").is_some() && fields.remove("level_changes").is_some());
    let honesty = fields.get_mut("honesty").and_then(|h| h.as_object_mut()).unwrap();
    assert!(honesty.remove("read_latency_ns").is_some());
    let read: results::Assessment = serde_json::from_value(older).unwrap();
    assert_eq!((read.unseen, read.level_changes.len()), (None, 0));
}

#[test]
fn an_assessment_without_figures_is_short() {
    let text = assessed(&sample::empty());
    assert!(text.contains("Interrupted") && text.contains("Nothing was judged."), "{text}");
}

/// Any 64 bits as a number, so that NaN, infinities and subnormals come often.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<u64>().prop_map(f64::from_bits), any::<f64>(), Just(f64::NAN), Just(0.0)]
}

fn latency() -> impl Strategy<Value = Option<Latency>> {
    let fields = (any::<u64>(), number(), number(), any::<u64>(), prop::option::of(any::<u64>()));
    prop::option::of(fields.prop_map(|(min, mean, stddev, max, p)| Latency {
        min: Some(min),
        mean,
        stddev: Some(stddev),
        max: Some(max),
        p50: p,
        p99: p,
        ..Latency::default()
    }))
}

fn statistics() -> impl Strategy<Value = Statistics> {
    let fields = (any::<u64>(), any::<u64>(), number(), number(), latency(), latency());
    fields.prop_map(|(ios, errors, iops, mib_per_s, latency_ns, service_ns)| Statistics {
        ios,
        errors,
        iops,
        mib_per_s,
        latency_ns,
        service_ns,
        ..Statistics::default()
    })
}

fn odd() -> impl Strategy<Value = Measurement> {
    let statistics = (statistics(), statistics(), statistics(), statistics());
    let rest = (number(), number(), any::<u64>(), any::<u32>(), ".{0,20}", 0usize..3, any::<u64>());
    (statistics, rest).prop_map(
        |((total, read, write, sync), (a, b, whole, depth, words, n, size))| {
            let mut m = sample_once();
            (m.total, m.read, m.write, m.sync) = (total, read, write, sync);
            (m.seconds, m.achieved_in_flight, m.in_flight) = (a, b, whole);
            (m.cpu.total_us_per_io, m.cpu.host_percent) = (Some(a), Some(b));
            (m.checks.tool_ceiling_iops, m.checks.littles_law_percent) = (Some(a), Some(b));
            m.checks.warnings = vec![words.clone(); n];
            m.started.clone_from(&words);
            m.engine.reason.clone_from(&words);
            m.targets = vec![m.targets[0].clone(); n];
            m.streams = vec![m.streams[0].clone(); n];
            m.workload.streams.truncate(n);
            for s in &mut m.workload.streams {
                s.blocks.truncate(n);
                s.blocks.iter_mut().for_each(|b| (b.bytes, b.weight) = (Bytes(size), 0));
                s.write_percent = depth.to_le_bytes()[0];
            }
            (m.depth, m.threads, m.file_bytes, m.stalls.longest_gap_ns) =
                (Some(depth), whole, size, whole);
            if let Some(kernel) = &mut m.kernel {
                (kernel.average_queue, kernel.utilisation_percent) = (a, b);
                if let Some(agreement) = &mut kernel.agreement {
                    agreement.rows.truncate(n);
                    agreement.rows.iter_mut().for_each(|r| (r.tool, r.difference_percent) = (a, b));
                }
            }
            m
        },
    )
}

/// The sample is costly to make; each case starts from a copy.
fn sample_once() -> Measurement {
    static SAMPLE: std::sync::LazyLock<Measurement> = std::sync::LazyLock::new(sample::mixed);
    SAMPLE.clone()
}

proptest! {
    #[test]
    fn no_figure_makes_the_text_panic(m in odd()) {
        let text = of(&m);
        prop_assert!(!text.contains("NaN"));
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }
}

/// What an assessment says of the load of a trace.
#[test]
fn the_captured_load_is_judged_in_words_and_by_limit() {
    use results::CapturedVerdict::{Exceeded, Holds, HoldsIfUsersWait, NotJudged};
    let shown_if = |is_judged, verdict, failure: Option<&str>| {
        let cause = results::FitCause::Latency {
            kind: results::CapturedOp::Flush,
            was_ns: 9_000_000,
            limit_ns: 5_000_000,
        };
        let captured = results::CapturedLoad {
            part: serde_json::from_value(serde_json::json!({
                "trace": "/tmp/shop.iotrace", "source": "ebpf", "from_seconds": 0.0,
                "seconds": 10.0, "ios": 4000, "discards": 0, "lost_ios": 0, "cut_ios": 0,
                "in_flight": 1.5, "speed": 1.0, "users": 1.0, "looped": false
            }))
            .unwrap(),
            verdict,
            cause: Some(cause),
            failure: failure.map(str::to_owned),
            limits: vec![results::CapturedLimit {
                role: results::verdict::Role::Log,
                kind: results::CapturedOp::Flush,
                quantile: 0.99,
                at_most_ns: 5_000_000,
                recorded_ns: Some(1_000_000),
                was_ns: Some(9_000_000),
                per_second: 200.0,
                is_judged,
            }],
            attempts: Vec::new(),
        };
        let assessment = Assessment { captured: Some(captured), ..sample::assessment() };
        let text = assessed(&assessment);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let shown = |verdict, failure| shown_if(true, verdict, failure);
    let exceeded = shown(Exceeded, None);
    assert!(!exceeded.contains("Not judged"), "{exceeded}");
    let few = shown_if(false, Holds, None);
    assert!(few.contains("has fewer than 20 of them: flush."), "{few}");
    assert!(exceeded.contains("The storage does not carry the captured load."), "{exceeded}");
    assert!(exceeded.contains("flush: 9 ms, limit 5 ms"), "{exceeded}");
    assert!(exceeded.contains("Transaction log flush 200 1 ms 9 ms 5 ms"), "{exceeded}");
    assert!(shown(Holds, None).contains("The storage carries the captured load."));
    assert!(shown(HoldsIfUsersWait, None).contains("is not certain"));
    assert!(shown(NotJudged, None).contains("This host was too slow"));
    let not_replayed = shown(NotJudged, Some("an I/O failed"));
    assert!(not_replayed.contains("was not replayed: an I/O failed."), "{not_replayed}");
}
