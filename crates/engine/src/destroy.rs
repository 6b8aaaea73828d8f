//! What the user allows to be overwritten, and how that is written.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A file or device whose content may be lost, as `--destroy` names it: `/dev/sdb`, or
/// `/dev/sdb=ext4` where it holds a file system, a partition table or a disk image.
///
/// The text is split only against the name of a target: a name may contain `=`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Destroy(PathBuf);

impl Destroy {
    /// As it is written.
    #[must_use]
    pub fn new(text: impl Into<PathBuf>) -> Self {
        Self(text.into())
    }

    /// All of the text, which may be a path with `=` in its name.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Whether it names this target.
    #[must_use]
    pub fn names(&self, target: &Path) -> bool {
        self.word_for(target).is_some()
    }

    /// The word for the content of this target, if it names the target; empty if it has none.
    #[must_use]
    pub(crate) fn word_for(&self, target: &Path) -> Option<&str> {
        if self.0 == target {
            return Some("");
        }
        let (path, word) = self.parts()?;
        (path == target).then_some(word)
    }

    /// The path and the word, where the text may be read so.
    fn parts(&self) -> Option<(PathBuf, &str)> {
        let name = self.0.file_name()?.to_str()?;
        let (path, word) = name.rsplit_once('=').filter(|(_, word)| !word.is_empty())?;
        // `E:=ntfs` has nothing before the word.
        Some((self.0.with_file_name(path), word))
    }

    /// The same with another path: the whole text if `resolve` finds that, or the part before the
    /// word.
    #[must_use]
    pub fn resolved(&self, resolve: impl Fn(&Path) -> Option<PathBuf>) -> Option<Self> {
        if let Some(path) = resolve(&self.0) {
            return Some(Self(path));
        }
        let (path, word) = self.parts()?;
        let mut text = resolve(&path)?.into_os_string();
        text.push("=");
        text.push(word);
        Some(Self(text.into()))
    }

    /// The same with the path replaced; a word stays.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(&Path) -> PathBuf) -> Self {
        let Some((path, word)) = self.parts() else { return Self(map(&self.0)) };
        let mut text = map(&path).into_os_string();
        text.push("=");
        text.push(word);
        Self(text.into())
    }
}

impl fmt::Display for Destroy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(formatter)
    }
}

impl From<OsString> for Destroy {
    fn from(text: OsString) -> Self {
        Self(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_follows_the_exact_name() {
        let of = |text: &str, target: &str| {
            Destroy::new(text).word_for(Path::new(target)).map(str::to_owned)
        };
        assert_eq!(of("/dev/sdb", "/dev/sdb").as_deref(), Some(""));
        assert_eq!(of("/dev/sdb=ext4", "/dev/sdb").as_deref(), Some("ext4"));
        assert_eq!(of("/dev/sdb=", "/dev/sdb"), None);
        assert_eq!(of("/dev/sdb1=ext4", "/dev/sdb"), None);
        assert_eq!(of("/dev/sdb=a/b", "/dev/sdb"), None);
        assert_eq!(of("/data/a=b", "/data/a=b").as_deref(), Some(""));
        assert_eq!(of("/data/a=b=xfs", "/data/a=b").as_deref(), Some("xfs"));
    }

    #[test]
    fn a_word_stays_when_the_path_is_resolved() {
        let known = |path: &Path| (path == Path::new("/a")).then(|| PathBuf::from("/b"));
        let resolved = |text: &str| Destroy::new(text).resolved(known);
        assert_eq!(resolved("/a"), Some(Destroy::new("/b")));
        assert_eq!(resolved("/a=gpt"), Some(Destroy::new("/b=gpt")));
        assert_eq!(resolved("/c=gpt"), None);
        let mapped = Destroy::new("x=gpt").mapped(|path| Path::new("/y").join(path));
        assert_eq!(mapped, Destroy::new("/y/x=gpt"));
    }
}
