//! `iosonde diskspd`: DiskSpd's command line and its XML profiles.

mod events;
mod flags;
mod output;
mod plan;
mod spans;
mod system;

use std::fs::File;
use std::io::Read as _;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use dialects::diskspd::command::{Call, CommandError, CommandLine, Reading, XmlCall, parse};
use dialects::diskspd::notes::of_profile;
use dialects::diskspd::profile::ResultFormat;
use dialects::diskspd::usage::USAGE;

use crate::dialect::{Tokens, split};
use crate::exit::{Failure, Outcome, print};
use flags::DiskspdFlags;
use screen::Display;

/// More than any profile has.
const PROFILE_BYTES_MAX: u64 = 16 << 20;

/// Runs the command.
pub(crate) fn diskspd(args: &Tokens, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, words) = split::<DiskspdFlags>("iosonde diskspd", &args.tokens)?;
    if words.is_empty() {
        print(USAGE)?;
        let text = "say what to do; `iosonde diskspd --help` shows flags of iosonde's own";
        return Err(Failure::NotUnderstood(text.to_owned()));
    }
    let line = match parse(&words, Reading { clock: clock(), lenient: true }).map_err(wrong)? {
        Call::Usage => {
            print(USAGE)?;
            return Ok(Outcome::Done);
        }
        Call::SetEvent(event) => {
            events::set(&event)?;
            return Ok(Outcome::Done);
        }
        Call::Profile(line) => *line,
        Call::Xml(call) => from_file(call, &flags)?,
    };
    say(&line, &flags);
    if line.profile.profile_only {
        return show(&line);
    }
    spans::run(&line, &flags, stop)
}

/// What a bare `-z` starts from: no two runs alike.
fn clock() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The lower half of the milliseconds, as a counter of ticks that wraps.
    u32::try_from(now.as_millis() & u128::from(u32::MAX)).unwrap_or(0)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
fn wrong(error: CommandError) -> Failure {
    Failure::NotUnderstood(error.to_string())
}

/// The profile that `-X` names.
fn from_file(call: XmlCall, flags: &DiskspdFlags) -> Result<CommandLine, Failure> {
    let name = call.file.clone();
    let failed = |what: String| {
        let lines: Vec<String> = what.lines().map(|line| format!("`{name}`: {line}")).collect();
        Failure::NotUnderstood(lines.join("\n"))
    };
    let path = flags.place.drives().path(&name).map_err(|e| failed(e.to_string()))?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| failed(e.to_string()))?;
    file.take(PROFILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|e| failed(e.to_string()))?;
    call.profile(&bytes).map_err(|e| failed(e.to_string()))
}

/// What people should know before it begins.
fn say(line: &CommandLine, flags: &DiskspdFlags) {
    let mut display = Display::new(flags.place.quiet);
    line.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    for note in of_profile(&line.profile) {
        display.message(&format!("note: {note}"));
    }
    line.warnings.iter().for_each(|warning| display.message(&format!("warning: {warning}")));
}

/// The profile alone.
fn show(line: &CommandLine) -> Result<Outcome, Failure> {
    let mut text = String::new();
    match line.profile.result_format {
        ResultFormat::Text => line.profile.write_text(&mut text),
        ResultFormat::Xml => line.profile.write_xml(&mut text, 0),
    }
    print(&text)?;
    Ok(Outcome::Done)
}
