//! Test files on a real file system.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::{Action, Cleaned, EngineError, Event, Filling, Permissions, PrepareError};
use results::Measurement;
use workload::{
    Block, Buffers, Bytes, Content, EngineChoice, Hint, Mode, Pattern, Pool, PoolShare, Stream,
    Target, Workload,
};

/// Makes two test files with one seed and gives all of their blocks.
fn blocks_of_two_files(directory: &Path) -> Vec<Vec<u8>> {
    let target =
        |name: &str| Target { path: directory.join(name), size_bytes: Some(Bytes(256 << 10)) };
    let mut workload = Workload::single(target("a.test"), Stream::default());
    workload.targets.push(target("b.test"));
    workload.mode = Mode::Buffered;
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    let stop = AtomicBool::new(false);
    let prepared = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap();
    let mut blocks = Vec::new();
    for target in prepared.targets() {
        let bytes = std::fs::read(target.path()).unwrap();
        blocks.extend(bytes[..256 << 10].chunks(4096).map(<[u8]>::to_vec));
    }
    blocks
}

/// Every test file was filled from the run's seed alone: two targets, and the files of two runs,
/// were the same bytes, and storage that recognises equal blocks kept one of them.
#[test]
fn no_two_test_files_have_a_block_in_common() {
    let directory = tempfile::tempdir().unwrap();
    let mut seen = HashSet::new();
    for _ in 0..2 {
        let blocks = blocks_of_two_files(directory.path());
        assert_eq!(blocks.len(), 128);
        assert!(blocks.into_iter().all(|block| seen.insert(block)));
    }
}

/// A run ended before its threads had closed the target. A run that prepared it again at once was
/// told that some other program had it open.
#[test]
fn a_target_can_be_used_again_as_soon_as_a_run_has_ended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign.dat");
    std::fs::write(&path, vec![1; 1 << 20]).unwrap();
    let permissions =
        Permissions { destroy: vec![engine::Destroy::new(&path)], ..Permissions::default() };
    let stop = AtomicBool::new(false);
    for engine in [EngineChoice::Auto, EngineChoice::Uring, EngineChoice::Aio, EngineChoice::Sync] {
        let depth = if engine == EngineChoice::Sync { 1 } else { 4 };
        let stream = Stream { depth, write_percent: 100, ..Stream::default() };
        let target = Target { path: path.clone(), size_bytes: None };
        let mut workload = Workload::single(target, stream);
        (workload.engine, workload.mode) = (engine, Mode::Buffered);
        (workload.seconds, workload.warmup_seconds) = (0.02, 0.0);
        for turn in 0..8 {
            let prepared = engine::prepare(&workload, &permissions, &stop, &mut |_| ());
            let prepared = match prepared {
                Err(PrepareError::Engine(EngineError::Unavailable { .. })) => break,
                prepared => prepared.unwrap_or_else(|e| panic!("{engine:?}, turn {turn}: {e}")),
            };
            match engine::run(&workload, &prepared, &stop, &mut |_: &Event| ()) {
                // Not every machine has every engine.
                Err(EngineError::Unavailable { .. }) => break,
                measurement => drop(measurement.unwrap()),
            }
        }
    }
}

/// A mapped target is written by copying alone: what is there afterwards is what was written.
#[cfg(target_os = "linux")]
#[test]
fn a_mapped_run_reads_and_writes_its_target() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign.dat");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let permissions =
        Permissions { destroy: vec![engine::Destroy::new(&path)], ..Permissions::default() };
    let stop = AtomicBool::new(false);
    for depth in [1, 4] {
        let stream = Stream {
            depth,
            write_percent: 50,
            durable: true,
            content: Content::Zero,
            ..Stream::default()
        };
        let target = Target { path: path.clone(), size_bytes: None };
        let mut workload = Workload::single(target, stream);
        workload.mode = Mode::Mapped;
        let prepared = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap();
        let both = |run: &Measurement| run.read.ios > 0 && run.write.ios > 0;
        let run = run_until(&mut workload, &prepared, both).unwrap();
        assert_eq!(run.engine.name, "mmap");
        assert_eq!(run.total.errors, 0);
        drop(prepared);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 1 << 20);
        // Wholly written with random bytes before the run, and here and there with zeros in it.
        let zeros = bytes.chunks(8192).filter(|b| b.iter().all(|x| *x == 0)).count();
        assert!(zeros > 0, "{zeros} blocks");
    }
}

