//! Whether everything is there that was acknowledged as durable: the verdict, what the losses look
//! like, what was lost, what was read and how.

use results::{
    BrokenPromise, CheckedArea, Durability, DurabilityVerdict, DurableOrder, Experiment, Loss,
    WriterEnd,
};
use workload::Mode;

use super::make::{brief, cleaned, column, fact, full, number, section, table, text, whole};
use crate::language::{count, say};
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
        evidence.push(say!("durability-oldest-loss", time = words::seconds(seconds)));
    }
    if d.verdict == DurabilityVerdict::Kept {
        evidence.push(say!("durability-one-crash"));
    }
    let answer = d.verdict.words().to_lowercase();
    vec![Card {
        heading: say!("durability-question"),
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
        DurableOrder::Page => say!("durability-order-page"),
        DurableOrder::LogThenPage => say!("durability-order-log-then-page"),
    };
    let cache = match d.mode {
        Mode::Direct => say!("mode-direct"),
        _ => say!("mode-buffered"),
    };
    let (from, to) = (words::moment(&e.started), words::moment(&e.finished));
    let in_flight =
        say!("durability-in-flight", operations = count(d.depth), threads = count(d.threads));
    let mut facts =
        vec![fact(say!("label-durable-by"), d.sync.name()), fact(say!("label-order"), order)];
    facts.extend(files);
    facts.extend([
        fact(say!("label-page"), words::size(d.page_bytes.into())),
        fact(say!("label-cache"), cache),
        fact(say!("label-in-flight"), in_flight),
        fact(say!("label-written-by"), words::clean(&d.host)),
        fact(say!("label-run"), words::clean(&d.run_id)),
        fact(say!("label-writing-began"), words::moment(&d.run_started)),
        fact(say!("label-written-for"), words::seconds(d.seconds)),
        fact(say!("label-promised-operations"), words::count(d.promised_operations)),
    ]);
    facts.extend(d.rounds.map(|rounds| fact(say!("label-rounds"), words::count(rounds.into()))));
    let checked =
        if d.ending == WriterEnd::Unseen { say!("durability-checked") } else { say!("label-done") };
    facts.push(fact(checked, [from, to].join(&say!("list-to"))));
    facts
}

/// What a loss means for a database.
fn meaning(loss: Loss) -> String {
    match loss {
        Loss::Older => say!("durability-means-older"),
        Loss::Torn => say!("durability-means-torn"),
        Loss::Zeroed => say!("durability-means-zeroed"),
        Loss::Misplaced => say!("durability-means-misplaced"),
        Loss::Foreign => say!("durability-means-foreign"),
        Loss::Unreadable => say!("durability-means-unreadable"),
        Loss::Missing => say!("durability-means-missing"),
        Loss::AheadOfLog => say!("durability-means-ahead-of-log"),
        Loss::Unknown => say!("durability-means-unknown"),
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
        more => say!("validation-more-counted", more = count(more)),
    };
    table("losses", say!("heading-place-by-place"), &caption, columns, rows.collect())
}

fn row(i: u64, finding: &BrokenPromise) -> Vec<Cell> {
    let (right, all) = (finding.right_sectors.to_string(), (finding.bytes / 512).to_string());
    let sectors = say!("durability-right-sectors", right = right, all = all);
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
    let log = d.log.as_ref().map(|log| row(&say!("durability-log-records"), log));
    let rows = std::iter::once(row(&say!("durability-pages"), &d.data)).chain(log).collect();
    let caption = say!("durability-areas-caption");
    table("areas", say!("heading-pages-and-log-records"), &caption, columns, rows)
}
