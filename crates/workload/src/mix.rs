//! Kinds of I/O that one thread mixes: IOMeter's access specification.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stream::{Block, Pattern, Stream};
use crate::units::{Bytes, Nanoseconds};

/// What an alignment of 0 means: a sector.
const SECTOR_BYTES: u64 = 512;

/// Kinds of I/O of which a thread draws one for each burst: IOMeter's access specification.
///
/// Each thread draws a part by its percent, pauses for the part's delay, and starts the part's
/// burst, one I/O on each of its targets in turn, as far as they have room; then it draws again.
/// The pause holds back the whole thread, and begins when the last I/O of the burst before it has
/// started. Whether an I/O reads or writes, and whether it jumps or continues after the thread's
/// last one on that target, is drawn for each. All threads begin at the first byte of the used
/// part.
///
/// A jump goes to any byte of the used part, rounded up to the alignment; so does what continues
/// after another. What would run over the end starts at the beginning instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// The kinds; their percents sum to 100.
    pub parts: Vec<MixPart>,
}

/// One kind of I/O of a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixPart {
    /// How often a burst is of this kind.
    pub percent: u8,
    /// Size of one I/O of this part.
    pub block_bytes: Bytes,
    /// Share of the I/Os that write, in percent.
    #[serde(default)]
    pub write_percent: u8,
    /// Share of the I/Os that jump instead of continuing after the last, in percent.
    #[serde(default = "all")]
    pub random_percent: u8,
    /// The pause before each burst of this part.
    #[serde(default, skip_serializing_if = "is_now")]
    pub delay_ns: Nanoseconds,
    /// I/Os of a burst, not counting their replies.
    #[serde(default = "one")]
    pub burst_ios: u32,
    /// Offsets are rounded up to multiples of this from the start of the target; 0 is a sector of
    /// 512 bytes.
    #[serde(default)]
    pub align_bytes: Bytes,
    /// Each I/O is followed by one of this size in the other direction; 0 means no reply.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reply_bytes: Bytes,
}

impl Default for MixPart {
    /// All of the I/Os: random reads of 8 KiB.
    fn default() -> Self {
        Self {
            percent: 100,
            block_bytes: Bytes(8192),
            write_percent: 0,
            random_percent: 100,
            delay_ns: Nanoseconds(0),
            burst_ios: 1,
            align_bytes: Bytes(0),
            reply_bytes: Bytes(0),
        }
    }
}

impl MixPart {
    /// Offsets are multiples of this, in bytes.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        if self.align_bytes.0 == 0 { SECTOR_BYTES } else { self.align_bytes.0 }
    }

    /// How many of the mix's bursts times their I/Os are of this part: its weight among all
    /// requests.
    fn weight(&self) -> u64 {
        u64::from(self.percent) * u64::from(self.burst_ios)
    }

    fn has_reply(&self) -> bool {
        self.reply_bytes.0 > 0
    }
}

impl Mix {
    /// Sizes of I/Os, replies among them, and how often each comes.
    fn blocks(&self) -> Vec<Block> {
        let mut sizes: BTreeMap<Bytes, u64> = BTreeMap::new();
        for part in self.parts.iter().filter(|p| p.percent > 0) {
            *sizes.entry(part.block_bytes).or_default() += part.weight();
            if part.has_reply() {
                *sizes.entry(part.reply_bytes).or_default() += part.weight();
            }
        }
        let divisor = sizes.values().copied().fold(0, greatest_common_divisor).max(1);
        // Weights of more bits than there are lose the last of them, all alike.
        let most = sizes.values().map(|w| w / divisor).max().unwrap_or(0);
        let shift = (u64::BITS - most.leading_zeros()).saturating_sub(u32::BITS);
        let block = |(bytes, weight): (Bytes, u64)| Block {
            bytes,
            weight: u32::try_from((weight / divisor) >> shift).unwrap_or(u32::MAX).max(1),
        };
        sizes.into_iter().map(block).collect()
    }

    /// The mean of a percentage over all I/Os, whole, and 0 or 100 only if that is exact. `of`
    /// gives the share among the requests of a part and among its replies.
    fn mean_percent(&self, of: impl Fn(&MixPart) -> (u8, u8)) -> u8 {
        let (mut ios, mut sum) = (0u128, 0u128);
        for part in &self.parts {
            let (requests, replies) = of(part);
            let mut add = |share: u8| {
                ios += u128::from(part.weight());
                sum += u128::from(part.weight()) * u128::from(share.min(100));
            };
            add(requests);
            if part.has_reply() {
                add(replies);
            }
        }
        let rounded = u8::try_from((sum + ios / 2) / ios.max(1)).unwrap_or(100);
        match rounded {
            0 if sum > 0 => 1,
            100 if sum < 100 * ios => 99,
            exact => exact,
        }
    }
}

impl Stream {
    /// A stream that does a mix, everything else by default.
    #[must_use]
    pub fn of_mix(name: &str, mix: Mix) -> Self {
        Self { name: name.to_owned(), mix: Some(mix), ..Self::default() }.with_means_of_mix()
    }

