//! Command lines and files of Windows' own tools, unchanged.

use std::fs;
use std::process::{Command, Output};

use testing::Place;
use testing::program::{program, stdout, succeeds};

use super::{names, place, renamed};

/// One worker on drive C:, for a second each with one and with four I/Os in flight.
const ICF: &str = include_str!("nightly.icf");

/// The program under another name, in the place's directory.
fn tool(place: &Place, name: &str, line: &str) -> Output {
    let mut command: Command = program(renamed(place, name), &place.history());
    command.args(line.split(' ')).current_dir(place.directory()).output().unwrap()
}

/// Scripts call `diskspd.exe`: a copy of the program under that name is it.
#[test]
fn diskspd_runs_under_its_name() {
    let (place, data) = place();
    let line = format!(r"-b8K -d1 -W0 -o4 -t2 -r -w30 -Sh -L -c16M {data}\io.dat --overfill");
    let output = tool(&place, "diskspd.exe", &line);
    succeeds(&output);
    let text = stdout(&output);
    assert!(text.contains(&format!(r"path: '{data}\io.dat'")), "{text}");
    let total = text.lines().find(|line| line.starts_with("total:")).unwrap();
    assert!(!total.contains(" 0 |"), "{text}");
    assert!(text.contains("%-ile"), "{text}");
    let cpus = text.lines().find(|line| line.contains("cpu count:")).unwrap();
    assert!(!cpus.ends_with("\t0"), "{text}");
    let average = text.lines().find(|line| line.starts_with("avg.|")).unwrap();
    assert!(!average.contains("-0.00%"), "without counters, an average of nothing: {text}");

    let xml = tool(
        &place,
        "diskspd.exe",
        &format!(r"-b64K -d1 -W0 -si -Rxml -c16M {data}\io.dat --overfill"),
    );
    succeeds(&xml);
    assert!(stdout(&xml).starts_with("<Results>"), "{}", stdout(&xml));
    assert_eq!(place.list(&[]).len(), 2);
}

/// Each option that people type most, in twenty lines; `-c`, the file and the time are added.
const LINES: [&str; 20] = [
    "-b4K -r -o8 -t2 -w0",
    "-b8K -r -w30 -Sh -L -o4 -t2",
    "-b8K -h -L -o32 -t3 -r -w75",
    "-b60K -Sh -L -o32 -t1 -s -w100",
    "-b64K -si -o4 -t4 -w0",
    "-b64K -s128K -o2 -t1",
    "-b8K -rs50 -w50 -L",
    "-b8K -r -D100 -L -o2",
    "-b8K -r -g65536 -o2 -t2",
    "-b8K -rdpct90/10:10/90 -r -w20",
    "-b4K -T1M -t2 -s",
    "-b4K -B1M:8M -r",
    "-b4K -f8M -s -w100",
    "-b8K -Sb -r -w10",
    "-b8K -Su -r -w10 -L",
    "-b8K -Sw -w100 -o2",
    "-b8K -Z1M -w100 -Sh",
    "-b16K -F2 -o2 -r -L",
    "-b8K -i4 -j10 -o2 -L",
    "-b8K -z7 -r -w50 -C0 -I1 -x",
];

/// A table of the text: its head, its rows, and the line of totals.
fn table<'a>(text: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let mut lines = text.lines().skip_while(|line| *line != name).skip(1);
    let head = lines.next().unwrap_or_else(|| panic!("no table {name}: {text}"));
    let is_rule = |line: &&str| line.starts_with("----");
    let rows = lines.filter(|line| !is_rule(line)).take_while(|line| !line.is_empty());
    let cells = |line: &'a str| line.split(['|', ':']).map(str::trim).collect();
    std::iter::once(head).chain(rows).map(cells).collect()
}

