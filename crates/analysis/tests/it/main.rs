//! What the mathematics concludes of known numbers.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod agreement;
mod cause;
mod change_points;
mod comparison;
mod contradiction;
mod contradictions;
mod edge;
mod knee;
mod noise;
mod normal;
mod phases;
mod properties;
mod search;
mod steady;
mod surface;
mod unsure;
mod verdict;
