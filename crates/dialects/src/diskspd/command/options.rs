//! What each option means.

use super::super::fault::Fault;
use super::super::lex::{integer, size, size_before, unsigned};
use super::super::profile::{
    BLOCK_BYTES_DEFAULT, CacheMode, FlushType, Profile, ResultFormat, Target, Throughput, TimeSpan,
    WriteContent,
};
use super::parts;
use super::{Events, Overrides, Reading};

/// Options whose values others need, or that may be given with a profile.
pub(super) fn is_first(letter: char) -> bool {
    ":bCdRvWXz".contains(letter)
}

/// What the options read so far mean.
#[expect(clippy::struct_excessive_bools, reason = "each is an option that counts once")]
pub(super) struct Options {
    reading: Reading,
    pub profile: Profile,
    pub span: TimeSpan,
    pub target: Target,
    pub events: Events,
    pub overrides: Overrides,
    pub file: Option<String>,
    pub set_event: Option<String>,
    pub notes: Vec<String>,
    base_said: bool,
    max_said: bool,
    cache_said: bool,
    zero: bool,
}

impl Options {
    pub(super) fn new(reading: Reading, notes: Vec<String>) -> Self {
        Self {
            reading,
            profile: Profile::default(),
            span: TimeSpan::default(),
            target: Target::default(),
            events: Events::default(),
            overrides: Overrides::default(),
            file: None,
            set_event: None,
            notes,
            base_said: false,
            max_said: false,
            cache_said: false,
            zero: false,
        }
    }

    /// Reads one option with its value.
    pub(super) fn read(&mut self, letter: char, value: &str) -> Result<(), Fault> {
        match letter {
            ':' | 'C' | 'd' | 'R' | 'v' | 'W' | 'X' | 'z' => self.read_beside(letter, value),
            'B' | 'f' | 'p' | 'r' | 's' | 'T' => self.read_order(letter, value),
            'a' | 'e' | 'F' | 'n' | 'O' | 'P' | 'x' | 'y' | 'D' | 'L' => {
                self.read_span(letter, value)
            }
            _ => self.read_target(letter, value),
        }
    }

    /// Options that are allowed with a profile.
    fn read_beside(&mut self, letter: char, value: &str) -> Result<(), Fault> {
        let overrides = &mut self.overrides;
        match letter {
            ':' => overrides.experiment_flags = Some(unsigned(value).unwrap_or(0)),
            'C' => overrides.cooldown_s = Some(not_negative(value)?),
            'd' => overrides.duration_s = Some(not_negative(value)?),
            'W' => overrides.warmup_s = Some(not_negative(value)?),
            'z' if value.is_empty() => overrides.seed = Some(self.reading.clock),
            'z' => overrides.seed = Some(unsigned(value).ok_or(Fault::Seed)?),
            'v' => match value {
                "" => overrides.verbose = true,
                "s" => overrides.verbose_stats = true,
                _ => return Err(Fault::Verbose),
            },
            'R' => {
                let rest = value.strip_prefix('p');
                overrides.profile_only |= rest.is_some();
                overrides.format = Some(match (rest, rest.unwrap_or(value)) {
                    (_, "text") | (Some(_), "") => ResultFormat::Text,
                    (_, "xml") => ResultFormat::Xml,
                    _ => return Err(Fault::Format),
                });
            }
            _ if self.file.is_some() => return Err(Fault::ProfileTwice),
            _ => self.file = Some(value.to_owned()),
        }
        Ok(())
    }

    /// What a thread does, and how many there are.
    fn read_span(&mut self, letter: char, value: &str) -> Result<(), Fault> {
        match letter {
            'a' => {
                let (mut list, wrapped) = parts::affinity(value)?;
                if wrapped {
                    let note = format!(
                        "`-a{value}`: a number beyond 32 bits is read without its upper part, as \
                         DiskSpd does"
                    );
                    self.notes.push(note);
                }
                self.span.affinity.append(&mut list);
            }
            'D' => {
                self.span.iops_std_dev = true;
                self.span.io_bucket_ms = positive(value).unwrap_or(1000);
            }
            'e' => parts::etw(value, self.profile.etw.get_or_insert_default())?,
            'F' => self.span.thread_count = positive(value)?,
            'L' => self.span.measure_latency = true,
            'n' => self.span.disable_affinity = true,
            'O' => self.span.request_count = positive(value)?,
            'P' => self.profile.progress = positive(value).unwrap_or(65_536),
            'x' => self.span.completion_routines = true,
            _ => self.read_event(value)?,
        }
        Ok(())
    }

    fn read_event(&mut self, value: &str) -> Result<(), Fault> {
        let mut letters = value.chars();
        let kind = letters.next();
        let name = Some(letters.as_str().to_owned()).filter(|name| !name.is_empty());
        let name = Some(name.ok_or(Fault::Event)?);
        match kind {
            Some('s') => self.events.started = name,
            Some('f') => self.events.finished = name,
            Some('r') => self.events.ready = name,
            Some('p') => self.events.stop = name,
            Some('e') => self.set_event = name,
            _ => return Err(Fault::Event),
        }
        Ok(())
    }

