//! How iosonde speaks: plain English, wherever a person reads it.
//!
//! What is read here: the help (`golden/help.txt`), the messages of reports, the texts that the
//! code prints, and the documents. `the_words_are_plain` finds phrases that are grammatical and
//! that nobody says; [`PHRASES`] has what to write instead. The other tests find long sentences,
//! wide lines and commands without an example.

use std::fs;
use std::path::{Path, PathBuf};

mod read;

use read::{Passage, help, literals, markdown, messages, sentences};

/// Phrases, each with what to write instead. A phrase is found as whole words.
const PHRASES: &[(&str, &str)] = &[
    ("is no", "is not a"),
    ("are no", "are not"),
    ("none where", "without X, there is no …"),
    ("behind", "after, followed by, under"),
    ("for each i/o", "per I/O"),
    ("for each second", "per second"),
    ("for each thread", "per thread"),
    ("for each target", "per target"),
    ("for each disk", "per disk"),
    ("for each byte", "per byte"),
    ("for each page", "per page"),
    ("for each measurement", "per measurement"),
    ("go on", "continue, resume"),
    ("goes on", "continues, resumes"),
    ("went on", "continued, kept running"),
    ("gone on with", "resumed"),
    ("is none of", "is not one of"),
    ("are none of", "are not among"),
    ("none: there is", "there is no"),
    ("told of", "reported"),
    ("tell of", "report"),
    ("tells of", "reports"),
    ("speaks against", "is a reason to doubt"),
    ("speak against", "are reasons to doubt"),
    ("is nobody's", "belongs to no one, has no user"),
    ("are nobody's", "belong to no one, have no user"),
    ("whoever", "the caller, the reader, anyone who"),
    ("is told", "iosonde reports, says"),
    ("are told", "iosonde reports, says"),
    ("is said", "iosonde reports, says"),
    ("are said", "iosonde reports, says"),
    ("is shown of", "iosonde shows"),
    ("for good", "stops it"),
    ("ended so", "ended this way"),
    ("of its own", "its own"),
    ("of their own", "their own"),
    ("this grave", "of this severity"),
    ("graver", "of higher severity"),
    ("in place of", "instead of"),
    ("beside", "next to, alongside, besides"),
    ("what limits", "the bottleneck, the limiting factor"),
    ("lies on", "is on"),
    ("lies in", "is in"),
    ("stands in", "is in"),
    ("stands on", "is on"),
    ("beyond its peak", "past its peak"),
    ("is at work, and more", "The storage is saturated"),
    ("paid for, as it should", "cost more than plain ones, as they should"),
    ("look after", "manage"),
    ("a screen of their own", "a full-screen live view"),
    ("makes the I/O", "I/O engine"),
];

/// What holds one of the phrases and is plain: "there is no X", "no longer", and what waits in a
/// queue.
const PLAIN: &[&str] = &[
    "there is no",
    "there are no",
    "is no longer",
    "are no longer",
    "is no more than",
    "is no farther",
    "wait behind",
    "waits behind",
    "waited behind",
    "waiting behind",
    "queue behind",
    "fall behind",
    "falls behind",
    "behind a proxy",
];

/// A longer sentence is two.
const WORDS_MAX: usize = 30;

/// A wider line of a document is two.
const COLUMNS_MAX: usize = 120;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(directory: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
}

/// Every file with this extension under a directory, with its name as people write it.
fn texts(directory: &str, extension: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root().join(directory), extension, &mut found);
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The documents that people read.
fn documents() -> Vec<(String, String)> {
    let mut all = texts("docs", "md");
    for name in ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "METHODS.md", "README.md"] {
        all.push((name.to_owned(), fs::read_to_string(root().join(name)).unwrap()));
    }
    all
}

fn helps() -> Vec<Passage> {
    let name = "crates/iosonde/tests/it/golden/help.txt";
    help(name, &fs::read_to_string(root().join(name)).unwrap())
}

/// The texts of the code that is shipped.
fn printed() -> Vec<Passage> {
    let is_shipped = |name: &str| {
        let unshipped = ["crates/bench/", "crates/testing/", "crates/truth/"];
        name.contains("/src/")
            && !name.contains("tests")
            && !unshipped.iter().any(|c| name.starts_with(c))
    };
    let sources = texts("crates", "rs").into_iter().filter(|(name, _)| is_shipped(name));
    sources.flat_map(|(name, text)| literals(&name, &text)).collect()
}

