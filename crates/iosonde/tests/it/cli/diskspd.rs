//! DiskSpd's command lines and profiles, run by `iosonde diskspd`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use results::{Measurement, Status};
use workload::{DiskspdAccess, Mode};

use crate::cli::program::{
    Running, code, command, common_history, fails, foreign_file, mark, measurement, names, stderr,
    stdout, succeeds,
};

/// A device of a thousand random I/Os a second, whose runs take no time.
const SIM: [&str; 4] =
    ["--engine", "sim", "--sim", "servers = 1, read_ns = \"1ms\", write_ns = \"1ms\""];
/// A real run that is short.
const SHORT: [&str; 4] = ["--seconds", "0.3", "--warmup", "0"];

/// `iosonde diskspd` in a directory.
fn diskspd(dir: &Path, line: &str, flags: &[&str]) -> Output {
    let words: Vec<&str> = line.split_whitespace().collect();
    command(&[&["diskspd"], words.as_slice(), flags].concat()).current_dir(dir).output().unwrap()
}

/// The row of a table that begins with `total:`, in numbers.
fn total(text: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.starts_with("total:")).unwrap();
    let numbers = line.trim_start_matches("total:").split('|');
    numbers.map(|number| number.trim().parse().unwrap()).collect()
}

#[test]
fn the_published_loads_run_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    for (line, mib_per_io, seconds) in [
        (r"-b8K -d180 -h -L -o32 -t3 -r -w75 -c5G C:\Testdata\IO.dat", 8.0 / 1024.0, 180.0),
        (r"-b60K -d60 -h -L -o32 -t1 -s -w100 -c1G C:\Testdata\LogIO.dat", 60.0 / 1024.0, 60.0),
        (r"-b512K -d120 -h -L -o32 -t3 -si -w100 -c1G -s C:\Testdata\AheadIO.dat", 0.5, 120.0),
        // As a web page has it.
        (
            "\u{2013}b8K \u{2013}d180 -h -L -o32 -t3 -r -w75 -c5G C:\\Testdata\\IO.dat",
            8.0 / 1024.0,
            180.0,
        ),
    ] {
        let output = diskspd(dir.path(), line, &[&SIM[..], &["--drive", "C=/nowhere"]].concat());
        succeeds(&output);
        let text = stdout(&output);
        assert!(text.starts_with(&format!("\nCommand Line: diskspd {line}\n")), "{text}");
        assert!(text.contains(&format!("actual test time:\t{seconds:.2}s\n")), "{text}");
        let numbers = total(&text);
        let [bytes, count, mib_per_s, iops, ..] = numbers[..] else { panic!("{numbers:?}") };
        assert!((bytes / count / 1_048_576.0 - mib_per_io).abs() < 1e-9, "{numbers:?}");
        assert!((iops - 1000.0).abs() < 5.0, "one I/O a millisecond: {numbers:?}");
        assert!((mib_per_s - iops * mib_per_io).abs() < 0.01, "{numbers:?}");
        assert!(text.contains("Total latency distribution:"), "{text}");
    }
    assert_eq!(names(dir.path()), [""; 0]);
    let note = diskspd(dir.path(), r"-si -s C:\x", &[&SIM[..], &["--drive", "C=/x"]].concat());
    assert!(stderr(&note).contains("sequential I/O is asked for twice"), "{}", stderr(&note));
}

#[test]
fn a_file_is_made_used_again_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let line = "-b8K -h -L -D100 -o4 -t2 -r -w75 -c8M io.dat";
    let output = diskspd(dir.path(), line, &SHORT);
    succeeds(&output);
    assert!(
        stderr(&output).contains("`io.dat` is written as a test file of 8 MiB"),
        "{}",
        stderr(&output)
    );
    let text = stdout(&output);
    assert!(text.contains("thread count:\t\t2\n") && text.contains(" | io.dat (8MiB)\n"), "{text}");
    assert_eq!(names(dir.path()), ["io.dat"]);
    assert!(mark(&dir.path().join("io.dat")).contains("keep yes"));
    let again = diskspd(dir.path(), "-b8K -h -r io.dat", &[&SHORT[..], &["--json"]].concat());
    succeeds(&again);
    let measured = measurement(&again);
    assert_eq!((measured.file_bytes, measured.workload.mode), (8 << 20, Mode::Direct));
    let order = measured.workload.streams[0].diskspd.clone().unwrap();
    assert_eq!(order.access, DiskspdAccess::Random);
}

