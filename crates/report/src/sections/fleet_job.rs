//! The same job on each of many hosts.

use results::verdict::{Grade, Role};
use results::{Document, Experiment, FleetJob, FleetJobHost, FleetVerdict};
use serde::de::DeserializeOwned;
use serde_json::Value;
use workload::show_ns;

use super::make::{brief, column, fact, full, section, table, text, whole};
use super::{own_sections, terms};
use crate::language::{count, say};
use crate::model::{Block, Card, Cell, Column, Judgement, Section, Table, Unit};
use crate::words;

/// The section of an assessment that sums it up, and that of a recording with its devices.
const GLANCE: &str = "glance";
const COUNTERS: &str = "counters";

/// The columns of its records: one per host and thing that was judged.
pub(super) const RECORDS: [&str; 14] = [
    "fleet_id",
    "started",
    "job",
    "host",
    "hostname",
    "version",
    "late_ns",
    "clock_bound_ns",
    "lost",
    "result_id",
    "result_schema",
    "subject",
    "verdict",
    "overall",
];

/// The verdicts over all hosts, the hosts, and then what each of them found.
pub(super) fn sections(e: &Experiment<FleetJob>) -> Vec<Section> {
    let job = &e.conclusion;
    let hosts = hosts(e).map(Block::Table).into_iter().collect();
    let own = [
        section("verdict", say!("fleet-heading-together"), vec![Block::Cards(cards(job))]),
        section("tested", say!("heading-what-was-tested"), vec![Block::Facts(facts(e))]),
        section("hosts", say!("fleet-heading-hosts"), hosts),
    ];
    let of_host = |(name, document): (&str, Document)| {
        let sections = own_sections(&document).into_iter();
        let name = words::clean(name);
        sections.map(move |s: Section| Section {
            key: "host",
            heading: say!("page-answer", heading = name.clone(), answer = s.heading),
            blocks: match s.key {
                // A terminal has what sums up a host, and a page has the rest.
                GLANCE => vec![brief(s.blocks)],
                COUNTERS => s.blocks,
                _ => vec![full(s.blocks)],
            },
        })
    };
    own.into_iter().flatten().chain(job.documents().flat_map(of_host)).collect()
}

/// The word of a document as the value that it is.
fn known<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Value::from(word)).ok()
}

/// What the verdict is about, in words.
fn subject(verdict: &FleetVerdict) -> String {
    match verdict.subject.as_str() {
        "data" => say!("validation-question"),
        "alerts" => say!("heading-alerts"),
        role => known::<Role>(role).map_or_else(|| words::clean(role), terms::role),
    }
}

fn answer(word: &str) -> (Judgement, String) {
    let (judgement, answer) = match word {
        "right" => (Judgement::Good, say!("validation-is-right")),
        "wrong_data" => (Judgement::Bad, say!("validation-is-wrong-data")),
        "io_failed" => (Judgement::Bad, say!("validation-is-io-failed")),
        "ended_early" => (Judgement::Bad, say!("validation-is-ended-early")),
        "interrupted" => (Judgement::Unknown, say!("validation-is-interrupted")),
        "none" => (Judgement::Good, say!("fleet-job-no-alert")),
        "came_true" => (Judgement::Bad, say!("fleet-job-alert")),
        "incomplete" => (Judgement::Unknown, say!("fleet-job-incomplete")),
        other => match known::<Grade>(other) {
            Some(grade) => (judgement(grade), terms::grade(grade)),
            None => (Judgement::Unknown, words::clean(other)),
        },
    };
    (judgement, answer)
}

fn judgement(grade: Grade) -> Judgement {
    match grade {
        Grade::Excellent | Grade::Good => Judgement::Good,
        Grade::Acceptable | Grade::Indication => Judgement::Doubtful,
        Grade::Unfit => Judgement::Bad,
        Grade::NotJudged => Judgement::Unknown,
    }
}

/// What a host's own result says of it, in a sentence.
fn sentence(document: &Document, verdict: &FleetVerdict) -> Option<String> {
    match document {
        Document::Validation(v) => Some(words::clean(&v.conclusion.sentence)),
        Document::Assessment(a) => {
            let role = known::<Role>(&verdict.subject);
            let own = a.verdicts.iter().find(|own| Some(own.role) == role)?;
            Some(words::clean(&own.headline))
        }
        _ => None,
    }
}

fn cards(job: &FleetJob) -> Vec<Card> {
    let documents: Vec<(&str, Document)> = job.documents().collect();
    let card = |verdict: &FleetVerdict| {
        let (judgement, answer) = answer(&verdict.overall);
        let line = |(host, word): (&FleetJobHost, &Option<String>)| {
            let name = words::clean(&host.name);
            let document = documents.iter().find(|(of, _)| *of == host.name);
            let own = document.and_then(|(_, document)| sentence(document, verdict));
            let short = || word.as_ref().map(|word| self::answer(word).1);
            let said = own.or_else(short).unwrap_or_else(|| say!("fleet-job-no-result"));
            say!("page-answer", heading = name, answer = said)
        };
        Card {
            heading: subject(verdict),
            judgement,
            answer,
            evidence: job.hosts.iter().zip(&verdict.hosts).map(line).collect(),
            original: Vec::new(),
            bullet: None,
        }
    };
    if !job.verdicts.is_empty() {
        return job.verdicts.iter().map(card).collect();
    }
    let lost = job.hosts.iter().filter(|host| host.lost.is_some()).count();
    vec![Card {
        heading: say!("heading-result"),
        judgement: if lost == 0 { Judgement::Good } else { Judgement::Bad },
        answer: say!(
            "fleet-job-hosts",
            hosts = count(job.hosts.len()),
            results = count(documents.len())
        ),
        evidence: Vec::new(),
        original: Vec::new(),
        bullet: None,
    }]
}

