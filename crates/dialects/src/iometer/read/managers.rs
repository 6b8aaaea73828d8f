//! The section `MANAGER LIST`: managers, their workers, and what those run on.

use super::super::config::{Assignment, Kind, Manager, Target, Worker};
use super::super::lines::{Block, Header, Line};
use super::super::presets::preset;
use super::super::write::{plain, plain_name};
use super::Reader;

impl<'a> Reader<'a> {
    pub(super) fn open(&mut self, block: Block, line: Line<'a>) {
        self.found = true;
        self.leave_to(block.depth(), line.number);
        match block {
            Block::Manager => self.manager(line),
            Block::Worker => {
                if !matches!(self.blocks.last(), Some((Block::Manager, _))) {
                    self.note(line.number, "the worker is outside every manager");
                }
                if self.config.managers.is_empty() {
                    self.config.managers.push(Manager {
                        id: 1,
                        name: String::new(),
                        address: String::new(),
                        workers: Vec::new(),
                    });
                }
                let name = plain(self.text_value());
                self.placeholder(line.number, &name);
                if let Some(manager) = self.config.managers.last_mut() {
                    manager.workers.push(Worker { name, ..Worker::default() });
                }
            }
            Block::Assigned => {
                let here = self.place();
                self.has_list.extend(here);
            }
            Block::Target => self.target(line),
            Block::Defaults | Block::Targets => {}
        }
        self.blocks.push((block, line.number));
    }

    pub(super) fn close(&mut self, block: Block, line: Line<'_>) {
        if !self.blocks.iter().any(|(b, _)| *b == block) {
            self.note(
                line.number,
                format!("`{}` ends nothing; IOMeter refuses the file", line.text),
            );
            return;
        }
        self.leave_to(block.depth() + 1, line.number);
        self.blocks.pop();
    }

    /// All blocks of this depth and more end here, without their ends.
    fn leave_to(&mut self, depth: u8, line: usize) {
        while let Some((block, began)) = self.blocks.last().copied()
            && block.depth() >= depth
        {
            self.blocks.pop();
            self.note(began, format!("`{}` is missing before line {line}", block.end()));
        }
    }

    pub(super) fn leave_blocks(&mut self, line: usize) {
        self.leave_to(0, line);
    }

    fn manager(&mut self, line: Line<'a>) {
        let value = self.text_value();
        let (id, name) = value.split_once(',').unwrap_or(("", value));
        let id = self.number(line.number, "number of a manager", Some(id), 1);
        let name = plain(name);
        self.placeholder(line.number, &name);
        let (address, workers) = (String::new(), Vec::new());
        self.config.managers.push(Manager { id, name, address, workers });
    }

    fn target(&mut self, line: Line<'a>) {
        let name = plain(self.text_value());
        self.placeholder(line.number, &name);
        let Some(worker) = self.worker_mut() else {
            self.note(line.number, "the target is outside every worker; it is left out");
            return;
        };
        let kind = worker.kind;
        if kind == Kind::Disk && worker.targets.iter().any(|t| disk(&t.name) == disk(&name)) {
            self.note(
                line.number,
                format!("the worker has the target `{name}` already; a disk counts once"),
            );
            // Its fields go to nothing.
            self.skip_target();
            return;
        }
        worker.targets.push(Target { name, kind, manager: None });
    }

    fn skip_target(&mut self) {
        while let Some(line) = self.lines.get(self.at).copied() {
            let goes_on =
                matches!(line.header, None | Some(Header::TargetType | Header::TargetManager));
            if !goes_on {
                return;
            }
            self.at += 1;
        }
    }

    fn place(&self) -> Option<(usize, usize)> {
        let manager = self.config.managers.len().checked_sub(1)?;
        let worker = self.config.managers.last()?.workers.len().checked_sub(1)?;
        Some((manager, worker))
    }

    fn worker_mut(&mut self) -> Option<&mut Worker> {
        self.config.managers.last_mut()?.workers.last_mut()
    }

    /// The name of an access specification that a worker runs.
    pub(super) fn assign(&mut self, line: Line<'_>) {
        let name = plain_name(line.text);
        if name.is_empty() {
            return;
        }
        let Some((manager, worker)) = self.place() else {
            self.note(line.number, format!("`{}` is for no worker; it is left out", line.text));
            return;
        };
        self.assigned.push((manager, worker, name, line.number));
    }

