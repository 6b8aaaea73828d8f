//! Reads a configuration: unknown keys are named with their place, values that break a rule are
//! refused.

use std::collections::HashMap;
use std::fmt;

use super::config::{Configuration, DataFile};
use super::keys::{SECTIONS, Section, Value};

/// Notes and complaints that are kept; more are counted.
const REMARKS_MAX: usize = 100;
/// More files than any configuration has.
const FILES_MAX: usize = 1024;
/// At most so many characters of a file are quoted.
const QUOTED_MAX: usize = 80;

/// A configuration that was read, with notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The settings; those that the file lacks have their defaults.
    pub config: Configuration,
    /// What in it has no meaning, each with its place.
    pub notes: Vec<String>,
}

/// Everything for which a configuration is refused, each with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaints(pub Vec<String>);

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Complaints {}

/// Reads a configuration. `name` is what it is called in remarks.
///
/// # Errors
/// Values that have no meaning, that are out of range, or that contradict each other.
pub fn read(name: &str, text: &str) -> Result<Reading, Complaints> {
    let mut reader = Reader {
        name,
        config: Configuration::default(),
        section: None,
        places: HashMap::new(),
        zeros: HashMap::new(),
        notes: Remarks::default(),
        wrong: Remarks::default(),
    };
    for (index, line) in text.lines().enumerate() {
        reader.line(index + 1, line);
    }
    reader.end()
}

/// Remarks, a bounded number of them.
#[derive(Default)]
struct Remarks {
    kept: Vec<String>,
    more: usize,
}

impl Remarks {
    fn add(&mut self, text: String) {
        if self.kept.len() < REMARKS_MAX {
            self.kept.push(text);
        } else {
            self.more += 1;
        }
    }

    fn all(mut self) -> Vec<String> {
        if self.more > 0 {
            self.kept.push(format!("… and {} more of this kind", self.more));
        }
        self.kept
    }
}

/// Line and column, counted from 1.
type Place = (usize, usize);

