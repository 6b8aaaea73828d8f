//! Special meanings of a path on Windows: devices, streams of a file, names that Windows changes
//! before it looks for them. Functions of texts and numbers, tested on every system.

const RAW: &str = "is a raw drive or volume, and this version does not use those on Windows, \
    neither for reading nor for writing; name a directory on it, such as `E:\\data`";
const BARE_DRIVE: &str = "names a drive without a directory, which Windows takes for the current \
    directory of that drive and DiskSpd for the raw volume; write `E:\\` for its root";
const STREAM: &str = "names an alternate stream of a file; name the file itself, or a directory";
const TRAILING: &str = "has a name that ends in a dot or a blank, which Windows drops, so that \
    another file is meant; write the name without it";
const RESERVED: &str = "has a name that Windows keeps for a device; choose another";
const PIPE: &str = "is a pipe; name a directory or a file";

/// Names of devices that Windows finds in every directory.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Files that Windows itself swaps to or sleeps in.
const SYSTEM_FILES: [&str; 3] = ["pagefile.sys", "swapfile.sys", "hiberfil.sys"];

/// Why a path cannot be a target, if so: words that continue a sentence which begins with it.
pub(crate) fn problem(path: &str) -> Option<&'static str> {
    let path = path.replace('/', "\\");
    let is_drive = |text: &str| {
        let mut letters = text.chars();
        letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':')
    };
    if path.starts_with(r"\\.\") || path.starts_with(r"\??\") {
        return Some(RAW);
    }
    let rest = match path.strip_prefix(r"\\?\") {
        Some(verbatim) => {
            let Some((root, rest)) = verbatim.split_once('\\') else { return Some(RAW) };
            let is_volume = root.to_ascii_lowercase().starts_with("volume{");
            let is_share = root.eq_ignore_ascii_case("unc");
            let known = is_drive(root) && root.len() == 2 || is_volume || is_share;
            if !known || rest.is_empty() && is_volume {
                return Some(RAW);
            }
            if is_share { format!(r"\\{rest}") } else { rest.to_owned() }
        }
        None if is_drive(&path) && path.len() == 2 => return Some(BARE_DRIVE),
        None if is_drive(&path) => path[2..].to_owned(),
        None => path,
    };
    if rest.starts_with(r"\\") {
        let place = rest.split('\\').filter(|part| !part.is_empty()).nth(1).unwrap_or_default();
        if ["pipe", "mailslot"].contains(&place.to_ascii_lowercase().as_str()) {
            return Some(PIPE);
        }
    }
    rest.split('\\').find_map(part_problem)
}

fn part_problem(part: &str) -> Option<&'static str> {
    if part.contains(':') {
        return Some(STREAM);
    }
    if part != "." && part != ".." && part.ends_with(['.', ' ']) {
        return Some(TRAILING);
    }
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let is_numbered = |kind: &str| {
        let number = stem.strip_prefix(kind).map(|rest| rest.chars().collect::<Vec<_>>());
        number.is_some_and(|n| matches!(n[..], ['0'..='9' | '¹' | '²' | '³']))
    };
    (DEVICES.contains(&stem.as_str()) || is_numbered("com") || is_numbered("lpt"))
        .then_some(RESERVED)
}

/// Whether a file is one that Windows swaps to or sleeps in.
pub(crate) fn is_of_system(name: &str) -> bool {
    SYSTEM_FILES.contains(&name.to_ascii_lowercase().as_str())
}

/// Why reads of a file with these attributes are not what a device delivers, if so.
pub(crate) fn falsifier(attributes: u32) -> Option<&'static str> {
    const KINDS: [(u32, &str); 5] = [
        (0x0800, "compressed by NTFS"),
        (0x4000, "encrypted by Windows (EFS)"),
        (0x0200, "sparse"),
        (0x0040_0000 | 0x0004_0000 | 0x1000, "kept elsewhere and fetched when it is read"),
        (0x0400, "a reparse point (deduplicated, or in a cloud)"),
    ];
    KINDS.iter().find(|(bits, _)| attributes & bits != 0).map(|(_, what)| *what)
}

/// The checksums that ReFS keeps of a file, in the answer to `FSCTL_GET_INTEGRITY_INFORMATION`;
/// `None` if it keeps none, or the answer is not one.
pub(crate) fn integrity(answer: &[u8]) -> Option<&'static str> {
    // Algorithm, reserved, flags, bytes of a checksum's chunk and of a cluster.
    const ANSWER_BYTES: usize = 16;
    let algorithm = answer.first_chunk::<2>().filter(|_| answer.len() >= ANSWER_BYTES)?;
    match u16::from_le_bytes(*algorithm) {
        0 => None,
        1 => Some("CRC32"),
        2 => Some("CRC64"),
        _ => Some("an algorithm unknown to iosonde"),
    }
}

