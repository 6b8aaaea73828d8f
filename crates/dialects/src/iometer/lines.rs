//! The lines of a configuration: which are headers, and which header it is.

/// A longer line is left out.
const LINE_BYTES_MAX: usize = 4096;

/// A line without the blanks around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number in the file, from 1.
    pub number: usize,
    /// As it is in the file.
    pub raw: &'a str,
    /// Its text, without blanks around it.
    pub text: &'a str,
    /// What it begins, where it is a header that IOMeter knows.
    pub header: Option<Header>,
}

impl Line<'_> {
    /// Whether it is a header, known or not.
    pub(super) fn is_header(&self) -> bool {
        self.text.starts_with(QUOTES)
    }
}

/// What web pages make of the apostrophe is one, too.
const QUOTES: [char; 3] = ['\'', '\u{2018}', '\u{2019}'];

/// The four parts of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Setup,
    Display,
    Specs,
    Managers,
}

impl Section {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Setup => "TEST SETUP",
            Self::Display => "RESULTS DISPLAY",
            Self::Specs => "ACCESS SPECIFICATIONS",
            Self::Managers => "MANAGER LIST",
        }
    }
}

/// How the list of managers is nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Manager,
    Worker,
    Defaults,
    Assigned,
    Targets,
    Target,
}

impl Block {
    pub(super) fn depth(self) -> u8 {
        match self {
            Self::Manager => 0,
            Self::Worker => 1,
            Self::Defaults | Self::Assigned | Self::Targets => 2,
            Self::Target => 3,
        }
    }

    pub(super) fn end(self) -> &'static str {
        match self {
            Self::Manager => "'End manager",
            Self::Worker => "'End worker",
            Self::Defaults => "'End default target settings for worker",
            Self::Assigned => "'End assigned access specs",
            Self::Targets => "'End target assignments",
            Self::Target => "'End target",
        }
    }
}

/// A header that IOMeter's files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    Begin(Section),
    End(Section),
    Open(Block),
    Close(Block),
    Version,
    Description,
    RunTime,
    RampUp,
    DiskWorkers,
    NetworkWorkers,
    /// The key of versions that know no network workers.
    Workers,
    Record,
    WorkerCycling,
    TargetCycling,
    DepthCycling,
    TestType,
    Spec,
    Address,
    WorkerType,
    Outstanding,
    Disk,
    Interface,
    ViOutstanding,
    TargetType,
    TargetManager,
    /// The names of columns, which say nothing by themselves.
    Columns,
}

/// All lines of a text, and the numbers of those that are too long.
pub(super) fn lines(text: &str) -> (Vec<Line<'_>>, Vec<usize>) {
    let mut long = Vec::new();
    let mut lines = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        if raw.len() > LINE_BYTES_MAX {
            long.push(index + 1);
            continue;
        }
        let text = raw.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
        lines.push(Line { number: index + 1, raw, text, header: header(text) });
    }
    (lines, long)
}

fn header(text: &str) -> Option<Header> {
    let text = plain(text.strip_prefix(QUOTES)?);
    section(&text).or_else(|| block(&text)).or_else(|| field(&text))
}

/// In small letters, with one blank where there were several, none around commas, and without the
/// line of `=`.
fn plain(text: &str) -> String {
    let small = text.trim_end_matches(['=', ' ', '\t']).to_ascii_lowercase();
    let words: Vec<&str> = small.split_whitespace().collect();
    words.join(" ").replace(" ,", ",").replace(", ", ",")
}

fn section(text: &str) -> Option<Header> {
    let sections = [
        ("test setup", Section::Setup),
        ("results display", Section::Display),
        ("access specifications", Section::Specs),
        ("manager list", Section::Managers),
    ];
    sections.into_iter().find_map(|(name, section)| {
        if text.starts_with(name) {
            return Some(Header::Begin(section));
        }
        text.strip_prefix("end ").filter(|t| *t == name).map(|_| Header::End(section))
    })
}

fn block(text: &str) -> Option<Header> {
    Some(match text {
        "manager id,manager name" => Header::Open(Block::Manager),
        "worker" => Header::Open(Block::Worker),
        "default target settings for worker" => Header::Open(Block::Defaults),
        "assigned access specs" => Header::Open(Block::Assigned),
        "target assignments" => Header::Open(Block::Targets),
        "target" => Header::Open(Block::Target),
        "end manager" => Header::Close(Block::Manager),
        "end worker" => Header::Close(Block::Worker),
        "end default target settings for worker" => Header::Close(Block::Defaults),
        "end assigned access specs" => Header::Close(Block::Assigned),
        "end target assignments" => Header::Close(Block::Targets),
        "end target" => Header::Close(Block::Target),
        _ => return None,
    })
}

fn field(text: &str) -> Option<Header> {
    Some(match text {
        "test description" => Header::Description,
        "run time" => Header::RunTime,
        "default disk workers to spawn" => Header::DiskWorkers,
        "default network workers to spawn" => Header::NetworkWorkers,
        "default workers to spawn" => Header::Workers,
        "record results" => Header::Record,
        "worker cycling" => Header::WorkerCycling,
        "disk cycling" | "target cycling" => Header::TargetCycling,
        "queue depth cycling" => Header::DepthCycling,
        "test type" => Header::TestType,
        "access specification name,default assignment" | "access specification name" => {
            Header::Spec
        }
        "manager network address" => Header::Address,
        "worker type" => Header::WorkerType,
        "local network interface" => Header::Interface,
        "vi outstanding ios" => Header::ViOutstanding,
        "target type" => Header::TargetType,
        "target manager id,manager name" => Header::TargetManager,
        _ if text.starts_with("version") => Header::Version,
        _ if text.starts_with("ramp up time") => Header::RampUp,
        _ if text.starts_with("number of outstanding ios") => Header::Outstanding,
        _ if text.starts_with("disk maximum size") => Header::Disk,
        _ if ["size", "hours", "start", "%"].iter().any(|c| text.starts_with(c)) => Header::Columns,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_known_whatever_their_case_and_blanks() {
        for (text, expected) in [
            ("'TEST SETUP ====", Header::Begin(Section::Setup)),
            ("'Test Setup", Header::Begin(Section::Setup)),
            ("'end  TEST setup", Header::End(Section::Setup)),
            ("'Manager ID , manager name", Header::Open(Block::Manager)),
            ("\u{2019}Manager id,MANAGER NAME", Header::Open(Block::Manager)),
            ("'Access specification name,default assignment", Header::Spec),
            ("'Ramp Up Time (s)", Header::RampUp),
            ("'Ramp Up Time", Header::RampUp),
            ("'\thours      minutes    seconds", Header::Columns),
            ("'Disk maximum size,starting sector,Data pattern", Header::Disk),
            ("'Version 1.1.0", Header::Version),
            ("'End target", Header::Close(Block::Target)),
        ] {
            assert_eq!(header(text), Some(expected), "{text}");
        }
        for text in ["Worker", "'", "'a comment", "''Worker", "'End", ""] {
            assert_eq!(header(text), None, "{text}");
        }
    }
}
