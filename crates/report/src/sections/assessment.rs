//! An assessment: verdicts by role, saturation of each ramp, every pattern.

use results::alignment::Alignment;
use results::honesty::{Honesty, Sign};
use results::verdict::Verdict;
use results::{AssessedHost, Assessment, Document, Environment, Measurement, Pace, Ramp};
use workload::show_number;

use super::caption::{self, Caption};
use super::cases::{self, Case};
use super::loads::Shown;
use super::make::{
    beside, brief, column, fact, full, full_section, greyed, number, section, table, text,
};
use super::saturation::{self, Curve, Load};
use super::{
    agreement, beside as sides, captured, glance, latency, point, setup, terms, tested, time,
    verdict,
};
use crate::language::{count, say};
use crate::model::{Block, Card, Chart, Fact, Section, Table, UNSURE_MARK, Unit};
use crate::{ramp, words};

/// Answer, charts and tables of an assessment.
pub(super) fn sections(a: &Assessment) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> =
        a.patterns.iter().map(|p| (words::clean(&p.title), &p.measurement)).collect();
    let sections = [
        glance::of(a),
        section("verdict", say!("heading-verdicts"), answer(a)),
        captured::of(a),
        full_section(section(
            "tested",
            say!("heading-what-was-tested"),
            std::iter::once(Block::Facts(summary(a))).chain(hosts(a).map(Block::Table)).collect(),
        )),
        full_section(section("saturation", say!("heading-saturation"), saturation(a))),
        sides::of(a),
        full_section(section("cases", say!("heading-patterns"), patterns(a))),
        full_section(latency::of(&named, false)),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        full_section(section("loads", say!("heading-all-loads"), tables(a))),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

fn answer(a: &Assessment) -> Vec<Block> {
    let mut cards: Vec<Card> = a.verdicts.iter().map(verdict::card).collect();
    let mut blocks = Vec::new();
    if cards.is_empty() {
        blocks.push(Block::Paragraph(if a.pace == Pace::Glance {
            say!("verdict-none-in-a-glance")
        } else {
            say!("verdict-none")
        }));
    }
    cards.extend(a.claims.iter().map(verdict::expectation));
    if !cards.is_empty() {
        blocks.push(Block::Cards(cards));
    }
    let unseen = a.unseen.iter().map(|text| words::clean(text));
    let unseen: Vec<String> = unseen.chain(uncounted(a)).collect();
    blocks.push(brief(borrowed(a).map(Block::Paragraph)));
    // A terminal has room for the findings, but not for the advice.
    let short = unseen.iter().map(|text| first_sentence(text)).collect();
    blocks.push(brief([Block::Warnings(short)]));
    blocks.push(full((!unseen.is_empty()).then_some(Block::Warnings(unseen))));
    blocks.push(full(verdict::fitting(a).map(Block::Table)));
    let all = probes(a, |_| true, |_| true);
    if !all.is_empty() {
        blocks.push(full([Block::List(all)]));
    }
    let is_doubtful =
        |h: &Honesty| matches!(h.sign, Sign::FasterThanMedium | Sign::NoSlowerThanCached);
    let doubtful = probes(a, is_doubtful, |alignment| alignment.matters);
    let findings = setup::in_short(&a.environment).into_iter().chain(first_warning(a)).collect();
    let facts = sides::in_short(a).into_iter().collect();
    let short = [Block::List(doubtful), Block::Facts(facts), Block::Warnings(findings)];
    blocks.push(brief(short));
    blocks
}

/// Of a database that publishes no limits: whose were used instead.
fn borrowed(a: &Assessment) -> Option<String> {
    const USED: &str = "the documents' limits are used";
    let what = |verdict: &Verdict| {
        let source = &verdict.limits.source;
        source.find(USED).map(|at| words::clean(&source[..at + USED.len()]) + ".")
    };
    let (borrowed, own): (Vec<_>, Vec<_>) = a.verdicts.iter().partition(|v| what(v).is_some());
    let sentence = what(borrowed.first()?)?;
    let roles: Vec<String> = borrowed.iter().map(|v| terms::role(v.role)).collect();
    Some(if own.is_empty() { sentence } else { format!("{}: {sentence}", roles.join(", ")) })
}

/// The findings about durable writes and alignment.
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
        let text = say!(
            "assessment-largest",
            figure = format!("{figure} {unit}"),
            load = words::clean(title),
            in_flight = in_flight
        );
        Some(fact(say!("label-most", unit = unit), text))
    };
    let most = [largest(|m| m.total.iops, "IOPS"), largest(|m| m.total.mib_per_s, "MiB/s")];
    most.into_iter().flatten().chain(trust(a)).collect()
}

