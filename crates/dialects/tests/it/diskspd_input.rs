//! What DiskSpd takes and refuses, and how it understands what it takes: command lines, sizes and
//! XML profiles.

use std::collections::BTreeMap;

use dialects::diskspd::command::{Call, CommandError, CommandLine, Reading, parse};
use dialects::diskspd::fault::Fault;
use dialects::diskspd::lex;
use dialects::diskspd::profile::{
    CacheMode, DistributionKind, FlushType, Precreate, Profile, ResultFormat, Target, Throughput,
    TimeSpan, WriteContent, read,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// A case: a line of JSON.
fn cases<T: for<'a> Deserialize<'a>>(lines: &'static str) -> Vec<T> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Line(String),
    List(Vec<String>),
}

impl Words {
    fn list(&self) -> Vec<String> {
        match self {
            Self::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
            Self::List(list) => list.clone(),
        }
    }
}

#[derive(Deserialize)]
struct LineCase {
    words: Words,
    taken: bool,
    #[serde(default)]
    found: Vec<String>,
    /// How the profile differs from that of no options.
    differs: Option<BTreeMap<String, Value>>,
    /// The same where other differences are not told.
    partly: Option<BTreeMap<String, Value>>,
}

fn call(words: &[String]) -> Result<CommandLine, CommandError> {
    match parse(words, Reading::default())? {
        Call::Profile(line) => Ok(*line),
        other => panic!("{words:?} is no profile but {other:?}"),
    }
}

/// The kinds of what was found.
fn kinds(result: &Result<CommandLine, CommandError>) -> Vec<String> {
    let name = |debug: String| debug.split(['(', ' ']).next().unwrap_or_default().to_owned();
    let mut names: Vec<String> = match result {
        Ok(line) => line.warnings.iter().map(|w| name(format!("{:?}", w.what))).collect(),
        Err(CommandError::Words(words)) => {
            words.iter().map(|w| name(format!("{:?}", w.fault))).collect()
        }
        Err(CommandError::Rules(rules)) => {
            rules.iter().map(|r| name(format!("{:?}", r.what))).collect()
        }
        Err(CommandError::Xml(_)) => vec!["XML".to_owned()],
    };
    names.sort();
    names
}

#[test]
fn command_lines_are_taken_and_refused_as_diskspd_does() {
    for case in cases::<LineCase>(include_str!("diskspd/command_lines.jsonl")) {
        let words = case.words.list();
        let result = call(&words);
        assert_eq!(result.is_ok(), case.taken, "{words:?}: {result:?}");
        let mut found = case.found;
        if !case.taken {
            // What is doubtful in what is refused is not said.
            found.retain(|name| {
                !["SameBlocks", "InterlockedOfOne", "ParallelOfOne"].contains(&name.as_str())
            });
        }
        found.sort();
        assert_eq!(kinds(&result), found, "{words:?}");
        let Ok(line) = result else { continue };
        if let Some(differs) = case.differs {
            assert_eq!(differences(&line.profile), differs, "{words:?}");
        }
        let got = differences(&line.profile);
        for (name, value) in case.partly.unwrap_or_default() {
            assert_eq!(got.get(&name), Some(&value), "{words:?}: {name}");
        }
    }
}

#[derive(Deserialize)]
struct SizeCase {
    text: String,
    block: u64,
    bytes: Option<u64>,
}

#[test]
fn sizes_are_read_as_diskspd_does() {
    for case in cases::<SizeCase>(include_str!("diskspd/sizes.jsonl")) {
        assert_eq!(lex::size(&case.text, case.block).ok(), case.bytes, "{}", case.text);
    }
}

#[derive(Deserialize)]
struct TextCase {
    words: Vec<String>,
    text: Vec<String>,
}

#[test]
fn a_profile_as_text_is_that_of_diskspd() {
    for case in cases::<TextCase>(include_str!("diskspd/profile_texts.jsonl")) {
        let mut text = String::new();
        call(&case.words).unwrap().profile.write_text(&mut text);
        assert_eq!(text, case.text.join("\n"), "{:?}", case.words);
    }
}

#[derive(Deserialize)]
struct ProfileCase {
    name: String,
    xml: String,
    #[serde(default)]
    targets: Vec<String>,
    /// It is to run, and not only to be shown.
    #[serde(default)]
    runs: bool,
    /// Whether its shape is right.
    shape: bool,
    taken: bool,
    #[serde(default)]
    found: Vec<String>,
    differs: Option<BTreeMap<String, Value>>,
}

#[test]
fn profiles_are_taken_and_refused_as_diskspd_does() {
    for case in cases::<ProfileCase>(include_str!("diskspd/profiles.jsonl")) {
        assert_eq!(read(case.xml.as_bytes()).is_ok(), case.shape, "{}", case.name);
        let mut words = vec!["-Xprofile.xml".to_owned()];
        if !case.runs {
            words.push("-Rp".to_owned());
        }
        words.extend(case.targets.clone());
        let Ok(Call::Xml(call)) = parse(&words, Reading::default()) else {
            panic!("{words:?}");
        };
        let result = call.profile(case.xml.as_bytes());
        assert_eq!(result.is_ok(), case.taken, "{}: {result:?}", case.name);
        if case.shape {
            assert_eq!(kinds(&result), case.found, "{}", case.name);
        }
        if let (Ok(line), Some(mut differs)) = (result, case.differs) {
            if !case.runs {
                differs.insert("profile_only".to_owned(), json!(true));
            }
            assert_eq!(differences(&line.profile), differs, "{}", case.name);
        }
    }
}

/// With nothing after the comma, DiskSpd fills the buffer with random data; iosonde does the same.
#[test]
fn a_comma_without_a_name_is_random_content_without_a_file() {
    let words = ["-w100", "-Z1M,", "f.dat"].map(str::to_owned);
    let line = call(&words).unwrap();
    let content = &line.profile.time_spans[0].targets[0].write_content;
    assert_eq!(*content, WriteContent::Random { bytes: 1 << 20, file: None });
}

/// DiskSpd has no word that ends its options.
#[test]
fn two_dashes_alone_are_refused_as_in_diskspd() {
    let words = ["-b8K", "--", "f.dat"].map(str::to_owned);
    let Err(CommandError::Words(wrong)) = parse(&words, Reading::default()) else { panic!() };
    assert_eq!((wrong[0].word.as_str(), &wrong[0].fault), ("--", &Fault::UnknownOption));
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let words = ["-b8K", "-t0", "-w", "-Q", "f.dat", "-o8"].map(str::to_owned);
    let Err(CommandError::Words(wrong)) = parse(&words, Reading::default()) else { panic!() };
    let wrong: Vec<(&str, Fault)> =
        wrong.iter().map(|w| (w.word.as_str(), w.fault.clone())).collect();
    assert_eq!(
        wrong,
        [
            ("-t0", Fault::NotPositive),
            ("-w", Fault::WriteMissing),
            ("-Q", Fault::UnknownOption),
            ("-o8", Fault::OptionAfterTarget),
        ]
    );
    let words = "-F2 -O4 -g100 -j5 -i2 -p -si -n -a0 f.dat g.dat".split(' ').map(str::to_owned);
    let error = parse(&words.collect::<Vec<_>>(), Reading::default()).unwrap_err();
    let lines = error.lines();
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines.iter().skip(1).all(|line| line.starts_with("`f.dat`: ")), "{lines:#?}");
}

