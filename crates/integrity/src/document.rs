//! What a run found, as the document that histories keep and reports show.

use std::time::Duration;

use results::{
    FailedIos, FaultCount, FileIos, FileThrottling, Latency, LogBlockFault, PageFault, PagePlace,
    PageTouch, ResumedRun, ValidatedFile, Validation, ValidationPhase, ValidationVerdict,
    WrongSector,
};
use serde_json::{Map, Value};
use workload::{Mode, plural};

use crate::block::BlockSector;
use crate::classify::SectorState;
use crate::figures::KindFigures;
use crate::page::PageId;
use crate::plan::Plan;
use crate::report::{FaultKind, FaultReport, LogFault, Report, failure_words};
use crate::run::{Place, Role};

/// What the user asked for, next to the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidationRequest<'a> {
    /// The plan that the run carried out.
    pub plan: &'a Plan,
    /// How long users were to work in each cycle.
    pub time: Duration,
    /// Whether I/O went past the cache of the operating system.
    pub mode: Mode,
    /// The configuration of SQLIOSim that the plan was made from.
    pub configuration: Option<String>,
}

/// What a run found, on these places.
#[must_use]
pub fn validation(asked: ValidationRequest<'_>, places: &[Place], report: &Report) -> Validation {
    let verdict = verdict(report);
    let page_bytes = u64::from(asked.plan.page_bytes).max(1);
    let data = places.iter().filter(|place| place.role != Role::Log);
    let plan = match serde_json::to_value(asked.plan) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    Validation {
        verdict,
        sentence: sentence(verdict, report),
        plan,
        configuration: asked.configuration,
        asked_seconds: asked.time.as_secs_f64(),
        mode: asked.mode,
        phases: phases(report),
        cycles: report.cycles,
        audited: report.audit.is_some(),
        pages: data.map(|place| place.size_bytes / page_bytes).sum(),
        work: report.work,
        files: files(places, report),
        log_blocks_checked: report.log_blocks,
        fault_count: report.fault_count,
        fault_kinds: report.fault_kinds.iter().map(fault_count).collect(),
        faults: report.faults.iter().map(|fault| page_fault(fault, places)).collect(),
        log_fault_count: report.log_fault_count,
        log_faults: report.log_faults.iter().map(log_fault).collect(),
        failures: failures(places, report),
        long_ios: report.long_ios,
        ended: report.ended.clone(),
        resumed: report.resumed.map(|resumed| ResumedRun {
            times: resumed.times,
            pages_written: resumed.recovered.written,
            pages_unsure: resumed.recovered.unsure,
        }),
    }
}

fn verdict(report: &Report) -> ValidationVerdict {
    if !report.is_right() {
        ValidationVerdict::WrongData
    } else if report.ended.is_some() {
        ValidationVerdict::EndedEarly
    } else if report.interrupted {
        ValidationVerdict::Interrupted
    } else if report.failures.is_empty() {
        ValidationVerdict::Right
    } else {
        ValidationVerdict::IoFailed
    }
}

fn sentence(verdict: ValidationVerdict, report: &Report) -> String {
    let until = "everything that was read until then was as it was written";
    match verdict {
        ValidationVerdict::Right => {
            "RIGHT: everything that was read was as it was written".to_owned()
        }
        ValidationVerdict::IoFailed => {
            "I/Os FAILED; everything that could be read was as it was written".to_owned()
        }
        ValidationVerdict::Interrupted => format!("Interrupted: {until}"),
        ValidationVerdict::EndedEarly => {
            let why = report.ended.as_deref().unwrap_or_default();
            format!("ENDED EARLY: {why}; {until}")
        }
        ValidationVerdict::WrongData => {
            let (one, many) =
                ("acknowledged block of the log is", "acknowledged blocks of the log are");
            let log = plural(report.log_fault_count, one, many) + " not there";
            let pages =
                plural(report.fault_count, "page", "pages") + " did not hold what was written";
            match (report.fault_count, report.log_fault_count) {
                (0, _) => format!("WRONG DATA: {log}"),
                (_, 0) => format!("WRONG DATA: {pages}"),
                _ => format!("WRONG DATA: {pages}, and {log}"),
            }
        }
    }
}

fn phases(report: &Report) -> Vec<ValidationPhase> {
    let times = [
        ("load", Some(report.load)),
        ("work", Some(report.work_time)),
        ("audit", report.audit),
        ("log", (report.log_blocks > 0).then_some(report.log_time)),
    ];
    let phase = |(phase, time): (&str, Option<Duration>)| {
        time.map(|time| ValidationPhase { phase: phase.to_owned(), seconds: time.as_secs_f64() })
    };
    times.into_iter().filter_map(phase).collect()
}

fn files(places: &[Place], report: &Report) -> Vec<ValidatedFile> {
    let one = |(index, place): (usize, &Place)| {
        let figures = report.targets.get(index)?;
        let throttling = report.paced.get(index).map(|paced| FileThrottling {
            running_average_ns: paced.running_average_ns,
            throttled: paced.throttled,
            in_flight_max: paced.in_flight_max,
        });
        let role = match place.role {
            Role::Data => "data",
            Role::Log => "log",
            Role::Doublewrite => "doublewrite",
        };
        Some(ValidatedFile {
            path: place.path.clone(),
            role: role.to_owned(),
            size_bytes: place.size_bytes,
            read: ios(&figures.read),
            write: ios(&figures.write),
            sync: ios(&figures.sync),
            throttling,
        })
    };
    places.iter().enumerate().filter_map(one).collect()
}

