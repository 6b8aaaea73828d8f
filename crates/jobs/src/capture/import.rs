//! Traces of other tools become traces of ours, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use inspect::files::{Output, Seal};
use inspect::reading;
use trace::{
    BLKTRACE_MAGICS, BlktraceReader, CsvReader, EtwReader, FioReader, Header, ImportError, Io,
    Layout, Ordered, TraceError, Writer, csv_began_unix_ms,
};
use workload::{Bytes, plural, show_duration};

use super::{cannot_read, is_whole};
use crate::conduct::JobError;

/// What a trace of another tool is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// The binary files of blktrace, version 7.
    Blktrace,
    /// An I/O log of fio, version 2 or 3.
    Fio,
    /// CSV of the traces of MSR Cambridge.
    Msr,
    /// CSV of the traces of Alibaba's cloud disks.
    Alibaba,
    /// CSV of the traces of Systor '17, from the repository of SNIA.
    Systor,
    /// CSV as the Storage Performance Council describes it, such as the traces of UMass.
    Spc,
    /// What `xperf -a dumper` prints of a trace of Windows.
    Etw,
}

impl FromStr for TraceFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "blktrace" => Ok(Self::Blktrace),
            "fio" => Ok(Self::Fio),
            "msr" => Ok(Self::Msr),
            "alibaba" => Ok(Self::Alibaba),
            "systor" => Ok(Self::Systor),
            "spc" => Ok(Self::Spc),
            "etw" => Ok(Self::Etw),
            _ => Err("the formats are blktrace, fio, msr, alibaba, systor, spc and etw".to_owned()),
        }
    }
}

impl TraceFormat {
    /// What the trace names as its source.
    fn source(self) -> &'static str {
        match self {
            Self::Blktrace => "blktrace",
            Self::Fio => "fio-iolog",
            Self::Msr => "msr",
            Self::Alibaba => "alibaba",
            Self::Systor => "systor",
            Self::Spc => "spc",
            Self::Etw => "etw",
        }
    }
}

/// What is to be brought in.
#[derive(Debug, Clone, Copy)]
pub struct ImportRequest<'a> {
    /// The files of one trace: several only of blktrace, which writes one per CPU.
    pub files: &'a [PathBuf],
    /// The trace to write. It replaces a trace that is whole.
    pub output: &'a Path,
    /// Whether it may replace any other file.
    pub overwrite: bool,
    /// What the files are; found by their first bytes where it is not said.
    pub format: Option<TraceFormat>,
}

/// What was copied from the foreign trace.
#[derive(Debug, Default)]
struct Imported {
    ios: u64,
    last_ns: u64,
    devices: usize,
    /// Notes for the user, one sentence each.
    notes: Vec<String>,
}

