//! Whether the storage returned what was written: the verdict, every fault and its meaning, what
//! was checked and how.

use results::{
    DatabaseWork, Experiment, FaultCount, FileIos, LogBlockFault, PageDamage, PageFault,
    Persistence, ResumedRun, Validation, ValidationVerdict,
};
use serde_json::Value;
use workload::{Mode, show_duration, show_ns};

use super::faults::{
    fault_details, fault_line, fault_sentence, log_fault_details, log_fault_line,
    log_fault_sentence, sectors,
};
use super::make::{
    brief, cleaned, column, fact, full, full_section, number, section, table, text, whole,
};
use crate::language::{count, say};
use crate::model::{Block, Card, Cell, Fact, Judgement, Listing, Section, Table, Unit};
use crate::words;

/// Faults whose bytes are shown, and those on a terminal.
const SHOWN: usize = 20;
const SHOWN_IN_BRIEF: usize = 5;
/// Faults that have a line each on a terminal, after those.
const LINES: usize = 20;

/// All sections of a report on a validation.
pub(super) fn sections(e: &Experiment<Validation>) -> Vec<Section> {
    let v = &e.conclusion;
    let pages = pages(v).map(|table| full([Block::Table(table)]));
    let faults = kinds(v).map(Block::Table).into_iter().chain(pages);
    let sections = [
        section("verdict", say!("heading-verdict"), vec![Block::Cards(cards(v))]),
        section("tested", say!("heading-what-was-tested"), vec![Block::Facts(tested(e))]),
        section(
            "faults",
            say!("heading-pages-that-were-wrong"),
            faults.chain(listings(v)).collect(),
        ),
        section("log", say!("heading-blocks-of-the-log-that-were-not-there"), log(v)),
        section("failures", say!("heading-i-os-that-failed"), tables(failures(v))),
        section("work", say!("heading-what-was-done-and-checked"), work(v)),
        section("files", say!("heading-file-by-file"), tables(files(v))),
        full_section(section("plan", say!("heading-settings"), vec![Block::Facts(settings(v))])),
    ];
    sections.into_iter().flatten().collect()
}

fn tables(table: Option<Table>) -> Vec<Block> {
    table.into_iter().map(Block::Table).collect()
}

fn cards(v: &Validation) -> Vec<Card> {
    let (judgement, answer) = match v.verdict {
        ValidationVerdict::Right => (Judgement::Good, say!("validation-is-right")),
        ValidationVerdict::WrongData => (Judgement::Bad, say!("validation-is-wrong-data")),
        ValidationVerdict::IoFailed => (Judgement::Bad, say!("validation-is-io-failed")),
        ValidationVerdict::EndedEarly => (Judgement::Bad, say!("validation-is-ended-early")),
        ValidationVerdict::Interrupted => (Judgement::Unknown, say!("validation-is-interrupted")),
    };
    let mut evidence = vec![v.sentence.clone()];
    evidence.push(say!("validation-pages-compared", pages = count(v.work.pages_checked)));
    evidence.push(if v.audited {
        say!("validation-audited", pages = words::count(v.pages))
    } else {
        say!("validation-not-audited")
    });
    if v.log_blocks_checked > 0 {
        evidence.push(say!("validation-log-read", blocks = words::count(v.log_blocks_checked)));
    }
    if v.long_ios > 0 {
        evidence.push(say!("validation-long-ios", ios = count(v.long_ios)));
    }
    if v.mode != Mode::Direct {
        evidence.push(say!("validation-through-the-cache"));
    }
    vec![Card {
        heading: say!("validation-question"),
        judgement,
        answer,
        evidence: cleaned(&evidence),
        original: Vec::new(),
        bullet: None,
    }]
}

