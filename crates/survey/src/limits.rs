//! The limits that verdicts are held against: the founding documents' by default, the user's where
//! a file gives them.

use analysis::verdict;
use results::verdict::{Database, Limits, Role};
use serde::Deserialize;
use thiserror::Error;

use crate::Publish;

/// A limits file that cannot be used.
#[derive(Debug, Error)]
pub enum LimitsError {
    /// The TOML text is wrong; the message has line and column.
    #[error("{0}")]
    Toml(String),
    /// Limits of a role that the database does not have.
    #[error("{database} has no role {role}; there are {roles}")]
    Role {
        /// The database that the limits are for.
        database: &'static str,
        /// The role that it does not have.
        role: &'static str,
        /// The names of the roles that it has.
        roles: String,
    },
    /// Limits of a role are not in rising order.
    #[error(
        "the limits of {role} must rise: excellent_ns <= ideal_ns <= acceptable_ns, all above 0"
    )]
    Order {
        /// The role whose limits are wrong.
        role: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    limits: Vec<Limits>,
}

/// The roles that storage has for a database, in the order of a report.
#[must_use]
pub fn roles_of(database: Database) -> &'static [Role] {
    match database {
        Database::Sqlite => &[Role::Log, Role::OltpData],
        Database::RocksDb => &[Role::Log, Role::OltpData, Role::Compaction],
        _ => &[Role::Log, Role::OltpData, Role::DssData],
    }
}

/// The limits of each role of a database.
///
/// Published limits are those of SQL Server and, for single-block reads, of Oracle. Where a
/// database publishes none, those of SQL Server hold, because the same thing waits for the same
/// I/O; the source says so.
#[must_use]
pub fn limits_of(database: Database) -> Vec<Limits> {
    let limits = |role: &Role| {
        let published = verdict::Limits::of(verdict::Role::from_published(*role)).publish();
        let source = match database {
            Database::Generic | Database::SqlServer => published.source.clone(),
            Database::Oracle if *role == Role::OltpData => format!(
                "{}; the Oracle Database 2 Day + Performance Tuning Guide (Monitoring I/O) as \
                 well calls single-block reads below 10 ms satisfactory",
                published.source
            ),
            _ => format!(
                "{} publishes no limits; the documents' limits are used ({})",
                database.title(),
                published.source
            ),
        };
        Limits { source, ..published }
    };
    roles_of(database).iter().map(limits).collect()
}

/// The limits of every role of a database; a TOML text of `[[limits]]` tables replaces those of the
/// roles it names.
pub fn parse_limits(text: &str, database: Database) -> Result<Vec<Limits>, LimitsError> {
    let file: File = toml::from_str(text).map_err(|e| LimitsError::Toml(e.to_string()))?;
    let mut all = limits_of(database);
    for limits in file.limits {
        if !verdict::Limits::from_published(limits.clone()).are_ordered() {
            return Err(LimitsError::Order { role: limits.role.title() });
        }
        let Some(place) = all.iter_mut().find(|l| l.role == limits.role) else {
            let roles: Vec<&str> = roles_of(database).iter().map(|r| r.title()).collect();
            let (database, role) = (database.title(), limits.role.title());
            return Err(LimitsError::Role { database, role, roles: roles.join(", ") });
        };
        *place = limits;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use results::verdict::Statistic;

    use super::*;

    #[test]
    fn every_database_names_the_source_of_its_limits() {
        for database in Database::ALL {
            let limits = limits_of(database);
            let ordered = |l: &Limits| verdict::Limits::from_published(l.clone()).are_ordered();
            assert!(limits.iter().all(ordered));
            assert_eq!(limits.iter().map(|l| l.role).collect::<Vec<_>>(), roles_of(database));
            assert!(limits.iter().all(|l| l.source.contains("Ruthruff")));
            let published = matches!(database, Database::Generic | Database::SqlServer);
            let own = limits.iter().any(|l| l.source.contains("publishes no limits"));
            assert_eq!(own, !published, "{}", database.title());
        }
        assert!(limits_of(Database::Oracle)[1].source.contains("single-block reads below 10 ms"));
    }

    #[test]
    fn limits_are_edited_in_toml() {
        let limits: Limits = toml::from_str(
            "role = 'log'\nexcellent_ns = 100_000\nideal_ns = 250_000\nacceptable_ns = 1_000_000\n",
        )
        .unwrap();
        assert_eq!(limits.source, "set by the user");
        assert_eq!((limits.statistic, limits.tail_factor), (Statistic::Mean, 4));
        let published = limits_of(Database::Generic).remove(2);
        let written = toml::to_string(&published).unwrap();
        assert_eq!(toml::from_str::<Limits>(&written).unwrap(), published);
        assert!(toml::from_str::<Limits>("role = 'log'\nideal_ms = 1").is_err());
    }

    #[test]
    fn a_file_replaces_the_limits_it_names() {
        let text =
            "[[limits]]\nrole = \"log\"\nexcellent_ns = 100\nideal_ns = 200\nacceptable_ns = 300\n";
        let limits = parse_limits(text, Database::Generic).unwrap();
        let log = limits.iter().find(|l| l.role == Role::Log).unwrap();
        assert_eq!(log.acceptable_ns, 300);
        assert_eq!(limits.len(), roles_of(Database::Generic).len(), "the other roles keep theirs");
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
