//! What a user names, with the built program: connection strings where a path is expected, and
//! pipes and devices where a file is.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use testing::Place;
use testing::program::{code, fails, stderr, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_iosonde");
/// The password of every connection string.
const SECRET: &str = "Zq9xK";

/// Connection strings as people paste them.
const STRINGS: [&str; 12] = [
    "host=db user=anna password=Zq9xK",
    "postgres://anna:a?Zq9xK@db/shop",
    "POSTGRES://anna:Zq9xK@db/shop",
    "mysql://anna:Zq9xK@db/shop",
    "mariadb://anna:Zq9xK@db/shop",
    "postgresql+ssl://anna:Zq9xK@db/shop",
    "jdbc:postgresql://db/shop?user=anna&password=Zq9xK",
    "Server=db;User Id=anna;Password=Zq9xK",
    "Driver={ODBC Driver 18};Server=db;PWD=Zq9xK",
    "scott/Zq9xK@orcl",
    "mongodb://anna:Zq9xK@db/shop",
    "redis://:Zq9xK@db",
];

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[track_caller]
fn says_no_secret(output: &Output, line: &[&str]) {
    let said = stdout(output) + &stderr(output);
    assert_ne!(code(output), 0, "{line:?}: {said}");
    assert!(!said.contains(SECRET), "{line:?}: {said}");
}

/// `--history 'host=… password=…'` made a file named with the password; others were printed whole.
#[test]
fn a_connection_string_is_neither_a_file_nor_printed() {
    let place = Place::new(PROGRAM);
    let run = ["--engine", "null", "--size", "1M", "--seconds", "0.1", "--warmup", "0"];
    for text in STRINGS {
        for line in [
            &["history", "list", "--history", text][..],
            &[&["run", "/x"], &run[..], &["--history", text]].concat(),
            &[&["run", text], &run[..]].concat(),
            &["run", "--workload", text],
            &["run", "/x", "--engine", "sim", "--sim", text],
            &["assess", "/x", "--report", text],
            &["assess", "/x", "--limits", text],
            &["report", text],
            &["report", "latest", "-o", text],
            &["history", "import", text],
            &["history", "export", "latest", "-o", text],
            &["monitor", "--count", "1", "--database", text, "--no-history"],
            &["monitor", "--count", "1", "--attach", text, "--no-history"],
            &["monitor", "--print-plan", text],
            &["do", text],
            &["fleet", "run", "--site", text, "/x"],
            &["agent", "--join", text],
            &["serve", "--token-file", text],
            &["validate", "--verify", text],
            &["capture", "show", text],
            &["no-such-command", text],
        ] {
            says_no_secret(&place.command(line).output().unwrap(), line);
        }
        let mut listed = place.command(&["history", "list"]);
        says_no_secret(&listed.env("IOSONDE_HISTORY", text).output().unwrap(), &["environment"]);
        let settings = place.path("settings.toml");
        fs::write(&settings, format!("history = '{text}'\n")).unwrap();
        let mut listed = place.command(&["history", "list"]);
        listed.env_remove("IOSONDE_HISTORY").env("IOSONDE_CONFIG", &settings);
        says_no_secret(&listed.output().unwrap(), &["settings"]);
        let plan = format!("job = \"monitor\"\ncount = 1\ntargets = ['{text}']\n");
        fs::write(place.path("plan.toml"), plan).unwrap();
        says_no_secret(&place.command(&["do", "plan.toml"]).output().unwrap(), &["do"]);
    }
    let names = files(place.directory());
    assert!(!names.iter().any(|name| name.contains(SECRET)), "{names:?}");
}

/// The words of a recorded command were in the plan, the history and the report as they were typed.
#[test]
fn a_recorded_command_is_kept_without_its_password() {
    let place = Place::new(PROGRAM);
    let words = ["--", "echo", "postgres://anna:Zq9xK@db/shop", "--password=Zq9xK"];
    let plan = place.says(&[&["monitor", "--print-plan"], &words[..]].concat());
    assert!(plan.contains("echo") && !plan.contains(SECRET), "{plan}");
    let recorded = place.run(&[&["monitor", "--json", "--name", "x"], &words[..]].concat());
    assert!(!stdout(&recorded).contains(SECRET), "{}", stdout(&recorded));
    // The command itself had it; its output goes to stderr.
    assert!(stderr(&recorded).contains(SECRET), "{}", stderr(&recorded));
    for line in [&["history", "show", "@x"][..], &["history", "export", "@x"]] {
        assert!(!place.says(line).contains(SECRET), "{line:?}");
    }
    let kept = fs::read(place.history()).unwrap();
    assert!(!kept.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Each of these waited at the pipe for ever, deaf to Ctrl-C, or read a device until the memory was
/// full.
#[test]
fn pipes_and_devices_are_refused_where_a_file_is_meant() {
    let place = Place::new(PROGRAM);
    pipe(&place.path("pipe"));
    let pipe = place.path("pipe");
    let trace = place.path("trace.iotrace");
    fs::write(&trace, "IOTRACE").unwrap();
    for name in [pipe.to_str().unwrap(), "/dev/zero", "/"] {
        for line in [
            &["run", "/x", "--engine", "sim", "--sim", name][..],
            &["run", "--workload", name],
            &["assess", "/x", "--engine", "sim", "--limits", name],
            &["assess", "/x", "--engine", "sim", "--expect", name],
            &["do", name],
            &["sweep", "--plan", name],
            &["report", name],
            &["history", "import", name],
            &["history", "list", "--history", name],
            &["workload", "convert", name],
            &["capture", "show", name],
            &["capture", "import", name, "-o", "made.iotrace"],
            &["capture", "anonymise", name, "-o", "made.iotrace"],
            &["replay", name, "/x", "--engine", "sim", "--size", "1G"],
            &["fit", trace.to_str().unwrap(), "--device", name],
            &["validate", "--verify", name],
            &["validate", "--resume", name],
            &["agent", "--join", name],
            &["fleet", "run", "--plan", name, "--ssh", "a", "/x"],
            &["serve", "--token-file", name],
            &["sqlio", &format!("-F{name}")],
            &["sqlio", "script", name],
            &["iometer", "-c", name],
            &["diskspd", &format!("-X{name}")],
            &["sqliosim", "-cfg", name],
            &["specs", &format!("{name}:x")],
        ] {
            let output = place.command(line).stdin(Stdio::null()).output().unwrap();
            assert_ne!(code(&output), 0, "{line:?}: {}", stdout(&output));
            assert!(!stderr(&output).contains("panicked"), "{line:?}: {}", stderr(&output));
        }
        let mut listed = place.command(&["history", "list"]);
        let listed = listed.env("IOSONDE_CONFIG", name).output().unwrap();
        assert_ne!(code(&listed), 0, "{}", stdout(&listed));
    }
    let recorded = ["monitor", "--count", "1", "--interval", "100ms", "--attach", "/dev/zero"];
    let recorded = place.run(&recorded);
    assert!(stderr(&recorded).contains("is not attached: it is a device"), "{}", stderr(&recorded));
}

/// A plan from another program was refused as a named pipe: its first bytes were read to recognise
/// its format, and then the file was opened again.
#[test]
fn what_a_shell_pipes_is_read_like_a_file() {
    let place = Place::new(PROGRAM);
    let job = "[a]\nrw=randread\nsize=1m\nruntime=1\ntime_based\nfilename=/x\n";
    let xml = "<Profile><TimeSpans><TimeSpan><Duration>1</Duration><Targets><Target>\
        <Path>new.dat</Path><FileSize>1048576</FileSize></Target></Targets></TimeSpan></TimeSpans>\
        </Profile>";
    let dry = ["--engine", "null", "--dry-run"];
    let plan = place.says(&["run", "/x", "--engine", "sim", "--size", "1G", "--print-plan"]);
    let result = place.says(&["run", "/x", "--engine", "sim", "--size", "1G", "-d1", "--json"]);
    for name in ["-", "/dev/stdin", "/dev/fd/0"] {
        for (content, line) in [
            (job, &[&["run", "--workload", name], &dry[..]].concat()[..]),
            (job, &["workload", "convert", name]),
            (&plan, &["do", name, "--dry-run"]),
            ("servers = 4\n", &["run", "/x", "--engine", "sim", "--sim", name, "--dry-run"]),
            (xml, &["diskspd", "--dry-run", &format!("-X{name}")]),
            (&result, &["report", name, "--format", "json", "-o", "-"]),
            (&result, &["history", "import", name]),
        ] {
            let mut command = place.command(line);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(content.as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), 0, "{line:?}: {}", stderr(&output));
        }
    }
    let endless = fs::File::open("/dev/zero").unwrap();
    let output = place.command(&["do", "-"]).stdin(endless).output().unwrap();
    fails(&output, 2, "larger than 16 MiB");
}

/// A command that waited for stdin only noted the first signal, and waited on.
#[test]
fn a_signal_ends_a_command_that_waits_for_input() {
    let place = Place::new(PROGRAM);
    for (line, signal) in [
        (&["report", "-"][..], Signal::INT),
        (&["report", "-"], Signal::TERM),
        (&["history", "import", "-"], Signal::INT),
        (&["history", "import", "-"], Signal::HUP),
        (&["do", "/dev/stdin"], Signal::TERM),
        (&["run", "--workload", "-"], Signal::INT),
        (&["capture", "show", "-"], Signal::TERM),
    ] {
        let mut command = place.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b" ").unwrap();
        // Once it has read that, its handlers are there, and it waits for more.
        while ioctl_fionread(&input).unwrap() > 0 {
            assert!(child.try_wait().unwrap().is_none(), "{line:?} ended without reading");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 130, "{line:?}: {}", stderr(&output));
        drop(input);
    }
    assert!(!place.history().exists());
}

/// The rules of each stream were checked against all others: a plan of 400,000 took for ever, and
/// heard no signal.
#[test]
fn a_plan_with_hundreds_of_thousands_of_streams_is_refused() {
    let place = Place::new(PROGRAM);
    let mut plan = "job = \"run\"\n[[targets]]\npath = \"/x\"\n".to_owned();
    plan.push_str(&"[[streams]]\n".repeat(100_000));
    fs::write(place.path("plan.toml"), plan).unwrap();
    fails(&place.run(&["do", "plan.toml", "--no-history"]), 2, "at most 4096 streams");
}

/// `--resume` refused a flag that does not exist, whichever was typed.
#[test]
fn a_validation_is_resumed_into_another_history() {
    let place = Place::new(PROGRAM);
    fs::create_dir(place.path("d")).unwrap();
    let line = ["validate", "--resume", "led", "--history", "h.db"];
    let refused = stderr(&place.run(&line));
    assert!(!refused.contains("leave out"), "{refused}");
    fails(&place.run(&[&line[..], &["--threads", "2"]].concat()), 2, "leave out `--threads`");
    fails(&place.run(&[&line[..], &["d"]].concat()), 2, "leave out the TARGETs");
}