/// A run of 50 ms, or as long as it takes until `enough` holds: storage that others keep busy may
/// do nothing in so short a time.
fn run_until(
    workload: &mut Workload,
    prepared: &engine::Prepared,
    enough: impl Fn(&Measurement) -> bool,
) -> Result<Measurement, EngineError> {
    workload.warmup_seconds = 0.0;
    for seconds in [0.05, 1.0, 10.0] {
        workload.seconds = seconds;
        let run = engine::run(workload, prepared, &AtomicBool::new(false), &mut |_: &Event| ())?;
        if enough(&run) {
            return Ok(run);
        }
    }
    panic!("nothing was done in 10 s: {workload:?}");
}

/// What is prepared for a workload, unless this system lacks its engine.
fn available(workload: &Workload, permissions: &Permissions) -> Option<engine::Prepared> {
    match engine::prepare(workload, permissions, &AtomicBool::new(false), &mut |_| ()) {
        Err(PrepareError::Engine(EngineError::Unavailable { .. })) => None,
        prepared => Some(prepared.unwrap()),
    }
}

/// Blocks in pieces, on every engine and at depths above one.
#[test]
fn runs_with_blocks_in_pieces() {
    let directory = tempfile::tempdir().unwrap();
    let target =
        Target { path: directory.path().join("a.test"), size_bytes: Some(Bytes(256 << 10)) };
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    for (engine, depth) in [
        (EngineChoice::Auto, 4),
        (EngineChoice::Uring, 4),
        (EngineChoice::Aio, 4),
        (EngineChoice::Sync, 1),
    ] {
        let buffers = Buffers::Scattered { pieces: 16 };
        let stream = Stream { depth, write_percent: 50, buffers, ..Stream::default() };
        let mut workload = Workload::single(target.clone(), stream);
        (workload.engine, workload.mode) = (engine, Mode::Buffered);
        let Some(prepared) = available(&workload, &permissions) else { continue };
        match run_until(&mut workload, &prepared, |run| run.total.ios > 0) {
            Err(EngineError::Unavailable { .. }) => {}
            run => {
                let run = run.unwrap();
                assert!(run.engine.features.iter().any(|f| f == "vectored"), "{:?}", run.engine);
                assert_eq!(run.total.errors, 0, "{:?}", run.errors);
            }
        }
    }
}

/// Sequential writes over a foreign file of a megabyte, and what is in it then, block by block.
fn written(path: &Path, content: Content, content_file: Option<&Path>) -> Vec<Vec<u8>> {
    std::fs::write(path, vec![1; 1 << 20]).unwrap();
    let permissions =
        Permissions { destroy: vec![engine::Destroy::new(path)], ..Permissions::default() };
    let stop = AtomicBool::new(false);
    let content_file = content_file.map(Path::to_owned);
    let pattern = Pattern::Sequential;
    let stream = Stream { write_percent: 100, pattern, content, content_file, ..Stream::default() };
    let target = Target { path: path.to_owned(), size_bytes: None };
    let mut workload = Workload::single(target, stream);
    workload.mode = Mode::Buffered;
    let prepared = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap();
    run_until(&mut workload, &prepared, |run| run.write.ios > 0).unwrap();
    drop(prepared);
    std::fs::read(path).unwrap().chunks(8192).map(<[u8]>::to_vec).collect()
}

#[test]
fn what_other_tools_write_is_what_is_in_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("foreign.dat");
    let counting: Vec<u8> = (0..=u8::MAX).cycle().take(8192).collect();
    assert_eq!(written(&path, Content::Counting, None)[0], counting);
    let text: Vec<u8> = (0..701u32).map(|i| (i % 251).to_le_bytes()[0]).collect();
    let file = directory.path().join("text");
    std::fs::write(&file, &text).unwrap();
    let content = Content::Source { bytes: Bytes(64 << 10) };
    let source: Vec<u8> = text.iter().copied().cycle().take(64 << 10).collect();
    let parts: HashSet<&[u8]> = (0..=112).map(|s| &source[s * 512..][..8192]).collect();
    let blocks = written(&path, content, Some(&file));
    assert!(parts.contains(blocks[0].as_slice()));
    let random = written(&path, content, None);
    assert!(random[0] != blocks[0] && !random[0].iter().all(|b| *b == 1));
}

