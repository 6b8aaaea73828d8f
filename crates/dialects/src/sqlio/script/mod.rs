//! Batch files of SQLIO calls (.bat, .cmd) and PowerShell scripts (.ps1), understood without a
//! shell: what they would do, call after call, before anything is done.
//!
//! A batch file is worked through as `cmd` does: variables, parameters, `for`, `if`, `goto` and
//! `call :label`. What has no meaning here is skipped, with a note for each. A batch that does not
//! end is refused.

mod arithmetic;
mod command;
mod machine;
mod powershell;
mod source;
mod syntax;

use super::command::Complaints;

pub use powershell::power_script;

/// Variables whose value changes over time: the caller fills them in when it runs the steps.
pub const LATE: [&str; 3] = ["DATE", "TIME", "COMPUTERNAME"];
/// The longest pause, in seconds; `timeout` knows no longer one.
const PAUSE_S_MAX: u32 = 99_999;
/// What a line may grow to by its variables.
const LINE_BYTES_MAX: usize = 64 << 10;
/// What all lines together may grow to.
const TEXT_BYTES_MAX: usize = 16 << 20;
/// What a line takes besides its text: its step, or a note on it.
const LINE_COST_BYTES: usize = 256;
/// Commands that are worked through, loops included: more than any batch of tests has.
const COMMANDS_MAX: u32 = 30_000;

/// One thing that a script does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Number of its line, from 1.
    pub line: usize,
    /// Where in it the command begins, in characters from 1.
    pub column: usize,
    /// What this step does.
    pub action: Action,
    /// Where its output goes; `None` stands for stdout.
    pub output: Option<Output>,
}

/// What a step of a script does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Calls SQLIO with these arguments.
    Call(Vec<String>),
    /// Prints this line.
    Echo(String),
    /// Waits for so many seconds.
    Pause(u32),
}

/// The file to which a command's output is redirected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The name of the file; `None` means `nul`.
    pub file: Option<String>,
    /// Whether output is appended (`>>`) instead of replacing the file (`>`).
    pub append: bool,
}

/// What a script does, with its loops and conditions carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The steps, in the order in which they are run.
    pub steps: Vec<Step>,
    /// Lines that are skipped without harm, each once.
    pub notes: Vec<String>,
}

/// What a script finds around itself.
pub struct Around<'a> {
    /// The value of a variable that the script does not set itself.
    pub variables: &'a dyn Fn(&str) -> Option<String>,
    /// Whether there is a file of this name before the script begins.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// The words after its name: `%1`, `%2`, ….
    pub arguments: &'a [String],
    /// The script's own name, `%0`.
    pub file: &'a str,
}

impl<'a> Around<'a> {
    /// An environment with variables and nothing else.
    #[must_use]
    pub fn variables(variables: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { variables, exists: &|_| false, arguments: &[], file: "" }
    }
}

/// Works through a batch file with its loops and conditions, and collects the steps. Runs nothing.
pub fn script(text: &str, around: &Around<'_>) -> Result<Script, Complaints> {
    machine::Machine::new(text, around).run()
}

/// Whether a program is SQLIO, wherever it is.
fn is_sqlio(program: &str) -> bool {
    let name = program.rsplit(['\\', '/']).next().unwrap_or_default().to_ascii_lowercase();
    name == "sqlio" || name == "sqlio.exe"
}

/// What a script has taken of what one may take, so that a short one cannot grow without end.
struct Budget {
    bytes: usize,
    commands: u32,
}

impl Budget {
    fn new() -> Self {
        Self { bytes: TEXT_BYTES_MAX, commands: COMMANDS_MAX }
    }

    /// Takes a command from the text, or returns why it does not fit.
    fn take(&mut self, text: &str) -> Result<(), String> {
        self.bytes = self.bytes.saturating_sub(text.len() + LINE_COST_BYTES);
        self.commands = self.commands.saturating_sub(1);
        if self.commands == 0 {
            return Err(format!(
                "up to here {COMMANDS_MAX} commands were worked through, more than any batch of \
                tests has. A loop does not end, or one file holds too much; mend the loop \
                 or split the file"
            ));
        }
        if self.bytes == 0 {
            return Err(format!(
                "up to here the lines, with the values of their variables, take more than {} MiB; \
                 split the file",
                TEXT_BYTES_MAX >> 20
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
