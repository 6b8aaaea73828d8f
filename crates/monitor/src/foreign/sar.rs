//! The text of `sar -d`, also among the other tables of `sar -A`, of which `sar -u` is read, too.
//!
//! The heading of a table has the time at which its first interval began.

use std::collections::{BTreeMap, HashMap};

use counters::CpuTally;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use super::call::Call;
use super::cells::{is_cut_row, number, sysstat_cell, sysstat_cpu, sysstat_rates, whole};
use super::document::{Found, Window, leaves_out_idle, linux_kind};
use super::iostat::host_line;
use super::moments::{clock, forward, in_zone, usual};
use super::{CUT_ROW, ForeignError, ForeignRecordings, Reading, leave_out_cut};

/// What the rows of a table are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Devices,
    Processors,
    Other,
}

/// The heading of a table: what it is of, where its names are, its columns without the time.
fn heading<'a>(words: &[&'a str]) -> Option<(Time, Kind, usize, Vec<&'a str>)> {
    let (time, _, used) = clock(words)?;
    let columns: Vec<&str> = words.get(used..)?.to_vec();
    let place = |name: &str| columns.iter().position(|column| *column == name);
    let (kind, place) = match (place("DEV"), place("CPU")) {
        (Some(dev), _) if columns.contains(&"tps") => (Kind::Devices, dev),
        (_, Some(cpu)) if columns.contains(&"%idle") => (Kind::Processors, cpu),
        _ => {
            let is_name = |word: &&str| number(word).is_none();
            (columns.len() > 1 && columns.iter().all(is_name)).then_some((Kind::Other, 0))?
        }
    };
    Some((time, kind, place, columns))
}

pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match heading(&words) {
            Some((_, Kind::Devices, ..)) => true,
            // Not that of mpstat.
            Some((_, Kind::Processors, _, columns)) => columns.contains(&"%user"),
            _ => false,
        }
    })
}

/// Where the clock of one kind of table is, in seconds since midnight of the first day.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// What is added to a time of day, once the clock has passed midnight or was put back.
    shift: f64,
    last: f64,
    /// Where the interval that is being read begins.
    base: f64,
}

/// The table that is being read.
struct Table<'a> {
    kind: Kind,
    place: usize,
    columns: Vec<&'a str>,
}

/// What happened up to a time.
#[derive(Debug, Default)]
struct Interval {
    begin: f64,
    disks: Vec<(String, HashMap<String, f64>)>,
    cpu: Option<CpuTally>,
}

#[derive(Default)]
struct Session<'a> {
    lines: Vec<&'a str>,
    host: Option<String>,
    date: Option<Date>,
    cpus: Option<u32>,
    clocks: HashMap<Kind, Clock>,
    table: Option<Table<'a>>,
    /// By the end in milliseconds since midnight of the first day.
    intervals: BTreeMap<u64, Interval>,
    restarts: usize,
    call: Call,
    is_cut: bool,
}

pub(super) fn read(text: &str, reading: &Reading<'_>) -> Result<ForeignRecordings, ForeignError> {
    let mut sessions = vec![Session::default()];
    let month_first = text.contains(" AM ") || text.contains(" PM ");
    let mut lines = text.lines().enumerate().peekable();
    let mut last_call = None;
    while let Some((index, line)) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        last_call = Call::of(&words, "sar").or(last_call);
        if let Some((host, date, cpus)) = host_line(&words, month_first) {
            let call = last_call.take().unwrap_or_default();
            sessions.push(Session { host: Some(host), date, cpus, call, ..Session::default() });
        }
        let Some(session) = sessions.last_mut() else { break };
        session.lines.push(line);
        if lines.peek().is_none() && !text.ends_with('\n') && session.leave_out_cut(&words) {
            break;
        }
        let wrong = |what| ForeignError::Line { line: index + 1, what };
        session.line(&words).map_err(wrong)?;
    }
    if sessions.iter().all(|session| !session.clocks.contains_key(&Kind::Devices)) {
        return Err(ForeignError::NoDiskTable);
    }
    let mut found = ForeignRecordings::default();
    for session in sessions {
        let text = session.lines.join("\n");
        if let Some(recording) = session.recording(&reading.zone) {
            found.documents.push(recording.document(&text, reading, linux_kind));
        }
    }
    if found.documents.is_empty() {
        found.notes.push("the tables of devices have no rows".to_owned());
    }
    Ok(found)
}

