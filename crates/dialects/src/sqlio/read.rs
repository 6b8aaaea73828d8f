//! Runs in a text: each begins where SQLIO prints its name, and takes nothing from the one before.
//! Figures that are quoted without that are a run, too; a call right above them gives the load.

use super::lines::{Heading, Line, Which, bare, classify};
use super::printout::{CpuBlock, Expansion, Printout};
use super::quote;

/// Widths at which consoles break lines.
const CONSOLES: [usize; 2] = [80, 120];
/// A call that a console broke into more lines than this is not read as one.
const CALL_LINES_MAX: usize = 12;

/// One run as a text tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What SQLIO printed about the run.
    pub printout: Printout,
    /// Number of its first line, from 1.
    pub line: usize,
    /// The call that made it, where the text has it.
    pub command_line: Option<String>,
    /// The machine, of a log that says so in its head.
    pub host: Option<String>,
    /// The date in the head of such a log, as it is written there.
    pub date: Option<String>,
    /// Its lines without additions around them: the same for the same run, however it was stored.
    pub text: String,
    /// What is missing at its end; `None` if it is whole.
    pub missing: Option<&'static str>,
}

/// Every run of a text, and what of it belongs to no run, with its line.
#[must_use]
pub fn readings(text: &str) -> (Vec<Reading>, Vec<String>) {
    let mut reader = Reader::default();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, raw)) = lines.next() {
        let mut line = bare(raw);
        let mut found = classify(&line);
        let width =
            if raw.len() < CONSOLES[0] { 0 } else { raw.trim_end_matches('\r').chars().count() };
        if CONSOLES.contains(&width)
            && !matches!(found, Some(Line::Call(_) | Line::Banner(_)))
            && let Some((_, next)) = lines.peek()
            && !bare(next).is_empty()
            && classify(&bare(next)).is_none()
        {
            // The rest of a line that a console has broken.
            let joined = format!("{line}{}", bare(next));
            if let Some(whole) = classify(&joined) {
                (line, found) = (joined.into(), Some(whole));
                lines.next();
            }
        }
        reader.line(index + 1, &line, found, width);
    }
    let is_cut = !text.is_empty() && !text.ends_with('\n');
    reader.end(is_cut);
    (reader.readings, reader.notes)
}

#[derive(Default)]
struct Reader {
    readings: Vec<Reading>,
    notes: Vec<String>,
    run: Option<Open>,
    call: Option<Call>,
    host: Option<String>,
    date: Option<String>,
    /// Whether the runs below the head of a log have their `Command Line:`; none before the first.
    calls: Option<bool>,
}

/// A run whose end has not come.
struct Open {
    reading: Reading,
    latency_expected: bool,
    /// The last line that said something was the last one of the text.
    last: Option<Line>,
}

/// A call, as far as it was read.
struct Call {
    text: String,
    lines: usize,
    /// Whether the console broke the line here.
    full: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str, found: Option<Line>, width: usize) {
        match found {
            Some(Line::Banner(version)) => self.banner(number, line, version),
            Some(Line::Call(text)) => {
                self.close(false);
                if is_typed(line, &text) {
                    // A log with a head has no prompts in it: what comes was kept otherwise,
                    // perhaps elsewhere.
                    (self.host, self.date) = (None, None);
                }
                self.call = Some(Call { text, lines: 1, full: CONSOLES.contains(&width) });
            }
            Some(Line::Host(host)) => {
                self.close(false);
                self.calls = None;
                (self.host, self.date) = (Some(host).filter(|h| !h.is_empty()), None);
            }
            // Mails have such a line, too; only the head of a log has the machine before it.
            Some(Line::Date(date)) if self.host.is_some() => {
                self.close(false);
                self.date = Some(date).filter(|d| !d.is_empty());
            }
            Some(Line::Date(_)) => {}
            Some(Line::EndOfLog) => {
                self.close(false);
                (self.host, self.date, self.call) = (None, None, None);
            }
            Some(known) => self.known(number, line, known),
            None if line.is_empty() => {}
            None => self.unknown(line, width),
        }
    }

    fn banner(&mut self, number: usize, line: &str, version: String) {
        self.close(false);
        let called = self.call.is_some();
        if *self.calls.get_or_insert(called) && !called {
            // Every run of that log has its call: this one is of another log, which has no head.
            (self.host, self.date) = (None, None);
        }
        self.begin(number, version);
        if let Some(run) = &mut self.run {
            run.reading.text = format!("{line}\n");
        }
    }

    fn begin(&mut self, number: usize, version: String) {
        let printout = Printout { version, ..Printout::default() };
        let reading = Reading {
            printout,
            line: number,
            command_line: self.call.take().map(|c| c.text),
            host: self.host.clone(),
            date: self.date.clone(),
            text: String::new(),
            missing: None,
        };
        self.run = Some(Open { reading, latency_expected: false, last: None });
    }

    /// Figures, or what they are of, where no run is open.
    fn quoted(&mut self, number: usize, known: &Line) {
        match known {
            Line::Iops(_) | Line::Load(_) | Line::Timer(_) | Line::ParameterFile(_) => {
                self.begin(number, String::new());
            }
            // The headings above figures, which may have a call above them.
            Line::Heading(_) | Line::Known => {}
            // The run that a call made has lost its beginning.
            _ => self.call = None,
        }
    }

    fn known(&mut self, number: usize, line: &str, known: Line) {
        let is_figure = matches!(known, Line::Iops(_));
        let again =
            is_figure && self.run.as_ref().is_some_and(|r| r.reading.printout.iops.is_some());
        if again {
            self.close(false);
        }
        if self.run.is_none() {
            self.quoted(number, &known);
        }
        if let Some(run) = &mut self.run {
            run.reading.text.push_str(line);
            run.reading.text.push('\n');
            run.take(known);
        }
    }

    /// The rest of a call, or a line of another program.
    fn unknown(&mut self, line: &str, width: usize) {
        if let Some(run) = &mut self.run {
            run.last = None;
            return;
        }
        if let Some(call) = self.call.as_mut().filter(|c| c.full && c.lines < CALL_LINES_MAX) {
            call.text.push_str(line);
            call.lines += 1;
            call.full = CONSOLES.contains(&width);
        } else {
            // The call failed, or it was none: the next run is of another.
            self.call = None;
        }
    }

    fn close(&mut self, is_cut: bool) {
        if let Some(open) = self.run.take() {
            self.readings.push(open.close(is_cut));
        }
    }

    fn end(&mut self, is_cut: bool) {
        self.close(is_cut);
    }
}

