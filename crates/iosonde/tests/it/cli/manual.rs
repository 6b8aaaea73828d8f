//! What shells and `man` are given.

use std::fs;
use std::process::Command;

use crate::cli::program::{fails, place, succeeds};

/// Bash completes the names of our commands and flags with the script that it is given.
#[test]
fn bash_completes_commands_and_flags() {
    let place = place();
    let script = place.path("iosonde.bash");
    fs::write(&script, place.says(&["completions", "bash"])).unwrap();
    let complete = |words: &str, last: usize| {
        let current = words.split(' ').next_back().unwrap();
        let line = format!(
            "source {} && COMP_WORDS=({words}) COMP_CWORD={last} && \
             _iosonde iosonde {current} iosonde && \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let out = Command::new("bash").args(["-c", &line]).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(complete("iosonde kn", 1).trim(), "knee");
    assert!(complete("iosonde run --dep", 2).lines().any(|flag| flag == "--depth"));
    for shell in ["elvish", "fish", "powershell", "zsh"] {
        assert!(place.says(&["completions", shell]).contains("knee"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let place = place();
    let directory = place.path("man1");
    fs::create_dir(&directory).unwrap();
    succeeds(&place.run(&["man", "--output", &directory.to_string_lossy()]));
    for name in ["iosonde", "iosonde-run", "iosonde-history-compare", "iosonde-man"] {
        let page = fs::read_to_string(directory.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{name}: {page}");
    }
    let page = place.says(&["man", "history", "compare"]);
    let written = fs::read_to_string(directory.join("iosonde-history-compare.1")).unwrap();
    assert!(written.starts_with(&page));
    // What is the same is written again; what its reader changed is not.
    let man = ["man", "--output", &directory.to_string_lossy()];
    succeeds(&place.run(&man));
    let own = directory.join("iosonde-run.1");
    fs::write(&own, "mine").unwrap();
    fails(&place.run(&man), 1, "iosonde-run-2.1");
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    succeeds(&place.run(&[&man[..], &["--overwrite"]].concat()));
    fails(&place.run(&["man", "rum"]), 2, "`iosonde` has no command `rum`; it has assess");
    fails(&place.run(&["man", "run", "fast"]), 2, "`iosonde run` has no command `fast`");
    fails(
        &place.run(&["man", "--output", "/does/not/exist"]),
        1,
        "cannot write `/does/not/exist/iosonde.1`",
    );
}
