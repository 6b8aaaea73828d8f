//! Turns a plan into places, files and queues.

use std::path::{Path, PathBuf};

use engine::{Action, Permissions, PrepareError, TargetPlan};
use integrity::durability::{
    Header, LOG_RECORD_BYTES, Order, Plan, Role, SCHEMA_OF_WITNESS, Shape, Target,
};
use jiff::Timestamp;
use workload::{Block, Bytes, EngineChoice, Mode, Pool, PoolShare, Stream, Violation, Workload};

use super::DurabilityPlan;
use crate::conduct::JobError;
use crate::validate::check_engine;

/// Size of the log where none is asked for, if that is enough.
const LOG_BYTES: u64 = 32 << 20;
/// Batches that a writer may be ahead of its witness.
const AHEAD: u32 = 16;
/// Batches from one checkpoint to the next.
const CHECKPOINT_BATCHES: u32 = 16;
const SECONDS_MAX: f64 = 31.0 * 86_400.0;
/// How files begin that are made in a directory.
const NAME: &str = "iosonde-durability-";

/// The targets of a run, and their parts.
pub(super) struct Layout {
    /// The targets have the sizes that they will have.
    pub(super) header: Header,
    pub(super) permissions: Permissions,
    pub(super) targets: Vec<TargetPlan>,
}

/// Whether a file was made in a directory, under a name that was chosen here.
pub(super) fn is_named_here(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(NAME))
}

pub(super) fn absolute(path: &Path) -> Result<PathBuf, JobError> {
    std::path::absolute(path)
        .map_err(|error| JobError::CannotRun(format!("`{}`: {error}", path.display())))
}

impl DurabilityPlan {
    /// What the plan means here, with a seed; refuses what cannot be.
    pub(super) fn lay_out(&self, permissions: &Permissions) -> Result<Layout, JobError> {
        self.check()?;
        // What another run has written must not look as if it were of this one.
        let plan = Plan {
            seed: self.seed.unwrap_or_else(engine::unrepeated_seed),
            page_bytes: self.page_bytes,
            threads: self.threads,
            batch: self.depth,
            ahead: AHEAD,
            checkpoint_batches: CHECKPOINT_BATCHES,
            sync: self.sync,
            order: self.order,
        };
        let destroy =
            permissions.destroy.iter().map(|d| absolute(d.as_path()).map(engine::Destroy::new));
        // Files outlast the writer by their mark; the job removes them when all is well.
        let keep = permissions.keep;
        let permissions = Permissions {
            keep: true,
            destroy: destroy.collect::<Result<_, _>>()?,
            ..permissions.clone()
        };
        let targets = self.files(&plan)?;
        let is_foreign = |path: &PathBuf| permissions.destroy.iter().any(|d| d.names(path));
        let foreign = targets.iter().map(|target| target.path.clone()).filter(is_foreign).collect();
        let now = Timestamp::now();
        let header = Header {
            schema: SCHEMA_OF_WITNESS.to_owned(),
            id: engine::new_id(now),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            host: inspect::Inspector::new().host().hostname,
            started: now.to_string(),
            buffered: self.mode == Mode::Buffered,
            keep,
            witness_named: self.witness_file.is_some(),
            foreign,
            targets,
            plan,
        };
        check_shape(&header)?;
        let targets = engine::plan(&workload_of(&header, self.engine, true), &permissions)?;
        let header = with_sizes(header, &targets)?;
        Ok(Layout { header, permissions, targets })
    }

    fn check(&self) -> Result<(), JobError> {
        if self.targets.is_empty() {
            let text = "name a directory on the storage, a file or a block device";
            return Err(JobError::Usage(text.to_owned()));
        }
        check_engine(self.engine)?;
        let times =
            [("seconds", Some(self.seconds)), ("kill_after_seconds", self.kill_after_seconds)];
        for (field, value) in times {
            let Some(value) = value.filter(|value| !(0.0..=SECONDS_MAX).contains(value)) else {
                continue;
            };
            return Err(violation(field, value.to_string(), "it must be 0 s to 31 days"));
        }
        if self.rounds == 0 {
            return Err(violation("rounds", "0".to_owned(), "it must be at least 1"));
        }
        if self.order == Order::Page && (self.log.is_some() || self.log_size_bytes.is_some()) {
            let text = "--order page has no log; leave out --log and --log-size, or use --order \
                        log-then-page";
            return Err(JobError::Usage(text.to_owned()));
        }
        Ok(())
    }

