//! A plan gives the cells that it promises, always the same.

use super::*;
use crate::units::Nanoseconds;
use proptest::prelude::*;

fn on(targets: &[&str], plan: Plan) -> Plan {
    let target = |path: &&str| Target { path: path.into(), size_bytes: None };
    Plan { targets: targets.iter().map(target).collect(), ..plan }
}

fn named(name: &str) -> Plan {
    on(&["/a"], preset(name).unwrap().plan())
}

fn minutes(plan: &Plan) -> f64 {
    plan.times(&plan.cells()).total_s() / 60.0
}

#[test]
fn the_matrices_of_the_documents_have_their_counts_and_times() {
    for (name, count, takes) in [
        ("ruthruff-2007", 15, 48.0),
        ("grove-rasmussen", 576, 57.6 * 60.0),
        ("baseline-192", 192, 192.0),
    ] {
        let plan = named(name);
        assert_eq!((plan.count(), plan.cells().len()), (count, usize::try_from(count).unwrap()));
        assert!((minutes(&plan) - takes).abs() < 1e-6, "{name}: {}", minutes(&plan));
    }
    let four = on(&["G", "H", "I", "J"], preset("grove-rasmussen").unwrap().plan());
    assert_eq!((four.count(), four.cells().len()), (2304, 2304));
    let together = on(&["G", "H"], preset("ruthruff-2007").unwrap().plan());
    assert_eq!(together.count(), 15, "all targets of a parameter file at the same time");
    assert_eq!(together.cells()[0].in_flight(), 256);
}

#[test]
fn the_sample_batch_is_in_its_order() {
    let plan = named("ruthruff-2007");
    let cells = plan.cells();
    let shown = |i: usize| (cells[i].title(), cells[i].seconds);
    assert_eq!(shown(0), ("8 KiB random write, 4 threads x depth 32".to_owned(), 600.0));
    assert_eq!(shown(2), ("4 KiB sequential shared write, 4 threads x depth 1".to_owned(), 60.0));
    assert_eq!(
        shown(14),
        ("256 KiB sequential shared write, 4 threads x depth 8".to_owned(), 60.0)
    );
}

#[test]
fn every_preset_is_a_plan_that_can_be_done_and_reads_back_as_it_is_written() {
    for one in PRESETS {
        let plan = on(&["/a"], Plan::from_toml(one.toml).unwrap());
        assert_eq!(plan.violations(), [], "{}", one.name);
        assert!(!plan.cells().is_empty());
        assert_eq!(Plan::from_toml(&plan.to_toml().unwrap()).unwrap(), plan);
        assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    }
    assert_eq!(preset("no such"), None);
}

#[test]
fn writes_of_a_log_are_durable_and_reads_beside_them_are_not() {
    let matrix = Matrix { writes: vec![0, 100], durable: true, ..Matrix::default() };
    let cells = on(&["/a"], Plan::new("t", vec![matrix])).cells();
    assert_eq!(cells.iter().map(|c| c.durable).collect::<Vec<_>>(), [false, true]);
    assert_eq!(cells[1].load_title(), "8 KiB random write, durable");
}

#[test]
fn the_same_plan_has_the_same_name_and_any_other_has_another() {
    let plan = named("postgres");
    assert_eq!(plan.id(), named("postgres").id());
    assert_eq!(plan.id().len(), 16);
    for other in [
        Plan { seed: 1, ..plan.clone() },
        Plan { shuffle: true, ..plan.clone() },
        Plan { settle_seconds: 0.5, ..plan.clone() },
        on(&["/b"], plan.clone()),
    ] {
        assert_ne!(other.id(), plan.id());
    }
}

#[test]
fn a_target_without_a_size_has_that_of_the_plan() {
    let plan = Plan { size_bytes: Some(Bytes(1 << 30)), ..named("four-corners") };
    let plan = Plan {
        targets: vec![
            Target { path: "/a".into(), size_bytes: None },
            Target { path: "/b".into(), size_bytes: Some(Bytes(1 << 20)) },
        ],
        ..plan
    };
    let sizes: Vec<_> =
        plan.cells().iter().map(|c| plan.workload(c, 0).targets[0].size_bytes.unwrap().0).collect();
    assert_eq!((sizes[0], sizes[4]), (1 << 30, 1 << 20));
}

#[test]
fn what_is_written_is_estimated_from_the_speed_of_the_device() {
    let plan = named("four-corners");
    let cells = plan.cells();
    let written = plan.written_bytes(&cells, &Speed::ROTATING);
    // 63 s of 4 KiB writes at 200 a second, and 63 s of 150 MB/s.
    assert!((written - 63.0 * (200.0 * 4096.0 + 150e6)).abs() < 1.0, "{written}");
    assert!(plan.written_bytes(&cells[..1], &Speed::SOLID) < 1.0, "reads write nothing");
}