fn tested(e: &Experiment<Validation>) -> Vec<Fact> {
    let v = &e.conclusion;
    let files = v.files.iter().map(|f| {
        let (path, size) = (words::path(&f.path), words::size(f.size_bytes));
        fact(say!("label-file"), format!("{path} ({}, {size})", words::clean(&f.role)))
    });
    let mode = match v.mode {
        Mode::Direct => say!("mode-direct"),
        _ => say!("mode-buffered"),
    };
    let mut facts = vec![fact(say!("label-file-size"), words::size(e.file_bytes))];
    facts.extend(files);
    facts.push(fact(say!("label-cache"), mode));
    if let Some(name) = &v.configuration {
        facts.push(fact(say!("label-configuration-of-sqliosim"), words::clean(name)));
    }
    let word = |phase: &str| match phase {
        "load" => say!("validation-phase-load"),
        "work" if is_database(v) => say!("validation-phase-users"),
        "work" => say!("validation-phase-work"),
        "audit" => say!("validation-phase-audit"),
        _ => say!("validation-phase-log"),
    };
    let phases: Vec<String> =
        v.phases.iter().map(|p| format!("{} {}", word(&p.phase), phase_time(p.seconds))).collect();
    facts.push(fact(say!("label-phases"), phases.join(", ")));
    facts.push(fact(say!("label-whole-cycles"), words::count(v.cycles.into())));
    if let Some(resumed) = &v.resumed {
        facts.push(fact(say!("label-resumed"), resumed_sentence(resumed)));
    }
    let (from, to) = (words::moment(&e.started), words::moment(&e.finished));
    facts.push(fact(say!("label-done"), [from, to].join(&say!("list-to"))));
    facts
}

/// Formatted like a latency; from a minute on, whole seconds are enough.
fn phase_time(seconds: f64) -> String {
    if seconds < 60.0 { show_ns(seconds * 1e9) } else { show_duration(seconds) }
}

/// Whether the users were those of a database, which change pages in memory and log that, and not
/// users that only read and write.
fn is_database(v: &Validation) -> bool {
    v.work.changes > 0 || v.files.iter().any(|file| file.role == "log")
}

/// What a resumed run began with.
fn resumed_sentence(resumed: &ResumedRun) -> String {
    say!(
        "validation-resumed",
        times = count(resumed.times),
        written = words::count(resumed.pages_written),
        unsure = words::count(resumed.pages_unsure),
    )
}

/// What a fault means for a database.
fn meaning(damage: PageDamage, persistence: Persistence) -> String {
    match (damage, persistence) {
        (PageDamage::BitError | PageDamage::ChecksumOnly, Persistence::Transient) => {
            say!("validation-means-bits-read")
        }
        (PageDamage::BitError | PageDamage::ChecksumOnly, Persistence::Persistent) => {
            say!("validation-means-bits-stored")
        }
        (PageDamage::TornPage, _) => say!("validation-means-torn-page"),
        (PageDamage::LostWrite, _) => say!("validation-means-lost-write"),
        (PageDamage::StaleRead, _) => say!("validation-means-stale-read"),
        (PageDamage::NewerThanKnown, _) => say!("validation-means-newer-than-known"),
        (PageDamage::MisdirectedWrite, _) => say!("validation-means-misdirected-write"),
        (PageDamage::MisdirectedRead, _) => say!("validation-means-misdirected-read"),
        (PageDamage::Zeroed, _) => say!("validation-means-zeroed"),
        (PageDamage::ForeignData, _) => say!("validation-means-foreign-data"),
    }
}

fn kinds(v: &Validation) -> Option<Table> {
    let columns = vec![
        column("fault", say!("label-fault"), Unit::Text),
        column("persistence", say!("label-when-read-again"), Unit::Text),
        column("count", say!("label-pages"), Unit::Count),
        column("first", say!("label-first-at-byte"), Unit::Text),
        column("meaning", say!("label-what-it-means-for-a-database"), Unit::Text).full(),
    ];
    let several = v.files.iter().filter(|file| file.role != "log").count() > 1;
    let first = |kind: &FaultCount| {
        let alike = |f: &&PageFault| f.damage == kind.damage && f.persistence == kind.persistence;
        let fault = v.faults.iter().find(alike)?;
        let offset = fault.offset_bytes.to_string();
        Some(if several {
            say!("validation-offset-of", offset = offset, file = words::path(&fault.path))
        } else {
            offset
        })
    };
    let rows = v.fault_kinds.iter().map(|kind| {
        let again = match kind.persistence {
            Persistence::Transient => say!("validation-right"),
            Persistence::Persistent => say!("validation-still-wrong"),
        };
        let meaning = meaning(kind.damage, kind.persistence);
        let first = text(first(kind).unwrap_or_default());
        vec![text(kind.damage.words()), text(again), whole(kind.count), first, text(meaning)]
    });
    table("fault-kinds", say!("heading-what-was-wrong-by-kind"), "", columns, rows.collect())
}

