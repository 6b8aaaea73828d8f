//! Figures of another tool that contradict each other, in words.

use results::contradiction::{
    Contradiction, Identity, PrintedFigure, PrintedQuantity, PrintedSide,
};
use workload::show_number;

use crate::language::say;

/// A contradiction as a sentence.
pub(super) fn sentence(found: &Contradiction) -> String {
    let Contradiction { suspects, identity, others, printed, follows, tolerance: _ } = found;
    let figure =
        |f: &PrintedFigure| say!("contradiction-figure", name = name(f), value = number(f.value));
    let suspects: Vec<String> = suspects.iter().map(figure).collect();
    let doubt = match suspects.split_last() {
        Some((last, others)) if !others.is_empty() => {
            say!("contradiction-of-several", figures = others.join(", "), last = last.clone())
        }
        _ => say!("contradiction-of-one", figure = suspects.concat()),
    };
    let others: Vec<String> = others.iter().map(name).collect();
    let others = match (identity, others.as_slice()) {
        (Identity::SameWindow, [iops, bytes, rate]) => format!("{iops} x {bytes} / {rate}"),
        (Identity::Sum, _) => others.join(" + "),
        _ => others.join(" x "),
    };
    let (follows, is) = (number(*follows), number(printed.value));
    say!(
        "contradiction",
        doubt = doubt,
        others = others,
        follows = follows,
        name = name(printed),
        printed = is
    )
}

fn name(figure: &PrintedFigure) -> String {
    let quantity = match figure.quantity {
        PrintedQuantity::Ios => "I/Os",
        PrintedQuantity::Bytes => "bytes",
        PrintedQuantity::Iops => "IOPS",
        PrintedQuantity::MibPerS => "MiB/s",
        PrintedQuantity::Seconds => "seconds",
        PrintedQuantity::BlockBytes => return say!("contradiction-block"),
        PrintedQuantity::Threads => return say!("contradiction-threads"),
        PrintedQuantity::ThreadsAsked => return say!("contradiction-threads-asked"),
    };
    match figure.side {
        PrintedSide::Total => quantity.to_owned(),
        PrintedSide::Read => format!("read {quantity}"),
        PrintedSide::Write => format!("write {quantity}"),
    }
}

/// Whole numbers in full, others with two decimals.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value < 1e15 {
        return show_number(value);
    }
    format!("{value:.2}")
}
