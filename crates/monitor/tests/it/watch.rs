//! Watching in virtual time: intervals that do not drift, devices that come and go, alerts, and the
//! series of a recording.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use counters::{
    BlockDevice, BlockKind, CountersError, CpuCounters, DiskCounters, DiskTally, SystemSample,
};
use monitor::{
    Alert, AlertEvent, Change, Clock, End, Event, Monitor, MonitorError, Observation, Series,
    Source, Watched, Why, csv, lines,
};
use proptest::prelude::*;
use results::{RecordedPoint, Recording};

/// A clock on which waiting takes no time, and each sample some.
#[derive(Default)]
struct Virtual {
    now: Rc<Cell<Duration>>,
}

impl Clock for Virtual {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn unix(&self) -> Duration {
        Duration::from_secs(1_800_000_000) + self.now.get()
    }

    fn wait_until(&self, at: Duration, stop: &dyn Fn() -> bool) {
        if !stop() {
            self.now.set(self.now.get().max(at));
        }
    }
}

/// What the made-up system counts at a time.
type Counts = Box<dyn FnMut(f64) -> Vec<DiskCounters>>;

struct SyntheticSource {
    now: Rc<Cell<Duration>>,
    takes: Duration,
    counts: Counts,
}

impl Source for SyntheticSource {
    fn sample(&mut self) -> Result<SystemSample, CountersError> {
        let at = self.now.get();
        self.now.set(at + self.takes);
        Ok(SystemSample {
            at_ns: u64::try_from(at.as_nanos()).unwrap(),
            disks: (self.counts)(at.as_secs_f64()),
            cpus: CpuCounters::default(),
            ..SystemSample::default()
        })
    }

    fn devices(&mut self) -> Vec<BlockDevice> {
        let disk = |name: &str, kind, below: &[&str]| BlockDevice {
            name: name.to_owned(),
            kind,
            label: None,
            size_bytes: 1 << 30,
            below: below.iter().map(ToString::to_string).collect(),
        };
        let names: Vec<String> =
            (self.counts)(self.now.get().as_secs_f64()).into_iter().map(|d| d.device).collect();
        let all = [
            disk("dm-0", BlockKind::LogicalVolume, &["sda"]),
            disk("sda", BlockKind::Disk, &[]),
            disk("sda1", BlockKind::Partition, &["sda"]),
            disk("sdb", BlockKind::Disk, &[]),
        ];
        all.into_iter().filter(|device| names.contains(&device.name)).collect()
    }
}

/// A disk that writes so many 8 KiB blocks a second, each for so long.
fn disk(name: &str, t: f64, writes_per_s: f64, ms: f64) -> DiskCounters {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    let (writes, write_time_ms) = ((t * writes_per_s) as u64, (t * writes_per_s * ms) as u64);
    DiskCounters {
        device: name.to_owned(),
        writes,
        write_bytes: writes * 8192,
        write_time_ms,
        weighted_ms: write_time_ms,
        ..DiskCounters::default()
    }
}

struct Watch {
    events: Vec<Event>,
    why: Why,
    alerts: Vec<results::RecordedAlert>,
}

impl Watch {
    fn windows(&self) -> Vec<&Observation> {
        let window = |event: &'_ Event| matches!(event, Event::Window(_));
        let all = self.events.iter().filter(|event| window(event));
        all.map(|e| if let Event::Window(o) = e { &**o } else { unreachable!() }).collect()
    }

    fn alerts(&self) -> Vec<&AlertEvent> {
        let alert = |event: &'_ Event| matches!(event, Event::Alert(_));
        let all = self.events.iter().filter(|event| alert(event));
        all.map(|e| if let Event::Alert(a) = e { a } else { unreachable!() }).collect()
    }
}

/// Watches a made-up system for some seconds.
fn watch(
    counts: impl FnMut(f64) -> Vec<DiskCounters> + 'static,
    (interval_ms, seconds): (u64, f64),
    watched: Watched,
    alerts: &[&str],
) -> Result<Watch, MonitorError> {
    let clock = Virtual::default();
    let takes = Duration::from_micros(300);
    let source = SyntheticSource { now: Rc::clone(&clock.now), takes, counts: Box::new(counts) };
    let alerts: Vec<Alert> = alerts.iter().map(|text| text.parse().unwrap()).collect();
    let after = Some(Duration::from_secs_f64(seconds));
    let mut monitor = Monitor::new(source, &clock, Duration::from_millis(interval_ms), watched)?
        .until(End { after, windows: None })
        .with_alerts(alerts);
    let mut events = Vec::new();
    monitor.begin(&mut |event| events.push(event.clone()))?;
    let why = monitor.run(&|| false, &mut |event| events.push(event.clone()))?;
    Ok(Watch { events, why, alerts: monitor.alerts() })
}

