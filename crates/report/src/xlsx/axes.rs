//! Where axes begin and end, and their ticks. Excel would choose by itself, but by other rules than
//! the other formats, and a vertical line at a mark has to know where the axis ends.

use crate::model::Scale;

/// About how many steps an axis has.
const STEPS: f64 = 6.0;

/// The ends of an axis in the unit that is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// From one tick to the next; `None` if Excel chooses.
    pub(crate) step: Option<f64>,
    /// Of the logarithm, where the axis has one.
    pub(crate) base: Option<u16>,
}

impl Bounds {
    /// The ends of an axis that reaches all the figures. A vertical one begins at 0 unless it is
    /// logarithmic.
    pub(crate) fn of(scale: &Scale, figures: &[f64], vertical: bool, moment: bool) -> Self {
        let min = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let max = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(min.is_finite() && max.is_finite()) {
            return Self { min: 0.0, max: 1.0, step: None, base: None };
        }
        match scale {
            Scale::Log2 if min > 0.0 => logarithmic(2, min, max),
            Scale::Log10 if min > 0.0 => logarithmic(10, min, max),
            // An interval that reaches to 0 or below has no end on such an axis; the figures have.
            Scale::Log2 | Scale::Log10 => {
                let above: Vec<f64> = figures.iter().copied().filter(|f| *f > 0.0).collect();
                let scale = if above.is_empty() { &Scale::Linear } else { scale };
                Self::of(scale, if above.is_empty() { figures } else { &above }, vertical, moment)
            }
            _ if moment => {
                let half_hour = 1.0 / 48.0;
                let room = if max > min { 0.0 } else { half_hour };
                Self { min: min - room, max: max + room, step: None, base: None }
            }
            _ => linear(min, max, vertical),
        }
    }

    /// A place between the ends: 0 is the lower, 1 the upper.
    pub(crate) fn between(&self, share: f64) -> f64 {
        match self.base {
            Some(_) if self.min > 0.0 => self.min * (self.max / self.min).powf(share),
            _ => self.min + (self.max - self.min) * share,
        }
    }
}

fn logarithmic(base: u16, min: f64, max: f64) -> Bounds {
    let power = |value: f64| value.log2() / f64::from(base).log2();
    let low = (power(min) + 1e-9).floor();
    let high = (power(max) - 1e-9).ceil().max(low + 1.0);
    let of = |power: f64| f64::from(base).powf(power);
    // Without a step, LibreOffice writes a figure at each factor of ten, whatever the base.
    Bounds { min: of(low), max: of(high), step: Some(f64::from(base)), base: Some(base) }
}

fn linear(min: f64, max: f64, vertical: bool) -> Bounds {
    let from_zero = min >= 0.0 && (vertical || min <= max / 2.0);
    let low = if from_zero { 0.0 } else { min };
    let high = if vertical { max.max(0.0) } else { max };
    let span = high - low;
    if span.is_nan() || span <= f64::MIN_POSITIVE {
        let around = if low == 0.0 { 1.0 } else { low.abs() };
        return Bounds { min: low.min(0.0), max: low + around, step: None, base: None };
    }
    let step = nice(span / STEPS);
    let bounds = Bounds {
        min: (low / step + 1e-9).floor() * step,
        max: (high / step - 1e-9).ceil() * step,
        step: Some(step),
        base: None,
    };
    if bounds.max.is_finite() && bounds.max > bounds.min {
        return bounds;
    }
    Bounds { min: low, max: high, step: None, base: None }
}

/// The nearest of 1, 2, 2.5, 5 and 10 times a power of ten that is not smaller.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(value)
}

/// The number format of an axis.
pub(crate) fn format(bounds: &Bounds, percent: bool, moment: bool) -> String {
    if moment {
        let days = bounds.max - bounds.min;
        let format = if days > 3.0 { "yyyy-mm-dd" } else { "hh:mm:ss" };
        return format.to_owned();
    }
    if percent {
        let fine = bounds.step.is_some_and(|step| step < 0.01);
        return if fine { "0.0%" } else { "0%" }.to_owned();
    }
    if bounds.base.is_some() {
        return "[<1]General;#,##0".to_owned();
    }
    let step = bounds.step.unwrap_or(bounds.max - bounds.min);
    if (0.0001..10.0).contains(&step) {
        let formats = ["#,##0", "#,##0.0", "#,##0.00", "#,##0.000", "#,##0.0000", "#,##0.00000"];
        let mut shifted = step;
        let whole = formats.into_iter().find(|_| {
            let whole = (shifted - shifted.round()).abs() < 1e-6 * shifted;
            shifted *= 10.0;
            whole
        });
        return whole.unwrap_or("General").to_owned();
    }
    if (10.0..1e12).contains(&step) { "#,##0" } else { "General" }.to_owned()
}
