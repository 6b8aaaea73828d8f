//! Checks the content of a file or device before it is overwritten, through the descriptor that is
//! then written.

use std::fs::File;
use std::io;
use std::path::Path;

use inspect::{Medium, Signature, SignatureKind, signatures};
use workload::Bytes;

use crate::platform::files;
use crate::prepared::{Permissions, Refusal};

/// Signatures that a message names.
const NAMED_MAX: usize = 4;

/// The signatures on a file or device, the most serious first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Contents(Vec<Signature>);

impl Contents {
    /// What an open file or device of this size holds.
    pub(crate) fn of(file: &File, size_bytes: u64) -> io::Result<Self> {
        let read = |at: u64, buffer: &mut [u8]| files::read_exact_at(file, buffer, at);
        signatures(&Medium::new(size_bytes, &read)).map(Self)
    }

    /// Only what is not in a partition.
    pub(crate) fn without_partitions(self) -> Self {
        Self(self.0.into_iter().filter(|s| s.partition.is_none()).collect())
    }

    /// The signature of a database, as the end of a sentence.
    pub(crate) fn database(&self) -> Option<String> {
        let found = self.0.iter().find(|s| s.kind == SignatureKind::Database)?;
        Some(format!("its content is that of: {}", described(found)))
    }

    /// Whether it has a known content.
    pub(crate) fn is_something(&self) -> bool {
        !self.0.is_empty()
    }

    /// Refuses what is never overwritten: files of databases, and members of something larger.
    pub(crate) fn check_never(&self, path: &Path) -> Result<(), Refusal> {
        if let Some(sign) = self.database() {
            return Err(Refusal::Database { path: path.to_owned(), sign });
        }
        let Some(member) = self.0.iter().find(|s| s.kind == SignatureKind::Member) else {
            return Ok(());
        };
        Err(Refusal::Member {
            path: path.to_owned(),
            content: described(member),
            remedy: remedy(path, member),
        })
    }

    /// What would be lost, in words; `None` if nothing is known to be there.
    pub(crate) fn described(&self) -> Option<String> {
        let named: Vec<String> = self.0.iter().take(NAMED_MAX).map(described).collect();
        let more = self.0.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| named.join(", ") + &more)
    }

    /// Refuses content that `--destroy` does not name with the right word.
    pub(crate) fn check_word(&self, path: &Path, permissions: &Permissions) -> Result<(), Refusal> {
        let word = permissions.destroy.iter().filter_map(|d| d.word_for(path));
        // A target that is named twice needs its content only once.
        let word = word.max_by_key(|word| self.is_one(word)).unwrap_or_default();
        let (Some(content), Some(first)) = (self.described(), self.0.first()) else {
            // A word for what has gone meanwhile, as the run itself overwrote it, says nothing
            // wrong.
            return Ok(());
        };
        if self.is_one(word) {
            return Ok(());
        }
        let given = if word.is_empty() { None } else { Some(word.to_owned()) };
        Err(Refusal::Holds { path: path.to_owned(), content, word: first.word, given })
    }

    /// Whether something that is not inside of a partition is called that.
    fn is_one(&self, word: &str) -> bool {
        let word = match word.to_ascii_lowercase().as_str() {
            "dos" | "msdos" => "mbr".to_owned(),
            "fat" | "fat12" | "fat16" | "fat32" => "vfat".to_owned(),
            other => other.to_owned(),
        };
        self.0.iter().any(|s| s.partition.is_none() && s.word == word)
    }
}

/// A signature in words: `ext4 "data" (2 GiB, UUID 1234)`.
fn described(found: &Signature) -> String {
    let label = found.label.as_ref().map_or_else(String::new, |label| format!(" \"{label}\""));
    let size = found.size_bytes.map(|size| Bytes(size).to_string());
    let uuid = found.uuid.as_ref().map(|uuid| format!("UUID {uuid}"));
    let partition = found.partition.map(|number| format!("in its partition {number}"));
    let facts: Vec<String> = [size, uuid, partition].into_iter().flatten().collect();
    let facts = facts.join(", ");
    let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
    format!("{}{label}{facts}", found.what)
}

/// How a stale signature is removed.
fn remedy(path: &Path, found: &Signature) -> String {
    const BLOCK: u64 = 512;
    let shown = path.display();
    if found.is_known_to_wipefs {
        return format!("wipefs -a {shown}");
    }
    let block = found.offset_bytes / BLOCK;
    format!("dd if=/dev/zero of={shown} bs={BLOCK} seek={block} count=1 conv=notrunc")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::destroy::Destroy;

    fn held(kind: SignatureKind, word: &'static str) -> Contents {
        Contents(vec![Signature {
            kind,
            what: word.to_owned(),
            word,
            offset_bytes: 1024,
            label: Some("data".into()),
            uuid: Some("12-34".into()),
            size_bytes: Some(1 << 30),
            partition: None,
            is_known_to_wipefs: true,
        }])
    }

    fn checked(contents: &Contents, named: &[&str]) -> Result<(), String> {
        let destroy = named.iter().map(|text| Destroy::new(*text)).collect();
        let permissions = Permissions { destroy, ..Permissions::default() };
        contents.check_word(Path::new("/d"), &permissions).map_err(|e| e.to_string())
    }

    /// `--destroy` alone overwrote an unmounted file system without a word of what it was.
    #[test]
    fn a_file_system_is_overwritten_only_if_it_is_named_too() {
        let ext4 = held(SignatureKind::FileSystem, "ext4");
        let alone = checked(&ext4, &["/d"]).unwrap_err();
        for part in ["ext4 \"data\" (1 GiB, UUID 12-34)", "--destroy /d=ext4"] {
            assert!(alone.contains(part), "{alone}");
        }
        let wrong = checked(&ext4, &["/d=xfs"]).unwrap_err();
        assert!(wrong.contains("not xfs") && wrong.contains("--destroy /d=ext4"), "{wrong}");
        assert_eq!(checked(&ext4, &["/d=ext4"]), Ok(()));
        assert_eq!(checked(&ext4, &["/d", "/d=EXT4"]), Ok(()));
        assert!(checked(&ext4, &["/e=ext4"]).is_err());
        let table = held(SignatureKind::Table, "mbr");
        assert_eq!(checked(&table, &["/d=dos"]), Ok(()));
        assert_eq!(checked(&Contents(Vec::new()), &["/d=ext4"]), Ok(()), "already overwritten");
    }

    /// A physical volume of another host's volume group was overwritten.
    #[test]
    fn members_and_databases_are_never_overwritten() {
        let lvm = held(SignatureKind::Member, "lvm");
        let text = lvm.check_never(Path::new("/d")).unwrap_err().to_string();
        assert!(text.contains("never") && text.contains("`wipefs -a /d`"), "{text}");
        assert!(held(SignatureKind::Database, "database").check_never(Path::new("/d")).is_err());
        assert!(held(SignatureKind::FileSystem, "xfs").check_never(Path::new("/d")).is_ok());
    }
}
