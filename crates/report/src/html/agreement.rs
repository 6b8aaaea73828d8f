//! What the kernel counted beside what was measured, pattern by pattern.

use analysis::agreement::Figure;
use results::{Assessment, PatternResult};

use crate::agreement::{Line, line};
use crate::words;

/// One direction of one pattern.
pub(crate) struct Row {
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) device: String,
    pub(crate) kind: &'static str,
    /// I/Os, bytes and latency; none where one of the two observers has no figure.
    pub(crate) parts: [Option<Line>; 3],
    pub(crate) allowed: String,
}

const READ: [Figure; 3] = [Figure::ReadIops, Figure::ReadBytesPerS, Figure::ReadLatencyNs];
const WRITE: [Figure; 3] = [Figure::WriteIops, Figure::WriteBytesPerS, Figure::WriteLatencyNs];

pub(crate) fn rows(a: &Assessment) -> Vec<Row> {
    let directions = [("read", READ), ("write", WRITE)];
    let of = |p| directions.into_iter().filter_map(move |(kind, figures)| row(p, kind, figures));
    a.patterns.iter().flat_map(of).collect()
}

fn row(p: &PatternResult, kind: &'static str, figures: [Figure; 3]) -> Option<Row> {
    let kernel = p.measurement.kernel.as_ref()?;
    let agreement = kernel.agreement.as_ref()?;
    let parts = figures.map(|f| agreement.rows.iter().find(|row| row.figure == f).map(line));
    let allowed = parts.iter().flatten().next()?.allowed.clone();
    Some(Row {
        title: words::clean(&p.title),
        caption: words::caption(&p.measurement),
        device: words::clean(&kernel.device),
        kind,
        parts,
        allowed,
    })
}

/// The patterns in which the two differ, each with what that looks like.
pub(crate) fn differing(a: &Assessment) -> Vec<(String, String)> {
    let differs = |p: &PatternResult| {
        let agreement = p.measurement.kernel.as_ref()?.agreement.as_ref()?;
        let sentence = words::clean(&agreement.explanation);
        (!agreement.within_tolerance).then(|| (words::clean(&p.title), sentence))
    };
    a.patterns.iter().filter_map(differs).collect()
}
