//! The text of a job file as sections of options, each with its place.

use std::collections::BTreeMap;

use super::Environment;
use super::values::filled_in;

/// A line and a column in characters, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A job with the options that hold for it.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) options: BTreeMap<String, String>,
    /// Where each option is in the file, for messages.
    pub(super) places: BTreeMap<String, Place>,
}

/// Names that mean the same option.
const ALIASES: [(&str, &str); 9] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blockalign", "ba"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
    ("random_align", "ba"),
    ("file_size", "filesize"),
    ("file_offset", "offset"),
    ("blocksize_range", "bsrange"),
];

/// Options with sizes, in which `k` and the like are units.
const SIZES: [&str; 10] = [
    "rw",
    "bs",
    "ba",
    "bssplit",
    "bsrange",
    "size",
    "filesize",
    "offset",
    "rate",
    "buffer_compress_chunk",
];

/// The longest line that is read, and the most options of a file: each job has all global ones.
const LINE_BYTES_MAX: usize = 64 << 10;
/// The most jobs that a file may have.
const JOBS_MAX: usize = 10_000;

/// What a job file has, section by section.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub(super) jobs: Vec<Job>,
    /// Lines that do not belong in a job file.
    pub(super) odd: Vec<(Place, String)>,
    /// The first option whose value is not known.
    pub(super) wrong: Option<(Place, String)>,
}

/// Splits a text into its sections.
pub(super) fn sections(text: &str, environment: Environment<'_>) -> Sections {
    let mut found = Sections::default();
    let mut global = Job::new("global", Place { line: 1, column: 1 });
    let mut in_global = false;
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let indent = raw.chars().take_while(|c| c.is_whitespace()).count();
        let place = Place { line, column: indent + 1 };
        let bare = raw.split([';', '#']).next().unwrap_or_default().trim();
        if bare.is_empty() {
            continue;
        }
        if bare.len() > LINE_BYTES_MAX || found.jobs.len() > JOBS_MAX {
            found.odd.push((place, "the file is too long; the rest is left out".to_owned()));
            break;
        }
        if let Some(name) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            in_global = name.trim() == "global";
            if !in_global {
                found.jobs.push(Job { place, name: name.trim().to_owned(), ..global.clone() });
            }
            continue;
        }
        let target = if in_global { Some(&mut global) } else { found.jobs.last_mut() };
        match target {
            Some(_) if bare.starts_with("include ") => {
                let text = format!("`{bare}`: the other file is not read; put its lines here");
                found.wrong.get_or_insert((place, text));
            }
            Some(job) => match filled_in(bare, environment) {
                Ok(option) => job.set(&option, place),
                Err(what) => {
                    job.set(bare, place);
                    found.wrong.get_or_insert((place, what));
                }
            },
            None => {
                found.odd.push((place, format!("`{bare}` is before the first section")));
            }
        }
    }
    found.jobs.iter_mut().for_each(Job::settle_sizes);
    found
}

impl Job {
    fn new(name: &str, place: Place) -> Self {
        Self { name: name.to_owned(), place, options: BTreeMap::new(), places: BTreeMap::new() }
    }

    fn set(&mut self, line: &str, place: Place) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let name = name.trim();
        let alias = ALIASES.iter().find(|(other, _)| *other == name);
        let name = alias.map_or(name, |(_, name)| name).to_owned();
        self.places.insert(name.clone(), place);
        self.options.insert(name, value.trim().to_owned());
    }

    /// Writes sizes out in bytes: what `k` is depends on another option.
    fn settle_sizes(&mut self) {
        let kilo =
            if self.options.get("kb_base").is_some_and(|b| b == "1000") { 1000 } else { 1024 };
        self.options.remove("kb_base");
        for name in SIZES {
            if let Some(value) = self.options.get_mut(name) {
                *value = with_sizes_in_bytes(value, kilo);
            }
        }
    }
}

/// The same text with `4k` as `4096`, for every size between the marks that separate them.
fn with_sizes_in_bytes(text: &str, kilo: u64) -> String {
    let parts = text.split_inclusive([',', ':', '/', '-']);
    let part = |part: &str| {
        let end = part.trim_end_matches([',', ':', '/', '-']);
        let mark = part.get(end.len()..).unwrap_or_default();
        bytes(end, kilo).map_or_else(|| part.to_owned(), |bytes| format!("{bytes}{mark}"))
    };
    parts.map(part).collect()
}

/// Of the units with `ib` at their end, fio turns the meaning of the base around.
fn bytes(text: &str, kilo: u64) -> Option<u64> {
    let small = text.trim().to_ascii_lowercase();
    if let Some(digits) = small.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let end = small.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(small.len());
    let (number, unit) = small.split_at(end);
    let kilo = if unit.ends_with("ib") && kilo == 1024 { 1000 } else { 1024.min(kilo) };
    let power = match unit.chars().next() {
        None | Some('b') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some(_) => return None,
    };
    let known = ["", "b", "i", "ib"];
    if power > 0 && !known.contains(&unit.get(1..)?) || power == 0 && unit.len() > 1 {
        return None;
    }
    let factor = u64::pow(kilo, power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let bytes = number.parse::<f64>().ok()? * factor as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (0.0..9e18).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those that fio 3.33 reads.
    #[test]
    fn sizes_are_those_of_fio() {
        for (text, size) in [
            ("4k", 4096),
            ("4ki", 4096),
            ("4kb", 4096),
            ("4kib", 4000),
            ("1M", 1 << 20),
            ("0x1000", 4096),
            ("512b", 512),
            ("1.5g", 3 << 29),
        ] {
            assert_eq!(bytes(text, 1024), Some(size), "{text}");
        }
        assert_eq!(bytes("4k", 1000), Some(4000));
        assert_eq!(bytes("50%", 1024), None);
        assert_eq!(bytes("16777216t", 1024), None, "more than 64 bits hold");
        assert_eq!(with_sizes_in_bytes("4k/60:8k/40,64k/100", 1024), "4096/60:8192/40,65536/100");
        assert_eq!(with_sizes_in_bytes("4k,", 1024), "4096,");
    }

    #[test]
    fn jobs_have_the_global_options_that_stand_before_them() {
        let text = "; head\n\
            [global]\n\
            bs=8k ; inline\n\
            \x20 direct = 1\n\
            [a]\n\
            rw=randread\n\
            [global]\n\
            bs=4k\n\
            [b]\n\
            \x20time_based\n\
            wait_for_previous\n";
        let Sections { jobs, odd, .. } = sections(text, Environment::NOTHING);
        assert_eq!(odd, []);
        let [a, b] = jobs.as_slice() else { panic!("two jobs") };
        assert_eq!((a.name.as_str(), a.options["bs"].as_str()), ("a", "8192"));
        assert_eq!(a.places["direct"], Place { line: 4, column: 3 });
        assert_eq!((b.options["bs"].as_str(), b.options["direct"].as_str()), ("4096", "1"));
        assert!(b.options.contains_key("time_based") && b.options.contains_key("stonewall"));
    }
}
