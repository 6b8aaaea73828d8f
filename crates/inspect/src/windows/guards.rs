//! What stands between programs and the file system of Windows: filter drivers, what Defender
//! passes over, and the right that spares SQL Server from writing zeros.

use crate::judged::{INFO, WARNING};
use crate::windows_answers::{Question, System};
use crate::{Finding, Storage};

/// What Defender passes over: as set on this machine, and by a policy of the domain.
pub(crate) const EXCLUSIONS: [&str; 2] = [
    r"SOFTWARE\Microsoft\Windows Defender\Exclusions\",
    r"SOFTWARE\Policies\Microsoft\Windows Defender\Exclusions\",
];
const PATHS: &str = "Paths";
const PROCESSES: &str = "Processes";
const EXTENSIONS: &str = "Extensions";
const REAL_TIME: [&str; 2] = [
    r"SOFTWARE\Microsoft\Windows Defender\Real-Time Protection",
    r"SOFTWARE\Policies\Microsoft\Windows Defender\Real-Time Protection",
];
const DEFENDER: &str = "WdFilter";
const SERVER: &str = "sqlservr.exe";
const DATABASE_FILES: [&str; 2] = ["mdf", "ldf"];
/// The right to give out space of a file without writing zeros to it.
const MANAGE_VOLUME: &str = "SeManageVolumePrivilege";
/// Everyone, authenticated users, and everything that runs as a service.
const EVERY_SERVICE: [&str; 3] = ["S-1-1-0", "S-1-5-11", "S-1-5-6"];
const ERROR_FILE_NOT_FOUND: u32 = 2;

/// Filters that come with Windows and do not slow a database: they are listed and not judged.
/// Defender's has a rule for itself.
const USUAL: [&str; 16] = [
    "bfs",
    "bindflt",
    "CldFlt",
    "FileCrypt",
    "FileInfo",
    "FsDepends",
    "gameflt",
    "iorate",
    "luafv",
    "MsSecFlt",
    "npsvctrig",
    "storqosflt",
    "UCPD",
    "wcifs",
    "WdFilter",
    "Wof",
];

/// The groups that Microsoft gives altitudes to, each with its lowest and highest.
const GROUPS: [(&str, u32, u32); 15] = [
    ("activity monitor", 360_000, 389_999),
    ("undelete", 340_000, 349_999),
    ("anti-virus", 320_000, 329_999),
    ("replication", 300_000, 309_999),
    ("continuous backup", 280_000, 289_999),
    ("content screener", 260_000, 269_999),
    ("quota management", 240_000, 249_999),
    ("system recovery", 220_000, 229_999),
    ("cluster file system", 200_000, 209_999),
    ("hierarchical storage", 180_000, 189_999),
    ("imaging", 170_000, 174_999),
    ("compression", 160_000, 169_999),
    ("encryption", 140_000, 149_999),
    ("virtualisation", 130_000, 139_999),
    ("security enhancer", 80_000, 89_999),
];

/// A file system filter that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    name: String,
    /// What its altitude says that it is for.
    group: Option<&'static str>,
}

impl Filter {
    /// Its name and what it is for.
    pub(crate) fn shown(&self) -> String {
        self.group.map_or_else(|| self.name.clone(), |group| format!("{} ({group})", self.name))
    }
}

/// The filters of an answer.
pub(crate) fn filters(answer: &str) -> Vec<Filter> {
    let filter = |line: &str| {
        let (name, altitude) = line.split_once('\t')?;
        // An altitude may have a fraction of any length.
        let whole: Option<u32> = altitude.split('.').next().and_then(|text| text.parse().ok());
        let in_group = |(_, low, high): &&(&str, u32, u32)| {
            whole.is_some_and(|altitude| (*low..=*high).contains(&altitude))
        };
        let group = GROUPS.iter().find(in_group).map(|(group, _, _)| *group);
        (!name.is_empty()).then(|| Filter { name: name.to_owned(), group })
    };
    answer.lines().filter_map(filter).collect()
}

