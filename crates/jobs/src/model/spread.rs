//! How the I/Os of a part are spread over time: their number in short windows.
//!
//! A long part has too many windows for a file. So it is cut into places of equal length, and those
//! with similar numbers of I/Os are represented by one of them. All streams have the same places,
//! because what peaks together is what queues.

use trace::{Io, Kind, Logs};
use workload::{Counts, Nanoseconds, RateProfile};

use crate::conduct::JobError;
use crate::replay::Part;

/// What is counted: reads; plain and durable writes of data; those of the log; flushes.
pub(super) const LANES: usize = 6;
pub(super) const READS: usize = 0;
pub(super) const DATA: [usize; 2] = [1, 2];
pub(super) const LOG: [usize; 2] = [3, 4];
pub(super) const FLUSHES: usize = 5;

/// Windows of all patterns, windows of a place at least, and places at most.
const WINDOWS_MAX: usize = 40_000;
const WINDOWS_OF_PLACE: usize = 100;
const PLACES_MAX: usize = 4000;

/// I/Os per window in each lane.
type Window = [u32; LANES];

/// The windows of the places that stand for all.
pub(super) struct Spread {
    window_ns: u64,
    patterns: Vec<Vec<Window>>,
    /// Which of them each place is like; empty if every place is there.
    order: Vec<u32>,
}

impl Spread {
    /// Counts the I/Os of the part. A long part is read twice, first to choose what stands for all.
    pub(super) fn read(part: &Part, window_ns: u64) -> Result<Self, JobError> {
        let windows = part.contents.span_ns.div_ceil(window_ns);
        let windows = usize::try_from(windows).unwrap_or(usize::MAX).max(1);
        let of_place = WINDOWS_OF_PLACE.max(windows.div_ceil(PLACES_MAX));
        let all = windows.div_ceil(of_place);
        let at = |io: &Io| {
            let since = io.issued_ns.saturating_sub(part.contents.from_ns) / window_ns;
            usize::try_from(since).unwrap_or(usize::MAX).min(windows - 1)
        };
        let most = (WINDOWS_MAX / of_place).max(1);
        let (chosen, order) = if all <= most {
            ((0..all).collect(), Vec::new())
        } else {
            let mut sums = vec![0u64; all];
            part.each(&mut |io| sums[at(io) / of_place] += 1)?;
            // The last place may be a part of one.
            represented(&sums[..windows / of_place], most)
        };
        let mut patterns: Vec<Vec<Window>> = Vec::new();
        let mut index_of = vec![None; all];
        for (index, place) in chosen.iter().enumerate() {
            let length = of_place.min(windows - place * of_place);
            patterns.push(vec![[0; LANES]; length]);
            index_of[*place] = Some(index);
        }
        let logs = part.contents.logs();
        part.each(&mut |io| {
            let at = at(io);
            if let (Some(index), Some(lane)) = (index_of[at / of_place], lane_of(io, logs)) {
                patterns[index][at % of_place][lane] += 1;
            }
        })?;
        Ok(Self { window_ns, patterns, order })
    }

    pub(super) fn window_ns(&self) -> u64 {
        self.window_ns
    }

    /// The rate over time of what `count` takes of each window; nothing if it takes none.
    pub(super) fn profile(&self, count: impl Fn(&Window) -> u32) -> Option<RateProfile> {
        let of = |pattern: &Vec<Window>| Counts(pattern.iter().map(&count).collect());
        let profile = RateProfile {
            window_ns: Nanoseconds(self.window_ns),
            patterns: self.patterns.iter().map(of).collect(),
            order: Counts(self.order.clone()),
        };
        (profile.whole().1 > 0).then_some(profile)
    }
}

/// What an I/O is counted as.
pub(super) fn lane_of(io: &Io, logs: &Logs) -> Option<usize> {
    let writes = if logs.is_log_write(io) { LOG } else { DATA };
    match io.kind {
        Kind::Read => Some(READS),
        Kind::Write => Some(writes[0]),
        Kind::DurableWrite => Some(writes[1]),
        Kind::Flush => Some(FLUSHES),
        Kind::Discard => None,
    }
}

/// Chooses at most so many places, and says for every place which of these it is like. Places are
/// sorted by their I/Os and cut into groups with about as many I/Os each, because busy places are
/// what queues are made of. Where I/Os more than double within a group, another one begins. The
/// middle place of each group stands for it.
fn represented(sums: &[u64], most: usize) -> (Vec<usize>, Vec<u32>) {
    let mut sorted: Vec<usize> = (0..sums.len()).collect();
    sorted.sort_by_key(|place| sums[*place]);
    let all: u64 = sums.iter().sum::<u64>().max(1);
    let shares = most.div_ceil(2);
    let mut doublings = most - shares;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let (mut before, mut last_share) = (0u64, None);
    for place in sorted {
        let share = (u128::from(before) * shares as u128 / u128::from(all)).min(shares as u128 - 1);
        before += sums[place];
        let least = groups.last().and_then(|group| group.first()).map_or(0, |first| sums[*first]);
        let doubles = doublings > 0 && sums[place] > 2 * least.max(4);
        if last_share != Some(share) || doubles {
            doublings -= usize::from(last_share == Some(share));
            groups.push(Vec::new());
        }
        last_share = Some(share);
        if let Some(group) = groups.last_mut() {
            group.push(place);
        }
    }
    let (mut chosen, mut order) = (Vec::new(), vec![0; sums.len()]);
    for group in &groups {
        let index = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
        chosen.push(group[group.len() / 2]);
        for place in group {
            order[*place] = index;
        }
    }
    (chosen, order)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_are_like_one_with_about_as_many_ios() {
        let sums: Vec<u64> =
            (0..1000).map(|place| if place % 10 == 0 { 900 } else { 10 }).collect();
        let (chosen, order) = represented(&sums, 8);
        assert!(chosen.len() <= 8);
        for (place, index) in order.iter().enumerate() {
            assert_eq!(sums[chosen[*index as usize]], sums[place], "{place}");
        }
    }

    proptest! {
        #[test]
        fn every_place_is_represented_by_few(
            sums in prop::collection::vec(0_u64..100_000, 1..300), most in 1_usize..40,
        ) {
            let (chosen, order) = represented(&sums, most);
            prop_assert!((1..=most).contains(&chosen.len()));
            prop_assert_eq!(order.len(), sums.len());
            for (index, place) in chosen.iter().enumerate() {
                prop_assert_eq!(order[*place] as usize, index);
            }
        }
    }

    #[test]
    fn places_without_ios_are_represented() {
        let (chosen, order) = represented(&[0; 9], 4);
        assert_eq!((chosen.len(), order.len()), (1, 9));
    }
}
