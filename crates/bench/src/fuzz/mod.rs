//! Fuzzing by mutation: changed fixtures of every kind of input go to the readers of the program,
//! for some minutes.
//!
//! This process starts another that reads them (`worker`), so that an abort, a stack that overflows
//! or a reader that never returns ends that one alone. Seeds follow each other from `--seed`, and
//! each makes one input, so whatever is found can be made again.

mod fixtures;
mod kinds;
mod memory;
mod mutate;
mod worker;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Args;

use crate::linux::Error;
use worker::Case;

/// The memory that one input may take.
const BYTES_MAX: u64 = 256 << 20;
/// The time that one input may take on the wall. Inputs of a second have taken forty on a machine
/// with much other work.
const HANG: Duration = Duration::from_secs(300);
/// After so many findings there is enough to mend.
const FINDINGS_MAX: usize = 20;

/// Flags of `fuzz`.
#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// How long to continue; decimals are minutes, too
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,

    /// The first seed; each makes one input
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Read one input again, as a finding names it
    #[arg(long, value_name = "KIND:SEED", conflicts_with = "minutes")]
    reproduce: Option<Case>,

    /// Where inputs are saved that fail [default: `iosonde-fuzz` in the system's temporary
    /// directory]
    #[arg(long, value_name = "DIRECTORY")]
    save: Option<PathBuf>,

    /// Be the process that reads, with files in this directory
    #[arg(long, value_name = "DIRECTORY", hide = true)]
    worker: Option<PathBuf>,
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is not KIND:SEED, such as fio-job:17");
        let (kind, seed) = text.split_once(':').ok_or_else(form)?;
        let seed = seed.parse().map_err(|_| form())?;
        Ok(Self { kind: kind.to_owned(), seed })
    }
}

/// What the inputs of one kind needed.
#[derive(Debug, Default)]
struct KindRecord {
    runs: u64,
    peak_bytes: u64,
    /// The longest time in nanoseconds, and its seed.
    slowest: (u64, u64),
}

/// Something that no input may do.
#[derive(Debug)]
struct Finding {
    case: Case,
    what: String,
}

/// What the inputs of all kinds needed, and what they broke.
#[derive(Debug, Default)]
struct Tally {
    kinds: BTreeMap<String, KindRecord>,
    findings: Vec<Finding>,
}

/// Fuzzes; returns the text to print, and whether all went well.
pub(crate) fn run(args: &FuzzArgs, iosonde: &Path) -> Result<(String, bool), Error> {
    if let Some(directory) = &args.worker {
        return worker::run(args.seed, directory, iosonde).map(|()| (String::new(), true));
    }
    let save = args.save.clone().unwrap_or_else(|| std::env::temp_dir().join("iosonde-fuzz"));
    let directory = tempfile::tempdir()?;
    if let Some(case) = &args.reproduce {
        let bytes = worker::bytes_of(case, directory.path())?;
        let path = saved(&save, case, &bytes)?;
        eprintln!("the input is `{}`, {} bytes", path.display(), bytes.len());
        let again = tempfile::tempdir()?;
        let peak = worker::again(case, again.path(), iosonde)?;
        let text = format!("it took {:.1} MiB of memory at once\n", mib(peak));
        return Ok((text, peak <= BYTES_MAX));
    }
    let time = Duration::try_from_secs_f64(args.minutes * 60.0)
        .map_err(|_| format!("--minutes is {}; it must be a number from 0", args.minutes))?;
    let mut tally = Tally::default();
    let (end, mut seed) = (Instant::now() + time, args.seed);
    while Instant::now() < end && tally.findings.len() < FINDINGS_MAX {
        let mut reader = Reader::start(seed, iosonde)?;
        seed = reader.listen(end, &mut tally)?;
    }
    for finding in &tally.findings {
        let scratch = tempfile::tempdir()?;
        let bytes = worker::bytes_of(&finding.case, scratch.path())?;
        saved(&save, &finding.case, &bytes)?;
    }
    Ok((text(&tally, &save)?, tally.findings.is_empty()))
}

