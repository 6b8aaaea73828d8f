//! Reads a result file of any version, by the names of its columns.

use super::super::config::{AccessSpec, Assignment, Row};
use super::super::read::{Note, Version};
use super::{Column, End, Number, ResultFile, ResultRow, ResultRun, RowKind, Session};

const NOTES_MAX: usize = 1000;

/// All sessions of a text, and what of it is left out.
#[must_use]
pub fn read(text: &str) -> (ResultFile, Vec<Note>) {
    let mut reader = Reader::default();
    let mut lines = text.split_inclusive('\n').enumerate();
    while let Some((index, raw)) = lines.next() {
        let line = trimmed(raw);
        let is_cut = !raw.ends_with('\n');
        // A spreadsheet makes all lines as long as the longest.
        let lower = unpadded(line).to_ascii_lowercase();
        if lower.starts_with("'test type") {
            reader.session(lines.next().map_or("", |(_, l)| unpadded(l)));
        } else if lower == "'version" {
            let version = lines.next().and_then(|(_, l)| Version::from_text(unpadded(l)));
            reader.here().version = version;
        } else if lower == "'time stamp" {
            reader.stamp(lines.next().map_or("", |(_, l)| unpadded(l)));
        } else {
            reader.line(index + 1, line, &lower, is_cut);
        }
    }
    reader.close_run();
    reader.close_session();
    (ResultFile { sessions: reader.sessions }, reader.notes)
}

