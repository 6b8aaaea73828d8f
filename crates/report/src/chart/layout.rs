//! Room for words: how wide a text is, where a long one is cut, and which labels have room next to
//! each other.

/// The height of letters, in pixels.
pub(crate) const FONT: f64 = 12.0;
/// The height of a line of text.
pub(crate) const LINE: f64 = 16.0;

/// About how wide a text is, in a common sans serif of a size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | '\u{202F}' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '/' | '-' | 'I' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        'A'..='Z' => 0.7,
        c if c as u32 >= 0x1100 => 1.05,
        _ => 0.62,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// A text that is not wider than some room, with an ellipsis where it was cut.
pub(crate) fn fitted(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if width(&out, size) + size > room {
            out.pop();
            break;
        }
    }
    format!("{}…", out.trim_end())
}

/// A text in lines that are not wider than some room; words that are longer are cut.
pub(crate) fn wrapped(text: &str, room: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + size * 0.33 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, room, size)),
        }
    }
    lines
}

/// Puts labels into rows so that none covers another: the row of each, or `None` if no row has
/// room.
///
/// A label is given by its beginning and its end.
pub(crate) fn rows(labels: &[(f64, f64)], rows_max: usize) -> Vec<Option<usize>> {
    let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut place = |(from, to): (f64, f64)| {
        let free =
            |row: &Vec<(f64, f64)>| row.iter().all(|(f, t)| to + 8.0 < *f || from - 8.0 > *t);
        if let Some(found) = taken.iter().position(free) {
            taken[found].push((from, to));
            return Some(found);
        }
        (taken.len() < rows_max).then(|| {
            taken.push(vec![(from, to)]);
            taken.len() - 1
        })
    };
    labels.iter().map(|label| place(*label)).collect()
}

/// Of labels in order, those that do not touch the one that was kept before: given by middle and
/// width.
pub(crate) fn thinned(labels: &[(f64, f64)], gap: f64) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut free_from = f64::NEG_INFINITY;
    for (i, (middle, width)) in labels.iter().enumerate() {
        if middle - width / 2.0 >= free_from {
            kept.push(i);
            free_from = middle + width / 2.0 + gap;
        }
    }
    kept
}
