//! The rules of a profile, and warnings about what is allowed but rarely meant.
//!
//! All violations are found, not only the first.

use std::fmt;

use thiserror::Error;

use super::profile::{
    CacheMode, Distribution, DistributionKind, Profile, Target, Throughput, TimeSpan, WriteContent,
};

/// What a profile must not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Rule {
    /// There is no time span.
    #[error("a profile has at least one time span")]
    NoTimeSpan,
    /// A time span has no target.
    #[error("a time span has at least one target")]
    NoTarget,
    /// `-n` and `-a` with a list.
    #[error("threads are bound to processors (-a) or not (-n), not both")]
    AffinityDisabledWithList,
    /// `-F` excludes `-t`.
    #[error("threads per target (-t) and threads for all targets (-F) exclude each other")]
    PoolWithThreads,
    /// `-g` excludes `-x`.
    #[error("a limited throughput (-g) needs completion ports; leave out -x")]
    ThroughputWithCompletionRoutines,
    /// `-i` without `-j`, or the other way round.
    #[error("burst (-i) and think time (-j) belong together")]
    BurstWithoutThink,
    /// `-g` excludes `-F` with `-O`.
    #[error("a limited throughput (-g) excludes -O with -F")]
    PoolThroughput,
    /// `-j` excludes `-F` with `-O`.
    #[error("think time (-j) excludes -O with -F")]
    PoolThink,
    /// `-p` excludes `-F` with `-O`.
    #[error("a cursor per outstanding I/O (-p) excludes -O with -F")]
    PoolParallel,
    /// A weight that is never drawn.
    #[error("with -F and -O, the weight of a target must be above 0")]
    PoolWeightZero,
    /// Threads named for a target, without `-F` and `-O`.
    #[error(
        "a target names its threads only where ThreadCount (-F) and RequestCount (-O) are given"
    )]
    ThreadTargetsWithoutPool,
    /// A thread that does not exist.
    #[error("a target names a thread that does not exist; threads count from 0 to ThreadCount - 1")]
    ThreadTargetBeyondPool,
    /// `-T` excludes `-r`.
    #[error("random I/O (-r) has no distance of threads (-T)")]
    RandomWithThreadStride,
    /// `-si` excludes `-r`.
    #[error("random I/O (-r) has no shared cursor (-si)")]
    RandomInterlocked,
    /// `-p` excludes `-r`.
    #[error("random I/O (-r) has no cursors (-p)")]
    RandomParallel,
    /// `-rd` needs `-r`.
    #[error("only random I/O has a distribution (-rd); add -r or -rs")]
    DistributionOnSequential,
    /// `-T` excludes `-si`.
    #[error("threads that share a cursor (-si) have no distance (-T)")]
    InterlockedWithThreadStride,
    /// `-p` excludes `-si`.
    #[error("one cursor for all threads (-si) and one per outstanding I/O (-p) exclude each other")]
    InterlockedParallel,
    /// `-T` needs several threads.
    #[error("a distance of threads (-T) needs more than one thread on the target")]
    ThreadStrideOfOne,
    /// The shares of the slices exceed 100 %.
    #[error("the shares of the I/Os of a distribution are more than 100 percent")]
    DistributionIoOver,
    /// More than all of the target.
    #[error("the parts of the target of a distribution are more than 100 percent")]
    DistributionTargetOver,
    /// Less than all of the target.
    #[error(
        "the parts of the target of a distribution are less than 100 percent; give the rest, \
         perhaps with share 0"
    )]
    DistributionTargetShort,
    /// I/Os are left for no part of the target.
    #[error(
        "the parts of a distribution cover the whole target while some of the I/Os have no part"
    )]
    DistributionIoLeft,
    /// A part shorter than an I/O.
    #[error("a part of a distribution is shorter than a block")]
    DistributionBelowBlock,
    /// A buffer shorter than an I/O.
    #[error("the buffer of what is written (-Z<size>) is smaller than a block")]
    SourceBelowBlock,
    /// `-Sm` excludes `-x`.
    #[error("mapped I/O (-Sm) has no completion routines; leave out -x")]
    MappedCompletionRoutines,
    /// `-Sm` excludes `-Su`.
    #[error("mapped I/O (-Sm) goes through the cache; leave out -Su, -Sh or -h")]
    MappedUncached,
    /// `-N` needs `-Sm`.
    #[error("a way to flush (-N) belongs to mapped I/O (-Sm)")]
    FlushWithoutMapped,
    /// The end is not after the start.
    #[error("the end of the used part (-f, or the length of -B) must come after its start (-B)")]
    MaxNotAboveBase,
    /// A template that no name replaces.
    #[error(
        "the target is a template; give what it stands for after the options, or see only the \
         profile with -Rp"
    )]
    TemplateLeft,
    /// A template that names no substitute.
    #[error("a template is `*` and the number of a target of the command line, counted from 1")]
    TemplateReference,
    /// A name that replaces no template.
    #[error("the target of the command line replaces no template of the profile")]
    SubstituteUnused,
    /// A priority that does not exist.
    #[error("the priority (-I) is 1, 2 or 3")]
    Priority,
}

