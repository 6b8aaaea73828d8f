//! Makes a test file shorter or longer without a moment at which it has no mark.

use std::fs::File;
use std::io;

use crate::mark::{MARK_BYTES, Mark};
use crate::platform::files;

/// Makes the file as long as `after` says; `before` is its mark by now.
pub(crate) fn resize(file: &File, before: Mark, after: Mark, reserve: bool) -> io::Result<()> {
    if after.size_bytes < before.size_bytes {
        shorten(file, before, after)
    } else {
        lengthen(file, before, after, reserve)
    }
}

/// The new mark is written first: until the end is cut off, the old one counts.
fn shorten(file: &File, before: Mark, after: Mark) -> io::Result<()> {
    if before.size_bytes - after.size_bytes < MARK_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "one mark would lie on the other"));
    }
    files::write_all_at(file, &after.to_bytes(), after.size_bytes)?;
    file.sync_data()?;
    file.set_len(after.size_bytes.saturating_add(MARK_BYTES))?;
    file.sync_all()
}

/// The new mark makes the file longer; the old one is a part of it from then on, and becomes zeros
/// like all that is new.
fn lengthen(file: &File, before: Mark, after: Mark, reserve: bool) -> io::Result<()> {
    let old_end = before.size_bytes.saturating_add(MARK_BYTES);
    let more = after.size_bytes - before.size_bytes;
    if reserve {
        // The file is as long as before until all of its space is there.
        files::reserve_beyond(file, old_end, more)?;
    }
    let zeros = vec![0; usize::try_from(MARK_BYTES).unwrap_or(4096)];
    let done = files::write_all_at(file, &after.to_bytes(), after.size_bytes)
        .and_then(|()| file.sync_data())
        .and_then(|()| files::write_all_at(file, &zeros, before.size_bytes))
        .and_then(|()| file.sync_all());
    done.inspect_err(|_| {
        // The first error is reported. If this call fails, too, the file has no valid mark and is
        // left to the user.
        let _ = files::write_all_at(file, &before.to_bytes(), before.size_bytes)
            .and_then(|()| file.set_len(old_end));
    })
}
