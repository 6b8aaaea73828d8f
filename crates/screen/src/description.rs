//! What a job would do, for `--dry-run`.

use jobs::Description;
use report::text::{Table, WIDTH, clean, shorten, wrap};
use workload::Bytes;

/// The longest a text may be in the table of a rehearsal.
const CELL: usize = 40;

/// The lines that describe a job, for `--dry-run`.
#[must_use]
pub fn described(description: &Description) -> String {
    let mut lines: Vec<String> = description.work.iter().map(|line| clean(line)).collect();
    for plan in &description.targets {
        let (path, size) = (plan.path.display(), Bytes(plan.size_bytes));
        lines.push(format!("{path} ({size}): {}", plan.describe()));
    }
    if !description.targets.is_empty() {
        lines.push(format!("written before the run: {}", Bytes(description.filled_bytes())));
    }
    if let Some(steps) = &description.steps {
        let mut table = Table::new(2, &steps.heads);
        for row in &steps.rows {
            table.row(row.iter().map(|cell| shorten(&clean(cell), CELL)).collect());
        }
        lines.push(format!("\n{}{}", table.show(), wrap("", &steps.summary, WIDTH).trim_end()));
    }
    lines.extend(description.notes.iter().cloned());
    let remarks = description.remarks.iter().map(|text| wrap("  - ", &clean(text), WIDTH));
    let remarks: String = remarks.collect();
    if !remarks.is_empty() {
        lines.push(format!("\nNotes\n{}", remarks.trim_end()));
    }
    lines.push(String::new());
    lines.join("\n")
}
