//! The content of the screen as data: events go in, nothing is drawn here and no clock is read.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use engine::{Event, WorkerNames, WorkerPoint};
use report::text::clean;
use workload::show_number;

use super::figure::{Figure, Span};
use super::validation::Validated;
use super::{About, ScreenEvent};

/// The most messages that are kept.
const MESSAGES: usize = 200;

/// The current phase of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    /// Nothing is measured: targets are looked at or made ready, or storage rests.
    GettingReady,
    /// A test file is being written.
    Filling { path: String, done_bytes: u64, total_bytes: u64, bytes_per_s: f64 },
    /// I/O runs that does not count.
    WarmingUp { seconds: f64 },
    /// The measured window: so much of it is over and so much left, as far as was heard.
    Window { done_s: f64, left_s: f64, interval_s: f64 },
    /// The window is over, and the run ends.
    Ending,
}

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Plain,
    Warning,
    Error,
}

/// What the processors do, percent of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cpu {
    /// Everybody's work; absent if the system does not tell.
    pub host: Option<f64>,
    /// The CPU share of iosonde itself.
    pub own: Option<f64>,
}

/// What people may look at on demand.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct View {
    pub workers: bool,
    pub help: bool,
    /// Workers above the first that is shown.
    pub skipped: usize,
}

/// All data that the screen shows.
#[derive(Debug)]
pub(super) struct Model {
    pub about: About,
    /// The step: number, of how many, title.
    pub step: Option<(usize, usize, String)>,
    pub phase: Phase,
    /// When the phase, or the last interval of the window, was heard of.
    pub phase_at: Duration,
    pub iops: Figure,
    pub mib: Figure,
    pub mean_ns: Figure,
    pub max_ns: Figure,
    pub p99_ns: Figure,
    pub cpu: Figure,
    pub own_cpu: Option<f64>,
    /// The figures of the latest second.
    pub now: Option<Span>,
    /// The figures of the window so far.
    pub window: Span,
    /// Points that make no second yet.
    gathered: Span,
    /// Failed I/Os since the screen began.
    pub errors: u64,
    pub messages: VecDeque<(Weight, String)>,
    pub workers: Option<(Arc<WorkerNames>, Arc<[WorkerPoint]>)>,
    /// They are the hosts of a fleet.
    pub are_hosts: bool,
    /// The most there were, so that nothing moves between two measurements.
    pub workers_most: usize,
    pub view: View,
    /// There where it is a validation.
    pub validated: Option<Validated>,
}

impl Model {
    /// A model before the first event.
    pub(super) fn new(about: About) -> Self {
        let About { kind, title, targets } = about;
        Self {
            about: About { kind, title: clean(&title), targets: clean(&targets) },
            step: None,
            phase: Phase::GettingReady,
            phase_at: Duration::ZERO,
            iops: Figure::default(),
            mib: Figure::default(),
            mean_ns: Figure::default(),
            max_ns: Figure::default(),
            p99_ns: Figure::default(),
            cpu: Figure::default(),
            own_cpu: None,
            now: None,
            window: Span::default(),
            gathered: Span::default(),
            errors: 0,
            messages: VecDeque::new(),
            workers: None,
            are_hosts: false,
            workers_most: 1,
            view: View::default(),
            validated: None,
        }
    }

    /// Hears what happened, so long after the screen began.
    pub(super) fn hear(&mut self, heard: &ScreenEvent, at: Duration) {
        match heard {
            ScreenEvent::Step { number, of, title } => {
                self.step = Some((*number, *of, clean(title)));
                self.enter(Phase::GettingReady, at);
                self.pause();
            }
            ScreenEvent::Engine(event) => self.event(event, at),
            ScreenEvent::Measured { title, iops, mib_per_s } => {
                let (iops, mib) = (show_number(*iops), show_number(*mib_per_s));
                self.say(Weight::Plain, &format!("{iops} IOPS, {mib} MiB/s: {title}"));
                self.enter(Phase::GettingReady, at);
            }
            ScreenEvent::Validation(event) => {
                if let integrity::Event::Notice(notice) = event {
                    self.say(Weight::Error, &notice.text);
                }
                self.validated.get_or_insert_default().hear(event, at);
            }
            ScreenEvent::Message(text) => {
                let weight = match text.split_once(':') {
                    Some(("warning", _)) => Weight::Warning,
                    Some(("error", _)) => Weight::Error,
                    _ => Weight::Plain,
                };
                text.lines().for_each(|line| self.say(weight, line));
            }
        }
    }

    /// Takes the latest load of the processors.
    pub(super) fn cpu(&mut self, cpu: Cpu) {
        self.cpu.push(cpu.host);
        self.own_cpu = cpu.own;
    }

