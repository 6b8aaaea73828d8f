//! The buffer that writes of the content `source` take their bytes from: made before the run,
//! shared by a stream's threads.

use std::io;
use std::path::Path;
use std::sync::Arc;

use workload::{Content, EngineChoice, Stream, Workload};

use crate::error::EngineError;
use crate::random::Random;

/// Every writing stream's source of this workload; empty where it has none.
pub(crate) fn load(workload: &Workload) -> Result<Vec<Arc<Vec<u8>>>, EngineError> {
    // Nobody sees what is written to a simulated device.
    let simulated = workload.engine == EngineChoice::Sim;
    let of = |stream: &Stream| match bytes_of(stream).filter(|_| !simulated) {
        Some(bytes) => filled(stream, bytes).map(Arc::new),
        None => Ok(Arc::default()),
    };
    workload.streams.iter().map(of).collect()
}

/// Whether every file that a stream writes from can be read and has bytes.
pub(crate) fn check(workload: &Workload) -> Result<(), EngineError> {
    for stream in &workload.streams {
        if let (Some(path), Some(_)) = (&stream.content_file, bytes_of(stream)) {
            first(path, 1).map_err(|source| failed(path, source))?;
        }
    }
    Ok(())
}

/// The size of a stream's source, if it writes from one.
pub(crate) fn bytes_of(stream: &Stream) -> Option<u64> {
    match stream.content {
        Content::Source { bytes } if stream.writes() => Some(bytes.0),
        _ => None,
    }
}

/// The same bytes in every run: those of the file over and over, or random ones from the seed 0.
fn filled(stream: &Stream, bytes: u64) -> Result<Vec<u8>, EngineError> {
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let Some(path) = &stream.content_file else {
        let mut buffer = vec![0; length];
        Random::new(0, 0).fill(&mut buffer);
        return Ok(buffer);
    };
    let mut buffer = first(path, bytes).map_err(|source| failed(path, source))?;
    while buffer.len() < length {
        let more = (length - buffer.len()).min(buffer.len());
        buffer.extend_from_within(..more);
    }
    Ok(buffer)
}

/// The beginning of a file, at most this long and not empty.
fn first(path: &Path, bytes: u64) -> io::Result<Vec<u8>> {
    let buffer = inspect::reading::head(path, bytes)?;
    if buffer.is_empty() {
        return Err(io::Error::other("it is empty"));
    }
    Ok(buffer)
}

fn failed(path: &Path, source: io::Error) -> EngineError {
    EngineError::ContentFile { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use workload::{Bytes, Target};

    fn workload(bytes: u64, file: Option<&Path>) -> Workload {
        let content = Content::Source { bytes: Bytes(bytes) };
        let content_file = file.map(Path::to_owned);
        let stream = Stream { content, content_file, write_percent: 50, ..Stream::default() };
        Workload::single(Target { path: "/data".into(), size_bytes: None }, stream)
    }

    fn loaded(workload: &Workload) -> Vec<u8> {
        check(workload).unwrap();
        load(workload).unwrap().remove(0).to_vec()
    }

    #[test]
    fn without_a_file_the_bytes_are_random_and_always_the_same() {
        let source = loaded(&workload(100_001, None));
        assert_eq!(source.len(), 100_001);
        let zeros: usize = source.iter().map(|b| usize::from(*b == 0)).sum();
        assert!((300..500).contains(&zeros), "{zeros}");
        assert_eq!(source, loaded(&Workload { seed: 9, ..workload(100_001, None) }));
    }

    #[test]
    fn a_file_that_is_missing_empty_or_none_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let (missing, empty) = (directory.path().join("missing"), directory.path().join("empty"));
        std::fs::File::create(&empty).unwrap();
        for path in [missing.as_path(), &empty, directory.path()] {
            let workload = workload(8192, Some(path));
            for error in [check(&workload).unwrap_err(), load(&workload).unwrap_err()] {
                assert!(error.to_string().contains(&path.display().to_string()), "{error}");
            }
            let mut reads = workload;
            reads.streams[0].write_percent = 0;
            assert!(check(&reads).is_ok(), "nothing is written from it");
        }
    }

    proptest! {
        /// In DiskSpd, a file longer than the buffer overwrote the memory after it.
        #[test]
        fn the_bytes_of_a_file_are_repeated_or_cut(
            bytes in prop::collection::vec(any::<u8>(), 1..300), length in 1usize..1000,
        ) {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &bytes).unwrap();
            let source = loaded(&workload(length as u64, Some(file.path())));
            let expected: Vec<u8> = bytes.iter().copied().cycle().take(length).collect();
            prop_assert_eq!(source, expected);
        }
    }
}
