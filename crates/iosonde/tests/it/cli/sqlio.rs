//! SQLIO's command lines as they stand in articles, run by `iosonde sqlio`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use dialects::sqlio::{Printout, readings};
use results::Status;

use crate::cli::program::{
    Running, code, command, common_history, fails, foreign_file, mark, measurement, names, stderr,
    stdout, succeeds,
};

/// A device of a hundred random I/Os a second, whose runs take no time.
const SLOW: [&str; 4] =
    ["--engine", "sim", "--sim", "servers = 1, read_ns = \"10ms\", write_ns = \"10ms\""];

/// `iosonde sqlio` in a directory.
fn sqlio(dir: &Path, args: &[&str]) -> Output {
    command(&[&["sqlio"], args].concat()).current_dir(dir).output().unwrap()
}

/// The runs of a text.
fn runs(text: &str) -> Vec<Printout> {
    let (found, notes) = readings(text);
    assert_eq!(notes, [""; 0]);
    assert!(found.iter().all(|r| r.missing.is_none()), "{text}");
    found.into_iter().map(|r| r.printout).collect()
}

/// The only run of a text.
#[track_caller]
fn only(text: &str) -> Printout {
    let mut found = runs(text);
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

/// The fifteen lines of an article of 2007, two of them with the dashes of its web page.
fn fifteen() -> String {
    let mut lines = vec![
        "sqlio -kW -s600 -frandom -o32 -b8 -LS -Fparam.txt".to_owned(),
        "sqlio -kR -s600 -frandom -o32 -b8 -LS -Fparam.txt".to_owned(),
    ];
    lines.extend(
        [4, 8, 16, 32, 64]
            .map(|kib| format!("sqlio -kW -s60 -fsequential -o1 -b{kib} -LS -Fparam.txt")),
    );
    lines.extend(
        [8, 64, 128, 256]
            .map(|kib| format!("sqlio -kR -s60 -fsequential -o8 -b{kib} -LS -Fparam.txt")),
    );
    lines.extend(
        [8, 64, 128, 256]
            .map(|kib| format!("sqlio -kW -s60 -fsequential -o8 \u{2013}b{kib} -LS -Fparam.txt")),
    );
    lines.join("\r\n")
}

#[test]
fn the_batch_of_an_article_runs_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("param.txt"),
        "E:\\sqltest.dat 2 0x0 100\r\n#F:\\sqltest.dat 2 0x0 100\r\n",
    )
    .unwrap();
    let step = |line: &str| format!("{line} >> result.txt\r\ntimeout /T 60\r\n");
    let script = fifteen().lines().map(step).collect::<Vec<_>>().concat();
    fs::write(dir.path().join("test.bat"), script).unwrap();
    let args = ["script", "test.bat", "--drive", "E=/nowhere"];
    let planned = sqlio(dir.path(), &[&args[..], &SLOW, &["--dry-run"]].concat());
    succeeds(&planned);
    assert!(stdout(&planned).contains("15 calls, 48 min with the pauses"), "{}", stdout(&planned));
    assert_eq!(names(dir.path()), ["param.txt", "test.bat"]);

    let output = sqlio(dir.path(), &[&args[..], &SLOW].concat());
    succeeds(&output);
    assert_eq!(stdout(&output), "");
    let found = runs(&fs::read_to_string(dir.path().join("result.txt")).unwrap());
    assert_eq!(found.len(), 15);
    let seconds: u64 = found.iter().map(|r| r.load.as_ref().unwrap().seconds).sum();
    assert_eq!(seconds, 1980, "33 minutes");
    for run in &found {
        assert!((99.0..101.0).contains(&run.iops.unwrap().value), "{run:?}");
        assert_eq!((run.pools.len(), run.load.as_ref().unwrap().threads), (1, 2));
    }
    assert_eq!(
        found[0].latency_ms,
        [Some(10.0), Some(639.0), Some(640.0)],
        "64 in flight at 10 ms each"
    );
    let parsed = sqlio(dir.path(), &["parse", "result.txt", "--csv", "table.csv"]);
    succeeds(&parsed);
    let csv = fs::read_to_string(dir.path().join("table.csv")).unwrap();
    let mut lines = csv.lines();
    let head = "Kind,Threads,Seconds,Drive,Stripe,Outstanding,Size,IOs,MBs,Latency_min,\
                Latency_avg,Latency_max";
    assert_eq!(lines.next(), Some(head));
    assert!(lines.next().unwrap().starts_with("W,2,600,E,random,32,8,"), "{csv}");
    assert_eq!(lines.count(), 14);
}

