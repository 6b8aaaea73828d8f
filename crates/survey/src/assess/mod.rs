//! The main job: what can this storage do, and is it fit for a database?
//!
//! Looks at the storage, chooses a file size, fills the file, raises the depth of three loads until they saturate,
//! measures every pattern that matters for a database, and judges them by role. Every measurement that was finished is
//! in the result, however the assessment ended.

mod conclude;
mod plan;
mod size;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analysis::knee::{LoadPoint, RampRule, find_knee, ramp_is_done};
use analysis::verdict::Limits;
use engine::{EngineError, Event, Permissions, PrepareError, Prepared};
use jiff::Timestamp;
use results::{ASSESSMENT_SCHEMA, Assessment, Measurement, Pace, PatternResult, Ramp, Status};
use workload::{Bytes, EngineChoice, Mode, SimDevice, Stream, Target, Workload};

use crate::measure::{Site, measure};
use plan::{Load, Timing};

/// What to assess, and how.
#[derive(Debug, Clone)]
pub struct AssessOptions {
    /// A directory, a file or a block device.
    pub target: PathBuf,
    /// Size of the test file; chosen by rule where none is given.
    pub size: Option<Bytes>,
    /// How long each measurement is.
    pub pace: Pace,
    /// What the verdicts are held against, one entry for each role.
    pub limits: Vec<Limits>,
    /// What may be done to the target.
    pub permissions: Permissions,
    /// Which backend makes the I/O.
    pub engine: EngineChoice,
    /// The simulated device of the engine `sim`.
    pub sim: Option<SimDevice>,
    /// Whether the operating system's cache is used.
    pub mode: Mode,
    /// Where every random choice starts.
    pub seed: u64,
}

/// What happens during an assessment.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A step begins.
    Step {
        /// Its number, from 1.
        number: usize,
        /// Steps in all, as far as is known now.
        of: usize,
        /// What it does.
        title: &'a str,
    },
    /// What the engine does within it.
    Engine(&'a Event),
    /// A measurement is finished; whoever keeps results keeps it now, before the next begins.
    Measured(&'a Measurement),
}

/// An assessment under way.
struct Session<'a> {
    options: &'a AssessOptions,
    timing: Timing,
    site: Site,
    prepared: Prepared,
    stop: &'a AtomicBool,
    observe: &'a mut dyn FnMut(Progress<'_>),
    step: usize,
    steps: usize,
    status: Status,
}

