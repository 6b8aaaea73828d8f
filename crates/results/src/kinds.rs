//! The kinds of result documents: one line each. Whatever reads a document by its schema, filters
//! by kind or offers kinds to choose from reads this list.

use schemars::{JsonSchema, Schema};
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
    /// The command lines that print such documents, for help.
    pub printed_by: &'static str,
    /// The name of the schema that they follow, with its version.
    pub schema: &'static str,
    /// That schema as JSON Schema.
    pub json_schema: fn() -> Schema,
    /// Reads one from a JSON value.
    pub(crate) read: fn(Value) -> Result<Document, serde_json::Error>,
}

impl Kind {
    /// The name of the schema without `iosonde.` and the version, as in `iosonde schema sweep`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let name = self.schema.strip_prefix("iosonde.").unwrap_or(self.schema);
        name.split_once('/').map_or(name, |(name, _)| name)
    }
}

/// Makes the list, and the way from a document to its entry, from one line per variant of
/// [`Document`].
macro_rules! kinds {
    ($($variant:ident $word:literal $schema:expr, $printed_by:literal;)*) => {
        /// Every kind, in the order in which they are offered.
        pub static KINDS: &[Kind] = &[$(Kind {
            word: $word,
            printed_by: $printed_by,
            schema: $schema,
            json_schema: || schema_in(Document::$variant),
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
    Measurement "run" MEASUREMENT_SCHEMA, "`iosonde run --json`";
    Runs "run" Runs::SCHEMA, "`iosonde run --repeat --json`";
    Assessment "assess" ASSESSMENT_SCHEMA, "`iosonde assess --json`";
    Knee "knee" Saturation::SCHEMA, "`iosonde knee --json`";
    Sweep "sweep" Sweep::SCHEMA, "`iosonde sweep --json`";
    Sizes "sizes" Sizes::SCHEMA, "`iosonde sizes --json`";
    Scale "scale" Scale::SCHEMA, "`iosonde scale --json`";
    Cycle "iometer" Cycle::SCHEMA, "`iosonde iometer --json`";
    Validation "validate" Validation::SCHEMA,
        "`iosonde validate --json` and `iosonde sqliosim --json`";
    Durability "validate" Durability::SCHEMA,
        "`iosonde validate --durability --json` and `--verify --json`";
    Recording "monitor" Recording::SCHEMA, "`iosonde monitor --json`";
}

fn boxed<T: DeserializeOwned>(value: Value) -> Result<Box<T>, serde_json::Error> {
    serde_json::from_value(value).map(Box::new)
}

/// The schema of what a variant of [`Document`] holds.
fn schema_in<T: JsonSchema>(_variant: fn(Box<T>) -> Document) -> Schema {
    crate::schema_of::<T>()
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
        let mut names: Vec<_> = KINDS.iter().map(Kind::name).collect();
        assert_eq!((names[0], names[10]), ("measurement", "recording"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
        for kind in KINDS {
            let text = format!(r#"{{"schema": "{}"}}"#, kind.schema);
            let error = Document::parse(&text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("this is no whole `{}`", kind.schema)), "{error}");
        }
    }
}
