//! Writes a configuration as IOMeter 1.1.0 does.

use std::fmt::Write;

use super::config::{
    AccessSpec, Config, Cycling, Kind, Manager, Setup, Target, Worker, WorkerCount,
};

/// The version that is written, in the first line and the last. IOMeter puts a blank after it.
const VERSION: &str = "Version 1.1.0 \n";

impl Config {
    /// The text of an `.icf` file.
    #[must_use]
    pub fn to_icf(&self) -> String {
        let mut out = String::from(VERSION);
        if let Some(setup) = &self.setup {
            write_setup(&mut out, setup);
        }
        if !self.display.is_empty() {
            frame(&mut out, "RESULTS DISPLAY", "results display", |out| {
                for line in &self.display {
                    out.push_str(line);
                    out.push('\n');
                }
            });
        }
        if !self.specs.is_empty() {
            frame(&mut out, "ACCESS SPECIFICATIONS", "access specifications", |out| {
                self.specs.iter().for_each(|spec| write_spec(out, spec));
            });
        }
        if !self.managers.is_empty() {
            frame(&mut out, "MANAGER LIST", "manager list", |out| {
                self.managers.iter().for_each(|manager| write_manager(out, manager));
            });
        }
        out.push_str(VERSION);
        out
    }
}

/// A section between its first line, filled with `=` to 80 columns, and its last.
fn frame(out: &mut String, name: &str, end: &str, inside: impl FnOnce(&mut String)) {
    let rule = "=".repeat(80usize.saturating_sub(name.len() + 2));
    put(out, format_args!("'{name} {rule}"));
    inside(out);
    put(out, format_args!("'END {end}"));
}

fn put(out: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{line}");
}

/// Writes a header and its value.
fn field(out: &mut String, header: &str, value: impl std::fmt::Display) {
    put(out, format_args!("'{header}\n\t{value}"));
}

/// Longer texts are cut off: IOMeter has less room still.
const CHARS_MAX: usize = 1000;

/// A text as the value of a line: without what would end it or make it a header.
pub(super) fn plain(text: &str) -> String {
    let one_line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let quotes =
        |c: char| c.is_whitespace() || ['\'', '\u{2018}', '\u{2019}', '\u{feff}'].contains(&c);
    let begun: String = one_line.skip_while(|c| quotes(*c)).take(CHARS_MAX).collect();
    begun.trim_end_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
}

/// The same, for what a comma would cut off.
pub(super) fn plain_name(text: &str) -> String {
    plain(&text.replace(',', "-"))
}

fn write_setup(out: &mut String, setup: &Setup) {
    frame(out, "TEST SETUP", "test setup", |out| {
        let workers = |count| match count {
            WorkerCount::EachCpu => "NUMBER_OF_CPUS".to_owned(),
            WorkerCount::Count(count) => format!("{count}"),
        };
        field(out, "Test Description", plain(&setup.description));
        let (hours, minutes, seconds) = (setup.hours, setup.minutes, setup.seconds);
        field(
            out,
            "Run Time\n'\thours      minutes    seconds",
            format_args!("{hours:<10} {minutes:<10} {seconds}"),
        );
        field(out, "Ramp Up Time (s)", setup.ramp_seconds);
        field(out, "Default Disk Workers to Spawn", workers(setup.disk_workers));
        field(out, "Default Network Workers to Spawn", workers(setup.network_workers));
        field(out, "Record Results", setup.record.word());
        let cycling = |out: &mut String, name: &str, c: Cycling| {
            let header = format!("{name} Cycling\n'\tstart      step       step type");
            field(
                out,
                &header,
                format_args!("{:<10} {:<10} {}", c.start, c.step, c.stepping.word()),
            );
        };
        cycling(out, "Worker", setup.worker_cycling);
        cycling(out, "Disk", setup.target_cycling);
        let c = setup.depth_cycling;
        field(
            out,
            "Queue Depth Cycling\n'\tstart      end        step       step type",
            format_args!("{:<10} {:<10} {:<10} {}", c.start, c.end, c.step, c.stepping.word()),
        );
        field(out, "Test Type", setup.test_type.word());
    });
}

fn write_spec(out: &mut String, spec: &AccessSpec) {
    let name = format!("{},{}", plain_name(&spec.name), spec.assignment.word());
    field(out, "Access specification name,default assignment", name);
    put(out, format_args!("'size,% of size,% reads,% random,delay,burst,align,reply"));
    for row in &spec.rows {
        put(out, format_args!("\t{}", row.fields()));
    }
}

fn write_manager(out: &mut String, manager: &Manager) {
    field(out, "Manager ID, manager name", format_args!("{},{}", manager.id, plain(&manager.name)));
    field(out, "Manager network address", plain(&manager.address));
    manager.workers.iter().for_each(|worker| write_worker(out, worker));
    put(out, format_args!("'End manager"));
}

fn write_worker(out: &mut String, worker: &Worker) {
    let switch = |on: bool| if on { "ENABLED" } else { "DISABLED" };
    field(out, "Worker", plain(&worker.name));
    field(out, "Worker type", worker.kind.words());
    put(out, format_args!("'Default target settings for worker"));
    field(
        out,
        "Number of outstanding IOs,test connection rate,transactions per connection,use fixed \
         seed,fixed seed value",
        format_args!(
            "{},{},{},{},{}",
            worker.outstanding,
            switch(worker.test_connection_rate),
            worker.transactions_per_connection,
            switch(worker.use_seed),
            worker.seed
        ),
    );
    // IOMeter refuses this of other workers, and the others' fields of this one.
    if worker.kind == Kind::Disk {
        let part = format!("{},{}", worker.maximum_sectors, worker.start_sector);
        match worker.pattern {
            None => field(out, "Disk maximum size,starting sector", part),
            Some(pattern) => {
                field(
                    out,
                    "Disk maximum size,starting sector,Data pattern",
                    format_args!("{part},{pattern}"),
                );
            }
        }
    } else if let Some(interface) = &worker.network_interface {
        field(out, "Local network interface", plain(interface));
    }
    if worker.kind == Kind::Vi
        && let Some(outstanding) = worker.vi_outstanding
    {
        field(out, "VI outstanding IOs", outstanding);
    }
    put(out, format_args!("'End default target settings for worker\n'Assigned access specs"));
    for spec in &worker.specs {
        put(out, format_args!("\t{}", plain_name(spec)));
    }
    put(out, format_args!("'End assigned access specs\n'Target assignments"));
    worker.targets.iter().for_each(|target| write_target(out, target));
    put(out, format_args!("'End target assignments\n'End worker"));
}

fn write_target(out: &mut String, target: &Target) {
    field(out, "Target", plain(&target.name));
    field(out, "Target type", target.kind.words());
    if let Some((id, name)) = &target.manager {
        field(out, "Target manager ID, manager name", format_args!("{id},{}", plain(name)));
    }
    put(out, format_args!("'End target"));
}
