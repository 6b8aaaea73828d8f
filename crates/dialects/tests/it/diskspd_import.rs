//! DiskSpd's results, read back from the texts and documents of `diskspd_results`, and damaged
//! ones.

use dialects::foreign::{ForeignRuns, ReadError};
use dialects::recognise::recognise;
use proptest::prelude::*;
use results::{Measurement, Statistics, Status};
use workload::{Bytes, DiskspdAccess, Mode, Pattern, PoolShare, ThinkFrom};

const READ: &str = "2026-02-03T04:05:06Z";

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("diskspd_results/", $name))
    };
}

const POOL_TEXT: &str = fixture!("pool_of_two_threads.txt");
const POOL_XML: &str = fixture!("pool_of_two_threads.xml");
const LATENCY_TEXT: &str = fixture!("latency_of_two_threads.txt");
const LATENCY_XML: &str = fixture!("latency_of_two_threads.xml");
const SOCKETS_TEXT: &str = fixture!("two_targets_two_sockets.txt");
const SOCKETS_XML: &str = fixture!("two_targets_two_sockets.xml");
const INTERRUPTED_TEXT: &str = fixture!("second_span_interrupted.txt");
const INTERRUPTED_XML: &str = fixture!("second_span_interrupted.xml");
const KINDS_TEXT: &str = fixture!("cores_of_two_kinds.txt");
const WIDE_TEXT: &str = fixture!("numbers_wider_than_columns.txt");
const WIDE_XML: &str = fixture!("numbers_wider_than_columns.xml");

fn found(text: &str) -> Result<ForeignRuns, ReadError> {
    recognise(text.as_bytes(), "result.txt", READ).map(Option::unwrap_or_default)
}

fn only(text: &str) -> Measurement {
    let found = found(text).unwrap();
    assert_eq!((found.measurements.len(), found.notes.len()), (1, 0), "{:?}", found.notes);
    found.measurements.into_iter().next().unwrap()
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-9, "{a} is not {b}");
}

#[test]
fn text_and_xml_tell_the_same() {
    for (text, xml) in [
        (POOL_TEXT, POOL_XML),
        (LATENCY_TEXT, LATENCY_XML),
        (SOCKETS_TEXT, SOCKETS_XML),
        (WIDE_TEXT, WIDE_XML),
    ] {
        let (text, xml) = (only(text), only(xml));
        assert_eq!(text.workload, xml.workload);
        for (a, b) in
            [(&text.total, &xml.total), (&text.read, &xml.read), (&text.write, &xml.write)]
        {
            assert_eq!((a.ios, a.bytes, a.latency_ns), (b.ios, b.bytes, b.latency_ns));
            // The text has them with two decimals; of the XML they follow from a length that is
            // rounded.
            assert!((a.iops - b.iops).abs() < 0.006 + b.iops * 0.005, "{} {}", a.iops, b.iops);
        }
        let sums = |m: &Measurement| {
            m.targets.iter().map(|t| (t.path.clone(), t.read.ios, t.write.ios)).collect::<Vec<_>>()
        };
        assert_eq!(sums(&text), sums(&xml));
        assert_eq!((text.seconds, text.cpu), (xml.seconds, xml.cpu));
    }
}

