//! The kinds of result documents: one line each. Whatever reads a document by its schema, filters by kind or offers
//! kinds to choose from reads this list.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::assessment::ASSESSMENT_SCHEMA;
use crate::cycle::Cycle;
use crate::document::Document;
use crate::durability::Durability;
use crate::experiment::Conclusion;
use crate::measurement::MEASUREMENT_SCHEMA;
use crate::recording::Recording;
use crate::runs::Runs;
use crate::saturation::Saturation;
use crate::scale::Scale;
use crate::sizes::Sizes;
use crate::sweep::Sweep;
use crate::validation::Validation;

/// A kind of result document.
#[derive(Debug)]
pub struct Kind {
    /// The command that makes such documents; several kinds may share it.
    pub word: &'static str,
    /// The schema that they follow.
    pub schema: &'static str,
    /// Reads one from a JSON value.
    pub(crate) read: fn(Value) -> Result<Document, serde_json::Error>,
}

/// Makes the list, and the way from a document to its entry, from one line per variant of [`Document`].
macro_rules! kinds {
    ($($variant:ident $word:literal $schema:expr;)*) => {
        /// Every kind, in the order in which they are offered.
        pub static KINDS: &[Kind] = &[$(Kind {
            word: $word,
            schema: $schema,
            read: |value| Ok(Document::$variant(boxed(value)?)),
        }),*];

        impl Document {
            /// The command that makes such documents.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word,)*
                }
            }
        }
    };
}

kinds! {
    Measurement "run" MEASUREMENT_SCHEMA;
    Runs "run" Runs::SCHEMA;
    Assessment "assess" ASSESSMENT_SCHEMA;
    Knee "knee" Saturation::SCHEMA;
    Sweep "sweep" Sweep::SCHEMA;
    Sizes "sizes" Sizes::SCHEMA;
    Scale "scale" Scale::SCHEMA;
    Cycle "iometer" Cycle::SCHEMA;
    Validation "validate" Validation::SCHEMA;
    Durability "validate" Durability::SCHEMA;
    Recording "monitor" Recording::SCHEMA;
}

fn boxed<T: DeserializeOwned>(value: Value) -> Result<Box<T>, serde_json::Error> {
    serde_json::from_value(value).map(Box::new)
}

/// The words of all kinds, each once.
#[must_use]
pub fn kind_words() -> Vec<&'static str> {
    let mut words: Vec<&'static str> = KINDS.iter().map(|kind| kind.word).collect();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_offered_once_and_every_schema_is_read() {
        let all = ["run", "assess", "knee", "sweep", "sizes", "scale", "iometer", "validate"];
        assert_eq!(kind_words(), [&all[..], &["monitor"]].concat());
        for kind in KINDS {
            let text = format!(r#"{{"schema": "{}"}}"#, kind.schema);
            let error = Document::parse(&text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("this is no whole `{}`", kind.schema)), "{error}");
        }
    }
}
