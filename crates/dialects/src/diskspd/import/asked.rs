//! What a result was asked for, where its text has no `Input parameters`: its command line says it.

use super::spans::OnTarget;
use crate::diskspd::command::{Call, Reading, parse};
use crate::diskspd::profile::TimeSpan;

/// The time span of a command line whose targets are those of the figures; otherwise why there is
/// no such span.
pub(super) fn of_command_line(line: &str, found: &[OnTarget]) -> Result<TimeSpan, String> {
    let (options, targets) = parted(line, found)?;
    let words: Vec<String> = options.into_iter().chain(targets).collect();
    let reading = Reading { clock: 0, lenient: true };
    let call = parse(&words, reading).map_err(|error| {
        let what = error.lines().into_iter().next().unwrap_or_default();
        format!("its command line cannot be read: {what}")
    })?;
    let profile = match call {
        Call::Profile(line) => line.profile,
        Call::Xml(call) => return Err(format!("its load is in the file `{}` (-X)", call.file)),
        Call::Usage | Call::SetEvent(_) => return Err("its command line runs no load".to_owned()),
    };
    let mut spans = profile.time_spans.into_iter();
    let mut span = spans.next().ok_or("its command line runs no load")?;
    // The parameters do not say that a file was made either; how large it is, the figures say.
    span.targets.iter_mut().for_each(|target| target.create_bytes = None);
    Ok(span)
}

/// The options and the targets. DiskSpd prints no quotes, so the figures say where a name with
/// blanks begins.
fn parted(line: &str, found: &[OnTarget]) -> Result<(Vec<String>, Vec<String>), String> {
    let line = line.trim();
    let targets: Vec<String> = found.iter().map(|target| target.path.clone()).collect();
    let names = targets.join(" ");
    let Some(rest) = line.strip_suffix(&names).filter(|rest| rest.ends_with(char::is_whitespace))
    else {
        return Err(format!("its command line does not end in what was measured, `{names}`"));
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_program = |word: &&str| {
        let word = word.trim_matches('"').to_ascii_lowercase();
        word.ends_with("diskspd") || word.ends_with("diskspd.exe")
    };
    // A program may be in a directory with blanks in its name, or have another name.
    let first = words.iter().position(is_program).map_or(1, |at| at + 1);
    let options = words.iter().skip(first).map(|word| match word.strip_prefix('/') {
        // As Windows has them.
        Some(option) => format!("-{option}"),
        None => (*word).to_owned(),
    });
    Ok((options.collect(), targets))
}
