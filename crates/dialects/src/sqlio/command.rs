//! SQLIO's command line.
//!
//! A value follows its letter directly: `-kW`, `-s60`. The case of letters matters: `-s` is not
//! `-S`. Everything that is wrong is reported at once. Options without effect, or with another one
//! here, become notes.

use std::fmt;

use thiserror::Error;

use super::printout::{BufferKind, Buffering};

/// What SQLIO does where it is not told.
pub const DEFAULT_FILE: &str = "testfile.dat";
/// A page of the i386, which scattered buffers have to be.
const PAGE_KIB: u32 = 4;

/// A call of SQLIO, option by option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Whether it writes: `-kW`, not `-kR`.
    pub writes: bool,
    /// `-t`; `None` if it is not given.
    pub threads: Option<u32>,
    /// `-s`: how long the test runs, in seconds.
    pub seconds: u32,
    /// `-f`: the order in which blocks are read or written.
    pub order: Walk,
    /// `-i`: rows of the matrix, for `-f` with a number.
    pub run_ios: u32,
    /// `-b`: the size of an I/O in KiB.
    pub block_kib: u32,
    /// `-o`: outstanding I/Os; 0 waits for each I/O.
    pub outstanding: u32,
    /// `-m`: scattered or copied buffers, and how many.
    pub buffers: Option<(BufferKind, u32)>,
    /// `-B`: the caches that are used.
    pub buffering: Buffering,
    /// `-S`: the first offset, in blocks.
    pub base_blocks: u64,
    /// `-L`: which clock times latencies; `None` if latency is not reported.
    pub latency: Option<Timing>,
    /// `-U`: how the use of CPUs is reported.
    pub cpu: Option<CpuUse>,
    /// `-p` and `-a`: the CPUs of the threads.
    pub affinity: Affinity,
    /// `-v1.1.1`: all runs in the same column.
    pub same_column: bool,
    /// `-D`: the level of debug messages.
    pub debug: u32,
    /// `-F`: the file that lists the files to test.
    pub parameter_file: Option<String>,
    /// `-d` next to `-F`: the drive of those of its files that name none.
    pub drive: Option<char>,
    /// The files with the drives of `-d`, and those of `-R`, as they were written.
    pub files: Vec<String>,
}

/// `-f`: the order in which blocks are read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// A number: the width of the matrix.
    Columns(u32),
    /// `random`: at random places in the file.
    Random,
    /// `sequential`: one block after the other.
    Sequential,
}

/// `-L`: which clock times latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// With the processor's counter (`P`), not the system's (`S`).
    pub processor: bool,
    /// Also how long starting an I/O takes (`i`).
    pub initiation: bool,
}

/// `-U`: whether CPUs are reported together or one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuUse {
    /// One by one (`p`), and not only together.
    pub each: bool,
}

/// `-p` and `-a`: the CPUs that threads may run on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Affinity {
    /// Bit `n` is CPU `n`; 0 is all.
    pub mask: u64,
    /// Each thread gets one of them, in turn.
    pub in_turn: bool,
    /// Whether this is a wish that the system may ignore.
    pub ideal: bool,
}