    /// A field of a manager, a worker or a target, and its value.
    pub(super) fn manager_field(&mut self, line: Line<'a>, header: Header) {
        if matches!(self.blocks.last(), Some((Block::Assigned, _))) {
            self.leave_to(Block::Assigned.depth(), line.number);
        }
        match header {
            Header::Address => {
                let value = self.text_value();
                match self.config.managers.last_mut() {
                    Some(manager) => manager.address = plain(value),
                    None => self.note(line.number, "the address is for no manager; it is left out"),
                }
                return;
            }
            Header::TargetType | Header::TargetManager => return self.target_field(line, header),
            _ => {}
        }
        let value = self.value(header != Header::Interface);
        let Some(value) =
            value.or((header == Header::Interface).then_some(Line { text: "", ..line }))
        else {
            self.note(line.number, format!("`{}` has no value; the usual one is taken", line.text));
            return;
        };
        if self.place().is_none() {
            self.note(line.number, format!("`{}` is for no worker; it is left out", line.text));
            return;
        }
        let line = Line { number: value.number, ..line };
        self.worker_field(line, header, &plain(value.text));
    }

    fn worker_field(&mut self, line: Line<'_>, header: Header, value: &str) {
        match header {
            Header::WorkerType => {
                let kind = self.kind(line.number, value);
                self.change(|w| w.kind = kind);
            }
            Header::Outstanding => self.outstanding(line, value),
            Header::Disk => self.disk_part(line, value),
            Header::Interface => self.change(|w| w.network_interface = Some(value.to_owned())),
            Header::ViOutstanding => {
                let number = self.number(line.number, "number of outstanding I/Os", Some(value), 1);
                self.change(|w| w.vi_outstanding = Some(number));
            }
            _ => {}
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Worker)) {
        if let Some(worker) = self.worker_mut() {
            change(worker);
        }
    }

    fn kind(&mut self, line: usize, value: &str) -> Kind {
        Kind::from_words(value).unwrap_or_else(|| {
            self.note(
                line,
                format!("`{value}` is not one of DISK, `NETWORK,TCP`, `NETWORK,VI`; DISK is taken"),
            );
            Kind::Disk
        })
    }

    fn target_field(&mut self, line: Line<'a>, header: Header) {
        let value = self.line_value().map_or("", |l| l.text);
        if !matches!(self.blocks.last(), Some((Block::Target, _))) {
            self.note(line.number, format!("`{}` is for no target; it is left out", line.text));
            return;
        }
        if header == Header::TargetType {
            let kind = self.kind(line.number, value);
            if let Some(target) = self.worker_mut().and_then(|w| w.targets.last_mut()) {
                target.kind = kind;
            }
            return;
        }
        let (id, name) = value.split_once(',').unwrap_or(("", value));
        let id = self.number(line.number, "number of a manager", Some(id), 1);
        if let Some(target) = self.worker_mut().and_then(|w| w.targets.last_mut()) {
            target.manager = Some((id, plain(name)));
        }
    }

    fn outstanding(&mut self, line: Line<'_>, value: &str) {
        let fields: Vec<&str> = value.split(',').map(str::trim).collect();
        let field = |index: usize| fields.get(index).copied();
        let outstanding = self.number(line.number, "number of outstanding I/Os", field(0), 1);
        let test_connection_rate = self.switch(line.number, field(1));
        let transactions_per_connection = match field(2) {
            Some(text) => self.number(line.number, "number of transactions", Some(text), 1),
            None => 1,
        };
        let use_seed = self.switch(line.number, field(3));
        let seed = match field(4) {
            Some(text) => self.number(line.number, "seed", Some(text), 0),
            None => 0,
        };
        self.change(|w| {
            *w = Worker {
                outstanding,
                test_connection_rate,
                transactions_per_connection,
                use_seed,
                seed,
                ..std::mem::take(w)
            };
        });
    }

