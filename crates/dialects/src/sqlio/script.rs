//! Batch files of SQLIO calls (.bat, .cmd), understood without a shell: calls, comments, texts,
//! pauses, variables and redirections.
//!
//! Whatever else a batch file can do is named with its line and refused, before anything is done.

use std::collections::HashMap;

use super::command::Complaints;

/// Variables that change from one moment to the next: they stay as they are, for whoever runs the
/// steps.
pub const LATE: [&str; 3] = ["DATE", "TIME", "COMPUTERNAME"];
/// The longest pause, in seconds; `timeout` knows no longer one.
const PAUSE_S_MAX: u32 = 99_999;
/// What a line may grow to by its variables.
const LINE_BYTES_MAX: usize = 64 << 10;
/// What all lines together may grow to.
const TEXT_BYTES_MAX: usize = 16 << 20;
/// What a line takes besides its text: its step, or what is wrong with it.
const LINE_COST_BYTES: usize = 256;

/// One thing that a batch file does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Number of its line, from 1.
    pub line: usize,
    /// Where in it the command begins, in characters from 1.
    pub column: usize,
    /// What it does.
    pub action: Action,
    /// Where what it prints goes; none is stdout.
    pub output: Option<Output>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Calls SQLIO with these arguments.
    Call(Vec<String>),
    /// Prints a line.
    Echo(String),
    /// Waits for so many seconds.
    Pause(u32),
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The file; none is `nul`.
    pub file: Option<String>,
    /// Behind what is there (`>>`), not instead of it (`>`).
    pub append: bool,
}

/// A batch file's steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// In their order.
    pub steps: Vec<Step>,
    /// What is left out without harm, with its line.
    pub notes: Vec<String>,
}

/// Reads a batch file. `environment` gives the value of variables that it does not set itself.
pub fn script(
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Script, Complaints> {
    let mut reading = Reading {
        environment,
        variables: HashMap::new(),
        script: Script::default(),
        wrong: Vec::new(),
        left_bytes: TEXT_BYTES_MAX,
    };
    for line in logical_lines(text) {
        match reading.line(&line) {
            Ok(true) => {}
            Ok(false) => break,
            Err((byte, rule)) => {
                let (number, column) = line.place(byte);
                reading.wrong.push(format!("line {number}, column {column}: {rule}"));
            }
        }
        if reading.left_bytes == 0 {
            let (number, column) = line.place(0);
            reading.wrong.push(format!(
                "line {number}, column {column}: up to here the lines, with the values of their \
                 variables, take more than {} MiB; split the file",
                TEXT_BYTES_MAX >> 20
            ));
            break;
        }
    }
    if reading.wrong.is_empty() { Ok(reading.script) } else { Err(Complaints(reading.wrong)) }
}

/// A line with those that a `^` at its end joins to it.
struct Logical {
    text: String,
    /// Where each line of the file begins in it, in bytes, and its number.
    parts: Vec<(usize, usize)>,
}

impl Logical {
    /// Line and column of a byte, both from 1.
    fn place(&self, byte: usize) -> (usize, usize) {
        let part = self.parts.iter().rev().find(|(start, _)| *start <= byte);
        let (start, number) = part.copied().unwrap_or((0, 1));
        let before = self.text.get(start..byte).unwrap_or_default();
        (number, before.chars().count() + 1)
    }
}

fn logical_lines(text: &str) -> Vec<Logical> {
    let mut lines: Vec<Logical> = Vec::new();
    let mut goes_on = false;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim_end().trim_start_matches('\u{feff}');
        let carets = line.len() - line.trim_end_matches('^').len();
        let part =
            if carets % 2 == 1 { line.get(..line.len() - 1).unwrap_or_default() } else { line };
        match lines.last_mut().filter(|_| goes_on) {
            Some(before) => {
                before.parts.push((before.text.len(), index + 1));
                before.text.push_str(part);
            }
            None => lines.push(Logical { text: part.to_owned(), parts: vec![(0, index + 1)] }),
        }
        goes_on = carets % 2 == 1;
    }
    lines
}

