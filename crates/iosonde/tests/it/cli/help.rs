//! The help of every command, in one file, so that a change of its words is seen in a review.

use std::fmt::Write as _;

use flags::EXAMPLES;

use crate::cli::program::{command, stdout, succeeds};
use crate::golden::assert_printed;

#[test]
fn the_help_of_every_command_is_as_in_the_golden_file() {
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
    assert_printed("help.txt", &text);
}
