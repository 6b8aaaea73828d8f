//! What commands print of a simulated device. It needs no time and its figures follow from the
//! seed, so a change of the house that is none of the figures changes nothing here.

use std::fmt::Write as _;
use std::fs;

use crate::cli::program::command;
use crate::golden::assert_printed;

const CONFIGURATION: &str = include_str!("../../../../dialects/tests/it/iometer/v1.1.0.icf");
/// Four servers, noisy, and slow enough that few I/Os are simulated.
const DEVICE: &str = "servers = 4, read_ns = \"8ms\", write_ns = \"12ms\", \
                      noise = { run_percent = 3.0, io_percent = 20.0 }";
const COMMANDS: [&str; 17] = [
    "run sim --size 1G",
    "run sim --size 1G -w 30 -b 8K:70,64K:30 -t 4 -d 8",
    "run sim --size 1G --rate 200",
    "run sim --size 1G --repeat 3",
    "run a b --size 1G --alternate",
    "knee sim --size 1G --to 64",
    "knee sim --size 1G --to 64 --latency-target 20ms@p99",
    "sizes sim --sizes 1G,2G,4G",
    "scale a b c --size 1G --pairs",
    "matrix sim --size 1G --levels 0,40,80",
    "sweep sim --size 1G --blocks 4K,64K --depths 1,4,16 --writes 0,100",
    "sweep sim --size 1G --blocks 4K,8K,16K,64K --depths 1,2,4,8,16 --adaptive",
    "assess sim --size 1G --pace quick",
    "assess sim --size 1G --pace glance",
    "assess sim --size 1G --pace quick --for oracle",
    "iometer -c c.icf --drive C=sim --seconds 5",
    "sqlio -kR -b8 -frandom -s20 -t2 -o2 -LS sim",
];

/// Without what a run of the program prints that is not the same in the next: moments, and names of
/// results, which begin with their moment. Names differ in length and columns with them, so one
/// blank stands for several.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let words = line.split_whitespace().map(|word| {
            let digits = word.bytes().filter(u8::is_ascii_digit).count();
            let is_moment = digits >= 6 && (word.contains(':') || word.starts_with('2'));
            let is_date = digits == 8 && word.matches('-').count() == 2;
            let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_name = bare.len() >= 10 && bare.starts_with('0');
            let is_file = word.starts_with("iosonde-2");
            if is_moment || is_date || is_name || is_file { "…" } else { word }
        });
        let words: Vec<&str> = words.collect();
        let _ = writeln!(steady, "{}", words.join(" "));
    }
    steady
}

#[test]
fn commands_on_a_simulated_device_print_what_they_printed() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("c.icf"), CONFIGURATION).unwrap();
    let mut printed = String::new();
    for line in COMMANDS {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = command(&words);
        command.current_dir(place.path()).args(["--history", "history.db"]);
        command.args(["--engine", "sim", "--sim", DEVICE, "--seed", "5", "--quiet"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        let text = String::from_utf8(output.stdout).unwrap();
        let _ = write!(printed, "$ iosonde {line}\n{}\n", steady(&text));
    }
    assert_printed("commands.txt", &printed);
}
