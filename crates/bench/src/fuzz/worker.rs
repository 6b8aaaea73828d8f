//! The process that reads inputs, one after the other, and may die of one: it says before each
//! which it is.

use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::kinds::{self, Around, Kind, PROGRAM};
use super::{memory, mutate};
use crate::linux::{Error, machine};

/// One input of so many goes to the program itself.
const PROGRAM_EVERY: u64 = 400;

/// What the last panic said, and where.
static SAID: Mutex<String> = Mutex::new(String::new());

/// An input: its kind, and the seed that it is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Case {
    pub kind: String,
    pub seed: u64,
}

/// The kind of a seed's input. The kinds take turns.
fn kind_of(kinds: &[Kind], seed: u64) -> Option<&Kind> {
    if seed % PROGRAM_EVERY == PROGRAM_EVERY - 1 {
        return kinds.iter().find(|kind| kind.name == PROGRAM);
    }
    let others: Vec<&Kind> = kinds.iter().filter(|kind| kind.name != PROGRAM).collect();
    let count = others.len().max(1) as u64;
    others.get(usize::try_from(seed % count).unwrap_or(0)).copied()
}

/// The bytes of the input with this seed.
pub(super) fn input(kind: &Kind, seed: u64) -> Vec<u8> {
    let name = kind.name.bytes().fold(0, |sum: u64, byte| sum.rotate_left(8) ^ u64::from(byte));
    let mut draw = mutate::Draw::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ name);
    mutate::input(&mut draw, &kind.fixtures)
}

/// Reads one input after the other from a seed on, until its output is closed.
pub(super) fn run(first: u64, directory: &Path, iosonde: &Path) -> Result<(), Error> {
    let (kinds, around) = (kinds::all(directory)?, Around::new(directory, iosonde)?);
    remember_panics();
    let mut out = std::io::stdout().lock();
    for seed in first.. {
        let kind = kind_of(&kinds, seed).ok_or("the list of kinds is empty")?;
        writeln!(out, "begin {} {seed}", kind.name)?;
        out.flush()?;
        let bytes = input(kind, seed);
        let outcome = read(&around, kind, &bytes)?;
        let (nanoseconds, peak) = (outcome.nanoseconds, outcome.peak_bytes);
        match outcome.panic {
            None => writeln!(out, "done {nanoseconds} {peak}")?,
            Some(text) => writeln!(out, "panic {nanoseconds} {peak} {}", text.escape_debug())?,
        }
    }
    Ok(())
}

/// Makes the bytes of one input from its seed.
pub(super) fn bytes_of(case: &Case, directory: &Path) -> Result<Vec<u8>, Error> {
    let kinds = kinds::all(directory)?;
    let kind = kinds.iter().find(|kind| kind.name == case.kind).ok_or_else(|| {
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        format!("unknown kind `{}`; known are {}", case.kind, names.join(", "))
    })?;
    Ok(input(kind, case.seed))
}

/// Reads one input again, in this process, with what a panic says on stderr.
pub(super) fn again(case: &Case, directory: &Path, iosonde: &Path) -> Result<u64, Error> {
    let (kinds, around) = (kinds::all(directory)?, Around::new(directory, iosonde)?);
    let bytes = bytes_of(case, directory)?;
    let kind = kinds.iter().find(|kind| kind.name == case.kind).ok_or("unknown kind of input")?;
    let outcome = read(&around, kind, &bytes)?;
    match outcome.panic {
        None => Ok(outcome.peak_bytes),
        Some(_) => Err("this input ends in a panic".into()),
    }
}

/// The result of reading an input.
struct Outcome {
    /// CPU time, in which other work on the machine does not count.
    nanoseconds: u64,
    peak_bytes: u64,
    panic: Option<String>,
}

fn read(around: &Around, kind: &Kind, bytes: &[u8]) -> Result<Outcome, Error> {
    let before_s = machine::cpu_seconds()?;
    let mut caught = Ok(());
    let peak_bytes = memory::peak_of(|| {
        caught = panic::catch_unwind(AssertUnwindSafe(|| (kind.read)(around, bytes)));
    });
    let taken = Duration::try_from_secs_f64((machine::cpu_seconds()? - before_s).max(0.0))?;
    let nanoseconds = u64::try_from(taken.as_nanos())?;
    let said = || SAID.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Outcome { nanoseconds, peak_bytes, panic: caught.err().map(|_| said()) })
}

/// Keeps the text of a panic for the report.
fn remember_panics() {
    panic::set_hook(Box::new(|info| {
        *SAID.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
}
