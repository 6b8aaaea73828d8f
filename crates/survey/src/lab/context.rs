//! What surrounds an experiment: who hears of it, who can end it, and what there is of it already.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::AtomicBool;

use engine::Event;
use jiff::Timestamp;
use results::Measurement;
use workload::{Bytes, Stream, Workload};

use super::clock::LabClock;
use crate::forecast::LabForecast;

/// What an experiment reports while it runs.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The experiment begins; comes once, before it measures.
    Began {
        /// Its unique name, which its document will carry.
        id: &'a str,
        /// The present moment: UTC, RFC 3339.
        started: &'a str,
    },
    /// A step of the experiment begins.
    Step {
        /// Its number in the experiment, from 1.
        number: usize,
        /// Steps of the whole experiment, as far as is known now.
        of: usize,
        /// What the step measures, in words.
        title: &'a str,
        /// How long it and those after it may take, by how long those before took; absent if that
        /// is not known.
        seconds_left: Option<f64>,
    },
    /// What the engine does within it.
    Engine(&'a Event),
    /// A measurement is finished. The recorder keeps it now, before the next begins.
    Measured(&'a Measurement),
}

impl<'a> Progress<'a> {
    /// The step before the first that measures.
    pub(crate) fn before(title: &'a str) -> Self {
        Progress::Step { number: 1, of: 1, title, seconds_left: None }
    }
}

/// What surrounds an experiment: who can end it, who hears of it, and what there is of it already.
pub struct LabContext<'a> {
    /// The experiment ends early once it is set.
    pub stop: &'a AtomicBool,
    /// Hears what happens.
    pub observe: &'a mut dyn FnMut(Progress<'_>),
    /// Of an experiment that was interrupted, what it measured.
    pub record: Option<LabRecord>,
    /// What the experiment is expected to do, by which the time left is told.
    pub foreseen: Option<LabForecast>,
    /// Is told of each measurement: of an experiment that is a forecast.
    pub foresees: Option<&'a mut LabForecast>,
    /// How far it is, if it has had another lab.
    pub course: LabCourse,
}

impl<'a> LabContext<'a> {
    /// Of an experiment that begins now.
    pub fn new(stop: &'a AtomicBool, observe: &'a mut dyn FnMut(Progress<'_>)) -> Self {
        let course = LabCourse::default();
        Self { stop, observe, record: None, foreseen: None, foresees: None, course }
    }

    /// The same for no longer than this.
    #[must_use]
    pub fn within<'b>(self) -> LabContext<'b>
    where
        'a: 'b,
    {
        let Self { stop, observe, record, foreseen, foresees, course } = self;
        LabContext { stop, observe, record, foreseen, foresees, course }
    }

    /// The same for one of several labs that follow each other, which gives the course back at its
    /// end.
    pub(crate) fn lend(&mut self) -> LabContext<'_> {
        LabContext {
            stop: self.stop,
            observe: &mut *self.observe,
            record: None,
            foreseen: None,
            foresees: self.foresees.as_deref_mut(),
            course: std::mem::take(&mut self.course),
        }
    }

    /// The sizes that the targets had when the next answer was measured, in bytes; none if nothing
    /// is recorded.
    pub(crate) fn target_bytes(&mut self) -> Option<Vec<u64>> {
        self.begin().answer().map(Measurement::target_bytes)
    }

    /// Reports that targets are made ready.
    pub(super) fn report_preparing(&mut self) {
        let LabCourse { step, steps, .. } = self.course;
        let (number, of) = (step, steps);
        (self.observe)(Progress::Step { number, of, title: "preparing", seconds_left: None });
    }

    /// The experiment begins, unless it has: now, or when the one began that is resumed.
    pub(crate) fn begin(&mut self) -> &mut LabCourse {
        if self.course.begun.is_none() {
            let begun = Start::of(self);
            self.course = LabCourse {
                begun: Some(begun),
                clock: LabClock::new(self.foreseen.take()),
                record: self.record.take().map_or_else(VecDeque::new, |r| r.measurements.into()),
                step: 1,
                steps: 1,
                ..LabCourse::default()
            };
        }
        &mut self.course
    }
}

/// How far an experiment is: what lasts from one of its labs to the next.
#[derive(Debug, Default)]
pub struct LabCourse {
    pub(super) begun: Option<Start>,
    pub(super) step: usize,
    pub(super) steps: usize,
    pub(super) clock: LabClock,
    /// Answers to the next steps.
    pub(super) record: VecDeque<Measurement>,
    /// How many measurements were made.
    pub(super) made: usize,
    /// How many steps were answered, and which versions of the program had made these measurements.
    pub(super) answered: (usize, BTreeSet<String>),
}