#[test]
fn every_broken_rule_is_named_and_a_plan_too_long_is_refused_before_it_is_made() {
    let fields =
        |plan: &Plan| -> Vec<String> { plan.violations().into_iter().map(|v| v.field).collect() };
    let nothing = Plan { settle_seconds: -1.0, ..Plan::new("", Vec::new()) };
    assert_eq!(fields(&nothing), ["targets", "title", "settle_seconds", "matrix"]);
    let empty = Matrix { blocks: Vec::new(), depths: Vec::new(), ..Matrix::default() };
    let plan = on(&["/a"], Plan::new("t", vec![Matrix::default(), empty]));
    assert_eq!(fields(&plan), ["matrix[1].blocks", "matrix[1].depths"]);
    let depths: Vec<u32> = (1..=60_000).collect();
    let long = Matrix { depths, threads: vec![1; 1 << 20], ..Matrix::default() };
    assert_eq!(fields(&on(&["/a"], Plan::new("t", vec![long; 3]))), ["cells"]);
    let zero = Matrix { depths: vec![0, 1], blocks: vec![Bytes(0), Bytes(1)], ..Matrix::default() };
    let plan = on(&["/a"], Plan::new("t", vec![zero]));
    assert_eq!(fields(&plan), ["streams[0].depth", "streams[0].blocks"], "each once");
    let twice = on(&["/a", "/a"], Plan::new("t", vec![Matrix::default()]));
    assert!(fields(&Plan { together: true, ..twice }).contains(&"targets[1].path".to_owned()));
}

#[test]
fn a_plan_file_may_say_everything_a_device_needs() {
    let text = r#"
        title = "two volumes"
        settle_seconds = 0
        engine = "sim"
        targets = [{ path = "/a", size_bytes = "1G" }, { path = "/b" }]
        [sim]
        servers = 2
        read_ns = "5ms"
        [[matrix]]
        operation = "scans"
        patterns = ["sequential", { stride = { stride_bytes = "1M" } }]
        blocks = ["64K", 131072]
        depths = [1, 8]
    "#;
    let plan = Plan::from_toml(text).unwrap();
    assert_eq!(plan.violations(), []);
    assert_eq!(plan.count(), 16);
    let last = plan.cells().pop().unwrap();
    let workload = plan.workload(&last, 0);
    assert_eq!(workload.targets[0].path.to_str(), Some("/b"));
    assert_eq!(workload.sim.unwrap().read_ns, Nanoseconds(5_000_000));
    assert_eq!(last.title(), "128 KiB stride 1 MiB read, 1 thread x depth 8");
    let error = Plan::from_toml("[[matrix]]\ncolour = 3\n").unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("colour"), "{error}");
}

#[test]
fn every_round_of_every_cell_has_a_seed_of_its_own() {
    let plan = named("baseline-192");
    let mut seeds: Vec<u64> =
        plan.cells().iter().flat_map(|c| (0..3).map(|round| plan.seed_of(c, round))).collect();
    assert_eq!(plan.workload(&plan.cells()[1], 2).seed, seeds[5]);
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 3 * 192);
}

fn some_plan() -> impl Strategy<Value = Plan> {
    let lists = (
        prop::collection::vec(0u8..=100, 1..3),
        prop::collection::vec(1u32..64, 1..4),
        prop::collection::vec(1u32..64, 1..4),
        prop::collection::vec((9u32..20).prop_map(|shift| Bytes(1 << shift)), 1..3),
    );
    (lists, 1usize..4, any::<bool>(), any::<bool>(), 0u64..1 << 60).prop_map(
        |((writes, threads, depths, blocks), targets, together, shuffle, seed)| {
            let names = ["/a", "/b", "/c"];
            let matrix = Matrix { writes, blocks, threads, depths, ..Matrix::default() };
            let plan = Plan::new("p", vec![matrix.clone(), matrix]);
            on(&names[..targets], Plan { together, shuffle, seed, ..plan })
        },
    )
}

#[test]
fn named_loads_take_the_place_of_shares_patterns_and_sizes() {
    let text = r#"
        targets = [{ path = "/data", size_bytes = "4G" }]
        [[matrix]]
        specs = ["file server", "Max Throughput-100%Read"]
        depths = [1, 4]
    "#;
    let plan = Plan::from_toml(text).unwrap();
    assert_eq!(plan.violations(), []);
    let cells = plan.cells();
    assert_eq!((cells.len() as u64, plan.count()), (4, 4));
    assert_eq!(cells[1].spec.as_deref(), Some("File Server"));
    assert_eq!((cells[1].depth, cells[1].block_bytes), (4, Bytes(11_346)));
    assert!(cells[0].title().starts_with("shape of `File Server`: a mix of 8 kinds"));
    assert_eq!(plan.workload(&cells[0], 0).streams[0].mix.as_ref().unwrap().parts.len(), 8);
    assert!(cells[2].is_sequential() && !cells[0].is_sequential());
    assert_eq!(Plan::from_toml(&plan.to_toml().unwrap()).unwrap(), plan);
    for (line, rule) in [
        ("specs = [\"Web Sever\"]", "near it: `Web Server`"),
        ("specs = [\"Web Server\"]\nblocks = [\"4K\"]", "leave out writes, patterns and blocks"),
        ("specs = [\"Web Server\"]\nsync = { every_writes = 1 }", "no flushes"),
        ("own_specs = [{ name = \"x\", parts = [] }]", "at least one kind of I/O"),
        (
            "own_specs = [{ name = \"x\", parts = [{ percent = 90, block_bytes = 512 }] }]",
            "sum to 100",
        ),
    ] {
        let text =
            format!("targets = [{{ path = \"/d\", size_bytes = \"4G\" }}]\n[[matrix]]\n{line}");
        let found = Plan::from_toml(&text).unwrap().violations();
        assert!(found.iter().any(|v| v.to_string().contains(rule)), "{line}: {found:?}");
    }
}

