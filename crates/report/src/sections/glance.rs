//! An assessment at a glance: six figures, the bottleneck, and what to do next.

use results::cause::{Cause, Certainty};
use results::honesty::Sign;
use results::verdict::{Database, Verdict};
use results::{Assessment, Measurement, Pace, Status};
use workload::{PatternKind, Stream};

use super::caption;
use super::make::{brief, column, full, greyed, number, section, table, text, whole};
use super::terms;
use crate::language::{in_sentence, say};
use crate::model::{Block, Cell, Column, Section, Unit};
use crate::words;

/// Smaller log writes are those of special devices.
const LEAST_LOG_BLOCK: u64 = 4096;
/// Databases write their log in blocks up to this; larger durable writes are bulk.
const LARGEST_LOG_BLOCK: u64 = 65_536;
/// A file below so many times the memory may be answered from caches; `assess` warns of the same.
const MEMORY_TIMES: u64 = 2;

/// A row of the table, with the load that it is about.
struct Row<'a> {
    name: String,
    load: Option<(&'a Stream, &'a Measurement)>,
}

/// The section; `None` if nothing was measured.
pub(super) fn of(a: &Assessment) -> Option<Section> {
    let rows = rows(a);
    if rows.iter().all(|row| row.load.is_none()) {
        return None;
    }
    let is_unsure = rows.iter().filter_map(|row| row.load).any(|(_, m)| m.is_unsure());
    let table = |caption: &str| {
        let cells = rows.iter().filter_map(cells).collect();
        table("glance", say!("heading-main-loads"), caption, columns(), cells).map(Block::Table)
    };
    let caption = caption::of(rows.iter().filter_map(|row| Some(row.load?.1)));
    let sizes = Block::Paragraph(blocks_of(&rows));
    let mut blocks = Vec::new();
    if a.pace == Pace::Glance {
        blocks.push(Block::Paragraph(say!("glance-impression")));
    }
    blocks.extend([brief(table("").into_iter().chain([sizes])), full(table(&caption))]);
    let missing: Vec<String> =
        rows.iter().filter(|row| row.load.is_none()).map(|row| in_sentence(&row.name)).collect();
    if !missing.is_empty() {
        let loads = missing.join(&say!("list-between"));
        blocks.push(Block::Paragraph(say!("glance-not-measured", loads = loads)));
    }
    blocks.extend(bottleneck(a).map(Block::Paragraph));
    blocks.push(Block::Paragraph(next_step(a, is_unsure)));
    section("glance", say!("heading-at-a-glance"), blocks)
}

/// The six rows. A mixed load is left out if there is none.
fn rows(a: &Assessment) -> Vec<Row<'_>> {
    let loads: Vec<(&Stream, &Measurement)> = a
        .patterns
        .iter()
        .filter_map(|p| Some((only_stream(&p.measurement)?, &p.measurement)))
        .collect();
    let first = |is: &dyn Fn(&Stream) -> bool| loads.iter().find(|(s, _)| is(s)).copied();
    let row = |name: String, load| Row { name, load };
    let writes_in_order = |s: &Stream| is_sequential(s) && s.write_percent == 100;
    let log =
        |s: &Stream| writes_in_order(s) && s.durable && s.largest_block() <= LARGEST_LOG_BLOCK;
    let log_write = first(&|s| log(s) && s.largest_block() >= LEAST_LOG_BLOCK).or(first(&log));
    // The log's small writes once more without durability are among them: the bulk is larger.
    let bulk = loads.iter().filter(|(s, _)| writes_in_order(s) && !log(s));
    let bulk_write = bulk.max_by_key(|(s, _)| s.largest_block()).copied();
    let mut rows = vec![
        row(say!("glance-random-read"), first(&|s| is_random(s) && s.write_percent == 0)),
        row(say!("glance-random-write"), first(&|s| is_random(s) && s.write_percent == 100)),
        row(say!("glance-sequential-read"), first(&|s| is_sequential(s) && s.write_percent == 0)),
        row(say!("glance-sequential-write"), bulk_write),
        row(say!("glance-log-write"), log_write),
    ];
    if let Some(load) = first(&|s| is_random(s) && (1..100).contains(&s.write_percent)) {
        let writes = load.0.write_percent;
        let shares = format!("{}/{writes}", 100 - writes);
        rows.push(row(say!("glance-mixed", shares = shares), Some(load)));
    }
    rows
}

