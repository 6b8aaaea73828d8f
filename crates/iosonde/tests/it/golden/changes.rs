//! What is printed differently on purpose since the golden files were written, with the reason: the
//! file, the row, the column, and what stood and stands there.

/// Differences of reports.
pub(crate) const REPORTS: &[&str] = &[
    // A stream that makes random I/Os within another order is `mixed`, as in the history. It was
    // its order there, and several streams were all of theirs.
    "cycle.csv 0 pattern: sequential -> mixed",
    "cycle.csv 1 pattern: sequential -> mixed",
    "cycle.csv 2 pattern: sequential -> mixed",
    "import-iometer.csv 0 pattern: sequential -> mixed",
    "run-streams.csv 0 pattern: random + sequential -> mixed",
    // The orders of DiskSpd were not looked at.
    "diskspd-sequential.csv 0 pattern: random -> sequential-shared",
    // The CPUs that a run is pinned to are among its conditions.
    "run-device.csv 0 conditions_id: d99763c22f620880 -> 89f95bebdcb28815",
    "run-options.csv 0 conditions_id: 49734d65cfaae46b -> 5f059ce5112675a0",
    // Sequential reads of an experiment covered half of the file, and were compared with those of
    // the whole.
    "assessment.csv 1 conditions_id: 8009b3d3b6551e47 -> afcce0b82eccf289",
    "assessment.csv 19 conditions_id: 2aa9c6f1ff5f78ec -> 2488836ca52f767b",
    "assessment.csv 2 conditions_id: 02d0061e677d46f3 -> ca0f5fb16eda0a47",
    "assessment.csv 20 conditions_id: a1c15800974afb3d -> 6d7a1aa3f06d65da",
    "assessment.csv 21 conditions_id: b7fe44fed5b7aab3 -> ee56c06e217894f1",
    "assessment.csv 22 conditions_id: 5bf8bd7a8b92dd91 -> 439007ce9581be4f",
    "assessment.csv 23 conditions_id: 8009b3d3b6551e47 -> a40f9332e59013a0",
    "assessment.csv 24 conditions_id: 541bed6df1809098 -> 7765e242cbc5aab5",
    "assessment.csv 25 conditions_id: 09e4749b904859d2 -> c80fd51591c1a02c",
    "assessment.csv 3 conditions_id: 594db221a518c383 -> 2597c2b6da1ab90c",
    "cycle.csv 3 conditions_id: 5a004081055a21a6 -> 18faa91b277331da",
    "cycle.csv 4 conditions_id: d09d411027c0ab63 -> efff30ee15feb65d",
    "cycle.csv 5 conditions_id: c87fdb2b0552cde5 -> c74aff76333846bb",
    "sweep.csv 2 conditions_id: 2ff219fc372231e6 -> ce61bf24bd510fd5",
    "sweep.csv 3 conditions_id: 913ca9eeabd013e9 -> 32cb77fe831fb910",
    // Streams of one load are named once.
    "import-diskspd.csv 0 load: 8 KiB random 70 % read / 30 % write, counting bytes; 8 KiB \
     random 70 % read / 30 % write, counting bytes -> 8 KiB random 70 % read / 30 % write, \
     counting bytes",
    "import-diskspd.md: 115 µs | 21 | 228 µs | 4 | 546 µs | 561 µs | 8 KiB random 70 % read / \
     30 % write, counting bytes; 8 KiB random 70 % read / 30 % write, counting bytes | 893 µs",
    "import-diskspd.md: 116 µs | 204 µs | 4 | 559 µs | 589 µs | 63 | 8 KiB random 70 % read / \
     30 % write, counting bytes; 8 KiB random 70 % read / 30 % write, counting bytes | 876 µs",
];

