//! One window of a sweep: whether it counts, what it took, and what of it hundreds of others need
//! not repeat.

use results::{HostMeasurement, Measurement, Status};

/// Whether nothing failed but the last I/Os, which took longer than the end of the run waits: a
/// thousand large ones before a slow link do. That is not a reason to end a sweep.
pub(super) fn is_slow(m: &Measurement) -> bool {
    m.status == Status::Failed
        && m.errors.is_empty()
        && m.stalls.unfinished > 0
        && m.stalls.oldest_unfinished_ns < HUNG_NS
        && m.total.ios > 0
}

/// An I/O under way for this long does not come back.
const HUNG_NS: u64 = 30_000_000_000;

/// What a measurement took of the storage's time.
pub(super) fn device_seconds(m: &Measurement) -> f64 {
    let cut: f64 = m.warmup_series.iter().map(|p| p.seconds).sum();
    m.workload.warmup_seconds + cut + m.seconds
}

/// I/Os per second in the first seconds of a window, whatever of it was left out as warm-up.
pub(super) fn start_iops(m: &Measurement, seconds: f64) -> f64 {
    let (mut ios, mut passed_s) = (0.0, 0.0);
    for point in m.warmup_series.iter().chain(&m.series) {
        if passed_s >= seconds {
            break;
        }
        ios += (point.read_iops + point.write_iops) * point.seconds;
        passed_s += point.seconds;
    }
    if passed_s > 0.0 { ios / passed_s } else { m.total.iops }
}

/// A measurement without parts that hundreds of them need not repeat: the figures of each thread,
/// and those of one stream and one target that the total also has. The stored one has all of it.
pub(super) fn slim(mut measurement: Measurement) -> Measurement {
    measurement.threads_detail.clear();
    for stream in &mut measurement.streams {
        for part in [&mut stream.total, &mut stream.read, &mut stream.write, &mut stream.sync] {
            part.histogram = None;
        }
    }
    for target in &mut measurement.targets {
        for part in [&mut target.total, &mut target.read, &mut target.write, &mut target.sync] {
            part.histogram = None;
        }
    }
    let own = std::mem::take(&mut measurement.hosts).into_iter();
    measurement.hosts =
        own.map(|host| HostMeasurement { measurement: slim(host.measurement), ..host }).collect();
    measurement
}
