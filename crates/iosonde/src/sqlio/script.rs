//! `iosonde sqlio script`: a batch file of SQLIO calls, run as it is. No shell is ever started.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dialects::sqlio::script::{Action, Output, Step, script as read_script};
use dialects::text::decode;
use workload::{EngineChoice, show_duration};

use super::call::{self, Call};
use super::flags::SqlioFlags;
use crate::dialect::split;
use crate::display::Display;
use crate::exit::{Failure, Outcome, print};
use crate::files::claim;

/// How much of a file is looked at to know whether it holds results.
const LOOK_BYTES: u64 = 256 << 10;
/// From one look at the signal to the next.
const LOOK: Duration = Duration::from_millis(50);

/// A step that can be done.
struct Ready {
    line: usize,
    what: What,
    output: Where,
}

enum What {
    Call(Box<Call>),
    Echo(String),
    Pause(f64),
}

/// Where what a step prints goes.
enum Where {
    Stdout,
    Nowhere,
    File { path: PathBuf, append: bool },
}

/// Runs the command.
pub(super) fn script(tokens: &[OsString], stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, files) = split::<SqlioFlags>("iosonde sqlio script", tokens)?;
    let [file] = files.as_slice() else {
        return Err(Failure::WrongUsage(
            "name one batch file: `iosonde sqlio script FILE`".to_owned(),
        ));
    };
    let bytes = fs::read(file).map_err(|e| Failure::CannotRun(format!("`{file}`: {e}")))?;
    let found = read_script(&decode(&bytes), &|name| std::env::var(name).ok());
    let found = found.map_err(|complaints| {
        let lines: Vec<String> = complaints.0.iter().map(|c| format!("`{file}`, {c}")).collect();
        Failure::WrongUsage(lines.join("\n"))
    })?;
    let steps = ready(found.steps, &flags, file)?;
    let mut display = Display::new(flags.place.quiet);
    found.notes.iter().for_each(|note| display.message(&format!("note: `{file}`, {note}")));
    let plan = plan(&steps, &flags);
    if flags.dry_run {
        print(&plan)?;
        return Ok(Outcome::Done);
    }
    display.message(plan.lines().last().unwrap_or_default());
    run(&steps, &flags, stop, &mut display)
}

