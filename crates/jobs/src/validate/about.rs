//! What a validation is going to do, and what an end at once would leave, in sentences.

use std::path::Path;

use engine::Permissions;
use inspect::shell_word;
use integrity::{PageOrder, PageUsers, Plan};
use workload::{Bytes, plural, show_duration};

use super::{Forecast, LedgerPlace, ValidatePlan};

/// What is going to happen, in one line.
pub(super) fn about(plan: &ValidatePlan, forecast: &Forecast) -> String {
    let Forecast { pages, memory, .. } = forecast;
    if plan.configuration.is_some() {
        return format!("{}; {memory} of memory for the versions of pages", of_sqliosim(plan));
    }
    format!(
        "{pages} pages of {}{}, whose versions take {memory} of memory; {} for {}",
        Bytes(plan.database.page_bytes.into()),
        shapes(plan),
        users(&plan.database),
        show_duration(plan.seconds)
    )
}

/// The same in the words of SQLIOSim.
fn of_sqliosim(plan: &ValidatePlan) -> String {
    let ValidatePlan { database, files, seconds, .. } = plan;
    let cycles = match database.cycles {
        0 => "cycles until it is ended".to_owned(),
        n => plural(n.into(), "cycle", "cycles"),
    };
    format!(
        "{}, {} with {} I/Os each, {} random, {} audit, {} read-ahead and {} bulk users, {cycles} \
         of {seconds} s",
        plural(files.len() as u64, "file", "files"),
        plural(database.threads.into(), "thread", "threads"),
        database.depth,
        database.random.users,
        database.audit.users,
        database.read_ahead.users,
        database.bulk.users,
    )
}

/// What is unusual about the files, as a part of a sentence; empty if nothing is.
fn shapes(plan: &ValidatePlan) -> &'static str {
    let sparse = plan.files.iter().any(|file| file.sparse);
    let resize = plan.files.iter().any(|file| file.resize.is_some());
    match (sparse, resize) {
        (false, false) => "",
        (true, false) => " in files that begin as holes",
        (false, true) => " at most in files that become shorter and longer",
        (true, true) => " at most in files that begin as holes and become shorter and longer",
    }
}

/// The users that work, in words.
fn users(plan: &Plan) -> String {
    let PageUsers { users, write_percent, pages, order } = plan.pages;
    if users == 0 || plan.random.users > 0 || plan.tables.users > 0 {
        return "the users work".to_owned();
    }
    let place = match order {
        PageOrder::Random => "anywhere",
        PageOrder::Sequential => "in a row",
    };
    let block = Bytes(u64::from(plan.page_bytes) * u64::from(pages.1));
    format!("{users} I/Os of {block} at a time {place}, {write_percent} % of them writes,")
}

/// What remains if the program is killed, and what to do about it.
pub(super) fn left_behind(
    plan: &ValidatePlan,
    permissions: &Permissions,
    keeping: &LedgerPlace,
) -> String {
    if let LedgerPlace::New(ledger) | LedgerPlace::Resume(ledger, _) = keeping {
        let ledger = shell_word(ledger);
        return format!(
            "keeps the files and the ledger: continue with `iosonde validate --resume \
             {ledger}`, or remove them with `iosonde validate --clean {ledger}`"
        );
    }
    let is_ours = |path: &&Path| !permissions.destroy.iter().any(|other| other.names(path));
    let files = plan.files.iter().map(|file| file.path.as_path()).filter(is_ours);
    let files: Vec<&Path> = files.collect();
    if files.is_empty() {
        return "removes its test files".to_owned();
    }
    let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
    let words: Vec<String> = files.iter().map(shell_word).collect();
    format!(
        "keeps {}, which `iosonde validate --clean {}` removes",
        names.join(", "),
        words.join(" ")
    )
}
