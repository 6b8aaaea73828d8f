//! One workload, measured once.

use std::path::Path;

use engine::{Permissions, Prepared};
use jiff::Timestamp;
use results::{Document, MEASUREMENT_SCHEMA};
use survey::{Progress, Site};
use workload::Workload;

use crate::conduct::{Conducted, JobError, Relay, Session};
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

impl Job for Workload {
    fn plan(&self) -> Plan {
        Plan::Run(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let on = (self.targets.as_slice(), self.engine);
        Ok(Subject::new("run", MEASUREMENT_SCHEMA, self.title(), on, self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.targets)
    }

    fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        pin_targets(&mut self.targets, document);
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let targets = engine::plan(self, permissions)?;
        Ok(Description { notes: duration(self, ""), ..Description::of(targets) })
    }

    /// The document is delivered and kept before test files are removed, so that storage that
    /// hangs does not keep the result.
    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let (permissions, stop) = (session.permissions.clone(), session.stop);
        let relay = Relay::open(session, self)?;
        let now = Timestamp::now();
        let id = engine::new_id(now);
        relay.hear(&Progress::Began { id: &id, started: &now.to_string() });
        let mut observe = |event: &engine::Event| relay.hear(&Progress::Engine(event));
        let measured = engine::prepare(self, &permissions, stop, &mut observe)
            .map_err(JobError::from)
            .and_then(|prepared| {
                let site = Site::of(self);
                let measurement = survey::measure(self, &prepared, &site, stop, &mut &relay)?;
                Ok((measurement, prepared))
            });
        let (mut measurement, prepared): (_, Prepared) =
            measured.inspect_err(|_| relay.give_up())?;
        // Viewers find it under the id they know.
        measurement.id = id;
        let conducted = relay.finish(Document::Measurement(Box::new(measurement)));
        drop(prepared);
        Ok(conducted)
    }
}

/// How much a run does and how long it takes; `times` follows that.
pub(crate) fn duration(workload: &Workload, times: &str) -> Vec<String> {
    let (threads, in_flight) = (workload.threads(), workload.in_flight());
    let (warmup, seconds) = (workload.warmup_seconds, workload.seconds);
    let plural = if threads == 1 { "" } else { "s" };
    let most = if workload.precision.is_some() { "at most " } else { "" };
    let after = match workload.cooldown_seconds {
        0.0 => String::new(),
        cooldown => format!(", {cooldown} s of I/O after that"),
    };
    vec![
        format!("{threads} thread{plural}, {in_flight} in flight"),
        format!("{warmup} s of warm-up, {most}{seconds} s measured{after}{times}"),
    ]
}
