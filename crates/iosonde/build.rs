//! How the program is linked.

use std::env;

/// A debug build, which the tests start four thousand times, is at a fixed address: relocating its
/// 300,000 pointers takes a third of the CPU time of a start. A release build can be anywhere.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|set| set == value);
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
