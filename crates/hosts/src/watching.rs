//! What happens on the hosts, as one stream of events.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::{WorkerNames, WorkerPoint};
use fleet::Watch;
use jobs::Event;
use results::Point;
use serde_json::Value;
use workload::show_ns;

use crate::following::Following;

/// Hears what happens on the hosts, keeps their intervals, and shows their sum.
pub struct Watching<'a> {
    names: &'a [String],
    pass: &'a mut dyn FnMut(&Event),
    stop: &'a AtomicBool,
    pub(crate) series: Vec<Vec<Point>>,
    /// How many intervals were shown so far.
    shown: usize,
    take_part: usize,
    /// Says how far apart all have begun.
    tells: bool,
    /// Hosts of which the next has not arrived.
    missing: usize,
    /// There if each host does a job by itself.
    following: Option<Following>,
}

impl<'a> Watching<'a> {
    /// Gives events to `pass`, and stops the run at `stop`.
    pub fn new(names: &'a [String], pass: &'a mut dyn FnMut(&Event), stop: &'a AtomicBool) -> Self {
        let series = vec![Vec::new(); names.len()];
        let (take_part, missing) = (names.len(), names.len());
        let following = None;
        Self { names, pass, stop, series, shown: 0, take_part, tells: true, missing, following }
    }

    /// Each host does a job by itself: their intervals are not those of one window.
    pub(crate) fn each_by_itself(mut self) -> Self {
        self.following = Some(Following::new(self.names.len()));
        self
    }

    /// Only so many of the hosts take part in this run, which is one of many.
    pub(crate) fn only(mut self, hosts: usize) -> Self {
        (self.take_part, self.missing, self.tells) = (hosts, hosts, false);
        self
    }

    /// Shows the intervals that all hosts have; one that lags by two is not waited for.
    fn show(&mut self, longest: usize, seconds_left: f64) {
        while self.missing == 0 || longest > self.shown + 2 {
            let shown = self.shown;
            self.shown += 1;
            let next = self.series.iter().filter(|series| series.len() > self.shown).count();
            self.missing = self.take_part.saturating_sub(next);
            let all = || self.series.iter().filter_map(|series| series.get(shown));
            let Some(point) = sum(&all().collect::<Vec<_>>()) else { return };
            let hosts = self.hosts(shown);
            (self.pass)(&Event::Engine(engine::Event::Interval { point, seconds_left }));
            (self.pass)(&hosts);
        }
    }

    /// One interval, host by host: a screen has a line for each.
    fn hosts(&self, at: usize) -> Event {
        let series = self.series.iter().enumerate();
        let points = series.filter_map(|(host, series)| Some((host, series.get(at)?)));
        rows(self.names, points.map(|(host, point)| worker(host, point)).collect())
    }
}

/// Names and points as the event from which a screen makes one line per host.
fn rows(names: &[String], points: Vec<WorkerPoint>) -> Event {
    let targets = names.iter().map(Into::into).collect();
    let names = WorkerNames { streams: vec!["host".to_owned()], targets };
    Event::Engine(engine::Event::Workers { names: names.into(), points: points.into() })
}

pub(crate) fn worker(target: usize, point: &Point) -> WorkerPoint {
    WorkerPoint {
        stream: 0,
        target,
        thread: 0,
        iops: point.read_iops + point.write_iops,
        mib_per_s: point.read_mib_per_s + point.write_mib_per_s,
        mean_ns: mean(&[
            (point.read_mean_ns, point.read_iops),
            (point.write_mean_ns, point.write_iops),
        ]),
        max_ns: point.max_ns,
        errors: point.errors,
    }
}

/// Means, each with the I/Os that it is of, as one.
fn mean(parts: &[(Option<f64>, f64)]) -> Option<f64> {
    let known = || parts.iter().filter_map(|(mean, ios)| Some(((*mean)?, *ios)));
    let ios: f64 = known().map(|(_, ios)| ios).sum();
    (ios > 0.0).then(|| known().map(|(mean, ios)| mean * ios).sum::<f64>() / ios)
}

