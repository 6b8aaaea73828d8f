//! The loads of a side, and which of them belong together.

use std::collections::{BTreeMap, BTreeSet};

use results::knee::Knee;
use results::{Conditions, Difference, Document, Measurement, Status, StreamConditions};
use workload::{Bytes, Mode};

/// Loads without a partner on both sides are only paired by nearness up to this many combinations.
const NEAREST_MAX: usize = 4000;

/// One run of a load: a measurement or a curve.
#[derive(Debug, Clone)]
pub(crate) enum Run<'a> {
    /// A measurement of one load by itself.
    Single {
        /// The figures of the load.
        measurement: &'a Measurement,
        /// The result that it belongs to.
        document: &'a Document,
    },
    /// A whole curve with its saturation point.
    Curve {
        /// The saturation point of the curve.
        knee: &'a Knee,
        /// The title of the load, without its depth.
        title: &'a str,
        /// A point of the curve, whose conditions stand for all of them.
        point: &'a Measurement,
        /// The measurement at its operating point, where it is known.
        operating: Option<&'a Measurement>,
        /// The result that it belongs to.
        document: &'a Document,
    },
}

impl Run<'_> {
    /// Whether its figures are not known well enough to be compared.
    pub(super) fn is_unsure(&self) -> bool {
        match self {
            Self::Single { measurement, .. } => measurement.is_unsure(),
            Self::Curve { operating, .. } => operating.is_some_and(Measurement::is_unsure),
        }
    }

    fn document(&self) -> &Document {
        match self {
            Self::Single { document, .. } | Self::Curve { document, .. } => document,
        }
    }

    /// The measurement that its conditions are taken from.
    pub(super) fn measurement(&self) -> &Measurement {
        match self {
            Self::Single { measurement, .. } => measurement,
            Self::Curve { point, .. } => point,
        }
    }
}

/// The runs of one load on one side.
#[derive(Debug, Clone)]
pub(crate) struct Group<'a> {
    /// The conditions that all runs of the group share.
    pub conditions: Conditions,
    /// Host and targets: several volumes on one side do not mix.
    place: String,
    /// Whether its side has loads on other places, too.
    of_many: bool,
    /// The runs, in the order of the results.
    pub runs: Vec<Run<'a>>,
}

impl Group<'_> {
    /// The load in words, for tables and verdicts.
    pub(super) fn title(&self) -> String {
        match self.runs.first() {
            Some(Run::Curve { title, .. }) => format!("{title}, the whole curve{}", self.on()),
            Some(Run::Single { measurement, .. }) => {
                title(measurement) + &used(measurement) + &self.on()
            }
            None => String::new(),
        }
    }

    /// On which target, where the side has several.
    fn on(&self) -> String {
        let targets: Vec<&str> = self.place.lines().skip(1).collect();
        if self.of_many { format!(", on {}", targets.join(" + ")) } else { String::new() }
    }

    /// File size and cache of the load.
    pub(super) fn caption(&self) -> String {
        self.runs.first().map(|run| caption(run.measurement())).unwrap_or_default()
    }

    /// Of single measurements, the name of their conditions.
    pub(super) fn conditions_id(&self) -> Option<String> {
        matches!(self.runs.first(), Some(Run::Single { .. })).then(|| self.conditions.id())
    }

    /// The unique names of the runs.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |run: &Run<'_>| match run {
            Run::Single { measurement, .. } => measurement.id.clone(),
            Run::Curve { document, .. } => document.id().to_owned(),
        };
        self.runs.iter().map(name).collect()
    }

    fn engines(&self) -> String {
        let mut names: Vec<&str> =
            self.runs.iter().map(|r| r.measurement().engine.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.join(", ")
    }
}

/// How much of its files a load uses, where that is not all.
fn used(m: &Measurement) -> String {
    let used = m.used_bytes();
    if used == m.file_bytes { String::new() } else { format!(", {} used", Bytes(used)) }
}

/// A load in words, with its threads and depth: `8 KiB random read, 4 threads × depth 8`.
pub(crate) fn title(m: &Measurement) -> String {
    let known = |number: u64| (m.origin.is_none() || number > 0).then_some(number);
    with_depth(&m.workload.title(), known(m.threads), m.depth, known(m.in_flight))
}

/// The words of a load, with its threads and depth as far as they are known.
pub(crate) fn with_depth(
    load: &str,
    threads: Option<u64>,
    depth: Option<u32>,
    in_flight: Option<u64>,
) -> String {
    let threads = match threads {
        None => return load.to_owned(),
        Some(1) => "1 thread".to_owned(),
        Some(n) => format!("{n} threads"),
    };
    match (depth, in_flight) {
        (Some(depth), _) => format!("{load}, {threads} × depth {depth}"),
        (None, Some(in_flight)) => format!("{load}, {threads}, {in_flight} in flight"),
        (None, None) => format!("{load}, {threads}"),
    }
}