#[test]
fn the_line_of_another_article_writes_a_file_that_stays() {
    let dir = tempfile::tempdir().unwrap();
    let line = [
        "\u{2013}kW",
        "-b8",
        "\u{2212}frandom",
        "-s120",
        "-t2",
        "-o8",
        "-BH",
        "-LS",
        r"F:\testfile.dat",
    ];
    let ours = ["--drive", "F=.", "--seconds", "0.3", "--size", "16M"];
    let output = sqlio(dir.path(), &[&line[..], &ours].concat());
    succeeds(&output);
    assert!(stderr(&output).contains("dashes of a word processor"), "{}", stderr(&output));
    let text = stdout(&output);
    let run = only(&text);
    assert!(text.contains("expanding F:\\testfile.dat ... done.\n"), "{text}");
    assert_eq!((run.expansions[0].needed_bytes, run.expansions[0].current_bytes), (16 << 20, 0));
    assert!(run.iops.unwrap().value > 0.0 && run.histogram.is_some());
    assert!(mark(&dir.path().join("testfile.dat")).contains("keep yes"));
    // The next finds it.
    let output = sqlio(dir.path(), &[&line[..], &ours[..4]].concat());
    succeeds(&output);
    let run = only(&stdout(&output));
    assert_eq!((run.expansions.len(), run.sizes[0].mib, run.sizes[0].specified), (0, 16, false));
}

#[test]
fn the_size_of_the_file_is_part_of_every_headline() {
    let dir = tempfile::tempdir().unwrap();
    let line =
        ["-kR", "-t1", "-s30", "-dE", "-o32", "-frandom", "-b8", "-BH", "-LS", "testfile.dat"];
    for mib in [256u64, 512, 2 << 10, 8 << 10, 32 << 10, 64 << 10, 128 << 10] {
        let size = format!("{mib}M");
        let ours = ["--drive", "E=/nowhere", "--size", &size];
        let output = sqlio(dir.path(), &[&line[..], &ours, &SLOW].concat());
        succeeds(&output);
        let run = only(&stdout(&output));
        assert_eq!((run.sizes[0].mib, run.outstanding), (mib, Some(32)));
        assert_eq!(run.load.unwrap().files, ["E:testfile.dat"]);
    }
    assert_eq!(names(dir.path()), [""; 0], "nothing real was touched");
}

