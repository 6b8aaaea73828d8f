//! Presets that people know from other tools, on a simulated device.

use crate::program::{fails, place};

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

#[test]
fn presets_are_listed() {
    let list = place().says(&["sweep", "--list-presets"]);
    let specs = place().says(&["specs"]);
    for name in ["crystaldiskmark", "iotune"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
        assert!(specs.contains(name), "{specs}");
        let output = place().run(&["run", "--engine", "sim", "--spec", name]);
        fails(&output, 2, &format!("`iosonde sweep --preset {name}`"));
    }
}
