//! The commands in README.md and docs/*.md run as they are written there.
//!
//! A page shows commands in fences. Those marked `sh` run, in their order and in a private place.
//! Those marked `sh no-test` need what a test lacks (another host, root, a service, a key that
//! somebody presses), so iosonde only parses them. The mark is in the page, where a reader of its
//! source sees it. `coming_from.rs` runs the pages for people who come from another tool.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use flags::EXAMPLES;
use testing::Place;

use crate::cli::coming_from::{failure, is_for_newcomers, page_place, pages, tiny};
use crate::cli::program::{code, command, stderr, stdout};

/// Flags that shorten a command, put after its name where the line has none of the words. An
/// experiment that would take minutes runs on the simulated device, whose time is virtual.
const SHORTER: [(&str, &[&str], &str); 13] = [
    ("run", &["--warmup", "--workload", "-h"], "--warmup 0"),
    ("run", &["--seconds", "--workload", "-h"], "--seconds 0.2"),
    ("assess", &["--pace", "--dry-run"], "--pace glance"),
    ("assess", &["--engine"], "--engine sim"),
    ("knee", &["--engine"], "--engine sim"),
    ("matrix", &["--engine"], "--engine sim"),
    ("scale", &["--engine"], "--engine sim"),
    ("sizes", &["--engine"], "--engine sim"),
    ("sweep", &["--engine", "--resume"], "--engine sim"),
    ("sweep", &["--seconds", "--resume"], "--seconds 0.05 --warmup 0"),
    ("validate", &["--size"], "--size 16M"),
    ("validate", &["--seconds", "--kill-after"], "--seconds 0.2"),
    ("monitor", &["--seconds", "--count", "--"], "--seconds 0.3"),
];

/// Volumes of the pages, each a directory in the place.
const VOLUMES: [&str; 3] = ["vol1", "vol2", "logvol"];

/// What a fence is marked with.
#[derive(Debug, PartialEq, Clone, Copy)]
enum Mark {
    Runs,
    IsParsed,
}

/// The commands of a page. A line that ends with a backslash continues on the next.
fn commands(page: &str) -> Vec<(Mark, String)> {
    let mut found: Vec<(Mark, String)> = Vec::new();
    let mut mark = None;
    let mut is_fenced = false;
    let mut is_continued = false;
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            is_fenced = !is_fenced;
            mark = match info.trim() {
                "sh" => Some(Mark::Runs),
                "sh no-test" => Some(Mark::IsParsed),
                _ => None,
            };
            continue;
        }
        let Some(mark) = mark.filter(|_| is_fenced && !line.trim().is_empty()) else { continue };
        let part = line.trim_end_matches('\\');
        match found.last_mut() {
            Some((_, command)) if is_continued => command.push_str(part.trim_start()),
            _ => found.push((mark, part.to_owned())),
        }
        is_continued = part.len() < line.len();
    }
    found
}

/// A line with small sizes and lengths, whose experiment is simulated. One that is simulated on its
/// page stays as it is.
fn short(line: &str) -> String {
    if line.contains("--engine sim") {
        return line.to_owned();
    }
    let mut line = tiny(line);
    for volume in VOLUMES {
        line = line.replace(&format!("/{volume}"), volume);
    }
    for (name, unless, flags) in SHORTER {
        let call = format!("iosonde {name}");
        let rest = line.strip_prefix(&call).filter(|rest| rest.is_empty() || rest.starts_with(' '));
        let has = |word: &&str| line.split([' ', '=']).any(|other| other == *word);
        if let Some(rest) = rest.filter(|_| !unless.iter().any(has)) {
            line = format!("{call} {flags}{rest}");
        }
    }
    line
}

/// README.md and the pages of docs/ whose commands are in fences.
fn documents() -> Vec<(String, String)> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let mut all = vec![("README.md".to_owned(), fs::read_to_string(readme).unwrap())];
    all.extend(pages().into_iter().filter(|(name, _)| !is_for_newcomers(name)));
    all
}

/// Runs the commands of a page; what went wrong.
fn run_page(name: &str, page: &str) -> String {
    let place = page_place();
    for volume in VOLUMES {
        fs::create_dir(place.path(volume)).unwrap();
    }
    let commands = commands(page).into_iter().filter(|(mark, _)| *mark == Mark::Runs);
    let failures = commands.filter_map(|(_, line)| failure(&place, &line, short));
    failures.fold(String::new(), |all, failure| format!("{all}{name}: {failure}\n"))
}

/// A few pages at once: most of the time goes into waiting for the disk.
#[test]
fn every_command_of_the_documents_runs() {
    const AT_ONCE: usize = 3;
    let documents = documents();
    let next = AtomicUsize::new(0);
    let work = || {
        let pages = std::iter::from_fn(|| documents.get(next.fetch_add(1, Ordering::Relaxed)));
        pages.map(|(name, page)| run_page(name, page)).collect::<String>()
    };
    let wrong: String = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{wrong}");
    let all = documents.iter().flat_map(|(_, page)| commands(page));
    let count = all.filter(|(mark, _)| *mark == Mark::Runs).count();
    assert!(count > 60, "{count} commands");
}

