//! Verdicts as cards, and how much load fits within each limit of a role.
//!
//! A document holds its verdicts as English sentences and as the figures behind them. In English a
//! card has the sentences. In another language the card is written from the figures, and the
//! sentences follow as the original.

use results::Assessment;
use results::claims::{JudgedClaim, Outcome};
use results::steady::is_unsure;
use results::verdict::{FittingLoad, Grade, HeldBy, Level, Limits, Statistic, Sureness, Verdict};
use workload::{show_ns, show_number};

use super::make::{cleaned, column, number, table, text, whole};
use super::{caption, terms};
use crate::language::{Language, count, say, spoken};
use crate::model::{Bar, Bullet, Card, Cell, Judgement, Table, Unit};
use crate::words;

/// The card for a role's verdict.
pub(super) fn card(verdict: &Verdict) -> Card {
    let judgement = match verdict.grade {
        Grade::Excellent | Grade::Good => Judgement::Good,
        Grade::Acceptable | Grade::Indication => Judgement::Doubtful,
        Grade::Unfit => Judgement::Bad,
        Grade::NotJudged => Judgement::Unknown,
    };
    let (mut evidence, original) = match spoken() {
        Language::English => (as_stored(verdict), Vec::new()),
        _ => (as_counted(verdict), original(verdict)),
    };
    evidence.retain(|e| !e.is_empty());
    let role = terms::role(verdict.role);
    let heading = match &verdict.confidence {
        Some(c) => say!("verdict-heading", role = role, level = terms::sureness(c.sureness)),
        None => role,
    };
    let answer = answer_of(verdict);
    Card { heading, judgement, answer, evidence, original, bullet: bullet(verdict) }
}

/// Cards for what the user expected of the storage, with the outcome.
pub(super) fn expectation(claim: &JudgedClaim) -> Card {
    let judgement = match claim.outcome {
        Outcome::Met => Judgement::Good,
        Outcome::NotMet => Judgement::Bad,
        Outcome::NotMeasured => Judgement::Unknown,
    };
    let sentence = vec![words::clean(&claim.sentence)];
    let (evidence, original) = match spoken() {
        Language::English => (sentence, Vec::new()),
        _ => (Vec::new(), sentence),
    };
    let heading = match claim.name.as_deref() {
        Some(name) => say!("verdict-expectation-of", name = words::clean(name)),
        None => say!("verdict-expectation"),
    };
    let answer = terms::outcome(claim.outcome);
    Card { heading, judgement, answer, evidence, original, bullet: None }
}

/// The sentences of the document, the one that decides first.
fn as_stored(verdict: &Verdict) -> Vec<String> {
    let title = terms::role(verdict.role);
    let headline = words::clean(&verdict.headline);
    let answer = answer_of(verdict);
    // Role and answer head the card already.
    let known =
        [format!("{title}: {answer}. "), format!("{title}: {answer}: "), format!("{title}: ")];
    let rest = known.iter().find_map(|known| headline.strip_prefix(known.as_str()));
    let mut evidence = vec![words::capitalized(rest.unwrap_or(&headline))];
    evidence.extend(verdict.class.as_deref().map(words::clean));
    evidence.extend(verdict.confidence.as_ref().filter(|c| !c.reasons.is_empty()).map(|c| {
        let reasons = words::clean(&c.reasons.join("; "));
        say!("verdict-confidence-because", level = terms::sureness(c.sureness), reasons = reasons)
    }));
    evidence.extend(cleaned(&verdict.evidence));
    evidence.extend(cleaned(&verdict.caveats));
    let source = words::clean(&verdict.limits.source);
    evidence.push(format!("{} {source}.", limits(verdict)));
    evidence
}

