//! What the commands of old tools share: two-dash flags of iosonde among those of another grammar.

mod diskspd;
mod iometer;
mod place;
mod sqlio;
mod terminal;

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Parser, Subcommand};

use crate::commands::sqliosim;
use crate::exit::{Failure, Outcome};
use crate::usage::parse_part;

pub(crate) use place::PlaceFlags;
use terminal::{ToolTerminal, conduct};

/// Old tools by their names. A link with such a name runs the same command.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// Run SQLIO's command line, show its results as a table, run batches of it; `iosonde sqlio
    /// --help`
    #[command(disable_help_flag = true)]
    Sqlio(Tokens),
    /// Run SQLIOSim's command line and configurations: a simulated database checks what it reads;
    /// `iosonde sqliosim --help`
    #[command(disable_help_flag = true)]
    Sqliosim(Tokens),
    /// Run DiskSpd's command line and XML profiles, with results as text or XML;
    /// `iosonde diskspd --help`
    #[command(disable_help_flag = true)]
    Diskspd(Tokens),
    /// Run IOMeter's configurations (.icf) and write its result file
    Iometer(Box<iometer::IometerArgs>),
}

impl ToolCommand {
    pub(crate) fn execute(&self, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
        match self {
            Self::Sqlio(args) => sqlio::sqlio(args, stop),
            Self::Sqliosim(args) => sqliosim::sqliosim(args, stop),
            Self::Diskspd(args) => diskspd::diskspd(args, stop),
            Self::Iometer(args) => iometer::iometer(args, stop),
        }
    }
}

/// A command line in another grammar.
#[derive(Debug, Args)]
pub(crate) struct Tokens {
    /// As it would be typed for the old tool; flags of ours may stand anywhere
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub tokens: Vec<OsString>,
}

/// Takes iosonde's flags, which are those of `T`, out of a command line. What is left is in the
/// other grammar.
///
/// A wrong flag of iosonde, and `--help`, end the program as everywhere else.
pub(crate) fn split<T: Parser>(
    name: &str,
    tokens: &[OsString],
) -> Result<(T, Vec<String>), Failure> {
    let command = T::command();
    let takes_value = |flag: &str| {
        let mut all = command.get_arguments().filter(|a| a.get_long() == Some(flag));
        all.any(|a| a.get_action().takes_values())
    };
    let (mut ours, mut theirs) = (vec![OsString::from(name)], Vec::new());
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        let text = token.to_str();
        match text.and_then(|t| t.strip_prefix("--")).filter(|flag| !flag.is_empty()) {
            Some(flag) => {
                ours.push(token.clone());
                if takes_value(flag) {
                    ours.extend(rest.next().cloned());
                }
            }
            None => theirs.push(text.map(str::to_owned).ok_or_else(|| {
                let text = token.to_string_lossy();
                Failure::WrongUsage(format!(
                    "`{text}` is not text in UTF-8; such names cannot be written in this grammar"
                ))
            })?),
        }
    }
    Ok((parse_part(name, &ours)?, theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Parser)]
    struct Flags {
        #[arg(long)]
        drive: Vec<String>,
        #[arg(long)]
        json: bool,
    }

    #[test]
    fn our_flags_stand_anywhere() {
        let tokens = ["-kR", "--drive", "E=/e", "-s5", "--json", r"E:\x", "--drive=F=/f"]
            .map(OsString::from);
        let (flags, rest) = split::<Flags>("t", &tokens).unwrap();
        assert_eq!((flags.drive, flags.json), (vec!["E=/e".to_owned(), "F=/f".to_owned()], true));
        assert_eq!(rest, ["-kR", "-s5", r"E:\x"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_name_that_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let tokens = [OsString::from_vec(vec![0x66, 0xFF])];
        assert!(matches!(split::<Flags>("t", &tokens), Err(Failure::WrongUsage(_))));
    }
}
