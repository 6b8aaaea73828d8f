//! In which units figures are shown in cells and on axes, and by which number format.
//!
//! Excel has no format that shows nanoseconds as milliseconds or bytes as GiB. So figures are
//! converted, and the heading or the axis says to what.

use crate::model::Unit;

/// How figures of a column or an axis are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    unit: Unit,
    /// How many of the base unit are one that is shown.
    size: f64,
    /// The unit that is shown; empty without a unit.
    pub(crate) suffix: &'static str,
    /// The number format of its cells.
    pub(crate) format: &'static str,
}

/// Fewer digits after the point the larger the figure.
const MEASURED: &str = "[<10]0.00;[<1000]0.0;#,##0";
const SMALL_TIME: &str = "[<1]0.0000;[<100]0.000;#,##0.0";
const WHOLE: &str = "#,##0";
const KIB: f64 = 1024.0;
/// Days from the beginning of Excel's calendar to 1970, and seconds in a day.
const DAYS_TO_1970: f64 = 25_569.0;
const DAY: f64 = 86_400.0;
/// The largest number that Excel takes.
const LARGEST: f64 = 9.999e307;

impl Shown {
    /// How to show the figures: all that the unit is chosen for, in base units.
    pub(crate) fn of(unit: Unit, figures: impl Iterator<Item = f64> + Clone) -> Self {
        let sized = |size, suffix, format| Self { unit, size, suffix, format };
        match unit {
            Unit::Text => sized(1.0, "", "General"),
            Unit::Number => {
                let whole = figures.filter(|v| v.is_finite()).all(|v| v.fract() == 0.0);
                sized(1.0, "", if whole { WHOLE } else { MEASURED })
            }
            Unit::Count => sized(1.0, "", "[<1]General;#,##0"),
            Unit::Iops => sized(1.0, "IOPS", MEASURED),
            Unit::MibPerS => sized(1.0, "MiB/s", MEASURED),
            Unit::Seconds => sized(1.0, "s", MEASURED),
            Unit::Percent => sized(100.0, "%", "0.0%"),
            Unit::Moment => sized(DAY, "UTC", "yyyy-mm-dd hh:mm:ss"),
            Unit::Nanoseconds => {
                let most = figures.filter(|v| v.is_finite()).fold(0.0, f64::max);
                if most < 1e6 {
                    sized(1e3, "µs", "#,##0.00")
                } else {
                    sized(1e6, "ms", SMALL_TIME)
                }
            }
            Unit::Bytes => {
                let (size, suffix) = byte_unit(figures.clone());
                let whole = figures.filter(|v| v.is_finite()).all(|v| v % size == 0.0);
                sized(size, suffix, if whole { WHOLE } else { "[<10]0.000;#,##0.0" })
            }
        }
    }

    /// A figure as it is written into a cell; `None` if Excel has no such number.
    pub(crate) fn convert(&self, figure: f64) -> Option<f64> {
        let value = match self.unit {
            Unit::Moment => figure / DAY + DAYS_TO_1970,
            // Excel shows 0.42 as 42 %.
            _ => figure / self.size,
        };
        let fits = match self.unit {
            // Excel's calendar ends with the year 9999.
            Unit::Moment => (1.0..2_958_466.0).contains(&value),
            _ => value.is_finite() && value.abs() < LARGEST,
        };
        // Excel does not accept subnormal numbers.
        fits.then_some(if value.abs() < f64::MIN_POSITIVE { 0.0 } else { value })
    }

    /// A heading with the unit, unless it says it by itself.
    pub(crate) fn heading(&self, name: &str) -> String {
        let said = ["IOPS", "MiB/s", "%"].contains(&self.suffix) && name.contains(self.suffix);
        match self.suffix {
            "" => name.to_owned(),
            _ if said => name.to_owned(),
            suffix if name.is_empty() => suffix.to_owned(),
            suffix => format!("{name} ({suffix})"),
        }
    }

    /// Whether its figures are dates and times.
    pub(crate) fn is_moment(&self) -> bool {
        self.unit == Unit::Moment
    }

    /// Whether its figures are in percent.
    pub(crate) fn is_percent(&self) -> bool {
        self.unit == Unit::Percent
    }
}

/// The largest unit of which every size is at least one; a larger one where figures would have five
/// digits.
fn byte_unit(figures: impl Iterator<Item = f64>) -> (f64, &'static str) {
    let sizes = figures.filter(|v| v.is_finite() && *v > 0.0);
    let (least, most) = sizes.fold((f64::MAX, 0.0_f64), |(a, b), v| (a.min(v), b.max(v)));
    let mut unit = (1.0, "bytes");
    for name in ["KiB", "MiB", "GiB", "TiB"] {
        let larger = unit.0 * KIB;
        if most < larger || least < larger && most / unit.0 < 10_000.0 {
            break;
        }
        unit = (larger, name);
    }
    unit
}
