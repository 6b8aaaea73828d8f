//! Everything that is measured is recorded, is found again, and looks as it did when it was
//! measured.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::Place;
use testing::program::DISKS;

use crate::cli::program::{Running, code, fails, names, place, stderr, succeeds};

/// Short measurements of a simulated device.
pub(crate) const SIM: [&str; 6] = ["--engine", "sim", "--seconds", "1", "--warmup", "0"];

/// Every command that measures, with what it prints as JSON; `file` is a name for a report.
fn commands(report: &str) -> Vec<Vec<String>> {
    let of = |args: &[&str]| args.iter().map(|a| (*a).to_owned()).collect();
    let short = ["--precision", "0", "--seconds", "1", "--warmup", "0", "--engine", "sim"];
    vec![
        of(&[&["run"], &SIM[..]].concat()),
        of(&[&["run", "--repeat", "3"], &SIM[..]].concat()),
        of(&[&["knee", "--to", "16"], &short[..]].concat()),
        of(&[&["sizes", "--sizes", "512M,1G"], &short[..]].concat()),
        of(&[&["scale", "a", "b", "--size", "1G"], &short[..]].concat()),
        of(&[&["sweep", "--blocks", "8K,64K"], &SIM[..]].concat()),
        of(&[&["assess", "--pace", "quick", "--report", report], &DISKS[..]].concat()),
    ]
}

