//! What SQLIO prints about one run, and how it prints it.

use std::fmt::Write as _;

/// The version whose output this is; scripts split logs at this line.
pub const VERSION: &str = "v1.5.SG";

/// Columns of the histogram: 0 to 23 ms, and everything from 24 ms on.
pub const HISTOGRAM_MS: usize = 25;

/// Rows of the CPU block, in order.
pub const CPU_ROWS: [&str; 6] = [
    "DPCTime(%)",
    "InterruptTime(%)",
    "PrivilegedTime(%)",
    "ProcessorTime(%)",
    "UserTime(%)",
    "Interrupts/sec",
];

/// What SQLIO prints about one run. Sizes are in KiB and MiB, as SQLIO says them; what a text does
/// not have is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Printout {
    /// The version after `sqlio`, for example `v1.5.SG`.
    pub version: String,
    /// How latency was timed; `None` if it was not.
    pub timer: Option<Timer>,
    /// The parameter file, as the call named it.
    pub parameter_file: Option<String>,
    /// The active lines of that file.
    pub pools: Vec<PoolLine>,
    /// The load, if the text says it.
    pub load: Option<Load>,
    /// In what pieces, and in what order.
    pub access: Option<Access>,
    /// I/Os that a thread keeps under way on a file; `None` if it waits for each.
    pub outstanding: Option<u32>,
    /// Pieces of each buffer, and their kind.
    pub buffers: Option<(BufferKind, u32)>,
    /// Which caches the I/O went through.
    pub buffering: Buffering,
    /// Files that had to grow for the test.
    pub expansions: Vec<Expansion>,
    /// Sizes of the files, as printed.
    pub sizes: Vec<FileSize>,
    /// I/Os per second, as printed.
    pub iops: Option<Figure>,
    /// MiB per second, as printed.
    pub mib_per_s: Option<Figure>,
    /// How busy the CPUs were; absent if the text does not say.
    pub cpu: Option<CpuBlock>,
    /// Minimum, mean and maximum of the time inside the call that starts an I/O, in µs.
    pub initiation_us: [Option<f64>; 3],
    /// Minimum, mean and maximum of latency, in ms.
    pub latency_ms: [Option<f64>; 3],
    /// Percent of the I/Os in each millisecond.
    pub histogram: Option<[u8; HISTOGRAM_MS]>,
}

/// The clock that timed latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// The processor's own counter, not the system's.
    pub processor: bool,
    /// How often the clock counts per second.
    pub per_second: u64,
}

/// An active line of a parameter file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLine {
    /// The file, as the line names it.
    pub file: String,
    /// How many threads work on it.
    pub threads: u32,
    /// Number of the first of them.
    pub first: u32,
    /// CPUs they may run on; 0 is all.
    pub mask: u64,
}

/// The load, as the text says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Threads on all files together.
    pub threads: u32,
    /// Whether it writes; otherwise it reads.
    pub writes: bool,
    /// The length that was asked for, in seconds.
    pub seconds: u64,
    /// The files; of several in one line, the commas and the `and` are taken for what parts them.
    pub files: Vec<String>,
}

/// In what pieces, and in what order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Size of one I/O in KiB.
    pub block_kib: u32,
    /// The order in which blocks are accessed.
    pub order: Order,
}

/// The order in which blocks are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// At random places in the file.
    Random,
    /// One block after the other, with one position per file.
    Sequential,
    /// Down the columns of a matrix of blocks.
    Striped {
        /// Length of a row in KiB.
        stripe_kib: u64,
        /// How many rows the matrix has.
        run_ios: u32,
    },
}

/// Whether pieces of a buffer are passed to the system or copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferKind {
    /// Pieces that are scattered and gathered.
    Scattered,
    /// Copied to and from one buffer.
    Copied,
}

/// Which caches were used, in SQLIO's letters of `-B`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Buffering {
    /// N: neither the disk's cache nor the system's.
    #[default]
    None,
    /// Y: the disk's cache and the system's.
    All,
    /// H: that of the disk, not that of the system.
    Hardware,
    /// S: that of the system; writes go through that of the disk.
    Software,
}

/// A file that had to grow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    /// The file that had to grow.
    pub file: String,
    /// The size it needs, in bytes.
    pub needed_bytes: u64,
    /// The size it had, in bytes.
    pub current_bytes: u64,
}

/// How large SQLIO says that a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSize {
    /// The file, as SQLIO prints it.
    pub file: String,
    /// The size, in MiB.
    pub mib: u64,
    /// As a parameter file says, not as it was found.
    pub specified: bool,
}

/// A number as it was printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The value of the number.
    pub value: f64,
    /// Digits after the point; 2 where SQLIO printed it.
    pub decimals: u8,
}

impl Figure {
    /// A number that is printed with two decimals.
    #[must_use]
    pub fn hundredths(hundredths: u64) -> Self {
        Self { value: hundredths as f64 / 100.0, decimals: 2 }
    }
}

/// Use of the CPUs over the run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CpuBlock {
    /// Heads of the columns: `ALL`, then the number of each CPU.
    pub columns: Vec<String>,
    /// The rows by the names of [`CPU_ROWS`], and one number per column. A row that is not known is
    /// left out.
    pub rows: Vec<(String, Vec<f64>)>,
}

impl Buffering {
    /// The words after `buffering set to`; `None` for the default.
    fn words(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::All => Some("use file cache and hardware disk cache"),
            Self::Hardware => Some("use hardware disk cache (but not file cache)"),
            Self::Software => Some("use file cache (but not hardware disk cache)"),
        }
    }
}

