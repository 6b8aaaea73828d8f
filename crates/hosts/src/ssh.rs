//! How a host is reached: the system's `ssh`, or whatever takes a host and a command as `ssh` does.

use std::path::Path;
use std::process::Command;

/// What is given to `ssh` before the host: nobody is asked for a password, and a host that does not
/// answer is given up.
const OPTIONS: [&str; 8] = [
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=1",
    "-o",
    "ServerAliveCountMax=2",
];

/// Reaches hosts by `ssh`.
#[derive(Debug, Clone)]
pub(crate) struct Ssh {
    /// The program and what is given to it first, separated by spaces.
    pub(crate) command: String,
    /// What starts iosonde on a host.
    pub(crate) agent: String,
}

impl Ssh {
    /// What starts an agent on this host that allows these places. The account on the host may
    /// replace the command, as `command=` in `authorized_keys` does, and so allow what it wants.
    pub(crate) fn command(&self, host: &str, allow: &[&Path]) -> Command {
        let mut words = self.command.split_whitespace();
        let program = words.next().unwrap_or("ssh");
        let mut command = Command::new(program);
        if Path::new(program).file_stem().is_some_and(|name| name == "ssh") {
            command.args(OPTIONS);
        }
        // A name that begins with `-` is not an option of ssh.
        command.args(words).arg("--").arg(host).arg(self.remote(allow));
        command
    }

    /// The line for the shell of the host.
    fn remote(&self, allow: &[&Path]) -> String {
        let mut line = format!("{} agent --stdio", self.agent);
        for path in allow {
            line.push_str(" --allow ");
            line.push_str(&quoted(&path.display().to_string()));
        }
        line
    }
}

/// One word for a shell of POSIX, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(command: &Command) -> Vec<String> {
        let all = std::iter::once(command.get_program()).chain(command.get_args());
        all.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn only_ssh_is_given_its_options() {
        let ssh = Ssh { command: "ssh".to_owned(), agent: "iosonde".to_owned() }
            .command("db1", &[Path::new("/mnt/it's")]);
        let words_of_ssh = words(&ssh);
        assert_eq!(words_of_ssh[..3], ["ssh", "-o", "BatchMode=yes"]);
        assert_eq!(
            words_of_ssh[9..],
            ["--", "db1", r"iosonde agent --stdio --allow '/mnt/it'\''s'"]
        );
        let other = Ssh { command: "./enter -v".to_owned(), agent: "/opt/iosonde".to_owned() };
        let other = words(&other.command("-oProxyCommand=id", &[]));
        assert_eq!(
            other,
            ["./enter", "-v", "--", "-oProxyCommand=id", "/opt/iosonde agent --stdio"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        /// A path is data: whatever is in it, a shell sees one word.
        #[test]
        #[cfg(unix)]
        fn a_shell_sees_a_path_as_it_is(path in "[ -~]{1,30}") {
            let line = format!("printf %s {}", quoted(&path));
            let output = Command::new("sh").arg("-c").arg(line).output().unwrap();
            prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), path);
        }
    }
}
