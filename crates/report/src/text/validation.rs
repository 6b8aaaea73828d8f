//! The end of `iosonde validate`: the verdict first, then what was done, then the wrong pages; and
//! the verdict again behind those.

use results::{
    Experiment, FileIos, NEWER_BECAUSE, PageDamage, PageFault, Persistence, ResumedRun, Validation,
};
use workload::{Bytes, show_duration, show_ns, show_number};

use super::experiment::foot;
use super::layout::{Table, WIDTH, wrap};
use super::log_faults::{Again, again, log_faults, moments, wrong_sectors};
use crate::words;

/// Wrong pages that are shown with everything that is known of them.
const WHOLE_MAX: usize = 5;
/// Wrong pages behind those that have a line each; the others are counted.
const LINES_MAX: usize = 20;
/// What was last done with a page: so much of it is shown.
const HISTORY_MAX: usize = 8;

/// A validation for a terminal.
#[must_use]
pub fn validation(experiment: &Experiment<Validation>) -> String {
    let v = &experiment.conclusion;
    let mut out = format!("{}\n\n", words::clean(&v.sentence));
    out.push_str(&kinds(v));
    if let Some(resumed) = &v.resumed {
        out.push_str(&wrap("", &resumed_sentence(resumed), WIDTH));
    }
    let done: Vec<String> = done(v).iter().map(|(name, count)| named(name, *count)).collect();
    out.push_str(&wrap("", &done.join(" · "), WIDTH));
    let work = v.work;
    if work.shortened + work.lengthened > 0 {
        let times = |n| words::plural(n, "time", "times");
        let (shorter, longer) = (times(work.shortened), times(work.lengthened));
        out.push_str(&format!("files became shorter {shorter} and longer {longer}\n"));
    }
    out.push_str(&times(v));
    if v.log_blocks_checked > 0 {
        let blocks = words::plural(
            v.log_blocks_checked,
            "acknowledged block of the log was",
            "acknowledged blocks of the log were",
        );
        out.push_str(&format!("{blocks} read at the end\n"));
    }
    out.push('\n');
    out.push_str(&files(v));
    for failure in &v.failures {
        out.push_str(&format!(
            "failed: {} of `{}`, {}, first at {} bytes: {}\n",
            words::clean(&failure.op),
            words::path(&failure.path),
            words::plural(failure.count, "time", "times"),
            failure.first_offset_bytes,
            words::clean(&failure.reason)
        ));
    }
    if v.long_ios > 0 {
        out.push_str(&format!(
            "{} took longer than 15 s\n",
            words::plural(v.long_ios, "I/O", "I/Os")
        ));
    }
    faults(&mut out, v);
    out.push_str(&foot(experiment));
    if !v.faults.is_empty() || !v.log_faults.is_empty() {
        // Where many pages were wrong, the first line is far away by now.
        out.push_str(&format!("\n{}\n", words::clean(&v.sentence)));
    }
    out
}

/// Whether users of a database worked, who change pages in memory and log that, and not such as
/// only read and write.
pub(crate) fn is_database(v: &Validation) -> bool {
    v.work.changes > 0 || v.files.iter().any(|file| file.role == "log")
}

/// What the users did, by name, as far as such users do it.
pub(crate) fn done(v: &Validation) -> Vec<(&'static str, u64)> {
    let work = v.work;
    let mut done = vec![("pages checked", work.pages_checked)];
    if is_database(v) {
        done.extend([
            ("changed", work.changes),
            ("commits", work.commits),
            ("checkpoints", work.checkpoints),
            ("reads found the page in memory", work.cache_hits),
        ]);
    } else if work.cache_hits > 0 {
        done.push((WAITED, work.cache_hits));
    }
    done
}

/// What a read without a page to read is where nothing is held in memory.
pub(crate) const WAITED: &str = "reads found their pages in use by other I/Os";

/// A count with its name.
fn named(name: &str, count: u64) -> String {
    let one = match name {
        "pages checked" => "page checked",
        "commits" => "commit",
        "checkpoints" => "checkpoint",
        "reads found the page in memory" => "read found the page in memory",
        WAITED => "read found its pages in use by other I/Os",
        same => same,
    };
    words::plural(count, one, name)
}

/// How many pages were wrong in each way, and where the first of them was.
fn kinds(v: &Validation) -> String {
    if v.fault_kinds.is_empty() {
        return String::new();
    }
    let mut kinds: Vec<PageDamage> = Vec::new();
    for kind in &v.fault_kinds {
        if !kinds.contains(&kind.damage) {
            kinds.push(kind.damage);
        }
    }
    let files = v.files.iter().filter(|file| file.role != "log").count();
    let heads = ["wrong pages", "pages", "transient", "persistent", "first at byte"];
    let mut table = Table::new(1, &heads);
    for damage in kinds {
        let count = |persistence| {
            let kinds = v.fault_kinds.iter().filter(|k| k.damage == damage);
            kinds.filter(|k| k.persistence == persistence).map(|k| k.count).sum::<u64>()
        };
        let transient = count(Persistence::Transient);
        let persistent = count(Persistence::Persistent);
        let first = v.faults.iter().find(|fault| fault.damage == damage);
        let first = first.map_or_else(
            || words::NONE.to_owned(),
            |fault| match files {
                0 | 1 => fault.offset_bytes.to_string(),
                _ => format!("{} of {}", fault.offset_bytes, words::path(&fault.path)),
            },
        );
        table.row(vec![
            damage.words().to_owned(),
            words::count(transient + persistent),
            words::count(transient),
            words::count(persistent),
            first,
        ]);
    }
    format!("{}\n", table.show())
}

