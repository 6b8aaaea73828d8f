//! Converts what `analysis` concludes into the types that `results` publishes, and back.
//!
//! This table names every field and variant once, for both sides. A new one on either side does not
//! compile until it is here, so the mathematics can change without changing a document, and no
//! figure is lost on the way. What `analysis` says about comparisons and trends is converted in
//! `history`, which asks it.

/// A conclusion, or what it is drawn from, that documents have their own type for.
pub trait Publish {
    /// The type that documents have for it.
    type Published;

    /// The value as documents publish it.
    fn publish(self) -> Self::Published;

    /// The value from a published document.
    fn from_published(published: Self::Published) -> Self;
}

impl<T: Publish> Publish for Option<T> {
    type Published = Option<T::Published>;

    fn publish(self) -> Self::Published {
        self.map(T::publish)
    }

    fn from_published(published: Self::Published) -> Self {
        published.map(T::from_published)
    }
}

impl<T: Publish> Publish for Vec<T> {
    type Published = Vec<T::Published>;

    fn publish(self) -> Self::Published {
        self.into_iter().map(T::publish).collect()
    }

    fn from_published(published: Self::Published) -> Self {
        published.into_iter().map(T::from_published).collect()
    }
}

macro_rules! as_they_are {
    ($($type:ty),*) => {$(
        impl Publish for $type {
            type Published = Self;

            fn publish(self) -> Self {
                self
            }

            fn from_published(published: Self) -> Self {
                published
            }
        }
    )*};
}

as_they_are!(bool, f64, u32, u64, usize, String);

macro_rules! structs {
    ($($from:ident::$of:ident => $to:ident::$published:ident { $($field:ident),* })*) => {$(
        impl Publish for analysis::$from::$of {
            type Published = results::$to::$published;

            fn publish(self) -> Self::Published {
                let Self { $($field),* } = self;
                results::$to::$published { $($field: $field.publish()),* }
            }

            fn from_published(published: Self::Published) -> Self {
                let results::$to::$published { $($field),* } = published;
                Self { $($field: Publish::from_published($field)),* }
            }
        }
    )*};
}

macro_rules! enums {
    ($($from:ident::$of:ident => $to:ident::$published:ident { $($variant:ident),* })*) => {$(
        impl Publish for analysis::$from::$of {
            type Published = results::$to::$published;

            fn publish(self) -> Self::Published {
                match self {
                    $(Self::$variant => results::$to::$published::$variant),*
                }
            }

            fn from_published(published: Self::Published) -> Self {
                match published {
                    $(results::$to::$published::$variant => Self::$variant),*
                }
            }
        }
    )*};
}

