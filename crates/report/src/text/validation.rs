//! The end of `iosonde validate`: the verdict first, then what was done, then every fault.

use results::{Experiment, FileIos, PageFault, ResumedRun, Validation};
use workload::{Bytes, show_duration, show_number};

use super::experiment::foot;
use super::layout::{Table, WIDTH, wrap};
use crate::words;

/// Faults that are shown with everything that is known of them; the others have a line.
const WHOLE_MAX: usize = 3;
/// What was last done with a page: so much of it is shown.
const HISTORY_MAX: usize = 8;

/// A validation for a terminal.
#[must_use]
pub fn validation(experiment: &Experiment<Validation>) -> String {
    let v = &experiment.conclusion;
    let mut out = format!("{}\n\n", words::clean(&v.sentence));
    if let Some(resumed) = &v.resumed {
        out.push_str(&wrap("", &resumed_sentence(resumed), WIDTH));
    }
    let work = v.work;
    out.push_str(&format!(
        "{} pages checked · {} changed · {} commits · {} checkpoints · {} reads found the page in memory\n",
        words::count(work.pages_checked),
        words::count(work.changes),
        words::count(work.commits),
        words::count(work.checkpoints),
        words::count(work.cache_hits)
    ));
    if work.shortened + work.lengthened > 0 {
        let (shorter, longer) = (words::count(work.shortened), words::count(work.lengthened));
        out.push_str(&format!("files became shorter {shorter} times and longer {longer} times\n"));
    }
    out.push_str(&times(v));
    if v.log_blocks_checked > 0 {
        let blocks = words::count(v.log_blocks_checked);
        out.push_str(&format!("{blocks} acknowledged blocks of the log were read at the end\n"));
    }
    out.push('\n');
    out.push_str(&files(v));
    for failure in &v.failures {
        out.push_str(&format!(
            "failed: {} of `{}`, {} times, first at {} bytes: {}\n",
            words::clean(&failure.op),
            words::path(&failure.path),
            words::count(failure.count),
            failure.first_offset_bytes,
            words::clean(&failure.reason)
        ));
    }
    if v.long_ios > 0 {
        out.push_str(&format!("{} I/Os took longer than 15 s\n", words::count(v.long_ios)));
    }
    faults(&mut out, v);
    out.push_str(&foot(experiment));
    out
}

/// What a run that was gone on with began with.
pub(crate) fn resumed_sentence(resumed: &ResumedRun) -> String {
    let times = match resumed.times {
        1 => "first time".to_owned(),
        2 => "second time".to_owned(),
        times => format!("{times}th time"),
    };
    format!(
        "gone on with for the {times}, behind a reading of the {} pages that had been written; {} of them were being written when \
         it ended, and could be old or new",
        words::count(resumed.pages_written),
        words::count(resumed.pages_unsure)
    )
}

/// How long the phases took.
fn times(v: &Validation) -> String {
    let seconds = |phase| show_duration(v.phase_seconds(phase).unwrap_or(0.0).ceil());
    let (load, work) = (seconds("load"), seconds("work"));
    let cycles = if v.cycles > 1 {
        format!(" in {} cycles", words::count(v.cycles.into()))
    } else {
        String::new()
    };
    let audit = if v.audited {
        format!(", read once more in {}", seconds("audit"))
    } else {
        "; not every page was read at the end".to_owned()
    };
    format!("written once in {load}, worked for {work}{cycles}{audit}\n")
}

fn files(v: &Validation) -> String {
    let mut out = String::new();
    for file in &v.files {
        let (path, size) = (words::path(&file.path), Bytes(file.size_bytes));
        out.push_str(&format!("{path} ({}, {size})\n", words::clean(&file.role)));
        let heads = ["", "single", "several", "MiB", "mean", "p50", "p99", "max", "errors"];
        let mut table = Table::new(1, &heads);
        let kinds = [("reads", &file.read), ("writes", &file.write), ("flushes", &file.sync)];
        for (name, ios) in kinds {
            if ios.single + ios.several + ios.errors > 0 {
                table.row(row(name, ios));
            }
        }
        out.push_str(&table.show());
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
    for (number, fault) in (1..).zip(&v.faults) {
        out.push_str(&wrap(&format!("{number}. "), &fault_sentence(fault), WIDTH));
        if number <= WHOLE_MAX {
            for line in fault_details(fault) {
                out.push_str(&format!("   {line}\n"));
            }
        }
    }
    let more = v.fault_count.saturating_sub(v.faults.len() as u64);
    if more > 0 {
        out.push_str(&format!("… and {} more\n", words::count(more)));
    }
    for fault in &v.log_faults {
        out.push_str(&format!(
            "log of thread {}: block {} at {} bytes: {}\n",
            fault.thread,
            fault.number,
            fault.offset_bytes,
            words::clean(&fault.holds)
        ));
    }
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
    if let Some(other) = &fault.belongs_to {
        let file = other
            .path
            .as_ref()
            .map_or_else(|| "another file".to_owned(), |path| format!("`{}`", words::path(path)));
        out.push_str(&format!(", which belongs to page {} of {file}", other.page));
    }
    if (fault.wrong_sectors.len() as u64) < fault.sectors {
        let wrong: Vec<String> =
            fault.wrong_sectors.iter().map(|wrong| wrong.sector.to_string()).collect();
        let sectors = if wrong.len() == 1 { "sector" } else { "sectors" };
        out.push_str(&format!(", wrong in {sectors} {}", wrong.join(", ")));
    }
    out.push_str(&match fault.persistence {
        results::Persistence::Transient => {
            format!("; right when read again ({} times)", fault.rereads)
        }
        results::Persistence::Persistent => {
            format!("; still so after {} more reads", fault.rereads)
        }
    });
    out
}

/// Everything else that is known of it, line by line: when, what was done with the page, and the bytes that differ.
pub(crate) fn fault_details(fault: &PageFault) -> Vec<String> {
    let cached = match fault.right_cached {
        Some(true) => "right",
        Some(false) => "wrong",
        None => "not possible",
    };
    let mut lines = vec![format!(
        "found {:.3} s after the start, last written {:.3} s after it; through the cache of the system: {cached}",
        fault.found_after_seconds, fault.written_after_seconds
    )];
    let latest = fault.history.len().saturating_sub(HISTORY_MAX);
    for touch in fault.history.iter().skip(latest) {
        let what = if touch.wrote { "written" } else { "read and right" };
        lines.push(format!("{:.6} s version {} {what}", touch.after_seconds, touch.version));
    }
    lines.extend(fault.dump.lines().map(words::clean));
    lines
}
