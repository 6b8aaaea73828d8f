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
