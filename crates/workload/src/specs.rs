//! Access specifications that people know by name: those of IOMeter, and those that are widely
//! copied.
//!
//! A name stands for the shape of a load, in the numbers of its source. A combination of sizes and
//! shares does not simulate the application that it is named after.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mix::{Mix, MixPart};
use crate::stream::{Block, Pattern, Stream};
use crate::units::{Bytes, Nanoseconds};

/// Names less alike than this are not suggested: 1 is the same.
const ALIKE: f64 = 0.8;
/// At most so many names are suggested.
const SUGGESTIONS: usize = 3;

/// An access specification that people know by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// The name that `--spec` takes.
    pub name: &'static str,
    /// Where its numbers were published.
    pub source: &'static str,
    /// Its kinds of I/O, whose percents sum to 100.
    pub parts: &'static [MixPart],
}

impl Spec {
    /// The stream that does it: plain where all of its I/Os are of one kind, with a mix otherwise.
    ///
    /// Offsets are multiples of a sector of 512 bytes where the specification says no more, as
    /// IOMeter has them.
    #[must_use]
    pub fn stream(&self) -> Stream {
        let [part] = self.parts else {
            return Stream::of_mix(self.name, Mix { parts: self.parts.to_vec() });
        };
        let (pattern, random_percent) = match part.random_percent {
            100 => (Pattern::Random, 0),
            share => (Pattern::Sequential, share),
        };
        Stream {
            name: self.name.to_owned(),
            blocks: vec![Block { bytes: part.block_bytes, weight: 1 }],
            pattern,
            random_percent,
            align_bytes: (part.random_percent > 0).then(|| Bytes(part.alignment())),
            write_percent: part.write_percent,
            ..Stream::default()
        }
    }

    /// The mean size of its I/Os, in whole bytes.
    #[must_use]
    pub fn mean_block(&self) -> Bytes {
        mean_block(self.parts)
    }

    /// The load in one phrase that begins with its name.
    #[must_use]
    pub fn title(&self) -> String {
        match self.parts {
            [_] => format!("shape of `{}`: {}", self.name, self.stream().title()),
            _ => self.stream().title(),
        }
    }
}

/// An access specification of the user, such as one of an `.icf` file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnSpec {
    /// Its name, as the user's file has it.
    pub name: String,
    /// Its kinds of I/O, whose percents sum to 100.
    pub parts: Vec<MixPart>,
}

impl OwnSpec {
    /// The stream that does this I/O.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::of_mix(&self.name, Mix { parts: self.parts.clone() })
    }

    /// The mean size of its I/Os, in whole bytes.
    #[must_use]
    pub fn mean_block(&self) -> Bytes {
        mean_block(&self.parts)
    }

    /// The load in one phrase that begins with its name.
    #[must_use]
    pub fn title(&self) -> String {
        self.stream().title()
    }
}

/// Replies are I/Os, too, and a part is drawn for a whole burst.
fn mean_block(parts: &[MixPart]) -> Bytes {
    let (mut ios, mut bytes) = (0_u128, 0_u128);
    for part in parts {
        let drawn = u128::from(part.percent) * u128::from(part.burst_ios);
        ios += drawn * if part.reply_bytes.0 > 0 { 2 } else { 1 };
        bytes += drawn * (u128::from(part.block_bytes.0) + u128::from(part.reply_bytes.0));
    }
    let mean = (bytes + ios / 2).checked_div(ios).unwrap_or(0);
    Bytes(u64::try_from(mean).unwrap_or(u64::MAX).max(1))
}

/// The access specification of this name, whatever its case and blanks, and as people write it:
/// `4K` and `4 KiB` are the same, and so are `Fileserver pattern (Intel)` and `File Server`.
#[must_use]
pub fn spec(name: &str) -> Option<&'static Spec> {
    let key = key(name);
    SPECS.iter().find(|s| self::key(s.name) == key)
}

