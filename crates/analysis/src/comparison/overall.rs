//! One verdict from the figures of many loads.

use serde::{Deserialize, Serialize};

use super::{Change, LEVEL};
use crate::words::number;

/// A figure of one load that counts for the verdict on all of them.
#[derive(Debug, Clone, Copy)]
pub struct Deciding<'a> {
    /// What the figure is called in a sentence, for example `IOPS`. Figures of one name are judged
    /// together.
    pub name: &'a str,
    /// Whether it may say `same`. Figures in the tail vary too much between runs for that; they may
    /// only say that something became better or worse.
    pub says_same: bool,
    /// How the figure changed from one side to the other.
    pub verdict: Change,
    /// Chance of its runs if the second side were not worse by more than the band.
    pub worse_p: Option<f64>,
    /// Chance of its runs if the second side were not better by more than the band.
    pub better_p: Option<f64>,
}

/// The verdict on all loads together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// Worse where anything is, else better where anything is, same where all is.
    pub verdict: Change,
    /// How the figures were counted, in a sentence for each.
    pub findings: Vec<String>,
}

/// Draws one verdict from the deciding figures.
///
/// Of many figures without any change, some are beyond the band by chance alone. So, among k
/// figures of one name, a change counts if its chance is at most 5 %/k (Bonferroni). The verdict
/// `same` needs no such correction.
#[must_use]
pub fn overall(figures: &[Deciding<'_>]) -> Overall {
    let mut names: Vec<&str> = Vec::new();
    for figure in figures {
        if !names.contains(&figure.name) {
            names.push(figure.name);
        }
    }
    let families: Vec<Family> = names.iter().map(|name| Family::of(name, figures)).collect();
    let any = |of: fn(&Family) -> usize| families.iter().any(|f| of(f) > 0);
    let mut steady = families.iter().filter(|f| f.says_same).peekable();
    let verdict = if any(|f| f.worse) {
        Change::Worse
    } else if any(|f| f.better) {
        Change::Better
    } else if steady.peek().is_some() && steady.all(|f| f.same == f.all) {
        Change::Same
    } else {
        Change::CannotTell
    };
    Overall { verdict, findings: families.iter().map(Family::sentence).collect() }
}

/// All figures of one name, which are judged together.
struct Family<'a> {
    name: &'a str,
    says_same: bool,
    all: usize,
    better: usize,
    same: usize,
    worse: usize,
    /// Better or worse by themselves, but not often enough among so many.
    by_chance: usize,
}

impl<'a> Family<'a> {
    fn of(name: &'a str, figures: &[Deciding<'_>]) -> Self {
        let own: Vec<&Deciding<'_>> = figures.iter().filter(|f| f.name == name).collect();
        let limit = LEVEL / own.len().max(1) as f64;
        let holds = |p: Option<f64>| p.is_some_and(|p| p <= limit);
        let count = |of: &dyn Fn(&Deciding<'_>) -> bool| own.iter().filter(|f| of(f)).count();
        let better = count(&|c| c.verdict == Change::Better && holds(c.better_p));
        let worse = count(&|c| c.verdict == Change::Worse && holds(c.worse_p));
        let changed = count(&|c| matches!(c.verdict, Change::Better | Change::Worse));
        Self {
            name,
            says_same: own.iter().all(|f| f.says_same),
            all: own.len(),
            better,
            worse,
            same: count(&|c| c.verdict == Change::Same),
            by_chance: changed - better - worse,
        }
    }

    fn sentence(&self) -> String {
        let known = self.better + self.same + self.worse + self.by_chance;
        let counts = [
            (self.worse, "worse"),
            (self.better, "better"),
            (self.same, "the same"),
            (self.all - known, "cannot be told"),
        ];
        let mut parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| match (self.all, *count) {
                (1, _) => (*word).to_owned(),
                _ => format!("{word} in {count} of {} loads", self.all),
            })
            .collect();
        if self.by_chance > 0 {
            parts.push(format!(
                "beyond the band in {} more, which chance may do among {}",
                self.by_chance,
                number(self.all as f64)
            ));
        }
        format!("{}: {}", self.name, parts.join(", "))
    }
}