/// What is allowed but rarely meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Warning {
    /// `-p` has no effect with one outstanding I/O.
    #[error("with one outstanding I/O (-o1), -p changes nothing")]
    ParallelOfOne,
    /// `-si` has no effect with one thread.
    #[error("with one thread, a shared cursor (-si) changes nothing")]
    InterlockedOfOne,
    /// Threads that read the same blocks.
    #[error(
        "several threads walk over the same blocks; give them a distance (-T), a shared cursor \
         (-si) or random I/O (-r)"
    )]
    SameBlocks,
}

/// Where in a profile a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Number of the time span, from 1; 0 if it is not about a time span.
    pub time_span: usize,
    /// The target, if it is about one.
    pub target: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.time_span, &self.target) {
            (0, None) => f.write_str("the profile"),
            (0 | 1, Some(target)) => write!(f, "`{target}`"),
            (span, None) => write!(f, "time span {span}"),
            (span, Some(target)) => write!(f, "time span {span}, `{target}`"),
        }
    }
}

/// A violation or a warning, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At<T> {
    /// The rule that is broken, or the warning.
    pub what: T,
    /// Where in the profile it is.
    pub place: Place,
}

impl<T: fmt::Display> fmt::Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// The violations and warnings of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Why the profile cannot be used.
    pub violations: Vec<At<Rule>>,
    /// What is allowed but rarely meant.
    pub warnings: Vec<At<Warning>>,
}

impl Findings {
    /// One of each kind: for a command line, whose options say the same of each target.
    #[must_use]
    pub fn once(mut self) -> Self {
        let mut rules = Vec::new();
        self.violations.retain(|found| {
            let is_new = !rules.contains(&found.what);
            rules.push(found.what);
            is_new
        });
        let mut warnings = Vec::new();
        self.warnings.retain(|found| {
            let is_new = !warnings.contains(&found.what);
            warnings.push(found.what);
            is_new
        });
        self
    }
}

/// Collects the findings at one place.
struct Finder<'a> {
    place: Place,
    findings: &'a mut Findings,
}

impl Finder<'_> {
    fn forbid(&mut self, is_so: bool, rule: Rule) {
        if is_so {
            self.findings.violations.push(At { what: rule, place: self.place.clone() });
        }
    }

    fn warn(&mut self, is_so: bool, warning: Warning) {
        if is_so {
            self.findings.warnings.push(At { what: warning, place: self.place.clone() });
        }
    }
}

/// Everything that is wrong with a profile, and everything that is doubtful.
#[must_use]
pub fn check(profile: &Profile) -> Findings {
    let mut findings = Findings::default();
    let place = Place { time_span: 0, target: None };
    let mut finder = Finder { place, findings: &mut findings };
    finder.forbid(profile.time_spans.is_empty(), Rule::NoTimeSpan);
    for (index, span) in profile.time_spans.iter().enumerate() {
        finder.place = Place { time_span: index + 1, target: None };
        finder.forbid(span.targets.is_empty(), Rule::NoTarget);
        let both = span.disable_affinity && !span.affinity.is_empty();
        finder.forbid(both, Rule::AffinityDisabledWithList);
        for target in &span.targets {
            finder.place.target = Some(target.path.clone());
            check_target(&mut finder, span, target);
            let template = target.is_template() && !profile.profile_only;
            finder.forbid(template, Rule::TemplateLeft);
        }
    }
    findings
}