structs! {
    agreement::AgreementRow => agreement::AgreementRow {
        figure, tool, kernel, difference_percent, allowed_percent
    }
    agreement::Agreement => agreement::Agreement {
        rows, worst_percent, tolerance_percent, within_tolerance, suspicion, explanation
    }
    alignment::Alignment => alignment::Alignment {
        load, shift_bytes, aligned_iops, shifted_iops, kept_percent, margin_percent, matters,
        statement
    }
    cause::Likely => cause::Likely { cause, certainty, sentence, evidence, against }
    cause::Link => cause::Link { name, bytes_per_s, practical_bytes_per_s }
    claims::JudgedClaim => claims::JudgedClaim {
        name, expect, outcome, settings, attained_percent, sentence
    }
    edge::CacheSize => edge::CacheSize { bytes, low_bytes, high_bytes, method }
    edge::SizeShare => edge::SizeShare { file_bytes, ios, fast_percent, expected_percent }
    edge::FairSize => edge::FairSize { times, file_bytes, hit_percent, latency_error_percent }
    edge::Edge => edge::Edge {
        outcome, cache, threshold_ns, hit_latency_ns, miss_latency_ns, shares, follows_law,
        fair_sizes, rule, explanation
    }
    honesty::Honesty => honesty::Honesty {
        sign, durable_latency_ns, plain_latency_ns, read_latency_ns, statement, rule
    }
    knee::Knee => knee::Knee {
        operating_point, peak, reached, operating_load, operating_load_interval, little_knee,
        little_knee_interval, unloaded_latency_ns, saturated_throughput,
        saturated_throughput_interval, usl, fit_error_percent, rule, explanation
    }
    knee::CurvePoint => knee::CurvePoint { index, in_flight, throughput, latency_ns }
    knee::Interval => knee::Interval { low, high }
    usl::Usl => knee::Usl { one_throughput, contention, coherence, peak_in_flight, error_percent }
    levels::LevelChange => levels::LevelChange {
        load, in_flight, before_iops, last_iops, statement
    }
    noise::Stability => noise::Stability {
        intervals, mean, cv_percent, slope_percent, range_percent, settled
    }
    noise::Trust => noise::Trust {
        runs, mean, cv_percent, half_width_percent, foreign_percent, noisy, explanation
    }
    phases::WriteCache => phases::WriteCache { cached, sustained, at_s, explanation }
    phases::Plateau => phases::Plateau { from_s, seconds, mean, half_width_percent, cv_percent }
    scaling::Step => scaling::Step {
        targets, expected_per_s, measured_per_s, efficiency_percent, margin_percent, linear,
        like_one, kept_percent
    }
    scaling::Scaling => scaling::Scaling {
        steps, first_non_linear, shared, ceiling_per_s, rule, findings
    }
    steady::Steady => steady::Steady {
        mean, half_width_percent, settled, cut_s, drift_percent, seconds, precision_percent,
        explanation
    }
    verdict::Limits => verdict::Limits {
        role, excellent_ns, ideal_ns, acceptable_ns, statistic, tail_factor, source
    }
    verdict::Need => verdict::Need { role, per_second }
    verdict::Confidence => verdict::Confidence { sureness, reasons }
    verdict::Capacity => verdict::FittingLoad {
        level, limit_ns, load, per_second, low, high, latency_ns, held_by
    }
    verdict::Verdict => verdict::Verdict {
        role, grade, confidence, capacities, need, class, headline, evidence, caveats, limits
    }
}

enums! {
    agreement::Figure => agreement::Figure {
        ReadIops, ReadBytesPerS, ReadBytesPerIo, ReadLatencyNs, WriteIops, WriteBytesPerS,
        WriteBytesPerIo, WriteLatencyNs
    }
    agreement::Suspicion => agreement::Suspicion {
        OtherLoad, Splitting, Merging, Caching, Amplification, Disagreement
    }
    cause::Cause => cause::Cause { Device, Link, Queue, Throttle, Tool, NotReached, Unknown }
    cause::Certainty => cause::Certainty { Certain, Likely, Possible }
    claims::Outcome => claims::Outcome { Met, NotMet, NotMeasured }
    edge::Outcome => edge::Outcome { Found, Between, AllFits, NoneSeen, Flat, Unclear }
    edge::Method => edge::Method { FastShare, MeanLatency, Neighbours }
    honesty::Sign => honesty::Sign {
        Plausible, FasterThanMedium, NoSlowerThanCached, NotBelieved, Unknown
    }
    knee::Reached => knee::Reached { Saturated, NotReached, Retrograde, Unclear }
    verdict::Role => verdict::Role { Log, OltpData, DssData, Compaction }
    verdict::Statistic => verdict::Statistic { Mean, P99 }
    verdict::Grade => verdict::Grade {
        Excellent, Good, Acceptable, Indication, Unfit, NotJudged
    }
    verdict::Class => verdict::Class { Hdd, SataSsd, Nvme, Array, Cloud }
    verdict::Sureness => verdict::Sureness { High, Medium, Low }
    verdict::Level => verdict::Level { Excellent, Ideal, Acceptable }
    verdict::HeldBy => verdict::HeldBy { Latency, Throughput, Nothing }
}

#[cfg(test)]
mod tests {
    use analysis::verdict::{Grade, Role};

    use super::Publish;

    /// Headlines are written by the mathematics and cut by the reports, which know the words from
    /// the documents.
    #[test]
    fn sentences_and_documents_call_roles_and_grades_the_same() {
        for role in Role::ALL {
            assert_eq!(role.title(), role.publish().title());
            assert_eq!(role.unit(), role.publish().unit());
        }
        let judged = [Grade::Excellent, Grade::Good, Grade::Acceptable, Grade::Indication];
        for grade in judged.into_iter().chain([Grade::Unfit, Grade::NotJudged]) {
            assert_eq!(grade.word(), grade.publish().word());
        }
    }
}