/// The stream of a load that has one kind of I/O at its own pace.
fn only_stream(m: &Measurement) -> Option<&Stream> {
    match m.workload.streams.as_slice() {
        [only] if only.mix.is_none() && only.rate.is_none() && only.think.is_none() => Some(only),
        _ => None,
    }
}

fn is_random(stream: &Stream) -> bool {
    stream.pattern_kind() == PatternKind::Random
}

fn is_sequential(stream: &Stream) -> bool {
    matches!(stream.pattern_kind(), PatternKind::Sequential | PatternKind::SequentialShared)
}

fn columns() -> Vec<Column> {
    vec![
        column("load", say!("label-load"), Unit::Text),
        column("block_bytes", say!("label-block"), Unit::Bytes).full(),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_p99_9_ns", "p99.9", Unit::Nanoseconds),
        column("in_flight", say!("label-in-flight"), Unit::Count),
        column("half_width_percent", "± %", Unit::Number),
    ]
}

/// The cells of a load that was measured.
fn cells(row: &Row<'_>) -> Option<Vec<Cell>> {
    let (stream, m) = row.load?;
    let latency = m.total.latency_ns.as_ref();
    let figures = [
        number(m.total.iops),
        number(m.total.mib_per_s),
        number(latency.map(|l| l.mean)),
        whole(latency.and_then(|l| l.p99)),
        whole(latency.and_then(|l| l.p99_9)),
    ];
    let percent = match m.half_width_percent() {
        Some(percent) if crate::agreement::is_huge(percent) => text("> 900"),
        percent => number(percent.map(|percent| (100.0 * percent).round() / 100.0)),
    };
    let mut cells = vec![text(&row.name), whole(stream.largest_block())];
    cells.extend(figures);
    cells.extend([whole(m.in_flight), percent]);
    Some(greyed(&columns(), cells, m.is_unsure()))
}

