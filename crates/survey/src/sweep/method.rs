//! How the cells of a sweep were measured, in words.

use workload::sweep::Plan;

use crate::lab::AFTER_WRITES_S;

/// How the cells were measured, sentence by sentence.
pub(super) fn method_of(plan: &Plan) -> Vec<String> {
    let order = if plan.shuffle {
        "The cells of each group of targets were measured in an order drawn from the seed."
    } else {
        "The cells were measured in the order of the lists."
    };
    let mut method = vec![format!(
        "{order} Test files are wholly written before the first cell, so that reads find data \
         whatever the order. Every cell has its own random offsets, which follow from the seed \
         and the number of the cell."
    )];
    if plan.engine.is_artificial() {
        method.push(
            "There were no pauses: every run of this engine begins with an idle device.".to_owned(),
        );
    } else {
        method.push(pauses(plan.settle_seconds));
    }
    if let Some(rounds) = &plan.rounds {
        method.push(format!(
            "All cells were measured in rounds until every tracked cell was steady. Over the last \
             five rounds, it then spread by at most 20 % of its mean and the line through them \
             moved by at most 10 %. At most {} rounds were made. The rule is that of the SNIA \
             Solid State Storage Performance Test Specification, 2.0.2. The figures of a cell are \
             those of the last five rounds.",
            rounds.at_most
        ));
    }
    if plan.adaptive {
        method.push(ADAPTIVE.to_owned());
    }
    if let Some(precision) = plan.precision {
        method.push(format!(
            "A cell ended before its time when the 95 % interval of its mean was within ±{} %.",
            precision.percent
        ));
    }
    method
}

/// The pauses before the cells, in a sentence.
fn pauses(longest_s: f64) -> String {
    if longest_s <= 0.0 {
        return "There were no pauses between the cells.".to_owned();
    }
    let text = format!(
        "Before each cell there was a pause of at most {longest_s} s. It ended when the device \
         had done no I/O and the operating system had nothing to write back for a second and a \
         half"
    );
    if longest_s <= AFTER_WRITES_S {
        return format!("{text}; after writes all of it was kept.");
    }
    format!(
        "{text}; after writes it had at least {AFTER_WRITES_S} s, because no counter shows what a \
        device writes from its own cache."
    )
}

const ADAPTIVE: &str = "Cells that differ in block size, threads and depth only were measured as \
    one kind of I/O. These were the largest and the smallest block at rising loads until they were \
    saturated, and the blocks between at the least load and at twice the knee. The same load was \
    also split into few and into many threads. A surface through these (throughput depends on the \
    total in flight; a time per I/O and a time per byte; a link) gives the other cells. \
     Saturated cells were measured again until the best of every load was known to ±3 %, or 2 % \
     of the time of the matrix was used. The stated interval of a cell holds what windows of its \
     whole length give on average, for nine of ten cells. Two sets of checks see to that (split \
     conformal prediction). Of each kind, nine cells drawn by the seed were measured over their \
     whole length and kept out of the surface. How far they were outside of their intervals \
     widens all intervals of inferred cells. Nine measured cells were measured again: how far \
     they were from themselves widens all intervals of measured cells. Where the first was more \
     than 12 % and three times the scatter of repetitions, more was measured: whole windows, then \
     every block size at rising loads, then every cell. There were pauses between kinds of I/O \
     only, so that the cache of a device that was written stays full.";
