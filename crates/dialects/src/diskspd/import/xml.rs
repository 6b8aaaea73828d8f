//! DiskSpd's XML. There may be messages before and after it, and several results after one another.

use roxmltree::{Document, Node, ParsingOptions};

use super::spans::{Figures, Head, Span, unknown_load, without_words};
use crate::diskspd::profile::{self, Profile};
use crate::foreign::{ForeignRuns, ReadError, fnv_1a};
use crate::identities::{Printed, PrintedFigures};
use crate::markup::{Limits, guard};

const BEGIN: &str = "<Results>";
const END: &str = "</Results>";

/// The most that is read as one result: intervals and percentiles of thousands of threads.
const LIMITS: Limits = Limits { bytes: 128 << 20, depth: 32, tag_bytes: 4096 };
/// The most elements, attributes and texts.
const NODES_MAX: u32 = 8_000_000;
const NS_PER_MS: f64 = 1e6;

/// Whether there is a result of DiskSpd in a text.
#[must_use]
pub fn is_in(text: &str) -> bool {
    text.find(BEGIN).is_some_and(|at| {
        let rest = text.get(at + BEGIN.len()..).unwrap_or_default().trim_start();
        ["<System>", "<Profile>", "<TimeSpan>"].iter().any(|tag| rest.starts_with(tag))
    })
}

/// Every time span of a text that was measured.
pub fn read(text: &str, file: &str, read: &str) -> Result<ForeignRuns, ReadError> {
    let mut found = ForeignRuns::default();
    let mut from = 0;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find(BEGIN)) {
        let begin = from + begin;
        let rest = text.get(begin..).unwrap_or_default();
        let length = rest.find(END).map_or(rest.len(), |at| at + END.len());
        from = begin + length;
        let part = Part { text, begin, xml: rest.get(..length).unwrap_or_default() };
        part.read(file, read, &mut found)?;
    }
    Ok(found)
}

/// One result within a text, and where it begins.
struct Part<'a> {
    text: &'a str,
    begin: usize,
    xml: &'a str,
}

