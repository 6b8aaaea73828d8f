//! The figures of a measurement, one entry each: key, title, unit, type, meaning, and how it is
//! read off a measurement.
//!
//! The history's columns, its CSV and Parquet tables, the table of every load in a report and the
//! documentation of the columns all read this list. A key ends with its unit. Keys, types and order
//! are published: they never change.

use std::borrow::Cow;

use workload::Stream;

use crate::conditions::Conditions;
use crate::measurement::{Latency, Measurement, Status};

/// The experiment that a measurement is part of.
#[derive(Debug, Clone, Copy)]
pub struct PartOf<'a> {
    /// Unique name of the experiment.
    pub experiment_id: &'a str,
    /// The command that measured, such as `knee`.
    pub kind: &'a str,
    /// The place of the measurement in the experiment, from 0.
    pub cell: u32,
}

/// What a figure or a column is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Words, which have no unit.
    Text,
    /// How many there are of something.
    Count,
    /// A number without a unit, such as a ratio.
    Number,
    /// I/Os per second.
    Iops,
    /// MiB (2^20 bytes) per second.
    MibPerS,
    /// A duration in nanoseconds, such as a latency.
    Nanoseconds,
    /// A duration in seconds.
    Seconds,
    /// A size in bytes.
    Bytes,
    /// A share in percent.
    Percent,
    /// A time of day, in seconds since 1970, UTC.
    Moment,
}

/// The type of a figure in tables and databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureKind {
    /// Whole numbers: counts, bytes and nanoseconds.
    Whole,
    /// Numbers with a fraction: rates and means.
    Real,
    /// Yes or no, as a boolean.
    Flag,
    /// Words or names.
    Text,
    /// A time of day, UTC, as RFC 3339.
    Moment,
}

impl FigureKind {
    /// Its name in the documentation of the columns.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Real => "real",
            Self::Flag => "flag",
            Self::Text => "text",
            Self::Moment => "moment",
        }
    }
}

/// The value of a figure, by its type.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureValue<'a> {
    /// The measurement does not have the figure.
    Absent,
    /// A value of [`FigureKind::Whole`].
    Whole(u64),
    /// A value of [`FigureKind::Real`].
    Real(f64),
    /// A value of [`FigureKind::Flag`].
    Flag(bool),
    /// A value of [`FigureKind::Text`] or [`FigureKind::Moment`].
    Text(Cow<'a, str>),
}

impl FigureValue<'_> {
    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(value) => Some(*value as f64),
            Self::Real(value) => Some(*value),
            Self::Absent | Self::Flag(_) | Self::Text(_) => None,
        }
    }

    fn into_owned(self) -> FigureValue<'static> {
        match self {
            Self::Absent => FigureValue::Absent,
            Self::Whole(value) => FigureValue::Whole(value),
            Self::Real(value) => FigureValue::Real(value),
            Self::Flag(value) => FigureValue::Flag(value),
            Self::Text(text) => FigureValue::Text(Cow::Owned(text.into_owned())),
        }
    }
}

/// A type that a figure can have.
pub trait FigureType: Sized {
    /// The type of such values in tables.
    const KIND: FigureKind;
    /// Whether a measurement may lack it.
    const OPTIONAL: bool = false;
    /// The value as tables take it.
    fn value(&self) -> FigureValue<'_>;
    /// The figure with this value; `None` if the value is of another type.
    fn read(value: FigureValue<'_>) -> Option<Self>;
}

macro_rules! figure_type {
    ($type:ty, $kind:ident, |$of:ident| $value:expr, $pattern:pat => $read:expr) => {
        impl FigureType for $type {
            const KIND: FigureKind = FigureKind::$kind;
            fn value(&self) -> FigureValue<'_> {
                let $of = self;
                $value
            }
            fn read(value: FigureValue<'_>) -> Option<Self> {
                match value {
                    $pattern => $read,
                    _ => None,
                }
            }
        }
    };
}

