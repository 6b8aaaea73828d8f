//! How many times the load of a trace storage carries: a bracket of two searches.
//!
//! An open loop does not wait for the storage, so its queues grow longer than those of users who
//! do: what holds there holds for users, too, and the largest such factor is the lower edge. Copies
//! that wait for the storage are gentler than more users: where these copies no longer hold, users
//! do not, either, and the least such factor is the upper edge.

use results::Histogram;

use crate::Contents;
use crate::outcome::{Figures, PARTS, SETS};
use crate::steps::Mode;

/// The least factor that is tried, and the largest.
pub const FACTORS: (f64, f64) = (1.0 / 16.0, 256.0);
/// A search ends when the factor that holds and the one that does not are this close.
const RESOLUTION: f64 = 1.03;
/// Copies that take this many times as long as the trace have lost what they were to carry.
const ELAPSED_MAX: f64 = 1.2;
/// A backlog of this share of the replay is one that grows.
const BACKLOG_MAX: f64 = 0.01;
/// Fewer I/Os of a class say nothing about its tail.
pub const SUPPORT_MIN: u64 = 20;

/// What 5 % of a normal distribution exceed. Queues of an open loop are longer than those of users,
/// so its edge is the lower one even if chance is allowed for.
const Z: f64 = 1.645;

/// A limit of the latency of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// An index into [`CLASSES`](crate::CLASSES), or [`LOG_WRITES`](crate::LOG_WRITES).
    pub class: usize,
    /// The quantile that is limited, 0 to 1.
    pub quantile: f64,
    /// The largest latency that the quantile may have.
    pub at_most_ns: u64,
}

impl Limit {
    /// In which thirds it holds. A third with few I/Os has the verdict of the whole; if that has
    /// few, too, there is none.
    fn held(&self, mode: Mode, parts: &[[Histogram; SETS]; PARTS]) -> Option<[bool; PARTS]> {
        let of = |part: &[Histogram; SETS]| -> Option<bool> {
            let histogram = &part[self.class % SETS];
            (histogram.count() >= SUPPORT_MIN).then(|| self.holds_in(mode, histogram))
        };
        let judged: [Option<bool>; PARTS] = std::array::from_fn(|third| of(&parts[third]));
        if let [Some(a), Some(b), Some(c)] = judged {
            return Some([a, b, c]);
        }
        let mut whole = Histogram::new();
        for part in parts {
            whole.merge(&part[self.class % SETS]);
        }
        if whole.count() < SUPPORT_MIN {
            return None;
        }
        let held = self.holds_in(mode, &whole);
        Some(judged.map(|third| third.unwrap_or(held)))
    }

    fn holds_in(&self, mode: Mode, histogram: &Histogram) -> bool {
        let quantile = histogram.quantile(self.quantile);
        (mode == Mode::AsTimed && self.is_late_by_chance(histogram))
            || quantile.is_none_or(|ns| ns <= self.at_most_ns)
    }

    /// Whether no more I/Os are above the limit than there may be by chance where it just holds.
    fn is_late_by_chance(&self, histogram: &Histogram) -> bool {
        let allowed = (1.0 - self.quantile) * histogram.count() as f64;
        let chance = Z * allowed.sqrt();
        histogram.count_above(self.at_most_ns) as f64 <= allowed + chance
    }
}

/// What did not hold in a replay, or why that is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Failing {
    /// The latency of a class is above its limit.
    Latency {
        /// Which limit, an index into the list.
        limit: usize,
        /// The latency at the quantile of the limit.
        was_ns: u64,
    },
    /// I/Os are not issued in time any more, or the copies take too long: throughput gives out.
    Throughput,
    /// There are fewer than [`SUPPORT_MIN`] I/Os of a class: whether it holds is not known.
    TooFew {
        /// Which limit, an index into the list.
        limit: usize,
    },
    /// The host that replays: without what it added, everything would have held, or its processors
    /// were busy all the time. It says nothing about the storage.
    Host,
}

/// One replay of a search, and how it was judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// How many times the load it was: the I/Os that were made divided by those of the part. Part
    /// of a copy is a choice of regions, so it may be somewhat more or less than was asked for.
    pub users: f64,
    /// Whether it was an open loop or waited for completions.
    pub mode: Mode,
    /// Thirds of the replay in which everything held.
    pub held: usize,
    /// The first thing that did not hold: that which is farthest above its limit.
    pub failing: Option<Failing>,
    /// For which share of the time the replay worked instead of waiting.
    pub working: f64,
    /// For which share of it the processors were idle, where that is known.
    pub idle: Option<f64>,
}

/// An edge of the load that the storage carries, as far as the search could tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edge {
    /// The edge is at this factor.
    At(f64),
    /// The edge is above this factor; the replays do not show how far.
    Above(f64),
    /// The edge is below this factor; the replays do not show how far.
    Below(f64),
}

