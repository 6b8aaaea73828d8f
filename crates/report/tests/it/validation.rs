//! Validations in every format: the verdict first, every fault with what it means, and nothing of
//! anybody where that is wanted.

use results::{
    Document, Experiment, FailedIos, FaultCount, FileIos, FileThrottling, Histogram, Latency,
    LogBlockFault, PageDamage, PageFault, PagePlace, PageTouch, Persistence, ValidatedFile,
    Validation, ValidationPhase, ValidationVerdict, WrongSector,
};
use serde_json::json;
use workload::Mode;

const DATA: &str = "/srv/ledgers/pages.mdx";

fn ios(count: u64) -> FileIos {
    let mut latency = Histogram::new();
    latency.record_many(250_000, count);
    FileIos {
        single: count,
        several: count / 2,
        bytes: count * 8192,
        errors: 0,
        latency_ns: Latency::of(&latency),
        histogram: (count > 0).then(|| latency.encode()),
    }
}

fn file(path: &str, role: &str) -> ValidatedFile {
    let throttling =
        Some(FileThrottling { running_average_ns: 1e6, throttled: 3, in_flight_max: 9 });
    ValidatedFile {
        path: path.into(),
        role: role.to_owned(),
        size_bytes: 64 << 20,
        read: ios(1000),
        write: ios(500),
        sync: ios(0),
        throttling,
    }
}

fn fault(damage: PageDamage, persistence: Persistence) -> PageFault {
    PageFault {
        damage,
        persistence,
        path: DATA.into(),
        page: 7,
        offset_bytes: 7 * 8192,
        sectors: 16,
        wrong_sectors: (3..6).map(|sector| WrongSector { sector, holds: "zeros".into() }).collect(),
        first_byte: 1536,
        expected_version: 5,
        found_version: Some(4),
        belongs_to: Some(PagePlace { path: Some(DATA.into()), page: 9 }),
        found_after_seconds: 12.5,
        written_after_seconds: Some(3.25),
        rereads: 15,
        rereads_planned: 15,
        right_cached: Some(false),
        dump: "offset\n0x00600 exp 01\u{1b}[2J\n0x00600 rec <b>".to_owned(),
        history: vec![PageTouch { after_seconds: 3.25, version: 5, wrote: true }],
    }
}

fn log_fault(damage: PageDamage, persistence: Persistence) -> LogBlockFault {
    LogBlockFault {
        damage,
        persistence,
        path: "/srv/ledgers/log.ldx".into(),
        thread: 1,
        number: 4,
        offset_bytes: 512,
        sectors: 8,
        wrong_sectors: (0..2).map(|sector| WrongSector { sector, holds: "zeros".into() }).collect(),
        first_byte: 3,
        found_after_seconds: 12.5,
        written_after_seconds: None,
        rereads: 1,
        rereads_planned: 15,
        right_cached: None,
        dump: "offset\n0x00003 exp 01\u{1b}[2J".to_owned(),
    }
}

const DAMAGES: [PageDamage; 10] = [
    PageDamage::BitError,
    PageDamage::TornPage,
    PageDamage::LostWrite,
    PageDamage::StaleRead,
    PageDamage::NewerThanKnown,
    PageDamage::MisdirectedWrite,
    PageDamage::MisdirectedRead,
    PageDamage::Zeroed,
    PageDamage::ForeignData,
    PageDamage::ChecksumOnly,
];

fn experiment(damages: &[PageDamage]) -> Experiment<Validation> {
    let all = || {
        damages.iter().flat_map(|d| [(*d, Persistence::Transient), (*d, Persistence::Persistent)])
    };
    let wrong = !damages.is_empty();
    let verdict = if wrong { ValidationVerdict::WrongData } else { ValidationVerdict::Right };
    let plan = json!({ "page_bytes": 8192, "seed": u64::MAX, "throttle": null,
        "stop_on_fault": true,
                       "random": { "users": 8, "sleep_ns": 5_000_000, "update_percent": 90.5,
                           "chain_pages": [50, 100] } });
    let conclusion = Validation {
        verdict,
        sentence: if wrong { "WRONG DATA: of /srv/ledgers/pages.mdx" } else { "RIGHT: everything" }
            .to_owned(),
        plan: plan.as_object().unwrap().clone(),
        configuration: Some("hwcache".to_owned()),
        asked_seconds: 60.0,
        mode: Mode::Direct,
        phases: vec![ValidationPhase { phase: "load".to_owned(), seconds: 1.5 }],
        cycles: 1,
        audited: !wrong,
        pages: 8192,
        work: results::DatabaseWork { pages_checked: 100_000, ..results::DatabaseWork::default() },
        files: vec![file(DATA, "data"), file("/srv/ledgers/log.ldx", "log")],
        log_blocks_checked: 17,
        fault_count: 300,
        fault_kinds: all()
            .map(|(damage, persistence)| FaultCount { damage, persistence, count: 2 })
            .collect(),
        faults: all().map(|(damage, persistence)| fault(damage, persistence)).collect(),
        log_fault_count: u64::from(wrong) * 7,
        log_faults: all()
            .take(2)
            .map(|(damage, persistence)| log_fault(damage, persistence))
            .collect(),
        failures: all()
            .take(1)
            .map(|_| FailedIos {
                op: "read".into(),
                path: DATA.into(),
                errno: 5,
                reason: "Input/output error".into(),
                count: 2,
                first_offset_bytes: 0,
            })
            .collect(),
        long_ios: 0,
        ended: None,
        resumed: None,
    };
    Experiment {
        plan: None,
        tool_version: "0.2.0".to_owned(),
        finished: "2026-11-22T01:02:00Z".to_owned(),
        status: conclusion.status(),
        targets: vec![DATA.into()],
        file_bytes: 64 << 20,
        method: vec!["Every page was written once.".to_owned()],
        ..testing::experiment("v-1", "2026-11-22T01:00:00Z", conclusion)
    }
}

