//! What the README shows is what the program prints.

use std::fs;

use crate::cli::program::place;

/// The README once showed the output of one command under another.
#[test]
fn the_summary_in_the_readme_is_the_output_of_the_command_above_it() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let (_, rest) = readme.split_once("iosonde assess --engine sim ").unwrap();
    let (flags, rest) = rest.split_once("\n```").unwrap();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    let (shown, _) = rest.split_once("\n```").unwrap();
    let (before, device) = flags.split_once('\'').unwrap();
    let (device, after) = device.split_once('\'').unwrap();
    let mut words = vec!["assess", "--engine", "sim"];
    words.extend(before.split_whitespace().chain([device]).chain(after.split_whitespace()));
    let printed = place().says(&words);
    assert!(shown.lines().count() > 15, "{shown}");
    assert!(printed.contains(shown), "README:\n{shown}\n\nprinted:\n{printed}");
}
