//! The flags of the program, and what each of its commands does in which order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Args, Parser};

use crate::linux::arch::{Arch, Platform, System};
use crate::linux::compile::{Compiled, Compiler, DEBUG_FILE};
use crate::linux::contents::{About, Named, Papers, Script, portable, system, windows};
use crate::linux::dist::Dist;
use crate::linux::failure::{Failure, at, because, output, read, text, write};
use crate::linux::licences::{Runtime, collect};
use crate::linux::tree::{Tree, gzip};
use crate::linux::{deb, image, manifests, packages, rpm_file, sbom, trial};

/// The largest program that a package may have, without its debug information.
const PROGRAM_BYTES_MAX: usize = 25_000_000;

/// The shells that completions are made for.
const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Make the packages of iosonde, and try them
#[derive(Debug, Parser)]
#[command(name = "x package")]
enum Flags {
    /// Compile, and put everything into a directory
    Build(BuildArgs),
    /// Run cargo with the flags and compilers of a package
    Cargo(CargoArgs),
    /// Install and run what `build` made
    Try(trial::TryArgs),
}

/// Compile, and put everything into a directory
#[derive(Debug, Args)]
struct BuildArgs {
    /// Put the packages into this directory
    #[arg(short, long, default_value = "dist")]
    output: PathBuf,

    /// Make packages for these systems and processors
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "x86_64-linux,aarch64-linux,x86_64-windows,aarch64-windows"
    )]
    platform: Vec<Platform>,

    /// Compile for this platform with another toolchain of rustup
    #[arg(long, value_name = "PLATFORM=NAME", value_parser = for_platform)]
    toolchain: Vec<(Platform, String)>,

    /// Compile with this profile of Cargo.toml
    #[arg(long, default_value = "dist")]
    profile: String,

    /// Compile for this platform with another profile
    #[arg(long, value_name = "PLATFORM=NAME", value_parser = for_platform)]
    profile_of: Vec<(Platform, String)>,

    /// Compile these parts only, separated by commas; '' for none [default: all]
    #[arg(long)]
    features: Option<String>,

    /// Where the files will be downloaded from: make manifests for other package managers, too
    #[arg(long)]
    url: Option<String>,

    /// Name and address of who makes the packages
    #[arg(long, default_value = "The iosonde developers <iosonde@localhost>")]
    maintainer: String,

    /// The date of every file, in seconds since 1970
    #[arg(long, env = "SOURCE_DATE_EPOCH")]
    date: u32,

    /// The sources
    #[arg(long, default_value = ".")]
    root: PathBuf,

    /// Where cargo builds
    #[arg(long, env = "CARGO_TARGET_DIR")]
    target: PathBuf,

    /// The program `zig`, which compiles C
    #[arg(long)]
    zig: PathBuf,
}

/// Run cargo with the flags and compilers of a package
#[derive(Debug, Args)]
struct CargoArgs {
    /// For this system and processor
    #[arg(long, value_enum)]
    platform: Platform,

    /// Where cargo builds
    #[arg(long, env = "CARGO_TARGET_DIR")]
    target: PathBuf,

    /// The program `zig`, which compiles C
    #[arg(long)]
    zig: PathBuf,

    /// What cargo is to do, without --target
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<String>,
}

/// Reads the flags and does what they say.
pub(crate) fn main() -> ExitCode {
    let done = match Flags::parse() {
        Flags::Build(args) => build(&args).map(|()| ExitCode::SUCCESS),
        Flags::Cargo(args) => cargo(&args),
        Flags::Try(args) => trial::run(&args),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("x package: {failure}");
        ExitCode::FAILURE
    })
}

/// Reads `aarch64-windows=1.95.0`.
fn for_platform(text: &str) -> Result<(Platform, String), String> {
    let (platform, name) = text.split_once('=').ok_or("write PLATFORM=NAME")?;
    Ok((<Platform as clap::ValueEnum>::from_str(platform, false)?, name.to_owned()))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(at("find", path))
}

