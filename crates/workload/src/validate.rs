//! The rules a workload must keep. All violations are reported together, before anything is
//! touched.

use std::collections::HashSet;
use std::fmt;

use crate::arrival::RateLimit;
use crate::model::{EngineChoice, Mode, Precision, Workload};
use crate::order::Buffers;
use crate::rate_profile::{COUNTS_MAX, RateProfile};
use crate::stream::{Block, Content, Distribution, Pattern, Priority, Stream};
use crate::units::Bytes;

/// The most I/Os one thread may have in flight.
const DEPTH_MAX: u32 = 65_536;
/// The most threads of a workload.
pub const THREADS_MAX: u64 = 4096;
/// The largest single I/O, in bytes.
const BLOCK_BYTES_MAX: u64 = 1 << 30;
/// The smallest and the largest target.
const TARGET_BYTES: (u64, u64) = (4096, 1 << 62);
/// The shortest and the longest window of a rate that changes over time.
const WINDOW_NS: std::ops::RangeInclusive<u64> = 1000..=3_600_000_000_000;
/// The longest name of a stream.
const NAME_CHARS_MAX: usize = 64;
/// The most pieces of a block: what one call of the system takes.
const PIECES_MAX: u32 = 1024;
/// The most points of a series: all of them are kept, and written into the result.
const POINTS_MAX: f64 = 1e6;
/// The most points of the series of all threads together, for the same reason.
pub const THREAD_POINTS_MAX: u64 = 100_000;

/// At the end of an interval every thread tells what it counted, and the one that collects it must
/// keep up: shorter intervals than this are for few.
const INTERVAL_OF_MANY_NS: u64 = 10_000_000;
/// Such intervals are for at most so many threads.
const THREADS_OF_SHORT: u64 = 16;

/// One rule that a workload breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The field that breaks a rule, for example `streams[0].depth`.
    pub field: String,
    /// The value that breaks the rule, as text.
    pub value: String,
    /// What the value must be, and what to do about it.
    pub rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}: {}", self.field, self.value, self.rule)
    }
}

/// What is known about a target before the workload starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetFacts {
    /// The bytes that I/O may use.
    pub size_bytes: u64,
    /// Offsets and lengths of direct I/O must be multiples of this.
    pub direct_align_bytes: u64,
}

#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    /// Notes a violation of `field` unless `holds`.
    fn check(
        &mut self,
        holds: bool,
        field: impl Into<String>,
        value: impl fmt::Display,
        rule: &str,
    ) {
        if !holds {
            self.0.push(Violation {
                field: field.into(),
                value: value.to_string(),
                rule: rule.to_owned(),
            });
        }
    }
}

