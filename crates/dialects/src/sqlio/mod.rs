//! SQLIO.
