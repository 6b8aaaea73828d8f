//! `iosonde history export`: results as JSON lines, CSV or Parquet.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use history::{Chosen, ExchangeError, Exported, Filter, Format, History, Rows};
use inspect::files::{Output, Seal};
use workload::plural;

use super::list::FilterArgs;
use crate::args::OverwriteArgs;
use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;

/// `iosonde history export`
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Ids, beginnings of ids, `latest`, or @TAG; without any, all results that fit the filters
    #[arg(value_name = "SELECTOR")]
    pub selectors: Vec<String>,

    #[command(flatten)]
    pub filter: FilterArgs,

    /// Format to write [default: by the extension of the output, else jsonl]
    #[arg(long, value_enum)]
    pub format: Option<FormatArg>,

    /// Which columns the table of measurements has
    #[arg(long, value_enum, conflicts_with = "series")]
    pub columns: Option<ColumnsArg>,

    /// Write a row per point of the series, instead of a row per measurement
    #[arg(long)]
    pub series: bool,

    /// Where it goes [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,
}

/// Formats by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// One result per line, lossless; `import` reads it
    Jsonl,
    /// A table as text, one row per measurement
    Csv,
    /// The same with types, for DuckDB, pandas and others
    Parquet,
}

/// Columns by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColumnsArg {
    /// Every column
    All,
    /// Those that scripts around SQLIO use
    Sqlio,
}

impl ExportArgs {
    fn format(&self) -> Result<Format, Failure> {
        let rows = match self.columns {
            _ if self.series => Rows::Series,
            Some(ColumnsArg::Sqlio) => Rows::Sqlio,
            Some(ColumnsArg::All) | None => Rows::Measurements,
        };
        let wrong = |text: &str| Err(Failure::WrongUsage(text.to_owned()));
        match self.format.unwrap_or_else(|| self.by_ending()) {
            FormatArg::Jsonl if self.series || self.columns.is_some() => wrong(
                "--series and --columns are for tables: add `--format csv` or `--format parquet`",
            ),
            FormatArg::Jsonl => Ok(Format::JsonLines),
            FormatArg::Csv => Ok(Format::Csv(rows)),
            FormatArg::Parquet if self.output.is_none() => {
                wrong("Parquet is not text: say with `--output FILE` where it goes")
            }
            FormatArg::Parquet => Ok(Format::Parquet(rows)),
        }
    }

    /// The format that the extension of the output names.
    fn by_ending(&self) -> FormatArg {
        let ending = self.output.as_deref().and_then(Path::extension);
        match ending.and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => FormatArg::Csv,
            Some("parquet") => FormatArg::Parquet,
            _ => FormatArg::Jsonl,
        }
    }

    fn chosen(&self, history: &History) -> Result<Chosen, Failure> {
        let filter = self.filter.filter();
        if self.selectors.is_empty() {
            return Ok(Chosen::Fitting(Box::new(filter)));
        }
        if filter != Filter::default() {
            let text = "name results or filter them, not both";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
        let entries = history.select_all(&self.selectors).map_err(failure)?;
        Ok(Chosen::These(entries.into_iter().map(|entry| entry.id).collect()))
    }
}

pub(crate) fn export(args: &ExportArgs, history: &History) -> Result<Outcome, Failure> {
    let format = args.format()?;
    let Some(path) = &args.output else {
        let chosen = args.chosen(history)?;
        // Not the locked handle, which cannot be sent to another thread.
        let mut out = BufWriter::new(io::stdout());
        return to_stdout(history.export(&chosen, format, &mut out));
    };
    let output = Output::claim(path, Seal::None, args.overwrite.overwrite);
    let output = output.map_err(|error| cannot_write(path, &error))?;
    let chosen = args.chosen(history)?;
    let exported = output.make(|out| {
        history.export(&chosen, format, out).map_err(|error| match error {
            ExchangeError::Write(error) => Unwritten::Io(error),
            error => Unwritten::Other(Failure::CannotRun(error.to_string())),
        })
    });
    let exported = exported.map_err(|error| match error {
        Unwritten::Io(error) => cannot_write(path, &error),
        Unwritten::Other(failure) => failure,
    })?;
    print(&format!("`{}`: {}\n", path.display(), counts(exported)))?;
    Ok(Outcome::Done)
}

/// Why a file was not made.
enum Unwritten {
    Io(io::Error),
    Other(Failure),
}

impl From<io::Error> for Unwritten {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// If the reader of stdout has gone, that is not a failure.
fn to_stdout(exported: Result<Exported, ExchangeError>) -> Result<Outcome, Failure> {
    match exported {
        Err(ExchangeError::Write(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::CannotRun(format!("cannot write to stdout: {error}")))
        }
        Ok(_) | Err(ExchangeError::Write(_)) => Ok(Outcome::Done),
        Err(error) => Err(Failure::CannotRun(error.to_string())),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::CannotRun(format!("cannot write `{}`: {error}", path.display()))
}

fn counts(exported: Exported) -> String {
    let results = plural(exported.results, "result", "results");
    match exported.rows {
        Some(rows) => format!("{} of {results}", plural(rows, "row", "rows")),
        None => results,
    }
}
