//! One workload, measured once.

use engine::Prepared;
use jiff::Timestamp;
use results::{Document, MEASUREMENT_SCHEMA};
use survey::{Progress, Site};
use workload::Workload;

use crate::conduct::{Conducted, JobError, Relay, Session};
use crate::subject::Subject;

pub(crate) fn subject(workload: &Workload) -> Result<Subject, serde_json::Error> {
    let on = (workload.targets.as_slice(), workload.engine);
    Subject::new("run", MEASUREMENT_SCHEMA, workload.title(), on, workload)
}

/// Measures a workload once. The document is delivered and kept before test files are removed, so
/// that storage that hangs does not keep the result.
///
/// # Errors
/// Nothing was measured, and why.
pub fn run(workload: &Workload, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    let subject = subject(workload)?;
    let (permissions, stop) = (session.permissions.clone(), session.stop);
    let relay = Relay::open(session, subject)?;
    let now = Timestamp::now();
    let id = engine::new_id(now);
    relay.hear(&Progress::Began { id: &id, started: &now.to_string() });
    let mut observe = |event: &engine::Event| relay.hear(&Progress::Engine(event));
    let measured = engine::prepare(workload, &permissions, stop, &mut observe)
        .map_err(JobError::from)
        .and_then(|prepared| {
            relay.ready();
            let site = Site::of(workload);
            let measurement = survey::measure(workload, &prepared, &site, stop, &mut observe)?;
            Ok((measurement, prepared))
        });
    let (mut measurement, prepared): (_, Prepared) = measured.inspect_err(|_| relay.give_up())?;
    // Those who watched it find it under the id they know.
    measurement.id = id;
    let document = Document::Measurement(Box::new(measurement));
    let kept = relay.finish(&document);
    drop(prepared);
    Ok(Conducted { documents: vec![document], kept })
}
