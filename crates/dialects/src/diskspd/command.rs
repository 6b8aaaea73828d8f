//! DiskSpd's command line.
//!
//! Options come first, each one word; targets follow. Errors are collected, so that the user sees
//! all of them at once. A slash does not begin an option, because paths of this system begin with
//! one.

mod options;
mod parts;

use std::fmt;

use super::fault::Fault;
use super::profile::{self, Profile, ProfileError, ResultFormat, Target, TimeSpan};
use super::rules::{self, At, Findings, Rule, Warning};
use options::Options;

/// How a command line is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// The seed of a bare `-z`.
    pub clock: u32,
    /// What earlier versions than 2.2 took is taken, with a note.
    pub lenient: bool,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// The user asked for an explanation of the options.
    Usage,
    /// That an event happens, and nothing else.
    SetEvent(String),
    /// A profile that keeps the rules.
    Profile(Box<CommandLine>),
    /// A profile that is in a file.
    Xml(XmlCall),
}

/// A profile that was made from options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The profile that the options describe.
    pub profile: Profile,
    /// Events to wait for and to make happen.
    pub events: Events,
    /// Parts that are allowed but rarely meant.
    pub warnings: Vec<At<Warning>>,
    /// Options that were read in another way than they were written.
    pub notes: Vec<String>,
}

/// Named events around the measured window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// Happens when the window begins (`-ys`).
    pub started: Option<String>,
    /// Happens when the window ends (`-yf`).
    pub finished: Option<String>,
    /// Waited for before anything begins (`-yr`).
    pub ready: Option<String>,
    /// The name of the event that ends other runs (`-yp`).
    pub stop: Option<String>,
}

/// A profile that is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlCall {
    /// The file that holds the profile.
    pub file: String,
    /// What replaces the templates `*1`, `*2`, ….
    pub substitutes: Vec<String>,
    /// Options that were read in another way than they were written.
    pub notes: Vec<String>,
    overrides: Overrides,
}

/// What the command line says next to a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Overrides {
    command_line: String,
    experiment_flags: Option<u32>,
    duration_s: Option<u32>,
    warmup_s: Option<u32>,
    cooldown_s: Option<u32>,
    seed: Option<u32>,
    format: Option<ResultFormat>,
    profile_only: bool,
    verbose: bool,
    verbose_stats: bool,
}

/// A word of the command line that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongWord {
    /// The word as it was written; empty where one is missing.
    pub word: String,
    /// What is wrong with the option.
    pub fault: Fault,
}

impl fmt::Display for WrongWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.word.is_empty() {
            return self.fault.fmt(f);
        }
        write!(f, "`{}`: {}", self.word, self.fault)
    }
}

/// Why a command line asks for nothing that can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandError {
    /// Words of the command line that are wrong.
    Words(Vec<WrongWord>),
    /// Options that are not for one another.
    Rules(Vec<At<Rule>>),
    /// The XML of the profile cannot be read.
    Xml(ProfileError),
}

impl CommandError {
    /// Everything that is wrong, a line for each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Words(words) => words.iter().map(ToString::to_string).collect(),
            Self::Rules(rules) => rules.iter().map(ToString::to_string).collect(),
            Self::Xml(error) => error.to_string().lines().map(str::to_owned).collect(),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for CommandError {}

/// Dashes that texts have instead of a minus.
const DASHES: [char; 3] = ['\u{2013}', '\u{2212}', '\u{2014}'];

/// Reads the words after the program's name.
pub fn parse(words: &[String], reading: Reading) -> Result<Call, CommandError> {
    let mut notes = Vec::new();
    let (options, targets, mut wrong) = split(words, &mut notes);
    if options.iter().any(|option| option.letter == '?') {
        return Ok(Call::Usage);
    }
    let mut state = Options::new(reading, notes);
    let has_file = options.iter().any(|option| option.letter == 'X');
    // A size may count in blocks, wherever the block size is given.
    for first in [true, false] {
        for option in &options {
            let alone = has_file && !":CdRvWzX".contains(option.letter);
            let read = match (alone, options::is_first(option.letter) == first) {
                (true, same) if same => Err(Fault::BesideProfile),
                (false, true) => state.read(option.letter, option.value),
                _ => Ok(()),
            };
            if let Err(fault) = read {
                wrong.push((option.index, WrongWord { word: option.word.to_owned(), fault }));
            }
        }
    }
    if targets.is_empty() && !has_file && state.set_event.is_none() {
        let missing = WrongWord { word: String::new(), fault: Fault::NoTarget };
        wrong.push((words.len(), missing));
    }
    if !wrong.is_empty() {
        wrong.sort_by_key(|(index, _)| *index);
        return Err(CommandError::Words(wrong.into_iter().map(|(_, word)| word).collect()));
    }
    let line: Vec<&str> =
        std::iter::once("diskspd").chain(words.iter().map(String::as_str)).collect();
    state.call(&line.join(" "), targets)
}

/// A word that begins with a dash.
struct OptionWord<'a> {
    index: usize,
    word: &'a str,
    letter: char,
    value: &'a str,
}

