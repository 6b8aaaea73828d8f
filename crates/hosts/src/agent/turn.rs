//! One coordinator at a time: agents of a host that serve the same one share a lock.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use inspect::files::{Access, Draft, Place, Readers};

use crate::platform::lock;

/// How often two agents that begin at the same moment try again.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

/// The right to use this host, from the first plan of a coordinator until its agent ends. The file
/// has the name of the coordinator's session; the lock ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Turn {
    path: PathBuf,
    taken: Option<File>,
}

impl Turn {
    /// The lock that belongs to this file of commands.
    pub(crate) fn beside(audit: &Path) -> Self {
        Self { path: audit.with_extension("turn"), taken: None }
    }

    /// Takes it for a session, unless another session has it.
    ///
    /// # Errors
    /// Another coordinator uses this host, or the file cannot be used; a sentence.
    pub(crate) fn take(&mut self, session: &str) -> Result<(), String> {
        if self.taken.is_some() {
            return Ok(());
        }
        let wrong = |error: std::io::Error| {
            format!(
                "cannot use `{}`, which keeps coordinators apart: {error}. Name another place with \
                 `--audit`",
                self.path.display()
            )
        };
        for _ in 0..ATTEMPTS {
            let Some(file) = self.opened(session).map_err(wrong)? else { continue };
            if lock(&file, false).map_err(wrong)? {
                name(&file, session).map_err(wrong)?;
            }
            if !lock(&file, true).map_err(wrong)? {
                // Its owner writes the name.
                thread::sleep(PAUSE);
                continue;
            }
            // Another may have taken it between the two locks.
            let owner = owner(&file).map_err(wrong)?.unwrap_or_default();
            if owner != shown(session) {
                return Err(format!(
                    "another coordinator uses this host (its session is `{owner}`). Wait until \
                     that has ended"
                ));
            }
            self.taken = Some(file);
            return Ok(());
        }
        Err("another coordinator begins on this host. Try again".to_owned())
    }

    /// The file, which is made where there is none; `None` if another agent was faster.
    fn opened(&self, session: &str) -> io::Result<Option<File>> {
        let place = Place::of(&self.path)?;
        match place.open(Access::Write) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            file => {
                let file = file?;
                if owner(&file)?.is_none() {
                    return Err(io::Error::other("it exists, and an agent did not make it"));
                }
                return Ok(Some(file));
            }
        }
        let draft = Draft::of(&place, Readers::Anybody)?;
        name(draft.file(), session)?;
        match draft.into_file() {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            file => file.map(Some),
        }
    }
}

/// How the first line of the file begins; the session follows.
const HEAD: &str = "iosonde agent, session ";
/// A first line is no longer than this.
const LINE_BYTES_MAX: u64 = 4096;

/// The session as one line.
fn shown(session: &str) -> String {
    session.chars().filter(|c| !c.is_control()).take(1000).collect()
}

/// Names the session. The file is not emptied first, so that a killed agent leaves one that is
/// recognised.
fn name(mut file: &File, session: &str) -> io::Result<()> {
    let line = format!("{HEAD}{}\n", shown(session));
    file.seek(SeekFrom::Start(0))?;
    file.write_all(line.as_bytes())?;
    file.set_len(line.len() as u64)
}

/// The session that the file names; `None` if it is not such a file.
fn owner(mut file: &File) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LINE_BYTES_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.split_once('\n').map(|(line, _)| line);
    Ok(line.and_then(|line| line.strip_prefix(HEAD)).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On Windows, nothing keeps coordinators apart yet.
    #[test]
    #[cfg(unix)]
    fn one_session_has_a_host_and_the_next_has_it_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let audit = place.path().join("agent.log");
        let [mut a, mut also_a, mut b] = [0; 3].map(|_| Turn::beside(&audit));
        a.take("a").unwrap();
        a.take("a").unwrap();
        also_a.take("a").unwrap();
        assert!(b.take("b").unwrap_err().contains("`a`"));
        drop(a);
        assert!(b.take("b").is_err(), "an agent of the first is still there");
        drop(also_a);
        b.take("b").unwrap();
    }

    /// Agents of one host that begin at the same moment all serve their coordinator.
    #[test]
    fn agents_of_one_session_begin_together() {
        let place = tempfile::tempdir().unwrap();
        let audit = place.path().join("agent.log");
        thread::scope(|scope| {
            let begin = || {
                scope.spawn(|| {
                    let mut turn = Turn::beside(&audit);
                    turn.take("s").map(|()| turn)
                })
            };
            let all: Vec<_> = (0..8).map(|_| begin()).collect();
            let all: Vec<_> = all.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert!(all.iter().all(Result::is_ok), "{all:?}");
        });
    }

    /// The file of the lock was emptied, also where it was a link to somebody's file.
    #[test]
    #[cfg(unix)]
    fn a_turn_never_touches_what_an_agent_did_not_make() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let (victim, turn) = (path("victim"), path("agent.turn"));
        let taken = || Turn::beside(&path("agent.log")).take("a");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &turn).unwrap();
        assert!(taken().unwrap_err().contains("link"));
        std::fs::remove_file(&turn).unwrap();
        for content in ["precious", ""] {
            std::fs::write(&turn, content).unwrap();
            assert!(taken().unwrap_err().contains("did not make it"));
            assert_eq!(std::fs::read_to_string(&turn).unwrap(), content);
        }
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    }
}