/// Everything that is wrong with a command line or a parameter file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Complaints(pub Vec<String>);

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl Default for Command {
    fn default() -> Self {
        Self {
            writes: false,
            threads: None,
            seconds: 30,
            order: Walk::Columns(64),
            run_ios: 64,
            block_kib: 2,
            outstanding: 0,
            buffers: None,
            buffering: Buffering::None,
            base_blocks: 0,
            latency: None,
            cpu: None,
            affinity: Affinity::default(),
            same_column: false,
            debug: 0,
            parameter_file: None,
            drive: None,
            files: vec![DEFAULT_FILE.to_owned()],
        }
    }
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invocation {
    /// `-?`: an explanation of the options.
    Usage,
    /// A run, with notes on its options.
    Run(Box<Command>, Vec<String>),
}

/// Reads the arguments of a call, without the name of the program.
pub fn parse<T: AsRef<str>>(arguments: &[T]) -> Result<Invocation, Complaints> {
    let mut reading = Reading::default();
    for argument in arguments {
        let argument = argument.as_ref();
        if matches!(argument, "-?" | "/?") {
            return Ok(Invocation::Usage);
        }
        match option(argument) {
            Some((body, typographic)) => {
                reading.typographic |= typographic;
                reading.option(argument, body);
            }
            None if argument.is_empty() => {}
            None => reading.files.push(argument.to_owned()),
        }
    }
    reading.finish()
}

/// The text after the dash, and whether the dash is one that word processors make.
fn option(argument: &str) -> Option<(&str, bool)> {
    if let Some(body) = argument.strip_prefix('-') {
        return Some((body, false));
    }
    let body =
        argument.strip_prefix(['\u{2013}', '\u{2014}', '\u{2212}', '\u{2010}', '\u{2011}'])?;
    Some((body, true))
}

#[derive(Default)]
struct Reading {
    command: Command,
    files: Vec<String>,
    drives: Vec<char>,
    raw: Vec<String>,
    /// Options as they were written, by their letter.
    given: Vec<(char, String)>,
    typographic: bool,
    wrong: Vec<String>,
    notes: Vec<String>,
}

impl Reading {
    fn option(&mut self, argument: &str, body: &str) {
        if body == "64" {
            self.notes.push("`-64` is left out: memory has 64 bits anyway".to_owned());
            return;
        }
        let mut letters = body.chars();
        let Some(letter) = letters.next() else {
            self.wrong.push(
                "a dash without a letter: an option has its letter right after it, such as `-kW`"
                    .to_owned(),
            );
            return;
        };
        let value = letters.as_str();
        if let Some((_, before)) = self.given.iter().find(|(l, _)| *l == letter) {
            self.notes.push(format!("`{argument}` comes after `{before}`: the last counts"));
        }
        self.given.push((letter, argument.to_owned()));
        if let Err(rule) = self.set(letter, value) {
            self.wrong.push(format!("`{argument}`: {rule}"));
        }
    }

    /// Sets what an option says, or tells what it must be.
    fn set(&mut self, letter: char, value: &str) -> Result<(), String> {
        let command = &mut self.command;
        match letter {
            'k' => command.writes = kind(value)?,
            't' => command.threads = Some(number(value, 1, "-t2")?),
            's' => command.seconds = number(value, 1, "-s30")?,
            'f' => command.order = walk(value)?,
            'i' => command.run_ios = number(value, 1, "-i64")?,
            'b' => command.block_kib = number(value, 1, "-b8")?,
            'o' => command.outstanding = number(value, 0, "-o8")?,
            'S' => command.base_blocks = number(value, 0, "-S64")?.into(),
            'D' => command.debug = number(value, 0, "-D1")?,
            'm' => command.buffers = Some(buffers(value)?),
            'B' => command.buffering = buffering(value)?,
            'L' => command.latency = Some(timing(value)?),
            'U' => command.cpu = Some(cpu(value)?),
            'p' => command.affinity = processor(value)?,
            'a' => command.affinity = mask_of(value)?,
            'v' if value == "1.1.1" => command.same_column = true,
            'v' => return Err("only the version 1.1.1 is imitated: `-v1.1.1`".to_owned()),
            'd' => self.drives = letters(value)?,
            'R' => self.raw = raw(value)?,
            'F' if value.is_empty() => {
                return Err("write the name right after it: `-Fparam.txt`".to_owned());
            }
            'F' => command.parameter_file = Some(value.to_owned()),
            _ => return Err("there is no such option; `-?` shows all".to_owned()),
        }
        Ok(())
    }

    fn has(&self, letter: char) -> bool {
        self.given.iter().any(|(l, _)| *l == letter)
    }

    fn written(&self, letter: char) -> &str {
        self.given.iter().rev().find(|(l, _)| *l == letter).map_or("", |(_, text)| text)
    }

    fn finish(mut self) -> Result<Invocation, Complaints> {
        if self.typographic {
            self.notes.push("dashes of a word processor were read as `-`".to_owned());
        }
        self.check_files();
        self.check_options();
        self.check_buffers();
        if !self.wrong.is_empty() {
            return Err(Complaints(self.wrong));
        }
        self.command.files = self.names();
        if let (Some(_), [drive]) = (&self.command.parameter_file, self.drives.as_slice()) {
            self.command.drive = Some(*drive);
        }
        Ok(Invocation::Run(Box::new(self.command), self.notes))
    }

    /// The files with their drives; the default where none is named.
    fn names(&self) -> Vec<String> {
        if self.command.parameter_file.is_some() {
            return Vec::new();
        }
        let mut names = match (self.drives.as_slice(), self.files.as_slice()) {
            ([], files) => files.to_vec(),
            (drives, files) => {
                let file = files.first().map_or(DEFAULT_FILE, String::as_str);
                drives.iter().map(|drive| format!("{drive}:{file}")).collect()
            }
        };
        names.extend(self.raw.iter().cloned());
        if names.is_empty() { vec![DEFAULT_FILE.to_owned()] } else { names }
    }

    fn check_files(&mut self) {
        if !self.drives.is_empty() && self.files.len() > 1 {
            let (drives, files) = (self.written('d'), self.files.join("`, `"));
            self.wrong.push(format!(
                "`{drives}` is put in front of one file, but there are several: `{files}`"
            ));
        }
        if let Some(file) =
            self.files.iter().find(|f| !self.drives.is_empty() && f.get(1..2) == Some(":"))
        {
            self.wrong.push(format!(
                "`{}` is put in front of `{file}`, which has a drive",
                self.written('d')
            ));
        }
        if !self.has('F') {
            return;
        }
        if let [_] = self.drives.as_slice() {
            let (drive, parameters) = (self.written('d'), self.written('F'));
            self.notes.push(format!(
                "`{drive}` is put in front of those files of `{parameters}` that name no drive; \
                 others stay as they are"
            ));
        }
        for letter in ['p', 'a', 'd', 'R'] {
            if !self.has(letter) || letter == 'd' && self.drives.len() == 1 {
                continue;
            }
            let text = format!(
                "`{}` and `{}` do not go together: files, threads and CPUs are those of the \
                 parameter file",
                self.written('F'),
                self.written(letter)
            );
            self.wrong.push(text);
        }
        for file in &self.files {
            let parameters = self.written('F');
            self.wrong.push(format!(
                "`{parameters}` and the file `{file}` do not go together: leave one of them out"
            ));
        }
        if self.has('t') {
            let (threads, parameters) = (self.written('t'), self.written('F'));
            self.notes.push(format!(
                "`{threads}` has no effect: `{parameters}` says how many threads there are"
            ));
        }
    }

    fn check_options(&mut self) {
        let command = &self.command;
        if self.has('p') && self.has('a') {
            let text = format!(
                "`{}` and `{}` do not go together: both say on which CPUs",
                self.written('p'),
                self.written('a')
            );
            self.wrong.push(text);
        }
        match command.order {
            Walk::Columns(columns) => {
                let threads = command.threads.unwrap_or(1);
                if command.parameter_file.is_none() && columns < threads {
                    let text = format!(
                        "{threads} threads need `-f{threads}` or more, so that each has a column \
                         of blocks; it is {columns}"
                    );
                    self.wrong.push(text);
                }
            }
            Walk::Random | Walk::Sequential => {
                for letter in ['i', 'v'] {
                    if !self.has(letter) {
                        continue;
                    }
                    let order = self.written('f');
                    self.notes
                        .push(format!("`{}` has no effect with `{order}`", self.written(letter)));
                }
            }
        }
        self.note_what_differs();
    }

    /// What iosonde does in another way than SQLIO, or not at all.
    fn note_what_differs(&mut self) {
        let command = &self.command;
        if let Some(timing) = command.latency {
            if timing.processor {
                let text = "`-LP`: latency is timed by iosonde's clock, which is the processor's \
                            counter where that is reliable";
                self.notes.push(text.to_owned());
            }
            if timing.initiation {
                let text = "`-L…i`: no call starts a single I/O here. One call starts several \
                    I/Os, or starts one and waits for it; the three lines \
                            of that time are left out";
                self.notes.push(text.to_owned());
            }
        }
        if let Some(CpuUse { each }) = command.cpu {
            let parts = if each { ", and the columns of single CPUs," } else { "" };
            self.notes.push(format!(
                "`-U`: DPCTime, InterruptTime and Interrupts/sec{parts} are not known here; \
                 PrivilegedTime and UserTime are of iosonde alone, ProcessorTime is of everything \
                 that ran"
            ));
        }
        if command.affinity.ideal {
            let letter = if self.has('p') { 'p' } else { 'a' };
            let text = format!(
                "`{}`: a thread cannot be wished onto a CPU here, only bound to it; it is left to \
                 the system",
                self.written(letter)
            );
            self.notes.push(text);
        }
        if !matches!(command.debug, 0 | 1 | 3 | 4 | 9) {
            let text = format!(
                "`{}`: the hidden levels are 1 and 3 (figures per thread), 4 (histograms per \
                thread) and 9 (sizes of the files). The highest of them \
                 below it is taken",
                self.written('D')
            );
            self.notes.push(text);
        }
    }

    fn check_buffers(&mut self) {
        let Some((kind, pieces)) = self.command.buffers else { return };
        let block_kib = self.command.block_kib;
        if self.command.outstanding > 0 {
            let text =
                format!("`{}` and `{}` do not go together", self.written('m'), self.written('o'));
            self.wrong.push(text);
        }
        let whole = u64::from(pieces) * u64::from(PAGE_KIB);
        if kind == BufferKind::Scattered && whole != u64::from(block_kib) {
            self.wrong.push(format!(
                "`{}`: scattered buffers are pages of {PAGE_KIB} KiB, so {pieces} of them make \
                 `-b{whole}`, not `-b{block_kib}`",
                self.written('m')
            ));
        }
        if kind == BufferKind::Copied && (u64::from(block_kib) << 10) % u64::from(pieces) != 0 {
            self.wrong.push(format!(
                "`{}`: a block of {block_kib} KiB cannot be cut into {pieces} equal buffers",
                self.written('m')
            ));
        }
    }
}

/// A whole number right after its letter.
fn number(value: &str, least: u32, example: &str) -> Result<u32, String> {
    let wrong = || {
        format!(
            "write a whole number of {least} or more right after the letter, such as `{example}`"
        )
    };
    let plain = value.bytes().all(|b| b.is_ascii_digit());
    value.parse().ok().filter(|n| plain && *n >= least).ok_or_else(wrong)
}

fn kind(value: &str) -> Result<bool, String> {
    match value {
        "R" | "r" => Ok(false),
        "W" | "w" => Ok(true),
        _ => Err("write `-kR` for reads or `-kW` for writes".to_owned()),
    }
}

fn walk(value: &str) -> Result<Walk, String> {
    match value.to_ascii_lowercase().as_str() {
        "random" => Ok(Walk::Random),
        "sequential" => Ok(Walk::Sequential),
        other => {
            let columns = number(other, 1, "-f64");
            columns.map(Walk::Columns).map_err(|_| {
                "write `-frandom`, `-fsequential` or a number such as `-f64`".to_owned()
            })
        }
    }
}

fn buffers(value: &str) -> Result<(BufferKind, u32), String> {
    let rule = "write `-mS` or `-mC` and the number of buffers, such as `-mS2`";
    let kind = match value.chars().next() {
        Some('S' | 's') => BufferKind::Scattered,
        Some('C' | 'c') => BufferKind::Copied,
        _ => return Err(rule.to_owned()),
    };
    let pieces =
        number(value.get(1..).unwrap_or_default(), 1, "-mS2").map_err(|_| rule.to_owned())?;
    Ok((kind, pieces))
}

fn buffering(value: &str) -> Result<Buffering, String> {
    match value {
        "N" | "n" => Ok(Buffering::None),
        "Y" | "y" => Ok(Buffering::All),
        "H" | "h" => Ok(Buffering::Hardware),
        "S" | "s" => Ok(Buffering::Software),
        _ => Err("write `-BN` (no caches), `-BY` (all), `-BH` (that of the disk) or `-BS` (that \
                  of the system)"
            .to_owned()),
    }
}

fn timing(value: &str) -> Result<Timing, String> {
    let (letter, initiation) = match value.strip_suffix(['i', 'I']) {
        Some(letter) => (letter, true),
        None => (value, false),
    };
    let processor = match letter {
        "S" | "s" => false,
        "P" | "p" => true,
        _ => {
            return Err("write `-LS` or `-LP`, with an `i` after it for the time to start an I/O"
                .to_owned());
        }
    };
    Ok(Timing { processor, initiation })
}

fn cpu(value: &str) -> Result<CpuUse, String> {
    match value {
        "" => Ok(CpuUse { each: false }),
        "p" | "P" => Ok(CpuUse { each: true }),
        _ => Err("write `-U` or `-Up`".to_owned()),
    }
}

fn processor(value: &str) -> Result<Affinity, String> {
    let (ideal, value) = value.strip_prefix(['I', 'i']).map_or((false, value), |rest| (true, rest));
    let cpu = number(value, 0, "-p0")?;
    let mask = 1u64
        .checked_shl(cpu)
        .ok_or("masks have CPUs 0 to 63; bind `iosonde` itself for higher ones")?;
    Ok(Affinity { mask, in_turn: true, ideal })
}

fn mask_of(value: &str) -> Result<Affinity, String> {
    let (in_turn, value) =
        value.strip_prefix(['R', 'r']).map_or((false, value), |rest| (true, rest));
    let (ideal, value) = value.strip_prefix(['I', 'i']).map_or((false, value), |rest| (true, rest));
    let mask = mask(value).ok_or("write a mask of CPUs, such as `-a0xf` or `-aR15`")?;
    Ok(Affinity { mask, in_turn, ideal })
}

/// A mask of CPUs, decimal or with `0x`.
pub(super) fn mask(text: &str) -> Option<u64> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok().filter(|_| digits(hex)),
        None => text.parse().ok().filter(|_| digits(text)),
    }
}

