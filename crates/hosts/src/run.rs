//! The coordinator: one load on many hosts, and the one document of it.

use std::path::{Path, PathBuf};

use dialects::drives::ManagerHost;
use fleet::{Coordinator, FleetError, FleetRun, LossPolicy, Order};
use jiff::Timestamp;
use jobs::{
    Conducted, Event, FleetPlan, FleetReach, Job as _, JobError, Plan, Recorder, Session, Sink,
};
use results::{Document, OnLoss, Point};
use serde_json::Value;
use workload::Workload;

use crate::document::{About, document};
use crate::each::each;
use crate::plan::{allowed, check, plan_of};
use crate::reach::Reach;
use crate::search::search;
use crate::watching::Watching;

/// Carries out a plan, of one host or of many.
///
/// # Errors
/// Nothing was measured, and why.
pub fn conduct(plan: &Plan, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    let Plan::Fleet(fleet) = plan else { return jobs::conduct(plan, session) };
    check(fleet)?;
    if !session.permissions.destroy.is_empty() || session.permissions.overfill {
        return Err(JobError::Usage(
            "what may be overwritten or filled is decided on each host: start its agent with \
             `--allow-destroy`, and leave out `--destroy` and `--overfill` here"
                .to_owned(),
        ));
    }
    if session.permissions.keep && matches!(fleet.plan.as_ref(), Plan::Monitor(_)) {
        let text = "a recording makes no files: leave out `--keep`";
        return Err(JobError::Usage(text.to_owned()));
    }
    match fleet.plan.as_ref() {
        Plan::Run(workload) => run(fleet, workload, session),
        _ if fleet.is_each_by_itself() => each(fleet, session),
        _ => search(fleet, session),
    }
}

/// Runs one load on all hosts at once.
fn run(
    plan: &FleetPlan,
    workload: &Workload,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let plans: Vec<Plan> = plan.hosts.iter().map(|host| plan_of(&plan.plan, host)).collect();
    together(plan, &plans, session, &|run, ran| {
        let Ran { id, started, transport, series } = ran;
        let carried = plan.plan().carried_json();
        let about = About { id, started, transport, workload, series, plan: carried };
        Document::Fleet(Box::new(document(run, about)))
    })
}

/// What is known once the hosts have done something together.
pub(crate) struct Ran<'a> {
    pub(crate) id: &'a str,
    pub(crate) started: Timestamp,
    pub(crate) transport: &'a str,
    /// The intervals that arrived, of each host.
    pub(crate) series: Vec<Vec<Point>>,
}

