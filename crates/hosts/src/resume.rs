//! A run whose coordinator went away: what the hosts measured waits there until it is fetched.

use std::sync::atomic::AtomicBool;

use fleet::{Coordinator, FleetRun, HostRun, LossPolicy, Watch};
use history::History;
use jiff::Timestamp;
use jobs::{
    Conducted, Event, FleetPlan, FleetReach, JobError, Plan, Recorder, Session, Subject,
    UnfinishedJob,
};
use results::{Conclusion as _, Document, Fleet, FleetJob, Status};
use workload::{EngineChoice, Target, Workload};

use crate::agent::{Answer, KeptResult, Question};
use crate::document::{About, document};
use crate::each;
use crate::look::ask;
use crate::plan::{check, check_hosts};
use crate::reach::Reach;
use crate::run::{Ran, failed, finish};
use crate::search::search;
use crate::watching::Watching;

/// Which run to fetch, and from which hosts.
#[derive(Debug, Clone)]
pub struct ResumeRequest {
    /// The hosts, by the names that the run had for them.
    pub hosts: Vec<String>,
    /// How the coordinator reaches these hosts.
    pub reach: FleetReach,
    /// The run, or a search of the history that was not finished; none fetches the newest run.
    pub run: Option<String>,
}

/// Fetches what the hosts measured, and puts it together as the run would have done. A search of
/// the history is continued: its points are not measured again.
///
/// # Errors
/// A host did not answer, nothing waits, or the search cannot be continued.
pub fn resume(request: &ResumeRequest, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    check_hosts(&request.hosts)?;
    if let Some((plan, job)) = unfinished(request, session)? {
        check(&plan)?;
        session.resumed = Some(job);
        return search(&plan, session);
    }
    let reach = Reach::from(&request.reach);
    let allow = vec![Vec::new(); request.hosts.len()];
    let mut transport = reach.open(&request.hosts, &allow)?;
    let mut pass = |event: &Event| session.sink.hear(event);
    let stop: &AtomicBool = session.stop;
    let mut watching = Watching::new(&request.hosts, &mut pass, stop);
    let mut coordinator = Coordinator::connect(transport.as_mut(), &request.hosts, &mut watching)
        .map_err(|error| failed(&error))?;
    let fetched = fetch(request, &mut coordinator, &mut watching);
    let conducted = fetched.and_then(|(run, found)| {
        if run.contains('.') {
            session.sink.hear(&Event::Notice { text: ONE_POINT.to_owned() });
        }
        let conducted = put_together(&run, found, reach.name(), session)?;
        // It is here now: delivered and, where there is a history, kept.
        if conducted.kept.is_ok() {
            let forget =
                |host: &String| Some(Question::Forget { run: run.clone(), host: host.clone() });
            let questions: Vec<Option<Question>> = request.hosts.iter().map(forget).collect();
            let mut quiet = |_: &Event| ();
            let mut watching = Watching::new(&request.hosts, &mut quiet, stop);
            ask(&mut coordinator, &questions, &mut watching)?;
        }
        Ok(conducted)
    });
    coordinator.leave();
    conducted
}

/// The search of the history that the request names, with what was measured of it; none if it
/// names none.
fn unfinished(
    request: &ResumeRequest,
    session: &Session<'_>,
) -> Result<Option<(FleetPlan, UnfinishedJob)>, JobError> {
    let (Some(name), Some(recording)) = (&request.run, session.recording) else { return Ok(None) };
    let history = History::open(&recording.place)?;
    let Ok(entry) = history.find(name) else { return Ok(None) };
    let Some(begun) = history.experiment(&entry.id)? else { return Ok(None) };
    let plan = match Plan::recorded(&begun.kind, &begun.schema, &begun.plan) {
        Ok(Plan::Fleet(plan)) if plan.is_search() => *plan,
        _ => return Ok(None),
    };
    if begun.status == Some(Status::Complete) {
        let text = format!("`{}` is complete: `iosonde again {name}` repeats it", begun.id);
        return Err(JobError::Usage(text));
    }
    let are_the_same = plan.hosts.len() == request.hosts.len()
        && plan.hosts.iter().all(|host| request.hosts.contains(host));
    if !are_the_same {
        let hosts = plan.hosts.join(",");
        let text = format!("`{}` is a search on other hosts: name {hosts}", begun.id);
        return Err(JobError::Usage(text));
    }
    let plan = FleetPlan { reach: request.reach.clone(), ..plan };
    Ok(Some((plan, UnfinishedJob::of(&begun))))
}

const LEFT: &str = "The coordinator of this run went away. The hosts stopped and kept what they \
                    had measured, which was fetched later.";

/// What to do about a run whose name says that it was one of several.
const ONE_POINT: &str = "this is the last point of a search. To finish the search, give its id \
                         from `iosonde history list` to `iosonde fleet resume`";

type Found = Vec<(String, Option<KeptResult>)>;

