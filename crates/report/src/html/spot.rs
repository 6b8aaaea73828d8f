//! Where a label disturbs least: beside a mark, off the lines of the chart.

/// A line of the chart in pixels, from left to right.
pub(crate) type Course = Vec<(f32, f32)>;

/// The plot in pixels.
#[derive(Clone, Copy)]
pub(crate) struct Plot {
    pub(crate) left: f32,
    pub(crate) right: f32,
    pub(crate) top: f32,
    pub(crate) bottom: f32,
}

/// A place for two lines of text: where they begin or end, and the baseline of the first.
pub(crate) struct Spot {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// `start` or `end`, as SVG has it.
    pub(crate) anchor: &'static str,
}

/// From the mark to the text.
const GAP: f32 = 7.0;
/// Above the first baseline, and below it to the end of the second line.
const ABOVE: f32 = 14.0;
const BELOW: f32 = 22.0;

/// The height of a line at a place; none beside its ends.
fn height(course: &[(f32, f32)], x: f32) -> Option<f32> {
    let (from, to) =
        course.iter().zip(course.iter().skip(1)).find(|(a, b)| (a.0..=b.0).contains(&x))?;
    let width = to.0 - from.0;
    let share = if width > 0.0 { (x - from.0) / width } else { 0.0 };
    Some(from.1 + share * (to.1 - from.1))
}

/// How much of a label would lie on lines.
fn covered(courses: &[Course], left: f32, width: f32, y: f32) -> usize {
    let steps: u8 = 12;
    let on = |course: &Course, x: f32| {
        height(course, x).is_some_and(|line| (y - ABOVE..=y + BELOW).contains(&line))
    };
    let xs = (0..=steps).map(|i| left + width * f32::from(i) / f32::from(steps));
    xs.map(|x| courses.iter().filter(|c| on(c, x)).count()).sum()
}

/// The best place for a label of this width at a vertical mark: right of it where nothing speaks against that.
pub(crate) fn beside(mark: f32, width: f32, plot: Plot, courses: &[Course]) -> Spot {
    let tall = plot.bottom - plot.top;
    let mut best: Option<(usize, Spot)> = None;
    for (anchor, x, left) in
        [("start", mark + GAP, mark + GAP), ("end", mark - GAP, mark - GAP - width)]
    {
        let outside = left < plot.left || left + width > plot.right;
        for step in [4u8, 5, 3, 6, 7, 2, 8] {
            let y = plot.top + tall * f32::from(step) / 10.0;
            // Out of the plot is worse than on every line.
            let cost = covered(courses, left, width, y) + if outside { 1000 } else { 0 };
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, Spot { x, y, anchor }));
            }
        }
    }
    best.map_or(Spot { x: mark + GAP, y: plot.top + tall * 0.4, anchor: "start" }, |(_, spot)| spot)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Plot = Plot { left: 0.0, right: 500.0, top: 0.0, bottom: 300.0 };

    #[test]
    fn an_empty_chart_has_the_label_right_of_its_mark() {
        let spot = beside(100.0, 200.0, PLOT, &[]);
        assert_eq!(spot.anchor, "start");
        assert!(spot.x > 100.0);
    }

    #[test]
    fn near_the_right_edge_it_goes_left() {
        assert_eq!(beside(450.0, 200.0, PLOT, &[]).anchor, "end");
    }

    #[test]
    fn it_keeps_off_a_line() {
        let line = vec![(0.0, 120.0), (500.0, 120.0)];
        let spot = beside(100.0, 200.0, PLOT, &[line]);
        assert!(!(spot.y - ABOVE..=spot.y + BELOW).contains(&120.0), "{}", spot.y);
    }
}
