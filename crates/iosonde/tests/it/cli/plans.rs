//! Plans as files, and earlier results repeated.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::cli::program::{Running, code, command, fails, stderr, succeeds};

/// Commands that measure a simulated device, and the schema of their documents.
const COMMANDS: [(&str, &str); 7] = [
    ("run --seconds 2", "iosonde.measurement/1"),
    ("run --seconds 2 --repeat 2", "iosonde.runs/1"),
    ("knee --to 8", "iosonde.knee/1"),
    ("sizes --sizes 256M,512M", "iosonde.sizes/1"),
    ("sweep --blocks 4K,8K --depths 1,2 --seconds 2 --settle 0", "iosonde.sweep/1"),
    ("assess --pace quick", "iosonde.assessment/1"),
    ("matrix --seconds 2 --cell-seconds 2 --levels 40,80", "iosonde.matrix/1"),
];

const SIM: [&str; 6] = ["--size", "1G", "--engine", "sim", "--sim", "servers = 4"];

fn stdout(args: &[&str]) -> String {
    let output = command(args).output().unwrap();
    succeeds(&output);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_a_command_prints_as_its_plan_can_be_run() {
    let dir = tempfile::tempdir().unwrap();
    for (words, schema) in COMMANDS {
        let mut args: Vec<&str> = words.split(' ').collect();
        args.extend(SIM);
        let printed = stdout(&[&args[..], &["--print-plan"]].concat());
        let file = dir.path().join("plan.toml");
        fs::write(&file, &printed).unwrap();
        let file = file.to_str().unwrap();
        let by_plan = stdout(&["do", file, "--json", "--quiet", "--no-history"]);
        let by_plan: Value = serde_json::from_str(&by_plan).unwrap();
        assert_eq!(by_plan["schema"], schema, "{words}");
        let dry = stdout(&["do", file, "--dry-run"]);
        assert!(dry.contains("no real target is touched"), "{words}: {dry}");
        // The result carries the plan.
        let result = dir.path().join("result.json");
        fs::write(&result, by_plan.to_string()).unwrap();
        assert_eq!(stdout(&["do", result.to_str().unwrap(), "--dry-run"]), dry, "{words}");
    }
}

/// A recording is data, too, and `do` makes the same of it as its command.
#[test]
fn a_recording_by_its_plan_is_that_of_its_command() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plan.toml");
    let name = file.to_str().unwrap();
    let flags =
        ["monitor", "--all", "--interval", "100ms", "--alert", "log", "--alert", "cpu < 0%"];
    let print = |more: &[&str]| {
        fs::write(&file, stdout(&[&flags[..], &["--print-plan"], more].concat())).unwrap();
    };
    let by_plan =
        |more: &[&str]| command(&[&["do", name, "--no-history"], more].concat()).output().unwrap();
    print(&["--count", "2", "--name", "nightly"]);
    let dry = stdout(&["do", name, "--dry-run"]);
    for words in ["watches all block devices: ", "every 100 ms, 2 times", "alerts when cpu < 0%"] {
        assert!(dry.contains(words), "`{words}` is not in: {dry}");
    }
    let output = by_plan(&["--json"]);
    succeeds(&output);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "iosonde.recording/1");
    let recording = &document["conclusion"];
    assert_eq!((&recording["name"], &recording["windows"]), (&"nightly".into(), &2.into()));
    assert_eq!(recording["interval_ns"], 100_000_000);
    assert!(recording["alerts"][0]["condition"].as_str().unwrap().starts_with("log: "));
    let result = dir.path().join("result.json");
    fs::write(&result, &output.stdout).unwrap();
    let result = result.to_str().unwrap();
    let repeated: Value =
        serde_json::from_str(&stdout(&["do", result, "--json", "--no-history"])).unwrap();
    assert_eq!(repeated["conclusion"]["windows"], 2);
    // A result that somebody sent starts no program.
    let mut sent = document.clone();
    sent["plan"]["command"] = serde_json::json!(["echo", "hello"]);
    fs::write(result, sent.to_string()).unwrap();
    fails(&command(&["do", result]).output().unwrap(), 2, "do not carry a plan");
    let tables = by_plan(&[]);
    let text = String::from_utf8(tables.stdout).unwrap();
    assert!(text.contains("  cpu ") && text.contains("nightly"), "{text}");

    let events = by_plan(&["--json", "--progress", "json"]);
    let names: Vec<String> = stderr(&events)
        .lines()
        .map(|line| serde_json::from_str::<jobs::Event>(line).unwrap())
        .map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
        // Of a device of this host that counts nothing.
        .filter(|name| name != "note")
        .collect();
    assert_eq!(names, ["began", "watching", "window", "window"], "{}", stderr(&events));

    print(&["--", "sh", "-c", "echo hello; exit 7"]);
    // A plan that somebody sent started whatever it named.
    let refused = by_plan(&[]);
    fails(&refused, 2, "add --allow-command");
    assert!(refused.stdout.is_empty() && stderr(&refused).contains("sh -c echo hello; exit 7"));
    assert!(stdout(&["do", name, "--dry-run"]).contains("while this runs: sh -c"));
    let by_plan = |more: &[&str]| by_plan(&[&["--allow-command"], more].concat());
    let output = by_plan(&[]);
    assert_eq!((code(&output), output.stdout.as_slice()), (7, &b"hello\n"[..]));
    fails(&by_plan(&["--progress", "json"]), 2, "the plan runs a command");
    fails(&by_plan(&["--destroy", "/data"]), 2, "names no target");
}

