//! A simulated database on a device with planned faults.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{Permissions, Prepared, Queue};
use integrity::{
    Event, PageDamage, Persistence, Phase, Place, Plan, Report, Role, ScanUsers, run, stream,
};
use truth::{Fault, FaultPlan, Injected, Span, Truth};
use workload::{Bytes, Mode, Nanoseconds, SimDevice, Target, Workload};

pub(crate) const DATA: &str = "pages.mdx";
const PAGE: u64 = 8192;
const DATA_BYTES: u64 = 600 * PAGE;
const LOG_BYTES: u64 = 16 << 20;

/// A small database that is busy all the time.
pub(crate) fn plan() -> Plan {
    let scan =
        |users, pages| ScanUsers { users, pages, cycles: 2, delay: Duration::from_millis(1) };
    Plan {
        checkpoint_every: Duration::from_millis(100),
        dirty_pages: 100,
        gather_pages: 8,
        audit: scan(2, (1, 16)),
        read_ahead: scan(2, (8, 16)),
        bulk: scan(2, (1, 8)),
        rereads: 3,
        stop_on_fault: false,
        ..Plan::default()
    }
}

pub(crate) struct Lab {
    workload: Workload,
    /// Its files go before the device does.
    prepared: Prepared,
    pub(crate) truth: Truth,
}

impl Lab {
    /// Files on a fast device; `None` if it cannot be had, which is noted.
    pub(crate) fn new(test: &str, plan: &Plan) -> Option<Self> {
        let time = Nanoseconds(1000);
        let model =
            SimDevice { servers: 64, read_ns: time, write_ns: time, ..SimDevice::default() };
        let truth = Truth::mount(model, &[DATA_BYTES, LOG_BYTES])
            .inspect_err(|reason| testing::skip(&format!("integrity::{test}"), reason))
            .ok()?;
        let target = |name: &str, bytes| Target {
            path: truth.directory().join(name),
            size_bytes: Some(Bytes(bytes)),
        };
        let mut workload = Workload::single(target(DATA, DATA_BYTES), stream(plan));
        workload.targets.push(target("records.ldx", LOG_BYTES));
        workload.mode = Mode::Direct;
        let never = AtomicBool::new(false);
        let make = || engine::prepare(&workload, &Permissions::default(), &never, &mut |_| {});
        let prepared = truth.instantly(make).unwrap();
        Some(Self { workload, prepared, truth })
    }

    fn places(&self) -> Vec<Place> {
        let facts = self.prepared.facts();
        let roles = [Role::Data, Role::Log];
        let targets = self.prepared.targets().iter().zip(facts).zip(roles);
        let place =
            |((target, facts), role): ((&engine::PreparedTarget, workload::TargetFacts), _)| {
                Place {
                    path: target.path().to_owned(),
                    size_bytes: target.size_bytes(),
                    role,
                    align_bytes: facts.direct_align_bytes,
                    shape: integrity::Shape::default(),
                }
            };
        targets.map(place).collect()
    }

    /// Bytes of the pages.
    pub(crate) fn pages(&self) -> Range<u64> {
        0..self.prepared.targets()[0].size_bytes() / PAGE * PAGE
    }

    /// Runs the plan; when every page was written once, things begin to go wrong.
    pub(crate) fn run(&self, plan: &Plan, faults: &[FaultPlan]) -> Report {
        let open = |io_bytes: u32| -> Result<Box<dyn Queue>, String> {
            let opened = engine::open_queue_for(&self.workload, &self.prepared, 0, io_bytes);
            Ok(opened.map_err(|error| error.to_string())?.0)
        };
        let hear = |event: &Event| {
            if matches!(event, Event::Began { phase: Phase::Work, .. }) {
                self.truth.inject(faults.to_vec());
            }
        };
        let stop = AtomicBool::new(false);
        let time = Duration::from_secs(1);
        run(plan, &self.places(), time, &open, &stop, &hear).unwrap()
    }
}

/// What a page may be called, by its number.
pub(crate) type Names = BTreeMap<u64, Vec<(PageDamage, Persistence)>>;

/// What was found: what each page was called, each time.
pub(crate) fn found(report: &Report) -> Names {
    let mut found = Names::new();
    for one in &report.faults {
        found.entry(one.fault.id.page).or_default().push((one.fault.damage, one.fault.kept));
    }
    found
}

fn pages(spans: &[Span]) -> impl Iterator<Item = u64> {
    spans.iter().flat_map(|s| s.offset / PAGE..(s.offset + s.bytes).div_ceil(PAGE))
}

/// How often a reader was handed each page with something wrong that nobody had seen before.
pub(crate) fn visible(injected: &[Injected]) -> BTreeMap<u64, usize> {
    let mut visible = BTreeMap::new();
    for page in injected.iter().flat_map(|i| pages(&i.visible)) {
        *visible.entry(page).or_default() += 1;
    }
    visible
}

/// What each page may be called that something is wrong with, seen or not: a fault may lie over an
/// older one.
pub(crate) fn names(injected: &[Injected]) -> Names {
    let mut names = Names::new();
    for one in injected {
        for page in pages(&one.changed) {
            names.entry(page).or_default().push(name(one, page));
        }
    }
    names
}

fn name(injected: &Injected, page: u64) -> (PageDamage, Persistence) {
    let own = injected.offset..injected.offset + injected.bytes;
    let part = page * PAGE..(page + 1) * PAGE;
    let in_page = |s: &&Span| s.touches(&part);
    let wrong: u64 = injected
        .changed
        .iter()
        .filter(in_page)
        .map(|s| (s.offset + s.bytes).min(part.end) - s.offset.max(part.start))
        .sum();
    let bit = injected.bit.map_or(PageDamage::BitError, |bit| match bit / 8 % PAGE {
        16..24 => PageDamage::ChecksumOnly,
        _ => PageDamage::BitError,
    });
    let lost = (PageDamage::LostWrite, Persistence::Persistent);
    match injected.fault {
        Fault::BitFlipRead => (bit, Persistence::Transient),
        Fault::BitFlipWrite => (bit, Persistence::Persistent),
        Fault::LostWrite => lost,
        // Of a write of several pages, those after the edge have lost all of it.
        Fault::TornWrite(_) if wrong == PAGE => lost,
        Fault::TornWrite(_) => (PageDamage::TornPage, Persistence::Persistent),
        Fault::MisdirectedWrite if own.contains(&part.start) => lost,
        Fault::MisdirectedWrite => (PageDamage::MisdirectedWrite, Persistence::Persistent),
        Fault::MisdirectedRead => (PageDamage::MisdirectedRead, Persistence::Transient),
        Fault::StaleRead => (PageDamage::StaleRead, Persistence::Transient),
        Fault::ZeroRead => (PageDamage::Zeroed, Persistence::Transient),
        Fault::ZeroWrite => (PageDamage::Zeroed, Persistence::Persistent),
        other => panic!("{other:?} makes nothing wrong"),
    }
}
