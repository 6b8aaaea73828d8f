//! A chart of the model as a figure: pictures for wide and narrow pages, a legend that holds the
//! figures for the script.

use super::table::brief;
use crate::chart::{self, aloud_axis, escape, is_heat, looks, picture, series_name, swatch};
use crate::model::{Chart, Scale, Series, Unit};

/// More points of a series are not read out one by one.
const POINTS_MAX: usize = 1500;
/// The most names under a small chart.
const NAMES_MAX: usize = 8;
const WIDE: (f64, f64) = (900.0, 400.0);
const NARROW: (f64, f64) = (360.0, 330.0);
const HALF: (f64, f64) = (560.0, 330.0);
const SMALL: (f64, f64) = (360.0, 260.0);

/// A chart with a heading, in full width.
pub(super) fn whole(chart: &Chart, level: u8) -> String {
    let pictures =
        picture(chart, "wide", WIDE.0, WIDE.1) + &picture(chart, "narrow", NARROW.0, NARROW.1);
    figure(chart, level, "chart", &pictures)
}

/// Charts that are read side by side.
pub(super) fn beside(charts: &[&Chart], level: u8) -> String {
    if charts.is_empty() {
        return String::new();
    }
    let few = charts.len() < 3 || charts.iter().any(|c| has_many_names(c));
    let one = |chart: &&Chart| {
        let pictures = if few {
            picture(chart, "wide", HALF.0, HALF.1) + &picture(chart, "narrow", NARROW.0, NARROW.1)
        } else {
            picture(chart, "", SMALL.0, SMALL.1)
        };
        figure(chart, level, "chart small", &pictures)
    };
    let all: String = charts.iter().map(one).collect();
    format!("<div class=\"charts{}\">{all}</div>\n", if few { " few" } else { "" })
}

/// Whether the words under a chart need more room than a small one has.
fn has_many_names(chart: &Chart) -> bool {
    matches!(&chart.x.scale, Scale::Names(names) if names.len() > NAMES_MAX)
}

fn figure(chart: &Chart, level: u8, class: &str, pictures: &str) -> String {
    let names = match &chart.x.scale {
        Scale::Names(names) => {
            let clean = names.iter().map(|n| escape(&n.replace('\u{A6}', "|")));
            format!(" data-names=\"{}\"", clean.collect::<Vec<_>>().join("\u{A6}"))
        }
        _ => String::new(),
    };
    let caption = match chart::caption(chart) {
        caption if caption.is_empty() => String::new(),
        caption => format!("<figcaption>{}</figcaption>", escape(&caption)),
    };
    format!(
        "<figure class=\"{class}\"><h{level}>{}</h{level}>{}<div class=\"plots\" data-unit=\"{}\" \
         data-title=\"{}\"{names}>{pictures}</div>{caption}</figure>\n",
        escape(&chart.title),
        legend(chart),
        unit(chart.x.unit),
        escape(&chart.x.title)
    )
}

fn legend(chart: &Chart) -> String {
    let looks = looks(chart);
    let first = chart.series.first().map(|s| figures(&thinned(s), 0));
    // The picture names the rows of a heat map; the script reads their figures here.
    let hidden = if is_heat(chart) { " hidden" } else { "" };
    let mut out = format!("<ul class=\"legend\"{hidden}>");
    for (i, (series, look)) in chart.series.iter().zip(looks).enumerate() {
        let points = thinned(series);
        let xs = figures(&points, 0);
        let xs = if i > 0 && first.as_ref() == Some(&xs) {
            String::new()
        } else {
            format!(" data-x=\"{xs}\"")
        };
        let intervals = if series.points.iter().any(|p| p.interval.is_some()) {
            format!(" data-low=\"{}\" data-high=\"{}\"", figures(&points, 2), figures(&points, 3))
        } else {
            String::new()
        };
        out += &format!(
            "<li data-unit=\"{}\" data-side=\"{}\"{xs} data-y=\"{}\"{intervals}><svg \
             class=\"swatch\" viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" \
             aria-hidden=\"true\">{}</svg> <span>{}</span></li>",
            unit(aloud_axis(chart, series).unit),
            chart::side(chart, series),
            figures(&points, 1),
            swatch(series.shape, look),
            escape(&series_name(chart, i))
        );
    }
    out + "</ul>"
}

type Figures = [f64; 4];

/// The points that are read out, each with place, figure and interval.
fn thinned(series: &Series) -> Vec<Figures> {
    let stride = series.points.len().div_ceil(POINTS_MAX).max(1);
    let of = |p: &crate::model::Point| {
        let (low, high) = p.interval.unwrap_or((f64::NAN, f64::NAN));
        [p.x, p.y, low, high]
    };
    series.points.iter().step_by(stride).map(of).collect()
}

/// One of the figures of each point, in a row; a dash for a value that is not a figure.
fn figures(points: &[Figures], index: usize) -> String {
    let one = |p: &Figures| if p[index].is_finite() { brief(p[index]) } else { "-".to_owned() };
    points.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The name of a unit for the script.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Text => "text",
        Unit::Count => "count",
        Unit::Number => "number",
        Unit::Iops => "iops",
        Unit::MibPerS => "mib",
        Unit::Nanoseconds => "ns",
        Unit::Seconds => "s",
        Unit::Bytes => "bytes",
        Unit::Percent => "percent",
        Unit::Moment => "moment",
    }
}