#[test]
fn nobody_elses_file_is_written_without_its_name_being_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.dat");
    let content = foreign_file(&path, 1 << 20);
    let write = ["-kW", "-frandom", "-b8", r"E:\data.dat", "--drive", "E=.", "--seconds", "0.1"];
    fails(&sqlio(dir.path(), &write), 1, "--destroy");
    assert_eq!(fs::read(&path).unwrap(), content);
    let script = dir.path().join("t.cmd");
    fs::write(&script, "sqlio -kW -frandom -b8 E:\\data.dat\n").unwrap();
    let as_script = ["script", "t.cmd", "--drive", "E=.", "--seconds", "0.1"];
    fails(&sqlio(dir.path(), &as_script), 1, "--destroy");
    let batch = [
        "batch",
        "--drives",
        "E",
        "--drive",
        "E=.",
        "--file",
        "data.dat",
        "--threads",
        "1",
        "--seconds",
        "0.1",
    ];
    fails(&sqlio(dir.path(), &[&batch[..], &["--wait", "0"]].concat()), 1, "--destroy");
    assert_eq!(fs::read(&path).unwrap(), content);
    fails(
        &sqlio(dir.path(), &[&write[..], &["--destroy", r"E:\other.dat"]].concat()),
        2,
        "names no target",
    );
    // Reading changes nothing.
    let read = ["-kR", "-frandom", "-b8", r"E:\data.dat", "--drive", "E=.", "--seconds", "0.1"];
    succeeds(&sqlio(dir.path(), &read));
    assert_eq!(fs::read(&path).unwrap(), content);
    succeeds(&sqlio(dir.path(), &[&write[..], &["--destroy", r"E:\data.dat"]].concat()));
    assert_ne!(fs::read(&path).unwrap(), content);
    let database = dir.path().join("master.mdf");
    let content = foreign_file(&database, 1 << 20);
    let write =
        ["-kW", "-frandom", "-b8", "master.mdf", "--seconds", "0.1", "--destroy", "master.mdf"];
    fails(&sqlio(dir.path(), &write), 1, "belongs to a database");
    assert_eq!(fs::read(&database).unwrap(), content);
}

#[test]
fn a_file_without_an_extension_is_made_too_and_nothing_is_left_of_one_that_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    let args =
        ["-frandom", "-b8", "-dE", r"\test", "--drive", "E=.", "--seconds", "0.1", "--size", "8M"];
    succeeds(&sqlio(dir.path(), &args));
    assert_eq!(names(dir.path()), ["test"]);
    fs::remove_file(dir.path().join("test")).unwrap();
    fails(&sqlio(dir.path(), &[&args[..8], &["--size", "900T"]].concat()), 1, "test");
    assert_eq!(names(dir.path()), [""; 0]);
}

#[test]
fn the_default_pattern_several_files_and_pools_run_on_real_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("f")).unwrap();
    let ours = ["--drive", "E=.", "--drive", "F=f", "--seconds", "0.2", "--json"];
    let run = |args: &[&str]| measurement(&sqlio(dir.path(), &[args, &ours].concat()));
    let m = run(&["-kW", "-LS"]);
    assert_eq!(
        (m.file_bytes, m.threads, m.write.ios > 0),
        (8 << 20, 1, true),
        "the default of 8 MiB"
    );
    let m = run(&["-kR", "-t2", "-f4", "-i8", "-b4", "-S16", "-v1.1.1", "E:testfile.dat"]);
    assert_eq!(m.file_bytes, 8 << 20, "a larger file stays as it is");
    let m = run(&["-kR", "-t2", "-f64", "-b16", "-mS4", r"E:\s.dat"]);
    assert!(m.read.ios > 0 && m.workload.streams[0].buffers != workload::Buffers::Single);
    let m = run(&[
        "-kW",
        "-t3",
        "-o2",
        "-fsequential",
        "-b64",
        "-BY",
        "-dEF",
        r"\t.dat",
        "--size",
        "8M",
    ]);
    assert_eq!((m.targets.len(), m.threads, m.in_flight), (2, 3, 12));
    assert!(m.targets.iter().all(|t| t.write.ios > 0), "every thread goes round all files");
    let m = run(&["-kR", "-t1", "-frandom", "-b8", "-dEF", r"\t.dat"]);
    assert_eq!(m.in_flight, 1, "without -o, one I/O at a time for all files");
    assert!(m.targets.iter().all(|t| t.read.ios > 0));
    fs::write(dir.path().join("p.txt"), "E:t.dat 2 0x1 8\r\nF:t.dat 1 0 4\r\n").unwrap();
    let m = run(&["-kR", "-frandom", "-b8", "-o4", "-Fp.txt"]);
    let streams: Vec<_> = m.streams.iter().map(|s| (s.threads, s.read.ios > 0)).collect();
    assert_eq!((streams, m.in_flight), (vec![(2, true), (1, true)], 12));
}

