//! Compiles the program for a platform, whatever this machine is.
//!
//! For Linux, Rust brings musl and a linker; the C code (SQLite, ring) is compiled by `zig cc`,
//! which brings musl's headers for every processor. For Windows on x86-64, Debian's mingw has the
//! libraries and compiles the C code; for Windows on ARM, zig does both. Paths of this machine are
//! replaced, so that the same sources give the same bytes everywhere. The path of the sources
//! concerns our crates only, whose compiler is called through a script: two checkouts with one
//! directory for builds compile their dependencies once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::linux::arch::{Arch, Platform, System};
use crate::linux::failure::{Failure, at, because, read, text, watch, write};

/// The directories and tools of a build.
#[derive(Debug)]
pub(crate) struct Compiler {
    /// The root directory of the workspace.
    pub root: PathBuf,
    /// The directory in which cargo builds.
    pub target: PathBuf,
    /// The path of the program `zig`.
    pub zig: PathBuf,
    /// The name of a profile in `Cargo.toml`, for platforms that have no other.
    pub profile: String,
    /// Profiles for some platforms.
    pub profiles: BTreeMap<Platform, String>,
    /// The parts of the program; all of them if not given
    pub features: Option<String>,
    /// Toolchains of rustup, for platforms that the chosen one has no library for.
    pub toolchains: BTreeMap<Platform, String>,
}

/// A program as the compiler made it.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The executable, without debug information.
    pub program: Vec<u8>,
    /// The debug information, where the profile makes any
    pub debug: Option<Vec<u8>>,
}

/// The name of the file with debug information, which the program carries.
pub(crate) const DEBUG_FILE: &str = "iosonde.debug";

/// The name of the script that calls the compiler for our crates. Cargo takes the name, and not the
/// path, into the hash of what it builds.
const WRAPPER: &str = "iosonde-rustc";

/// Replaces the directory of the sources, in which cargo calls it. What `rustc` is told later
/// counts more: the directory of the build is often in that of the sources.
const WRAPPER_SCRIPT: &str = "#!/bin/sh\nrustc=$1\nshift\n\
     exec \"$rustc\" --remap-path-prefix=\"$PWD\"=/iosonde \"$@\"\n";

/// What compiles C and links for Windows on x86-64.
const MINGW: &str = "x86_64-w64-mingw32-gcc";

/// Parts of SQLite that no history needs: searching texts and maps.
const UNUSED_OF_SQLITE: [&str; 4] = [
    "-USQLITE_ENABLE_FTS3",
    "-USQLITE_ENABLE_FTS3_PARENTHESIS",
    "-USQLITE_ENABLE_FTS5",
    "-USQLITE_ENABLE_RTREE",
];

impl Compiler {
    /// Compiles the program, and takes the debug information out of it.
    pub(crate) fn compile(&self, platform: Platform) -> Result<Compiled, Failure> {
        let target = platform.rust_target();
        let mut cargo = self.cargo(platform)?;
        cargo.args(["build", "--locked", "-p", "iosonde", "--target", target]);
        let profile = self.profiles.get(&platform).unwrap_or(&self.profile);
        cargo.args(["--profile", profile]);
        cargo.args(self.feature_flags());
        watch(&mut cargo)?;
        let place = self.target.join(target).join(profile);
        self.take_apart(&place, platform)
    }

