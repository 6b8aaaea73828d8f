//! Rules of the house that no compiler checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A file longer than this is asked whether two things live in it.
const LINES_MAX: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    sources(&root().join("crates"), &mut paths);
    assert!(paths.len() > 50, "the sources are found");
    paths.into_iter().map(|p| (p.clone(), fs::read_to_string(p).unwrap())).collect()
}

#[test]
fn files_stay_short_and_say_what_they_are_for() {
    for (path, text) in all_sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", path.display());
        assert!(text.starts_with("//!"), "{} does not say what it is for", path.display());
    }
}

#[test]
fn platforms_and_unsafe_code_stay_in_their_rooms() {
    for (path, text) in all_sources() {
        let shown = path.display();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let inside = |part: &str| path.components().any(|c| c.as_os_str() == part);
        let platform = inside("linux") || inside("windows");
        if text.contains(concat!("unsafe", " {")) {
            assert!(
                platform
                    || ["clock.rs", "past_cache.rs", "mapped.rs"].contains(&name)
                    || inside("bench"),
                "unsafe in {shown}"
            );
        }
        if text.contains(concat!("libc", "::")) || text.contains(concat!("windows_sys", "::")) {
            let allowed = platform || inside("tests") || inside("bench");
            assert!(allowed, "a system call in {shown}, which is no platform module");
        }
    }
}

#[test]
fn the_main_function_is_a_table_of_contents() {
    let main = fs::read_to_string(root().join("crates/iosonde/src/main.rs")).unwrap();
    assert!(main.lines().count() <= 60);
}

/// What a command does belongs in `jobs`: the binary may have this many lines besides flags and
/// tests.
const BINARY_LINES_MAX: usize = 6300;

/// Lines besides tests and items that clap reads, whose comments are the help.
fn lines_besides_flags(text: &str) -> usize {
    const CLAP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];
    let is_clap = |line: &str| {
        let derived = line.strip_prefix("#[derive(").and_then(|rest| rest.split_once(")]"));
        derived.is_some_and(|(names, _)| names.split(", ").any(|name| CLAP.contains(&name)))
    };
    let mut in_flags = false;
    let mut count = 0;
    for line in text.lines().take_while(|line| *line != "#[cfg(test)]") {
        in_flags |= is_clap(line);
        count += usize::from(!in_flags);
        in_flags &= line != "}";
    }
    count
}

#[test]
fn the_binary_is_flags_signals_and_exit_codes() {
    let flags = "//! x\n\n/// y\n#[derive(Debug, Args)]\nstruct A {\n    b: u8,\n}\nfn c() {}\n";
    assert_eq!(lines_besides_flags(flags), 4);
    let mut paths = Vec::new();
    sources(&root().join("crates/iosonde/src"), &mut paths);
    let lines = paths.iter().map(|path| lines_besides_flags(&fs::read_to_string(path).unwrap()));
    let lines: usize = lines.sum();
    assert!((1000..=BINARY_LINES_MAX).contains(&lines), "it has {lines} lines besides flags");
}

/// What opens a file for writing, or removes or renames one.
const WRITERS: [&str; 12] = [
    "File::create",
    "File::options",
    "OpenOptions",
    "fs::copy(",
    "fs::hard_link",
    "fs::remove_file",
    "fs::rename",
    "fs::write(",
    "set_permissions",
    ".persist(",
    "renameat",
    "unlinkat",
];

/// Where that is allowed outside of `inspect/src/files`, and why. A new line here is a new way to
/// somebody else's data.
const WRITERS_ALLOWED: [(&str, &str); 15] = [
    ("capture/src/linux/files.rs", "reads"),
    ("capture/src/linux/instance.rs", "files of the kernel (tracefs)"),
    ("capture/src/linux/tracefs.rs", "reads"),
    ("counters/src/windows/mod.rs", "asks a device"),
    ("engine/src/linux/files.rs", "a target that `--destroy` names, checked once it is open"),
    ("engine/src/linux/open.rs", "a target that is open already"),
    ("engine/src/linux/purge.rs", "a device that is open already"),
    ("engine/src/windows/files.rs", "a target that `--destroy` names, checked once it is open"),
    ("engine/src/windows/guard.rs", "reads"),
    ("inspect/src/linux/extents.rs", "reads"),
    ("inspect/src/linux/health.rs", "reads"),
    ("inspect/src/linux/reading.rs", "reads"),
    ("inspect/src/windows/calls.rs", "asks a device"),
    ("integrity/src/windows/mod.rs", "asks a file"),
    ("iosonde/src/linux/mod.rs", "the words of this process, in its own memory"),
];

