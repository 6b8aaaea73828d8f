//! Every key by its name, with its range: the reader and the writer have the same table.

use super::config::{
    AuditUser, BulkUpdateUser, Configuration, DataFile, General, RandomUser, ReadAheadUser,
    ShrinkUser,
};

/// The type of a key's value.
pub(super) enum Value<'a> {
    Flag(&'a mut bool),
    Number(&'a mut i64),
    /// A number that may not be there.
    Maybe(&'a mut Option<i64>),
    Text(&'a mut String),
    MaybeText(&'a mut Option<String>),
}

/// A key of a section, and its rules.
pub(super) struct Key<'a> {
    /// The name of the key in a configuration file.
    pub name: &'static str,
    /// Its name in the documentation, if that differs.
    pub other: Option<&'static str>,
    /// The least and the most allowed value.
    pub range: (i64, i64),
    pub value: Value<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Section {
    Config,
    /// A file, by its place in the list.
    File(usize),
    Random,
    Audit,
    ReadAhead,
    Bulk,
    Shrink,
}

/// Sections that are there once, as they are written.
pub(super) const SECTIONS: [(&str, Section); 6] = [
    ("CONFIG", Section::Config),
    ("RandomUser", Section::Random),
    ("AuditUser", Section::Audit),
    ("ReadAheadUser", Section::ReadAhead),
    ("BulkUpdateUser", Section::Bulk),
    ("ShrinkUser", Section::Shrink),
];

/// The range of ratios in 1/100 %.
const RATIO: (i64, i64) = (0, 10_000);
/// The range of counts that may be 0.
const ANY: (i64, i64) = (0, i64::MAX);
/// Times: more than any run has.
const TIME: (i64, i64) = (0, 1_000_000_000);
/// The range of numbers of pages.
const PAGES: (i64, i64) = (1, 1 << 40);
/// MiB: no file system has more.
const MIB: (i64, i64) = (1, 1 << 43);
/// Users; -1 leaves it to SQLIOSim. The rule for all of them together is in `rules`.
const USERS: (i64, i64) = (-1, i64::MAX);
/// The longest record of the log.
const LOG: (i64, i64) = (1, 64_000);

fn flag<'a>(name: &'static str, value: &'a mut bool) -> Key<'a> {
    Key { name, other: None, range: (0, 1), value: Value::Flag(value) }
}

fn number<'a>(name: &'static str, range: (i64, i64), value: &'a mut i64) -> Key<'a> {
    Key { name, other: None, range, value: Value::Number(value) }
}

fn maybe<'a>(name: &'static str, range: (i64, i64), value: &'a mut Option<i64>) -> Key<'a> {
    Key { name, other: None, range, value: Value::Maybe(value) }
}

impl Configuration {
    /// The keys of a section; none of a file that is not there.
    pub(super) fn keys(&mut self, section: Section) -> Vec<Key<'_>> {
        match section {
            Section::Config => self.general.keys(),
            Section::File(index) => self.files.get_mut(index).map_or_else(Vec::new, DataFile::keys),
            Section::Random => self.random.keys(),
            Section::Audit => self.audit.keys(),
            Section::ReadAhead => self.read_ahead.keys(),
            Section::Bulk => self.bulk.keys(),
            Section::Shrink => self.shrink.keys(),
        }
    }

    /// The name of a section in a file.
    pub(super) fn name_of(&self, section: Section) -> String {
        match section {
            Section::File(index) => {
                format!("File{}", self.files.get(index).map_or(0, |file| file.number))
            }
            other => {
                let found = SECTIONS.iter().find(|(_, section)| *section == other);
                found.map_or_else(String::new, |(name, _)| (*name).to_owned())
            }
        }
    }

    /// All sections, as they are written.
    pub(super) fn sections(&self) -> Vec<Section> {
        let files = (0..self.files.len()).map(Section::File);
        let (config, users) = SECTIONS.split_at(1);
        let of = |part: &[(&str, Section)]| part.iter().map(|(_, s)| *s).collect::<Vec<_>>();
        of(config).into_iter().chain(files).chain(of(users)).collect()
    }
}

impl General {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let error_file = Value::MaybeText(&mut self.error_file);
        vec![
            Key { name: "ErrorFile", other: None, range: ANY, value: error_file },
            maybe("CPUCount", (1, 64), &mut self.cpu_count),
            number("Affinity", ANY, &mut self.affinity),
            number("IOAffinity", ANY, &mut self.io_affinity),
            maybe("MaxMemoryMB", MIB, &mut self.max_memory_mb),
            flag("StopOnError", &mut self.stop_on_error),
            number("TestCycles", TIME, &mut self.test_cycles),
            number("TestCycleDuration", TIME, &mut self.test_cycle_duration_s),
            number("CacheHitRatio", RATIO, &mut self.cache_hit_ratio),
            number("MaxOutstandingIO", (0, 140_000), &mut self.max_outstanding_io),
            number("TargetIODuration", TIME, &mut self.target_io_duration_ms),
            flag("AllowIOBursts", &mut self.allow_io_bursts),
            flag("NoBuffering", &mut self.no_buffering),
            flag("WriteThrough", &mut self.write_through),
            Key {
                other: Some("ScatterGather"),
                ..flag("UseScatterGather", &mut self.scatter_gather)
            },
            flag("ForceReadAhead", &mut self.force_read_ahead),
            flag("DeleteFilesAtStartup", &mut self.delete_files_at_startup),
            flag("DeleteFilesAtShutdown", &mut self.delete_files_at_shutdown),
            flag("StampFiles", &mut self.stamp_files),
        ]
    }
}

impl DataFile {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let file_name = Value::Text(&mut self.file_name);
        vec![
            Key { name: "FileName", other: None, range: ANY, value: file_name },
            number("InitialSize", MIB, &mut self.initial_size_mb),
            maybe("MaxSize", (0, MIB.1), &mut self.max_size_mb),
            number("Increment", (0, MIB.1), &mut self.increment_mb),
            flag("Shrinkable", &mut self.shrinkable),
            flag("Sparse", &mut self.sparse),
            flag("LogFile", &mut self.log_file),
        ]
    }
}

impl RandomUser {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            number("UserCount", USERS, &mut self.user_count),
            number("JumpToNewRegionPercentage", RATIO, &mut self.jump_percentage),
            number("MinIOChainLength", PAGES, &mut self.chain_pages_min),
            number("MaxIOChainLength", PAGES, &mut self.chain_pages_max),
            number("RandomUserReadWriteRatio", RATIO, &mut self.update_ratio),
            number("MinLogPerBuffer", LOG, &mut self.log_bytes_min),
            number("MaxLogPerBuffer", LOG, &mut self.log_bytes_max),
            number("RollbackChance", RATIO, &mut self.rollback_chance),
            number("SleepAfter", TIME, &mut self.sleep_after_ms),
            number("YieldPercentage", RATIO, &mut self.yield_percentage),
            flag("CPUSimulation", &mut self.cpu_simulation),
            number("CPUCyclesMin", ANY, &mut self.cpu_cycles_min),
            number("CPUCyclesMax", ANY, &mut self.cpu_cycles_max),
        ]
    }
}

