//! fio's job files: what they say as workloads, and workloads as job files.
//!
//! [`read`] takes a file apart at its `stonewall`s: jobs between two of them run at the same time
//! and are one workload, each job a stream. [`write()`] writes a workload as jobs. Both name what
//! the other side has no word for.

mod directions;
mod group;
mod parse;
mod refuse;
mod sizes;
mod values;
mod write;

use std::path::Path;

use thiserror::Error;
use workload::Workload;

use super::kinds;

pub(crate) use directions::in_percent;
pub use write::{NoFileName, write};

/// What a job file may ask the machine for.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The value of an environment variable; `None` if it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The size of a file or device in bytes, of which a job may use a share; `None` if there is
    /// no such file.
    pub size_of: &'a dyn Fn(&Path) -> Option<u64>,
}

impl Environment<'static> {
    /// A machine without variables and files.
    pub const NOTHING: Self = Self { variable: &|_| None, size_of: &|_| None };
}

/// The jobs that run at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The names of the jobs that run together.
    pub jobs: Vec<String>,
    /// The workload that these jobs become together.
    pub workload: Workload,
    /// What they ask for that iosonde has no word for, each with its line and column.
    pub lost: Vec<String>,
}

/// A group of a job file, or why it cannot be run here.
pub type ReadGroup = Result<Group, JobFileError>;

/// Why a text is not a job file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JobFileError {
    /// The file has no section of a job.
    #[error("there is no job in it; a job begins with its name in brackets: `[name]`")]
    NoJob,
    /// It is a file of another program.
    #[error("this is not a fio job: {0}")]
    Foreign(String),
    /// The value of an option is not known.
    #[error("line {line}, column {column}: {what}")]
    Value {
        /// The number of the line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The option, and what to do.
        what: String,
    },
    /// An option changes the load, and iosonde cannot express it.
    #[error(
        "line {line}, column {column}: `{option}` changes the load in a way that iosonde cannot \
         express; {remedy}"
    )]
    Load {
        /// The number of the line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The option with its value.
        option: String,
        /// What to do instead.
        remedy: String,
    },
    /// A group of jobs makes no I/O on files or devices.
    #[error("line {line}: the job `{job}` {what}")]
    NoFiles {
        /// The number of the line, counted from 1.
        line: usize,
        /// The job that cannot be measured.
        job: String,
        /// What the job does instead of file I/O.
        what: String,
    },
    /// Jobs have more threads or files than anybody runs.
    #[error("line {line}, column {column}: the job `{job}` {what}")]
    TooMany {
        /// The number of the line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The job that asks for too much.
        job: String,
        /// How many, and how many may be.
        what: String,
    },
}

/// Whether a text looks like a job file.
#[must_use]
pub fn is_job_file(text: &str) -> bool {
    const OPTIONS: [&str; 9] = [
        "rw",
        "readwrite",
        "bs",
        "ioengine",
        "filename",
        "directory",
        "iodepth",
        "size",
        "runtime",
    ];
    // Names are looked at, and no values.
    let environment = Environment { variable: &|_| Some("0".to_owned()), ..Environment::NOTHING };
    let sections = parse::sections(text, environment);
    let known = |job: &parse::Job| OPTIONS.iter().any(|name| job.options.contains_key(*name));
    let is_toml = text.lines().any(|line| line.trim_start().starts_with("[["));
    !is_toml && sections.jobs.iter().any(known) && foreign(&sections.jobs).is_none()
}

/// At most so many lines that do not belong in a job file are named one by one.
const ODD_SHOWN: usize = 20;

/// The groups of a job file, in the order in which they run. Lines that do not belong in a job file
/// are lost in all of them. As in fio, `${NAME}` is the value of a variable of the environment; an
/// unset variable is an error.
///
/// # Errors
/// The text is not a job file. The error of a single group is its own: others can be run.
pub fn read(text: &str, environment: Environment<'_>) -> Result<Vec<ReadGroup>, JobFileError> {
    let parse::Sections { jobs, odd, wrong } = parse::sections(text, environment);
    if let Some(what) = foreign(&jobs) {
        return Err(JobFileError::Foreign(what));
    }
    if let Some((parse::Place { line, column }, what)) = wrong {
        return Err(JobFileError::Value { line, column, what });
    }
    let mut groups: Vec<Vec<parse::Job>> = Vec::new();
    for job in jobs {
        let alone = job.options.get("stonewall").is_some_and(|value| value != "0");
        match groups.last_mut() {
            Some(group) if !alone => group.push(job),
            _ => groups.push(vec![job]),
        }
    }
    if groups.is_empty() {
        return Err(JobFileError::NoJob);
    }
    let more = odd.len().saturating_sub(ODD_SHOWN);
    let mut odd: Vec<String> =
        odd.into_iter().take(ODD_SHOWN).map(|(place, what)| at(place, &what)).collect();
    if more > 0 {
        odd.push(format!("… and {more} more lines that do not belong in a job file"));
    }
    let mut files = 0;
    Ok(groups.iter().map(|jobs| group::group(jobs, &odd, environment, &mut files)).collect())
}

/// Why a file is not a job file: most names of its options are not fio's.
fn foreign(jobs: &[parse::Job]) -> Option<String> {
    let mut names: Vec<&str> =
        jobs.iter().flat_map(|job| job.options.keys()).map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let others: Vec<&str> =
        names.iter().copied().filter(|name| kinds::kind(name).is_none()).collect();
    let first = others.first().filter(|_| others.len() * 2 > names.len())?;
    let (others, all) = (others.len(), names.len());
    Some(format!("{others} of the {all} names in it are not options of fio, `{first}` for one"))
}

fn at(place: parse::Place, what: &str) -> String {
    format!("line {}, column {}: {what}", place.line, place.column)
}

#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod tests;
