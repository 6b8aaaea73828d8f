//! The access specifications that IOMeter brings and those that people pass on, by name.

use super::config::{AccessSpec, Assignment, Row};

/// An access specification that people know by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its rows, whose percents sum to 100.
    pub rows: &'static [Row],
}

impl Preset {
    /// The access specification, which no worker gets by itself.
    #[must_use]
    pub fn spec(&self) -> AccessSpec {
        AccessSpec {
            name: self.name.to_owned(),
            assignment: Assignment::None,
            rows: self.rows.to_vec(),
        }
    }
}

/// The preset of this name, whatever its case and blanks, and as people write it: `4K` and `4 KiB` are the same, and so are
/// `Fileserver pattern (Intel)` and `File Server`.
#[must_use]
pub fn preset(name: &str) -> Option<Preset> {
    let key = key(name);
    PRESETS.iter().find(|p| self::key(p.name) == key).copied()
}

/// The names of the four corners: small random and large sequential, read and write.
pub const FOUR_CORNERS: [&str; 4] = [
    "Four Corners: 4 KiB random read",
    "Four Corners: 4 KiB random write",
    "Four Corners: 128 KiB sequential read",
    "Four Corners: 128 KiB sequential write",
];

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

const fn row(size_bytes: u32, percent: u8, read_percent: u8, random_percent: u8) -> Row {
    Row {
        size_bytes,
        percent,
        read_percent,
        random_percent,
        delay_ms: 0,
        burst_ios: 1,
        align_bytes: 0,
        reply_bytes: 0,
    }
}

const fn aligned(row: Row) -> Row {
    Row { align_bytes: row.size_bytes, ..row }
}

const IOMETER: &str = "IOMeter";
const NEWER: &str = "IOMeter, the newer list";
const INTEL: &str = "Intel";
const VMWARE: &str = "the VMware performance thread";
const REVIEW: &str = "StorageReview";
const PASSED: &str = "configurations that people pass on";
const CORNERS: &str = "the four numbers of a data sheet";

macro_rules! presets {
    ($($name:literal $source:ident [$($row:expr),+ $(,)?];)+) => {
        &[$(Preset { name: $name, source: $source, rows: &[$($row),+] }),+]
    };
}

/// All presets.
pub const PRESETS: &[Preset] = presets![
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
        row(512, 5, 100, 0), row(512, 5, 75, 0), row(512, 5, 50, 0), row(512, 5, 25, 0), row(512, 5, 0, 0),
        row(4096, 5, 100, 0), row(4096, 5, 75, 0), row(4096, 5, 50, 0), row(4096, 5, 25, 0), row(4096, 5, 0, 0),
        row(16_384, 5, 100, 0), row(16_384, 5, 75, 0), row(16_384, 5, 50, 0), row(16_384, 5, 25, 0), row(16_384, 5, 0, 0),
        row(32_768, 5, 100, 0), row(32_768, 5, 75, 0), row(32_768, 5, 50, 0), row(32_768, 5, 25, 0), row(32_768, 5, 0, 0),
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
        row(8192, 2, 80, 100), row(16_384, 4, 80, 100), row(32_768, 4, 80, 100), row(65_536, 10, 80, 100),
    ];
    "Web Server" INTEL [
        row(512, 22, 100, 100), row(1024, 15, 100, 100), row(2048, 8, 100, 100), row(4096, 23, 100, 100),
        row(8192, 15, 100, 100), row(16_384, 2, 100, 100), row(32_768, 6, 100, 100), row(65_536, 7, 100, 100),
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

    #[test]
    fn every_preset_is_a_whole_mix_and_found_by_its_name() {
        for (index, preset) in PRESETS.iter().enumerate() {
            let percent: u32 = preset.rows.iter().map(|r| u32::from(r.percent)).sum();
            assert_eq!(percent, 100, "{}", preset.name);
            assert_eq!(self::preset(&preset.name.to_uppercase()), Some(*preset));
            assert!(!preset.name.contains(','), "IOMeter cuts names off at commas");
            let same = PRESETS.iter().position(|p| key(p.name) == key(preset.name));
            assert_eq!(same, Some(index), "{} is there twice", preset.name);
        }
        assert!(FOUR_CORNERS.iter().all(|name| preset(name).is_some()));
        assert_eq!(preset("4K; 100% read; 0% random").unwrap().name, "4 KiB; 100% Read; 0% random");
        for (written, name) in [
            ("512B; 75% Read; 0% random", "512 B; 75% Read; 0% random"),
            ("Fileserver pattern (Intel)", "File Server"),
            ("Database pattern (Intel/StorageReview.com)", "Database"),
            ("Decision Support System (DSS DB)", "DSS"),
            ("Webserver Log", "Web Server Log"),
            ("Exchange server", "Exchange"),
        ] {
            assert_eq!(preset(written).unwrap().name, name);
        }
        assert_eq!(preset("no such thing"), None);
        assert_eq!(preset(""), None);
    }

    #[test]
    fn the_mixes_have_the_numbers_of_their_sources() {
        let rows = |name: &str| preset(name).unwrap().rows;
        let mix =
            |name: &str| rows(name).iter().map(|r| (r.size_bytes, r.percent)).collect::<Vec<_>>();
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
        assert_eq!(rows("All in one").len(), 20);
        let real_life = rows("RealLife-60%Rand-65%Read")[0];
        assert_eq!(
            (real_life.size_bytes, real_life.read_percent, real_life.random_percent),
            (8192, 65, 60)
        );
        assert_eq!(rows("Default"), [Row { align_bytes: 0, ..Row::default() }]);
    }
}
