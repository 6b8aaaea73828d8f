//! The sizes of a job: of its I/Os, and of the parts of a file that it uses.

use std::path::{Path, PathBuf};

use workload::{Bytes, DiskspdAccess, DiskspdOrder, DiskspdSlices, Distribution, Pattern, Stream};

use super::parse::{Job, Place};
use super::{JobFileError, directions};
use crate::fio::options::Reader;

/// Sizes that a job may give as a share of its file, such as `size=50%`.
pub(super) struct Shares<'a> {
    pub(super) job: &'a Job,
    pub(super) paths: &'a [PathBuf],
    /// The size that the job gives its files.
    pub(super) whole: Option<u64>,
    pub(super) size_of: &'a dyn Fn(&Path) -> Option<u64>,
}

impl Shares<'_> {
    /// The bytes of an option; `None` for all of the file.
    pub(super) fn bytes(
        &self,
        reader: &mut Reader,
        option: &str,
    ) -> Result<Option<u64>, JobFileError> {
        let text = reader.peek(option);
        let Some(share) = text.as_deref().and_then(|text| text.strip_suffix('%')) else {
            return Ok(reader.size(option));
        };
        reader.take(option);
        let Place { line, column } = self.job.places.get(option).copied().unwrap_or(self.job.place);
        let wrong = |what: String| {
            let what = format!("`{option}={share}%`: {what}");
            JobFileError::Value { line, column, what }
        };
        let percent = share.trim().parse::<u64>().ok().filter(|percent| *percent <= 100);
        let percent =
            percent.ok_or_else(|| wrong("write a whole percentage from 0 to 100".to_owned()))?;
        if option == "size" && percent == 100 {
            return Ok(None);
        }
        let of_all = |sum: u64, path: &PathBuf| Some(sum.saturating_add((self.size_of)(path)?));
        let files = self.paths.len().max(1) as u64;
        let bytes = match self.whole {
            Some(each) => Some(each.saturating_mul(files)),
            None => self.paths.iter().try_fold(0, of_all),
        };
        let bytes = bytes.ok_or_else(|| {
            let path = self.paths.first().map(|p| p.display().to_string()).unwrap_or_default();
            wrong(format!(
                "the size of `{path}` is not known here; write bytes, such as `4g`, or give \
                 `filesize`"
            ))
        })?;
        // An offset is in each file, a size is that of all.
        let bytes = if option == "offset" { bytes / files } else { bytes };
        let part = u128::from(bytes) * u128::from(percent) / 100;
        Ok(Some(u64::try_from(part).unwrap_or(u64::MAX) / SECTORS * SECTORS))
    }
}

/// Shares of a file are cut to whole blocks of this size.
const SECTORS: u64 = 4096;

/// `rw=read:8k` leaves 8 KiB out after each I/O.
pub(super) fn take_stride(reader: &mut Reader) -> Option<u64> {
    let rw = reader.take("rw")?;
    let (word, gap) = rw.split_once(':').unwrap_or((&rw, ""));
    let gap = gap.parse::<u64>().ok().filter(|_| !word.starts_with("rand"));
    reader.put("rw", if gap.is_some() { word } else { &rw });
    gap
}

pub(super) fn sizes(
    reader: &mut Reader,
    stream: &mut Stream,
    stride: Option<u64>,
    random: [u8; 2],
) {
    if let Some(fixed) = reader.peek("bsrange").as_deref().and_then(directions::fixed) {
        reader.take("bsrange");
        reader.put("bs", &fixed);
    }
    let texts = (reader.peek("bs"), reader.peek("bssplit"));
    let mix = directions::mix(texts.0.as_deref(), texts.1.as_deref(), random, stream);
    let align = reader.size("ba");
    if let Some(mut mix) = mix {
        reader.take("bs");
        reader.take("bssplit");
        if let Some(align) = align {
            mix.parts.iter_mut().for_each(|p| p.align_bytes = Bytes(align));
        }
        *stream = Stream { mix: Some(mix), ..stream.clone() }.with_means_of_mix();
        return;
    }
    reader.blocks(stream);
    // fio keeps offsets to multiples of the smallest block.
    let smallest = stream.blocks.iter().map(|b| b.bytes).min();
    let several = smallest.filter(|s| s.0 != stream.largest_block());
    stream.align_bytes = align.map(Bytes).or(several);
    if let (Some(gap), [block], Pattern::Sequential) =
        (stride, stream.blocks.as_slice(), stream.pattern)
    {
        stream.pattern = Pattern::Stride { stride_bytes: Bytes(block.bytes.0.saturating_add(gap)) };
    }
}

/// Takes the zones of `random_distribution=zoned:…`, if the job has them.
pub(super) fn take_zones(reader: &mut Reader) -> Option<String> {
    let zones = reader.peek("random_distribution")?.strip_prefix("zoned:")?.to_owned();
    reader.take("random_distribution");
    Some(zones)
}

/// `60/10:40/90`: shares of the I/Os and of the file.
pub(super) fn zones(reader: &mut Reader, stream: &mut Stream, zones: &str) {
    let pair = |zone: &str| -> Option<(u8, u8)> {
        let (access, size) = zone.split_once('/')?;
        Some((access.parse().ok()?, size.parse().ok()?))
    };
    let found: Option<Vec<(u8, u8)>> = zones.split(':').map(pair).collect();
    let sum = |of: fn(&(u8, u8)) -> u8, zones: &[(u8, u8)]| {
        zones.iter().map(|z| u32::from(of(z))).sum::<u32>()
    };
    let whole = found.filter(|z| sum(|z| z.0, z) == 100 && sum(|z| z.1, z) == 100);
    let plain = stream.mix.is_none() && stream.pattern == Pattern::Random;
    match whole.as_deref().filter(|_| plain) {
        Some([(access, span), (_, 1..)]) if *span > 0 => {
            stream.distribution = Distribution::Hot {
                span_percent: f64::from(*span),
                access_percent: f64::from(*access),
            };
        }
        Some(zones) if zones.iter().all(|z| z.1 > 0) && stream.blocks.len() == 1 => {
            stream.diskspd = Some(DiskspdOrder {
                access: DiskspdAccess::Random,
                step_bytes: Bytes(stream.alignment()),
                thread_stride_bytes: Bytes(0),
                slices: DiskspdSlices::Percent(zones.to_vec()),
            });
            stream.align_bytes = None;
        }
        _ => reader.odd("random_distribution", &format!("zoned:{zones}")),
    }
}
