//! The section `ACCESS SPECIFICATIONS`, and the bare rows of versions before 1998.05.21.

use super::super::config::{AccessSpec, Assignment, ROWS_MAX, Row, SIZE_BYTES_MAX};
use super::super::lines::Line;
use super::super::write::{plain, plain_name};
use super::Reader;

/// An access specification whose end has not come.
pub(super) struct Open {
    name: String,
    assignment: Assignment,
    line: usize,
    rows: Vec<Row>,
    /// Whether it cannot be used, because a row is wrong.
    wrong: bool,
    /// It has no name of its own: a version before 1998.05.21 wrote it.
    is_old: bool,
}

impl Open {
    fn percent(&self) -> u32 {
        self.rows.iter().map(|r| u32::from(r.percent)).sum()
    }
}

impl Reader<'_> {
    /// The name of the next access specification.
    pub(super) fn spec_header(&mut self, header: usize) {
        self.found = true;
        self.close_spec();
        let Some(line) = self.line_value() else {
            self.note(header, "the access specification has no name; it is left out");
            return;
        };
        let (name, assignment) = self.spec_name(line);
        let wrong = name.is_empty();
        if wrong {
            self.note(line.number, "the access specification has no name; it is left out");
        }
        let rows = Vec::new();
        self.spec = Some(Open { name, assignment, line: line.number, rows, wrong, is_old: false });
    }

    fn spec_name(&mut self, line: Line<'_>) -> (String, Assignment) {
        let Some((name, word)) = line.text.rsplit_once(',') else {
            let text =
                format!("`{}` does not say which workers get it; none do by themselves", line.text);
            self.note(line.number, text);
            return (plain(line.text), Assignment::None);
        };
        if name.contains(',') {
            let text = format!(
                "the name `{name}` has a comma, at which IOMeter cuts it off; it is read as `-`"
            );
            self.note(line.number, text);
        }
        let assignment = Assignment::from_word(word).unwrap_or_else(|| {
            let text =
                format!("`{}` is not one of NONE, ALL, DISK, NET; NONE is taken", word.trim());
            self.note(line.number, text);
            Assignment::None
        });
        (plain_name(name), assignment)
    }

    /// Reads one row of a mix.
    pub(super) fn row(&mut self, line: Line<'_>) {
        if self.spec.is_none() {
            self.spec = Some(Open {
                name: String::new(),
                assignment: Assignment::All,
                line: line.number,
                rows: Vec::new(),
                wrong: false,
                is_old: true,
            });
        }
        let is_old = self.spec.as_ref().is_some_and(|s| s.is_old);
        let row = self.read_row(line, is_old);
        let empty = row.is_some_and(|r| r.percent == 0);
        if empty {
            self.empty_rows.push(line.number);
        }
        let Some(spec) = &mut self.spec else { return };
        match row {
            None => spec.wrong = true,
            Some(row) if row.percent > 0 => {
                if spec.rows.len() < ROWS_MAX {
                    spec.rows.push(row);
                } else {
                    spec.wrong = true;
                    self.note(
                        line.number,
                        format!("an access specification has no more than {ROWS_MAX} rows"),
                    );
                }
            }
            Some(_) => {}
        }
        // Nothing but the sum parts the old ones from one another.
        if self.spec.as_ref().is_some_and(|s| s.is_old && (s.percent() >= 100 || s.wrong)) {
            self.close_spec();
        }
    }

    /// The access specification is over, and is kept where it is sound.
    pub(super) fn close_spec(&mut self) {
        let Some(mut spec) = self.spec.take() else { return };
        let percent = spec.percent();
        if !spec.wrong && percent != 100 {
            let text = format!("its rows sum to {percent} %, not to 100; IOMeter refuses it");
            self.note(spec.line, text);
            spec.wrong = true;
        }
        if spec.is_old && !spec.wrong {
            spec.name = self.invented(&spec.rows);
        }
        if spec.wrong {
            let which = if spec.is_old { String::new() } else { format!(" `{}`", spec.name) };
            self.note(spec.line, format!("the access specification{which} is left out"));
            return;
        }
        let found = AccessSpec { name: spec.name, assignment: spec.assignment, rows: spec.rows };
        let key = found.name.to_ascii_lowercase();
        let before = self.spec_places.get(&key).copied();
        let index = before.map_or(self.config.specs.len(), |(_, index)| index);
        self.spec_places.insert(key, (spec.line, index));
        match (self.config.specs.get_mut(index), before) {
            (Some(old), Some((line, _))) => {
                let text = format!(
                    "`{}` takes the place of the one of this name in line {line}",
                    found.name
                );
                *old = found;
                self.note(spec.line, text);
            }
            _ => self.config.specs.push(found),
        }
    }

    /// One line for all rows of 0 %: whole collections of files have one in each access
    /// specification.
    pub(super) fn note_empty_rows(&mut self) {
        let Some((first, others)) = self.empty_rows.split_first() else { return };
        let (first, others) = (*first, others.len());
        let text = match others {
            0 => "a row of 0 % is left out".to_owned(),
            others => format!("a row of 0 % is left out, and so are {others} others below"),
        };
        self.note(first, text);
    }

    /// The name that IOMeter gives to what has none.
    fn invented(&mut self, rows: &[Row]) -> String {
        let [row] = rows else { return self.numbered("Untitled", 1) };
        let size = match row.size_bytes {
            512 => "512 B".to_owned(),
            0x10_0000 => "1 MiB".to_owned(),
            bytes => format!("{} KiB", bytes / 1024),
        };
        let order = match row.random_percent {
            0 => "sequential".to_owned(),
            100 => "random".to_owned(),
            percent => format!("{percent}% random"),
        };
        let direction = match row.read_percent {
            0 => "writes".to_owned(),
            100 => "reads".to_owned(),
            percent => format!("{percent}% reads"),
        };
        let name = format!("{size} {order} {direction}");
        if self.is_free(&name) { name } else { self.numbered(&name, 2) }
    }

    fn is_free(&self, name: &str) -> bool {
        !self.spec_places.contains_key(&name.to_ascii_lowercase())
    }

    /// The name with the next number from this one on. The search continues where the last one
    /// ended, so that thousands of rows take no longer than their number.
    fn numbered(&mut self, name: &str, first: usize) -> String {
        let mut number = self.numbers.get(name).copied().unwrap_or(first);
        let mut numbered = format!("{name} {number}");
        while !self.is_free(&numbered) {
            number += 1;
            numbered = format!("{name} {number}");
        }
        self.numbers.insert(name.to_owned(), number + 1);
        numbered
    }

    fn read_row(&mut self, line: Line<'_>, is_old: bool) -> Option<Row> {
        let mut fields: Vec<&str> = if is_old && !line.text.contains(',') {
            line.text.split_whitespace().collect()
        } else {
            line.text.split(',').map(str::trim).collect()
        };
        if fields.len() == 9 && fields.last().is_some_and(|f| f.is_empty()) {
            fields.pop();
        }
        if !(6..=8).contains(&fields.len()) {
            self.note(line.number, format!("`{}` is not a row of 8 numbers", line.text));
            return None;
        }
        if fields.len() < 8 && !is_old {
            self.note(line.number, "the row has less than 8 numbers; those that are missing are 0");
        }
        let mut numbers = [0u32; 8];
        for (number, field) in numbers.iter_mut().zip(fields) {
            *number = self.row_number(line, field)?;
        }
        self.checked(line, numbers)
    }

    /// IOMeter reads the digits before anything else, or 0 without digits: `4K` is 4.
    fn row_number(&mut self, line: Line<'_>, field: &str) -> Option<u32> {
        if field.is_empty() {
            self.note(line.number, "an empty field is 0");
            return Some(0);
        }
        if let Ok(number) = field.parse() {
            return Some(number);
        }
        let digits = field.len() - field.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let iometer = field.get(..digits).filter(|d| !d.is_empty()).unwrap_or("0");
        let text = format!(
            "`{field}` is not a whole number; IOMeter takes it for {iometer}. Write out what is \
             meant, in bytes where it is a size"
        );
        self.note(line.number, text);
        None
    }

    fn checked(&mut self, line: Line<'_>, numbers: [u32; 8]) -> Option<Row> {
        let [size_bytes, percent, reads, random, delay_ms, burst, align_bytes, reply_bytes] =
            numbers;
        let wrong = if percent.max(reads).max(random) > 100 {
            Some("a percent above 100".to_owned())
        } else if percent > 0 && size_bytes == 0 || size_bytes.max(reply_bytes) > SIZE_BYTES_MAX {
            Some(format!("a size that is not 1 to {SIZE_BYTES_MAX} bytes"))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            self.note(line.number, format!("the row `{}` has {wrong}", line.text));
            return None;
        }
        if percent > 0 && burst == 0 {
            self.note(line.number, "a burst of 0 I/Os is one of 1");
        }
        let share = |percent: u32| u8::try_from(percent).unwrap_or(100);
        Some(Row {
            size_bytes,
            percent: share(percent),
            read_percent: share(reads),
            random_percent: share(random),
            delay_ms,
            burst_ios: burst.max(1),
            align_bytes,
            reply_bytes,
        })
    }
}