#[test]
fn figures_and_what_was_asked_for_are_read() {
    let measurement = only(LATENCY_TEXT);
    let origin = measurement.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.tool_version.as_deref()), ("DiskSpd", None));
    assert_eq!(origin.command_line.as_deref(), Some("diskspd -b8K -w30 -t2 -r -L f.dat"));
    assert_eq!(only(LATENCY_XML).origin.unwrap().tool_version.as_deref(), Some("2.2.0"));
    assert_eq!(measurement.environment.host.as_ref().unwrap().hostname, "host1");
    close(measurement.seconds, 10.02);
    assert_eq!(measurement.status, Status::Complete);
    assert_eq!((measurement.threads, measurement.depth, measurement.in_flight), (2, Some(2), 4));
    // The text rounds it.
    assert_eq!(measurement.file_bytes, 123_459_338);
    assert_eq!(only(LATENCY_XML).file_bytes, 123_456_789);

    let Statistics { ios, bytes, iops, mib_per_s, latency_ns, .. } = measurement.total;
    assert_eq!((ios, bytes), (110, 110 * 8192));
    close(iops, 10.98);
    close(mib_per_s, 10.98 * 8192.0 / 1_048_576.0);
    let latency = latency_ns.unwrap();
    assert_eq!((latency.min, latency.max), (Some(82_000), Some(89_938_000)));
    // Of 110 I/Os, 11 are above the 90th percentile, and five or six above the 95th.
    assert_eq!((latency.p50, latency.p90, latency.p95), (Some(551_000), Some(14_283_000), None));
    assert!(measurement.write.latency_ns.unwrap().mean > measurement.read.latency_ns.unwrap().mean);

    let stream = &measurement.workload.streams[0];
    assert_eq!((stream.write_percent, stream.pattern), (30, Pattern::Random));
    assert_eq!(stream.blocks[0].bytes, Bytes(8192));
    assert_eq!(stream.diskspd.as_ref().unwrap().access, DiskspdAccess::Random);
    assert_eq!(measurement.workload.mode, Mode::Buffered);
    assert!(measurement.cpu.host_percent.unwrap() > 10.0);
    // Nobody knows when: the date of the file stands for it, and it is said.
    assert_eq!(measurement.started, READ);
    assert!(measurement.checks.warnings.iter().any(|w| w.contains("does not say when it ran")));
}

#[test]
fn pools_targets_and_intervals_are_read() {
    let measurement = only(POOL_XML);
    let stream = &measurement.workload.streams[0];
    assert_eq!((stream.threads, stream.depth), (2, 8));
    assert_eq!(stream.pool.as_ref().unwrap().share, PoolShare::Drawn { weights: Vec::new() });
    assert_eq!(measurement.workload.targets.len(), 2);
    let targets: Vec<(u64, u64)> =
        measurement.targets.iter().map(|t| (t.read.ios, t.file_bytes)).collect();
    assert_eq!(targets, [(64, 268_435_456), (66, 536_870_912)]);
    assert_eq!(measurement.series.len(), 16);
    let first = &measurement.series[0];
    assert_eq!(
        (first.t, first.seconds, first.read_iops, first.write_iops),
        (0.25, 0.25, 32.0, 16.0)
    );
    assert_eq!((first.read_mean_ns, first.max_ns), (Some(309_000.0), Some(487_000)));
    close(first.read_mib_per_s, 32.0 * 8192.0 / 1_048_576.0);
    assert_eq!(measurement.series[5].write_mean_ns, None);
    assert!(only(POOL_TEXT).series.is_empty());
}

#[test]
fn several_time_spans_and_results_are_measurements_of_their_own() {
    for (text, place) in [(INTERRUPTED_TEXT, "line 92"), (INTERRUPTED_XML, "line 1")] {
        let one = found(text).unwrap();
        assert_eq!(one.measurements.len(), 1);
        assert!(one.notes[0].starts_with(place), "{:?}", one.notes);
        assert!(one.notes[0].contains("time span 2") && one.notes[0].contains("interrupted"));
        assert_eq!(
            one.measurements[0].workload.streams[0].diskspd.as_ref().unwrap().step_bytes,
            Bytes(8192)
        );
    }
    let log = format!(
        "some log\r\n{}\r\n{}",
        KINDS_TEXT.replace('\n', "\r\n"),
        LATENCY_TEXT.replace('\n', "\r\n")
    );
    let both = found(&log).unwrap();
    assert_eq!(both.measurements.len(), 2);
    assert_eq!(both.measurements[0].total.ios, 1);
    assert_eq!(both.measurements[1].total, only(LATENCY_TEXT).total);
    // The second run began before the first, and its name is the same wherever it stands.
    assert_eq!(both.measurements[1].id, only(LATENCY_TEXT).id);
    let both = found(&format!("{POOL_XML}\n2026-01-01T00:00:00: done\n{LATENCY_XML}")).unwrap();
    assert_eq!(both.measurements.len(), 2);
}

