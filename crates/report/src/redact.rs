//! The vendor's copy: the measurement without the names of hosts, targets and parts that identify
//! their owner.
//!
//! Names are collected from the fields that hold them (host, targets, mount points, mounted
//! devices, serial numbers). Then each is replaced wherever it occurs, in sentences too, by a word
//! that is the same throughout the report. Kernel names of devices such as `vda`, models and
//! firmware stay: they describe what was measured. Figures are not changed.

use std::collections::HashMap;

use results::{Document, Measurement};
use serde_json::Value;
use workload::{Stream, Workload};

use crate::ReportError;
use crate::mount_facts::{is_kernel_name, may_stay, name_of, source_may_stay};
use crate::sections::in_utf8;

/// Fields that only hold words of iosonde. Replacing in them could make the document unreadable or
/// change its figures.
const CLOSED: [&str; 57] = [
    "access",
    "arrival",
    "assignment",
    "buffers",
    "call",
    "cause",
    "certainty",
    "class",
    "completion",
    "damage",
    "database",
    "decides",
    "distribution",
    "ending",
    "figure",
    "finished",
    "from",
    "grade",
    "held_by",
    "hint",
    "histogram",
    "job",
    "kind",
    "level",
    "loss",
    "mode",
    "on_error",
    "on_loss",
    "op",
    "order",
    "outcome",
    "overall",
    "pace",
    "pattern",
    "patterns",
    "persistence",
    "phase",
    "plan_id",
    "priority",
    "purpose",
    "reached",
    "role",
    "schema",
    "service",
    "severity",
    "share",
    "sureness",
    "sign",
    "started",
    "statistic",
    "status",
    "suspicion",
    "sync",
    "tool_version",
    "transport",
    "unit",
    "verdict",
];
/// Words of iosonde in fields that elsewhere hold free text.
const OURS: [(&str, &[&str]); 4] = [
    ("content", &["random", "zero", "counting"]),
    ("engine", &["auto", "uring", "aio", "iocp", "sync", "mmap", "null", "sim"]),
    ("method", &["neighbours", "fast_share", "mean_latency"]),
    ("source", &["measured", "left_out", "missing", "inferred"]),
];
/// Names that identify nobody, so they may stay.
const HARMLESS: [&str; 24] = [
    "backup",
    "data",
    "database",
    "db",
    "disk",
    "home",
    "host",
    "iosonde",
    "localhost",
    "log",
    "logs",
    "mnt",
    "null",
    "none",
    "root",
    "serial",
    "sim",
    "source",
    "srv",
    "target",
    "test",
    "tmp",
    "unknown",
    "var",
];

/// Replaces host names, serial numbers, paths and sources with words that say nothing, throughout.
///
/// The same name has the same word in all of these documents. An error leaves them as they were.
pub fn redact(documents: &mut Vec<Document>) -> Result<(), ReportError> {
    let mut secrets = Secrets::default();
    for document in documents.iter() {
        secrets.collect(document);
    }
    secrets.finish();
    let redacted = documents.iter().map(|document| {
        let mut value = in_utf8(document.clone()).to_value()?;
        without_origin(&mut value);
        // It names places that the document names nowhere else, and repeats nothing without them.
        if let Some(document) = value.as_object_mut() {
            document.remove("plan");
        }
        secrets.replace(&mut value, "");
        Document::from_value(value).map_err(ReportError::from)
    });
    *documents = redacted.collect::<Result<_, _>>()?;
    Ok(())
}

/// Replaces the same names in the document of an inspection.
pub fn redact_inspection(
    inspection: &inspect::Inspection,
) -> Result<inspect::Inspection, ReportError> {
    let mut secrets = Secrets::default();
    secrets.host(&inspection.host.hostname);
    for target in &inspection.targets {
        secrets.storage(&target.storage);
    }
    for finding in &inspection.findings {
        secrets.groups(finding);
        // Instances of SQL Server by the names that people gave them.
        let words = finding.message.split_whitespace();
        words.filter_map(|word| word.strip_prefix("MSSQL$")).for_each(|name| {
            secrets.add("instance", name);
        });
    }
    for swap in inspection.host.settings.iter().flat_map(|settings| &settings.swap) {
        secrets.path("swap", swap);
    }
    secrets.finish();
    let mut value = serde_json::to_value(inspection)?;
    secrets.replace(&mut value, "");
    Ok(serde_json::from_value(value)?)
}

