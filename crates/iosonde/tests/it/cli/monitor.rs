//! `iosonde monitor`: what the operating system counts, shown, recorded, and set beside what a tool
//! measured meanwhile.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Output, Stdio};

use results::agreement::Figure;
use results::{Experiment, FoundBy, Recording, Status};
use serde_json::Value;

use crate::cli::program::{Running, code, command, fails, stderr, succeeds};

fn recording(output: &Output) -> Experiment<Recording> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

/// With a history of its own.
fn monitor(history: &Path, args: &[&str]) -> Output {
    let mut command = command(&[&["monitor"], args].concat());
    command.env("IOSONDE_HISTORY", history).output().unwrap()
}

/// The exercise of Performance Monitor beside SQLIO: recorded while it runs, cropped to its run by
/// itself, and compared.
#[test]
fn a_test_of_sqlio_agrees_with_what_the_system_counted() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let history = directory.path().join("history.db");
    let file = directory.path().join("testfile.dat");
    let file = file.to_str().unwrap();
    let parameters = directory.path().join("param.txt");
    fs::write(&parameters, format!("{file} 2 0x0 16\n")).unwrap();
    let sqlio = [
        env!("CARGO_BIN_EXE_iosonde"),
        "sqlio",
        "-kW",
        "-b8",
        "-frandom",
        "-s2",
        "-o4",
        "-BN",
        "-LS",
    ];
    let parameter = format!("-F{}", parameters.display());
    let target = directory.path().to_str().unwrap();
    let args =
        [&[target, "--name", "exercise", "--json", "--"], &sqlio[..], &[&parameter]].concat();
    let output = monitor(&history, &args);
    succeeds(&output);
    assert!(
        stderr(&output).contains("IOs/sec"),
        "what SQLIO says passes through: {}",
        stderr(&output)
    );
    let e = recording(&output);
    let r = &e.conclusion;
    assert_eq!((r.name.as_str(), e.status), ("exercise", Status::Complete));
    assert_eq!(r.command.as_ref().unwrap().exit_code, Some(0));
    if r.runs.is_empty() {
        // A temporary directory in memory, or on layers without counters.
        assert!(!e.warnings.is_empty());
        return;
    }
    let run = &r.runs[0];
    assert_eq!(run.found, FoundBy::Activity);
    assert!((run.to_s - run.from_s - 2.0).abs() < 0.5, "{run:?}");
    let m = &e.measurements[0];
    assert_eq!(m.origin.as_ref().unwrap().tool, "SQLIO");
    let rows = &m.kernel.as_ref().unwrap().agreement.as_ref().unwrap().rows;
    // Others may use the device meanwhile, so only the presence of the rows is held.
    for figure in [Figure::WriteIops, Figure::WriteBytesPerS, Figure::WriteBytesPerIo] {
        assert!(rows.iter().any(|row| row.figure == figure && row.kernel > 0.0), "{rows:?}");
    }
    let shown =
        command(&["history", "show", "@exercise"]).env("IOSONDE_HISTORY", &history).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    for words in ["During", "exercise", "writes/s", "write size", "kernel"] {
        assert!(shown.contains(words), "`{words}` is not in: {shown}");
    }
    let page = directory.path().join("report.html");
    let page_name = page.to_str().unwrap();
    let report = command(&["report", "@exercise", "-o", page_name])
        .env("IOSONDE_HISTORY", &history)
        .output();
    succeeds(&report.unwrap());
    let page = fs::read_to_string(page).unwrap();
    for words in ["I/Os, latency and queue", "run begins", "average queue", "Disk Writes/sec"] {
        assert!(page.contains(words), "`{words}` is not in the report");
    }
}

