//! What a database counted next to what its devices did: which lines there are, and what their
//! difference means.

use std::collections::BTreeSet;

use counters::{BlockKind, DiskTally, Unit};
use results::{DiskTotal, RecordedRow, Recording, show_figure};

use crate::language::{count, say};
use crate::words;

/// The row of each database that sums up the others.
pub(crate) fn totals(rows: &[RecordedRow]) -> impl Iterator<Item = &RecordedRow> {
    rows.iter().filter(|row| row.object == RecordedRow::TOTAL)
}

/// What a row is called: the kind of database and the object; all of the URL where there are
/// several databases.
pub(crate) fn label(row: &RecordedRow, rows: &[RecordedRow]) -> String {
    let several = rows.iter().any(|other| other.source != row.source);
    let short = row.source.split("://").next().unwrap_or_default();
    let source = if several || short.is_empty() { row.source.as_str() } else { short };
    words::clean(&format!("{source}: {}", row.object))
}

/// The sum of each database, and of the others those that did the most, at most so many.
pub(crate) fn busiest(rows: &[RecordedRow], most: usize) -> Vec<&RecordedRow> {
    let operations = |row: &RecordedRow| {
        let counts = [row.reads, row.writes, row.syncs];
        counts.into_iter().flatten().fold(0, |sum: u64, count| sum.saturating_add(count))
    };
    let mut others: Vec<&RecordedRow> =
        rows.iter().filter(|row| row.object != RecordedRow::TOTAL).collect();
    others.sort_by_key(|row| std::cmp::Reverse(operations(row)));
    others.truncate(most);
    totals(rows).chain(others).collect()
}

/// The devices at the bottom, under all others: I/O to them reaches hardware.
fn lowest(r: &Recording) -> Vec<(&str, &DiskTotal)> {
    let is_storage = |kind| !matches!(kind, BlockKind::Loop | BlockKind::Memory);
    let lowest =
        r.devices.iter().filter(|device| device.below.is_empty() && is_storage(device.kind));
    let total = |name: &'_ str| r.totals.disks.get_key_value(name);
    lowest
        .filter_map(|device| total(&device.name))
        .filter(|(_, total)| !total.tally.is_idle())
        .map(|(name, total)| (name.as_str(), total))
        .collect()
}

/// The devices that count the I/O to the files of all databases; `None` where one is not known or
/// not recorded.
fn of_files(r: &Recording) -> Option<Vec<(&str, &DiskTotal)>> {
    let mut names = BTreeSet::new();
    for row in totals(&r.totals.rows) {
        let database = r.databases.iter().find(|database| database.source == row.source)?;
        names.extend(Some(&database.devices).filter(|devices| !devices.is_empty())?);
    }
    let total = |name: &String| r.totals.disks.get_key_value(name);
    let found: Option<Vec<_>> = names.into_iter().map(total).collect();
    Some(found?.into_iter().map(|(name, total)| (name.as_str(), total)).collect())
}

/// The devices next to the databases: those of their files, else those at the bottom.
pub(crate) fn devices(r: &Recording) -> Vec<(&str, &DiskTotal)> {
    of_files(r).unwrap_or_else(|| lowest(r))
}

/// The bytes of the log that are not among the written ones, from servers that count what was
/// logged and not what that wrote (PostgreSQL before 18).
fn logged_bytes(r: &Recording) -> f64 {
    let counted = |row: &&RecordedRow| {
        let is_log = |other: &RecordedRow| {
            let same = other.source == row.source && other.written_bytes.is_some();
            same && other.object.contains("/wal/")
        };
        !r.totals.rows.iter().any(is_log)
    };
    totals(&r.totals.rows).filter(counted).filter_map(|row| row.counters.get("wal_bytes")).sum()
}

/// What the difference between databases and devices means, in sentences.
pub(crate) fn meaning(r: &Recording) -> Vec<String> {
    let databases: Vec<&RecordedRow> = totals(&r.totals.rows).collect();
    if databases.is_empty() {
        return Vec::new();
    }
    let Some(devices) = of_files(r) else { return vec![say!("databases-not-compared")] };
    let names: Vec<&str> = devices.iter().map(|(name, _)| *name).collect();
    let names = words::clean(&names.join(", "));
    let of_devices = |of: fn(&DiskTally) -> u64| {
        devices
            .iter()
            .map(|(_, total)| of(&total.tally))
            .fold(0, |sum: u64, n| sum.saturating_add(n))
    };
    let of_databases = |of: fn(&RecordedRow) -> Option<u64>| {
        databases.iter().filter_map(|row| of(row)).reduce(u64::saturating_add)
    };
    let read = of_databases(|row| row.read_bytes)
        .map(|asked| reads_mean(databases.len(), asked, of_devices(|t| t.read_bytes), &names));
    let written = of_databases(|row| row.written_bytes).map(|asked| {
        let logged = logged_bytes(r);
        let logged = (logged > 0.0).then(|| show_figure(Unit::Bytes, logged));
        let logged = logged.map(|log| say!("databases-logged", log = log)).unwrap_or_default();
        say!(
            "databases-written",
            databases = count(databases.len()),
            asked = bytes(asked) + &logged,
            devices = names,
            taken = bytes(of_devices(|tally| tally.written_bytes)),
        )
    });
    read.into_iter().chain(written).collect()
}

