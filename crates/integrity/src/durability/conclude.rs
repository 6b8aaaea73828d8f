//! The conclusion of a check: the verdict, the losses, and what to do about them.

use results::{BrokenPromise, Durability, DurabilityVerdict, Loss, LossCount, WriterEnd};
use workload::Mode;

use crate::durability::plan::{Header, LOG_RECORD_BYTES, Order, Role, Shape, SyncMode};
use crate::durability::state::{Promised, State};
use crate::durability::verify::{Broken, Checked};

/// So many losses are listed one by one.
const FINDINGS_MAX: usize = 100;
/// From this share on, all of the last promises count as lost.
const ALL_BUT: f64 = 0.9;

/// Draws the conclusion from a check. `rounds` is how often the writer resumed, and `ending` how it
/// ended the last time.
#[must_use]
pub fn conclude(
    (header, state): (&Header, &State),
    checked: &Checked,
    (rounds, ending): (Option<u32>, WriterEnd),
) -> Durability {
    let plan = &header.plan;
    let logged = plan.order == Order::LogThenPage;
    let batches = |p: &Promised| if logged { p.log } else { p.data };
    let promised: u64 = state.threads.iter().map(batches).sum::<u64>() * u64::from(plan.batch);
    let verdict = match (checked.is_kept(), promised) {
        (false, _) => DurabilityVerdict::Lost,
        (true, 0) => DurabilityVerdict::NothingPromised,
        (true, _) => DurabilityVerdict::Kept,
    };
    let count = |loss: &Loss| LossCount { loss: *loss, count: checked.count(*loss) };
    let broken = checked.broken.iter().take(FINDINGS_MAX);
    let mut found = Durability {
        verdict,
        sentence: String::new(),
        run_id: header.id.clone(),
        run_started: header.started.clone(),
        host: header.host.clone(),
        rounds,
        ending,
        sync: plan.sync,
        order: plan.order,
        threads: plan.threads,
        depth: plan.batch,
        page_bytes: plan.page_bytes,
        mode: if header.buffered { Mode::Buffered } else { Mode::Direct },
        files: header.targets.clone(),
        seconds: state.elapsed_ms as f64 / 1000.0,
        promised_operations: promised,
        data: checked.data,
        log: logged.then_some(checked.log),
        losses: Loss::ALL.iter().map(count).filter(|l| l.count > 0).collect(),
        findings: broken.map(|b| finding(header, b)).collect(),
        oldest_loss_seconds: oldest_loss_seconds(header, state, checked),
        advice: Vec::new(),
    };
    found.sentence = sentence(&found);
    found.advice = advice(&found, checked.behind_oldest);
    found
}

fn sentence(found: &Durability) -> String {
    let (promised, sync) = (found.promised_operations, found.sync.name());
    let lost = found.data.lost + found.log.map_or(0, |log| log.lost);
    let doubt = found.data.in_doubt.all() + found.log.map_or(0, |log| log.in_doubt.all());
    match found.verdict {
        DurabilityVerdict::Kept => format!(
            "KEPT: all {promised} operations that were acknowledged as durable ({sync}) survived; \
             of {doubt} places that may have been written when it ended, none lost what it had."
        ),
        DurabilityVerdict::NothingPromised => "NOTHING PROMISED: no operation had been \
                                               acknowledged as durable, so nothing could be lost; \
                                               let it write for longer."
            .to_owned(),
        DurabilityVerdict::Lost => {
            let ahead = found.count(Loss::AheadOfLog);
            let newer = format!(
                "{ahead} pages are newer than the log, which was durable before they were written"
            );
            if lost == 0 {
                return format!("LOST: {newer}.");
            }
            let besides = if ahead > 0 { format!("; besides, {newer}") } else { String::new() };
            let (pages, records) = (found.data.lost, found.log.map_or(0, |log| log.lost));
            let what = match (pages, records) {
                (pages, 0) => format!("{pages} pages"),
                (0, records) => format!("{records} records of the log"),
                (pages, records) => format!("{pages} pages and {records} records of the log"),
            };
            format!(
                "LOST: {what} do not hold what was acknowledged as durable ({sync}), of \
                 {promised} operations that were{besides}."
            )
        }
    }
}

