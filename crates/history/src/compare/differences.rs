//! Differences between two sides as a whole, which a comparison names and does not judge.

use super::setup;
use results::{Difference, Document, SideDifference};
use workload::Bytes;

/// Every difference between the environments of two sides. Another version of the program makes
/// them unlike; anything else may be what is compared.
pub(super) fn of_sides(a: &[Document], b: &[Document]) -> Vec<SideDifference> {
    let found = |name: &str, unlike: bool, of: &dyn Fn(&[Document]) -> Vec<String>| {
        let words = |side: &[Document]| {
            let all = of(side);
            if all.is_empty() { "not known".to_owned() } else { all.join(", ") }
        };
        let difference = Difference::between(name, words(a), words(b))?;
        Some(SideDifference { difference, unlike })
    };
    let is_foreign = |d: &Document| d.measurements().iter().any(|m| m.origin.is_some());
    let foreign = a.iter().chain(b).any(is_foreign);
    [
        if foreign {
            found("tool", true, &tools)
        } else {
            found("version of iosonde", true, &|s| each(s, |d| vec![d.tool_version().to_owned()]))
        },
        found("host", false, &hosts),
        found("target", false, &targets),
        found("device", false, &devices),
        found("firmware", false, &|s| of_devices(s, |d| d.firmware.clone())),
        found("I/O scheduler", false, &|s| of_devices(s, |d| d.scheduler.clone())),
        found("file system", false, &|s| {
            each(s, |d| {
                let systems = d.environment().storage.iter().filter_map(|s| s.file_system.as_ref());
                systems.map(|f| format!("{} ({})", f.kind, f.options.join(","))).collect()
            })
        }),
        found("kernel", false, &|s| of_host(s, |h| h.kernel.clone())),
        found("operating system", false, &|s| of_host(s, |h| h.os.clone())),
        found("processor", false, &|s| of_host(s, processor)),
        found("memory", false, &|s| of_host(s, memory)),
    ]
    .into_iter()
    .flatten()
    .chain(setup::of_sides(a, b))
    .collect()
}

/// The tools that measured, where any of them was not iosonde.
fn tools(side: &[Document]) -> Vec<String> {
    each(side, |d| {
        let of = |m: &&results::Measurement| match &m.origin {
            None => format!("iosonde {}", m.tool_version),
            Some(_) => m.tool_version.clone(),
        };
        d.measurements().iter().map(of).collect()
    })
}

/// The machines that a side was measured on.
pub(super) fn hosts(side: &[Document]) -> Vec<String> {
    of_host(side, |h| h.hostname.clone())
}

/// The targets that a side was measured on.
pub(super) fn targets(side: &[Document]) -> Vec<String> {
    each(side, |d| d.targets().iter().map(|t| t.display().to_string()).collect())
}

/// The devices, by model if that is known.
pub(super) fn devices(side: &[Document]) -> Vec<String> {
    of_devices(side, |d| Some(d.model.clone().unwrap_or_else(|| d.name.clone())))
}

/// Number and model of the processors, as far as they are known.
fn processor(host: &inspect::Host) -> String {
    match host.cpus {
        0 => host.cpu_model.clone(),
        cpus => format!("{cpus} x {}", host.cpu_model),
    }
}

fn memory(host: &inspect::Host) -> String {
    match host.memory_bytes {
        0 => "unknown".to_owned(),
        bytes => Bytes(bytes).to_string(),
    }
}

pub(super) fn of_host(side: &[Document], of: fn(&inspect::Host) -> String) -> Vec<String> {
    each(side, |d| d.environment().host.iter().map(of).collect())
}

pub(super) fn of_devices(
    side: &[Document],
    of: fn(&inspect::Device) -> Option<String>,
) -> Vec<String> {
    each(side, |d| {
        let devices = d.environment().storage.iter().flat_map(|s| &s.devices);
        devices.filter_map(of).map(|text| text.trim().to_owned()).collect()
    })
}

/// The different words of all results of a side.
pub(super) fn each(side: &[Document], of: impl Fn(&Document) -> Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = side.iter().flat_map(of).collect();
    all.sort();
    all.dedup();
    all
}
