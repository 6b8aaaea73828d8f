//! `iosonde sqlio batch`: every combination of lists, as the SQLIO_Batch script measured them, with
//! SQLIO's text in a dated file.
//!
//! It is a sweep: its cells are kept one by one, it resumes after an interruption, and it may leave
//! out what can be inferred.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Parser, ValueEnum};
use dialects::sqlio::Buffering;
use inspect::shell_word;
use jobs::sqlio::{BatchTargets, BatchTexts};
use jobs::{BegunFiles, Places, sweep_precision};
use workload::secrets::concealed;
use workload::sweep::{Matrix, Plan};
use workload::{Bytes, Mode, Pattern, Target};

use super::super::{PlaceFlags, split};
use crate::commands::plans::print_plan;
use crate::commands::sweep::{SweepConduct, run_plan};
use crate::conducting::Manners;
use crate::exit::{Failure, Outcome};
use crate::recording::RecordingArgs;

/// Measures every combination of kinds, threads, orders, outstanding I/Os and sizes on each drive,
/// and writes SQLIO's text of each into a dated file. Without lists, those of the script
/// SQLIO_Batch
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(super) struct BatchArgs {
    /// Drives that `--drive` maps, or directories; each is measured alone
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["G", "H", "I", "J"])]
    drives: Vec<String>,

    /// Kinds of I/O: W, R; writes first, so that there is something to read
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, ignore_case = true,
        default_values = ["w", "r"])]
    kinds: Vec<KindArg>,

    /// Threads per drive
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = [2, 4, 8])]
    threads: Vec<u32>,

    /// Length of each test
    #[arg(long, value_name = "N", default_value_t = 600.0)]
    seconds: f64,

    /// Orders: random, sequential
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, default_values =
        ["random", "sequential"])]
    factors: Vec<FactorArg>,

    /// Outstanding I/Os per thread
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t =
        [1, 2, 4, 8, 16, 32, 64, 128])]
    outstanding: Vec<u32>,

    /// Sizes of one I/O in KiB
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t =
        [1, 8, 64, 128, 256, 1024])]
    block_sizes: Vec<u32>,

    /// Longest pause between tests; it ends once the storage is idle
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

    /// Append SQLIO's text to this file [default: SQLIO_Result.DATE.txt]
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,

    /// Measure only the tests needed to infer the others, each as long as its precision needs
    #[arg(long)]
    adaptive: bool,

    /// End a test when the 95 % confidence interval of its mean is within this many percent
    /// [default: 5 with
    /// `--adaptive`]
    #[arg(long, value_name = "PERCENT")]
    precision: Option<f64>,

    /// Resume the interrupted batch of the same lists
    #[arg(long, conflicts_with = "no_history")]
    resume: bool,

    /// Show how many tests there are, how long they take and when they end; touch nothing
    #[arg(long)]
    dry_run: bool,

    /// Write a line of CSV per test
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Print the plan of the sweep as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    print_plan: bool,

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

pub(super) fn batch(tokens: &[OsString], stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (args, strays) = split::<BatchArgs>("iosonde sqlio batch", tokens)?;
    if let Some(stray) = strays.first() {
        return Err(Failure::WrongUsage(format!(
            "`{stray}` is not a flag; `iosonde sqlio batch --help` shows them"
        )));
    }
    let places = args.place.places()?;
    let BatchTargets { targets, names } = BatchTargets::of(&args.drives, &args.file, &places)?;
    places.check_destroy(&targets)?;
    let permissions = places.permissions(&targets);
    if args.print_plan {
        return print_plan(&jobs::Plan::Sweep(Box::new(plan_of(&args, &places, targets))));
    }
    let mut texts = BatchTexts::new(args.result.clone(), names, args.buffering.into());
    texts.resumption = Some(resumption());
    let how = SweepConduct {
        csv: args.csv.as_deref(),
        overwrite: args.place.overwrite.overwrite,
        manners: Manners {
            manner: args.place.manner(),
            json: args.json,
            recording: args.recording.recording()?,
            permissions,
        },
        resume: args.resume,
        dry_run: args.dry_run,
        place: Some(format!("SQLIO's text of each is in {}", texts.path().display())),
    };
    // A rehearsal touches nothing. If not even the files were prepared, there is nothing to keep.
    let touches = !args.dry_run && !places.is_artificial();
    let _begun = touches.then(|| BegunFiles::of(&targets)).transpose()?;
    run_plan(Some(plan_of(&args, &places, targets)), &how, &mut texts, stop)
}

/// The command that resumes this batch: this one, with `--resume`.
fn resumption() -> String {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let program = Path::new(&program).file_stem().unwrap_or_default().to_owned();
    let words = words.filter(|word| word != "--resume").chain(["--resume".into()]);
    let line: Vec<String> = [program].into_iter().chain(words).map(shell_word).collect();
    concealed(&line.join(" ")).into_owned()
}

/// The plan of the sweep that the lists describe.
fn plan_of(args: &BatchArgs, places: &Places, targets: Vec<Target>) -> Plan {
    let pattern = |factor: &FactorArg| match factor {
        FactorArg::Random => Pattern::Random,
        FactorArg::Sequential => Pattern::SequentialShared,
    };
    let matrix = Matrix {
        writes: args.kinds.iter().map(|k| if *k == KindArg::W { 100 } else { 0 }).collect(),
        patterns: args.factors.iter().map(pattern).collect(),
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
    plan.precision = sweep_precision(args.precision, None, args.adaptive);
    plan.engine = places.engine;
    plan.sim.clone_from(&places.sim);
    plan.seed = places.seed.unwrap_or(plan.seed);
    if matches!(args.buffering, BufferingArg::Y | BufferingArg::S) {
        plan.mode = Mode::Buffered;
    }
    plan
}
