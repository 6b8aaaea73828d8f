//! Templates: targets of a profile whose names the command line gives.

use super::Profile;
use crate::diskspd::rules::{At, Place, Rule};

impl Profile {
    /// Puts the targets of the command line in the place of `*1`, `*2`, …; what does not fit is
    /// returned.
    ///
    /// Without targets nothing is replaced, and nothing is wrong.
    #[must_use]
    pub fn substitute(&mut self, substitutes: &[String]) -> Vec<At<Rule>> {
        let mut wrong = Vec::new();
        if substitutes.is_empty() {
            return wrong;
        }
        let mut used = vec![false; substitutes.len()];
        for (index, span) in self.time_spans.iter_mut().enumerate() {
            for target in span.targets.iter_mut().filter(|target| target.is_template()) {
                let number =
                    target.path.strip_prefix('*').filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
                let number =
                    number.and_then(|n| n.parse::<usize>().ok()).and_then(|n| n.checked_sub(1));
                if let Some((path, is_used)) =
                    number.and_then(|n| substitutes.get(n).zip(used.get_mut(n)))
                {
                    *is_used = true;
                    target.path.clone_from(path);
                } else {
                    let target = Some(target.path.clone());
                    let place = Place { time_span: index + 1, target };
                    wrong.push(At { what: Rule::TemplateReference, place });
                }
            }
        }
        // A wrong number leaves a target over, which is not a second fault.
        if !wrong.is_empty() {
            return wrong;
        }
        for (path, _) in substitutes.iter().zip(used).filter(|(_, is_used)| !is_used) {
            let place = Place { time_span: 0, target: Some(path.clone()) };
            wrong.push(At { what: Rule::SubstituteUnused, place });
        }
        wrong
    }
}
