//! What must never be written to or removed, and what may be.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::place::private_name;
use super::{Access, Draft, Log, Output, Place, Readers, Seal, Sealed, free_place, platform};

fn room() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The names in a directory, in order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn write(path: &Path, overwrite: bool, content: &str) -> io::Result<()> {
    Output::claim(path, Seal::Markup, overwrite)?.write(content)
}

/// The error of a write that must be refused.
fn refused(path: &Path, overwrite: bool) -> String {
    write(path, overwrite, "new").unwrap_err().to_string()
}

/// A report that its reader had added notes to was replaced by the next one.
#[test]
fn an_output_replaces_only_what_nobody_changed() {
    let room = room();
    let path = room.path().join("report.html");
    write(&path, false, "<p>1</p>").unwrap();
    assert!(read(&path).starts_with("<p>1</p>\n<!-- iosonde wrote this file; checksum "));
    write(&path, false, "<p>2</p>").unwrap();
    let own = read(&path);
    assert!(own.starts_with("<p>2</p>\n"));
    let copy = room.path().join("copy.html");
    fs::copy(&path, &copy).unwrap();
    write(&copy, false, "a copy is what iosonde wrote, too").unwrap();
    let cut = own[..own.len() - 1].to_owned();
    let last_digit = own.replace(" -->", "0 -->");
    let changed =
        [own.replace('2', "3"), own.clone() + "mine\n", cut, last_digit, format!(" {own}")];
    for text in changed {
        fs::write(&path, &text).unwrap();
        let error = refused(&path, false);
        assert!(error.contains("changed since iosonde wrote it"), "{error}");
        assert!(error.contains("report-2.html") && error.contains("--overwrite"), "{error}");
        assert_eq!(read(&path), text);
    }
    for text in ["", "somebody's", &"x".repeat(100_000), "<!-- -->"] {
        fs::write(&path, text).unwrap();
        let error = refused(&path, false);
        assert!(error.contains("iosonde did not write it"), "{error}");
        assert_eq!(read(&path), text);
    }
    write(&path, true, "<p>4</p>").unwrap();
    assert!(read(&path).starts_with("<p>4</p>"));
    assert_eq!(names(room.path()), ["copy.html", "report.html"]);
}

#[test]
fn every_kind_of_file_shows_whether_it_was_changed() {
    // The end of an empty archive, and of a picture.
    let zip = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let png = [b"\x89PNG".as_slice(), b"\0\0\0\0IEND\xAE\x42\x60\x82"].concat();
    let json = b"{\n  \"a\": 1\n}\n".to_vec();
    let text = b"text".to_vec();
    let kinds: [(Seal, Vec<u8>); 6] = [
        (Seal::Markup, text.clone()),
        (Seal::Hash, text.clone()),
        (Seal::Roff, text.clone()),
        (Seal::Zip, zip),
        (Seal::Png, png),
        (Seal::Json, json),
    ];
    let room = room();
    let path = room.path().join("file");
    for (seal, content) in kinds {
        let sealed = seal.seal(&content);
        assert!(sealed.len() > content.len(), "{seal:?}");
        let judged = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            seal.judge(&File::open(&path).unwrap()).unwrap()
        };
        assert_eq!(judged(&sealed), Sealed::Unchanged, "{seal:?}");
        assert_eq!(judged(&content), Sealed::Foreign, "{seal:?}");
        for at in 0..sealed.len() {
            let mut other = sealed.clone();
            other[at] ^= 1;
            assert_ne!(judged(&other), Sealed::Unchanged, "{seal:?}, byte {at}");
            assert_ne!(judged(&sealed[..at]), Sealed::Unchanged, "{seal:?}, cut to {at}");
        }
        assert_eq!(judged(&[&sealed[..], b"\n"].concat()), Sealed::Changed, "{seal:?}");
    }
    assert_eq!(Seal::None.judge(&File::open(&path).unwrap()).unwrap(), Sealed::Unknown);
    let member = Seal::Json.seal(b"{\n  \"a\": 1\n}\n");
    let member: serde_json::Value = serde_json::from_slice(&member).unwrap();
    assert_eq!(member["a"], 1);
}

