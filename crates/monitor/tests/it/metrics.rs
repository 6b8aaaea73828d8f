//! The text that is given to Prometheus keeps the grammar of OpenMetrics.

use std::collections::HashSet;
use std::time::Duration;

use counters::{DiskTally, SystemWindow};
use monitor::Observation;
use monitor::metrics::Metrics;
use proptest::prelude::*;
use results::RecordedRow;

fn observation(device: &str, tally: DiskTally, rows: Vec<RecordedRow>) -> Observation {
    let disks = vec![(device.to_owned(), tally)];
    let window = SystemWindow { seconds: 1.0, disks, ..SystemWindow::default() };
    Observation { number: 1, unix: Duration::ZERO, t: 1.0, window, rows }
}

fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The labels of a sample: `{name="value",…}`. What follows them; `None` if they break the grammar.
fn after_labels(mut rest: &str) -> Option<&str> {
    rest = rest.strip_prefix('{')?;
    loop {
        let (name, value) = rest.split_once("=\"")?;
        if !is_name(name) {
            return None;
        }
        let mut escaped = false;
        let end = value.char_indices().find_map(|(at, c)| match c {
            _ if escaped => {
                escaped = false;
                (!matches!(c, '\\' | 'n' | '"')).then_some(usize::MAX)
            }
            '\\' => {
                escaped = true;
                None
            }
            '\n' => Some(usize::MAX),
            '"' => Some(at),
            _ => None,
        });
        rest = value.get(end?.checked_add(1)?..)?;
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return rest.strip_prefix('}'),
        }
    }
}

/// Every rule of the format that its text can break; gives the samples.
fn check(text: &str) -> Vec<(String, f64)> {
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    let (mut types, mut samples, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or_default();
            assert!(is_name(name) && matches!(kind, "counter" | "gauge"), "{line}");
            assert!(!types.iter().any(|(known, _)| known == name), "{line}: twice");
            types.push((name.to_owned(), kind.to_owned()));
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            let known = types.last().map(|(name, _)| name.as_str());
            assert_eq!(rest.split(' ').next(), known, "{line}");
        } else {
            let end = line.find(['{', ' ']).unwrap_or(line.len());
            let (name, rest) = line.split_at(end);
            let rest = if rest.starts_with('{') { after_labels(rest) } else { Some(rest) };
            let value = rest.and_then(|rest| rest.strip_prefix(' ')?.parse::<f64>().ok());
            assert!(value.is_some_and(f64::is_finite), "{line}");
            let (family, kind) = types.last().cloned().unwrap_or_default();
            let expected = if kind == "counter" { format!("{family}_total") } else { family };
            assert_eq!(name, expected, "{line} is not below its family");
            let series = line.rsplit_once(' ').map_or(line, |(series, _)| series);
            assert!(seen.insert(series.to_owned()), "{line}: twice");
            samples.push((series.to_owned(), value.unwrap_or(0.0)));
        }
    }
    samples
}

#[test]
fn counters_count_up_and_gauges_are_of_the_last_window() {
    let tally = DiskTally { writes: 10, write_ms: 300, ..DiskTally::default() };
    let mut metrics = Metrics::default();
    check(&metrics.text());
    for _ in 0..3 {
        metrics.hear(&observation("vda", tally, Vec::new()));
    }
    let samples = check(&metrics.text());
    let of =
        |name: &str| samples.iter().find(|(series, _)| series == name).map(|(_, value)| *value);
    assert_eq!(of("iosonde_disk_writes_total{device=\"vda\"}"), Some(30.0));
    assert_eq!(of("iosonde_disk_writes_per_s{device=\"vda\"}"), Some(10.0));
    assert_eq!(of("iosonde_disk_write_latency_ns{device=\"vda\"}"), Some(30e6));
    assert_eq!(of("iosonde_disk_read_latency_ns{device=\"vda\"}"), None, "nothing was read");
}

proptest! {
    #[test]
    fn every_name_keeps_the_grammar(device in any::<String>(), source in any::<String>(),
        object in any::<String>()) {
        let row = RecordedRow { source, object, seconds: 1.0, reads: Some(3),
            ..RecordedRow::default() };
        let mut metrics = Metrics::default();
        metrics.hear(&observation(&device, DiskTally::default(), vec![row.clone(), row]));
        prop_assert!(check(&metrics.text()).len() > 10);
    }
}