/// Reports have the sections, tables and columns of DiskSpd, and the rows of a table add up.
#[test]
fn twenty_lines_of_diskspd_have_its_structure() {
    let (place, data) = place();
    for line in LINES {
        let whole = format!(r"{line} -d1 -W0 -c16M {data}\io.dat --overfill --no-history");
        let output = tool(&place, "diskspd.exe", &whole);
        succeeds(&output);
        let text = stdout(&output).replace("\r\n", "\n");
        let mut rest = text.as_str();
        for section in [
            "\nCommand Line: ",
            "\nInput parameters:\n\n\ttimespan:   1\n\t-------------\n\tduration: 1s\n",
            "\n\twarm up time: 0s\n",
            "\n\tpath: '",
            "\nSystem information:\n",
            "\n\tcpu count:\t\t",
            "\nResults for timespan 1:\n",
            "\nactual test time:\t",
            "\nthread count:\t\t",
            "\nCPU |  Usage |  User  | Kernel |  Idle\n",
            "\navg.|",
            "\nTotal IO\n",
            "\nRead IO\n",
            "\nWrite IO\n",
        ] {
            let at = rest.find(section);
            let at = at.unwrap_or_else(|| panic!("`{line}` without {section:?} there: {text}"));
            rest = &rest[at + 1..];
        }
        let (latencies, deviation) = (line.contains("-L"), line.contains("-D"));
        assert_eq!(text.contains("\n  %-ile |"), latencies, "`{line}`: {text}");
        let mut columns = vec!["thread", "bytes", "I/Os", "MiB/s", "I/O per s"];
        columns.extend(latencies.then_some("AvgLat"));
        columns.extend(deviation.then_some("IopsStdDev"));
        columns.extend(latencies.then_some("LatStdDev"));
        columns.push("file");
        let [total, read, written] = ["Total IO", "Read IO", "Write IO"].map(|name| {
            let rows = table(&text, name);
            assert_eq!(rows[0], columns, "`{line}`");
            let (last, threads) = rows[1..].split_last().unwrap();
            let bytes = |row: &Vec<&str>| row[1].parse::<u64>().unwrap();
            assert_eq!((last[0], last.len()), ("total", columns.len() - 1), "`{line}`: {text}");
            assert_eq!(bytes(last), threads.iter().map(bytes).sum::<u64>(), "`{line}`: {text}");
            bytes(last)
        });
        assert!(total > 0 && total == read + written, "`{line}`: {text}");
    }
}

#[test]
fn sqlio_runs_under_its_name() {
    let (place, data) = place();
    fs::write(place.path("param.txt"), format!("{data}\\testfile.dat 2 0x0 16\r\n")).unwrap();
    let output = tool(&place, "sqlio.exe", "-kW -s1 -frandom -o8 -b8 -LS -Fparam.txt --overfill");
    succeeds(&output);
    let text = stdout(&output);
    assert!(text.contains(&format!(r"to file {data}\testfile.dat")), "{text}");
    assert!(text.contains("IOs/sec:") && text.contains("Avg_Latency(ms):"), "{text}");
}

/// Drive C: of the configuration is a directory here, so that nothing is made in its root.
#[test]
fn iometer_runs_its_configuration() {
    let (place, data) = place();
    fs::write(place.path("t.icf"), ICF).unwrap();
    let drive = format!("C={data}");
    let args = ["iometer", "-c", "t.icf", "-r", "r.csv", "--overfill", "--drive", &drive];
    let text = place.says(&args);
    assert!(text.contains("OLTP"), "{text}");
    let results = place.text("r.csv");
    assert!(results.contains("'Test Type,Test Description"), "{results}");
    assert!(results.lines().any(|line| line.starts_with("ALL,All,OLTP,1,1,1,")), "{results}");
    assert_eq!(place.list(&[])[0]["targets"], format!(r"{data}\iobw.tst"));
    assert_eq!(names(&data), [""; 0], "its file is gone");
}

#[test]
fn sqliosim_runs_with_its_options() {
    let (place, data) = place();
    let args =
        ["sqliosim", "-dir", &data, "-size", "16", "-d", "1", "-log", "log.xml", "--overfill"];
    let text = place.says(&args);
    assert!(text.starts_with("RIGHT: "), "{text}");
    for name in ["mdx", "ldx"] {
        let line = format!(r"Final Summary for file {data}\sqliosim.{name} ");
        assert!(text.contains(&line), "{text}");
    }
    assert!(place.text("log.xml").starts_with("<ENTRY TYPE='INFO'"));
    assert_eq!(names(&data), ["sqliosim.ldx", "sqliosim.mdx"], "they stay");
}
