//! What a configuration says, as plain data, in SQLIOSim's units.

/// A configuration. Its default is what SQLIOSim uses if a file sets nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The section `[CONFIG]`.
    pub general: General,
    /// The sections `[FileN]`, by rising numbers.
    pub files: Vec<DataFile>,
    /// The section `[RandomUser]`.
    pub random: RandomUser,
    /// The section `[AuditUser]`.
    pub audit: AuditUser,
    /// The section `[ReadAheadUser]`.
    pub read_ahead: ReadAheadUser,
    /// The section `[BulkUpdateUser]`.
    pub bulk: BulkUpdateUser,
    /// The section `[ShrinkUser]`.
    pub shrink: ShrinkUser,
}

/// The section `[CONFIG]`: settings of the whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
pub struct General {
    /// `ErrorFile`: where the log goes; none is `sqliosim.log.xml`.
    pub error_file: Option<String>,
    /// `CPUCount`: CPUs that the database has; none is all of the machine.
    pub cpu_count: Option<i64>,
    /// `Affinity`: the CPUs that may be used, as a mask; 0 is all.
    pub affinity: i64,
    /// `IOAffinity`: those that finish I/Os; 0 is all.
    pub io_affinity: i64,
    /// `MaxMemoryMB`: size of the buffer pool; `None` means the memory that is free at the start.
    pub max_memory_mb: Option<i64>,
    /// `StopOnError`: the run ends with the first error.
    pub stop_on_error: bool,
    /// `TestCycles`: how often the test is made; 0 is for ever.
    pub test_cycles: i64,
    /// `TestCycleDuration`: its length in seconds, without the audit at its end.
    pub test_cycle_duration_s: i64,
    /// `CacheHitRatio`: share of the reads that find their page in memory, in 1/100 %.
    pub cache_hit_ratio: i64,
    /// `MaxOutstandingIO`: I/Os in flight at most; 0 is about 140 000.
    pub max_outstanding_io: i64,
    /// `TargetIODuration`: the average duration of I/Os from which on they are throttled, in
    /// milliseconds.
    pub target_io_duration_ms: i64,
    /// `AllowIOBursts`: the first and the last writing of pages is not throttled.
    pub allow_io_bursts: bool,
    /// `NoBuffering`: past the cache of the operating system.
    pub no_buffering: bool,
    /// `WriteThrough`: every write is on stable media when it is done.
    pub write_through: bool,
    /// `ScatterGather`, `UseScatterGather`: several pages in one I/O; false is one I/O per page.
    pub scatter_gather: bool,
    /// `ForceReadAhead`: pages are read ahead even if they are in memory.
    pub force_read_ahead: bool,
    /// `DeleteFilesAtStartup`: whether old files are removed first.
    pub delete_files_at_startup: bool,
    /// `DeleteFilesAtShutdown`: whether files are removed at the end.
    pub delete_files_at_shutdown: bool,
    /// `StampFiles`: files that grow are filled with zeros.
    pub stamp_files: bool,
}

/// `[FileN]`: a file of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataFile {
    /// The N of the section's name.
    pub number: u32,
    /// `FileName`: a path, perhaps with a stream after a colon.
    pub file_name: String,
    /// `InitialSize`, in MiB.
    pub initial_size_mb: i64,
    /// `MaxSize`, in MiB; `None` if it is not said.
    pub max_size_mb: Option<i64>,
    /// `Increment`, in MiB: by how much it grows and shrinks; 0 is not at all.
    pub increment_mb: i64,
    /// `Shrinkable`: whether the file may shrink and grow.
    pub shrinkable: bool,
    /// `Sparse`: whether the file begins as a hole.
    pub sparse: bool,
    /// `LogFile`: it holds the log, and no pages.
    pub log_file: bool,
}

/// `[RandomUser]`: users that change a page here and there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomUser {
    /// `UserCount`: -1 is twice the CPUs, at most 8.
    pub user_count: i64,
    /// `JumpToNewRegionPercentage`, in 1/100 %.
    pub jump_percentage: i64,
    /// `MinIOChainLength`, in pages.
    pub chain_pages_min: i64,
    /// `MaxIOChainLength`, in pages.
    pub chain_pages_max: i64,
    /// `RandomUserReadWriteRatio`: share of the pages that are changed, in 1/100 %.
    pub update_ratio: i64,
    /// `MinLogPerBuffer`, in bytes.
    pub log_bytes_min: i64,
    /// `MaxLogPerBuffer`, in bytes.
    pub log_bytes_max: i64,
    /// `RollbackChance`, in 1/100 %.
    pub rollback_chance: i64,
    /// `SleepAfter`, in milliseconds.
    pub sleep_after_ms: i64,
    /// `YieldPercentage`, in 1/100 %.
    pub yield_percentage: i64,
    /// `CPUSimulation`: whether users also use the CPU.
    pub cpu_simulation: bool,
    /// `CPUCyclesMin`: the least work for the CPU.
    pub cpu_cycles_min: i64,
    /// `CPUCyclesMax`: the most work for the CPU.
    pub cpu_cycles_max: i64,
}

