//! Questions that an agent answers outside of any run.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use inspect::files::{Draft, Place, Readers};
use inspect::{Inspector, Storage, reading};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Allowed;
use super::keepsake::{Keepsake, KeptResult};

/// Where Linux has a link to the device of each file system.
const BY_UUID: &str = "/dev/disk/by-uuid";

/// A question of the coordinator that belongs to no run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Question {
    /// What is the time of day on this host?
    Time,
    /// Which storage is under these targets?
    Look { targets: Vec<PathBuf> },
    /// Make a small file with this name in it, in this directory. The name is a number that nobody
    /// can guess.
    Mark { directory: PathBuf, nonce: String },
    /// Which of these files are there?
    ReadMarks { directory: PathBuf, nonces: Vec<String> },
    /// Remove the file that `Mark` made.
    RemoveMark { directory: PathBuf, nonce: String },
    /// Which result is kept on this host? `None` as run asks for the newest.
    Fetch { run: Option<String>, host: String },
    /// Delete the kept result of this run, because the coordinator has it.
    Forget { run: String, host: String },
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The time of day, in nanoseconds since 1970.
    Time { since_1970_ns: i64 },
    /// The storage under each target, or why that is not known.
    Saw {
        storage: Vec<Result<Storage, String>>,
        /// The UUID of the file system of each, where the host knows it.
        #[serde(default)]
        uuids: Vec<Option<String>>,
    },
    /// Whether each of the files can be read and holds its number, in the order of the question.
    Marks { there: Vec<bool> },
    /// The host has done what was asked.
    Done,
    /// The kept result; `None` if there is none that can be read.
    Kept { result: Option<KeptResult> },
    /// It is not done, and why.
    Refused { reason: String },
}

/// Answers one question, as far as the host allows it.
pub(crate) fn answer(question: Value, allowed: &Allowed, keepsake: &Keepsake) -> Value {
    let answer = serde_json::from_value::<Question>(question).map_or_else(
        |error| Answer::Refused {
            reason: format!(
                "this is not a question that iosonde {} knows: {error}. Install the same version \
                 of iosonde on all hosts",
                env!("CARGO_PKG_VERSION")
            ),
        },
        |question| answered(question, allowed, keepsake),
    );
    serde_json::to_value(answer).unwrap_or_default()
}

fn answered(question: Question, allowed: &Allowed, keepsake: &Keepsake) -> Answer {
    let done =
        |done: Result<Answer, String>| done.unwrap_or_else(|reason| Answer::Refused { reason });
    match question {
        Question::Time => Answer::Time { since_1970_ns: since_1970_ns() },
        Question::Look { targets } => {
            let inspector = Inspector::new();
            let look = |target: &PathBuf| {
                let path = allowed.resolved(target)?;
                inspector.storage(&path).map_err(|error| error.to_string())
            };
            let storage: Vec<Result<Storage, String>> = targets.iter().map(look).collect();
            let uuid = |storage: &Result<Storage, String>| {
                uuid_of(&storage.as_ref().ok()?.file_system.as_ref()?.source)
            };
            Answer::Saw { uuids: storage.iter().map(uuid).collect(), storage }
        }
        Question::Mark { directory, nonce } => done(mark(&directory, &nonce, allowed)),
        Question::ReadMarks { directory, nonces } => {
            done(there(&directory, &nonces, allowed).map(|there| Answer::Marks { there }))
        }
        Question::RemoveMark { directory, nonce } => done(unmark(&directory, &nonce, allowed)),
        Question::Fetch { run, host } => {
            Answer::Kept { result: keepsake.find(run.as_deref(), &host) }
        }
        Question::Forget { run, host } => {
            keepsake.remove(&run, &host);
            Answer::Done
        }
    }
}

/// The time of day; a clock that is centuries off is at the end of its range.
pub(crate) fn since_1970_ns() -> i64 {
    i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// The UUID of the file system on this device.
fn uuid_of(source: &str) -> Option<String> {
    let device = Path::new(source).canonicalize().ok()?;
    let links = fs::read_dir(BY_UUID).ok()?.flatten();
    let mut same = links.filter(|link| link.path().canonicalize().is_ok_and(|to| to == device));
    same.find_map(|link| link.file_name().into_string().ok())
}

/// No mark is longer.
const NONCE_BYTES_MAX: u64 = 64;

/// The file of a nonce, which has no other sign in its name than those of a number.
fn path(directory: &Path, nonce: &str, allowed: &Allowed) -> Result<PathBuf, String> {
    if nonce.is_empty() || nonce.len() > 64 || !nonce.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err("a mark has a number as its name".to_owned());
    }
    Ok(allowed.resolved(directory)?.join(format!(".iosonde-fleet-{nonce}")))
}

