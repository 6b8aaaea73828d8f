//! The kinds of result documents, one line each. Everything that reads a document by its schema,
//! filters by kind or offers kinds to choose from reads this list.

use schemars::Schema;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::assessment::Assessment;
use crate::capture::Capture;
use crate::cycle::Cycle;
use crate::document::{Body, Published};
use crate::durability::Durability;
use crate::experiment::Experiment;
use crate::fit::Fit;
use crate::fleet::Fleet;
use crate::fleet_job::FleetJob;
use crate::matrix::ReadWriteMatrix;
use crate::measurement::Measurement;
use crate::recording::Recording;
use crate::replay::Replay;
use crate::runs::Runs;
use crate::saturation::Saturation;
use crate::scale::Scale;
use crate::sizes::Sizes;
use crate::sweep::Sweep;
use crate::trace_model::TraceModel;
use crate::validation::Validation;

/// A kind of result document: who makes it, its schema, how to read it.
#[derive(Debug)]
pub struct Kind {
    /// The command that makes such documents; several kinds may share it.
    pub word: &'static str,
    /// The command lines that print such documents, for help.
    pub printed_by: &'static str,
    /// The name of the schema that they follow, with its version.
    pub schema: &'static str,
    /// Reads such a document from a JSON value.
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

/// Makes [`Document`] and the list from one line per kind.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident($body:ty) $word:literal, $printed_by:literal;)*) => {
        /// One result, whatever command made it.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Document {
            $($(#[$doc])* $variant(Box<$body>),)*
        }

        /// Every kind, in the order in which they are offered.
        pub static KINDS: &[Kind] = &[$(Kind {
            word: $word,
            printed_by: $printed_by,
            schema: <$body as Published>::SCHEMA,
            read: |value| Ok(Document::$variant(boxed(value)?)),
        }),*];

        /// The JSON Schema of each kind, as the code describes it, with the name of the kind.
        #[must_use]
        pub fn json_schemas() -> Vec<(&'static str, Schema)> {
            let mut names = KINDS.iter().map(Kind::name);
            vec![$((names.next().unwrap_or_default(), crate::schema_of::<$body>())),*]
        }

        impl Document {
            /// The command that makes such documents.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word,)*
                }
            }

            /// What documents of every kind have in common.
            pub(crate) fn body(&self) -> &dyn Body {
                match self {
                    $(Self::$variant(body) => body.as_ref(),)*
                }
            }

            pub(crate) fn body_mut(&mut self) -> &mut dyn Body {
                match self {
                    $(Self::$variant(body) => body.as_mut(),)*
                }
            }
        }

        /// As the document that it holds, without a name around it.
        impl Serialize for Document {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(body) => body.serialize(serializer),)*
                }
            }
        }
    };
}

kinds! {
    /// Of `iosonde run`.
    Measurement(Measurement) "run", "`iosonde run --json`";
    /// Of `iosonde run --repeat`.
    Runs(Experiment<Runs>) "run", "`iosonde run --repeat --json`";
    /// Of `iosonde assess`.
    Assessment(Assessment) "assess", "`iosonde assess --json`";
    /// Of `iosonde knee`.
    Knee(Experiment<Saturation>) "knee", "`iosonde knee --json`";
    /// Of `iosonde sweep`.
    Sweep(Experiment<Sweep>) "sweep", "`iosonde sweep --json`";
    /// Of `iosonde sizes`.
    Sizes(Experiment<Sizes>) "sizes", "`iosonde sizes --json`";
    /// Of `iosonde scale`.
    Scale(Experiment<Scale>) "scale", "`iosonde scale --json`";
    /// Of `iosonde matrix`.
    Matrix(Experiment<ReadWriteMatrix>) "matrix", "`iosonde matrix --json`";
    /// Of `iosonde iometer`.
    Cycle(Experiment<Cycle>) "iometer", "`iosonde iometer --json`";
    /// Of `iosonde validate` and `iosonde sqliosim`.
    Validation(Experiment<Validation>) "validate",
        "`iosonde validate --json` and `iosonde sqliosim --json`";
    /// Of `iosonde validate --durability` and `--verify`.
    Durability(Experiment<Durability>) "validate",
        "`iosonde validate --durability --json` and `--verify --json`";
    /// Of `iosonde monitor`.
    Recording(Experiment<Recording>) "monitor", "`iosonde monitor --json`";
    /// Of `iosonde fleet run`.
    Fleet(Experiment<Fleet>) "fleet", "`iosonde fleet run --json`";
    /// Of `iosonde fleet assess`, `validate` and `monitor`.
    FleetJob(Experiment<FleetJob>) "fleet",
        "`iosonde fleet assess --json`, `fleet validate --json` and `fleet monitor --json`";
    /// Of `iosonde capture show`.
    Capture(Experiment<Capture>) "capture", "`iosonde capture show --json`";
    /// Of `iosonde capture model`.
    Model(Experiment<TraceModel>) "capture", "`iosonde capture model --json`";
    /// Of `iosonde replay`.
    Replay(Experiment<Replay>) "replay", "`iosonde replay --json`";
    /// Of `iosonde fit`.
    Fit(Experiment<Fit>) "fit", "`iosonde fit --json`";
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
        let all = ["run", "assess", "knee", "sweep", "sizes", "scale", "matrix", "iometer"];
        let last = ["validate", "monitor", "fleet", "capture", "replay", "fit"];
        assert_eq!(kind_words(), [&all[..], &last].concat());
        let mut names: Vec<_> = KINDS.iter().map(Kind::name).collect();
        assert_eq!((names[0], names[11]), ("measurement", "recording"));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
        for kind in KINDS {
            let text = format!(r#"{{"schema": "{}"}}"#, kind.schema);
            let error = Document::parse(&text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!(
                    "this is not a complete \
                `{}`",
                    kind.schema
                )),
                "{error}"
            );
        }
    }
}
