//! What the kernel counted meanwhile, beside what was measured.

use results::Measurement;
use workload::show_number;

use super::layout::{Table, WIDTH, wrap};
use crate::{agreement, words};

/// The comparison with the kernel, or why there is none.
pub(crate) fn section(m: &Measurement) -> String {
    let Some(kernel) = &m.kernel else {
        let text = if m.workload.engine.is_artificial() {
            "not asked: there is no real device"
        } else {
            "not asked: there is no one device whose counters cover this target"
        };
        return wrap("Kernel      ", text, WIDTH);
    };
    let device = format!(
        "{}: average queue {}, busy {}, {} flushes/s",
        words::clean(&kernel.device),
        show_number(kernel.average_queue),
        words::percent(Some(kernel.utilisation_percent)),
        show_number(kernel.flushes_per_s)
    );
    let mut out = wrap("Kernel      ", &device, WIDTH);
    let Some(agreement) = &kernel.agreement else {
        let text = "not compared: this I/O need not arrive at the device as it was issued";
        out.push_str(&wrap("            ", text, WIDTH));
        return out;
    };
    out.push_str(&wrap("            ", &words::clean(&agreement.explanation), WIDTH));
    if agreement.rows.is_empty() {
        return out;
    }
    let mut table = Table::new(1, &["", "tool", "kernel", "difference", "allowed", ""]);
    for row in &agreement.rows {
        let line = agreement::line(row);
        let mark = if line.beyond { "!" } else { "" };
        let figure = format!("          {}", line.figure);
        table.row(vec![figure, line.tool, line.kernel, line.difference, line.allowed, mark.into()]);
    }
    out.push_str(&table.show());
    out
}