impl AuditUser {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            number("UserCount", USERS, &mut self.user_count),
            number("BuffersValidated", PAGES, &mut self.pages),
            number("DelayAfterCycles", TIME, &mut self.delay_after_cycles),
            number("AuditDelay", TIME, &mut self.delay_ms),
        ]
    }
}

impl ReadAheadUser {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            number("UserCount", USERS, &mut self.user_count),
            number("BuffersRAMin", PAGES, &mut self.pages_min),
            number("BuffersRAMax", PAGES, &mut self.pages_max),
            number("DelayAfterCycles", TIME, &mut self.delay_after_cycles),
            number("RADelay", TIME, &mut self.delay_ms),
        ]
    }
}

impl BulkUpdateUser {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            number("UserCount", USERS, &mut self.user_count),
            number("BuffersBUMin", PAGES, &mut self.pages_min),
            number("BuffersBUMax", PAGES, &mut self.pages_max),
            number("DelayAfterCycles", TIME, &mut self.delay_after_cycles),
            number("BUDelay", TIME, &mut self.delay_ms),
        ]
    }
}

impl ShrinkUser {
    fn keys(&mut self) -> Vec<Key<'_>> {
        vec![
            number("MinShrinkInterval", TIME, &mut self.interval_s_min),
            number("MaxShrinkInterval", TIME, &mut self.interval_s_max),
            number("MinExtends", TIME, &mut self.extends_min),
            number("MaxExtends", TIME, &mut self.extends_max),
        ]
    }
}
