//! The programs that are measured, and what they used.
#![expect(unsafe_code, reason = "the CPU time of child processes has no safe wrapper")]

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::Error;

/// The result of one run of a program.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Run {
    /// I/Os that completed, by the program's own count.
    pub ios: f64,
    /// I/Os a second, as it says.
    pub iops: f64,
    /// CPU seconds of the whole process, in user mode.
    pub user_s: f64,
    /// CPU seconds of the whole process, in the kernel.
    pub system_s: f64,
}

/// The program to measure. Cargo, where it runs this, brings it up to date first.
pub(super) fn find_iosonde(given: Option<PathBuf>) -> Result<PathBuf, Error> {
    // This program may be a debug build, next to the directory of release builds.
    find(given, &["--release"], "../release/iosonde")
}

/// The program with the checks of a debug build.
pub(super) fn find_debug_iosonde(given: Option<PathBuf>) -> Result<PathBuf, Error> {
    find(given, &[], "../debug/iosonde")
}

/// The program that is given, the one that cargo builds with this profile, or the one next to this.
fn find(given: Option<PathBuf>, profile: &[&str], built: &str) -> Result<PathBuf, Error> {
    if let Some(path) = given {
        return Ok(path);
    }
    let beside = env::current_exe()?;
    let path = if let Some(cargo) = env::var_os("CARGO") {
        let arguments = ["build", "--locked", "--quiet", "-p", "iosonde"];
        if !Command::new(cargo).args(arguments).args(profile).status()?.success() {
            return Err("iosonde could not be built".into());
        }
        beside.with_file_name(built)
    } else {
        beside.with_file_name("iosonde")
    };
    if path.exists() {
        return Ok(path);
    }
    let text = format!("there is no {}: build it, or name one with --iosonde", path.display());
    Err(text.into())
}

/// Arguments of iosonde for 4K random reads.
pub(super) fn iosonde_arguments(
    target: &Path,
    engine: &str,
    depth: u32,
    seconds: f64,
) -> Vec<String> {
    let fixed = "--pattern random --block 4K --warmup 0 --json --quiet --no-history";
    let mut arguments = vec!["run".to_owned(), target.display().to_string()];
    arguments.extend(fixed.split(' ').map(str::to_owned));
    arguments.push(format!("--engine={engine}"));
    arguments.push(format!("--depth={depth}"));
    arguments.push(format!("--seconds={seconds}"));
    arguments
}

/// Arguments of fio for 4K random reads with its full latency statistics.
pub(super) fn fio_arguments(target: &Path, engine: &str, depth: u32, seconds: f64) -> Vec<String> {
    let fixed = "--name=bench --readonly --rw=randread --bs=4k --invalidate=0 --norandommap \
                 --randrepeat=0 --time_based --output-format=json";
    let mut arguments: Vec<String> = fixed.split_whitespace().map(str::to_owned).collect();
    arguments.push(format!("--filename={}", target.display()));
    arguments.push(format!("--ioengine={engine}"));
    arguments.push(format!("--iodepth={depth}"));
    arguments.push(format!("--runtime={:.0}ms", seconds * 1e3));
    arguments
}

/// Runs iosonde and reads its result.
pub(super) fn iosonde(program: &Path, arguments: &[String]) -> Result<Run, Error> {
    let (output, user_s, system_s) = timed(program.as_os_str(), arguments)?;
    let result: Value = serde_json::from_slice(&output.stdout)?;
    let number = |pointer: &str| result.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
    Ok(Run { ios: number("/total/ios"), iops: number("/total/iops"), user_s, system_s })
}

/// Runs fio and reads its result.
pub(super) fn fio(arguments: &[String]) -> Result<Run, Error> {
    let (output, user_s, system_s) = timed(OsStr::new("fio"), arguments)?;
    // There may be remarks before the document.
    let start = output.stdout.iter().position(|b| *b == b'{').unwrap_or(0);
    let result: Value = serde_json::from_slice(&output.stdout[start..])?;
    let number = |field: &str| {
        result.pointer(&format!("/jobs/0/read/{field}")).and_then(Value::as_f64).unwrap_or(0.0)
    };
    Ok(Run { ios: number("total_ios"), iops: number("iops"), user_s, system_s })
}

/// I/Os in the result that iosonde has printed.
pub(super) fn ios_of(output: &Output) -> Option<f64> {
    let result: Value = serde_json::from_slice(&output.stdout).ok()?;
    result.pointer("/total/ios")?.as_f64().filter(|ios| *ios > 0.0)
}

/// What a program wrote on its standard error, on one line.
pub(super) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text: Vec<&str> = text.split_whitespace().collect();
    if text.is_empty() { output.status.to_string() } else { text.join(" ") }
}

/// The first line that a program prints about its version; `None` if it cannot be run.
pub(super) fn version(program: &OsStr) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Runs a program to its end; its user and system CPU seconds, with those of all processes it
/// started.
pub(super) fn timed(program: &OsStr, arguments: &[String]) -> Result<(Output, f64, f64), Error> {
    let before = children_cpu();
    let output = Command::new(program).args(arguments).output()?;
    let after = children_cpu();
    if !output.status.success() {
        let (program, why) = (program.to_string_lossy(), complaint(&output));
        return Err(format!("{program} {}: {why}", arguments.join(" ")).into());
    }
    Ok((output, after.0 - before.0, after.1 - before.1))
}

fn children_cpu() -> (f64, f64) {
    // SAFETY: the structure is plain numbers, for which zero is a value, and the kernel fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}
