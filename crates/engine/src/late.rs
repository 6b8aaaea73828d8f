//! How late the timer of a thread rings, where a system's queue waits by one: a figure of the tool,
//! next to those of the storage.

use std::sync::atomic::{AtomicU64, Ordering};

use workload::show_ns;

/// How late the waits of a thread were ended. The thread adds, and the coordinator reads at the
/// end.
#[derive(Debug, Default)]
pub struct LateWaits {
    count: AtomicU64,
    sum_ns: AtomicU64,
    most_ns: AtomicU64,
}

impl LateWaits {
    /// A wait ended so late. Called by one thread only, so nothing is lost.
    #[cfg(any(windows, test))]
    pub(crate) fn add(&self, late_ns: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(late_ns, Ordering::Relaxed);
        self.most_ns.fetch_max(late_ns, Ordering::Relaxed);
    }
}

/// The waits of several threads in words; `None` if the timer ended none.
pub(crate) fn in_words<'a>(all: impl Iterator<Item = &'a LateWaits>) -> Option<String> {
    let (mut count, mut sum, mut most) = (0_u64, 0_u64, 0);
    for one in all {
        count += one.count.load(Ordering::Relaxed);
        sum = sum.saturating_add(one.sum_ns.load(Ordering::Relaxed));
        most = one.most_ns.load(Ordering::Relaxed).max(most);
    }
    let mean = sum as f64 / count as f64;
    (count > 0).then(|| {
        format!("timer {} late in {count} waits, {} at most", show_ns(mean), show_ns(most as f64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_of_all_threads_are_one_figure() {
        let all = [LateWaits::default(), LateWaits::default(), LateWaits::default()];
        assert_eq!(in_words(all.iter()), None);
        all[0].add(100_000);
        all[0].add(300_000);
        all[2].add(1_400_000);
        let words = in_words(all.iter()).unwrap();
        assert_eq!(
            words,
            format!("timer {} late in 3 waits, {} at most", show_ns(6e5), show_ns(1.4e6))
        );
    }
}
