//! What came of the load of a trace that an assessment replayed.

use results::{Assessment, CapturedLimit, CapturedLoad, CapturedVerdict};

use super::capture::word;
use super::fit;
use super::make::{column, full, number, section, table, text, whole};
use super::{replay, terms};
use crate::language::say;
use crate::model::{Block, Cell, Section, Table, Unit};
use crate::words;

/// The section; `None` if no trace was given.
pub(super) fn of(a: &Assessment) -> Option<Section> {
    let load = a.captured.as_ref()?;
    let mut blocks = vec![Block::Paragraph(verdict(load))];
    blocks.extend(limits(load).map(Block::Table));
    let few: Vec<String> =
        load.limits.iter().filter(|limit| !limit.is_judged).map(|limit| word(limit.kind)).collect();
    if !few.is_empty() {
        blocks.push(Block::Paragraph(say!("captured-too-few", kinds = few.join(", "))));
    }
    blocks.push(full([Block::Facts(replay::part(&load.part))]));
    blocks.push(full(
        fit::attempts(load.attempts.iter().map(|a| (String::new(), a))).map(Block::Table),
    ));
    section("captured", say!("heading-captured"), blocks)
}

/// Whether the storage carries it, in sentences.
fn verdict(load: &CapturedLoad) -> String {
    if let Some(failure) = &load.failure {
        return say!("captured-not-replayed", why = words::clean(failure));
    }
    match load.verdict {
        CapturedVerdict::Holds => say!("captured-holds"),
        CapturedVerdict::HoldsIfUsersWait => {
            say!("captured-holds-if-users-wait", cause = fit::cause(load.cause))
        }
        CapturedVerdict::Exceeded => say!("captured-exceeded", cause = fit::cause(load.cause)),
        CapturedVerdict::NotJudged => say!("captured-not-judged"),
    }
}

fn limits(load: &CapturedLoad) -> Option<Table> {
    let columns = vec![
        column("role", say!("label-role"), Unit::Text),
        column("kind", say!("label-kind"), Unit::Text),
        column("per_second", say!("label-per-second"), Unit::Number),
        column("recorded_p99_ns", say!("label-recorded-p99"), Unit::Nanoseconds),
        column("p99_ns", say!("label-replayed-p99"), Unit::Nanoseconds),
        column("at_most_ns", say!("label-limit"), Unit::Nanoseconds),
    ];
    let row = |limit: &CapturedLimit| -> Vec<Cell> {
        vec![
            text(terms::role(limit.role)),
            text(word(limit.kind)),
            number(limit.per_second),
            whole(limit.recorded_ns),
            whole(limit.was_ns),
            whole(limit.at_most_ns),
        ]
    };
    let rows = load.limits.iter().map(row).collect();
    let title = say!("heading-captured-limits");
    table("captured-limits", title, &say!("captured-caption"), columns, rows)
}
