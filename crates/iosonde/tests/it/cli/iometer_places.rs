//! Configurations of IOMeter as people have them: disks by their names on Windows, sizes of their
//! own, and files of nothing but access specifications.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::cli::program::{command, fails, measurement, stderr, succeeds};

const SPECS: &str = "Version 1.1.0 
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tOLTP,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t8192,100,67,100,0,1,8192,0
'Access specification name,default assignment
\tBackup: full,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t1048576,60,100,0,0,1,0,0
\t65536,40,0,0,10,4,0,0
'END access specifications
Version 1.1.0 
";

/// A configuration before its access specifications, and after them.
const HEAD: [&str; 12] = [
    "Version 1.1.0 ",
    "'TEST SETUP ====",
    "'Test Description",
    "\t",
    "'Run Time",
    "'\thours      minutes    seconds",
    "\t0      0      1",
    "'Ramp Up Time (s)",
    "\t0",
    "'Test Type",
    "\tNORMAL",
    "'END test setup",
];
const TAIL: [&str; 29] = [
    "'MANAGER LIST ====",
    "'Manager ID, manager name",
    "\t1,ALPHA",
    "'Manager network address",
    "\t",
    "'Worker",
    "\tWorker 1",
    "'Worker type",
    "\tDISK",
    "'Default target settings for worker",
    "'Number of outstanding IOs,test connection rate,transactions per connection",
    "\t1,DISABLED,1",
    "'Disk maximum size,starting sector,Data pattern",
    "SIZE",
    "'End default target settings for worker",
    "'Assigned access specs",
    "\tOLTP",
    "'End assigned access specs",
    "'Target assignments",
    "'Target",
    "TARGET",
    "'Target type",
    "\tDISK",
    "'End target",
    "'End target assignments",
    "'End worker",
    "'End manager",
    "'END manager list",
    "Version 1.1.0 ",
];

/// A configuration with one worker on one target, of so many sectors.
pub(crate) fn configuration(dir: &Path, target: &str, sectors: u64) -> String {
    let text = SPECS.replacen("Version 1.1.0 \n", "", 2);
    let (head, size, target) = (HEAD.join("\n"), format!("\t{sectors},0,2"), format!("\t{target}"));
    let tail = TAIL.join("\n").replace("SIZE", &size).replace("TARGET", &target);
    let text = format!("{head}\n{text}{tail}\n");
    let path = dir.join("array.icf");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn iometer(args: &[&str]) -> Output {
    command(&[&["iometer"], args].concat()).output().unwrap()
}

fn text(output: &Output) -> String {
    succeeds(output);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output);
    // Lines are broken where the terminal ends.
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A size of disk in the file won over `--size` without a word, and a physical disk that a
/// directory stood for got 1 GiB without one.
#[test]
fn every_size_that_nobody_asked_for_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("disk");
    fs::create_dir(&place).unwrap();
    let (drive, letter) = (format!("0={}", place.display()), format!("E={}", place.display()));
    let own = configuration(dir.path(), "E: \"SQL data\"", 8192);
    let said = text(&iometer(&["-c", &own, "--drive", &letter, "--size", "16M", "--dry-run"]));
    assert!(said.contains("`--size` has no effect on"), "{said}");
    assert!(said.contains("its own size of disk, which takes 4 MiB"), "{said}");
    let said = text(&iometer(&["-c", &own, "--drive", &letter, "--dry-run"]));
    assert!(!said.contains("--size"), "{said}");

    let whole = configuration(dir.path(), "0: \"ACME FLASH", 0);
    let said = text(&iometer(&["-c", &whole, "--drive", &drive, "--dry-run"]));
    assert!(said.contains("a directory stands for it") && said.contains("1 GiB"), "{said}");
    let said = text(&iometer(&["-c", &whole, "--drive", &drive, "--size", "16M", "--dry-run"]));
    assert!(said.contains("16 MiB") && !said.contains("1 GiB"), "{said}");
}

