//! A command's work as pure data.

use std::path::Path;

use results::{Conclusion, Document, Durability, MEASUREMENT_SCHEMA, Runs, Validation};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use survey::{AssessOptions, KneeOptions, MatrixOptions, ScaleOptions, SizesOptions};
use thiserror::Error;
use workload::{Workload, secrets};

use crate::durability::DurabilityPlan;
use crate::fleet::FleetPlan;
use crate::iometer::CyclePlan;
use crate::job::Job;
use crate::monitor::MonitorPlan;
use crate::replay::{FitPlan, ReplayPlan};
use crate::sweep::SweepPlan;
use crate::validate::ValidatePlan;

/// A job as data. The field `job` names its kind; the other fields are those of the kind.
///
/// A plan contains no permissions: the user who runs it names what may be overwritten.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "job", rename_all = "snake_case")]
pub enum Plan {
    /// A single run of one workload.
    Run(Box<Workload>),
    /// One workload several times, or several in turn.
    Runs(RunsPlan),
    /// A search for the saturation point of a load.
    Knee(Box<KneeOptions>),
    /// The same load over growing files.
    Sizes(Box<SizesOptions>),
    /// A load on each target alone, then together.
    Scale(Box<ScaleOptions>),
    /// Combinations of read rates and write rates.
    Matrix(Box<MatrixOptions>),
    /// A matrix of workloads, cell by cell.
    Sweep(Box<SweepPlan>),
    /// The loads of a database, judged.
    Assess(Box<AssessOptions>),
    /// A simulated database that checks what it reads.
    Validate(Box<ValidatePlan>),
    /// A check of durable writes after a crash.
    Durability(Box<DurabilityPlan>),
    /// What the operating system counts, recorded.
    Monitor(Box<MonitorPlan>),
    /// One of these on many hosts.
    Fleet(Box<FleetPlan>),
    /// The runs of a configuration of IOMeter.
    #[serde(rename = "iometer")]
    Cycle(Box<CyclePlan>),
    /// The replay of a recorded trace.
    Replay(Box<ReplayPlan>),
    /// How many times the load of a trace fits.
    Fit(Box<FitPlan>),
}

/// Whatever format the plan is written in, its parts are read from JSON values, so the code that
/// reads every part of every plan exists only once.
impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut keys = Map::<String, Value>::deserialize(deserializer)?;
        let job = keys.remove("job").ok_or_else(|| D::Error::missing_field("job"))?;
        let job = String::deserialize(job).map_err(D::Error::custom)?;
        Self::of_job(&job, keys.into()).map_err(D::Error::custom)
    }
}

fn part<T: DeserializeOwned>(of: fn(T) -> Plan, keys: Value) -> Result<Plan, serde_json::Error> {
    serde_json::from_value(keys).map(of)
}

/// The key of an infinite number or NaN, if this value is one or contains one.
fn endless(key: &str, value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::Float(number) if !number.is_finite() => Some(key.to_owned()),
        toml::Value::Array(values) => values.iter().find_map(|value| endless(key, value)),
        toml::Value::Table(keys) => keys.iter().find_map(|(key, value)| endless(key, value)),
        _ => None,
    }
}

/// Whether a text is a login of Oracle (`user/password@host`), and neither a path that exists nor a
/// sentence: the notes of a plan were refused.
fn is_login(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        && secrets::login_like_path(text).is_some_and(|directory| !Path::new(directory).exists())
}

/// The key of a text that holds a password, if this value is one or contains one. People share
/// plans.
fn secret(key: &str, value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) if secrets::holds_secret(text) || is_login(text) => {
            Some(secrets::concealed(key).into_owned())
        }
        toml::Value::Array(values) => values.iter().find_map(|value| secret(key, value)),
        toml::Value::Table(keys) => keys.iter().find_map(|(key, value)| secret(key, value)),
        _ => None,
    }
}

