//! The coordinator: one load on many hosts, and the one document of it.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fleet::{FleetError, LossPolicy, Order, Watch};
use jiff::Timestamp;
use jobs::{Conducted, Event, JobError, Plan, Recorder, Session, Sink, Subject};
use results::{Conclusion as _, Document, Fleet, Point};
use serde_json::Value;
use workload::{Bytes, Stream, Target, Workload};

use crate::document::{About, document};
use crate::pipes::Pipes;
use crate::ssh::Ssh;

/// What is in a target's path for the name of the host.
const HOST: &str = "{host}";

/// What is to be done, and by whom.
#[derive(Debug, Clone)]
pub struct FleetRequest {
    /// The load of each host.
    pub workload: Workload,
    /// The hosts, as `ssh` knows them.
    pub hosts: Vec<String>,
    /// How they are reached.
    pub ssh: Ssh,
    /// What happens when one is lost.
    pub on_loss: LossPolicy,
}

impl FleetRequest {
    /// The load of one host: `{host}` in a path is its name.
    fn workload_of(&self, host: &str) -> Workload {
        let mut workload = self.workload.clone();
        for target in &mut workload.targets {
            if let Some(path) = target.path.to_str().filter(|path| path.contains(HOST)) {
                target.path = path.replace(HOST, &file_name(host)).into();
            }
        }
        workload
    }

    fn check(&self) -> Result<(), JobError> {
        check_hosts(&self.hosts)?;
        if self.workload.targets.is_empty() {
            return Err(JobError::Usage("name what receives the I/O with `--target PATH`".into()));
        }
        let violations = self.workload.violations();
        if !violations.is_empty() {
            return Err(engine::EngineError::Invalid(violations).into());
        }
        let relative = self.workload.targets.iter().find(|t| !t.path.is_absolute());
        match relative.filter(|_| !self.workload.engine.is_artificial()) {
            Some(target) => Err(JobError::Usage(format!(
                "`{}`: name a target of other hosts by its whole path",
                target.path.display()
            ))),
            None => Ok(()),
        }
    }
}

/// What the agent of a host has to allow.
fn allowed(workload: &Workload) -> Vec<&Path> {
    if workload.engine.is_artificial() {
        return Vec::new();
    }
    let contents = workload.streams.iter().filter_map(|s| s.content_file.as_ref());
    let all = workload.targets.iter().map(|target| &target.path).chain(contents);
    all.map(PathBuf::as_path).collect()
}

