//! The Debian package in a bare Debian: installed, used, and removed. Only measurements remain.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{Bench, Outcome, holds, is_root};
use crate::linux::failure::{Failure, because, output, text};

/// Where a history is, and where reports go in this trial.
const KEPT: [&str; 2] = ["./root/.local", "./root/reports"];

/// Directories in which a package manager notes what it does.
const NOTES: [&str; 4] = ["./var/lib/dpkg", "./var/log", "./var/cache", "./var/lib/systemd"];

/// Installs the package of this machine's processor in a new root.
pub(super) fn installs_and_leaves_only_the_history(bench: &Bench) -> Result<Outcome, Failure> {
    if !is_root() {
        return Ok(Outcome::Skipped("only root can make a bare Debian".to_owned()));
    }
    let root = bench.place.path().join("debian");
    bare_debian(&root)?;
    let inside = |words: &[&str]| -> Result<String, Failure> { text(&mut chroot(&root, words)) };
    let before = listed(&root)?;
    let name = format!("iosonde_{}-1_{}.deb", bench.version, bench.host.debian());
    output(Command::new("cp").arg(bench.dist.join(&name)).arg(root.join("iosonde.deb")))?;
    inside(&["dpkg", "--install", "/iosonde.deb"])?;
    inside(&["rm", "/iosonde.deb"])?;
    let status = inside(&["dpkg", "--status", "iosonde"])?;
    holds("dpkg --status", &status, "Status: install ok installed")?;
    inside(&["dpkg", "--verify", "iosonde"])?;
    inside(&["bash", "-n", "/usr/share/bash-completion/completions/iosonde"])?;
    inside(&["mkdir", "-p", "/root/data", "/root/reports"])?;
    let assess = "cd /root/reports && iosonde assess /root/data --pace glance --size 64M";
    let said = inside(&["sh", "-c", assess])?;
    holds("iosonde assess", &said, "IOPS")?;
    let reports = inside(&["ls", "/root/reports"])?;
    holds("the directory of reports", &reports, ".html")?;
    let history = inside(&["iosonde", "history", "list"])?;
    holds("iosonde history list", &history, "assess")?;
    inside(&["rmdir", "/root/data"])?;
    enabled_units_are_disabled(&root)?;
    inside(&["dpkg", "--purge", "iosonde"])?;
    let after = listed(&root)?;
    let kept = |path: &&String| KEPT.iter().any(|kept| path.starts_with(kept));
    let added: Vec<&String> = after.difference(&before).collect();
    if !added.iter().any(|path| path.starts_with("./root/.local/")) {
        return Err(because(format!("the history is gone: {added:?}")));
    }
    let left: Vec<&String> = added.into_iter().filter(|path| !kept(path)).collect();
    let gone: Vec<&String> = before.difference(&after).collect();
    if left.is_empty() && gone.is_empty() {
        return Ok(Outcome::Passed);
    }
    Err(because(format!("after removal, left: {left:?}; gone: {gone:?}")))
}

/// Makes links as `systemctl enable` does; the removal has to take them away.
fn enabled_units_are_disabled(root: &Path) -> Result<(), Failure> {
    let script = "cd /etc/systemd/system 2>/dev/null || mkdir -p /etc/systemd/system && \
        cd /etc/systemd/system && mkdir -p timers.target.wants && \
        ln -s /usr/lib/systemd/system/iosonde-baseline@.timer \
        timers.target.wants/iosonde-baseline@data.timer";
    output(&mut chroot(root, &["sh", "-c", script])).map(|_| ())
}

/// A command in the root, with the file systems of the kernel that a running system has.
fn chroot(root: &Path, words: &[&str]) -> Command {
    let script = "mount -t proc proc \"$0/proc\" && mount -t sysfs sys \"$0/sys\" && \
        exec chroot \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).arg(root).args(words);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("HOME", "/root").env("LC_ALL", "C.UTF-8").env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Installs the smallest Debian (or Ubuntu) from where this machine gets its own packages.
fn bare_debian(root: &Path) -> Result<(), Failure> {
    let format = "$(SITE) $(CODENAME) $(RELEASE) $(COMPONENT)";
    let mut targets = Command::new("apt-get");
    targets.args(["indextargets", "--format", format, "Created-By: Packages"]);
    let targets = text(&mut targets)?;
    let (site, release) = source(&targets).ok_or_else(|| {
        because(format!("apt knows no release to install from; it knows:\n{targets}"))
    })?;
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", release]).arg(root).arg(site);
    output(debootstrap.env("DEBIAN_FRONTEND", "noninteractive")).map(|_| ())
}

/// The first main archive of a release itself, and not of its updates: site and code name.
fn source(targets: &str) -> Option<(&str, &str)> {
    targets.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [site, codename, _, "main"] = words[..] else { return None };
        let is_release =
            !codename.contains('-') && (site.starts_with("http") || site.starts_with('/'));
        is_release.then_some((site, codename))
    })
}

/// Everything in the root but the notes of the package manager.
fn listed(root: &Path) -> Result<BTreeSet<String>, Failure> {
    let found = text(Command::new("find").current_dir(root).args([".", "-xdev"]))?;
    let noted = |path: &&str| NOTES.iter().any(|notes| path.starts_with(notes));
    Ok(found.lines().filter(|path| !noted(path)).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_release_itself_is_taken_and_not_its_updates() {
        let targets = "http://mirror/security/ bookworm-security bookworm-security main\n\
            http://mirror/debian/ bookworm-updates bookworm-updates main\n\
            http://mirror/debian/ bookworm bookworm contrib\n\
            http://mirror/debian/ bookworm bookworm main\n";
        assert_eq!(source(targets), Some(("http://mirror/debian/", "bookworm")));
        assert_eq!(source("http://other/ stable stable contrib\n"), None);
    }

    proptest! {
        #[test]
        fn no_list_panics(text in ".*") {
            source(&text);
        }
    }
}
