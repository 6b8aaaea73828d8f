//! Whether a sweep that is resumed is on the targets that its kept cells were measured on.

use engine::PrepareError;
use results::Measurement;
use workload::Violation;

use crate::lab::Lab;

/// Refuses targets that are not those of a kept cell, or have another size.
pub(super) fn check_targets(kept: Option<&Measurement>, lab: &Lab<'_>) -> Result<(), PrepareError> {
    let Some(kept) = kept else { return Ok(()) };
    let refuse = |field: &str, then: String, now: String| {
        let rule = format!(
            "the cells kept so far were measured on {then}; give back that target, or begin a new \
             sweep"
        );
        let violation = Violation { field: field.to_owned(), value: now, rule };
        Err(PrepareError::Invalid(vec![violation]))
    };
    // A plan may name its targets from a directory that is not the present one.
    let paths: Vec<_> = kept.workload.targets.iter().map(|target| target.path.clone()).collect();
    if paths != lab.targets() {
        return refuse("target", format!("{paths:?}"), format!("{:?}", lab.targets()));
    }
    let sizes: Vec<u64> = kept.targets.iter().map(|target| target.file_bytes).collect();
    let now: Vec<u64> = lab.facts().iter().map(|facts| facts.size_bytes).collect();
    if sizes != now {
        return refuse("size", format!("{sizes:?} bytes"), format!("{now:?} bytes"));
    }
    Ok(())
}