/// How well figures repeat, and whether the kernel counted the same.
fn trust(a: &Assessment) -> Vec<Fact> {
    let repeats = a.repeats.as_ref().map(|repeats| {
        let found = words::clean(&repeats.trust.explanation);
        fact(say!("label-repeated"), format!("{}: {found}", words::clean(&repeats.title)))
    });
    [repeats, counters(a)].into_iter().flatten().collect()
}

/// Every load of patterns and ramps by its title.
fn loads(a: &Assessment) -> impl Iterator<Item = (&str, &Measurement)> {
    let patterns = a.patterns.iter().map(|p| (p.title.as_str(), &p.measurement));
    patterns.chain(a.ramps.iter().flat_map(|r| r.points.iter().map(|m| (r.title.as_str(), m))))
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
    let mut text = say!(
        "assessment-counters-agree",
        devices = devices.join(&say!("list-between")),
        agreed = count(agreed),
        loads = count(judged.len())
    );
    if explained > 0 {
        text.push_str(&say!("assessment-counters-explained", loads = count(explained)));
    }
    let worst = doubted.iter().map(|a| a.worst_percent.abs()).fold(0.0, f64::max);
    if !doubted.is_empty() {
        let apart = if crate::agreement::is_huge(worst) {
            crate::agreement::HUGE.to_owned()
        } else {
            words::percent(Some(worst))
        };
        let loads = count(doubted.len());
        text.push_str(&say!("assessment-counters-contradict", loads = loads, apart = apart));
    }
    Some(fact(say!("label-kernel"), text))
}

/// Devices whose I/O the kernel does not count: nobody would see what others do there.
fn uncounted(a: &Assessment) -> impl Iterator<Item = String> {
    let findings = a.environment.storage.iter().flat_map(|storage| &storage.findings);
    findings.filter(|finding| finding.code == "accounting-off").map(|finding| {
        let finding = words::clean(finding.message.trim_end_matches('.'));
        say!("assessment-uncounted", finding = finding)
    })
}

/// Where a screen has room for a single warning: the first, and how many there are.
fn first_warning(a: &Assessment) -> Option<String> {
    // What could not be seen is already under the verdicts.
    let others = a.warnings.iter().filter(|w| a.unseen.as_ref() != Some(*w));
    let all: Vec<String> = others.map(|w| words::clean(w)).collect();
    let first = first_sentence(all.first()?);
    Some(say!("assessment-warnings", warnings = count(all.len()), first = first))
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
}

fn summary(a: &Assessment) -> Vec<Fact> {
    let size = format!("{} ({})", words::size(a.file_bytes), words::clean(&a.file_size_reason));
    let pace = match a.pace {
        Pace::Glance => say!("assessment-pace-glance"),
        Pace::Quick => say!("assessment-pace-quick"),
        Pace::Normal => say!("assessment-pace-normal"),
        Pace::Long => say!("assessment-pace-long"),
    };
    let findings: usize = a.environment.storage.iter().map(|s| s.findings.len()).sum();
    let measured = say!(
        "assessment-measured",
        from = words::moment(&a.started),
        to = words::moment(&a.finished),
        pace = pace,
        database = a.database.title()
    );
    let doubts =
        say!("assessment-doubts", warnings = count(a.warnings.len()), findings = count(findings));
    let mut facts = vec![
        fact(say!("label-file-size"), size),
        fact(say!("label-target"), words::path(&a.target)),
        fact(say!("label-measured"), measured),
        fact(say!("label-to-consider"), doubts),
    ];
    facts.extend(short(a));
    let first = a.patterns.first().map(|p| &p.measurement);
    let first = first.or_else(|| a.ramps.iter().find_map(|r| r.points.first()));
    facts.extend(first.map(tested::how).unwrap_or_default());
    facts
}

/// Hosts that were assessed together, each with its target.
fn hosts(a: &Assessment) -> Option<Table> {
    let columns = vec![
        column("host", say!("label-host"), Unit::Text),
        column("target", say!("label-target"), Unit::Text),
    ];
    let row =
        |host: &AssessedHost| vec![text(words::clean(&host.name)), text(words::path(&host.target))];
    let rows = a.hosts.iter().map(row).collect();
    table("assessed-hosts", say!("fleet-heading-hosts"), "", columns, rows)
}

/// All ramps in short, then each ramp.
fn saturation(a: &Assessment) -> Vec<Block> {
    let caption = caption::of(a.ramps.iter().flat_map(|one| &one.points));
    let points = |caption: &str| points(a, caption).map(Block::Table);
    let titles: Vec<String> = a.ramps.iter().map(|one| words::clean(&one.title)).collect();
    let curves: Vec<Curve> =
        a.ramps.iter().zip(&titles).map(|(one, title)| curve(one, title)).collect();
    let charts = saturation::against_latency(&curves, &caption);
    let charts = charts.into_iter().map(Block::Chart);
    vec![full(charts), full(points(&caption)), full(ramps(a))]
}

