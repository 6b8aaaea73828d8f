//! Reads a configuration of any version, even an edited one: sound parts are taken, others are
//! named with their lines.

mod managers;
mod setup;
mod specs;

use std::collections::{HashMap, HashSet};
use std::fmt;

use thiserror::Error;

use super::config::Config;
use super::lines::{Block, Header, Line, Section, lines};
use crate::text;

/// A longer file is not a configuration.
const BYTES_MAX: usize = 16 << 20;
const NOTES_MAX: usize = 1000;

/// The content of a file, and notes on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The sound parts of the file.
    pub config: Config,
    /// The version of IOMeter that the file names.
    pub version: Option<Version>,
    /// The other parts, in the order of the lines.
    pub notes: Vec<Note>,
}

/// Something about a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// From 1; 0 where it is about the whole file.
    pub line: usize,
    /// What is odd about it, in words.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.text)
        } else {
            write!(f, "line {}: {}", self.line, self.text)
        }
    }
}

/// A version of IOMeter: `1.1.0`, or a date such as `2006.07.27`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// A number that grows with time: every date comes before 1.1.0.
    #[must_use]
    pub fn order(self) -> u64 {
        let [a, b, c] = [self.0, self.1, self.2].map(u64::from);
        if (a, b, c) == (3, 26, 97) {
            // The file of an example that came with the version of that date.
            return OLDEST.order();
        }
        if a > 1900 { a * 10_000 + b * 100 + c } else { a * 10_000_000_000 + b * 100_000 + c }
    }

    /// Reads the three numbers after `Version`.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let rest = text.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mut parts = rest.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().ok());
        Some(Self(parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(a, b, c) = self;
        if *a > 1900 { write!(f, "{a}.{b:02}.{c:02}") } else { write!(f, "{a}.{b}.{c}") }
    }
}

/// The first version whose files IOMeter loads without complaint.
const OLDEST: Version = Version(1998, 1, 5);

/// Why a file is not a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// The file has no part of a configuration.
    #[error(
        "it has no part of an IOMeter configuration, such as `'TEST SETUP` or `'ACCESS \
         SPECIFICATIONS`"
    )]
    Nothing,
    /// The file is longer than any configuration.
    #[error("it has more than {BYTES_MAX} bytes, which no IOMeter configuration has")]
    Long,
}

/// Reads an `.icf` file of any version.
pub fn read(bytes: &[u8]) -> Result<Read, ConfigError> {
    if bytes.len() > BYTES_MAX {
        return Err(ConfigError::Long);
    }
    let text = text::decode(bytes);
    let (lines, long) = lines(&text);
    let mut reader = Reader::new(lines);
    for line in long {
        reader.note(line, "the line is too long for IOMeter and is left out");
    }
    reader.all();
    reader.finish()
}

/// What was read so far, and the place in the file.
struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
    config: Config,
    version: Option<Version>,
    notes: Vec<Note>,
    /// The section that has not ended, and its line.
    section: Option<(Section, usize)>,
    /// Blocks of the list of managers that have not ended, and their lines.
    blocks: Vec<(Block, usize)>,
    spec: Option<specs::Open>,
    /// Lines of rows of 0 %.
    empty_rows: Vec<usize>,
    /// Lines and indexes of the access specifications by their names in small letters.
    spec_places: HashMap<String, (usize, usize)>,
    /// The number that the next specification gets which has this name and no other.
    numbers: HashMap<String, usize>,
    /// Names that workers are to run, with manager, worker and line.
    assigned: Vec<(usize, usize, String, usize)>,
    /// Workers that have a list of what they run.
    has_list: HashSet<(usize, usize)>,
    found: bool,
    /// The last line that belongs to nothing was noted in this section.
    stray: bool,
}

impl<'a> Reader<'a> {
    fn new(lines: Vec<Line<'a>>) -> Self {
        Self {
            lines,
            at: 0,
            config: Config::default(),
            version: None,
            notes: Vec::new(),
            section: None,
            blocks: Vec::new(),
            spec: None,
            empty_rows: Vec::new(),
            spec_places: HashMap::new(),
            numbers: HashMap::new(),
            assigned: Vec::new(),
            has_list: HashSet::new(),
            found: false,
            stray: false,
        }
    }

