//! The settings in force, printed for people and for programs.

use std::fmt;

use serde::Serialize;

use crate::{SETTINGS, Set, Setting, Settings};

/// Every setting with its value and place, and the files that were looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InForce {
    settings: Vec<Row>,
    files: Vec<File>,
}

/// A setting; without a source, it is as the program has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Row {
    key: &'static str,
    variable: &'static str,
    value: Option<String>,
    source: Option<String>,
    usual: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct File {
    path: String,
    exists: bool,
}

impl Settings {
    /// The settings in force. The history is shown as the caller shows places, without a password.
    #[must_use]
    pub fn in_force(&self, history: Option<&str>) -> InForce {
        fn split<T>(set: Option<&Set<T>>, show: impl FnOnce(&T) -> String) -> Shown {
            set.map(|set| (show(&set.value), set.source.to_string()))
        }
        let rows = SETTINGS.map(|Setting { key, variable, usual }| {
            let set = match key {
                "history" => {
                    split(self.history.as_ref(), |_| history.unwrap_or_default().to_owned())
                }
                "language" => split(self.language.as_ref(), Clone::clone),
                "limits" => split(self.limits.as_ref(), |path| path.display().to_string()),
                _ => split(self.size.as_ref(), ToString::to_string),
            };
            let (value, source) = set.unzip();
            Row { key, variable, value, source, usual }
        });
        let files = self.files.iter();
        let file = |(path, exists): &(std::path::PathBuf, bool)| File {
            path: path.display().to_string(),
            exists: *exists,
        };
        InForce { settings: rows.into(), files: files.map(file).collect() }
    }
}

/// A value as text, and its place.
type Shown = Option<(String, String)>;

impl fmt::Display for InForce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.settings {
            let value = row.value.as_deref().unwrap_or(row.usual);
            writeln!(f, "{:<9} {value}", row.key)?;
            writeln!(f, "{:<9}   {}", "", row.source.as_deref().unwrap_or("not set"))?;
        }
        writeln!(
            f,
            "\nFlags win over variables (IOSONDE_HISTORY and so on), those over files. Files, the \
             last one wins:"
        )?;
        for file in &self.files {
            writeln!(f, "  {}{}", file.path, if file.exists { "" } else { " (not there)" })?;
        }
        Ok(())
    }
}
