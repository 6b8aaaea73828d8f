//! The pages that record what was measured, where and how.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::{Error, tools};

/// The circumstances that the figures depend on.
pub(super) struct Setting {
    /// File system and device of the test files.
    pub disk: String,
    /// The version of fio on this machine.
    pub fio: String,
    /// How often each comparison was repeated.
    pub rounds: u32,
    /// Length of a run in seconds.
    pub seconds: f64,
}

/// The text around the table; words in capitals are filled in.
const PAGE: &str = include_str!("performance.md");

/// Fills in the whole page.
pub(super) fn page(iosonde: &Path, setting: &Setting, table: &str) -> String {
    let version = |program: &OsStr| tools::version(program).unwrap_or_else(|| "none".to_owned());
    here(PAGE)
        .replace("{TABLE}", table.trim_end())
        .replace("{DISK}", &setting.disk)
        .replace("{IOSONDE}", &version(iosonde.as_os_str()))
        .replace("{FIO}", &setting.fio)
        .replace("{VALGRIND}", &version(OsStr::new("valgrind")))
        .replace("{STRACE}", &version(OsStr::new("strace")).replace(" -- version ", "-"))
        .replace("{ROUNDS}", &setting.rounds.to_string())
        .replace("{SECONDS}", &setting.seconds.to_string())
}

/// A page with its date and machine filled in.
pub(crate) fn here(page: &str) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    page.replace("{DATE}", &date)
        .replace("{CPU}", model.map_or("unknown", |(_, model)| model.trim()))
        .replace("{CPUS}", &cpus.to_string())
        .replace("{KERNEL}", read("/proc/sys/kernel/osrelease").trim())
}

/// Writes a page, and says where.
pub(crate) fn write(page: &str, path: &Path) -> Result<(), Error> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, page)?;
    eprintln!("written to {}", path.display());
    Ok(())
}

/// The heading of the part that `peers` does not write.
const APART: &str = "# Measured apart";

/// Replaces the part of a page with the same heading, or adds it at the end.
pub(crate) fn put_apart(output: &Path, heading: &str, text: &str) -> Result<(), Error> {
    let page = fs::read_to_string(output)?;
    let (before, after) = match page.find(&format!("\n{heading}\n")) {
        Some(at) => {
            let (before, rest) = page.split_at(at);
            let behind = rest.get(heading.len()..).unwrap_or_default();
            (before.to_owned(), behind.find("\n## ").map_or("", |next| &behind[next..]))
        }
        None if page.contains(&format!("\n{APART}\n")) => (page.clone(), ""),
        None => (format!("{}\n\n{APART}\n", page.trim_end()), ""),
    };
    let page = format!("{}\n\n{heading}\n\n{}\n{after}", before.trim_end(), text.trim_end());
    Ok(fs::write(output, page)?)
}

/// CPU that this thread took so far, in seconds: on a busy machine, what time on the wall would be
/// on an idle one.
pub(crate) fn cpu_seconds() -> Result<f64, Error> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let ns: f64 = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(ns / 1e9)
}
