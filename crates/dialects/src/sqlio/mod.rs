//! SQLIO, Microsoft's measuring tool of 2000 to 2015: its command line, parameter file, batches and text output.
//!
//! A [`Printout`] is what SQLIO prints about one run, in its own words and units. It is written by [`Printout::to_text`] and read
//! by [`readings`], from whatever people kept: logs of many runs, console captures, quotations in web pages. [`read`] turns
//! all runs of a text into measurements; [`table`] has the columns of the SQLIO-Parse scripts.

mod dates;
mod figures;
mod lines;
mod measurement;
mod printout;
mod read;
mod table;

pub use measurement::read;
pub use printout::{
    Access, BufferKind, Buffering, CPU_ROWS, CpuBlock, Expansion, Figure, FileSize, HISTOGRAM_MS,
    Load, Order, PoolLine, Printout, Timer, VERSION,
};
pub use read::{Reading, readings};
pub use table::{COLUMNS, csv, row};
