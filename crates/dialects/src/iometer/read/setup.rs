//! The section `TEST SETUP`.

use super::super::config::{Cycling, DepthCycling, Record, Setup, Stepping, TestType, WorkerCount};
use super::super::lines::{Header, Line};
use super::super::write::plain;
use super::{Reader, parts};

impl<'a> Reader<'a> {
    /// A field of the test setup, and the lines of its value.
    pub(super) fn setup(&mut self, header_line: Line<'a>, header: Header) {
        self.found = true;
        if header == Header::Description {
            let text = plain(self.text_value());
            self.setup_mut().description = text;
            return;
        }
        let Some(line) = self.line_value() else {
            let text = format!("`{}` has no value; the usual one is taken", header_line.text);
            self.note(header_line.number, text);
            return;
        };
        match header {
            Header::RunTime => self.run_time(line),
            Header::RampUp => {
                let value = self.number(line.number, "number of seconds", Some(line.text), 0);
                self.setup_mut().ramp_seconds = value;
            }
            Header::DiskWorkers => {
                let workers = self.workers(line, WorkerCount::EachCpu);
                self.setup_mut().disk_workers = workers;
            }
            Header::NetworkWorkers => {
                let workers = self.workers(line, WorkerCount::Count(0));
                self.setup_mut().network_workers = workers;
            }
            Header::Workers => {
                let workers = self.workers(line, WorkerCount::EachCpu);
                let is_cpus = workers == WorkerCount::Count(0);
                self.setup_mut().disk_workers =
                    if is_cpus { WorkerCount::EachCpu } else { workers };
            }
            Header::Record => {
                let word = Record::from_word(line.text);
                let record = self.word(
                    line,
                    "of the words ALL, NO_TARGETS, NO_WORKERS, NO_MANAGERS, NONE",
                    word,
                );
                self.setup_mut().record = record.unwrap_or(Record::All);
            }
            Header::TestType => {
                let word = TestType::from_word(line.text);
                let test_type = self.word(line, "of the test types; NORMAL is taken", word);
                self.setup_mut().test_type = test_type.unwrap_or(TestType::Normal);
            }
            Header::DepthCycling => {
                let usual = self.setup_mut().depth_cycling;
                let numbers = [usual.start, usual.end, usual.step];
                let ([start, end, step], stepping) = self.cycling(line, numbers, usual.stepping);
                self.setup_mut().depth_cycling = DepthCycling { start, end, step, stepping };
            }
            _ => {
                let ([start, step], stepping) = self.cycling(line, [1, 1], Stepping::Linear);
                let cycling = Cycling { start, step, stepping };
                match header {
                    Header::WorkerCycling => self.setup_mut().worker_cycling = cycling,
                    _ => self.setup_mut().target_cycling = cycling,
                }
            }
        }
    }

    fn setup_mut(&mut self) -> &mut Setup {
        self.config.setup.get_or_insert_default()
    }

    fn run_time(&mut self, line: Line<'_>) {
        let fields: Vec<&str> = parts(line.text).collect();
        if fields.len() != 3 {
            let text = format!("`{}` is not a run time of hours, minutes and seconds", line.text);
            self.note(line.number, text);
            return;
        }
        let number = |index: usize| fields.get(index).copied();
        let time = [0, 1, 2].map(|index| self.number(line.number, "run time", number(index), 0));
        let setup = self.setup_mut();
        [setup.hours, setup.minutes, setup.seconds] = time;
    }

    fn workers(&mut self, line: Line<'_>, usual: WorkerCount) -> WorkerCount {
        if line.text.eq_ignore_ascii_case("NUMBER_OF_CPUS") {
            return WorkerCount::EachCpu;
        }
        if let Ok(count) = line.text.parse() {
            return WorkerCount::Count(count);
        }
        self.note(
            line.number,
            format!("`{}` is not a number of workers; the usual one is taken", line.text),
        );
        usual
    }

    fn word<T>(&mut self, line: Line<'_>, what: &str, word: Option<T>) -> Option<T> {
        if word.is_none() {
            self.note(line.number, format!("`{}` is not one {what}", line.text));
        }
        word
    }

    /// The numbers of a cycling and how it steps; missing parts are as in `usual`.
    fn cycling<const N: usize>(
        &mut self,
        line: Line<'_>,
        usual: [u32; N],
        stepping: Stepping,
    ) -> ([u32; N], Stepping) {
        let mut fields = parts(line.text);
        let numbers =
            usual.map(|u| self.number(line.number, "number of a cycling", fields.next(), u));
        let word = fields.next().and_then(Stepping::from_word);
        let word = self.word(line, "that ends with LINEAR or EXPONENTIAL", word);
        (numbers, word.unwrap_or(stepping))
    }
}