/// What opens a file for reading, and waits if it is a pipe.
const READERS: [&str; 5] =
    [" File::open(", "(File::open(", "fs::File::open(", "fs::read(", "fs::read_to_string("];

/// Where that is allowed outside of platform modules, which read files of the kernel, and why.
const READERS_ALLOWED: [(&str, &str); 8] = [
    ("counters/src/write_back.rs", "a file of the kernel"),
    ("engine/src/clock.rs", "a file of the kernel"),
    ("inspect/src/other.rs", "called by `inspect::reading`"),
    ("inspect/src/reading.rs", "a stream of the shell"),
    ("integrity/src/checks.rs", "a target, whose kind is known"),
    ("iosonde/src/signals.rs", "a file of the kernel"),
    ("jobs/src/durability/writing.rs", "a directory"),
    ("jobs/src/relog.rs", "a file in a temporary directory of its own"),
];

/// A check before an open was trusted after it, links were followed, and locks emptied what they
/// led to: each command had its own way to open files.
#[test]
fn one_module_opens_files_for_writing_and_removes_them() {
    let advice = "open, make, rename and remove files with `inspect::files`";
    check_words(&WRITERS, &WRITERS_ALLOWED, advice, |path| path.starts_with("inspect/src/files/"));
}

/// `--sim PIPE` waited for ever, and `--sim /dev/zero` filled the memory.
#[test]
fn one_module_opens_files_that_a_user_names() {
    let advice = "read files with `inspect::reading`";
    let is_platform = |path: &str| path.contains("/linux/") || path.contains("/windows/");
    check_words(&READERS, &READERS_ALLOWED, advice, is_platform);
}

/// Refuses these words in the code of all shipped crates but in `allowed` files, each of which must
/// have one.
fn check_words(
    words: &[&str],
    allowed: &[(&str, &str)],
    advice: &str,
    is_exempt: impl Fn(&str) -> bool,
) {
    let drawn = drawn(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let crates = root().join("crates");
    let mut used = BTreeSet::new();
    for (path, text) in all_sources() {
        let shown = path.strip_prefix(&crates).unwrap().to_str().unwrap().replace('\\', "/");
        let room = shown.split('/').next().unwrap_or_default();
        let is_shipped = drawn.get(room).is_some_and(|room| room.is_shipped);
        let is_test = ["/tests/", "/benches/", "tests.rs", "contract.rs", "/build.rs"];
        let is_test = is_test.iter().any(|part| shown.contains(part));
        if !is_shipped || is_test || is_exempt(&shown) {
            continue;
        }
        // Tests within a module come last in it.
        let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
        let lines = lines.take_while(|line| !line.starts_with("#[cfg(all(test"));
        let code: Vec<&str> = lines.filter(|line| !line.trim_start().starts_with("//")).collect();
        let found = words.iter().find(|word| code.iter().any(|line| line.contains(*word)));
        let Some(word) = found else { continue };
        let found = allowed.iter().find(|(allowed, _)| *allowed == shown);
        let Some((name, _)) = found else { panic!("`{word}` in {shown}: {advice}") };
        used.insert(*name);
    }
    let unused: Vec<_> = allowed.iter().filter(|(name, _)| !used.contains(name)).collect();
    assert!(unused.is_empty(), "these need no exception any more: {unused:?}");
}

/// The directories of the crates.
fn rooms() -> Vec<PathBuf> {
    let rooms = fs::read_dir(root().join("crates")).unwrap().flatten();
    rooms.map(|entry| entry.path()).filter(|room| room.join("Cargo.toml").exists()).collect()
}

/// What a section of a manifest names, the tables of single platforms included.
fn dependencies(room: &Path, section: &str) -> BTreeSet<String> {
    let manifest: Table = fs::read_to_string(room.join("Cargo.toml")).unwrap().parse().unwrap();
    let platforms = manifest.get("target").and_then(Value::as_table);
    let platforms = platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let named = platforms.chain([&manifest]).filter_map(|m| m.get(section)?.as_table());
    named.flat_map(Table::keys).cloned().collect()
}

/// `monitor` was built after `analysis` and `dialects` was tested with `jsonschema` and `tempfile`,
/// and no line of theirs used them: each build compiled what nobody called, and the manifest drew
/// an arrow between rooms that was not there.
#[test]
fn every_dependency_is_used() {
    for room in rooms() {
        // Tests do not count for what the crate itself is built with.
        for (section, code) in [("dependencies", "src"), ("dev-dependencies", "")] {
            let mut paths = Vec::new();
            sources(&room.join(code), &mut paths);
            let texts: Vec<_> = paths.iter().map(|p| fs::read_to_string(p).unwrap()).collect();
            for name in dependencies(&room, section).iter().map(|name| name.replace('-', "_")) {
                let used = texts.iter().any(|text| uses(text, &name));
                assert!(used, "nothing in {} uses `{name}`", room.join(code).display());
            }
        }
    }
}

/// A row of the table of crates.
#[derive(Debug, PartialEq)]
struct Room {
    /// Part of the program, not only of its tests and benches.
    is_shipped: bool,
    /// The crates of ours that it uses; none where it may use all of them.
    uses: Option<BTreeSet<String>>,
}

/// The table of crates in ARCHITECTURE.md.
fn drawn(text: &str) -> BTreeMap<String, Room> {
    let table = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, what, used] = cells[..] else { panic!("three cells: {row}") };
        let known = names(used);
        assert_eq!(known.is_empty(), ["nothing", "all"].contains(&used), "{row}");
        let room = Room {
            is_shipped: !what.contains("not shipped"),
            uses: (used != "all").then_some(known),
        };
        (names(name).pop_first().unwrap(), room)
    })
    .collect()
}