fn pages(v: &Validation) -> Option<Table> {
    let columns = vec![
        column("number", "", Unit::Count),
        column("fault", say!("label-fault"), Unit::Text),
        column("persistence", say!("label-persistence"), Unit::Text),
        column("path", say!("label-file"), Unit::Text),
        column("page", say!("label-page"), Unit::Count),
        column("offset_bytes", say!("label-offset-in-bytes"), Unit::Count),
        column("sectors", say!("label-wrong-sectors"), Unit::Text),
        column("first_byte", say!("label-first-wrong-byte"), Unit::Count),
        column("expected_version", say!("label-version-expected"), Unit::Count),
        column("found_version", say!("label-version-there"), Unit::Count),
        column("belongs_to", say!("label-belongs-to"), Unit::Text),
        column("written_s", say!("label-last-written-after"), Unit::Seconds),
        column("found_s", say!("label-found-after"), Unit::Seconds),
        column("rereads", say!("label-rereads"), Unit::Count),
        column("rereads_planned", say!("label-rereads-planned"), Unit::Count),
        column("cached", say!("label-through-the-os-cache"), Unit::Text),
    ];
    let rows = (1_u64..).zip(&v.faults).map(|(i, fault)| {
        let belongs = fault.belongs_to.as_ref().map(|place| {
            let file = place.path.as_ref().map_or_else(String::new, |p| words::path(p));
            say!("validation-page-of", page = place.page.to_string(), file = file)
        });
        vec![
            whole(i),
            text(fault.damage.words()),
            text(fault.persistence.words()),
            text(words::path(&fault.path)),
            whole(fault.page),
            whole(fault.offset_bytes),
            text(sectors(&fault.wrong_sectors, fault.sectors)),
            whole(fault.first_byte),
            whole(u64::from(fault.expected_version)),
            number(fault.found_version.map(f64::from)),
            text(belongs.as_deref().unwrap_or_default()),
            number(fault.written_after_seconds),
            number(fault.found_after_seconds),
            whole(u64::from(fault.rereads)),
            whole(u64::from(fault.rereads_planned)),
            cached(fault.right_cached),
        ]
    });
    let caption = match v.fault_count.saturating_sub(v.faults.len() as u64) {
        0 => String::new(),
        more => say!("validation-more-counted", more = count(more)),
    };
    table("faults", say!("heading-page-by-page"), &caption, columns, rows.collect())
}

/// The bytes of the first faults.
fn listings(v: &Validation) -> Vec<Block> {
    let listing = |(i, fault): (u64, &PageFault)| {
        let title = format!("{i}. {}", fault_sentence(fault));
        Block::Listing(Listing { title, lines: fault_details(fault) })
    };
    let lines = v.faults.iter().enumerate();
    let lines = lines.map(|(i, fault)| format!("{}. {}", i + 1, fault_line(fault)));
    in_detail((1..).zip(&v.faults).map(listing), lines, v.fault_count)
}

/// Blocks of the log, and the bytes of the first.
fn log(v: &Validation) -> Vec<Block> {
    let listing = |fault: &LogBlockFault| {
        let title = log_fault_sentence(fault);
        Block::Listing(Listing { title, lines: log_fault_details(fault) })
    };
    let lines = v.log_faults.iter().map(log_fault_line);
    let listings = in_detail(v.log_faults.iter().map(listing), lines, v.log_fault_count);
    tables(log_table(v)).into_iter().map(|table| full([table])).chain(listings).collect()
}