    fn switch(&mut self, line: usize, field: Option<&str>) -> bool {
        let Some(field) = field else { return false };
        let is_on = field.eq_ignore_ascii_case("ENABLED");
        if !is_on && !field.eq_ignore_ascii_case("DISABLED") {
            self.note(
                line,
                format!("`{field}` is neither ENABLED nor DISABLED; DISABLED is taken"),
            );
        }
        is_on
    }

    fn disk_part(&mut self, line: Line<'_>, value: &str) {
        let mut fields = value.split(',').map(str::trim);
        let maximum_sectors = self.sectors(line.number, fields.next());
        let start_sector = self.sectors(line.number, fields.next());
        let pattern = match fields.next() {
            None => None,
            Some(text) if line.text.to_ascii_lowercase().contains("pattern") => {
                Some(self.number(line.number, "number of a data pattern", Some(text), 0))
            }
            Some(text) => {
                let text = format!(
                    "`{text}` in the third column is of an unknown version; what is \
                     written is not known"
                );
                self.note(line.number, text);
                None
            }
        };
        self.change(|w| {
            *w = Worker { maximum_sectors, start_sector, pattern, ..std::mem::take(w) };
        });
    }

    /// IOMeter writes -1 where targets of a worker differ.
    fn sectors(&mut self, line: usize, field: Option<&str>) -> u64 {
        let number = self.number(line, "number of sectors", field, 0);
        if number == u64::MAX {
            self.note(
                line,
                format!("`{number}` says that the targets of the worker differ; 0 is taken"),
            );
            return 0;
        }
        number
    }

    fn placeholder(&mut self, line: usize, name: &str) {
        if name.starts_with("[*") && name.ends_with("*]") {
            self.note(line, format!("`{name}` is a placeholder: write a value instead"));
        }
    }

    /// Gives the workers what they run, and what of it is not there.
    pub(super) fn check_assigned(&mut self) {
        for (manager, worker, name, line) in std::mem::take(&mut self.assigned) {
            let is_known = self.spec_places.contains_key(&name.to_ascii_lowercase());
            if !is_known && !name.eq_ignore_ascii_case(super::super::IDLE) {
                let standard = if preset(&name).is_some() {
                    ", but one of this name is among the standard ones"
                } else {
                    ""
                };
                self.note(
                    line,
                    format!(
                        "no access specification of the file is called `{name}`{standard}; \
                         IOMeter passes over it"
                    ),
                );
            }
            if let Some(worker) =
                self.config.managers.get_mut(manager).and_then(|m| m.workers.get_mut(worker))
            {
                worker.specs.push(name);
            }
        }
        let config = &mut self.config;
        for (m, manager) in config.managers.iter_mut().enumerate() {
            for (w, worker) in manager.workers.iter_mut().enumerate() {
                if self.has_list.contains(&(m, w)) {
                    continue;
                }
                let gets = |a: Assignment| match worker.kind {
                    Kind::Disk => matches!(a, Assignment::All | Assignment::Disk),
                    Kind::Tcp | Kind::Vi => matches!(a, Assignment::All | Assignment::Net),
                };
                let given = config.specs.iter().filter(|s| gets(s.assignment));
                worker.specs = given.map(|s| s.name.clone()).collect();
            }
        }
    }
}

impl Reader<'_> {
    /// Takes from workers what IOMeter refuses of their kind.
    pub(super) fn check_kinds(&mut self) {
        let mut wrong = Vec::new();
        for worker in self.config.managers.iter_mut().flat_map(|m| &mut m.workers) {
            let before = worker.clone();
            if worker.kind == Kind::Disk {
                worker.network_interface = None;
            } else {
                let Worker { maximum_sectors, start_sector, pattern, .. } = Worker::default();
                (worker.maximum_sectors, worker.start_sector) = (maximum_sectors, start_sector);
                worker.pattern = pattern;
            }
            if worker.kind != Kind::Vi {
                worker.vi_outstanding = None;
            }
            if *worker != before {
                wrong.push(worker.name.clone());
            }
        }
        for name in wrong {
            self.note(
                0,
                format!(
                    "the worker `{name}` has fields that its kind does not have; they are left out"
                ),
            );
        }
    }
}

/// What tells disks from one another: the label after a drive letter does not.
fn disk(name: &str) -> String {
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    let key = if is_drive { name.get(..2).unwrap_or(name) } else { name };
    key.to_ascii_lowercase()
}
