//! An assessment: verdicts by role, saturation of each ramp, every pattern.

use results::alignment::Alignment;
use results::claims::Outcome;
use results::honesty::{Honesty, Sign};
use results::steady::is_unsure;
use results::verdict::{FittingLoad, Grade, HeldBy, Level, Limits, Statistic, Sureness, Verdict};
use results::{Assessment, Document, Environment, Measurement, Pace, Ramp};
use workload::{show_ns, show_number};

use super::caption::{self, Caption};
use super::cases::{self, Case};
use super::loads::Shown;
use super::make::{
    beside, brief, cleaned, column, fact, full, full_section, greyed, number, section, table, text,
    whole,
};
use super::saturation::{self, Curve, Load};
use super::{agreement, glance, latency, point, setup, tested, time};
use crate::model::{
    Bar, Block, Bullet, Card, Cell, Chart, Fact, Judgement, Section, Table, UNSURE_MARK, Unit,
};
use crate::{ramp, words};

/// Answer, charts and tables of an assessment.
pub(super) fn sections(a: &Assessment) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> =
        a.patterns.iter().map(|p| (words::clean(&p.title), &p.measurement)).collect();
    let sections = [
        glance::of(a),
        section("verdict", "Verdicts", answer(a)),
        full_section(section("tested", "What was tested", vec![Block::Facts(summary(a))])),
        section("saturation", "Saturation", saturation(a)),
        full_section(section("cases", "Patterns", patterns(a))),
        full_section(latency::of(&named, false)),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        full_section(section("loads", "All loads", tables(a))),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

fn answer(a: &Assessment) -> Vec<Block> {
    let mut cards: Vec<Card> = a.verdicts.iter().map(card).collect();
    let mut blocks = Vec::new();
    if cards.is_empty() {
        let why = if a.pace == Pace::Glance { ": a glance is too short for it" } else { "" };
        blocks.push(Block::Paragraph(format!("Nothing was judged{why}.")));
    }
    cards.extend(a.claims.iter().map(|claim| {
        let judgement = match claim.outcome {
            Outcome::Met => Judgement::Good,
            Outcome::NotMet => Judgement::Bad,
            Outcome::NotMeasured => Judgement::Unknown,
        };
        let of = claim.name.as_deref().map(|n| format!(" of {}", words::clean(n)));
        Card {
            heading: format!("Expectation{}", of.unwrap_or_default()),
            judgement,
            answer: words::claim(claim.outcome).to_owned(),
            evidence: vec![words::clean(&claim.sentence)],
            bullet: None,
        }
    }));
    if !cards.is_empty() {
        blocks.push(Block::Cards(cards));
    }
    let unseen: Vec<String> = a.unseen.iter().map(|text| words::clean(text)).collect();
    if !unseen.is_empty() {
        blocks.push(Block::Warnings(unseen));
    }
    blocks.push(full(fitting(a).map(Block::Table)));
    let all = probes(a, |_| true, |_| true);
    if !all.is_empty() {
        blocks.push(full([Block::List(all)]));
    }
    let is_doubtful =
        |h: &Honesty| matches!(h.sign, Sign::FasterThanMedium | Sign::NoSlowerThanCached);
    let doubtful = probes(a, is_doubtful, |alignment| alignment.matters);
    let findings = setup::in_short(&a.environment).into_iter().collect();
    // The largest figures are left to the table at the top.
    let facts = trust(a).into_iter().chain(headroom(a)).collect();
    let short = [Block::List(doubtful), Block::Warnings(findings), Block::Facts(facts)];
    blocks.push(brief(short));
    blocks
}

/// How much load fits within each limit.
fn fitting(a: &Assessment) -> Option<Table> {
    let columns = vec![
        column("role", "Role", Unit::Text),
        column("limit_ns", "Limit", Unit::Nanoseconds),
        column("fits_per_s", "Fits", Unit::Number),
        column("fits_low_per_s", "At least", Unit::Number),
        column("fits_high_per_s", "At most", Unit::Number),
        column("fits_unit", "Unit", Unit::Text),
        column("fits_latency_ns", "Latency", Unit::Nanoseconds),
        column("held_by", "More does not fit because", Unit::Text),
        column("load", "Load", Unit::Text),
    ];
    let row = |verdict: &Verdict, fitting: &FittingLoad| {
        let why = match fitting.held_by {
            HeldBy::Latency => "I/Os take longer",
            HeldBy::Throughput => "the storage does no more",
            HeldBy::Nothing => "more was not tried",
        };
        vec![
            text(verdict.role.title()),
            whole(fitting.limit_ns),
            if is_unsure(fitting.half_width_percent()) {
                Cell::Unsure(fitting.per_second)
            } else {
                number(fitting.per_second)
            },
            number(fitting.low),
            number(fitting.high.unwrap_or(f64::NAN)),
            text(verdict.role.unit()),
            number(fitting.latency_ns.unwrap_or(f64::NAN)),
            text(why),
            text(&fitting.load),
        ]
    };
    let all = a.verdicts.iter().flat_map(|v| v.capacities.iter().map(move |c| row(v, c)));
    let measured = a.patterns.iter().map(|p| &p.measurement);
    let caption = caption::of(measured.chain(a.offered.iter().flat_map(|o| &o.points)));
    table("fitting-loads", "How much load fits within each limit", &caption, columns, all.collect())
}

/// What was found about durable writes and alignment.
fn probes(
    a: &Assessment,
    honest: impl Fn(&Honesty) -> bool,
    aligned: impl Fn(&Alignment) -> bool,
) -> Vec<String> {
    let honesty = a.honesty.iter().filter(|h| honest(h)).map(|h| &h.statement);
    let alignment = a.alignment.iter().filter(|l| aligned(l)).map(|l| &l.statement);
    honesty.chain(alignment).map(|text| words::clean(text)).filter(|p| !p.is_empty()).collect()
}

/// The largest figures, and how far they can be trusted.
fn short(a: &Assessment) -> Vec<Fact> {
    let largest = |of: fn(&Measurement) -> f64, unit: &str| {
        let (title, m) = loads(a)
            .filter(|(_, m)| of(m).is_finite() && of(m) > 0.0)
            .max_by(|x, y| of(x.1).total_cmp(&of(y.1)))?;
        let (figure, in_flight) = (show_number(of(m)), words::count(m.in_flight));
        let text = format!("{figure} {unit}: {}, {in_flight} in flight", words::clean(title));
        Some(fact(format!("Most {unit}"), text))
    };
    let most = [largest(|m| m.total.iops, "IOPS"), largest(|m| m.total.mib_per_s, "MiB/s")];
    most.into_iter().flatten().chain(trust(a)).collect()
}

/// How well figures repeat, and whether the kernel counted the same.
fn trust(a: &Assessment) -> Vec<Fact> {
    let repeats = a.repeats.as_ref().map(|repeats| {
        let found = words::clean(&repeats.trust.explanation);
        fact("Repeated", format!("{}: {found}", words::clean(&repeats.title)))
    });
    [repeats, counters(a)].into_iter().flatten().collect()
}

/// Every load of patterns and ramps by its title.
fn loads(a: &Assessment) -> impl Iterator<Item = (&str, &Measurement)> {
    let patterns = a.patterns.iter().map(|p| (p.title.as_str(), &p.measurement));
    patterns.chain(a.ramps.iter().flat_map(|r| r.points.iter().map(|m| (r.title.as_str(), m))))
}

/// How far the tool itself was from its own limit on this host.
fn headroom(a: &Assessment) -> Option<Fact> {
    let (ceiling, used) = (show_number(a.tool_ceiling_iops?), a.tool_ceiling_used_percent);
    let text = format!("{ceiling} IOPS without any I/O, {} of it used", words::percent(used));
    Some(fact("Tool limit", text))
}

/// What the kernel's counters say of all that was measured.
fn counters(a: &Assessment) -> Option<Fact> {
    let kernels: Vec<_> = loads(a).filter_map(|(_, m)| m.kernel.as_ref()).collect();
    let judged: Vec<_> = kernels.iter().filter_map(|k| k.agreement.as_ref()).collect();
    if judged.is_empty() {
        return None;
    }
    let mut devices: Vec<String> = kernels.iter().map(|k| words::clean(&k.device)).collect();
    devices.sort();
    devices.dedup();
    let agreed = judged.iter().filter(|agreement| agreement.within_tolerance).count();
    let doubted: Vec<_> = judged.iter().filter(|agreement| agreement.is_doubt()).collect();
    let explained = judged.len() - agreed - doubted.len();
    let mut text = format!(
        "the counters of {} agree in {agreed} of {}",
        devices.join(", "),
        words::plural(judged.len() as u64, "load", "loads")
    );
    if explained > 0 {
        text.push_str(&format!(", differ for a known reason in {explained}"));
    }
    let worst = doubted.iter().map(|a| a.worst_percent.abs()).fold(0.0, f64::max);
    if !doubted.is_empty() {
        let apart = if crate::agreement::is_huge(worst) {
            crate::agreement::HUGE.to_owned()
        } else {
            words::percent(Some(worst))
        };
        text.push_str(&format!(", contradict {}, {apart} apart at most", doubted.len()));
    }
    Some(fact("Kernel", text))
}

/// Where a screen has room for a single warning: the first, and how many there are.
pub(super) fn first_warning(a: &Assessment) -> Block {
    // What could not be seen stands under the verdicts already.
    let others = a.warnings.iter().filter(|w| a.unseen.as_ref() != Some(*w));
    let all: Vec<String> = others.map(|w| words::clean(w)).collect();
    let Some(first) = all.first() else {
        let none = if a.unseen.is_some() { "No other warnings." } else { "No warnings." };
        return Block::Paragraph(none.to_owned());
    };
    let count = words::plural(all.len() as u64, "warning", "warnings");
    let lead = if all.len() == 1 { ":" } else { ", the first:" };
    Block::Warnings(vec![format!("{count}{lead} {first}")])
}

fn card(verdict: &Verdict) -> Card {
    let judgement = match verdict.grade {
        Grade::Excellent | Grade::Good => Judgement::Good,
        Grade::Acceptable | Grade::Indication => Judgement::Doubtful,
        Grade::Unfit => Judgement::Bad,
        Grade::NotJudged => Judgement::Unknown,
    };
    let title = verdict.role.title();
    let headline = words::clean(&verdict.headline);
    let answer = answer_of(verdict);
    // Role and answer head the card already. What follows them must be a sentence by itself.
    let known =
        [format!("{title}: {answer}. "), format!("{title}: {answer}: "), format!("{title}: ")];
    let rest = known.iter().find_map(|known| headline.strip_prefix(known.as_str()));
    let mut evidence = vec![words::capitalized(rest.unwrap_or(&headline))];
    evidence.extend(verdict.class.as_deref().map(words::clean));
    evidence.extend(verdict.confidence.as_ref().filter(|c| !c.reasons.is_empty()).map(|c| {
        format!("Confidence is {}: {}.", c.sureness.word(), words::clean(&c.reasons.join("; ")))
    }));
    evidence.extend(cleaned(&verdict.evidence));
    evidence.extend(cleaned(&verdict.caveats));
    let source = words::clean(&verdict.limits.source);
    evidence.push(format!("Judged by {}. {source}.", limits(verdict)));
    evidence.retain(|e| !e.is_empty());
    let sure = verdict.confidence.as_ref().map(|c| format!(", confidence {}", c.sureness.word()));
    Card {
        heading: format!("{title}{}", sure.unwrap_or_default()),
        judgement,
        answer,
        evidence,
        bullet: bullet(verdict),
    }
}

/// How much fits within each limit, and the need. Nothing is drawn at low confidence: a bar looks
/// like a fact.
fn bullet(verdict: &Verdict) -> Option<Bullet> {
    let low = verdict.confidence.as_ref().is_some_and(|c| c.sureness == Sureness::Low);
    let bar = |capacity: &FittingLoad| Bar {
        label: format!("within {}", show_ns(capacity.limit_ns as f64)),
        figure: capacity.per_second,
    };
    let bars: Vec<Bar> = verdict.capacities.iter().map(bar).collect();
    let is_drawn = !low && bars.iter().any(|bar| bar.figure > 0.0);
    let need = verdict.need.map(|need| need.per_second);
    is_drawn.then(|| Bullet { bars, need, unit: verdict.role.unit() })
}

/// The grade, or where nothing is needed how much fits.
fn answer_of(verdict: &Verdict) -> String {
    let low = verdict.confidence.as_ref().is_some_and(|c| c.sureness == Sureness::Low);
    let widest = verdict.capacities.iter().find(|c| c.level == Level::Acceptable);
    match widest.filter(|_| verdict.need.is_none()) {
        None => verdict.grade.word().to_owned(),
        Some(_) if low => Grade::Indication.word().to_owned(),
        Some(capacity) if capacity.per_second <= 0.0 => "nothing fits".to_owned(),
        Some(capacity) => format!("{} {}", show_number(capacity.per_second), verdict.role.unit()),
    }
}

fn limits(verdict: &Verdict) -> String {
    let limits: &Limits = &verdict.limits;
    let statistic = match limits.statistic {
        Statistic::Mean => "mean latency",
        Statistic::P99 => "99th percentile of latency",
    };
    let tail = match limits.statistic {
        Statistic::Mean => format!(
            "; a 99th percentile above {} {}",
            show_ns(limits.acceptable_ns as f64 * f64::from(limits.tail_factor)),
            // Earlier builds judged the latency alone.
            if verdict.capacities.is_empty() { "costs one grade" } else { "does not fit" }
        ),
        Statistic::P99 => String::new(),
    };
    format!(
        "{statistic} up to {} excellent, {} good, {} acceptable{tail}",
        show_ns(limits.excellent_ns as f64),
        show_ns(limits.ideal_ns as f64),
        show_ns(limits.acceptable_ns as f64)
    )
}

fn summary(a: &Assessment) -> Vec<Fact> {
    let size = format!("{} ({})", words::size(a.file_bytes), words::clean(&a.file_size_reason));
    let pace = match a.pace {
        Pace::Glance => "glance: an impression",
        Pace::Quick => "quick: an indication",
        Pace::Normal => "normal",
        Pace::Long => "long: a baseline",
    };
    let findings: usize = a.environment.storage.iter().map(|s| s.findings.len()).sum();
    let doubts = words::plural(a.warnings.len() as u64, "warning", "warnings");
    let findings = words::plural(findings as u64, "finding", "findings");
    let times = format!("{} to {}", words::moment(&a.started), words::moment(&a.finished));
    let mut facts = vec![
        fact("File size", size),
        fact("Target", words::path(&a.target)),
        fact("Measured", format!("{times}; pace {pace}, loads of {}", a.database.title())),
        fact("To consider", format!("{doubts} about the figures, {findings} about the set-up")),
    ];
    facts.extend(short(a));
    let first = a.patterns.first().map(|p| &p.measurement);
    let first = first.or_else(|| a.ramps.iter().find_map(|r| r.points.first()));
    facts.extend(first.map(tested::how).unwrap_or_default());
    facts
}

/// All ramps in short; each ramp, then the rules that were applied, each once.
fn saturation(a: &Assessment) -> Vec<Block> {
    let caption = caption::of(a.ramps.iter().flat_map(|one| &one.points));
    let points = |caption: &str| points(a, caption).map(Block::Table);
    let titles: Vec<String> = a.ramps.iter().map(|one| words::clean(&one.title)).collect();
    let curves: Vec<Curve> =
        a.ramps.iter().zip(&titles).map(|(one, title)| curve(one, title)).collect();
    let charts = saturation::against_latency(&curves, &caption);
    let charts = charts.into_iter().map(Block::Chart);
    vec![brief(points("")), full(charts), full(points(&caption)), full(ramps(a))]
}

/// The operating point of each ramp.
fn points(a: &Assessment, caption: &str) -> Option<Table> {
    let columns = vec![
        column("load", "Load", Unit::Text),
        column("operating_in_flight", "In flight", Unit::Number),
        column("operating_throughput", "Throughput", Unit::Text),
        column("operating_latency_ns", "Latency", Unit::Nanoseconds),
        column("limit", "Limit", Unit::Text),
        column("curve", "Curve", Unit::Text),
    ];
    let row = |one: &Ramp| {
        let knee = one.knee.as_ref()?;
        let measured = ramp::named(one, &knee.operating_point);
        let is_unsure = measured.is_some_and(Measurement::is_unsure);
        let mark = if is_unsure { UNSURE_MARK } else { "" };
        let throughput = measured.map(|m| {
            format!("{}{mark} {}", show_number(ramp::throughput(one, m)), ramp::unit(one))
        });
        let cells = vec![
            text(&one.title),
            number(knee.operating_point.in_flight),
            text(&throughput.unwrap_or_default()),
            number(knee.operating_point.latency_ns),
            text(one.causes.first().map_or("", |c| c.cause.word())),
            text(ramp::ending(knee)),
        ];
        Some(greyed(&columns, cells, is_unsure))
    };
    let rows = a.ramps.iter().filter_map(row).collect();
    table("operating-points", "Operating points", caption, columns.clone(), rows)
}

fn ramps(a: &Assessment) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        a.ramps.iter().flat_map(|one| ramp_blocks(one, &a.environment)).collect();
    let mut rules: Vec<String> = Vec::new();
    for rule in a.ramps.iter().filter_map(|r| Some(words::clean(&r.knee.as_ref()?.rule))) {
        if !rule.is_empty() && !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    blocks.extend(rules.into_iter().map(Block::Paragraph));
    blocks
}

/// What a ramp says, its charts, its figures.
fn ramp_blocks(one: &Ramp, environment: &Environment) -> Vec<Block> {
    let title = words::clean(&one.title);
    let explanation = one.knee.as_ref().map_or_else(
        || "No saturation point is given: too few loads were measured.".to_owned(),
        |knee| words::clean(&knee.explanation),
    );
    let mut blocks = vec![Block::Paragraph(format!("{title}: {explanation}"))];
    blocks.extend(beside(ramp_charts(one)));
    if let Some(knee) = &one.knee {
        let measured = one.points.first();
        let unit = ramp::unit(one);
        // The curve is in I/Os a second, whatever its throughput is said in.
        let per_io = measured.filter(|_| unit != "IOPS").map_or(1.0, mib_per_io);
        let mut facts = vec![
            fact("Operating point", ramp::operating_point(one, knee)),
            fact("Curve", ramp::ending(knee)),
        ];
        facts.extend(ramp::limit(one).map(|limit| fact("What limits", limit)));
        facts.extend(point::facts(knee, unit, per_io));
        blocks.push(Block::Facts(facts));
    }
    let causes = point::reasons(&one.causes);
    if !causes.is_empty() {
        blocks.push(Block::List(causes));
    }
    if let Some(knee) = &one.knee {
        blocks.extend(setup::of_knee(environment, knee.operating_point.in_flight));
    }
    blocks
}

/// MiB that one I/O of this load moves.
pub(super) fn mib_per_io(m: &Measurement) -> f64 {
    if m.total.iops > 0.0 { m.total.mib_per_s / m.total.iops } else { 1.0 }
}

fn curve<'a>(one: &Ramp, title: &'a str) -> Curve<'a> {
    Curve {
        title,
        caption: "",
        loads: one.points.iter().map(Load::of).collect(),
        bandwidth: ramp::unit(one) == "MiB/s",
        marks: saturation::marks(one.knee.as_ref()),
        ceiling: None,
    }
}

