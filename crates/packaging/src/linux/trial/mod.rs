//! Tries the packages that `build` made: each is installed or unpacked into its own root, and the
//! program in it is run there.
//!
//! Nothing here takes the time or asserts a figure of performance. A trial that cannot be made, for
//! example without root, is named as skipped.

mod debian;
mod image;
mod parts;
mod program;
mod redhat;
mod windows;

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::linux::arch::{Arch, Platform, System};
use crate::linux::failure::{Failure, at, because, output, read};
use crate::linux::sums::parse;

/// Install and run what `build` made
#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// Where the packages are
    #[arg(default_value = "dist")]
    dist: PathBuf,

    /// Packages of the same sources, made in another directory: their bytes have to be the same
    #[arg(long)]
    twin: Option<PathBuf>,

    /// Paths of this machine that must not be in a program
    #[arg(long)]
    secret: Vec<PathBuf>,

    /// The programs were built without the parts that may be left out
    #[arg(long)]
    lacks_parts: bool,
}

/// How a trial ended that did not fail.
enum Outcome {
    /// It was made, and found nothing wrong
    Passed,
    /// It could not be made, and why
    Skipped(String),
}

/// The directories and packages that trials use.
struct Bench {
    dist: PathBuf,
    /// The version that the packages have.
    version: String,
    /// The processor of this machine.
    host: Arch,
    /// Everything that is made goes in here
    place: tempfile::TempDir,
    twin: Option<PathBuf>,
    secrets: Vec<PathBuf>,
    lacks_parts: bool,
}

type Trial = (&'static str, fn(&Bench) -> Result<Outcome, Failure>);

const TRIALS: [Trial; 10] = [
    ("sums", sums),
    ("twin", twin),
    ("no-paths", program::names_no_path_of_this_machine),
    ("empty-root", program::runs_in_an_empty_root),
    ("parts", parts::are_named_where_they_are_missing),
    ("other-processor", program::runs_on_the_other_processor),
    ("windows", windows::runs_under_wine),
    ("image", image::is_an_image_that_runs),
    ("rpm", redhat::is_a_package_that_leaves_nothing),
    ("deb", debian::installs_and_leaves_only_the_history),
];

/// Makes all trials, also after one that failed.
pub(crate) fn run(args: &TryArgs) -> Result<ExitCode, Failure> {
    let bench = Bench::new(args)?;
    let mut failed = 0;
    for (name, trial) in TRIALS {
        match trial(&bench) {
            Ok(Outcome::Passed) => eprintln!("package {name}: ok"),
            Ok(Outcome::Skipped(reason)) => testing::skip(&format!("packaging::{name}"), reason),
            Err(failure) => {
                failed += 1;
                eprintln!("package {name}: FAILED: {failure}");
            }
        }
    }
    if failed == 0 { Ok(ExitCode::SUCCESS) } else { Ok(ExitCode::FAILURE) }
}

impl Bench {
    fn new(args: &TryArgs) -> Result<Self, Failure> {
        let dist = args.dist.canonicalize().map_err(at("find", &args.dist))?;
        let sums = dist.join("SHA256SUMS");
        let names = parse(&String::from_utf8_lossy(&read(&sums)?));
        let version = names.keys().find_map(|name| {
            name.strip_prefix("iosonde-")?.strip_suffix(".cdx.json").map(str::to_owned)
        });
        let host = Arch::of_this_machine()
            .ok_or_else(|| because("packages are tried on x86-64 and 64-bit ARM only"))?;
        Ok(Self {
            version: version.ok_or_else(|| because("the packages have no bill of materials"))?,
            host,
            // Not in /tmp: that may be in memory, where no test file is like one on a disk.
            place: tempfile::tempdir_in(&dist).map_err(at("create a directory in", &dist))?,
            dist,
            twin: args.twin.clone(),
            secrets: args.secret.clone(),
            lacks_parts: args.lacks_parts,
        })
    }

    fn tarball(&self, arch: Arch) -> PathBuf {
        self.dist.join(format!("{}.tar.gz", self.stem(Platform::new(System::Linux, arch))))
    }

    /// The beginning of the names of files for a platform, and the directory in its archive.
    fn stem(&self, platform: Platform) -> String {
        format!("iosonde-{}-{}", self.version, platform.name())
    }

    /// Makes a directory of this name for a trial.
    fn directory(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.place.path().join(name);
        std::fs::create_dir_all(&path).map_err(at("create", &path))?;
        Ok(path)
    }

    /// Unpacks the tarball for a processor into a new directory, and returns where the program is.
    fn unpacked(&self, arch: Arch, name: &str) -> Result<PathBuf, Failure> {
        let place = self.directory(name)?;
        output(Command::new("tar").arg("-xzf").arg(self.tarball(arch)).arg("-C").arg(&place))?;
        Ok(place.join(self.stem(Platform::new(System::Linux, arch))))
    }
}

/// Whether this process may change roots and mount.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// `unshare` with the options that make a directory the root, also for users who are not root. The
/// root gets `/proc`, as every container has it: the program opens its files again by their names
/// there.
fn in_root(root: &Path) -> Result<Command, Failure> {
    let proc = root.join("proc");
    std::fs::create_dir_all(&proc).map_err(at("create", &proc))?;
    let mut command = Command::new("unshare");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--mount", "--pid", "--fork", "--mount-proc"]);
    command.arg(format!("--root={}", root.display()));
    Ok(command)
}

/// Fails unless a text holds a part.
fn holds(what: &str, text: &str, part: &str) -> Result<(), Failure> {
    if text.contains(part) {
        return Ok(());
    }
    Err(because(format!("{what} does not have \"{part}\":\n{text}")))
}

/// `SHA256SUMS` is as `sha256sum` reads it, and right.
fn sums(bench: &Bench) -> Result<Outcome, Failure> {
    let mut check = Command::new("sha256sum");
    output(check.current_dir(&bench.dist).args(["--check", "--strict", "--quiet", "SHA256SUMS"]))?;
    Ok(Outcome::Passed)
}

/// Two builds in two directories have the same bytes.
fn twin(bench: &Bench) -> Result<Outcome, Failure> {
    let Some(twin) = &bench.twin else {
        return Ok(Outcome::Skipped("--twin does not name a second build".to_owned()));
    };
    let list = |directory: &Path| -> Result<_, Failure> {
        Ok(parse(&String::from_utf8_lossy(&read(&directory.join("SHA256SUMS"))?)))
    };
    let (ours, theirs) = (list(&bench.dist)?, list(twin)?);
    if theirs.is_empty() {
        return Err(because(format!("there are no packages in {}", twin.display())));
    }
    // The second build may be of one processor; the bill of materials names those of both.
    let compared = theirs.iter().filter(|(name, _)| !name.ends_with(".cdx.json"));
    let differ: Vec<&str> = compared
        .filter(|(name, sum)| ours.get(*name) != Some(*sum))
        .map(|(name, _)| name.as_str())
        .collect();
    if differ.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(because(format!("other bytes in a second build: {}", differ.join(", "))))
}

/// The first bytes of a file.
fn beginning(path: &Path, bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut read = Vec::new();
    let file = std::fs::File::open(path).map_err(at("open", path))?;
    file.take(bytes).read_to_end(&mut read).map_err(at("read", path))?;
    Ok(read)
}
