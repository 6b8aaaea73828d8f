//! Recognises files of databases by their first or last bytes.
//!
//! The comment on a row names the source or description of its format. Formats without distinct
//! bytes are left out: heap files of MyISAM, ClickHouse's columns, containers of Db2, devices of
//! Sybase. [`super::location`] recognises many of them.

use std::io;

use super::pages;
use crate::medium::Span;
use crate::signatures::{At, Details, Magic, Signature, SignatureKind, find_all, plain};

use At::{End, Start};

const FIRST: &[At] = &[Start(0)];
const FOOTER: &[At] = &[End(8, 1)];
const BDB: &[At] = &[Start(12)];

/// A magic of a database; `wipefs` knows none of them.
const fn row(what: &'static str, at: &'static [At], bytes: &'static [u8]) -> Magic {
    Magic::new(what, "database", at, bytes, plain).unknown_to_wipefs()
}

const MAGICS: &[Magic] = &[
    // SQLite: fileformat2.html, also the journal and the WAL, and version 2.
    row("SQLite database", FIRST, b"SQLite format 3\0"),
    row("SQLite rollback journal", FIRST, &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]),
    row("SQLite WAL", FIRST, &[0x37, 0x7f, 0x06, 0x82]),
    row("SQLite WAL", FIRST, &[0x37, 0x7f, 0x06, 0x83]),
    row("SQLite 2 database", FIRST, b"** This file contains an SQLite 2"),
    // MySQL and MariaDB: binary and relay logs (also encrypted), MyISAM (myisamdef.h) and Aria
    // (maria_def.h, ma_control_file.h), TokuDB.
    row("MySQL binary or relay log", FIRST, b"\xfebin"),
    row("MySQL binary or relay log, encrypted", FIRST, b"\xfdbin"),
    row("MyISAM index", FIRST, &[0xfe, 0xfe, 0x07]).with(versioned),
    row("MyISAM table, compressed", FIRST, &[0xfe, 0xfe, 0x08]).with(versioned),
    row("Aria index", FIRST, &[0xfe, 0xfe, 0x09]).with(versioned),
    row("Aria table, compressed", FIRST, &[0xfe, 0xfe, 0x0a]).with(versioned),
    row("Aria log", FIRST, &[0xfe, 0xfe, 0x0b]).with(versioned),
    row("Aria control file", FIRST, &[0xfe, 0xfe, 0x0c]).with(versioned),
    row("TokuDB data", FIRST, b"tokudata"),
    row("TokuDB log", FIRST, b"tokulogg"),
    // LevelDB, RocksDB, Pebble: the magic of the footer of a sorted table, and CURRENT.
    row("LevelDB table", FOOTER, &[0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb]),
    row("RocksDB table", FOOTER, &[0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88]),
    row("RocksDB table", FOOTER, &[0x64, 0x95, 0xbf, 0x63, 0x96, 0x22, 0x42, 0x82]),
    row("RocksDB table", FOOTER, &[0x73, 0x78, 0xf1, 0xc5, 0xd0, 0x89, 0x67, 0x92]),
    row("Pebble table", FOOTER, &[0xf0, 0x9f, 0xaa, 0xb3, 0xf0, 0x9f, 0xaa, 0xb3]),
    row("LevelDB or RocksDB database", FIRST, b"MANIFEST-0"),
    // DuckDB: its storage page; the magic follows a checksum.
    row("DuckDB database", &[Start(8)], b"DUCK"),
    // Redis and Valkey: rdb.c, aof.c.
    row("Redis snapshot", FIRST, b"REDIS0"),
    row("Valkey snapshot", FIRST, b"VALKEY"),
    row("Redis log", FIRST, b"*2\r\n$6\r\nSELECT\r\n"),
    // Berkeley DB: db_page.h and log.h, of either byte order; version 1.85 has it at the beginning.
    row("Berkeley DB database", BDB, &[0x62, 0x31, 0x05, 0x00]),
    row("Berkeley DB database", BDB, &[0x00, 0x05, 0x31, 0x62]),
    row("Berkeley DB database", BDB, &[0x61, 0x15, 0x06, 0x00]),
    row("Berkeley DB database", BDB, &[0x00, 0x06, 0x15, 0x61]),
    row("Berkeley DB database", BDB, &[0x53, 0x22, 0x04, 0x00]),
    row("Berkeley DB database", BDB, &[0x00, 0x04, 0x22, 0x53]),
    row("Berkeley DB log", BDB, &[0x88, 0x09, 0x04, 0x00]),
    row("Berkeley DB log", BDB, &[0x00, 0x04, 0x09, 0x88]),
    row("Berkeley DB database", FIRST, &[0x62, 0x31, 0x05, 0x00]),
    row("Berkeley DB database", FIRST, &[0x00, 0x05, 0x31, 0x62]),
    row("Berkeley DB database", FIRST, &[0x61, 0x15, 0x06, 0x00]),
    row("Berkeley DB database", FIRST, &[0x00, 0x06, 0x15, 0x61]),
    // LMDB (mdb.c; pages of 64 and of 32 bits), libmdbx, bbolt (etcd), GDBM, TDB.
    row("LMDB database", &[Start(16), Start(12)], &[0xde, 0xc0, 0xef, 0xbe, 1, 0, 0, 0]),
    row("MDBX database", &[Start(21)], &[0x11, 0x4c, 0xef, 0xbd, 0x9d, 0x65, 0x59]),
    row("bbolt (etcd) database", &[Start(16)], &[0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0]),
    row("GDBM database", FIRST, &[0xce, 0x9a, 0x57, 0x13]),
    row("GDBM database", FIRST, &[0xcf, 0x9a, 0x57, 0x13]),
    row("TDB database", FIRST, b"TDB file\n"),
    // SQL Server: backups; pages are below.
    row("backup in Microsoft Tape Format", FIRST, b"TAPE\0"),
    row("backup in Microsoft Tape Format", FIRST, b"TAPE\x01"),
    row("backup in Microsoft Tape Format", FIRST, b"TAPE\x02"),
    row("backup in Microsoft Tape Format", FIRST, b"TAPE\x03"),
    row("SQL Server backup", FIRST, b"MSSQLBAK"),
    // Oracle: the first block of a file as the operating system sees it, of either byte order.
    row("Oracle file", &[Start(28)], &[0x7d, 0x7c, 0x7b, 0x7a]),
    row("Oracle file", &[Start(28)], &[0x7a, 0x7b, 0x7c, 0x7d]),
    // WiredTiger (MongoDB): block.h, log.h, meta.h.
    row("WiredTiger (MongoDB) file", FIRST, &[0x41, 0xd8, 0x01, 0x00, 1, 0]),
    row("WiredTiger (MongoDB) log", &[Start(16)], &[0x64, 0x10, 0x10, 0x00]),
    row("WiredTiger (MongoDB) file", FIRST, b"WiredTiger"),
    // PostgreSQL: relmapper.c, relcache.c, pg_dump; pages are below.
    row("PostgreSQL relation map", FIRST, &[0x17, 0x27, 0x59, 0x00]),
    row("PostgreSQL relation cache", FIRST, &[0x66, 0x32, 0x57, 0x00]),
    row("PostgreSQL dump", FIRST, b"PGDMP"),
    // Access and ESE (Exchange, Active Directory): [MS-ESE], mdbtools.
    row("Access database", FIRST, b"\0\x01\0\0Standard Jet DB"),
    row("Access database", FIRST, b"\0\x01\0\0Standard ACE DB"),
    row("ESE database", &[Start(4)], &[0xef, 0xcd, 0xab, 0x89]),
    // H2 (MVStore and older), LiteDB, Realm, CDB of GT.M.
    row("H2 database", FIRST, b"H:2,"),
    row("H2 database", FIRST, b"-- H2 0.5/B --"),
    row("LiteDB database", &[Start(32), Start(25)], b"** This is a LiteDB file **"),
    row("Realm database", &[Start(16)], b"T-DB"),
    row("GT.M database", FIRST, b"GDSDYNUNX"),
    // Lucene (Elasticsearch, OpenSearch, Solr): CodecUtil.java; ZooKeeper: FileTxnLog.java.
    row("Lucene (Elasticsearch) index", FIRST, &[0x3f, 0xd7, 0x6c, 0x17]),
    row("ZooKeeper log", FIRST, b"ZKLG"),
    row("ZooKeeper snapshot", FIRST, b"ZKSN"),
    // InfluxDB: tsm1; Prometheus: tsdb/docs/format.
    row("InfluxDB data", FIRST, &[0x16, 0xd1, 0x16, 0xd1]),
    row("InfluxDB index", FIRST, b"TSI1"),
    row("Prometheus data", FIRST, &[0x85, 0xbd, 0x40, 0xdd]),
    row("Prometheus data", FIRST, &[0x01, 0x30, 0xbc, 0x91]),
    row("Prometheus index", FIRST, &[0xba, 0xaa, 0xd7, 0x00]),
    // Tarantool: xlog.c; Aerospike: drv_ssd.h.
    row("Tarantool snapshot", FIRST, b"SNAP\n0."),
    row("Tarantool log", FIRST, b"XLOG\n0."),
    row("Aerospike device", FIRST, &[0x07, 0x07, 0x73, 0x75, 0x72, 0x74, 0x49, 0x43]),
];

/// Three bytes are not enough: a small version follows.
fn versioned(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    Ok(span.array(at + 3)?.filter(|[version]: &[u8; 1]| *version < 16).map(|_| Details::default()))
}

/// The kind of database file that a span contains; at most one.
pub(crate) fn find(span: &Span<'_>) -> io::Result<Vec<Signature>> {
    let mut found = find_all(MAGICS, span, SignatureKind::Database)?;
    if found.is_empty()
        && let Some(what) = pages::find(span)?
    {
        let kind = SignatureKind::Database;
        let signature = Details::named(what).signature(span, 0, kind, "", "database");
        found.push(Signature { is_known_to_wipefs: false, ..signature });
    }
    found.truncate(1);
    Ok(found)
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
