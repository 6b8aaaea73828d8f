//! The identities that hold in every true result: of each tool, a true text contradicts nothing,
//! and one figure that is changed is named.

use dialects::recognise::recognise;
use proptest::prelude::*;
use results::Measurement;
use results::contradiction::{Contradiction, PrintedFigure, PrintedQuantity, PrintedSide};

const READ: &str = "2026-02-03T04:05:06Z";
const MIB: f64 = 1_048_576.0;

/// What happened in a run.
#[derive(Debug, Clone, Copy)]
struct Truth {
    reads: u64,
    writes: u64,
    milliseconds: u64,
    block: u64,
}

/// A text of a run; it passes each figure, with its name, through the function.
type Printer = fn(&Truth, &mut dyn FnMut(&str, String) -> String) -> String;

/// Every tool, with a text of it.
const TOOLS: [(&str, Printer); 8] = [
    ("SQLIO", sqlio),
    ("DiskSpd", diskspd_text),
    ("DiskSpd XML", diskspd_xml),
    ("DiskSpd quoted", diskspd_quoted),
    ("IOMeter", iometer),
    ("fio JSON", fio_json),
    ("fio text", fio_text),
    ("fio terse", fio_terse),
];

impl Truth {
    fn ios(&self, side: &str) -> u64 {
        match side {
            "read " => self.reads,
            "write " => self.writes,
            _ => self.reads + self.writes,
        }
    }

    fn seconds(&self) -> f64 {
        self.milliseconds as f64 / 1e3
    }

    fn iops(&self, side: &str) -> f64 {
        self.ios(side) as f64 / self.seconds()
    }

    fn bytes(&self, side: &str) -> u64 {
        self.ios(side) * self.block
    }

    fn mib_per_s(&self, side: &str) -> f64 {
        self.bytes(side) as f64 / MIB / self.seconds()
    }
}

/// A number cut off after two decimals, as SQLIO prints it.
fn cut(value: f64) -> String {
    format!("{:.2}", (value * 100.0).floor() / 100.0)
}

fn sqlio(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let kib = t.block >> 10;
    let (iops, mib) = (cut(t.iops("")), cut(t.iops("") * t.block as f64 / MIB));
    format!(
        "sqlio v1.5.SG\nusing system counter for latency timings, 14318180 counts per second\n\
         2 threads reading for 120 secs from file F:\\x.dat\n\tusing {kib}KB random IOs\n\
         \tenabling multiple I/Os per thread with 8 outstanding\ninitialization done\n\
         CUMULATIVE DATA:\nthroughput metrics:\nIOs/sec: {}\nMBs/sec: {}\n",
        say("IOPS", iops),
        say("MiB/s", mib)
    )
}

/// A table of DiskSpd with one thread.
fn table(t: &Truth, side: &str, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let title = match side {
        "read " => "Read IO",
        "write " => "Write IO",
        _ => "Total IO",
    };
    let plain = [
        t.bytes(side).to_string(),
        t.ios(side).to_string(),
        format!("{:.2}", t.mib_per_s(side)),
        format!("{:.2}", t.iops(side)),
    ];
    let [bytes, count, mib, iops] = &plain;
    let names = ["bytes", "I/Os", "MiB/s", "IOPS"].map(|name| format!("{side}{name}"));
    let mut sum = names.iter().zip(&plain).map(|(name, text)| say(name, text.clone()));
    let sum: Vec<String> = sum.by_ref().collect();
    format!(
        "{title}\nthread | bytes | I/Os | MiB/s | I/O per s | file\n\
         -----------------\n     0 | {bytes} | {count} | {mib} | {iops} | x.dat (1GiB)\n\
         -----------------\ntotal: {}\n\n",
        sum.join(" | ")
    )
}

