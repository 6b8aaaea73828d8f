//! fio's terse output (`--minimal`), of versions 3 to 5: a line of fields for each job.
//!
//! It has neither the options of a job nor numbers of I/Os. Jobs are read into the same types as
//! those of the JSON.

use std::collections::BTreeMap;

use super::document::{Amount, Direction, Document, Job, Times};
use crate::foreign::{ForeignRuns, ReadError, fnv_1a};
use crate::identities::{Printed, PrintedFigures};

/// Fields before those of the reads.
const HEAD: usize = 5;
/// Percentiles of each direction, of which some may be absent (`0%=0`).
const PERCENTILES: usize = 20;
/// The remark on the number of I/Os.
const COUNTED: &str = "fio's terse output does not tell how many I/Os there were; their number \
                       follows from the rate, which is cut off, and the length";

/// The fields of a job.
struct Line<'a> {
    number: usize,
    fields: Vec<&'a str>,
    /// Fields of each direction: version 5 has more.
    width: usize,
    /// Version 3 has no trims.
    directions: usize,
}

impl<'a> Line<'a> {
    fn of(number: usize, text: &'a str) -> Option<Self> {
        let fields: Vec<&str> = text.trim().split(';').collect();
        let [version, program, _, _, _, ..] = fields.as_slice() else { return None };
        let (directions, width) = match *version {
            "3" => (2, 41),
            "4" => (3, 41),
            "5" => (3, 47),
            _ => return None,
        };
        program.starts_with("fio-").then_some(Self { number, fields, width, directions })
    }

    fn error(&self, what: String) -> ReadError {
        ReadError { line: self.number, column: 1, what }
    }

    fn field(&self, index: usize) -> Result<&'a str, ReadError> {
        let missing = || self.error(format!("the line ends after {} fields", self.fields.len()));
        self.fields.get(index).copied().ok_or_else(missing)
    }

    fn number(&self, index: usize) -> Result<f64, ReadError> {
        let text = self.field(index)?.trim_end_matches('%');
        let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        number.ok_or_else(|| self.error(format!("field {}, `{text}`, is not a number", index + 1)))
    }

    /// Least, largest, mean and deviation in microseconds.
    fn times(&self, at: usize, count: u64) -> Result<Times, ReadError> {
        let ns = |index| {
            let is_unknown = self.field(index)?.trim_start_matches('-').starts_with("nan");
            (!is_unknown).then(|| self.number(index).map(|us| Amount(us * 1e3))).transpose()
        };
        Ok(Times {
            min: ns(at)?,
            max: ns(at + 1)?,
            mean: ns(at + 2)?,
            stddev: ns(at + 3)?,
            count: Some(count),
            ..Times::default()
        })
    }

    fn direction(&self, which: usize) -> Result<Direction, ReadError> {
        let at = HEAD + which * self.width;
        let (kib, iops) = (self.number(at)?, self.number(at + 2)?);
        let (bw, ms) = (self.number(at + 1)?, self.number(at + 3)?);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let [io_bytes, total_ios, runtime] =
            [kib * 1024.0, iops * ms / 1e3, ms].map(|number| number.round() as u64);
        let percentile = |text: &str| {
            let (name, value) = text.split_once("%=")?;
            let (percent, us) = (name.parse::<f64>().ok()?, value.parse::<f64>().ok()?);
            (percent > 0.0 && us >= 0.0 && us.is_finite())
                .then(|| (name.to_owned(), Amount(us * 1e3)))
        };
        let named = self.fields.get(at + 12..at + 12 + PERCENTILES).unwrap_or_default();
        let percentiles: BTreeMap<String, Amount> =
            named.iter().filter_map(|text| percentile(text)).collect();
        let completion = self.times(at + 8, total_ios)?;
        Ok(Direction {
            io_bytes,
            total_ios,
            iops: Some(Amount(iops)),
            runtime,
            clat_ns: Some(Times { percentile: Some(percentiles), ..completion }),
            lat_ns: Some(self.times(at + 32, total_ios)?),
            printed: Some(PrintedFigures {
                bytes: Some(Printed::within(kib * 1024.0, 1024.0)),
                iops: Some(Printed::decimals(iops, 0)),
                mib_per_s: Some(Printed::within(bw / 1024.0, 1.0 / 1024.0)),
                ..PrintedFigures::default()
            }),
            ..Direction::default()
        })
    }

    fn job(&self) -> Result<Job, ReadError> {
        let cpu = HEAD + self.directions * self.width;
        let whole = |index| {
            let text = self.field(index)?;
            text.parse().map_err(|_| {
                self.error(format!("field {}, `{text}`, is not a whole number", index + 1))
            })
        };
        let trim = (self.directions > 2).then(|| self.direction(2)).transpose()?;
        Ok(Job {
            name: self.field(2)?.to_owned(),
            group: whole(3)?,
            error: whole(4)?,
            read: Some(self.direction(0)?),
            write: Some(self.direction(1)?),
            trim,
            counted: true,
            usr_cpu: Some(Amount(self.number(cpu)?)),
            sys_cpu: Some(Amount(self.number(cpu + 1)?)),
            ..Job::default()
        })
    }
}

/// Whether a text has results of fio as `--minimal` prints them.
pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(|line| Line::of(0, line).is_some())
}

/// Reads all jobs of a text.
pub(super) fn read(text: &str, file: &str, read: &str) -> Result<ForeignRuns, ReadError> {
    let mut found = ForeignRuns::default();
    for (index, text) in text.lines().enumerate() {
        let Some(line) = Line::of(index + 1, text) else { continue };
        let (number, job) = (line.number, line.job()?);
        if job.ios() == 0 {
            found.notes.push(format!("line {number}: the job `{}` did no I/O; left out", job.name));
            continue;
        }
        let document = Document::of_text(line.field(1)?);
        let place = format!("{:016x} terse", fnv_1a(text));
        let mut measurement = super::measurement(&document, &job, file, &place, read);
        measurement.checks.warnings.push(COUNTED.to_owned());
        found.measurements.push(measurement);
    }
    Ok(found)
}
