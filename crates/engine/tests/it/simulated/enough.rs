//! A run that its observer ends, and whose beginning turns out to be warm-up.

use std::sync::atomic::AtomicBool;

use engine::{Event, Go, Observer};
use results::{Measurement, Status};
use workload::{Nanoseconds, Precision, Stream, Workload};

use crate::simulated::experiment::{MS, device, fits_together, near, prepared, reads, workload};

/// Ends a run at a moment, and takes its beginning for warm-up.
struct Until {
    end_s: f64,
    warm_up_s: f64,
}

impl Observer for Until {
    fn event(&mut self, event: &Event) -> Go {
        match event {
            Event::Interval { point, .. } if point.t >= self.end_s => Go::Enough,
            _ => Go::On,
        }
    }

    fn warm_up_s(&mut self) -> f64 {
        self.warm_up_s
    }
}

fn watched(stream: Stream, mut until: Until) -> Measurement {
    let workload = Workload {
        precision: Some(Precision::default()),
        interval_ns: Nanoseconds(100 * MS),
        thread_series: true,
        ..workload(stream, device(MS))
    };
    let stop = AtomicBool::new(false);
    let measurement = engine::run(&workload, &prepared(&workload), &stop, &mut until).unwrap();
    fits_together(&measurement);
    measurement
}

#[test]
fn enough_ends_the_window_and_the_run_is_complete() {
    let m = watched(reads(4), Until { end_s: 3.0, warm_up_s: 0.0 });
    assert_eq!(m.status, Status::Complete);
    assert!((3.0..3.2).contains(&m.seconds), "{}", m.seconds);
    near(m.total.iops, 4000.0, 0.01);
    assert!(m.warmup_series.is_empty());
}

#[test]
fn warm_up_is_left_out_of_every_figure_and_kept_as_a_series() {
    let m = watched(Stream { threads: 2, ..reads(2) }, Until { end_s: 4.0, warm_up_s: 1.0 });
    let cut: f64 = m.warmup_series.iter().map(|p| p.seconds).sum();
    assert!((0.999..1.3).contains(&cut), "{cut}");
    near(m.seconds + cut, 4.0, 0.05);
    near(m.total.iops, 4000.0, 0.01);
    near(m.achieved_in_flight, 4.0, 0.01);
    assert!(m.checks.littles_law_percent.unwrap().abs() < 1.0);
    let last = m.warmup_series.last().unwrap().t;
    assert!(last.abs() < 1e-9, "{last}");
    near(m.series[0].t, 0.1, 1e-6);
    for thread in &m.threads_detail {
        assert!(thread.series.iter().map(|p| p.t).eq(m.series.iter().map(|p| p.t)));
        assert_eq!(thread.series.iter().map(|p| p.read.ios).sum::<u64>(), thread.read.ios);
    }
}

#[test]
fn a_warm_up_as_long_as_the_run_cuts_nothing() {
    let m = watched(reads(1), Until { end_s: 2.0, warm_up_s: 50.0 });
    assert!(m.warmup_series.is_empty());
    assert!(m.seconds >= 2.0);
}

/// Without a precision, nothing is kept in parts and nothing can be left out.
#[test]
fn without_a_precision_the_window_is_whole() {
    let workload = workload(reads(1), device(MS));
    let stop = AtomicBool::new(false);
    let mut until = Until { end_s: 100.0, warm_up_s: 1.0 };
    let m = engine::run(&workload, &prepared(&workload), &stop, &mut until).unwrap();
    near(m.seconds, 10.0, 1e-9);
    assert!(m.warmup_series.is_empty());
}
