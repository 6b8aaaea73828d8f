//! The I/Os of a trace by their files.

use std::cmp::Reverse;
use std::path::Path;

use results::{
    CapturedClass, CapturedDatabase, CapturedFile, CapturedFileClass, CapturedFiles,
    CapturedPattern,
};
use trace::profile::Histogram;
use trace::{
    DatabaseUse, FileClass, FileFinder, FileMap, FilePlace, Io, Kind, Logs, TraceError, TracedFile,
};

use super::convert;
use crate::replay::open;

/// The most files that a document has.
const FILES_SHOWN: usize = 32;
const CLASSES: [CapturedClass; 5] = [
    CapturedClass::Log,
    CapturedClass::Data,
    CapturedClass::Other,
    CapturedClass::Reused,
    CapturedClass::Outside,
];

/// Counts I/Os by their files while a trace is read.
pub(super) struct FileCounts {
    pub(super) finder: FileFinder,
    files: Vec<TracedFile>,
    counts: Vec<Counts>,
    /// One entry per class, in the order of [`CLASSES`].
    classes: [ClassCounts; 5],
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    reads: u64,
    writes: u64,
    read_bytes: u64,
    write_bytes: u64,
}

#[derive(Default)]
struct ClassCounts {
    counts: Counts,
    reads: Histogram<6>,
    writes: Histogram<6>,
}

impl Counts {
    fn add(&mut self, io: &Io) {
        let bytes = io.length_bytes;
        match io.kind {
            Kind::Read => {
                self.reads += 1;
                self.read_bytes = self.read_bytes.saturating_add(bytes);
            }
            Kind::Write | Kind::DurableWrite => {
                self.writes += 1;
                self.write_bytes = self.write_bytes.saturating_add(bytes);
            }
            Kind::Flush | Kind::Discard => {}
        }
    }
}

impl FileCounts {
    pub(super) fn new(map: &FileMap) -> Self {
        Self {
            finder: FileFinder::new(map),
            files: map.files.clone(),
            counts: vec![Counts::default(); map.files.len()],
            classes: Default::default(),
        }
    }

    pub(super) fn add(&mut self, io: &Io) {
        if self.files.is_empty() {
            return;
        }
        let Some(place) = self.finder.place(io) else { return };
        let class = match (place, self.finder.class(place)) {
            (FilePlace::Outside, _) => CapturedClass::Outside,
            (_, Some(class)) => of(class),
            (_, None) => CapturedClass::Reused,
        };
        if let FilePlace::File(file) = place
            && let Some(counts) = self.counts.get_mut(file as usize)
        {
            counts.add(io);
        }
        for (known, counted) in CLASSES.iter().zip(&mut self.classes) {
            if *known == class {
                counted.add(io);
            }
        }
    }

    /// What is known; none where the trace has no files. `logs` are those of the whole trace, which
    /// is read again.
    pub(super) fn finish(
        self,
        path: &Path,
        logs: &Logs,
    ) -> Result<Option<CapturedFiles>, TraceError> {
        if self.files.is_empty() {
            return Ok(None);
        }
        let classes = CLASSES.into_iter().zip(&self.classes);
        let classes = classes.map(|(class, counted)| counted.published(class, &self.files));
        let is_there = |class: &CapturedFileClass| {
            class.reads + class.writes > 0 || class.files.is_some_and(|files| files > 0)
        };
        let mut used: Vec<_> = self.counts.iter().zip(0_u32..).collect();
        used.retain(|(counts, _)| counts.reads + counts.writes > 0);
        used.sort_by_key(|(counts, number)| (Reverse(counts.reads + counts.writes), *number));
        used.truncate(FILES_SHOWN);
        let file = |(counts, number): (&Counts, u32)| {
            let TracedFile { class, name } = self.files.get(number as usize)?.clone();
            let Counts { reads, writes, read_bytes, write_bytes } = *counts;
            let class = of(class);
            Some(CapturedFile { number, class, name, reads, writes, read_bytes, write_bytes })
        };
        Ok(Some(CapturedFiles {
            known: self.files.len() as u64,
            classes: classes.filter(is_there).collect(),
            files: used.into_iter().filter_map(file).collect(),
            pattern: pattern(path, logs, &self.finder)?,
        }))
    }
}

fn of(class: FileClass) -> CapturedClass {
    match class {
        FileClass::Log => CapturedClass::Log,
        FileClass::Data => CapturedClass::Data,
        FileClass::Other => CapturedClass::Other,
    }
}

impl ClassCounts {
    fn add(&mut self, io: &Io) {
        self.counts.add(io);
        let into = match io.kind {
            Kind::Read => &mut self.reads,
            Kind::Write | Kind::DurableWrite => &mut self.writes,
            Kind::Flush | Kind::Discard => return,
        };
        io.latency_ns.iter().for_each(|ns| into.add(*ns));
    }

    fn published(&self, class: CapturedClass, files: &[TracedFile]) -> CapturedFileClass {
        let is_of_files = !matches!(class, CapturedClass::Reused | CapturedClass::Outside);
        let of_class = files.iter().filter(|file| of(file.class) == class).count() as u64;
        let Counts { reads, writes, read_bytes, write_bytes } = self.counts;
        CapturedFileClass {
            class,
            files: is_of_files.then_some(of_class),
            reads,
            writes,
            read_bytes,
            write_bytes,
            read_latency_ns: self.reads.latency().as_ref().map(convert::latency),
            write_latency_ns: self.writes.latency().as_ref().map(convert::latency),
        }
    }
}

/// How log files agree with what looks like a log.
fn pattern(
    path: &Path,
    logs: &Logs,
    finder: &FileFinder,
) -> Result<Option<CapturedPattern>, TraceError> {
    let mut found = CapturedPattern { both: 0, file_only: 0, pattern_only: 0 };
    for io in open(path)? {
        let io = io?;
        if !matches!(io.kind, Kind::Write | Kind::DurableWrite) {
            continue;
        }
        let class = finder.place(&io).and_then(|place| finder.class(place));
        match (class == Some(FileClass::Log), logs.is_log_write_by_pattern(&io)) {
            (true, true) => found.both += 1,
            (true, false) => found.file_only += 1,
            (false, true) => found.pattern_only += 1,
            (false, false) => {}
        }
    }
    Ok((found.both + found.file_only + found.pattern_only > 0).then_some(found))
}

/// What a database counted, in the words of the document.
pub(super) fn database(counted: &DatabaseUse) -> CapturedDatabase {
    let counted = counted.clone();
    CapturedDatabase {
        product: counted.product,
        seconds: counted.seconds,
        reads: counted.reads,
        read_bytes: counted.read_bytes,
        read_latency_ns: counted.read_latency_ns,
        writes: counted.writes,
        written_bytes: counted.written_bytes,
        write_latency_ns: counted.write_latency_ns,
        syncs: counted.syncs,
        sync_latency_ns: counted.sync_latency_ns,
        counters: counted.counters,
    }
}
