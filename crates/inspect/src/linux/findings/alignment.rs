//! Where partitions begin.

use super::{INFO, WARNING, in_block, size};
use crate::Finding;
use crate::platform::chain::PlacedPartition;

/// Where partitioning tools have put partitions since 2009.
const USUAL_ALIGNMENT_BYTES: u64 = 1 << 20;
/// The block of today's disks, whatever they say.
const BLOCK_BYTES: u64 = 4096;
/// What some bridges name as their preferred size is not a stripe.
const STRIPE_BYTES_MAX: u64 = 64 << 20;
const REMEDY: &str =
    "Make the partition anew, beginning at a multiple of 1 MiB; what is on it is lost by that.";

/// Findings about the places of partitions.
pub(in super::super) fn of_partitions(partitions: &[PlacedPartition]) -> Vec<Finding> {
    partitions.iter().flat_map(|placed| [alignment(placed), offset(placed)]).flatten().collect()
}

fn alignment(placed: &PlacedPartition) -> Option<Finding> {
    let (name, start) = (&placed.partition.name, placed.partition.start_bytes);
    let physical = placed.physical_block_bytes.unwrap_or(BLOCK_BYTES);
    let stripe = placed.optimal_io_bytes.filter(|bytes| {
        *bytes > BLOCK_BYTES && *bytes <= STRIPE_BYTES_MAX && bytes.is_multiple_of(BLOCK_BYTES)
    });
    let off = |unit: u64| !start.is_multiple_of(unit);
    let (severity, code, message) = if let Some(block) =
        [physical, BLOCK_BYTES].into_iter().find(|block| off(*block))
    {
        let message = format!(
            "Partition {name} begins at byte {start}, which is not a multiple of {block}: a page \
             of the database may touch one disk block more than it needs."
        );
        (WARNING, "partition-misaligned", message)
    } else if let Some(stripe) = stripe.filter(|stripe| off(*stripe)) {
        let message = format!(
            "Partition {name} begins at byte {start}, which is not a multiple of the stripe of \
             {}: I/Os that would fit one stripe touch two.",
            size(stripe)
        );
        (WARNING, "stripe-misaligned", message)
    } else if off(USUAL_ALIGNMENT_BYTES) {
        let message = format!(
            "Partition {name} begins at byte {start}, which is a multiple of {BLOCK_BYTES} but not \
            of 1 MiB. It may lie across the stripes of a RAID or the blocks of an array."
        );
        (INFO, "partition-not-on-mib", message)
    } else {
        return None;
    };
    let disk = placed.dir.parent().map(crate::platform::device::name).unwrap_or_default();
    let finding = Finding::new(severity, code, message)
        .evidence(in_block(name, "start"), format!("{} sectors of 512 B", start / 512))
        .remedy(REMEDY)
        .command(format!("parted --align optimal /dev/{disk} mkpart primary 1MiB 100%"));
    let queue = |file: &str| in_block(&disk, &format!("queue/{file}"));
    Some(match (code, placed.physical_block_bytes, stripe) {
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
    Some(finding.remedy(REMEDY))
}