/// The same sentences, none of them changed.
fn original(verdict: &Verdict) -> Vec<String> {
    let mut original = vec![words::clean(&verdict.headline)];
    original.extend(verdict.class.as_deref().map(words::clean));
    original.extend(verdict.confidence.iter().flat_map(|c| cleaned(&c.reasons)));
    original.extend(cleaned(&verdict.evidence));
    original.extend(cleaned(&verdict.caveats));
    original.push(words::clean(&verdict.limits.source));
    original.retain(|sentence| !sentence.is_empty());
    original
}

/// The verdict from its figures, the sentence that decides first.
fn as_counted(verdict: &Verdict) -> Vec<String> {
    let mut said = vec![decision(verdict)];
    said.extend(verdict.confidence.as_ref().filter(|c| !c.reasons.is_empty()).map(|c| {
        let reasons = count(c.reasons.len());
        say!("verdict-confidence-reasons", level = terms::sureness(c.sureness), reasons = reasons)
    }));
    for capacity in &verdict.capacities {
        let sentence = fits(verdict, capacity);
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    if verdict.capacities.is_empty() {
        said.push(say!("verdict-no-capacity"));
    }
    said.push(limits(verdict));
    said
}

/// What the grade says of the need; without a need, how much fits within the widest limit.
fn decision(verdict: &Verdict) -> String {
    let Some(need) = verdict.need else {
        let widest = verdict.capacities.iter().find(|c| c.level == Level::Acceptable);
        return widest.map_or_else(String::new, |capacity| fits(verdict, capacity));
    };
    let need = amount(verdict, need.per_second);
    let limit = |level: Level| {
        let limits = &verdict.limits;
        show_ns(match level {
            Level::Excellent => limits.excellent_ns,
            Level::Ideal => limits.ideal_ns,
            Level::Acceptable => limits.acceptable_ns,
        } as f64)
    };
    match verdict.grade {
        Grade::Excellent => say!("verdict-met", need = need, limit = limit(Level::Excellent)),
        Grade::Good => say!("verdict-met", need = need, limit = limit(Level::Ideal)),
        Grade::Acceptable => say!("verdict-met", need = need, limit = limit(Level::Acceptable)),
        Grade::Indication => say!("verdict-seems-met", need = need),
        Grade::Unfit => say!("verdict-not-met", need = need, limit = limit(Level::Acceptable)),
        Grade::NotJudged => say!("verdict-need-not-judged", need = need),
    }
}

/// A load in the unit of its role.
fn amount(verdict: &Verdict, per_second: f64) -> String {
    format!("{} {}", show_number(per_second), terms::unit(verdict.role))
}

/// How much fits within a limit, between which figures that is, and why no more.
fn fits(verdict: &Verdict, capacity: &FittingLoad) -> String {
    let limit = show_ns(capacity.limit_ns as f64);
    let statistic = terms::statistic(verdict.limits.statistic);
    if capacity.per_second <= 0.0 {
        return say!("verdict-fits-nothing", limit = limit, statistic = statistic);
    }
    let most = amount(verdict, capacity.per_second);
    let low = show_number(capacity.low);
    let first = match capacity.high.map(show_number) {
        Some(high) => say!(
            "verdict-fits",
            most = most,
            low = low,
            high = high,
            limit = limit,
            statistic = statistic
        ),
        None => say!(
            "verdict-fits-at-least",
            most = most,
            low = low,
            limit = limit,
            statistic = statistic
        ),
    };
    let why = match capacity.held_by {
        HeldBy::Latency => say!("verdict-held-by-latency"),
        HeldBy::Throughput => say!("verdict-held-by-throughput"),
        HeldBy::Nothing => say!("verdict-held-by-nothing"),
    };
    say!("two-sentences", first = first, second = why)
}

/// How much fits within each limit, and the need. Nothing is drawn at low confidence: a bar looks
/// like a fact.
fn bullet(verdict: &Verdict) -> Option<Bullet> {
    let low = verdict.confidence.as_ref().is_some_and(|c| c.sureness == Sureness::Low);
    let bar = |capacity: &FittingLoad| Bar {
        label: say!("verdict-bar", limit = show_ns(capacity.limit_ns as f64)),
        figure: capacity.per_second,
    };
    let bars: Vec<Bar> = verdict.capacities.iter().map(bar).collect();
    let is_drawn = !low && bars.iter().any(|bar| bar.figure > 0.0);
    let need = verdict.need.map(|need| need.per_second);
    is_drawn.then(|| Bullet { bars, need, unit: terms::unit(verdict.role) })
}

/// The grade, or where nothing is needed how much fits.
fn answer_of(verdict: &Verdict) -> String {
    let low = verdict.confidence.as_ref().is_some_and(|c| c.sureness == Sureness::Low);
    let widest = verdict.capacities.iter().find(|c| c.level == Level::Acceptable);
    match widest.filter(|_| verdict.need.is_none()) {
        None => terms::grade(verdict.grade),
        Some(_) if low => terms::grade(Grade::Indication),
        Some(capacity) if capacity.per_second <= 0.0 => say!("verdict-nothing-fits"),
        Some(capacity) => amount(verdict, capacity.per_second),
    }
}

/// The limits that a role is judged by, in a sentence.
fn limits(verdict: &Verdict) -> String {
    let limits: &Limits = &verdict.limits;
    let time = |ns: u64| show_ns(ns as f64);
    let (excellent, good, acceptable) =
        (time(limits.excellent_ns), time(limits.ideal_ns), time(limits.acceptable_ns));
    if limits.statistic == Statistic::P99 {
        return say!(
            "verdict-limits-of-p99",
            excellent = excellent,
            good = good,
            acceptable = acceptable
        );
    }
    let tail = show_ns(limits.acceptable_ns as f64 * f64::from(limits.tail_factor));
    say!("verdict-limits", excellent = excellent, good = good, acceptable = acceptable, tail = tail)
}

/// How much load fits within each limit.
pub(super) fn fitting(a: &Assessment) -> Option<Table> {
    let columns = vec![
        column("role", say!("label-role"), Unit::Text),
        column("limit_ns", say!("label-limit"), Unit::Nanoseconds),
        column("fits_per_s", say!("label-fits"), Unit::Number),
        column("fits_low_per_s", say!("label-at-least"), Unit::Number),
        column("fits_high_per_s", say!("label-at-most"), Unit::Number),
        column("fits_unit", say!("label-unit"), Unit::Text),
        column("fits_latency_ns", say!("label-latency"), Unit::Nanoseconds),
        column("held_by", say!("label-more-does-not-fit-because"), Unit::Text),
        column("load", say!("label-load"), Unit::Text),
    ];
    let row = |verdict: &Verdict, fitting: &FittingLoad| {
        let why = match fitting.held_by {
            HeldBy::Latency => say!("verdict-cell-latency"),
            HeldBy::Throughput => say!("verdict-cell-throughput"),
            HeldBy::Nothing => say!("verdict-cell-nothing"),
        };
        vec![
            text(terms::role(verdict.role)),
            whole(fitting.limit_ns),
            if is_unsure(fitting.half_width_percent()) {
                Cell::Unsure(fitting.per_second)
            } else {
                number(fitting.per_second)
            },
            number(fitting.low),
            number(fitting.high.unwrap_or(f64::NAN)),
            text(terms::unit(verdict.role)),
            number(fitting.latency_ns.unwrap_or(f64::NAN)),
            text(why),
            text(&fitting.load),
        ]
    };
    let all = a.verdicts.iter().flat_map(|v| v.capacities.iter().map(move |c| row(v, c)));
    let measured = a.patterns.iter().map(|p| &p.measurement);
    let caption = caption::of(measured.chain(a.offered.iter().flat_map(|o| &o.points)));
    let title = say!("heading-how-much-load-fits-within-each-limit");
    table("fitting-loads", title, &caption, columns, all.collect())
}
