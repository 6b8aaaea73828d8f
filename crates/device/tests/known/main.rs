//! Devices behave as the formulas in METHODS.md say, in time that costs nothing.

mod caches;
mod closed_loop;
mod properties;
mod rates;
mod servers;
mod speed;