fn recorded(watched: &Watch) -> Recording {
    let Event::Began(began) = &watched.events[0] else { panic!("it begins with its beginning") };
    let mut series = Series::default();
    for window in watched.windows() {
        series.push(window.point());
    }
    let devices = began.devices.clone();
    let mut recording = Recording { devices, points: series.into_points(), ..Recording::default() };
    recording.sum_up();
    recording
}

#[test]
fn an_hour_of_seconds_does_not_drift() {
    let watched = watch(|t| vec![disk("sda", t, 500.0, 30.0)], (1000, 3600.0), Watched::Real, &[]);
    let watched = watched.unwrap();
    let windows = watched.windows();
    assert_eq!((watched.why, windows.len()), (Why::End, 3600));
    let late = windows.iter().map(|o| o.t - o.number as f64).fold(0.0, f64::max);
    assert!(late < 0.001, "{late}");
    let recording = recorded(&watched);
    let sda = &recording.totals.disks["sda"];
    assert_eq!(sda.figures["write_size_bytes"], Some(8192.0));
    assert!((sda.figures["writes_per_s"].unwrap() - 500.0).abs() < 0.1);
    assert!((sda.figures["write_latency_ns"].unwrap() - 30e6).abs() < 1e4);
    assert_eq!(sda.figures["read_latency_ns"], None, "no read, no latency");
}

/// A disk with `queue/iostats` = 0 was shown as idle, with no reason to doubt a figure.
#[test]
fn a_disk_that_is_not_counted_has_no_figures_and_the_reason_is_given() {
    let counts = |t: f64| {
        let uncounted = (2.0..5.0).contains(&t);
        let off = |name| DiskCounters { uncounted, ..disk(name, t, 100.0, 1.0) };
        vec![off("sda"), off("sda1"), disk("sdb", t, 100.0, 1.0)]
    };
    let watched = watch(counts, (1000, 10.0), Watched::All, &[]).unwrap();
    let notice = |event: &Event| match event {
        Event::Notice { text } => Some(text.clone()),
        _ => None,
    };
    let notices: Vec<String> = watched.events.iter().filter_map(notice).collect();
    let [only] = notices.as_slice() else { panic!("{notices:?}") };
    assert!(only.starts_with("`sda` has no figures: I/O accounting"), "{only}");
    assert!(only.ends_with("echo 1 > /sys/block/sda/queue/iostats"), "{only}");
    let off: Vec<u64> = watched
        .windows()
        .iter()
        .filter(|o| o.window.missing == ["sda", "sda1"])
        .map(|o| o.number)
        .collect();
    assert_eq!(off, [2, 3, 4, 5], "with those in which it was switched");
    let recording = recorded(&watched);
    let sda = &recording.totals.disks["sda"];
    assert!((sda.figures["writes_per_s"].unwrap() - 100.0).abs() < 1.0, "{sda:?}");
}

#[test]
fn an_end_between_two_intervals_is_kept() {
    let watched = watch(|t| vec![disk("sda", t, 100.0, 1.0)], (1000, 2.5), Watched::Real, &[]);
    let watched = watched.unwrap();
    let lengths: Vec<f64> = watched.windows().iter().map(|o| o.window.seconds).collect();
    assert_eq!(lengths.len(), 3);
    assert!((lengths[2] - 0.5).abs() < 0.001, "{lengths:?}");
}

#[test]
fn a_machine_that_slept_makes_up_for_nothing() {
    let clock = Virtual::default();
    let now = Rc::clone(&clock.now);
    let mut samples = 0;
    let counts = move |t: f64| {
        samples += 1;
        if samples == 5 {
            now.set(now.get() + Duration::from_secs(100));
        }
        vec![disk("sda", t, 100.0, 1.0)]
    };
    let takes = Duration::ZERO;
    let source = SyntheticSource { now: Rc::clone(&clock.now), takes, counts: Box::new(counts) };
    let end = End { after: None, windows: Some(6) };
    let interval = Duration::from_secs(1);
    let mut monitor = Monitor::new(source, &clock, interval, Watched::Real).unwrap().until(end);
    let mut ends = Vec::new();
    let mut hear = |event: &Event| {
        if let Event::Window(o) = event {
            ends.push(o.t);
        }
    };
    monitor.begin(&mut hear).unwrap();
    assert_eq!(monitor.run(&|| false, &mut hear).unwrap(), Why::End);
    assert_eq!(ends.len(), 6);
    assert!(ends.last().unwrap() - ends.first().unwrap() > 100.0, "{ends:?}");
    let on_time = ends.iter().filter(|t| (*t - t.round()).abs() < 1e-6).count();
    assert_eq!(on_time, 6, "every window ends at a whole second: {ends:?}");
}

