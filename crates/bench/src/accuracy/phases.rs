//! Falls of throughput that are there, and those that are not.

use std::fmt::Write as _;

use analysis::numbers;
use analysis::phases::{self, WriteCache};

use super::generate::{self, BUCKET_S, BUCKETS_PER_S, Make};
use super::table;
use crate::linux::Error;

const SEEDS: u64 = 1000;
/// The run in which a fall is looked for.
const RUN_S: usize = 60;
/// The second at which throughput falls.
const FALL_S: usize = 20;

/// Kinds of series that have no step.
const LEVEL: [(&str, Make); 6] = [
    ("independent noise of 3 %", generate::independent),
    ("AR(1) noise of 5 %, coefficient 0.9", generate::autoregressive),
    ("warm-up from 50 %, time constant 8 s", generate::warm_up_8),
    ("warm-up from 40 %, time constant 30 s", generate::warm_up_30),
    ("a stall of 0.75 s every 10 s", generate::stalls),
    ("one value in 20 falls by 65 %", generate::dips),
];

/// Percent of the seeds for which something holds.
fn percent(seeds: u64, holds: impl Fn(u64) -> bool) -> f64 {
    100.0 * (0..seeds).filter(|seed| holds(*seed)).count() as f64 / seeds as f64
}

/// Share of the runs of a level series in which a step, and in which the end of a cache is seen.
fn alarms(make: Make, seconds: usize, seeds: u64) -> [f64; 2] {
    let run = |seed| generate::series(make, seed)[..seconds * BUCKETS_PER_S].to_vec();
    [
        percent(seeds, |seed| phases::plateaus(&run(seed), BUCKET_S).len() > 1),
        percent(seeds, |seed| phases::write_cache(&run(seed), BUCKET_S).is_some()),
    ]
}

/// A run that falls to 100 after twenty seconds.
fn fall(make: Make, fall_percent: f64, seed: u64) -> Option<WriteCache> {
    let mut run = generate::series(make, seed)[..RUN_S * BUCKETS_PER_S].to_vec();
    for value in &mut run[..FALL_S * BUCKETS_PER_S] {
        *value /= 1.0 - fall_percent / 100.0;
    }
    phases::write_cache(&run, BUCKET_S)
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let mut text = format!(
        "`analysis::phases` ran on {SEEDS} seeds of each series, with one value per {BUCKET_S} s. \
         A false alarm is a step that the series does not have. The last column counts the false \
         alarms that it took for the end of a cache.\n\n"
    );
    let rows: Vec<Vec<String>> = LEVEL
        .iter()
        .flat_map(|(name, make)| {
            [60, 300].map(|seconds| {
                let [steps, caches] = alarms(*make, seconds, SEEDS);
                let cells = [seconds.to_string(), format!("{steps:.1}"), format!("{caches:.1}")];
                [vec![(*name).to_owned()], cells.to_vec()].concat()
            })
        })
        .collect();
    let head = ["series without a step", "seconds", "false alarms %", "false ends of a cache %"];
    writeln!(text, "{}", table(&head, &rows))?;
    writeln!(
        text,
        "The next table has the same noise, with a fall to 100 after {FALL_S} s of {RUN_S} s. \
         *Holds* means that the interval of the sustained level contains the truth. *Late* is the \
         median of the moment found minus the true moment.\n"
    )?;
    let mut rows = Vec::new();
    for (name, make) in [LEVEL[0], LEVEL[1], LEVEL[4], LEVEL[5]] {
        for fall_percent in [25.0, 50.0, 80.0] {
            rows.push(found(name, make, fall_percent));
        }
    }
    let head = ["noise", "fall %", "found %", "late s", "rmse of the sustained level %", "holds %"];
    writeln!(text, "{}", table(&head, &rows))?;
    Ok(text)
}

fn found(name: &str, make: Make, fall_percent: f64) -> Vec<String> {
    let found: Vec<WriteCache> =
        (0..SEEDS).filter_map(|seed| fall(make, fall_percent, seed)).collect();
    let late: Vec<f64> = found.iter().map(|cache| cache.at_s - FALL_S as f64).collect();
    let errors: Vec<f64> =
        found.iter().map(|cache| (cache.sustained.mean - 100.0).powi(2)).collect();
    let holds = |cache: &&WriteCache| {
        let width = cache.sustained.half_width_percent.unwrap_or(0.0) / 100.0;
        (cache.sustained.mean - 100.0).abs() <= width * cache.sustained.mean
    };
    let share = |count: usize, of: usize| format!("{:.1}", 100.0 * count as f64 / of as f64);
    let show = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    vec![
        name.to_owned(),
        format!("{fall_percent}"),
        format!("{:.1}", 100.0 * found.len() as f64 / SEEDS as f64),
        show(numbers::median(&late)),
        show(numbers::mean(&errors).map(f64::sqrt)),
        share(found.iter().filter(holds).count(), found.len()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: u64 = 40;

    #[test]
    fn a_series_without_a_step_has_no_end_of_a_cache_and_hardly_ever_a_step() {
        for (name, make) in LEVEL {
            let [steps, caches] = alarms(make, RUN_S, FEW);
            assert!(steps <= 2.5 && caches == 0.0, "{name}: {steps} % {caches} %");
        }
    }

    #[test]
    fn a_fall_by_half_is_found_where_it_is() {
        for (name, make) in [LEVEL[0], LEVEL[4], LEVEL[5]] {
            let found: Vec<WriteCache> =
                (0..FEW).filter_map(|seed| fall(make, 50.0, seed)).collect();
            assert!(found.len() >= 39, "{name}: {}", found.len());
            // A stall just before the fall hides its moment.
            let late = found.iter().map(|cache| (cache.at_s - FALL_S as f64).abs());
            let far: Vec<f64> = late.filter(|seconds| *seconds > 3.0).collect();
            assert!(far.len() <= 1, "{name}: {far:?}");
        }
    }
}
