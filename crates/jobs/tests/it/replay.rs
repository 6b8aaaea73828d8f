//! Traces are replayed and fitted from a plan to a document; what cannot be is refused before
//! anything is touched.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use history::{History, Place};
use jobs::{
    Event, FitPlan, JobError, LatencyLimit, Outcome, PartPlan, Plan, Recording, ReplayPlan,
    ReplayTarget, Session, Sink, conduct,
};
use results::verdict::{Database, Role};
use results::{
    Assessment, CapturedOp, CapturedVerdict, Document, Fit, FitAttempt, FitCause, FitSide, Pace,
    Replay, ReplayMap, ReplayTiming, Status,
};
use survey::AssessOptions;
use trace::{Header, Io, Kind, Writer};
use workload::{Bytes, EngineChoice, Mode, Nanoseconds, SimDevice, Target, Workload};

#[derive(Default)]
struct Reader(Option<Document>);

impl Sink for Reader {
    fn hear(&mut self, _: &Event) {}

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.0 = Some(document.clone());
        Ok(())
    }
}

/// Writes I/Os as a trace.
fn written(path: &Path, ios: impl Iterator<Item = Io>) -> PathBuf {
    let out = BufWriter::new(File::create(path).unwrap());
    let header = Header { source: "test".to_owned(), ..Header::default() };
    let mut writer = Writer::new(out, &header).unwrap();
    ios.for_each(|io| writer.write(io).unwrap());
    writer.finish().unwrap();
    path.to_owned()
}

/// 2,000 reads and writes per second, 100 µs each, for two seconds; every tenth is a flush.
fn trace(directory: &Path, timed: bool) -> PathBuf {
    let io = |number: u64| {
        let kind = match number % 10 {
            9 => Kind::Flush,
            odd if odd % 2 == 1 => Kind::Write,
            _ => Kind::Read,
        };
        Io {
            issued_ns: number * 500_000,
            latency_ns: timed.then_some(100_000),
            device: 0,
            stream: 0,
            offset_bytes: (number * 7919 % 500) * 8192 + (1 << 40),
            length_bytes: if kind == Kind::Flush { 0 } else { 8192 },
            kind,
        }
    };
    written(&directory.join("load.iotrace"), (0..4000).map(io))
}

fn simulated() -> ReplayTarget {
    let sim = SimDevice {
        servers: 1,
        read_ns: Nanoseconds(100_000),
        write_ns: Nanoseconds(100_000),
        ..SimDevice::default()
    };
    let workload = Workload { engine: EngineChoice::Sim, sim: Some(sim), ..Workload::default() };
    ReplayTarget::of(&workload, None)
}

fn replay(trace: &Path, target: ReplayTarget) -> ReplayPlan {
    ReplayPlan {
        part: PartPlan::new(trace, None, None),
        timing: ReplayTiming::AsTimed,
        map: ReplayMap::Compact,
        seconds: None,
        targets: vec![target],
    }
}

fn document(plan: &Plan) -> Result<Document, JobError> {
    let (mut sink, stop) = (Reader::default(), AtomicBool::new(false));
    // Each plan is written and read again, as `iosonde do` and the history do.
    let plan = Plan::from_toml(&plan.to_toml().unwrap()).unwrap();
    let permissions = Permissions::default();
    conduct(
        &plan,
        &mut Session { permissions, recording: None, sink: &mut sink, stop: &stop, resumed: None },
    )?;
    let document = sink.0.expect("a document");
    let json = serde_json::to_string(&document).unwrap();
    assert_eq!(Document::parse(&json).unwrap(), document);
    Ok(document)
}

fn replayed(plan: ReplayPlan) -> Result<(Replay, Status, Vec<String>), JobError> {
    let Document::Replay(e) = document(&Plan::Replay(Box::new(plan)))? else { panic!("a replay") };
    Ok((e.conclusion, e.status, e.warnings))
}

fn fitted(plan: FitPlan) -> Result<(Fit, Vec<String>), JobError> {
    let Document::Fit(e) = document(&Plan::Fit(Box::new(plan)))? else { panic!("a fit") };
    Ok((e.conclusion, e.warnings))
}

