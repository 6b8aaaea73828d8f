//! Workloads between the files of iosonde and of other tools: what a file is, what it says, and how
//! another would say it.

use workload::Workload;

use crate::drives::Drives;
use crate::fio::jobs::Environment;
use crate::{diskspd, fio, iometer, text};

/// Lines of a file that are named one by one.
const NOTES_MAX: usize = 1000;

/// A kind of file that holds a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// iosonde's own.
    Toml,
    /// IOMeter's configuration.
    Icf,
    /// DiskSpd's profile.
    Diskspd,
    /// fio's job file.
    Fio,
}

/// One workload of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What the file calls it.
    pub name: String,
    /// What it does.
    pub workload: Workload,
    /// What is asked for besides.
    pub lost: Vec<String>,
}

impl Kind {
    /// The kind that an extension stands for.
    #[must_use]
    pub fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "toml" => Self::Toml,
            "icf" => Self::Icf,
            "xml" => Self::Diskspd,
            "fio" | "job" => Self::Fio,
            _ => return None,
        })
    }

    /// The kind that a text looks like.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let begin = text.trim_start().to_ascii_lowercase();
        let header = |line: &str| {
            let line = line.trim_start().to_ascii_lowercase();
            line.starts_with("'test setup")
                || line.starts_with("'access specifications")
                || line.starts_with("'manager list")
        };
        if begin.starts_with('<') {
            return Some(Self::Diskspd);
        }
        if text.lines().any(header) {
            return Some(Self::Icf);
        }
        if text.parse::<Workload>().is_ok() {
            return Some(Self::Toml);
        }
        if fio::jobs::is_job_file(text) {
            return Some(Self::Fio);
        }
        text.lines().any(|line| line.trim_start().starts_with("[[")).then_some(Self::Toml)
    }
}

/// The workloads of a file, in the order in which they run. What a short file asks for may be long:
/// each is made when it is taken.
#[derive(Debug)]
pub struct Parts {
    /// What is lost of the file, whichever workload of it is taken.
    pub lost: Vec<String>,
    source: Source,
}

/// Where the workloads come from.
#[derive(Debug)]
enum Source {
    Made(Vec<Part>),
    Icf { config: Box<iometer::Config>, steps: Vec<iometer::Step>, drives: Drives },
}

impl Parts {
    /// How many there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a file without any is an error")]
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Made(parts) => parts.len(),
            Source::Icf { steps, .. } => steps.len(),
        }
    }

    /// One of them, from 0; none behind the last. An error is why a run is no workload.
    pub fn part(&self, index: usize) -> Option<Result<Part, String>> {
        match &self.source {
            Source::Made(parts) => parts.get(index).cloned().map(Ok),
            Source::Icf { config, steps, drives } => {
                steps.get(index).map(|step| part_of_step(config, step, drives))
            }
        }
    }
}

/// Every workload of a file. An error is what is wrong, line by line.
pub fn read(
    kind: Kind,
    bytes: &[u8],
    drives: &Drives,
    environment: Environment<'_>,
) -> Result<Parts, String> {
    let made = |parts| Parts { lost: Vec::new(), source: Source::Made(parts) };
    match kind {
        Kind::Toml => {
            let workload =
                text::decode(bytes).parse().map_err(|e: workload::ParseError| e.to_string())?;
            Ok(made(vec![Part { name: "workload".to_owned(), workload, lost: Vec::new() }]))
        }
        Kind::Icf => read_icf(bytes, drives),
        Kind::Diskspd => read_profile(bytes, drives),
        Kind::Fio => {
            let groups = fio::jobs::read(&text::decode(bytes), environment);
            let groups = groups.map_err(|e| e.to_string())?;
            let part = |g: fio::jobs::Group| Part {
                name: g.jobs.join(", "),
                workload: g.workload,
                lost: g.lost,
            };
            Ok(made(groups.into_iter().map(part).collect()))
        }
    }
}

fn read_icf(bytes: &[u8], drives: &Drives) -> Result<Parts, String> {
    let iometer::Read { config, notes, .. } = iometer::read(bytes).map_err(|e| e.to_string())?;
    let runs = config.runs();
    let more = notes.len().saturating_sub(NOTES_MAX);
    let mut lost: Vec<String> = notes.iter().take(NOTES_MAX).map(ToString::to_string).collect();
    if more > 0 {
        lost.push(format!("… and {more} more lines of the file"));
    }
    lost.extend(runs.notes);
    if runs.steps.is_empty() {
        let why = if lost.is_empty() { "it asks for no run".to_owned() } else { lost.join("\n") };
        return Err(why);
    }
    lost.extend(config.about_managers());
    let (config, drives) = (Box::new(config), drives.clone());
    Ok(Parts { lost, source: Source::Icf { config, steps: runs.steps, drives } })
}

fn part_of_step(
    config: &iometer::Config,
    step: &iometer::Step,
    drives: &Drives,
) -> Result<Part, String> {
    let made = config.workload(step, drives).map_err(|e| e.to_string())?;
    let name = made.workload.title();
    let depth = step.outstanding.map_or_else(String::new, |n| format!(", {n} outstanding"));
    Ok(Part { name: name + &depth, workload: made.workload, lost: made.lost })
}

