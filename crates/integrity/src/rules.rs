//! The rules that a plan keeps.

use thiserror::Error;

use crate::page::SECTOR_BYTES;
use crate::plan::{Plan, Resizing};

/// The most pages of one I/O.
const IO_PAGES_MAX: u32 = 4096;
/// The longest record of the log.
const LOG_RECORD_BYTES_MAX: u32 = 64_000;
/// The most users of a kind, and the most threads.
const USERS_MAX: u32 = 65_536;

/// A rule that a plan breaks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{field} is {value}: {rule}")]
pub struct PlanError {
    /// Name of the field that breaks a rule.
    pub field: &'static str,
    /// The value that is not allowed.
    pub value: String,
    /// The rule that it breaks.
    pub rule: &'static str,
}

/// Collects the errors of all rules.
struct Violations(Vec<PlanError>);

impl Violations {
    fn check(
        &mut self,
        holds: bool,
        field: &'static str,
        value: &dyn ToString,
        rule: &'static str,
    ) {
        if !holds {
            self.0.push(PlanError { field, value: value.to_string(), rule });
        }
    }
}

impl Plan {
    /// Every rule that the plan breaks.
    #[must_use]
    pub fn violations(&self) -> Vec<PlanError> {
        let mut found = Violations(Vec::new());
        self.check_sizes(&mut found);
        self.check_users(&mut found);
        self.check_pages(&mut found);
        self.check_shares(&mut found);
        self.check_resizing(&mut found);
        found.0
    }

    fn check_sizes(&self, found: &mut Violations) {
        let page = self.page_bytes as usize;
        let ok = page.is_multiple_of(SECTOR_BYTES) && (SECTOR_BYTES..=65_536).contains(&page);
        let rule = "a page is a multiple of 512 bytes, at most 64 KiB";
        found.check(ok, "page_bytes", &self.page_bytes, rule);
        for (field, value) in [
            ("threads", self.threads),
            ("depth", self.depth),
            ("dirty_pages", self.dirty_pages),
            ("audit.cycles", self.audit.cycles),
            ("read_ahead.cycles", self.read_ahead.cycles),
            ("bulk.cycles", self.bulk.cycles),
            ("tables.table_pages", self.tables.table_pages),
            ("tables.commits", self.tables.commits),
            ("tables.merge_after", self.tables.merge_after),
        ] {
            found.check(value > 0, field, &value, "it must be at least 1");
        }
        let few = (1..=1000).contains(&self.rereads);
        found.check(few, "rereads", &self.rereads, "it must be from 1 to 1000");
        let block = self.log.block_bytes;
        let ok = block.is_power_of_two() && (512..=65_536).contains(&block);
        found.check(ok, "log.block_bytes", &block, "it must be a power of two from 512 to 65536");
        let rule = "a thread needs an I/O for its log, one for its changed pages and one for its \
                    users; use at least 4";
        found.check(self.depth >= 4 || !self.changes_pages(), "depth", &self.depth, rule);
        let image = if self.log.page_images { self.page_bytes } else { 0 };
        for (field, (from, to), image) in [
            ("random.log_bytes", self.random.log_bytes, image),
            ("tables.log_bytes", self.tables.log_bytes, 0),
        ] {
            let ok = from > 0 && from <= to && to.saturating_add(image) <= LOG_RECORD_BYTES_MAX;
            let rule = "a record has 1 to 64000 bytes with the image of a page, the smaller first";
            found.check(ok, field, &format!("{from} to {to}"), rule);
        }
    }

    fn check_users(&self, found: &mut Violations) {
        for (field, value) in [
            ("threads", self.threads),
            ("random.users", self.random.users),
            ("audit.users", self.audit.users),
            ("read_ahead.users", self.read_ahead.users),
            ("bulk.users", self.bulk.users),
            ("pages.users", self.pages.users),
            ("tables.users", self.tables.users),
            ("doublewrite_pages", self.doublewrite_pages),
        ] {
            found.check(value <= USERS_MAX, field, &value, "it must be at most 65536");
        }
    }

    fn check_pages(&self, found: &mut Violations) {
        let gather = (self.gather_pages, self.gather_pages);
        for (field, (from, to)) in [
            ("gather_pages", gather),
            ("audit.pages", self.audit.pages),
            ("read_ahead.pages", self.read_ahead.pages),
            ("bulk.pages", self.bulk.pages),
            ("pages.pages", self.pages.pages),
            ("random.chain_pages", self.random.chain_pages),
            ("tables.io_pages", (self.tables.io_pages, self.tables.io_pages)),
            ("tables.records", self.tables.records),
        ] {
            let ok = from > 0 && from <= to && to <= IO_PAGES_MAX;
            let value = format!("{from} to {to}");
            found.check(ok, field, &value, "it must be 1 to 4096, the smaller first");
        }
    }

    fn check_resizing(&self, found: &mut Violations) {
        let Some(Resizing { pause_min, pause_max, steps: (from, to), .. }) = self.resizing else {
            return;
        };
        let (value, rule) =
            (format!("{pause_min:?} to {pause_max:?}"), "the smaller must be first");
        found.check(pause_min <= pause_max, "resizing.pause", &value, rule);
        let value = format!("{from} to {to}");
        let rule = "it must be 1 at least, the smaller first";
        found.check(from > 0 && from <= to, "resizing.steps", &value, rule);
    }

    fn check_shares(&self, found: &mut Violations) {
        for (field, percent) in [
            ("cache_hit_percent", self.cache_hit_percent),
            ("random.jump_percent", self.random.jump_percent),
            ("random.update_percent", self.random.update_percent),
            ("random.rollback_percent", self.random.rollback_percent),
            ("pages.write_percent", self.pages.write_percent),
        ] {
            let ok = (0.0..=100.0).contains(&percent);
            found.check(ok, field, &percent, "it must be 0 to 100 percent");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RandomUsers;

    #[test]
    fn what_breaks_a_rule_is_named() {
        assert_eq!(Plan::default().violations(), []);
        let plan = Plan { page_bytes: 1000, depth: 1, ..Plan::default() };
        let fields: Vec<_> = plan.violations().into_iter().map(|v| v.field).collect();
        assert_eq!(fields, ["page_bytes", "depth"]);
        let random = RandomUsers { log_bytes: (100, 64), jump_percent: f64::NAN, ..plan.random };
        let plan = Plan { random, ..Plan::default() };
        let text: Vec<_> = plan.violations().into_iter().map(|v| v.to_string()).collect();
        assert_eq!(text.len(), 2, "{text:?}");
    }
}
