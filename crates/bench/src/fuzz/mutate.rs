//! Changes an input as damage, mistakes and malice do; the same seed makes the same change.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The longest input that is made.
const BYTES_MAX: usize = 1 << 20;
/// Changes of one input, at most.
const CHANGES_MAX: usize = 6;

/// Numbers at which types, formats and arithmetic end.
const NUMBERS: [&str; 27] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "7",
    "100",
    "101",
    "512",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e308",
    "1e309",
    "-1e308",
    "1e-320",
    "0.1",
];

/// Values that are inserted in unexpected places.
const WORDS: [&str; 26] = [
    "",
    " ",
    "\0",
    "\t",
    "\n",
    "\r\n",
    "\u{feff}",
    "\u{2013}",
    "ä",
    "\u{1f600}",
    "NaN",
    "inf",
    "-inf",
    "null",
    "true",
    "\"",
    "'",
    "\\",
    ",",
    ";",
    "%",
    "=",
    "[",
    "{",
    "<",
    "..",
];

/// Draws numbers that depend only on a seed.
pub(super) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number below this one, or 0 if this is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.0.next_u64() % end.max(1)).unwrap_or(0)
    }

    pub(super) fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// A part of so many bytes, short as a rule.
    fn part(&mut self, bytes: usize) -> std::ops::Range<usize> {
        let begin = self.below(bytes + 1);
        let longest = if self.below(4) == 0 { bytes - begin } else { (bytes - begin).min(16) };
        begin..begin + self.below(longest + 1)
    }
}

/// An input made from one of these.
pub(super) fn input(draw: &mut Draw, fixtures: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = draw.of(fixtures).cloned().unwrap_or_default();
    // Some inputs stay whole: accepted inputs are processed further than refused ones.
    let changes = draw.below(CHANGES_MAX + 1);
    for _ in 0..changes {
        change(draw, &mut bytes, fixtures);
        bytes.truncate(BYTES_MAX);
    }
    if draw.below(16) == 0 {
        bytes = encoded(draw, &bytes);
        bytes.truncate(BYTES_MAX);
    }
    bytes
}

fn change(draw: &mut Draw, bytes: &mut Vec<u8>, fixtures: &[Vec<u8>]) {
    match draw.below(14) {
        0 => flip(draw, bytes),
        1 => {
            let part = draw.part(bytes.len());
            bytes.drain(part);
        }
        2 => {
            let at = draw.below(bytes.len() + 1);
            let word = draw.of(&WORDS).copied().unwrap_or_default();
            bytes.splice(at..at, word.bytes());
        }
        3..=6 => replace_number(draw, bytes),
        7 => {
            let part = draw.part(bytes.len());
            let word = draw.of(&WORDS).copied().unwrap_or_default();
            bytes.splice(part, word.bytes());
        }
        8 | 9 => change_lines(draw, bytes),
        10 => splice(draw, bytes, fixtures),
        11 => bytes.truncate(draw.below(bytes.len() + 1)),
        12 => repeat(draw, bytes),
        _ => {
            let (from, at) = (draw.part(bytes.len()), draw.below(bytes.len() + 1));
            let copy = bytes[from].to_vec();
            bytes.splice(at..at, copy);
        }
    }
}

fn flip(draw: &mut Draw, bytes: &mut [u8]) {
    let at = draw.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << draw.below(8);
    }
}

/// Another number in the place of one.
fn replace_number(draw: &mut Draw, bytes: &mut Vec<u8>) {
    let numbers: Vec<_> = digits(bytes);
    let Some(part) = draw.of(&numbers).cloned() else { return flip(draw, bytes) };
    let number = draw.of(&NUMBERS).copied().unwrap_or_default();
    bytes.splice(part, number.bytes());
}

fn digits(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut begin = None;
    for (at, byte) in bytes.iter().enumerate() {
        match (byte.is_ascii_digit(), begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                begin = None;
            }
            _ => {}
        }
    }
    found.extend(begin.map(|from| from..bytes.len()));
    found
}

/// A line twice, not at all, or in the place of another.
fn change_lines(draw: &mut Draw, bytes: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (draw.below(lines.len()), draw.below(lines.len()));
    if lines.is_empty() {
        return;
    }
    match draw.below(4) {
        0 => lines.insert(other, lines[one].clone()),
        1 => drop(lines.remove(one)),
        2 => lines.swap(one, other),
        _ => {
            let many = vec![lines[one].clone(); draw.below(300)];
            lines.splice(other..other, many);
        }
    }
    *bytes = lines.concat();
}

/// The beginning of this, and the end of another.
fn splice(draw: &mut Draw, bytes: &mut Vec<u8>, fixtures: &[Vec<u8>]) {
    bytes.truncate(draw.below(bytes.len() + 1));
    if let Some(other) = draw.of(fixtures) {
        bytes.extend(&other[draw.below(other.len() + 1)..]);
    }
}

/// Something short very often: depths of nesting, lengths of words and numbers.
fn repeat(draw: &mut Draw, bytes: &mut Vec<u8>) {
    let at = draw.below(bytes.len() + 1);
    let times = [10, 100, 1000, 20_000][draw.below(4)];
    let unit = match draw.below(3) {
        0 => draw.of(&WORDS).copied().unwrap_or_default().as_bytes().to_vec(),
        1 => draw.of(&NUMBERS).copied().unwrap_or_default().as_bytes().to_vec(),
        _ => {
            let part = draw.part(bytes.len());
            bytes[part.start..part.end.min(part.start + 32)].to_vec()
        }
    };
    bytes.splice(at..at, unit.repeat(times));
}

/// The same in another encoding, or with the ends of lines of another system.
fn encoded(draw: &mut Draw, bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let wide = |big: bool| {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
    };
    match draw.below(6) {
        0 => wide(false),
        1 => wide(true),
        2 => [b"\xEF\xBB\xBF", bytes].concat(),
        3 => text.replace('\n', "\r\n").into_bytes(),
        4 => text.replace('\n', "\r").into_bytes(),
        // Windows-1252, as far as that is one byte for each.
        _ => text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_input_and_seeds_make_many() {
        let fixtures = [b"[a]\nb = 12\nc = 3.5\n".to_vec(), b"<x>8</x>\n".to_vec()];
        let made = |seed| input(&mut Draw::new(seed), &fixtures);
        let all: std::collections::BTreeSet<Vec<u8>> = (0..3000).map(made).collect();
        assert!(all.len() > 1500, "{}", all.len());
        for seed in 0..3000 {
            assert_eq!(made(seed), made(seed));
            assert!(made(seed).len() <= BYTES_MAX);
        }
        assert!(all.iter().any(|bytes| bytes.starts_with(&[0xFF, 0xFE])));
        assert!(all.iter().any(|bytes| bytes.len() > 10_000));
    }

    #[test]
    fn nothing_is_an_input_too() {
        for seed in 0..2000 {
            let _ = input(&mut Draw::new(seed), &[Vec::new()]);
            let _ = input(&mut Draw::new(seed), &[]);
        }
    }
}
