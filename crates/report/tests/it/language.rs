//! A report in every language: what a manager reads, said as a DBA of that country would read it.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use report::language::speak;
use report::model::{Block, Report, ResultPart};
use report::{Language, build, charts, html, markdown, text};
use results::verdict::{Grade, Need, Role};
use results::{Assessment, Document};

use crate::sample;

/// An assessment with a need that is met, one that is not, and one that is not named.
fn assessment() -> Assessment {
    let mut a = sample::assessment();
    for verdict in &mut a.verdicts {
        // What is said of the figures is the matter of this test, not the words of the document.
        verdict.headline = format!("{}: a sentence of the document.", verdict.role.title());
        verdict.evidence = vec!["One load, with its figures.".to_owned()];
        let (grade, per_second) = match verdict.role {
            Role::OltpData => (Grade::Good, 5000.0),
            Role::Log => (Grade::Unfit, 20_000.0),
            _ => continue,
        };
        verdict.grade = grade;
        verdict.need = Some(Need { role: verdict.role, per_second });
    }
    a
}

fn document() -> Document {
    // Its saturation points take a while to work out.
    static DOCUMENT: OnceLock<Document> = OnceLock::new();
    DOCUMENT.get_or_init(|| Document::Assessment(Box::new(assessment()))).clone()
}

/// The assessment in the document.
fn judged() -> Assessment {
    match document() {
        Document::Assessment(a) => *a,
        other => panic!("{other:?}"),
    }
}

fn built(language: Language) -> Report {
    speak(language, || build(&[document()]))
}

fn section<'a>(part: &'a ResultPart, key: &str) -> &'a [Block] {
    let found = part.sections.iter().find(|section| section.key == key);
    &found.unwrap_or_else(|| panic!("no section {key}")).blocks
}

/// At a glance, the verdicts and the glossary, as Markdown has them.
///
/// Run with `IOSONDE_UPDATE=1` to write them anew after a change on purpose.
#[test]
fn what_a_manager_reads_is_said_in_every_language() {
    for language in Language::ALL {
        let mut report = built(language);
        for part in &mut report.results {
            part.sections.retain(|s| ["glance", "verdict", "glossary"].contains(&s.key));
        }
        let text = speak(language, || markdown::text(&report));
        let name = format!("tests/it/language/{}.md", language.code());
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
        if std::env::var_os("IOSONDE_UPDATE").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap();
        assert_eq!(text, kept, "{} is not what is kept", path.display());
    }
}

/// A figure is quoted in tickets: the same digits are found in every language.
#[test]
fn figures_are_the_same_in_every_language() {
    let figures = |language| {
        let report = built(language);
        let table = section(&report.results[0], "glance").iter().find_map(|block| match block {
            Block::Table(table) => Some(table.clone()),
            _ => None,
        });
        let table = table.expect("the table of six loads");
        let keys: Vec<&str> = table.columns.iter().map(|column| column.key).collect();
        let rows: Vec<_> = table.rows.iter().map(|row| row[1..].to_vec()).collect();
        (keys, rows)
    };
    for language in Language::ALL {
        assert_eq!(figures(language), figures(Language::English), "{language:?}");
    }
}

/// Files of charts and sheets of tables are named by their keys, whatever language was chosen.
#[test]
fn keys_are_for_programs_and_stay_english() {
    let keys = |language| {
        let report = built(language);
        let part = &report.results[0];
        let mut keys: Vec<String> = charts(part).map(|chart| chart.key.clone()).collect();
        keys.extend(part.sections.iter().map(|section| section.key.to_owned()));
        keys
    };
    for language in Language::ALL {
        assert_eq!(keys(language), keys(Language::English), "{language:?}");
    }
}

/// In another language a card is said from its figures; what the document says itself follows under
/// a heading that says so.
#[test]
fn the_sentences_of_the_document_follow_as_the_original() {
    let cards = |language| {
        let report = built(language);
        let found = section(&report.results[0], "verdict").iter().find_map(|block| match block {
            Block::Cards(cards) => Some(cards.clone()),
            _ => None,
        });
        found.expect("cards")
    };
    for card in cards(Language::English) {
        assert!(card.original.is_empty() && !card.evidence.is_empty(), "{card:?}");
    }
    let headlines: Vec<String> = judged().verdicts.into_iter().map(|v| v.headline).collect();
    for language in &Language::ALL[1..] {
        for (card, headline) in cards(*language).iter().zip(&headlines) {
            assert_eq!(card.original.first(), Some(headline), "{language:?}");
            assert!(!card.evidence.contains(headline) && !card.evidence.is_empty(), "{card:?}");
        }
    }
}

#[test]
fn a_page_says_its_language() {
    for (language, tag) in [(Language::German, "de"), (Language::Chinese, "zh-Hans")] {
        let page = speak(language, || html::page(&build(&[document()]))).unwrap();
        assert!(page.contains(&format!("<html lang=\"{tag}\">")), "{language:?}");
        assert!(page.contains("<ul lang=\"en\">"), "the original is English");
    }
    let page = html::page(&build(&[document()])).unwrap();
    assert!(page.contains("<html lang=\"en\">") && !page.contains("<ul lang=\"en\">"));
}

/// The glossary has what the report uses, and its words explain themselves in headings.
#[test]
fn the_words_of_the_field_are_explained_once() {
    let page = html::page(&build(&[document()])).unwrap();
    assert!(page.contains("<section id=\"glossary\">"));
    assert!(page.contains("<abbr title=\"99 of 100 I/Os took no longer."), "a tooltip");
    let part = &build(&[document()]).results[0];
    let Some(Block::Facts(facts)) = section(part, "glossary").first() else {
        panic!("a list of words is expected")
    };
    let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
    assert!(names.contains(&"In flight") && names.contains(&"Operating point"), "{names:?}");
    assert!(!text::document(&document()).contains("Glossary"), "a terminal has no room for it");
}

/// The rule of a saturation point stood after every ramp, on every page and on the terminal.
#[test]
fn a_rule_is_printed_once() {
    let rule = judged().ramps.iter().find_map(|ramp| Some(ramp.knee.as_ref()?.rule.clone()));
    let rule = rule.filter(|rule| !rule.is_empty()).expect("a rule");
    let page = markdown::text(&build(&[document()]));
    let plain = |text: &str| text.replace('\\', "");
    let beginning: String = rule.chars().take(60).collect();
    assert_eq!(plain(&page).matches(&beginning).count(), 1, "{beginning}");
    assert!(!text::document(&document()).contains(&beginning));
}
