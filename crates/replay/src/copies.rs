//! One user's I/Os: the part of the trace that is replayed, begun at another moment, perhaps
//! thinned, perhaps again and again.

use trace::{Io, Kind, Logs, TraceError};

use crate::{Ios, OpenTrace, Selection};

/// Regions by which a copy is thinned, as a power of two.
const THIN_BITS: u32 = 20;

/// One copy of the trace on a time axis that begins at 0.
pub(crate) struct Copy<'a> {
    open: &'a OpenTrace<'a>,
    ios: Ios,
    selection: Selection,
    from_ns: u64,
    span_ns: u64,
    /// How far into the part this copy begins.
    shift_ns: u64,
    /// Whether the end of the part has been passed in this round: then its beginning is due.
    wrapped: bool,
    /// How many rounds, each through the whole part, are over.
    rounds: u64,
    /// The share of the I/Os that are kept.
    share: f64,
    /// What is kept of the flushes, and of the writes of the log, before it is a whole one.
    flushes: f64,
    log_writes: f64,
    logs: Logs,
    last_ns: u64,
    /// I/Os of this round, so that a round without any ends the copy.
    found: bool,
}

impl<'a> Copy<'a> {
    /// A copy that begins `shift_ns` into the part.
    pub(crate) fn new(
        open: &'a OpenTrace<'a>,
        selection: Selection,
        ((from_ns, span_ns), logs): ((u64, u64), &Logs),
        shift_ns: u64,
        share: f64,
    ) -> Result<Self, TraceError> {
        Ok(Self {
            open,
            ios: open()?,
            selection,
            from_ns,
            span_ns,
            shift_ns,
            wrapped: shift_ns == 0,
            rounds: 0,
            share,
            flushes: 0.0,
            log_writes: 0.0,
            logs: logs.clone(),
            last_ns: 0,
            found: false,
        })
    }

    /// The time of the next I/O from the start of the replay, before any change of speed.
    pub(crate) fn next(&mut self) -> Option<Result<(u64, Io), TraceError>> {
        loop {
            match self.ios.next() {
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(io)) => {
                    let since = io.issued_ns.saturating_sub(self.from_ns);
                    let over = self.wrapped && self.shift_ns > 0 && since >= self.shift_ns;
                    if over || io.issued_ns >= self.selection.to_ns {
                        // What follows is after the part, or was the beginning of this copy.
                        self.ios = Box::new(std::iter::empty());
                        continue;
                    }
                    let early = !self.wrapped && since < self.shift_ns;
                    let discard = io.kind == Kind::Discard;
                    if early
                        || discard
                        || !self.selection.contains(io.issued_ns)
                        || !self.keeps(&io)
                    {
                        continue;
                    }
                    self.found = true;
                    let at = self.time_of(since);
                    return Some(Ok((at, io)));
                }
                None => match self.turn() {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(error) => return Some(Err(error)),
                },
            }
        }
    }

    /// Begins the next part of a round or the next round; false where the copy is at its end.
    fn turn(&mut self) -> Result<bool, TraceError> {
        if self.wrapped {
            if !self.selection.looped || !self.found {
                return Ok(false);
            }
            self.rounds += 1;
            self.found = false;
        }
        self.wrapped = !self.wrapped || self.shift_ns == 0;
        self.ios = (self.open)()?;
        Ok(true)
    }

    /// Time on the axis of this copy; it never runs back, even where that of the trace does.
    fn time_of(&mut self, since: u64) -> u64 {
        let in_round = if self.wrapped && self.shift_ns > 0 {
            since.saturating_add(self.span_ns - self.shift_ns)
        } else {
            since.saturating_sub(self.shift_ns)
        };
        let before = self.span_ns.saturating_mul(self.rounds);
        self.last_ns = self.last_ns.max(before.saturating_add(in_round));
        self.last_ns
    }

    /// Whether a thinned copy has this I/O. It keeps or drops whole regions, so that runs stay
    /// runs. Flushes and writes of the log are kept at even distances: a log is in a few regions,
    /// all of which would be kept or dropped.
    fn keeps(&mut self, io: &Io) -> bool {
        if self.share >= 1.0 {
            return true;
        }
        let kept = match io.kind {
            Kind::Flush => Some(&mut self.flushes),
            _ if self.logs.is_log_write(io) => Some(&mut self.log_writes),
            _ => None,
        };
        if let Some(kept) = kept {
            *kept += self.share;
            let keeps = *kept >= 1.0;
            *kept -= f64::from(u8::from(keeps));
            return keeps;
        }
        let region = (u64::from(io.device) << 48) ^ (io.offset_bytes >> THIN_BITS);
        // splitmix64, whose bits are evenly spread for neighbours, too.
        let mut mixed = region.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) as f64) < self.share * u64::MAX as f64
    }
}
