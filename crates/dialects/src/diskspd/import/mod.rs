//! DiskSpd's results, as text or as XML, as measurements: one for each time span that was measured.

mod asked;
mod input;
mod percentiles;
mod spans;
mod text;
mod workload;
mod xml;

pub use text::{is_in as is_text, read as read_text};
pub use xml::{is_in as is_xml, read as read_xml};

/// The name of the tool in results.
const TOOL: &str = "DiskSpd";
