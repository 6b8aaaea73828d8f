//! The loop: a sample at each interval, what happened in between, and events for the caller.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use counters::{
    BlockDevice, BlockKind, CountersError, NoCounts, SystemSample, SystemSampler, SystemTally,
    SystemWindow, block_devices,
};
use results::{AlertTime, RecordedAlert, RecordedPoint, RecordedRow};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::alert::{Alert, Turn, Watcher};
use crate::{Chain, Clock, Watched, moment, nanoseconds};

/// Where samples come from, such as the running system.
pub trait Source {
    /// Reads all counters at this moment.
    fn sample(&mut self) -> Result<SystemSample, CountersError>;

    /// The block devices that there are now.
    fn devices(&mut self) -> Vec<BlockDevice>;
}

/// Reads the counters of the running system.
impl Source for SystemSampler {
    fn sample(&mut self) -> Result<SystemSample, CountersError> {
        Self::sample(self)
    }

    fn devices(&mut self) -> Vec<BlockDevice> {
        block_devices(std::path::Path::new("/"))
    }
}

/// Another source of counters, such as a database.
pub trait Extra {
    /// Called when watching begins: counts from now on.
    fn begin(&mut self);

    /// What it counted since it was last asked, and what its user should know. It may give nothing
    /// yet and more the next time, and must not take long.
    fn window(&mut self) -> (Vec<RecordedRow>, Vec<String>);
}

/// When watching ends without a signal.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct End {
    /// End after this much time.
    pub after: Option<Duration>,
    /// End after this many windows.
    pub windows: Option<u64>,
}

/// Why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It came to its planned end.
    End,
    /// A signal or the caller stopped it.
    Stopped,
}

/// Why watching cannot begin, or not continue.
#[derive(Debug, Error)]
pub enum MonitorError {
    /// The counters of the system cannot be read.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// No block device has this name.
    #[error("there is no block device `{name}`; there are: {known}")]
    UnknownDevice {
        /// The name that is not a device.
        name: String,
        /// The names of all devices, separated by blanks.
        known: String,
    },
    /// The interval is out of range.
    #[error("the interval is {seconds} s; it must be between 0.1 s and 60 s")]
    Interval {
        /// The interval as it was asked for.
        seconds: f64,
    },
}

/// What happens while watching. Its JSON form is described in `docs/live.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Watching has begun.
    #[serde(rename = "watching")]
    Began(WatchStart),
    /// A window ended; these are its figures.
    Window(Box<Observation>),
    /// A condition came true, or is over.
    Alert(AlertEvent),
    /// Something that the user should know.
    #[serde(rename = "note")]
    Notice {
        /// The message, as a sentence.
        text: String,
    },
}

/// The facts at the start of watching.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchStart {
    /// Time of the day, since 1970, UTC.
    #[serde(rename = "at", with = "moment")]
    pub unix: Duration,
    /// The time from one sample to the next.
    #[serde(rename = "interval_ns", with = "nanoseconds")]
    pub interval: Duration,
    /// The devices that are watched, in the order in which they are shown.
    pub devices: Vec<BlockDevice>,
    /// The chain of devices under each target.
    pub chains: Vec<Chain>,
}

/// Everything that happened in one window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Its number in the recording, from 1.
    pub number: u64,
    /// Its end as time of the day, since 1970, UTC.
    #[serde(rename = "at", with = "moment")]
    pub unix: Duration,
    /// Its end, in seconds from the start of watching.
    pub t: f64,
    /// What happened, of the devices that are watched.
    pub window: SystemWindow,
    /// The counts of databases and other sources.
    pub rows: Vec<RecordedRow>,
}

/// A condition came true, or is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertEvent {
    /// The condition as it was written.
    pub condition: String,
    /// The device; absent if the figure is of the host.
    pub device: Option<String>,
    /// Whether the condition came true in this window.
    pub begins: bool,
    /// The figure now, or the worst where it is over, in words.
    pub figure: String,
    /// Since when it holds, in seconds from the start.
    pub from_s: f64,
    /// Now, in seconds from the start.
    pub t: f64,
}

/// Watches devices, window by window, and their alerts.
pub struct Monitor<'a> {
    source: Box<dyn Source + 'a>,
    clock: &'a dyn Clock,
    interval: Duration,
    end: End,
    watched: Watched,
    chains: Vec<Chain>,
    alerts: Vec<Watcher>,
    extras: Vec<Box<dyn Extra + 'a>>,
    devices: Vec<BlockDevice>,
    names: HashSet<String>,
    /// Devices whose I/O is not counted, as the user was told.
    uncounted: HashSet<String>,
    /// Names in the samples, watched or not: when they change, the system is looked at again.
    seen: Vec<String>,
    began: Duration,
    last: SystemSample,
    windows: u64,
    /// Number of the interval whose end comes next.
    due: u32,
}

/// The shortest and the longest interval.
pub const INTERVALS: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(100)..=Duration::from_secs(60);

