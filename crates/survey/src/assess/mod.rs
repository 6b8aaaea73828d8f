//! The main job: what can this storage do, and is it fit for a database?
//!
//! Looks at the storage, chooses a file size, fills the file, raises the depth of three loads until
//! they saturate, measures every pattern that matters for a database, and judges them by role.
//! Every measurement that was finished is in the result, however the assessment ended.

mod beside;
mod claims;
mod conclude;
mod databases;
mod judge;
mod method;
mod offer;
mod plan;
mod session;
mod size;

use std::path::PathBuf;

use analysis::claims::Claim;
use engine::{Event, Permissions, PrepareError, PreparedTarget};
use jiff::Timestamp;
use results::cause::Link;
use results::verdict::{Class, Database, Limits, Need};
use results::{ASSESSMENT_SCHEMA, Assessment, Pace};
use serde::{Deserialize, Serialize};
use workload::specs::OwnSpec;
use workload::{Bytes, EngineChoice, Mode, SimDevice, Stream, Target, TargetFacts, Workload};

use crate::Publish;
use crate::bench::{Bench, Standing};
use crate::lab::{self, Lab, LabContext, Progress, Setup};
use crate::measure::Site;
pub use beside::assess_sides;
pub(crate) use claims::named_loads;
use plan::Timing;
use session::Session;
pub use size::assess_size_rule;

/// The target, the pace and the loads of an assessment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssessOptions {
    /// A directory, a file or a block device.
    pub target: PathBuf,
    /// Size of the test file; chosen by rule where none is given.
    pub size: Option<Bytes>,
    /// What will live on it: decides the loads.
    pub database: Database,
    /// Access specifications by their names, measured in addition; each at rising depths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<String>,
    /// Access specifications of one's own, such as those of an `.icf` file, measured the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_specs: Vec<OwnSpec>,
    /// The pace, which decides the length of each measurement.
    pub pace: Pace,
    /// What the verdicts are held against, one entry per role.
    pub limits: Vec<Limits>,
    /// What the database needs, one entry per role at most; without one, a role gets no grade.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// A trace whose load the limits of the roles have to hold for, too. Who calls [`assess`]
    /// replays it after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<PathBuf>,
    /// The class of the storage; found by what it says of itself where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// What the user expects of it; the document says whether that is met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// The path to the storage, where it is known: it may be the bottleneck.
    pub link: Option<Link>,
    /// What may be done to the target.
    #[serde(skip)]
    pub permissions: Permissions,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// The simulated device of the engine `sim`.
    pub sim: Option<SimDevice>,
    /// Whether the operating system's cache is used.
    pub mode: Mode,
    /// The seed of every random choice.
    pub seed: u64,
}

/// Assesses a storage system.
///
/// `stop` ends it early: the result then has what was measured until then, and the status says so.
pub fn assess(
    options: &AssessOptions,
    mut context: LabContext<'_>,
) -> Result<Assessment, PrepareError> {
    plan::check_judged(options)?;
    context.begin();
    let target = Target { path: options.target.clone(), size_bytes: options.size };
    let site = Site::of(&options.workload(target.clone(), Stream::default()));
    (context.observe)(Progress::before("choosing the file size"));
    let before = context.target_bytes();
    let (stop, observe) = (context.stop, &mut *context.observe);
    let mut engine_observe = |event: &Event| observe(Progress::Engine(event));
    let chosen = match before.as_deref() {
        Some([bytes]) => size::as_before(options, &site, *bytes),
        _ => size::choose(options, &site, stop, &mut engine_observe)?,
    };
    plan::check_size(chosen.bytes)?;
    let target = Target { size_bytes: Some(chosen.bytes), ..target };
    let workload = options.workload(target.clone(), plan::preparing_stream());
    let prepared = engine::prepare(&workload, &options.permissions, stop, &mut engine_observe)?;
    let timing = Timing::of(options.pace);
    let file_bytes = prepared.targets()[0].size_bytes();
    let setup =
        options.setup(Target { size_bytes: Some(Bytes(file_bytes)), ..target }, timing.pattern);
    let lab = Lab::on(setup, Box::new(Standing { site, prepared }), context)?;
    Ok(on_lab(lab, &chosen, &timing, options))
}

/// Assesses what several targets elsewhere get together: all of them have every load at once, and
/// what they do is judged as one.
///
/// # Errors
/// No size was asked for, or the targets cannot be made ready.
pub fn assess_on<'a>(
    bench: &'a mut dyn Bench,
    targets: Vec<Target>,
    options: &AssessOptions,
    context: LabContext<'a>,
) -> Result<Assessment, PrepareError> {
    plan::check_judged(options)?;
    let chosen = size::asked_for(options.size)?;
    plan::check_size(chosen.bytes)?;
    let timing = Timing::of(options.pace).fixed();
    let target = Target { path: options.target.clone(), size_bytes: options.size };
    let setup = Setup { targets, ..options.setup(target, timing.pattern) };
    let lab = Lab::open_on(bench, setup, &plan::preparing_stream(), context)?;
    Ok(on_lab(lab, &chosen, &timing, options))
}