fn diskspd_text(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let percent = 30;
    let head = format!(
        "\nCommand Line: diskspd -b{0} -w{percent} -r x.dat\n\nInput parameters:\n\n\
         \ttimespan:   1\n\t-------------\n\tduration: 1s\n\twarm up time: 5s\n\
         \tcool down time: 0s\n\trandom seed: 0\n\tpath: 'x.dat'\n\t\tthink time: 0ms\n\
         \t\tburst size: 0\n\t\tusing software cache\n\
         \t\tperforming mix test (read/write ratio: 70/{percent})\n\
         \t\tblock size: {1}\n\t\tusing random I/O (alignment: {0})\n\
         \t\tnumber of outstanding I/O operations per thread: 2\n\t\tthreads per file: 1\n\n\n\
         Results for timespan 1:\n*******\n\nactual test time:\t{2}s\n\
         thread count:\t\t{3}\n\n",
        t.block,
        say("block size", t.block.to_string()),
        say("seconds", format!("{:.2}", t.seconds())),
        say("thread count", "1".to_owned()),
    );
    let tables = ["", "read ", "write "].map(|side| table(t, side, say));
    head + &tables.concat()
}

fn diskspd_quoted(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    format!("what it printed:\n\n{}", table(t, "read ", say))
}

fn diskspd_xml(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    format!(
        "<Results>\n<System></System>\n<Profile><TimeSpans><TimeSpan><Duration>1</Duration>\
         <Targets><Target><Path>x.dat</Path><BlockSize>{0}</BlockSize><Random>{0}</Random>\
         <WriteRatio>30</WriteRatio><RequestCount>2</RequestCount>\
         <ThreadsPerFile>1</ThreadsPerFile></Target></Targets></TimeSpan></TimeSpans></Profile>\n\
         <TimeSpan><TestTimeSeconds>{1:.2}</TestTimeSeconds><ThreadCount>1</ThreadCount>\
         <Thread><Id>0</Id><Target><Path>x.dat</Path><FileSize>1073741824</FileSize>\
         <ReadBytes>{2}</ReadBytes><ReadCount>{3}</ReadCount>\
         <WriteBytes>{4}</WriteBytes><WriteCount>{5}</WriteCount>\
         </Target></Thread></TimeSpan>\n</Results>\n",
        t.block,
        t.seconds(),
        say("read bytes", t.bytes("read ").to_string()),
        say("read I/Os", t.reads.to_string()),
        say("write bytes", t.bytes("write ").to_string()),
        say("write I/Os", t.writes.to_string()),
    )
}

fn iometer(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let six = |value: f64| format!("{value:.6}");
    let sides = ["", "read ", "write "];
    let iops = sides.map(|side| say(&format!("{side}IOPS"), six(t.iops(side)))).join(",");
    let mib = sides.map(|side| say(&format!("{side}MiB/s"), six(t.mib_per_s(side)))).join(",");
    let counts = [
        say("read bytes", t.bytes("read ").to_string()),
        say("write bytes", t.bytes("write ").to_string()),
        say("read I/Os", t.reads.to_string()),
        say("write I/Os", t.writes.to_string()),
    ];
    let (counts, ticks) = (counts.join(","), t.milliseconds * 10_000);
    format!(
        "'Test Type,Test Description\n0,\n'Version\n1.1.0\n'Time Stamp\n\
         2014-07-03 22:15:00:125\n'Access specifications\n\
         'Access specification name,default assignment\nload,0\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n{0},100,70,100,0,1,{0},0\n\
         'End access specifications\n'Results\n'Target Type,Target Name,\
         Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,\
         MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),Bytes Read,Bytes Written,\
         Read I/Os,Write I/Os,Total Raw Run Time,Queue Depth,Processor Speed\n\
         ALL,All,load,1,1,1,{iops},{mib},{counts},,1,\n\
         MANAGER,M,load,,1,1,{iops},{mib},{counts},{ticks},1,10000000\n\
         WORKER,Worker 1,load,,,1,{iops},{mib},{counts},{ticks},1,10000000\n\
         DISK,C:,,,,,{iops},{mib},{counts},{ticks},1,10000000\n\
         'Time Stamp\n2014-07-03 22:16:00:125\n'End Test\n",
        t.block
    )
}

