//! The queries for PostgreSQL: first which statistics views it has, then all of them at once.

use std::collections::BTreeMap;

use crate::record::{self, Record};
use crate::sample::ServerFacts;

/// The version, the directory of the data where this user may know it, and the views with whether
/// this user may read them.
pub(super) const CATALOGUE: &str = "\
SELECT json_build_object(
    'version', current_setting('server_version'),
    'data_directory', (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'data_directory'),
    'views', (
        SELECT json_object_agg(relname, has_table_privilege(oid, 'SELECT'))
        FROM pg_catalog.pg_class
        WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'v'
            AND relname IN ('pg_stat_io', 'pg_stat_wal', 'pg_stat_bgwriter', \
            'pg_stat_checkpointer', 'pg_stat_database')
    )
)";

/// Each view: what it is called in the answer, and how its rows are gathered.
const VIEWS: [(&str, &str, &str); 5] = [
    ("pg_stat_io", "io", "(SELECT json_agg(v) FROM pg_catalog.pg_stat_io v)"),
    ("pg_stat_wal", "wal", "(SELECT row_to_json(v) FROM pg_catalog.pg_stat_wal v)"),
    ("pg_stat_bgwriter", "bgwriter", "(SELECT row_to_json(v) FROM pg_catalog.pg_stat_bgwriter v)"),
    (
        "pg_stat_checkpointer",
        "checkpointer",
        "(SELECT row_to_json(v) FROM pg_catalog.pg_stat_checkpointer v)",
    ),
    (
        "pg_stat_database",
        "databases",
        "(SELECT json_agg(v) FROM (
            SELECT datname, blks_read, blks_hit, blk_read_time, xact_commit, temp_files, \
            temp_bytes, stats_reset
            FROM pg_catalog.pg_stat_database) v)",
    ),
];

/// The views that a server has, and whether they may be read.
pub(super) struct Views(BTreeMap<String, bool>);

impl Views {
    /// Reads which views the server has, from its answer to [`CATALOGUE`].
    pub(super) fn of(answer: &Record) -> Self {
        let views = record::row(answer, "views").into_iter().flatten();
        Self(views.map(|(name, may)| (name.clone(), may.as_bool() == Some(true))).collect())
    }

    fn readable(&self, view: &str) -> bool {
        self.0.get(view) == Some(&true)
    }

    /// What this server and this user cannot give.
    pub(super) fn notes(&self, facts: &ServerFacts) -> Vec<String> {
        let mut notes: Vec<String> = self
            .0
            .iter()
            .filter(|(_, may)| !**may)
            .map(|(view, _)| format!("the user may not read {view}: GRANT pg_monitor TO the user"))
            .collect();
        if !self.0.contains_key("pg_stat_io") {
            notes.push(format!(
                "PostgreSQL {} has no pg_stat_io (16 and later have): reads are known per \
                database, writes per kind of process, without times of writes",
                facts.version
            ));
        }
        if facts.data_directory.is_none() {
            notes.push(
                "the user may not know where the data is: GRANT pg_monitor TO the user, or name \
                 the path"
                    .to_owned(),
            );
        }
        notes
    }
}

/// The statement that answers all counters as one JSON object.
pub(super) fn counters(views: &Views) -> String {
    let mut parts = vec![
        "'at_us', floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint".to_owned(),
        "'started', pg_postmaster_start_time()".to_owned(),
        "'server', host(inet_server_addr()) || ':' || inet_server_port()".to_owned(),
        "'in_recovery', pg_is_in_recovery()".to_owned(),
        "'block_bytes', current_setting('block_size')::int".to_owned(),
        "'track_io_timing', current_setting('track_io_timing')".to_owned(),
        "'track_wal_io_timing', current_setting('track_wal_io_timing', true)".to_owned(),
    ];
    for (view, name, rows) in VIEWS {
        if views.readable(view) {
            parts.push(format!("'{name}', {rows}"));
        }
    }
    if !views.readable("pg_stat_wal") {
        // How far the log has come. A standby only knows what it has received.
        parts.push(
            "'wal_position', CASE WHEN NOT pg_is_in_recovery() THEN \
             pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') END"
                .to_owned(),
        );
    }
    format!("SELECT json_build_object({})", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(json: &str) -> Views {
        Views::of(&serde_json::from_str(json).unwrap())
    }

    fn facts(data_directory: Option<&str>) -> ServerFacts {
        ServerFacts {
            kind: crate::Kind::PostgreSql,
            version: "15.3".to_owned(),
            data_directory: data_directory.map(str::to_owned),
        }
    }

    #[test]
    fn only_what_is_there_and_may_be_read_is_asked_for() {
        let views = views(
            r#"{"views": {"pg_stat_io": false, "pg_stat_wal": true, "pg_stat_bgwriter": true}}"#,
        );
        let sql = counters(&views);
        assert!(sql.contains("pg_stat_wal v") && sql.contains("pg_stat_bgwriter v"));
        assert!(!sql.contains("pg_stat_io") && !sql.contains("checkpointer"));
        let notes = views.notes(&facts(Some("/data")));
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains("may not read pg_stat_io"));
    }

    #[test]
    fn older_servers_are_asked_how_far_their_log_has_come() {
        let views = views(r#"{"views": {"pg_stat_bgwriter": true, "pg_stat_database": true}}"#);
        assert!(counters(&views).contains("wal_position"));
        let notes = views.notes(&facts(None));
        assert!(notes[0].contains("15.3") && notes[1].contains("pg_monitor"), "{notes:?}");
    }

    #[test]
    fn a_catalogue_that_says_nothing_asks_for_nothing() {
        let views = views(r#"{"views": null}"#);
        assert!(!counters(&views).contains("pg_stat_"));
    }
}
