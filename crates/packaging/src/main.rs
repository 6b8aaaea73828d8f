//! Makes the packages of iosonde, and tries them: `./x package` and the stage `package` of
//! `./x test`.
//!
//! `build` compiles static programs and puts them into tarballs, `.deb`, `.rpm` and container
//! images, next to their checksums, their licences and a bill of materials. `try` installs and runs
//! what `build` made, each in its own root. What has to be installed on this machine first is the
//! business of `./x`.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("iosonde-packaging: works on Linux only so far");
    std::process::ExitCode::FAILURE
}
