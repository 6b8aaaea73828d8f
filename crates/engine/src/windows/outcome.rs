//! What the answers of Windows to an overlapped call mean: functions of numbers, so that also the
//! answers are tested that no test machine gives.

/// `ERROR_IO_PENDING`: the I/O was accepted and is in flight.
const PENDING: u32 = 997;
/// `ERROR_HANDLE_EOF`: a read begins at or after the end of the file.
const END_OF_FILE: u32 = 38;
/// `STATUS_END_OF_FILE`, the same as a status of the kernel.
const STATUS_END_OF_FILE: u32 = 0xC000_0011;
/// `ERROR_IO_DEVICE`, for errors without a number.
const DEVICE_FAILED: i32 = 1117;
/// The tick of waits after `timeBeginPeriod(1)`, with as much again for the wake-up.
const TICK_NS: u64 = 2_000_000;

/// No timer is set for a later moment: whatever happens to it, the wait ends then.
const LONGEST_NS: u64 = 1_000_000_000;
/// Wake-ups are expected to be this late at least, and this late until one has been seen.
const LEAST_NS: u64 = 30_000;
const FIRST_NS: u64 = 500_000;

/// What became of an I/O when it was issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    /// It is done: its bytes, or its negative error number. The port tells nothing more of it.
    Done(i32),
    /// The I/O is in flight, and the port will report its completion.
    Pending,
}

/// Reads the answer of `ReadFile` or `WriteFile`. With `skips`, the port gets no completion for
/// calls that succeed at once.
pub(crate) fn started(succeeded: bool, error: u32, bytes: usize, skips: bool) -> Started {
    match (succeeded, error) {
        (true, _) if skips => Started::Done(i32::try_from(bytes).unwrap_or(i32::MAX)),
        (true, _) | (false, PENDING) => Started::Pending,
        (false, END_OF_FILE) => Started::Done(0),
        (false, error) => Started::Done(failed(error)),
    }
}

/// Reads a completion: an NT status, which `code_of` makes an error number, and bytes.
pub(crate) fn finished(status: u32, bytes: u32, code_of: impl Fn(u32) -> u32) -> i32 {
    if status.cast_signed() >= 0 {
        return i32::try_from(bytes).unwrap_or(i32::MAX);
    }
    if status == STATUS_END_OF_FILE {
        return 0;
    }
    match code_of(status) {
        END_OF_FILE => 0,
        error => failed(error),
    }
}

fn failed(error: u32) -> i32 {
    match i32::try_from(error) {
        Ok(error) if error > 0 => -error,
        _ => -DEVICE_FAILED,
    }
}

/// Milliseconds to wait on the port when so many nanoseconds are left; `None` if its tick is too
/// coarse, and the clock must be watched.
pub(crate) fn wait_ms(left_ns: u64) -> Option<u32> {
    let ms = left_ns.checked_sub(TICK_NS)? / 1_000_000;
    // The largest number would mean for ever.
    (ms > 0).then(|| u32::try_from(ms).unwrap_or(u32::MAX - 1).min(u32::MAX - 1))
}

/// How long before a moment a timer is set: by how much it was late before. The rest is spent
/// watching the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Margin(u64);

impl Default for Margin {
    fn default() -> Self {
        Self(FIRST_NS)
    }
}

impl Margin {
    /// When the timer is to ring for a moment, and after how many milliseconds a wait ends that
    /// hears nothing of it; none if it is too late for a timer.
    pub(crate) fn due(self, now_ns: u64, until_ns: u64) -> Option<(u64, u32)> {
        let left = until_ns.saturating_sub(now_ns).min(LONGEST_NS);
        let sleep = left.checked_sub(self.0).filter(|ns| *ns > 0)?;
        let ms = u32::try_from((sleep + TICK_NS).div_ceil(1_000_000)).unwrap_or(u32::MAX - 1);
        Some((now_ns + sleep, ms))
    }

