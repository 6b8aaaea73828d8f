//! Where experiments are made: targets that are ready, and one measurement after the other on them.
//!
//! What all experiments share is here: seeds that differ from one measurement to the next, the rule
//! that ends a measurement, the pause before the next, progress, and the document at the end.

mod clock;
mod context;
mod rest;
mod setup;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::{EngineError, Event, Permissions, PrepareError, PreparedTarget};
use jiff::Timestamp;
use results::{Conclusion, Environment, Experiment, Measurement, Status};
use workload::{Bytes, Pattern, Stream, TargetFacts, Violation, Workload, show_duration};

use crate::bench::{Bench, Stand, Standing};
use crate::ceiling;
use crate::doubts;
use crate::forecast::LabForecast;
use clock::seconds_of;
use context::difference;

pub use context::{LabContext, LabCourse, LabRecord, Progress};
pub(crate) use rest::AFTER_WRITES_S;
pub use setup::{Setup, Timing};

/// Sequential reads begin at a multiple of this.
const BEGIN_BYTES: u64 = 1 << 20;

/// Where a step has its measurement from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepOrigin {
    /// It was made here.
    Made,
    /// The record had it.
    Recorded,
    /// The record is not one of this plan, so there is none.
    Refused,
}

/// An experiment in progress, with its targets.
pub struct Lab<'a> {
    setup: Setup,
    stand: Box<dyn Stand + 'a>,
    stop: &'a AtomicBool,
    observe: &'a mut dyn FnMut(Progress<'_>),
    course: LabCourse,
    status: Status,
    /// What ended it, when it was not I/O.
    error: Option<String>,
    measurements: u64,
    /// The title of a step that was not reported yet: it may be answered from the record.
    title: Option<String>,
    foresees: Option<&'a mut LabForecast>,
    /// Where the last measurement came from.
    origin: StepOrigin,
    wrote: bool,
    /// Sequential reads begin at the beginning of their span and cover all of it.
    in_place: bool,
}

impl<'a> Lab<'a> {
    /// Makes the targets of this host ready for streams that do what this one does.
    ///
    /// Test files are made and filled here, and removed when the lab is dropped.
    ///
    /// # Errors
    /// A target cannot be made ready.
    pub fn open(
        setup: Setup,
        stream: &Stream,
        context: LabContext<'a>,
    ) -> Result<Self, PrepareError> {
        let workload = setup.workload(vec![stream.clone()]);
        Self::open_here(setup, &workload, context)
    }

    /// The same for what a whole workload does.
    pub(crate) fn open_here(
        setup: Setup,
        workload: &Workload,
        context: LabContext<'a>,
    ) -> Result<Self, PrepareError> {
        Self::ready(setup, workload, context, |workload, permissions, stop, observe| {
            Ok(Box::new(Standing::open(workload, permissions, stop, observe)?))
        })
    }

    /// The same wherever the targets are.
    ///
    /// # Errors
    /// A target cannot be made ready.
    pub fn open_on(
        bench: &'a mut dyn Bench,
        setup: Setup,
        stream: &Stream,
        context: LabContext<'a>,
    ) -> Result<Self, PrepareError> {
        let workload = setup.workload(vec![stream.clone()]);
        Self::open_for(bench, setup, &workload, context)
    }

    /// The same for what any of several workloads does.
    pub(crate) fn open_for(
        bench: &'a mut dyn Bench,
        setup: Setup,
        workload: &Workload,
        context: LabContext<'a>,
    ) -> Result<Self, PrepareError> {
        Self::ready(setup, workload, context, |workload, permissions, stop, observe| {
            bench.prepare(workload, permissions, stop, observe)
        })
    }

    fn ready(
        setup: Setup,
        workload: &Workload,
        mut context: LabContext<'a>,
        prepare: impl FnOnce(
            &Workload,
            &Permissions,
            &AtomicBool,
            &mut dyn FnMut(&Event),
        ) -> Result<Box<dyn Stand + 'a>, PrepareError>,
    ) -> Result<Self, PrepareError> {
        context.begin();
        context.report_preparing();
        let mut engine_observe = |event: &Event| (context.observe)(Progress::Engine(event));
        let stand = prepare(workload, &setup.permissions, context.stop, &mut engine_observe)?;
        Self::on(setup, stand, context)
    }

    /// A lab on targets that are ready.
    ///
    /// # Errors
    /// They are not those that the record was made on.
    pub(crate) fn on(
        setup: Setup,
        stand: Box<dyn Stand + 'a>,
        mut context: LabContext<'a>,
    ) -> Result<Self, PrepareError> {
        context.begin();
        let LabContext { stop, observe, foresees, course, .. } = context;
        let lab = Self {
            setup,
            stand,
            stop,
            observe,
            course,
            status: Status::Complete,
            error: None,
            measurements: 0,
            title: None,
            foresees,
            origin: StepOrigin::Made,
            // What the fill has left in caches is worked off first.
            wrote: true,
            in_place: false,
        };
        lab.course.answer().map_or(Ok(()), |before| lab.check_targets(before))?;
        Ok(lab)
    }

