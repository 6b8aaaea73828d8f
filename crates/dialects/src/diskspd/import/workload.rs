//! What DiskSpd was asked for, as the workload that iosonde would make of it. Paths stay those of
//! the machine that measured.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use workload::{Bytes, Target, Workload};

use super::spans::OnTarget;
use crate::diskspd::job::{Job, TARGETS_MAX, job};
use crate::diskspd::profile::{TimeSpan, WriteContent};
use crate::drives::Drives;

/// The workload of a time span with every name as it is written: nothing here need exist on this
/// system. Otherwise everything in it that iosonde has no word for.
pub(super) fn workload(span: &TimeSpan, found: &[OnTarget]) -> Result<Workload, Vec<String>> {
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

/// The workload of figures without a command line: targets, length, and no stream.
pub(super) fn unknown(found: &[OnTarget], seconds: f64) -> Workload {
    let target = |f: &OnTarget| Target {
        path: PathBuf::from(&f.path),
        size_bytes: Some(Bytes(f.file_bytes)).filter(|bytes| bytes.0 > 0),
    };
    Workload {
        targets: found.iter().map(target).collect(),
        streams: Vec::new(),
        seconds,
        warmup_seconds: 0.0,
        ..Workload::default()
    }
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
