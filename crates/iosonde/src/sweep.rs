//! `iosonde sweep`: a matrix of workloads, kept cell by cell.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use engine::Permissions;
use history::{History, HistoryError, NewExperiment, Place};
use results::{Conclusion, Document, Measurement, Sweep};
use survey::{Site, SweepOptions};
use workload::sweep::{Cell, Matrix, PRESETS, Plan, Preset, Speed, Times, preset};
use workload::{
    Bytes, EngineChoice, Mode, Pattern, Precision, Stream, Target, Workload, show_duration,
};

use crate::display::Display;
use crate::exit::{Failure, Outcome, print};
use crate::experiment::{conduct, read};
use crate::files::{create_beside, write_whole};
use crate::run::{apply_targets, describe};
use crate::targets::TargetArgs;

/// Of many cells, each need not be known as well as a single one.
const ADAPTIVE_PERCENT: f64 = 5.0;

/// `iosonde sweep`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    /// A plan by name; `--list-presets` shows them
    #[arg(long, value_name = "NAME", conflicts_with = "plan")]
    pub preset: Option<String>,

    /// A plan from a TOML file; see docs/sweep.md
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Show the names of all presets, with their cells and times
    #[arg(long)]
    pub list_presets: bool,

    /// Print the plan as TOML on stdout and do nothing else
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub lists: ListArgs,

    /// Longest pause before each cell; it ends when the storage is at rest [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub settle: Option<f64>,

    /// Every cell works on all targets at the same time, instead of on each alone
    #[arg(long)]
    pub together: bool,

    /// Measure the cells of each target in an order drawn from the seed
    #[arg(long)]
    pub shuffle: bool,

    /// Measure only the cells that the others can be inferred from, each as long as its precision needs
    #[arg(long)]
    pub adaptive: bool,

    /// A window ends when the 95 % interval of its mean is within this many percent [default: 5 with `--adaptive`]
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<f64>,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,

    /// Go on with a sweep that was interrupted: that of the same plan, or without any plan the newest
    #[arg(long)]
    pub resume: bool,

    /// Where measurements are kept [default: iosonde/history.db in the user's data directory]
    #[arg(long, value_name = "FILE", env = "IOSONDE_HISTORY")]
    pub history: Option<PathBuf>,

    /// Write every cell as a line of CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// Lists of which every combination is a cell; they replace those of a preset or file.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Percent of I/Os that write: 0,100 [default: 0]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub writes: Option<Vec<u8>>,

    /// Where the next I/O goes [default: random]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub patterns: Option<Vec<PatternName>>,

    /// Block sizes: 8K,64K [default: 8K]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub blocks: Option<Vec<Bytes>>,

    /// Threads for each target: 1,2,4 [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Option<Vec<u32>>,

    /// Outstanding I/Os of each thread: 1,2,4,8 [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub depths: Option<Vec<u32>>,

    /// Length of each measured window [default: 30]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// I/O before each window that is not counted [default: 3]
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Every write is on stable media before it completes (write-through)
    #[arg(long)]
    pub durable: bool,
}

/// Patterns by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternName {
    /// Anywhere
    Random,
    /// One after the other, each thread on its own
    Sequential,
    /// One after the other, all threads sharing one position
    SequentialShared,
}

/// Runs the command.
pub(crate) fn sweep(args: &SweepArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    if args.list_presets {
        print(&presets())?;
        return Ok(Outcome::Done);
    }
    let asked = plan_of(args)?;
    if args.print_plan {
        let plan = asked.ok_or_else(nothing_asked)?;
        print(&plan.to_toml().map_err(|e| Failure::CannotRun(e.to_string()))?)?;
        return Ok(Outcome::Done);
    }
    if args.resume && asked.is_none() {
        nothing_left_aside(args)?;
    }
    let permissions = args.target.permissions();
    if args.target.dry_run && !args.resume {
        print(&forecast(&checked(asked.ok_or_else(nothing_asked)?)?, &[], &permissions)?)?;
        return Ok(Outcome::Done);
    }
    let store = Store::open(args)?;
    let options = if args.resume {
        store.resume(asked.as_ref(), permissions)?
    } else {
        begin(checked(asked.ok_or_else(nothing_asked)?)?, permissions)
    };
    if args.target.dry_run {
        let kept: Vec<u32> = options.kept.iter().map(|(name, _)| *name).collect();
        print(&forecast(&options.plan, &kept, &options.permissions)?)?;
        return Ok(Outcome::Done);
    }
    conduct_sweep(args, &store, options, stop)
}

