//! Who is there, how well its clock is known, and which targets are the same storage.

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fleet::{Coordinator, HostRun, Watch};
use inspect::{Storage, TargetKind};
use jobs::{Event, FleetReach, JobError};
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use workload::{Target, show_ns};

use crate::agent::{Answer, Question, since_1970_ns};
use crate::plan::{check_hosts, targets_of};
use crate::reach::Reach;
use crate::run::failed;
use crate::site::on_host;
use crate::watching::Watching;

/// How often each host is asked for its time of day.
const TIMES: usize = 5;

/// The hosts of a fleet, as JSON has them.
#[derive(Debug, Serialize)]
pub struct FleetHosts {
    /// Always `iosonde.fleet-hosts/1`, the version of this document.
    pub schema: &'static str,
    /// Each host, in the order in which they were named.
    pub hosts: Vec<HostReport>,
    /// Targets that are the same storage.
    pub shared: Vec<SharedStorage>,
}

/// What one host says about itself, its clock and its targets.
#[derive(Debug, Serialize)]
pub struct HostReport {
    /// The name by which it was called.
    pub name: String,
    /// The host's own name for itself, from its greeting.
    pub hostname: String,
    /// The version of iosonde that runs as agent there.
    pub version: String,
    /// The directories and devices that its agent lets a plan name.
    pub allowed: Vec<String>,
    /// How far its time of day is ahead of this host's; negative where it is behind. A fleet starts
    /// by clocks that nobody sets, so this is about time stamps of results only.
    pub clock_ahead_ns: Option<i64>,
    /// The difference is wrong by at most this much.
    pub clock_bound_ns: Option<u64>,
    /// Each target on this host, in the order in which they were named.
    pub targets: Vec<TargetReport>,
}

/// One target on one host.
#[derive(Debug, Serialize)]
pub struct TargetReport {
    /// The path of the target on that host.
    pub path: String,
    /// What is under it, or why that is not known.
    pub storage: Result<Storage, String>,
    /// The UUID of its file system, where the host knows it.
    pub file_system_uuid: Option<String>,
}

/// Targets that are the same storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedStorage {
    /// Each of these targets, as `host:path`.
    pub targets: Vec<String>,
    /// How iosonde knows that they are the same storage.
    pub by: String,
}

/// Which hosts and targets to look at.
#[derive(Debug, Clone)]
pub struct LookRequest {
    /// The hosts, as their way knows them.
    pub hosts: Vec<String>,
    /// How the coordinator reaches these hosts.
    pub reach: FleetReach,
    /// Directories, files or devices on each of them.
    pub targets: Vec<PathBuf>,
}

/// Looks at the hosts.
///
/// # Errors
/// A host did not answer.
pub fn look(
    request: &LookRequest,
    stop: &AtomicBool,
    notice: &mut dyn FnMut(&Event),
) -> Result<FleetHosts, JobError> {
    check_hosts(&request.hosts)?;
    let target = |path: &PathBuf| Target { path: path.clone(), size_bytes: None };
    let targets: Vec<Target> = request.targets.iter().map(target).collect();
    let of_host = |host: &String| -> Vec<PathBuf> {
        targets_of(host, &targets).into_iter().map(|target| target.path).collect()
    };
    let paths: Vec<Vec<PathBuf>> = request.hosts.iter().map(of_host).collect();
    let allow: Vec<Vec<&Path>> =
        paths.iter().map(|paths| paths.iter().map(PathBuf::as_path).collect()).collect();
    let mut transport = Reach::from(&request.reach).open(&request.hosts, &allow)?;
    let mut watching = Watching::new(&request.hosts, notice, stop);
    let mut coordinator = Coordinator::connect(transport.as_mut(), &request.hosts, &mut watching)
        .map_err(|error| failed(&error))?;
    let found = look_at(&mut coordinator, &paths, &mut watching);
    coordinator.leave();
    found
}

fn look_at(
    coordinator: &mut Coordinator<'_>,
    paths: &[Vec<PathBuf>],
    watch: &mut dyn Watch,
) -> Result<FleetHosts, JobError> {
    let runs = coordinator.compare_clocks(watch).map_err(|error| failed(&error))?;
    let times = times(coordinator, runs.len(), watch)?;
    let questions: Vec<Option<Question>> =
        paths.iter().map(|targets| Some(Question::Look { targets: targets.clone() })).collect();
    let answers = ask(coordinator, &questions, watch)?;
    let mut hosts = Vec::new();
    for (((run, time), paths), answer) in runs.into_iter().zip(times).zip(paths).zip(answers) {
        hosts.push(report(run, time, paths, answer));
    }
    let mut shared = by_identity(&hosts);
    for at in 0..paths.iter().map(Vec::len).max().unwrap_or(0) {
        shared.extend(by_mark(coordinator, &hosts, at, watch)?);
    }
    Ok(FleetHosts { schema: "iosonde.fleet-hosts/1", hosts, shared })
}

