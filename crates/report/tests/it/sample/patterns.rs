//! What a database does to its storage, as an assessment measures it.

use results::PatternResult;
use workload::Pattern::{Random, Sequential};

use super::{Load, load, measurement};

/// Name, load in words, what a database does it for, the load, threads and depth.
type Line = (&'static str, &'static str, &'static str, Load, u32, u32);

fn table() -> [Line; 8] {
    [
        (
            "log_write_4k",
            "4 KiB sequential write, durable",
            "transaction log, one commit",
            load(4096, Sequential, 100, 210.0, 30_000.0),
            1,
            1,
        ),
        (
            "log_write_60k",
            "60 KiB sequential write, durable",
            "transaction log, full buffers",
            load(60 << 10, Sequential, 100, 340.0, 11_000.0),
            1,
            4,
        ),
        (
            "random_read_8k",
            "8 KiB random read",
            "OLTP reads",
            load(8192, Random, 0, 92.0, 92_000.0),
            1,
            32,
        ),
        (
            "random_write_8k",
            "8 KiB random write, durable",
            "OLTP writes",
            load(8192, Random, 100, 260.0, 34_000.0),
            1,
            16,
        ),
        (
            "oltp_70_30_8k",
            "8 KiB random, 70 % read / 30 % write",
            "OLTP, both",
            load(8192, Random, 30, 120.0, 58_000.0),
            4,
            8,
        ),
        (
            "scan_64k",
            "64 KiB sequential read",
            "index scan",
            load(64 << 10, Sequential, 0, 140.0, 28_000.0),
            1,
            8,
        ),
        (
            "scan_512k",
            "512 KiB sequential read",
            "table scan, read-ahead",
            load(512 << 10, Sequential, 0, 400.0, 5_900.0),
            1,
            8,
        ),
        (
            "backup_1m",
            "1 MiB sequential write",
            "backup and restore",
            load(1 << 20, Sequential, 100, 700.0, 1_450.0),
            1,
            8,
        ),
    ]
}

pub(crate) fn patterns() -> Vec<PatternResult> {
    let result = |(name, title, operation, load, threads, depth): Line| PatternResult {
        name: name.to_owned(),
        title: title.to_owned(),
        operation: operation.to_owned(),
        measurement: measurement(&Load { threads, depth, ..load }),
    };
    table().into_iter().map(result).collect()
}
