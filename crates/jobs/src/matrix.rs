//! The job of `matrix`.

use std::path::Path;

use engine::Permissions;
use results::{Conclusion, Document, ReadWriteMatrix};
use survey::MatrixOptions;
use workload::show_duration;

use crate::conduct::{Conducted, JobError, Session, conduct_one};
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

impl Job for MatrixOptions {
    fn plan(&self) -> Plan {
        Plan::Matrix(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let on = (self.setup.targets.as_slice(), self.setup.engine);
        let title = self.reading().title() + " with writes";
        Ok(Subject::new("matrix", ReadWriteMatrix::SCHEMA, title, on, self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.setup.targets)
    }

    fn is_artificial(&self) -> bool {
        self.setup.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        pin_targets(&mut self.setup.targets, document);
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        survey::check_levels(self)?;
        let cells = self.cells().len();
        let timing = &self.setup.timing;
        let more_s = timing.warmup_seconds + timing.settle_seconds;
        let all_s = 2.0 * (timing.seconds + more_s) + cells as f64 * (self.cell_seconds + more_s);
        let work = format!(
            "the highest read rate and the highest write rate, then {cells} combinations of {} \
             each: at most {}, once the test file is written",
            show_duration(self.cell_seconds),
            show_duration(all_s.ceil())
        );
        let workload = self.setup.workload(vec![self.writing()]);
        let targets = engine::plan(&workload, permissions)?;
        Ok(Description { work: vec![work], ..Description::of(targets) })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        conduct_one(session, self, |context| {
            Ok(Document::Matrix(Box::new(survey::matrix(&options, context)?)))
        })
    }
}
