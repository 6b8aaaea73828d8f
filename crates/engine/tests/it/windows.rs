//! Whose data it is, with the meaning that Windows gives to names, links and open files.

use std::fs::{self, File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::{Action, Event, Permissions, PrepareError, Refusal};
use workload::{Bytes, EngineChoice, Mode, Stream, Target, Workload};

fn workload(path: &Path, write_percent: u8) -> Workload {
    let target = Target { path: path.to_owned(), size_bytes: None };
    let stream = Stream { write_percent, depth: 4, ..Stream::default() };
    let mut workload = Workload::single(target, stream);
    (workload.seconds, workload.warmup_seconds) = (0.05, 0.0);
    workload
}

/// Everything that may be allowed is allowed.
fn permissions(path: &Path) -> Permissions {
    let destroy = vec![engine::Destroy::new(path)];
    Permissions { destroy, overfill: true, any_name: true, keep: false }
}

fn refusal(path: &Path) -> Refusal {
    match engine::plan(&workload(path, 50), &permissions(path)) {
        Err(PrepareError::Refused(mut refusals)) => refusals.remove(0),
        other => panic!("{}: {other:?}", path.display()),
    }
}

#[test]
fn names_that_mean_something_else_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let below = |name: &str| directory.path().join(name);
    let mut hostile: Vec<PathBuf> =
        [r"\\.\PhysicalDrive0", r"\\.\C:", r"\\?\PhysicalDrive0", "C:", r"\\.\pipe\x", "nul"]
            .map(PathBuf::from)
            .into();
    hostile.extend(["x.test:stream", "x.test.", "x.test ", "com1.test"].map(below));
    for path in hostile {
        let refusal = refusal(&path);
        assert!(matches!(refusal, Refusal::Name { .. }), "{}: {refusal}", path.display());
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn files_of_databases_are_refused_under_all_of_their_names() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["sales.mdf", "SALES.LDF", "x.ndf", "full.bak", "a.trn", "b.sqlite"] {
        let path = directory.path().join(name);
        assert!(matches!(refusal(&path), Refusal::Database { .. }), "{name} is not made");
        fs::write(&path, "data").unwrap();
        assert!(matches!(refusal(&path), Refusal::Database { .. }), "{name} is not written");
        assert_eq!(fs::read(&path).unwrap(), b"data");
    }
}

#[test]
fn files_of_databases_are_refused_by_way_of_links() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("sales.mdf"), "data").unwrap();
    let link = directory.path().join("link.dat");
    std::os::windows::fs::symlink_file(directory.path().join("sales.mdf"), &link).unwrap();
    if !link.is_symlink() {
        return testing::skip("engine::windows::links", "this Wine makes no symbolic links");
    }
    assert!(matches!(refusal(&link), Refusal::Database { .. }));
}

#[test]
fn a_foreign_file_is_written_only_by_its_exact_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign.dat");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let none = Permissions { overfill: true, ..Permissions::default() };
    let refused = engine::plan(&workload(&path, 50), &none).unwrap_err().to_string();
    assert!(refused.contains("was not made by iosonde"), "{refused}");
    let plan = engine::plan(&workload(&path, 0), &none).unwrap().remove(0);
    assert_eq!(plan.action, Action::ReadOnly);
    let plan = engine::plan(&workload(&path, 50), &permissions(&path)).unwrap().remove(0);
    assert_eq!(plan.action, Action::DestroyAndFill);
    assert_eq!(fs::read(&path).unwrap(), vec![7; 1 << 20]);
}

/// A database or a virtual machine that runs on the file would not survive.
#[test]
fn a_file_that_is_open_elsewhere_or_has_two_names_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign.dat");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let other = File::open(&path).unwrap();
    let text = refusal(&path).to_string();
    assert!(text.contains("open elsewhere"), "{text}");
    assert!(engine::plan(&workload(&path, 0), &permissions(&path)).is_ok(), "reading it is fine");
    drop(other);
    assert!(engine::plan(&workload(&path, 50), &permissions(&path)).is_ok());
    fs::hard_link(&path, directory.path().join("second.dat")).unwrap();
    let text = refusal(&path).to_string();
    assert!(text.contains("2 names"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), vec![7; 1 << 20]);
}

