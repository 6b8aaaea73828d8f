//! `iosonde workload convert`: workloads between the files of several tools.

use std::fs;
use std::path::Path;
use std::process::Output;

use workload::Workload;

use testing::skip;

use crate::cli::program::{command, fails, measurement, names, stderr, succeeds, tool};

const MIX: &str = r#"
seconds = 2
warmup_seconds = 0
[[targets]]
path = "/dev/sdz"
size_bytes = "1G"
[[streams]]
name = "data"
targets = [0]
depth = 16
write_percent = 30
content = "fixed"
"#;

const JOBS: &str = "\
[global]
filename=/data/f
size=1g
runtime=1
time_based
[reads]
rw=randread
bs=8k
[writes]
stonewall
rw=write
end_fsync=1
";

fn convert(directory: &Path, args: &[&str]) -> Output {
    let mut command = command(&[&["workload", "convert"], args].concat());
    command.current_dir(directory).output().unwrap()
}

fn place() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("mix.toml"), MIX).unwrap();
    fs::write(directory.path().join("jobs.txt"), JOBS).unwrap();
    directory
}

fn read(path: &Path) -> Workload {
    fs::read_to_string(path).unwrap().parse().unwrap()
}

#[test]
fn a_workload_goes_to_every_kind_and_comes_back() {
    let place = place();
    let before = read(&place.path().join("mix.toml"));
    for name in ["a.fio", "a.icf", "a.xml"] {
        succeeds(&convert(place.path(), &["mix.toml", "-o", name]));
        let back = format!("{name}.toml");
        succeeds(&convert(place.path(), &[name, "-o", &back]));
        let after = read(&place.path().join(back));
        assert_eq!(
            (after.in_flight(), after.seconds),
            (before.in_flight(), before.seconds),
            "{name}"
        );
        assert_eq!(after.targets, before.targets, "{name}");
        let (a, b) = (&after.streams[0], &before.streams[0]);
        assert_eq!((a.write_percent, &a.blocks), (b.write_percent, &b.blocks), "{name}");
    }
    // What fio says is all of it, and a run may take the file as it is.
    let after = read(&place.path().join("a.fio.toml"));
    assert_eq!((&after.streams, after.seed), (&before.streams, before.seed));
    let fio = place.path().join("a.fio");
    let args = ["run", "--workload", fio.to_str().unwrap(), "--engine", "sim", "--json"];
    let output = command(&args).output().unwrap();
    succeeds(&output);
    assert_eq!(measurement(&output).workload.streams, before.streams);
}

