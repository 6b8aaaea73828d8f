//! The words of the field that a report uses, each explained once: at the end of a full report, and
//! as a tooltip where a heading is such a word.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::{Language, say, speak, spoken};

/// An entry of the glossary.
pub(crate) struct Term {
    /// The word, as it heads its entry.
    pub(crate) name: String,
    /// What it means, in a sentence or two.
    pub(crate) meaning: String,
    /// The chapter of METHODS.md that defines it, as links name it; `None` if no chapter does.
    pub(crate) chapter: Option<&'static str>,
    /// Other headings of reports that mean it.
    headings: Vec<String>,
    /// How English sentences of documents call it.
    english: &'static [&'static str],
}

impl Term {
    fn new(name: String, meaning: String, english: &'static [&'static str]) -> Self {
        Self { name, meaning, chapter: None, headings: Vec::new(), english }
    }

    fn heads(self, headings: impl Into<Vec<String>>) -> Self {
        Self { headings: headings.into(), ..self }
    }

    fn defined_in(self, chapter: &'static str) -> Self {
        Self { chapter: Some(chapter), ..self }
    }

    /// Whether a text, in small letters, uses the word.
    fn is_in(&self, text: &str) -> bool {
        let own = self.headings.iter().chain([&self.name]).map(|word| word.to_lowercase());
        let english = self.english.iter().map(|word| (*word).to_owned());
        own.chain(english).any(|word| has_word(text, &word))
    }
}

/// Whether a word is in a text and not only part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // `p99` is not in `p99.9`.
    let is_part = |rest: &str| {
        let mut letters = rest.chars();
        match letters.next() {
            Some('.') => letters.next().is_some_and(|c| c.is_ascii_digit()),
            Some(c) => word.ends_with(joins) && joins(c),
            None => false,
        }
    };
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let joined = word.starts_with(joins) && before.is_some_and(joins);
        !joined && !is_part(&text[at + word.len()..])
    })
}

/// Every word, in the language that is spoken and in the order in which they follow from each
/// other.
pub(crate) fn terms() -> Vec<Term> {
    rates().into_iter().chain(loads()).chain(windows()).collect()
}

/// Words for what is counted and timed.
fn rates() -> Vec<Term> {
    let term = Term::new;
    vec![
        term(say!("glossary-iops"), say!("glossary-iops-is"), &["iops"]).defined_in("iops"),
        term(say!("glossary-mib-per-s"), say!("glossary-mib-per-s-is"), &["mib/s"])
            .defined_in("mibs"),
        term(say!("glossary-p99"), say!("glossary-p99-is"), &["p99", "99th percentile"])
            .heads([say!("label-read-p99"), say!("label-write-p99")])
            .defined_in("percentiles"),
        term(say!("glossary-p99-9"), say!("glossary-p99-9-is"), &["p99.9"])
            .defined_in("percentiles"),
        term(say!("glossary-interval"), say!("glossary-interval-is"), &["±", "interval"])
            .heads(["± %".to_owned(), "±".to_owned()])
            .defined_in("interval"),
    ]
}

/// Words for how much I/O is in flight, and where more stops paying off.
fn loads() -> Vec<Term> {
    let term = Term::new;
    vec![
        term(say!("glossary-in-flight"), say!("glossary-in-flight-is"), &["in flight"])
            .heads([say!("label-in-flight"), say!("label-i-os-in-flight")])
            .defined_in("in-flight"),
        term(say!("glossary-queue-depth"), say!("glossary-queue-depth-is"), &["depth"])
            .heads([say!("label-depth")])
            .defined_in("depth"),
        term(
            say!("glossary-operating-point"),
            say!("glossary-operating-point-is"),
            &["operating point", "operating points"],
        )
        .heads([say!("label-operating-point"), say!("heading-operating-points")])
        .defined_in("operating-point"),
        term(say!("glossary-knee"), say!("glossary-knee-is"), &["knee", "saturation point"])
            .heads([say!("heading-saturation-point")])
            .defined_in("knee"),
        term(say!("glossary-n-star"), say!("glossary-n-star-is"), &["n*"])
            .heads([say!("label-little-knee-n")])
            .defined_in("little-knee-n"),
        term(say!("glossary-open-loop"), say!("glossary-open-loop-is"), &["open loop", "offered"])
            .defined_in("open-loop"),
    ]
}

