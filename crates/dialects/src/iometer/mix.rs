//! An access specification as a mix of a workload, and a mix as an access specification.

use thiserror::Error;
use workload::{Bytes, Mix, MixPart, Nanoseconds, Stream};

use super::config::{AccessSpec, Assignment, ROWS_MAX, Row, SIZE_BYTES_MAX};
use super::write::plain_name;

/// Names of streams are not longer.
const NAME_CHARS_MAX: usize = 64;
const NS_PER_MS: u64 = 1_000_000;

/// Why a mix is not an access specification.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoSpec {
    /// IOMeter refuses so many rows, or none.
    #[error("an access specification has 1 to {ROWS_MAX} rows; the mix has {0} parts")]
    Rows(usize),
    /// A number that the file has no room for.
    #[error("part {part} of the mix has {what} of {bytes}; IOMeter's are at most {most} bytes")]
    TooLarge {
        /// The row of the specification, from 1.
        part: usize,
        /// What is too large: blocks, replies, or an alignment.
        what: &'static str,
        /// How large it is in the mix.
        bytes: Bytes,
        /// The largest value that IOMeter takes.
        most: u32,
    },
}

impl AccessSpec {
    /// The access specification as a mix: the same row by row.
    #[must_use]
    pub fn mix(&self) -> Mix {
        Mix { parts: self.rows.iter().map(part).collect() }
    }

    /// The access specification as a stream of one thread with one I/O outstanding.
    #[must_use]
    pub fn stream(&self) -> Stream {
        let name: String = self.name.chars().take(NAME_CHARS_MAX).collect();
        Stream::of_mix(&name, self.mix())
    }

    /// A mix as an access specification that no worker gets by itself, and what of the mix is lost:
    /// parts of milliseconds.
    pub fn from_mix(name: &str, mix: &Mix) -> Result<(Self, Vec<String>), NoSpec> {
        if !(1..=ROWS_MAX).contains(&mix.parts.len()) {
            return Err(NoSpec::Rows(mix.parts.len()));
        }
        let mut lost = Vec::new();
        let rows: Result<Vec<Row>, NoSpec> = mix
            .parts
            .iter()
            .enumerate()
            .map(|(index, part)| row(index + 1, part, &mut lost))
            .collect();
        let name = plain_name(name);
        Ok((Self { name, assignment: Assignment::None, rows: rows? }, lost))
    }
}

fn part(row: &Row) -> MixPart {
    MixPart {
        percent: row.percent,
        block_bytes: Bytes(row.size_bytes.into()),
        write_percent: 100 - row.read_percent.min(100),
        random_percent: row.random_percent,
        delay_ns: Nanoseconds(u64::from(row.delay_ms) * NS_PER_MS),
        burst_ios: row.burst_ios.max(1),
        align_bytes: Bytes(row.align_bytes.into()),
        reply_bytes: Bytes(row.reply_bytes.into()),
    }
}

/// The row of a part; `number` is that of the part, from 1.
fn row(number: usize, part: &MixPart, lost: &mut Vec<String>) -> Result<Row, NoSpec> {
    let at_most = |what, bytes: Bytes, most: u32| {
        let too_large = NoSpec::TooLarge { part: number, what, bytes, most };
        u32::try_from(bytes.0).ok().filter(|b| *b <= most).ok_or(too_large)
    };
    let delay_ms = u32::try_from(part.delay_ns.0.div_ceil(NS_PER_MS)).unwrap_or(u32::MAX);
    if u64::from(delay_ms) * NS_PER_MS != part.delay_ns.0 {
        lost.push(format!(
            "part {number} of the mix pauses for {}; IOMeter's pauses are whole milliseconds, so \
             it is {delay_ms} ms",
            part.delay_ns
        ));
    }
    Ok(Row {
        size_bytes: at_most("blocks", part.block_bytes, SIZE_BYTES_MAX)?,
        percent: part.percent,
        read_percent: 100 - part.write_percent.min(100),
        random_percent: part.random_percent,
        delay_ms,
        burst_ios: part.burst_ios,
        align_bytes: at_most("an alignment", part.align_bytes, u32::MAX)?,
        reply_bytes: at_most("replies", part.reply_bytes, SIZE_BYTES_MAX)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::presets::{Preset, preset};
    use super::*;
    use workload::specs::SPECS;

    #[test]
    fn every_preset_is_a_mix_and_the_mix_is_the_preset() {
        for named in SPECS {
            let spec = Preset(named).spec();
            assert_eq!(spec.mix().parts, named.parts);
            assert_eq!(AccessSpec::from_mix(named.name, &spec.mix()), Ok((spec, Vec::new())));
        }
    }

    #[test]
    fn a_row_keeps_everything() {
        let mut spec = preset("DSS").unwrap().spec();
        let row = Row {
            read_percent: 30,
            random_percent: 20,
            delay_ms: 3,
            burst_ios: 4,
            align_bytes: 3000,
            reply_bytes: 512,
            ..spec.rows[0]
        };
        spec.rows = vec![row];
        let part = spec.mix().parts[0];
        assert_eq!((part.percent, part.block_bytes, part.write_percent), (100, Bytes(1 << 20), 70));
        assert_eq!((part.random_percent, part.delay_ns), (20, Nanoseconds(3_000_000)));
        assert_eq!(
            (part.burst_ios, part.align_bytes, part.reply_bytes),
            (4, Bytes(3000), Bytes(512))
        );
        assert_eq!(spec.stream().mix, Some(spec.mix()), "one row is a mix, too");
    }

    #[test]
    fn what_an_access_specification_cannot_say_is_named() {
        let mix = |part| Mix { parts: vec![part] };
        let soon = MixPart { delay_ns: Nanoseconds(1_500_000), ..MixPart::default() };
        let (spec, lost) = AccessSpec::from_mix("a, 'b'", &mix(soon)).unwrap();
        assert_eq!((spec.name.as_str(), spec.rows[0].delay_ms), ("a- 'b'", 2));
        assert!(lost[0].contains("whole milliseconds"), "{lost:?}");
        let large = MixPart { block_bytes: Bytes(1 << 30), ..MixPart::default() };
        let error = AccessSpec::from_mix("x", &mix(large)).unwrap_err().to_string();
        assert!(error.starts_with("part 1 of the mix has blocks of 1 GiB"), "{error}");
        assert_eq!(AccessSpec::from_mix("x", &Mix { parts: Vec::new() }), Err(NoSpec::Rows(0)));
    }
}
