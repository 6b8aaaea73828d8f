//! The stand-in for Parquet in a program that was built without it: every export to it is refused.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::marker::PhantomData;

use super::columns::Column;

/// Never exists, because this build lacks Parquet.
pub(crate) struct Table<'a, R> {
    never: Infallible,
    rows: PhantomData<&'a R>,
}

impl<'a, R: 'static> Table<'a, R> {
    pub(crate) fn begin(
        _: &'a mut (dyn Write + Send),
        _: &str,
        _: &'static [Column<R>],
    ) -> io::Result<Self> {
        let what = "this build of iosonde cannot write Parquet. Use a package, or the program that \
                    `./x build` makes; or export CSV";
        Err(io::Error::new(ErrorKind::Unsupported, what))
    }

    pub(crate) fn write(&mut self, _: &[R]) -> io::Result<()> {
        match self.never {}
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        match self.never {}
    }
}

/// Whether a file is such a table: nobody here can tell, so it is not replaced.
pub(crate) fn holds(_: File, _: &str) -> bool {
    false
}
