//! The screen at several sizes, drawn into memory.

use std::sync::Arc;

use engine::{Event, WorkerNames, WorkerPoint};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use results::Point;

use super::super::model::{Cpu, tests as models};
use super::super::{About, ScreenEvent};
use super::*;

fn drawn(model: &Model, width: u16, height: u16) -> String {
    let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
    let look = Look { colour: true };
    let draw = terminal.draw(|frame| {
        paint(frame.area(), frame.buffer_mut(), model, look, Duration::from_secs(151));
    });
    assert!(draw.is_ok());
    terminal.backend().to_string()
}

/// A run in its window, with workers and messages.
fn busy(title: &str, workers: u32) -> Model {
    let targets = "/data/one, /data/two".to_owned();
    let mut model = Model::new(About { kind: "sweep", title: title.to_owned(), targets });
    let mut hear = |heard: ScreenEvent| model.hear(&heard, Duration::from_secs(149));
    hear(ScreenEvent::Step { number: 3, of: 12, title: format!("step {title}") });
    hear(ScreenEvent::Message(format!("warning: {title}")));
    hear(ScreenEvent::Engine(Event::WindowBegan { seconds: 30.0 }));
    for second in 1..10_u32 {
        let point = Point {
            t: f64::from(second),
            write_iops: 3_210.0,
            write_mib_per_s: 25.0,
            write_mean_ns: Some(480_000.0),
            write_p99_ns: Some(3_200_000),
            ..models::point(40_000.0 + 1_234.0 * f64::from(second))
        };
        let seconds_left = 30.0 - f64::from(second);
        hear(ScreenEvent::Engine(Event::Interval { point, seconds_left }));
    }
    let names =
        WorkerNames { streams: vec!["all".to_owned()], targets: vec![title.into(), "/b".into()] };
    let points = (0..workers).map(|thread| WorkerPoint {
        stream: 0,
        target: 1,
        thread,
        iops: 1_000.0 + f64::from(thread),
        mib_per_s: 7.8,
        mean_ns: Some(250_000.0),
        max_ns: Some(4_000_000),
        errors: 0,
    });
    hear(ScreenEvent::Engine(Event::Workers { names: Arc::new(names), points: points.collect() }));
    model.cpu(Cpu { host: Some(37.4), own: Some(12.0) });
    model
}

#[test]
fn everything_is_there_at_80_by_24() {
    let screen = drawn(&busy("8 KiB random reads", 4), 80, 24);
    for words in [
        "iosonde sweep  8 KiB random reads",
        "02:31",
        "/data/one, /data/two",
        "step 3 of 12",
        "measuring ━",
        "of 30 s",
        "─ IOPS ─",
        "─ MiB/s ─",
        "so far",
        "─ mean latency ─",
        "─ longest latency ─",
        "─ p99 latency ─",
        "─ CPU ─",
        "ours 12 %",
        "51 106 IOPS",
        "3 210 IOPS",
        "no errors",
        "warning: 8 KiB",
        "1 warning",
        "q leave the screen",
    ] {
        let plain = screen.replace(['\u{a0}', '\u{202f}'], " ");
        assert!(plain.contains(words), "no `{words}` in\n{screen}");
    }
}

#[test]
fn a_large_terminal_has_larger_digits() {
    let model = busy("8 KiB random reads", 4);
    let blocks = |width, height| drawn(&model, width, height).matches(['█', '▀', '▄']).count();
    assert!(blocks(200, 60) > 3 * blocks(80, 24));
    let rows = drawn(&model, 200, 60);
    assert_eq!(rows.lines().count(), 60);
}

#[test]
fn a_small_terminal_is_told_so() {
    assert!(drawn(&busy("x", 1), 40, 10).contains("the screen needs 60 x 16; q leaves it"));
}

#[test]
fn workers_take_the_place_of_the_lower_figures_or_stand_beside_them() {
    let mut model = busy("8 KiB random reads", 100);
    model.view.workers = true;
    let small = drawn(&model, 80, 24);
    assert!(small.contains("─ workers ─") && small.contains("1 001") && !small.contains("p99"));
    assert!(small.contains("IOPS ─") && small.contains("messages"));
    let large = drawn(&model, 200, 60);
    assert!(large.contains("─ workers ─") && large.contains("p99") && large.contains("of 100"));
    model.view.skipped = 99;
    assert!(drawn(&model, 80, 24).contains("1 099"), "the last ones fill the table");
}

#[test]
fn help_lies_over_everything() {
    let mut model = busy("8 KiB random reads", 4);
    model.view.help = true;
    let screen = drawn(&model, 80, 24);
    assert!(
        screen.contains("the live screen") && screen.contains("Esc") && screen.contains("anyway")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_size_and_no_name_breaks_it(
        width in 1_u16..250,
        height in 1_u16..100,
        title in "\\PC{0,80}|[\\x00-\\x1f\u{200b}\u{202e}\u{1f600}字a]{0,300}",
        workers in 0_u32..200,
        views in any::<(bool, bool, u8)>(),
    ) {
        let mut model = busy(&title, workers);
        (model.view.workers, model.view.help) = (views.0, views.1);
        model.view.skipped = usize::from(views.2);
        let screen = drawn(&model, width, height);
        prop_assert!(!screen.chars().any(|c| c.is_control() && c != '\n'));
    }

    #[test]
    fn no_figure_breaks_it(
        values in proptest::collection::vec(any::<f64>(), 6),
        seconds in any::<f64>(),
        max_ns in any::<Option<u64>>(),
        errors in 0_u64..u64::MAX / 2,
        (width, height) in (60_u16..250, 16_u16..100),
    ) {
        let mut model = models::model();
        let point = Point {
            t: values[0],
            seconds,
            read_iops: values[1],
            write_iops: values[2],
            read_mib_per_s: values[3],
            write_mib_per_s: values[4],
            read_mean_ns: Some(values[5]),
            write_mean_ns: None,
            read_p99_ns: max_ns,
            write_p99_ns: None,
            max_ns,
            errors,
        };
        for _ in 0..2 {
            let event = Event::Interval { point, seconds_left: values[0] };
            model.hear(&ScreenEvent::Engine(event), Duration::from_secs(1));
        }
        drawn(&model, width, height);
    }
}
