//! The rules that the orders of other tools must keep.

use super::Violations;
use crate::order::{DiskspdAccess, DiskspdOrder, DiskspdSlices};
use crate::slices::SlicesError;
use crate::stream::{Distribution, Pattern, Stream};
use crate::units::Bytes;

/// Notes every rule that the order of a stream breaks, whatever its targets are.
pub(super) fn check(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    if let Pattern::Matrix { columns, rows, .. } = stream.pattern {
        let threads = stream.threads;
        let rule = format!("each of the {threads} threads needs its own column");
        found.check(columns >= threads.max(1), at("pattern.columns"), columns, &rule);
        found.check(rows > 0, at("pattern.rows"), rows, "it must be at least 1");
        let rule = "a matrix is made of blocks of one size";
        found.check(stream.blocks.len() <= 1, at("blocks"), "several sizes", rule);
    }
    if let Some(order) = &stream.diskspd {
        check_diskspd(found, at, stream, order);
    }
}

fn check_diskspd(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    order: &DiskspdOrder,
) {
    let alone = stream.pattern == Pattern::Random
        && stream.random_percent == 0
        && stream.distribution == Distribution::Uniform
        && stream.align_bytes.is_none();
    let rule = "DiskSpd's order takes the place of pattern, random_percent, distribution and \
                align_bytes; leave them out";
    found.check(alone, at("diskspd"), "set along with another order", rule);
    let rule = "DiskSpd's order is one of blocks of one size";
    found.check(stream.blocks.len() <= 1, at("blocks"), "several sizes", rule);
    let step = order.step_bytes;
    found.check(step.0 > 0, at("diskspd.step_bytes"), step.0, "it must be at least 1");
    if let DiskspdAccess::Mixed { random_percent } = order.access {
        let ok = (1..=99).contains(&random_percent);
        let field = at("diskspd.access.mixed.random_percent");
        found.check(ok, field, random_percent, "it must be 1 to 99 percent");
    }
    if order.slices.is_empty() {
        return;
    }
    let random = matches!(order.access, DiskspdAccess::Random | DiskspdAccess::Mixed { .. });
    let rule = "only random offsets have slices; use the access `random` or `mixed`";
    found.check(random, at("diskspd.slices"), "set", rule);
    check_slices(found, &at("diskspd.slices"), stream.largest_block(), &order.slices);
}

fn check_slices(found: &mut Violations, field: &str, block: u64, slices: &DiskspdSlices) {
    let shares: u64 = match slices {
        DiskspdSlices::Percent(slices) => slices.iter().map(|s| u64::from(s.0)).sum(),
        DiskspdSlices::Absolute(slices) => slices.iter().map(|s| u64::from(s.0)).sum(),
    };
    let value = format!("{shares} % of the I/Os");
    found.check(shares == 100, field, value, "the shares of the I/Os must add up to 100 %");
    match slices {
        DiskspdSlices::Percent(slices) => {
            let whole: u64 = slices.iter().map(|s| u64::from(s.1)).sum();
            let value = format!("{whole} % of the target");
            found.check(whole == 100, field, value, "the slices must add up to the whole target");
            let empty = slices.iter().any(|s| s.1 == 0);
            found.check(!empty, field, "an empty slice", "a slice must have at least 1 %");
        }
        DiskspdSlices::Absolute(slices) => {
            let last = slices.len().saturating_sub(1);
            for (i, (_, length)) in slices.iter().enumerate() {
                let ok = length.0 >= block || (length.0 == 0 && i == last);
                let rule =
                    "a slice must hold a block; only the last may be 0, which is up to the end";
                found.check(ok, field, length, rule);
            }
        }
    }
}

/// Notes every rule of a direct target that the order of a stream breaks.
pub(super) fn check_aligned(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    align: u64,
    rule: &str,
) {
    let Some(order) = &stream.diskspd else { return };
    for (field, bytes) in [
        ("diskspd.step_bytes", order.step_bytes.0),
        ("diskspd.thread_stride_bytes", order.thread_stride_bytes.0),
    ] {
        found.check(bytes.is_multiple_of(align), at(field), bytes, rule);
    }
}