/// Everything that can be known to be wrong is, before anything is done.
fn ready(steps: Vec<Step>, flags: &SqlioFlags, file: &str) -> Result<Vec<Ready>, Failure> {
    let drives = flags.place.drives();
    let (mut found, mut wrong, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    let mut claimed: Vec<PathBuf> = Vec::new();
    for Step { line, action, output } in steps {
        let place = format!("`{file}`, line {line}: ");
        let what = match action {
            Action::Echo(text) => What::Echo(text),
            Action::Pause(seconds) => {
                What::Pause(f64::from(seconds).min(flags.seconds.unwrap_or(f64::INFINITY)))
            }
            Action::Call(arguments) => match call::read(&arguments, flags, &place) {
                Ok(Some(call)) => {
                    targets.extend(call.targets(flags)?);
                    What::Call(Box::new(call))
                }
                Ok(None) => What::Echo(dialects::sqlio::USAGE.trim_end().to_owned()),
                Err(Failure::WrongUsage(text)) => {
                    wrong.push(text);
                    continue;
                }
                Err(other) => return Err(other),
            },
        };
        let output = match output {
            None => Where::Stdout,
            Some(Output { file: None, .. }) => Where::Nowhere,
            Some(Output { file: Some(name), append }) => match drives.path(&late(&name)) {
                Ok(path) => Where::File { path, append },
                Err(error) => {
                    wrong.push(format!("{place}{error}"));
                    continue;
                }
            },
        };
        if let Where::File { path, .. } = &output
            && !claimed.contains(path)
        {
            if let Err(error) = claim(path, "output of SQLIO", is_output) {
                wrong.push(format!("{place}cannot write `{}`: {error}", path.display()));
            }
            claimed.push(path.clone());
        }
        found.push(Ready { line, what, output });
    }
    if !wrong.is_empty() {
        return Err(Failure::WrongUsage(wrong.join("\n")));
    }
    flags.place.check_destroy(&targets)?;
    Ok(found)
}

/// What would be done, and on its last line how long it takes.
fn plan(steps: &[Ready], flags: &SqlioFlags) -> String {
    let (mut text, mut calls, mut seconds) = (String::new(), 0, 0.0);
    for Ready { line, what, output } in steps {
        let does = match what {
            What::Call(call) => {
                calls += 1;
                seconds += call.seconds(flags);
                format!("sqlio for {}", show_duration(call.seconds(flags)))
            }
            What::Echo(_) => "a line of text".to_owned(),
            What::Pause(pause) => {
                seconds += pause;
                format!("pause of {}", show_duration(*pause))
            }
        };
        let into = match output {
            Where::Stdout => String::new(),
            Where::Nowhere => ", printed nowhere".to_owned(),
            Where::File { path, append } => {
                let how = if *append { "behind" } else { "instead of" };
                format!(", {how} what is in {}", path.display())
            }
        };
        let _ = writeln!(text, "line {line}: {does}{into}");
    }
    let span = jiff::SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    let end = jiff::Zoned::now().checked_add(span);
    let end = end.map_or_else(
        |_| String::new(),
        |end| end.strftime("; ends about %Y-%m-%d %H:%M").to_string(),
    );
    let plural = if calls == 1 { "" } else { "s" };
    text + &format!("{calls} call{plural}, {} with the pauses{end}\n", show_duration(seconds))
}

/// Does the steps. A call that fails does not keep the others from running, as in a batch file.
fn run(
    steps: &[Ready],
    flags: &SqlioFlags,
    stop: &AtomicBool,
    display: &mut Display,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Done;
    for Ready { line, what, output } in steps {
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Interrupted);
        }
        match what {
            What::Pause(seconds) => pause(*seconds, flags, stop),
            What::Echo(text) => write(output, &(late(text) + "\n"))?,
            What::Call(call) => {
                // The file is made anew even if the call fails, as a shell would.
                write(output, "")?;
                let mut out = |text: &str| match output {
                    Where::File { path, .. } => append(path, text),
                    other => write(other, text),
                };
                match call::run(call, flags, stop, &mut out) {
                    Ok(Outcome::Done) => {}
                    Ok(Outcome::Interrupted) => return Ok(Outcome::Interrupted),
                    Ok(other) => outcome = other,
                    Err(Failure::Interrupted(text)) => return Err(Failure::Interrupted(text)),
                    Err(
                        Failure::WrongUsage(text)
                        | Failure::NotUnderstood(text)
                        | Failure::CannotRun(text),
                    ) => {
                        outcome = Outcome::IoFailed;
                        for text in text.lines() {
                            display.message(&format!("error: line {line}: {text}"));
                        }
                    }
                }
            }
        }
    }
    Ok(outcome)
}

/// Simulated time is not waited for.
fn pause(seconds: f64, flags: &SqlioFlags, stop: &AtomicBool) {
    let begin = Instant::now();
    let over = || begin.elapsed().as_secs_f64() >= seconds || stop.load(Ordering::Relaxed);
    while flags.place.engine() != EngineChoice::Sim && !over() {
        std::thread::sleep(LOOK.min(Duration::from_secs_f64(seconds)));
    }
}

fn write(output: &Where, text: &str) -> Result<(), Failure> {
    match output {
        Where::Stdout => print(text),
        Where::Nowhere => Ok(()),
        Where::File { path, append: true } => append(path, text),
        Where::File { path, append: false } => {
            fs::write(path, text).map_err(|e| cannot_write(path, &e))
        }
    }
}

fn append(path: &Path, text: &str) -> Result<(), Failure> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut f| io::Write::write_all(&mut f, text.as_bytes()))
        .map_err(|e| cannot_write(path, &e))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::CannotRun(format!("cannot write `{}`: {error}", path.display()))
}

/// A file in which SQLIO's output, or the head of a log of it, is.
fn is_output(file: fs::File) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(LOOK_BYTES).read_to_end(&mut found)?;
    let text = decode(&found);
    Ok(text.lines().any(|line| line.starts_with("sqlio v") || line.starts_with("ComputerName:")))
}

/// The text with what is known only now.
fn late(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let now = jiff::Zoned::now();
    let host = inspect::Inspector::new().host().hostname;
    text.replace("%DATE%", &now.strftime("%Y-%m-%d").to_string())
        .replace("%TIME%", &now.strftime("%H:%M:%S").to_string())
        .replace("%COMPUTERNAME%", &host)
}