#[test]
fn a_device_that_comes_and_goes_is_missing_and_never_zero() {
    let counts = |t: f64| {
        let mut all = vec![disk("sda", t, 100.0, 1.0)];
        if (3.5..6.5).contains(&t) {
            all.push(disk("sdb", t, 1000.0, 2.0));
        }
        all
    };
    let watched = watch(counts, (1000, 10.0), Watched::Real, &[]).unwrap();
    let named: Vec<bool> = watched.windows().iter().map(|o| o.window.missing == ["sdb"]).collect();
    assert_eq!(named.iter().filter(|missing| **missing).count(), 2, "it comes, and it goes");
    let with: usize = watched.windows().iter().filter(|o| o.window.disk("sdb").is_some()).count();
    assert_eq!(with, 2);
}

#[test]
fn what_is_named_must_be_there_and_stands_in_its_order() {
    let counts = |t: f64| vec![disk("sda", t, 10.0, 1.0), disk("dm-0", t, 5.0, 1.0)];
    let named = |names: &[&str]| Watched::Named(names.iter().map(ToString::to_string).collect());
    let error = watch(counts, (1000, 1.0), named(&["sdz"]), &[]).err().unwrap();
    assert!(error.to_string().contains("there are: dm-0 sda"), "{error}");
    let watched = watch(counts, (1000, 10.0), named(&["dm-0", "sda"]), &[]).unwrap();
    let first = &watched.windows()[0].window.disks;
    assert_eq!((first[0].0.as_str(), first[1].0.as_str()), ("dm-0", "sda"));
    let sum: u64 = watched.windows().iter().map(|o| o.window.disks[0].1.splits.unwrap()).sum();
    assert_eq!(sum, 50, "twice as many I/Os below as were given to the volume");
    for seconds in [0, 99, 60_001] {
        let error = watch(counts, (seconds, 1.0), Watched::Real, &[]).err().unwrap();
        assert!(matches!(error, MonitorError::Interval { .. }), "{error}");
    }
}

/// Slow from 10 to 20 s, idle from 20 to 22, slow from 22 to 40, then fast.
fn sometimes_slow(t: f64) -> Vec<DiskCounters> {
    let (mut ios, mut ms) = (0.0, 0.0);
    for (from, to, rate, each) in [
        (0.0, 10.0, 100.0, 5.0),
        (10.0, 20.0, 100.0, 50.0),
        (22.0, 40.0, 100.0, 60.0),
        (40.0, 1e9, 100.0, 5.0),
    ] {
        let length: f64 = (t - from).clamp(0.0, to - from);
        ios += length * rate;
        ms += length * rate * each;
    }
    vec![disk("sda", 1.0, ios, if ios > 0.0 { ms / ios } else { 0.0 })]
}

#[test]
fn a_condition_holds_for_its_time_and_idle_seconds_do_not_end_it() {
    let conditions = ["write_latency > 20ms for 15s", "sda.write_latency > 1s", "sdb.writes > 1"];
    let watched = watch(sometimes_slow, (1000, 60.0), Watched::Real, &conditions).unwrap();
    let alerts = watched.alerts();
    assert_eq!(alerts.len(), 2, "{alerts:?}");
    assert!(alerts[0].begins && !alerts[1].begins);
    assert!(
        (alerts[0].from_s - 10.0).abs() < 0.1 && (alerts[0].t - 27.0).abs() < 0.1,
        "{alerts:?}"
    );
    assert!((alerts[1].t - 40.0).abs() < 0.1, "{alerts:?}");
    let [first, rest @ ..] = watched.alerts.as_slice() else { panic!("three conditions") };
    assert_eq!(first.times.len(), 1);
    assert!((first.times[0].worst - 60e6).abs() < 1e6);
    assert!(rest.iter().all(|alert| alert.times.is_empty()));
}

#[test]
fn what_holds_to_the_end_has_no_end() {
    let watched =
        watch(sometimes_slow, (1000, 30.0), Watched::Real, &["write_latency >= 20ms for 3s"]);
    let times = &watched.unwrap().alerts[0].times;
    assert_eq!(times.len(), 1);
    assert_eq!(times[0].to_s, None);
}

