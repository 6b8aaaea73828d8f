//! How a job ended, as an exit code needs it.

use std::sync::atomic::{AtomicBool, Ordering};

use results::{
    CapturedVerdict, Document, DurabilityVerdict, Measurement, Recording, Status,
    ValidationVerdict, claims, verdict::Grade,
};

/// How a command ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did everything it was asked to do.
    Done,
    /// It ran, but I/O failed; what was measured was shown.
    IoFailed,
    /// It ran, and the storage does not reach what was expected of it.
    NotMet,
    /// The storage returned wrong data.
    WrongData,
    /// A signal ended it; what was measured was shown.
    Interrupted,
    /// A command that it ran ended with this code.
    Code(u8),
}

impl Outcome {
    /// The outcome of a document; `stop` says whether a signal came.
    #[must_use]
    pub fn of(document: &Document, stop: &AtomicBool) -> Self {
        match document {
            Document::Validation(validation) => {
                return match validation.conclusion.verdict {
                    ValidationVerdict::Right => Outcome::Done,
                    ValidationVerdict::WrongData => Outcome::WrongData,
                    ValidationVerdict::IoFailed | ValidationVerdict::EndedEarly => {
                        Outcome::IoFailed
                    }
                    ValidationVerdict::Interrupted => Outcome::Interrupted,
                };
            }
            Document::Durability(check) => {
                return match check.conclusion.verdict {
                    DurabilityVerdict::Lost => Outcome::WrongData,
                    _ if check.status == Status::Interrupted => Outcome::Interrupted,
                    DurabilityVerdict::Kept => Outcome::Done,
                    // A comparison without a verdict must not look like success.
                    DurabilityVerdict::NothingPromised => Outcome::IoFailed,
                };
            }
            // Wrong data on one host is worse than anything else on another.
            Document::FleetJob(job) => {
                let own = job.conclusion.documents().map(|(_, own)| Self::of(&own, stop));
                let own: Vec<Self> = own.collect();
                if own.contains(&Self::WrongData) {
                    return Self::WrongData;
                }
                let mut all = [vec![of_status(document.status())], own].concat().into_iter();
                return all.find(|one| *one != Self::Done).unwrap_or(Self::Done);
            }
            _ => {}
        }
        let outcome = of_status(document.status());
        if outcome != Outcome::Done {
            return outcome;
        }
        let met = match document {
            Document::Measurement(measurement) => return of_run(measurement, stop),
            Document::Recording(recording) => return of_recording(&recording.conclusion),
            Document::Runs(_) | Document::Cycle(_)
                if document.measurements().iter().any(|m| !m.errors.is_empty()) =>
            {
                return Outcome::IoFailed;
            }
            // What could not be judged must not count as met.
            Document::Knee(knee) => knee
                .conclusion
                .latency_target
                .as_ref()
                .is_none_or(|within| within.expected_iops.is_none() || within.met == Some(true)),
            Document::Assessment(assessment) => {
                let claimed = assessment.claims.iter().all(|c| c.outcome == claims::Outcome::Met);
                let needed = assessment.verdicts.iter().filter(|verdict| verdict.need.is_some());
                let mut captured = assessment.captured.iter();
                claimed
                    && needed.map(|verdict| verdict.grade).all(|g| g <= Grade::Acceptable)
                    && captured.all(|load| load.verdict == CapturedVerdict::Holds)
            }
            _ => true,
        };
        if met { Outcome::Done } else { Outcome::NotMet }
    }
}

impl From<Status> for Outcome {
    fn from(status: Status) -> Self {
        of_status(status)
    }
}

/// The outcome of a single measurement.
fn of_run(measurement: &Measurement, stop: &AtomicBool) -> Outcome {
    // The signal may come after the window, during the wait for the last I/Os.
    if stop.load(Ordering::Relaxed) {
        Outcome::Interrupted
    } else if measurement.errors.is_empty() {
        Outcome::Done
    } else {
        Outcome::IoFailed
    }
}

fn of_recording(recording: &Recording) -> Outcome {
    let code = recording.command.as_ref().map_or(0, |command| match command.exit_code {
        Some(code) => code,
        // The exit code of a shell for a command that a signal ended.
        None => 128 + command.signal.unwrap_or(0),
    });
    if code != 0 {
        return Outcome::Code(u8::try_from(code).unwrap_or(1));
    }
    let fired = recording.alerts.iter().any(|alert| !alert.times.is_empty());
    if fired { Outcome::NotMet } else { Outcome::Done }
}

fn of_status(status: Status) -> Outcome {
    match status {
        Status::Complete => Outcome::Done,
        Status::Interrupted => Outcome::Interrupted,
        Status::Failed => Outcome::IoFailed,
    }
}
