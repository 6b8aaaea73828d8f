//! Builds the document of a recording from intervals.

use std::collections::BTreeSet;
use std::path::PathBuf;

use counters::{BlockDevice, BlockKind, CpuTally, DiskTally, SystemTally};
use results::{
    AttachedSeries, Conclusion as _, Environment, Experiment, RecordedPoint, Recording, Status,
};

use super::Reading;
use super::moments::rfc3339;
use crate::series::Series;

/// What to say about times without a zone.
const LOCAL: &str =
    "Its times name no time zone: they are taken as those of the zone of this system.";
/// At most so many devices are named as targets.
const TARGETS_MAX: usize = 8;

/// The content of another tool's recording.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Found {
    /// The tool, in its own words: `iostat`.
    pub(super) tool: &'static str,
    /// The host, where it is named.
    pub(super) host: Option<String>,
    /// When it began, in seconds since 1970; absent if the file does not say.
    pub(super) started: Option<f64>,
    /// Distance of two reports, in seconds, as most of them have it.
    pub(super) interval_seconds: f64,
    /// Every interval, in rising order of time.
    pub(super) windows: Vec<Window>,
    /// Whether its times are local, without a zone.
    pub(super) is_local: bool,
    /// Figures without a place in a recording.
    pub(super) attached: Vec<AttachedSeries>,
    /// How it was recorded: sentences that do not hold for every such recording.
    pub(super) method: Vec<String>,
    /// What a reader of the figures must know.
    pub(super) warnings: Vec<String>,
}

/// What the recording has about one interval.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Window {
    /// Its end, in seconds from the start of the recording.
    pub(super) t: f64,
    pub(super) seconds: f64,
    pub(super) disks: Vec<(String, DiskTally)>,
    pub(super) cpu: Option<CpuTally>,
}

/// Whether the tables leave out devices that are idle (`-z` of sysstat), given the devices of every
/// table: some device comes and goes. One that only comes was plugged in, one that only goes was
/// removed.
pub(super) fn leaves_out_idle(tables: &[Vec<&str>]) -> bool {
    let tables: Vec<BTreeSet<&str>> =
        tables.iter().map(|table| table.iter().copied().collect()).collect();
    let names: BTreeSet<&str> = tables.iter().flatten().copied().collect();
    names.into_iter().any(|name| {
        let is_there = tables.iter().map(|table| table.contains(name));
        let changes = is_there.clone().zip(is_there.skip(1)).filter(|(a, b)| a != b);
        changes.count() >= 2
    })
}

/// What a device did in an interval in which it was idle, given one in which it was not.
fn idle(other: &DiskTally) -> DiskTally {
    let zero = |amount: Option<u64>| amount.map(|_| 0);
    DiskTally {
        unreported: other.unreported,
        flushes: zero(other.flushes),
        discards: zero(other.discards),
        splits: zero(other.splits),
        transfers: zero(other.transfers),
        transfer_bytes: zero(other.transfer_bytes),
        transfer_ns: zero(other.transfer_ns),
        ..DiskTally::default()
    }
}

impl Found {
    /// Adds the devices that were idle to every interval that leaves them out.
    pub(super) fn fill_idle(&mut self) {
        let mut all: Vec<(String, DiskTally)> = Vec::new();
        for (name, tally) in self.windows.iter().flat_map(|window| &window.disks) {
            if all.iter().all(|(known, _)| known != name) {
                all.push((name.clone(), idle(tally)));
            }
        }
        for window in &mut self.windows {
            let has = |name: &str| window.disks.iter().any(|(disk, _)| disk == name);
            let lacking: Vec<_> = all.iter().filter(|(name, _)| !has(name)).cloned().collect();
            window.disks.extend(lacking);
        }
        self.method.push("Idle devices were left out (-z), and count as idle.".to_owned());
    }

