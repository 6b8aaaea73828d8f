//! Lines of foreign traces in bounded memory, and names that become numbers.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use crate::ImportError;
use crate::io::Io;

/// A longer line is not one of these formats.
const LINE_MAX: u64 = 1024;
/// More devices than any such trace has.
const DEVICES_MAX: usize = 65536;

/// The lines of a text, one at a time.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    line: u64,
    /// Lines of anything are among them: what is too long is cut, and what is not text replaced.
    is_any_text: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, line: 0, is_any_text: false }
    }

    /// Lines of which some may be long, or not in UTF-8.
    pub(crate) fn of_any_text(from: R) -> Self {
        Self { from, line: 0, is_any_text: true }
    }

    /// Passes over what is left of a line.
    fn pass_over(&mut self) -> std::io::Result<()> {
        loop {
            let rest = self.from.fill_buf()?;
            let end = rest.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(rest.len(), |end| end + 1);
            let is_over = end.is_some() || rest.is_empty();
            self.from.consume(length);
            if is_over {
                return Ok(());
            }
        }
    }

    /// The I/O of the next line that has one; `None` at the end. `read` gets the number of a line
    /// and the line.
    pub(crate) fn find_io(
        &mut self,
        mut read: impl FnMut(u64, &str) -> Result<Option<Io>, &'static str>,
    ) -> Result<Option<Io>, ImportError> {
        loop {
            self.line += 1;
            let mut bytes = Vec::new();
            let length = (&mut self.from).take(LINE_MAX).read_until(b'\n', &mut bytes)?;
            if length == 0 {
                return Ok(None);
            }
            let is_long = length as u64 == LINE_MAX && !bytes.ends_with(b"\n");
            let io = if self.is_any_text {
                if is_long {
                    self.pass_over()?;
                }
                read(self.line, String::from_utf8_lossy(&bytes).trim_end())
            } else if is_long {
                Err("it is too long")
            } else {
                std::str::from_utf8(&bytes)
                    .map_err(|_| "it is not text")
                    .and_then(|text| read(self.line, text.trim_end()))
            };
            match io {
                Ok(None) => {}
                Ok(io) => return Ok(io),
                Err(what) => return Err(ImportError::Line { line: self.line, what }),
            }
        }
    }
}

/// Parses a whole number in decimal digits.
pub(crate) fn number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "a number is missing or too large")
}

/// Seconds with a fraction, as nanoseconds; digits after the ninth are dropped.
pub(crate) fn seconds_ns(text: &str) -> Result<u128, &'static str> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(fraction) {
        return Err("a time is not a number");
    }
    let mut fraction_ns = 0;
    for digit in fraction.bytes().chain(std::iter::repeat(b'0')).take(9) {
        fraction_ns = fraction_ns * 10 + u128::from(digit - b'0');
    }
    Ok(u128::from(number(whole)?) * 1_000_000_000 + fraction_ns)
}

/// The numbers of devices, in the order in which they were met.
#[derive(Debug)]
pub(crate) struct Devices<N>(BTreeMap<N, u32>);

impl<N> Default for Devices<N> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<N: Ord> Devices<N> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn number_of<Q>(&mut self, name: &Q) -> Result<u32, &'static str>
    where
        N: Borrow<Q>,
        Q: Ord + ToOwned<Owned = N> + ?Sized,
    {
        if let Some(number) = self.0.get(name) {
            return Ok(*number);
        }
        if self.0.len() == DEVICES_MAX {
            return Err("it names one device too many");
        }
        let number = u32::try_from(self.0.len()).map_err(|_| "too many devices")?;
        self.0.insert(name.to_owned(), number);
        Ok(number)
    }
}
