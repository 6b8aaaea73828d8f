//! SQLIO's output, as people kept it: logs, console captures, quotations; and whatever else a file
//! may hold.

use dialects::foreign::ForeignRuns;
use dialects::sqlio::{self, Buffering, Figure, Order, Printout, Reading, readings};
use dialects::text::decode;
use proptest::prelude::*;
use results::contradiction::PrintedQuantity;
use results::{Measurement, Status};
use workload::{Buffers, Bytes, Content, Mode, Pattern, PoolShare};

const LOG: &str = include_str!("sqlio/log.txt");
const CONSOLE: &str = include_str!("sqlio/console.txt");
const QUOTED: &str = include_str!("sqlio/quoted.md");
const TOOLSET: &str = include_str!("sqlio/toolset.txt");
const READ: &str = "2026-11-21T12:00:00Z";

fn read(text: &str) -> ForeignRuns {
    sqlio::read(text, "x.txt", READ)
}

fn warns(m: &Measurement, words: &str) -> bool {
    m.checks.warnings.iter().any(|w| w.contains(words))
}

#[test]
fn a_log_of_several_runs_is_one_measurement_each() {
    let ForeignRuns { measurements, notes } = read(LOG);
    assert_eq!(notes, [""; 0]);
    let [first, second, third] = measurements.as_slice() else { panic!("{}", measurements.len()) };
    assert_eq!(
        (first.status, first.threads, first.depth, first.in_flight),
        (Status::Complete, 2, Some(8), 16)
    );
    assert_eq!((first.seconds, first.file_bytes), (120.0, 20_971_520_000));
    assert_eq!(
        (first.total.iops, first.total.mib_per_s, first.total.ios),
        (3000.75, 187.54, 360_090)
    );
    assert_eq!((&first.read, first.write.ios), (&first.total, 0));
    let latency = first.total.latency_ns.unwrap();
    assert_eq!(
        (latency.min, latency.mean, latency.max, latency.p99),
        (Some(0), 4e6, Some(61_000_000), None)
    );
    assert_eq!((first.workload.mode, first.workload.streams[0].durable), (Mode::Direct, false));
    let origin = first.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.tool_version.as_deref()), ("SQLIO", Some("v1.5.SG")));
    assert_eq!(
        (origin.file.as_deref(), origin.latency_mean_short_by_ns),
        (Some("x.txt"), Some(1_500_000))
    );
    let histogram = origin.histogram_percent.as_ref().unwrap();
    assert_eq!((histogram.len(), &histogram[..5], histogram[24]), (25, &[0, 2, 10, 20, 31][..], 1));
    assert!(warns(first, "a mean of 4 ms is really 4 to 5.5 ms"), "{:?}", first.checks.warnings);
    assert!(warns(first, "does not say when it ran"));
    assert_eq!((first.started.as_str(), &first.environment.host), (READ, &None));

    // Nothing of the first is in the second.
    assert_eq!((second.total.latency_ns, second.depth, second.seconds), (None, Some(1), 30.0));
    let origin = second.origin.as_ref().unwrap();
    assert_eq!((&origin.histogram_percent, origin.latency_mean_short_by_ns), (&None, None));
    let stream = &second.workload.streams[0];
    assert_eq!(
        (stream.pattern, stream.write_percent, stream.durable),
        (Pattern::SequentialShared, 100, true)
    );
    assert_eq!((stream.content, second.file_bytes), (Content::Zero, 256 << 20));
    assert!(warns(second, "only zeros"));

    let (streams, targets) = (&third.workload.streams, &third.workload.targets);
    let matrix = Pattern::Matrix { columns: 64, rows: 64, same_column: false };
    assert!(streams.iter().all(|s| s.pattern == matrix && s.pool.is_none()));
    assert_eq!(
        (streams.len(), streams[0].threads, streams[1].threads, third.threads),
        (2, 4, 1, 5)
    );
    assert_eq!(
        (streams[0].targets.as_slice(), streams[1].targets.as_slice()),
        (&[0][..], &[1][..])
    );
    assert_eq!(targets[1].path.to_str(), Some(r"F:\sqltest.dat"));
    assert_eq!(third.origin.as_ref().unwrap().histogram_percent.as_ref().unwrap()[0], 100);
}

