//! That the messages and the code that asks for them fit together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fluent_bundle::FluentResource;

use super::{Language, count, in_sentence, message, speak, spoken};

type Messages = BTreeMap<String, BTreeSet<String>>;

/// The messages of a file, each with its parameters.
fn messages(file: &str) -> Messages {
    let mut messages = Messages::new();
    let mut last = String::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (id, _) = line.split_once(" =").expect("a message");
            last = id.to_owned();
            let is_new = messages.insert(last.clone(), BTreeSet::new()).is_none();
            assert!(is_new, "`{id}` is there twice");
        }
        let names = line.split('$').skip(1);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let names = names.map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default());
        if let Some(parameters) = messages.get_mut(&last) {
            parameters.extend(names.map(str::to_owned));
        }
    }
    messages
}

/// Every message of a language; English has those in `en-details.ftl` too.
fn all(language: Language) -> Messages {
    language.files().iter().flat_map(|file| messages(file)).collect()
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let is_source = path.extension().is_some_and(|e| e == "rs" || e == "html");
        if path.is_dir() {
            sources(&path, found);
        } else if is_source && !path.ends_with("language/tests.rs") {
            found.push(path);
        }
    }
}

/// Sources and templates without tests and comments.
fn code() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    sources(&root.join("src"), &mut paths);
    sources(&root.join("templates"), &mut paths);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let code: Vec<&str> = text.lines().filter(is_code).collect();
        (path, code.join("\n"))
    };
    paths.into_iter().map(read).collect()
}

