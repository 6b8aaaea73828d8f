//! What a check says, as a document.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::Loss;
use crate::plan::{Header, LOG_RECORD_BYTES, Order, Role, Shape, SyncMode, Target};
use crate::state::State;
use crate::verify::{Broken, Checked};

/// So many losses are listed one by one.
const FINDINGS_MAX: usize = 100;
/// From this share on, what was promised last is lost as a whole.
const ALL_BUT: f64 = 0.9;

/// What a check concludes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Everything that was promised is there.
    Kept,
    /// Something that was promised is not there.
    Lost,
    /// Nothing was promised, so nothing could be lost.
    NothingPromised,
}

/// What became of what was written and not promised; none of it is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct InDoubt {
    /// It is as it was before.
    pub old: u64,
    /// It is there.
    pub new: u64,
    /// A part of it is there.
    pub torn: u64,
}

/// The pages of all targets, or the records of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Area {
    /// Pages, or records, that were read.
    pub checked: u64,
    /// Those of which something was promised.
    pub promised: u64,
    /// Those that are as promised, with nothing in doubt.
    pub right: u64,
    /// Those that were never written, nor promised.
    pub unused: u64,
    /// Those that may have been written at the moment of the crash, and keep what was promised.
    pub in_doubt: InDoubt,
    /// Those that do not keep what was promised.
    pub lost: u64,
}

/// How often something was lost in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossCount {
    /// The way.
    pub loss: Loss,
    /// How often.
    pub count: u64,
}

/// One promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What became of it.
    pub loss: Loss,
    /// The file or device.
    pub path: PathBuf,
    /// What it holds.
    pub role: Role,
    /// Where, in bytes.
    pub offset: u64,
    /// How long, in bytes.
    pub bytes: u64,
    /// The thread that wrote it.
    pub thread: u32,
    /// The operation of that thread, counted from 1, that was promised, or whose record is missing.
    pub operation: u32,
    /// The operation of that thread whose version was found, where it is one.
    pub found_operation: Option<u32>,
    /// Sectors of 512 bytes that are as promised or newer.
    pub right_sectors: u64,
}

/// What a check says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `iosonde.durability/1`.
    pub schema: String,
    /// Unique name of the run that was checked.
    pub id: String,
    /// Version of the program that checked.
    pub tool_version: String,
    /// The host that wrote.
    pub host: String,
    /// When it began to write, UTC, RFC 3339.
    pub started: String,
    /// When it was checked, UTC, RFC 3339.
    pub verified: String,
    /// What the check concludes.
    pub verdict: Verdict,
    /// The same in a sentence.
    pub sentence: String,
    /// What made writes durable.
    pub sync: SyncMode,
    /// What was durable when.
    pub order: Order,
    /// Threads that wrote.
    pub threads: u32,
    /// Operations of a thread in flight.
    pub depth: u32,
    /// Size of a page.
    pub page_bytes: u32,
    /// The I/O went through the cache of the operating system.
    pub buffered: bool,
    /// Where it was written to.
    pub targets: Vec<Target>,
    /// Bytes of all targets that could be written.
    pub file_bytes: u64,
    /// Seconds of writing up to the last promise, over all rounds.
    pub seconds: f64,
    /// Operations that were promised to be durable.
    pub promised_operations: u64,
    /// Of the pages.
    pub data: Area,
    /// Of the log, where there is one.
    pub log: Option<Area>,
    /// What was lost, by kind.
    pub losses: Vec<LossCount>,
    /// The first of the losses, one by one.
    pub findings: Vec<Finding>,
    /// About how long before the last promise the oldest of the lost operations was promised, by the mean rate.
    pub oldest_loss_seconds: Option<f64>,
    /// What it looks like, and what to do.
    pub advice: Vec<String>,
    /// What was done and what it means, sentence by sentence.
    pub method: Vec<String>,
    /// Every reason to doubt the verdict.
    pub warnings: Vec<String>,
}