    /// Refuses targets other than those that this was measured on, or of another size. A plan may
    /// name its targets from a directory that is not the present one.
    pub(crate) fn check_targets(&self, before: &Measurement) -> Result<(), PrepareError> {
        let refuse = |field: &str, then: String, value: String| {
            let rule = format!(
                "what is there already was measured on {then}; give back that target, or begin anew"
            );
            Err(PrepareError::Invalid(vec![Violation { field: field.to_owned(), value, rule }]))
        };
        let paths: Vec<_> = before.workload.targets.iter().map(|t| t.path.clone()).collect();
        if paths != self.targets() {
            return refuse("target", format!("{paths:?}"), format!("{:?}", self.targets()));
        }
        let sizes = before.target_bytes();
        let now: Vec<u64> = self.facts().iter().map(|facts| facts.size_bytes).collect();
        if sizes != now {
            return refuse("size", format!("{sizes:?} bytes"), format!("{now:?} bytes"));
        }
        Ok(())
    }

    /// The lab ends, and what lasts goes on to the next one of the same experiment.
    pub(crate) fn leave(self) -> LabCourse {
        self.course
    }

    /// Sequential reads cover all of their span in every measurement, from its beginning.
    pub fn stay_in_place(&mut self) {
        self.in_place = true;
    }

    /// Why these streams cannot be measured here, where they cannot. To measure them all the same
    /// ends the experiment.
    #[must_use]
    pub fn unfit(&self, streams: &[Stream]) -> Option<String> {
        let workload = self.setup.workload(streams.to_vec());
        let mut violations = workload.violations();
        violations.extend(workload.violations_on(&self.facts()));
        let violation = violations.first().map(ToString::to_string);
        violation.or_else(|| self.stand.unfit(&workload))
    }

    /// On what it works, and how.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The targets, ready for I/O; empty if they are on other hosts.
    #[must_use]
    pub fn prepared(&self) -> &[PreparedTarget] {
        self.stand.targets()
    }

    /// What is known of each target.
    #[must_use]
    pub fn facts(&self) -> Vec<TargetFacts> {
        self.stand.facts()
    }

    /// How it is measured here, as far as that is not the same everywhere, and what was measured
    /// before an interruption.
    pub(crate) fn method(&self) -> Vec<String> {
        self.stand.method().into_iter().chain(self.course.method()).collect()
    }

    /// What is known of the content of each target, in a phrase.
    pub(crate) fn contents(&self) -> Vec<String> {
        self.stand.contents()
    }