#[test]
fn a_plan_of_a_recording_that_cannot_be_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plan.toml");
    for (text, words) in [
        ("interval_seconds = 0.01", "between 0.1 s and 60 s"),
        ("interval_seconds = -inf", "`interval_seconds` must be a finite number"),
        ("seconds = nan", "`seconds` must be a finite number"),
        ("seconds = 0", "`seconds` is 0: it must be above 0"),
        ("count = 0", "`count` must be at least 1"),
        ("count = 1\ncommand = [\"true\"]", "leave out `seconds` and `count`"),
        ("all = true\ntargets = [\"/\"]", "leave out `targets`"),
        ("name = \"a b\"", "a b"),
        ("alerts = [\"speed > 3\"]", "there is no figure `speed`"),
        ("databases = [\"oracle://db\"]", "has to begin with postgres://"),
        ("windows = 3", "unknown field `windows`"),
    ] {
        fs::write(&file, format!("job = \"monitor\"\n{text}\n")).unwrap();
        let name = file.to_str().unwrap();
        for more in [&[][..], &["--dry-run"]] {
            fails(&command(&[&["do", name], more].concat()).output().unwrap(), 2, words);
        }
    }
}

/// A plan is passed around; who runs it has the password.
#[test]
fn no_plan_holds_a_password() {
    let dir = tempfile::tempdir().unwrap();
    for scheme in ["postgres", "mysql", "sqlserver"] {
        let url = format!("{scheme}://anna:Zq9xK@db/x");
        let printed = stdout(&["monitor", "--database", &url, "--print-plan"]);
        assert!(printed.contains(&format!("{scheme}://anna@db/x")), "{printed}");
        assert!(!printed.contains("Zq9xK"), "{printed}");
        let file = dir.path().join("plan.toml");
        fs::write(&file, printed.replace("anna@", "anna:Zq9xK@")).unwrap();
        let output = command(&["do", file.to_str().unwrap()]).output().unwrap();
        fails(&output, 2, "which a plan must not hold");
        assert!(!stderr(&output).contains("Zq9xK"), "{}", stderr(&output));
    }
}

/// The old tools' command lines print a plan, too; its result is one of iosonde.
#[test]
fn calls_of_old_tools_are_plans() {
    let dir = tempfile::tempdir().unwrap();
    let sim = ["--engine", "sim", "--sim", "servers = 4"];
    let sqlio = ["sqlio", "-kR", "-t2", "-o4", "-b64", "-frandom", "-s2", "g.dat", "--print-plan"];
    let diskspd = ["diskspd", "-b64K", "-t2", "-o4", "-r", "-d2", "-W0", "-c1G", "g.dat"];
    let diskspd = [&diskspd[..], &["--print-plan"]].concat();
    for args in [&sqlio[..], &diskspd] {
        let printed = stdout(&[args, &sim].concat());
        let file = dir.path().join("plan.toml");
        fs::write(&file, &printed).unwrap();
        let result = stdout(&["do", file.to_str().unwrap(), "--json", "--quiet", "--no-history"]);
        let result: Value = serde_json::from_str(&result).unwrap();
        assert_eq!(
            (result["in_flight"].as_u64(), result["seconds"].as_f64()),
            (Some(8), Some(2.0))
        );
        assert_eq!(result["workload"]["streams"][0]["blocks"][0]["bytes"], 65536, "{printed}");
    }
    let batch = ["sqlio", "batch", "--drives", ".", "--threads", "2", "--outstanding", "4"];
    let batch =
        [&batch[..], &["--block-sizes", "8", "--seconds", "1", "--print-plan"], &sim].concat();
    assert!(stdout(&batch).starts_with("job = \"sweep\"\n"));
    let script = ["sqlio", "script", "a.bat", "--print-plan"];
    fails(&command(&script).output().unwrap(), 2, "print that of a call");
}

