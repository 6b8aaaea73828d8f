//! The mathematics behind iosonde's conclusions.
//!
//! Numbers go in, a conclusion comes out together with the rule that led to it and a sentence in plain words.
//! Nothing here reads a file, a clock or a device, and nothing prints. No input panics: values that cannot be
//! (NaN, infinity, negative counts) are left out or answered by `None`, so that every result holds finite
//! numbers only and survives a journey through JSON.
//!
//! | module | question |
//! |---|---|
//! | [`knee`] | up to which load does throughput grow? |
//! | [`agreement`] | did the operating system see the same I/O as the tool? |
//! | [`verdict`] | is it fast enough for this part of a database? |
//! | [`steady`] | how well is a mean known, and when is that enough? |
//! | [`noise`] | did it hold still while it was measured? |
//! | [`numbers`] | mean, spread, median, percent |

pub mod agreement;
pub mod knee;
pub mod noise;
pub mod numbers;
pub mod steady;
pub mod verdict;
mod words;
