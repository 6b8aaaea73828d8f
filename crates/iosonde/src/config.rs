//! The settings in files and in the environment, read once.

use std::sync::OnceLock;

use report::Language;
use settings::{Settings, SettingsError};

use crate::exit::Failure;

static LOADED: OnceLock<Result<Settings, String>> = OnceLock::new();
static NOTHING: Settings =
    Settings { history: None, language: None, limits: None, size: None, files: Vec::new() };

fn loaded() -> &'static Result<Settings, String> {
    LOADED.get_or_init(|| {
        let variable = |name: &str| std::env::var_os(name);
        let languages = Language::ALL.map(Language::code);
        let settings = Settings::load(&variable, &languages);
        if let Ok(Settings { size: Some(size), .. }) = &settings {
            engine::set_usual_size(size.value);
        }
        settings.map_err(|error: SettingsError| error.to_string())
    })
}

/// The settings; empty if they cannot be read, which [`checked`] reports.
pub(crate) fn settings() -> &'static Settings {
    loaded().as_ref().unwrap_or(&NOTHING)
}

/// The settings, or why they cannot be read; for commands that must not run without them.
pub(crate) fn checked() -> Result<&'static Settings, Failure> {
    loaded().as_ref().map_err(|error| Failure::WrongUsage(error.clone()))
}

/// The language of reports, unless a flag names another.
pub(crate) fn language() -> &'static str {
    settings().language.as_ref().map_or("en", |language| language.value.as_str())
}
