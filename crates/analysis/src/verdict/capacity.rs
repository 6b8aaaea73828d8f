//! Capacity: how much load keeps its latency within a limit.

use serde::{Deserialize, Serialize};

use super::limits::{Limits, Statistic};

/// Of fewer I/Os than this, none is the hundredth; and fewer than this have no useful mean.
const LEAST_IOS: u64 = 100;
const LEAST_OF_MEAN: u64 = 10;
/// The share of I/Os that a 99th percentile leaves beyond it.
const SHARE_BEYOND: f64 = 0.01;
/// I/Os that wait for the same thing are late together: so many count as one.
const LATE_TOGETHER: f64 = 4.0;
/// Deviation of the normal distribution that 5 % exceed, on one side.
const Z: f64 = 1.645;
/// A mean this close to its limit, as a share of it, is on neither side of it.
const MEAN_MARGIN: f64 = 0.05;
/// A load is carried if at least this share of what was offered completed.
const CARRIED: f64 = 0.97;

/// One load that was put on the storage, in the unit of its role.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// The load, as it appears in a sentence: "8 KiB random read and write, 70/30".
    pub label: String,
    /// In an open loop, the load that was offered per second.
    pub offered: Option<f64>,
    /// The load that was done per second.
    pub per_second: f64,
    /// Mean latency of the I/Os that are judged.
    pub mean_ns: f64,
    /// Its 99th percentile, if enough I/Os lie above it.
    pub p99_ns: Option<f64>,
    /// Its 99.9th percentile, if enough I/Os lie above it.
    pub p99_9_ns: Option<f64>,
    /// How many I/Os are judged.
    pub ios: u64,
    /// How many of them took longer than each limit: excellent, ideal, acceptable.
    pub beyond: [u64; 3],
    /// How many took longer than the acceptable limit times the tail factor.
    pub far_beyond: u64,
    /// Half width of the 95 % interval of the load that was done, in percent, if known.
    pub half_width_percent: Option<f64>,
    /// Length of the window in seconds.
    pub seconds: f64,
}

impl Trial {
    /// The load that counts: the one that was offered, or else the one that was done.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.offered.unwrap_or(self.per_second)
    }

    /// Whether the storage did what was offered, as far as random arrivals let that be seen.
    #[must_use]
    pub fn is_carried(&self) -> bool {
        self.offered.is_none_or(|offered| {
            let by_chance = 2.0 * (offered * self.seconds).sqrt() / self.seconds;
            self.per_second >= CARRIED * offered - by_chance
        })
    }

    /// Whether the load is known well enough to be judged. In an open loop it is given.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let is_wide = |percent| percent > super::NOT_KNOWN_PERCENT;
        self.offered.is_some() || !self.half_width_percent.is_some_and(is_wide)
    }

    /// The load that this trial shows to be too much: if the load was not carried, hardly more than
    /// was done.
    fn too_much(&self) -> f64 {
        if self.is_carried() { self.load() } else { self.per_second / CARRIED }
    }

    /// Whether the load fits within a limit, as far as it can be known.
    #[must_use]
    pub fn fits(&self, limits: &Limits, level: Level) -> Fit {
        if self.ios > 0 && !self.is_carried() {
            return Fit::No;
        }
        let least = match limits.statistic {
            Statistic::P99 => LEAST_IOS,
            Statistic::Mean => LEAST_OF_MEAN,
        };
        let late = match limits.statistic {
            Statistic::P99 => self.beyond[level as usize],
            Statistic::Mean => self.far_beyond,
        };
        let by_share = share_fits(late, self.ios.max(1));
        if self.ios < least || !self.mean_ns.is_finite() {
            // Where all of a few are late, it does not take a hundred.
            let surely = by_share == Fit::No && self.ios >= LEAST_OF_MEAN;
            return if surely { Fit::No } else { Fit::NotKnown };
        }
        match limits.statistic {
            Statistic::P99 => by_share,
            Statistic::Mean => {
                mean_fits(self.mean_ns, limits.at(level) as f64).max(by_share.unless_unsure())
            }
        }
    }
}