fn conduct_sweep(
    args: &SweepArgs,
    store: &Store,
    options: SweepOptions,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    if let Some(path) = &args.csv {
        // Not after two days that there is no such directory, or somebody else's file.
        claim_csv(path).map_err(|e| csv_failure(path, &e, "nothing was measured"))?;
    }
    announce(args, store, &options)?;
    let (plan, id, started) = (options.plan.clone(), options.id.clone(), options.started.clone());
    let mut begun = args.resume;
    if args.resume {
        store.history.go_on(&id).map_err(cannot)?;
    }
    let mut keep = |name: u32, measurement: &Measurement| -> Result<(), String> {
        if !begun {
            store.note(&plan, &id, &started).map_err(|e| e.to_string())?;
            begun = true;
        }
        store.history.keep(&id, name, measurement).map_err(|e| e.to_string())
    };
    let conducted = conduct(
        &args.target,
        args.json,
        stop,
        |stop, observe| survey::sweep(options, stop, &mut keep, observe),
        report::text::sweep,
    );
    let (experiment, outcome) = conducted?;
    // A history on a full disk is no reason to lose the table, nor the other way round.
    let noted = if begun {
        let document = Document::Sweep(Box::new(experiment.clone()));
        store.history.finish(&document).map_err(cannot)
    } else {
        Ok(())
    };
    if let Some(path) = &args.csv {
        let text = report::text::sweep_csv(&experiment);
        write_whole(path, &text).map_err(|e| csv_failure(path, &e, "the measurements are kept"))?;
    }
    noted?;
    if outcome != Outcome::Done && begun && !args.target.quiet {
        Display::new(false).message(&format!(
            "what was measured is kept in {}; go on with `{}`",
            store.history.place(),
            resumption(args)
        ));
    }
    Ok(outcome)
}

/// Says what is begun, before anything is.
fn announce(args: &SweepArgs, store: &Store, options: &SweepOptions) -> Result<(), Failure> {
    if args.target.quiet {
        return Ok(());
    }
    let mut display = Display::new(false);
    let plan = &options.plan;
    let kept: Vec<u32> = options.kept.iter().map(|(name, _)| *name).collect();
    display.message(&duration(plan, &kept));
    display.message(&format!("kept cell by cell in {}", store.history.place()));
    if !args.resume {
        let same = store.history.unfinished("sweep", Some(&plan.id())).map_err(cannot)?;
        if let Some(before) = same.first() {
            display.message(&format!(
                "note: a sweep of the same plan that began {} is unfinished, with {} cells; `--resume` goes on with it",
                before.started, before.cells
            ));
        }
    }
    Ok(())
}

/// The history, and what a sweep does with it.
struct Store {
    history: History,
}

impl Store {
    fn open(args: &SweepArgs) -> Result<Self, Failure> {
        let chosen = args.history.clone().map(PathBuf::into_os_string);
        let place = history::place(chosen).map_err(cannot)?;
        if !args.resume {
            return Ok(Self { history: History::open(&place).map_err(cannot)? });
        }
        // What is not there has nothing to go on with, and is not made for that.
        match History::open_existing(&place) {
            Err(HistoryError::NotThere { place }) => Err(nothing_unfinished("", &place)),
            opened => Ok(Self { history: opened.map_err(cannot)? }),
        }
    }

