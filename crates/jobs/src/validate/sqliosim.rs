//! What a configuration of SQLIOSim means for the simulated database, and what of it is not done.

use std::time::Duration;

use std::path::PathBuf;

use dialects::sqliosim::{Configuration, DataFile, Summary};
use integrity::{Hardening, Plan, RandomUsers, Resizing, Role, ScanUsers, Throttle, slot_bytes};
use results::Validation;
use workload::{Bytes, EngineChoice, Mode};

use super::{FilePlan, ResizePlan, ValidatePlan};
use crate::conduct::JobError;

/// Memory for pages and buffers if the configuration sets nothing, in MiB.
const MEMORY_MB: u64 = 512;
/// More threads than this only cost.
const THREADS_MAX: u64 = 16;
/// The least and the most I/Os of a thread in flight.
const DEPTHS: (u64, u64) = (4, 64);
/// Changed pages that a thread holds back in memory.
const DIRTY_PAGES: (u64, u64) = (64, 1 << 20);
const DIRTY_PAGES_USUAL: u64 = 4096;
/// Pages of 8 KiB in a MiB.
const PAGES_PER_MIB: u64 = 128;

/// Everything that a configuration does not say.
#[derive(Debug, Clone)]
pub struct SqliosimPlace {
    /// The name of the configuration.
    pub name: String,
    /// Where its files are, in its order.
    pub paths: Vec<PathBuf>,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// Seed of every random choice in the run.
    pub seed: u64,
}

/// A configuration as the simulated database takes it.
#[derive(Debug)]
pub struct MappedConfiguration {
    /// The plan that a configuration describes.
    pub plan: ValidatePlan,
    /// What the configuration says and is not done so.
    pub notes: Vec<String>,
}

/// Turns a configuration into a plan of iosonde.
#[must_use]
pub fn of_sqliosim(config: &Configuration, place: SqliosimPlace) -> MappedConfiguration {
    let general = &config.general;
    let available = std::thread::available_parallelism().map_or(2, |n| n.get() as u64);
    let cpus = general.cpu_count.map_or(available, whole);
    let direct = general.no_buffering || general.scatter_gather;
    let plan = ValidatePlan {
        seconds: whole(general.test_cycle_duration_s) as f64,
        engine: place.engine,
        mode: if direct { Mode::Direct } else { Mode::Buffered },
        configuration: Some(place.name),
        database: with_threads(config, cpus, users_of(config, cpus, place.seed)),
        files: config.files.iter().zip(place.paths).map(file_plan).collect(),
    };
    MappedConfiguration { plan, notes: notes(config) }
}

impl MappedConfiguration {
    /// Refuses what the simulated database cannot do, in the words of the configuration.
    ///
    /// # Errors
    /// Every rule that is broken.
    pub fn check(&self) -> Result<(), JobError> {
        let wrong = self.plan.database.violations();
        let words =
            |e: &integrity::PlanError| format!("{} is {}: {}", key_of(e.field), e.value, e.rule);
        let wrong: Vec<String> = wrong.iter().map(words).collect();
        if wrong.is_empty() { Ok(()) } else { Err(JobError::Usage(wrong.join("\n"))) }
    }

    /// SQLIOSim's final summary of each file.
    #[must_use]
    pub fn summaries(&self, config: &Configuration, found: &Validation) -> Vec<String> {
        let files = config.files.iter().zip(&self.plan.files).zip(&found.files);
        let summary = |((file, plan), ios): ((&DataFile, &FilePlan), _)| {
            // Files that were removed by now were files.
            let is_file = !plan.path.exists() || plan.path.is_file();
            let summary = Summary {
                name: &file.file_name,
                sparse: is_file.then_some(plan.sparse),
                target_ms: whole(config.general.target_io_duration_ms),
                ios,
            };
            summary.to_text()
        };
        files.map(summary).collect()
    }
}

/// What a configuration calls a field of the plan.
fn key_of(field: &str) -> &str {
    match field {
        "random.users" => "[RandomUser] UserCount",
        "random.log_bytes" => "[RandomUser] MinLogPerBuffer to MaxLogPerBuffer",
        "random.chain_pages" => "[RandomUser] MinIOChainLength to MaxIOChainLength",
        "audit.users" => "[AuditUser] UserCount",
        "audit.pages" => "[AuditUser] BuffersValidated",
        "audit.cycles" => "[AuditUser] DelayAfterCycles",
        "read_ahead.users" => "[ReadAheadUser] UserCount",
        "read_ahead.pages" => "[ReadAheadUser] BuffersRAMin to BuffersRAMax",
        "read_ahead.cycles" => "[ReadAheadUser] DelayAfterCycles",
        "bulk.users" => "[BulkUpdateUser] UserCount",
        "bulk.pages" => "[BulkUpdateUser] BuffersBUMin to BuffersBUMax",
        "bulk.cycles" => "[BulkUpdateUser] DelayAfterCycles",
        "resizing.pause" => "[ShrinkUser] MinShrinkInterval to MaxShrinkInterval",
        "resizing.steps" => "[ShrinkUser] MinExtends to MaxExtends",
        other => other,
    }
}