#[test]
fn the_date_is_that_of_the_end() {
    let dated = |text: &str| text.replace("start time: ", "start time: 2026/01/02 03:04:30 UTC");
    let measurement = only(&dated(LATENCY_TEXT));
    assert_eq!(measurement.started, "2026-01-02T03:04:19.98Z");
    let xml = LATENCY_XML.replace("<RunTime>", "<RunTime>2026/01/02 03:04:30 UTC");
    assert_eq!(only(&xml).started, measurement.started);
    let odd = LATENCY_TEXT.replace("start time: ", "start time: yesterday");
    assert!(only(&odd).checks.warnings.iter().any(|w| w.contains("`yesterday`")));
}

#[test]
fn every_line_of_the_parameters_is_understood() {
    let line = "\t\tusing random I/O (alignment: 8KiB)\n";
    let more = "\t\tusing mixed random/sequential I/O (25% random) (alignment/stride: 1.50KiB)\n\
        \t\tbase file offset: 1MiB\n\t\tmax file size: 3MiB\n\t\tthread stride size: 64KiB\n\
        \t\tsoftware cache disabled\n\t\thardware write cache disabled, writethrough on\n\
        \t\twrite buffer size: 20MiB\n\t\twrite buffer source: 'a.bin'\n\t\tIO priority: low\n\
        \t\tthroughput rate-limited to 100 IOPS\n\t\tthink time: 5ms\n\t\tburst size: 3\n\
        \t\tIO Distribution:\n\t\t    90% of IO => [     0    -      1MiB)\n\t\t    10% of IO => \
        [     1MiB -       end)\n";
    let text = LATENCY_TEXT.replace(line, more);
    // Of a limit and pauses, the limit counts.
    let pauses = only(&text.replace("\t\tthroughput rate-limited to 100 IOPS\n", ""));
    let think = pauses.workload.streams[0].think.unwrap();
    assert_eq!((think.pause_ns.0, think.from), (5_000_000, ThinkFrom::Submission));
    let measurement = only(&text);
    let workload = &measurement.workload;
    assert_eq!(workload.mode, Mode::Direct);
    let text = serde_json::to_string_pretty(&workload.streams[0]).unwrap();
    for wanted in [
        "\"durable\": true",
        "\"iops\": 200.0",
        "\"arrival\": \"capped\"",
        "\"random_percent\": 25",
        "\"content_file\": \"a.bin\"",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    assert_eq!(workload.streams[0].offset_bytes, Bytes(1 << 20));
    assert_eq!(workload.streams[0].span_bytes, Some(Bytes(2 << 20)));
    let order = workload.streams[0].diskspd.as_ref().unwrap();
    assert_eq!((order.step_bytes, order.thread_stride_bytes), (Bytes(1536), Bytes(65536)));
    assert!(
        format!("{:?}", order.slices).contains("Absolute([(90, Bytes(1048576)), (10, Bytes(0))])")
    );
}

/// IOPS were computed anew from a length that DiskSpd prints rounded: 1218.4 where it printed
/// 1215.24.
#[test]
fn rates_are_those_that_are_printed() {
    let text = LATENCY_TEXT
        .replace("actual test time:\t10.02s", "actual test time:\t0.09s")
        .replace(
            "total:            901120 |          110 |       0.09 |      10.98 |",
            "total: 901120 | 110 | 9.49 | 1215.24 |",
        )
        .replace(
            "     0 |          327680 |           40 |       0.03 |       3.99",
            "0 | 327680 | 40 | 3.45 | 441.90",
        );
    let measurement = only(&text);
    close(measurement.total.iops, 1215.24);
    // Of two numbers with two decimals, the larger one is the more exact.
    close(measurement.total.mib_per_s, 1215.24 * 8192.0 / 1_048_576.0);
    assert_eq!(format!("{:.2}", measurement.total.mib_per_s), "9.49");
    close(measurement.targets[0].total.iops, 1215.24);
    let large = LATENCY_TEXT.replace("|       0.09 |      10.98 |", "|     702.72 |      10.98 |");
    close(only(&large).total.mib_per_s, 702.72);
    let two = SOCKETS_TEXT
        .replace("       10 |       0.02 |       2.50", "       10 |       0.02 |       2.60");
    let targets: Vec<f64> = only(&two).targets.iter().map(|t| t.write.iops).collect();
    assert_eq!(targets, [2.60, 2.75]);
}

/// What a mail, a wiki or a README makes of a result: tabs are blanks, and every line is indented.
fn as_on_a_web_page(text: &str) -> String {
    let line = |line: &str| ["    ", line.replace('\t', "   ").trim_end(), "\n"].concat();
    text.lines().map(line).collect()
}

/// Of a text whose tabs had become blanks the parameters were not seen, and it was kept as "1
/// thread, depth 1, sequential, buffered".
#[test]
fn parameters_are_read_with_any_white_space() {
    for text in [LATENCY_TEXT, POOL_TEXT, SOCKETS_TEXT, KINDS_TEXT, WIDE_TEXT] {
        let (tabs, blanks) = (only(text), only(&as_on_a_web_page(text)));
        assert_eq!(tabs.workload, blanks.workload);
        assert_eq!((tabs.total, tabs.targets), (blanks.total, blanks.targets));
        assert_eq!((tabs.seconds, tabs.cpu), (blanks.seconds, blanks.cpu));
        assert_eq!(tabs.environment, blanks.environment);
    }
}

/// A result from its first table on, with this line before it.
fn without_parameters(text: &str, line: &str) -> String {
    format!("{line}\n{}", text.get(text.find("Results for timespan").unwrap()..).unwrap())
}

/// Figures without parameters were kept as the load of one thread at depth 1, which looks as right
/// as any other. The command line has the load; without it the load is unknown.
#[test]
fn without_parameters_the_command_line_says_the_load() {
    let asked = only(&LATENCY_TEXT.replace("2\n\t\tthreads", "4\n\t\tthreads"));
    let asked_all =
        |m: &Measurement| (m.workload.streams.clone(), m.workload.mode, m.workload.seconds);
    for line in [
        "Command Line: diskspd -b8K -w30 -t2 -o4 -r -L f.dat",
        "Command Line: C:\\Program Files\\x\\DiskSpd.exe /b8K /w30 /t2 /o4 /r /L f.dat",
        "  Command Line:   spd.exe -b8K -w30 -t2 -o4 -r -L -c1G f.dat  ",
    ] {
        let found = only(&without_parameters(LATENCY_TEXT, line));
        assert_eq!(asked_all(&found), asked_all(&asked), "{line}");
        assert_eq!(found.total, asked.total);
        assert_eq!((found.threads, found.depth, found.in_flight), (2, Some(4), 8));
    }
    let named = LATENCY_TEXT.replace("f.dat (", "C:\\my files\\f.dat (");
    let line = "Command Line: diskspd.exe -b8K -w30 -t2 -r -L C:\\my files\\f.dat";
    let found = only(&without_parameters(&named, line));
    assert_eq!(found.workload.targets[0].path, std::path::Path::new("C:\\my files\\f.dat"));
    let block = LATENCY_TEXT.replace("\tpath: 'f.dat'\n", "");
    assert_eq!(only(&block).workload.streams, only(LATENCY_TEXT).workload.streams);
}

/// Results without a load were kept as another load than theirs, and later refused: both lose what
/// was measured.
#[test]
fn figures_without_a_load_are_kept_as_of_an_unknown_one() {
    let unknown = |text: &str| {
        let found = found(text).unwrap();
        let [m] = found.measurements.as_slice() else { panic!("{:?}", found.notes) };
        assert!(m.workload.is_unknown() && m.workload.title() == "unknown load");
        assert_eq!((m.depth, m.in_flight), (None, 0));
        assert!(m.total.ios > 0 && m.status == Status::Complete);
        let warning = m.checks.warnings.iter().find(|w| w.starts_with("nobody knows which load"));
        assert!(found.notes[0].ends_with(warning.unwrap().as_str()), "{:?}", found.notes);
        found.notes[0].clone()
    };
    let what = unknown(&without_parameters(SOCKETS_TEXT, "a log"));
    assert!(
        what.starts_with("line 2: time span 1: ")
            && what.contains("neither all its `Input parameters:` nor a `Command Line:`"),
        "{what}"
    );
    // What the tables tell is there.
    let sockets = only(SOCKETS_TEXT);
    let kept = found(&without_parameters(SOCKETS_TEXT, "")).unwrap().measurements.remove(0);
    assert_eq!((kept.total, kept.targets), (sockets.total, sockets.targets));
    assert_eq!((kept.threads, kept.seconds), (sockets.threads, sockets.seconds));
    let paths =
        |w: &workload::Workload| w.targets.iter().map(|t| t.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&kept.workload), paths(&sockets.workload));
    for (line, why) in [
        ("Command Line: diskspd -b8K -r other.dat", "does not end in what was measured, `f.dat`"),
        ("Command Line: diskspd -b8K -t2 -Xload.xml f.dat", "its command line cannot be read"),
        ("Command Line: diskspd -Xload.xml", "does not end in"),
        ("Command Line: diskspd -b8K -Q7 f.dat", "cannot be read: `-Q7`"),
        ("Command Line:", "neither all its `Input parameters:` nor"),
    ] {
        let what = unknown(&without_parameters(LATENCY_TEXT, line));
        assert!(what.contains(why), "{line}: {what}");
    }
    let xml = LATENCY_XML.replace("<Profile>", "<Other>").replace("</Profile>", "</Other>");
    assert!(unknown(&xml).contains("the result has no `Profile`"));
    let xml = LATENCY_XML.replace("<BlockSize>", "<BlockSize>x");
    assert!(unknown(&xml).contains("the `Profile` cannot be read"));
    // A line of the parameters that was lost is not made up.
    let no_command = LATENCY_TEXT.replace("Command Line:", "");
    for line in
        ["block size: 8KiB", "performing mix test", "using random I/O", "number of outstanding"]
    {
        let lost: String =
            no_command.lines().filter(|l| !l.contains(line)).flat_map(|l| [l, "\n"]).collect();
        assert!(unknown(&lost).contains("neither all its `Input parameters:`"), "{line}");
    }
    let exotic = LATENCY_TEXT
        .replace("\tmeasuring", "\tgathering IOPS at intervals of 7200000ms\n\tmeasuring");
    let exotic = found(&exotic).unwrap();
    assert_eq!(exotic.measurements, []);
    assert!(exotic.notes[0].contains("iosonde has no words for"), "{:?}", exotic.notes);
}

