//! What a plan may do on this host. The coordinator's word counts for nothing here: only what the
//! agent was started with does.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Destroy, Permissions};
use jobs::Plan;
use serde_json::Value;
use workload::EngineChoice;

/// What the user of this host allows.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Directories, files and devices that a plan may name, with all that is in the directories.
    pub paths: Vec<PathBuf>,
    /// Files and devices whose content a plan may overwrite, each named exactly, with a word for
    /// what it holds.
    pub destroy: Vec<Destroy>,
}

impl Allowed {
    /// Everything that is allowed, as the coordinator shows it.
    pub(crate) fn names(&self) -> Vec<String> {
        let paths = self.paths.iter().map(|path| path.display().to_string());
        paths.chain(self.destroy.iter().map(ToString::to_string)).collect()
    }

    /// A plan with the names of its targets resolved, and what may be done.
    ///
    /// # Errors
    /// The plan is not one that this agent carries out; a sentence with the remedy.
    pub(crate) fn check(&self, plan: Value, keep: bool) -> Result<(Plan, Permissions), String> {
        let mut plan: Plan = serde_json::from_value(plan).map_err(|error| {
            format!(
                "this is not a plan of iosonde {}: {error}. Install the same version of iosonde \
                 on all hosts",
                env!("CARGO_PKG_VERSION")
            )
        })?;
        if let Some(text) = unfit(&plan) {
            return Err(text);
        }
        let mut permissions = Permissions { keep, ..Permissions::default() };
        if plan.job().is_artificial() {
            return Ok((plan, permissions));
        }
        let writes = writes(&plan);
        let (used, read) = plan.paths_mut();
        for target in used {
            *target = self.resolved(target)?;
            let resolved =
                self.destroy.iter().filter_map(|d| d.resolved(|p| p.canonicalize().ok()));
            let named = resolved.filter(|named| writes && named.names(target));
            permissions.destroy.extend(named);
        }
        for file in read {
            *file = self.resolved(file)?;
        }
        Ok((plan, permissions))
    }

    /// The path without links, where it is allowed.
    pub(crate) fn resolved(&self, path: &Path) -> Result<PathBuf, String> {
        let real = real(path).ok_or_else(|| {
            format!(
                "cannot find `{}`. Name a target by its whole path, in a directory that exists on \
                 this host",
                path.display()
            )
        })?;
        let holds = |allowed: &PathBuf| {
            self::real(allowed).is_some_and(|allowed| real.starts_with(allowed))
        };
        // Of a file with a word, the file.
        let named = |d: &Destroy| {
            let found = d.resolved(|path| self::real(path).filter(|path| real.starts_with(path)));
            found.is_some()
        };
        if self.paths.iter().any(holds) || self.destroy.iter().any(named) {
            return Ok(real);
        }
        Err(format!(
            "this host does not allow `{}`; it allows {}. Start its agent with `--allow {}`",
            path.display(),
            self.list(),
            path.display()
        ))
    }

    fn list(&self) -> String {
        let names: Vec<String> = self.names().iter().map(|name| format!("`{name}`")).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    }
}

/// Why no agent carries out such a plan, where that is so.
fn unfit(plan: &Plan) -> Option<String> {
    let text = match plan {
        Plan::Run(workload) if workload.engine == EngineChoice::Sim => {
            "a simulated device has its own clock, so hosts cannot start together on it. Leave out \
             `--engine sim`"
        }
        Plan::Run(workload) if workload.precision.is_some() => {
            "with a precision, each host would end at another time. Leave out the precision and \
             name the seconds"
        }
        Plan::Monitor(plan) if !plan.command.is_empty() => {
            "an agent starts no program. Leave out the command"
        }
        Plan::Monitor(plan) if !plan.databases.is_empty() => {
            "an agent connects to nothing that a plan names. Leave out the databases, and watch \
             them from the coordinator with `iosonde monitor`"
        }
        Plan::Monitor(plan) if !plan.attach.is_empty() => {
            "an agent attaches no files to a recording. Leave them out"
        }
        Plan::Assess(options) if options.captured.is_some() => {
            "an agent replays no trace that a plan names. Leave out the trace, and run `iosonde \
             assess --from` on this host"
        }
        Plan::Run(_) | Plan::Assess(_) | Plan::Validate(_) | Plan::Monitor(_) => return None,
        other => {
            return Some(format!(
                "an agent carries out plans of `run`, `assess`, `validate` and `monitor`, and this \
                 is one of `{}`",
                other.kind()
            ));
        }
    };
    Some(text.to_owned())
}

