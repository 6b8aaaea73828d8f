//! The archives for Windows: what the programs in them import, and one of them run by Wine.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

use zip::ZipArchive;

use super::program::has_no_path;
use super::{Bench, Outcome, beginning, holds};
use crate::linux::arch::{Arch, Platform, System};
use crate::linux::contents::LINKS;
use crate::linux::failure::{Failure, because, read, text};

/// What every Windows has. A program that asks for another library does not start there.
const LIBRARIES: [&str; 15] = [
    "advapi32.dll",
    "bcrypt.dll",
    "bcryptprimitives.dll",
    "crypt32.dll",
    "kernel32.dll",
    "msvcrt.dll",
    "ntdll.dll",
    "ole32.dll",
    "oleaut32.dll",
    "pdh.dll",
    "secur32.dll",
    "user32.dll",
    "userenv.dll",
    "winmm.dll",
    "ws2_32.dll",
];

/// Unpacks each archive and looks at the program; runs the one for x86-64.
pub(super) fn runs_under_wine(bench: &Bench) -> Result<Outcome, Failure> {
    let mut last = Outcome::Skipped("there is no archive for Windows".to_owned());
    for arch in [Arch::Arm, Arch::X86] {
        let platform = Platform::new(System::Windows, arch);
        let archive = bench.dist.join(format!("{}.zip", bench.stem(platform)));
        if archive.exists() {
            let place = unpacked(bench, &archive, platform)?;
            let program = place.join(platform.program());
            is_for(&program, arch)?;
            has_no_path(bench, &read(&program)?, platform.name())?;
            last = match arch {
                Arch::Arm => Outcome::Passed,
                Arch::X86 => run(bench, &place)?,
            };
        }
    }
    Ok(last)
}

fn unpacked(bench: &Bench, archive: &Path, platform: Platform) -> Result<PathBuf, Failure> {
    let place = bench.directory(platform.name())?;
    let wrong = |error| because(format!("{}: {error}", archive.display()));
    let mut files = ZipArchive::new(Cursor::new(read(archive)?)).map_err(wrong)?;
    files.extract(&place).map_err(wrong)?;
    Ok(place.join(bench.stem(platform)))
}

/// A program for this processor that imports only what every Windows has.
fn is_for(program: &Path, arch: Arch) -> Result<(), Failure> {
    let head = beginning(program, 4096)?;
    let word = |at: usize| head.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
    let start = word(0x3c).map_or(0, usize::from);
    let machine = match arch {
        Arch::X86 => 0x8664,
        Arch::Arm => 0xaa64,
    };
    if !head.starts_with(b"MZ") || word(start + 4) != Some(machine) {
        return Err(because(format!("{} is not for {}", program.display(), arch.name())));
    }
    let bytes = read(program)?;
    let foreign: Vec<String> = libraries(&bytes)
        .into_iter()
        .filter(|name| !name.starts_with("api-ms-win-") && !LIBRARIES.contains(&name.as_str()))
        .collect();
    if foreign.is_empty() {
        return Ok(());
    }
    Err(because(format!("the program for {} asks for {}", arch.name(), foreign.join(", "))))
}

/// The names of libraries in a program, wherever they stand: those that it imports, and those that
/// it asks for by name.
fn libraries(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, window) in bytes.windows(5).enumerate() {
        if !window[..4].eq_ignore_ascii_case(b".dll") || window[4] != 0 {
            continue;
        }
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        let name: Vec<u8> = bytes[..at].iter().rev().take_while(is_name).copied().collect();
        let name = String::from_utf8_lossy(&name).chars().rev().collect::<String>();
        let name = format!("{}.dll", name.to_lowercase());
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Measures, and answers to the names of other tools.
fn run(bench: &Bench, place: &Path) -> Result<Outcome, Failure> {
    if std::env::var_os("WINEPREFIX").is_none() {
        return Ok(Outcome::Skipped("WINEPREFIX does not name a prefix of Wine".to_owned()));
    }
    let wine = |words: &[&str]| text(Command::new("wine").args(words).current_dir(place));
    holds("iosonde --version", &wine(&["iosonde.exe", "--version"])?, &bench.version)?;
    for engine in ["null", "sim"] {
        let words = ["iosonde.exe", "run", "--engine", engine, "-d", "1", "--json", "--no-history"];
        holds(engine, &wine(&words)?, "\"iops\"")?;
    }
    let words = ["iosonde.exe", "run", ".", "-s", "16M", "-d", "1", "--json", "--no-history"];
    holds("run", &wine(&words)?, "\"iops\"")?;
    for name in LINKS {
        let file = format!("{name}.cmd");
        let said = wine(&["cmd", "/c", &file, "--help"])?;
        holds(&file, &said, &format!("{name} [OPTIONS]"))?;
    }
    Ok(Outcome::Passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_by_their_names() {
        let bytes = b"\0KERNEL32.dll\0x.dlls\0\x01api-ms-win-core-1-1-0.DLL\0.dll\0kernel32.dll\0";
        let expected = ["kernel32.dll", "api-ms-win-core-1-1-0.dll", ".dll"];
        assert_eq!(libraries(bytes), expected);
        assert_eq!(libraries(b".dl"), Vec::<String>::new());
    }
}
