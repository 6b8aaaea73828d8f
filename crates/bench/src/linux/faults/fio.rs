//! What fio's verification says of a device.

use std::path::Path;
use std::process::Command;

use truth::{Fault, FaultPlan, Truth, When};

use super::{Error, Scenario, Score, model};
use crate::linux::tools;

const BLOCK: u64 = 4096;
const SIZE: u64 = 4 << 20;
/// Of the 1024 blocks, 62 or so.
const EVERY: u64 = 16;

/// Runs fio on a device on which this goes wrong.
pub(super) fn score(fault: Fault, scenario: Scenario) -> Result<Score, Error> {
    let truth = Truth::mount(model(), &[SIZE])?;
    let file = truth.path(0);
    if scenario == Scenario::Same {
        fio(&file, scenario, false)?;
    }
    truth.inject(vec![FaultPlan::new(fault, When::Every(EVERY))]);
    let said = fio(&file, scenario, true)?;
    let mut score = Score::new(&truth.injected(), BLOCK);
    score.found = wrong_blocks(&said).collect();
    Ok(score)
}

fn fio(file: &Path, scenario: Scenario, verify: bool) -> Result<String, Error> {
    let fixed = "--name=verify --rw=randwrite --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --verify=crc32c \
                 --verify_fatal=0 --continue_on_error=verify --verify_state_save=0 --output-format=json --overwrite=1";
    let mut command = Command::new("fio");
    command.args(fixed.split_whitespace());
    command.arg(format!("--filename={}", file.display())).arg(format!("--size={SIZE}"));
    command.arg(format!("--do_verify={}", u8::from(verify)));
    if scenario == Scenario::Overlap {
        command.args(["--norandommap", "--serialize_overlap=1"]);
    }
    let output = command.output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // It fails where it has found something.
    if output.stdout.first() != Some(&b'{') && !said.contains("verify") {
        return Err(format!("fio: {}", tools::complaint(&output)).into());
    }
    Ok(said)
}

/// The blocks that it says are wrong.
fn wrong_blocks(said: &str) -> impl Iterator<Item = u64> {
    let lines = said.lines().filter(|line| line.contains("verify") && line.contains(" at file "));
    lines.filter_map(|line| {
        let (_, behind) = line.rsplit_once("requested block: offset=")?;
        let digits = behind.split(',').next()?;
        digits.trim().parse::<u64>().ok().map(|offset| offset / BLOCK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_are_those_that_were_asked_for() {
        let said = "verify: bad magic header 0, wanted acca at file /f offset 20480, length 4096 (requested block: \
                    offset=20480, length=4096)\n\
                    crc32c: verify failed at file /f offset 0, length 0 (requested block: offset=8192, length=4096, flags=84)\n\
                    fio: something else at file /f\n";
        assert_eq!(wrong_blocks(said).collect::<Vec<_>>(), [5, 2]);
    }
}