type Split<'a> = (Vec<OptionWord<'a>>, Vec<String>, Vec<(usize, WrongWord)>);

/// Separates options, targets and wrong words.
fn split<'a>(words: &'a [String], notes: &mut Vec<String>) -> Split<'a> {
    let (mut options, mut targets, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for (index, word) in words.iter().enumerate() {
        let dashes = DASHES.iter().find_map(|&dash| word.strip_prefix(dash));
        if dashes.is_some() {
            notes.push(format!("`{word}` begins with a typographic dash; it is read as an option"));
        }
        let Some(rest) = dashes.or_else(|| word.strip_prefix('-')) else {
            targets.push(word.clone());
            continue;
        };
        let mut wrong_word = |fault| {
            wrong.push((index, WrongWord { word: word.clone(), fault }));
        };
        if !targets.is_empty() {
            wrong_word(Fault::OptionAfterTarget);
            continue;
        }
        let mut letters = rest.chars();
        match letters.next() {
            Some(letter) => {
                options.push(OptionWord { index, word, letter, value: letters.as_str() });
            }
            None => wrong_word(Fault::UnknownOption),
        }
    }
    (options, targets, wrong)
}

impl Options {
    /// What all words together ask for.
    fn call(mut self, line: &str, targets: Vec<String>) -> Result<Call, CommandError> {
        line.clone_into(&mut self.overrides.command_line);
        if let Some(event) = self.set_event {
            return Ok(Call::SetEvent(event));
        }
        if let Some(file) = self.file {
            let (overrides, notes) = (self.overrides, self.notes);
            return Ok(Call::Xml(XmlCall { file, substitutes: targets, notes, overrides }));
        }
        let (shape, mut span) = (self.target, self.span);
        span.targets = targets.into_iter().map(|path| Target { path, ..shape.clone() }).collect();
        let mut profile = self.profile;
        profile.time_spans = vec![span];
        self.overrides.apply(&mut profile);
        let Findings { violations, warnings } = rules::check(&profile).once();
        if !violations.is_empty() {
            return Err(CommandError::Rules(violations));
        }
        let (events, notes) = (self.events, self.notes);
        Ok(Call::Profile(Box::new(CommandLine { profile, events, warnings, notes })))
    }
}

impl Overrides {
    fn apply(&self, profile: &mut Profile) {
        profile.command_line.clone_from(&self.command_line);
        profile.experiment_flags = self.experiment_flags.unwrap_or(profile.experiment_flags);
        profile.result_format = self.format.unwrap_or(profile.result_format);
        profile.profile_only |= self.profile_only;
        profile.verbose |= self.verbose;
        profile.verbose_stats |= self.verbose_stats;
        for span in &mut profile.time_spans {
            self.apply_to_span(span);
        }
    }

    fn apply_to_span(&self, span: &mut TimeSpan) {
        span.duration_s = self.duration_s.unwrap_or(span.duration_s);
        span.warmup_s = self.warmup_s.unwrap_or(span.warmup_s);
        span.cooldown_s = self.cooldown_s.unwrap_or(span.cooldown_s);
        span.seed = self.seed.unwrap_or(span.seed);
    }
}

impl XmlCall {
    /// The profile of the file's bytes, with what the command line says, checked.
    pub fn profile(self, bytes: &[u8]) -> Result<CommandLine, CommandError> {
        let mut profile = profile::read(bytes).map_err(CommandError::Xml)?;
        self.overrides.apply(&mut profile);
        let mut violations = profile.substitute(&self.substitutes);
        let found = rules::check(&profile);
        let referenced: Vec<_> = violations.iter().map(|v| v.place.clone()).collect();
        // A fault of a template is reported once.
        let is_new = |v: &At<Rule>| v.what != Rule::TemplateLeft || !referenced.contains(&v.place);
        violations.extend(found.violations.into_iter().filter(is_new));
        if !violations.is_empty() {
            return Err(CommandError::Rules(violations));
        }
        let (warnings, notes) = (found.warnings, self.notes);
        Ok(CommandLine { profile, events: Events::default(), warnings, notes })
    }
}
