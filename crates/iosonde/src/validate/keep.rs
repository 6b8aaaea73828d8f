//! Runs that can be gone on with after they were killed: `--ledger`, `--resume`, and `--clean` for
//! what they have left.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, Parser};
use engine::{Cleaned, Filling, Prepared, TargetPlan};
use integrity::{KeptError, KeptLedger, Place, Plan, Role};
use serde::{Deserialize, Serialize};
use workload::Bytes;

use super::ValidateArgs;
use crate::args::{Arguments, Command};
use crate::exit::{Failure, Outcome, print};

/// Flags that say what stays of a run.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Keep what the run knows in this new file, 8 bytes for each page, so that `--resume` goes on
    /// with it after it was killed
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub ledger: Option<PathBuf>,

    /// Go on with the run of this ledger, on its targets and with its flags; what it had written is
    /// read first
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Remove what a run that was killed has left: each TARGET is a ledger with its files, a
    /// directory with test files, or a test file. What iosonde has not made stays
    #[arg(long, conflicts_with_all = ["ledger", "resume"])]
    pub clean: bool,
}

/// What may be said beside `--resume`.
const BESIDE_RESUME: [&str; 8] =
    ["resume", "quiet", "live", "json", "history", "no_history", "tags", "redact"];
/// What may be said beside `--clean`.
const BESIDE_CLEAN: [&str; 5] = ["clean", "targets", "dry_run", "quiet", "history"];

/// What a ledger remembers of the command that made it.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    arguments: Vec<String>,
    directory: PathBuf,
    seed: u64,
    files: Vec<PathBuf>,
}

/// Where a run keeps what it knows.
pub(crate) enum Keeping {
    /// In memory.
    InMemory,
    /// In a file that is made for it.
    New(PathBuf),
    /// In the file of a run that is gone on with.
    GoOn(PathBuf, Arc<KeptLedger>),
}

/// What is to be done.
pub(super) enum Way {
    /// What the arguments say.
    AsSaid,
    /// What these arguments say, and what is known is kept.
    Kept(Box<ValidateArgs>, Keeping),
    /// What others have left is removed.
    Clean,
}

/// Finds out what is to be done, and refuses flags that would have no effect on it.
pub(super) fn way(args: &ValidateArgs) -> Result<Way, Failure> {
    let KeepArgs { ledger, resume, clean } = &args.keep;
    if *clean {
        nothing_else(&BESIDE_CLEAN, "`--clean` only removes what is left")?;
        return Ok(Way::Clean);
    }
    if let Some(file) = resume {
        nothing_else(&BESIDE_RESUME, "`--resume` goes on with the run as it was")?;
        let kept = KeptLedger::open(file).map_err(failure)?;
        let about = about_of(file, &kept)?;
        let again = read(&about.arguments)?;
        let again = absolute(again, &about.directory, about.seed);
        return Ok(Way::Kept(again, Keeping::GoOn(file.clone(), Arc::new(kept))));
    }
    let Some(file) = ledger else { return Ok(Way::AsSaid) };
    if fs::symlink_metadata(file).is_ok() {
        return Err(failure(KeptError::Exists { path: file.clone() }));
    }
    let again = read(&typed()?)?;
    let seed = args.target.seed.unwrap_or_else(engine::unrepeated_seed);
    let again = absolute(again, &std::env::current_dir()?, seed);
    Ok(Way::Kept(again, Keeping::New(file.clone())))
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn failure(error: KeptError) -> Failure {
    Failure::CannotRun(error.to_string())
}

/// Refuses what was typed beside these.
fn nothing_else(allowed: &[&str], why: &str) -> Result<(), Failure> {
    let Ok(matches) = Arguments::command().try_get_matches_from(std::env::args_os()) else {
        return Ok(());
    };
    let Some((_, typed)) = matches.subcommand() else { return Ok(()) };
    let is_typed = |id: &&str| typed.value_source(id) == Some(ValueSource::CommandLine);
    let mut others = typed.ids().map(clap::Id::as_str).filter(is_typed);
    match others.find(|id| !allowed.contains(id) && !id.ends_with("Args")) {
        None => Ok(()),
        Some("targets") => Err(Failure::WrongUsage(format!("{why}; leave out the TARGETs"))),
        Some(other) => {
            let command = Arguments::command();
            let known = command.get_subcommands().flat_map(clap::Command::get_arguments);
            let long = known.filter(|known| known.get_id() == other).find_map(clap::Arg::get_long);
            let flag = long.unwrap_or(other);
            Err(Failure::WrongUsage(format!("{why}; leave out `--{flag}`")))
        }
    }
}

/// What was typed behind the name of the program.
fn typed() -> Result<Vec<String>, Failure> {
    let text = |argument: OsString| {
        let error = "a ledger keeps the command in Unicode, and there are other bytes in it; \
                     rename the TARGET";
        argument.into_string().map_err(|_| Failure::CannotRun(error.to_owned()))
    };
    std::env::args_os().skip(1).map(text).collect()
}

/// The arguments in what was typed.
fn read(arguments: &[String]) -> Result<Box<ValidateArgs>, Failure> {
    let whole = std::iter::once("iosonde").chain(arguments.iter().map(String::as_str));
    let parsed = Arguments::try_parse_from(whole);
    match parsed.map(|parsed| parsed.command) {
        Ok(Command::Validate(args)) => Ok(args),
        Ok(_) => Err(Failure::CannotRun("the ledger is of another command".to_owned())),
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let text =
                format!("this version of iosonde does not read the command of the ledger: {first}");
            Err(Failure::CannotRun(text))
        }
    }
}

