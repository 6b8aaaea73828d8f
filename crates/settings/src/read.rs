//! Reading settings: a file of TOML, and variables of the environment.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;
use workload::{Bytes, secrets};

use crate::{SETTINGS, Set, Settings, Source, Variables};

/// A larger file does not hold settings.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The smallest test file that can be made.
const SIZE_MIN: u64 = 4096;

/// Why the settings cannot be used.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// A settings file cannot be read.
    #[error("cannot read the settings `{path}`: {source}")]
    Unreadable {
        /// The settings file that cannot be read.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A settings file has an error.
    #[error("`{path}`, line {line}: {what}")]
    File {
        /// The settings file with the error.
        path: PathBuf,
        /// The number of the line, counted from 1.
        line: usize,
        /// What is wrong, and what the user can do.
        what: String,
    },
    /// A value of a setting is wrong.
    #[error("{source_of}: {what}")]
    Value {
        /// The place where it was set.
        source_of: Source,
        /// What is wrong, and what the user can do.
        what: String,
    },
}

/// The content of a settings file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    history: Option<Spanned<String>>,
    language: Option<Spanned<String>>,
    limits: Option<Spanned<String>>,
    size: Option<Spanned<String>>,
}

impl Settings {
    /// Takes what a file says; `false` without a file.
    pub(crate) fn read(&mut self, path: &Path, languages: &[&str]) -> Result<bool, SettingsError> {
        let unreadable = |source| SettingsError::Unreadable { path: path.to_owned(), source };
        match std::fs::metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(unreadable(error)),
            Ok(_) => {}
        }
        let text = inspect::reading::text(path, FILE_BYTES_MAX).map_err(unreadable)?;
        self.take(path, &text, languages)?;
        Ok(true)
    }

    /// Takes what the text of a file says.
    fn take(&mut self, path: &Path, text: &str, languages: &[&str]) -> Result<(), SettingsError> {
        let line_of = |at: usize| 1 + text.bytes().take(at).filter(|b| *b == b'\n').count();
        let file: File = toml::from_str(text).map_err(|error| SettingsError::File {
            path: path.to_owned(),
            line: line_of(error.span().map_or(0, |span| span.start)),
            // The message may quote a value.
            what: secrets::concealed(error.message()).into_owned(),
        })?;
        let split = |value: Spanned<String>| {
            let line = line_of(value.span().start);
            (value.into_inner(), Source::File(path.to_owned(), line))
        };
        if let Some((text, source)) = file.history.map(split) {
            check_history(text.as_ref(), &source)?;
            let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
            if !is_url && !Path::new(&text).is_absolute() {
                let what = "the history must be a whole path or postgres://…, because a file of \
                            settings has no current directory";
                return Err(value(source, what));
            }
            self.history = Some(Set { value: text.into(), source });
        }
        if let Some((text, source)) = file.limits.map(split) {
            check_secret(text.as_ref(), &source)?;
            if !Path::new(&text).is_absolute() {
                return Err(value(source, "the file of limits must be a whole path"));
            }
            self.limits = Some(Set { value: text.into(), source });
        }
        if let Some((text, source)) = file.language.map(split) {
            check_secret(text.as_ref(), &source)?;
            self.language = Some(language(&text, source, languages)?);
        }
        if let Some((text, source)) = file.size.map(split) {
            check_secret(text.as_ref(), &source)?;
            self.size = Some(size(&text, source)?);
        }
        Ok(())
    }

    /// Takes what the environment says. An empty variable is one that is not set.
    pub(crate) fn read_environment(
        &mut self,
        variable: Variables<'_>,
        languages: &[&str],
    ) -> Result<(), SettingsError> {
        for setting in SETTINGS {
            let Some(found) = variable(setting.variable).filter(|value| !value.is_empty()) else {
                continue;
            };
            let source = Source::Variable(setting.variable);
            match setting.key {
                "history" => check_history(&found, &source)?,
                _ => check_secret(&found, &source)?,
            }
            match setting.key {
                "history" => self.history = Some(Set { value: found, source }),
                "limits" => self.limits = Some(Set { value: found.into(), source }),
                "language" => {
                    self.language = Some(language(&text(&found), source, languages)?);
                }
                _ => self.size = Some(size(&text(&found), source)?),
            }
        }
        Ok(())
    }
}

fn text(value: &OsStr) -> String {
    value.to_string_lossy().into_owned()
}

fn value(source_of: Source, what: impl Into<String>) -> SettingsError {
    SettingsError::Value { source_of, what: what.into() }
}

/// Refuses a history whose name is a connection string of another form.
fn check_history(text: &OsStr, source: &Source) -> Result<(), SettingsError> {
    let text = text.to_string_lossy();
    let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
    if is_url || !secrets::is_connection(&text) {
        return Ok(());
    }
    let what = "the history looks like a connection string. Give a file, or \
                postgres://user@host/database in lower case, with the password in PGPASSWORD or \
                ~/.pgpass";
    Err(value(source.clone(), what))
}

/// Refuses a value that holds a password, without repeating it.
fn check_secret(text: &OsStr, source: &Source) -> Result<(), SettingsError> {
    if secrets::holds_secret(&text.to_string_lossy()) {
        return Err(value(
            source.clone(),
            "the value looks like a connection string with a password",
        ));
    }
    Ok(())
}

fn language(text: &str, source: Source, known: &[&str]) -> Result<Set<String>, SettingsError> {
    if known.contains(&text) {
        return Ok(Set { value: text.to_owned(), source });
    }
    let what = format!("there is no language `{text}`; there are {}", known.join(", "));
    Err(value(source, what))
}