/// The same plan gives the same figures: simulated devices know no chance but the seed.
#[test]
fn a_plan_measures_what_its_command_measures() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["run", "--seconds", "2", "--write", "30", "--json", "--quiet", "--no-history"];
    let args = [&args[..], &SIM].concat();
    let file = dir.path().join("plan.toml");
    fs::write(&file, stdout(&[&args[..], &["--print-plan"]].concat())).unwrap();
    let total = |text: &str| serde_json::from_str::<Value>(text).unwrap()["total"].clone();
    let by_command = total(&stdout(&args));
    let file = file.to_str().unwrap();
    assert_eq!(by_command, total(&stdout(&["do", file, "--json", "--quiet", "--no-history"])));
}

#[test]
fn what_is_not_a_plan_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plan.toml");
    let refused = |text: &str, words: &str| {
        fs::write(&file, text).unwrap();
        fails(&command(&["do", file.to_str().unwrap()]).output().unwrap(), 2, words);
    };
    refused("job = \"dance\"\n", "unknown variant `dance`");
    refused("seconds = 3\n", "missing field `job`");
    refused("job = \"run\"\nsecond = 3\n", "second");
    refused("job = \n", "line 1");
    let import = r#"{"schema":"iosonde.knee/1","plan":{"job":"knee"}}"#;
    refused(import, "this is not a complete `iosonde.knee/1`");
    fs::write(&file, stdout(&["knee", "--print-plan", SIM[0], SIM[1], SIM[2], SIM[3]])).unwrap();
    let sweep = ["sweep", "--plan", file.to_str().unwrap()];
    fails(&command(&sweep).output().unwrap(), 2, "this is a plan of `iosonde knee`");
}

/// With `--progress json`, a program reads stderr line by line; each is an event.
#[test]
fn progress_can_be_read_by_programs() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().to_str().unwrap();
    let real = ["run", target, "--size", "16M", "--warmup", "0", "--seconds", "1.2"];
    let real = [&real[..], &["--interval", "200ms", "--progress", "json"]].concat();
    let output = command(&real).output().unwrap();
    succeeds(&output);
    let names = |text: &str| -> Vec<String> {
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    };
    let events = names(&stderr(&output));
    for wanted in ["began", "filling", "window_began", "interval", "window_ended", "kept"] {
        assert!(events.iter().any(|event| event == wanted), "{wanted} is not in {events:?}");
    }
    let knee = [&["knee", "--to", "4", "--progress", "json"], &SIM[..]].concat();
    let output = command(&knee).output().unwrap();
    succeeds(&output);
    let events = names(&stderr(&output));
    assert!(events.iter().filter(|event| *event == "measured").count() > 2, "{events:?}");
    let validate = ["validate", ".", "--size", "16M", "--log-size", "8M", "--seconds", "1.5"];
    let validate = [&validate[..], &["--progress", "json"]].concat();
    let output = command(&validate).current_dir(dir.path()).output().unwrap();
    succeeds(&output);
    let events = names(&stderr(&output));
    for wanted in ["step", "phase_began", "glance", "kept"] {
        assert!(events.iter().any(|event| event == wanted), "{wanted} is not in {events:?}");
    }
}

/// What a command says before it measures, and what the writer of a durability test says, came as
/// words among the events.
#[test]
fn nothing_but_events_comes_before_and_beside_them() {
    for line in [
        "knee . --size 16M --to 2 --seconds 0.5 --at-least 0.5 --warmup 0",
        "sweep . --size 16M --blocks 4K --seconds 0.2 --warmup 0 --settle 0",
        "validate . --durability --kill-after 0.3 --rounds 1 --size 8M",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut args: Vec<&str> = line.split(' ').collect();
        args.extend(["--progress", "json"]);
        let output = command(&args).current_dir(dir.path()).output().unwrap();
        succeeds(&output);
        for said in stderr(&output).lines() {
            assert!(said.starts_with("{\"event\":"), "{line}: {said}");
        }
    }
}

