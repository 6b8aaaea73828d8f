//! What people's fingers know: flags of fio, DiskSpd and SQLIO, and what says the same to iosonde.
//!
//! This answers a flag that iosonde does not have. Whole job files and command lines of these tools
//! are read by their dialects.

/// The answer to a flag of another tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// iosonde has flags for it: their names without dashes, and their values.
    Flags(Vec<(&'static str, Option<String>)>),
    /// A clause that tells what to do instead.
    Note(&'static str),
}

use Answer::{Flags, Note};

/// One flag with this value; without a value, the name alone.
fn flag(name: &'static str, value: &str) -> Answer {
    Flags(vec![(name, (!value.is_empty()).then(|| value.to_owned()))])
}

/// One flag that takes no value.
fn switch(name: &'static str) -> Answer {
    Flags(vec![(name, None)])
}

/// The answer to a long flag of fio, named without its dashes.
#[must_use]
pub fn fio(name: &str, value: Option<&str>) -> Option<Answer> {
    let value = value.unwrap_or_default().trim();
    let is_off = value == "0";
    Some(match name {
        "bs" | "blocksize" => flag("block", value.split(',').next().unwrap_or_default()),
        "bssplit" => flag("block", &mix(value)),
        "rw" | "readwrite" => read_write(value),
        "rwmixwrite" => flag("write", value),
        "rwmixread" => flag("write", &rest_of_hundred(value)),
        "iodepth" => flag("depth", value),
        "numjobs" => flag("threads", value),
        "runtime" | "timeout" => flag("seconds", value),
        "ramp_time" => flag("warmup", value),
        "direct" | "buffered" if is_off == (name == "direct") => switch("buffered"),
        "direct" | "buffered" => {
            Note("is what iosonde does anyway: I/O is direct, and `--buffered` makes it cached")
        }
        "ioengine" => engine(value),
        "filename" | "directory" => {
            Note("is typed without a flag: name the file, directory or device as the TARGET")
        }
        "filesize" | "io_size" => flag("size", value),
        "rate_iops" => flag("rate", value.split(',').next().unwrap_or_default()),
        "rate_process" => flag("arrival", if value == "poisson" { "poisson" } else { "even" }),
        "fsync" | "fdatasync" => Flags(vec![
            ("sync-every", (!value.is_empty()).then(|| value.to_owned())),
            ("sync-call", Some(if name == "fsync" { "fsync" } else { "fdatasync" }.to_owned())),
        ]),
        "sync" => switch("durable"),
        "thinktime" => flag("think", &with_unit(value, "us")),
        "thinktime_blocks" => flag("burst", value),
        "randseed" => flag("seed", value),
        "random_distribution" => flag("distribution", value),
        "percentage_random" => flag("random", &rest_of_hundred(value)),
        "blockalign" | "ba" => flag("align", value),
        "buffer_compress_percentage" => flag("content", value),
        "zero_buffers" => flag("content", "zero"),
        "cpus_allowed" => flag("cpus", value),
        "loops" => flag("repeat", value),
        "status-interval" | "log_avg_msec" => flag("interval", &with_unit(value, log_unit(name))),
        "output-format" if value.starts_with("json") => switch("json"),
        "continue_on_error" => flag("on-error", "continue"),
        "latency_target" => Note("is what `iosonde knee --latency-target 5ms@p99` searches for"),
        "verify" | "do_verify" => Note("is what `iosonde validate` does"),
        "output" => Note("is left to the shell: `iosonde … --json > FILE`"),
        "readonly" => Note("is not needed: without `--write` iosonde only reads"),
        other => return fio_without_meaning(other),
    })
}

/// Flags of fio that have nothing to say here.
fn fio_without_meaning(name: &str) -> Option<Answer> {
    const LEFT_OUT: [&str; 17] = [
        "name",
        "group_reporting",
        "time_based",
        "thread",
        "norandommap",
        "randrepeat",
        "invalidate",
        "refill_buffers",
        "end_fsync",
        "eta",
        "eta-newline",
        "minimal",
        "output-format",
        "lat_percentiles",
        "clat_percentiles",
        "percentile_list",
        "create_on_open",
    ];
    LEFT_OUT.contains(&name).then_some(Note("is not needed here: leave it out"))
}

/// Answers `--rw` with `randread`, `readwrite` and so on.
fn read_write(value: &str) -> Answer {
    // A number after a colon says how far one place is from the next.
    let kind = value.split(':').next().unwrap_or_default();
    let (pattern, write) = match kind {
        "read" => ("sequential", "0"),
        "write" => ("sequential", "100"),
        "rw" | "readwrite" => ("sequential", "50"),
        "randread" => ("random", "0"),
        "randwrite" => ("random", "100"),
        "randrw" => ("random", "50"),
        "" => return Flags(vec![("pattern", None), ("write", None)]),
        _ => return Note("has no counterpart here for this value: iosonde reads and writes"),
    };
    Flags(vec![("pattern", Some(pattern.to_owned())), ("write", Some(write.to_owned()))])
}

/// Answers options for the I/O engine.
fn engine(value: &str) -> Answer {
    match value {
        "" => switch("engine"),
        "io_uring" => flag("engine", "uring"),
        "libaio" => flag("engine", "aio"),
        "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => flag("engine", "sync"),
        "null" => flag("engine", "null"),
        "mmap" => switch("mapped"),
        _ => flag("engine", "auto"),
    }
}

/// Turns `4k/70:64k/30` into iosonde's form.
fn mix(value: &str) -> String {
    let parts = value.split(',').next().unwrap_or_default().split(':');
    parts.map(|part| part.replace('/', ":")).collect::<Vec<_>>().join(",")
}

fn rest_of_hundred(value: &str) -> String {
    let percent = value.trim_end_matches('%').parse::<u8>().ok();
    percent.and_then(|p| 100u8.checked_sub(p)).map_or_else(String::new, |rest| rest.to_string())
}

/// A number without a unit gets this one.
fn with_unit(value: &str, unit: &str) -> String {
    if value.ends_with(|c: char| c.is_ascii_digit()) {
        format!("{value}{unit}")
    } else {
        value.to_owned()
    }
}

fn log_unit(name: &str) -> &'static str {
    if name == "log_avg_msec" { "ms" } else { "s" }
}

/// Whose letter it is, and the answer to it: a flag of DiskSpd or SQLIO with what follows the
/// letter. Letters that iosonde has itself are not asked for.
#[must_use]
pub fn letter(letter: char, value: &str) -> Option<(&'static str, Answer)> {
    let caches = || match value {
        "" | "h" | "hw" | "wh" | "u" | "uw" | "wu" | "d" => {
            Note("is what iosonde does anyway: I/O is direct; `--durable` adds write-through")
        }
        "w" => switch("durable"),
        _ => switch("buffered"),
    };
    let (tool, answer) = match letter {
        'o' => ("DiskSpd", flag("depth", value)),
        'r' => ("DiskSpd", flag("pattern", "random")),
        'c' => ("DiskSpd", flag("size", value)),
        'W' => ("DiskSpd", flag("warmup", value)),
        'D' => ("DiskSpd", flag("interval", &with_unit(value, "ms"))),
        'z' => ("DiskSpd", flag("seed", value)),
        'B' => ("DiskSpd", flag("offset", value)),
        'a' | 'n' => ("DiskSpd", Note("is `--cpus LIST` here; without it, threads are not pinned")),
        'L' => ("DiskSpd", Note("is not needed here: latency is always measured")),
        'F' => ("DiskSpd", Note("is `--threads` here, which counts the threads of each target")),
        'g' => ("DiskSpd", Note("is `--rate IOPS` or `--rate-mib MIB` here, over all threads")),
        'S' => ("DiskSpd", caches()),
        'Z' if value.is_empty() => ("DiskSpd", flag("content", "zero")),
        'Z' => ("DiskSpd", Note("is not needed here: what is written does not repeat")),
        'f' if value.starts_with(['r', 'R']) => ("SQLIO", flag("pattern", "random")),
        'f' if value.starts_with(['s', 'S']) => ("SQLIO", flag("pattern", "sequential")),
        'k' if value.starts_with(['r', 'R']) => ("SQLIO", flag("write", "0")),
        'k' if value.starts_with(['w', 'W']) => ("SQLIO", flag("write", "100")),
        _ => return None,
    };
    Some((tool, answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flags(answer: Option<Answer>) -> String {
        match answer {
            Some(Flags(all)) => {
                let shown = |(name, value): &(&str, Option<String>)| match value {
                    Some(value) => format!("--{name} {value}"),
                    None => format!("--{name}"),
                };
                all.iter().map(shown).collect::<Vec<_>>().join(" ")
            }
            Some(Note(note)) => note.to_owned(),
            None => String::new(),
        }
    }

    #[test]
    fn words_of_fio_have_ours() {
        for (name, value, ours) in [
            ("bs", "4k", "--block 4k"),
            ("bs", "4k,8k", "--block 4k"),
            ("bssplit", "4k/70:64k/30", "--block 4k:70,64k:30"),
            ("rw", "randread", "--pattern random --write 0"),
            ("rw", "write:4k", "--pattern sequential --write 100"),
            ("rwmixread", "70", "--write 30"),
            ("iodepth", "32", "--depth 32"),
            ("numjobs", "4", "--threads 4"),
            ("runtime", "60", "--seconds 60"),
            ("direct", "0", "--buffered"),
            ("buffered", "1", "--buffered"),
            ("ioengine", "libaio", "--engine aio"),
            ("ioengine", "windowsaio", "--engine auto"),
            ("fsync", "1", "--sync-every 1 --sync-call fsync"),
            ("thinktime", "500", "--think 500us"),
            ("thinktime", "5ms", "--think 5ms"),
            ("status-interval", "2", "--interval 2s"),
        ] {
            assert_eq!(flags(fio(name, Some(value))), ours, "{name}={value}");
        }
        assert_eq!(flags(fio("bs", None)), "--block");
        assert!(flags(fio("direct", Some("1"))).contains("`--buffered`"));
        assert!(flags(fio("filename", Some("/data/x"))).contains("TARGET"));
        assert_eq!(fio("no-such-flag", Some("1")), None);
    }

    #[test]
    fn letters_of_diskspd_and_sqlio_have_ours() {
        let ours = |c, value| letter(c, value).map(|(tool, answer)| (tool, flags(Some(answer))));
        assert_eq!(ours('o', "32"), Some(("DiskSpd", "--depth 32".to_owned())));
        assert_eq!(ours('c', "1G"), Some(("DiskSpd", "--size 1G".to_owned())));
        assert_eq!(ours('k', "W"), Some(("SQLIO", "--write 100".to_owned())));
        assert_eq!(ours('f', "sequential"), Some(("SQLIO", "--pattern sequential".to_owned())));
        assert_eq!(ours('k', ""), None);
    }

    proptest! {
        #[test]
        fn anything_has_an_answer_or_none(name in "[a-z_]{0,12}", value in ".{0,20}", c: char) {
            let _ = fio(&name, Some(&value));
            let _ = letter(c, &value);
            for known in ["bs", "bssplit", "rw", "rwmixread", "thinktime", "ioengine", "direct"] {
                prop_assert!(fio(known, Some(&value)).is_some());
            }
        }
    }
}