/// What a run that was gone on with began with.
pub(crate) fn resumed_sentence(resumed: &ResumedRun) -> String {
    let times = match resumed.times {
        1 => "first time".to_owned(),
        2 => "second time".to_owned(),
        times => format!("{times}th time"),
    };
    format!(
        "gone on with for the {times}, behind a reading of the {} pages that had been written; {} \
         of them were being written when it ended, and could be old or new",
        words::count(resumed.pages_written),
        words::count(resumed.pages_unsure)
    )
}

/// How long the phases took.
fn times(v: &Validation) -> String {
    let seconds = |phase| v.phase_seconds(phase).filter(|seconds| *seconds > 0.0);
    let shown = |seconds: f64| {
        // As latencies are told; what takes a minute needs no more than seconds.
        if seconds < 60.0 { show_ns(seconds * 1e9) } else { show_duration(seconds) }
    };
    let mut parts = Vec::new();
    if let Some(load) = seconds("load") {
        parts.push(format!("written once in {}", shown(load)));
    }
    if let Some(work) = seconds("work") {
        let cycles = match v.cycles {
            0 | 1 => String::new(),
            cycles => format!(" in {} cycles", words::count(cycles.into())),
        };
        let what = if is_database(v) { "worked" } else { "read and written" };
        parts.push(format!("{what} for {}{cycles}", shown(work)));
    }
    if v.audited {
        let audit = seconds("audit").map_or_else(String::new, |s| format!(" in {}", shown(s)));
        parts.push(format!("read once more{audit}"));
    }
    let missing = match (v.audited, parts.is_empty()) {
        (true, _) => "",
        (false, true) => "not every page was read at the end",
        (false, false) => "; not every page was read at the end",
    };
    format!("{}{missing}\n", parts.join(", "))
}

fn files(v: &Validation) -> String {
    let mut out = String::new();
    for file in &v.files {
        let (path, size) = (words::path(&file.path), Bytes(file.size_bytes));
        out.push_str(&format!("{path} ({}, {size})\n", words::clean(&file.role)));
        let heads = ["", "single", "several", "MiB", "mean", "p50", "p99", "max", "errors"];
        let mut table = Table::new(1, &heads);
        let kinds = [("reads", &file.read), ("writes", &file.write), ("flushes", &file.sync)];
        let made = kinds.into_iter().filter(|(_, io)| io.single + io.several + io.errors > 0);
        let rows: Vec<Vec<String>> = made.map(|(name, ios)| row(name, ios)).collect();
        if !rows.is_empty() {
            for row in rows {
                table.row(row);
            }
            out.push_str(&table.show());
        }
        if let Some(held) = file.throttling {
            out.push_str(&format!(
                "  {} I/Os had to wait; at most {} were in flight\n",
                words::count(held.throttled),
                words::count(held.in_flight_max)
            ));
        }
    }
    out.push('\n');
    out
}

fn row(name: &str, ios: &FileIos) -> Vec<String> {
    let latency = ios.latency_ns;
    vec![
        name.to_owned(),
        words::count(ios.single),
        words::count(ios.several),
        show_number((ios.bytes as f64 / 1_048_576.0).round()),
        words::mean_time(latency.map(|l| l.mean)),
        words::time(latency.and_then(|l| l.p50)),
        words::time(latency.and_then(|l| l.p99)),
        words::time(latency.map(|l| l.max)),
        words::count(ios.errors),
    ]
}

fn faults(out: &mut String, v: &Validation) {
    let shown = WHOLE_MAX + LINES_MAX;
    for (number, fault) in (1..).zip(v.faults.iter().take(shown)) {
        if number > WHOLE_MAX {
            out.push_str(&format!("{number}. {}\n", fault_line(fault)));
            continue;
        }
        out.push_str(&wrap(&format!("{number}. "), &fault_sentence(fault), WIDTH));
        for line in fault_details(fault) {
            out.push_str(&format!("   {line}\n"));
        }
    }
    let kept = v.faults.len() as u64;
    let more = v.fault_count.saturating_sub(kept.min(shown as u64));
    if more > 0 {
        let kept = if v.fault_count > kept {
            format!("the first {} are", words::count(kept))
        } else {
            "all of them are".to_owned()
        };
        out.push_str(&format!(
            "… and {} more; {kept} in --json, with all that is known of them\n",
            words::count(more)
        ));
    }
    out.push_str(&log_faults(v));
}

/// A wrong page in one line.
fn fault_line(fault: &PageFault) -> String {
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
pub(crate) fn fault_sentence(fault: &PageFault) -> String {
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

impl From<&PageFault> for Again {
    fn from(fault: &PageFault) -> Self {
        Self(fault.persistence, fault.rereads, fault.rereads_planned)
    }
}

/// Everything else that is known of it, line by line: when, what was done with the page, and the
/// bytes that differ.
pub(crate) fn fault_details(fault: &PageFault) -> Vec<String> {
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
