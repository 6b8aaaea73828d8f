//! I/Os that do not come back: each thread says which of its own have been under way for long, and
//! once a second they are looked at together, so that a hundred of them are one sentence.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use engine::{Op, Request};
use workload::{Bytes, plural};

use crate::events::NoticeKind;

/// A thread names its I/Os from this age on.
pub(crate) const NAMED_FROM: Duration = Duration::from_secs(1);
/// After this long, the user learns why a requested end does not come.
const END_AFTER: Duration = Duration::from_secs(2);
/// When one I/O takes too long, others are about to: one notice covers all of them, so long after
/// the first.
const TOGETHER: Duration = Duration::from_secs(1);
/// The next notice about the same target comes no sooner than this.
const AGAIN_AFTER: Duration = Duration::from_secs(10);

/// An I/O that has been under way for long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlowIo {
    pub request: Request,
    pub age: Duration,
}

/// Which I/Os that do not come back were reported.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Per target, how many were reported, and when.
    told: Vec<Option<(usize, Instant)>>,
    /// Since when the user has wanted an end.
    stopping: Option<Instant>,
    told_of_end: bool,
}

impl Waits {
    /// What to report about the I/Os that are under way on these targets now. One that takes longer
    /// than `limit` takes too long.
    pub(crate) fn look(
        &mut self,
        all: &[SlowIo],
        paths: &[PathBuf],
        limit: Duration,
        stops: bool,
        now: Instant,
    ) -> Vec<(NoticeKind, String)> {
        self.told.resize(paths.len(), None);
        let mut notices = Vec::new();
        for (target, (path, told)) in paths.iter().zip(&mut self.told).enumerate() {
            let Some((count, oldest)) = of_target(all, target, limit) else {
                *told = None;
                continue;
            };
            let is_due = match *told {
                None => oldest.age >= limit + TOGETHER,
                Some((before, at)) => count > before && now.duration_since(at) >= AGAIN_AFTER,
            };
            if is_due {
                *told = Some((count, now));
                let have = if count == 1 { "has" } else { "have" };
                let text = format!(
                    "{} on `{}` {have} been under way for more than {:.0} s; the oldest is {}",
                    ios(count),
                    path.display(),
                    limit.as_secs_f64(),
                    words(&oldest)
                );
                notices.push((NoticeKind::LongIo, text));
            }
        }
        notices.extend(self.end(all, paths, stops, now));
        notices
    }

    /// What the requested end waits for; reported once.
    fn end(
        &mut self,
        all: &[SlowIo],
        paths: &[PathBuf],
        stops: bool,
        now: Instant,
    ) -> Option<(NoticeKind, String)> {
        if !stops {
            return None;
        }
        let since = *self.stopping.get_or_insert(now);
        if self.told_of_end || now.duration_since(since) < END_AFTER {
            return None;
        }
        let on = |(target, path): (usize, &PathBuf)| {
            let (count, oldest) = of_target(all, target, END_AFTER)?;
            Some(format!("{} on `{}`, the oldest {}", ios(count), path.display(), words(&oldest)))
        };
        let files: Vec<String> = paths.iter().enumerate().filter_map(on).collect();
        if files.is_empty() {
            return None;
        }
        self.told_of_end = true;
        let text = format!("the end waits for I/Os that do not come back: {}", files.join("; "));
        Some((NoticeKind::EndWaits, text))
    }
}

/// How many I/Os on a target are as old as that, and the oldest of them.
fn of_target(all: &[SlowIo], target: usize, age: Duration) -> Option<(usize, SlowIo)> {
    let those = || all.iter().filter(|w| usize::from(w.request.target) == target && w.age >= age);
    Some((those().count(), *those().max_by_key(|w| w.age)?))
}

fn ios(count: usize) -> String {
    plural(count as u64, "I/O", "I/Os")
}

fn words(waiting: &SlowIo) -> String {
    let Request { op, bytes, offset, .. } = waiting.request;
    let seconds = waiting.age.as_secs();
    let what = match op {
        Op::Read => "a read",
        Op::Write | Op::WriteDurable => "a write",
        Op::Fsync | Op::Fdatasync => return format!("a flush, for {seconds} s"),
    };
    format!("{what} of {} at {offset} bytes, for {seconds} s", Bytes(bytes.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(target: u16, op: Op, age: u64) -> SlowIo {
        let request =
            Request { slot: 0, op, target, offset: 65_536, bytes: 8192, buffer_offset: 0 };
        SlowIo { request, age: Duration::from_secs(age) }
    }

    fn texts(waits: &mut Waits, all: &[SlowIo], stops: bool, at: Instant) -> Vec<String> {
        let paths = ["/a.mdx".into(), "/b.ldx".into()];
        let notices = waits.look(all, &paths, Duration::from_secs(15), stops, at);
        notices.into_iter().map(|(_, text)| text).collect()
    }

    /// Each of many I/Os that hung together had a separate line.
    #[test]
    fn ios_that_hang_together_are_told_of_in_one_line() {
        let (mut waits, start) = (Waits::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let young = [waiting(0, Op::Read, 14), waiting(0, Op::Write, 15)];
        assert_eq!(texts(&mut waits, &young, false, at(0)), [""; 0], "others are about to");
        let mut old: Vec<SlowIo> = (0..28).map(|_| waiting(0, Op::Read, 15)).collect();
        old[7].age = Duration::from_secs(16);
        old.push(waiting(1, Op::Fdatasync, 20));
        assert_eq!(
            texts(&mut waits, &old, false, at(1)),
            [
                "28 I/Os on `/a.mdx` have been under way for more than 15 s; the oldest is a read \
                 of 8 KiB at 65536 bytes, for 16 s",
                "1 I/O on `/b.ldx` has been under way for more than 15 s; the oldest is a flush, \
                 for 20 s",
            ]
        );
        assert_eq!(texts(&mut waits, &old, false, at(2)), [""; 0], "once is enough");
        old.push(waiting(0, Op::Write, 16));
        assert_eq!(texts(&mut waits, &old, false, at(3)), [""; 0]);
        assert!(texts(&mut waits, &old, false, at(11))[0].starts_with("29 I/Os on `/a.mdx`"));
        assert_eq!(texts(&mut waits, &[], false, at(12)), [""; 0]);
        assert_eq!(texts(&mut waits, &old, false, at(13)).len(), 2, "they hang again");
    }

    #[test]
    fn who_wants_an_end_hears_once_what_it_waits_for() {
        let (mut waits, start) = (Waits::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let all = [waiting(0, Op::Read, 3), waiting(0, Op::Write, 1), waiting(0, Op::Write, 2)];
        assert_eq!(texts(&mut waits, &all, false, at(0)), [""; 0]);
        assert_eq!(texts(&mut waits, &all, true, at(10)), [""; 0], "it was wanted just now");
        assert_eq!(texts(&mut waits, &all[1..2], true, at(12)), [""; 0], "it goes on");
        assert_eq!(
            texts(&mut waits, &all, true, at(13)),
            ["the end waits for I/Os that do not come back: 2 I/Os on `/a.mdx`, the oldest a \
              read of 8 KiB at 65536 bytes, for 3 s"]
        );
        assert_eq!(texts(&mut waits, &all, true, at(14)), [""; 0]);
    }
}