/// The most that a file may have, how it begins, and whether its size changes. A log is written
/// wholly and keeps its size.
fn file_plan((file, path): (&DataFile, PathBuf)) -> FilePlan {
    let bytes = |mb: i64| whole(mb).saturating_mul(1 << 20);
    FilePlan {
        path,
        size_bytes: Some(Bytes(most_bytes(file))),
        role: if file.log_file { Role::Log } else { Role::Data },
        sparse: file.sparse && !file.log_file,
        resize: resizes(file).then(|| ResizePlan {
            begin_bytes: bytes(file.initial_size_mb),
            step_bytes: bytes(file.increment_mb),
        }),
    }
}

/// Whether a file becomes shorter and longer.
fn resizes(file: &DataFile) -> bool {
    let most = file.max_size_mb.unwrap_or(0).max(file.initial_size_mb);
    file.shrinkable && file.increment_mb > 0 && file.increment_mb <= most && !file.log_file
}

/// The most that a file may have.
fn most_bytes(file: &DataFile) -> u64 {
    let initial = file.initial_size_mb;
    let most = if resizes(file) { file.max_size_mb.unwrap_or(0).max(initial) } else { initial };
    whole(most).saturating_mul(1 << 20)
}

/// The user that makes files shorter and longer; `None` if all keep their size.
fn resizing(config: &Configuration) -> Option<Resizing> {
    let shrink = &config.shrink;
    config.files.iter().any(resizes).then(|| Resizing {
        pause_min: Duration::from_secs(whole(shrink.interval_s_min)),
        pause_max: Duration::from_secs(whole(shrink.interval_s_max)),
        steps: (u32_of(whole(shrink.extends_min)).max(1), u32_of(whole(shrink.extends_max)).max(1)),
        stamp: config.general.stamp_files,
    })
}

/// The plan but for its threads.
fn users_of(config: &Configuration, cpus: u64, seed: u64) -> Plan {
    let Configuration { general, random, audit, read_ahead, bulk, .. } = config;
    let users = |count: i64| u32_of(if count < 0 { (cpus * 2).min(8) } else { whole(count) });
    let scan = |count: i64, (from, to): (i64, i64), cycles: i64, delay_ms: i64| ScanUsers {
        users: users(count),
        pages: (u32_of(whole(from)), u32_of(whole(to))),
        cycles: u32_of(whole(cycles)).max(1),
        delay: Duration::from_millis(whole(delay_ms)),
    };
    let pair = |from: i64, to: i64| (u32_of(whole(from)), u32_of(whole(to)));
    Plan {
        seed,
        hardening: if general.write_through { Hardening::WriteThrough } else { Hardening::Flush },
        random: RandomUsers {
            users: users(random.user_count),
            jump_percent: percent(random.jump_percentage),
            chain_pages: pair(random.chain_pages_min, random.chain_pages_max),
            update_percent: percent(random.update_ratio),
            log_bytes: pair(random.log_bytes_min, random.log_bytes_max),
            rollback_percent: percent(random.rollback_chance),
            sleep: Duration::from_millis(whole(random.sleep_after_ms)),
        },
        audit: scan(
            audit.user_count,
            (audit.pages, audit.pages),
            audit.delay_after_cycles,
            audit.delay_ms,
        ),
        read_ahead: scan(
            read_ahead.user_count,
            (read_ahead.pages_min, read_ahead.pages_max),
            read_ahead.delay_after_cycles,
            read_ahead.delay_ms,
        ),
        bulk: scan(
            bulk.user_count,
            (bulk.pages_min, bulk.pages_max),
            bulk.delay_after_cycles,
            bulk.delay_ms,
        ),
        stop_on_fault: general.stop_on_error,
        cycles: u32_of(whole(general.test_cycles)),
        throttle: Some(Throttle {
            target: Duration::from_millis(whole(general.target_io_duration_ms)),
            bursts: general.allow_io_bursts,
        }),
        cache_hit_percent: percent(general.cache_hit_ratio),
        force_read_ahead: general.force_read_ahead,
        scatter_gather: general.scatter_gather,
        resizing: resizing(config),
        ..Plan::default()
    }
}

