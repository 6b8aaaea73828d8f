//! The result in the forms that were asked for.

use std::fs::File;
use std::io::{self, Read as _};

use dialects::diskspd::profile::{Profile, ResultFormat};
use dialects::diskspd::result::RunResult;
use results::Measurement;

use super::flags::{Also, DiskspdFlags, Form};
use crate::exit::{Failure, print};
use crate::files::{claim, write_whole};
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
        for also in &flags.also {
            let text = self.text(also.form)?;
            write_whole(&also.file, text).map_err(|error| {
                Failure::CannotRun(format!("cannot write `{}`: {error}", also.file.display()))
            })?;
        }
        Ok(())
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

/// Only results are written over, and that a file can be written is found out before anything is measured.
pub(super) fn check(also: &[Also]) -> Result<(), Failure> {
    for Also { form, file } in also {
        let (kind, signs): (_, &[&str]) = match form {
            Form::Text => ("result of DiskSpd as text", &["Command Line: "]),
            Form::Xml => ("result of DiskSpd as XML", &["<Results>"]),
            Form::Json => ("measurement as JSON", &["\"iosonde."]),
        };
        let is_one = |file: File| {
            Ok::<bool, io::Error>({
                let mut beginning = Vec::new();
                file.take(4096).read_to_end(&mut beginning)?;
                let text = String::from_utf8_lossy(&beginning);
                signs.iter().any(|sign| text.contains(sign))
            })
        };
        claim(file, kind, is_one).map_err(|error| {
            Failure::NotUnderstood(format!("--also `{}`: {error}", file.display()))
        })?;
    }
    Ok(())
}