/// Neither has measurements, so neither was kept: a fit of minutes was gone once it was printed.
#[test]
fn a_replay_and_a_fit_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::File(directory.path().join("h.db"));
    let recording = Recording { place: place.clone(), tags: Vec::new(), named: None };
    let trace = trace(directory.path(), true);
    let fit = FitPlan {
        part: PartPlan::new(&trace, None, None),
        seconds: 60.0,
        limits: vec!["write=500us@p99".parse().unwrap()],
        growth: None,
        targets: FitPlan::targets(vec![simulated()], &[], &simulated()).unwrap(),
    };
    let plans = [Plan::Replay(Box::new(replay(&trace, simulated()))), Plan::Fit(Box::new(fit))];
    for plan in plans {
        let (mut sink, stop) = (Reader::default(), AtomicBool::new(false));
        let mut session = Session {
            permissions: Permissions::default(),
            recording: Some(&recording),
            sink: &mut sink,
            stop: &stop,
            resumed: None,
        };
        conduct(&plan, &mut session).unwrap();
        let document = sink.0.unwrap();
        let kept = History::open(&place).unwrap().document(document.id()).unwrap();
        assert_eq!(kept, Some(document));
    }
}

#[test]
fn a_replay_has_recorded_and_replayed_latencies() {
    let directory = tempfile::tempdir().unwrap();
    let plan = replay(&trace(directory.path(), true), simulated());
    let (replay, status, warnings) = replayed(plan.clone()).unwrap();
    assert_eq!((status, warnings), (Status::Complete, Vec::new()));
    let result = &replay.results[0];
    assert_eq!((result.ios, result.errors, result.classes.len()), (4000, 0, 3));
    assert_eq!(result.touched_bytes, 4 << 20, "500 pages of 8 KiB are in four regions");
    for class in &result.classes {
        let (was, is) = (class.recorded_ns.unwrap(), class.due_ns.unwrap());
        assert_eq!((was.p50, is.p50, is.p99), (100_000, 100_000, 100_000));
        assert_eq!(class.demerit, Some(0.0));
    }
    assert!((result.iops / result.recorded_iops - 1.0).abs() < 0.01);
    // Again on a device that cannot carry it.
    let twelve = ReplayPlan { part: PartPlan { users: 12.0, ..plan.part.clone() }, ..plan };
    let (_, _, warnings) = replayed(twelve).unwrap();
    assert!(warnings.iter().any(|text| text.contains("did not keep up")), "{warnings:?}");
}

#[test]
fn a_real_target_is_made_filled_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let path = trace(directory.path(), true);
    let workload = Workload { mode: Mode::Buffered, ..Workload::default() };
    let like = ReplayTarget::of(&workload, None);
    let target = like.at(&Target { path: directory.path().to_owned(), size_bytes: None });
    let plan = ReplayPlan { timing: ReplayTiming::Closed, ..replay(&path, target) };
    let (replay, ..) = replayed(plan).unwrap();
    assert_eq!((replay.results[0].ios, replay.results[0].target_bytes), (4000, 4 << 20));
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "only the trace: {left:?}");
}

/// A trace of reads only ended in a panic on a real target: it has no buffers to write from.
#[test]
fn a_trace_that_only_reads_is_replayed_on_a_real_target() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reads.iotrace");
    let mut writer = Writer::new(File::create(&path).unwrap(), &Header::default()).unwrap();
    for number in 0..100u64 {
        let io = Io {
            issued_ns: number * 10_000,
            latency_ns: Some(100_000),
            device: 0,
            stream: 0,
            offset_bytes: number * 8192,
            length_bytes: 8192,
            kind: Kind::Read,
        };
        writer.write(io).unwrap();
    }
    writer.finish().unwrap();
    let workload = Workload { mode: Mode::Buffered, ..Workload::default() };
    let like = ReplayTarget::of(&workload, None);
    let target = like.at(&Target { path: directory.path().to_owned(), size_bytes: None });
    let (replay, status, _) = replayed(replay(&path, target)).unwrap();
    assert_eq!((replay.results[0].ios, status), (100, Status::Complete));
}

