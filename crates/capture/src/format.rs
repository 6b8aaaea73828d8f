//! Where the kernel puts the fields of an event, from the event's file `format`: they differ
//! between versions.

/// What is wrong with a description of an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// It has no line with the number of the event.
    #[error("it has no `ID:` line")]
    NoId,
    /// It lacks a field that is needed, or a number is not 1 to 8 bytes long.
    #[error("it has no field `{0}` of 1 to 8 bytes")]
    NoField(&'static str),
}

/// The fields of a block event that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventFormat {
    pub(crate) id: u16,
    pub(crate) device: Field,
    pub(crate) sector: Field,
    pub(crate) sectors: Field,
    pub(crate) flags: Text,
}

/// A number of at most 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    offset: usize,
    size: usize,
}

/// Text that ends with a zero or with its room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Text {
    offset: usize,
    size: usize,
}

impl EventFormat {
    /// Reads a description.
    ///
    /// # Errors
    /// What it lacks.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
        let number = |name| match field(text, name) {
            Some((offset, size @ 1..=8)) => Ok(Field { offset, size }),
            _ => Err(FormatError::NoField(name)),
        };
        let (offset, size) = field(text, "rwbs").ok_or(FormatError::NoField("rwbs"))?;
        Ok(Self {
            id: id.ok_or(FormatError::NoId)?,
            device: number("dev")?,
            sector: number("sector")?,
            sectors: number("nr_sector")?,
            flags: Text { offset, size },
        })
    }
}

/// Offset and size of a field, from a line such as `field:char rwbs[10]; offset:34; size:10;`.
fn field(text: &str, name: &str) -> Option<(usize, usize)> {
    let named = |line: &&str| {
        let declaration =
            line.trim().strip_prefix("field:").and_then(|rest| rest.split(';').next());
        let last = declaration.and_then(|words| words.split_whitespace().last());
        last.is_some_and(|word| word.split('[').next() == Some(name))
    };
    let line = text.lines().find(named)?;
    let value = |key: &str| {
        line.split(';').find_map(|part| part.trim().strip_prefix(key)?.trim().parse().ok())
    };
    Some((value("offset:")?, value("size:")?))
}

impl Field {
    /// The number in an event; `None` if the event is too short.
    pub(crate) fn of(self, event: &[u8]) -> Option<u64> {
        let bytes = event.get(self.offset..self.offset.checked_add(self.size)?)?;
        let mut whole = [0; 8];
        if cfg!(target_endian = "big") {
            whole.get_mut(8 - self.size..)?.copy_from_slice(bytes);
            return Some(u64::from_be_bytes(whole));
        }
        whole.get_mut(..self.size)?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(whole))
    }
}

impl Text {
    /// The text in an event; `None` if the event is too short.
    pub(crate) fn of(self, event: &[u8]) -> Option<&[u8]> {
        let bytes = event.get(self.offset..self.offset.checked_add(self.size)?)?;
        bytes.split(|byte| *byte == 0).next()
    }
}
