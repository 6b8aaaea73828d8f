//! `iosonde diskspd`: DiskSpd's command line and its XML profiles.

use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use dialects::diskspd::command::{Call, CommandLine, Reading, parse};
use dialects::diskspd::notes::of_profile;
use dialects::diskspd::profile::ResultFormat;
use dialects::diskspd::usage::USAGE;
use jobs::diskspd::{Also, ProfileSettings, Spans, read_profile, set_event};

use super::{PlaceFlags, Tokens, conduct, split};
use crate::commands::plans::print_plan;
use crate::exit::{Failure, Outcome, print};
use crate::recording::RecordingArgs;
use screen::Display;
use screen::described;

/// DiskSpd's command line as it is; `-?` shows its options. These flags may be anywhere in it
#[derive(Debug, Parser)]
struct DiskspdFlags {
    #[command(flatten)]
    place: PlaceFlags,

    /// Length of every measured window, instead of `-d`, for a rehearsal
    #[arg(long, value_name = "N")]
    seconds: Option<f64>,

    /// Warm-up before every window, instead of `-W`
    #[arg(long, value_name = "SECONDS")]
    warmup: Option<f64>,

    /// Also write the result to a file: text=FILE, xml=FILE or json=FILE; may be given several
    /// times
    #[arg(long, value_name = "FORM=FILE")]
    also: Vec<Also>,

    /// Print the measurements as JSON on stdout instead of DiskSpd's text or XML
    #[arg(long)]
    json: bool,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    print_plan: bool,

    /// Show what would be done and touch nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    recording: RecordingArgs,
}

pub(super) fn diskspd(args: &Tokens, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, words) = split::<DiskspdFlags>("iosonde diskspd", &args.tokens)?;
    if words.is_empty() {
        print(USAGE)?;
        let text = "say what to do; `iosonde diskspd --help` shows flags of iosonde's own";
        return Err(Failure::NotUnderstood(text.to_owned()));
    }
    let reading = Reading { clock: clock(), lenient: true };
    let call = parse(&words, reading).map_err(|e| Failure::NotUnderstood(e.to_string()))?;
    let settings = ProfileSettings {
        places: flags.place.places()?,
        seconds: flags.seconds,
        warmup_seconds: flags.warmup,
        also: flags.also.clone(),
        json: flags.json,
    };
    let line = match call {
        Call::Usage => {
            print(USAGE)?;
            return Ok(Outcome::Done);
        }
        Call::SetEvent(event) => {
            set_event(&event)?;
            return Ok(Outcome::Done);
        }
        Call::Profile(line) => *line,
        Call::Xml(call) => read_profile(call, &settings.places)?,
    };
    say(&line, &flags);
    if line.profile.profile_only {
        return show(&line);
    }
    let spans = Spans::of(&line, &settings, flags.dry_run || flags.print_plan)?;
    if flags.print_plan {
        return print_plan(&spans.plan()?);
    }
    if flags.dry_run {
        flags.recording.check()?;
        let spans = spans.describe()?;
        print(&spans.iter().map(described).collect::<String>())?;
        return Ok(Outcome::Done);
    }
    conduct(flags.place.manner(), &flags.recording, stop, |session| spans.run(session))
}

/// What a bare `-z` starts from: no two runs alike.
fn clock() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The lower half of the milliseconds, as a counter of ticks that wraps.
    u32::try_from(now.as_millis() & u128::from(u32::MAX)).unwrap_or(0)
}

/// Tells the user what differs from DiskSpd before it begins.
fn say(line: &CommandLine, flags: &DiskspdFlags) {
    let mut display = Display::new(flags.place.quiet);
    line.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    for note in of_profile(&line.profile) {
        display.message(&format!("note: {note}"));
    }
    line.warnings.iter().for_each(|warning| display.message(&format!("warning: {warning}")));
}

/// Prints the profile as XML, as `-Rp` asks.
fn show(line: &CommandLine) -> Result<Outcome, Failure> {
    let mut text = String::new();
    match line.profile.result_format {
        ResultFormat::Text => line.profile.write_text(&mut text),
        ResultFormat::Xml => line.profile.write_xml(&mut text, 0),
    }
    print(&text)?;
    Ok(Outcome::Done)
}
