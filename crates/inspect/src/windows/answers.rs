//! What Windows is asked, and its answers as bytes. So the answers of a server that nobody here has
//! can be kept, sent, and given again.

use std::cell::RefCell;
use std::fmt::{self, Write as _};

use crate::ANSWERS;
use crate::windows_structures::{LAYOUT_BYTES, PARTITION_BYTES};

/// `IOCTL_STORAGE_QUERY_PROPERTY`
pub(crate) const QUERY_PROPERTY: u32 = 0x002D_1400;
/// `IOCTL_DISK_GET_DRIVE_LAYOUT_EX`
pub(crate) const DRIVE_LAYOUT: u32 = 0x0007_0050;

/// A question to Windows. What it is about is named next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// About the machine: the version of the system, as three numbers of 32 bits.
    Version,
    /// About the machine: bytes of memory, and of that what is available, of 64 bits each.
    Memory,
    /// About the machine: the records of `GetLogicalProcessorInformationEx`.
    Processors,
    /// About a key under `HKEY_LOCAL_MACHINE`: the text of this value.
    Registry(&'static str),
    /// About a path: 1 for a directory, 2 for a file, 3 for something else.
    Kind,
    /// About a path: where it leads, with every link followed.
    FinalPath,
    /// About a path: the directory that its volume is mounted on.
    MountPoint,
    /// About that directory: the name of the volume, such as `\\?\Volume{…}\`.
    Volume,
    /// About that directory: the flags of `GetVolumeInformation` (32 bits), and the name of the
    /// file system.
    FileSystem,
    /// About that directory: bytes of a cluster, of 64 bits.
    Cluster,
    /// About that directory: bytes that this user may take, all bytes, and all that are free, of 64
    /// bits each.
    Space,
    /// About a volume or a disk: what it answers to `DeviceIoControl` with this code and input.
    Control(u32, Vec<u8>),
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "version",
            Self::Memory => "memory",
            Self::Processors => "processors",
            Self::Registry(value) => return write!(f, "registry {value}"),
            Self::Kind => "kind",
            Self::FinalPath => "final-path",
            Self::MountPoint => "mount-point",
            Self::Volume => "volume",
            Self::FileSystem => "file-system",
            Self::Cluster => "cluster",
            Self::Space => "space",
            Self::Control(code, input) => {
                write!(f, "control {code:08x}")?;
                return if input.is_empty() { Ok(()) } else { write!(f, " {}", hex(input)) };
            }
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that Windows answered, or the number of its error.
pub(crate) type Answer = Result<Vec<u8>, u32>;

/// Windows, or what gives its answers again.
pub(crate) trait System {
    /// What Windows answers to a question about something.
    fn ask(&self, about: &str, question: &Question) -> Answer;

    /// The answer, empty if there is none.
    fn bytes(&self, about: &str, question: &Question) -> Vec<u8> {
        self.ask(about, question).unwrap_or_default()
    }

    /// The answer as a text, unless it is empty.
    fn text(&self, about: &str, question: &Question) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(about, question)).trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    }
}