/// The same interval of several hosts as one. A percentile of a sum is not known.
pub(crate) fn sum(points: &[&Point]) -> Option<Point> {
    let first = points.first()?;
    let add = |of: fn(&Point) -> f64| points.iter().map(|p| of(p)).sum::<f64>();
    let mean_of = |ns: fn(&Point) -> Option<f64>, rate: fn(&Point) -> f64| {
        let parts: Vec<(Option<f64>, f64)> = points.iter().map(|p| (ns(p), rate(p))).collect();
        mean(&parts)
    };
    Some(Point {
        t: first.t,
        seconds: first.seconds,
        read_iops: add(|p| p.read_iops),
        write_iops: add(|p| p.write_iops),
        read_mib_per_s: add(|p| p.read_mib_per_s),
        write_mib_per_s: add(|p| p.write_mib_per_s),
        read_mean_ns: mean_of(|p| p.read_mean_ns, |p| p.read_iops),
        write_mean_ns: mean_of(|p| p.write_mean_ns, |p| p.write_iops),
        read_p99_ns: None,
        write_p99_ns: None,
        max_ns: points.iter().filter_map(|p| p.max_ns).max(),
        errors: points.iter().map(|p| p.errors).sum(),
    })
}

impl Watch for Watching<'_> {
    fn hear(&mut self, host: usize, event: &Value) {
        use engine::Event as Engine;
        // What a newer agent says besides is nothing to this coordinator.
        let Ok(event) = serde_json::from_value::<Event>(event.clone()) else { return };
        let name = self.names.get(host).map_or("", String::as_str);
        if let Some(following) = &mut self.following {
            let names = self.names;
            for shown in following.hear(host, name, event, &|points| rows(names, points)) {
                (self.pass)(&shown);
            }
            return;
        }
        match event {
            Event::Engine(Engine::Interval { point, seconds_left }) => {
                let Some(series) = self.series.get_mut(host) else { return };
                series.push(point);
                let length = series.len();
                if length == self.shown + 1 {
                    self.missing = self.missing.saturating_sub(1);
                }
                self.show(length, seconds_left);
            }
            Event::Engine(Engine::Warning { text }) | Event::Notice { text } => {
                self.notice(format!("{name}: {text}"));
            }
            Event::Error { text } => {
                let text = format!("{name}: {text}");
                (self.pass)(&Event::Error { text });
            }
            _ => {}
        }
    }

    fn begun(&mut self, skew_ns: u64) {
        let hosts = self.names.len();
        if self.tells && hosts > 1 {
            let skew = show_ns(skew_ns as f64);
            self.notice(format!("all {hosts} hosts have begun, within {skew} of each other"));
        }
    }

    fn notice(&mut self, text: String) {
        (self.pass)(&Event::Notice { text });
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown while these hosts send an interval each, one after the other.
    fn shown(hosts: usize, order: &[usize]) -> Vec<f64> {
        let names: Vec<String> = (0..3).map(|host| format!("h{host}")).collect();
        let (mut sums, stop) = (Vec::new(), AtomicBool::new(false));
        let mut pass = |event: &Event| {
            if let Event::Engine(engine::Event::Interval { point, .. }) = event {
                sums.push(point.read_iops);
            }
        };
        let mut watching = Watching::new(&names, &mut pass, &stop).only(hosts);
        for host in order {
            let read_iops = 10.0_f64.powi(i32::try_from(*host).unwrap());
            let point = Point { read_iops, seconds: 1.0, ..Point::default() };
            let event = Event::Engine(engine::Event::Interval { point, seconds_left: 1.0 });
            watching.hear(*host, &serde_json::to_value(event).unwrap());
        }
        sums
    }

    #[test]
    fn an_interval_is_shown_when_all_who_take_part_have_it() {
        assert!(shown(3, &[0, 1]).is_empty());
        assert_eq!(shown(3, &[0, 1, 2]), [111.0]);
        assert_eq!(shown(3, &[2, 2, 0, 1, 1, 0]), [111.0, 111.0]);
        assert_eq!(shown(2, &[0, 2]), [101.0], "one takes no part");
        // One that lags is not waited for, and is not counted twice when it comes.
        assert_eq!(shown(2, &[0, 0, 0, 1, 1, 1]), [1.0, 11.0, 11.0]);
    }
}
