//! What `iosonde validate` finds is a result like every other: JSON, history, reports; and its plan
//! comes from a file where one is named.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::cli::program::{Running, code, command, fails, names, stderr, succeeds};

/// A directory for data, and a history beside it.
struct Place {
    directory: tempfile::TempDir,
    data: PathBuf,
    history: PathBuf,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (data, history) = (directory.path().join("data"), directory.path().join("h.db"));
        fs::create_dir(&data).unwrap();
        Self { directory, data, history }
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let (data, history) = (self.data.to_str().unwrap(), self.history.to_str().unwrap());
        let small = ["--size", "8M", "--log-size", "8M", "--history", history];
        [&["validate", data][..], &small, more].concat()
    }

    fn validate(&self, more: &[&str]) -> Output {
        command(&self.arguments(more)).output().unwrap()
    }

    /// What another command says of this history.
    fn says(&self, args: &[&str]) -> String {
        let history = self.history.to_str().unwrap();
        let output = command(&[args, &["--history", history]].concat()).output().unwrap();
        succeeds(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    fn document(&self) -> Value {
        serde_json::from_str(&self.says(&["history", "show", "latest", "--json"])).unwrap()
    }

    /// The report of the latest result in a format.
    fn report(&self, name: &str) -> Vec<u8> {
        let path = self.directory.path().join(name);
        self.says(&["report", "latest", "-o", path.to_str().unwrap()]);
        fs::read(path).unwrap()
    }
}

/// A byte in every page becomes another.
fn spoil(file: &Path) {
    let mut file = OpenOptions::new().write(true).open(file).unwrap();
    for page in 0..1024 {
        file.seek(SeekFrom::Start(page * 8192 + 700)).unwrap();
        file.write_all(b"X").unwrap();
    }
}

#[test]
fn a_clean_validation_is_a_result_like_others() {
    let place = Place::new();
    let output = place.validate(&["--seconds", "1", "--json", "--tag", "clean", "--seed", "7"]);
    succeeds(&output);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(place.document(), printed, "what is kept is what was printed");
    let found = &printed["conclusion"];
    assert_eq!((&found["verdict"], &printed["status"]), (&"right".into(), &"complete".into()));
    assert_eq!((&found["plan"]["seed"], &found["plan"]["page_bytes"]), (&7.into(), &8192.into()));
    assert_eq!(found["plan"]["random"]["users"], 8);
    assert_eq!(
        (&found["files"][0]["role"], &found["files"][1]["role"]),
        (&"data".into(), &"log".into())
    );
    assert!(found["work"]["pages_checked"].as_u64().unwrap() >= 1024);
    assert!(found["files"][0]["read"]["latency_ns"]["mean"].as_f64().unwrap() > 0.0);
    assert!(found["log_blocks_checked"].as_u64().unwrap() > 0);
    assert_eq!(printed["environment"]["storage"].as_array().unwrap().len(), 2);
    let phases = found["phases"].as_array().unwrap().iter().map(|p| p["phase"].as_str().unwrap());
    assert_eq!(phases.collect::<Vec<_>>(), ["load", "work", "audit", "log"]);

    let list = place.says(&["history", "list", "--tag", "clean"]);
    assert!(list.contains("validate") && list.contains("right"), "{list}");
    let text = place.says(&["history", "show"]);
    assert!(text.contains("\nRIGHT: everything that was read"), "{text}");
    let page = String::from_utf8(place.report("r.html")).unwrap();
    assert!(
        page.contains("Does the storage return what was written?") && page.contains("random.users")
    );
    let markdown = String::from_utf8(place.report("r.md")).unwrap();
    assert!(markdown.contains("RIGHT: ") && markdown.contains("audit.pages"), "{markdown}");
    assert!(place.report("r.xlsx").starts_with(b"PK") && !place.report("r.csv").is_empty());
    let history = place.history.to_str().unwrap();
    let hidden = place.directory.path().join("hidden.html");
    place.says(&["report", "latest", "--redact", "-o", hidden.to_str().unwrap()]);
    let hidden = fs::read_to_string(hidden).unwrap();
    assert!(!hidden.contains(place.data.to_str().unwrap()) && hidden.contains("RIGHT: "));

    // It goes to another history, and is no side of a comparison.
    let lines = place.directory.path().join("all.jsonl");
    place.says(&["history", "export", "-o", lines.to_str().unwrap()]);
    let other = Place::new();
    other.says(&["history", "import", lines.to_str().unwrap()]);
    assert_eq!(other.document(), printed);
    let args = ["history", "compare", "latest", "latest", "--history", history];
    fails(&command(&args).output().unwrap(), 1, "validation");
}

#[test]
fn wrong_data_is_recorded_before_it_ends_with_3() {
    let place = Place::new();
    // Nobody writes meanwhile: the system would write the rest of a frame back as it was before,
    // and the page was torn.
    let config = place.directory.path().join("nobody-writes.toml");
    fs::write(&config, "bulk.users = 0\n").unwrap();
    let config = config.to_str().unwrap();
    let quiet =
        ["--config", config, "--update", "0", "--rereads", "2", "--seconds", "600", "--json"];
    let mut running = Running::start(&place.arguments(&quiet));
    running.wait_for("the load is running");
    spoil(&place.data.join("iosonde.mdx"));
    let output = running.end();
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = place.document();
    assert_eq!(kept, printed);
    let found = &kept["conclusion"];
    assert_eq!(found["verdict"], "wrong_data");
    let fault = &found["faults"][0];
    assert_eq!(
        (&fault["damage"], &fault["persistence"]),
        (&"bit_error".into(), &"persistent".into())
    );
    assert_eq!((&fault["first_byte"], &fault["rereads"]), (&700.into(), &2.into()));
    assert_eq!(fault["wrong_sectors"][0]["sector"], 1);
    assert_eq!(fault["offset_bytes"].as_u64(), fault["page"].as_u64().map(|page| page * 8192));
    assert!(fault["dump"].as_str().unwrap().contains("0x002b0 rec "));
    assert!(fault["right_cached"].is_boolean() && fault["history"].is_array());
    assert_eq!(found["fault_kinds"][0]["count"], found["fault_count"]);
    assert!(place.says(&["history", "list"]).contains("WRONG"));
    let page = String::from_utf8(place.report("r.html")).unwrap();
    for words in
        ["WRONG DATA: ", "Pages that were wrong", "<details class=\"listing\">", "0x002b0 exp"]
    {
        assert!(page.contains(words), "no {words}");
    }
    assert_eq!(names(&place.data), ["iosonde.ldx", "iosonde.mdx"], "the evidence");
}

#[test]
fn an_interrupted_one_is_recorded() {
    let place = Place::new();
    let mut running = Running::start(&place.arguments(&["--seconds", "600"]));
    running.wait_for("the load is running");
    running.signal("INT");
    let output = running.end();
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let kept = place.document();
    assert_eq!(
        (&kept["status"], &kept["conclusion"]["verdict"]),
        (&"interrupted".into(), &"interrupted".into())
    );
    assert_eq!(kept["conclusion"]["audited"], false);
}

#[test]
fn sqliosim_is_recorded_with_its_configuration() {
    let place = Place::new();
    let (data, history) = (place.data.to_str().unwrap(), place.history.to_str().unwrap());
    let args = ["sqliosim", "-dir", data, "-size", "8", "-d", "1", "--json", "--history", history];
    let output = command(&args).output().unwrap();
    succeeds(&output);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, place.document());
    assert_eq!(printed["conclusion"]["configuration"], "default");
    assert!(printed["conclusion"]["files"][0]["throttling"]["running_average_ns"].is_f64());
}