/// A test file in use is passed by, is not removed by others, and goes when its run is over.
#[test]
fn a_test_file_belongs_to_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut workload = workload(directory.path(), 50);
    workload.targets[0].size_bytes = Some(Bytes(1 << 20));
    let (permissions, stop) = (permissions(directory.path()), AtomicBool::new(false));
    let first = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap();
    let second = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap();
    let names = [&first, &second].map(|p| p.targets()[0].path().to_owned());
    assert_eq!(names[0], directory.path().join("iosonde.test"));
    assert_eq!(names[1], directory.path().join("iosonde-1.test"));
    assert_eq!(engine::clean(&names[0], true, false).unwrap(), engine::Cleaned::InUse);
    drop(second);
    assert!(names[0].exists() && !names[1].exists());
    // Another file of that name is not the run's.
    fs::rename(&names[0], directory.path().join("moved.test")).unwrap();
    fs::write(&names[0], "somebody's").unwrap();
    drop(first);
    assert_eq!(fs::read(&names[0]).unwrap(), b"somebody's");
    assert!(directory.path().join("moved.test").exists());
}

/// The file that was opened is the file that is written, or none is, whatever its name means by
/// then.
#[test]
fn the_io_goes_to_the_file_that_was_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.test");
    for (engine, mode) in [
        (EngineChoice::Auto, Mode::Direct),
        (EngineChoice::Auto, Mode::Buffered),
        (EngineChoice::Sync, Mode::Direct),
    ] {
        let mut workload = workload(&path, 100);
        workload.targets[0].size_bytes = Some(Bytes(1 << 20));
        (workload.engine, workload.mode) = (engine, mode);
        if engine == EngineChoice::Sync {
            workload.streams[0].depth = 1;
        }
        let stop = AtomicBool::new(false);
        let prepared = engine::prepare(&workload, &permissions(&path), &stop, &mut |_| ()).unwrap();
        let moved = directory.path().join("moved.test");
        fs::rename(&path, &moved).unwrap();
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let before = fs::read(&moved).unwrap();
        let run = engine::run(&workload, &prepared, &stop, &mut |_: &Event| ());
        assert!(fs::read(&path).unwrap() == vec![7; 1 << 20], "{engine:?} {mode:?}");
        match run {
            Ok(run) => {
                assert!(run.write.ios > 0 && run.total.errors == 0, "{:?}", run.errors);
                assert!(fs::read(&moved).unwrap() != before, "{engine:?} {mode:?}");
            }
            // Wine opens a file again by its name.
            Err(error) => assert!(error.to_string().contains("replaced"), "{error}"),
        }
        drop(prepared);
        fs::remove_file(&path).unwrap();
        fs::remove_file(&moved).unwrap();
    }
}

#[test]
fn depth_decides_the_backend() {
    let directory = tempfile::tempdir().unwrap();
    for (depth, name) in [(1, "sync"), (4, "iocp")] {
        for mode in [Mode::Direct, Mode::Buffered] {
            let mut workload = workload(directory.path(), 50);
            workload.targets[0].size_bytes = Some(Bytes(1 << 20));
            (workload.mode, workload.streams[0].depth) = (mode, depth);
            let (permissions, stop) = (permissions(directory.path()), AtomicBool::new(false));
            let prepared = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap();
            let run = engine::run(&workload, &prepared, &stop, &mut |_: &Event| ()).unwrap();
            assert_eq!((run.engine.name.as_str(), run.total.errors), (name, 0));
            assert!(run.read.ios > 0 && run.write.ios > 0, "{name} {mode:?}");
        }
    }
}

/// A program that lets nobody else in has a file for itself; what is refused says so.
#[test]
fn a_file_that_nobody_may_open_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("alone.dat");
    fs::write(&path, vec![7; 1 << 20]).unwrap();
    let _alone = OpenOptions::new().read(true).share_mode(0).open(&path).unwrap();
    assert!(matches!(refusal(&path), Refusal::Unreadable { .. }));
}