    /// The stream with the means of its mix as sizes and shares, for readers that need not know the
    /// parts. Without a mix it is unchanged.
    #[must_use]
    pub fn with_means_of_mix(self) -> Self {
        let Some(mix) = &self.mix else { return self };
        let random = mix.mean_percent(|p| (p.random_percent, p.random_percent));
        let (pattern, random_percent) = match random {
            100 => (Pattern::Random, 0),
            share => (Pattern::Sequential, share),
        };
        Self {
            blocks: mix.blocks(),
            pattern,
            random_percent,
            align_bytes: mix.parts.iter().map(|p| Bytes(p.alignment())).min(),
            write_percent: mix.mean_percent(|p| (p.write_percent, 100 - p.write_percent.min(100))),
            ..self
        }
    }

    /// Whether sizes and shares are as if nobody had said them.
    pub(crate) fn leaves_sizes_to_mix(&self) -> bool {
        let usual = Self::default();
        self.blocks == usual.blocks
            && self.pattern == usual.pattern
            && self.random_percent == usual.random_percent
            && self.align_bytes == usual.align_bytes
            && self.write_percent == usual.write_percent
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn all() -> u8 {
    100
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_now(time: &Nanoseconds) -> bool {
    time.0 == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(size: &Bytes) -> bool {
    size.0 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Target, Workload};

    fn part(percent: u8, block_bytes: u64, write_percent: u8) -> MixPart {
        MixPart { percent, block_bytes: Bytes(block_bytes), write_percent, ..MixPart::default() }
    }

    #[test]
    fn a_stream_has_the_means_of_its_mix() {
        let log = MixPart { burst_ios: 4, random_percent: 0, ..part(20, 65_536, 100) };
        let stream = Stream::of_mix("oltp", Mix { parts: vec![part(80, 8192, 30), log] });
        let block = |bytes, weight| Block { bytes: Bytes(bytes), weight };
        assert_eq!(stream.blocks, [block(8192, 1), block(65_536, 1)], "80 to 20 times 4");
        assert_eq!((stream.write_percent, stream.random_percent), (65, 50));
        assert_eq!((stream.pattern, stream.align_bytes), (Pattern::Sequential, Some(Bytes(512))));
        assert_eq!(
            stream.title(),
            "shape of `oltp`: a mix of 2 kinds, 8 KiB to 64 KiB, sequential with 50 % random, 35 \
             % read / 65 % write"
        );
    }

    /// A share of one in a thousand was rounded to none, and there were no buffers to write from.
    #[test]
    fn a_small_share_is_not_none() {
        let rare = MixPart { burst_ios: 1, ..part(1, 8192, 100) };
        let often = MixPart { burst_ios: 1000, ..part(99, 8192, 0) };
        let stream = Stream::of_mix("rare", Mix { parts: vec![often, rare] });
        assert_eq!(stream.write_percent, 1);
        let reply = MixPart { reply_bytes: Bytes(512), ..part(100, 8192, 0) };
        let stream = Stream::of_mix("reply", Mix { parts: vec![reply] });
        assert_eq!((stream.write_percent, stream.blocks.len()), (50, 2));
    }

    #[test]
    fn a_file_says_only_the_mix() {
        let text = r#"
            [[targets]]
            path = "/data"
            [[streams]]
            mix.parts = [{ percent = 60, block_bytes = "4K", write_percent = 20 }, { percent = 40, block_bytes = "64K", delay_ns = "5ms", burst_ios = 8 }]
        "#;
        let workload: Workload = text.parse().unwrap();
        assert_eq!(workload.violations(), []);
        assert_eq!(workload.streams[0].largest_block(), 65_536);
        let again: Workload = workload.to_toml().unwrap().parse().unwrap();
        assert_eq!(again, workload, "what is written out reads back the same");
    }

    #[test]
    fn what_a_mix_may_not_be_is_said() {
        let fields = |stream: Stream| {
            let target = Target { path: "/data".into(), size_bytes: Some(Bytes(1 << 30)) };
            let all = Workload::single(target, stream).violations();
            all.into_iter().map(|v| v.field).collect::<Vec<_>>()
        };
        let mixed = |parts: Vec<MixPart>| Stream::of_mix("m", Mix { parts });
        assert_eq!(fields(mixed(vec![part(60, 8192, 0), part(40, 4096, 0)])), [""; 0]);
        assert!(fields(mixed(vec![])).contains(&"streams[0].mix.parts".to_owned()));
        let missing = fields(mixed(vec![part(60, 8192, 0), part(39, 4096, 0)]));
        assert_eq!(missing, ["streams[0].mix.parts"]);
        let zero = MixPart { burst_ios: 0, ..MixPart::default() };
        assert!(
            fields(mixed(vec![zero])).contains(&"streams[0].mix.parts[0].burst_ios".to_owned())
        );
        let other = Stream { write_percent: 7, ..mixed(vec![MixPart::default()]) };
        assert_eq!(fields(other), ["streams[0].mix"]);
    }
}
