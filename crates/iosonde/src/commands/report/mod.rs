//! `iosonde report`: results as one file for people, in the format they want.

mod charts;
mod compared;
mod output;
mod sources;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use inspect::files::Output;
use inspect::reading::OnlyReading;
use report::format::{Content, by_endings};
use report::language::speak;
use report::{FORMATS, Format, Language};
use results::Document;

use self::sources::Sources;
use crate::args::OverwriteArgs;
use crate::exit::{Failure, Outcome};
use crate::language::LanguageArgs;
use crate::recording::HistoryPlace;

/// `iosonde report`
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Files with what `--json` printed (`-` is stdin), or results of the history: an id, the
    /// unique beginning of one, `latest`, or `@TAG` for every result with a tag
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<PathBuf>,

    /// Write the report to this file; the extension names the format, `-` is stdout [default:
    /// iosonde-report-DATE.html]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Format to write [default: by the extension of the output, else html]
    #[arg(long, value_parser = formats())]
    pub format: Option<&'static Format>,

    /// Make a copy for the vendor: neutral words replace host names, serial numbers, paths and
    /// mounts
    #[arg(long)]
    pub redact: bool,

    /// Write each chart as SVG and PNG into this directory
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Show results next to the part of a recording of `iosonde monitor` in which they were
    /// measured
    #[arg(long, value_name = "RESULT")]
    pub during: Vec<PathBuf>,

    /// Title on the cover
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,

    #[command(flatten)]
    pub language: LanguageArgs,

    #[command(flatten)]
    pub place: HistoryPlace,
}

/// The formats by their names, as help lists them.
fn formats() -> impl TypedValueParser<Value = &'static Format> {
    let value = |format: &&Format| {
        PossibleValue::new(format.name).aliases(format.aliases.iter().copied()).help(format.help)
    };
    let names = PossibleValuesParser::new(FORMATS.iter().map(value));
    names.try_map(|name| Format::named(&name).ok_or("it is not one of the formats"))
}

/// The format that the extension of a file names.
fn by_ending(path: &Path) -> Option<&'static Format> {
    Format::by_ending(path.extension()?.to_str()?)
}

pub(crate) fn report(args: &ReportArgs) -> Result<Outcome, Failure> {
    let (format, output) = destination(args)?;
    let reading = OnlyReading::begin();
    let mut sources = sources::documents(&args.results, &args.place)?;
    if !args.during.is_empty() {
        let during = sources::documents(&args.during, &args.place)?;
        set_beside(&mut sources.documents, &during.documents)?;
    }
    // From here on there is a file to complete.
    drop(reading);
    if let Some(apart) = &format.apart
        && let Some(directory) = output.as_deref().filter(|path| output::is_directory(path))
    {
        if args.redact {
            report::redact::redact(&mut sources.documents).map_err(cannot)?;
        }
        let files = (apart.files)(&sources.documents);
        return files_apart(format, &files, directory, args.overwrite.overwrite);
    }
    let claimed = match &output {
        None => None,
        Some(path) => Some(output::claim(path, format, args.overwrite.overwrite)?),
    };
    write(args, &mut sources, format, claimed)?;
    Ok(Outcome::Done)
}

/// Puts the part of the recordings next to what was measured in it.
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

/// The format, and the file; `None` for stdout.
fn destination(args: &ReportArgs) -> Result<(&'static Format, Option<PathBuf>), Failure> {
    let html = &report::html::FORMAT;
    let Some(path) = &args.output else {
        let format = args.format.unwrap_or(html);
        let now = jiff::Zoned::now();
        let date = now.strftime("%Y-%m-%d-%H%M%S");
        let name = format!("iosonde-report-{date}.{}", format.ending());
        return Ok((format, Some(PathBuf::from(name))));
    };
    if path.as_os_str() == "-" {
        return Ok((args.format.unwrap_or(html), None));
    }
    if let Some(format) = args.format.or_else(|| by_ending(path)) {
        return Ok((format, Some(path.clone())));
    }
    let endings: Vec<String> = by_endings().map(|f| format!(".{}", f.ending())).collect();
    let (last, others) = endings.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
    Err(Failure::WrongUsage(format!(
        "the name `{}` does not say in which format the report is to be: end it in {} or {last}, \
         or add `--format`",
        path.display(),
        others.join(", ")
    )))
}

fn write(
    args: &ReportArgs,
    sources: &mut Sources,
    format: &Format,
    claimed: Option<Output>,
) -> Result<(), Failure> {
    if args.redact {
        report::redact::redact(&mut sources.documents).map_err(cannot)?;
    }
    let comparison = compared::section(sources, args.redact)?;
    let documents = &sources.documents;
    let mut built = report::build_compared(documents, comparison);
    if let Some(title) = &args.title {
        built.title.clone_from(title);
    }
    let overwrite = args.overwrite.overwrite;
    let charts = match &args.charts {
        None => None,
        Some(dir) if args.language.language.is_in_pictures() => {
            Some(charts::write(&built, &built, dir, overwrite)?)
        }
        Some(dir) => {
            let pictured = speak(Language::English, || -> Result<_, Failure> {
                let comparison = compared::section(sources, args.redact)?;
                Ok(report::build_compared(&sources.documents, comparison))
            })?;
            Some(charts::write(&built, &pictured, dir, overwrite)?)
        }
    };
    let file = claimed.as_ref().map(|output| output.path().to_owned());
    let pictures = charts.as_ref().map(|charts| charts.beside(file.as_deref()));
    let place = |result: usize, chart: &_| pictures.as_ref()?(result, chart);
    let content = Content { report: &built, documents, pictures: &place };
    let loads: usize = documents.iter().map(|d| d.measurements().len()).sum();
    if let Some(apart) = format.apart.as_ref().filter(|_| loads > 1) {
        eprint(&format!("note: {}", apart.note));
    }
    let content = (format.write)(&content).map_err(cannot)?;
    match claimed {
        Some(claimed) => {
            let path = claimed.path().to_owned();
            claimed.write(&content).map_err(|error| output::cannot_write(&path, &error))?;
            eprint(&format!("report: {}", path.display()));
        }
        None => to_stdout(&content)?,
    }
    if let (Some(charts), Some(dir)) = (&charts, &args.charts) {
        eprint(&format!("charts: {} in {}", charts.pictures.count(), dir.display()));
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes it")]
fn cannot(error: report::ReportError) -> Failure {
    Failure::CannotRun(error.to_string())
}

/// One file per load, for programs that compare loads.
fn files_apart(
    format: &Format,
    files: &[(String, String)],
    directory: &Path,
    overwrite: bool,
) -> Result<Outcome, Failure> {
    for (name, text) in files {
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| {
                Failure::CannotRun(format!("cannot make `{}`: {error}", parent.display()))
            })?;
        }
        let output = output::claim(&path, format, overwrite)?;
        output.write(text).map_err(|error| output::cannot_write(&path, &error))?;
    }
    let count = workload::show_number(files.len() as f64);
    eprint(&format!("report: {count} files in {}", directory.display()));
    Ok(Outcome::Done)
}

/// A line on stderr. If nobody reads it, that is not a failure.
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
