//! The mathematics behind iosonde's conclusions.
//!
//! Numbers go in, a conclusion comes out together with the rule that led to it and a sentence in
//! plain words. Nothing here reads a file, a clock or a device, and nothing prints. No input
//! panics: values that cannot be (NaN, infinity, negative counts) are left out or answered by
//! `None`, so that every result holds finite numbers only and survives a journey through JSON.
//!
//! | module | question |
//! |---|---|
//! | [`knee`] | up to which load does throughput grow? |
//! | [`cause`] | and what keeps it from growing? |
//! | [`usl`] | how does it fall beyond its peak? |
//! | [`agreement`] | did the operating system see the same I/O as the tool? |
//! | [`edge`] | how large a cache answers in place of the storage? |
//! | [`scaling`] | do several targets together give the sum of each alone? |
//! | [`honesty`] | can a durable write be where it claims to be? |
//! | [`alignment`] | does I/O off the boundaries cost more? |
//! | [`claims`] | does it do what somebody says it does? |
//! | [`verdict`] | is it fast enough for this part of a database? |
//! | [`steady`] | how well is a mean known, and when is that enough? |
//! | [`phases`] | did throughput change from one level to another on the way? |
//! | [`levels`] | and from one measurement of a load to the next? |
//! | [`noise`] | did it hold still, does it repeat, and was the storage the test's alone? |
//! | [`comparison`] | did a figure change between two sides? |
//! | [`change_points`] | and when, in a series over many dates? |
//! | [`numbers`] | mean, spread, median, percent |

pub mod agreement;
pub mod alignment;
pub mod cause;
pub mod change_points;
pub mod claims;
pub mod comparison;
pub mod edge;
pub mod honesty;
pub mod knee;
pub mod levels;
pub mod noise;
pub mod numbers;
pub mod phases;
pub mod scaling;
pub mod steady;
pub mod surface;
pub mod usl;
pub mod verdict;
mod words;
