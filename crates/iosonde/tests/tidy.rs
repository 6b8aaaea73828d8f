//! Rules of the house that no compiler checks.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

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
        if text.contains(concat!("unsafe", " {")) {
            assert!(
                inside("linux") || ["clock.rs", "past_cache.rs"].contains(&name) || inside("bench"),
                "unsafe in {shown}"
            );
        }
        if text.contains(concat!("libc", "::")) {
            let allowed = inside("linux") || inside("tests") || inside("bench");
            assert!(allowed, "a system call in {shown}, which is no platform module");
        }
    }
}

#[test]
fn the_main_function_is_a_table_of_contents() {
    let main = fs::read_to_string(root().join("crates/iosonde/src/main.rs")).unwrap();
    assert!(main.lines().count() <= 60);
}

/// `monitor` was built after `analysis` and `dialects` was tested with `jsonschema` and `tempfile`, and no line of theirs used
/// them: each build compiled what nobody called, and the manifest drew an arrow between rooms that was not there.
#[test]
fn every_dependency_is_used() {
    for room in fs::read_dir(root().join("crates")).unwrap().flatten().map(|entry| entry.path()) {
        let manifest: Table = fs::read_to_string(room.join("Cargo.toml")).unwrap().parse().unwrap();
        let platforms = manifest.get("target").and_then(Value::as_table);
        let platforms = platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table);
        for manifest in platforms.chain([&manifest]) {
            // Tests do not count for what the crate itself is built with.
            for (section, code) in [("dependencies", "src"), ("dev-dependencies", "")] {
                let Some(named) = manifest.get(section).and_then(Value::as_table) else { continue };
                let mut paths = Vec::new();
                sources(&room.join(code), &mut paths);
                let texts: Vec<_> = paths.iter().map(|p| fs::read_to_string(p).unwrap()).collect();
                for name in named.keys().map(|name| name.replace('-', "_")) {
                    let used = texts.iter().any(|text| uses(text, &name));
                    assert!(used, "nothing in {} uses `{name}`", room.join(code).display());
                }
            }
        }
    }
}

/// Whether a source names a crate: at the begin of a path, not as a part of another name or path.
fn uses(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let part = |c: char| c.is_alphanumeric() || "_.>:".contains(c);
        let begins = !before.strip_suffix("::").unwrap_or(before).ends_with(part);
        let imported = before.ends_with("use ") && after.starts_with([';', ' ']);
        begins && (after.starts_with("::") || imported)
    })
}
