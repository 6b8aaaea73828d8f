//! IOMeter among the dialects: its result file, and its configuration as a file of workloads.

use workload::Workload;

use super::{AccessSpec, Config, Read, Step, read, result};
use crate::convert::{Part, Parts};
use crate::dialect::{Dialect, ResultFile, WorkloadFile};
use crate::drives::Drives;

/// Lines of a file that are named one by one.
const NOTES_MAX: usize = 1000;

/// The files of IOMeter that iosonde reads.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "iometer",
    title: "IOMeter",
    is_command: true,
    results: &[ResultFile {
        is_in: result::is_result,
        read: |text, file, read| Ok(result::import(text, file, read)),
    }],
    workloads: Some(&WorkloadFile {
        word: "icf",
        about: "IOMeter's configuration",
        files: "IOMeter's .icf",
        extensions: &["icf"],
        is_in: |text| !text.trim_start().starts_with('<') && text.lines().any(is_header),
        read: |bytes, drives, _| read_parts(bytes, drives),
        write: |workload| {
            let (config, lost) = Config::of_workload(workload).map_err(|e| e.to_string())?;
            Ok((config.to_icf(), lost))
        },
        test_file: Some("iobw.tst"),
    }),
};

fn is_header(line: &str) -> bool {
    let line = line.trim_start().to_ascii_lowercase();
    line.starts_with("'test setup")
        || line.starts_with("'access specifications")
        || line.starts_with("'manager list")
}

fn read_parts(bytes: &[u8], drives: &Drives) -> Result<Parts, String> {
    let Read { config, notes, .. } = read(bytes).map_err(|e| e.to_string())?;
    let runs = config.runs();
    let more = notes.len().saturating_sub(NOTES_MAX);
    let mut lost: Vec<String> = notes.iter().take(NOTES_MAX).map(ToString::to_string).collect();
    if more > 0 {
        lost.push(format!("… and {more} more lines of the file"));
    }
    lost.extend(runs.notes);
    if config.managers.is_empty() && !config.specs.is_empty() {
        return Ok(Parts::of(config.specs.iter().map(part_of_spec).collect())
            .without(notes.iter().take(NOTES_MAX).map(ToString::to_string).collect()));
    }
    if runs.steps.is_empty() {
        let why = if lost.is_empty() { "it asks for no run".to_owned() } else { lost.join("\n") };
        return Err(why);
    }
    lost.extend(config.about_managers(drives));
    let (steps, drives) = (runs.steps, drives.clone());
    let len = steps.len();
    let make = move |index: usize| {
        let step = steps.get(index).ok_or_else(String::new)?;
        part_of_step(&config, step, &drives)
    };
    Ok(Parts::new(lost, len, Box::new(make)))
}

/// An access specification of a file without managers: a load that waits for its targets.
fn part_of_spec(spec: &AccessSpec) -> Part {
    let workload = Workload { streams: vec![spec.stream()], ..Workload::default() };
    let lost = vec![
        "the file has access specifications alone: name the targets, as in `iosonde run TARGET \
         --workload FILE`"
            .to_owned(),
    ];
    Part { name: spec.name.clone(), workload, lost }
}

fn part_of_step(config: &Config, step: &Step, drives: &Drives) -> Result<Part, String> {
    let made = config.workload(step, drives).map_err(|e| e.to_string())?;
    let name = made.workload.title();
    let depth = step.outstanding.map_or_else(String::new, |n| format!(", {n} outstanding"));
    Ok(Part { name: name + &depth, workload: made.workload, lost: made.lost })
}
