//! What an agent measured for a coordinator that went away: kept on the disk of the host until one
//! comes and fetches it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use inspect::files::{Draft, Place, Readers};
use inspect::reading;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A file name has at most so many characters of the name of a run or host.
const NAME_CHARS: usize = 100;
/// A result that nobody fetched for so long is removed.
const AGE_MAX: Duration = Duration::from_secs(30 * 24 * 3600);
/// A result has no more bytes.
const RESULT_BYTES_MAX: u64 = 256 << 20;

/// The result of one run on one host, and when it began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptResult {
    /// Identifier of the run, the same on every host.
    pub(crate) run: String,
    /// How long after the named moment its last thread began.
    pub(crate) late_ns: Option<u64>,
    /// How long after that moment its window began.
    pub(crate) window_ns: Option<u64>,
    /// The document of what the host measured, as JSON.
    pub(crate) measurement: Value,
}

/// Where results wait: one file for each run and each name of this host.
#[derive(Debug)]
pub(crate) struct Keepsake {
    directory: PathBuf,
    run: String,
    file: Option<PathBuf>,
    /// How late the run began, and when its window begins; `None` before its threads started.
    pub(crate) started: Option<(u64, u64)>,
}

impl Keepsake {
    /// The results in the directory next to the log of commands.
    pub(crate) fn beside(audit: &Path) -> Self {
        let directory = audit.with_file_name("fleet-results");
        Self { directory, run: String::new(), file: None, started: None }
    }

    /// Notes the run that is prepared now, and what its coordinator calls this host.
    pub(crate) fn name(&mut self, run: &str, host: &str) {
        self.file = Some(self.path(run, host));
        (self.run, self.started) = (run.to_owned(), None);
    }

    fn path(&self, run: &str, host: &str) -> PathBuf {
        self.directory.join(format!("{}@{}.json", plain(run), plain(host)))
    }

    /// Keeps what the run measured, whole or not at all.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn keep(&self, measurement: &Value) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let kept = KeptResult {
            run: self.run.clone(),
            late_ns: self.started.map(|started| started.0),
            window_ns: self.started.map(|started| started.1),
            measurement: measurement.clone(),
        };
        let write = || -> io::Result<()> {
            fs::create_dir_all(&self.directory)?;
            self.remove_old();
            remove_result(file)?;
            let mut draft = Draft::of(&Place::of(file)?, Readers::Anybody)?;
            draft.file().write_all(&serde_json::to_vec(&kept)?)?;
            draft.file().sync_all()?;
            draft.publish()
        };
        write().map_err(|error| format!("cannot keep `{}`: {error}", file.display()))
    }

    /// Removes the result of the current run, because the coordinator has it.
    pub(crate) fn forget(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = remove_result(&file);
        }
    }

    /// Removes results that nobody fetched for a month.
    fn remove_old(&self) {
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let modified = entry.metadata().and_then(|m| m.modified());
            let age = modified.ok().and_then(|then| then.elapsed().ok());
            if age.is_some_and(|age| age > AGE_MAX) {
                // What cannot be removed stays for the next time.
                let _ = remove_result(&entry.path());
            }
        }
    }

    /// What waits for a host of this name: of one run, or the newest.
    pub(crate) fn find(&self, run: Option<&str>, host: &str) -> Option<KeptResult> {
        let path = match run {
            Some(run) => self.path(run, host),
            None => self.newest(host)?,
        };
        serde_json::from_str(&reading::text(&path, reading::RESULTS_BYTES_MAX).ok()?).ok()
    }

    fn newest(&self, host: &str) -> Option<PathBuf> {
        let end = format!("@{}.json", plain(host));
        let files = fs::read_dir(&self.directory).ok()?.flatten();
        let ours = files.filter(|file| file.file_name().to_string_lossy().ends_with(&end));
        let dated = ours.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file)));
        dated.max_by_key(|(when, _)| *when).map(|(_, file)| file.path())
    }

    /// Removes the result of an earlier run, because a coordinator has fetched it.
    pub(crate) fn remove(&self, run: &str, host: &str) {
        let _ = remove_result(&self.path(run, host));
    }
}

/// Removes a result; a file that is not one stays.
fn remove_result(path: &Path) -> io::Result<()> {
    let is_result = |file: &File| {
        let mut bytes = Vec::new();
        file.take(RESULT_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice::<KeptResult>(&bytes).is_ok())
    };
    Place::of(path)?.remove_if(is_result).map(|_| ())
}

/// The beginning of a name as part of a file name: what is not an ASCII letter, a digit or one of
/// `.-_` becomes `_`.
fn plain(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.chars().take(NAME_CHARS).map(|c| if kept(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_result_waits_until_it_is_fetched() {
        let place = tempfile::tempdir().unwrap();
        let audit = place.path().join("agent.log");
        let mut agent = Keepsake::beside(&audit);
        assert_eq!(agent.find(None, "db1"), None);
        agent.name("r.1", "db1");
        agent.started = Some((5, 1_000));
        agent.keep(&json!({ "iops": 7 })).unwrap();
        // Another agent of this host, or the same after a restart.
        let later = Keepsake::beside(&audit);
        let kept = later.find(None, "db1").unwrap();
        assert_eq!(
            (kept.run.as_str(), kept.late_ns, kept.window_ns),
            ("r.1", Some(5), Some(1_000))
        );
        assert_eq!(later.find(Some("r.1"), "db1").unwrap().measurement["iops"], 7);
        assert_eq!((later.find(Some("r.2"), "db1"), later.find(None, "db2")), (None, None));
        later.remove("r.1", "db1");
        assert_eq!(later.find(None, "db1"), None);
    }

    #[test]
    fn what_arrived_does_not_wait() {
        let place = tempfile::tempdir().unwrap();
        let mut agent = Keepsake::beside(&place.path().join("agent.log"));
        agent.name("../../etc/x", "a/b");
        agent.keep(&json!(1)).unwrap();
        let directory = place.path().join("fleet-results");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "names lead out of it");
        // Somebody else's file stays, whatever its name.
        let own = agent.path("../../etc/x", "a/b");
        fs::write(&own, "precious").unwrap();
        assert!(agent.keep(&json!(2)).is_err());
        agent.forget();
        assert_eq!(fs::read_to_string(&own).unwrap(), "precious");
        fs::remove_file(&own).unwrap();
        agent.name("../../etc/x", "a/b");
        agent.keep(&json!(1)).unwrap();
        agent.keep(&json!(2)).unwrap();
        agent.forget();
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    }
}
