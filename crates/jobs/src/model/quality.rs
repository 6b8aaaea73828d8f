//! How well a workload stands for a trace: the latencies of both on devices of known behaviour.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use replay::{CLASSES, LOG_WRITES, MapKind, Mode, SETS, Selection};
use results::{Histogram, Measurement, ModelledClass, ModelledDevice};
use survey::Site;
use workload::{EngineChoice, Nanoseconds, SimDevice, SimNoise, SimService, Workload};

use super::streams::LOG_NAME;
use crate::conduct::JobError;
use crate::replay::{Manner, Part, ReplayTarget, demerit, latency, perform, set};

/// A distance up to this, or up to so many times that of two replays of the trace, is allowed; and
/// so is this difference of the 99th percentiles.
const DEMERIT_MAX: f64 = 0.15;
const FLOORS: f64 = 1.5;
const P99_WITHIN: f64 = 0.25;
/// Fewer I/Os of a kind are not compared.
const IOS_MIN: u64 = 100;
/// Seeds of the devices: of the trace, of the trace again, and of the workload.
const SEEDS: [u64; 3] = [1, 2, 3];

/// Compares workloads with the trace on simulated devices.
pub(super) struct Bench<'a> {
    part: &'a Part,
    stop: &'a AtomicBool,
    /// Time of service of all I/Os, in seconds per second, if a read takes one second.
    work_per_s: f64,
    /// The trace on the other device, twice.
    other: [Latencies; 2],
}

/// A device of which the load uses a share.
struct Known {
    name: &'static str,
    servers: u32,
    used: f64,
    service: SimService,
    io_percent: f64,
}

/// The devices on which a document compares workload and trace.
const KNOWN: [Known; 3] = [
    Known {
        name: "flash device",
        servers: 8,
        used: 0.15,
        service: SimService::Constant,
        io_percent: 20.0,
    },
    Known {
        name: "volume",
        servers: 4,
        used: 0.3,
        service: SimService::Constant,
        io_percent: 40.0,
    },
    Known {
        name: "disk",
        servers: 1,
        used: 0.5,
        service: SimService::Exponential,
        io_percent: 0.0,
    },
];

/// The one by which spacings are chosen.
const OTHER: Known = Known {
    name: "other device",
    servers: 2,
    used: 0.35,
    service: SimService::Constant,
    io_percent: 30.0,
};

type Latencies = [Histogram; SETS];

impl<'a> Bench<'a> {
    pub(super) fn new(part: &'a Part, stop: &'a AtomicBool) -> Result<Self, JobError> {
        let counts = &part.contents.counts;
        let work = counts[0] as f64 + counts[1] as f64 + 1.5 * counts[2] as f64;
        let work_per_s = work * 1e9 / part.contents.span_ns as f64;
        let none = || std::array::from_fn(|_| Histogram::new());
        let mut bench = Self { part, stop, work_per_s, other: [none(), none()] };
        bench.other = bench.replayed_twice(&bench.device(&OTHER))?;
        Ok(bench)
    }

    /// The device on which the load uses its share.
    fn device(&self, known: &Known) -> SimDevice {
        let seconds = known.used * f64::from(known.servers) / self.work_per_s.max(1e-9);
        let time = Nanoseconds::from_seconds(seconds.clamp(1e-6, 1.0));
        let noise = SimNoise { io_percent: known.io_percent, ..SimNoise::default() };
        SimDevice {
            servers: known.servers,
            read_ns: time,
            write_ns: time,
            sync_ns: time,
            durable_ns: Some(Nanoseconds(time.0 / 2)),
            service: known.service,
            noise: (known.io_percent > 0.0).then_some(noise),
            ..SimDevice::default()
        }
    }

    /// How far a workload is from the trace on the other device, over all kinds, and whether it is
    /// close enough there.
    pub(super) fn distance(&self, workload: &Workload) -> Result<(f64, bool), JobError> {
        let classes = self.compared(&self.other, &self.device(&OTHER), workload)?;
        let of = |class: &ModelledClass| class.demerit.unwrap_or(1e9);
        Ok((classes.iter().map(of).sum(), classes.iter().all(|class| class.is_close)))
    }

    /// A workload and the trace on the devices of the document.
    pub(super) fn devices(&self, workload: &Workload) -> Result<Vec<ModelledDevice>, JobError> {
        let on = |known: &Known| {
            let device = self.device(known);
            let trace = self.replayed_twice(&device)?;
            let classes = self.compared(&trace, &device, workload)?;
            let (name, used_percent) = (known.name.to_owned(), 100.0 * known.used);
            Ok(ModelledDevice { name, device, used_percent, classes })
        };
        KNOWN.iter().map(on).collect()
    }

