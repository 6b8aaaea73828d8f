//! A path in a command that the user may copy from a message and run.

use std::path::Path;

/// A path as one word of the shell of this system.
#[must_use]
pub fn shell_word(path: impl AsRef<Path>) -> String {
    let text = path.as_ref().to_string_lossy();
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c) || cfg!(windows) && c == '\\'
    };
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    if cfg!(windows) {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(all(test, not(windows)))]
mod tests {
    use super::*;

    /// `iosonde validate --resume /my data/l` was printed, and did not work when it was copied.
    #[test]
    fn words_of_a_shell() {
        assert_eq!(shell_word("/srv/db-1"), "/srv/db-1");
        assert_eq!(shell_word("/a b;rm"), "'/a b;rm'");
        assert_eq!(shell_word("/it's"), r"'/it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