/// The calls of iosonde in a line, each as its words. The shell splits the line; a stand-in for
/// iosonde writes down its words, and no other program is found.
fn calls(place: &Place, line: &str) -> Vec<Vec<String>> {
    let words = place.path("words");
    let script = "iosonde() { printf '%s\\0' \"$@\" '' >> \"$WORDS\"; }\nPATH=/nowhere\n";
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("{script}{line}")])
        .current_dir(place.directory())
        .env("WORDS", &words)
        .env("HOME", place.directory())
        .output();
    output.unwrap();
    let text = fs::read_to_string(&words).unwrap_or_default();
    let _ = fs::remove_file(&words);
    let calls = text.split("\0\0").map(|call| call.trim_matches('\0'));
    let words = |call: &str| call.split('\0').map(str::to_owned).collect();
    calls.filter(|call| !call.is_empty()).map(words).collect()
}

/// Parses a call without running it: with `--help`, before the command that `--` introduces.
fn parse(words: &[String]) -> Result<(), String> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut args: Vec<&str> = words[..end].iter().map(String::as_str).collect();
    args.push("--help");
    let output = command(&args).output().unwrap();
    if code(&output) == 0 { Ok(()) } else { Err(stderr(&output)) }
}

#[test]
fn every_command_of_the_documents_that_a_test_cannot_run_is_parsed() {
    let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
    let mut wrong = String::new();
    let mut count = 0;
    for (name, page) in documents() {
        for (_, line) in commands(&page).iter().filter(|(mark, _)| *mark == Mark::IsParsed) {
            let calls = calls(&place, line);
            let is_named = line.starts_with("iosonde ");
            if is_named && calls.is_empty() {
                let _ = writeln!(wrong, "{name}: the shell refuses `{line}`");
            }
            count += calls.len();
            for words in calls {
                if let Err(error) = parse(&words) {
                    let _ = writeln!(wrong, "{name}: `{line}`: {error}");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 20, "{count} calls");
}

/// The commands that a text shows in backticks, without the backticks.
fn inline(page: &str) -> Vec<String> {
    let prose: Vec<&str> = page.split("```").step_by(2).collect();
    let text = prose.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| code.starts_with("iosonde ")).map(str::to_owned).collect()
}

/// Flags in running text and in tables, where a command may be shortened by `…`.
#[test]
fn every_flag_in_the_text_of_the_documents_exists() {
    let mut wrong = String::new();
    let mut count = 0;
    let mut helps = BTreeMap::new();
    for (name, page) in documents() {
        for line in inline(&page) {
            let words = line["iosonde ".len()..].to_owned();
            let is_its = |name: &str| words == name || words.starts_with(&format!("{name} "));
            let names = EXAMPLES.iter().map(|(name, _)| *name).filter(|name| is_its(name));
            let Some(called) = names.max_by_key(|name| name.len()) else {
                let _ = writeln!(wrong, "{name}: `{line}` is not a command");
                continue;
            };
            let help = helps.entry(called).or_insert_with(|| {
                let args: Vec<&str> = called.split(' ').chain(["--help"]).collect();
                stdout(&command(&args).output().unwrap())
            });
            let own = words.split(" -- ").next().unwrap_or_default();
            let flags = own.split([' ', '=']).filter(|word| word.starts_with("--"));
            for flag in flags {
                count += 1;
                let end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
                if !help.split(end).any(|word| word == flag) {
                    let _ = writeln!(wrong, "{name}: `{line}`: there is no `{flag}`");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 40, "{count} flags");
}

#[test]
fn commands_are_found_and_shortened() {
    let page = "# A\n\n```sh\nx 1 \\\n  2\n\ny\n```\n\n```text\nz\n```\n\n```sh no-test\nw\n```\n";
    let found = commands(page);
    let wanted = [(Mark::Runs, "x 1 2"), (Mark::Runs, "y"), (Mark::IsParsed, "w")];
    let found: Vec<_> = found.iter().map(|(mark, line)| (*mark, line.as_str())).collect();
    assert_eq!(found, wanted);
    for (line, shortened) in [
        ("iosonde assess /data", "iosonde assess --engine sim --pace glance disk"),
        ("iosonde assess --engine=null /x", "iosonde assess --pace glance --engine=null /x"),
        ("iosonde assess --engine sim --size 4G", "iosonde assess --engine sim --size 4G"),
        ("iosonde monitor", "iosonde monitor --seconds 0.3"),
        ("iosonde monitor /data -- ls", "iosonde monitor disk -- ls"),
        ("iosonde history list", "iosonde history list"),
        ("iosonde scale /vol1 /vol2", "iosonde scale --engine sim --settle 0 vol1 vol2"),
    ] {
        assert_eq!(short(line), shortened);
    }
    let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
    let line = "iosonde run 'a b' | jq . # c\nrm x; iosonde serve";
    assert_eq!(calls(&place, line), [vec!["run", "a b"], vec!["serve"]]);
    assert!(parse(&["run".into(), "--nothing".into()]).is_err());
    assert!(parse(&["monitor".into(), "--".into(), "ls".into(), "--x".into()]).is_ok());
    assert_eq!(inline("a `iosonde run\n--x` `b`\n```sh\n`iosonde`\n```\n"), ["iosonde run --x"]);
}
