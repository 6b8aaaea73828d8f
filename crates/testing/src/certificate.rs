//! A certificate for servers that a test starts.

use std::path::Path;
use std::process::Command;

/// Makes `server.crt` and `server.key` in this directory: a certificate for `localhost`, valid for
/// two days, that nobody has signed but itself.
///
/// # Panics
/// `openssl` is missing or fails.
pub fn certificate(directory: &Path) {
    let made = Command::new("openssl")
        .args(["req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-out", "server.crt", "-keyout", "server.key"])
        .current_dir(directory)
        .output()
        .expect("openssl can be started");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