/// Takes away the command lines of other tools and the files they were imported from: names in them
/// cannot be told from words.
fn without_origin(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // The plan of a host's own result.
            if let Some(Value::Object(own)) = object.get_mut("document") {
                own.remove("plan");
            }
            if let Some(Value::Object(origin)) = object.get_mut("origin") {
                origin.remove("command_line");
                origin.remove("file");
            }
            // The words of a command that ran while it was recorded, but for its name.
            if let Some(Value::Array(line)) = object.get_mut("line") {
                line.truncate(1);
                for word in line {
                    let name = word.as_str().and_then(|w| w.rsplit(['/', '\\']).next());
                    *word = name.unwrap_or_default().into();
                }
            }
            object.values_mut().for_each(without_origin);
        }
        Value::Array(array) => array.iter_mut().for_each(without_origin),
        _ => {}
    }
}

/// Names, and the words that replace them.
#[derive(Default)]
struct Secrets {
    words: HashMap<String, String>,
    counts: HashMap<&'static str, u32>,
    /// Names by their first byte, the longest first.
    by_first: HashMap<u8, Vec<String>>,
}

impl Secrets {
    fn collect(&mut self, document: &Document) {
        // Also what each host of a fleet measured at a point.
        let all = document.measurements().into_iter();
        let measurements: Vec<&Measurement> = all
            .flat_map(|m| std::iter::once(m).chain(m.hosts.iter().map(|host| &host.measurement)))
            .collect();
        let environments = measurements.iter().map(|m| &m.environment);
        for environment in [document.environment()].into_iter().chain(environments) {
            if let Some(host) = &environment.host {
                host.findings.iter().for_each(|finding| self.groups(finding));
                self.host(&host.hostname);
            }
            environment.storage.iter().for_each(|s| self.storage(s));
        }
        for path in document.clone().paths_mut() {
            self.path("target", &path.to_string_lossy());
        }
        for m in measurements {
            self.workload(&m.workload);
            m.targets.iter().for_each(|t| self.path("target", &t.path.to_string_lossy()));
            m.errors.iter().for_each(|e| self.path("target", &e.path.to_string_lossy()));
            m.hosts.iter().for_each(|host| self.host(&host.name));
        }
        if let Document::Assessment(a) = document {
            a.hosts.iter().for_each(|host| self.host(&host.name));
        }
        if let Document::Durability(check) = document {
            self.host(&check.conclusion.host);
        }
        if let Document::Capture(capture) = document {
            let files = capture.conclusion.files.iter().flat_map(|files| &files.files);
            files.filter_map(|file| file.name.as_ref()).for_each(|name| self.path("file", name));
        }
        if let Document::FleetJob(job) = document {
            for host in &job.conclusion.hosts {
                self.host(&host.name);
                self.host(&host.hostname);
            }
            job.conclusion.documents().for_each(|(_, own)| self.collect(&own));
        }
        if let Document::Fleet(fleet) = document {
            for host in &fleet.conclusion.hosts {
                self.host(&host.name);
                self.host(&host.hostname);
            }
        }
        if let Document::Recording(recording) = document {
            let recording = &recording.conclusion;
            for device in &recording.devices {
                if device.kind == counters::BlockKind::Loop {
                    device.label.iter().for_each(|file| self.path("file", file));
                }
            }
            recording.attached.iter().for_each(|series| self.path("file", &series.file));
            recording.totals.rows.iter().for_each(|row| self.row(row));
        }
    }

    /// The files of a workload: the compiler asks here whether a new field holds a name.
    fn workload(&mut self, workload: &Workload) {
        #[rustfmt::skip]
        let Workload {
            targets, streams, seconds: _, precision: _, warmup_seconds: _, cooldown_seconds: _,
            engine: _, mode: _, completion: _, interval_ns: _, thread_series: _,
            on_error: _, seed: _, sim: _,
        } = workload;
        for target in targets {
            self.path("target", &target.path.to_string_lossy());
        }
        for stream in streams {
            #[rustfmt::skip]
            let Stream {
                content_file, name: _, targets: _, threads: _, depth: _, blocks: _, pattern: _,
                random_percent: _, distribution: _, align_bytes: _, write_percent: _, mode: _,
                hint: _, sync: _, durable: _, rate: _, rate_profile: _, think: _, offset_bytes: _,
                span_bytes: _, begin_bytes: _, diskspd: _, mix: _, pool: _, joined: _, members: _,
                buffers: _, content: _, cpus: _, priority: _,
            } = stream;
            if let Some(file) = content_file {
                self.path("file", &file.to_string_lossy());
            }
        }
    }

    /// A database, and those of its objects that people named: files and databases.
    fn row(&mut self, row: &results::RecordedRow) {
        self.add("database", &row.source);
        if let Some((_, rest)) = row.source.split_once("://") {
            let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
            let host = place.split(['/', '?']).next().unwrap_or_default();
            let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
            if host != "localhost" && !host.starts_with("127.") {
                self.host(host);
            }
        }
        let is_postgres = row.source.starts_with("postgres");
        let ours = row.object == "total" || row.object.starts_with("innodb (");
        if !ours && (!is_postgres || row.object.starts_with("database ")) {
            self.add("object", &row.object);
        }
    }