#[test]
fn what_every_command_measured_is_shown_again_as_it_was() {
    let place = place();
    let report = place.directory().join("r.html");
    for args in commands(report.to_str().unwrap()) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = place.run(&[&args[..], &["--json", "--tag", "mine"]].concat());
        succeeds(&output);
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let id = printed["id"].as_str().unwrap();
        let last = stderr(&output).lines().last().unwrap_or_default().to_owned();
        assert_eq!(last, format!("kept as {id}; iosonde history show {id}"), "{args:?}");
        let shown = place.json(&["history", "show", id]);
        if args[0] == "sweep" {
            // A sweep leaves details of its cells out of its table, the history does not.
            assert_eq!(shown["conclusion"], printed["conclusion"]);
        } else {
            assert_eq!(shown, printed, "{args:?}");
        }
        let entry = place.list(&["--limit", "1"]).remove(0);
        assert_eq!((&entry["id"], &entry["kind"]), (&printed["id"], &Value::from(args[0])));
        assert_eq!((&entry["status"], &entry["tags"][0]), (&"complete".into(), &"mine".into()));
        assert_eq!(entry["schema"], printed["schema"]);
        let text = place.says(&["history", "show", "latest"]);
        assert!(text.starts_with(id) && text.contains("IOPS"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    assert_eq!(place.list(&[]).len(), 7);
    assert_eq!(place.list(&["--kind", "run"]).len(), 2);
    assert!(!place.directory().join("r.partial.jsonl").exists());
}

#[test]
fn a_result_is_named_noted_and_taken_away() {
    let place = place();
    for _ in 0..3 {
        succeeds(&place.run(&[&["run", "--quiet"], &SIM[..]].concat()));
    }
    let ids: Vec<String> =
        place.list(&[]).iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
    let (newest, oldest) = (ids[0].as_str(), ids[2].as_str());
    assert!(place.says(&["history", "tag", "latest", "old.1"]).contains(newest));
    assert!(place.says(&["history", "tag", oldest, "old.1"]).contains("has the tag @old.1"));
    assert!(place.says(&["history", "tag", oldest, "old.1"]).contains("had the tag before"));
    assert_eq!(place.list(&["--tag", "old.1"]).len(), 2);
    let both = place.says(&["history", "show", "@old.1"]);
    assert!(both.find(oldest).unwrap() < both.find(newest).unwrap(), "the oldest first");
    fails(&place.run(&["history", "note", "@old.1", "which?"]), 2, "names 2 results");
    place.says(&["history", "untag", newest, "old.1"]);
    place.says(&["history", "note", "@old.1", "the only one"]);
    assert!(place.says(&["history", "note", oldest]).contains("the only one"));
    place.says(&["history", "untag", "@old.1", "old.1"]);
    fails(&place.run(&["history", "show", "@old.1"]), 1, "@old.1");
    fails(&place.run(&["history", "tag", "latest", "a b"]), 2, "letters, digits");

    place.says(&["history", "note", oldest, "before the new controller"]);
    assert!(place.says(&["history", "note", oldest]).contains("before the new controller"));
    assert!(place.says(&["history", "show", oldest]).contains("before the new controller"));
    assert_eq!(place.list(&["--text", "NEW controller"])[0]["id"], oldest);

    fails(&place.run(&["history", "delete", newest]), 2, "--yes");
    assert_eq!(place.list(&[]).len(), 3, "nothing is deleted unasked");
    let deleted = place.says(&["history", "delete", newest, "--yes"]);
    assert!(deleted.contains(newest) && deleted.contains("1 measurement"), "{deleted}");
    fails(&place.run(&["history", "show", newest]), 1, "there is no result");
    assert_eq!(place.list(&[]).len(), 2);
    fails(&place.run(&["history", "show", "no-such"]), 1, "history list");
}

#[test]
fn a_target_is_the_same_by_whatever_name_and_in_whatever_directory() {
    let place = place();
    let (data, sub) = (place.directory().join("data"), place.directory().join("sub"));
    fs::create_dir_all(&data).unwrap();
    fs::create_dir_all(sub.join("data")).unwrap();
    let small = ["--size", "1M", "--seconds", "0.2", "--warmup", "0", "--quiet"];
    let measure = |directory: &Path, target: &str, more: &[&str]| {
        let args = [&["run", target], &small[..], more].concat();
        succeeds(&place.command(&args).current_dir(directory).output().unwrap());
    };
    measure(place.directory(), "data", &["--baseline", "base", "--repeat", "2"]);
    measure(&data, ".", &[]);
    let whole = data.canonicalize().unwrap().display().to_string();
    let listed = place.list(&[]);
    assert!(listed.iter().all(|entry| entry["targets"] == whole.as_str()), "{listed:?}");
    let against = ["history", "compare", "latest", "--baseline", "base", "--json"];
    assert!(place.says(&against).contains("8 KiB random read"));
    let trend = place.json(&["history", "trend", &whole]);
    let series = trend["loads"].as_array().unwrap();
    assert_eq!((series.len(), series[0]["points"].as_array().unwrap().len()), (1, 2), "{trend}");
    let here = ["history", "list", "--target", "../data", "--json"];
    let found = place.command(&here).current_dir(&sub).output().unwrap();
    assert!(String::from_utf8_lossy(&found.stdout).contains(&whole));

    // Another place that has the same name in another directory is another target.
    measure(&sub, "data", &[]);
    fails(&place.run(&against), 1, "none of the 1 results");
    fails(&place.run(&["history", "drift", "no-such-place"]), 1, "cannot look at `no-such-place`");
}

#[test]
fn the_beginning_of_an_id_is_enough_and_one_that_fits_several_names_them() {
    let place = place();
    for _ in 0..2 {
        succeeds(&place.run(&[&["run", "--quiet"], &SIM[..]].concat()));
    }
    let entries = place.list(&[]);
    let ids: Vec<&str> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
    let common = ids[0].chars().zip(ids[1].chars()).take_while(|(a, b)| a == b).count();
    let ambiguous = place.run(&["history", "show", &ids[0][..common]]);
    for id in &ids {
        fails(&ambiguous, 1, id);
        let shown = place.json(&["history", "show", &id[..=common]]);
        assert_eq!(shown["id"], **id);
    }
}

#[test]
fn the_list_is_filtered_and_no_wider_than_a_screen() {
    let place = place();
    let long = place.directory().join("a/very/long/path/that/no/table/has/room/for/in/a/column");
    let long = long.to_str().unwrap();
    let run = |args: &[&str]| {
        succeeds(&place.run(&[&["run"], args, &["--quiet"], &SIM[..]].concat()));
    };
    run(&["a"]);
    run(&[long, "--block", "64K", "--pattern", "sequential", "--write", "30"]);
    run(&["a", "--size", "2G", "--tag", "one", "--tag", "two"]);
    assert_eq!(place.list(&["--target", "a"]).len(), 2);
    assert_eq!(place.list(&["--target", long]).len(), 1);
    assert_eq!(place.list(&["--pattern", "sequential"]).len(), 1);
    assert_eq!(place.list(&["--block", "8K"]).len(), 2);
    assert_eq!(place.list(&["--tag", "two"]).len(), 1);
    assert_eq!(place.list(&["--status", "complete"]).len(), 3);
    assert_eq!(place.list(&["--status", "unfinished"]).len(), 0);
    assert_eq!(place.list(&["--since", "2026-01-01"]).len(), 3);
    assert_eq!(place.list(&["--until", "2026-01-01T00:00Z"]).len(), 0);
    assert_eq!(place.list(&["--host", "nowhere"]).len(), 0);
    assert_eq!(place.list(&["--limit", "2"]).len(), 2);
    for width in [80, 100, 140, 200] {
        let mut command = place.command(&["history", "list"]);
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let table = String::from_utf8(output.stdout).unwrap();
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("@one @two") && words.contains("3 of 3 results"), "{table}");
        assert!(table.contains("64 KiB sequential 70 % read /"), "{table}");
        assert!(table.lines().all(|line| line.chars().count() <= width), "{width}:\n{table}");
    }
    assert_eq!(place.says(&["history", "list", "--tag", "three"]), "nothing fits\n");
    let wrong = place.run(&["history", "list", "--since", "tomorrow"]);
    fails(&wrong, 2, "2026-11-21");
}

#[test]
fn without_a_history_none_is_made_and_the_home_is_left_alone() {
    let place = place();
    let home = place.directory().join("home");
    fs::create_dir(&home).unwrap();
    let run = |command: &mut Command| {
        let output = command.env("HOME", &home).env_remove("XDG_DATA_HOME").output().unwrap();
        succeeds(&output);
        stderr(&output)
    };
    let report = place.directory().join("r.html");
    for args in commands(report.to_str().unwrap()) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = run(&mut place.command(&[&args[..], &["--no-history"]].concat()));
        assert!(!said.contains("kept as"), "{said}");
    }
    assert_eq!(names(place.directory()), ["home", "r.html"]);
    run(&mut place.command(&[&["run"], &SIM[..]].concat()));
    assert_eq!(names(&home), [""; 0], "what is named is used");
    let said = run(place.command(&[&["run"], &SIM[..]].concat()).env_remove("IOSONDE_HISTORY"));
    assert!(said.contains("iosonde history show"), "{said}");
    assert!(home.join(".local/share/iosonde/history.db").exists());
    let listed = run(place.command(&["history", "list"]).env("IOSONDE_HISTORY", ""));
    assert_eq!(listed, "", "an empty variable is one that is not set");
    fails(&place.run(&["history", "list", "--history", ""]), 2, "it is empty; name a file");
    let tagged = place.run(&[&["run", "--no-history", "--tag", "a"], &SIM[..]].concat());
    fails(&tagged, 2, "--no-history");
}

