//! From arguments to what is written where, and the files and queues for it.

use std::path::{Path, PathBuf};

use engine::{Action, Permissions, TargetPlan};
use integrity::durability::{
    Header, Order, Plan, Role, SCHEMA_OF_WITNESS, Shape, SyncMode, Target,
};
use workload::{Block, Bytes, EngineChoice, Mode, Pool, PoolShare, Stream, Workload};

use crate::exit::Failure;
use crate::run::check_destroy;
use crate::targets::EngineArg;
use crate::validate::ValidateArgs;
use crate::validate::load::WorkArg;
use crate::validate::setup::check_engine;

/// Size of the data where none is asked for: enough that seconds of writes fall on different pages,
/// and soon read.
const DATA_BYTES: u64 = 256 << 20;
/// Size of the log where none is asked for, if that is enough.
const LOG_BYTES: u64 = 32 << 20;
const PAGE_BYTES: u32 = 8192;
const THREADS: u32 = 2;
const DEPTH: u32 = 32;
const SECONDS: f64 = 300.0;
/// Batches that a writer may be ahead of its witness.
const AHEAD: u32 = 16;
/// Batches from one checkpoint to the next.
const CHECKPOINT_BATCHES: u32 = 16;
const SECONDS_MAX: f64 = 31.0 * 86_400.0;

/// What was asked for.
pub(super) struct Given {
    /// The targets still have the sizes that were asked for.
    pub(super) header: Header,
    pub(super) permissions: Permissions,
}

/// What the arguments ask for.
pub(super) fn given_of(args: &ValidateArgs) -> Result<Given, Failure> {
    let wrong = |text: String| Err(Failure::WrongUsage(text));
    if args.target.targets.is_empty() {
        return wrong("name a directory on the storage, a file or a block device".to_owned());
    }
    if args.target.conduct.live {
        return wrong("there is no screen for `--durability`; leave out `--live`".to_owned());
    }
    check_engine(args.target.engine)?;
    let times = [("--seconds", args.seconds), ("--kill-after", args.durability.kill_after)];
    for (flag, value) in times {
        if value.is_some_and(|value| !(0.0..=SECONDS_MAX).contains(&value)) {
            return wrong(format!(
                "{flag} is {}: it must be 0 s to 31 days",
                value.unwrap_or_default()
            ));
        }
    }
    if args.durability.rounds == Some(0) {
        return wrong("--rounds is 0: it must be at least 1".to_owned());
    }
    let order = args.durability.order.map_or(Order::Page, Order::from);
    if order == Order::Page && (args.log.is_some() || args.log_size.is_some()) {
        return wrong(
            "--order page has no log; leave out --log and --log-size, or use --order log-then-page"
                .to_owned(),
        );
    }
    // What another run has written must not look as if it were of this one.
    let seed = args.target.seed.unwrap_or_else(engine::unrepeated_seed);
    let plan = Plan {
        seed,
        page_bytes: args.page.map_or(PAGE_BYTES, |p| u32::try_from(p.0).unwrap_or(u32::MAX)),
        threads: args.threads.unwrap_or(THREADS),
        batch: args.depth.unwrap_or(DEPTH),
        ahead: AHEAD,
        checkpoint_batches: CHECKPOINT_BATCHES,
        sync: args.durability.sync.map_or(SyncMode::Fdatasync, SyncMode::from),
        order,
    };
    let targets = targets_of(args, &plan)?;
    let absolute = |path: &PathBuf| std::path::absolute(path);
    let destroy =
        args.target.conduct.destroy.iter().map(absolute).collect::<Result<Vec<_>, _>>()?;
    // Files outlast the writer by their mark; this process removes them when all is well.
    let permissions = Permissions { keep: true, destroy, ..args.target.permissions() };
    let now = jiff::Timestamp::now();
    let header = Header {
        schema: SCHEMA_OF_WITNESS.to_owned(),
        id: engine::new_id(now),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        host: inspect::Inspector::new().host().hostname,
        started: now.to_string(),
        buffered: args.buffered,
        keep: args.target.conduct.keep,
        foreign: permissions.destroy.clone(),
        plan,
        targets,
    };
    check_shape(&header)?;
    check_destroy(&workload_of(&header, args.target.engine, true), &permissions.destroy)?;
    Ok(Given { header, permissions })
}

/// The longest that the writer writes.
pub(super) fn seconds(args: &ValidateArgs) -> f64 {
    args.seconds.unwrap_or(SECONDS)
}

