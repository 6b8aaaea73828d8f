//! `iosonde sqliosim`: SQLIOSim's command line and configurations, on the simulated database of
//! `validate`.

mod effective;
mod flags;
mod log;
mod mapping;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use dialects::drives::Drives;
use dialects::sqliosim::{Asked, Command, Configuration, KindLine, Summary, USAGE, parse};
use engine::Permissions;
use integrity::{FileFigures, KindFigures, Place, Report};
use report::text::clean;
use workload::{Bytes, Mode, Target, Workload};

use crate::dialect::{Tokens, split};
use crate::exit::{Failure, Outcome, print};
use crate::run::describe;
use crate::validate::{Given, Keeping, Output, check_engine, check_shapes, conduct, memory_for};
use effective::{effective, save};
use flags::SqliosimFlags;
use log::Log;
use mapping::{Mapped, mapped};
use screen::Display;

/// Runs the command.
pub(crate) fn sqliosim(args: &Tokens, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, words) = split::<SqliosimFlags>("iosonde sqliosim", &args.tokens)?;
    let wrong = |text: String| Failure::WrongUsage(text);
    let command = match parse(&words).map_err(|e| wrong(e.to_string()))? {
        Asked::Usage => {
            print(USAGE)?;
            return Ok(Outcome::Done);
        }
        Asked::Test(command) => command,
    };
    check_engine(flags.place.engine)?;
    let drives = flags.place.drives();
    let reading = effective(&command, &drives)?;
    let mut display = Display::new(flags.place.quiet);
    reading.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    if let Some(name) = &command.save {
        save(&reading.config, &path_of(&drives, name)?)?;
        display.message(&format!("the configuration is in `{name}`"));
    }
    if reading.config.files.is_empty() {
        if command.save.is_some() {
            return Ok(Outcome::Done);
        }
        let text = "there are no files to work on: name a directory with `-dir`, or files in the \
                    configuration";
        return Err(wrong(text.to_owned()));
    }
    test(&command, &reading.config, &flags, display, stop)
}

/// The place that a name stands for.
fn path_of(drives: &Drives, name: &str) -> Result<PathBuf, Failure> {
    drives.path(name).map_err(|error| Failure::WrongUsage(error.to_string()))
}

/// Does what a configuration says.
fn test(
    command: &Command,
    config: &Configuration,
    flags: &SqliosimFlags,
    mut display: Display,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let seed = flags.place.seed.unwrap_or_else(engine::unrepeated_seed);
    let mapped = mapped(config, seed);
    mapped.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    let violations: Vec<String> = mapped
        .plan
        .violations()
        .iter()
        .map(|e| format!("{} is {}: {}", key_of(e.field), e.value, e.rule))
        .collect();
    if !violations.is_empty() {
        return Err(Failure::WrongUsage(violations.join("\n")));
    }
    let workload = workload_of(config, &mapped, flags)?;
    flags.place.check_destroy(&workload.targets)?;
    let keep = !config.general.delete_files_at_shutdown;
    let permissions = Permissions { keep, ..flags.place.permissions(&workload.targets) };
    let drives = flags.place.drives();
    let data = config.files.iter().zip(&mapped.sizes).filter(|(file, _)| !file.log_file);
    let pages: u64 = data.map(|(_, size)| size / u64::from(mapped.plan.page_bytes)).sum();
    let memory = memory_for(pages, "use smaller files")?;
    check_shapes(&engine::plan(&workload, &permissions)?, &mapped.wanted)?;
    let about = format!("{}; {memory} of memory for the versions of pages", about(config, &mapped));
    if flags.dry_run {
        let plans = engine::plan(&workload, &permissions)?;
        print(&format!("{}{about}\n", describe(&plans)))?;
        return Ok(Outcome::Done);
    }
    let log = command.log.as_ref().or(config.general.error_file.as_ref());
    let log = log.map(|name| Log::open(&path_of(&drives, name)?)).transpose()?;
    let hear = |error: bool, text: &str| log.iter().for_each(|log| log.say(error, text));
    let _begun = jobs::BegunFiles::of(&workload.targets)?;
    hear(false, &about);
    mapped.notes.iter().for_each(|note| hear(false, note));
    let given = Given {
        plan: &mapped.plan,
        workload: &workload,
        permissions: &permissions,
        roles: mapped.roles.clone(),
        wanted: mapped.wanted.clone(),
        time: mapped.time,
        keeping: Keeping::InMemory,
        configuration: Some(named(command)),
        about: vec![about],
    };
    let behind = |report: &Report, places: &[Place]| -> String {
        let one = |(index, place): (usize, &Place)| {
            let summary = summary(config, report, index, place);
            hear(false, &summary);
            let lines: String = summary.lines().map(|line| clean(line) + "\n").collect();
            format!("\n{lines}")
        };
        places.iter().enumerate().map(one).collect()
    };
    let output = Output {
        manner: flags.place.manner(),
        json: flags.json,
        recording: &flags.recording,
        behind: &behind,
    };
    let outcome = conduct(&given, &output, &hear, stop);
    if let Some(error) = log.and_then(Log::failed) {
        display.error(&format!("the log is not whole: {error}"));
    }
    outcome
}