#[test]
fn nothing_is_recorded_of_what_measured_nothing() {
    let place = place();
    let target = place.directory().join("data");
    fs::create_dir(&target).unwrap();
    let target = target.to_str().unwrap();
    let args = ["run", target, "--size", "1M", "--warmup", "60", "--repeat", "2"];
    for (count, words) in [(6, "warming up"), (8, "run 1 of 2")] {
        let mut running = Running::of(place.command(&args[..count]));
        running.wait_for(words);
        running.signal("TERM");
        assert_eq!(code(&running.end()), 130);
    }
    fails(&place.run(&["run", "/no/such/place"]), 1, "does not exist");
    fails(&place.run(&["scale", "a", "b", "--engine", "sim", "--depth", "0"]), 2, "depth");
    assert_eq!(place.list(&[]).len(), 0);
}

/// Waits until so many measurements of the only result are in the history.
fn wait_for_measurements(place: &Place, count: u64) {
    let begin = Instant::now();
    loop {
        let seen = place.history().exists().then(|| place.run(&["history", "list", "--json"]));
        let list = seen.and_then(|seen| serde_json::from_slice::<Value>(&seen.stdout).ok());
        let first = list.map(|list| list["results"][0]["measurements"].as_u64().unwrap_or(0));
        if first.unwrap_or(0) >= count {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no {count} measurements in a minute");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The machine, a colleague or the OOM killer ends the program in the middle: what was finished is
/// there.
#[test]
fn killed_in_the_middle_every_finished_measurement_is_kept_and_shown() {
    let short = ["--precision", "0", "--seconds", "0.3", "--warmup", "0", "--settle", "0"];
    // At full speed, each would take all processors from the tests next to it.
    let null = ["--engine", "null", "--think", "1ms"];
    let knee = [&["knee", "--to", "65536"], &null[..], &short[..]].concat();
    let scale = [&["scale", "a", "b", "c", "d", "--size", "1G", "--pairs"], &null[..], &short[..]];
    let sizes = ["sizes", "--sizes", "512M,1G,2G,3G,4G,5G,6G,7G,8G,9G,10G,11G,12G"];
    let run = ["run", "--repeat", "100", "--seconds", "0.3", "--warmup", "0"];
    let place = place();
    let report = place.directory().join("r.html");
    let assess = ["assess", "--pace", "quick", "--report", report.to_str().unwrap()];
    for args in [
        knee,
        scale.concat(),
        [&sizes[..], &null[..], &short[..]].concat(),
        [&run[..], &null[..]].concat(),
        [&assess[..], &null[..2]].concat(),
    ] {
        let place = crate::cli::program::place();
        let quiet = [&args[..], &["--quiet", "--tag", "killed"]].concat();
        let mut child =
            place.command(&quiet).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let enough = if args[0] == "assess" { 1 } else { 3 };
        wait_for_measurements(&place, enough);
        assert_eq!(child.try_wait().unwrap(), None, "it is killed before its end: {args:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        let entry = place.list(&["--status", "unfinished", "--tag", "killed"]).remove(0);
        let kept = entry["measurements"].as_u64().unwrap();
        assert!(kept >= enough, "{args:?}");
        assert_eq!((&entry["kind"], &entry["finished"]), (&Value::from(args[0]), &Value::Null));
        let table = place.says(&["history", "list"]);
        assert!(table.contains("unfinished"), "{table}");
        let documents = place.json(&["history", "show"]);
        let documents = documents.as_array().unwrap();
        assert_eq!(documents.len() as u64, kept);
        assert!(documents.iter().all(|m| m["schema"] == "iosonde.measurement/1"));
        let text = place.says(&["history", "show"]);
        assert!(text.contains(&format!("{kept} finished measurement")), "{text}");
        // It was said to run for 15 s after its death.
        assert!(text.contains("did not come to its end"), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("GiB")).count() as u64, kept, "{text}");
        // Nobody holds it any more.
        place.says(&["history", "delete", "latest", "--yes"]);
    }
}

#[test]
fn a_result_that_is_being_measured_is_not_deleted_and_says_that_it_runs() {
    let place = place();
    let args = ["run", "--engine", "null", "--think", "1ms", "--repeat", "100"];
    let args = [&args[..], &["--seconds", "0.3", "--warmup", "0"]].concat();
    let mut running = Running::of(place.command(&args));
    // By then those who watch see it.
    wait_for_measurements(&place, 12);
    fails(&place.run(&["history", "delete", "latest", "--yes"]), 1, "is being worked on");
    let text = place.says(&["history", "show"]);
    assert!(text.contains("it is running now"), "{text}");
    running.wait_for("run 13 of 100");
    running.signal("INT");
    assert_eq!(code(&running.end()), 130);
    let text = place.says(&["history", "show"]);
    assert!(text.contains("interrupted") && text.contains("NOT COMPLETE: Interrupted"), "{text}");
    place.says(&["history", "delete", "latest", "--yes"]);
}
