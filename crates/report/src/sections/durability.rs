//! Whether everything is there that was acknowledged as durable: the verdict, what it looks like,
//! what was lost, what was read and how.

use results::{
    BrokenPromise, CheckedArea, Durability, DurabilityVerdict, DurableOrder, Experiment, Loss,
    WriterEnd,
};
use workload::Mode;

use super::make::{brief, cleaned, column, fact, full, number, section, table, text, whole};
use crate::language::say;
use crate::model::{Block, Card, Cell, Fact, Judgement, Section, Table, Unit};
use crate::words;

/// Losses that a terminal has room for.
const SHOWN: usize = 10;

/// Everything that a check after a crash says.
pub(super) fn sections(e: &Experiment<Durability>) -> Vec<Section> {
    let d = &e.conclusion;
    let advice = cleaned(&d.advice);
    let advice = if advice.is_empty() { Vec::new() } else { vec![Block::List(advice)] };
    let found = |most| findings(d, most).map(Block::Table);
    let losses = kinds(d).map(Block::Table).into_iter();
    let losses = losses.chain([full(found(usize::MAX)), brief(found(SHOWN))]);
    let areas = areas(d).into_iter().map(Block::Table);
    let sections = [
        section("verdict", say!("heading-verdict"), vec![Block::Cards(cards(d))]),
        section("advice", say!("heading-what-it-looks-like-and-what-to-do"), advice),
        section("tested", say!("heading-what-was-tested"), vec![Block::Facts(tested(e))]),
        section("losses", say!("heading-what-was-promised-and-is-not-there"), losses.collect()),
        section("checked", say!("heading-what-was-read"), areas.collect()),
    ];
    sections.into_iter().flatten().collect()
}

fn cards(d: &Durability) -> Vec<Card> {
    let judgement = match (d.verdict, d.ending) {
        (DurabilityVerdict::Lost, _) => Judgement::Bad,
        (DurabilityVerdict::NothingPromised, _) => Judgement::Unknown,
        (DurabilityVerdict::Kept, WriterEnd::Unseen) => Judgement::Good,
        // Nothing lost its power.
        (DurabilityVerdict::Kept, _) => Judgement::Doubtful,
    };
    let mut evidence = vec![d.sentence.clone(), d.ending.sentence().to_owned()];
    if let Some(seconds) = d.oldest_loss_seconds {
        evidence.push(format!(
            "The oldest of what is lost was promised about {} before the last promise.",
            words::seconds(seconds)
        ));
    }
    if d.verdict == DurabilityVerdict::Kept {
        evidence.push(
            "A cache that is empty at the moment of a crash loses nothing, so one crash says \
             little."
                .to_owned(),
        );
    }
    let heading = "Does what was acknowledged as durable survive a crash?".to_owned();
    let answer = d.verdict.words().to_lowercase();
    vec![Card {
        heading,
        judgement,
        answer,
        evidence: cleaned(&evidence),
        original: Vec::new(),
        bullet: None,
    }]
}

fn tested(e: &Experiment<Durability>) -> Vec<Fact> {
    let d = &e.conclusion;
    let files = d.files.iter().map(|f| {
        let size = words::size(f.size_bytes);
        fact(say!("label-file"), format!("{} ({}, {size})", words::path(&f.path), f.role.word()))
    });
    let order = match d.order {
        DurableOrder::Page => "pages in place, made durable",
        DurableOrder::LogThenPage => {
            "a record in the log, made durable; then its page, made durable by a checkpoint"
        }
    };
    let cache = match d.mode {
        Mode::Direct => "direct (no OS cache)",
        _ => "buffered (through the OS cache)",
    };
    let (from, to) = (words::moment(&e.started), words::moment(&e.finished));
    let (threads, depth) = (words::count(d.threads.into()), words::count(d.depth.into()));
    let mut facts =
        vec![fact(say!("label-durable-by"), d.sync.name()), fact(say!("label-order"), order)];
    facts.extend(files);
    facts.extend([
        fact(say!("label-page"), words::size(d.page_bytes.into())),
        fact(say!("label-cache"), cache),
        fact(say!("label-in-flight"), format!("{depth} operations of each of {threads} threads")),
        fact(say!("label-written-by"), words::clean(&d.host)),
        fact(say!("label-run"), words::clean(&d.run_id)),
        fact(say!("label-writing-began"), words::moment(&d.run_started)),
        fact(say!("label-written-for"), words::seconds(d.seconds)),
        fact(say!("label-promised-operations"), words::count(d.promised_operations)),
    ]);
    facts.extend(d.rounds.map(|rounds| fact(say!("label-rounds"), words::count(rounds.into()))));
    let checked = if d.ending == WriterEnd::Unseen { "Checked" } else { "Done" };
    facts.push(fact(checked, format!("{from} to {to}")));
    facts
}

