//! Any result document: what a history keeps, what is exchanged as a file, and what reports are
//! made from.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::assessment::{ASSESSMENT_SCHEMA, AssessedHost, Assessment};
use crate::environment::Environment;
use crate::experiment::{Conclusion, Experiment};
pub use crate::kinds::Document;
use crate::kinds::KINDS;
use crate::measurement::{MEASUREMENT_SCHEMA, Measurement, Status};

/// Why a text is not a result document.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// It is not JSON, or ends too early.
    #[error("this is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// It is JSON, but names no schema of iosonde.
    #[error("this is not a result of iosonde: it has no `schema` that begins with `iosonde.`")]
    Foreign,
    /// It is of a kind or version that this program does not know.
    #[error(
        "results of `{schema}` are not known to this version of iosonde: use the one that wrote \
         it, or a newer one"
    )]
    Unknown {
        /// The schema that the text names.
        schema: String,
    },
    /// It does not follow the schema that it names.
    #[error("this is not a complete `{schema}`: {source}")]
    Malformed {
        /// The schema that the text names.
        schema: String,
        /// The first rule of the schema that it breaks.
        source: serde_json::Error,
    },
}

/// A kind of document, with a schema.
pub(crate) trait Published {
    /// The name of the schema that such documents follow, with its version.
    const SCHEMA: &'static str;
}

/// What documents of every kind have in common.
pub(crate) trait Body {
    /// The schema that it follows, with its version.
    fn schema(&self) -> &str;

    /// Its unique name in the history.
    fn id(&self) -> &str;

    /// Version of the program that measured.
    fn tool_version(&self) -> &str;

    /// When it started: UTC, RFC 3339.
    fn started(&self) -> &str;

    /// When it ended: UTC, RFC 3339; `None` for a single measurement, which records how long it
    /// took.
    fn finished(&self) -> Option<&str>;

    /// Whether it ran to its end.
    fn status(&self) -> Status;

    /// The host and the storage that it was done on.
    fn environment(&self) -> &Environment;

    /// The environment, to be replaced by another.
    fn environment_mut(&mut self) -> &mut Environment;

    /// Bytes of all targets that I/O could use.
    fn file_bytes(&self) -> u64;

    /// What received the I/O, as it was named.
    fn targets(&self) -> Vec<PathBuf>;

    /// What was done, in a phrase: `8 KiB random read`, `sqlserver-oltp`.
    fn title(&self) -> String;

    /// Every measurement in it, in the order of the document.
    fn measurements(&self) -> Vec<&Measurement>;

    /// How it was measured, sentence by sentence; a single measurement says so in its workload.
    fn method(&self) -> &[String];

    /// Every reason to doubt a figure.
    fn warnings(&self) -> &[String];

    /// The plan that repeats it, with the kind of its job as `job`. For a single measurement it is
    /// the workload; for a sweep it is in the conclusion.
    fn plan(&self) -> Option<Value>;

    /// Stores the plan that repeats it.
    fn set_plan(&mut self, plan: Option<Value>);

    /// Every path in it but those of its plan and of its environment.
    fn paths_mut(&mut self) -> Vec<&mut PathBuf>;
}

