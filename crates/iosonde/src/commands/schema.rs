//! `iosonde schema`: the schemas of everything that iosonde writes for other programs to read.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use results::{Comparison, Drift, KINDS, Schema, Trend, schema_of};

use crate::commands::run::json;
use crate::exit::{Failure, Outcome, print};

/// A schema by its name.
#[derive(Debug, Clone)]
pub(crate) struct PublishedSchema {
    name: &'static str,
    about: String,
    language: Language,
}

#[derive(Debug, Clone, Copy)]
enum Language {
    Json(fn() -> Schema),
    Xml(fn() -> String),
}

/// Result documents first, then what is computed from them or stands alone.
static PUBLISHED: LazyLock<Vec<PublishedSchema>> = LazyLock::new(|| {
    let results = KINDS.iter().map(|kind| (kind.name(), kind.printed_by, kind.json_schema));
    let others: [(_, _, fn() -> Schema); 4] = [
        ("comparison", "`iosonde history compare --json`", schema_of::<Comparison>),
        ("trend", "`iosonde history trend --json`", schema_of::<Trend>),
        ("drift", "`iosonde history drift --json`", schema_of::<Drift>),
        ("inspection", "`iosonde inspect --json`", schema_of::<inspect::Inspection>),
    ];
    let json = |(name, printed_by, schema)| PublishedSchema {
        name,
        about: format!("The result of {printed_by}"),
        language: Language::Json(schema),
    };
    let profile = PublishedSchema {
        name: "diskspd-profile",
        about: "A profile of `iosonde diskspd -X`, as an XML schema".to_owned(),
        language: Language::Xml(dialects::diskspd::profile::schema),
    };
    results.chain(others).map(json).chain([profile]).collect()
});

impl ValueEnum for PublishedSchema {
    fn value_variants<'a>() -> &'a [Self] {
        &PUBLISHED
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).help(&self.about))
    }
}

impl PublishedSchema {
    /// Prints the whole schema; it refers to nothing outside itself.
    pub(crate) fn print(&self) -> Result<Outcome, Failure> {
        print(&match self.language {
            Language::Json(schema) => json(&schema())?,
            Language::Xml(schema) => schema(),
        })?;
        Ok(Outcome::Done)
    }
}
