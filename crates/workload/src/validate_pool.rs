//! The rules of threads that work on several targets at once, and of streams that share their
//! threads.

use std::ops::Range;

use super::{DEPTH_MAX, Violations};
use crate::model::{EngineChoice, Mode, Workload};
use crate::order::{Buffers, PoolShare};
use crate::stream::Stream;

/// Notes every rule that the pool of a stream breaks in itself.
pub(super) fn check(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    stream: &Stream,
    count: usize,
) {
    check_members(found, at, stream);
    let Some(pool) = &stream.pool else { return };
    let targets = stream.target_indexes(count).len();
    if let PoolShare::Drawn { weights } = &pool.share {
        let rule = format!("the stream has {targets} targets; give a weight for each, or none");
        let fits = weights.is_empty() || weights.len() == targets;
        found.check(fits, at("pool.share.weights"), weights.len(), &rule);
        let some = weights.is_empty() || weights.iter().any(|w| *w > 0);
        let rule = "one weight must be above 0";
        found.check(some, at("pool.share.weights"), "all 0", rule);
    }
    let in_all = stream.depth_of_thread(count);
    let deep = stream.depth <= DEPTH_MAX && in_all > u64::from(DEPTH_MAX);
    let rule = "depth times targets may be at most 65536 for a thread";
    found.check(!deep, at("depth"), in_all, rule);
    let rule = "a flush is of one target; leave out `sync`, or `pool`";
    found.check(stream.sync.is_none(), at("sync"), "set along with a pool", rule);
    let weighed = stream.members.iter().any(|m| m.weight.is_some());
    let drawn = matches!(pool.share, PoolShare::Drawn { .. });
    let rule = "only threads that draw their targets weigh them, and a weight is that of one \
                target; use the share `drawn`, and a joined stream per target";
    found.check(!weighed || drawn && targets == 1, at("members"), "with weights", rule);
    let none = stream.members.iter().any(|m| m.weight == Some(0));
    found.check(!none, at("members"), "of weight 0", "a weight must be above 0");
}

fn check_members(found: &mut Violations, at: &dyn Fn(&str) -> String, stream: &Stream) {
    let (pool, members) = (stream.pool.is_some(), &stream.members);
    found.check(
        pool || members.is_empty(),
        at("members"),
        "set",
        "only threads of a pool are members of it; set `pool`",
    );
    let rule = "threads count from 0, and each is named once, in rising order";
    let rising = members.windows(2).all(|pair| pair[0].thread < pair[1].thread);
    let there = members.iter().all(|m| m.thread < stream.threads);
    found.check(rising && there, at("members"), "not so", rule);
    let rule = "only a pool's threads have targets of several streams; set `pool`";
    found.check(pool || !stream.joined, at("joined"), true, rule);
}

/// Notes every rule that streams with the same threads break together.
pub(super) fn check_crew(found: &mut Violations, workload: &Workload, crew: Range<usize>) {
    let first = crew.start;
    let streams = workload.streams.get(crew).unwrap_or_default();
    let Some((lead, joined)) = streams.split_first() else { return };
    let rule = "there is no stream before it whose threads it could have";
    found.check(!lead.joined, format!("streams[{first}].joined"), true, rule);
    check_threads(found, lead, streams, first);
    if joined.is_empty() {
        return;
    }
    for (index, stream) in streams.iter().enumerate() {
        let at = |name: &str| format!("streams[{}].{name}", first + index);
        check_alike(found, &at, lead, stream);
        let mapped = |s: &Stream| workload.mode_of(s) == Mode::Mapped;
        let rule = "one thread either copies to and from mapped targets or makes calls; give one \
            of them its own threads";
        found.check(mapped(lead) == mapped(stream), at("mode"), "mapped and another", rule);
    }
    check_depth(found, workload, streams, first);
}

/// What a thread has once must be the same in all streams that it works for.
fn check_alike(
    found: &mut Violations,
    at: &dyn Fn(&str) -> String,
    lead: &Stream,
    stream: &Stream,
) {
    let share = |s: &Stream| s.pool.as_ref().map(|p| std::mem::discriminant(&p.share));
    let rule = "streams with the same threads have the same of it";
    found.check(stream.threads == lead.threads, at("threads"), stream.threads, rule);
    found.check(share(stream) == share(lead), at("pool.share"), "another", rule);
    found.check(stream.cpus == lead.cpus, at("cpus"), "others", rule);
    found.check(stream.priority == lead.priority, at("priority"), "another", rule);
    found.check(stream.buffers == lead.buffers, at("buffers"), "others", rule);
    let pieces = !matches!(stream.buffers, Buffers::Single | Buffers::Large);
    let rule = "streams with the same threads have buffers in one piece";
    found.check(!pieces, at("buffers"), "in pieces", rule);
    let rule = "streams with the same threads have no mix; give its stream its own threads";
    found.check(stream.mix.is_none(), at("mix"), "set", rule);
    let Some(pool) = &stream.pool else { return };
    let rule = "streams with the same threads have the share `each` or `drawn`";
    found.check(pool.share != PoolShare::InTurn, at("pool.share"), "in_turn", rule);
    if matches!(pool.share, PoolShare::Drawn { .. }) {
        let rule = "what a thread of several streams has in flight is handed out by draws; its \
                    depth is the same in all of them";
        found.check(stream.depth == lead.depth, at("depth"), stream.depth, rule);
        let rule = "threads that draw their targets among several streams have no pace; leave out \
                    rate and think";
        let free = stream.rate.is_none() && stream.think.is_none();
        found.check(free, at("rate"), "set, or think", rule);
    }
}

/// Every thread of a pool must have something to do.
fn check_threads(found: &mut Violations, lead: &Stream, streams: &[Stream], first: usize) {
    if lead.pool.is_none() || streams.iter().any(|s| s.members.is_empty()) {
        return;
    }
    let mut busy: Vec<u32> =
        streams.iter().flat_map(|s| &s.members).map(|member| member.thread).collect();
    busy.sort_unstable();
    busy.dedup();
    let idle = (0..lead.threads).zip(busy.iter().map(Some).chain(std::iter::repeat(None)));
    let idle = idle.into_iter().find(|(thread, busy)| *busy != Some(thread));
    if let Some((thread, _)) = idle {
        let rule = "each thread of a pool must be a member of one of its streams; name it, or use \
                    fewer threads";
        found.check(
            false,
            format!("streams[{first}].members"),
            format!("without thread {thread}"),
            rule,
        );
    }
}

fn check_depth(found: &mut Violations, workload: &Workload, streams: &[Stream], first: usize) {
    let count = workload.targets.len();
    let each = |s: &Stream| s.pool.as_ref().is_some_and(|p| p.share == PoolShare::Each);
    let in_all = streams.iter().filter(|s| each(s)).map(|s| s.depth_of_thread(count));
    let in_all = in_all.fold(0, u64::saturating_add);
    let field = format!("streams[{first}].depth");
    let rule = "all depths of a thread on all of its targets may be at most 65536";
    found.check(in_all <= u64::from(DEPTH_MAX), field.clone(), in_all, rule);
    let one_at_a_time = workload.engine == EngineChoice::Sync && in_all > 1;
    let rule = "the engine `sync` does one I/O at a time per thread; use another engine";
    found.check(!one_at_a_time, field, in_all, rule);
}