    /// Control groups have the names of services and their customers.
    fn groups(&mut self, finding: &inspect::Finding) {
        const OURS: [&str; 6] = ["blkio", "cpu", "cpuset", "memory", "system.slice", "user.slice"];
        let evidence = finding.evidence.iter().filter(|_| finding.code.starts_with("cgroup-"));
        let inner = evidence.filter_map(|e| e.place.strip_prefix("/sys/fs/cgroup/"));
        for (groups, _file) in inner.filter_map(|path| path.rsplit_once('/')) {
            for name in groups.split('/').filter(|name| !OURS.contains(name)) {
                self.add("group", name);
            }
        }
    }

    fn storage(&mut self, s: &inspect::Storage) {
        s.findings.iter().for_each(|finding| self.groups(finding));
        self.path("target", &s.target.to_string_lossy());
        self.path("target", &s.path.to_string_lossy());
        for device in &s.devices {
            self.device(device);
        }
        for layer in &s.chain {
            if let Some(label) = &layer.label {
                self.add("volume", label);
            }
            if let Some(file) = &layer.backing_file {
                self.path("file", file);
            }
            for path in &layer.paths {
                // The controller's address on a network; those of PCI and SCSI say nothing.
                let addresses = path
                    .address
                    .iter()
                    .flat_map(|a| a.split(','))
                    .filter_map(|a| a.split_once('='));
                for (_, address) in addresses.filter(|(name, _)| name.ends_with("addr")) {
                    self.add("address", address);
                }
            }
        }
        let Some(fs) = &s.file_system else { return };
        self.path("mount", &fs.mount_point.to_string_lossy());
        self.source(&fs.source);
        for option in fs.options.iter().filter(|option| !may_stay(option)) {
            let value = option.split_once('=').map_or(option.as_str(), |(_, value)| value);
            self.option(value);
        }
    }

    /// The value of a mount option, with its parts: it may be in sentences, too.
    fn option(&mut self, value: &str) {
        // A number that is short would be found in figures.
        let is_name = |text: &str| {
            text.chars().any(char::is_alphabetic) || text.len() > 4 && text.parse::<f64>().is_err()
        };
        if is_name(value) && value.len() > 2 {
            self.add("option", value);
        }
        for part in value.split([':', ',']).filter(|part| part.contains(['/', '\\', '.'])) {
            if is_name(part) {
                self.path("option", part);
            }
        }
    }

    /// The names of a disk that are its own in the world.
    fn device(&mut self, device: &inspect::Device) {
        if let Some(serial) = &device.serial {
            self.add("serial", serial.trim());
        }
        if let Some(wwn) = &device.wwn {
            self.add("wwn", wwn.trim());
        }
        let Some(link) = &device.link else { return };
        for port in [&link.local_port, &link.remote_port].into_iter().flatten() {
            self.add("port", port.trim());
        }
        if let Some(address) = &link.address {
            self.add("address", address.trim());
        }
    }

    /// A name, and its part before the domain.
    fn host(&mut self, name: &str) {
        let word = self.add("host", name);
        if let (Some(word), Some((short, domain))) = (word, name.split_once('.')) {
            self.add_as(short, &word);
            if domain.contains('.') {
                self.add("domain", domain);
            }
        }
    }

    /// A path, and the name at its end. Devices keep the names that the kernel gave them.
    fn path(&mut self, kind: &'static str, path: &str) {
        if is_device(path) {
            return;
        }
        let path = path.trim_end_matches(['/', '\\']);
        if let Some(user) = windows_user(path) {
            self.add("user", user);
        }
        let Some(word) = self.add(kind, path) else { return };
        if let Some(name) = path.rsplit(['/', '\\']).next() {
            self.add_as(name, &word);
        }
    }

    /// The name of a mounted thing that is not a device: an export of a server, a pool.
    fn source(&mut self, source: &str) {
        if is_device(source) || source_may_stay(source) {
            return;
        }
        if source.starts_with("/dev/") {
            return self.path("source", source);
        }
        let Some(word) = self.add("source", source) else { return };
        let first = source.trim_start_matches(['/', '\\']).split(['/', ':', '\\']).next();
        if let Some(first) = first.filter(|first| *first != source) {
            // A server, or the pool of a dataset.
            let is_server = first.contains('.') || source.contains(':') || source.starts_with("//");
            if is_server || source.starts_with("\\\\") {
                self.host(first);
            } else {
                self.add_as(first, &word);
            }
        }
        if let Some((_, export)) = source.split_once(':') {
            self.add_as(export.trim_end_matches('/'), &word);
        }
    }

