//! What surrounds an experiment: who hears of it, who can end it, and what there is of it already.

use std::sync::atomic::AtomicBool;

use engine::Event;
use jiff::Timestamp;
use results::Measurement;
use workload::{Stream, Workload};

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
    /// A measurement is finished and kept already.
    Kept(&'a Measurement),
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
}

impl<'a> LabContext<'a> {
    /// Of an experiment that begins now.
    pub fn new(stop: &'a AtomicBool, observe: &'a mut dyn FnMut(Progress<'_>)) -> Self {
        Self { stop, observe, record: None, foreseen: None, foresees: None }
    }

    /// The same for no longer than this.
    #[must_use]
    pub fn within<'b>(self) -> LabContext<'b>
    where
        'a: 'b,
    {
        let Self { stop, observe, record, foreseen, foresees } = self;
        LabContext { stop, observe, record, foreseen, foresees }
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

impl LabRecord {
    /// The sizes of the targets, in bytes; none if nothing was measured.
    pub(crate) fn target_bytes(&self) -> Option<Vec<u64>> {
        let first = self.measurements.first()?;
        Some(first.targets.iter().map(|target| target.file_bytes).collect())
    }
}

/// Name and beginning of an experiment.
pub(crate) struct Start {
    pub(crate) id: String,
    pub(crate) started: String,
}

impl Start {
    /// An experiment that begins now or is resumed, as its events announce it.
    pub(crate) fn of(context: &mut LabContext<'_>) -> Self {
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
