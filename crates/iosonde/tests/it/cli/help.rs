//! The help of every command, in one file, so that a change of its words is seen in a review.

use std::fmt::Write as _;
use std::fs;

use flags::EXAMPLES;

use crate::cli::program::{command, stdout, succeeds};

/// Run with `IOSONDE_UPDATE=1` to write the file anew after a change of the help.
#[test]
fn the_help_of_every_command_is_as_in_the_golden_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden/help.txt");
    let mut text = String::new();
    for (name, _) in EXAMPLES {
        let words: Vec<&str> = name.split_whitespace().chain(["--help"]).collect();
        let output = command(&words).output().unwrap();
        succeeds(&output);
        let help = stdout(&output);
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ =
            write!(text, "$ iosonde {}\n\n{}\n\n", words.join(" "), lines.join("\n").trim_end());
    }
    if std::env::var_os("IOSONDE_UPDATE").is_some() {
        fs::write(path, &text).unwrap();
    }
    let golden = fs::read_to_string(path).unwrap();
    let differs = golden.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(golden == text, "the help differs, first in {differs:?}; IOSONDE_UPDATE=1 accepts it");
}
