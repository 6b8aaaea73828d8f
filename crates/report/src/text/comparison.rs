//! The end of `iosonde history compare`: the verdict first, then what differs, then the figures.

use results::change::{Change, Sample};
use results::{ComparedFigure, ComparedLoad, Comparison, Figure, FigureUnit, Side, SideDifference};
use workload::{show_ns, show_number};

use super::layout::{Table, WIDTH, shorten, wrap};
use crate::words;

/// Results of a side that are listed.
const RESULTS: usize = 6;
/// Loads that are shown with every figure; of more, those that decide.
const IN_FULL: usize = 3;
/// Loads of one side alone that are listed.
const ALONE: usize = 6;

/// A comparison for a terminal.
#[must_use]
pub fn comparison(c: &Comparison) -> String {
    let mut out = wrap("", &format!("Verdict: {}", words::clean(&c.explanation)), WIDTH);
    out.push('\n');
    out.push_str(&side("A", &c.a));
    out.push_str(&side("B", &c.b));
    out.push_str(&differences(c));
    if c.loads.len() <= IN_FULL {
        c.loads.iter().for_each(|load| out.push_str(&one_load(load)));
    } else {
        out.push_str(&many_loads(&c.loads));
    }
    out.push_str(&alone("A", &c.only_a));
    out.push_str(&alone("B", &c.only_b));
    out.push_str("\nMethod\n");
    for sentence in &c.method {
        out.push_str(&wrap("  - ", &words::clean(sentence), WIDTH));
    }
    if !c.warnings.is_empty() {
        out.push_str("\nWarnings\n");
        for warning in &c.warnings {
            out.push_str(&wrap("  ! ", &words::clean(warning), WIDTH));
        }
    }
    out
}

fn side(letter: &str, side: &Side) -> String {
    let count = words::plural(side.results.len() as u64, "result", "results");
    let places = [&side.targets, &side.hosts, &side.devices];
    let places: Vec<String> = places
        .iter()
        .filter(|words| !words.is_empty())
        .map(|all| shorten(&words::clean(&all.join(", ")), 60))
        .collect();
    let name = words::clean(&side.name);
    let mut out =
        wrap(&format!("{letter}  "), &format!("{name}: {count}; {}", places.join("; ")), WIDTH);
    for result in side.results.iter().take(RESULTS) {
        let (when, id) = (words::moment(&result.started), words::clean(&result.id));
        let title = shorten(&words::clean(&result.title), 40);
        out.push_str(&format!("     {when}  {}  {title}  {id}\n", result.kind));
    }
    if side.results.len() > RESULTS {
        out.push_str(&format!("     and {} more\n", side.results.len() - RESULTS));
    }
    out
}

fn differences(c: &Comparison) -> String {
    if c.differences.is_empty() {
        return String::new();
    }
    let (setup, others): (Vec<&SideDifference>, Vec<&SideDifference>) =
        c.differences.iter().partition(|d| crate::comparison::is_setup(d));
    table_of("Differs", &others) + &table_of("What changed in the set-up", &setup)
}

fn table_of(heading: &str, differences: &[&SideDifference]) -> String {
    if differences.is_empty() {
        return String::new();
    }
    let mut table = Table::new(3, &[heading, "A", "B"]);
    for d in differences {
        let mark = if d.unlike { " (unlike)" } else { "" };
        let cell = |text: &str| shorten(&words::clean(text), 34);
        table.row(vec![
            format!("{}{mark}", words::clean(&d.difference.name)),
            cell(&d.difference.a),
            cell(&d.difference.b),
        ]);
    }
    format!("\n{}", table.show())
}

fn one_load(load: &ComparedLoad) -> String {
    let runs = |n: usize| words::plural(n as u64, "run", "runs");
    let head = format!(
        "{}; {}; A {}, B {}",
        words::clean(&load.title),
        words::clean(&load.caption),
        runs(load.runs_a.len()),
        runs(load.runs_b.len())
    );
    let mut out = format!("\n{}", wrap("", &head, WIDTH));
    for d in &load.unlike {
        let (a, b) = (words::clean(&d.a), words::clean(&d.b));
        out.push_str(&wrap(
            "  ! ",
            &format!("not alike: {}: A {a}, B {b}", words::clean(&d.name)),
            WIDTH,
        ));
    }
    let judged = load.figures.iter().any(|f| f.compared.is_some());
    let mut table = if judged {
        Table::new(1, &["", "A", "±", "B", "±", "change", "90 % interval", "verdict"])
    } else {
        Table::new(1, &["", "A", "±", "B", "±"])
    };
    for figure in &load.figures {
        table.row(row(figure, judged));
    }
    out.push_str(&table.show());
    out.push_str(&sentence(load));
    out
}