/// Filters of other makers that stand in the way of each I/O.
pub(crate) fn of_filters(filters: &[Filter]) -> Option<Finding> {
    let is_usual = |filter: &&Filter| USUAL.iter().any(|n| n.eq_ignore_ascii_case(&filter.name));
    let others: Vec<String> = filters
        .iter()
        .filter(|filter| !is_usual(filter) && filter.group.is_some())
        .map(Filter::shown)
        .collect();
    (!others.is_empty()).then(|| {
        let names = others.join(", ");
        let message =
            format!("Filter drivers may see each I/O of a file before the file system: {names}.");
        Finding::new(INFO, "filter-driver", message)
            .evidence("running drivers with an altitude", names)
            .remedy("Look at which volumes each is attached to; exclude the database's there.")
            .command("fltmc instances")
    })
}

/// What Defender passes over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exclusions {
    paths: Vec<String>,
    processes: Vec<String>,
    extensions: Vec<String>,
    /// Whether it scans files when they are used.
    is_off: bool,
}

/// What Windows says of Defender; `None` without the rights to know.
pub(crate) fn exclusions(system: &dyn System) -> Option<Exclusions> {
    let names = |kind: &str| {
        let mut found = Vec::new();
        for place in EXCLUSIONS {
            match system.ask(&format!("{place}{kind}"), &Question::RegistryValues) {
                Ok(lines) => found.extend(entries(&lines).map(|(name, _)| name)),
                Err(ERROR_FILE_NOT_FOUND) => {}
                Err(_) => return None,
            }
        }
        Some(found)
    };
    let is_off = |key| {
        let lines = system.bytes(key, &Question::RegistryValues);
        entries(&lines).any(|(name, value)| {
            name.eq_ignore_ascii_case("DisableRealtimeMonitoring") && value == "1"
        })
    };
    Some(Exclusions {
        paths: names(PATHS)?,
        processes: names(PROCESSES)?,
        extensions: names(EXTENSIONS)?,
        is_off: REAL_TIME.into_iter().any(is_off),
    })
}

/// The names and values of an answer.
fn entries(lines: &[u8]) -> impl Iterator<Item = (String, String)> {
    let text = String::from_utf8_lossy(lines).into_owned();
    let entry = |line: &str| {
        let (name, value) = line.split_once('\t').unwrap_or((line, ""));
        (name.to_owned(), value.to_owned())
    };
    text.lines().map(entry).collect::<Vec<_>>().into_iter()
}

/// Whether a path is the same as another, or below it. The other may have `*`, which stands for
/// anything, or a variable, which is not known here: then they are taken for the same.
pub(crate) fn is_below(path: &str, above: &str) -> bool {
    let path = path.trim_end_matches('\\').to_lowercase();
    let above = above.to_lowercase();
    if let Some(at) = above.find(['*', '?', '%']) {
        return path.starts_with(&above[..at]) || format!("{path}\\") == above[..at];
    }
    let above = above.trim_end_matches('\\');
    let rest = path.strip_prefix(above);
    !above.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('\\'))
}

/// Defender scans the files of a target when they are used.
pub(crate) fn of_exclusions(
    storage: &Storage,
    filters: &[Filter],
    exclusions: &Exclusions,
) -> Option<Finding> {
    let runs = filters.iter().any(|filter| filter.name.eq_ignore_ascii_case(DEFENDER));
    let path = storage.path.to_string_lossy();
    let spared = exclusions.is_off
        || exclusions.paths.iter().any(|above| is_below(&path, above))
        || exclusions.processes.iter().any(|name| name.to_lowercase().ends_with(SERVER))
        || DATABASE_FILES.iter().all(|wanted| {
            let bare = |name: &String| name.trim_start_matches('.').eq_ignore_ascii_case(wanted);
            exclusions.extensions.iter().any(bare)
        });
    (runs && !spared).then(|| {
        let message = format!(
            "Defender scans the files in {path}: neither this path nor SQL Server's program or \
             files are excluded."
        );
        let count = exclusions.paths.len();
        // A quotation mark within a text of PowerShell is written twice.
        let quoted = path.replace('\'', "''");
        Finding::new(WARNING, "antivirus-scans", message)
            .evidence(
                format!(r"HKLM\{}{PATHS}", EXCLUSIONS[0]),
                format!("{count} paths, not this one"),
            )
            .remedy("Exclude the directories of the database, as its maker's documents list them.")
            .command(format!("Add-MpPreference -ExclusionPath '{quoted}'"))
    })
}