    /// The host and the storage of the experiment.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        self.stand.environment()
    }

    /// How many more steps there will be, as far as is known now.
    pub fn expect_steps(&mut self, more: usize) {
        self.course.steps = self.course.step + more;
    }

    /// So many of the expected steps are not needed: they count as done, so that the total that
    /// people have read stays.
    pub fn expect_fewer(&mut self, steps: usize) {
        self.course.step = self.course.steps.min(self.course.step + steps);
    }

    /// Begins a step; its title is reported unless the record answers it.
    pub fn begin(&mut self, title: &str) {
        self.course.step += 1;
        self.course.steps = self.course.steps.max(self.course.step);
        self.rename(title);
    }

    /// Gives the step another title, for another part of it.
    pub(crate) fn rename(&mut self, title: &str) {
        self.title = Some(title.to_owned());
        if self.course.record.is_empty() {
            self.report_step();
        }
    }

    /// Begins a step once the storage is idle, after at most `pause_s` seconds; how long that took.
    /// A simulated device is idle, and a forecast says how long it would usually take.
    pub(crate) fn begin_rested(&mut self, title: &str, pause_s: f64, wrote: bool) -> f64 {
        let rests = pause_s > 0.0 && self.course.answer().is_none();
        if rests && self.foresees.is_some() {
            self.course.clock.spent_s += rest::usual_s(pause_s, wrote);
        }
        if !rests || self.setup.engine.is_artificial() {
            self.begin(title);
            return 0.0;
        }
        self.begin(&format!("pause of at most {}, then {title}", show_duration(pause_s)));
        let storage = &self.environment().storage;
        let devices: Vec<String> =
            storage.iter().filter_map(|s| s.counted_device.clone()).collect();
        let rested_s = rest::rest(&devices, pause_s, wrote, self.stop);
        self.course.clock.spent_s += rested_s;
        self.rename(title);
        rested_s
    }

    fn report_step(&mut self) {
        let Some(title) = self.title.take() else { return };
        let LabCourse { step: number, steps: of, answered, made, clock, .. } = &mut self.course;
        let (number, of) = (*number, *of);
        let seconds_left = clock.seconds_left((number, of), answered.0 + *made);
        let title = title.as_str();
        (self.observe)(Progress::Step { number, of, title, seconds_left });
    }

    /// What this program reaches on this host without any I/O, as a step; `None` where that says
    /// nothing.
    pub(crate) fn tool_ceiling(&mut self) -> Option<f64> {
        // Of other hosts, this one says nothing.
        let elsewhere = self.prepared().is_empty();
        if self.setup.engine.is_artificial() || self.is_over() || elsewhere {
            return None;
        }
        self.begin("measuring the tool's own ceiling");
        if let Some(first) = self.course.answer() {
            return first.checks.tool_ceiling_iops;
        }
        ceiling::tool_ceiling(self.stop)
    }

    /// The measurement that answers the next step; `None` if it is to be made.
    pub(crate) fn answer(&self) -> Option<&Measurement> {
        self.course.answer()
    }

    /// Whether a signal or an error has ended the experiment.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.status != Status::Complete || self.stop.load(Ordering::Relaxed)
    }

    /// The status of the experiment, so far or at its end.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.status {
            Status::Complete if self.stop.load(Ordering::Relaxed) => Status::Interrupted,
            status => status,
        }
    }

    /// One measurement by the timing of the setup; `None` if the experiment is over before its
    /// window began.
    ///
    /// An engine that cannot run ends the experiment: what was measured until then stays, and the
    /// document says why.
    pub fn measure(&mut self, streams: Vec<Stream>) -> Option<Measurement> {
        self.measure_for(streams, self.setup.timing)
    }

    /// One measurement with its own timing.
    pub fn measure_for(&mut self, streams: Vec<Stream>, timing: Timing) -> Option<Measurement> {
        // Every measurement has different offsets. With the offsets of the previous one, caches
        // below the operating system would hold exactly what is asked for, however large the file
        // is.
        self.measurements += 1;
        let seed = mix(self.setup.seed, self.measurements);
        self.measure_seeded(streams, timing, seed)
    }

    /// One measurement with a seed that does not depend on how many came before.
    pub fn measure_seeded(
        &mut self,
        streams: Vec<Stream>,
        timing: Timing,
        seed: u64,
    ) -> Option<Measurement> {
        let place = |stream| if self.in_place { stream } else { self.elsewhere(stream, seed) };
        let streams = streams.into_iter().map(place).collect();
        let workload = Workload { seed, ..self.setup.timed(streams, timing) };
        self.measure_workload(&workload, timing.settle_seconds)
    }

    /// Does a whole workload, which is on the targets of the lab.
    pub(crate) fn measure_workload(
        &mut self,
        workload: &Workload,
        settle_seconds: f64,
    ) -> Option<Measurement> {
        if self.is_over() {
            return None;
        }
        let Some(next) = self.course.answer() else {
            self.origin = StepOrigin::Made;
            self.report_step();
            let made = self.make(workload, settle_seconds);
            if made.is_some() {
                self.course.made += 1;
                if let Some(forecast) = &mut self.foresees {
                    forecast.push(self.course.clock.spent_s);
                }
            }
            return made;
        };
        if let Some(difference) = difference(&next.workload, workload) {
            self.refuse_record(&difference);
            return None;
        }
        let answer = self.course.take_answer()?;
        self.origin = StepOrigin::Recorded;
        if answer.status != Status::Complete {
            self.status = answer.status;
        }
        Some(answer)
    }

    /// Makes a measurement that no record answers, and that is not a step.
    pub(crate) fn make_unrecorded(
        &mut self,
        streams: Vec<Stream>,
        timing: Timing,
        seed: u64,
    ) -> Option<Measurement> {
        let workload = Workload { seed, ..self.setup.timed(streams, timing) };
        self.report_step();
        self.make(&workload, timing.settle_seconds)
    }

    fn make(&mut self, workload: &Workload, settle_seconds: f64) -> Option<Measurement> {
        let writes = workload.streams.iter().any(Stream::writes);
        let pauses = writes || self.wrote;
        if pauses {
            self.settle(settle_seconds);
        }
        if self.is_over() {
            return None;
        }
        let observe = &mut *self.observe;
        let engine_observe = &mut |event: &Event| observe(Progress::Engine(event));
        self.wrote = writes;
        match self.stand.measure(workload, self.stop, engine_observe) {
            // The signal is what ends the experiment.
            Err(EngineError::CalledOff) if self.stop.load(Ordering::Relaxed) => None,
            Err(error) => {
                self.fail(&error.to_string());
                None
            }
            Ok(measurement) => {
                if measurement.status != Status::Complete {
                    self.status = measurement.status;
                }
                let settled_s = if pauses { settle_seconds } else { 0.0 };
                self.course.clock.spent_s += settled_s + seconds_of(&measurement);
                (measurement.seconds > 0.0).then_some(measurement)
            }
        }
    }

    fn refuse_record(&mut self, difference: &str) {
        self.origin = StepOrigin::Refused;
        let number = self.course.answered.0 + 1;
        self.fail(&format!(
            "measurement {number} of the interrupted experiment does not fit its plan: \
             {difference}; begin anew"
        ));
    }

    /// The stream, beginning where the seed decides if it reads in order: a cache that holds what
    /// the last measurement read must not answer this one.
    fn elsewhere(&self, stream: Stream, seed: u64) -> Stream {
        let in_order = matches!(stream.pattern, Pattern::Sequential | Pattern::SequentialShared);
        if !in_order || stream.writes() {
            return stream;
        }
        let facts = self.facts();
        let sizes = stream.target_indexes(facts.len()).into_iter();
        let smallest = sizes.filter_map(|t| facts.get(t)).map(|f| f.size_bytes).min();
        let rest = smallest.unwrap_or(0).saturating_sub(stream.offset_bytes.0);
        let span = stream.span_bytes.map_or(rest, |span| span.0);
        let places = (span / BEGIN_BYTES).max(1);
        Stream { begin_bytes: Bytes(seed % places * BEGIN_BYTES), ..stream }
    }

    /// Whether the last measurement came from the record.
    pub(crate) fn is_answer(&self) -> bool {
        self.origin == StepOrigin::Recorded
    }

    /// Where it measures.
    pub(crate) fn stand(&self) -> &dyn Stand {
        &*self.stand
    }

    /// Another lab measured meanwhile, and may have written to what this one measures.
    pub(crate) fn follow(&mut self, wrote: bool) {
        self.wrote = wrote;
        self.expect_fewer(1);
    }

    /// Whether the last measurement wrote.
    pub(crate) fn has_written(&self) -> bool {
        self.wrote
    }

    /// Continues after a measurement that could not be made; why not. A record that does not fit
    /// stays refused.
    pub(crate) fn forgive(&mut self) -> Option<String> {
        if self.origin == StepOrigin::Refused {
            return None;
        }
        self.status = Status::Complete;
        self.error.take()
    }

    /// Continues after a measurement that failed in a way that the experiment allows for.
    pub(crate) fn go_on(&mut self) {
        if self.error.is_none() {
            self.status = Status::Complete;
        }
    }

    /// Gives a finished measurement to the recorder, which has those of the record already.
    pub fn keep(&mut self, measurement: &Measurement) {
        if !self.is_answer() {
            (self.observe)(Progress::Measured(measurement));
        }
    }

    fn fail(&mut self, error: &str) {
        self.status = Status::Failed;
        self.error = Some(format!("the experiment ended early: {error}"));
    }

    /// What ended the experiment, when it was not I/O.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Waits until the storage has done its earlier writes. Simulated time need not pass: every
    /// simulated run begins with an idle device.
    pub fn settle(&self, seconds: f64) {
        if self.setup.engine.is_artificial() {
            return;
        }
        let until = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0));
        while Instant::now() < until && !self.is_over() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Makes the document of the experiment.
    #[must_use]
    pub fn document<C: Conclusion>(
        &self,
        conclusion: C,
        measurements: Vec<Measurement>,
        mut method: Vec<String>,
    ) -> Experiment<C> {
        method.extend(self.method());
        let (id, started) = self.begun();
        let named = measurements.iter().map(|m| ("", m));
        let mut warnings = doubts::each_once(named);
        // The error that ended the experiment explains missing figures.
        warnings.splice(0..0, self.error.clone());
        Experiment {
            plan: None,
            schema: C::SCHEMA.to_owned(),
            id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            finished: Timestamp::now().to_string(),
            status: self.status(),
            targets: self.targets(),
            file_bytes: self.facts().iter().map(|f| f.size_bytes).sum(),
            environment: self.environment().clone(),
            conclusion,
            measurements,
            method,
            warnings,
        }
    }

    /// The name of the experiment, and when it began.
    pub(crate) fn begun(&self) -> (String, String) {
        self.course.begun()
    }

    /// The whole paths of the targets.
    pub(crate) fn targets(&self) -> Vec<PathBuf> {
        self.setup.targets.iter().map(|t| self.stand.resolved(&t.path)).collect()
    }
}

/// A separate seed per measurement; the same options give the same seeds.
pub(crate) fn mix(seed: u64, number: u64) -> u64 {
    let mixed =
        (seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 31)
}