/// The bracket around the largest load that the storage carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Bracket {
    /// The largest factor at which an open loop held in most thirds, or copies that wait if that
    /// is less.
    pub lower: Edge,
    /// The least factor at which copies that wait no longer held in most thirds, or the largest of
    /// the open loop if that is more.
    pub upper: Edge,
    /// What gave out first, just above the upper edge of what held.
    pub failing: Option<Failing>,
    /// Every replay, in the order in which they ran.
    pub attempts: Vec<Attempt>,
}

impl Attempt {
    /// Judges a replay of so many times the users of a part. `limits` is what has to hold.
    #[must_use]
    pub fn judge(
        asked: f64,
        mode: Mode,
        figures: &Figures,
        (limits, contents): (&[Limit], &Contents),
    ) -> Self {
        let is_whole = figures.errors == 0 && figures.unfinished == 0 && !figures.ended_early;
        let times = figures.ios() as f64 / contents.ios.max(1) as f64;
        let users = if is_whole && times > 0.0 { times } else { asked };
        let as_is = (&figures.parts, figures.backlog_ns, figures.elapsed_ns);
        let Thirds { held, throughput, few } = thirds_held(mode, as_is, (limits, contents));
        let is_broken = figures.errors > 0 || figures.unfinished > 0;
        let host = &figures.host;
        let without = (&host.parts, host.backlog_ns, host.elapsed_ns);
        let would_hold =
            || host.is_its_work() && is_most(thirds_held(mode, without, (limits, contents)).held);
        let failing = if is_broken {
            Some(Failing::Throughput)
        } else if !is_most(held) && (host.is_saturated() || would_hold()) {
            Some(Failing::Host)
        } else if throughput {
            Some(Failing::Throughput)
        } else if let Some(limit) = few.filter(|_| is_most(held)) {
            Some(Failing::TooFew { limit })
        } else {
            worst(figures, limits).filter(|_| held < PARTS)
        };
        let held = if is_broken { 0 } else { held };
        let working = host.working_ns as f64 / figures.elapsed_ns.max(1) as f64;
        Self { users, mode, held, failing, working: working.min(1.0), idle: host.idle }
    }

    /// Whether everything held in most thirds: one rare event does not decide. What has too few
    /// I/Os did not hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        is_most(self.held) && !matches!(self.failing, Some(Failing::TooFew { .. }))
    }

    /// Whether it shows that the storage does not carry the load.
    fn is_refuted(&self) -> bool {
        let not_known = matches!(self.failing, Some(Failing::Host | Failing::TooFew { .. }));
        !self.holds() && !not_known
    }
}

fn is_most(held: usize) -> bool {
    2 * held > PARTS
}

/// In how many thirds everything held that can be judged.
struct Thirds {
    held: usize,
    /// Whether throughput gave out, in which case it is none.
    throughput: bool,
    /// A limit whose class has too few I/Os.
    few: Option<usize>,
}

fn thirds_held(
    mode: Mode,
    (parts, backlog_ns, elapsed_ns): (&[[Histogram; SETS]; PARTS], u64, u64),
    (limits, contents): (&[Limit], &Contents),
) -> Thirds {
    let span_ns = contents.span_ns as f64;
    let throughput = match mode {
        Mode::AsTimed => backlog_ns as f64 > BACKLOG_MAX * span_ns,
        _ => elapsed_ns as f64 > ELAPSED_MAX * span_ns,
    };
    let verdicts: Vec<_> = limits.iter().map(|limit| limit.held(mode, parts)).collect();
    let few = verdicts.iter().position(Option::is_none);
    let held = |third: &usize| verdicts.iter().flatten().all(|verdict| verdict[*third]);
    let held = if throughput { 0 } else { (0..PARTS).filter(held).count() };
    Thirds { held, throughput, few }
}

/// The latency that is farthest above its limit: that of the whole replay, or of its worst third if
/// the whole is within the limit.
fn worst(figures: &Figures, limits: &[Limit]) -> Option<Failing> {
    let mut worst: Option<(f64, Failing)> = None;
    for (index, limit) in limits.iter().enumerate() {
        let class = &figures.classes[limit.class % SETS];
        let Some(of_all) = class.from_due.quantile(limit.quantile) else { continue };
        let thirds = figures.parts.iter().map(|part| &part[limit.class % SETS]);
        let judged = thirds.filter(|third| third.count() >= SUPPORT_MIN);
        let of_third = judged.filter_map(|third| third.quantile(limit.quantile)).max();
        let is_above = of_all > limit.at_most_ns;
        let was_ns = of_third.filter(|_| !is_above).unwrap_or(of_all);
        let ratio = was_ns as f64 / limit.at_most_ns.max(1) as f64;
        if worst.is_none_or(|(most, _)| ratio > most) {
            worst = Some((ratio, Failing::Latency { limit: index, was_ns }));
        }
    }
    worst.map(|(_, failing)| failing)
}