#[test]
fn a_file_that_is_used_again_gets_the_same_offsets() {
    let dir = tempfile::tempdir().unwrap();
    let used = || {
        let line = "-c1000000 -b4K -r -z1 io.dat";
        let output = diskspd(dir.path(), line, &[&SHORT[..], &["--json"]].concat());
        succeeds(&output);
        measurement(&output).workload.streams[0].span_bytes.map(|span| span.0)
    };
    assert_eq!([used(), used()], [Some(1_000_000); 2]);
    // The size behind the name was that of the whole pages in the run that made the file, and what
    // was asked for later.
    let made = |name: &str| {
        let line = format!("-c1000000 -b4K -r {name}");
        stdout(&diskspd(dir.path(), &line, &SHORT)).contains(&format!(" | {name} (976.56KiB)\n"))
    };
    assert_eq!([made("io.dat"), made("new.dat"), made("new.dat")], [true; 3]);
}

#[test]
fn threads_of_a_pool_work_on_all_targets() {
    let dir = tempfile::tempdir().unwrap();
    // A name without an extension is a file's, where one is to be made.
    let output = diskspd(dir.path(), "-b8K -r -L -F2 -O3 -w40 -c4M a.dat b", &SHORT);
    succeeds(&output);
    assert_eq!(names(dir.path()), ["a.dat", "b"]);
    let text = stdout(&output);
    assert!(
        text.contains("thread count:\t\t2\n") && text.contains("request count:\t\t3\n"),
        "{text}"
    );
    let tables = text.split("Read IO").next().unwrap();
    let row = |line: &&str| line.ends_with("a.dat (4MiB)") || line.ends_with("b (4MiB)");
    let threads: Vec<&str> = tables.lines().filter(row).map(|line| line[..6].trim()).collect();
    assert_eq!(threads, ["0", "0", "1", "1"], "each thread on each target: {text}");
    let owned = diskspd(dir.path(), "-b8K -r -t2 a.dat b", &SHORT);
    succeeds(&owned);
    assert!(stdout(&owned).contains("thread count:\t\t4\n"), "{}", stdout(&owned));
}

#[test]
fn what_cannot_be_used_is_said_at_once() {
    let dir = tempfile::tempdir().unwrap();
    fails(&diskspd(dir.path(), "-d600 missing.dat", &[]), 1, "cannot open `missing.dat`");
    fails(&diskspd(dir.path(), "-d600 .", &[]), 1, "`.` is a directory");
    let content = foreign_file(&dir.path().join("data.bin"), 1 << 20);
    fails(&diskspd(dir.path(), "-d600 -w10 data.bin", &[]), 1, "--destroy data.bin");
    fails(&diskspd(dir.path(), "-d600 -w10 -c1M data.bin", &[]), 1, "--destroy data.bin");
    fails(&diskspd(dir.path(), "-d600 -B4M data.bin", &[]), 1, "must end within `data.bin`");
    fails(&diskspd(dir.path(), "-d600 -c8M data.bin", &[]), 1, "data.bin");
    fails(&diskspd(dir.path(), r"-d600 Q:\x.dat", &[]), 1, "--drive Q=");
    let read = diskspd(dir.path(), "-b64K data.bin", &SHORT);
    succeeds(&read);
    assert_eq!(fs::read(dir.path().join("data.bin")).unwrap(), content);
    let destroyed = diskspd(
        dir.path(),
        "-b64K -w100 data.bin",
        &[&SHORT[..], &["--destroy", "data.bin"]].concat(),
    );
    succeeds(&destroyed);
    let after = fs::read(dir.path().join("data.bin")).unwrap();
    assert!(after.len() == 1 << 20 && after.iter().zip(0u8..=255).all(|(byte, n)| *byte == n));
}

