//! What refuses a job, and what is a note: the table of options ([`kinds`]) decides.

use workload::Stream;

use super::parse::{Job, Place};
use super::{JobFileError, at};
use crate::fio::kinds::{self, OptionKind};
use crate::fio::options::Reader;
use crate::fio::verification::Verification;

/// Refuses pauses and flushes where iosonde has none.
pub(super) fn without_paces(job: &Job, stream: &Stream) -> Result<(), JobFileError> {
    let sync = ["fsync", "fdatasync"].into_iter().find(|name| job.options.contains_key(*name));
    let (option, remedy) = match (&stream.mix, &stream.pool) {
        (Some(_), _) if stream.think.is_some() => {
            ("thinktime", "give reads and writes the same sizes")
        }
        (Some(_), _) if stream.sync.is_some() => {
            (sync.unwrap_or("fsync"), "give reads and writes the same sizes")
        }
        (_, Some(_)) if stream.sync.is_some() => (sync.unwrap_or("fsync"), "give the job one file"),
        _ => return Ok(()),
    };
    let value = job.options.get(option).map_or("", String::as_str);
    Err(changes_the_load(job, option, &format!("{option}={value}"), remedy))
}

fn changes_the_load(job: &Job, name: &str, option: &str, remedy: &str) -> JobFileError {
    let Place { line, column } = job.places.get(name).copied().unwrap_or(job.place);
    JobFileError::Load { line, column, option: option.to_owned(), remedy: remedy.to_owned() }
}

/// A value that cannot be read must not become the default.
pub(super) fn check_values(job: &Job, reader: &Reader) -> Result<(), JobFileError> {
    let Some((name, value)) = reader.unreadable().first() else { return Ok(()) };
    let Place { line, column } = job.places.get(name).copied().unwrap_or(job.place);
    let remedy = match name.as_str() {
        "rw" => "write `read`, `write`, `randread`, `randwrite`, `rw` or `randrw`",
        _ => "write a number, with its unit where fio takes one",
    };
    let what = format!("`{name}={value}` cannot be read; {remedy}");
    Err(JobFileError::Value { line, column, what })
}

/// Options of a job that iosonde cannot express, each with its place. One that changes the load
/// refuses the job.
pub(super) fn losses(
    job: &Job,
    reader: Reader,
    notes: Vec<(&str, String)>,
    writes: bool,
) -> Result<Vec<String>, JobFileError> {
    use OptionKind::{Expressed, Load, Note, Silent, Writes};
    let place = |name: &str| job.places.get(name).copied().unwrap_or(job.place);
    let odd: Vec<String> = reader.without_meaning().iter().map(|(_, text)| text.clone()).collect();
    let is_verified = Verification::of(&job.options) != Verification::Never;
    let mut left = Vec::new();
    for (name, text) in reader.left_over() {
        let kind = kinds::kind(&name);
        let refuses = match kind {
            Some(Load) => true,
            Some(Writes) => writes && (is_verified || !name.starts_with("verify")),
            // Without a wrong value, the option has no effect in this job.
            Some(Expressed) => odd.contains(&text),
            Some(Note | Silent) | None => false,
        };
        if refuses {
            return Err(changes_the_load(job, &name, &text, kinds::remedy(&name)));
        }
        if matches!(kind, Some(Note) | None) || name == "verify" {
            left.push((name, text));
        }
    }
    let left = left.into_iter();
    let left = left.map(|(name, text)| (place(&name), format!("`{text}` has no word here")));
    let notes = notes.into_iter().map(|(name, text)| (place(name), text));
    let mut all: Vec<(Place, String)> = left.chain(notes).collect();
    all.sort();
    Ok(all.into_iter().map(|(place, what)| at(place, &what)).collect())
}
