//! DiskSpd among the dialects: its results, and its profile as a file of workloads.

use super::{export, import, job, notes, profile};
use crate::convert::{Part, Parts};
use crate::dialect::{Dialect, ResultFile, WorkloadFile};
use crate::drives::Drives;

/// The files of DiskSpd that iosonde reads.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "diskspd",
    title: "DiskSpd",
    is_command: true,
    results: &[
        ResultFile { is_in: import::is_xml, read: import::read_xml },
        ResultFile { is_in: import::is_text, read: import::read_text },
    ],
    workloads: Some(&WorkloadFile {
        word: "diskspd",
        about: "DiskSpd's XML profile",
        files: "DiskSpd's XML profiles",
        extensions: &["xml"],
        is_in: |text| text.trim_start().starts_with('<'),
        read: |bytes, drives, _| read_parts(bytes, drives),
        write: |workload| {
            let (profile, lost) = export::profile_of(workload);
            let mut text = String::new();
            profile.write_xml(&mut text, 0);
            Ok((text, lost))
        },
        test_file: Some("iosonde.tst"),
    }),
};

fn read_parts(bytes: &[u8], drives: &Drives) -> Result<Parts, String> {
    let profile = profile::read(bytes).map_err(|e| e.to_string())?;
    let mut parts = Vec::new();
    for (number, span) in profile.time_spans.iter().enumerate() {
        let mut job = job::job(span, drives).map_err(|wrong| wrong.join("\n"))?;
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
    Ok(Parts::of(parts).without(notes::of_profile(&profile)))
}