impl Printout {
    /// The text, line for line as SQLIO prints it.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write_head(&mut text);
        let _ = self.write_figures(&mut text);
        text
    }

    fn write_head(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "sqlio {}", self.version)?;
        if let Some(Timer { processor, per_second }) = self.timer {
            let counter = if processor { "processor" } else { "system" };
            writeln!(
                out,
                "using {counter} counter for latency timings, {per_second} counts per second"
            )?;
        }
        if let Some(file) = &self.parameter_file {
            writeln!(out, "parameter file used: {file}")?;
        }
        for PoolLine { file, threads, first, mask } in &self.pools {
            let (last, s) =
                (first.saturating_add(threads.saturating_sub(1)), plural(u64::from(*threads)));
            let numbers = if *threads == 1 { first.to_string() } else { format!("{first}-{last}") };
            writeln!(
                out,
                "\tfile {file} with {threads} thread{s} ({numbers}) using mask {mask:#x} ({mask})"
            )?;
        }
        if let Some(Load { threads, writes, seconds, files }) = &self.load {
            let (verb, way) = if *writes { ("writing", "to") } else { ("reading", "from") };
            let (s, secs) = (plural(u64::from(*threads)), plural(*seconds));
            let (files, names) = joined(files);
            writeln!(
                out,
                "{threads} thread{s} {verb} for {seconds} sec{secs} {way} {files} {names}"
            )?;
        }
        if let Some(Access { block_kib, order }) = self.access {
            match order {
                Order::Random => writeln!(out, "\tusing {block_kib}KB random IOs")?,
                Order::Sequential => writeln!(out, "\tusing {block_kib}KB sequential IOs")?,
                Order::Striped { stripe_kib, run_ios } => writeln!(
                    out,
                    "\tusing {block_kib}KB IOs over {stripe_kib}KB stripes with {run_ios} IOs per \
                     run"
                )?,
            }
        }
        if let Some(depth) = self.outstanding {
            writeln!(out, "\tenabling multiple I/Os per thread with {depth} outstanding")?;
        }
        if let Some((kind, pieces)) = self.buffers {
            let way = match kind {
                BufferKind::Scattered => "scatter/gather",
                BufferKind::Copied => "copy",
            };
            writeln!(out, "\tusing multi-buffer I/Os ({way}) with {pieces} buffers")?;
        }
        if let Some(words) = self.buffering.words() {
            writeln!(out, "\tbuffering set to {words}")?;
        }
        for Expansion { file, needed_bytes, current_bytes } in &self.expansions {
            let more = needed_bytes.saturating_sub(*current_bytes);
            writeln!(out, "size of file {file} needs to be: {needed_bytes} bytes")?;
            writeln!(out, "current file size:\t{current_bytes} bytes")?;
            writeln!(out, "need to expand by:\t{more} bytes")?;
            writeln!(out, "expanding {file} ... done.")?;
        }
        for FileSize { file, mib, specified } in &self.sizes {
            let word = if *specified { "specified" } else { "current" };
            writeln!(out, "using {word} size: {mib} MB for file: {file}")?;
        }
        Ok(())
    }

    fn write_figures(&self, out: &mut String) -> std::fmt::Result {
        let (Some(iops), Some(mib_per_s)) = (self.iops, self.mib_per_s) else { return Ok(()) };
        writeln!(out, "initialization done\nCUMULATIVE DATA:\nthroughput metrics:")?;
        writeln!(out, "IOs/sec: {:8.2}", iops.value)?;
        writeln!(out, "MBs/sec: {:8.2}", mib_per_s.value)?;
        if let Some(cpu) = &self.cpu {
            writeln!(out, "ProcessorNumber:  {}", cpu.columns.join(" "))?;
            for (name, values) in &cpu.rows {
                let values: Vec<String> = values.iter().map(|v| format!("{v:.2}")).collect();
                writeln!(out, "{name}:  {}", values.join(" "))?;
            }
        }
        if self.timer.is_none() {
            return Ok(());
        }
        writeln!(out, "latency metrics:")?;
        write_three(out, "_Init_Latency(us)", self.initiation_us)?;
        write_three(out, "_Latency(ms)", self.latency_ms)?;
        if let Some(histogram) = &self.histogram {
            write!(out, "histogram:\nms:")?;
            for ms in 0..HISTOGRAM_MS {
                // The first column is a letter narrower, because `ms:` is one wider than `%:`.
                if ms == 0 { write!(out, "{ms:2}")? } else { write!(out, "{ms:3}")? }
            }
            write!(out, "+\n%:")?;
            histogram.iter().try_for_each(|percent| write!(out, "{percent:3}"))?;
            writeln!(out)?;
        }
        Ok(())
    }
}

/// Minimum, mean and maximum; without all of them, none.
fn write_three(out: &mut String, name: &str, three: [Option<f64>; 3]) -> std::fmt::Result {
    if let [Some(min), Some(mean), Some(max)] = three {
        writeln!(out, "Min{name}: {min:.0}\nAvg{name}: {mean:.0}\nMax{name}: {max:.0}")?;
    }
    Ok(())
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// `file A`, `files A and B`, `files A, B and C`.
fn joined(files: &[String]) -> (&'static str, String) {
    match files {
        [] => ("file", String::new()),
        [file] => ("file", file.clone()),
        [first @ .., last] => ("files", format!("{} and {last}", first.join(", "))),
    }
}

#[cfg(test)]
#[path = "printout_tests.rs"]
mod tests;
