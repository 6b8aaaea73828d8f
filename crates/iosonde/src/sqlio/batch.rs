//! `iosonde sqlio batch`: every combination of lists, as the SQLIO_Batch script measured them, with
//! SQLIO's text in a dated file.
//!
//! It is a sweep: its cells are kept one by one, it goes on after an interruption, and it may leave
//! out what can be inferred.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Parser, ValueEnum};
use dialects::drives::Drives;
use dialects::sqlio::{Around, Buffering, Command, Timing, Walk, job};
use jobs::{BegunFiles, Companion};
use results::Measurement;
use workload::sweep::{Cell, Matrix, Plan};
use workload::{Bytes, Mode, Pattern, Precision, Target};

use super::outputs::is_output;
use crate::conducting::Manners;
use crate::dialect::{PlaceFlags, split};
use crate::exit::{Failure, Outcome};
use crate::files::claim;
use crate::recording::RecordingArgs;
use crate::sweep::{How, run_plan};

/// Of many cells, each need not be known as well as a single one.
const ADAPTIVE_PERCENT: f64 = 5.0;

/// Measures every combination of kinds, threads, orders, outstanding I/Os and sizes on each drive,
/// and writes SQLIO's text of each into a dated file. Without lists, those of the script
/// SQLIO_Batch
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(super) struct BatchArgs {
    /// Drives that `--drive` says the place of, or directories: each is measured alone
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["G", "H", "I", "J"])]
    drives: Vec<String>,

    /// Kinds of I/O: W, R; writes first, so that there is something to read
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, ignore_case = true,
        default_values = ["w", "r"])]
    kinds: Vec<KindArg>,

    /// Threads for each drive
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [2, 4, 8])]
    threads: Vec<u32>,

    /// Length of each test
    #[arg(long, value_name = "N", default_value_t = 600.0)]
    seconds: f64,

    /// Orders: random, sequential
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, default_values =
        ["random", "sequential"])]
    factors: Vec<FactorArg>,

    /// I/Os that each thread keeps under way
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t =
        [1, 2, 4, 8, 16, 32, 64, 128])]
    outstanding: Vec<u32>,

    /// Sizes of one I/O in KiB
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t =
        [1, 8, 64, 128, 256, 1024])]
    block_sizes: Vec<u32>,

    /// Longest pause between tests; it ends when the storage is at rest
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    wait: f64,

    /// Caches, as `-B` has them: N, Y, H or S
    #[arg(long, value_name = "LETTER", value_enum, ignore_case = true, default_value = "h")]
    buffering: BufferingArg,

    /// Name of the file on each drive
    #[arg(long, value_name = "NAME", default_value = dialects::sqlio::DEFAULT_FILE)]
    file: String,

    /// Size of the files [default: 1G where they are to be made]
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,

    /// Where SQLIO's text goes, behind what is there [default: SQLIO_Result.DATE.txt]
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,

    /// Measure only what the rest can be inferred from, each as long as its precision needs
    #[arg(long)]
    adaptive: bool,

    /// A test ends when the 95 % interval of its mean is within this many percent [default: 5 with
    /// `--adaptive`]
    #[arg(long, value_name = "PERCENT")]
    precision: Option<f64>,

    /// Go on with the batch of the same lists that was interrupted
    #[arg(long, conflicts_with = "no_history")]
    resume: bool,

    /// Show how many tests there are, how long they take and when they end; touch nothing
    #[arg(long)]
    dry_run: bool,

    /// Write every test as a line of CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Print the result as JSON on stdout
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: PlaceFlags,

    #[command(flatten)]
    recording: RecordingArgs,
}

/// Kinds of I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindArg {
    /// Writes
    W,
    /// Reads
    R,
}

/// Orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FactorArg {
    /// Anywhere
    Random,
    /// One after the other, with one position for all threads
    Sequential,
}

/// Letters of `-B`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BufferingArg {
    /// No caches
    N,
    /// All
    Y,
    /// That of the hardware
    H,
    /// That of the system
    S,
}

impl From<BufferingArg> for Buffering {
    fn from(letter: BufferingArg) -> Self {
        match letter {
            BufferingArg::N => Self::None,
            BufferingArg::Y => Self::All,
            BufferingArg::H => Self::Hardware,
            BufferingArg::S => Self::Software,
        }
    }
}

/// Runs the command.
pub(super) fn batch(tokens: &[OsString], stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (args, strays) = split::<BatchArgs>("iosonde sqlio batch", tokens)?;
    if let Some(stray) = strays.first() {
        return Err(Failure::WrongUsage(format!(
            "`{stray}` is no flag; `iosonde sqlio batch --help` shows them"
        )));
    }
    let (plan, names) = plan_of(&args)?;
    args.place.check_destroy(&plan.targets)?;
    let permissions = args.place.permissions(&plan.targets);
    let mut texts = Texts::new(&args, names);
    let how = How {
        csv: args.csv.as_deref(),
        manners: Manners {
            manner: args.place.manner(),
            json: args.json,
            recording: args.recording.recording()?,
            permissions,
        },
        resume: args.resume,
        place: Some(format!("SQLIO's text of each is in {}", texts.path.display())),
        resumption: "iosonde sqlio batch --resume, with the same flags".to_owned(),
    };
    // A rehearsal touches nothing.
    let touches = !args.dry_run && !args.place.is_artificial();
    let begun = if touches { BegunFiles::of(&plan.targets)? } else { BegunFiles::default() };
    let outcome = run_plan(plan, args.dry_run, &how, &mut texts, stop);
    // Of what was not even prepared, nothing is left.
    drop(begun);
    outcome
}

