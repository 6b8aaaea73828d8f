//! Experiments on simulated devices of known behaviour.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod assess;
mod causes;
mod documents;
mod knee;
mod matrix;
mod precision;
mod probes;
mod replay;
mod runs;
mod scale;
mod sizes;
mod sweep_adaptive;
mod sweep_rounds;
