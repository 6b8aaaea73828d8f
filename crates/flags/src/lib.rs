//! What holds for the command line as a whole: letters, headings and examples of its help, how
//! values are written, what rules are called in flags, and the answer to words of other tools.
//!
//! The flags themselves are declared where their commands are, in `iosonde`.

mod arrange;
mod examples;
mod fields;
mod foreign;
mod moments;
mod name;
mod pages;
mod values;

pub use arrange::{COMMON, HEADINGS, LETTERS, arranged, names};
pub use examples::EXAMPLES;
pub use fields::in_flags;
pub use foreign::answer;
pub use moments::moment;
pub use name::arguments;
pub use pages::{PageError, found, page, pages};
