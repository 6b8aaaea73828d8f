//! Rows as Parquet: the columns of the CSV with their types, a row group for each batch of rows.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use jiff::Timestamp;
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use results::{FigureKind, FigureValue};

use super::columns::Column;

/// Under this name, the file says which of our tables it holds.
const KEY: &str = "iosonde.export";

/// A table that is being written.
pub(crate) struct Table<'a, R: 'static> {
    columns: &'static [Column<R>],
    writer: SerializedFileWriter<&'a mut (dyn Write + Send)>,
}

impl<'a, R: 'static> Table<'a, R> {
    /// Begins a table; `name` is what [`holds`] finds later.
    pub(crate) fn begin(
        out: &'a mut (dyn Write + Send),
        name: &str,
        columns: &'static [Column<R>],
    ) -> io::Result<Self> {
        let schema = parse_message_type(&schema(columns)).map_err(plain)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("iosonde ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![KeyValue::new(KEY.to_owned(), name.to_owned())]))
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        Ok(Self { columns, writer: writer.map_err(plain)? })
    }

    /// Writes rows as one row group.
    pub(crate) fn write(&mut self, rows: &[R]) -> io::Result<()> {
        self.group(rows).map_err(plain)
    }

    fn group(&mut self, rows: &[R]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in self.columns {
            let Some(mut out) = group.next_column()? else { break };
            write_column(&mut out, column, rows)?;
            out.close()?;
        }
        group.close().map(drop)
    }

    /// Writes the end, without which the file cannot be read.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.writer.close().map(drop).map_err(plain)
    }
}

/// The columns in the words of the format. Whole numbers are signed, as every reader takes them.
fn schema<R>(columns: &[Column<R>]) -> String {
    let fields = columns.iter().map(|column| {
        let name = column.name;
        match column.kind {
            FigureKind::Whole => format!("optional int64 {name};"),
            FigureKind::Real => format!("optional double {name};"),
            FigureKind::Flag => format!("optional boolean {name};"),
            FigureKind::Text => format!("optional binary {name} (UTF8);"),
            FigureKind::Moment => format!("optional int64 {name} (TIMESTAMP(MICROS,true));"),
        }
    });
    format!("message iosonde {{ {} }}", fields.collect::<String>())
}

fn write_column<R>(
    out: &mut SerializedColumnWriter<'_>,
    column: &Column<R>,
    rows: &[R],
) -> Result<(), ParquetError> {
    let fields = rows.iter().map(column.of);
    match column.kind {
        FigureKind::Whole => put(out.typed::<Int64Type>(), fields.map(|f| whole(&f))),
        FigureKind::Moment => put(out.typed::<Int64Type>(), fields.map(|f| moment(&f))),
        FigureKind::Real => put(out.typed::<DoubleType>(), fields.map(|f| real(&f))),
        FigureKind::Flag => put(out.typed::<BoolType>(), fields.map(|f| flag(&f))),
        FigureKind::Text => put(out.typed::<ByteArrayType>(), fields.map(text)),
    }
}

fn whole(field: &FigureValue<'_>) -> Option<i64> {
    if let FigureValue::Whole(value) = field { i64::try_from(*value).ok() } else { None }
}

fn moment(field: &FigureValue<'_>) -> Option<i64> {
    let FigureValue::Text(text) = field else { return None };
    text.parse::<Timestamp>().ok().map(Timestamp::as_microsecond)
}

fn real(field: &FigureValue<'_>) -> Option<f64> {
    if let FigureValue::Real(value) = field { Some(*value) } else { None }
}

fn flag(field: &FigureValue<'_>) -> Option<bool> {
    if let FigureValue::Flag(value) = field { Some(*value) } else { None }
}

fn text(field: FigureValue<'_>) -> Option<ByteArray> {
    if let FigureValue::Text(value) = field {
        Some(value.into_owned().into_bytes().into())
    } else {
        None
    }
}

/// The values that are there, and for each row whether it has one.
fn put<T: DataType>(
    out: &mut ColumnWriterImpl<'_, T>,
    fields: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let mut there = Vec::new();
    for field in fields {
        there.push(i16::from(field.is_some()));
        values.extend(field);
    }
    out.write_batch(&values, Some(&there), None).map(drop)
}

/// An error of the system as such, so that a full disk is reported as one.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        other => io::Error::other(other),
    }
}

/// Whether a file is such a table of this name.
pub(crate) fn holds(file: File, name: &str) -> bool {
    let Ok(reader) = SerializedFileReader::new(file) else { return false };
    let values = reader.metadata().file_metadata().key_value_metadata();
    values.is_some_and(|all| all.iter().any(|v| v.key == KEY && v.value.as_deref() == Some(name)))
}
