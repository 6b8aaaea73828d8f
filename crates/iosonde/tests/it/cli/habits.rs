//! What people type who come from other tools, or in a hurry: help, letters, values, foreign words.

use crate::cli::program::{
    command, fails, measurement, place, run_small, stderr, stdout, succeeds,
};

const SIMULATED: [&str; 5] = ["run", "--engine", "sim", "--json", "--warmup=0"];

fn help(args: &[&str]) -> String {
    let output = command(args).env("COLUMNS", "80").output().unwrap();
    succeeds(&output);
    stdout(&output)
}

/// The commands of the program, as its help lists them.
fn commands() -> Vec<String> {
    let all = help(&["help"]);
    let lines = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// `iosonde help` was an unknown command.
#[test]
fn help_is_a_command() {
    assert_eq!(help(&["help"]), help(&["--help"]));
    assert_eq!(help(&["help", "run"]), help(&["run", "--help"]));
    assert_eq!(help(&["help", "history", "compare"]), help(&["history", "compare", "--help"]));
    assert_eq!(help(&["help", "sqlio"]), help(&["sqlio", "--help"]));
    fails(&command(&["help", "no-such-command"]).output().unwrap(), 2, "no-such-command");
}

/// The help of `run` had 205 lines and began with `--destroy`.
#[test]
fn short_help_fits_a_screen_and_every_help_ends_with_an_example() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for name in &commands {
        let long = help(&[name, "--help"]);
        assert!(long.contains("\nExample"), "{name}: {long}");
        if ["sqlio", "sqliosim", "diskspd"].contains(&name.as_str()) {
            // The letter is theirs.
            continue;
        }
        let short = help(&[name, "-h"]);
        let lines = short.lines().count();
        assert!(lines <= 40, "`iosonde {name} -h` has {lines} lines:\n{short}");
        assert!(short.contains("\nExample"), "{name}: {short}");
    }
    let run = help(&["run", "-h"]);
    assert!(run.lines().count() <= 32, "{run}");
    let long = help(&["run", "--help"]);
    let at = |text: &str| long.find(text).unwrap_or_else(|| panic!("no `{text}` in {long}"));
    assert!(at("--block") < at("\nLoad:") && at("\nLoad:") < at("--stride <"));
    assert!(at("--stride <") < at("\nTarget:") && at("\nTarget:") < at("\nHistory:"));
    assert!(!run.contains("--stride <"));
}

#[test]
fn letters_are_as_in_diskspd() {
    let letters = ["-b64K", "-d", "5", "-t2", "-w30", "-j"];
    let output = command(&[&["run", "--engine", "sim", "--warmup=0"], &letters[..]].concat());
    let m = measurement(&{ output }.output().unwrap());
    let stream = &m.workload.streams[0];
    assert_eq!((stream.blocks[0].bytes.0, stream.threads), (65536, 2));
    assert_eq!((stream.write_percent, m.workload.seconds), (30, 5.0));
}

#[test]
fn values_are_read_as_people_type_them() {
    for (args, seconds) in [(["-d", "10s"], 10.0), (["--seconds", "1m"], 60.0), (["-d", "5"], 5.0)]
    {
        let m = measurement(&command(&[&SIMULATED[..], &args].concat()).output().unwrap());
        assert_eq!(m.workload.seconds.to_bits(), f64::to_bits(seconds), "{args:?}");
    }
    let more = ["-d5", "--rate", "5k", "--interval", "1", "--write", "30%", "--settle=1s"];
    let more = [&more[..], &["--repeat", "1"]].concat();
    let output = command(&[&["run", "--engine", "sim", "--print-plan"], &more[..]].concat());
    let output = { output }.output().unwrap();
    succeeds(&output);
    let plan = stdout(&output);
    for line in ["iops = 5000.0", "write_percent = 30", "settle_seconds = 1.0"] {
        assert!(plan.contains(line), "{line}: {plan}");
    }
    // fio's rate is in bytes, SQLIO's `-s` is a time.
    fails(
        &command(&["run", "--engine", "sim", "--rate", "10m"]).output().unwrap(),
        2,
        "--rate-mib",
    );
    fails(&command(&["run", "/tmp", "-s", "30"]).output().unwrap(), 2, "`-d 30`");
    let place = place();
    place.says(&["run", "--engine", "sim"]);
    assert_eq!(place.list(&["--since", "yesterday"]).len(), 1);
    assert_eq!(place.list(&["--since", "7d"]).len(), 1);
    assert_eq!(place.list(&["--until", "7d"]).len(), 0);
}

