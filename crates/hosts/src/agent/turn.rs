//! One coordinator at a time: agents of a host that serve the same one share a lock.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

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
            // Not emptied: another may have it.
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false);
            let mut file = file.open(&self.path).map_err(wrong)?;
            if lock(&file, false).map_err(wrong)? {
                name(&mut file, session).map_err(wrong)?;
            }
            if !lock(&file, true).map_err(wrong)? {
                // Its owner writes the name.
                thread::sleep(PAUSE);
                continue;
            }
            // Another may have taken it between the two locks.
            let mut owner = String::new();
            file.seek(SeekFrom::Start(0)).map_err(wrong)?;
            file.read_to_string(&mut owner).map_err(wrong)?;
            if owner != session {
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
}

fn name(file: &mut File, session: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(session.as_bytes())
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
}
