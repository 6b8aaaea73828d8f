//! The identities that hold for every true result, whatever the tool: IOPS x seconds = I/Os,
//! reads + writes = total, MiB/s = IOPS x block.
//!
//! An importer says which figures its tool printed and how exactly ([`PrintedRun`]). A figure that
//! occurs in every identity that fails, and in no other that holds, contradicts the rest.

use results::contradiction::{
    Contradiction, Identity, PrintedFigure, PrintedQuantity, PrintedSide,
};
use workload::{Stream, Workload};

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

    /// How far apart two figures may be that are the same.
    fn tolerance(self, other: Self) -> f64 {
        self.step + other.step + ARITHMETIC * (self.value.abs() + other.value.abs())
    }

    pub(crate) fn agrees(self, other: Self) -> bool {
        let apart = (self.value - other.value).abs();
        // NaN contradicts nothing; other checks leave it out.
        apart.is_nan() || apart <= self.tolerance(other)
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

/// A figure with the error that its digits leave.
type Figure = (PrintedQuantity, PrintedSide, Printed);

/// An identity among figures, and whether it holds.
#[derive(Debug, Clone, PartialEq)]
struct Checked {
    holds: bool,
    found: Contradiction,
}

impl Checked {
    fn figures(&self) -> impl Iterator<Item = &PrintedFigure> {
        self.found.others.iter().chain([&self.found.printed])
    }

    fn has(&self, figure: &PrintedFigure) -> bool {
        let name = |f: &PrintedFigure| (f.quantity, f.side);
        self.figures().any(|own| name(own) == name(figure))
    }
}

/// Every contradiction among the figures that a tool printed.
pub(crate) fn contradictions(printed: &PrintedRun, workload: &Workload) -> Vec<Contradiction> {
    let all = identities(printed, workload);
    let (held, broken): (Vec<Checked>, Vec<Checked>) = all.into_iter().partition(|i| i.holds);
    let Some(first) = broken.first() else { return Vec::new() };
    let in_all = |figure: &&PrintedFigure| broken.iter().all(|i| i.has(figure));
    let common: Vec<PrintedFigure> = first.figures().filter(in_all).copied().collect();
    if common.is_empty() {
        let each = |i: &Checked| Contradiction {
            suspects: i.figures().copied().collect(),
            ..i.found.clone()
        };
        return broken.iter().map(each).collect();
    }
    let is_doubtful = |figure: &&PrintedFigure| !held.iter().any(|i| i.has(figure));
    let alone: Vec<PrintedFigure> = common.iter().filter(is_doubtful).copied().collect();
    let suspects = if alone.is_empty() { common } else { alone };
    vec![Contradiction { suspects, ..first.found.clone() }]
}

/// A figure that reads and writes have.
type SideFigure = (PrintedQuantity, fn(&PrintedFigures) -> Option<Printed>);

/// Figures of reads and writes that add up to those of both.
const SUMS: [SideFigure; 4] = [
    (PrintedQuantity::Ios, |f| f.ios),
    (PrintedQuantity::Bytes, |f| f.bytes),
    (PrintedQuantity::Iops, |f| f.iops),
    (PrintedQuantity::MibPerS, |f| f.mib_per_s),
];

fn identities(printed: &PrintedRun, workload: &Workload) -> Vec<Checked> {
    use PrintedQuantity::{BlockBytes, Bytes, Iops, Ios, MibPerS, Seconds, Threads, ThreadsAsked};
    use PrintedSide::{Read, Total, Write};
    let PrintedRun { seconds, threads, total, read, write } = printed;
    let mut all = Vec::new();
    for (side, of) in [(Total, total), (Read, read), (Write, write)] {
        let named = |quantity| move |printed| (quantity, side, printed);
        let count = of.ios.map(named(Ios));
        let bytes = of.bytes.map(named(Bytes));
        let all_seconds = seconds.map(|s| (Seconds, Total, s));
        let seconds = of.seconds.map(named(Seconds)).or(all_seconds);
        let rate = of.iops.map(named(Iops));
        let mib_per_s = of.mib_per_s.map(named(MibPerS));
        // A block that both directions have is one figure.
        let block = block_bytes(workload, Total).map(|bytes| (Total, bytes));
        let block = block.or_else(|| Some((side, block_bytes(workload, side)?)));
        let block = block.map(|(side, bytes)| (BlockBytes, side, Printed::count(bytes)));
        all.extend(product(rate, seconds, 1.0, count));
        all.extend(product(mib_per_s, seconds, MIB, bytes));
        all.extend(product(rate, block, 1.0 / MIB, mib_per_s));
        all.extend(product(count, block, 1.0, bytes));
        if seconds.is_none() {
            all.extend(same_window(rate, bytes, mib_per_s, count));
        }
    }
    for (quantity, of) in SUMS {
        if let (Some(reads), Some(writes), Some(both)) = (of(read), of(write), of(total)) {
            let parts = [(quantity, Read, reads), (quantity, Write, writes)];
            let both = (quantity, Total, both);
            all.push(checked(Identity::Sum, &parts, both, reads.sum(writes)));
        }
    }
    if let Some(threads) = threads.filter(|_| !workload.is_unknown()) {
        let asked = Printed::count(workload.threads());
        let counted = (Threads, Total, Printed::count(threads));
        all.push(checked(Identity::Same, &[(ThreadsAsked, Total, asked)], counted, asked));
    }
    all
}

/// The identity `one x other x factor = last`, where all three are printed.
fn product(
    one: Option<Figure>,
    other: Option<Figure>,
    factor: f64,
    last: Option<Figure>,
) -> Option<Checked> {
    let (one, other, last) = (one?, other?, last?);
    Some(checked(Identity::Product, &[one, other], last, one.2.product(other.2).times(factor)))
}

/// I/Os and bytes are of one window, whose length is not printed.
fn same_window(
    rate: Option<Figure>,
    bytes: Option<Figure>,
    mib_per_s: Option<Figure>,
    count: Option<Figure>,
) -> Option<Checked> {
    let (rate, bytes, mib_per_s, count) = (rate?, bytes?, mib_per_s?, count?);
    let seconds = bytes.2.quotient(mib_per_s.2.times(MIB))?;
    let others = [rate, bytes, mib_per_s];
    Some(checked(Identity::SameWindow, &others, count, rate.2.product(seconds)))
}

/// The last figure should be as it follows from the others.
fn checked(identity: Identity, others: &[Figure], last: Figure, follows: Printed) -> Checked {
    let plain = |&(quantity, side, printed): &Figure| PrintedFigure {
        quantity,
        side,
        value: printed.value,
    };
    Checked {
        holds: follows.agrees(last.2),
        found: Contradiction {
            suspects: Vec::new(),
            identity,
            others: others.iter().map(plain).collect(),
            printed: plain(&last),
            follows: follows.value,
            tolerance: follows.tolerance(last.2),
        },
    }
}

/// The block of all I/Os of a side, where they have one.
fn block_bytes(workload: &Workload, side: PrintedSide) -> Option<u64> {
    let does = |stream: &&Stream| match side {
        PrintedSide::Total => true,
        PrintedSide::Read => stream.reads(),
        PrintedSide::Write => stream.writes(),
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
