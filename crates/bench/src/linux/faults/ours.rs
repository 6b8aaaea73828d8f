//! What iosonde's simulated database says of a device.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::integrity::{
    Event, KeptLedger, PageDamage, Phase, Place, Plan, Report, Role, ScanUsers, run_kept, stream,
};
use engine::{Permissions, Prepared, Queue};
use truth::{Fault, FaultPlan, Injected, Span, Torn, Truth, When};
use workload::{Bytes, Mode, Target, Workload};

use super::{Error, Scenario, Score, model};

const PAGE: u64 = 8192;
const DATA: &str = "pages.mdx";
const DATA_BYTES: u64 = 1000 * PAGE;
const LOG_BYTES: u64 = 16 << 20;
/// The report keeps 200 pages, and an I/O has up to 4; one that is misdirected may hit 5 more.
const MOST: u64 = 45;
const MOST_MISDIRECTED: u64 = 20;
const PAGES: (u32, u32) = (1, 4);

fn plan(scenario: Scenario) -> Plan {
    let scan =
        |users| ScanUsers { users, pages: PAGES, cycles: 2, delay: Duration::from_millis(1) };
    let usual = Plan::default();
    let mut plan = Plan {
        checkpoint_every: Duration::from_millis(100),
        dirty_pages: 100,
        gather_pages: 4,
        audit: scan(2),
        read_ahead: scan(2),
        bulk: scan(2),
        rereads: 3,
        stop_on_fault: false,
        ..usual
    };
    if scenario != Scenario::Overlap {
        // What the first writing of all pages has left is only read.
        (plan.bulk.users, plan.random.users) = (0, 0);
    }
    plan
}

/// Runs the database on a device on which this goes wrong.
pub(super) fn score(fault: Fault, scenario: Scenario) -> Result<Score, Error> {
    let every = if is_of_reads(fault) { 41 } else { 7 };
    let most = if fault == Fault::MisdirectedWrite { MOST_MISDIRECTED } else { MOST };
    let plan = plan(scenario);
    let (report, injected) =
        found(&plan, scenario, FaultPlan::new(fault, When::Every(every)).at_most(most))?;
    if report.fault_count > report.faults.len() as u64 {
        return Err(format!("{fault:?}: {} pages are too many", report.fault_count).into());
    }
    Ok(scored(&report, &injected))
}

/// The findings on single pages whose writes are torn after so many sectors.
pub(super) fn score_torn(sectors: u64) -> Result<Score, Error> {
    let fault =
        FaultPlan::new(Fault::TornWrite(Torn::Prefix(sectors)), When::Every(7)).at_most(MOST);
    let mut plan = plan(Scenario::Overlap);
    (plan.gather_pages, plan.bulk.pages) = (1, (1, 1));
    let (report, injected) = found(&plan, Scenario::Overlap, fault)?;
    Ok(scored(&report, &injected))
}

/// How often the reported or harmless fault happened, how many I/Os counted as failed, and the
/// alarms.
pub(super) fn told(fault: Fault) -> Result<(usize, u64, u64), Error> {
    let most = if matches!(fault, Fault::Stall(_)) { 2 } else { MOST };
    let plan = plan(Scenario::Overlap);
    let faults = FaultPlan::new(fault, When::Every(13)).at_most(most);
    let (report, injected) = found(&plan, Scenario::Overlap, faults)?;
    let failed = report.failures.iter().map(|f| f.count).sum();
    Ok((injected.len(), failed, report.fault_count))
}

fn is_of_reads(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::BitFlipRead | Fault::MisdirectedRead | Fault::StaleRead | Fault::ZeroRead
    )
}

/// What the database reports, and what really happened.
fn found(
    plan: &Plan,
    scenario: Scenario,
    faults: FaultPlan,
) -> Result<(Report, Vec<Injected>), Error> {
    let truth = Truth::mount(model(), &[DATA_BYTES, LOG_BYTES])?;
    let workload = workload(&truth, plan);
    let never = AtomicBool::new(false);
    let make = || engine::prepare(&workload, &Permissions::default(), &never, &mut |_| {});
    let prepared = truth.instantly(make)?;
    let pages = 0..prepared.targets()[0].size_bytes() / PAGE * PAGE;
    let of_reads = is_of_reads(faults.fault);
    let faults = faults.in_file(DATA).in_range(pages);
    let database = Database { truth: &truth, prepared: &prepared, workload: &workload };
    let wrong = |phase| (phase, faults.clone());
    let report = match scenario {
        Scenario::Fresh => database.run(plan, Some(&wrong(Phase::Load)), None)?,
        Scenario::Overlap => database.run(plan, Some(&wrong(Phase::Work)), None)?,
        Scenario::Same | Scenario::Seed => {
            let seed = if scenario == Scenario::Seed { plan.seed + 1 } else { plan.seed };
            database.run(&Plan { seed, ..self::plan(Scenario::Overlap) }, None, None)?;
            database.run(plan, Some(&wrong(Phase::Load)), None)?
        }
        Scenario::Later => {
            let directory = tempfile::tempdir()?;
            let file = directory.path().join("ledger");
            let kept = KeptLedger::create(&file, plan, &database.places(), "")?;
            let wrong = wrong(if of_reads { Phase::Audit } else { Phase::Load });
            database.run(plan, (!of_reads).then_some(&wrong), Some(&kept))?;
            drop(kept);
            let kept = KeptLedger::open(&file)?;
            database.run(plan, of_reads.then_some(&wrong), Some(&kept))?
        }
    };
    Ok((report, truth.injected()))
}