proptest! {
    #[test]
    fn the_cells_are_as_many_as_counted_and_shuffling_only_changes_their_order(plan in some_plan()) {
        let cells = plan.cells();
        prop_assert_eq!(cells.len() as u64, plan.count());
        prop_assert!(cells.iter().enumerate().all(|(i, c)| c.number as usize == i));
        let mut sequence = plan.sequence();
        prop_assert_eq!(&sequence, &plan.sequence());
        sequence.sort_by_key(|c| c.number);
        prop_assert_eq!(sequence, cells);
    }

    #[test]
    fn every_written_form_reads_back_the_same(plan in some_plan()) {
        prop_assert_eq!(&Plan::from_json(&plan.to_json()).unwrap(), &plan);
        prop_assert_eq!(&Plan::from_toml(&plan.to_toml().unwrap()).unwrap(), &plan);
    }

    #[test]
    fn no_text_makes_the_readers_panic(text in ".{0,80}") {
        let _ = Plan::from_toml(&text);
        let _ = Plan::from_json(&text);
        let _ = preset(&text);
    }
}

#[test]
fn a_shuffled_plan_is_in_another_order_for_another_seed() {
    let plan = Plan { shuffle: true, ..named("baseline-192") };
    let numbers = |plan: &Plan| -> Vec<u32> { plan.sequence().iter().map(|c| c.number).collect() };
    assert_ne!(numbers(&plan), (0..192).collect::<Vec<_>>());
    assert_ne!(numbers(&plan), numbers(&Plan { seed: 7, ..plan.clone() }));
    let two = on(&["/a", "/b"], plan);
    let groups: Vec<usize> = two.sequence().iter().map(|c| c.targets[0]).collect();
    assert!(groups.is_sorted(), "one target is done before the next is made ready");
}

/// Every sweep from flags was called "sweep", and a list of ten told nothing of them.
#[test]
fn a_matrix_has_words_for_its_loads() {
    let many = Matrix {
        writes: vec![0, 100],
        patterns: vec![Pattern::Random, Pattern::Sequential],
        blocks: vec![Bytes(65536), Bytes(8192)],
        threads: vec![2],
        depths: vec![1, 4, 32],
        durable: true,
        ..Matrix::default()
    };
    assert_eq!(
        many.title(),
        "8 KiB to 64 KiB random and sequential read and write, durable, 2 threads x depth 1 to 32"
    );
}

/// A sweep and an assessment took only specifications that are listed: one of an `.icf` file was
/// refused, which `run` took.
#[test]
fn specifications_of_ones_own_are_cells_beside_the_listed_ones() {
    let text = r#"
        targets = [{ path = "/data", size_bytes = "4G" }]
        [[matrix]]
        specs = ["File Server"]
        depths = [1, 4]
        own_specs = [{ name = "OLTP", parts = [
            { percent = 75, block_bytes = "4K", write_percent = 33 },
            { percent = 25, block_bytes = "8K", delay_ns = "10ms", burst_ios = 4 },
        ] }]
    "#;
    let plan = Plan::from_toml(text).unwrap();
    assert_eq!(plan.violations(), []);
    let cells = plan.cells();
    assert_eq!((cells.len() as u64, plan.count()), (4, 4));
    let own = &cells[3];
    assert_eq!((own.spec.as_deref(), own.depth, own.block_bytes), (Some("OLTP"), 4, Bytes(6437)));
    let stream = &plan.workload(own, 0).streams[0];
    assert_eq!((stream.depth, stream.write_percent), (4, 14));
    assert_eq!(stream.mix.as_ref().unwrap().parts, own.parts);
    assert!(cells[0].parts.is_empty());
    let title = "shape of `File Server`, `OLTP`, 1 thread x depth 1 to 4";
    assert_eq!(plan.matrix[0].title(), title);
    assert_eq!(Plan::from_toml(&plan.to_toml().unwrap()).unwrap(), plan);
}
