//! Makes the targets of a workload ready, or says why not before anything is touched.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use workload::{Bytes, TargetFacts, Workload};

use crate::event::Event;
use crate::memory;
use crate::platform;
use crate::prepared::{Action, Permissions, PrepareError, Prepared, PreparedTarget, TargetPlan};
use crate::ready;
use crate::source;
use crate::targets;

/// Size of a test file where none is asked for.
const DEFAULT_SIZE_BYTES: u64 = 1 << 30;

static USUAL_SIZE_BYTES: OnceLock<u64> = OnceLock::new();

/// Size of a test file for which no size was asked: 1 GiB, or what [`set_usual_size`] says.
#[must_use]
pub fn usual_size_bytes() -> u64 {
    USUAL_SIZE_BYTES.get().copied().unwrap_or(DEFAULT_SIZE_BYTES)
}

/// Sets the size of test files for which none is asked, for the whole process. Only the first call
/// counts.
pub fn set_usual_size(size: Bytes) {
    let _ = USUAL_SIZE_BYTES.set(size.0);
}
/// Size of the simulated device and of the null device where none is asked for.
const ARTIFICIAL_SIZE_BYTES: u64 = 64 << 30;

/// What would be done to the targets; touches nothing. All problems of all targets are reported
/// together.
pub fn plan(
    workload: &Workload,
    permissions: &Permissions,
) -> Result<Vec<TargetPlan>, PrepareError> {
    let violations = workload.violations();
    if !violations.is_empty() {
        return Err(PrepareError::Invalid(violations));
    }
    memory::check(workload)?;
    source::check(workload)?;
    platform::check(workload.engine)?;
    let plans = if workload.engine.is_artificial() {
        artificial(workload)
    } else {
        real(workload, permissions)?
    };
    // Alignment is only known of an open target; sizes are known now.
    let fact = |p: &TargetPlan| TargetFacts { size_bytes: p.size_bytes, direct_align_bytes: 1 };
    let violations = workload.violations_on(&plans.iter().map(fact).collect::<Vec<_>>());
    if !violations.is_empty() {
        return Err(PrepareError::Invalid(violations));
    }
    Ok(plans)
}

fn real(workload: &Workload, permissions: &Permissions) -> Result<Vec<TargetPlan>, PrepareError> {
    let (mut plans, mut refusals) = (Vec::new(), Vec::new());
    for index in 0..workload.targets.len() {
        match targets::plan_target(workload, index, permissions, &plans) {
            Ok(plan) => plans.push(plan),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if refusals.is_empty() { Ok(plans) } else { Err(PrepareError::Refused(refusals)) }
}

fn artificial(workload: &Workload) -> Vec<TargetPlan> {
    let plan = |target: &workload::Target| TargetPlan {
        path: target.path.clone(),
        size_bytes: target.size_bytes.map_or(ARTIFICIAL_SIZE_BYTES, |s| s.0),
        file_bytes: 0,
        action: Action::Nothing,
        content: None,
    };
    workload.targets.iter().map(plan).collect()
}

/// What becomes of a target's content before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filling {
    /// What the workload may not read as it is, is wholly written.
    #[default]
    Engine,
    /// The caller writes all of it. Until it says so ([`PreparedTarget::finish`]), a test file
    /// counts as not wholly written.
    Caller,
    /// The caller writes what it wants, and all the rest is a hole, which is zeros. Only a test
    /// file can be that.
    Sparse,
    /// It is a target of an earlier run and is not touched. It stays when this is dropped, until
    /// [`Prepared::remove`] says otherwise.
    AsItIs,
}

/// Makes every target ready: test files are created and wholly written, everything is opened.
///
/// If this fails or `stop` becomes true, it removes what it made.
pub fn prepare(
    workload: &Workload,
    permissions: &Permissions,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<Prepared, PrepareError> {
    prepare_as(workload, permissions, &[], stop, observe)
}

/// The same with what becomes of the content of each target, in their order; of those that are not
/// named, it is [`Filling::Engine`].
pub fn prepare_as(
    workload: &Workload,
    permissions: &Permissions,
    fillings: &[Filling],
    stop: &AtomicBool,
    observe: &mut dyn FnMut(&Event),
) -> Result<Prepared, PrepareError> {
    let plans = plan(workload, permissions)?;
    let mut prepared = Prepared { targets: Vec::new() };
    for (index, plan) in plans.into_iter().enumerate() {
        let target = if plan.action == Action::Nothing {
            PreparedTarget {
                path: plan.path,
                size_bytes: plan.size_bytes,
                direct_align_bytes: 1,
                content: format!(
                    "no content: the engine `{}` has no real target",
                    workload.engine.name()
                ),
                file: None,
                place: None,
                warnings: Vec::new(),
                mark: None,
                remove: false,
            }
        } else {
            // Filling the targets before it may have taken long, so it is planned once more.
            let filling = fillings.get(index).copied().unwrap_or_default();
            ready::prepare_target(workload, (index, filling), permissions, stop, observe)?
        };
        prepared.targets.push(target);
    }
    Ok(prepared)
}