/// The operating point of each ramp.
fn points(a: &Assessment, caption: &str) -> Option<Table> {
    let columns = vec![
        column("load", say!("label-load"), Unit::Text),
        column("operating_in_flight", say!("label-in-flight"), Unit::Number),
        column("operating_throughput", say!("label-throughput"), Unit::Text),
        column("operating_latency_ns", say!("label-latency"), Unit::Nanoseconds),
        column("limit", say!("label-limit"), Unit::Text),
        column("curve", say!("label-curve"), Unit::Text),
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
            text(throughput.unwrap_or_default()),
            number(knee.operating_point.latency_ns),
            text(one.causes.first().map_or_else(String::new, |c| terms::cause_word(c.cause))),
            text(ramp::ending(knee)),
        ];
        Some(greyed(&columns, cells, is_unsure))
    };
    let rows = a.ramps.iter().filter_map(row).collect();
    table("operating-points", say!("heading-operating-points"), caption, columns.clone(), rows)
}

fn ramps(a: &Assessment) -> Vec<Block> {
    a.ramps.iter().flat_map(|one| ramp_blocks(one, &a.environment)).collect()
}

/// What a ramp says, its charts, its figures.
fn ramp_blocks(one: &Ramp, environment: &Environment) -> Vec<Block> {
    let title = words::clean(&one.title);
    let explanation = one.knee.as_ref().map_or_else(
        || say!("assessment-no-saturation-point"),
        |knee| words::clean(&knee.explanation),
    );
    let mut blocks =
        vec![Block::Paragraph(say!("page-answer", heading = &title, answer = explanation))];
    blocks.extend(beside(ramp_charts(one)));
    if let Some(knee) = &one.knee {
        let measured = one.points.first();
        let unit = ramp::unit(one);
        // The curve is in I/Os a second, whatever the unit of its throughput.
        let per_io = measured.filter(|_| unit != "IOPS").map_or(1.0, mib_per_io);
        let mut facts = vec![
            fact(say!("label-operating-point"), ramp::operating_point(one, knee)),
            fact(say!("label-curve"), ramp::ending(knee)),
        ];
        facts.extend(ramp::limit(one).map(|limit| fact(say!("label-what-limits"), limit)));
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
        beside(cases::charts(&cases, &captions, &say!("chart-mean"))).into_iter().collect();
    let document = Document::Assessment(Box::new(a.clone()));
    let operation = |i: usize| a.patterns.get(i).map(|p| p.operation.clone()).unwrap_or_default();
    let (title, column) = (say!("heading-what-a-database-does"), say!("label-operation"));
    let shown = Shown {
        key: "patterns",
        title: &title,
        range: 0..a.patterns.len(),
        lead: Some(("operation", &column, &operation)),
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
        let note = |i: usize| mark(one, i.saturating_sub(from));
        let shown = Shown {
            key: &format!("loads-{}", one.title),
            title: &say!("heading-every-load-of", load = words::clean(&one.title)),
            range: from..from + one.points.len(),
            lead: Some(("note", "", &note)),
        };
        blocks.extend(shown.table(&document).map(Block::Table));
        from += one.points.len();
    }
    for one in &a.offered {
        let shown = Shown {
            key: &format!("offered-{}", one.title),
            title: &say!("heading-every-rate-offered", load = words::clean(&one.title)),
            range: from..from + one.points.len(),
            lead: None,
        };
        blocks.extend(shown.table(&document).map(Block::Table));
        from += one.points.len();
    }
    let repeats = Shown {
        key: "repeats",
        title: &say!("heading-repetitions"),
        range: from..from + a.repeats.as_ref().map_or(0, |r| r.measurements.len()),
        lead: None,
    };
    from = repeats.range.end;
    blocks.extend(repeats.table(&document).map(Block::Table));
    for (count, key, title) in sides::counts(a) {
        let range = from..from + count;
        from = range.end;
        let shown = Shown { key, title: &title, range, lead: None };
        blocks.extend(shown.table(&document).map(Block::Table));
    }
    blocks
}

/// What a place among the points of a ramp is.
fn mark(one: &Ramp, place: usize) -> String {
    let Some(knee) = &one.knee else { return String::new() };
    let measured = one.points.get(place);
    let is = |point| ramp::named(one, point).zip(measured).is_some_and(|(p, m)| std::ptr::eq(p, m));
    if is(&knee.operating_point) {
        say!("chart-operating-point")
    } else if is(&knee.peak) {
        say!("chart-peak")
    } else {
        String::new()
    }
}
