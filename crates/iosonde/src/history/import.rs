//! `iosonde history import`: results from files, each file as a whole or not at all.

use std::fs::File;
use std::io::{self, BufReader, Seek as _};
use std::path::{Path, PathBuf};

use clap::Args;
use history::{ExchangeError, History, Imported};
use report::text::clean;
use workload::show_number;

use crate::exit::{Failure, Outcome, print};

/// `iosonde history import`
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Exports of `iosonde history export`, or results as `--json` prints them; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Runs the command. What came before a file that is refused stays.
pub(crate) fn import(args: &ImportArgs, history: &History) -> Result<Outcome, Failure> {
    for path in &args.files {
        let imported = open(path)
            .map_err(ExchangeError::Read)
            .and_then(|file| history.import(BufReader::new(file)));
        let imported = imported.map_err(|error| refused(path, &error))?;
        print(&format!("{}: {}\n", name(path), counts(imported)))?;
    }
    Ok(Outcome::Done)
}

fn name(path: &Path) -> String {
    if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file, or what came on stdin as one: the history must not be held while a pipe is waited for.
fn open(path: &Path) -> io::Result<File> {
    if !is_stdin(path) {
        return File::open(path);
    }
    let mut file = tempfile::tempfile()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    file.rewind()?;
    Ok(file)
}

fn refused(path: &Path, error: &ExchangeError) -> Failure {
    let name = name(path);
    // The message may quote the file.
    Failure::CannotRun(clean(&match error {
        ExchangeError::History(error) => format!("nothing of `{name}` was imported: {error}"),
        error => format!("`{name}`, {error}; nothing of it was imported"),
    }))
}

fn counts(imported: Imported) -> String {
    let Imported { new, completed, already_there } = imported;
    let results = |count: u64| {
        let word = if count == 1 { "result" } else { "results" };
        format!("{} {word}", show_number(count as f64))
    };
    let mut parts = vec![format!("{} imported", results(new))];
    if completed > 0 {
        parts.push(format!("{} completed", results(completed)));
    }
    if already_there > 0 {
        parts.push(format!("{} there already", results(already_there)));
    }
    parts.join(", ")
}
