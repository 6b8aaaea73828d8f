//! The place of a history: a file, or a database of a server.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use servers::ServerUrl;

use crate::error::HistoryError;

/// Where a history is. It shows no password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The path of an SQLite file.
    File(PathBuf),
    /// A database of a PostgreSQL server.
    Postgres(ServerUrl),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(url) => url.fmt(f),
        }
    }
}

/// The history's place: the one that was chosen, or `iosonde/history.db` in the user's data
/// directory, which is made.
///
/// What begins with `postgres://` or `postgresql://` is the URL of a database, anything else a
/// file. A connection string of another form is refused: as the name of a file, it would put a
/// password on disk. The data directory is `$XDG_DATA_HOME`, else `~/.local/share`, on Windows
/// `%LOCALAPPDATA%` (XDG Base Directory Specification 0.8, where a relative path counts as not
/// set).
pub fn place(chosen: Option<OsString>) -> Result<Place, HistoryError> {
    if let Some(chosen) = chosen {
        let text = chosen.to_string_lossy();
        if !ServerUrl::is_one(&text) && workload::secrets::is_connection(&text) {
            return Err(HistoryError::OtherDatabase);
        }
        return match chosen.to_str().filter(|text| ServerUrl::is_one(text)) {
            Some(_) if cfg!(not(feature = "postgres")) => Err(HistoryError::NoPostgres),
            Some(url) => Ok(Place::Postgres(ServerUrl::parse(url)?)),
            None => Ok(Place::File(chosen.into())),
        };
    }
    let path =
        default_path(|name| std::env::var_os(name), cfg!(windows)).ok_or(HistoryError::NoPlace)?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)
            .map_err(|source| HistoryError::Unreachable { path: path.clone(), source })?;
    }
    Ok(Place::File(path))
}

fn default_path(variable: impl Fn(&str) -> Option<OsString>, on_windows: bool) -> Option<PathBuf> {
    let directory =
        |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || directory("HOME").map(|home| home.join(".local/share"));
    let local = || directory("LOCALAPPDATA");
    let data = directory("XDG_DATA_HOME");
    let data = if on_windows {
        // Shells of Unix set HOME there, too; what ran in them had another history.
        data.or_else(local).or_else(home)?
    } else {
        data.or_else(home).or_else(local)?
    };
    Some(data.join("iosonde").join("history.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_data_directory_is_the_one_of_the_xdg_specification() {
        let place = |set: &[(&str, &str)]| {
            let set: Vec<_> = set.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
            let find = |name: &str| set.iter().find(|(n, _)| n == name);
            default_path(|name| find(name).map(|(_, value)| OsString::from(value)), false)
        };
        let home = ("HOME", "/home/a");
        let in_home = Some(PathBuf::from("/home/a/.local/share/iosonde/history.db"));
        assert_eq!(place(&[home]), in_home);
        assert_eq!(place(&[home, ("XDG_DATA_HOME", "data")]), in_home, "relative: not set");
        let set = place(&[home, ("XDG_DATA_HOME", "/data")]);
        assert_eq!(set, Some(PathBuf::from("/data/iosonde/history.db")));
        assert_eq!(place(&[]), None);
    }

    /// Under Git Bash, which sets HOME, the history was another one than in PowerShell.
    #[test]
    fn on_windows_it_is_the_users_local_data() {
        // A path that is absolute on the system that runs the test.
        let (home, local) = if cfg!(windows) { (r"C:\h", r"C:\l") } else { ("/h", "/l") };
        let variable = |name: &str| match name {
            "HOME" => Some(OsString::from(home)),
            "LOCALAPPDATA" => Some(OsString::from(local)),
            _ => None,
        };
        let below = |place: &str| Some(PathBuf::from(place).join("iosonde").join("history.db"));
        assert_eq!(default_path(variable, true), below(local));
        let unix = PathBuf::from(home).join(".local/share/iosonde/history.db");
        assert_eq!(default_path(variable, false), Some(unix));
    }
}