    /// Reads options on the order of I/O.
    fn read_order(&mut self, letter: char, value: &str) -> Result<(), Fault> {
        match letter {
            'B' => self.read_base(value),
            'f' if value.starts_with(|c: char| c.is_ascii_digit()) => {
                if self.max_said {
                    return Err(Fault::MaxTwice);
                }
                self.max_said = true;
                self.target.max_offset_bytes = self.size(value)?;
                Ok(())
            }
            'f' => self.read_hints(value),
            'p' => {
                self.target.parallel_async = true;
                Ok(())
            }
            'r' => match (value.strip_prefix('s'), value.strip_prefix('d')) {
                (Some(percent), _) => self.read_ratio(percent),
                (None, Some(pairs)) => {
                    let distribution =
                        parts::distribution(pairs, u64::from(self.target.block_bytes))?;
                    self.target.distribution = Some(distribution);
                    Ok(())
                }
                (None, None) => self.read_random(value),
            },
            's' => self.read_stride(value),
            _ => {
                let distance = self.size(value)?;
                self.target.thread_stride_bytes = distance;
                if distance == 0 { Err(Fault::ThreadStrideZero) } else { Ok(()) }
            }
        }
    }

    fn read_base(&mut self, value: &str) -> Result<(), Fault> {
        if self.base_said {
            return Err(Fault::BaseTwice);
        }
        self.base_said = true;
        let block_bytes = u64::from(self.target.block_bytes);
        let (base, rest) = size_before(value, block_bytes)?;
        self.target.base_offset_bytes = base;
        if rest.is_empty() {
            return Ok(());
        }
        let length = size(rest.strip_prefix(':').ok_or(Fault::BaseSeparator)?, block_bytes)?;
        if self.max_said {
            return Err(Fault::MaxTwice);
        }
        self.max_said = true;
        self.target.max_offset_bytes = base.checked_add(length).ok_or(Fault::BaseOverflow)?;
        Ok(())
    }

    fn read_hints(&mut self, value: &str) -> Result<(), Fault> {
        for letter in value.chars() {
            match letter {
                'r' => self.target.random_access = true,
                's' => self.target.sequential_scan = true,
                't' => self.target.temporary = true,
                _ => return Err(Fault::Hint),
            }
        }
        if value.is_empty() { Err(Fault::Hint) } else { Ok(()) }
    }

    /// Whether a distance was given; 0 counts as none.
    fn has_step(&self) -> bool {
        self.target.step_bytes.is_some_and(|step| step > 0)
    }

    fn read_ratio(&mut self, value: &str) -> Result<(), Fault> {
        let target = &mut self.target;
        match target.random_percent {
            0 if target.step_bytes.is_some_and(|step| step > 0) => {
                return Err(Fault::RandomAndSequential);
            }
            0 | 100 => {}
            _ => return Err(Fault::RatioTwice),
        }
        match u32::try_from(integer(value)) {
            Ok(percent @ 1..=100) => target.random_percent = percent,
            _ => return Err(Fault::Ratio),
        }
        Ok(())
    }

    fn read_random(&mut self, value: &str) -> Result<(), Fault> {
        match (self.has_step(), self.target.random_percent) {
            (true, 0) => return Err(Fault::RandomAndSequential),
            (true, _) => return Err(Fault::RandomTwice),
            (false, _) => {}
        }
        let step =
            if value.is_empty() { self.target.block_bytes.into() } else { self.size(value)? };
        if step == 0 && !value.is_empty() {
            return Err(Fault::AlignmentZero);
        }
        self.target.step_bytes = Some(step);
        if self.target.random_percent == 0 {
            self.target.random_percent = 100;
        }
        Ok(())
    }

    fn read_stride(&mut self, value: &str) -> Result<(), Fault> {
        if self.target.random_percent > 0 {
            return Err(Fault::RandomAndSequential);
        }
        if self.has_step() {
            // Earlier versions took a stride said twice, and published command lines do that.
            if self.reading.lenient && value.is_empty() {
                let note = "`-s`: sequential I/O is asked for twice, which DiskSpd 2.2 refuses; \
                            what was said first is done";
                self.notes.push(note.to_owned());
                return Ok(());
            }
            return Err(Fault::StrideTwice);
        }
        let distance = value.strip_prefix('i').unwrap_or(value);
        self.target.interlocked |= value.starts_with('i');
        let block = self.target.block_bytes.into();
        let step = if distance.is_empty() { block } else { self.size(distance)? };
        self.target.step_bytes = (step > 0).then_some(step);
        Ok(())
    }