#[test]
fn what_is_not_understood_is_said_wholly() {
    let dir = tempfile::tempdir().unwrap();
    let output = diskspd(dir.path(), "-w -Q -t0 x.dat -b8K", &[]);
    fails(&output, 3, "`-Q`: there is no such option");
    assert_eq!(stderr(&output).lines().count(), 4, "{}", stderr(&output));
    fails(&diskspd(dir.path(), "-F2 -t2 -n -a0 x.dat", &[]), 3, "exclude each other");
    let nothing = diskspd(dir.path(), "", &[]);
    assert_eq!(code(&nothing), 3);
    assert!(stdout(&nothing).starts_with("Usage: diskspd "));
    let usage = diskspd(dir.path(), "-?", &[]);
    succeeds(&usage);
    assert_eq!(stdout(&usage), stdout(&nothing));
    fs::write(dir.path().join("bad.xml"), "<Profile>\n<Colour/></Profile>").unwrap();
    fails(
        &diskspd(dir.path(), "-Xbad.xml", &[]),
        3,
        "`bad.xml`: line 2, column 1: `Profile` contains no `Colour`",
    );
    fails(&diskspd(dir.path(), "-Xnone.xml", &[]), 3, "`none.xml`: ");
}

#[test]
fn a_profile_comes_out_and_goes_in() {
    let dir = tempfile::tempdir().unwrap();
    let xml = diskspd(dir.path(), "-Rpxml -b8K -L -rs70 -w30 -t2 -o4 -d3 *1", &[]);
    succeeds(&xml);
    fs::write(dir.path().join("p.xml"), stdout(&xml)).unwrap();
    let again = diskspd(dir.path(), "-Xp.xml -Rpxml", &[]);
    assert_eq!(stdout(&again), stdout(&xml));
    fails(&diskspd(dir.path(), "-Xp.xml", &SIM), 3, "`*1`: the target is a template");
    let text = diskspd(dir.path(), "-Xp.xml -d2 -Rtext some.dat", &SIM);
    succeeds(&text);
    let text = stdout(&text);
    assert!(text.contains("\tpath: 'some.dat'\n") && text.contains("\tduration: 2s\n"), "{text}");
    assert!(text.contains("using mixed random/sequential I/O (70% random)"), "{text}");
}

#[test]
fn the_schema_of_profiles_is_published_as_it_is() {
    let schema = command(&["schema", "diskspd-profile"]).output().unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/diskspd-profile.xsd");
    let stale = "write it anew: iosonde schema diskspd-profile > docs/schema/diskspd-profile.xsd";
    assert_eq!(stdout(&schema), fs::read_to_string(path).unwrap(), "{stale}");
}

/// Two time spans on one file, the second twice as long.
const TWO_SPANS: &str = "<Profile><TimeSpans><TimeSpan><Duration>1</Duration><Warmup>0</\
                         Warmup><Targets><Target><Path>a.dat</Path><BlockSize>4096</\
                         BlockSize><FileSize>1048576</FileSize><WriteRatio>100</WriteRatio></\
                         Target></Targets></TimeSpan><TimeSpan><Duration>2</Duration><Warmup>0</\
                         Warmup><MeasureLatency>1</MeasureLatency><Targets><Target><Path>a.dat</\
                         Path><Random>8192</Random><BlockSize>8192</BlockSize></Target></\
                         Targets></TimeSpan></TimeSpans></Profile>";

#[test]
fn time_spans_follow_one_another() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.xml"), TWO_SPANS).unwrap();
    let also = ["--also", "xml=o.xml", "--also", "json=o.json"];
    let output = diskspd(dir.path(), "-Xp.xml", &[&SIM[..], &also].concat());
    succeeds(&output);
    let text = stdout(&output);
    assert!(
        text.contains("Results for timespan 2:") && text.contains("total test time:\t3.00s"),
        "{text}"
    );
    let xml = fs::read_to_string(dir.path().join("o.xml")).unwrap();
    assert_eq!(xml.lines().next(), Some("<Results>"));
    assert_eq!(xml.matches("<TestTimeSeconds>").count(), 2);
    let json = fs::read_to_string(dir.path().join("o.json")).unwrap();
    let measured: Vec<Measurement> = serde_json::from_str(&json).unwrap();
    assert_eq!(measured.iter().map(|m| m.seconds).collect::<Vec<_>>(), [1.0, 2.0]);
    let real = diskspd(dir.path(), "-Xp.xml", &SHORT);
    succeeds(&real);
    assert!(dir.path().join("a.dat").exists(), "the first makes it, the second uses it");
}

