//! The static programs in roots where there is nothing else.

use std::path::Path;
use std::process::Command;

use super::{Bench, Outcome, beginning, holds, in_root};
use crate::linux::arch::Arch;
use crate::linux::compile::cargo_home;
use crate::linux::failure::{Failure, at, because, output, read, text};

/// No program for Linux has a path of this machine.
pub(super) fn names_no_path_of_this_machine(bench: &Bench) -> Result<Outcome, Failure> {
    for arch in [Arch::X86, Arch::Arm].into_iter().filter(|arch| bench.tarball(*arch).exists()) {
        let program = bench.unpacked(arch, &format!("paths-{}", arch.name()))?.join("iosonde");
        has_no_path(bench, &read(&program)?, arch.name())?;
    }
    Ok(Outcome::Passed)
}

/// Paths of the machine that builds concern nobody else, and make two builds differ.
pub(super) fn has_no_path(bench: &Bench, program: &[u8], name: &str) -> Result<(), Failure> {
    let registry = cargo_home()?.join("registry");
    for secret in bench.secrets.iter().chain([&registry]) {
        let path = secret.as_os_str().as_encoded_bytes();
        if program.windows(path.len()).any(|window| window == path) {
            return Err(because(format!("the program for {name} has {}", secret.display())));
        }
    }
    Ok(())
}

/// An empty root, and the program in it.
pub(super) fn runs_in_an_empty_root(bench: &Bench) -> Result<Outcome, Failure> {
    let unpacked = bench.unpacked(bench.host, "empty")?;
    let root = bench.directory("empty-root")?;
    copy(&unpacked.join("iosonde"), &root.join("iosonde"))?;
    std::fs::create_dir(root.join("data")).map_err(at("create", &root.join("data")))?;
    for name in crate::linux::contents::LINKS {
        // The links of the tarball lead to the program next to them.
        let to =
            std::fs::read_link(unpacked.join(name)).map_err(at("read", &unpacked.join(name)))?;
        std::os::unix::fs::symlink(&to, root.join(name)).map_err(at("create", &root.join(name)))?;
    }
    let run =
        |words: &[&str]| text(in_root(&root)?.args(words).env_clear().env("PATH", "/usr/bin:/bin"));
    holds("iosonde --version", &run(&["/iosonde", "--version"])?, &bench.version)?;
    for words in runs(&[]) {
        let words: Vec<&str> = ["/iosonde"].into_iter().chain(words).collect();
        holds(&words.join(" "), &run(&words)?, "\"iops\"")?;
    }
    answers_to_other_names(&root, None)?;
    Ok(Outcome::Passed)
}

/// The other processor, imitated by qemu: the engines that it can imitate.
pub(super) fn runs_on_the_other_processor(bench: &Bench) -> Result<Outcome, Failure> {
    let other = if bench.host == Arch::X86 { Arch::Arm } else { Arch::X86 };
    if !bench.tarball(other).exists() {
        return Ok(Outcome::Skipped(format!("there is no package for {}", other.name())));
    }
    let unpacked = bench.unpacked(other, "other")?;
    is_static(&unpacked.join("iosonde"), other)?;
    let root = bench.directory("other-root")?;
    copy(&unpacked.join("iosonde"), &root.join("iosonde"))?;
    std::fs::create_dir(root.join("data")).map_err(at("create", &root.join("data")))?;
    let qemu = format!("qemu-{}-static", other.name());
    let path = text(Command::new("sh").args(["-c", "command -v \"$1\"", "sh", &qemu]))
        .map_err(|_| because(format!("{qemu} is missing. Install qemu-user-static")))?;
    copy(Path::new(path.trim()), &root.join("qemu"))?;
    let run = |words: &[&str]| {
        let mut command = in_root(&root)?;
        text(
            command
                .args(["/qemu", "/iosonde"])
                .args(words)
                .env_clear()
                .env("PATH", "/usr/bin:/bin"),
        )
    };
    holds("iosonde --version", &run(&["--version"])?, &bench.version)?;
    // qemu 7 passes on that a file's alignment for direct I/O is known, and not the alignment.
    for words in runs(&["--buffered"]) {
        holds(&words.join(" "), &run(&words)?, "\"iops\"")?;
    }
    answers_to_other_names(&root, Some("/qemu"))?;
    Ok(Outcome::Passed)
}

/// Short runs of the engines that work everywhere, which print a document; `sync` with more flags.
fn runs(sync: &'static [&'static str]) -> [Vec<&'static str>; 3] {
    let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
    let on_file = words("run /data --engine sync --size 16M --seconds 1 --json --no-history");
    [
        words("run --engine null --seconds 1 --json --no-history"),
        words("run --engine sim --seconds 1 --json --no-history"),
        [on_file, sync.to_vec()].concat(),
    ]
}

/// By the name of another tool, the program reads that tool's command line.
fn answers_to_other_names(root: &Path, qemu: Option<&str>) -> Result<(), Failure> {
    for name in crate::linux::contents::LINKS {
        let mut command = in_root(root)?;
        match qemu {
            // The name by which the program is called is not that of its file.
            Some(qemu) => command.args([qemu, "-0", name, "/iosonde"]),
            None => command.arg(format!("/{name}")),
        };
        let said = text(command.arg("--help").env_clear().env("PATH", "/usr/bin:/bin"))?;
        holds(&format!("{name} --help"), &said, &format!("{name} [OPTIONS]"))?;
    }
    Ok(())
}

/// An executable for that processor that asks for no interpreter, and so for no libraries.
pub(super) fn is_static(program: &Path, arch: Arch) -> Result<(), Failure> {
    let head = beginning(program, 4096)?;
    let machine = match arch {
        Arch::X86 => 62_u16,
        Arch::Arm => 183,
    };
    let is_elf =
        head.starts_with(b"\x7fELF") && head.get(18..20) == Some(&machine.to_le_bytes()[..]);
    let loader = head.windows(4).any(|window| window == b"/ld-");
    if is_elf && !loader {
        return Ok(());
    }
    Err(because(format!("{} is not a static program for {}", program.display(), arch.name())))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    output(Command::new("cp").arg("--dereference").arg(from).arg(to)).map(|_| ())
}
