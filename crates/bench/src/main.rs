//! What iosonde itself costs, and how right it is: exact counts that CI enforces, ratios to fio,
//! and known answers.
//!
//! `exact` counts user instructions and system calls per I/O, which are the same on any machine and
//! under any load. `peers` adds figures of time and CPU, measured in turns with fio, and writes
//! them to `docs/performance.md`. `accuracy` compares iosonde with known truths, and writes that to
//! `docs/accuracy.md`. `history` times the queries of a large store. `reports` makes the report of
//! 576 cells in every format, and prints how long that takes and how large it is. `integrity` lets
//! a device make faults, and writes to `docs/integrity.md` which of them iosonde and fio find.
//! `capture` measures what recording costs, `replay` how punctual a replay is, next to fio.
//! `import` imports ten thousand runs of SQLIO. `soak` ends commands that record into one history.
//! `fuzz` feeds changed fixtures to every reader of foreign files. `force` attacks files of others
//! with every command that writes.

#[cfg(target_os = "linux")]
mod accuracy;
#[cfg(target_os = "linux")]
mod fuzz;
#[cfg(target_os = "linux")]
mod history;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod pages;
#[cfg(target_os = "linux")]
mod reports;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("iosonde-bench: works on Linux only so far");
    std::process::ExitCode::FAILURE
}
