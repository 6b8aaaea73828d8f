//! What a run found, for a terminal.

use std::fmt::Write as _;

use workload::{Bytes, show_duration, show_ns, show_number};

use crate::figures::KindFigures;
use crate::ledger::Recovered;
use crate::report::{Report, Resumed, failure_words};
use crate::run::{Place, Role};

/// Faults that are shown with everything that is known of them; the others have a line.
const WHOLE_MAX: usize = 3;

/// The report as text: the verdict first, then what was done, then every fault.
#[must_use]
pub fn text(report: &Report, places: &[Place]) -> String {
    let mut text = String::new();
    // A string takes everything.
    let _ = write_all(&mut text, report, places);
    text
}

fn write_all(text: &mut String, report: &Report, places: &[Place]) -> std::fmt::Result {
    writeln!(text, "{}\n", verdict(report))?;
    if let Some(resumed) = report.resumed {
        writeln!(text, "{}", words_of(resumed))?;
    }
    let work = report.work;
    writeln!(
        text,
        "{} pages checked · {} changed · {} commits · {} checkpoints · {} reads found the page in memory",
        whole(work.pages_checked),
        whole(work.changes),
        whole(work.commits),
        whole(work.checkpoints),
        whole(work.cache_hits)
    )?;
    if work.shortened + work.lengthened > 0 {
        let (shorter, longer) = (whole(work.shortened), whole(work.lengthened));
        writeln!(text, "files became shorter {shorter} times and longer {longer} times")?;
    }
    let seconds = |time: std::time::Duration| show_duration(time.as_secs_f64().ceil());
    write!(
        text,
        "written once in {}, worked for {}",
        seconds(report.load),
        seconds(report.work_time)
    )?;
    match report.audit {
        Some(time) => writeln!(text, ", read once more in {}", seconds(time))?,
        None => writeln!(text, "; not every page was read at the end")?,
    }
    if report.log_blocks > 0 {
        let blocks = whole(report.log_blocks);
        writeln!(text, "{blocks} acknowledged blocks of the log were read at the end")?;
    }
    writeln!(text)?;
    table(text, report, places)?;
    for failure in &report.failures {
        let path = places.get(failure.target).map(|p| p.path.display().to_string());
        let why = failure_words(failure.errno);
        writeln!(
            text,
            "failed: {} of `{}`, {} times, first at {} bytes: {why}",
            failure.op,
            path.unwrap_or_default(),
            failure.count,
            failure.first_offset_bytes
        )?;
    }
    if report.long_ios > 0 {
        writeln!(text, "{} I/Os took longer than 15 s", report.long_ios)?;
    }
    faults(text, report)
}

fn words_of(resumed: Resumed) -> String {
    let Resumed { times, recovered: Recovered { written, unsure } } = resumed;
    format!(
        "gone on with for the {}, behind a reading of the {} pages that had been written; {} of them were being written when it ended, and \
         could be old or new",
        match times {
            1 => "first time".to_owned(),
            2 => "second time".to_owned(),
            times => format!("{times}th time"),
        },
        whole(written),
        whole(unsure)
    )
}

fn verdict(report: &Report) -> String {
    let faults = report.fault_count;
    if report.is_right()
        && let Some(why) = &report.ended
    {
        return format!(
            "ENDED EARLY: {why}; everything that was read until then was as it was written"
        );
    }
    match (report.is_right(), report.interrupted, report.failures.is_empty()) {
        (false, ..) => {
            let log = report.log_faults.len();
            let pages = if faults == 1 { "1 page".to_owned() } else { format!("{faults} pages") };
            match (faults, log) {
                (0, log) => {
                    format!("WRONG DATA: {log} acknowledged blocks of the log are not there")
                }
                (_, 0) => format!("WRONG DATA: {pages} did not hold what was written"),
                (_, log) => format!(
                    "WRONG DATA: {pages} did not hold what was written, and {log} acknowledged blocks of the log are not there"
                ),
            }
        }
        (true, true, _) => {
            "Interrupted: everything that was read until then was as it was written".to_owned()
        }
        (true, false, false) => {
            "I/Os FAILED; everything that could be read was as it was written".to_owned()
        }
        (true, false, true) => "RIGHT: everything that was read was as it was written".to_owned(),
    }
}

fn table(text: &mut String, report: &Report, places: &[Place]) -> std::fmt::Result {
    writeln!(
        text,
        "{:<10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "", "single", "several", "MiB", "mean", "p99", "max"
    )?;
    for (place, figures) in places.iter().zip(&report.targets) {
        let role = if place.role == Role::Data { "data" } else { "log" };
        let size = Bytes(place.size_bytes);
        writeln!(text, "{} ({role}, {size})", place.path.display())?;
        let kinds =
            [("reads", &figures.read), ("writes", &figures.write), ("flushes", &figures.sync)];
        for (name, kind) in kinds {
            if kind.single + kind.several > 0 {
                row(text, name, kind)?;
            }
        }
    }
    writeln!(text)
}

fn row(text: &mut String, name: &str, kind: &KindFigures) -> std::fmt::Result {
    let time = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), show_ns);
    let latency = &kind.latency;
    writeln!(
        text,
        "  {name:<8} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        whole(kind.single),
        whole(kind.several),
        show_number((kind.bytes as f64 / 1_048_576.0).round()),
        time(latency.mean()),
        time(latency.quantile(0.99).map(|ns| ns as f64)),
        time(latency.max().map(|ns| ns as f64))
    )
}

fn faults(text: &mut String, report: &Report) -> std::fmt::Result {
    for (number, fault) in report.faults.iter().enumerate() {
        writeln!(text, "{}. {fault}", number + 1)?;
        if number >= WHOLE_MAX {
            continue;
        }
        let cached = match fault.right_cached {
            Some(true) => "right",
            Some(false) => "wrong",
            None => "not possible",
        };
        writeln!(
            text,
            "   found {:.3} s after the start, last written {:.3} s after it; through the cache of the system: {cached}",
            fault.found_after.as_secs_f64(),
            fault.written_after.as_secs_f64()
        )?;
        for touched in fault.history.iter().rev().take(8).rev() {
            let what = if touched.wrote { "written" } else { "read and right" };
            let after = touched.after.as_secs_f64();
            writeln!(text, "   {after:.6} s version {} {what}", touched.version)?;
        }
        for line in fault.dump.lines() {
            writeln!(text, "   {line}")?;
        }
    }
    let more = report.fault_count.saturating_sub(report.faults.len() as u64);
    if more > 0 {
        writeln!(text, "… and {more} more")?;
    }
    for fault in &report.log_faults {
        writeln!(
            text,
            "log of thread {}: block {} at {} bytes: {}",
            fault.thread,
            fault.number,
            fault.offset_bytes,
            fault.damage.words()
        )?;
    }
    Ok(())
}

/// A whole number with its digits in groups.
fn whole(number: u64) -> String {
    show_number(number as f64)
}