fn caption(measurement: &Measurement) -> String {
    let word = |mode: &Mode| match mode {
        Mode::Direct => "direct",
        Mode::Buffered => "buffered",
        Mode::Mapped => "mapped",
    };
    let modes = measurement.workload.modes().iter().map(word).collect::<Vec<_>>().join(" + ");
    let file = match measurement.file_bytes {
        0 if measurement.origin.is_some() => "file size not known".to_owned(),
        bytes => format!("file {}", Bytes(bytes)),
    };
    if modes.is_empty() { file } else { format!("{file}, {modes}") }
}

/// The loads of one side, in the order in which they come in its results.
pub(crate) struct Groups<'a> {
    groups: Vec<Group<'a>>,
}

impl<'a> Groups<'a> {
    pub(crate) fn of(documents: &'a [Document]) -> Self {
        let mut groups = Self { groups: Vec::new() };
        let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
        for document in documents {
            for run in runs(document) {
                let mut conditions = Conditions::of(run.measurement());
                let curve = matches!(run, Run::Curve { .. });
                if curve {
                    without_depth(&mut conditions);
                }
                let place = place(run.document(), run.measurement());
                let kind = if curve { "curve" } else { "" };
                let key = (format!("{kind}{}", conditions.id()), place.clone());
                if let Some(group) = places.get(&key).and_then(|at| groups.groups.get_mut(*at)) {
                    group.runs.push(run);
                } else {
                    places.insert(key, groups.groups.len());
                    groups.groups.push(Group {
                        conditions,
                        place,
                        of_many: false,
                        runs: vec![run],
                    });
                }
            }
        }
        let many: BTreeSet<String> = groups.groups.iter().map(|g| g.place.clone()).collect();
        for group in &mut groups.groups {
            group.of_many = many.len() > 1;
        }
        groups
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Group<'a>> {
        self.groups.iter()
    }
}

/// Whether a measurement has its whole window: only then are its figures those of a run.
pub(crate) fn is_whole(measurement: &Measurement) -> bool {
    measurement.status == Status::Complete && measurement.total.ios > 0
}

fn runs(document: &Document) -> Vec<Run<'_>> {
    let singles = document.measurements().into_iter().filter(|m| is_whole(m));
    let singles = singles.map(|measurement| Run::Single { measurement, document });
    curves(document).into_iter().chain(singles).collect()
}

/// The curves that were seen to their end.
fn curves(document: &Document) -> Vec<Run<'_>> {
    match document {
        Document::Knee(d) => {
            let c = &d.conclusion;
            let measured = |at: usize| d.measurements.get(c.curve.get(at)?.measurement);
            let knee = c.knee.as_ref();
            let run = knee.and_then(|knee| curve(knee, &c.title, measured, document));
            run.into_iter().collect()
        }
        Document::Assessment(d) => {
            let ramps = d.ramps.iter().filter_map(|ramp| Some((ramp, ramp.knee.as_ref()?)));
            ramps
                .filter_map(|(ramp, knee)| {
                    curve(knee, &ramp.title, |at| ramp.points.get(at), document)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// A curve as a run; none that was not seen to its end.
fn curve<'a>(
    knee: &'a Knee,
    title: &'a str,
    measured: impl Fn(usize) -> Option<&'a Measurement>,
    document: &'a Document,
) -> Option<Run<'a>> {
    let operating = measured(knee.operating_point.index);
    let point = measured(0).filter(|_| knee.reached.shows_a_limit())?;
    Some(Run::Curve { knee, title, point, operating, document })
}

/// What a curve has in common is not how deep it went.
fn without_depth(conditions: &mut Conditions) {
    for stream in &mut conditions.streams {
        (stream.threads, stream.depth) = (0, 0);
    }
}

fn place(document: &Document, measurement: &Measurement) -> String {
    let host = document.environment().host.as_ref().map_or("", |h| h.hostname.as_str());
    let targets = measurement.workload.targets.iter().map(|t| t.path.display().to_string());
    std::iter::once(host.to_owned()).chain(targets).collect::<Vec<_>>().join("\n")
}

/// A load that both sides have.
pub(crate) struct Pair<'a> {
    pub a: Group<'a>,
    pub b: Group<'a>,
    /// How the conditions of both sides differ.
    pub unlike: Vec<Difference>,
}

/// Loads that can be compared, and those that only one side has.
pub(crate) struct Pairs<'a> {
    pub paired: Vec<Pair<'a>>,
    pub only_a: Vec<String>,
    pub only_b: Vec<String>,
}

/// Pairs the loads of two sides: those of the same conditions, then those that are nearest to each
/// other.
pub(crate) fn pair<'a>(a: &'a [Document], b: &'a [Document]) -> Pairs<'a> {
    let (mut left, mut right) = (Groups::of(a).groups, Groups::of(b).groups);
    let mut paired = exactly(&mut left, &mut right);
    paired.extend(in_another_file(&mut left, &mut right));
    paired.extend(nearest(&mut left, &mut right));
    let names = |groups: &[Group<'_>]| {
        groups.iter().map(|g| format!("{}, {}", g.title(), g.caption())).collect()
    };
    Pairs { paired, only_a: names(&left), only_b: names(&right) }
}

