//! The ways to the hosts.

use std::path::Path;

use fleet::Transport;
use jobs::{FleetReach, JobError};

use crate::pipes::Pipes;
use crate::ssh::Ssh;

/// How hosts are reached.
#[derive(Debug, Clone)]
pub(crate) enum Reach {
    /// Through `ssh`, which starts an agent on each of them.
    Ssh(Ssh),
}

impl From<&FleetReach> for Reach {
    fn from(reach: &FleetReach) -> Self {
        match reach {
            FleetReach::Ssh { command, agent } => {
                Self::Ssh(Ssh { command: command.clone(), agent: agent.clone() })
            }
        }
    }
}

impl Reach {
    /// What a result calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Ssh(_) => "ssh",
        }
    }

    /// Connects to the agents. With `ssh`, each allows the paths that are named for it; otherwise
    /// that was decided on its host.
    ///
    /// # Errors
    /// The server cannot be reached. A host that cannot is reported as gone.
    #[expect(clippy::unnecessary_wraps, reason = "a server may not answer")]
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
        }
    }
}
