//! `iosonde matrix` on a simulated device.

use results::{Experiment, ReadWriteMatrix};

use crate::cli::program::{command, fails, names, succeeds};

const SIM: [&str; 5] =
    ["--engine", "sim", "--sim", r#"servers = 4, read_ns = "2ms", write_ns = "4ms""#, "--quiet"];
const QUICK: [&str; 6] = ["--size", "1G", "--seconds", "4", "--cell-seconds", "4"];

#[test]
fn the_answer_and_the_grid_are_shown() {
    let output = command(&[&["matrix"], &SIM[..], &QUICK[..]].concat()).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for words in ["Writes slow reads down: at ", "not reached", "skipped", "writes/s"] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
}

#[test]
fn levels_decide_the_cells() {
    let more = ["--json", "--levels", "30,60"];
    let output = command(&[&["matrix"], &SIM[..], &QUICK[..], &more].concat()).output().unwrap();
    succeeds(&output);
    let experiment: Experiment<ReadWriteMatrix> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(experiment.schema, "iosonde.matrix/1");
    let cells = &experiment.conclusion.cells;
    let percents: Vec<_> = cells.iter().map(|c| (c.read_percent, c.write_percent)).collect();
    let all = [(0, 30), (0, 60), (30, 0), (30, 30), (30, 60), (60, 0), (60, 30), (60, 60)];
    assert_eq!(percents, all);
}

#[test]
fn a_dry_run_says_how_long_it_takes_and_touches_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().to_str().unwrap();
    let output = command(&["matrix", path, "--size", "8M", "--dry-run"]).output().unwrap();
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("24 combinations of 15 s each"), "{text}");
    assert!(names(place.path()).is_empty());
}

#[test]
fn flags_that_the_matrix_sets_itself_are_refused() {
    for (flags, words) in [
        (&["--write", "30"][..], "takes no --write"),
        (&["--rate", "100"], "takes no --rate"),
        (&["--think", "1ms"], "takes no --think"),
        (&["--levels", "0"], "at least one level above 0"),
    ] {
        let output = command(&[&["matrix"], &SIM[..], flags].concat()).output().unwrap();
        fails(&output, 2, words);
    }
}