/// Finds both edges. `replay` makes a replay of so many users and judges it; without latencies in
/// the trace, `waits` is false and there is no upper edge but what was tried.
///
/// # Errors
/// Those of `replay`.
pub fn bracket<E>(
    waits: bool,
    mut replay: impl FnMut(f64, Mode) -> Result<Attempt, E>,
) -> Result<Bracket, E> {
    let mut attempts = Vec::new();
    let open = edge(1.0, &mut attempts, |users| replay(users, Mode::AsTimed))?;
    let lower = match open {
        Found::Between(holds, _) => Edge::At(holds),
        Found::Above(users) => Edge::Above(users),
        Found::Below(users, _) => Edge::Below(users),
    };
    let (Edge::At(from) | Edge::Above(from) | Edge::Below(from)) = lower;
    let (lower, upper) = if waits {
        match edge(from, &mut attempts, |users| replay(users, Mode::Dependent))? {
            // On storage that is slower for each I/O, copies that wait may take too long where an
            // open loop still holds: then they are the lower edge.
            Found::Between(holds, Some(fails)) if fails < from => (Edge::At(holds), Edge::At(from)),
            Found::Between(_, Some(fails)) => (lower, Edge::At(fails)),
            Found::Between(holds, None) => (lower, Edge::Above(holds.max(from))),
            Found::Above(users) => (lower, Edge::Above(users)),
            Found::Below(users, true) => (Edge::Below(users), Edge::At(from)),
            Found::Below(_, false) => (lower, Edge::Above(from)),
        }
    } else {
        (lower, Edge::Above(from))
    };
    // An upper edge that is known is that of the storage, whatever the host did below it.
    let is_of_storage = matches!(upper, Edge::At(_));
    // The host failed for a moment, and the same factor or a larger one then held.
    let is_moment = |attempt: &Attempt| {
        let mut same = attempts.iter().filter(|other| other.mode == attempt.mode);
        attempt.failing == Some(Failing::Host)
            && same.any(|other| other.holds() && other.users >= attempt.users)
    };
    let above = |mode| {
        let is_known = |a: &Attempt| !matches!(a.failing, None | Some(Failing::TooFew { .. }));
        // Of three thirds, one may not hold where the load does.
        let is_failure = |a: &Attempt| !a.holds() && is_known(a) && !is_moment(a);
        let counts = |a: &Attempt| if is_of_storage { a.is_refuted() } else { is_failure(a) };
        let failing = |a: &&Attempt| a.mode == mode && counts(a);
        let of = attempts.iter().filter(failing);
        of.min_by(|a, b| a.users.total_cmp(&b.users)).and_then(|a| a.failing)
    };
    let failing = above(Mode::Dependent).or_else(|| above(Mode::AsTimed));
    Ok(Bracket { lower, upper, failing, attempts })
}

/// How the search for one edge ended.
enum Found {
    /// Between a factor that holds and the least at which the storage does not. Without the latter,
    /// the host gave out first.
    Between(f64, Option<f64>),
    Above(f64),
    /// Nothing that was tried holds; whether that is ever the storage's doing.
    Below(f64, bool),
}

/// A factor that was tried: what was asked for, and what the replay made of it.
#[derive(Debug, Clone, Copy)]
struct Tried {
    asked: f64,
    made: f64,
    /// Whether it had too few I/Os; less of the load has fewer.
    few: bool,
}

/// The largest factor that holds: doubled or halved from the start until it changes, then halved
/// between, each on a logarithmic scale.
fn edge<E>(
    start: f64,
    attempts: &mut Vec<Attempt>,
    mut replay: impl FnMut(f64) -> Result<Attempt, E>,
) -> Result<Found, E> {
    let mut fails: Option<f64> = None;
    let mut host_gives_out = false;
    let mut attempt = |users: f64| {
        let mut attempt = replay(users)?;
        attempts.push(attempt);
        if attempt.failing == Some(Failing::Host) && !host_gives_out {
            // Once more: another program may have had the processors for a moment. The host that
            // gives out twice does so at other factors, too, and time is better spent there.
            attempt = replay(users)?;
            attempts.push(attempt);
            host_gives_out = attempt.failing == Some(Failing::Host);
        }
        if attempt.is_refuted() {
            fails = Some(fails.map_or(attempt.users, |least| least.min(attempt.users)));
        }
        let few = matches!(attempt.failing, Some(Failing::TooFew { .. }));
        Ok((attempt.holds(), Tried { asked: users, made: attempt.users, few }))
    };
    let (holds, first) = attempt(start)?;
    let (mut good, mut bad) = (first, first);
    if holds {
        loop {
            if good.asked * 2.0 > FACTORS.1 {
                return Ok(Found::Above(good.made));
            }
            let (holds, next) = attempt(good.asked * 2.0)?;
            if !holds {
                bad = next;
                break;
            }
            good = next;
        }
    } else {
        loop {
            if bad.few || bad.asked / 2.0 < FACTORS.0 {
                let least = if bad.few { fails.unwrap_or(bad.made) } else { bad.made };
                return Ok(Found::Below(least, fails.is_some()));
            }
            let (holds, next) = attempt(bad.asked / 2.0)?;
            if holds {
                good = next;
                break;
            }
            bad = next;
        }
    }
    while bad.asked / good.asked > RESOLUTION {
        let (holds, middle) = attempt((good.asked * bad.asked).sqrt())?;
        *(if holds { &mut good } else { &mut bad }) = middle;
    }
    Ok(Found::Between(good.made, fails))
}
