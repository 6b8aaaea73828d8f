//! The ways to the hosts.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fleet::Transport;
use jobs::{FleetReach, JobError};
use nats::{NatsError, Site, SiteTransport};

pub use nats::SiteRequest;

use crate::pipes::Pipes;
use crate::ssh::Ssh;

/// How the coordinator reaches its hosts.
#[derive(Debug, Clone)]
pub(crate) enum Reach {
    /// Through `ssh`, which starts an agent on each of them.
    Ssh(Ssh),
    /// Through the server of the fleet in this directory, to which their agents are connected.
    Site(PathBuf),
}

impl From<&FleetReach> for Reach {
    fn from(reach: &FleetReach) -> Self {
        match reach {
            FleetReach::Ssh { command, agent } => {
                Self::Ssh(Ssh { command: command.clone(), agent: agent.clone() })
            }
            FleetReach::Site { directory } => Self::Site(directory.clone()),
        }
    }
}

impl Reach {
    /// The word for it in results: `ssh` or `nats`.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ssh(_) => "ssh",
            Self::Site(_) => "nats",
        }
    }

    /// Connects to the agents. With `ssh`, each allows the paths that are named for it; otherwise
    /// that was decided on its host.
    ///
    /// # Errors
    /// The server cannot be reached. A host that cannot is reported as gone.
    pub(crate) fn open(
        &self,
        hosts: &[String],
        allow: &[Vec<&Path>],
    ) -> Result<Box<dyn Transport>, JobError> {
        match self {
            Self::Ssh(ssh) => {
                let hosts = hosts.iter().zip(allow);
                Ok(Box::new(Pipes::open(hosts.map(|(host, allow)| ssh.command(host, allow)))))
            }
            Self::Site(directory) => {
                let transport = SiteTransport::open(directory, hosts).map_err(of_nats)?;
                Ok(Box::new(transport))
            }
        }
    }
}

/// The hosts of the fleet in this directory.
///
/// # Errors
/// It is not the directory of a fleet.
pub fn of_site(directory: &Path) -> Result<Vec<String>, JobError> {
    Site::open(directory).map(|site| site.hosts()).map_err(of_nats)
}

/// Makes the directory of a fleet, or adds hosts to one; the server has the name of this host
/// unless the request says otherwise. What to type next.
///
/// # Errors
/// A name is wrong or taken, or a file cannot be made.
pub fn init(mut request: SiteRequest) -> Result<String, JobError> {
    if request.servers.is_empty() && Site::open(&request.directory).is_err() {
        request.servers.push(inspect::Inspector::new().host().hostname);
    }
    let site = Site::init(&request).map_err(of_nats)?;
    Ok(site.instructions(&request.hosts))
}

/// Makes new certificates for the hosts of the request, or for those whose certificate ends soon.
/// What to do next.
///
/// # Errors
/// There is no such fleet or host, or a file cannot be written.
pub fn renew(request: &SiteRequest) -> Result<String, JobError> {
    let (site, renewed) = Site::renew(request).map_err(of_nats)?;
    Ok(site.after_renewal(&renewed))
}

/// Removes a host from the fleet in a directory. What that means.
///
/// # Errors
/// There is no such host, or the files cannot be written.
pub fn revoke(directory: &Path, host: &str) -> Result<String, JobError> {
    Site::open(directory).and_then(|mut site| site.revoke(host)).map_err(of_nats)?;
    Ok(format!(
        "removed `{host}`. A server that `iosonde fleet up` started shuts it out within a second. \
         Send SIGHUP to one that you started yourself: nats-server --signal reload\n"
    ))
}

/// Runs the server of a fleet until `stop`; `say` gets sentences about it.
///
/// # Errors
/// It cannot be started, or ended by itself.
pub fn up(
    directory: &Path,
    stop: &AtomicBool,
    say: &mut dyn FnMut(String),
) -> Result<(), JobError> {
    nats::up(directory, stop, say).map_err(of_nats)
}

/// As an error of a job.
#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
pub(crate) fn of_nats(error: NatsError) -> JobError {
    match error {
        NatsError::Usage(_) | NatsError::UnknownHost { .. } => JobError::Usage(error.to_string()),
        _ => JobError::CannotRun(error.to_string()),
    }
}
