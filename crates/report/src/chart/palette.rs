//! Colours and shapes by which series are distinguished, with and without colour.

/// Series that look different from each other; further ones begin again.
pub(crate) const KINDS: usize = 12;

/// Colours on white; the style sheet has those for a dark page. Neighbours differ in lightness too.
pub(crate) const COLOURS: [&str; KINDS] = [
    "#1b5ea8", "#b4500f", "#117a52", "#8b3a9e", "#967000", "#c2185b", "#00788c", "#5b646e",
    "#6b3e1e", "#4b48b8", "#667300", "#c63a1c",
];

pub(crate) const INK: &str = "#1a1d21";
pub(crate) const FAINT: &str = "#5b646e";
pub(crate) const RULE: &str = "#dde1e6";
pub(crate) const PAPER: &str = "#ffffff";

/// The dashes of the first, second … line that accompanies another.
pub(crate) const DASHES: [&str; 4] = ["6 4", "2 3", "9 3 2 3", "12 4"];

/// A sign of a series around a place, as path data that begins with an absolute move.
pub(crate) fn sign(kind: usize, x: f64, y: f64) -> String {
    let from = |dx: f64, dy: f64| format!("M{} {}", super::px(x + dx), super::px(y + dy));
    match kind % KINDS {
        0 => format!("{}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0", from(-3.0, 0.0)),
        1 => format!("{}h5.6v5.6h-5.6z", from(-2.8, -2.8)),
        2 => format!("{}l3.9 3.9l-3.9 3.9l-3.9 -3.9z", from(0.0, -3.9)),
        3 => format!("{}l3.7 6.4h-7.4z", from(0.0, -4.0)),
        4 => format!("{}l3.7 -6.4h-7.4z", from(0.0, 4.0)),
        5 => format!("{}l6 6m-6 0l6 -6", from(-3.0, -3.0)),
        6 => format!("{}h8m-4 -4v8", from(-4.0, 0.0)),
        7 => format!("{}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", from(-4.0, 0.0)),
        8 => format!("{}h6.4v6.4h-6.4z", from(-3.2, -3.2)),
        9 => format!("{}l4.4 4.4l-4.4 4.4l-4.4 -4.4z", from(0.0, -4.4)),
        10 => format!("{}l4.2 7.2h-8.4z", from(0.0, -4.6)),
        _ => format!("{}h8m-4 -4v8m-2.8 -1.2l5.6 -5.6m-5.6 0l5.6 5.6", from(-4.0, 0.0)),
    }
}

/// Whether the sign of a series is filled with its colour, and not only drawn with it.
pub(crate) fn filled(kind: usize) -> bool {
    kind % KINDS < 5
}
