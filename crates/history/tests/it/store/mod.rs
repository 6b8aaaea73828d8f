//! A history keeps what it was given, in a file or on a server, and leaves alone what is not its
//! own.

mod both;
mod exchange;
mod files;
mod kept;
mod killed;
#[cfg(target_os = "linux")]
mod locks;
mod made;
mod server;
mod trouble;
mod whole;
