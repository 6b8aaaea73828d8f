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
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, line: 0 }
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
            let io = if length as u64 == LINE_MAX && !bytes.ends_with(b"\n") {
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

/// A number in a line.
pub(crate) fn number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "a number is missing or too large")
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