    /// The files that it writes to, with the sizes that were asked for.
    fn files(&self, plan: &Plan) -> Result<Vec<Target>, JobError> {
        let mut targets = Vec::new();
        for path in &self.targets {
            let path = absolute(&in_directory(path, plan.seed, ""))?;
            targets.push(Target { path, size_bytes: self.size_bytes.0, role: Role::Data });
        }
        if plan.order == Order::LogThenPage {
            let directory = self.targets.iter().find(|t| t.is_dir());
            let Some(place) = self.log.as_ref().or(directory) else {
                let text = "no TARGET is a directory, so name where the log is with `--log`";
                return Err(JobError::Usage(text.to_owned()));
            };
            let path = absolute(&in_directory(place, plan.seed, "-log"))?;
            let batches = u64::from(plan.checkpoint_batches) + plan.window_batches() + 2;
            let records = batches * u64::from(plan.batch) * u64::from(plan.threads);
            let least = records * u64::from(LOG_RECORD_BYTES);
            let size_bytes = self.log_size_bytes.map_or(LOG_BYTES.max(least), |size| size.0);
            targets.push(Target { path, size_bytes, role: Role::Log });
        }
        Ok(targets)
    }
}

fn violation(field: &str, value: String, rule: &str) -> JobError {
    let (field, rule) = (field.to_owned(), rule.to_owned());
    PrepareError::Invalid(vec![Violation { field, value, rule }]).into()
}

/// Files of a run have names of their own: what an earlier one has promised may still have to be
/// checked.
fn in_directory(path: &Path, seed: u64, what: &str) -> PathBuf {
    if path.is_dir() {
        path.join(format!("{NAME}{:08x}{what}.test", seed & 0xFFFF_FFFF))
    } else {
        path.to_owned()
    }
}

/// The header with the sizes that the targets will have; only then a plan is known to be possible.
fn with_sizes(mut header: Header, plans: &[TargetPlan]) -> Result<Header, JobError> {
    for (target, plan) in header.targets.iter_mut().zip(plans) {
        target.size_bytes = plan.size_bytes;
        // Files that existed before are not removed.
        if plan.action != Action::Make && !header.foreign.contains(&target.path) {
            header.foreign.push(target.path.clone());
        }
    }
    check_shape(&header)?;
    Ok(header)
}

fn check_shape(header: &Header) -> Result<(), JobError> {
    let shape = Shape::new(&header.plan, &header.targets);
    shape.map(|_| ()).map_err(|error| JobError::Usage(error.to_string()))
}

/// The targets of a header, with streams that open queues to all of them: for writing the plain
/// one, and the one with O_DSYNC where the plan wants that; for reading one.
pub(super) fn workload_of(header: &Header, engine: EngineChoice, writes: bool) -> Workload {
    let plan = &header.plan;
    let (depth, bytes) =
        if writes { (plan.batch, plan.largest_io_bytes(&header.targets)) } else { plan.reads() };
    let stream = Stream {
        name: if writes { "writer" } else { "reader" }.to_owned(),
        threads: if writes { plan.threads } else { 1 },
        depth,
        blocks: vec![Block { bytes: Bytes(bytes.into()), weight: 1 }],
        align_bytes: Some(Bytes(512)),
        write_percent: if writes { 100 } else { 0 },
        pool: Some(Pool { share: PoolShare::InTurn }),
        ..Stream::default()
    };
    let target = |t: &Target| workload::Target {
        path: t.path.clone(),
        size_bytes: Some(Bytes(t.size_bytes)),
    };
    let mut streams = vec![stream.clone()];
    if writes && plan.writes_through() {
        streams.push(Stream { name: "through".to_owned(), durable: true, ..stream });
    }
    Workload {
        targets: header.targets.iter().map(target).collect(),
        streams,
        engine,
        mode: if header.buffered { Mode::Buffered } else { Mode::Direct },
        seed: plan.seed,
        ..Workload::default()
    }
}

/// Files that were moved, or devices that have other names now.
pub(super) fn replace_targets(header: &mut Header, paths: &[PathBuf]) -> Result<(), JobError> {
    if paths.is_empty() {
        return Ok(());
    }
    if paths.len() != header.targets.len() {
        let names: Vec<String> =
            header.targets.iter().map(|t| t.path.display().to_string()).collect();
        return Err(JobError::Usage(format!(
            "the run wrote to {} targets, and {} are named; name all of them in this order, or \
             none: {}",
            header.targets.len(),
            paths.len(),
            names.join(", ")
        )));
    }
    for (target, path) in header.targets.iter_mut().zip(paths) {
        let was_foreign = header.foreign.contains(&target.path);
        let name = target.path.file_name().filter(|_| path.is_dir());
        let path = absolute(&name.map_or_else(|| path.clone(), |name| path.join(name)))?;
        if was_foreign {
            header.foreign.push(path.clone());
        }
        target.path = path;
    }
    Ok(())
}