/// DiskSpd 2.0.21 has `total:` above all percentiles and the path alone above those of a target;
/// that was refused with "`` is not a whole number".
#[test]
fn percentiles_of_earlier_versions_are_read() {
    let old = |text: &str| {
        text.replace("Total latency distribution:", "total:")
            .replace("Latency distribution: ", "")
            .replace("MiB/s", " MB/s")
            .replace("block size: 8KiB", "block size: 8192")
            .replace("operations per thread:", "operations:")
    };
    for text in [LATENCY_TEXT, SOCKETS_TEXT] {
        let (new, old) = (only(text), only(&old(text)));
        assert_eq!(new.total, old.total);
        assert_eq!((new.read, new.write), (old.read, old.write));
        assert_eq!(new.workload, old.workload);
    }
    let caches = "\t\tusing software cache\n\t\tusing hardware write cache, writethrough off\n";
    let with = |line: &str| {
        let found = only(&LATENCY_TEXT.replace(caches, &format!("\t\t{line}\n")));
        (found.workload.mode, found.workload.streams[0].durable)
    };
    assert_eq!(with("software and hardware write cache disabled"), (Mode::Direct, true));
    assert_eq!(with("software write cache disabled"), (Mode::Direct, false));
    assert_eq!(with("using software and hardware write cache"), (Mode::Buffered, false));
}

