//! What a report says, before it is written in any format.
//!
//! A [`Report`] is made from documents once; each format writes it down. Texts in it are for people
//! and already clean of control characters. Figures are plain numbers in the [`Unit`] of their
//! column or axis: a format decides how they look, not what they are.

pub use results::Unit;
use results::steady::is_unsure;
use results::{Document, FigureField, FigureValue};
use workload::{show_ns, show_number};

use crate::words;

/// What follows a figure that is hardly known, in texts.
pub const UNSURE_MARK: &str = "?";

/// How far rounding may move the width of an interval.
const ROUNDING_PERCENT: f64 = 1e-9;

/// Results as data, ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What the report is of, for its cover or its first line.
    pub title: String,
    /// The comparison of several results; `None` if there is none.
    pub comparison: Option<Section>,
    /// The results, in the order in which they were named.
    pub results: Vec<ResultPart>,
}

/// One result within a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultPart {
    /// What it is, for example `Storage assessment`.
    pub kind: String,
    /// The target, for example `/data`.
    pub title: String,
    /// File size, time, host and storage, each a phrase.
    pub subtitle: Vec<String>,
    /// The answer in a sentence, where there is one: a terminal begins with it.
    pub answer: Option<String>,
    /// Why it is not complete, where it is not.
    pub banner: Option<String>,
    /// What it says, in the order in which people read.
    pub sections: Vec<Section>,
    /// What it has for programs: one row per load, or for what it has instead of loads.
    pub records: Table,
    /// The document that all of it comes from.
    pub document: Document,
}

/// A part of a result under its own heading.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Short stable name, unique in its result: `verdict`, `tested`, `saturation`, `environment`, …
    pub key: &'static str,
    /// What the section is about, as its heading.
    pub heading: String,
    /// What is under the heading, in order.
    pub blocks: Vec<Block>,
}

/// How much of a result a format has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What people read first: a terminal.
    Brief,
    /// Everything, for a page or a workbook.
    Full,
}

/// A piece of a section, for every format.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Blocks that only this detail has.
    Only(Detail, Vec<Block>),
    /// Sentences that belong together.
    Paragraph(String),
    /// Sentences of equal rank, as a list.
    List(Vec<String>),
    /// Reasons to doubt a figure, one each.
    Warnings(Vec<String>),
    /// Names with their values, in two columns.
    Facts(Vec<Fact>),
    /// Answers, each with a judgement and its evidence.
    Cards(Vec<Card>),
    /// A chart over the full width.
    Chart(Chart),
    /// Pictures that are read side by side, each smaller.
    Charts(Vec<Chart>),
    /// A table with rows of figures.
    Table(Table),
    /// Lines for readers who want to know more.
    Listing(Listing),
}

/// Lines under a title, such as bytes of a page; a format may hide them until they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// What the lines are, above them.
    pub title: String,
    /// The lines, whose columns are aligned.
    pub lines: Vec<String>,
}

/// A name and its value, one row of two columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The name, in the left column.
    pub name: String,
    /// The value, in the right column.
    pub value: String,
}

/// A question that was answered with a judgement.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The subject of the judgement, for example `Transaction log`.
    pub heading: String,
    /// The judgement, which decides the colour.
    pub judgement: Judgement,
    /// The answer in a word or two, for example `suitable`.
    pub answer: String,
    /// The evidence, sentence by sentence.
    pub evidence: Vec<String>,
    /// The English sentences of the document, if the evidence is in another language.
    pub original: Vec<String>,
    /// The figures of the answer as bars, where it has any.
    pub bullet: Option<Bullet>,
}

/// How much fits within each limit, as bars of one scale from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Bullet {
    /// The bars, the strictest limit first.
    pub bars: Vec<Bar>,
    /// The need, in the unit of the bars.
    pub need: Option<f64>,
    /// In what the bars and the need are, for example `commits/s`.
    pub unit: String,
}

/// One bar of a [`Bullet`]: a limit, and what fits within it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Which limit, for example `within 10 ms`.
    pub label: String,
    /// The load that fits, in that unit.
    pub figure: f64,
}

/// How something is judged: what colour and sign it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It meets the need or the expectation.
    Good,
    /// It does so with a reservation.
    Doubtful,
    /// It does not meet the need or the expectation.
    Bad,
    /// There is too little to judge by.
    Unknown,
}