fn mean_fits(mean_ns: f64, limit_ns: f64) -> Fit {
    let part = mean_ns / limit_ns;
    if part > 1.0 + MEAN_MARGIN {
        Fit::No
    } else if part > 1.0 {
        Fit::RatherNo
    } else if part > 1.0 - MEAN_MARGIN {
        Fit::RatherYes
    } else {
        Fit::Yes
    }
}

/// Whether at most one in a hundred is late, by Wilson's interval of a share (E. B. Wilson, 1927).
fn share_fits(late: u64, of: u64) -> Fit {
    let share = late as f64 / of as f64;
    let n = of as f64 / LATE_TOGETHER;
    let (center, z2) = (share + Z * Z / (2.0 * n), Z * Z);
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let (low, high) = ((center - half) / (1.0 + z2 / n), (center + half) / (1.0 + z2 / n));
    if high <= SHARE_BEYOND {
        Fit::Yes
    } else if low > SHARE_BEYOND {
        Fit::No
    } else if share <= SHARE_BEYOND {
        Fit::RatherYes
    } else {
        Fit::RatherNo
    }
}

/// Whether a load fits within a limit, from the surest yes to not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// The load fits, and chance does not explain it.
    Yes,
    /// It does, though chance could have it.
    RatherYes,
    /// It does not, though chance could have it.
    RatherNo,
    /// The load does not fit, and chance does not explain it.
    No,
    /// Too few I/Os were measured to say.
    NotKnown,
}

impl Fit {
    /// Whether it rather fits than not.
    #[must_use]
    pub fn is_yes(self) -> bool {
        self <= Self::RatherYes
    }

    /// Reads it as a side condition: what rather fits counts as what fits.
    fn unless_unsure(self) -> Self {
        if self.is_yes() { Self::Yes } else { self }
    }
}

/// A limit of a role, from the strictest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Far better than the role asks.
    Excellent,
    /// What the role should ideally get.
    Ideal,
    /// What the role can live with.
    Acceptable,
}

impl Level {
    /// Every level, the strictest first.
    pub const ALL: [Self; 3] = [Self::Excellent, Self::Ideal, Self::Acceptable];
}

/// What keeps more load from fitting within a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldBy {
    /// The latency: with more load, it exceeds the limit.
    Latency,
    /// The throughput: the storage does not do more.
    Throughput,
    /// Nothing that was seen: no greater load was tried.
    Nothing,
}

/// How much load fits within one limit of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Which of the role's limits it is.
    pub level: Level,
    /// The limit on the latency, in nanoseconds.
    pub limit_ns: u64,
    /// The load in words, for example `8 KiB random read`.
    pub load: String,
    /// How much of it fits per second, in the unit of the role; 0 if nothing that was tried does.
    pub per_second: f64,
    /// It is hardly less than this.
    pub low: f64,
    /// It is hardly more than this; absent if no greater load was tried.
    pub high: Option<f64>,
    /// The latency that is judged, at this load; absent if none fits.
    pub latency_ns: Option<f64>,
    /// What keeps a greater load from fitting.
    pub held_by: HeldBy,
}

impl Capacity {
    /// Half of the interval in percent of the capacity; `None` if an end is not known, or nothing
    /// fits.
    #[must_use]
    pub fn half_width_percent(&self) -> Option<f64> {
        (self.per_second > 0.0).then_some(())?;
        Some(50.0 * (self.high? - self.low) / self.per_second)
    }
}

/// The capacity within each limit; empty if nothing was tried, or if no trial is known well enough.
///
/// Figures vary by `run_percent` from run to run, which no single one of them shows.
#[must_use]
pub fn capacities(limits: &Limits, trials: &[Trial], run_percent: f64) -> Vec<Capacity> {
    let is_usable = |t: &&Trial| t.ios > 0 && t.load() > 0.0 && t.is_known();
    let tried: Vec<&Trial> = trials.iter().filter(is_usable).collect();
    if tried.is_empty() || !limits.are_ordered() {
        return Vec::new();
    }
    Level::ALL.iter().map(|level| capacity(limits, *level, &tried, run_percent)).collect()
}