#[test]
fn what_cannot_be_replayed_is_refused_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let path = trace(directory.path(), false);
    let plan = replay(&path, simulated());
    let refused = |plan: ReplayPlan| replayed(plan).unwrap_err().to_string();
    let dependent = ReplayPlan { timing: ReplayTiming::Dependent, ..plan.clone() };
    assert!(refused(dependent).contains("replay it with --as-timed"));
    let looped = PartPlan { looped: true, ..plan.part.clone() };
    assert!(refused(ReplayPlan { part: looped, ..plan.clone() }).contains("--seconds"));
    let late = PartPlan { from: Some("1h".parse().unwrap()), ..plan.part.clone() };
    assert!(refused(ReplayPlan { part: late, ..plan.clone() }).contains("--from"));
    let mut small = plan.clone();
    small.targets[0].target.size_bytes = Some(workload::Bytes(1 << 20));
    assert!(refused(small.clone()).contains("--map folded"));
    assert!(replayed(ReplayPlan { map: ReplayMap::Folded, ..small }).is_ok());
    std::fs::write(&path, b"IOTRACE").unwrap();
    assert!(refused(plan).contains("load.iotrace"));
}

#[test]
fn a_fit_of_several_targets_says_which_are_models() {
    let directory = tempfile::tempdir().unwrap();
    let path = trace(directory.path(), true);
    let file = directory.path().join("volume.toml");
    std::fs::write(&file, "servers = 2\nread_ns = \"400us\"\nwrite_ns = \"400us\"\n").unwrap();
    let models = [file.to_str().unwrap().to_owned()];
    let targets = FitPlan::targets(vec![simulated()], &models, &simulated()).unwrap();
    let limit = |text: &str| -> LatencyLimit { text.parse().unwrap() };
    let plan = FitPlan {
        part: PartPlan::new(&path, None, None),
        seconds: 60.0,
        limits: vec![limit("read=5ms@p99"), limit("log=5ms")],
        growth: Some("5%/month".parse().unwrap()),
        targets,
    };
    let (fit, warnings) = fitted(plan).unwrap();
    assert_eq!(fit.limits.len(), 2, "it has no durable writes: {:?}", fit.limits);
    let [device, volume] = fit.results.as_slice() else { panic!("two answers") };
    // One server of 100 µs carries 10,000 reads and writes per second; the trace has 1,800. Part of
    // a copy is a choice of whole regions, which is not exact.
    assert_eq!(device.model, None);
    assert!((2.0..5.9).contains(&device.lower.users), "{device:?}");
    assert!((5.0..12.0).contains(&device.upper.users), "{device:?}");
    let months = device.lower_months.unwrap();
    assert!((1.05f64.powf(months) / device.lower.users - 1.0).abs() < 1e-6);
    // Two servers of 400 µs carry 5,000 I/Os per second, which are 2.8 times those of the trace.
    assert!(volume.lower.users < 3.0, "{volume:?}");
    assert!(volume.model.as_ref().is_some_and(|m| m.contains("volume.toml")), "{volume:?}");
    assert!(warnings.iter().any(|text| text.starts_with("Not measured")), "{warnings:?}");
}

/// A volume is between a device that is as slow as its provider documents and one whose I/Os take
/// no time. A documented bound of 10 ms leaves no room below 5 ms: then only the rates say
/// something.
#[test]
fn a_volume_is_fitted_by_what_its_provider_documents() {
    let directory = tempfile::tempdir().unwrap();
    let path = trace(directory.path(), true);
    let volumes = ["aws:gp3,iops=9000", "aws:io2,iops=18000"].map(str::to_owned);
    let targets = FitPlan::targets(Vec::new(), &volumes, &simulated()).unwrap();
    let part = PartPlan::new(&path, None, None);
    let plan = FitPlan { part, seconds: 60.0, limits: Vec::new(), growth: None, targets };
    // The trace has 1,800 reads and writes per second. In its 2 s, 3 % more make
    // a queue of 60 ms at the end, and of less than the limit in two of three thirds.
    let limits = vec!["read=50ms@p99".parse().unwrap()];
    let plan = FitPlan { limits, ..plan };
    let (fit, warnings) = fitted(plan.clone()).unwrap();
    for (result, truth) in fit.results.iter().zip([5.0, 10.0]) {
        assert_eq!((result.lower.side, result.upper.side), (FitSide::At, FitSide::At));
        assert!((0.6 * truth..1.04 * truth).contains(&result.lower.users), "{result:?}");
        assert!((truth..2.0 * truth).contains(&result.upper.users), "{result:?}");
        assert_eq!(result.cause, Some(FitCause::Throughput), "{result:?}");
    }
    let says = |text: &String| text.contains("9 000 IOPS") && text.contains("https://docs.aws");
    assert!(warnings.iter().any(says), "{warnings:?}");
    let limits = vec!["read=5ms@p99".parse().unwrap()];
    let (fit, warnings) = fitted(FitPlan { limits, ..plan }).unwrap();
    let [general, provisioned] = fit.results.as_slice() else { panic!("two answers") };
    assert_eq!((general.lower.side, general.upper.side), (FitSide::Below, FitSide::At));
    assert!((5.0..10.0).contains(&general.upper.users), "{general:?}");
    assert!(general.sentence.contains("carries less than"), "{}", general.sentence);
    assert_eq!(provisioned.lower.side, FitSide::At, "1 ms is below 5 ms");
    let above: Vec<_> = warnings.iter().filter(|text| text.contains("above a limit")).collect();
    assert!(matches!(above[..], [text] if text.contains("aws:gp3")), "{warnings:?}");
}