#[test]
fn a_result_is_replaced_only_when_it_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let run = |flags: &[&str]| diskspd(dir.path(), "-d1 -W0 x.dat", &[&SIM[..], flags].concat());
    let also = ["--also", "text=o.txt"];
    succeeds(&run(&also));
    let first = fs::read_to_string(dir.path().join("o.txt")).unwrap();
    assert!(first.contains("Command Line: diskspd -d1"), "{first}");
    fails(&run(&also), 3, "--overwrite");
    fs::write(dir.path().join("o.txt"), "notes").unwrap();
    fails(&run(&also), 3, "o-2.txt");
    assert_eq!(fs::read(dir.path().join("o.txt")).unwrap(), b"notes");
    succeeds(&run(&["--also", "text=o.txt", "--overwrite"]));
    assert!(fs::read_to_string(dir.path().join("o.txt")).unwrap().contains("Command Line: "));
    fails(&run(&["--also", "text=p", "--also", "xml=p"]), 3, "named for something else");
    fails(&run(&["--also", "text=x.dat"]), 3, "named for something else");
    fails(&run(&["--destroy", "q.txt"]), 2, "names no target");
    assert_eq!(names(dir.path()), ["o.txt"]);
}

#[test]
fn a_file_that_came_meanwhile_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (go, also) = (format!("-yr{}", at("go")), format!("text={}", at("o.txt")));
    let mut words = vec!["diskspd", "-d1", "-W0", &go, "x.dat", "--also", &also];
    words.extend(SIM);
    let mut running = Running::start(&words);
    running.wait_for("waiting for the event");
    fs::write(at("o.txt"), "notes").unwrap();
    fs::write(at("go"), "").unwrap();
    let output = running.end();
    assert!(code(&output) == 1 && stderr(&output).contains("o-2.txt"), "{}", stderr(&output));
    assert_eq!(fs::read(at("o.txt")).unwrap(), b"notes");
    assert!(fs::read_to_string(at("o-2.txt")).unwrap().contains("total:"));
}

#[test]
fn a_result_tells_seed_and_sizes_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let profile =
        TWO_SPANS.replace("<Profile>", "<Profile><PrecreateFiles>UseMaxSize</PrecreateFiles>");
    fs::write(dir.path().join("p.xml"), profile).unwrap();
    let seed = |seed| [&SIM[..], &["--seed", seed]].concat();
    let output = diskspd(dir.path(), "-Xp.xml -Rxml", &seed("77"));
    succeeds(&output);
    let xml = stdout(&output);
    assert_eq!(xml.matches("<RandSeed>77</RandSeed>").count(), 2, "{xml}");
    // As it was asked for: in the profile, and of the file in each time span.
    assert_eq!(xml.matches("<FileSize>1048576</FileSize>").count(), 3, "{xml}");
    fails(&diskspd(dir.path(), "-Xp.xml", &seed("4294967296")), 2, "at most 4294967295");
}

#[test]
fn processors_that_are_not_there_are_said_before_a_file_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let line = "-d1 -c1M -a0,64,g9,1 x.dat";
    let output = diskspd(dir.path(), line, &[]);
    fails(&output, 3, "there is no processor 64 in group 0");
    assert!(stderr(&output).contains("no processor 1 in group 9"), "{}", stderr(&output));
    assert_eq!(names(dir.path()), [""; 0]);
    succeeds(&diskspd(dir.path(), &format!("-Rp {line}"), &[]));
    succeeds(&diskspd(dir.path(), "-d1 -W0 -c1M -a0 x.dat", &SHORT));
}

#[test]
fn a_time_span_that_fails_does_not_end_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let middle = "<TimeSpan><Duration>1</Duration><Targets><Target><Path>a.dat</\
                  Path><BaseFileOffset>4194304</BaseFileOffset></Target></Targets></TimeSpan>";
    let mut profile = TWO_SPANS.to_owned();
    let at = profile.find("</TimeSpan>").unwrap() + "</TimeSpan>".len();
    profile.insert_str(at, middle);
    fs::write(dir.path().join("p.xml"), profile).unwrap();
    let output = diskspd(dir.path(), "-Xp.xml -Rxml", &SHORT);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("error: time span 2: "), "{}", stderr(&output));
    let xml = stdout(&output);
    assert_eq!(xml.matches("<TestTimeSeconds>").count(), 2, "{xml}");
    assert_eq!(xml.matches("<Error>The test failed before").count(), 1, "{xml}");
    assert!(xml.contains("must end within `a.dat`"), "{xml}");
}

