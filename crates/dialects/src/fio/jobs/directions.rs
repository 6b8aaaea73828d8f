//! Block sizes that reads and writes have of their own, which in one stream are a mix.

use workload::{Block, Bytes, Mix, MixPart, Pattern, Stream};

use crate::fio::options::{of_directions, split};

/// Sizes of one direction and how often each comes, in percent.
type Sizes = Vec<(u64, u32)>;

/// The mix of a job that reads and writes in blocks of different sizes: `bs=4k,64k`, or `bssplit`
/// with a comma; or whose reads and writes have different shares of random I/Os. `None` if both
/// have the same, or where a share is not a whole percent.
pub(super) fn mix(
    bs: Option<&str>,
    bssplit: Option<&str>,
    random: [u8; 2],
    stream: &Stream,
) -> Option<Mix> {
    if !stream.reads() || !stream.writes() {
        return None;
    }
    let one = |part: &str| Some(vec![(part.parse().ok()?, 100)]);
    let [reads, writes]: [Option<Sizes>; 2] = match (bssplit, bs) {
        (Some(text), _) => of_directions(text).map(split),
        (None, text) => of_directions(text.unwrap_or("4096")).map(one),
    };
    let (reads, writes) = (reads?, writes?);
    let random = if stream.pattern == Pattern::Sequential && stream.random_percent == 0 {
        [0, 0]
    } else {
        random
    };
    if reads == writes && random[0] == random[1] {
        return None;
    }
    let written = u32::from(stream.write_percent);
    let mut parts = Vec::new();
    let ways = [(reads, 100 - written, 0, random[0]), (writes, written, 100, random[1])];
    for (sizes, share, write_percent, random_percent) in ways {
        // fio keeps the offsets of a direction to multiples of its smallest block.
        let align = sizes.iter().map(|(bytes, _)| *bytes).min()?;
        for (bytes, percent) in sizes {
            let of_all = share * percent;
            parts.push(MixPart {
                percent: u8::try_from(of_all / 100).ok().filter(|_| of_all.is_multiple_of(100))?,
                block_bytes: Bytes(bytes),
                write_percent,
                random_percent,
                align_bytes: Bytes(align),
                ..MixPart::default()
            });
        }
    }
    Some(Mix { parts })
}

/// The sizes of `4096-4096,8192-8192` as those of `bs`; `None` if one is a range.
pub(super) fn fixed(ranges: &str) -> Option<String> {
    let one = |range: &str| {
        let (least, most) = range.split_once('-')?;
        (least == most).then(|| least.to_owned())
    };
    ranges.split(',').map(one).collect::<Option<Vec<String>>>().map(|sizes| sizes.join(","))
}

/// The stream of one direction with the sizes and the order that it has in a mix.
pub(super) fn of_way(stream: Stream, mix: &Mix) -> Stream {
    let of_way = |p: &&MixPart| p.write_percent == stream.write_percent;
    let parts: Vec<&MixPart> = mix.parts.iter().filter(of_way).collect();
    let random_percent = parts.first().map_or(100, |p| p.random_percent);
    let (pattern, random_percent) = match random_percent {
        100 => (Pattern::Random, 0),
        percent => (Pattern::Sequential, percent),
    };
    let block = |p: &&MixPart| Block { bytes: p.block_bytes, weight: u32::from(p.percent) };
    let blocks: Vec<Block> = parts.iter().map(block).collect();
    let several = blocks.len() > 1;
    Stream {
        mix: None,
        pattern,
        random_percent,
        align_bytes: parts.first().map(|p| p.align_bytes).filter(|_| several),
        blocks,
        ..stream
    }
}

/// The sizes of both directions of a mix whose parts differ in size and direction only, as fio's
/// options; the second tells whether the shares had to be rounded. `None` if it does more.
pub(super) fn of_mix(mix: &Mix) -> Option<(String, u8, bool)> {
    let first = mix.parts.first()?;
    let alike = |p: &MixPart| {
        (p.random_percent, p.delay_ns.0, p.burst_ios, p.reply_bytes.0)
            == (first.random_percent, 0, 1, 0)
    };
    if !mix.parts.iter().all(alike) {
        return None;
    }
    let shares = |of: &dyn Fn(&MixPart) -> u32| -> Vec<(u64, u32)> {
        let part = |p: &MixPart| (p.block_bytes.0, u32::from(p.percent) * of(p));
        mix.parts.iter().map(part).filter(|(_, weight)| *weight > 0).collect()
    };
    let reads = shares(&|p| 100 - u32::from(p.write_percent.min(100)));
    let writes = shares(&|p| u32::from(p.write_percent));
    let written: u32 = writes.iter().map(|(_, weight)| weight).sum();
    let all: u32 = written + reads.iter().map(|(_, weight)| weight).sum::<u32>();
    let write_percent = u8::try_from((100 * written + all / 2) / all.max(1)).ok()?;
    let mut rounded = u32::from(write_percent) * all != 100 * written;
    let mut text = |sizes: &[(u64, u32)]| {
        let (percents, exact) = in_percent(sizes);
        rounded |= !exact;
        let part = |((bytes, _), percent): (&(u64, u32), u32)| format!("{bytes}/{percent}");
        sizes.iter().zip(percents).map(part).collect::<Vec<_>>().join(":")
    };
    let (read_text, write_text) = (text(&reads), text(&writes));
    let split = match (reads.is_empty(), writes.is_empty()) {
        (false, true) => read_text,
        (true, _) => write_text,
        (false, false) if read_text == write_text => read_text,
        (false, false) => format!("{read_text},{write_text}"),
    };
    Some((split, write_percent, rounded))
}

/// Weights as whole percents that sum to 100, the largest taking what rounding leaves; and whether
/// they are exact.
pub(crate) fn in_percent(sizes: &[(u64, u32)]) -> (Vec<u32>, bool) {
    let total: u64 = sizes.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>().max(1);
    let of = |weight: u32| 100 * u64::from(weight);
    let exact = sizes.iter().all(|(_, weight)| of(*weight).is_multiple_of(total));
    let mut percents: Vec<u32> = sizes
        .iter()
        .map(|(_, weight)| u32::try_from((of(*weight) + total / 2) / total).unwrap_or(100).max(1))
        .collect();
    let sum: u32 = percents.iter().sum();
    if let Some(most) = percents.iter_mut().max() {
        *most = (*most + 100).saturating_sub(sum);
    }
    (percents, exact)
}

/// The blocks of a stream as fio's option.
pub(super) fn blocks(blocks: &[Block]) -> (String, bool) {
    let sizes: Vec<(u64, u32)> = blocks.iter().map(|b| (b.bytes.0, b.weight)).collect();
    let (percents, exact) = in_percent(&sizes);
    let part = |((bytes, _), percent): (&(u64, u32), u32)| format!("{bytes}/{percent}");
    (sizes.iter().zip(percents).map(part).collect::<Vec<_>>().join(":"), exact)
}