#[test]
fn more_threads_than_sqlio_had() {
    let dir = tempfile::tempdir().unwrap();
    let output = sqlio(
        dir.path(),
        &["-t300", "-frandom", "-b8", "-LS", "--engine", "null", "--seconds", "0.2"],
    );
    succeeds(&output);
    assert_eq!(only(&stdout(&output)).load.unwrap().threads, 300);
}

#[test]
fn a_signal_gives_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.dat");
    let args = [
        "sqlio",
        "-kR",
        "-s600",
        "-frandom",
        "-b8",
        "-o4",
        "-LS",
        file.to_str().unwrap(),
        "--size",
        "16M",
    ];
    let mut running = Running::start(&args);
    running.wait_for("s left");
    running.wait_for("IOPS");
    std::thread::sleep(Duration::from_millis(100));
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let run = only(&stdout(&output));
    assert!(run.iops.unwrap().value > 1.0, "by the time that it ran, not by ten minutes");
}

#[test]
fn json_takes_the_place_of_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let m = measurement(&sqlio(
        dir.path(),
        &[&["-kR", "-frandom", "-b8", "--json", "x.dat"], &SLOW[..]].concat(),
    ));
    assert_eq!((m.status, m.threads, m.origin), (Status::Complete, 1, None));
}

#[test]
fn what_is_printed_is_imported_again() {
    let dir = tempfile::tempdir().unwrap();
    let line = ["-kW", "-t2", "-o8", "-frandom", "-b8", "-BH", "-LS", "x.dat"];
    let output = sqlio(dir.path(), &[&line[..], &SLOW].concat());
    fs::write(dir.path().join("r.txt"), &output.stdout).unwrap();
    let history = |args: &[&str]| {
        let mut command = command(&[&["history"], args].concat());
        command
            .current_dir(dir.path())
            .env("IOSONDE_HISTORY", dir.path().join("h.db"))
            .output()
            .unwrap()
    };
    let imported = history(&["import", "r.txt"]);
    succeeds(&imported);
    assert_eq!(stdout(&imported), "r.txt: 1 result imported\n");
    let shown = history(&["show", "latest", "--json"]);
    let m = measurement(&shown);
    let printed = only(&stdout(&output));
    assert_eq!(Some(m.total.iops), printed.iops.map(|f| f.value));
    assert_eq!((m.threads, m.in_flight, m.seconds), (2, 16, 30.0));
    let origin = m.origin.unwrap();
    assert_eq!(origin.histogram_percent, printed.histogram.map(|h| h.to_vec()));
    let text = stdout(&history(&["show", "latest"]));
    assert!(
        text.contains("measured by iosonde, in the form of SQLIO")
            && text.contains("Imported from  r.txt"),
        "{text}"
    );
}

#[test]
fn a_link_of_that_name_is_that_program() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("SQLIO");
    symlink(env!("CARGO_BIN_EXE_iosonde"), &link).unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(&link);
        command
            .args(args)
            .current_dir(dir.path())
            .env("IOSONDE_HISTORY", common_history())
            .output()
            .unwrap()
    };
    let usage = run(&["-?"]);
    succeeds(&usage);
    assert!(stdout(&usage).starts_with("sqlio [options]"), "{}", stdout(&usage));
    succeeds(&run(&[&["-frandom", "-b8"], &SLOW[..]].concat()));
    fails(&run(&[]), 2, "-?");
}