/// What `say!` is given in a text: ids with the names of their parameters.
fn asked(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let inside = |rest: &str| {
        let mut depth = 1;
        let mut parts = vec![String::new()];
        let mut is_quoted = false;
        for c in rest.chars() {
            is_quoted ^= c == '"';
            match c {
                '(' | '[' | '{' if !is_quoted => depth += 1,
                ')' | ']' | '}' if !is_quoted => depth -= 1,
                ',' if !is_quoted && depth == 1 => {
                    parts.push(String::new());
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            parts.last_mut().unwrap().push(c);
        }
        parts
    };
    let one = |rest: &str| {
        let parts = inside(rest);
        let id = parts[0].trim().trim_matches('"').to_owned();
        let names = parts[1..].iter().filter_map(|part| part.split_once(" = "));
        (id, names.map(|(name, _)| name.trim().to_owned()).collect())
    };
    text.match_indices("say!(").map(|(at, call)| one(&text[at + call.len()..])).collect()
}

#[test]
fn the_reader_of_sources_finds_ids_and_parameters() {
    let text = r#"say!("a"); x(say!("b-c", one = f(1, "2, )"), two = say!("d", e = 3)))"#;
    let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<BTreeSet<_>>();
    let found = asked(text);
    assert_eq!(found[0], ("a".to_owned(), names(&[])));
    assert_eq!(found[1], ("b-c".to_owned(), names(&["one", "two"])));
    assert_eq!(found[2], ("d".to_owned(), names(&["e"])));
    assert_eq!(messages("a = { $b ->\n   [one] { $c }\n  *[other] d\n }")["a"], names(&["b", "c"]));
}

#[test]
fn every_file_of_messages_can_be_read() {
    for language in Language::ALL {
        for file in language.files() {
            let read = FluentResource::try_new(file);
            assert!(read.is_ok(), "{language:?}: {:?}", read.err().map(|(_, errors)| errors));
        }
    }
}

/// A message that nobody asks for is work for five translators; one that nobody wrote is an id in
/// a report.
#[test]
fn what_is_asked_for_is_in_english_and_what_is_in_english_is_asked_for() {
    let english = all(Language::English);
    let mut used = BTreeSet::new();
    for (path, text) in code() {
        for (id, parameters) in asked(&text) {
            // The macro itself.
            if !id.starts_with(|c: char| c.is_ascii_lowercase()) {
                continue;
            }
            let path = path.display();
            let wanted = english.get(&id).unwrap_or_else(|| panic!("{path}: no message `{id}`"));
            assert_eq!(wanted, &parameters, "{path}: parameters of `{id}`");
            used.insert(id);
        }
    }
    let unused: Vec<&String> = english.keys().filter(|id| !used.contains(*id)).collect();
    assert!(unused.is_empty(), "nobody asks for {unused:?}");
}

#[test]
fn every_language_has_every_message_that_is_translated() {
    let english = messages(&Language::English.files()[0]);
    for language in Language::ALL {
        let own = messages(&language.files()[0]);
        let missing: Vec<&String> = english.keys().filter(|id| !own.contains_key(*id)).collect();
        assert!(missing.is_empty(), "{language:?} lacks {missing:?}");
        for (id, parameters) in own {
            let wanted = english.get(&id).unwrap_or_else(|| panic!("English lacks `{id}`"));
            assert_eq!(wanted, &parameters, "{language:?}: parameters of `{id}`");
        }
    }
}

/// No message writes a figure its own way: all of them come through the parameters.
#[test]
fn figures_look_the_same_in_every_language() {
    for language in Language::ALL {
        let text = speak(language, || {
            say!("page-several-results", results = count(12_345_usize))
                + &say!("unsure-grey", percent = "1.5")
        });
        assert!(text.contains("12 345") && text.contains("1.5"), "{language:?}: {text}");
    }
}

#[test]
fn a_language_is_spoken_inside_and_the_one_before_after_it() {
    assert_eq!(spoken(), Language::English);
    let inner = speak(Language::German, || {
        let inner = speak(Language::Chinese, spoken);
        (inner, spoken())
    });
    assert_eq!(inner, (Language::Chinese, Language::German));
    let panicked = std::panic::catch_unwind(|| speak(Language::Spanish, || panic!("inside")));
    assert!(panicked.is_err());
    assert_eq!(spoken(), Language::English);
}

#[test]
fn what_a_language_lacks_is_said_in_english() {
    let details = messages(&Language::English.files()[1]);
    let plain = details.iter().find(|(_, parameters)| parameters.is_empty());
    let (id, _) = plain.expect("a message without parameters");
    let english = message(id, Vec::new());
    assert_eq!(speak(Language::Hungarian, || message(id, Vec::new())), english);
}

#[test]
fn messages_choose_between_one_and_several() {
    let rows = |n: u64| say!("page-rows", rows = count(n));
    assert_eq!([rows(1), rows(2)], ["1 row", "2 rows"]);
    let german = |n| speak(Language::German, || rows(n));
    assert_eq!([german(1), german(2)], ["1 Zeile", "2 Zeilen"]);
}

#[test]
fn a_noun_keeps_its_capital_where_its_language_wants_it() {
    assert_eq!(in_sentence("Random read"), "random read");
    assert_eq!(speak(Language::German, || in_sentence("Lesen")), "Lesen");
}

#[test]
fn a_code_names_a_language() {
    for language in Language::ALL {
        assert_eq!(Language::of_code(language.code()), Some(language));
    }
    assert_eq!(Language::of_code("de_DE"), None);
}

/// What looks like words for people and is not: commands that are typed, places in documents, heads
/// of files for programs.
const FOR_PROGRAMS: [&str; 8] = [
    "iosonde ",
    "METHODS.md#",
    "Kind,Threads,",
    "Records",
    // How documents say or name something, by which it is recognised.
    "the documents' limits are used",
    "thread × depth",
    "threads × depth",
    "version of iosonde",
];

/// The string literals of a text without those that name a message.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        let is_id = rest[..at].trim_end().ends_with("say!(");
        let mut literal = String::new();
        let mut letters = rest[at + 1..].char_indices();
        let mut end = rest.len();
        while let Some((i, c)) = letters.next() {
            match c {
                '"' => {
                    end = at + 1 + i + 1;
                    break;
                }
                '\\' => literal.extend(letters.next().map(|_| ' ')),
                c => literal.push(c),
            }
        }
        if !is_id {
            found.push(literal.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        rest = &rest[end.min(rest.len())..];
    }
    found
}

/// Whether a literal is a sentence, a phrase or a heading: two words, or one with a capital.
fn is_prose(literal: &str) -> bool {
    let mut plain = String::new();
    let mut depth = 0;
    for c in literal.chars() {
        depth += i32::from(c == '{');
        if depth == 0 {
            plain.push(c);
        }
        depth -= i32::from(c == '}');
    }
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic());
    let words: Vec<&str> = plain.split(|c: char| !c.is_alphanumeric()).filter(is_word).collect();
    let is_name = |word: &&str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|c| c.is_ascii_uppercase())
            && word.len() > 2
            && letters.all(|c| c.is_ascii_lowercase())
    };
    let is_key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_{}.:".contains(c);
    !literal.chars().all(is_key) && (words.len() > 1 || words.iter().any(is_name))
}

#[test]
fn the_reader_of_literals_knows_prose() {
    let text = r#"x("Over time", say!("label-a"), "key-of-it", format!("{n} in flight"), "IOPS")"#;
    let prose: Vec<String> = literals(text).into_iter().filter(|l| is_prose(l)).collect();
    assert_eq!(prose, ["Over time", "{n} in flight"]);
    assert!(is_prose("Latency") && !is_prose("MiB/s") && !is_prose("latency_p99_ns"));
}

/// A sentence that a section writes itself would be English in every language.
#[test]
fn sections_say_messages_and_write_no_sentences_themselves() {
    for (path, text) in code() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !path.components().any(|part| part.as_os_str() == "sections") {
            continue;
        }
        // The reasons of lints are for readers of the code.
        let lines = text.lines().filter(|line| !line.contains("reason = "));
        let text = lines.collect::<Vec<_>>().join("\n");
        let is_free = |literal: &String| FOR_PROGRAMS.iter().any(|free| literal.starts_with(free));
        let found = literals(&text).into_iter().filter(|l| is_prose(l) && !is_free(l));
        let found: Vec<String> = found.collect();
        assert!(found.is_empty(), "{name} says {found:?} itself");
    }
}
