//! What Windows is asked, and its answers as bytes. So the answers of a server that nobody here has
//! can be kept, sent, and given again.

use std::fmt::{self, Write as _};

/// `IOCTL_STORAGE_QUERY_PROPERTY`
pub(crate) const QUERY_PROPERTY: u32 = 0x002D_1400;
/// `IOCTL_STORAGE_PREDICT_FAILURE`
pub(crate) const PREDICT_FAILURE: u32 = 0x002D_1100;
/// `IOCTL_DISK_GET_DRIVE_LAYOUT_EX`
pub(crate) const DRIVE_LAYOUT: u32 = 0x0007_0050;

/// A question to Windows. What it is about is named next to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// About the machine: the version of the system, as three numbers of 32 bits.
    Version,
    /// About the machine: bytes of memory, and of that what is available, of 64 bits each.
    Memory,
    /// About the machine: the records of `GetLogicalProcessorInformationEx`.
    Processors,
    /// About the machine: one byte, 1 if this process has the rights of an administrator.
    Elevated,
    /// About a key under `HKEY_LOCAL_MACHINE`: the text of this value.
    Registry(&'static str),
    /// About such a key: the names of all its values, each with a tab and what it holds.
    RegistryValues,
    /// About the machine: the file system filters that run, each with a tab and its altitude.
    Filters,
    /// About the machine: the services of SQL Server, each with its account and the identities of
    /// the account and the service, with tabs between.
    SqlServices,
    /// About the machine: the identities of the accounts that hold this right, one in a line.
    Holders(&'static str),
    /// About a namespace of the management service (WMI): the instances that this query finds, as
    /// text.
    Management(&'static str),
    /// About a path: 1 for a directory, 2 for a file, 3 for something else.
    Kind,
    /// About a path: its attributes, of 32 bits.
    Attributes,
    /// About a path: its `FSCTL_GET_INTEGRITY_INFORMATION_BUFFER`.
    Integrity,
    /// About a path: where it leads, with every link followed.
    FinalPath,
    /// About a path: the directory that its volume is mounted on.
    MountPoint,
    /// About that directory: the name of the volume, such as `\\?\Volume{…}\`.
    Volume,
    /// About that directory: the flags of `GetVolumeInformation` (32 bits), and the name of the
    /// file system.
    FileSystem,
    /// About that directory: bytes of a cluster, of 64 bits.
    Cluster,
    /// About that directory: bytes that this user may take, all bytes, and all that are free, of 64
    /// bits each.
    Space,
    /// About a volume or a disk: what it answers to `DeviceIoControl` with this code and input.
    Control(u32, Vec<u8>),
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "version",
            Self::Memory => "memory",
            Self::Processors => "processors",
            Self::Elevated => "elevated",
            Self::RegistryValues => "registry-values",
            Self::Filters => "filters",
            Self::SqlServices => "sql-services",
            Self::Holders(right) => return write!(f, "holders {right}"),
            Self::Management(query) => return write!(f, "management {query}"),
            Self::Attributes => "attributes",
            Self::Integrity => "integrity",
            Self::Registry(value) => return write!(f, "registry {value}"),
            Self::Kind => "kind",
            Self::FinalPath => "final-path",
            Self::MountPoint => "mount-point",
            Self::Volume => "volume",
            Self::FileSystem => "file-system",
            Self::Cluster => "cluster",
            Self::Space => "space",
            Self::Control(code, input) => {
                write!(f, "control {code:08x}")?;
                return if input.is_empty() { Ok(()) } else { write!(f, " {}", hex(input)) };
            }
        })
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that Windows answered, or the number of its error.
pub(crate) type Answer = Result<Vec<u8>, u32>;

/// Windows, or what gives its answers again.
pub(crate) trait System {
    /// What Windows answers to a question about something.
    fn ask(&self, about: &str, question: &Question) -> Answer;

    /// The answer, empty if there is none.
    fn bytes(&self, about: &str, question: &Question) -> Vec<u8> {
        self.ask(about, question).unwrap_or_default()
    }

    /// The answer as a text, unless it is empty.
    fn text(&self, about: &str, question: &Question) -> Option<String> {
        let text = String::from_utf8_lossy(&self.bytes(about, question)).trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    }
}
