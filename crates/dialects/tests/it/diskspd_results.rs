//! Results as text and as XML, byte for byte as DiskSpd 2.2.0 writes them:
//! `diskspd_results/NAME.json` has the figures, `NAME.txt` and `NAME.xml` what follows from them.

use std::path::PathBuf;

use dialects::diskspd::profile::{Profile, Target, TimeSpan};
use dialects::diskspd::result::{
    Core, CpuTicks, Figures, Intervals, Latencies, Measured, ProcessorGroup, ProcessorSet,
    RunResult, Slice, SpanResult, Spread, SystemInfo, TargetFigures, ThreadFigures, Topology,
};
use dialects::recognise::recognise;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    command: String,
    groups: Vec<Group>,
    nodes: Vec<Set>,
    sockets: Vec<Set>,
    cores: Vec<CoreCase>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Group {
    number: u16,
    maximum: u32,
    active: u32,
    mask: u64,
}

#[derive(Deserialize)]
struct Set {
    number: u32,
    masks: Vec<(u16, u64)>,
}

#[derive(Deserialize)]
struct CoreCase {
    group: u16,
    number: u32,
    mask: u64,
    class: u8,
}

#[derive(Deserialize)]
struct Span {
    asked: Expectation,
    #[serde(default)]
    interrupted: bool,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    cpus: Vec<Ticks>,
    #[serde(default)]
    threads: Vec<Vec<OnTarget>>,
}

#[derive(Deserialize)]
struct Ticks {
    idle: u64,
    kernel: u64,
    user: u64,
}

#[derive(Deserialize)]
struct Expectation {
    paths: Vec<String>,
    block: u32,
    duration: u32,
    #[serde(default)]
    write_percent: u32,
    #[serde(default)]
    random: bool,
    #[serde(default)]
    latency: bool,
    interval_ms: Option<u32>,
    threads: Option<u32>,
    #[serde(default)]
    pool_threads: u32,
    #[serde(default)]
    pool_requests: u32,
}

#[derive(Deserialize)]
struct OnTarget {
    path: String,
    file_bytes: u64,
    read: Direction,
    write: Direction,
    #[serde(default)]
    slices: Vec<[u64; 4]>,
}

#[derive(Deserialize)]
struct Direction {
    bytes: u64,
    ios: u64,
    #[serde(default)]
    us: Vec<f32>,
    #[serde(default)]
    events: Vec<(f64, f64)>,
}

impl Expectation {
    fn span(&self) -> TimeSpan {
        let target = |path: &String| Target {
            path: path.clone(),
            block_bytes: self.block,
            random_percent: if self.random { 100 } else { 0 },
            write_percent: self.write_percent,
            threads_per_file: self.threads.unwrap_or(1),
            ..Target::default()
        };
        TimeSpan {
            targets: self.paths.iter().map(target).collect(),
            duration_s: self.duration,
            thread_count: self.pool_threads,
            request_count: self.pool_requests,
            measure_latency: self.latency,
            iops_std_dev: self.interval_ms.is_some(),
            io_bucket_ms: self.interval_ms.unwrap_or(1000),
            ..TimeSpan::default()
        }
    }
}

impl Direction {
    fn figures(&self, asked: &Expectation) -> Figures {
        let intervals = asked.interval_ms.map(|ms| {
            let most = asked.duration * 1000 / ms;
            counted(ms, most as usize, &self.events)
        });
        let latencies = Latencies::exact(self.us.iter().copied().map(f64::from));
        Figures { bytes: self.bytes, ios: self.ios, latencies, intervals }
    }
}

/// I/Os by the moment of their completion in ms, with their time in µs; the intervals end with the
/// last that has one.
fn counted(interval_ms: u32, most: usize, events: &[(f64, f64)]) -> Intervals {
    let mut times: Vec<Vec<f64>> = Vec::new();
    for (moment, us) in events {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let index = (moment / f64::from(interval_ms)) as usize;
        times.resize(times.len().max((index + 1).min(most)), Vec::new());
        if let Some(times) = times.get_mut(index) {
            times.push(us / 1e3);
        }
    }
    let counts = times.iter().map(|t| (t.len() as u64, Some(Spread::of(t)))).collect();
    Intervals::new(interval_ms, counts)
}

impl Case {
    fn read(name: &str) -> Self {
        serde_json::from_str(&fixture(name, "json")).unwrap()
    }

    fn profile(&self) -> Profile {
        let time_spans = self.spans.iter().map(|span| span.asked.span()).collect();
        Profile { command_line: self.command.clone(), time_spans, ..Profile::default() }
    }

    fn result(&self) -> RunResult {
        RunResult { system: self.system(), spans: self.spans.iter().map(Span::result).collect() }
    }

