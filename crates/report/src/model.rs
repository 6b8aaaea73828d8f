//! What a report says, before it is written in any format.
//!
//! A [`Report`] is made from documents once; each format writes it down. Texts in it are for people
//! and already clean of control characters. Figures are plain numbers in the [`Unit`] of their
//! column or axis: a format decides how they look, not what they are.

pub use results::Unit;
use results::{Document, FigureField, FigureValue};

use crate::words;

/// Results, ready to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What is on the cover.
    pub title: String,
    /// The results, in the order in which they were named.
    pub results: Vec<ResultPart>,
}

/// One result in a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultPart {
    /// What it is, for example `Storage assessment`.
    pub kind: &'static str,
    /// What was measured, for example `/data`.
    pub title: String,
    /// File size, time, host and storage, each a phrase.
    pub subtitle: Vec<String>,
    /// Why it is not complete, where it is not.
    pub banner: Option<String>,
    /// What it says, in the order in which people read.
    pub sections: Vec<Section>,
    /// The document that all of it comes from.
    pub document: Document,
}

/// A part of a result under a heading of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Short stable name, unique in its result: `verdict`, `tested`, `saturation`, `environment`, …
    pub key: &'static str,
    /// The heading.
    pub heading: &'static str,
    /// What is under it.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A sentence or several.
    Paragraph(String),
    /// Sentences of equal rank.
    List(Vec<String>),
    /// Reasons to doubt a figure.
    Warnings(Vec<String>),
    /// Names and what they stand for.
    Facts(Vec<Fact>),
    /// Answers with a judgement.
    Cards(Vec<Card>),
    /// A picture of figures.
    Chart(Chart),
    /// Pictures that are read beside each other, each smaller.
    Charts(Vec<Chart>),
    /// Figures in rows.
    Table(Table),
    /// Lines that are read where somebody wants to know more.
    Listing(Listing),
}

/// Lines under a title, such as bytes of a page; a format may hide them until they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// What they are.
    pub title: String,
    /// The lines, whose columns are aligned.
    pub lines: Vec<String>,
}

/// A name and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub value: String,
}

/// A question that was answered with a judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// What is judged, for example `Transaction log`.
    pub heading: String,
    /// How it is judged.
    pub judgement: Judgement,
    /// The answer in a word or two, for example `suitable`.
    pub answer: String,
    /// Why, sentence by sentence.
    pub evidence: Vec<String>,
}

/// How something is judged: what colour and sign it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It does what is needed.
    Good,
    /// It does so with a reservation.
    Doubtful,
    /// It does not.
    Bad,
    /// That cannot be said.
    Unknown,
}

/// A picture of figures with one or two vertical axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Short name, unique in its result; a file of this chart is called so:
    /// `saturation-random-read-8k`.
    pub key: String,
    /// What it shows.
    pub title: String,
    /// File size, block size, pattern, depth: without them the figures mean nothing.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis on the left.
    pub left: Axis,
    /// The vertical axis on the right, where there is one.
    pub right: Option<Axis>,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// Places on the horizontal axis that are worth a line.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures, without the unit.
    pub title: String,
    /// In what.
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

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How it is drawn.
    pub shape: Shape,
    /// Which vertical axis it is read from.
    pub side: Side,
    /// The points in rising order of `x`.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line with a dot at each point.
    Line,
    /// A dashed line without dots: what accompanies another line.
    Dashed,
    /// Columns from 0.
    Columns,
    /// Dots alone.
    Dots,
}

/// A vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one on the left.
    Left,
    /// The one on the right.
    Right,
}

/// A point of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Its place on the horizontal axis.
    pub x: f64,
    /// Its figure.
    pub y: f64,
    /// Between which figures the true one is thought to lie.
    pub interval: Option<(f64, f64)>,
}

/// A vertical line with a word to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// What is there.
    pub label: String,
}

/// Figures in rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Short name, unique in its result; a file or sheet of this table is called so.
    pub key: String,
    /// What it shows.
    pub title: String,
    /// What all rows have in common; empty where the rows say all.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows: a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The heading, for example `p99`.
    pub name: String,
    /// The name for programs, with the unit last: `latency_p99_ns`.
    pub key: &'static str,
    /// In what its figures are.
    pub unit: Unit,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing is known.
    Empty,
    /// Words.
    Text(String),
    /// A figure in the unit of the column.
    Number(f64),
}

impl Column {
    /// The column of a figure.
    #[must_use]
    pub fn of(figure: &FigureField) -> Self {
        Self { name: figure.title.to_owned(), key: figure.key, unit: figure.unit }
    }
}

impl Cell {
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

    #[test]
    fn a_moment_is_seconds_since_1970() {
        assert_eq!(moment("1970-01-02T00:00:00.5Z"), Some(86_400.5));
        assert_eq!(moment("yesterday"), None);
    }
}
