//! The identities that hold for every true result, whatever the tool: IOPS x seconds = I/Os,
//! reads + writes = total, MiB/s = IOPS x block.
//!
//! An importer says which figures its tool printed and how exactly ([`PrintedRun`]). A figure that
//! occurs in every identity that fails, and in no other that holds, contradicts the rest.

use std::fmt;

use workload::{Stream, Workload, show_number};

const MIB: f64 = 1_048_576.0;
/// Rounding of the arithmetic here, as a share of a figure.
const ARITHMETIC: f64 = 1e-9;

/// A figure as a tool printed it. The true value is less than `step` away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    value: f64,
    step: f64,
}

impl Printed {
    /// A count, which is exact.
    #[must_use]
    pub fn count(count: u64) -> Self {
        Self { value: count as f64, step: 0.0 }
    }

    /// A figure that tools round or cut off after so many decimals: one unit of the last digit.
    #[must_use]
    pub fn decimals(value: f64, decimals: u8) -> Self {
        Self::within(value, 10f64.powi(-i32::from(decimals)))
    }

    /// A figure that may be so far from the true value.
    #[must_use]
    pub fn within(value: f64, step: f64) -> Self {
        Self { value, step }
    }

    /// The number that a text begins with; one unit of its last digit, times `unit`, is its step.
    #[must_use]
    pub fn text(text: &str, unit: f64) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let digits = text.get(..end)?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let step = 10f64.powi(-i32::try_from(decimals).ok()?);
        Some(Self { value: digits.parse::<f64>().ok()? * unit, step: step * unit })
    }

    /// The figure itself.
    #[must_use]
    pub fn value(self) -> f64 {
        self.value
    }

    /// The same, where other figures may count that many more or fewer.
    #[must_use]
    pub(crate) fn or_within(self, step: f64) -> Self {
        Self { step: self.step + step, ..self }
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, step: self.step * factor }
    }

    fn product(self, other: Self) -> Self {
        let value = self.value * other.value;
        let most = (self.value + self.step) * (other.value + other.step);
        Self { value, step: most - value }
    }

    /// One figure divided by another; `None` if the other may be 0.
    fn quotient(self, other: Self) -> Option<Self> {
        let least = other.value - other.step;
        let value = self.value / other.value;
        (least > 0.0).then(|| Self { value, step: (self.value + self.step) / least - value })
    }

    fn sum(self, other: Self) -> Self {
        Self { value: self.value + other.value, step: self.step + other.step }
    }

    pub(crate) fn agrees(self, other: Self) -> bool {
        let apart = (self.value - other.value).abs();
        let rounding = ARITHMETIC * (self.value.abs() + other.value.abs());
        // NaN contradicts nothing; other checks leave it out.
        apart.is_nan() || apart <= self.step + other.step + rounding
    }
}

/// What a tool printed about the I/Os of one direction, or of both; the rest is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the field names are the definition")]
pub struct PrintedFigures {
    pub seconds: Option<Printed>,
    pub ios: Option<Printed>,
    pub bytes: Option<Printed>,
    pub iops: Option<Printed>,
    pub mib_per_s: Option<Printed>,
}

/// What a tool printed about a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PrintedRun {
    /// Length of the window, where all directions have one.
    pub seconds: Option<Printed>,
    /// Threads that did the I/O.
    pub threads: Option<u64>,
    /// Reads and writes together.
    pub total: PrintedFigures,
    /// Reads.
    pub read: PrintedFigures,
    /// Writes.
    pub write: PrintedFigures,
}

/// The I/Os that a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Total,
    Read,
    Write,
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FigureName {
    Ios(Side),
    Bytes(Side),
    Iops(Side),
    MibPerS(Side),
    Seconds(Side),
    Block(Side),
    Threads,
    ThreadsAsked,
}

/// One identity: its figures, the last of which follows from the others.
#[derive(Debug, Clone, PartialEq)]
struct Identity {
    figures: Vec<(FigureName, f64)>,
    /// The last figure as it follows from the others.
    follows: f64,
    holds: bool,
}

