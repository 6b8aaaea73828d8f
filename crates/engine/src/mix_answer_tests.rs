//! Which I/O of a mix is answered first, and the rounding of its places.

use proptest::prelude::*;
use workload::{Bytes, MixPart};

use super::*;

const SPAN: u64 = 1 << 30;

fn mixer(replies: &[u64]) -> Mixer {
    let part = |reply: &u64| MixPart {
        percent: 50,
        block_bytes: Bytes(4096),
        reply_bytes: Bytes(*reply),
        ..MixPart::default()
    };
    Mixer::new(&Mix { parts: replies.iter().map(part).collect() }, 8)
}

/// The answers that wait, as their worker, direction and size.
fn answers(mixer: &mut Mixer) -> Vec<(usize, Op, u32)> {
    let mut seeks = vec![Seek::new(&Stream::default(), SPAN); 3];
    let mut random = Random::new(1, 0);
    let mut next = || mixer.answer(&mut seeks, &mut random);
    std::iter::from_fn(|| next().map(|(whose, io)| (whose, io.op, io.bytes))).collect()
}

/// The last to finish was answered first, and the first target before all others.
#[test]
fn what_finished_first_is_answered_first() {
    let mut mixer = mixer(&[512, 1024]);
    let (mut second, mut first) = (vec![(Op::Read, 1), (Op::Write, 2)], vec![(Op::Read, 2)]);
    mixer.ask(2, &mut second);
    mixer.ask(0, &mut first);
    assert!(second.is_empty() && first.is_empty(), "each is asked for once");
    mixer.ask(2, &mut vec![(Op::Write, 1)]);
    assert_eq!(
        answers(&mut mixer),
        [(2, Op::Write, 512), (2, Op::Read, 1024), (0, Op::Write, 1024), (2, Op::Read, 512)]
    );
    assert_eq!(answers(&mut mixer), []);
}

#[test]
fn a_part_without_a_reply_is_not_answered() {
    let mut random = Random::new(1, 0);
    let mut seek = Seek::new(&Stream::default(), SPAN);
    let mut none = mixer(&[0, 0]);
    none.ready(1, &mut random).unwrap();
    assert_eq!(none.next(1, &mut seek, &mut random).answered_by, 0);
    assert!(answers(&mut none).is_empty());
    assert_eq!(none.unanswered.capacity(), 0, "nothing is kept for it");
}

proptest! {
    /// Powers of two are rounded by another rule than the rest, to the same places.
    #[test]
    fn every_alignment_is_rounded_up(at in any::<u64>(), align in 1..1_u64 << 40,
        shift in 0..64_u32) {
        for align in [align, 1 << shift] {
            prop_assert_eq!(rounded_up(at, align), at.checked_next_multiple_of(align));
        }
    }
}
