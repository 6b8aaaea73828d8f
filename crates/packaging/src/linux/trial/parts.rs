//! A program without the parts that a build may leave out says what it lacks, and harms nothing.

use std::process::Command;

use super::{Bench, Outcome, holds};
use crate::linux::failure::{Failure, because, text};

/// The remedy in messages: where to get a complete program.
const REMEDY: &str = "Use a package, or the program that `./x build` makes";

/// A command line, what this program lacks for it, and the exit code.
const LACKS: [(&str, &str, i32); 10] = [
    ("report latest -o r.xlsx", "cannot write XLSX", 1),
    ("history export -o t.parquet", "cannot write Parquet", 1),
    ("report latest --charts charts", "cannot write PNG", 1),
    // Refused before anything is measured.
    ("run . -d 1 -s 1M --history postgres://me@db/x", "cannot keep a history in PostgreSQL", 1),
    ("monitor --all -d 1 --database postgres://me@db/x", "cannot connect to databases", 2),
    ("monitor --all -d 1 --metrics 127.0.0.1:0", "has no web server", 1),
    ("serve", "has no web server", 1),
    ("fleet init site --host db1", "cannot connect to NATS", 1),
    ("fleet run --site site --target /x", "cannot connect to NATS", 1),
    ("agent --join db1.creds", "cannot connect to NATS", 1),
];

/// Files that these commands would make.
const MADE: [&str; 5] = ["r.xlsx", "t.parquet", "charts", "iosonde.test", "site"];

/// Every part that is missing is named in a sentence, with where it is.
pub(super) fn are_named_where_they_are_missing(bench: &Bench) -> Result<Outcome, Failure> {
    if !bench.lacks_parts {
        return Ok(Outcome::Skipped("these programs have all parts".to_owned()));
    }
    let program = bench.unpacked(bench.host, "parts")?.join("iosonde");
    let place = bench.directory("parts-place")?;
    let run = |words: &str| {
        let mut command = Command::new(&program);
        command.args(words.split(' ')).current_dir(&place).env_clear();
        command.env("HOME", &place).env("PATH", "/usr/bin:/bin");
        command
    };
    text(&mut run("run --engine sim -d 1 --quiet"))?;
    for (words, what, code) in LACKS {
        refuses(&mut run(words), words, what, code)?;
    }
    if let Some(left) = MADE.iter().find(|name| place.join(name).exists()) {
        return Err(because(format!("{left} was made")));
    }
    // What a first measurement needs is there.
    text(&mut run("report latest -o r.html"))?;
    text(&mut run("history export -o t.csv"))?;
    Ok(Outcome::Passed)
}

/// Fails unless a command ends with this code and a sentence.
fn refuses(command: &mut Command, words: &str, what: &str, code: i32) -> Result<(), Failure> {
    let output = command.output().map_err(|error| because(format!("{words}: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    holds(words, &said, &format!("this build of iosonde {what}"))?;
    holds(words, &said, REMEDY)?;
    if output.status.code() == Some(code) {
        return Ok(());
    }
    Err(because(format!("{words}: {}", output.status)))
}
