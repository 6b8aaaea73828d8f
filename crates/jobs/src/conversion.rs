//! Converts workloads between the files of iosonde and of other tools, and lists what is lost on
//! the way.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dialects::WorkloadFile;
use dialects::convert::{Part, Parts, TOML, kind_of_extension, kind_of_text, kinds, listed};
use dialects::drives::{Drive, Drives};
use dialects::fio::jobs::Environment;
use dialects::text::decode;
use inspect::files::{Output, Seal};
use inspect::reading;
use workload::Workload;

use crate::conduct::JobError;

type Kind = &'static WorkloadFile;

/// The file to convert, and the kind to convert it to.
#[derive(Debug)]
pub struct Conversion {
    /// The file, of any known kind.
    pub input: PathBuf,
    /// The file that it goes to; `None` prints it.
    pub output: Option<PathBuf>,
    /// Kind of the file, if its content does not tell.
    pub from: Option<Kind>,
    /// The kind that it becomes; `None` goes by the extension of the output, or else takes TOML.
    pub to: Option<Kind>,
    /// Which of several runs, or `all`.
    pub step: Option<String>,
    /// Whether the output may replace any other file.
    pub overwrite: bool,
    /// The place for each drive or disk of Windows.
    pub drives: Vec<Drive>,
}

/// The workloads of a file, converted.
#[derive(Debug)]
pub struct Converted {
    /// One text per run that was asked for.
    pub texts: Vec<ConvertedText>,
    /// What is lost, one line each.
    pub lost: Vec<String>,
}

/// A workload in its new form, and where it goes.
#[derive(Debug)]
pub struct ConvertedText {
    /// The file that it goes to; `None` prints it.
    pub output: Option<PathBuf>,
    /// The content of the new file.
    pub text: String,
}

impl Conversion {
    /// Converts; writes nothing.
    ///
    /// # Errors
    /// The file cannot be read, or cannot be said in the other form.
    pub fn convert(&self) -> Result<Converted, JobError> {
        let (from, parts) = parts_of(&self.input, self.from, &self.drives)?;
        let to = self.to.or_else(|| kind_of(self.output.as_deref())).unwrap_or(&TOML);
        let mut lost = parts.lost.clone();
        let chosen = self.chosen(&parts, &mut lost)?;
        let mut texts = Vec::new();
        for number in &chosen {
            let (text, losses) = part(&parts, *number)
                .and_then(|part| converted(&part, from, to))
                .map_err(|what| wrong(&self.input, &what))?;
            let of = if chosen.len() > 1 { format!("{number}: ") } else { String::new() };
            lost.extend(losses.into_iter().map(|what| of.clone() + &what));
            let is_all = self.step.as_deref() == Some("all");
            let place =
                |path: &PathBuf| if is_all { numbered(path, *number) } else { path.clone() };
            texts.push(ConvertedText { output: self.output.as_ref().map(place), text });
        }
        Ok(Converted { texts, lost })
    }

    /// Writes a new file. It replaces only a file that iosonde converted and nobody changed, unless
    /// the user gave up any other.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path, text: &str) -> Result<(), JobError> {
        let kind = self.to.or_else(|| kind_of(Some(path))).unwrap_or(&TOML);
        let seal = if *kind == TOML { Seal::Hash } else { Seal::None };
        let written = Output::claim(path, seal, self.overwrite).and_then(|out| out.write(text));
        written.map_err(|error| {
            JobError::Companion(format!("cannot write `{}`: {error}", path.display()))
        })
    }

    /// The numbers of the parts that are asked for. The others are lost, unless they were left out
    /// by name.
    fn chosen(&self, parts: &Parts, lost: &mut Vec<String>) -> Result<Vec<usize>, JobError> {
        let numbers = 1..=parts.len();
        let name = |n| part(parts, n).map_or_else(|why| why, |part| part.name);
        match self.step.as_deref() {
            Some("all") if self.output.is_none() && parts.len() > 1 => {
                let text = "`--step all` writes several files; name them: `--output FILE`";
                Err(JobError::Usage(text.to_owned()))
            }
            Some("all") if parts.len() > FILES_MAX => {
                let text = format!(
                    "`--step all`: there are {} steps, and {FILES_MAX} files are the most that are \
                     written; choose one by its number",
                    parts.len()
                );
                Err(JobError::Usage(text))
            }
            Some("all") => Ok(numbers.collect()),
            Some(step) => {
                let found = step.parse().ok().filter(|n| numbers.contains(n));
                let unknown = || {
                    let mut text = format!("`--step {step}`: there are {} steps", parts.len());
                    numbers.clone().take(SHOWN).for_each(|n| {
                        let _ = write!(text, "\n  {n}: {}", name(n));
                    });
                    JobError::Usage(text)
                };
                Ok(vec![found.ok_or_else(unknown)?])
            }
            None => {
                let others = numbers.skip(1);
                lost.extend(others.take(SHOWN).map(|n| {
                    format!("run {n} of {}, {}; `--step {n}` converts it", parts.len(), name(n))
                }));
                if parts.len() > SHOWN + 1 {
                    lost.push(format!("… and {} more runs", parts.len() - SHOWN - 1));
                }
                Ok(vec![1])
            }
        }
    }
}

