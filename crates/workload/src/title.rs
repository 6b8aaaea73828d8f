//! The words for a load: what titles, lists and captions call it.

#![expect(clippy::format_push_string, reason = "titles are short")]

use crate::arrival::{Arrival, RateLimit};
use crate::mix::Mix;
use crate::model::Workload;
use crate::order::{Buffers, PoolShare};
use crate::stream::{Block, Content, Distribution, Pattern, Stream, SyncCall};
use crate::sweep::Matrix;
use crate::units::{plural, show_number};

/// The title of a load that is unknown.
const UNKNOWN_LOAD: &str = "unknown load";

impl Workload {
    /// Whether nobody knows the load: another tool's result does not tell it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.streams.is_empty()
    }

    /// The load in one phrase, stream by stream, without its depth; streams of one load, such as
    /// those of several files, are named once. Only results of other tools have no stream: those
    /// that do not tell their load.
    #[must_use]
    pub fn title(&self) -> String {
        match self.streams.as_slice() {
            [] => UNKNOWN_LOAD.to_owned(),
            streams => each(streams, Stream::title).join("; "),
        }
    }
}

impl Stream {
    /// The load of a stream in one phrase: `8 KiB random read`, with everything that is not the
    /// default.
    #[must_use]
    pub fn title(&self) -> String {
        let mut words = match &self.mix {
            Some(mix) => mixed(self, mix),
            None => format!("{} {} {}", blocks(self), pattern(self), direction(self)),
        };
        if self.durable && self.writes() {
            words.push_str(", durable");
        }
        if let Some(sync) = self.sync {
            let call = match sync.call {
                SyncCall::Fsync => "fsync",
                SyncCall::Fdatasync => "fdatasync",
            };
            words.push_str(&format!(
                ", {call} after {}",
                plural(sync.every_writes.into(), "write", "writes")
            ));
        }
        if let Some(rate) = self.rate {
            let offered = match rate.limit {
                RateLimit::Iops(iops) => format!("{} IOPS", show_number(iops)),
                RateLimit::MibPerS(mib) => format!("{} MiB/s", show_number(mib)),
            };
            let arrival = match rate.arrival {
                Arrival::Even => "offered evenly",
                Arrival::Poisson => "offered at random moments",
                Arrival::Capped => "at most",
            };
            words.push_str(&format!(", {offered} {arrival}"));
            if self.rate_profile.is_some() {
                words.push_str(", more and less over time");
            }
        }
        match self.content {
            Content::Zero if self.writes() => words.push_str(", zeros"),
            Content::Compressible { percent } if self.writes() => {
                words.push_str(&format!(", {percent} % zeros"));
            }
            Content::Counting if self.writes() => words.push_str(", counting bytes"),
            Content::Repeating if self.writes() => words.push_str(", one byte repeated"),
            Content::Fixed if self.writes() => words.push_str(", the same bytes each time"),
            Content::Source { bytes } if self.writes() => {
                words.push_str(&format!(", from a buffer of {bytes}"));
            }
            _ => {}
        }
        match self.buffers {
            Buffers::Single => {}
            Buffers::Large => words.push_str(", in large pages"),
            Buffers::Scattered { pieces } => {
                words.push_str(&format!(", over {}", plural(pieces.into(), "piece", "pieces")));
            }
            Buffers::Pages { bytes } => words.push_str(&format!(", over pages of {bytes}")),
        }
        words.push_str(match self.pool.as_ref().map(|p| &p.share) {
            None => "",
            Some(PoolShare::Each) => ", each thread on all targets",
            Some(PoolShare::InTurn) => ", each thread on all targets in turn",
            Some(PoolShare::Drawn { .. }) => ", each thread on targets that it draws",
        });
        words
    }
}

impl Matrix {
    /// Its loads in one phrase: `8 KiB to 64 KiB random read, 1 thread x depth 1 to 32`.
    #[must_use]
    pub fn title(&self) -> String {
        if !self.specs.is_empty() || !self.own_specs.is_empty() {
            return self.title_of_specs();
        }
        let patterns = each(&self.patterns, |p| pattern_words(*p)).join(" and ");
        let kinds = each(&self.writes, |percent| match percent {
            0 => "read".to_owned(),
            100 => "write".to_owned(),
            percent => format!("{percent} % write"),
        });
        let threads = range(&self.threads);
        let plural = if threads == "1" { "" } else { "s" };
        format!(
            "{} {patterns} {}{}, {threads} thread{plural} x depth {}",
            range(&self.blocks),
            kinds.join(" and "),
            if self.durable && self.writes.iter().any(|w| *w > 0) { ", durable" } else { "" },
            range(&self.depths)
        )
    }

    fn title_of_specs(&self) -> String {
        let threads = range(&self.threads);
        let plural = if threads == "1" { "" } else { "s" };
        let own = self.own_specs.iter().map(|spec| &spec.name);
        let names: Vec<String> =
            self.specs.iter().chain(own).map(|name| format!("`{name}`")).collect();
        format!(
            "shape of {}, {threads} thread{plural} x depth {}",
            names.join(", "),
            range(&self.depths)
        )
    }
}

