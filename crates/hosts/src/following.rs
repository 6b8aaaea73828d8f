//! Hosts that each do a job by themselves: the step and the rates of each, as one stream.

use engine::WorkerPoint;
use integrity::Glance;
use jobs::Event;
use monitor::AlertEvent;
use results::Point;

use crate::watching::{self, worker};

/// What is known of every host so far.
#[derive(Debug, Default)]
pub(crate) struct Following {
    hosts: Vec<State>,
    /// The host and the step that are shown.
    shown: Option<(usize, usize)>,
}

#[derive(Debug, Clone, Default)]
struct State {
    step: Option<Step>,
    point: Option<Point>,
}

#[derive(Debug, Clone)]
struct Step {
    number: usize,
    of: usize,
    title: String,
    seconds_left: Option<f64>,
}

impl Following {
    /// Nothing is known of so many hosts.
    pub(crate) fn new(hosts: usize) -> Self {
        Self { hosts: vec![State::default(); hosts], shown: None }
    }

    /// Something happened on a host; what is to be shown because of it. `rows` makes the event with
    /// a line for each host.
    pub(crate) fn hear(
        &mut self,
        at: usize,
        name: &str,
        event: Event,
        rows: &dyn Fn(Vec<WorkerPoint>) -> Event,
    ) -> Vec<Event> {
        use engine::Event as Engine;
        let Some(host) = self.hosts.get_mut(at) else { return Vec::new() };
        let notice = |text: &str| vec![Event::Notice { text: format!("{name}: {text}") }];
        match event {
            Event::Step { number, of, title, seconds_left } => {
                let title = format!("{name}: {title}");
                host.step = Some(Step { number, of, title, seconds_left });
                host.point = None;
                self.step()
            }
            Event::Engine(Engine::Interval { point, seconds_left }) => {
                host.point = Some(point);
                self.rates(seconds_left, rows)
            }
            Event::Validation(integrity::Event::Glance(glance)) => {
                host.point = Some(seen(&glance));
                let left = glance.left().map_or(0.0, |left| left.as_secs_f64());
                self.rates(left, rows)
            }
            Event::Validation(integrity::Event::Notice(found)) => notice(&found.text),
            Event::Monitor(monitor::Event::Alert(alert)) => notice(&said(&alert)),
            Event::Monitor(monitor::Event::Notice { text }) | Event::Notice { text } => {
                notice(&text)
            }
            Event::Engine(Engine::Warning { text }) => notice(&text),
            Event::Error { text } => vec![Event::Error { text: format!("{name}: {text}") }],
            _ => Vec::new(),
        }
    }

    /// The step of the host that has got least far.
    fn step(&mut self) -> Vec<Event> {
        let steps = self.hosts.iter().enumerate();
        let steps = steps.filter_map(|(at, host)| Some((at, host.step.as_ref()?)));
        let Some((at, step)) = steps.min_by_key(|(at, step)| (step.number, *at)) else {
            return Vec::new();
        };
        if self.shown == Some((at, step.number)) {
            return Vec::new();
        }
        self.shown = Some((at, step.number));
        let Step { number, of, title, seconds_left } = step.clone();
        vec![Event::Step { number, of, title, seconds_left }]
    }

    /// The latest figures of all hosts, added up and one by one.
    fn rates(&self, seconds_left: f64, rows: &dyn Fn(Vec<WorkerPoint>) -> Event) -> Vec<Event> {
        let points = || self.hosts.iter().filter_map(|host| host.point.as_ref());
        let Some(point) = watching::sum(&points().collect::<Vec<_>>()) else { return Vec::new() };
        let each = self.hosts.iter().enumerate();
        let each = each.filter_map(|(at, host)| Some(worker(at, host.point.as_ref()?)));
        let interval = engine::Event::Interval { point, seconds_left };
        vec![Event::Engine(interval), rows(each.collect())]
    }
}

/// What a simulated database did since its last glance.
fn seen(glance: &Glance) -> Point {
    const MIB: f64 = 1_048_576.0;
    Point {
        t: glance.since.as_secs_f64(),
        seconds: glance.seconds,
        read_iops: glance.read.iops,
        write_iops: glance.write.iops,
        read_mib_per_s: glance.read.bytes_per_s / MIB,
        write_mib_per_s: glance.write.bytes_per_s / MIB,
        read_mean_ns: glance.read.mean_ns,
        write_mean_ns: glance.write.mean_ns,
        errors: glance.failures,
        ..Point::default()
    }
}

/// An alert as a sentence for the user.
fn said(alert: &AlertEvent) -> String {
    let AlertEvent { condition, device, begins, figure, .. } = alert;
    let device = device.as_ref().map_or_else(String::new, |device| format!(" on {device}"));
    let what = if *begins { "came true" } else { "is over" };
    format!("alert: `{condition}` {what}{device}, {figure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize) -> Event {
        Event::Step { number, of: 9, title: format!("s{number}"), seconds_left: None }
    }

    /// The line shows the host that is last, once, and moves on when that host does.
    #[test]
    fn the_step_is_that_of_the_host_that_is_last() {
        let mut following = Following::new(2);
        let rows = |_| step(0);
        let mut heard = |at: usize, number| {
            let shown = following.hear(at, ["a", "b"][at], step(number), &rows);
            let title = |event: &Event| match event {
                Event::Step { title, .. } => title.clone(),
                other => panic!("{other:?}"),
            };
            shown.iter().map(title).collect::<Vec<_>>()
        };
        assert_eq!(heard(0, 2), ["a: s2"]);
        assert_eq!(heard(1, 1), ["b: s1"]);
        assert!(heard(0, 3).is_empty());
        assert_eq!(heard(1, 4), ["a: s3"]);
    }

    #[test]
    fn rates_are_added_up_and_every_host_has_a_row() {
        let mut following = Following::new(2);
        let rows = |points: Vec<WorkerPoint>| Event::Notice {
            text: format!("{:?}", points.iter().map(|p| p.iops).collect::<Vec<_>>()),
        };
        let mut heard = |at: usize, read_iops| {
            let point = Point { read_iops, seconds: 1.0, ..Point::default() };
            let event = engine::Event::Interval { point, seconds_left: 1.0 };
            following.hear(at, "x", Event::Engine(event), &rows)
        };
        heard(0, 5.0);
        let shown = heard(1, 7.0);
        let Event::Engine(engine::Event::Interval { point, .. }) = &shown[0] else { panic!() };
        assert_eq!(point.read_iops, 12.0);
        assert!(matches!(&shown[1], Event::Notice { text } if text == "[5.0, 7.0]"));
    }
}