#[test]
fn a_missing_file_of_bytes_is_said_before_anything_is_touched() {
    let directory = tempfile::tempdir().unwrap();
    let target =
        Target { path: directory.path().join("new.test"), size_bytes: Some(Bytes(1 << 20)) };
    let content_file = Some(directory.path().join("missing"));
    let content = Content::Source { bytes: Bytes(64 << 10) };
    let stream = Stream { write_percent: 100, content, content_file, ..Stream::default() };
    let workload = Workload::single(target.clone(), stream);
    let stop = AtomicBool::new(false);
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    let error = engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(!target.path.exists());
}

/// The threads of a pool work on both files, whatever the engine, and each file's figures are its
/// own.
#[test]
fn a_pool_works_on_real_files() {
    let directory = tempfile::tempdir().unwrap();
    let target = |name: &str| Target {
        path: directory.path().join(name),
        size_bytes: Some(Bytes(256 << 10)),
    };
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    let ways = [
        (EngineChoice::Auto, Mode::Buffered, 4),
        (EngineChoice::Uring, Mode::Buffered, 4),
        (EngineChoice::Aio, Mode::Buffered, 4),
        (EngineChoice::Sync, Mode::Buffered, 1),
        (EngineChoice::Auto, Mode::Mapped, 4),
        (EngineChoice::Null, Mode::Buffered, 4),
    ];
    for (engine, mode, depth) in ways {
        let drawn = PoolShare::Drawn { weights: vec![1, 3] };
        for share in [PoolShare::Each, PoolShare::InTurn, drawn.clone()] {
            if engine == EngineChoice::Sync && share == PoolShare::Each {
                continue;
            }
            let pool = Some(Pool { share: share.clone() });
            let stream = Stream { threads: 2, depth, write_percent: 50, pool, ..Stream::default() };
            let mut workload = Workload::single(target("a.test"), stream);
            workload.targets.push(target("b.test"));
            (workload.engine, workload.mode) = (engine, mode);
            let Some(prepared) = available(&workload, &permissions) else { continue };
            let both = |run: &Measurement| run.targets.iter().all(|target| target.total.ios > 0);
            let run = match run_until(&mut workload, &prepared, both) {
                Err(EngineError::Unavailable { .. }) => continue,
                run => run.unwrap(),
            };
            let what = format!("{engine:?} {mode:?} {share:?}");
            assert_eq!((run.threads, run.total.errors), (2, 0), "{what}: {:?}", run.errors);
            let [a, b] = [0, 1].map(|t| run.targets[t].total.ios);
            assert_eq!(a + b, run.total.ios, "{what}");
            if share == PoolShare::InTurn {
                assert!(a.abs_diff(b) <= 2 * u64::from(depth), "{what}: {a} {b}");
            }
            if share == drawn && a + b >= 1000 {
                let part = b as f64 / (a + b) as f64;
                assert!((0.68..0.82).contains(&part), "{what}: {part}");
            }
            let rows: Vec<_> = run.threads_detail.iter().map(|t| (t.thread, t.target)).collect();
            assert_eq!(rows, [(0, 0), (0, 1), (1, 0), (1, 1)], "{what}");
        }
    }
}