fn shown(experiment: &Experiment<Validation>) -> String {
    report::text::document(&Document::Validation(Box::new(experiment.clone())))
}

fn document(damages: &[PageDamage]) -> Document {
    Document::Validation(Box::new(experiment(damages)))
}

#[test]
fn it_is_the_same_document_when_it_is_read_again() {
    let document = document(&DAMAGES);
    let text = serde_json::to_string(&document).unwrap();
    assert_eq!(Document::parse(&text).unwrap(), document);
    assert_eq!((document.kind(), document.schema()), ("validate", "iosonde.validation/1"));
    assert!(document.title().starts_with("WRONG DATA: ") && document.measurements().is_empty());
}

#[test]
fn the_text_begins_with_the_verdict_and_has_no_commands_to_a_terminal() {
    let text = shown(&experiment(&DAMAGES));
    assert!(text.starts_with("WRONG DATA: of /srv/ledgers/pages.mdx\n"), "{text}");
    for words in [
        "1. bit error in `/srv/ledgers/pages.mdx`, page 7 at 57344 bytes",
        "wrong in sectors 3, 4, 5",
        "… and 280 more; --json has the first 20",
        "bit error in the log of thread 1 in `/srv/ledgers/log.ldx`, block 4 at 512 bytes, \
         first in byte 3 of it, wrong in sectors 0, 1",
        "still so after 1 more read; 15 were to be made, and the run came to its end or they \
         failed",
        "written before this run was resumed; through the cache of the system: not possible",
        "sectors 0 to 1: zeros",
        "0x00003 exp 01",
        "… and 5 more; --json has the first 2",
        "read /srv/ledgers/pages.mdx Input/output error 2 0",
        "500 250 3.91 MiB 250 µs 250 µs – 250 µs 0 3 9",
    ] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(words), "no `{words}` in {text}");
    }
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
}

/// Thousands of wrong pages were told one below the other, and the verdict stood far above where
/// the terminal begins.
#[test]
fn many_wrong_pages_do_not_hide_the_verdict() {
    let mut experiment = experiment(&DAMAGES[..1]);
    let v = &mut experiment.conclusion;
    v.faults = (0..200)
        .map(|page| PageFault {
            page,
            offset_bytes: page * 8192,
            ..fault(PageDamage::LostWrite, Persistence::Persistent)
        })
        .collect();
    let kind = |damage, persistence, count| FaultCount { damage, persistence, count };
    v.fault_count = 3120;
    v.fault_kinds = vec![
        kind(PageDamage::LostWrite, Persistence::Persistent, 3000),
        kind(PageDamage::BitError, Persistence::Transient, 100),
        kind(PageDamage::BitError, Persistence::Persistent, 20),
    ];
    v.log_faults = vec![v.log_faults[0].clone(); 50];
    v.log_fault_count = 60;
    let text = shown(&experiment).replace(['\u{a0}', '\u{202f}'], " ");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.last()), (v_sentence(), Some(&v_sentence())));
    let head = lines.iter().position(|line| line.contains("When read again")).unwrap();
    let rows: Vec<Vec<&str>> = lines[head..head + 4]
        .iter()
        .map(|line| line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect())
        .collect();
    assert_eq!(rows[0], ["Fault", "When read again", "Pages", "First at byte"]);
    assert_eq!(rows[1], ["lost write", "still wrong", "3 000", "0"]);
    assert_eq!(rows[2], ["bit error", "right", "100", "–"]);
    assert_eq!(rows[3], ["still wrong", "20", "–"]);
    assert_eq!(lines.iter().filter(|line| line.contains("0x00600 exp")).count(), 5, "{text}");
    let line = "    25. lost write in `/srv/ledgers/pages.mdx`, page 24 at 196608 bytes; still so \
                after 15 more reads";
    assert!(lines.contains(&line) && !text.contains("  26. "), "{text}");
    assert!(text.contains("… and 3 095 more; --json has the first 200"), "{text}");
    assert!(text.contains("… and 35 more; --json has the first 50"), "{text}");
    assert!(lines.len() < 180, "{}", lines.len());
}

fn v_sentence() -> &'static str {
    "WRONG DATA: of /srv/ledgers/pages.mdx"
}