/// A text without the lines that begin so.
fn without(text: &str, line: &str) -> String {
    text.lines().filter(|l| !l.trim().starts_with(line)).flat_map(|l| [l, "\n"]).collect()
}

/// Where a heading was lost, its figures vanished without a word.
#[test]
fn figures_without_their_heading_are_refused_or_missed() {
    // Of one target there is one table of percentiles, whatever is above it.
    let bare = only(&without(LATENCY_TEXT, "Total latency distribution:"));
    assert_eq!(bare.total.latency_ns, only(LATENCY_TEXT).total.latency_ns);
    let error = |text: &str| found(text).unwrap_err().what;
    let several = error(&without(SOCKETS_TEXT, "Total latency distribution:"));
    assert!(several.contains("nothing says which target these percentiles are of"), "{several}");
    let heading = "%-ile |  Read (ms) | Write (ms) | Total (ms)";
    assert!(error(&without(LATENCY_TEXT, heading)).contains("without the heading `%-ile"));
    assert!(
        error(&LATENCY_TEXT.replace("Total (ms)", "Total (us)")).contains("`Total (us)` is not")
    );
    let heading = LATENCY_TEXT.lines().find(|line| line.starts_with("thread |")).unwrap();
    assert!(error(&without(LATENCY_TEXT, heading)).contains("the table has no heading"));
    let short = LATENCY_TEXT.replace("|    6.922 |    19.284", "|    6.922");
    assert!(error(&short).contains("the row has 6 columns and its heading 7"), "{}", error(&short));
    let chart = LATENCY_TEXT.get(..LATENCY_TEXT.find("Total latency").unwrap()).unwrap();
    let notes = found(chart).unwrap().notes;
    assert!(notes[0].contains("the table of percentiles is missing"), "{notes:?}");
    let means = LATENCY_TEXT.replace("AvgLat", "Average");
    assert!(found(&means).unwrap().notes[0].contains("the column of mean latencies"));
}

