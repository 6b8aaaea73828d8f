//! SQLIO's calls, batch files of them, the matrix of SQLIO_Batch, and tables of results.

mod batch;
mod call;
mod outputs;
mod script;
mod table;
mod text;

pub use self::batch::{BatchTargets, BatchTexts};
pub use self::call::{Call, CallSettings, ReadyCall};
pub use self::script::Script;
pub use self::table::ResultTable;
