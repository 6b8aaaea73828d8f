//! The machine as DiskSpd's result describes it, and what its processors did.

use counters::{CpuCounters, Sampler};
use dialects::diskspd::result::{
    Core, CpuTicks, ProcessorGroup, ProcessorSet, SystemInfo, Topology,
};
use inspect::{Inspector, Processor};
use jiff::Timestamp;

/// Processors of a group, as Windows counts them.
pub(super) const GROUP_CPUS: u32 = 64;

/// The machine, at the beginning of a run.
pub(super) struct Machine {
    pub info: SystemInfo,
    online: Vec<Processor>,
}

impl Machine {
    /// Describes the machine, as DiskSpd does.
    pub(super) fn look(now: Timestamp) -> Self {
        let inspector = Inspector::new();
        let found = inspector.processors();
        let info = SystemInfo {
            computer_name: inspector.host().hostname,
            tool_version: format!("iosonde {}", env!("CARGO_PKG_VERSION")),
            tool_date: String::new(),
            start_time: now.strftime("%Y/%m/%d %H:%M:%S UTC").to_string(),
            power_scheme: found.governor.unwrap_or_else(|| "unknown".to_owned()),
            power_scheme_guid: String::new(),
            topology: topology(&found.online),
        };
        Self { info, online: found.online }
    }

    /// What each processor did between two samples, in the order of the topology.
    pub(super) fn ticks(&self, from: &CpuCounters, to: &CpuCounters) -> Vec<CpuTicks> {
        let of = |counters: &CpuCounters, cpu: u32| {
            counters.cores.iter().find(|core| core.core == cpu).map(|core| core.ticks)
        };
        let ticks = |processor: &Processor| {
            let (Some(from), Some(to)) = (of(from, processor.cpu), of(to, processor.cpu)) else {
                return CpuTicks::default();
            };
            let all = to.total().saturating_sub(from.total());
            let busy = to.busy().saturating_sub(from.busy()).min(all);
            let user = (to.user + to.nice).saturating_sub(from.user + from.nice).min(busy);
            CpuTicks { idle: all - busy, kernel: all - user, user }
        };
        self.online.iter().map(ticks).collect()
    }
}

/// The counters of all processors now; `None` if the system has none.
pub(super) fn sample(sampler: Option<&mut Sampler>) -> Option<CpuCounters> {
    sampler?.sample().ok().map(|sample| sample.cpus)
}

/// The processors in groups of 64.
fn topology(online: &[Processor]) -> Topology {
    let mut topology = Topology::default();
    for processor in online {
        let (group, bit) = place(processor.cpu);
        if topology.groups.last().is_none_or(|last| last.number != group) {
            let (maximum_processors, active_processors, active_mask) = (0, 0, 0);
            topology.groups.push(ProcessorGroup {
                number: group,
                maximum_processors,
                active_processors,
                active_mask,
            });
        }
        if let Some(last) = topology.groups.last_mut() {
            last.active_mask |= bit;
            last.active_processors += 1;
            last.maximum_processors = processor.cpu % GROUP_CPUS + 1;
        }
        add(&mut topology.nodes, processor.node, group, bit);
        add(&mut topology.sockets, processor.socket, group, bit);
    }
    topology.cores = cores(online);
    topology
}

/// The group of a processor, and its bit in it.
fn place(cpu: u32) -> (u16, u64) {
    (u16::try_from(cpu / GROUP_CPUS).unwrap_or(u16::MAX), 1 << (cpu % GROUP_CPUS))
}

fn add(sets: &mut Vec<ProcessorSet>, number: u32, group: u16, bit: u64) {
    let index = sets.iter().position(|set| set.number == number).unwrap_or_else(|| {
        sets.push(ProcessorSet { number, masks: Vec::new() });
        sets.len() - 1
    });
    let masks = &mut sets[index].masks;
    match masks.iter_mut().find(|(of, _)| *of == group) {
        Some((_, mask)) => *mask |= bit,
        None => masks.push((group, bit)),
    }
}

fn cores(online: &[Processor]) -> Vec<Core> {
    let mut speeds: Vec<u32> = online.iter().map(|p| p.capacity).collect();
    speeds.sort_unstable();
    speeds.dedup();
    let mut cores: Vec<((u32, u32), Core)> = Vec::new();
    for processor in online {
        let (group, bit) = place(processor.cpu);
        let name = (processor.socket, processor.core);
        let known = cores.iter_mut().find(|(of, core)| *of == name && core.group == group);
        if let Some((_, core)) = known {
            core.mask |= bit;
            continue;
        }
        let number = cores.iter().filter(|(_, core)| core.group == group).count();
        let class = speeds.iter().position(|speed| *speed == processor.capacity);
        let core = Core {
            group,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            mask: bit,
            efficiency_class: class.and_then(|c| u8::try_from(c).ok()).unwrap_or(0),
        };
        cores.push((name, core));
    }
    cores.into_iter().map(|(_, core)| core).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_in_groups_cores_and_sockets() {
        let of = |cpu, core, socket| Processor { cpu, core, socket, node: socket, capacity: 0 };
        let found = topology(&[of(0, 0, 0), of(1, 0, 0), of(63, 1, 1), of(64, 1, 1)]);
        let groups: Vec<_> = found
            .groups
            .iter()
            .map(|g| (g.number, g.maximum_processors, g.active_processors))
            .collect();
        assert_eq!(groups, [(0, 64, 3), (1, 1, 1)]);
        assert_eq!(found.sockets[1].masks, [(0, 1 << 63), (1, 1)]);
        let cores: Vec<_> = found.cores.iter().map(|c| (c.group, c.number, c.mask)).collect();
        assert_eq!(cores, [(0, 0, 3), (0, 1, 1 << 63), (1, 0, 1)]);
    }
}