/// Whether a load certainly fits, or certainly does not, by all open loops on the side of it that
/// can tell.
///
/// A smaller load is not slower: the share of late I/Os of this load and greater ones together is
/// no less than its own, and that of this load and smaller ones no more. Single trials of slow
/// storage have too few I/Os to be sure.
fn pooled(limits: &Limits, level: Level, tried: &[&Trial], trial: &Trial) -> Fit {
    let alone = trial.fits(limits, level);
    let (sure, side) = match alone {
        Fit::RatherYes => (Fit::Yes, 1.0),
        Fit::RatherNo => (Fit::No, -1.0),
        _ => return alone,
    };
    if limits.statistic == Statistic::Mean || trial.offered.is_none() {
        return alone;
    }
    let open = tried.iter().filter(|t| t.offered.is_some() && t.is_carried());
    let mut beside: Vec<&&Trial> =
        open.filter(|t| side * (t.load() - trial.load()) >= 0.0).collect();
    beside.sort_by(|a, b| (side * a.load()).total_cmp(&(side * b.load())));
    let (mut late, mut ios) = (0, 0);
    let found = beside.iter().any(|t| {
        late += t.beyond[level as usize];
        ios += t.ios;
        ios >= LEAST_IOS && share_fits(late, ios) == sure
    });
    if found { sure } else { alone }
}

fn capacity(limits: &Limits, level: Level, tried: &[&Trial], run_percent: f64) -> Capacity {
    let fit = |t: &Trial| t.fits(limits, level);
    let sure_of = |t: &Trial| pooled(limits, level, tried, t);
    let least = |of: &dyn Fn(&Trial) -> bool| {
        let open = tried.iter().filter(|t| t.offered.is_some() && of(t));
        open.min_by(|a, b| a.too_much().total_cmp(&b.too_much())).copied()
    };
    // A greater load that fits by chance, above one that surely does not, is not believed.
    let never = least(&|t| sure_of(t) == Fit::No).map_or(f64::INFINITY, Trial::too_much);
    let most = |of: &dyn Fn(&Trial) -> bool| {
        let fitting = tried.iter().filter(|t| t.load() < never && of(t));
        fitting.max_by(|a, b| a.load().total_cmp(&b.load())).copied()
    };
    let best = most(&|t| fit(t).is_yes());
    let sure = most(&|t| sure_of(t) == Fit::Yes);
    let per_second = best.map_or(0.0, Trial::load);
    let above = least(&|t| !fit(t).is_yes() && t.too_much() > per_second);
    let surely_above = least(&|t| sure_of(t) == Fit::No && t.too_much() > per_second);
    let (below, beyond) = (1.0 - run_percent / 100.0, 1.0 + run_percent / 100.0);
    let closed = best.filter(|t| t.offered.is_none());
    let (low, high) = match closed {
        Some(trial) => {
            let half = trial.half_width_percent.unwrap_or(0.0).max(run_percent) / 100.0;
            let low = if fit(trial) == Fit::Yes { per_second * (1.0 - half) } else { 0.0 };
            (low, Some(per_second * (1.0 + half)))
        }
        // Loads that were all too slow, with nothing between them and none.
        None if tried.iter().all(|t| t.offered.is_none()) => {
            (0.0, tried.iter().all(|t| fit(t) == Fit::No).then_some(0.0))
        }
        None => {
            (sure.map_or(0.0, |t| t.load() * below), surely_above.map(|t| t.too_much() * beyond))
        }
    };
    let held_by = match (closed, above) {
        (Some(_), _) if tried.iter().any(|t| t.per_second > per_second && !fit(t).is_yes()) => {
            HeldBy::Latency
        }
        (None, Some(trial)) if trial.is_carried() => HeldBy::Latency,
        (Some(_), _) | (None, Some(_)) => HeldBy::Throughput,
        (None, None) if best.is_some() => HeldBy::Nothing,
        (None, None) => HeldBy::Latency,
    };
    let judged = |t: &Trial| match limits.statistic {
        Statistic::Mean => Some(t.mean_ns),
        Statistic::P99 => t.p99_ns,
    };
    let label = best.or(tried.first().copied()).map(|t| t.label.clone());
    Capacity {
        level,
        limit_ns: limits.at(level),
        load: label.unwrap_or_default(),
        per_second,
        low: low.max(0.0),
        high,
        latency_ns: best.and_then(judged),
        held_by,
    }
}