/// What a title has words for, and what it leaves out: the compiler asks here about a new field.
#[rustfmt::skip]
const _: fn(&Stream) = |stream| {
    let Stream {
        // In words, where it is not the default.
        name: _, blocks: _, pattern: _, random_percent: _, distribution: _, write_percent: _,
        diskspd: _, mix: _, sync: _, durable: _, rate: _, rate_profile: _, content: _, buffers: _,
        pool: _,
        // Left out.
        targets: _, threads: _, depth: _, align_bytes: _, mode: _, hint: _, think: _,
        offset_bytes: _, span_bytes: _, begin_bytes: _, joined: _, members: _,
        content_file: _, cpus: _, priority: _,
    } = stream;
};

/// Every value of a list in words, each once.
fn each<T>(values: &[T], words: impl Fn(&T) -> String) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for one in values.iter().map(words) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The smallest and the largest of a list.
fn range<T: Ord + std::fmt::Display>(values: &[T]) -> String {
    match (values.iter().min(), values.iter().max()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(only), _) => only.to_string(),
        _ => "no".to_owned(),
    }
}

/// A mix is called the shape of what it is named after: a combination of sizes and shares is not a
/// simulation of an application.
fn mixed(stream: &Stream, mix: &Mix) -> String {
    let sizes: Vec<_> = stream.blocks.iter().map(|b| b.bytes).collect();
    let kinds = match mix.parts.len() {
        1 => "one kind".to_owned(),
        n => format!("a mix of {n} kinds"),
    };
    let (name, sizes) = (&stream.name, range(&sizes));
    format!("shape of `{name}`: {kinds}, {sizes}, {}, {}", pattern(stream), direction(stream))
}

/// The block sizes of a stream with their shares.
fn blocks(stream: &Stream) -> String {
    let total: f64 = stream.blocks.iter().map(|b| f64::from(b.weight)).sum();
    match stream.blocks.as_slice() {
        [] => "no block size".to_owned(),
        [one] => one.bytes.to_string(),
        many => {
            let part =
                |b: &Block| format!("{} {}", b.bytes, percent(100.0 * f64::from(b.weight) / total));
            many.iter().map(part).collect::<Vec<_>>().join(" + ")
        }
    }
}

fn pattern_words(pattern: Pattern) -> String {
    match pattern {
        Pattern::Random => "random".to_owned(),
        Pattern::Sequential => "sequential".to_owned(),
        Pattern::SequentialShared => "sequential (shared cursor)".to_owned(),
        Pattern::Stride { stride_bytes } => format!("every {stride_bytes}"),
        Pattern::Matrix { columns, rows, .. } => format!("{columns} x {rows} matrix"),
    }
}

fn pattern(stream: &Stream) -> String {
    if let Some(order) = &stream.diskspd {
        return order.words();
    }
    let mut words = pattern_words(stream.pattern);
    if stream.random_percent > 0 && stream.pattern != Pattern::Random {
        words.push_str(&format!(" with {} % random", stream.random_percent));
    }
    match stream.distribution {
        Distribution::Uniform => {}
        Distribution::Zipf { theta } => words.push_str(&format!(" (zipf {})", show_number(theta))),
        Distribution::Hot { span_percent, access_percent } => words.push_str(&format!(
            " ({} of the I/Os on {} of the file)",
            percent(access_percent),
            percent(span_percent)
        )),
    }
    words
}

fn direction(stream: &Stream) -> String {
    match stream.write_percent {
        0 => "read".to_owned(),
        100 => "write".to_owned(),
        w => format!("{} % read / {w} % write", 100 - w.min(100)),
    }
}

fn percent(value: f64) -> String {
    format!("{} %", show_number(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Pool;

    #[test]
    fn a_title_says_who_works_where_and_on_what_memory() {
        let pool = |share| Some(Pool { share });
        let stream = Stream { pool: pool(PoolShare::InTurn), ..Stream::default() };
        assert_eq!(stream.title(), "8 KiB random read, each thread on all targets in turn");
        let buffers = Buffers::Scattered { pieces: 2 };
        let stream = Stream { pool: pool(PoolShare::Each), buffers, ..Stream::default() };
        assert_eq!(stream.title(), "8 KiB random read, over 2 pieces, each thread on all targets");
    }
    /// Two files of a parameter file of SQLIO were "8 KiB random read; 8 KiB random read", a mix.
    #[test]
    fn one_load_on_several_files_is_named_once() {
        let on = |target, write_percent| Stream {
            targets: vec![target],
            write_percent,
            ..Stream::default()
        };
        let title = |streams| Workload { streams, ..Workload::default() }.title();
        assert_eq!(title(vec![on(0, 0), on(1, 0)]), "8 KiB random read");
        assert_eq!(title(vec![on(0, 0), on(1, 100)]), "8 KiB random read; 8 KiB random write");
    }
}
