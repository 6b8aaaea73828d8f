//! The rules that a mix must keep.

use super::{BLOCK_BYTES_MAX, Violations};
use crate::mix::MixPart;
use crate::order::PoolShare;
use crate::stream::{Distribution, Stream};
use crate::units::Bytes;

/// The most kinds of a mix: one for each percent.
const PARTS_MAX: usize = 100;
/// The longest pause before a burst.
const DELAY_NS_MAX: u64 = 3_600_000_000_000;

/// Notes every rule that the mix of a stream breaks, whatever its targets are.
pub(super) fn check(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    let Some(mix) = &stream.mix else { return };
    let kinds = mix.parts.len();
    let rule = "it must have 1 to 100 parts";
    found.check((1..=PARTS_MAX).contains(&kinds), at("mix.parts"), kinds, rule);
    let percent: u32 = mix.parts.iter().map(|p| u32::from(p.percent)).sum();
    let whole = mix.parts.is_empty() || percent == 100;
    let value = format!("{percent} % in all");
    found.check(whole, at("mix.parts"), value, "the percents of the parts must sum to 100");
    for (i, part) in mix.parts.iter().enumerate() {
        check_part(found, &|name| at(&format!("mix.parts[{i}].{name}")), part);
    }
    let settled = stream.clone().with_means_of_mix();
    let rule = "sizes, order and direction are those of its parts; leave out blocks, pattern, \
                random_percent, align_bytes and write_percent";
    found.check(
        mix.parts.is_empty() || settled == *stream,
        at("mix"),
        "set along with \
        others",
        rule,
    );
    let alone = stream.diskspd.is_none()
        && stream.distribution == Distribution::Uniform
        && stream.rate.is_none()
        && stream.think.is_none()
        && stream.sync.is_none();
    let rule = "a mix has its own order and pauses, and no flushes; leave out diskspd, \
                distribution, rate, think and sync";
    found.check(alone, at("mix"), "set along with others", rule);
    let drawn = stream.pool.as_ref().is_some_and(|p| matches!(p.share, PoolShare::Drawn { .. }));
    let rule = "threads of a mix do not draw their targets; use the share `each` or `in_turn`";
    found.check(!drawn, at("pool.share"), "drawn", rule);
    let in_turn = stream.pool.as_ref().is_some_and(|p| p.share == PoolShare::InTurn);
    let replies = mix.parts.iter().any(|p| p.reply_bytes.0 > 0);
    let rule = "a mix with replies has its depth on each target; use the share `each`";
    found.check(!(in_turn && replies), at("pool.share"), "in_turn", rule);
}

fn check_part(found: &mut Violations, at: &dyn Fn(&str) -> String, part: &MixPart) {
    let sizes = [("block_bytes", part.block_bytes, 1), ("reply_bytes", part.reply_bytes, 0)];
    for (field, bytes, least) in sizes {
        let ok = (least..=BLOCK_BYTES_MAX).contains(&bytes.0);
        found.check(ok, at(field), bytes, "it must be at most 1 GiB, and a block at least 1 byte");
    }
    for (field, percent) in [
        ("percent", part.percent),
        ("write_percent", part.write_percent),
        ("random_percent", part.random_percent),
    ] {
        found.check(percent <= 100, at(field), percent, "it must be 0 to 100 percent");
    }
    found.check(part.burst_ios > 0, at("burst_ios"), 0, "it must be at least 1");
    let ok = part.delay_ns.0 <= DELAY_NS_MAX;
    found.check(ok, at("delay_ns"), part.delay_ns, "it must be at most 1 h");
    let ok = part.align_bytes.0 <= BLOCK_BYTES_MAX;
    found.check(ok, at("align_bytes"), part.align_bytes, "it must be at most 1 GiB");
}

/// Notes every part whose sizes and places direct I/O cannot have.
pub(super) fn check_aligned(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    align: u64,
    rule: &str,
) {
    for (i, part) in stream.mix.iter().flat_map(|m| &m.parts).enumerate() {
        let place = part.alignment();
        let field = at(&format!("mix.parts[{i}].align_bytes"));
        found.check(place.is_multiple_of(align), field, Bytes(place), rule);
    }
}