/// What is wrong, behind the byte of the line where it stands.
type Fault = (usize, String);

struct Reading<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// By names in capitals.
    variables: HashMap<String, String>,
    script: Script,
    wrong: Vec<String>,
    /// What the lines to come may still take.
    left_bytes: usize,
}

impl Reading<'_> {
    /// Reads a line; false where the file ends with it.
    fn line(&mut self, whole: &Logical) -> Result<bool, Fault> {
        let text = whole.text.as_str();
        let line = text.trim_start().trim_start_matches(['@', ' ', '\t']);
        let (base, line) = (text.len() - line.len(), line.trim_end());
        let word = first_word(line);
        if line.is_empty() || line.starts_with(':') || word == "rem" {
            return Ok(true);
        }
        let expanded = self.expanded(line);
        let text_bytes = expanded.as_ref().map_or(line.len(), |e| e.text.len());
        self.left_bytes = self.left_bytes.saturating_sub(text_bytes + LINE_COST_BYTES);
        let line = expanded.map_err(|(at, rule)| (base + at, rule))?;
        self.command(&word, &line, whole, base).map_err(|(at, rule)| (base + line.origin(at), rule))
    }

    /// Does what a line of which the variables are known says.
    fn command(
        &mut self,
        word: &str,
        line: &Expanded,
        whole: &Logical,
        base: usize,
    ) -> Result<bool, Fault> {
        let rest = line.text.get(word.len()..).unwrap_or_default();
        match word {
            "set" => self.set(rest).map(|()| true).map_err(|rule| (0, rule)),
            "exit" => Ok(false),
            "goto" if rest.trim().eq_ignore_ascii_case(":eof") => Ok(false),
            "cls" | "title" | "color" | "setlocal" | "endlocal" | "chcp" | "prompt" => Ok(true),
            _ => {
                let Pieces { words, plain, output, note } = pieces(&line.text)?;
                let begin = words.first().map_or(0, |(at, _)| *at);
                let (number, column) = whole.place(base + line.origin(begin));
                if let Some((at, note)) = note {
                    let (number, column) = whole.place(base + line.origin(at));
                    self.script.notes.push(format!("line {number}, column {column}: {note}"));
                }
                if let Some(action) = action(word, &words, &plain)? {
                    self.script.steps.push(Step { line: number, column, action, output });
                }
                Ok(true)
            }
        }
    }

    /// `set NAME=VALUE`
    fn set(&mut self, rest: &str) -> Result<(), String> {
        let rest = rest.trim();
        let rest = rest.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(rest);
        let plain = rest
            .split_once('=')
            .filter(|(name, _)| !name.trim().is_empty() && !name.starts_with('/'));
        let (name, value) = plain.ok_or("of `set`, only `set NAME=VALUE` is understood")?;
        self.variables.insert(name.trim().to_ascii_uppercase(), value.to_owned());
        Ok(())
    }

    /// The line with its variables' values.
    fn expanded(&self, line: &str) -> Result<Expanded, Fault> {
        let mut out = Expanded::default();
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once('%') {
            let at = line.len() - rest.len() + before.len();
            out.verbatim(before, at - before.len());
            if let Some(behind) = behind.strip_prefix('%') {
                out.value("%", at);
                rest = behind;
                continue;
            }
            let named = behind.split_once('%').filter(|(name, _)| is_name(name));
            let (name, behind) = named.ok_or_else(|| {
                let shown: String = behind.chars().take(12).collect();
                let text =
                    "is no plain variable; parameters, substrings and loops are not understood";
                (at, format!("`%{shown}` {text}"))
            })?;
            let capitals = name.to_ascii_uppercase();
            if LATE.contains(&capitals.as_str()) && !self.variables.contains_key(&capitals) {
                out.value(&format!("%{capitals}%"), at);
            } else {
                let value =
                    self.variables.get(&capitals).cloned().or_else(|| (self.environment)(name));
                let value = value.ok_or_else(|| {
                    (at, format!("`%{name}%` is set nowhere; set it in the environment"))
                })?;
                out.value(&value, at);
            }
            if out.text.len() > LINE_BYTES_MAX {
                return Err((at, "its variables make it too long".to_owned()));
            }
            rest = behind;
        }
        out.verbatim(rest, line.len() - rest.len());
        Ok(out)
    }
}