    fn system(&self) -> SystemInfo {
        let sets = |sets: &[Set]| -> Vec<ProcessorSet> {
            sets.iter().map(|s| ProcessorSet { number: s.number, masks: s.masks.clone() }).collect()
        };
        let groups = self.groups.iter().map(|g| ProcessorGroup {
            number: g.number,
            maximum_processors: g.maximum,
            active_processors: g.active,
            active_mask: g.mask,
        });
        let cores = self.cores.iter().map(|c| Core {
            group: c.group,
            number: c.number,
            mask: c.mask,
            efficiency_class: c.class,
        });
        SystemInfo {
            computer_name: "host1".to_owned(),
            tool_version: "2.2.0".to_owned(),
            tool_date: "2024/6/3".to_owned(),
            start_time: String::new(),
            power_scheme: "Balanced".to_owned(),
            power_scheme_guid: "381b4222-f694-41f0-9685-ff5bb260df2e".to_owned(),
            topology: Topology {
                groups: groups.collect(),
                nodes: sets(&self.nodes),
                sockets: sets(&self.sockets),
                cores: cores.collect(),
            },
        }
    }
}

impl Span {
    fn result(&self) -> SpanResult {
        if self.interrupted {
            return SpanResult::Interrupted;
        }
        let on_target = |target: &OnTarget| TargetFigures {
            path: target.path.clone(),
            file_bytes: target.file_bytes,
            read: target.read.figures(&self.asked),
            write: target.write.figures(&self.asked),
            slices: target.slices.iter().copied().map(slice).collect(),
        };
        let threads = self
            .threads
            .iter()
            .map(|targets| ThreadFigures { targets: targets.iter().map(on_target).collect() });
        let ticks = |t: &Ticks| CpuTicks { idle: t.idle, kernel: t.kernel, user: t.user };
        SpanResult::Measured(Measured {
            seconds: self.seconds,
            cpu_ticks: self.cpus.iter().map(ticks).collect(),
            threads: threads.collect(),
            intervals: None,
        })
    }
}

fn slice([from, percent, offset_bytes, bytes]: [u64; 4]) -> Slice {
    Slice {
        io_from_percent: u32::try_from(from).unwrap(),
        io_percent: u32::try_from(percent).unwrap(),
        offset_bytes,
        bytes,
    }
}

fn fixture(name: &str, ending: &str) -> String {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/diskspd_results");
    std::fs::read_to_string(directory.join(format!("{name}.{ending}"))).unwrap()
}

fn check(name: &str) {
    let case = Case::read(name);
    let (profile, result) = (case.profile(), case.result());
    same(&result.to_text(&profile), &fixture(name, "txt"));
    same(&result.to_xml(&profile), &fixture(name, "xml"));
}

/// Shows the first line that differs.
fn same(made: &str, wanted: &str) {
    for (number, (line, wanted)) in made.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(line, wanted, "line {}", number + 1);
    }
    assert_eq!(made, wanted);
}

#[test]
fn one_span_that_was_interrupted_before_it_began() {
    check("second_span_interrupted");
}

/// A time span that could not be run looked as if somebody had interrupted it.
#[test]
fn a_span_that_failed_says_why() {
    let case = Case::read("second_span_interrupted");
    let (profile, mut result) = (case.profile(), case.result());
    result.spans[1] = SpanResult::Failed("`<a>` is\n too small.".to_owned());
    let sentence = "The test failed before the measurements began: `<a>` is too small. No results \
                    are displayed.";
    let text = result.to_text(&profile);
    assert!(text.contains(&format!("\n{sentence}\n")), "{text}");
    let xml = result.to_xml(&profile);
    let escaped = sentence.replace('<', "&lt;").replace('>', "&gt;");
    assert!(xml.contains(&format!("<Error>{escaped}</Error>")), "{xml}");
    for written in [text, xml] {
        let found = recognise(written.as_bytes(), "r", "2026-01-02T03:04:05Z");
        let found = found.unwrap().unwrap();
        assert_eq!(found.measurements.len(), 1);
        assert!(
            found.notes.iter().any(|note| note.contains("`<a>` is too small")),
            "{:?}",
            found.notes
        );
    }
}

#[test]
fn two_targets_on_two_sockets() {
    check("two_targets_two_sockets");
}

#[test]
fn latency_of_two_threads() {
    check("latency_of_two_threads");
}

#[test]
fn a_pool_of_threads_that_draws_its_targets() {
    check("pool_of_two_threads");
}

#[test]
fn numbers_wider_than_their_columns() {
    check("numbers_wider_than_columns");
}

#[test]
fn cores_of_two_kinds() {
    check("cores_of_two_kinds");
}
