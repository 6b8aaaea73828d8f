//! What fio's verification says of a device.

use std::path::Path;
use std::process::Command;

use truth::{Fault, FaultPlan, Torn, Truth, When};

use super::{Error, Scenario, Score, model};
use crate::linux::tools;

const BLOCK: u64 = 4096;
const SIZE: u64 = 4 << 20;
/// Of the 1024 blocks, 62 or so.
const EVERY: u64 = 16;

/// What fio is asked to do.
#[derive(Debug, Clone, Copy)]
struct FioRun {
    scenario: Scenario,
    block_bytes: u64,
    seed: u32,
    /// The option that verifies: `--do_verify=…` or `--verify_only`.
    verify: &'static str,
}

const WRITES: &str = "--do_verify=0";
const WRITES_AND_READS: &str = "--do_verify=1";
const READS: &str = "--verify_only=1";

/// Runs fio on a device on which this goes wrong.
pub(super) fn score(fault: Fault, scenario: Scenario) -> Result<Score, Error> {
    scored(fault, FioRun { scenario, block_bytes: BLOCK, seed: 1, verify: WRITES_AND_READS })
}

/// What it says of blocks of 8 KiB that are written again with the same seed and torn after so many
/// sectors.
pub(super) fn score_torn(sectors: u64) -> Result<Score, Error> {
    let fault = Fault::TornWrite(Torn::Prefix(sectors));
    let (scenario, block_bytes) = (Scenario::Same, 2 * BLOCK);
    scored(fault, FioRun { scenario, block_bytes, seed: 1, verify: WRITES_AND_READS })
}

fn scored(fault: Fault, asked: FioRun) -> Result<Score, Error> {
    let truth = Truth::mount(model(), &[SIZE])?;
    let file = truth.path(0);
    let wrong = || truth.inject(vec![FaultPlan::new(fault, When::Every(EVERY))]);
    let of_reads = matches!(
        fault,
        Fault::BitFlipRead | Fault::MisdirectedRead | Fault::StaleRead | Fault::ZeroRead
    );
    let said = match asked.scenario {
        Scenario::Later => {
            if !of_reads {
                wrong();
            }
            fio(&file, FioRun { verify: WRITES, ..asked })?;
            if of_reads {
                wrong();
            }
            fio(&file, FioRun { verify: READS, ..asked })?
        }
        Scenario::Same | Scenario::Seed => {
            let seed = if asked.scenario == Scenario::Seed { 2 } else { asked.seed };
            fio(&file, FioRun { seed, verify: WRITES, ..asked })?;
            wrong();
            fio(&file, asked)?
        }
        Scenario::Fresh | Scenario::Overlap => {
            wrong();
            fio(&file, asked)?
        }
    };
    let mut score = Score::new(&truth.injected(), asked.block_bytes);
    score.found = wrong_blocks(&said, asked.block_bytes).collect();
    Ok(score)
}

fn fio(file: &Path, asked: FioRun) -> Result<String, Error> {
    let fixed = "--name=verify --rw=randwrite --direct=1 --ioengine=libaio --iodepth=8 \
                 --verify=crc32c --verify_fatal=0 --continue_on_error=verify \
                 --verify_state_save=0 --output-format=json --overwrite=1";
    let mut command = Command::new("fio");
    command.args(fixed.split_whitespace()).arg(asked.verify);
    command.arg(format!("--filename={}", file.display())).arg(format!("--size={SIZE}"));
    command.arg(format!("--bs={}", asked.block_bytes)).arg(format!("--randseed={}", asked.seed));
    if asked.scenario == Scenario::Overlap {
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
fn wrong_blocks(said: &str, block_bytes: u64) -> impl Iterator<Item = u64> {
    let lines = said.lines().filter(|line| line.contains("verify") && line.contains(" at file "));
    lines.filter_map(move |line| {
        let (_, behind) = line.rsplit_once("requested block: offset=")?;
        let digits = behind.split(',').next()?;
        digits.trim().parse::<u64>().ok().map(|offset| offset / block_bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_are_those_that_were_asked_for() {
        let said = "verify: bad magic header 0, wanted acca at file /f offset 20480, length 4096 \
            (requested block: \
                    offset=20480, length=4096)\n\
                    crc32c: verify failed at file /f offset 0, length 0 (requested block: \
                    offset=8192, length=4096, flags=84)\n\
                    fio: something else at file /f\n";
        assert_eq!(wrong_blocks(said, BLOCK).collect::<Vec<_>>(), [5, 2]);
    }
}
