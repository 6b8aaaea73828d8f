//! The five configurations that come with SQLIOSim, as differences from its first.

use super::config::{Configuration, DataFile};

/// Their names, as one gives them to `-cfg`.
pub const NAMES: [&str; 5] = ["default", "hwcache", "nothrottle", "seqwrites", "sparse"];

/// A configuration by its name, whatever the case of its letters; also by that of its file,
/// `sqliosim.hwcache.cfg.ini`.
#[must_use]
pub fn shipped(name: &str) -> Option<Configuration> {
    let name = name.to_ascii_lowercase();
    let name = match name.strip_suffix(".cfg.ini").map(|n| n.strip_prefix("sqliosim").unwrap_or(n))
    {
        Some("") => "default",
        Some(middle) => middle.trim_start_matches('.'),
        None => &name,
    };
    let mut config = Configuration::default();
    // The shipped file has more than the documented default.
    config.random.chain_pages_min = 50;
    match name {
        "default" => {}
        "hwcache" => {
            config.general.cache_hit_ratio = 10_000;
            config.audit.user_count = 0;
            config.read_ahead.user_count = 0;
            config.files = vec![
                file(1, r"f:\sqliosim.mdx", 100, false),
                file(2, r"f:\sqliosim.ldx", 50, true),
            ];
        }
        "nothrottle" => {
            config.general.target_io_duration_ms = 1_000_000;
            config.audit.delay_ms = 10;
            config.read_ahead.delay_ms = 10;
        }
        "seqwrites" => {
            config.general.cache_hit_ratio = 10_000;
            config.general.force_read_ahead = false;
            config.random.user_count = 0;
            config.audit.user_count = 0;
            config.read_ahead.user_count = 0;
            (config.bulk.pages_min, config.bulk.pages_max) = (600, 1000);
            config.bulk.delay_ms = 1;
        }
        "sparse" => {
            config.general.max_memory_mb = Some(32);
            config.general.test_cycles = 3;
            config.general.test_cycle_duration_s = 600;
            config.general.target_io_duration_ms = 10_000;
            config.general.scatter_gather = false;
            config.files = vec![
                file(1, "sqliosim.mdx", 1000, false),
                file(2, "sqliosim.ldx", 50, true),
                DataFile { sparse: true, ..file(3, "sqliosim.mdx:replica", 1000, false) },
            ];
        }
        _ => return None,
    }
    Some(config)
}

/// A file that stays as large as it is.
fn file(number: u32, name: &str, size_mb: i64, log_file: bool) -> DataFile {
    DataFile {
        number,
        file_name: name.to_owned(),
        initial_size_mb: size_mb,
        max_size_mb: Some(size_mb),
        log_file,
        ..DataFile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_there_and_keep_the_rules() {
        for name in NAMES {
            let config = shipped(name).unwrap();
            assert_eq!(config.violations(), [], "{name}");
            assert_eq!(config.random.chain_pages_min, 50);
        }
        assert_eq!(shipped("SQLIOSIM.HWCACHE.CFG.INI"), shipped("hwcache"));
        assert_eq!(shipped("sqliosim.cfg.ini"), shipped("default"));
        assert_eq!(shipped("hwcache.cfg.ini"), shipped("hwcache"));
        assert_eq!(shipped("other"), None);
        let differing = NAMES.map(|name| shipped(name).unwrap());
        assert!(differing.iter().skip(1).all(|c| *c != differing[0]));
    }
}
