//! Tasks that Windows starts at its own start or once a week, as its Task Scheduler reads them.
//!
//! The packages for Linux have units of systemd instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use dialects::xml::escape;
use jiff::ToSpan as _;
use jiff::Zoned;
use jiff::civil::{DateTime, Time, Weekday};

use crate::conduct::JobError;
use crate::system_tool::SystemTool;

/// The folder of our tasks.
const FOLDER: &str = r"\iosonde";
/// How long the Task Scheduler may take.
const LIMIT: Duration = Duration::from_secs(60);
const DAYS: [(&str, Weekday); 7] = [
    ("Monday", Weekday::Monday),
    ("Tuesday", Weekday::Tuesday),
    ("Wednesday", Weekday::Wednesday),
    ("Thursday", Weekday::Thursday),
    ("Friday", Weekday::Friday),
    ("Saturday", Weekday::Saturday),
    ("Sunday", Weekday::Sunday),
];

/// The account that a task runs as; none of them has a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAccount {
    /// An account with few rights, which is nobody on the network.
    LocalService,
    /// The same, which is the machine on the network.
    NetworkService,
    /// The account that may do nearly everything.
    System,
}

impl TaskAccount {
    /// Its identity, which is the same in every language of Windows.
    fn sid(self) -> &'static str {
        match self {
            Self::System => "S-1-5-18",
            Self::LocalService => "S-1-5-19",
            Self::NetworkService => "S-1-5-20",
        }
    }
}

impl FromStr for TaskAccount {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "local-service" => Ok(Self::LocalService),
            "network-service" => Ok(Self::NetworkService),
            "system" => Ok(Self::System),
            _ => Err("it can be local-service, network-service or system"),
        }
    }
}

/// A day of the week and a time of that day, such as `Sun 03:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeeklyTime {
    day: Weekday,
    time: Time,
}

impl FromStr for WeeklyTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a day and a time, such as `Sun 03:00`");
        let (day, time) = text.trim().split_once(' ').ok_or_else(wrong)?;
        let day = day.to_ascii_lowercase();
        let named = |name: &str| day.len() >= 3 && name.to_ascii_lowercase().starts_with(&day);
        let (_, day) = DAYS.iter().find(|(name, _)| named(name)).ok_or_else(wrong)?;
        let time = Time::strptime("%H:%M", time.trim()).map_err(|_| wrong())?;
        Ok(Self { day: *day, time })
    }
}

impl WeeklyTime {
    /// The next such moment after this one; the same moment is not after itself.
    fn after(self, now: DateTime) -> Result<DateTime, jiff::Error> {
        let today = now.date().weekday().to_monday_zero_offset();
        let days = (self.day.to_monday_zero_offset() - today).rem_euclid(7);
        let next = now.date().checked_add(i32::from(days).days())?.to_datetime(self.time);
        if next > now { Ok(next) } else { next.checked_add(7.days()) }
    }
}

/// What is to be made a task.
#[derive(Debug, Clone)]
pub struct TaskRequest {
    /// Its name; that of the command if it has none.
    pub name: Option<String>,
    /// Who runs it.
    pub account: TaskAccount,
    /// When a task that is not for ever starts.
    pub weekly: WeeklyTime,
    /// The command line without the name of the program. The caller has seen to it that iosonde
    /// understands it.
    pub command: Vec<String>,
}

/// A task as the Task Scheduler has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledTask {
    name: String,
    account: TaskAccount,
    /// The next start; `None` if Windows starts it with itself.
    first: Option<DateTime>,
    program: PathBuf,
    command: Vec<String>,
    directory: PathBuf,
}

impl ScheduledTask {
    /// The task of this program, in the directory where it is now.
    ///
    /// # Errors
    /// The command is not one that runs by itself, or the task would not be what was asked for.
    pub fn new(request: &TaskRequest) -> Result<Self, JobError> {
        let cannot = |what: &str, error| JobError::CannotRun(format!("{what}: {error}"));
        let here = Here {
            program: std::env::current_exe().map_err(|e| cannot("the program's own path", e))?,
            directory: std::env::current_dir().map_err(|e| cannot("the current directory", e))?,
            data: data_directory(),
            now: Zoned::now().datetime(),
        };
        Self::here(request, &here)
    }

