//! Options whose values are small languages.

use super::super::fault::Fault;
use super::super::lex::size_before;
use super::super::profile::{
    Distribution, DistributionKind, DistributionRange, Etw, Processor, Throughput,
};
use super::options::limit;

/// A list of processors, and whether one of its numbers was beyond 32 bits.
pub(super) fn affinity(value: &str) -> Result<(Vec<Processor>, bool), Fault> {
    let (mut processors, mut wrapped) = (Vec::new(), false);
    if value.is_empty() || value == "g" {
        return Ok((processors, false));
    }
    let (mut group, mut only_group) = (0u32, false);
    let last = value.matches(',').count();
    for (index, item) in value.split(',').enumerate() {
        let is_last = index == last;
        if item.is_empty() {
            // As DiskSpd has it: a group and a comma are the group's first processor.
            if is_last && only_group {
                processors.push(Processor { group, cpu: 0 });
                break;
            }
            let ends = is_last && !processors.is_empty();
            return Err(if ends { Fault::AffinityIncomplete } else { Fault::AffinitySyntax });
        }
        let digits = item.strip_prefix('g').unwrap_or(item);
        only_group = digits.len() < item.len();
        if only_group && is_last && (digits.is_empty() || is_digits(digits)) {
            return Err(Fault::AffinityIncomplete);
        }
        if !is_digits(digits) {
            return Err(Fault::AffinitySyntax);
        }
        let number = wrapping(digits);
        wrapped |= digits.parse() != Ok(number);
        if only_group {
            group = number;
            if group > 65_535 {
                return Err(Fault::AffinityGroupRange);
            }
        } else {
            if number > 255 {
                return Err(Fault::AffinityCpuRange);
            }
            processors.push(Processor { group, cpu: number });
        }
    }
    Ok((processors, wrapped))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Digits as a number of 32 bits; higher bits are lost.
fn wrapping(digits: &str) -> u32 {
    let step = |n: u32, digit: u8| n.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
    digits.bytes().fold(0, step)
}

/// What the kernel is to trace.
pub(super) fn etw(value: &str, etw: &mut Etw) -> Result<(), Fault> {
    let flag = match value {
        "PROCESS" => &mut etw.process,
        "THREAD" => &mut etw.thread,
        "IMAGE_LOAD" => &mut etw.image_load,
        "DISK_IO" => &mut etw.disk_io,
        "MEMORY_PAGE_FAULTS" => &mut etw.memory_page_faults,
        "MEMORY_HARD_FAULTS" => &mut etw.memory_hard_faults,
        "NETWORK" => &mut etw.network,
        "REGISTRY" => &mut etw.registry,
        _ => match value.chars().next() {
            Some('q') => &mut etw.use_perf_timer,
            Some('c') => &mut etw.use_cycles_counter,
            Some('s') => &mut etw.use_system_timer,
            Some('p') => &mut etw.use_paged_memory,
            _ => return Err(Fault::Etw),
        },
    };
    *flag = true;
    Ok(())
}

/// The most that a thread does on a target: bytes in a millisecond, or I/Os in a second where an
/// `i` is the last letter.
pub(super) fn throughput(value: &str) -> Result<Throughput, Fault> {
    match value.strip_suffix('i') {
        Some(iops) => limit(iops, true),
        None if value.ends_with(|c: char| c.is_ascii_digit()) => limit(value, false),
        None => Err(Fault::Throughput),
    }
}

/// Pairs of shares of the I/Os and parts of the target.
pub(super) fn distribution(value: &str, block_bytes: u64) -> Result<Distribution, Fault> {
    let (kind, mut rest) = match (value.strip_prefix("pct"), value.strip_prefix("abs")) {
        (Some(pairs), _) => (DistributionKind::Percent, pairs),
        (None, Some(pairs)) => (DistributionKind::Absolute, pairs),
        (None, None) => return Err(Fault::DistributionType),
    };
    let mut ranges = Vec::new();
    loop {
        let (io_percent, behind) = number(rest).ok_or(Fault::DistributionIo)?;
        if io_percent > 100 {
            return Err(Fault::DistributionIoRange);
        }
        let behind = behind.strip_prefix('/').ok_or(Fault::DistributionSlash)?;
        let (extent, behind) = match kind {
            DistributionKind::Percent => {
                let (percent, behind) = number(behind).ok_or(Fault::DistributionTarget)?;
                if !(1..=100).contains(&percent) {
                    return Err(Fault::DistributionTargetRange);
                }
                (u64::from(percent), behind)
            }
            DistributionKind::Absolute => size_before(behind, block_bytes)?,
        };
        if extent == 0 {
            return Err(Fault::DistributionZero);
        }
        ranges.push(DistributionRange { io_percent, extent });
        if behind.is_empty() {
            break;
        }
        let next = behind.strip_prefix(':');
        rest = next.ok_or_else(|| Fault::DistributionTrailing(behind.to_owned()))?;
    }
    let mut distribution = Distribution { kind, ranges };
    distribution.complete();
    Ok(distribution)
}

/// Digits and what follows them. What does not fit is the largest number that does.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (!digits.is_empty()).then(|| (digits.parse().unwrap_or(u32::MAX), rest))
}