/// Figures of a run that contradict each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// The figures of which at least one is wrong.
    suspects: Vec<(FigureName, f64)>,
    broken: Identity,
}

/// Every contradiction among the figures that a tool printed.
#[must_use]
pub fn contradictions(printed: &PrintedRun, workload: &Workload) -> Vec<Contradiction> {
    let all = identities(printed, workload);
    let (held, broken): (Vec<Identity>, Vec<Identity>) = all.into_iter().partition(|i| i.holds);
    let is_in =
        |name: FigureName, identity: &Identity| identity.figures.iter().any(|f| f.0 == name);
    let Some(first) = broken.first() else { return Vec::new() };
    let in_all = |(name, _): &&(FigureName, f64)| broken.iter().all(|i| is_in(*name, i));
    let common: Vec<(FigureName, f64)> = first.figures.iter().filter(in_all).copied().collect();
    if common.is_empty() {
        let each = |broken: Identity| Contradiction { suspects: broken.figures.clone(), broken };
        return broken.into_iter().map(each).collect();
    }
    let is_doubtful = |(name, _): &(FigureName, f64)| !held.iter().any(|i| is_in(*name, i));
    let alone: Vec<(FigureName, f64)> = common.iter().filter(|f| is_doubtful(f)).copied().collect();
    let suspects = if alone.is_empty() { common } else { alone };
    vec![Contradiction { suspects, broken: first.clone() }]
}

/// A figure that reads and writes have, with its name.
type SideFigure = (fn(Side) -> FigureName, fn(&PrintedFigures) -> Option<Printed>);

/// Figures of reads and writes that add up to those of both.
const SUMS: [SideFigure; 4] = [
    (FigureName::Ios, |f| f.ios),
    (FigureName::Bytes, |f| f.bytes),
    (FigureName::Iops, |f| f.iops),
    (FigureName::MibPerS, |f| f.mib_per_s),
];

fn identities(printed: &PrintedRun, workload: &Workload) -> Vec<Identity> {
    let PrintedRun { seconds, threads, total, read, write } = printed;
    let mut all = Vec::new();
    for (side, of) in [(Side::Total, total), (Side::Read, read), (Side::Write, write)] {
        let count = of.ios.map(|n| (FigureName::Ios(side), n));
        let bytes = of.bytes.map(|n| (FigureName::Bytes(side), n));
        let all_seconds = seconds.map(|s| (FigureName::Seconds(Side::Total), s));
        let seconds = of.seconds.map(|s| (FigureName::Seconds(side), s)).or(all_seconds);
        let rate = of.iops.map(|n| (FigureName::Iops(side), n));
        let mib_per_s = of.mib_per_s.map(|n| (FigureName::MibPerS(side), n));
        // A block that both directions have is one figure.
        let block = block_bytes(workload, Side::Total).map(|bytes| (Side::Total, bytes));
        let block = block.or_else(|| Some((side, block_bytes(workload, side)?)));
        let block = block.map(|(side, b)| (FigureName::Block(side), Printed::count(b)));
        all.extend(product(rate, seconds, 1.0, count));
        all.extend(product(mib_per_s, seconds, MIB, bytes));
        all.extend(product(rate, block, 1.0 / MIB, mib_per_s));
        all.extend(product(count, block, 1.0, bytes));
        if seconds.is_none() {
            all.extend(same_length(rate, bytes, mib_per_s, count));
        }
    }
    for (name, of) in SUMS {
        if let (Some(reads), Some(writes), Some(both)) = (of(read), of(write), of(total)) {
            let figures = [(Side::Read, reads), (Side::Write, writes), (Side::Total, both)];
            let figures = figures.map(|(side, printed)| (name(side), printed));
            all.push(identity(&figures, reads.sum(writes)));
        }
    }
    if let Some(threads) = threads.filter(|_| !workload.is_unknown()) {
        let asked = Printed::count(workload.threads());
        let figures =
            [(FigureName::ThreadsAsked, asked), (FigureName::Threads, Printed::count(threads))];
        all.push(identity(&figures, asked));
    }
    all
}

