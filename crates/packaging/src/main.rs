//! Makes the packages of iosonde, and tries them: `./x package` and the stage `package` of
//! `./x test`.
//!
//! `build` compiles static programs and puts them into tarballs, `.deb`, `.rpm` and container
//! images, next to their checksums, their licences and a bill of materials. `try` installs and runs
//! what `build` made, in roots of their own. What has to be installed on this machine first is the
//! business of `./x`.

#[cfg(target_os = "linux")]
mod arch;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod compile;
#[cfg(target_os = "linux")]
mod contents;
#[cfg(target_os = "linux")]
mod deb;
#[cfg(target_os = "linux")]
mod dist;
#[cfg(target_os = "linux")]
mod failure;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod licences;
#[cfg(target_os = "linux")]
mod manifests;
#[cfg(target_os = "linux")]
mod packages;
#[cfg(target_os = "linux")]
mod rpm_file;
#[cfg(target_os = "linux")]
mod sbom;
#[cfg(target_os = "linux")]
mod sums;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(target_os = "linux")]
mod trial;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    commands::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("iosonde-packaging: works on Linux only so far");
    std::process::ExitCode::FAILURE
}
