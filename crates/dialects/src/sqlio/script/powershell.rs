//! PowerShell scripts (.ps1) of SQLIO calls: literal lines, variables of literals, and loops over
//! them. Anything else is refused in one sentence, because PowerShell is its own language.

use std::collections::HashMap;

use super::arithmetic;
use super::source::Place;
use super::{Action, Around, Budget, Complaints, LINE_BYTES_MAX, Output, Script, Step, is_sqlio};
use crate::sqlio::script::PAUSE_S_MAX;

/// How deep loops may be in one another.
const DEPTH_MAX: usize = 16;
/// The most values of a list.
const VALUES_MAX: usize = 10_000;

/// A piece of the script, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    place: Place,
    /// The text before the block, or all of it.
    head: String,
    block: Option<Vec<Statement>>,
}

/// Works through a PowerShell script with its loops, and collects the steps. Runs nothing.
pub fn power_script(text: &str, around: &Around<'_>) -> Result<Script, Complaints> {
    let mut reader = Reader { letters: text.chars().collect(), at: 0, place: (1, 1), depth: 0 };
    let wrong = |((line, column), why): Fault| {
        Complaints(vec![format!("line {line}, column {column}: {why}")])
    };
    let statements = reader.statements(false).map_err(wrong)?;
    let mut shell = Shell {
        around,
        variables: HashMap::new(),
        script: Script::default(),
        budget: Budget::new(),
    };
    shell.all(&statements).map_err(wrong)?;
    Ok(shell.script)
}

/// The place, and what is wrong there.
type Fault = (Place, String);

/// Takes the statements out of a text.
struct Reader {
    letters: Vec<char>,
    at: usize,
    place: Place,
    depth: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn step(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        self.place =
            if c == '\n' { (self.place.0 + 1, 1) } else { (self.place.0, self.place.1 + 1) };
        Some(c)
    }

    fn statements(&mut self, inside: bool) -> Result<Vec<Statement>, Fault> {
        let mut found = Vec::new();
        loop {
            match self.peek(0) {
                None if inside => return Err((self.place, "a `{` is not closed".to_owned())),
                None => return Ok(found),
                Some('}') if inside => {
                    self.step();
                    return Ok(found);
                }
                Some(c) if c.is_whitespace() || c == ';' || c == '\u{feff}' => {
                    self.step();
                }
                Some(_) => found.extend(self.statement()?),
            }
        }
    }

    /// Up to the end of the line, a `;`, or the block that follows.
    fn statement(&mut self) -> Result<Option<Statement>, Fault> {
        let (place, mut head) = (self.place, String::new());
        let (mut quote, mut open) = (None, 0usize);
        while let Some(c) = self.peek(0) {
            match (quote, c) {
                (None, '#') if !head.ends_with(|c: char| c.is_alphanumeric()) => {
                    self.comment(head.ends_with('<'));
                    head.truncate(head.trim_end_matches('<').len());
                    continue;
                }
                // A line continues after it.
                (_, '`') if matches!(self.peek(1), Some('\n' | '\r')) => {
                    while !matches!(self.step(), None | Some('\n')) {}
                    head.push(' ');
                    continue;
                }
                (None, '\n' | ';' | '}') if open == 0 => break,
                (None, '{') if open == 0 => {
                    self.step();
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        let why = format!("blocks are more than {DEPTH_MAX} deep in one another");
                        return Err((place, why));
                    }
                    let block = self.statements(true)?;
                    self.depth -= 1;
                    let head = head.trim().to_owned();
                    return Ok(Some(Statement { place, head, block: Some(block) }));
                }
                (None, '(') => open += 1,
                (None, ')') => open = open.saturating_sub(1),
                (None, '"' | '\'') => quote = Some(c),
                (Some(mark), c) if mark == c => quote = None,
                _ => {}
            }
            head.extend(self.step());
        }
        if self.peek(0) == Some('}') && head.trim().is_empty() {
            // One that closes nothing.
            self.step();
            return Err((place, "a `}` closes nothing".to_owned()));
        }
        let head = head.trim().to_owned();
        Ok((!head.is_empty()).then_some(Statement { place, head, block: None }))
    }

    fn comment(&mut self, is_block: bool) {
        while let Some(c) = self.peek(0) {
            if is_block && c == '#' && self.peek(1) == Some('>') {
                self.step();
                self.step();
                return;
            }
            if !is_block && c == '\n' {
                return;
            }
            self.step();
        }
    }
}

