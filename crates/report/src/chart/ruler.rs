//! From figures to places on an axis.

use super::figure::{self, LARGEST, Measure, SMALLEST};
use super::ticks::{self, Tick};
use crate::model::{Axis, Scale, Unit};

/// An axis with its ends, which finds the place of a figure along it.
#[derive(Debug, Clone)]
pub(crate) struct Ruler {
    /// Whether each factor takes the same room.
    pub(crate) log: bool,
    /// The figure at the beginning of the axis.
    pub(crate) from: f64,
    /// The figure at the end of the axis.
    pub(crate) to: f64,
}

impl Ruler {
    /// The share of the axis before a figure, from 0 to 1; `None` if it has no place.
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        if !drawable(self.log, value) {
            return None;
        }
        let turned = |v: f64| if self.log { v.ln() } else { v };
        let share = (turned(value) - turned(self.from)) / (turned(self.to) - turned(self.from));
        share.is_finite().then(|| share.clamp(0.0, 1.0))
    }
}

/// Whether a figure has a place on an axis.
pub(crate) fn drawable(log: bool, value: f64) -> bool {
    value.is_finite() && value.abs() <= LARGEST && (!log || value >= SMALLEST)
}

pub(crate) fn is_log(scale: &Scale) -> bool {
    matches!(scale, Scale::Log2 | Scale::Log10)
}

fn base(scale: &Scale) -> f64 {
    if matches!(scale, Scale::Log2) { 2.0 } else { 10.0 }
}

/// The least and largest of figures that have a place; `None` if no figure has.
pub(crate) fn ends(log: bool, values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let with_place = values.filter(|v| drawable(log, *v));
    let settled = with_place.map(|v| if !log && v.abs() < SMALLEST { 0.0 } else { v });
    settled.fold(None, |ends, v| {
        Some(ends.map_or((v, v), |(low, high): (f64, f64)| (low.min(v), high.max(v))))
    })
}

/// A vertical axis with the ends of its figures.
type Side<'a> = (&'a Axis, Option<(f64, f64)>);

/// A vertical axis with the places that are marked on it.
pub(crate) struct Vertical {
    pub(crate) ruler: Ruler,
    pub(crate) ticks: Vec<Tick>,
    /// The unit that the title names.
    pub(crate) word: &'static str,
}

/// Axes for the figures of the left and of the right side. Their marks are at the same heights if
/// possible.
pub(crate) fn verticals(sides: &[Side<'_>]) -> Vec<Vertical> {
    let plain = |(axis, ends): &Side<'_>| {
        !is_log(&axis.scale) && ends.is_none_or(|(low, high)| low >= 0.0 && high > SMALLEST)
    };
    if sides.iter().all(plain) {
        return even_verticals(sides);
    }
    sides.iter().map(|(axis, ends)| single(axis, *ends)).collect()
}

fn even_verticals(sides: &[Side<'_>]) -> Vec<Vertical> {
    // Lines of the right side get some air above, so that level lines of both sides do not cover
    // each other.
    let airy = |(side, (_, ends)): (usize, &Side<'_>)| {
        ends.map_or(1.0, |(_, high)| high * if side == 0 { 1.0 } else { 1.2 })
    };
    let largest: Vec<f64> = sides.iter().enumerate().map(airy).collect();
    let measures: Vec<Measure> = sides
        .iter()
        .zip(&largest)
        .map(|((axis, _), most)| figure::measure(axis.unit, *most))
        .collect();
    let divisors: Vec<f64> = measures.iter().map(|m| m.divisor).collect();
    let (parts, steps) = ticks::from_zero(&largest, &divisors);
    let axes = measures.iter().zip(steps).zip(sides);
    axes.map(|((measure, step), (axis, _))| {
        let places = (0..=parts).map(|i| f64::from(i) * step);
        let ticks =
            places.map(|at| Tick { at, label: tick(axis.unit, at, step, measure) }).collect();
        let to = f64::from(parts) * step;
        Vertical { ruler: Ruler { log: false, from: 0.0, to }, ticks, word: measure.word }
    })
    .collect()
}

fn tick(unit: Unit, at: f64, step: f64, measure: &Measure) -> String {
    if unit == Unit::Moment {
        figure::moment(at, "%Y-%m-%d")
    } else {
        ticks::label(at, step, measure)
    }
}

fn single(axis: &Axis, ends: Option<(f64, f64)>) -> Vertical {
    if is_log(&axis.scale) {
        let (low, high) = ends.unwrap_or((1.0, 10.0));
        let (low, high) = if matches!(axis.scale, Scale::Log2) {
            (2f64.powf(low.log2().floor()), 2f64.powf(high.log2().ceil()))
        } else {
            (round_down(low), round_up(high))
        };
        let (from, to) = apart(true, low.max(SMALLEST), high.min(LARGEST));
        let ticks = ticks::powers(from, to, base(&axis.scale), 6, axis.unit);
        let word = figure::word_beside(axis.unit);
        return Vertical { ruler: Ruler { log: true, from, to }, ticks, word };
    }
    let (low, high) = ends.unwrap_or((0.0, 1.0));
    let (low, high) = apart(false, low.min(0.0), high.max(0.0));
    let measure = figure::measure(axis.unit, high.abs().max(low.abs()));
    let step = ticks::round_step((high - low) / measure.divisor / 5.0) * measure.divisor;
    let (from, to) = ((low / step).floor() * step, (high / step).ceil() * step);
    let ticks = ticks::even(from, to, 5, axis.unit, &measure);
    Vertical { ruler: Ruler { log: false, from, to }, ticks, word: measure.word }
}

/// The next of one, two and five of a power of ten, downwards.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let parts = [5.0, 2.0, 1.0].into_iter().map(|p| p * power);
    parts.into_iter().find(|v| *v <= value * 1.000_001).unwrap_or(power)
}

