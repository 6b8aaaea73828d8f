//! Results of other tools that do not tell their load, and logs that become a sweep.

use std::fs;
use std::path::Path;

use testing::Place;

use crate::cli::program::{place, stderr, stdout, succeeds};

/// A fixture of `dialects`.
fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/tests/it").join(name);
    fs::read_to_string(path).unwrap()
}

fn import(place: &Place, name: &str, text: &str, args: &[&str]) -> (String, String) {
    fs::write(place.path(name), text).unwrap();
    let output = place.run(&[&["history", "import", name], args].concat());
    succeeds(&output);
    (stdout(&output), stderr(&output))
}

/// The value of a column in the only row of a table.
fn cell<'a>(csv: &'a str, column: &str) -> &'a str {
    let mut lines = csv.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == column).unwrap();
    lines.next().unwrap().split(',').nth(at).unwrap()
}

/// A DiskSpd text without parameters and command line was kept as one thread at depth 1, then
/// refused. What was measured is shown everywhere, and no load is made up.
#[test]
fn a_load_that_nobody_knows_is_unknown_in_every_output() {
    let place = place();
    let whole = fixture("diskspd_results/latency_of_two_threads.txt");
    let tables = whole.get(whole.find("Results for timespan").unwrap()..).unwrap();
    let (said, notes) = import(&place, "tables.txt", tables, &[]);
    assert!(said.contains("1 result imported"), "{said}");
    assert!(notes.contains("line 1: time span 1: nobody knows which load"), "{notes}");
    let [entry] = &place.list(&[])[..] else { panic!() };
    assert_eq!(entry["title"], "unknown load");
    // The list showed a depth of 0.
    assert!(entry["best_in_flight"].is_null(), "{entry}");
    assert_eq!(place.list(&["--pattern", "unknown"]).len(), 1);

    let shown = place.says(&["history", "show", "latest"]);
    for words in ["unknown load", "2 threads", "depth not known", "11 IOPS", "f.dat"] {
        assert!(shown.contains(words), "`{words}` is not in: {shown}");
    }
    let html = String::from_utf8(place.report("latest", "r.html")).unwrap();
    assert!(html.contains("unknown load") && html.contains("nobody knows which load"));
    let csv = place.says(&["history", "export", "latest", "--format", "csv"]);
    assert_eq!((cell(&csv, "load"), cell(&csv, "pattern")), ("unknown load", "unknown"));
    assert_eq!((cell(&csv, "threads"), cell(&csv, "ios")), ("2", "110"));
    for absent in ["depth", "in_flight", "direct", "durable", "block_bytes", "write_percent"] {
        assert_eq!(cell(&csv, absent), "", "{absent}");
    }
    for text in [&shown, &html, &csv] {
        assert!(!text.contains("sequential") && !text.contains("random"), "{text}");
    }

    // It is compared with nothing, not even with the same figures of a load that is known.
    import(&place, "whole.txt", &whole, &[]);
    let known = place.list(&["--pattern", "random"])[0]["id"].as_str().unwrap().to_owned();
    let unknown = entry["id"].as_str().unwrap();
    for args in [&[][..], &["--anyway"]] {
        let output = place.run(&[&["history", "compare", &known, unknown], args].concat());
        let text = stdout(&output) + &stderr(&output);
        assert!(text.contains("nobody knows the load of at least one result"), "{text}");
    }
    let compared = place.json(&["history", "compare", &known, unknown]);
    assert_eq!((&compared["withheld"], &compared["loads"]), (&true.into(), &serde_json::json!([])));
    assert!(place.says(&["history", "check"]).contains("is whole"));
}

/// Three results typed by hand were imported as nothing, with the exit code 0.
#[test]
fn results_typed_by_hand_show_what_was_measured() {
    let place = place();
    let text = "IOs/sec: 2,701\nMBs/sec: 21\nMin_Latency (ms): 0\nAvg_Latency (ms): 11\n\
                Max_Latency (ms): 322\n\nIOs/sec: 19,902\nMBs/sec: 155\nMin_Latency (ms): 0\n\
                Avg_Latency (ms): 1\nMax_Latency (ms): 17\n";
    let (said, _) = import(&place, "typed.txt", text, &[]);
    assert!(said.contains("2 results imported"), "{said}");
    let shown = place.says(&["history", "show", "latest"]);
    for words in ["155 MiB/s", "unknown load", "not known", "1 ms to 2.5 ms", "17 ms"] {
        assert!(shown.contains(words), "`{words}` is not in: {shown}");
    }
    for invented in ["0 I/Os", "8 KiB", "random", "direct", "0 s ", "nothing completed"] {
        assert!(!shown.contains(invented), "`{invented}` is in: {shown}");
    }
    let csv = place.says(&["history", "export", "latest", "--format", "csv"]);
    for absent in ["ios", "bytes", "threads", "in_flight", "seconds", "target"] {
        assert_eq!(cell(&csv, absent), "", "{absent}");
    }
    for name in ["r.html", "r.xlsx", "r.md", "r.csv"] {
        assert!(!place.report("latest", name).is_empty());
    }
}

/// A run of IOMeter whose specification is empty was shown as "8 KiB random read".
#[test]
fn an_empty_specification_is_an_unknown_load() {
    let place = place();
    let csv = fixture("iometer/v1.1.0.csv");
    let begin = csv.find("'Access specifications").unwrap();
    let end = begin + csv.get(begin..).unwrap().find("'End access specifications").unwrap();
    let end = end + csv.get(end..).unwrap().find('\n').unwrap() + 1;
    let without = [csv.get(..begin).unwrap(), csv.get(end..).unwrap()].concat();
    import(&place, "result.csv", &without, &[]);
    let unknown = place.list(&["--pattern", "unknown"]);
    // The second session of the file has its own specifications.
    assert_eq!((unknown.len(), place.list(&[]).len()), (2, 3));
    for entry in unknown {
        assert_eq!(entry["title"], "unknown load");
        let shown = place.says(&["history", "show", entry["id"].as_str().unwrap()]);
        assert!(!shown.contains("8 KiB random read"), "{shown}");
        assert!(shown.contains("the file does not tell what the workers did"), "{shown}");
    }
}

