//! SHA-256, and the file `SHA256SUMS` that `sha256sum --check` reads.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The digest as 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// One line per file: digest, two spaces, name.
pub(crate) fn list(sums: &BTreeMap<String, String>) -> String {
    sums.iter().fold(String::new(), |text, (name, sum)| text + sum + "  " + name + "\n")
}

/// Reads such a file; a line that is not one of it is left out.
pub(crate) fn parse(text: &str) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once("  "));
    let is_digest = |sum: &str| sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
    let pairs = pairs.filter(|(sum, name)| is_digest(sum) && !name.is_empty());
    pairs.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), known);
    }

    proptest! {
        #[test]
        fn what_is_listed_is_read_back(
            files in proptest::collection::btree_map("[a-z][a-z0-9._ -]{0,20}", any::<u64>(), 0..6),
        ) {
            let sums: BTreeMap<String, String> =
                files.into_iter().map(|(name, n)| (name, sha256(&n.to_le_bytes()))).collect();
            prop_assert_eq!(parse(&list(&sums)), sums);
        }

        #[test]
        fn nothing_panics(text in ".*") {
            parse(&text);
        }
    }
}