/// What a loss means for a database.
fn meaning(loss: Loss) -> &'static str {
    match loss {
        Loss::Older => {
            "A committed change is gone, and the page that is there is whole: no checksum in it \
             tells."
        }
        Loss::Torn => {
            "A page is partly of before and partly of after a commit. A log with full pages, a \
             doublewrite area or a checksum finds it."
        }
        Loss::Zeroed => {
            "The page is empty. A database may take it for a new one, and loses what was in it."
        }
        Loss::Misplaced => {
            "What belongs to another place is there: both are wrong, and a database that checks \
             page numbers reports it."
        }
        Loss::Foreign => {
            "Bytes of somebody else, or of before the run: the page cannot be read as what it was."
        }
        Loss::Unreadable => {
            "The read fails. A database stops, or continues without what was committed there."
        }
        Loss::Missing => {
            "The file has become shorter: everything that was committed past its end is gone."
        }
        Loss::AheadOfLog => {
            "A write has passed a flush. A change without its log record cannot be taken back, and \
             recovery may damage more."
        }
        Loss::Unknown => {
            "It is newer than the witness's file: an old copy of that file, or that of another run."
        }
    }
}

fn kinds(d: &Durability) -> Option<Table> {
    let columns = vec![
        column("loss", say!("label-what-is-there"), Unit::Text),
        column("count", say!("label-how-often"), Unit::Count),
        column("meaning", say!("label-what-it-means-for-a-database"), Unit::Text).full(),
    ];
    let rows =
        d.losses.iter().map(|l| vec![text(l.loss.words()), whole(l.count), text(meaning(l.loss))]);
    table("loss-kinds", say!("heading-what-was-lost-by-kind"), "", columns, rows.collect())
}

fn findings(d: &Durability, most: usize) -> Option<Table> {
    let columns = vec![
        column("number", "", Unit::Count),
        column("loss", say!("label-what-is-there"), Unit::Text),
        column("path", say!("label-file"), Unit::Text),
        column("role", say!("label-holds"), Unit::Text).full(),
        column("offset_bytes", say!("label-at-byte"), Unit::Count),
        column("length_bytes", say!("label-length"), Unit::Bytes),
        column("thread", say!("label-thread"), Unit::Count),
        column("operation", say!("label-operation"), Unit::Count),
        column("found_operation", say!("label-operation-there"), Unit::Count),
        column("right_sectors", say!("label-right-sectors"), Unit::Text),
    ];
    let found = d.findings.iter().take(most);
    let rows = found.enumerate().map(|(i, finding)| row(i as u64 + 1, finding));
    let more = d.loss_count().saturating_sub(rows.len() as u64);
    let caption = match more {
        0 => String::new(),
        more => format!("{} more were counted.", words::count(more)),
    };
    table("losses", say!("heading-place-by-place"), &caption, columns, rows.collect())
}

fn row(i: u64, finding: &BrokenPromise) -> Vec<Cell> {
    let sectors = format!("{} of {}", finding.right_sectors, finding.bytes / 512);
    vec![
        whole(i),
        text(finding.loss.words()),
        text(words::path(&finding.path)),
        text(finding.role.word()),
        whole(finding.offset),
        whole(finding.bytes),
        whole(u64::from(finding.thread)),
        whole(u64::from(finding.operation)),
        number(finding.found_operation.map(f64::from)),
        text(&sectors),
    ]
}

fn areas(d: &Durability) -> Option<Table> {
    let columns = vec![
        column("area", "", Unit::Text),
        column("checked", say!("label-read"), Unit::Count),
        column("promised", say!("label-promised"), Unit::Count),
        column("right", say!("label-as-promised"), Unit::Count),
        column("in_doubt_old", say!("label-in-doubt-as-before"), Unit::Count),
        column("in_doubt_new", say!("label-in-doubt-new"), Unit::Count),
        column("in_doubt_torn", say!("label-in-doubt-in-part"), Unit::Count),
        column("unused", say!("label-never-written"), Unit::Count),
        column("lost", say!("label-lost"), Unit::Count),
    ];
    let row = |name: &str, area: &CheckedArea| {
        let CheckedArea { checked, promised, right, unused, in_doubt, lost } = *area;
        let counts =
            [checked, promised, right, in_doubt.old, in_doubt.new, in_doubt.torn, unused, lost];
        std::iter::once(text(name)).chain(counts.map(whole)).collect::<Vec<Cell>>()
    };
    let log = d.log.as_ref().map(|log| row("log records", log));
    let rows = std::iter::once(row("pages", &d.data)).chain(log).collect();
    let caption =
        "What is in doubt may have been written at the moment of the crash, and is all right.";
    table("areas", say!("heading-pages-and-log-records"), caption, columns, rows)
}
