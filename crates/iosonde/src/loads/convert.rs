//! `iosonde workload`: workloads between the files of iosonde and of other tools.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use dialects::convert::{Kind, Part, Parts, read, write};
use dialects::drives::{Drive, Drives};
use dialects::text::decode;
use workload::Workload;

use crate::exit::{Failure, Outcome, print};
use screen::Display;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// `iosonde workload`
#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    #[command(subcommand)]
    command: WorkloadCommand,
}

/// What to do with a file that holds a workload.
#[derive(Debug, Subcommand)]
enum WorkloadCommand {
    /// Convert between iosonde's TOML, IOMeter's .icf, DiskSpd's XML profiles and fio's job files
    Convert(ConvertArgs),
}

/// `iosonde workload convert`
#[derive(Debug, Args)]
struct ConvertArgs {
    /// A file of any of these kinds; which one, its content tells
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// Where it goes, a file that is not there yet; by default stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// What the file is, where its content does not tell
    #[arg(long, value_name = "KIND", value_enum)]
    from: Option<KindArg>,

    /// What it becomes [default: what the extension of `--output` says, else toml]
    #[arg(long, value_name = "KIND", value_enum)]
    to: Option<KindArg>,

    /// Which of several runs of a file: jobs between stonewalls, time spans, steps of IOMeter's
    /// cycle. `all` writes each to a file of its own, with its number before the extension
    /// [default: 1]
    #[arg(long, value_name = "N|all")]
    step: Option<String>,

    /// Exit code 1 when anything is lost
    #[arg(long)]
    strict: bool,

    /// Overwrite the output
    #[arg(long)]
    force: bool,

    /// What stands for a drive or a disk of Windows: E=/mnt/e, 1=/dev/sdb
    #[arg(long, value_name = "NAME=PLACE")]
    drive: Vec<Drive>,
}

/// Kinds by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    /// iosonde's own
    Toml,
    /// IOMeter's configuration
    Icf,
    /// DiskSpd's XML profile
    Diskspd,
    /// fio's job file
    Fio,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Toml => Self::Toml,
            KindArg::Icf => Self::Icf,
            KindArg::Diskspd => Self::Diskspd,
            KindArg::Fio => Self::Fio,
        }
    }
}

/// Runs the command.
pub(crate) fn workload(args: &WorkloadArgs) -> Result<Outcome, Failure> {
    let WorkloadCommand::Convert(args) = &args.command;
    convert(args)
}

fn convert(args: &ConvertArgs) -> Result<Outcome, Failure> {
    let (from, parts) = parts_of(&args.input, args.from.map(Kind::from), &args.drive)?;
    let to = args.to.map(Kind::from).or_else(|| kind_of(args.output.as_deref()));
    let to = to.unwrap_or(Kind::Toml);
    let mut lost = parts.lost.clone();
    let chosen = chosen(&parts, args, &mut lost)?;
    let mut written = Vec::new();
    for number in &chosen {
        let (text, losses) = part(&parts, *number)
            .and_then(|part| converted(&part, from, to))
            .map_err(|what| wrong(&args.input, &what))?;
        let of = if chosen.len() > 1 { format!("{number}: ") } else { String::new() };
        lost.extend(losses.into_iter().map(|what| of.clone() + &what));
        written.push((*number, text));
    }
    let mut display = Display::new(false);
    for what in &lost {
        display.message(&format!("lost: {what}"));
    }
    for (number, text) in &written {
        match &args.output {
            None => print(text)?,
            Some(path) if args.step.as_deref() == Some("all") => {
                create(&numbered(path, *number), text, args.force)?;
            }
            Some(path) => create(path, text, args.force)?,
        }
    }
    if args.strict && !lost.is_empty() {
        let lines = if lost.len() == 1 { "line names" } else { "lines name" };
        let text = format!("{} {lines} what is lost, and --strict was asked for", lost.len());
        return Err(Failure::CannotRun(text));
    }
    Ok(Outcome::Done)
}

fn wrong(path: &Path, what: &str) -> Failure {
    let lines: Vec<String> = what.lines().map(|l| format!("`{}`: {l}", path.display())).collect();
    Failure::WrongUsage(lines.join("\n"))
}

/// One of them by its number, from 1.
fn part(parts: &Parts, number: usize) -> Result<Part, String> {
    let part = number.checked_sub(1).and_then(|index| parts.part(index));
    part.unwrap_or_else(|| Err(format!("there is no run {number}")))
}

/// What a file is, and every workload of it.
fn parts_of(path: &Path, from: Option<Kind>, drives: &[Drive]) -> Result<(Kind, Parts), Failure> {
    let bytes = bytes_of(path)?;
    let named = kind_of(Some(path));
    // What is wrong in a file that calls itself TOML is to be said with its line.
    let toml = named.filter(|kind| *kind == Kind::Toml);
    let kind = from.or(toml).or_else(|| Kind::of_text(&decode(&bytes))).or(named);
    let unknown = "it is none of a workload of iosonde (TOML), an .icf file, a profile of DiskSpd \
                   and a job file of fio; say which it should be: `--from`";
    let kind = kind.ok_or_else(|| wrong(path, unknown))?;
    let said = |e: String| match kind {
        Kind::Toml => Failure::WrongUsage(format!("`{}`: {e}", path.display())),
        _ => wrong(path, &e),
    };
    let environment = |name: &str| std::env::var(name).ok();
    let drives = Drives::new(drives.to_vec());
    let parts = read(kind, &bytes, &drives, &environment).map_err(said)?;
    Ok((kind, parts))
}