fn check_target(finder: &mut Finder<'_>, span: &TimeSpan, target: &Target) {
    check_pool(finder, span, target);
    check_order(finder, span, target);
    if let Some(distribution) = &target.distribution {
        finder.forbid(target.random_percent == 0, Rule::DistributionOnSequential);
        check_distribution(finder, distribution, target.block_bytes);
    }
    let limited = limits(target);
    finder.forbid(limited && span.completion_routines, Rule::ThroughputWithCompletionRoutines);
    let unpaired = target.burst_ios.is_some() != target.think_ms.is_some();
    finder.forbid(unpaired, Rule::BurstWithoutThink);
    if let WriteContent::Random { bytes, .. } = target.write_content {
        finder.forbid(bytes < u64::from(target.block_bytes), Rule::SourceBelowBlock);
    }
    let (mapped, flush) = (target.memory_mapped, target.flush.is_some());
    finder.forbid(mapped && span.completion_routines, Rule::MappedCompletionRoutines);
    let uncached = target.cache == CacheMode::DisableOsCache;
    finder.forbid(mapped && uncached, Rule::MappedUncached);
    finder.forbid(flush && !mapped, Rule::FlushWithoutMapped);
    let (base, max) = (target.base_offset_bytes, target.max_offset_bytes);
    finder.forbid(max > 0 && max <= base, Rule::MaxNotAboveBase);
    finder.forbid(!(1..=3).contains(&target.io_priority), Rule::Priority);
}

/// Whether a throughput is set; 0 counts as none.
fn limits(target: &Target) -> bool {
    target.throughput.is_some_and(|t| match t {
        Throughput::Iops(value) | Throughput::BytesPerMs(value) => value > 0,
    })
}

fn check_pool(finder: &mut Finder<'_>, span: &TimeSpan, target: &Target) {
    let pool = span.thread_count > 0;
    finder.forbid(pool && target.threads_per_file > 1, Rule::PoolWithThreads);
    let named = &target.thread_targets;
    if span.draws_targets() {
        finder.forbid(limits(target), Rule::PoolThroughput);
        finder.forbid(target.think_ms.is_some_and(|ms| ms > 0), Rule::PoolThink);
        finder.forbid(target.parallel_async, Rule::PoolParallel);
        finder.forbid(target.weight == 0, Rule::PoolWeightZero);
        let beyond = named.iter().any(|t| t.thread >= span.thread_count);
        finder.forbid(beyond, Rule::ThreadTargetBeyondPool);
    } else {
        finder.forbid(!named.is_empty(), Rule::ThreadTargetsWithoutPool);
    }
}

fn check_order(finder: &mut Finder<'_>, span: &TimeSpan, target: &Target) {
    let threads = if span.thread_count > 0 { span.thread_count } else { target.threads_per_file };
    let (shared, parallel) = (target.interlocked, target.parallel_async);
    let strided = target.thread_stride_bytes > 0;
    if target.random_percent > 0 {
        finder.forbid(strided, Rule::RandomWithThreadStride);
        finder.forbid(shared, Rule::RandomInterlocked);
        finder.forbid(parallel, Rule::RandomParallel);
        return;
    }
    finder.forbid(shared && strided, Rule::InterlockedWithThreadStride);
    finder.forbid(shared && parallel, Rule::InterlockedParallel);
    finder.forbid(strided && threads == 1, Rule::ThreadStrideOfOne);
    finder.warn(parallel && target.outstanding == 1, Warning::ParallelOfOne);
    finder.warn(shared && threads == 1, Warning::InterlockedOfOne);
    finder.warn(threads > 1 && !shared && !strided, Warning::SameBlocks);
}

fn check_distribution(finder: &mut Finder<'_>, distribution: &Distribution, block_bytes: u32) {
    let ranges = &distribution.ranges;
    let io: u64 = ranges.iter().map(|r| u64::from(r.io_percent)).sum();
    finder.forbid(io > 100, Rule::DistributionIoOver);
    match distribution.kind {
        DistributionKind::Percent => {
            let target = ranges.iter().fold(0u64, |sum, r| sum.saturating_add(r.extent));
            finder.forbid(target > 100, Rule::DistributionTargetOver);
            finder.forbid(target < 100, Rule::DistributionTargetShort);
            finder.forbid(target == 100 && io < 100, Rule::DistributionIoLeft);
        }
        DistributionKind::Absolute => {
            let last = ranges.len().saturating_sub(1);
            let short = ranges.iter().enumerate().any(|(index, range)| {
                let open = range.extent == 0 && index == last;
                range.extent < u64::from(block_bytes) && !open
            });
            finder.forbid(short, Rule::DistributionBelowBlock);
        }
    }
}