fn workload(truth: &Truth, plan: &Plan) -> Workload {
    let target = |name: &str, bytes| Target {
        path: truth.directory().join(name),
        size_bytes: Some(Bytes(bytes)),
    };
    let mut workload = Workload::single(target(DATA, DATA_BYTES), stream(plan));
    workload.targets.push(target("records.ldx", LOG_BYTES));
    workload.mode = Mode::Direct;
    workload
}

struct Database<'a> {
    truth: &'a Truth,
    prepared: &'a Prepared,
    workload: &'a Workload,
}

impl Database<'_> {
    fn places(&self) -> Vec<Place> {
        let roles = [Role::Data, Role::Log];
        let targets = self.prepared.targets().iter().zip(self.prepared.facts()).zip(roles);
        let places = targets.map(|((target, facts), role)| Place {
            path: target.path().to_owned(),
            size_bytes: target.size_bytes(),
            role,
            align_bytes: facts.direct_align_bytes,
            shape: ::integrity::Shape::default(),
        });
        places.collect()
    }

    /// Runs the plan; from the beginning of that phase on, something goes wrong. With a ledger, it
    /// ends before the users work.
    fn run(
        &self,
        plan: &Plan,
        wrong: Option<&(Phase, FaultPlan)>,
        kept: Option<&KeptLedger>,
    ) -> Result<Report, Error> {
        let open = |io_bytes: u32| -> Result<Box<dyn Queue>, String> {
            let opened = engine::open_queue_for(self.workload, self.prepared, 0, io_bytes);
            Ok(opened.map_err(|error| error.to_string())?.0)
        };
        let stop = AtomicBool::new(false);
        let hear = |event: &Event| {
            let Event::Began { phase, .. } = event else { return };
            if let Some((_, plan)) = wrong.filter(|(from, _)| from == phase) {
                self.truth.inject(vec![plan.clone()]);
            }
            if kept.is_some() && *phase == Phase::Work {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let time = Duration::from_secs(1);
        Ok(run_kept(plan, &self.places(), time, &open, &stop, &hear, kept)?)
    }
}

fn scored(report: &Report, injected: &[Injected]) -> Score {
    let mut score = Score::new(injected, PAGE);
    for one in &report.faults {
        let (page, damage) = (one.fault.id.page, one.fault.damage);
        score.found.insert(page);
        *score.names.entry(damage).or_default() += 1;
        let part = page * PAGE..(page + 1) * PAGE;
        let fits = injected.iter().any(|i| names(i, &part).contains(&damage));
        score.misnamed += u64::from(!fits);
    }
    score
}

/// What a page may be called because of a fault; nothing if the fault is not in it.
fn names(injected: &Injected, page: &Range<u64>) -> Vec<PageDamage> {
    let inside = |s: &&Span| s.touches(page);
    let part = |s: &Span| (s.offset + s.bytes).min(page.end) - s.offset.max(page.start);
    let wrong: u64 = injected.changed.iter().filter(inside).map(part).sum();
    if wrong == 0 {
        return Vec::new();
    }
    // For a page that this run had not written before, the earlier content is foreign.
    let lost = || vec![PageDamage::LostWrite, PageDamage::ForeignData];
    let own = (injected.offset..injected.offset + injected.bytes).contains(&page.start);
    match injected.fault {
        Fault::BitFlipRead | Fault::BitFlipWrite => {
            vec![PageDamage::BitError, PageDamage::ChecksumOnly]
        }
        Fault::LostWrite => lost(),
        Fault::TornWrite(_) if wrong == PAGE => lost(),
        // Next to a part of the very first version is the earlier content.
        Fault::TornWrite(_) => vec![PageDamage::TornPage, PageDamage::ForeignData],
        Fault::MisdirectedWrite if own => lost(),
        Fault::MisdirectedWrite => vec![PageDamage::MisdirectedWrite],
        Fault::MisdirectedRead => vec![PageDamage::MisdirectedRead],
        Fault::StaleRead => vec![PageDamage::StaleRead, PageDamage::ForeignData],
        Fault::ZeroRead | Fault::ZeroWrite => vec![PageDamage::Zeroed],
        _ => Vec::new(),
    }
}