impl Workload {
    /// Every rule that the workload breaks in itself, whatever its targets are.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let mut found = Violations::default();
        found.check(!self.targets.is_empty(), "targets", "empty", "name at least one target");
        found.check(!self.streams.is_empty(), "streams", "empty", "describe at least one stream");
        let most = usize::try_from(THREADS_MAX).unwrap_or(usize::MAX);
        if self.streams.len() > most {
            // Each has a thread. Of many more, not even the rules can be checked soon.
            let rule = format!("a workload may have at most {THREADS_MAX} streams");
            found.check(false, "streams", self.streams.len(), &rule);
            return found.0;
        }
        let mut paths = HashSet::new();
        for (i, target) in self.targets.iter().enumerate() {
            let field = format!("targets[{i}].path");
            found.check(!target.path.as_os_str().is_empty(), field, "empty", "give a path");
            let size = target.size_bytes.unwrap_or(Bytes(TARGET_BYTES.0));
            let ok = (TARGET_BYTES.0..=TARGET_BYTES.1).contains(&size.0);
            let field = format!("targets[{i}].size_bytes");
            found.check(ok, field, size, "it must be at least 4096 bytes and at most 4 EiB");
            let once = paths.insert(&target.path);
            let path = target.path.display();
            found.check(once, format!("targets[{i}].path"), path, "a target is named once");
        }
        self.check_times(&mut found);
        let real = !(self.engine == EngineChoice::Auto || self.engine.is_artificial());
        let rule = "a mapped target takes no engine for real I/O; leave it at `auto`";
        let mapped = self.modes().contains(&Mode::Mapped);
        found.check(!(mapped && real), "engine", self.engine.name(), rule);
        let threads = self.workers();
        let rule = format!(
            "all streams together may have at most {THREADS_MAX} threads, counted on each of \
             their targets"
        );
        found.check(threads <= THREADS_MAX, "threads", threads, &rule);
        for (i, stream) in self.streams.iter().enumerate() {
            self.check_stream(&mut found, i, stream);
        }
        for crew in self.crews() {
            pool::check_crew(&mut found, self, crew);
        }
        if let Some(sim) = &self.sim {
            sim::check(&mut found, sim);
            let is_sim = self.engine == EngineChoice::Sim;
            let engine = self.engine.name();
            found.check(is_sim, "engine", engine, "a simulated device needs the engine `sim`");
        }
        found.0
    }

    fn check_times(&self, found: &mut Violations) {
        let day = 86_400.0 * 31.0;
        let ok = self.seconds > 0.0 && self.seconds <= day;
        found.check(ok, "seconds", self.seconds, "it must be above 0 and at most 31 days");
        for (field, seconds) in
            [("warmup_seconds", self.warmup_seconds), ("cooldown_seconds", self.cooldown_seconds)]
        {
            let ok = (0.0..=day).contains(&seconds);
            found.check(ok, field, seconds, "it must be 0 to 31 days");
        }
        if let Some(precision) = &self.precision {
            check_precision(found, precision, day);
            let paced = self.streams.iter().any(|s| s.rate.is_some());
            let rule = "with a set rate the workload sets the pace, and no throughput settles; \
                        leave out the rate or the precision (0 in experiments)";
            found.check(!paced, "precision.percent", precision.percent, rule);
        }
        let ok = (1_000_000..=3_600_000_000_000).contains(&self.interval_ns.0);
        found.check(ok, "interval_ns", self.interval_ns, "it must be 1 ms to 1 h");
        let short = ok && self.interval_ns.0 < INTERVAL_OF_MANY_NS;
        let rule = format!(
            "more than {THREADS_OF_SHORT} threads, counted on each of their targets, have \
             intervals of 10 ms or longer"
        );
        let many = short && self.workers() > THREADS_OF_SHORT;
        found.check(!many, "interval_ns", self.interval_ns, &rule);
        let points = self.seconds * 1e9 / self.interval_ns.0.max(1) as f64;
        let few = !ok || self.seconds > day || points <= POINTS_MAX;
        let rule = "the series may have at most a million points; use longer intervals";
        found.check(few, "interval_ns", self.interval_ns, rule);
        let points = self.thread_points();
        let few = !self.thread_series || points <= THREAD_POINTS_MAX;
        let rule = format!(
            "the series of all threads would have {points} points; {THREAD_POINTS_MAX} are the \
             most; use longer intervals or a shorter run"
        );
        found.check(few, "thread_series", self.thread_series, &rule);
    }

    fn check_stream(&self, found: &mut Violations, index: usize, stream: &Stream) {
        let at = |name: &str| format!("streams[{index}].{name}");
        check_name(found, &at, &stream.name);
        found.check(stream.threads > 0, at("threads"), 0, "it must be at least 1");
        let depth_ok = (1..=DEPTH_MAX).contains(&stream.depth);
        found.check(depth_ok, at("depth"), stream.depth, "it must be 1 to 65536");
        let in_all = stream.depth_of_thread(self.targets.len());
        let one_at_a_time = self.engine == EngineChoice::Sync && in_all > 1;
        let rule = "the engine `sync` does one I/O at a time per thread; use depth 1 and \
                    more threads, or another engine";
        found.check(!one_at_a_time, at("depth"), stream.depth, rule);
        for &target in &stream.targets {
            let rule = format!("there are {} targets, counted from 0", self.targets.len());
            found.check(target < self.targets.len(), at("targets"), target, &rule);
        }
        check_blocks(found, &at, stream);
        self.check_pieces(found, &at, stream);
        pool::check(found, &at, stream, self.targets.len());
        check_percents(found, &at, stream);
        check_arrival(found, &at, stream);
        orders::check(found, &at, stream);
        mix::check(found, &at, stream);
        let rule = "direct I/O goes past the operating system's cache, and there is nobody to \
                    tell; leave the hint out, or use another mode";
        let told = stream.hint.is_none() || self.mode_of(stream) != Mode::Direct;
        found.check(told, at("hint"), "set", rule);
        let durable_ok = !stream.durable || stream.writes();
        found.check(
            durable_ok,
            at("durable"),
            true,
            "only writes can be durable; set write_percent",
        );
        if let Some(sync) = stream.sync {
            let rule = "it must be at least 1";
            found.check(sync.every_writes > 0, at("sync.every_writes"), 0, rule);
            let rule = "only writes are flushed; set write_percent";
            found.check(stream.writes(), at("sync.every_writes"), sync.every_writes, rule);
        }
        if let Some(Priority::BestEffort { level } | Priority::Realtime { level }) = stream.priority
        {
            found.check(level <= 7, at("priority.level"), level, "it must be 0 to 7");
        }
    }

    fn check_pieces(&self, found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
        let scattered = matches!(stream.buffers, Buffers::Scattered { .. } | Buffers::Pages { .. });
        let rule = "a mapped target is copied, and copying is not vectored; use `single`";
        let mapped = self.mode_of(stream) == Mode::Mapped && scattered;
        found.check(!mapped, at("buffers"), "scattered", rule);
        if let Buffers::Pages { bytes } = stream.buffers {
            let whole = |b: &Block| bytes.0 > 0 && b.bytes.0.is_multiple_of(bytes.0);
            let rule = "every block must be a multiple of it; choose another block or size";
            found.check(stream.blocks.iter().all(whole), at("buffers.bytes"), bytes.0, rule);
        }
        let Buffers::Scattered { pieces } = stream.buffers else { return };
        let ok = (1..=PIECES_MAX).contains(&pieces);
        found.check(ok, at("buffers.pieces"), pieces, "it must be 1 to 1024");
        let whole = |b: &Block| pieces == 0 || b.bytes.0.is_multiple_of(pieces.into());
        let rule = "every block must be a multiple of the pieces; choose another block or number";
        found.check(stream.blocks.iter().all(whole), at("buffers.pieces"), pieces, rule);
    }

    /// Every rule that the workload breaks on targets of these sizes and alignments.
    ///
    /// `facts` has one entry per target, in their order.
    #[must_use]
    pub fn violations_on(&self, facts: &[TargetFacts]) -> Vec<Violation> {
        let mut found = Violations::default();
        for (i, stream) in self.streams.iter().enumerate() {
            for t in stream.target_indexes(facts.len()) {
                let Some(fact) = facts.get(t) else { continue };
                self.check_fit(
                    &mut found,
                    i,
                    stream,
                    &self.targets[t].path.display().to_string(),
                    *fact,
                );
            }
        }
        found.0
    }

    fn check_fit(
        &self,
        found: &mut Violations,
        index: usize,
        stream: &Stream,
        path: &str,
        fact: TargetFacts,
    ) {
        let at = |name: &str| format!("streams[{index}].{name}");
        let offset = stream.offset_bytes;
        let rest = fact.size_bytes.saturating_sub(offset.0);
        let span = stream.span_bytes.map_or(rest, |s| s.0);
        let size = Bytes(fact.size_bytes);
        let rule = format!("offset and span must end within `{path}`, which has {size}");
        let inside = offset.0 < fact.size_bytes && span <= rest;
        let value = format!("{offset} with a span of {}", Bytes(span));
        found.check(inside, at("offset_bytes"), value, &rule);
        let largest = Bytes(stream.largest_block());
        let rule = format!("the used part of `{path}` has only {}", Bytes(span));
        found.check(largest.0 <= span, at("blocks"), largest, &rule);
        if let Pattern::Stride { stride_bytes } = stream.pattern {
            found.check(stride_bytes.0 <= span, at("pattern.stride_bytes"), stride_bytes, &rule);
        }
        let begin = stream.begin_bytes;
        found.check(begin.0 == 0 || begin.0 < span, at("begin_bytes"), begin, &rule);
        orders::check_fit(found, &at, stream, span, path);
        if self.mode_of(stream) != Mode::Direct || self.engine.is_artificial() {
            return;
        }
        let align = fact.direct_align_bytes.max(1);
        let rule = format!(
            "direct I/O on `{path}` needs multiples of {align} bytes; choose such a size, or use \
             buffered mode"
        );
        for block in &stream.blocks {
            found.check(block.bytes.0.is_multiple_of(align), at("blocks"), block.bytes.0, &rule);
        }
        if let Buffers::Scattered { pieces } = stream.buffers {
            let piece = |b: &Block| b.bytes.0 / u64::from(pieces.max(1));
            let whole = stream.blocks.iter().all(|b| piece(b).is_multiple_of(align));
            let rule = format!(
                "each piece of a block of direct I/O on `{path}` must be a multiple of {align} \
                 bytes; use fewer pieces"
            );
            found.check(whole, at("buffers.pieces"), pieces, &rule);
        }
        if let Buffers::Pages { bytes } = stream.buffers {
            found.check(bytes.0.is_multiple_of(align), at("buffers.bytes"), bytes.0, &rule);
        }
        found.check(offset.0.is_multiple_of(align), at("offset_bytes"), offset.0, &rule);
        found.check(begin.0.is_multiple_of(align), at("begin_bytes"), begin.0, &rule);
        found.check(
            stream.alignment().is_multiple_of(align),
            at("align_bytes"),
            stream.alignment(),
            &rule,
        );
        orders::check_aligned(found, &at, stream, align, &rule);
        mix::check_aligned(found, &at, stream, align, &rule);
        if let Pattern::Stride { stride_bytes } = stream.pattern {
            found.check(
                stride_bytes.0.is_multiple_of(align),
                at("pattern.stride_bytes"),
                stride_bytes.0,
                &rule,
            );
        }
    }
}

