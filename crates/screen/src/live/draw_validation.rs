//! Draws the progress of a validation: how far it is, what its users do, and every fault.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use workload::{show_ns, show_number};

use super::draw::{
    Look, bottom, keys, line, line_right, messages, paint_title, right_of, row, rule, side_by_side,
    top,
};
use super::model::{Model, Weight};
use super::tables;
use super::tile::{Tile, bar, digit_rows, latency, plain};
use super::validation::Validated;
use crate::progress::wrong_words;

/// Draws everything, on an area that is large enough.
pub(super) fn paint(
    area: Rect,
    buffer: &mut Buffer,
    (model, validated): (&Model, &Validated),
    look: Look,
    now: Duration,
) {
    let mut rest = area;
    keys(bottom(&mut rest, 1), buffer, model);
    let head = top(&mut rest, 3);
    paint_title(head, buffer, model, now);
    phase(row(head, 2), buffer, validated, look);
    let gap = if area.width < 100 { 1 } else { 3 };
    let tile = 2 + digit_rows(1);
    let kinds = u16::try_from(validated.wrong.len()).unwrap_or(u16::MAX);
    let faults = 1 + kinds.clamp(1, (rest.height / 5).max(1));
    let mut left = rest.height.saturating_sub(2 * tile + faults);
    let mut take = |rows: u16| {
        let fits = left >= rows;
        left -= if fits { rows } else { 0 };
        if fits { rows } else { 0 }
    };
    let work = take(3);
    let log = take(3) + take(2);
    let (high, low) = (left / 2, left / 4);
    let log = if log > 0 { log + left - high - low } else { 0 };
    upper(top(&mut rest, tile + high), buffer, validated, look, gap);
    lower(top(&mut rest, tile + low), buffer, (model, validated), look, gap);
    paint_faults(top(&mut rest, faults), buffer, validated, look);
    if work > 0 {
        paint_work(top(&mut rest, work), buffer, validated);
    }
    if log > 0 {
        messages(bottom(&mut rest, log), buffer, model, look);
    }
    if model.view.help {
        tables::help(area, buffer);
    }
}

/// The phase in words, a bar, and the time that is left.
fn phase(area: Rect, buffer: &mut Buffer, validated: &Validated, look: Look) {
    let taken = line(area, buffer, &validated.words(), Look::strong());
    let Some((ratio, detail)) = validated.progress() else { return };
    let room = right_of(area, taken + 1);
    line_right(room, buffer, &detail, ratatui::style::Style::new());
    let detail = u16::try_from(detail.chars().count()).unwrap_or(u16::MAX);
    let width = room.width.saturating_sub(detail.saturating_add(1));
    bar(Rect { width, ..room }, buffer, Some(ratio), look);
}

/// Draws the upper row: reads and writes per second.
fn upper(area: Rect, buffer: &mut Buffer, validated: &Validated, look: Look, gap: u16) {
    let mib = |of: fn(&integrity::Glance) -> f64| {
        let rate = validated.now.as_ref().map(of);
        rate.map_or_else(String::new, |rate| format!("{} MiB/s", show_number(rate / 1_048_576.0)))
    };
    let tiles = [
        Tile {
            name: "reads/s",
            beside: mib(|now| now.read.bytes_per_s),
            figure: &validated.read_iops,
            show: plain,
            full: None,
        },
        Tile {
            name: "writes/s",
            beside: mib(|now| now.write.bytes_per_s),
            figure: &validated.write_iops,
            show: plain,
            full: None,
        },
    ];
    side_by_side(area, buffer, &tiles, look, (1, gap));
}

/// Draws the lower row: latencies, checked pages, and how busy the processors are.
fn lower(
    area: Rect,
    buffer: &mut Buffer,
    (model, validated): (&Model, &Validated),
    look: Look,
    gap: u16,
) {
    let median = |of: fn(&integrity::Glance) -> Option<u64>| {
        let median = validated.now.as_ref().and_then(of);
        median.map_or_else(String::new, |ns| format!("p50 {}", show_ns(ns as f64)))
    };
    let own = model.own_cpu.map_or_else(String::new, |own| format!("ours {own:.0} %"));
    let percent = |percent: f64| (format!("{percent:.0}"), " %".to_owned());
    let tile = |name, beside, figure, show, full| Tile { name, beside, figure, show, full };
    let tiles = [
        tile("read p99", median(|now| now.read.p50_ns), &validated.read_ns, latency, None),
        tile("write p99", median(|now| now.write.p50_ns), &validated.write_ns, latency, None),
        tile("checked/s", String::new(), &validated.checked, plain, None),
        tile("CPU", own, &model.cpu, percent, Some(100.0)),
    ];
    side_by_side(area, buffer, &tiles, look, (1, gap));
}

/// Draws how many faults there are of each kind.
fn paint_faults(area: Rect, buffer: &mut Buffer, validated: &Validated, look: Look) {
    rule(row(area, 0), buffer, "faults", "");
    let failures = validated.now.map_or(0, |now| now.failures);
    let (pages, blocks) = validated.faults();
    let (mut words, mut weight) = ("no wrong page".to_owned(), Weight::Plain);
    if let Some(wrong) = wrong_words(pages, blocks) {
        (words, weight) = (wrong, Weight::Error);
    }
    if failures > 0 {
        words = format!("{words}, {} FAILED I/Os", show_number(failures as f64));
        weight = Weight::Error;
    }
    let right = Rect { width: area.width.saturating_sub(2), ..row(area, 0) };
    line_right(right, buffer, &format!(" {words} "), look.weight(weight));
    let style = look.weight(Weight::Error);
    for (number, (wrong, count)) in (1..area.height).zip(&validated.wrong) {
        let text = format!("{:>7}  {}", show_number(*count as f64), wrong.words());
        line(row(area, number), buffer, &text, style);
    }
    if validated.wrong.is_empty() && area.height > 1 {
        let long = validated.now.filter(|now| now.long_ios > 0).map(|now| now.long_ios);
        let text = long.map_or_else(
            || "everything that was read was as it was written".to_owned(),
            |long| format!("{} I/Os took longer than 15 s", show_number(long as f64)),
        );
        line(row(area, 1), buffer, &text, Look::faint());
    }
}