/// Whether a plan writes to its targets.
fn writes(plan: &Plan) -> bool {
    match plan {
        Plan::Run(workload) => workload.streams.iter().any(workload::Stream::writes),
        plan => !matches!(plan, Plan::Monitor(_)),
    }
}

/// A whole path without links; its last part need not exist.
fn real(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    // A link to nowhere is there, and says nothing of where a file would be made.
    if fs::symlink_metadata(path).is_ok() {
        return path.canonicalize().ok();
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jobs::MonitorPlan;
    use serde_json::json;
    use workload::{Precision, Stream, Target, Workload};

    fn workload(path: &Path, write_percent: u8) -> Workload {
        let target = Target { path: path.to_owned(), size_bytes: None };
        Workload::single(target, Stream { write_percent, ..Stream::default() })
    }

    fn plan(workload: Workload) -> Value {
        serde_json::to_value(Plan::Run(Box::new(workload))).unwrap()
    }

    /// Makes a link to a directory that may not be there; false where the system makes none.
    fn symlink(to: &Path, at: &Path) -> bool {
        #[cfg(unix)]
        std::os::unix::fs::symlink(to, at).unwrap();
        #[cfg(windows)]
        std::os::windows::fs::symlink_dir(to, at).unwrap();
        at.is_symlink()
    }

    /// Whatever leads out of what is allowed is refused: other places, `..`, links, names that only
    /// begin alike.
    #[test]
    fn only_what_is_allowed_is_touched() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for name in ["in", "in/deep", "in-other", "out"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        if !symlink(&root.join("in"), &root.join("alias")) {
            return testing::skip("hosts::agent::allowed", "this Wine makes no symbolic links");
        }
        symlink(&root.join("out"), &root.join("in/link"));
        symlink(&root.join("out/none"), &root.join("in/dangling"));
        let allowed = Allowed { paths: vec![root.join("alias")], destroy: Vec::new() };
        let checked = |name: &str| allowed.check(plan(workload(&root.join(name), 50)), false);
        for name in ["in", "in/deep", "in/new.test", "alias/deep", "in/deep/../new.test"] {
            let (plan, permissions) = checked(name).unwrap();
            let Plan::Run(workload) = plan else { panic!("another plan") };
            assert!(workload.targets[0].path.starts_with(root.join("in")), "{workload:?}");
            assert_eq!(permissions, Permissions::default());
        }
        for name in
            ["out", "in/../out", "in/link", "in/link/x", "in/dangling", "in-other", "in/no/x"]
        {
            let refused = checked(name).unwrap_err();
            assert!(refused.contains(&format!("`{}", root.display())), "{name}: {refused}");
        }
        let relative = allowed.check(plan(workload(Path::new("in"), 0)), false);
        assert!(relative.unwrap_err().contains("whole path"));
    }

    #[test]
    fn a_file_that_is_yet_to_be_made_can_be_allowed() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("new.test");
        let allowed = Allowed { paths: vec![file.clone()], destroy: Vec::new() };
        assert!(allowed.check(plan(workload(&file, 50)), false).is_ok());
        assert!(allowed.check(plan(workload(place.path(), 50)), false).is_err());
    }

    #[test]
    fn bytes_to_write_come_only_from_what_is_allowed() {
        let place = tempfile::tempdir().unwrap();
        let mut asked = workload(place.path(), 100);
        asked.streams[0].content_file = Some("/etc/hostname".into());
        let allowed = Allowed { paths: vec![place.path().to_owned()], destroy: Vec::new() };
        let refused = allowed.check(plan(asked), false).unwrap_err();
        assert!(refused.contains("`/etc/hostname`"), "{refused}");
    }

    #[test]
    fn content_is_overwritten_only_where_the_host_says_so() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("data");
        fs::write(&file, "x").unwrap();
        let checked = |allowed: &Allowed, percent| {
            allowed.check(plan(workload(&file, percent)), true).unwrap().1
        };
        let directory = Allowed { paths: vec![place.path().to_owned()], destroy: Vec::new() };
        assert_eq!(checked(&directory, 50).destroy, Vec::<Destroy>::new());
        let named = Allowed { paths: Vec::new(), destroy: vec![Destroy::new(&file)] };
        assert_eq!(checked(&named, 50).destroy, [Destroy::new(file.canonicalize().unwrap())]);
        assert_eq!(checked(&named, 0).destroy, Vec::<Destroy>::new(), "it only reads");
        assert!(checked(&named, 0).keep);
        // What may be destroyed is named exactly: its directory is not enough.
        let above = Allowed { paths: Vec::new(), destroy: vec![Destroy::new(place.path())] };
        assert_eq!(checked(&above, 50).destroy, Vec::<Destroy>::new());
    }

    #[test]
    fn plans_that_hosts_cannot_do_together_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let allowed = Allowed { paths: vec![place.path().to_owned()], destroy: Vec::new() };
        let refused = |plan: Value| allowed.check(plan, false).unwrap_err();
        let sim = Workload { engine: EngineChoice::Sim, ..workload(place.path(), 0) };
        assert!(refused(plan(sim)).contains("simulated"));
        let precision = Some(Precision::default());
        let ends = Workload { precision, ..workload(place.path(), 0) };
        assert!(refused(plan(ends)).contains("precision"));
        let mut newer = plan(workload(place.path(), 0));
        newer["of_a_later_version"] = json!(1);
        let text = refused(newer);
        assert!(text.contains("of_a_later_version") && text.contains("same version"), "{text}");
        for other in [json!(null), json!({}), json!({ "job": "exec", "command": "id" })] {
            assert!(refused(other).contains("not a plan"));
        }
        let runs = jobs::RunsPlan {
            workloads: vec![workload(place.path(), 0)],
            repeat: 2,
            settle_seconds: 0.0,
        };
        let runs = serde_json::to_value(Plan::Runs(runs)).unwrap();
        assert!(refused(runs).contains("`run`, `assess`"));
    }

    #[test]
    fn an_assessment_replays_no_trace_of_the_host() {
        let place = tempfile::tempdir().unwrap();
        let allowed = Allowed { paths: vec![place.path().to_owned()], destroy: Vec::new() };
        let target = place.path().join("t.test");
        let mut plan = json!({
            "job": "assess", "target": target, "pace": "glance", "database": "generic",
            "limits": [], "engine": "auto", "mode": "direct", "seed": 1
        });
        allowed.check(plan.clone(), false).unwrap();
        plan["captured"] = json!(place.path().join("shop.iotrace"));
        assert!(allowed.check(plan, false).unwrap_err().contains("replays no trace"));
    }

    /// A recording reads counters and nothing else: it starts no program and connects to nothing.
    #[test]
    fn a_recording_does_nothing_but_watch_what_is_allowed() {
        let place = tempfile::tempdir().unwrap();
        let allowed = Allowed { paths: vec![place.path().to_owned()], destroy: Vec::new() };
        let checked = |plan: MonitorPlan| {
            let plan = serde_json::to_value(Plan::Monitor(Box::new(plan))).unwrap();
            allowed.check(plan, false)
        };
        let usual = MonitorPlan::default;
        assert!(checked(usual()).is_ok());
        let here = MonitorPlan { targets: vec![place.path().to_owned()], ..usual() };
        assert!(checked(here).is_ok());
        let elsewhere = MonitorPlan { targets: vec![std::env::temp_dir()], ..usual() };
        assert!(checked(elsewhere).unwrap_err().contains("does not allow"));
        let command = MonitorPlan { command: vec!["id".into()], ..usual() };
        assert!(checked(command).unwrap_err().contains("starts no program"));
        let file = MonitorPlan { attach: vec!["/etc/hostname".into()], ..usual() };
        assert!(checked(file).unwrap_err().contains("attaches no files"));
        let database = json!({ "job": "monitor", "databases": ["postgres://u@db/x"] });
        let refused = allowed.check(database, false).unwrap_err();
        // A build without clients cannot even read the plan.
        let unread = refused.contains("this build of iosonde cannot connect to databases");
        assert!(unread || refused.contains("connects to nothing"), "{refused}");
    }
}
