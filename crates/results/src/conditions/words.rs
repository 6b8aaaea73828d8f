//! Parts of a stream in words, as a difference between two loads names them.

use workload::{
    Arrival, Buffers, Content, Distribution, Mix, MixPart, Mode, Pool, PoolMember, PoolShare,
    Priority, Rate, RateLimit, RateProfile, SyncCall, SyncPolicy, Think, show_ns, show_number,
};

use super::{exact_bytes, fnv};

pub(super) fn distribution_words(distribution: Distribution) -> String {
    match distribution {
        Distribution::Uniform => "uniform".to_owned(),
        Distribution::Zipf { theta } => format!("zipf {}", show_number(theta)),
        Distribution::Hot { span_percent, access_percent } => format!(
            "{} % of the I/Os on {} % of the file",
            show_number(access_percent),
            show_number(span_percent)
        ),
    }
}

pub(super) fn sync_words(sync: SyncPolicy) -> String {
    let call = match sync.call {
        SyncCall::Fsync => "fsync",
        SyncCall::Fdatasync => "fdatasync",
    };
    format!("{call} every {} writes", sync.every_writes)
}

pub(super) fn mix_words(mix: &Mix) -> String {
    let part = |p: &MixPart| {
        let burst = match (p.burst_ios, p.delay_ns.0) {
            (0..=1, 0) => String::new(),
            (ios, _) => format!(", bursts of {ios} after {}", p.delay_ns),
        };
        let reply = match p.reply_bytes.0 {
            0 => String::new(),
            bytes => format!(", answered by {}", exact_bytes(bytes)),
        };
        format!(
            "{} % {}, {} % writes, {} % random, aligned to {}{burst}{reply}",
            p.percent,
            exact_bytes(p.block_bytes.0),
            p.write_percent,
            p.random_percent,
            exact_bytes(p.alignment())
        )
    };
    mix.parts.iter().map(part).collect::<Vec<_>>().join(" + ")
}

pub(super) fn content_words(content: Content) -> String {
    match content {
        Content::Random => "incompressible".to_owned(),
        Content::Zero => "zeros".to_owned(),
        Content::Compressible { percent } => format!("{percent} % zeros"),
        Content::Counting => "the bytes 0 to 255 repeated".to_owned(),
        Content::Repeating => "one byte repeated".to_owned(),
        Content::Fixed => "the same bytes in each write".to_owned(),
        Content::Source { bytes } => format!("parts of a buffer of {bytes}"),
    }
}

pub(super) fn pool_words(pool: Option<&Pool>) -> String {
    match pool.map(|pool| &pool.share) {
        None => "separate threads".to_owned(),
        Some(PoolShare::Each) => "shared threads, the depth on each target".to_owned(),
        Some(PoolShare::InTurn) => "shared threads, the targets in turn".to_owned(),
        Some(PoolShare::Drawn { weights }) if weights.is_empty() => {
            "shared threads, targets drawn".to_owned()
        }
        Some(PoolShare::Drawn { weights }) => {
            let weights: Vec<String> = weights.iter().map(u32::to_string).collect();
            format!("shared threads, targets drawn {}", weights.join(" : "))
        }
    }
}

pub(super) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Direct => "direct",
        Mode::Buffered => "buffered",
        Mode::Mapped => "mapped",
    }
}

pub(super) fn member_words(member: &PoolMember) -> String {
    let weight = member.weight.map(|weight| format!(" (weight {weight})"));
    format!("{}{}", member.thread, weight.unwrap_or_default())
}

pub(super) fn buffers_words(buffers: Buffers) -> String {
    match buffers {
        Buffers::Single => "in one piece".to_owned(),
        Buffers::Large => "in large pages".to_owned(),
        Buffers::Scattered { pieces } => format!("scattered over {pieces} pieces"),
        Buffers::Pages { bytes } => format!("scattered over pages of {bytes}"),
    }
}

pub(super) fn rate_words(rate: Rate) -> String {
    let limit = match rate.limit {
        RateLimit::Iops(iops) => format!("{} IOPS", show_number(iops)),
        RateLimit::MibPerS(mib) => format!("{} MiB/s", show_number(mib)),
    };
    let arrival = match rate.arrival {
        Arrival::Even => "evenly",
        Arrival::Poisson => "at random moments",
        Arrival::Capped => "at most",
    };
    format!("{limit} {arrival}")
}

/// The windows in words, with the first digits of a hash of what is in them.
pub(super) fn profile_words(profile: &RateProfile) -> String {
    let mut text = profile.order.to_string();
    for pattern in &profile.patterns {
        text.push('|');
        text.push_str(&pattern.to_string());
    }
    let (windows, _) = profile.whole();
    format!("{windows} windows of {} ({:08x})", profile.window_ns, fnv(text.as_bytes()) >> 32)
}

pub(super) fn think_words(think: Think) -> String {
    let issued = if think.from.is_completion() { "" } else { ", from the last one's submission" };
    format!("{} after {} I/Os{issued}", show_ns(think.pause_ns.0 as f64), think.burst_ios)
}

pub(super) fn priority_words(priority: Priority) -> String {
    match priority {
        Priority::Idle => "idle".to_owned(),
        Priority::BestEffort { level } => format!("best effort {level}"),
        Priority::Realtime { level } => format!("realtime {level}"),
    }
}
