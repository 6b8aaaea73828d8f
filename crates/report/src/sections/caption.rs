//! What stands under a chart or a table: file size, block size, pattern, depth, cache. Without them
//! a figure means nothing.

use results::{Measurement, SweptCell};
use workload::{Bytes, Mode, Stream};

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
    patterns: Vec<&'static str>,
    directions: Vec<&'static str>,
    threads: Vec<u64>,
    depths: Vec<u64>,
    in_flight: Vec<u64>,
    modes: Vec<&'static str>,
}

fn add<T: PartialEq>(list: &mut Vec<T>, value: T) {
    if !list.contains(&value) {
        list.push(value);
    }
}

fn direction(write_percent: u8) -> &'static str {
    match write_percent {
        0 => "reads",
        100.. => "writes",
        _ => "mixes",
    }
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Direct => "direct",
        Mode::Buffered => "buffered",
        Mode::Mapped => "mapped",
    }
}

impl Caption {
    /// Of these measurements.
    pub(crate) fn of<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> Self {
        measurements.into_iter().fold(Self::default(), Self::measurement)
    }

    /// A measurement more.
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

    /// A cell of a sweep.
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
        add(&mut self.patterns, stream.pattern_kind().word());
        add(&mut self.directions, direction(stream.write_percent));
    }

    /// The caption in one line.
    pub(super) fn text(&self) -> String {
        let mut parts = vec![self.file(), self.loads()];
        let threads = plural(&self.threads, "thread", "threads");
        let in_flight = range(&self.in_flight);
        parts.push(match (threads, self.depths.is_empty()) {
            (Some(threads), false) => {
                format!("{threads} × depth {} = {in_flight} in flight", range(&self.depths))
            }
            (Some(threads), true) if self.in_flight.is_empty() => {
                format!("{threads}, depth not known")
            }
            (Some(threads), true) => format!("{threads}, {in_flight} in flight"),
            (None, _) => "threads and depth not known".to_owned(),
        });
        if !self.modes.is_empty() {
            parts.push(self.modes.join(" and "));
        }
        parts.join(" · ")
    }

    /// The size of the file, and the part of it that was used where that is not all.
    fn file(&self) -> String {
        if self.files.iter().all(|bytes| *bytes == 0) {
            return "File size not known".to_owned();
        }
        let file = format!("File {}", sizes(&self.files));
        let part = self.used.iter().any(|used| !self.files.contains(used));
        if part { format!("{file}, {} of it used", sizes(&self.used)) } else { file }
    }

    fn loads(&self) -> String {
        match self.titles.as_slice() {
            [] => "load not known".to_owned(),
            [one] => one.clone(),
            many if self.blocks.is_empty() => many.join("; "),
            many => format!(
                "{} loads: {}, {} {}",
                many.len(),
                sizes(&self.blocks),
                self.patterns.join(" and "),
                self.directions.join(" and ")
            ),
        }
    }
}

/// Sizes by name, or the smallest and the largest of many.
fn sizes(values: &[u64]) -> String {
    let mut values = values.to_vec();
    values.sort_unstable();
    match values.as_slice() {
        [] => "size not known".to_owned(),
        [first, .., last] if values.len() > NAMED => format!("{}–{}", Bytes(*first), Bytes(*last)),
        few => few.iter().map(|b| words::size(*b)).collect::<Vec<_>>().join(", "),
    }
}

/// `8`, or `1–32`.
fn range(values: &[u64]) -> String {
    match (values.iter().min(), values.iter().max()) {
        (Some(low), Some(high)) if low == high => words::count(*low),
        (Some(low), Some(high)) => format!("{}–{}", words::count(*low), words::count(*high)),
        _ => words::NONE.to_owned(),
    }
}

fn plural(values: &[u64], one: &str, many: &str) -> Option<String> {
    let (low, high) = (values.iter().min()?, values.iter().max()?);
    let noun = if (*low, *high) == (1, 1) { one } else { many };
    Some(format!("{} {noun}", range(values)))
}

/// The caption of these measurements.
pub(crate) fn of<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> String {
    Caption::of(measurements).text()
}
