//! What an IOMeter configuration says, as plain data.

/// A configuration: what an `.icf` file holds, in IOMeter's words and units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// How long and in which order; `None` if the file does not say.
    pub setup: Option<Setup>,
    /// The lines within the section `RESULTS DISPLAY`, unchanged.
    pub display: Vec<String>,
    /// Access specifications, each with rows that sum to 100 %.
    pub specs: Vec<AccessSpec>,
    /// The managers: machines that do I/O.
    pub managers: Vec<Manager>,
}

impl Config {
    /// The access specification of this name, whatever its case.
    #[must_use]
    pub fn spec(&self, name: &str) -> Option<&AccessSpec> {
        self.specs.iter().find(|s| s.name.eq_ignore_ascii_case(name))
    }
}

/// The settings of the section `TEST SETUP`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The description of the test; may be empty.
    pub description: String,
    /// Run time: hours, which are added to minutes and seconds.
    pub hours: u32,
    /// Run time: minutes, which may be more than 59.
    pub minutes: u32,
    /// Run time: seconds, which may be more than 59.
    pub seconds: u32,
    /// I/O before the measured window, in seconds.
    pub ramp_seconds: u32,
    /// Disk workers that a manager gets if the file names none.
    pub disk_workers: WorkerCount,
    /// Network workers that a manager gets if the file names none.
    pub network_workers: WorkerCount,
    /// Which rows go to the result file.
    pub record: Record,
    /// Workers of each manager, from run to run.
    pub worker_cycling: Cycling,
    /// Targets of each worker, from run to run.
    pub target_cycling: Cycling,
    /// Outstanding I/Os, from run to run.
    pub depth_cycling: DepthCycling,
    /// What changes from run to run.
    pub test_type: TestType,
}

impl Default for Setup {
    fn default() -> Self {
        let cycling = Cycling { start: 1, step: 1, stepping: Stepping::Linear };
        let depth_cycling =
            DepthCycling { start: 1, end: 32, step: 2, stepping: Stepping::Exponential };
        Self {
            description: String::new(),
            hours: 0,
            minutes: 0,
            seconds: 0,
            ramp_seconds: 0,
            disk_workers: WorkerCount::EachCpu,
            network_workers: WorkerCount::Count(0),
            record: Record::All,
            worker_cycling: cycling,
            target_cycling: cycling,
            depth_cycling,
            test_type: TestType::Normal,
        }
    }
}

impl Setup {
    /// Length of the measured window of each run in seconds; `None` if a run continues until it is
    /// stopped.
    #[must_use]
    pub fn run_seconds(&self) -> Option<u64> {
        let [hours, minutes, seconds] = [self.hours, self.minutes, self.seconds].map(u64::from);
        Some(hours * 3600 + minutes * 60 + seconds).filter(|s| *s > 0)
    }
}

/// How many workers a manager gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerCount {
    /// One for each CPU of the manager.
    EachCpu,
    /// So many, however many CPUs the manager has.
    Count(u32),
}

/// How a value continues from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycling {
    /// The value of the first run.
    pub start: u32,
    /// What the value grows by: a summand or a factor.
    pub step: u32,
    /// Whether it is a summand or a factor.
    pub stepping: Stepping,
}

/// How the number of outstanding I/Os continues from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthCycling {
    /// The value of the first run.
    pub start: u32,
    /// The most; a value above it ends the cycle.
    pub end: u32,
    /// What the value grows by: a summand or a factor.
    pub step: u32,
    /// Whether it is a summand or a factor.
    pub stepping: Stepping,
}

/// Implements the words of an enum in files: its names, and its numbers in older versions.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident =
        $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$word_doc])* $variant,)* }

        impl $name {
            /// All of them; the index of each is its number in files of older versions.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// The word for it in files.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The one of this word or this number.
            #[must_use]
            pub fn from_word(text: &str) -> Option<Self> {
                let text = text.trim();
                let by_number = || Self::ALL.get(text.parse::<usize>().ok()?).copied();
                Self::ALL.into_iter().find(|v| v.word().eq_ignore_ascii_case(text))
                    .or_else(by_number)
            }
        }
    };
}

words! {
    /// How the next value of a cycle follows from the one before.
    Stepping {
        /// `start`, `start + step`, `start + 2 step`, …
        Linear = "LINEAR",
        /// `start`, `start * step`, `start * step^2`, …
        Exponential = "EXPONENTIAL",
    }
}

words! {
    /// Which rows go to the result file.
    Record {
        /// Results of everything: managers, workers and targets.
        All = "ALL",
        /// Results of managers and workers, not of targets.
        NoTargets = "NO_TARGETS",
        /// Results of managers, not of workers or targets.
        NoWorkers = "NO_WORKERS",
        /// Results of all managers together only.
        NoManagers = "NO_MANAGERS",
        /// No results: there is no result file.
        None = "NONE",
    }
}

words! {
    /// What changes from run to run.
    TestType {
        /// Nothing changes: a single run with everything.
        Normal = "NORMAL",
        /// Each run has more targets for every worker.
        CycleTargets = "CYCLE_TARGETS",
        /// More workers of every manager, each with all its targets.
        CycleWorkers = "CYCLE_WORKERS",
        /// More targets of every manager, down its workers.
        IncrementTargetsParallel = "INCREMENT_TARGETS_PARALLEL",
        /// More targets in all, down the workers of one manager after the other.
        IncrementTargetsSerial = "INCREMENT_TARGETS_SERIAL",
        /// More workers, and for each number of them more targets.
        CycleWorkersAndTargets = "CYCLE_WORKERS_AND_TARGETS",
        /// Each run has more outstanding I/Os.
        CycleOutstandingIos = "CYCLE_OUTSTANDING_IOS",
        /// More targets, and for each number of them more outstanding I/Os.
        CycleOutstandingIosAndTargets = "CYCLE_OUTSTANDING_IOS_AND_TARGETS",
    }
}