#[test]
fn a_plan_comes_from_a_file_and_flags_win() {
    let place = Place::new();
    let file = place.directory.path().join("plan.toml");
    let named = file.to_str().unwrap();
    fs::write(
        &file,
        "seconds = 20\nthreads = 3\ndepth = 16\n[random]\nusers = 5\nlog_bytes = [64, 128]\n",
    )
    .unwrap();
    let output = place.validate(&["--config", named, "--depth", "8", "--dry-run"]);
    succeeds(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    for line in
        ["seconds = 20\n", "threads = 3\n", "depth = 8\n", "users = 5\n", "log_bytes = [64,128]\n"]
    {
        assert!(text.contains(line), "no `{line}` in {text}");
    }
    let refused = |plan: &str, place_of: &str, why: &str| {
        fs::write(&file, plan).unwrap();
        let output = place.validate(&["--config", named]);
        fails(&output, 2, place_of);
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert_eq!(names(&place.data), [""; 0]);
    };
    refused("threads = 2\n[random]\nusres = 5\n", "line 3, column 1", "no key `usres`");
    refused("depth = true\n", "line 1, column 9", "depth");
    // The message on a broken rule lacked the file and the line.
    refused("depth = 2\n", "plan.toml`, line 1: depth is 2: ", "at least 4");
    refused("\n[random]\nusers = 70000\n", "plan.toml`, line 3: random.users is 70000", "65536");
    refused("threads = 5000\n", "plan.toml`, line 1: threads is 5000", "1 to 2048");
    refused("checkpoint_every_ns = 5\n", "plan.toml`, line 1: checkpoint", "0.001 s to 31 days");
    refused("[random\n", "line 1", "plan.toml");
    fails(&place.validate(&["--config", "/nowhere/plan.toml"]), 2, "/nowhere/plan.toml");
    // Notepad's UTF-16 was "stream did not contain valid UTF-8"; its mark in front of UTF-8 does no
    // harm.
    let utf16: Vec<u8> = "\u{feff}depth = 8\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&utf16[..], &utf16[2..]] {
        fs::write(&file, bytes).unwrap();
        let output = place.validate(&["--config", named]);
        fails(&output, 2, "plan.toml` is text in UTF-16");
        assert!(stderr(&output).contains("save it as UTF-8"), "{}", stderr(&output));
    }
    fs::write(&file, b"depth = 8\n# caf\xe9").unwrap();
    fails(&place.validate(&["--config", named]), 2, "is not UTF-8 in line 2");
    fs::write(&file, "\u{feff}depth = 8\n").unwrap();
    succeeds(&place.validate(&["--config", named, "--dry-run"]));
}