/// The words of reports in English.
fn reported() -> Vec<Passage> {
    let all = texts("crates/report/language", "ftl").into_iter();
    let english = all.filter(|(name, _)| name.contains("/en"));
    english.flat_map(|(name, text)| messages(&name, &text)).collect()
}

/// Whether a text has a phrase as whole words, and not within one that is plain.
fn has(text: &str, phrase: &str) -> bool {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        let is_plain = PLAIN.iter().any(|plain| {
            plain.find(phrase).is_some_and(|within| {
                at >= within && text.get(at - within..).is_some_and(|rest| rest.starts_with(plain))
            })
        });
        !is_plain && !is_letter(before.chars().next_back()) && !is_letter(after.chars().next())
    })
}

fn unplain(passages: &[Passage]) -> Vec<String> {
    let mut found = Vec::new();
    for passage in passages {
        let text = passage.text.to_lowercase();
        for (phrase, instead) in PHRASES {
            if has(&text, &phrase.to_lowercase()) {
                let Passage { place, text } = passage;
                found.push(format!("{place}: `{phrase}`: {instead}\n    {text}"));
            }
        }
    }
    found
}

fn long(passages: &[Passage]) -> Vec<String> {
    let mut found = Vec::new();
    for passage in passages {
        for sentence in sentences(&passage.text) {
            let words = sentence.split_whitespace().count();
            // A list of names or a question to a database has no article.
            let is_spoken =
                sentence.split(' ').any(|word| ["a", "the", "A", "The"].contains(&word));
            if words > WORDS_MAX && is_spoken {
                found.push(format!("{}: {words} words\n    {sentence}", passage.place));
            }
        }
    }
    found
}

#[track_caller]
fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
}

fn in_documents() -> Vec<Passage> {
    documents().iter().flat_map(|(name, text)| markdown(name, text)).collect()
}

#[test]
fn the_help_is_plain() {
    assert_none(&unplain(&helps()));
}

#[test]
fn what_the_program_prints_is_plain() {
    assert_none(&unplain(&[printed(), reported()].concat()));
}

#[test]
fn the_documents_are_plain() {
    assert_none(&unplain(&in_documents()));
}

#[test]
fn no_sentence_of_the_help_is_long() {
    assert_none(&long(&helps()));
}

#[test]
fn no_sentence_of_a_message_is_long() {
    assert_none(&long(&[printed(), reported()].concat()));
}

#[test]
fn no_sentence_of_the_readme_is_long() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert_none(&long(&markdown("README.md", &readme)));
}

/// Code, tables and pictures cannot be broken.
#[test]
fn no_line_of_prose_is_wide() {
    let mut found = Vec::new();
    for (name, text) in documents() {
        for (line, prose) in read::prose(&text) {
            let columns = prose.chars().count();
            if columns > COLUMNS_MAX {
                found.push(format!("{name}:{line}: {columns} columns"));
            }
        }
    }
    assert_none(&found);
}

#[test]
fn every_command_has_an_example() {
    let name = "crates/iosonde/tests/it/golden/help.txt";
    let text = fs::read_to_string(root().join(name)).unwrap();
    let helps: Vec<&str> = text.split("$ ").skip(1).collect();
    assert!(helps.len() > 40, "{}", helps.len());
    for help in helps {
        let command = help.lines().next().unwrap();
        assert!(help.contains("\nExample"), "`{command}` shows no example");
    }
}

#[test]
fn what_is_not_plain_is_found() {
    let page =
        "# A\n\nThis is no\nfile. There is no file. It is no longer `beside`.\n\n    beside\n";
    let found = unplain(&markdown("a.md", page));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a.md:3: `is no`"), "{found:?}");
    let code =
        "fn a() {\n    // beside\n    b(\"it goes \\\n       on here\", 'x', \"{beside}\");\n}\n";
    let found = unplain(&literals("a.rs", code));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("a.rs:3: `goes on`"), "{found:?}");
    assert_eq!(sentences("A b. C d e.g. f: g"), ["A b.", "C d e.g. f: g"]);
    let long_one = Passage { place: "x".to_owned(), text: "the ".repeat(WORDS_MAX + 1) };
    assert_eq!(long(&[long_one]).len(), 1);
}
