//! Settings, so that nobody types them each time: the history, the size of new test files, the
//! limits of the roles and the language.
//!
//! A flag wins over a variable of the environment, that over the user's file, that over the file of
//! the host. Every value knows where it comes from, so that nobody has to guess.

mod read;
mod shown;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use workload::Bytes;

pub use read::SettingsError;
pub use shown::InForce;

/// Names the only file that is read, instead of the two usual ones; empty for none.
pub const FILE_VARIABLE: &str = "IOSONDE_CONFIG";
/// The settings file of the host.
const HOST_FILE: &str = "/etc/iosonde.toml";

/// A setting as it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its key in a settings file.
    pub key: &'static str,
    /// The environment variable that also sets it.
    pub variable: &'static str,
    /// What holds where it is not set.
    pub usual: &'static str,
}

/// All settings, in alphabetical order.
pub const SETTINGS: [Setting; 4] = [
    Setting {
        key: "history",
        variable: "IOSONDE_HISTORY",
        usual: "iosonde/history.db in the user's data directory",
    },
    Setting { key: "language", variable: "IOSONDE_LANGUAGE", usual: "en" },
    Setting { key: "limits", variable: "IOSONDE_LIMITS", usual: "those of METHODS.md" },
    Setting { key: "size", variable: "IOSONDE_SIZE", usual: "1 GiB; assess: by a rule" },
];

/// Which place a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An environment variable of this name.
    Variable(&'static str),
    /// A file, and the line in it.
    File(PathBuf, usize),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "the variable {name}"),
            Self::File(path, line) => write!(f, "{}, line {line}", path.display()),
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set<T> {
    /// The value that holds.
    pub value: T,
    /// The place where it was set.
    pub source: Source,
}

/// The settings of the user; defaults for everything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where results are kept: a file, or the URL of a PostgreSQL database.
    pub history: Option<Set<OsString>>,
    /// The code of the language of reports.
    pub language: Option<Set<String>>,
    /// A file with limits of the roles.
    pub limits: Option<Set<PathBuf>>,
    /// Size of a new test file, where neither a flag nor a plan says one.
    pub size: Option<Set<Bytes>>,
    /// The files that were looked for, and whether they were there.
    pub files: Vec<(PathBuf, bool)>,
}

/// A variable of the environment by its name.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Settings {
    /// Reads the files and the environment. `languages` are the codes that are known.
    pub fn load(variable: Variables<'_>, languages: &[&str]) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for path in files(variable) {
            let is_there = settings.read(&path, languages)?;
            settings.files.push((path, is_there));
        }
        settings.read_environment(variable, languages)?;
        Ok(settings)
    }
}

/// The files in the order in which they are read; what a later one says counts.
fn files(variable: Variables<'_>) -> Vec<PathBuf> {
    if let Some(only) = variable(FILE_VARIABLE) {
        return (!only.is_empty()).then(|| only.into()).into_iter().collect();
    }
    // XDG Base Directory Specification 0.8: a relative path counts as not set.
    let directory =
        |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let user = directory("XDG_CONFIG_HOME")
        .or_else(|| directory("HOME").map(|home| home.join(".config")))
        .or_else(|| directory("APPDATA"));
    let host = match directory("ProgramData") {
        Some(data) if cfg!(windows) => data.join("iosonde").join("config.toml"),
        _ => Path::new(HOST_FILE).to_owned(),
    };
    let user = user.map(|directory| directory.join("iosonde").join("config.toml"));
    [Some(host), user].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_file_is_where_the_xdg_specification_has_it() {
        let found = |set: &[(&str, &str)]| {
            let set: Vec<(String, OsString)> =
                set.iter().map(|(n, v)| ((*n).to_owned(), OsString::from(v))).collect();
            files(&|name| set.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone()))
        };
        let host = PathBuf::from(HOST_FILE);
        // A path of Windows is whole with its drive.
        let (a, c) = if cfg!(windows) { ("C:/home/a", "C:/c") } else { ("/home/a", "/c") };
        let below = |directory: &str, path: &str| Path::new(directory).join(path);
        let home = below(a, ".config/iosonde/config.toml");
        assert_eq!(found(&[("HOME", a)]), [host.clone(), home.clone()]);
        let set = [("HOME", a), ("XDG_CONFIG_HOME", "relative")];
        assert_eq!(found(&set), [host.clone(), home]);
        let set = [("HOME", a), ("XDG_CONFIG_HOME", c)];
        assert_eq!(found(&set), [host.clone(), below(c, "iosonde/config.toml")]);
        let set = [("APPDATA", c)];
        assert_eq!(found(&set), [host.clone(), below(c, "iosonde/config.toml")]);
        assert_eq!(found(&[]), [host]);
        assert_eq!(
            found(&[("HOME", "/home/a"), (FILE_VARIABLE, "/x.toml")]),
            [PathBuf::from("/x.toml")]
        );
        assert!(found(&[("HOME", "/home/a"), (FILE_VARIABLE, "")]).is_empty());
    }
}
