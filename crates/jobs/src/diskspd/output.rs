//! The result in the forms that were asked for.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dialects::diskspd::profile::{Profile, ResultFormat};
use dialects::diskspd::result::RunResult;
use inspect::files::{Output, Place, Seal, free_place};
use results::Measurement;
use workload::Target;

use super::plan::ProfileSettings;
use crate::conduct::JobError;
use crate::tool::{Terminal, to_json};

/// A second place for the result.
#[derive(Debug, Clone)]
pub struct Also {
    /// The form of the result there.
    pub form: Form,
    /// The file that it goes to.
    pub file: PathBuf,
}

/// In which form a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The text that DiskSpd prints.
    Text,
    /// The XML that DiskSpd prints.
    Xml,
    /// The measurements of iosonde, as JSON.
    Json,
}

impl Form {
    /// Where a file of this form has room for a checksum.
    fn seal(self) -> Seal {
        if self == Self::Xml { Seal::Markup } else { Seal::None }
    }
}

impl FromStr for Also {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = |name: &str| match name {
            "text" => Some(Form::Text),
            "xml" => Some(Form::Xml),
            "json" => Some(Form::Json),
            _ => None,
        };
        let found = text.split_once('=').and_then(|(name, file)| Some((form(name)?, file)));
        match found {
            Some((form, file)) if !file.is_empty() => Ok(Self { form, file: file.into() }),
            _ => Err("write text=FILE, xml=FILE or json=FILE".to_owned()),
        }
    }
}

/// Everything that a result is written from.
pub(super) struct Printed<'a> {
    pub profile: &'a Profile,
    pub result: &'a RunResult,
    pub measurements: &'a [Measurement],
}

impl Printed<'_> {
    /// Writes the result to stdout and to each file.
    pub(super) fn write(
        &self,
        settings: &ProfileSettings,
        terminal: &mut dyn Terminal,
    ) -> Result<(), String> {
        let form = match self.profile.result_format {
            _ if settings.json => Form::Json,
            ResultFormat::Text => Form::Text,
            ResultFormat::Xml => Form::Xml,
        };
        terminal.print(&self.text(form)?)?;
        let mut wrong = Vec::new();
        for also in &settings.also {
            let text = self.text(also.form)?;
            if let Err(error) = put(also, &text, settings) {
                wrong.push(format!("cannot write `{}`: {error}", also.file.display()));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    fn text(&self, form: Form) -> Result<String, String> {
        match (form, self.measurements) {
            (Form::Text, _) => Ok(self.result.to_text(self.profile)),
            (Form::Xml, _) => Ok(self.result.to_xml(self.profile)),
            // One measurement is its own document.
            (Form::Json, [measurement]) => to_json(measurement),
            (Form::Json, measurements) => to_json(&measurements),
        }
    }
}

/// That each file can be written is found out before anything is measured. Nothing that was there
/// is replaced unasked.
pub(super) fn check(
    settings: &ProfileSettings,
    targets: &[Target],
    is_rehearsal: bool,
) -> Result<(), JobError> {
    let mut earlier: Vec<&Path> = Vec::new();
    for also in &settings.also {
        let file = also.file.as_path();
        let checked = if earlier.contains(&file) || targets.iter().any(|t| t.path == file) {
            Err(io::Error::other("it is named for something else, too; name another"))
        } else {
            let overwrite = settings.places.overwrite;
            if is_rehearsal {
                Output::check(file, also.form.seal(), overwrite)
            } else {
                // The place is tried out here, and claimed again when there is a result.
                Output::claim(file, also.form.seal(), overwrite).map(drop)
            }
        };
        checked.map_err(|error| {
            JobError::NotUnderstood(format!("--also `{}`: {error}", file.display()))
        })?;
        earlier.push(file);
    }
    Ok(())
}

/// Writes a result. What came into its place since it was checked is left, and the result goes next
/// to it.
fn put(also: &Also, text: &str, settings: &ProfileSettings) -> io::Result<()> {
    let (file, seal) = (&also.file, also.form.seal());
    Output::claim(file, seal, settings.places.overwrite).and_then(|out| out.write(text)).or_else(
        |error| {
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            let free = free_place(&Place::of(file)?)?;
            Output::claim(free.path(), seal, false)?.write(text)?;
            let free = free.path().display();
            Err(io::Error::other(format!("{error}; the result is in `{free}`")))
        },
    )
}
