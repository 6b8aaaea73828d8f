//! Runs that end in a crash, and what an oracle says of them that saw every write.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use engine::Queue;
use integrity::durability::{
    Checked, Header, LOG_RECORD_BYTES, Loss, Order, Plan, Promised, Role, SCHEMA_OF_WITNESS, Shape,
    State, SyncMode, Target, Writer, verify,
};
use integrity::{PageFormat, PageId};

use crate::durability_crash::disk::{Conduct, Disk, Line, SECTOR, Sectors, Shared, Survival};

const PAGE: u64 = 2048;

/// One run, of one or more rounds that each end in a crash.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) threads: u32,
    pub(crate) sync: SyncMode,
    pub(crate) order: Order,
    pub(crate) conduct: Conduct,
    pub(crate) survival: Survival,
    /// Answers from the beginning that are kept, whatever the conduct.
    pub(crate) honest: u64,
    /// Answers before each crash.
    pub(crate) rounds: Vec<u64>,
}

/// What was found at the end of a case, and what was to be found.
pub(crate) struct Outcome {
    pub(crate) checked: Checked,
    /// Pages and records that lost what was promised.
    pub(crate) lost: BTreeSet<(u16, u64)>,
    /// Those of them that say nothing: a first write is lost, and another was in flight.
    pub(crate) silent: BTreeSet<(u16, u64)>,
    /// Pages that are newer than the log.
    pub(crate) ahead: BTreeSet<(u16, u64)>,
    pub(crate) promised: u64,
}

impl Outcome {
    pub(crate) fn found(&self, ahead: bool) -> BTreeSet<(u16, u64)> {
        let is = |(_, _, loss): &(u16, u64, Loss)| (*loss == Loss::AheadOfLog) == ahead;
        self.checked.losses().filter(is).map(|(target, page, _)| (target, page)).collect()
    }
}

fn header(case: &Case) -> Header {
    let target = |role, bytes| Target { path: "memory".into(), size_bytes: bytes, role };
    let mut targets = vec![target(Role::Data, 40 * PAGE), target(Role::Data, 25 * PAGE)];
    if case.order == Order::LogThenPage {
        targets.insert(1, target(Role::Log, 100 * u64::from(LOG_RECORD_BYTES)));
    }
    Header {
        schema: SCHEMA_OF_WITNESS.to_owned(),
        id: "case".to_owned(),
        tool_version: String::new(),
        host: String::new(),
        started: String::new(),
        buffered: false,
        keep: false,
        witness_named: false,
        foreign: Vec::new(),
        plan: Plan {
            seed: case.seed,
            page_bytes: u32::try_from(PAGE).unwrap(),
            threads: case.threads,
            batch: 4,
            ahead: 2,
            checkpoint_batches: 2,
            sync: case.sync,
            order: case.order,
        },
        targets,
    }
}

/// The witness, and what it knows of the disk at each of its marks.
struct Witness {
    /// What each thread has promised and the witness does not have yet, with what the disk had
    /// answered by then.
    under_way: Vec<VecDeque<(Promised, Sectors)>>,
    held: Vec<Promised>,
    /// Of every sector, the write that was promised.
    guaranteed: Sectors,
}

impl Witness {
    /// Takes the next promises of a thread: so many of those under way.
    fn take(&mut self, shape: &Shape, thread: u32, count: usize) {
        let number = thread as usize;
        for _ in 0..count {
            let Some((promised, answered)) = self.under_way[number].pop_front() else { return };
            let before = self.held[number];
            self.held[number] = promised;
            for (at, write) in answered {
                let log = shape.log_target().is_some_and(|(target, _)| target == at.0);
                let owner = if log {
                    shape.slot_owner(at.1 * SECTOR / u64::from(LOG_RECORD_BYTES)).0
                } else {
                    shape.thread_of(shape.first_page(at.0) + at.1 * SECTOR / PAGE)
                };
                let newer =
                    if log { promised.log > before.log } else { promised.data > before.data };
                if owner == thread && newer {
                    self.guaranteed.insert(at, write);
                }
            }
        }
    }
}

/// Makes one round; the disk crashes.
fn round(
    case: &Case,
    header: &Header,
    shape: &Shape,
    disk: &Shared,
    witness: &mut Witness,
    answers: u64,
) {
    disk.borrow_mut().fail_after(answers);
    let plan = &header.plan;
    let mut writers: Vec<Writer<'_>> = (0u32..)
        .zip(&witness.held)
        .map(|(thread, held)| {
            let through =
                plan.writes_through().then(|| Box::new(Line::new(disk, true)) as Box<dyn Queue>);
            Writer::new(plan, shape, thread, Box::new(Line::new(disk, false)), through, *held)
                .unwrap()
        })
        .collect();
    loop {
        let thread = disk.borrow_mut().below(case.threads as usize);
        let number = u32::try_from(thread).unwrap();
        let writer = &mut writers[thread];
        let first = |p: Promised| if case.order == Order::LogThenPage { p.log } else { p.data };
        while first(writer.promised()) > first(witness.held[thread]) + u64::from(plan.ahead) {
            witness.take(shape, number, 1);
        }
        let mut promise = |promised| {
            let answered = disk.borrow().answered.clone();
            witness.under_way[thread].push_back((promised, answered));
        };
        if writer.batch(&mut promise).is_err() {
            break;
        }
        let arrives = disk.borrow_mut().below(4);
        witness.take(shape, number, arrives);
    }
    witness.under_way.iter_mut().for_each(VecDeque::clear);
    disk.borrow_mut().crash();
}