fn ios(kind: &KindFigures) -> FileIos {
    FileIos {
        single: kind.single,
        several: kind.several,
        bytes: kind.bytes,
        errors: kind.errors,
        latency_ns: Latency::of(&kind.latency),
        histogram: (!kind.latency.is_empty()).then(|| kind.latency.encode()),
    }
}

fn fault_count(kind: &FaultKind) -> FaultCount {
    let FaultKind { damage, kept, count } = *kind;
    FaultCount { damage, persistence: kept, count }
}

/// The path of a data file by its number among those.
fn data_path(places: &[Place], file: u16) -> Option<std::path::PathBuf> {
    let mut data = places.iter().filter(|place| place.role != Role::Log);
    data.nth(usize::from(file)).map(|place| place.path.clone())
}

fn page_fault(report: &FaultReport, places: &[Place]) -> PageFault {
    let fault = &report.fault;
    let place = |id: PageId| PagePlace { path: data_path(places, id.file), page: id.page };
    let holds = |state: &SectorState| match state {
        SectorState::Right => None,
        SectorState::Version(version) => Some(format!("version {version}")),
        SectorState::Elsewhere { id, version } => {
            Some(format!("version {version} of page {} of file {}", id.page, id.file))
        }
        SectorState::Log { log, number } => {
            Some(format!("block {number} of the log of thread {log}"))
        }
        SectorState::Zero => Some("zeros".to_owned()),
        SectorState::Damaged { bits } => Some(bits_words(*bits)),
        SectorState::Foreign => Some("foreign data".to_owned()),
    };
    let sectors = &fault.examined.sectors;
    let wrong = (0..)
        .zip(sectors)
        .filter_map(|(sector, state)| holds(state).map(|holds| WrongSector { sector, holds }));
    let touch = |touched: &crate::checks::Touched| PageTouch {
        after_seconds: touched.after.as_secs_f64(),
        version: touched.version,
        wrote: touched.wrote,
    };
    PageFault {
        damage: fault.damage,
        persistence: fault.kept,
        path: report.path.clone(),
        page: fault.id.page,
        offset_bytes: report.offset_bytes,
        sectors: sectors.len() as u64,
        wrong_sectors: wrong.collect(),
        first_byte: fault.examined.first_byte as u64,
        expected_version: fault.expected_version,
        found_version: fault.found_version,
        belongs_to: fault.belongs_to.map(place),
        found_after_seconds: report.found_after.as_secs_f64(),
        written_after_seconds: report.written_after.map(|after| after.as_secs_f64()),
        rereads: report.rereads,
        rereads_planned: report.rereads_planned,
        right_cached: report.right_cached,
        dump: report.dump.clone(),
        history: report.history.iter().map(touch).collect(),
    }
}

fn log_fault(fault: &LogFault) -> LogBlockFault {
    let holds = |state: &BlockSector| match state {
        BlockSector::Right => None,
        BlockSector::Older(number) => Some(format!("block {number}, which was there before")),
        BlockSector::Newer(number) => Some(format!("block {number}, which is newer than known")),
        BlockSector::Elsewhere { log, number } => {
            Some(format!("block {number} of the log of thread {log}"))
        }
        BlockSector::Page { id, version } => {
            Some(format!("version {version} of page {} of file {}", id.page, id.file))
        }
        BlockSector::Zero => Some("zeros".to_owned()),
        BlockSector::Damaged { bits } => Some(bits_words(*bits)),
        BlockSector::Foreign => Some("foreign data".to_owned()),
    };
    let wrong = (0..)
        .zip(&fault.sectors)
        .filter_map(|(sector, state)| holds(state).map(|holds| WrongSector { sector, holds }));
    LogBlockFault {
        damage: fault.damage,
        persistence: fault.kept,
        path: fault.path.clone(),
        thread: fault.thread.into(),
        number: fault.number,
        offset_bytes: fault.offset_bytes,
        sectors: fault.sectors.len() as u64,
        wrong_sectors: wrong.collect(),
        first_byte: fault.first_byte as u64,
        found_after_seconds: fault.found_after.as_secs_f64(),
        written_after_seconds: fault.written_after.map(|after| after.as_secs_f64()),
        rereads: fault.rereads,
        rereads_planned: fault.rereads_planned,
        right_cached: fault.right_cached,
        dump: fault.dump.clone(),
    }
}

fn bits_words(bits: u32) -> String {
    match bits {
        1 => "1 bit differs".to_owned(),
        bits => format!("{bits} bits differ"),
    }
}

fn failures(places: &[Place], report: &Report) -> Vec<FailedIos> {
    let one = |failure: &crate::report::IoFailure| FailedIos {
        op: failure.op.to_owned(),
        path: places.get(failure.target).map(|place| place.path.clone()).unwrap_or_default(),
        errno: failure.errno,
        reason: failure_words(failure.errno),
        count: failure.count,
        first_offset_bytes: failure.first_offset_bytes,
    };
    report.failures.iter().map(one).collect()
}
