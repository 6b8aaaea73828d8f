//! A plan of a fleet: what each host has to do for it, and whether it can be meant.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use jobs::{FleetPlan, Job as _, JobError, Plan};
use results::OnLoss;
use workload::{Bytes, Stream, Target, Workload};

/// What is in a target's path for the name of the host.
const HOST: &str = "{host}";

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
            let text = jobs::files::read_text(path)?;
            match Plan::from_toml(&text).map_err(|error| wrong(&error))? {
                Plan::Run(workload) => *workload,
                other => {
                    let kind = other.kind();
                    return Err(wrong(&format!(
                        "`iosonde fleet run` takes plans of `iosonde run`, not `{kind}`"
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

/// A process is started for each host.
const HOSTS_MAX: usize = 4096;

/// Hosts are named, and each once.
pub(crate) fn check_hosts(hosts: &[String]) -> Result<(), JobError> {
    if hosts.len() > HOSTS_MAX {
        let text = format!("{} hosts are named; a fleet has at most {HOSTS_MAX}", hosts.len());
        return Err(JobError::Usage(text));
    }
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

/// Targets of other hosts are named, by their whole paths.
fn check_targets<'a>(
    targets: impl IntoIterator<Item = &'a Path>,
    artificial: bool,
) -> Result<(), JobError> {
    let mut targets = targets.into_iter().peekable();
    if targets.peek().is_none() {
        return Err(JobError::Usage("name what receives the I/O with `--target PATH`".into()));
    }
    // To Windows, `/data` of another system has a root and is not absolute.
    match targets.find(|target| !target.has_root() && !artificial) {
        Some(target) => Err(JobError::Usage(format!(
            "`{}`: name a target of other hosts by its whole path",
            target.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses what cannot be meant, before any host is called.
pub(crate) fn check(plan: &FleetPlan) -> Result<(), JobError> {
    check_hosts(&plan.hosts)?;
    if matches!(plan.plan.as_ref(), Plan::Cycle(cycle) if !cycle.managers.is_empty()) {
        return on_loss(plan);
    }
    if !matches!(plan.plan.as_ref(), Plan::Monitor(watch) if watch.targets.is_empty()) {
        check_targets(plan.targets(), plan.is_artificial())?;
    }
    let usage = |text: &str| Err(JobError::Usage(text.to_owned()));
    let search = match plan.plan.as_ref() {
        Plan::Run(workload) => {
            let violations = workload.violations();
            if !violations.is_empty() {
                return Err(engine::EngineError::Invalid(violations).into());
            }
            return Ok(());
        }
        Plan::Knee(options) => &options.setup,
        Plan::Scale(options) if options.setup.targets.len() > 1 => {
            return usage("`iosonde fleet scale` compares hosts with each other: name one target");
        }
        Plan::Scale(_) if plan.hosts.len() < 2 => {
            return usage("`iosonde fleet scale` compares hosts: name two or more");
        }
        Plan::Scale(options) => &options.setup,
        Plan::Sweep(sweep) if sweep.adaptive || sweep.precision.is_some() => {
            return usage(
                "on several hosts every window has the same length: leave out `--adaptive` and \
                 `--precision`",
            );
        }
        Plan::Sweep(sweep) if sweep.rounds.is_some() => {
            return usage("a plan in rounds is for one host; leave out its `rounds`");
        }
        Plan::Sweep(_) => return on_loss(plan),
        Plan::Assess(options) if options.captured.is_some() => {
            return usage(
                "no host of a fleet replays a trace: leave out `captured`, and run `iosonde assess \
                 --from` on one host",
            );
        }
        Plan::Assess(options) if plan.together && options.size.is_none() => {
            return usage(
                "an assessment of all hosts together needs the size of each host's file: name it \
                 with `--size`",
            );
        }
        Plan::Assess(_) if plan.together => return on_loss(plan),
        Plan::Assess(_) | Plan::Validate(_) | Plan::Monitor(_) => return Ok(()),
        other => {
            return Err(JobError::Usage(format!(
                "a fleet carries out plans of `run`, `knee`, `scale`, `sweep`, `assess`, \
                 `validate` and `monitor`, not `{}`",
                other.kind()
            )));
        }
    };
    if search.timing.precision.is_some() {
        return usage("on several hosts every window has the same length: leave out the precision");
    }
    on_loss(plan)
}

/// Figures of fewer hosts are not points of the same curve.
fn on_loss(plan: &FleetPlan) -> Result<(), JobError> {
    if plan.on_loss == OnLoss::Abort {
        return Ok(());
    }
    Err(JobError::Usage(
        "points measured with fewer hosts cannot be compared: `--on-loss continue` is for \
         `iosonde fleet run`"
            .to_owned(),
    ))
}

/// The seed of the host of this number: hosts that ask for the same offsets at the same time would
/// meet in caches.
pub(crate) fn seed_of(seed: u64, host: usize) -> u64 {
    seed ^ (host as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Replaces `{host}` in a path by the host's name, without what separates directories.
fn name_host(path: &mut PathBuf, host: &str) {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if let Some(text) = path.to_str().filter(|path| path.contains(HOST)) {
        let name: String = host.chars().map(|c| if kept(c) { c } else { '_' }).collect();
        *path = text.replace(HOST, &name).into();
    }
}

/// The targets of one host: `{host}` in a path is its name.
pub(crate) fn targets_of(host: &str, targets: &[Target]) -> Vec<Target> {
    let mut targets = targets.to_vec();
    for target in &mut targets {
        name_host(&mut target.path, host);
    }
    targets
}

/// The plan for one host: `{host}` in the paths of its targets becomes its name.
pub(crate) fn plan_of(plan: &Plan, host: &str) -> Plan {
    let mut plan = plan.clone();
    for path in plan.paths_mut().0 {
        name_host(path, host);
    }
    plan
}

/// What the agent of a host has to allow.
pub(crate) fn allowed(plan: &Plan) -> Vec<PathBuf> {
    if plan.job().is_artificial() {
        return Vec::new();
    }
    let mut plan = plan.clone();
    let (used, read) = plan.paths_mut();
    used.into_iter().chain(read).map(|path| path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jobs::FleetReach;
    use survey::{ScaleOptions, Setup, Timing};
    use workload::{EngineChoice, Mode};

    fn plan(path: &str, hosts: &[&str]) -> FleetPlan {
        let target = Target { path: path.into(), size_bytes: None };
        FleetPlan {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            on_loss: OnLoss::Abort,
            reach: FleetReach::default(),
            together: false,
            plan: Box::new(Plan::Run(Box::new(Workload::single(target, Stream::default())))),
        }
    }

    #[test]
    fn each_host_may_have_its_own_file() {
        let target = Target { path: "/mnt/vol/{host}.test".into(), size_bytes: None };
        let targets = targets_of("root@db1:22", std::slice::from_ref(&target));
        assert_eq!(targets[0].path, Path::new("/mnt/vol/root_db1_22.test"));
        let load = |engine| {
            let workload = Workload::single(target.clone(), Stream::default());
            plan_of(&Plan::Run(Box::new(Workload { engine, ..workload })), "root@db1:22")
        };
        assert_eq!(allowed(&load(EngineChoice::Auto)), [targets[0].path.clone()]);
        assert!(allowed(&load(EngineChoice::Null)).is_empty());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_before_any_host_is_called() {
        let wrong = |path, hosts: &[&str]| check(&plan(path, hosts)).unwrap_err().to_string();
        assert!(wrong("/data", &[]).contains("at least one"));
        assert!(wrong("/data", &["a", ""]).contains("empty"));
        assert!(wrong("/data", &["a", "b", "a"]).contains("`a` is named twice"));
        assert!(wrong("data", &["a"]).contains("whole path"));
        assert!(check(&plan("/data", &["a", "b"])).is_ok());
    }

    #[test]
    fn a_search_has_windows_of_one_length_on_all_of_its_hosts() {
        let scale = |hosts: &[&str], targets: usize, timing| {
            let target = Target { path: "/data".into(), size_bytes: None };
            let setup = Setup {
                targets: vec![target; targets],
                permissions: engine::Permissions::default(),
                engine: EngineChoice::Auto,
                sim: None,
                mode: Mode::Direct,
                seed: 1,
                timing,
            };
            let options = ScaleOptions { setup, stream: Stream::default(), pairs: false };
            FleetPlan { plan: Box::new(Plan::Scale(Box::new(options))), ..plan("/data", hosts) }
        };
        let fixed = Timing { precision: None, ..Timing::default() };
        let wrong = |plan: &FleetPlan| check(plan).unwrap_err().to_string();
        assert!(check(&scale(&["a", "b"], 1, fixed)).is_ok());
        assert!(wrong(&scale(&["a", "b"], 1, Timing::default())).contains("same length"));
        assert!(wrong(&scale(&["a"], 1, fixed)).contains("two or more"));
        assert!(wrong(&scale(&["a", "b"], 2, fixed)).contains("one target"));
        let continues = FleetPlan { on_loss: OnLoss::Continue, ..scale(&["a", "b"], 1, fixed) };
        assert!(wrong(&continues).contains("fewer hosts"));
    }
}