fn fio_json(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let mut way = |side: &str| {
        let mut say = |name: &str, text: String| say(&format!("{side}{name}"), text);
        let (ios, bytes) = (t.ios(side), t.bytes(side));
        format!(
            r#"{{"io_bytes":{},"io_kbytes":{},"bw_bytes":{},"iops":{},"runtime":{},
            "total_ios":{}}}"#,
            say("bytes", bytes.to_string()),
            bytes >> 10,
            say("MiB/s", (bytes * 1000 / t.milliseconds).to_string()),
            say("IOPS", format!("{:.6}", t.iops(side))),
            say("seconds", t.milliseconds.to_string()),
            say("I/Os", ios.to_string()),
        )
    };
    let (read, write) = (way("read "), way("write "));
    format!(
        r#"{{"fio version":"fio-3.33","timestamp":1795804478,"jobs":[{{"jobname":"j","error":0,
        "job options":{{"rw":"randrw","bs":"{}","filename":"x"}},
        "read":{read},"write":{write}}}]}}"#,
        say("block size", t.block.to_string())
    )
}

/// A number as fio shortens it: four digits, or three and a unit.
fn short(value: f64, base: f64, units: [&str; 5]) -> String {
    let mut scaled = value;
    for unit in units {
        if scaled < 10_000.0 && unit.is_empty() {
            return scaled.floor().to_string();
        }
        if scaled < 1000.0 {
            return format!("{scaled:.1}{unit}");
        }
        scaled /= base;
    }
    format!("{scaled:.0}E")
}