/// Notes every rule that the order of a stream breaks on a part of a target that has this many
/// bytes.
pub(super) fn check_fit(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    span: u64,
    path: &str,
) {
    if let Pattern::Matrix { columns, rows, .. } = stream.pattern {
        let blocks = u64::from(columns) * u64::from(rows);
        let needed = blocks.saturating_mul(stream.largest_block());
        let rule = format!(
            "a matrix of {} needs {}, and the used part of `{path}` has only {}; use fewer \
             columns or rows, or smaller blocks",
            Bytes(stream.largest_block()),
            Bytes(needed),
            Bytes(span)
        );
        found.check(needed <= span, at("pattern"), format!("{columns} x {rows} blocks"), &rule);
    }
    let Some(order) = &stream.diskspd else { return };
    let block = stream.largest_block();
    if block > span {
        // The rule on blocks reports that already.
        return;
    }
    let stride = order.thread_stride_bytes;
    let last = u64::from(stream.threads.saturating_sub(1));
    let needed = stride.0.saturating_mul(last).saturating_add(block);
    let rule = format!(
        "thread {last} begins at {last} times this, and the used part of `{path}` has only {}; \
         use a smaller stride, fewer threads or a larger target",
        Bytes(span)
    );
    found.check(needed <= span, at("diskspd.thread_stride_bytes"), stride, &rule);
    if order.slices.is_empty() {
        return;
    }
    let effective = order.slices.effective(span, block, order.step_bytes.0);
    if let Err(error @ SlicesError::NothingLeft(_)) = effective {
        let rule = format!("of `{path}`, {error}; use other slices or a larger target");
        found.check(false, at("diskspd.slices"), "without effect", &rule);
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Target, Workload};
    use crate::order::{DiskspdAccess, DiskspdOrder, DiskspdSlices};
    use crate::stream::{Block, Pattern, Stream};
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

    fn diskspd(access: DiskspdAccess, slices: DiskspdSlices) -> Stream {
        let step_bytes = Bytes(8192);
        let order = DiskspdOrder { access, step_bytes, thread_stride_bytes: Bytes(0), slices };
        Stream { diskspd: Some(order), ..Stream::default() }
    }

    fn uniform() -> DiskspdSlices {
        DiskspdSlices::default()
    }

    #[test]
    fn the_order_of_diskspd_stands_alone() {
        let random = diskspd(DiskspdAccess::Random, uniform());
        assert_eq!(workload(random.clone()).violations(), []);
        let both = Stream { pattern: Pattern::Sequential, ..random.clone() };
        assert_eq!(fields(&workload(both).violations()), ["diskspd"]);
        let both = Stream { align_bytes: Some(Bytes(512)), ..random };
        assert_eq!(fields(&workload(both).violations()), ["diskspd"]);
        for random_percent in [0, 100] {
            let mixed = diskspd(DiskspdAccess::Mixed { random_percent }, uniform());
            let found = workload(mixed).violations();
            assert_eq!(fields(&found), ["diskspd.access.mixed.random_percent"]);
        }
    }

    #[test]
    fn slices_add_up_and_hold_a_block() {
        let percent = |slices: &[(u8, u8)]| DiskspdSlices::Percent(slices.to_vec());
        let of = |slices| workload(diskspd(DiskspdAccess::Random, slices)).violations().len();
        assert_eq!(of(percent(&[(90, 10), (0, 10), (10, 80)])), 0);
        assert_eq!(of(percent(&[(100, 10)])), 1, "10 % of the target");
        assert_eq!(of(percent(&[(90, 100)])), 1, "90 % of the I/Os");
        assert_eq!(of(percent(&[(90, 100), (10, 0)])), 1, "nothing is left for the last");
        let absolute = |slices: &[(u8, u64)]| {
            DiskspdSlices::Absolute(slices.iter().map(|s| (s.0, Bytes(s.1))).collect())
        };
        assert_eq!(of(absolute(&[(90, 8192), (10, 0)])), 0);
        assert_eq!(of(absolute(&[(90, 0), (10, 8192)])), 1, "only the last is open");
        assert_eq!(of(absolute(&[(90, 8191), (10, 0)])), 1, "smaller than a block");
        let sequential = diskspd(DiskspdAccess::Sequential, percent(&[(100, 100)]));
        assert_eq!(fields(&workload(sequential).violations()), ["diskspd.slices"]);
    }

    /// Three threads 40 KiB apart with blocks of 64 KiB: in 100 KiB, only the first can begin.
    /// DiskSpd found that out when it ran, and waited for the end all the same.
    #[test]
    fn every_thread_has_a_place_to_begin() {
        let mut stream = diskspd(DiskspdAccess::Sequential, uniform());
        stream.threads = 3;
        stream.blocks = vec![Block { bytes: Bytes(65_536), weight: 1 }];
        stream.diskspd.as_mut().unwrap().thread_stride_bytes = Bytes(40_960);
        assert_eq!(fields(&on(&stream, 102_400)), ["diskspd.thread_stride_bytes"]);
        assert_eq!(on(&stream, 2 * 40_960 + 65_536), []);
        // A base after the end made DiskSpd's target endless.
        stream.offset_bytes = Bytes(1 << 20);
        assert_eq!(fields(&on(&stream, 1 << 20)), ["offset_bytes", "blocks"]);
    }

    #[test]
    fn slices_beyond_the_end_are_not_left_out_in_silence() {
        let slices = DiskspdSlices::Absolute(vec![(0, Bytes(1 << 20)), (100, Bytes(65_536))]);
        let stream = diskspd(DiskspdAccess::Random, slices);
        assert_eq!(fields(&on(&stream, 1 << 20)), ["diskspd.slices"]);
        assert_eq!(on(&stream, (1 << 20) + 8192), []);
    }

    #[test]
    fn direct_io_needs_aligned_steps() {
        let mut stream = diskspd(DiskspdAccess::Sequential, uniform());
        let order = stream.diskspd.as_mut().unwrap();
        (order.step_bytes, order.thread_stride_bytes) = (Bytes(1000), Bytes(5000));
        let facts = [TargetFacts { size_bytes: 1 << 20, direct_align_bytes: 4096 }];
        let found = workload(stream).violations_on(&facts);
        assert_eq!(fields(&found), ["diskspd.step_bytes", "diskspd.thread_stride_bytes"]);
    }

    proptest! {
        #[test]
        fn checking_an_order_of_diskspd_never_panics(
            step: u64, stride: u64, threads: u32, block: u64, size: u64,
            given in prop::collection::vec(any::<(u8, u64)>(), 0..5), percent: bool,
        ) {
            let slices = if percent {
                DiskspdSlices::Percent(given.iter().map(|s| (s.0, s.1.to_le_bytes()[0])).collect())
            } else {
                DiskspdSlices::Absolute(given.iter().map(|s| (s.0, Bytes(s.1))).collect())
            };
            let mut stream = diskspd(DiskspdAccess::Random, slices);
            let order = stream.diskspd.as_mut().unwrap();
            (order.step_bytes, order.thread_stride_bytes) = (Bytes(step), Bytes(stride));
            stream.blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
            stream.threads = threads;
            let _ = on(&stream, size);
            let _ = workload(stream).violations();
        }

        #[test]
        fn checking_a_matrix_never_panics(columns: u32, rows: u32, block: u64, threads: u32,
            size: u64) {
            let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
            let stream = Stream { pattern: matrix(columns, rows), blocks, threads,
                ..Stream::default() };
            let _ = on(&stream, size);
            let _ = workload(stream).violations();
        }
    }
}