/// A line with the values of its variables.
#[derive(Default)]
struct Expanded {
    text: String,
    /// Where parts of it begin, where those come from in the line, and whether they are as they
    /// stand there.
    origins: Vec<(usize, usize, bool)>,
}

impl Expanded {
    fn verbatim(&mut self, part: &str, from: usize) {
        self.origins.push((self.text.len(), from, true));
        self.text.push_str(part);
    }

    fn value(&mut self, value: &str, from: usize) {
        self.origins.push((self.text.len(), from, false));
        self.text.push_str(value);
    }

    /// Where a byte comes from: of a value, where the name of its variable begins.
    fn origin(&self, byte: usize) -> usize {
        let part = self.origins.iter().rev().find(|(start, _, _)| *start <= byte);
        part.map_or(0, |(start, from, same)| if *same { from + byte - start } else { *from })
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '(' | ')'))
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The command of a line in small letters: letters, digits and what stands in names up to the first
/// other.
fn first_word(line: &str) -> String {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// What a command does; none where it does nothing here.
fn action(word: &str, words: &[Field], plain: &str) -> Result<Option<Action>, Fault> {
    let Some((at, program)) = words.first() else { return Ok(None) };
    let call = |arguments: &[Field]| {
        Action::Call(arguments.iter().map(|(_, argument)| argument.clone()).collect())
    };
    let arguments = words.get(1..).unwrap_or_default();
    if is_sqlio(program) {
        return Ok(Some(call(arguments)));
    }
    let seconds = |field: Option<&Field>| {
        let seconds = field.and_then(|(_, t)| t.parse().ok()).filter(|s| *s <= PAUSE_S_MAX);
        let at = field.map_or(*at, |(at, _)| *at);
        seconds.ok_or_else(|| (at, format!("`{plain}` does not say for how many seconds")))
    };
    Ok(match word {
        "echo" => echo(plain).map(Action::Echo),
        "call" if arguments.first().is_some_and(|(_, p)| is_sqlio(p)) => {
            Some(call(arguments.get(1..).unwrap_or_default()))
        }
        "timeout" => {
            let number = arguments.iter().find(|(_, a)| !a.starts_with('/'));
            Some(Action::Pause(seconds(number)?))
        }
        "sleep" => Some(Action::Pause(seconds(arguments.first())?)),
        // The pause of systems without `timeout`: so many pings to oneself, a second apart.
        "ping"
            if arguments
                .iter()
                .any(|(_, a)| a == "127.0.0.1" || a.eq_ignore_ascii_case("localhost")) =>
        {
            let count = arguments.iter().position(|(_, a)| a.eq_ignore_ascii_case("-n"));
            let count = count.and_then(|at| arguments.get(at + 1));
            Some(Action::Pause(seconds(count)?.saturating_sub(1)))
        }
        _ => {
            let text = format!(
                "`{program}` is not understood; understood are calls of sqlio, call, echo, rem, \
                 set, timeout, exit and redirections to files"
            );
            return Err((*at, text));
        }
    })
}

/// The text that is printed; none where printing is turned on or off.
fn echo(plain: &str) -> Option<String> {
    let text = plain.get(4..).unwrap_or_default();
    let off = matches!(text.trim().to_ascii_lowercase().as_str(), "" | "on" | "off");
    match text.strip_prefix(['.', ':']) {
        Some(text) => Some(text.to_owned()),
        None if off => None,
        None => Some(text.strip_prefix(' ').unwrap_or(text).to_owned()),
    }
}

/// Whether a program is SQLIO, wherever it is.
fn is_sqlio(program: &str) -> bool {
    let name = program.rsplit(['\\', '/']).next().unwrap_or_default().to_ascii_lowercase();
    name == "sqlio" || name == "sqlio.exe"
}

/// A word and the byte where it begins.
type Field = (usize, String);

/// A command in its parts.
#[derive(Debug, Default)]
struct Pieces {
    words: Vec<Field>,
    /// All of it but the redirections.
    plain: String,
    output: Option<Output>,
    note: Option<Field>,
}

/// Takes the words and the redirections out of a line.
fn pieces(line: &str) -> Result<Pieces, Fault> {
    let mut found = Pieces::default();
    // The word that is being read, once it has begun, and the quotation mark that is open.
    let (mut word, mut quoted): (Option<Field>, Option<usize>) = (None, None);
    let mut rest = line.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => {
                quoted = if quoted.is_some() { None } else { Some(at) };
                word.get_or_insert((at, String::new()));
                found.plain.push(c);
            }
            '^' if quoted.is_none() => {
                if let Some((_, escaped)) = rest.next() {
                    word.get_or_insert((at, String::new())).1.push(escaped);
                    found.plain.push(escaped);
                }
            }
            '>' if quoted.is_none() => {
                let before = word.take();
                let number = before.as_ref().map(|(_, w)| w.clone());
                let number = number.filter(|w| matches!(w.as_str(), "1" | "2"));
                if number.is_some() {
                    found.plain.pop();
                } else {
                    found.words.extend(before);
                }
                let append = rest.next_if(|(_, c)| *c == '>').is_some();
                let target = redirected(&mut rest, at)?;
                found.redirect(number.as_deref(), append, target, at);
            }
            '<' | '|' | '&' if quoted.is_none() => {
                let text =
                    format!("`{c}` is not understood; write each command on a line of its own");
                return Err((at, text));
            }
            c if c.is_whitespace() && quoted.is_none() => {
                found.words.extend(word.take());
                found.plain.push(c);
            }
            c => {
                word.get_or_insert((at, String::new())).1.push(c);
                found.plain.push(c);
            }
        }
    }
    if let Some(at) = quoted {
        return Err((at, "a quotation mark is not closed".to_owned()));
    }
    found.words.extend(word);
    found.plain.truncate(found.plain.trim_end().len());
    Ok(found)
}

