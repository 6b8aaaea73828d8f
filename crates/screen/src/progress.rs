//! The progress of a validation, as a line for people.

use std::time::Duration;

use integrity::{Glance, RecentIo};
use workload::{show_duration, show_ns, show_number};

/// Width of the bar in columns.
const BAR: usize = 12;

/// How it goes, in a line; with a bar where a terminal shows it.
pub(crate) fn line(glance: &Glance, bar: bool) -> String {
    let mut parts = vec![glance.phase.words().to_owned()];
    if let Some(share) = glance.share {
        let bar = if bar { format!("{} ", drawn(share)) } else { String::new() };
        let left = glance.left().map(|left| show_duration(left.as_secs_f64().ceil()));
        let left = left.map_or_else(String::new, |left| format!(", {left} left"));
        parts.push(format!("{bar}{:.0} %{left}", (100.0 * share).floor()));
    }
    let wrong = wrong_words(glance.faults, glance.log_faults);
    parts.push(wrong.unwrap_or_else(|| "no faults".to_owned()));
    if glance.failures > 0 {
        let s = if glance.failures == 1 { "" } else { "s" };
        parts.push(format!("{} FAILED I/O{s}", whole(glance.failures)));
    }
    parts.push(format!("{} pages checked", whole(glance.pages_checked)));
    for (name, lately) in [("read", &glance.read), ("write", &glance.write)] {
        if lately.iops > 0.0 {
            parts.push(rates(name, lately));
        }
    }
    if glance.oldest >= Duration::from_secs(2) {
        parts.push(format!("an I/O under way for {:.0} s", glance.oldest.as_secs_f64()));
    }
    parts.join(" · ")
}

/// How many pages and blocks of the log were wrong; `None` if all were right.
pub(crate) fn wrong_words(pages: u64, blocks: u64) -> Option<String> {
    let words = |count: u64, one: &str| {
        let s = if count == 1 { "" } else { "S" };
        (count > 0).then(|| format!("{} WRONG {one}{s}", whole(count)))
    };
    let all: Vec<String> =
        [words(pages, "PAGE"), words(blocks, "LOG BLOCK")].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn rates(name: &str, lately: &RecentIo) -> String {
    let (iops, mib) = (show_number(lately.iops), show_number(lately.bytes_per_s / 1_048_576.0));
    let p99 = lately.p99_ns.map(|ns| format!(", p99 {}", show_ns(ns as f64)));
    format!("{name} {iops} IOPS, {mib} MiB/s{}", p99.unwrap_or_default())
}

fn whole(count: u64) -> String {
    show_number(count as f64)
}

fn drawn(share: f64) -> String {
    let done = (0..BAR).filter(|place| (*place as f64 + 0.5) / BAR as f64 <= share).count();
    "━".repeat(done) + &"╌".repeat(BAR - done)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use integrity::Phase;

    /// A second of users at work.
    pub(crate) fn glance() -> Glance {
        let lately = |iops: f64| RecentIo {
            iops,
            bytes_per_s: iops * 8192.0,
            mean_ns: Some(300_000.0),
            p50_ns: Some(250_000),
            p99_ns: Some(1_200_000),
        };
        Glance {
            phase: Phase::Work,
            since: Duration::from_secs(30),
            share: Some(0.25),
            seconds: 1.0,
            read: lately(5000.0),
            write: lately(3000.0),
            sync: RecentIo::default(),
            pages_checked: 123_456,
            changes: 2000,
            commits: 40,
            checkpoints: 2,
            faults: 0,
            log_faults: 0,
            failures: 0,
            long_ios: 0,
            in_flight: 17,
            oldest: Duration::from_millis(3),
        }
    }

    #[test]
    fn a_line_says_how_far_it_is_and_what_was_found() {
        let plain = |text: String| text.replace(['\u{a0}', '\u{202f}'], " ");
        let text = plain(line(&glance(), true));
        assert!(
            text.starts_with(
                "the load is running · ━━━╌╌╌╌╌╌╌╌╌ 25 %, 1 min 30 s left · no faults"
            ),
            "{text}"
        );
        assert!(text.contains("123 456 pages checked"), "{text}");
        assert!(text.contains("read 5 000 IOPS, 39.1 MiB/s, p99 1.2 ms"), "{text}");
        let wrong = Glance { faults: 2, failures: 1, share: None, ..glance() };
        let text = plain(line(&wrong, false));
        assert!(text.contains("2 WRONG PAGES · 1 FAILED I/O ·") && !text.contains('━'), "{text}");
        // It was "no faults".
        let of_log = Glance { log_faults: 1, ..glance() };
        assert!(plain(line(&of_log, false)).contains(" · 1 WRONG LOG BLOCK · "));
        let both = plain(line(&Glance { faults: 1, log_faults: 2000, ..glance() }, false));
        assert!(both.contains(" · 1 WRONG PAGE, 2 000 WRONG LOG BLOCKS · "), "{both}");
    }
}