fn ramp_charts(one: &Ramp) -> Vec<Chart> {
    let (title, caption) = (words::clean(&one.title), caption::of(&one.points));
    let curve = Curve { caption: &caption, ..curve(one, &title) };
    let mut charts: Vec<Chart> = curve.whole("saturation").into_iter().collect();
    charts.extend(curve.queue());
    charts
}

fn patterns(a: &Assessment) -> Vec<Block> {
    let cases: Vec<Case> = a.patterns.iter().map(|p| Case::of(&p.title, &p.measurement)).collect();
    let captions = Caption::of(a.patterns.iter().map(|p| &p.measurement));
    let mut blocks: Vec<Block> =
        beside(cases::charts(&cases, &captions, "mean")).into_iter().collect();
    let document = Document::Assessment(Box::new(a.clone()));
    let operation = |i: usize| a.patterns.get(i).map(|p| p.operation.clone()).unwrap_or_default();
    let shown = Shown {
        key: "patterns",
        title: "What a database does",
        range: 0..a.patterns.len(),
        lead: Some(("operation", "Operation", &operation)),
    };
    blocks.extend(shown.table(&document).map(Block::Table));
    blocks.extend(setup::of_writes(&a.environment));
    blocks
}

/// Every load of every ramp, and the repetitions.
fn tables(a: &Assessment) -> Vec<Block> {
    let document = Document::Assessment(Box::new(a.clone()));
    let mut blocks = Vec::new();
    let mut from = a.patterns.len();
    for one in &a.ramps {
        let note = |i: usize| mark(one, i.saturating_sub(from)).to_owned();
        let shown = Shown {
            key: &format!("loads-{}", one.title),
            title: &format!("{}: every load", words::clean(&one.title)),
            range: from..from + one.points.len(),
            lead: Some(("note", "", &note)),
        };
        blocks.extend(shown.table(&document).map(Block::Table));
        from += one.points.len();
    }
    for one in &a.offered {
        let shown = Shown {
            key: &format!("offered-{}", one.title),
            title: &format!("{}: every rate that was offered", words::clean(&one.title)),
            range: from..from + one.points.len(),
            lead: None,
        };
        blocks.extend(shown.table(&document).map(Block::Table));
        from += one.points.len();
    }
    let repeats = Shown {
        key: "repeats",
        title: "Repetitions of the first pattern",
        range: from..usize::MAX,
        lead: None,
    };
    blocks.extend(repeats.table(&document).map(Block::Table));
    blocks
}

/// What a place among the points of a ramp is.
fn mark(one: &Ramp, place: usize) -> &'static str {
    let Some(knee) = &one.knee else { return "" };
    let measured = one.points.get(place);
    let is = |point| ramp::named(one, point).zip(measured).is_some_and(|(p, m)| std::ptr::eq(p, m));
    if is(&knee.operating_point) {
        "operating point"
    } else if is(&knee.peak) {
        "peak"
    } else {
        ""
    }
}