/// Differences of what a terminal shows.
pub(crate) const TEXTS: &[&str] = &[
    // The summary of an assessment fits 40 lines: where each load saturates is in the report.
    "assessment: 100 µs | 8 | 8 KiB random read | 80 000",
    "assessment: 100 µs | 5 000 | 64 KiB sequential read | 8",
    "assessment: 100 µs | 8 | 8 KiB random write | 80 000",
    // An interval stands after its figure, as in every report: `1.91 (1.78–2.15) in flight`.
    "knee: 1.78 – 2.15 | 1.91",
    "knee: 1.85 – 2.11 | 1.99",
    "knee: 19 091 – 21 101 | 20 096",
    // The name of the figure begins with a digit, and is another.
    "knee-device: 1.93 | 95 % of what was seen",
    // A unit stands apart from its figure, as everywhere.
    "recording: 0.59 | 26.5µs | 35.6µs | 54% | 72.3 | 8.8KiB | 80.5 | 8KiB | 9 257 | 9 359",
    "recording: 104 | 12.5KiB | 215µs | 248 | 37.2KiB | 44% | 5.59 | 530µs | 6 826 | 8 497",
    // The unit of what each target kept stands in the heading.
    "scale: 0.03 % | 1 2 | 100 % | 100 100 % | 120 µs | 66 923 | 66 923",
    // What was moved is a size with its unit, not a rounded number of MiB.
    "validation-wrong: 0 | 0 | 16 | 8 | 9.73 ms | 9.82 ms",
    "validation-wrong: 0 | 1 423 | 13 | 3.36 ms | 303 µs | 36.1 ms | 42.8 µs | 6",
    "validation: 0 | 0 | 21.6 ms | 22 | 4.29 ms | 4.72 ms | 419",
    "validation: 0 | 1 566 | 19 ms | 215 | 25.3 ms | 370 | 5.08 ms | 5.52 ms",
    "validation: 0 | 19.6 ms | 29 | 4.08 ms | 499 µs | 6 565 | 65 | 69.1 µs",
    // Transient and persistent faults of a kind have a row each.
    "validation-wrong: 0 | 1 | 1 | 1310720",
];

/// Differences of the table of an export that was imported again, so that its columns were worked
/// out anew.
pub(crate) const IMPORTED: &[&str] = &[
    // The size that another tool does not report was 0.
    "export.csv 0 file_bytes: 0 -> ",
    "export.csv 5 file_bytes: 0 -> ",
    // A stream that makes random I/Os within another order is `mixed`.
    "export.csv 0 pattern: sequential -> mixed",
    "export.csv 26 pattern: sequential -> mixed",
    "export.csv 27 pattern: sequential -> mixed",
    "export.csv 28 pattern: sequential -> mixed",
    // A measurement is durable where every stream that writes is, and not where any is.
    "export.csv 9 durable: true -> false",
    // The CPUs that a run is pinned to are among its conditions.
    "export.csv 11 conditions_id: 49734d65cfaae46b -> 5f059ce5112675a0",
    "export.csv 13 conditions_id: d99763c22f620880 -> 89f95bebdcb28815",
    // Sequential reads of an experiment covered half of the file.
    "export.csv 29 conditions_id: 5a004081055a21a6 -> 18faa91b277331da",
    "export.csv 30 conditions_id: d09d411027c0ab63 -> efff30ee15feb65d",
    "export.csv 31 conditions_id: c87fdb2b0552cde5 -> c74aff76333846bb",
    "export.csv 40 conditions_id: 2aa9c6f1ff5f78ec -> 2488836ca52f767b",
    "export.csv 41 conditions_id: a1c15800974afb3d -> 6d7a1aa3f06d65da",
    "export.csv 42 conditions_id: b7fe44fed5b7aab3 -> ee56c06e217894f1",
    "export.csv 43 conditions_id: 8009b3d3b6551e47 -> a40f9332e59013a0",
    "export.csv 44 conditions_id: 541bed6df1809098 -> 7765e242cbc5aab5",
    "export.csv 45 conditions_id: 09e4749b904859d2 -> c80fd51591c1a02c",
    "export.csv 46 conditions_id: 5bf8bd7a8b92dd91 -> 439007ce9581be4f",
    "export.csv 47 conditions_id: 8009b3d3b6551e47 -> afcce0b82eccf289",
    "export.csv 48 conditions_id: 02d0061e677d46f3 -> ca0f5fb16eda0a47",
    "export.csv 49 conditions_id: 594db221a518c383 -> 2597c2b6da1ab90c",
    "export.csv 78 conditions_id: 2ff219fc372231e6 -> ce61bf24bd510fd5",
    "export.csv 79 conditions_id: 913ca9eeabd013e9 -> 32cb77fe831fb910",
    // Streams of one load are named once.
    "export.csv 3 load: 8 KiB random 70 % read / 30 % write, counting bytes; 8 KiB random 70 % \
     read / 30 % write, counting bytes -> 8 KiB random 70 % read / 30 % write, counting bytes",
];

/// Asserts that these differences were found, in any order, and no others.
#[track_caller]
pub(crate) fn assert_known(mut found: Vec<String>, known: &[&str]) {
    let mut known = known.to_vec();
    found.sort_unstable();
    known.sort_unstable();
    assert_eq!(found, known);
}