    fn note(&mut self, line: usize, text: impl Into<String>) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(Note { line, text: text.into() });
        }
    }

    fn all(&mut self) {
        while let Some(line) = self.lines.get(self.at).copied() {
            self.at += 1;
            if self.is_display(line) {
                self.config.display.push(line.raw.trim_end().to_owned());
                continue;
            }
            match line.header {
                Some(header) => self.header(line, header),
                None if line.is_header() => {
                    let text = format!(
                        "`{}` is not a header that IOMeter knows; it is left \
                            out",
                        line.text
                    );
                    self.note(line.number, text);
                }
                None => self.data(line),
            }
        }
    }

    /// Whether the line belongs to the results display, which is kept unchanged.
    fn is_display(&self, line: Line<'_>) -> bool {
        let ends = matches!(
            line.header,
            Some(Header::Begin(_) | Header::End(_) | Header::Spec | Header::Open(Block::Manager))
        );
        matches!(self.section, Some((Section::Display, _))) && !ends && version_line(line).is_none()
    }

    fn header(&mut self, line: Line<'a>, header: Header) {
        let home = home(header);
        if let Some(home) = home
            && self.section.map(|(s, _)| s) != Some(home)
        {
            let text = format!("`{}` is outside of the section `{}`", line.text, home.name());
            self.note(line.number, text);
            self.leave(line.number);
            self.section = Some((home, line.number));
        }
        match header {
            Header::Begin(section) => self.begin(section, line.number),
            Header::End(section) => self.end(section, line),
            Header::Open(block) => self.open(block, line),
            Header::Close(block) => self.close(block, line),
            Header::Version => self.version(line),
            Header::Columns => {}
            Header::Spec => self.spec_header(line.number),
            _ if home == Some(Section::Setup) => self.setup(line, header),
            _ => self.manager_field(line, header),
        }
    }

    fn begin(&mut self, section: Section, line: usize) {
        self.leave(line);
        self.section = Some((section, line));
        self.found = true;
        if section == Section::Setup {
            self.config.setup.get_or_insert_default();
        }
    }

    fn end(&mut self, section: Section, line: Line<'_>) {
        if self.section.map(|(s, _)| s) == Some(section) {
            self.leave_blocks(line.number);
            self.close_spec();
            self.section = None;
        } else {
            self.note(line.number, format!("`{}` ends nothing", line.text));
        }
        self.stray = false;
    }

    /// A section that continues to the next, or to the end of the file.
    fn leave(&mut self, line: usize) {
        self.leave_blocks(line);
        self.close_spec();
        self.stray = false;
        if let Some((section, began)) = self.section.take() {
            let name = section.name();
            self.note(
                began,
                format!("the section `{name}` has no end; it ends before line {line}"),
            );
        }
    }

    fn version(&mut self, line: Line<'_>) {
        let Some(version) = version_line(line) else { return };
        match self.version {
            None => {
                self.version = Some(version);
                if version.order() < OLDEST.order() {
                    let text = format!(
                        "version {version} is older than the oldest that IOMeter loads without \
                         complaint, 1998.01.05"
                    );
                    self.note(line.number, text);
                }
            }
            Some(first) if first != version => {
                self.note(line.number, format!("the version is {version} here, but {first} above"));
            }
            Some(_) => {}
        }
    }

    fn data(&mut self, line: Line<'_>) {
        if matches!(self.blocks.last(), Some((Block::Assigned, _))) {
            self.assign(line);
        } else if version_line(line).is_some() {
            self.version(line);
        } else if line.text.is_empty() {
        } else if matches!(self.section, Some((Section::Specs, _))) {
            self.row(line);
        } else if !self.stray {
            self.stray = true;
            self.note(line.number, format!("`{}` belongs to nothing; it is left out", line.text));
        }
    }

    /// The line after a header, which may be an empty one.
    fn text_value(&mut self) -> &'a str {
        self.value(false).map_or("", |line| line.text)
    }

    /// The next line with something on it, unless a header that IOMeter knows comes first.
    fn line_value(&mut self) -> Option<Line<'a>> {
        self.value(true)
    }

    fn value(&mut self, skip_empty: bool) -> Option<Line<'a>> {
        while let Some(line) = self.lines.get(self.at).copied() {
            let is_comment = match line.header {
                Some(Header::Columns) => true,
                Some(_) => return None,
                None => line.is_header(),
            };
            self.at += 1;
            if !(is_comment || skip_empty && line.text.is_empty()) {
                return Some(line);
            }
        }
        None
    }

    /// A whole number, or `default` if the text is not one, which is noted.
    fn number<T: std::str::FromStr + fmt::Display>(
        &mut self,
        line: usize,
        what: &str,
        text: Option<&str>,
        default: T,
    ) -> T {
        let written = text.unwrap_or_default().trim();
        written.parse().unwrap_or_else(|_| {
            self.note(line, format!("`{written}` is not a {what}; {default} is taken"));
            default
        })
    }

    fn finish(mut self) -> Result<Read, ConfigError> {
        let last = self.lines.last().map_or(0, |l| l.number);
        self.leave(last + 1);
        let nothing = self.config == Config::default() && !self.found;
        if nothing {
            return Err(ConfigError::Nothing);
        }
        self.note_empty_rows();
        self.check_assigned();
        self.check_kinds();
        if self.version.is_none() {
            self.note(
                0,
                "the file does not say of which version it is; it is read as one of 1.1.0",
            );
        }
        if self.notes.len() == NOTES_MAX {
            self.notes.truncate(NOTES_MAX - 1);
            self.note(0, "there is more to say of this file, which is left out here");
        }
        self.notes.sort_by_key(|n| if n.line == 0 { usize::MAX } else { n.line });
        Ok(Read { config: self.config, version: self.version, notes: self.notes })
    }
}

/// The section that a header belongs to.
fn home(header: Header) -> Option<Section> {
    match header {
        Header::Begin(_) | Header::End(_) | Header::Version | Header::Columns => None,
        Header::Spec => Some(Section::Specs),
        Header::Description
        | Header::RunTime
        | Header::RampUp
        | Header::DiskWorkers
        | Header::NetworkWorkers
        | Header::Workers
        | Header::Record
        | Header::WorkerCycling
        | Header::TargetCycling
        | Header::DepthCycling
        | Header::TestType => Some(Section::Setup),
        _ => Some(Section::Managers),
    }
}

/// The version of a line `Version 1.1.0`, with or without an apostrophe.
fn version_line(line: Line<'_>) -> Option<Version> {
    let text = line.text.trim_start_matches(['\'', '\u{2018}', '\u{2019}']);
    let (word, rest) = text.split_at_checked(7)?;
    word.eq_ignore_ascii_case("version").then(|| Version::from_text(rest)).flatten()
}

/// The parts of a line of values, which blanks or commas part.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|p| !p.is_empty())
}
