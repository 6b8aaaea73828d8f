//! Whether several targets together give the sum of what each gives alone.

use serde::{Deserialize, Serialize};

use crate::words::{grouped, percent};

/// A step that reaches this share of the sum, in percent, scales linearly: measurements repeat no
/// better.
const LINEAR_PERCENT: f64 = 95.0;
/// Below this, a loss could hide in the margin, so nothing is called linear.
const BLURRED_PERCENT: f64 = 75.0;
/// Several targets that together give at most this much more than the fastest of them alone share
/// one bottleneck.
const ONE_ALONE: f64 = 1.15;
/// Least uncertainty of a throughput, in percent: the half width of a run knows nothing of what
/// differs between runs.
const MARGIN_PERCENT: f64 = 2.0;

/// A throughput and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// I/Os or bytes a second; the same unit throughout.
    pub per_s: f64,
    /// Half width of its 95 % interval in percent, where known.
    pub half_width_percent: Option<f64>,
}

impl Rate {
    fn is_usable(&self) -> bool {
        self.per_s.is_finite() && self.per_s > 0.0
    }

    fn margin_percent(&self) -> f64 {
        self.half_width_percent.filter(|h| h.is_finite()).unwrap_or(0.0).max(MARGIN_PERCENT)
    }
}

/// Several targets that were measured at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// Which targets, by their place among those measured alone.
    pub targets: Vec<usize>,
    /// The throughput of all of them.
    pub total: Rate,
    /// What each of them gave of it, in the same order.
    pub each: Vec<f64>,
}

/// Several targets at once, judged against each alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Which targets, by their place among those measured alone.
    pub targets: Vec<usize>,
    /// Sum of what they give alone.
    pub expected_per_s: f64,
    /// What they give together, in the same unit.
    pub measured_per_s: f64,
    /// The measured throughput in percent of the expected one.
    pub efficiency_percent: f64,
    /// How far that may be off by what the measurements scatter, in percentage points.
    pub margin_percent: f64,
    /// False where the efficiency is below 95 % by more than its margin.
    pub linear: bool,
    /// Whether they give no more together than the fastest of them alone.
    pub like_one: bool,
    /// What each target kept of what it gives alone, in percent, in the order of `targets`.
    pub kept_percent: Vec<f64>,
}

/// How a set of targets scales.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Every step in rising number of targets.
    pub steps: Vec<Step>,
    /// Place among the steps of the first that is not linear.
    pub first_non_linear: Option<usize>,
    /// Sets of targets that share a bottleneck, found from pairs that gave no sum.
    pub shared: Vec<Vec<usize>>,
    /// Throughput that no step exceeds although more targets were added; absent unless the last two
    /// steps agree in it.
    pub ceiling_per_s: Option<f64>,
    /// The rule that was applied, with its numbers.
    pub rule: String,
    /// What follows from the steps, sentence by sentence.
    pub findings: Vec<String>,
}

/// Compares what targets give together with the sum of what they give alone.
///
/// `names` are what the sentences call the targets. Steps that name a target that was not measured
/// alone, or hold figures that cannot be, are left out. None without any step of two targets or
/// more.
#[must_use]
pub fn scaling(names: &[String], alone: &[Rate], together: &[Together]) -> Option<Scaling> {
    let mut steps: Vec<Step> = together.iter().filter_map(|t| step(alone, t)).collect();
    steps.sort_by_key(|s| s.targets.len());
    let pairs: Vec<Step> = steps.iter().filter(|s| s.targets.len() == 2).cloned().collect();
    // The first step of each number of targets makes the series; further pairs only show which
    // targets share.
    steps.dedup_by_key(|s| s.targets.len());
    if steps.is_empty() {
        return None;
    }
    let first_non_linear = steps.iter().position(|s| !s.linear);
    let shared = groups(&pairs);
    let ceiling_per_s = ceiling(&steps);
    let findings = Findings { names, steps: &steps, shared: &shared, ceiling_per_s }.all();
    Some(Scaling {
        first_non_linear,
        shared,
        ceiling_per_s,
        rule: format!(
            "Expected is the sum of each target alone under the same load. A step is linear \
             unless it stays below {LINEAR_PERCENT} % of that by more than the half widths of its \
             measurements explain (combined as squares; {MARGIN_PERCENT} % each at least). \
             Targets that together give at most {ONE_ALONE} times what the fastest of them gives \
             alone share a bottleneck."
        ),
        findings,
        steps,
    })
}