fn read_profile(bytes: &[u8], drives: &Drives) -> Result<Parts, String> {
    let profile = diskspd::profile::read(bytes).map_err(|e| e.to_string())?;
    let mut parts = Vec::new();
    for (number, span) in profile.time_spans.iter().enumerate() {
        let mut job = diskspd::job::job(span, drives).map_err(|wrong| wrong.join("\n"))?;
        // Of files whose size nobody says, the used part ends where the profile says or where they
        // end.
        let sizes: Vec<u64> =
            job.workload.targets.iter().map(|t| t.size_bytes.map_or(u64::MAX, |b| b.0)).collect();
        job.fit(&sizes);
        let whole = |stream: &workload::Stream| {
            stream.target_indexes(sizes.len()).iter().all(|t| {
                let end = stream.span_bytes.map(|s| s.0.saturating_add(stream.offset_bytes.0));
                sizes.get(*t).copied() == end
            })
        };
        for stream in &mut job.workload.streams {
            if whole(stream) {
                stream.span_bytes = None;
            }
        }
        let name = format!("time span {}: {}", number + 1, job.workload.title());
        parts.push(Part { name, workload: job.workload, lost: job.notes });
    }
    if parts.is_empty() {
        return Err("it has no time span".to_owned());
    }
    Ok(Parts { lost: diskspd::notes::of_profile(&profile), source: Source::Made(parts) })
}

/// A workload as the text of a file, and what of it is lost.
pub fn write(kind: Kind, workload: &Workload) -> Result<(String, Vec<String>), String> {
    match kind {
        Kind::Toml => Ok((workload.to_toml().map_err(|e| e.to_string())?, Vec::new())),
        Kind::Fio => fio::jobs::write(workload).map_err(|e| e.to_string()),
        Kind::Icf => {
            let (config, lost) =
                iometer::Config::of_workload(workload).map_err(|e| e.to_string())?;
            Ok((config.to_icf(), lost))
        }
        Kind::Diskspd => {
            let (profile, lost) = diskspd::export::profile_of(workload);
            let mut text = String::new();
            profile.write_xml(&mut text, 0);
            Ok((text, lost))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [Kind; 4] = [Kind::Toml, Kind::Icf, Kind::Diskspd, Kind::Fio];

    fn workload() -> Workload {
        let text = "seconds = 20\n[[targets]]\npath = \"/dev/sdz\"\nsize_bytes \
            = \"4G\"\n[[streams]]\nname = \"main\"\n\
                    targets = [0]\ndepth = 32\nwrite_percent = 50\ncontent = \"fixed\"\n";
        text.parse().unwrap()
    }

    #[test]
    fn every_kind_is_known_by_its_text_and_says_the_same() {
        for kind in KINDS {
            let (text, _) = write(kind, &workload()).unwrap();
            assert_eq!(Kind::of_text(&text), Some(kind), "{text}");
            let parts = read(kind, text.as_bytes(), &Drives::default(), &|_| None).unwrap();
            assert_eq!(parts.len(), 1, "{text}");
            let part = parts.part(0).unwrap().unwrap();
            assert_eq!(part.workload.in_flight(), 32, "{text}");
            assert_eq!((part.workload.seconds, part.workload.targets.len()), (20.0, 1));
            let stream = &part.workload.streams[0];
            assert_eq!((stream.write_percent, stream.largest_block()), (50, 8192), "{text}");
            assert_eq!(part.workload.targets[0].size_bytes.map(|b| b.0), Some(4 << 30), "{text}");
            assert_eq!(part.workload.violations(), []);
        }
        assert_eq!(Kind::of_text("hello"), None);
        assert_eq!(Kind::of_extension("ICF"), Some(Kind::Icf));
    }

    #[test]
    fn what_a_configuration_loses_is_told_once_and_its_runs_are_made_one_by_one() {
        let bytes = include_bytes!("../tests/iometer/v1.1.0.icf");
        let drives = Drives::new(vec!["E=/mnt/e".parse().unwrap(), "1=/dev/sdb".parse().unwrap()]);
        let parts = read(Kind::Icf, bytes, &drives, &|_| None).unwrap();
        let managers = |lost: &[String]| lost.iter().filter(|l| l.contains("managers")).count();
        assert_eq!((parts.len(), managers(&parts.lost)), (16, 1), "{:?}", parts.lost);
        assert_eq!(managers(&parts.part(15).unwrap().unwrap().lost), 0);
        assert!(parts.part(16).is_none());
        // Without the drives the file is still one of 16 runs; the one that is taken says what is
        // missing.
        let parts = read(Kind::Icf, bytes, &Drives::default(), &|_| None).unwrap();
        assert!(parts.part(0).unwrap().unwrap_err().contains("--drive"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let text = text::decode(&bytes);
            let _ = Kind::of_text(&text);
            for kind in KINDS {
                if let Ok(parts) = read(kind, &bytes, &Drives::default(), &|_| None) {
                    for part in (0..parts.len()).filter_map(|n| parts.part(n)?.ok()) {
                        let _ = KINDS.map(|other| write(other, &part.workload));
                    }
                }
            }
        }
    }
}
