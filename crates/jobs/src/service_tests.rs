//! Tasks as text. What the Task Scheduler makes of one is in the suite `windows` of the program.

use proptest::prelude::*;

use super::*;

fn here() -> Here {
    Here {
        program: r"C:\Program Files\iosonde\iosonde.exe".into(),
        directory: r"C:\Users\anna".into(),
        data: PathBuf::from("C:/ProgramData/iosonde"),
        // A Thursday.
        now: "2026-11-26T12:00:00".parse().unwrap(),
    }
}

fn request(command: &[&str]) -> TaskRequest {
    TaskRequest {
        name: None,
        account: TaskAccount::LocalService,
        weekly: "Sun 03:00".parse().unwrap(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
    }
}

fn task(command: &[&str]) -> Result<ScheduledTask, JobError> {
    ScheduledTask::here(&request(command), &here())
}

#[test]
fn a_baseline_is_measured_every_week() {
    let task = task(&["baseline", r"D:\my data\", "--history", "E:\\a&b"]);
    let expected = r#"<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Author>iosonde</Author>
    <Description>iosonde baseline &quot;D:\my data\\&quot; --history E:\a&amp;b</Description>
  </RegistrationInfo>
  <Triggers>
    <CalendarTrigger>
      <StartBoundary>2026-11-29T03:00:00</StartBoundary>
      <RandomDelay>PT4H</RandomDelay>
      <ScheduleByWeek>
        <WeeksInterval>1</WeeksInterval>
        <DaysOfWeek>
          <Sunday />
        </DaysOfWeek>
      </ScheduleByWeek>
    </CalendarTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>S-1-5-19</UserId>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT6H</ExecutionTimeLimit>
    <Priority>5</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>C:\Program Files\iosonde\iosonde.exe</Command>
      <Arguments>baseline &quot;D:\my data\\&quot; --history E:\a&amp;b</Arguments>
      <WorkingDirectory>C:\Users\anna</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
"#;
    assert_eq!(task.unwrap().definition(), expected);
}

#[test]
fn an_agent_and_a_server_start_with_windows() {
    let agent = task(&["agent", "--join=db1.creds", "--allow", r"D:\data"]).unwrap();
    let text = agent.definition();
    assert!(text.contains("<BootTrigger>") && !text.contains("<CalendarTrigger>"), "{text}");
    assert!(text.contains("<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>"), "for ever: {text}");
    let files = ["--history", "history.db", "--audit", "agent.log"].map(|word| {
        let is_file = !word.starts_with('-');
        if is_file { here().data.join(word).to_string_lossy().into_owned() } else { word.into() }
    });
    assert_eq!(agent.command[4..], files, "the account has no files that anybody finds");
    let serve = task(&["serve", "--history=x.db"]).unwrap();
    assert_eq!((serve.command.len(), serve.first), (2, None));
    let agent = task(&["agent", "--join", "x", "--no-history", "--audit", "y"]).unwrap();
    assert_eq!(agent.command.len(), 6, "nothing is added: {:?}", agent.command);
}

#[test]
fn what_cannot_be_a_task_is_refused() {
    let refusals = [
        (&["run", "D:\\"][..], "`baseline`, `agent --join` or `serve`"),
        (&["agent", "--stdio"], "agent --join"),
        (&[], "agent --join"),
        (&["baseline", "D:\\", "--history", "postgres://anna:secret@db/x"], "PGPASSWORD"),
        (&["baseline", "a\nb"], "control character"),
    ];
    for (command, part) in refusals {
        let error = task(command).unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains("secret"), "{command:?}: {error}");
    }
    assert!(task(&["baseline", "D:\\", "--history", "postgres://anna@db:5432/x"]).is_ok());
    for name in ["", "..", r"a\b", "a b", "\"", "%x%"] {
        let named = TaskRequest { name: Some(name.to_owned()), ..request(&["serve"]) };
        assert!(ScheduledTask::here(&named, &here()).is_err(), "{name}");
        assert!(remove_task(name).is_err(), "{name}");
    }
}

#[test]
fn times_of_a_week() {
    let now: DateTime = "2026-11-26T12:00:00".parse().unwrap();
    for (text, expected) in [
        ("Sun 03:00", "2026-11-29T03:00:00"),
        ("thu 12:01", "2026-11-26T12:01:00"),
        ("Thursday 12:00", "2026-12-03T12:00:00"),
        ("wed 23:59", "2026-12-02T23:59:00"),
    ] {
        let time: WeeklyTime = text.parse().unwrap();
        assert_eq!(time.after(now).unwrap(), expected.parse().unwrap(), "{text}");
    }
    for text in ["", "Sun", "03:00", "Su 03:00", "Sun 24:00", "Sunday3:00", "Sonntag 03:00"] {
        assert!(text.parse::<WeeklyTime>().unwrap_err().contains("Sun 03:00"), "{text}");
    }
}

/// A line taken apart by the rules of Windows' C library.
fn taken_apart(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_word, mut is_quoted) = (vec![], String::new(), false, false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                let mut count = 1;
                while rest.next_if_eq(&'\\').is_some() {
                    count += 1;
                }
                let before_quote = rest.peek() == Some(&'"');
                let kept = if before_quote { count / 2 } else { count };
                word.extend(std::iter::repeat_n('\\', kept));
                if before_quote && count % 2 == 1 {
                    word.extend(rest.next());
                }
                is_word = true;
            }
            '"' => (is_quoted, is_word) = (!is_quoted, true),
            ' ' | '\t' if !is_quoted => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

proptest! {
    /// Whatever a path is called, the task's program gets it as it was typed.
    #[test]
    fn words_arrive_as_they_were_typed(
        words in prop::collection::vec(r#"[a-z\\" =:%&<>-]{0,9}"#, 1..6),
    ) {
        prop_assert_eq!(taken_apart(&line_of(&words)), words);
    }
}