impl<'a> Session<'a> {
    fn line(&mut self, words: &[&'a str]) -> Result<(), String> {
        if words.is_empty() {
            self.table = None;
            return Ok(());
        }
        if words.contains(&"RESTART") {
            self.restarts += 1;
            self.table = None;
            return Ok(());
        }
        if let Some((time, kind, place, columns)) = heading(words) {
            self.table = Some(Table { kind, place, columns });
            let at = self.time(kind, time);
            self.clocks.insert(kind, Clock { base: at.last, ..at });
            return Ok(());
        }
        // Averages, and whatever else begins without a time.
        let Some((time, _, used)) = clock(words) else { return Ok(()) };
        let Some(Table { kind, place, columns }) = &self.table else { return Ok(()) };
        let (kind, place) = (*kind, *place);
        let cells = words.get(used..).unwrap_or_default();
        if kind == Kind::Other {
            return Ok(());
        }
        // A processor that was switched off has fewer.
        if cells.len() != columns.len() && kind == Kind::Processors {
            return Ok(());
        }
        if cells.len() != columns.len() {
            let (here, named) = (cells.len(), columns.len());
            return Err(format!("{here} columns where the heading names {named}"));
        }
        let Some(name) = cells.get(place) else { return Ok(()) };
        let figures = figures(columns, cells, place)?;
        self.row(kind, time, name, &figures);
        Ok(())
    }

    /// Leaves out a last row that was cut, with the interval of its devices; whether it was.
    fn leave_out_cut(&mut self, words: &[&str]) -> bool {
        let Some(Table { kind, place, columns }) = &self.table else { return false };
        // Averages begin with a word.
        let is_row =
            words.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        let clock = clock(words);
        let cells = clock.and_then(|(_, _, used)| words.get(used..)).unwrap_or_default();
        if *kind == Kind::Other || !is_row || !is_cut_row(cells, columns.len(), Some(*place)) {
            return false;
        }
        if *kind == Kind::Devices {
            let time = clock.filter(|_| !cells.is_empty());
            let end = time.map(|(time, ..)| whole(self.time(*kind, time).last * 1e3));
            leave_out_cut(&mut self.intervals, end);
        }
        self.is_cut = true;
        true
    }

    fn row(&mut self, kind: Kind, time: Time, name: &str, figures: &HashMap<&str, f64>) {
        let mut at = self.time(kind, time);
        let before = self.clocks.get(&kind).copied();
        // The next interval begins where the last one ended.
        if let Some(before) = before
            && at.last > before.last
            && before.last > before.base
        {
            at.base = before.last;
        }
        self.clocks.insert(kind, at);
        let seconds = at.last - at.base;
        if seconds <= 0.0 {
            return;
        }
        let cell = |column: &str| figures.get(column).copied();
        let key = whole(at.last * 1e3);
        let begin = at.base;
        let interval =
            self.intervals.entry(key).or_insert_with(|| Interval { begin, ..Interval::default() });
        match kind {
            Kind::Devices => {
                if interval.disks.iter().all(|(disk, _)| disk != name) {
                    let figures =
                        figures.iter().map(|(name, figure)| ((*name).to_owned(), *figure));
                    interval.disks.push((name.to_owned(), figures.collect()));
                }
            }
            Kind::Processors if name == "all" => {
                interval.cpu = sysstat_cpu(cell, seconds, self.cpus);
            }
            Kind::Processors | Kind::Other => {}
        }
    }

    /// A time of day of a kind of table, as seconds since midnight of the first day.
    fn time(&self, kind: Kind, time: Time) -> Clock {
        let of_day = f64::from(time.hour()) * 3600.0
            + f64::from(time.minute()) * 60.0
            + f64::from(time.second());
        let Some(before) = self.clocks.get(&kind) else {
            return Clock { shift: 0.0, last: of_day, base: of_day };
        };
        let apart = of_day + before.shift - before.last;
        let shift = before.shift + forward(apart, before.last - before.base, false) - apart;
        Clock { shift, last: of_day + shift, base: before.base }
    }

    fn recording(self, zone: &TimeZone) -> Option<Found> {
        let with_disks = |interval: &&Interval| !interval.disks.is_empty();
        let begin = self.intervals.values().find(with_disks)?.begin;
        let mut found = Found { tool: "sar", host: self.host, is_local: true, ..Found::default() };
        let midnight = self.date.and_then(|date| in_zone(date.into(), zone));
        found.started = midnight.map(|midnight| midnight + begin);
        let all: Vec<(f64, Interval)> = self
            .intervals
            .into_iter()
            .map(|(end, interval)| (end as f64 / 1e3, interval))
            .collect();
        let tables: Vec<Vec<&str>> = all
            .iter()
            .map(|(_, interval)| interval.disks.iter().map(|(name, _)| &**name).collect())
            .collect();
        let is_idle_left_out = self.call.omits_idle || leaves_out_idle(&tables);
        let usual = usual(all.iter().map(|(end, interval)| end - interval.begin));
        found.interval_seconds = usual;
        let mut last = begin;
        let mut push = |windows: &mut Vec<Window>, end: f64, interval: Interval| {
            let seconds = end - last.max(interval.begin);
            last = end;
            let disk = |(name, cells): (String, HashMap<String, f64>)| {
                (name, sysstat_rates(|column| cells.get(column).copied()).tally(seconds))
            };
            let disks = interval.disks.into_iter().map(disk).collect();
            windows.push(Window { t: end - begin, seconds, disks, cpu: interval.cpu });
        };
        for (end, interval) in all {
            if end <= begin || interval.disks.is_empty() && !is_idle_left_out {
                continue;
            }
            // Where all devices were idle, there is no row.
            let is_after_gap = end - interval.begin > 1.5 * usual;
            if is_idle_left_out && is_after_gap {
                let idle = Interval { begin: interval.begin, ..Interval::default() };
                push(&mut found.windows, end - usual, idle);
            }
            push(&mut found.windows, end, interval);
        }
        if is_idle_left_out {
            found.fill_idle();
        }
        found.method.push(
            "sar counts discards among the I/Os (tps) and among their mean time (await)."
                .to_owned(),
        );
        if self.is_cut {
            found.warnings.push(CUT_ROW.to_owned());
        }
        if self.restarts > 0 {
            found.warnings.push("the system was restarted while sar recorded".to_owned());
        }
        Some(found)
    }
}

fn figures<'a>(
    columns: &[&'a str],
    cells: &[&str],
    place: usize,
) -> Result<HashMap<&'a str, f64>, String> {
    let pairs = columns.iter().zip(cells).enumerate().filter(|(at, _)| *at != place);
    let figure = |(_, (name, cell)): (usize, (&&'a str, &&str))| {
        Ok(sysstat_cell(name, cell)?.map(|figure| (*name, figure)))
    };
    pairs.map(figure).filter_map(Result::transpose).collect()
}
