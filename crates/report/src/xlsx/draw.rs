//! Charts as Excel draws them: from cells, so that they can be changed, copied and asked for their
//! figures.

use rust_xlsxwriter::{
    Chart, ChartAxis, ChartAxisCrossing, ChartDataLabel, ChartDataLabelPosition, ChartEmptyCells,
    ChartErrorBars, ChartErrorBarsDirection, ChartErrorBarsType, ChartFont, ChartFormat,
    ChartLegendPosition, ChartLine, ChartLineDashType, ChartMarker, ChartMarkerType, ChartPoint,
    ChartSeries, ChartSolidFill, ChartType, Color,
};

use super::axes::format;
use super::cells::{alternative, heading, text};
use super::data::{LineRanges, MarkRanges, Ranges};
use super::plot::{At, Figure, Line, Plot, Ruler};
use crate::model::Shape;

/// Size of a chart in pixels.
pub(crate) const WIDTH: u32 = 760;
pub(crate) const HEIGHT: u32 = 440;

/// Colours that colour-blind readers can distinguish; a sign at each point helps.
const COLOURS: [u32; 12] = [
    0x00_72_B2, 0xD5_5E_00, 0x00_9E_73, 0xCC_79_A7, 0xB8_86_0B, 0x56_B4_E9, 0x40_40_40, 0x7B_3F_9E,
    0x8C_56_4B, 0x17_7E_89, 0xA6_1C_3C, 0x6B_8E_23,
];
const MARKERS: [ChartMarkerType; 6] = [
    ChartMarkerType::Circle,
    ChartMarkerType::Square,
    ChartMarkerType::Triangle,
    ChartMarkerType::Diamond,
    ChartMarkerType::X,
    ChartMarkerType::Star,
];
const GREY: u32 = 0x6E_6E_6E;
const GRID: u32 = 0xD9_D9_D9;

/// Points above which a line is drawn without a sign at each.
const SIGNED: usize = 60;

/// The chart of a plot whose figures are in these ranges.
pub(crate) fn chart(plot: &Plot<'_>, ranges: &Ranges) -> Chart {
    let is_column = |line: &Line<'_>| line.series.shape == Shape::Columns;
    let columns = plot.lines.iter().any(is_column);
    let mut chart = Chart::new(match (plot.named, columns) {
        (false, _) => ChartType::ScatterStraightWithMarkers,
        (true, true) => ChartType::Column,
        (true, false) => ChartType::Line,
    });
    // Columns and lines are two charts of Excel in one frame.
    let mut over = Chart::new(ChartType::Line);
    for (number, (line, cells)) in plot.lines.iter().zip(&ranges.lines).enumerate() {
        let series = series(plot, line, cells, ranges, number);
        if columns && !is_column(line) {
            over.push_series(&series);
        } else {
            chart.push_series(&series);
        }
    }
    for (mark, cells) in plot.marks.iter().zip(&ranges.marks) {
        let series = vertical(plot, mark.0, cells, ranges);
        if columns {
            over.push_series(&series);
        } else {
            chart.push_series(&series);
        }
    }
    let any_over = !plot.marks.is_empty() || plot.lines.iter().any(|line| !is_column(line));
    if columns && any_over {
        chart.combine(&over);
    }
    finish(&mut chart, plot);
    chart
}