/// The figures of another machine stood below a result, and replaced it: 3.33 IOPS for 26,748.
#[test]
fn a_second_table_is_another_result() {
    let one = only(LATENCY_TEXT);
    let other = "### another machine\n\nTotal IO\n\
                 thread | bytes | I/Os | MiB/s | I/O per s | file\n---\n\
                 \x200 | 81920 | 10 | 0.03 | 3.33 | y.dat (128MiB)\n---\n\
                 total: 81920 | 10 | 0.03 | 3.33\n";
    let both = found(&format!("{LATENCY_TEXT}\n{other}")).unwrap().measurements;
    let [first, second] = both.as_slice() else { panic!("{}", both.len()) };
    assert_eq!((&first.total, &first.read), (&one.total, &one.read));
    assert_eq!((second.total.ios, second.total.iops), (10, 3.33));
    assert!(second.workload.is_unknown());
    close(second.seconds, 10.0 / 3.33);

    // One quoted table is a result, too.
    let reads = other.replace("Total IO", "Read IO");
    let quoted = found(&format!("<pre>D:\n{reads}</pre>")).unwrap().measurements;
    assert_eq!(
        (quoted[0].total.ios, quoted[0].read.ios, quoted[0].status),
        (10, 10, Status::Complete)
    );
    assert!(quoted[0].checks.warnings.iter().any(|w| w.contains("the table of reads alone")));
}

/// Of `-F`, the parameters of an old version say nothing; the figures do. 4 threads were shown as
/// 1.
#[test]
fn threads_that_the_parameters_do_not_say_are_those_of_the_figures() {
    let old = without(LATENCY_TEXT, "threads per file");
    let m = only(&old);
    assert_eq!((m.threads, m.in_flight), (2, 4), "as `thread count` says");
    let m = only(&without(&old, "thread count:"));
    assert_eq!(m.threads, 2, "as the rows say");
}

