//! Figures from elsewhere, such as those of an array: a CSV with a column of times is laid on the
//! time axis of a recording.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use results::AttachedSeries;
use thiserror::Error;

use crate::foreign::ForeignError;
use crate::foreign::decimal::DecimalMark;
use crate::foreign::moments::{clock, day, in_zone};

/// Columns that are taken, at most.
const COLUMNS_MAX: usize = 64;

/// Why a file cannot be attached.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AttachError {
    /// The file has no rows under its heading.
    #[error("it has no rows: the first line names the columns, the others hold figures")]
    Empty,
    /// No column of the file holds times.
    #[error(
        "no column holds times. One column must have a time in each row: 2026-11-21T12:00:00Z \
         (RFC 3339), or seconds or milliseconds since 1970. Without a zone, it may be 2026-11-21 \
         12:00:00, 21.11.2026 12:00:00 or 11/21/2026 12:00:00, in the zone of this system"
    )]
    NoTime,
    /// No column of the file holds numbers.
    #[error("no column besides that of the times holds numbers")]
    NoFigures,
    /// A figure can be read in two ways.
    #[error(transparent)]
    Figure(#[from] ForeignError),
}

/// What a file holds: its columns, with the times in seconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached {
    columns: Vec<(String, Vec<(f64, f64)>)>,
}

impl Attached {
    /// Reads a CSV: separated by commas, semicolons or tabs; fields may be quoted.
    pub fn parse(text: &str) -> Result<Self, AttachError> {
        let text = text.trim_start_matches('\u{feff}');
        let first = text.lines().next().unwrap_or_default();
        let separator = [',', ';', '\t'].into_iter().max_by_key(|s| first.matches(*s).count());
        let mut rows = rows(text, separator.unwrap_or(','));
        if rows.len() < 2 {
            return Err(AttachError::Empty);
        }
        let heading = rows.remove(0);
        let cell =
            |row: &'_ Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
        // Date and time may have a column each.
        let places = [2, 1].into_iter().flat_map(|n| (0..heading.len()).map(move |at| at..at + n));
        let times = places.into_iter().find_map(|place| {
            let at = |row: &Vec<String>| moment(&row.get(place.clone())?.join(" "));
            let all: Option<Vec<f64>> = rows.iter().map(at).collect();
            Some((place, all?))
        });
        let (of_time, times) = times.ok_or(AttachError::NoTime)?;
        let others = |row: &Vec<String>| {
            let cells = row.iter().enumerate().filter(|(column, _)| !of_time.contains(column));
            cells.map(|(_, cell)| figure(cell).to_owned()).collect::<Vec<_>>()
        };
        let decimal = DecimalMark::of(rows.iter().flat_map(others), std::iter::empty())?;
        let mut columns = Vec::new();
        for (column, name) in
            heading.iter().enumerate().filter(|(column, _)| !of_time.contains(column))
        {
            // A cell of words is none of the figures.
            let figures = rows.iter().zip(&times).filter_map(|(row, time)| {
                let cell = cell(row, column);
                let (sign, cell) = match figure(&cell).strip_prefix('-') {
                    Some(rest) => (-1.0, rest),
                    None => (1.0, figure(&cell)),
                };
                Some((*time, sign * decimal.number(cell)?))
            });
            let mut figures: Vec<(f64, f64)> = figures.collect();
            figures.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !figures.is_empty() && columns.len() < COLUMNS_MAX {
                columns.push((name.trim().to_owned(), figures));
            }
        }
        if columns.is_empty() { Err(AttachError::NoFigures) } else { Ok(Self { columns }) }
    }

    /// The figures within a recording of so many seconds that began then, and how many are outside.
    #[must_use]
    pub fn on_axis(&self, file: &str, began: f64, seconds: f64) -> (Vec<AttachedSeries>, usize) {
        let mut outside = 0;
        let mut all = Vec::new();
        for (name, figures) in &self.columns {
            let on_axis = figures.iter().map(|(time, figure)| (time - began, *figure));
            let (inside, others): (Vec<_>, Vec<_>) =
                on_axis.partition(|(t, _)| (-1.0..=seconds + 1.0).contains(t));
            outside += others.len();
            if !inside.is_empty() {
                let (file, name) = (file.to_owned(), name.clone());
                all.push(AttachedSeries { file, name, points: inside });
            }
        }
        (all, outside)
    }
}

/// The fields of each row (RFC 4180); empty rows are left out.
fn rows(text: &str, separator: char) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                field.push('"');
                characters.next();
            }
            '"' if quoted || field.is_empty() => quoted = !quoted,
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted && characters.peek() == Some(&'\n') => {}
            c if c == separator && !quoted => row.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    row.push(field);
    rows.push(row);
    rows.retain(|row| row.iter().any(|field| !field.trim().is_empty()));
    rows
}

/// A figure without its percent sign.
fn figure(cell: &str) -> &str {
    cell.trim().trim_end_matches('%').trim_end()
}

/// Seconds since 1970 of a written moment.
fn moment(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // From 2001 on, in seconds, milliseconds or microseconds.
        return match number {
            n if (1e9..1e11).contains(&n) => Some(n),
            n if (1e12..1e14).contains(&n) => Some(n / 1e3),
            n if (1e15..1e17).contains(&n) => Some(n / 1e6),
            _ => None,
        };
    }
    let seconds = |moment: Timestamp| moment.as_duration().as_secs_f64();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(seconds(moment));
    }
    let here = text.replace('/', "-").parse::<DateTime>().ok().or_else(|| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (date, rest) = words.split_first()?;
        let (time, _, used) = clock(rest)?;
        Some(day(date, true).filter(|_| used == rest.len())?.to_datetime(time))
    });
    in_zone(here?, &TimeZone::system())
}