#[test]
fn what_is_lost_is_told_and_may_be_refused() {
    let place = place();
    let output = convert(place.path(), &["jobs.txt", "--step", "2"]);
    succeeds(&output);
    assert!(
        stderr(&output).contains("lost: line 12, column 1: `end_fsync=1`"),
        "{}",
        stderr(&output)
    );
    let workload: Workload = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!(workload.streams[0].write_percent, 100);
    let output = convert(place.path(), &["jobs.txt", "--step", "2", "--strict"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    succeeds(&convert(place.path(), &["jobs.txt", "--step", "1", "--strict"]));
}

#[test]
fn runs_one_after_the_other_are_named_and_chosen() {
    let place = place();
    let output = convert(place.path(), &["jobs.txt"]);
    succeeds(&output);
    assert!(
        stderr(&output).contains("run 2 of 2, writes; `--step 2` converts it"),
        "{}",
        stderr(&output)
    );
    fails(&convert(place.path(), &["jobs.txt", "--step", "3"]), 2, "there are 2 steps");
    fails(&convert(place.path(), &["jobs.txt", "--step", "all"]), 2, "`--output FILE`");
    succeeds(&convert(place.path(), &["jobs.txt", "--step", "all", "-o", "w.toml"]));
    assert_eq!(names(place.path()), ["jobs.txt", "mix.toml", "w-1.toml", "w-2.toml"]);
    let jobs = place.path().join("jobs.txt");
    let run = command(&["run", "--engine", "sim", "--workload", jobs.to_str().unwrap()])
        .output()
        .unwrap();
    fails(&run, 2, "it has 2 runs");
}

#[test]
fn nothing_is_overwritten_unasked() {
    let place = place();
    fails(&convert(place.path(), &["jobs.txt", "-o", "mix.toml"]), 1, "mix-2.toml");
    assert_eq!(fs::read_to_string(place.path().join("mix.toml")).unwrap(), MIX);
    succeeds(&convert(place.path(), &["jobs.txt", "-o", "mix.toml", "--overwrite"]));
    assert_eq!(read(&place.path().join("mix.toml")).streams[0].name, "reads");
}

#[test]
fn what_is_no_workload_is_said() {
    let place = place();
    let file = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    file("x", "hello\n");
    fails(&convert(place.path(), &["x"]), 2, "it is not one of");
    file("x.toml", "seconds = 3\ncolour = 1\n");
    fails(&convert(place.path(), &["x.toml"]), 2, "line 2");
    file("x.xml", "<Profile>\n");
    fails(&convert(place.path(), &["x.xml"]), 2, "line 2");
    fails(&convert(place.path(), &["missing"]), 2, "`missing`");
    let windows = "'TEST SETUP\n'Run Time\n\t0 0 5\n'END test setup\n'ACCESS \
        SPECIFICATIONS\n'Access specification name,default assignment\n\tx,NONE\n\
                   'size,% of size,% reads,% \
                   random,delay,burst,align,reply\n\t4096,100,100,100,0,1,0,0\n'END access \
                   specifications\n\
                   'MANAGER LIST\n'Manager ID, manager name\n\t1,H\n'Manager network \
                   address\n\t\n'Worker\n\tW\n'Worker type\n\tDISK\n\
                   'Default target settings for worker\n'Number of outstanding IOs,test connection \
                   rate,transactions per connection\n\t8,DISABLED,1\n\
                   'Disk maximum size,starting sector\n\t0,0\n'End default target settings for \
                   worker\n'Assigned access specs\n\tx\n\
                   'End assigned access specs\n'Target \
                   assignments\n'Target\n\tE: \"data\"\n'Target type\n\tDISK\n'End target\n\
                   'End target assignments\n'End worker\n'End manager\n'END manager list\n";
    file("w.icf", windows);
    fails(&convert(place.path(), &["w.icf"]), 2, "`--drive E=/a/directory`");
    let output = convert(place.path(), &["w.icf", "--drive", "E=/mnt/e"]);
    succeeds(&output);
    let workload: Workload = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!((workload.streams[0].depth, workload.seconds), (8, 5.0));
    assert_eq!(workload.targets[0].path, Path::new("/mnt/e/iobw.tst"));
}

/// fio itself, where it is there, understands what is written.
#[test]
fn fio_takes_the_jobs_that_are_written() {
    let place = place();
    let jobs = place.path().join("a.fio");
    succeeds(&convert(place.path(), &["mix.toml", "-o", "a.fio"]));
    if let Err(reason) = tool("fio", &["--version"]) {
        skip("iosonde::cli::fio_takes_the_jobs_that_are_written", &reason);
        return;
    }
    tool("fio", &["--parse-only", jobs.to_str().unwrap()]).unwrap();
}

/// `filename=${DEVICE}` was run on a file of just that name, with exit code 0.
#[test]
fn a_job_file_takes_its_variables_from_the_environment() {
    let place = tempfile::tempdir().unwrap();
    let jobs =
        "[x]\nfilename=${IOSONDE_JOB_FILE}.dat\nsize=1m\nruntime=1\ntime_based\nrw=randread\n";
    fs::write(place.path().join("x.fio"), jobs).unwrap();
    let mut run = command(&["run", "--workload", "x.fio", "--dry-run"]);
    run.current_dir(place.path()).env_remove("IOSONDE_JOB_FILE");
    let unset = "`x.fio`: line 2, column 1: `filename=${IOSONDE_JOB_FILE}.dat`: the environment \
                 variable `IOSONDE_JOB_FILE` is not set";
    fails(&run.output().unwrap(), 2, unset);
    let output = run.env("IOSONDE_JOB_FILE", "data").output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("data.dat (1 MiB): make a test file"), "{text}");
    assert_eq!(names(place.path()), ["x.fio"]);
}
