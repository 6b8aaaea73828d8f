//! Searches over many hosts: each point is one load, started on all hosts at one moment.
//!
//! The search itself is that of one host. It makes its measurements on a [`Bench`], and here the
//! bench is the fleet: what a search calls targets are the targets of all hosts, one host after
//! the other.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{EngineError, Permissions, PrepareError, PreparedTarget, TargetPlan};
use fleet::{Coordinator, FleetError, FleetRun, HostRun, LossPolicy, Order};
use jiff::Timestamp;
use jobs::{Conducted, Event, FleetPlan, JobError, Plan, Session, conduct_one, sweep_on};
use results::{Document, Environment, Measurement, ThreadResult};
use serde_json::Value;
use survey::{Bench, Setup, Stand};
use workload::{Nanoseconds, RateLimit, Target, TargetFacts, Workload, show_ns};

use crate::combined::combined;
use crate::places::Places;
use crate::reach::Reach;
use crate::run::{failed, sent};
use crate::site::{self, SiteReport};
use crate::watching::Watching;

/// Points of the series that a window has at least.
const POINTS: f64 = 40.0;
/// Hosts send one point in this time at most and at least, in seconds.
const POINT_S: (f64, f64) = (0.1, 1.0);

/// Carries out a search on all hosts.
pub(crate) fn search(plan: &FleetPlan, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    let reach = Reach::from(&plan.reach);
    let mut inner = plan.plan.as_ref().clone();
    let own;
    let (targets, artificial) = match &inner {
        Plan::Assess(options) => {
            own = vec![Target { path: options.target.clone(), size_bytes: options.size }];
            (&own, options.engine.is_artificial())
        }
        Plan::Knee(options) => (&options.setup.targets, options.setup.engine.is_artificial()),
        Plan::Scale(options) => (&options.setup.targets, options.setup.engine.is_artificial()),
        Plan::Sweep(sweep) => (&sweep.targets, sweep.engine.is_artificial()),
        Plan::Cycle(cycle) => (&cycle.targets, cycle.engine.is_artificial()),
        _ => return Err(JobError::Usage("a fleet does not carry out such plans".to_owned())),
    };
    let places = match &inner {
        Plan::Cycle(_) => Places::named(&plan.hosts, targets).map_err(JobError::Usage)?,
        _ => Places::of(&plan.hosts, targets),
    };
    let contents = content_files(&inner);
    let allow: Vec<Vec<&Path>> = (0..plan.hosts.len())
        .map(|host| {
            let own = places.of_host(host).map(|target| target.path.as_path());
            own.chain(contents.iter().map(PathBuf::as_path)).filter(|_| !artificial).collect()
        })
        .collect();
    session.sink.hear(&Event::Notice { text: format!("calling {} hosts", plan.hosts.len()) });
    let mut transport = reach.open(&plan.hosts, &allow)?;
    let mut pass = |event: &Event| session.sink.hear(event);
    let mut watching = Watching::new(&plan.hosts, &mut pass, session.stop);
    let coordinator = Coordinator::connect(transport.as_mut(), &plan.hosts, &mut watching)
        .map_err(|error| failed(&error))?;
    name_targets(&mut inner, &places);
    let mut bench = FleetBench {
        coordinator,
        hosts: &plan.hosts,
        places,
        id: engine::new_id(Timestamp::now()),
        runs: 0,
        keep: session.permissions.keep,
        with_threads: matches!(inner, Plan::Cycle(_)),
        share_rates: matches!(inner, Plan::Assess(_)),
        skews_ns: Vec::new(),
        bound_ns: 0,
    };
    let found = search_on(&mut bench, plan, &inner, session);
    bench.coordinator.leave();
    found
}

fn search_on(
    bench: &mut FleetBench<'_>,
    plan: &FleetPlan,
    inner: &Plan,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let permissions = session.permissions.clone();
    match inner {
        Plan::Assess(options) => {
            let mut options = options.as_ref().clone();
            options.permissions = permissions;
            let targets = bench.places.targets();
            conduct_one(session, plan, |context| {
                let mut found = survey::assess_on(bench, targets, &options, context.within())?;
                found.hosts = bench.places.assessed();
                Ok(Document::Assessment(Box::new(found)))
            })
        }
        Plan::Knee(options) => {
            let mut options = options.as_ref().clone();
            options.setup.permissions = permissions;
            conduct_one(session, plan, |context| {
                Ok(Document::Knee(Box::new(survey::knee_on(bench, &options, context.within())?)))
            })
        }
        Plan::Scale(options) => {
            let mut options = options.as_ref().clone();
            options.setup.permissions = permissions;
            conduct_one(session, plan, |context| {
                Ok(Document::Scale(Box::new(survey::scale_on(bench, &options, context.within())?)))
            })
        }
        Plan::Sweep(sweep) => sweep_on(bench, plan, sweep, session),
        Plan::Cycle(cycle) => cycle.run_on(bench, plan, session),
        other => Err(JobError::Usage(format!("a fleet does not carry out `{}`", other.kind()))),
    }
}