/// Two streams with the same threads, one past the operating system's cache and one through it,
/// durable.
#[test]
fn a_thread_may_use_each_target_in_its_own_mode() {
    let directory = tempfile::tempdir().unwrap();
    let target = |name: &str| Target {
        path: directory.path().join(name),
        size_bytes: Some(Bytes(256 << 10)),
    };
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    let stop = AtomicBool::new(false);
    let drawn = PoolShare::Drawn { weights: Vec::new() };
    for engine in [EngineChoice::Auto, EngineChoice::Uring, EngineChoice::Aio] {
        for (share, modes) in [
            (PoolShare::Each, [Mode::Direct, Mode::Buffered]),
            (drawn.clone(), [Mode::Buffered, Mode::Direct]),
        ] {
            let block = |bytes| vec![Block { bytes: Bytes(bytes), weight: 1 }];
            let first = Stream {
                threads: 2,
                depth: 3,
                targets: vec![0],
                mode: Some(modes[0]),
                hint: (modes[0] == Mode::Buffered).then_some(Hint::Sequential),
                blocks: block(16_384),
                pool: Some(Pool { share: share.clone() }),
                ..Stream::default()
            };
            let second = Stream {
                name: "second".to_owned(),
                targets: vec![1],
                mode: Some(modes[1]),
                hint: (modes[1] == Mode::Buffered).then_some(Hint::Random),
                write_percent: 100,
                durable: true,
                content: Content::Counting,
                blocks: block(4096),
                joined: true,
                ..first.clone()
            };
            let mut workload = Workload::single(target("a.test"), first);
            workload.streams.push(second);
            workload.targets.push(target("b.test"));
            workload.engine = engine;
            let prepared = match engine::prepare(&workload, &permissions, &stop, &mut |_| ()) {
                Err(PrepareError::NoDirect { .. }) => return,
                Err(PrepareError::Engine(EngineError::Unavailable { .. })) => continue,
                prepared => prepared.unwrap(),
            };
            let both = |run: &Measurement| run.read.ios > 0 && run.write.ios > 0;
            let run = match run_until(&mut workload, &prepared, both) {
                Err(EngineError::Unavailable { .. }) => continue,
                run => run.unwrap(),
            };
            let what = format!("{engine:?} {share:?}");
            assert_eq!((run.threads, run.total.errors), (2, 0), "{what}: {:?}", run.errors);
            assert_eq!(run.read.bytes, run.read.ios * 16_384, "{what}");
            assert_eq!(run.write.bytes, run.write.ios * 4096, "{what}");
            // What the one reads is never what the other writes.
            let written = std::fs::read(directory.path().join("b.test")).unwrap();
            let counting: Vec<u8> = (0..=255).cycle().take(4096).collect();
            let first = written.chunks(4096).take(64).filter(|block| *block == counting).count();
            assert!(first > 0, "{what}");
        }
    }
}

fn one_file(directory: &Path, bytes: u64) -> Workload {
    let target = Target { path: directory.join("a.test"), size_bytes: Some(Bytes(bytes)) };
    let stream = Stream { write_percent: 50, ..Stream::default() };
    let mut workload = Workload::single(target, stream);
    workload.mode = Mode::Buffered;
    workload
}

fn prepared_as(workload: &Workload, filling: Filling) -> Result<engine::Prepared, PrepareError> {
    let permissions = Permissions { overfill: true, ..Permissions::default() };
    let stop = AtomicBool::new(false);
    engine::prepare_as(workload, &permissions, &[filling], &stop, &mut |_| ())
}

fn make_link(file: &Path, link: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(file, link).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_file(file, link).unwrap();
}

fn says(path: &Path, state: &str) -> bool {
    let bytes = std::fs::read(path).unwrap();
    String::from_utf8_lossy(&bytes[bytes.len() - 4096..]).contains(state)
}

/// A file that is left to its user to be filled is not taken for a whole one before that is done,
/// and then it is whole.
#[test]
fn a_file_that_its_user_fills_is_finished_by_its_user() {
    let directory = tempfile::tempdir().unwrap();
    let workload = one_file(directory.path(), 256 << 10);
    let mut prepared = prepared_as(&workload, Filling::Caller).unwrap();
    let path = prepared.targets()[0].path().to_owned();
    assert!(std::fs::read(&path).unwrap()[..256 << 10].iter().all(|byte| *byte == 0));
    assert!(says(&path, "state filling"));
    prepared.targets_mut()[0].finish(200 << 10).unwrap();
    assert!(says(&path, "state filled"));
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes[..200 << 10].iter().all(|byte| *byte == 0), "the user's part is its own");
    assert!(bytes[200 << 10..256 << 10].chunks(4096).all(|b| b.iter().any(|byte| *byte != 0)));
    drop(prepared);
    assert!(!path.exists());
}

