//! The kinds of lines, each recognised by its own words, whatever is around it.

use std::borrow::Cow;

use super::figures::{figure, percents, small, whole};
use super::printout::{
    Access, BufferKind, Buffering, CPU_ROWS, Figure, FileSize, HISTOGRAM_MS, Load, Order, PoolLine,
    Timer,
};

/// A longer line is not SQLIO's.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Which of three latencies a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Min,
    Mean,
    Max,
}

/// A line of SQLIO's output, by its meaning.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    Banner(String),
    /// A call of SQLIO: as typed at a prompt, or a log's `Command Line:`.
    Call(String),
    Host(String),
    Date(String),
    EndOfLog,
    Timer(Timer),
    ParameterFile(String),
    Pool(PoolLine),
    Load(Load),
    Access(Access),
    Outstanding(u32),
    Buffers(BufferKind, u32),
    Buffering(Buffering),
    Needed {
        file: String,
        bytes: u64,
    },
    Current(u64),
    Size(FileSize),
    /// A word that only says that something begins.
    Heading(Heading),
    Iops(Figure),
    MibPerS(Figure),
    CpuColumns(Vec<String>),
    CpuRow(String, Vec<f64>),
    Initiation(Which, f64),
    Latency(Which, f64),
    Percents([u8; HISTOGRAM_MS]),
    /// A line that has a place but no news.
    Known,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    Throughput,
    Latency,
}

/// A line without what editors and mail programs put around it: quotation marks, indentation,
/// blanks of other kinds.
pub(super) fn bare(line: &str) -> Cow<'_, str> {
    let around = |c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '`');
    let mut line = line.trim_matches(around);
    while let Some(rest) = line.strip_prefix('>') {
        line = rest.trim_start_matches(around);
    }
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(line.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect())
}

/// What a bare line says; `None` if it is not SQLIO's.
pub(super) fn classify(line: &str) -> Option<Line> {
    if line.is_empty() || line.len() > LINE_BYTES_MAX {
        return None;
    }
    if let Some(version) = after(line, "sqlio v") {
        let version = version.split_whitespace().next().unwrap_or_default();
        return Some(Line::Banner(format!("v{version}")));
    }
    keyed(line).or_else(|| sentence(line)).or_else(|| call(line))
}

/// The text after these words, whatever the case of their letters.
fn after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let head = line.get(..words.len())?;
    head.eq_ignore_ascii_case(words).then(|| line.get(words.len()..).unwrap_or_default())
}

