//! The files of a package, before it is known which kind of package: paths with their contents, in
//! an order that is always the same, owned by root, with one date.

use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};

use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::linux::failure::{Failure, because, packing};

/// What is at a path: a directory, a file or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// A directory, with its mode and who owns it
    Directory {
        /// The permission bits of the directory.
        mode: u16,
        /// The number that the user and the group have.
        owner: u64,
    },
    /// A file with its content.
    File {
        /// The bytes of the file.
        bytes: Vec<u8>,
        /// The permission bits of the file.
        mode: u16,
    },
    /// A symbolic link, and where it leads
    Link(String),
}

const PLAIN: Node = Node::Directory { mode: 0o755, owner: 0 };

/// Paths without a leading slash. A directory comes before its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
}

impl Tree {
    fn add(&mut self, path: &str, node: Node) {
        for (at, _) in path.match_indices('/') {
            self.nodes.entry(path[..at].to_owned()).or_insert(PLAIN);
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Adds a file that all may read.
    pub(crate) fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.add(path, Node::File { bytes: bytes.into(), mode: 0o644 });
    }

    /// Adds a file that all may run.
    pub(crate) fn program(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.add(path, Node::File { bytes: bytes.into(), mode: 0o755 });
    }

    /// Adds a symbolic link to a path.
    pub(crate) fn link(&mut self, path: &str, to: &str) {
        self.add(path, Node::Link(to.to_owned()));
    }

    /// Adds a directory, without anything in it.
    pub(crate) fn directory(&mut self, path: &str, mode: u16, owner: u64) {
        self.add(path, Node::Directory { mode, owner });
    }

    /// All paths with their nodes, in order.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), node))
    }

    /// A tar archive. Each path begins with `prefix`, and each date is `date`.
    pub(crate) fn tar(&self, prefix: &str, date: u64) -> Result<Vec<u8>, Failure> {
        let mut archive = tar::Builder::new(Vec::new());
        for (path, node) in self.nodes() {
            let mut header = Header::new_gnu();
            header.set_mtime(date);
            header.set_uid(0);
            header.set_gid(0);
            header.set_size(0);
            let path = format!("{prefix}{path}");
            let added = match node {
                Node::Directory { mode, owner } => {
                    header.set_entry_type(EntryType::Directory);
                    header.set_mode(u32::from(*mode));
                    header.set_uid(*owner);
                    header.set_gid(*owner);
                    archive.append_data(&mut header, format!("{path}/"), &[][..])
                }
                Node::File { bytes, mode } => {
                    header.set_mode(u32::from(*mode));
                    header.set_size(bytes.len() as u64);
                    archive.append_data(&mut header, path, &bytes[..])
                }
                Node::Link(to) => {
                    header.set_entry_type(EntryType::Symlink);
                    header.set_mode(0o777);
                    archive.append_link(&mut header, path, to)
                }
            };
            added.map_err(packing)?;
        }
        archive.into_inner().map_err(packing)
    }

    /// A zip archive. Each path begins with `prefix`, and each date is `date`, in seconds since
    /// 1970. It has no links.
    pub(crate) fn zip(&self, prefix: &str, date: u64) -> Result<Vec<u8>, Failure> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(dos_date(date)?);
        for (path, node) in self.nodes() {
            let path = format!("{prefix}{path}");
            match node {
                Node::Directory { mode, .. } => archive
                    .add_directory(path, options.unix_permissions(u32::from(*mode)))
                    .map_err(zipping)?,
                Node::File { bytes, mode } => {
                    archive
                        .start_file(path, options.unix_permissions(u32::from(*mode)))
                        .map_err(zipping)?;
                    archive.write_all(bytes).map_err(packing)?;
                }
                Node::Link(_) => return Err(because(format!("{path} is a link; a zip has none"))),
            }
        }
        Ok(archive.finish().map_err(zipping)?.into_inner())
    }
}

