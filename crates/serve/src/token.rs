//! The token: a secret that a browser on another computer has to present.

use std::fmt::{self, Write};
use std::io;

use subtle::ConstantTimeEq;

use crate::ServeError;

/// A shorter token can be guessed.
const CHARACTERS_MIN: usize = 16;
/// A longer one does not fit where tokens are carried.
const CHARACTERS_MAX: usize = 512;
/// Bytes of a token that is made here: 128 bits, as two hexadecimal digits each.
const RANDOM_BYTES: usize = 16;

/// A secret of 16 and more visible ASCII characters. It is never shown by `{:?}`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes the text of a token file: white space around it does not belong to it.
    pub fn parse(text: &str) -> Result<Self, ServeError> {
        let token = text.trim();
        if token.chars().count() < CHARACTERS_MIN {
            return Err(ServeError::Token(
                "a token has at least 16 characters; `openssl rand -hex 16` makes a good one",
            ));
        }
        if token.len() > CHARACTERS_MAX {
            return Err(ServeError::Token("a token has at most 512 characters"));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ServeError::Token(
                "a token is made of ASCII letters, digits and signs, without spaces",
            ));
        }
        Ok(Self(token.to_owned()))
    }

    /// A new one of 32 random hexadecimal digits.
    pub fn random() -> Result<Self, ServeError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| ServeError::Start(io::Error::other(error.to_string())))?;
        let mut token = String::with_capacity(2 * RANDOM_BYTES);
        for byte in bytes {
            // A String takes everything.
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self(token))
    }

    /// Whether this is the same secret. Takes as long for a wrong one as for the right one of its
    /// length.
    #[must_use]
    pub fn is(&self, offered: &str) -> bool {
        self.0.as_bytes().ct_eq(offered.as_bytes()).into()
    }

    /// The secret itself, for a user who may know it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_is_long_enough_and_can_be_carried_in_a_header() {
        assert!(Token::parse("0123456789abcde").is_err(), "15 characters");
        assert!(Token::parse("0123456789abcdef\n").unwrap().is("0123456789abcdef"));
        assert!(Token::parse("0123456789 abcdef").is_err());
        assert!(Token::parse("0123456789abcdéf").is_err());
        assert!(Token::parse(&"a".repeat(513)).is_err());
    }

    #[test]
    fn random_tokens_differ_and_are_not_shown_by_chance() {
        let (a, b) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(!a.is(b.reveal()));
        assert_eq!(a.reveal().len(), 2 * RANDOM_BYTES);
        assert!(!format!("{a:?}").contains(a.reveal()));
        assert!(Token::parse(a.reveal()).is_ok());
    }

    proptest! {
        #[test]
        fn only_the_same_text_is_the_token(a in "[!-~]{16,40}", b in "\\PC{0,40}") {
            let token = Token::parse(&a).unwrap();
            prop_assert!(token.is(&a));
            prop_assert_eq!(token.is(&b), a == b);
        }

        #[test]
        fn any_text_is_a_token_or_an_error(text in any::<String>()) {
            if let Ok(token) = Token::parse(&text) {
                prop_assert!(token.is(text.trim()));
            }
        }
    }
}