/// Draws the work of the users.
fn paint_work(area: Rect, buffer: &mut Buffer, validated: &Validated) {
    rule(row(area, 0), buffer, "what was done", "");
    let Some(now) = &validated.now else { return };
    let whole = |count: u64| show_number(count as f64);
    let style = ratatui::style::Style::new();
    let checked = whole(now.pages_checked);
    let (changes, commits) = (whole(now.changes), whole(now.commits));
    let checkpoints = whole(now.checkpoints);
    // A user that only reads and writes changes nothing in memory and commits nothing.
    let done = if now.changes == 0 {
        format!("{checked} pages checked")
    } else {
        format!(
            "{checked} pages checked · {changes} changed · {commits} commits · {checkpoints} \
             checkpoints"
        )
    };
    line(row(area, 1), buffer, &done, style);
    let flushes = match now.sync.mean_ns {
        Some(ns) => format!(" · {} flushes/s of {}", show_number(now.sync.iops), show_ns(ns)),
        None => String::new(),
    };
    let oldest = show_ns(now.oldest.as_nanos() as f64);
    let flight = format!("{} I/Os in flight, the oldest for {oldest}{flushes}", now.in_flight);
    line(row(area, 2), buffer, &flight, style);
}

#[cfg(test)]
mod tests {
    use integrity::{Event, Glance, Notice, NoticeKind, PageDamage, Phase};
    use proptest::prelude::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::draw::paint as paint_all;
    use super::super::{About, ScreenEvent};
    use super::*;
    use crate::progress::tests::glance;

    fn drawn(model: &Model, width: u16, height: u16) -> String {
        let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
        let draw = terminal.draw(|frame| {
            let now = Duration::from_secs(151);
            paint_all(frame.area(), frame.buffer_mut(), model, Look { colour: true }, now);
        });
        assert!(draw.is_ok());
        terminal.backend().to_string().replace(['\u{a0}', '\u{202f}'], " ")
    }

    fn busy(faults: u32) -> Model {
        let about =
            About { kind: "validate", title: "simulated database".into(), targets: "/data".into() };
        let mut model = Model::new(about);
        let mut hear = |event: Event| {
            model.hear(&ScreenEvent::Validation(event), Duration::from_secs(120));
        };
        hear(Event::Began { phase: Phase::Work, cycle: 2 });
        for number in 0..faults {
            let kind =
                NoticeKind::WrongData(PageDamage::ALL[number as usize % PageDamage::ALL.len()]);
            hear(Event::Notice(Notice { kind, text: "WRONG DATA: lost\u{1b}[2J write".into() }));
        }
        hear(Event::Glance(Box::new(Glance { faults: faults.into(), ..glance() })));
        model
    }

    #[test]
    fn everything_is_there_at_80_by_24() {
        let screen = drawn(&busy(0), 80, 24);
        for words in [
            "iosonde validate  simulated database",
            "02:31",
            "/data",
            "the load is running, cycle 2 ━",
            "25 %, 1 min 30 s left",
            "─ reads/s ─",
            "─ writes/s ─",
            "39.1 MiB/s",
            "─ read p99 ─",
            "─ write p99 ─",
            "no wrong page",
            "everything that was read was as it was written",
            "pages checked",
            "40 commits",
            "17 I/Os in flight",
            "q leave the screen",
        ] {
            assert!(screen.contains(words), "no `{words}` in\n{screen}");
        }
    }

    #[test]
    fn faults_are_shown_by_kind_with_what_was_said_of_them() {
        let screen = drawn(&busy(3), 100, 40);
        for words in ["3 WRONG PAGES", "1  bit error", "1  lost write", "WRONG DATA: lost"] {
            assert!(screen.contains(words), "no `{words}` in\n{screen}");
        }
        assert!(!screen.contains("as it was written"), "{screen}");
    }

    /// The screen said "no wrong page" of a log that was torn.
    #[test]
    fn blocks_of_the_log_are_counted_apart() {
        let mut model = busy(2);
        let kind = NoticeKind::WrongLog(PageDamage::TornPage);
        let notice = Notice { kind, text: "WRONG DATA: torn block in the log".into() };
        model.hear(&ScreenEvent::Validation(Event::Notice(notice)), Duration::from_secs(121));
        let screen = drawn(&model, 100, 40);
        for words in ["2 WRONG PAGES, 1 WRONG LOG BLOCK", "1  torn block in the log"] {
            assert!(screen.contains(words), "no `{words}` in\n{screen}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_size_and_no_figure_breaks_it(
            (width, height) in (1_u16..250, 1_u16..100),
            faults in 0_u32..20,
            numbers in (any::<u64>(), any::<f64>(), any::<Option<f64>>(), any::<u64>()),
            help: bool,
        ) {
            let mut model = busy(faults);
            let mut odd = glance();
            (odd.pages_checked, odd.read.iops, odd.share, odd.in_flight) = numbers;
            odd.seconds = numbers.1;
            model.hear(&ScreenEvent::Validation(Event::Glance(Box::new(odd))), Duration::ZERO);
            model.view.help = help;
            let screen = drawn(&model, width, height);
            prop_assert!(!screen.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