fn size(text: &str, source: Source) -> Result<Set<Bytes>, SettingsError> {
    match text.parse::<Bytes>() {
        Ok(bytes) if bytes.0 >= SIZE_MIN => Ok(Set { value: bytes, source }),
        Ok(_) => Err(value(source, format!("a test file of {text} is too small; write `10G`"))),
        Err(error) => Err(value(source, error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::ffi::OsString;

    use proptest::prelude::*;

    const LANGUAGES: [&str; 2] = ["en", "de"];

    fn taken(text: &str) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        settings.take(Path::new("/c.toml"), text, &LANGUAGES).map(|()| settings)
    }

    #[test]
    fn a_file_says_what_it_sets_and_where() {
        let db = if cfg!(windows) { "C:/h.db" } else { "/h.db" };
        let text = format!("# settings\nhistory = \"{db}\"\nsize = \"20G\"\n\nlanguage = \"de\"\n");
        let settings = taken(&text).unwrap();
        let at = |line| Source::File("/c.toml".into(), line);
        assert_eq!(settings.history, Some(Set { value: db.into(), source: at(2) }));
        assert_eq!(settings.size, Some(Set { value: Bytes(20 << 30), source: at(3) }));
        assert_eq!(settings.language, Some(Set { value: "de".to_owned(), source: at(5) }));
        assert_eq!(settings.limits, None);
        assert_eq!(settings.size.unwrap().source.to_string(), "/c.toml, line 3");
    }

    /// A setting with a typing error that is passed over in silence is one that does nothing.
    #[test]
    fn what_is_wrong_is_said_with_its_line_and_the_remedy() {
        for (text, part) in [
            ("\nhistroy = \"/h\"", "line 2: unknown field"),
            ("size = \"20 G\"\nsize = \"1G\"", "line 2"),
            ("size = 20", "line 1: invalid type"),
            ("size = \"twenty\"", "line 1: `twenty` is not a size"),
            ("size = \"1\"", "too small"),
            ("\n\nlanguage = \"fr\"", "line 3: there is no language `fr`; there are en, de"),
            ("history = \"h.db\"", "must be a whole path"),
            ("limits = \"l.toml\"", "must be a whole path"),
            ("size", "line 1"),
        ] {
            let error = taken(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// The history was a file named with the password, and other values were quoted whole.
    #[test]
    fn a_connection_string_is_refused_and_not_repeated() {
        for text in [
            "history = \"/x;password=Zq9xK\"",
            "history = \"POSTGRES://anna:Zq9xK@db\"",
            "history = \"host=db password=Zq9xK\"",
            "limits = \"mysql://anna:Zq9xK@db\"",
            "size = \"Server=db;Pwd=Zq9xK\"",
            "language = \"postgres://anna:Zq9xK@db\"",
            "size = [\"postgres://anna:Zq9xK@db\"]",
        ] {
            let error = taken(text).unwrap_err().to_string();
            assert!(error.contains("line 1") && !error.contains("Zq9xK"), "{text}: {error}");
        }
        let wrong = |_: &str| Some(OsString::from("host=db password=Zq9xK"));
        let error = Settings::default().read_environment(&wrong, &LANGUAGES).unwrap_err();
        assert!(!error.to_string().contains("Zq9xK"), "{error}");
        taken("history = \"postgres://anna@db/shop\"").unwrap();
    }

    #[test]
    fn the_environment_wins_and_an_empty_variable_is_none() {
        let mut settings = taken("size = \"1G\"\nlanguage = \"de\"").unwrap();
        let variable = |name: &str| match name {
            "IOSONDE_SIZE" => Some(OsString::from("2G")),
            "IOSONDE_LANGUAGE" => Some(OsString::new()),
            _ => None,
        };
        settings.read_environment(&variable, &LANGUAGES).unwrap();
        let size = settings.size.unwrap();
        assert_eq!((size.value, size.source), (Bytes(2 << 30), Source::Variable("IOSONDE_SIZE")));
        assert_eq!(settings.language.unwrap().value, "de");
        let wrong = |_: &str| Some(OsString::from("x"));
        let error = Settings::default().read_environment(&wrong, &LANGUAGES).unwrap_err();
        assert!(error.to_string().contains("the variable IOSONDE_LANGUAGE"), "{error}");
    }

    #[test]
    fn the_users_file_wins_over_the_hosts_and_none_is_needed() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        std::fs::write(path("host"), "size = \"1G\"\nlanguage = \"de\"").unwrap();
        std::fs::write(path("user"), "size = \"2G\"").unwrap();
        let mut settings = Settings::default();
        assert!(settings.read(&path("host"), &LANGUAGES).unwrap());
        assert!(settings.read(&path("user"), &LANGUAGES).unwrap());
        assert!(!settings.read(&path("none"), &LANGUAGES).unwrap());
        assert_eq!(settings.size.unwrap().value, Bytes(2 << 30));
        assert_eq!(settings.language.unwrap().value, "de");
        let error = Settings::default().read(place.path(), &LANGUAGES).unwrap_err();
        assert!(error.to_string().contains("cannot read the settings"), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(?s).{0,80}") {
            let _ = taken(&text);
        }

        #[test]
        fn any_value_is_read_or_refused(text in ".{0,20}", key in 0usize..4) {
            let line = format!("{} = {text:?}", SETTINGS[key].key);
            let _ = taken(&line);
        }
    }
}