#[test]
fn what_a_killed_run_left_is_taken_as_it_is_or_removed() {
    let directory = tempfile::tempdir().unwrap();
    let workload = one_file(directory.path(), 256 << 10);
    assert!(prepared_as(&workload, Filling::AsItIs).is_err(), "there is none");
    let mut prepared = prepared_as(&workload, Filling::Caller).unwrap();
    let path = prepared.targets()[0].path().to_owned();
    assert_eq!(engine::clean(&path, true, false).unwrap(), Cleaned::InUse);
    prepared.remove(false);
    drop(prepared);
    let left = std::fs::read(&path).unwrap();
    let larger = one_file(directory.path(), 512 << 10);
    assert!(matches!(prepared_as(&larger, Filling::AsItIs), Err(PrepareError::Refused(_))));
    let mut prepared = prepared_as(&workload, Filling::AsItIs).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), left, "nothing was written");
    prepared.targets_mut()[0].finish(256 << 10).unwrap();
    drop(prepared);
    assert!(says(&path, "state filled"), "it stays until somebody wants it removed");
    let foreign = directory.path().join("foreign.test");
    std::fs::write(&foreign, vec![7; 8192]).unwrap();
    assert_eq!(engine::clean(&foreign, true, false).unwrap(), Cleaned::NotOurs);
    assert_eq!(engine::clean(&path, false, true).unwrap(), Cleaned::Removed(260 << 10));
    assert!(path.exists(), "that was dry");
    assert_eq!(engine::clean(&path, false, false).unwrap(), Cleaned::Removed(260 << 10));
    assert!(foreign.exists() && !path.exists());
}

/// A link to a test file is removed by nobody, nor is the file by way of it.
#[test]
fn a_link_to_a_test_file_is_not_cleaned() {
    let directory = tempfile::tempdir().unwrap();
    let workload = one_file(directory.path(), 64 << 10);
    let mut prepared = prepared_as(&workload, Filling::Engine).unwrap();
    prepared.remove(false);
    drop(prepared);
    let (path, link) = (directory.path().join("a.test"), directory.path().join("link.test"));
    make_link(&path, &link);
    if cfg!(windows) && !link.is_symlink() {
        return testing::skip("engine::files::links", "this Wine makes no symbolic links");
    }
    assert_eq!(engine::clean(&link, true, false).unwrap(), Cleaned::NotOurs);
    assert!(link.is_symlink() && path.exists());
}

#[test]
fn a_kept_file_is_removed_only_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let workload = one_file(directory.path(), 64 << 10);
    let permissions = Permissions { overfill: true, keep: true, ..Permissions::default() };
    let stop = AtomicBool::new(false);
    drop(engine::prepare(&workload, &permissions, &stop, &mut |_| ()).unwrap());
    let path = directory.path().join("a.test");
    assert_eq!(engine::clean(&path, false, false).unwrap(), Cleaned::Kept);
    assert_eq!(engine::clean(&path, true, false).unwrap(), Cleaned::Removed(68 << 10));
}

/// The length that a mark says, and whether all of the file is written.
fn marked(path: &Path) -> (u64, bool) {
    let bytes = std::fs::read(path).unwrap();
    let at = bytes.len() - usize::try_from(engine::MARK_BYTES).unwrap();
    let mark = engine::Mark::parse(&bytes[at..], bytes.len() as u64).unwrap();
    (mark.size_bytes, mark.filled)
}

