//! `iosonde service` where there is no Windows: the task as text, and what systems without its Task
//! Scheduler say.

use crate::cli::program::{fails, place, stdout, succeeds};

#[test]
fn a_task_is_printed_on_every_system() {
    let place = place();
    let words = ["service", "install", "--print", "--weekly", "Mon 04:30", "--account", "system"];
    let output = place.run(&[&words[..], &["baseline", "D:\\my data", "--pace", "quick"]].concat());
    succeeds(&output);
    let text = stdout(&output);
    for part in [
        "T04:30:00</StartBoundary>",
        "<Monday />",
        "<UserId>S-1-5-18</UserId>",
        "<Arguments>baseline &quot;D:\\my data&quot; --pace quick --history ",
        "<Command>/",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_the_program_does_not_understand_is_no_task() {
    let place = place();
    for (words, part) in [
        (&["baseline", "/data", "--pase", "quick"][..], "--pase"),
        (&["run", "/data"], "`baseline`, `agent --join` or `serve`"),
        (&["agent", "--stdio"], "agent --join"),
        (&[], "COMMAND"),
    ] {
        let output = place.run(&[&["service", "install", "--print"], words].concat());
        fails(&output, 2, part);
    }
    fails(&place.run(&["service", "install", "--weekly", "noon", "serve"]), 2, "Sun 03:00");
    fails(&place.run(&["service", "install", "--account", "me", "serve"]), 2, "local-service");
}

#[test]
fn systems_with_systemd_say_what_to_do_there() {
    let place = place();
    fails(&place.run(&["service", "install", "baseline", "/data"]), 1, "iosonde-baseline@");
    fails(&place.run(&["service", "remove", "baseline"]), 1, "systemctl enable --now");
    fails(&place.run(&["service", "remove", "a\\b"]), 2, "the name of a task");
}