/// Rounds up to a round figure.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let parts = [1.0, 2.0, 5.0, 10.0].into_iter().map(|p| p * power);
    parts.into_iter().find(|v| *v >= value * 0.999_999).unwrap_or(value)
}

/// Two ends that differ enough to have places between them.
fn apart(log: bool, low: f64, high: f64) -> (f64, f64) {
    if log {
        return if high / low >= 1.01 { (low, high) } else { (low / 2.0, high * 2.0) };
    }
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-9 {
        return (low, high);
    }
    let room = if size < SMALLEST { 1.0 } else { size / 2.0 };
    (low - room, high + room)
}

/// The horizontal axis for figures between two ends, with room at both for columns where there are
/// some.
pub(crate) fn horizontal(axis: &Axis, ends: Option<(f64, f64)>, gap: Option<f64>) -> Ruler {
    if let Scale::Names(names) = &axis.scale {
        let count = names.len().max(1) as f64;
        return Ruler { log: false, from: -0.5, to: count - 0.5 };
    }
    let log = is_log(&axis.scale);
    let (low, high) = ends.unwrap_or(if log { (1.0, 10.0) } else { (0.0, 1.0) });
    let (mut from, mut to) = apart(log, low, high);
    if log {
        let room = (to / from).powf(0.04).max(1.03);
        return Ruler { log, from: (from / room).max(SMALLEST), to: (to * room).min(LARGEST) };
    }
    if let Some(gap) = gap.filter(|g| g.is_finite()) {
        (from, to) = (from - gap / 2.0, to + gap / 2.0);
    } else if axis.unit != Unit::Moment && low >= 0.0 && low < high * 0.25 {
        from = 0.0;
    }
    Ruler { log, from, to }
}

/// The marks of a horizontal axis: where figures were measured, if those are few, else round
/// places.
pub(crate) fn horizontal_ticks(
    axis: &Axis,
    ruler: &Ruler,
    measured: &[f64],
    about: u32,
) -> Vec<Tick> {
    match &axis.scale {
        Scale::Names(names) => {
            let all = names.iter().enumerate();
            all.map(|(i, name)| Tick { at: i as f64, label: name.clone() }).collect()
        }
        Scale::Linear => {
            let largest = ruler.from.abs().max(ruler.to.abs());
            ticks::even(
                ruler.from,
                ruler.to,
                about,
                axis.unit,
                &figure::measure(axis.unit, largest),
            )
        }
        Scale::Log2 | Scale::Log10 => {
            if (1..=14).contains(&measured.len()) {
                let at = measured.iter().copied();
                return at.map(|at| Tick { at, label: figure::short(axis.unit, at) }).collect();
            }
            ticks::powers(ruler.from, ruler.to, base(&axis.scale), about, axis.unit)
        }
    }
}

/// The unit that the title of a horizontal axis names.
pub(crate) fn horizontal_word(axis: &Axis, ruler: &Ruler) -> &'static str {
    match axis.scale {
        Scale::Names(_) => "",
        Scale::Linear => figure::measure(axis.unit, ruler.from.abs().max(ruler.to.abs())).word,
        Scale::Log2 | Scale::Log10 => figure::word_beside(axis.unit),
    }
}