fn letters(value: &str) -> Result<Vec<char>, String> {
    let found: Vec<char> = value.chars().filter(|c| *c != ':').collect();
    if found.is_empty() || !found.iter().all(char::is_ascii_alphabetic) {
        return Err("write letters of drives right after it, such as `-dDEF`".to_owned());
    }
    Ok(found)
}

/// Letters of partitions, numbers of disks: `X:`, `9:`.
fn raw(value: &str) -> Result<Vec<String>, String> {
    let name = |part: &str| {
        let part = part.trim().trim_end_matches(':');
        let letter = part.len() == 1 && part.bytes().all(|b| b.is_ascii_alphabetic());
        let number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        (letter || number).then(|| format!("{part}:"))
    };
    let found: Option<Vec<String>> = value.split(',').map(name).collect();
    found.ok_or_else(|| {
        "write letters of partitions or numbers of disks, such as `-R0,1,E`".to_owned()
    })
}

/// What `-?` prints: SQLIO's usage.
pub const USAGE: &str = "\
sqlio [options] [file...]
  -k<R|W>                kind of I/O: reads or writes (R)
  -t<threads>            threads (1)
  -s<seconds>            length of the run (30)
  -d<A..Z>               drives to put in front of the one file: -dDEF \\test
  -R<drive|disk,...>     raw partitions (letters) or physical disks (numbers)
  -f<stripe|random|sequential>
                         distance in blocks of the I/Os of a run, or the order (64)
  -i<ios>                I/Os of a run (64)
  -b<KB>                 size of one I/O in KiB (2)
  -o<outstanding>        Outstanding I/Os per thread on each file (off)
  -m<C|S><buffers>       several buffers for an I/O: copied, or scattered and gathered (off)
  -B<N|Y|H|S>            caches: none, all, that of the hardware, that of the software (N)
  -S<blocks>             where the first block begins (0)
  -L<S|P>[i]             latencies by the system's or the processor's counter, with i also those \
  of starting an I/O (off)
  -U[p]                  use of the CPUs (off)
  -p[I]<cpu>             CPU for all threads; I: as a wish
  -a[R[I]]<mask>         CPUs for all threads; R: one each, in turn
  -v1.1.1                each run uses the same blocks again
  -F<file>               parameter file with lines of: file threads [mask [size in MB]]
  -?                     this text
Files that do not exist are made, and filled with data that nothing compresses.
";

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
