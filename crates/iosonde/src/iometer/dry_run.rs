//! What a configuration would do, for `--dry-run`.

use report::text::{Table, WIDTH, clean, shorten, wrap};
use results::CycleRun;
use workload::show_duration;

use super::plan::Planned;
use crate::exit::Failure;
use crate::run::describe;

/// The longest an access specification may be in the table.
const NAME: usize = 40;

/// Every run in its order, with its times.
pub(super) fn text(planned: &Planned) -> Result<String, Failure> {
    let options = &planned.options;
    let plans = engine::plan(&options.preparation, &options.permissions)?;
    let facts: Vec<workload::TargetFacts> = plans
        .iter()
        .map(|p| workload::TargetFacts { size_bytes: p.size_bytes, direct_align_bytes: 1 })
        .collect();
    let mut out = format!("{}, {}\n", clean(&options.cycle.title()), options.cycle.test_type);
    out.push_str(&describe(&plans));
    out.push('\n');
    let heads =
        ["run", "access specification", "workers", "targets", "depth", "in flight", "time", ""];
    let mut table = Table::new(2, &heads);
    let mut all_s = 0.0;
    for (index, (run, workload)) in options.cycle.runs.iter().zip(&options.workloads).enumerate() {
        let mut violations = workload.violations();
        violations.extend(workload.violations_on(&facts));
        let wrong = violations.first().map(|v| format!("cannot be done: {v}")).unwrap_or_default();
        if wrong.is_empty() {
            all_s += workload.seconds + workload.warmup_seconds;
        }
        let time = if planned.endless {
            "until stopped".to_owned()
        } else {
            show_duration(workload.seconds)
        };
        table.row(row(index + 1, run, time, wrong));
    }
    out.push_str(&table.show());
    out.push_str(&wrap("", &summary(planned, all_s), WIDTH));
    if !planned.notes.is_empty() {
        out.push_str("\nNotes\n");
    }
    for note in &planned.notes {
        out.push_str(&wrap("  - ", &clean(note), WIDTH));
    }
    Ok(out)
}

fn row(number: usize, run: &CycleRun, time: String, wrong: String) -> Vec<String> {
    vec![
        number.to_string(),
        shorten(&clean(&run.specs.join(", ")), NAME),
        run.workers.to_string(),
        run.targets.to_string(),
        run.outstanding.map_or_else(|| "–".to_owned(), |n| n.to_string()),
        run.in_flight.to_string(),
        time,
        wrong,
    ]
}

/// How many runs, how long, and until when.
fn summary(planned: &Planned, all_s: f64) -> String {
    let runs = planned.options.cycle.runs.len();
    let plural = if runs == 1 { "" } else { "s" };
    let most = planned.options.cycle.runs.iter().map(|r| r.in_flight).max().unwrap_or(0);
    let head = format!("{runs} run{plural}, at most {most} I/Os in flight");
    if planned.endless {
        return format!(
            "{head}; the first goes on until it is stopped with Ctrl-C, which ends all"
        );
    }
    let ramp = planned.options.preparation.warmup_seconds;
    let ramp = match ramp {
        0.0 => String::new(),
        ramp => format!(", {} of it before each run that is not counted", show_duration(ramp)),
    };
    let times = format!("{head}; {} in all{ramp}", show_duration(all_s));
    if planned.options.preparation.engine.is_artificial() {
        return times;
    }
    let span = jiff::SignedDuration::try_from_secs_f64(all_s).ok();
    let end = span.and_then(|span| jiff::Zoned::now().checked_add(span).ok());
    end.map_or(times.clone(), |end| {
        format!(
            "{times}; begun now, it ends {}, once the test files are written",
            end.strftime("%Y-%m-%d %H:%M")
        )
    })
}
