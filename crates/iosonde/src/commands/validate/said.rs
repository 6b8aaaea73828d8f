//! Where each part of a plan came from, a flag or a line of a file, so that an error names what was
//! typed.

use std::path::Path;

use integrity::{Plan, PlanError, PlanFile};
use workload::{Bytes, THREADS_MAX, Violation, Workload};

use super::args::ValidateArgs;
use crate::exit::Failure;

/// The plan as it was typed.
pub(super) struct TypedPlan<'a> {
    pub args: &'a ValidateArgs,
    /// The content of the file of `--config`.
    pub file: Option<PlanFile>,
}

impl TypedPlan<'_> {
    /// The line of the file that sets a field, unless a flag overrides it.
    fn line(&self, field: &str) -> Option<(&Path, usize)> {
        let line = self.file.as_ref()?.line_of(field)?;
        Some((self.args.config.as_deref()?, line))
    }

    /// `--threads is 5000`, or the same with the file and line that set it.
    pub(super) fn value(&self, field: &str, value: &str) -> String {
        if let Some((flag, typed)) = flag(self.args, field) {
            return format!("{flag} is {typed}");
        }
        if field == "pages.users" && !self.args.load.has_log() {
            return format!("--threads times --depth is {value}");
        }
        match self.line(field) {
            Some((path, line)) => format!("`{}`, line {line}: {field} is {value}", path.display()),
            None => format!("{field} is {value}"),
        }
    }

    /// Refuses a plan that breaks the rules.
    pub(super) fn check_plan(&self, plan: &Plan) -> Result<(), Failure> {
        let image = plan.log.page_images && self.args.page.is_some();
        let text = |error: PlanError| {
            // A record that holds the page is too long because of the page.
            let of_page = image && error.field.ends_with(".log_bytes");
            let field = if of_page { "page_bytes" } else { error.field };
            let said = self.value(field, &error.value);
            if field == "pages.pages" && self.args.load.block.is_some() {
                // The user typed it in bytes.
                return format!(
                    "{said}: it must be 1 to 4096 pages of {}",
                    Bytes(plan.page_bytes.into())
                );
            }
            format!("{said}: {}", error.rule)
        };
        refuse(plan.violations().into_iter().map(text))
    }

    /// Refuses impossible files and threads.
    pub(super) fn check_workload(&self, workload: &Workload) -> Result<(), Failure> {
        let text = |wrong: Violation| {
            let Violation { field, value, rule } = wrong;
            let target = field.strip_prefix("targets[").and_then(|rest| rest.split_once(']'));
            match (field.as_str(), target) {
                ("threads", _) => {
                    let most = THREADS_MAX / workload.targets.len().max(1) as u64;
                    let threads = workload.streams.first().map_or(0, |stream| stream.threads);
                    let said = self.value("threads", &threads.to_string());
                    format!("{said}: it must be 1 to {most}, with as many files as there are")
                }
                ("streams[0].depth", _) => format!("{}: {rule}", self.value("depth", &value)),
                (_, Some((number, ".size_bytes"))) => {
                    let data = self.args.target.targets.len();
                    let is_data = number.parse().is_ok_and(|number: usize| number < data);
                    let flag = if is_data { "--size" } else { "--log-size" };
                    format!("{flag} is {value}: {rule}")
                }
                (_, Some((_, ".path"))) => format!("TARGET is `{value}`: {rule}"),
                _ => format!("{field} is {value}: {rule}"),
            }
        };
        refuse(workload.violations().into_iter().map(text))
    }
}

fn refuse(wrong: impl Iterator<Item = String>) -> Result<(), Failure> {
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(Failure::WrongUsage(wrong.join("\n"))) }
}

/// The flag that was typed for a field of the plan, and its value.
fn flag(args: &ValidateArgs, field: &str) -> Option<(&'static str, String)> {
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let percent = |value: Option<f64>| value.map(|value| value.to_string());
    let (flag, typed) = match field {
        "page_bytes" => ("--page", args.page.map(|page| page.0.to_string())),
        "threads" => ("--threads", number(args.threads)),
        "depth" => ("--depth", number(args.depth)),
        "rereads" => ("--rereads", number(args.rereads)),
        "checkpoint_every_ns" => ("--checkpoint", args.checkpoint.map(|s| s.to_string())),
        "random.users" => ("--users", number(args.users)),
        "random.update_percent" => ("--update", percent(args.update)),
        "pages.write_percent" => ("--write", percent(args.load.write)),
        "pages.pages" => ("--block", args.load.block.map(|block: Bytes| block.to_string())),
        _ => return None,
    };
    Some((flag, typed?))
}