/// The same wherever it is typed, and with the same choices.
fn absolute(mut args: Box<ValidateArgs>, directory: &Path, seed: u64) -> Box<ValidateArgs> {
    let named = args.target.targets.iter_mut().chain(&mut args.target.conduct.destroy);
    for path in named.chain(&mut args.log).chain(&mut args.config) {
        *path = directory.join(&*path);
    }
    args.target.seed = Some(seed);
    args
}

/// The same place by one name, whether there is something or not.
fn whole(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = fs::canonicalize(directory.unwrap_or(Path::new(".")));
    fs::canonicalize(path).or(directory.map(|d| d.join(name))).unwrap_or_else(|_| path.to_owned())
}

fn about_of(file: &Path, kept: &KeptLedger) -> Result<About, Failure> {
    serde_json::from_str(kept.about())
        .map_err(|_| failure(KeptError::NotOurs { path: file.to_owned() }))
}

impl Keeping {
    /// What becomes of the files' content before the run.
    pub(super) fn fillings(&self, roles: &[Role]) -> Vec<Filling> {
        let filling = |role: &Role| match (self, role) {
            (Self::GoOn(..), _) => Filling::AsItIs,
            // The first writing of all pages fills their files; the log is overwritten here and
            // there and is filled before.
            (_, Role::Data | Role::Doublewrite) => Filling::Caller,
            (_, Role::Log) => Filling::Engine,
        };
        roles.iter().map(filling).collect()
    }

