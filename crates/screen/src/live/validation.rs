//! What the screen shows of a validation, as data.

use std::time::Duration;

use integrity::{Event, Glance, NoticeKind, PageDamage, Phase};
use workload::show_duration;

use super::figure::Figure;

/// How many pages were wrong, and in which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Page(PageDamage),
    Block(PageDamage),
}

impl Wrong {
    pub(super) fn words(self) -> String {
        match self {
            Self::Page(damage) => damage.words().to_owned(),
            Self::Block(damage) => format!("{} in the log", damage.words_of_block()),
        }
    }
}

/// Everything that the screen shows about a validation.
#[derive(Debug, Default)]
pub(super) struct Validated {
    /// The phase of the run, and its cycle; `None` before the first.
    pub phase: Option<(Phase, u32)>,
    /// The figures of the latest second.
    pub now: Option<Glance>,
    pub read_iops: Figure,
    pub write_iops: Figure,
    pub read_ns: Figure,
    pub write_ns: Figure,
    /// Pages checked per second, over time.
    pub checked: Figure,
    /// How often pages and blocks of the log were wrong in each way, as far as was heard.
    pub wrong: Vec<(Wrong, u64)>,
    /// When that phase began, since the start of the screen.
    began: Duration,
}

impl Validated {
    /// Hears what happened, so long after the screen began.
    pub(super) fn hear(&mut self, event: &Event, at: Duration) {
        match event {
            Event::Began { phase, cycle } => {
                self.phase = Some((*phase, *cycle));
                self.began = at;
                // Figures of the phase before do not apply to this one.
                if let Some(now) = &mut self.now {
                    (now.share, now.phase) = (None, *phase);
                }
            }
            Event::Glance(glance) => self.glance(glance),
            Event::Notice(notice) => {
                let wrong = match notice.kind {
                    NoticeKind::WrongData(damage) => Wrong::Page(damage),
                    NoticeKind::WrongLog(damage) => Wrong::Block(damage),
                    _ => return,
                };
                match self.wrong.iter_mut().find(|(known, _)| *known == wrong) {
                    Some((_, count)) => *count += 1,
                    None => self.wrong.push((wrong, 1)),
                }
            }
        }
    }

    fn glance(&mut self, glance: &Glance) {
        let before = self.now.map_or(0, |now| now.pages_checked);
        let checked = glance.pages_checked.saturating_sub(before) as f64;
        let ns = |ns: Option<u64>| ns.map(|ns| ns as f64);
        self.read_iops.push(Some(glance.read.iops));
        self.write_iops.push(Some(glance.write.iops));
        self.read_ns.push(ns(glance.read.p99_ns));
        self.write_ns.push(ns(glance.write.p99_ns));
        let rate = (glance.seconds > 0.0).then(|| checked / glance.seconds);
        self.checked.push(rate);
        self.now = Some(*glance);
    }

    /// What the run does now, in words.
    pub(super) fn words(&self) -> String {
        match self.phase {
            None => "getting ready".to_owned(),
            Some((phase, cycle)) if cycle > 1 => format!("{}, cycle {cycle}", phase.words()),
            Some((phase, _)) => phase.words().to_owned(),
        }
    }

    /// How much of the phase is done, from 0 to 1, and in words; `None` if that is not known.
    pub(super) fn progress(&self) -> Option<(f64, String)> {
        let now = self.now.as_ref()?;
        let share = now.share?;
        let left = now.left().map(|left| show_duration(left.as_secs_f64().ceil()));
        let left = left.map_or_else(String::new, |left| format!(", {left} left"));
        Some((share, format!("{:.0} %{left}", (100.0 * share).floor())))
    }

    /// Wrong pages, and wrong blocks of the log, so far.
    pub(super) fn faults(&self) -> (u64, u64) {
        let heard = |is: fn(Wrong) -> bool| {
            self.wrong.iter().filter(|(wrong, _)| is(*wrong)).map(|(_, count)| count).sum::<u64>()
        };
        let pages = heard(|wrong| matches!(wrong, Wrong::Page(_)));
        let blocks = heard(|wrong| matches!(wrong, Wrong::Block(_)));
        let (seen_pages, seen_blocks) = self.now.map_or((0, 0), |now| (now.faults, now.log_faults));
        (pages.max(seen_pages), blocks.max(seen_blocks))
    }
}
