//! Presets that people know from other tools, on a simulated device.

use testing::Place;
use testing::program::DISKS;

use crate::cli::program::{fails, place};

/// One server of 100 µs and a path of 1 GiB/s.
const SIM: &str = r#"servers = 8, read_ns = "100us", write_ns = "200us""#;

fn sweep(preset: &str) -> Vec<&str> {
    vec!["sweep", "--engine", "sim", "--sim", SIM, "--preset", preset]
}

#[test]
fn crystaldiskmark_is_shown_as_its_grid() {
    let place = place();
    let text = place.says(&sweep("crystaldiskmark"));
    assert!(text.contains("Read MB/s") && text.contains("Write MB/s"), "{text}");
    let row =
        |name: &str| text.lines().find(|line| line.trim().starts_with(name)).unwrap().to_owned();
    for name in ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"] {
        assert!(row(name).split_whitespace().count() >= 8, "{}", row(name));
    }
    // Ten thousand reads of 4 KiB a second, and five thousand writes.
    assert!(row("RND4K Q1T1").contains("41 ") && row("RND4K Q1T1").contains("20.5"), "{text}");
    let other = place.says(&["sweep", "--engine", "sim", "--blocks", "8K", "-d", "1"]);
    assert!(!other.contains("CrystalDiskMark"), "{other}");
}

/// Two rows were called "8 KiB sequential write", and nothing told which was at depth 1.
#[test]
fn a_load_at_several_depths_has_them_in_its_name() {
    let text = place().says(&[&sweep("ruthruff-2007")[..], &["-d", "1"]].concat());
    for name in
        ["8 KiB sequential shared write, depth 1", "64 KiB sequential shared write, depth 8"]
    {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn iotune_is_written_as_its_yaml() {
    let place = place();
    place.says(&sweep("iotune"));
    place.says(&["report", "latest", "-o", "io_properties.yaml"]);
    let text = place.text("io_properties.yaml");
    let figure = |name: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name}: {text}")).trim().parse::<u64>().unwrap()
    };
    assert!(text.contains("disks:\n  - mountpoint: \"sim\"\n"), "{text}");
    assert!((79_000..=80_000).contains(&figure("read_iops:")), "{text}");
    assert!((39_000..=40_000).contains(&figure("write_iops:")), "{text}");
    assert!(figure("read_bandwidth:") > figure("write_bandwidth:"), "{text}");
    // A figure that is missing is not a zero that the database would believe.
    place.says(&["run", "--engine", "sim", "-d", "1"]);
    let output = place.run(&["report", "latest", "-o", "other.yaml"]);
    fails(&output, 1, "no sequential reads and no random writes and no sequential writes");
    fails(&output, 1, "--preset iotune");
    assert!(!place.path("other.yaml").exists());
}

/// A shortened test is useful and is not the specification's, whatever its report looks like.
#[test]
fn the_test_of_the_snia_ends_in_steady_state_and_says_in_what_it_differs() {
    let place = place();
    let short = ["sweep", "--preset", "snia-pts", "-d", "1", "-s", "64M"];
    let text = place.says(&[&short[..], &DISKS].concat());
    assert!(text.contains("rounds 1 to 5 are steady"), "{text}");
    for column in ["100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100"] {
        assert!(text.contains(column), "{text}");
    }
    assert!(text.contains("It differs from the IOPS test of the SNIA specification"), "{text}");
    assert!(text.contains("The windows do not last a minute each."), "{text}");
    let found = place.json(&["history", "show", "latest"]);
    assert_eq!(found["conclusion"]["rounds"][0]["steady"], true);
    let other = [sweep("snia-pts").as_slice(), &["-b", "8K"]].concat();
    fails(&place.run(&other), 2, "rounds.tracked");
    let other = [sweep("snia-pts").as_slice(), &["--adaptive"]].concat();
    fails(&place.run(&other), 2, "--adaptive is true: a sweep in rounds measures every cell");
}

/// The command with a plan of five rounds, the fewest. A busy host is never steady, and makes 25.
pub(crate) fn five_rounds(place: &Place, command: &[&str]) -> [&'static str; 3] {
    let plan = place.says(&[command, &["--print-plan"]].concat());
    assert!(plan.contains("at_most = 25"), "{plan}");
    std::fs::write(place.path("plan.toml"), plan.replace("at_most = 25", "at_most = 5")).unwrap();
    ["sweep", "--plan", "plan.toml"]
}

/// Who purges a file by mistake loses nothing: a file cannot be purged, and that is said.
#[test]
fn a_file_is_not_purged() {
    let place = place();
    let target = place.path("data");
    std::fs::create_dir(&target).unwrap();
    let target = target.to_str().unwrap();
    let load = ["-b", "1M,64K,4K", "--writes", "0,35,100", "-d", "0.02", "-s", "8M"];
    let command = [["sweep", target, "--preset", "snia-pts"].as_slice(), &load].concat();
    place.says(&five_rounds(&place, &command));
    let found = place.json(&["history", "show", "latest"]);
    let differences = found["conclusion"]["rounds"][0]["differences"].to_string();
    assert!(differences.contains("Not every target was purged"), "{differences}");
    let method = found["method"].to_string();
    assert!(method.contains("was not purged"), "{method}");
}

#[test]
fn presets_are_listed() {
    let list = place().says(&["sweep", "--list-presets"]);
    let specs = place().says(&["specs"]);
    for name in ["crystaldiskmark", "iotune", "snia-pts"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
        assert!(specs.contains(name), "{specs}");
        let output = place().run(&["run", "--engine", "sim", "--spec", name]);
        fails(&output, 2, &format!("`iosonde sweep --preset {name}`"));
    }
}