impl Part<'_> {
    fn read(&self, file: &str, read: &str, found: &mut ForeignRuns) -> Result<(), ReadError> {
        let at_begin = |what: String| ReadError::at(self.text, self.begin, what);
        guard(self.xml, LIMITS).map_err(|error| at_begin(error.to_string()))?;
        let escaped;
        let options = || ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let document = match Document::parse_with_options(self.xml, options()) {
            Ok(document) => document,
            // DiskSpd writes paths as they are, and under Wine the name `<unknown>`.
            Err(error) => {
                escaped = with_entities(&with_quoted_marks(self.xml));
                Document::parse_with_options(&escaped, options())
                    .map_err(|_| self.malformed(&error))?
            }
        };
        let line = at_begin(String::new()).line;
        let root = document.root_element();
        let head = head(root, file);
        let profile = profile_of(&document, root);
        let hash = fnv_1a(self.xml);
        let spans: Vec<Node> = root.children().filter(|n| n.has_tag_name("TimeSpan")).collect();
        let mut to_end = 0.0;
        let mut measured = Vec::new();
        for (index, node) in spans.iter().enumerate().rev() {
            let number = index + 1;
            if let Some(error) = child(*node, "Error") {
                let what = error.text().unwrap_or_default().trim();
                found.notes.push(format!("line {line}: time span {number} is left out: {what}"));
                continue;
            }
            let asked = profile.as_ref().ok().and_then(|p| p.time_spans.get(index));
            let mut span = Span { number, ..Span::default() };
            self.figures(&document, *node, &mut span)?;
            let (warmup, cooldown) = asked.map_or((0, 0), |a| (a.warmup_s, a.cooldown_s));
            span.seconds_to_end = to_end + span.seconds + f64::from(cooldown);
            to_end = span.seconds_to_end + f64::from(warmup);
            if span.read.ios == 0 && span.write.ios == 0 && span.targets.is_empty() {
                found
                    .notes
                    .push(format!("line {line}: time span {number} has no figures; left out"));
                continue;
            }
            let asked = asked.filter(|asked| !asked.targets.is_empty());
            if asked.is_none() {
                let why = profile.as_ref().err().map_or("the `Profile` does not have it", |e| e);
                let what = unknown_load(why);
                found.notes.push(format!("line {line}: time span {number}: {what}"));
                span.warnings.push(what);
            }
            match span.measurement(asked, &head, &format!("{hash:016x} {number}"), read) {
                Ok(measurement) => measured.push(measurement),
                Err(reasons) => found.notes.push(without_words(line, number, &reasons)),
            }
        }
        if spans.is_empty() {
            found.notes.push(format!("line {line}: the result has no time span"));
        }
        measured.reverse();
        found.measurements.extend(measured);
        Ok(())
    }

    fn malformed(&self, error: &roxmltree::Error) -> ReadError {
        use roxmltree::Error::{UnclosedRootNode, UnexpectedEndOfStream};
        let is_cut = !self.xml.ends_with(END);
        if is_cut || matches!(error, UnclosedRootNode | UnexpectedEndOfStream) {
            let end = self.begin + self.xml.len();
            return ReadError::at(self.text, end, "the result ends here, in its middle".to_owned());
        }
        let start = ReadError::at(self.text, self.begin, String::new());
        let place = error.pos();
        let row = usize::try_from(place.row).unwrap_or(1).max(1);
        let column = usize::try_from(place.col).unwrap_or(1);
        let what = error.to_string();
        let what = what.rsplit_once(" at ").map_or(what.as_str(), |(what, _)| what).to_owned();
        let column = if row == 1 { start.column - 1 + column } else { column };
        ReadError { line: start.line + row - 1, column, what }
    }

    /// The figures of a time span.
    fn figures(&self, document: &Document, node: Node, span: &mut Span) -> Result<(), ReadError> {
        let number = |node, name| self.number(document, node, name);
        span.seconds = number(node, "TestTimeSeconds")?.unwrap_or(0.0);
        span.threads = self.count(document, node, "ThreadCount")?;
        let average = child(node, "CpuUtilization").and_then(|cpu| child(cpu, "Average"));
        if let Some(average) = average {
            span.host_percent = number(average, "UsagePercent")?;
        }
        for thread in node.children().filter(|n| n.has_tag_name("Thread")) {
            for target in thread.children().filter(|n| n.has_tag_name("Target")) {
                let count = |name| self.count(document, target, name);
                let path = child(target, "Path").and_then(|p| p.text()).unwrap_or_default();
                let figures = |bytes, ios| Figures { bytes, ios, ..Figures::default() };
                let read = figures(count("ReadBytes")?, count("ReadCount")?);
                let write = figures(count("WriteBytes")?, count("WriteCount")?);
                let known = span.on_target(path, count("FileSize")?);
                known.read.add(&read);
                known.write.add(&write);
                span.read.add(&read);
                span.write.add(&write);
            }
        }
        for of in [&mut span.read, &mut span.write] {
            let (ios, bytes) = (Printed::count(of.ios), Printed::count(of.bytes));
            of.printed = PrintedFigures { ios: Some(ios), bytes: Some(bytes), ..of.printed };
        }
        if let Some(latency) = child(node, "Latency") {
            self.latency(document, latency, span)?;
        }
        if let Some(iops) = child(node, "Iops") {
            self.series(document, iops, span)?;
        }
        Ok(())
    }

    fn latency(&self, document: &Document, node: Node, span: &mut Span) -> Result<(), ReadError> {
        for (times, mean, stddev, cell) in [
            (
                &mut span.read.times,
                "AverageReadMilliseconds",
                "ReadLatencyStdev",
                "ReadMilliseconds",
            ),
            (
                &mut span.write.times,
                "AverageWriteMilliseconds",
                "WriteLatencyStdev",
                "WriteMilliseconds",
            ),
            (
                &mut span.total.times,
                "AverageTotalMilliseconds",
                "LatencyStdev",
                "TotalMilliseconds",
            ),
        ] {
            times.mean = self.number(document, node, mean)?;
            times.stddev = self.number(document, node, stddev)?;
            for bucket in node.children().filter(|n| n.has_tag_name("Bucket")) {
                let percent = self.number(document, bucket, "Percentile")?;
                let value = self.number(document, bucket, cell)?;
                let (Some(percent), Some(ms)) = (percent, value) else { continue };
                times.percentiles.push((percent, ms));
                if percent == 0.0 {
                    times.min = Some(ms);
                } else if (percent - 100.0).abs() < 1e-12 {
                    times.max = Some(ms);
                }
            }
        }
        Ok(())
    }

    /// The intervals; their bytes follow from the mean size of an I/O.
    fn series(&self, document: &Document, node: Node, span: &mut Span) -> Result<(), ReadError> {
        let mib = |of: &Figures| {
            if of.ios == 0 { 0.0 } else { of.bytes as f64 / of.ios as f64 / 1_048_576.0 }
        };
        let (read_mib, write_mib) = (mib(&span.read), mib(&span.write));
        let mut before = 0.0;
        for bucket in node.children().filter(|n| n.has_tag_name("Bucket")) {
            let value = |name| self.attribute(document, bucket, name);
            let Some(end_ms) = value("SampleMillisecond")? else { continue };
            let (reads, writes) = (value("Read")?.unwrap_or(0.0), value("Write")?.unwrap_or(0.0));
            let mean =
                |rate: f64, ms: Option<f64>| ms.filter(|_| rate > 0.0).map(|ms| ms * NS_PER_MS);
            let longest = value("ReadMaxLatencyMilliseconds")?
                .into_iter()
                .chain(value("WriteMaxLatencyMilliseconds")?);
            let longest = longest.reduce(f64::max).filter(|ms| *ms > 0.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let max_ns = longest.map(|ms| (ms * NS_PER_MS).round() as u64);
            if end_ms <= before {
                let what = format!("the interval ends at {end_ms} ms, not after the one before it");
                return Err(self.wrong(document, bucket, what));
            }
            span.series.push(results::Point {
                t: end_ms / 1e3,
                seconds: (end_ms - before) / 1e3,
                read_iops: reads,
                write_iops: writes,
                read_mib_per_s: reads * read_mib,
                write_mib_per_s: writes * write_mib,
                read_mean_ns: mean(reads, value("ReadAvgLatencyMilliseconds")?),
                write_mean_ns: mean(writes, value("WriteAvgLatencyMilliseconds")?),
                max_ns,
                ..results::Point::default()
            });
            before = end_ms;
        }
        Ok(())
    }

    fn wrong(&self, document: &Document, node: Node, what: String) -> ReadError {
        let start = ReadError::at(self.text, self.begin, what);
        let place = document.text_pos_at(node.range().start);
        let row = usize::try_from(place.row).unwrap_or(1).max(1);
        let column = usize::try_from(place.col).unwrap_or(1);
        let column = if row == 1 { start.column - 1 + column } else { column };
        ReadError { line: start.line + row - 1, column, what: start.what }
    }

    /// The number in a child; `None` if there is no such child.
    fn number(
        &self,
        document: &Document,
        node: Node,
        name: &str,
    ) -> Result<Option<f64>, ReadError> {
        let Some(found) = child(node, name) else { return Ok(None) };
        let text = found.text().unwrap_or_default();
        amount(text).map(Some).map_err(|what| self.wrong(document, found, what))
    }

    fn attribute(
        &self,
        document: &Document,
        node: Node,
        name: &str,
    ) -> Result<Option<f64>, ReadError> {
        let Some(text) = node.attribute(name) else { return Ok(None) };
        // An interval without I/Os has no mean, and Windows spells that in several ways.
        let spelled = text.trim_start_matches(['-', '+']).to_ascii_lowercase();
        if ["inf", "nan", "1.#"].iter().any(|word| spelled.starts_with(word)) {
            return Ok(None);
        }
        amount(text).map(Some).map_err(|what| self.wrong(document, node, what))
    }

    /// The whole number in a child; 0 without such a child.
    fn count(&self, document: &Document, node: Node, name: &str) -> Result<u64, ReadError> {
        let Some(found) = child(node, name) else { return Ok(0) };
        let text = found.text().unwrap_or_default().trim();
        let wrong =
            |_| self.wrong(document, found, format!("`{text}` is not a whole number below 2^64"));
        text.parse().map_err(wrong)
    }
}