/// `streams[0].blocks` is a field of a file, and nobody had typed it.
#[test]
fn an_error_names_the_flag_that_was_typed() {
    let dir = tempfile::tempdir().unwrap();
    for (args, flag) in [
        (&["--block", "64M"][..], "--block is"),
        (&["--offset", "16M"], "--offset is"),
        (&["--depth", "0"], "--depth is 0"),
        (&["--write", "101"], "--write is 101"),
        (&["--interval", "100us"], "--interval is"),
        (&["--think", "1ms", "--burst", "0"], "--burst is 0"),
        (&["--cpus", "0", "--priority", "realtime:9"], "--priority is"),
    ] {
        let output = run_small(dir.path(), args);
        fails(&output, 2, flag);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!text.contains("streams[") && !text.contains("_bytes"), "{text}");
    }
    // The remedies named fields, too: `set write_percent`.
    for (args, remedy) in [
        (&["--durable"][..], "only writes can be durable; set `--write`"),
        (&["--sync-every", "4"], "only writes are flushed; set `--write`"),
        (&["--random", "50"], "use a sequential pattern with `--random`"),
        (&["--pattern", "sequential", "--distribution", "zipf:0.9"], "`random` or `--random`"),
    ] {
        let output = run_small(dir.path(), args);
        fails(&output, 2, remedy);
        assert!(!stderr(&output).contains("_percent"), "{}", stderr(&output));
    }
    let output = command(&["knee", "--engine", "sim", "--threads", "0"]).output().unwrap();
    fails(&output, 2, "--threads is 0");
    fails(&command(&["run", "--engine", "sim", "-d", "0"]).output().unwrap(), 2, "--seconds is 0");
    let output = command(&["sweep", "--engine", "sim", "--blocks", "8K", "--depths", "0"]);
    fails(&{ output }.output().unwrap(), 2, "--depths is 0");
    // In a file, the field is what people wrote.
    let file = dir.path().join("load.toml");
    std::fs::write(&file, "[[targets]]\npath = \"x\"\n[[streams]]\ndepth = 0\n").unwrap();
    let output = command(&["run", "--workload", file.to_str().unwrap()]).output().unwrap();
    fails(&output, 2, "streams[0].depth is 0");
}

/// `--bs` was answered with `--baseline`.
#[test]
fn words_of_other_tools_lead_to_ours() {
    let refused = |args: &[&str], words: &str| {
        let output = command(args).output().unwrap();
        fails(&output, 2, words);
    };
    refused(&["run", "--bs", "4k"], "fio's `--bs` is `--block` here: write `--block 4k`");
    refused(&["run", "--bs=4k", "/tmp"], "fio's `--bs` is `--block` here: write `--block 4k`");
    let job = ["run", "--rw=randrw", "--rwmixread=70", "--iodepth=32", "--numjobs=4"];
    let job = [&job[..], &["--runtime=60", "--direct=1", "--ioengine=libaio"]].concat();
    let job = [&job[..], &["--filename=/data/x", "--name=x", "--group_reporting"]].concat();
    for words in [
        "fio's `--rw` is `--pattern` and `--write` here: write `--pattern random --write 50`",
        "write `--write 30`",
        "write `--depth 32`",
        "write `--threads 4`",
        "write `--seconds 60`",
        "fio's `--direct` is what iosonde does anyway",
        "write `--engine aio`",
        "fio's `--filename` is typed without a flag",
        "fio's `--name` is not needed here",
        "`iosonde run --workload FILE` runs a job file of fio as it is",
    ] {
        refused(&job, words);
    }
    refused(&["sweep", "--bs=4k,8k"], "fio's `--bs` is `--blocks` here");
    refused(&["assess", "--bs=4k"], "`iosonde assess` has no `--block`");
    refused(
        &["run", "-b8K", "-d30", "-o32"],
        "DiskSpd's `-o` is `--depth` here: write `--depth 32`",
    );
    refused(&["run", "-b8K", "-o", "32"], "write `--depth 32`");
    refused(&["run", "-c1G", "-r"], "`iosonde diskspd …` takes DiskSpd's own command line");
    refused(&["run", "-kW", "-fsequential"], "SQLIO's `-k` is `--write` here: write `--write 100`");
    // What is nobody's word is refused as before.
    refused(&["run", "--no-such-flag"], "unexpected argument '--no-such-flag'");
    refused(&["run", "--blok", "8K"], "--block");
}

/// What is said to be typed instead can be typed.
#[test]
fn the_translation_of_a_job_runs() {
    let typed = "--pattern random --write 50 --block 4k --depth 32 --threads 4 --seconds 60 \
                 --sync-every 1 --sync-call fsync --interval 2s --arrival poisson \
                 --rate 5k --content zero --cpus 0 --seed 7 --distribution zipf:1.1";
    let words: Vec<&str> = typed.split_whitespace().collect();
    let output = command(&[&["run", "--engine", "sim", "--dry-run"], &words[..]].concat());
    succeeds(&{ output }.output().unwrap());
}
