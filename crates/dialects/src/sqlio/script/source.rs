//! The lines of a batch file, and their variables' values.

use super::{Around, LATE, LINE_BYTES_MAX};
use std::collections::HashMap;

/// A place in the file: line and column in characters, both from 1.
pub(super) type Place = (usize, usize);

/// Surrounds the name of an unset variable in a text, in the place of its value.
pub(super) const UNSET: char = '\u{f8ff}';

/// A line with those that a `^` at its end, or an open parenthesis, joins to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Logical {
    pub(super) text: String,
    /// Where each line of the file begins in it, in bytes, and its number.
    parts: Vec<(usize, usize)>,
}

impl Logical {
    /// Line and column of a byte, both from 1.
    pub(super) fn place(&self, byte: usize) -> Place {
        let part = self.parts.iter().rev().find(|(start, _)| *start <= byte);
        let (start, number) = part.copied().unwrap_or((0, 1));
        let before = self.text.get(start..byte).unwrap_or_default();
        (number, before.chars().count() + 1)
    }

    /// Adds a line of a block.
    pub(super) fn join(&mut self, next: &Self) {
        self.text.push('\n');
        let from = self.text.len();
        self.parts.extend(next.parts.iter().map(|(start, number)| (from + start, *number)));
        self.text.push_str(&next.text);
    }

    /// The name of the label that the line is.
    pub(super) fn label(&self) -> Option<String> {
        let name = self.text.trim_start().strip_prefix(':')?;
        let name = name.split([' ', '\t', ':', '&', '|', '>']).next().unwrap_or_default();
        (!name.is_empty()).then(|| name.to_ascii_lowercase())
    }

    /// Whether it begins a loop, a condition or a block, which may continue over several lines.
    pub(super) fn begins_block(&self) -> bool {
        let line = self.text.trim_start().trim_start_matches(['@', ' ', '\t']);
        let word = first_word(line);
        line.starts_with('(') || word == "for" || word == "if"
    }

    /// How many parentheses are open after it, of so many before it. Those in quotation marks do
    /// not count.
    pub(super) fn open_after(&self, before: usize) -> usize {
        let (mut depth, mut quoted, mut escaped) = (before, false, false);
        for c in self.text.chars() {
            match c {
                _ if escaped => escaped = false,
                '"' => quoted = !quoted,
                '^' if !quoted => escaped = true,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        depth
    }
}

/// The lines of a text, those that end in `^` with the next.
pub(super) fn logical_lines(text: &str) -> Vec<Logical> {
    let mut lines: Vec<Logical> = Vec::new();
    let mut goes_on = false;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim_end().trim_start_matches('\u{feff}').replace(UNSET, "?");
        let carets = line.len() - line.trim_end_matches('^').len();
        let part =
            if carets % 2 == 1 { line.get(..line.len() - 1).unwrap_or_default() } else { &line };
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

/// The command of a line in small letters: letters, digits and signs that names may have, up to the
/// first other.
pub(super) fn first_word(line: &str) -> String {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
    line.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// The values of `%NAME%`, `%1` and `!NAME!`.
pub(super) struct Values<'a> {
    pub(super) around: &'a Around<'a>,
    /// Variables by their names in capitals.
    pub(super) variables: HashMap<String, String>,
    /// The values of `%1` and so on.
    pub(super) arguments: Vec<String>,
}

/// A line with the values of its variables.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// Where its parts begin, where each comes from in the line, and whether it is unchanged.
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
    pub(super) fn origin(&self, byte: usize) -> usize {
        let place = self.origins.partition_point(|(start, _, _)| *start <= byte);
        let part = place.checked_sub(1).and_then(|at| self.origins.get(at));
        part.map_or(0, |(start, from, same)| if *same { from + byte - start } else { *from })
    }
}

/// Lines that grow beyond all bounds.
pub(super) const TOO_LONG: &str = "its variables make it too long";

impl Values<'_> {
    /// A text with the values of its variables in `%`. `%%` means one `%`.
    pub(super) fn expanded(&self, line: &str) -> Result<Expanded, &'static str> {
        let mut out = Expanded::default();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('%') {
            let at = line.len() - rest.len() + before.len();
            out.verbatim(before, at - before.len());
            if let Some(after) = after.strip_prefix('%') {
                out.value("%", at);
                rest = after;
            } else if let Some((value, after)) = self.argument(after) {
                out.value(&value, at);
                rest = after;
            } else {
                // A `%` without another is dropped, as `cmd` does.
                let name = after.split_once('%').filter(|(name, _)| !name.contains('\n'));
                let (name, after) = name.unwrap_or(("", after));
                if !name.is_empty() {
                    out.value(&self.variable(name), at);
                }
                rest = after;
            }
            if out.text.len() > LINE_BYTES_MAX {
                return Err(TOO_LONG);
            }
        }
        out.verbatim(rest, line.len() - rest.len());
        Ok(out)
    }