/// Files that `--step all` writes at most.
const FILES_MAX: usize = 1000;

/// Runs that are named one by one.
const SHOWN: usize = 20;

fn wrong(path: &Path, what: &str) -> JobError {
    let lines: Vec<String> = what.lines().map(|l| format!("`{}`: {l}", path.display())).collect();
    JobError::Usage(lines.join("\n"))
}

/// One of the workloads by its number, from 1.
fn part(parts: &Parts, number: usize) -> Result<Part, String> {
    let part = number.checked_sub(1).and_then(|index| parts.part(index));
    part.unwrap_or_else(|| Err(format!("there is no run {number}")))
}

/// What a file is, and every workload of it.
fn parts_of(path: &Path, from: Option<Kind>, drives: &[Drive]) -> Result<(Kind, Parts), JobError> {
    // Read once: a stream has nothing left after that.
    let bytes = reading::bytes(path, reading::TEXT_BYTES_MAX);
    let bytes = bytes.map_err(|error| wrong(path, &error.to_string()))?;
    let named = kind_of(Some(path));
    // An error in a file that is meant to be TOML must name its line.
    let toml = named.filter(|kind| **kind == TOML);
    let kind = from.or(toml).or_else(|| kind_of_text(&decode(&bytes))).or(named);
    let unknown = || {
        let known = listed(kinds().map(|kind| kind.files));
        wrong(path, &format!("it is not one of {known}; say which it should be: `--from`"))
    };
    let kind = kind.ok_or_else(unknown)?;
    let failed = |e: String| {
        if *kind == TOML {
            JobError::Usage(format!("`{}`: {e}", path.display()))
        } else {
            wrong(path, &e)
        }
    };
    let environment = Environment { variable: &|name| std::env::var(name).ok(), size_of: &size_of };
    let parts = (kind.read)(&bytes, &Drives::new(drives.to_vec()), environment);
    Ok((kind, parts.map_err(failed)?))
}

/// The size of a file or block device; `None` if there is none with this name.
fn size_of(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok()?;
    let bytes = if metadata.is_file() {
        metadata.len()
    } else {
        let device = std::fs::canonicalize(path).ok()?;
        let size = Path::new("/sys/class/block").join(device.file_name()?).join("size");
        reading::text(&size, 64).ok()?.trim().parse::<u64>().ok()?.checked_mul(512)?
    };
    (bytes > 0).then_some(bytes)
}

fn kind_of(path: Option<&Path>) -> Option<Kind> {
    kind_of_extension(path?.extension()?.to_str()?)
}

/// The workload of a file of any kind, the first of several, and what of the file is lost; for
/// commands that run it.
///
/// # Errors
/// The file cannot be read, or has several runs.
pub fn first_workload(path: &Path) -> Result<FirstWorkload, JobError> {
    let drives = |failure| match failure {
        JobError::Usage(text) if text.contains("--drive") => JobError::Usage(format!(
            "{text}; `iosonde workload convert --drive … -o FILE.toml` makes a file that can be \
             run"
        )),
        other => other,
    };
    let (kind, parts) = parts_of(path, None, &[]).map_err(drives)?;
    let count = parts.len();
    if count > 1 {
        let text = format!(
            "it has {count} runs, and one is run at a time; choose one: `iosonde workload convert \
             --step N -o FILE.toml`"
        );
        return Err(wrong(path, &text));
    }
    let part = part(&parts, 1).map_err(|e| wrong(path, &e)).map_err(drives)?;
    let lost = parts.lost.into_iter().chain(part.lost).collect();
    Ok(FirstWorkload { workload: part.workload, lost, names_files: *kind != TOML })
}

/// The workload of a file that is run.
#[derive(Debug)]
pub struct FirstWorkload {
    /// The workload itself.
    pub workload: Workload,
    /// What the file asks for that iosonde cannot express.
    pub lost: Vec<String>,
    /// Its targets are files or devices, whatever their names, and never directories: so it is in
    /// the files of other tools.
    pub names_files: bool,
}

/// A workload in another form, and everything that is lost on the way.
fn converted(part: &Part, from: Kind, to: Kind) -> Result<(String, Vec<String>), String> {
    let mut lost = part.lost.clone();
    let mut workload = part.workload.clone();
    if *from == TOML
        && let Some(name) = to.test_file
    {
        // In a directory iosonde makes its own file; other tools must be told one.
        for target in workload.targets.iter_mut().filter(|t| t.path.is_dir()) {
            target.path.push(name);
        }
    }
    let (text, losses) = (to.write)(&workload)?;
    lost.extend(losses);
    // What breaks a rule of iosonde's would be refused when it is run.
    let broken = workload.violations().into_iter().filter(|_| *to == TOML);
    lost.extend(broken.map(|v| format!("iosonde will not run it as it is: {v}")));
    Ok((text, lost))
}

/// Turns `mix.toml` into `mix-2.toml`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{}", extension.unwrap_or_default()))
}
