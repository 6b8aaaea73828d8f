//! What another tool measured is shown as that tool's, and nothing is shown that it does not tell.

use report::model::Block;
use report::{build, html, markdown, text};
use results::{Cpu, Document, Latency, Measurement, Origin, Stalls};

use crate::sample;

/// A run of SQLIO, which has whole milliseconds, no percentiles, and tells nothing of the machine's
/// CPUs.
fn sqlio() -> Measurement {
    let mut m = sample::mixed();
    let latency =
        Latency { min: Some(0), mean: 29e6, max: Some(303_000_000), ..Latency::default() };
    for s in [&mut m.total, &mut m.read, &mut m.write] {
        s.latency_ns = Some(latency);
        s.histogram = None;
    }
    m.origin = Some(Origin {
        tool: "SQLIO".to_owned(),
        tool_version: Some("v1.5.SG".to_owned()),
        file: Some("results.txt".to_owned()),
        command_line: Some("sqlio -kR -t4 -o32 E:\\t.dat".to_owned()),
        latency_mean_short_by_ns: Some(1_500_000),
        ..Origin::default()
    });
    "SQLIO v1.5.SG".clone_into(&mut m.tool_version);
    "sqlio".clone_into(&mut m.engine.name);
    m.engine.features.clear();
    (m.kernel, m.steady, m.cpu, m.stalls) = (None, None, Cpu::default(), Stalls::default());
    (m.achieved_in_flight, m.file_bytes, m.workload.warmup_seconds) = (0.0, 0, 0.0);
    m.checks.littles_law_percent = None;
    m.checks.tool_ceiling_iops = None;
    (m.series, m.threads_detail) = (Vec::new(), Vec::new());
    m
}

fn all_formats(m: Measurement) -> [String; 3] {
    let document = Document::Measurement(Box::new(m));
    let plain = text::document(&document);
    let report = build(&[document]);
    [plain, html::page(&report).unwrap(), markdown::text(&report)]
}

#[test]
fn what_is_not_told_is_not_shown() {
    for text in all_formats(sqlio()) {
        for lie in [
            "CPU for",
            "for each I/O, of which",
            "0 achieved",
            "seed 42",
            "Every I/O is recorded",
            "not asked:",
            "longest time without",
            "0 B",
            "results of version SQLIO",
            "there is no reason to doubt them",
        ] {
            // The document itself is inside a page, and packed.
            assert!(!text.contains(lie), "`{lie}` is in {text}");
        }
        for truth in
            ["SQLIO v1.5.SG", "results.txt", "sqlio -kR -t4 -o32", "29 ms to 30.5 ms", "not known"]
        {
            assert!(text.contains(truth), "`{truth}` is not in {text}");
        }
    }
}

#[test]
fn what_is_told_is_shown() {
    let mut m = sqlio();
    m.cpu.host_percent = Some(12.0);
    m.achieved_in_flight = 120.0;
    m.file_bytes = 100 << 30;
    for text in all_formats(m) {
        for truth in ["host 12 %", "120 achieved on average", "100 GiB"] {
            assert!(text.contains(truth), "`{truth}` is not in {text}");
        }
    }
}

#[test]
fn a_copy_for_others_has_no_command_line() {
    let mut m = sqlio();
    m.workload.targets[0].path = r"E:\ledger\payroll.dat".into();
    m.checks.warnings.push("`payroll.dat` was found smaller".to_owned());
    let mut documents = vec![Document::Measurement(Box::new(m))];
    report::redact::redact(&mut documents).unwrap();
    let text = serde_json::to_string(&documents).unwrap();
    assert!(text.contains("\"tool\":\"SQLIO\""), "{text}");
    assert!(!text.contains("sqlio -kR") && !text.contains("results.txt"), "{text}");
    assert!(!text.contains("ledger") && !text.contains("payroll"), "{text}");
}

/// SQLIO's 0 ms stood in tables as 0 ns, and the lines of a mix had the same name.
#[test]
fn what_was_cut_off_is_not_zero_and_lines_of_a_mix_have_names() {
    let markdown = markdown::text(&build(&[Document::Measurement(Box::new(sqlio()))]));
    assert!(!markdown.contains("| 0 ns |"), "{markdown}");
    let mixed = build(&[Document::Measurement(Box::new(sample::mixed()))]);
    let blocks = mixed.results.iter().flat_map(|r| &r.sections).flat_map(|s| &s.blocks);
    let charts = blocks.flat_map(|block| match block {
        Block::Chart(chart) => std::slice::from_ref(chart),
        Block::Charts(charts) => charts.as_slice(),
        _ => &[],
    });
    for chart in charts {
        let names: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
        let different: std::collections::HashSet<&&str> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }
}