/// What waits on the hosts: all of one run.
fn fetch(
    request: &ResumeRequest,
    coordinator: &mut Coordinator<'_>,
    watch: &mut dyn Watch,
) -> Result<(String, Found), JobError> {
    let mut question = |run: Option<&String>| {
        let fetch = |host: &String| Some(Question::Fetch { run: run.cloned(), host: host.clone() });
        let questions: Vec<Option<Question>> = request.hosts.iter().map(fetch).collect();
        let answers = ask(coordinator, &questions, watch)?;
        let kept = |answer| match answer {
            Some(Answer::Kept { result }) => result,
            _ => None,
        };
        Ok::<Vec<Option<KeptResult>>, JobError>(answers.into_iter().map(kept).collect())
    };
    let mut found = question(request.run.as_ref())?;
    // Names begin with the time.
    let Some(run) = found.iter().flatten().map(|kept| kept.run.clone()).max() else {
        let which = request.run.as_ref().map_or_else(String::new, |run| format!(" of run `{run}`"));
        return Err(JobError::Usage(format!(
            "no result{which} waits on these hosts. Name the hosts as the run named them"
        )));
    };
    if found.iter().flatten().any(|kept| kept.run != run) {
        found = question(Some(&run))?;
    }
    Ok((run, request.hosts.iter().cloned().zip(found).collect()))
}

/// The document that the run would have made.
fn put_together(
    run: &str,
    found: Found,
    transport: &str,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let first = found.iter().find_map(|(_, kept)| kept.as_ref());
    let first = first.ok_or_else(|| JobError::Usage("nothing waits".to_owned()))?;
    let first = match Document::from_value(first.measurement.clone()) {
        Ok(Document::Measurement(measurement)) => *measurement,
        Ok(other) => return jobs_of(run, found, (&other, transport), session),
        Err(error) => return Err(JobError::CannotRun(error.to_string())),
    };
    let workload: Workload = first.workload;
    let started: Timestamp = first.started.parse().unwrap_or_else(|_| Timestamp::now());
    let title = format!("{} from {} hosts", workload.title(), found.len());
    let on = (workload.targets.as_slice(), workload.engine);
    let subject =
        Subject::new("fleet", Fleet::SCHEMA, title, on, &Plan::Run(Box::new(workload.clone())))?;
    let mut recorder = Recorder::open(session.recording, subject)?;
    let mut notify = |text| session.sink.hear(&Event::Notice { text });
    let run = &free_id(run, &recorder);
    recorder.named(run, &started.to_string(), &mut notify);
    let series = vec![Vec::new(); found.len()];
    let hosts = found.into_iter().map(|(name, kept)| host(name, kept)).collect();
    let run_of = FleetRun { hosts, on_loss: LossPolicy::Abort, interrupted: false };
    let about = About { id: run, started, transport, workload: &workload, series, plan: None };
    let mut document = document(run_of, about);
    document.warnings.insert(0, LEFT.to_owned());
    Ok(finish(Document::Fleet(Box::new(document)), recorder, &mut *session.sink))
}

/// The id of the document. The coordinator has one of the run where it only lost this host.
fn free_id(run: &str, recorder: &Recorder) -> String {
    let is_taken = recorder.history().is_some_and(|history| history.find(run).is_ok());
    if is_taken { engine::new_id(Timestamp::now()) } else { run.to_owned() }
}

/// The document of jobs that each host did by itself.
fn jobs_of(
    run: &str,
    found: Found,
    (first, transport): (&Document, &str),
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let started: Timestamp = first.started().parse().unwrap_or_else(|_| Timestamp::now());
    let title = format!("{} from {} hosts", first.title(), found.len());
    let plan = first.plan();
    let on: (&[Target], _) = (&[], EngineChoice::Auto);
    let subject = Subject::new("fleet", FleetJob::SCHEMA, title, on, &plan)?;
    let mut recorder = Recorder::open(session.recording, subject)?;
    let mut notify = |text| session.sink.hear(&Event::Notice { text });
    let run = &free_id(run, &recorder);
    recorder.named(run, &started.to_string(), &mut notify);
    let hosts = found.into_iter().map(|(name, kept)| host(name, kept)).collect();
    let run_of = FleetRun { hosts, on_loss: LossPolicy::Abort, interrupted: false };
    let ran = Ran { id: run, started, transport, series: Vec::new() };
    let mut document = each::document(first.kind(), None, run_of, &ran);
    document.warnings.insert(0, LEFT.to_owned());
    Ok(finish(Document::FleetJob(Box::new(document)), recorder, &mut *session.sink))
}

fn host(name: String, kept: Option<KeptResult>) -> HostRun {
    match kept {
        Some(KeptResult { late_ns, window_ns, measurement, .. }) => HostRun {
            hostname: name.clone(),
            name,
            late_ns,
            window_ns,
            measurement: Some(measurement.to_string().into()),
            ..HostRun::default()
        },
        None => {
            HostRun { name, lost: Some("nothing waits on it".to_owned()), ..HostRun::default() }
        }
    }
}
