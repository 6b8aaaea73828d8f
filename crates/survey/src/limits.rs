//! The limits that verdicts are held against: the founding documents' by default, the user's where a file gives them.

use analysis::verdict::{Database, Limits};
use serde::Deserialize;
use thiserror::Error;

/// A limits file that cannot be used.
#[derive(Debug, Error)]
pub enum LimitsError {
    /// The TOML text is wrong; the message has line and column.
    #[error("{0}")]
    Toml(String),
    /// Limits of a role that the database does not have.
    #[error("{database} has no role {role}; there are {roles}")]
    Role {
        /// The database.
        database: &'static str,
        /// The role.
        role: &'static str,
        /// Its roles.
        roles: String,
    },
    /// Limits of a role are not in rising order.
    #[error(
        "the limits of {role} must rise: excellent_ns <= ideal_ns <= acceptable_ns, all above 0"
    )]
    Order {
        /// The role.
        role: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    limits: Vec<Limits>,
}

/// The limits of every role of a database; a TOML text of `[[limits]]` tables replaces those of the roles it names.
pub fn parse_limits(text: &str, database: Database) -> Result<Vec<Limits>, LimitsError> {
    let file: File = toml::from_str(text).map_err(|e| LimitsError::Toml(e.to_string()))?;
    let mut all = database.limits();
    for limits in file.limits {
        if !limits.are_ordered() {
            return Err(LimitsError::Order { role: limits.role.title() });
        }
        let Some(place) = all.iter_mut().find(|l| l.role == limits.role) else {
            let roles: Vec<&str> = database.roles().iter().map(|r| r.title()).collect();
            let (database, role) = (database.title(), limits.role.title());
            return Err(LimitsError::Role { database, role, roles: roles.join(", ") });
        };
        *place = limits;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaces_the_limits_it_names() {
        let text =
            "[[limits]]\nrole = \"log\"\nexcellent_ns = 100\nideal_ns = 200\nacceptable_ns = 300\n";
        let limits = parse_limits(text, Database::Generic).unwrap();
        let log = limits.iter().find(|l| l.role == analysis::verdict::Role::Log).unwrap();
        assert_eq!(log.acceptable_ns, 300);
        assert_eq!(limits.len(), Database::Generic.roles().len(), "the other roles keep theirs");
    }

    #[test]
    fn limits_that_do_not_rise_are_refused() {
        let text =
            "[[limits]]\nrole = \"log\"\nexcellent_ns = 300\nideal_ns = 200\nacceptable_ns = 100\n";
        let parse = |text| parse_limits(text, Database::Sqlite);
        assert!(matches!(parse(text), Err(LimitsError::Order { .. })));
        assert!(parse("[[limits]]\nrole = \"tape\"\n").is_err());
        let other =
            "[[limits]]\nrole = \"dss_data\"\nexcellent_ns = 1\nideal_ns = 2\nacceptable_ns = 3\n";
        let error = parse(other).unwrap_err().to_string();
        assert!(error.contains("SQLite has no role Data warehouse"), "{error}");
    }
}