fn facts(e: &Experiment<FleetJob>) -> Vec<crate::model::Fact> {
    let job = &e.conclusion;
    let time = |ns: u64| show_ns(ns as f64);
    let targets: Vec<String> = e.targets.iter().map(|path| words::path(path)).collect();
    let facts = [
        Some(fact(say!("fleet-job-kind"), words::clean(&job.job))),
        (!targets.is_empty()).then(|| fact(say!("label-targets"), targets.join(", "))),
        Some(fact(say!("fleet-transport"), words::clean(&job.transport))),
        job.start_skew_ns.map(|ns| fact(say!("fleet-start-skew"), time(ns))),
        job.clock_bound_ns.map(|ns| fact(say!("fleet-clocks"), time(ns))),
    ];
    facts.into_iter().flatten().collect()
}

/// A row for each host, with a column for what was judged.
fn hosts(e: &Experiment<FleetJob>) -> Option<Table> {
    const KEYS: [&str; 8] = [
        "verdict",
        "verdict_2",
        "verdict_3",
        "verdict_4",
        "verdict_5",
        "verdict_6",
        "verdict_7",
        "verdict_8",
    ];
    let job = &e.conclusion;
    let judged: Vec<(&'static str, &FleetVerdict)> = KEYS.into_iter().zip(&job.verdicts).collect();
    let mut columns = vec![column("host", say!("label-host"), Unit::Text)];
    columns.extend(judged.iter().map(|(key, v)| column(key, subject(v), Unit::Text)));
    columns.extend([
        column("late_ns", say!("fleet-late"), Unit::Nanoseconds),
        column("clock_bound_ns", say!("fleet-clock"), Unit::Nanoseconds).full(),
        column("hostname", say!("fleet-hostname"), Unit::Text).full(),
        column("version", say!("label-version"), Unit::Text).full(),
        column("missing_events", say!("fleet-missing"), Unit::Count).full(),
        column("lost", say!("fleet-why-lost"), Unit::Text),
    ]);
    let row = |(at, host): (usize, &FleetJobHost)| {
        let word = |verdict: &FleetVerdict| verdict.hosts.get(at).cloned().flatten();
        let verdicts = judged
            .iter()
            .map(|(_, verdict)| word(verdict).map_or(Cell::Empty, |word| text(answer(&word).1)));
        let mut row = vec![text(&host.name)];
        row.extend(verdicts);
        row.extend([
            whole(host.late_ns),
            whole(host.clock_bound_ns),
            text(&host.hostname),
            text(&host.version),
            whole(Some(host.missing_events).filter(|missing| *missing > 0)),
            text(host.lost.as_deref().unwrap_or_default()),
        ]);
        row
    };
    let rows = job.hosts.iter().enumerate().map(row).collect();
    table("hosts", say!("fleet-job-heading-each"), "", columns, rows)
}

/// The columns of the table for programs.
pub(super) fn record_columns() -> Vec<Column> {
    RECORDS.iter().map(|key| Column::new(key, *key, Unit::Text)).collect()
}

/// The rows of the table for programs.
pub(super) fn records(e: &Experiment<FleetJob>) -> Vec<Vec<Cell>> {
    let job = &e.conclusion;
    let nothing = FleetVerdict {
        subject: String::new(),
        overall: String::new(),
        hosts: vec![None; job.hosts.len()],
    };
    let verdicts = if job.verdicts.is_empty() { &[nothing][..] } else { &job.verdicts[..] };
    let row = |at: usize, host: &FleetJobHost, verdict: &FleetVerdict| {
        let of = |key: &str| {
            let document = host.document.as_ref();
            text(document.and_then(|d| d.get(key)?.as_str()).unwrap_or_default())
        };
        let own = verdict.hosts.get(at).cloned().flatten().unwrap_or_default();
        let mut cells = vec![text(&e.id), text(&e.started), text(&job.job), text(&host.name)];
        cells.extend([text(&host.hostname), text(&host.version)]);
        cells.extend([whole(host.late_ns), whole(host.clock_bound_ns)]);
        cells.extend([text(host.lost.as_deref().unwrap_or_default()), of("id"), of("schema")]);
        cells.extend([text(&verdict.subject), text(own), text(&verdict.overall)]);
        cells
    };
    let all = job.hosts.iter().enumerate();
    all.flat_map(|(at, host)| verdicts.iter().map(move |v| row(at, host, v))).collect()
}