/// Nothing is overwritten: the file is new.
fn mark(directory: &Path, nonce: &str, allowed: &Allowed) -> Result<Answer, String> {
    let path = path(directory, nonce, allowed)?;
    let wrong = |error: std::io::Error| format!("cannot make `{}`: {error}", path.display());
    let made = || -> std::io::Result<()> {
        let mut draft = Draft::of(&Place::of(&path)?, Readers::Anybody)?;
        draft.file().write_all(nonce.as_bytes())?;
        draft.file().sync_all()?;
        draft.publish()
    };
    made().map_err(wrong)?;
    Ok(Answer::Done)
}

/// Which of the marks can be read here.
fn there(directory: &Path, nonces: &[String], allowed: &Allowed) -> Result<Vec<bool>, String> {
    let is_there = |nonce: &String| {
        let path = path(directory, nonce, allowed)?;
        Ok(reading::text(&path, NONCE_BYTES_MAX).is_ok_and(|text| text == *nonce))
    };
    nonces.iter().map(is_there).collect()
}

/// Only what holds the nonce is removed.
fn unmark(directory: &Path, nonce: &str, allowed: &Allowed) -> Result<Answer, String> {
    let path = path(directory, nonce, allowed)?;
    let is_ours = |file: &File| {
        let mut found = Vec::new();
        file.take(nonce.len() as u64 + 1).read_to_end(&mut found)?;
        Ok(found == nonce.as_bytes())
    };
    Place::of(&path)
        .and_then(|place| place.remove_if(is_ours))
        .map_err(|error| format!("cannot remove `{}`: {error}", path.display()))?;
    Ok(Answer::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(question: Question, allowed: &Allowed) -> Answer {
        let place = tempfile::tempdir().unwrap();
        let keepsake = Keepsake::beside(&place.path().join("agent.log"));
        let question = serde_json::to_value(question).unwrap();
        serde_json::from_value(answer(question, allowed, &keepsake)).unwrap()
    }

    #[test]
    fn a_mark_is_made_read_and_removed_where_that_is_allowed() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().canonicalize().unwrap();
        let allowed = Allowed { paths: vec![directory.clone()], destroy: Vec::new() };
        let nothing = Allowed { paths: Vec::new(), destroy: Vec::new() };
        let nonce = || "0123abcd".to_owned();
        let mark = || Question::Mark { directory: directory.clone(), nonce: nonce() };
        let read = || {
            let nonces = vec![nonce(), "ff".to_owned()];
            Question::ReadMarks { directory: directory.clone(), nonces }
        };
        let seen = |answer| match answer {
            Answer::Marks { there } => there,
            other => panic!("{other:?}"),
        };
        assert!(matches!(asked(mark(), &nothing), Answer::Refused { .. }));
        assert_eq!(seen(asked(read(), &allowed)), [false, false]);
        assert!(matches!(asked(mark(), &allowed), Answer::Done));
        assert!(matches!(asked(mark(), &allowed), Answer::Refused { .. }), "it was overwritten");
        assert_eq!(seen(asked(read(), &allowed)), [true, false]);
        assert!(matches!(asked(read(), &nothing), Answer::Refused { .. }));
        let remove = Question::RemoveMark { directory: directory.clone(), nonce: nonce() };
        assert!(matches!(asked(remove, &allowed), Answer::Done));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        let bad = Question::Mark { directory, nonce: "../x".to_owned() };
        assert!(matches!(asked(bad, &allowed), Answer::Refused { .. }));
    }

    #[test]
    fn what_is_not_a_question_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let keepsake = Keepsake::beside(&place.path().join("agent.log"));
        let allowed = Allowed { paths: Vec::new(), destroy: Vec::new() };
        for odd in [json!(null), json!({ "ask": "exec", "command": "id" }), json!("look")] {
            let said = answer(odd, &allowed, &keepsake);
            assert_eq!(said["answer"], "refused");
            assert!(said["reason"].as_str().unwrap().contains("version"));
        }
        let look = Question::Look { targets: vec![place.path().to_owned()] };
        let Answer::Saw { storage, .. } = asked(look, &allowed) else { panic!("not looked") };
        assert!(storage[0].as_ref().unwrap_err().contains("does not allow"));
    }
}