/// A picture of figures with one or two vertical axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Short name, unique in its result; a file of this chart is called so:
    /// `saturation-random-read-8k`.
    pub key: String,
    /// What the chart shows, above it.
    pub title: String,
    /// File size, block size, pattern, depth: without them the figures mean nothing.
    pub caption: String,
    /// The horizontal axis, at the bottom.
    pub x: Axis,
    /// The vertical axis on the left.
    pub left: Axis,
    /// The vertical axis on the right, where there is one.
    pub right: Option<Axis>,
    /// The series, in the order of the legend.
    pub series: Vec<Series>,
    /// Places on the horizontal axis that are worth a line.
    pub marks: Vec<Mark>,
}

/// An axis with its unit and scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures, without the unit.
    pub title: String,
    /// The unit of the figures along it.
    pub unit: Unit,
    /// How figures are spread over it.
    pub scale: Scale,
}

/// How figures are spread over an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Evenly. A vertical axis begins at 0.
    Linear,
    /// Each doubling takes the same room.
    Log2,
    /// Each factor of ten takes the same room.
    Log10,
    /// One place for each of these names; a point's `x` is the index of its name.
    Names(Vec<String>),
}

/// A series of points, drawn alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name by which the legend has it.
    pub name: String,
    /// The form in which its points are drawn.
    pub shape: Shape,
    /// Which vertical axis it is read from.
    pub side: Side,
    /// The points in rising order of `x`.
    pub points: Vec<Point>,
}

/// The form in which the points of a series are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line with a dot at each point.
    Line,
    /// A dashed line without dots: what accompanies another line.
    Dashed,
    /// Columns that stand on 0.
    Columns,
    /// Dots that no line connects.
    Dots,
    /// A row of a heat map: one cell per point, coloured by its figure.
    Cells,
}

/// The side of a vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The left axis, which every chart has.
    Left,
    /// The right axis, for a second unit.
    Right,
}

/// One point of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its place on the horizontal axis.
    pub x: f64,
    /// Its figure, on the vertical axis.
    pub y: f64,
    /// The interval that the true figure is thought to be in.
    pub interval: Option<(f64, f64)>,
    /// Which load it is, where the horizontal axis does not say it.
    pub label: Option<PointLabel>,
}

impl Point {
    /// Whether its interval is so wide that its figure is not known.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        // The lower end is cut at nothing; the upper one is not.
        self.interval.is_some_and(|(_, high)| {
            is_unsure((self.y > 0.0).then(|| 100.0 * (high - self.y) / self.y - ROUNDING_PERCENT))
        })
    }
}

/// The load of a point, written next to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointLabel {
    /// I/Os in flight at this point.
    pub in_flight: u64,
    /// Whether this is the operating point, which gets a ring.
    pub is_knee: bool,
}

/// A vertical line with a word to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its place on the horizontal axis.
    pub x: f64,
    /// The label next to the line.
    pub label: String,
}

/// A table with rows of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Short name, unique in its result; a file or sheet of this table is called so.
    pub key: String,
    /// What the rows are, above the table.
    pub title: String,
    /// What all rows have in common; empty where the rows say all.
    pub caption: String,
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// Its rows: one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table, with its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading of the column, for example `p99`.
    pub name: String,
    /// The name for programs, with the unit last: `latency_p99_ns`.
    pub key: &'static str,
    /// The unit of the figures in it.
    pub unit: Unit,
    /// The least detail that shows it.
    pub detail: Detail,
}

/// A cell of a table, before it is formatted.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Empty: the figure is not known.
    Empty,
    /// A text, already free of control characters.
    Text(String),
    /// A figure in the unit of the column.
    Number(f64),
    /// A figure whose interval is so wide that it is not known: shown in grey, or with a mark.
    Unsure(f64),
}

impl Column {
    /// A column that every format shows.
    #[must_use]
    pub fn new(key: &'static str, name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), key, unit, detail: Detail::Brief }
    }

    /// The column for a figure of the list.
    #[must_use]
    pub fn of(figure: &FigureField) -> Self {
        Self::new(figure.key, figure.title, figure.unit)
    }

    /// The heading with the unit of its figures, where neither they nor the name say it.
    #[must_use]
    pub fn heading(&self) -> String {
        let word = match self.unit {
            Unit::Iops if !self.name.contains("/s") => "IOPS",
            Unit::MibPerS => "MiB/s",
            _ => return self.name.clone(),
        };
        if self.name.contains(word) { self.name.clone() } else { format!("{}, {word}", self.name) }
    }

    /// The same column, which a terminal has no room for.
    #[must_use]
    pub fn full(self) -> Self {
        Self { detail: Detail::Full, ..self }
    }
}

