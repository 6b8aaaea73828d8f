//! Figures as people read them: alone with their unit, in a cell under a heading that names it, and
//! next to an axis.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use workload::{Bytes, show_ns, show_number};

use crate::model::Unit;
use crate::words::NONE;

/// Beyond this nothing is drawn; sums and differences of two such figures are still finite.
pub(crate) const LARGEST: f64 = 1e300;
/// Below this nothing differs from nothing.
pub(crate) const SMALLEST: f64 = 1e-300;
/// Grouped digits beyond this are longer than they are clear.
const GROUPED_MAX: f64 = 1e15;

/// A figure with its unit: `80 000 IOPS`, `1.2 ms`, `64 KiB`.
pub(crate) fn show(unit: Unit, value: f64) -> String {
    let text = cell(unit, value);
    match unit {
        _ if text == NONE => text,
        Unit::Iops => format!("{text} IOPS"),
        Unit::MibPerS => format!("{text} MiB/s"),
        _ => text,
    }
}

/// A figure in a table: as [`show`], without what the heading says.
pub(crate) fn cell(unit: Unit, value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match unit {
        Unit::Nanoseconds if value.abs() < GROUPED_MAX * 1e6 => show_ns(value),
        Unit::Seconds if value.abs() < GROUPED_MAX => crate::words::seconds(value),
        Unit::Bytes => bytes(value),
        Unit::Percent => format!("{} %", number(value)),
        Unit::Moment => moment(value, "%Y-%m-%d %H:%M:%S UTC"),
        Unit::Count if value.abs() < 1e4 && value.fract() == 0.0 => format!("{value:.0}"),
        _ => number(value),
    }
}

/// A figure with three significant digits, or all of its whole ones, in groups.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() && value.abs() >= GROUPED_MAX {
        return format!("{value:.3e}");
    }
    if value != 0.0 && value.abs() < 0.005 {
        return if value.abs() < 1e-6 { format!("{value:.1e}") } else { significant(value) };
    }
    show_number(value)
}

/// Two digits of a figure far below one.
fn significant(value: f64) -> String {
    let text = format!("{value:.7}");
    let zeros = text.chars().skip_while(|c| *c == '-').take_while(|c| "0.".contains(*c)).count();
    let text = format!("{value:.*}", zeros.clamp(1, 8));
    text.trim_end_matches('0').to_owned()
}

/// A number of bytes with its unit, as labels have it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "in range, and no fraction of a byte is"
)]
fn bytes(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 1e18 {
        return format!("{value:.3e} B");
    }
    let text = Bytes(magnitude.round() as u64).to_string();
    if value < 0.0 && magnitude >= 0.5 { format!("-{text}") } else { text }
}

/// A moment in UTC; a dash where no calendar has it.
pub(crate) fn moment(seconds: f64, format: &str) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what is too large becomes the largest, which is refused"
    )]
    let timestamp = Timestamp::from_second(seconds.floor() as i64);
    timestamp.map_or_else(
        |_| NONE.to_owned(),
        |t| t.to_zoned(TimeZone::UTC).strftime(format).to_string(),
    )
}

/// What an axis of figures up to a largest one divides by, and how it says so.
pub(crate) struct Measure {
    /// What one step of the axis' own unit is, in the unit of the figures.
    pub(crate) divisor: f64,
    /// The text after each figure: `K`.
    pub(crate) suffix: &'static str,
    /// The unit in the title of the axis: `ms`.
    pub(crate) word: &'static str,
}

/// The last of the steps that a figure reaches.
fn reached<const N: usize>(
    steps: [(f64, f64, &'static str); N],
    largest: f64,
) -> (f64, &'static str) {
    let found = steps.into_iter().rev().find(|(least, ..)| largest >= *least);
    found.map_or((1.0, ""), |(_, divisor, name)| (divisor, name))
}

/// How an even axis with figures up to a largest one is written.
pub(crate) fn measure(unit: Unit, largest: f64) -> Measure {
    let thousands = [(1e4, 1e3, "K"), (1e7, 1e6, "M"), (1e10, 1e9, "G"), (1e13, 1e12, "T")];
    let many = [(1e7, 1e6, "M"), (1e10, 1e9, "G"), (1e13, 1e12, "T")];
    let suffixed = |(divisor, suffix), word| Measure { divisor, suffix, word };
    let named = |(divisor, word)| Measure { divisor, suffix: "", word };
    match unit {
        Unit::Nanoseconds => named(reached(
            [(0.0, 1.0, "ns"), (3e3, 1e3, "µs"), (3e6, 1e6, "ms"), (3e9, 1e9, "s")],
            largest,
        )),
        Unit::Seconds => named(reached(
            [
                (0.0, 1.0, "s"),
                (300.0, 60.0, "min"),
                (10_800.0, 3600.0, "h"),
                (259_200.0, 86_400.0, "days"),
            ],
            largest,
        )),
        Unit::Bytes => {
            let unit = |power: i32| (1024f64.powi(power), 1024f64.powi(power));
            let step = |power: i32, name| (unit(power).0, unit(power).1, name);
            named(reached(
                [
                    (0.0, 1.0, "bytes"),
                    step(1, "KiB"),
                    step(2, "MiB"),
                    step(3, "GiB"),
                    step(4, "TiB"),
                    step(5, "PiB"),
                ],
                largest,
            ))
        }
        Unit::Iops => suffixed(reached(thousands, largest), "IOPS"),
        Unit::MibPerS => suffixed(reached(many, largest), "MiB/s"),
        Unit::Percent => Measure { divisor: 1.0, suffix: "", word: "%" },
        Unit::Text | Unit::Count | Unit::Number | Unit::Moment => {
            suffixed(reached(thousands, largest), "")
        }
    }
}

/// A figure next to an axis that is not even, as short as can be: `64 KiB`, `1 ms`, `20K`.
pub(crate) fn short(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds | Unit::Bytes | Unit::Moment | Unit::Seconds => cell(unit, value),
        _ => {
            let measure = measure(unit, value.abs());
            format!("{}{}", number(value / measure.divisor), measure.suffix)
        }
    }
}

/// The word for the unit in the title of an axis whose figures carry their own.
pub(crate) fn word_beside(unit: Unit) -> &'static str {
    match unit {
        Unit::Iops => "IOPS",
        Unit::MibPerS => "MiB/s",
        Unit::Percent => "%",
        _ => "",
    }
}
