//! Tasks of the Task Scheduler. Wine reads their XML and keeps them; it starts none.

use testing::program::{fails, stdout, succeeds};

use super::place;

#[test]
fn a_task_is_installed_and_removed() {
    let (place, data) = place();
    let name = format!("test-{}", std::process::id());
    let install = ["service", "install", "--name", &name, "baseline", &data, "--pace", "quick"];
    let output = place.run(&install);
    succeeds(&output);
    let text = stdout(&output);
    assert!(text.contains(&format!(r"\iosonde\{name} runs on Sundays from 03:00")), "{text}");
    succeeds(&place.run(&install));
    let output = place.run(&["service", "remove", &name]);
    succeeds(&output);
    fails(&place.run(&["service", "remove", &name]), 1, "schtasks.exe failed");
}

#[test]
fn an_agent_starts_with_windows() {
    let (place, data) = place();
    let name = format!("agent-{}", std::process::id());
    let words = ["service", "install", "--name", &name, "agent", "--join", "x.creds", "--allow"];
    let output = place.run(&[&words[..], &[&data]].concat());
    succeeds(&output);
    assert!(stdout(&output).contains("starts with Windows"), "{}", stdout(&output));
    succeeds(&place.run(&["service", "remove", &name]));
}
