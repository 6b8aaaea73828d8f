//! The pages for people who come from another tool (docs/coming-from-*.md): each line of their code
//! runs, in its order, in a place of its own.
//!
//! A line ends with 0, or with what a comment says: `… # exit 4`. The files that the lines name are
//! those of [`files`]. Sizes and lengths are made small by [`tiny`], which also limits the
//! throughput of DiskSpd's runs.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use testing::Place;

use crate::cli::iometer_places::configuration;
use crate::cli::program::{code, stderr, stdout};

/// Options with two dashes whose value is made small.
const FLAGS: [(&str, &str); 8] = [
    ("--size", "8M"),
    ("--sizes", "4M,8M"),
    ("--seconds", "0.2"),
    ("--warmup", "0"),
    ("--settle", "0"),
    ("--wait", "0"),
    ("--pause", "0"),
    ("--for", "1s"),
];
/// Options of DiskSpd, whose value follows without a blank. Its shortest run is a second, in which
/// a thread moves 500 bytes per millisecond.
const DISKSPD: [(&str, &str); 4] =
    [("-d", "-d1 -g500"), ("-W", "-W0"), ("-C", "-C0"), ("-c", "-c8M")];
/// Experiments that wait before each measurement until the disk rests, which a busy host never
/// does.
const WAITING: [&str; 5] = ["sweep", "knee", "sizes", "scale", "matrix"];
/// Directories of the pages, which are one in the place.
const DIRECTORIES: [&str; 3] = ["/mnt/c", "/mnt/e", "/data"];

/// A line with small sizes and lengths and without pauses. Of DiskSpd's, one with a duration loses
/// its usual warm-up of 5 s.
pub(crate) fn tiny(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_diskspd = words.iter().take(2).any(|word| word.ends_with("diskspd"));
    let mut out: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| words[at]);
        let is_amount = word.starts_with(|c: char| c.is_ascii_digit());
        let value = FLAGS.iter().find(|(flag, _)| is_amount && before == Some(*flag));
        let option = DISKSPD.iter().find(|(option, _)| {
            let digits = word.strip_prefix(option).unwrap_or_default();
            is_diskspd && digits.starts_with(|c: char| c.is_ascii_digit())
        });
        out.push(match (value, option) {
            (Some((_, value)), _) | (None, Some((_, value))) => (*value).to_owned(),
            (None, None) => (*word).to_owned(),
        });
        let has = |option: &str| words.iter().any(|word| word.starts_with(option));
        if word.ends_with("diskspd") && is_diskspd && has("-d") && !has("-W") {
            out.push("-W0".to_owned());
        }
    }
    let waits = words[0] == "iosonde" && words.get(1).is_some_and(|word| WAITING.contains(word));
    let has_own = ["--settle", "--resume", "--help"].iter().any(|flag| words.contains(flag));
    if waits && !has_own {
        out.insert(2, "--settle 0".to_owned());
    }
    let mut line = out.join(" ");
    for directory in DIRECTORIES {
        line = line.replace(directory, "disk");
    }
    // A call or a batch of SQLIO; its length is an option among others.
    let sqlio = words.iter().position(|word| word.ends_with("sqlio"));
    let next = sqlio.and_then(|at| words.get(at + 1)).copied().unwrap_or_default();
    if next == "script" || next.starts_with("-k") {
        line.push_str(" --seconds 0.2");
    }
    line
}

/// What the lines find.
pub(crate) fn files(place: &Place) {
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    fs::create_dir_all(place.path("disk/Testdata")).unwrap();
    write("param.txt", "disk/first.dat 2 0x0 8\n#disk/none.dat 2 0x0 8\ndisk/second.dat 1 0x0 8\n");
    write(
        "tests.bat",
        "@echo off\r\nset log=%1.log\r\necho %DATE% %TIME% > %log%\r\nfor %%k in (W R) do (\r\n\
         \x20 for %%o in (1 8) do (\r\n\
         \x20   sqlio -k%%k -s%2 -frandom -o%%o -b8 -BH -LS E:\\batch.dat >> %log%\r\n\
         \x20   timeout /t 1 > nul\r\n  )\r\n)\r\ndel E:\\batch.dat\r\npause\r\n",
    );
    write(
        "tests.ps1",
        "$file = 'E:\\batch.dat'\r\nforeach ($o in 1, 8) {\r\n\
         \x20 & .\\sqlio.exe -kR -s60 -frandom \"-o$o\" -b8 -LS $file\r\n}\r\n",
    );
    let mut log = String::new();
    for (threads, depth) in [(2, 1), (2, 8), (4, 1), (4, 8)] {
        let _ = write!(
            log,
            "sqlio v1.5.SG\n{threads} threads reading for 60 secs from file E:\\testfile.dat\n\
             \tusing 64KB random IOs\n\tenabling multiple I/Os per thread with {depth} \
             outstanding\n\tbuffering set to use hardware disk cache (but not file cache)\n\
             using specified size: 20480 MB for file: E:\\testfile.dat\ninitialization done\n\
             CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec:  {}.00\nMBs/sec:   {}.00\n\
             latency metrics:\nMin_Latency(ms): 0\nAvg_Latency(ms): {}\nMax_Latency(ms): 90\n",
            threads * depth * 160,
            threads * depth * 10,
            depth,
        );
    }
    write("sqlio.txt", &log);
    write("job.fio", "[job]\nrw=randread\nbs=4k\nsize=8m\nfilename=disk/job.dat\nruntime=1\n");
    write("array.csv", "time,queue\n2026-11-25T00:00:00Z,1\n");
    configuration(place.directory(), "E: \"SQL data\"", 16_384);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (fixture, name) in [
        ("dialects/tests/it/fio/two_jobs.json", "fio.json"),
        ("dialects/tests/it/fio_text/v3.33.txt", "fio.txt"),
        ("monitor/tests/it/foreign/collector.csv", "disks.csv"),
        ("monitor/tests/it/foreign/sar-12.txt", "sar.txt"),
        ("monitor/tests/it/foreign/iostat-12.txt", "iostat.txt"),
    ] {
        fs::copy(crates.join(fixture), place.path(name)).unwrap();
    }
}