/// Assesses a storage system.
///
/// `stop` ends it early: the result then has what was measured until then, and the status says so.
pub fn assess(
    options: &AssessOptions,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(Progress<'_>),
) -> Result<Assessment, PrepareError> {
    let started = Timestamp::now();
    let target = Target { path: options.target.clone(), size_bytes: options.size };
    let site = Site::of(&base(options, target.clone(), Stream::default()));
    observe(Progress::Step { number: 1, of: 1, title: "choosing the file size" });
    let mut engine_observe = |event: &Event| observe(Progress::Engine(event));
    let chosen = size::choose(options, &site, stop, &mut engine_observe)?;
    let writing = plan::preparing_stream();
    let target = Target { size_bytes: Some(chosen.bytes), ..target };
    let workload = base(options, target, writing);
    let prepared = engine::prepare(&workload, &options.permissions, stop, &mut engine_observe)?;
    let timing = Timing::of(options.pace);
    let (steps, status) = (plan::steps(), Status::Complete);
    let mut session =
        Session { options, timing, site, prepared, stop, observe, step: 0, steps, status };
    let file_bytes = session.prepared.targets()[0].size_bytes();
    let ceiling = session.tool_ceiling().map_err(PrepareError::Engine)?;
    let (ramps, patterns) = session.measure_all(file_bytes).map_err(PrepareError::Engine)?;
    let warnings = conclude::warnings(&ramps, &patterns, chosen.warning.as_deref());
    let used = conclude::largest_iops(&ramps, &patterns);
    Ok(Assessment {
        schema: ASSESSMENT_SCHEMA.to_owned(),
        id: engine::new_id(started),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.to_string(),
        finished: Timestamp::now().to_string(),
        status: session.status,
        pace: options.pace,
        target: session.site.resolved(&options.target),
        file_bytes,
        file_size_reason: chosen.reason,
        environment: session.site.environment().clone(),
        verdicts: conclude::verdicts(&options.limits, &patterns),
        tool_ceiling_iops: ceiling,
        tool_ceiling_used_percent: ceiling.filter(|c| *c > 0.0).map(|c| 100.0 * used / c),
        method: plan::method(options, &session.timing, session.prepared.targets()[0].content()),
        patterns,
        ramps,
        warnings,
    })
}

/// One stream on the target, with the options that hold for the whole assessment.
fn base(options: &AssessOptions, target: Target, stream: Stream) -> Workload {
    Workload {
        engine: options.engine,
        mode: options.mode,
        seed: options.seed,
        sim: options.sim.clone(),
        ..Workload::single(target, stream)
    }
}

impl Session<'_> {
    /// Whether a signal or an error has ended the assessment.
    fn is_over(&self) -> bool {
        self.status != Status::Complete || self.stop.load(Ordering::Relaxed)
    }

    /// What this program reaches on this host when there is no I/O to do.
    fn tool_ceiling(&mut self) -> Result<Option<f64>, EngineError> {
        if self.options.engine.is_artificial() {
            return Ok(None);
        }
        self.begin("measuring the tool's own ceiling");
        let target = Target { path: "null".into(), size_bytes: None };
        let stream = Stream { depth: 32, ..Stream::default() };
        let workload = Workload {
            engine: EngineChoice::Null,
            seconds: 0.3,
            warmup_seconds: 0.1,
            ..Workload::single(target, stream)
        };
        let nothing = Permissions::default();
        let prepared = match engine::prepare(&workload, &nothing, self.stop, &mut |_| ()) {
            Ok(prepared) => prepared,
            Err(PrepareError::Engine(error)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let site = Site::of(&workload);
        let measurement = measure(&workload, &prepared, &site, self.stop, &mut |_| ())?;
        Ok((measurement.status == Status::Complete).then_some(measurement.total.iops))
    }

    /// Ramps and patterns in an order in which reads come before what writes leave behind.
    fn measure_all(
        &mut self,
        file_bytes: u64,
    ) -> Result<(Vec<Ramp>, Vec<PatternResult>), EngineError> {
        let loads = plan::loads(file_bytes, self.prepared.facts()[0].direct_align_bytes);
        let (mut ramps, mut patterns) = (Vec::new(), Vec::new());
        for load in loads {
            if self.is_over() {
                break;
            }
            let mut depth = load.stream.depth;
            if load.ramp {
                let ramp = self.ramp(&load)?;
                depth = conclude::operating_depth(&ramp).unwrap_or(depth);
                ramps.push(ramp);
            }
            if self.is_over() {
                break;
            }
            self.settle(&load);
            let title = format!("{}, depth {depth}", load.title);
            self.begin(&title);
            let stream = Stream { depth, ..load.stream.clone() };
            let (seconds, warmup) = (self.timing.pattern_s, self.timing.pattern_warmup_s);
            if let Some(measurement) = self.measure(stream, seconds, warmup)? {
                let Load { name, title, operation, .. } = load;
                patterns.push(PatternResult { name, title, operation, measurement });
            }
        }
        if self.stop.load(Ordering::Relaxed) && self.status == Status::Complete {
            self.status = Status::Interrupted;
        }
        Ok((ramps, patterns))
    }

    /// The same load at depth 1, 2, 4 … until throughput stops growing while latency rises.
    fn ramp(&mut self, load: &Load) -> Result<Ramp, EngineError> {
        let (mut points, mut curve) = (Vec::new(), Vec::new());
        let rule = RampRule::default();
        for depth in plan::RAMP_DEPTHS {
            self.begin(&format!("{}, depth {depth}", load.title));
            let stream = Stream { depth, ..load.stream.clone() };
            let (seconds, warmup) = (self.timing.ramp_s, self.timing.ramp_warmup_s);
            let Some(measurement) = self.measure(stream, seconds, warmup)? else { break };
            curve.push(load_point(&measurement));
            points.push(measurement);
            if ramp_is_done(&curve, &rule) || self.is_over() {
                break;
            }
        }
        // Depths that were not needed are no steps any more.
        self.steps -= plan::RAMP_DEPTHS.len().saturating_sub(points.len()).min(self.steps);
        let (name, title) = (load.name.clone(), load.title.clone());
        Ok(Ramp { name, title, knee: find_knee(&curve), points })
    }

    /// One measurement; none if it was ended before its window began.
    fn measure(
        &mut self,
        stream: Stream,
        seconds: f64,
        warmup_seconds: f64,
    ) -> Result<Option<Measurement>, EngineError> {
        let path = self.options.target.clone();
        let size = self.prepared.targets()[0].size_bytes();
        let target = Target { path, size_bytes: Some(Bytes(size)) };
        let workload = Workload { seconds, warmup_seconds, ..base(self.options, target, stream) };
        let observe = &mut *self.observe;
        let engine_observe = &mut |event: &Event| observe(Progress::Engine(event));
        let measurement =
            measure(&workload, &self.prepared, &self.site, self.stop, engine_observe)?;
        if measurement.status != Status::Complete {
            self.status = measurement.status;
        }
        if measurement.seconds <= 0.0 {
            return Ok(None);
        }
        (self.observe)(Progress::Measured(&measurement));
        Ok(Some(measurement))
    }

    fn begin(&mut self, title: &str) {
        self.step += 1;
        self.steps = self.steps.max(self.step);
        (self.observe)(Progress::Step { number: self.step, of: self.steps, title });
    }

    /// Lets the storage work off what the load before has left in its caches.
    fn settle(&self, load: &Load) {
        if !load.stream.writes() || self.options.engine == EngineChoice::Sim {
            return;
        }
        let until = Instant::now() + Duration::from_secs_f64(self.timing.settle_s);
        while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A measurement as a point of a saturation curve.
fn load_point(measurement: &Measurement) -> LoadPoint {
    LoadPoint {
        in_flight: measurement.in_flight as f64,
        throughput: measurement.total.iops,
        latency_ns: measurement.total.latency_ns.map_or(0.0, |l| l.mean),
    }
}

/// The path of a target for messages.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
