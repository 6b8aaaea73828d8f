//! The terminal: what happens in a job, as a line now and then, as lines of JSON, or as a screen
//! that is drawn while it lasts.
//!
//! Everything is on stderr: stdout is for the result. [`Display`] hears the one stream of events;
//! the rest of this crate is about taking a terminal and giving it back on every way out.

mod console;
mod description;
mod display;
mod live;
mod progress;
mod recording;
pub mod window;
#[cfg(windows)]
mod windows;

pub use console::{Console, Ear, Stdout};
pub use description::described;
pub use display::{Display, Manner, speak_json, speaks_json, width};
pub use live::leave;
#[cfg(target_os = "linux")]
pub use live::{end_in_order, end_on_second, set_last_words};
pub use recording::{RecordingModel, RecordingScreen};
#[cfg(windows)]
pub use windows::end_on_second;