    /// A call of cargo that compiles for a platform as for its packages.
    pub(crate) fn cargo(&self, platform: Platform) -> Result<Command, Failure> {
        let tools = self.target.join("zig");
        let mut cargo = self.rust(platform, "cargo");
        script_file(&tools.join("bin").join(WRAPPER), WRAPPER_SCRIPT)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::iter::once(tools.join("bin")).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path).map_err(|error| because(error.to_string()))?;
        cargo.env("PATH", path).env("RUSTC_WORKSPACE_WRAPPER", WRAPPER);
        cargo.env("CARGO_TARGET_DIR", &self.target).env("CARGO_INCREMENTAL", "0");
        cargo.env("CARGO_ENCODED_RUSTFLAGS", self.rust_flags(platform, &tools)?.join("\u{1f}"));
        let triple = platform.rust_target().replace('-', "_");
        cargo.env(format!("CC_{triple}"), self.c_compiler(&tools, platform)?);
        if platform.zig_target().is_some() {
            cargo.env(format!("AR_{triple}"), self.archiver(&tools)?);
        }
        cargo.env("LIBSQLITE3_FLAGS", UNUSED_OF_SQLITE.join(" "));
        for kind in ["LOCAL", "GLOBAL"] {
            cargo.env(format!("ZIG_{kind}_CACHE_DIR"), tools.join("cache"));
        }
        Ok(cargo)
    }

    /// A program of the toolchain for this platform.
    fn rust(&self, platform: Platform, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        if let Some(toolchain) = self.toolchains.get(&platform) {
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
        command
    }

    /// The flags for cargo that choose the parts of the program.
    pub(crate) fn feature_flags(&self) -> Vec<String> {
        let parts = self.features.iter().flat_map(|parts| {
            ["--no-default-features".to_owned(), "--features".to_owned(), parts.clone()]
        });
        parts.collect()
    }

    fn rust_flags(&self, platform: Platform, tools: &Path) -> Result<Vec<String>, Failure> {
        let own = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut flags: Vec<String> = match (platform.system, platform.arch) {
            (System::Linux, _) => own(&[
                "-Clinker=rust-lld",
                "-Clinker-flavor=ld.lld",
                "-Clink-self-contained=yes",
                "-Clink-arg=--build-id=sha1",
                // Functions that are alike in every byte are one, and relocations take a bit each.
                "-Clink-arg=--icf=all",
                "-Clink-arg=--pack-dyn-relocs=relr",
            ]),
            (System::Windows, Arch::X86) => own(&["-Clink-arg=-Wl,--no-insert-timestamp"]),
            (System::Windows, Arch::Arm) => {
                let linker = self.zig_linker(tools, platform)?;
                // Without the libraries that name what a DLL has: the program names it itself.
                let mut flags: Vec<String> = own(&["--cfg=windows_raw_dylib"]);
                flags.push(format!("-Clinker={}", linker.display()));
                flags
            }
        };
        for (from, to) in self.renamed()? {
            flags.push(format!("--remap-path-prefix={}={to}", from.display()));
        }
        Ok(flags)
    }

    /// Directories of this machine, with their replacements in the program; the last one that
    /// matches counts. C code is in dependencies only.
    fn renamed(&self) -> Result<[(PathBuf, &'static str); 2], Failure> {
        Ok([(cargo_home()?, "/cargo"), (self.target.clone(), "/build")])
    }

    /// Writes a script that compiles C for a platform.
    fn c_compiler(&self, tools: &Path, platform: Platform) -> Result<PathBuf, Failure> {
        let mut prefixes = String::new();
        let library = self.zig.parent().unwrap_or(Path::new("/")).to_owned();
        for (from, to) in self.renamed()?.into_iter().chain([(library, "/zig")]) {
            // Writing into a string cannot fail.
            let _ = write!(
                prefixes,
                " {}",
                quoted(&format!("-ffile-prefix-map={}={to}", from.display()))
            );
        }
        let script = match platform.zig_target() {
            // Crates name the target as Rust does, which zig does not read; and zig's own default
            // of checking for undefined behaviour needs a library.
            Some(target) => {
                let given = format!("\"$@\" -fno-sanitize=undefined{prefixes}");
                self.zig_script(target, "--target=*", &given)
            }
            None => format!("#!/bin/sh\nexec {MINGW} \"$@\"{prefixes}\n"),
        };
        script_file(&tools.join(format!("cc-{}", platform.name())), &script)
    }

    /// Writes a script that links for Windows. zig brings its own C library, so what Rust names of
    /// mingw's is left out.
    fn zig_linker(&self, tools: &Path, platform: Platform) -> Result<PathBuf, Failure> {
        let mingw = "-lmsvcrt|-lsynchronization|-lmingw32|-lmingwex|-nolibc|-nostartfiles\
            |--unwindlib=none|*/self-contained/crt2.o";
        let script = self.zig_script(platform.zig_target().unwrap_or_default(), mingw, "\"$@\"");
        script_file(&tools.join(format!("link-{}", platform.name())), &script)
    }

    /// A script that calls `zig cc` without the arguments of a pattern of the shell.
    fn zig_script(&self, target: &str, without: &str, given: &str) -> String {
        format!(
            "#!/bin/sh\nn=$#\n\
             while [ \"$n\" -gt 0 ]; do\n    a=$1\n    shift\n    n=$((n - 1))\n    \
             case $a in {without}) ;; *) set -- \"$@\" \"$a\" ;; esac\ndone\n\
             exec {} cc -target {target} {given}\n",
            quoted(&self.zig.display().to_string()),
        )
    }

    fn archiver(&self, tools: &Path) -> Result<PathBuf, Failure> {
        let script =
            format!("#!/bin/sh\nexec {} ar \"$@\"\n", quoted(&self.zig.display().to_string()));
        script_file(&tools.join("ar"), &script)
    }

    /// Takes the debug information out of the program that is in this directory.
    fn take_apart(&self, place: &Path, platform: Platform) -> Result<Compiled, Failure> {
        let whole = place.join(platform.program());
        let bytes = read(&whole)?;
        if !contains(&bytes, b".debug_line\0") {
            return Ok(Compiled { program: bytes, debug: None });
        }
        let (debug, program) = (place.join(DEBUG_FILE), place.join("iosonde.stripped"));
        let sysroot =
            PathBuf::from(text(self.rust(platform, "rustc").args(["--print", "sysroot"]))?.trim());
        let tool = self.rust_tool(platform, &sysroot, "rust-objcopy")?;
        let run = |arguments: &[&str], from: &Path, to: &Path| {
            let mut objcopy = Command::new(&tool);
            // Its libraries are the compiler's, and not those of the toolchain that started this.
            objcopy.env("LD_LIBRARY_PATH", sysroot.join("lib"));
            // The link to the debug information has no directory in it.
            watch(objcopy.current_dir(place).args(arguments).args([from, to]))
        };
        run(&["--only-keep-debug"], &whole, &debug)?;
        let link = format!("--add-gnu-debuglink={DEBUG_FILE}");
        run(&["--strip-all", &link], &whole, &program)?;
        Ok(Compiled { program: read(&program)?, debug: Some(read(&debug)?) })
    }

    /// A program that comes with the Rust compiler.
    fn rust_tool(
        &self,
        platform: Platform,
        sysroot: &Path,
        name: &str,
    ) -> Result<PathBuf, Failure> {
        let version = text(self.rust(platform, "rustc").arg("-vV"))?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.ok_or_else(|| because("rustc -vV does not name its host"))?;
        let path = sysroot.join("lib/rustlib").join(host).join("bin").join(name);
        if path.exists() {
            return Ok(path);
        }
        Err(because(format!(
            "{} is missing. Use a toolchain of rustup, which has it",
            path.display()
        )))
    }
}

/// Where cargo keeps the sources of dependencies.
pub(crate) fn cargo_home() -> Result<PathBuf, Failure> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("CARGO_HOME").or_else(|| Some(set("HOME")?.join(".cargo")));
    home.ok_or_else(|| because("neither CARGO_HOME nor HOME is set. Set one of them"))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A word for `sh`, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn script_file(path: &Path, script: &str) -> Result<PathBuf, Failure> {
    let directory = path.parent().unwrap_or(path);
    std::fs::create_dir_all(directory).map_err(at("create", directory))?;
    // An unchanged file keeps its date: cargo would build everything anew.
    if std::fs::read_to_string(path).ok().as_deref() != Some(script) {
        write(path, script.as_bytes())?;
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).map_err(at("change the mode of", path))?;
    Ok(path.to_owned())
}
