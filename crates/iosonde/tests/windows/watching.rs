//! The browser, and what Windows does not tell yet.

use std::io::{Read, Write};
use std::net::TcpStream;

use testing::program::{code, stderr};

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

#[test]
#[cfg(feature = "serve")]
fn the_history_is_served() {
    let (place, data) = place();
    let run = place.json(&["run", &data, "--size", "8M", "--seconds", "0.2", "--warmup", "0"]);
    let mut server = Running::start(&place, &["serve", "--listen", "127.0.0.1:0"]);
    let line = server.first_line();
    let address = line.strip_prefix("http://").unwrap().trim_end_matches('/');
    let id = run["id"].as_str().unwrap();
    for path in ["/", "/result/latest"] {
        let answer = get(address, path);
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(id), "{path}: {answer}");
    }
    assert!(get(address, "/result/latest").contains(&data.replace('\\', r"\")));
    server.kill();
}
