//! `iosonde serve` as a command: what it prints, how it ends, and what it refuses to begin with.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::browser::program::iosonde;

/// A history with nothing but one run in it.
fn history() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let run = ["run", "sim", "--size", "1G", "--engine", "sim", "--seconds", "1", "--quiet"];
    let output = iosonde(&directory.path().join("h.db")).args(run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    directory
}

fn serve(directory: &Path) -> Command {
    let mut command = iosonde(&directory.join("h.db"));
    command.arg("serve");
    command
}

/// Starts it and gives the line that it prints.
fn started(command: &mut Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

fn get(port: &str, target: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn port(url: &str) -> &str {
    url.rsplit(':').next().unwrap().split('/').next().unwrap()
}

#[track_caller]
fn refused(output: &Output, code: i32, words: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(words), "`{words}` is not in {text}");
    assert!(output.stdout.is_empty(), "nothing is served, so no address is printed");
}

#[test]
fn a_signal_ends_it_as_done_though_a_client_is_connected() {
    let directory = history();
    for signal in ["TERM", "INT"] {
        let (mut child, url) = started(serve(directory.path()).args(["--listen", "127.0.0.1:0"]));
        assert!(get(port(&url), "/").contains("8 KiB random read"), "{url}");
        let _idle = TcpStream::connect(format!("127.0.0.1:{}", port(&url))).unwrap();
        let kill = ["-c", "kill -$0 $1", signal, &child.id().to_string()];
        assert!(Command::new("sh").args(kill).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn what_others_can_reach_is_behind_a_token_that_is_printed_once() {
    let directory = history();
    let (mut child, url) = started(serve(directory.path()).args(["--listen", "0.0.0.0:0"]));
    let (base, token) = url.split_once("/?token=").unwrap();
    assert!(token.len() >= 16, "{url}");
    assert!(get(port(base), "/").starts_with("HTTP/1.1 401"));
    assert!(get(port(base), &format!("/?token={token}")).starts_with("HTTP/1.1 303"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_served_is_said_with_the_remedy() {
    let directory = history();
    let nowhere = serve(&directory.path().join("nowhere")).output().unwrap();
    refused(&nowhere, 1, "--history");
    assert!(!directory.path().join("nowhere").exists(), "reading makes nothing");
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = busy.local_addr().unwrap().to_string();
    refused(&serve(directory.path()).args(["--listen", &address]).output().unwrap(), 1, "--listen");
    let token = directory.path().join("token");
    let with = ["--token-file", token.to_str().unwrap()];
    refused(&serve(directory.path()).args(with).output().unwrap(), 1, "cannot read the token file");
    std::fs::write(&token, "short\n").unwrap();
    refused(&serve(directory.path()).args(with).output().unwrap(), 2, "16 characters");
    refused(
        &serve(directory.path()).args(["--listen", "nowhere"]).output().unwrap(),
        2,
        "--listen",
    );
}

/// Each page is read through a connection of its own, and each of them took the locks of the others
/// away.
#[test]
fn it_keeps_its_lock_on_the_history_whatever_is_read() {
    let directory = history();
    let path = directory.path().join("h.db");
    let (mut child, url) = started(serve(directory.path()).args(["--listen", "127.0.0.1:0"]));
    for _ in 0..5 {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(get(port(&url), "/").starts_with("HTTP/1.1 200")));
            }
        });
        assert!(testing::locks::settle_at(child.id(), &path, 1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
