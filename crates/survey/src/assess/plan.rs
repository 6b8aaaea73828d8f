//! What an assessment measures, and for how long.

use engine::{PrepareError, PreparedTarget};
use results::Pace;
use workload::{Block, Bytes, Mode, Pattern, Stream, Violation};

use super::AssessOptions;

/// Depths at which a load is measured until it saturates.
pub(super) const RAMP_DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// The log is this share of the file, at its end.
const LOG_SHARE: u64 = 8;
/// Log records of one flush, as SQL Server writes them: one sector to 60 KiB.
const LOG_BLOCKS: [u64; 3] = [512, 4096, 61440];

/// Lengths of the parts of an assessment, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    pub(super) pattern_s: f64,
    pub(super) pattern_warmup_s: f64,
    pub(super) ramp_s: f64,
    pub(super) ramp_warmup_s: f64,
    /// Before measurements that write.
    pub(super) settle_s: f64,
    /// How long writing the test file should take at most.
    pub(super) fill_s: f64,
    /// How many times the memory of the host the file should be, space and time permitting.
    pub(super) memory_times: u64,
}

impl Timing {
    pub(super) fn of(pace: Pace) -> Self {
        match pace {
            Pace::Quick => Self {
                pattern_s: 3.0,
                pattern_warmup_s: 0.5,
                ramp_s: 1.5,
                ramp_warmup_s: 0.3,
                settle_s: 0.5,
                fill_s: 25.0,
                memory_times: 2,
            },
            Pace::Normal => Self {
                pattern_s: 20.0,
                pattern_warmup_s: 3.0,
                ramp_s: 10.0,
                ramp_warmup_s: 2.0,
                settle_s: 5.0,
                fill_s: 240.0,
                memory_times: 4,
            },
            Pace::Long => Self {
                pattern_s: 90.0,
                pattern_warmup_s: 10.0,
                ramp_s: 40.0,
                ramp_warmup_s: 5.0,
                settle_s: 30.0,
                fill_s: 900.0,
                memory_times: 4,
            },
        }
    }
}

/// One load of the assessment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Load {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) operation: String,
    pub(super) stream: Stream,
    /// Whether its depth is raised to find where it saturates; it is then measured at the depth found.
    pub(super) ramp: bool,
}

impl Load {
    fn new(name: &str, title: &str, operation: &str, stream: Stream) -> Self {
        let [name, title, operation] = [name, title, operation].map(str::to_owned);
        let stream = Stream { name: name.clone(), ..stream };
        Self { name, title, operation, stream, ramp: false }
    }

    fn ramped(self) -> Self {
        Self { ramp: true, ..self }
    }
}

/// Every load, in the order in which they are measured: reads first, then the log, then heavier writes.
pub(super) fn loads(file_bytes: u64, align_bytes: u64) -> Vec<Load> {
    let areas = Areas::of(file_bytes);
    let mut loads = vec![
        Load::new(
            "random_read_8k",
            "8 KiB random read",
            "reading single pages (OLTP)",
            areas.data(8192, Pattern::Random, 0, 32),
        )
        .ramped(),
        Load::new(
            "sequential_read_64k",
            "64 KiB sequential read",
            "table scans, read-ahead",
            areas.data(65536, Pattern::Sequential, 0, 8),
        )
        .ramped(),
        Load::new(
            "sequential_read_256k",
            "256 KiB sequential read",
            "read-ahead of large scans",
            areas.data(262_144, Pattern::Sequential, 0, 8),
        ),
        Load::new(
            "sequential_read_1m",
            "1 MiB sequential read",
            "backup, read-ahead at its largest",
            areas.data(1_048_576, Pattern::Sequential, 0, 4),
        ),
        Load::new(
            "rollback_read_8k",
            "8 KiB random read of the log",
            "rollback, recovery",
            Stream { depth: 8, ..areas.log(8192, Pattern::Random, 0) },
        ),
    ];
    let fits = |block: &&u64| block.is_multiple_of(align_bytes.max(1));
    for &block in LOG_BLOCKS.iter().filter(fits) {
        let size = Bytes(block);
        loads.push(Load::new(
            &format!("log_write_{}", short(block)),
            &format!("{size} sequential write, durable"),
            "transaction log, one flush after the other",
            Stream { durable: true, ..areas.log(block, Pattern::Sequential, 100) },
        ));
    }
    loads.push(Load::new(
        "sequential_write_64k",
        "64 KiB sequential write",
        "checkpoint, bulk load, index build",
        areas.data(65536, Pattern::Sequential, 100, 8),
    ));
    loads.push(
        Load::new(
            "random_write_8k",
            "8 KiB random write",
            "checkpoint and lazy writer, page by page (OLTP)",
            areas.data(8192, Pattern::Random, 100, 32),
        )
        .ramped(),
    );
    loads
}

/// A size as part of a name: `512b`, `4k`, `60k`.
fn short(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes}b") } else { format!("{}k", bytes >> 10) }
}

