//! `iosonde sqlio script`: a batch file of SQLIO calls, run as it is. No shell is ever started.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dialects::sqlio::script::{Action, Output, Step, script as read_script};
use workload::{EngineChoice, Target, show_duration};

use super::call::{self, Call};
use super::flags::SqlioFlags;
use super::input::{SCRIPT_BYTES_MAX, text_of};
use super::outputs::{Outputs, same};
use crate::dialect::split;
use crate::exit::{Failure, Outcome, print};
use crate::files::takes_files;
use screen::Display;

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
    let text = text_of(Path::new(file), SCRIPT_BYTES_MAX)
        .map_err(|e| Failure::CannotRun(format!("`{file}`: {e}")))?;
    let found = read_script(&text, &|name| std::env::var(name).ok());
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
    // `--destroy` may name what is measured and what is printed to.
    let (mut found, mut wrong, mut named) = (Vec::new(), Vec::new(), Vec::new());
    let mut outputs = Outputs::new(&flags.place.destroyed());
    for Step { line, column, action, output } in steps {
        let place = format!("`{file}`, line {line}, column {column}: ");
        let what = match action {
            Action::Echo(text) => What::Echo(text),
            Action::Pause(seconds) => {
                What::Pause(f64::from(seconds).min(flags.seconds.unwrap_or(f64::INFINITY)))
            }
            Action::Call(arguments) => match call::read(&arguments, flags, &place) {
                Ok(Some(call)) => {
                    named.extend(call.targets(flags)?);
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
        if let Where::File { path, append } = &output {
            let tried = outputs.check(path, *append);
            // A rehearsal leaves the directory alone.
            let tried = tried.and_then(|()| if flags.dry_run { Ok(()) } else { takes_files(path) });
            if let Err(error) = tried {
                wrong.push(format!("{place}cannot write `{}`: {error}", path.display()));
            }
            named.push(Target { path: path.clone(), size_bytes: None });
        }
        found.push(Ready { line, what, output });
    }
    if !wrong.is_empty() {
        return Err(Failure::WrongUsage(wrong.join("\n")));
    }
    flags.place.check_destroy(&named)?;
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

/// Does the steps. One that fails does not keep the others from being done, as in a batch file.
fn run(
    steps: &[Ready],
    flags: &SqlioFlags,
    stop: &AtomicBool,
    display: &mut Display,
) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Done;
    let mut outputs = Outputs::new(&flags.place.destroyed());
    let files = steps.iter().enumerate().filter_map(|(index, step)| match &step.output {
        Where::File { path, .. } => Some((same(path), index)),
        _ => None,
    });
    let last: HashMap<PathBuf, usize> = files.collect();
    for (index, step) in steps.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Interrupted);
        }
        match one(step, flags, stop, &mut outputs) {
            Ok(Outcome::Done) => {}
            Ok(Outcome::Interrupted) => return Ok(Outcome::Interrupted),
            Ok(other) => outcome = other,
            Err(Failure::Interrupted(text)) => return Err(Failure::Interrupted(text)),
            Err(
                Failure::WrongUsage(text) | Failure::NotUnderstood(text) | Failure::CannotRun(text),
            ) => {
                outcome = Outcome::IoFailed;
                for text in text.lines() {
                    display.error(&format!("line {}: {text}", step.line));
                }
            }
        }
        if let Where::File { path, .. } = &step.output
            && last.get(&same(path)) == Some(&index)
        {
            outputs.close(path);
        }
    }
    Ok(outcome)
}

/// Does a step.
fn one(
    Ready { what, output, .. }: &Ready,
    flags: &SqlioFlags,
    stop: &AtomicBool,
    outputs: &mut Outputs,
) -> Result<Outcome, Failure> {
    // The file is made anew even if a call fails, as a shell would.
    begin(outputs, output)?;
    match what {
        What::Pause(seconds) => pause(*seconds, flags, stop),
        What::Echo(text) => write(outputs, output, &(late(text) + "\n"))?,
        What::Call(call) => {
            return call::run(call, flags, stop, &mut |text| write(outputs, output, text));
        }
    }
    Ok(Outcome::Done)
}

/// Simulated time is not waited for.
fn pause(seconds: f64, flags: &SqlioFlags, stop: &AtomicBool) {
    let begin = Instant::now();
    let over = || begin.elapsed().as_secs_f64() >= seconds || stop.load(Ordering::Relaxed);
    while flags.place.engine() != EngineChoice::Sim && !over() {
        std::thread::sleep(LOOK.min(Duration::from_secs_f64(seconds)));
    }
}

/// Makes ready what a step prints to.
fn begin(outputs: &mut Outputs, output: &Where) -> Result<(), Failure> {
    let Where::File { path, append } = output else { return Ok(()) };
    outputs.begin(path, *append).map_err(|e| cannot_write(path, &e))
}

fn write(outputs: &mut Outputs, output: &Where, text: &str) -> Result<(), Failure> {
    match output {
        Where::Stdout => print(text),
        Where::Nowhere => Ok(()),
        Where::File { path, .. } => outputs.write(path, text).map_err(|e| cannot_write(path, &e)),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::CannotRun(format!("cannot write `{}`: {error}", path.display()))
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