/// The first with their bytes; on a terminal fewer, some more in a line each, and how many there
/// are.
fn in_detail(
    listings: impl Iterator<Item = Block>,
    lines: impl ExactSizeIterator<Item = String>,
    all: u64,
) -> Vec<Block> {
    let kept = lines.len();
    let mut lines: Vec<String> = lines.skip(SHOWN_IN_BRIEF).take(LINES).collect();
    let more = all.saturating_sub(kept.min(SHOWN_IN_BRIEF + LINES) as u64);
    if more > 0 {
        lines.push(say!("validation-more-in-json", more = count(more), kept = count(kept)));
    }
    let mut blocks: Vec<Block> = listings.take(SHOWN).collect();
    let rest = blocks.split_off(SHOWN_IN_BRIEF.min(blocks.len()));
    let title = say!("validation-the-others");
    let others = (!lines.is_empty()).then_some(Block::Listing(Listing { title, lines }));
    blocks.extend([full(rest), brief(others)]);
    blocks
}

fn log_table(v: &Validation) -> Option<Table> {
    let columns = vec![
        column("fault", say!("label-fault"), Unit::Text),
        column("persistence", say!("label-persistence"), Unit::Text),
        column("path", say!("label-file"), Unit::Text),
        column("thread", say!("label-log-of-thread"), Unit::Count),
        column("block", say!("label-block"), Unit::Count),
        column("offset_bytes", say!("label-offset-in-bytes"), Unit::Count),
        column("sectors", say!("label-wrong-sectors"), Unit::Text),
        column("first_byte", say!("label-first-wrong-byte"), Unit::Count),
        column("written_s", say!("label-written-after"), Unit::Seconds),
        column("found_s", say!("label-found-after"), Unit::Seconds),
        column("rereads", say!("label-rereads"), Unit::Count),
        column("rereads_planned", say!("label-rereads-planned"), Unit::Count),
        column("cached", say!("label-through-the-os-cache"), Unit::Text),
    ];
    let rows = v.log_faults.iter().map(|fault| {
        vec![
            text(fault.damage.words_of_block()),
            text(fault.persistence.words()),
            text(words::path(&fault.path)),
            whole(u64::from(fault.thread)),
            whole(fault.number),
            whole(fault.offset_bytes),
            text(sectors(&fault.wrong_sectors, fault.sectors)),
            whole(fault.first_byte),
            number(fault.written_after_seconds),
            number(fault.found_after_seconds),
            whole(u64::from(fault.rereads)),
            whole(u64::from(fault.rereads_planned)),
            cached(fault.right_cached),
        ]
    });
    let mut caption = say!("validation-log-blocks-were-durable");
    let more = v.log_fault_count.saturating_sub(v.log_faults.len() as u64);
    if more > 0 {
        caption = format!("{caption} {}", say!("validation-more-counted", more = count(more)));
    }
    table("log-faults", say!("heading-log"), &caption, columns, rows.collect())
}

fn cached(right: Option<bool>) -> Cell {
    let said = |right| if right { say!("validation-right") } else { say!("validation-wrong") };
    right.map_or(Cell::Empty, |right| text(said(right)))
}

fn failures(v: &Validation) -> Option<Table> {
    let columns = vec![
        column("op", say!("label-i-o"), Unit::Text),
        column("path", say!("label-file"), Unit::Text),
        column("reason", say!("label-why"), Unit::Text),
        column("count", say!("label-how-often"), Unit::Count),
        column("offset_bytes", say!("label-first-at-byte"), Unit::Count),
    ];
    let rows = v.failures.iter().map(|failure| {
        vec![
            text(&failure.op),
            text(words::path(&failure.path)),
            text(&failure.reason),
            whole(failure.count),
            whole(failure.first_offset_bytes),
        ]
    });
    table("failures", say!("heading-failed-i-os"), "", columns, rows.collect())
}

fn work(v: &Validation) -> Vec<Block> {
    let DatabaseWork { pages_checked, cache_hits, changes, no_room, commits, checkpoints, .. } =
        v.work;
    let mut counts = vec![(say!("validation-pages-checked"), pages_checked)];
    if is_database(v) {
        counts.extend([
            (say!("validation-changes"), changes),
            (say!("validation-commits"), commits),
            (say!("validation-checkpoints"), checkpoints),
            (say!("validation-cache-hits"), cache_hits),
            (say!("validation-no-room"), no_room),
            (say!("validation-log-blocks-checked"), v.log_blocks_checked),
        ]);
    } else {
        counts.push((say!("validation-waited"), cache_hits));
    }
    counts.push((say!("validation-ios-over-15-s"), v.long_ios));
    if v.work.shortened + v.work.lengthened > 0 {
        counts.push((say!("validation-files-shorter"), v.work.shortened));
        counts.push((say!("validation-files-longer"), v.work.lengthened));
    }
    let facts = counts.into_iter().map(|(name, count)| fact(name, words::count(count)));
    vec![Block::Facts(facts.collect())]
}

