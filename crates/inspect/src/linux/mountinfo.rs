//! /proc/self/mountinfo: which device is mounted where.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mount, as one line describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u64,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    /// The directory of the file system that is its root.
    pub(crate) root: PathBuf,
    /// The directory that it is mounted on.
    pub(crate) directory: PathBuf,
    pub(crate) kind: String,
    pub(crate) source: PathBuf,
    /// Of the mount, then of the file system; `ro` if either is.
    pub(crate) options: Vec<String>,
}

/// All mounts, in the order in which they were made. Lines that make no sense are left out.
pub(crate) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

/// `id parent major:minor root mount-point options optional… - type source options`
fn parse_line(line: &[u8]) -> Option<Mount> {
    // Exactly one blank separates fields, and a source may be empty.
    let mut fields = line.split(|byte| *byte == b' ');
    let id = ascii(fields.next()?)?.parse().ok()?;
    let _parent = fields.next()?;
    let (major, minor) = ascii(fields.next()?)?.split_once(':')?;
    let root = fields.next()?;
    let directory = fields.next()?;
    let mount_options = fields.next()?;
    fields.find(|field| *field == b"-")?;
    let kind = fields.next()?;
    let source = fields.next()?;
    let super_options = fields.next().unwrap_or_default();
    Some(Mount {
        id,
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        root: unescape_path(root),
        directory: unescape_path(directory),
        kind: String::from_utf8_lossy(&unescape(kind)).into_owned(),
        source: unescape_path(source),
        options: join_options(mount_options, super_options),
    })
}

fn ascii(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

fn unescape_path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// Blanks, tabs, newlines and backslashes are written as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match (first, after) {
            (b'\\', [high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', after @ ..]) => {
                rest = after;
                ((high - b'0') << 6) | ((middle - b'0') << 3) | (low - b'0')
            }
            _ => *first,
        });
    }
    bytes
}

fn join_options(of_mount: &[u8], of_file_system: &[u8]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    for field in [of_mount, of_file_system] {
        let text = String::from_utf8_lossy(&unescape(field)).into_owned();
        for option in text.split(',').filter(|option| !option.is_empty()) {
            if !options.iter().any(|known| known == option) {
                options.push(option.to_owned());
            }
        }
    }
    if options.iter().any(|option| option == "ro") {
        options.retain(|option| option != "rw");
    }
    options
}

/// The mount that `path` (absolute, without links) is on. The kernel's mount id decides if known;
/// else the longest mount point, of the same device number if there is one, mounted last.
pub(crate) fn find<'a>(
    mounts: &'a [Mount],
    path: &Path,
    mount_id: Option<u64>,
    device: Option<(u32, u32)>,
) -> Option<&'a Mount> {
    let covers = |mount: &&Mount| path.starts_with(&mount.directory);
    let by_id = mounts.iter().filter(covers).find(|mount| Some(mount.id) == mount_id);
    by_id.or_else(|| {
        // With equal keys the last one wins, and that one hides those before it.
        mounts.iter().filter(covers).max_by_key(|mount| {
            let same_device = Some((mount.major, mount.minor)) == device;
            (same_device, mount.directory.components().count())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::ffi::OsStrExt;

    /// Escapes bytes as the kernel does.
    fn escape(bytes: &[u8]) -> Vec<u8> {
        let mut escaped = Vec::new();
        for byte in bytes {
            if b" \t\n\\".contains(byte) {
                escaped.extend(format!("\\{byte:03o}").into_bytes());
            } else {
                escaped.push(*byte);
            }
        }
        escaped
    }

    #[test]
    fn a_line_with_everything() {
        let line = b"36 35 98:0 /mnt1 /mnt\\0402/a\\134b rw,noatime shared:1 master:2 - ext3 \
            /dev/root rw,errors=continue,noatime";
        let mounts = parse(line);
        let expected = Mount {
            id: 36,
            major: 98,
            minor: 0,
            root: PathBuf::from("/mnt1"),
            directory: PathBuf::from("/mnt 2/a\\b"),
            kind: "ext3".to_owned(),
            source: PathBuf::from("/dev/root"),
            options: ["rw", "noatime", "errors=continue"].map(String::from).into(),
        };
        assert_eq!(mounts, [expected]);
    }

    #[test]
    fn lines_that_make_no_sense_are_left_out() {
        let text =
            b"\n\xff\xfe\n1 2\n1 2 3 / /a rw - ext4 /dev/a rw\n1 2 3:x / /a rw - ext4 b rw\n\
            1 2 99999999999:1 / /a rw - ext4 b rw\n1 2 0:9 / /a rw no separator\n\
            7 2 0:9 / /a rw - tmpfs  rw\n";
        let mounts = parse(text);
        assert_eq!(mounts.len(), 1);
        assert_eq!((mounts[0].id, mounts[0].kind.as_str()), (7, "tmpfs"));
        assert_eq!(mounts[0].source, PathBuf::new());
    }

    #[test]
    fn read_only_wins_whoever_says_so() {
        let mounts = parse(b"1 0 8:1 / / rw,relatime - ext4 /dev/sda1 ro\n");
        assert_eq!(mounts[0].options, ["relatime", "ro"]);
    }

    #[test]
    fn the_longest_and_last_mount_is_the_one() {
        let mounts = parse(
            b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:2 / /data rw - ext4 /dev/sda2 rw\n\
              3 1 8:3 /sub /data/db rw - xfs /dev/sda3 rw\n4 1 8:4 / /data/db rw - xfs /dev/sda4 \
              rw\n",
        );
        let id = |path: &str, mount_id, device| {
            find(&mounts, Path::new(path), mount_id, device).map(|mount| mount.id)
        };
        assert_eq!(id("/data/db/file", None, None), Some(4));
        assert_eq!(id("/data/database", None, None), Some(2));
        assert_eq!(id("/database", None, None), Some(1));
        // A hidden mount, told by its device number or by the kernel.
        assert_eq!(id("/data/db", None, Some((8, 3))), Some(3));
        assert_eq!(id("/data/db", Some(2), Some((8, 3))), Some(2));
        // The number of a mount elsewhere means another system's table.
        assert_eq!(id("/home", Some(2), None), Some(1));
        assert_eq!(id("relative", None, None), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..400)) {
            let mounts = parse(&text);
            find(&mounts, Path::new("/a/b"), Some(1), Some((8, 1)));
        }

        #[test]
        fn any_fields_are_survived(fields in prop::collection::vec("[-0-9:/a\\\\, ]{0,6}", 0..14)) {
            parse(fields.join(" ").as_bytes());
        }

        #[test]
        fn escaped_paths_come_back(path in prop::collection::vec(1..=255_u8, 0..60)) {
            let mut line = b"1 0 8:1 / ".to_vec();
            line.extend(escape(&path));
            line.extend(b" rw - ext4 ");
            line.extend(escape(&path));
            line.extend(b" rw");
            let mounts = parse(&line);
            prop_assert_eq!(mounts.len(), 1);
            prop_assert_eq!(mounts[0].directory.as_os_str().as_bytes(), &path);
            prop_assert_eq!(mounts[0].source.as_os_str().as_bytes(), &path);
        }
    }
}
