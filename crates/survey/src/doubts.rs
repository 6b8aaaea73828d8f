//! The warnings of many measurements, each said once.

use results::Measurement;
use workload::show_number;

/// Every reason to doubt a figure, each once, with the loads it came up in. Measurements come with
/// a name for their load, which may be empty.
pub(crate) fn each_once<'a>(
    measurements: impl Iterator<Item = (&'a str, &'a Measurement)>,
) -> Vec<String> {
    let mut found: Vec<Doubt> = Vec::new();
    let mut count = 0;
    for (title, measurement) in measurements {
        count += 1;
        for text in &measurement.checks.warnings {
            // Figures differ from one measurement to the next; the sentence stays the same.
            let kind = without_figures(text);
            match found.iter_mut().find(|f| f.kind == kind) {
                Some(f) => f.note(title, count),
                None => {
                    found.push(Doubt { kind, text, titles: vec![title], count: 1, last: count });
                }
            }
        }
    }
    found.iter().map(|f| f.show(count)).collect()
}

struct Doubt<'a> {
    kind: String,
    text: &'a str,
    titles: Vec<&'a str>,
    /// How many measurements have this warning.
    count: usize,
    /// The last measurement that has it, so that hosts of one count once.
    last: usize,
}

impl<'a> Doubt<'a> {
    /// Hosts of one measurement may have the same warning.
    fn note(&mut self, title: &'a str, measurement: usize) {
        self.count += usize::from(self.last != measurement);
        self.last = measurement;
        if !self.titles.contains(&title) {
            self.titles.push(title);
        }
    }

    fn show(&self, measurements: usize) -> String {
        let named: Vec<&str> = self.titles.iter().copied().filter(|t| !t.is_empty()).collect();
        let count = show_number(self.count as f64);
        match (self.count, named.join(", ")) {
            (n, _) if n == measurements => self.text.to_owned(),
            (1, titles) if titles.is_empty() => format!("1 measurement: {}", self.text),
            (_, titles) if titles.is_empty() => {
                format!("{count} of {measurements} measurements, first: {}", self.text)
            }
            (1, titles) => format!("{titles}: {}", self.text),
            (_, titles) => format!("{titles} ({count} measurements), first: {}", self.text),
        }
    }
}

fn without_figures(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '−')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_two_hosts_is_of_one_measurement() {
        let mut doubt =
            Doubt { kind: String::new(), text: "x", titles: vec![""], count: 1, last: 1 };
        for measurement in [1, 2, 2] {
            doubt.note("", measurement);
        }
        assert_eq!(doubt.show(3), "2 of 3 measurements, first: x");
    }

    #[test]
    fn the_same_warning_with_other_figures_is_one_warning() {
        let (a, b) =
            ("30.5 I/Os were in flight instead of 32", "61.2 I/Os were in flight instead of 64");
        assert_eq!(without_figures(a), without_figures(b));
    }
}