/// The table of the processors stood below that of the I/Os, and its rows were rows of I/Os.
#[test]
fn a_table_of_processors_after_that_of_the_ios_is_read() {
    let begin = LATENCY_TEXT.find("CPU |").unwrap();
    let end = LATENCY_TEXT.find("Total IO").unwrap();
    let cpu = &LATENCY_TEXT[begin..end];
    let reads = LATENCY_TEXT.find("Read IO").unwrap();
    let text = [&LATENCY_TEXT[..begin], &LATENCY_TEXT[end..reads], cpu, &LATENCY_TEXT[reads..]];
    let (moved, whole) = (only(&text.concat()), only(LATENCY_TEXT));
    assert_eq!((moved.total, moved.cpu), (whole.total, whole.cpu));
}

/// Without the table of percentiles, the mean was dropped as well.
#[test]
fn a_mean_without_percentiles_is_kept() {
    let chart = LATENCY_TEXT.get(..LATENCY_TEXT.find("Total latency").unwrap()).unwrap();
    let (cut, whole) = (&found(chart).unwrap().measurements[0], only(LATENCY_TEXT));
    let (cut, whole) = (cut.total.latency_ns.unwrap(), whole.total.latency_ns.unwrap());
    assert_eq!((cut.mean, cut.stddev), (whole.mean, whole.stddev));
    assert_eq!((cut.min, cut.max, cut.p50), (None, None, None));
}

#[test]
fn a_text_that_ends_early_is_incomplete() {
    let cut = LATENCY_TEXT.get(..LATENCY_TEXT.find("Write IO").unwrap()).unwrap();
    let incomplete = found(cut).unwrap();
    assert_eq!(incomplete.measurements[0].status, Status::Interrupted);
    assert!(
        incomplete.notes[0].contains("the table of writes is missing"),
        "{:?}",
        incomplete.notes
    );
    let cut = LATENCY_TEXT.get(..LATENCY_TEXT.find("System information").unwrap()).unwrap();
    assert!(found(cut).unwrap().notes[0].contains("before its first figures"));
}

/// Under Wine DiskSpd writes `<PowerScheme Name="<unknown>" …>`, which no parser of XML takes.
#[test]
fn what_diskspd_writes_under_wine_is_read() {
    let scheme = "<PowerScheme Name=\"<unknown>\" Guid=\"{0}\" />";
    let wine = LATENCY_XML.replacen("<System>", &format!("<System>{scheme}"), 1);
    assert_eq!(only(&wine).total, only(LATENCY_XML).total);
    let both = wine.replace("f.dat", "R&D.dat");
    assert_eq!(only(&both).workload.targets[0].path, std::path::Path::new("R&D.dat"));
}

/// The mean of an interval without I/Os is not a number, however the C library spells that.
#[test]
fn intervals_without_ios_have_no_mean() {
    for odd in ["-nan(ind)", "1.#IND", "inf", "-1.#IND00"] {
        let xml = POOL_XML.replacen(
            "ReadAvgLatencyMilliseconds=\"",
            &format!("ReadAvgLatencyMilliseconds=\"{odd}\" Was=\""),
            1,
        );
        assert_eq!(only(&xml).series[0].read_mean_ns, None, "{odd}");
        assert_eq!(only(&xml).series[1..], only(POOL_XML).series[1..]);
    }
}

#[test]
fn paths_with_characters_of_xml_are_read_as_diskspd_writes_them() {
    let raw = LATENCY_XML.replace("f.dat", "R&D;x & co.dat");
    assert_eq!(only(&raw).workload.targets[0].path, std::path::Path::new("R&D;x & co.dat"));
    let good = LATENCY_XML.replace("f.dat", "R&amp;D.dat");
    assert_eq!(only(&good).workload.targets[0].path, std::path::Path::new("R&D.dat"));
}