/// Which I/O is made, and which of it counts.
fn windows() -> Vec<Term> {
    let term = Term::new;
    vec![
        term(say!("glossary-direct"), say!("glossary-direct-is"), &["direct"])
            .heads([say!("caption-direct")]),
        term(say!("glossary-durable"), say!("glossary-durable-is"), &["durable"])
            .defined_in("durable-write"),
        term(say!("glossary-warm-up"), say!("glossary-warm-up-is"), &["warm-up"])
            .defined_in("warm-up"),
        term(
            say!("glossary-steady-state"),
            say!("glossary-steady-state-is"),
            &["steady state", "steady", "settled"],
        )
        .defined_in("steady-state"),
    ]
}

/// The words that a text in small letters uses.
pub(crate) fn used_in(text: &str) -> Vec<Term> {
    terms().into_iter().filter(|term| term.is_in(text)).collect()
}

/// What headings mean, in the order of [`Language::ALL`].
static MEANINGS: LazyLock<[HashMap<String, String>; 5]> = LazyLock::new(|| {
    Language::ALL.map(|language| {
        let entries = speak(language, terms).into_iter().flat_map(|term| {
            let meaning = term.meaning;
            let names = term.headings.into_iter().chain([term.name]);
            names.map(move |name| (name, meaning.clone())).collect::<Vec<_>>()
        });
        entries.collect()
    })
});

/// What a heading means, where it is one of the words.
pub(crate) fn meaning(heading: &str) -> Option<&'static str> {
    MEANINGS[spoken() as usize].get(heading).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole() {
        assert!(has_word("at 32 in flight, p99 1 ms", "p99"));
        assert!(!has_word("p99.9 2 ms", "p99") && has_word("p99.9 2 ms", "p99.9"));
        assert!(has_word("the p99. next", "p99"), "a sentence may end with it");
        assert!(!has_word("indirectly", "direct") && has_word("n* is 4", "n*"));
        assert!(has_word("最高吞吐在途 32", "在途"), "no space is needed in Chinese");
    }

    #[test]
    fn only_what_is_used_is_explained() {
        let names = |text: &str| used_in(text).into_iter().map(|t| t.name).collect::<Vec<_>>();
        assert_eq!(names("41 200 iops at p99.9 of 1 ms"), ["IOPS", "p99.9"]);
        assert!(names("nothing of it").is_empty());
        let german = speak(Language::German, || names("at 4 in flight"));
        assert_eq!(german.len(), 1, "a sentence of the document is English: {german:?}");
    }

    #[test]
    fn a_heading_has_its_meaning_in_the_language_that_is_spoken() {
        assert!(meaning("In flight").is_some_and(|m| m.contains("not completed")));
        assert_eq!(meaning("Target"), None);
        assert_eq!(speak(Language::German, || meaning("In flight")), None);
        assert!(speak(Language::German, || meaning("Ausstehend")).is_some());
    }

    /// An entry of the glossary named a chapter that was called otherwise by then.
    #[test]
    fn every_chapter_is_there() {
        let methods = include_str!("../../../METHODS.md");
        let anchor = |heading: &str| {
            let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
            heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
        };
        let headings = methods.lines().filter(|line| line.starts_with("##"));
        let chapters: Vec<String> =
            headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect();
        for term in terms() {
            if let Some(chapter) = term.chapter {
                assert!(chapters.iter().any(|c| c == chapter), "{}: {chapter}", term.name);
            }
        }
    }
}
