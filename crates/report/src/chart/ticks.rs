//! Round places for the marks of an axis.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::figure::{self, Measure};
use crate::model::Unit;

/// A place on an axis with a word to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// The figure at that place.
    pub(crate) at: f64,
    /// The figure as the axis shows it, or the name of the place.
    pub(crate) label: String,
}

/// Steps that are round, in units of a power of ten.
const ROUND: [f64; 10] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
const DAY: f64 = 86_400.0;

/// The same where figures are counted off along an axis.
const ROUNDER: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

/// The least round step that is not below a width.
pub(crate) fn round_step(width: f64) -> f64 {
    step_of(&ROUND, width)
}

fn step_of(steps: &[f64], width: f64) -> f64 {
    let power = 10f64.powf(width.log10().floor());
    let found = steps.iter().map(|s| s * power).find(|s| *s >= width * (1.0 - 1e-9));
    found.filter(|s| s.is_normal()).unwrap_or(width)
}

/// The number of steps and the step for an axis from zero that gets as much room as can be out of
/// it.
pub(crate) fn from_zero(largest: &[f64], divisors: &[f64]) -> (u32, Vec<f64>) {
    let plan = |parts: u32| {
        let of =
            |(most, divisor): (&f64, &f64)| round_step(most / divisor / f64::from(parts)) * divisor;
        let steps: Vec<f64> = largest.iter().zip(divisors).map(of).collect();
        let used = |(most, step): (&f64, &f64)| most / (step * f64::from(parts));
        let fill: f64 = largest.iter().zip(&steps).map(used).sum();
        (fill, parts, steps)
    };
    let best = (4..=6).map(plan).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or((1, largest.to_vec()), |(_, parts, steps)| (parts, steps))
}

/// How many decimals a step needs.
fn decimals(step: f64) -> usize {
    let whole = |d: &i32| {
        let scaled = step * 10f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.abs()
    };
    usize::try_from((0..=9).find(whole).unwrap_or(9)).unwrap_or(0)
}

/// A figure next to an even axis.
pub(crate) fn label(value: f64, step: f64, measure: &Measure) -> String {
    let value = value / measure.divisor;
    let step = step / measure.divisor;
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() >= 1e7 || step < 1e-6 {
        return format!("{}{}", format!("{value:.2e}").replace(".00e", "e"), measure.suffix);
    }
    let text = format!("{value:.*}", decimals(step));
    let text = match text.strip_prefix('-') {
        Some(positive) => format!("−{}", grouped(positive)),
        None => grouped(&text),
    };
    format!("{text}{}", measure.suffix)
}

/// Whole digits in groups of three from ten thousand on.
fn grouped(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && whole.len() > 4 && (whole.len() - i) % 3 == 0 {
            out.push('\u{202F}');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Round places between two figures on an even axis, about so many.
pub(crate) fn even(from: f64, to: f64, about: u32, unit: Unit, measure: &Measure) -> Vec<Tick> {
    if unit == Unit::Moment {
        return moments(from, to, about);
    }
    let wide = step_of(&ROUNDER, (to - from) / measure.divisor / f64::from(about.max(1)));
    let whole = unit == Unit::Count && measure.divisor <= 1.0;
    let step = if whole { wide.max(1.0).ceil() } else { wide } * measure.divisor;
    let first = (from / step - 1e-9).ceil();
    let places = (0..40).map(|i| (first + f64::from(i)) * step);
    let inside = places.take_while(|at| *at <= to + step * 1e-9);
    inside.map(|at| Tick { at, label: label(at, step, measure) }).collect()
}

/// Powers between two figures: of two, or one, two and five of each power of ten; thinned to about
/// so many.
pub(crate) fn powers(from: f64, to: f64, base: f64, about: u32, unit: Unit) -> Vec<Tick> {
    let (low, high) = (from.log(base) - 1e-9, to.log(base) + 1e-9);
    let span = high - low;
    let parts: &[f64] = if base > 2.0 && span < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let stride = (span / f64::from(about.max(1))).ceil().max(1.0);
    let first = (low.floor() / stride).floor() * stride;
    let powers = (0..80).map(|i| first + f64::from(i) * stride).take_while(|p| *p <= high);
    let places = powers.flat_map(|p| parts.iter().map(move |part| part * base.powf(p)));
    let inside = places.filter(|at| at.is_normal() && at.log(base) >= low && at.log(base) <= high);
    inside.map(|at| Tick { at, label: figure::short(unit, at) }).collect()
}

/// Round moments of the clock between two moments.
fn moments(from: f64, to: f64, about: u32) -> Vec<Tick> {
    let wanted = (to - from) / f64::from(about.max(1));
    let clock = [
        1.0,
        2.0,
        5.0,
        10.0,
        15.0,
        30.0,
        60.0,
        120.0,
        300.0,
        600.0,
        900.0,
        1800.0,
        3600.0,
        7200.0,
        10_800.0,
        21_600.0,
        43_200.0,
        DAY,
        2.0 * DAY,
        7.0 * DAY,
        14.0 * DAY,
    ];
    let Some(step) = clock.into_iter().find(|s| *s >= wanted) else {
        return months(from, to, wanted);
    };
    let one_day = to < ((from / DAY).floor() + 1.0) * DAY;
    let format = match step {
        s if s < 60.0 => "%H:%M:%S",
        s if s < DAY && one_day => "%H:%M",
        s if s < DAY => "%m-%d %H:%M",
        _ => "%Y-%m-%d",
    };
    let first = (from / step).ceil();
    let places = (0..40).map(|i| (first + f64::from(i)) * step).take_while(|at| *at <= to);
    places.map(|at| Tick { at, label: figure::moment(at, format) }).collect()
}

/// First days of months or years between two moments.
fn months(from: f64, to: f64, wanted: f64) -> Vec<Tick> {
    let stride = wanted / (30.437 * DAY);
    let round = [1.0, 2.0, 3.0, 6.0, 12.0].into_iter().find(|s| *s >= stride);
    let stride = round.unwrap_or_else(|| 12.0 * round_step(stride / 12.0).ceil());
    if stride > 120_000.0 {
        return Vec::new();
    }
    let format = if stride < 12.0 { "%Y-%m" } else { "%Y" };
    let first = (month_of(from) / stride).floor() * stride;
    let places = (0..40).filter_map(|i| begin_of_month(first + f64::from(i) * stride));
    let inside = places.skip_while(|at| *at < from).take_while(|at| *at <= to);
    inside.map(|at| Tick { at, label: figure::moment(at, format) }).collect()
}

/// The month of a moment, counted from the year 0.
fn month_of(seconds: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "what is too large is refused")]
    let timestamp = Timestamp::from_second(seconds.floor() as i64);
    timestamp.map_or(-119_988.0, |t| {
        let date = t.to_zoned(TimeZone::UTC).date();
        f64::from(date.year()) * 12.0 + f64::from(date.month()) - 1.0
    })
}

fn begin_of_month(month: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "what is too large is refused")]
    let (year, month) = ((month / 12.0).floor() as i16, (month.rem_euclid(12.0)) as i8 + 1);
    let date = Date::new(year, month, 1).ok()?;
    let start = date.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp().as_second() as f64)
}
