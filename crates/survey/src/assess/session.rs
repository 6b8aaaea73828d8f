//! The measurements of an assessment, one after the other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use analysis::knee::{LoadPoint, RampRule, find_knee, ramp_is_done};
use engine::{EngineError, Event, Permissions, PrepareError, Prepared};
use results::{Measurement, PatternResult, Ramp, Status};
use workload::{Bytes, EngineChoice, Stream, Target, Workload};

use super::plan::{self, Load, Timing};
use super::{AssessOptions, base, conclude};
use crate::lab::{Progress, elsewhere, mix};
use crate::measure::{Site, measure};

/// Everything that was measured, however it ended.
pub(super) struct Found {
    pub(super) ramps: Vec<Ramp>,
    pub(super) patterns: Vec<PatternResult>,
    pub(super) tool_ceiling_iops: Option<f64>,
    pub(super) status: Status,
    /// What ended it, when it was no I/O.
    pub(super) error: Option<String>,
}

/// An assessment under way.
pub(super) struct Session<'a> {
    options: &'a AssessOptions,
    timing: Timing,
    site: &'a Site,
    prepared: &'a Prepared,
    stop: &'a AtomicBool,
    observe: &'a mut dyn FnMut(Progress<'_>),
    found: Found,
    step: usize,
    steps: usize,
    measurements: u64,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        options: &'a AssessOptions,
        timing: Timing,
        site: &'a Site,
        prepared: &'a Prepared,
        stop: &'a AtomicBool,
        observe: &'a mut dyn FnMut(Progress<'_>),
    ) -> Self {
        let found = Found {
            ramps: Vec::new(),
            patterns: Vec::new(),
            tool_ceiling_iops: None,
            status: Status::Complete,
            error: None,
        };
        let steps = plan::steps(options.database);
        Self {
            options,
            timing,
            site,
            prepared,
            stop,
            observe,
            found,
            step: 0,
            steps,
            measurements: 0,
        }
    }

    /// Ramps and patterns in an order in which reads come before what writes leave behind.
    ///
    /// Whatever goes wrong, what was measured until then is found.
    pub(super) fn measure_all(mut self, loads: &[Load]) -> Found {
        let done = self.tool_ceiling().and_then(|()| {
            // What the fill has left in caches is worked off first.
            self.settle();
            loads.iter().try_for_each(|load| self.load(load))
        });
        if let Err(error) = done {
            self.found.status = Status::Failed;
            self.found.error = Some(format!("the assessment ended early: {error}"));
        } else if self.stop.load(Ordering::Relaxed) && self.found.status == Status::Complete {
            self.found.status = Status::Interrupted;
        }
        self.found
    }

    /// Whether a signal or an error has ended the assessment.
    fn is_over(&self) -> bool {
        self.found.status != Status::Complete || self.stop.load(Ordering::Relaxed)
    }

    /// What this program reaches on this host when there is no I/O to do.
    fn tool_ceiling(&mut self) -> Result<(), EngineError> {
        if self.options.engine.is_artificial() {
            return Ok(());
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
            Err(_) => return Ok(()),
        };
        let measurement =
            measure(&workload, &prepared, &Site::of(&workload), self.stop, &mut |_| ())?;
        if measurement.status == Status::Complete {
            self.found.tool_ceiling_iops = Some(measurement.total.iops);
        }
        Ok(())
    }

    /// One load: its ramp, if it has one, and its pattern at the depth to judge.
    fn load(&mut self, load: &Load) -> Result<(), EngineError> {
        if self.is_over() {
            return Ok(());
        }
        let mut depth = self.depth_like(load).unwrap_or(load.stream.depth);
        if load.ramp {
            let ramp = self.ramp(load)?;
            depth = conclude::operating_depth(&ramp).unwrap_or(depth);
            self.found.ramps.push(ramp);
        }
        if self.is_over() {
            return Ok(());
        }
        self.begin(&format!("{}, depth {depth}", load.title));
        let stream = Stream { depth, ..load.stream.clone() };
        let (seconds, warmup) = (self.timing.pattern_s, self.timing.pattern_warmup_s);
        if let Some(measurement) = self.measure(stream, seconds, warmup)? {
            let Load { name, title, operation, .. } = load.clone();
            self.found.patterns.push(PatternResult { name, title, operation, measurement });
        }
        Ok(())
    }

    /// The depth at which the load was measured that this one is to be compared with.
    fn depth_like(&self, load: &Load) -> Option<u32> {
        let like = load.like.as_ref()?;
        self.found.patterns.iter().find(|p| p.name == *like)?.measurement.depth
    }

    /// The same load at depth 1, 2, 4 … until throughput stops growing while latency rises.
    ///
    /// An error leaves the points before it in the result.
    fn ramp(&mut self, load: &Load) -> Result<Ramp, EngineError> {
        let (name, title) = (load.name.clone(), load.title.clone());
        let mut ramp = Ramp { name, title, points: Vec::new(), knee: None };
        let mut curve = Vec::new();
        let rule = RampRule::default();
        for depth in plan::RAMP_DEPTHS {
            self.begin(&format!("{}, depth {depth}", load.title));
            let stream = Stream { depth, ..load.stream.clone() };
            match self.measure(stream, self.timing.ramp_s, self.timing.ramp_warmup_s) {
                Ok(Some(measurement)) => {
                    curve.push(load_point(&measurement));
                    ramp.points.push(measurement);
                }
                Ok(None) => break,
                Err(error) => {
                    self.found.ramps.push(ramp);
                    return Err(error);
                }
            }
            if ramp_is_done(&curve, &rule) || self.is_over() {
                break;
            }
        }
        // Depths that were not needed are no steps any more.
        self.steps -= plan::RAMP_DEPTHS.len().saturating_sub(ramp.points.len()).min(self.steps);
        ramp.knee = find_knee(&curve);
        Ok(ramp)
    }

    /// One measurement; none if it was ended before its window began.
    fn measure(
        &mut self,
        stream: Stream,
        seconds: f64,
        warmup_seconds: f64,
    ) -> Result<Option<Measurement>, EngineError> {
        if stream.writes() {
            self.settle();
        }
        let path = self.options.target.clone();
        let size = self.prepared.targets()[0].size_bytes();
        let target = Target { path, size_bytes: Some(Bytes(size)) };
        // Every measurement has offsets of its own. With those of the one before, caches below the operating system
        // would have just what is asked for, however large the file is.
        self.measurements += 1;
        let seed = mix(self.options.seed, self.measurements);
        let stream = elsewhere(stream, seed);
        let workload =
            Workload { seed, seconds, warmup_seconds, ..base(self.options, target, stream) };
        let observe = &mut *self.observe;
        let engine_observe = &mut |event: &Event| observe(Progress::Engine(event));
        let mut measurement =
            measure(&workload, self.prepared, self.site, self.stop, engine_observe)?;
        measurement.checks.tool_ceiling_iops = self.found.tool_ceiling_iops;
        if measurement.status != Status::Complete {
            self.found.status = measurement.status;
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

    /// Lets the storage work off what was written before.
    fn settle(&self) {
        if self.options.engine == EngineChoice::Sim {
            return;
        }
        let until = Instant::now() + Duration::from_secs_f64(self.timing.settle_s);
        while Instant::now() < until && !self.is_over() {
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
        half_width_percent: None,
    }
}
