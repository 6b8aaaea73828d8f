//! An assessment of several hosts together, by real agents on one device whose capacity the kernel
//! limits: every role gets the verdict that follows from it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use truth::{Limits, Throttle};

use super::Error;
use super::commands::{list, text};
use super::places::Place;
use crate::linux::clean::Mounted;

/// What the device does for all hosts together.
const DEVICE: Limits = Limits {
    read_iops: Some(2000),
    write_iops: Some(2000),
    read_bytes_per_s: Some(64 << 20),
    write_bytes_per_s: None,
};
/// What they need together, what there is, and whether that is enough. The kernel lets I/Os through
/// in slices of 100 ms, so what is enough is far from the limit.
const ROLES: [Asked; 2] = [
    Asked { role: "oltp_data", need: "oltp=400iops", truth: "2,000 IOPS", is_fit: true },
    Asked { role: "dss_data", need: "scan=200MiBps", truth: "64 MiB/s", is_fit: false },
];

/// A role, and what is needed of it.
struct Asked {
    role: &'static str,
    need: &'static str,
    truth: &'static str,
    is_fit: bool,
}

/// The table, and whether every verdict is right. Without loop devices or limits, why not.
pub(super) fn run(iosonde: &Path) -> Result<(String, bool), Error> {
    let place = Place::new(iosonde)?;
    let mounted = match Mounted::new(place.path(), &["mkfs.ext4", "-q"]) {
        Ok(mounted) => mounted,
        Err(why) => return Ok((format!("together: skipped, because {why}\n"), true)),
    };
    let throttle = match Throttle::new(mounted.device.path(), &DEVICE) {
        Ok(throttle) => throttle,
        Err(why) => return Ok((format!("together: skipped, because {why}\n"), true)),
    };
    let needs = ROLES.map(|asked| asked.need).join(",");
    let target = format!("{}/{{host}}.test", mounted.path.display());
    let words = ["assess", &target, "--together", "--size", "128M", "--pace", "quick"];
    let mut command = place.fleet(&words, "a,b,c");
    command.args(["--need", &needs, "--json"]);
    let begun = Instant::now();
    let output = throttle.within(|| command.output())??;
    let document: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let (hosts, status) = (list(&document, "/hosts").len(), text(&document, "status"));
    let mut table = format!(
        "An assessment of {hosts} hosts together on one throttled device, {status} after {:.0} s\n\
         \n\
         | role | needed of all | the device has | verdict |\n|---|--:|--:|---|\n",
        begun.elapsed().as_secs_f64()
    );
    let mut holds = hosts == 3 && status == "complete";
    for Asked { role, need, truth, is_fit } in ROLES {
        let verdict = list(&document, "/verdicts").iter().find(|v| text(v, "role") == role);
        let grade = verdict.map_or("none", |verdict| text(verdict, "grade"));
        let is_right = if is_fit {
            ["excellent", "good", "acceptable"].contains(&grade)
        } else {
            grade == "unfit"
        };
        holds &= is_right;
        let wrong = if is_right { "" } else { "**wrong:** " };
        let _ = writeln!(table, "| {role} | {need} | {truth} | {wrong}{grade} |");
    }
    Ok((table, holds))
}