fn check_precision(found: &mut Violations, precision: &Precision, longest: f64) {
    let ok = (0.1..=50.0).contains(&precision.percent);
    found.check(ok, "precision.percent", precision.percent, "it must be 0.1 to 50");
    for (field, seconds) in [
        ("precision.at_least_seconds", precision.at_least_seconds),
        ("precision.written_seconds", precision.written_seconds),
    ] {
        found.check((0.0..=longest).contains(&seconds), field, seconds, "it must be 0 to 31 days");
    }
}

/// Names are also names of threads and appear in tables.
fn check_name(found: &mut Violations, at: &dyn Fn(&str) -> String, name: &str) {
    let chars = name.chars().count();
    let ok = (1..=NAME_CHARS_MAX).contains(&chars) && !name.chars().any(char::is_control);
    let rule = "a name has 1 to 64 characters, and no control characters";
    found.check(ok, at("name"), format!("{name:?}"), rule);
}

fn check_blocks(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    found.check(!stream.blocks.is_empty(), at("blocks"), "empty", "give at least one block size");
    let weights: u64 = stream.blocks.iter().map(|b| u64::from(b.weight)).sum();
    let no_weight = !stream.blocks.is_empty() && weights == 0;
    found.check(!no_weight, at("blocks"), "all of weight 0", "one weight must be above 0");
    for block in &stream.blocks {
        let ok = (1..=BLOCK_BYTES_MAX).contains(&block.bytes.0);
        found.check(ok, at("blocks"), block.bytes, "a block must be 1 byte to 1 GiB");
    }
    let align = stream.align_bytes.map_or(1, |a| a.0);
    found.check(align > 0, at("align_bytes"), 0, "it must be at least 1");
    if let Pattern::Stride { stride_bytes } = stream.pattern {
        let rule = "it must be at least 1 byte";
        found.check(stride_bytes.0 > 0, at("pattern.stride_bytes"), 0, rule);
    }
}

