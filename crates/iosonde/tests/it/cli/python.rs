//! Python environments with what other people's programs need.

use std::fs;
use std::path::{Path, PathBuf};

use super::program::tool;

/// A Python with these packages, made once per target directory and name. `modules` are what
/// it can import then.
pub(crate) fn python(name: &str, modules: &str, packages: &[&str]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let environment = target.join(format!("python-{name}"));
    let python = environment.join("bin/python");
    let works = |python: &Path| {
        tool(python.to_str().unwrap(), &["-c", &format!("import {modules}")]).is_ok()
    };
    if works(&python) {
        return python;
    }
    fs::create_dir_all(target).unwrap();
    // Tests are processes side by side: one of them makes it.
    let lock = fs::File::create(target.join(format!("python-{name}.lock"))).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    if works(&python) {
        return python;
    }
    let made = tempfile::tempdir_in(target).unwrap();
    let new = made.path().join("python");
    let venv = tool("python3", &["-m", "venv", new.to_str().unwrap()]);
    venv.unwrap_or_else(|e| panic!("this test needs Debian's python3 and python3-venv: {e}"));
    let pip = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
    let only = ["--only-binary", ":all:"];
    let new_python = new.join("bin/python");
    let installed = tool(new_python.to_str().unwrap(), &[&pip[..], &only, packages].concat());
    installed.unwrap_or_else(|e| {
        panic!("this test needs {packages:?} from a package index, which pip does not reach: {e}")
    });
    assert!(works(&new_python), "what pip installed cannot be imported");
    // What is there does not work.
    let _ = fs::remove_dir_all(&environment);
    fs::rename(&new, &environment).unwrap();
    python
}