#[test]
fn a_target_that_is_not_here_names_the_drive_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    for (target, wanted) in [
        ("TEST: Synthetic Disk", "`--drive TEST=/a/directory`"),
        ("PHYSICALDRIVE0", "`--drive 0=/a/directory`"),
        (r"\\.\PHYSICALDRIVE2", "`--drive 2=/a/directory`"),
    ] {
        let path = configuration(dir.path(), target, 8192);
        fails(&iometer(&["-c", &path, "--dry-run"]), 2, wanted);
    }
    let place = dir.path().join("disk");
    fs::create_dir(&place).unwrap();
    let path = configuration(dir.path(), "TEST: Synthetic Disk", 8192);
    let drive = format!("TEST={}", place.display());
    let run = ["--seconds", "0.2", "--warmup", "0"];
    let output = iometer(&[&["-c", &path, "--drive", &drive], &run[..]].concat());
    assert!(text(&output).contains("OLTP"), "{output:?}");
}

#[test]
fn a_file_of_specifications_alone_is_of_use() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("specs.icf");
    fs::write(&path, SPECS).unwrap();
    let path = path.to_str().unwrap();
    let listed = text(&command(&["specs", path]).output().unwrap());
    assert!(listed.contains("OLTP") && listed.contains("67 % read, 100 % random"), "{listed}");
    assert!(listed.contains("10 ms before each burst, bursts of 4"), "{listed}");

    let run = |spec: &str| {
        let args = ["run", "--engine", "sim", "--size", "1G", "--seconds", "1", "--json", "--spec"];
        command(&[&args[..], &[spec]].concat()).output().unwrap()
    };
    let output = run(&format!("{path}:OLTP"));
    succeeds(&output);
    let m = measurement(&output);
    assert_eq!(
        (m.workload.streams[0].name.as_str(), m.workload.streams[0].write_percent),
        ("OLTP", 33)
    );
    // A name may have a colon, and case is no matter.
    succeeds(&run(&format!("{path}:backup: FULL")));
    fails(&run(&format!("{path}:OLAP")), 2, "There are `OLTP`, `Backup: full`");
    fails(&run(path), 2, "it has several; name one");
    // A sweep and an assessment take what `run` takes.
    let spec = format!("{path}:OLTP");
    let shared = ["--engine", "sim", "--size", "1G", "--spec", &spec, "--json"];
    let lists = ["--depths", "1,4", "--seconds", "1", "--warmup", "0", "--settle", "0"];
    let swept = [&["sweep"], &shared[..], &lists[..], &["--spec", "File Server"]].concat();
    let output = command(&swept).output().unwrap();
    succeeds(&output);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let cells = document["conclusion"]["cells"].as_array().unwrap();
    let specs: Vec<&str> = cells.iter().filter_map(|c| c["spec"].as_str()).collect();
    assert_eq!(specs, ["File Server", "File Server", "OLTP", "OLTP"]);
    assert_eq!(cells[3]["parts"][0]["write_percent"], 33);
    let sweep = command(&["sweep", "--engine", "sim", "--spec", path]).output().unwrap();
    fails(&sweep, 2, "it has several; name one");
    let report = dir.path().join("report.html");
    let report = report.to_str().unwrap();
    let pace = ["--pace", "glance", "--report", report];
    let output = command(&[&["assess"], &shared[..], &pace[..]].concat()).output().unwrap();
    succeeds(&output);
    assert!(text(&output).contains("the access specification `OLTP` (of a file)"));

    let converted = command(&["workload", "convert", path, "--step", "2"]).output().unwrap();
    let said = text(&converted);
    assert!(said.contains("Backup: full") && said.contains("name the targets"), "{said}");
    let toml = dir.path().join("load.toml");
    fs::write(&toml, &converted.stdout).unwrap();
    let load = toml.to_str().unwrap();
    let args = ["run", "--engine", "sim", "--size", "1G", "--seconds", "1", "--workload", load];
    succeeds(&command(&args).output().unwrap());
}
