//! Tool and kernel side by side, with the numbers of published measurements.

use analysis::agreement::{
    Agreement, DEFAULT_TOLERANCE_PERCENT, Figure, Flow, Observed, Suspicion, Window, compare,
};

fn flow(iops: f64, bytes_per_io: f64) -> Flow {
    Flow { iops, bytes_per_s: iops * bytes_per_io, latency_ns: Some(1e6), merges_per_s: 0.0 }
}

fn writes(tool: Flow, kernel: Flow) -> Window {
    Window {
        tool: Observed { write: tool, ..Observed::default() },
        kernel: Observed { write: kernel, ..Observed::default() },
        in_flight: 16.0,
        seconds: 120.0,
        tolerance_percent: DEFAULT_TOLERANCE_PERCENT,
    }
}

fn suspect(tool: Flow, kernel: Flow) -> Option<Suspicion> {
    let agreement = compare(&writes(tool, kernel));
    assert_eq!(agreement.within_tolerance, agreement.suspicion.is_none());
    agreement.suspicion
}

#[test]
fn sqlio_against_performance_monitor() {
    // Culmsee 2012: SQLIO 526 IOPS, 29 ms (truncated); Performance Monitor 525.423 writes/s, 0.03
    // s, 8192 bytes.
    let tool = Flow { latency_ns: Some(30.4e6), ..flow(526.0, 8192.0) };
    let kernel = Flow { latency_ns: Some(30.0e6), ..flow(525.423, 8192.0) };
    let agreement = compare(&writes(tool, kernel));
    assert!(agreement.within_tolerance);
    assert_eq!(agreement.suspicion, None);
    assert_eq!(agreement.rows.len(), 4, "no row for reads, of which there were none");
    assert!((agreement.worst_percent - 0.1097).abs() < 1e-4);
    let size = &agreement.rows[2];
    assert_eq!(size.figure, Figure::WriteBytesPerIo);
    assert!((size.kernel - 8192.0).abs() < 1e-9 && size.difference_percent.abs() < 1e-9);
    assert_eq!(
        agreement.explanation,
        "The kernel counted the same I/O as this test, to within 0.11 %."
    );
    let text = serde_json::to_string(&agreement).unwrap();
    assert!(text.contains("\"figure\":\"write_bytes_per_s\""));
    assert_eq!(serde_json::from_str::<Agreement>(&text).unwrap().rows.len(), 4);
}

#[test]
fn the_direction_of_the_difference_names_the_cause() {
    let tool = flow(1000.0, 65_536.0);
    assert_eq!(suspect(tool, flow(1200.0, 65_536.0)), Some(Suspicion::OtherLoad));
    assert_eq!(suspect(tool, flow(2000.0, 32_768.0)), Some(Suspicion::Splitting));
    assert_eq!(suspect(tool, flow(250.0, 262_144.0)), Some(Suspicion::Merging));
    assert_eq!(suspect(tool, flow(100.0, 65_536.0)), Some(Suspicion::Caching));
    assert_eq!(suspect(tool, flow(1000.0, 131_072.0)), Some(Suspicion::Amplification));
    assert_eq!(suspect(tool, flow(1010.0, 65_536.0)), None);
    assert_eq!(suspect(tool, flow(0.0, 0.0)), Some(Suspicion::Caching));
}

#[test]
fn merges_are_counted_or_said_to_be_above() {
    let tool = flow(1000.0, 8192.0);
    let counted = Flow { merges_per_s: 750.0, ..flow(250.0, 32_768.0) };
    let explanation = compare(&writes(tool, counted)).explanation;
    assert!(explanation.contains("joined 750 a second"), "{explanation}");
    let explanation = compare(&writes(tool, flow(250.0, 32_768.0))).explanation;
    assert!(explanation.contains("layer above"), "{explanation}");
}

#[test]
fn reads_in_a_write_test_count_in_proportion() {
    let mut window = writes(flow(1000.0, 8192.0), flow(1000.0, 8192.0));
    window.kernel.read = flow(0.5, 4096.0);
    assert!(compare(&window).within_tolerance, "a stray read a second is nothing");
    window.kernel.read = flow(300.0, 8192.0);
    let agreement = compare(&window);
    assert_eq!(agreement.suspicion, Some(Suspicion::OtherLoad));
    assert!(agreement.explanation.contains("300 reads a second though this test does none"));
}

