//! A workload as a configuration: each thread a worker with an access specification of its stream.

use thiserror::Error;
use workload::{
    Completion, Content, Distribution, Mix, MixPart, Mode, Nanoseconds, Pattern, PoolShare, Stream,
    ThinkFrom, Workload,
};

use super::config::{AccessSpec, Config, Kind, Manager, Setup, Target, Worker};
use super::mix::NoSpec;
use crate::fio::jobs::in_percent;
use crate::losses::Losses;

/// The most workers that are written.
const WORKERS_MAX: u64 = 10_000;
/// Sectors of devices, and of the files on file systems.
const SECTOR_BYTES: u64 = 512;
const FILE_SYSTEM_SECTOR_BYTES: u64 = 4096;
/// The file that IOMeter makes on a disk with a file system.
const FILE: &str = "/iobw.tst";
/// The data pattern of parts of a large random buffer.
const FULL_RANDOM: u32 = 2;

/// Why a workload is not a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoConfig {
    /// A stream is not an access specification.
    #[error("stream `{stream}`: {reason}")]
    Spec {
        /// The stream that cannot be expressed.
        stream: String,
        /// Why IOMeter cannot express it.
        reason: NoSpec,
    },
    /// More threads than anybody has workers.
    #[error(
        "there are {0} threads on targets; {WORKERS_MAX} workers are the most that are written"
    )]
    Workers(u64),
}

impl Config {
    /// A configuration that does the same as a workload, as far as IOMeter can express it, and the
    /// losses.
    pub fn of_workload(workload: &Workload) -> Result<(Self, Vec<String>), NoConfig> {
        if workload.threads() > WORKERS_MAX {
            return Err(NoConfig::Workers(workload.threads()));
        }
        let mut made = ConfigBuilder::default();
        for stream in &workload.streams {
            made.losses.begin_stream(&stream.name);
            made.stream(workload, stream)?;
        }
        made.losses.end_streams();
        let setup = made.setup(workload);
        let manager = Manager {
            id: 1,
            name: "iosonde".to_owned(),
            address: String::new(),
            workers: made.workers,
        };
        let config = Self {
            setup: Some(setup),
            display: Vec::new(),
            specs: made.specs,
            managers: vec![manager],
        };
        Ok((config, made.losses.into_sentences()))
    }
}

/// Collects the parts of a configuration.
#[derive(Default)]
struct ConfigBuilder {
    specs: Vec<AccessSpec>,
    workers: Vec<Worker>,
    losses: Losses,
}

impl ConfigBuilder {
    fn setup(&mut self, workload: &Workload) -> Setup {
        let parts = "parts of a second of seconds or warmup_seconds";
        self.losses
            .add_if(workload.seconds.fract() + workload.warmup_seconds.fract() != 0.0, parts);
        self.losses.add_if(
            workload.mode != Mode::Direct,
            "the operating system's cache; IOMeter goes past it",
        );
        self.losses.add_if(
            workload.precision.is_some(),
            "the end of the window when a precision is reached",
        );
        self.losses
            .add_if(workload.cooldown_seconds > 0.0, "I/O after the window (cooldown_seconds)");
        self.losses.add_if(
            workload.completion == Completion::Spin,
            "waiting without sleep (completion = \"spin\")",
        );
        self.losses.add_if(workload.engine.is_artificial(), "the engine; IOMeter makes real I/O");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let [seconds, ramp_seconds] =
            [workload.seconds, workload.warmup_seconds].map(|s| s.ceil() as u32);
        let description: String = workload.title().chars().take(200).collect();
        Setup {
            description: description.replace(',', ";").trim().to_owned(),
            hours: seconds / 3600,
            minutes: seconds % 3600 / 60,
            seconds: seconds % 60,
            ramp_seconds,
            ..Setup::default()
        }
    }

    fn stream(&mut self, workload: &Workload, stream: &Stream) -> Result<(), NoConfig> {
        let mix = stream.mix.clone().unwrap_or_else(|| self.mix(stream));
        let name = self.free_name(&stream.name);
        let wrong = |reason| NoConfig::Spec { stream: stream.name.clone(), reason };
        let (spec, lost) = AccessSpec::from_mix(&name, &mix).map_err(wrong)?;
        self.losses.add_if(
            spec.name != stream.name,
            &format!("the name of the stream; the access specification is `{}`", spec.name),
        );
        for what in &lost {
            self.losses.add(what);
        }
        self.unsaid(stream);
        let pattern = self.pattern(stream);
        let indexes = stream.target_indexes(workload.targets.len());
        let groups: Vec<Vec<usize>> = match stream.pool {
            Some(_) => vec![indexes],
            None => indexes.into_iter().map(|index| vec![index]).collect(),
        };
        let mut number = 0;
        for group in &groups {
            let worker = self.worker(workload, stream, group);
            for _ in 0..stream.threads {
                number += 1;
                let several = stream.threads > 1 || groups.len() > 1;
                let name =
                    if several { format!("{} {number}", stream.name) } else { stream.name.clone() };
                let name = super::write::plain(&name);
                let specs = vec![spec.name.clone()];
                self.workers.push(Worker { name, specs, pattern: Some(pattern), ..worker.clone() });
            }
        }
        self.specs.push(spec);
        Ok(())
    }

