//! The result in the forms that were asked for.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use dialects::diskspd::profile::{Profile, ResultFormat};
use dialects::diskspd::result::RunResult;
use results::Measurement;
use workload::Target;

use super::flags::{DiskspdFlags, Form};
use crate::exit::{Failure, print};
use crate::files::{create_beside, takes_files, write_whole};
use crate::run::json;

/// What there is to write.
pub(super) struct Output<'a> {
    pub profile: &'a Profile,
    pub result: &'a RunResult,
    pub measurements: &'a [Measurement],
}

impl Output<'_> {
    /// Writes the result everywhere.
    pub(super) fn write(&self, flags: &DiskspdFlags) -> Result<(), Failure> {
        let form = match self.profile.result_format {
            _ if flags.json => Form::Json,
            ResultFormat::Text => Form::Text,
            ResultFormat::Xml => Form::Xml,
        };
        print(&self.text(form)?)?;
        let mut wrong = Vec::new();
        for also in &flags.also {
            let text = self.text(also.form)?;
            if let Err(error) = put(&also.file, &text, flags) {
                wrong.push(format!("cannot write `{}`: {error}", also.file.display()));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Failure::CannotRun(wrong.join("\n"))) }
    }

    fn text(&self, form: Form) -> Result<String, Failure> {
        match (form, self.measurements) {
            (Form::Text, _) => Ok(self.result.to_text(self.profile)),
            (Form::Xml, _) => Ok(self.result.to_xml(self.profile)),
            // One measurement is a document of its own.
            (Form::Json, [measurement]) => json(measurement),
            (Form::Json, measurements) => json(&measurements),
        }
    }
}

/// The files of `--also`, as `--destroy` may name them.
pub(super) fn places(flags: &DiskspdFlags) -> Vec<Target> {
    let place = |file: &Path| Target { path: file.to_owned(), size_bytes: None };
    flags.also.iter().map(|also| place(&also.file)).collect()
}

/// That each file can be written is found out before anything is measured. Nothing that was there
/// is replaced unasked.
pub(super) fn check(flags: &DiskspdFlags, targets: &[Target]) -> Result<(), Failure> {
    let mut earlier: Vec<&Path> = Vec::new();
    for also in &flags.also {
        let file = also.file.as_path();
        let checked = if earlier.contains(&file) || targets.iter().any(|t| t.path == file) {
            Err(io::Error::other("it is named for something else, too; name another"))
        } else {
            may_write(file, flags)
                .and_then(|()| if flags.dry_run { Ok(()) } else { takes_files(file) })
        };
        checked.map_err(|error| {
            Failure::NotUnderstood(format!("--also `{}`: {error}", file.display()))
        })?;
        earlier.push(file);
    }
    Ok(())
}

/// Only what is not there yet, is empty, or is named by `--destroy` is written to.
fn may_write(file: &Path, flags: &DiskspdFlags) -> io::Result<()> {
    let place = [Target { path: file.to_owned(), size_bytes: None }];
    match fs::metadata(file) {
        Ok(found) if !found.is_file() => {
            Err(io::Error::other("it is no ordinary file; name another"))
        }
        Ok(found) if found.len() > 0 && flags.place.permissions(&place).destroy.is_empty() => {
            Err(io::Error::other(format!(
                "it is there already; name another, or let it be replaced with `--destroy {}`",
                file.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Writes a result. What came into its place since it was checked is left, and the result goes
/// beside it.
fn put(file: &Path, text: &str, flags: &DiskspdFlags) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(file) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {
            if let Err(error) = may_write(file, flags) {
                let (beside, mut new) = create_beside(file, "new")?;
                new.write_all(text.as_bytes())?;
                let beside = beside.display();
                return Err(io::Error::other(format!("{error}; the result is in `{beside}`")));
            }
        }
        Ok(_) => {}
    }
    write_whole(file, text)
}
