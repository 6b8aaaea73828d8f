//! What iosonde itself costs: exact counts that CI holds, and ratios against fio.
//!
//! `exact` counts user instructions and system calls for each I/O, which are the same on any machine and under any
//! load. `peers` adds figures of time and CPU, measured in turns with fio, and writes them to `docs/performance.md`.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("iosonde-bench: works on Linux only so far");
    std::process::ExitCode::FAILURE
}