impl Document {
    /// Reads the JSON text of a document of any kind.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        Self::from_value(serde_json::from_str(text).map_err(DocumentError::NotJson)?)
    }

    /// The document that a JSON value is, by the schema it names.
    pub fn from_value(value: Value) -> Result<Self, DocumentError> {
        let named = value.get("schema").and_then(Value::as_str);
        let Some(schema) = named.filter(|name| name.starts_with("iosonde.")).map(str::to_owned)
        else {
            return Err(DocumentError::Foreign);
        };
        match KINDS.iter().find(|kind| kind.schema == schema) {
            Some(kind) => {
                (kind.read)(value).map_err(|source| DocumentError::Malformed { schema, source })
            }
            None => Err(DocumentError::Unknown { schema }),
        }
    }

    /// Whether two such results can be compared: a check says what it found, and a replay is
    /// compared with its trace.
    #[must_use]
    pub fn has_figures(&self) -> bool {
        let without = matches!(self, Self::Validation(_) | Self::Durability(_));
        let without = without || matches!(self, Self::FleetJob(_) | Self::Model(_));
        !(without || matches!(self, Self::Replay(_) | Self::Fit(_)))
    }

    /// The schema that it follows, with its version.
    #[must_use]
    pub fn schema(&self) -> &str {
        self.body().schema()
    }

    /// Its unique name in the history.
    #[must_use]
    pub fn id(&self) -> &str {
        self.body().id()
    }

    /// Version of the program that measured.
    #[must_use]
    pub fn tool_version(&self) -> &str {
        self.body().tool_version()
    }

    /// When it started: UTC, RFC 3339.
    #[must_use]
    pub fn started(&self) -> &str {
        self.body().started()
    }

    /// When it ended: UTC, RFC 3339; `None` for a single measurement, which records how long it
    /// took.
    #[must_use]
    pub fn finished(&self) -> Option<&str> {
        self.body().finished()
    }

    /// Whether it ran to its end.
    #[must_use]
    pub fn status(&self) -> Status {
        self.body().status()
    }

    /// The host and the storage that it was done on.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        self.body().environment()
    }

    /// Bytes of all targets that I/O could use.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.body().file_bytes()
    }

    /// What received the I/O, as it was named.
    #[must_use]
    pub fn targets(&self) -> Vec<PathBuf> {
        self.body().targets()
    }

    /// What was done, in a phrase: `8 KiB random read`, `sqlserver-oltp`.
    #[must_use]
    pub fn title(&self) -> String {
        self.body().title()
    }

    /// Every measurement in it, in the order of the document.
    #[must_use]
    pub fn measurements(&self) -> Vec<&Measurement> {
        self.body().measurements()
    }

    /// How it was measured, sentence by sentence; a single measurement says so in its workload.
    #[must_use]
    pub fn method(&self) -> &[String] {
        self.body().method()
    }

    /// Every reason to doubt a figure.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.body().warnings()
    }

    /// The plan that repeats it, with the kind of its job as `job`. For a single measurement it is
    /// the workload; for a sweep it is in the conclusion.
    #[must_use]
    pub fn plan(&self) -> Option<Value> {
        self.body().plan()
    }

    /// Stores the plan that repeats it.
    pub fn set_plan(&mut self, plan: Option<Value>) {
        self.body_mut().set_plan(plan);
    }

    /// Every path in it but those of its plan and of its environment.
    pub fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        self.body_mut().paths_mut()
    }

    /// The same document, made in another place.
    #[must_use]
    pub fn in_environment(mut self, environment: Environment) -> Self {
        *self.body_mut().environment_mut() = environment;
        self
    }
}

/// Data with the kind of its job.
pub(crate) fn plan_of(job: &str, data: &impl Serialize) -> Option<Value> {
    let mut plan = serde_json::to_value(data).ok()?;
    plan.as_object_mut()?.insert("job".to_owned(), job.into());
    Some(plan)
}

impl Published for Measurement {
    const SCHEMA: &'static str = MEASUREMENT_SCHEMA;
}