#[test]
fn a_separate_recording_is_set_beside_a_result_of_its_time() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let history = directory.path().join("history.db");
    let target = directory.path().to_str().unwrap();
    let run = format!(
        "sleep 0.5; exec {} run {target} --size 16M --seconds 1 --warmup 0 --quiet --no-history \
         --json > {target}/run.json",
        env!("CARGO_BIN_EXE_iosonde")
    );
    let args = [target, "--interval", "100ms", "--json", "--tag", "beside", "--", "sh", "-c", &run];
    let output = monitor(&history, &args);
    succeeds(&output);
    let e = recording(&output);
    assert!(e.conclusion.runs.is_empty() && e.measurements.is_empty());
    assert!(e.warnings.iter().any(|w| w.contains("not a result of SQLIO")), "{:?}", e.warnings);
    let import = format!("{target}/run.json");
    let imported =
        command(&["history", "import", &import]).env("IOSONDE_HISTORY", &history).output();
    succeeds(&imported.unwrap());
    let args = ["history", "show", "@beside", "--during", "latest", "--json"];
    let shown = command(&args).env("IOSONDE_HISTORY", &history).output().unwrap();
    succeeds(&shown);
    let beside = recording(&shown);
    if e.conclusion.totals.disks.values().all(|total| total.tally.is_idle()) {
        return;
    }
    let run = beside.conclusion.runs.first().unwrap_or_else(|| panic!("{:?}", beside.warnings));
    assert_eq!(run.found, FoundBy::Time);
    assert!(run.from_s > 0.4 && (run.to_s - run.from_s - 1.0).abs() < 0.3, "{run:?}");
    let refused = command(&["history", "show", "latest", "--during", "@beside"])
        .env("IOSONDE_HISTORY", &history)
        .output();
    fails(&refused.unwrap(), 2, "not a recording");
}