    fn here(request: &TaskRequest, here: &Here) -> Result<Self, JobError> {
        let kind = request.command.first().map(String::as_str).unwrap_or_default();
        let has = |flag: &str| {
            let with_value = format!("{flag}=");
            request.command.iter().any(|word| word == flag || word.starts_with(&with_value))
        };
        for word in &request.command {
            check_word(word)?;
        }
        let is_weekly = match kind {
            "baseline" => true,
            "serve" => false,
            "agent" if has("--join") => false,
            _ => {
                return Err(JobError::Usage(
                    "a task can be `baseline`, `agent --join` or `serve`; other commands end by \
                     themselves, or need somebody who reads"
                        .to_owned(),
                ));
            }
        };
        let name = request.name.clone().unwrap_or_else(|| kind.to_owned());
        check_name(&name)?;
        let mut command = request.command.clone();
        // The account has no profile that anybody looks into.
        let mut defaults = Vec::new();
        if !has("--no-history") {
            defaults.push(("--history", "history.db"));
        }
        if kind == "agent" {
            defaults.push(("--audit", "agent.log"));
        }
        for (flag, file) in defaults.into_iter().filter(|(flag, _)| !has(flag)) {
            command.push(flag.to_owned());
            command.push(here.data.join(file).to_string_lossy().into_owned());
        }
        let too_late = |error: jiff::Error| JobError::Usage(error.to_string());
        let first = is_weekly.then(|| request.weekly.after(here.now)).transpose();
        Ok(Self {
            name,
            account: request.account,
            first: first.map_err(too_late)?,
            program: here.program.clone(),
            command,
            directory: here.directory.clone(),
        })
    }

    /// It as XML, as `schtasks /create /xml` reads it. No encoding is named, so a file of it may be
    /// in UTF-8, or in UTF-16 with a byte order mark.
    #[must_use]
    pub fn definition(&self) -> String {
        let description = format!("iosonde {}", line_of(&self.command));
        let program = self.program.to_string_lossy();
        let directory = self.directory.to_string_lossy();
        format!(
            r#"<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Author>iosonde</Author>
    <Description>{description}</Description>
  </RegistrationInfo>
  <Triggers>
{trigger}  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{account}</UserId>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>{limit}</ExecutionTimeLimit>
    <Priority>{priority}</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{program}</Command>
      <Arguments>{arguments}</Arguments>
      <WorkingDirectory>{directory}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
"#,
            description = escape(&description),
            trigger = self.trigger(),
            account = self.account.sid(),
            limit = if self.first.is_some() { "PT6H" } else { "PT0S" },
            // 7, which is usual, would make its I/O wait for that of all others.
            priority = 5,
            program = escape(&program),
            arguments = escape(&line_of(&self.command)),
            directory = escape(&directory),
        )
    }

    fn trigger(&self) -> String {
        let Some(first) = self.first else {
            // One that has ended is started again within five minutes.
            let lines = [
                "    <BootTrigger>\n",
                "      <Repetition>\n        <Interval>PT5M</Interval>\n      </Repetition>\n",
                "    </BootTrigger>\n",
            ];
            return lines.concat();
        };
        let (day, _) = DAYS[first.weekday().to_monday_zero_offset().unsigned_abs() as usize % 7];
        let start = first.strftime("%Y-%m-%dT%H:%M:%S");
        // Hosts with one storage do not measure together.
        format!(
            "    <CalendarTrigger>\n      <StartBoundary>{start}</StartBoundary>\n      \
             <RandomDelay>PT4H</RandomDelay>\n      <ScheduleByWeek>\n        \
             <WeeksInterval>1</WeeksInterval>\n        <DaysOfWeek>\n          <{day} />\n        \
             </DaysOfWeek>\n      </ScheduleByWeek>\n    </CalendarTrigger>\n"
        )
    }