/// How a profile differs from that of no options and no target.
fn differences(profile: &Profile) -> BTreeMap<String, Value> {
    let spans = vec![TimeSpan { targets: vec![Target::default()], ..TimeSpan::default() }];
    let usual = fields(&Profile { time_spans: spans.clone(), ..Profile::default() });
    let mut fields = fields(profile);
    fields.retain(|name, value| {
        let first = name.replace("target 1", "target 0");
        usual.get(&first) != Some(value)
    });
    fields
}

fn fields(profile: &Profile) -> BTreeMap<String, Value> {
    assert_eq!(profile.time_spans.len(), 1);
    let span = &profile.time_spans[0];
    let mut fields = BTreeMap::new();
    let mut put = |name: &str, value: Value| {
        fields.insert(name.to_owned(), value);
    };
    put("progress", json!(profile.progress));
    put(
        "result_format",
        json!(if profile.result_format == ResultFormat::Xml { "xml" } else { "text" }),
    );
    put("profile_only", json!(profile.profile_only));
    put("verbose", json!(profile.verbose));
    put("verbose_stats", json!(profile.verbose_stats));
    if let Some(precreate) = profile.precreate {
        put(
            "precreate",
            json!(match precreate {
                Precreate::UseMaxSize => "UseMaxSize",
                Precreate::ConstantSizes => "CreateOnlyFilesWithConstantSizes",
                Precreate::ConstantOrZeroSizes => "CreateOnlyFilesWithConstantOrZeroSizes",
            }),
        );
    }
    if let Some(etw) = profile.etw {
        put("etw.enabled", json!(true));
        for (name, is_set) in [
            ("process", etw.process),
            ("thread", etw.thread),
            ("image_load", etw.image_load),
            ("disk_io", etw.disk_io),
            ("memory_page_faults", etw.memory_page_faults),
            ("memory_hard_faults", etw.memory_hard_faults),
            ("network", etw.network),
            ("registry", etw.registry),
            ("use_paged_memory", etw.use_paged_memory),
            ("use_perf_timer", etw.use_perf_timer),
            ("use_system_timer", etw.use_system_timer),
            ("use_cycles_counter", etw.use_cycles_counter),
        ] {
            put(&format!("etw.{name}"), json!(is_set));
        }
    }
    for (name, value) in [
        ("duration_s", json!(span.duration_s)),
        ("warmup_s", json!(span.warmup_s)),
        ("cooldown_s", json!(span.cooldown_s)),
        ("seed", json!(span.seed)),
        ("thread_count", json!(span.thread_count)),
        ("request_count", json!(span.request_count)),
        ("disable_affinity", json!(span.disable_affinity)),
        ("random_write_data", json!(span.random_write_data)),
        ("completion_routines", json!(span.completion_routines)),
        ("measure_latency", json!(span.measure_latency)),
        ("iops_std_dev", json!(span.iops_std_dev)),
        ("io_bucket_ms", json!(span.io_bucket_ms)),
        ("targets", json!(span.targets.len())),
    ] {
        put(&format!("span {name}"), value);
    }
    if !span.affinity.is_empty() {
        let list: Vec<_> = span.affinity.iter().map(|p| (p.group, p.cpu)).collect();
        put("span affinity", json!(list));
    }
    for (index, target) in span.targets.iter().enumerate() {
        for (name, value) in target_fields(target) {
            put(&format!("target {index} {name}"), value);
        }
    }
    fields
}

