//! The writer's side of the witness: promises go out, and a thread that runs too far ahead of them
//! waits.

use std::io::{self, BufRead, Write};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::durability::plan::{Header, Order};
use crate::durability::state::{Promised, State};
use crate::durability::witness::keep_line;

/// How long a thread waits for the witness before it looks whether it is to end.
const WAIT: Duration = Duration::from_millis(100);

/// The witness is gone, or does not do what it should.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the witness is lost: {0}; what it had before stays promised, and nothing more is written")]
pub struct WitnessLost(pub String);

/// The promises of all threads on their way to the witness.
pub struct Promises {
    ahead: u64,
    order: Order,
    /// When the first batch could begin: what comes before, such as making files, is not writing.
    began: OnceLock<Instant>,
    /// Milliseconds of writing in earlier rounds.
    before_ms: u64,
    state: Mutex<Shared>,
    changed: Condvar,
}

struct Shared {
    made: Vec<Promised>,
    held: Vec<Promised>,
    lost: Option<WitnessLost>,
    ended: bool,
}

fn read(input: &mut dyn BufRead) -> Result<String, WitnessLost> {
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) => Err(WitnessLost("it has ended".to_owned())),
        Ok(_) => Ok(line),
        Err(error) => Err(WitnessLost(error.to_string())),
    }
}

fn lost(error: &io::Error) -> WitnessLost {
    WitnessLost(error.to_string())
}