/// Lines of a name, a colon and a value. Blanks and marks of emphasis in the name do not count.
fn keyed(line: &str) -> Option<Line> {
    let (name, value) = line.split_once(':')?;
    if name.len() > 60 {
        return None;
    }
    // A value may be set in bold, too.
    let value = value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`'));
    let letters = name.chars().filter(|c| !matches!(c, ' ' | '\t' | '\\' | '*'));
    let key: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    let number = || figure(value).map(|f| f.value);
    Some(match key.as_str() {
        "ios/sec" => Line::Iops(figure(value)?),
        "mbs/sec" => Line::MibPerS(figure(value)?),
        "min_latency(ms)" => Line::Latency(Which::Min, number()?),
        "avg_latency(ms)" => Line::Latency(Which::Mean, number()?),
        "max_latency(ms)" => Line::Latency(Which::Max, number()?),
        "min_init_latency(us)" => Line::Initiation(Which::Min, number()?),
        "avg_init_latency(us)" => Line::Initiation(Which::Mean, number()?),
        "max_init_latency(us)" => Line::Initiation(Which::Max, number()?),
        // The row as it is: its blanks are columns.
        "%" => Line::Percents(percents(line.split_once(':')?.1)?),
        "ms" | "histogram" | "cumulativedata" | "needtoexpandby" => Line::Known,
        "throughputmetrics" => Line::Heading(Heading::Throughput),
        "latencymetrics" => Line::Heading(Heading::Latency),
        "parameterfileused" => Line::ParameterFile(value.to_owned()),
        "currentfilesize" => Line::Current(whole(value)?),
        "usingspecifiedsize" => Line::Size(size(value, true)?),
        "usingcurrentsize" => Line::Size(size(value, false)?),
        "computername" => Line::Host(value.to_owned()),
        "date" => Line::Date(value.to_owned()),
        "enddate" => Line::EndOfLog,
        "commandline" => Line::Call(value.to_owned()),
        "processornumber" => {
            Line::CpuColumns(value.split_whitespace().map(str::to_owned).collect())
        }
        other => Line::CpuRow(cpu_row(other)?, values(value)?),
    })
}

/// The name of a row of the CPU block.
fn cpu_row(key: &str) -> Option<String> {
    CPU_ROWS.iter().find(|name| name.eq_ignore_ascii_case(key)).map(|name| (*name).to_owned())
}

fn values(text: &str) -> Option<Vec<f64>> {
    text.split_whitespace().map(|part| figure(part).map(|f| f.value)).collect()
}

/// Reads `50000 MB for file: G:\testfile.dat`.
fn size(value: &str, specified: bool) -> Option<FileSize> {
    let (_, file) = value.split_once("file:")?;
    Some(FileSize { file: file.trim().to_owned(), mib: whole(value)?, specified })
}

/// Reads a line that is a sentence.
fn sentence(line: &str) -> Option<Line> {
    if let Some(rest) = after(line, "using ") {
        return using(rest);
    }
    if let Some(rest) = after(line, "enabling multiple ") {
        let (_, number) = rest.split_once(" with ")?;
        return small(number).map(Line::Outstanding);
    }
    if let Some(rest) = after(line, "buffering set to ") {
        return Some(Line::Buffering(buffering(rest)));
    }
    if let Some(rest) = after(line, "size of file ") {
        let (file, bytes) = rest.rsplit_once(" needs to be:")?;
        return Some(Line::Needed { file: file.trim().to_owned(), bytes: whole(bytes)? });
    }
    if let Some(rest) = after(line, "file ") {
        return pool(rest).map(Line::Pool);
    }
    if after(line, "expanding ").is_some() || after(line, "initialization done").is_some() {
        return Some(Line::Known);
    }
    load(line).map(Line::Load)
}

fn using(rest: &str) -> Option<Line> {
    if let Some(at) = rest.find(" counter for latency") {
        let processor = rest.get(..at)?.eq_ignore_ascii_case("processor");
        let per_second = rest.split_once(", ").and_then(|(_, n)| whole(n)).unwrap_or(0);
        return Some(Line::Timer(Timer { processor, per_second }));
    }
    if let Some(rest) = after(rest, "multi-buffer ") {
        let kind = if rest.contains("copy") { BufferKind::Copied } else { BufferKind::Scattered };
        let (_, pieces) = rest.split_once(" with ")?;
        return Some(Line::Buffers(kind, small(pieces)?));
    }
    let block_kib = small(rest).filter(|kib| *kib > 0)?;
    let mut words = rest.split_whitespace();
    words.next().filter(|w| w.to_ascii_lowercase().ends_with("kb"))?;
    let order = match words.next()?.to_ascii_lowercase().as_str() {
        "random" => Order::Random,
        "sequential" => Order::Sequential,
        "ios" => {
            let (_, stripe) = rest.split_once(" over ")?;
            let (_, run) = rest.split_once(" with ")?;
            Order::Striped { stripe_kib: whole(stripe)?, run_ios: small(run)? }
        }
        _ => return None,
    };
    Some(Line::Access(Access { block_kib, order }))
}

/// Which caches are used; a word after `not` means a cache that is not used.
fn buffering(words: &str) -> Buffering {
    let words = words.to_ascii_lowercase();
    let (used, _) = words.split_once("not ").unwrap_or((&words, ""));
    let hardware =
        used.contains("hardware") || used.contains("disk cache") || used.contains("disk and");
    let software = used.contains("file") || used.contains("software");
    match (hardware, software) {
        (true, true) => Buffering::All,
        (true, false) => Buffering::Hardware,
        (false, true) => Buffering::Software,
        (false, false) => Buffering::None,
    }
}

/// `G:\testfile.dat with 64 threads (0-63) using mask 0x0 (0)`
fn pool(rest: &str) -> Option<PoolLine> {
    let (file, rest) = rest.rsplit_once(" with ")?;
    let (_, numbers) = rest.split_once('(')?;
    let mask = rest.rsplit_once('(').and_then(|(_, n)| whole(n)).unwrap_or(0);
    let first = small(numbers).unwrap_or(0);
    rest.contains("thread").then_some(())?;
    Some(PoolLine { file: file.trim().to_owned(), threads: small(rest)?, first, mask })
}

/// `64 threads reading for 15 secs from file G:\testfile.dat`
fn load(line: &str) -> Option<Load> {
    let threads = small(line)?;
    let (_, rest) = line.split_once(" thread")?;
    let rest = rest.trim_start_matches('s').trim_start();
    let (writes, rest) = match after(rest, "reading for ") {
        Some(rest) => (false, rest),
        None => (true, after(rest, "writing for ")?),
    };
    let seconds = whole(rest)?;
    let (_, rest) = rest.split_once(" file")?;
    let files = match rest.strip_prefix('s') {
        Some(several) => parted(several),
        None => vec![rest.trim().to_owned()],
    };
    Some(Load { threads, writes, seconds, files })
}

/// Splits `A, B and C` into names.
fn parted(files: &str) -> Vec<String> {
    let (first, last) = files.rsplit_once(" and ").unwrap_or((files, ""));
    let names = first.split(", ").chain([last]).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// A call of SQLIO after a prompt, `C:\SQLIO>sqlio -kW -s30 …`, or by itself.
fn call(line: &str) -> Option<Line> {
    let starts = std::iter::once(0).chain(line.match_indices('>').map(|(at, _)| at + 1));
    starts
        .filter_map(|at| line.get(at..))
        .find(|rest| is_call(rest))
        .map(|rest| Line::Call(rest.trim().to_owned()))
}

/// Whether a text begins with SQLIO's name, with or without a directory, and an option or a file
/// after it.
fn is_call(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(['"', '&', ' ']);
    let program = text.split([' ', '\t', '"']).next().unwrap_or_default();
    let name = program.rsplit(['\\', '/']).next().unwrap_or_default();
    let stem = name.get(..5).is_some_and(|s| s.eq_ignore_ascii_case("sqlio"));
    let ending = name.get(5..).unwrap_or_default();
    let rest = text.get(program.len()..).unwrap_or_default().trim_start_matches(['"', ' ', '\t']);
    stem && (ending.is_empty() || ending.eq_ignore_ascii_case(".exe"))
        && rest.starts_with(['-', '\u{2013}', '\u{2212}', '\u{2014}'])
}
