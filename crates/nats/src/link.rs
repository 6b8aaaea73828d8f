//! Bytes over a network that loses messages: each arrives once and in order, or not at all.
//!
//! A NATS server keeps nothing for those who are away, and so a server that is restarted loses what
//! is on its way. Both ends therefore number what they send, keep it until the other end
//! acknowledges it, and send it again after a while or after a new connection. No network and no
//! clock here: frames and time go in, frames come out.

use std::collections::VecDeque;

/// The first bytes of each frame: what this is, and its version.
const MAGIC: [u8; 4] = *b"ioF1";

/// The length of what precedes the body of a frame, in bytes.
const HEAD: usize = MAGIC.len() + 1 + 4 * 8;

/// The longest body, in bytes; a NATS server takes messages of up to 1 MiB.
pub(crate) const BODY_MAX: usize = 64 << 10;

/// Bodies that may be on their way.
const WINDOW: u64 = 32;

/// The other end has this long to acknowledge, in nanoseconds. It is doubled up to the longest.
const PATIENCE_NS: u64 = 500_000_000;

const PATIENCE_MAX_NS: u64 = 1_000_000_000;

/// The purpose of a frame, and for data its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A body, with its number. Number 0 begins a session.
    Data(u64),
    /// An acknowledgement without data.
    Ack,
    /// The agent serves another coordinator. The body says so in a sentence.
    Busy,
    /// The agent may serve another coordinator, which is silent. The body says so in a sentence.
    Waits,
    /// The agent does not know the session.
    Unknown,
    /// The coordinator hears nothing more in this session.
    End,
}

/// One message of NATS, as both ends exchange it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Who sends: a number that each process draws once.
    pub sender: u64,
    /// Which session: a number that the coordinator draws once.
    pub session: u64,
    /// The purpose of this frame.
    pub kind: Kind,
    /// Bodies before this one have arrived.
    pub ack: u64,
    /// Data, or the sentence of [`Kind::Busy`] or [`Kind::Waits`]; otherwise empty.
    pub body: Vec<u8>,
}