/// DiskSpd writes the same bytes again and again, so the next run does not believe the content of
/// its file and writes it anew. `sqlio` took such a file of 256 MiB for one that does not exist,
/// and made it anew with 32 MiB; `run` without `--size` made it anew with 1 GiB. A file that is to
/// stay keeps its size, whatever part of it is used.
#[test]
fn a_file_that_must_be_written_again_keeps_its_size() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.test");
    let permissions = Permissions { overfill: true, keep: true, ..Permissions::default() };
    let stop = AtomicBool::new(false);
    let workload = |bytes: Option<u64>, content: Content| {
        let mut workload = one_file(directory.path(), 0);
        workload.targets[0].size_bytes = bytes.map(Bytes);
        workload.streams[0].content = content;
        workload
    };
    let prepare = |workload: &Workload, filling: Filling| {
        engine::prepare_as(workload, &permissions, &[filling], &stop, &mut |_| ()).unwrap()
    };
    drop(prepare(&workload(Some(512 << 10), Content::Fixed), Filling::Engine));
    assert_eq!(marked(&path), (512 << 10, false), "its content is not what a file is filled with");

    let all = workload(None, Content::Fixed);
    let plan = engine::plan(&all, &permissions).unwrap().remove(0);
    assert_eq!(
        (plan.action, plan.size_bytes, plan.file_bytes),
        (Action::Refill, 512 << 10, 512 << 10)
    );
    assert_eq!(plan.whole_bytes(), None);
    drop(prepare(&all, Filling::Engine));
    assert_eq!(marked(&path), (512 << 10, false));

    let part = workload(Some(100_000), Content::Random);
    let plan = engine::plan(&part, &permissions).unwrap().remove(0);
    assert_eq!(plan.whole_bytes(), Some(512 << 10));
    assert!(plan.describe().contains("of 512 KiB again; the file keeps its size"));
    let before = std::fs::read(&path).unwrap();
    for filling in [Filling::Engine, Filling::Caller, Filling::AsItIs, Filling::Sparse] {
        let mut prepared = prepare(&part, filling);
        let target = &mut prepared.targets_mut()[0];
        assert!(target.size_bytes() < 512 << 10, "{filling:?}");
        target.finish(1000).unwrap();
        drop(prepared);
        assert_eq!(marked(&path), (512 << 10, false), "{filling:?}: the rest is not written again");
        let rest =
            std::fs::read(&path).unwrap()[128 << 10..512 << 10] == before[128 << 10..512 << 10];
        assert_eq!(rest, filling != Filling::Sparse, "{filling:?}");
    }
    drop(prepare(&workload(None, Content::Random), Filling::Engine));
    assert_eq!(marked(&path), (512 << 10, true));
}

/// What a killed run left half-written in a directory is rubbish: nobody asked the next run for its
/// size.
#[test]
fn the_size_of_a_leftover_in_a_directory_does_not_count() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("iosonde.test");
    for (keep, expected) in [(false, 1 << 30), (true, 64 << 10)] {
        let mark = engine::Mark { size_bytes: 64 << 10, filled: false, keep };
        let mut bytes = vec![0; 64 << 10];
        bytes.extend(mark.to_bytes());
        std::fs::write(&path, bytes).unwrap();
        let mut workload = one_file(directory.path(), 0);
        workload.targets[0] = Target { path: directory.path().to_owned(), size_bytes: None };
        let permissions = Permissions { overfill: true, ..Permissions::default() };
        let plan = engine::plan(&workload, &permissions).unwrap().remove(0);
        assert_eq!((plan.action, plan.size_bytes), (Action::Refill, expected));
    }
}

/// A test file that was swapped with somebody's file was removed in its place: 3 of 360 times.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_takes_the_place_of_a_test_file_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (path, other) = (directory.path().join("a.test"), directory.path().join("other"));
    let workload = one_file(directory.path(), 64 << 10);
    let prepared = prepared_as(&workload, Filling::Engine).unwrap();
    std::fs::rename(&path, &other).unwrap();
    std::fs::write(&path, "precious").unwrap();
    drop(prepared);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    assert!(other.exists());
    std::fs::remove_file(&path).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let second = directory.path().join("second");
    std::fs::hard_link(&path, &second).unwrap();
    assert_eq!(engine::clean(&path, true, false).unwrap(), Cleaned::NotOurs, "it has two names");
    std::fs::remove_file(&second).unwrap();
    // The directory of the name is another one when the target is dropped.
    let place = directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let prepared = prepared_as(&one_file(&place, 64 << 10), Filling::Engine).unwrap();
    let moved = directory.path().join("moved");
    std::fs::rename(&place, &moved).unwrap();
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("a.test"), "precious").unwrap();
    drop(prepared);
    assert_eq!(std::fs::read(place.join("a.test")).unwrap(), b"precious");
    assert!(!moved.join("a.test").exists());
}