/// The load of a plan, or the usual one, on these targets where any are named.
///
/// # Errors
/// The file cannot be read, or is not a plan of one workload.
pub fn planned(
    plan: Option<&Path>,
    targets: &[PathBuf],
    size_bytes: Option<Bytes>,
) -> Result<Workload, JobError> {
    let mut workload = match plan {
        None => Workload { streams: vec![Stream::default()], ..Workload::default() },
        Some(path) => {
            let wrong =
                |text: &dyn Display| JobError::Usage(format!("`{}`: {text}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
            match Plan::from_toml(&text).map_err(|error| wrong(&error))? {
                Plan::Run(workload) => *workload,
                other => {
                    let kind = other.kind();
                    return Err(wrong(&format!(
                        "a fleet runs plans of `iosonde run`, not `{kind}`"
                    )));
                }
            }
        }
    };
    if !targets.is_empty() {
        let target = |path: &PathBuf| Target { path: path.clone(), size_bytes: None };
        workload.targets = targets.iter().map(target).collect();
    }
    if size_bytes.is_some() {
        workload.targets.iter_mut().for_each(|target| target.size_bytes = size_bytes);
    }
    Ok(workload)
}

/// Hosts are named, and each once.
pub(crate) fn check_hosts(hosts: &[String]) -> Result<(), JobError> {
    let mut seen = HashSet::new();
    match hosts.iter().find(|host| host.is_empty() || !seen.insert(host.as_str())) {
        Some(host) if host.is_empty() => {
            Err(JobError::Usage("the name of a host is empty".to_owned()))
        }
        Some(twice) => Err(JobError::Usage(format!("the host `{twice}` is named twice"))),
        None if hosts.is_empty() => Err(JobError::Usage("name at least one host".to_owned())),
        None => Ok(()),
    }
}

/// The name of a host as part of a file name.
fn file_name(host: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    host.chars().map(|c| if kept(c) { c } else { '_' }).collect()
}

/// Runs the load on all hosts at once.
///
/// # Errors
/// Nothing was started on any host, and why.
pub fn run(request: &FleetRequest, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    request.check()?;
    let workloads: Vec<Workload> =
        request.hosts.iter().map(|host| request.workload_of(host)).collect();
    let plans: Vec<Value> = workloads
        .iter()
        .map(|workload| serde_json::to_value(Plan::Run(Box::new(workload.clone()))))
        .collect::<Result<_, _>>()?;
    let started = Timestamp::now();
    let id = engine::new_id(started);
    let mut recorder = Recorder::open(session.recording, subject(request)?)?;
    let sink: &mut dyn Sink = &mut *session.sink;
    let mut notify = |text| sink.hear(&Event::Notice { text });
    recorder.named(&id, &started.to_string(), &mut notify);
    notify(format!("making the targets of {} hosts ready", request.hosts.len()));
    let agents = request.hosts.iter().zip(&workloads);
    let commands = agents.map(|(host, w)| request.ssh.command(host, &allowed(w)));
    let mut pipes = Pipes::open(commands);
    let mut watching = Watching {
        names: &request.hosts,
        sink: &mut *session.sink,
        recorder: &recorder,
        stop: session.stop,
        series: vec![Vec::new(); request.hosts.len()],
        shown: 0,
    };
    let order = Order {
        plans: &plans,
        keep: session.permissions.keep,
        run: &id,
        hosts: &request.hosts,
        on_loss: request.on_loss,
    };
    let done = fleet::conduct(&mut pipes, order, &mut watching);
    let series = watching.series;
    let run = done.map_err(|error| {
        recorder.give_up();
        failed(&error)
    })?;
    let (transport, workload) = ("ssh", &request.workload);
    let about = About { id: &id, started, transport, workload, series };
    let document = Document::Fleet(Box::new(document(run, about)));
    Ok(finish(document, recorder, &mut *session.sink))
}

/// What lists and watchers show of it.
fn subject(request: &FleetRequest) -> Result<Subject, JobError> {
    let workload = &request.workload;
    let title = format!("{} from {} hosts", workload.title(), request.hosts.len());
    let on = (workload.targets.as_slice(), workload.engine);
    Ok(Subject::new("fleet", Fleet::SCHEMA, title, on, workload)?)
}

pub(crate) fn failed(error: &FleetError) -> JobError {
    match error {
        FleetError::Interrupted => JobError::Interrupted(error.to_string()),
        other => JobError::CannotRun(other.to_string()),
    }
}

/// Delivers the document, then keeps it.
fn finish(document: Document, mut recorder: Recorder, sink: &mut dyn Sink) -> Conducted {
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

/// Hears what happens on the hosts, keeps their intervals, and shows their sum.
struct Watching<'a> {
    names: &'a [String],
    sink: &'a mut dyn Sink,
    recorder: &'a Recorder,
    stop: &'a AtomicBool,
    series: Vec<Vec<Point>>,
    /// Intervals whose sum was shown.
    shown: usize,
}

impl Watching<'_> {
    fn pass(&mut self, event: &Event) {
        self.recorder.tell(event);
        self.sink.hear(event);
    }

    /// Shows the intervals that all hosts have; one that lags by two is not waited for.
    fn show(&mut self, seconds_left: f64) {
        let lengths = || self.series.iter().map(Vec::len);
        let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        while self.shown < least.max(most.saturating_sub(2)) {
            let all: Vec<&Point> =
                self.series.iter().filter_map(|series| series.get(self.shown)).collect();
            self.shown += 1;
            if let Some(point) = sum(&all) {
                self.pass(&Event::Engine(engine::Event::Interval { point, seconds_left }));
            }
        }
    }
}

/// The same interval of several hosts as one. A percentile of a sum is not known.
fn sum(points: &[&Point]) -> Option<Point> {
    let first = points.first()?;
    let add = |of: fn(&Point) -> f64| points.iter().map(|p| of(p)).sum::<f64>();
    let mean = |ns: fn(&Point) -> Option<f64>, rate: fn(&Point) -> f64| {
        let parts = || points.iter().filter_map(|p| Some((ns(p)?, rate(p))));
        let ios: f64 = parts().map(|(_, rate)| rate).sum();
        (ios > 0.0).then(|| parts().map(|(ns, rate)| ns * rate).sum::<f64>() / ios)
    };
    Some(Point {
        t: first.t,
        seconds: first.seconds,
        read_iops: add(|p| p.read_iops),
        write_iops: add(|p| p.write_iops),
        read_mib_per_s: add(|p| p.read_mib_per_s),
        write_mib_per_s: add(|p| p.write_mib_per_s),
        read_mean_ns: mean(|p| p.read_mean_ns, |p| p.read_iops),
        write_mean_ns: mean(|p| p.write_mean_ns, |p| p.write_iops),
        read_p99_ns: None,
        write_p99_ns: None,
        max_ns: points.iter().filter_map(|p| p.max_ns).max(),
        errors: points.iter().map(|p| p.errors).sum(),
    })
}

impl Watch for Watching<'_> {
    fn hear(&mut self, host: usize, event: &Value) {
        use engine::Event as Engine;
        // What a newer agent says besides is nothing to this coordinator.
        let Ok(event) = serde_json::from_value::<Event>(event.clone()) else { return };
        let name = self.names.get(host).map_or("", String::as_str);
        match event {
            Event::Engine(Engine::Interval { point, seconds_left }) => {
                if let Some(series) = self.series.get_mut(host) {
                    series.push(point);
                }
                self.show(seconds_left);
            }
            Event::Engine(Engine::Warning { text }) | Event::Notice { text } => {
                self.notice(format!("{name}: {text}"));
            }
            Event::Error { text } => {
                let text = format!("{name}: {text}");
                self.pass(&Event::Error { text });
            }
            _ => {}
        }
    }

    fn notice(&mut self, text: String) {
        self.pass(&Event::Notice { text });
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{EngineChoice, Stream, Target};

    fn request(path: &str, hosts: &[&str]) -> FleetRequest {
        let target = Target { path: path.into(), size_bytes: None };
        FleetRequest {
            workload: Workload::single(target, Stream::default()),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ssh: Ssh::default(),
            on_loss: LossPolicy::Abort,
        }
    }

    #[test]
    fn each_host_may_have_its_own_file() {
        let request = request("/mnt/vol/{host}.test", &["root@db1:22"]);
        let workload = request.workload_of("root@db1:22");
        assert_eq!(allowed(&workload), [Path::new("/mnt/vol/root_db1_22.test")]);
        let null = Workload { engine: EngineChoice::Null, ..workload };
        assert!(allowed(&null).is_empty());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_before_any_host_is_called() {
        let wrong = |path, hosts: &[&str]| request(path, hosts).check().unwrap_err().to_string();
        assert!(wrong("/data", &[]).contains("at least one"));
        assert!(wrong("/data", &["a", ""]).contains("empty"));
        assert!(wrong("/data", &["a", "b", "a"]).contains("`a` is named twice"));
        assert!(wrong("data", &["a"]).contains("whole path"));
        assert!(request("/data", &["a", "b"]).check().is_ok());
    }
}