/// Workloads that take turns, several times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunsPlan {
    /// The workloads that take turns; each gets its own document.
    pub workloads: Vec<Workload>,
    /// Runs of each, 1 to 100.
    pub repeat: u32,
    /// Pause before a run that writes or follows one that wrote.
    pub settle_seconds: f64,
}

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The TOML is wrong; the message has line and column.
    #[error("{0}")]
    Toml(String),
    /// The text is not correct JSON.
    #[error("this is not a plan of this version of iosonde: {0}")]
    Json(String),
    /// A value is out of its range.
    #[error("{0}")]
    Invalid(String),
    /// A text in it holds a password.
    #[error(
        "`{key}` looks like a connection string with a password, which a plan must not hold: put \
         the password into PGPASSWORD, ~/.pgpass, MYSQL_PWD or SQLCMDPASSWORD"
    )]
    Secret {
        /// The key whose value it is.
        key: String,
    },
    /// A path in it is not UTF-8.
    #[error(
        "results and plans are text, and the name of a target or file is not UTF-8: give it \
         another name, or a link to it"
    )]
    Path,
    /// Results of this kind have no plan that can be repeated.
    #[error(
        "results of `{kind}` do not carry a plan that can be repeated; run the command again with \
         the same flags"
    )]
    NotRepeatable {
        /// The command that makes such results.
        kind: String,
    },
}

impl From<serde_json::Error> for PlanError {
    fn from(error: serde_json::Error) -> Self {
        match error.to_string() {
            // The words of serde for a path.
            text if text.contains("invalid UTF-8") => Self::Path,
            text => Self::Json(text),
        }
    }
}

impl Plan {
    fn of_job(job: &str, keys: Value) -> Result<Self, serde_json::Error> {
        const JOBS: &[&str] = &[
            "run",
            "runs",
            "knee",
            "sizes",
            "scale",
            "matrix",
            "sweep",
            "assess",
            "validate",
            "durability",
            "monitor",
            "fleet",
            "iometer",
            "replay",
            "fit",
        ];
        match job {
            "run" => part(Self::Run, keys),
            "runs" => part(Self::Runs, keys),
            "knee" => part(Self::Knee, keys),
            "sizes" => part(Self::Sizes, keys),
            "scale" => part(Self::Scale, keys),
            "matrix" => part(Self::Matrix, keys),
            "sweep" => part(Self::Sweep, keys),
            "assess" => part(Self::Assess, keys),
            "validate" => part(Self::Validate, keys),
            "durability" => part(Self::Durability, keys),
            "monitor" => part(Self::Monitor, keys),
            "fleet" => part(Self::Fleet, keys),
            "iometer" => part(Self::Cycle, keys),
            "replay" => part(Self::Replay, keys),
            "fit" => part(Self::Fit, keys),
            _ => Err(serde_json::Error::unknown_variant(job, JOBS)),
        }
    }