/// What a load cannot show that leaves a target alone unsaturated, in a sentence: targets that
/// share a limit add up under it, too. `doubled` is a target with twice as many I/Os in flight.
#[must_use]
pub fn unsaturated(name: &str, alone: Rate, doubled: Rate) -> Option<String> {
    let is_known = alone.is_usable() && doubled.is_usable();
    let ratio = doubled.per_s / alone.per_s;
    (is_known && ratio > ONE_ALONE).then(|| {
        format!(
            "This load does not saturate {name}: with twice as many I/Os in flight it gives {} % \
             more. Targets that share a limit can add up under such a load; repeat with more in \
             flight to see whether they share one.",
            percent(100.0 * (ratio - 1.0))
        )
    })
}

fn step(alone: &[Rate], together: &Together) -> Option<Step> {
    let rates: Option<Vec<&Rate>> = together.targets.iter().map(|t| alone.get(*t)).collect();
    let rates = rates?;
    if rates.len() < 2 || !together.total.is_usable() || !rates.iter().all(|r| r.is_usable()) {
        return None;
    }
    let expected: f64 = rates.iter().map(|r| r.per_s).sum();
    let efficiency = 100.0 * together.total.per_s / expected;
    let of_sum: f64 = rates.iter().map(|r| (r.margin_percent() * r.per_s / expected).powi(2)).sum();
    let relative = (of_sum + together.total.margin_percent().powi(2)).sqrt();
    let margin = relative * efficiency / 100.0;
    let fastest = rates.iter().map(|r| r.per_s).fold(0.0, f64::max);
    let least = rates.iter().map(|r| r.per_s).fold(f64::INFINITY, f64::min);
    if !expected.is_finite() || !efficiency.is_finite() || !margin.is_finite() {
        return None;
    }
    let linear = efficiency + margin >= LINEAR_PERCENT;
    let kept = together.each.iter().zip(&rates).map(|(e, r)| 100.0 * e / r.per_s);
    let kept: Vec<f64> = kept.filter(|k| k.is_finite() && *k >= 0.0).collect();
    Some(Step {
        expected_per_s: expected,
        measured_per_s: together.total.per_s,
        efficiency_percent: efficiency,
        margin_percent: margin,
        linear,
        // A slow target next to a fast one adds too little to tell.
        like_one: !linear
            && together.total.per_s <= ONE_ALONE * fastest
            && fastest + least > ONE_ALONE * fastest,
        kept_percent: if kept.len() == rates.len() { kept } else { Vec::new() },
        targets: together.targets.clone(),
    })
}

/// Targets that are joined by pairs which are not linear.
fn groups(pairs: &[Step]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for pair in pairs.iter().filter(|p| !p.linear) {
        let touched = |g: &mut Vec<usize>| g.iter().any(|target| pair.targets.contains(target));
        let mut joined: Vec<usize> = groups.extract_if(.., touched).flatten().collect();
        joined.extend(&pair.targets);
        joined.sort_unstable();
        joined.dedup();
        groups.push(joined);
    }
    groups.sort();
    groups
}

/// The throughput of the last two steps, where adding targets brought nothing.
fn ceiling(steps: &[Step]) -> Option<f64> {
    let [.., before, last] = steps else { return None };
    let margin = 1.0 + (before.margin_percent + last.margin_percent).max(5.0) / 100.0;
    let (low, high) = (
        before.measured_per_s.min(last.measured_per_s),
        before.measured_per_s.max(last.measured_per_s),
    );
    (!last.linear && high <= low * margin).then_some(high)
}

struct Findings<'a> {
    names: &'a [String],
    steps: &'a [Step],
    shared: &'a [Vec<usize>],
    ceiling_per_s: Option<f64>,
}

