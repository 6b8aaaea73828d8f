//! What each time span does, checked before the first begins.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use dialects::diskspd::job::{Job, job};
use dialects::diskspd::profile::{Profile, TimeSpan};
use engine::Permissions;
use inspect::Inspector;
use workload::{Bytes, EngineChoice, Target, Workload};

use super::output::Also;
use super::system::GROUP_CPUS;
use crate::begun::{BegunFiles, announcements};
use crate::conduct::JobError;
use crate::cpus::check_cpus;
use crate::job::{Description, Job as _};
use crate::places::Places;
use crate::tool::ToolSession;

/// Options of iosonde next to the profile.
#[derive(Debug, Default)]
pub struct ProfileSettings {
    /// Where the targets of the profile are on this host.
    pub places: Places,
    /// Length of every measured window instead of `-d`.
    pub seconds: Option<f64>,
    /// Warm-up before every window, instead of `-W`.
    pub warmup_seconds: Option<f64>,
    /// Files that the result also goes to.
    pub also: Vec<Also>,
    /// The measurements are printed as JSON instead of DiskSpd's text or XML.
    pub json: bool,
}

/// A time span that can be run.
pub(super) struct SpanPlan {
    /// As the profile has it, with what flags change.
    pub span: TimeSpan,
    pub job: Job,
    pub permissions: Permissions,
}

/// All time spans; everything that keeps them from being run, otherwise.
pub(super) fn plan(
    profile: &Profile,
    settings: &ProfileSettings,
) -> Result<Vec<SpanPlan>, JobError> {
    check_processors(profile, settings)?;
    let made: HashSet<String> = profile.precreated().into_iter().map(|(path, _)| path).collect();
    let precreated = precreated_places(profile, settings);
    let (mut planned, mut wrong) = (Vec::new(), Vec::new());
    for (index, span) in profile.time_spans.iter().enumerate() {
        let mut span = span.clone();
        rehearse(&mut span, settings)?;
        // The result shows the profile as it is.
        let mut without = span.clone();
        for target in &mut without.targets {
            if made.contains(&target.path) {
                target.create_bytes = None;
            }
        }
        match job(&without, &settings.places.drives()) {
            Ok(mut job) => {
                job.made_before(&precreated);
                job.workload.seconds = settings.seconds.unwrap_or(job.workload.seconds);
                job.workload.warmup_seconds =
                    settings.warmup_seconds.unwrap_or(job.workload.warmup_seconds);
                job.fit_series(&span);
                settings.places.apply(&mut job.workload);
                check_cpus(&job.workload).map_err(JobError::NotUnderstood)?;
                let permissions = settings.places.permissions(&job.workload.targets);
                planned.push(SpanPlan { span, job, permissions });
            }
            Err(lines) if profile.time_spans.len() == 1 => wrong.extend(lines),
            Err(lines) => {
                wrong.extend(lines.iter().map(|line| format!("time span {}: {line}", index + 1)));
            }
        }
    }
    if wrong.is_empty() && !settings.places.is_artificial() {
        check_places(&planned, &precreated, &mut wrong);
    }
    if !wrong.is_empty() {
        return Err(JobError::Companion(wrong.join("\n")));
    }
    Ok(planned)
}

/// Processors that threads are bound to must be there; a simulated device has no use for them.
fn check_processors(profile: &Profile, settings: &ProfileSettings) -> Result<(), JobError> {
    let online = Inspector::new().processors().online;
    if online.is_empty() || settings.places.engine == EngineChoice::Sim {
        return Ok(());
    }
    let mut wrong: Vec<String> = Vec::new();
    for asked in profile.time_spans.iter().flat_map(|span| &span.affinity) {
        let cpu = asked.group.saturating_mul(GROUP_CPUS).saturating_add(asked.cpu);
        if asked.cpu < GROUP_CPUS && online.iter().any(|processor| processor.cpu == cpu) {
            continue;
        }
        let text = format!(
            "-a: there is no processor {} in group {}; a group has processors 0 to {}, of which \
             {} in all are there",
            asked.cpu,
            asked.group,
            GROUP_CPUS - 1,
            online.len()
        );
        if !wrong.contains(&text) {
            wrong.push(text);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(JobError::NotUnderstood(wrong.join("\n"))) }
}

/// What flags say instead of the profile: lengths, in the whole seconds that a profile has, and the
/// seed.
fn rehearse(span: &mut TimeSpan, settings: &ProfileSettings) -> Result<(), JobError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let whole = |seconds: f64| seconds.ceil() as u32;
    span.duration_s = settings.seconds.map_or(span.duration_s, whole);
    span.warmup_s = settings.warmup_seconds.map_or(span.warmup_s, whole);
    if let Some(seed) = settings.places.seed {
        span.seed = u32::try_from(seed).map_err(|_| {
            let text = format!("--seed {seed}: seeds of DiskSpd are at most {}", u32::MAX);
            JobError::Usage(text)
        })?;
    }
    Ok(())
}

