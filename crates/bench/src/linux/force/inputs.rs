//! What the commands read, and that each of them works: it writes to a free name, and with its
//! permit to a foreign file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::commands::{Attacked, Writes};
use super::{Ended, Run, end_of};
use crate::linux::{Error, tools};

const JOB: &str = "[a]\nfilename=f.dat\nrw=write\nbs=4k\nsize=1m\n";
/// IOMeter's configuration of one worker on a disk that stands for a directory.
const ICF: &str = include_str!("../../../../iosonde/tests/it/windows/nightly.icf");
const UNFINISHED: &str = "sweep . --size 1M --blocks 4K,8K,16K,32K --depths 1,2,4 -d 1 --warmup 0 \
                          --settle 0 -q --history unfinished.db";

/// A directory with inputs, and what iosonde wrote for each command.
pub(super) struct Inputs {
    pub directory: PathBuf,
    /// The identifier of the experiment in the unfinished history.
    pub id: String,
    pub own: Vec<Option<PathBuf>>,
}

impl Inputs {
    /// Makes the inputs, and tries every command.
    pub(super) fn new(run: &Run, root: &Path, commands: &[Attacked]) -> Result<Self, Error> {
        let directory = root.join("in");
        fs::create_dir_all(directory.join("d"))?;
        let write = |name: &str, text: &str| fs::write(directory.join(name), text);
        write("job.fio", JOB)?;
        write("c.icf", ICF)?;
        write("one.bat", "sqlio -kW -s1 -fsequential -t1 -o1 -b4 t.dat > o.txt\n")?;
        write("more.bat", "sqlio -kW -s1 -fsequential -t1 -o1 -b4 t.dat >> o.txt\n")?;
        let line = |n: u64| {
            let kind = if n.is_multiple_of(2) { 'W' } else { 'R' };
            format!("0,{kind},{},4096,{}\n", n * 4096, 1000 * n)
        };
        write("t.csv", &(1..200).map(line).collect::<String>())?;
        for (name, flags) in [("ssh", ""), ("ssh-destroy", "--allow-destroy $FILE")] {
            let text = format!(
                "#!/bin/sh\nexec {} agent --stdio --allow $DIRECTORY --audit $DIRECTORY/agent.log \
                 --no-history {flags}\n",
                run.iosonde.display()
            );
            write(name, &text)?;
            fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755))?;
        }
        let small = "--size 1M -d 0.1 --warmup 0";
        let said = |words: &str| run.iosonde_in(&directory, words);
        write("r.json", &said(&format!("run d {small} --json -q --history h.db"))?)?;
        let plan = said(&format!("run d {small} --print-plan"))?;
        write("plan.toml", &plan.replace("path = \"d\"", "path = \".\""))?;
        said(&format!("run own.test {small} -q --keep --no-history"))?;
        write(
            "sqlio.txt",
            &said("sqlio -kW -fsequential -s1 -t1 -o1 -b4 d/s.dat --size 1M --no-history")?,
        )?;
        said("capture import t.csv --from alibaba -o t.iotrace")?;
        let id = unfinished(run, &directory)?;
        let mut inputs = Self { directory, id, own: Vec::new() };
        for (number, command) in commands.iter().enumerate() {
            let own = inputs.try_out(run, &root.join("out"), command, number)?;
            inputs.own.push(own);
        }
        Ok(inputs)
    }

    /// The file of a command.
    pub(super) fn file(&self, command: &Attacked) -> String {
        command.file.replace("{id}", &self.id)
    }

    /// Runs a command on a free name, and on a foreign file that its flag gives up.
    fn try_out(
        &self,
        run: &Run,
        root: &Path,
        command: &Attacked,
        number: usize,
    ) -> Result<Option<PathBuf>, Error> {
        let file = root.join("here").join(self.file(command));
        let test_file = self.directory.join("own.test");
        let begin = |content: Option<&[u8]>| {
            let _ = fs::remove_dir_all(root);
            fs::create_dir_all(root.join("here"))?;
            content.map_or(Ok(()), |content| fs::write(&file, content))
        };
        let failed =
            |ended: Ended| Error::from(format!("{} does not work: {ended:?}", command.words));
        if command.writes == Writes::Removes {
            return Ok(Some(test_file));
        }
        begin(None)?;
        let ended = run.attack(command, self, &file, None)?;
        if !ended.went_on() {
            return Err(failed(ended));
        }
        if command.writes == Writes::Target {
            if command.has_permit() {
                let before = vec![b'x'; 1 << 20];
                begin(Some(&before))?;
                let ended = run.attack(command, self, &file, Some(""))?;
                if !ended.went_on() || fs::read(&file)? == before {
                    return Err(failed(ended));
                }
            }
            return Ok(Some(test_file));
        }
        // Locks, turns and journals end with the run.
        let own = self.directory.join(format!("own-{number}"));
        let own = fs::copy(&file, &own).ok().map(|_| own);
        if command.has_permit() {
            begin(Some(b"foreign"))?;
            let ended = run.attack(command, self, &file, Some(""))?;
            if !ended.went_on() || fs::read(&file)? == b"foreign" {
                return Err(failed(ended));
            }
        }
        Ok(own)
    }
}

/// A history with an experiment that ended at a signal.
fn unfinished(run: &Run, directory: &Path) -> Result<String, Error> {
    let mut command = Command::new(&run.iosonde);
    command.args(UNFINISHED.split(' ')).current_dir(directory).env("HOME", directory);
    let ended = end_of(&mut command, &directory.join("said"), Duration::from_millis(2500))?;
    let history = rusqlite::Connection::open(directory.join("unfinished.db"))?;
    let id = history.query_row("SELECT id FROM experiments", [], |row| row.get(0));
    let id = id.map_err(|error| format!("no unfinished experiment: {error}; {ended:?}"))?;
    // Moves what is in its log into the file.
    history.close().map_err(|(_, error)| error)?;
    Ok(id)
}

impl Run {
    /// What a command that must work prints.
    fn iosonde_in(&self, directory: &Path, words: &str) -> Result<String, Error> {
        let mut command = Command::new(&self.iosonde);
        command.args(words.split(' ')).current_dir(directory);
        command.env("HOME", directory).env("IOSONDE_CONFIG", "");
        let output = command.output()?;
        if !output.status.success() {
            return Err(format!("iosonde {words}: {}", tools::complaint(&output)).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}