impl Report {
    /// The schema name of the document.
    pub const SCHEMA: &'static str = "iosonde.durability/1";

    /// Puts together what was found.
    #[must_use]
    pub fn new(
        header: &Header,
        state: &State,
        checked: &Checked,
        verified: String,
        tool_version: String,
    ) -> Self {
        let plan = &header.plan;
        let logged = plan.order == Order::LogThenPage;
        let batches = |p: &crate::state::Promised| if logged { p.log } else { p.data };
        let promised: u64 = state.threads.iter().map(batches).sum::<u64>() * u64::from(plan.batch);
        let verdict = match (checked.is_kept(), promised) {
            (false, _) => Verdict::Lost,
            (true, 0) => Verdict::NothingPromised,
            (true, _) => Verdict::Kept,
        };
        let count = |loss: &Loss| LossCount { loss: *loss, count: checked.count(*loss) };
        let losses = Loss::ALL.iter().map(count).filter(|l| l.count > 0).collect();
        let mut report = Self {
            schema: Self::SCHEMA.to_owned(),
            id: header.id.clone(),
            tool_version,
            host: header.host.clone(),
            started: header.started.clone(),
            verified,
            verdict,
            sentence: String::new(),
            sync: plan.sync,
            order: plan.order,
            threads: plan.threads,
            depth: plan.batch,
            page_bytes: plan.page_bytes,
            buffered: header.buffered,
            targets: header.targets.clone(),
            file_bytes: header.targets.iter().map(|t| t.size_bytes).sum(),
            seconds: state.elapsed_ms as f64 / 1000.0,
            promised_operations: promised,
            data: checked.data,
            log: logged.then_some(checked.log),
            losses,
            findings: checked
                .broken
                .iter()
                .take(FINDINGS_MAX)
                .map(|b| finding(header, b))
                .collect(),
            oldest_loss_seconds: oldest_loss_seconds(header, state, checked),
            advice: Vec::new(),
            method: method(header),
            warnings: Vec::new(),
        };
        report.sentence = report.say(checked);
        report.advice = report.advise(checked);
        report
    }

    fn say(&self, checked: &Checked) -> String {
        let (promised, sync) = (self.promised_operations, self.sync.name());
        let lost = self.data.lost + self.log.map_or(0, |log| log.lost);
        let doubt = self.data.in_doubt.all() + self.log.map_or(0, |log| log.in_doubt.all());
        match self.verdict {
            Verdict::Kept => format!(
                "KEPT: all {promised} operations that were acknowledged as durable ({sync}) survived; of {doubt} places that may have been \
                 written when it ended, none lost what it had"
            ),
            Verdict::NothingPromised => {
                "NOTHING PROMISED: no operation had been acknowledged as durable, so nothing could be lost; let it write for longer".to_owned()
            }
            Verdict::Lost => {
                let ahead = checked.count(Loss::AheadOfLog);
                let order = match (lost, ahead) {
                    (_, 0) => String::new(),
                    (0, _) => format!("{ahead} pages are newer than the log, which was durable before they were written"),
                    _ => format!("; besides, {ahead} pages are newer than the log, which was durable before they were written"),
                };
                if lost == 0 {
                    return format!("LOST: {order}");
                }
                let (pages, records) = (self.data.lost, self.log.map_or(0, |log| log.lost));
                let what = match (pages, records) {
                    (pages, 0) => format!("{pages} pages"),
                    (0, records) => format!("{records} records of the log"),
                    (pages, records) => format!("{pages} pages and {records} records of the log"),
                };
                format!(
                    "LOST: {what} do not hold what was acknowledged as durable ({sync}), of {promised} operations that were{order}"
                )
            }
        }
    }