/// The name behind the `>` at a byte, or the `&1` of a stream that is joined to another.
fn redirected(
    rest: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    at: usize,
) -> Result<String, Fault> {
    while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
    let (mut name, mut quoted) = (String::new(), false);
    while let Some((at, c)) =
        rest.next_if(|(_, c)| quoted || !(c.is_whitespace() || matches!(c, '>' | '<' | '|')))
    {
        match c {
            '"' => quoted = !quoted,
            '&' if !quoted && !name.is_empty() => {
                let text = "`&` is not understood; write each command on a line of its own";
                return Err((at, text.to_owned()));
            }
            c => name.push(c),
        }
    }
    if name.is_empty() || quoted {
        return Err((at, "a `>` has no file behind it".to_owned()));
    }
    Ok(name)
}

impl Pieces {
    fn redirect(&mut self, number: Option<&str>, append: bool, file: String, at: usize) {
        match (number, file.as_str()) {
            // Joined streams: what iosonde has to say goes to stderr in any case.
            (_, "&1" | "&2") => {}
            (Some("2"), _) => {
                let text = format!("`2>{file}`: messages go to stderr, and not into that file");
                self.note = Some((at, text));
            }
            _ => {
                let nothing = file.eq_ignore_ascii_case("nul") || file.eq_ignore_ascii_case("nul:");
                self.output = Some(Output { file: (!nothing).then_some(file), append });
            }
        }
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
