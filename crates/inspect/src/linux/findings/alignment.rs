//! Where partitions begin.

use super::{WARNING, in_block};
use crate::Finding;
use crate::judged::{self, REALIGN};
use crate::platform::chain::PlacedPartition;

/// Findings about the places of partitions.
pub(in super::super) fn of_partitions(partitions: &[PlacedPartition]) -> Vec<Finding> {
    partitions.iter().flat_map(|placed| [alignment(placed), offset(placed)]).flatten().collect()
}

fn alignment(placed: &PlacedPartition) -> Option<Finding> {
    let (name, start) = (&placed.partition.name, placed.partition.start_bytes);
    let stripe = judged::stripe(placed.optimal_io_bytes);
    let finding = judged::alignment(name, start, placed.physical_block_bytes, stripe)?;
    let disk = placed.dir.parent().map(crate::platform::device::name).unwrap_or_default();
    let finding = finding
        .evidence(in_block(name, "start"), format!("{} sectors of 512 B", start / 512))
        .command(format!("parted --align optimal /dev/{disk} mkpart primary 1MiB 100%"));
    let queue = |file: &str| in_block(&disk, &format!("queue/{file}"));
    Some(match (finding.code.as_str(), placed.physical_block_bytes, stripe) {
        ("stripe-misaligned", _, Some(stripe)) => {
            finding.evidence(queue("optimal_io_size"), stripe)
        }
        ("partition-misaligned", Some(physical), _) => {
            finding.evidence(queue("physical_block_size"), physical)
        }
        _ => finding,
    })
}

fn offset(placed: &PlacedPartition) -> Option<Finding> {
    let offset = placed.alignment_offset_bytes?;
    let name = &placed.partition.name;
    let message = format!(
        "The kernel says that {name} begins {offset} bytes off the natural alignment of what is \
         below it."
    );
    let finding = Finding::new(WARNING, "alignment-offset", message)
        .evidence(in_block(name, "alignment_offset"), offset);
    Some(finding.remedy(REALIGN))
}
