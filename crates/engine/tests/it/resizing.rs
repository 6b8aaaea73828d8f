//! Test files that become shorter and longer: what comes back is zeros, and the mark is always
//! where it belongs.

use std::io::{Seek, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::{Cleaned, Filling, MARK_BYTES, Mark, Permissions, PrepareError, Prepared};
use proptest::prelude::*;
use workload::{Bytes, Mode, Stream, Target, Workload};

fn prepared(
    path: &Path,
    bytes: u64,
    keep: bool,
    filling: Filling,
) -> Result<Prepared, PrepareError> {
    let target = Target { path: path.to_owned(), size_bytes: Some(Bytes(bytes)) };
    let stream = Stream { write_percent: 50, ..Stream::default() };
    let mut workload = Workload::single(target, stream);
    workload.mode = Mode::Buffered;
    let destroy = vec![engine::Destroy::new(path)];
    let permissions = Permissions { destroy, overfill: true, keep, ..Permissions::default() };
    engine::prepare_as(&workload, &permissions, &[filling], &AtomicBool::new(false), &mut |_| ())
}

fn mark(path: &Path) -> Mark {
    let bytes = std::fs::read(path).unwrap();
    let at = bytes.len() - usize::try_from(MARK_BYTES).unwrap();
    Mark::parse(&bytes[at..], bytes.len() as u64).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_comes_back_is_zeros_and_the_mark_is_at_the_end(
        sizes in prop::collection::vec(1u64..40, 1..12), sparse: bool, reserve: bool
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.test");
        let filling = if sparse { Filling::Sparse } else { Filling::Caller };
        let prepared = prepared(&path, 40 << 12, true, filling).unwrap();
        let resizer = prepared.targets()[0].resizer().unwrap().unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let mut right = vec![0u8; 40 << 12];
        for (byte, pages) in (1u8..).zip(sizes) {
            // All of it is written, and then it changes.
            right.fill(byte);
            (&file).rewind().unwrap();
            (&file).write_all(&right).unwrap();
            let size = usize::try_from(pages << 12).unwrap();
            resizer.resize(pages << 12, reserve).unwrap();
            right.resize(size, 0);
            let found = std::fs::read(&path).unwrap();
            prop_assert!(found[..size] == right[..]);
            let expected = Mark { size_bytes: pages << 12, filled: false, keep: true };
            prop_assert_eq!(mark(&path), expected);
        }
        drop((resizer, prepared));
        prop_assert!(matches!(engine::clean(&path, true, false), Ok(Cleaned::Removed(_))));
    }
}

#[test]
fn a_sparse_file_is_a_hole_whatever_was_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.test");
    drop(prepared(&path, 1 << 20, true, Filling::Engine).unwrap());
    assert!(mark(&path).filled);
    let again = prepared(&path, 1 << 20, false, Filling::Sparse).unwrap();
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(&path).unwrap();
        assert!(metadata.blocks() * 512 < 256 << 10, "{}", metadata.blocks());
    }
    assert!(std::fs::read(&path).unwrap()[..1 << 20].iter().all(|byte| *byte == 0));
    assert!(!mark(&path).filled, "nobody takes it for a whole one");
    drop(again);
    assert!(path.exists(), "it was to be kept once");

    let foreign = directory.path().join("foreign");
    std::fs::write(&foreign, vec![7; 1 << 20]).unwrap();
    let refused = prepared(&foreign, 1 << 20, false, Filling::Sparse).unwrap_err();
    assert!(refused.to_string().contains("only those can have holes"), "{refused}");
    assert_eq!(std::fs::read(&foreign).unwrap(), vec![7; 1 << 20]);
    let destroyed = prepared(&foreign, 1 << 20, false, Filling::Caller).unwrap();
    assert!(
        destroyed.targets()[0].resizer().unwrap().is_none(),
        "somebody else's file keeps its size"
    );
}
