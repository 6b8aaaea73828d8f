//! Big figures: digits of three by five points, drawn with half blocks so that points are nearly
//! square.

/// Points of a glyph, from the top; the leftmost point is the highest of its `width` bits.
struct Glyph {
    width: usize,
    rows: [u8; 5],
}

const fn wide(rows: [u8; 5]) -> Glyph {
    Glyph { width: 3, rows }
}

/// The glyph of a character; a blank if there is none.
fn glyph(character: char) -> Glyph {
    match character {
        '0' => wide([0b111, 0b101, 0b101, 0b101, 0b111]),
        '1' => wide([0b110, 0b010, 0b010, 0b010, 0b111]),
        '2' => wide([0b111, 0b001, 0b111, 0b100, 0b111]),
        '3' => wide([0b111, 0b001, 0b111, 0b001, 0b111]),
        '4' => wide([0b101, 0b101, 0b111, 0b001, 0b001]),
        '5' => wide([0b111, 0b100, 0b111, 0b001, 0b111]),
        '6' => wide([0b111, 0b100, 0b111, 0b101, 0b111]),
        '7' => wide([0b111, 0b001, 0b001, 0b001, 0b001]),
        '8' => wide([0b111, 0b101, 0b111, 0b101, 0b111]),
        '9' => wide([0b111, 0b101, 0b111, 0b001, 0b111]),
        '-' | '–' => wide([0, 0, 0b111, 0, 0]),
        '.' => Glyph { width: 1, rows: [0, 0, 0, 0, 1] },
        _ => Glyph { width: 1, rows: [0; 5] },
    }
}

/// Rows of a text of this scale.
pub(super) fn rows(scale: usize) -> usize {
    (5 * scale).div_ceil(2)
}

/// Columns of a text of this scale.
pub(super) fn columns(text: &str, scale: usize) -> usize {
    let points: usize = text.chars().map(|c| glyph(c).width + 1).sum();
    points.saturating_sub(1) * scale
}

/// The text as rows of half blocks, each point `scale` columns wide and as many half rows high.
pub(super) fn big(text: &str, scale: usize) -> Vec<String> {
    let scale = scale.max(1);
    let glyphs: Vec<Glyph> = text.chars().map(glyph).collect();
    let is_set = |glyph: &Glyph, x: usize, y: usize| {
        let row = glyph.rows.get(y).copied().unwrap_or(0);
        usize::from(row) >> (glyph.width - 1 - x) & 1 == 1
    };
    let row = |row: usize| {
        let mut line = String::new();
        for (number, glyph) in glyphs.iter().enumerate() {
            if number > 0 {
                line.extend(std::iter::repeat_n(' ', scale));
            }
            for x in 0..glyph.width {
                let upper = is_set(glyph, x, 2 * row / scale);
                let lower = is_set(glyph, x, (2 * row + 1) / scale);
                let block = match (upper, lower) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                };
                line.extend(std::iter::repeat_n(block, scale));
            }
        }
        line
    };
    (0..rows(scale)).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_drawn_as_people_know_them() {
        let drawn = big("41.2", 1);
        assert_eq!(drawn, ["█ █ ▀█    ▀▀█", "▀▀█  █    █▀▀", "  ▀ ▀▀▀ ▀ ▀▀▀"]);
    }

    #[test]
    fn every_row_is_as_wide_as_was_said() {
        for scale in 1..4 {
            for text in ["0", "1 234 567", "–", "12.3", "", "x\u{1b}[2J"] {
                let drawn = big(text, scale);
                assert_eq!(drawn.len(), rows(scale));
                for row in drawn {
                    assert_eq!(row.chars().count(), columns(text, scale), "{text} {scale}");
                }
            }
        }
    }
}
