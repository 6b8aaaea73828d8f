//! The line under a chart or a table: file size, block size, pattern, depth, cache. A figure means
//! nothing without them.

use results::{Measurement, SweptCell};
use workload::{Bytes, Mode, PatternKind, Stream};

use crate::language::{count, say};
use crate::words;

/// Block sizes that are named one by one; of more, the smallest and the largest.
const NAMED: usize = 3;

/// What the loads of a chart or table have in common, and how far they differ.
#[derive(Debug, Clone, Default)]
pub(super) struct Caption {
    files: Vec<u64>,
    used: Vec<u64>,
    titles: Vec<String>,
    blocks: Vec<u64>,
    patterns: Vec<String>,
    directions: Vec<String>,
    threads: Vec<u64>,
    depths: Vec<u64>,
    in_flight: Vec<u64>,
    modes: Vec<String>,
}

fn add<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

fn direction(write_percent: u8) -> String {
    match write_percent {
        0 => say!("caption-reads"),
        100.. => say!("caption-writes"),
        _ => say!("caption-mixes"),
    }
}

fn mode(mode: Mode) -> String {
    match mode {
        Mode::Direct => say!("caption-direct"),
        Mode::Buffered => say!("caption-buffered"),
        Mode::Mapped => say!("caption-mapped"),
    }
}

/// The words for a stream's pattern.
fn pattern(kind: PatternKind) -> String {
    match kind {
        PatternKind::Random => say!("caption-random"),
        PatternKind::Sequential => say!("caption-sequential"),
        other => other.word().to_owned(),
    }
}

impl Caption {
    /// Joins what these measurements have in common, and where they differ.
    pub(crate) fn of<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> Self {
        measurements.into_iter().fold(Self::default(), Self::measurement)
    }

    /// Adds a measurement to the caption.
    pub(super) fn measurement(mut self, m: &Measurement) -> Self {
        self = self.load(m.file_bytes, &m.workload.title(), m.threads, m.depth, m.in_flight);
        add(&mut self.used, m.used_bytes());
        for stream in &m.workload.streams {
            self.stream(stream);
        }
        for used in m.workload.modes() {
            add(&mut self.modes, mode(used));
        }
        self
    }

    /// A load of which only this is known.
    pub(super) fn load(
        mut self,
        file_bytes: u64,
        title: &str,
        threads: u64,
        depth: Option<u32>,
        in_flight: u64,
    ) -> Self {
        add(&mut self.files, file_bytes);
        add(&mut self.titles, words::clean(title));
        // Zero is what another tool does not tell.
        if threads > 0 {
            add(&mut self.threads, threads);
        }
        if let Some(depth) = depth {
            add(&mut self.depths, depth.into());
        }
        if in_flight > 0 {
            add(&mut self.in_flight, in_flight);
        }
        self
    }

    /// Adds a cell of a sweep to the caption.
    pub(super) fn cell(mut self, file_bytes: u64, how: Mode, cell: &SweptCell) -> Self {
        let c = &cell.cell;
        let targets = c.targets.len().max(1) as u64;
        let threads = u64::from(c.threads).saturating_mul(targets);
        self = self.load(file_bytes, &c.load_title(), threads, Some(c.depth), cell.in_flight);
        self.stream(&c.stream());
        add(&mut self.modes, mode(how));
        self
    }

    fn stream(&mut self, stream: &Stream) {
        for block in &stream.blocks {
            add(&mut self.blocks, block.bytes.0);
        }
        add(&mut self.patterns, pattern(stream.pattern_kind()));
        add(&mut self.directions, direction(stream.write_percent));
    }

    /// The caption as one line of text.
    pub(super) fn text(&self) -> String {
        let mut parts = vec![self.file(), self.loads()];
        let in_flight = range(&self.in_flight);
        // Of several numbers the largest says whether they are one thread or more.
        let most = self.threads.iter().max().copied();
        let threads = most.map(|most| {
            say!("caption-threads", threads = range(&self.threads), most = count(most))
        });
        parts.push(match (threads, self.depths.is_empty()) {
            (Some(threads), false) => {
                let depth = range(&self.depths);
                say!("caption-depth", threads = threads, depth = depth, in_flight = in_flight)
            }
            (Some(threads), true) if self.in_flight.is_empty() => {
                say!("words-depth-not-known", threads = threads)
            }
            (Some(threads), true) => {
                say!("caption-in-flight", threads = threads, in_flight = in_flight)
            }
            (None, _) => say!("caption-load-not-known"),
        });
        if !self.modes.is_empty() {
            parts.push(self.modes.join(&say!("list-and")));
        }
        parts.join(" · ")
    }

    /// The size of the file, and the part of it that was used if that is not all of it.
    fn file(&self) -> String {
        if self.files.iter().all(|bytes| *bytes == 0) {
            return say!("caption-file-not-known");
        }
        let file = sizes(&self.files);
        if self.used.iter().any(|used| !self.files.contains(used)) {
            say!("caption-file-used", size = file, used = sizes(&self.used))
        } else {
            say!("caption-file", size = file)
        }
    }

    fn loads(&self) -> String {
        match self.titles.as_slice() {
            [] => say!("caption-load-not-known"),
            [one] => one.clone(),
            many if self.blocks.is_empty() => many.join("; "),
            many => say!(
                "caption-loads",
                loads = count(many.len()),
                blocks = sizes(&self.blocks),
                patterns = self.patterns.join(&say!("list-and")),
                directions = self.directions.join(&say!("list-and"))
            ),
        }
    }
}

/// Sizes by name, or the smallest and the largest of many.
fn sizes(values: &[u64]) -> String {
    let mut values = values.to_vec();
    values.sort_unstable();
    match values.as_slice() {
        [] => say!("caption-size-not-known"),
        [first, .., last] if values.len() > NAMED => format!("{}–{}", Bytes(*first), Bytes(*last)),
        few => few.iter().map(|b| words::size(*b)).collect::<Vec<_>>().join(", "),
    }
}

/// A range as `8`, or `1–32`.
pub(super) fn range(values: &[u64]) -> String {
    match (values.iter().min(), values.iter().max()) {
        (Some(low), Some(high)) if low == high => words::count(*low),
        (Some(low), Some(high)) => format!("{}–{}", words::count(*low), words::count(*high)),
        _ => words::NONE.to_owned(),
    }
}

/// The caption of these measurements, as a line.
pub(crate) fn of<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> String {
    Caption::of(measurements).text()
}