fn trimmed(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// A line without the commas that a spreadsheet adds.
fn unpadded(line: &str) -> &str {
    trimmed(trimmed(line).trim_end_matches(','))
}

/// What a field of a row is.
#[derive(Debug, Clone, Copy)]
enum Field {
    Stamp,
    Kind,
    Name,
    Spec,
    Figure(Column),
    Unknown,
}

#[derive(Default)]
struct Reader {
    sessions: Vec<Session>,
    session: Option<Session>,
    run: Option<ResultRun>,
    /// Access specifications that precede the next run.
    specs: Option<Vec<AccessSpec>>,
    fields: Vec<Field>,
    notes: Vec<Note>,
    stray: bool,
}

impl Reader {
    fn note(&mut self, line: usize, text: String) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(Note { line, text });
        }
    }

    fn here(&mut self) -> &mut Session {
        self.session.get_or_insert_default()
    }

    /// A session begins with its type and what it is called, which may have commas.
    fn session(&mut self, line: &str) {
        self.close_run();
        self.close_session();
        let (test_type, description) = line.split_once(',').unwrap_or((line, ""));
        self.session = Some(Session {
            test_type: test_type.trim().parse().ok(),
            description: description.trim().to_owned(),
            ..Session::default()
        });
    }

    fn close_session(&mut self) {
        self.sessions.extend(self.session.take());
        self.fields.clear();
        self.specs = None;
        self.stray = false;
    }

    fn close_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.here().runs.push(run);
        }
    }

    /// The start of a session, or the end of a run.
    fn stamp(&mut self, stamp: &str) {
        if let Some(run) = &mut self.run {
            stamp.clone_into(&mut run.ended);
            self.close_run();
            return;
        }
        let session = self.here();
        if session.runs.is_empty() {
            stamp.clone_into(&mut session.started);
        }
    }

    fn line(&mut self, number: usize, line: &str, lower: &str, is_cut: bool) {
        match lower {
            "" | "'end access specifications" => {}
            "'end test" => self.end(End::Whole),
            "aborted test" => self.end(End::Aborted),
            "'access specifications" => {
                self.close_run();
                self.specs = Some(Vec::new());
            }
            "'results" => self.begin_run(),
            _ if is_header(lower) => self.header(line),
            _ if line.starts_with('\'') => {}
            _ if self.run.is_some() && !self.fields.is_empty() => self.row(number, line, is_cut),
            _ if self.run.is_none() && self.specs.is_some() => self.spec(number, line),
            _ => self.unknown(number, line),
        }
    }

    fn unknown(&mut self, number: usize, line: &str) {
        if !self.stray {
            self.stray = true;
            let shown: String = line.chars().take(60).collect();
            self.note(number, format!("`{shown}` belongs to no run; it is left out"));
        }
    }

    fn end(&mut self, end: End) {
        self.close_run();
        self.here().end = end;
    }

    fn begin_run(&mut self) {
        self.close_run();
        self.run = Some(ResultRun { specs: self.specs.take(), ..ResultRun::default() });
        self.fields.clear();
    }

    fn header(&mut self, line: &str) {
        // IOMeter writes `'Results` first.
        if self.run.as_ref().is_none_or(|r| !r.rows.is_empty()) {
            self.begin_run();
        }
        let plain = |title: &str| title.trim().trim_start_matches('\'').to_ascii_lowercase();
        let field = |title: &str| match plain(title).as_str() {
            "timestamp" => Field::Stamp,
            "target type" => Field::Kind,
            "target name" => Field::Name,
            "access specification name" => Field::Spec,
            _ => Column::from_title(title).map_or(Field::Unknown, Field::Figure),
        };
        self.fields = line.split(',').map(field).collect();
        let is_instantaneous = self.fields.iter().any(|f| matches!(f, Field::Stamp));
        if let Some(run) = &mut self.run {
            run.is_instantaneous = is_instantaneous;
        }
    }

    fn row(&mut self, number: usize, line: &str, is_cut: bool) {
        let mut values: Vec<&str> = line.split(',').collect();
        if is_cut {
            // What the text ends with may have lost digits.
            values.pop();
            self.note(number, "the text ends within the row".to_owned());
        }
        let mut row = ResultRow::new(RowKind::All, "", "");
        let (mut kind, mut wrong) = (None, 0);
        for (field, value) in self.fields.iter().zip(values) {
            let value = value.trim();
            match field {
                Field::Stamp => row.stamp = Some(value.to_owned()),
                Field::Kind => kind = RowKind::from_word(value),
                Field::Name => value.clone_into(&mut row.name),
                Field::Spec => value.clone_into(&mut row.spec),
                Field::Unknown => {}
                Field::Figure(_) if value.is_empty() => {}
                Field::Figure(column) => match figure(value) {
                    Some(number) => drop(row.cells.insert(*column, number)),
                    None => wrong += 1,
                },
            }
        }
        let Some(kind) = kind else { return self.unknown(number, line) };
        row.kind = kind;
        if wrong > 0 {
            self.note(number, format!("{wrong} values are not numbers; they are left out"));
        }
        if let Some(run) = &mut self.run {
            run.rows.push(row);
        }
    }

    /// The name of an access specification, or one of its rows: 8 numbers.
    fn spec(&mut self, number: usize, line: &str) {
        let fields: Vec<&str> = line.trim_end_matches(',').split(',').map(str::trim).collect();
        let numbers: Option<Vec<u32>> = fields.iter().map(|f| f.parse().ok()).collect();
        let numbers = numbers.filter(|n| n.len() == 8);
        let last = self.specs.as_mut().and_then(|specs| specs.last_mut());
        match (numbers.as_deref().map(row_of), last) {
            (Some(Some(row)), Some(spec)) => spec.rows.push(row),
            (Some(_), _) => self.unknown(number, line),
            (None, _) => {
                let line = unpadded(line);
                let (name, assignment) = line.rsplit_once(',').unwrap_or((line, ""));
                let assignment = Assignment::from_word(assignment).unwrap_or(Assignment::None);
                let (name, rows) = (name.trim().to_owned(), Vec::new());
                self.specs.get_or_insert_default().push(AccessSpec { name, assignment, rows });
            }
        }
    }
}

/// The columns of results. Those of each moment have `TimeStamp,'Target Type`, as IOMeter writes
/// it: the mark of a header is before its second word.
fn is_header(lower: &str) -> bool {
    let marks = ["'target type,", "'timestamp,", "timestamp,'target type,"];
    marks.iter().any(|mark| lower.starts_with(mark))
}

fn row_of(numbers: &[u32]) -> Option<Row> {
    let percent = |index: usize| u8::try_from(*numbers.get(index)?).ok().filter(|p| *p <= 100);
    let number = |index: usize| numbers.get(index).copied();
    Some(Row {
        size_bytes: number(0)?,
        percent: percent(1)?,
        read_percent: percent(2)?,
        random_percent: percent(3)?,
        delay_ms: number(4)?,
        burst_ios: number(5)?,
        align_bytes: number(6)?,
        reply_bytes: number(7)?,
    })
}

fn figure(text: &str) -> Option<Number> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Number::Whole(i128::from(whole)));
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(Number::Whole(i128::from(whole)));
    }
    text.parse().ok().filter(|n: &f64| n.is_finite() && n.abs() < 1e18).map(Number::Figure)
}