    /// Adds a worker for some targets.
    fn worker(&mut self, workload: &Workload, stream: &Stream, targets: &[usize]) -> Worker {
        let places: Vec<_> = targets.iter().filter_map(|t| workload.targets.get(*t)).collect();
        let names: Vec<(String, u64)> =
            places.iter().map(|p| self.target(&p.path.to_string_lossy())).collect();
        let sector = names.first().map_or(SECTOR_BYTES, |(_, sector)| *sector);
        let size = places.iter().filter_map(|p| p.size_bytes).map(|b| b.0).min();
        let offset = stream.offset_bytes.0;
        let used = stream.span_bytes.map(|s| s.0).or(size.map(|s| s.saturating_sub(offset)));
        let odd = !offset.is_multiple_of(sector) || used.is_some_and(|u| !u.is_multiple_of(sector));
        self.losses.add_if(odd, &format!("parts of a sector of {sector} bytes in the used part"));
        Worker {
            kind: Kind::Disk,
            outstanding: stream.depth,
            maximum_sectors: used.map_or(0, |used| used / sector),
            start_sector: offset / sector,
            use_seed: true,
            seed: workload.seed,
            targets: names
                .into_iter()
                .map(|(name, _)| Target { name, kind: Kind::Disk, manager: None })
                .collect(),
            ..Worker::default()
        }
    }

    /// A path as IOMeter names it on its system, and the size of its sectors.
    fn target(&mut self, path: &str) -> (String, u64) {
        if let Some(drive) = path.strip_suffix(FILE).and_then(|place| place.strip_suffix(":\\")) {
            return (format!("{drive}:"), SECTOR_BYTES);
        }
        if let Some(mount) = path.strip_suffix(FILE) {
            let mount = if mount.is_empty() { "/" } else { mount };
            return (format!("{mount} [ext4]"), FILE_SYSTEM_SECTOR_BYTES);
        }
        if let Some(disk) = path.strip_prefix(r"\\.\PhysicalDrive") {
            return (format!("PHYSICALDRIVE:{disk}"), SECTOR_BYTES);
        }
        match path.strip_prefix("/dev/") {
            Some(device) if !device.contains('/') => (device.to_owned(), SECTOR_BYTES),
            _ => {
                let what = format!(
                    "`{path}` stands as it is; IOMeter works on devices and on the file \
                     `iobw.tst` at the top of a file system"
                );
                self.losses.add_once(&what);
                (path.to_owned(), SECTOR_BYTES)
            }
        }
    }

    /// A plain stream as kinds of I/O, one for each block size.
    fn mix(&mut self, stream: &Stream) -> Mix {
        let sizes: Vec<(u64, u32)> = stream.blocks.iter().map(|b| (b.bytes.0, b.weight)).collect();
        let (percents, exact) = in_percent(&sizes);
        self.losses.add_if(!exact, "parts of a percent in the weights of the blocks");
        let random = stream.pattern == Pattern::Random;
        let random_percent = if random { 100 } else { stream.random_percent };
        let align = if random_percent == 0 { SECTOR_BYTES } else { stream.alignment() };
        let think = stream.think.filter(|think| {
            let from = think.from == ThinkFrom::Submission;
            self.losses.add_if(
                !from,
                "pauses from the completion of a burst; IOMeter's begin when it is issued",
            );
            from
        });
        let part = |(block, percent): (&workload::Block, u32)| MixPart {
            percent: u8::try_from(percent).unwrap_or(100),
            block_bytes: block.bytes,
            write_percent: stream.write_percent,
            random_percent,
            delay_ns: think.map_or(Nanoseconds(0), |t| t.pause_ns),
            burst_ios: think.map_or(1, |t| t.burst_ios),
            // IOMeter writes the sector as 0.
            align_bytes: workload::Bytes(if align == SECTOR_BYTES { 0 } else { align }),
            ..MixPart::default()
        };
        let several = think.is_some() && sizes.len() > 1;
        self.losses.add_if(several, "the size of each I/O of a burst; a burst has one size");
        Mix { parts: stream.blocks.iter().zip(percents).map(part).collect() }
    }

