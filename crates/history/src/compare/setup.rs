//! Differences between the set-ups of two sides: settings that both sides know.

use inspect::{Device, FileSystem, Settings, Storage};
use results::{Difference, Document, SideDifference};
use workload::Bytes;

use super::differences::{each, of_devices, of_host};

/// The settings that changed. What only one side knows is not a change.
pub(super) fn of_sides(a: &[Document], b: &[Document]) -> Vec<SideDifference> {
    let rows: Vec<Setting> = [devices(), systems(), machines()].into_iter().flatten().collect();
    let compared = rows.into_iter().filter_map(|(name, of)| {
        let (before, after) = (of(a), of(b));
        if before.is_empty() || after.is_empty() {
            return None;
        }
        let difference = Difference::between(name, before.join(", "), after.join(", "))?;
        Some(SideDifference { difference, unlike: false })
    });
    compared.collect()
}

/// The name of a setting, and what it is on a side.
type Setting = (&'static str, Box<dyn Fn(&[Document]) -> Vec<String>>);

fn of_device(name: &'static str, of: fn(&Device) -> Option<String>) -> Setting {
    (name, Box::new(move |side| of_devices(side, of)))
}

fn of_storage(name: &'static str, of: fn(&Storage) -> Vec<String>) -> Setting {
    (
        name,
        Box::new(move |side| each(side, |d| d.environment().storage.iter().flat_map(of).collect())),
    )
}

fn devices() -> Vec<Setting> {
    let setting = of_device;
    vec![
        setting("driver", |d| d.driver.clone()),
        setting("transport", |d| d.transport.clone()),
        setting("link", |d| {
            let link = d.link.as_ref()?;
            let lanes = link.lanes.map(|lanes| format!("{lanes} lanes"));
            let parts = [Some(link.bus.clone()), lanes, link.speed.clone()];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
        }),
        setting("nr_requests", |d| d.nr_requests.map(|n| n.to_string())),
        setting("queue depth", |d| d.queue_depth.map(|n| n.to_string())),
        setting("queues", |d| d.queues.map(|n| n.to_string())),
        setting("largest I/O", |d| d.max_io_bytes.map(|n| Bytes(n).to_string())),
        setting("read-ahead", |d| d.read_ahead_bytes.map(|n| Bytes(n).to_string())),
        setting("rq_affinity", |d| d.rq_affinity.map(|n| n.to_string())),
        setting("write cache", |d| d.write_cache.clone()),
        setting("forced unit access", |d| {
            d.fua.map(|fua| if fua { "yes" } else { "no" }.to_owned())
        }),
        setting("device size", |d| (d.size_bytes > 0).then(|| Bytes(d.size_bytes).to_string())),
        setting("state of the device", |d| d.state.clone()),
    ]
}

fn systems() -> Vec<Setting> {
    fn of(name: &'static str, of: fn(&FileSystem) -> Option<String>) -> Setting {
        let value = move |d: &Document| {
            let systems = d.environment().storage.iter().filter_map(|s| s.file_system.as_ref());
            systems.filter_map(of).collect()
        };
        (name, Box::new(move |side| each(side, value)))
    }
    vec![
        of("allocation unit", |f| (f.block_bytes > 0).then(|| Bytes(f.block_bytes).to_string())),
        of("journal", |f| f.journal.clone()),
        of("compression", |f| Some(f.compression.clone().unwrap_or_else(|| "none".to_owned()))),
        of("size of the file system", |f| {
            (f.total_bytes > 0).then(|| Bytes(f.total_bytes).to_string())
        }),
        of_storage("partition begins at", |s| {
            s.partition.iter().map(|p| Bytes(p.start_bytes).to_string()).collect()
        }),
        of_storage("RAID", |s| {
            let raids = s.chain.iter().filter_map(|layer| layer.raid.as_ref());
            let words = |raid: &inspect::Raid| {
                let lacks = raid.degraded.filter(|n| *n > 0).map(|n| format!(" lacking {n}"));
                let policy = raid.consistency.as_deref().map(|p| format!(", {p}"));
                let (lacks, policy) = (lacks.unwrap_or_default(), policy.unwrap_or_default());
                format!("{} of {}{lacks}{policy}", raid.level, raid.devices)
            };
            raids.map(words).collect()
        }),
        of_storage("paths", |s| {
            let several = s.chain.iter().filter(|layer| !layer.paths.is_empty());
            let works = |state: &str| state == "running" || state == "live";
            several
                .map(|layer| {
                    let working = layer.paths.iter().filter(|p| works(&p.state)).count();
                    format!("{working} of {} working", layer.paths.len())
                })
                .collect()
        }),
    ]
}

fn machines() -> Vec<Setting> {
    fn of(name: &'static str, of: fn(&Settings) -> Option<String>) -> Setting {
        let value = move |d: &Document| {
            d.environment().host.iter().filter_map(|h| of(h.settings.as_ref()?)).collect()
        };
        (name, Box::new(move |side| each(side, value)))
    }
    vec![
        of("swappiness", |s| s.swappiness.map(|n| n.to_string())),
        of("dirty pages at most", |s| dirty(s.dirty_ratio_percent, s.dirty_bytes)),
        of("dirty pages written back from", |s| {
            dirty(s.dirty_background_percent, s.dirty_background_bytes)
        }),
        of("transparent huge pages", |s| s.transparent_huge_pages.clone()),
        of("frequency governor", |s| s.governor.clone()),
        (
            "clock source",
            Box::new(|side| {
                each(side, |d| {
                    d.environment().host.iter().filter_map(|h| h.clocksource.clone()).collect()
                })
            }),
        ),
        (
            "virtual machine on",
            Box::new(|side| {
                of_host(side, |h| {
                    h.virtualization.clone().unwrap_or_else(|| "bare metal".to_owned())
                })
            }),
        ),
    ]
}

fn dirty(percent: Option<u64>, bytes: Option<u64>) -> Option<String> {
    match (bytes, percent) {
        (Some(bytes), _) => Some(Bytes(bytes).to_string()),
        (None, percent) => percent.map(|percent| format!("{percent} % of memory")),
    }
}
