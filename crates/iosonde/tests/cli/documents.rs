//! The commands of README.md and of the pages in docs: each line of a block marked `sh` runs, in
//! its order, in a place that each document has for itself.
//!
//! A block marked `sh no-test` needs what a test has not: a device, a server, another host, hours.
//! Their lines are counted in [`NOT_RUN`]. Sizes and lengths are made small, and experiments run on
//! a simulated device. The pages for newcomers have their own test (`coming_from.rs`).

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use testing::Place;

use crate::coming_from::{files, run, tiny};
use crate::program::{code, stderr, stdout};

/// Lines in blocks marked `sh no-test`.
const NOT_RUN: usize = 0;
/// Commands that measure for minutes, unless the device is simulated.
const EXPERIMENTS: [&str; 7] = ["assess", "knee", "matrix", "run", "scale", "sizes", "sweep"];
/// Directories of the documents besides those of the pages for newcomers.
const DIRECTORIES: [&str; 4] = ["/vol1", "/vol2", "/logvol", "/log "];

/// The lines of blocks marked so, without their comments.
fn lines<'a>(page: &'a str, mark: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_open = line == format!("```{mark}");
        } else if is_open && !line.trim().is_empty() {
            found.push(line.split_once("  #").map_or(line, |(line, _)| line).trim_end());
        }
    }
    found
}

/// The commands in the tables of the README that need no server, no other host and no minutes.
fn of_tables(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let cells = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let commands = cells.filter(|cell| cell.starts_with("iosonde "));
    let needs = ["://", "otherhost", "iosonde baseline"];
    commands.filter(|line| !needs.iter().any(|words| line.contains(words))).collect()
}

/// A line that ends within a second.
fn small(line: &str) -> String {
    let mut line = tiny(line);
    for directory in DIRECTORIES {
        let blank = if directory.ends_with(' ') { " " } else { "" };
        let name = directory.trim().trim_start_matches('/');
        line = line.replace(directory, &format!("disk/{name}{blank}"));
    }
    // An assessment refuses a file that is smaller.
    if line.starts_with("iosonde assess ") {
        line = line.replace("--size 8M", "--size 256M");
    }
    let words: Vec<&str> = line.split(' ').collect();
    let command = words.get(1).copied().unwrap_or_default();
    if words[0] == "iosonde" && EXPERIMENTS.contains(&command) && !line.contains("--engine") {
        line = line.replacen(command, &format!("{command} --engine sim"), 1);
    }
    // A preset has hundreds of cells.
    if words[0] == "iosonde" && command == "sweep" && line.contains("--preset") {
        line.push_str(" --dry-run");
    }
    if words[0] == "iosonde" && command == "monitor" && !line.contains("--seconds") {
        line.push_str(" --seconds 1");
    }
    line
}

/// README.md and the pages of docs, by name.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![("README.md".to_owned(), root.join("README.md"))];
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".md") && !name.starts_with("coming-from-") {
            found.push((name, path));
        }
    }
    found.sort();
    found.into_iter().map(|(name, path)| (name, fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_command_of_the_documents_runs() {
    let mut wrong = String::new();
    let (mut done, mut skipped) = (0, 0);
    for (name, page) in documents() {
        skipped += lines(&page, "sh no-test").len();
        let mut all = lines(&page, "sh");
        if name == "README.md" {
            all.extend(of_tables(&page));
        }
        let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
        fs::create_dir(place.path("path")).unwrap();
        symlink(env!("CARGO_BIN_EXE_iosonde"), place.path("path/iosonde")).unwrap();
        files(&place);
        for directory in DIRECTORIES {
            fs::create_dir(place.path(&format!("disk{}", directory.trim()))).unwrap();
        }
        // The history of somebody who has measured before.
        let before = "iosonde run --engine sim --seconds 1 --tag baseline --tag before-move --tag \
                      before-upgrade";
        for line in [before].into_iter().chain(all) {
            let line = small(line);
            let output = run(&place, &line);
            done += 1;
            if code(&output) != 0 {
                let said = stderr(&output) + &stdout(&output);
                let said: String = said.chars().take(600).collect();
                let _ = writeln!(wrong, "{name}: `{line}` ended with {}: {said}", code(&output));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(done > 50, "{done}");
    assert_eq!(skipped, NOT_RUN, "lines that no test runs");
}

#[test]
fn lines_of_blocks_are_found_by_their_mark() {
    let page = "```sh\na b  # c\n```\n\n```sh no-test\nd\n```\n\n    e\n\n| `iosonde f` | `g` |\n";
    assert_eq!(lines(page, "sh"), ["a b"]);
    assert_eq!(lines(page, "sh no-test"), ["d"]);
    assert_eq!(of_tables(page), ["iosonde f"]);
    assert_eq!(small("iosonde knee /vol1"), "iosonde knee --engine sim disk/vol1");
}