/// `[AuditUser]`: users that read pages in a row and check them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditUser {
    /// `UserCount`: how many such users there are.
    pub user_count: i64,
    /// `BuffersValidated`, in pages.
    pub pages: i64,
    /// `DelayAfterCycles`: pause after so many cycles.
    pub delay_after_cycles: i64,
    /// `AuditDelay`, in milliseconds.
    pub delay_ms: i64,
}

/// `[ReadAheadUser]`: users that read many pages at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadAheadUser {
    /// `UserCount`: how many such users there are.
    pub user_count: i64,
    /// `BuffersRAMin`, in pages.
    pub pages_min: i64,
    /// `BuffersRAMax`, in pages.
    pub pages_max: i64,
    /// `DelayAfterCycles`: pause after so many cycles.
    pub delay_after_cycles: i64,
    /// `RADelay`, in milliseconds.
    pub delay_ms: i64,
}

/// `[BulkUpdateUser]`: users that write many pages at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkUpdateUser {
    /// `UserCount`: -1 is twice the CPUs, at most 8.
    pub user_count: i64,
    /// `BuffersBUMin`, in pages.
    pub pages_min: i64,
    /// `BuffersBUMax`, in pages.
    pub pages_max: i64,
    /// `DelayAfterCycles`: pause after so many cycles.
    pub delay_after_cycles: i64,
    /// `BUDelay`, in milliseconds.
    pub delay_ms: i64,
}

/// The section `[ShrinkUser]`: the user that shrinks files and lets them grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShrinkUser {
    /// `MinShrinkInterval`, in seconds.
    pub interval_s_min: i64,
    /// `MaxShrinkInterval`, in seconds.
    pub interval_s_max: i64,
    /// `MinExtends`, in increments of the file.
    pub extends_min: i64,
    /// `MaxExtends`, in increments of the file.
    pub extends_max: i64,
}

impl Default for General {
    fn default() -> Self {
        Self {
            error_file: None,
            cpu_count: None,
            affinity: 0,
            io_affinity: 0,
            max_memory_mb: None,
            stop_on_error: true,
            test_cycles: 1,
            test_cycle_duration_s: 300,
            cache_hit_ratio: 1000,
            max_outstanding_io: 0,
            target_io_duration_ms: 100,
            allow_io_bursts: true,
            no_buffering: true,
            write_through: true,
            scatter_gather: true,
            force_read_ahead: true,
            delete_files_at_startup: true,
            delete_files_at_shutdown: false,
            stamp_files: false,
        }
    }
}

impl Default for RandomUser {
    fn default() -> Self {
        Self {
            user_count: -1,
            jump_percentage: 500,
            chain_pages_min: 1,
            chain_pages_max: 100,
            update_ratio: 9000,
            log_bytes_min: 64,
            log_bytes_max: 8192,
            rollback_chance: 100,
            sleep_after_ms: 5,
            yield_percentage: 0,
            cpu_simulation: false,
            cpu_cycles_min: 0,
            cpu_cycles_max: 0,
        }
    }
}

impl Default for AuditUser {
    fn default() -> Self {
        Self { user_count: 2, pages: 64, delay_after_cycles: 2, delay_ms: 200 }
    }
}

impl Default for ReadAheadUser {
    fn default() -> Self {
        Self { user_count: 2, pages_min: 32, pages_max: 64, delay_after_cycles: 2, delay_ms: 200 }
    }
}

impl Default for BulkUpdateUser {
    fn default() -> Self {
        Self { user_count: -1, pages_min: 64, pages_max: 128, delay_after_cycles: 2, delay_ms: 10 }
    }
}

impl Default for ShrinkUser {
    fn default() -> Self {
        Self { interval_s_min: 120, interval_s_max: 600, extends_min: 1, extends_max: 20 }
    }
}
