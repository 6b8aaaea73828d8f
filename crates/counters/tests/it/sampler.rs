//! The sampler on made-up and on real counter files.

use std::fs;
use std::path::Path;

use counters::{CountersError, Sampler, Window};

fn write(root: &Path, diskstats: &str, stat: &str) {
    fs::create_dir_all(root.join("proc")).expect("a temporary directory can be written to");
    fs::write(root.join("proc/diskstats"), diskstats)
        .expect("a temporary directory can be written to");
    fs::write(root.join("proc/stat"), stat).expect("a temporary directory can be written to");
}

fn devices(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn files_are_read_anew_and_in_the_order_asked_for() {
    let root = tempfile::tempdir().unwrap();
    let stat = "cpu 1 1 1 1 1 1 1 1\ncpu0 1 1 1 1 1 1 1 1\n";
    let before = "8 0 sda 1 0 8 9 0 0 0 0 0 0 0\n8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n";
    write(root.path(), before, stat);
    let mut sampler = Sampler::with_root(root.path(), devices(&["sdb", "sda", "sdb"])).unwrap();
    assert_eq!(sampler.devices(), ["sdb", "sda"]);
    let first = sampler.sample().unwrap();
    assert_eq!(first.disks[0].device, "sdb");

    let after = "8 0 sda 5 0 40 29 0 0 0 0 0 0 0\n";
    write(root.path(), after, "cpu 3 1 1 3\ncpu0 3 1 1 3\n");
    let window = Window::between(&first, &sampler.sample().unwrap());
    assert_eq!(window.missing, ["sdb"]);
    assert_eq!(window.disks[0].reads, 4);
    assert_eq!(window.disks[0].read_latency_ns, Some(5e6));
    assert_eq!(window.cpu.unwrap().busiest_core, Some(0));
}

#[test]
fn hostile_files() {
    let root = tempfile::tempdir().unwrap();
    let error = Sampler::with_root(root.path(), Vec::new()).unwrap_err();
    assert!(matches!(error, CountersError::Unreadable { .. }), "{error}");

    write(root.path(), "8 0 sda 1 2 3\n\u{0}\u{e9}", "");
    let error = Sampler::with_root(root.path(), devices(&["sda"])).unwrap_err();
    assert!(error.to_string().contains("it knows: sda"), "{error}");

    let mut sampler = Sampler::with_root(root.path(), Vec::new()).unwrap();
    let first = sampler.sample().unwrap();
    let second = sampler.sample().unwrap();
    assert!(second.at_ns >= first.at_ns);
    assert_eq!(Window::between(&first, &second).cpu, None);
}

#[test]
fn this_system() {
    let text = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let names: Vec<_> =
        text.lines().filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect();
    let mut sampler = Sampler::new(names.clone()).unwrap();
    let first = sampler.sample().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(60));
    let window = Window::between(&first, &sampler.sample().unwrap());
    assert!(window.seconds >= 0.06);
    assert_eq!(window.disks.len() + window.missing.len(), names.len());
    let cpu = window.cpu.unwrap();
    assert!((0.0..=100.0).contains(&cpu.host_percent));
}
