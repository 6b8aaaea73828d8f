//! How a file shows that iosonde wrote it, and that nobody changed it since: a checksum of the file
//! in a comment at its end. It survives copying, and needs no second file.

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use twox_hash::XxHash3_64;

/// Where a format has room for a checksum.
#[derive(Debug, Clone, Copy)]
pub enum Seal {
    /// A comment of HTML, XML and Markdown.
    Markup,
    /// A comment of TOML.
    Hash,
    /// A comment of roff.
    Roff,
    /// The comment of a ZIP archive, such as a workbook.
    Zip,
    /// A text of a PNG picture.
    Png,
    /// The last member of a JSON object over several lines, in files that only iosonde reads.
    Json,
    /// The format has checksums of its own; the function says whether all of them are right.
    Own(fn(&File) -> io::Result<bool>),
    /// None: such a file is replaced only with `--overwrite`.
    None,
}

/// What the end of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealed {
    /// iosonde wrote it, and nobody changed it.
    Unchanged,
    /// iosonde wrote it, and somebody changed it.
    Changed,
    /// It is not from iosonde.
    Foreign,
    /// A file of this format does not show where it is from.
    Unknown,
}

const TEXT: &str = "iosonde wrote this file; checksum ";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;
/// The end of a file that is searched for a checksum which somebody wrote something after.
const TAIL_BYTES: u64 = 4096;
/// The record at the end of a ZIP archive without a comment.
const ZIP_END: usize = 22;
const ZIP_MAGIC: &[u8] = b"PK\x05\x06";

impl Seal {
    /// What stands before and after the checksum.
    fn around(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Markup => Some(("<!-- ", " -->\n")),
            Self::Hash => Some(("# ", "\n")),
            Self::Roff => Some((".\\\" ", "\n")),
            Self::Json => Some((",\n  \"checksum\": \"", "\"\n}\n")),
            Self::Zip | Self::Png => Some(("", "")),
            Self::Own(_) | Self::None => None,
        }
    }

    /// What is after the bytes of which this is the checksum.
    fn end(self, sum: u64) -> Option<Vec<u8>> {
        let (before, after) = self.around()?;
        let text = format!("{before}{TEXT}{sum:0DIGITS$x}{after}");
        if matches!(self, Self::Png) {
            let text = format!("Software\0{text}");
            return Some([png_chunk(*b"tEXt", text.as_bytes()), PNG_END.to_vec()].concat());
        }
        Some(text.into_bytes())
    }

    /// The end of a content that comes after the checksum instead of before it.
    fn moved(self) -> &'static [u8] {
        match self {
            Self::Png => &PNG_END,
            Self::Json => b"\n}\n",
            _ => b"",
        }
    }

    /// The content with its checksum.
    pub(super) fn seal(self, content: &[u8]) -> Vec<u8> {
        // A content that does not end as it should gets no checksum.
        let Some(content) = content.strip_suffix(self.moved()) else { return content.to_vec() };
        let mut bytes = content.to_vec();
        if matches!(self, Self::Zip) {
            let is_plain = bytes.len() >= ZIP_END
                && bytes[bytes.len() - ZIP_END..].starts_with(ZIP_MAGIC)
                && bytes.ends_with(&[0, 0]);
            // An archive with a comment of its own stays as it is.
            let length = self.end(0).and_then(|end| u16::try_from(end.len()).ok());
            let Some(length) = length.filter(|_| is_plain) else { return bytes };
            let at = bytes.len() - 2;
            bytes[at..].copy_from_slice(&length.to_le_bytes());
        } else if matches!(self, Self::Markup | Self::Hash | Self::Roff)
            && !bytes.is_empty()
            && !bytes.ends_with(b"\n")
        {
            bytes.push(b'\n');
        }
        let end = self.end(XxHash3_64::oneshot(&bytes)).unwrap_or_default();
        bytes.extend_from_slice(&end);
        bytes
    }

    /// What an open file shows.
    pub fn judge(self, file: &File) -> io::Result<Sealed> {
        let end = match self {
            Self::None => return Ok(Sealed::Unknown),
            // A file that is no such file at all is an error of the format, not of the system.
            Self::Own(is_whole) => {
                let mut reader = file;
                reader.seek(SeekFrom::Start(0))?;
                let whole = is_whole(file)?;
                return Ok(if whole { Sealed::Unchanged } else { Sealed::Unknown });
            }
            _ => self.end(0).unwrap_or_default(),
        };
        let length = file.metadata()?.len();
        let Some(before) = length.checked_sub(end.len() as u64) else {
            return Ok(Sealed::Foreign);
        };
        let (mut reader, mut tail) = (file, Vec::new());
        reader.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        reader.take(TAIL_BYTES).read_to_end(&mut tail)?;
        if !tail.windows(TEXT.len()).any(|part| part == TEXT.as_bytes()) {
            // A large file of somebody else is not read as a whole.
            return Ok(Sealed::Foreign);
        }
        let is_right = self.end(sum_of(file, before)?).is_some_and(|end| tail.ends_with(&end));
        Ok(if is_right { Sealed::Unchanged } else { Sealed::Changed })
    }
}

/// The last chunk of a picture.
const PNG_END: [u8; 12] = [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82];

/// A chunk of a PNG picture: length, type, data, and a CRC of type and data (PNG specification,
/// 5.3 and annex D).
fn png_chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(0);
    let body = [kind.as_slice(), data].concat();
    let crc = body.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 }
        })
    });
    [&length.to_be_bytes()[..], &body, &(!crc).to_be_bytes()].concat()
}

/// The checksum of the first bytes of a file, which is then read up to there.
fn sum_of(mut file: &File, bytes: u64) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut hash = XxHash3_64::new();
    let mut left = bytes;
    let mut buffer = vec![0; 64 << 10];
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        match file.read(&mut buffer[..most])? {
            0 => break,
            read => {
                hash.write(&buffer[..read]);
                left = left.saturating_sub(read as u64);
            }
        }
    }
    Ok(hash.finish())
}
