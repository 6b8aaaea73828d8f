//! `iosonde schema`: the schemas of everything that iosonde writes for other programs to read.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use results::{COMPUTED, KINDS, published_schema};

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
    Json,
    Xml(fn() -> String),
}

/// Result documents first, then documents that are computed from them or stand alone.
static PUBLISHED: LazyLock<Vec<PublishedSchema>> = LazyLock::new(|| {
    let results = KINDS.iter().map(|kind| (kind.name(), kind.printed_by));
    let json = |(name, printed_by)| PublishedSchema {
        name,
        about: format!("The result of {printed_by}"),
        language: Language::Json,
    };
    let profile = PublishedSchema {
        name: "diskspd-profile",
        about: "A profile of `iosonde diskspd -X`, as an XML schema".to_owned(),
        language: Language::Xml(dialects::diskspd::profile::schema),
    };
    results.chain(COMPUTED).map(json).chain([profile]).collect()
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
    /// Prints the whole schema, which refers to nothing outside itself.
    pub(crate) fn print(&self) -> Result<Outcome, Failure> {
        print(&match self.language {
            Language::Json => json(&published_schema(self.name))?,
            Language::Xml(schema) => schema(),
        })?;
        Ok(Outcome::Done)
    }
}
