//! Batch files of SQLIO calls (.bat, .cmd), understood without a shell: calls, comments, texts, pauses, variables and redirections.
//!
//! Whatever else a batch file can do is named with its line and refused, before anything is done.

use std::collections::HashMap;

use super::command::Complaints;

/// Variables that change from one moment to the next: they stay as they are, for whoever runs the steps.
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
    for (number, line) in logical_lines(text) {
        match reading.line(number, &line) {
            Ok(true) => {}
            Ok(false) => break,
            Err(rule) => reading.wrong.push(format!("line {number}: {rule}")),
        }
        if reading.left_bytes == 0 {
            reading.wrong.push(format!(
                "line {number}: up to here the lines, with the values of their variables, take more than {} MiB; split the file",
                TEXT_BYTES_MAX >> 20
            ));
            break;
        }
    }
    if reading.wrong.is_empty() { Ok(reading.script) } else { Err(Complaints(reading.wrong)) }
}

/// Lines with those that a `^` at the end joins.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim_end().trim_start_matches('\u{feff}');
        let carets = line.len() - line.trim_end_matches('^').len();
        let part =
            if carets % 2 == 1 { line.get(..line.len() - 1).unwrap_or_default() } else { line };
        match lines.last_mut().filter(|_| goes_on) {
            Some((_, before)) => before.push_str(part),
            None => lines.push((index + 1, part.to_owned())),
        }
        goes_on = carets % 2 == 1;
    }
    lines
}

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
    fn line(&mut self, number: usize, line: &str) -> Result<bool, String> {
        let line = line.trim().trim_start_matches(['@', ' ', '\t']);
        let word = first_word(line);
        if line.is_empty() || line.starts_with(':') || word == "rem" {
            return Ok(true);
        }
        let expanded = self.expanded(line);
        let text_bytes = expanded.as_ref().map_or(line.len(), String::len);
        self.left_bytes = self.left_bytes.saturating_sub(text_bytes + LINE_COST_BYTES);
        let line = expanded?;
        let rest = line.get(word.len()..).unwrap_or_default();
        match word.as_str() {
            "set" => self.set(rest).map(|()| true),
            "exit" => Ok(false),
            "goto" if rest.trim().eq_ignore_ascii_case(":eof") => Ok(false),
            "cls" | "title" | "color" | "setlocal" | "endlocal" | "chcp" | "prompt" => Ok(true),
            _ => {
                let Pieces { words, plain, output, note } = pieces(&line)?;
                if let Some(note) = note {
                    self.script.notes.push(format!("line {number}: {note}"));
                }
                if let Some(action) = action(&word, &words, &plain)? {
                    self.script.steps.push(Step { line: number, action, output });
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
    fn expanded(&self, line: &str) -> Result<String, String> {
        let (mut out, mut rest) = (String::new(), line);
        while let Some((before, behind)) = rest.split_once('%') {
            out.push_str(before);
            if let Some(behind) = behind.strip_prefix('%') {
                out.push('%');
                rest = behind;
                continue;
            }
            let named = behind.split_once('%').filter(|(name, _)| is_name(name));
            let (name, behind) = named.ok_or_else(|| {
                let shown: String = behind.chars().take(12).collect();
                format!("`%{shown}` is no plain variable; parameters, substrings and loops are not understood")
            })?;
            let capitals = name.to_ascii_uppercase();
            if LATE.contains(&capitals.as_str()) && !self.variables.contains_key(&capitals) {
                out.extend(["%", &capitals, "%"]);
            } else {
                let value =
                    self.variables.get(&capitals).cloned().or_else(|| (self.environment)(name));
                out.push_str(&value.ok_or_else(|| {
                    format!("`%{name}%` is set nowhere; set it in the environment")
                })?);
            }
            if out.len() > LINE_BYTES_MAX {
                return Err("its variables make it too long".to_owned());
            }
            rest = behind;
        }
        out.push_str(rest);
        Ok(out)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '(' | ')'))
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The command of a line in small letters: letters, digits and what stands in names up to the first other.
fn first_word(line: &str) -> String {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// What a command does; none where it does nothing here.
fn action(word: &str, words: &[String], plain: &str) -> Result<Option<Action>, String> {
    let Some(program) = words.first() else { return Ok(None) };
    if is_sqlio(program) {
        return Ok(Some(Action::Call(words.get(1..).unwrap_or_default().to_vec())));
    }
    let arguments = words.get(1..).unwrap_or_default();
    let seconds = |text: Option<&String>| {
        let seconds = text.and_then(|t| t.parse().ok()).filter(|s| *s <= PAUSE_S_MAX);
        seconds.ok_or_else(|| format!("`{plain}` does not say for how many seconds"))
    };
    Ok(match word {
        "echo" => echo(plain).map(Action::Echo),
        "call" if arguments.first().is_some_and(|p| is_sqlio(p)) => {
            Some(Action::Call(arguments.get(1..).unwrap_or_default().to_vec()))
        }
        "timeout" => {
            let number = arguments.iter().find(|a| !a.starts_with('/'));
            Some(Action::Pause(seconds(number)?))
        }
        "sleep" => Some(Action::Pause(seconds(arguments.first())?)),
        // The pause of systems without `timeout`: so many pings to oneself, a second apart.
        "ping"
            if arguments
                .iter()
                .any(|a| a == "127.0.0.1" || a.eq_ignore_ascii_case("localhost")) =>
        {
            let count = arguments.iter().position(|a| a.eq_ignore_ascii_case("-n"));
            let count = count.and_then(|at| arguments.get(at + 1));
            Some(Action::Pause(seconds(count)?.saturating_sub(1)))
        }
        _ => {
            return Err(format!(
                "`{program}` is not understood; understood are calls of sqlio, call, echo, rem, set, timeout, exit and \
                 redirections to files"
            ));
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

/// A command in its parts.
#[derive(Debug, Default)]
struct Pieces {
    words: Vec<String>,
    /// All of it but the redirections.
    plain: String,
    output: Option<Output>,
    note: Option<String>,
}

/// Takes the words and the redirections out of a line.
fn pieces(line: &str) -> Result<Pieces, String> {
    let mut found = Pieces::default();
    let mut word = String::new();
    let (mut quoted, mut has_word) = (false, false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                quoted = !quoted;
                has_word = true;
                found.plain.push(c);
            }
            '^' if !quoted => {
                if let Some(escaped) = rest.next() {
                    word.push(escaped);
                    found.plain.push(escaped);
                    has_word = true;
                }
            }
            '>' if !quoted => {
                let number = matches!(word.as_str(), "1" | "2").then(|| word.clone());
                if number.is_some() {
                    found.plain.pop();
                } else if has_word {
                    found.words.push(std::mem::take(&mut word));
                }
                word.clear();
                has_word = false;
                let append = rest.next_if_eq(&'>').is_some();
                let target = redirected(&mut rest)?;
                found.redirect(number.as_deref(), append, target);
            }
            '<' | '|' | '&' if !quoted => {
                return Err(format!(
                    "`{c}` is not understood; write each command on a line of its own"
                ));
            }
            c if c.is_whitespace() && !quoted => {
                if std::mem::take(&mut has_word) {
                    found.words.push(std::mem::take(&mut word));
                }
                found.plain.push(c);
            }
            c => {
                word.push(c);
                found.plain.push(c);
                has_word = true;
            }
        }
    }
    if quoted {
        return Err("a quotation mark is not closed".to_owned());
    }
    if has_word {
        found.words.push(word);
    }
    found.plain.truncate(found.plain.trim_end().len());
    Ok(found)
}

/// The name behind a `>`, or the `&1` of a stream that is joined to another.
fn redirected(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
    let (mut name, mut quoted) = (String::new(), false);
    while let Some(c) =
        rest.next_if(|c| quoted || !(c.is_whitespace() || matches!(c, '>' | '<' | '|')))
    {
        match c {
            '"' => quoted = !quoted,
            '&' if !quoted && !name.is_empty() => {
                return Err(
                    "`&` is not understood; write each command on a line of its own".to_owned()
                );
            }
            c => name.push(c),
        }
    }
    if name.is_empty() || quoted { Err("a `>` has no file behind it".to_owned()) } else { Ok(name) }
}

impl Pieces {
    fn redirect(&mut self, number: Option<&str>, append: bool, file: String) {
        match (number, file.as_str()) {
            // Joined streams: what iosonde has to say goes to stderr in any case.
            (_, "&1" | "&2") => {}
            (Some("2"), _) => {
                self.note =
                    Some(format!("`2>{file}`: messages go to stderr, and not into that file"));
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