type Figure = Option<(FigureName, Printed)>;

/// The identity `one x other x factor = last`, where all three are printed.
fn product(one: Figure, other: Figure, factor: f64, last: Figure) -> Option<Identity> {
    let (one, other, last) = (one?, other?, last?);
    Some(identity(&[one, other, last], one.1.product(other.1).times(factor)))
}

/// I/Os and bytes are of one window, whose length is not printed.
fn same_length(rate: Figure, bytes: Figure, mib_per_s: Figure, count: Figure) -> Option<Identity> {
    let (rate, bytes, mib_per_s, count) = (rate?, bytes?, mib_per_s?, count?);
    let seconds = bytes.1.quotient(mib_per_s.1.times(MIB))?;
    Some(identity(&[rate, bytes, mib_per_s, count], rate.1.product(seconds)))
}

/// The last figure should be as it follows.
fn identity(figures: &[(FigureName, Printed)], follows: Printed) -> Identity {
    let holds = figures.last().is_none_or(|(_, last)| follows.agrees(*last));
    let figures = figures.iter().map(|(name, printed)| (*name, printed.value)).collect();
    Identity { figures, follows: follows.value, holds }
}

/// The block of all I/Os of a side, where they have one.
fn block_bytes(workload: &Workload, side: Side) -> Option<u64> {
    let does = |stream: &&Stream| match side {
        Side::Total => true,
        Side::Read => stream.reads(),
        Side::Write => stream.writes(),
    };
    let mut found = None;
    for stream in workload.streams.iter().filter(does) {
        let [block] = stream.blocks.as_slice() else { return None };
        if stream.mix.is_some() || found.is_some_and(|found| found != block.bytes.0) {
            return None;
        }
        found = Some(block.bytes.0);
    }
    found
}

impl Contradiction {
    /// Whether only the block of the load can be wrong.
    pub(crate) fn is_of_block(&self) -> bool {
        self.suspects.iter().all(|(name, _)| matches!(name, FigureName::Block(_)))
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value): &(FigureName, f64)| format!("{name} ({})", number(*value));
        let suspects: Vec<String> = self.suspects.iter().map(shown).collect();
        match suspects.split_last() {
            Some((one, [])) => write!(f, "{one} contradicts the other figures")?,
            Some((last, others)) => {
                write!(f, "one of {} and {last} contradicts the others", others.join(", "))?;
            }
            None => {}
        }
        let Identity { figures, follows, .. } = &self.broken;
        let Some(((last, is), others)) = figures.split_last() else { return Ok(()) };
        let names: Vec<String> = others.iter().map(|(name, _)| name.to_string()).collect();
        let by = match names.as_slice() {
            [iops, bytes, mib] => format!("{iops} x {bytes} / {mib}"),
            [one, other] if others[0].0.is_like(others[1].0) => format!("{one} + {other}"),
            names => names.join(" x "),
        };
        write!(f, ": {by} gives {} {last}, not {}", number(*follows), number(*is))
    }
}

impl FigureName {
    /// Whether two figures have one unit, and so add up.
    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl fmt::Display for FigureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |side: &Side| match side {
            Side::Total => "",
            Side::Read => "read ",
            Side::Write => "write ",
        };
        match self {
            Self::Ios(side) => write!(f, "{}I/Os", of(side)),
            Self::Bytes(side) => write!(f, "{}bytes", of(side)),
            Self::Iops(side) => write!(f, "{}IOPS", of(side)),
            Self::MibPerS(side) => write!(f, "{}MiB/s", of(side)),
            Self::Seconds(side) => write!(f, "{}seconds", of(side)),
            Self::Block(_) => write!(f, "block size"),
            Self::Threads => write!(f, "thread count"),
            Self::ThreadsAsked => write!(f, "threads of the parameters"),
        }
    }
}

/// Whole numbers in full, others with two decimals.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e15 {
        return show_number(value);
    }
    format!("{value:.2}")
}