fn saved(directory: &Path, case: &Case, bytes: &[u8]) -> Result<PathBuf, Error> {
    std::fs::create_dir_all(directory)?;
    let path = directory.join(format!("{}-{}", case.kind, case.seed));
    std::fs::write(&path, bytes)?;
    Ok(path)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

/// The process that reads, and the lines that it says.
struct Reader {
    child: Child,
    lines: Receiver<String>,
    // Removed once the process has ended.
    _directory: tempfile::TempDir,
}

impl Reader {
    fn start(seed: u64, iosonde: &Path) -> Result<Self, Error> {
        let directory = tempfile::tempdir()?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["fuzz", "--seed", &seed.to_string(), "--worker"])
            .arg(directory.path())
            .arg("--iosonde")
            .arg(iosonde)
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the reading process has no output")?;
        let (sender, lines) = mpsc::sync_channel(1000);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, lines, _directory: directory })
    }

    /// Notes what it says until the end, or until it is gone; gives the next seed.
    fn listen(&mut self, end: Instant, tally: &mut Tally) -> Result<u64, Error> {
        let mut case: Option<Case> = None;
        loop {
            let line = match self.lines.recv_timeout(HANG) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    let what = format!("it was read for more than {} s", HANG.as_secs());
                    return Self::ended(case, &what, tally);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    return Self::ended(case, &format!("the process ended with {status}"), tally);
                }
            };
            let Some(begun) = line.strip_prefix("begin ") else {
                let of = case.take().ok_or("the reading process says what nobody expects")?;
                let next = of.seed + 1;
                tally.note(of, &line)?;
                if Instant::now() >= end || tally.findings.len() >= FINDINGS_MAX {
                    return Ok(next);
                }
                continue;
            };
            let (kind, seed) = begun.split_once(' ').ok_or("half a line was said")?;
            case = Some(Case { kind: kind.to_owned(), seed: seed.parse()? });
        }
    }

    /// It did not come to the end of an input.
    fn ended(case: Option<Case>, what: &str, tally: &mut Tally) -> Result<u64, Error> {
        let case = case.ok_or_else(|| format!("{what}, before it read anything"))?;
        let next = case.seed + 1;
        tally.findings.push(Finding { case, what: what.to_owned() });
        Ok(next)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It is gone already, or has nothing more to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tally {
    /// Notes what became of an input.
    fn note(&mut self, case: Case, line: &str) -> Result<(), Error> {
        let mut words = line.splitn(4, ' ');
        let outcome = words.next();
        let mut number = || words.next().unwrap_or_default().parse::<u64>();
        let (nanoseconds, peak_bytes) = (number()?, number()?);
        let seen = self.kinds.entry(case.kind.clone()).or_default();
        seen.runs += 1;
        seen.peak_bytes = seen.peak_bytes.max(peak_bytes);
        seen.slowest = seen.slowest.max((nanoseconds, case.seed));
        let what = match outcome {
            Some("panic") => words.next().unwrap_or_default().to_owned(),
            _ if peak_bytes > BYTES_MAX => {
                format!(
                    "{:.0} MiB of memory, and it may take {:.0}",
                    mib(peak_bytes),
                    mib(BYTES_MAX)
                )
            }
            _ => return Ok(()),
        };
        self.findings.push(Finding { case, what });
        Ok(())
    }
}

/// The text to print at the end.
fn text(tally: &Tally, save: &Path) -> Result<String, Error> {
    let mut text =
        format!("{:<18} {:>9} {:>11} {:>14}\n", "kind", "inputs", "most MiB", "slowest CPU ms");
    let mut inputs = 0;
    for (name, seen) in &tally.kinds {
        let (milliseconds, seed) = (seen.slowest.0 as f64 / 1e6, seen.slowest.1);
        // What the program takes is limited, and not counted.
        let memory = match name.as_str() {
            kinds::PROGRAM => "-".to_owned(),
            _ => format!("{:.1}", mib(seen.peak_bytes)),
        };
        writeln!(
            text,
            "{name:<18} {:>9} {memory:>11} {milliseconds:>14.1}  {name}:{seed}",
            seen.runs
        )?;
        inputs += seen.runs;
    }
    for Finding { case: Case { kind, seed }, what } in &tally.findings {
        let input = save.join(format!("{kind}-{seed}"));
        writeln!(text, "\nFOUND {kind}:{seed}: {what}")?;
        writeln!(
            text,
            "  the input: {}\n  again: ./x bench fuzz --reproduce {kind}:{seed}",
            input.display()
        )?;
    }
    let (kinds, found) = (tally.kinds.len(), tally.findings.len());
    let most = tally.kinds.values().map(|seen| seen.peak_bytes).max().unwrap_or(0);
    writeln!(
        text,
        "\n{inputs} inputs of {kinds} kinds, {found} findings, at most {:.1} MiB",
        mib(most)
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case() -> Case {
        "fio-job:17".parse().unwrap()
    }

    #[test]
    fn what_an_input_did_is_noted_and_named() {
        let mut tally = Tally::default();
        tally.note(case(), "done 2000000 1048576").unwrap();
        tally.note(Case { seed: 18, ..case() }, "done 5000000 0").unwrap();
        assert!(tally.findings.is_empty());
        tally.note(case(), "panic 1 2 attempt to add with overflow").unwrap();
        tally.note(case(), &format!("done 1 {}", BYTES_MAX + 1)).unwrap();
        assert!(tally.note(case(), "done").is_err());
        let text = text(&tally, Path::new("/tmp/f")).unwrap();
        for part in [
            "fio-job:18",
            "FOUND fio-job:17: attempt to add with overflow",
            "/tmp/f/fio-job-17",
            "--reproduce fio-job:17",
            "256 MiB of memory",
            "2 findings",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for wrong in ["", "fio-job", "fio-job:x", "fio-job:-1"] {
            assert!(wrong.parse::<Case>().is_err());
        }
    }

    /// What the fixtures are must be read, or their changes would test nothing but what refuses
    /// them.
    #[test]
    fn every_kind_has_fixtures_and_every_seed_one_input() {
        let made = || {
            let directory = tempfile::tempdir().unwrap();
            let kinds = kinds::all(directory.path()).unwrap();
            assert!(kinds.iter().all(|kind| !kind.fixtures.is_empty()));
            let inputs = |seed| kinds.iter().map(move |kind| worker::input(kind, seed));
            (0..20).flat_map(inputs).collect::<Vec<_>>()
        };
        assert!(made() == made(), "the same seeds make the same inputs");
    }
}
