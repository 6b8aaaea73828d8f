//! Files with holes, and files that become shorter and longer.

use std::io;

use engine::{Action, Filling, PreparedTarget, TargetPlan};
use integrity::{Change, Plan, Resize, Shape};

use crate::exit::Failure;

/// The least that a size changes by, and what sizes are multiples of.
const UNIT: u64 = 4096;
/// A file has so many steps, and begins with half of them.
const STEPS: u64 = 64;

/// How a file is to begin, and how its size is to change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// It is not written before it is used.
    pub sparse: bool,
    /// What it begins with and what it changes by, in bytes; none where it keeps its size.
    pub resize: Option<(u64, u64)>,
}

impl Wanted {
    /// What a file of this size is to be that may have all of it.
    pub(super) fn of(plan: &Plan, sparse: bool, size_bytes: u64) -> Self {
        let unit = u64::from(plan.page_bytes).max(UNIT);
        let whole = |bytes: u64| (bytes / unit).max(1) * unit;
        let resize = plan.resizing.map(|_| (whole(size_bytes / 2), whole(size_bytes / STEPS)));
        Self { sparse, resize }
    }

    fn is_usual(self) -> bool {
        self == Self::default()
    }

    /// What becomes of its content before the run.
    pub(super) fn filling(self, usual: Filling) -> Filling {
        if self.sparse && usual == Filling::Caller { Filling::Sparse } else { usual }
    }

    /// The same for a run.
    pub(super) fn shape(self, target: &PreparedTarget) -> Result<Shape, Failure> {
        let Some((begin_bytes, step_bytes)) = self.resize else {
            return Ok(Shape { sparse: self.sparse, resize: None });
        };
        let path = target.path().display();
        let cannot = |why: String| Failure::CannotRun(format!("`{path}`: {why}"));
        let resizer = target.resizer().map_err(|error| cannot(error.to_string()))?;
        let resizer = resizer.ok_or_else(|| cannot(NOT_OURS.to_owned()))?;
        let reserve = !self.sparse;
        let change = Change::new(move |bytes| -> io::Result<()> { resizer.resize(bytes, reserve) });
        Ok(Shape { sparse: self.sparse, resize: Some(Resize { begin_bytes, step_bytes, change }) })
    }

    /// Whether every page of the file was written when the run is over.
    pub(super) fn ends_whole(self) -> bool {
        self.is_usual()
    }
}

const NOT_OURS: &str =
    "only a test file of iosonde can have holes or change its size; name a directory";

/// What is unusual about the files, in words.
pub(super) fn words(wanted: &[Wanted]) -> &'static str {
    let sparse = wanted.iter().any(|w| w.sparse);
    let resize = wanted.iter().any(|w| w.resize.is_some());
    match (sparse, resize) {
        (false, false) => "",
        (true, false) => " in files that begin as holes",
        (false, true) => " at most in files that become shorter and longer",
        (true, true) => " at most in files that begin as holes and become shorter and longer",
    }
}

/// Refuses holes and changing sizes for what is not made by iosonde.
pub(crate) fn check(plans: &[TargetPlan], wanted: &[Wanted]) -> Result<(), Failure> {
    let ours =
        |plan: &TargetPlan| matches!(plan.action, Action::Make | Action::Refill | Action::Reuse);
    let foreign = plans.iter().zip(wanted).find(|(plan, wanted)| !wanted.is_usual() && !ours(plan));
    match foreign {
        None => Ok(()),
        Some((plan, _)) => {
            Err(Failure::WrongUsage(format!("`{}`: {NOT_OURS}", plan.path.display())))
        }
    }
}
