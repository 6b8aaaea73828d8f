//! The languages of a report, and the messages that it is made of.
//!
//! A report consists of messages in Fluent files in `crates/report/language`. `say!` takes the id
//! of a message and fills in its parameters. [`speak`] sets the language for everything that is
//! built and rendered inside it, on this thread. A message that a language lacks is in English.
//! Figures look the same in every language: people quote a report's figures in tickets, and search
//! for the same digits there.
//!
//! Sentences that a document holds are not messages: they are English, and stay so.

use std::cell::Cell;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::packed::{packed, unpacked};
use crate::words;

/// A language that a report can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English, in which every message is there.
    #[default]
    English,
    /// German.
    German,
    /// Hungarian.
    Hungarian,
    /// Spanish.
    Spanish,
    /// Chinese, in simplified characters.
    Chinese,
}

impl Language {
    /// Every language, in the order in which people are offered them.
    pub const ALL: [Self; 5] =
        [Self::English, Self::German, Self::Hungarian, Self::Spanish, Self::Chinese];

    /// Its code, as people type it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Hungarian => "hu",
            Self::Spanish => "es",
            Self::Chinese => "zh",
        }
    }

    /// Its name in the language itself.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::Hungarian => "Magyar",
            Self::Spanish => "Español",
            Self::Chinese => "中文",
        }
    }

    /// Its tag in HTML, such as `zh-Hans`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::Chinese => "zh-Hans",
            other => other.code(),
        }
    }

    /// The language with this code, if there is one.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// Whether PNG pictures have its letters: their typeface has those of Europe.
    #[must_use]
    pub fn is_in_pictures(self) -> bool {
        self != Self::Chinese
    }

    /// The Fluent files with its messages.
    fn files(self) -> Vec<String> {
        let packed: &[&[u8]] = match self {
            Self::English => &[packed!("en"), packed!("en-details")],
            Self::German => &[packed!("de")],
            Self::Hungarian => &[packed!("hu")],
            Self::Spanish => &[packed!("es")],
            Self::Chinese => &[packed!("zh")],
        };
        packed
            .iter()
            .map(|packed| String::from_utf8(unpacked(packed)).unwrap_or_default())
            .collect()
    }
}

thread_local! {
    static SPOKEN: Cell<Language> = const { Cell::new(Language::English) };
}

/// Restores the previous language, even if the code inside panicked.
struct Before(Language);

impl Drop for Before {
    fn drop(&mut self) {
        SPOKEN.set(self.0);
    }
}

/// Does something that builds and renders in this language.
pub fn speak<T>(language: Language, inside: impl FnOnce() -> T) -> T {
    let before = Before(SPOKEN.replace(language));
    let done = inside();
    drop(before);
    done
}

/// The language that is spoken here; English where none was chosen.
#[must_use]
pub fn spoken() -> Language {
    SPOKEN.get()
}

/// The value of a parameter of a message.
#[derive(Debug)]
pub(crate) enum Parameter {
    /// Words, or a figure that is ready to be shown.
    Text(String),
    /// A count, by which a message may choose between one and several.
    Count(u64),
}

impl<T: AsRef<str>> From<T> for Parameter {
    fn from(text: T) -> Self {
        Self::Text(text.as_ref().to_owned())
    }
}

/// A count, by which a message chooses its plural form.
pub(crate) fn count(count: impl TryInto<u64>) -> Parameter {
    Parameter::Count(count.try_into().unwrap_or(u64::MAX))
}

/// A message in the language that is spoken.
macro_rules! say {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::language::message($id, vec![
            $((stringify!($name), $crate::language::Parameter::from($value)),)*
        ])
    };
}
pub(crate) use say;

/// A message by its id, with its parameters.
pub(crate) fn message(id: &str, parameters: Vec<(&'static str, Parameter)>) -> String {
    let mut named = FluentArgs::with_capacity(parameters.len());
    for (name, parameter) in parameters {
        match parameter {
            Parameter::Text(text) => named.set(name, text),
            Parameter::Count(count) => named.set(name, count as f64),
        }
    }
    let said = formatted(spoken(), id, &named).or_else(|| formatted(Language::English, id, &named));
    debug_assert!(said.is_some(), "there is no message `{id}`");
    said.unwrap_or_else(|| id.to_owned())
}

/// A heading for use inside a sentence: most languages write its first letter small.
pub(crate) fn in_sentence(heading: &str) -> String {
    if spoken() == Language::German {
        return heading.to_owned();
    }
    let mut letters = heading.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

type Bundle = FluentBundle<FluentResource>;

/// The messages of each language, in the order of [`Language::ALL`].
static BUNDLES: LazyLock<[Bundle; 5]> = LazyLock::new(|| Language::ALL.map(bundle));

fn bundle(language: Language) -> Bundle {
    let tag: LanguageIdentifier = language.code().parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![tag]);
    // Marks that turn the direction of writing are refused in every report.
    bundle.set_use_isolating(false);
    bundle.set_formatter(Some(|value, _| match value {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        FluentValue::Number(number) => Some(words::count(number.value as u64)),
        _ => None,
    }));
    for file in language.files() {
        // A file with an error in it fails a test; the messages that can be read are kept.
        let resource = FluentResource::try_new(file);
        let resource = resource.unwrap_or_else(|(resource, _)| resource);
        bundle.add_resource_overriding(resource);
    }
    bundle
}

/// A message in one language; `None` if it has none.
fn formatted(language: Language, id: &str, parameters: &FluentArgs<'_>) -> Option<String> {
    let bundle = &BUNDLES[language as usize];
    let pattern = bundle.get_message(id)?.value()?;
    let mut errors = Vec::new();
    let text = bundle.format_pattern(pattern, Some(parameters), &mut errors);
    debug_assert!(errors.is_empty(), "{id} in {language:?}: {errors:?}");
    // A message may take several lines of its file.
    Some(if text.contains('\n') { text.replace('\n', " ") } else { text.into_owned() })
}

#[cfg(test)]
mod tests;
