//! Flags of ours beside DiskSpd's options.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Parser;

use crate::dialect::PlaceFlags;
use crate::recording::RecordingArgs;

/// DiskSpd's command line as it is; `-?` shows its options. These flags may stand anywhere in it
#[derive(Debug, Parser)]
pub(super) struct DiskspdFlags {
    #[command(flatten)]
    pub place: PlaceFlags,

    /// Length of every measured window instead of `-d`, to rehearse
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// I/O before every window instead of `-W`
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Write the result to a file, too: text=FILE, xml=FILE or json=FILE; may be given several
    /// times
    #[arg(long, value_name = "FORM=FILE")]
    pub also: Vec<Also>,

    /// Print the measurements as JSON on stdout instead of DiskSpd's text or XML
    #[arg(long)]
    pub json: bool,

    /// Show what would be done and touch nothing
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// A second place for the result.
#[derive(Debug, Clone)]
pub(super) struct Also {
    pub form: Form,
    pub file: PathBuf,
}

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Xml,
    Json,
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
