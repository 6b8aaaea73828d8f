//! Recognises files of databases without a magic by a header whose fields are consistent. Each
//! function checks so many fields that no other content passes by chance.

use std::io;

use crate::medium::Span;

type Page = fn(&Span<'_>) -> io::Result<Option<&'static str>>;

const PAGES: &[Page] = &[
    innodb_space,
    innodb_redo,
    pg_control,
    pg_wal,
    pg_page,
    sql_server,
    firebird,
    informix,
    kafka,
];

/// The kind of database file that a span contains.
pub(super) fn find(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    for page in PAGES {
        if let Some(what) = page(span)? {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// InnoDB's tablespaces, the system tablespace and undo: page 0 has type 8, and the number of the
/// space twice (fil0types.h, fsp0types.h).
fn innodb_space(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    let is_first = span.be32(4)? == 0 && span.be16(24)? == 8;
    let is_space = span.be32(34)? == span.be32(38)?;
    let (pages, initialised) = (span.be32(46)?, span.be32(50)?);
    let is_sized = pages > 0 && span.be32(42)? == 0 && initialised <= pages.saturating_add(1 << 16);
    Ok((is_first && is_space && is_sized).then_some("InnoDB tablespace"))
}

/// InnoDB's redo log: a known format, and the name of the server that made it (log0types.h).
fn innodb_redo(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    const CREATORS: [&[u8]; 6] =
        [b"MySQL ", b"MariaDB", b"Percona", b"MEB ", b"mysqlbackup", b"Backup "];
    let format = span.be32(0)?;
    let is_format = format < 64 || [0x5048_5953, 0x5068_7973].contains(&(format & 0x7fff_ffff));
    let creator = span.padded(16, 32)?;
    let is_known = CREATORS.iter().any(|name| creator.starts_with(name));
    Ok((is_format && is_known).then_some("InnoDB redo log"))
}

/// PostgreSQL's control file: its version, and that of the catalog, which is a date (pg_control.h).
fn pg_control(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    let (version, catalog) = (span.le32(8)?, span.le32(12)?);
    let (version, catalog) = if version > 0xffff {
        (version.swap_bytes(), catalog.swap_bytes())
    } else {
        (version, catalog)
    };
    let (year, month, day) = (catalog / 100_000, catalog / 1000 % 100, catalog / 10 % 100);
    let is_date =
        (2005..2100).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_file = (512..=65_536).contains(&span.size());
    let is_one = is_file && is_date && (800..10_000).contains(&version) && span.le64(0)? != 0;
    Ok(is_one.then_some("PostgreSQL control file"))
}

/// PostgreSQL's WAL: the long header of the first page of a segment (xlog_internal.h).
fn pg_wal(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    const LONG_HEADER: u16 = 2;
    let (magic, info) = (span.le16(0)?, span.le16(2)?);
    let (segment, page) = (span.le32(32)?, span.le32(36)?);
    let is_page = (0xd050..0xd200).contains(&magic) && info & LONG_HEADER != 0 && info < 16;
    let is_segment = segment.is_power_of_two() && ((1 << 20)..=(1 << 30)).contains(&segment);
    let is_sized = page.is_power_of_two() && (1024..=65_536).contains(&page);
    let is_start = segment > 0 && span.le64(8)?.is_multiple_of(segment.into());
    Ok((is_page && is_segment && is_sized && is_start).then_some("PostgreSQL WAL"))
}

/// PostgreSQL's tables and indexes: the header of a page (bufpage.h), on the first page that is not
/// empty.
fn pg_page(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    const HEADER_BYTES: u16 = 24;
    const PAGES: u64 = 16;
    for number in 0..PAGES {
        let header = span.padded(number * 8192, 24)?;
        if header.iter().all(|byte| *byte == 0) {
            continue;
        }
        let field = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let (flags, lower, upper, special) = (field(10), field(12), field(14), field(16));
        let (size, version) = (field(18) & 0xff00, field(18) & 0xff);
        let is_size = size.is_power_of_two() && (1024..=32_768).contains(&size);
        let is_ordered = HEADER_BYTES <= lower && lower <= upper && upper <= special;
        // The space of special use has its size by the kind of index, and ends with the page.
        let is_special = special <= size && special.is_multiple_of(4) && size - special <= 512;
        // A page that was never logged has no LSN, and then holds something.
        let is_page = is_size && version == 4 && flags < 8 && is_ordered && is_special;
        return Ok(
            (is_page && span.size().is_multiple_of(1024)).then_some("PostgreSQL table or index")
        );
    }
    Ok(None)
}

/// SQL Server's data and log files: the header of page 0, which is of type 15. [Inside the storage
/// engine, "Anatomy of a page".]
fn sql_server(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    let is_header = span.array(0)? == Some([1, 15, 0, 0]);
    let has_neighbours = span.le32(8)? != 0 || span.le32(16)? != 0;
    let (page, file) = (span.le32(32)?, span.le16(36)?);
    let is_first = page == 0 && (1..=32_767).contains(&file) && !has_neighbours;
    Ok((is_header && is_first).then_some("SQL Server data or log file"))
}

/// Firebird and InterBase: the header page has its size and the version of the structure (ods.h).
fn firebird(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    const FIREBIRD: u16 = 0x8000;
    let kind = span.padded(0, 1)?[0];
    let (size, version) = (span.le16(16)?, span.le16(18)?);
    let is_size = size.is_power_of_two() && (1024..=32_768).contains(&size);
    // Checksums were the number 12345, then nothing.
    let is_checked = [0, 12_345].contains(&span.le16(2)?);
    let is_version = version & FIREBIRD != 0 && (10..=20).contains(&(version & !FIREBIRD & 0xff));
    Ok((kind == 1 && is_size && is_checked && is_version).then_some("Firebird database"))
}

/// Informix: the first reserved page of a root dbspace names the product.
fn informix(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    const NAME: &[u8] = b"Informix Dynamic Server";
    let page = span.padded(0, 4096)?;
    let has_name = page.windows(NAME.len()).any(|window| window == NAME);
    // A text that names it is not a chunk.
    Ok((has_name && page.contains(&0)).then_some("Informix chunk"))
}

/// Kafka: a segment begins with a batch of version 2 whose length fits (RecordBatch).
fn kafka(span: &Span<'_>) -> io::Result<Option<&'static str>> {
    let length = span.be32(8)?;
    let version = span.padded(16, 1)?[0];
    let (last, records) = (span.be32(23)?, span.be32(57)?);
    let is_sized = (49..=100 << 20).contains(&length) && u64::from(length) + 12 <= span.size();
    let is_counted = records > 0 && last < 1 << 24 && records <= last + 1;
    let (attributes, base) = (span.be16(21)?, span.be64(0)?);
    let is_batch = version == 2 && is_sized && is_counted && attributes < 128 && base >> 48 == 0;
    Ok(is_batch.then_some("Kafka log segment"))
}
