//! The busiest of equal windows of time.

/// The busiest window, and the most bytes of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// The begin of the window with most I/Os, since that of the recording or the first I/O.
    pub from_ns: u64,
    /// Reads and writes that were issued in it.
    pub ios: u64,
    /// Bytes that these reads and writes covered.
    pub bytes: u128,
    /// The most bytes of any window.
    pub most_bytes: u128,
}

/// Counts I/Os in windows of `NS` nanoseconds, and keeps the busiest.
#[derive(Debug, Default)]
pub(super) struct Windows<const NS: u64> {
    window: u64,
    ios: u64,
    bytes: u128,
    peak: Option<Peak>,
}

impl<const NS: u64> Windows<NS> {
    /// Counts an I/O; times do not run back.
    pub(super) fn add(&mut self, since_ns: u64, bytes: u64) {
        if since_ns / NS != self.window {
            self.close();
            (self.window, self.ios, self.bytes) = (since_ns / NS, 0, 0);
        }
        self.ios += 1;
        self.bytes += u128::from(bytes);
    }

    fn close(&mut self) {
        if self.ios == 0 {
            return;
        }
        let most = self.peak.map_or(0, |peak| peak.most_bytes).max(self.bytes);
        let (from_ns, ios, bytes) = (self.window * NS, self.ios, self.bytes);
        let this = Peak { from_ns, ios, bytes, most_bytes: most };
        let peak = self.peak.filter(|peak| peak.ios >= ios).unwrap_or(this);
        self.peak = Some(Peak { most_bytes: most, ..peak });
    }

    pub(super) fn finish(mut self) -> Option<Peak> {
        self.close();
        self.peak
    }
}
