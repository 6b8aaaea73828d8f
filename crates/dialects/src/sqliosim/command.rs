//! SQLIOSim's command line.

use thiserror::Error;

/// What `-?` prints: the options of SQLIOSim.
pub const USAGE: &str = "\
Usage: sqliosim [options]

  -cfg FILE     configuration, or the name of one: default, hwcache, nothrottle, seqwrites, sparse
                [default: sqliosim.cfg.ini where there is one, otherwise `default`]
  -save FILE    write the configuration as this command line changes it
  -log FILE     write a log
  -dir DIR      make a data file (.mdx) and a log file (.ldx) there; may be given several times
  -d SECONDS    length of the test, without its preparation and the last reading of all pages
  -size MB      size of each data file; the log has half of it, at most 50 MB

The command line takes precedence over the configuration.
";

/// The largest number that an option takes.
const NUMBER_MAX: u32 = 1_000_000_000;

/// A command line of SQLIOSim, option by option.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// `-cfg`: a file, or the name of a configuration.
    pub config: Option<String>,
    /// `-save`: the file for the configuration.
    pub save: Option<String>,
    /// `-log`: the file for the log.
    pub log: Option<String>,
    /// `-dir`: the directories in which files are made.
    pub directories: Vec<String>,
    /// `-d`: how long the test runs, in seconds.
    pub seconds: Option<u32>,
    /// `-size`: the size of the files in MiB.
    pub size_mb: Option<u32>,
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// The explanation of the options (`-?`).
    Usage,
    /// A test with these options.
    Test(Command),
}

/// Why a command line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CommandError {
    /// An option that there is not.
    #[error("SQLIOSim has no option `{0}`; `-?` shows those it has")]
    Unknown(String),
    /// An option is not followed by a value.
    #[error("`{0}` needs a value after it")]
    Missing(&'static str),
    /// The same option is given twice.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// A value is not a number.
    #[error("`{option} {value}`: it must be a whole number from 1 to {NUMBER_MAX}")]
    Number {
        /// The option whose value is wrong.
        option: &'static str,
        /// The value as it was typed.
        value: String,
    },
}

/// Reads a command line, without the name of the program.
///
/// # Errors
/// Options that there are not, or that lack their value.
pub fn parse(tokens: &[String]) -> Result<Invocation, CommandError> {
    let mut command = Command::default();
    let mut rest = tokens.iter();
    while let Some(token) = rest.next() {
        if token == "-?" {
            return Ok(Invocation::Usage);
        }
        let options = ["-cfg", "-save", "-log", "-dir", "-d", "-size"];
        let option = options.into_iter().find(|o| o.eq_ignore_ascii_case(token));
        let option = option.ok_or_else(|| CommandError::Unknown(token.clone()))?;
        let value = rest.next().filter(|v| !v.is_empty()).ok_or(CommandError::Missing(option))?;
        match option {
            "-cfg" => once(option, &mut command.config, value.clone())?,
            "-save" => once(option, &mut command.save, value.clone())?,
            "-log" => once(option, &mut command.log, value.clone())?,
            "-d" => once(option, &mut command.seconds, number(option, value)?)?,
            "-size" => once(option, &mut command.size_mb, number(option, value)?)?,
            _ => command.directories.push(value.clone()),
        }
    }
    Ok(Invocation::Test(command))
}

fn once<T>(option: &'static str, target: &mut Option<T>, value: T) -> Result<(), CommandError> {
    if target.replace(value).is_some() { Err(CommandError::Twice(option)) } else { Ok(()) }
}

fn number(option: &'static str, value: &str) -> Result<u32, CommandError> {
    let number = value.parse().ok().filter(|n| (1..=NUMBER_MAX).contains(n));
    number.ok_or_else(|| CommandError::Number { option, value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(text: &str) -> Result<Invocation, CommandError> {
        let tokens: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        parse(&tokens)
    }

    #[test]
    fn options_are_understood_and_mistakes_named() {
        let Ok(Invocation::Test(command)) =
            asked(r"-cfg hwcache -dir D:\a -DIR /b -d 60 -size 100 -log x.xml -save y.ini")
        else {
            panic!("it is a test")
        };
        assert_eq!(command.directories, [r"D:\a", "/b"]);
        assert_eq!((command.seconds, command.size_mb), (Some(60), Some(100)));
        assert_eq!(command.config.as_deref(), Some("hwcache"));
        assert_eq!(
            (command.log.as_deref(), command.save.as_deref()),
            (Some("x.xml"), Some("y.ini"))
        );
        assert_eq!(asked("-d 5 -?"), Ok(Invocation::Usage));
        assert_eq!(asked(""), Ok(Invocation::Test(Command::default())));
        for (text, word) in [
            ("-x 1", "`-x`"),
            ("stray", "`stray`"),
            ("-cfg", "`-cfg` needs"),
            ("-d 1 -d 2", "twice"),
            ("-d 0", "whole number"),
            ("-size 4G", "`-size 4G`: it must be a whole number from 1 to 1000000000"),
        ] {
            let error = asked(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_words_panic(words: Vec<String>) {
            let _ = parse(&words);
        }
    }
}