/// A log of 192 runs was 192 results with one date, in any order.
#[test]
fn a_log_is_a_sweep_with_its_charts() {
    let place = place();
    let mut log = String::new();
    for (kind, most) in [("reading", 2900), ("writing", 3500)] {
        for order in ["random", "sequential"] {
            for threads in [2, 4, 8, 16, 32, 64] {
                for depth in [1, 2, 4, 8, 16, 32, 64, 128] {
                    let iops = most * depth.min(32) / 32;
                    log += &format!(
                        "sqlio v1.5.SG\n{threads} threads {kind} for 60 secs from file H:\\t.dat\n\
                         \tusing 64KB {order} IOs\n\tenabling multiple I/Os per thread with \
                         {depth} outstanding\nusing specified size: 20480 MB for file: H:\\t.dat\n\
                         CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec: {iops}.00\nMBs/sec: \
                         {:.2}\nlatency metrics:\nMin_Latency(ms): 0\nAvg_Latency(ms): {}\n\
                         Max_Latency(ms): 900\n",
                        f64::from(iops) / 16.0,
                        threads * depth * 1000 / iops,
                    )
                    .replace("writing for 60 secs from", "writing for 60 secs to");
                }
            }
        }
    }
    let (said, _) = import(&place, "log.txt", &log, &["--as-sweep"]);
    assert!(said.contains("1 result imported"), "{said}");
    let [entry] = &place.list(&[])[..] else { panic!() };
    assert_eq!((&entry["kind"], &entry["measurements"]), (&"sweep".into(), &192.into()));
    let html = String::from_utf8(place.report("latest", "r.html")).unwrap();
    for chart in ["IOPS per case", "MiB/s per case", "Latency per case", "64 KiB random read"] {
        assert!(html.contains(chart), "{chart}");
    }
    // MiB/s and latency over the I/Os in flight, for each number of threads.
    let csv = String::from_utf8(place.report("latest", "r.csv")).unwrap();
    assert_eq!(csv.lines().count(), 193);
    let shown = place.says(&["history", "show", "latest"]);
    assert!(shown.contains("192 of 192 cells measured"), "{shown}");

    // Without the flag, the list has them in the order of the log.
    import(&place, "log.txt", &log, &[]);
    let results = place.list(&["--kind", "run", "--limit", "200"]);
    let starts: Vec<&str> = results.iter().map(|r| r["started"].as_str().unwrap()).collect();
    assert!(starts.is_sorted_by(|a, b| a > b), "the newest first, each with a moment of its own");
    assert_eq!(results[0]["title"], "64 KiB sequential (shared cursor) write, durable, zeros");
    assert_eq!(results[191]["title"], "64 KiB random read");
}

/// After DiskSpd had made a file, SQLIO said that it does not exist and made it anew with 32 MiB.
#[test]
fn a_file_of_diskspd_is_used_by_sqlio_at_its_size() {
    let place = place();
    fs::create_dir(place.path("t")).unwrap();
    succeeds(&place.run(&["diskspd", "-w25", "-c16M", "-d1", "-W0", "-b8K", "t/io.dat"]));
    let before = fs::metadata(place.path("t/io.dat")).unwrap().len();
    let call = ["sqlio", "-kR", "-frandom", "-b8", "-o2", "-BH", "-LS", "t/io.dat"];
    let output = place.run(&[&call[..], &["--seconds", "0.2"]].concat());
    succeeds(&output);
    assert!(stdout(&output).contains("using current size: 16 MB for file: t/io.dat"));
    assert!(!stderr(&output).contains("does not exist"), "{}", stderr(&output));
    assert_eq!(fs::metadata(place.path("t/io.dat")).unwrap().len(), before);
}

/// A batch with `-dI` next to `-Fparam.txt`, with `%1` and with commands that mean nothing here was
/// refused as a whole.
#[test]
fn a_batch_with_parameters_runs_and_names_what_it_skips() {
    let place = place();
    fs::create_dir(place.path("disk")).unwrap();
    fs::write(place.path("param.txt"), "test.dat 2 0x0 8\n").unwrap();
    let batch = "@echo off\r\ncd /d I:\\\r\nfor %%o in (1 8) do (\r\n\
                 \x20 sqlio -k%1 -t2 -s120 -dI -o%%o -frandom -b64 -BH -LS -Fparam.txt >> %2\r\n\
                 )\r\n\
                 pause\r\n";
    fs::write(place.path("santest.bat"), batch).unwrap();
    let script = ["sqlio", "script", "santest.bat", "W", "out.txt", "--drive", "I=disk"];
    let output = place.run(&[&script[..], &["--seconds", "0.2"]].concat());
    succeeds(&output);
    let said = stderr(&output);
    for words in ["line 2, column 1: `cd` is skipped", "line 6, column 1: `pause` is skipped"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(said.contains("`-dI` is put in front of those files of `-Fparam.txt`"), "{said}");
    let text = place.text("out.txt");
    assert_eq!(text.matches("sqlio v1.5.SG").count(), 2);
    assert!(text.contains("file I:test.dat with 2 threads"), "{text}");
    assert!(place.path("disk/test.dat").exists());
}
