//! The kernel's throttle on a loop device: an exact capacity, let through in slices.

use truth::{Limits, LoopDevice, Throttle, Truth};
use workload::{EngineChoice, SimDevice};

use super::run::{self, Load, Quiet, SIZE};
use super::{off_percent, table, worst};
use crate::linux::Error;

/// Two slices of 100 ms are 1 % of it.
const SECONDS: f64 = 20.0;
/// Short in comparison with a time slice.
const LIMIT: Quiet = Quiet { device_ns: 5e6, host_ns: 5e6 };

/// Limits of IOPS and of bytes, for each engine, all of them far below what the device could do.
pub(super) fn limits() -> Result<String, Error> {
    let truth = Truth::mount(SimDevice::default(), &[SIZE])?;
    let device = LoopDevice::attach(&truth.path(0))?;
    let iops = |limit| Limits { read_iops: Some(limit), ..Limits::default() };
    let bytes = Limits { read_bytes_per_s: Some(16 << 20), ..Limits::default() };
    let deep = |engine, depth| Load { engine, depth, seconds: SECONDS, ..Load::default() };
    let threads = Load { threads: 8, ..deep(EngineChoice::Sync, 1) };
    let large = Load { block_bytes: 64 << 10, ..deep(EngineChoice::Auto, 8) };
    let cases = [
        ("500 IOPS", 500.0, iops(500), deep(EngineChoice::Auto, 1)),
        ("500 IOPS", 500.0, iops(500), deep(EngineChoice::Uring, 32)),
        ("2000 IOPS", 2000.0, iops(2000), deep(EngineChoice::Uring, 128)),
        ("2000 IOPS", 2000.0, iops(2000), deep(EngineChoice::Aio, 32)),
        ("2000 IOPS", 2000.0, iops(2000), threads),
        ("16 MiB/s", 256.0, bytes, large),
    ];
    let (mut rows, mut off_limit, mut off_device) = (Vec::new(), Vec::new(), Vec::new());
    for (name, expected, limits, load) in cases {
        let throttle = Throttle::new(device.path(), &limits)?;
        let workload = load.on(device.path());
        let outcome = throttle.within(|| run::run(&truth, &workload, LIMIT))??;
        let (tool, delivered) = outcome.iops();
        off_limit.push(off_percent(tool, expected));
        off_device.push(off_percent(tool, delivered));
        let agreement = outcome.measurement.kernel.and_then(|k| k.agreement_percent);
        rows.push(vec![
            name.to_owned(),
            outcome.measurement.engine.name.clone(),
            (load.threads * load.depth).to_string(),
            (load.block_bytes >> 10).to_string(),
            format!("{tool:.1}"),
            format!("{:+.2}", off_percent(tool, expected)),
            format!("{:+.2}", off_percent(tool, delivered)),
            agreement.map_or("–".to_owned(), |percent| format!("{percent:.2}")),
        ]);
    }
    let head = [
        "limit",
        "engine",
        "in flight",
        "block, KiB",
        "IOPS",
        "off the limit %",
        "off the device below %",
        "agreement with the kernel %",
    ];
    Ok(format!(
        "{}\nThe kernel lets I/Os through in slices of 100 ms. At each end of the window, one \
         slice may fall inside or outside. Largest deviations: {:.2} % from the limit, {:.2} % \
         from what the device below delivered.\n",
        table(&head, &rows),
        worst(off_limit.into_iter()),
        worst(off_device.into_iter())
    ))
}
