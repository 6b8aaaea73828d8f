//! The tool's figures next to the kernel's, as both reports show them.

use results::agreement::{AgreementRow, Figure};
use workload::{show_ns, show_number};

use crate::language::say;
use crate::words;

/// One line of the comparison, ready to be shown.
pub(crate) struct Line {
    /// The figure with the name that administrators know it by.
    pub(crate) figure: String,
    pub(crate) tool: String,
    pub(crate) kernel: String,
    pub(crate) difference: String,
    /// What a difference may be, or that the line is only shown.
    pub(crate) allowed: String,
    pub(crate) beyond: bool,
}

fn name(figure: Figure) -> String {
    match figure {
        Figure::ReadIops => say!("agreement-reads"),
        Figure::ReadBytesPerS => say!("agreement-read-mib"),
        Figure::ReadBytesPerIo => say!("agreement-read-size"),
        Figure::ReadLatencyNs => say!("agreement-read-latency"),
        Figure::WriteIops => say!("agreement-writes"),
        Figure::WriteBytesPerS => say!("agreement-write-mib"),
        Figure::WriteBytesPerIo => say!("agreement-write-size"),
        Figure::WriteLatencyNs => say!("agreement-write-latency"),
    }
}

fn value(figure: Figure, value: f64) -> String {
    match figure {
        Figure::ReadIops | Figure::WriteIops => show_number(value),
        Figure::ReadBytesPerS | Figure::WriteBytesPerS => show_number(value / 1_048_576.0),
        Figure::ReadBytesPerIo | Figure::WriteBytesPerIo => bytes(value),
        Figure::ReadLatencyNs | Figure::WriteLatencyNs => show_ns(value),
    }
}

fn bytes(value: f64) -> String {
    if !value.is_finite() {
        return words::NONE.to_owned();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let whole = value.round() as u64;
    words::size(whole)
}

/// Ten times as much is so many percent more.
const TEN_TIMES_PERCENT: f64 = 900.0;

/// A difference that is too large for its percentage to mean anything.
pub(crate) fn is_huge(percent: f64) -> bool {
    percent > TEN_TIMES_PERCENT
}

/// Shown instead of a huge difference.
pub(crate) const HUGE: &str = "> 10 x";

/// A difference in percent with its sign.
fn signed(percent: f64) -> String {
    if !percent.is_finite() {
        return words::NONE.to_owned();
    }
    if is_huge(percent) {
        return HUGE.to_owned();
    }
    let shown = show_number(percent);
    match shown.as_str() {
        "0" | "-0" => "0 %".to_owned(),
        text if percent > 0.0 => format!("+{text} %"),
        text => format!("{} %", text.replacen('-', "−", 1)),
    }
}

/// One row of the comparison, in words.
pub(crate) fn line(row: &AgreementRow) -> Line {
    let allowed = row.allowed_percent.map_or_else(
        || say!("verdict-grade-not-judged"),
        |allowed| format!("± {}", words::percent(Some(allowed))),
    );
    Line {
        figure: name(row.figure),
        tool: value(row.figure, row.tool),
        kernel: value(row.figure, row.kernel),
        difference: signed(row.difference_percent),
        allowed,
        beyond: row.allowed_percent.is_some_and(|a| row.difference_percent.abs() > a),
    }
}