    /// The document. `text` is the part of the file about it. Its name is made from that text, so
    /// that a file that is read twice gives the same recording. `kind` is the kind of a device.
    pub(super) fn document(
        self,
        text: &str,
        reading: &Reading<'_>,
        kind: fn(&str) -> BlockKind,
    ) -> Experiment<Recording> {
        let mut warnings = self.warnings;
        let started = self.started.and_then(rfc3339).unwrap_or_else(|| {
            warnings.push(format!(
                "{} does not say when it recorded: the date is that of the file",
                self.tool
            ));
            reading.read.to_owned()
        });
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.windows.iter().flat_map(|window| &window.disks) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let targets: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let seconds = self.windows.last().map_or(0.0, |window| window.t);
        let mut series = Series::default();
        for window in self.windows {
            series.push(point(window, &names));
        }
        let mut recording = Recording {
            name: format!("{} of {}", self.tool, reading.file),
            interval_ns: super::cells::whole(self.interval_seconds * 1e9),
            devices: names.into_iter().map(|name| device(name, kind)).collect(),
            points: series.into_points(),
            attached: self.attached,
            ..Recording::default()
        };
        recording.sum_up();
        if recording.points.iter().any(|point| !point.missing.is_empty()) {
            warnings.push(
                "some intervals lack a device, as where it was plugged in later or a cell is \
                 empty: its figures over the whole time are of the other intervals"
                    .to_owned(),
            );
        }
        let mut method = vec![format!(
            "{} recorded this. It prints rates of each interval; an amount is the rate times the \
             length of the interval.",
            self.tool
        )];
        if self.is_local {
            method.push(LOCAL.to_owned());
        }
        method.extend(self.method);
        let finished =
            started.parse().ok().and_then(|at| rfc3339(super::moments::unix(at) + seconds));
        Experiment {
            schema: Recording::SCHEMA.to_owned(),
            id: format!("{}-{:016x}", id_of(self.tool), fnv_1a(text)),
            tool_version: self.tool.to_owned(),
            finished: finished.unwrap_or_else(|| started.clone()),
            started,
            status: Status::Complete,
            plan: None,
            targets: targets.into_iter().take(TARGETS_MAX).collect(),
            file_bytes: 0,
            environment: Environment { host: self.host.map(host), storage: Vec::new() },
            conclusion: recording,
            measurements: Vec::new(),
            method,
            warnings,
        }
    }
}

/// What the ids of its recordings begin with.
fn id_of(tool: &'static str) -> &'static str {
    if tool == "Performance Monitor" { "perfmon" } else { tool }
}

/// The hash FNV-1a of 64 bits.
fn fnv_1a(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A device that the interval does not have has no figures in it.
fn point(window: Window, names: &[String]) -> RecordedPoint {
    let Window { t, seconds, disks, cpu } = window;
    let has = |name: &&String| disks.iter().any(|(disk, _)| disk == *name);
    let missing = names.iter().filter(|name| !has(name)).cloned().collect();
    let system = SystemTally { cpu: cpu.unwrap_or_default(), ..SystemTally::default() };
    RecordedPoint {
        t,
        seconds,
        windows: 1,
        disks: disks.into_iter().collect(),
        missing,
        system,
        rows: Vec::new(),
    }
}

/// A device of which only the name is known.
fn device(name: String, kind: fn(&str) -> BlockKind) -> BlockDevice {
    BlockDevice { kind: kind(&name), name, label: None, size_bytes: 0, below: Vec::new() }
}

/// What a name of Linux says of a device.
pub(super) fn linux_kind(name: &str) -> BlockKind {
    let ends_in_digit = name.ends_with(|c: char| c.is_ascii_digit());
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "dm-" => BlockKind::DeviceMapper,
        "md" => BlockKind::Raid,
        "loop" => BlockKind::Loop,
        "ram" | "zram" => BlockKind::Memory,
        part if part.starts_with("nvme") && part.ends_with('p') => BlockKind::Partition,
        part if part.starts_with("nvme") => BlockKind::NvmeNamespace,
        part if part.starts_with("mmcblk") && part.ends_with('p') => BlockKind::Partition,
        part if ends_in_digit && ["sd", "vd", "hd", "xvd"].iter().any(|p| part.starts_with(p)) => {
            BlockKind::Partition
        }
        _ => BlockKind::Disk,
    }
}

/// A machine of which only the name is known.
fn host(hostname: String) -> inspect::Host {
    let unknown = || "unknown".to_owned();
    inspect::Host {
        hostname,
        os: unknown(),
        kernel: unknown(),
        cpu_model: unknown(),
        ..inspect::Host::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_linux_say_what_a_device_is() {
        for (name, kind) in [
            ("sda", BlockKind::Disk),
            ("sda1", BlockKind::Partition),
            ("vdb2", BlockKind::Partition),
            ("nvme0n1", BlockKind::NvmeNamespace),
            ("nvme0n1p3", BlockKind::Partition),
            ("mmcblk0", BlockKind::Disk),
            ("mmcblk0p1", BlockKind::Partition),
            ("dm-12", BlockKind::DeviceMapper),
            ("md127", BlockKind::Raid),
            ("dev8-0", BlockKind::Disk),
            ("loop3", BlockKind::Loop),
        ] {
            assert_eq!(linux_kind(name), kind, "{name}");
        }
    }
}
