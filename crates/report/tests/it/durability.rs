//! Checks after a crash in every format: the verdict first, every loss with what it means, and
//! nothing of anybody where that is wanted.

use inspect::Host;
use report::model::{Block, Judgement};
use results::{
    BrokenPromise, CheckedArea, Document, Durability, DurabilityVerdict, DurableOrder, Experiment,
    InDoubt, Loss, LossCount, SyncMode, WriterEnd, WrittenFile, WrittenRole,
};
use workload::Mode;

const DATA: &str = "/srv/ledgers/pages.test";

fn area(lost: u64) -> CheckedArea {
    let in_doubt = InDoubt { old: 1, new: 2, torn: 3 };
    CheckedArea { checked: 1024, promised: 900, right: 890 - lost, unused: 128, in_doubt, lost }
}

fn broken(loss: Loss) -> BrokenPromise {
    BrokenPromise {
        loss,
        path: DATA.into(),
        role: WrittenRole::Data,
        offset: 57_344,
        bytes: 8192,
        thread: 1,
        operation: 70,
        found_operation: Some(64),
        right_sectors: 5,
    }
}

fn file(path: &str, role: WrittenRole) -> WrittenFile {
    WrittenFile { path: path.into(), size_bytes: 64 << 20, role }
}

fn experiment(losses: &[Loss], ending: WriterEnd) -> Experiment<Durability> {
    let is_lost = !losses.is_empty();
    let conclusion = Durability {
        verdict: if is_lost { DurabilityVerdict::Lost } else { DurabilityVerdict::Kept },
        sentence: if is_lost {
            "LOST: of /srv/ledgers/pages.test\u{1b}[2J"
        } else {
            "KEPT: all 9."
        }
        .to_owned(),
        run_id: "r-1".to_owned(),
        run_started: "2026-11-22T00:30:00Z".to_owned(),
        host: "vault9.bank.example".to_owned(),
        rounds: (ending != WriterEnd::Unseen).then_some(7),
        ending,
        sync: SyncMode::Fdatasync,
        order: DurableOrder::LogThenPage,
        threads: 2,
        depth: 32,
        page_bytes: 8192,
        mode: Mode::Direct,
        files: vec![
            file(DATA, WrittenRole::Data),
            file("/srv/ledgers/redo.test", WrittenRole::Log),
        ],
        seconds: 31.5,
        promised_operations: 4711,
        data: area(losses.len() as u64 * 12),
        log: Some(area(0)),
        losses: losses.iter().map(|loss| LossCount { loss: *loss, count: 12 }).collect(),
        findings: losses.iter().map(|loss| broken(*loss)).collect(),
        oldest_loss_seconds: is_lost.then_some(1.25),
        advice: losses.iter().take(1).map(|_| "Look for who holds the cache.".to_owned()).collect(),
    };
    Experiment {
        plan: None,
        tool_version: "0.2.0".to_owned(),
        finished: "2026-11-22T01:02:00Z".to_owned(),
        targets: vec![DATA.into(), "/srv/ledgers/redo.test".into()],
        file_bytes: 128 << 20,
        method: vec!["Every page and record was read.".to_owned()],
        ..testing::experiment("d-1", "2026-11-22T01:00:00Z", conclusion)
    }
}

fn document(losses: &[Loss], ending: WriterEnd) -> Document {
    Document::Durability(Box::new(experiment(losses, ending)))
}

fn lost() -> Document {
    document(&Loss::ALL, WriterEnd::Unseen)
}

#[test]
fn it_is_the_same_document_when_it_is_read_again() {
    let document = lost();
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(Document::parse(&text).unwrap(), document);
    assert_eq!((document.kind(), document.schema()), ("validate", "iosonde.durability/1"));
    assert_eq!(document.title(), "LOST: durability by fdatasync, 8 KiB pages after a log");
    assert!(document.measurements().is_empty() && document.targets().len() == 2);
}