/// Files from which a load takes what it writes.
fn content_files(plan: &Plan) -> Vec<PathBuf> {
    let stream = match plan {
        Plan::Knee(options) => &options.stream,
        Plan::Scale(options) => &options.stream,
        _ => return Vec::new(),
    };
    stream.content_file.iter().cloned().collect()
}

/// Puts the targets of all hosts into a plan.
fn name_targets(plan: &mut Plan, places: &Places) {
    let fixed = |setup: &mut Setup| setup.targets = places.targets();
    match plan {
        Plan::Knee(options) => fixed(&mut options.setup),
        Plan::Scale(options) => fixed(&mut options.setup),
        Plan::Sweep(sweep) => {
            sweep.targets = places.targets();
            sweep.together = true;
        }
        _ => {}
    }
}

/// The hosts as one place for measurements.
struct FleetBench<'t> {
    coordinator: Coordinator<'t>,
    hosts: &'t [String],
    places: Places,
    /// What the hosts' own results are tagged with.
    id: String,
    runs: u64,
    /// Test files stay on the hosts.
    keep: bool,
    /// Points have what each thread did.
    with_threads: bool,
    /// A rate is that of all hosts, of which each has the same part.
    share_rates: bool,
    /// Of each point, the time between the first start and the last.
    skews_ns: Vec<u64>,
    /// How well the clocks were known at worst.
    bound_ns: u64,
}

impl FleetBench<'_> {
    fn name(&mut self) -> String {
        self.runs += 1;
        format!("{}.{}", self.id, self.runs)
    }

    fn plans(&self, workload: &Workload) -> Result<Vec<Option<Value>>, EngineError> {
        let mut workload = workload.clone();
        if self.share_rates {
            share_rates(&mut workload, self.hosts.len());
        }
        let part = |host| match self.places.part(host, &workload) {
            Some(part) => sent(&part).map_err(|error| EngineError::Elsewhere(error.to_string())),
            None => Ok(None),
        };
        (0..self.hosts.len()).map(part).collect()
    }

    fn note(&mut self, run: &FleetRun) {
        let late = || run.hosts.iter().filter_map(|host| host.late_ns);
        if let (Some(first), Some(last), 2..) = (late().min(), late().max(), late().count()) {
            self.skews_ns.push(last - first);
        }
        let bounds = run.hosts.iter().filter_map(|host| Some(host.clock?.bound_ns));
        self.bound_ns = bounds.fold(self.bound_ns, u64::max);
    }

    /// How exactly the points were started.
    fn method(&self) -> Vec<String> {
        let mut sorted = self.skews_ns.clone();
        sorted.sort_unstable();
        let (Some(median), Some(worst)) = (sorted.get(sorted.len() / 2), sorted.last()) else {
            return Vec::new();
        };
        let spread = match sorted.len() {
            1 => String::new(),
            points => format!(" (median of {points} points; {} at worst)", show_ns(*worst as f64)),
        };
        vec![
            format!(
                "Each point was one load on {} hosts, which all began at one named moment. Between \
                 the first host that started and the last were {}{spread}. The clocks were known \
                 to {}.",
                self.hosts.len(),
                show_ns(*median as f64),
                show_ns(self.bound_ns as f64)
            ),
            format!(
                "Rates are of the time in which every host of a point ran; latencies are those of \
                 merged histograms. Each host keeps its own measurements under the tag fleet-{}.",
                self.id
            ),
        ]
    }
}

/// The part of one host in the rates of a load.
fn share_rates(workload: &mut Workload, hosts: usize) {
    for rate in workload.streams.iter_mut().filter_map(|stream| stream.rate.as_mut()) {
        let (RateLimit::Iops(limit) | RateLimit::MibPerS(limit)) = &mut rate.limit;
        *limit /= hosts as f64;
    }
}

/// What every thread of every host did, on the targets as a search has them.
fn threads(places: &Places, run: &FleetRun) -> Vec<ThreadResult> {
    let mut all = Vec::new();
    for host in &run.hosts {
        let read = host.measurement.as_deref().map(serde_json::from_str::<Measurement>);
        let threads = read.and_then(Result::ok).map(|m| m.threads_detail).unwrap_or_default();
        all.extend(threads.into_iter().filter_map(|thread| {
            let target = places.index(&host.name, thread.target)?;
            Some(ThreadResult { target, ..thread })
        }));
    }
    all
}

/// What a run on the hosts says to the experiment.
fn engine_events(observe: &mut dyn FnMut(&engine::Event)) -> impl FnMut(&Event) {
    move |event| match event {
        Event::Engine(event) => observe(event),
        Event::Notice { text } | Event::Error { text } => {
            observe(&engine::Event::Warning { text: text.clone() });
        }
        _ => {}
    }
}

fn not_measured(error: &FleetError) -> EngineError {
    match error {
        FleetError::Interrupted => EngineError::CalledOff,
        other => EngineError::Elsewhere(other.to_string()),
    }
}