/// The sweep, and the files of its targets as SQLIO's text calls them.
fn plan_of(args: &BatchArgs) -> Result<(Plan, Vec<String>), Failure> {
    let drives = args.place.drives();
    let (mut targets, mut names, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for drive in &args.drives {
        let name = file_on(drive, &args.file);
        match drives.path(&name) {
            _ if args.place.is_artificial() => {
                targets.push(Target { path: PathBuf::from(&name), size_bytes: None });
            }
            Ok(path) if targets.iter().any(|t: &Target| t.path == path) => {
                let path = path.display();
                wrong.push(format!(
                    "`{drive}` is `{path}`, as a drive before it: each is named once"
                ));
            }
            Ok(path) => targets.push(Target { path, size_bytes: None }),
            Err(error) => wrong.push(error.to_string()),
        }
        names.push(name);
    }
    if !wrong.is_empty() {
        return Err(Failure::WrongUsage(wrong.join("\n")));
    }
    let matrix =
        Matrix {
            writes: args.kinds.iter().map(|k| if *k == KindArg::W { 100 } else { 0 }).collect(),
            patterns: args
                .factors
                .iter()
                .map(|f| {
                    if *f == FactorArg::Random {
                        Pattern::Random
                    } else {
                        Pattern::SequentialShared
                    }
                })
                .collect(),
            blocks: args.block_sizes.iter().map(|kib| Bytes(u64::from(*kib) << 10)).collect(),
            threads: args.threads.clone(),
            depths: args.outstanding.clone(),
            seconds: args.seconds,
            warmup_seconds: 0.0,
            durable: matches!(args.buffering, BufferingArg::N | BufferingArg::S),
            ..Matrix::default()
        };
    let mut plan = Plan::new("SQLIO batch", vec![matrix]);
    plan.targets = targets;
    plan.size_bytes = args.size;
    plan.settle_seconds = args.wait;
    plan.adaptive = args.adaptive;
    let percent = args.precision.or(args.adaptive.then_some(ADAPTIVE_PERCENT));
    plan.precision = percent.map(|percent| Precision { percent, ..Precision::default() });
    plan.engine = args.place.engine();
    plan.sim = args.place.sim()?;
    plan.seed = args.place.seed.unwrap_or(plan.seed);
    if matches!(args.buffering, BufferingArg::Y | BufferingArg::S) {
        plan.mode = Mode::Buffered;
    }
    Ok((plan, names))
}

/// `G:testfile.dat`, or the file in a directory.
fn file_on(drive: &str, file: &str) -> String {
    let letter = drive.trim_end_matches(':');
    if letter.len() == 1 && letter.bytes().all(|b| b.is_ascii_alphanumeric()) {
        format!("{letter}:{file}")
    } else {
        Path::new(drive).join(file).display().to_string()
    }
}

/// SQLIO's text of every test, appended to a file as the tests are finished.
struct Texts<'a> {
    args: &'a BatchArgs,
    names: Vec<String>,
    path: PathBuf,
    /// Names were found already; here they are only printed.
    anywhere: Drives,
}

impl<'a> Texts<'a> {
    fn new(args: &'a BatchArgs, names: Vec<String>) -> Self {
        let date = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();
        let dated = || PathBuf::from(format!("SQLIO_Result.{date}.txt"));
        let letters = ('A'..='Z').chain('0'..='9').filter_map(|d| format!("{d}=.").parse().ok());
        let path = args.result.clone().unwrap_or_else(dated);
        Self { args, names, path, anywhere: Drives::new(letters.collect()) }
    }

    /// The text of a cell as SQLIO prints it.
    fn text(&self, cell: &Cell, measurement: &Measurement) -> Result<String, String> {
        let name =
            cell.targets.first().and_then(|t| self.names.get(*t)).cloned().unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let seconds = cell.seconds.ceil() as u32;
        let command = Command {
            writes: cell.write_percent > 0,
            threads: Some(cell.threads),
            seconds,
            order: if cell.pattern == Pattern::Random { Walk::Random } else { Walk::Sequential },
            block_kib: u32::try_from(cell.block_bytes.0 >> 10).unwrap_or(u32::MAX),
            outstanding: cell.depth,
            buffering: self.args.buffering.into(),
            latency: Some(Timing { processor: false, initiation: false }),
            files: vec![name],
            ..Command::default()
        };
        let size = measurement.file_bytes;
        let around = Around {
            drives: &self.anywhere,
            current: &|_| Some(size),
            size_bytes: None,
            seconds: None,
        };
        let job = job(&command, None, &around).map_err(|e| e.to_string())?;
        Ok(job.printout(&command, measurement).to_text())
    }

    fn append(&self, text: &str) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(&self.path)?.write_all(text.as_bytes())
    }
}

impl Companion for Texts<'_> {
    fn begin(&mut self, kept: &[(&Cell, &Measurement)]) -> Result<(), String> {
        let path = self.path.display();
        let failed = |e: io::Error| format!("cannot write `{path}`: {e}; nothing was measured");
        claim(&self.path, "output of SQLIO", is_output).map_err(failed)?;
        let is_new = std::fs::metadata(&self.path).map_or(true, |m| m.len() == 0);
        if is_new && !kept.is_empty() {
            let texts: Result<String, String> =
                kept.iter().map(|(cell, m)| self.text(cell, m)).collect();
            self.append(&texts?).map_err(failed)?;
        }
        Ok(())
    }

    fn measured(&mut self, cell: &Cell, measurement: &Measurement) -> Result<(), String> {
        let text = self.text(cell, measurement)?;
        self.append(&text).map_err(|e| format!("cannot write `{}`: {e}", self.path.display()))
    }
}
