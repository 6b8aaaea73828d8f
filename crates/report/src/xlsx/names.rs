//! Names that Excel takes: of sheets, of tables, and of ranges of cells.

use std::collections::HashSet;

/// Most UTF-16 units in the name of a sheet.
const SHEET_LIMIT: usize = 31;

/// Most characters that a name of a table or range is given. Excel takes 255.
const NAME_LIMIT: usize = 80;

/// Gives each thing a name that no other has. Excel does not tell upper from lower case.
pub(crate) struct Names {
    used: HashSet<String>,
    /// How many sheets have a number.
    sheets: usize,
}

impl Names {
    /// No name is given yet. `History` is one that Excel keeps for itself.
    pub(crate) fn new() -> Self {
        Self { used: HashSet::from(["history".to_owned()]), sheets: 0 }
    }

    /// A name for the next sheet that people read, with its number: `2 Charts`.
    pub(crate) fn numbered(&mut self, wanted: &str) -> String {
        self.sheets += 1;
        let number = self.sheets;
        self.sheet(&format!("{number} {wanted}"))
    }

    /// A name for a sheet that reads like the wanted one.
    pub(crate) fn sheet(&mut self, wanted: &str) -> String {
        let words: String = wanted
            .chars()
            .map(|c| if c.is_control() || "[]:*?/\\'".contains(c) { ' ' } else { c })
            .collect();
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        self.unique(if words.is_empty() { "Sheet" } else { &words }, SHEET_LIMIT, " ")
    }

    /// A name for a table or a range: letters, digits and low lines, never like a cell (`P99`),
    /// thanks to its beginning.
    pub(crate) fn identifier(&mut self, kind: &str, wanted: &str) -> String {
        let letters: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.unique(&format!("{kind}_{letters}"), NAME_LIMIT, "_")
    }

    /// The wanted name cut to the limit, with a number after it where it is taken.
    fn unique(&mut self, wanted: &str, limit: usize, between: &str) -> String {
        let mut number = 1;
        loop {
            let tail = if number == 1 { String::new() } else { format!("{between}{number}") };
            let name = format!("{}{tail}", cut(wanted, limit - tail.len()).trim_end());
            if self.used.insert(name.to_lowercase()) {
                return name;
            }
            number += 1;
        }
    }
}

/// A key as words: `size-sweep` becomes `Size sweep`.
pub(crate) fn words(key: &str) -> String {
    let spaced = key.replace(['-', '_'], " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// The beginning of a text that has at most so many UTF-16 units, which is how Excel counts.
pub(crate) fn cut(text: &str, units: usize) -> &str {
    let mut room = units;
    for (at, c) in text.char_indices() {
        let Some(left) = room.checked_sub(c.len_utf16()) else { return &text[..at] };
        room = left;
    }
    text
}

/// A place in the workbook as links name it.
pub(crate) fn link(sheet: &str, row: u32) -> String {
    format!("internal:'{}'!A{}", sheet.replace('\'', "''"), row + 1)
}
