//! A token bucket: bursts pass, and in the long run no more than its rate.

use workload::SimBucket;

/// A bucket of one kind of token. It is full at `full_at_ns`; every token taken puts that off by
/// the time one needs to come back (the virtual scheduling form of the generic cell rate algorithm,
/// ITU-T I.371).
#[derive(Debug, Clone)]
struct Tokens {
    ns_for_each: f64,
    burst: f64,
    full_at_ns: f64,
}

impl Tokens {
    fn new(for_each_second: u64, burst: u64) -> Self {
        let ns_for_each = 1e9 / for_each_second.max(1) as f64;
        Self { ns_for_each, burst: burst as f64, full_at_ns: 0.0 }
    }

    /// When there are `count` tokens for an I/O that comes now. More than the bucket can hold start
    /// when it is full.
    fn take(&mut self, count: f64, now: f64) -> f64 {
        self.full_at_ns = self.full_at_ns.max(now) + count * self.ns_for_each;
        self.full_at_ns - count.max(self.burst) * self.ns_for_each
    }
}

/// The limits of a device's rate.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    ios: Option<Tokens>,
    bytes: Option<Tokens>,
}

impl Bucket {
    /// A bucket with all of its tokens.
    pub(crate) fn new(model: SimBucket) -> Self {
        Self {
            ios: model.iops.map(|rate| Tokens::new(rate, model.burst_ios)),
            bytes: model.bytes_per_s.map(|rate| Tokens::new(rate.0, model.burst_bytes.0)),
        }
    }

    /// When an I/O that comes now may continue.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time; negative is 0"
    )]
    pub(crate) fn pass(&mut self, bytes: u32, now: u64) -> u64 {
        let at = now as f64;
        let ios = self.ios.as_mut().map_or(at, |tokens| tokens.take(1.0, at));
        let both = self.bytes.as_mut().map_or(ios, |tokens| tokens.take(bytes.into(), at).max(ios));
        now.max(both.ceil() as u64)
    }
}