    fn advise(&self, checked: &Checked) -> Vec<String> {
        let mut advice = Vec::new();
        let add = |advice: &mut Vec<String>, text: &str| advice.push(text.to_owned());
        let count = |loss| checked.count(loss);
        if self.verdict != Verdict::Lost {
            return advice;
        }
        let all_of_it = self.data.checked + self.log.map_or(0, |log| log.checked);
        if count(Loss::Unknown) > 0 {
            add(
                &mut advice,
                "The storage is ahead of the witness: this is an older copy of the witness's file, or not the witness of this run.",
            );
        }
        if count(Loss::Foreign) + count(Loss::Missing) > all_of_it / 2 {
            add(
                &mut advice,
                "Next to nothing of the run is here: is it the storage that was written to, and is it mounted where it was?",
            );
            return advice;
        }
        let gone =
            count(Loss::Older) + count(Loss::Torn) + count(Loss::Zeroed) + count(Loss::Foreign);
        let share = self.data.lost as f64 / checked.behind_oldest.max(1) as f64;
        if gone > 0 && self.data.lost > 0 && share >= ALL_BUT {
            add(
                &mut advice,
                "Nearly everything behind one moment is gone: something has a volatile write cache and acknowledges flushes without \
                 making it stable.",
            );
        } else if gone > 0 {
            add(
                &mut advice,
                "Some of what was acknowledged is gone, and younger writes are there: a volatile write cache is written to the medium in \
                 another order, and flushes do not wait for it.",
            );
        }
        if count(Loss::AheadOfLog) > 0 {
            add(
                &mut advice,
                "Writes have passed a flush: a database that relies on write-ahead logging cannot recover from that, whether or not \
                 anything else is lost.",
            );
        }
        if count(Loss::Zeroed) > 0 {
            add(
                &mut advice,
                "Zeros where data was: the file system had allocated the blocks and did not keep that they were written, or blocks were discarded.",
            );
        }
        if gone + count(Loss::AheadOfLog) > 0 {
            advice.extend(REMEDIES.map(str::to_owned));
        }
        if count(Loss::Unreadable) > 0 {
            add(
                &mut advice,
                "What was acknowledged cannot be read: look at the kernel's log and the health of the device (smartctl -x, nvme smart-log).",
            );
        }
        advice
    }
}

/// What can be done about writes that were acknowledged and are gone.
const REMEDIES: [&str; 4] = [
    "Look for who holds the cache: the drive (hdparm -W, nvme get-feature -f 6, `write cache` in /sys/block/DEVICE/queue), a RAID controller \
     whose cache has no battery, a hypervisor (`cache=unsafe`, `cache=writeback` without flushes), a file system mounted with `nobarrier`.",
    "Switch that cache to write-through, or off, until it is protected, and test again.",
    "A kernel that believes a device has no volatile cache sends no flushes: /sys/block/DEVICE/queue/write_cache says `write through` then. \
     If the device has one all the same, that is the fault.",
    "Until this test passes, a database on this storage can lose committed transactions, and can be damaged, when the power fails.",
];

fn finding(header: &Header, broken: &Broken) -> Finding {
    let target = header.targets.get(usize::from(broken.target));
    let role = target.map_or(Role::Data, |t| t.role);
    let bytes =
        u64::from(if role == Role::Log { LOG_RECORD_BYTES } else { header.plan.page_bytes });
    Finding {
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

fn method(header: &Header) -> Vec<String> {
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
            "A record in the log was made durable, then its page was written without waiting for it, and made durable by a checkpoint."
        }
    };
    vec![
        order.to_owned(),
        format!(
            "An operation counts as promised when {sync} and the witness had stored that on stable media."
        ),
        format!(
            "Behind the mark of each of the {} threads, up to {} operations may have been made in part: their places may hold what was \
             promised before, the new version, or a mixture, sector by sector.",
            plan.threads,
            plan.window_batches() * u64::from(plan.batch)
        ),
        "Every page and record was read; each sector says which version of which page it is."
            .to_owned(),
    ]
}
