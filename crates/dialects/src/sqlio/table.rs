//! The table of the SQLIO-Parse scripts: one line per run, with exactly their columns.

use results::csv_field;

use super::printout::{Figure, Order, Printout};

/// The columns. Latencies are in ms, sizes in KiB.
pub const COLUMNS: [&str; 12] = [
    "Kind",
    "Threads",
    "Seconds",
    "Drive",
    "Stripe",
    "Outstanding",
    "Size",
    "IOs",
    "MBs",
    "Latency_min",
    "Latency_avg",
    "Latency_max",
];

/// The line of a run. What its text does not have is empty; `Outstanding` is 0 where one thread
/// waits per I/O.
#[must_use]
pub fn row(printout: &Printout) -> [String; 12] {
    let load = printout.load.as_ref();
    let said = |value: Option<String>| value.unwrap_or_default();
    let figure = |figure: Option<Figure>| {
        said(figure.map(|Figure { value, decimals }| format!("{value:.0$}", usize::from(decimals))))
    };
    let [min, mean, max] = printout.latency_ms.map(|ms| said(ms.map(|ms| ms.to_string())));
    [
        said(load.map(|l| if l.writes { "W" } else { "R" }.to_owned())),
        said(load.map(|l| l.threads.to_string())),
        said(load.map(|l| l.seconds.to_string())),
        drives(printout),
        said(printout.access.map(|a| match a.order {
            Order::Random => "random".to_owned(),
            Order::Sequential => "sequential".to_owned(),
            Order::Striped { stripe_kib, .. } => {
                (stripe_kib / u64::from(a.block_kib.max(1))).to_string()
            }
        })),
        said(load.map(|_| printout.outstanding.unwrap_or(0).to_string())),
        said(printout.access.map(|a| a.block_kib.to_string())),
        figure(printout.iops),
        figure(printout.mib_per_s),
        min,
        mean,
        max,
    ]
}

/// The drives of the files, or the files where they are on none.
fn drives(printout: &Printout) -> String {
    let pools: Vec<&str> = printout.pools.iter().map(|p| p.file.as_str()).collect();
    let files = printout.load.iter().flat_map(|l| l.files.iter().map(String::as_str));
    let files: Vec<&str> = if pools.is_empty() { files.collect() } else { pools };
    files.into_iter().map(drive).collect::<Vec<_>>().join("+")
}

fn drive(file: &str) -> &str {
    match file.split_once(':') {
        Some((letter, _)) if letter.len() == 1 => letter,
        _ => file,
    }
}

/// Rows as CSV, below the names of the columns.
#[must_use]
pub fn csv(rows: &[[String; 12]]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for row in rows {
        text += &(row.iter().map(|field| csv_field(field)).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}