/// Whether SQL Server may give out space without zeros; `None` if Windows did not say who may.
pub(crate) fn of_instant_files(system: &dyn System) -> Option<Vec<Finding>> {
    let services = system.bytes("", &Question::SqlServices);
    let services = String::from_utf8_lossy(&services);
    if services.trim().is_empty() {
        return Some(Vec::new());
    }
    let holders = system.ask("", &Question::Holders(MANAGE_VOLUME)).ok()?;
    let holders = String::from_utf8_lossy(&holders);
    Some(services.lines().filter_map(|line| instant_files(line, &holders)).collect())
}

/// A service of SQL Server with its account and their identities, and who holds the right.
fn instant_files(service: &str, holders: &str) -> Option<Finding> {
    let mut parts = service.split('\t');
    let (name, account) = (parts.next()?, parts.next()?);
    let own: Vec<&str> = parts.filter(|sid| !sid.is_empty()).collect();
    let mut held = holders.lines().map(str::trim);
    // This account has every right.
    let may = account.eq_ignore_ascii_case("LocalSystem")
        || held.any(|sid| own.contains(&sid) || EVERY_SERVICE.contains(&sid));
    // An account whose identity is not known may hold it.
    (!may && !own.is_empty()).then(|| {
        let message = format!(
            "SQL Server's service {name} does not hold the right to initialise files instantly, \
             unless a group gives it: files that grow are filled with zeros first."
        );
        Finding::new(WARNING, "instant-file-initialisation", message)
            .evidence(
                format!("LsaEnumerateAccountsWithUserRight {MANAGE_VOLUME}"),
                "not its account",
            )
            .remedy("Grant its account Perform volume maintenance tasks, and restart the service.")
            .command(
                "sqlcmd -Q \"SELECT servicename, instant_file_initialization_enabled FROM \
                 sys.dm_server_services\"",
            )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn filters_are_grouped_by_their_altitudes() {
        let found =
            filters("WdFilter\t328010\nAbc\t385100.5\nOdd\tx\nbindflt\t409800\n\t1\nnone\n");
        let shown: Vec<String> = found.iter().map(Filter::shown).collect();
        assert_eq!(shown, ["WdFilter (anti-virus)", "Abc (activity monitor)", "Odd", "bindflt"]);
        let finding = of_filters(&found).unwrap();
        assert_eq!(finding.evidence[0].value, "Abc (activity monitor)");
        assert_eq!(of_filters(&filters("wdfilter\t328010\nwcifs\t189900\n")), None);
    }

    #[test]
    fn paths_are_below_what_is_excluded() {
        for above in [r"e:\sql\", r"E:\SQL", r"E:\", r"E:\*", r"E:\S*\data", "%DATA%"] {
            assert!(is_below(r"E:\SQL\Data", above), "{above}");
        }
        for above in [r"E:\SQ", r"E:\SQL\Data\x", r"D:\", "", r"D:\*"] {
            assert!(!is_below(r"E:\SQL\Data", above), "{above}");
        }
        assert!(is_below(r"E:\", r"E:\*") && is_below(r"E:\", r"E:\"));
    }

    #[test]
    fn the_right_is_held_by_the_account_or_the_service_or_all() {
        let line = "MSSQL$A\tCORP\\sql\tS-1-5-21-1\tS-1-5-80-2";
        assert!(instant_files(line, "S-1-5-32-544\n").is_some());
        for holders in ["S-1-5-21-1\n", "S-1-5-32-544\nS-1-5-80-2\n", "S-1-1-0"] {
            assert_eq!(instant_files(line, holders), None, "{holders}");
        }
        assert_eq!(instant_files("MSSQLSERVER\tLocalSystem\tS-1-5-18\t", ""), None);
        assert_eq!(instant_files("MSSQLSERVER\tCORP\\x\t\t", ""), None, "no identity is known");
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(
            text in "[A-Za-z0-9.\t\n\\\\*%é$]{0,60}", path in any::<String>()
        ) {
            of_filters(&filters(&text));
            is_below(&path, &text);
            is_below(&text, &path);
            for line in text.lines() {
                instant_files(line, &path);
            }
        }
    }
}
