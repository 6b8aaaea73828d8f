//! What a database needs, as people write it: `oltp=5000iops,log=2000/s,scan=800MiBps` or a size.

use analysis::verdict::NAMED_NEEDS;
use results::verdict::{Database, Need, Role};
use thiserror::Error;

use crate::Publish;
use crate::limits::roles_of;

/// A need that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{part}`: {what}")]
pub struct NeedError {
    part: String,
    what: String,
}

/// Factors of throughput, in MiB; letters are compared without case.
const THROUGHPUTS: [(&str, f64); 8] = [
    ("mibps", 1.0),
    ("mib/s", 1.0),
    ("mbps", 1e6 / 1_048_576.0),
    ("mb/s", 1e6 / 1_048_576.0),
    ("gibps", 1024.0),
    ("gib/s", 1024.0),
    ("gbps", 1e9 / 1_048_576.0),
    ("gb/s", 1e9 / 1_048_576.0),
];

/// The needs of each role that was named, in the order of a report.
pub fn parse_needs(text: &str, database: Database) -> Result<Vec<Need>, NeedError> {
    let roles = roles_of(database);
    if let Some(named) = NAMED_NEEDS.iter().find(|n| n.name.eq_ignore_ascii_case(text.trim())) {
        let need = |role: &Role| named.of(Publish::from_published(*role)).publish();
        return Ok(roles.iter().map(need).collect());
    }
    let mut needs: Vec<Need> = Vec::new();
    for part in text.split(',').map(str::trim) {
        let wrong = |what: String| NeedError { part: part.to_owned(), what };
        let (key, value) = part.split_once('=').ok_or_else(|| wrong(how_to_write()))?;
        let role = role_of(key.trim(), roles).ok_or_else(|| wrong(how_to_write()))?;
        let per_second = amount(role, value.trim()).ok_or_else(|| {
            let example = example(role);
            wrong(format!("write an amount above zero, such as {example}"))
        })?;
        if needs.iter().any(|need| need.role == role) {
            return Err(wrong(format!("{} is named twice", role.title())));
        }
        needs.push(Need { role, per_second });
    }
    needs.sort_by_key(|need| roles.iter().position(|role| *role == need.role));
    Ok(needs)
}

fn how_to_write() -> String {
    let names: Vec<&str> = NAMED_NEEDS.iter().map(|n| n.name).collect();
    format!(
        "a need is {}, or amounts such as oltp=5000iops,log=2000/s,scan=800MiBps",
        names.join(", ")
    )
}

/// The role of a database by its short name.
fn role_of(key: &str, roles: &[Role]) -> Option<Role> {
    let wanted: &[Role] = match key.to_ascii_lowercase().as_str() {
        "log" => &[Role::Log],
        "oltp" => &[Role::OltpData],
        "scan" | "dss" | "compaction" => &[Role::DssData, Role::Compaction],
        _ => return None,
    };
    roles.iter().copied().find(|role| wanted.contains(role))
}

fn example(role: Role) -> &'static str {
    match role {
        Role::Log => "log=2000/s",
        Role::OltpData => "oltp=5000iops",
        Role::DssData | Role::Compaction => "scan=800MiBps",
    }
}

fn amount(role: Role, text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: f64 = digits.parse().ok()?;
    let unit = unit.trim().to_ascii_lowercase();
    let factor = match role {
        Role::Log => ["", "/s", "commits/s"].contains(&unit.as_str()).then_some(1.0)?,
        Role::OltpData => ["", "iops", "/s"].contains(&unit.as_str()).then_some(1.0)?,
        Role::DssData | Role::Compaction => {
            THROUGHPUTS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)?
        }
    };
    let amount = number * factor;
    (amount > 0.0 && amount.is_finite()).then_some(amount)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amounts(text: &str) -> Vec<(Role, f64)> {
        let needs = parse_needs(text, Database::Generic).unwrap();
        needs.iter().map(|need| (need.role, need.per_second)).collect()
    }

    #[test]
    fn amounts_have_the_unit_of_their_role() {
        let all = [(Role::Log, 2000.0), (Role::OltpData, 5000.0), (Role::DssData, 800.0)];
        assert_eq!(amounts("oltp=5000iops, log=2000/s,scan=800MiBps"), all);
        assert_eq!(amounts("scan=1GiB/s"), [(Role::DssData, 1024.0)]);
        assert!((amounts("scan=1GBps")[0].1 - 953.67).abs() < 0.01);
        let of_rocksdb = parse_needs("scan=100MiBps", Database::RocksDb).unwrap();
        assert_eq!(of_rocksdb[0].role, Role::Compaction);
    }

    #[test]
    fn a_size_names_a_need_of_every_role() {
        let medium = amounts("medium");
        assert_eq!(medium.len(), 3);
        assert!(medium.contains(&(Role::OltpData, 5000.0)));
    }

    #[test]
    fn what_is_no_need_is_refused_with_an_example() {
        for text in ["", "huge", "oltp", "oltp=", "oltp=0", "oltp=5ms", "scan=800", "tape=1/s"] {
            let error = parse_needs(text, Database::Generic).unwrap_err().to_string();
            assert!(error.contains("such as "), "{error}");
        }
        let twice = parse_needs("log=1/s,log=2/s", Database::Generic).unwrap_err().to_string();
        assert!(twice.contains("named twice"), "{twice}");
        assert!(parse_needs("scan=1MiBps", Database::Sqlite).is_err(), "SQLite has no scans");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9=.,/ ]{0,40}") {
            for need in parse_needs(&text, Database::Generic).unwrap_or_default() {
                prop_assert!(need.per_second > 0.0 && need.per_second.is_finite());
            }
        }

        #[test]
        fn a_need_is_read_as_it_is_written(at in 0..3_usize, per_second in 1e-6..1e12_f64) {
            let need = Need { role: roles_of(Database::Generic)[at], per_second };
            let read = parse_needs(&need.to_string(), Database::Generic).unwrap();
            prop_assert_eq!(read, [need]);
        }
    }
}