struct Reader<'a> {
    name: &'a str,
    config: Configuration,
    /// The one that keys belong to; `None` if they have no meaning.
    section: Option<Section>,
    /// Where each key is in the file, for messages.
    places: HashMap<(Section, &'static str), Place>,
    /// The text of a key that became 0 because of it.
    zeros: HashMap<(Section, &'static str), String>,
    notes: Remarks,
    wrong: Remarks,
}

impl Reader<'_> {
    fn note(&mut self, at: Place, text: &str) {
        let place = self.place(at);
        self.notes.add(format!("{place}{text}"));
    }

    fn complain(&mut self, at: Place, text: &str) {
        let place = self.place(at);
        self.wrong.add(format!("{place}{text}"));
    }

    fn place(&self, (line, column): Place) -> String {
        format!("`{}`, line {line}, column {column}: ", self.name)
    }

    fn line(&mut self, number: usize, raw: &str) {
        let line = raw.trim_matches(around);
        if line.is_empty() || line.starts_with(';') {
            return;
        }
        let at = (number, column(raw, line));
        if let Some(section) = line.strip_prefix('[') {
            match section.split_once(']') {
                Some((name, rest)) => {
                    self.begin(at, name.trim());
                    if !rest.trim().is_empty() {
                        let text = format!("`{}` after the section has no meaning", short(rest));
                        self.note(at, &text);
                    }
                }
                None => self.complain(at, &format!("`{}` lacks its `]`", short(line))),
            }
            return;
        }
        let Some((key, value)) = line.split_once('=') else {
            let text = format!(
                "`{}` is neither a [section] nor KEY=VALUE, and is left out; comments begin with \
                 `;`",
                short(line)
            );
            self.note(at, &text);
            return;
        };
        self.key(number, raw, key.trim(), value.trim());
    }

    fn begin(&mut self, at: Place, name: &str) {
        let known = SECTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        self.section = known.map(|(_, section)| *section).or_else(|| self.file(name));
        if self.section.is_none() {
            let text = format!(
                "there is no section [{}], and what it says is left out; there are [CONFIG], \
                 [File1] and so on, [RandomUser], [AuditUser], [ReadAheadUser], [BulkUpdateUser] \
                 and [ShrinkUser]",
                short(name)
            );
            self.note(at, &text);
        }
    }

    /// The section of `File1` and so on.
    fn file(&mut self, name: &str) -> Option<Section> {
        let (word, digits) = name.split_at_checked(4)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let number: u32 = digits.parse().ok().filter(|_| is_number)?;
        if !word.eq_ignore_ascii_case("file") {
            return None;
        }
        let files = &mut self.config.files;
        let found = files.iter().position(|file| file.number == number);
        if found.is_none() && files.len() >= FILES_MAX {
            return None;
        }
        Some(Section::File(found.unwrap_or_else(|| {
            files.push(DataFile { number, ..DataFile::default() });
            files.len() - 1
        })))
    }

    fn key(&mut self, number: usize, raw: &str, name: &str, value: &str) {
        let at = (number, column(raw, name));
        let Some(section) = self.section else {
            let text = format!("`{}` belongs to no section that is known", short(name));
            self.note(at, &text);
            return;
        };
        let title = self.config.name_of(section);
        let mut keys = self.config.keys(section);
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let found = keys.iter_mut().find(|key| is(key.name) || key.other.is_some_and(is));
        let Some(key) = found else {
            let text = format!("[{title}] has no key `{}`, and it is left out", short(name));
            self.note(at, &text);
            return;
        };
        let value_at = (number, column(raw, value));
        if let Some((line, _)) = self.places.get(&(section, key.name)).copied() {
            let text = format!("`{}` is in line {line} already, which counts", key.name);
            self.note(at, &text);
            return;
        }
        let set = set(&mut key.value, value);
        let known = key.name;
        self.places.insert((section, known), value_at);
        match set {
            Set::Done => {}
            Set::Zero => {
                let typed = not_whole(value);
                let text = format!("{typed}, so `{known}` is 0, as SQLIOSim takes it");
                self.zeros.insert((section, known), typed);
                self.note(value_at, &text);
            }
            Set::Neither => {
                let text = format!("`{known}` is `{}`; write TRUE or FALSE", short(value));
                self.complain(value_at, &text);
            }
        }
    }

    fn end(mut self) -> Result<Reading, Complaints> {
        for mut violation in self.config.violations() {
            let typed = self.zeros.get(&(violation.at, violation.key));
            if let Some((typed, rest)) = typed.zip(violation.rule.strip_prefix("0 is ")) {
                violation.rule = format!("{typed}, and counts as 0, which is {rest}");
            }
            let text = violation.to_string();
            match self.places.get(&(violation.at, violation.key)).copied() {
                Some(at) => self.complain(at, &text),
                None => self.wrong.add(format!("`{}`: {text}", self.name)),
            }
        }
        self.config.files.sort_by_key(|file| file.number);
        let wrong = self.wrong.all();
        if wrong.is_empty() {
            Ok(Reading { config: self.config, notes: self.notes.all() })
        } else {
            Err(Complaints(wrong))
        }
    }
}

/// What a value in the file became.
enum Set {
    Done,
    /// It is not a number, which counts as 0.
    Zero,
    /// It is neither true nor false.
    Neither,
}

fn set(value: &mut Value<'_>, text: &str) -> Set {
    let number = text.parse::<i64>();
    let done = if number.is_ok() { Set::Done } else { Set::Zero };
    match value {
        Value::Flag(flag) => {
            let is_true = text.eq_ignore_ascii_case("true");
            if !is_true && !text.eq_ignore_ascii_case("false") {
                return Set::Neither;
            }
            **flag = is_true;
            Set::Done
        }
        Value::Number(target) => {
            **target = number.unwrap_or(0);
            done
        }
        Value::Maybe(target) => {
            **target = Some(number.unwrap_or(0));
            done
        }
        Value::Text(target) => {
            bare(text).clone_into(target);
            Set::Done
        }
        Value::MaybeText(target) => {
            **target = Some(bare(text).to_owned());
            Set::Done
        }
    }
}

/// Why a text is 0 where a number is needed.
fn not_whole(text: &str) -> String {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_large = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let why = if is_large { "is too large a number" } else { "is not a whole number" };
    format!("`{}` {why}", short(text))
}

/// A text without the quotation marks around it.
fn bare(text: &str) -> &str {
    let without = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    without('"').or_else(|| without('\'')).unwrap_or(text)
}

/// Characters around a line that do not belong to it.
pub(super) fn around(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}' || c == '\0'
}

/// The column of a part of a line, in characters from 1.
fn column(line: &str, part: &str) -> usize {
    let byte = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    line.get(..byte).unwrap_or(line).chars().filter(|c| *c != '\u{feff}').count() + 1
}

/// A quotation from the file, cut to its limit.
fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
