//! Experiments on a simulated device whose figures are known exactly. Time is virtual: nothing here
//! sleeps, and the load of the machine changes nothing.

mod accounting;
mod closed_loop;
mod devices;
mod dialects;
mod enough;
mod experiment;
mod faults;
mod flushes;
mod mixes;
mod open_loop;
mod pools;