    fn event(&mut self, event: &Event, at: Duration) {
        match event {
            Event::Filling { path, done_bytes, total_bytes, bytes_per_s } => {
                let (done_bytes, total_bytes) = (*done_bytes, *total_bytes);
                let path = clean(&path.to_string_lossy());
                let bytes_per_s = *bytes_per_s;
                self.enter(Phase::Filling { path, done_bytes, total_bytes, bytes_per_s }, at);
            }
            Event::WarmingUp { seconds } => {
                self.pause();
                self.enter(Phase::WarmingUp { seconds: *seconds }, at);
            }
            Event::WindowBegan { seconds } => {
                (self.window, self.gathered) = (Span::default(), Span::default());
                let phase = Phase::Window { done_s: 0.0, left_s: *seconds, interval_s: *seconds };
                self.enter(phase, at);
            }
            Event::Interval { point, seconds_left } => {
                let (done_s, left_s) = (point.t, *seconds_left);
                self.enter(Phase::Window { done_s, left_s, interval_s: point.seconds }, at);
                self.interval(&Span::of(point));
            }
            Event::Workers { names, points } => {
                self.workers_most = self.workers_most.max(points.len());
                if names.streams == ["host"] && !self.are_hosts {
                    // Who starts a fleet wants to see its hosts.
                    (self.are_hosts, self.view.workers) = (true, true);
                }
                self.workers = Some((Arc::clone(names), Arc::clone(points)));
            }
            Event::WindowEnded => {
                // The rest of a window that is not a whole number of seconds, if there is nothing
                // else.
                if self.now.is_none() && self.gathered.seconds > 0.0 {
                    self.show_gathered();
                }
                self.enter(Phase::Ending, at);
            }
            // The display says warnings as messages.
            Event::Warning { .. } | Event::ThreadsStarted { .. } => {}
        }
    }

    fn interval(&mut self, span: &Span) {
        self.window.add(span);
        self.errors += span.errors;
        self.gathered.add(span);
        if self.gathered.is_second() {
            self.show_gathered();
        }
    }

    fn show_gathered(&mut self) {
        let span = std::mem::take(&mut self.gathered);
        let both = span.both();
        self.iops.push(Some(span.rate(both.ios)));
        self.mib.push(Some(span.rate(both.mib)));
        self.mean_ns.push(both.mean_ns());
        self.max_ns.push(span.max_ns.map(|ns| ns as f64));
        self.p99_ns.push(both.p99_ns.map(|ns| ns as f64));
        self.now = Some(span);
    }

    /// Nothing is measured until further notice.
    fn pause(&mut self) {
        for figure in
            [&mut self.iops, &mut self.mib, &mut self.mean_ns, &mut self.max_ns, &mut self.p99_ns]
        {
            figure.pause();
        }
        (self.now, self.workers) = (None, None);
        (self.window, self.gathered) = (Span::default(), Span::default());
    }

    fn enter(&mut self, phase: Phase, at: Duration) {
        (self.phase, self.phase_at) = (phase, at);
    }

    fn say(&mut self, weight: Weight, text: &str) {
        if self.messages.len() == MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back((weight, clean(text)));
    }