fn cargo(args: &CargoArgs) -> Result<ExitCode, Failure> {
    std::fs::create_dir_all(&args.target).map_err(at("create", &args.target))?;
    let compiler = Compiler {
        root: absolute(Path::new("."))?,
        target: absolute(&args.target)?,
        zig: absolute(&args.zig)?,
        profile: String::new(),
        profiles: BTreeMap::new(),
        features: None,
        toolchains: BTreeMap::new(),
    };
    let mut cargo = compiler.cargo(args.platform)?;
    cargo.env("CARGO_BUILD_TARGET", args.platform.rust_target()).args(&args.arguments);
    let status = cargo.status().map_err(|error| because(format!("cargo: {error}")))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(args: &BuildArgs) -> Result<(), Failure> {
    let root = absolute(&args.root)?;
    let host = Arch::of_this_machine()
        .map(|arch| Platform::new(System::Linux, arch))
        .filter(|host| args.platform.contains(host))
        .ok_or_else(|| {
            because(
                "the manual pages come from a program that runs on this machine. \
             Name its platform in --platform",
            )
        })?;
    let date = jiff::Timestamp::from_second(i64::from(args.date))
        .map_err(|error| because(format!("--date {}: {error}", args.date)))?
        .to_string();
    let about = About {
        version: packages::version(&root)?,
        date: u64::from(args.date),
        maintainer: args.maintainer.clone(),
    };
    std::fs::create_dir_all(&args.target).map_err(at("create", &args.target))?;
    let compiler = Compiler {
        root,
        target: absolute(&args.target)?,
        zig: absolute(&args.zig)?,
        profile: args.profile.clone(),
        profiles: args.profile_of.iter().cloned().collect(),
        features: args.features.clone(),
        toolchains: args.toolchain.iter().cloned().collect(),
    };
    let runtime = runtime(&compiler)?;
    let linked = packages::linked(&compiler, &args.platform)?;
    let mut programs = Vec::new();
    for platform in &args.platform {
        let built = compiler.compile(*platform)?;
        is_small_enough(&compiler, *platform, &built)?;
        programs.push((*platform, built));
    }
    let native = programs.iter().find(|(platform, _)| *platform == host);
    let native = native.map(|(_, compiled)| compiled.program.as_slice()).unwrap_or_default();
    let mut papers = papers(&compiler.root, native)?;
    let mut dist = Dist::begin(&args.output)?;
    for (platform, compiled) in &programs {
        // Those of this program alone: which others are built with it must not change its archive.
        let own = packages::linked(&compiler, &[*platform])?;
        papers.other_licences = collect(&own, &runtime, platform.system)?;
        match platform.system {
            System::Linux => pack(&mut dist, &about, &date, *platform, compiled, &papers)?,
            System::Windows => zip(&mut dist, &about, *platform, compiled, &papers)?,
        }
    }
    let bom = sbom::document(&about.version, &date, &linked, &runtime);
    dist.add(&format!("iosonde-{}.cdx.json", about.version), format!("{bom:#}\n").as_bytes())?;
    if let Some(url) = &args.url {
        let templates = compiler.root.join("packaging");
        for (name, text) in manifests::all(&templates, &about.version, url, dist.sums())? {
            dist.add(&name, text.as_bytes())?;
        }
    }
    dist.finish()
}

/// Refuses a program that has become too large; smaller profiles are for tests.
fn is_small_enough(
    compiler: &Compiler,
    platform: Platform,
    built: &Compiled,
) -> Result<(), Failure> {
    let bytes = built.program.len();
    eprintln!("{bytes:>12}  the program for {}", platform.name());
    if compiler.profile == "dist" && bytes > PROGRAM_BYTES_MAX {
        return Err(because(format!(
            "the program for {} has {bytes} bytes, more than {PROGRAM_BYTES_MAX}. \
             Find out what made it grow (cargo bloat), or raise the limit with a reason",
            platform.name()
        )));
    }
    Ok(())
}

/// Parts of the program that are not crates.
fn runtime(compiler: &Compiler) -> Result<[Runtime; 3], Failure> {
    let rustc = text(Command::new("rustc").current_dir(&compiler.root).arg("--version"))?;
    let version = rustc.split(' ').nth(1).unwrap_or_default().to_owned();
    let sysroot =
        text(Command::new("rustc").current_dir(&compiler.root).args(["--print", "sysroot"]))?;
    let notice = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    let zig_library = compiler.zig.parent().unwrap_or(Path::new("/")).join("lib");
    let existing = |path: PathBuf| path.exists().then_some(path);
    Ok([
        Runtime {
            name: format!("Rust standard library {version}"),
            licence: "MIT OR Apache-2.0",
            only: None,
            text: existing(notice),
        },
        Runtime {
            name: "musl libc".to_owned(),
            licence: "MIT",
            only: Some(System::Linux),
            text: existing(zig_library.join("libc/musl/COPYRIGHT")),
        },
        Runtime {
            name: "LLVM libunwind".to_owned(),
            licence: "Apache-2.0 WITH LLVM-exception",
            only: None,
            text: existing(zig_library.join("libunwind/LICENSE.TXT")),
        },
    ])
}

/// Asks the program for its manual pages and completions, and reads the rest. The licences of what
/// is linked differ from platform to platform, and are empty here.
fn papers(root: &Path, program: &[u8]) -> Result<Papers, Failure> {
    let place = tempfile::tempdir().map_err(at("create a directory in", &std::env::temp_dir()))?;
    let path = place.path().join("iosonde");
    write(&path, program)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).map_err(at("change the mode of", &path))?;
    let manual = place.path().join("man");
    std::fs::create_dir(&manual).map_err(at("create", &manual))?;
    output(Command::new(&path).args(["man", "--output"]).arg(&manual))?;
    let mut completions = Vec::new();
    for shell in SHELLS {
        let script = output(Command::new(&path).args(["completions", shell]))?;
        completions.push((shell.to_owned(), script));
    }
    let own = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];
    let own = own.map(|name| Ok((name.to_owned(), read(&root.join(name))?)));
    Ok(Papers {
        manual: files(&manual)?,
        completions,
        units: files(&root.join("packaging/systemd"))?,
        readme: read(&root.join("README.md"))?,
        changelog: read(&root.join("CHANGELOG.md"))?,
        own_licences: own.into_iter().collect::<Result<_, Failure>>()?,
        other_licences: String::new(),
    })
}

