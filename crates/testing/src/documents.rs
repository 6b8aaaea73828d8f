//! Documents made by hand: whole, and of nothing. A test fills in what it is about.

use results::{
    Checks, Conclusion, Cpu, Engine, Environment, Experiment, MEASUREMENT_SCHEMA, Measurement,
    Stalls, Statistics, Status,
};
use workload::Workload;

/// A second of this workload in which nothing happened.
#[must_use]
pub fn measurement(id: &str, workload: Workload) -> Measurement {
    Measurement {
        schema: MEASUREMENT_SCHEMA.to_owned(),
        id: id.to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: "2026-11-21T12:00:00Z".to_owned(),
        origin: None,
        status: Status::Complete,
        workload,
        environment: Environment { host: None, storage: Vec::new() },
        engine: Engine {
            name: "sim".to_owned(),
            reason: "asked for".to_owned(),
            features: Vec::new(),
            clock: "virtual".to_owned(),
        },
        seconds: 1.0,
        threads: 1,
        depth: Some(1),
        in_flight: 1,
        achieved_in_flight: 1.0,
        file_bytes: 1 << 30,
        total: Statistics::default(),
        read: Statistics::default(),
        write: Statistics::default(),
        sync: Statistics::default(),
        streams: Vec::new(),
        targets: Vec::new(),
        threads_detail: Vec::new(),
        series: Vec::new(),
        warmup_series: Vec::new(),
        warmed: None,
        steady: None,
        phases: None,
        rounds: None,
        cpu: Cpu::default(),
        kernel: None,
        errors: Vec::new(),
        stalls: Stalls::default(),
        checks: Checks::default(),
        hosts: Vec::new(),
    }
}

/// An experiment on `/data` with this conclusion and no measurements, which ended as it began.
#[must_use]
pub fn experiment<C: Conclusion>(id: &str, started: &str, conclusion: C) -> Experiment<C> {
    Experiment {
        plan: None,
        schema: C::SCHEMA.to_owned(),
        id: id.to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: started.to_owned(),
        finished: started.to_owned(),
        status: Status::Complete,
        targets: vec!["/data".into()],
        file_bytes: 1 << 30,
        environment: Environment { host: None, storage: Vec::new() },
        conclusion,
        measurements: Vec::new(),
        method: Vec::new(),
        warnings: Vec::new(),
    }
}