impl Bench for FleetBench<'_> {
    /// What would be done is decided on the hosts.
    fn plan(&self, _: &Workload, _: &Permissions) -> Result<Vec<TargetPlan>, PrepareError> {
        Ok(Vec::new())
    }

    fn prepare<'a>(
        &'a mut self,
        workload: &Workload,
        permissions: &Permissions,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&engine::Event),
    ) -> Result<Box<dyn Stand + 'a>, PrepareError> {
        let (plans, run) = (self.plans(workload)?, self.name());
        let (keep, on_loss) = (permissions.keep, LossPolicy::Abort);
        let order = Order { plans: &plans, keep, hold: true, run: &run, on_loss };
        let mut pass = engine_events(observe);
        let mut watching = Watching::new(self.hosts, &mut pass, stop);
        let ready =
            self.coordinator.prepare(order, &mut watching).map_err(|error| match error {
                FleetError::Interrupted => PrepareError::Interrupted,
                other => PrepareError::Engine(EngineError::Elsewhere(other.to_string())),
            })?;
        let read = |host: &HostRun| {
            let value = host.site.as_deref().unwrap_or(&Value::Null);
            let wrong = |text| EngineError::Elsewhere(format!("the host `{}`: {text}", host.name));
            SiteReport::read(value).map_err(wrong)
        };
        let sites: Vec<SiteReport> = ready.iter().map(read).collect::<Result<_, _>>()?;
        let storage = ready.iter().zip(&sites).flat_map(|(host, site)| {
            site.environment.storage.iter().map(|storage| site::named(&host.name, storage))
        });
        let environment = Environment { host: None, storage: storage.collect() };
        Ok(Box::new(FleetStand { bench: self, sites, environment }))
    }
}

/// The targets of all hosts, ready.
struct FleetStand<'b, 't> {
    bench: &'b mut FleetBench<'t>,
    sites: Vec<SiteReport>,
    environment: Environment,
}

impl Stand for FleetStand<'_, '_> {
    fn facts(&self) -> Vec<TargetFacts> {
        self.sites.iter().flat_map(SiteReport::facts).collect()
    }

    fn contents(&self) -> Vec<String> {
        let mut contents: Vec<String> =
            self.sites.iter().flat_map(SiteReport::contents).map(str::to_owned).collect();
        contents.dedup();
        contents
    }

    fn targets(&self) -> &[PreparedTarget] {
        &[]
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn resolved(&self, target: &Path) -> PathBuf {
        target.to_owned()
    }

    /// How much memory the hosts have is known there.
    fn unfit(&self, _: &Workload) -> Option<String> {
        None
    }

    fn method(&self) -> Vec<String> {
        self.bench.method()
    }

    fn measure(
        &mut self,
        workload: &Workload,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(&engine::Event),
    ) -> Result<Measurement, EngineError> {
        let interval = (workload.seconds / POINTS).clamp(POINT_S.0, POINT_S.1);
        let interval_ns = Nanoseconds::from_seconds(interval);
        let workload = Workload { precision: None, interval_ns, ..workload.clone() };
        let (plans, run) = (self.bench.plans(&workload)?, self.bench.name());
        let (keep, on_loss) = (self.bench.keep, LossPolicy::Abort);
        let order = Order { plans: &plans, keep, hold: true, run: &run, on_loss };
        let mut pass = engine_events(observe);
        let hosts = plans.iter().flatten().count();
        let mut watching = Watching::new(self.bench.hosts, &mut pass, stop).only(hosts);
        let done = self.bench.coordinator.run(order, &mut watching);
        let done = done.map_err(|error| not_measured(&error))?;
        self.bench.note(&done);
        let bench = &self.bench;
        let threads = if bench.with_threads { threads(&bench.places, &done) } else { Vec::new() };
        let hosts = self.bench.places.hosts();
        let whole = combined(&workload, &hosts, done, &self.environment);
        // A signal that comes before the window leaves nothing to put together.
        let is_called_off = stop.load(Ordering::Relaxed);
        let whole = whole.map_err(|text| {
            if is_called_off { EngineError::CalledOff } else { EngineError::Elsewhere(text) }
        })?;
        Ok(Measurement { threads_detail: threads, ..whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Arrival, Rate, Stream};

    #[test]
    fn a_rate_of_all_hosts_is_shared_by_them() {
        let stream = |limit| {
            let rate = Some(Rate { limit, arrival: Arrival::Poisson });
            Stream { rate, ..Stream::default() }
        };
        let streams = vec![
            stream(RateLimit::Iops(8000.0)),
            stream(RateLimit::MibPerS(80.0)),
            Stream::default(),
        ];
        let mut workload = Workload { streams, ..Workload::default() };
        share_rates(&mut workload, 8);
        let limits: Vec<_> =
            workload.streams.iter().map(|stream| stream.rate.map(|rate| rate.limit)).collect();
        let part = [Some(RateLimit::Iops(1000.0)), Some(RateLimit::MibPerS(10.0)), None];
        assert_eq!(limits, part);
    }
}
