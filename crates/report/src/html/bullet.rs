//! The bars of a card: how much fits within each limit, with the need as a line.

use askama::Template;
use workload::show_number;

use crate::language::say;
use crate::model::Bullet;

/// Width of the picture, in its own units; the style sheet scales it to the card.
const WIDTH: f64 = 300.0;
/// Where bars begin, after their labels.
const LEFT: f64 = 86.0;
/// Where the longest bar ends, before its figure.
const RIGHT: f64 = 238.0;
/// Height of a bar with the room around it.
const ROW: f64 = 18.0;

#[derive(Template)]
#[template(path = "bullet.html")]
struct Picture {
    title: String,
    height: f64,
    rows: Vec<Row>,
    need: Option<f64>,
}

struct Row {
    label: String,
    figure: String,
    top: f64,
    baseline: f64,
    width: f64,
    end: f64,
}

/// The picture as SVG, with a title that says its figures; empty where nothing can be drawn.
pub(super) fn html(bullet: &Bullet) -> String {
    let figures = bullet.bars.iter().map(|bar| bar.figure).chain(bullet.need);
    let most = figures.filter(|figure| figure.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let width = |figure: f64| ((RIGHT - LEFT) * (figure / most).clamp(0.0, 1.0)).round();
    let bars = bullet.bars.iter().filter(|bar| bar.figure.is_finite());
    let row = |(place, bar): (usize, &crate::model::Bar)| Row {
        label: bar.label.clone(),
        figure: show_number(bar.figure),
        top: place as f64 * ROW + 3.0,
        baseline: place as f64 * ROW + 13.0,
        width: width(bar.figure),
        end: LEFT + width(bar.figure) + 4.0,
    };
    let rows: Vec<Row> = bars.enumerate().map(row).collect();
    let mut said: Vec<String> = rows
        .iter()
        .map(|row| {
            let figure = format!("{} {}", row.figure, bullet.unit);
            say!("verdict-bar-figure", limit = &row.label, figure = figure)
        })
        .collect();
    said.extend(bullet.need.map(|need| {
        let figure = format!("{} {}", show_number(need), bullet.unit);
        say!("verdict-bar-need", figure = figure)
    }));
    let picture = Picture {
        title: said.join("; "),
        height: rows.len() as f64 * ROW,
        need: bullet.need.filter(|need| need.is_finite()).map(|need| LEFT + width(need)),
        rows,
    };
    // The template writes into a String and cannot fail.
    picture.render().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Bar;

    fn bullet(figures: &[f64], need: Option<f64>) -> Bullet {
        let bars = figures.iter().map(|figure| Bar { label: "a<b".to_owned(), figure: *figure });
        Bullet { bars: bars.collect(), need, unit: "IOPS".to_owned() }
    }

    #[test]
    fn the_longest_bar_has_all_the_room_and_others_their_share() {
        let svg = html(&bullet(&[500.0, 1000.0], Some(250.0)));
        assert!(svg.contains("width=\"76\"") && svg.contains("width=\"152\""), "{svg}");
        assert!(svg.contains("x1=\"124\""), "the need is at a quarter: {svg}");
        assert!(svg.contains("500 IOPS") && svg.contains("needed: 250 IOPS"), "{svg}");
        assert!(!svg.contains("a<b"), "labels are escaped: {svg}");
    }

    #[test]
    fn a_need_beyond_every_bar_stays_in_the_picture() {
        let svg = html(&bullet(&[100.0], Some(1000.0)));
        assert!(svg.contains(&format!("x1=\"{RIGHT}\"")) && svg.contains("width=\"15\""), "{svg}");
    }

    #[test]
    fn nothing_that_fits_is_no_picture() {
        assert_eq!(html(&bullet(&[0.0, f64::NAN], None)), "");
        assert_eq!(html(&bullet(&[], Some(f64::INFINITY))), "");
    }
}
