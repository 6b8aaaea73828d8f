//! Passwords on the command line: refused before anything else reads the words, and not repeated.
//!
//! A connection string that was pasted where a path is expected would become the name of a file, or
//! stand in an error message. All words are looked at here, so that no command can forget it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use databases::DatabaseUrl;
use history::ServerUrl;
use workload::secrets::{holds_secret, login_like_path};

use crate::exit::Failure;

/// The command whose words after `--` belong to another program.
const STARTER: &str = "monitor";
/// How variables of the environment that iosonde reads begin.
const VARIABLES: &str = "IOSONDE_";

/// Refuses words and variables that hold a password where none is taken.
pub(crate) fn check(words: &[OsString]) -> Result<(), Failure> {
    let mut before: Option<&OsStr> = None;
    for (at, word) in words.iter().enumerate().skip(1) {
        let starts = words.get(1).is_some_and(|first| first == STARTER);
        if starts && word == "--" {
            break;
        }
        if is_secret(before, word) {
            let what = if holds_secret(&word.to_string_lossy()) {
                "looks like a connection string with a password, and is not repeated here. If it \
                 is a path, begin it with `./`"
            } else {
                "is a path in a directory that does not exist, or a login (user/password@host), \
                 and is not repeated here. Create the directory, or begin the path with `./`"
            };
            return Err(Failure::WrongUsage(format!(
                "argument {at} {what}. `--history` takes postgres://user@host/database, and \
                 `--database` the URL of a database. Put passwords into PGPASSWORD, ~/.pgpass, \
                 MYSQL_PWD or SQLCMDPASSWORD"
            )));
        }
        before = Some(word);
    }
    let is_wrong = |(name, value): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        name.starts_with(VARIABLES)
            && is_secret((name == "IOSONDE_HISTORY").then_some(OsStr::new("--history")), value)
    };
    match std::env::vars_os().find(is_wrong) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::WrongUsage(format!(
            "the variable {} looks like a connection string with a password, and is not repeated \
             here. Give a file, or postgres://user@host/database in lower case with the password \
             in PGPASSWORD or ~/.pgpass",
            name.display()
        ))),
    }
}

/// Whether a word holds a password, after this word.
fn is_secret(before: Option<&OsStr>, word: &OsStr) -> bool {
    let word = word.to_string_lossy();
    let (flag, value) = match word.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => (Some(flag.to_owned()), value),
        _ => (before.map(|before| before.to_string_lossy().into_owned()), &*word),
    };
    // These read their URLs themselves, and show them without the password.
    let is_read = match flag.as_deref() {
        Some("--history") => ServerUrl::is_one(value),
        Some("--database") => DatabaseUrl::is_one(value),
        _ => false,
    };
    let mut logins = value.split_whitespace().filter_map(login_like_path);
    let is_login = logins.any(|directory| !Path::new(directory).exists());
    // The name of an existing file is not a secret.
    !is_read && (holds_secret(&word) || is_login) && !Path::new(value).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(line: &[&str]) -> Result<(), String> {
        let words: Vec<OsString> = line.iter().map(OsString::from).collect();
        check(&words).map_err(Failure::into_text)
    }

    /// Each was printed whole by one command or another, or became the name of a file.
    #[test]
    fn a_password_is_refused_wherever_it_is_typed_and_not_repeated() {
        for line in [
            &["iosonde", "run", "host=db password=Zq9xK"][..],
            &["iosonde", "list", "--history", "POSTGRES://anna:Zq9xK@db"],
            &["iosonde", "list", "--history=mysql://anna:Zq9xK@db"],
            &["iosonde", "report", "postgres://anna:Zq9xK@db/x"],
            &["iosonde", "report", "--history", "scott/Zq9xK@orcl"],
            &["iosonde", "monitor", "--database", "jdbc:oracle:thin:scott/Zq9xK@db"],
            &["iosonde", "monitor", "--attach", "postgres://anna:Zq9xK@db"],
            &["iosonde", "run", "--", "postgres://anna:Zq9xK@db"],
            &["iosonde", "run", "--password=Zq9xK"],
            &["iosonde", "diskspd", "-b4K", "Server=db;PWD=Zq9xK"],
        ] {
            let refused = checked(line).unwrap_err();
            assert!(!refused.contains("Zq9xK"), "{refused}");
        }
    }

    /// `-o data/run@after` was called a connection string; the directory `data` was missing.
    #[test]
    fn a_path_that_may_be_a_login_is_refused_for_its_missing_directory() {
        let refused = checked(&["iosonde", "report", "-o", "nowhere/Zq9xK@after"]).unwrap_err();
        assert!(refused.contains("a directory that does not exist"), "{refused}");
        assert!(!refused.contains("Zq9xK") && !refused.contains("connection"), "{refused}");
    }

    #[test]
    fn ordinary_words_and_our_urls_pass() {
        for line in [
            &["iosonde", "list", "--history", "postgres://anna:Zq9xK@db/x"][..],
            &["iosonde", "list", "--history=postgresql://anna:Zq9xK@db/x"],
            &["iosonde", "monitor", "--database", "mysql://anna:Zq9xK@db"],
            &["iosonde", "monitor", "--", "psql", "postgres://anna:Zq9xK@db"],
            &["iosonde", "run", "/tmp/a@b", "--destroy", "/tmp/a@b"],
            &["iosonde", "fleet", "run", "--ssh", "anna@db1", "--targets", "db1:/data"],
            &["iosonde", "history", "show", "@before-upgrade"],
        ] {
            assert_eq!(checked(line), Ok(()), "{line:?}");
        }
        let directory = tempfile::tempdir().unwrap();
        assert!(!is_secret(None, directory.path().join("a@b").as_os_str()));
    }
}