    /// What a stream says that no access specification does.
    fn unsaid(&mut self, stream: &Stream) {
        let sequential = stream.pattern == Pattern::Sequential && stream.mix.is_none();
        let spread = sequential && stream.threads > 1 && stream.random_percent < 100;
        self.losses
            .add_if(spread, "threads spread over the file; all workers begin at its first sector");
        let order = !matches!(stream.pattern, Pattern::Random | Pattern::Sequential);
        self.losses.add_if(
            order || stream.diskspd.is_some(),
            "the order of offsets; IOMeter's continues after the last I/O or anywhere",
        );
        self.losses.add_if(
            stream.distribution != Distribution::Uniform,
            "the distribution of random offsets; IOMeter's is even",
        );
        self.losses.add_if(stream.rate.is_some(), "the rate; IOMeter goes as fast as it can");
        self.losses.add_if(
            stream.sync.is_some() || stream.durable && stream.writes(),
            "flushes and durable writes; IOMeter has none",
        );
        self.losses.add_if(!stream.buffers.is_single(), "the layout of the buffers");
        self.losses
            .add_if(!stream.cpus.is_empty() || stream.priority.is_some(), "CPUs and I/O priority");
        self.losses.add_if(
            stream.mode.is_some() || stream.hint.is_some(),
            "the cache and the hints of one stream",
        );
        self.losses.add_if(
            stream.joined || !stream.members.is_empty(),
            "threads that work on the targets of several streams",
        );
        let each = stream.pool.as_ref().is_none_or(|p| p.share == PoolShare::Each);
        self.losses
            .add_if(!each, "a depth for all targets together; workers have it on each of them");
    }

    /// The number of IOMeter's data pattern that is closest to the content of writes.
    fn pattern(&mut self, stream: &Stream) -> u32 {
        match stream.content {
            _ if !stream.writes() => FULL_RANDOM,
            Content::Repeating => 0,
            Content::Fixed => 1,
            Content::Source { .. } if stream.content_file.is_none() => FULL_RANDOM,
            Content::Random => {
                self.losses.add(
                    "bytes that never repeat; parts of a buffer of 16 MiB are written (pattern 2)",
                );
                FULL_RANDOM
            }
            _ => {
                self.losses.add(
                    "what is written; it is one byte over and over, which compresses, too \
                     (pattern 0)",
                );
                0
            }
        }
    }

    /// The name of a stream, or one like it that no other has.
    fn free_name(&self, name: &str) -> String {
        let taken = |name: &str| self.specs.iter().any(|s| s.name.eq_ignore_ascii_case(name));
        let name = super::write::plain_name(name);
        let name = if name.is_empty() { "stream".to_owned() } else { name };
        let mut number = 1;
        let mut free = name.clone();
        while taken(&free) || free.eq_ignore_ascii_case(super::IDLE) {
            number += 1;
            free = format!("{name} {number}");
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::drives::Drives;
    use workload::specs::spec;
    use workload::{Bytes, OnError, Pool, Target as Place};

    fn again(config: &Config) -> Workload {
        let text = config.to_icf();
        let found = read(text.as_bytes()).unwrap();
        assert_eq!(found.notes.len(), 0, "{text}");
        assert_eq!(found.config, *config);
        let steps = config.runs().steps;
        assert_eq!(steps.len(), 1);
        // On Windows, too, the devices are those of Linux.
        let drives = Drives::default().on_windows(false);
        config.workload(&steps[0], &drives).unwrap().workload
    }

    #[test]
    fn mixes_on_a_file_and_a_device_come_back() {
        let stream = |name: &str, index| Stream {
            name: format!("Worker {}", index + 1),
            depth: 16,
            targets: vec![index],
            pool: Some(Pool { share: PoolShare::Each }),
            content: Content::Fixed,
            ..Stream::of_mix(name, Mix { parts: spec(name).unwrap().parts.to_vec() })
        };
        let place = |path: &str| Place { path: path.into(), size_bytes: Some(Bytes(4 << 30)) };
        let web = Stream { content: Content::Random, ..stream("Web Server", 1) };
        let streams = vec![stream("File Server", 0), web]
            .into_iter()
            .map(|s| Stream { span_bytes: Some(Bytes(4 << 30)), ..s });
        let workload = Workload {
            targets: vec![place("/mnt/iobw.tst"), place("/dev/sdb")],
            streams: streams.collect(),
            seconds: 3725.0,
            ..Workload::single(place("/x"), Stream::default())
        };
        let (config, lost) = Config::of_workload(&workload).unwrap();
        // How errors are handled does not belong to the load: `--strict` could never succeed.
        assert_eq!(lost, [""; 0]);
        assert_eq!(config.managers[0].workers[0].targets[0].name, "/mnt [ext4]");
        assert_eq!(config.managers[0].workers[0].maximum_sectors, 1 << 20);
        let workload = Workload { on_error: OnError::Continue, ..workload };
        assert_eq!(again(&config), workload);
        assert_eq!(Config::of_workload(&workload).unwrap().1, [""; 0]);
    }

    #[test]
    fn a_plain_stream_is_an_access_specification() {
        let place = Place { path: "/data/file".into(), size_bytes: Some(Bytes(1 << 30)) };
        let stream = Stream { threads: 3, durable: true, write_percent: 40, ..Stream::default() };
        let (config, lost) =
            Config::of_workload(&Workload { seconds: 0.5, ..Workload::single(place, stream) })
                .unwrap();
        assert_eq!((config.specs.len(), config.managers[0].workers.len()), (1, 3));
        assert_eq!(config.specs[0].rows[0].fields(), "8192,100,60,100,0,1,8192,0");
        for what in ["parts of a second", "stands as it is", "durable", "never repeat"] {
            assert!(lost.iter().any(|l| l.contains(what)), "{what}: {lost:?}");
        }
        assert_eq!(again(&config).threads(), 3);
    }
}
