//! The RPM package, by RPM's own tools.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{Bench, Outcome, holds, is_root};
use crate::linux::arch::Arch;
use crate::linux::failure::{Failure, because, finish, output, read, text};

/// Reads the packages of all processors; installs, verifies and removes that of this machine.
pub(super) fn is_a_package_that_leaves_nothing(bench: &Bench) -> Result<Outcome, Failure> {
    let version = &bench.version;
    let file = |arch: Arch| bench.dist.join(format!("iosonde-{version}-1.{}.rpm", arch.name()));
    for arch in [Arch::X86, Arch::Arm].into_iter().filter(|arch| file(*arch).exists()) {
        // Digests of the header and the files, without a signature.
        output(Command::new("rpm").args(["--checksig", "--nosignature"]).arg(file(arch)))?;
        let query =
            |words: &[&str]| text(Command::new("rpm").arg("-qp").args(words).arg(file(arch)));
        let head = query(&["--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE}"])?;
        let expected = format!("iosonde {version} {} Apache-2.0 OR MIT", arch.name());
        holds("the header", &head, &expected)?;
        let files = query(&["--list"])?;
        for path in ["/usr/bin/sqlio", "/usr/share/man/man1/iosonde.1.gz", "/iosonde/copyright"] {
            holds("the list of files", &files, path)?;
        }
        // A static program needs nothing but what RPM itself can do, and a shell for its scripts.
        let needs = query(&["--requires"])?;
        let other = needs.lines().find(|need| !need.starts_with("rpmlib(") && *need != "/bin/sh");
        if let Some(other) = other {
            return Err(because(format!("the package for {} needs {other}", arch.name())));
        }
    }
    if !is_root() {
        return Ok(Outcome::Skipped("only root can install packages".to_owned()));
    }
    let root = bench.directory("rpm-root")?;
    let rpm = |words: &[&str]| {
        let mut command = Command::new("rpm");
        command.arg(format!("--root={}", root.display())).args(words);
        command
    };
    output(&mut rpm(&["--initdb"]))?;
    let before = listed(&root)?;
    // The root has no shell, so scripts are left out; those are in the trial of the .deb.
    let package = file(bench.host).display().to_string();
    output(&mut rpm(&["--install", "--noscripts", "--nodeps", &package]))?;
    output(&mut rpm(&["--verify", "--nodeps", "iosonde"]))?;
    let unpacked = bench.unpacked(bench.host, "rpm-tarball")?;
    if read(&root.join("usr/bin/iosonde"))? != read(&unpacked.join("iosonde"))? {
        return Err(because("the program is not that of the tarball"));
    }
    output(&mut rpm(&["--erase", "--noscripts", "iosonde"]))?;
    let left: Vec<String> = listed(&root)?.difference(&before).cloned().collect();
    if finish(&mut rpm(&["--query", "iosonde"]))?.status.success() || !left.is_empty() {
        return Err(because(format!("left after removal: {}", left.join(", "))));
    }
    Ok(Outcome::Passed)
}

/// Everything below a root that is not a directory, or of RPM itself. A system without packages has
/// no /usr/bin either, and RPM leaves directories that no package owns.
fn listed(root: &Path) -> Result<BTreeSet<String>, Failure> {
    let found = text(Command::new("find").current_dir(root).args([".", "!", "-type", "d"]))?;
    Ok(found.lines().filter(|path| !path.contains("/lib/")).map(str::to_owned).collect())
}
