//! The job of `matrix`.

use std::path::Path;

use engine::{Permissions, PrepareError, TargetPlan};
use results::{Conclusion, Document, ReadWriteMatrix};
use survey::{LabContext, LabForecast, MatrixOptions};
use workload::show_duration;

use crate::conduct::{Conducted, JobError, Session, conduct_one};
use crate::experiments::{expected, foreseen};
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

fn foresee(options: &MatrixOptions, targets: &[TargetPlan]) -> Result<LabForecast, PrepareError> {
    let foreseen = MatrixOptions { setup: options.setup.foreseen(targets), ..options.clone() };
    survey::foresee(|context| survey::matrix(&foreseen, context))
}

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
        let workload = self.setup.workload(vec![self.writing()]);
        let targets = engine::plan(&workload, permissions)?;
        let forecast = foresee(self, &targets)?;
        let work = format!(
            "the highest read rate and the highest write rate, then at most {} combinations of {} \
             each: {}, once the test file is written",
            self.cells().len(),
            show_duration(self.cell_seconds),
            expected(&forecast)
        );
        Ok(Description { work: vec![work], ..Description::of(targets) })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        let foreseen = foreseen(self, || foresee(&options, &[]));
        conduct_one(session, self, |context| {
            let context = LabContext { foreseen, ..context };
            Ok(Document::Matrix(Box::new(survey::matrix(&options, context)?)))
        })
    }
}
