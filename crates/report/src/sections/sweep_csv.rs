//! Every cell of a sweep as a line of CSV, for the scripts that people have around SQLIO.

use results::{Experiment, Source, Sweep, SweptCell, csv_field};

/// The first line of every CSV of a sweep. iosonde overwrites no file without it.
pub const SWEEP_CSV_HEAD: &str = "Kind,Threads,Seconds,Drive,Stripe,Outstanding,Size,IOs,MBs,\
                            Latency_min,Latency_avg,Latency_max,file_bytes,write_percent,\
                            block_bytes,in_flight,latency_p99_ns,error_percent,source,operation";

/// Every cell as a line of CSV: first the columns that scripts around SQLIO use, under their names,
/// then ours.
///
/// Times are milliseconds in the columns of the first kind and nanoseconds in ours. A figure that
/// is not there is empty.
#[must_use]
pub fn sweep_csv(e: &Experiment<Sweep>) -> String {
    let mut out = format!("{SWEEP_CSV_HEAD}\n");
    for cell in &e.conclusion.cells {
        out.push_str(&csv_line(e, cell));
        out.push('\n');
    }
    out
}

fn csv_line(e: &Experiment<Sweep>, cell: &SweptCell) -> String {
    let measured = || cell.measurements.iter().filter_map(|m| e.measurements.get(*m));
    let latencies = || measured().filter_map(|m| m.total.latency_ns);
    let ms = |ns: Option<f64>| ns.map_or_else(String::new, |ns| (ns / 1e6).to_string());
    let figure = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    let whole = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
    let plan = &e.conclusion.plan;
    let paths = cell.cell.targets.iter().filter_map(|t| plan.targets.get(*t));
    let drive: Vec<String> = paths.map(|t| t.path.display().to_string()).collect();
    let kind = match cell.cell.write_percent {
        0 => "R".to_owned(),
        100 => "W".to_owned(),
        percent => format!("W{percent}"),
    };
    let order = cell.cell.stream().pattern_kind();
    let stripe = if order.is_sequential() { "sequential" } else { order.word() };
    let source = match cell.source {
        Source::Measured => "measured",
        Source::Inferred => "inferred",
        Source::LeftOut => "left_out",
        Source::Missing => "missing",
    };
    let seconds = measured().map(|m| m.seconds).sum::<f64>();
    let columns = [
        kind,
        cell.cell.threads.to_string(),
        if seconds > 0.0 { seconds.to_string() } else { String::new() },
        csv_field(&drive.join("+")),
        stripe.to_owned(),
        cell.cell.depth.to_string(),
        (cell.cell.block_bytes.0 as f64 / 1024.0).to_string(),
        figure(cell.iops),
        figure(cell.mib_per_s),
        ms(latencies().filter_map(|l| l.min).min().map(|ns| ns as f64)),
        ms(cell.latency_ns),
        ms(latencies().filter_map(|l| l.max).max().map(|ns| ns as f64)),
        whole(measured().next().map(|m| m.file_bytes)),
        cell.cell.write_percent.to_string(),
        cell.cell.block_bytes.0.to_string(),
        cell.in_flight.to_string(),
        whole(cell.p99_ns),
        figure(cell.error_percent),
        source.to_owned(),
        csv_field(cell.cell.operation.as_deref().unwrap_or_default()),
    ];
    columns.join(",")
}