impl Promises {
    /// Makes the witness ready; it says what it holds of earlier rounds.
    pub fn begin(
        header: &Header,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<(Self, Vec<Promised>), WitnessLost> {
        let run = serde_json::to_string(header).map_err(|e| WitnessLost(e.to_string()))?;
        writeln!(output, "run {run}").and_then(|()| output.flush()).map_err(|e| lost(&e))?;
        let answer = read(input)?;
        let state = match answer.trim_end().split_once(' ') {
            Some(("ready", state)) => serde_json::from_str::<State>(state).ok(),
            Some(("error", why)) => return Err(WitnessLost(why.to_owned())),
            _ => None,
        };
        let state = state.filter(|s| s.threads.len() == header.plan.threads as usize);
        let said = || answer.trim_end().chars().take(200).collect::<String>();
        let state = state.ok_or_else(|| WitnessLost(format!("it answered `{}`", said())))?;
        let shared = Shared {
            made: state.threads.clone(),
            held: state.threads.clone(),
            lost: None,
            ended: false,
        };
        let this = Self {
            ahead: header.plan.ahead.into(),
            order: header.plan.order,
            began: OnceLock::new(),
            before_ms: state.elapsed_ms,
            state: Mutex::new(shared),
            changed: Condvar::new(),
        };
        Ok((this, state.threads))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what a thread promises. It counts when the witness has it.
    pub fn promise(&self, thread: u32, promised: Promised) {
        if let Some(made) = self.lock().made.get_mut(thread as usize) {
            *made = promised;
        }
        self.changed.notify_all();
    }

    /// Waits until a thread may begin its next batch: false when `stop` says that it should not.
    pub fn wait(&self, thread: u32, stop: &dyn Fn() -> bool) -> Result<bool, WitnessLost> {
        let of = |all: &[Promised]| {
            let promised = all.get(thread as usize).copied().unwrap_or_default();
            if self.order == Order::LogThenPage { promised.log } else { promised.data }
        };
        self.began.get_or_init(Instant::now);
        let mut state = self.lock();
        loop {
            if let Some(lost) = &state.lost {
                return Err(lost.clone());
            }
            if stop() {
                return Ok(false);
            }
            if of(&state.made) <= of(&state.held) + self.ahead {
                return Ok(true);
            }
            let waited = self.changed.wait_timeout(state, WAIT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Batches of all threads that the witness has, of the log and of pages.
    #[must_use]
    pub fn held(&self) -> (u64, u64) {
        let state = self.lock();
        (state.held.iter().map(|p| p.log).sum(), state.held.iter().map(|p| p.data).sum())
    }

    /// No more promises come: [`carry`](Self::carry) ends when the witness has all of them.
    pub fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// Carries promises to the witness until there are no more; a separate thread runs it.
    pub fn carry(
        &self,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<(), WitnessLost> {
        let carried = self.carry_all(input, output);
        if let Err(error) = &carried {
            self.lock().lost = Some(error.clone());
            self.changed.notify_all();
        }
        carried
    }

    fn carry_all(
        &self,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<(), WitnessLost> {
        let mut number = 0u64;
        while let Some(made) = self.next() {
            let line = keep_line(self.elapsed_ms(), &made);
            output
                .write_all(line.as_bytes())
                .and_then(|()| output.flush())
                .map_err(|e| lost(&e))?;
            number += 1;
            let answer = read(input)?;
            if answer.trim_end() != format!("have {number}") {
                let answer: String = answer.trim_end().chars().take(200).collect();
                let answer = answer.strip_prefix("error ").map_or(answer.clone(), str::to_owned);
                return Err(WitnessLost(answer));
            }
            self.lock().held = made;
            self.changed.notify_all();
        }
        Ok(())
    }

    /// Time that was written for, over all rounds.
    fn elapsed_ms(&self) -> u64 {
        let elapsed = self.began.get().map_or(0, |began| began.elapsed().as_millis());
        self.before_ms.saturating_add(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }

    /// Waits for something to promise; none when there will be nothing more.
    fn next(&self) -> Option<Vec<Promised>> {
        let mut state = self.lock();
        loop {
            if state.made != state.held {
                return Some(state.made.clone());
            }
            if state.ended {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durability::state::tests::header;
    use crate::durability::witness::serve;
    use std::io::BufReader;

    /// A writer that is faster than its witness waits for it, and the witness has everything in the
    /// end.
    #[test]
    fn promises_arrive_and_nobody_runs_too_far_ahead() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("witness");
        for round in 0..2u64 {
            let (from_writer, mut to_witness) = std::io::pipe().unwrap();
            let (from_witness, mut to_writer) = std::io::pipe().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    serve(&path, &mut BufReader::new(from_writer), &mut to_writer).unwrap();
                    drop(to_writer);
                });
                let mut input = BufReader::new(from_witness);
                let (promises, held) =
                    Promises::begin(&header(2), &mut input, &mut to_witness).unwrap();
                assert_eq!(held, vec![Promised { log: 0, data: 100 * round }; 2]);
                std::thread::scope(|writers| {
                    let carrying = writers.spawn(|| promises.carry(&mut input, &mut to_witness));
                    for data in 100 * round + 1..=100 * round + 100 {
                        for thread in 0..2 {
                            assert_eq!(promises.wait(thread, &|| false), Ok(true));
                            let held = promises.held().1 / 2;
                            assert!(data - 1 <= held + 4 + 1, "{data} with {held} held");
                            promises.promise(thread, Promised { log: 0, data });
                        }
                    }
                    promises.end();
                    carrying.join().unwrap().unwrap();
                });
                assert_eq!(promises.held().1, 2 * (100 * round + 100));
                drop(to_witness);
            });
        }
    }

    #[test]
    fn a_witness_that_is_gone_ends_the_writer() {
        let ready =
            "ready {\"sequence\":0,\"elapsed_ms\":0,\"threads\":[{\"log\":0,\"data\":0}]}\n";
        for (more, words) in
            [("", "it has ended"), ("have 7\n", "have 7"), ("error disk full\n", "disk full")]
        {
            let text = format!("{ready}{more}");
            let (mut input, mut output) = (text.as_bytes(), Vec::new());
            let (promises, _) = Promises::begin(&header(1), &mut input, &mut output).unwrap();
            promises.promise(0, Promised { log: 0, data: 1 });
            let error = promises.carry(&mut input, &mut output).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(promises.wait(0, &|| false), Err(error));
        }
        for answer in ["", "what\n", "error no room\n", "ready {}\n", "ready []\n"] {
            let begun = Promises::begin(&header(1), &mut answer.as_bytes(), &mut Vec::new());
            assert!(begun.is_err(), "{answer}");
        }
    }
}