impl Frame {
    /// The frame as bytes: magic, kind, four numbers and the body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, number) = match self.kind {
            Kind::Data(number) => (0, number),
            Kind::Ack => (1, 0),
            Kind::Busy => (2, 0),
            Kind::Unknown => (3, 0),
            Kind::End => (4, 0),
            Kind::Waits => (5, 0),
        };
        let mut bytes = Vec::with_capacity(HEAD + self.body.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.push(kind);
        for value in [self.sender, self.session, number, self.ack] {
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Reads a frame; `None` if the bytes are something else.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (kind, rest) = rest.split_first()?;
        let (sender, rest) = number(rest)?;
        let (session, rest) = number(rest)?;
        let (at, rest) = number(rest)?;
        let (ack, body) = number(rest)?;
        let kind = match kind {
            0 => Kind::Data(at),
            1 => Kind::Ack,
            2 => Kind::Busy,
            3 => Kind::Unknown,
            4 => Kind::End,
            5 => Kind::Waits,
            _ => return None,
        };
        Some(Self { sender, session, kind, ack, body: body.to_vec() })
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

/// One end of a session: numbers what it sends and repeats what was lost.
#[derive(Debug)]
pub(crate) struct Link {
    sender: u64,
    session: u64,
    /// Bodies that are not yet acknowledged, in their order.
    waiting: VecDeque<Vec<u8>>,
    /// The number of the first of them.
    first: u64,
    /// Bodies before this one are on their way.
    sent: u64,
    /// The body that is to come next.
    expected: u64,
    /// Whether something arrived that is not yet acknowledged.
    owes: bool,
    /// When what is on its way is sent again, and how long after it was sent.
    again_ns: u64,
    patience_ns: u64,
}

impl Link {
    /// The end of `sender` in this session.
    pub(crate) fn new(sender: u64, session: u64) -> Self {
        Self {
            sender,
            session,
            waiting: VecDeque::new(),
            first: 0,
            sent: 0,
            expected: 0,
            owes: false,
            again_ns: 0,
            patience_ns: PATIENCE_NS,
        }
    }

    /// The number of the session, which the coordinator drew.
    pub(crate) fn session(&self) -> u64 {
        self.session
    }

    /// Takes bytes to be sent. None at all are a body too, which begins a session.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            self.waiting.push_back(Vec::new());
        }
        self.waiting.extend(bytes.chunks(BODY_MAX).map(<[u8]>::to_vec));
    }

    /// What is to be sent now.
    pub(crate) fn frames(&mut self, now_ns: u64) -> Vec<Frame> {
        if self.sent > self.first && now_ns >= self.again_ns {
            self.sent = self.first;
            self.patience_ns = (self.patience_ns * 2).min(PATIENCE_MAX_NS);
        }
        // What follows the first body of a session makes sense only to those who have that.
        let window = if self.is_answered() { WINDOW } else { 1 };
        let mut frames = Vec::new();
        while self.sent < self.first + window {
            let at = usize::try_from(self.sent - self.first).ok();
            let Some(body) = at.and_then(|at| self.waiting.get(at)) else { break };
            if self.sent == self.first {
                self.again_ns = now_ns.saturating_add(self.patience_ns);
            }
            frames.push(self.frame(Kind::Data(self.sent), body.clone()));
            self.sent += 1;
        }
        if self.owes && frames.is_empty() {
            frames.push(self.frame(Kind::Ack, Vec::new()));
        }
        self.owes = false;
        frames
    }

    /// A frame of this session, with the acknowledgement that is due.
    pub(crate) fn frame(&self, kind: Kind, body: Vec<u8>) -> Frame {
        Frame { sender: self.sender, session: self.session, kind, ack: self.expected, body }
    }

    /// Takes a frame of this session, and returns its body if that is the next one.
    pub(crate) fn take(&mut self, now_ns: u64, frame: Frame) -> Option<Vec<u8>> {
        let on_the_way = self.first + self.waiting.len() as u64;
        if frame.ack > self.first && frame.ack <= on_the_way {
            let acknowledged = usize::try_from(frame.ack - self.first).unwrap_or(usize::MAX);
            self.waiting.drain(..acknowledged.min(self.waiting.len()));
            self.first = frame.ack;
            self.sent = self.sent.max(self.first);
            self.patience_ns = PATIENCE_NS;
            self.again_ns = now_ns.saturating_add(self.patience_ns);
        }
        let Kind::Data(number) = frame.kind else { return None };
        self.owes = true;
        (number == self.expected).then(|| {
            self.expected += 1;
            frame.body
        })
    }

    /// Whatever was on its way may be lost.
    pub(crate) fn reconnected(&mut self) {
        self.sent = self.first;
        self.patience_ns = PATIENCE_NS;
    }

    /// Whether the other end was ever heard.
    pub(crate) fn is_answered(&self) -> bool {
        self.first > 0 || self.expected > 0
    }

    /// What the other end does not yet have, in bytes.
    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting.iter().map(Vec::len).sum()
    }

    /// Whether the other end has everything.
    pub(crate) fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An end that has heard the other.
    fn answered() -> Link {
        let mut link = Link::new(1, 9);
        let (kind, body) = (Kind::Data(0), Vec::new());
        link.take(0, Frame { sender: 2, session: 9, kind, ack: 0, body });
        assert_eq!(link.frames(0).len(), 1);
        link
    }

    #[test]
    fn nothing_follows_a_call_that_is_not_answered() {
        let mut link = Link::new(1, 9);
        for bytes in ["", "a", "b"] {
            link.push(bytes.as_bytes());
        }
        for now in [0, PATIENCE_NS] {
            let kinds: Vec<Kind> = link.frames(now).iter().map(|frame| frame.kind).collect();
            assert_eq!(kinds, [Kind::Data(0)]);
        }
        link.take(0, Frame { sender: 2, session: 9, kind: Kind::Ack, ack: 1, body: Vec::new() });
        assert_eq!(link.frames(PATIENCE_NS).len(), 2);
    }

    #[test]
    fn the_longest_frame_fits_into_a_message() {
        let mut link = answered();
        link.push(&vec![7; BODY_MAX + 1]);
        let frames = link.frames(0);
        assert_eq!(frames.iter().map(|f| f.body.len()).collect::<Vec<_>>(), [BODY_MAX, 1]);
        assert!(frames[0].encode().len() < 1 << 20);
    }

    #[test]
    fn what_is_acknowledged_is_not_sent_again() {
        let (mut here, mut there) = (Link::new(1, 9), Link::new(2, 9));
        here.push(b"a");
        let first = here.frames(0);
        assert!(here.frames(PATIENCE_NS - 1).is_empty(), "too early");
        let again = here.frames(PATIENCE_NS);
        assert_eq!(first, again);
        let arrived: Vec<_> =
            first.into_iter().chain(again).filter_map(|f| there.take(0, f)).collect();
        assert_eq!(arrived, [b"a"]);
        let acks = there.frames(0);
        assert_eq!(acks.iter().map(|f| f.kind).collect::<Vec<_>>(), [Kind::Ack]);
        assert!(!here.is_done());
        for ack in acks {
            assert_eq!(here.take(0, ack), None);
        }
        assert!(here.is_done() && here.frames(u64::MAX).is_empty());
    }

    #[test]
    fn a_new_connection_waits_for_nothing() {
        let mut link = Link::new(1, 9);
        link.push(b"a");
        assert_eq!(link.frames(0).len(), 1);
        link.reconnected();
        assert_eq!(link.frames(1).len(), 1);
    }

    /// What a network does to the next frame.
    #[derive(Debug, Clone, Copy)]
    enum Fate {
        Arrives,
        Lost,
        Twice,
        Late,
    }

    fn fate() -> impl Strategy<Value = Fate> {
        prop_oneof![
            3 => Just(Fate::Arrives),
            2 => Just(Fate::Lost),
            1 => Just(Fate::Twice),
            1 => Just(Fate::Late),
        ]
    }

    fn carry(frames: Vec<Frame>, fates: &mut impl Iterator<Item = Fate>) -> Vec<Frame> {
        let (mut arrived, mut late) = (Vec::new(), Vec::new());
        for frame in frames {
            // After the last fate the network is as it should be.
            match fates.next().unwrap_or(Fate::Arrives) {
                Fate::Arrives => arrived.push(frame),
                Fate::Lost => {}
                Fate::Twice => arrived.extend([frame.clone(), frame]),
                Fate::Late => late.push(frame),
            }
        }
        arrived.extend(late);
        arrived
    }

    proptest! {
        /// Whatever a network does, both ends hear everything once and in order.
        #[test]
        fn nothing_is_lost_and_nothing_is_double(
            words in prop::collection::vec((any::<bool>(), "[a-z]{0,9}"), 0..60),
            fates in prop::collection::vec(fate(), 0..300),
        ) {
            let mut ends = [Link::new(1, 9), Link::new(2, 9)];
            let mut heard = [String::new(), String::new()];
            let mut fates = fates.into_iter();
            let mut words_left = words.iter();
            let mut now = 0;
            for _ in 0..2000 {
                if let Some((first, word)) = words_left.next() {
                    ends[usize::from(*first)].push(word.as_bytes());
                }
                for at in [0, 1] {
                    let frames = ends[at].frames(now);
                    for frame in carry(frames, &mut fates) {
                        let frame = Frame::decode(&frame.encode()).unwrap();
                        if let Some(body) = ends[1 - at].take(now, frame) {
                            heard[1 - at].push_str(std::str::from_utf8(&body).unwrap());
                        }
                    }
                }
                now += 100_000_000;
                if words_left.len() == 0 && ends.iter().all(Link::is_done) {
                    break;
                }
            }
            for at in [0, 1] {
                let said: String =
                    words.iter().filter(|w| usize::from(w.0) != at).map(|w| w.1.as_str()).collect();
                prop_assert_eq!(&heard[at], &said);
                prop_assert!(ends[at].is_done());
            }
        }

        #[test]
        fn any_bytes_are_a_frame_or_not(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            for bytes in [bytes.clone(), [&MAGIC[..], &bytes].concat()] {
                if let Some(frame) = Frame::decode(&bytes) {
                    prop_assert_eq!(Frame::decode(&frame.encode()), Some(frame));
                }
            }
        }

        /// An acknowledgement that nobody can have sent changes nothing.
        #[test]
        fn an_invented_acknowledgement_is_harmless(ack in any::<u64>(), number in any::<u64>()) {
            let mut link = Link::new(1, 9);
            link.push(b"abc");
            let kind = Kind::Data(number);
            link.take(0, Frame { sender: 2, session: 9, kind, ack, body: Vec::new() });
            prop_assert_eq!(link.is_done(), ack == 1);
        }
    }
}