/// What the losses look like, and what to do. `behind_oldest` is the number of promised versions
/// that are no older than the oldest lost one.
fn advice(found: &Durability, behind_oldest: u64) -> Vec<String> {
    let mut told = Vec::new();
    let add = |told: &mut Vec<String>, text: &str| told.push(text.to_owned());
    let count = |loss| found.count(loss);
    if found.verdict != DurabilityVerdict::Lost {
        return told;
    }
    let all_of_it = found.data.checked + found.log.map_or(0, |log| log.checked);
    if count(Loss::Unknown) > 0 {
        add(
            &mut told,
            "The storage is ahead of the witness: this is an older copy of the witness's file, or \
             not the witness of this run.",
        );
    }
    if count(Loss::Foreign) + count(Loss::Missing) > all_of_it / 2 {
        add(
            &mut told,
            "Next to nothing of the run is here: is it the storage that was written to, and is it \
             mounted where it was?",
        );
        return told;
    }
    let gone = count(Loss::Older) + count(Loss::Torn) + count(Loss::Zeroed) + count(Loss::Foreign);
    let share = found.data.lost as f64 / behind_oldest.max(1) as f64;
    if gone > 0 && found.data.lost > 0 && share >= ALL_BUT {
        add(
            &mut told,
            "Nearly everything after one moment is gone: something has a volatile write cache \
             and acknowledges flushes without making it stable.",
        );
    } else if gone > 0 {
        add(
            &mut told,
            "Some of what was acknowledged is gone, and younger writes are there. A volatile write \
            cache is written to the medium in another order, and flushes do not wait for \
             it.",
        );
    }
    if count(Loss::AheadOfLog) > 0 {
        add(
            &mut told,
            "Writes have passed a flush: a database that relies on write-ahead logging cannot \
             recover from that, whether or not anything else is lost.",
        );
    }
    if count(Loss::Zeroed) > 0 {
        add(
            &mut told,
            "Zeros where data was: the file system had allocated the blocks and did not keep that \
             they were written, or blocks were discarded.",
        );
    }
    if gone + count(Loss::AheadOfLog) > 0 {
        told.extend(REMEDIES.map(str::to_owned));
    }
    if count(Loss::Unreadable) > 0 {
        add(
            &mut told,
            "What was acknowledged cannot be read: look at the kernel's log and the health of the \
             device (smartctl -x, nvme smart-log).",
        );
    }
    told
}

/// What can be done about writes that were acknowledged and are gone.
const REMEDIES: [&str; 4] = [
    "Find what holds the cache. It may be the drive (hdparm -W, nvme get-feature -f 6, `write \
     cache` in /sys/block/DEVICE/queue), a RAID controller whose cache has no battery. It may also \
     be a hypervisor (`cache=unsafe`, `cache=writeback` without flushes) or a file system mounted \
     with `nobarrier`.",
    "Switch that cache to write-through, or off, until it is protected, and test again.",
    "A kernel that believes a device has no volatile cache sends no flushes: \
     /sys/block/DEVICE/queue/write_cache says `write through` then. If the device has one all the \
     same, that is the fault.",
    "Until this test passes, a database on this storage can lose committed transactions, and can \
     be damaged, when the power fails.",
];

fn finding(header: &Header, broken: &Broken) -> BrokenPromise {
    let target = header.targets.get(usize::from(broken.target));
    let role = target.map_or(Role::Data, |t| t.role);
    let bytes =
        u64::from(if role == Role::Log { LOG_RECORD_BYTES } else { header.plan.page_bytes });
    BrokenPromise {
        loss: broken.loss,
        path: target.map(|t| t.path.clone()).unwrap_or_default(),
        role,
        offset: broken.page * bytes,
        bytes,
        thread: broken.thread,
        operation: broken.operation,
        found_operation: broken.found,
        right_sectors: broken.right_sectors as u64,
    }
}

/// By the mean rate of the thread that lost the oldest: the witness keeps no time for each promise.
fn oldest_loss_seconds(header: &Header, state: &State, checked: &Checked) -> Option<f64> {
    let shape = Shape::new(&header.plan, &header.targets).ok()?;
    let seconds = state.elapsed_ms as f64 / 1000.0;
    let logged = header.plan.order == Order::LogThenPage;
    let since = |broken: &Broken| {
        let promised = state.threads.get(broken.thread as usize)?;
        let last = shape.versions_of(if logged { promised.log } else { promised.data });
        let behind = f64::from(last.saturating_sub(broken.operation));
        Some(seconds * behind / f64::from(last.max(1)))
    };
    let lost = checked.broken.iter().filter(|b| b.loss != Loss::AheadOfLog);
    lost.filter_map(since).reduce(f64::max)
}

/// How it was done and what that means, sentence by sentence.
#[must_use]
pub fn method(header: &Header) -> Vec<String> {
    let plan = &header.plan;
    let sync = match plan.sync {
        SyncMode::Fsync => "fsync had returned",
        SyncMode::Fdatasync => "fdatasync had returned",
        SyncMode::ODsync => "its write with O_DSYNC had returned",
        SyncMode::Fua => "its write with RWF_DSYNC had returned",
    };
    let order = match plan.order {
        Order::Page => "Pages were written in place.",
        Order::LogThenPage => {
            "A record in the log was made durable, then its page was written without waiting for \
             it, and made durable by a checkpoint."
        }
    };
    vec![
        order.to_owned(),
        format!(
            "An operation counts as promised when {sync} and the witness had stored that on \
             stable media."
        ),
        format!(
            "After the mark of each of the {} threads, up to {} operations may have been made in \
            part. Their places may hold what was promised before, the new version, or a mixture, \
             sector by sector.",
            plan.threads,
            plan.window_batches() * u64::from(plan.batch)
        ),
        "Every page and record was read; each sector says which version of which page it is."
            .to_owned(),
    ]
}