#[test]
fn the_exit_code_of_a_command_is_passed_on_and_its_output_too() {
    let history = tempfile::tempdir().unwrap();
    let history = history.path().join("history.db");
    let output = monitor(&history, &["--", "sh", "-c", "echo hello; exit 7"]);
    assert_eq!((code(&output), output.stdout.as_slice()), (7, &b"hello\n"[..]));
    assert!(stderr(&output).contains("exit code 7"), "{}", stderr(&output));
    fails(&monitor(&history, &["--", "/no/such/program"]), 1, "cannot be started");
    fails(&monitor(&history, &["--seconds", "3", "--", "true"]), 2, "--seconds");
    let killed = monitor(&history, &["--quiet", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(code(&killed), 128 + 9);
}

#[test]
fn lines_rows_and_documents_have_stdout_for_themselves() {
    let history = tempfile::tempdir().unwrap();
    let history = history.path().join("history.db");
    let short = ["--interval", "100ms", "--count", "3", "--no-history"];
    let lines = monitor(&history, &[&short[..], &["--json-lines"]].concat());
    succeeds(&lines);
    let text = String::from_utf8(lines.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // A notice is of a device of this host that counts nothing.
    let names = events.iter().map(|event| event["event"].as_str().unwrap());
    let names: Vec<&str> = names.filter(|name| *name != "notice").collect();
    assert_eq!(names, ["began", "window", "window", "window"]);
    let rows = monitor(&history, &[&short[..], &["--csv"]].concat());
    let rows = String::from_utf8(rows.stdout).unwrap();
    let columns: Vec<usize> = rows.lines().map(|row| row.split(',').count()).collect();
    assert!(columns.len() >= 4 && columns.iter().all(|count| *count == columns[0]), "{rows}");
    let document = monitor(&history, &[&short[..], &["--json", "--", "echo", "aside"]].concat());
    assert_eq!(code(&document), 2, "--count and a command");
    assert!(!history.exists(), "--no-history");
    fails(&monitor(&history, &["/no/such/place/at/all"]), 1, "does not exist");
    // One that is not there was taken for one that could be made, and the disk under its directory
    // was watched.
    fails(&monitor(&history, &["/no-such-place"]), 1, "does not exist");
    fails(&monitor(&history, &["--interval", "10ms"]), 2, "between 0.1 s and 60 s");
    fails(&monitor(&history, &["--alert", "speed > 3"]), 2, "there is no figure");
}

#[test]
fn an_alert_is_said_and_is_the_exit_code() {
    let history = tempfile::tempdir().unwrap();
    let history = history.path().join("history.db");
    let short = ["--interval", "100ms", "--count", "3", "--quiet", "--no-history"];
    let fired = monitor(&history, &[&short[..], &["--alert", "cpu >= 0% for 200ms"]].concat());
    assert_eq!(code(&fired), 4);
    assert!(stderr(&fired).contains("ALERT cpu >= 0% for 200ms"), "{}", stderr(&fired));
    let quiet = monitor(&history, &[&short[..], &["--alert", "reads > 1e12"]].concat());
    assert_eq!((code(&quiet), stderr(&quiet).as_str()), (0, ""));
}

#[test]
fn what_was_recorded_before_a_kill_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("history.db");
    let mut command =
        command(&["monitor", "--interval", "100ms", "--json-lines", "--tag", "killed"]);
    command.env("IOSONDE_HISTORY", &history).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let windows = lines.by_ref().map_while(Result::ok).filter(|line| line.contains("\"window\""));
    assert_eq!(windows.take(35).count(), 35);
    child.kill().unwrap();
    child.wait().unwrap();
    let args = ["history", "show", "@killed", "--json"];
    let shown =
        crate::cli::program::command(&args).env("IOSONDE_HISTORY", &history).output().unwrap();
    succeeds(&shown);
    let e = recording(&shown);
    assert_eq!(e.status, Status::Interrupted);
    let r = &e.conclusion;
    assert!(r.windows >= 10, "all but the last moments: {} windows", r.windows);
    assert!((r.seconds - r.windows as f64 / 10.0).abs() < 0.2 * r.seconds);
    let text = crate::cli::program::command(&["history", "show", "@killed"])
        .env("IOSONDE_HISTORY", &history)
        .output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    assert!(text.contains("did not come to its end") && text.contains("recorded"), "{text}");
}

#[test]
fn a_signal_ends_it_in_order_and_is_a_failure_only_before_an_end() {
    let cut = [["--seconds", "600"], ["--count", "6000"]];
    for (more, expected) in [(&[][..], 0), (&cut[0], 130), (&cut[1], 130)] {
        let mut running = Running::start(
            &[
                &["monitor", "--interval", "100ms", "--metrics", "127.0.0.1:0", "--no-history"],
                more,
            ]
            .concat(),
        );
        running.wait_for("metrics at");
        running.signal("INT");
        assert_eq!(code(&running.end()), expected);
    }
}

/// The status line of the answer to a request for this path, with a further header.
fn status_of(address: &str, path: &str, header: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    write!(stream, "{head}{header}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

/// Prometheus keeps no cookies: at the address that was printed, it got 303 and then 401.
#[test]
fn the_printed_address_can_be_scraped_and_a_token_can_come_from_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    fs::write(&file, "0123456789abcdef\n").unwrap();
    let scraped = |more: &[&str], header: &str| {
        let args = [&["monitor", "--metrics", "0.0.0.0:0", "--no-history"], more].concat();
        let mut running = Running::start(&args);
        running.wait_for("/metrics");
        let seen = running.seen().to_owned();
        let url = seen.split("http://").nth(1).unwrap().split_whitespace().next().unwrap();
        let (host, path) = url.split_once('/').unwrap();
        let address = format!("127.0.0.1:{}", host.rsplit(':').next().unwrap());
        let found = (0..2).map(|_| status_of(&address, &format!("/{path}"), header)).collect();
        running.signal("TERM");
        succeeds(&running.end());
        (found, path.to_owned())
    };
    let (found, path): (Vec<String>, _) = scraped(&[], "");
    assert_eq!(found, ["HTTP/1.1 200 OK"; 2], "{path}");
    let with = ["--token-file", file.to_str().unwrap()];
    let (found, path): (Vec<String>, _) = scraped(&with, "");
    assert_eq!((found[0].as_str(), path.as_str()), ("HTTP/1.1 401 Unauthorized", "metrics"));
    let (found, _): (Vec<String>, _) = scraped(&with, "authorization: Bearer 0123456789abcdef\r\n");
    assert_eq!(found, ["HTTP/1.1 200 OK"; 2]);
}

#[test]
fn prometheus_is_answered_and_an_external_csv_is_on_the_same_axis() {
    let directory = tempfile::tempdir().unwrap();
    let csv = directory.path().join("array.csv");
    let now = jiff::Timestamp::now();
    fs::write(&csv, format!("time,write pending\n{now},17\n")).unwrap();
    let csv = csv.to_str().unwrap();
    let args = [
        "monitor",
        "--interval",
        "100ms",
        "--metrics",
        "127.0.0.1:0",
        "--no-history",
        "--json",
        "--attach",
        csv,
    ];
    let mut running = Running::start(&args);
    running.wait_for("/metrics");
    let seen = running.seen();
    let address = seen.split("http://").nth(1).unwrap().split('/').next().unwrap();
    let mut body = String::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")
            .unwrap();
        body.clear();
        stream.read_to_string(&mut body).unwrap();
        if body.contains("iosonde_host_cpu_percent") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(
        body.contains("application/openmetrics-text") && body.ends_with("# EOF\n"),
        "{body:.600}"
    );
    running.signal("TERM");
    let output = running.end();
    succeeds(&output);
    let attached = &recording(&output).conclusion.attached;
    assert_eq!((attached[0].name.as_str(), attached[0].points[0].1), ("write pending", 17.0));
}