    /// The word for a name; `None` if the name identifies nobody.
    fn add(&mut self, kind: &'static str, name: &str) -> Option<String> {
        if !tells(name) {
            return None;
        }
        if let Some(word) = self.words.get(name) {
            return Some(word.clone());
        }
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let word = format!("{kind}-{count}");
        self.words.insert(name.to_owned(), word.clone());
        Some(word)
    }

    fn add_as(&mut self, name: &str, word: &str) {
        if tells(name) {
            self.words.entry(name.to_owned()).or_insert_with(|| word.to_owned());
        }
    }

    fn finish(&mut self) {
        for name in self.words.keys() {
            if let Some(first) = name.bytes().next() {
                self.by_first.entry(first).or_default().push(name.clone());
            }
        }
        for names in self.by_first.values_mut() {
            names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        }
    }

    fn replace(&self, value: &mut Value, key: &str) {
        match value {
            Value::String(text) => {
                let ours =
                    |(k, words): &(&str, &[&str])| *k == key && words.contains(&text.as_str());
                if !CLOSED.contains(&key) && !OURS.iter().any(ours) {
                    *text = self.replaced(text);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|v| self.replace(v, key)),
            Value::Object(fields) => {
                let is_mount = fields.contains_key("mount_point");
                if let Some(Value::Array(options)) = fields.get_mut("options").filter(|_| is_mount)
                {
                    options.iter_mut().for_each(without_name);
                }
                fields.iter_mut().for_each(|(k, v)| self.replace(v, k));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The text with every name replaced, at each place the longest that is there.
    fn replaced(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(c) = rest.chars().next() {
            if let Some(name) = self.at(rest, before) {
                out.push_str(self.words.get(name).map_or("", String::as_str));
                before = name.chars().next_back();
                rest = rest.get(name.len()..).unwrap_or_default();
            } else {
                out.push(c);
                before = Some(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
            }
        }
        out
    }

    /// The longest name that a text begins with.
    fn at<'a>(&'a self, rest: &str, before: Option<char>) -> Option<&'a str> {
        let names = self.by_first.get(rest.as_bytes().first()?)?;
        let fits = |name: &&String| {
            let Some(after) = rest.strip_prefix(name.as_str()) else { return false };
            let joined = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !is_word(name) || !joined(before) && !joined(after.chars().next())
        };
        names.iter().find(fits).map(String::as_str)
    }
}

/// A mount option without what may be a name.
fn without_name(option: &mut Value) {
    if let Value::String(text) = option
        && !may_stay(text)
    {
        *text = name_of(text).map_or("redacted".to_owned(), |name| format!("{name}=redacted"));
    }
}

/// A name that consists of letters or digits only may be part of other words and numbers. It is
/// replaced only as a whole word.
fn is_word(name: &str) -> bool {
    name.chars().all(char::is_alphabetic) || name.chars().all(|c| c.is_ascii_digit())
}

/// Whether a path is that of a device by its name in the kernel (`/dev/vda1`). Others have names
/// that people gave them (`/dev/mapper/accounts-data`, `/dev/gpfs01`), or that contain serial
/// numbers (`/dev/disk/by-id/…`). On Windows they are `\\.\PhysicalDrive1` and drives such as `C:`.
fn is_device(path: &str) -> bool {
    let bare = path.strip_prefix(r"\\.\").unwrap_or(path);
    let drive = bare.trim_end_matches('\\').strip_suffix(':');
    path.strip_prefix("/dev/").is_some_and(is_kernel_name)
        || drive.is_some_and(|letter| letter.len() == 1)
        || bare
            .to_ascii_lowercase()
            .strip_prefix("physicaldrive")
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Whose directory a path of Windows is in: `anna` of `C:\Users\anna\data`.
fn windows_user(path: &str) -> Option<&str> {
    let (drive, rest) = path.split_once(':')?;
    let mut parts = rest.split(['\\', '/']).filter(|part| !part.is_empty());
    let is_profile = drive.chars().last().is_some_and(|c| c.is_ascii_alphabetic())
        && parts.next().is_some_and(|part| part.eq_ignore_ascii_case("users"));
    let user = parts.next().filter(|_| is_profile)?;
    (!["public", "default", "all users"].contains(&user.to_ascii_lowercase().as_str()))
        .then_some(user)
}

/// Whether a name says whose storage it is.
fn tells(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
    letters > 0 && !HARMLESS.contains(&name.trim_matches('/').to_ascii_lowercase().as_str())
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