fn bytes(amount: u64) -> String {
    show_figure(Unit::Bytes, amount as f64)
}

fn reads_mean(databases: usize, asked: u64, read: u64, names: &str) -> String {
    let both = say!(
        "databases-read",
        databases = count(databases),
        asked = bytes(asked),
        devices = names,
        read = bytes(read),
    );
    let why = if asked == 0 || read >= asked {
        say!("databases-others-read")
    } else {
        let cached = 100.0 * (asked - read) as f64 / asked as f64;
        say!("databases-cached", percent = format!("{cached:.0}"))
    };
    format!("{both} {why}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use counters::BlockDevice;
    use results::RecordedDatabase;

    use super::*;

    fn recording(database: Option<u64>, device: u64) -> Recording {
        let row = |object: &str, reads| RecordedRow {
            source: "postgres://db/x".to_owned(),
            object: object.to_owned(),
            reads: Some(reads),
            read_bytes: database,
            ..RecordedRow::default()
        };
        let tally = DiskTally { reads: 5, read_bytes: device, ..DiskTally::default() };
        let total = DiskTotal { tally, ..DiskTotal::default() };
        let device = BlockDevice {
            name: "vda".to_owned(),
            kind: BlockKind::Disk,
            label: None,
            size_bytes: 1 << 40,
            below: Vec::new(),
        };
        let mut r = Recording { devices: vec![device], ..Recording::default() };
        r.totals.disks = BTreeMap::from([("vda".to_owned(), total)]);
        r.totals.rows = vec![row("total", 30), row("a", 10), row("b", 20)];
        let source = "postgres://db/x".to_owned();
        r.databases = vec![RecordedDatabase { source, devices: vec!["vda".to_owned()] }];
        r
    }

    #[test]
    fn the_page_cache_is_what_no_device_read() {
        let text = meaning(&recording(Some(100 << 20), 10 << 20)).join(" ");
        assert!(
            text.contains("at least 90 % of what the database read came from the page cache"),
            "{text}"
        );
        let text = meaning(&recording(Some(1 << 20), 10 << 20)).join(" ");
        assert!(text.contains("others read as well"), "{text}");
        assert!(meaning(&recording(None, 0)).is_empty(), "nothing is said of what is not counted");
        let mut without = recording(Some(1), 1);
        without.totals.rows.clear();
        assert!(meaning(&without).is_empty());
    }

    /// What the database wrote was compared with the disk below its loop device, without its log.
    #[test]
    fn a_database_is_compared_with_the_device_of_its_files_and_with_its_log() {
        let mut r = recording(None, 1 << 30);
        let loop0 = DiskTally { written_bytes: 264 << 20, ..DiskTally::default() };
        let loop0 = DiskTotal { tally: loop0, ..DiskTotal::default() };
        r.totals.disks.insert("loop0".to_owned(), loop0);
        r.databases[0].devices = vec!["loop0".to_owned()];
        r.totals.rows[0].written_bytes = Some(13 << 20);
        r.totals.rows[0].counters.insert("wal_bytes".to_owned(), f64::from(240 << 20));
        let text = meaning(&r).join(" ");
        let expected = "wrote 13 MiB and logged 240 MiB of WAL, loop0 took 264 MiB";
        assert!(text.contains(expected), "{text}");
        // From 18 on, the log is among the writes.
        r.totals.rows[1].object = "walwriter/wal/normal".to_owned();
        r.totals.rows[1].written_bytes = Some(9 << 20);
        assert!(meaning(&r).join(" ").contains("wrote 13 MiB, loop0 took"));
        r.databases.clear();
        let text = meaning(&r).join(" ");
        assert!(text.contains("nothing is compared") && !text.contains("MiB"), "{text}");
    }

    #[test]
    fn the_sum_comes_first_and_then_the_busiest() {
        let r = recording(Some(1), 1);
        let names: Vec<&str> =
            busiest(&r.totals.rows, 1).iter().map(|r| r.object.as_str()).collect();
        assert_eq!(names, ["total", "b"]);
        assert_eq!(label(&r.totals.rows[1], &r.totals.rows), "postgres: a");
        let mut two = r.totals.rows.clone();
        two[0].source = "postgres://other/x".to_owned();
        assert_eq!(label(&two[1], &two), "postgres://db/x: a");
    }
}