/// What may be overwritten was not compared with what the plan names: a slip of the pen was taken
/// in silence.
#[test]
fn what_may_be_overwritten_is_a_target_of_the_plan() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plan.toml");
    let args = [&["run", "--seconds", "1", "--print-plan"], &SIM[..]].concat();
    fs::write(&file, stdout(&args)).unwrap();
    let args = ["do", file.to_str().unwrap(), "--destroy", "/dev/other", "--no-history"];
    fails(&command(&args).output().unwrap(), 2, "/dev/other names no target");
}

/// Small, and soon at an end.
const VALIDATE: &str = "validate data --size 16M --log-size 8M --seconds 0.3 --users 3 --seed 7";

/// The same plan, whether a command makes it, a file says it, or a result has kept it; and the same
/// exit codes.
#[test]
fn a_validation_is_a_plan_like_others() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("data")).unwrap();
    let says = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        let output = command(&args).current_dir(dir.path()).output().unwrap();
        succeeds(&output);
        String::from_utf8(output.stdout).unwrap()
    };
    let plan = says(&format!("{VALIDATE} --print-plan"));
    assert!(plan.starts_with("job = \"validate\"\n") && plan.contains("seed = 7\n"), "{plan}");
    fs::write(dir.path().join("plan.toml"), &plan).unwrap();
    assert_eq!(says("do plan.toml --dry-run"), says(&format!("{VALIDATE} --dry-run")));
    let history = "--json --history h.db";
    let results = [VALIDATE, "do plan.toml", "again latest"].map(|command| {
        serde_json::from_str::<Value>(&says(&format!("{command} {history}"))).unwrap()
    });
    for result in &results {
        assert_eq!(result["schema"], "iosonde.validation/1");
        assert_eq!(result["conclusion"]["verdict"], "right");
        assert_eq!(result["conclusion"]["plan"], results[0]["conclusion"]["plan"]);
        assert_eq!(result["file_bytes"], 24 << 20);
        assert_eq!(
            (&result["targets"], &result["method"]),
            (&results[0]["targets"], &results[0]["method"])
        );
    }
    assert_eq!(fs::read_dir(dir.path().join("data")).unwrap().count(), 0);

    let spoilt = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        let mut command = command(&args);
        command.current_dir(dir.path());
        let mut running = Running::of(command);
        running.wait_for("the load is running");
        fs::write(dir.path().join("data/iosonde.mdx"), vec![7; 16 << 20]).unwrap();
        let output = running.end();
        fs::remove_dir_all(dir.path().join("data")).unwrap();
        fs::create_dir(dir.path().join("data")).unwrap();
        code(&output)
    };
    fs::write(dir.path().join("long.toml"), plan.replace("seconds = 0.3", "seconds = 60.0"))
        .unwrap();
    assert_eq!(spoilt("do long.toml --no-history"), 3);
    assert_eq!(spoilt(&format!("{} --no-history", VALIDATE.replace("0.3", "60"))), 3);
    let wrong = plan.replace("page_bytes = 8192", "page_bytes = 1000");
    fs::write(dir.path().join("wrong.toml"), wrong).unwrap();
    let refused = command(&["do", "wrong.toml"]).current_dir(dir.path()).output().unwrap();
    fails(&refused, 2, "database.page_bytes is 1000");
}

/// A check after a crash is repeated with everything that comes before it.
#[test]
fn a_durability_test_is_a_plan_like_others() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("data")).unwrap();
    let start = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        command(&args).current_dir(dir.path()).output().unwrap()
    };
    let test = "validate data --durability --order log-then-page --kill-after 0.3 --size 8M \
                --depth 4";
    let printed = start(&format!("{test} --print-plan"));
    succeeds(&printed);
    assert!(printed.stdout.starts_with(b"job = \"durability\"\n"));
    fs::write(dir.path().join("plan.toml"), &printed.stdout).unwrap();
    for again in [test, "do plan.toml", "again latest"] {
        let output = start(&format!("{again} --json --history h.db"));
        succeeds(&output);
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = &result["conclusion"];
        assert_eq!((&found["verdict"], &found["ending"]), (&"kept".into(), &"killed".into()));
        assert_eq!((&found["order"], &found["depth"]), (&"log-then-page".into(), &4.into()));
        assert_eq!(fs::read_dir(dir.path().join("data")).unwrap().count(), 0, "{again}");
        assert!(stderr(&output).contains("\nwriting\n"), "{}", stderr(&output));
    }
    fails(&start("do plan.toml --live"), 2, "no screen");
    // What is checked later is checked with the witness's file.
    succeeds(&start(&format!("{test} --keep --quiet --witness-file w --history h.db")));
    succeeds(&start("validate --verify w --history h.db"));
    fails(&start("again latest --history h.db"), 1, "do not carry a plan");
}

