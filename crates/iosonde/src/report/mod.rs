//! `iosonde report`: results as one file for people, in the format they want.

mod charts;
mod output;
mod sources;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use report::model::Report;
use results::Document;

use crate::exit::{Failure, Outcome};
use crate::recording::HistoryPlace;

/// `iosonde report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Files with what `--json` printed (`-` is stdin), or results of the history: an id, the
    /// unique beginning of one, `latest`, or `@TAG` for every result with a tag
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<PathBuf>,

    /// Where the report goes; the ending names the format, `-` is stdout [default:
    /// iosonde-report-DATE.html]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// What it is written as [default: by the ending of the output, else html]
    #[arg(long, value_enum)]
    pub format: Option<Format>,

    /// The vendor's copy: host names, serial numbers, paths and what is mounted are replaced by
    /// words that say nothing
    #[arg(long)]
    pub redact: bool,

    /// Write each chart as SVG and PNG into this directory
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,

    /// Set these results, measured while a recording of `iosonde monitor` went on, beside the part
    /// of it in which they were made
    #[arg(long, value_name = "RESULT")]
    pub during: Vec<PathBuf>,

    /// What is on the cover
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,

    #[command(flatten)]
    pub place: HistoryPlace,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page for the browser and the printer
    Html,
    /// A workbook with charts
    Xlsx,
    /// Every load as a line
    Csv,
    /// For wikis and tickets
    #[value(alias = "md")]
    Markdown,
    /// The documents themselves, a line for each
    Json,
    /// In the shape of fio's JSON, for programs that draw it: one file, or one for each load where
    /// the output is a directory
    FioJson,
}

impl Format {
    /// The ending of a file in this format.
    fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Xlsx => "xlsx",
            Self::Csv => "csv",
            Self::Markdown => "md",
            Self::Json | Self::FioJson => "json",
        }
    }

    fn by_ending(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "html" | "htm" => Self::Html,
            "xlsx" => Self::Xlsx,
            "csv" => Self::Csv,
            "md" | "markdown" => Self::Markdown,
            "json" | "jsonl" | "ndjson" => Self::Json,
            _ => return None,
        })
    }
}

/// Runs the command.
pub(crate) fn report(args: &ReportArgs) -> Result<Outcome, Failure> {
    let (format, output) = destination(args)?;
    let mut documents = sources::documents(&args.results, &args.place)?;
    if !args.during.is_empty() {
        set_beside(&mut documents, &sources::documents(&args.during, &args.place)?)?;
    }
    if format == Format::FioJson
        && let Some(directory) = output.as_deref().filter(|path| output::is_directory(path))
    {
        if args.redact {
            report::redact::redact(&mut documents).map_err(cannot)?;
        }
        return fio_files(&documents, directory);
    }
    let claimed = match &output {
        None => None,
        Some(path) => Some(output::claim(path, format)?),
    };
    let written = write(args, &mut documents, format, claimed.as_ref());
    if let (Err(_), Some(claimed)) = (&written, claimed) {
        claimed.release();
    }
    written?;
    Ok(Outcome::Done)
}

/// Sets what was measured beside the recordings.
fn set_beside(documents: &mut [Document], during: &[Document]) -> Result<(), Failure> {
    let mut found = false;
    for document in documents {
        if let Document::Recording(recording) = document {
            found = true;
            jobs::set_all_beside(recording, during);
        }
    }
    if found {
        return Ok(());
    }
    let text = "--during needs a recording of `iosonde monitor` among the results";
    Err(Failure::WrongUsage(text.to_owned()))
}

/// The format, and the file; none for stdout.
fn destination(args: &ReportArgs) -> Result<(Format, Option<PathBuf>), Failure> {
    let Some(path) = &args.output else {
        let format = args.format.unwrap_or(Format::Html);
        let now = jiff::Zoned::now();
        let date = now.strftime("%Y-%m-%d-%H%M%S");
        let name = format!("iosonde-report-{date}.{}", format.ending());
        return Ok((format, Some(PathBuf::from(name))));
    };
    if path.as_os_str() == "-" {
        return Ok((args.format.unwrap_or(Format::Html), None));
    }
    match args.format.or_else(|| Format::by_ending(path)) {
        Some(format) => Ok((format, Some(path.clone()))),
        None => Err(Failure::WrongUsage(format!(
            "the name `{}` does not say in which format the report is to be: end it in .html, \
             .xlsx, .csv, .md or .json, or add `--format`",
            path.display()
        ))),
    }
}

fn write(
    args: &ReportArgs,
    documents: &mut Vec<Document>,
    format: Format,
    claimed: Option<&output::Claimed>,
) -> Result<(), Failure> {
    if args.redact {
        report::redact::redact(documents).map_err(cannot)?;
    }
    let mut built = report::build(documents);
    if let Some(title) = &args.title {
        built.title.clone_from(title);
    }
    let charts = match &args.charts {
        None => None,
        Some(dir) => Some(charts::write(&built, dir)?),
    };
    let pictures = charts.as_ref().map(|charts| charts.beside(claimed.map(|c| c.path.as_path())));
    let content = content(&built, documents, format, pictures.as_ref()).map_err(cannot)?;
    match claimed {
        Some(claimed) => {
            claimed.write(&content)?;
            eprint(&format!("report: {}", claimed.path.display()));
        }
        None => to_stdout(&content)?,
    }
    if let (Some(charts), Some(dir)) = (&charts, &args.charts) {
        eprint(&format!("charts: {} in {}", charts.count(), dir.display()));
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn cannot(error: report::ReportError) -> Failure {
    Failure::CannotRun(error.to_string())
}

/// One file for each load, as programs that compare loads want them.
fn fio_files(documents: &[Document], directory: &Path) -> Result<Outcome, Failure> {
    let files = report::fio::files(documents);
    for (name, text) in &files {
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| {
                Failure::CannotRun(format!("cannot make `{}`: {error}", parent.display()))
            })?;
        }
        output::claim(&path, Format::FioJson)?.write(text.as_bytes())?;
    }
    let count = workload::show_number(files.len() as f64);
    eprint(&format!("report: {count} files in {}", directory.display()));
    Ok(Outcome::Done)
}

/// A line on stderr; that nobody reads it is no failure.
fn eprint(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn to_stdout(content: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(content).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::CannotRun(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// The report in a format.
fn content(
    report: &Report,
    documents: &[Document],
    format: Format,
    pictures: Option<&charts::Beside<'_>>,
) -> Result<Vec<u8>, report::ReportError> {
    Ok(match format {
        Format::Html => report::html::page(report)?.into_bytes(),
        Format::Xlsx => report::xlsx::workbook(report)?,
        Format::Csv => report::csv::text(report).into_bytes(),
        Format::Markdown => {
            let place = |result, chart: &_| pictures.and_then(|p| p.picture(result, chart));
            report::markdown::text_with(report, &place).into_bytes()
        }
        Format::FioJson => {
            if documents.iter().map(|d| d.measurements().len()).sum::<usize>() > 1 {
                eprint(
                    "note: programs that draw fio's results add up the loads of one file; name a \
                     directory with `--output` for a file of each",
                );
            }
            report::fio::text(documents).into_bytes()
        }
        Format::Json => {
            let mut lines = Vec::new();
            for document in documents {
                serde_json::to_writer(&mut lines, document)?;
                lines.push(b'\n');
            }
            lines
        }
    })
}
