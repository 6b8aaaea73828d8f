//! `--language`: the language of results.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use report::Language;

/// The language of what a command shows of its results; the same for every command that does.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LanguageArgs {
    /// Language of the report, on the terminal and in files; sentences stored in the result stay in
    /// English
    #[arg(long, value_name = "LANGUAGE", value_parser = languages(),
        default_value = crate::config::language())]
    pub language: Language,
}

/// The languages by their codes, as help lists them.
fn languages() -> impl TypedValueParser<Value = Language> {
    let value = |language: Language| PossibleValue::new(language.code()).help(language.title());
    let codes = PossibleValuesParser::new(Language::ALL.map(value));
    codes.try_map(|code| Language::of_code(&code).ok_or("it is not one of the languages"))
}
