//! What tells results apart: the shortest words that differ.

use results::Document;

use crate::language::say;
use crate::words;

/// One word per result, from what differs between them: tag, host, target, device or time. `tags`
/// are those that they were named by, where they were.
#[must_use]
pub fn names(documents: &[&Document], tags: &[Option<String>]) -> Vec<String> {
    let of = |word: &dyn Fn(&Document) -> String| -> Vec<String> {
        documents.iter().map(|document| word(document)).collect()
    };
    let tags: Vec<String> = (0..documents.len())
        .map(|place| tags.get(place).cloned().flatten().unwrap_or_default())
        .collect();
    let places = [
        of(&host),
        of(&super::super::tested::place),
        of(&device),
        of(&|d| words::clean(&d.title())),
    ];
    let times = [of(&day), of(&minute), of(&|d| words::moment(d.started()))];
    // A tag that was chosen for one side only must not give way to the time by which both differ.
    let alone = times.iter().filter(|_| tags.iter().all(String::is_empty));
    let single = std::iter::once(&tags).chain(&places).chain(alone);
    if let Some(found) = single.into_iter().find(|words| are_distinct(words)) {
        return found.clone();
    }
    // No word does it alone: all that differ, and the time.
    let differing: Vec<&Vec<String>> =
        std::iter::once(&tags).chain(&places).filter(|words| do_differ(words)).collect();
    for time in &times {
        let joined = joined(&differing, time);
        if are_distinct(&joined) {
            return joined;
        }
    }
    let all = joined(&differing, &times[1]);
    let numbered = |(place, name): (usize, &String)| {
        say!("overlay-name-number", name = name, number = (place + 1).to_string())
    };
    all.iter().enumerate().map(numbered).collect()
}

fn joined(columns: &[&Vec<String>], last: &[String]) -> Vec<String> {
    let of = |(place, last): (usize, &String)| {
        let words = columns.iter().filter_map(|words| words.get(place));
        let words = words.chain([last]).filter(|word| !word.is_empty());
        words.cloned().collect::<Vec<_>>().join(", ")
    };
    last.iter().enumerate().map(of).collect()
}

fn are_distinct(words: &[String]) -> bool {
    let others = |place: usize| words.iter().skip(place + 1);
    let mut all = words.iter().enumerate();
    all.all(|(place, word)| !word.is_empty() && others(place).all(|other| other != word))
}

fn do_differ(words: &[String]) -> bool {
    words.windows(2).any(|pair| pair[0] != pair[1])
}

fn host(document: &Document) -> String {
    let host = document.environment().host.as_ref();
    host.map_or_else(String::new, |host| words::clean(&host.hostname))
}

fn device(document: &Document) -> String {
    words::clean(&document.environment().device().unwrap_or_default())
}

/// The day it started, in UTC.
fn day(document: &Document) -> String {
    let started = words::clean(document.started());
    started.split_once('T').map_or(started.clone(), |(day, _)| day.to_owned())
}

/// The day and minute it started, in UTC.
fn minute(document: &Document) -> String {
    let started = words::clean(document.started());
    match started.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.get(..5).unwrap_or(time)),
        None => started,
    }
}