/// The block sizes in the order of the rows, where the table has no room for them.
fn blocks_of(rows: &[Row<'_>]) -> String {
    let loads = rows.iter().filter_map(|row| row.load);
    let each: Vec<String> = loads.map(|(stream, _)| words::size(stream.largest_block())).collect();
    say!("glance-block-sizes", sizes = each.join(&say!("list-between")))
}

/// What keeps random reads from being faster, and how sure that is.
fn bottleneck(a: &Assessment) -> Option<String> {
    let reads = |m: &Measurement| {
        only_stream(m).is_some_and(|stream| is_random(stream) && stream.write_percent == 0)
    };
    let ramp = a.ramps.iter().find(|ramp| ramp.points.first().is_some_and(reads))?;
    let first = ramp.causes.first()?;
    let cause = terms::cause(first.cause);
    let second = ramp.causes.get(1).filter(|c| c.certainty == Certainty::Possible);
    Some(match first.certainty {
        _ if first.cause == Cause::Unknown => say!("glance-bottleneck-unknown"),
        Certainty::Certain => say!("glance-bottleneck-certain", cause = cause),
        Certainty::Likely => say!("glance-bottleneck-likely", cause = cause),
        Certainty::Possible => match second.filter(|c| c.cause != Cause::Unknown) {
            Some(other) => {
                let other = terms::cause(other.cause);
                say!("glance-bottleneck-either", cause = cause, other = other)
            }
            None => say!("glance-bottleneck-possible", cause = cause),
        },
    })
}

/// The one thing to do next, the most urgent first.
fn next_step(a: &Assessment, is_unsure: bool) -> String {
    let first = a.patterns.first().map(|p| &p.measurement.workload);
    let is_real = first.is_some_and(|workload| !workload.engine.is_artificial());
    let memory = a.environment.host.as_ref().map_or(0, |host| host.memory_bytes);
    let fair = memory.saturating_mul(MEMORY_TIMES);
    let doubtful = a.honesty.as_ref().is_some_and(|honesty| {
        matches!(
            honesty.sign,
            Sign::FasterThanMedium | Sign::NoSlowerThanCached | Sign::NotBelieved
        )
    });
    if a.status != Status::Complete {
        return say!("glance-next-complete", command = again(a, ""));
    }
    if doubtful {
        let target = a.hosts.first().map_or(&a.target, |host| &host.target);
        let target = shell_word(&words::path(target));
        let command = format!("iosonde validate --durability --witness HOST {target}");
        return say!("glance-next-durability", command = command);
    }
    if is_real && a.file_bytes < fair {
        let gib = fair.div_ceil(1 << 30);
        let command = again(a, &format!("--size {gib}G "));
        return say!("glance-next-larger-file", command = command);
    }
    let pace = match (a.pace, is_unsure) {
        (Pace::Glance, _) => Some("quick"),
        (Pace::Quick, _) => Some("normal"),
        (Pace::Normal, true) => Some("long"),
        _ => None,
    };
    if let Some(pace) = pace {
        let command = again(a, &format!("--pace {pace} "));
        if a.pace == Pace::Glance {
            say!("glance-next-verdicts", command = command)
        } else {
            say!("glance-next-longer", command = command)
        }
    } else {
        let id = shell_word(&words::clean(&a.id));
        say!("glance-next-baseline", command = format!("iosonde history tag {id} baseline"))
    }
}

/// The command that assesses the same again, for the same database and needs, with these flags.
fn again(a: &Assessment, flags: &str) -> String {
    let flags = flags.to_owned() + &database_flag(a.database) + &needs_flag(&a.verdicts);
    let target = shell_word(&words::path(&a.target));
    if a.hosts.is_empty() {
        return format!("iosonde assess {flags}{target}");
    }
    let names: Vec<String> = a.hosts.iter().map(|host| words::clean(&host.name)).collect();
    let (names, mib) = (shell_word(&names.join(",")), (a.file_bytes >> 20) / names.len() as u64);
    format!("iosonde fleet assess --ssh {names} --together --size {mib}M {flags}{target}")
}

fn database_flag(database: Database) -> String {
    if database == Database::Generic {
        return String::new();
    }
    format!("--for {} ", database.word())
}

fn needs_flag(verdicts: &[Verdict]) -> String {
    let needs = verdicts.iter().filter_map(|verdict| verdict.need);
    let needs: Vec<String> = needs.map(|need| need.to_string()).collect();
    if needs.is_empty() { String::new() } else { format!("--need {} ", needs.join(",")) }
}

/// A word that a shell takes as it is; paths of Windows as both of its shells take them.
fn shell_word(word: &str) -> String {
    if word.starts_with("\\\\") || word.get(1..3) == Some(":\\") {
        return windows_word(word);
    }
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    let path = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    format!("'{}'", path.replace('\'', "'\\''"))
}

/// A path there has no quotation marks, and a `\` before one would make it part of the word.
fn windows_word(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "\\/._-+:".contains(c);
    if path.chars().all(plain) {
        return path.to_owned();
    }
    let doubled = if path.ends_with('\\') { "\\" } else { "" };
    format!("\"{path}{doubled}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In single quotation marks, a path of Windows was part of the name for `cmd`.
    #[test]
    fn each_system_s_shell_takes_a_path_as_it_is() {
        for (word, shown) in [
            ("/data", "/data"),
            ("/my data", "'/my data'"),
            ("-x", "'./-x'"),
            (r"C:\data", r"C:\data"),
            (r"D:\my data", r#""D:\my data""#),
            (r"D:\my data\", r#""D:\my data\\""#),
            (r"\\nas\sql", r"\\nas\sql"),
        ] {
            assert_eq!(shell_word(word), shown);
        }
    }
}