    fn replayed_twice(&self, device: &SimDevice) -> Result<[Latencies; 2], JobError> {
        Ok([self.replayed(device, SEEDS[0])?, self.replayed(device, SEEDS[1])?])
    }

    fn compared(
        &self,
        [trace, again]: &[Latencies; 2],
        device: &SimDevice,
        workload: &Workload,
    ) -> Result<Vec<ModelledClass>, JobError> {
        let model = self.measured(device, workload)?;
        let class = |set_index: usize| {
            let (of_trace, of_model) = (&trace[set_index], &model[set_index]);
            let trace_ns = latency(of_trace).filter(|l| l.ios >= IOS_MIN)?;
            let (floor, distance) =
                (demerit(of_trace, &again[set_index]), demerit(of_trace, of_model));
            let model_ns = latency(of_model);
            let at_most = DEMERIT_MAX.max(FLOORS * floor.unwrap_or(0.0));
            let tail = |model: u64| (model as f64 / trace_ns.p99.max(1) as f64 - 1.0).abs();
            let is_close = distance.is_some_and(|d| d <= at_most)
                && model_ns.is_some_and(|model| tail(model.p99) <= P99_WITHIN);
            let kind = set(set_index);
            Some(ModelledClass {
                kind,
                trace_ns,
                model_ns,
                demerit: distance,
                floor,
                at_most,
                is_close,
            })
        };
        Ok((0..SETS).filter_map(class).collect())
    }

    fn replayed(&self, device: &SimDevice, seed: u64) -> Result<Latencies, JobError> {
        let contents = &self.part.contents;
        let like = Workload {
            engine: EngineChoice::Sim,
            sim: Some(device.clone()),
            seed,
            ..Workload::default()
        };
        let workload = ReplayTarget::of(&like, None).workload(contents, MapKind::Compact);
        let prepared = engine::prepare(&workload, &Permissions::default(), self.stop, &mut |_| ())?;
        let manner = Manner {
            selection: Selection { users: 1.0, speed: 1.0, ..self.part.selection },
            mode: Mode::AsTimed,
            map: MapKind::Compact,
            at_most_ns: u64::MAX,
        };
        let performed =
            perform(&self.part.path, contents, &manner, (&workload, &prepared), self.stop)?;
        self.check()?;
        Ok(performed.figures.classes.map(|class| class.from_due))
    }

    fn measured(&self, device: &SimDevice, workload: &Workload) -> Result<Latencies, JobError> {
        let mut workload = Workload {
            engine: EngineChoice::Sim,
            sim: Some(device.clone()),
            seed: SEEDS[2],
            ..workload.clone()
        };
        workload.targets.iter_mut().for_each(|target| target.path = PathBuf::from("sim"));
        let site = Site::of(&workload);
        let prepared = engine::prepare(&workload, &Permissions::default(), self.stop, &mut |_| ())?;
        let measured = survey::measure(&workload, &prepared, &site, self.stop, &mut |_: &_| ());
        let measured = measured.map_err(|error| JobError::CannotRun(error.to_string()))?;
        self.check()?;
        Ok(by_set(&measured))
    }

    fn check(&self) -> Result<(), JobError> {
        if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
            let text = "interrupted before the model was compared; nothing is written";
            return Err(JobError::Interrupted(text.to_owned()));
        }
        Ok(())
    }
}

/// The latencies of a measurement in the sets of a replay.
pub(super) fn by_set(measurement: &Measurement) -> Latencies {
    let mut sets: Latencies = std::array::from_fn(|_| Histogram::new());
    let place = |kind| CLASSES.iter().position(|class| *class == kind).unwrap_or(0);
    for (stream, found) in measurement.workload.streams.iter().zip(&measurement.streams) {
        let write =
            place(if stream.durable { trace::Kind::DurableWrite } else { trace::Kind::Write });
        let is_log = stream.name.starts_with(LOG_NAME);
        let parts = [
            (place(trace::Kind::Read), &found.read),
            (write, &found.write),
            (place(trace::Kind::Flush), &found.sync),
        ];
        for (set, statistics) in parts {
            let histogram = statistics.histogram.as_deref().map(Histogram::decode);
            let Some(Ok(histogram)) = histogram else { continue };
            sets[set].merge(&histogram);
            if is_log && set == write {
                sets[LOG_WRITES].merge(&histogram);
            }
        }
    }
    sets
}