    /// The timer rang for `due_ns` in a wait that had begun at `began_ns`, and the thread was awake
    /// at `now_ns`. The margin grows at once and shrinks slowly. A wait that had begun later tells
    /// how long the thread was busy, not how late the timer is. Gives by how much it was late, if
    /// that is known.
    pub(crate) fn learn(&mut self, began_ns: u64, due_ns: u64, now_ns: u64) -> Option<u64> {
        let late = now_ns.saturating_sub(due_ns);
        (began_ns < due_ns).then(|| {
            self.0 = (self.0 - self.0 / 16).max(late + late / 4).clamp(LEAST_NS, TICK_NS);
            late
        })
    }
}

/// Whether a timer that was set for `set_ns` still rings, and no later than at `due_ns`.
pub(crate) fn is_set_for(set_ns: Option<u64>, now_ns: u64, due_ns: u64) -> bool {
    set_ns.is_some_and(|set| now_ns < set && set <= due_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_rings_before_the_moment_by_as_much_as_it_was_late() {
        let mut margin = Margin::default();
        assert_eq!(margin.due(1000, 1000), None);
        assert_eq!(margin.due(1000, 500_000), None, "nearer than the timer is exact");
        assert_eq!(margin.due(9_000_000, 10_000_000), Some((9_500_000, 3)));
        let (due, ms) = margin.due(5, u64::MAX).unwrap();
        assert_eq!((due, ms), (5 + 1_000_000_000 - 500_000, 1002), "a second at most");
        assert_eq!(margin.learn(0, 100, 100 + 800_000), Some(800_000));
        assert_eq!(margin, Margin(1_000_000), "a quarter more than it was late");
        assert_eq!(margin.learn(100, 100, 90_000_000), None);
        assert_eq!(margin, Margin(1_000_000), "the thread was busy when it rang");
        margin.learn(0, 100, 90_000_000);
        assert_eq!(margin, Margin(TICK_NS), "never more than without a timer");
        for _ in 0..100 {
            margin.learn(0, 100, 90);
        }
        assert_eq!(margin, Margin(LEAST_NS), "one late wake-up is forgotten");
    }

    /// The end of a run is a moment for thousands of waits, so the timer is not set for each.
    #[test]
    fn a_timer_is_set_again_only_if_it_rings_too_late_or_not() {
        assert!(is_set_for(Some(50), 10, 50));
        assert!(is_set_for(Some(40), 10, 50), "it rings earlier, and is then set again");
        assert!(!is_set_for(Some(60), 10, 50));
        assert!(!is_set_for(Some(10), 10, 50), "it has rung");
        assert!(!is_set_for(None, 10, 50));
    }

    /// Wine never finishes an I/O within the call; Windows often does.
    #[test]
    fn a_call_that_succeeds_at_once_is_done_where_the_port_is_spared() {
        assert_eq!(started(true, 0, 8192, true), Started::Done(8192));
        assert_eq!(started(true, 0, 8192, false), Started::Pending, "the port tells it, too");
        assert_eq!(started(false, 997, 0, true), Started::Pending);
        assert_eq!(started(false, 38, 0, true), Started::Done(0), "the end of the file");
        assert_eq!(started(false, 87, 0, true), Started::Done(-87));
        assert_eq!(started(false, 0, 0, true), Started::Done(-1117), "an error without a number");
    }

    #[test]
    fn completions_are_bytes_or_error_numbers() {
        let code_of = |status| if status == 0xC000_0185 { 1117 } else { 31 };
        assert_eq!(finished(0, 4096, code_of), 4096);
        assert_eq!(finished(0xC000_0011, 0, code_of), 0);
        assert_eq!(finished(0xC000_0185, 0, code_of), -1117);
        assert_eq!(finished(0x8000_0005, 9, code_of), -31, "a warning is no success");
        assert_eq!(finished(0xC000_0185, 0, |_| 38), 0);
    }

    #[test]
    fn waits_end_before_the_moment() {
        assert_eq!(wait_ms(0), None);
        assert_eq!(wait_ms(2_900_000), None);
        assert_eq!(wait_ms(3_000_000), Some(1));
        assert_eq!(wait_ms(20_500_000), Some(18));
        assert_eq!(wait_ms(u64::MAX), Some(u32::MAX - 1));
    }
}