impl LabCourse {
    /// The measurement that answers the next step; `None` if it is to be made.
    pub(crate) fn answer(&self) -> Option<&Measurement> {
        self.record.front()
    }

    pub(super) fn take_answer(&mut self) -> Option<Measurement> {
        let answer = self.record.pop_front()?;
        self.answered.0 += 1;
        self.answered.1.insert(answer.tool_version.clone());
        Some(answer)
    }

    /// The answer to a step that needs no targets to be ready, if the record has one of these
    /// streams with this seed.
    pub(crate) fn recall(&mut self, streams: &[Stream], seed: u64) -> Option<Measurement> {
        let Workload { streams: measured, seed: with, .. } = &self.answer()?.workload;
        let is_same = *with == seed && is_same_load(measured, streams);
        self.step += usize::from(is_same);
        if is_same { self.take_answer() } else { None }
    }

    /// Takes the answers away until they are put back, if the next one is for later.
    pub(crate) fn set_aside(
        &mut self,
        is_later: impl FnOnce(&Measurement) -> bool,
    ) -> VecDeque<Measurement> {
        let goes = self.answer().is_some_and(is_later);
        if goes { std::mem::take(&mut self.record) } else { VecDeque::new() }
    }

    pub(crate) fn put_back(&mut self, answers: VecDeque<Measurement>) {
        self.record.extend(answers);
    }

    /// Name and beginning of the experiment.
    pub(crate) fn begun(&self) -> (String, String) {
        let begun = self.begun.as_ref();
        begun.map_or_else(Default::default, |b| (b.id.clone(), b.started.clone()))
    }

    /// What was measured before an interruption, in a sentence.
    pub(crate) fn method(&self) -> Option<String> {
        let (count, versions) = &self.answered;
        let own = env!("CARGO_PKG_VERSION");
        let others: Vec<&str> =
            versions.iter().map(String::as_str).filter(|version| *version != own).collect();
        let by = match others.as_slice() {
            [] => String::new(),
            others => format!(", by iosonde {}", others.join(" and ")),
        };
        (*count > 0).then(|| {
            format!(
                "The experiment was interrupted and resumed: its first {count} measurements were \
                 made before{by}, and were not repeated."
            )
        })
    }
}

/// An experiment that was interrupted. Its first steps are answered from here as long as they are
/// the same; after that, the lab measures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabRecord {
    /// Unique name of the experiment.
    pub id: String,
    /// When it began: UTC, RFC 3339.
    pub started: String,
    /// In the order in which they were made.
    pub measurements: Vec<Measurement>,
}

/// Name and beginning of an experiment.
#[derive(Debug)]
pub(super) struct Start {
    id: String,
    started: String,
}

impl Start {
    /// An experiment that begins now or is resumed, as its events announce it.
    fn of(context: &mut LabContext<'_>) -> Self {
        let begun = if let Some(LabRecord { id, started, .. }) = &context.record {
            Self { id: id.clone(), started: started.clone() }
        } else {
            let now = Timestamp::now();
            Self { id: engine::new_id(now), started: now.to_string() }
        };
        (context.observe)(Progress::Began { id: &begun.id, started: &begun.started });
        begun
    }
}

/// Whether streams differ in nothing but where sequential reads begin, which depends on the target.
fn is_same_load(one: &[Stream], other: &[Stream]) -> bool {
    let anywhere = |stream: &Stream| Stream { begin_bytes: Bytes(0), ..stream.clone() };
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| anywhere(a) == anywhere(b))
}

/// In what a load that was measured differs from the one that is asked for, if it does. Targets may
/// have other names by now, and hosts give the length of intervals and the precision.
pub(super) fn difference(measured: &Workload, asked: &Workload) -> Option<String> {
    let Workload { streams, seed, seconds, warmup_seconds, mode, sim, .. } = asked;
    let is_same = measured.streams == *streams
        && measured.seed == *seed
        && (measured.seconds - seconds).abs() < 1e-9
        && (measured.warmup_seconds - warmup_seconds).abs() < 1e-9
        && measured.mode == *mode
        && measured.sim == *sim;
    let shown = |workload: &Workload| {
        let titles: Vec<String> = workload.streams.iter().map(Stream::title).collect();
        let (titles, in_flight) = (titles.join(" + "), workload.in_flight());
        let Workload { seconds, seed, .. } = workload;
        format!("{titles}, {in_flight} in flight, {seconds} s, seed {seed}")
    };
    let (then, now) = (shown(measured), shown(asked));
    let other = if then == now { ", with other details" } else { "" };
    (!is_same).then(|| format!("it measured {then}, and the plan asks for {now}{other}"))
}
