//! Blocks of the log that were not there, in words; and what they have in common with pages that
//! were wrong.

use results::{LogBlockFault, Persistence, Validation, WrongSector, still_wrong};

use super::layout::{WIDTH, wrap};
use crate::words;

/// Blocks that are shown with everything that is known of them.
const WHOLE_MAX: usize = 5;
/// Blocks behind those that have a line each; the others are counted.
const LINES_MAX: usize = 20;

/// The blocks, the first of them with their bytes.
pub(super) fn log_faults(v: &Validation) -> String {
    let mut out = String::new();
    let shown = WHOLE_MAX + LINES_MAX;
    for (number, fault) in (1..).zip(v.log_faults.iter().take(shown)) {
        let head = format!("log {number}. ");
        if number > WHOLE_MAX {
            out.push_str(&format!("{head}{}{}\n", place(fault), again(fault.into())));
            continue;
        }
        out.push_str(&wrap(&head, &log_fault_sentence(fault), WIDTH));
        for line in log_fault_details(fault) {
            out.push_str(&format!("   {line}\n"));
        }
    }
    let kept = v.log_faults.len();
    let more = v.log_fault_count.saturating_sub(kept.min(shown) as u64);
    if more > 0 {
        out.push_str(&format!(
            "… and {} more blocks of the log; the first {} are in --json\n",
            words::count(more),
            words::count(kept as u64)
        ));
    }
    out
}

/// A wrong block of the log in a sentence.
pub(crate) fn log_fault_sentence(fault: &LogBlockFault) -> String {
    format!(
        "{}, first in byte {} of it{}{}",
        place(fault),
        fault.first_byte,
        wrong_sectors(&fault.wrong_sectors, fault.sectors),
        again(fault.into())
    )
}

fn place(fault: &LogBlockFault) -> String {
    format!(
        "{} in the log of thread {} in `{}`, block {} at {} bytes",
        fault.damage.words_of_block(),
        fault.thread,
        words::path(&fault.path),
        fault.number,
        fault.offset_bytes
    )
}

/// Everything else that is known of it, line by line: when, what its sectors held, and the bytes
/// that differ.
pub(crate) fn log_fault_details(fault: &LogBlockFault) -> Vec<String> {
    let written = match fault.written_after_seconds {
        Some(seconds) => format!("written {seconds:.3} s after it"),
        None => "written before this run was gone on with".to_owned(),
    };
    let mut lines = vec![moments(fault.found_after_seconds, &written, fault.right_cached)];
    lines.push(format!("sectors {}", words::clean(&sectors(&fault.wrong_sectors, fault.sectors))));
    lines.extend(fault.dump.lines().map(words::clean));
    lines
}

/// When something wrong was found and written.
pub(super) fn moments(found_seconds: f64, written: &str, right_cached: Option<bool>) -> String {
    let cached = match right_cached {
        Some(true) => "right",
        Some(false) => "wrong",
        None => "not possible",
    };
    format!(
        "found {found_seconds:.3} s after the start, {written}; through the cache of the system: \
         {cached}"
    )
}

/// Whether something stayed wrong, how often it was read again, and how often it was to be.
pub(super) struct Again(pub Persistence, pub u32, pub u32);

impl From<&LogBlockFault> for Again {
    fn from(fault: &LogBlockFault) -> Self {
        Self(fault.persistence, fault.rereads, fault.rereads_planned)
    }
}

/// What reading again has shown.
pub(super) fn again(Again(persistence, rereads, planned): Again) -> String {
    match persistence {
        Persistence::Transient => {
            format!("; right when read again ({})", words::plural(rereads.into(), "time", "times"))
        }
        Persistence::Persistent => format!("; {}", still_wrong(rereads, planned)),
    }
}

/// Which sectors are wrong, where not all of them are.
pub(super) fn wrong_sectors(wrong: &[WrongSector], all: u64) -> String {
    if wrong.len() as u64 >= all {
        return String::new();
    }
    let numbers: Vec<String> = wrong.iter().map(|wrong| wrong.sector.to_string()).collect();
    let sectors = if numbers.len() == 1 { "sector" } else { "sectors" };
    format!(", wrong in {sectors} {}", numbers.join(", "))
}

/// The wrong sectors and what they hold, those that follow each other and hold the same together.
pub(crate) fn sectors(wrong: &[WrongSector], all: u64) -> String {
    let mut runs: Vec<(u64, u64, &str)> = Vec::new();
    for wrong in wrong {
        match runs.last_mut() {
            Some((_, to, holds)) if *to + 1 == wrong.sector && *holds == wrong.holds => {
                *to = wrong.sector;
            }
            _ => runs.push((wrong.sector, wrong.sector, &wrong.holds)),
        }
    }
    let run = |(from, to, holds): &(u64, u64, &str)| {
        let is_all = *from == 0 && *to + 1 == all;
        match (is_all, from == to) {
            (true, _) => format!("all: {holds}"),
            (false, true) => format!("{from}: {holds}"),
            (false, false) => format!("{from} to {to}: {holds}"),
        }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}
