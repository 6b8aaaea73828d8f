//! The files of a package besides the program, and their places: for a system's package manager,
//! and for people who unpack a tarball somewhere.

use crate::linux::failure::Failure;
use crate::linux::tree::{Tree, gzip};

/// The one line that package managers show.
pub(crate) const SUMMARY: &str = "Measure and judge storage before a database depends on it";

/// The names of other tools that the program answers to.
pub(crate) const LINKS: [&str; 4] = ["diskspd", "iometer", "sqlio", "sqliosim"];

/// What every package says about itself.
#[derive(Debug, Clone)]
pub(crate) struct About {
    /// The version of iosonde, from `Cargo.toml`.
    pub version: String,
    /// The time of every file in a package, in seconds since 1970.
    pub date: u64,
    /// Name and address of the person who made the package.
    pub maintainer: String,
}

/// The name of a file, and its content.
pub(crate) type Named = (String, Vec<u8>);

/// What goes with the program, the same for every processor.
#[derive(Debug, Clone, Default)]
pub(crate) struct Papers {
    /// Manual pages, `iosonde.1` and those of the commands
    pub manual: Vec<Named>,
    /// Scripts for shells, by the name of the shell
    pub completions: Vec<Named>,
    /// Units of systemd, by their names.
    pub units: Vec<Named>,
    /// The content of `README.md`.
    pub readme: Vec<u8>,
    /// The content of `CHANGELOG.md`.
    pub changelog: Vec<u8>,
    /// `LICENSE` and its kind, by name
    pub own_licences: Vec<Named>,
    /// The licences of everything that is linked into the program
    pub other_licences: String,
}

/// Which system's habits decide where files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// Debian, Ubuntu and systems like them.
    Debian,
    /// Fedora, RHEL, SUSE and systems like them.
    Rpm,
}

/// The longer text that package managers show.
pub(crate) fn description() -> String {
    "iosonde measures what a disk, an array or a cloud volume can do and says\n\
     whether it is fit for a transaction log, for OLTP data and for a data\n\
     warehouse. It also verifies what storage returns, records what the kernel\n\
     counts, keeps every result and compares it with earlier ones.\n\
     \n\
     It reads the command lines and files of SQLIO, DiskSpd, IOMeter and\n\
     SQLIOSim, and answers to their names."
        .to_owned()
}

/// The files as a package manager installs them below `/`.
pub(crate) fn system(program: &[u8], papers: &Papers, kind: Script) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    tree.program("usr/bin/iosonde", program);
    for name in LINKS {
        tree.link(&format!("usr/bin/{name}"), "iosonde");
    }
    for (name, page) in &papers.manual {
        tree.file(&format!("usr/share/man/man1/{name}.gz"), gzip(page)?);
    }
    for (shell, script) in &papers.completions {
        let path = match (shell.as_str(), kind) {
            ("bash", _) => "bash-completion/completions/iosonde",
            ("fish", _) => "fish/vendor_completions.d/iosonde.fish",
            ("zsh", Script::Debian) => "zsh/vendor-completions/_iosonde",
            ("zsh", Script::Rpm) => "zsh/site-functions/_iosonde",
            _ => continue,
        };
        tree.file(&format!("usr/share/{path}"), script.clone());
    }
    for (name, unit) in &papers.units {
        tree.file(&format!("usr/lib/systemd/system/{name}"), unit.clone());
    }
    let doc = "usr/share/doc/iosonde";
    let changelog = match kind {
        Script::Debian => "changelog.gz",
        Script::Rpm => "CHANGELOG.md.gz",
    };
    tree.file(&format!("{doc}/{changelog}"), gzip(&papers.changelog)?);
    tree.file(&format!("{doc}/README.md"), papers.readme.clone());
    tree.file(&format!("{doc}/copyright"), copyright(papers));
    let others = gzip(papers.other_licences.as_bytes())?;
    tree.file(&format!("{doc}/THIRD-PARTY-LICENSES.gz"), others);
    Ok(tree)
}