/// Sets title, axes, legend and size.
fn finish(chart: &mut Chart, plot: &Plot<'_>) {
    let of = plot.chart;
    let between = if of.title.is_empty() || of.caption.is_empty() { "" } else { " – " };
    chart.title().set_name(heading(&format!("{}{between}{}", of.title, of.caption)).as_str());
    chart.title().set_font(ChartFont::new().set_size(11).set_bold());
    let described = alternative(&format!("{}. {}", of.title, of.caption));
    chart.set_name(text(&of.key)).set_alt_text(described);
    chart.set_width(WIDTH).set_height(HEIGHT);
    chart.show_empty_cells_as(ChartEmptyCells::Connected).show_hidden_data();

    horizontal(chart.x_axis(), plot);
    ruled(chart.y_axis(), &plot.left);
    chart.y_axis().set_crossing(ChartAxisCrossing::Min);
    let grid = ChartLine::new().set_color(Color::RGB(GRID)).clone();
    chart.y_axis().set_major_gridlines(true).set_major_gridlines_line(&grid);
    if let Some(right) = &plot.right {
        ruled(chart.y2_axis(), right);
        chart.y2_axis().set_major_gridlines(false);
        if !plot.named {
            // The hidden axis of the series on the right has to be the same as the one that is
            // seen.
            scale(chart.x2_axis(), &plot.x);
        }
    }
    if plot.lines.len() > 1 {
        let all = plot.lines.len() + plot.marks.len();
        // A mark has its name next to it.
        let marks: Vec<usize> = (plot.lines.len()..all).collect();
        chart.legend().set_position(ChartLegendPosition::Bottom).delete_entries(&marks);
    } else {
        chart.legend().set_hidden();
    }
}

/// Sets the name of the horizontal axis. Without names of places, it also sets scale and number
/// format.
fn horizontal(axis: &mut ChartAxis, plot: &Plot<'_>) {
    axis.set_name(heading(&plot.x.title).as_str());
    axis.set_crossing(ChartAxisCrossing::Min);
    if plot.named {
        let long = plot.places.len() > 8;
        if long {
            axis.set_font(ChartFont::new().set_rotation(-45));
        }
        return;
    }
    scale(axis, &plot.x);
    let bounds = &plot.x.bounds;
    axis.set_num_format(format(bounds, plot.x.shown.is_percent(), plot.x.shown.is_moment()));
}

/// Sets name, scale and number format of a vertical axis.
fn ruled(axis: &mut ChartAxis, ruler: &Ruler) {
    axis.set_name(heading(&ruler.title).as_str());
    scale(axis, ruler);
    let (percent, moment) = (ruler.shown.is_percent(), ruler.shown.is_moment());
    axis.set_num_format(format(&ruler.bounds, percent, moment));
}

/// Where an axis begins and ends, and its ticks.
fn scale(axis: &mut ChartAxis, ruler: &Ruler) {
    let bounds = &ruler.bounds;
    axis.set_min(bounds.min).set_max(bounds.max);
    if let Some(base) = bounds.base {
        axis.set_log_base(base);
    }
    if let Some(step) = bounds.step {
        axis.set_major_unit(step);
    }
}

/// A series with its name, figures and looks.
fn series(
    plot: &Plot<'_>,
    line: &Line<'_>,
    cells: &LineRanges,
    ranges: &Ranges,
    number: usize,
) -> ChartSeries {
    let colour = Color::RGB(COLOURS.get(number % COLOURS.len()).copied().unwrap_or(GREY));
    let mut series = ChartSeries::new();
    series
        .set_name(&cells.name)
        .set_categories(&ranges.places)
        .set_values(&cells.figures)
        .set_secondary_axis(line.right);
    let mut stroke = ChartLine::new();
    stroke.set_color(colour).set_width(2.0);
    let mut marker = ChartMarker::new();
    let kind = MARKERS.get(number % MARKERS.len()).copied().unwrap_or(ChartMarkerType::Circle);
    let fill = ChartSolidFill::new().set_color(colour).clone();
    let edge = ChartLine::new().set_color(colour).clone();
    let bare = match line.series.shape {
        Shape::Line | Shape::Cells => plot.places.len() > SIGNED,
        Shape::Dashed => true,
        Shape::Columns | Shape::Dots => false,
    };
    if bare {
        marker.set_none();
    } else {
        marker.set_type(kind).set_size(6);
        marker.set_format(ChartFormat::new().set_solid_fill(&fill).set_border(&edge));
    }
    match line.series.shape {
        Shape::Columns => {
            series.set_format(ChartFormat::new().set_solid_fill(&fill)).set_gap(60).set_overlap(0);
        }
        // A spreadsheet has no heat map: each row is a line.
        Shape::Line | Shape::Cells => {
            series.set_format(ChartFormat::new().set_line(&stroke)).set_marker(&marker);
        }
        Shape::Dashed => {
            stroke.set_dash_type(ChartLineDashType::Dash);
            series.set_format(ChartFormat::new().set_line(&stroke)).set_marker(&marker);
        }
        Shape::Dots => {
            series.set_format(ChartFormat::new().set_no_line()).set_marker(&marker);
        }
    }
    grey(&mut series, line);
    if let Some((below, above)) = &cells.spread {
        let mut reach = ChartErrorBars::new();
        reach.set_type(ChartErrorBarsType::Custom(above.clone(), below.clone()));
        let thin = ChartLine::new().set_color(Color::RGB(GREY)).set_width(1.0).clone();
        reach.set_format(ChartFormat::new().set_line(&thin));
        series.set_y_error_bars(&reach);
    }
    series
}