/// What somebody wrote to the name of the report while `assess` measured was lost.
#[test]
fn what_comes_meanwhile_is_kept() {
    let room = room();
    let path = room.path().join("w.html");
    let output = Output::claim(&path, Seal::Markup, false).unwrap();
    assert!(!path.exists(), "nothing has the name before the report is complete");
    fs::write(&path, "precious").unwrap();
    let error = output.write("mine").unwrap_err().to_string();
    assert!(error.contains("w-2.html"), "{error}");
    assert_eq!(read(&path), "precious");
    assert!(read(&room.path().join("w-2.html")).starts_with("mine"));
    // Even with `--overwrite`, only the file that was there is given up.
    let output = Output::claim(&path, Seal::Markup, true).unwrap();
    fs::write(&path, "more precious").unwrap();
    let error = output.write("mine").unwrap_err().to_string();
    assert!(error.contains("w-3.html"), "{error}");
    let output = Output::claim(&path, Seal::Markup, true).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "more precious").unwrap();
    output.write("mine").unwrap_err();
    assert_eq!(read(&path), "more precious");
    let output = Output::claim(&path, Seal::Markup, true).unwrap();
    fs::remove_file(&path).unwrap();
    output.write("mine").unwrap();
    assert!(read(&path).starts_with("mine"));
    assert!(names(room.path()).iter().all(|name| !name.starts_with('.')));
}

#[test]
fn a_failed_or_abandoned_output_leaves_everything_as_it_was() {
    let room = room();
    let path = room.path().join("t");
    fs::write(&path, "earlier").unwrap();
    drop(Output::claim(&path, Seal::None, true).unwrap());
    let failed = Output::claim(&path, Seal::None, true).unwrap().make(|out| {
        out.write_all(b"half")?;
        Err::<(), _>(io::Error::other("no more"))
    });
    assert!(failed.is_err() && read(&path) == "earlier");
    assert_eq!(names(room.path()), ["t"]);
    assert!(Output::claim(&room.path().join("no/t"), Seal::None, false).is_err());
    assert!(Output::claim(&room.path().join("t/"), Seal::None, true).is_err());
    assert!(Output::claim(&room.path().join(".."), Seal::None, true).is_err());
}

/// `capture -o` emptied the earlier trace before anything was recorded.
#[test]
fn content_that_grows_has_a_name_of_its_own_until_it_is_complete() {
    let room = room();
    let path = room.path().join("t.iotrace");
    fs::write(&path, "earlier").unwrap();
    let begun = Output::claim(&path, Seal::None, true).unwrap().begin().unwrap();
    begun.file().write_all(b"half").unwrap();
    assert_eq!(read(&path), "earlier");
    assert_eq!(read(&room.path().join("t.iotrace.unfinished")), "half");
    begun.finish().unwrap();
    assert_eq!((read(&path).as_str(), names(room.path()).len()), ("half", 1));
    let begun = Output::claim(&path, Seal::None, true).unwrap().begin().unwrap();
    fs::write(&path, "precious").unwrap();
    assert!(begun.finish().unwrap_err().to_string().contains("t-2.iotrace"));
    assert_eq!(read(&path), "precious");
    // After a crash, what was recorded keeps its name.
    let again = room.path().join("again");
    drop(Output::claim(&again, Seal::None, false).unwrap().begin().unwrap());
    assert!(room.path().join("again.unfinished").exists() && !again.exists());
}

fn is_note(mut file: &File) -> io::Result<bool> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text.starts_with("note"))
}

#[test]
fn a_log_grows_and_nothing_else_is_appended_to() {
    let room = room();
    let path = room.path().join("log");
    let mut log = Log::claim(&path, "a log of notes", is_note).unwrap();
    assert!(!path.exists() && log.is_new());
    log.append("note 1\n").unwrap();
    log.append("note 2\n").unwrap();
    let mut later = Log::claim(&path, "a log of notes", is_note).unwrap();
    later.append("note 3").unwrap();
    assert!(!later.ends_a_line().unwrap());
    assert_eq!(read(&path), "note 1\nnote 2\nnote 3");
    let found = Log::claim(&path, "a log of notes", is_note);
    fs::write(&path, "precious").unwrap();
    assert!(found.unwrap().append("note").is_err(), "it was replaced since the claim");
    for text in ["precious", ""] {
        fs::write(&path, text).unwrap();
        let error = Log::claim(&path, "a log of notes", is_note).unwrap_err().to_string();
        assert!(error.contains("not a log of notes"), "{error}");
        assert_eq!(read(&path), text);
    }
    drop((log, later));
    fs::remove_file(&path).unwrap();
    let mut new = Log::claim(&path, "a log of notes", is_note).unwrap();
    fs::write(&path, "precious").unwrap();
    assert!(new.append("note").is_err());
    assert_eq!(read(&path), "precious");
}

