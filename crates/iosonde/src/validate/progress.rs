//! What goes on in a validation, as events for those who watch from elsewhere.

use std::time::{Duration, Instant};

use integrity::{Event, Glance, Notice, NoticeKind, Phase};
use results::Point;
use screen::phase_words;
use workload::show_number;

fn whole(count: u64) -> String {
    show_number(count as f64)
}

/// Wrong pages, and wrong blocks of the log, that are told of one by one.
const WRONG_MAX: u64 = 20;
/// Behind those, how many there are is told no sooner than this.
const COUNT_PERIOD: Duration = Duration::from_secs(10);

/// What people hear of notices: of wrong pages and blocks the first ones, and how many there are
/// now and then.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    pages: Counted,
    blocks: Counted,
}

#[derive(Debug, Default)]
struct Counted {
    wrong: u64,
    counted: Option<Instant>,
}

impl Notices {
    /// What is said of a notice; none where it is only counted.
    pub(crate) fn said(&mut self, notice: &Notice, now: Instant) -> Option<String> {
        let (counted, what) = match notice.kind {
            NoticeKind::WrongData(_) => (&mut self.pages, "pages"),
            NoticeKind::WrongLog(_) => (&mut self.blocks, "blocks of the log"),
            _ => return Some(notice.text.clone()),
        };
        counted.said(&notice.text, what, now)
    }
}

impl Counted {
    fn said(&mut self, text: &str, what: &str, now: Instant) -> Option<String> {
        self.wrong += 1;
        if self.wrong <= WRONG_MAX {
            return Some(text.to_owned());
        }
        let Some(counted) = self.counted else {
            self.counted = Some(now);
            return Some(format!(
                "WRONG DATA: more than {WRONG_MAX} {what}; from here on they are counted, and the \
                 result has them"
            ));
        };
        if now.duration_since(counted) < COUNT_PERIOD {
            return None;
        }
        self.counted = Some(now);
        Some(format!("WRONG DATA: {} {what} by now", whole(self.wrong)))
    }
}

/// The same as events that the history keeps for those who watch: each phase is a step, each glance
/// an interval of its window. `said` is what people hear of a notice.
pub(super) fn live_events(
    event: &Event,
    (time, has_log): (Duration, bool),
    said: Option<&str>,
    tell: &mut dyn FnMut(jobs::Event),
) {
    match event {
        Event::Began { phase, .. } => {
            let number = match phase {
                Phase::Load => 1,
                Phase::Work => 2,
                Phase::Audit => 3,
                Phase::Log => 4,
            };
            let of = if has_log { 4 } else { 3 };
            let title = phase_words(*phase).to_owned();
            tell(jobs::Event::Step { number, of, title });
            let seconds = if *phase == Phase::Work { time.as_secs_f64() } else { 0.0 };
            tell(jobs::Event::Engine(engine::Event::WindowBegan { seconds }));
        }
        Event::Glance(glance) => {
            let point = point(glance);
            let seconds_left = glance.left().map_or(0.0, |left| left.as_secs_f64());
            tell(jobs::Event::Engine(engine::Event::Interval { point, seconds_left }));
        }
        Event::Notice(_) => {
            if let Some(text) = said {
                let text = text.to_owned();
                tell(jobs::Event::Engine(engine::Event::Warning { text }));
            }
        }
    }
}

fn point(glance: &Glance) -> Point {
    let (read, write) = (&glance.read, &glance.write);
    Point {
        t: glance.since.as_secs_f64(),
        seconds: glance.seconds,
        read_iops: read.iops,
        write_iops: write.iops,
        read_mib_per_s: read.bytes_per_s / 1_048_576.0,
        write_mib_per_s: write.bytes_per_s / 1_048_576.0,
        read_mean_ns: read.mean_ns,
        write_mean_ns: write.mean_ns,
        read_p99_ns: read.p99_ns,
        write_p99_ns: write.p99_ns,
        max_ns: None,
        // Failed I/Os are told of one by one.
        errors: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use integrity::Lately;

    /// A second of users at work.
    fn glance() -> Glance {
        let lately = |iops: f64| Lately {
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
            sync: Lately::default(),
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

    /// Every one of thousands of wrong pages had a line, and nothing else could be seen.
    #[test]
    fn the_first_wrong_pages_are_told_and_the_others_counted() {
        let mut notices = Notices::default();
        let start = Instant::now();
        let notice = |kind| Notice { kind, text: "it".to_owned() };
        let wrong = notice(NoticeKind::WrongData(integrity::PageDamage::Zeroed));
        let mut said = Vec::new();
        for n in 0..3000_u64 {
            let at = start + Duration::from_millis(n * 10);
            said.extend(notices.said(&wrong, at));
        }
        assert_eq!(said.len(), 20 + 1 + 2, "{said:?}");
        assert!(said[..20].iter().all(|text| text == "it"));
        let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}'], " ");
        assert!(
            said[20].contains("more than 20 pages")
                && plain(&said[21]) == "WRONG DATA: 1 021 pages by now",
            "{said:?}"
        );
        let block = notice(NoticeKind::WrongLog(integrity::PageDamage::Zeroed));
        for other in [notice(NoticeKind::IoFailed), block] {
            assert_eq!(notices.said(&other, start).as_deref(), Some("it"));
        }
    }

    #[test]
    fn those_who_watch_hear_of_every_phase_and_second() {
        let mut told = Vec::new();
        let mut tell = |event: jobs::Event| told.push(format!("{event:?}"));
        let time = Duration::from_secs(60);
        let began = Event::Began { phase: Phase::Audit, cycle: 1 };
        live_events(&began, (time, true), None, &mut tell);
        live_events(&Event::Glance(Box::new(glance())), (time, true), None, &mut tell);
        assert!(
            told[0].contains("reading every page") && told[0].contains("number: 3"),
            "{told:?}"
        );
        assert!(
            told[2].contains("read_iops: 5000.0") && told[2].contains("seconds_left: 90.0"),
            "{told:?}"
        );
    }
}