#[test]
fn everything_wrong_is_said_before_anything_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let output = sqlio(dir.path(), &["-kX", "-b0", r"G:\x.dat"]);
    fails(&output, 2, "`-kX`");
    assert!(stderr(&output).contains("`-b0`"));
    fails(&sqlio(dir.path(), &["-kW", r"G:\x.dat"]), 2, "--drive G=/a/directory");
    fails(&sqlio(dir.path(), &["-Fnowhere.txt"]), 2, "nowhere.txt");
    fs::write(dir.path().join("p.txt"), "E:\\x.dat 0\n").unwrap();
    fails(&sqlio(dir.path(), &["-Fp.txt"]), 2, "`p.txt`, line 1, column ");
    fs::write(
        dir.path().join("t.bat"),
        "sqlio -kW -frandom x.dat > r.txt\ndel x.dat\nsqlio %NO%\n",
    )
    .unwrap();
    let output = sqlio(dir.path(), &["script", "t.bat"]);
    fails(&output, 2, "line 3, column 1: `%NO%` is set nowhere");
    assert_eq!(names(dir.path()), ["p.txt", "t.bat"]);
    fs::write(dir.path().join("t.bat"), "sqlio -kW -frandom x.dat > r.txt\nsqlio -kX\n").unwrap();
    fails(&sqlio(dir.path(), &["script", "t.bat"]), 2, "`t.bat`, line 2, column 1: `-kX`");
    assert_eq!(names(dir.path()), ["p.txt", "t.bat"]);
}

#[test]
fn the_table_is_no_ones_elses_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("r.txt"), "no results\n").unwrap();
    fails(&sqlio(dir.path(), &["parse", "r.txt"]), 1, "no run of SQLIO");
    let output = sqlio(dir.path(), &[&["-frandom", "-b8"], &SLOW[..]].concat());
    fs::write(dir.path().join("r.txt"), &output.stdout).unwrap();
    foreign_file(&dir.path().join("t.csv"), 100);
    fails(&sqlio(dir.path(), &["parse", "r.txt", "--csv", "t.csv"]), 1, "it exists already");
    let output = sqlio(dir.path(), &["parse", "r.txt", "r.txt"]);
    succeeds(&output);
    assert_eq!(stdout(&output).lines().count(), 3, "{}", stdout(&output));
}

/// `iosonde diskspd` made `io.dat`, wrote to it, and left it as a file whose content the next run
/// must not believe. `iosonde sqlio` said that it does not exist and made it anew with 32 MiB. It
/// is used at the size it has; where less is asked for, the file keeps its size, and that is said.
#[test]
fn a_file_that_diskspd_wrote_is_found_at_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["--seconds", "0.2"];
    let made = ["diskspd", "-b8K", "-w25", "-c8M", "io.dat", "--warmup", "0"];
    let made = command(&[&made[..], &flags].concat()).current_dir(dir.path()).output().unwrap();
    succeeds(&made);
    let file = dir.path().join("io.dat");
    assert!(mark(&file).contains("size 8388608\nstate filling\nkeep yes"), "{}", mark(&file));
    let found = sqlio(dir.path(), &[&["-kR", "-frandom", "-b8", "io.dat"][..], &flags].concat());
    succeeds(&found);
    let (out, err) = (stdout(&found), stderr(&found));
    assert!(out.contains("using current size: 8 MB for file: io.dat"), "{out}");
    assert!(!out.contains("expanding") && !err.contains("does not exist"), "{out}{err}");
    let part = ["diskspd", "-b8K", "-w25", "-c1M", "io.dat", "--warmup", "0"];
    let part = command(&[&part[..], &flags].concat()).current_dir(dir.path()).output().unwrap();
    succeeds(&part);
    let said = "`io.dat` is a test file of 8 MiB and keeps its size; its first 1 MiB are used";
    assert!(stderr(&part).contains(said), "{}", stderr(&part));
    let again = sqlio(
        dir.path(),
        &[&["-kR", "-frandom", "-b8", "io.dat", "--size", "2M"][..], &flags].concat(),
    );
    succeeds(&again);
    let said = "keeps its size; its first 2 MiB are written again and used";
    assert!(stderr(&again).contains(said), "{}", stderr(&again));
    assert_eq!(fs::metadata(&file).unwrap().len(), (8 << 20) + 4096);
}
