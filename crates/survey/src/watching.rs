//! What looks at a run while it continues: the kernel's counters at the edges of the window, and
//! the rule that ends it.

use analysis::phases;
use analysis::steady::{Rule, Steady, Watch};
use counters::{Sample, Sampler};
use engine::{Event, Go, Observer, Start};
use results::Point;
use workload::{Precision, Workload};

/// Samples of the counters that are kept while the beginning of the window may still turn out to be
/// warm-up.
const SAMPLES_MAX: usize = 128;

/// Passes every event on, and notes what it needs of it.
pub(crate) struct Watching<'a> {
    pass_on: &'a mut dyn Observer,
    sampler: Option<Sampler>,
    /// Time in the window, and what the counters were then; the first is of its beginning.
    samples: Vec<(f64, Sample)>,
    end: Option<Sample>,
    /// Intervals between two samples that are kept.
    every: usize,
    intervals: usize,
    rule: Option<Ending>,
}

/// The rule that may end the window.
struct Ending {
    precision: Precision,
    watch: Watch,
    writes: bool,
    bucket_s: f64,
    written_mib: f64,
}

impl<'a> Watching<'a> {
    /// A watcher of one run of this workload.
    pub(crate) fn new(
        workload: &Workload,
        sampler: Option<Sampler>,
        pass_on: &'a mut dyn Observer,
    ) -> Self {
        let bucket_s = workload.interval_ns.0 as f64 / 1e9;
        let rule = workload.precision.map(|precision| {
            let rule = Rule {
                precision_percent: precision.percent,
                at_least_s: precision.at_least_seconds,
                at_most_s: workload.seconds,
            };
            let writes = workload.streams.iter().any(workload::Stream::writes);
            let watch = Watch::new(rule, bucket_s);
            Ending { precision, watch, writes, bucket_s, written_mib: 0.0 }
        });
        Self { pass_on, sampler, samples: Vec::new(), end: None, every: 1, intervals: 0, rule }
    }

    /// What the counters were at the beginning of a window that began so much later than planned,
    /// and at its end.
    pub(crate) fn edges(&self, cut_s: f64) -> Option<(&Sample, &Sample)> {
        let begin = self.samples.iter().find(|(at_s, _)| *at_s >= cut_s - 1e-9)?;
        Some((&begin.1, self.end.as_ref()?))
    }

    /// How well the mean is known, where a rule was watching.
    pub(crate) fn steady(&self) -> Option<Steady> {
        self.rule.as_ref().map(|rule| rule.watch.conclude())
    }

    fn sample(&mut self, at_s: f64) {
        if let Some(sampler) = &mut self.sampler
            && let Ok(sample) = sampler.sample()
        {
            self.samples.push((at_s, sample));
        }
    }

    fn interval(&mut self, point: &Point) -> Go {
        let Some(rule) = &mut self.rule else { return Go::On };
        let go = rule.interval(point);
        self.intervals += 1;
        if self.intervals.is_multiple_of(self.every) {
            if self.samples.len() >= SAMPLES_MAX {
                // Every other one goes, the first stays.
                let mut number = 0;
                self.samples.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.every *= 2;
            }
            self.sample(point.t);
        }
        go
    }
}

impl Ending {
    fn interval(&mut self, point: &Point) -> Go {
        let iops = point.read_iops + point.write_iops;
        self.written_mib += point.write_mib_per_s * point.seconds;
        let enough_written = self.written_mib * 1_048_576.0
            >= self.precision.written_bytes.0 as f64
            || point.t >= self.precision.written_seconds;
        let may_stop = !self.writes || enough_written;
        if self.watch.push(iops, may_stop) { Go::Enough } else { Go::On }
    }

    /// What comes before the figures that count: the warm-up, or all that a cache took in or
    /// credits paid for.
    fn warm_up_s(&self) -> f64 {
        let cut_s = self.watch.conclude().cut_s;
        let burst = phases::write_cache(self.watch.series(), self.bucket_s);
        burst.map_or(cut_s, |burst| cut_s.max(burst.at_s))
    }
}

impl Observer for Watching<'_> {
    fn event(&mut self, event: &Event) -> Go {
        let go = match event {
            Event::WindowBegan { .. } => {
                self.sample(0.0);
                Go::On
            }
            Event::WindowEnded => {
                self.end = self.sampler.as_mut().and_then(|sampler| sampler.sample().ok());
                Go::On
            }
            Event::Interval { point, .. } => self.interval(point),
            _ => Go::On,
        };
        self.pass_on.event(event);
        go
    }

    fn start(&mut self) -> Start {
        self.pass_on.start()
    }

    fn warm_up_s(&mut self) -> f64 {
        self.rule.as_ref().map_or(0.0, Ending::warm_up_s)
    }
}