#[test]
fn errors_name_the_line_and_the_column() {
    let broken = LATENCY_TEXT.replace("|          110 |", "|          11o |");
    let line = broken.lines().position(|l| l.contains("11o")).unwrap() + 1;
    let error = found(&broken).unwrap_err();
    assert_eq!((error.line, error.column), (line, 37), "{error}");
    assert!(error.what.starts_with("`11o` is not a whole number"));
    let error = found(&LATENCY_TEXT.replace("10.02s", "-1s")).unwrap_err();
    assert!(error.what.contains("`-1` is not a number from 0 on"), "{error}");

    let broken = LATENCY_XML.replace("<ReadCount>40", "<ReadCount>-4");
    let line = broken.lines().position(|l| l.contains("-4<")).unwrap() + 1;
    let error = found(&format!("x\ny{broken}")).unwrap_err();
    assert_eq!((error.line, error.column), (line + 1, 9), "{error}");
    let error = found(&LATENCY_XML[..LATENCY_XML.len() - 30]).unwrap_err();
    assert!(error.line > 1, "{error}");
    let error = found(&POOL_XML.replace("SampleMillisecond=\"500\"", "SampleMillisecond=\"250\""))
        .unwrap_err();
    assert!(error.what.contains("not after the one before it"), "{error}");
    let deep = format!("<Results><System>{}", "<a>".repeat(100_000));
    assert!(found(&deep).unwrap_err().what.contains("elements are inside one another"));
}

proptest! {
    /// A result with one stretch of it replaced by other bytes.
    #[test]
    fn no_damage_panics(
        which in 0usize..5, at in any::<prop::sample::Index>(), length in 0usize..60,
            bytes in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let whole = [POOL_TEXT, WIDE_TEXT, INTERRUPTED_TEXT, LATENCY_XML, INTERRUPTED_XML][which];
        let mut damaged = whole.as_bytes().to_vec();
        let at = at.index(damaged.len());
        let end = (at + length).min(damaged.len());
        damaged.splice(at..end, bytes);
        if let Ok(Some(found)) = recognise(&damaged, "x", READ) {
            for measurement in found.measurements {
                let _ = measurement.workload.title();
                prop_assert!(measurement.total.iops.is_finite());
            }
        }
    }

    /// Lines of a result in another order, some of them several times.
    #[test]
    fn no_order_of_lines_panics(order in prop::collection::vec(any::<prop::sample::Index>(),
        0..200)) {
        let lines: Vec<&str> = POOL_TEXT.lines().chain(INTERRUPTED_TEXT.lines()).collect();
        let text: Vec<&str> = order.iter().map(|index| lines[index.index(lines.len())]).collect();
        let _ = found(&text.join("\n"));
    }

    /// A result on a web page with lines left out of it: what is kept of it has the load that was
    /// asked for, or an unknown one.
    #[test]
    fn no_lost_line_makes_up_a_load(lost in prop::collection::vec(any::<prop::sample::Index>(),
        1..12)) {
        let text = as_on_a_web_page(LATENCY_TEXT);
        let mut lines: Vec<&str> = text.lines().collect();
        for index in lost {
            lines.remove(index.index(lines.len()));
        }
        let Ok(found) = found(&lines.join("\n")) else { return Ok(()) };
        for measurement in found.measurements {
            let Some(stream) = measurement.workload.streams.first() else { continue };
            let all = (stream.blocks[0].bytes.0, stream.depth, stream.write_percent,
                stream.pattern);
            prop_assert_eq!(all, (8192, 2, 30, Pattern::Random), "{}", lines.join("\n"));
        }
    }

    /// Numbers of any size in the place of those that DiskSpd wrote.
    #[test]
    fn no_number_panics(at in any::<prop::sample::Index>(),
        number in "[0-9]{1,25}(\\.[0-9]{1,3})?") {
        for whole in [POOL_TEXT, LATENCY_XML] {
            let mut parts: Vec<&str> = whole.split_inclusive(|c: char| !c.is_ascii_digit())
                .collect();
            let digits: Vec<usize> = (0..parts.len())
                .filter(|n| parts[*n].starts_with(|c: char| c.is_ascii_digit())).collect();
            let index = digits[at.index(digits.len())];
            let end = parts[index].trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
            let with = format!("{number}{end}");
            parts[index] = &with;
            if let Ok(found) = found(&parts.concat()) {
                for measurement in found.measurements {
                    let _ = measurement.workload.title();
                    let _ = measurement.in_flight;
                }
            }
        }
    }
}
