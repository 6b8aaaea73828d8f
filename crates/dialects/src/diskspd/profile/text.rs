//! A profile as DiskSpd shows it above its results.

use std::fmt::Write as _;

use super::{
    CacheMode, Distribution, DistributionKind, FlushType, Profile, Target, Throughput, TimeSpan,
    WriteContent,
};
use crate::diskspd::size::{show_size, show_size_aligned};

impl Profile {
    /// From the empty line before `Command Line:` up to the empty line after the last time span.
    pub fn write_text(&self, out: &mut String) {
        line(out, "");
        line(out, &format!("Command Line: {}", self.command_line));
        line(out, "");
        if self.experiment_flags > 0 {
            let flags = self.experiment_flags;
            line(out, &format!("Experiment Flags: {flags:#x} ({flags})\n"));
        }
        line(out, "Input parameters:\n");
        if self.verbose {
            line(out, "\tusing verbose mode");
        }
        for (index, span) in self.time_spans.iter().enumerate() {
            span.write_text(index + 1, out);
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

impl TimeSpan {
    fn write_text(&self, number: usize, out: &mut String) {
        // A String takes everything.
        let _ = writeln!(out, "\ttimespan: {number:3}\n\t-------------");
        let _ = writeln!(out, "\tduration: {}s", self.duration_s);
        let _ = writeln!(out, "\twarm up time: {}s", self.warmup_s);
        let _ = writeln!(out, "\tcool down time: {}s", self.cooldown_s);
        if self.disable_affinity {
            line(out, "\taffinity disabled");
        }
        if self.measure_latency {
            line(out, "\tmeasuring latency");
        }
        if self.iops_std_dev {
            let _ = writeln!(out, "\tgathering IOPS at intervals of {}ms", self.io_bucket_ms);
        }
        let _ = writeln!(out, "\trandom seed: {}", self.seed);
        if self.thread_count > 0 {
            let _ = writeln!(out, "\tthread pool with {} threads", self.thread_count);
            let requests = self.request_count;
            let _ = writeln!(out, "\tnumber of outstanding I/O operations per thread: {requests}");
        }
        if !self.affinity.is_empty() {
            let cpu = |p: &super::Processor| format!("{}/{}", p.group, p.cpu);
            let list: Vec<String> = self.affinity.iter().map(cpu).collect();
            let list = list.join(", ");
            let _ = writeln!(out, "\tadvanced affinity round robin (group/core): {list}");
        }
        if self.random_write_data {
            line(out, "\tgenerating random data for each write");
            line(out, "\t\tthis costs CPU time, which may lower the throughput;");
            line(out, "\t\tcompare with a run that writes other data");
        }
        for target in &self.targets {
            target.write_text(self, out);
        }
        line(out, "");
    }
}

impl Target {
    fn write_text(&self, span: &TimeSpan, out: &mut String) {
        match self.path.strip_prefix('*') {
            Some(name) => line(out, &format!("\tpath: template target '{name}'")),
            None => line(out, &format!("\tpath: '{}'", self.path)),
        }
        let mut say = |text: &str| {
            out.push_str("\t\t");
            out.push_str(text);
            out.push('\n');
        };
        say(&format!("think time: {}ms", self.think_ms.unwrap_or(0)));
        say(&format!("burst size: {}", self.burst_ios.unwrap_or(0)));
        self.say_caches(&mut say);
        self.say_content_and_order(&mut say);
        if span.draws_targets() {
            say(&format!("relative IO weight in thread pool: {}", self.weight));
        } else {
            let outstanding = self.outstanding;
            say(&format!("number of outstanding I/O operations per thread: {outstanding}"));
        }
        for (what, bytes) in [
            ("base file offset", self.base_offset_bytes),
            ("max file size", self.max_offset_bytes),
            ("thread stride size", self.thread_stride_bytes),
        ] {
            if bytes > 0 {
                say(&format!("{what}: {}", show_size(bytes)));
            }
        }
        for (is_set, hint) in [
            (self.sequential_scan, "FILE_FLAG_SEQUENTIAL_SCAN"),
            (self.random_access, "FILE_FLAG_RANDOM_ACCESS"),
            (self.temporary, "FILE_ATTRIBUTE_TEMPORARY"),
        ] {
            if is_set {
                say(&format!("using {hint} hint"));
            }
        }
        if span.thread_count == 0 {
            say(&format!("threads per file: {}", self.threads_per_file));
            if self.outstanding > 1 {
                say(if span.completion_routines {
                    "using completion routines (ReadFileEx/WriteFileEx)"
                } else {
                    "using I/O Completion Ports"
                });
            }
        }
        say(match self.io_priority {
            1 => "IO priority: very low",
            2 => "IO priority: low",
            _ => "IO priority: normal",
        });
        match self.throughput {
            Some(Throughput::Iops(iops)) => {
                say(&format!("throughput rate-limited to {iops} IOPS"));
            }
            Some(Throughput::BytesPerMs(bytes)) => {
                say(&format!("throughput rate-limited to {bytes} B/ms"));
            }
            None => {}
        }
        if let Some(distribution) = &self.distribution {
            say("IO Distribution:");
            distribution.write_text(out);
        }
    }

    fn say_caches(&self, say: &mut dyn FnMut(&str)) {
        say(match self.cache {
            CacheMode::Cached => "using software cache",
            CacheMode::DisableLocalCache => "local software cache disabled, remote cache enabled",
            CacheMode::DisableOsCache => "software cache disabled",
        });
        say(match (self.write_through, self.cache) {
            (false, _) => "using hardware write cache, writethrough off",
            (true, CacheMode::DisableOsCache) => "hardware write cache disabled, writethrough on",
            (true, _) => "hardware and software write caches disabled, writethrough on",
        });
        if self.memory_mapped {
            let flush = match self.flush {
                None => "",
                Some(FlushType::ViewOfFile) => ", flush mode: FlushViewOfFile",
                Some(FlushType::NonVolatileMemory) => ", flush mode: FlushNonVolatileMemory",
                Some(FlushType::NonVolatileMemoryNoDrain) => {
                    ", flush mode: FlushNonVolatileMemory with no drain"
                }
            };
            say(&format!("memory mapped I/O enabled{flush}"));
        }
    }

    fn say_content_and_order(&self, say: &mut dyn FnMut(&str)) {
        match &self.write_content {
            WriteContent::Counting => {}
            WriteContent::Zero => say("zeroing write buffers"),
            WriteContent::Random { bytes, file } => {
                say(&format!("write buffer size: {}", show_size(*bytes)));
                let source = file.as_ref().map(|file| format!("'{file}'"));
                let source = source.unwrap_or_else(|| "random fill".to_owned());
                say(&format!("write buffer source: {source}"));
            }
        }
        if self.parallel_async {
            say("using parallel async I/O");
        }
        let writes = self.write_percent;
        match writes {
            0 => say("performing read test"),
            100 => say("performing write test"),
            _ => {
                let reads = 100u32.saturating_sub(writes);
                say(&format!("performing mix test (read/write ratio: {reads}/{writes})"));
            }
        }
        say(&format!("block size: {}", show_size(self.block_bytes.into())));
        let step = show_size(self.step());
        match self.random_percent {
            0 => {
                let shared = if self.interlocked { " interlocked" } else { "" };
                say(&format!("using{shared} sequential I/O (stride: {step})"));
            }
            100 => say(&format!("using random I/O (alignment: {step})")),
            percent => say(&format!(
                "using mixed random/sequential I/O ({percent}% random) (alignment/stride: {step})"
            )),
        }
    }
}

impl Distribution {
    fn write_text(&self, out: &mut String) {
        let mut start = 0u64;
        for range in &self.ranges {
            let end = start.saturating_add(range.extent);
            let io = range.io_percent;
            // A String takes everything.
            let _ = match self.kind {
                DistributionKind::Percent => {
                    writeln!(out, "\t\t   {io:3}% of IO => [{start:2}% - {end:3}%) of target")
                }
                DistributionKind::Absolute => {
                    let from = match start {
                        0 => "     0   ".to_owned(),
                        bytes => show_size_aligned(bytes),
                    };
                    let to = match range.extent {
                        0 => "      end".to_owned(),
                        _ => show_size_aligned(end),
                    };
                    writeln!(out, "\t\t   {io:3}% of IO => [{from} - {to})")
                }
            };
            start = end;
        }
    }
}
