//! Export and import: JSON lines without a loss, and tables as CSV and Parquet.

mod columns;
mod csv;
mod error;
mod export;
mod import;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod tables;
#[cfg(test)]
mod tests;

pub use error::{ExchangeError, LineError};
pub use export::{Chosen, Exported, Format, Rows};
pub use import::{Imported, check_import};
