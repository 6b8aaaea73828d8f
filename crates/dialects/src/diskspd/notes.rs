//! What iosonde does in another way than DiskSpd on Windows, in words for people.

use workload::{THREAD_POINTS_MAX, Workload};

use super::job::created;
use super::profile::{CacheMode, FlushType, Profile, Target, TimeSpan};

/// The differences of a time span, each once.
pub(super) fn of(span: &TimeSpan) -> Vec<String> {
    let mut notes = Vec::new();
    if span.completion_routines {
        notes.push(
            "-x: there are no completion routines here; I/Os complete as without it".to_owned(),
        );
    }
    for target in &span.targets {
        for note in of_target(span, target) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// That the result has no intervals of single threads.
pub(super) fn without_thread_series(workload: &Workload) -> String {
    format!(
        "-D: the result has the intervals of all threads together, because those of single threads \
         would be {}, and {THREAD_POINTS_MAX} are the most",
        workload.thread_points()
    )
}

/// The differences of a profile as a whole.
#[must_use]
pub fn of_profile(profile: &Profile) -> Vec<String> {
    let mut notes = Vec::new();
    if profile.etw.is_some() {
        notes.push(
            "-e: no kernel of Windows can be traced here; the kernel's counters of the device are \
             recorded instead"
                .to_owned(),
        );
    }
    if profile.verbose_stats {
        notes.push("-vs: how threads waited is not measured here".to_owned());
    }
    if profile.experiment_flags > 0 {
        notes.push(
            "-:: flags of experiments have no effect here; threads wait as long as a limit (-g) \
             says, whatever it is"
                .to_owned(),
        );
    }
    notes
}

fn of_target(span: &TimeSpan, target: &Target) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |is_so: bool, text: &str| {
        if is_so {
            notes.push(text.to_owned());
        }
    };
    let (mapped, write_through) = (target.memory_mapped, target.write_through);
    note(
        target.cache == CacheMode::DisableLocalCache && !mapped,
        "-Sr: I/O goes past this system's cache (O_DIRECT); whether the other host caches is that \
         host's choice",
    );
    note(
        mapped && write_through,
        "-Smw: there are no copies past the processor's caches here; mapped writes are ordinary \
         copies",
    );
    note(
        mapped
            && matches!(
                target.flush,
                Some(FlushType::NonVolatileMemory | FlushType::NonVolatileMemoryNoDrain)
            ),
        "-Nn, -Ni: mapped writes are made durable by msync, as -Nv does it",
    );
    note(
        target.large_pages,
        "-l: buffers ask for large pages without reserving them; the features of the engine tell \
         whether the system has any",
    );
    let both = target.sequential_scan && target.random_access;
    note(both, "-fr, -fs: of both hints, that of random I/O is given");
    note(target.temporary, "-ft: there is no such hint here");
    note(
        target.create_bytes.is_some_and(|bytes| bytes > 0) && created(target).is_none(),
        "-c: disks and volumes are not made; they are used as they are",
    );
    let paused = target.think_ms.is_some_and(|ms| ms > 0);
    note(
        paused && target.throughput.is_some(),
        "-i, -j: the limited throughput (-g) takes the place of pauses, as in DiskSpd",
    );
    let threads = if span.thread_count > 0 { span.thread_count } else { target.threads_per_file };
    let burst = target.burst_ios.unwrap_or(0);
    if paused && target.throughput.is_none() && threads > 1 {
        let each = (burst / threads).max(1);
        if each.saturating_mul(threads) != burst {
            notes.push(format!(
                "-i{burst}: a burst is shared by the {threads} threads of a target; each pauses \
                 after every {each}"
            ));
        }
    }
    notes
}