/// The lines of a page that are indented, which are its code.
fn lines(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix("    ")).filter(|l| !l.is_empty()).collect()
}

/// Runs a line in a shell that finds iosonde.
pub(crate) fn run(place: &Place, line: &str) -> std::process::Output {
    let mut shell = std::process::Command::new("sh");
    let path = std::env::var("PATH").unwrap_or_default();
    shell
        .args(["-c", line])
        .current_dir(place.directory())
        .env("PATH", format!("{}:{path}", place.path("path").display()))
        .env("HOME", place.directory())
        .env("IOSONDE_HISTORY", place.history())
        .env("TZ", "UTC")
        .stdin(std::process::Stdio::null());
    shell.output().unwrap()
}

/// A place for a page, with the files that its lines name.
pub(crate) fn page_place() -> Place {
    let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
    fs::create_dir(place.path("path")).unwrap();
    symlink(env!("CARGO_BIN_EXE_iosonde"), place.path("path/iosonde")).unwrap();
    files(&place);
    place
}

/// Runs a line of a page and compares its exit code with the one in its comment, else with 0. The
/// answer is what went wrong. `shrink` makes the line small.
pub(crate) fn failure(place: &Place, line: &str, shrink: fn(&str) -> String) -> Option<String> {
    let (line, comment) = line.split_once(" # ").unwrap_or((line, ""));
    let wanted = comment.trim_start().strip_prefix("exit ").map_or("0", |rest| &rest[..1]);
    let line = shrink(line.trim_end());
    let output = run(place, &line);
    if code(&output).to_string() == wanted {
        return None;
    }
    let printed = stderr(&output) + &stdout(&output);
    let printed: String = printed.chars().take(600).collect();
    Some(format!("`{line}` ended with {}: {printed}\n", code(&output)))
}

/// The pages of docs/, by name.
pub(crate) fn pages() -> Vec<(String, String)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let paths = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<(String, String)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// Whether a page is about another tool. The code of these pages is indented.
pub(crate) fn is_for_newcomers(name: &str) -> bool {
    name.starts_with("coming-from-")
}

#[test]
fn every_line_of_the_pages_for_newcomers_runs() {
    let mut pages = pages();
    pages.retain(|(name, _)| is_for_newcomers(name));
    assert!(pages.len() >= 5, "{}", pages.len());
    let run = |name: &str, page: &str| {
        let place = page_place();
        let lines = lines(page);
        assert!(lines.len() >= 10, "{name} has {} lines of code", lines.len());
        let failures = lines.iter().filter_map(|line| failure(&place, line, tiny));
        failures.map(|failure| format!("{name}: {failure}")).collect::<Vec<String>>()
    };
    // Most lines wait.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            pages.iter().map(|(name, page)| scope.spawn(move || run(name, page))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_are_made_small_and_stay_what_they_are() {
    for (line, small) in [
        (
            "iosonde run /mnt/e/t --size 20G --seconds 60",
            "iosonde run disk/t --size 8M --seconds 0.2",
        ),
        (
            "iosonde diskspd -b8K -d180 -W5 -c5G -r io.dat",
            "iosonde diskspd -b8K -d1 -g500 -W0 -c8M -r io.dat",
        ),
        ("iosonde knee /data", "iosonde knee --settle 0 disk"),
        ("iosonde sweep /data --settle 9", "iosonde sweep disk --settle 0"),
        ("~/bin/diskspd -d60 x.dat", "~/bin/diskspd -W0 -d1 -g500 x.dat"),
        ("iosonde diskspd -Xp.xml x.dat", "iosonde diskspd -Xp.xml x.dat"),
        ("iosonde sqlio -kR -dE x.dat", "iosonde sqlio -kR -dE x.dat --seconds 0.2"),
        ("iosonde sqlio parse a.txt", "iosonde sqlio parse a.txt"),
        ("iosonde history import -d5", "iosonde history import -d5"),
    ] {
        assert_eq!(tiny(line), small);
    }
    assert_eq!(lines("# A\n\ntext\n\n    a b\n    c\n\nmore"), ["a b", "c"]);
}