/// Why a trace is not copied.
#[derive(Debug)]
enum CopyError {
    Input(JobError),
    Output(io::Error),
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

type Input = BufReader<File>;

impl Imported {
    /// Notes that I/Os are not in the trace, where some are not.
    fn left_out(&mut self, ios: u64, why: &str) {
        if ios > 0 {
            let ios = plural(ios, "I/O", "I/Os");
            self.notes.push(format!("note: {ios} left out: each {why}"));
        }
    }
}

/// Writes the trace and returns what was done, a line each.
///
/// # Errors
/// A file cannot be read or is of no format that is known, or the output cannot be written; then
/// the output is as it was.
pub fn import_trace(request: &ImportRequest<'_>) -> Result<Vec<String>, JobError> {
    let ImportRequest { files, output, overwrite, format } = *request;
    let mut inputs = Vec::new();
    for path in files {
        let open = crate::files::open(path).map_err(|error| cannot_read(path, &error))?;
        inputs.push((path.as_path(), BufReader::with_capacity(1 << 20, open)));
    }
    let format = match (format, inputs.first_mut()) {
        (Some(format), _) => format,
        (None, Some((path, input))) => recognise(path, input)?,
        (None, None) => return Err(JobError::Usage("name a trace to import".to_owned())),
    };
    if inputs.len() > 1 && format != TraceFormat::Blktrace {
        let text = "only the files of blktrace, one per CPU, are imported together; import the \
                    others one by one";
        return Err(JobError::Usage(text.to_owned()));
    }
    let refused =
        |error| JobError::CannotRun(format!("cannot write `{}`: {error}", output.display()));
    let claimed = Output::claim(output, Seal::Own(is_whole), overwrite).map_err(refused)?;
    let imported = claimed.make(|out| copy(inputs, format, out));
    let imported = imported.map_err(|error| match error {
        CopyError::Input(error) => error,
        CopyError::Output(error) => refused(error),
    })?;
    let bytes = std::fs::metadata(output).map_or(0, |metadata| metadata.len());
    let mut lines = imported.notes;
    lines.push(
        format!(
            "{}: {} on {} in {}, {}",
            output.display(),
            plural(imported.ios, "I/O", "I/Os"),
            plural(imported.devices as u64, "device", "devices"),
            show_duration(imported.last_ns as f64 / 1e9),
            Bytes(bytes)
        ) + "\n",
    );
    Ok(lines)
}

/// The refusal of what blkparse prints.
pub(crate) const BLKPARSE: &str = "it is the text that blkparse prints. Import the binary files of \
                                   blktrace instead, `NAME.blktrace.*`, with `iosonde capture \
                                   import`";

/// The format of a trace by its beginning.
fn recognise(path: &Path, input: &mut Input) -> Result<TraceFormat, JobError> {
    let head = input.fill_buf().map_err(|error| cannot_read(path, &error))?;
    if head.starts_with(b"IOTRACE") {
        let text = "it is a trace of iosonde already; look at it with `iosonde capture show`";
        return Err(cannot_read(path, &text));
    }
    if BLKTRACE_MAGICS.iter().any(|magic| head.starts_with(magic)) {
        return Ok(TraceFormat::Blktrace);
    }
    if head.starts_with(b"fio version ") {
        return Ok(TraceFormat::Fio);
    }
    let text = String::from_utf8_lossy(&head[..head.len().min(4096)]);
    if text.lines().any(|line| line.trim() == "BeginHeader") {
        return Ok(TraceFormat::Etw);
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    // The first may be a heading.
    let columns = |line: &str| -> Vec<String> {
        line.split(',').map(|column| column.trim().to_ascii_lowercase()).collect()
    };
    let first = lines.next().map(columns).unwrap_or_default();
    let lines = [first.clone(), lines.next().map(columns).unwrap_or(first)];
    for line in lines {
        match line.as_slice() {
            [_, _, _, op, _, _, _] if op == "read" || op == "write" => return Ok(TraceFormat::Msr),
            [_, op, _, _, _] if op == "r" || op == "w" => return Ok(TraceFormat::Alibaba),
            [_, _, op, _, _, _] if op == "iotype" || op == "r" || op == "w" => {
                return Ok(TraceFormat::Systor);
            }
            [_, _, _, op, _, ..] if op == "r" || op == "w" => return Ok(TraceFormat::Spc),
            _ => {}
        }
    }
    if trace::is_blkparse_text(&text) {
        return Err(cannot_read(path, &BLKPARSE));
    }
    let text = "its format is not known. Known are blktrace (binary, version 7), I/O logs of fio \
                (version 2 and 3), CSV of MSR Cambridge, Alibaba, Systor '17 and SPC, and text of \
                `xperf -a dumper`; name it with `--from`";
    Err(cannot_read(path, &text))
}

/// Reads the inputs and writes the trace.
fn copy(
    inputs: Vec<(&Path, Input)>,
    format: TraceFormat,
    out: &mut BufWriter<File>,
) -> Result<Imported, CopyError> {
    let name = inputs.first().map_or(Path::new(""), |(path, _)| *path);
    let mut inputs: Vec<Input> = inputs.into_iter().map(|(_, input)| input).collect();
    let wrong = |error: ImportError| CopyError::Input(cannot_read(name, &error));
    if format == TraceFormat::Blktrace {
        let mut reader = BlktraceReader::new(inputs).map_err(wrong)?;
        let mut imported = write(name, format, Ordered::new(reader.by_ref()), out)?;
        imported.devices = reader.devices();
        if reader.is_cut() {
            imported.notes.push("note: the trace is cut off within a record".to_owned());
        }
        if reader.unmatched() > 0 {
            let completions = plural(reader.unmatched(), "completion", "completions");
            let what = "was issued before the trace began, or its issue was lost";
            imported.notes.push(format!("note: {completions} left out: the I/O {what}"));
        }
        return Ok(imported);
    }
    let Some(mut input) = inputs.pop() else { return Ok(Imported::default()) };
    let layout = match format {
        TraceFormat::Msr => Layout::MsrCambridge,
        TraceFormat::Alibaba => Layout::Alibaba,
        TraceFormat::Systor => Layout::Systor,
        TraceFormat::Spc => Layout::Spc,
        TraceFormat::Etw => {
            let mut reader = EtwReader::new(input);
            let mut imported = write(name, format, Ordered::new(reader.by_ref()), out)?;
            imported.devices = reader.devices();
            imported.left_out(reader.early(), "began before the trace");
            return Ok(imported);
        }
        TraceFormat::Fio | TraceFormat::Blktrace => {
            let mut reader = FioReader::new(input);
            let imported = write(name, format, Ordered::new(reader.by_ref()), out)?;
            return Ok(Imported { devices: reader.devices(), ..imported });
        }
    };
    let head = input.fill_buf().map_err(|error| CopyError::Input(cannot_read(name, &error)))?;
    let began_unix_ms = csv_began_unix_ms(&String::from_utf8_lossy(head), layout);
    let mut reader = CsvReader::new(input, layout);
    let ios = Ordered::new(reader.by_ref());
    let mut imported = write_begun(name, (format, began_unix_ms), ios, out)?;
    imported.devices = reader.devices();
    imported.left_out(reader.left_out(), "had no answer, so the trace does not say what it did");
    Ok(imported)
}

fn write(
    name: &Path,
    format: TraceFormat,
    ios: impl Iterator<Item = Result<Io, ImportError>>,
    out: &mut BufWriter<File>,
) -> Result<Imported, CopyError> {
    write_begun(name, (format, None), ios, out)
}

/// Writes a trace that began at a known time, in milliseconds since 1970.
fn write_begun(
    name: &Path,
    (format, began_unix_ms): (TraceFormat, Option<u64>),
    ios: impl Iterator<Item = Result<Io, ImportError>>,
    out: &mut BufWriter<File>,
) -> Result<Imported, CopyError> {
    let wrong = |error: &dyn std::fmt::Display| CopyError::Input(cannot_read(name, error));
    let unwritable = |error: TraceError| CopyError::Output(io::Error::other(error));
    let source = format.source().to_owned();
    let header = Header { source, began_unix_ms, ..Header::default() };
    let mut writer = Writer::new(out, &header).map_err(unwritable)?;
    let mut imported = Imported::default();
    for io in ios {
        reading::go_on().map_err(|error| wrong(&error))?;
        let io = io.map_err(|error| wrong(&error))?;
        imported.ios += 1;
        imported.last_ns = imported.last_ns.max(io.issued_ns);
        writer.write(io).map_err(unwritable)?;
    }
    if imported.ios == 0 {
        return Err(wrong(&"it has no I/O"));
    }
    writer.finish().map_err(unwritable)?;
    Ok(imported)
}