#[test]
fn lines_and_rows_say_nothing_where_nothing_is_known() {
    let watched =
        watch(|t| vec![disk("sda", t, 0.0, 0.0)], (1000, 1.0), Watched::Real, &[]).unwrap();
    let window = &watched.events[1];
    let line: serde_json::Value = serde_json::from_str(&lines::line(window)).unwrap();
    assert_eq!(line["devices"]["sda"]["writes_per_s"], 0.0);
    assert_eq!(line["devices"]["sda"]["write_latency_ns"], serde_json::Value::Null);
    let rows = csv::rows(watched.windows()[0]);
    let columns = csv::heading().trim_end().split(',').count();
    assert!(rows.lines().all(|row| row.split(',').count() == columns), "{rows}");
    assert_eq!(rows.lines().count(), 2, "a device and the host");
}

#[test]
fn conditions_that_cannot_be_understood_say_why() {
    for (text, part) in [
        ("", "is not a condition"),
        ("write_latency", "is not a condition"),
        ("> 3", "is not a condition"),
        ("speed > 3", "there is no figure `speed`"),
        ("vda.speed > 3", "there is no figure `vda.speed`"),
        ("write_latency > 20", "not a limit of `write_latency_ns`: write 20ms"),
        ("writes > lots", "not a limit of `writes_per_s`"),
        ("cpu > 90% for ever", "`for ever`"),
        ("cpu > 90% for 48h", "`for 48h`"),
        ("average_queue > -1", "not a limit"),
    ] {
        let error = text.parse::<Alert>().unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    for text in [
        "Avg. Disk sec/Write > 20ms",
        "vda.% Idle Time < 5%",
        "log",
        "write_bytes_per_s >= 1.5G/s for 2min",
    ] {
        assert!(text.parse::<Alert>().is_ok(), "{text}");
    }
    for (name, condition, _) in monitor::alert::READY {
        let alert: Alert = name.parse().unwrap();
        assert!(alert.text().ends_with(condition));
        let written = serde_json::to_string(&alert).unwrap();
        assert_eq!(serde_json::from_str::<Alert>(&written).unwrap(), alert);
    }
}

fn point(t: f64, writes: u64) -> RecordedPoint {
    let tally = DiskTally { writes, write_ms: writes * 3, ..DiskTally::default() };
    let disks = [("sda".to_owned(), tally)].into();
    RecordedPoint { t, seconds: 1.0, windows: 1, disks, ..RecordedPoint::default() }
}

proptest! {
    #[test]
    fn a_long_recording_is_thinned_and_its_sums_are_the_same(
        writes in prop::collection::vec(0..1000_u64, 1..600),
        room in 2..50_usize,
    ) {
        let mut series = Series::with_room(room, usize::MAX);
        for (n, writes) in writes.iter().enumerate() {
            let before = series.points().clone();
            if series.push(point(n as f64 + 1.0, *writes)) == Change::Last {
                let same = before.len().saturating_sub(1);
                prop_assert_eq!(&series.points()[..same], &before[..same], "only the last changes");
            }
            prop_assert!(series.points().len() <= room);
        }
        let points = series.into_points();
        let sum: u64 = points.iter().filter_map(|p| p.disks.get("sda")).map(|tally| tally.writes)
            .sum();
        prop_assert_eq!(sum, writes.iter().sum::<u64>());
        let windows: u32 = points.iter().map(|p| p.windows).sum();
        prop_assert_eq!(windows as usize, writes.len());
        prop_assert!((points.last().unwrap().t - writes.len() as f64).abs() < 1e-9);
    }

    #[test]
    fn no_text_makes_the_parser_of_conditions_panic(text in ".{0,40}",
        limit in "[0-9a-zA-Z.%/]{0,8}") {
        let _ = text.parse::<Alert>();
        let _ = format!("{text} > {limit} for {text}").parse::<Alert>();
        let _ = format!("write_latency < {limit}").parse::<Alert>();
    }

    #[test]
    fn conditions_come_back_with_their_limit(limit in 1..100_000_u32, seconds in 0..3600_u32,
        device in "[a-z]{2,4}[0-9]?") {
        let text = format!("{device}.write_latency > {limit}us for {seconds}s");
        let alert: Alert = text.parse().unwrap();
        prop_assert_eq!(alert.text(), text.as_str());
        prop_assert_eq!(alert.device(), Some(device.as_str()));
    }
}