fn fio_text(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let block = say("block size", t.block.to_string());
    let mut way = |side: &str| {
        let mut say = |name: &str, text: String| say(&format!("{side}{name}"), text);
        let bytes = ["", "Ki", "Mi", "Gi", "Ti"];
        let iops = say("IOPS", short(t.iops(side), 1000.0, ["", "k", "M", "G", "T"]));
        let bw = say("MiB/s", short(t.mib_per_s(side) * MIB, 1024.0, bytes));
        let io = say("bytes", short(t.bytes(side) as f64, 1024.0, bytes));
        let ms = say("seconds", t.milliseconds.to_string());
        format!("  {side}: IOPS={iops}, BW={bw}B/s (1kB/s)({io}B/{ms}msec)\n")
    };
    let ways = way("read ") + &way("write ");
    let issued =
        [say("read I/Os", t.reads.to_string()), say("write I/Os", t.writes.to_string())].join(",");
    format!(
        "j: (g=0): rw=randrw, bs=(R) {block}B-{block}B, (W) {block}B-{block}B, (T) 1B-1B, \
         ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n\n\
         j: (groupid=0, jobs=1): err= 0: pid=1: Fri Nov 27 18:34:51 2026\n{ways}\
         \x20    issued rwts: total={issued},0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    )
}

fn fio_terse(t: &Truth, say: &mut dyn FnMut(&str, String) -> String) -> String {
    let mut way = |side: &str| {
        let mut say = |name: &str, text: String| say(&format!("{side}{name}"), text);
        let kib = t.bytes(side) >> 10;
        let io = say("bytes", kib.to_string());
        let bw = say("MiB/s", (kib * 1000 / t.milliseconds).to_string());
        let iops = t.iops(side).floor();
        let ms = say("seconds", t.milliseconds.to_string());
        let times = "1;9;2.500000;0.500000";
        let percentiles = "50.000000%=2;".to_owned() + &"0%=0;".repeat(19);
        format!("{io};{bw};{iops};{ms};{times};{times};{percentiles}{times};0;0;0.0%;0.0;0.0;")
    };
    format!("3;fio-3.33;j;0;0;{}{}1.5%;2.5%;9;0;0;100.0%\n", way("read "), way("write "))
}

/// A table that was cut before its sum had 0 IOPS, or those of the digits that were left.
#[test]
fn a_quoted_table_that_was_cut_has_no_figures() {
    let truth = Truth { reads: 6000, writes: 0, milliseconds: 60_000, block: 8192 };
    let text = diskspd_quoted(&truth, &mut |_, text| text);
    let whole = text.trim_end();
    let iops = |text: &str| {
        let found = recognise(text.as_bytes(), "x", READ).unwrap();
        found.and_then(|found| Some(found.measurements.first()?.total.iops))
    };
    assert_eq!(iops(whole), Some(100.0));
    let heading = whole.find("thread").unwrap() + "thread | bytes | I/Os | MiB/s | I/O per s".len();
    for end in heading..whole.len() {
        assert_eq!(iops(&whole[..end]), None, "{}", &whole[..end]);
    }
}

/// The number that a text begins with, three times as large, with the same decimals.
fn tripled(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{:.decimals$}{unit}", 3.0 * number.parse::<f64>().unwrap())
}

fn imported(text: &str) -> Measurement {
    let mut found = recognise(text.as_bytes(), "x", READ).unwrap().expect("the tool is recognised");
    assert_eq!(found.measurements.len(), 1, "{:?}\n{text}", found.notes);
    found.measurements.remove(0)
}

/// The contradictions that an import names.
fn contradictions(text: &str) -> Vec<Contradiction> {
    imported(text).checks.contradictions
}

/// The identities that the figures of an import break, of those that the tool prints. Tools round.
fn broken(tool: &str, m: &Measurement, truth: &Truth) -> Vec<String> {
    let mut broken = Vec::new();
    let mut same = |what: String, one: f64, other: f64| {
        let is_known = one > 0.0 && other > 0.0;
        if is_known && (one / other - 1.0).abs() > 0.006 {
            broken.push(format!("{what}: {one} and {other}"));
        }
    };
    let sides = [("", &m.total), ("read ", &m.read), ("write ", &m.write)];
    for (side, s) in sides {
        let (ios, bytes) = (s.ios as f64, s.bytes as f64);
        same(format!("{side}IOPS x seconds = I/Os"), s.iops * m.seconds, ios);
        same(format!("{side}MiB/s x seconds = bytes"), s.mib_per_s * m.seconds * MIB, bytes);
        same(format!("{side}MiB/s = IOPS x block"), s.iops * truth.block as f64, s.mib_per_s * MIB);
        let side = if tool == "DiskSpd quoted" && s.ios > 0 { "read " } else { side };
        // SQLIO prints neither the number of I/Os nor, here, the true length.
        if tool != "SQLIO" {
            same(format!("{side}I/Os"), ios, truth.ios(side) as f64);
            same(format!("{side}IOPS"), s.iops, truth.iops(side));
        }
    }
    if m.read.ios > 0 {
        same("reads + writes".to_owned(), (m.read.ios + m.write.ios) as f64, m.total.ios as f64);
        same("IOPS of both".to_owned(), m.read.iops + m.write.iops, m.total.iops);
        same(
            "bytes of both".to_owned(),
            (m.read.bytes + m.write.bytes) as f64,
            m.total.bytes as f64,
        );
    }
    broken
}

/// The figures that a contradiction suspects.
fn suspects(contradiction: &Contradiction) -> Vec<String> {
    let name = |figure: &PrintedFigure| {
        let side = match figure.side {
            PrintedSide::Total => "",
            PrintedSide::Read => "read ",
            PrintedSide::Write => "write ",
        };
        let quantity = match figure.quantity {
            PrintedQuantity::Ios => "I/Os",
            PrintedQuantity::Bytes => "bytes",
            PrintedQuantity::Iops => "IOPS",
            PrintedQuantity::MibPerS => "MiB/s",
            PrintedQuantity::Seconds => "seconds",
            PrintedQuantity::BlockBytes => return "block size".to_owned(),
            PrintedQuantity::Threads | PrintedQuantity::ThreadsAsked => "thread count",
        };
        format!("{side}{quantity}")
    };
    contradiction.suspects.iter().map(name).collect()
}

proptest! {
    #[test]
    fn a_true_text_contradicts_nothing_and_a_changed_figure_is_named(
        reads in 20_000u64..3_000_000, writes in 20_000u64..3_000_000,
        milliseconds in 1000u64..100_000, shift in 10u32..19,
    ) {
        let truth = Truth { reads, writes, milliseconds, block: 1 << shift };
        for (tool, print) in TOOLS {
            let mut names: Vec<String> = Vec::new();
            let text = print(&truth, &mut |name, text| {
                names.push(name.to_owned());
                text
            });
            let import = imported(&text);
            let broken = broken(tool, &import, &truth);
            prop_assert_eq!(broken, Vec::<String>::new(), "{}\n{}", tool, text);
            prop_assert_eq!(import.checks.contradictions, [], "{}\n{}", tool, text);
            for changed in names {
                let text = print(&truth, &mut |name, text| {
                    if name == changed { tripled(&text) } else { text }
                });
                let found = contradictions(&text);
                let named = found.iter().any(|c| suspects(c).contains(&changed));
                prop_assert!(named, "{}: {} in {:?}\n{}", tool, changed, found, text);
            }
        }
    }
}