#[test]
fn a_console_is_read_with_its_prompts_and_in_its_language() {
    let utf16: Vec<u8> =
        CONSOLE.replace('\n', "\r\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let redirected = decode(&[&[0xFF, 0xFE], utf16.as_slice()].concat());
    for text in [CONSOLE, redirected.as_str()] {
        let ForeignRuns { measurements, notes } = read(text);
        assert_eq!(notes, [""; 0]);
        let [random, matrix] = measurements.as_slice() else { panic!("{}", measurements.len()) };
        let call = |m: &Measurement| m.origin.as_ref().unwrap().command_line.clone().unwrap();
        assert_eq!(call(random), r"sqlio -kW -b8 -frandom -s120 -t2 -o8 -BH -LS F:\TestFile.dat");
        assert_eq!(call(matrix), r"sqlio -kR -s5 F:\TestFile.dat");
        assert_eq!((random.total.iops, random.total.mib_per_s), (526.83, 4.11));
        assert!(warns(random, "a mean of 29 ms is really 29 to 30.5 ms"));
        assert!(!warns(random, "MBs/sec"), "{:?}", random.checks.warnings);
    }
    let names = |text: &str| read(text).measurements.into_iter().map(|m| m.id).collect::<Vec<_>>();
    assert_eq!(names(CONSOLE), names(&redirected), "the same runs, however they were kept");
}

#[test]
fn a_quotation_and_typed_figures_are_read_and_what_has_no_head_is_of_an_unknown_load() {
    let ForeignRuns { measurements, notes } = read(QUOTED);
    let [pasted, typed, bare] = measurements.as_slice() else { panic!("{}", measurements.len()) };
    assert_eq!((pasted.total.iops, pasted.status), (26_263.98, Status::Complete));
    assert_eq!(pasted.total.latency_ns.unwrap().max, Some(138_000_000));
    assert_eq!(pasted.origin.as_ref().unwrap().histogram_percent.as_ref().unwrap()[18], 40);
    assert_eq!(
        (typed.total.iops, typed.total.mib_per_s, typed.status),
        (2681.0, 21.0, Status::Complete)
    );
    assert_eq!(typed.total.latency_ns.unwrap().max, Some(310_000_000));
    assert_eq!(typed.checks.contradictions, []);
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(note.starts_with("line 40: nobody knows which load"), "{note}");
    assert!(bare.workload.is_unknown() && bare.origin.as_ref().unwrap().tool_version.is_none());
}

#[test]
fn the_head_of_a_log_gives_host_and_date_up_to_its_end_and_no_run_gives_to_the_next() {
    let ForeignRuns { measurements, notes } = read(TOOLSET);
    assert_eq!(notes, [""; 0]);
    let [first, second, third] = measurements.as_slice() else { panic!("{}", measurements.len()) };
    // All runs of a log had the date of its head, and so no order.
    for (m, started) in [(first, "2011-05-23T22:11:05Z"), (second, "2011-05-23T22:11:35Z")] {
        assert_eq!(m.environment.host.as_ref().unwrap().hostname, "SQLPROD07");
        assert_eq!(m.started, started);
        assert!(warns(m, "time zone"));
    }
    assert_eq!((first.depth, second.depth), (Some(8), Some(1)), "no depth leaks");
    assert!(second.total.latency_ns.is_none());
    let call = |m: &Measurement| m.origin.as_ref().unwrap().command_line.clone();
    assert!(call(second).unwrap().ends_with("-frandom -b8 -BH -Fparam.txt"));
    assert_eq!((&third.environment.host, call(third), third.started.as_str()), (&None, None, READ));
    let [doubt] = third.checks.contradictions.as_slice() else { panic!("{:?}", third.checks) };
    assert_eq!(doubt.suspects[0].quantity, PrintedQuantity::Iops);
}

#[test]
fn a_call_that_failed_is_not_that_of_the_next_run() {
    let call = |text: &str| {
        let found = read(text).measurements.remove(0);
        found.origin.unwrap().command_line
    };
    let made = "C:\\>sqlio -kR -b8 -frandom x.dat\n";
    assert!(call(&format!("{made}\n{LOG}")).is_some());
    let failed = "C:\\>sqlio -kR -b64 nowhere.dat\n";
    for said in ["The system cannot find the path specified.\n", "C:\\>\n", "MBs/sec: 5.00\n"] {
        assert_eq!(call(&format!("{failed}{said}{LOG}")), None, "{said}");
        let next = call(&format!("{failed}{said}{made}{LOG}"));
        assert!(next.unwrap().ends_with("x.dat"), "{said}");
    }
}

#[test]
fn a_console_behind_a_log_without_an_end_has_not_its_host() {
    let (log, _) = TOOLSET.split_once("End Date").unwrap();
    let text = format!("{log}D:\\other>sqlio -kR -b8 -frandom x.dat\n{LOG}");
    let found = read(&text).measurements;
    let hosts: Vec<bool> = found.iter().map(|m| m.environment.host.is_some()).collect();
    assert_eq!(hosts.get(..3), Some(&[true, true, false][..]));
    assert_eq!(found[2].started, READ);
}

#[test]
fn a_date_counts_in_the_head_of_a_log_only_and_where_it_means_one_day() {
    let started = |text: &str| read(text).measurements[0].started.clone();
    let mail = TOOLSET.replace("ComputerName: SQLPROD07\n", "From: somebody\n");
    assert_eq!(started(&mail), READ);
    let doubtful = TOOLSET.replace("05/23/2011", "05/03/2011");
    assert_eq!(started(&doubtful), READ);
    assert!(warns(&read(&doubtful).measurements[0], "`Mon 05/03/2011 22:11:05.37`"));
    let second = format!("{TOOLSET}ComputerName: OTHER\n{LOG}");
    let last = read(&second).measurements.pop().unwrap();
    assert_eq!(
        (last.started.as_str(), last.environment.host.unwrap().hostname.as_str()),
        (READ, "OTHER")
    );
}

/// The host of the first log stood on the runs of the second, which has no head, where the first
/// had lost its `End Date:`.
#[test]
fn a_log_without_a_head_has_no_host_of_the_log_before() {
    let (whole, _) = TOOLSET.split_once("End Date:").unwrap();
    let found = read(&format!("{whole}{LOG}"));
    let hosts: Vec<Option<String>> = found
        .measurements
        .iter()
        .map(|m| m.environment.host.as_ref().map(|h| h.hostname.clone()))
        .collect();
    let of_toolset = read(whole).measurements.len();
    let (first, second) = hosts.split_at(of_toolset);
    assert!(first.iter().all(|host| host.as_deref() == Some("SQLPROD07")), "{hosts:?}");
    assert!(!second.is_empty() && second.iter().all(Option::is_none), "{hosts:?}");
    assert!(found.measurements[of_toolset..].iter().all(|m| m.started == READ));
    // A head that somebody wrote by himself, above runs without their calls, is that of all of
    // them.
    let by_hand = read(&format!("ComputerName: MINE\n{LOG}{LOG}"));
    let mine = |m: &results::Measurement| m.environment.host.as_ref().unwrap().hostname == "MINE";
    assert!(by_hand.measurements.len() > 1 && by_hand.measurements.iter().all(mine));
}

/// A page had a dash for each hyphen, and the mean alone: neither the load nor the mean was read.
#[test]
fn a_mean_alone_below_a_call_with_dashes_is_read() {
    let text = "SQLIO \u{2013}kW \u{2013}b8 \u{2013}frandom \u{2013}s120 \u{2013}t2 \u{2013}o8 \
                \u{2013}BH \u{2013}LS F:\\testfile.dat\nIOs/sec: 526\nMBs/sec: 4.11\n\
                Avg_Latency(ms): 29\n";
    let found = read(text);
    let m = &found.measurements[0];
    let latency = m.total.latency_ns.unwrap();
    assert_eq!((latency.min, latency.mean, latency.max), (None, 29e6, None));
    assert_eq!((m.status, m.in_flight, m.write.iops), (Status::Complete, 16, 526.0));
}

#[test]
fn the_last_run_of_a_text_that_was_cut_is_incomplete() {
    let at = |words: &str| LOG.find(words).unwrap();
    let cut = |end: usize| read(&LOG[..end]);
    // In the middle of a number.
    let found = cut(at("3000.75") + 4);
    assert_eq!(found.measurements.len(), 0);
    assert!(found.notes[0].starts_with("line 1: the run has no figures"), "{:?}", found.notes);
    let found = cut(at("187.54") + 5);
    let m = &found.measurements[0];
    assert_eq!((m.status, m.total.iops), (Status::Interrupted, 3000.75));
    assert!((m.total.mib_per_s - 187.546_875).abs() < 1e-9, "by the block, not by a cut number");
    let found = cut(at("Max_Latency(ms): 61") + 18);
    let m = &found.measurements[0];
    // The largest was cut; the mean before it was not.
    let latency = m.total.latency_ns.unwrap();
    assert_eq!((m.status, latency.mean, latency.max), (Status::Interrupted, 4e6, None));
    assert!(
        warns(m, "latency is missing") && found.notes[0].contains("incomplete"),
        "{:?}",
        found.notes
    );
    // People who quote a run leave out its histogram. It was read as an interrupted run.
    let found = cut(at("ms: 0  1"));
    assert_eq!(found.measurements[0].status, Status::Complete);
    assert_eq!(found.measurements[0].total.latency_ns.unwrap().max, Some(61_000_000));
    // A run that stopped before its figures, and another after it.
    let text = format!("{}{}", &LOG[..at("CUMULATIVE")], &LOG[at("sqlio v1.5.SG\n1 thread")..]);
    let found = read(&text);
    assert_eq!((found.measurements.len(), found.measurements[0].seconds), (2, 30.0));
}

/// Three results that were typed by hand, with commas, a blank before `(ms)` and no line
/// `sqlio v…`: nothing was imported, and the program said so nowhere.
#[test]
fn results_typed_by_hand_are_read() {
    let call = "sqlIO -kR -t1 -s30 -dE -o32 -frandom -b8 -BH -LS testfile.dat\n\n";
    let figures = |iops: &str, mibs: &str, ms: [u32; 3]| {
        let [least, mean, most] = ms;
        format!(
            "throughput metrics:\nIOs/sec: {iops}\nMBs/sec: {mibs}\nlatency metrics:\n\
             Min_Latency (ms): {least}\nAvg_Latency (ms): {mean}\nMax_Latency (ms): {most}\n\n"
        )
    };
    let text = [
        "The 128 GB file on drive E:\n\n",
        call,
        &figures("2,701", "21", [0, 11, 322]),
        "And the file of 256 MB on drive F:\n\n",
        &figures("19,902", "155", [0, 1, 17]),
        "On drive E once more:\n\n",
        &figures("16,640", "130", [0, 1, 31]),
    ]
    .concat();
    let found = read(&text);
    let [first, second, third] = found.measurements.as_slice() else { panic!("{:?}", found.notes) };
    // The call right above the first says its load.
    assert_eq!(first.workload.title(), "8 KiB random read");
    assert_eq!((first.depth, first.in_flight, first.total.iops), (Some(32), 32, 2701.0));
    assert_eq!(first.total.latency_ns.unwrap().max, Some(322_000_000));
    assert_eq!(first.workload.targets[0].path.to_str(), Some("E:testfile.dat"));
    // Of the others nobody knows it, and nothing is made up.
    for (m, iops) in [(second, 19_902.0), (third, 16_640.0)] {
        assert_eq!((m.total.iops, m.status), (iops, Status::Complete));
        assert!(m.workload.is_unknown() && m.workload.targets.is_empty());
        assert_eq!((m.threads, m.in_flight, m.seconds, m.total.ios), (0, 0, 0.0, 0));
        assert!(m.total.latency_ns.is_some() && m.read == m.write);
        assert!(warns(m, "nobody knows which load"));
    }
    assert_eq!(found.notes.len(), 2, "{:?}", found.notes);
    let ids: Vec<&str> = found.measurements.iter().map(|m| m.id.as_str()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2]);
}

