//! What a recording keeps of the windows: all of them while there is room, and then fewer and
//! longer ones with the same sums.

use results::RecordedPoint;

/// Points that a recording has at most.
const POINTS_MAX: usize = 7200;
/// Devices in all points together, at most. They take some 150 bytes each in the document.
const CELLS_MAX: usize = 100_000;
/// Where devices are many, there are at least so many points.
const POINTS_MIN: usize = 120;

/// The points of a recording, of bounded number.
#[derive(Debug, Clone)]
pub struct Series {
    points: Vec<RecordedPoint>,
    /// Windows that a point holds when it is full.
    each: u32,
    cells: usize,
    points_max: usize,
    cells_max: usize,
}

/// How a window changed the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The last point is new, or holds more than before.
    Last,
    /// All points are others: they were joined.
    All,
}

impl Default for Series {
    fn default() -> Self {
        Self::with_room(POINTS_MAX, CELLS_MAX)
    }
}

impl Series {
    /// A series of at most so many points (at least two), and devices in all of them.
    #[must_use]
    pub fn with_room(points_max: usize, cells_max: usize) -> Self {
        Self { points: Vec::new(), each: 1, cells: 0, points_max: points_max.max(2), cells_max }
    }

    /// Adds a window to the last point, or as a new one.
    pub fn push(&mut self, window: RecordedPoint) -> Change {
        if let Some(last) = self.points.last_mut().filter(|last| last.windows < self.each) {
            let before = cells(last);
            last.join(window);
            self.cells += cells(last) - before;
        } else {
            self.cells += cells(&window);
            self.points.push(window);
        }
        let many = self.cells > self.cells_max && self.points.len() > POINTS_MIN;
        if self.points.len() <= self.points_max && !many {
            return Change::Last;
        }
        self.thin();
        Change::All
    }

    /// Makes one of every two points.
    fn thin(&mut self) {
        self.each = self.each.saturating_mul(2);
        let mut thinned: Vec<RecordedPoint> = Vec::with_capacity(self.points.len() / 2 + 1);
        for point in self.points.drain(..) {
            match thinned.last_mut().filter(|last| last.windows < self.each) {
                Some(last) => last.join(point),
                None => thinned.push(point),
            }
        }
        self.points = thinned;
        self.cells = self.points.iter().map(cells).sum();
    }

    /// The points, in rising order of time.
    #[must_use]
    pub fn points(&self) -> &[RecordedPoint] {
        &self.points
    }

    /// Gives up the series for its points.
    #[must_use]
    pub fn into_points(self) -> Vec<RecordedPoint> {
        self.points
    }
}

fn cells(point: &RecordedPoint) -> usize {
    1 + point.disks.len() + point.rows.len()
}
