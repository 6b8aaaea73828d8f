//! The short forms that flags use, and the TOML form of a whole workload.

use std::str::FromStr;

use thiserror::Error;

use crate::model::Workload;
use crate::stream::{Block, Distribution, Stream};
use crate::units::UnitError;

/// Why a written workload, or one of its short forms, cannot be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ParseError {
    /// A size in a list is wrong.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// A weight is not a whole number.
    #[error(
        "`{text}` has the weight `{weight}`; write block sizes as `8K` or with weights as \
         `8K:70,64K:30`"
    )]
    Weight {
        /// The entry of the list that has the weight.
        text: String,
        /// The part of the entry after the colon.
        weight: String,
    },
    /// The name of a distribution is not known.
    #[error(
        "`{text}` is not a distribution; write `uniform`, `zipf:0.99` or `hot:20/80` (20 % of the \
         span receive 80 % of the I/Os)"
    )]
    Distribution {
        /// The name as it was written.
        text: String,
    },
    /// A list of CPUs cannot be read.
    #[error("`{text}` is not a list of CPUs; write for example `0,2-5`")]
    Cpus {
        /// The list as it was written.
        text: String,
    },
    /// The TOML text is wrong; the message has line and column.
    #[error("{0}")]
    Toml(String),
    /// The JSON text is wrong; the message has line and column.
    #[error("{0}")]
    Json(String),
}

/// Reads block sizes: `8K`, or with weights `8K:70,64K:30`.
pub fn parse_blocks(text: &str) -> Result<Vec<Block>, ParseError> {
    text.split(',')
        .map(|entry| {
            let (size, weight) = entry.split_once(':').unwrap_or((entry, "1"));
            let weight = weight.trim().parse().map_err(|_| ParseError::Weight {
                text: entry.to_owned(),
                weight: weight.to_owned(),
            })?;
            Ok(Block { bytes: size.parse()?, weight })
        })
        .collect()
}

/// Reads a distribution: `uniform`, `zipf:THETA` or `hot:SPAN/ACCESS`.
pub fn parse_distribution(text: &str) -> Result<Distribution, ParseError> {
    let wrong = || ParseError::Distribution { text: text.to_owned() };
    let number = |t: &str| t.trim().parse::<f64>().map_err(|_| wrong());
    match text.split_once(':') {
        None if text == "uniform" => Ok(Distribution::Uniform),
        Some(("zipf", theta)) => Ok(Distribution::Zipf { theta: number(theta)? }),
        Some(("hot", parts)) => {
            let (span, access) = parts.split_once('/').ok_or_else(wrong)?;
            Ok(Distribution::Hot { span_percent: number(span)?, access_percent: number(access)? })
        }
        _ => Err(wrong()),
    }
}

/// Reads `0,2-5`. A list has at most 65 536 CPUs.
pub fn parse_cpus(text: &str) -> Result<Vec<u32>, ParseError> {
    let wrong = || ParseError::Cpus { text: text.to_owned() };
    let number = |t: &str| t.trim().parse::<u16>().map(u32::from).map_err(|_| wrong());
    let mut cpus = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            None => cpus.push(number(part)?),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if first > last || cpus.len() > 65_536 {
                    return Err(wrong());
                }
                cpus.extend(first..=last);
            }
        }
    }
    Ok(cpus)
}

impl FromStr for Workload {
    type Err = ParseError;

    /// Reads the TOML form of a workload.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let workload: Self = toml::from_str(text).map_err(|e| ParseError::Toml(e.to_string()))?;
        Ok(workload.with_means_of_mixes())
    }
}

impl Workload {
    /// The workload with the means of its mixes in those streams that say no size or share of their
    /// own next to them.
    #[must_use]
    pub fn with_means_of_mixes(self) -> Self {
        let settled = |s: Stream| if s.leaves_sizes_to_mix() { s.with_means_of_mix() } else { s };
        Self { streams: self.streams.into_iter().map(settled).collect(), ..self }
    }

    /// The TOML form, with every value written out.
    pub fn to_toml(&self) -> Result<String, ParseError> {
        toml::to_string_pretty(self).map_err(|e| ParseError::Toml(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;
    use crate::stream::{Pattern, SyncCall, SyncPolicy};
    use proptest::prelude::*;

    #[test]
    fn block_lists_have_weights() {
        let blocks = parse_blocks("8K:70,64K:30").unwrap();
        assert_eq!(blocks[1], Block { bytes: Bytes(65536), weight: 30 });
        assert_eq!(parse_blocks("4K").unwrap(), [Block { bytes: Bytes(4096), weight: 1 }]);
        assert!(parse_blocks("8K:x").is_err());
    }

    #[test]
    fn a_workload_file_says_a_log_beside_data_files() {
        let text = r#"
            seconds = 20
            [[targets]]
            path = "/data"
            size_bytes = "4G"
            [[targets]]
            path = "/log"
            size_bytes = "1G"
            [[streams]]
            name = "data"
            targets = [0]
            depth = 32
            blocks = [{ bytes = "8K", weight = 9 }, { bytes = "64K" }]
            write_percent = 30
            rate = { limit = { iops = 5000 }, arrival = "poisson" }
            [[streams]]
            name = "log"
            targets = [1]
            pattern = "sequential"
            write_percent = 100
            sync = { every_writes = 1 }
            think = { pause_ns = "5ms" }
        "#;
        let workload: Workload = text.parse().unwrap();
        assert_eq!(workload.streams[1].pattern, Pattern::Sequential);
        assert_eq!(
            workload.streams[1].sync,
            Some(SyncPolicy { every_writes: 1, call: SyncCall::Fdatasync })
        );
        assert_eq!(workload.in_flight(), 33);
        let again: Workload = workload.to_toml().unwrap().parse().unwrap();
        assert_eq!(again, workload, "what is written out reads back the same");
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = "targets = []\ncolour = 3\n".parse::<Workload>().unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("colour"), "{error}");
    }

    proptest! {
        #[test]
        fn short_forms_never_panic(text in ".{0,60}") {
            let _ = parse_blocks(&text);
            let _ = parse_distribution(&text);
            let _ = parse_cpus(&text);
            let _ = text.parse::<Workload>();
        }

        #[test]
        fn json_carries_a_workload_unchanged(depth in 1u32..1000, write in 0u8..=100, seed: u64) {
            let stream = Stream { depth, write_percent: write, ..Stream::default() };
            let target = crate::Target { path: "/t".into(), size_bytes: Some(Bytes(1 << 30)) };
            let workload = Workload { seed, ..Workload::single(target, stream) };
            let text = serde_json::to_string(&workload).unwrap();
            prop_assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), workload);
        }
    }
}
