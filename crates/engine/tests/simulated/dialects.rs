//! What other tools do, whole runs of it: their orders, their pauses, their caps and their last phase.

use workload::{
    Bytes, DiskspdAccess, DiskspdOrder, DiskspdSlices, Pattern, Stream, Target, Workload,
};

use crate::experiment::{MS, blocks, device, measure, reads, workload};

fn diskspd(access: DiskspdAccess) -> DiskspdOrder {
    DiskspdOrder {
        access,
        step_bytes: Bytes(4096),
        thread_stride_bytes: Bytes(1 << 20),
        slices: DiskspdSlices::default(),
    }
}

/// Two targets, threads of each, several at a time: the order is one of a thread on its target, and directions are drawn.
#[test]
fn every_access_of_diskspd_runs() {
    for access in [
        DiskspdAccess::Random,
        DiskspdAccess::Mixed { random_percent: 30 },
        DiskspdAccess::Sequential,
        DiskspdAccess::Interlocked,
        DiskspdAccess::Parallel,
    ] {
        let stream = Stream {
            diskspd: Some(diskspd(access)),
            threads: 2,
            write_percent: 30,
            blocks: blocks(65_536),
            ..reads(2)
        };
        let mut workload = workload(stream, device(MS));
        workload.targets.push(Target { path: "second".into(), size_bytes: Some(Bytes(2 << 20)) });
        let m = measure(&workload);
        assert_eq!(m.total.ios, 80_000, "{access:?}");
        assert_eq!(m.total.bytes, 80_000 * 65_536);
        let writes = m.write.ios as f64 / 80_000.0;
        // In a mixed order a jump decides for three I/Os and more.
        assert!((0.285..0.315).contains(&writes), "{access:?}: {writes}");
        let again = measure(&workload);
        assert_eq!(again.write.ios, m.write.ios, "the same seed, the same I/Os");
        let other = measure(&Workload { seed: 7, ..workload });
        assert_ne!(other.write.ios, m.write.ios);
    }
}

#[test]
fn the_matrix_of_sqlio_runs() {
    let pattern = Pattern::Matrix { columns: 64, rows: 64, same_column: false };
    let stream = Stream { pattern, threads: 4, ..reads(1) };
    let m = measure(&workload(stream, device(MS)));
    assert_eq!((m.total.ios, m.total.errors), (40_000, 0));
}
