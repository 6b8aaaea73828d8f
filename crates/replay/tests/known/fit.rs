//! How many times a load fits, where that is known: a simulated database is given more users until
//! the 99th percentile of its log writes is a limit, and the bracket made of one short trace of it
//! has to hold that factor.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use replay::{Attempt, Bracket, Edge, Limit, Mode, Selection, bracket};
use trace::Io;
use workload::{Nanoseconds, SimDevice, SimNoise};

use crate::database::{self, Plan};
use crate::replayed;

/// The class of durable writes, which are those of the log.
const LOG: usize = 2;
/// Length of a trace.
const SECONDS: f64 = 4.0;

fn model() -> SimDevice {
    SimDevice {
        servers: 4,
        read_ns: Nanoseconds(500_000),
        write_ns: Nanoseconds(400_000),
        durable_ns: Some(Nanoseconds(300_000)),
        noise: Some(SimNoise { io_percent: 40.0, ..SimNoise::default() }),
        ..SimDevice::default()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
fn plan(users: f64, seconds: f64) -> Plan {
    Plan {
        users: (150.0 * users) as u32,
        think_ns: 500_000_000,
        reads: 4,
        pages: 100_000,
        checkpoint_ns: 1_500_000_000,
        seconds,
    }
}

fn fitted(ios: &Arc<Vec<Io>>, limit: Limit, seed: u64) -> Bracket {
    let replay = |users: f64, mode: Mode| -> Result<Attempt, ()> {
        let selection = Selection { users, ..Selection::default() };
        let figures = replayed(ios, &selection, mode, &model(), seed);
        let span = (SECONDS * 1e9) as u64;
        Ok(Attempt::judge(users, mode, &figures, (&[limit], span)))
    };
    bracket(true, replay).unwrap()
}

/// Brackets of this many databases, of which each has another seed.
const SEEDS: u64 = 100;

/// The issue asks for 95 of 100, and at most a factor of 2 in the median.
#[test]
fn the_bracket_holds_the_factor_that_is_true() {
    let truths = [3.0, 3.5, 4.0, 4.5].map(|users| {
        let known = database::run(plan(users, 120.0), &model(), 1 << 40);
        (users, known.latencies[LOG].quantile(0.99).unwrap())
    });
    let (next, found) = (AtomicU64::new(1), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > SEEDS {
                        break;
                    }
                    let (truth, at_most_ns) = truths[seed as usize % truths.len()];
                    let limit = Limit { class: LOG, quantile: 0.99, at_most_ns };
                    let ios = database::run(plan(1.0, SECONDS), &model(), seed).ios;
                    let bracket = fitted(&Arc::new(ios), limit, seed + 1000);
                    let (Edge::At(lower), Edge::At(upper)) = (bracket.lower, bracket.upper) else {
                        panic!("{bracket:?}")
                    };
                    found.lock().unwrap().push((truth, lower, upper));
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    let holds = found.iter().filter(|(truth, lower, upper)| (*lower..=*upper).contains(truth));
    let holds = holds.count() as u64;
    let mut widths: Vec<f64> = found.iter().map(|(_, lower, upper)| upper / lower).collect();
    widths.sort_by(f64::total_cmp);
    let median = widths[widths.len() / 2];
    assert!(holds >= 95 && median <= 2.0, "{holds} of {SEEDS}, {median:.2} wide: {found:?}");
}