/// What is said of the simulated database means nothing here, and is not passed over in silence.
pub(super) fn check_flags(args: &ValidateArgs) -> Result<(), Failure> {
    let given = [
        ("--config", args.config.is_some()),
        ("--users", args.users.is_some()),
        ("--update", args.update.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--hardening", args.hardening.is_some()),
        ("--continue", args.go_on),
        ("--rereads", args.rereads.is_some()),
        ("--workload", args.load.workload != WorkArg::Database),
        ("--for", args.load.imitated.is_some()),
        ("--direct", args.load.direct),
        ("--sparse", args.load.sparse),
        ("--resize", args.load.resize.is_some()),
        ("--stamp", args.load.stamp),
        ("--write", args.load.write.is_some()),
        ("--block", args.load.block.is_some()),
        ("--ledger", args.keep.ledger.is_some()),
        ("--resume", args.keep.resume.is_some()),
        ("--clean", args.keep.clean),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Failure::WrongUsage(format!(
            "{flag} is of the simulated database, and has no meaning with --durability and \
             --verify; leave it out"
        ))),
        None => Ok(()),
    }
}

/// Files of a run have names of their own: what an earlier one has promised may still have to be
/// checked.
fn in_directory(path: &Path, seed: u64, what: &str) -> PathBuf {
    if path.is_dir() {
        path.join(format!("iosonde-durability-{:08x}{what}.test", seed & 0xFFFF_FFFF))
    } else {
        path.to_owned()
    }
}

fn targets_of(args: &ValidateArgs, plan: &Plan) -> Result<Vec<Target>, Failure> {
    let mut targets = Vec::new();
    for path in &args.target.targets {
        let path = std::path::absolute(in_directory(path, plan.seed, ""))?;
        let size_bytes = args.target.size.map_or(DATA_BYTES, |size| size.0);
        targets.push(Target { path, size_bytes, role: Role::Data });
    }
    if plan.order == Order::LogThenPage {
        let directory = args.target.targets.iter().find(|t| t.is_dir());
        let Some(place) = args.log.as_ref().or(directory) else {
            let text = "no TARGET is a directory, so name where the log is with `--log`";
            return Err(Failure::WrongUsage(text.to_owned()));
        };
        let path = std::path::absolute(in_directory(place, plan.seed, "-log"))?;
        let batches = u64::from(plan.checkpoint_batches) + plan.window_batches() + 2;
        let records = batches * u64::from(plan.batch) * u64::from(plan.threads);
        let least = records * u64::from(integrity::durability::LOG_RECORD_BYTES);
        let size_bytes = args.log_size.map_or(LOG_BYTES.max(least), |size| size.0);
        targets.push(Target { path, size_bytes, role: Role::Log });
    }
    Ok(targets)
}

/// The header with the sizes that the targets will have; only then a plan is known to be possible.
pub(super) fn with_sizes(mut header: Header, plans: &[TargetPlan]) -> Result<Header, Failure> {
    for (target, plan) in header.targets.iter_mut().zip(plans) {
        target.size_bytes = plan.size_bytes;
        // What was there before is not removed.
        if plan.action != Action::Make && !header.foreign.contains(&target.path) {
            header.foreign.push(target.path.clone());
        }
    }
    check_shape(&header)?;
    Ok(header)
}

fn check_shape(header: &Header) -> Result<(), Failure> {
    let shape = Shape::new(&header.plan, &header.targets);
    shape.map(|_| ()).map_err(|error| Failure::WrongUsage(error.to_string()))
}

/// The targets of a header, with streams that open queues to all of them: for writing the plain
/// one, and the one with O_DSYNC where the plan wants that; for reading one.
pub(super) fn workload_of(header: &Header, engine: Option<EngineArg>, writes: bool) -> Workload {
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
    let targets = header.targets.iter().map(target).collect();
    let streams = vec![stream.clone()];
    let mut workload = Workload { targets, streams, ..Workload::default() };
    if writes && plan.writes_through() {
        workload.streams.push(Stream { name: "through".to_owned(), durable: true, ..stream });
    }
    workload.engine = engine.map_or(workload.engine, EngineChoice::from);
    workload.mode = if header.buffered { Mode::Buffered } else { Mode::Direct };
    workload.seed = plan.seed;
    workload
}

/// Files that were moved, or devices that have other names now.
pub(super) fn replace_targets(header: &mut Header, paths: &[PathBuf]) -> Result<(), Failure> {
    if paths.is_empty() {
        return Ok(());
    }
    if paths.len() != header.targets.len() {
        let names: Vec<String> =
            header.targets.iter().map(|t| t.path.display().to_string()).collect();
        return Err(Failure::WrongUsage(format!(
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
        let path = std::path::absolute(name.map_or_else(|| path.clone(), |name| path.join(name)))?;
        if was_foreign {
            header.foreign.push(path.clone());
        }
        target.path = path;
    }
    Ok(())
}