    /// An unfinished sweep: that of this plan, or the newest.
    fn resume(
        &self,
        asked: Option<&Plan>,
        permissions: Permissions,
    ) -> Result<SweepOptions, Failure> {
        let plan_id = asked.map(Plan::id);
        let found = self.history.unfinished("sweep", plan_id.as_deref()).map_err(cannot)?;
        let place = self.history.place();
        let Some(experiment) = found.into_iter().next() else {
            let which = if asked.is_some() { "of this plan " } else { "" };
            return Err(nothing_unfinished(which, place));
        };
        let plan = Plan::from_json(&experiment.plan).map_err(|e| {
            Failure::CannotRun(format!("the plan of `{}` in {place}: {e}", experiment.id))
        })?;
        let plan = checked(plan)?;
        if let Some(stray) =
            permissions.destroy.iter().find(|d| !plan.targets.iter().any(|t| &t.path == *d))
        {
            let text = format!(
                "--destroy {} names no target: it must repeat one exactly",
                stray.display()
            );
            return Err(Failure::WrongUsage(text));
        }
        let kept = self.history.measurements(&experiment.id).map_err(cannot)?;
        Ok(SweepOptions {
            plan,
            permissions,
            id: experiment.id,
            started: experiment.started,
            kept: kept.into_iter().map(|k| (k.cell, k.measurement)).collect(),
        })
    }

    fn note(&self, plan: &Plan, id: &str, started: &str) -> Result<(), history::HistoryError> {
        self.history.begin(&NewExperiment {
            id,
            schema: Sweep::SCHEMA,
            kind: "sweep",
            title: &plan.title,
            started,
            plan_id: &plan.id(),
            plan: &plan.to_json(),
        })
    }
}

/// A new sweep. Nothing is written to the history before its first cell is finished.
fn begin(plan: Plan, permissions: Permissions) -> SweepOptions {
    let now = jiff::Timestamp::now();
    let (id, started) = (engine::new_id(now), now.to_string());
    SweepOptions { plan, permissions, id, started, kept: Vec::new() }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
fn cannot(error: history::HistoryError) -> Failure {
    Failure::CannotRun(error.to_string())
}

fn nothing_unfinished(which: &str, place: &Place) -> Failure {
    let text =
        format!("no unfinished sweep {which}is in {place}; leave `--resume` out to begin one");
    Failure::WrongUsage(text)
}

/// Without a plan, `--resume` takes everything from the sweep it goes on with: what would be left aside is refused.
fn nothing_left_aside(args: &SweepArgs) -> Result<(), Failure> {
    let (target, lists) = (&args.target, &args.lists);
    let given = [
        (!target.targets.is_empty(), "TARGET"),
        (target.size.is_some(), "--size"),
        (target.engine.is_some(), "--engine"),
        (target.sim.is_some(), "--sim"),
        (target.seed.is_some(), "--seed"),
        (lists.seconds.is_some(), "--seconds"),
        (lists.warmup.is_some(), "--warmup"),
        (lists.durable, "--durable"),
        (args.settle.is_some(), "--settle"),
        (args.together, "--together"),
        (args.shuffle, "--shuffle"),
        (args.adaptive, "--adaptive"),
        (args.precision.is_some(), "--precision"),
        (args.buffered, "--buffered"),
    ];
    let names: Vec<&str> = given.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::WrongUsage(format!(
        "`--resume` alone goes on with the newest sweep as it was begun: leave out {}, or repeat the whole command of the \
         sweep that is meant, with its preset, plan or lists",
        names.join(", ")
    )))
}

/// The command that goes on with an interrupted sweep.
fn resumption(args: &SweepArgs) -> String {
    let mut command = "iosonde sweep --resume".to_owned();
    let history = args.history.iter().map(|path| format!(" --history {}", path.display()));
    let destroy = args.target.destroy.iter().map(|path| format!(" --destroy {}", path.display()));
    command.extend(history.chain(destroy));
    command
}

fn nothing_asked() -> Failure {
    let text = "say what to sweep: `--preset NAME` (see `--list-presets`), `--plan FILE`, or lists such as \
                `--blocks 8K,64K --depths 1,2,4`; or `--resume` to go on with a sweep";
    Failure::WrongUsage(text.to_owned())
}

