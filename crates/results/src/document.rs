//! Any result document: what a history keeps, what is exchanged as a file, and what reports are
//! made from.

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

use crate::assessment::Assessment;
use crate::cycle::Cycle;
use crate::durability::Durability;
use crate::experiment::Experiment;
use crate::kinds::KINDS;
use crate::measurement::{Environment, Measurement, Status};
use crate::recording::Recording;
use crate::runs::Runs;
use crate::saturation::Saturation;
use crate::scale::Scale;
use crate::sizes::Sizes;
use crate::sweep::Sweep;
use crate::validation::Validation;

/// One result, whatever command made it.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// Of `iosonde run`.
    Measurement(Box<Measurement>),
    /// Of `iosonde run --repeat`.
    Runs(Box<Experiment<Runs>>),
    /// Of `iosonde assess`.
    Assessment(Box<Assessment>),
    /// Of `iosonde knee`.
    Knee(Box<Experiment<Saturation>>),
    /// Of `iosonde sweep`.
    Sweep(Box<Experiment<Sweep>>),
    /// Of `iosonde sizes`.
    Sizes(Box<Experiment<Sizes>>),
    /// Of `iosonde scale`.
    Scale(Box<Experiment<Scale>>),
    /// Of `iosonde iometer`.
    Cycle(Box<Experiment<Cycle>>),
    /// Of `iosonde monitor`.
    Recording(Box<Experiment<Recording>>),
    /// Of `iosonde validate` and `iosonde sqliosim`.
    Validation(Box<Experiment<Validation>>),
    /// Of `iosonde validate --durability` and `--verify`.
    Durability(Box<Experiment<Durability>>),
}

