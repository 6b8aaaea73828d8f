//! One workload, measured once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::{Permissions, Prepared};
use jiff::Timestamp;
use results::{Document, MEASUREMENT_SCHEMA, Measurement};
use survey::{Progress, Site};
use workload::{TargetFacts, Workload};

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
        run_held(self, &mut None, session)
    }
}

/// Targets that stay ready from one run to the next. Test files are removed when it is dropped.
#[derive(Debug)]
pub struct HeldTargets {
    workload: Workload,
    site: Site,
    prepared: Prepared,
}

impl HeldTargets {
    /// Whether another load may run on what was made ready for this one: the same targets, and
    /// nothing written or bypassed that was not then.
    fn fits(&self, workload: &Workload) -> bool {
        let what = |w: &Workload| (w.targets.clone(), w.engine, w.mode, w.sim.clone());
        what(&self.workload) == what(workload) && needs(workload).is_subset(&needs(&self.workload))
    }

    /// What is known of each target.
    #[must_use]
    pub fn facts(&self) -> Vec<TargetFacts> {
        self.prepared.facts()
    }

    /// What is known of the content of each target, in a phrase.
    pub fn contents(&self) -> impl Iterator<Item = &str> {
        self.prepared.targets().iter().map(engine::PreparedTarget::content)
    }

    /// The host, and the storage under the targets.
    #[must_use]
    pub fn environment(&self) -> &results::Environment {
        self.site.environment()
    }
}

/// What a load asks of each target.
fn needs(workload: &Workload) -> BTreeSet<(usize, String)> {
    let mut needs = BTreeSet::new();
    for stream in &workload.streams {
        for target in stream.target_indexes(workload.targets.len()) {
            needs.insert((target, format!("{:?}", workload.mode_of(stream))));
            if stream.writes() {
                needs.insert((target, format!("{:?} {:?}", stream.content, stream.content_file)));
            }
        }
    }
    needs
}

/// Runs a workload on targets that are ready, or made so, and stay so afterwards.
///
/// # Errors
/// Nothing was measured, and why.
pub fn run_held(
    workload: &Workload,
    held: &mut Option<HeldTargets>,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let (permissions, stop) = (session.permissions.clone(), session.stop);
    let relay = Relay::open(session, workload)?;
    let now = Timestamp::now();
    let id = engine::new_id(now);
    relay.hear(&Progress::Began { id: &id, started: &now.to_string() });
    let measured = measured(workload, held, (&permissions, stop), &relay);
    let mut measurement = measured.inspect_err(|_| relay.give_up())?;
    // Those who watched it find it under the id they know.
    measurement.id = id;
    Ok(relay.finish(Document::Measurement(Box::new(measurement))))
}

fn measured(
    workload: &Workload,
    held: &mut Option<HeldTargets>,
    (permissions, stop): (&Permissions, &AtomicBool),
    relay: &Relay<'_>,
) -> Result<Measurement, JobError> {
    if held.as_ref().is_some_and(|held| !held.fits(workload)) {
        // Its test files are locked, and removed if they are not to be kept.
        *held = None;
    }
    let ready = if let Some(held) = held {
        held
    } else {
        let mut observe = |event: &engine::Event| relay.hear(&Progress::Engine(event));
        let prepared = engine::prepare(workload, permissions, stop, &mut observe)?;
        let (site, workload) = (Site::of(workload), workload.clone());
        held.insert(HeldTargets { workload, site, prepared })
    };
    relay.targets_ready(ready);
    Ok(survey::measure(workload, &ready.prepared, &ready.site, stop, &mut &*relay)?)
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