/// Group and bit of a CPU by its flat number: those of earlier groups come first.
pub(crate) fn place_of_cpu(cpu: u32, groups: &[u32]) -> Option<(u16, u32)> {
    let mut first = 0;
    for (group, count) in groups.iter().enumerate() {
        if cpu < first + count {
            return Some((u16::try_from(group).ok()?, cpu - first));
        }
        first += count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_paths_are_targets() {
        for path in [
            r"C:\",
            r"C:\data",
            "C:/data/x.dat",
            r"\\nas\sql\x.dat",
            r"\\?\C:\data\x.dat",
            r"\\?\UNC\nas\sql\x",
            r"\\?\Volume{0-1}\x",
            r"..\x.dat",
            "x.dat",
            r"C:x.dat",
            r"C:\.config\x",
            "command.com.dat",
            "nullable",
            "com10",
        ] {
            assert_eq!(problem(path), None, "{path}");
        }
    }

    #[test]
    fn what_means_something_else_is_no_target() {
        for (path, why) in [
            (r"\\.\PhysicalDrive0", RAW),
            ("//./PhysicalDrive0", RAW),
            (r"\\.\C:", RAW),
            (r"\??\C:\x", RAW),
            (r"\\?\GLOBALROOT\Device\Harddisk0", RAW),
            (r"\\?\Volume{0-1}\", RAW),
            (r"\\?\PhysicalDrive0", RAW),
            (r"\\?\C:", RAW),
            (r"\\?\UNC\server\pipe\x", PIPE),
            ("E:", BARE_DRIVE),
            (r"C:\x.dat:hidden", STREAM),
            (r"C:\x.dat::$DATA", STREAM),
            (r"C:\sales.mdf.", TRAILING),
            (r"C:\sales.mdf ", TRAILING),
            (r"\\?\C:\a.\x", TRAILING),
            ("nul", RESERVED),
            (r"C:\data\Com1.dat", RESERVED),
            (r"C:\data\lpt².dat", RESERVED),
            (r"\\server\pipe\sql\query", PIPE),
        ] {
            assert_eq!(problem(path), Some(why), "{path}");
        }
    }

    #[test]
    fn attributes_tell_what_a_device_does_not_deliver() {
        assert_eq!(falsifier(0x20), None);
        for attributes in [0x0820, 0x4020, 0x0220, 0x0040_0020, 0x0420] {
            assert!(falsifier(attributes).is_some(), "{attributes:x}");
        }
        assert!(is_of_system("PageFile.SYS") && !is_of_system("pagefile.dat"));
    }

    /// Answers as `winioctl.h` lays them out: no test machine has ReFS.
    #[test]
    fn checksums_of_refs_are_told_from_their_absence() {
        let answer = |algorithm: u16| {
            let words = [u32::from(algorithm), 0, 16 << 10, 64 << 10];
            words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()
        };
        assert_eq!(integrity(&answer(0)), None);
        assert_eq!(integrity(&answer(1)), Some("CRC32"));
        assert_eq!(integrity(&answer(2)), Some("CRC64"));
        assert!(integrity(&answer(9)).is_some(), "checksums of a later Windows");
        assert_eq!(integrity(&answer(2)[..15]), None, "cut");
        assert_eq!(integrity(&[]), None);
        let longer = [answer(2), vec![7; 8]].concat();
        assert_eq!(integrity(&longer), Some("CRC64"), "of a later Windows");
    }

    #[test]
    fn cpus_are_counted_over_groups() {
        let groups = [64, 32];
        assert_eq!(place_of_cpu(0, &groups), Some((0, 0)));
        assert_eq!(place_of_cpu(63, &groups), Some((0, 63)));
        assert_eq!(place_of_cpu(64, &groups), Some((1, 0)));
        assert_eq!(place_of_cpu(95, &groups), Some((1, 31)));
        assert_eq!(place_of_cpu(96, &groups), None);
    }

    proptest! {
        #[test]
        fn no_path_panics(path in ".*") {
            let _ = problem(&path);
        }

        #[test]
        fn no_answer_panics(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(integrity(&bytes).is_none() || bytes.len() >= 16);
        }
    }
}
