//! Conclusions as documents publish them: figures, the sentence that states them, and the rule that
//! led to it.
//!
//! The crate `analysis` has similar types and may change them freely. These belong to the documents
//! and change only with them. The crate that draws a conclusion converts it, field by field.

pub mod agreement;
pub mod alignment;
pub mod cause;
pub mod change;
pub mod claims;
pub mod contradiction;
pub mod edge;
pub mod honesty;
pub mod knee;
pub mod levels;
pub mod noise;
pub mod phases;
pub mod scaling;
pub mod steady;
pub mod verdict;
