//! `iosonde history check` and `iosonde history backup`: whether a history is whole, and a second
//! copy of it.

use std::path::PathBuf;

use clap::Args;
use history::History;
use inspect::shell_word;

use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;

/// `iosonde history backup`
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The copy, which must not exist yet
    pub file: PathBuf,
}

/// Reports what is wrong with a history, and what to do.
pub(crate) fn check(history: &History) -> Result<Outcome, Failure> {
    let wrong = history.check().map_err(failure)?;
    if wrong.is_empty() {
        print(&format!(
            "`{}` is whole: every result and measurement can be read\n",
            history.place()
        ))?;
        return Ok(Outcome::Done);
    }
    print(&format!("{}\n", wrong.join("\n")))?;
    Err(Failure::CannotRun(format!(
        "`{place}` is damaged. Save what can be read with `iosonde history export --output FILE`, \
         import that into a new history (`iosonde history import FILE --history NEW`), or go back \
         to a backup; leave the damaged one as it is until then",
        place = history.place()
    )))
}

pub(crate) fn backup(args: &BackupArgs, history: &History) -> Result<Outcome, Failure> {
    history.backup(&args.file).map_err(failure)?;
    let file = shell_word(&args.file);
    print(&format!("`{}` was copied; `--history {file}` opens the copy\n", history.place()))?;
    Ok(Outcome::Done)
}