#[test]
fn the_edges_of_a_short_window_are_allowed_for() {
    let mut window = writes(flow(100.0, 8192.0), flow(110.0, 8192.0));
    window.in_flight = 32.0;
    window.seconds = 3.0;
    assert!(compare(&window).within_tolerance, "32 of 300 I/Os may be cut");
    window.seconds = 300.0;
    assert!(!compare(&window).within_tolerance);
}

#[test]
fn latency_decides_nothing() {
    let tool = Flow { latency_ns: Some(5e6), ..flow(1000.0, 8192.0) };
    let kernel = Flow { latency_ns: Some(1e6), ..flow(1000.0, 8192.0) };
    let agreement = compare(&writes(tool, kernel));
    assert!(agreement.within_tolerance);
    assert_eq!(agreement.rows[3].difference_percent, -80.0);
}

#[test]
fn nothing_to_compare_is_no_agreement() {
    let agreement = compare(&writes(Flow::default(), Flow::default()));
    assert!(!agreement.within_tolerance && agreement.rows.is_empty());
    let unknown = Flow { iops: f64::NAN, bytes_per_s: f64::NAN, ..Flow::default() };
    assert!(!compare(&writes(flow(1000.0, 8192.0), unknown)).within_tolerance);
}

/// ext4 writes its journal 250 times a second while a file's time of change moves; next to log
/// writes of 60 KiB, those 4 KiB are within the tolerance of bytes, and the additional writes were
/// taken for pieces of the test's own.
#[test]
fn a_journal_beside_large_writes_is_no_splitting() {
    let tool = flow(9563.0, 61440.0);
    let with_journal =
        Flow { iops: tool.iops + 257.0, bytes_per_s: tool.bytes_per_s + 257.0 * 4096.0, ..tool };
    assert_eq!(suspect(tool, with_journal), Some(Suspicion::OtherLoad));
    let in_pieces = Flow { iops: tool.iops * 1.06, ..tool };
    assert_eq!(suspect(tool, in_pieces), Some(Suspicion::Splitting));
}

/// Another program's write-back was 20 writes a second of 400 KiB next to 10 000 small ones: too
/// few to be seen among the writes, and its bytes were taken for what each write moved in excess.
#[test]
fn a_handful_of_large_writes_is_another_program() {
    let tool = flow(10_493.0, 8192.0);
    let write_back = Flow { iops: tool.iops + 20.0, bytes_per_s: tool.bytes_per_s + 8.5e6, ..tool };
    assert_eq!(suspect(tool, write_back), Some(Suspicion::OtherLoad));
    let read_ahead = Flow { iops: tool.iops + 3.0, bytes_per_s: tool.bytes_per_s * 2.0, ..tool };
    assert_eq!(suspect(tool, read_ahead), Some(Suspicion::Amplification));
}

/// Sequential reads of 64 KiB that the kernel joined to 416 KiB stood as "-84.3 %, beyond what is
/// allowed" among the warnings, though every byte was there.
#[test]
fn merged_sequential_reads_are_no_doubt() {
    let tool = flow(12_000.0, 65_536.0);
    let kernel = Flow { merges_per_s: 10_116.0, ..flow(1884.0, 65_536.0 * 12_000.0 / 1884.0) };
    let agreement = compare(&writes(tool, kernel));
    assert_eq!(agreement.suspicion, Some(Suspicion::Merging));
    assert!(!agreement.suspicion.unwrap().is_doubt());
    assert!(agreement.explanation.contains("84.3 % fewer writes"), "{}", agreement.explanation);
}

/// Another program's I/O next to a slow load was "57 765 % apart".
#[test]
fn a_huge_difference_is_capped() {
    let agreement = compare(&writes(flow(2.0, 8192.0), flow(2.0 * 578.65, 8192.0)));
    assert_eq!(agreement.suspicion, Some(Suspicion::OtherLoad));
    assert!(!agreement.suspicion.unwrap().is_doubt());
    let text = &agreement.explanation;
    assert!(text.contains("more than 10 times the writes") && !text.contains("57"), "{text}");
}

/// The counters that no way of doing I/O explains are a doubt, also next to a larger difference
/// that has an explanation.
#[test]
fn a_contradiction_is_found_beside_merging() {
    let mut window = writes(flow(1000.0, 8192.0), flow(1300.0, 3000.0));
    let contradicts = Some(Suspicion::Disagreement);
    assert_eq!(compare(&window).suspicion, contradicts);
    window.tool.read = flow(1000.0, 65_536.0);
    window.kernel.read = flow(100.0, 655_360.0);
    assert_eq!(compare(&window).suspicion, contradicts);
    window.kernel.write = window.tool.write;
    assert_eq!(compare(&window).suspicion, Some(Suspicion::Merging));
}
