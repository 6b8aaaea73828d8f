//! A profile as XML.

use super::{
    CacheMode, DistributionKind, Etw, FlushType, Precreate, Profile, ResultFormat, Target,
    Throughput, TimeSpan, WriteContent,
};
use crate::xml::Writer;

impl Profile {
    /// The element `Profile`, `depth` levels deep.
    pub fn write_xml(&self, out: &mut String, depth: usize) {
        Writer::new(out, depth).element("Profile", |w| self.write_inside(w));
    }

    fn write_inside(&self, w: &mut Writer<'_>) {
        w.text("Progress", self.progress);
        if self.experiment_flags > 0 {
            w.text("ExperimentFlags", self.experiment_flags);
        }
        w.text(
            "ResultFormat",
            match self.result_format {
                ResultFormat::Text => "text",
                ResultFormat::Xml => "xml",
            },
        );
        w.text("Verbose", self.verbose);
        if self.verbose_stats {
            w.text("VerboseStats", true);
        }
        if let Some(precreate) = self.precreate {
            w.text(
                "PrecreateFiles",
                match precreate {
                    Precreate::UseMaxSize => "UseMaxSize",
                    Precreate::ConstantSizes => "CreateOnlyFilesWithConstantSizes",
                    Precreate::ConstantOrZeroSizes => "CreateOnlyFilesWithConstantOrZeroSizes",
                },
            );
        }
        if let Some(etw) = &self.etw {
            w.element("ETW", |w| etw.write_xml(w));
        }
        w.element("TimeSpans", |w| {
            for span in &self.time_spans {
                w.element("TimeSpan", |w| span.write_xml(w));
            }
        });
    }
}

impl Etw {
    fn write_xml(&self, w: &mut Writer<'_>) {
        w.text("Process", self.process);
        w.text("Thread", self.thread);
        w.text("ImageLoad", self.image_load);
        w.text("DiskIO", self.disk_io);
        w.text("MemoryPageFaults", self.memory_page_faults);
        w.text("MemoryHardFaults", self.memory_hard_faults);
        w.text("Network", self.network);
        w.text("Registry", self.registry);
        w.text("UsePagedMemory", self.use_paged_memory);
        w.text("UsePerfTimer", self.use_perf_timer);
        w.text("UseSystemTimer", self.use_system_timer);
        w.text("UseCyclesCounter", self.use_cycles_counter);
    }
}

impl TimeSpan {
    fn write_xml(&self, w: &mut Writer<'_>) {
        w.text("CompletionRoutines", self.completion_routines);
        w.text("MeasureLatency", self.measure_latency);
        w.text("CalculateIopsStdDev", self.iops_std_dev);
        w.text("DisableAffinity", self.disable_affinity);
        w.text("Duration", self.duration_s);
        w.text("Warmup", self.warmup_s);
        w.text("Cooldown", self.cooldown_s);
        w.text("ThreadCount", self.thread_count);
        w.text("RequestCount", self.request_count);
        w.text("IoBucketDuration", self.io_bucket_ms);
        w.text("RandSeed", self.seed);
        if self.random_write_data {
            w.text("RandomWriteData", true);
        }
        if !self.affinity.is_empty() {
            w.element("Affinity", |w| {
                for p in &self.affinity {
                    w.empty(
                        "AffinityGroupAssignment",
                        &[("Group", &p.group), ("Processor", &p.cpu)],
                    );
                }
            });
        }
        w.element("Targets", |w| {
            for target in &self.targets {
                w.element("Target", |w| target.write_xml(w));
            }
        });
    }
}

impl Target {
    fn write_xml(&self, w: &mut Writer<'_>) {
        w.text("Path", &self.path);
        w.text("BlockSize", self.block_bytes);
        w.text("BaseFileOffset", self.base_offset_bytes);
        w.text("SequentialScan", self.sequential_scan);
        w.text("RandomAccess", self.random_access);
        w.text("TemporaryFile", self.temporary);
        w.text("UseLargePages", self.large_pages);
        self.write_caches(w);
        self.write_content(w);
        w.text("ParallelAsyncIO", self.parallel_async);
        for (name, value) in [("BurstSize", self.burst_ios), ("ThinkTime", self.think_ms)] {
            if let Some(value) = value {
                w.text(name, value);
            }
        }
        if let Some(bytes) = self.create_bytes {
            w.text("FileSize", bytes);
        }
        self.write_order(w);
        w.text("ThreadStride", self.thread_stride_bytes);
        w.text("MaxFileSize", self.max_offset_bytes);
        w.text("RequestCount", self.outstanding);
        w.text("WriteRatio", self.write_percent);
        match self.throughput {
            None => w.text("Throughput", 0),
            Some(Throughput::BytesPerMs(value)) => w.text("Throughput", value),
            Some(Throughput::Iops(value)) => w.text_with("Throughput", &[("unit", &"IOPS")], value),
        }
        w.text("ThreadsPerFile", self.threads_per_file);
        w.text("IOPriority", self.io_priority);
        w.text("Weight", self.weight);
        if !self.thread_targets.is_empty() {
            w.element("ThreadTargets", |w| {
                for named in &self.thread_targets {
                    w.element("ThreadTarget", |w| {
                        w.text("Thread", named.thread);
                        if named.weight > 0 {
                            w.text("Weight", named.weight);
                        }
                    });
                }
            });
        }
    }

    fn write_caches(&self, w: &mut Writer<'_>) {
        match self.cache {
            CacheMode::Cached => {}
            CacheMode::DisableLocalCache => w.text("DisableLocalCache", true),
            CacheMode::DisableOsCache => w.text("DisableOSCache", true),
        }
        if self.write_through {
            w.text("WriteThrough", true);
        }
        if self.memory_mapped {
            w.text("MemoryMappedIo", true);
        }
        if let Some(flush) = self.flush {
            w.text(
                "FlushType",
                match flush {
                    FlushType::ViewOfFile => "ViewOfFile",
                    FlushType::NonVolatileMemory => "NonVolatileMemory",
                    FlushType::NonVolatileMemoryNoDrain => "NonVolatileMemoryNoDrain",
                },
            );
        }
    }

    fn write_content(&self, w: &mut Writer<'_>) {
        w.element("WriteBufferContent", |w| match &self.write_content {
            WriteContent::Counting => w.text("Pattern", "sequential"),
            WriteContent::Zero => w.text("Pattern", "zero"),
            WriteContent::Random { bytes, file } => {
                w.text("Pattern", "random");
                w.element("RandomDataSource", |w| {
                    w.text("SizeInBytes", bytes);
                    if let Some(file) = file {
                        w.text("FilePath", file);
                    }
                });
            }
        });
    }

    fn write_order(&self, w: &mut Writer<'_>) {
        if self.random_percent == 0 {
            w.text("StrideSize", self.step());
            w.text("InterlockedSequential", self.interlocked);
        } else {
            w.text("Random", self.step());
            if self.random_percent < 100 {
                w.text("RandomRatio", self.random_percent);
            }
        }
        let Some(distribution) = &self.distribution else { return };
        let kind = match distribution.kind {
            DistributionKind::Percent => "Percent",
            DistributionKind::Absolute => "Absolute",
        };
        w.element("Distribution", |w| {
            w.element(kind, |w| {
                for range in &distribution.ranges {
                    w.text_with("Range", &[("IO", &range.io_percent)], range.extent);
                }
            });
        });
    }
}