impl<'a> Monitor<'a> {
    /// A monitor that watches these devices.
    pub fn new(
        source: impl Source + 'a,
        clock: &'a dyn Clock,
        interval: Duration,
        watched: Watched,
    ) -> Result<Self, MonitorError> {
        if !INTERVALS.contains(&interval) {
            return Err(MonitorError::Interval { seconds: interval.as_secs_f64() });
        }
        let mut monitor = Self {
            source: Box::new(source),
            clock,
            interval,
            end: End::default(),
            watched,
            chains: Vec::new(),
            alerts: Vec::new(),
            extras: Vec::new(),
            devices: Vec::new(),
            names: HashSet::new(),
            uncounted: HashSet::new(),
            seen: Vec::new(),
            began: Duration::ZERO,
            last: SystemSample::default(),
            windows: 0,
            due: 1,
        };
        monitor.last = monitor.source.sample()?;
        monitor.look()?;
        Ok(monitor)
    }

    /// Sets when it ends without a signal.
    #[must_use]
    pub fn until(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// Says with its first event which devices are under which target.
    #[must_use]
    pub fn with_chains(mut self, chains: Vec<Chain>) -> Self {
        self.chains = chains;
        self
    }

    /// Sets the conditions that are checked in every window.
    #[must_use]
    pub fn with_alerts(mut self, alerts: Vec<Alert>) -> Self {
        self.alerts = alerts.into_iter().map(Watcher::new).collect();
        self
    }

    /// Sets the sources besides the system, such as databases.
    #[must_use]
    pub fn with_extras(mut self, extras: Vec<Box<dyn Extra + 'a>>) -> Self {
        self.extras = extras;
        self
    }

    /// The devices that it watches now.
    #[must_use]
    pub fn devices(&self) -> &[BlockDevice] {
        &self.devices
    }

    /// Finds out which devices exist now.
    fn look(&mut self) -> Result<(), MonitorError> {
        self.seen = self.last.disks.iter().map(|disk| disk.device.clone()).collect();
        let all = self.source.devices();
        if let Watched::Named(names) = &self.watched {
            let there = |name: &&String| all.iter().any(|device| device.name == **name);
            if self.devices.is_empty()
                && let Some(name) = names.iter().find(|name| !there(name))
            {
                let known: Vec<&str> = all.iter().map(|device| device.name.as_str()).collect();
                return Err(MonitorError::UnknownDevice {
                    name: name.clone(),
                    known: known.join(" "),
                });
            }
        }
        for device in all.into_iter().filter(|device| self.watched.includes(device)) {
            // One that is gone stays: it has figures of before, and may come back.
            if self.names.insert(device.name.clone()) {
                self.devices.push(device);
            }
        }
        if let Watched::Named(names) = &self.watched {
            let place = |device: &BlockDevice| names.iter().position(|name| *name == device.name);
            self.devices.sort_by_key(place);
        }
        Ok(())
    }

    /// The first sample: what happens from now on counts.
    pub fn begin(&mut self, hear: &mut dyn FnMut(&Event)) -> Result<(), MonitorError> {
        for extra in &mut self.extras {
            extra.begin();
        }
        self.last = self.source.sample()?;
        self.began = self.clock.now();
        hear(&Event::Began(WatchStart {
            unix: self.clock.unix(),
            interval: self.interval,
            devices: self.devices.clone(),
            chains: self.chains.clone(),
        }));
        Ok(())
    }

    /// Watches until the end, or until `stop` says so. What happened since the last whole interval
    /// then makes a last, shorter window.
    pub fn run(
        &mut self,
        stop: &dyn Fn() -> bool,
        hear: &mut dyn FnMut(&Event),
    ) -> Result<Why, MonitorError> {
        loop {
            let (at, is_last) = self.next();
            self.clock.wait_until(self.began + at, stop);
            let stopped = stop();
            self.window(hear)?;
            let enough = self.end.windows.is_some_and(|windows| self.windows >= windows);
            let over = is_last && self.clock.now() >= self.began + at;
            if enough || over {
                self.finish(hear);
                return Ok(Why::End);
            }
            if stopped {
                self.finish(hear);
                return Ok(Why::Stopped);
            }
            // The next interval that is not over: after a pause of the whole machine, none is made
            // up for.
            let passed = self.clock.now().saturating_sub(self.began).as_nanos();
            let whole = passed / self.interval.as_nanos().max(1);
            self.due = u32::try_from(whole).unwrap_or(u32::MAX).saturating_add(1).max(self.due + 1);
        }
    }

    /// When the next sample is due, since the beginning, and whether it is the last.
    fn next(&self) -> (Duration, bool) {
        let at = self.interval.saturating_mul(self.due);
        match self.end.after {
            Some(end) if at >= end => (end, true),
            _ => (at, false),
        }
    }

    /// The window since the last sample.
    fn window(&mut self, hear: &mut dyn FnMut(&Event)) -> Result<(), MonitorError> {
        let now = self.source.sample()?;
        let t = self.clock.now().saturating_sub(self.began).as_secs_f64();
        let mut window = SystemWindow::between(&self.last, &now);
        if window.seconds <= 0.0 {
            return Ok(());
        }
        self.last = now;
        let names = self.last.disks.iter().map(|disk| &disk.device);
        if !names.eq(self.seen.iter()) {
            self.look()?;
        }
        self.add_splits(&mut window);
        window.disks.retain(|(name, _)| self.names.contains(name));
        window.missing.retain(|name| self.names.contains(name));
        self.in_order(&mut window);
        self.tell_uncounted(hear);
        let mut rows = Vec::new();
        for extra in &mut self.extras {
            let (more, notices) = extra.window();
            rows.extend(more);
            for text in notices {
                hear(&Event::Notice { text });
            }
        }
        self.windows += 1;
        let observation =
            Observation { number: self.windows, unix: self.clock.unix(), t, window, rows };
        for watcher in &mut self.alerts {
            watcher.hear(&observation, &mut |turn| hear(&Event::Alert(turn.into())));
        }
        hear(&Event::Window(Box::new(observation)));
        Ok(())
    }

    /// Says once of each device that its I/O is not counted, so that it has no figures.
    fn tell_uncounted(&mut self, hear: &mut dyn FnMut(&Event)) {
        for disk in &self.last.disks {
            let name = &disk.device;
            let device = self.devices.iter().find(|device| device.name == *name);
            let is_part = device.is_some_and(|device| {
                let watched = |below: &String| self.names.contains(below);
                device.kind == BlockKind::Partition && device.below.iter().any(watched)
            });
            if !disk.uncounted {
                self.uncounted.remove(name);
            } else if self.names.contains(name) && !is_part && self.uncounted.insert(name.clone()) {
                let why = NoCounts::AccountingOff { device: name.clone() };
                let text = format!("`{name}` has no figures: {why}");
                hear(&Event::Notice { text });
            }
        }
    }

    /// In the order in which the devices are shown.
    fn in_order(&self, window: &mut SystemWindow) {
        let places: HashMap<&str, usize> =
            self.devices.iter().enumerate().map(|(n, d)| (d.name.as_str(), n)).collect();
        window.disks.sort_by_key(|(name, _)| places.get(name.as_str()).copied());
    }

    /// What volumes of the device mapper gave to the devices below in more pieces than they were
    /// given.
    fn add_splits(&self, window: &mut SystemWindow) {
        let is_mapped = |device: &&BlockDevice| {
            let mapped = matches!(
                device.kind,
                BlockKind::DeviceMapper | BlockKind::LogicalVolume | BlockKind::Encrypted
            );
            mapped && !device.below.is_empty()
        };
        for device in self.devices.iter().filter(is_mapped) {
            let below = device.below.iter().map(|name| {
                let disk = window.disk(name)?;
                Some([disk.reads, disk.writes, disk.read_merges, disk.write_merges])
            });
            let below: Option<Vec<[u64; 4]>> = below.collect();
            let Some(below) = below else { continue };
            let pieces = below.iter().flatten().fold(0_u64, |sum, ios| sum.saturating_add(*ios));
            let place = window.disks.iter_mut().find(|(name, _)| *name == device.name);
            if let Some((_, tally)) = place {
                tally.splits =
                    Some(pieces.saturating_sub(tally.reads.saturating_add(tally.writes)));
            }
        }
    }

    fn finish(&mut self, hear: &mut dyn FnMut(&Event)) {
        let t = self.clock.now().saturating_sub(self.began).as_secs_f64();
        for watcher in &mut self.alerts {
            watcher.end(t, &mut |turn| hear(&Event::Alert(turn.into())));
        }
    }

    /// Every limit that was watched, and when it was passed.
    #[must_use]
    pub fn alerts(&self) -> Vec<RecordedAlert> {
        self.alerts.iter().map(Watcher::recorded).collect()
    }
}

impl From<Turn<'_>> for AlertEvent {
    fn from(turn: Turn<'_>) -> Self {
        let AlertTime { device, from_s, worst, .. } = turn.time.clone();
        Self {
            condition: turn.alert.text().to_owned(),
            device,
            begins: turn.begins,
            figure: turn.alert.show(if turn.begins { turn.now } else { worst }),
            from_s,
            t: turn.t,
        }
    }
}

impl Observation {
    /// What a recording keeps of it: what did nothing is left out.
    #[must_use]
    pub fn point(&self) -> RecordedPoint {
        let disks = self.window.disks.iter().filter(|(_, tally)| !tally.is_idle());
        RecordedPoint {
            t: self.t,
            seconds: self.window.seconds,
            windows: 1,
            disks: disks.cloned().collect(),
            missing: self.window.missing.clone(),
            system: self.window.system,
            rows: self.rows.clone(),
        }
    }

    /// What the host as a whole did in the window.
    #[must_use]
    pub fn system(&self) -> &SystemTally {
        &self.window.system
    }
}