/// An assessment of a simulated device that takes so long for each I/O, with a trace.
fn assessed(trace: &Path, io_ns: u64) -> Result<(Assessment, Outcome), JobError> {
    let like = simulated();
    let ns = Nanoseconds(io_ns);
    let sim = SimDevice { read_ns: ns, write_ns: ns, sync_ns: ns, ..like.sim.unwrap() };
    let options = AssessOptions {
        target: "sim".into(),
        size: Some(Bytes(64 << 20)),
        pace: Pace::Glance,
        database: Database::Generic,
        limits: survey::limits_of(Database::Generic),
        needs: Vec::new(),
        captured: Some(trace.to_owned()),
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
    };
    let document = document(&Plan::Assess(Box::new(options)))?;
    let outcome = Outcome::of(&document, &AtomicBool::new(false));
    let Document::Assessment(found) = document else { panic!("an assessment") };
    Ok((*found, outcome))
}

#[test]
fn an_assessment_judges_the_roles_at_the_load_of_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let path = trace(directory.path(), true);
    let (found, outcome) = assessed(&path, 100_000).unwrap();
    let load = found.captured.unwrap();
    assert_eq!((load.verdict, load.cause, load.failure), (CapturedVerdict::Holds, None, None));
    assert_eq!((outcome, load.part.ios, load.attempts.len()), (Outcome::Done, 4000, 1));
    let limits: Vec<_> = load.limits.iter().map(|l| (l.role, l.kind)).collect();
    assert_eq!(limits, [(Role::Log, CapturedOp::Flush), (Role::OltpData, CapturedOp::Read)]);
    for limit in &load.limits {
        assert_eq!((limit.recorded_ns, limit.was_ns), (Some(100_000), Some(100_000)));
    }
    assert!((load.limits[0].per_second - 200.0).abs() < 1.0, "{}", load.limits[0].per_second);
    // A device that does 100 I/Os per second does not carry 2,000, whether users wait or not.
    let (found, outcome) = assessed(&path, 10_000_000).unwrap();
    let load = found.captured.unwrap();
    assert_eq!((load.verdict, load.attempts.len()), (CapturedVerdict::Exceeded, 2));
    assert_eq!((load.cause, outcome), (Some(FitCause::Throughput), Outcome::NotMet));
}

/// In each burst the queue of an open loop grows to 190 ms. Users who wait take 0.2 s longer for a
/// burst and the pause after it, and each of their reads takes 0.3 ms.
#[test]
fn a_load_that_only_holds_if_users_wait_is_not_said_to_hold() {
    let directory = tempfile::tempdir().unwrap();
    let io = |number: u64| Io {
        issued_ns: number / 1000 * 2_110_000_000 + number % 1000 * 110_000,
        latency_ns: Some(100_000),
        device: 0,
        stream: 0,
        offset_bytes: (number * 7919 % 500) * 8192,
        length_bytes: 8192,
        kind: Kind::Read,
    };
    let path = written(&directory.path().join("bursts.iotrace"), (0..4000).map(io));
    let (found, outcome) = assessed(&path, 300_000).unwrap();
    let load = found.captured.unwrap();
    assert_eq!((load.verdict, outcome), (CapturedVerdict::HoldsIfUsersWait, Outcome::NotMet));
    assert!(matches!(load.cause, Some(FitCause::Latency { kind: CapturedOp::Read, .. })));
    assert_eq!(load.attempts.len(), 2);
    // Writes that are not those of a log belong to no role.
    let writes = (0..100).map(|number| Io { kind: Kind::Write, ..io(number) });
    let writes = written(&directory.path().join("writes.iotrace"), writes);
    let refused = assessed(&writes, 300_000).unwrap_err().to_string();
    assert!(refused.contains("fewer than 20 I/Os of each role"), "{refused}");
    assert!(assessed(&directory.path().join("missing"), 300_000).is_err());
}