fn id(output: &std::process::Output) -> String {
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["id"].as_str().unwrap().to_owned()
}

/// A result on a real disk, in a history of its own.
fn original(dir: &Path, history: &str) -> String {
    fs::create_dir_all(dir.join("data")).unwrap();
    let args = ["run", "data", "--size", "16M", "--seconds", "0.3", "--warmup", "0", "--json"];
    let args = [&args[..], &["--tag", "before", "--write", "30", "--history", history]].concat();
    let output = command(&args).current_dir(dir).output().unwrap();
    succeeds(&output);
    id(&output)
}

/// The plan said `data`, which was another directory elsewhere, and nothing of the size where a
/// rule had chosen it.
#[test]
fn a_result_is_repeated_on_its_target_from_wherever_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let history = dir.path().join("h.db");
    let history = history.to_str().unwrap();
    let before = original(dir.path(), history);
    for selector in ["@before", "latest", &before] {
        let again = ["again", selector, "--json", "--quiet", "--history", history];
        let output = command(&again).current_dir("/").output().unwrap();
        succeeds(&output);
        let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(comparison["schema"], "iosonde.comparison/1");
        let differences = comparison["differences"].as_array().unwrap();
        assert!(differences.iter().all(|d| d["unlike"] == false), "{differences:?}");
        let load = &comparison["loads"].as_array().unwrap()[..];
        assert_eq!(load.len(), 1, "{comparison}");
        assert_eq!(comparison["a"]["targets"], comparison["b"]["targets"]);
    }
    let list = stdout(&["history", "list", "--json", "--history", history]);
    let results: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(results["results"].as_array().unwrap().len(), 4, "{list}");
    let again = ["again", &before, "--history", history];
    let text = stdout(&again);
    assert!(
        text.contains("8 KiB random") && text.contains("Two measurements are comparable if"),
        "{text}"
    );
}

#[test]
fn a_result_that_cannot_be_repeated_is_refused_before_anything_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let history = dir.path().join("h.db");
    let history = history.to_str().unwrap();
    let before = original(dir.path(), history);
    // The same result, as if it were of another host.
    let exported = stdout(&["history", "export", "--history", history]);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let named = format!("\"hostname\":\"{}\"", host.trim());
    assert!(exported.contains(&named), "{exported:.300}");
    let file = dir.path().join("other.jsonl");
    fs::write(&file, exported.replace(&named, "\"hostname\":\"db9\"")).unwrap();
    let other = dir.path().join("other.db");
    let other = other.to_str().unwrap();
    stdout(&["history", "import", file.to_str().unwrap(), "--history", other]);
    let again = ["again", &before, "--quiet", "--history", other];
    fails(&command(&again).output().unwrap(), 1, "host: db9 then");
    let anyway = [&again[..], &["--anyway"]].concat();
    succeeds(&command(&anyway).output().unwrap());

    let foreign = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../dialects/tests/it/diskspd_results/second_span_interrupted.txt");
    let imported = dir.path().join("imported.db");
    let imported = imported.to_str().unwrap();
    stdout(&["history", "import", foreign.to_str().unwrap(), "--history", imported]);
    let again_latest = ["again", "latest", "--history", imported];
    fails(&command(&again_latest).output().unwrap(), 1, "do not carry a plan");

    succeeds(&command(&["monitor", "--count", "1", "--history", history]).output().unwrap());
    let again_latest = ["again", "latest", "--history", history];
    fails(&command(&again_latest).output().unwrap(), 1, "results of `monitor` do not carry");

    fs::remove_dir_all(dir.path().join("data")).unwrap();
    let again = ["again", &before, "--quiet", "--history", history];
    fails(&command(&again).output().unwrap(), 1, "does not exist");
    fails(&command(&["again", "@none", "--history", history]).output().unwrap(), 1, "no result");
}