/// All runs of a log had the date of its file, so that a list showed them in any order.
#[test]
fn runs_without_a_date_keep_the_order_of_the_file() {
    let found = dialects::recognise::recognise(LOG.as_bytes(), "x.txt", READ);
    let found = found.unwrap().unwrap().measurements;
    let starts: Vec<&str> = found.iter().map(|m| m.started.as_str()).collect();
    // 120, 30 and 60 seconds.
    let counted = ["2026-11-21T11:56:30Z", "2026-11-21T11:58:30Z", "2026-11-21T11:59:00Z"];
    assert_eq!(starts, counted);
    assert!(found.iter().all(|m| warns(m, "counted back from the date of the file")));
}

#[test]
fn the_same_run_twice_is_two_measurements() {
    let run = &LOG[..LOG.find("sqlio v1.5.SG\n1 thread").unwrap()];
    let found = read(&format!("{run}{run}"));
    let [first, second] = found.measurements.as_slice() else { panic!() };
    assert_eq!(format!("{}-2", first.id), second.id);
    assert_eq!(first.id, read(run).measurements[0].id);
}

#[test]
fn several_files_and_buffers_and_caches_are_understood() {
    let text = "sqlio v1.5.SG\n8 threads writing for 10 secs to files D:\\a.dat, E:\\b.dat and \
        F:\\c.dat\n\tusing 64KB sequential IOs\n\
        \tusing multi-buffer I/Os (scatter/gather) with 16 buffers\n\tbuffering set to use file \
        cache and hardware disk cache\n\
        IOs/sec:   160.00\nMBs/sec:    10.00\n";
    let m = &read(text).measurements[0];
    let stream = &m.workload.streams[0];
    assert_eq!(
        (m.workload.targets.len(), m.workload.mode, stream.durable),
        (3, Mode::Buffered, false)
    );
    assert_eq!(stream.pool.as_ref().unwrap().share, PoolShare::InTurn);
    assert_eq!(stream.buffers, Buffers::Scattered { pieces: 16 });
    let software = text.replace(
        "use file cache and hardware disk cache",
        "use software file cache (but not hardware disk cache)",
    );
    let m = &read(&software).measurements[0];
    assert_eq!((m.workload.mode, m.workload.streams[0].durable), (Mode::Buffered, true));
    assert_eq!(stream.blocks[0].bytes, Bytes(65536));
}