    /// Reads the TOML form.
    ///
    /// # Errors
    /// It is not a plan; the message has line and column.
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        // Its message quotes the line.
        let wrong = |error: toml::de::Error| {
            PlanError::Toml(secrets::concealed(&error.to_string()).into_owned())
        };
        let keys: toml::Table = toml::from_str(text).map_err(wrong)?;
        if let Some(key) = keys.iter().find_map(|(key, value)| secret(key, value)) {
            return Err(PlanError::Secret { key });
        }
        // JSON has no such numbers: they would become `null`, as if the key were absent.
        if let Some(key) = keys.iter().find_map(|(key, value)| endless(key, value)) {
            return Err(PlanError::Invalid(format!("`{key}` must be a finite number")));
        }
        let plan: Self = toml::from_str(text).map_err(wrong)?;
        Ok(plan.settled())
    }

    /// What a workload leaves to its mixes is filled in, as in a workload file.
    fn settled(self) -> Self {
        match self {
            Self::Run(workload) => Self::Run(Box::new(workload.with_means_of_mixes())),
            Self::Runs(plan) => Self::Runs(RunsPlan {
                workloads: plan.workloads.into_iter().map(Workload::with_means_of_mixes).collect(),
                ..plan
            }),
            Self::Fleet(plan) => {
                let inner = Box::new(plan.plan.settled());
                Self::Fleet(Box::new(FleetPlan { plan: inner, ..*plan }))
            }
            other => other,
        }
    }

    /// The TOML form, with every value written out.
    ///
    /// # Errors
    /// TOML has no word for a value, such as an integer of more than 63 bits.
    pub fn to_toml(&self) -> Result<String, PlanError> {
        toml::to_string_pretty(self).map_err(|e| PlanError::Toml(e.to_string()))
    }

    /// What a document carries; `None` if it cannot be written as JSON. A plan that runs a command
    /// is not carried either: nobody expects `iosonde do` on a result to start a program. For the
    /// same reason, that of a fleet is carried without its way to the hosts.
    #[must_use]
    pub fn carried_json(&self) -> Option<serde_json::Value> {
        match self {
            Self::Fleet(plan) => {
                serde_json::to_value(Self::Fleet(Box::new(plan.by_usual_way()))).ok()
            }
            plan if plan.runs_a_command() => None,
            plan => serde_json::to_value(plan).ok(),
        }
    }

    /// What the plan starts besides iosonde and ssh, in words; `None` if it starts nothing. Whoever
    /// runs a plan from a file has to allow that.
    #[must_use]
    pub fn program(&self) -> Option<String> {
        match self {
            Self::Monitor(plan) if !plan.command.is_empty() => {
                let words = plan.command.iter().map(|word| word.display().to_string());
                Some(words.collect::<Vec<_>>().join(" "))
            }
            Self::Fleet(plan) => plan.reach.program().or_else(|| plan.plan.program()),
            _ => None,
        }
    }

    fn runs_a_command(&self) -> bool {
        matches!(self, Self::Monitor(plan) if !plan.command.is_empty())
    }

    /// The plan that a result carries; `None` if it carries none.
    ///
    /// # Errors
    /// It is of another version of iosonde.
    pub fn carried(document: &Document) -> Result<Option<Self>, PlanError> {
        let plan: Option<Self> = document.plan().map(serde_json::from_value).transpose()?;
        Ok(plan.filter(|plan| !plan.runs_a_command()).map(|plan| match plan {
            Self::Fleet(plan) => Self::Fleet(Box::new(plan.by_usual_way())),
            plan => plan,
        }))
    }

    /// The plan that a text is, as TOML, or that of a result as JSON.
    ///
    /// # Errors
    /// It is neither, or the result carries none.
    pub fn in_text(text: &str) -> Result<Self, PlanError> {
        if !text.trim_start().starts_with('{') {
            return Self::from_toml(text);
        }
        let document = Document::parse(text).map_err(|e| PlanError::Invalid(e.to_string()))?;
        let kind = document.kind().to_owned();
        Self::carried(&document)?.ok_or(PlanError::NotRepeatable { kind })
    }

    /// The plan of a result, from what the history knows of it.
    ///
    /// # Errors
    /// The result has no plan that can be repeated, or one of another version of iosonde.
    pub fn recorded(kind: &str, schema: &str, json: &str) -> Result<Self, PlanError> {
        fn read<T: for<'de> Deserialize<'de>>(json: &str) -> Result<T, PlanError> {
            serde_json::from_str(json).map_err(|e| PlanError::Json(e.to_string()))
        }
        match kind {
            // Results of other tools that were imported, and checks after a crash.
            _ if json.is_empty() || json == "null" => {
                Err(PlanError::NotRepeatable { kind: kind.to_owned() })
            }
            "run" if schema == MEASUREMENT_SCHEMA => read(json).map(Self::Run),
            "run" if schema == Runs::SCHEMA => read(json).map(Self::Runs),
            _ if json.starts_with("{\"hosts\":") => {
                read::<FleetPlan>(json).map(|plan| Self::Fleet(Box::new(plan.by_usual_way())))
            }
            "knee" => read(json).map(Self::Knee),
            "sizes" => read(json).map(Self::Sizes),
            "scale" => read(json).map(Self::Scale),
            "matrix" => read(json).map(Self::Matrix),
            "replay" => read(json).map(Self::Replay),
            "fit" => read(json).map(Self::Fit),
            "assess" => read(json).map(Self::Assess),
            "validate" if schema == Validation::SCHEMA => read(json).map(Self::Validate),
            "validate" if schema == Durability::SCHEMA => read(json).map(Self::Durability),
            "sweep" => SweepPlan::from_json(json)
                .map(|plan| Self::Sweep(Box::new(plan)))
                .map_err(|e| PlanError::Json(e.to_string())),
            "iometer" => read(json).map(Self::Cycle),
            kind => Err(PlanError::NotRepeatable { kind: kind.to_owned() }),
        }
    }

    /// The job that the plan describes.
    #[must_use]
    pub fn job(&self) -> &dyn Job {
        match self {
            Self::Run(workload) => workload.as_ref(),
            Self::Runs(plan) => plan,
            Self::Knee(options) => options.as_ref(),
            Self::Sizes(options) => options.as_ref(),
            Self::Scale(options) => options.as_ref(),
            Self::Matrix(options) => options.as_ref(),
            Self::Sweep(plan) => plan.as_ref(),
            Self::Assess(options) => options.as_ref(),
            Self::Validate(plan) => plan.as_ref(),
            Self::Durability(plan) => plan.as_ref(),
            Self::Monitor(plan) => plan.as_ref(),
            Self::Fleet(plan) => plan.as_ref(),
            Self::Cycle(plan) => plan.as_ref(),
            Self::Replay(plan) => plan.as_ref(),
            Self::Fit(plan) => plan.as_ref(),
        }
    }

    /// Names the targets of an earlier result wholly, with the sizes that its files had.
    pub(crate) fn pin(&mut self, document: &Document) {
        let job: &mut dyn Job = match self {
            Self::Run(workload) => workload.as_mut(),
            Self::Runs(plan) => plan,
            Self::Knee(options) => options.as_mut(),
            Self::Sizes(options) => options.as_mut(),
            Self::Scale(options) => options.as_mut(),
            Self::Matrix(options) => options.as_mut(),
            Self::Sweep(plan) => plan.as_mut(),
            Self::Assess(options) => options.as_mut(),
            Self::Validate(plan) => plan.as_mut(),
            Self::Durability(plan) => plan.as_mut(),
            Self::Monitor(plan) => plan.as_mut(),
            Self::Fleet(plan) => plan.as_mut(),
            Self::Cycle(plan) => plan.as_mut(),
            Self::Replay(plan) => plan.as_mut(),
            Self::Fit(plan) => plan.as_mut(),
        };
        job.pin(document);
    }

    /// The command that makes results of this plan.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Run(_) | Self::Runs(_) => "run",
            Self::Knee(_) => "knee",
            Self::Sizes(_) => "sizes",
            Self::Scale(_) => "scale",
            Self::Matrix(_) => "matrix",
            Self::Sweep(_) => "sweep",
            Self::Assess(_) => "assess",
            Self::Validate(_) | Self::Durability(_) => "validate",
            Self::Monitor(_) => "monitor",
            Self::Fleet(plan) => plan.kind(),
            Self::Cycle(_) => "iometer",
            Self::Replay(_) => "replay",
            Self::Fit(_) => "fit",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::{FilePlan, ResizePlan};
    use databases::{DatabaseError, DatabaseUrl};
    use engine::Permissions;
    use integrity::durability::{Order, SyncMode};
    use integrity::{Hardening, Resizing, Role, Throttle};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;
    use std::path::PathBuf;
    use std::time::Duration;
    use survey::{Setup, Timing};
    use workload::{Bytes, EngineChoice, Mode, Stream, Target};

    const CONDITIONS: [&str; 3] = ["log", "vda.average_queue >= 2", "cpu > 90% for 2min"];

    fn setup(seed: u64) -> Setup {
        Setup {
            targets: vec![Target { path: "/data".into(), size_bytes: Some(Bytes(1 << 30)) }],
            permissions: Permissions::default(),
            engine: EngineChoice::Auto,
            sim: None,
            mode: Mode::Direct,
            seed,
            timing: Timing::default(),
        }
    }

    fn validation(seed: u64, depth: u32, wide: bool) -> ValidatePlan {
        let mut file = FilePlan::new("/data/iosonde.mdx".into(), Some(Bytes(seed)), Role::Data);
        file.sparse = wide;
        file.resize = wide.then_some(ResizePlan { begin_bytes: 4096, step_bytes: seed });
        let target = Duration::from_nanos(seed);
        ValidatePlan {
            seconds: f64::from(depth) / 3.0,
            engine: EngineChoice::Uring,
            mode: if wide { Mode::Buffered } else { Mode::Direct },
            configuration: wide.then(|| "hwcache".to_owned()),
            database: integrity::Plan {
                seed,
                depth,
                hardening: if wide { Hardening::Flush } else { Hardening::WriteThrough },
                resizing: wide.then(Resizing::default),
                throttle: wide.then_some(Throttle { target, bursts: true }),
                checkpoint_every: target,
                cache_hit_percent: f64::from(depth) / 7.0,
                ..integrity::Plan::default()
            },
            files: vec![file, FilePlan::new("/log".into(), None, Role::Log)],
        }
    }

    fn durability(seed: u64, depth: u32, logged: bool) -> DurabilityPlan {
        DurabilityPlan {
            seconds: f64::from(depth) / 3.0,
            kill_after_seconds: logged.then_some(0.5),
            rounds: depth,
            engine: EngineChoice::Auto,
            mode: Mode::Direct,
            seed: logged.then_some(seed),
            page_bytes: 8192,
            threads: 2,
            depth,
            sync: SyncMode::Fua,
            order: if logged { Order::LogThenPage } else { Order::Page },
            witness: logged.then(|| "far:/var/w".to_owned()),
            witness_file: (!logged).then(|| "/var/w".into()),
            size_bytes: Bytes(seed),
            targets: vec!["/data".into()],
            log: logged.then(|| "/log".into()),
            log_size_bytes: logged.then_some(Bytes(1 << 20)),
        }
    }

    /// A database, in a build that has clients.
    fn known(url: &str) -> Option<DatabaseUrl> {
        match DatabaseUrl::parse(url) {
            Err(DatabaseError::NoClients) => None,
            url => Some(url.unwrap()),
        }
    }

    proptest! {
        #[test]
        fn a_plan_reads_back_as_it_was_written(
            seed in 0..=i64::MAX.unsigned_abs(),
            depth in 1..512u32,
            write_percent in 0..=100u8,
            repeat in 1..100u32,
            pairs: bool,
        ) {
            let stream = Stream { depth, write_percent, ..Stream::default() };
            let target = Target { path: "/data".into(), size_bytes: None };
            let workload = Workload { seed, ..Workload::single(target, stream.clone()) };
            let scale = ScaleOptions { setup: setup(seed), stream: stream.clone(), pairs };
            let sizes = SizesOptions {
                setup: setup(seed),
                stream,
                sizes: vec![Bytes(1 << 28)],
                fill_seconds: 1.5,
                pass_seconds: 0.0,
            };
            let runs =
                RunsPlan { workloads: vec![workload.clone()], repeat, settle_seconds: 0.5 };
            let validate = validation(seed, depth, pairs);
            let json = serde_json::to_string(&validate).unwrap();
            prop_assert_eq!(
                Plan::recorded("validate", Validation::SCHEMA, &json).unwrap(),
                Plan::Validate(Box::new(validate.clone()))
            );
            for plan in [
                Plan::Validate(Box::new(validate)),
                Plan::Durability(Box::new(durability(seed, depth, pairs))),
                Plan::Run(Box::new(workload)),
                Plan::Runs(runs),
                Plan::Scale(Box::new(scale)),
                Plan::Sizes(Box::new(sizes)),
            ] {
                let text = plan.to_toml().unwrap();
                prop_assert_eq!(Plan::from_toml(&text).unwrap(), plan, "{}", text);
            }
        }

        #[test]
        fn a_plan_of_a_recording_reads_back_as_it_was_written(
            (interval_ms, all, command) in (100..=60_000_u32, any::<bool>(), any::<bool>()),
            (seconds, count) in (option::of(0.1..1e6), option::of(1..1_000_000_u64)),
            name in option::of("[a-z0-9.-]{1,9}"),
            alerts in vec(select(CONDITIONS.to_vec()), 0..3),
            user in "[a-z]{1,6}",
            paths in vec("[ -~]{1,9}", 0..3),
        ) {
            let urls = ["postgres", "mysql", "mssql"].map(|kind| format!("{kind}://{user}@db:7/x"));
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            let plan = Plan::Monitor(Box::new(MonitorPlan {
                targets: paths.clone(),
                all,
                interval_seconds: f64::from(interval_ms) / 1000.0,
                seconds,
                count,
                name,
                alerts: alerts.iter().map(|text| text.parse().unwrap()).collect(),
                databases: urls.iter().filter_map(|url| known(url)).collect(),
                attach: paths.clone(),
                command: if command { paths } else { Vec::new() },
            }));
            let text = plan.to_toml().unwrap();
            prop_assert_eq!(&Plan::from_toml(&text).unwrap(), &plan, "{}", text);
            let json = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan, "{}", json);
        }

        #[test]
        fn no_text_panics(text in "(job = \"(run|knee|sweep|assess|monitor)\"\n\
            )?[a-z_\\[\\]=\" 0-9.\n\
            ]{0,80}") {
            let _ = Plan::from_toml(&text);
        }
    }

    #[test]
    fn what_is_not_a_plan_that_can_be_repeated_is_refused() {
        let refused = |kind, schema, json| Plan::recorded(kind, schema, json).unwrap_err();
        let other = refused("recorded", "iosonde.other/1", "{}");
        assert!(other.to_string().contains("`recorded`"), "{other}");
        // Imported measurements of other tools were refused as plans of another version.
        for json in ["", "null"] {
            let imported = refused("run", MEASUREMENT_SCHEMA, json);
            assert!(matches!(imported, PlanError::NotRepeatable { .. }), "{imported}");
        }
        let unknown = refused("knee", "iosonde.knee/1", "{}");
        assert!(unknown.to_string().contains("not a plan of this version"), "{unknown}");
    }
}