fn amount(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    value.ok_or_else(|| format!("`{}` is not a number from 0 on", text.trim()))
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|n| n.has_tag_name(name))
}

fn head<'a>(root: Node, file: &'a str) -> Head<'a> {
    let system = root.children().find(|n| n.has_tag_name("System"));
    let text = |path: &[&str]| {
        let mut node = system?;
        for name in path {
            node = node.children().find(|n| n.has_tag_name(*name))?;
        }
        Some(node.text()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let version = text(&["Tool", "Version"]);
    Head {
        file,
        is_own: false,
        version,
        command_line: None,
        host: text(&["ComputerName"]),
        printed: text(&["RunTime"]),
    }
}

/// What was asked for, or why it is not known.
fn profile_of(document: &Document, root: Node) -> Result<Profile, String> {
    let node = root.children().find(|n| n.has_tag_name("Profile"));
    let node = node.ok_or("the result has no `Profile`")?;
    let text = document.input_text().get(node.range()).unwrap_or_default();
    profile::read(text.as_bytes()).map_err(|error| {
        let error = error.to_string();
        format!("the `Profile` cannot be read ({})", error.lines().next().unwrap_or_default())
    })
}

/// The text with every `<` inside the quotation marks of a tag written as an entity.
fn with_quoted_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_tag, mut quote) = (false, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(_), '<') => {
                out.push_str("&lt;");
                continue;
            }
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') if in_tag => quote = Some(c),
            (None, '<') => in_tag = true,
            (None, '>') => in_tag = false,
            _ => {}
        }
        out.push(c);
    }
    out
}

/// The text with every `&` that begins no entity written as one.
fn with_entities(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.split(';').next().unwrap_or_default();
        let number = name.strip_prefix('#').is_some_and(|n| {
            !n.is_empty() && n.bytes().all(|b| b.is_ascii_hexdigit() || b == b'x')
        });
        let known = ["amp", "lt", "gt", "quot", "apos"].contains(&name) || number;
        let entity = known && name.len() < part.len();
        out.push_str(if entity { "&" } else { "&amp;" });
        out.push_str(part);
    }
    out
}