/// What the configuration is called: its name, or that of its file without the directory.
fn named(command: &Command) -> String {
    let name = command.config.as_deref().unwrap_or("default");
    name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned()
}

/// What is going to happen, in a line.
fn about(config: &Configuration, mapped: &Mapped) -> String {
    let plan = &mapped.plan;
    let cycles = match plan.cycles {
        0 => "cycles until it is ended".to_owned(),
        1 => "1 cycle".to_owned(),
        n => format!("{n} cycles"),
    };
    format!(
        "{}, {} with {} I/Os each, {} random, {} audit, {} read-ahead and {} bulk users, {cycles} \
         of {} s",
        counted(config.files.len() as u64, "file"),
        counted(plan.threads.into(), "thread"),
        plan.depth,
        plan.random.users,
        plan.audit.users,
        plan.read_ahead.users,
        plan.bulk.users,
        mapped.time.as_secs()
    )
}

/// A noun with its number.
fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// What a configuration calls a field of the plan.
fn key_of(field: &str) -> &str {
    match field {
        "random.users" => "[RandomUser] UserCount",
        "random.log_bytes" => "[RandomUser] MinLogPerBuffer to MaxLogPerBuffer",
        "random.chain_pages" => "[RandomUser] MinIOChainLength to MaxIOChainLength",
        "audit.users" => "[AuditUser] UserCount",
        "audit.pages" => "[AuditUser] BuffersValidated",
        "audit.cycles" => "[AuditUser] DelayAfterCycles",
        "read_ahead.users" => "[ReadAheadUser] UserCount",
        "read_ahead.pages" => "[ReadAheadUser] BuffersRAMin to BuffersRAMax",
        "read_ahead.cycles" => "[ReadAheadUser] DelayAfterCycles",
        "bulk.users" => "[BulkUpdateUser] UserCount",
        "bulk.pages" => "[BulkUpdateUser] BuffersBUMin to BuffersBUMax",
        "bulk.cycles" => "[BulkUpdateUser] DelayAfterCycles",
        "resizing.pause" => "[ShrinkUser] MinShrinkInterval to MaxShrinkInterval",
        "resizing.steps" => "[ShrinkUser] MinExtends to MaxExtends",
        other => other,
    }
}

/// The files, as the engine makes them ready.
fn workload_of(
    config: &Configuration,
    mapped: &Mapped,
    flags: &SqliosimFlags,
) -> Result<Workload, Failure> {
    let drives = flags.place.drives();
    let mut targets = Vec::new();
    for (file, size) in config.files.iter().zip(&mapped.sizes) {
        let size = *size;
        let path = path_of(&drives, &file.file_name)?;
        targets.push(Target { path, size_bytes: Some(Bytes(size)) });
    }
    let streams = vec![integrity::stream(&mapped.plan)];
    let mut workload = Workload { targets, streams, ..Workload::default() };
    flags.place.apply(&mut workload)?;
    workload.mode = if mapped.direct { Mode::Direct } else { Mode::Buffered };
    Ok(workload)
}

/// SQLIOSim's final summary of a file.
fn summary(config: &Configuration, report: &Report, index: usize, place: &Place) -> String {
    let none = FileFigures::default();
    let figures = report.targets.get(index).unwrap_or(&none);
    let paced = report.paced.get(index);
    let name = config.files.get(index).map_or("", |file| file.file_name.as_str());
    let kind = |kind: &KindFigures| (kind.single, kind.several);
    let (reads, writes) = (kind(&figures.read), kind(&figures.write));
    let summary = Summary {
        file: name,
        // Files that were removed by now were files.
        sparse: (!place.path.exists() || place.path.is_file()).then_some(place.shape.sparse),
        target_ms: u64::try_from(config.general.target_io_duration_ms).unwrap_or(0),
        running_average_ns: paced.map(|p| p.running_average_ns),
        throttled: paced.map_or(0, |p| p.throttled),
        in_flight_max: paced.map_or(0, |p| p.in_flight_max),
        read: KindLine { single: reads.0, several: reads.1, latency: &figures.read.latency },
        write: KindLine { single: writes.0, several: writes.1, latency: &figures.write.latency },
        sync: &figures.sync.latency,
    };
    summary.to_text()
}