/// Works through statements, and collects the steps.
struct Shell<'a> {
    around: &'a Around<'a>,
    /// Variables by their names in small letters.
    variables: HashMap<String, Vec<String>>,
    script: Script,
    budget: Budget,
}

impl Shell<'_> {
    fn all(&mut self, statements: &[Statement]) -> Result<(), Fault> {
        statements.iter().try_for_each(|statement| self.one(statement))
    }

    fn one(&mut self, statement: &Statement) -> Result<(), Fault> {
        let at = |why: String| (statement.place, why);
        self.budget.take(&statement.head).map_err(at)?;
        let head = statement.head.as_str();
        match &statement.block {
            Some(block) => {
                let (name, values) =
                    self.loop_over(head).ok_or_else(|| at(not_understood(head)))?;
                for value in values {
                    self.budget.take(&value).map_err(at)?;
                    self.variables.insert(name.clone(), vec![value]);
                    self.all(block)?;
                }
                Ok(())
            }
            None => self.line(head, statement.place).map_err(at),
        }
    }

    /// `foreach ($x in LIST)`, `LIST | ForEach-Object`, `for ($i = 1; $i -le 64; $i *= 2)`: the
    /// variable and its values.
    fn loop_over(&self, head: &str) -> Option<(String, Vec<String>)> {
        let lower = head.to_ascii_lowercase();
        if let Some(list) = ["| foreach-object", "|foreach-object", "| %", "|%", "| foreach"]
            .iter()
            .find_map(|end| lower.strip_suffix(end))
        {
            return Some(("_".to_owned(), self.values(head.get(..list.len())?)?));
        }
        let inner = |word: &str| {
            let rest = lower.strip_prefix(word)?.trim_start();
            let begin = head.len() - rest.len() + 1;
            (rest.starts_with('(') && rest.ends_with(')'))
                .then(|| head.get(begin..head.len() - 1))
                .flatten()
        };
        if let Some(inner) = inner("foreach") {
            let inner = inner.trim().strip_prefix('$')?;
            let (name, list) = inner.split_once(char::is_whitespace)?;
            let list = list.trim_start();
            list.get(..3).filter(|word| word.eq_ignore_ascii_case("in "))?;
            return Some((name.to_ascii_lowercase(), self.values(list.get(3..)?)?));
        }
        self.counted(inner("for")?)
    }

    /// `$i = 1; $i -le 64; $i *= 2`
    fn counted(&self, inner: &str) -> Option<(String, Vec<String>)> {
        let parts: Vec<&str> = inner.split(';').map(str::trim).collect();
        let [begin, until, change] = parts[..] else { return None };
        let (name, first) = begin.strip_prefix('$')?.split_once('=')?;
        let name = name.trim().to_ascii_lowercase();
        let words: Vec<&str> = until.split_whitespace().collect();
        let [asked, how, last] = words[..] else { return None };
        let is_own = |text: &str| {
            text.strip_prefix('$').is_some_and(|n| n.trim().eq_ignore_ascii_case(&name))
        };
        is_own(asked).then_some(())?;
        let number = |text: &str| self.value(text.trim())?.parse::<i64>().ok();
        let (mut at, last) = (number(first)?, number(last)?);
        let step = ["++", "+=", "*="].into_iter().find_map(|sign| {
            let (left, right) = change.split_once(sign)?;
            is_own(left.trim()).then_some((sign, right))
        })?;
        let by = if step.0 == "++" { 1 } else { number(step.1)? };
        let last = match how.to_ascii_lowercase().as_str() {
            "-le" => last,
            "-lt" => last.checked_sub(1)?,
            _ => return None,
        };
        let mut values = Vec::new();
        while at <= last {
            values.push(at.to_string());
            let next = if step.0 == "*=" { at.checked_mul(by)? } else { at.checked_add(by)? };
            if next <= at || values.len() > VALUES_MAX {
                return None;
            }
            at = next;
        }
        Some((name, values))
    }

    /// Reads a line without a block.
    fn line(&mut self, head: &str, place: Place) -> Result<(), String> {
        let wrong = || not_understood(head);
        if let Some((name, value)) = assignment(head) {
            let values = self.values(value).ok_or_else(wrong)?;
            self.variables.insert(name, values);
            return Ok(());
        }
        let (command, output) = self.without_output(head).ok_or_else(wrong)?;
        let words = self.words(&command).ok_or_else(wrong)?;
        let Some((program, arguments)) = words.split_first() else { return Err(wrong()) };
        let (program, arguments) = match (program.as_str(), arguments.split_first()) {
            ("&" | ".", Some((program, arguments))) => (program, arguments),
            _ => (program, arguments),
        };
        let (line, column) = place;
        let mut step = |action| {
            self.script.steps.push(Step { line, column, action, output: output.clone() });
        };
        if is_sqlio(program) {
            step(Action::Call(arguments.to_vec()));
            return Ok(());
        }
        match program.to_ascii_lowercase().as_str() {
            "write-host" | "write-output" | "echo" | "write" => {
                step(Action::Echo(arguments.join(" ")));
            }
            "start-sleep" | "sleep" => {
                let seconds = match arguments {
                    [seconds] => seconds,
                    [flag, seconds] if "-seconds".starts_with(&flag.to_ascii_lowercase()) => {
                        seconds
                    }
                    _ => return Err(wrong()),
                };
                let seconds = seconds.parse().ok().filter(|s| *s <= PAUSE_S_MAX);
                step(Action::Pause(seconds.ok_or_else(wrong)?));
            }
            "clear-host" | "cls" | "exit" | "clear" => {}
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// A command, and where its output goes: `>`, `>>`, `| Out-File -Append`, `| Out-Null`.
    fn without_output(&self, head: &str) -> Option<(String, Option<Output>)> {
        if let Some(at) = outside_quotes(head, '|') {
            let words = self.words(head.get(at + 1..)?)?;
            let (program, rest) = words.split_first()?;
            let command = head.get(..at)?.to_owned();
            let append = rest.iter().any(|w| w.eq_ignore_ascii_case("-append"));
            let names: Vec<&String> = rest
                .iter()
                .filter(|w| !["-append", "-filepath", "-path"].contains(&w.to_lowercase().as_str()))
                .collect();
            return match (program.to_ascii_lowercase().as_str(), names.as_slice()) {
                ("out-null", []) => Some((command, Some(Output { file: None, append }))),
                ("out-file" | "add-content", [name]) => {
                    let append = append || program.eq_ignore_ascii_case("add-content");
                    Some((command, Some(Output { file: Some((*name).clone()), append })))
                }
                _ => None,
            };
        }
        let Some(at) = outside_quotes(head, '>') else { return Some((head.to_owned(), None)) };
        let rest = head.get(at + 1..)?;
        let append = rest.starts_with('>');
        let rest = rest.trim_start_matches('>').trim();
        let file = if rest.eq_ignore_ascii_case("$null") {
            None
        } else {
            let mut names = self.words(rest)?;
            let name = names.pop()?;
            names.is_empty().then_some(())?;
            Some(name)
        };
        Some((head.get(..at)?.to_owned(), Some(Output { file, append })))
    }

    /// The values of a list: `1,2,4`, `@('E', 'F')`, `1..4`, `$name`.
    fn values(&self, text: &str) -> Option<Vec<String>> {
        let text = text.trim();
        let inner = text.strip_prefix("@(").or_else(|| text.strip_prefix('('));
        let text = inner.and_then(|t| t.strip_suffix(')')).unwrap_or(text).trim();
        if let Some(known) = text.strip_prefix('$').and_then(|n| self.known(n)) {
            return Some(known);
        }
        if let Some((first, last)) = text.split_once("..") {
            let number = |text: &str| self.value(text.trim())?.parse::<i64>().ok();
            let (first, last) = (number(first)?, number(last)?);
            let many = usize::try_from(last.checked_sub(first)?.checked_abs()?).ok()?;
            (many < VALUES_MAX).then_some(())?;
            let up = (first..=last).map(|n| n.to_string());
            let down = (last..=first).rev().map(|n| n.to_string());
            return Some(if first <= last { up.collect() } else { down.collect() });
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = outside_quotes(rest, ',') {
            parts.push(rest.get(..at)?);
            rest = rest.get(at + 1..)?;
        }
        parts.push(rest);
        parts.into_iter().map(|part| self.value(part.trim())).collect()
    }

    /// The value of one literal or variable.
    fn value(&self, text: &str) -> Option<String> {
        if let Some(inner) = quoted(text, '\'') {
            return Some(inner.replace("''", "'"));
        }
        if let Some(inner) = quoted(text, '"') {
            return self.filled(inner);
        }
        if let Some(known) = text.strip_prefix('$').and_then(|name| self.known(name)) {
            return match known.as_slice() {
                [one] => Some(one.clone()),
                _ => None,
            };
        }
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if is_number { Some(text.to_owned()) } else { self.computed(text) }
    }

    /// The value of `10*60` or `$minutes * 60`; `None` if it is not whole.
    fn computed(&self, text: &str) -> Option<String> {
        let filled = self.filled(text)?;
        let is_plain = |c: char| c.is_ascii_digit() || "+-*/%() ".contains(c);
        let number = |text: &str| text.trim().parse::<i64>().ok();
        let is_whole = match filled.split_once('/') {
            None => true,
            Some((over, by)) => number(over)?.checked_rem(number(by)?)? == 0,
        };
        let value = (is_whole && filled.chars().all(is_plain))
            .then(|| arithmetic::value(&filled, &|_| None))
            .flatten()?;
        Some(value.to_string())
    }

    fn known(&self, name: &str) -> Option<Vec<String>> {
        let name = name.trim().trim_start_matches('{').trim_end_matches('}').to_ascii_lowercase();
        if let Some(variable) = name.strip_prefix("env:") {
            return (self.around.variables)(variable).map(|value| vec![value]);
        }
        self.variables.get(&name).cloned()
    }

    /// A text with the values of `$name`, `${name}`, `$($name)` and `$($name*60)`; `None` if one is
    /// not known.
    fn filled(&self, text: &str) -> Option<String> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if let Some(inner) = after.strip_prefix('(') {
                let (inner, tail) = inner.split_once(')')?;
                out.push_str(&self.values(inner)?.join(" "));
                rest = tail;
                (out.len() <= LINE_BYTES_MAX).then_some(())?;
                continue;
            }
            let (name, tail) = if let Some(inner) = after.strip_prefix('{') {
                inner.split_once('}')?
            } else {
                let is_name = |c: char| c.is_alphanumeric() || c == '_';
                let of_environment = after.get(..4).is_some_and(|p| p.eq_ignore_ascii_case("env:"));
                let from = if of_environment { 4 } else { 0 };
                let rest = after.get(from..)?;
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                after.split_at(from + end)
            };
            out.push_str(&self.known(name)?.join(" "));
            rest = tail;
            (out.len() <= LINE_BYTES_MAX).then_some(())?;
        }
        Some(out + rest)
    }

    /// The words of a command, with their values.
    fn words(&self, text: &str) -> Option<Vec<String>> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        let mut part = String::new();
        for c in text.chars() {
            match (quote, c) {
                (None, '"' | '\'') => {
                    word.get_or_insert_default().push_str(&self.filled(&part)?);
                    part.clear();
                    quote = Some(c);
                }
                (Some('\''), '\'') => {
                    word.get_or_insert_default().push_str(&part);
                    part.clear();
                    quote = None;
                }
                (Some('"'), '"') => {
                    word.get_or_insert_default().push_str(&self.filled(&part)?);
                    part.clear();
                    quote = None;
                }
                (None, c) if c.is_whitespace() => {
                    if !part.is_empty() {
                        word.get_or_insert_default().push_str(&self.filled(&part)?);
                        part.clear();
                    }
                    words.extend(word.take());
                }
                (None, '(' | ')' | '{' | '}' | '[' | ']') if !part.contains('$') => return None,
                _ => part.push(c),
            }
        }
        if quote.is_some() {
            return None;
        }
        if !part.is_empty() {
            word.get_or_insert_default().push_str(&self.filled(&part)?);
        }
        words.extend(word);
        Some(words)
    }
}

/// Splits `$name = VALUE` into name and value.
fn assignment(head: &str) -> Option<(String, &str)> {
    let (name, value) = head.strip_prefix('$')?.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then(|| (name.to_ascii_lowercase(), value))
}

/// The text within these marks, if there is no text outside of them.
fn quoted(text: &str, mark: char) -> Option<&str> {
    let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
    (!inner.replace("''", "").contains(mark)).then_some(inner)
}

/// The first of these letters that is not in quotation marks.
fn outside_quotes(text: &str, letter: char) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            None if c == letter => return Some(at),
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(mark) if mark == c => quote = None,
            _ => {}
        }
    }
    None
}

fn not_understood(what: &str) -> String {
    let first = what.lines().next().unwrap_or_default();
    let mut shown: String = first.chars().take(60).collect();
    if shown.len() < what.len() {
        shown.push('…');
    }
    format!(
        "`{shown}` is not understood: of PowerShell only calls of sqlio, `Write-Host`, \
         `Start-Sleep`, variables of literals and loops over literals are. Write the calls into a \
         batch file, or let PowerShell itself call `iosonde sqlio`"
    )
}