/// The figures that decide, one line for each; then what is not alike.
fn many_loads(loads: &[ComparedLoad]) -> String {
    let mut table = Table::new(1, &["", "runs", "A", "B", "change", "90 % interval", "verdict"]);
    let mut unlike = String::new();
    // Where among the lines of the table a load begins.
    let (mut heads, mut lines) = (Vec::new(), 1);
    for load in loads {
        let title = words::clean(&load.title);
        for d in &load.unlike {
            let differs = [&d.name, &d.a, &d.b].map(|text| words::clean(text));
            let [name, a, b] = differs;
            unlike.push_str(&wrap("  ! ", &format!("{title}: {name}: A {a}, B {b}"), WIDTH));
        }
        let sizes = format!("{}, {}", load.runs_a.len(), load.runs_b.len());
        heads.push((lines, format!("{}; {}", shorten(&title, 70), words::clean(&load.caption))));
        for figure in load.figures.iter().filter(|f| f.decides) {
            let (mark, name) = if load.unlike.is_empty() { (' ', "") } else { ('!', " unlike") };
            let mut cells = row(figure, figure.compared.is_some());
            cells.remove(4);
            cells.remove(2);
            cells[0] = format!("{mark} {}{name}", cells[0]);
            cells.insert(1, sizes.clone());
            table.row(cells);
            lines += 1;
        }
    }
    let mut out = "\n".to_owned();
    let mut heads = heads.into_iter().peekable();
    for (number, line) in table.show().lines().enumerate() {
        while let Some((_, head)) = heads.next_if(|(at, _)| *at == number) {
            out.push_str(&format!("{head}\n"));
        }
        out.push_str(&format!("{line}\n"));
    }
    if !unlike.is_empty() {
        out.push_str(&format!("\nNot alike\n{unlike}"));
    }
    out.push_str(&untold(loads));
    out.push_str("  Every figure of every load is in --json.\n");
    out
}

/// Why it cannot be told, of the first load of which it cannot: mostly the same goes for all.
fn untold(loads: &[ComparedLoad]) -> String {
    let of = |load: &ComparedLoad| {
        let mut deciding = load.figures.iter().filter(|figure| figure.decides);
        let (figure, compared) = deciding.find_map(|figure| {
            let compared = figure.compared.as_ref()?;
            (compared.verdict == Change::CannotTell).then_some((figure.figure, compared))
        })?;
        let (title, why) = (words::clean(&load.title), words::clean(&compared.explanation));
        Some(format!("{title}: {}: {why}", figure.title()))
    };
    loads.iter().find_map(of).map_or_else(String::new, |text| wrap("  ", &text, WIDTH))
}

/// Why the verdict on the figure that decides is what it is.
fn sentence(load: &ComparedLoad) -> String {
    let mut out = String::new();
    for figure in load.figures.iter().filter(|f| f.decides) {
        if let Some(compared) = &figure.compared {
            let text =
                format!("{}: {}", figure.figure.title(), words::clean(&compared.explanation));
            out.push_str(&wrap("  ", &text, WIDTH));
        }
    }
    out
}

fn row(figure: &ComparedFigure, judged: bool) -> Vec<String> {
    let mut cells = vec![name(figure)];
    for sample in [&figure.a, &figure.b] {
        cells.push(value(figure.figure, sample.mean));
        cells.push(spread(sample));
    }
    if !judged {
        return cells;
    }
    let Some(compared) = &figure.compared else {
        cells.extend([words::NONE.to_owned(), words::NONE.to_owned(), String::new()]);
        return cells;
    };
    let interval = compared.interval_percent;
    cells.push(format!("{} %", signed(compared.change_percent)));
    cells.push(interval.map_or_else(
        || words::NONE.to_owned(),
        |(low, high)| format!("{} to {} %", signed(low), signed(high)),
    ));
    cells.push(verdict(compared.verdict).to_owned());
    cells
}

/// With the number of I/Os above a percentile where they are few.
fn name(figure: &ComparedFigure) -> String {
    match figure.tail_ios {
        Some(tail) if tail < 100 => format!("~{} ({tail} I/Os)", figure.figure.word()),
        _ => figure.figure.title().to_owned(),
    }
}

/// How far the runs of a side lie apart.
fn spread(sample: &Sample) -> String {
    words::percent(sample.cv_percent)
}

/// A figure in its unit.
pub(crate) fn value(figure: Figure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Nanoseconds => show_ns(value),
        FigureUnit::Microseconds => format!("{} µs", show_number(value)),
        FigureUnit::Iops | FigureUnit::MibPerS => show_number(value),
    }
}

/// A change with its sign, one decimal below ten.
pub(crate) fn signed(percent: f64) -> String {
    if !percent.is_finite() {
        return words::NONE.to_owned();
    }
    let size = percent.abs();
    let text = if size >= 99.95 {
        show_number(size)
    } else if size >= 9.95 {
        format!("{size:.0}")
    } else {
        format!("{size:.1}")
    };
    match text.as_str() {
        "0.0" => "0".to_owned(),
        _ if percent < 0.0 => format!("-{text}"),
        _ => format!("+{text}"),
    }
}

/// The word for a verdict.
pub(crate) fn verdict(change: Change) -> &'static str {
    match change {
        Change::Better => "better",
        Change::Same => "same",
        Change::Worse => "worse",
        Change::CannotTell => "cannot tell",
    }
}

fn alone(letter: &str, loads: &[String]) -> String {
    if loads.is_empty() {
        return String::new();
    }
    let mut out = format!("\nOnly {letter} has\n");
    for load in loads.iter().take(ALONE) {
        out.push_str(&wrap("  - ", &words::clean(load), WIDTH));
    }
    if loads.len() > ALONE {
        out.push_str(&format!("  - and {} more\n", loads.len() - ALONE));
    }
    out
}
