//! The words for what documents name by a kind: causes, grades, roles.

use results::cause::Cause;
use results::claims::Outcome;
use results::verdict::{Grade, Role, Statistic, Sureness};

use crate::language::say;

/// Why throughput stops growing, in a few words.
pub(crate) fn cause(cause: Cause) -> String {
    match cause {
        Cause::Device => say!("cause-device"),
        Cause::Link => say!("cause-link"),
        Cause::Queue => say!("cause-queue"),
        Cause::Throttle => say!("cause-throttle"),
        Cause::Tool => say!("cause-tool"),
        Cause::NotReached => say!("cause-not-reached"),
        Cause::Unknown => say!("cause-unknown"),
    }
}

/// The cause of a limit in one word.
pub(super) fn cause_word(cause: Cause) -> String {
    match cause {
        Cause::Device => say!("cause-word-device"),
        Cause::Link => say!("cause-word-link"),
        Cause::Queue => say!("cause-word-queue"),
        Cause::Throttle => say!("cause-word-throttle"),
        Cause::Tool => say!("cause-word-tool"),
        Cause::NotReached => say!("cause-word-not-reached"),
        Cause::Unknown => say!("cause-word-unknown"),
    }
}

/// The name of a role, as a heading.
pub(super) fn role(role: Role) -> String {
    match role {
        Role::Log => say!("verdict-role-log"),
        Role::OltpData => say!("verdict-role-oltp"),
        Role::DssData => say!("verdict-role-dss"),
        Role::Compaction => say!("verdict-role-compaction"),
    }
}

/// In what the load of a role is counted.
pub(super) fn unit(role: Role) -> String {
    match role {
        Role::Log => say!("verdict-unit-log"),
        Role::OltpData | Role::DssData | Role::Compaction => role.unit().to_owned(),
    }
}

/// A grade in a word or two.
pub(super) fn grade(grade: Grade) -> String {
    match grade {
        Grade::Excellent => say!("verdict-grade-excellent"),
        Grade::Good => say!("verdict-grade-good"),
        Grade::Acceptable => say!("verdict-grade-acceptable"),
        Grade::Indication => say!("verdict-grade-indication"),
        Grade::Unfit => say!("verdict-grade-unfit"),
        Grade::NotJudged => say!("verdict-grade-not-judged"),
    }
}

/// How sure a verdict is, as a word after "confidence".
pub(super) fn sureness(sureness: Sureness) -> String {
    match sureness {
        Sureness::High => say!("verdict-confidence-high"),
        Sureness::Medium => say!("verdict-confidence-medium"),
        Sureness::Low => say!("verdict-confidence-low"),
    }
}

/// The words for the latency that is judged.
pub(super) fn statistic(statistic: Statistic) -> String {
    match statistic {
        Statistic::Mean => say!("verdict-statistic-mean"),
        Statistic::P99 => say!("verdict-statistic-p99"),
    }
}

/// The words for the outcome of a claim.
pub(super) fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Met => say!("verdict-claim-met"),
        Outcome::NotMet => say!("verdict-claim-not-met"),
        Outcome::NotMeasured => say!("verdict-claim-not-measured"),
    }
}