/// The plan that the flags describe; none where they describe none.
fn plan_of(args: &SweepArgs) -> Result<Option<Plan>, Failure> {
    let lists = &args.lists;
    let named = args.preset.is_some() || args.plan.is_some();
    let listed = lists.writes.is_some()
        || lists.patterns.is_some()
        || lists.blocks.is_some()
        || lists.threads.is_some()
        || lists.depths.is_some();
    if !named && !listed {
        return Ok(None);
    }
    let mut plan = match (&args.preset, &args.plan) {
        (Some(name), _) => {
            let unknown = || {
                let known: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
                let known = known.join(", ");
                Failure::WrongUsage(format!("there is no preset `{name}`; there are {known}"))
            };
            preset(name).ok_or_else(unknown)?.plan()
        }
        (None, Some(path)) => {
            let wrong = |e| Failure::WrongUsage(format!("`{}`: {e}", path.display()));
            Plan::from_toml(&read(path)?).map_err(wrong)?
        }
        (None, None) => Plan::new("sweep", vec![Matrix::default()]),
    };
    for matrix in &mut plan.matrix {
        apply_lists(matrix, lists);
    }
    plan.settle_seconds = args.settle.unwrap_or(plan.settle_seconds);
    plan.together |= args.together;
    plan.shuffle |= args.shuffle;
    plan.adaptive |= args.adaptive;
    if let Some(percent) = args.precision {
        plan.precision = Some(Precision { percent, ..plan.precision.unwrap_or_default() });
    } else if plan.adaptive && plan.precision.is_none() {
        plan.precision = Some(Precision { percent: ADAPTIVE_PERCENT, ..Precision::default() });
    }
    if args.buffered {
        plan.mode = Mode::Buffered;
    }
    apply_target_flags(&mut plan, &args.target)?;
    Ok(Some(plan))
}

fn apply_lists(matrix: &mut Matrix, lists: &ListArgs) {
    fn set<T: Clone>(list: &mut Vec<T>, asked: Option<&Vec<T>>) {
        if let Some(asked) = asked {
            list.clone_from(asked);
        }
    }
    let pattern = |name: &PatternName| match name {
        PatternName::Random => Pattern::Random,
        PatternName::Sequential => Pattern::Sequential,
        PatternName::SequentialShared => Pattern::SequentialShared,
    };
    let patterns = lists.patterns.as_ref().map(|names| names.iter().map(pattern).collect());
    set(&mut matrix.writes, lists.writes.as_ref());
    set(&mut matrix.patterns, patterns.as_ref());
    set(&mut matrix.blocks, lists.blocks.as_ref());
    set(&mut matrix.threads, lists.threads.as_ref());
    set(&mut matrix.depths, lists.depths.as_ref());
    matrix.seconds = lists.seconds.unwrap_or(matrix.seconds);
    matrix.warmup_seconds = lists.warmup.unwrap_or(matrix.warmup_seconds);
    matrix.durable |= lists.durable;
}

/// Targets, engine, device and seed are said in the same way as for one workload.
fn apply_target_flags(plan: &mut Plan, args: &TargetArgs) -> Result<(), Failure> {
    let nowhere = Target { path: "sim".into(), size_bytes: None };
    let mut workload = Workload {
        targets: std::mem::take(&mut plan.targets),
        engine: plan.engine,
        sim: plan.sim.take(),
        seed: plan.seed,
        ..Workload::single(nowhere, Stream::default())
    };
    apply_targets(&mut workload, args)?;
    plan.targets = workload.targets;
    (plan.engine, plan.sim, plan.seed) = (workload.engine, workload.sim, workload.seed);
    Ok(())
}

/// The plan, if it keeps the rules.
fn checked(plan: Plan) -> Result<Plan, Failure> {
    let lines: Vec<String> = plan.violations().iter().map(ToString::to_string).collect();
    if lines.is_empty() { Ok(plan) } else { Err(Failure::WrongUsage(lines.join("\n"))) }
}

fn presets() -> String {
    let line = |one: &Preset| {
        let plan = one.plan();
        let time = show_duration(plan.times(&plan.cells()).total_s());
        let (name, count, title) = (one.name, plan.count(), plan.title);
        let cells = format!("{},", counted(count));
        format!("{name:<19} {cells:>10} {time:<15} {title}\n")
    };
    PRESETS.iter().map(line).collect()
}