/// Why a text is no result document.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// It is not JSON, or ends too early.
    #[error("this is no JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// It is JSON, but says of no schema of ours that it follows it.
    #[error("this is no result of iosonde: it has no `schema` that begins with `iosonde.`")]
    Foreign,
    /// It is of a kind or version that this program does not know.
    #[error(
        "results of `{schema}` are not known to this version of iosonde: use the one that wrote \
         it, or a newer one"
    )]
    Unknown {
        /// The schema it names.
        schema: String,
    },
    /// It does not follow the schema that it names.
    #[error("this is no whole `{schema}`: {source}")]
    Malformed {
        /// The schema it names.
        schema: String,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// Calls the same code for a document of whichever kind.
macro_rules! each {
    ($document:expr, $d:ident => $of:expr) => {
        match $document {
            Document::Measurement($d) => $of,
            Document::Runs($d) => $of,
            Document::Assessment($d) => $of,
            Document::Knee($d) => $of,
            Document::Sweep($d) => $of,
            Document::Sizes($d) => $of,
            Document::Scale($d) => $of,
            Document::Cycle($d) => $of,
            Document::Recording($d) => $of,
            Document::Validation($d) => $of,
            Document::Durability($d) => $of,
        }
    };
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

    /// The schema it follows.
    #[must_use]
    pub fn schema(&self) -> &str {
        each!(self, d => &d.schema)
    }

    /// The plan that repeats it, with the kind of its job as `job`. That of a single measurement is
    /// its workload, and that of a sweep stands in its conclusion.
    #[must_use]
    pub fn plan(&self) -> Option<Value> {
        match self {
            Self::Measurement(m) if m.origin.is_some() => None,
            Self::Measurement(m) => plan_of("run", &m.workload),
            Self::Sweep(d) => plan_of("sweep", &d.conclusion.plan),
            Self::Assessment(d) => d.plan.clone(),
            Self::Runs(d) => d.plan.clone(),
            Self::Knee(d) => d.plan.clone(),
            Self::Sizes(d) => d.plan.clone(),
            Self::Scale(d) => d.plan.clone(),
            Self::Cycle(d) => d.plan.clone(),
            Self::Recording(d) => d.plan.clone(),
            Self::Validation(d) => d.plan.clone(),
            Self::Durability(d) => d.plan.clone(),
        }
    }

    /// Takes the plan that repeats it.
    pub fn set_plan(&mut self, plan: Option<Value>) {
        match self {
            Self::Measurement(_) | Self::Sweep(_) => {}
            Self::Assessment(d) => d.plan = plan,
            Self::Runs(d) => d.plan = plan,
            Self::Knee(d) => d.plan = plan,
            Self::Sizes(d) => d.plan = plan,
            Self::Scale(d) => d.plan = plan,
            Self::Cycle(d) => d.plan = plan,
            Self::Recording(d) => d.plan = plan,
            Self::Validation(d) => d.plan = plan,
            Self::Durability(d) => d.plan = plan,
        }
    }

    /// Its unique name.
    #[must_use]
    pub fn id(&self) -> &str {
        each!(self, d => &d.id)
    }

    /// Version of the program that measured.
    #[must_use]
    pub fn tool_version(&self) -> &str {
        each!(self, d => &d.tool_version)
    }

    /// Start, UTC, RFC 3339.
    #[must_use]
    pub fn started(&self) -> &str {
        each!(self, d => &d.started)
    }

    /// End, UTC, RFC 3339; none for a single measurement, which says how long it took.
    #[must_use]
    pub fn finished(&self) -> Option<&str> {
        match self {
            Self::Measurement(_) => None,
            Self::Runs(d) => Some(&d.finished),
            Self::Assessment(d) => Some(&d.finished),
            Self::Knee(d) => Some(&d.finished),
            Self::Sweep(d) => Some(&d.finished),
            Self::Sizes(d) => Some(&d.finished),
            Self::Scale(d) => Some(&d.finished),
            Self::Cycle(d) => Some(&d.finished),
            Self::Recording(d) => Some(&d.finished),
            Self::Validation(d) => Some(&d.finished),
            Self::Durability(d) => Some(&d.finished),
        }
    }

    /// How it ended.
    #[must_use]
    pub fn status(&self) -> Status {
        each!(self, d => d.status)
    }

    /// Where it was done.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        each!(self, d => &d.environment)
    }

    /// The same document, made in another place.
    #[must_use]
    pub fn in_environment(mut self, environment: Environment) -> Self {
        each!(&mut self, d => d.environment = environment);
        self
    }

    /// Bytes of all targets that I/O could use.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        each!(self, d => d.file_bytes)
    }

    /// What received the I/O, as it was named.
    #[must_use]
    pub fn targets(&self) -> Vec<PathBuf> {
        match self {
            Self::Measurement(d) => d.workload.targets.iter().map(|t| t.path.clone()).collect(),
            Self::Assessment(d) => vec![d.target.clone()],
            Self::Runs(d) => d.targets.clone(),
            Self::Knee(d) => d.targets.clone(),
            Self::Sweep(d) => d.targets.clone(),
            Self::Sizes(d) => d.targets.clone(),
            Self::Scale(d) => d.targets.clone(),
            Self::Cycle(d) => d.targets.clone(),
            Self::Recording(d) => d.targets.clone(),
            Self::Validation(d) => d.targets.clone(),
            Self::Durability(d) => d.targets.clone(),
        }
    }

    /// What was done, in a phrase: `8 KiB random read`, `sqlserver-oltp`.
    #[must_use]
    pub fn title(&self) -> String {
        let first = |measurements: &[Measurement]| {
            measurements.first().map(|m| m.workload.title()).unwrap_or_default()
        };
        match self {
            Self::Measurement(d) => d.workload.title(),
            Self::Runs(d) => d.conclusion.title.clone(),
            Self::Assessment(d) => format!("loads of {}", d.database.title()),
            Self::Knee(d) => d.conclusion.title.clone(),
            Self::Sweep(d) => d.conclusion.plan.title.clone(),
            Self::Sizes(d) => first(&d.measurements),
            Self::Scale(d) => first(&d.measurements),
            Self::Cycle(d) => d.conclusion.title(),
            Self::Recording(d) => d.conclusion.title(),
            Self::Validation(d) => d.conclusion.title(),
            Self::Durability(d) => d.conclusion.title(),
        }
    }

    /// Every measurement in it, in the order of the document.
    #[must_use]
    pub fn measurements(&self) -> Vec<&Measurement> {
        match self {
            Self::Measurement(d) => vec![d],
            Self::Assessment(d) => {
                let patterns = d.patterns.iter().map(|p| &p.measurement);
                let ramps = d.ramps.iter().flat_map(|r| &r.points);
                let repeats = d.repeats.iter().flat_map(|r| &r.measurements);
                patterns.chain(ramps).chain(repeats).collect()
            }
            Self::Runs(d) => d.measurements.iter().collect(),
            Self::Knee(d) => d.measurements.iter().collect(),
            Self::Sweep(d) => d.measurements.iter().collect(),
            Self::Sizes(d) => d.measurements.iter().collect(),
            Self::Scale(d) => d.measurements.iter().collect(),
            Self::Cycle(d) => d.measurements.iter().collect(),
            Self::Recording(d) => d.measurements.iter().collect(),
            Self::Validation(d) => d.measurements.iter().collect(),
            Self::Durability(d) => d.measurements.iter().collect(),
        }
    }

    /// How it was measured, sentence by sentence; a single measurement says so in its workload.
    #[must_use]
    pub fn method(&self) -> &[String] {
        match self {
            Self::Measurement(_) => &[],
            Self::Assessment(d) => &d.method,
            Self::Runs(d) => &d.method,
            Self::Knee(d) => &d.method,
            Self::Sweep(d) => &d.method,
            Self::Sizes(d) => &d.method,
            Self::Scale(d) => &d.method,
            Self::Cycle(d) => &d.method,
            Self::Recording(d) => &d.method,
            Self::Validation(d) => &d.method,
            Self::Durability(d) => &d.method,
        }
    }

    /// Every reason to doubt a figure.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Measurement(d) => &d.checks.warnings,
            Self::Assessment(d) => &d.warnings,
            Self::Runs(d) => &d.warnings,
            Self::Knee(d) => &d.warnings,
            Self::Sweep(d) => &d.warnings,
            Self::Sizes(d) => &d.warnings,
            Self::Scale(d) => &d.warnings,
            Self::Cycle(d) => &d.warnings,
            Self::Recording(d) => &d.warnings,
            Self::Validation(d) => &d.warnings,
            Self::Durability(d) => &d.warnings,
        }
    }
}

/// As the document it holds, without a name around it.
/// Data with the kind of its job.
fn plan_of(job: &str, data: &impl Serialize) -> Option<Value> {
    let mut plan = serde_json::to_value(data).ok()?;
    plan.as_object_mut()?.insert("job".to_owned(), job.into());
    Some(plan)
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        each!(self, d => d.serialize(serializer))
    }
}