/// The files that are made before the first time span.
fn precreated_places(profile: &Profile, settings: &ProfileSettings) -> Vec<Target> {
    let drives = settings.places.drives();
    let target = |(name, bytes): (String, u64)| {
        let path = drives.path(&name).ok()?;
        Some(Target { path, size_bytes: Some(Bytes(bytes)) })
    };
    profile.precreated().into_iter().filter_map(target).collect()
}

/// Every target must exist, or a time span must make it.
fn check_places(planned: &[SpanPlan], precreated: &[Target], wrong: &mut Vec<String>) {
    let mut said = HashSet::new();
    let mut made: HashSet<&Path> = precreated.iter().map(|t| t.path.as_path()).collect();
    for planned in planned {
        let targets = &planned.job.workload.targets;
        made.extend(targets.iter().filter(|t| t.size_bytes.is_some()).map(|t| t.path.as_path()));
        for Target { path, .. } in targets {
            let shown = path.display();
            let text = match fs::metadata(path) {
                Ok(found) if found.is_dir() => format!(
                    "`{shown}` is a directory; name a file in it, with `-c<size>` to have it made"
                ),
                Err(_) if made.contains(path.as_path()) => continue,
                Err(error) => match engine::check_name(path) {
                    Err(refusal) => refusal.to_string(),
                    Ok(()) => format!("cannot open `{shown}`: {error}; `-c<size>` makes a file"),
                },
                Ok(_) => continue,
            };
            if said.insert(path) {
                wrong.push(text);
            }
        }
    }
}

impl SpanPlan {
    /// Tells the engine which files to make, and ends the used parts within the targets. The files
    /// that it begins for that are empty.
    pub(super) fn settle(&mut self) -> Result<BegunFiles, JobError> {
        let workload = &self.job.workload;
        let begun = if workload.engine.is_artificial() {
            BegunFiles::default()
        } else {
            BegunFiles::of(&workload.targets)?
        };
        let sizes = self.sizes()?;
        self.job.fit(&sizes);
        Ok(begun)
    }

    /// Whether all of its targets are there or made by itself, so that it can be looked at before
    /// others have run.
    pub(super) fn stands_alone(&self) -> bool {
        let there = |t: &Target| t.path.exists() || t.size_bytes.is_some();
        self.job.workload.engine.is_artificial() || self.job.workload.targets.iter().all(there)
    }

    /// Looks at its targets; says what keeps it from running.
    pub(super) fn look(&mut self) -> Result<(), JobError> {
        let sizes = self.sizes()?;
        self.job.fit(&sizes);
        self.sizes().map(drop)
    }

    /// Sizes of the targets as the engine finds or makes them.
    fn sizes(&self) -> Result<Vec<u64>, JobError> {
        let plans = engine::plan(&self.job.workload, &self.permissions);
        let plans = plans.map_err(|error| cannot(error.into()))?;
        Ok(plans.iter().map(|plan| plan.size_bytes).collect())
    }

    /// What it would do; its number is `number`.
    pub(super) fn describe(&self, number: usize) -> Result<Description, JobError> {
        let workload = &self.job.workload;
        let targets = if self.stands_alone() {
            engine::plan(workload, &self.permissions).map_err(|error| cannot(error.into()))?
        } else {
            Vec::new()
        };
        let mut notes: Vec<String> =
            self.job.notes.iter().map(|note| format!("note: {note}")).collect();
        let (warmup, seconds) = (workload.warmup_seconds, workload.seconds);
        notes.push(format!("{warmup} s of warm-up, {seconds} s measured"));
        let work = vec![format!("time span {number}: {}", workload.title())];
        Ok(Description { work, notes, ..Description::of(targets) })
    }

    /// Which files are written first, and stay; a sentence each.
    pub(super) fn announcements(&self) -> Vec<String> {
        let plans = engine::plan(&self.job.workload, &self.permissions).unwrap_or_default();
        announcements(&plans)
    }
}

/// Makes the files that a profile has made before its first time span.
pub(super) fn precreate(
    profile: &Profile,
    settings: &ProfileSettings,
    session: &mut ToolSession<'_>,
) -> Result<(), JobError> {
    let targets = precreated_places(profile, settings);
    if targets.is_empty() || settings.places.is_artificial() {
        return Ok(());
    }
    let permissions = settings.places.permissions(&targets);
    let workload = Workload { targets, ..Workload::default() };
    let _begun = BegunFiles::of(&workload.targets)?;
    let mut display = (session.open)(&workload.subject()?);
    let mut observe =
        |event: &engine::Event| display.hear(&crate::event::Event::Engine(event.clone()));
    let prepared = engine::prepare(&workload, &permissions, session.stop, &mut observe);
    prepared.map(drop).map_err(|error| cannot(error.into()))
}

/// What the engine calls wrong usage is, of a profile that keeps DiskSpd's rules, something that
/// cannot be done.
pub(super) fn cannot(error: JobError) -> JobError {
    match error {
        JobError::NotUnderstood(_) => error,
        _ if error.is_interrupted() => error,
        other => JobError::Companion(other.to_string()),
    }
}