fn check_percents(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    let percent = "it must be 0 to 100 percent";
    found.check(stream.write_percent <= 100, at("write_percent"), stream.write_percent, percent);
    found.check(stream.random_percent <= 100, at("random_percent"), stream.random_percent, percent);
    let random = stream.pattern == Pattern::Random;
    let rule =
        "the pattern `random` is wholly random; use a sequential pattern with random_percent";
    let mixed_ok = !random || stream.random_percent == 0;
    found.check(mixed_ok, at("random_percent"), stream.random_percent, rule);
    let any_random = random || stream.random_percent > 0;
    let uniform = stream.distribution == Distribution::Uniform;
    let rule =
        "only random offsets have a distribution; use the pattern `random` or random_percent";
    found.check(any_random || uniform, at("distribution"), "not uniform", rule);
    match stream.distribution {
        Distribution::Uniform => {}
        Distribution::Zipf { theta } => {
            let ok = theta > 0.0 && theta <= 10.0;
            found.check(ok, at("distribution.theta"), theta, "it must be above 0 and at most 10");
        }
        Distribution::Hot { span_percent, access_percent } => {
            let ok = span_percent > 0.0 && span_percent < 100.0;
            let rule = "it must be above 0 and below 100 percent";
            found.check(ok, at("distribution.span_percent"), span_percent, rule);
            let ok = (0.0..=100.0).contains(&access_percent);
            found.check(ok, at("distribution.access_percent"), access_percent, percent);
        }
    }
    check_content(found, at, stream);
}

