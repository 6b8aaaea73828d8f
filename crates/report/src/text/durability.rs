//! The end of `iosonde validate --durability` and `--verify`: the verdict first, then what was
//! written and read, then what was lost.

use results::{BrokenPromise, CheckedArea, Durability, DurableOrder, Experiment, Loss};
use workload::Mode;

use super::experiment::foot;
use super::layout::{WIDTH, wrap};
use crate::words;

/// So many losses are shown one by one.
const SHOWN: usize = 10;

/// A check behind a crash, for a terminal.
#[must_use]
pub fn durability(experiment: &Experiment<Durability>) -> String {
    let d = &experiment.conclusion;
    let mut out = wrap("", &words::clean(&d.sentence), WIDTH);
    out.push('\n');
    out.push_str(&wrap("", &written(d), WIDTH));
    for file in &d.files {
        let (path, size) = (words::path(&file.path), words::size(file.size_bytes));
        out.push_str(&format!("  {path} ({}, {size})\n", file.role.word()));
    }
    out.push_str(&area("pages", &d.data));
    if let Some(log) = &d.log {
        out.push_str(&area("log records", log));
    }
    losses(&mut out, d);
    for line in &d.advice {
        out.push_str(&wrap("- ", &words::clean(line), WIDTH));
    }
    out.push_str(&foot(experiment));
    out
}

/// What was written, and by whom.
fn written(d: &Durability) -> String {
    let order = match d.order {
        DurableOrder::Page => "",
        DurableOrder::LogThenPage => ", the log before the pages",
    };
    let cache = match d.mode {
        Mode::Direct => "",
        _ => ", through the OS cache",
    };
    let rounds = match d.rounds {
        Some(rounds) if rounds > 1 => format!(" in {} rounds", words::count(rounds.into())),
        _ => String::new(),
    };
    format!(
        "{} threads x {} in flight, pages of {} bytes, {}{order}{cache}, {:.1} s of \
         writing{rounds} on {}, begun {}, run {}",
        d.threads,
        d.depth,
        d.page_bytes,
        d.sync.name(),
        d.seconds,
        words::clean(&d.host),
        words::moment(&d.run_started),
        words::clean(&d.run_id)
    )
}

fn area(what: &str, area: &CheckedArea) -> String {
    let CheckedArea { checked, promised, right, in_doubt, lost, .. } = *area;
    let [checked, promised, right, lost, old, new, torn] =
        [checked, promised, right, lost, in_doubt.old, in_doubt.new, in_doubt.torn]
            .map(words::count);
    let text = format!(
        "{checked} read, {promised} promised, {right} as promised, {lost} lost; in doubt, and all \
         right: {old} old, {new} new, {torn} in part"
    );
    wrap(&format!("{what}: "), &text, WIDTH)
}

fn losses(out: &mut String, d: &Durability) {
    for loss in &d.losses {
        out.push_str(&format!("{:>8} {}\n", words::count(loss.count), loss.loss.words()));
    }
    if let Some(seconds) = d.oldest_loss_seconds {
        out.push_str(&format!(
            "the oldest of them was promised about {seconds:.3} s before the last promise\n"
        ));
    }
    for finding in d.findings.iter().take(SHOWN) {
        out.push_str(&format!("  {}\n", finding_line(finding)));
    }
    let more = d.loss_count().saturating_sub(d.findings.len().min(SHOWN) as u64);
    if more > 0 {
        out.push_str(&format!("  and {} more\n", words::count(more)));
    }
}

fn finding_line(finding: &BrokenPromise) -> String {
    let BrokenPromise { loss, path, offset, bytes, thread, operation, .. } = finding;
    let place = format!("{} at {offset}, {bytes} bytes: {}", words::path(path), loss.words());
    let found = match finding.found_operation {
        Some(found) if *loss != Loss::AheadOfLog => format!("; operation {found} is there"),
        _ => String::new(),
    };
    let sectors = match loss {
        Loss::Torn => format!("; {} of {} sectors are right", finding.right_sectors, bytes / 512),
        _ => String::new(),
    };
    format!("{place} (thread {thread}, operation {operation}{found}{sectors})")
}