/// A moment as a zip keeps it: UTC here, in steps of two seconds.
fn dos_date(date: u64) -> Result<DateTime, Failure> {
    let wrong = || because(format!("a zip cannot have the date {date}"));
    let seconds = i64::try_from(date).map_err(|_| wrong())?;
    let at = jiff::Timestamp::from_second(seconds).map_err(|_| wrong())?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let part = |number: i8| u8::try_from(number).map_err(|_| wrong());
    let year = u16::try_from(at.year()).map_err(|_| wrong())?;
    let (month, day) = (part(at.month())?, part(at.day())?);
    let (hour, minute, second) = (part(at.hour())?, part(at.minute())?, part(at.second())?);
    DateTime::from_date_and_time(year, month, day, hour, minute, second).map_err(|_| wrong())
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes values")]
fn zipping(error: ZipError) -> Failure {
    because(format!("cannot write an archive: {error}"))
}

/// Compresses as gzip does, without a name and a date.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    writer.write_all(bytes).and_then(|()| writer.finish()).map_err(packing)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn example() -> Tree {
        let mut tree = Tree::default();
        tree.link("usr/bin/sqlio", "iosonde");
        tree.program("usr/bin/iosonde", "program");
        tree.file("usr/share/doc/iosonde/README.md", "words");
        tree.directory("var/lib/iosonde", 0o750, 65532);
        tree
    }

    #[test]
    fn an_archive_holds_what_was_put_in_with_fixed_owners_and_dates() {
        let bytes = example().tar("", 1_700_000_000).unwrap();
        let mut archive = tar::Archive::new(&bytes[..]);
        let mut found = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header().clone();
            assert_eq!(header.mtime().unwrap(), 1_700_000_000);
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            let link = entry.link_name().unwrap().map(|l| l.to_string_lossy().into_owned());
            let owner = header.uid().unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            found.push((path, header.mode().unwrap(), owner, link.unwrap_or(content)));
        }
        let row = |path: &str, mode, owner, text: &str| (path.into(), mode, owner, text.into());
        assert_eq!(
            found,
            [
                row("usr/", 0o755, 0, ""),
                row("usr/bin/", 0o755, 0, ""),
                row("usr/bin/iosonde", 0o755, 0, "program"),
                row("usr/bin/sqlio", 0o777, 0, "iosonde"),
                row("usr/share/", 0o755, 0, ""),
                row("usr/share/doc/", 0o755, 0, ""),
                row("usr/share/doc/iosonde/", 0o755, 0, ""),
                row("usr/share/doc/iosonde/README.md", 0o644, 0, "words"),
                row("var/", 0o755, 0, ""),
                row("var/lib/", 0o755, 0, ""),
                row("var/lib/iosonde/", 0o750, 65532, ""),
            ]
        );
    }

    #[test]
    fn a_zip_holds_what_was_put_in_with_its_date_and_takes_no_link() {
        let mut tree = Tree::default();
        tree.program("iosonde.exe", "program");
        tree.file("completions/iosonde.ps1", "words");
        let bytes = tree.zip("iosonde-1/", 1_700_000_000).unwrap();
        assert_eq!(bytes, tree.zip("iosonde-1/", 1_700_000_000).unwrap());
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut found = Vec::new();
        for at in 0..archive.len() {
            let mut entry = archive.by_index(at).unwrap();
            assert_eq!(entry.last_modified().unwrap().to_string(), "2023-11-14 22:13:20");
            let mut content = String::new();
            entry.read_to_string(&mut content).unwrap();
            found.push((entry.name().unwrap().into_owned(), content));
        }
        let row = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        assert_eq!(
            found,
            [
                row("iosonde-1/completions/", ""),
                row("iosonde-1/completions/iosonde.ps1", "words"),
                row("iosonde-1/iosonde.exe", "program"),
            ]
        );
        tree.link("sqlio.exe", "iosonde.exe");
        tree.zip("", 1_700_000_000).unwrap_err();
        // Its first year is 1980.
        Tree::default().zip("", 1).unwrap_err();
    }

    #[test]
    fn the_same_files_give_the_same_bytes_in_whatever_order_they_come() {
        let mut other = Tree::default();
        other.directory("var/lib/iosonde", 0o750, 65532);
        other.file("usr/share/doc/iosonde/README.md", "words");
        other.program("usr/bin/iosonde", "program");
        other.link("usr/bin/sqlio", "iosonde");
        let pack = |tree: &Tree| gzip(&tree.tar("", 1).unwrap()).unwrap();
        assert_eq!(pack(&example()), pack(&other));
        // Bytes 4 to 8 of a gzip file are its date.
        assert_eq!(pack(&other)[4..8], [0; 4]);
    }
}