    /// Gives it to the Task Scheduler, instead of a task of the same name; what to do next, in
    /// words.
    ///
    /// # Errors
    /// This is not Windows, or the Task Scheduler refuses it.
    pub fn install(&self) -> Result<String, JobError> {
        let scheduler = scheduler()?;
        let cannot = |what: &Path, error| {
            JobError::CannotRun(format!("the file `{}`: {error}", what.display()))
        };
        let data = data_directory();
        fs::create_dir_all(&data).map_err(|e| cannot(&data, e))?;
        let room = tempfile::tempdir().map_err(|e| cannot(&std::env::temp_dir(), e))?;
        let file = room.path().join("task.xml");
        fs::write(&file, utf16(&self.definition())).map_err(|e| cannot(&file, e))?;
        let path = path_of(&self.name);
        let words = ["/create".as_ref(), "/tn".as_ref(), path.as_ref(), "/xml".as_ref()];
        let words = [&words[..], &[file.as_os_str(), "/f".as_ref()]].concat();
        scheduler.run(&words).map_err(refused)?;
        Ok(match self.first {
            Some(first) => format!(
                "The task {path} runs on {day}s from {time} on. `schtasks /run /tn {path}` runs it \
                 now; the first time measures the baseline\n",
                day = first.strftime("%A"),
                time = first.strftime("%H:%M"),
            ),
            None => format!(
                "The task {path} starts with Windows. `schtasks /run /tn {path}` starts it now\n"
            ),
        })
    }
}

/// Takes a task from the Task Scheduler. What it measured stays.
///
/// # Errors
/// This is not Windows, or the Task Scheduler has no such task or refuses.
pub fn remove_task(name: &str) -> Result<String, JobError> {
    check_name(name)?;
    let path = path_of(name);
    let words = ["/delete", "/tn", &path, "/f"].map(AsRef::as_ref);
    scheduler()?.run(&words).map_err(refused)?;
    Ok(format!("The task {path} is removed; its history stays\n"))
}

/// What a task takes from the moment at which it is made.
struct Here {
    program: PathBuf,
    directory: PathBuf,
    /// The directory of its history.
    data: PathBuf,
    now: DateTime,
}

/// Where all users of a machine have data.
fn data_directory() -> PathBuf {
    let all = std::env::var_os("ProgramData").filter(|_| cfg!(windows));
    all.map_or_else(
        || PathBuf::from(r"C:\ProgramData\iosonde"),
        |all| Path::new(&all).join("iosonde"),
    )
}

fn scheduler() -> Result<SystemTool, JobError> {
    SystemTool::of_windows("schtasks.exe", LIMIT).ok_or_else(|| {
        JobError::CannotRun(
            "tasks are for the Task Scheduler of Windows. On Linux, the packages have units of \
             systemd: `systemctl enable --now iosonde-agent`, or iosonde-baseline@ with the name \
             of a directory (docs/baseline.md)"
                .to_owned(),
        )
    })
}

#[expect(clippy::needless_pass_by_value, reason = "it is the function of a map")]
fn refused(error: crate::system_tool::ToolError) -> JobError {
    JobError::CannotRun(format!("{error}. Tasks need a prompt that runs as administrator"))
}

fn path_of(name: &str) -> String {
    format!(r"{FOLDER}\{name}")
}

/// A name without what separates folders, and what XML and a prompt read as something else.
fn check_name(name: &str) -> Result<(), JobError> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) && name.chars().any(char::is_alphanumeric) {
        return Ok(());
    }
    Err(JobError::Usage(format!(
        "the name of a task has letters, digits, `-`, `_` and `.`; `{name}` has others, or none"
    )))
}

fn check_word(word: &str) -> Result<(), JobError> {
    if word.chars().any(|c| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) {
        return Err(JobError::Usage("a control character cannot be in a task".to_owned()));
    }
    let login = word.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    if login.is_some_and(|(login, _)| login.contains(':')) {
        return Err(JobError::Usage(
            "a task that holds a password would show it to everybody on the machine; leave it out \
             of the URL, and set PGPASSWORD for the machine"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Words as one line that programs of Windows take apart again: a backslash is doubled before a
/// quote and at the end of what is quoted.
fn line_of(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '"']) {
        return word.to_owned();
    }
    let (mut line, mut backslashes) = (String::from("\""), 0);
    for c in word.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                line.extend(std::iter::repeat_n('\\', backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(c);
    }
    line.extend(std::iter::repeat_n('\\', backslashes));
    line.push('"');
    line
}

/// A text as a file of UTF-16 with its mark.
fn utf16(text: &str) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