/// The blocks that a format of this detail shows, without marks.
#[must_use]
pub fn resolved(blocks: Vec<Block>, detail: Detail) -> Vec<Block> {
    let of_block = |block| match block {
        Block::Only(only, inner) if only == detail => resolved(inner, detail),
        Block::Only(..) => Vec::new(),
        Block::Table(table) if detail == Detail::Brief => vec![Block::Table(table.in_brief())],
        block if block.is_empty() => Vec::new(),
        block => vec![block],
    };
    blocks.into_iter().flat_map(of_block).collect()
}

impl Block {
    /// Whether it has no text, fact or card; charts, tables and listings count as not empty.
    fn is_empty(&self) -> bool {
        match self {
            Self::List(texts) | Self::Warnings(texts) => texts.is_empty(),
            Self::Facts(facts) => facts.is_empty(),
            Self::Cards(cards) => cards.is_empty(),
            Self::Paragraph(text) => text.is_empty(),
            _ => false,
        }
    }
}

impl Table {
    /// Whether any of its figures is hardly known.
    #[must_use]
    pub fn has_unsure(&self) -> bool {
        self.rows.iter().flatten().any(|cell| matches!(cell, Cell::Unsure(_)))
    }

    /// The table without the columns that a terminal has no room for.
    fn in_brief(mut self) -> Self {
        let kept: Vec<bool> = self.columns.iter().map(|c| c.detail == Detail::Brief).collect();
        keep(&mut self.columns, &kept);
        self.rows.iter_mut().for_each(|row| keep(row, &kept));
        self
    }
}

/// Keeps the elements whose flags are set.
pub(crate) fn keep<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut flags = kept.iter();
    list.retain(|_| flags.next() == Some(&true));
}

impl Cell {
    /// The cell as people read it; a dash where nothing is known, a question mark after a figure
    /// that is hardly known.
    #[must_use]
    pub fn show(&self, unit: Unit) -> String {
        let value = match self {
            Self::Text(text) => return words::clean(text),
            Self::Unsure(value) if value.is_finite() => {
                return Self::Number(*value).show(unit) + UNSURE_MARK;
            }
            Self::Number(value) if value.is_finite() => *value,
            Self::Unsure(_) | Self::Number(_) | Self::Empty => return words::NONE.to_owned(),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let whole = value.round() as u64;
        match unit {
            Unit::Count => words::count(whole),
            Unit::Bytes => words::size(whole),
            Unit::Nanoseconds => show_ns(value),
            Unit::Seconds => words::seconds(value),
            Unit::Percent => words::percent(Some(value)),
            Unit::Moment => words::moment_of(value),
            Unit::Text | Unit::Number | Unit::Iops | Unit::MibPerS => show_number(value),
        }
    }

    /// The cell of a figure's value.
    #[must_use]
    pub fn of(figure: &FigureField, value: &FigureValue<'_>) -> Self {
        match value {
            FigureValue::Flag(flag) => Self::Text((if *flag { "yes" } else { "no" }).to_owned()),
            FigureValue::Text(time) if figure.unit == Unit::Moment => {
                moment(time).map_or(Self::Empty, Self::Number)
            }
            FigureValue::Text(text) if !text.is_empty() => Self::Text(words::clean(text)),
            value => value.number().map_or(Self::Empty, Self::Number),
        }
    }
}

/// Seconds since 1970 of an RFC 3339 time.
fn moment(time: &str) -> Option<f64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_millisecond() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once `Disk Read Bytes/sec` headed figures in MiB/s.
    #[test]
    fn a_heading_says_in_what_its_figures_are() {
        let heading = |name: &str, unit| Column::new("key", name, unit).heading();
        assert_eq!(heading("Disk Read Bytes/sec", Unit::MibPerS), "Disk Read Bytes/sec, MiB/s");
        assert_eq!(heading("Disk Reads/sec", Unit::Iops), "Disk Reads/sec");
        assert_eq!(heading("Best MiB/s", Unit::MibPerS), "Best MiB/s");
        assert_eq!(heading("Reads", Unit::Iops), "Reads, IOPS");
        assert_eq!(heading("Mean", Unit::Nanoseconds), "Mean");
    }

    #[test]
    fn a_moment_is_seconds_since_1970() {
        assert_eq!(moment("1970-01-02T00:00:00.5Z"), Some(86_400.5));
        assert_eq!(moment("yesterday"), None);
    }
}
