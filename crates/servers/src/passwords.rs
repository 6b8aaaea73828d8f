//! Passwords that are not in the URL: `PGPASSWORD`, and libpq's password file.
//!
//! The file has lines `host:port:database:user:password`; `*` matches anything, `\` escapes a `:`
//! or `\`, and the first line that matches is used (PostgreSQL's manual, "The Password File").

use std::path::{Path, PathBuf};

use postgres::Config;
use postgres::config::Host;

/// No password file is larger.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The port of a URL without one.
const PORT: u16 = 5432;

/// What a line has to fit.
struct Login<'a> {
    host: &'a str,
    port: u16,
    database: &'a str,
    user: &'a str,
}

/// Where a password for a connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// The password.
    Password(String),
    /// This file, which others may read as well, so that it is not used.
    Open(PathBuf),
    /// Nowhere.
    Nothing,
}

/// The password for a connection whose URL has none.
pub(crate) fn find(config: &Config) -> Found {
    if let Some(password) = std::env::var("PGPASSWORD").ok().filter(|password| !password.is_empty())
    {
        return Found::Password(password);
    }
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
        Some(Path::new(&home).join(".pgpass"))
    });
    match file {
        Some(file) if file.is_file() && !is_private(&file) => Found::Open(file),
        Some(file) => in_file(&file, config).map_or(Found::Nothing, Found::Password),
        None => Found::Nothing,
    }
}

fn in_file(file: &Path, config: &Config) -> Option<String> {
    let text = inspect::reading::text(file, FILE_BYTES_MAX).ok()?;
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let ports = config.get_ports();
    config.get_hosts().iter().enumerate().find_map(|(index, host)| {
        // One port may be for all hosts.
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(PORT);
        matching(&text, &Login { host: name(host), port, database, user })
    })
}

fn name(host: &Host) -> &str {
    match host {
        Host::Tcp(name) => name,
        // The file calls every socket so.
        #[cfg(unix)]
        Host::Unix(_) => "localhost",
    }
}

/// What others may do with a file.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// As libpq, a file that others can read is not believed.
#[cfg(unix)]
fn is_private(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & OTHERS == 0)
}

#[cfg(not(unix))]
fn is_private(file: &Path) -> bool {
    file.is_file()
}

/// The password of the first line that fits.
fn matching(text: &str, wanted: &Login<'_>) -> Option<String> {
    let port = wanted.port.to_string();
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, number, database, user, password] =
            <[String; 5]>::try_from(fields(line)).ok()?;
        let fits = |field: &str, value: &str| field == "*" || field == value;
        let all = fits(&host, wanted.host)
            && fits(&number, &port)
            && fits(&database, wanted.database)
            && fits(&user, wanted.user);
        all.then_some(password)
    })
}

/// The fields of a line; what follows the fifth `:` is not looked at.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let plain = match character {
            ':' if fields.len() == 5 => break,
            ':' => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(last) = fields.last_mut() {
            last.push(plain);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Login<'_> = Login { host: "db", port: 5433, database: "orders", user: "anna" };

    #[test]
    fn the_first_line_that_fits_holds() {
        let file =
            "# ours\ndb:5432:*:*:wrong port\nshort:line\ndb:*:orders:anna:first\n*:*:*:*:any\n";
        assert_eq!(matching(file, &WANTED).as_deref(), Some("first"));
        let other = Login { user: "bob", ..WANTED };
        assert_eq!(matching(file, &other).as_deref(), Some("any"));
        assert_eq!(matching("db:5433:orders:bob:x\n", &WANTED), None);
    }

    #[test]
    fn a_backslash_takes_the_meaning_away() {
        let file = r"db:5433:orders:anna:a\:b\\c";
        assert_eq!(matching(file, &WANTED).as_deref(), Some(r"a:b\c"));
        let named = Login { host: "::1", ..WANTED };
        assert_eq!(matching(r"\:\:1:*:*:*:six", &named).as_deref(), Some("six"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_not_believed() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(is_private(file.path()));
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(!is_private(file.path()));
        assert!(!is_private(Path::new("/")));
    }

    proptest::proptest! {
        /// Text that is escaped as the manual says comes back unchanged, and nothing panics.
        #[test]
        fn any_password_comes_back(password in "[^\n\r]{0,20}", noise in "[^\r]{0,60}") {
            let escaped = password.replace('\\', r"\\").replace(':', r"\:");
            let line = format!("db:5433:orders:anna:{escaped}\n");
            proptest::prop_assert_eq!(matching(&line, &WANTED), Some(password));
            let _ = matching(&noise, &WANTED);
        }
    }
}
