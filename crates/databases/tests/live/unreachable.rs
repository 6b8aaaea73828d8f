//! Servers that are not there, and such that are something else: an error in time, without a
//! password.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use databases::{DatabaseUrl, Watched};

/// No server of a test listens here, as may happen to a port that was free a moment ago.
const NOBODY: u16 = 1;

fn error(scheme: &str, port: u16) -> String {
    let url = format!("{scheme}://anna:Zq9xK@127.0.0.1:{port}");
    Watched::connect(&DatabaseUrl::parse(&url).unwrap()).unwrap_err().to_string()
}

#[test]
fn nobody_is_there() {
    for (scheme, name) in
        [("postgres", "PostgreSQL"), ("mysql", "MySQL"), ("sqlserver", "SQL Server")]
    {
        let error = error(scheme, NOBODY);
        assert!(
            error.starts_with(&format!("cannot reach the {name} at `{scheme}://anna@")),
            "{error}"
        );
        assert!(!error.contains("Zq9xK") && error.contains("refused"), "{error}");
    }
}

#[test]
fn somebody_else_is_there() {
    for scheme in ["postgres", "mysql", "sqlserver"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
                let _ = stream.read(&mut [0; 64]);
            }
        });
        let begun = Instant::now();
        let error = error(scheme, port);
        assert!(error.starts_with("cannot reach the ") && !error.contains("Zq9xK"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{scheme}");
    }
}
