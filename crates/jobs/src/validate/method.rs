//! How a validation checks what it reads, and what to know about its result: sentences for its
//! document.

use integrity::{Hardening, Plan};
use results::{Validation, ValidationVerdict};
use workload::{Mode, show_duration};

/// How it was done, sentence by sentence.
pub(super) fn method(plan: &Plan, found: &Validation, sparse: bool) -> Vec<String> {
    let hardening = match plan.hardening {
        Hardening::WriteThrough => {
            "Every write was write-through (O_DSYNC): on stable media before it was done."
        }
        Hardening::Flush => {
            "Files were flushed (fdatasync): the log before a commit was done, files with pages at \
             the end of a checkpoint."
        }
    };
    let work = show_duration(found.asked_seconds);
    let logs = found.files.iter().any(|file| file.role == "log");
    let is_database = logs || plan.random.users > 0 || plan.tables.users > 0;
    let who = if is_database { "users worked" } else { "pages were read and written" };
    let log = if logs { ", and at the end every acknowledged block of the log," } else { "" };
    let begin = match (&found.resumed, sparse) {
        (Some(_), _) => "What a run that was killed had written was read first",
        (None, true) => "Files began as holes, whose pages must be zeros until they are written",
        (None, false) => "Every page was written once",
    };
    let mut method = vec![
        format!(
            "{begin}; {who} for {work} in each cycle; after that every page{log} was to be read \
             again."
        ),
        "Each sector of 512 bytes names its place and its version. Each page has a checksum of 64 \
        bits (xxh3) over all of it. Its contents follow from its place, its version and its \
         run. A page is right if its first stamp is the expected one and the checksum fits; one \
         that is not is compared byte by byte with what should be there."
            .to_owned(),
        "The version that a page should have was kept outside of the page, so that a whole page \
         of an older version is found: no checksum can tell it."
            .to_owned(),
        "A page that was written again before anybody read it was not checked in between."
            .to_owned(),
        hardening.to_owned(),
        format!(
            "A page that was wrong was read again up to {} times (after the first 20 of them, \
             twice), and once by a buffered read.",
            plan.rereads
        ),
        "It is RIGHT if every page and block that was read was as it was written, no I/O failed, \
         and nobody ended it before its end."
            .to_owned(),
    ];
    if logs {
        let ahead =
            "A changed page was not written before the record of its change was on stable media.";
        method.push(ahead.to_owned());
    }
    method
}

/// What makes the result say less than it seems to.
pub(super) fn warnings(found: &Validation) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |when: bool, text: &str| {
        if when {
            warnings.push(text.to_owned());
        }
    };
    warn(
        found.mode == Mode::Buffered,
        "What was read went through the cache of the operating system: it says little about the \
        storage under it.",
    );
    warn(
        !found.audited && found.verdict != ValidationVerdict::WrongData,
        "Not every page was read at the end: nothing is known of those that were not read before.",
    );
    warn(
        found.verdict == ValidationVerdict::IoFailed,
        "What could not be read was not checked, and after a write that failed a page may hold \
         the old version or the new one.",
    );
    if let Some(why) = &found.ended {
        warnings.push(format!("It could not continue: {why}."));
    }
    if found.long_ios > 0 {
        let ios = if found.long_ios == 1 { "I/O" } else { "I/Os" };
        warnings.push(format!("{} {ios} took longer than 15 s.", found.long_ios));
    }
    warnings
}
