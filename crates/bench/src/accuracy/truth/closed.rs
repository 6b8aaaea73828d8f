//! Closed loops on parallel servers: C servers of S each give X(N) = min(N, C) / S and R(N) =
//! max(N, C) / C x S.

use std::path::Path;

use truth::{LoopDevice, Truth};
use workload::{EngineChoice, Nanoseconds, SimDevice};

use super::run::{self, Load, Outcome, Quiet, SIZE};
use super::{off_percent, table, worst};
use crate::linux::Error;

/// Parallel servers of constant service time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Servers {
    pub(super) count: u32,
    pub(super) service_ns: u64,
}

impl Servers {
    pub(super) fn model(self) -> SimDevice {
        let service = Nanoseconds(self.service_ns);
        SimDevice {
            servers: self.count,
            read_ns: service,
            write_ns: service,
            ..SimDevice::default()
        }
    }

    pub(super) fn quiet(self) -> Quiet {
        Quiet::for_service(self.service_ns as f64)
    }

    /// IOPS with so many in flight.
    pub(super) fn iops(self, in_flight: u32) -> f64 {
        f64::from(in_flight.min(self.count)) / self.service_ns as f64 * 1e9
    }

    /// Latency with so many in flight.
    pub(super) fn latency_ns(self, in_flight: u32) -> f64 {
        f64::from(in_flight.max(self.count)) / f64::from(self.count) * self.service_ns as f64
    }

    fn name(self) -> String {
        format!("{} x {} ms", self.count, self.service_ns / 1_000_000)
    }
}

struct Row {
    servers: Servers,
    what: String,
    in_flight: u32,
    outcome: Outcome,
}

const HEAD: [&str; 10] = [
    "device",
    "engine",
    "in flight",
    "IOPS",
    "off the device %",
    "off the model %",
    "latency, ms",
    "over the device, µs",
    "off the model %",
    "host",
];

impl Row {
    fn iops_off_device(&self) -> f64 {
        let (tool, device) = self.outcome.iops();
        off_percent(tool, device)
    }

    fn iops_off_model(&self) -> f64 {
        off_percent(self.outcome.iops().0, self.servers.iops(self.in_flight))
    }

    fn path_ns(&self) -> f64 {
        let (tool, device) = self.outcome.latency_ns();
        tool - device
    }

    fn latency_off_model(&self) -> f64 {
        off_percent(self.outcome.latency_ns().0, self.servers.latency_ns(self.in_flight))
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.servers.name(),
            self.what.clone(),
            self.in_flight.to_string(),
            format!("{:.1}", self.outcome.iops().0),
            format!("{:+.2}", self.iops_off_device()),
            format!("{:+.2}", self.iops_off_model()),
            format!("{:.3}", self.outcome.latency_ns().0 / 1e6),
            format!("{:+.0}", self.path_ns() / 1e3),
            format!("{:+.2}", self.latency_off_model()),
            self.outcome.host(),
        ]
    }
}

fn text(rows: &[Row]) -> String {
    let quiet = || rows.iter().filter(|r| r.outcome.quiet);
    let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    let share = |r: &Row| 100.0 * r.path_ns() / r.outcome.latency_ns().1;
    format!(
        "{}\n{} of {} runs had a quiet host. Their largest deviations: IOPS {:.2} % from what the \
         device delivered, {:.2} % from the model; latency {:.2} % from the device's own, {:.2} % \
         from the model.\n",
        table(&HEAD, &cells),
        quiet().count(),
        rows.len(),
        worst(quiet().map(Row::iops_off_device)),
        worst(quiet().map(Row::iops_off_model)),
        worst(quiet().map(share)),
        worst(quiet().map(Row::latency_off_model)),
    )
}

fn row(truth: &Truth, path: &Path, servers: Servers, load: &Load) -> Result<Row, Error> {
    let in_flight = load.threads * load.depth;
    let outcome = run::run(truth, &load.on(path), servers.quiet())?;
    let mut what = outcome.measurement.engine.name.clone();
    if load.write_percent > 0 {
        what = format!("{what}, {} % writes", load.write_percent);
    }
    Ok(Row { servers, what, in_flight, outcome })
}

/// Depth 1 to 128 of one thread.
pub(super) fn depths() -> Result<String, Error> {
    let devices = [(8, 10), (32, 10), (16, 20)];
    let mut rows = Vec::new();
    for (count, service_ms) in devices {
        let servers = Servers { count, service_ns: service_ms * 1_000_000 };
        let truth = Truth::mount(servers.model(), &[SIZE])?;
        for depth in (0..8).map(|power| 1 << power) {
            let load = Load { depth, ..Load::default() };
            rows.push(row(&truth, &truth.path(0), servers, &load)?);
        }
    }
    Ok(text(&rows))
}

/// Other ways to the same device.
pub(super) fn paths() -> Result<String, Error> {
    let servers = Servers { count: 16, service_ns: 10_000_000 };
    let truth = Truth::mount(servers.model(), &[SIZE, SIZE])?;
    let (file, written) = (truth.path(0), truth.path(1));
    let deep = |engine| Load { engine, depth: 32, ..Load::default() };
    let threads = Load { engine: EngineChoice::Sync, threads: 32, ..Load::default() };
    let writes = Load { write_percent: 30, ..deep(EngineChoice::Aio) };
    let loads = [
        (&file, deep(EngineChoice::Uring)),
        (&file, deep(EngineChoice::Aio)),
        (&file, threads),
        (&written, writes),
    ];
    let rows = loads.iter().map(|(path, load)| row(&truth, path, servers, load));
    let mut rows = rows.collect::<Result<Vec<Row>, Error>>()?;
    let device = LoopDevice::attach(&file)?;
    for depth in [1, 8, 64] {
        let load = Load { depth, ..Load::default() };
        let mut row = row(&truth, device.path(), servers, &load)?;
        row.what = format!("{}, loop device", row.what);
        rows.push(row);
    }
    Ok(text(&rows))
}
