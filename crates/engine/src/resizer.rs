//! Test files whose size changes while they are used.

use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::mark::Mark;
use crate::prepared::PreparedTarget;
use crate::resize::resize;

/// Makes one test file shorter and longer.
///
/// Its mark goes with its end, so that at every moment, killed or not, the file is known for what
/// it is. A file whose size was changed counts as not wholly written. There was room for the size
/// that it was made with; whether there is for more, only the system says.
#[derive(Debug)]
pub struct Resizer {
    file: File,
    mark: Mutex<Mark>,
}

impl PreparedTarget {
    /// What changes the size of this target; none if it is no test file.
    pub fn resizer(&self) -> io::Result<Option<Resizer>> {
        let (Some(file), Some(mark)) = (&self.file, self.mark) else { return Ok(None) };
        Ok(Some(Resizer { file: file.try_clone()?, mark: Mutex::new(mark) }))
    }
}

impl Resizer {
    /// Makes the file so many bytes long, without its mark: a multiple of 4096. What comes back at
    /// its end is zeros; its space is taken at once if `reserve` says so and the file system can. A
    /// file that could not be made longer is as long as it was.
    ///
    /// # Errors
    /// What the system says.
    pub fn resize(&self, size_bytes: u64, reserve: bool) -> io::Result<()> {
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        if mark.size_bytes != size_bytes {
            let after = Mark { size_bytes, filled: false, ..*mark };
            resize(&self.file, *mark, after, reserve)?;
            *mark = after;
        }
        Ok(())
    }
}