#[test]
fn stdout_is_for_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let output = diskspd(dir.path(), "-Rxml -v -P100 -W0 -d2 -x -l -eDISK_IO x.dat", &SIM);
    succeeds(&output);
    assert!(stdout(&output).starts_with("<Results>\n") && stdout(&output).ends_with("</Results>"));
    let said = stderr(&output);
    for words in ["-x: ", "-l: ", "-e: ", ": measuring for 2 s", "\n........."] {
        assert!(said.contains(words), "`{words}` is not in: {said}");
    }
}

#[test]
fn an_interrupted_run_gives_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("io.dat");
    let path = path.to_str().unwrap();
    let mut running =
        Running::start(&["diskspd", "-b8K", "-v", "-r", "-W0", "-d600", "-c4M", path]);
    running.wait_for(": measuring for 600 s");
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert!(total(&stdout(&output))[1] > 0.0, "{}", stdout(&output));
}

#[test]
fn events_are_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("go"), "").unwrap();
    let line = "-b8K -W0 -d600 -c4M -ysstarted -yfended -yrgo -ypstarted io.dat";
    let output = diskspd(dir.path(), line, &[]);
    // The event ends it as soon as it has begun, and that does not count as an interruption.
    succeeds(&output);
    assert!(stdout(&output).contains("actual test time:\t"), "{}", stdout(&output));
    assert_eq!(names(dir.path()), ["ended", "go", "io.dat", "started"]);
    succeeds(&diskspd(dir.path(), "-yedone", &[]));
    assert!(dir.path().join("done").exists());
}

#[test]
fn a_file_is_made_before_the_event_and_not_again() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (go, file) = (format!("-yr{}", at("go")), at("io.dat"));
    // A write or two, so that nearly all stays as it was made.
    let line = ["diskspd", "-b4K", "-r", "-w50", "-g4i", "-c1M", &go, &file];
    let mut running = Running::start(&[&line[..], &SHORT].concat());
    running.wait_for("waiting for the event");
    // What is changed now would not outlive a second filling.
    let marked = vec![0x5A; 128 * 4096];
    let mut made = fs::OpenOptions::new().write(true).open(&file).unwrap();
    made.write_all(&marked).unwrap();
    fs::write(at("go"), "").unwrap();
    succeeds(&running.end());
    let after = fs::read(&file).unwrap();
    let blocks = marked.chunks(4096).zip(after.chunks(4096));
    let same = blocks.filter(|(before, after)| before == after).count();
    assert!(same >= 100, "{same} of 128 blocks are as they were");
}

#[test]
fn the_link_speaks_the_language_and_all_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("diskspd");
    symlink(env!("CARGO_BIN_EXE_iosonde"), &link).unwrap();
    let mut linked = Command::new(&link);
    linked.args(["-b8K", "-L", "-d5", "x.dat", "--json"]).args(SIM);
    let output = linked.env("IOSONDE_HISTORY", common_history()).output().unwrap();
    let measured = measurement(&output);
    assert_eq!((measured.status, measured.seconds), (Status::Complete, 5.0));
    let shown = command(&["history", "show", &measured.id, "--json"]).output().unwrap();
    assert_eq!(measurement(&shown).workload, measured.workload);
}

/// The run with fewer I/Os has the first blocks of the other.
#[test]
fn the_same_seed_writes_the_same_blocks() {
    let written = |seed: &str| {
        let dir = tempfile::tempdir().unwrap();
        let flags = ["--seconds", "0.5", "--warmup", "0", "--json"];
        let line = format!("-b4K -w100 -r -o1 -g40i -z{seed} -c1M io.dat");
        let output = diskspd(dir.path(), &line, &flags);
        succeeds(&output);
        let ios = measurement(&output).total.ios;
        assert!((1..=40).contains(&ios), "{ios} at 40 a second");
        let content = fs::read(dir.path().join("io.dat")).unwrap();
        let block: Vec<u8> = (0..=255).cycle().take(4096).collect();
        let found = (0..256usize).filter(|n| content[n * 4096..][..4096] == block);
        found.collect::<BTreeSet<usize>>()
    };
    let alike = |a: &BTreeSet<usize>, b: &BTreeSet<usize>| a.is_subset(b) || b.is_subset(a);
    let (first, again, other) = (written("7"), written("7"), written("8"));
    assert!(alike(&first, &again), "{first:?} and {again:?}");
    assert!(!alike(&first, &other), "{first:?} and {other:?}");
}
