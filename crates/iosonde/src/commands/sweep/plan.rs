//! The plan that the flags of `iosonde sweep` describe.

use jobs::sweep_precision;
use workload::sweep::{Matrix, PRESETS, Plan, preset};
use workload::{Mode, Pattern, Workload};

use super::{ListArgs, PatternName, SweepArgs};
use crate::commands::loads;
use crate::commands::run::apply_targets;
use crate::exit::Failure;
use crate::targets::TargetArgs;
use jobs::files::read_text;

/// A plan of a sweep as `--print-plan` prints it, with or without the line that names the job.
fn from_file(text: &str) -> Result<Plan, String> {
    match jobs::Plan::from_toml(text) {
        Ok(jobs::Plan::Sweep(plan)) => Ok(*plan),
        Ok(other) => {
            Err(format!("this is a plan of `iosonde {}`; `iosonde do` runs it", other.kind()))
        }
        Err(_) => Plan::from_toml(text).map_err(|e| e.to_string()),
    }
}

/// The plan that the flags describe; `None` if they describe none.
pub(super) fn plan_of(args: &SweepArgs) -> Result<Option<Plan>, Failure> {
    let lists = &args.lists;
    let named = args.preset.is_some() || args.plan.is_some();
    let listed = lists.writes.is_some()
        || lists.patterns.is_some()
        || lists.blocks.is_some()
        || lists.threads.is_some()
        || lists.depths.is_some()
        || !lists.spec.is_empty();
    if !named && !listed {
        return Ok(None);
    }
    let mut plan = match (&args.preset, &args.plan) {
        (Some(name), _) => {
            let unknown = || {
                let known: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
                let known = known.join(", ");
                Failure::WrongUsage(format!("there is no preset `{name}`; there are {known}"))
            };
            preset(name).ok_or_else(unknown)?.plan()
        }
        (None, Some(path)) => {
            let wrong = |e| Failure::WrongUsage(format!("`{}`: {e}", path.display()));
            from_file(&read_text(path)?).map_err(wrong)?
        }
        (None, None) => Plan::new("sweep", vec![Matrix::default()]),
    };
    let (specs, own_specs) = loads::split(&lists.spec)?;
    if !lists.spec.is_empty() && (args.preset.is_some() || args.plan.is_some()) {
        let text =
            "a preset or a plan has its own loads, and `--spec` names others; use one of them";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    for matrix in &mut plan.matrix {
        if !lists.spec.is_empty() {
            let usual = Matrix::default();
            (matrix.writes, matrix.patterns, matrix.blocks) =
                (usual.writes, usual.patterns, usual.blocks);
            matrix.specs = specs.iter().map(|s| s.name.to_owned()).collect();
            matrix.own_specs.clone_from(&own_specs);
        }
        apply_lists(matrix, lists);
    }
    if args.preset.is_none() && args.plan.is_none() {
        plan.title = plan.matrix.iter().map(Matrix::title).collect::<Vec<_>>().join("; ");
    }
    plan.settle_seconds = args.settle.unwrap_or(plan.settle_seconds);
    plan.together |= args.together;
    plan.shuffle |= args.shuffle;
    plan.adaptive |= args.adaptive;
    plan.precision = sweep_precision(args.precision, plan.precision, plan.adaptive);
    if args.buffered {
        plan.mode = Mode::Buffered;
    }
    apply_target_flags(&mut plan, &args.target)?;
    Ok(Some(plan))
}

fn apply_lists(matrix: &mut Matrix, lists: &ListArgs) {
    fn set<T: Clone>(list: &mut Vec<T>, asked: Option<&Vec<T>>) {
        if let Some(asked) = asked {
            list.clone_from(asked);
        }
    }
    let pattern = |name: &PatternName| match name {
        PatternName::Random => Pattern::Random,
        PatternName::Sequential => Pattern::Sequential,
        PatternName::SequentialShared => Pattern::SequentialShared,
    };
    let patterns = lists.patterns.as_ref().map(|names| names.iter().map(pattern).collect());
    set(&mut matrix.writes, lists.writes.as_ref());
    set(&mut matrix.patterns, patterns.as_ref());
    set(&mut matrix.blocks, lists.blocks.as_ref());
    set(&mut matrix.threads, lists.threads.as_ref());
    set(&mut matrix.depths, lists.depths.as_ref());
    matrix.seconds = lists.seconds.unwrap_or(matrix.seconds);
    matrix.warmup_seconds = lists.warmup.unwrap_or(matrix.warmup_seconds);
    matrix.durable |= lists.durable;
}

/// Targets, engine, device and seed have the same flags as for a single workload.
fn apply_target_flags(plan: &mut Plan, args: &TargetArgs) -> Result<(), Failure> {
    let mut workload = Workload {
        targets: std::mem::take(&mut plan.targets),
        engine: plan.engine,
        sim: plan.sim.take(),
        seed: plan.seed,
        ..Workload::default()
    };
    apply_targets(&mut workload, args)?;
    plan.targets = workload.targets;
    (plan.engine, plan.sim, plan.seed) = (workload.engine, workload.sim, workload.seed);
    Ok(())
}

/// The plan, if it follows the rules.
pub(super) fn checked(plan: Plan) -> Result<Plan, Failure> {
    let violations = plan.violations();
    if violations.is_empty() { Ok(plan) } else { Err(Failure::Invalid(violations)) }
}

/// Without a plan, `--resume` takes everything from the interrupted sweep. Flags that it would
/// ignore are refused.
pub(super) fn nothing_left_aside(args: &SweepArgs) -> Result<(), Failure> {
    let (target, lists) = (&args.target, &args.lists);
    let given = [
        (!target.targets.is_empty(), "TARGET"),
        (target.size.is_some(), "--size"),
        (target.engine.is_some(), "--engine"),
        (target.sim.is_some(), "--sim"),
        (target.seed.is_some(), "--seed"),
        (lists.seconds.is_some(), "--seconds"),
        (lists.warmup.is_some(), "--warmup"),
        (lists.durable, "--durable"),
        (args.settle.is_some(), "--settle"),
        (args.together, "--together"),
        (args.shuffle, "--shuffle"),
        (args.adaptive, "--adaptive"),
        (args.precision.is_some(), "--precision"),
        (args.buffered, "--buffered"),
    ];
    let names: Vec<&str> = given.iter().filter(|(is, _)| *is).map(|(_, name)| *name).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::WrongUsage(format!(
        "`--resume` alone resumes the newest sweep as it began. Leave out {}, or repeat the whole \
        command of the sweep that you mean, with its preset, plan or lists",
        names.join(", ")
    )))
}
