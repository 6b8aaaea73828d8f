//! The rules that a plan must keep. All violations are reported together, before anything is
//! touched.

use std::fmt::Display;

use super::{Matrix, Plan, ROUNDS_WINDOW};
use crate::specs;
use crate::validate::Violation;

/// More cells than this are a mistake: at a second each, they take more than a day.
const CELLS_MAX: u64 = 100_000;
/// The longest pause before a cell, in seconds.
const SETTLE_MAX: f64 = 86_400.0;
/// More rounds than any specification has.
const ROUNDS_MAX: u32 = 100;
/// A target is written over at most so often before the first round.
const PRECONDITION_MAX: u32 = 10;
/// The largest block it is written with.
const PRECONDITION_BLOCK_MAX: u64 = 16 << 20;
/// Longest title and operation, in characters.
const TEXT_CHARS_MAX: usize = 200;

impl Plan {
    /// Every rule that the plan breaks, whatever its targets are.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        if self.targets.is_empty() {
            found.push(violation("targets", "empty", "name at least one target"));
        }
        check_text(&mut found, "title", &self.title);
        if !(0.0..=SETTLE_MAX).contains(&self.settle_seconds) {
            let rule = "it must be 0 to 86400 s";
            found.push(violation("settle_seconds", self.settle_seconds, rule));
        }
        if self.matrix.is_empty() {
            found.push(violation("matrix", "empty", "describe at least one [[matrix]]"));
        }
        for (i, matrix) in self.matrix.iter().enumerate() {
            check_lists(&mut found, i, matrix);
        }
        self.check_rounds(&mut found);
        let count = self.count();
        if count > CELLS_MAX {
            let rule = format!("at most {CELLS_MAX} cells are measured; use shorter lists");
            found.push(violation("cells", count, &rule));
        }
        if found.is_empty() {
            self.check_cells(&mut found);
        }
        found
    }

    fn check_rounds(&self, found: &mut Vec<Violation>) {
        let Some(rounds) = &self.rounds else { return };
        let mut rule = |field: &str, value: &dyn Display, rule: &str| {
            found.push(violation(&format!("rounds.{field}"), value, rule));
        };
        if !(ROUNDS_WINDOW..=ROUNDS_MAX).contains(&rounds.at_most) {
            rule("at_most", &rounds.at_most, "it must be 5 to 100");
        }
        if rounds.precondition_times > PRECONDITION_MAX {
            rule("precondition_times", &rounds.precondition_times, "it must be 0 to 10");
        }
        let bytes = rounds.precondition_block_bytes.0;
        if !bytes.is_multiple_of(4096) || !(4096..=PRECONDITION_BLOCK_MAX).contains(&bytes) {
            let text = "it must be a multiple of 4 KiB, up to 16 MiB";
            rule("precondition_block_bytes", &rounds.precondition_block_bytes, text);
        }
        if rounds.tracked.is_empty() {
            rule("tracked", &"empty", "name at least one cell");
        }
        let cells = self.cells();
        for tracked in rounds.tracked.iter().filter(|t| !cells.iter().any(|cell| t.is(cell))) {
            let value = format!("{} with {} % writes", tracked.block_bytes, tracked.write_percent);
            rule("tracked", &value, "it is not a cell of the matrix; name one that is");
        }
        if self.adaptive {
            let text = "a sweep in rounds measures every cell; leave it out";
            found.push(violation("adaptive", true, text));
        } else if let Some(precision) = self.precision {
            let text = "windows of a sweep in rounds have their whole length; leave it out";
            found.push(violation("precision.percent", precision.percent, text));
        }
    }

    /// Every cell must follow the rules of a workload. A violation that several cells share is
    /// reported once.
    fn check_cells(&self, found: &mut Vec<Violation>) {
        for cell in self.cells() {
            for violation in self.workload(&cell, 0).violations() {
                if !found.contains(&violation) {
                    found.push(violation);
                }
            }
        }
    }
}

fn check_lists(found: &mut Vec<Violation>, index: usize, matrix: &Matrix) {
    let lists = [
        ("writes", matrix.writes.len()),
        ("patterns", matrix.patterns.len()),
        ("blocks", matrix.blocks.len()),
        ("threads", matrix.threads.len()),
        ("depths", matrix.depths.len()),
    ];
    for (name, length) in lists {
        if length == 0 {
            let field = format!("matrix[{index}].{name}");
            found.push(violation(&field, "empty", "give at least one value"));
        }
    }
    check_specs(found, index, matrix);
    if let Some(operation) = &matrix.operation {
        check_text(found, &format!("matrix[{index}].operation"), operation);
    }
}

fn check_specs(found: &mut Vec<Violation>, index: usize, matrix: &Matrix) {
    let field = format!("matrix[{index}].specs");
    for name in matrix.specs.iter().filter(|name| specs::spec(name).is_none()) {
        found.push(violation(&field, format!("{name:?}"), &specs::unknown(name)));
    }
    let usual = Matrix::default();
    let alone = (&matrix.writes, &matrix.patterns, &matrix.blocks)
        == (&usual.writes, &usual.patterns, &usual.blocks);
    for own in &matrix.own_specs {
        let field = format!("matrix[{index}].own_specs");
        check_text(found, &field, &own.name);
        if own.parts.is_empty() {
            found.push(violation(&field, "empty", "describe at least one kind of I/O in `parts`"));
        }
    }
    let named = !matrix.specs.is_empty() || !matrix.own_specs.is_empty();
    if named && !alone {
        let rule = "an access specification has its own shares, order and sizes; leave out \
                    writes, patterns and blocks";
        found.push(violation(&field, "set along with others", rule));
    }
    let mixed = |name: &String| specs::spec(name).is_some_and(|s| s.stream().mix.is_some());
    let any_mix = || !matrix.own_specs.is_empty() || matrix.specs.iter().any(mixed);
    if matrix.sync.is_some() && any_mix() {
        found.push(violation(
            &field,
            "set along with sync",
            "a mix has no flushes; leave out sync",
        ));
    }
}

fn check_text(found: &mut Vec<Violation>, field: &str, text: &str) {
    let chars = text.chars().count();
    if !(1..=TEXT_CHARS_MAX).contains(&chars) || text.chars().any(char::is_control) {
        let rule = "it has 1 to 200 characters, and no control characters";
        found.push(violation(field, format!("{text:?}"), rule));
    }
}

fn violation(field: &str, value: impl Display, rule: &str) -> Violation {
    Violation { field: field.to_owned(), value: value.to_string(), rule: rule.to_owned() }
}