impl Findings<'_> {
    fn all(&self) -> Vec<String> {
        let mut findings = vec![self.linearity()];
        let like_one = self.steps.iter().find(|s| s.like_one);
        findings.extend(like_one.map(|s| self.like_one(s)));
        let said = |group: &&Vec<usize>| like_one.is_some_and(|s| s.targets == **group);
        findings.extend(self.shared.iter().filter(|group| !said(group)).map(|group| {
            format!("{} share a bottleneck: in pairs they do not give their sum.", self.list(group))
        }));
        findings.extend(self.unequal());
        if let Some(ceiling) = self.ceiling_per_s {
            findings.push(format!(
                "Together they end at {} a second whatever is added: a limit in what all share \
                 (adapter, path, controller or pool).",
                grouped(ceiling)
            ));
        }
        findings
    }

    fn linearity(&self) -> String {
        let blurred = |s: &&Step| s.efficiency_percent - s.margin_percent < BLURRED_PERCENT;
        match (self.steps.iter().find(|s| !s.linear), self.steps.iter().find(blurred)) {
            (None, Some(step)) => format!(
                "Whether throughput grows in proportion cannot be told: {} targets gave {} ± {} % \
                 of the sum of each alone. Measure longer, or when nobody else uses the storage.",
                step.targets.len(),
                percent(step.efficiency_percent),
                percent(step.margin_percent)
            ),
            (None, None) => {
                let last = &self.steps[self.steps.len() - 1];
                format!(
                    "Throughput grows in proportion up to {} targets: {} ± {} % of the sum of \
                     each alone.",
                    last.targets.len(),
                    percent(last.efficiency_percent),
                    percent(last.margin_percent)
                )
            }
            (Some(step), _) => format!(
                "The first step that does not grow in proportion is {} targets: {} ± {} % of the \
                 sum of each alone.",
                step.targets.len(),
                percent(step.efficiency_percent),
                percent(step.margin_percent)
            ),
        }
    }

    fn like_one(&self, step: &Step) -> String {
        format!(
            "{} together give what one of them gives alone: they share the same spindles, flash \
             or path.",
            self.list(&step.targets)
        )
    }

    /// In a step that is not linear, targets that kept all of what they give alone while others did
    /// not.
    fn unequal(&self) -> Option<String> {
        let step = self.steps.iter().find(|s| !s.linear && !s.kept_percent.is_empty())?;
        let limit = LINEAR_PERCENT - step.margin_percent;
        let of = |lost: bool| -> Vec<usize> {
            let pairs = step.targets.iter().zip(&step.kept_percent);
            pairs.filter(|(_, kept)| (**kept < limit) == lost).map(|(t, _)| *t).collect()
        };
        let (lost, kept) = (of(true), of(false));
        (!lost.is_empty() && !kept.is_empty()).then(|| {
            format!(
                "With {} targets, {} gave less than alone while {} did not: look at what the \
                 former share.",
                step.targets.len(),
                self.list(&lost),
                self.list(&kept)
            )
        })
    }

    /// Lists targets as `a, b and c`.
    fn list(&self, targets: &[usize]) -> String {
        let name = |t: &usize| self.names.get(*t).cloned().unwrap_or_else(|| format!("target {t}"));
        let names: Vec<String> = targets.iter().map(name).collect();
        match names.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => names.concat(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rate(per_s: f64) -> Rate {
        Rate { per_s, half_width_percent: Some(1.0) }
    }

    fn of(alone: &[f64], together: &[(&[usize], &[f64])]) -> Scaling {
        let names: Vec<String> = (0..alone.len()).map(|i| format!("/data{i}")).collect();
        let alone: Vec<Rate> = alone.iter().map(|r| rate(*r)).collect();
        let together: Vec<Together> = together
            .iter()
            .map(|(targets, each)| Together {
                targets: targets.to_vec(),
                total: rate(each.iter().sum()),
                each: each.to_vec(),
            })
            .collect();
        scaling(&names, &alone, &together).unwrap()
    }

    #[test]
    fn targets_of_their_own_scale_linearly() {
        let scaling = of(
            &[1000.0; 4],
            &[(&[0, 1], &[990.0, 1005.0]), (&[0, 1, 2, 3], &[985.0, 990.0, 1000.0, 980.0])],
        );
        assert_eq!(scaling.first_non_linear, None);
        assert_eq!((scaling.shared.len(), scaling.ceiling_per_s), (0, None));
        assert!(scaling.findings[0].contains("up to 4 targets: 99"), "{:?}", scaling.findings);
    }

    #[test]
    fn two_volumes_that_give_what_one_gives_share_their_spindles() {
        let scaling = of(&[1000.0, 950.0], &[(&[0, 1], &[510.0, 500.0])]);
        assert_eq!(scaling.first_non_linear, Some(0));
        assert_eq!(scaling.shared, [[0, 1]]);
        assert!(scaling.findings[1].contains("/data0 and /data1 together give what one"));
    }

    #[test]
    fn the_first_step_that_does_not_scale_is_named_with_those_that_lose() {
        let scaling = of(
            &[1000.0; 4],
            &[(&[0, 1], &[1000.0, 1000.0]), (&[0, 1, 2, 3], &[1000.0, 995.0, 500.0, 505.0])],
        );
        assert_eq!(scaling.first_non_linear, Some(1));
        assert!((scaling.steps[1].efficiency_percent - 75.0).abs() < 0.01);
        let text = scaling.findings.join(" ");
        assert!(text.contains("/data2 and /data3 gave less than alone while /data0 and /data1"));
    }

    #[test]
    fn pairs_tell_who_shares() {
        let half: &[f64] = &[500.0, 500.0];
        let whole: &[f64] = &[1000.0, 1000.0];
        let pairs: [(&[usize], &[f64]); 6] = [
            (&[0, 1], whole),
            (&[0, 2], half),
            (&[0, 3], whole),
            (&[1, 2], whole),
            (&[1, 3], half),
            (&[2, 3], whole),
        ];
        let scaling = of(&[1000.0; 4], &pairs);
        assert_eq!(scaling.shared, [[0, 2], [1, 3]]);
        assert_eq!(scaling.steps.len(), 1, "only the first pair is a step of the series");
    }

    #[test]
    fn a_limit_of_the_path_is_a_ceiling() {
        let scaling = of(
            &[400.0; 4],
            &[(&[0, 1], &[400.0, 400.0]), (&[0, 1, 2], &[300.0; 3]), (&[0, 1, 2, 3], &[225.0; 4])],
        );
        assert_eq!(scaling.first_non_linear, Some(1));
        assert!((scaling.ceiling_per_s.unwrap() - 900.0).abs() < 1e-9);
        assert!(!scaling.steps[2].like_one, "they give twice what one gives");
    }

    #[test]
    fn scatter_is_not_taken_for_a_loss() {
        let noisy = Rate { per_s: 1000.0, half_width_percent: Some(10.0) };
        let total = Rate { per_s: 1800.0, half_width_percent: Some(10.0) };
        let together = Together { targets: vec![0, 1], total, each: Vec::new() };
        let scaling = scaling(&[], &[noisy; 2], &[together]).unwrap();
        assert!(scaling.steps[0].linear, "90 % is within 11 % of linear");
    }

    /// Volumes at a fortieth of their load "grow in proportion", whatever they share.
    #[test]
    fn a_load_that_saturates_nothing_shows_no_sharing() {
        let said = unsaturated("/data0", rate(1000.0), rate(1990.0)).unwrap();
        assert!(said.contains("does not saturate /data0") && said.contains("99 % more"), "{said}");
        assert_eq!(unsaturated("/data0", rate(1000.0), rate(1100.0)), None);
        assert_eq!(unsaturated("/data0", rate(0.0), rate(1100.0)), None);
    }

    /// The margin of two runs of 0.1 % was 0.1 %, and held the truth in 13 of 60 cases.
    #[test]
    fn no_margin_is_less_than_what_differs_between_runs() {
        let sure = Rate { per_s: 1000.0, half_width_percent: Some(0.1) };
        let total = Rate { per_s: 2000.0, half_width_percent: Some(0.1) };
        let together = Together { targets: vec![0, 1], total, each: Vec::new() };
        let margin = scaling(&[], &[sure; 2], &[together]).unwrap().steps[0].margin_percent;
        assert!((2.0..2.6).contains(&margin), "{margin}");
    }

    /// 71 ± 76 % was said to grow in proportion.
    #[test]
    fn a_margin_that_hides_a_loss_leaves_it_open() {
        let noisy = Rate { per_s: 1000.0, half_width_percent: Some(80.0) };
        let total = Rate { per_s: 1420.0, half_width_percent: Some(80.0) };
        let together = Together { targets: vec![0, 1], total, each: Vec::new() };
        let scaling = scaling(&[], &[noisy; 2], &[together]).unwrap();
        assert!(scaling.findings[0].contains("cannot be told"), "{:?}", scaling.findings);
    }

    proptest! {
        #[test]
        fn no_input_panics_and_every_figure_is_finite(
            alone in prop::collection::vec((any::<f64>(), any::<Option<f64>>()), 0..5),
            together in prop::collection::vec(
                (prop::collection::vec(0usize..6, 0..5), any::<f64>(),
                    prop::collection::vec(any::<f64>(), 0..5)),
                0..5,
            ),
        ) {
            let rate = |per_s, half_width_percent| Rate { per_s, half_width_percent };
            let alone: Vec<Rate> = alone.into_iter().map(|(r, h)| rate(r, h)).collect();
            let together: Vec<Together> = together
                .into_iter()
                .map(|(targets, total, each)| Together { targets, total: rate(total, None), each })
                .collect();
            if let Some(found) = scaling(&[], &alone, &together) {
                let text = serde_json::to_string(&found).unwrap();
                prop_assert_eq!(serde_json::from_str::<Scaling>(&text).unwrap(), found);
            }
        }
    }
}