/// The bytes of a file, unless it is larger than any that holds a workload: a device by mistake,
/// for one.
fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |e: std::io::Error| wrong(path, &e.to_string());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let mib = FILE_BYTES_MAX >> 20;
        let text = format!("it is larger than {mib} MiB, which no file with a workload is");
        return Err(wrong(path, &text));
    }
    Ok(bytes)
}

fn kind_of(path: Option<&Path>) -> Option<Kind> {
    Kind::of_extension(path?.extension()?.to_str()?)
}

/// The workload of a file of any kind, the first of several, and what of the file is lost; for
/// commands that run it.
pub(crate) fn first_workload(path: &Path) -> Result<(Workload, Vec<String>), Failure> {
    let drives = |failure| match failure {
        Failure::WrongUsage(text) if text.contains("--drive") => Failure::WrongUsage(format!(
            "{text}; `iosonde workload convert --drive … -o FILE.toml` makes a file that can be \
             run"
        )),
        other => other,
    };
    let (_, parts) = parts_of(path, None, &[]).map_err(drives)?;
    let count = parts.len();
    if count > 1 {
        let text = format!(
            "it has {count} runs, and one is run at a time; choose one: `iosonde workload convert \
             --step N -o FILE.toml`"
        );
        return Err(wrong(path, &text));
    }
    let part = part(&parts, 1).map_err(|e| wrong(path, &e)).map_err(drives)?;
    Ok((part.workload, parts.lost.into_iter().chain(part.lost).collect()))
}

/// The numbers of the parts that are asked for. The others are lost, unless they were left out by
/// name.
fn chosen(
    parts: &Parts,
    args: &ConvertArgs,
    lost: &mut Vec<String>,
) -> Result<Vec<usize>, Failure> {
    let numbers = 1..=parts.len();
    let name = |n| part(parts, n).map_or_else(|why| why, |part| part.name);
    match args.step.as_deref() {
        Some("all") if args.output.is_none() && parts.len() > 1 => {
            let text = "`--step all` writes several files; name them: `--output FILE`";
            Err(Failure::WrongUsage(text.to_owned()))
        }
        Some("all") if parts.len() > FILES_MAX => {
            let text = format!(
                "`--step all`: there are {} steps, and {FILES_MAX} files are the most that are \
                 written; choose one by its number",
                parts.len()
            );
            Err(Failure::WrongUsage(text))
        }
        Some("all") => Ok(numbers.collect()),
        Some(step) => {
            let found = step.parse().ok().filter(|n| numbers.contains(n));
            let unknown = || {
                let mut text = format!("`--step {step}`: there are {} steps", parts.len());
                numbers.clone().take(SHOWN).for_each(|n| {
                    let _ = write!(text, "\n  {n}: {}", name(n));
                });
                Failure::WrongUsage(text)
            };
            Ok(vec![found.ok_or_else(unknown)?])
        }
        None => {
            let others = numbers.skip(1);
            lost.extend(others.take(SHOWN).map(|n| {
                format!("run {n} of {}, {}; `--step {n}` converts it", parts.len(), name(n))
            }));
            if parts.len() > SHOWN + 1 {
                lost.push(format!("… and {} more runs", parts.len() - SHOWN - 1));
            }
            Ok(vec![1])
        }
    }
}

/// Files that `--step all` writes at most.
const FILES_MAX: usize = 1000;

/// Runs that are named one by one.
const SHOWN: usize = 20;

/// A workload in another form, and everything that is lost on the way.
fn converted(part: &Part, from: Kind, to: Kind) -> Result<(String, Vec<String>), String> {
    let mut lost = part.lost.clone();
    let mut workload = part.workload.clone();
    if to != Kind::Toml && from == Kind::Toml {
        name_files(&mut workload, to);
    }
    let (text, losses) = write(to, &workload)?;
    lost.extend(losses);
    // What breaks a rule of iosonde's would be refused when it is run.
    let broken = workload.violations().into_iter().filter(|_| to == Kind::Toml);
    lost.extend(broken.map(|v| format!("iosonde will not run it as it is: {v}")));
    Ok((text, lost))
}

/// In a directory iosonde makes a file of its own; other tools must be told one.
fn name_files(workload: &mut Workload, to: Kind) {
    let name = if to == Kind::Icf { "iobw.tst" } else { "iosonde.tst" };
    for target in workload.targets.iter_mut().filter(|t| t.path.is_dir()) {
        target.path.push(name);
    }
}

/// `mix.toml` as `mix-2.toml`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{}", extension.unwrap_or_default()))
}

/// Writes a new file; one that is there is left alone unless that was asked for.
fn create(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let failed = |e: &std::io::Error| {
        let why = match e.kind() {
            ErrorKind::AlreadyExists => {
                "it is there already; name another, or overwrite it with `--force`".to_owned()
            }
            _ => e.to_string(),
        };
        Failure::CannotRun(format!("cannot write `{}`: {why}", path.display()))
    };
    if force {
        return crate::files::write_whole(path, text).map_err(|e| failed(&e));
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|e| failed(&e))
}
