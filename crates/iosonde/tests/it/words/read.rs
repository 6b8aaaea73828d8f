//! What a person reads in a file: paragraphs of a document, the help, messages, texts in code.

/// A paragraph or a message, on one line.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    /// The file and the line in which it begins.
    pub place: String,
    pub text: String,
}

fn passage(name: &str, line: usize, text: &str) -> Passage {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Passage { place: format!("{name}:{line}"), text }
}

/// The lines of a document that are not code, a table or a picture, with their numbers.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let mut is_code = false;
    let mut before = "";
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let is_indented = line.starts_with("    ");
        is_code = is_indented && (is_code || before.trim().is_empty());
        let is_table = line.starts_with('|') || line.starts_with("![");
        if !is_fence && !is_fenced && !is_code && !is_table {
            found.push((number, line));
        }
        before = line;
    }
    found
}

/// Text without code and without the addresses of links; a piece of code is one word.
fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let spoken: String = parts.map(|(at, part)| if at % 2 == 0 { part } else { "X" }).collect();
    let mut out = String::new();
    let mut rest = spoken.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// The paragraphs, items of lists and cells of tables of a document.
pub(crate) fn markdown(name: &str, text: &str) -> Vec<Passage> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut last = 0;
    for (number, line) in prose(text) {
        let is_new = [" ", "#", "- ", "* "].iter().any(|mark| line.starts_with(mark))
            && !line.starts_with("  ")
            || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        match found.last_mut() {
            Some((_, text)) if last + 1 == number && !is_new && !line.trim().is_empty() => {
                text.push(' ');
                text.push_str(line);
            }
            _ => found.push((number, line.to_owned())),
        }
        // A line after an empty one or a heading begins a passage.
        last = if line.trim().is_empty() || line.starts_with('#') { 0 } else { number };
    }
    for (number, row) in (1..).zip(text.lines()).filter(|(_, line)| line.starts_with('|')) {
        found.extend(row.split('|').map(|cell| (number, cell.to_owned())));
    }
    let passages = found.iter().map(|(line, text)| passage(name, *line, &without_code(text)));
    passages.filter(|passage| !passage.text.is_empty()).collect()
}

/// The paragraphs of help; flags, usage and examples are not sentences.
pub(crate) fn help(name: &str, text: &str) -> Vec<Passage> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.trim();
        let is_flag = words.starts_with('-') || words.starts_with('<') || words.starts_with('[');
        let is_code = words.starts_with("iosonde ") || words.starts_with("Usage:");
        if words.is_empty() || is_code || words.starts_with("$ ") || words.ends_with(':') {
            is_open = false;
            continue;
        }
        // A command or a flag stands two or more blanks before its words.
        let words = words.split_once("  ").map_or(words, |(_, help)| help.trim());
        // Exit codes are a list of numbers.
        let is_code = words.starts_with(|c: char| c.is_ascii_digit());
        let is_new = is_flag || is_code || line.trim().contains("  ");
        match found.last_mut() {
            Some((_, text)) if is_open && !is_new => {
                text.push(' ');
                text.push_str(words);
            }
            _ => found.push((number, words.to_owned())),
        }
        is_open = !is_flag || line.trim().contains("  ");
    }
    found.iter().map(|(line, text)| passage(name, *line, &without_code(text))).collect()
}

/// The values of a file of messages.
pub(crate) fn messages(name: &str, text: &str) -> Vec<Passage> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines().filter(|line| !line.starts_with('#'))) {
        if let Some((_, value)) = line.split_once('=').filter(|_| !line.starts_with(' ')) {
            found.push((number, value.to_owned()));
        } else if let Some((_, value)) = found.last_mut() {
            value.push(' ');
            value.push_str(line);
        }
    }
    found.iter().map(|(line, text)| passage(name, *line, text)).collect()
}

/// The texts in a source, without those of its tests.
pub(crate) fn literals(name: &str, source: &str) -> Vec<Passage> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut line = 1;
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'', '\n']) {
        let (before, from) = (&rest[..at], &rest[at..]);
        let mut length = 1;
        if from.starts_with("//") {
            length = from.find('\n').unwrap_or(from.len());
        } else if from.starts_with("'\"'") || from.starts_with("'\\\"'") {
            length = from[1..].find('\'').map_or(1, |end| end + 2);
        } else if let Some(inside) = from.strip_prefix('"') {
            let hashes = before.len() - before.trim_end_matches('#').len();
            let is_raw = before[..before.len() - hashes].ends_with('r');
            let inner = if is_raw { raw(inside, hashes) } else { quoted(inside) };
            let text = inner.replace("\\\n", " ").replace("\\n", "\n").replace("\\\"", "\"");
            let spoken = without_places(&without_code(&text));
            // Lines of a text that has several, such as a usage, are passages.
            found.extend(spoken.lines().map(|part| passage(name, line, part)));
            length = inner.len() + 2;
        }
        let length = length.min(from.len());
        line += from[..length].matches('\n').count();
        rest = &from[length..];
    }
    found.retain(|passage| passage.text.contains(' '));
    found
}

/// What stands before the quote that ends a text.
fn quoted(text: &str) -> &str {
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    &text[..end.unwrap_or(text.len())]
}

fn raw(text: &str, hashes: usize) -> &str {
    let end = format!("\"{}", "#".repeat(hashes));
    &text[..text.find(&end).unwrap_or(text.len())]
}

/// Text whose places for values (`{name}`) are a word each.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        out.push('X');
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// The sentences of a passage. What stands in brackets after a flag's help is not one.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ') {
        let before = &text[start..at];
        let is_end = before.ends_with(['.', '!', '?']) || text[at + 1..].starts_with('[');
        if is_end && !before.ends_with("e.g.") && !before.ends_with("i.e.") {
            found.push(before);
            start = at + 1;
        }
    }
    found.push(&text[start..]);
    found
}
