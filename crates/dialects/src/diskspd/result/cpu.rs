//! What the processors did, for the table and the elements that both layouts have.

use super::{Core, CpuTicks, ProcessorSet, Topology};

/// A processor and where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Processor {
    pub(super) socket: u32,
    pub(super) node: u32,
    pub(super) group: u16,
    pub(super) core: u32,
    pub(super) class: u8,
    /// The number of the processor within its group.
    pub(super) number: u32,
    pub(super) used: Shares,
}

/// Shares of a processor's time in percent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Shares {
    pub(super) usage: f64,
    pub(super) user: f64,
    pub(super) kernel: f64,
    pub(super) idle: f64,
}

impl Shares {
    /// The shares of these ticks; without any ticks, all of the time was idle.
    fn of(ticks: CpuTicks) -> Self {
        let all = ticks.kernel.saturating_add(ticks.user);
        if all == 0 {
            return Self { idle: 100.0, ..Self::default() };
        }
        let percent = |part: u64| part as f64 * 100.0 / all as f64;
        let busy = ticks.kernel.saturating_sub(ticks.idle);
        Self {
            usage: percent(busy.saturating_add(ticks.user)),
            user: percent(ticks.user),
            kernel: percent(busy),
            idle: percent(ticks.idle.min(all)),
        }
    }

    /// The mean share of several processors; 0 without any.
    pub(super) fn mean(of: &[Processor]) -> Self {
        let mean = |pick: fn(&Self) -> f64| {
            of.iter().map(|p| pick(&p.used)).sum::<f64>() / of.len().max(1) as f64
        };
        Self {
            usage: mean(|s| s.usage),
            user: mean(|s| s.user),
            kernel: mean(|s| s.kernel),
            idle: mean(|s| s.idle),
        }
    }
}

impl Topology {
    pub(super) fn processors(&self) -> u32 {
        self.groups.iter().map(|g| g.active_processors).sum()
    }

    /// Whether a core has several processors.
    pub(super) fn has_siblings(&self) -> bool {
        self.cores.iter().any(|core| core.mask.count_ones() > 1)
    }

    /// Whether there are cores of several kinds.
    pub(super) fn is_heterogeneous(&self) -> bool {
        self.cores.iter().any(|core| core.efficiency_class != self.fastest())
    }

    /// The class of the fastest cores.
    pub(super) fn fastest(&self) -> u8 {
        self.cores.iter().map(|core| core.efficiency_class).max().unwrap_or(0)
    }

    /// Each active processor with what it did.
    pub(super) fn used(&self, ticks: &[CpuTicks]) -> Vec<Processor> {
        let numbers = self.groups.iter().flat_map(|group| {
            let active = (0..64).filter(|bit| group.active_mask >> bit & 1 == 1);
            active.map(|bit| (group.number, bit))
        });
        let find = |(group, bit)| {
            let core = self.cores.iter().find(|c| c.group == group && c.mask >> bit & 1 == 1);
            (set_of(&self.sockets, group, bit), set_of(&self.nodes, group, bit), core)
        };
        let each = numbers.zip(ticks).map(|((group, bit), ticks)| {
            let (socket, node, core): (_, _, Option<&Core>) = find((group, bit));
            Processor {
                socket,
                node,
                group,
                core: core.map_or(0, |c| c.number),
                class: core.map_or(0, |c| c.efficiency_class),
                number: bit,
                used: Shares::of(*ticks),
            }
        });
        each.collect()
    }
}

/// The node or socket of a processor.
fn set_of(sets: &[ProcessorSet], group: u16, bit: u32) -> u32 {
    let holds =
        |set: &&ProcessorSet| set.masks.iter().any(|(g, m)| *g == group && m >> bit & 1 == 1);
    sets.iter().find(holds).map_or(0, |set| set.number)
}
