//! How much people hear of storage that is wrong in thousands of places.

use std::time::{Duration, Instant};

use integrity::{Notice, NoticeKind};
use workload::show_number;

/// Wrong pages, and wrong blocks of the log, that are reported one by one.
const WRONG_MAX: u64 = 20;
/// After those, their number is reported no more often than this.
const COUNT_PERIOD: Duration = Duration::from_secs(10);

/// What people hear of notices: of wrong pages and blocks the first ones, and how many there are
/// now and then.
#[derive(Debug, Default)]
pub struct Notices {
    pages: NoticeCounter,
    blocks: NoticeCounter,
}

#[derive(Debug, Default)]
struct NoticeCounter {
    wrong: u64,
    counted: Option<Instant>,
}

impl Notices {
    /// What people hear of a notice; `None` if it is only counted.
    #[must_use]
    pub fn told(&mut self, notice: &Notice, now: Instant) -> Option<String> {
        let (counted, what) = match notice.kind {
            NoticeKind::WrongData(_) => (&mut self.pages, "pages"),
            NoticeKind::WrongLog(_) => (&mut self.blocks, "blocks of the log"),
            _ => return Some(notice.text.clone()),
        };
        counted.told(&notice.text, what, now)
    }
}

impl NoticeCounter {
    fn told(&mut self, text: &str, what: &str, now: Instant) -> Option<String> {
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
        Some(format!("WRONG DATA: {} {what} by now", show_number(self.wrong as f64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every one of thousands of wrong pages had a line, and nothing else could be seen.
    #[test]
    fn the_first_wrong_pages_are_told_and_the_others_counted() {
        let mut notices = Notices::default();
        let start = Instant::now();
        let notice = |kind| Notice { kind, text: "it".to_owned() };
        let wrong = notice(NoticeKind::WrongData(integrity::PageDamage::Zeroed));
        let mut told = Vec::new();
        for n in 0..3000_u64 {
            let at = start + Duration::from_millis(n * 10);
            told.extend(notices.told(&wrong, at));
        }
        assert_eq!(told.len(), 20 + 1 + 2, "{told:?}");
        assert!(told[..20].iter().all(|text| text == "it"));
        let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}'], " ");
        assert!(
            told[20].contains("more than 20 pages")
                && plain(&told[21]) == "WRONG DATA: 1 021 pages by now",
            "{told:?}"
        );
        let block = notice(NoticeKind::WrongLog(integrity::PageDamage::Zeroed));
        for other in [notice(NoticeKind::IoFailed), block] {
            assert_eq!(notices.told(&other, start).as_deref(), Some("it"));
        }
    }
}