    /// How far the phase is, from 0 to 1, if known, and the same in seconds: done and left.
    pub(super) fn progress(&self, now: Duration) -> Option<(f64, f64, f64)> {
        let since_s = now.saturating_sub(self.phase_at).as_secs_f64();
        let (done_s, left_s) = match &self.phase {
            Phase::GettingReady | Phase::Ending => return None,
            Phase::Filling { done_bytes, total_bytes, bytes_per_s, .. } => {
                let left = total_bytes.saturating_sub(*done_bytes) as f64;
                let ratio = *done_bytes as f64 / (*total_bytes).max(1) as f64;
                return Some((ratio.min(1.0), 0.0, left / bytes_per_s.max(1.0)));
            }
            Phase::WarmingUp { seconds } => (0.0, *seconds),
            Phase::Window { done_s, left_s, .. } => (*done_s, *left_s),
        };
        // Time continues between two intervals, but no further than the next of them.
        let ahead_s = match self.phase {
            Phase::Window { interval_s, .. } => since_s.min(interval_s),
            _ => since_s,
        };
        let whole_s = done_s + left_s;
        let done_s = (done_s + ahead_s).min(whole_s);
        let ratio = if whole_s > 0.0 { done_s / whole_s } else { 1.0 };
        Some((ratio, done_s, (whole_s - done_s).max(0.0)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use results::Point;

    /// A second of reads at this rate.
    pub(crate) fn point(read_iops: f64) -> Point {
        Point {
            t: 1.0,
            seconds: 1.0,
            read_iops,
            write_iops: 0.0,
            read_mib_per_s: read_iops / 128.0,
            write_mib_per_s: 0.0,
            read_mean_ns: Some(240_000.0),
            write_mean_ns: None,
            read_p99_ns: Some(900_000),
            write_p99_ns: None,
            max_ns: Some(4_000_000),
            errors: 0,
        }
    }

    pub(crate) fn model() -> Model {
        let about = |text: &str| text.to_owned();
        Model::new(About { kind: "run", title: about("8 KiB reads"), targets: about("/data") })
    }

    fn heard(model: &mut Model, at_s: u64, events: &[Event]) {
        for event in events {
            model.hear(&ScreenEvent::Engine(event.clone()), Duration::from_secs(at_s));
        }
    }

    #[test]
    fn a_run_goes_through_its_phases() {
        let mut model = model();
        let filling = Event::Filling {
            path: "/data/a\u{1b}[2J".into(),
            done_bytes: 25,
            total_bytes: 100,
            bytes_per_s: 5.0,
        };
        heard(&mut model, 0, &[filling]);
        assert!(matches!(&model.phase, Phase::Filling { path, .. } if !path.contains('\u{1b}')));
        assert_eq!(model.progress(Duration::from_secs(9)), Some((0.25, 0.0, 15.0)));
        heard(&mut model, 10, &[Event::WarmingUp { seconds: 4.0 }]);
        assert_eq!(model.progress(Duration::from_secs(13)), Some((0.75, 3.0, 1.0)));
        heard(&mut model, 14, &[Event::WindowBegan { seconds: 20.0 }]);
        let interval = Event::Interval { point: point(1_000.0), seconds_left: 19.0 };
        heard(&mut model, 15, &[interval]);
        assert_eq!(model.iops.now, Some(1_000.0));
        // The next interval is late: the bar waits for it.
        assert_eq!(model.progress(Duration::from_secs(99)), Some((0.1, 2.0, 18.0)));
        heard(&mut model, 34, &[Event::WindowEnded]);
        assert_eq!(model.phase, Phase::Ending);
        assert_eq!(model.iops.now, Some(1_000.0), "the last figures stay");
        let step = ScreenEvent::Step { number: 2, of: 3, title: "next".to_owned() };
        model.hear(&step, Duration::from_secs(40));
        assert_eq!((model.iops.now, model.iops.highest), (None, 1_000.0));
    }

    /// Who started a fleet saw one line for all hosts, until they found a key that said `workers`.
    #[test]
    fn the_hosts_of_a_fleet_are_shown_from_the_beginning() {
        let workers = |stream: &str| {
            let names = WorkerNames { streams: vec![stream.to_owned()], targets: Vec::new() };
            Event::Workers { names: names.into(), points: Vec::new().into() }
        };
        let mut model = model();
        heard(&mut model, 1, &[workers("main")]);
        assert!(!model.view.workers && !model.are_hosts);
        heard(&mut model, 2, &[workers("host")]);
        assert!(model.view.workers && model.are_hosts);
        model.view.workers = false;
        heard(&mut model, 3, &[workers("host")]);
        assert!(!model.view.workers, "who hid them does not want to see them again");
    }

    #[test]
    fn windows_of_a_progress_that_makes_no_sense_do_no_harm() {
        let mut model = model();
        for seconds in [0.0, f64::NAN, -1.0, f64::INFINITY] {
            heard(&mut model, 1, &[Event::WindowBegan { seconds }]);
            assert!(model.progress(Duration::from_secs(2)).is_some());
        }
        let empty =
            Event::Filling { path: "/a".into(), done_bytes: 7, total_bytes: 0, bytes_per_s: 0.0 };
        heard(&mut model, 3, &[empty]);
        assert_eq!(model.progress(Duration::from_secs(4)), Some((1.0, 0.0, 0.0)));
    }

    #[test]
    fn messages_have_their_weight_and_no_commands_to_a_terminal() {
        let mut model = model();
        for text in ["warning: a\u{1b}[31m", "error: b\nc", "note: d"] {
            model.hear(&ScreenEvent::Message(text.to_owned()), Duration::ZERO);
        }
        let weights: Vec<Weight> = model.messages.iter().map(|(weight, _)| *weight).collect();
        assert_eq!(weights, [Weight::Warning, Weight::Error, Weight::Error, Weight::Plain]);
        assert!(model.messages.iter().all(|(_, text)| !text.chars().any(char::is_control)));
        let many = ScreenEvent::Message("x\n".repeat(1_000));
        model.hear(&many, Duration::ZERO);
        assert_eq!(model.messages.len(), MESSAGES);
    }
}
