//! The bytes by which files of databases are known.

use super::*;
use crate::medium::Medium;

/// The database that these bytes are recognised as.
fn found(bytes: &[u8]) -> Option<String> {
    let read = |at: u64, buffer: &mut [u8]| {
        let at = usize::try_from(at).unwrap();
        buffer.copy_from_slice(&bytes[at..at + buffer.len()]);
        Ok(())
    };
    let medium = Medium::new(bytes.len() as u64, &read);
    let first = find(&medium.whole()).unwrap().into_iter().next();
    first.map(|signature| signature.what)
}

/// A file of 64 KiB with nothing but these bytes.
fn file(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut content = vec![0; 64 << 10];
    content[at..at + bytes.len()].copy_from_slice(bytes);
    content
}

/// The first bytes of files whose databases are seldom installed, as each writes them.
#[test]
fn databases_are_known_by_their_bytes() {
    let end = (64 << 10) - 8;
    let cases: &[(usize, &[u8], &str)] = &[
        // The page size, the format and a checkpoint follow the magic of a WAL.
        (0, b"\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00", "SQLite WAL"),
        (0, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\x00\x00\x00\x01", "SQLite rollback journal"),
        // A binary log of MariaDB 10.11: the magic, and a format description event (type 15).
        (
            0,
            b"\xfebin\x5c\x9a\x2b\x67\x0f\x01\x00\x00\x00\xfc\x00\x00\x00",
            "MySQL binary or relay log",
        ),
        (0, b"\xfdbin\x01", "MySQL binary or relay log, encrypted"),
        (0, b"\xfe\xfe\x07\x01\x00\x03\x01\x4d", "MyISAM index"),
        (0, b"\xfe\xfe\x09\x01\x00\x03\x01\x4d", "Aria index"),
        (0, b"\xfe\xfe\x0c\x01", "Aria control file"),
        (0, b"REDIS0011\xfa\x09redis-ver\x057.2.4", "Redis snapshot"),
        (0, b"VALKEY080\xfa", "Valkey snapshot"),
        (0, b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n", "Redis log"),
        (0, b"MANIFEST-000004\n", "LevelDB or RocksDB database"),
        (end, b"\x57\xfb\x80\x8b\x24\x75\x47\xdb", "LevelDB table"),
        (end, b"\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", "RocksDB table"),
        (end, b"\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3", "Pebble table"),
        (16, b"\xde\xc0\xef\xbe\x01\x00\x00\x00", "LMDB database"),
        (16, b"\xed\xda\x0c\xed\x02\x00\x00\x00", "bbolt (etcd) database"),
        (8, b"DUCK\x40", "DuckDB database"),
        (12, b"\x62\x31\x05\x00\x0a", "Berkeley DB database"),
        (12, b"\x88\x09\x04\x00\x13", "Berkeley DB log"),
        (0, b"\x41\xd8\x01\x00\x01\x00\x00\x00", "WiredTiger (MongoDB) file"),
        (0, b"WiredTiger\nWiredTiger 11.2.0", "WiredTiger (MongoDB) file"),
        (0, b"TAPE\x00\x00\x03\x00", "backup in Microsoft Tape Format"),
        (28, b"\x7d\x7c\x7b\x7a", "Oracle file"),
        (0, b"PGDMP\x01\x0e\x00", "PostgreSQL dump"),
        (0, b"\x01\x0f\x00\x00\x08", "SQL Server data or log file"),
        (0, b"\x16\xd1\x16\xd1\x01", "InfluxDB data"),
        (0, b"\x3f\xd7\x6c\x17\x12", "Lucene (Elasticsearch) index"),
    ];
    for (at, bytes, what) in cases {
        let mut content = file(*at, bytes);
        if *what == "SQL Server data or log file" {
            // The page number (0) and the number of the file.
            content[36] = 1;
        }
        assert_eq!(found(&content).as_deref(), Some(*what), "{what}");
        // One bit of the magic is another content.
        content[at + 1] ^= 1;
        assert_eq!(found(&content), None, "not {what}");
    }
}

/// Every row of the table finds itself, at every place that it names.
#[test]
fn every_magic_is_found_where_it_lies() {
    for magic in MAGICS {
        for at in magic.at {
            let at = match at {
                Start(offset) => *offset,
                End(before, _) => (64 << 10) - before,
            };
            let content = file(usize::try_from(at).unwrap(), magic.bytes);
            let found = found(&content).unwrap_or_else(|| panic!("{} is not found", magic.what));
            assert_eq!(found, magic.what);
        }
    }
}
