//! The same job on every host, each by itself: one document with the result of each.

use fleet::{FleetRun, HostRun, LossPolicy};
use jiff::Timestamp;
use jobs::{Conducted, FleetPlan, Job as _, JobError, Plan, Session};
use results::verdict::Grade;
use results::{
    Conclusion as _, Document, Environment, Experiment, FleetJob, FleetJobHost, FleetVerdict,
    OnLoss, Status, ValidationVerdict,
};
use serde::Serialize;
use serde_json::Value;

use crate::plan::{plan_of, seed_of};
use crate::run::{Ran, together};

/// The verdict over all where one is missing.
const INCOMPLETE: &str = "incomplete";

/// Carries out an assessment, a validation or a recording on every host.
pub(crate) fn each(plan: &FleetPlan, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    let own = |(number, host): (usize, &String)| {
        let mut plan = plan_of(&plan.plan, host);
        if let Some(seed) = plan.seed_mut() {
            *seed = seed_of(*seed, number);
        }
        plan
    };
    let plans: Vec<Plan> = plan.hosts.iter().enumerate().map(own).collect();
    let (kind, carried) = (plan.plan.kind(), plan.plan().carried_json());
    together(plan, &plans, session, &|run, ran| {
        Document::FleetJob(Box::new(document(kind, carried.clone(), run, &ran)))
    })
}

/// Puts together what the hosts found.
pub(crate) fn document(
    kind: &str,
    plan: Option<Value>,
    run: FleetRun,
    ran: &Ran<'_>,
) -> Experiment<FleetJob> {
    let (interrupted, on_loss) = (run.interrupted, run.on_loss);
    let (hosts, found): (Vec<FleetJobHost>, Vec<Option<Document>>) =
        run.hosts.into_iter().map(described).unzip();
    let late = || hosts.iter().filter_map(|host| host.late_ns);
    let skew = late().max().zip(late().min()).map(|(last, first)| last - first);
    let environment = Environment { host: None, storage: Vec::new() };
    let conclusion = FleetJob {
        job: kind.to_owned(),
        transport: ran.transport.to_owned(),
        on_loss: match on_loss {
            LossPolicy::Abort => OnLoss::Abort,
            LossPolicy::Continue => OnLoss::Continue,
        },
        start_skew_ns: skew.filter(|_| late().count() > 1),
        clock_bound_ns: hosts.iter().filter_map(|host| host.clock_bound_ns).max(),
        verdicts: verdicts(&found),
        hosts,
    };
    let documents = || found.iter().flatten();
    let has = |status| documents().any(|document| document.status() == status);
    let lost = found.iter().any(Option::is_none);
    let mut targets: Vec<_> = documents().flat_map(Document::targets).collect();
    targets.sort();
    targets.dedup();
    Experiment {
        schema: FleetJob::SCHEMA.to_owned(),
        id: ran.id.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: ran.started.to_string(),
        finished: Timestamp::now().to_string(),
        status: match (interrupted, lost || has(Status::Failed)) {
            (true, _) => Status::Interrupted,
            (false, true) => Status::Failed,
            (false, false) if has(Status::Interrupted) => Status::Interrupted,
            (false, false) => Status::Complete,
        },
        plan,
        targets,
        file_bytes: documents().map(Document::file_bytes).sum(),
        environment,
        warnings: warnings(&conclusion, &found),
        conclusion,
        measurements: Vec::new(),
        method: method(kind),
    }
}

/// A host as the document has it, and its result. One that cannot be read is lost.
fn described(host: HostRun) -> (FleetJobHost, Option<Document>) {
    let read = host.measurement.as_deref().map(Document::parse).transpose();
    let (document, unread) = match read {
        Ok(document) => (document, None),
        Err(error) => (None, Some(format!("its result cannot be read: {error}"))),
    };
    let described = FleetJobHost {
        name: host.name,
        hostname: host.hostname,
        version: host.version,
        clock_bound_ns: host.clock.map(|clock| clock.bound_ns),
        late_ns: host.late_ns,
        lost: host.lost.or(unread),
        missing_events: host.missing_events,
        document: document.as_ref().and_then(|document| serde_json::to_value(document).ok()),
    };
    (described, document)
}

