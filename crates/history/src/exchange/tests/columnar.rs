//! The same tables as Parquet.

use std::fs::File;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field as Read;

use super::tables::{COLUMNS, rows};
use crate::exchange::parquet as table;

#[test]
fn parquet_holds_the_values_with_their_types_and_says_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.parquet");
    let mut file = File::create(&path).unwrap();
    let mut out = table::Table::begin(&mut file, "tests", COLUMNS).unwrap();
    out.write(&rows()).unwrap();
    out.write(&rows()).unwrap();
    out.finish().unwrap();
    drop(file);
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!((reader.num_row_groups(), reader.metadata().file_metadata().num_rows()), (2, 4));
    let read: Vec<Vec<Read>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
        .collect();
    let text = "=1, \"two\"\nü".to_owned();
    let first = [
        Read::Long(1 << 60),
        Read::Long(7),
        Read::Double(0.1),
        Read::Bool(true),
        Read::Str(text),
        Read::TimestampMicros(1_500_000),
    ];
    assert_eq!(read[2], first);
    let null = || Read::Null;
    assert_eq!(read[3], [null(), null(), null(), Read::Bool(false), null(), null()]);
    let holds = |name| table::holds(File::open(&path).unwrap(), name);
    assert!(holds("tests") && !holds("others"));
    std::fs::write(&path, b"PAR1 and no more").unwrap();
    assert!(!holds("tests"), "a foreign file is told from ours");
}
