//! Results to exchange.

use results::{Document, Experiment, Latency, Measurement, Point, Runs, Statistics};
use workload::{Stream, Target, Workload};

use crate::exchange::jsonl::{About, Cell, Line, Remark};

/// A measurement with numbers that are not easily kept.
pub(crate) fn measurement(id: &str) -> Measurement {
    let latency =
        Latency { min: Some(1), mean: 1.0 / 3.0, max: Some(u64::MAX >> 12), ..Latency::default() };
    let total =
        Statistics { ios: 7, iops: 0.1 + 0.2, latency_ns: Some(latency), ..Statistics::default() };
    let target = Target { path: "/data/ü, \"x\"".into(), size_bytes: None };
    Measurement {
        started: "2026-11-21T12:00:00.123456Z".to_owned(),
        total: total.clone(),
        read: total,
        series: vec![Point { t: 1.0, seconds: 1.0, read_iops: 1e300, ..Point::default() }],
        ..testing::measurement(id, Workload::single(target, Stream::default()))
    }
}

/// A machine with so much free memory.
pub(crate) fn host(hostname: &str, memory_available_bytes: u64) -> inspect::Host {
    inspect::Host {
        hostname: hostname.to_owned(),
        os: "unknown".to_owned(),
        kernel: "6.1".to_owned(),
        cpu_model: "unknown".to_owned(),
        cpus: 4,
        memory_bytes: 1 << 34,
        memory_available_bytes,
        virtualization: None,
        clocksource: None,
        ..inspect::Host::default()
    }
}

/// A result of two runs, whose measurements are named after it.
pub(crate) fn runs(id: &str) -> Document {
    let measurements = vec![measurement(&format!("{id}-m0")), measurement(&format!("{id}-m1"))];
    let conclusion = Runs {
        title: "8 KiB random read".to_owned(),
        asked: 2,
        trust: survey::Publish::publish(analysis::noise::trust(&[0.3, 0.3], None)),
    };
    Document::Runs(Box::new(Experiment {
        plan: None,
        finished: "2026-11-21T12:01:00Z".to_owned(),
        measurements,
        method: vec!["twice".to_owned()],
        ..testing::experiment(id, "2026-11-21T12:00:00Z", conclusion)
    }))
}

/// The line of an export for [`runs`].
pub(crate) fn line(id: &str) -> Line {
    let document = runs(id);
    let cell = |number: u32| Cell { number, id: format!("{id}-m{number}"), measurement: None };
    let about = About {
        id: id.to_owned(),
        schema: document.schema().to_owned(),
        kind: document.kind().to_owned(),
        title: document.title(),
        started: document.started().to_owned(),
        finished: document.finished().map(str::to_owned),
        status: Some(document.status()),
        plan_id: "p".to_owned(),
        plan: "{ \"odd\":  1.0 }".to_owned(),
        tags: vec!["before".to_owned()],
        notes: vec![Remark {
            written: "2026-11-21T13:00:00Z".to_owned(),
            text: "two\nlines".to_owned(),
        }],
        cells: vec![cell(0), cell(1)],
    };
    Line { about, document: Some(document) }
}

/// The line of an experiment that did not come to its end.
pub(crate) fn unfinished(id: &str) -> Line {
    let mut line = line(id);
    line.document = None;
    (line.about.finished, line.about.status) = (None, None);
    line.about.cells = [3, 5]
        .map(|number| {
            let id = format!("{id}-m{number}");
            Cell { number, measurement: Some(Box::new(measurement(&id))), id }
        })
        .to_vec();
    line
}