/// The arrows that the Cargo files draw, with those of the tests or without.
fn built(sections: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let name = |room: &PathBuf| room.file_name().unwrap().to_str().unwrap().to_owned();
    let ours: BTreeSet<String> = rooms().iter().map(name).collect();
    let arrows = |room: &PathBuf| {
        let all = sections.iter().flat_map(|section| dependencies(room, section));
        (name(room), all.filter(|used| ours.contains(used)).collect())
    };
    rooms().iter().map(arrows).collect()
}

/// What the table and the Cargo files say differently, a sentence for each arrow.
fn differences(
    drawn: &BTreeMap<String, Room>,
    built: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut found = Vec::new();
    for name in drawn.keys().filter(|name| !built.contains_key(*name)) {
        found.push(format!("ARCHITECTURE.md has a row for `{name}`, which is not a crate"));
    }
    for (name, used) in built {
        let Some(room) = drawn.get(name) else {
            found.push(format!("the table of crates in ARCHITECTURE.md has no row for `{name}`"));
            continue;
        };
        let unshipped = |used: &&String| drawn.get(*used).is_some_and(|room| !room.is_shipped);
        for other in used.iter().filter(unshipped).filter(|_| room.is_shipped) {
            found.push(format!("`{name}` is shipped and uses `{other}`, which is for tests only"));
        }
        let Some(allowed) = &room.uses else { continue };
        for other in used.difference(allowed) {
            found.push(format!("`{name}` uses `{other}`, and ARCHITECTURE.md does not say so"));
        }
        for other in allowed.difference(used) {
            found.push(format!("ARCHITECTURE.md says that `{name}` uses `{other}`; it does not"));
        }
    }
    found
}

#[test]
fn the_table_of_crates_draws_the_arrows_of_the_manifests() {
    let drawn = drawn(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let found = differences(&drawn, &built(&["dependencies"]));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_wrong_arrow_is_named() {
    let table = "| crate | what lives there | uses of ours |\n|---|---|---|\n\
        | `a` | one | nothing |\n| `b` | two | `a`, `c` |\n| `t` | helpers; not shipped | all |\n";
    let arrows = [("a", vec!["b", "t"]), ("b", vec!["a"]), ("n", vec![]), ("t", vec!["a", "b"])];
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let built = arrows.map(|(name, used)| (name.to_owned(), owned(used)));
    assert_eq!(
        differences(&drawn(table), &BTreeMap::from(built)),
        [
            "`a` is shipped and uses `t`, which is for tests only",
            "`a` uses `b`, and ARCHITECTURE.md does not say so",
            "`a` uses `t`, and ARCHITECTURE.md does not say so",
            "ARCHITECTURE.md says that `b` uses `c`; it does not",
            "the table of crates in ARCHITECTURE.md has no row for `n`",
        ]
    );
}

/// Cargo refuses a cycle among crates, but not one through their tests: a crate whose tests need
/// another that is built on it cannot be tested alone.
#[test]
fn no_arrow_runs_back_not_even_of_tests() {
    let mut left = built(&["dependencies", "dev-dependencies"]);
    while let Some(free) = left.iter().find(|(_, used)| used.is_empty()) {
        let free = free.0.clone();
        left.remove(&free);
        for used in left.values_mut() {
            used.remove(&free);
        }
    }
    assert!(left.is_empty(), "these crates use each other in a circle: {left:?}");
}

/// Whether a source names a crate: at the start of a path, not as a part of another name or path.
fn uses(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let part = |c: char| c.is_alphanumeric() || "_.>:".contains(c);
        let begins = !before.strip_suffix("::").unwrap_or(before).ends_with(part);
        let imported = before.ends_with("use ") && after.starts_with([';', ' ']);
        begins && (after.starts_with("::") || imported)
    })
}

