//! The intervals (`-D`) in what `iosonde diskspd` writes: of the whole run and of each thread.
//! They were those of all threads together, without latency, because nothing else was counted.

use std::fs;

use testing::Place;

use crate::cli::program::{place, stderr, stdout, succeeds};

/// Two threads on a device that serves two I/Os at a time, reads in 1 ms and writes in 2 ms.
const LINE: &str = "-b8K -r -z1 -t2 -o4 -w50 -d2 -W0 -c16M sim.dat --engine sim";
const DEVICE: &str = r#"servers = 2, read_ns = "1ms", write_ns = "2ms""#;

/// What is written to stdout and to stderr.
fn run(place: &Place, flags: &str) -> (String, String) {
    let words = flags.split_whitespace().chain(LINE.split_whitespace());
    let words: Vec<&str> = words.collect();
    let output = place.run(&[&["diskspd"], words.as_slice(), &["--sim", DEVICE]].concat());
    succeeds(&output);
    (stdout(&output), stderr(&output))
}

/// The text with every number as `#`.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut in_number = false;
    for (before, c) in std::iter::once(' ').chain(text.chars()).zip(text.chars()) {
        let begins = c.is_ascii_digit() && "\">".contains(before);
        in_number = begins || in_number && (c.is_ascii_digit() || c == '.');
        if begins {
            out.push('#');
        } else if !in_number {
            out.push(c);
        }
    }
    out
}

/// The value of an attribute in every bucket of a part of the XML.
fn values(part: &str, name: &str) -> Vec<f64> {
    let wanted = format!(" {name}=\"");
    let value = |after: &str| after.split('"').next().unwrap().parse().unwrap();
    part.split(&wanted).skip(1).map(value).collect()
}

#[test]
fn the_xml_has_the_intervals_of_each_thread_with_their_latencies() {
    let (xml, _) = run(&place(), "-D1000 -Rxml");
    let begin = xml.find("    <Iops>").unwrap();
    let wanted = include_str!("diskspd_intervals.xml");
    // Of the last line no line feed follows.
    assert_eq!(without_numbers(&xml[begin..]), wanted.trim_end());

    let mut parts = xml[begin..].split("<Iops>").skip(1);
    let [all, first, second] = [(); 3].map(|()| parts.next().unwrap());
    for name in ["Read", "Write", "Total"] {
        let sums = values(first, name).into_iter().zip(values(second, name));
        let sums: Vec<f64> = sums.map(|(a, b)| a + b).collect();
        assert_eq!(values(all, name), sums, "{name}");
    }
    for part in [all, first, second] {
        for (direction, served_ms) in [("Read", 1.0), ("Write", 2.0)] {
            let of = |name: &str| values(part, &format!("{direction}{name}"));
            let spreads =
                of("MinLatencyMilliseconds").into_iter().zip(of("AvgLatencyMilliseconds"));
            for ((min, mean), max) in spreads.zip(of("MaxLatencyMilliseconds")) {
                assert!(served_ms <= min && min < mean && mean < max, "{min} {mean} {max}");
            }
            assert!(of("LatencyStdDev").iter().all(|ms| (0.1..5.0).contains(ms)), "{part}");
        }
    }
}

#[test]
fn the_intervals_that_are_written_are_read_back() {
    let place = place();
    let (xml, _) = run(&place, "-D500 -Rxml");
    fs::write(place.path("back.xml"), &xml).unwrap();
    let said = place.says(&["history", "import", "back.xml"]);
    assert!(said.contains("1 result imported"), "{said}");
    let all = xml.split("<Iops>").nth(1).unwrap();
    let found = place.json(&["history", "show", "diskspd-"]);
    let series = found["series"].as_array().unwrap();
    let read = |name: &str| -> Vec<f64> {
        series.iter().map(|point| point[name].as_f64().unwrap()).collect()
    };
    assert_eq!(read("t"), [0.5, 1.0, 1.5, 2.0]);
    assert_eq!(read("read_iops"), values(all, "Read"));
    assert_eq!(read("write_iops"), values(all, "Write"));
    let written = values(all, "WriteAvgLatencyMilliseconds").into_iter();
    for (ns, ms) in read("write_mean_ns").into_iter().zip(written) {
        assert!((ns / 1e6 - ms).abs() < 1e-9, "{ns} ns, {ms} ms");
    }
}

/// Each row had `N/A` where DiskSpd has the standard deviation of the thread's IOPS.
#[test]
fn the_text_has_the_standard_deviation_of_each_thread() {
    let (text, _) = run(&place(), "-D500");
    assert!(!text.contains("N/A"), "{text}");
    let table = text.split("Read IO").next().unwrap();
    let rows = table.lines().filter(|line| line.ends_with("sim.dat (16MiB)"));
    let cells = rows.map(|line| line.split('|').nth(5).unwrap().trim());
    let deviations: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(deviations.len(), 2, "{table}");
    assert!(deviations.iter().all(|iops| *iops > 0.0), "{table}");
}

/// Days of many threads would be a result that nobody can open.
#[test]
fn too_many_intervals_of_threads_are_left_out_and_that_is_said() {
    let (text, notes) = run(&place(), "-D1 --seconds 60");
    assert!(notes.contains("would be 120000, and 100000 are the most"), "{notes}");
    let row = text.lines().find(|line| line.ends_with("sim.dat (16MiB)")).unwrap();
    assert!(row.contains("N/A"), "{row}");
}