/// Asks a system and keeps its answers, without what names somebody: paths, volumes, serial numbers
/// and identities of disks and partitions are replaced.
pub(crate) struct Recorder<'a> {
    system: &'a dyn System,
    lines: RefCell<Vec<String>>,
    /// Names with the words for them.
    words: RefCell<Vec<(String, String)>>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(system: &'a dyn System) -> Self {
        Self { system, lines: RefCell::default(), words: RefCell::default() }
    }

    /// The word for a name, the same each time. Drives are called what they are.
    fn word(&self, name: &str, kind: &str) -> String {
        let is_drive =
            matches!(name.as_bytes(), [letter, b':', b'\\'] if letter.is_ascii_alphabetic());
        let mut words = self.words.borrow_mut();
        if let Some((_, word)) = words.iter().find(|(known, _)| known == name) {
            return word.clone();
        }
        let number = words.iter().filter(|(_, word)| word.starts_with(kind)).count() + 1;
        let word = if is_drive { name.to_owned() } else { format!("{kind} {number}") };
        words.push((name.to_owned(), word.clone()));
        word
    }

    fn keep(&self, about: &str, question: &Question, answer: &Answer) {
        let kept = answer.as_ref().map(|bytes| {
            let name = String::from_utf8_lossy(bytes);
            match question {
                Question::FinalPath => self.word(&name, "path").into_bytes(),
                Question::MountPoint => self.word(&name, "mount").into_bytes(),
                Question::Volume => self.word(&name, "volume").into_bytes(),
                Question::Control(code, input) => without_identity(*code, input, bytes),
                _ => bytes.clone(),
            }
        });
        let about = match question {
            Question::Kind | Question::FinalPath | Question::MountPoint => {
                self.word(about, "target")
            }
            Question::Registry(_) => about.to_owned(),
            _ => {
                let words = self.words.borrow();
                let word = words.iter().find(|(known, _)| known == about);
                word.map_or_else(|| about.to_owned(), |(_, word)| word.clone())
            }
        };
        let answer = match kept {
            Ok(bytes) => hex(&bytes),
            Err(number) => format!("error {number}"),
        };
        let line = format!("{about}\t{question}\t{answer}");
        let mut lines = self.lines.borrow_mut();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }

    /// The recording, one answer in a line: what was asked about, the question, the bytes.
    pub(crate) fn recording(&self, tool_version: &str) -> String {
        let head = format!("{ANSWERS}\n# iosonde {tool_version}\n");
        self.lines.borrow().iter().fold(head, |text, line| text + line + "\n")
    }
}

impl System for Recorder<'_> {
    fn ask(&self, about: &str, question: &Question) -> Answer {
        let answer = self.system.ask(about, question);
        self.keep(about, question, &answer);
        answer
    }
}

/// The answer of a device without its serial number, and without the identities and names in its
/// table of partitions.
fn without_identity(code: u32, input: &[u8], answer: &[u8]) -> Vec<u8> {
    match code {
        QUERY_PROPERTY if input.first() == Some(&0) => without_serial(answer),
        DRIVE_LAYOUT => without_identities(answer),
        _ => answer.to_vec(),
    }
}

/// A `STORAGE_DEVICE_DESCRIPTOR` with the texts of maker, model and firmware, and with as many
/// letters X as the serial number has. What else follows its head may repeat that number.
fn without_serial(answer: &[u8]) -> Vec<u8> {
    let mut kept = answer.to_vec();
    if let Some(rest) = kept.get_mut(36..) {
        rest.fill(0);
    }
    let serial = 24;
    for at in [12, 16, 20, serial] {
        let place = answer.get(at..).and_then(|rest| rest.first_chunk());
        let place = place.map_or(0, |place| u32::from_le_bytes(*place) as usize);
        let text = answer.get(place.max(36)..).filter(|_| place >= 36).unwrap_or_default();
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(0);
        if let Some(room) = kept.get_mut(place..place.saturating_add(length)) {
            if at == serial { room.fill(b'X') } else { room.copy_from_slice(&text[..length]) }
        }
    }
    kept
}

/// A `DRIVE_LAYOUT_INFORMATION_EX` without identities and names.
fn without_identities(answer: &[u8]) -> Vec<u8> {
    let is_gpt = |bytes: &[u8]| bytes.first() == Some(&1);
    let mut kept = answer.to_vec();
    let length = kept.len().min(LAYOUT_BYTES);
    let (head, entries) = kept.split_at_mut(length);
    let identity = if is_gpt(head) { 8..24 } else { 8..16 };
    head.get_mut(identity).unwrap_or_default().fill(0);
    for entry in entries.chunks_mut(PARTITION_BYTES) {
        let ranges = if is_gpt(entry) { [48..64, 72..144] } else { [40..56, 56..144] };
        for range in ranges {
            let end = range.end.min(entry.len());
            entry.get_mut(range.start..end).unwrap_or_default().fill(0);
        }
    }
    kept
}