/// Where in the file the data are and where the log is.
struct Areas {
    data_bytes: u64,
    log_bytes: u64,
}

impl Areas {
    fn of(file_bytes: u64) -> Self {
        let mib = 1 << 20;
        let log_bytes = (file_bytes / LOG_SHARE / mib * mib).max(mib.min(file_bytes / 2));
        Self { data_bytes: file_bytes - log_bytes, log_bytes }
    }

    fn data(&self, block: u64, pattern: Pattern, write_percent: u8, depth: u32) -> Stream {
        Stream {
            depth,
            pattern,
            write_percent,
            blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
            span_bytes: Some(Bytes(self.data_bytes)),
            ..Stream::default()
        }
    }

    fn log(&self, block: u64, pattern: Pattern, write_percent: u8) -> Stream {
        let log = self.data(block, pattern, write_percent, 1);
        let (offset_bytes, span_bytes) = (Bytes(self.data_bytes), Some(Bytes(self.log_bytes)));
        Stream { offset_bytes, span_bytes, ..log }
    }
}

/// The smallest file that every load fits in.
const SIZE_MIN: Bytes = Bytes(64 << 20);

/// Refuses a size that some load would not fit in, before anything is written.
pub(super) fn check_size(size: Bytes) -> Result<(), PrepareError> {
    if size >= SIZE_MIN {
        return Ok(());
    }
    let rule =
        format!("an assessment needs at least {SIZE_MIN}, and many times that to mean anything");
    let violation = Violation { field: "size".to_owned(), value: size.to_string(), rule };
    Err(PrepareError::Invalid(vec![violation]))
}

/// A stream that reads and writes everything that any load does: what the target is made ready for.
pub(super) fn preparing_stream() -> Stream {
    Stream { write_percent: 50, ..Stream::default() }
}

/// Steps of a whole assessment, if every ramp goes to its deepest point.
pub(super) fn steps() -> usize {
    let loads = loads(1 << 30, 512);
    let ramps = loads.iter().filter(|l| l.ramp).count();
    1 + loads.len() + ramps * RAMP_DEPTHS.len()
}

/// How it was measured, sentence by sentence.
pub(super) fn method(
    options: &AssessOptions,
    timing: &Timing,
    target: &PreparedTarget,
) -> Vec<String> {
    let path = std::path::absolute(target.path()).unwrap_or_else(|_| target.path().to_owned());
    let mode = match options.mode {
        Mode::Direct => "I/O goes past the operating system's cache (O_DIRECT).",
        Mode::Buffered => {
            "I/O goes through the operating system's cache, which takes part in every figure."
        }
    };
    vec![
        format!("I/O went to {}: {}.", path.display(), target.content()),
        mode.to_owned(),
        "Data are the first seven eighths of the file, the log is the rest. One thread submits all I/O. Every \
         measurement has random offsets of its own, and sequential reads begin at another place each time, so that \
         none is answered from what the one before has left in a cache."
            .to_owned(),
        format!(
            "Each pattern was measured for {} s after {} s of warm-up, each depth of a ramp for {} s after {} s; \
             every measurement that writes was preceded by a pause of {} s.",
            timing.pattern_s, timing.pattern_warmup_s, timing.ramp_s, timing.ramp_warmup_s, timing.settle_s
        ),
        "Latency is from the call that submits an I/O to the moment its completion is seen, of every single I/O. \
         An I/O counts when it completes inside the measured window."
            .to_owned(),
        "The depth of 8 KiB random reads and writes and of 64 KiB sequential reads was raised 1, 2, 4 … until \
         throughput stopped growing while latency rose; they were then measured at the operating point, the \
         smallest depth with 95 % of the highest throughput."
            .to_owned(),
        "Log writes are sequential, one at a time, each on stable media before it completes (O_DSYNC).".to_owned(),
        "The kernel's own counters of the device were read at both ends of every window and compared with the \
         tool's."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_stays_in_its_part_of_the_file() {
        for file_bytes in [4 << 20, 1 << 30, (3 << 40) + 4096] {
            for load in loads(file_bytes, 512) {
                let stream = &load.stream;
                let end = stream.offset_bytes.0 + stream.span_bytes.unwrap().0;
                assert!(end <= file_bytes, "{} of {file_bytes}", load.name);
                assert!(stream.offset_bytes.0.is_multiple_of(4096) || file_bytes < 8 << 20);
            }
        }
    }

    #[test]
    fn log_blocks_that_the_device_cannot_write_are_left_out() {
        let names = |align| -> Vec<String> {
            let log = |l: &Load| l.name.starts_with("log_write");
            loads(1 << 30, align).into_iter().filter(log).map(|l| l.name).collect()
        };
        assert_eq!(names(512), ["log_write_512b", "log_write_4k", "log_write_60k"]);
        assert_eq!(names(4096), ["log_write_4k", "log_write_60k"]);
    }
}