fn files(v: &Validation) -> Option<Table> {
    let columns = vec![
        column("path", say!("label-file"), Unit::Text),
        column("role", say!("label-holds"), Unit::Text).full(),
        column("size_bytes", say!("label-size"), Unit::Bytes).full(),
        column("op", say!("label-i-o"), Unit::Text),
        column("single", say!("label-single"), Unit::Count),
        column("several", say!("label-scattered-or-gathered"), Unit::Count),
        column("moved_bytes", say!("label-moved"), Unit::Bytes),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p50_ns", "p50", Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_max_ns", say!("label-max"), Unit::Nanoseconds),
        column("errors", say!("label-errors"), Unit::Count),
        column("throttled", say!("label-had-to-wait"), Unit::Count),
        column("in_flight_max", say!("label-most-in-flight"), Unit::Count),
    ];
    let mut rows = Vec::new();
    for file in &v.files {
        let kinds = [
            (say!("validation-reads"), &file.read),
            (say!("validation-writes"), &file.write),
            (say!("validation-flushes"), &file.sync),
        ];
        for (name, ios) in kinds {
            if ios.single + ios.several + ios.errors == 0 {
                continue;
            }
            let mut row = vec![
                text(words::path(&file.path)),
                text(&file.role),
                whole(file.size_bytes),
                text(name),
            ];
            row.extend(figures(ios));
            row.push(whole(file.throttling.map(|t| t.throttled)));
            row.push(whole(file.throttling.map(|t| t.in_flight_max)));
            rows.push(row);
        }
    }
    let caption = say!("validation-files-caption");
    table("files", say!("heading-i-os-of-each-file"), &caption, columns, rows)
}

fn figures(ios: &FileIos) -> [Cell; 8] {
    let latency = ios.latency_ns;
    let time = |ns: Option<u64>| number(ns.map(|ns| ns as f64));
    [
        whole(ios.single),
        whole(ios.several),
        whole(ios.bytes),
        number(latency.map(|l| l.mean)),
        time(latency.and_then(|l| l.p50)),
        time(latency.and_then(|l| l.p99)),
        time(latency.and_then(|l| l.max)),
        whole(ios.errors),
    ]
}

/// Every field of the plan, by the name that a file has for it.
fn settings(v: &Validation) -> Vec<Fact> {
    let mut facts = vec![fact(say!("label-seconds"), workload::show_number(v.asked_seconds))];
    for (name, value) in &v.plan {
        setting(name, value, &mut facts, 0);
    }
    facts
}

fn setting(name: &str, value: &Value, facts: &mut Vec<Fact>, depth: u32) {
    let shown = match value {
        Value::Object(fields) if depth < 4 => {
            for (inner, value) in fields {
                setting(&format!("{name}.{inner}"), value, facts, depth + 1);
            }
            return;
        }
        Value::Null => return,
        Value::Number(count) => match (count.as_u64(), count.as_f64()) {
            (Some(bytes), _) if name.ends_with("_bytes") => words::size(bytes),
            (Some(ns), _) if name.ends_with("_ns") => workload::show_ns(ns as f64),
            (_, Some(value)) if count.is_f64() => workload::show_number(value),
            _ => count.to_string(),
        },
        Value::String(text) => text.clone(),
        Value::Bool(true) => say!("word-yes"),
        Value::Bool(false) => say!("word-no"),
        Value::Array(range) => match range.as_slice() {
            [from, to] => format!("{from}{}{to}", say!("list-to")),
            _ => value.to_string(),
        },
        Value::Object(_) => value.to_string(),
    };
    facts.push(fact(words::clean(name), words::clean(&shown)));
}
