//! What the system counts and how storage is set up; and the browser.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use testing::program::fails;

use super::{Running, place};

/// One request to a server, and its whole answer.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

/// Wine counts no disks, so those of a real system were never seen here.
#[test]
fn processors_are_watched() {
    let (place, _) = place();
    let recording = place.json(&["monitor", "--seconds", "2", "--interval", "1"]);
    let text = recording.to_string();
    assert!(recording["status"] == "complete" && text.contains("ticks"), "{recording:#}");
    assert_eq!(place.list(&[]).len(), 1);
}

#[test]
fn a_directory_is_inspected() {
    let (place, data) = place();
    let inspection = place.json(&["inspect", &data]);
    let file_system = &inspection["targets"][0]["storage"]["file_system"];
    assert!(file_system["total_bytes"].as_u64().unwrap() > 0, "{inspection:#}");
    assert!(inspection["host"]["memory_bytes"].as_u64().unwrap() > 0);
    let text = place.says(&["inspect", &data, "--record", "answers.txt"]);
    assert!(text.contains("allocation-unit"), "Wine has 4 KiB: {text}");
    assert!(text.contains("Not seen:"), "it does not claim that all is well: {text}");
    let answers = place.text("answers.txt");
    assert!(answers.starts_with("iosonde.answers/1\n"), "{answers}");
    assert!(answers.contains("C:\\\tfile-system\t") && !answers.contains(&data), "{answers}");
    assert!(answers.contains("root\\CIMV2\tmanagement SELECT "), "{answers}");
    fs::write(place.path("notes.txt"), "somebody's").unwrap();
    let output = place.run(&["inspect", &data, "--record", "notes.txt"]);
    fails(&output, 1, "cannot write the recording of answers: it exists");
}

#[test]
#[cfg(feature = "serve")]
fn the_history_is_served() {
    let (place, data) = place();
    let run = place.json(&["run", &data, "--size", "8M", "--overfill", "--seconds", "0.2"]);
    let mut server = Running::start(&place, &["serve", "--listen", "127.0.0.1:0"]);
    let line = server.first_line();
    let address = line.strip_prefix("http://").unwrap().trim_end_matches('/');
    let id = run["id"].as_str().unwrap();
    for path in ["/", &format!("/result/{id}")] {
        let answer = get(address, path);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(&data), "{path}: {answer}");
    }
    server.kill();
}
