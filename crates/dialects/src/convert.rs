//! Workloads between the files of iosonde and of other tools: what a file is, what it says, and how
//! another would say it.

use std::fmt;

use workload::Workload;

use crate::dialect::WorkloadFile;
use crate::{DIALECTS, text};

/// iosonde's own kind of file, TOML.
pub static TOML: WorkloadFile = WorkloadFile {
    word: "toml",
    about: "iosonde's own",
    files: "iosonde's TOML",
    extensions: &["toml"],
    is_in: |text| text.parse::<Workload>().is_ok(),
    read: |bytes, _, _| {
        let workload = text::decode(bytes).parse();
        let workload = workload.map_err(|e: workload::ParseError| e.to_string())?;
        Ok(Parts::of(vec![Part { name: "workload".to_owned(), workload, lost: Vec::new() }]))
    },
    write: |workload| Ok((workload.to_toml().map_err(|e| e.to_string())?, Vec::new())),
    test_file: None,
};

/// Every kind of file that holds a workload, iosonde's own first.
pub fn kinds() -> impl Iterator<Item = &'static WorkloadFile> {
    std::iter::once(&TOML).chain(DIALECTS.iter().rev().filter_map(|dialect| dialect.workloads))
}

/// The kind with this word, if there is one.
#[must_use]
pub fn kind(word: &str) -> Option<&'static WorkloadFile> {
    kinds().find(|kind| kind.word == word)
}

/// The kind that usually has this extension.
#[must_use]
pub fn kind_of_extension(extension: &str) -> Option<&'static WorkloadFile> {
    kinds().find(|kind| kind.extensions.iter().any(|known| known.eq_ignore_ascii_case(extension)))
}

/// The kind that a text looks like.
#[must_use]
pub fn kind_of_text(text: &str) -> Option<&'static WorkloadFile> {
    let tables = || text.lines().any(|line| line.trim_start().starts_with("[["));
    // Other tools have marks of their own; a workload with a mistake has none but its tables.
    let theirs = kinds().skip(1).find(|kind| (kind.is_in)(text));
    theirs.or_else(|| ((TOML.is_in)(text) || tables()).then_some(&TOML))
}

/// Names joined as one says them: `a, b and c`.
#[must_use]
pub fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// One of the workloads that a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What the workload is called.
    pub name: String,
    /// The same as a workload of iosonde, as far as it can express it.
    pub workload: Workload,
    /// What the file asks for that iosonde cannot express.
    pub lost: Vec<String>,
}

/// Makes one of the workloads of a file, from 0. An error says why it cannot be made.
type MakePart = Box<dyn Fn(usize) -> Result<Part, String>>;

/// The workloads of a file, in the order in which they run. What a short file asks for may be long:
/// each is made when it is taken.
pub struct Parts {
    /// Losses of the file as a whole, for every workload in it.
    pub lost: Vec<String>,
    len: usize,
    make: MakePart,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("lost", &self.lost)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl Parts {
    /// So many workloads that are made when they are taken.
    pub(crate) fn new(lost: Vec<String>, len: usize, make: MakePart) -> Self {
        Self { lost, len, make }
    }

    /// A file that holds these workloads.
    pub(crate) fn of(parts: Vec<Part>) -> Self {
        let len = parts.len();
        let make = move |index: usize| parts.get(index).cloned().ok_or_else(String::new);
        Self::new(Vec::new(), len, Box::new(make))
    }

    /// The same, with these losses of the file as a whole.
    pub(crate) fn without(self, lost: Vec<String>) -> Self {
        Self { lost, ..self }
    }

    /// How many there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a file without any is an error")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// One of the workloads, from 0; `None` after the last. An error says why a run cannot become a
    /// workload.
    #[must_use]
    pub fn part(&self, index: usize) -> Option<Result<Part, String>> {
        (index < self.len).then(|| (self.make)(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::drives::Drives;
    use crate::fio::jobs::Environment;

    fn icf() -> &'static WorkloadFile {
        kind("icf").unwrap()
    }

    fn workload() -> Workload {
        let text = "seconds = 20\n[[targets]]\npath = \"/dev/sdz\"\nsize_bytes \
            = \"4G\"\n[[streams]]\nname = \"main\"\n\
                    targets = [0]\ndepth = 32\nwrite_percent = 50\ncontent = \"fixed\"\n";
        text.parse().unwrap()
    }

    /// Drives of Windows, on another system.
    fn elsewhere() -> Drives {
        Drives::default().on_windows(false)
    }

    #[test]
    fn every_kind_is_known_by_its_text_and_says_the_same() {
        for kind in kinds() {
            let (text, _) = (kind.write)(&workload()).unwrap();
            assert_eq!(kind_of_text(&text), Some(kind), "{text}");
            let parts = (kind.read)(text.as_bytes(), &elsewhere(), Environment::NOTHING).unwrap();
            assert_eq!(parts.len(), 1, "{text}");
            let part = parts.part(0).unwrap().unwrap();
            assert_eq!(part.workload.in_flight(), 32, "{text}");
            assert_eq!((part.workload.seconds, part.workload.targets.len()), (20.0, 1));
            let stream = &part.workload.streams[0];
            assert_eq!((stream.write_percent, stream.largest_block()), (50, 8192), "{text}");
            assert_eq!(part.workload.targets[0].size_bytes.map(|b| b.0), Some(4 << 30), "{text}");
            assert_eq!(part.workload.violations(), []);
        }
        assert_eq!(kind_of_text("hello"), None);
        assert_eq!(kind_of_extension("ICF"), Some(icf()));
        let words: Vec<&str> = kinds().map(|kind| kind.word).collect();
        assert_eq!(listed(words.into_iter()), "toml, icf, diskspd and fio");
    }

    #[test]
    fn what_a_configuration_loses_is_told_once_and_its_runs_are_made_one_by_one() {
        let bytes = include_bytes!("../tests/it/iometer/v1.1.0.icf");
        let drives = Drives::new(vec!["E=/mnt/e".parse().unwrap(), "1=/dev/sdb".parse().unwrap()]);
        let parts = (icf().read)(bytes, &drives, Environment::NOTHING).unwrap();
        let managers = |lost: &[String]| lost.iter().filter(|l| l.contains("managers")).count();
        assert_eq!((parts.len(), managers(&parts.lost)), (16, 1), "{:?}", parts.lost);
        assert_eq!(managers(&parts.part(15).unwrap().unwrap().lost), 0);
        assert!(parts.part(16).is_none());
        // Without the drives the file still has 16 runs. The run that is taken reports what is
        // missing.
        let parts = (icf().read)(bytes, &elsewhere(), Environment::NOTHING).unwrap();
        assert!(parts.part(0).unwrap().unwrap_err().contains("--drive"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let text = text::decode(&bytes);
            let _ = kind_of_text(&text);
            for kind in kinds() {
                if let Ok(parts) = (kind.read)(&bytes, &elsewhere(), Environment::NOTHING) {
                    for part in (0..parts.len()).filter_map(|n| parts.part(n)?.ok()) {
                        kinds().for_each(|other| drop((other.write)(&part.workload)));
                    }
                }
            }
        }
    }
}
