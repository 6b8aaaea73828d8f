//! Whether I/O that begins off the boundaries of the storage costs more than I/O on them.

use serde::{Deserialize, Serialize};

use crate::words::{number, percent, size};

/// Differences below this are never called a cost, in percent: two runs of the same load differ as
/// much.
const MARGIN_MIN_PERCENT: f64 = 5.0;
/// Uncertainty of a measurement, in percent, where none is given.
const HALF_WIDTH_PERCENT: f64 = 3.0;

/// One load, on the boundaries or off them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// I/Os per second.
    pub iops: f64,
    /// Half width of its 95 % interval in percent, where known.
    pub half_width_percent: Option<f64>,
}

/// The same load on and off the boundaries of the storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// The load in words, for example `4 KiB random write`.
    pub load: String,
    /// By how many bytes every I/O of the second run was shifted.
    pub shift_bytes: u64,
    /// I/Os a second on the boundaries.
    pub aligned_iops: f64,
    /// I/Os a second off the boundaries.
    pub shifted_iops: f64,
    /// I/Os a second off the boundaries, in percent of those on them.
    pub kept_percent: f64,
    /// How far that percentage may be off, in percentage points.
    pub margin_percent: f64,
    /// Whether the shifted run is slower by more than the margin.
    pub matters: bool,
    /// What it costs, in a sentence.
    pub statement: String,
}

/// Compares a load on the boundaries with the same load shifted by a few sectors. `None` if a
/// figure cannot be used.
#[must_use]
pub fn compare(load: &str, shift_bytes: u64, aligned: &Run, shifted: &Run) -> Option<Alignment> {
    let usable = |run: &Run| run.iops.is_finite() && run.iops > 0.0;
    if !usable(aligned) || !usable(shifted) {
        return None;
    }
    let half = |run: &Run| {
        run.half_width_percent.filter(|h| h.is_finite() && *h >= 0.0).unwrap_or(HALF_WIDTH_PERCENT)
    };
    let kept_percent = 100.0 * shifted.iops / aligned.iops;
    let relative = half(aligned).hypot(half(shifted));
    let margin_percent = (relative * kept_percent / 100.0).max(MARGIN_MIN_PERCENT);
    if !kept_percent.is_finite() || !margin_percent.is_finite() {
        return None;
    }
    let matters = kept_percent + margin_percent < 100.0;
    let shift = size(shift_bytes);
    let figures = format!(
        "{load}, shifted by {shift}, gives {} ± {} % of what it gives aligned ({} instead of {} \
         IOPS)",
        percent(kept_percent),
        percent(margin_percent),
        number(shifted.iops),
        number(aligned.iops)
    );
    let statement = if matters {
        format!(
            "{figures}: alignment matters here. Begin partitions and volumes at a multiple of 1 \
             MiB, and give the file system blocks of the size that the storage works in."
        )
    } else {
        format!("{figures}: no cost of misalignment shows.")
    };
    Some(Alignment {
        load: load.to_owned(),
        shift_bytes,
        aligned_iops: aligned.iops,
        shifted_iops: shifted.iops,
        kept_percent,
        margin_percent,
        matters,
        statement,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(iops: f64) -> Run {
        Run { iops, half_width_percent: Some(2.0) }
    }

    #[test]
    fn half_the_throughput_is_a_cost_and_a_few_percent_are_none() {
        let found = compare("8 KiB random write", 512, &run(10_000.0), &run(5200.0)).unwrap();
        assert!(found.matters && found.statement.contains("alignment matters"), "{found:?}");
        assert!(found.statement.contains("shifted by 512 bytes, gives 52 ± 5 %"));
        assert!(!compare("load", 512, &run(10_000.0), &run(9600.0)).unwrap().matters);
        assert!(!compare("load", 512, &run(10_000.0), &run(12_000.0)).unwrap().matters);
        let noisy = Run { half_width_percent: Some(30.0), ..run(8000.0) };
        assert!(!compare("load", 512, &run(10_000.0), &noisy).unwrap().matters);
    }

    proptest! {
        #[test]
        fn no_input_panics_and_every_figure_is_finite(
            aligned in any::<f64>(), shifted in any::<f64>(), half in any::<Option<f64>>(),
                shift in any::<u64>(),
        ) {
            let run = |iops| Run { iops, half_width_percent: half };
            if let Some(found) = compare("load", shift, &run(aligned), &run(shifted)) {
                let text = serde_json::to_string(&found).unwrap();
                prop_assert_eq!(serde_json::from_str::<Alignment>(&text).unwrap(), found);
            }
        }
    }
}
