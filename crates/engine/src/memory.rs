//! Whether the buffers of all I/Os in flight fit into memory, before any of them is made.
//!
//! They are mapped lazily, so that too many of them would not fail but fill the memory, and the
//! system would end some program, not always this one.

use workload::{Bytes, EngineChoice, Workload};

use crate::buffers::BufferPlan;
use crate::error::EngineError;
use crate::platform;
use crate::source;
use crate::teams::{buffer_plan, joined_plan};

/// The share of the free memory that buffers may take: one part of so many.
const SHARE: u64 = 4;

/// Memory in bytes that programs can still have; `None` if the system does not tell.
#[must_use]
pub fn available() -> Option<u64> {
    platform::available_memory()
}

/// Refuses a workload whose buffers would take more than a quarter of the memory that is free.
pub fn check(workload: &Workload) -> Result<(), EngineError> {
    // A simulated device moves no bytes, and its buffers are never touched.
    if workload.engine == EngineChoice::Sim {
        return Ok(());
    }
    platform::available_memory().map_or(Ok(()), |free| fits(workload, free))
}

fn fits(workload: &Workload, free: u64) -> Result<(), EngineError> {
    let sources = workload.streams.iter().filter_map(source::bytes_of);
    let sources = sources.fold(0, u64::saturating_add);
    if sources > free / SHARE {
        return Err(EngineError::SourceTooLarge { needed: Bytes(sources), free: Bytes(free) });
    }
    let count = workload.targets.len();
    let mut each = Vec::new();
    for crew in workload.crews() {
        let streams = &workload.streams[crew];
        for stream in streams {
            let plan = match streams {
                [alone] => buffer_plan(alone, count),
                // Each thread on each of its targets has buffers of its own, as large as the
                // largest of them.
                _ => BufferPlan {
                    depth: stream.depth.saturating_mul(
                        u32::try_from(stream.target_indexes(count).len()).unwrap_or(u32::MAX),
                    ),
                    ..joined_plan(streams, 0)
                },
            };
            let bytes = stream.threads_in_all(count).saturating_mul(plan.memory_bytes());
            each.push((bytes, stream, plan));
        }
    }
    let needed = each.iter().map(|(bytes, ..)| *bytes).fold(sources, u64::saturating_add);
    match each.iter().max_by_key(|(bytes, ..)| *bytes) {
        Some((_, stream, plan)) if needed > free / SHARE => Err(EngineError::TooMuchMemory {
            needed: Bytes(needed),
            free: Bytes(free),
            stream: stream.name.clone(),
            threads: stream.threads_in_all(count),
            depth: plan.depth,
            block: Bytes(plan.bytes.into()),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Block, Stream, Target};

    fn workload(threads: u32, depth: u32, bytes: u64, write_percent: u8) -> Workload {
        let blocks = vec![Block { bytes: Bytes(bytes), weight: 1 }];
        let name = "backup".to_owned();
        let stream = Stream { name, threads, depth, blocks, write_percent, ..Stream::default() };
        Workload::single(Target { path: "/data".into(), size_bytes: None }, stream)
    }

    /// Threads, depth and block are each within their bounds, and together took all of the memory
    /// until the system ended the program.
    #[test]
    fn buffers_take_at_most_a_quarter_of_the_free_memory() {
        let mib = 1 << 20;
        assert!(fits(&workload(2, 8, mib, 0), 64 * mib).is_ok());
        assert!(fits(&workload(2, 8, mib, 100), 64 * mib).is_ok());
        let refused = |w: &Workload| fits(w, 64 * mib).unwrap_err().to_string();
        assert!(refused(&workload(2, 9, mib, 0)).contains("need 18 MiB"));
        assert!(refused(&workload(2, 8, mib, 50)).contains("need 32 MiB"), "reads and writes");
        let mut both = workload(2, 8, mib, 0);
        both.targets.push(Target { path: "/more".into(), size_bytes: None });
        let text = refused(&both);
        assert!(text.contains("`backup`: 4 threads x depth 8 x blocks of 1 MiB"), "{text}");
        // Buffers are whole pages.
        assert!(fits(&workload(1, 1000, 512, 0), 16_000_000).is_err());
    }

    #[test]
    fn the_source_of_writes_takes_memory_too() {
        let mib = 1 << 20;
        let mut workload = workload(2, 6, mib, 100);
        let source = |mib: u64| workload::Content::Source { bytes: Bytes(mib << 20) };
        workload.streams[0].content = source(4);
        assert!(fits(&workload, 64 * mib).is_ok());
        workload.streams[0].content = source(5);
        let error = fits(&workload, 64 * mib).unwrap_err().to_string();
        assert!(error.contains("need 17 MiB"), "{error}");
        workload.streams[0].content = source(17);
        let error = fits(&workload, 64 * mib).unwrap_err().to_string();
        assert!(error.contains("take their bytes from need 17 MiB"), "{error}");
        workload.streams[0].write_percent = 0;
        assert!(fits(&workload, 64 * mib).is_ok(), "nothing is written");
    }

    #[test]
    fn the_largest_workload_there_is_does_not_overflow() {
        let mut workload = workload(u32::MAX, u32::MAX, u64::MAX, 50);
        workload.streams.push(workload.streams[0].clone());
        assert!(fits(&workload, u64::MAX).is_err());
    }
}
