//! Wrong pages and wrong blocks of the log, in words.

use results::{
    LogBlockFault, NEWER_BECAUSE, PageDamage, PageFault, Persistence, WrongSector, still_wrong,
};

use crate::language::{count, say};
use crate::words;

/// How many of the latest I/Os on a page are shown.
const HISTORY_MAX: usize = 8;

/// A wrong page in one line.
pub(super) fn fault_line(fault: &PageFault) -> String {
    place(fault) + &again(fault.into())
}

fn place(fault: &PageFault) -> String {
    say!(
        "fault-page",
        damage = fault.damage.words(),
        file = words::path(&fault.path),
        page = fault.page.to_string(),
        offset = fault.offset_bytes.to_string(),
    )
}

/// A wrong page in a sentence.
pub(super) fn fault_sentence(fault: &PageFault) -> String {
    let byte = fault.first_byte.to_string();
    let mut out = place(fault) + &say!("fault-first-byte", byte = byte);
    out.push_str(&match fault.expected_version {
        0 => say!("fault-zeros-expected"),
        version => say!("fault-version-expected", version = version.to_string()),
    });
    if let Some(version) = fault.found_version {
        out.push_str(&say!("fault-version-there", version = version.to_string()));
    }
    if fault.damage == PageDamage::NewerThanKnown {
        out.push_str(&format!(" ({NEWER_BECAUSE})"));
    }
    if let Some(other) = &fault.belongs_to {
        let page = other.page.to_string();
        out.push_str(&match &other.path {
            Some(file) => say!("fault-belongs-to", page = page, file = words::path(file)),
            None => say!("fault-belongs-to-another-file", page = page),
        });
    }
    out.push_str(&wrong_sectors(&fault.wrong_sectors, fault.sectors));
    out + &again(fault.into())
}

/// All other facts about it, line by line: when it was found, the latest I/Os on the page, and the
/// bytes that differ.
pub(super) fn fault_details(fault: &PageFault) -> Vec<String> {
    let written = match (fault.expected_version, fault.written_after_seconds) {
        (0, _) => say!("fault-never-written"),
        (_, Some(seconds)) => say!("fault-last-written", seconds = format!("{seconds:.3}")),
        (_, None) => say!("fault-last-written-long-after"),
    };
    let mut lines = vec![moments(fault.found_after_seconds, &written, fault.right_cached)];
    let latest = fault.history.len().saturating_sub(HISTORY_MAX);
    for touch in fault.history.iter().skip(latest) {
        let seconds = format!("{:.6}", touch.after_seconds);
        let version = touch.version.to_string();
        lines.push(if touch.wrote {
            say!("fault-touch-written", seconds = seconds, version = version)
        } else {
            say!("fault-touch-read", seconds = seconds, version = version)
        });
    }
    lines.extend(fault.dump.lines().map(words::clean));
    lines
}

/// A wrong block of the log in a sentence.
pub(super) fn log_fault_sentence(fault: &LogBlockFault) -> String {
    let byte = fault.first_byte.to_string();
    log_place(fault)
        + &say!("fault-first-byte", byte = byte)
        + &wrong_sectors(&fault.wrong_sectors, fault.sectors)
        + &again(fault.into())
}

fn log_place(fault: &LogBlockFault) -> String {
    say!(
        "fault-log-block",
        damage = fault.damage.words_of_block(),
        thread = fault.thread.to_string(),
        file = words::path(&fault.path),
        block = fault.number.to_string(),
        offset = fault.offset_bytes.to_string(),
    )
}

/// Everything else that is known of it, line by line: when, what its sectors held, and the bytes
/// that differ.
pub(super) fn log_fault_details(fault: &LogBlockFault) -> Vec<String> {
    let written = match fault.written_after_seconds {
        Some(seconds) => say!("fault-log-written", seconds = format!("{seconds:.3}")),
        None => say!("fault-log-written-before"),
    };
    let mut lines = vec![moments(fault.found_after_seconds, &written, fault.right_cached)];
    let sectors = words::clean(&sectors(&fault.wrong_sectors, fault.sectors));
    lines.push(say!("fault-sectors", sectors = sectors));
    lines.extend(fault.dump.lines().map(words::clean));
    lines
}

/// When something wrong was found and written.
fn moments(found_seconds: f64, written: &str, right_cached: Option<bool>) -> String {
    let cached = match right_cached {
        Some(true) => say!("validation-right"),
        Some(false) => say!("validation-wrong"),
        None => say!("fault-cache-not-read"),
    };
    let found = format!("{found_seconds:.3}");
    say!("fault-moments", found = found, written = written, cached = cached)
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

/// What further reads of the same place have shown, as the end of a sentence.
fn again(Again(persistence, rereads, planned): Again) -> String {
    match persistence {
        Persistence::Transient => say!("fault-right-again", times = count(rereads)),
        Persistence::Persistent => format!("; {}", still_wrong(rereads, planned)),
    }
}

/// The wrong sectors, if not all of them are wrong.
fn wrong_sectors(wrong: &[WrongSector], all: u64) -> String {
    if wrong.len() as u64 >= all {
        return String::new();
    }
    let numbers: Vec<String> = wrong.iter().map(|wrong| wrong.sector.to_string()).collect();
    say!("fault-wrong-sectors", sectors = count(numbers.len()), numbers = numbers.join(", "))
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
            (true, _) => say!("fault-all-sectors", holds = holds),
            (false, true) => format!("{from}: {holds}"),
            (false, false) => format!("{from}{}{to}: {holds}", say!("list-to")),
        }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// A wrong block of the log in one line.
pub(super) fn log_fault_line(fault: &LogBlockFault) -> String {
    log_place(fault) + &again(fault.into())
}