impl Body for Measurement {
    fn schema(&self) -> &str {
        &self.schema
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn tool_version(&self) -> &str {
        &self.tool_version
    }

    fn started(&self) -> &str {
        &self.started
    }

    fn finished(&self) -> Option<&str> {
        None
    }

    fn status(&self) -> Status {
        self.status
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn environment_mut(&mut self) -> &mut Environment {
        &mut self.environment
    }

    fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    fn targets(&self) -> Vec<PathBuf> {
        self.workload.targets.iter().map(|target| target.path.clone()).collect()
    }

    fn title(&self) -> String {
        self.workload.title()
    }

    fn measurements(&self) -> Vec<&Measurement> {
        vec![self]
    }

    fn method(&self) -> &[String] {
        &[]
    }

    fn warnings(&self) -> &[String] {
        &self.checks.warnings
    }

    fn plan(&self) -> Option<Value> {
        if self.origin.is_none() { plan_of("run", &self.workload) } else { None }
    }

    fn set_plan(&mut self, _: Option<Value>) {}

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let targets = self.workload.targets.iter_mut().map(|target| &mut target.path);
        let results = self.targets.iter_mut().map(|target| &mut target.path);
        targets.chain(results).chain(self.errors.iter_mut().map(|e| &mut e.path)).collect()
    }
}

impl Published for Assessment {
    const SCHEMA: &'static str = ASSESSMENT_SCHEMA;
}

impl Body for Assessment {
    fn schema(&self) -> &str {
        &self.schema
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn tool_version(&self) -> &str {
        &self.tool_version
    }

    fn started(&self) -> &str {
        &self.started
    }

    fn finished(&self) -> Option<&str> {
        Some(&self.finished)
    }

    fn status(&self) -> Status {
        self.status
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn environment_mut(&mut self) -> &mut Environment {
        &mut self.environment
    }

    fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    fn targets(&self) -> Vec<PathBuf> {
        match self.hosts.as_slice() {
            [] => vec![self.target.clone()],
            hosts => hosts.iter().map(AssessedHost::place).collect(),
        }
    }

    fn title(&self) -> String {
        format!("loads of {}", self.database.title())
    }

    fn measurements(&self) -> Vec<&Measurement> {
        let patterns = self.patterns.iter().map(|p| &p.measurement);
        let ramps = self.ramps.iter().flat_map(|r| &r.points);
        let offered = self.offered.iter().flat_map(|o| &o.points);
        let repeats = self.repeats.iter().flat_map(|r| &r.measurements);
        let beside = self.beside.iter().flat_map(|b| b.alone.iter().chain([&b.measurement]));
        let mixed = self.mixed.iter().flat_map(|m| &m.measurements);
        let first = patterns.chain(ramps).chain(offered).chain(repeats);
        first.chain(beside).chain(mixed).collect()
    }

    fn method(&self) -> &[String] {
        &self.method
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn plan(&self) -> Option<Value> {
        self.plan.clone()
    }

    fn set_plan(&mut self, plan: Option<Value>) {
        self.plan = plan;
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let patterns = self.patterns.iter_mut().map(|p| &mut p.measurement);
        let ramps = self.ramps.iter_mut().flat_map(|r| &mut r.points);
        let offered = self.offered.iter_mut().flat_map(|o| &mut o.points);
        let repeats = self.repeats.iter_mut().flat_map(|r| &mut r.measurements);
        let beside =
            self.beside.iter_mut().flat_map(|b| b.alone.iter_mut().chain([&mut b.measurement]));
        let mixed = self.mixed.iter_mut().flat_map(|m| &mut m.measurements);
        let first = patterns.chain(ramps).chain(offered).chain(repeats);
        let measured = first.chain(beside).chain(mixed).flat_map(Body::paths_mut);
        let traces = self.captured.iter_mut().map(|captured| &mut captured.part.trace);
        let hosts = self.hosts.iter_mut().map(|host| &mut host.target);
        std::iter::once(&mut self.target).chain(hosts).chain(traces).chain(measured).collect()
    }
}

impl<C: Conclusion> Published for Experiment<C> {
    const SCHEMA: &'static str = C::SCHEMA;
}

impl<C: Conclusion> Body for Experiment<C> {
    fn schema(&self) -> &str {
        &self.schema
    }

    fn id(&self) -> &str {
        &self.id
    }

    fn tool_version(&self) -> &str {
        &self.tool_version
    }

    fn started(&self) -> &str {
        &self.started
    }

    fn finished(&self) -> Option<&str> {
        Some(&self.finished)
    }

    fn status(&self) -> Status {
        self.status
    }

    fn environment(&self) -> &Environment {
        &self.environment
    }

    fn environment_mut(&mut self) -> &mut Environment {
        &mut self.environment
    }

    fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    fn targets(&self) -> Vec<PathBuf> {
        self.targets.clone()
    }

    fn title(&self) -> String {
        self.conclusion.title(&self.measurements)
    }

    fn measurements(&self) -> Vec<&Measurement> {
        self.measurements.iter().collect()
    }

    fn method(&self) -> &[String] {
        &self.method
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn plan(&self) -> Option<Value> {
        self.conclusion.plan().or_else(|| self.plan.clone())
    }

    fn set_plan(&mut self, plan: Option<Value>) {
        if self.conclusion.plan().is_none() {
            self.plan = plan;
        }
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let measured = self.measurements.iter_mut().flat_map(Body::paths_mut);
        self.targets.iter_mut().chain(measured).chain(self.conclusion.paths_mut()).collect()
    }
}
