//! The server: nats-server as a process, with the configuration of a site and no other.

use std::io;
use std::net::{IpAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::NatsError;
use crate::files;
use crate::site::Site;

/// The program that iosonde starts as the server.
const PROGRAM: &str = "nats-server";

/// Where a program for administrators is, besides `PATH`: there is where Debian has it.
const PLACES: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The configuration and the server are looked at this often.
const LOOK: Duration = Duration::from_millis(200);

/// A configuration longer than this is another file.
const BYTES_MAX: u64 = 64 << 20;

/// Runs nats-server in the foreground until `stop` or its end. Where hosts come or go meanwhile, it
/// reads its configuration again; `say` gets a sentence about it.
///
/// # Errors
/// There is no such program, its port is in use, or it ended by itself. It is not started with a
/// configuration that iosonde did not write: that could be one without TLS.
pub fn up(
    directory: &Path,
    stop: &AtomicBool,
    say: &mut dyn FnMut(String),
) -> Result<(), NatsError> {
    let site = Site::open(directory)?;
    let mut used = checked(&site)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    let program = find(places).ok_or(NatsError::NoServer)?;
    let (listen, port) = site.listens()?;
    is_free(listen, port)?;
    let mut server = Server::start(&program, &site)?;
    say(format!("the server is at {} for {} hosts", site.servers().join(", "), site.hosts().len()));
    site.ending().into_iter().for_each(&mut *say);
    while !stop.load(Ordering::Relaxed) {
        if let Some(status) = server.ended()? {
            return Err(NatsError::ServerEnded(status.to_string()));
        }
        let changed = files::read(&site.configuration_file(), BYTES_MAX);
        if let Some(text) = changed.ok().filter(|text| *text != used) {
            used = text;
            // The list was replaced before the configuration was.
            match Site::open(directory).and_then(|site| checked(&site).map(|_| site)) {
                Ok(site) => {
                    server.reload(&program)?;
                    say(format!("the server now has {} hosts", site.hosts().len()));
                }
                Err(error) => say(format!("the server keeps its configuration: {error}")),
            }
        }
        thread::sleep(LOOK);
    }
    Ok(())
}

/// The configuration as it is in the directory, which has to be what iosonde writes.
fn checked(site: &Site) -> Result<String, NatsError> {
    let path = site.configuration_file();
    let text = files::read(&path, BYTES_MAX)?;
    if text == site.configuration()? { Ok(text) } else { Err(NatsError::Changed(path)) }
}

fn find(places: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    places.into_iter().map(|place| place.join(&name)).find(|path| path.is_file())
}

fn is_free(listen: &str, port: u16) -> Result<(), NatsError> {
    let Ok(address) = listen.parse::<IpAddr>() else { return Ok(()) };
    match TcpListener::bind((address, port)) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(NatsError::PortInUse(port)),
        _ => Ok(()),
    }
}

/// The process. It ends with its owner.
struct Server(Child);

impl Server {
    fn start(program: &Path, site: &Site) -> Result<Self, NatsError> {
        let mut command = Command::new(program);
        // The files that the configuration names are next to it.
        let file = site.configuration_file();
        command.arg("-c").arg(file.file_name().unwrap_or_default());
        command.current_dir(site.directory());
        let child = command.spawn();
        child.map(Self).map_err(|source| NatsError::File {
            what: "start",
            path: program.to_owned(),
            source,
        })
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>, NatsError> {
        self.0.try_wait().map_err(|error| NatsError::ServerEnded(error.to_string()))
    }

    /// Has it read its configuration again, as SIGHUP does.
    fn reload(&mut self, program: &Path) -> Result<(), NatsError> {
        let failed = |error: String| NatsError::NotReloaded(error);
        let mut command = Command::new(program);
        // It is our child and not yet waited for, so that the number is still its.
        let output = command.arg("--signal").arg(format!("reload={}", self.0.id())).output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It keeps nothing that could be lost.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_not_installed_is_explained() {
        let place = tempfile::tempdir().unwrap();
        let places = || [place.path().join("none"), place.path().to_owned()];
        assert_eq!(find(places()), None);
        assert!(NatsError::NoServer.to_string().contains("apt install nats-server"));
        let program = place.path().join(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX));
        std::fs::write(&program, "").unwrap();
        assert_eq!(find(places()), Some(program));
    }
}
