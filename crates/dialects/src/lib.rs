//! The tools people come from: their command lines, files and outputs, each in a module of its own.
//!
//! A dialect turns what people have (a command line, a parameter file, a profile, a result) into
//! iosonde's words, and iosonde's results into the text that their scripts read. Nothing here
//! measures, and nothing here touches a file: what is read comes as bytes, what is written goes out
//! as text.

pub mod convert;
pub mod diskspd;
pub mod drives;
pub mod fio;
pub mod foreign;
pub mod iometer;
mod losses;
pub mod markup;
pub mod recognise;
pub mod sqlio;
pub mod sqliosim;
pub mod text;
pub mod xml;