#[test]
fn the_table_has_the_columns_of_the_scripts() {
    let rows: Vec<[String; 12]> = readings(LOG).0.iter().map(|r| sqlio::row(&r.printout)).collect();
    let text = "\
Kind,Threads,Seconds,Drive,Stripe,Outstanding,Size,IOs,MBs,Latency_min,Latency_avg,Latency_max
R,2,120,E,random,8,64,3000.75,187.54,0,4,61
W,1,30,F,sequential,0,8,640.00,5.00,,,
R,5,60,E+F,64,0,2,219753.98,429.20,0,0,9
";
    assert_eq!(sqlio::csv(&rows), text);
}

/// Any run that SQLIO could have printed.
fn printouts() -> impl Strategy<Value = Printout> {
    let order = prop_oneof![
        Just(Order::Random),
        Just(Order::Sequential),
        (1u64..4096, 1u32..4096)
            .prop_map(|(stripe_kib, run_ios)| Order::Striped { stripe_kib, run_ios }),
    ];
    let buffering = prop_oneof![
        Just(Buffering::None),
        Just(Buffering::All),
        Just(Buffering::Hardware),
        Just(Buffering::Software)
    ];
    let load = (
        1u32..5000,
        any::<bool>(),
        1u64..100_000,
        prop::collection::vec("[A-Z]:\\\\[a-z]{1,8}\\.dat", 1..4),
    );
    let latency = prop::option::of((0u32..9, 0u32..900, 0u32..100_000));
    let histogram = prop::array::uniform25(0u8..=100);
    let figures = (0u64..1_000_000_000, prop::option::of(1u32..512), latency, histogram);
    (load, 1u32..2048, order, buffering, figures).prop_map(
        |(load, block_kib, order, buffering, figures)| {
            let (iops, outstanding, latency, histogram) = figures;
            let (threads, writes, seconds, files) = load;
            Printout {
                version: sqlio::VERSION.to_owned(),
                timer: latency
                    .map(|_| sqlio::Timer { processor: false, per_second: 1_000_000_000 }),
                load: Some(sqlio::Load { threads, writes, seconds, files }),
                access: Some(sqlio::Access { block_kib, order }),
                outstanding,
                buffering,
                iops: Some(Figure::hundredths(iops)),
                mib_per_s: Some(Figure::hundredths(iops * u64::from(block_kib) / 1024)),
                latency_ms: latency
                    .map_or([None; 3], |(a, b, c)| [a, b, c].map(|ms| Some(f64::from(ms)))),
                histogram: latency.map(|_| histogram),
                ..Printout::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn every_run_is_read_back_as_it_was_printed(printouts in prop::collection::vec(printouts(),
        1..6), crlf: bool) {
        let text: String = printouts.iter().map(Printout::to_text).collect();
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let (found, notes) = readings(&text);
        prop_assert_eq!(notes.len(), 0);
        let found: Vec<Printout> = found.into_iter().map(|r| r.printout).collect();
        prop_assert_eq!(&found, &printouts);
        for (m, printed) in read(&text).measurements.iter().zip(&printouts) {
            prop_assert_eq!(&m.checks.contradictions, &[]);
            prop_assert_eq!(Some(m.total.iops), printed.iops.map(|f| f.value));
        }
    }

    #[test]
    fn no_text_panics(text in "(.{0,40}\n?){0,8}") {
        let _ = read(&text);
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read(&decode(&bytes));
    }

    /// Parts of real texts in any order, cut anywhere: every value is of its own run.
    #[test]
    fn no_mixture_of_pieces_panics(cuts in prop::collection::vec((0usize..4, any::<u16>(),
        0usize..400), 0..12)) {
        let texts = [LOG, CONSOLE, QUOTED, TOOLSET];
        let piece = |&(which, from, length): &(usize, u16, usize)| {
            let text: Vec<char> = texts[which].chars().collect();
            let from = usize::from(from) % text.len();
            text[from..text.len().min(from + length)].iter().collect::<String>()
        };
        let text: String = cuts.iter().map(piece).collect();
        let begins = ["sqlio v", "IOs/sec", " for ", "timings", "parameter file"];
        let begun = text.lines().filter(|l| begins.iter().any(|b| l.contains(b))).count();
        let (found, _) = readings(&text);
        prop_assert!(found.len() <= begun);
        let size: usize = found.iter().map(|r: &Reading| r.text.len()).sum();
        prop_assert!(size <= 2 * text.len() + 2);
    }
}