/// Makes rounds until one has lost something, or the last has been made; says what the last check
/// found.
pub(crate) fn run(case: &Case) -> Outcome {
    let header = header(case);
    let shape = Shape::new(&header.plan, &header.targets).unwrap();
    let disk =
        Rc::new(RefCell::new(Disk::new(case.conduct, case.honest, case.survival, case.seed)));
    let threads = case.threads as usize;
    let mut witness = Witness {
        under_way: vec![VecDeque::new(); threads],
        held: vec![Promised::default(); threads],
        guaranteed: Sectors::new(),
    };
    let available: Vec<u64> = header.targets.iter().map(|t| t.size_bytes).collect();
    let mut outcome = None;
    for answers in &case.rounds {
        round(case, &header, &shape, &disk, &mut witness, *answers);
        let state = State { sequence: 1, elapsed_ms: 1000, threads: witness.held.clone() };
        let mut queue = Line::to_read(&disk);
        let checked =
            verify(&header, &state, &mut queue, &available, &|| false, &mut |_| ()).unwrap();
        let (lost, silent) = lost(&header, &shape, &disk.borrow(), &witness);
        let ahead = ahead(&header, &shape, &disk.borrow(), &witness);
        let promised = witness.held.iter().map(|p| p.data.max(p.log)).sum();
        let kept = checked.is_kept();
        outcome = Some(Outcome { checked, lost, silent, ahead, promised });
        if !kept {
            break;
        }
    }
    outcome.unwrap()
}

/// The page, or record, that a sector is a part of.
fn unit(shape: &Shape, at: (u16, u64)) -> (u16, u64) {
    let log = shape.log_target().is_some_and(|(target, _)| target == at.0);
    let bytes = if log { u64::from(LOG_RECORD_BYTES) } else { PAGE };
    (at.0, at.1 * SECTOR / bytes)
}

type Units = BTreeSet<(u16, u64)>;

/// Everything that does not hold what was promised or is newer, by the writes that the disk saw;
/// and what of that cannot be told from what is in flight, because it holds what was there from the
/// beginning.
fn lost(header: &Header, shape: &Shape, disk: &Disk, witness: &Witness) -> (Units, Units) {
    let format = PageFormat::new(usize::try_from(PAGE).unwrap(), header.plan.seed).unwrap();
    let version = |at, write| format.read_stamp(&disk.content(at, write)).map(|s| s.version);
    let mut worst: BTreeMap<(u16, u64), bool> = BTreeMap::new();
    for (at, write) in &witness.guaranteed {
        let has = disk.stable_write(*at);
        // After a crash, operations that were in doubt are made again from the first on. What a
        // later one of them had brought before may be there still: that is newer, though it was
        // written earlier.
        let newer = has > 0 && version(*at, has) > version(*at, *write);
        if !newer && !disk.has_at_least(*at, *write) {
            let older = has > 0;
            *worst.entry(unit(shape, *at)).or_default() |= older;
        }
    }
    let silent = worst.iter().filter(|(_, older)| !**older).map(|(unit, _)| *unit).collect();
    (worst.into_keys().collect(), silent)
}

/// Pages with a sector whose record is not whole in the log, nor a later one in its place.
fn ahead(header: &Header, shape: &Shape, disk: &Disk, witness: &Witness) -> Units {
    let Some((log, _)) = shape.log_target() else { return Units::new() };
    let pages = PageFormat::new(usize::try_from(PAGE).unwrap(), header.plan.seed).unwrap();
    let records = PageFormat::new(LOG_RECORD_BYTES as usize, header.plan.seed).unwrap();
    let mut found = Units::new();
    for (target, count) in shape.data_targets() {
        for sector in 0..count * PAGE / SECTOR {
            let at = (target, sector);
            let content = disk.content(at, disk.stable_write(at));
            // One in a million of what is random looks like a stamp.
            let ours = disk.stable_write(at) > 0;
            let Some(stamp) = pages.read_stamp(&content).filter(|_| ours) else { continue };
            let thread = shape.thread_of(shape.first_page(target) + stamp.id.page);
            if stamp.version <= shape.versions_of(witness.held[thread as usize].data) {
                continue;
            }
            let slot = shape.slot(thread, stamp.version);
            let each = u64::from(LOG_RECORD_BYTES) / SECTOR;
            let record: Vec<u8> = (slot * each..(slot + 1) * each)
                .flat_map(|s| disk.content((log, s), disk.stable_write((log, s))))
                .collect();
            let id = PageId { file: log, page: slot };
            let later =
                (0..3).map(|lap| stamp.version + lap * u32::try_from(shape.log_slots()).unwrap());
            if !later.into_iter().any(|version| records.is(id, version, &record)) {
                found.insert((target, stamp.id.page));
            }
        }
    }
    found
}
