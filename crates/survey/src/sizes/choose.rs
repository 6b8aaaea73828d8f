//! Which sizes fit: into the space there is, and into the time that writing may take.

use engine::{Action, Event, PrepareError};
use workload::{Bytes, Stream, Target, Violation, show_number};

use super::{SizesOptions, sized};
use crate::filling::{self, PROBE_BYTES};
use crate::lab::{LabContext, Progress, Setup};
use crate::measure::Site;

/// The sizes to measure, and the setup with a file of the largest.
pub(super) struct Chosen {
    pub(super) sizes: Vec<Bytes>,
    pub(super) setup: Setup,
    /// Why no larger size is measured.
    pub(super) reason: String,
}

/// The sizes that fit into the space.
pub(super) fn by_space(options: &SizesOptions) -> Result<Chosen, PrepareError> {
    let [target] = options.setup.targets.as_slice() else {
        let count = options.setup.targets.len().to_string();
        return Err(invalid("targets", count, "sizes takes one target at a time"));
    };
    // What kind of target it is, the smallest size tells as well as any.
    let mut wanted = options.sizes.clone();
    wanted.sort_unstable();
    wanted.dedup();
    let least = wanted.first().copied().unwrap_or_default();
    let asked = Target { size_bytes: Some(target.size_bytes.unwrap_or(least)), ..target.clone() };
    let setup = Setup { targets: vec![asked], ..options.setup.clone() };
    let workload = setup.workload(vec![sized(&options.stream, least)]);
    let plan = engine::plan(&workload, &setup.permissions)?;
    let action = plan.first().map_or(Action::Nothing, |p| p.action);
    let (space, reason) = match (target.size_bytes, action) {
        (Some(size), _) => (size.0, "the largest size was asked for".to_owned()),
        (None, Action::Nothing) => (u64::MAX, String::new()),
        (None, Action::Make | Action::Refill | Action::Reuse) => free(options),
        (None, _) => {
            let has = whole(options)?;
            (has, format!("the target has {}", Bytes(has)))
        }
    };
    let sizes: Vec<Bytes> = wanted.iter().copied().filter(|s| s.0 <= space).collect();
    let reason = if sizes.len() == wanted.len() { every() } else { reason };
    chosen(options, sizes, reason)
}

fn every() -> String {
    "every size that was wanted".to_owned()
}

/// The sizes that fit into the space and can be written in time.
pub(super) fn by_space_and_time(
    options: &SizesOptions,
    context: &mut LabContext<'_>,
) -> Result<Chosen, PrepareError> {
    if let Some(before) = context.target_bytes() {
        return as_before(options, &before);
    }
    let chosen = by_space(options)?;
    let largest = chosen.sizes.last().copied().unwrap_or_default();
    if !fills(options, &chosen)? || largest.0 <= PROBE_BYTES {
        return Ok(chosen);
    }
    (context.observe)(Progress::before("choosing the sizes"));
    let mut note = |event: &Event| (context.observe)(Progress::Engine(event));
    let speed = filling::speed_bytes_per_s(&options.setup, largest, context.stop, &mut note)?;
    let speed = speed.unwrap_or(f64::INFINITY);
    let limit = speed * options.fill_seconds;
    let in_time: Vec<Bytes> = chosen
        .sizes
        .iter()
        .copied()
        .filter(|s| s.0 <= PROBE_BYTES || s.0 as f64 <= limit)
        .collect();
    if in_time.len() == chosen.sizes.len() {
        return Ok(chosen);
    }
    let reason = format!(
        "what can be written in {} s at {} MiB/s; more time is given by `--fill-seconds`",
        options.fill_seconds,
        show_number(speed / 1_048_576.0)
    );
    self::chosen(options, in_time, reason)
}

/// The sizes of an experiment that was interrupted.
fn as_before(options: &SizesOptions, target_bytes: &[u64]) -> Result<Chosen, PrepareError> {
    let largest = Bytes(target_bytes.iter().copied().max().unwrap_or(0));
    let mut wanted = options.sizes.clone();
    wanted.sort_unstable();
    wanted.dedup();
    let sizes: Vec<Bytes> = wanted.iter().copied().filter(|size| *size <= largest).collect();
    let reason = if sizes.len() == wanted.len() {
        every()
    } else {
        format!("the file had {largest} when the experiment was interrupted")
    };
    chosen(options, sizes, reason)
}

/// Whether a file of the largest size is still to be written. A test file that an earlier run has
/// left may be large enough for the smallest size and not for this one.
fn fills(options: &SizesOptions, chosen: &Chosen) -> Result<bool, PrepareError> {
    let workload = chosen.setup.workload(vec![options.stream.clone()]);
    let plan = engine::plan(&workload, &chosen.setup.permissions)?;
    Ok(plan.first().is_some_and(|p| p.action.fills()))
}

fn chosen(
    options: &SizesOptions,
    sizes: Vec<Bytes>,
    reason: String,
) -> Result<Chosen, PrepareError> {
    let (Some(largest), true) = (sizes.last().copied(), sizes.len() > 1) else {
        let shown: Vec<String> = options.sizes.iter().map(ToString::to_string).collect();
        let rule = format!("two sizes at least must fit ({reason}); name others");
        return Err(invalid("sizes", shown.join(", "), &rule));
    };
    let mut setup = options.setup.clone();
    setup.targets.iter_mut().for_each(|t| t.size_bytes = Some(largest));
    Ok(Chosen { sizes, setup, reason })
}

/// Half of the free space, in bytes, and the reason in words.
fn free(options: &SizesOptions) -> (u64, String) {
    let paths: Vec<_> = options.setup.targets.iter().map(|t| t.path.as_path()).collect();
    let space = filling::space_bytes(&Site::of_paths(&paths).environment().storage);
    (space, format!("half of the free space is {}", Bytes(space)))
}

/// The size of a file or device that is there.
fn whole(options: &SizesOptions) -> Result<u64, PrepareError> {
    let workload =
        options.setup.workload(vec![Stream { span_bytes: None, ..options.stream.clone() }]);
    let plan = engine::plan(&workload, &options.setup.permissions)?;
    Ok(plan.first().map_or(0, |p| p.size_bytes))
}

fn invalid(field: &str, value: String, rule: &str) -> PrepareError {
    PrepareError::Invalid(vec![Violation { field: field.to_owned(), value, rule: rule.to_owned() }])
}
