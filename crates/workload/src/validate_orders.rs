//! The rules that the orders of other tools must keep.

use super::Found;
use crate::model::{Pattern, Stream};
use crate::units::Bytes;

/// Notes every rule that the order of a stream breaks, whatever its targets are.
pub(super) fn check(found: &mut Found, at: &dyn Fn(&str) -> String, stream: &Stream) {
    if let Pattern::Matrix { columns, rows, .. } = stream.pattern {
        let threads = stream.threads;
        let rule = format!("each of the {threads} threads needs a column of its own");
        found.check(columns >= threads.max(1), at("pattern.columns"), columns, &rule);
        found.check(rows > 0, at("pattern.rows"), rows, "it must be at least 1");
        let rule = "a matrix is made of blocks of one size";
        found.check(stream.blocks.len() <= 1, at("blocks"), "several sizes", rule);
    }
}

/// Notes every rule that the order of a stream breaks on a part of a target that has this many bytes.
pub(super) fn check_fit(
    found: &mut Found,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    span: u64,
    path: &str,
) {
    if let Pattern::Matrix { columns, rows, .. } = stream.pattern {
        let blocks = u64::from(columns) * u64::from(rows);
        let needed = blocks.saturating_mul(stream.largest_block());
        let rule = format!(
            "a matrix of {} needs {}, and the used part of `{path}` has only {}; use fewer columns or rows, or smaller \
             blocks",
            Bytes(stream.largest_block()),
            Bytes(needed),
            Bytes(span)
        );
        found.check(needed <= span, at("pattern"), format!("{columns} x {rows} blocks"), &rule);
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Block, Pattern, Stream, Target, Workload};
    use crate::units::Bytes;
    use crate::validate::{TargetFacts, Violation};
    use proptest::prelude::*;

    fn workload(stream: Stream) -> Workload {
        Workload::single(Target { path: "/data".into(), size_bytes: None }, stream)
    }

    fn fields(violations: &[Violation]) -> Vec<&str> {
        violations.iter().map(|v| v.field.trim_start_matches("streams[0].")).collect()
    }

    fn on(stream: &Stream, size_bytes: u64) -> Vec<Violation> {
        workload(stream.clone()).violations_on(&[TargetFacts { size_bytes, direct_align_bytes: 1 }])
    }

    fn matrix(columns: u32, rows: u32) -> Pattern {
        Pattern::Matrix { columns, rows, same_column: false }
    }

    /// SQLIO's default: 64 columns and 64 rows of 2 KiB are 8 MiB.
    #[test]
    fn a_matrix_fits_the_used_part() {
        let blocks = vec![Block { bytes: Bytes(2048), weight: 1 }];
        let stream = Stream { pattern: matrix(64, 64), blocks, threads: 64, ..Stream::default() };
        assert_eq!(workload(stream.clone()).violations(), []);
        assert_eq!(on(&stream, 8 << 20), []);
        let found = on(&stream, (8 << 20) - 1);
        assert_eq!(fields(&found), ["pattern"]);
        assert!(found[0].rule.contains("needs 8 MiB"), "{}", found[0]);
        let shifted = Stream { offset_bytes: Bytes(2048), ..stream.clone() };
        assert_eq!(fields(&on(&shifted, 8 << 20)), ["pattern"]);
        let more = Stream { threads: 65, ..stream };
        assert_eq!(fields(&workload(more).violations()), ["pattern.columns"]);
    }

    #[test]
    fn a_matrix_has_rows_and_one_size_of_blocks() {
        let size = |bytes| Block { bytes: Bytes(bytes), weight: 1 };
        let blocks = vec![size(2048), size(4096)];
        let stream = Stream { pattern: matrix(64, 0), blocks, ..Stream::default() };
        assert_eq!(fields(&workload(stream).violations()), ["pattern.rows", "blocks"]);
    }

    proptest! {
        #[test]
        fn checking_a_matrix_never_panics(columns: u32, rows: u32, block: u64, threads: u32, size: u64) {
            let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
            let stream = Stream { pattern: matrix(columns, rows), blocks, threads, ..Stream::default() };
            let _ = on(&stream, size);
            let _ = workload(stream).violations();
        }
    }
}