/// How far the time of day of each host is ahead, and by how much that may be wrong: of a few
/// questions, the one that was answered fastest. None where an agent does not know the question.
fn times(
    coordinator: &mut Coordinator<'_>,
    hosts: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<Option<(i64, u64)>>, JobError> {
    let mut best: Vec<Option<(i64, u64)>> = vec![None; hosts];
    for (at, best) in best.iter_mut().enumerate() {
        let mut questions: Vec<Option<Question>> = vec![None; hosts];
        if let Some(question) = questions.get_mut(at) {
            *question = Some(Question::Time);
        }
        for _ in 0..TIMES {
            let sent = since_1970_ns();
            let answer = ask(coordinator, &questions, watch)?.into_iter().flatten().next();
            let Some(Answer::Time { since_1970_ns: there }) = answer else { continue };
            let half = since_1970_ns().saturating_sub(sent) / 2;
            let ahead = there.saturating_sub(sent.saturating_add(half));
            // A clock that was set meanwhile says nothing.
            let Ok(bound) = u64::try_from(half) else { continue };
            if best.is_none_or(|(_, known)| bound < known) {
                *best = Some((ahead, bound.saturating_add(1)));
            }
        }
    }
    Ok(best)
}

fn report(
    run: HostRun,
    time: Option<(i64, u64)>,
    paths: &[PathBuf],
    answer: Option<Answer>,
) -> HostReport {
    let (storage, uuids) = match answer {
        Some(Answer::Saw { storage, uuids }) => (storage, uuids),
        Some(Answer::Refused { reason }) => (vec![Err(reason); paths.len()], Vec::new()),
        _ => (Vec::new(), Vec::new()),
    };
    let uuids = uuids.into_iter().chain(std::iter::repeat(None));
    let both = paths.iter().zip(storage).zip(uuids);
    let targets = both.map(|((path, storage), file_system_uuid)| TargetReport {
        path: path.display().to_string(),
        storage,
        file_system_uuid,
    });
    HostReport {
        name: run.name,
        hostname: run.hostname,
        version: run.version,
        allowed: run.allowed,
        clock_ahead_ns: time.map(|(ahead, _)| ahead),
        clock_bound_ns: time.map(|(_, bound)| bound),
        targets: targets.collect(),
    }
}

/// Asks hosts; those without a question are not asked.
pub(crate) fn ask(
    coordinator: &mut Coordinator<'_>,
    questions: &[Option<Question>],
    watch: &mut dyn Watch,
) -> Result<Vec<Option<Answer>>, JobError> {
    let value =
        |question: &Option<Question>| question.as_ref().map(serde_json::to_value).transpose();
    let values: Vec<Option<Value>> = questions.iter().map(value).collect::<Result<_, _>>()?;
    let answers = coordinator.ask(&values, watch).map_err(|error| failed(&error))?;
    let read = |answer: Option<Value>| answer.map(Answer::deserialize).transpose();
    Ok(answers.into_iter().map(read).collect::<Result<_, _>>()?)
}

/// Names that storage has on every host: the UUID of a file system; of a disk its WWN, or model and
/// serial number.
fn identities(target: &TargetReport) -> Vec<String> {
    let Ok(storage) = &target.storage else { return Vec::new() };
    let mut names = Vec::new();
    names.extend(target.file_system_uuid.iter().map(|uuid| format!("file system {uuid}")));
    for device in &storage.devices {
        let known = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        if let Some(wwn) = known(&device.wwn) {
            names.push(format!("WWN {wwn}"));
        } else if let (Some(model), Some(serial)) = (known(&device.model), known(&device.serial)) {
            names.push(format!("serial number {serial} of {model}"));
        }
    }
    // What several hosts mount from one server.
    if let Some(system) = storage.file_system.as_ref().filter(|_| storage.devices.is_empty())
        && system.source.contains(":/")
    {
        names.push(format!("export {}", system.source));
    }
    names
}

/// Targets on disks or exports that other hosts have, too.
fn by_identity(hosts: &[HostReport]) -> Vec<SharedStorage> {
    let mut shared: Vec<(SharedStorage, Vec<usize>)> = Vec::new();
    for (at, host) in hosts.iter().enumerate() {
        for target in &host.targets {
            let name = on_host(&host.name, target.path.as_ref());
            for by in identities(target) {
                let same = |(known, _): &(SharedStorage, Vec<usize>)| known.by == by;
                let place = shared.iter().position(same).unwrap_or_else(|| {
                    shared.push((SharedStorage { targets: Vec::new(), by }, Vec::new()));
                    shared.len() - 1
                });
                if let Some((known, hosts)) = shared.get_mut(place) {
                    known.targets.push(name.clone());
                    hosts.push(at);
                }
            }
        }
    }
    let several = |hosts: &[usize]| hosts.iter().any(|host| Some(host) != hosts.first());
    shared.into_iter().filter(|(_, hosts)| several(hosts)).map(|(shared, _)| shared).collect()
}

/// The number `at` of each host's targets: every host makes a mark in the directory, and all look
/// for the marks of all.
fn by_mark(
    coordinator: &mut Coordinator<'_>,
    hosts: &[HostReport],
    at: usize,
    watch: &mut dyn Watch,
) -> Result<Vec<SharedStorage>, JobError> {
    let directories: Vec<Option<PathBuf>> = hosts.iter().map(|host| directory(host, at)).collect();
    if directories.iter().flatten().count() < 2 {
        return Ok(Vec::new());
    }
    let nonces: Vec<String> = hosts.iter().map(|_| nonce()).collect();
    let each = |question: &dyn Fn(&PathBuf, &String) -> Question| -> Vec<Option<Question>> {
        let both = directories.iter().zip(&nonces);
        both.map(|(directory, nonce)| Some(question(directory.as_ref()?, nonce))).collect()
    };
    let make = each(&|directory, nonce| Question::Mark {
        directory: directory.clone(),
        nonce: nonce.clone(),
    });
    ask(coordinator, &make, watch)?;
    let read = each(&|directory, _| Question::ReadMarks {
        directory: directory.clone(),
        nonces: nonces.clone(),
    });
    let seen = ask(coordinator, &read, watch);
    // Whatever was found, no mark stays.
    let remove = each(&|directory, nonce| Question::RemoveMark {
        directory: directory.clone(),
        nonce: nonce.clone(),
    });
    ask(coordinator, &remove, watch)?;
    let there = |answer: Option<Answer>| match answer {
        Some(Answer::Marks { there }) => there,
        _ => Vec::new(),
    };
    let seen: Vec<Vec<bool>> = seen?.into_iter().map(there).collect();
    let name = |host: &usize| {
        let host = hosts.get(*host)?;
        Some(on_host(&host.name, host.targets.get(at)?.path.as_ref()))
    };
    let by = "a mark that one host made and the others read".to_owned();
    let groups = groups(&seen).into_iter().filter(|group| group.len() > 1);
    Ok(groups
        .map(|group| SharedStorage {
            targets: group.iter().filter_map(name).collect(),
            by: by.clone(),
        })
        .collect())
}

/// Where a mark can be made: the target, or the directory of a file, where that is allowed.
fn directory(host: &HostReport, at: usize) -> Option<PathBuf> {
    let target = host.targets.get(at)?;
    let path = PathBuf::from(&target.path);
    match target.storage.as_ref().ok()?.kind {
        TargetKind::Directory => Some(path),
        TargetKind::File | TargetKind::Missing => path.parent().map(Path::to_owned),
        TargetKind::BlockDevice | TargetKind::CharDevice => None,
    }
}

/// Hosts that read each other's marks; `seen` has, of each host, whose marks it read.
fn groups(seen: &[Vec<bool>]) -> Vec<Vec<usize>> {
    let reads = |host: usize, mark: usize| {
        seen.get(host).and_then(|seen| seen.get(mark)).copied().unwrap_or(false)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for host in 0..seen.len() {
        let same = |group: &&mut Vec<usize>| {
            group.iter().any(|other| reads(host, *other) && reads(*other, host))
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(host),
            None => groups.push(vec![host]),
        }
    }
    groups
}

/// A number that nobody can guess.
fn nonce() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

impl FleetHosts {
    /// What people read of it: a table of the hosts, then lines about their targets.
    #[must_use]
    pub fn text(&self) -> String {
        let mut rows = vec![
            ["host", "calls itself", "iosonde", "time of day ahead by", "known to", "allows"]
                .map(str::to_owned),
        ];
        for host in &self.hosts {
            let clock = host.clock_ahead_ns.map_or_else(String::new, ahead);
            let bound = host.clock_bound_ns.map_or_else(String::new, |ns| show_ns(ns as f64));
            let allowed = host.allowed.join(", ");
            let (name, hostname) = (host.name.clone(), host.hostname.clone());
            rows.push([name, hostname, host.version.clone(), clock, bound, allowed]);
        }
        let mut text = table(&rows);
        for host in &self.hosts {
            for target in &host.targets {
                if let Err(why) = &target.storage {
                    let name = on_host(&host.name, target.path.as_ref());
                    let _ = writeln!(text, "{name}: {why}");
                }
            }
        }
        for shared in &self.shared {
            let _ =
                writeln!(text, "the same storage: {} ({})", shared.targets.join(", "), shared.by);
        }
        if self.shared.is_empty() && self.hosts.iter().any(|host| !host.targets.is_empty()) {
            text.push_str("no two of these targets are known to be the same storage\n");
        }
        text
    }
}

fn ahead(ns: i64) -> String {
    let size = show_ns(ns.unsigned_abs() as f64);
    format!("{}{size}", if ns < 0 { '-' } else { '+' })
}

/// Columns as wide as what is in them.
fn table(rows: &[[String; 6]]) -> String {
    let wide = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(wide);
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use inspect::Device;

    fn host(name: &str, device: Device) -> HostReport {
        let storage = Storage { devices: vec![device], ..Storage::default() };
        HostReport {
            name: name.to_owned(),
            hostname: format!("{name}.site"),
            version: "1".to_owned(),
            allowed: vec!["/data".to_owned()],
            clock_ahead_ns: Some(-7_200_000_000_000),
            clock_bound_ns: Some(90_000),
            targets: vec![TargetReport {
                path: "/data".to_owned(),
                storage: Ok(storage),
                file_system_uuid: None,
            }],
        }
    }

    fn disk(wwn: Option<&str>, serial: &str) -> Device {
        Device {
            wwn: wwn.map(str::to_owned),
            serial: Some(serial.to_owned()),
            model: Some("M".to_owned()),
            ..Device::default()
        }
    }

    #[test]
    fn one_disk_is_known_by_its_names() {
        let hosts = [
            host("a", disk(Some("naa.1"), "x")),
            host("b", disk(Some("naa.1"), "y")),
            host("c", disk(None, "z")),
            host("d", disk(None, "z")),
            host("e", disk(None, " ")),
            host("f", disk(None, " ")),
        ];
        let shared = by_identity(&hosts);
        let targets: Vec<&Vec<String>> = shared.iter().map(|shared| &shared.targets).collect();
        assert_eq!(targets, [&vec!["a:/data", "b:/data"], &vec!["c:/data", "d:/data"]]);
        assert_eq!(shared[0].by, "WWN naa.1");
    }

    /// Disks of a volume may have no names, and its file system still has one.
    #[test]
    fn one_file_system_is_known_by_its_uuid() {
        let mut hosts = ["a", "b", "c"].map(|name| host(name, Device::default()));
        for (host, uuid) in hosts.iter_mut().zip(["4-2", "4-2", "7"]) {
            host.targets[0].file_system_uuid = Some(uuid.to_owned());
        }
        let shared = by_identity(&hosts);
        assert_eq!(shared.len(), 1);
        assert_eq!(shared[0].targets, ["a:/data", "b:/data"]);
        assert_eq!(shared[0].by, "file system 4-2");
    }

    #[test]
    fn marks_that_are_read_both_ways_make_a_group() {
        let seen = [
            vec![true, true, false, false],
            vec![true, true, false, false],
            vec![false, false, true, true],
            // Reads the mark of another, which does not read its own: a copy, not the same.
            vec![false, false, false, true],
        ];
        assert_eq!(groups(&seen), [vec![0, 1], vec![2], vec![3]]);
    }

    #[test]
    fn a_table_says_who_is_there() {
        let hosts = vec![host("a", disk(Some("naa.1"), "x")), host("b", disk(Some("naa.1"), "x"))];
        let shared = by_identity(&hosts);
        let text = FleetHosts { schema: "x", hosts, shared }.text();
        assert!(text.contains("a.site") && text.contains("  -"), "{text}");
        assert!(text.contains("the same storage: a:/data, b:/data (WWN naa.1)"), "{text}");
    }
}
