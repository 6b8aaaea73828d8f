//! What a recording keeps of the windows: all of them while there is room, and then fewer and
//! longer ones with the same sums.

use counters::{DiskTally, SystemTally};
use results::{RecordedPoint, RecordedRow};

/// Points that a recording has at most.
const POINTS_MAX: usize = 7200;
/// Devices in all points together, at most. They take some 150 bytes each in the document.
const CELLS_MAX: usize = 100_000;
/// Where devices are many, there are at least so many points.
const POINTS_MIN: usize = 120;

/// A point in a tenth of the memory: a map has room for eleven devices, and most hosts have one or
/// two. Thousands of points are held for days.
#[derive(Debug, Clone)]
struct DensePoint {
    t: f64,
    seconds: f64,
    windows: u32,
    /// Devices by their place among the names of the series.
    disks: Box<[(usize, DiskTally)]>,
    missing: Box<[String]>,
    system: SystemTally,
    rows: Box<[RecordedRow]>,
}

/// The points of a recording, of bounded number.
#[derive(Debug, Clone)]
pub struct Series {
    points: Vec<DensePoint>,
    /// Every device that is in a point.
    names: Vec<String>,
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
        Self {
            points: Vec::new(),
            names: Vec::new(),
            each: 1,
            cells: 0,
            points_max: points_max.max(2),
            cells_max,
        }
    }

    /// Adds a window to the last point, or as a new one.
    pub fn push(&mut self, window: RecordedPoint) -> Change {
        let joined = self.points.pop_if(|last| last.windows < self.each);
        let mut point = window;
        if let Some(last) = joined {
            self.cells -= cells(&last);
            let mut whole = self.whole(&last);
            whole.join(point);
            point = whole;
        }
        let point = self.dense(point);
        self.cells += cells(&point);
        self.points.push(point);
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
        let mut thinned: Vec<DensePoint> = Vec::with_capacity(self.points.len() / 2 + 1);
        for point in std::mem::take(&mut self.points) {
            match thinned.pop_if(|last| last.windows < self.each) {
                Some(last) => {
                    let mut whole = self.whole(&last);
                    whole.join(self.whole(&point));
                    thinned.push(self.dense(whole));
                }
                None => thinned.push(point),
            }
        }
        self.points = thinned;
        self.cells = self.points.iter().map(cells).sum();
    }

    fn dense(&mut self, point: RecordedPoint) -> DensePoint {
        let RecordedPoint { t, seconds, windows, disks, missing, system, rows } = point;
        let mut place = |name: String| {
            self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            })
        };
        DensePoint {
            t,
            seconds,
            windows,
            disks: disks.into_iter().map(|(name, tally)| (place(name), tally)).collect(),
            missing: missing.into(),
            system,
            rows: rows.into(),
        }
    }

    fn whole(&self, point: &DensePoint) -> RecordedPoint {
        let DensePoint { t, seconds, windows, disks, missing, system, rows } = point;
        let name = |place: usize| self.names.get(place).cloned().unwrap_or_default();
        RecordedPoint {
            t: *t,
            seconds: *seconds,
            windows: *windows,
            disks: disks.iter().map(|(place, tally)| (name(*place), *tally)).collect(),
            missing: missing.to_vec(),
            system: *system,
            rows: rows.to_vec(),
        }
    }

    /// How many points there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// The points from this one on, in rising order of time.
    pub fn points_from(&self, first: usize) -> impl Iterator<Item = RecordedPoint> {
        self.points.iter().skip(first).map(|point| self.whole(point))
    }

    /// All points, in rising order of time.
    #[must_use]
    pub fn points(&self) -> Vec<RecordedPoint> {
        self.points_from(0).collect()
    }

    /// Gives up the series for its points.
    #[must_use]
    pub fn into_points(self) -> Vec<RecordedPoint> {
        self.points()
    }
}

fn cells(point: &DensePoint) -> usize {
    1 + point.disks.len() + point.rows.len()
}