/// The files as a tarball has them.
pub(crate) fn portable(program: &[u8], papers: &Papers) -> Tree {
    let mut tree = Tree::default();
    tree.program("iosonde", program);
    for name in LINKS {
        tree.link(name, "iosonde");
    }
    for (name, page) in &papers.manual {
        tree.file(&format!("man/man1/{name}"), page.clone());
    }
    for (shell, script) in &papers.completions {
        tree.file(&format!("completions/{}", script_name(shell)), script.clone());
    }
    for (name, unit) in &papers.units {
        tree.file(&format!("systemd/{name}"), unit.clone());
    }
    texts(&mut tree, papers);
    tree
}

/// The files as an archive for Windows has them. It holds no links, so the other names are batch
/// files.
pub(crate) fn windows(program: &[u8], papers: &Papers) -> Tree {
    let mut tree = Tree::default();
    tree.program("iosonde.exe", program);
    for name in LINKS {
        tree.file(&format!("{name}.cmd"), format!("@\"%~dp0iosonde.exe\" {name} %*\r\n"));
    }
    let powershell = papers.completions.iter().filter(|(shell, _)| shell == "powershell");
    for (shell, script) in powershell {
        tree.file(&format!("completions/{}", script_name(shell)), script.clone());
    }
    texts(&mut tree, papers);
    tree
}

/// What people read, in an archive that is unpacked somewhere.
fn texts(tree: &mut Tree, papers: &Papers) {
    for (name, text) in &papers.own_licences {
        tree.file(name, text.clone());
    }
    tree.file("README.md", papers.readme.clone());
    tree.file("CHANGELOG.md", papers.changelog.clone());
    tree.file("THIRD-PARTY-LICENSES.txt", papers.other_licences.clone());
}

/// The name under which each shell looks for a script.
fn script_name(shell: &str) -> String {
    match shell {
        "zsh" => "_iosonde".to_owned(),
        "powershell" => "iosonde.ps1".to_owned(),
        other => format!("iosonde.{other}"),
    }
}

/// Debian's machine-readable file; every package has it.
fn copyright(papers: &Papers) -> String {
    let mit = papers.own_licences.iter().find(|(name, _)| name == "LICENSE-MIT");
    let mit = mit.map(|(_, text)| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
    let indented: Vec<String> = mit
        .lines()
        .map(|line| if line.is_empty() { " .".to_owned() } else { format!(" {line}") })
        .collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: iosonde\n\
         Comment: The program contains other people's work. THIRD-PARTY-LICENSES.gz,\n \
         next to this file, names each part and has its licence.\n\n\
         Files: *\n\
         Copyright: 2026 The iosonde developers\n\
         License: Apache-2.0 or MIT\n\n\
         License: Apache-2.0\n \
         Debian has the text in /usr/share/common-licenses/Apache-2.0; it is also at\n \
         https://www.apache.org/licenses/LICENSE-2.0\n\n\
         License: MIT\n{}\n",
        indented.join("\n")
    )
}

const RELOAD: &str = "if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi\n";

/// Stops what runs, and removes the links that `systemctl enable` has made. Everything the user
/// has measured stays.
const STOP: &str = "    if [ -d /run/systemd/system ]; then
        systemctl stop 'iosonde-baseline@*' iosonde-serve.service iosonde-agent.service || true
    fi
    rm -f /etc/systemd/system/*.wants/iosonde-baseline@*.timer
    rm -f /etc/systemd/system/*.wants/iosonde-serve.service
    rm -f /etc/systemd/system/*.wants/iosonde-agent.service
";

/// What runs when the package is installed or removed: the names are the package manager's.
pub(crate) fn scripts(kind: Script) -> Vec<(&'static str, String)> {
    match kind {
        Script::Debian => {
            let begin = "#!/bin/sh\nset -e\n";
            let stop = format!("{begin}if [ \"$1\" = remove ]; then\n{STOP}fi\n");
            vec![
                ("postinst", format!("{begin}{RELOAD}")),
                ("prerm", stop),
                ("postrm", format!("{begin}{RELOAD}")),
            ]
        }
        Script::Rpm => vec![
            ("post", RELOAD.to_owned()),
            ("preun", format!("if [ \"$1\" = 0 ]; then\n{STOP}fi\n")),
            ("postun", RELOAD.to_owned()),
        ],
    }
}