/// 200 reads per second for 2 s, and so many flushes.
fn with_flushes(directory: &Path, flushes: u64) -> PathBuf {
    let io = |number: u64| {
        let is_flush = number % 20 == 19 && number / 20 < flushes;
        Io {
            issued_ns: number * 5_000_000,
            latency_ns: Some(100_000),
            device: 0,
            stream: 0,
            offset_bytes: (number * 7919 % 500) * 8192,
            length_bytes: if is_flush { 0 } else { 8192 },
            kind: if is_flush { Kind::Flush } else { Kind::Read },
        }
    };
    written(&directory.join(format!("{flushes}.iotrace")), (0..420).map(io))
}

/// What has fewer than 20 I/Os is not judged, and the answer says so: neither is a limit that
/// nothing could exceed one that holds, nor do the few I/Os of a thinned copy say that it does.
#[test]
fn a_kind_with_few_ios_is_not_judged_and_that_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let few = with_flushes(directory.path(), 12);
    let (found, outcome) = assessed(&few, 1_000_000).unwrap();
    let load = found.captured.unwrap();
    let judged: Vec<_> = load.limits.iter().map(|l| (l.kind, l.is_judged)).collect();
    assert_eq!(judged, [(CapturedOp::Read, true), (CapturedOp::Flush, false)]);
    assert_eq!((load.verdict, outcome), (CapturedVerdict::Holds, Outcome::Done));
    assert!(load.limits.iter().all(|limit| limit.was_ns.is_some()));

    let like = simulated();
    let slow = SimDevice { sync_ns: Nanoseconds(15_000_000), ..like.sim.clone().unwrap() };
    let target = ReplayTarget { sim: Some(slow), ..like };
    let targets = FitPlan::targets(vec![target.clone()], &[], &target).unwrap();
    let limits = ["flush=5ms@p99", "read=9s@p99"].map(|text| text.parse().unwrap()).to_vec();
    let part = PartPlan::new(&few, None, None);
    let plan = FitPlan { part, seconds: 60.0, limits, growth: None, targets };
    let (fit, warnings) = fitted(plan.clone()).unwrap();
    assert_eq!(fit.limits.len(), 1, "{:?}", fit.limits);
    let said = "The limit of flushes was not judged: this part of the trace has fewer than 20.";
    assert!(warnings.iter().any(|text| text == said), "{warnings:?}");
    let refused = fitted(FitPlan { limits: plan.limits[..1].to_vec(), ..plan.clone() });
    assert!(refused.unwrap_err().to_string().contains("fewer than 20 I/Os of each kind"));

    // With 21 of them the limit is judged at one times the load, and not at half of it.
    let part = PartPlan::new(&with_flushes(directory.path(), 21), None, None);
    let (fit, warnings) = fitted(FitPlan { part, ..plan }).unwrap();
    let [found] = fit.results.as_slice() else { panic!("one answer") };
    assert_eq!((found.lower.side, found.upper.side), (FitSide::Below, FitSide::At), "{found:?}");
    assert!(matches!(found.cause, Some(FitCause::Latency { kind: CapturedOp::Flush, .. })));
    let few = |a: &&FitAttempt| a.cause == Some(FitCause::TooFew { kind: CapturedOp::Flush });
    let few: Vec<_> = found.attempts.iter().filter(few).collect();
    assert!(!few.is_empty() && few.iter().all(|a| a.users < 1.0), "{:?}", found.attempts);
    assert!(warnings.iter().any(|text| text.contains("had fewer than 20 I/Os")), "{warnings:?}");
}