/// What is judged by documents of this kind, on each host and over all.
fn verdicts(found: &[Option<Document>]) -> Vec<FleetVerdict> {
    match found.iter().flatten().next() {
        Some(Document::Assessment(first)) => {
            first.verdicts.iter().map(|verdict| grades(word(&verdict.role), found)).collect()
        }
        Some(Document::Validation(_)) => vec![data(found)],
        Some(Document::Recording(first)) if !first.conclusion.alerts.is_empty() => {
            vec![alerts(found)]
        }
        _ => Vec::new(),
    }
}

/// How a role is served. Grades are in order, and what was not judged is worst.
fn grades(role: String, found: &[Option<Document>]) -> FleetVerdict {
    let grade = |document: &Option<Document>| match document {
        Some(Document::Assessment(a)) => {
            a.verdicts.iter().find(|verdict| word(&verdict.role) == role).map(|v| v.grade)
        }
        _ => None,
    };
    let grades: Vec<Option<Grade>> = found.iter().map(grade).collect();
    let worst = grades.iter().flatten().max().copied();
    let known = grades.iter().all(Option::is_some) || worst == Some(Grade::Unfit);
    let overall = worst.filter(|_| known).as_ref().map_or(INCOMPLETE.to_owned(), word);
    let hosts = grades.iter().map(|grade| grade.as_ref().map(word)).collect();
    FleetVerdict { subject: role, overall, hosts }
}

/// Whether what was read is what was written.
fn data(found: &[Option<Document>]) -> FleetVerdict {
    use ValidationVerdict as V;
    const WORST_FIRST: [V; 5] =
        [V::WrongData, V::IoFailed, V::EndedEarly, V::Interrupted, V::Right];
    let verdict = |document: &Option<Document>| match document {
        Some(Document::Validation(v)) => Some(v.conclusion.verdict),
        _ => None,
    };
    let verdicts: Vec<Option<V>> = found.iter().map(verdict).collect();
    let worst = WORST_FIRST.into_iter().find(|bad| verdicts.contains(&Some(*bad)));
    let bad = matches!(worst, Some(V::WrongData | V::IoFailed));
    let known = bad || verdicts.iter().all(Option::is_some);
    let overall = worst.filter(|_| known).as_ref().map_or(INCOMPLETE.to_owned(), word);
    let hosts = verdicts.iter().map(|verdict| verdict.as_ref().map(word)).collect();
    FleetVerdict { subject: "data".to_owned(), overall, hosts }
}

/// Whether a condition came true on each host, and on any of them.
fn alerts(found: &[Option<Document>]) -> FleetVerdict {
    const QUIET: &str = "none";
    const RAISED: &str = "came_true";
    let raised = |document: &Option<Document>| match document {
        Some(Document::Recording(recording)) => {
            Some(recording.conclusion.alerts.iter().any(|alert| !alert.times.is_empty()))
        }
        _ => None,
    };
    let raised: Vec<Option<bool>> = found.iter().map(raised).collect();
    let said = |raised: bool| if raised { RAISED } else { QUIET };
    let overall = match (raised.contains(&Some(true)), raised.contains(&None)) {
        (true, _) => RAISED,
        (false, true) => INCOMPLETE,
        (false, false) => QUIET,
    };
    let hosts = raised.iter().map(|raised| raised.map(|raised| said(raised).to_owned())).collect();
    FleetVerdict { subject: "alerts".to_owned(), overall: overall.to_owned(), hosts }
}

/// The word that documents have for a value.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Every reason to doubt, with the name of its host.
fn warnings(job: &FleetJob, found: &[Option<Document>]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (host, document) in job.hosts.iter().zip(found) {
        let name = &host.name;
        if let Some(reason) = &host.lost {
            warnings.push(format!("{name}: this host was lost: {reason}."));
        }
        let own = document.iter().flat_map(Document::warnings);
        warnings.extend(own.map(|text| format!("{name}: {text}")));
    }
    warnings
}

fn method(kind: &str) -> Vec<String> {
    let mut method = vec![
        "Every host checked the plan and made its files ready before any of them began. All began \
         at one named moment."
            .to_owned(),
        "Each host did the job by itself and judged what it saw. The verdict over all hosts is the \
         worst of theirs."
            .to_owned(),
    ];
    if kind == "assess" {
        method.push(
            "The hosts went through the same loads in the same order, and a load ends when its \
             figures are known well enough. So what the others did meanwhile may have been another \
             load."
                .to_owned(),
        );
    }
    method
}
