//! The name by which the program was called: a link with the name of an old tool runs that tool's
//! command.

use std::ffi::OsString;
use std::path::Path;

use dialects::DIALECTS;

/// The arguments of the program, preceded by the subcommand that its name stands for.
#[must_use]
pub fn arguments() -> Vec<OsString> {
    spelled_out(std::env::args_os().collect())
}

fn spelled_out(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let tool = arguments.first().and_then(|program| tool(Path::new(program)));
    if let Some(tool) = tool {
        arguments.insert(1, tool.into());
    }
    arguments
}

/// The tool of this name, whatever the case of its letters, with or without `.exe`.
fn tool(program: &Path) -> Option<&'static str> {
    let name = program.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let mut tools = DIALECTS.iter().filter(|tool| tool.is_command);
    tools.find(|tool| tool.name == name).map(|tool| tool.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_a_subcommand() {
        let spelled = |text: &str| {
            let given = text.split(' ').map(OsString::from).collect();
            spelled_out(given)
                .into_iter()
                .map(|s| s.into_string().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(spelled("/opt/bin/sqlio -kR"), "/opt/bin/sqlio sqlio -kR");
        assert_eq!(spelled("SQLIO.EXE"), "SQLIO.EXE sqlio");
        assert_eq!(spelled("SQLIOSim.exe -d 5"), "SQLIOSim.exe sqliosim -d 5");
        assert_eq!(spelled("IOmeter.exe -c a.icf"), "IOmeter.exe iometer -c a.icf");
        assert_eq!(spelled("iosonde sqlio -kR"), "iosonde sqlio -kR");
        assert_eq!(spelled("./sqlio2 x"), "./sqlio2 x");
        assert_eq!(spelled_out(Vec::new()), Vec::<OsString>::new());
    }
}
