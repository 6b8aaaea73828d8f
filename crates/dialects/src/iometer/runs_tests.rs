//! Every test type, against what IOMeter does with it.

use proptest::prelude::*;

use super::*;

/// One manager for each list; one disk worker for each number, with that many targets.
fn config(test_type: TestType, managers: &[&[usize]]) -> Config {
    let spec = presets::preset("Database").unwrap().spec();
    let target = |n| Target { name: format!("disk {n}"), kind: Kind::Disk, manager: None };
    let worker = |targets: &usize| Worker {
        specs: vec![spec.name.clone()],
        targets: (0..*targets).map(target).collect(),
        ..Worker::default()
    };
    let manager = |workers: &&[usize]| Manager {
        id: 1,
        name: "host".to_owned(),
        address: String::new(),
        workers: workers.iter().map(worker).collect(),
    };
    Config {
        setup: Some(Setup { test_type, ..Setup::default() }),
        display: Vec::new(),
        specs: vec![spec.clone()],
        managers: managers.iter().map(manager).collect(),
    }
}

fn setup(config: &mut Config) -> &mut Setup {
    config.setup.as_mut().unwrap()
}

fn cycling(start: u32, step: u32, stepping: Stepping) -> Cycling {
    Cycling { start, step, stepping }
}

/// The targets of each worker, run by run.
fn targets(config: &Config) -> Vec<Vec<Vec<usize>>> {
    config.runs().steps.into_iter().map(|s| s.targets).collect()
}

/// The targets per worker of the only manager.
fn of_one(config: &Config) -> Vec<Vec<usize>> {
    targets(config).into_iter().flatten().collect()
}

fn depths(config: &Config) -> Vec<Option<u32>> {
    config.runs().steps.iter().map(|s| s.outstanding).collect()
}

use Stepping::{Exponential, Linear};

#[test]
fn normal_is_one_run_whatever_the_cyclings_say() {
    let config = config(TestType::Normal, &[&[2, 1], &[3]]);
    assert_eq!(targets(&config), [[vec![2, 1], vec![3]]]);
    assert_eq!(depths(&config), [None]);
    assert_eq!(config.runs().steps[0].workers(), [2, 1]);
}

#[test]
fn targets_grow_on_every_worker_and_smaller_ones_keep_their_most() {
    let mut config = config(TestType::CycleTargets, &[&[1, 4]]);
    assert_eq!(of_one(&config), [[1, 1], [1, 2], [1, 3], [1, 4]]);
    setup(&mut config).target_cycling = cycling(1, 2, Linear);
    assert_eq!(of_one(&config), [[1, 1], [1, 3], [1, 4]], "the last has all");
    setup(&mut config).target_cycling = cycling(1, 2, Exponential);
    assert_eq!(of_one(&config), [[1, 1], [1, 2], [1, 4]]);
    setup(&mut config).target_cycling = cycling(3, 1, Exponential);
    assert_eq!(of_one(&config), [[1, 3], [1, 4]], "times 1 is plus 1");
    setup(&mut config).target_cycling = cycling(9, 1, Linear);
    assert_eq!(of_one(&config), [[1, 4]]);
    setup(&mut config).target_cycling = cycling(2, 0, Linear);
    assert_eq!(of_one(&config), [[1, 2]], "what does not grow ends");
}

#[test]
fn workers_grow_on_every_manager_with_all_their_targets() {
    let mut config = config(TestType::CycleWorkers, &[&[1, 2, 1, 1], &[5]]);
    let first: Vec<Vec<usize>> = config.runs().steps.iter().map(Step::workers).collect();
    assert_eq!(first, [[1, 1], [2, 1], [3, 1], [4, 1]]);
    assert_eq!(targets(&config)[1], [vec![1, 2, 0, 0], vec![5]]);
    setup(&mut config).worker_cycling = cycling(1, 2, Exponential);
    let workers: Vec<usize> = config.runs().steps.iter().map(|s| s.workers()[0]).collect();
    assert_eq!(workers, [1, 2, 4]);
}

#[test]
fn increments_go_down_the_workers() {
    let mut config = config(TestType::IncrementTargetsParallel, &[&[2, 1], &[1, 1]]);
    let parallel = [[vec![1, 0], vec![1, 0]], [vec![2, 0], vec![1, 1]], [vec![2, 1], vec![1, 1]]];
    assert_eq!(targets(&config), parallel);
    setup(&mut config).test_type = TestType::IncrementTargetsSerial;
    setup(&mut config).target_cycling = cycling(1, 2, Linear);
    let serial = [[vec![1, 0], vec![0, 0]], [vec![2, 1], vec![0, 0]], [vec![2, 1], vec![1, 1]]];
    assert_eq!(targets(&config), serial);
}

