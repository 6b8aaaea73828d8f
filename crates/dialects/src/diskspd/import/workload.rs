//! What DiskSpd was asked for, as the workload that iosonde would make of it. Paths stay those of the machine that measured.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use workload::{Stream, Workload};

use super::spans::OnTarget;
use crate::diskspd::job::{Job, TARGETS_MAX, job};
use crate::diskspd::profile::{Target, TimeSpan, WriteContent};
use crate::drives::Drives;

/// The workload of a time span, and what a reader must know of it. Without what was asked for, figures tell what they can.
pub(super) fn workload(
    asked: Option<&TimeSpan>,
    found: &[OnTarget],
    seconds: f64,
) -> (Workload, Vec<String>) {
    let mut doubts = Vec::new();
    if let Some(asked) = asked.filter(|span| !span.targets.is_empty()) {
        match verbatim(asked, found) {
            Ok(workload) => return (workload, doubts),
            Err(reasons) => doubts.extend(
                reasons
                    .iter()
                    .map(|reason| format!("what was asked for has no words here: {reason}")),
            ),
        }
    } else {
        doubts.push("it does not tell what was asked for".to_owned());
    }
    doubts.push(
        "block sizes and directions follow from the figures; threads, depth and order are not known"
            .to_owned(),
    );
    let mut workload = verbatim(&guess(found), found).unwrap_or_else(|_| {
        let unknown = workload::Target { path: PathBuf::from("unknown"), size_bytes: None };
        Workload::single(unknown, Stream::default())
    });
    workload.seconds = seconds;
    (workload, doubts)
}

/// A time span in which the figures could have come about.
fn guess(found: &[OnTarget]) -> TimeSpan {
    let target = |of: &OnTarget| {
        let bytes = of.read.bytes.saturating_add(of.write.bytes);
        let ios = of.read.ios.saturating_add(of.write.ios);
        let writes = of.write.ios.saturating_mul(100).checked_div(ios).unwrap_or(0);
        Target {
            path: of.path.clone(),
            block_bytes: bytes.checked_div(ios).and_then(|b| u32::try_from(b).ok()).unwrap_or(0),
            write_percent: u32::try_from(writes.min(100)).unwrap_or(0),
            outstanding: 1,
            ..Target::default()
        }
    };
    TimeSpan { targets: found.iter().map(target).collect(), warmup_s: 0, ..TimeSpan::default() }
}

/// The workload of a time span with every name as it is written: nothing here need exist on this system.
fn verbatim(span: &TimeSpan, found: &[OnTarget]) -> Result<Workload, Vec<String>> {
    if span.targets.len() > TARGETS_MAX {
        return Err(vec![format!("a time span has at most {TARGETS_MAX} targets here")]);
    }
    let mut names: Vec<String> = Vec::new();
    let mut span = span.clone();
    for target in &mut span.targets {
        replace(&mut target.path, &mut names);
        if let WriteContent::Random { file: Some(file), .. } = &mut target.write_content {
            replace(file, &mut names);
        }
    }
    let mut job: Job = job(&span, &Drives::default())?;
    let back = |path: &PathBuf| {
        let number = path.to_str().and_then(|name| name.parse::<usize>().ok());
        number.and_then(|number| names.get(number)).map_or_else(|| path.clone(), PathBuf::from)
    };
    for target in &mut job.workload.targets {
        target.path = back(&target.path);
    }
    for stream in &mut job.workload.streams {
        stream.content_file = stream.content_file.as_ref().map(back);
    }
    let known: HashMap<&Path, u64> =
        found.iter().map(|f| (Path::new(&f.path), f.file_bytes)).filter(|(_, b)| *b > 0).collect();
    let size =
        |target: &workload::Target| known.get(target.path.as_path()).copied().unwrap_or(u64::MAX);
    let sizes: Vec<u64> = job.workload.targets.iter().map(size).collect();
    job.fit(&sizes);
    Ok(job.workload)
}

/// Puts a number in the place of a name; the same for the same name.
fn replace(name: &mut String, names: &mut Vec<String>) {
    let known = names.iter().position(|known| known == name);
    let number = known.unwrap_or_else(|| {
        names.push(std::mem::take(name));
        names.len() - 1
    });
    *name = number.to_string();
}