/// Figures that are hardly known are grey and hollow.
fn grey(series: &mut ChartSeries, line: &Line<'_>) {
    let is_unsure = |figure: &Option<Figure>| figure.is_some_and(|figure| figure.unsure);
    if !line.figures.iter().any(is_unsure) {
        return;
    }
    let edge = ChartLine::new().set_color(Color::RGB(GREY)).clone();
    let inner = ChartSolidFill::new().set_color(Color::RGB(GRID)).clone();
    let look = ChartFormat::new().set_border(&edge).set_solid_fill(&inner).clone();
    let point = |figure| {
        let point = ChartPoint::new();
        if is_unsure(figure) { point.set_format(&mut look.clone()) } else { point }
    };
    let points: Vec<ChartPoint> = line.figures.iter().map(point).collect();
    series.set_points(&points);
}

/// A vertical line with a word to it.
fn vertical(plot: &Plot<'_>, at: At, cells: &MarkRanges, ranges: &Ranges) -> ChartSeries {
    let mut stroke = ChartLine::new();
    stroke.set_color(Color::RGB(GREY)).set_width(1.25).set_dash_type(ChartLineDashType::SquareDot);
    let mut series = ChartSeries::new();
    series.set_name(&cells.name).set_values(&cells.y);
    series.set_secondary_axis(plot.right.is_some());
    series.set_marker(ChartMarker::new().set_none());
    let late = match at {
        At::Row(row) => row * 2 > plot.places.len(),
        At::X(x) => x > plot.x.bounds.between(0.6),
    };
    let side = if late { ChartDataLabelPosition::Left } else { ChartDataLabelPosition::Right };
    let mut label = ChartDataLabel::new();
    label.show_series_name().set_position(side);
    label.set_font(ChartFont::new().set_size(9).set_color(Color::RGB(GREY)));
    series.set_data_label(&label);
    let hidden = ChartDataLabel::new().set_hidden().to_custom();
    if let At::Row(at) = at {
        // A bar from the figure at the top down to the axis.
        let mut bar = ChartErrorBars::new();
        bar.set_type(ChartErrorBarsType::Percentage(100.0));
        bar.set_direction(ChartErrorBarsDirection::Minus).set_end_cap(false);
        bar.set_format(ChartFormat::new().set_line(&stroke));
        series.set_categories(&ranges.places).set_y_error_bars(&bar);
        series.set_format(ChartFormat::new().set_no_line());
        // All but the one with the mark are empty.
        let mut labels = vec![hidden; plot.places.len()];
        if let Some(shown) = labels.get_mut(at) {
            *shown = label.to_custom();
        }
        series.set_custom_data_labels(&labels);
    } else {
        series.set_categories(&cells.x).set_format(ChartFormat::new().set_line(&stroke));
        series.set_custom_data_labels(&[hidden.clone(), label.to_custom(), hidden]);
    }
    series
}