/// Carries out these plans, one per host, begun at one moment; `make` writes the document.
pub(crate) fn together(
    plan: &FleetPlan,
    plans: &[Plan],
    session: &mut Session<'_>,
    make: &dyn Fn(FleetRun, Ran<'_>) -> Document,
) -> Result<Conducted, JobError> {
    let reach = Reach::from(&plan.reach);
    let sent: Vec<Option<Value>> =
        plans.iter().map(|plan| serde_json::to_value(plan).map(Some)).collect::<Result<_, _>>()?;
    let started = Timestamp::now();
    let id = engine::new_id(started);
    let mut recorder = Recorder::open(session.recording, plan.subject()?)?;
    let sink: &mut dyn Sink = &mut *session.sink;
    let mut notify = |text| sink.hear(&Event::Notice { text });
    recorder.named(&id, &started.to_string(), &mut notify);
    notify(format!("making the targets of {} hosts ready", plan.hosts.len()));
    let allow: Vec<Vec<PathBuf>> = plans.iter().map(allowed).collect();
    let allow: Vec<Vec<&Path>> =
        allow.iter().map(|paths| paths.iter().map(PathBuf::as_path).collect()).collect();
    let mut transport = reach.open(&plan.hosts, &allow).inspect_err(|_| recorder.give_up())?;
    let mut pass = |event: &Event| {
        recorder.tell(event);
        sink.hear(event);
    };
    let mut watching = Watching::new(&plan.hosts, &mut pass, session.stop);
    if plan.is_each_by_itself() {
        watching = watching.each_by_itself();
    }
    let order = Order {
        plans: &sent,
        keep: session.permissions.keep,
        hold: false,
        run: &id,
        on_loss: policy(plan.on_loss),
    };
    let connected = Coordinator::connect(transport.as_mut(), &plan.hosts, &mut watching);
    let done = connected.and_then(|mut coordinator| match coordinator.run(order, &mut watching) {
        Ok(run) => Ok((coordinator, run)),
        Err(error) => {
            coordinator.leave();
            Err(error)
        }
    });
    let series = watching.series;
    let (mut coordinator, run) = done.map_err(|error| {
        recorder.give_up();
        failed(&error)
    })?;
    let ran = Ran { id: &id, started, transport: reach.name(), series };
    let conducted = finish(make(run, ran), recorder, &mut *session.sink);
    // The hosts then forget it. Until it is kept here, they are where it can be fetched from.
    if conducted.kept.is_ok() {
        coordinator.leave();
    }
    Ok(conducted)
}

/// A plan for these hosts. Windows of a search have one length on all of them, `window_s`.
#[must_use]
pub fn over(
    hosts: Vec<String>,
    reach: FleetReach,
    on_loss: LossPolicy,
    mut plan: Plan,
    window_s: Option<f64>,
) -> Plan {
    let timing = match &mut plan {
        Plan::Knee(options) => Some(&mut options.setup.timing),
        Plan::Scale(options) => Some(&mut options.setup.timing),
        _ => None,
    };
    if let Some((timing, seconds)) = timing.zip(window_s) {
        (timing.seconds, timing.precision) = (seconds, None);
    }
    let on_loss = match on_loss {
        LossPolicy::Abort => OnLoss::Abort,
        LossPolicy::Continue => OnLoss::Continue,
    };
    Plan::Fleet(Box::new(FleetPlan {
        hosts,
        on_loss,
        reach,
        together: false,
        plan: Box::new(plan),
    }))
}

/// The plan of an assessment of all hosts together; any other as it is.
#[must_use]
pub fn as_one(plan: Plan) -> Plan {
    match plan {
        Plan::Fleet(fleet) => Plan::Fleet(Box::new(FleetPlan { together: true, ..*fleet })),
        plan => plan,
    }
}

/// A load as agents are sent it.
pub(crate) fn sent(workload: &Workload) -> Result<Option<Value>, JobError> {
    Ok(Some(serde_json::to_value(Plan::Run(Box::new(workload.clone())))?))
}

/// A plan on the hosts of these managers of IOMeter; as it is without any.
#[must_use]
pub fn with_managers(managers: &[ManagerHost], reach: FleetReach, plan: Plan) -> Plan {
    let mut hosts: Vec<String> = Vec::new();
    for of in managers {
        if !hosts.contains(&of.host) {
            hosts.push(of.host.clone());
        }
    }
    if hosts.is_empty() { plan } else { over(hosts, reach, LossPolicy::Abort, plan, None) }
}

/// Converts the policy of a plan into that of the coordinator.
pub(crate) fn policy(on_loss: OnLoss) -> LossPolicy {
    match on_loss {
        OnLoss::Abort => LossPolicy::Abort,
        OnLoss::Continue => LossPolicy::Continue,
    }
}

pub(crate) fn failed(error: &FleetError) -> JobError {
    match error {
        FleetError::Interrupted => JobError::Interrupted(error.to_string()),
        other => JobError::CannotRun(other.to_string()),
    }
}

/// Delivers the document, then keeps it.
pub(crate) fn finish(document: Document, mut recorder: Recorder, sink: &mut dyn Sink) -> Conducted {
    let delivered = sink.deliver(&document);
    for measurement in document.measurements() {
        recorder.measured(measurement, &mut |text| sink.hear(&Event::Notice { text }));
    }
    let kept = recorder.finish(&document);
    if let (Ok(()), Some(event)) = (&kept, recorder.kept_event()) {
        sink.hear(&event);
    }
    let kept = match (delivered, kept) {
        (Err(first), Err(second)) => Err(format!("{first}\n{second}")),
        (first, second) => first.and(second),
    };
    Conducted { documents: vec![document], kept }
}