/// Files with lines that cannot be broken, and how many: raw text, tables in comments, patterns.
/// Shrinks only.
const WIDER: &[(&str, usize)] = &[
    ("crates/bench/src/accuracy/series.rs", 5),
    ("crates/bench/src/accuracy/truth/mod.rs", 3),
    ("crates/databases/src/postgres/rows.rs", 1),
    ("crates/databases/src/record.rs", 1),
    ("crates/databases/src/sqlserver/rows.rs", 2),
    ("crates/databases/src/window_tests.rs", 1),
    ("crates/dialects/src/fio/jobs/tests.rs", 1),
    ("crates/dialects/src/sqliosim/read_tests.rs", 1),
    ("crates/dialects/tests/it/diskspd_hostile.rs", 1),
    ("crates/dialects/tests/it/fio.rs", 1),
    ("crates/inspect/src/linux/tests/setups.rs", 3),
    ("crates/integrity/src/plan_file.rs", 1),
    ("crates/iosonde/tests/it/cli/sqliosim.rs", 2),
    ("crates/iosonde/tests/it/cli/validate.rs", 1),
    ("crates/monitor/tests/it/attach.rs", 1),
    ("crates/report/src/html/mod.rs", 1),
    ("crates/report/src/html/raw.rs", 1),
    ("crates/report/src/lib.rs", 1),
    ("crates/report/tests/it/html_script.rs", 6),
    ("crates/results/tests/conditions.rs", 1),
    ("crates/serve/src/access.rs", 1),
    ("crates/survey/src/assess/databases.rs", 4),
    ("crates/testing/src/locks.rs", 1),
    ("crates/workload/src/mix.rs", 1),
    ("crates/workload/src/sweep/tests.rs", 1),
];

/// What runs elsewhere runs here too: a workflow calls `./x`, and has no step of its own.
#[test]
fn workflows_call_the_script() {
    let mut steps = 0;
    for file in fs::read_dir(root().join(".github/workflows")).unwrap().flatten() {
        let text = fs::read_to_string(file.path()).unwrap();
        for step in text.lines().filter_map(|line| line.trim().strip_prefix("- run: ")) {
            assert!(step.starts_with("./x "), "{}: {step}", file.path().display());
            steps += 1;
        }
        assert!(!text.contains("run: |"), "{} has a script", file.path().display());
    }
    assert!(steps >= 3, "{steps}");
}

/// The changelog was 110 lines under one heading, most of which no user could place.
#[test]
fn the_changelog_says_what_is_new_in_this_version_and_where_to_read_on() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let heading = concat!("\n## ", env!("CARGO_PKG_VERSION"));
    let section = text.split_once(heading).expect("a section of this version").1;
    let section = section.split("\n## ").next().unwrap();
    let entries: Vec<&str> = section.split("\n- ").skip(1).collect();
    assert!(entries.len() > 5);
    for entry in entries {
        let entry = entry.split("\n\n").next().unwrap();
        assert!(entry.lines().count() <= 3, "too long: {entry}");
        let links = entry.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let links: Vec<&str> = links.collect();
        assert!(!links.is_empty(), "no link: {entry}");
        for link in links {
            assert!(root().join(link).exists(), "{link} is not there: {entry}");
        }
    }
}

/// rustfmt leaves texts, comments and macro calls as wide as they are, so 3,002 lines had become
/// wider than its limit.
#[test]
fn lines_are_no_wider_than_rustfmt_makes_them() {
    let settings: Table = fs::read_to_string(root().join("rustfmt.toml")).unwrap().parse().unwrap();
    let width = settings["max_width"].as_integer().unwrap();
    let width = usize::try_from(width).unwrap();
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        let path = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let wide: Vec<usize> = (1..)
            .zip(text.lines())
            .filter(|(_, l)| l.chars().count() > width)
            .map(|l| l.0)
            .collect();
        let allowed = WIDER.iter().find(|(name, _)| *name == path).map_or(0, |(_, count)| *count);
        if wide.len() != allowed {
            wrong.push(format!("{path}: lines {wide:?} are wide, {allowed} may be"));
        }
    }
    for (name, _) in WIDER {
        assert!(root().join(name).exists(), "{name} is not there any more");
    }
    assert!(wrong.is_empty(), "wider than {width} columns:\n{}", wrong.join("\n"));
}