fn check_content(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    if let Content::Compressible { percent } = stream.content {
        found.check(percent <= 100, at("content.percent"), percent, "it must be 0 to 100 percent");
    }
    if let Content::Source { bytes } = stream.content {
        let rule = format!("it must hold a block of {}", Bytes(stream.largest_block()));
        found.check(bytes.0 >= stream.largest_block(), at("content.bytes"), bytes, &rule);
    } else if let Some(file) = &stream.content_file {
        let rule = "only the content `source` is taken from a file";
        found.check(false, at("content_file"), file.display(), rule);
    }
}

fn check_arrival(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    if let Some(rate) = stream.rate {
        let (RateLimit::Iops(value) | RateLimit::MibPerS(value)) = rate.limit;
        let ok = value > 0.0 && value <= 1e9;
        found.check(ok, at("rate.limit"), value, "it must be above 0 and at most 1e9");
        let rule = "think time belongs to a closed loop; use either a rate or think time";
        found.check(stream.think.is_none(), at("think"), "set along with a rate", rule);
    }
    if let Some(profile) = &stream.rate_profile {
        check_profile(found, at, stream, profile);
    }
    if let Some(think) = stream.think {
        found.check(think.burst_ios > 0, at("think.burst_ios"), 0, "it must be at least 1");
    }
}

fn check_profile(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    profile: &RateProfile,
) {
    let rule = "only the rate of an open loop changes over time; set a rate that is not a cap";
    found.check(stream.is_open_loop(), at("rate_profile"), "set", rule);
    let ok = WINDOW_NS.contains(&profile.window_ns.0);
    let rule = "it must be 1 µs to 1 h";
    found.check(ok, at("rate_profile.window_ns"), profile.window_ns, rule);
    let windows = profile.patterns.iter().map(|pattern| pattern.0.len()).sum::<usize>();
    let ok = (1..=COUNTS_MAX).contains(&windows) && profile.order.0.len() <= COUNTS_MAX;
    let rule = "patterns together must have 1 to 100000 windows, and the order as many at most";
    found.check(ok, at("rate_profile.patterns"), windows, rule);
    let last = profile.order.0.iter().max().map_or(0, |last| *last as usize);
    let rule = "it must name patterns, of which the first is 0";
    found.check(last < profile.patterns.len().max(1), at("rate_profile.order"), last, rule);
    let rule = "there must be I/Os in some window";
    let ios = profile.whole().1;
    found.check(ios > 0, at("rate_profile.patterns"), ios, rule);
}

#[path = "validate_mix.rs"]
mod mix;
#[path = "validate_orders.rs"]
mod orders;
#[path = "validate_pool.rs"]
mod pool;
#[path = "validate_sim.rs"]
mod sim;

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
