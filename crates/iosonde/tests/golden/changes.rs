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
];

/// Differences of the table of an export that was imported again, so that its columns were worked
/// out anew.
pub(crate) const IMPORTED: &[&str] = &[
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
];

/// Asserts that these differences were found, in any order, and no others.
#[track_caller]
pub(crate) fn assert_known(mut found: Vec<String>, known: &[&str]) {
    let mut known = known.to_vec();
    found.sort_unstable();
    known.sort_unstable();
    assert_eq!(found, known);
}