figure_type!(u64, Whole, |n| FigureValue::Whole(*n), FigureValue::Whole(n) => Some(n));
figure_type!(u32, Whole, |n| FigureValue::Whole(u64::from(*n)),
    FigureValue::Whole(n) => n.try_into().ok());
figure_type!(bool, Flag, |flag| FigureValue::Flag(*flag), FigureValue::Flag(flag) => Some(flag));
figure_type!(
    // JSON has no other numbers, and a table needs none.
    f64, Real, |n| if n.is_finite() { FigureValue::Real(*n) } else { FigureValue::Absent },
    FigureValue::Real(n) => Some(n)
);
figure_type!(
    String, Text, |text| FigureValue::Text(Cow::Borrowed(text)),
    FigureValue::Text(text) => Some(text.into_owned())
);
figure_type!(
    Status, Text, |status| FigureValue::Text(Cow::Borrowed(status.word())),
    FigureValue::Text(word) => Some(Status::of_word(&word).unwrap_or(Status::Failed))
);

impl<T: FigureType> FigureType for Option<T> {
    const KIND: FigureKind = T::KIND;
    const OPTIONAL: bool = true;
    fn value(&self) -> FigureValue<'_> {
        self.as_ref().map_or(FigureValue::Absent, T::value)
    }
    fn read(value: FigureValue<'_>) -> Option<Self> {
        match value {
            FigureValue::Absent => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

/// A stored value that is missing, or beyond what its figure can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongFigure {
    /// Key of the figure with that value.
    pub key: &'static str,
}

/// One figure: its names, its type, and how to read it off a measurement.
#[derive(Debug)]
pub struct FigureField {
    /// Its name for programs, with the unit last: `latency_p99_ns`.
    pub key: &'static str,
    /// Its heading in a table: `p99`.
    pub title: &'static str,
    /// What its values are counted in.
    pub unit: Unit,
    /// Its type in tables and databases.
    pub kind: FigureKind,
    /// Whether a measurement may lack it.
    pub optional: bool,
    /// What the figure is, for the documentation.
    pub meaning: &'static str,
    /// Whether the table of every load in a report has it.
    pub in_reports: bool,
    /// Reads the value from a row of a history; `None` for a figure that only the document has.
    pub column: Option<for<'a> fn(&'a Load) -> FigureValue<'a>>,
    of: fn(&Measurement, &PartOf<'_>) -> FigureValue<'static>,
}

impl FigureField {
    /// The value that a measurement has for this figure.
    #[must_use]
    pub fn of(&self, measurement: &Measurement, part_of: &PartOf<'_>) -> FigureValue<'static> {
        (self.of)(measurement, part_of)
    }
}

/// The figure with this key, if there is one.
#[must_use]
pub fn figure(key: &str) -> Option<&'static FigureField> {
    FIGURES.iter().find(|figure| figure.key == key)
}

/// From the list, makes [`Load`] and [`FIGURES`].
macro_rules! figures {
    (
        kept { $(
            $key:ident: $type:ty, $title:literal, $unit:ident, $shown:ident, $meaning:literal,
                $of:expr;
        )* }
        document { $(
            $apart:ident: $a_type:ty, $a_title:literal, $a_unit:ident, $a_meaning:literal,
                $a_of:expr;
        )* }
    ) => {
        /// A measurement as one row: the figures that have a column in a history.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Load { $( #[doc = $meaning] pub $key: $type, )* }

        impl Load {
            /// The row of a measurement that is part of an experiment.
            #[must_use]
            pub fn of(m: &Measurement, experiment_id: &str, kind: &str, cell: u32) -> Self {
                let part_of = PartOf { experiment_id, kind, cell };
                Self { $( $key: figures!(@read $type, $of)(m, &part_of), )* }
            }

            /// Reads a row. `next` gives the values of the figures that have a column, in the order
            /// of [`FIGURES`].
            pub fn read<E: From<WrongFigure>>(
                mut next: impl FnMut(FigureKind) -> Result<FigureValue<'static>, E>,
            ) -> Result<Self, E> {
                Ok(Self { $( $key: read(stringify!($key), &mut next)?, )* })
            }
        }

        /// Every figure. Those with a column in a history come first, in the order of its tables.
        pub const FIGURES: &[FigureField] = &[
            $( FigureField {
                in_reports: figures!(@shown $shown),
                column: Some(|load| FigureType::value(&load.$key)),
                ..figures!(@field $key, $type, $title, $unit, $meaning, $of)
            }, )*
            $( figures!(@field $apart, $a_type, $a_title, $a_unit, $a_meaning, $a_of), )*
        ];
    };
    (@shown everywhere) => { true };
    (@shown history) => { false };
    (@read $type:ty, $of:expr) => {{
        let of: fn(&Measurement, &PartOf<'_>) -> $type = $of;
        of
    }};
    (@field $key:ident, $type:ty, $title:literal, $unit:ident, $meaning:literal, $of:expr) => {
        FigureField {
            key: stringify!($key),
            title: $title,
            unit: Unit::$unit,
            kind: kind_of(Unit::$unit, <$type as FigureType>::KIND),
            optional: <$type as FigureType>::OPTIONAL,
            meaning: $meaning,
            in_reports: true,
            column: None,
            of: |m, part_of| figures!(@read $type, $of)(m, part_of).value().into_owned(),
        }
    };
}

// One entry: key, type, title, unit, outputs, meaning, and how it is read off a measurement and its
// place. `everywhere` is the history and the reports; `history` is the history only.
figures! {
    kept {
        measurement_id: String, "Measurement", Text, everywhere,
            "unique name of the measurement",
            |m, _| m.id.clone();
        experiment_id: String, "Result", Text, everywhere,
            "the result that it is part of; its own name where it stands alone",
            |_, part_of| part_of.experiment_id.to_owned();
        kind: String, "Kind", Text, everywhere,
            "the command that measured, one of the words that `--kind` takes",
            |_, part_of| part_of.kind.to_owned();
        cell: u32, "No.", Count, everywhere,
            "its place in the experiment, from 0",
            |_, part_of| part_of.cell;
        started: String, "Started", Moment, everywhere,
            "start, UTC",
            |m, _| m.started.clone();
        status: Status, "Status", Text, everywhere,
            "`complete`, `interrupted` or `failed`",
            |m, _| m.status;
        tool_version: String, "Version", Text, everywhere,
            "version of the program that measured",
            |m, _| m.tool_version.clone();
        host: Option<String>, "Host", Text, everywhere,
            "the machine; absent for a simulated device",
            |m, _| m.environment.hostname();
        target: String, "Target", Text, everywhere,
            "what received the I/O; several are joined by `, `",
            |m, _| targets(m);
        device: Option<String>, "Device", Text, everywhere,
            "model of the disk under the first target, else its name",
            |m, _| m.environment.device();
        engine: String, "Engine", Text, everywhere,
            "what made the I/O: `uring`, `aio`, `sync`, `null`, `sim`",
            |m, _| m.engine.name.clone();
        load: String, "Load", Text, everywhere,
            "the load in words, without depth",
            |m, _| m.workload.title();
        conditions_id: String, "Conditions", Text, everywhere,
            "the same for measurements that can be compared",
            |m, _| Conditions::of(m).id();
        pattern: String, "Pattern", Text, everywhere,
            "`random`, `sequential`, `sequential-shared`, `stride`, `matrix`; `mixed` where \
             streams differ or a stream makes random I/Os within another order; `unknown` where \
             another tool's result does not tell its load",
            |m, _| m.workload.pattern_kind().word().to_owned();
        write_percent: Option<u32>, "Writes", Percent, everywhere,
            "share of I/Os that write; absent where streams differ",
            |m, _| common(&m.workload.streams, |s| u32::from(s.write_percent));
        block_bytes: Option<u64>, "Block", Bytes, everywhere,
            "size of one I/O; absent where there are several",
            |m, _| common(&m.workload.streams, block).flatten();
        threads: Option<u64>, "Threads", Count, everywhere,
            "threads in all; absent, as other parts of the load, where another tool does not tell \
                it",
            |m, _| counted(m, m.threads);
        depth: Option<u32>, "Depth", Count, everywhere,
            "outstanding I/Os of each thread; absent where streams differ",
            |m, _| m.depth;
        in_flight: Option<u64>, "In flight", Count, everywhere,
            "outstanding I/Os in all, as asked",
            |m, _| counted(m, m.in_flight);
        achieved_in_flight: Option<f64>, "Achieved", Number, everywhere,
            "outstanding I/Os in all, averaged over the window",
            |m, _| told(m, m.achieved_in_flight);
        file_bytes: Option<u64>, "File size", Bytes, everywhere,
            "bytes of all targets that I/O could use",
            |m, _| counted(m, m.file_bytes);
        direct: Option<bool>, "Direct", Text, everywhere,
            "past the cache of the operating system",
            |m, _| of_load(m, m.workload.is_direct());
        durable: Option<bool>, "Durable", Text, everywhere,
            "every write was on stable media before it completed: each stream that writes is \
                durable",
            |m, _| of_load(m, m.workload.is_durable());
        seconds: Option<f64>, "Seconds", Seconds, everywhere,
            "length of the measured window",
            |m, _| told(m, m.seconds);
        ios: Option<u64>, "I/Os", Count, everywhere,
            "I/Os that completed in the window",
            |m, _| of_rate(m, m.total.ios);
        bytes: Option<u64>, "Bytes", Bytes, history,
            "bytes that these I/Os moved",
            |m, _| of_rate(m, m.total.bytes);
        iops: Option<f64>, "IOPS", Iops, everywhere,
            "I/Os per second",
            |m, _| finite(m.total.iops);
        mib_per_s: Option<f64>, "MiB/s", MibPerS, everywhere,
            "MiB (2^20 bytes) per second",
            |m, _| finite(m.total.mib_per_s);
        read_iops: Option<f64>, "Read IOPS", Iops, history,
            "reads per second",
            |m, _| finite(m.read.iops);
        write_iops: Option<f64>, "Write IOPS", Iops, history,
            "writes per second",
            |m, _| finite(m.write.iops);
        latency_min_ns: Option<u64>, "Min", Nanoseconds, everywhere,
            "shortest latency",
            |m, _| latency(m)?.min;
        latency_mean_ns: Option<f64>, "Mean", Nanoseconds, everywhere,
            "mean latency",
            |m, _| finite(latency(m)?.mean);
        latency_stddev_ns: Option<f64>, "Std. dev.", Nanoseconds, history,
            "standard deviation of the latency",
            |m, _| finite(latency(m)?.stddev?);
        latency_p50_ns: Option<u64>, "p50", Nanoseconds, everywhere,
            "median of the latency; absent, as each percentile, where fewer than ten I/Os lie \
                above it",
            |m, _| latency(m)?.p50;
        latency_p90_ns: Option<u64>, "p90", Nanoseconds, everywhere,
            "90th percentile of the latency",
            |m, _| latency(m)?.p90;
        latency_p95_ns: Option<u64>, "p95", Nanoseconds, everywhere,
            "95th percentile of the latency",
            |m, _| latency(m)?.p95;
        latency_p99_ns: Option<u64>, "p99", Nanoseconds, everywhere,
            "99th percentile of the latency",
            |m, _| latency(m)?.p99;
        latency_p99_9_ns: Option<u64>, "p99.9", Nanoseconds, everywhere,
            "99.9th percentile of the latency",
            |m, _| latency(m)?.p99_9;
        latency_p99_99_ns: Option<u64>, "p99.99", Nanoseconds, history,
            "99.99th percentile of the latency",
            |m, _| latency(m)?.p99_99;
        latency_p99_999_ns: Option<u64>, "p99.999", Nanoseconds, history,
            "99.999th percentile of the latency",
            |m, _| latency(m)?.p99_999;
        latency_max_ns: Option<u64>, "Max", Nanoseconds, everywhere,
            "longest latency",
            |m, _| latency(m)?.max;
        read_latency_mean_ns: Option<f64>, "Read mean", Nanoseconds, history,
            "mean latency of the reads",
            |m, _| finite(m.read.latency_ns?.mean);
        write_latency_mean_ns: Option<f64>, "Write mean", Nanoseconds, history,
            "mean latency of the writes",
            |m, _| finite(m.write.latency_ns?.mean);
        errors: u64, "Errors", Count, everywhere,
            "I/Os that failed in the window",
            |m, _| m.total.errors;
        cpu_us_per_io: Option<f64>, "CPU per I/O", Number, history,
            "CPU time per I/O, microseconds",
            |m, _| told(m, m.cpu.total_us_per_io?);
        slowest_second_iops: Option<f64>, "Slowest second", Iops, everywhere,
            "I/Os that completed in the slowest whole second of the window",
            |m, _| finite(m.stalls.slowest_second_iops?);
    }
    document {
        half_width_percent: Option<f64>, "±", Percent,
            "half of the 95 % interval of the mean throughput",
            |m, _| finite(m.steady.as_ref()?.half_width_percent?);
        used_bytes: u64, "Used", Bytes,
            "bytes of all targets that I/O was spread over",
            |m, _| m.used_bytes();
    }
}

/// A time of day is a text with the unit of one.
const fn kind_of(unit: Unit, kind: FigureKind) -> FigureKind {
    match unit {
        Unit::Moment => FigureKind::Moment,
        _ => kind,
    }
}

fn read<T: FigureType, E: From<WrongFigure>>(
    key: &'static str,
    next: &mut impl FnMut(FigureKind) -> Result<FigureValue<'static>, E>,
) -> Result<T, E> {
    T::read(next(T::KIND)?).ok_or_else(|| WrongFigure { key }.into())
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// A number of the measurement. In results of another tool, a zero means that the tool does not
/// report it.
fn told(m: &Measurement, number: f64) -> Option<f64> {
    finite(number).filter(|number| m.origin.is_none() || *number > 0.0)
}

/// A count of the measurement. In results of another tool, a zero means that the tool does not
/// report it.
fn counted(m: &Measurement, number: u64) -> Option<u64> {
    (m.origin.is_none() || number > 0).then_some(number)
}

/// A count of I/Os. Another tool may report a rate without a count.
fn of_rate(m: &Measurement, number: u64) -> Option<u64> {
    (m.origin.is_none() || number > 0 || m.total.iops <= 0.0).then_some(number)
}

/// A value that follows from the load, if the load is known.
fn of_load<T>(m: &Measurement, value: T) -> Option<T> {
    (!m.workload.is_unknown()).then_some(value)
}

fn latency(m: &Measurement) -> Option<&Latency> {
    m.total.latency_ns.as_ref()
}

fn targets(m: &Measurement) -> String {
    let paths = m.workload.targets.iter().map(|target| target.path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

/// What all streams have in common; `None` if they differ.
fn common<T: PartialEq>(streams: &[Stream], of: fn(&Stream) -> T) -> Option<T> {
    let first = of(streams.first()?);
    streams.iter().all(|stream| of(stream) == first).then_some(first)
}

/// The one block size of a stream.
fn block(stream: &Stream) -> Option<u64> {
    let (first, others) = stream.blocks.split_first()?;
    others.iter().all(|other| other.bytes == first.bytes).then_some(first.bytes.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_there_once() {
        for (place, figure) in FIGURES.iter().enumerate() {
            let first = FIGURES.iter().position(|other| other.key == figure.key);
            assert_eq!(first, Some(place), "{}", figure.key);
        }
    }
}