#[test]
fn workers_are_outside_and_targets_inside() {
    let mut config = config(TestType::CycleWorkersAndTargets, &[&[2, 3]]);
    assert_eq!(of_one(&config), [[1, 0], [2, 0], [1, 1], [2, 2], [2, 3]]);
    setup(&mut config).target_cycling = cycling(1, 2, Exponential);
    assert_eq!(of_one(&config), [[1, 0], [2, 0], [1, 1], [2, 3]], "a workers' step of 1 adds");
    assert!(config.runs().notes[0].contains("adding 2, not by multiplying"));
    setup(&mut config).worker_cycling = cycling(1, 3, Linear);
    let expected = [[1, 0], [2, 0], [1, 1], [2, 2], [2, 3]];
    assert_eq!(
        of_one(&config),
        expected,
        "4 workers are both; now targets double, and end with all"
    );
}

#[test]
fn outstanding_ios_end_at_their_most() {
    let mut config = config(TestType::CycleOutstandingIos, &[&[2]]);
    setup(&mut config).depth_cycling =
        DepthCycling { start: 1, end: 128, step: 2, stepping: Exponential };
    assert_eq!(depths(&config), [1, 2, 4, 8, 16, 32, 64, 128].map(Some));
    assert!(config.runs().steps.iter().all(|s| s.targets == [[2]]));
    setup(&mut config).depth_cycling =
        DepthCycling { start: 1, end: 32, step: 10, stepping: Linear };
    assert_eq!(depths(&config), [1, 11, 21, 31].map(Some));
    setup(&mut config).depth_cycling = DepthCycling { start: 4, end: 3, step: 1, stepping: Linear };
    assert_eq!(depths(&config), []);
    assert!(config.runs().notes[0].contains("the cycle is empty"));
    config.managers[0].workers[0].kind = Kind::Tcp;
    setup(&mut config).depth_cycling = Setup::default().depth_cycling;
    assert_eq!(depths(&config), [None], "networks have no outstanding I/Os");
}

#[test]
fn outstanding_ios_are_inside_and_targets_outside() {
    let mut config = config(TestType::CycleOutstandingIosAndTargets, &[&[1, 2]]);
    setup(&mut config).depth_cycling =
        DepthCycling { start: 8, end: 32, step: 2, stepping: Exponential };
    assert_eq!(depths(&config), [8, 16, 32, 8, 16, 32].map(Some));
    assert_eq!(of_one(&config), [[1, 1], [1, 1], [1, 1], [1, 2], [1, 2], [1, 2]]);
}

#[test]
fn each_access_specification_goes_through_the_whole_cycle() {
    let mut config = config(TestType::CycleTargets, &[&[2, 1]]);
    config.specs.push(presets::preset("DSS").unwrap().spec());
    let workers = &mut config.managers[0].workers;
    workers[0].specs = ["gone", "database", "DSS"].map(str::to_owned).to_vec();
    workers[1].specs = ["IDLE", "DSS", "Idle"].map(str::to_owned).to_vec();
    let steps: Vec<(usize, Vec<usize>)> =
        config.runs().steps.into_iter().map(|s| (s.index, s.targets[0].clone())).collect();
    assert_eq!(steps, [(0, vec![1, 0]), (0, vec![2, 0]), (1, vec![1, 1]), (1, vec![2, 1])]);
    let names: Vec<Option<&str>> = config
        .runs_of(&config.managers[0].workers[0])
        .into_iter()
        .map(|s| s.map(|s| s.name.as_str()))
        .collect();
    assert_eq!(names, [Some("Database"), Some("DSS")], "what is not defined is passed over");
    assert!(config.runs().notes[0].contains("access specification 3"), "all are idle there");
}

#[test]
fn without_a_test_setup_there_is_one_run_and_without_workers_none() {
    let mut config = config(TestType::CycleTargets, &[&[2]]);
    config.setup = None;
    assert_eq!(of_one(&config), [[2]]);
    config.managers.clear();
    let runs = config.runs();
    assert!(runs.steps.is_empty() && runs.notes[0].contains("nothing to run"));
}

proptest! {
    #[test]
    fn every_cycle_ends_and_grows(
        test_type in 0..8usize,
        workers in prop::collection::vec(prop::collection::vec(0..5usize, 0..4), 0..3),
        numbers in prop_oneof![any::<[u32; 6]>(), prop::array::uniform6(0..4u32)],
        linear in any::<[bool; 3]>(),
    ) {
        let managers: Vec<&[usize]> = workers.iter().map(Vec::as_slice).collect();
        let mut config = config(TestType::ALL[test_type], &managers);
        let stepping = |linear: bool| if linear { Linear } else { Exponential };
        let [a, b, c, d, e, f] = numbers;
        let setup = setup(&mut config);
        setup.worker_cycling = cycling(a, b, stepping(linear[0]));
        setup.target_cycling = cycling(c, d, stepping(linear[1]));
        setup.depth_cycling =
            DepthCycling { start: e, end: e.saturating_add(99), step: f,
            stepping: stepping(linear[2]) };
        let runs = config.runs();
        prop_assert!(runs.steps.len() <= 100_000);
        for step in &runs.steps {
            prop_assert!(step.targets.iter().flatten().sum::<usize>() > 0);
            for (run, has) in step.targets.iter().flatten().zip(workers.iter().flatten()) {
                prop_assert!(run <= has);
            }
        }
    }
}
