//! A device that is not to be trusted, and the truth about it: which sectors it stores or returns
//! wrongly, what they should hold, and whether any reader got them.
//!
//! For every sector that is stored wrongly, the right content is kept. Everything else is right by
//! definition, so the truth is exact and costs memory only for wrong sectors.

mod draw;
mod plan;
mod record;
mod stored;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) use draw::{DrawnFault, PendingIo};
pub use plan::{Fault, FaultPlan, SECTOR_BYTES, Torn, When};
pub(super) use record::joined;
pub use record::{Injected, Span};

use device::Op;

use super::cache::Broken;
use draw::Armed;
use record::Records;
use stored::Sectors;

/// Where bytes are read or written.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) content: &'a File,
    pub(super) file: u64,
    pub(super) offset: u64,
    /// The present moment, on the device's clock.
    pub(super) at_ns: u64,
}

/// What goes wrong on a device. As long as nothing was to, it costs nothing.
#[derive(Default)]
pub(super) struct Faults {
    active: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    plans: Vec<Armed>,
    sectors: Sectors,
    records: Records,
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn active(&self) -> Option<MutexGuard<'_, State>> {
        self.active.load(Ordering::Acquire).then(|| self.lock())
    }

    /// From now on, this goes wrong, and nothing else. What went wrong before stays so.
    pub(super) fn inject(&self, plans: Vec<FaultPlan>) {
        let mut state = self.lock();
        state.sectors.remember_earlier(plans.iter().any(|p| p.fault == Fault::StaleRead));
        state.plans = plans.into_iter().map(Armed::new).collect();
        self.active.store(true, Ordering::Release);
    }

    /// Everything that went wrong so far.
    pub(super) fn injected(&self) -> Vec<Injected> {
        self.lock().records.all().to_vec()
    }

    pub(super) fn write_log(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lock().records.write(out)
    }

    /// Whether something goes wrong with a request.
    pub(super) fn draw(&self, asked: &PendingIo<'_>, at_ns: u64) -> Option<DrawnFault> {
        let mut state = self.active()?;
        let State { plans, records, .. } = &mut *state;
        let mut drawn = plans.iter_mut().find_map(|armed| armed.draw(asked))?;
        drawn.number = records.begin(Injected {
            number: 0,
            at_ns,
            fault: drawn.fault,
            file: asked.name.to_string_lossy().into_owned(),
            offset: asked.offset,
            bytes: asked.bytes,
            bit: None,
            elsewhere: drawn.elsewhere,
            changed: Vec::new(),
            visible: Vec::new(),
            healed: Vec::new(),
        });
        // A failed request changes nothing, and neither does a flush whose fault shows only at a
        // crash.
        if drawn.errno().is_some() || asked.op == Op::Sync {
            records.happened(drawn.number, None, Vec::new());
        }
        Some(drawn)
    }

    /// Stores what is written, or something else; returns the number of bytes that the writer is
    /// told.
    pub(super) fn write(
        &self,
        place: Place<'_>,
        data: &[u8],
        drawn: Option<DrawnFault>,
    ) -> io::Result<usize> {
        match self.active() {
            Some(mut state) => {
                let State { sectors, records, .. } = &mut *state;
                sectors.write(records, place, data, drawn)
            }
            None => place.content.write_all_at(data, place.offset).map(|()| data.len()),
        }
    }

    /// Reads what is stored, or something else; returns the number of bytes that the reader gets.
    pub(super) fn read(
        &self,
        place: Place<'_>,
        out: &mut [u8],
        drawn: Option<DrawnFault>,
    ) -> io::Result<usize> {
        match self.active() {
            Some(mut state) => {
                let State { sectors, records, .. } = &mut *state;
                sectors.read(records, place, out, drawn)
            }
            None => place.content.read_at(out, place.offset),
        }
    }

    /// A crash has taken sectors that were acknowledged as stable.
    pub(super) fn lost(&self, broken: Vec<Broken>, at_ns: u64) {
        let mut state = self.lock();
        let State { sectors, records, .. } = &mut *state;
        let mut by_fault = BTreeMap::<usize, Vec<Span>>::new();
        for Broken { file, sector, right, number } in broken {
            let span = Span { offset: sector * SECTOR_BYTES, bytes: SECTOR_BYTES };
            by_fault.entry(number).or_default().push(span);
            sectors.set_wrong(file, sector, right, number);
        }
        for (number, spans) in by_fault {
            for span in joined(spans) {
                records.lost(number, at_ns, span);
            }
        }
    }

    /// A file now has this length. Content after that is gone.
    pub(super) fn cut(&self, file: u64, bytes: u64) {
        if let Some(mut state) = self.active() {
            state.sectors.cut(file, bytes);
        }
    }
}

#[cfg(test)]
mod tests;