/// The files in a directory, in order.
fn files(directory: &Path) -> Result<Vec<Named>, Failure> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(at("read", directory))? {
        let path = entry.map_err(at("read", directory))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        found.push((name.unwrap_or_default(), read(&path)?));
    }
    found.sort();
    Ok(found)
}

/// Makes all packages for Linux on one processor.
fn pack(
    dist: &mut Dist,
    about: &About,
    date: &str,
    platform: Platform,
    compiled: &Compiled,
    papers: &Papers,
) -> Result<(), Failure> {
    let (version, program, arch) = (&about.version, &compiled.program, platform.arch);
    let stem = format!("iosonde-{version}-{}", platform.name());
    let prefix = format!("{stem}/");
    let tarball = gzip(&portable(program, papers).tar(&prefix, about.date)?)?;
    dist.add(&format!("{stem}.tar.gz"), &tarball)?;
    if let Some(debug) = &compiled.debug {
        let mut tree = Tree::default();
        tree.file(DEBUG_FILE, debug.clone());
        dist.add(&format!("{stem}-debug.tar.gz"), &gzip(&tree.tar(&prefix, about.date)?)?)?;
    }
    let package = deb::build(about, arch, &system(program, papers, Script::Debian)?)?;
    dist.add(&format!("iosonde_{version}-1_{}.deb", arch.debian()), &package)?;
    let package = rpm_file::build(about, arch, &system(program, papers, Script::Rpm)?)?;
    dist.add(&format!("iosonde-{version}-1.{}.rpm", arch.name()), &package)?;
    let image = image::build(about, date, arch, program)?;
    dist.add(&format!("iosonde-{version}-oci-{}.tar", arch.debian()), &image)
}

/// Makes the archive for Windows on one processor.
fn zip(
    dist: &mut Dist,
    about: &About,
    platform: Platform,
    compiled: &Compiled,
    papers: &Papers,
) -> Result<(), Failure> {
    let stem = format!("iosonde-{}-{}", about.version, platform.name());
    let prefix = format!("{stem}/");
    let archive = windows(&compiled.program, papers).zip(&prefix, about.date)?;
    dist.add(&format!("{stem}.zip"), &archive)?;
    if let Some(debug) = &compiled.debug {
        let mut tree = Tree::default();
        tree.file(DEBUG_FILE, debug.clone());
        dist.add(&format!("{stem}-debug.zip"), &tree.zip(&prefix, about.date)?)?;
    }
    Ok(())
}
