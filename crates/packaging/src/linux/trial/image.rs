//! The container images: two independent tools read them, and the program runs in an image that one
//! of them unpacked.

use std::process::Command;

use serde_json::Value;

use super::{Bench, Outcome, holds, in_root, is_root};
use crate::linux::arch::Arch;
use crate::linux::failure::{Failure, because, output, text};

/// Reads the images of all processors, and runs that of this machine.
pub(super) fn is_an_image_that_runs(bench: &Bench) -> Result<Outcome, Failure> {
    let version = &bench.version;
    let file = |arch: Arch| bench.dist.join(format!("iosonde-{version}-oci-{}.tar", arch.debian()));
    for arch in [Arch::X86, Arch::Arm].into_iter().filter(|arch| file(*arch).exists()) {
        let archive = format!("oci-archive:{}", file(arch).display());
        let config = output(Command::new("skopeo").args(["inspect", "--config", &archive]))?;
        let config: Value = serde_json::from_slice(&config)
            .map_err(|error| because(format!("cannot read the configuration: {error}")))?;
        holds("the configuration", &config["architecture"].to_string(), arch.debian())?;
        holds("the configuration", &config["config"]["User"].to_string(), "65532:65532")?;
    }
    let layout = bench.directory("layout")?;
    let archive = format!("oci-archive:{}", file(bench.host).display());
    let to = format!("oci:{}:{version}", layout.display());
    // Copying checks the digest of every blob.
    output(Command::new("skopeo").args(["--insecure-policy", "copy", &archive, &to]))?;
    let bundle = bench.place.path().join("bundle");
    let mut umoci = Command::new("umoci");
    umoci.args(["unpack", "--image", &format!("{}:{version}", layout.display())]);
    if !is_root() {
        umoci.arg("--rootless");
    }
    output(umoci.arg(&bundle))?;
    let root = bundle.join("rootfs");
    for name in ["bin/sh", "usr/bin/sh", "lib", "usr/lib"] {
        if root.join(name).exists() {
            return Err(because(format!("the image has /{name}, which the program does not need")));
        }
    }
    if !is_root() {
        return Ok(Outcome::Skipped("only root can run the image as its own user".to_owned()));
    }
    let run = |words: &str| {
        let mut command = in_root(&root)?;
        command.args(["--setgid=65532", "--setuid=65532", "--wd=/data", "/usr/bin/iosonde"]);
        command.args(words.split(' '));
        text(command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/var/lib/iosonde"))
    };
    let done = run("run /data --engine sync --size 16M --seconds 1 --json")?;
    holds("a run in the image", &done, "\"iops\"")?;
    // Its user may write to the place of the history.
    holds("the history", &run("history list --json")?, "\"id\"")?;
    Ok(Outcome::Passed)
}