fn joined_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_text_begins_with_the_verdict_and_has_no_commands_to_a_terminal() {
    let text = report::text::document(&lost());
    assert!(text.starts_with("LOST: of /srv/ledgers/pages.test"), "{text}");
    let joined = joined_lines(&text);
    for words in [
        "Written by vault9.bank.example Run r-1 Writing began 2026-11-22 00:30:00 UTC",
        "Written for 31.5 s",
        "/srv/ledgers/redo.test (log, 64 MiB)",
        "pages 1 024 900 782 1 2 3 128 108",
        "torn: a part of it is there 12",
        "57 344 8 KiB 1 70 64 5 of 16",
        "99 more were counted",
        "promised about 1.25 s before",
        "- Look for who holds the cache.",
        "Every page and record was read.",
    ] {
        assert!(joined.contains(words), "no `{words}` in {text}");
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    let kept = report::text::document(&document(&[], WriterEnd::Killed));
    assert!(kept.starts_with("KEPT: all 9.\n") && !kept.contains("more were"), "{kept}");
    assert!(joined_lines(&kept).contains("Promised operations 4 711 Rounds 7"), "{kept}");
}

#[test]
fn every_format_has_the_verdict_first_and_every_loss() {
    let report = report::build(&[lost()]);
    let keys: Vec<&str> = report.results[0].sections.iter().map(|s| s.key).collect();
    let answer = ["verdict", "advice", "tested", "losses", "checked"];
    let rest = ["environment", "method", "warnings", "glossary"];
    assert_eq!(keys, [&answer[..], &rest[..]].concat());
    let page = report::html::page(&report).unwrap();
    let markdown = report::markdown::text(&report);
    for loss in Loss::ALL {
        assert!(page.contains(loss.words()), "no `{}`", loss.words());
        let row = format!("| {} | 12 | ", loss.words());
        assert!(markdown.contains(&row), "no `{row}` in {markdown}");
    }
    for words in ["Look for who holds the cache.", "vault9.bank.example", "d-1", "r-1"] {
        assert!(page.contains(words) && !page.contains('\u{1b}'), "no `{words}`");
    }
    assert!(markdown.contains("99 more were counted."), "{markdown}");
    assert!(report::xlsx::workbook(&report).is_ok());

    let kept = report::build(&[document(&[], WriterEnd::Killed)]);
    let keys: Vec<&str> = kept.results[0].sections.iter().map(|s| s.key).collect();
    assert!(keys[0] == "verdict" && !keys.contains(&"losses") && !keys.contains(&"advice"));
    assert_eq!(kept.results[0].banner, None);
}

/// A crash of a process says nothing about caches, so a report must not show it in the colour of a
/// power cut that was survived.
#[test]
fn only_a_crash_that_nobody_saw_is_judged_without_reservation() {
    let judged = |losses: &[Loss], ending| {
        let report = report::build(&[document(losses, ending)]);
        match &report.results[0].sections[0].blocks[0] {
            Block::Cards(cards) => cards[0].judgement,
            other => panic!("no card: {other:?}"),
        }
    };
    assert_eq!(judged(&[], WriterEnd::Unseen), Judgement::Good);
    for ending in [WriterEnd::InOrder, WriterEnd::Killed, WriterEnd::Failed] {
        assert_eq!(judged(&[], ending), Judgement::Doubtful);
        assert_eq!(judged(&[Loss::Older], ending), Judgement::Bad);
    }
}

#[test]
fn checks_have_a_table_of_their_own_with_a_line_for_each() {
    let report = report::build(&[lost(), document(&[], WriterEnd::Killed)]);
    let table = report::csv::text(&report);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.len() == rows[0].len()), "{table}");
    let cell = |row: usize, name: &str| {
        let place = rows[0].iter().position(|head| *head == name);
        rows[row][place.unwrap_or_else(|| panic!("no column `{name}` in {table}"))]
    };
    for (name, first, second) in [
        ("durability_id", "d-1", "d-1"),
        ("verdict", "lost", "kept"),
        ("ending", "unseen", "killed"),
        ("mode", "direct", "direct"),
        ("rounds", "", "7"),
        ("pages_in_doubt", "6", "6"),
        ("pages_lost", "108", "0"),
        ("log_records_lost", "0", "0"),
        ("older", "12", "0"),
        ("unknown", "12", "0"),
        ("oldest_loss_seconds", "1.25", ""),
    ] {
        assert_eq!((cell(1, name), cell(2, name)), (first, second), "{name}");
    }
}

#[test]
fn names_are_taken_out_of_losses_and_of_the_writer_too() {
    let mut experiment = experiment(&Loss::ALL, WriterEnd::Unseen);
    // It was checked on another host than the one that wrote, with a name that is a word of the
    // document, too.
    let host = Host { hostname: "lost".to_owned(), ..Host::default() };
    experiment.environment.host = Some(host);
    let mut documents = vec![Document::Durability(Box::new(experiment))];
    report::redact::redact(&mut documents).unwrap();
    let text = serde_json::to_string(&documents).unwrap();
    for name in ["ledgers", "pages.test", "redo.test", "vault9", "bank.example"] {
        assert!(!text.contains(name), "{name} in {text}");
    }
    let Document::Durability(redacted) = &documents[0] else { panic!("{text}") };
    assert_eq!(redacted.environment.host.as_ref().unwrap().hostname, "host-1");
    assert_eq!(redacted.conclusion.verdict, DurabilityVerdict::Lost);
    assert_eq!(redacted.conclusion.findings[0].path.to_str(), Some("target-1"));
    assert!(report::text::document(&documents[0]).contains("Written by           host-2\n"));
}