    /// The same for `!NAME!`, where `setlocal enabledelayedexpansion` asks for it.
    pub(super) fn delayed(&self, text: &str) -> Result<String, &'static str> {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('!') {
            out.push_str(before);
            let Some((name, after)) = after.split_once('!') else {
                rest = after;
                continue;
            };
            out.push_str(&self.variable(name));
            rest = after;
            if out.len() > LINE_BYTES_MAX {
                return Err(TOO_LONG);
            }
        }
        Ok(out + rest)
    }

    /// `%1`, `%*`, `%~1`, `%~dp0`: the value, and what follows.
    fn argument<'t>(&self, after: &'t str) -> Option<(String, &'t str)> {
        if let Some(rest) = after.strip_prefix('*') {
            return Some((self.arguments.join(" "), rest));
        }
        let (bare, rest) = match after.strip_prefix('~') {
            Some(rest) => {
                let rest = rest.trim_start_matches(|c: char| "dpnxfsatzDPNXFSATZ".contains(c));
                (true, rest)
            }
            None => (false, after),
        };
        let digit = rest.chars().next().and_then(|c| c.to_digit(10))?;
        let tail = rest.get(1..)?;
        let Some(number) = (digit as usize).checked_sub(1) else {
            // Names are of the directory that iosonde runs in, as if it were that of the file.
            let is_directory = after.starts_with("~d") || after.starts_with("~p");
            let own = if is_directory { String::new() } else { self.around.file.to_owned() };
            return Some((own, tail));
        };
        let value = match self.arguments.get(number) {
            Some(value) if bare => value.trim_matches('"').to_owned(),
            Some(value) => value.clone(),
            None => unset(&digit.to_string()),
        };
        Some((value, tail))
    }

    /// The value of `NAME`, `NAME:~2,3` or `NAME:old=new`.
    pub(super) fn variable(&self, name: &str) -> String {
        let (name, change) = match name.split_once(':') {
            Some((name, change)) if !name.is_empty() => (name, Some(change)),
            _ => (name, None),
        };
        let capitals = name.trim().to_ascii_uppercase();
        let own = self.variables.get(&capitals).cloned();
        if own.is_none() && LATE.contains(&capitals.as_str()) {
            // Parts of a date follow from how a machine writes it: it is taken as a whole.
            return format!("%{capitals}%");
        }
        match own.or_else(|| (self.around.variables)(name)).filter(|value| !value.is_empty()) {
            None => unset(name),
            Some(value) => change.map_or_else(|| value.clone(), |change| changed(&value, change)),
        }
    }
}

fn unset(name: &str) -> String {
    format!("{UNSET}{name}{UNSET}")
}

/// A text without the marks of variables that are not set; and the name of the first of them.
pub(super) fn without_unset(text: &str) -> (String, Option<String>) {
    if !text.contains(UNSET) {
        return (text.to_owned(), None);
    }
    let kept = text.split(UNSET).step_by(2).collect();
    (kept, text.split(UNSET).nth(1).map(str::to_owned))
}

/// `~2,3`: a part of a value; `old=new`: the value with all of one text replaced.
fn changed(value: &str, change: &str) -> String {
    if let Some(part) = change.strip_prefix('~') {
        let letters: Vec<char> = value.chars().collect();
        let (from, length) = part.split_once(',').unwrap_or((part, ""));
        let count = i64::try_from(letters.len()).unwrap_or(i64::MAX);
        let at = |text: &str| text.trim().parse::<i64>().ok();
        let place = |n: i64| if n < 0 { (count + n).max(0) } else { n.min(count) };
        let from = place(at(from).unwrap_or(0));
        let to = match at(length) {
            None => count,
            Some(length) if length < 0 => (count + length).max(from),
            Some(length) => from.saturating_add(length).min(count),
        };
        let index = |n: i64| usize::try_from(n).unwrap_or(0);
        return letters.get(index(from)..index(to)).unwrap_or_default().iter().collect();
    }
    match change.split_once('=') {
        Some((old, new)) if !old.is_empty() => value.replace(old, new),
        _ => value.to_owned(),
    }
}

/// The message about a value that a call lacks.
pub(super) fn unset_words(name: &str) -> String {
    if name.chars().all(|c| c.is_ascii_digit()) {
        return format!(
            "`%{name}` is word {name} after the name of the batch file, and there is none; add it: \
             `iosonde sqlio script FILE WORD…`"
        );
    }
    format!("`%{name}%` is set nowhere; set it in the environment (`{name}=… iosonde …`)")
}

/// The words of a list; quotation marks keep blanks together and stay.
pub(super) fn parted(list: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in list.chars() {
        quoted ^= c == '"';
        if !quoted && (c.is_whitespace() || matches!(c, ',' | ';' | '=')) {
            words.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