/// The error for an unknown name: a sentence with the names that are nearest.
#[must_use]
pub fn unknown(name: &str) -> String {
    let key = key(name);
    let mut near: Vec<(f64, &str)> = SPECS
        .iter()
        .map(|s| (strsim::jaro_winkler(&self::key(s.name), &key), s.name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<String> =
        near.iter().take(SUGGESTIONS).map(|(_, name)| format!("`{name}`")).collect();
    let mut text = "no access specification has this name".to_owned();
    if !near.is_empty() {
        let _ = write!(text, "; near it: {}", near.join(", "));
    }
    text + "; `iosonde specs` lists all of them"
}

/// What names have in common: `Fileserver pattern (Intel)` is `File Server`.
fn key(name: &str) -> String {
    let small = name.to_lowercase();
    let bare = small.split('(').next().unwrap_or_default();
    let letters: String = bare.chars().filter(|c| !c.is_whitespace()).collect();
    let key = letters.replace("kib", "k").replace("mib", "m").replace("pattern", "");
    match key.as_str() {
        "decisionsupportsystem" => "dss".to_owned(),
        "exchangeserver" => "exchange".to_owned(),
        _ => key,
    }
}

const fn row(block_bytes: u64, percent: u8, read_percent: u8, random_percent: u8) -> MixPart {
    MixPart {
        percent,
        block_bytes: Bytes(block_bytes),
        write_percent: 100 - read_percent,
        random_percent,
        delay_ns: Nanoseconds(0),
        burst_ios: 1,
        align_bytes: Bytes(0),
        reply_bytes: Bytes(0),
    }
}

const fn aligned(part: MixPart) -> MixPart {
    MixPart { align_bytes: part.block_bytes, ..part }
}

const IOMETER: &str = "IOMeter";
const NEWER: &str = "IOMeter, the newer list";
const INTEL: &str = "Intel";
const VMWARE: &str = "the VMware performance thread";
const REVIEW: &str = "StorageReview";
const PASSED: &str = "configurations that people pass on";
const CORNERS: &str = "the four numbers of a data sheet";

macro_rules! specs {
    ($($name:literal $source:ident [$($row:expr),+ $(,)?];)+) => {
        &[$(Spec { name: $name, source: $source, parts: &[$($row),+] }),+]
    };
}

/// All of them, those of one source together.
pub const SPECS: &[Spec] = specs![
    "Default" IOMETER [row(2048, 100, 67, 100)];
    "512 B; 100% Read; 0% random" IOMETER [row(512, 100, 100, 0)];
    "512 B; 75% Read; 0% random" IOMETER [row(512, 100, 75, 0)];
    "512 B; 50% Read; 0% random" IOMETER [row(512, 100, 50, 0)];
    "512 B; 25% Read; 0% random" IOMETER [row(512, 100, 25, 0)];
    "512 B; 0% Read; 0% random" IOMETER [row(512, 100, 0, 0)];
    "4 KiB; 100% Read; 0% random" IOMETER [row(4096, 100, 100, 0)];
    "4 KiB; 75% Read; 0% random" IOMETER [row(4096, 100, 75, 0)];
    "4 KiB; 50% Read; 0% random" IOMETER [row(4096, 100, 50, 0)];
    "4 KiB; 25% Read; 0% random" IOMETER [row(4096, 100, 25, 0)];
    "4 KiB; 0% Read; 0% random" IOMETER [row(4096, 100, 0, 0)];
    "16 KiB; 100% Read; 0% random" IOMETER [row(16_384, 100, 100, 0)];
    "16 KiB; 75% Read; 0% random" IOMETER [row(16_384, 100, 75, 0)];
    "16 KiB; 50% Read; 0% random" IOMETER [row(16_384, 100, 50, 0)];
    "16 KiB; 25% Read; 0% random" IOMETER [row(16_384, 100, 25, 0)];
    "16 KiB; 0% Read; 0% random" IOMETER [row(16_384, 100, 0, 0)];
    "32 KiB; 100% Read; 0% random" IOMETER [row(32_768, 100, 100, 0)];
    "32 KiB; 75% Read; 0% random" IOMETER [row(32_768, 100, 75, 0)];
    "32 KiB; 50% Read; 0% random" IOMETER [row(32_768, 100, 50, 0)];
    "32 KiB; 25% Read; 0% random" IOMETER [row(32_768, 100, 25, 0)];
    "32 KiB; 0% Read; 0% random" IOMETER [row(32_768, 100, 0, 0)];
    "All in one" IOMETER [
        row(512, 5, 100, 0), row(512, 5, 75, 0), row(512, 5, 50, 0), row(512, 5, 25, 0),
            row(512, 5, 0, 0),
        row(4096, 5, 100, 0), row(4096, 5, 75, 0), row(4096, 5, 50, 0), row(4096, 5, 25, 0),
            row(4096, 5, 0, 0),
        row(16_384, 5, 100, 0), row(16_384, 5, 75, 0), row(16_384, 5, 50, 0), row(16_384, 5, 25, 0),
            row(16_384, 5, 0, 0),
        row(32_768, 5, 100, 0), row(32_768, 5, 75, 0), row(32_768, 5, 50, 0), row(32_768, 5, 25, 0),
            row(32_768, 5, 0, 0),
    ];
    "4 KiB aligned; 100% Read; 100% random" NEWER [aligned(row(4096, 100, 100, 100))];
    "4 KiB aligned; 50% Read; 100% random" NEWER [aligned(row(4096, 100, 50, 100))];
    "4 KiB aligned; 0% Read; 100% random" NEWER [aligned(row(4096, 100, 0, 100))];
    "64 KiB; 100% Read; 0% random" NEWER [row(65_536, 100, 100, 0)];
    "64 KiB; 50% Read; 0% random" NEWER [row(65_536, 100, 50, 0)];
    "64 KiB; 0% Read; 0% random" NEWER [row(65_536, 100, 0, 0)];
    "256 KiB; 100% Read; 0% random" NEWER [row(262_144, 100, 100, 0)];
    "256 KiB; 50% Read; 0% random" NEWER [row(262_144, 100, 50, 0)];
    "256 KiB; 0% Read; 0% random" NEWER [row(262_144, 100, 0, 0)];
    "Four Corners: 4 KiB random read" CORNERS [aligned(row(4096, 100, 100, 100))];
    "Four Corners: 4 KiB random write" CORNERS [aligned(row(4096, 100, 0, 100))];
    "Four Corners: 128 KiB sequential read" CORNERS [aligned(row(131_072, 100, 100, 0))];
    "Four Corners: 128 KiB sequential write" CORNERS [aligned(row(131_072, 100, 0, 0))];
    "Max Throughput-100%Read" VMWARE [row(32_768, 100, 100, 0)];
    "RealLife-60%Rand-65%Read" VMWARE [row(8192, 100, 65, 60)];
    "Max Throughput-50%Read" VMWARE [row(32_768, 100, 50, 0)];
    "Random-8k-70%Read" VMWARE [row(8192, 100, 70, 100)];
    "File Server" INTEL [
        row(512, 10, 80, 100), row(1024, 5, 80, 100), row(2048, 5, 80, 100), row(4096, 60, 80, 100),
        row(8192, 2, 80, 100), row(16_384, 4, 80, 100), row(32_768, 4, 80, 100),
            row(65_536, 10, 80, 100),
    ];
    "Web Server" INTEL [
        row(512, 22, 100, 100), row(1024, 15, 100, 100), row(2048, 8, 100, 100),
            row(4096, 23, 100, 100),
        row(8192, 15, 100, 100), row(16_384, 2, 100, 100), row(32_768, 6, 100, 100),
            row(65_536, 7, 100, 100),
        row(131_072, 1, 100, 100), row(524_288, 1, 100, 100),
    ];
    "Database" INTEL [row(8192, 100, 67, 100)];
    "Workstation" REVIEW [row(8192, 100, 80, 80)];
    "DSS" PASSED [row(1_048_576, 100, 100, 100)];
    "SQL Server Log" PASSED [row(65_536, 100, 0, 0)];
    "Exchange" PASSED [row(4096, 100, 67, 100)];
    "Exchange 32 KiB" PASSED [row(32_768, 100, 68, 100)];
    "Web Server Log" PASSED [row(8192, 100, 0, 0)];
    "Media Streaming" PASSED [row(65_536, 100, 98, 0)];
    "Video on Demand" PASSED [row(524_288, 100, 100, 100)];
    "OS Paging" PASSED [row(65_536, 100, 90, 0)];
    "Email Server" PASSED [row(4096, 100, 60, 100)];
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Target, Workload};

    #[test]
    fn every_specification_is_a_whole_workload_and_found_by_its_name() {
        for (index, spec) in SPECS.iter().enumerate() {
            let percent: u32 = spec.parts.iter().map(|r| u32::from(r.percent)).sum();
            assert_eq!(percent, 100, "{}", spec.name);
            assert_eq!(self::spec(&spec.name.to_uppercase()), Some(spec));
            assert!(!spec.name.contains(','), "IOMeter cuts names off at commas");
            let same = SPECS.iter().position(|s| key(s.name) == key(spec.name));
            assert_eq!(same, Some(index), "{} is there twice", spec.name);
            let target = Target { path: "/data".into(), size_bytes: Some(Bytes(1 << 30)) };
            let workload = Workload::single(target, spec.stream());
            assert_eq!(workload.violations(), [], "{}", spec.name);
        }
        for (written, name) in [
            ("4K; 100% read; 0% random", "4 KiB; 100% Read; 0% random"),
            ("512B; 75% Read; 0% random", "512 B; 75% Read; 0% random"),
            ("Fileserver pattern (Intel)", "File Server"),
            ("Database pattern (Intel/StorageReview.com)", "Database"),
            ("Decision Support System (DSS DB)", "DSS"),
            ("Webserver Log", "Web Server Log"),
            ("Exchange server", "Exchange"),
        ] {
            assert_eq!(spec(written).unwrap().name, name);
        }
        assert_eq!(spec("no such thing"), None);
        assert_eq!(spec(""), None);
    }

    #[test]
    fn a_name_that_is_nearly_right_is_answered_with_the_right_one() {
        let text = unknown("Web Sever");
        assert!(text.contains("near it: `Web Server`, "), "{text}");
        assert!(unknown("RealLife 60 Rand").contains("`RealLife-60%Rand-65%Read`"));
        assert_eq!(
            unknown("zzz"),
            "no access specification has this name; `iosonde specs` lists all of them"
        );
    }

    #[test]
    fn the_mixes_have_the_numbers_of_their_sources() {
        let parts = |name: &str| spec(name).unwrap().parts;
        let mix = |name: &str| {
            parts(name).iter().map(|p| (p.block_bytes.0, p.percent)).collect::<Vec<_>>()
        };
        assert_eq!(
            mix("file server"),
            [
                (512, 10),
                (1024, 5),
                (2048, 5),
                (4096, 60),
                (8192, 2),
                (16_384, 4),
                (32_768, 4),
                (65_536, 10)
            ]
        );
        assert_eq!(mix("web server").last(), Some(&(524_288, 1)));
        assert_eq!(parts("All in one").len(), 20);
        let file_server = spec("File Server").unwrap();
        assert_eq!(file_server.mean_block(), Bytes(11_346), "11 345.92 in the mean");
        assert!(file_server.stream().mix.is_some());
    }

    #[test]
    fn one_kind_of_io_is_a_plain_stream() {
        let stream = |name: &str| spec(name).unwrap().stream();
        let real_life = stream("RealLife-60%Rand-65%Read");
        assert_eq!((real_life.mix.as_ref(), real_life.write_percent), (None, 35));
        assert_eq!(real_life.title(), "8 KiB sequential with 60 % random 65 % read / 35 % write");
        assert_eq!(real_life.align_bytes, Some(Bytes(512)), "IOMeter's sector");
        assert_eq!(stream("Max Throughput-100%Read").title(), "32 KiB sequential read");
        assert_eq!(stream("Max Throughput-100%Read").align_bytes, None);
        assert_eq!(spec("DSS").unwrap().title(), "shape of `DSS`: 1 MiB random read");
        assert!(spec("Web Server").unwrap().title().starts_with("shape of `Web Server`: a mix of"));
    }
}