/// A validation without a database told of changes, commits and pages in memory that there are not,
/// and every time was rounded up.
#[test]
fn only_what_was_done_is_told_and_times_are_as_they_were() {
    let mut experiment = experiment(&[]);
    let plain = |text: String| text.replace(['\u{a0}', '\u{202f}'], " ");
    let database = plain(shown(&experiment));
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "Pages checked 100 000 Pages changed in memory 0 Commits 0";
    assert!(joined(&database).contains(words), "{database}");
    let v = &mut experiment.conclusion;
    v.files.truncate(1);
    (v.log_blocks_checked, v.work.cache_hits, v.work.checkpoints) = (0, 1, 3);
    let phase = |phase: &str, seconds| ValidationPhase { phase: phase.to_owned(), seconds };
    v.phases = vec![phase("load", 0.0142), phase("work", 90.6), phase("audit", 0.5)];
    let text = plain(shown(&experiment));
    for words in [
        "Pages checked 100 000 Reads that found their pages in use by other I/Os 1 ",
        "Phases every page written once 14.2 ms, reads and writes 1 min 30 s, every page read 500 \
         ms",
    ] {
        assert!(joined(&text).contains(words), "no `{words}` in {text}");
    }
    let page = report::html::page(&report::build(&[Document::Validation(Box::new(experiment))]));
    let page = page.unwrap();
    assert!(page.contains("in use by other I/Os") && !page.contains("Commits"));
}

#[test]
fn every_format_has_the_verdict_first_and_every_fault() {
    let report = report::build(&[document(&DAMAGES)]);
    let keys: Vec<&str> = report.results[0].sections.iter().map(|s| s.key).collect();
    assert_eq!(
        keys,
        [
            "verdict",
            "tested",
            "faults",
            "log",
            "failures",
            "work",
            "files",
            "plan",
            "environment",
            "method",
            "warnings",
            "glossary"
        ]
    );
    let page = report::html::page(&report).unwrap();
    for words in
        ["wrong data", "3 to 5: zeros", "&#60;b&#62;", "random.sleep_ns", "18446744073709551615"]
    {
        assert!(page.contains(words), "no `{words}`");
    }
    // On a page of usual width the table of pages was cut off after its sixth column, and nothing
    // said that there was more.
    assert!(
        page.contains("<div class=\"table long many\"><p class=\"caption\"><strong>Page by page")
    );
    assert!(page.contains(".many thead th { white-space: normal; }"));
    assert!(!page.contains("rec <b>") && page.contains("<details class=\"listing\">"));
    let markdown = report::markdown::text(&report);
    assert!(markdown.contains("\n    0x00600 rec <b>\n"), "{markdown}");
    let meanings = DAMAGES.map(|damage| format!("| {} | still wrong | 2 |", damage.words()));
    assert!(meanings.iter().all(|row| markdown.contains(row)), "{markdown}");

    let table = report::csv::text(&report);
    let lines: Vec<&str> = table.lines().collect();
    let first = "v-1,wrong_data,2026-11-22T01:00:00Z,300,100000,/srv/ledgers/pages.mdx,data,\
                 67108864,read,1000,500,8192000,0,";
    assert!(lines.len() == 5 && lines[1].starts_with(first), "{table}");
    assert!(lines.iter().all(|line| line.split(',').count() == 19), "{table}");
    assert!(report::xlsx::workbook(&report).is_ok());

    let clean = report::build(&[document(&[])]);
    let keys: Vec<&str> = clean.results[0].sections.iter().map(|s| s.key).collect();
    assert!(keys[0] == "verdict" && !keys.contains(&"faults") && !keys.contains(&"log"));
    assert_eq!(clean.results[0].banner, None);
}

#[test]
fn a_page_newer_than_known_says_why_that_may_be() {
    let text = shown(&experiment(&[PageDamage::NewerThanKnown]));
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "version 4 is there (another program writes to the file, or the ledger is older \
                 than the data)";
    assert!(joined.contains(words), "{text}");
}

/// The last moment that the field can hold was shown as the time of the last write; for pages that
/// nothing had written, the start of the run was shown.
#[test]
fn a_time_that_nobody_knows_is_not_told() {
    let text = |expected_version, written_after_seconds| {
        let mut experiment = experiment(&[PageDamage::LostWrite]);
        experiment.conclusion.faults.truncate(1);
        let fault = &mut experiment.conclusion.faults[0];
        (fault.expected_version, fault.written_after_seconds) =
            (expected_version, written_after_seconds);
        shown(&experiment)
    };
    assert!(text(5, Some(3.25)).contains("last written 3.250 s after it"));
    assert!(text(5, None).contains("last written more than 24 days after it"));
    assert!(text(0, None).contains("not written since it came to be"));
}

#[test]
fn names_are_taken_out_of_faults_too() {
    let mut documents = vec![document(&DAMAGES)];
    report::redact::redact(&mut documents).unwrap();
    let text = serde_json::to_string(&documents).unwrap();
    assert!(!text.contains("ledgers") && !text.contains("pages.mdx"), "{text}");
    assert!(text.contains("target-1") && text.contains("misdirected_write"));
}
