//! Keeps the answers of Windows without what names somebody.

use std::cell::RefCell;

use crate::ANSWERS;
use crate::windows_answers::{
    Answer, DRIVE_LAYOUT, PREDICT_FAILURE, QUERY_PROPERTY, Question, System, hex,
};
use crate::windows_guards::{EXCLUSIONS, is_below};
use crate::windows_mof as mof;
use crate::windows_structures::{LAYOUT_BYTES, PARTITION_BYTES};

/// Asks a system and keeps its answers, without what names somebody: paths, volumes, accounts,
/// serial numbers and identities of disks and partitions are replaced.
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
                Question::RegistryValues => self.values(about, &name).into_bytes(),
                Question::SqlServices => self.services(&name).into_bytes(),
                Question::Holders(_) => {
                    name.lines().map(|sid| self.identity(sid) + "\n").collect::<String>().into()
                }
                Question::Management(_) => self.instances(&name).into_bytes(),
                _ => bytes.clone(),
            }
        });
        let about = match question {
            Question::Kind
            | Question::FinalPath
            | Question::MountPoint
            | Question::Attributes
            | Question::Integrity => self.word(about, "target"),
            Question::Registry(_) | Question::RegistryValues | Question::Management(_) => {
                about.to_owned()
            }
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

    /// Values of the registry. Those that Defender passes over are paths and names of programs.
    fn values(&self, key: &str, lines: &str) -> String {
        if !EXCLUSIONS.iter().any(|known| key.starts_with(known)) {
            return lines.to_owned();
        }
        let kept = |line: &str| {
            let name = line.split('\t').next().unwrap_or_default();
            if key.ends_with("Extensions") {
                return name.to_owned();
            }
            if name.to_ascii_lowercase().ends_with("sqlservr.exe") {
                return "sqlservr.exe".to_owned();
            }
            // A target that is passed over is still so by its word.
            let words = self.words.borrow();
            let below = words.iter().filter(|(known, _)| is_below(known, name));
            let word = below.map(|(_, word)| word).max_by_key(|word| word.starts_with("path"));
            let word = word.cloned();
            drop(words);
            word.unwrap_or_else(|| self.word(name, "excluded"))
        };
        lines.lines().map(|line| kept(line) + "\t\n").collect()
    }

    /// Services of SQL Server without the names that people gave to them and to their accounts.
    fn services(&self, lines: &str) -> String {
        let kept = |line: &str| {
            let mut parts = line.split('\t');
            let mut next = || parts.next().unwrap_or_default();
            let (service, account, of_account, own) = (next(), next(), next(), next());
            let service = match service {
                "MSSQLSERVER" => service.to_owned(),
                named => self.word(named, "service"),
            };
            let account = match account {
                "LocalSystem" | r"NT SERVICE\MSSQLSERVER" => account.to_owned(),
                named => self.word(named, "account"),
            };
            let (of_account, own) = (self.identity(of_account), self.identity(own));
            format!("{service}\t{account}\t{of_account}\t{own}\n")
        };
        lines.lines().map(kept).collect()
    }

    /// An identity (SID). Those of users, domains and services are replaced.
    fn identity(&self, sid: &str) -> String {
        let is_named = ["S-1-5-21-", "S-1-5-80-"].iter().any(|start| sid.starts_with(start));
        if is_named { self.word(sid, "identity") } else { sid.to_owned() }
    }

    /// Instances whose texts are words, other than those that are numbers or names of Windows.
    fn instances(&self, answer: &str) -> String {
        const KEPT: [&str; 4] = ["ResiliencySettingName", "Interleave", "DsmPathId", "Reserved"];
        mof::renamed(&mof::instances(answer), &mut |name, text| {
            if KEPT.contains(&name) {
                return text.to_owned();
            }
            // The driver of paths adds this to the name that the disk has elsewhere.
            let (bare, end) = text.strip_suffix("_0").map_or((text, ""), |bare| (bare, "_0"));
            let words = self.words.borrow();
            let known = words.iter().find(|(known, _)| known.eq_ignore_ascii_case(bare));
            let word = known.map(|(_, word)| word.clone());
            drop(words);
            word.unwrap_or_else(|| self.word(bare, "name")) + end
        })
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
        // What follows is the maker's own.
        PREDICT_FAILURE => answer.get(..4).unwrap_or(answer).to_vec(),
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
