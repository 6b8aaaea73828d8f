//! Targets that share a device and targets that do not, through the whole experiment, in virtual
//! time.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use results::{Experiment, Scale, ScaleUnit};
use survey::{LabContext, ScaleOptions, Setup, Timing, scale};
use workload::{
    Block, Bytes, EngineChoice, Mode, Nanoseconds, Pattern, Precision, SimDevice, Stream, Target,
};

fn options(count: usize, sim: SimDevice) -> ScaleOptions {
    let target = |i: usize| {
        let size_bytes = Some(Bytes(1 << 30));
        Target { path: format!("volume{i}").into(), size_bytes }
    };
    let precision = Precision { at_least_seconds: 3.0, ..Precision::default() };
    ScaleOptions {
        setup: Setup {
            targets: (0..count).map(target).collect(),
            permissions: Permissions::default(),
            engine: EngineChoice::Sim,
            sim: Some(sim),
            mode: Mode::Direct,
            seed: 1,
            timing: Timing { seconds: 5.0, precision: Some(precision), ..Timing::default() },
        },
        stream: Stream { depth: 16, ..Stream::default() },
        pairs: false,
    }
}

fn device(servers: u32) -> SimDevice {
    SimDevice { servers, read_ns: Nanoseconds(4_000_000), ..SimDevice::default() }
}

fn run(options: &ScaleOptions) -> Experiment<Scale> {
    scale(options, LabContext::new(&AtomicBool::new(false), &mut |_| ())).unwrap()
}

#[test]
fn volumes_on_servers_of_their_own_scale_linearly() {
    let sim = SimDevice { separate: true, ..device(8) };
    let experiment = run(&options(4, sim));
    let scaling = experiment.conclusion.scaling.unwrap();
    assert_eq!(scaling.first_non_linear, None, "{:?}", scaling.findings);
    let efficiencies: Vec<f64> =
        scaling.steps.iter().map(|s| s.efficiency_percent.round()).collect();
    assert_eq!(efficiencies, [100.0, 100.0]);
    assert_eq!(experiment.measurements.len(), 7, "four alone, one twice, two and four together");
    assert!(!scaling.findings.join(" ").contains("does not saturate"), "{:?}", scaling.findings);
}

/// 64 servers that four volumes share were said to grow in proportion under 16 I/Os in all, without
/// a word that sharing cannot show.
#[test]
fn a_load_that_saturates_nothing_is_said_to_show_no_sharing() {
    let mut options = options(4, device(64));
    options.stream.depth = 4;
    let scale = run(&options).conclusion;
    let findings = scale.scaling.unwrap().findings;
    assert!(findings[0].contains("in proportion up to 4 targets"), "{findings:?}");
    let last = findings.last().unwrap();
    assert!(last.contains("volume0: with twice as many I/Os in flight it gives 100 %"), "{last}");
    assert!((scale.doubled.unwrap().iops / 2000.0 - 1.0).abs() < 0.02);
}

#[test]
fn two_volumes_on_the_same_spindles_are_recognised() {
    let experiment = run(&options(2, device(8)));
    let scaling = experiment.conclusion.scaling.unwrap();
    assert_eq!((scaling.first_non_linear, scaling.shared), (Some(0), vec![vec![0, 1]]));
    assert!(scaling.steps[0].like_one);
    assert!((scaling.steps[0].efficiency_percent - 50.0).abs() < 1.0);
    let text = scaling.findings.join(" ");
    assert!(text.contains("volume0 and volume1 together give what one of them gives"), "{text}");
}

/// 64 servers and a link of 500 MiB/s: one volume of 16 in flight gives 250 MiB/s, so two fill the
/// link.
#[test]
fn the_first_step_beyond_a_shared_path_is_named() {
    let sim = SimDevice { link_bytes_per_s: Some(Bytes(500 << 20)), ..device(64) };
    let mut options = options(4, sim);
    options.stream.pattern = Pattern::Sequential;
    options.stream.blocks = vec![Block { bytes: Bytes(64 << 10), weight: 1 }];
    let experiment = run(&options);
    let scale = experiment.conclusion;
    assert_eq!(scale.unit, ScaleUnit::MibPerS, "sequential I/O is judged by its bytes");
    let scaling = scale.scaling.unwrap();
    assert_eq!(scaling.first_non_linear, Some(1), "{:?}", scaling.steps);
    assert!((scaling.steps[1].measured_per_s / 500.0 - 1.0).abs() < 0.02);
    assert!(scaling.findings[0].contains("is 4 targets"), "{:?}", scaling.findings);
}

#[test]
fn pairs_are_measured_where_they_are_asked_for() {
    let mut options = options(3, device(8));
    options.pairs = true;
    let experiment = run(&options);
    assert_eq!(experiment.measurements.len(), 3 + 1 + 2 + 2);
    assert_eq!(experiment.conclusion.scaling.unwrap().shared, [[0, 1, 2]]);
}

#[test]
fn one_target_is_refused() {
    let refused =
        scale(&options(1, device(8)), LabContext::new(&AtomicBool::new(false), &mut |_| ()))
            .unwrap_err();
    assert!(refused.to_string().contains("name two or more"));
}
