//! Workloads between the files of iosonde and of other tools: what a file is, what it says, and how another would say it.

use workload::Workload;

use crate::drives::Drives;
use crate::{diskspd, fio, iometer, text};

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

/// Every workload of a file, in the order in which they run. An error is what is wrong, line by line.
pub fn read(kind: Kind, bytes: &[u8], drives: &Drives) -> Result<Vec<Part>, String> {
    match kind {
        Kind::Toml => {
            let workload =
                text::decode(bytes).parse().map_err(|e: workload::ParseError| e.to_string())?;
            Ok(vec![Part { name: "workload".to_owned(), workload, lost: Vec::new() }])
        }
        Kind::Icf => read_icf(bytes, drives),
        Kind::Diskspd => read_profile(bytes, drives),
        Kind::Fio => {
            let groups = fio::jobs::read(&text::decode(bytes)).map_err(|e| e.to_string())?;
            let part = |g: fio::jobs::Group| Part {
                name: g.jobs.join(", "),
                workload: g.workload,
                lost: g.lost,
            };
            Ok(groups.into_iter().map(part).collect())
        }
    }
}

fn read_icf(bytes: &[u8], drives: &Drives) -> Result<Vec<Part>, String> {
    let iometer::Read { config, notes, .. } = iometer::read(bytes).map_err(|e| e.to_string())?;
    let runs = config.runs();
    let notes: Vec<String> = notes.iter().map(ToString::to_string).chain(runs.notes).collect();
    let mut parts = Vec::new();
    for step in &runs.steps {
        let made = config.workload(step, drives).map_err(|e| e.to_string())?;
        let lost = notes.iter().cloned().chain(made.lost).collect();
        let name = made.workload.title();
        let depth = step.outstanding.map_or_else(String::new, |n| format!(", {n} outstanding"));
        parts.push(Part { name: name + &depth, workload: made.workload, lost });
    }
    if parts.is_empty() {
        let why = if notes.is_empty() { "it asks for no run".to_owned() } else { notes.join("\n") };
        return Err(why);
    }
    Ok(parts)
}

fn read_profile(bytes: &[u8], drives: &Drives) -> Result<Vec<Part>, String> {
    let profile = diskspd::profile::read(bytes).map_err(|e| e.to_string())?;
    let mut parts = Vec::new();
    for (number, span) in profile.time_spans.iter().enumerate() {
        let mut job = diskspd::job::job(span, drives).map_err(|wrong| wrong.join("\n"))?;
        // Of files whose size nobody says, the used part ends where the profile says or where they end.
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
        let lost = diskspd::notes::of_profile(&profile).into_iter().chain(job.notes).collect();
        let name = format!("time span {}: {}", number + 1, job.workload.title());
        parts.push(Part { name, workload: job.workload, lost });
    }
    if parts.is_empty() { Err("it has no time span".to_owned()) } else { Ok(parts) }
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
        let text = "seconds = 20\n[[targets]]\npath = \"/dev/sdz\"\nsize_bytes = \"4G\"\n[[streams]]\nname = \"main\"\n\
                    targets = [0]\ndepth = 32\nwrite_percent = 50\ncontent = \"fixed\"\n";
        text.parse().unwrap()
    }

    #[test]
    fn every_kind_is_known_by_its_text_and_says_the_same() {
        for kind in KINDS {
            let (text, _) = write(kind, &workload()).unwrap();
            assert_eq!(Kind::of_text(&text), Some(kind), "{text}");
            let parts = read(kind, text.as_bytes(), &Drives::default()).unwrap();
            let [part] = parts.as_slice() else { panic!("one workload: {text}") };
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

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let text = text::decode(&bytes);
            let _ = Kind::of_text(&text);
            for kind in KINDS {
                if let Ok(parts) = read(kind, &bytes, &Drives::default()) {
                    for part in parts {
                        let _ = KINDS.map(|other| write(other, &part.workload));
                    }
                }
            }
        }
    }
}
