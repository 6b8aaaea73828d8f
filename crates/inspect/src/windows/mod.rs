//! Windows: the running system. What it does not answer without the rights of an administrator is
//! absent, and the page says so.

mod calls;
mod reading;
mod services;
mod wmi;

use std::os::windows::fs::MetadataExt;
use std::path::Path;

pub(crate) use reading::{is_stream, kind_of, open_without_waiting};

use crate::host::UNKNOWN;
use crate::windows_answers::{Answer, Question, System};
use crate::windows_examine as examine;
use crate::windows_recorder::Recorder;
use crate::{Host, InspectError, Inspection, Processors, Request, Storage};

/// `FSCTL_GET_INTEGRITY_INFORMATION`
const GET_INTEGRITY_INFORMATION: u32 = 0x0009_027C;

/// Asks the running system.
struct Live;

impl System for Live {
    fn ask(&self, about: &str, question: &Question) -> Answer {
        let path = Path::new(about);
        let bytes = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let text = |text: String| text.into_bytes();
        let answer = match question {
            Question::Version => {
                Ok(calls::version().iter().flat_map(|n| n.to_le_bytes()).collect())
            }
            Question::Memory => calls::memory().map(|memory| bytes(&memory)),
            Question::Processors => calls::processors(),
            Question::Elevated => services::is_elevated().map(|is| vec![u8::from(is)]),
            Question::RegistryValues => services::registry_values(about).map(text),
            Question::Filters => services::filters().map(text),
            Question::SqlServices => services::sql_services().map(text),
            Question::Holders(right) => services::holders(right).map(text),
            Question::Attributes => {
                let found = std::fs::metadata(path);
                found.map(|found| found.file_attributes().to_le_bytes().to_vec())
            }
            Question::Integrity => calls::control_file(path, GET_INTEGRITY_INFORMATION),
            Question::Registry(value) => calls::registry(about, value).map(text),
            Question::Kind => std::fs::metadata(path).map(|found| {
                vec![if found.is_dir() {
                    1
                } else if found.is_file() {
                    2
                } else {
                    3
                }]
            }),
            Question::FinalPath => {
                calls::final_path(path).map(|path| text(path.to_string_lossy().into_owned()))
            }
            Question::MountPoint => {
                calls::mount_point(path).map(|path| text(path.to_string_lossy().into_owned()))
            }
            Question::Volume => calls::volume(path).map(text),
            Question::FileSystem => calls::file_system(path)
                .map(|(name, flags)| [&flags.to_le_bytes()[..], name.as_bytes()].concat()),
            Question::Cluster => calls::cluster_bytes(path).map(|size| bytes(&[size])),
            Question::Space => calls::space(path).map(|(a, b, c)| bytes(&[a, b, c])),
            Question::Control(code, input) => {
                calls::ask(&device(about)).and_then(|device| calls::control(&device, *code, input))
            }
            // Its errors are not those of the system.
            Question::Management(query) => return wmi::ask(about, query),
        };
        answer.map_err(|error| error.raw_os_error().map_or(0, i32::cast_unsigned))
    }
}

/// The path of a device: of a volume by its name without the last `\`, with which it would be the
/// root directory; of a disk such as `PhysicalDrive0`.
fn device(about: &str) -> String {
    if about.starts_with('\\') {
        about.trim_end_matches('\\').to_owned()
    } else {
        format!(r"\\.\{about}")
    }
}

fn hostname() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| UNKNOWN.to_owned())
}

pub(crate) fn host(_root: &Path) -> Host {
    Host { hostname: hostname(), ..examine::host(&Live) }
}

pub(crate) fn processors(_root: &Path) -> Processors {
    examine::processors(&Live)
}

pub(crate) fn storage(_root: &Path, target: &Path) -> Result<Storage, InspectError> {
    examine::storage(&Live, target)
}

pub(crate) fn inspection(_root: &Path, request: &Request) -> Result<Inspection, InspectError> {
    examine::inspection(&Live, request, hostname())
}

pub(crate) fn recorded_inspection(
    _root: &Path,
    request: &Request,
) -> Result<(Inspection, String), InspectError> {
    let recorder = Recorder::new(&Live);
    let inspection = examine::inspection(&recorder, request, hostname())?;
    Ok((inspection, recorder.recording(&request.tool_version)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TargetKind;

    #[test]
    fn the_machine_is_known() {
        let host = host(Path::new("/"));
        assert!(host.os.contains("Windows") && host.kernel.contains('.'), "{host:?}");
        assert!(host.memory_bytes >= host.memory_available_bytes && host.memory_bytes > 0);
        let processors = processors(Path::new("/"));
        assert_eq!(processors.online.len(), host.cpus as usize);
        assert!(host.cpus > 0);
    }

    #[test]
    fn a_directory_has_a_file_system() {
        let storage = storage(Path::new("/"), &std::env::temp_dir()).unwrap();
        assert_eq!(storage.kind, TargetKind::Directory);
        let file_system = storage.file_system.unwrap();
        assert!(!file_system.kind.is_empty() && file_system.total_bytes > 0, "{file_system:?}");
        assert!(file_system.block_bytes.is_power_of_two(), "{file_system:?}");
    }

    #[test]
    fn what_is_not_there_is_examined_where_it_would_be() {
        let root = Path::new("/");
        let file = std::env::temp_dir().join("not-there.test");
        assert_eq!(storage(root, &file).unwrap().kind, TargetKind::Missing);
        let nowhere = std::env::temp_dir().join("not-there").join("x");
        assert!(matches!(storage(root, &nowhere), Err(InspectError::Missing { .. })));
    }

    /// What is asked here is answered from the recording as it was here.
    #[test]
    fn a_recording_has_what_was_answered() {
        let request = Request { targets: vec![std::env::temp_dir()], ..Request::default() };
        let (inspection, recording) = recorded_inspection(Path::new("/"), &request).unwrap();
        assert_eq!(inspection.targets.len(), 1);
        assert!(recording.starts_with("iosonde.answers/1\n"), "{recording}");
        let temp = std::env::temp_dir().to_string_lossy().into_owned();
        assert!(!recording.contains(temp.trim_end_matches('\\')), "{recording}");
        let replayed = crate::windows_replay::Replay::parse(&recording).unwrap();
        let again = crate::windows_examine::storage(&replayed, Path::new("target 1")).unwrap();
        assert_eq!(again.file_system.unwrap().kind, "NTFS");
    }
}
