//! What an experiment asks for follows from its plan and from the answers, and from nothing else.
//! So one that was interrupted goes on from its measurements as if it had never been.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use results::verdict::Database;
use results::{Cycle, CycleRun, Document, Measurement, Pace, Status};
use serde_json::Value;
use survey::{
    AssessOptions, CycleOptions, Here, KneeOptions, LabContext, LabRecord, MatrixOptions, Progress,
    RunsOptions, ScaleOptions, Setup, SizesOptions, SweepOptions, Timing, assess, cycle_on, knee,
    limits_of, matrix, runs, scale, sizes, sweep,
};
use workload::sweep::{Matrix, Plan, Rounds, preset};
use workload::{
    Bytes, EngineChoice, Mode, Nanoseconds, Pattern, Precision, SimDevice, SimNoise, Stream,
    Target, Workload,
};

/// An experiment on a device; the seed is that of its plan.
type Experiment = fn(u64, SimDevice, LabContext<'_>) -> Document;

const EXPERIMENTS: [(&str, Experiment); 10] = [
    ("knee", |seed, sim, context| {
        let (setup, stream) = (setup(seed, sim, 1), Stream::default());
        let (in_flight, link, latency_target) = ((1, 64), None, None);
        let options = KneeOptions { setup, stream, in_flight, link, latency_target };
        Document::Knee(Box::new(knee(&options, context).unwrap()))
    }),
    ("sizes", |seed, sim, context| {
        let mut setup = setup(seed, sim, 1);
        setup.targets[0].size_bytes = None;
        let sizes_bytes = [1, 2, 4].map(|gib| Bytes(gib << 30)).to_vec();
        let stream = Stream { depth: 4, ..Stream::default() };
        let (fill_seconds, pass_seconds) = (60.0, 60.0);
        let options =
            SizesOptions { setup, stream, sizes: sizes_bytes, fill_seconds, pass_seconds };
        Document::Sizes(Box::new(sizes(&options, context).unwrap()))
    }),
    ("scale", |seed, sim, context| {
        let stream = Stream { depth: 8, ..Stream::default() };
        let options = ScaleOptions { setup: setup(seed, sim, 3), stream, pairs: true };
        Document::Scale(Box::new(scale(&options, context).unwrap()))
    }),
    ("matrix", |seed, sim, context| {
        let stream = Stream { depth: 8, ..Stream::default() };
        let levels = vec![0, 30, 60];
        let options =
            MatrixOptions { setup: setup(seed, sim, 1), stream, levels, cell_seconds: 1.0 };
        Document::Matrix(Box::new(matrix(&options, context).unwrap()))
    }),
    ("assess", |seed, sim, context| {
        let database = Database::Generic;
        let options = AssessOptions {
            target: "sim".into(),
            size: Some(Bytes(1 << 30)),
            pace: Pace::Glance,
            database,
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
            seed,
        };
        Document::Assessment(Box::new(assess(&options, context).unwrap()))
    }),
    ("cycle", |seed, sim, context| {
        let setup = setup(seed, sim, 1);
        let depths = [1, 2, 4, 8];
        let stream = |depth| Stream { depth, ..Stream::default() };
        let run = |depth: u32| CycleRun {
            specs: vec!["reads".to_owned()],
            workers: 1,
            targets: 1,
            outstanding: Some(depth),
            in_flight: depth.into(),
            measurement: None,
            reason: None,
        };
        let options = CycleOptions {
            cycle: Cycle {
                file: "reads.icf".to_owned(),
                description: String::new(),
                test_type: "CYCLE_OUTSTANDING_IOS".to_owned(),
                runs: depths.map(run).to_vec(),
            },
            workloads: depths.map(|depth| setup.workload(vec![stream(depth)])).to_vec(),
            preparation: setup.workload(vec![stream(1)]),
            permissions: Permissions::default(),
            same_seed: false,
            method: Vec::new(),
            warnings: Vec::new(),
        };
        let settle = |_: &mut Workload, _: &[workload::TargetFacts]| ();
        let mut keep = |_: usize, _: &Measurement| Ok(());
        let mut bench = Here;
        Document::Cycle(Box::new(
            cycle_on(&mut bench, options, &settle, &mut keep, context.within()).unwrap(),
        ))
    }),
    ("sweep", |seed, sim, context| swept(Plan { settle_seconds: 0.0, ..plan(seed, sim) }, context)),
    ("adaptive sweep", |seed, sim, context| {
        let precision = Precision { percent: 5.0, at_least_seconds: 0.5, ..Precision::default() };
        swept(Plan { adaptive: true, precision: Some(precision), ..plan(seed, sim) }, context)
    }),
    ("sweep in rounds", |seed, sim, context| {
        let rounds = preset("snia-pts").and_then(|preset| preset.plan().rounds);
        let rounds = rounds.map(|rounds| Rounds { at_most: 6, ..rounds });
        let mut plan = Plan { rounds, ..plan(seed, sim) };
        plan.targets.truncate(1);
        plan.targets[0].size_bytes = Some(Bytes(4 << 20));
        swept(plan, context)
    }),
    ("runs", |seed, sim, context| {
        let stream = Stream { depth: 4, write_percent: 50, ..Stream::default() };
        let sides = vec![setup(seed, sim, 1).workload(vec![stream])];
        let permissions = Permissions::default();
        let options = RunsOptions { sides, permissions, repeat: 5, settle_seconds: 1.0 };
        let mut documents = runs(&options, vec![context.within()]).unwrap();
        Document::Runs(Box::new(documents.remove(0)))
    }),
];

/// Two blocks at two depths, on two targets one after the other. The sequential reads of large
/// blocks do not fit on the second.
fn plan(seed: u64, sim: SimDevice) -> Plan {
    let matrix = Matrix {
        patterns: vec![Pattern::Random, Pattern::Sequential],
        blocks: vec![Bytes(8192), Bytes(2 << 20)],
        threads: vec![1],
        depths: vec![1, 4],
        seconds: 0.5,
        warmup_seconds: 0.1,
        ..Matrix::default()
    };
    let target =
        |(name, bytes): (&str, u64)| Target { path: name.into(), size_bytes: Some(Bytes(bytes)) };
    Plan {
        targets: [("a", 1 << 30), ("b", 1 << 20)].map(target).to_vec(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        seed,
        ..Plan::new("two", vec![matrix])
    }
}

fn swept(plan: Plan, context: LabContext<'_>) -> Document {
    let options = SweepOptions { plan, permissions: Permissions::default() };
    Document::Sweep(Box::new(sweep(options, context).unwrap()))
}

fn setup(seed: u64, sim: SimDevice, targets: usize) -> Setup {
    let target = |number: usize| Target {
        path: format!("sim{number}").into(),
        size_bytes: Some(Bytes(1 << 30)),
    };
    let precision = Precision { percent: 5.0, at_least_seconds: 0.5, ..Precision::default() };
    let timing = Timing { seconds: 1.0, warmup_seconds: 0.1, ..Timing::default() };
    Setup {
        targets: (0..targets).map(target).collect(),
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed,
        timing: Timing { precision: Some(precision), ..timing },
    }
}

/// A noisy disk of 4 servers; one I/O fails where that is asked for.
fn device(fail_every: Option<u64>) -> SimDevice {
    let ns = Nanoseconds(4_000_000);
    let noise = Some(SimNoise { run_percent: 3.0, io_percent: 10.0, drift: None });
    SimDevice { servers: 4, read_ns: ns, write_ns: ns, noise, fail_every, ..SimDevice::default() }
}

/// What came of an experiment, and what was measured for it.
struct Done {
    document: Document,
    measured: Vec<Measurement>,
}

/// Carries one out, until so many measurements are made or to its end.
fn done(
    experiment: Experiment,
    (seed, sim): (u64, SimDevice),
    record: Option<LabRecord>,
    most: usize,
) -> Done {
    let stop = AtomicBool::new(false);
    let mut measured = Vec::new();
    let mut observe = |progress: Progress<'_>| {
        if let Progress::Measured(measurement) = progress {
            measured.push(measurement.clone());
            stop.store(measured.len() >= most, Ordering::Relaxed);
        }
    };
    let context = LabContext { record, ..LabContext::new(&stop, &mut observe) };
    let document = experiment(seed, sim, context);
    Done { document, measured }
}

fn loads(measured: &[Measurement]) -> Vec<(Vec<Stream>, u64)> {
    measured.iter().map(|m| (m.workload.streams.clone(), m.workload.seed)).collect()
}

/// A document without what two measurements of the same differ in: names, times, and the processor
/// time of this host. How it came about is said in the method.
fn bare(document: &Document) -> Value {
    let mut value = document.to_value().unwrap();
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Rounds say what was done before them, and that a pause lay between.
            let before = ["written_before_bytes", "differences"];
            for name in ["id", "started", "finished", "method", "cpu"].into_iter().chain(before) {
                fields.remove(name);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

fn record(measurements: &[Measurement]) -> LabRecord {
    LabRecord {
        id: "resumed".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        measurements: measurements.to_vec(),
    }
}

/// An assessment that was killed after 12 minutes or 2 hours began again.
#[test]
fn an_experiment_that_was_interrupted_goes_on_and_ends_as_if_it_never_was() {
    for (name, experiment) in EXPERIMENTS {
        for seed in 1..=50 {
            // Some fail on their way.
            let fail_every = (seed % 5 == 0).then_some(3_000 + 700 * seed);
            let plan = (seed, device(fail_every));
            let whole = done(experiment, plan.clone(), None, usize::MAX);
            let all = whole.measured.len();
            assert!(all > 0, "{name}, seed {seed}");
            let there = usize::try_from(seed).unwrap() % all;
            let kept = &whole.measured[..there];
            let resumed = done(experiment, plan, Some(record(kept)), usize::MAX);
            assert_eq!(
                loads(&resumed.measured),
                loads(&whole.measured[there..]),
                "{name}, seed {seed}: {there} of {all} are there"
            );
            assert_eq!(bare(&resumed.document), bare(&whole.document), "{name}, seed {seed}");
            assert_eq!(resumed.document.id(), "resumed");
            assert_eq!(resumed.document.started(), "2026-01-02T03:04:05Z");
        }
    }
}

/// A signal, and later another one: each session measures only what is missing.
#[test]
fn what_a_signal_ends_goes_on_from_there_again_and_again() {
    for (name, experiment) in EXPERIMENTS {
        let plan = (7, device(None));
        let whole = done(experiment, plan.clone(), None, usize::MAX);
        let mut kept = Vec::new();
        let last = loop {
            let session = done(experiment, plan.clone(), Some(record(&kept)), 2);
            kept.extend(session.measured);
            if session.document.status() == Status::Complete {
                break session.document;
            }
            assert!(kept.len() <= whole.measured.len(), "{name} measures too much");
        };
        assert_eq!(loads(&kept), loads(&whole.measured), "{name}");
        assert_eq!(bare(&last), bare(&whole.document), "{name}");
    }
}

/// The dry run said what an experiment takes at most, several times what it then took.
#[test]
fn what_is_foreseen_is_what_is_then_done() {
    for (name, experiment) in EXPERIMENTS {
        let (seed, sim) = (3, device(None));
        let whole = done(experiment, (seed, sim.clone()), None, usize::MAX);
        let forecast = survey::foresee(|context| Ok(experiment(seed, sim, context))).unwrap();
        assert_eq!(forecast.measurements(), whole.measured.len(), "{name}");
        let took_s: f64 =
            whole.measured.iter().map(|m| m.workload.warmup_seconds + m.seconds).sum();
        let pauses_s = Timing::default().settle_seconds * whole.measured.len() as f64;
        let seconds = forecast.seconds();
        assert!(seconds >= took_s && seconds <= took_s * 1.2 + pauses_s, "{name}: {seconds} s");
    }
}

/// Measurements of another plan would be shown as those of this one.
#[test]
fn a_record_that_does_not_fit_is_refused_with_the_step_that_differs() {
    for (name, experiment) in EXPERIMENTS {
        let whole = done(experiment, (1, device(None)), None, usize::MAX);
        let mut other = record(&whole.measured[..2]);
        other.measurements[1].workload.streams[0].depth += 1;
        let resumed = done(experiment, (1, device(None)), Some(other), usize::MAX);
        assert_eq!(resumed.document.status(), Status::Failed, "{name}");
        // A cycle went on with its next run, and mixed both.
        assert_eq!(resumed.measured, [], "{name}");
        let text = bare(&resumed.document).to_string();
        let words =
            "measurement 2 of the interrupted experiment does not fit its plan: it measured";
        assert!(text.contains(words), "{name}: {text}");
        // Another seed gives other offsets.
        let resumed = done(experiment, (2, device(None)), Some(record(&whole.measured)), 1);
        assert_eq!(resumed.measured, [], "{name}");
    }
}
