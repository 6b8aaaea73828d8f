//! What must never be touched is refused by the program, whichever of its commands asks.

use std::fs;

use testing::program::{code, stderr};

use super::{names, place};

#[test]
fn drives_volumes_and_names_that_mislead_are_refused() {
    let (place, data) = place();
    let hostile = [r"\\.\PhysicalDrive0", r"\\.\C:", "C:", r"\\.\pipe\x", "nul", "x.dat:stream"];
    let hostile = hostile.map(str::to_owned).into_iter();
    for target in hostile.chain([format!(r"{data}\x.test."), format!(r"{data}\com1")]) {
        let output = place.run(&["run", &target, "--size", "8M", "--write", "100"]);
        assert_eq!(code(&output), 1, "{target}: {}", stderr(&output));
        let text = stderr(&output);
        let why = ["raw drive", "root", "keeps for a device", "alternate stream", "ends in a dot"];
        assert!(why.iter().any(|words| text.contains(words)), "{target}: {text}");
    }
    let output = place.run(&["diskspd", "-b8K", "-d1", "-w100", "#0"]);
    assert_ne!(code(&output), 0);
    assert!(stderr(&output).contains("is a raw drive or volume"), "{}", stderr(&output));
    assert_eq!(names(&data), [""; 0], "nothing was made");
    assert!(!place.history().exists() || place.list(&[]).is_empty());
}

#[test]
fn files_of_databases_and_of_others_stay_as_they_are() {
    let (place, data) = place();
    for name in ["sales.mdf", "notes.txt"] {
        let path = format!(r"{data}\{name}");
        fs::write(&path, "somebody's").unwrap();
        let output = place.run(&["run", &path, "--write", "100", "--seconds", "0.2"]);
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        assert_eq!(fs::read(&path).unwrap(), b"somebody's");
    }
}
