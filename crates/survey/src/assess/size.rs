//! How large the test file should be: larger than the caches that would answer instead of the
//! storage, as far as space and time allow.

use std::sync::atomic::AtomicBool;

use engine::{Action, Event, PrepareError};
use results::Pace;
use workload::{Bytes, Target, Violation, show_duration, show_number};

use super::{AssessOptions, Timing};
use crate::filling::{self, PROBE_BYTES};
use crate::lab;
use crate::measure::Site;

/// Below this, a file holds too few blocks for a random load.
const LEAST_BYTES: u64 = 1 << 30;
/// Below this many times the memory, a size counts as small.
const SMALL_TIMES: u64 = 2;

/// A size, and why it was chosen.
pub(super) struct Size {
    pub(super) bytes: Bytes,
    pub(super) reason: String,
    pub(super) warning: Option<String>,
}

/// How large a test file will be where no size is asked for, in a sentence.
#[must_use]
pub fn assess_size_rule(pace: Pace) -> String {
    let timing = Timing::of(pace);
    format!(
        "its size: {} times the memory of this host, at most half of the free space, and no more \
         than can be written in {} (learnt from the first {})",
        timing.memory_times,
        show_duration(timing.fill_s),
        Bytes(PROBE_BYTES)
    )
}

/// The size that was asked for. How large files on several hosts should be is not chosen here:
/// hosts may share a cache that none of them sees.
pub(super) fn asked_for(size: Option<Bytes>) -> Result<Size, PrepareError> {
    let Some(bytes) = size else {
        let rule = "several hosts together need one that was asked for, for each of them";
        let (field, value) = ("size".to_owned(), "none".to_owned());
        return Err(PrepareError::Invalid(vec![Violation { field, value, rule: rule.to_owned() }]));
    };
    // The result has the bytes of all hosts next to this.
    Ok(Size { bytes, reason: format!("{bytes} on each host, as asked for"), warning: None })
}

/// The size that an assessment had before it was interrupted.
pub(super) fn as_before(options: &AssessOptions, site: &Site, bytes: u64) -> Size {
    let memory = site.environment().host.as_ref().map_or(0, |h| h.memory_bytes);
    let (reason, cause) = match options.size {
        Some(_) => ("asked for", "it was asked for"),
        None if options.engine.is_artificial() => ("a simulated device", ""),
        None => ("as large as before the interruption", "it was as large before"),
    };
    let warning = if cause.is_empty() { None } else { too_small(bytes, memory, cause) };
    Size { bytes: Bytes(bytes), reason: reason.to_owned(), warning }
}

/// The size that was asked for, or the one that the rule gives.
pub(super) fn choose(
    options: &AssessOptions,
    site: &Site,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<Size, PrepareError> {
    let memory = site.environment().host.as_ref().map_or(0, |h| h.memory_bytes);
    if let Some(bytes) = options.size {
        let warning = too_small(bytes.0, memory, "it was asked for");
        return Ok(Size { bytes, reason: "asked for".to_owned(), warning });
    }
    let target = Target { path: options.target.clone(), size_bytes: None };
    let workload = options.workload(target, super::plan::preparing_stream());
    let plan = engine::plan(&workload, &options.permissions)?;
    let plan = &plan[0];
    let has = plan.size_bytes;
    match plan.action {
        Action::Nothing => {
            return Ok(Size {
                bytes: Bytes(has),
                reason: "a simulated device".into(),
                warning: None,
            });
        }
        Action::Reuse | Action::Refill if plan.file_bytes > 0 => {
            let warning = too_small(has, memory, "an earlier test file of this size is there");
            let reason = "an earlier test file is used again".to_owned();
            return Ok(Size { bytes: Bytes(has), reason, warning });
        }
        _ => {}
    }
    let space = match plan.action {
        Action::Make | Action::Refill => filling::space_bytes(&site.environment().storage),
        _ => has,
    };
    let target = Target { path: options.target.clone(), size_bytes: None };
    let setup = options.setup(target, lab::Timing::default());
    let speed = filling::speed_bytes_per_s(&setup, Bytes(space), stop, observe)?;
    Ok(by_rule(memory, space, speed.unwrap_or(0.0), &Timing::of(options.pace)))
}

/// The rule: a multiple of the memory, cut to what space and time allow, in whole GiB.
fn by_rule(memory: u64, space: u64, bytes_per_s: f64, timing: &Timing) -> Size {
    let wanted = memory.saturating_mul(timing.memory_times).max(LEAST_BYTES);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let in_time = if bytes_per_s > 0.0 { (bytes_per_s * timing.fill_s) as u64 } else { u64::MAX };
    let times = timing.memory_times;
    let memory_shown = Bytes(memory);
    let (bytes, reason, cause) = if wanted <= space.min(in_time) {
        let reason = format!("{times} times the {memory_shown} of memory");
        (wanted, reason, "")
    } else if space <= in_time {
        let reason = format!(
            "half of the free space; {times} times the {memory_shown} of memory do not fit"
        );
        (space, reason, "at most half of the free space is taken")
    } else {
        let speed = show_number(bytes_per_s / 1_048_576.0);
        let reason = format!(
            "what can be written in {} s at {speed} MiB/s; {times} times the {memory_shown} of \
             memory would take longer",
            timing.fill_s
        );
        (
            in_time,
            reason,
            "this pace leaves no time to write more; a slower `--pace` or `--size` does",
        )
    };
    let bytes = round_down(bytes);
    let warning = if cause.is_empty() { None } else { too_small(bytes, memory, cause) };
    Size { bytes: Bytes(bytes), reason, warning }
}

/// Whole GiB where there are several, whole MiB below.
fn round_down(bytes: u64) -> u64 {
    let unit = if bytes >= 2 << 30 { 1 << 30 } else { 1 << 20 };
    (bytes / unit * unit).max(unit)
}

fn too_small(bytes: u64, memory: u64, cause: &str) -> Option<String> {
    (bytes < memory.saturating_mul(SMALL_TIMES)).then(|| {
        format!(
            "the test file of {} is less than {SMALL_TIMES} times the memory of {} ({cause}). \
            Caches of a host below, a controller or an array may answer instead of the storage",
            Bytes(bytes),
            Bytes(memory)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_file_is_a_multiple_of_the_memory_where_it_fits() {
        let size = by_rule(16 * GIB, 1000 * GIB, 2e9, &Timing::of(Pace::Normal));
        assert_eq!((size.bytes, size.warning), (Bytes(64 * GIB), None));
    }

    #[test]
    fn space_and_time_cut_it_and_a_small_file_is_said_to_be_small() {
        let cut_by_space = by_rule(16 * GIB, 20 * GIB, 2e9, &Timing::of(Pace::Normal));
        assert_eq!(cut_by_space.bytes, Bytes(20 * GIB));
        assert!(cut_by_space.warning.unwrap().contains("half of the free space"));
        let cut_by_time = by_rule(16 * GIB, 1000 * GIB, 200e6, &Timing::of(Pace::Quick));
        assert_eq!(cut_by_time.bytes, Bytes(4 * GIB));
        assert!(cut_by_time.reason.contains("25 s"), "{}", cut_by_time.reason);
    }
}