#[test]
fn only_the_open_file_is_removed() {
    let room = room();
    let (path, other) = (room.path().join("own"), room.path().join("other"));
    fs::write(&path, "own").unwrap();
    fs::write(&other, "precious").unwrap();
    let place = Place::of(&path).unwrap();
    let file = place.open(Access::Remove).unwrap();
    fs::rename(&path, room.path().join("moved")).unwrap();
    assert!(!place.remove(&file).unwrap(), "nothing has the name");
    fs::rename(&other, &path).unwrap();
    assert!(!place.remove(&file).unwrap(), "another file has the name");
    assert_eq!(read(&path), "precious");
    assert!(!place.remove_if(|_| Ok(false)).unwrap());
    assert!(place.remove_if(is_precious).unwrap());
    assert!(!place.remove_if(is_precious).unwrap(), "it is gone");
    assert_eq!(names(room.path()), ["moved"]);
}

fn is_precious(mut file: &File) -> io::Result<bool> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text == "precious")
}

#[test]
fn free_names_are_numbered() {
    let room = room();
    let free = |name: &str| {
        let place = free_place(&Place::of(&room.path().join(name)).unwrap()).unwrap();
        place.path().file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(free("a.tar.gz"), "a.tar.gz");
    for name in ["a.tar.gz", "b", "b-2", ".c"] {
        fs::write(room.path().join(name), "").unwrap();
    }
    assert_eq!([free("a.tar.gz"), free("b"), free(".c")], ["a.tar-2.gz", "b-3", ".c-2"]);
}

#[test]
fn a_draft_is_private_until_it_is_published() {
    let room = room();
    let path = room.path().join("f");
    let place = Place::of(&path).unwrap();
    let mut draft = Draft::of(&place, Readers::Owner).unwrap();
    draft.file().write_all(b"x").unwrap();
    assert_eq!(names(room.path()).len(), 1);
    assert!(!path.exists());
    let other = Draft::of(&place, Readers::Owner).unwrap();
    assert_eq!(names(room.path()).len(), 2, "the draft of a living program is left alone");
    draft.publish().unwrap();
    assert_eq!(other.into_file().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!((read(&path).as_str(), names(room.path())), ("x", vec!["f".to_owned()]));
}

/// A file as a killed program leaves it; NUMBER in its name becomes that of the file.
fn left(directory: &Path, content: &str, parts: &str) -> PathBuf {
    let first = directory.join("first");
    fs::write(&first, content).unwrap();
    let number = platform::id(&File::open(&first).unwrap()).unwrap().number.to_string();
    let path = directory.join(private_name(&parts.replace("NUMBER", &number)));
    fs::rename(&first, &path).unwrap();
    path
}

/// A program that was killed while it made, replaced or removed a file left `.iosonde-new-…`,
/// `-old-` and `-gone-` files, which nothing removed.
#[test]
fn files_of_killed_programs_are_removed() {
    let room = room();
    for (content, parts, is_ours) in [
        ("a draft", "NUMBER", true),
        ("a draft that replaces a file", "NUMBER-7", true),
        ("the file that was replaced", "7-NUMBER", true),
        ("a file that was being removed", "NUMBER-x0123", true),
        ("", "new-x0123", true),
        ("somebody's", "new-x0123", false),
        ("a copy under the name of another", "1-2", false),
        ("somebody's, in the place of ours", "1-x0123", false),
        ("", "1", false),
    ] {
        let path = left(room.path(), content, parts);
        drop(Draft::of(&Place::of(&room.path().join("f")).unwrap(), Readers::Anybody).unwrap());
        assert_eq!(!path.exists(), is_ours, "{content:?}");
        let _ = fs::remove_file(&path);
    }
    assert!(names(room.path()).is_empty());
}

/// While a file is removed, it has such a name, and its program lives.
#[test]
fn a_file_that_is_locked_or_open_is_not_a_left_one() {
    let room = room();
    let path = left(room.path(), "being removed", "NUMBER-x1");
    let file = Place::of(&path).unwrap().open(Access::Remove).unwrap();
    platform::lock_draft(&file);
    drop(Draft::of(&Place::of(&room.path().join("f")).unwrap(), Readers::Anybody).unwrap());
    assert!(path.exists());
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

    use super::*;

    /// Everything that is not simply a file is refused, with `--overwrite` or without, and is as it
    /// was.
    #[test]
    fn links_devices_and_the_like_are_never_written_to() {
        let room = room();
        let at = |name: &str| room.path().join(name);
        let victim = at("victim");
        fs::write(&victim, "precious").unwrap();
        symlink("victim", at("link")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        fs::hard_link(&victim, at("hard")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        symlink("directory", at("link-to-directory")).unwrap();
        let mode = Mode::from_raw_mode(0o666);
        mknodat(CWD, at("fifo"), FileType::Fifo, mode, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let mut wrong = vec![
            ("link", "link"),
            ("dangling", "link"),
            ("link-to-directory", "link"),
            ("hard", "hard links"),
            ("victim", "hard links"),
            ("directory", "directory"),
            ("fifo", "FIFO"),
            ("socket", "socket"),
        ];
        // Numbers that no driver has: the node alone must be refused.
        let number = rustix::fs::makedev(250, 250);
        if mknodat(CWD, at("block"), FileType::BlockDevice, mode, number).is_ok() {
            mknodat(CWD, at("character"), FileType::CharacterDevice, mode, number).unwrap();
            wrong.extend([("block", "block device"), ("character", "character device")]);
        }
        let before = names(room.path());
        for (name, why) in wrong {
            for overwrite in [false, true] {
                let error = refused(&at(name), overwrite);
                assert!(error.contains(why), "{name}: {error}");
                assert!(!error.contains("--overwrite"), "it would not help: {error}");
                assert!(Output::check(&at(name), Seal::None, overwrite).is_err());
            }
            let error = Log::claim(&at(name), "log", |_| Ok(true)).unwrap_err().to_string();
            assert!(error.contains(why), "{name}: {error}");
            let place = Place::of(&at(name)).unwrap();
            for access in [Access::Read, Access::Write, Access::Append, Access::Remove] {
                assert!(place.open(access).is_err(), "{name}");
            }
            assert!(place.remove_if(|_| Ok(true)).is_err());
        }
        assert_eq!(names(room.path()), before);
        assert_eq!(read(&victim), "precious");
    }

    /// Mounts a file over another until this is dropped; `None` where that is not allowed.
    struct Bound(PathBuf);

    impl Bound {
        fn over(from: &Path, to: &Path) -> Option<Self> {
            let mounted =
                std::process::Command::new("mount").arg("--bind").args([from, to]).output();
            mounted.is_ok_and(|done| done.status.success()).then(|| Self(to.to_owned()))
        }
    }

    impl Drop for Bound {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(&self.0).output();
        }
    }

    /// A bind mount looks like an ordinary file with one name, of the same file system.
    #[test]
    fn a_mount_point_is_never_written_to() {
        let room = room();
        let (victim, path) = (room.path().join("victim"), room.path().join("mounted"));
        fs::write(&victim, "precious").unwrap();
        fs::write(&path, "").unwrap();
        let Some(_bound) = Bound::over(&victim, &path) else { return };
        for overwrite in [false, true] {
            assert!(refused(&path, overwrite).contains("mount point"));
        }
        assert!(Log::claim(&path, "log", |_| Ok(true)).is_err());
        assert!(Place::of(&path).unwrap().remove_if(|_| Ok(true)).is_err());
        assert_eq!((read(&victim), read(&path)), ("precious".into(), "precious".into()));
    }

    /// The name of a directory meant another one after the check.
    #[test]
    fn the_directory_is_the_one_that_was_opened() {
        let room = room();
        let at = |name: &str| room.path().join(name);
        fs::create_dir(at("own")).unwrap();
        fs::create_dir(at("foreign")).unwrap();
        fs::write(at("foreign/f"), "precious").unwrap();
        let output = Output::claim(&at("own/f"), Seal::None, false).unwrap();
        let log = Log::claim(&at("own/log"), "log", |_| Ok(true)).unwrap();
        fs::rename(at("own"), at("moved")).unwrap();
        symlink("foreign", at("own")).unwrap();
        output.write("mine").unwrap();
        drop(log);
        assert_eq!(
            (read(&at("foreign/f")), read(&at("moved/f"))),
            ("precious".into(), "mine".into())
        );
        assert_eq!((names(&at("foreign")).len(), names(&at("moved")).len()), (1, 1));
    }

    /// Exchanges two names again and again, as long as `work` lasts.
    /// It pauses while `work` holds the lock.
    fn while_swapped(one: &Path, other: &Path, work: impl FnOnce(&Mutex<()>)) {
        let (done, pause) = (AtomicBool::new(false), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let running = pause.lock();
                    let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
                    drop(running);
                    thread::yield_now();
                }
            });
            // A failed check ends the other thread, too.
            let worked = catch_unwind(AssertUnwindSafe(|| work(&pause)));
            done.store(true, Ordering::Relaxed);
            worked.unwrap();
        });
    }

    /// The contents of all files of a directory.
    fn contents(directory: &Path) -> Vec<String> {
        names(directory).iter().map(|name| read(&directory.join(name))).collect()
    }

    /// 3 of 360 removals hit a file that had come into the place of ours.
    #[test]
    fn a_swapped_file_is_never_removed() {
        let room = room();
        let (own, foreign) = (room.path().join("own"), room.path().join("foreign"));
        fs::write(&foreign, "precious").unwrap();
        while_swapped(&own, &foreign, |pause| {
            for _ in 0..500 {
                // One of both names is always that of the foreign file.
                for path in [&own, &foreign] {
                    let place = Place::of(path).unwrap();
                    if let Ok(mut made) = Draft::of(&place, Readers::Owner)
                        && made.file().write_all(b"own").is_ok()
                    {
                        let _ = made.publish();
                    }
                    let _ = place.remove_if(|mut file| {
                        let mut text = String::new();
                        file.read_to_string(&mut text)?;
                        Ok(text == "own")
                    });
                }
                let _paused = pause.lock();
                let kept = contents(room.path());
                assert_eq!(kept.iter().filter(|text| *text == "precious").count(), 1, "{kept:?}");
            }
        });
    }

    /// 15 of 15 outputs were written through a link that came after the check.
    #[test]
    fn a_swapped_file_is_never_overwritten() {
        let room = room();
        let (victim, links) = (room.path().join("victim"), room.path().join("links"));
        let (path, foreign) = (room.path().join("report"), room.path().join("foreign"));
        fs::create_dir(&links).unwrap();
        fs::write(&victim, "precious").unwrap();
        fs::write(&foreign, "foreign").unwrap();
        write(&path, false, "own").unwrap();
        while_swapped(&path, &foreign, |pause| {
            for _ in 0..300 {
                let _ = write(&path, false, "own");
                let _paused = pause.lock();
                let foreign = contents_of_files(room.path());
                assert_eq!(foreign.iter().filter(|text| *text == "foreign").count(), 1);
            }
        });
        let link = links.join("link");
        symlink("../victim", &link).unwrap();
        let path = links.join("report");
        write(&path, false, "own").unwrap();
        while_swapped(&path, &link, |_| {
            for _ in 0..300 {
                let _ = write(&path, true, "own");
                assert_eq!(read(&victim), "precious");
            }
        });
    }

    fn contents_of_files(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
        entries.filter_map(|path| fs::read_to_string(path).ok()).collect()
    }

    /// A link, a directory or another user's file of such a name is not ours.
    #[test]
    fn only_files_of_killed_programs_are_removed() {
        let room = room();
        let name = |number: u64| room.path().join(format!(".iosonde-{number}.part"));
        let linked = left(room.path(), "of two names", "NUMBER");
        fs::hard_link(&linked, room.path().join("report")).unwrap();
        symlink("report", name(2)).unwrap();
        fs::create_dir(name(3)).unwrap();
        drop(Draft::of(&Place::of(&room.path().join("f")).unwrap(), Readers::Anybody).unwrap());
        assert!(name(2).is_symlink() && name(3).is_dir());
        // A rename by link and unlink was cut off: the next report was refused for its two names.
        assert_eq!(fs::metadata(room.path().join("report")).unwrap().nlink(), 1);
    }

    #[test]
    fn what_is_made_is_private_where_it_is_meant_to_be() {
        let room = room();
        let mode = |readers| {
            let path = room.path().join(format!("{readers:?}"));
            let place = Place::of(&path).unwrap();
            drop(Draft::of(&place, readers).unwrap().into_file().unwrap());
            fs::metadata(&path).unwrap().permissions().mode() & 0o077
        };
        assert_eq!(mode(Readers::Owner), 0);
    }

    #[test]
    fn streams_are_written_to_as_they_are() {
        let room = room();
        write(Path::new("/dev/null"), false, "nothing").unwrap();
        let path = room.path().join("file");
        fs::write(&path, "precious").unwrap();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        for form in ["/dev/fd", "/proc/self/fd"] {
            let error = refused(Path::new(&format!("{form}/{number}")), true);
            assert!(error.contains("name the file itself"), "{error}");
        }
        assert_eq!(read(&path), "precious");
        let (mut reader, writer) = io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
        write(Path::new(&format!("/dev/fd/{number}")), false, "through a pipe").unwrap();
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through a pipe");
        assert!(write(Path::new("/dev/full"), true, "x").is_err());
        assert!(write(Path::new("/dev/zero"), true, "x").is_err());
    }
}