fn target_fields(target: &Target) -> Vec<(&'static str, Value)> {
    let mut fields = vec![
        ("path", json!(target.path)),
        ("block_bytes", json!(target.block_bytes)),
        ("step_bytes", json!(target.step())),
        ("random_percent", json!(target.random_percent)),
        ("interlocked", json!(target.interlocked)),
        ("parallel_async", json!(target.parallel_async)),
        ("thread_stride_bytes", json!(target.thread_stride_bytes)),
        ("base_offset_bytes", json!(target.base_offset_bytes)),
        ("max_offset_bytes", json!(target.max_offset_bytes)),
        ("sequential_scan", json!(target.sequential_scan)),
        ("random_access", json!(target.random_access)),
        ("temporary", json!(target.temporary)),
        ("large_pages", json!(target.large_pages)),
        ("write_through", json!(target.write_through)),
        ("memory_mapped", json!(target.memory_mapped)),
        ("threads_per_file", json!(target.threads_per_file)),
        ("outstanding", json!(target.outstanding)),
        ("write_percent", json!(target.write_percent)),
        ("io_priority", json!(target.io_priority)),
        ("weight", json!(target.weight)),
    ];
    fields.push((
        "cache",
        json!(match target.cache {
            CacheMode::Cached => "cached",
            CacheMode::DisableLocalCache => "remote",
            CacheMode::DisableOsCache => "none",
        }),
    ));
    fields.push((
        "content",
        json!(match &target.write_content {
            WriteContent::Counting => "counting",
            WriteContent::Zero => "zero",
            WriteContent::Random { .. } => "random",
        }),
    ));
    if let WriteContent::Random { bytes, .. } = target.write_content {
        fields.push(("content_bytes", json!(bytes)));
    }
    match target.throughput {
        Some(Throughput::Iops(value)) => fields.push(("iops", json!(value))),
        Some(Throughput::BytesPerMs(value)) => fields.push(("bytes_per_ms", json!(value))),
        None => {}
    }
    if let Some(distribution) = &target.distribution {
        let percent = distribution.kind == DistributionKind::Percent;
        fields.push(("distribution.type", json!(if percent { "pct" } else { "abs" })));
        let ranges: Vec<_> = distribution.ranges.iter().map(|r| (r.io_percent, r.extent)).collect();
        fields.push(("distribution.ranges", json!(ranges)));
    }
    let flush = target.flush.map(|flush| match flush {
        FlushType::ViewOfFile => "view",
        FlushType::NonVolatileMemory => "nonvolatile",
        FlushType::NonVolatileMemoryNoDrain => "nonvolatile, no drain",
    });
    let optional = [
        ("flush", flush.map(|kind| json!(kind))),
        ("create_bytes", target.create_bytes.map(|bytes| json!(bytes))),
        ("burst_ios", target.burst_ios.map(|ios| json!(ios))),
        ("think_ms", target.think_ms.map(|ms| json!(ms))),
    ];
    fields.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    fields
}

#[test]
fn what_is_wrong_with_a_profile_is_said_with_its_place() {
    let xml = "<Profile>\n\
        \x20 <TimeSpans><TimeSpan>\n\
        \x20   <Warmup>x</Warmup><Colour/>\n\
        \x20 </TimeSpan></TimeSpans>\n\
        </Profile>";
    let text = read(xml.as_bytes()).unwrap_err().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "line 3, column 5: `Warmup` is `x`; write a number from 0 to 4294967295",
            "line 3, column 23: `TimeSpan` contains no `Colour`",
            "line 2, column 14: `TimeSpan` lacks `Targets`",
        ]
    );
    let text = read(b"<Profile>\n<TimeSpans>").unwrap_err().to_string();
    assert!(text.contains("line 2, column 12: "), "{text}");
}

#[test]
fn what_older_versions_took_is_taken_with_a_note() {
    let words: Vec<String> = "-b512K -si -w100 -s io.dat".split(' ').map(str::to_owned).collect();
    assert!(parse(&words, Reading::default()).is_err());
    let Ok(Call::Profile(line)) = parse(&words, Reading { lenient: true, clock: 0 }) else {
        panic!()
    };
    assert!(line.profile.time_spans[0].targets[0].interlocked);
    assert!(line.notes[0].contains("sequential I/O is asked for twice"), "{:?}", line.notes);
    let words: Vec<String> = "-si -s4K io.dat".split(' ').map(str::to_owned).collect();
    assert!(parse(&words, Reading { lenient: true, clock: 0 }).is_err());
}