/// As many threads as there are CPUs, logs have room for, and I/Os may be in flight; as deep as
/// memory has room for.
fn with_threads(config: &Configuration, cpus: u64, mut plan: Plan) -> Plan {
    let general = &config.general;
    let logs = config.files.iter().filter(|file| file.log_file);
    // A thread needs 1 MiB of its log.
    let room = logs.clone().map(|log| whole(log.initial_size_mb)).min();
    let logs = logs.count() as u64;
    let in_flight = match whole(general.max_outstanding_io) {
        0 => u64::MAX,
        most => most,
    };
    let threads = cpus
        .min(THREADS_MAX)
        .min(room.map_or(THREADS_MAX, |room| room.saturating_mul(logs)))
        .min(in_flight / DEPTHS.0)
        .max(logs)
        .max(1);
    let memory = general.max_memory_mb.map_or(MEMORY_MB, whole).saturating_mul(1 << 20);
    // Half of it for I/Os under way, each with a buffer for reading and one for writing.
    let buffers = u64::from(slot_bytes(&plan)) * 2 * threads;
    let depth = (memory / 2 / buffers.max(1)).min(in_flight / threads).clamp(DEPTHS.0, DEPTHS.1);
    let dirty = general
        .max_memory_mb
        .map_or(DIRTY_PAGES_USUAL, |mb| whole(mb).saturating_mul(PAGES_PER_MIB) / threads);
    let dirty = dirty.clamp(DIRTY_PAGES.0, DIRTY_PAGES.1);
    (plan.threads, plan.depth) = (u32_of(threads), u32_of(depth));
    plan.dirty_pages = u32_of(dirty);
    plan
}

/// Everything that the configuration says and that is done otherwise or not at all.
fn notes(config: &Configuration) -> Vec<String> {
    let Configuration { general, files, random, audit, read_ahead, bulk, .. } = config;
    let mut notes = Vec::new();
    let mut add = |applies: bool, text: &str| {
        if applies {
            notes.push(text.to_owned());
        }
    };
    add(
        general.affinity != 0 || general.io_affinity != 0,
        "`Affinity`, `IOAffinity`: threads are not bound to CPUs",
    );
    add(
        (1..4).contains(&general.max_outstanding_io),
        "`MaxOutstandingIO`: a thread has 4 I/Os in flight at least",
    );
    add(
        general.scatter_gather && !general.no_buffering,
        "`NoBuffering` is TRUE because `UseScatterGather` is, as in SQLIOSim",
    );
    add(
        !general.write_through,
        "`WriteThrough=FALSE`: files are flushed instead, the log before a commit is done and \
         data at the end of a checkpoint",
    );
    add(
        !general.delete_files_at_startup,
        "`DeleteFilesAtStartup=FALSE`: files are kept, and every page of them is written anew",
    );
    add(
        files.iter().any(|f| f.log_file && (f.shrinkable || f.sparse)),
        "`Shrinkable`, `Sparse` of a log: logs are wholly written and keep their size",
    );
    add(
        files.iter().any(|f| f.shrinkable && !f.log_file && !resizes(f)),
        "`Shrinkable` without an `Increment` that fits into the file: it keeps its size",
    );
    let stream = |name: &str| name.char_indices().any(|(at, c)| c == ':' && at > 1);
    add(
        files.iter().any(|f| stream(&f.file_name)),
        "a stream of a file is a separate file here, with the colon in its name",
    );
    add(
        !files.iter().any(|f| f.log_file),
        "no file is a `LogFile`: pages are written without a record of their change before them",
    );
    add(
        random.yield_percentage != 0
            || random.cpu_simulation
            || random.cpu_cycles_min != 0
            || random.cpu_cycles_max != 0,
        "`YieldPercentage`, `CPUSimulation`, `CPUCyclesMin`, `CPUCyclesMax`: no CPU time is spent \
         between I/Os",
    );
    add(
        [audit.delay_after_cycles, read_ahead.delay_after_cycles, bulk.delay_after_cycles]
            .contains(&0),
        "`DelayAfterCycles=0` is taken as 1",
    );
    notes
}

