//! SQLIO, Microsoft's measuring tool of 2000 to 2015: its command line, parameter file, batches and
//! text output.
//!
//! A [`Printout`] is what SQLIO prints about one run, in its own words and units. It is written by
//! [`Printout::to_text`] and read by [`readings`], from whatever people kept: logs of many runs,
//! console captures, quotations in web pages. [`read`] turns all runs of a text into measurements;
//! [`row`] has the columns of the SQLIO-Parse scripts.
//!
//! A [`Command`] is a call of SQLIO. [`job`] says what it does in iosonde's words. [`script`] reads
//! batch files of calls.

use crate::dialect::{Dialect, ResultFile};

mod command;
mod dates;
mod figures;
mod job;
mod lines;
mod measurement;
mod parameters;
mod printout;
mod quote;
mod read;
pub mod script;
mod table;
mod threads;

pub use command::{
    Affinity, Command, Complaints, CpuUse, DEFAULT_FILE, Invocation, Timing, USAGE, Walk, parse,
};
pub use job::{Job, Surroundings, ios_by_ms, job};
pub use measurement::read;
pub use parameters::{Parameters, parameters};
pub use printout::{
    Access, BufferKind, Buffering, CPU_ROWS, CpuBlock, Expansion, Figure, FileSize, HISTOGRAM_MS,
    Load, Order, PoolLine, Printout, Timer, VERSION,
};
pub use read::{Reading, readings};
pub use table::{COLUMNS, csv, row};
pub use threads::threads;

/// The files of SQLIO that iosonde reads.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "sqlio",
    title: "SQLIO",
    is_command: true,
    results: &[ResultFile {
        is_in: |text| {
            let (readings, notes) = readings(text);
            !readings.is_empty() || !notes.is_empty()
        },
        read: |text, file, at| Ok(read(text, file, at)),
    }],
    workloads: None,
};
