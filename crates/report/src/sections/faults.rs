//! What was wrong with pages and with blocks of the log, in words.

use results::{
    LogBlockFault, NEWER_BECAUSE, PageDamage, PageFault, Persistence, WrongSector, still_wrong,
};

use crate::words;

/// What was last done with a page: so much of it is shown.
const HISTORY_MAX: usize = 8;

/// A wrong page in one line.
pub(super) fn fault_line(fault: &PageFault) -> String {
    format!(
        "{} in `{}`, page {} at {} bytes{}",
        fault.damage.words(),
        words::path(&fault.path),
        fault.page,
        fault.offset_bytes,
        again(fault.into())
    )
}

/// A wrong page in a sentence.
pub(super) fn fault_sentence(fault: &PageFault) -> String {
    let expected = match fault.expected_version {
        0 => "zeros are".to_owned(),
        version => format!("version {version} is"),
    };
    let mut out = format!(
        "{} in `{}`, page {} at {} bytes, first in byte {} of it: {expected} expected",
        fault.damage.words(),
        words::path(&fault.path),
        fault.page,
        fault.offset_bytes,
        fault.first_byte
    );
    if let Some(version) = fault.found_version {
        out.push_str(&format!(", version {version} is there"));
    }
    if fault.damage == PageDamage::NewerThanKnown {
        out.push_str(&format!(" ({NEWER_BECAUSE})"));
    }
    if let Some(other) = &fault.belongs_to {
        let file = other
            .path
            .as_ref()
            .map_or_else(|| "another file".to_owned(), |path| format!("`{}`", words::path(path)));
        out.push_str(&format!(", which belongs to page {} of {file}", other.page));
    }
    out.push_str(&wrong_sectors(&fault.wrong_sectors, fault.sectors));
    out + &again(fault.into())
}

/// Everything else that is known of it, line by line: when, what was done with the page, and the
/// bytes that differ.
pub(super) fn fault_details(fault: &PageFault) -> Vec<String> {
    let written = match (fault.expected_version, fault.written_after_seconds) {
        (0, _) => "not written since it came to be".to_owned(),
        (_, Some(seconds)) => format!("last written {seconds:.3} s after it"),
        (_, None) => "last written more than 24 days after it".to_owned(),
    };
    let mut lines = vec![moments(fault.found_after_seconds, &written, fault.right_cached)];
    let latest = fault.history.len().saturating_sub(HISTORY_MAX);
    for touch in fault.history.iter().skip(latest) {
        let what = if touch.wrote { "written" } else { "read and right" };
        lines.push(format!("{:.6} s version {} {what}", touch.after_seconds, touch.version));
    }
    lines.extend(fault.dump.lines().map(words::clean));
    lines
}

/// A wrong block of the log in a sentence.
pub(super) fn log_fault_sentence(fault: &LogBlockFault) -> String {
    format!(
        "{}, first in byte {} of it{}{}",
        log_place(fault),
        fault.first_byte,
        wrong_sectors(&fault.wrong_sectors, fault.sectors),
        again(fault.into())
    )
}

fn log_place(fault: &LogBlockFault) -> String {
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
pub(super) fn log_fault_details(fault: &LogBlockFault) -> Vec<String> {
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
fn moments(found_seconds: f64, written: &str, right_cached: Option<bool>) -> String {
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
struct Again(Persistence, u32, u32);

impl From<&PageFault> for Again {
    fn from(fault: &PageFault) -> Self {
        Self(fault.persistence, fault.rereads, fault.rereads_planned)
    }
}

impl From<&LogBlockFault> for Again {
    fn from(fault: &LogBlockFault) -> Self {
        Self(fault.persistence, fault.rereads, fault.rereads_planned)
    }
}

/// What reading again has shown.
fn again(Again(persistence, rereads, planned): Again) -> String {
    match persistence {
        Persistence::Transient => {
            format!("; right when read again ({})", words::plural(rereads.into(), "time", "times"))
        }
        Persistence::Persistent => format!("; {}", still_wrong(rereads, planned)),
    }
}

/// Which sectors are wrong, where not all of them are.
fn wrong_sectors(wrong: &[WrongSector], all: u64) -> String {
    if wrong.len() as u64 >= all {
        return String::new();
    }
    let numbers: Vec<String> = wrong.iter().map(|wrong| wrong.sector.to_string()).collect();
    let sectors = if numbers.len() == 1 { "sector" } else { "sectors" };
    format!(", wrong in {sectors} {}", numbers.join(", "))
}

/// The wrong sectors and what they hold, those that follow each other and hold the same together.
pub(super) fn sectors(wrong: &[WrongSector], all: u64) -> String {
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

/// A wrong block of the log in one line.
pub(super) fn log_fault_line(fault: &LogBlockFault) -> String {
    format!("{}{}", log_place(fault), again(fault.into()))
}