/// No less than nothing; the rules of the configuration have refused anything else.
fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn u32_of(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Turns 1/100 % into percent.
fn percent(hundredths: i64) -> f64 {
    hundredths as f64 / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use dialects::sqliosim::{NAMES, shipped};

    fn mapped(config: &Configuration) -> MappedConfiguration {
        let paths = config.files.iter().map(|file| file.file_name.clone().into()).collect();
        let name = "default".to_owned();
        of_sqliosim(config, SqliosimPlace { name, paths, engine: EngineChoice::Auto, seed: 1 })
    }

    fn roles(mapped: &MappedConfiguration) -> Vec<Role> {
        mapped.plan.files.iter().map(|file| file.role).collect()
    }

    fn sizes(mapped: &MappedConfiguration) -> Vec<u64> {
        mapped.plan.files.iter().filter_map(|file| Some(file.size_bytes?.0)).collect()
    }

    #[test]
    fn the_shipped_ones_are_plans_with_their_meaning() {
        for name in NAMES {
            let config = shipped(name).unwrap();
            let mapped = mapped(&config);
            assert!(mapped.check().is_ok(), "{name}");
            assert_eq!(roles(&mapped).len(), config.files.len());
        }
        let of = |name| mapped(&shipped(name).unwrap());
        let default = of("default");
        let Plan { random, audit, bulk, .. } = default.plan.database.clone();
        assert_eq!((random.jump_percent, random.update_percent), (5.0, 90.0));
        assert_eq!((random.chain_pages, random.log_bytes), ((50, 100), (64, 8192)));
        assert_eq!((audit.users, audit.pages, bulk.pages), (2, (64, 64), (64, 128)));
        assert_eq!(default.plan.database.throttle.unwrap().target, Duration::from_millis(100));
        assert_eq!((default.plan.seconds, default.plan.database.cycles), (300.0, 1));
        assert!((default.plan.database.cache_hit_percent - 10.0).abs() < 1e-9);
        assert_eq!(default.plan.mode, Mode::Direct);
        let writes = of("seqwrites").plan.database;
        assert_eq!(
            (writes.random.users, writes.audit.users, writes.bulk.pages),
            (0, 0, (600, 1000))
        );
        assert!(writes.bulk.users > 0 && !writes.force_read_ahead);
        let sparse = of("sparse");
        assert!(!sparse.plan.database.scatter_gather && sparse.plan.database.cycles == 3);
        assert_eq!(roles(&sparse), [Role::Data, Role::Log, Role::Data]);
        let holes: Vec<bool> = sparse.plan.files.iter().map(|file| file.sparse).collect();
        assert_eq!(holes, [false, false, true]);
        assert!(sparse.plan.database.resizing.is_none() && sizes(&sparse)[0] == 1000 << 20);
        assert!(sparse.notes.iter().any(|n| n.contains("stream")));
        assert!(of("hwcache").notes.is_empty(), "{:?}", of("hwcache").notes);
    }

    #[test]
    fn limits_bound_threads_and_depth() {
        let mut config = shipped("hwcache").unwrap();
        config.general.cpu_count = Some(8);
        let plan = |config: &Configuration| mapped(config).plan.database;
        assert_eq!((plan(&config).threads, plan(&config).random.users), (8, 8));
        config.general.max_outstanding_io = 20;
        let bounded = plan(&config);
        assert!(bounded.threads * bounded.depth <= 20, "{bounded:?}");
        config.general.max_outstanding_io = 1;
        assert_eq!((plan(&config).threads, plan(&config).depth), (1, 4));
        config.general.max_outstanding_io = 0;
        config.files[1].initial_size_mb = 4;
        assert_eq!(plan(&config).threads, 4);
    }

    #[test]
    fn files_that_can_become_shorter_and_longer_do() {
        let mut config = shipped("hwcache").unwrap();
        let file = &mut config.files[0];
        (file.max_size_mb, file.increment_mb, file.shrinkable) = (Some(200), 10, true);
        config.general.stamp_files = true;
        (config.shrink.interval_s_min, config.shrink.interval_s_max) = (3, 7);
        let done = mapped(&config);
        assert_eq!(sizes(&done), [200 << 20, 50 << 20]);
        let resize = ResizePlan { begin_bytes: 100 << 20, step_bytes: 10 << 20 };
        assert_eq!(done.plan.files[0].resize, Some(resize));
        assert!(done.plan.files[1].is_usual());
        let resizing = done.plan.database.resizing.unwrap();
        assert_eq!((resizing.pause_min.as_secs(), resizing.pause_max.as_secs()), (3, 7));
        assert!(resizing.steps == (1, 20) && resizing.stamp && done.notes.is_empty());
        config.files[0].increment_mb = 0;
        let kept = mapped(&config);
        assert!(kept.plan.database.resizing.is_none() && sizes(&kept)[0] == 100 << 20);
        assert!(kept.notes.iter().any(|n| n.contains("Increment")), "{:?}", kept.notes);
    }

    #[test]
    fn what_is_not_done_is_told() {
        let mut config = shipped("hwcache").unwrap();
        config.general.affinity = 3;
        config.general.write_through = false;
        config.general.no_buffering = false;
        config.random.cpu_simulation = true;
        config.files.truncate(1);
        let notes = mapped(&config).notes.join("\n");
        for key in ["Affinity", "WriteThrough", "NoBuffering", "CPUSimulation", "LogFile"] {
            assert!(notes.contains(key), "{key}: {notes}");
        }
    }
}