/// Whether a call follows a prompt.
fn is_typed(line: &str, call: &str) -> bool {
    line.strip_suffix(call).is_some_and(|before| before.trim_end().ends_with('>'))
}

impl Open {
    fn take(&mut self, line: Line) {
        let printout = &mut self.reading.printout;
        match &line {
            Line::Timer(timer) => {
                self.latency_expected = true;
                printout.timer = Some(*timer);
            }
            Line::ParameterFile(file) => printout.parameter_file = Some(file.clone()),
            Line::Pool(pool) => printout.pools.push(pool.clone()),
            Line::Load(load) => printout.load = Some(load.clone()),
            Line::Access(access) => printout.access = Some(*access),
            Line::Outstanding(depth) => printout.outstanding = Some(*depth),
            Line::Buffers(kind, pieces) => printout.buffers = Some((*kind, *pieces)),
            Line::Buffering(buffering) => printout.buffering = *buffering,
            Line::Needed { file, bytes } => printout.expansions.push(Expansion {
                file: file.clone(),
                needed_bytes: *bytes,
                current_bytes: 0,
            }),
            Line::Current(bytes) => {
                if let Some(last) = printout.expansions.last_mut() {
                    last.current_bytes = *bytes;
                }
            }
            Line::Size(size) => printout.sizes.push(size.clone()),
            Line::Heading(Heading::Latency) => self.latency_expected = true,
            Line::Iops(figure) => printout.iops = Some(*figure),
            Line::MibPerS(figure) => printout.mib_per_s = Some(*figure),
            Line::CpuColumns(columns) => {
                printout.cpu.get_or_insert_with(CpuBlock::default).columns.clone_from(columns);
            }
            Line::CpuRow(name, values) => {
                let cpu = printout.cpu.get_or_insert_with(CpuBlock::default);
                cpu.rows.push((name.clone(), values.clone()));
            }
            Line::Initiation(which, us) => printout.initiation_us[*which as usize] = Some(*us),
            Line::Latency(which, ms) => printout.latency_ms[*which as usize] = Some(*ms),
            Line::Percents(row) => printout.histogram = Some(*row),
            _ => {}
        }
        self.last = Some(line);
    }

    /// The run is over; `is_cut` where the text ends within a line.
    fn close(mut self, is_cut: bool) -> Reading {
        if is_cut {
            self.drop_cut();
        }
        let Reading { printout, command_line, .. } = &mut self.reading;
        if let Some(call) = command_line
            && (printout.load.is_none() && printout.access.is_none())
        {
            quote::fill_in(printout, call);
        }
        // A quotation leaves out the histogram: all other figures are those of the whole run.
        let latency = printout.latency_ms.iter().all(Option::is_some);
        self.reading.missing = if printout.iops.is_none() {
            Some("the figures")
        } else if printout.mib_per_s.is_none() {
            Some("MBs/sec")
        } else if self.latency_expected && !latency {
            Some("latency")
        } else {
            None
        };
        self.reading
    }

    /// Whether SQLIO printed it, or somebody typed it again and left out parts.
    fn is_printed(&self) -> bool {
        self.reading.printout.iops.is_some_and(|f| f.decimals == 2)
    }

    /// A number that the text ends with may have lost digits.
    fn drop_cut(&mut self) {
        let printed = self.is_printed();
        let printout = &mut self.reading.printout;
        match self.last {
            Some(Line::Iops(_)) => printout.iops = None,
            Some(Line::MibPerS(figure)) if figure.decimals < 2 && printed => {
                printout.mib_per_s = None;
            }
            Some(Line::Latency(which, _)) if printed => printout.latency_ms[which as usize] = None,
            Some(Line::Initiation(which, _)) => printout.initiation_us[which as usize] = None,
            _ => {}
        }
    }
}

const _: () =
    assert!(Which::Min as usize == 0 && Which::Mean as usize == 1 && Which::Max as usize == 2);