    /// Refuses what no ledger can keep, and a ledger in the place of a test file.
    pub(super) fn check(&self, plan: &Plan, targets: &[TargetPlan]) -> Result<(), Failure> {
        let Self::New(file) = self else { return Ok(()) };
        let name = file.display();
        if plan.resizing.is_some() {
            let text = "`--ledger` and `--resize` exclude each other: how long a file was is not \
                        kept; leave out one of both";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
        let place = whole(file);
        if targets.iter().any(|target| whole(&target.path) == place) {
            let text = format!(
                "`--ledger {name}` is one of the test files of this run; name another file, such \
                 as one in `/dev/shm`"
            );
            return Err(Failure::WrongUsage(text));
        }
        Ok(())
    }

    /// Makes a ledger of about the size that it will have, and removes it: where that is not
    /// possible, nothing else is made.
    pub(super) fn try_out(
        &self,
        plan: &Plan,
        targets: &[TargetPlan],
        roles: &[Role],
    ) -> Result<(), Failure> {
        let Self::New(file) = self else { return Ok(()) };
        let place = |(target, role): (&TargetPlan, &Role)| Place {
            path: target.path.clone(),
            size_bytes: target.size_bytes,
            role: *role,
            align_bytes: 512,
            shape: integrity::Shape::default(),
        };
        let places: Vec<Place> = targets.iter().zip(roles).map(place).collect();
        KeptLedger::try_out(file, plan, &places).map_err(|error| {
            let text = format!(
                "{error}; name a new file where there is room for it and files can be mapped, \
                 such as in `/dev/shm`"
            );
            Failure::CannotRun(text)
        })
    }

    /// What an end at once leaves behind of these test files, and what to do about it.
    pub(super) fn left_behind(&self, files: &[&Path]) -> String {
        if let Self::New(ledger) | Self::GoOn(ledger, _) = self {
            let ledger = ledger.display();
            return format!(
                "leaves the files and the ledger behind: go on with `iosonde validate --resume \
                 {ledger}`, or remove them with `iosonde validate --clean {ledger}`"
            );
        }
        if files.is_empty() {
            return "leaves no test file behind".to_owned();
        }
        let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
        let typed: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!(
            "leaves {} behind, which `iosonde validate --clean {}` removes",
            names.join(", "),
            typed.join(" ")
        )
    }

    /// The ledger of a run of this plan on these files.
    pub(super) fn begin(
        &self,
        plan: &Plan,
        places: &[Place],
    ) -> Result<Option<Arc<KeptLedger>>, Failure> {
        let file = match self {
            Self::InMemory => return Ok(None),
            Self::GoOn(_, kept) => return Ok(Some(Arc::clone(kept))),
            Self::New(file) => file,
        };
        let about = About {
            arguments: typed()?,
            directory: std::env::current_dir()?,
            seed: plan.seed,
            files: places.iter().map(|place| place.path.clone()).collect(),
        };
        let about = serde_json::to_string(&about).map_err(|e| Failure::CannotRun(e.to_string()))?;
        let kept = KeptLedger::create(file, plan, places, &about).map_err(failure)?;
        Ok(Some(Arc::new(kept)))
    }

    /// Whether the run could begin and has ended: what is left of it, and what can be done about
    /// that.
    pub(super) fn end(
        &self,
        kept: Option<&KeptLedger>,
        prepared: &mut Prepared,
        keep: bool,
    ) -> Result<Option<String>, Failure> {
        let (Some(kept), Self::New(file) | Self::GoOn(file, _)) = (kept, self) else {
            return Ok(None);
        };
        let (is_done, name) = (kept.phase().is_none(), file.display());
        if is_done && !keep {
            prepared.remove(true);
            fs::remove_file(file)?;
            return Ok(None);
        }
        prepared.remove(false);
        kept.close().map_err(failure)?;
        Ok(Some(if is_done {
            format!("all pages can be read again with `iosonde validate --resume {name}`")
        } else {
            format!(
                "go on with `iosonde validate --resume {name}`, or remove what is left with \
                 `iosonde validate --clean {name}`"
            )
        }))
    }

    /// A run that could not begin leaves no ledger.
    pub(super) fn give_up(&self) {
        if let Self::New(file) = self
            && KeptLedger::is_one(file)
        {
            // The failure is told; a file more says nothing.
            let _ = fs::remove_file(file);
        }
    }
}

/// Removes what runs have left.
pub(super) fn clean(args: &ValidateArgs) -> Result<Outcome, Failure> {
    let target = &args.target;
    if target.targets.is_empty() {
        let text = "name what is left: a ledger, a directory with test files, or a test file";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let mut cleaning =
        Cleaning { dry_run: target.conduct.dry_run, lines: String::new(), failures: vec![] };
    for path in &target.targets {
        cleaning.target(path)?;
    }
    if !target.conduct.quiet {
        let nothing = cleaning.lines.is_empty() && cleaning.failures.is_empty();
        print(if nothing { "nothing is left\n" } else { &cleaning.lines })?;
    }
    if cleaning.failures.is_empty() {
        return Ok(Outcome::Done);
    }
    Err(Failure::CannotRun(cleaning.failures.join("\n")))
}

/// What was removed, and what could not be.
struct Cleaning {
    dry_run: bool,
    lines: String,
    failures: Vec<String>,
}

impl Cleaning {
    fn target(&mut self, path: &Path) -> Result<(), Failure> {
        let metadata = fs::symlink_metadata(path);
        let metadata = metadata
            .map_err(|e| Failure::CannotRun(format!("`{}` cannot be read: {e}", path.display())))?;
        if metadata.is_dir() {
            let mut files: Vec<PathBuf> = fs::read_dir(path)?
                .map(|entry| Ok(entry?.path()))
                .collect::<Result<_, std::io::Error>>()?;
            files.sort();
            for file in files.iter().filter(|f| fs::symlink_metadata(f).is_ok_and(|m| m.is_file()))
            {
                self.file(file, false);
            }
            return Ok(());
        }
        if !metadata.is_file() || !KeptLedger::is_one(path) {
            self.file(path, true);
            return Ok(());
        }
        let kept = KeptLedger::look(path).map_err(failure)?;
        let before = self.failures.len();
        for file in about_of(path, &kept)?.files {
            // A device stays as it is; and of what is gone already, nothing is left.
            if fs::symlink_metadata(&file).is_ok_and(|m| m.is_file()) {
                self.file(&file, false);
            }
        }
        if self.failures.len() == before {
            let bytes = metadata.len();
            if !self.dry_run {
                fs::remove_file(path)?;
            }
            self.tell(path, bytes);
        }
        Ok(())
    }

    /// A file; one that was `named` must be a test file, and goes also if it was to be kept.
    fn file(&mut self, path: &Path, named: bool) {
        let name = path.display();
        match engine::clean(path, named, self.dry_run) {
            Ok(Cleaned::Removed(bytes)) => self.tell(path, bytes),
            Ok(Cleaned::NotOurs) if !named => {}
            Ok(Cleaned::NotOurs) => {
                self.failures.push(format!("`{name}` was not made by iosonde and is not removed"));
            }
            Ok(Cleaned::InUse) => {
                self.failures.push(format!("`{name}` is in use by an iosonde that is running"));
            }
            Ok(Cleaned::Kept) => {
                let line = format!("`{name}` was to be kept; name it to have it removed\n");
                self.lines.push_str(&line);
            }
            Err(error) => self.failures.push(format!("`{name}` cannot be removed: {error}")),
        }
    }

    fn tell(&mut self, path: &Path, bytes: u64) {
        let what = if self.dry_run { "would remove" } else { "removed" };
        let line = format!("{what} `{}`, {}\n", path.display(), Bytes(bytes));
        self.lines.push_str(&line);
    }
}
