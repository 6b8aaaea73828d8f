//! The limits that verdicts are held against: the founding documents' by default, the user's where a file gives them.

use analysis::verdict::{Limits, Role};
use serde::Deserialize;
use thiserror::Error;

/// A limits file that cannot be used.
#[derive(Debug, Error)]
pub enum LimitsError {
    /// The TOML text is wrong; the message has line and column.
    #[error("{0}")]
    Toml(String),
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

/// The limits of every role, by default.
#[must_use]
pub fn default_limits() -> Vec<Limits> {
    Role::ALL.into_iter().map(Limits::of).collect()
}

/// The limits of every role; a TOML text of `[[limits]]` tables replaces those of the roles it names.
pub fn parse_limits(text: &str) -> Result<Vec<Limits>, LimitsError> {
    let file: File = toml::from_str(text).map_err(|e| LimitsError::Toml(e.to_string()))?;
    let mut all = default_limits();
    for limits in file.limits {
        if !limits.are_ordered() {
            return Err(LimitsError::Order { role: limits.role.title() });
        }
        for place in all.iter_mut().filter(|l| l.role == limits.role) {
            *place = limits.clone();
        }
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
        let limits = parse_limits(text).unwrap();
        let log = limits.iter().find(|l| l.role == Role::Log).unwrap();
        assert_eq!(log.acceptable_ns, 300);
        assert_eq!(limits.len(), Role::ALL.len(), "the other roles keep theirs");
    }

    #[test]
    fn limits_that_do_not_rise_are_refused() {
        let text =
            "[[limits]]\nrole = \"log\"\nexcellent_ns = 300\nideal_ns = 200\nacceptable_ns = 100\n";
        assert!(matches!(parse_limits(text), Err(LimitsError::Order { .. })));
        assert!(parse_limits("[[limits]]\nrole = \"tape\"\n").is_err());
    }
}