/// A separate key for curves, which have no depth.
fn key(group: &Group<'_>, of: impl Fn(&mut Conditions)) -> String {
    let mut conditions = group.conditions.clone();
    of(&mut conditions);
    let curve = matches!(group.runs.first(), Some(Run::Curve { .. }));
    format!("{}{}", if curve { "curve " } else { "" }, conditions.id())
}

fn exactly<'a>(left: &mut Vec<Group<'a>>, right: &mut Vec<Group<'a>>) -> Vec<Pair<'a>> {
    take(left, right, |_| {})
}

/// The same load over another size of file, or over another part of it.
fn in_another_file<'a>(left: &mut Vec<Group<'a>>, right: &mut Vec<Group<'a>>) -> Vec<Pair<'a>> {
    take(left, right, |c| {
        c.file_bytes = 0;
        for stream in &mut c.streams {
            (stream.offset_bytes, stream.span_bytes) = (0, None);
        }
    })
}

/// Takes out what has the same key on both sides. Where a side has it on several targets, the same
/// target is taken.
fn take<'a>(
    left: &mut Vec<Group<'a>>,
    right: &mut Vec<Group<'a>>,
    of: impl Fn(&mut Conditions) + Copy,
) -> Vec<Pair<'a>> {
    let mut keys: BTreeMap<String, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (at, group) in left.iter().enumerate() {
        keys.entry(key(group, of)).or_default().0.push(at);
    }
    for (at, group) in right.iter().enumerate() {
        keys.entry(key(group, of)).or_default().1.push(at);
    }
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (of_left, of_right) in keys.values() {
        match (of_left.as_slice(), of_right.as_slice()) {
            ([a], [b]) => chosen.push((*a, *b)),
            _ => {
                for a in of_left {
                    let same = |b: &&usize| left[*a].place == right[**b].place;
                    let mut free = of_right.iter().filter(|b| chosen.iter().all(|(_, c)| c != *b));
                    chosen.extend(free.find(same).map(|b| (*a, *b)));
                }
            }
        }
    }
    extract(left, right, chosen)
}

/// Among the remaining loads, those that differ least.
fn nearest<'a>(left: &mut Vec<Group<'a>>, right: &mut Vec<Group<'a>>) -> Vec<Pair<'a>> {
    if left.len().saturating_mul(right.len()) > NEAREST_MAX {
        return Vec::new();
    }
    let alone = left.len() == 1 && right.len() == 1;
    let mut near: Vec<(u32, usize, usize)> = Vec::new();
    for (i, a) in left.iter().enumerate() {
        for (j, b) in right.iter().enumerate() {
            let distance = distance(a, b);
            // What differs in nothing was not paired because it was on several targets.
            if distance > 0 && (distance < OTHER_LOAD || (alone && distance < OTHER_KIND)) {
                near.push((distance, i, j));
            }
        }
    }
    near.sort_unstable();
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (_, i, j) in near {
        if chosen.iter().all(|(a, b)| *a != i && *b != j) {
            chosen.push((i, j));
        }
    }
    extract(left, right, chosen)
}

/// From this distance on, two loads are not of the same kind: other blocks, another pattern, reads
/// for writes.
const OTHER_LOAD: u32 = 10;
/// A curve has nothing to do with a single measurement.
const OTHER_KIND: u32 = 1000;

fn distance(a: &Group<'_>, b: &Group<'_>) -> u32 {
    let kind = |g: &Group<'_>| matches!(g.runs.first(), Some(Run::Curve { .. }));
    let unknown = |g: &Group<'_>| g.conditions.unknown.is_some();
    if kind(a) != kind(b) || unknown(a) || unknown(b) {
        return OTHER_KIND;
    }
    let what = |s: &StreamConditions| (s.blocks.clone(), s.pattern, s.write_percent);
    let of = |g: &Group<'_>| g.conditions.streams.iter().map(what).collect::<Vec<_>>();
    let other = if of(a) == of(b) { 0 } else { OTHER_LOAD };
    let count = a.conditions.differences(&b.conditions).len();
    other + u32::try_from(count).unwrap_or(OTHER_KIND)
}

/// Moves the chosen ones out of the lists, in the order of the second side.
fn extract<'a>(
    left: &mut Vec<Group<'a>>,
    right: &mut Vec<Group<'a>>,
    mut chosen: Vec<(usize, usize)>,
) -> Vec<Pair<'a>> {
    chosen.sort_unstable_by_key(|(_, b)| *b);
    let pairs = chosen.iter().map(|(a, b)| {
        let (a, b) = (left[*a].clone(), right[*b].clone());
        let mut unlike = a.conditions.differences(&b.conditions);
        unlike.extend(Difference::between("engine", a.engines(), b.engines()));
        Pair { a, b, unlike }
    });
    let pairs = pairs.collect();
    let (used_a, used_b): (BTreeSet<usize>, BTreeSet<usize>) = chosen.into_iter().unzip();
    remove(left, &used_a);
    remove(right, &used_b);
    pairs
}

fn remove(groups: &mut Vec<Group<'_>>, used: &BTreeSet<usize>) {
    let mut at = 0;
    groups.retain(|_| {
        at += 1;
        !used.contains(&(at - 1))
    });
}