words! {
    /// Which new workers get an access specification by themselves.
    Assignment {
        /// None of them.
        None = "NONE",
        /// Every new worker.
        All = "ALL",
        /// New workers that use disks.
        Disk = "DISK",
        /// New workers that use the network.
        Net = "NET",
    }
}

/// A mix of I/Os under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSpec {
    /// Its name: no two are alike but for their case.
    pub name: String,
    /// The new workers that get it by default.
    pub assignment: Assignment,
    /// The mix: 1 to 100 rows whose percents sum to 100.
    pub rows: Vec<Row>,
}

/// Rows of an access specification at most.
pub const ROWS_MAX: usize = 100;
/// The largest size of an I/O, in bytes.
pub const SIZE_BYTES_MAX: u32 = (1 << 30) - 1;

/// One kind of I/O in a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Size of one I/O in bytes.
    pub size_bytes: u32,
    /// How often a burst is of this row, in percent.
    pub percent: u8,
    /// Share of its I/Os that read, each drawn, in percent.
    pub read_percent: u8,
    /// Share of its I/Os that go to a random place, each drawn, in percent; the others follow the
    /// worker's last on the target.
    pub random_percent: u8,
    /// Pause of the whole worker before each burst, in milliseconds.
    pub delay_ms: u32,
    /// I/Os of a burst; transactions where there is a reply.
    pub burst_ios: u32,
    /// Offsets are rounded up to this, also where it is not a power of two; 0 is the sector.
    pub align_bytes: u32,
    /// Size of an I/O in the other direction after each; 0 means no reply.
    pub reply_bytes: u32,
}

impl Row {
    /// The row as it is in files.
    #[must_use]
    pub fn fields(&self) -> String {
        let Self { size_bytes, percent, read_percent, random_percent, .. } = self;
        let Self { delay_ms, burst_ios, align_bytes, reply_bytes, .. } = self;
        format!(
            "{size_bytes},{percent},{read_percent},{random_percent},{delay_ms},{burst_ios},\
             {align_bytes},{reply_bytes}"
        )
    }
}

impl Default for Row {
    /// The row that IOMeter starts with.
    fn default() -> Self {
        Self {
            size_bytes: 2048,
            percent: 100,
            read_percent: 67,
            random_percent: 100,
            delay_ms: 0,
            burst_ios: 1,
            align_bytes: 2048,
            reply_bytes: 0,
        }
    }
}

/// A machine that makes I/O: a Dynamo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manager {
    /// Tells managers of one name from one another.
    pub id: u32,
    /// The name of the machine, as IOMeter shows it.
    pub name: String,
    /// Its network address; empty for the machine of the user interface.
    pub address: String,
    /// The workers: threads of the manager.
    pub workers: Vec<Worker>,
}

/// A thread of a manager, with its targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The name of the worker, as IOMeter shows it.
    pub name: String,
    /// Whether it works on disks or on the network.
    pub kind: Kind,
    /// Outstanding I/Os of this worker on each of its targets.
    pub outstanding: u32,
    /// The target is closed and opened again after every `transactions_per_connection`.
    pub test_connection_rate: bool,
    /// See above; 0 is opening and closing only.
    pub transactions_per_connection: u32,
    /// Random choices start at `seed` instead of the time.
    pub use_seed: bool,
    /// Where random choices start, with `use_seed`.
    pub seed: u64,
    /// Used part of each target in sectors; 0 is all of it.
    pub maximum_sectors: u64,
    /// Where the used part begins, in sectors.
    pub start_sector: u64,
    /// The content of writes: 0 one byte over and over, 1 one random buffer, 2 parts of a large
    /// random buffer. `None` if the file is of a version without this field.
    pub pattern: Option<u32>,
    /// The address that a network worker uses; absent for other workers.
    pub network_interface: Option<String>,
    /// The outstanding I/Os of a VI worker; absent for other workers.
    pub vi_outstanding: Option<u32>,
    /// Names of access specifications, in the order in which they run.
    pub specs: Vec<String>,
    /// The disks or peers that it does I/O on.
    pub targets: Vec<Target>,
}

impl Default for Worker {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: Kind::Disk,
            outstanding: 1,
            test_connection_rate: false,
            transactions_per_connection: 1,
            use_seed: false,
            seed: 0,
            maximum_sectors: 0,
            start_sector: 0,
            pattern: None,
            network_interface: None,
            vi_outstanding: None,
            specs: Vec::new(),
            targets: Vec::new(),
        }
    }
}

/// A disk, or a peer on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `C:`, `C: "label"`, `1: "VENDOR MODEL"`, `PHYSICALDRIVE:0`, `sda`, `/mnt [ext4]`.
    pub name: String,
    /// Whether it is a disk or a peer.
    pub kind: Kind,
    /// The number and the name of a peer's manager; absent if the file names none.
    pub manager: Option<(u32, String)>,
}

/// The kind of things that workers work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Disks, or files on them.
    Disk,
    /// Peers that are reached over TCP.
    Tcp,
    /// Peers over the Virtual Interface Architecture.
    Vi,
}

impl Kind {
    /// The words for it in files.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Disk => "DISK",
            Self::Tcp => "NETWORK,TCP",
            Self::Vi => "NETWORK,VI",
        }
    }

    /// Reads the words of a file; case and blanks do not matter.
    #[must_use]
    pub fn from_words(text: &str) -> Option<Self> {
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        [Self::Disk, Self::Tcp, Self::Vi]
            .into_iter()
            .find(|k| k.words().eq_ignore_ascii_case(&plain))
    }
}
