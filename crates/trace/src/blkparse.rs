//! The text of blkparse, which is recognised and not read: it rounds times, and may leave out
//! events. The binary files of blktrace have all of them.

/// Whether a text has lines as blkparse prints them:
/// `8,0    3       11     0.009507758   697  C   W 223490 + 8 [0]`.
#[must_use]
pub fn is_blkparse_text(text: &str) -> bool {
    text.lines().take(100).any(is_event)
}

fn is_event(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [device, cpu, number, time, process, action, kinds, ..] = words.as_slice() else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let are_numbers = |text: &str, mark: char| {
        text.split_once(mark).is_some_and(|(a, b)| is_number(a) && is_number(b))
    };
    are_numbers(device, ',')
        && are_numbers(time, '.')
        && [cpu, number, process].into_iter().all(|word| is_number(word))
        && action.len() <= 2
        && kinds.bytes().all(|b| b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_known_by_their_columns() {
        let line = "  8,0    3       11     0.009507758   697  C   W 223490 + 8 [0]\n";
        assert!(is_blkparse_text(&format!("CPU0 (8,0):\n{line}")));
        for other in ["128166372003061629,hm,1,Read,383496192,32768,5736", "", "8,0 1 2 3 4 5 6"] {
            assert!(!is_blkparse_text(other), "{other}");
        }
    }
}
