//! What a page should hold next to what it holds, where these differ.

use std::fmt::Write as _;

/// How many bytes a line shows.
const LINE_BYTES: usize = 16;
/// Lines of a dump, at most.
const LINES_MAX: usize = 64;

/// The lines of a page that differ: offset, expected bytes, found bytes, and the bits that differ.
#[must_use]
pub fn dump(expected: &[u8], found: &[u8]) -> String {
    let mut text = String::from("offset  expected / received / difference\n");
    let lines = expected.chunks(LINE_BYTES).enumerate().map(|(index, line)| {
        let at = index * LINE_BYTES;
        let end = (at + line.len()).min(found.len());
        (at, line, found.get(at..end).unwrap_or_default())
    });
    let differing: Vec<_> = lines.filter(|(_, line, found)| line != found).collect();
    for (at, line, found) in differing.iter().take(LINES_MAX) {
        let bits: Vec<u8> = line.iter().zip(found.iter()).map(|(a, b)| a ^ b).collect();
        for (name, bytes) in [("exp", *line), ("rec", *found), ("dif", bits.as_slice())] {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            // A string takes everything.
            let _ = writeln!(text, "{at:#07x} {name} {}", hex.join(" "));
        }
    }
    if differing.len() > LINES_MAX {
        let _ = writeln!(text, "… and {} more lines", differing.len() - LINES_MAX);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_shown() {
        let expected: Vec<u8> = (0..64).collect();
        let mut found = expected.clone();
        found[33] = 0xA1;
        let lines: Vec<String> = dump(&expected, &found).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[1].starts_with("0x00020 exp 20 21 22"), "{lines:?}");
        assert!(lines[2].starts_with("0x00020 rec 20 a1 22"), "{lines:?}");
        assert!(lines[3].starts_with("0x00020 dif 00 80 00"), "{lines:?}");
    }

    #[test]
    fn a_dump_is_not_endless_and_takes_what_is_short() {
        assert_eq!(dump(&vec![1; 65_536], &vec![2; 65_536]).lines().count(), 1 + 3 * LINES_MAX + 1);
        assert!(dump(&[1; 32], &[1; 20]).contains("rec"));
        assert!(dump(&[1; 32], &[]).contains("0x00010"));
    }
}
