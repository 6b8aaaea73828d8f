//! One command of a batch file: its words, where its output goes, and what it does here.

use super::source::first_word;
use super::{Action, Output, PAUSE_S_MAX, is_sqlio};

/// A command, split into its parts.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) words: Vec<String>,
    /// All of it but the redirections.
    pub(super) plain: String,
    pub(super) output: Option<Output>,
    /// Parts that iosonde does in another way.
    pub(super) notes: Vec<String>,
}

/// What a command of the script becomes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// A step of the script to run.
    Step(Action),
    /// Nothing, because the command has no effect on the test.
    Nothing,
    /// Nothing: iosonde leaves it out, for this reason.
    Skipped(String),
}

/// Commands that only change how a console looks or a shell reads.
const SILENT: [&str; 11] = [
    "cls", "title", "color", "setlocal", "endlocal", "chcp", "prompt", "verify", "break", "mode",
    "else",
];

/// What a command does. `set`, `goto`, `call :label`, `shift` and `exit` are not asked here.
pub(super) fn does(pieces: &Pieces) -> Does {
    let Some(program) = pieces.words.first() else { return Does::Nothing };
    let word = first_word(&pieces.plain);
    let arguments = pieces.words.get(1..).unwrap_or_default();
    if let Some(call) = call(&word, &pieces.words) {
        return Does::Step(Action::Call(call));
    }
    let pause = |number: Option<&String>| {
        let seconds = number.and_then(|n| n.parse().ok()).filter(|s| *s <= PAUSE_S_MAX);
        seconds.map_or_else(
            || {
                Does::Skipped(format!(
                    "`{}` does not say for how many seconds; it is skipped",
                    pieces.plain
                ))
            },
            |s: u32| Does::Step(Action::Pause(s)),
        )
    };
    match word.as_str() {
        "echo" => echo(&pieces.plain).map_or(Does::Nothing, |t| Does::Step(Action::Echo(t))),
        "timeout" => pause(arguments.iter().find(|a| !a.starts_with(['/', '-']))),
        "sleep" => pause(arguments.first()),
        // The pause of systems without `timeout`: so many pings to oneself, a second apart.
        "ping" if arguments.iter().any(|a| is_own_address(a)) => {
            let count = arguments.iter().position(|a| a.eq_ignore_ascii_case("-n"));
            match pause(count.and_then(|at| arguments.get(at + 1))) {
                Does::Step(Action::Pause(pings)) => {
                    Does::Step(Action::Pause(pings.saturating_sub(1)))
                }
                other => other,
            }
        }
        "pause" | "choice" => {
            Does::Skipped(format!("`{word}` is skipped: nothing here waits for a key"))
        }
        "cd" | "chdir" | "pushd" | "popd" => Does::Skipped(format!(
            "`{word}` is skipped: relative names refer to the directory that iosonde runs in"
        )),
        "call" => Does::Skipped(format!(
            "`{}` is skipped: only sqlio and labels of the same file are called here",
            pieces.plain
        )),
        "del" | "erase" | "rd" | "rmdir" | "move" | "ren" | "rename" => Does::Skipped(format!(
            "`{word}` is skipped: a batch file deletes and renames nothing here"
        )),
        _ if SILENT.contains(&word.as_str()) || is_drive(program) => Does::Nothing,
        _ => Does::Skipped(format!("`{program}` is skipped: it has no meaning here")),
    }
}

/// The arguments of a call of SQLIO, also of one that `call`, `start` or `cmd /c` makes.
fn call(word: &str, words: &[String]) -> Option<Vec<String>> {
    let at = words.iter().position(|word| is_sqlio(word))?;
    let before = words.get(1..at).unwrap_or_default();
    let starts = match word {
        _ if at == 0 => true,
        "call" => at == 1,
        // A title, and options.
        "start" => before.iter().all(|w| w.is_empty() || w.starts_with('/')),
        "cmd" => before.iter().all(|w| w.starts_with('/')),
        _ => false,
    };
    starts.then(|| words.get(at + 1..).unwrap_or_default().to_vec())
}

fn is_own_address(word: &str) -> bool {
    word == "127.0.0.1" || word == "::1" || word.eq_ignore_ascii_case("localhost")
}

/// `E:`, which makes a drive the current one.
fn is_drive(program: &str) -> bool {
    program.len() == 2 && program.ends_with(':')
}

/// The text that `echo` prints; `None` for `echo on` and `echo off`.
fn echo(plain: &str) -> Option<String> {
    let text = plain.get(4..).unwrap_or_default();
    let off = matches!(text.trim().to_ascii_lowercase().as_str(), "" | "on" | "off");
    match text.strip_prefix(['.', ':', '(']) {
        Some(text) => Some(text.to_owned()),
        None if off => None,
        None => Some(text.strip_prefix(' ').unwrap_or(text).to_owned()),
    }
}

/// Takes the words and the redirections out of a command. A quotation mark that is not closed ends
/// with it, as in `cmd`.
pub(super) fn pieces(line: &str) -> Pieces {
    let mut found = Pieces::default();
    // The word that is being read, once it has begun.
    let (mut word, mut quoted): (Option<String>, bool) = (None, false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
                found.plain.push(c);
            }
            '^' if !quoted => {
                if let Some(escaped) = rest.next() {
                    word.get_or_insert_default().push(escaped);
                    found.plain.push(escaped);
                }
            }
            '>' | '<' if !quoted => {
                let before = word.take();
                let number = before.clone().filter(|w| matches!(w.as_str(), "1" | "2"));
                if number.is_some() {
                    found.plain.pop();
                } else {
                    found.words.extend(before);
                }
                let append = rest.next_if_eq(&'>').is_some();
                let name = redirected(&mut rest);
                found.redirect(c, number.as_deref(), append, name);
            }
            c if c.is_whitespace() && !quoted => {
                found.words.extend(word.take());
                found.plain.push(c);
            }
            c => {
                word.get_or_insert_default().push(c);
                found.plain.push(c);
            }
        }
    }
    found.words.extend(word);
    found.plain.truncate(found.plain.trim_end().len());
    found
}

/// The name after a `>`, or the `&1` of a stream that is joined to another.
fn redirected(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    while rest.next_if(|c| c.is_whitespace()).is_some() {}
    let (mut name, mut quoted) = (String::new(), false);
    while let Some(c) = rest.next_if(|c| quoted || !(c.is_whitespace() || matches!(c, '>' | '<'))) {
        match c {
            '"' => quoted = !quoted,
            c => name.push(c),
        }
    }
    name
}

impl Pieces {
    fn redirect(&mut self, mark: char, number: Option<&str>, append: bool, file: String) {
        match (mark, number, file.as_str()) {
            ('<', ..) => self.notes.push(format!("`<{file}`: nothing here reads its input")),
            // Joined streams: what iosonde has to say goes to stderr in any case.
            (_, _, "&1" | "&2") => {}
            (_, _, "") => self.notes.push("a `>` has no file after it; it is left out".to_owned()),
            (_, Some("2"), _) => {
                let text = format!("`2>{file}`: messages go to stderr, and not into that file");
                self.notes.push(text);
            }
            _ => {
                let nothing = file.eq_ignore_ascii_case("nul") || file.eq_ignore_ascii_case("nul:");
                self.output = Some(Output { file: (!nothing).then_some(file), append });
            }
        }
    }
}