/// How many cells there are, how long they take, and until when.
fn duration(plan: &Plan, kept: &[u32]) -> String {
    let cells = missing(plan, kept);
    let times = plan.times(&cells);
    let Times { measured_s, warmup_s, settle_s } = times;
    if plan.adaptive {
        let survey::Forecast { measurements, seconds } = survey::forecast(plan);
        let text = format!(
            "{}, of which about {measurements} are measured: about {} instead of {}",
            counted(plan.count()),
            show_duration(seconds),
            show_duration(plan.times(&plan.cells()).total_s())
        );
        return match kept.len() {
            0 => text,
            there => format!("{text}; {there} of the measurements are there already"),
        };
    }
    let mut parts = vec![format!(
        "{}: {} measured, {} of warm-up, pauses of at most {}",
        counted(cells.len() as u64),
        show_duration(measured_s),
        show_duration(warmup_s),
        show_duration(settle_s)
    )];
    if !kept.is_empty() {
        parts.push(format!("{} there already", counted(kept.len() as u64)));
    }
    let span = jiff::SignedDuration::try_from_secs_f64(times.total_s());
    let end = span.ok().and_then(|span| jiff::Zoned::now().checked_add(span).ok());
    match end {
        _ if plan.engine == EngineChoice::Sim => {
            parts.push("of a simulated device, which needs none of this time".to_owned());
        }
        // How fast they can be written is not known yet.
        Some(end) => parts.push(format!(
            "ends {} at the latest, once the test files are written",
            end.strftime("%Y-%m-%d %H:%M")
        )),
        None => {}
    }
    parts.join("; ")
}

/// `1 cell`, `2 cells`.
fn counted(cells: u64) -> String {
    format!("{cells} cell{}", if cells == 1 { "" } else { "s" })
}

fn missing(plan: &Plan, kept: &[u32]) -> Vec<Cell> {
    plan.cells().into_iter().filter(|c| !kept.contains(&c.number)).collect()
}

/// What would be done, for `--dry-run`.
fn forecast(plan: &Plan, kept: &[u32], permissions: &Permissions) -> Result<String, Failure> {
    let plans = survey::plan_sweep_targets(plan, permissions)?;
    let text = format!("{}\n{}\n{}", plan.title, duration(plan, kept), describe(&plans));
    if plan.engine.is_artificial() {
        return Ok(text);
    }
    let paths: Vec<&Path> = plan.targets.iter().map(|t| t.path.as_path()).collect();
    let site = Site::of_paths(&paths);
    let mut devices = site.environment().storage.iter().flat_map(|s| &s.devices);
    let (speed, kind) = if devices.any(|d| d.rotational == Some(true)) {
        (Speed::ROTATING, "a disk with moving heads")
    } else {
        (Speed::SOLID, "a solid state drive")
    };
    // Of an adaptive sweep, few cells write.
    let whole_s = plan.times(&plan.cells()).total_s();
    let share = if plan.adaptive { survey::forecast(plan).seconds / whole_s } else { 1.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let bytes = Bytes((share * plan.written_bytes(&missing(plan, kept), &speed)) as u64);
    let (iops, mb) = (speed.random_iops, speed.bytes_per_s / 1e6);
    Ok(format!(
        "{text}written by the cells: about {bytes}, an estimate for {kind} of {iops} random IOPS and {mb} MB/s\n"
    ))
}

/// Only what is not there yet, is empty, or is such a CSV already may be written to.
fn claim_csv(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no ordinary file")),
        Ok(found) if found.len() > 0 && !begins_with(path, report::text::CSV_HEAD)? => {
            Err(io::Error::other("it is there and no CSV of a sweep; name another"))
        }
        _ => {
            let (beside, _) = create_beside(path, "part")?;
            fs::remove_file(beside)
        }
    }
}

fn begins_with(path: &Path, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    fs::File::open(path)?.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}

fn csv_failure(path: &Path, error: &io::Error, state: &str) -> Failure {
    let path = path.display();
    Failure::CannotRun(format!("cannot write `{path}`: {error}; {state}"))
}