/// Measures and judges on targets that are ready.
fn on_lab(
    mut lab: Lab<'_>,
    chosen: &size::Size,
    timing: &Timing,
    options: &AssessOptions,
) -> Assessment {
    let TargetFacts { size_bytes, direct_align_bytes } = conclude::smallest(&lab.facts());
    let loads = options.loads(size_bytes, direct_align_bytes);
    let (id, started) = lab.begun();
    let found = Session::new(&mut lab, timing, options).measure_all(&loads);
    let (ramps, patterns) = (&found.ramps, &found.patterns);
    let changed = conclude::Changed::find(ramps, patterns, found.repeats.as_ref());
    let honesty = conclude::honesty(&loads, patterns, ramps, lab.environment());
    let unseen = conclude::unseen(patterns);
    // The error that ended the assessment explains missing figures, so it comes first.
    let mut warnings: Vec<String> = lab.error().map(str::to_owned).into_iter().collect();
    warnings.extend(conclude::doubts(honesty.as_ref(), &changed));
    warnings.extend(conclude::uneven(patterns));
    warnings.extend(found.warnings(chosen.warning.as_deref()).into_iter().chain(unseen.clone()));
    let verdicts = judge::Judge {
        options,
        loads: &loads,
        found: &found,
        changed: &changed,
        honesty: honesty.as_ref(),
        size_warning: chosen.warning.is_some(),
        is_beside: timing.sides.log.is_some(),
        environment: lab.environment(),
    }
    .verdicts();
    let (used, ceiling) = (conclude::largest_iops(ramps, patterns), found.tool_ceiling_iops);
    let place = place(&lab);
    Assessment {
        plan: None,
        schema: ASSESSMENT_SCHEMA.to_owned(),
        id,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        finished: Timestamp::now().to_string(),
        status: lab.status(),
        database: options.database,
        pace: options.pace,
        target: options.target.clone(),
        // The bench knows which they are.
        hosts: Vec::new(),
        file_bytes: lab.facts().iter().map(|facts| facts.size_bytes).sum(),
        file_size_reason: chosen.reason.clone(),
        environment: lab.environment().clone(),
        verdicts,
        claims: claims::judge(&options.claims, ramps, patterns, &changed).publish(),
        honesty: honesty.publish(),
        level_changes: changed.all().cloned().map(Publish::publish).collect(),
        unseen,
        alignment: conclude::alignment(&loads, patterns).publish(),
        tool_ceiling_iops: ceiling,
        tool_ceiling_used_percent: ceiling.filter(|c| *c > 0.0).map(|c| 100.0 * used / c),
        method: method::sentences(options, timing, &loads, &place)
            .into_iter()
            .chain(lab.method())
            .collect(),
        patterns: found.patterns,
        ramps: found.ramps,
        offered: found.offered,
        beside: found.beside,
        mixed: found.mixed,
        captured: None,
        repeats: found.repeats,
        warnings,
    }
}

/// What the I/O goes to, by whole paths, and what is known of its content.
fn place(lab: &Lab<'_>) -> method::Place {
    let here = |target: &PreparedTarget| {
        std::path::absolute(target.path()).unwrap_or_else(|_| target.path().to_owned())
    };
    let paths: Vec<PathBuf> = match lab.prepared() {
        [] => lab.targets(),
        here_are => here_are.iter().map(here).collect(),
    };
    let targets: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let mut content = lab.contents();
    content.dedup();
    method::Place {
        targets: targets.join(", "),
        content: content.join("; "),
        together: lab.prepared().is_empty(),
    }
}

impl AssessOptions {
    /// The same on a device that needs no time.
    #[must_use]
    pub fn foreseen(&self) -> Self {
        let target = Target { path: self.target.clone(), size_bytes: self.size };
        let Setup { permissions, engine, sim, .. } =
            self.setup(target, lab::Timing::default()).foreseen(&[]);
        Self { permissions, engine, sim, captured: None, ..self.clone() }
    }

    /// The options that hold for every measurement.
    fn setup(&self, target: Target, timing: lab::Timing) -> Setup {
        Setup {
            targets: vec![target],
            permissions: self.permissions.clone(),
            engine: self.engine,
            sim: self.sim.clone(),
            mode: self.mode,
            seed: self.seed,
            timing,
        }
    }

    /// The loads that are measured on a file of `file_bytes`.
    fn loads(&self, file_bytes: u64, align_bytes: u64) -> Vec<plan::Load> {
        let mut loads = plan::loads(self.database, file_bytes, align_bytes);
        if self.pace == Pace::Glance {
            loads = plan::one_of_each(&loads);
        }
        loads.extend(plan::named(&self.specs, &self.own_specs, file_bytes));
        loads
    }

    /// One stream on the target, with the options that hold for the whole assessment.
    fn workload(&self, target: Target, stream: Stream) -> Workload {
        self.setup(target, lab::Timing::default()).workload(vec![stream])
    }
}