    /// Reads options on caches and content.
    fn read_target(&mut self, letter: char, value: &str) -> Result<(), Fault> {
        match letter {
            'b' => {
                let bytes = size(value, BLOCK_BYTES_DEFAULT.into())?;
                let fits = u32::try_from(bytes).ok().filter(|&bytes| bytes < u32::MAX);
                self.target.block_bytes = fits.ok_or(Fault::BlockTooLarge)?;
            }
            'c' => self.target.create_bytes = Some(self.size(value)?),
            'g' => self.target.throughput = Some(parts::throughput(value)?),
            'h' => {
                if self.cache_said || self.target.write_through {
                    return Err(Fault::OldUncached);
                }
                self.cache_said = true;
                self.target.cache = CacheMode::DisableOsCache;
                self.target.write_through = true;
            }
            'i' => self.target.burst_ios = Some(positive(value)?),
            'I' => match u32::try_from(integer(value)) {
                Ok(priority @ 1..=3) => self.target.io_priority = priority,
                _ => return Err(Fault::Priority),
            },
            'j' => self.target.think_ms = Some(positive(value)?),
            'l' => self.target.large_pages = true,
            'N' => {
                self.target.flush = Some(match value {
                    "v" | "V" => FlushType::ViewOfFile,
                    "n" | "N" => FlushType::NonVolatileMemory,
                    "i" | "I" => FlushType::NonVolatileMemoryNoDrain,
                    _ => return Err(Fault::Flush),
                });
            }
            'o' => self.target.outstanding = positive(value)?,
            'S' => self.read_cache(value)?,
            't' => self.target.threads_per_file = positive(value)?,
            'w' if value.is_empty() => return Err(Fault::WriteMissing),
            'w' => match u32::try_from(integer(value)) {
                Ok(percent @ 0..=100) => self.target.write_percent = percent,
                _ => return Err(Fault::WriteRange),
            },
            'Z' => self.read_content(value)?,
            _ => return Err(Fault::UnknownOption),
        }
        Ok(())
    }

    fn read_cache(&mut self, value: &str) -> Result<(), Fault> {
        for letter in if value.is_empty() { "u" } else { value }.chars() {
            let target = &mut self.target;
            let mode = match letter {
                'b' => CacheMode::Cached,
                'r' => CacheMode::DisableLocalCache,
                'u' => CacheMode::DisableOsCache,
                'h' if self.cache_said || target.write_through || target.memory_mapped => {
                    return Err(Fault::UncachedConflict);
                }
                'h' => {
                    target.write_through = true;
                    CacheMode::DisableOsCache
                }
                'w' if target.write_through => return Err(Fault::WriteThroughConflict),
                'w' => {
                    target.write_through = true;
                    continue;
                }
                'm' if target.memory_mapped || target.cache == CacheMode::DisableOsCache => {
                    return Err(Fault::MappedConflict);
                }
                'm' => {
                    target.memory_mapped = true;
                    continue;
                }
                _ => return Err(Fault::CacheUnknown),
            };
            if self.cache_said {
                return Err(Fault::CacheConflict);
            }
            if letter == 'u' && target.memory_mapped {
                return Err(Fault::MappedConflict);
            }
            self.cache_said = true;
            target.cache = mode;
        }
        Ok(())
    }

    fn read_content(&mut self, value: &str) -> Result<(), Fault> {
        match value {
            "" => self.zero = true,
            "r" => self.span.random_write_data = true,
            "s" | "z" => return Err(Fault::ContentOfLinux),
            _ => {
                // An empty name after the comma means no file, as in DiskSpd.
                let (bytes, file) = match value.split_once(',') {
                    Some((bytes, file)) => (bytes, Some(file.to_owned()).filter(|f| !f.is_empty())),
                    None => (value, None),
                };
                let bytes = self.size(bytes)?;
                if bytes == 0 {
                    return Err(Fault::Content);
                }
                self.target.write_content = WriteContent::Random { bytes, file };
            }
        }
        if self.zero && self.target.write_content == WriteContent::Counting {
            self.target.write_content = WriteContent::Zero;
        }
        Ok(())
    }

    /// A size that may count in blocks.
    fn size(&self, text: &str) -> Result<u64, Fault> {
        Ok(size(text, self.target.block_bytes.into())?)
    }
}

/// Used where DiskSpd reads a number with `atoi`, and demands more than 0.
fn positive(text: &str) -> Result<u32, Fault> {
    u32::try_from(integer(text)).ok().filter(|&n| n > 0).ok_or(Fault::NotPositive)
}

/// The same where 0 is fine.
fn not_negative(text: &str) -> Result<u32, Fault> {
    u32::try_from(integer(text)).map_err(|_| Fault::Negative)
}

/// The most that a thread does on a target.
pub(super) fn limit(text: &str, iops: bool) -> Result<Throughput, Fault> {
    let value = positive(text).map_err(|_| Fault::Throughput)?;
    Ok(if iops { Throughput::Iops(value) } else { Throughput::BytesPerMs(value) })
}
