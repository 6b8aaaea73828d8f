//! Reads by which fio verifies what a job wrote (`verify`): another load than that of its writes.

use std::collections::BTreeMap;

use workload::Workload;

use super::document::{Direction, Job};

/// When fio reads what a job wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verification {
    Never,
    /// After all writes, which a job that is `time_based` never comes to.
    AfterWrites,
    /// Between the writes (`verify_backlog`).
    BetweenWrites,
    /// In place of the writes (`verify_only`): fio counts them, and makes none.
    InsteadOfWrites,
}

impl Verification {
    /// Verification of a job that writes.
    pub(super) fn of(options: &BTreeMap<String, String>) -> Self {
        let is_on = |name: &str| options.get(name).is_some_and(|value| value != "0");
        let ends_by_time = is_on("time_based") && is_on("runtime");
        let reads = is_on("verify") && options.get("do_verify").is_none_or(|value| value != "0");
        match (is_on("verify_only"), reads, is_on("verify_backlog")) {
            (true, ..) => Self::InsteadOfWrites,
            (_, true, true) => Self::BetweenWrites,
            (_, true, false) if !ends_by_time => Self::AfterWrites,
            _ => Self::Never,
        }
    }

    /// Leaves the I/Os of verification out of a job, where they can be told from those of the load;
    /// `Err` says why its load is not known.
    pub(super) fn leave_out(
        self,
        job: &mut Job,
        load: &Workload,
    ) -> Result<Option<String>, String> {
        let stream = load.streams.first().filter(|stream| stream.writes());
        let reads = job.read.as_ref().map_or(0, |read| read.total_ios);
        let Some(stream) = stream.filter(|_| reads > 0) else { return Ok(None) };
        let runtime = |of: &Option<Direction>| of.as_ref().map_or(0, |direction| direction.runtime);
        match self {
            Self::Never => Ok(None),
            // The time ended the job before it came to verify: a result does not have `time_based`.
            Self::AfterWrites if stream.reads() && runtime(&job.read) <= runtime(&job.write) => {
                Ok(None)
            }
            Self::AfterWrites if !stream.reads() => {
                leave_out_reads(job);
                Ok(Some(format!(
                    "after its writes fio verified them (verify): these {reads} reads, and the CPU \
                     time, are left out"
                )))
            }
            Self::AfterWrites => Err(format!(
                "fio counts the reads of the load and those that verify its writes (verify) \
                 together, {reads} of them: the load of these figures is not known"
            )),
            Self::BetweenWrites => {
                if !stream.reads() {
                    leave_out_reads(job);
                }
                Err(format!(
                    "between its writes fio verified them (verify_backlog), with {reads} reads: \
                     iosonde has no such load"
                ))
            }
            Self::InsteadOfWrites => {
                job.write = None;
                Err(format!(
                    "fio made no writes (verify_only), although it counts them, and read what an \
                     earlier job wrote: {reads} reads whose order is not known"
                ))
            }
        }
    }
}

/// Leaves the reads out, and the CPU time, which fio has of reads and writes together.
fn leave_out_reads(job: &mut Job) {
    (job.read, job.usr_cpu, job.sys_cpu) = (None, None, None);
}
